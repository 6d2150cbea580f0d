/* Moving pictures as GIF files, which every browser shows. One file of C without other dependencies: copy it into your host. */
#ifndef GIF_H
#define GIF_H

#include <stdint.h>
#include <stdio.h>

enum { GIF_CODES = 4096 };

typedef struct gif {
  FILE *file; /* NULL: nothing is written */
  unsigned width, height, hundredths;
  uint16_t next[GIF_CODES][256]; /* code of a code and the color after it; 0: none yet */
} gif;

/* Begins a file of pictures of width x height pixels, at most 4096 each way, that are shown for so many hundredths of a second
   each, again and again. Ends the program with a sentence if it cannot. */
void gif_open(gif *g, const char *path, unsigned width, unsigned height, unsigned hundredths);

/* The next picture. rgb: [height, width, 3], rows from the top. Up to 256 colors in a picture are kept as they are; of more, each is
   rounded to the nearest of 6 levels of red, green and blue. */
void gif_frame(gif *g, const uint8_t *rgb);

void gif_close(gif *g);

#endif
