/* One action that is a choice and two numbers: a turret picks the weapon for the armor it sees and aims at where the tank is.
   Only a shot with both right does full damage, so PPO has to learn both at once. The action is a C struct: the learner
   writes its fields, one head each, and leaves the game's own member unchanged. */
#include "host.h"

#include <math.h>
#include <stdio.h>

enum { N = 16, STEPS = 32, ROUNDS = WHOLE_OR_BRIEF(100, 2), REPORT = 20, SHOTS = 1000, WEAPONS = 3 };
static const float SOLVED = WHOLE_OR_BRIEF(0.85F, -1);

typedef struct sight {
  float tank[2]; /* its position, -1 to 1 each */
  int32_t armor; /* the weapon that pierces it */
} sight;

typedef struct shot {
  int32_t weapon;
  float aim[2];
  uint32_t shots; /* counted by the game; part of no field */
} shot;

static const uint32_t KINDS[] = {WEAPONS};
static const float LOW[] = {-1, -1}, HIGH[] = {1, 1};
static const rlcore_field SEEN[] = {
    {.name = "tank", .kind = RLCORE_F32, .rank = 1, .dims = {2}, .offset = offsetof(sight, tank)},
    {.name = "armor", .kind = RLCORE_I32, .offset = offsetof(sight, armor)},
};
static const rlcore_field TAKEN[] = {
    {.name = "weapon", .kind = RLCORE_I32, .offset = offsetof(shot, weapon)},
    {.name = "aim", .kind = RLCORE_F32, .rank = 1, .dims = {2}, .offset = offsetof(shot, aim)},
};

static void look(rlcore_rng *rng, sight *s) {
  double draw[3];
  CHECK(rlcore_rng_uniform(rng, -1, 1, draw, 3));
  s->tank[0] = (float)draw[0], s->tank[1] = (float)draw[1];
  s->armor = draw[2] < -0.4 ? 0 : draw[2] < 0.3 ? 1 : 2;
}

/* 1 for the right weapon, 0.1 for a wrong one, falling to 0 at a distance of 1. */
static float damage(const sight *s, const shot *a) {
  const float distance = 0.5F * (fabsf(a->aim[0] - s->tank[0]) + fabsf(a->aim[1] - s->tank[1]));
  return (a->weapon == s->armor ? 1.0F : 0.1F) * fmaxf(0, 1 - distance);
}

int main(void) {
  static sight seen[N];
  static shot taken[N];
  static float reward[N];
  static uint8_t ends[N], goes_on[N];
  const rlcore_space obs = {.kind = RLCORE_STRUCT, .len = sizeof(sight), .n = KINDS};
  const rlcore_space action = {.kind = RLCORE_STRUCT, .len = sizeof(shot), .low = LOW, .high = HIGH, .n = KINDS};

  rlcore_learner_config config;
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.num_steps = STEPS, config.learning_rate = 3e-3F, config.log_std_init = -0.5F;
  config.hidden_len[0] = config.hidden_len[1] = 32;
  config.obs_fields = SEEN, config.num_obs_fields = 2;
  config.action_fields = TAKEN, config.num_action_fields = 2;
  size_t size;
  CHECK(rlcore_learner_size(&config, &obs, &action, &size));
  rlcore_learner *agent;
  CHECK(rlcore_learner_init(host_take(size), size, &config, &obs, &action, &agent));

  rlcore_rng rng;
  CHECK(rlcore_rng_seed(&rng, 1));
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = seen, .action = taken, .reward = reward,
                            .terminated = ends, .truncated = goes_on};
  for (int i = 0; i < N; i++) look(&rng, &seen[i]), ends[i] = 1; /* a shot is an episode */
  for (int round = 1; round <= ROUNDS; round++) {
    for (int t = 0; t < STEPS; t++) {
      CHECK(rlcore_learner_act(agent, &rows));
      for (int i = 0; i < N; i++) reward[i] = damage(&seen[i], &taken[i]), taken[i].shots++, look(&rng, &seen[i]);
      CHECK(rlcore_learner_observe(agent, &rows));
    }
    CHECK(rlcore_learner_learn(agent, &rows, 0, &stats));
    if (round % REPORT == 0) printf("%5d shots a turret: %.2f damage each\n", round * STEPS, stats.return_mean);
  }

  /* A game ships the policy alone, which fires without exploring. */
  CHECK(rlcore_policy_size(agent, &size));
  rlcore_policy *brain;
  const rlcore_policy *policy;
  void *const image = host_take(size);
  CHECK(rlcore_policy_export(agent, image, size, &brain));
  CHECK(rlcore_policy_attach(image, size, &obs, &action, &policy));
  size_t len;
  CHECK(rlcore_policy_scratch_len(policy, 1, &len));
  const rlcore_policy_buffers buffers = {.struct_size = sizeof buffers, .scratch = host_take(len * sizeof(float)), .scratch_len = len};
  float sum = 0;
  int right = 0;
  for (int i = 0; i < SHOTS; i++) {
    sight now;
    shot best = {.shots = 7};
    const rlcore_rows row = {.struct_size = sizeof row, .obs = &now, .action = &best};
    look(&rng, &now);
    CHECK(rlcore_policy_act_greedy(policy, 1, &row, &buffers));
    if (best.shots != 7) host_fail("FAILED: the policy wrote what is the game's");
    sum += damage(&now, &best), right += best.weapon == now.armor;
  }
  printf("the policy: %d of %d with the right weapon, %.2f damage each\n", right, SHOTS, sum / SHOTS);
  if (taken[0].shots != ROUNDS * STEPS || sum / SHOTS < SOLVED) host_fail("FAILED: not learned");
  puts("ok: one action of a choice and two numbers was learned");
}
