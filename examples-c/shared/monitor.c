#include "monitor.h"

enum { RECORDS = 64 };

static double clock_of(void *user) {
  (void)user;
  return host_seconds();
}

static void put(monitor *m, const char *text, size_t len) {
  if (fwrite(text, 1, len, m->file) != len) host_fail("cannot write the monitor file");
}

void monitor_open(monitor *m, const char *path, const char *env_name, uint32_t num_envs) {
  static char buffer[1 << 14];
  char text[256];
  size_t size = 0, len = 0;
  rlcore_monitor_config config;
  CHECK(rlcore_monitor_config_init(&config, sizeof config));
  config.num_envs = num_envs;
  config.start = host_seconds();
  CHECK(rlcore_monitor_size(&config, &size));
  *m = (monitor){.file = fopen(path, "wb")};
  CHECK(rlcore_monitor_init(host_take(size), size, &config, &m->records));
  if (!m->file) host_fail("cannot write %s", path);
  setvbuf(m->file, buffer, _IOFBF, sizeof buffer);
  CHECK(rlcore_monitor_format_header(config.start, env_name, NULL, 0, text, sizeof text, &len));
  put(m, text, len);
}

void monitor_step(monitor *m, const training *t) {
  if (!m->file) return;
  CHECK(rlcore_monitor_step_clock(m->records, &t->rows, clock_of, NULL, NULL));
  rlcore_episode episodes[RECORDS];
  uint32_t count = 0;
  do {
    CHECK(rlcore_monitor_read(m->records, &m->next, episodes, NULL, RECORDS, &count, NULL));
    for (uint32_t i = 0; i < count; i++) {
      char row[RLCORE_MONITOR_ROW_SIZE];
      size_t len = 0;
      CHECK(rlcore_monitor_format_row(&episodes[i], NULL, 0, row, sizeof row, &len));
      put(m, row, len);
    }
  } while (count == RECORDS);
}

void monitor_close(monitor *m) {
  if (m->file && fclose(m->file)) host_fail("cannot write the monitor file");
  m->file = NULL;
}
