/* Runs the stages on a machine with an operating system.
     host [level [file]]   runs all, at this CPU level at most, and writes blocks of every kind to the file
     host go-on < file     goes on with the blocks of a file */
#include "bits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static void print(const char *text) { fputs(text, stdout); }

int main(int argc, char **argv) {
  static uint64_t room[BITS_IMAGES_SIZE / 8];
  uint8_t *images = (uint8_t *)room;
#ifdef _WIN32  /* no newline conversion */
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  if (argc > 1 && strcmp(argv[1], "go-on") == 0) return bits_go_on(images, fread(images, 1, sizeof room, stdin), print) != 0;
  if (argc > 1 && rlcore_cpu_set_limit((uint32_t)atoi(argv[1])) != RLCORE_OK) return 2;
  const int failed = bits(print);
  if (argc < 3) return failed != 0;
  const size_t size = bits_save(images, print);
  FILE *file = fopen(argv[2], "wb");
  const int written = file != NULL && fwrite(images, 1, size, file) == size;
  return (file == NULL || fclose(file) != 0 || !written || size == 0 || failed != 0) ? 1 : 0;
}
