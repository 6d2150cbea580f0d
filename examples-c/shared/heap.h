/* Calls to malloc, calloc, realloc and aligned_alloc since the program started, by anyone in the process. */
#ifndef HEAP_H
#define HEAP_H
unsigned long heap_calls(void);
#endif
