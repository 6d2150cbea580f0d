/* Sizes of the structures for the oldest possible client. */
#include "rlcore-0.1.h"
#include "structures.h"

#define FORM(type) {#type, sizeof(type)},
const struct form oldest[] = {STRUCTURES(FORM){NULL, 0}};
