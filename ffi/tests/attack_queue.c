/* Calls every function on queues wrongly: NULL, crooked and overlapping arrays, sizes off by one, every byte of an image
   altered. And then rightly, from five threads at once. */

#include "rlcore.h"
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM = 24, SIZE = 1024 };

static struct world {
  rlcore_queue_config config;
  size_t size, taken;
  uint32_t len;
  rlcore_queue *q, *other;
  uint8_t item[ITEM + 8], out[ITEM + 8];
  _Alignas(8) uint8_t mem[SIZE], copy[SIZE];
} w, before;

#include "attack.h"

_Static_assert(sizeof(rlcore_queue_config) == 16, "");
OFFSET(rlcore_queue_config, capacity, 4); OFFSET(rlcore_queue_config, item_size, 8);

static void start(void) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_queue_config_init(&w.config, sizeof w.config));
  CHECK(w.config.capacity == 16 && w.config.item_size == 1 << 20);
  w.config.capacity = 4, w.config.item_size = ITEM;
  for (int i = 0; i < ITEM + 8; i++) w.item[i] = (uint8_t)(i + 1);
}

static void attack_config(void) {
  start();
  rlcore_queue_config *config = &w.config;
  size_t *size = &w.size;
#define ASK rlcore_queue_size(config, size)
#define MAKE rlcore_queue_init(mem, mem_size, config, out)
  void *mem = w.mem;
  size_t mem_size = SIZE;
  rlcore_queue **out = &w.q;
  REFUSED(RLCORE_E_SIZE, "queue config", rlcore_queue_config_init(config, 4));
#define BOTH(field, bad, status, words) WITH(field, bad, status, words, ASK); WITH(field, bad, status, words, MAKE)
  BOTH(w.config.capacity, 0, RLCORE_E_CONFIG, "power of two");
  BOTH(w.config.capacity, 1, RLCORE_E_CONFIG, "power of two");
  BOTH(w.config.capacity, 6, RLCORE_E_CONFIG, "power of two from 2 to 2^30, not, given 6");
  BOTH(w.config.capacity, 1u << 31, RLCORE_E_CONFIG, "power of two");
  BOTH(w.config.item_size, 0, RLCORE_E_CONFIG, "item_size of at least 1");
  BOTH(w.config.reserved, 1, RLCORE_E_CONFIG, "queue config: reserved");
  FINE(ASK);
  WITH(mem_size, w.size - 1, RLCORE_E_SIZE, "at least", MAKE);
  FINE(MAKE);
  CHECK((void *)w.q == w.mem);
}

