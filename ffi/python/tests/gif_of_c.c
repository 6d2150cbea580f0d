/* Pictures of one color, of few, of 200 and of too many, as a moving picture: `gif_of_c FILE`. gif_of_c.py knows them. */
#include "gif.h"

enum { WIDTH = 97, HEIGHT = 61, PICTURES = 6 };

int main(int argc, char **argv) {
  static gif g;
  static uint8_t rgb[HEIGHT][WIDTH][3];
  if (argc != 2) return 2;
  gif_open(&g, argv[1], WIDTH, HEIGHT, 4);
  for (unsigned k = 0; k < PICTURES; k++) {
    uint32_t draw = 12345 + k;
    for (unsigned y = 0; y < HEIGHT; y++) {
      for (unsigned x = 0; x < WIDTH; x++) {
        uint8_t *const pixel = rgb[y][x];
        draw = draw * 1664525u + 1013904223u;
        const unsigned shade = k == 0 ? 7 : k == 1 ? draw >> 24 : (x * 7 + y * 13 + k * 31) % 200;
        pixel[0] = (uint8_t)(k < 4 ? shade : draw >> 24);
        pixel[1] = (uint8_t)(k < 4 ? 255 - shade : draw >> 16);
        pixel[2] = (uint8_t)(k < 4 ? k * 20 : draw >> 8);
      }
    }
    gif_frame(&g, &rgb[0][0][0]);
  }
  gif_close(&g);
  return 0;
}
