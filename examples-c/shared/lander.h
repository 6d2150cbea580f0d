/* An environment whose physics is the host's: start here for your own engine. */
#ifndef LANDER_H
#define LANDER_H

#include <rlcore.h>

enum { LANDER_ID = 1000, LANDER_OBS_LEN = 7, LANDER_MAX_STEPS = 300 };

/* What the learner sees of it, and the functions that run it. Borrows static data only. */
rlcore_env_def lander_def(void);

#endif
