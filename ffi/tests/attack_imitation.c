/* Rows to imitate: every wrong one is refused, and no byte changes; a good one moves the actions towards it. */
#include "rlcore.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 17, ROWS = 6, OBS = 3, CHOICES = 4 };

static struct world {
  _Alignas(64) unsigned char learner[BLOCK];
  rlcore_learner *agent;
  rlcore_rows rows;
  rlcore_imitation how;
  float obs[ROWS * OBS], prob[ROWS * CHOICES], weight[ROWS], number[ROWS], loss, told[ROWS * CHOICES];
  int32_t choice[ROWS];
  uint8_t mask[ROWS * CHOICES], reset[ROWS];
  rlcore_learner_stats stats;
} w, before;

#include "attack.h"

static const uint32_t choices[] = {CHOICES};
static const float low = -2, high = 3;

static void start(uint32_t algorithm, int chooses, uint32_t masks, const rlcore_layer *layer) {
  const rlcore_space obs = {.kind = RLCORE_F32, .len = OBS};
  const rlcore_space discrete = {.kind = RLCORE_I32, .len = 1, .n = choices};
  const rlcore_space bounded = {.kind = RLCORE_F32, .len = 1, .low = &low, .high = &high};
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, algorithm));
  c.num_envs = 1, c.use_action_mask = masks;
  c.hidden_len[0] = c.hidden_len[1] = 8;
  if (algorithm >= RLCORE_ALGORITHM_DQN && algorithm <= RLCORE_ALGORITHM_SAC) c.buffer_size = 64, c.batch_size = 8, c.learning_starts = 16;
  else c.num_steps = 8, c.num_minibatches = 2;
  if (layer) c.layers = layer, c.num_layers = 1, c.sequence_len = 2;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs, chooses ? &discrete : &bounded, &w.agent));
  w.how = (rlcore_imitation){.struct_size = sizeof w.how, .weight = w.weight};
  w.rows = (rlcore_rows){.struct_size = sizeof w.rows, .obs = w.obs, .action = chooses ? (void *)w.choice : (void *)w.number};
  for (int i = 0; i < ROWS * OBS; i++) w.obs[i] = (float)(i % 7) / 4 - 0.75F;
  for (int i = 0; i < ROWS; i++) w.choice[i] = i % CHOICES, w.number[i] = (float)i / 4, w.weight[i] = 1, w.reset[i] = i == 3;
  for (int i = 0; i < ROWS * CHOICES; i++) w.prob[i] = 0.25F, w.mask[i] = 1;
}

#define IMITATE rlcore_learner_imitate(w.agent, rows, &w.rows, &w.how, &w.loss)

static void rows_with_choices(void) {
  uint32_t rows = ROWS;
  start(RLCORE_ALGORITHM_PPO, 1, 1, NULL);
  FINE(IMITATE);
  CHECK(fabsf(w.loss - logf(4)) < 0.05F);
  w.rows.action_mask = w.mask;
  for (int i = 0; i < 200; i++) FINE(IMITATE);
  CHECK(w.loss < 1.35F);
  FINE(rlcore_learner_distribution(w.agent, ROWS, &w.rows, NULL, NULL, DISTRIBUTION(.prob = w.told)));
  FINE(rlcore_learner_imitate(w.agent, rows, &w.rows, NULL, NULL));
  REFUSED(RLCORE_E_NULL, "learner", rlcore_learner_imitate(NULL, rows, &w.rows, &w.how, &w.loss));
  REFUSED(RLCORE_E_NULL, "rows", rlcore_learner_imitate(w.agent, rows, NULL, &w.how, &w.loss));
  POINTER(w.rows.obs, 2, "obs", IMITATE);
  POINTER(w.rows.action, 2, "action", IMITATE);
  WITH(w.how.weight, off(w.weight, 1), RLCORE_E_ALIGN, "weight", IMITATE);
  WITH(w.how.prob, off(w.prob, 2), RLCORE_E_ALIGN, "prob", IMITATE);
  REFUSED(RLCORE_E_ALIGN, "out_loss", rlcore_learner_imitate(w.agent, rows, &w.rows, &w.how, off(&w.loss, 1)));
  REFUSED(RLCORE_E_OVERLAP, "out_loss", rlcore_learner_imitate(w.agent, rows, &w.rows, &w.how, w.weight));
  REFUSED(RLCORE_E_OVERLAP, "learner", rlcore_learner_imitate(w.agent, rows, &w.rows, &w.how, (float *)off(w.learner, 512)));
  WITH(w.rows.obs, off(w.learner, 1024), RLCORE_E_OVERLAP, "overlaps another array", IMITATE);
  WITH(w.how.struct_size, 8, RLCORE_E_CONFIG, "imitation: struct_size", IMITATE);
  WITH(w.rows.reserved, 1, RLCORE_E_CONFIG, "rows: reserved", IMITATE);
  WITH(w.how.fit_std, 2, RLCORE_E_CONFIG, "fit_std: 0 or 1, given 2", IMITATE);
  WITH(w.how.fit_std, 1, RLCORE_E_CONFIG, "fit_std of a policy with standard deviations", IMITATE);
  WITH(w.how.margin, 0.5F, RLCORE_E_CONFIG, "a margin of 0 unless the learner is one of Q", IMITATE);
  WITH(w.how.margin, NAN, RLCORE_E_CONFIG, "a finite margin", IMITATE);
  WITH(rows, 0, RLCORE_E_SHAPE, "num_rows of at least 1", IMITATE);
  WITH(w.how.num_steps, 4, RLCORE_E_SHAPE, "num_steps that divide num_rows", IMITATE);
  WITH(w.obs[ROWS * OBS - 1], INFINITY, RLCORE_E_VALUE, "finite obs", IMITATE);
  WITH(w.choice[5], CHOICES, RLCORE_E_VALUE, "the action of row 5 is outside of the action space, or not allowed", IMITATE);
  WITH(w.choice[0], -1, RLCORE_E_VALUE, "the action of row 0 is outside", IMITATE);
  WITH(w.mask[5], 0, RLCORE_E_VALUE, "the action of row 1 is outside of the action space, or not allowed", IMITATE);
  for (int i = 0; i < CHOICES; i++) w.mask[8 + i] = 0;
  REFUSED(RLCORE_E_VALUE, "an allowed action in each choice", IMITATE);
  for (int i = 0; i < CHOICES; i++) w.mask[8 + i] = 1;
  WITH(w.weight[4], -0.5F, RLCORE_E_VALUE, "finite weights of at least 0", IMITATE);
  WITH(w.weight[4], NAN, RLCORE_E_VALUE, "finite weights of at least 0", IMITATE);
  w.how.prob = w.prob, w.rows.action = NULL;
  FINE(IMITATE);
  WITH(w.prob[23], 0.5F, RLCORE_E_VALUE, "with sum 1 for each element", IMITATE);
  WITH(w.prob[23], -0.25F, RLCORE_E_VALUE, "probabilities from 0 to 1", IMITATE);
  WITH(w.mask[23], 0, RLCORE_E_VALUE, "0 where action_mask forbids", IMITATE);
  start(RLCORE_ALGORITHM_PPO, 1, 0, NULL);
  WITH(w.rows.action_mask, w.mask, RLCORE_E_SHAPE, "use_action_mask", IMITATE);
  start(RLCORE_ALGORITHM_DQN, 1, 0, NULL);
  w.how.margin = 2;
  FINE(IMITATE);
}

