/* Recordings of training: wrong entries are refused, and so are damaged recordings; no byte changes. */
#include "rlcore.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 15, TAPE = 1 << 16, SEEN = 4, CHOICES = 3, N = 2 };

static struct world {
  _Alignas(64) unsigned char learner[BLOCK], copy[BLOCK], tape[TAPE];
  rlcore_learner *agent, *again;
  rlcore_rows rows;
  rlcore_recorded_call call;
  rlcore_record_info info;
  rlcore_record_entry entry;
  float obs[N * SEEN], reward[N], values[8];
  int32_t action[N];
  uint8_t terminated[N], truncated[N], gone[N];
  size_t used, size, offset;
} w, before;

#include "attack.h"

static const uint32_t choices[] = {CHOICES};
static const rlcore_space obs_space = {.kind = RLCORE_F32, .len = SEEN}, action_space = {.kind = RLCORE_I32, .len = 1, .n = choices};

#define RECORD rlcore_record_call(w.agent, &w.call, w.tape + w.used, TAPE - w.used, &w.size)

static void entry(uint32_t call) {
  w.call = (rlcore_recorded_call){.struct_size = sizeof w.call, .call = call, .hash = 1, .rows = &w.rows};
  FINE(RECORD);
  w.used += w.size;
}

static void start(void) {
  rlcore_learner_config c;
  FINE(rlcore_learner_config_init(&c, sizeof c, RLCORE_ALGORITHM_PPO));
  c.num_envs = N, c.num_steps = 2, c.num_minibatches = 1, c.hidden_len[0] = c.hidden_len[1] = 4;
  FINE(rlcore_learner_init(w.learner, BLOCK, &c, &obs_space, &action_space, &w.agent));
  w.rows = (rlcore_rows){.struct_size = sizeof w.rows, .obs = w.obs, .action = w.action, .reward = w.reward,
                         .terminated = w.terminated, .truncated = w.truncated};
  w.info.struct_size = sizeof w.info, w.entry.struct_size = sizeof w.entry;
  FINE(rlcore_record_begin(w.agent, NULL, 0, &w.used));
  const size_t size = w.used;
  FINE(rlcore_record_begin(w.agent, w.tape, size, &w.used));
  CHECK(w.used == size);
}

static void begin(void) {
#define BEGIN rlcore_record_begin(w.agent, w.tape, TAPE, &w.size)
  REFUSED(RLCORE_E_NULL, "learner", rlcore_record_begin(NULL, w.tape, TAPE, &w.size));
  REFUSED(RLCORE_E_NULL, "bytes", rlcore_record_begin(w.agent, NULL, TAPE, &w.size));
  REFUSED(RLCORE_E_NULL, "out_size", rlcore_record_begin(w.agent, w.tape, TAPE, NULL));
  REFUSED(RLCORE_E_ALIGN, "out_size", rlcore_record_begin(w.agent, w.tape, TAPE, off(&w.size, 1)));
  REFUSED(RLCORE_E_SIZE, "recording: room for", rlcore_record_begin(w.agent, w.tape, 100, &w.size));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_record_begin(w.agent, w.learner + 64, TAPE, &w.size));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_record_begin(w.agent, w.tape, TAPE, (size_t *)(void *)w.tape));
  REFUSED(RLCORE_E_IMAGE, "not an image of an rlcore block", rlcore_record_begin((rlcore_learner *)(void *)w.tape, w.tape, TAPE, &w.size));
}

