/* Functions called by the page. A negative result is an rlcore_status; web_error describes it. */
#ifndef WEB_H
#define WEB_H

#include <stdint.h>

#ifdef __wasm__
#define PAGE(name) __attribute__((export_name(#name))) name
#else
#define PAGE(name) name
#endif

/* Starts over. All randomness comes from the seed. */
int32_t PAGE(web_start)(uint32_t seed);

/* One step of every environment, or one minibatch: takes microseconds. 1 while work is left, then 0. */
int32_t PAGE(web_work)(void);

/* Lets the policy play one step of the environment on display, and draws it: [height, width, 4] bytes. */
int32_t PAGE(web_watch)(void);
const uint8_t *PAGE(web_picture)(void);
uint32_t PAGE(web_picture_width)(void);
uint32_t PAGE(web_picture_height)(void);
uint32_t PAGE(web_balanced)(void); /* steps since the pole on display was set upright */

uint32_t PAGE(web_total_steps)(void);
double PAGE(web_steps)(void);
double PAGE(web_episodes)(void);
double PAGE(web_return)(void); /* mean of the last 100 episodes */
const char *PAGE(web_error)(void);

/* Hash of the parameters; after the last step with seed 1 it is the published one. */
uint64_t PAGE(web_hash)(void);
uint64_t PAGE(web_published_hash)(void);

#endif
