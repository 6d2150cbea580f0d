/* Refused by name: blocks whose spaces differ from the host's arrays, and moments that belong to other parameters. */
#include "rlcore.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 2, T = 2, OBS = 3, LEN = 4 + 2 * OBS, BLOCK = 1 << 16 };

static struct world {
  _Alignas(64) unsigned char learner[BLOCK], other[BLOCK], brain[BLOCK];
  rlcore_learner *agent, *central;
  const rlcore_policy *policy;
  rlcore_space obs, action;
  uint32_t num_envs, choices[2], sizes[OBS];
  float low[2], high[2], seen[N * OBS], reward[N];
  double moments[LEN], with[LEN], base[LEN];
  size_t size;
} w, before;

#include "attack.h"

static void start(const rlcore_space *obs, const rlcore_space *action, uint32_t normalize) {
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = N, c.num_steps = T, c.num_minibatches = 1, c.hidden_len[0] = c.hidden_len[1] = 8;
  c.normalize_obs = c.normalize_reward = normalize;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, obs, action, &w.agent));
  rlcore_policy *made;
  FINE(rlcore_policy_size(w.agent, &w.size));
  FINE(rlcore_policy_export(w.agent, w.brain, BLOCK, &made));
}

#define POLICY rlcore_policy_attach(w.brain, w.size, &w.obs, &w.action, &w.policy)
#define LEARNER rlcore_learner_attach(w.learner, BLOCK, w.num_envs, &w.obs, &w.action, &w.agent)
/* Policy and learner both refuse a host's field that differs, with this error text. */
#define DIFFERS(field, bad, words) \
  do { \
    WITH(field, bad, RLCORE_E_SHAPE, words, POLICY); \
    WITH(field, bad, RLCORE_E_SHAPE, words, LEARNER); \
  } while (0)

static void attack_vectors(void) {
  w.low[0] = -1, w.low[1] = 0, w.high[0] = 1, w.high[1] = 5;
  w.obs = (rlcore_space){RLCORE_F32, OBS, NULL, NULL, NULL};
  w.action = (rlcore_space){RLCORE_F32, 2, w.low, w.high, NULL};
  w.num_envs = N;
  start(&w.obs, &w.action, 0);
  FINE(POLICY);
  FINE(LEARNER);
  DIFFERS(w.obs.len, 2, "obs: len 3, given 2");
  DIFFERS(w.obs.kind, RLCORE_U8, "obs: kind 0, given 2");
  DIFFERS(w.action.len, 1, "action: len 2, given 1");
  DIFFERS(w.action.kind, RLCORE_I32, "action: kind 0, given 1");
  DIFFERS(w.low[0], -2, "action.low: bounds as in the block");
  DIFFERS(w.high[1], NAN, "action.high: bounds as in the block");
  WITH(w.num_envs, 3, RLCORE_E_SHAPE, "num_envs: environments, 2, given 3", LEARNER);
  /* The host may leave out N, bounds and spaces. */
  w.num_envs = 0, w.action.low = w.action.high = NULL;
  FINE(POLICY);
  FINE(LEARNER);
  FINE(rlcore_policy_attach(w.brain, w.size, NULL, NULL, &w.policy));
  FINE(rlcore_learner_attach(w.learner, BLOCK, 0, NULL, NULL, &w.agent));
  rlcore_space obs, action;
  FINE(rlcore_policy_spaces(w.policy, &obs, &action));
  CHECK(obs.kind == RLCORE_F32 && obs.len == OBS && !obs.low && !obs.high && !obs.n);
  CHECK(action.kind == RLCORE_F32 && action.len == 2 && action.low[1] == 0 && action.high[1] == 5 && !action.n);
  FINE(rlcore_learner_spaces(w.agent, &w.num_envs, &obs, &action));
  CHECK(w.num_envs == N && action.low[0] == -1 && action.high[0] == 1);
  /* The spaces that a learner or a policy reports are accepted. */
  FINE(rlcore_policy_attach(w.brain, w.size, &obs, &action, &w.policy));

  /* Bounds that the block does not have. */
  w.action = (rlcore_space){RLCORE_F32, 2, NULL, NULL, NULL};
  start(&w.obs, &w.action, 0);
  DIFFERS(w.action.low, w.low, "action.low: bounds as in the block");
}

static void attack_choices(void) {
  w.sizes[0] = 4, w.sizes[1] = 2, w.sizes[2] = 9, w.choices[0] = 3, w.choices[1] = 5;
  w.obs = (rlcore_space){RLCORE_I32, OBS, NULL, NULL, w.sizes};
  w.action = (rlcore_space){RLCORE_I32, 2, NULL, NULL, w.choices};
  start(&w.obs, &w.action, 0);
  FINE(POLICY);
  FINE(LEARNER);
  DIFFERS(w.sizes[2], 8, "obs: n of an element 9, given 8");
  DIFFERS(w.choices[1], 6, "action: n of an element 5, given 6");
  WITH(w.action.n, NULL, RLCORE_E_NULL, "action.n", POLICY);
  DIFFERS(w.obs.len, 2, "obs: len 3, given 2");
  rlcore_space obs, action;
  FINE(rlcore_policy_spaces(w.policy, &obs, &action));
  CHECK(obs.kind == RLCORE_I32 && obs.n[2] == 9 && action.n[1] == 5 && !action.low);
}

