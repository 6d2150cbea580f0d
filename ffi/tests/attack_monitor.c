/* Wrong calls that need a state, of every monitor function. */
#include "rlcore.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, INFO = 2, CAPACITY = 8, BLOCK = 2048 };

static struct world {
  _Alignas(64) unsigned char mem[BLOCK];
  rlcore_monitor_config config;
  rlcore_monitor *monitor;
  rlcore_monitor_stats stats;
  rlcore_rows step;
  size_t len;
  float reward[N];
  uint8_t terminated[N], truncated[N], valid[N];
  double info[N][INFO], got[CAPACITY][INFO], now;
  rlcore_episode episodes[CAPACITY];
  uint64_t next, lost;
  uint32_t count;
  _Alignas(8) char text[600];
  char env_id[24], keyword[2][16];
  const char *keywords[2];
  const rlcore_monitor *reader;
} w, before;

#include "attack.h"

static double clock_of(void *user) { return *(const double *)user; }

/* A monitor after a first step that ended episodes in two environments. */
static void start(void) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_monitor_config_init(&w.config, sizeof w.config));
  w.config = (rlcore_monitor_config){sizeof w.config, N, 4, CAPACITY, INFO, 0, 100.0};
  FINE(rlcore_monitor_init(w.mem, sizeof w.mem, &w.config, &w.monitor));
  for (int i = 0; i < N; i++) w.reward[i] = (float)i + 0.5f, w.valid[i] = 1, w.info[i][0] = i, w.info[i][1] = -i;
  w.terminated[1] = w.truncated[2] = 1;
  w.step = (rlcore_rows){.struct_size = sizeof w.step, .reward = w.reward, .terminated = w.terminated, .truncated = w.truncated, .valid = w.valid};
  w.now = 101.25;
  FINE(rlcore_monitor_step(w.monitor, &w.step, 100.5, w.info[0]));
  w.stats.struct_size = sizeof w.stats;
  strcpy(w.env_id, "CartPole-v1");
  strcpy(w.keyword[0], "is_success");
  strcpy(w.keyword[1], "lives");
  w.keywords[0] = w.keyword[0];
  w.keywords[1] = w.keyword[1];
}

static void attack_block(void) {
  start();
  w.mem[128] = 9; /* the count of episodes */
  REFUSED(RLCORE_E_IMAGE, "as many episodes as were counted", rlcore_monitor_attach(w.mem, BLOCK, &w.monitor));
}

static void attack_calls(void) {
  start();
  double *info = w.info[0];
#define STEP rlcore_monitor_step(w.monitor, &w.step, 101, info)
#define CLOCK rlcore_monitor_step_clock(w.monitor, &w.step, clock_of, &w.now, info)

  w.info[0][0] = (double)NAN; /* environment 0 did not end */
  w.step.valid = NULL;
  FINE(STEP);
  FINE(CLOCK);
  FINE(rlcore_monitor_reset_one(w.monitor, 2));
  FINE(rlcore_monitor_reset(w.monitor));

  uint64_t *next = &w.next, *lost = &w.lost;
  rlcore_episode *episodes = w.episodes;
  double *got = w.got[0];
  uint32_t *count = &w.count;
#define READ rlcore_monitor_read(w.monitor, next, episodes, got, CAPACITY, count, lost)
  FINE(READ);
  CHECK(w.count == 6 && w.lost == 0 && w.next == 6 && w.episodes[5].number == 5 && w.episodes[4].seconds == 1.25);
  CHECK(w.episodes[1].env == 2 && w.episodes[1].len == 1 && w.episodes[1].episode_return == 2.5 && w.got[1][1] == -2);
  FINE(rlcore_monitor_read(w.monitor, next, episodes, NULL, CAPACITY, count, NULL));
  CHECK(w.count == 0 && w.next == 6);
  w.info[0][0] = 0;
  for (int i = 0; i < 3; i++) FINE(STEP);
  w.next = 0;
  FINE(rlcore_monitor_read(w.monitor, next, episodes, got, 3, count, lost));
  CHECK(w.count == 3 && w.lost == 4 && w.next == 7 && w.episodes[0].number == 4);

  FINE(rlcore_monitor_means(w.monitor, &w.stats));
  CHECK(w.stats.num_kept == 4 && w.stats.num_episodes == 12 && w.stats.return_mean == 2 && w.stats.len_mean == 1);
}