static void rows_with_numbers(void) {
  uint32_t rows = ROWS;
  start(RLCORE_ALGORITHM_PPO, 0, 0, NULL);
  w.how.fit_std = 1;
  FINE(IMITATE);
  WITH(w.number[2], NAN, RLCORE_E_VALUE, "the action of row 2 is outside", IMITATE);
  WITH(w.number[2], 1e30F, RLCORE_E_VALUE, "numbers overflowed; nothing was learned", IMITATE);
  WITH(w.how.prob, w.prob, RLCORE_E_SHAPE, "prob of actions that have choices", IMITATE);
  start(RLCORE_ALGORITHM_TD3, 0, 0, NULL);
  FINE(IMITATE);
  WITH(w.how.fit_std, 1, RLCORE_E_CONFIG, "fit_std of a policy with standard deviations", IMITATE);
  WITH(w.number[3], 3.5F, RLCORE_E_VALUE, "the action of row 3 is outside of the action space", IMITATE);
  start(RLCORE_ALGORITHM_SAC, 0, 0, NULL);
  FINE(IMITATE);
  WITH(w.number[3], -2.5F, RLCORE_E_VALUE, "the action of row 3 is outside of the action space", IMITATE);
}

static void sequences(void) {
  static const rlcore_layer gru = {.kind = RLCORE_LAYER_GRU, .units = 4};
  uint32_t rows = ROWS;
  start(RLCORE_ALGORITHM_PPO, 1, 0, &gru);
  w.how.num_steps = 3, w.how.reset = w.reset;
  FINE(IMITATE);
  w.how.num_steps = 2;
  FINE(IMITATE);
  WITH(w.how.num_steps, 6, RLCORE_E_SHAPE, "num_steps of at most 4, the rows of a chunk; they are 6", IMITATE);
  WITH(w.how.reset, (const uint8_t *)off(w.learner, 1024), RLCORE_E_OVERLAP, "overlaps another array", IMITATE);
}

/* Not while an update runs. */
static void undue(void) {
  uint32_t rows = ROWS;
  static const uint8_t no;
  static const float reward;
  start(RLCORE_ALGORITHM_PPO, 1, 0, NULL);
  w.stats.struct_size = sizeof w.stats;
  for (int i = 0; i < 8; i++) {
    FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.obs, NULL, w.choice)));
    FINE(IMITATE);
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, &reward, &no, &no, NULL, NULL)));
  }
  FINE(IMITATE);
  FINE(rlcore_learner_learn(w.agent, OBSERVED(w.obs, NULL), 1, &w.stats));
  REFUSED(RLCORE_E_NOT_READY, "an update runs", IMITATE);
  FINE(rlcore_learner_learn(w.agent, NULL, 0, &w.stats));
  FINE(IMITATE);
}

int main(void) {
  rows_with_choices();
  rows_with_numbers();
  sequences();
  undue();
  return verdict();
}
