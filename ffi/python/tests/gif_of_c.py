"""Whether Pillow sees in a moving picture of the examples in C what went in, pixel by pixel: `gif_of_c.py FILE FILM`, the file of
gif_of_c.c, and a film of an episode."""

import sys

from PIL import Image

movie = Image.open(sys.argv[1])
assert (movie.n_frames, movie.size, movie.info["loop"], movie.info["duration"]) == (6, (97, 61), 0, 40), movie.info
for k in range(6):
    movie.seek(k)
    pixels, draw = movie.convert("RGB").load(), 12345 + k
    for y in range(61):
        for x in range(97):
            draw = (draw * 1664525 + 1013904223) & 0xFFFFFFFF
            shade = 7 if k == 0 else draw >> 24 if k == 1 else (x * 7 + y * 13 + k * 31) % 200
            rounded = tuple((part + 25) // 51 * 51 for part in (draw >> 24, draw >> 16 & 255, draw >> 8 & 255))
            assert pixels[x, y] == ((shade, 255 - shade, k * 20) if k < 4 else rounded), (k, x, y)
film = Image.open(sys.argv[2])
assert film.n_frames > 5 and film.size == (256, 192)
shown = set()
for k in range(film.n_frames):
    film.seek(k)
    shown.add(film.convert("RGB").tobytes())
assert len(shown) > 5, "the same picture again and again"
print(f"moving pictures of C: every pixel, and a film of {film.n_frames} pictures")
