#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY_SIZE = 64 << 20, ALIGN = 64 };

static _Alignas(ALIGN) unsigned char memory[MEMORY_SIZE];
static size_t memory_used;

size_t host_aligned(size_t size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }

void host_fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(1);
}

void host_check(int32_t status, const char *call, const char *file, int line) {
  char text[256] = "";
  if (status == RLCORE_OK) return;
  rlcore_last_error(text, sizeof text);
  host_fail("%s:%d: %s\n  %s", file, line, call, text[0] ? text : rlcore_status_text(status));
}

double host_seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *host_take(size_t size) {
  void *taken = memory + memory_used;
  if (size > MEMORY_SIZE - memory_used)
    host_fail("host: %zu bytes wanted, %zu left: raise MEMORY_SIZE", size, MEMORY_SIZE - memory_used);
  memory_used += host_aligned(size);
  memset(taken, 0, size);
  return taken;
}

size_t host_mark(void) { return memory_used; }

void host_rewind(size_t mark) { memory_used = mark; }

size_t host_element_size(uint32_t kind) { return kind == RLCORE_F32 || kind == RLCORE_I32 ? 4 : 1; }

double host_median(double *value, size_t len) {
  for (size_t i = 1; i < len; i++) {
    const double v = value[i];
    size_t at = i;
    for (; at && (value[at - 1] > v || isnan(value[at - 1])); at--) value[at] = value[at - 1];
    value[at] = v;
  }
  return (value[(len - 1) / 2] + value[len / 2]) / 2;
}

uint64_t host_hash(const void *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char *byte = bytes; size; size--) hash = (hash ^ *byte++) * 0x100000001b3;
  return hash;
}

void host_write(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
    host_fail("cannot write %s: %s", path, strerror(errno));
}

/* Aborts a save: deletes the partial file and keeps the old one. */
static _Noreturn void save_failed(const char *path, const char *fresh) {
  const int why = errno;
  unlink(fresh);
  host_fail("cannot save %s: %s", path, strerror(why));
}

void host_save(const char *path, const void *bytes, size_t size) {
  char fresh[1024], folder[1024];
  const char *const slash = strrchr(path, '/');
  const size_t folder_len = slash ? (size_t)(slash - path) + 1 : 0;
  const unsigned char *left = bytes;
  if (strlen(path) + sizeof ".new" > sizeof fresh) host_fail("cannot save %s: the path is too long", path);
  snprintf(fresh, sizeof fresh, "%s.new", path);
  snprintf(folder, sizeof folder, "%.*s", (int)folder_len, path);

  /* In the same directory, because rename is atomic only within one file system. */
  const int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) host_fail("cannot save %s: %s", path, strerror(errno));
  while (size) {
    const ssize_t wrote = write(file, left, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) save_failed(path, fresh);
    left += wrote;
    size -= (size_t)wrote;
  }
  /* The data must be on disk before the rename, or a crash in between could leave an empty file under the new name. A
     full disk may be reported here, or only by close. */
  if (fsync(file) || close(file) || rename(fresh, path)) save_failed(path, fresh);
  /* The rename must be on disk before the caller relies on it. */
  const int directory = open(folder_len ? folder : ".", O_RDONLY | O_CLOEXEC);
  if (directory < 0 || fsync(directory) || close(directory)) host_fail("cannot save %s: %s", path, strerror(errno));
}

size_t host_read(const char *path, void *bytes, size_t size) {
  FILE *file = fopen(path, "rb");
  if (!file) host_fail("cannot open %s", path);
  size = fread(bytes, 1, size, file);
  fclose(file);
  return size;
}

host_env host_compile(const rlcore_env_def *def) {
  host_env w;
  rlcore_env *env;
  size_t size;
  CHECK(rlcore_env_size(def, &size));
  CHECK(rlcore_env_init(host_take(size), size, def, &env));
  CHECK(rlcore_env_spaces(env, &w.obs, &w.action));
  w.env = env;
  return w;
}