/* A structure of bytes and floats has kind STRUCT, neither U8 nor F32. */
static void attack_structures(void) {
  static const rlcore_field fields[2] = {{.name = "a", .kind = RLCORE_U8, .rank = 1, .dims = {4}},
                                         {.name = "b", .kind = RLCORE_F32, .offset = 4}};
  static const rlcore_field bytes[2] = {{.name = "a", .kind = RLCORE_U8, .rank = 1, .dims = {3}},
                                        {.name = "b", .kind = RLCORE_U8, .offset = 7}};
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = N, c.num_steps = T, c.num_minibatches = 1, c.hidden_len[0] = c.hidden_len[1] = 8;
  c.obs_fields = fields, c.num_obs_fields = 2;
  w.obs = (rlcore_space){RLCORE_STRUCT, 8, NULL, NULL, NULL};
  rlcore_policy *made;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &w.obs, &w.action, &w.agent));
  FINE(rlcore_policy_size(w.agent, &w.size));
  FINE(rlcore_policy_export(w.agent, w.brain, BLOCK, &made));
  FINE(POLICY);
  FINE(LEARNER);
  DIFFERS(w.obs.kind, RLCORE_U8, "obs: kind 3, given 2");
  /* Byte fields with a gap are still bytes. */
  c.obs_fields = bytes, w.obs.kind = RLCORE_U8;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &w.obs, &w.action, &w.agent));
  FINE(LEARNER);
  rlcore_space obs, action;
  FINE(rlcore_learner_spaces(w.agent, &w.num_envs, &obs, &action));
  CHECK(obs.kind == RLCORE_U8 && obs.len == 8);
  /* In the gap may be infos of another kind; where all bytes are read there are none. */
  w.obs.kind = RLCORE_STRUCT;
  FINE(LEARNER);
  w.obs.kind = RLCORE_U8, c.obs_fields = NULL, c.num_obs_fields = 0;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &w.obs, &w.action, &w.agent));
  WITH(w.obs.kind, RLCORE_STRUCT, RLCORE_E_SHAPE, "obs: kind 2, given 3", LEARNER);

  /* Infos of every kind around a picture and a choice: networks read these two, and n has no entry for the infos. */
  static rlcore_field told[4] = {{.name = "seen", .kind = RLCORE_U8, .rank = 1, .dims = {4}},
                                 {.name = "odds", .kind = RLCORE_F32, .offset = 4, .flags = RLCORE_FIELD_INFO},
                                 {.name = "sign", .kind = RLCORE_I32, .offset = 8},
                                 {.name = "level", .kind = RLCORE_I32, .offset = 12, .flags = RLCORE_FIELD_INFO}};
  static const uint32_t signs[1] = {3};
  c.obs_fields = told, c.num_obs_fields = 4;
  w.obs = (rlcore_space){RLCORE_STRUCT, 16, NULL, NULL, signs};
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &w.obs, &w.action, &w.agent));
  FINE(LEARNER);
  FINE(rlcore_learner_seen_len(w.agent, &w.size));
  CHECK(w.size == 4 + 3);
#define SIZE rlcore_learner_size(&c, &w.obs, &w.action, &w.size)
  WITH(told[3].flags, 4, RLCORE_E_CONFIG, "flags of rlcore_field_flag, given 4", SIZE);
  WITH(told[0].flags, RLCORE_FIELD_CHANNELS_FIRST, RLCORE_E_CONFIG, "field 0 must be [channels, height, width]", SIZE);
  told[0].flags = told[2].flags = RLCORE_FIELD_INFO;
  REFUSED(RLCORE_E_CONFIG, "a field of an observation that is no info", SIZE);
  told[0].flags = told[2].flags = 0;
  /* Bytes with an info of their own, which needs no structure. */
  told[1].kind = told[2].kind = told[3].kind = RLCORE_U8;
  w.obs = (rlcore_space){RLCORE_U8, 16, NULL, NULL, NULL};
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &w.obs, &w.action, &w.agent));
  FINE(LEARNER);
  FINE(rlcore_learner_seen_len(w.agent, &w.size));
  CHECK(w.size == 5);
}

static void roll(void) {
  static const uint8_t no[N];
  int32_t action[N];
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N * OBS; i++) w.seen[i] = 100 + (float)(t * i);
    FINE(rlcore_learner_act(w.agent, ACTED(NULL, w.seen, NULL, action)));
    FINE(rlcore_learner_observe(w.agent, STEPPED(NULL, w.reward, no, no, NULL, NULL)));
  }
}