static void calls(void) {
  FINE(rlcore_learner_act(w.agent, &w.rows));
  entry(RLCORE_RECORDED_ACT);
  FINE(rlcore_learner_observe(w.agent, &w.rows));
  entry(RLCORE_RECORDED_OBSERVE);
  REFUSED(RLCORE_E_NULL, "learner", rlcore_record_call(NULL, &w.call, w.tape, TAPE, &w.size));
  REFUSED(RLCORE_E_NULL, "recorded call", rlcore_record_call(w.agent, NULL, w.tape, TAPE, &w.size));
  REFUSED(RLCORE_E_NULL, "out_size", rlcore_record_call(w.agent, &w.call, w.tape, TAPE, NULL));
  REFUSED(RLCORE_E_NULL, "bytes", rlcore_record_call(w.agent, &w.call, NULL, TAPE, &w.size));
  REFUSED(RLCORE_E_SIZE, "recording: room for", rlcore_record_call(w.agent, &w.call, w.tape, 8, &w.size));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_record_call(w.agent, &w.call, (uint8_t *)w.reward, TAPE, &w.size));
  WITH(w.call.struct_size, 8, RLCORE_E_CONFIG, "recorded call: struct_size", RECORD);
  WITH(w.call.reserved, 1, RLCORE_E_CONFIG, "recorded call: reserved", RECORD);
  WITH(w.call.call, 0, RLCORE_E_CONFIG, "a known rlcore_recorded, given 0", RECORD);
  WITH(w.call.call, 23, RLCORE_E_CONFIG, "a known rlcore_recorded, given 23", RECORD);
  WITH(w.call.status, 1, RLCORE_E_RANGE, "recorded call: status", RECORD);
  WITH(w.call.status, -18, RLCORE_E_RANGE, "recorded call: status", RECORD);
  WITH(w.call.hash, 2, RLCORE_E_RANGE, "recorded call: hash", RECORD);
  WITH(w.call.rows, NULL, RLCORE_E_NULL, "rows", RECORD);
  WITH(w.rows.reward, NULL, RLCORE_E_NULL, "reward", RECORD);
  WITH(w.rows.struct_size, 4, RLCORE_E_CONFIG, "rows: struct_size", RECORD);
  w.call.call = RLCORE_RECORDED_ACT;
  WITH(w.call.range_end, N + 1, RLCORE_E_RANGE, "environments [begin, end)", RECORD);
  WITH(w.call.range_begin, N + 1, RLCORE_E_RANGE, "environments [begin, end)", RECORD);
  WITH(w.rows.action, NULL, RLCORE_E_NULL, "action", RECORD);
  w.call.call = RLCORE_RECORDED_PARAMS_WRITE;
  REFUSED(RLCORE_E_SHAPE, "values", RECORD);
  w.call.call = RLCORE_RECORDED_GRADS_WRITE, w.call.range_end = 9;
  REFUSED(RLCORE_E_RANGE, "chunks [begin, end)", RECORD);
  w.call.call = RLCORE_RECORDED_FREEZE, w.call.number = 2;
  REFUSED(RLCORE_E_RANGE, "frozen", RECORD);
  w.call.call = RLCORE_RECORDED_LEARN_TRANSITIONS;
  REFUSED(RLCORE_E_DISABLED, "", RECORD);
  w.call.call = RLCORE_RECORDED_ADOPT, w.call.number = RLCORE_ADOPT_PARAMS;
  REFUSED(RLCORE_E_NULL, "learner", RECORD);
  /* A call that its pointers refused has no entry. */
  w.call.status = RLCORE_E_NULL, w.size = 5;
  FINE(RECORD);
  CHECK(w.size == 0);
}

