/* Blocks of every kind that were written on a machine of the other byte order: each is refused as what it is, by attach and
   by every other call, and not as some damaged image. */
#include "rlcore.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 15, N = 2 };

static struct world {
  _Alignas(64) unsigned char mem[ROOM];
  _Alignas(64) unsigned char own[ROOM];
  rlcore_env_def env;
  rlcore_vecenv_config many;
  rlcore_column column;
  void *made, *attached;
} w, before;

#include "attack.h"

#define OUT(type) ((type **)&w.made)
#define INTO(type) ((type **)&w.attached)

/* ---- How a block of each kind is made, and how it is attached ---- */
static int32_t make_vecenv(void) { return rlcore_vecenv_init(w.mem, ROOM, &w.env, &w.many, OUT(rlcore_vecenv)); }
static int32_t attach_vecenv(void) { return rlcore_vecenv_attach(w.mem, ROOM, &w.env, INTO(rlcore_vecenv)); }
static int32_t use_vecenv(void) {
  static float obs[N * 4];
  return rlcore_vecenv_reset((rlcore_vecenv *)w.made, &w.env, NULL, obs);
}

static int32_t make_batch(void) {
  const rlcore_batch_config config = {sizeof config, 1};
  return rlcore_batch_init(w.mem, ROOM, &w.env, &w.many, &config, OUT(rlcore_batch));
}
static int32_t attach_batch(void) { return rlcore_batch_attach(w.mem, ROOM, INTO(rlcore_batch)); }
static int32_t use_batch(void) { return rlcore_batch_close((rlcore_batch *)w.made); }

