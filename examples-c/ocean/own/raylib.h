/* A stand-in for raylib: the names that the games here draw with. They are defined nowhere, so a program that draws does not link. */
#ifndef RAYLIB_H
#define RAYLIB_H

void InitWindow(int width, int height, const char *title);
void DrawCircle(int x, int y, float radius, unsigned color);
void CloseWindow(void);

#endif
