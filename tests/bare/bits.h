/* The stages whose results must be the same bits on every processor. */
#ifndef BITS_H
#define BITS_H

#include "rlcore.h"

/* Runs all stages and prints a line for each, its name and the hash of what it computed. Returns how many failed. */
int bits(void (*print)(const char *text));

#endif