static int32_t init_learner(void *mem, rlcore_learner **out) {
  rlcore_learner_config config;
  FINE(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N;
  config.num_steps = 4;
  config.num_hidden = 1;
  config.hidden_len[0] = 8;
  config.hidden_len[1] = 0;
  return rlcore_learner_init(mem, ROOM, &config, &w.env.obs, &w.env.action, out);
}
static int32_t make_learner(void) { return init_learner(w.mem, OUT(rlcore_learner)); }
static int32_t attach_learner(void) { return rlcore_learner_attach(w.mem, ROOM, INTO(rlcore_learner)); }
static int32_t use_learner(void) { return rlcore_learner_freeze((rlcore_learner *)w.made, 1); }

static int32_t make_policy(void) {
  rlcore_learner *learner;
  FINE(init_learner(w.own, &learner));
  return rlcore_policy_export(learner, w.mem, ROOM, OUT(rlcore_policy));
}
static int32_t attach_policy(void) { return rlcore_policy_attach(w.mem, ROOM, (const rlcore_policy **)&w.attached); }
static int32_t use_policy(void) {
  size_t len;
  return rlcore_policy_scratch_len((const rlcore_policy *)w.made, 1, &len);
}

static int32_t make_lazy_frames(void) {
  const rlcore_lazy_frames_config config = {sizeof config, 1, 8, 2, 2, 1, 2};
  return rlcore_lazy_frames_init(w.mem, ROOM, &config, OUT(rlcore_lazy_frames));
}
static int32_t attach_lazy_frames(void) { return rlcore_lazy_frames_attach(w.mem, ROOM, INTO(rlcore_lazy_frames)); }
static int32_t use_lazy_frames(void) {
  return rlcore_lazy_frames_push((rlcore_lazy_frames *)w.made, 0, w.own, 1, NULL);
}

static int32_t make_monitor(void) {
  rlcore_monitor_config config;
  FINE(rlcore_monitor_config_init(&config, sizeof config));
  config.capacity = 8;
  return rlcore_monitor_init(w.mem, ROOM, &config, OUT(rlcore_monitor));
}
static int32_t attach_monitor(void) { return rlcore_monitor_attach(w.mem, ROOM, INTO(rlcore_monitor)); }
static int32_t use_monitor(void) { return rlcore_monitor_reset((rlcore_monitor *)w.made); }

static int32_t make_vec_normalize(void) {
  rlcore_vec_normalize_config config;
  FINE(rlcore_vec_normalize_config_init(&config, sizeof config));
  return rlcore_vec_normalize_init(w.mem, ROOM, &config, OUT(rlcore_vec_normalize));
}
static int32_t attach_vec_normalize(void) { return rlcore_vec_normalize_attach(w.mem, ROOM, INTO(rlcore_vec_normalize)); }
static int32_t use_vec_normalize(void) { return rlcore_vec_normalize_freeze((rlcore_vec_normalize *)w.made, 1); }

static int32_t make_memory(void) {
  rlcore_memory_config config;
  FINE(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = 30;
  config.num_columns = 1;
  config.columns = &w.column;
  return rlcore_memory_init(w.mem, ROOM, &config, OUT(rlcore_memory));
}
static int32_t attach_memory(void) { return rlcore_memory_attach(w.mem, ROOM, INTO(rlcore_memory)); }
static int32_t read_memory(void) {
  return rlcore_memory_attach_reader(w.mem, ROOM, (const rlcore_memory **)&w.attached);
}
static int32_t use_memory(void) {
  uint64_t begin, end;
  return rlcore_memory_held((const rlcore_memory *)w.made, &begin, &end);
}

static int32_t make_replay(void) {
  rlcore_replay_config config;
  FINE(rlcore_replay_config_init(&config, sizeof config));
  config.num_rows = 8;
  config.num_columns = 1;
  config.columns = &w.column;
  return rlcore_replay_init(w.mem, ROOM, &config, OUT(rlcore_replay));
}
static int32_t attach_replay(void) { return rlcore_replay_attach(w.mem, ROOM, INTO(rlcore_replay)); }
static int32_t read_replay(void) {
  return rlcore_replay_attach_reader(w.mem, ROOM, (const rlcore_replay **)&w.attached);
}
static int32_t use_replay(void) { return rlcore_replay_set_alpha((rlcore_replay *)w.made, 0.5f); }

static int32_t make_rollout_buffer(void) {
  rlcore_rollout_buffer_config config;
  FINE(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = 4;
  config.log_capacity = 8;
  config.num_columns = 1;
  config.columns = &w.column;
  return rlcore_rollout_buffer_init(w.mem, ROOM, &config, OUT(rlcore_rollout_buffer));
}
static int32_t attach_rollout_buffer(void) {
  return rlcore_rollout_buffer_attach(w.mem, ROOM, INTO(rlcore_rollout_buffer));
}
static int32_t use_rollout_buffer(void) { return rlcore_rollout_buffer_reset((rlcore_rollout_buffer *)w.made); }

static int32_t make_trajectory(void) {
  rlcore_trajectory_config config;
  FINE(rlcore_trajectory_config_init(&config, sizeof config));
  config.num_columns = 1;
  config.columns = &w.column;
  return rlcore_trajectory_init(w.mem, ROOM, &config, OUT(rlcore_trajectory));
}
static int32_t attach_trajectory(void) { return rlcore_trajectory_attach(w.mem, ROOM, INTO(rlcore_trajectory)); }
static int32_t use_trajectory(void) { return rlcore_trajectory_reset((rlcore_trajectory *)w.made); }

static int32_t make_queue(void) {
  const rlcore_queue_config config = {sizeof config, 2, 8, 0};
  return rlcore_queue_init(w.mem, ROOM, &config, OUT(rlcore_queue));
}
static int32_t attach_queue(void) { return rlcore_queue_attach(w.mem, ROOM, INTO(rlcore_queue)); }
static int32_t use_queue(void) { return rlcore_queue_push((rlcore_queue *)w.made, "item", 4); }

#define KIND(name) {#name, make_##name, attach_##name, attach_##name, use_##name}
#define READ(name) {#name, make_##name, attach_##name, read_##name, use_##name}

static const struct {
  const char *name;
  int32_t (*make)(void), (*attach)(void), (*read)(void), (*use)(void);
} kinds[] = {
    KIND(vecenv), KIND(learner), KIND(policy), KIND(lazy_frames), KIND(monitor), KIND(vec_normalize), KIND(batch), READ(memory),
    READ(replay), KIND(rollout_buffer), KIND(trajectory), KIND(queue),
};

/* The words of the header as the other machine would have written them: order, version, kind, bytes of configuration; then
   two of eight bytes, size and checksum. */
static void turn(void) {
  static const struct { size_t at, size; } words[] = {{8, 4}, {12, 4}, {16, 4}, {20, 4}, {24, 8}, {32, 8}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    unsigned char *low = off(w.mem, words[i].at), *high = low + words[i].size - 1;
    for (; low < high; low++, high--) {
      const unsigned char byte = *low;
      *low = *high;
      *high = byte;
    }
  }
}

int main(void) {
  static const char words[] = "block: an image of this machine's byte order; this one was written on a machine of the other";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    memset(&w, 0, sizeof w);
    FINE(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, &w.env, sizeof w.env));
    FINE(rlcore_vecenv_config_init(&w.many, sizeof w.many));
    w.many.num_envs = N;
    w.column = (rlcore_column){.name = "obs", .kind = RLCORE_F32, .len = 3};
    FINE(kinds[i].make());
    FINE(kinds[i].attach());
    CHECK(w.attached == w.made && w.made == (void *)w.mem);
    w.attached = NULL;
    turn();
    REFUSED(RLCORE_E_IMAGE, words, kinds[i].attach());
    REFUSED(RLCORE_E_IMAGE, words, kinds[i].read());
    REFUSED(RLCORE_E_IMAGE, words, kinds[i].use());
    turn();
    FINE(kinds[i].attach());
    FINE(kinds[i].use());
    if (failures != 0) {
      printf("kind: %s\n", kinds[i].name);
      break;
    }
  }
  return verdict();
}
