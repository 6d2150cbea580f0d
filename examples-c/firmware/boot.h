/* Startup, output and exit for a program without an operating system. */
#ifndef BOOT_H
#define BOOT_H

#include <stdint.h>

/* The program; its result is the exit code. Called by boot.c after memory is initialized. */
int run(void);

/* Prints to the debugger's console, here QEMU. */
void print(const char *text);
void print_number(uint32_t number);

#endif
