/* The table of tests/system/fuzz/matrix.c as one of the programs whose refusals the header has to know. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../../tests/system/fuzz/matrix.c"
