/* Rollout files: final observations that do not fit, altered files, and a right one that is read back. */

#include "rlcore.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { T = 3, N = 2, OBS = 2, K = 2, M = 1, SIZE = RLCORE_ROLLOUT_FILE_HEADER_SIZE + 1024 };

static struct world {
  rlcore_rollout_file file, found;
  rlcore_rollout_arrays in, out;
  float obs[(T + 1) * N * OBS], log_prob[T * N], value[T * N], bootstrap_value[N], reward[T * N], final_obs[K * OBS],
      final_value[K], state[N * M];
  int32_t action[T * N];
  uint8_t terminated[T * N], truncated[T * N], valid[T * N];
  uint64_t final_index[K];
  struct {
    float obs[(T + 1) * N * OBS], log_prob[T * N], value[T * N], bootstrap_value[N], reward[T * N], final_obs[K * OBS],
        final_value[K], state[N * M];
    int32_t action[T * N];
    uint8_t terminated[T * N], truncated[T * N], valid[T * N];
    uint64_t final_index[K];
  } back;
  size_t asked;
  uint8_t bytes[SIZE];
} w, before;

#include "attack.h"

static void start(void) {
  memset(&w, 0, sizeof w);
  w.file = (rlcore_rollout_file){sizeof w.file, T, N, RLCORE_F32, 1, {OBS}, RLCORE_I32, 1, M, K, 0, 1, 2, 3, 4, 0, 0};
  w.in = (rlcore_rollout_arrays){sizeof w.in,  0,       w.obs,         w.action,  w.log_prob,  w.value,
                                 w.bootstrap_value, w.reward, w.terminated, w.truncated, w.valid, w.final_index,
                                 w.final_obs,  w.final_value, w.state, NULL};
  w.out = (rlcore_rollout_arrays){sizeof w.out, 0, w.back.obs, w.back.action, w.back.log_prob, w.back.value,
                                  w.back.bootstrap_value, w.back.reward, w.back.terminated, w.back.truncated,
                                  w.back.valid, w.back.final_index, w.back.final_obs, w.back.final_value, w.back.state, NULL};
  for (int i = 0; i < (T + 1) * N * OBS; i++) w.obs[i] = (float)i;
  for (int i = 0; i < T * N; i++) w.reward[i] = 0.5f * (float)i, w.action[i] = -i, w.valid[i] = 1;
  w.truncated[1] = 7;
  w.terminated[4] = 1;
  w.final_index[0] = 1, w.final_index[1] = 4;
  w.final_obs[3] = 9;
}

static void attack_write(void) {
  start();
  const rlcore_rollout_file *file = &w.file;
  const rlcore_rollout_arrays *arrays = &w.in;
  uint8_t *out = w.bytes;
  size_t size = SIZE, *asked = &w.asked;
#define ASK rlcore_rollout_file_size(file, asked)
#define WRITE rlcore_rollout_file_write(file, arrays, out, size)
  FINE(ASK);
  CHECK(w.asked == RLCORE_ROLLOUT_FILE_HEADER_SIZE + 24 * 8 + 8 * K + 4 * (16 + 6 * 4 + 2 + 4 + 2 + 2) + 3 * 6);
#define WORDS(field) POINTER(w.in.field, 2, "rollout arrays: " #field, WRITE)
  WORDS(final_index); WORDS(final_obs); WORDS(final_value);
  WITH(w.final_index[0], 2, RLCORE_E_NOT_READY, "a final observation for the truncated step, given 1", WRITE);
  WITH(w.final_index[1], 5, RLCORE_E_RANGE, "a valid step that ended", WRITE);
  WITH(w.final_index[1], 1, RLCORE_E_RANGE, "ascending", WRITE);
  WITH(w.final_index[1], T * N, RLCORE_E_RANGE, "below T * N", WRITE);
  WITH(w.valid[1], 0, RLCORE_E_RANGE, "a valid step that ended", WRITE);
  WITH(w.truncated[2], 1, RLCORE_E_NOT_READY, "the truncated step, given 2", WRITE);
  FINE(WRITE);
  /* Arrays without elements may be NULL. */
  w.file.num_finals = w.file.state_len = 0;
  w.truncated[1] = 0;
  w.in.final_index = NULL, w.in.final_obs = w.in.final_value = w.in.state = NULL;
  FINE(WRITE);
  /* So may absent ones; pairs of texts are refused unless they are whole. */
  w.file.absent = RLCORE_ROLLOUT_NO_LOG_PROB | RLCORE_ROLLOUT_NO_VALUE;
  w.in.log_prob = w.in.value = w.in.bootstrap_value = NULL;
  FINE(WRITE);
  WITH(w.file.absent, RLCORE_ROLLOUT_NO_VALUE, RLCORE_E_NULL, "rollout arrays: log_prob", WRITE);
  WITH(w.file.absent, RLCORE_ROLLOUT_NO_LOG_PROB, RLCORE_E_NULL, "rollout arrays: value", WRITE);
  WITH(w.file.absent, 4, RLCORE_E_CONFIG, "absent of 0 to 3, given 4", WRITE);
  WITH(w.file.metadata_len, 65537, RLCORE_E_CONFIG, "metadata_len of at most 65536, given 65537", WRITE);
  WITH(w.file.metadata_len, 4, RLCORE_E_NULL, "rollout arrays: metadata", WRITE);
  static uint8_t pair[] = "id\0" "7";
  w.in.metadata = pair, w.file.metadata_len = sizeof pair;
  FINE(WRITE);
  WITH(pair[4], 'x', RLCORE_E_CONFIG, "a 0 behind each name and each value", WRITE);
  WITH(pair[0], 0, RLCORE_E_CONFIG, "rollout file: ", WRITE);
  w.in.metadata = NULL, w.file.metadata_len = 0;
}

