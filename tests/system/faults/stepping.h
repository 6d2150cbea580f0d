/* A process that runs one instruction at a time, and shared memory. Linux, with ptrace. Included after `fail`. */
#ifndef RLCORE_STEPPING_H
#define RLCORE_STEPPING_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void *shared(size_t size) {
  void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED) perror("mmap"), exit(1);
  return mem;
}

/* 1 while the child is within the stepped calls. */
static _Atomic int *inside;

/* A child that stops before its first instruction. */
static pid_t child(void) {
  atomic_store(inside, 0);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) perror("fork"), exit(1);
  if (pid > 0) {
    waitpid(pid, NULL, 0);
    return pid;
  }
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) perror("ptrace"), _exit(2);
  raise(SIGSTOP);
  atomic_store(inside, 1);
  return 0;
}

/* Runs one instruction of the child; false when it has ended, with its status in `*status`. */
static int step(pid_t pid, int *status) {
  if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0) perror("ptrace"), exit(1);
  if (waitpid(pid, status, 0) != pid) perror("waitpid"), exit(1);
  if (WIFSTOPPED(*status) && WSTOPSIG(*status) != SIGTRAP) fail(__LINE__, "stopped by another signal"), exit(1);
  return WIFSTOPPED(*status);
}

#endif
