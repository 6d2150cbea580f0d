/* Runs the table of tests/system/fuzz/matrix.c, so that the header has to document its refusals too. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../../tests/system/fuzz/matrix.c"