static void attack_moments(void) {
  static float params[1 << 14], obs[N * T * OBS], columns[4][N * T];
  static int32_t actions[N * T];
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  size_t len, params_len;
  w.obs = (rlcore_space){RLCORE_F32, OBS, NULL, NULL, NULL};
  w.action = (rlcore_space){RLCORE_I32, 1, NULL, NULL, w.choices};
  w.num_envs = N;
  start(&w.obs, &w.action, 1);
  memcpy(w.other, w.learner, BLOCK);
  FINE(rlcore_learner_attach(w.other, BLOCK, N, &w.obs, &w.action, &w.central));
  FINE(rlcore_learner_moments_len(w.agent, &len));
  FINE(rlcore_learner_params_len(w.agent, &params_len));
  CHECK(len == LEN && params_len < sizeof params / sizeof *params);
  roll();
#define READ rlcore_learner_moments_read(w.agent, w.moments, len)
  WITH(len, LEN - 1, RLCORE_E_SHAPE, "moments: elements, exactly 10, given 9", READ);
  FINE(READ);
  CHECK(w.moments[3] > N * T && fabs(w.moments[4] - 100.75) < 0.01);
  WITH(params_len, 1, RLCORE_E_SHAPE, "params: elements, exactly", rlcore_learner_params_read(w.agent, params, params_len));
  FINE(rlcore_learner_params_read(w.agent, params, params_len));

  /* Parameters without their moments are refused, and so is a batch. */
#define WRITE rlcore_learner_params_write(w.central, params, params_len, w.moments, len)
  REFUSED(RLCORE_E_SHAPE, "moments: 10 numbers must come from the learner whose parameters these are; 0 were given",
          rlcore_learner_params_write(w.central, params, params_len, NULL, 0));
  WITH(params_len, 1, RLCORE_E_SHAPE, "params: elements, exactly", WRITE);
  WITH(w.moments[0], NAN, RLCORE_E_VALUE, "moments: a finite count", WRITE);
  WITH(w.moments[LEN - 1], -1, RLCORE_E_RANGE, "a variance of at least 0, given -1", WRITE);
  FINE(WRITE);
  FINE(rlcore_learner_moments_read(w.central, w.with, len));
  CHECK(memcmp(w.with, w.moments, sizeof w.with) == 0);
  FINE(rlcore_learner_learn_begin(w.agent, OBSERVED(w.seen, NULL), &stats));
#define COLUMNS(to) \
  BATCH(.obs = obs, .action = actions, .log_prob = columns[0], .value = columns[1], .advantage = columns[2], \
        .value_target = columns[3], .moments = to)
  REFUSED(RLCORE_E_NULL, "moments", rlcore_learner_batch_read(w.agent, COLUMNS(NULL)));
  FINE(rlcore_learner_batch_read(w.agent, COLUMNS(w.moments)));
#define LEARN_BATCH(from) rlcore_learner_learn_batch(w.central, COLUMNS(from), &stats)
  REFUSED(RLCORE_E_NULL, "moments", LEARN_BATCH(NULL));
  WITH(w.moments[LEN - 1], -1, RLCORE_E_RANGE, "a variance of at least 0, given -1", LEARN_BATCH(w.moments));
  FINE(LEARN_BATCH(w.moments));

  /* Moments are merged by their counts. */
#define MERGE rlcore_learner_moments_merge(w.base, w.with, len, w.moments)
  for (int i = 0; i < LEN; i++) w.base[i] = 1, w.with[i] = w.moments[i] = 2;
  FINE(MERGE);
  CHECK(w.moments[0] == 3 && w.moments[3] == 3 && fabs(w.moments[4] - 7.0 / 3) < 1e-12);
  WITH(w.base[0], 4, RLCORE_E_RANGE, "counts of at least those of the base, given 2", MERGE);
  WITH(w.with[3], INFINITY, RLCORE_E_RANGE, "a count from 0 to 2^64", MERGE);
  WITH(len, LEN - 1, RLCORE_E_SHAPE, "4 numbers, and 2 for each", MERGE);
  WITH(len, 2, RLCORE_E_SHAPE, "4 numbers, and 2 for each", MERGE);
  WITH(w.moments[0], -1, RLCORE_E_RANGE, "a count from 0 to 2^64", MERGE);
  REFUSED(RLCORE_E_OVERLAP, "moments", rlcore_learner_moments_merge(NULL, w.moments, len, w.moments));
  REFUSED(RLCORE_E_NULL, "with", rlcore_learner_moments_merge(NULL, NULL, len, w.moments));

  /* A learner that normalizes nothing has no moments. */
  start(&w.obs, &w.action, 0);
  FINE(rlcore_learner_moments_len(w.agent, &len));
  CHECK(len == 0);
  FINE(rlcore_learner_moments_read(w.agent, NULL, 0));
  FINE(rlcore_learner_moments_write(w.agent, NULL, 0));
  FINE(rlcore_learner_params_write(w.agent, params, params_len, NULL, 0));
  REFUSED(RLCORE_E_SHAPE, "moments: 0 numbers", rlcore_learner_moments_write(w.agent, w.moments, LEN));
}

int main(void) {
  attack_vectors();
  attack_choices();
  attack_structures();
  attack_moments();
  return verdict();
}
