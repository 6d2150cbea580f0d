/* What a program without an operating system needs: to be started, a voice, and an end. */
#ifndef BOOT_H
#define BOOT_H

#include <stdint.h>

/* The program; its result is the exit code. Started by boot.c once memory is as C expects it. */
int run(void);

/* To the console of whoever holds the debugger; here that is QEMU. */
void print(const char *text);
void print_number(uint32_t number);

#endif
