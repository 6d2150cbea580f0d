/* Structures written with their arrays as arguments of a call, so that a test can spoil each array. */
#ifndef RLCORE_TEST_ROWS_H
#define RLCORE_TEST_ROWS_H

#include "rlcore.h"

/* An array without const, as the structures declare it; calls that only read it do not change it. */
#define GIVEN(array) ((void *)(size_t)(array))

#define ROWS_WITH(...) (&(rlcore_rows){.struct_size = sizeof(rlcore_rows), __VA_ARGS__})
/* Observations, with their action mask. */
#define OBSERVED(seen, allowed) ROWS_WITH(.obs = GIVEN(seen), .action_mask = GIVEN(allowed))
/* The same with actions, for the active rows. */
#define ACTED(present, seen, allowed, chosen) \
  ROWS_WITH(.active = present, .obs = GIVEN(seen), .action_mask = GIVEN(allowed), .action = GIVEN(chosen))
/* The results of a step of the active rows. */
#define STEPPED(present, earned, over, cut, last, last_allowed) \
  ROWS_WITH(.active = present, .reward = GIVEN(earned), .terminated = GIVEN(over), .truncated = GIVEN(cut), .final_obs = GIVEN(last), \
       .final_action_mask = GIVEN(last_allowed))
/* Actions to copy. */
#define CHOSEN(chosen) ROWS_WITH(.action = GIVEN(chosen))

/* A copy of rows with these actions. */
#define TAKING(chosen, rows) ((rlcore_rows[]){with_action(chosen, rows)})
static inline rlcore_rows with_action(const void *action, const rlcore_rows *rows) {
  rlcore_rows with = *rows;
  with.action = GIVEN(action);
  return with;
}

/* The scratch and the recurrent state of a policy. */
#define BUFFERS(memory, anew, work, len) \
  (&(rlcore_policy_buffers){.struct_size = sizeof(rlcore_policy_buffers), .scratch = work, .scratch_len = len, \
                            .state = GIVEN(memory), .reset = anew})

/* Questions to a learner or a policy. */
#define DISTRIBUTION(...) (&(rlcore_distribution){.struct_size = sizeof(rlcore_distribution), __VA_ARGS__})

/* How rows are imitated. */
#define IMITATION(...) (&(rlcore_imitation){.struct_size = sizeof(rlcore_imitation), __VA_ARGS__})

#define BATCH(...) (&(rlcore_learner_batch){.struct_size = sizeof(rlcore_learner_batch), __VA_ARGS__})
#define TRANSITIONS(...) (&(rlcore_learner_transitions){.struct_size = sizeof(rlcore_learner_transitions), __VA_ARGS__})
#define SEQUENCES(drawn, num, rows) \
  (&(rlcore_sequences){.struct_size = sizeof(rlcore_sequences), .num_samples = num, .len = rows, .samples = drawn})
#define REPLAY_DRAW(...) (&(rlcore_replay_draw){sizeof(rlcore_replay_draw), __VA_ARGS__})
#define REPLAY_STEP(...) (&(rlcore_replay_step){sizeof(rlcore_replay_step), __VA_ARGS__})
#define OFF_POLICY_OF(q_of, log_rho_of, discount_of, lambda) \
  (&(rlcore_off_policy){.struct_size = sizeof(rlcore_off_policy), .discount = discount_of, .td_lambda = lambda, .q = q_of, \
                        .log_rho = log_rho_of})
#define PIXEL_CONTROL(...) (&(rlcore_pixel_control){sizeof(rlcore_pixel_control), __VA_ARGS__})
#define NORMALIZER(columns, mean_of, var, eps, limit) \
  (&(rlcore_normalizer){.struct_size = sizeof(rlcore_normalizer), .num_columns = columns, .mean = mean_of, .variance = var, \
                        .epsilon = eps, .clip = limit})

#endif