static void attack_read(void) {
  start();
  FINE(rlcore_rollout_file_size(&w.file, &w.asked));
  FINE(rlcore_rollout_file_write(&w.file, &w.in, w.bytes, SIZE));
  const uint8_t *bytes = w.bytes;
  size_t size = w.asked;
  rlcore_rollout_file *found = &w.found;
  const rlcore_rollout_arrays *arrays = &w.out;
  w.found.struct_size = sizeof w.found;
#define LOOK rlcore_rollout_file_check(bytes, size, found)
#define READ rlcore_rollout_file_read(bytes, size, arrays)
  for (size_t i = 0; i < w.asked; i++) {
    w.bytes[i] ^= 0x10;
    look();
    const int32_t status = LOOK;
    judge(__LINE__, "check", status == RLCORE_E_SIZE ? RLCORE_E_SIZE : RLCORE_E_IMAGE, status, "rollout file");
    judge(__LINE__, "read", status, READ, "rollout file");
    w.bytes[i] ^= 0x10;
  }
#define ROOM(field) \
  WITH(w.out.field, off(w.back.field, 1), RLCORE_E_ALIGN, "rollout arrays: " #field, READ); \
  WITH(w.out.field, (void *)((size_t)w.bytes & ~(size_t)7), RLCORE_E_OVERLAP, "rollout arrays: " #field, READ); \
  WITH(w.out.field, (void *)((size_t)w.back.valid & ~(size_t)7), RLCORE_E_OVERLAP, "overlaps another array", READ)
  ROOM(final_index); ROOM(final_obs); ROOM(final_value);
  FINE(LOOK);
  CHECK(memcmp(&w.found, &w.file, offsetof(rlcore_rollout_file, obs_dims)) == 0);
  CHECK(w.found.obs_dims[0] == OBS && w.found.num_finals == K && w.found.seed == 1 && w.found.num_episodes == 4);
  FINE(READ);
  CHECK(memcmp(w.back.obs, w.obs, sizeof w.obs) == 0 && memcmp(w.back.action, w.action, sizeof w.action) == 0);
  CHECK(memcmp(w.back.reward, w.reward, sizeof w.reward) == 0 && w.back.truncated[1] == 1 && w.back.terminated[4] == 1);
  CHECK(w.back.final_index[1] == 4 && w.back.final_obs[3] == 9);
  /* A file needs no alignment, and arrays may be left out. */
  memmove(w.bytes + 3, w.bytes, w.asked);
  w.out = (rlcore_rollout_arrays){.struct_size = sizeof w.out, .reward = w.back.log_prob};
  FINE(rlcore_rollout_file_read(w.bytes + 3, size, &w.out));
  CHECK(memcmp(w.back.log_prob, w.reward, sizeof w.reward) == 0);
}

int main(void) {
  attack_write();
  attack_read();
  return verdict();
}
