/* Stages whose results must have the same bits on every processor, and blocks that are moved between processors. */
#ifndef BITS_H
#define BITS_H

/* Devices have little memory. */
#ifndef COMPILED_WORDS
#define COMPILED_WORDS 1152
#endif
#include "../env.h"
#include "../rows.h"

enum { BITS_IMAGES_SIZE = 1 << 19 };  /* size of bits_save's output */

typedef void (*bits_print)(const char *text);

/* Runs all stages and prints a line for each, with its name and the hash of its values, and on little-endian processors another
   with the hash of its blocks. Returns the number of stages that failed. */
int bits(bits_print print);

/* Writes a block of every kind, each in the middle of its work, one after another. out: [BITS_IMAGES_SIZE] bytes, 8-byte aligned.
   Returns the number of bytes written, or 0 after printing the failure. */
size_t bits_save(uint8_t *out, bits_print print);

/* Attaches blocks written by bits_save, here or on another processor, and goes on with each; prints the lines that bits prints
   from `saved` on. images: [size] bytes, 8-byte aligned, changed by the blocks' work. Blocks of the other byte order have to be
   refused with an error that says so; each gets a line of its own. Returns the number of blocks that failed. */
int bits_go_on(uint8_t *images, size_t size, bits_print print);

#endif
