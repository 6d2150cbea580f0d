/* Common host code: exit with the library's error message, a clock, files, and memory from one static block. */
#ifndef HOST_H
#define HOST_H

#include <rlcore.h>
#include <stdbool.h>
#include <stddef.h>

/* The program's own number; with -DBRIEF a small one, for checkers under which every instruction takes long. */
#ifdef BRIEF
#define WHOLE_OR_BRIEF(whole, brief) (brief)
#else
#define WHOLE_OR_BRIEF(whole, brief) (whole)
#endif

/* Ends the program if a call into the library failed. */
#define CHECK(call) host_check((int32_t)(call), #call, __FILE__, __LINE__)
void host_check(int32_t status, const char *call, const char *file, int line);

/* Ends the program with a printf-like message and exit code 1. */
_Noreturn void host_fail(const char *format, ...);

double host_seconds(void);

/* Zeroed memory on a 64-byte boundary, from one static block. */
void *host_take(size_t size);

/* Bytes taken so far; and release of all memory taken since their number was `mark`. */
size_t host_mark(void);
void host_rewind(size_t mark);

/* size rounded up to the boundary of host_take. */
size_t host_aligned(size_t size);

/* A compiled environment, and its observation and action spaces. */
typedef struct host_env {
  const rlcore_env *env;
  rlcore_space obs, action;
} host_env;
host_env host_compile(const rlcore_env_def *def);

/* Elements of an observation or action are 4 bytes (f32 or i32) except image bytes. */
size_t host_element_size(uint32_t kind);

/* Sorts value[0..len), len >= 1; NAN goes last. */
double host_median(double *value, size_t len);

/* FNV-1a. */
uint64_t host_hash(const void *bytes, size_t size);
/* Writes a file that can be regenerated, such as a picture or a table. */
void host_write(const char *path, const void *bytes, size_t size);

/* Writes a file atomically. If the process is killed or the machine stops, the file is completely the old or the new
   one: the data is written to `path`.new, flushed to disk and renamed. A `path`.new left by a killed process is
   overwritten by the next save. Only one process at a time may save a path. POSIX. */
void host_save(const char *path, const void *bytes, size_t size);

/* Reads at most `size` bytes and returns the number read. */
size_t host_read(const char *path, void *bytes, size_t size);

#endif
