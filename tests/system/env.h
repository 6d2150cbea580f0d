/* Environments for tests, compiled into memory that holds one of a file's environments at a time. */
#ifndef RLCORE_TEST_ENV_H
#define RLCORE_TEST_ENV_H

#include "rlcore.h"

/* Words of memory for an environment; pictures behind wrappers need more. */
#ifndef COMPILED_WORDS
#define COMPILED_WORDS 4096
#endif

/* A compiled environment and its spaces. */
typedef struct compiled_env {
  rlcore_env *env;
  rlcore_space obs, action;
} compiled_env;

/* The definition of a built-in environment. */
#define BUILTIN(id) (&(rlcore_env_def){.struct_size = sizeof(rlcore_env_def), .env_id = (id)})

static inline rlcore_status compile_env(const rlcore_env_def *def, compiled_env *made) {
  static uint64_t mem[COMPILED_WORDS];
  const rlcore_status status = rlcore_env_init(mem, sizeof mem, def, &made->env);
  return status != RLCORE_OK ? status : rlcore_env_spaces(made->env, &made->obs, &made->action);
}

/* Compiles a definition. The environment is valid until the next call but one on the same thread; NULL if it is refused, with the
   reason in the last error. */
static inline const rlcore_env *env_of(const rlcore_env_def *def) {
  static _Thread_local uint64_t mem[2][4096];
  static _Thread_local int turn;
  rlcore_env *env = NULL;
  turn ^= 1;
  return rlcore_env_init(mem[turn], sizeof mem[turn], def, &env) == RLCORE_OK ? env : NULL;
}

#endif
