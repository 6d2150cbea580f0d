/* A process forked while other threads fail: the child reads whole error texts and keeps its own, although the threads that were
   writing a text do not exist in it. */
#define _POSIX_C_SOURCE 200809L
#include "rlcore.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, FORKS = 1500, SECONDS = 60 };

static const char one[] = "RLCORE_E_RANGE: cpu_set_limit: level: expected an rlcore_cpu_level, given 77";
static const char other[] = "RLCORE_E_NULL: hash: bytes: the pointer is NULL";
static const char own[] = "RLCORE_E_RANGE: cpu_set_limit: level: expected an rlcore_cpu_level, given 1234567";
static atomic_int stop;

static void *fail(void *way) {
  while (!stop)
    if (way) rlcore_hash(NULL, 1, NULL);
    else rlcore_cpu_set_limit(77);
  return NULL;
}

/* 0 on success, else the number of the failed check. */
static int child(void) {
  char why[256];
  alarm(SECONDS);
  rlcore_last_error(why, sizeof why);
  if (why[0] != 0 && strcmp(why, one) != 0 && strcmp(why, other) != 0) return 1;
  for (int i = 0; i < 20; i++) {
    if (rlcore_cpu_set_limit(1234567) != RLCORE_E_RANGE) return 2;
    rlcore_last_error(why, sizeof why);
    if (strcmp(why, own) != 0) return 3;
    if (rlcore_hash(NULL, 1, NULL) != RLCORE_E_NULL) return 4;
    rlcore_last_error(why, sizeof why);
    if (strcmp(why, other) != 0) return 5;
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  int failures = 0;
  rlcore_cpu_set_limit(77);
  for (size_t i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, fail, i % 2 ? threads : NULL) != 0) return 2;
  for (int i = 0; i < FORKS; i++) {
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) _exit(child());
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      if (failures++ < 10) printf("child %d: status %d\n", i, status);
    }
  }
  stop = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d forks, %d failures\n", FORKS, failures);
  return failures != 0;
}
