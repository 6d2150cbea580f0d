/* Parsers of external bytes: rollout files, altered and with new checksums, and texts of the host. */

#include "fuzz.h"

enum { HEADER = RLCORE_ROLLOUT_FILE_HEADER_SIZE, META = 24 * 8, ROOM = 1 << 16 };

static _Alignas(64) unsigned char file[HEADER + ROOM];
static _Alignas(8) unsigned char arrays[14][ROOM + 8];
static unsigned char original[2][HEADER + 2048];
static size_t original_size[2];

static void make_originals(void) {
  for (unsigned i = 0; i < 2; i++) {
    rlcore_rollout_file about = {.struct_size = sizeof about, .num_steps = 2, .num_envs = 1 + i, .obs_kind = i ? RLCORE_U8 : RLCORE_F32,
                                 .obs_rank = 2 * i, .obs_dims = {i, 3 * i}, .action_kind = RLCORE_I32, .action_len = 1,
                                 .state_len = i, .num_finals = i, .seed = 1};
    memset(arrays[9], 0, 8);
    memset(arrays[7], (int)i, 1);
    memset(arrays[8], 1, 8);
    const rlcore_rollout_arrays in = {sizeof in, 0, arrays[0], arrays[1], (float *)arrays[2], (float *)arrays[3], (float *)arrays[4],
                                      (float *)arrays[5], arrays[6], arrays[7], arrays[8], (uint64_t *)arrays[9], arrays[10],
                                      (float *)arrays[11], (float *)arrays[12], NULL};
    FINE(rlcore_rollout_file_size(&about, &original_size[i]));
    ALWAYS(original_size[i] <= sizeof original[i]);
    FINE(rlcore_rollout_file_write(&about, &in, original[i], original_size[i]));
  }
}

/* Recomputes the checksum of a file, as src/data/rollout_file.rs does. */
static void seal(unsigned char *bytes, size_t size) {
  uint64_t sum = 0xcbf29ce484222325, word, zero = 0;
  memcpy(bytes + HEADER + 16, &zero, 8);
  for (size_t i = 0; i + 8 <= size; i += 8) memcpy(&word, bytes + i, 8), sum = (sum ^ word) * 0x100000001b3;
  for (size_t i = size & ~(size_t)7; i < size; i++) sum = (sum ^ bytes[i]) * 0x100000001b3;
  memcpy(bytes + HEADER + 16, &sum, 8);
}

/* Memory for exactly `count` elements, however many the file declares. */
static void *room(int i, size_t count, size_t element) {
  ALWAYS(count * element <= ROOM);
  FORBID(arrays[i] + ROOM, 8);
  return arrays[i] + ROOM - count * element;
}

/* A file of arbitrary bytes is refused, or is read into arrays of exactly the right size and written again with the same bytes.
   */
static void read_file(const unsigned char *bytes, size_t size) {
  static unsigned char again[HEADER + ROOM];
  static const size_t ELEMENT[3] = {4, 4, 1};
  rlcore_rollout_file about = {.struct_size = sizeof about};
  const int32_t status = rlcore_rollout_file_check(bytes, size, &about);
  KNOWN(status);
  if (status != RLCORE_OK) {
    const rlcore_rollout_arrays none = {.struct_size = sizeof none};
    ALWAYS(rlcore_rollout_file_read(bytes, size, &none) == status);
    return;
  }
  size_t obs = ELEMENT[about.obs_kind], needed;
  for (uint32_t i = 0; i < about.obs_rank; i++) obs *= about.obs_dims[i];
  const size_t n = about.num_envs, steps = about.num_steps * n, k = about.num_finals;
  rlcore_rollout_arrays out = {
      sizeof out, 0, room(0, (about.num_steps + 1ull) * n, obs), room(1, steps * about.action_len, ELEMENT[about.action_kind]),
      room(2, steps, 4), room(3, steps, 4), room(4, n, 4), room(5, steps, 4), room(6, steps, 1), room(7, steps, 1),
      room(8, steps, 1), room(9, k, 8), room(10, k, obs), room(11, k, 4), room(12, n * about.state_len, 4), NULL};
  out.obs = (void *)((size_t)out.obs & ~(size_t)3);
  FINE(rlcore_rollout_file_read(bytes, size, &out));
  FINE(rlcore_rollout_file_size(&about, &needed));
  ALWAYS(needed <= size);
  FINE(rlcore_rollout_file_write(&about, &out, again, needed));
  /* The version of the library that wrote the file, and the checksum over it, may differ. */
  memcpy(again + HEADER + 8, bytes + HEADER + 8, 16);
  ALWAYS(memcmp(again, bytes, needed) == 0);
}

/* The header and a row of monitor.csv: from texts that end with 0, and from any numbers. */
static void write_csv(void) {
  static char names[4][40], text[RLCORE_MONITOR_ROW_SIZE];
  const char *keywords[3] = {names[1], names[2], names[3]};
  double numbers[3];
  rlcore_episode episode = {0};
  size_t len = 0, again = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned n = byte() % 39;
    for (unsigned j = 0; j < n; j++) names[i][j] = (char)byte();
    names[i][n] = 0;
  }
  for (int i = 0; i < 3; i++) {
    uint64_t bits = word() | (uint64_t)word() << 32;
    memcpy(&numbers[i], &bits, 8);
  }
  episode.seconds = numbers[0], episode.len = word();
  const uint64_t bits = word() | (uint64_t)word() << 32;
  memcpy(&episode.episode_return, &bits, 8);
  const uint32_t num = byte() % 4;
  const size_t size = byte();
  int32_t status = rlcore_monitor_format_header(numbers[0], names[0], keywords, num, NULL, 0, &len);
  KNOWN(status);
  FORBID(text + sizeof text - 1, 1);
  status = rlcore_monitor_format_header(numbers[0], names[0], keywords, num, text, size, &again);
  ALWAYS(status != RLCORE_OK || (again == len && len <= size));
  status = rlcore_monitor_format_row(&episode, numbers, num, NULL, 0, &len);
  KNOWN(status);
  const int32_t written = rlcore_monitor_format_row(&episode, numbers, num, text, sizeof text - 1, &again);
  ALWAYS(written == status && (status != RLCORE_OK || (again == len && text[len - 1] == '\n')));
  if (status == RLCORE_OK) {
    double back = strtod(text, NULL);
    ALWAYS(back == episode.episode_return);
  }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t data_size) {
  static int made;
  if (!made) make_originals(), made = 1;
  input = data, input_size = data_size, cursor = 0;
  const unsigned how = byte();
  if (how % 8 == 0) {
    read_file(data, data_size);
    return 0;
  }
  if (how == 1) {
    write_csv();
    return 0;
  }
  const unsigned which = how / 8 % 2;
  size_t size = original_size[which];
  memcpy(file, original[which], size);
  const size_t tail = byte() * 4;
  for (unsigned edits = byte() % 32; edits > 0; edits--) {
    const unsigned at = half();
    /* Mostly bytes behind the header. */
    const size_t place = at & 0x8000 ? (at & 0x7fff) % size : HEADER + (at & 0x7fff) % (size - HEADER);
    file[place] = (unsigned char)byte();
  }
  if (how & 16) size = HEADER + tail;
  if (how & 32) seal(file, size > HEADER + 24 ? size : original_size[which]);
  unsigned char *bytes = file + (how >> 7); /* any alignment */
  memmove(bytes, file, size);
  read_file(bytes, size);
  return 0;
}
