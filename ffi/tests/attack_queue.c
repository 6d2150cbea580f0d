/* Queues: empty, full and copied; and shared by five threads. */
#include "rlcore.h"
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
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

static void start(void) {
  memset(&w, 0, sizeof w);
  FINE(rlcore_queue_config_init(&w.config, sizeof w.config));
  CHECK(w.config.capacity == 16 && w.config.item_size == 1 << 20);
  w.config.capacity = 4, w.config.item_size = ITEM;
  for (int i = 0; i < ITEM + 8; i++) w.item[i] = (uint8_t)(i + 1);
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
  for (size = 6; size < 9; size++) FINE(PUSH);
  REFUSED(RLCORE_E_BUSY, "it is full with, given 4", PUSH);
  FINE(LEN);
  CHECK(w.len == 4);
  /* A copy is a queue of its own, which continues from that state. */
  memcpy(w.copy, w.mem, SIZE);
  FINE(rlcore_queue_attach(w.copy, w.size, &w.other));
  CHECK((void *)w.other == w.copy);
  for (size_t i = 5; i < 9; i++) {
    FINE(rlcore_queue_pop(w.other, out, room, taken));
    CHECK(w.taken == i && memcmp(w.out, w.item, i) == 0);
  }
  REFUSED(RLCORE_E_NOT_READY, "none waits", rlcore_queue_pop(w.other, out, room, taken));
  FINE(LEN);
  CHECK(w.len == 4);
}

/* Five threads share a queue: each item comes out once, intact, and in the order of its producer. */
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
  attack_items();
  five_threads();
  return verdict();
}
