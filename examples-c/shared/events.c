#include "events.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A file is a list of records: a length, the checksum of its bytes, an Event in the wire format of protocol buffers, and the
   checksum of the Event. All numbers lie with the lowest byte first. */
enum { MAX_EVENT = 192, MAX_TAG = 100 };

typedef struct bytes {
  unsigned char at[MAX_EVENT];
  size_t len;
} bytes;

static _Noreturn void fail(const char *what, const char *name) {
  fprintf(stderr, "cannot %s %s\n", what, name);
  exit(1);
}

static void put(bytes *b, const void *from, size_t len) {
  memcpy(b->at + b->len, from, len);
  b->len += len;
}

static void put_number(bytes *b, uint64_t x, int num_bytes) {
  for (int i = 0; i < num_bytes; i++) b->at[b->len++] = (unsigned char)(x >> 8 * i);
}

/* Seven bits in each byte, the highest bit of which says that more follow. */
static void put_varint(bytes *b, uint64_t x) {
  for (; x >= 0x80; x >>= 7) b->at[b->len++] = (unsigned char)(x | 0x80);
  b->at[b->len++] = (unsigned char)x;
}

/* A field that has a length: a text, or a message. */
static void put_field(bytes *b, unsigned number, const void *from, size_t len) {
  put_varint(b, number << 3 | 2);
  put_varint(b, len);
  put(b, from, len);
}

/* CRC-32C, rotated and offset as these files have it, so that a checksum of checksums is no fixed point. */
static uint32_t checksum(const unsigned char *from, size_t len) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < len; i++) {
    crc ^= from[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void write_event(events *e, const bytes *event) {
  bytes head = {.len = 0}, tail = {.len = 0};
  put_number(&head, event->len, 8);
  put_number(&head, checksum(head.at, 8), 4);
  put_number(&tail, checksum(event->at, event->len), 4);
  if (fwrite(head.at, 1, head.len, e->file) != head.len || fwrite(event->at, 1, event->len, e->file) != event->len ||
      fwrite(tail.at, 1, tail.len, e->file) != tail.len)
    fail("write", "the event file");
}

/* The beginning of an event: the time, and the step. */
static bytes event_at(uint64_t step) {
  const double now = (double)time(NULL);
  uint64_t bits;
  bytes event = {.len = 0};
  memcpy(&bits, &now, sizeof bits);
  put_varint(&event, 1 << 3 | 1);
  put_number(&event, bits, 8);
  put_varint(&event, 2 << 3);
  put_varint(&event, step);
  return event;
}

void events_open(events *e, const char *folder) {
  static char buffer[1 << 14];
  char path[1024];
  bytes event = event_at(0);
  snprintf(path, sizeof path, "%s/events.out.tfevents.%lld.rlcore", folder, (long long)time(NULL));
  e->file = fopen(path, "wb");
  if (!e->file) fail("write", path);
  setvbuf(e->file, buffer, _IOFBF, sizeof buffer);
  put_field(&event, 3, "brain.Event:2", strlen("brain.Event:2"));
  write_event(e, &event);
}

void events_scalar(events *e, const char *tag, uint64_t step, float value) {
  const size_t len = strlen(tag);
  uint32_t bits;
  bytes event = event_at(step), summary = {.len = 0}, scalar = {.len = 0};
  if (!e->file || value != value) return;
  if (len > MAX_TAG) fail("write", tag);
  memcpy(&bits, &value, sizeof bits);
  put_field(&scalar, 1, tag, len);
  put_varint(&scalar, 2 << 3 | 5);
  put_number(&scalar, bits, 4);
  put_field(&summary, 1, scalar.at, scalar.len);
  put_field(&event, 5, summary.at, summary.len);
  write_event(e, &event);
}

#define NUMBER(field, tag) {tag, offsetof(rlcore_learner_stats, field), sizeof ((rlcore_learner_stats *)0)->field == 8}

/* The numbers of an update, by the names of Stable-Baselines3 where it has one. */
static const struct {
  const char *tag;
  size_t at;
  bool counts; /* a uint64_t, not a float */
} numbers[] = {
    NUMBER(return_mean, "rollout/ep_rew_mean"),
    NUMBER(return_std, "rollout/ep_rew_std"),
    NUMBER(return_min, "rollout/ep_rew_min"),
    NUMBER(return_max, "rollout/ep_rew_max"),
    NUMBER(return_last, "rollout/ep_rew_last"),
    NUMBER(length_mean, "rollout/ep_len_mean"),
    NUMBER(exploration_rate, "rollout/exploration_rate"),
    NUMBER(num_stored, "rollout/num_stored"),
    NUMBER(num_episodes, "time/episodes"),
    NUMBER(num_updates, "train/n_updates"),
    NUMBER(num_dropped, "train/num_dropped"),
    NUMBER(learning_rate, "train/learning_rate"),
    NUMBER(policy_loss, "train/policy_loss"),
    NUMBER(value_loss, "train/value_loss"),
    NUMBER(entropy, "train/entropy"),
    NUMBER(approx_kl, "train/approx_kl"),
    NUMBER(clip_fraction, "train/clip_fraction"),
    NUMBER(explained_variance, "train/explained_variance"),
    NUMBER(grad_norm, "train/grad_norm"),
    NUMBER(value_mean, "train/value_mean"),
    NUMBER(log_std_mean, "train/log_std_mean"),
    NUMBER(temperature, "train/ent_coef"),
    NUMBER(pixel_control_loss, "train/pixel_control_loss"),
    NUMBER(reward_class_loss, "train/reward_class_loss"),
    NUMBER(value_replay_loss, "train/value_replay_loss"),
    NUMBER(policy_replay_loss, "train/policy_replay_loss"),
};

enum { NUM_NUMBERS = sizeof numbers / sizeof numbers[0] };

static float number_of(const rlcore_learner_stats *stats, size_t i) {
  const char *const at = (const char *)stats + numbers[i].at;
  uint64_t count;
  float value;
  memcpy(&value, at, sizeof value);
  if (!numbers[i].counts) return value;
  memcpy(&count, at, sizeof count);
  return (float)count;
}

void events_learner(events *e, const rlcore_learner_stats *stats) {
  for (size_t i = 0; i < NUM_NUMBERS; i++) events_scalar(e, numbers[i].tag, stats->num_steps, number_of(stats, i));
}

bool events_csv(FILE *file, const rlcore_learner_stats *stats) {
  if (stats) fprintf(file, "%llu", (unsigned long long)stats->num_steps);
  else fputs("time/total_timesteps", file);
  for (size_t i = 0; i < NUM_NUMBERS; i++) {
    const float value = stats ? number_of(stats, i) : 0;
    if (!stats) fprintf(file, ",%s", numbers[i].tag);
    else if (value == value) fprintf(file, ",%.9g", (double)value);
    else fputc(',', file);
  }
  fputc('\n', file);
  return !ferror(file);
}

void events_close(events *e) {
  if (e->file && fclose(e->file)) fail("write", "the event file");
  e->file = NULL;
}
