/* A plugin that contains the library; plugins.c loads two of them. */
#include <rlcore.h>

uintptr_t plugin_library(void) { return (uintptr_t)&rlcore_version; }

/* Fails, so that this plugin's library stores an error. */
rlcore_status plugin_fail(void) { return rlcore_rng_seed(NULL, 0); }

rlcore_status plugin_why(char *text, size_t size) { return rlcore_last_error(text, size); }
