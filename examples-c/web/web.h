/* Functions called by the page. A negative result is an rlcore_status; web_error describes it, and the training that ran
   goes on as it was. Pointers are valid until the next call. */
#ifndef WEB_H
#define WEB_H

#include <stdint.h>

#ifdef __wasm__
#define PAGE(name) __attribute__((export_name(#name))) name
#else
#define PAGE(name) name
#endif

/* ---- Lists ---- */

uint32_t PAGE(web_num_worlds)(void);
const char *PAGE(web_world_name)(uint32_t world);
const char *PAGE(web_world_title)(uint32_t world);
const char *PAGE(web_world_about)(uint32_t world);
uint32_t PAGE(web_world_algorithm)(uint32_t world); /* the one to begin with */
uint32_t PAGE(web_num_algorithms)(void);
const char *PAGE(web_algorithm_name)(uint32_t algorithm);
const char *PAGE(web_algorithm_title)(uint32_t algorithm);

/* 0 if a learner of this algorithm can be made for the environment, else why not. */
int32_t PAGE(web_fits)(uint32_t world, uint32_t algorithm);

/* ---- One training ---- */

/* Starts over. All randomness comes from the seed. */
int32_t PAGE(web_start)(uint32_t world, uint32_t algorithm, uint32_t seed);

/* One step of every environment, or one minibatch: takes microseconds. 1 while work is left, then 0. WEB_REFUSED is 1 after a
   setting that waited was refused, which web_error describes. */
enum { WEB_REFUSED = 2 };
int32_t PAGE(web_work)(void);

/* Ends the training after so many steps, once an update is complete, in place of its total_steps; 0: total_steps. */
void PAGE(web_until)(double steps);

uint32_t PAGE(web_world)(void);
uint32_t PAGE(web_algorithm)(void);
uint32_t PAGE(web_seed)(void);
double PAGE(web_goal)(void); /* a mean return that counts as solved; NaN if nobody says */

enum { WEB_STEPS, WEB_UPDATES, WEB_EPISODES, WEB_RETURN, WEB_LENGTH, WEB_POLICY_LOSS, WEB_VALUE_LOSS, WEB_ENTROPY, WEB_KL, WEB_NORM,
       WEB_RATE, WEB_EXPLORATION, WEB_TEMPERATURE, WEB_DROPPED, WEB_TOTAL, WEB_NUM_STATS };
const double *PAGE(web_stats)(void); /* [WEB_NUM_STATS] NaN where there is none */

/* Mean return of the last 100 episodes over steps: pairs of steps and returns. */
uint32_t PAGE(web_num_points)(void);
const double *PAGE(web_points)(void);

const char *PAGE(web_error)(void);

/* Hash of the parameters. Where the settings are those of a task of this folder and nothing has changed them, it ends with
   seed 1 as the published one, which else is 0. */
uint64_t PAGE(web_hash)(void);
uint64_t PAGE(web_published_hash)(void);

/* ---- Settings ---- */

uint32_t PAGE(web_num_sliders)(void);
const char *PAGE(web_slider_name)(uint32_t slider);
const char *PAGE(web_slider_label)(uint32_t slider);
uint32_t PAGE(web_slider_run)(uint32_t slider); /* SLIDER_... of sliders.h */
double PAGE(web_slider_low)(uint32_t slider);
double PAGE(web_slider_high)(uint32_t slider);
uint32_t PAGE(web_slider_used)(uint32_t slider); /* by the algorithm that runs */
double PAGE(web_slider_value)(uint32_t slider);

/* The training goes on with the value from its next update on; where the learner has other lengths then, in a new one that
   adopts all that this one has learned. Refused are values that the library refuses. */
int32_t PAGE(web_slider_set)(uint32_t slider, double value);

/* ---- One more environment, played by the policy as it is now ---- */

/* Plays a step and draws it: [height, width, 4] bytes, 0 if the library has no drawing. explore: 1: as in training. */
int32_t PAGE(web_watch)(uint32_t explore);
const uint8_t *PAGE(web_picture)(void);
uint32_t PAGE(web_picture_width)(void);
uint32_t PAGE(web_picture_height)(void);
uint32_t PAGE(web_pace)(void);      /* frames of the page for each step */
uint32_t PAGE(web_obs_len)(void);
float PAGE(web_obs)(uint32_t i);    /* an element of the observation */
uint32_t PAGE(web_action_len)(void);
float PAGE(web_action)(uint32_t i); /* an element of the action */
uint32_t PAGE(web_played)(void);    /* steps of the episode */
double PAGE(web_earned)(void);      /* rewards of the episode */
uint32_t PAGE(web_last_played)(void); /* the same of the episode before it */
double PAGE(web_last_earned)(void);   /* NaN if there is none */

/* ---- Files ---- */

/* The whole training, or the policy. Returns the address of the bytes, or 0: web_error. */
enum { WEB_TRAINING, WEB_POLICY, WEB_ONNX, WEB_C };
const uint8_t *PAGE(web_save)(uint32_t what);
uint32_t PAGE(web_saved_size)(void);

/* Room for the bytes of a saved training, which the page writes there; 0: web_error. Then continues from them. */
uint8_t *PAGE(web_load_room)(uint32_t size);
int32_t PAGE(web_load)(uint32_t size);

#endif
