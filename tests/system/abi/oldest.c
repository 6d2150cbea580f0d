/* How long structures are for the oldest client there may be. */
#include "rlcore-0.1.h"
#include "structures.h"

#define FORM(type) {#type, sizeof(type)},
const struct form oldest[] = {STRUCTURES(FORM){NULL, 0}};
