/* What every host here needs: an exit with the library's own words, a clock, files, and memory from one static block.
 */
#ifndef HOST_H
#define HOST_H

#include <rlcore.h>
#include <stdbool.h>
#include <stddef.h>

/* Ends the program if a call into the library failed. */
#define CHECK(call) host_check((int32_t)(call), #call, __FILE__, __LINE__)
void host_check(int32_t status, const char *call, const char *file, int line);

/* Ends the program with a printf-like message and exit code 1. */
_Noreturn void host_fail(const char *format, ...);

double host_seconds(void);

/* Zeroed memory on a 64-byte boundary, from one static block. */
void *host_take(size_t size);

/* How much is taken; and giving back all that was taken since it was `mark`. */
size_t host_mark(void);
void host_rewind(size_t mark);

/* size rounded up to the boundary of host_take. */
size_t host_aligned(size_t size);

/* Elements of an observation or action are 4 bytes (f32 or i32) except image bytes. */
size_t host_element_size(uint32_t kind);

/* Sorts value[0..len), len >= 1; NAN goes last. */
double host_median(double *value, size_t len);

/* FNV-1a. */
uint64_t host_hash(const void *bytes, size_t size);
/* Writes a file that can be made again: a picture, a table. */
void host_write(const char *path, const void *bytes, size_t size);

/* Writes a file that must not be lost. Whenever the process is killed or the machine stops, the file is the old one or the
   new one, whole: the bytes go into `path`.new beside it, from there to the disk, and only then take the name. A `path`.new
   that a killed process left behind is overwritten by the next save. One process at a time may save a path. POSIX. */
void host_save(const char *path, const void *bytes, size_t size);

/* Reads at most `size` bytes and returns how many there were. */
size_t host_read(const char *path, void *bytes, size_t size);

#endif
