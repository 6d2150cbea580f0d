/* A learner and its environments, saved as one range of bytes; and the evaluation of a policy. */
#ifndef TRAINING_H
#define TRAINING_H

#include "host.h"

/* One learner, its environments, and the arrays between them. */
typedef struct training {
  host_env world;
  rlcore_learner_config config;
  unsigned char *image; /* everything to save: learner block, environments' block, next observations */
  size_t image_size, learner_size, envs_size;
  rlcore_learner *agent;     /* at the start of image */
  rlcore_vecenv *envs; /* in image, after the learner */
  float *params;       /* room for a copy of the parameters, taken at first use */
  rlcore_rows rows;    /* obs in image, after the environments; the other arrays do not outlive a step */
  rlcore_learner_stats stats; /* of the last update */
} training;

/* Computes sizes and takes the memory, once. */
void training_plan(training *t, const host_env *world, const rlcore_learner_config *config);

/* Starts a new training, with all randomness from `seed`. May be called again to restart in the same memory. */
void training_start(training *t, uint64_t seed);

/* Continues from the bytes in `image`. */
void training_attach(training *t);

/* Acts, steps every environment once, and passes the results to the learner. */
void training_step(training *t);

/* The same until an update is due. */
void training_collect(training *t);

/* Learns if an update is due: at most max_slices chunks of it (0 = all). True while minibatches are left. */
bool training_learn(training *t, uint32_t max_slices);

/* Hash of `image`, for comparisons within one version of the library. */
uint64_t training_hash(const training *t);

/* Hash of the parameters, which does not depend on the layout of blocks. */
uint64_t training_params_hash(training *t);

/* Exports the policy into newly taken memory. */
const rlcore_policy *training_export(const training *t, size_t *out_size);

/* Returns of complete episodes, one in each of `num_episodes` environments, with seeds not used in training. */
typedef struct evaluation {
  double mean, std, min, max, mean_len;
} evaluation;
evaluation evaluate(const rlcore_policy *policy, const host_env *world, uint32_t num_episodes, const rlcore_sampling *sampling);

extern const rlcore_sampling GREEDY;

#endif
