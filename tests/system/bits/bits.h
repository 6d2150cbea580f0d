/* The stages whose results must be the same bits on every processor, and blocks that are carried from one to another. */
#ifndef BITS_H
#define BITS_H

/* Devices have little memory. */
#ifndef COMPILED_WORDS
#define COMPILED_WORDS 1024
#endif
#include "../env.h"
#include "../rows.h"

enum { BITS_IMAGES_SIZE = 1 << 16 };  /* bytes of room that bits_save is given */

typedef void (*bits_print)(const char *text);

/* Runs all stages and prints a line for each, its name and the hash of the values that it computed; on little-endian
   processors another for the blocks that it made. Returns how many failed. */
int bits(bits_print print);

/* Writes a block of every kind, each in the middle of its work, one after another. out: [BITS_IMAGES_SIZE] bytes on an
   8-byte boundary. Returns how many bytes they take, or 0 after printing what failed. */
size_t bits_save(uint8_t *out, bits_print print);

/* Attaches blocks that bits_save has written, here or on another processor, and goes on with each: the lines are those
   of bits from `saved` on. images: [size] bytes on an 8-byte boundary, which are worked on. Blocks of the other byte
   order have to be refused in so many words, each by a line of its own. Returns how many failed. */
int bits_go_on(uint8_t *images, size_t size, bits_print print);

#endif