static void attack_reader(void) {
  start();
  size_t size;
  FINE(rlcore_monitor_size(&w.config, &size));
  FINE(rlcore_monitor_attach_reader(w.mem, size, &w.reader));
  for (int i = 0; i < 3; i++) FINE(rlcore_monitor_step(w.monitor, &w.step, 101, w.info[0]));
  /* All eight records are held and a writer is about to add one: readers no longer trust the oldest. */
  enum { WRITING = 192 };
  POKE(w.mem + WRITING, 1);
  static rlcore_episode records[CAPACITY];
  uint64_t next = 0;
  REFUSED(RLCORE_E_RANGE, "row 0 was overwritten meanwhile; the oldest row is 1", rlcore_monitor_read(w.reader, &next, records, NULL, CAPACITY, &w.count, &w.lost));
  CHECK(next == 0);
  next = 1;
  FINE(rlcore_monitor_read(w.reader, &next, records, NULL, CAPACITY, &w.count, &w.lost));
  CHECK(next == 8 && w.count == 7 && w.lost == 0 && records[6].number == 7);
  REFUSED(RLCORE_E_BUSY, "faster than it can be read", rlcore_monitor_means(w.reader, &w.stats));
  REFUSED(RLCORE_E_IMAGE, "in the middle of a row", rlcore_monitor_attach(w.mem, BLOCK, &w.monitor));
  POKE(w.mem + WRITING, 0);
  FINE(rlcore_monitor_attach(w.mem, BLOCK, &w.monitor));
  FINE(rlcore_monitor_means(w.reader, &w.stats));
}

static void attack_text(void) {
  start();
  char *text = w.text;
  const char *env_id = w.env_id;
  const char *const *keywords = w.keywords;
  size_t *len = &w.len;
#define HEADER rlcore_monitor_format_header(1.5, env_id, keywords, 2, text, sizeof w.text, len)
  FINE(HEADER);
  static const char wanted[] = "# {\"t_start\": 1.5, \"env_id\": \"CartPole-v1\"} \nr,l,t,is_success,lives\r\n";
  CHECK(w.len == sizeof wanted - 1 && memcmp(w.text, wanted, w.len) == 0);
  const size_t needed = w.len;
  REFUSED(RLCORE_E_RANGE, "at most 16, given 17", rlcore_monitor_format_header(1.5, env_id, keywords, 17, text, sizeof w.text, len));
  static char endless[5000];
  memset(endless, 'x', sizeof endless);
  WITH(env_id, endless, RLCORE_E_RANGE, "less than 4096", HEADER);
  w.len = 0;
  look();
  FINE(rlcore_monitor_format_header(1.5, env_id, keywords, 2, NULL, 0, len));
  CHECK(w.len == needed && memcmp(before.text, w.text, sizeof w.text) == 0);
  FINE(rlcore_monitor_format_header(1.5, NULL, NULL, 0, text, needed, len));
  CHECK(w.len == 27 && memcmp(w.text, "# {\"t_start\": 1.5} \nr,l,t\r\n", 27) == 0);

  rlcore_episode *episode = w.episodes;
  const double *info = w.info[1];
  w.episodes[0] = (rlcore_episode){7, 0.5, -3.5, 1, 12};
#define ROW rlcore_monitor_format_row(episode, info, 2, text, sizeof w.text, len)
  WITH(w.episodes[0].episode_return, NAN, RLCORE_E_VALUE, "finite episode_return", ROW);
  FINE(ROW);
  CHECK(w.len == 22 && memcmp(w.text, "-3.5,12,0.5,1.0,-1.0\r\n", 22) == 0);
  FINE(rlcore_monitor_format_row(episode, NULL, 0, NULL, 0, len));
  CHECK(w.len == 13);
}

static void attack_types(void) {
  uint32_t type = 7;
  REFUSED(RLCORE_E_CONFIG, "num_train or num_test of at least 1", rlcore_episode_type_of(0, 0, 0, &type));
  CHECK(type == 7);
  FINE(rlcore_episode_type_of(4, 2, 1, &type));
  CHECK(type == RLCORE_EPISODE_TRAIN);
  FINE(rlcore_episode_type_of(5, 2, 1, &type));
  CHECK(type == RLCORE_EPISODE_TEST);
}

int main(void) {
  attack_block();
  attack_calls();
  attack_reader();
  attack_text();
  attack_types();
  return verdict();
}