static void attack_items(void) {
  start();
  FINE(rlcore_queue_size(&w.config, &w.size));
  FINE(rlcore_queue_init(w.mem, SIZE, &w.config, &w.q));
  rlcore_queue *q = w.q;
  const void *item = w.item;
  void *out = w.out;
  size_t size = 5, room = ITEM, *taken = &w.taken;
  uint32_t *len = &w.len;
#define PUSH rlcore_queue_push(q, item, size)
#define POP rlcore_queue_pop(q, out, room, taken)
#define LEN rlcore_queue_len(q, len)
  REFUSED(RLCORE_E_NOT_READY, "none waits", POP);
  FINE(PUSH);
#define ALL(field, bad, status, words) WITH(field, bad, status, words, PUSH); WITH(field, bad, status, words, POP); WITH(field, bad, status, words, LEN)
  ALL(q, (rlcore_queue *)w.copy, RLCORE_E_IMAGE, "image of an rlcore block");
  WITH(size, 0, RLCORE_E_RANGE, "bytes of an item, from 1 to 24, given 0", PUSH);
  WITH(size, ITEM + 1, RLCORE_E_RANGE, "given 25", PUSH);
  WITH(room, 4, RLCORE_E_SIZE, "room for an item of bytes, 5, given 4", POP);
  WITH(room, 0, RLCORE_E_SIZE, "given 0", POP);
  for (size = 6; size < 9; size++) FINE(PUSH);
  REFUSED(RLCORE_E_BUSY, "it is full with, given 4", PUSH);
  FINE(LEN);
  CHECK(w.len == 4);
  /* A copy is a queue; whoever attaches to it goes on from there. */
  memcpy(w.copy, w.mem, SIZE);
  void *mem = w.copy;
  rlcore_queue **attached = &w.other;
  size_t mem_size = w.size;
#define ATTACH rlcore_queue_attach(mem, mem_size, attached)
  WITH(mem_size, w.size - 1, RLCORE_E_SIZE, "at least", ATTACH);
  WITH(mem_size, 0, RLCORE_E_SIZE, "for its header", ATTACH);
  for (size_t i = 0; i < 72; i++) {
    if (i >= 40 && i < 64) continue; /* a gap between fields */
    w.copy[i] ^= 0x40;
    look();
    const int32_t status = ATTACH; /* a damaged size may ask for more bytes than there are */
    judge(__LINE__, "attach", i >= 24 && i < 32 && status == RLCORE_E_SIZE ? RLCORE_E_SIZE : RLCORE_E_IMAGE, status, "block");
    w.copy[i] ^= 0x40;
  }
  FINE(ATTACH);
  CHECK((void *)w.other == w.copy);
  for (size_t i = 5; i < 9; i++) {
    FINE(rlcore_queue_pop(w.other, out, room, taken));
    CHECK(w.taken == i && memcmp(w.out, w.item, i) == 0);
  }
  REFUSED(RLCORE_E_NOT_READY, "none waits", rlcore_queue_pop(w.other, out, room, taken));
  FINE(LEN);
  CHECK(w.len == 4);
}

/* Five threads share a queue: whatever goes in comes out once, whole, and in the order of its producer. */
enum { EACH = 30000 };
static rlcore_queue *shared;
static uint64_t sums[5];

static void *produce(void *k) {
  uint32_t item[6];
  for (uint32_t i = 0; i < EACH; i++) {
    const size_t len = 2 + (i * 7 + (uint32_t)(size_t)k) % 5;
    for (size_t j = 0; j < len; j++) item[j] = i * 3 + (uint32_t)(size_t)k;
    while (rlcore_queue_push(shared, item, 4 * len) != RLCORE_OK) sched_yield();
  }
  return NULL;
}

static void *consume(void *k) {
  uint32_t item[6], last[3] = {0};
  uint64_t sum = 0;
  size_t size;
  for (int i = 0; i < 3 * EACH / 2; i++) {
    while (rlcore_queue_pop(shared, item, sizeof item, &size) != RLCORE_OK) sched_yield();
    const uint32_t producer = item[0] % 3;
    if (size != 4 * (2 + (item[0] / 3 * 7 + producer) % 5)) return (void *)1;
    for (size_t j = 1; j < size / 4; j++) if (item[j] != item[0]) return (void *)2;
    if (last[producer] != 0 && item[0] <= last[producer]) return (void *)3;
    last[producer] = item[0];
    sum += item[0];
  }
  sums[(size_t)k] = sum;
  return NULL;
}

static void five_threads(void) {
  start();
  FINE(rlcore_queue_init(w.mem, SIZE, &w.config, &shared));
  pthread_t threads[5];
  for (size_t k = 0; k < 5; k++) pthread_create(&threads[k], NULL, k < 3 ? produce : consume, (void *)k);
  for (size_t k = 0; k < 5; k++) {
    void *result;
    pthread_join(threads[k], &result);
    CHECK(result == NULL);
  }
  uint64_t wanted = 0;
  for (uint64_t x = 0; x < 3 * EACH; x++) wanted += x;
  CHECK(sums[3] + sums[4] == wanted);
  FINE(rlcore_queue_len(shared, &w.len));
  CHECK(w.len == 0);
}

int main(void) {
  attack_config();
  attack_items();
  five_threads();
  return verdict();
}