static void playback(void) {
#define CHECKED rlcore_record_check(w.tape, w.used, &w.info)
#define ATTACH rlcore_record_attach(w.tape, w.used, w.copy, BLOCK, &w.again, &w.offset)
#define NEXT rlcore_record_next(w.tape, w.used, &w.offset, w.again, w.action, &w.entry)
  FINE(CHECKED);
  CHECK(w.info.num_calls == 2 && w.info.size == w.used && w.info.learner_size <= BLOCK);
  REFUSED(RLCORE_E_NULL, "bytes", rlcore_record_check(NULL, w.used, &w.info));
  REFUSED(RLCORE_E_ALIGN, "recording: misaligned", rlcore_record_check(w.tape + 4, w.used - 4, &w.info));
  REFUSED(RLCORE_E_SIZE, "recording: at least", rlcore_record_check(w.tape, 100, &w.info));
  REFUSED(RLCORE_E_SIZE, "recording: at least", rlcore_record_check(w.tape, 7, &w.info));
  WITH(w.info.struct_size, 8, RLCORE_E_CONFIG, "record info: struct_size", CHECKED);
  WITH(w.tape[0], 'R', RLCORE_E_IMAGE, "do not begin as a recording does", CHECKED);
  WITH(w.tape[200], 0x55, RLCORE_E_IMAGE, "agree with their checksum", CHECKED);
  WITH(w.tape[w.used - 1], 0x55, RLCORE_E_IMAGE, "does not agree with its checksum", CHECKED);
  FINE(rlcore_record_check(w.tape, w.used - 8, &w.info)); /* the last entry was cut off */
  CHECK(w.info.num_calls == 1 && w.info.size < w.used);
  REFUSED(RLCORE_E_SIZE, "memory for a learner", rlcore_record_attach(w.tape, w.used, w.copy, 64, &w.again, &w.offset));
  REFUSED(RLCORE_E_ALIGN, "misaligned", rlcore_record_attach(w.tape, w.used, w.copy + 1, BLOCK - 1, &w.again, &w.offset));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_record_attach(w.tape, w.used, w.tape + 64, BLOCK, &w.again, &w.offset));
  REFUSED(RLCORE_E_NULL, "out", rlcore_record_attach(w.tape, w.used, w.copy, BLOCK, NULL, &w.offset));
  REFUSED(RLCORE_E_NULL, "out_offset", rlcore_record_attach(w.tape, w.used, w.copy, BLOCK, &w.again, NULL));
  FINE(ATTACH);
  REFUSED(RLCORE_E_NULL, "learner", rlcore_record_next(w.tape, w.used, &w.offset, NULL, w.action, &w.entry));
  REFUSED(RLCORE_E_NULL, "recording: action is NULL, but the call acts", rlcore_record_next(w.tape, w.used, &w.offset, w.again, NULL, &w.entry));
  REFUSED(RLCORE_E_OVERLAP, "overlaps another array", rlcore_record_next(w.tape, w.used, &w.offset, w.again, w.tape, &w.entry));
  REFUSED(RLCORE_E_SIZE, "recording: at least", rlcore_record_next(w.tape, w.offset + 40, &w.offset, w.again, w.action, &w.entry));
  WITH(w.entry.struct_size, 4, RLCORE_E_CONFIG, "record entry: struct_size", NEXT);
  WITH(w.offset, w.used, RLCORE_E_RANGE, "recording: an entry before byte", NEXT);
  WITH(w.offset, (size_t)-8, RLCORE_E_RANGE, "recording: an entry before byte", NEXT);
  WITH(w.offset, w.offset + 4, RLCORE_E_ALIGN, "recording: misaligned", NEXT);
  WITH(w.tape[w.offset + 40], 0x55, RLCORE_E_IMAGE, "does not agree with its checksum", NEXT);
  FINE(NEXT);
  CHECK(w.entry.call == RLCORE_RECORDED_ACT && w.entry.hash != 0);
  FINE(NEXT);
  CHECK(w.offset == w.used && memcmp(w.copy, w.learner, (size_t)w.info.learner_size) == 0);
  /* The same entry once more is another call. */
  FINE(ATTACH);
  FINE(NEXT);
  const size_t second = w.offset;
  FINE(ATTACH);
  w.offset = second;
  const int32_t status = NEXT;
  char why[256];
  rlcore_last_error(why, sizeof why);
  CHECK(status == RLCORE_E_INEXACT && w.offset == second && strstr(why, "Observe") != NULL);
  CHECK(strstr(why, "ended with another status than the recorded one, -10") != NULL);
}

int main(void) {
  start();
  begin();
  calls();
  playback();
  return verdict();
}
