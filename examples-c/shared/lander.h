/* An environment with physics in the host: a template for your own engine. */
#ifndef LANDER_H
#define LANDER_H

#include <rlcore.h>

enum { LANDER_ID = 1000, LANDER_OBS_LEN = 7, LANDER_MAX_STEPS = 300 };

/* Its spaces and functions. Points to static data only. */
rlcore_env_def lander_def(void);

#endif
