/* A heap that records its callers. Preloaded into a program that uses librlcore.so, it counts calls from the library
   and all others, and prints both at exit; a call from the library makes the program exit with code 88. The caller is
   identified by malloc's return address. The library cannot reach the heap indirectly: it imports only memcpy and
   similar functions (ffi/tests/symbols.rs). */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_CODE = 88 };

static uintptr_t begin, end; /* of the library */
static atomic_ulong from_library, from_others;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *old);

static void count(const void *caller) {
  const uintptr_t at = (uintptr_t)caller;
  atomic_fetch_add(at >= begin && at < end ? &from_library : &from_others, 1);
}

#define COUNTED(call) (count(__builtin_return_address(0)), call)
void *malloc(size_t size) { return COUNTED(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return COUNTED(__libc_calloc(n, size)); }
void *realloc(void *old, size_t size) { return COUNTED(__libc_realloc(old, size)); }
void *memalign(size_t align, size_t size) { return COUNTED(__libc_memalign(align, size)); }
void *aligned_alloc(size_t align, size_t size) { return COUNTED(__libc_memalign(align, size)); }
void free(void *old) { COUNTED(__libc_free(old)); }
int posix_memalign(void **out, size_t align, size_t size) {
  *out = COUNTED(__libc_memalign(align, size));
  return *out ? 0 : ENOMEM;
}

static int find(struct dl_phdr_info *object, size_t size, void *none) {
  (void)size, (void)none;
  if (!strstr(object->dlpi_name, "librlcore.so")) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *const part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    const uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (!begin || from < begin) begin = from;
    if (to > end) end = to;
  }
  return 1;
}

__attribute__((constructor)) static void start(void) { dl_iterate_phdr(find, NULL); }

__attribute__((destructor)) static void finish(void) {
  char text[128];
  const unsigned long library = atomic_load(&from_library), others = atomic_load(&from_others);
  if (!begin) return; /* the library is not loaded: a shell that a program has started */
  const int len = snprintf(text, sizeof text, "heap: %lu calls from librlcore.so, %lu from the host and its C library\n", library, others);
  if (write(STDERR_FILENO, text, (size_t)len) != len || library) _exit(EXIT_CODE);
}
