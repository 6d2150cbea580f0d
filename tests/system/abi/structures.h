/* Every structure of the interface that begins with struct_size; tests/system/abi/run.sh compares the list with the header. */
#define STRUCTURES(X) \
  X(rlcore_atari_config) X(rlcore_env_def) X(rlcore_vecenv_config) X(rlcore_rows) X(rlcore_batch_config) \
  X(rlcore_batch_counts) X(rlcore_monitor_config) X(rlcore_monitor_stats) X(rlcore_vec_normalize_config) \
  X(rlcore_vec_normalize_stats) X(rlcore_learner_config) X(rlcore_learner_stats) X(rlcore_learner_batch) \
  X(rlcore_learner_transitions) X(rlcore_policy_buffers) X(rlcore_lazy_frames_config) X(rlcore_memory_config) \
  X(rlcore_draw) X(rlcore_sequences) X(rlcore_replay_config) X(rlcore_replay_stats) X(rlcore_replay_step) \
  X(rlcore_replay_draw) X(rlcore_relabel) X(rlcore_rollout) X(rlcore_rollout_buffer_config) X(rlcore_rollout_step) \
  X(rlcore_rollout_extras) X(rlcore_rollout_progress) X(rlcore_minibatch) X(rlcore_rows_out) X(rlcore_trajectory_config) \
  X(rlcore_trajectory_frames) X(rlcore_trajectory_view) X(rlcore_trajectory_rows) X(rlcore_queue_config) \
  X(rlcore_rollout_file) X(rlcore_rollout_arrays) X(rlcore_shifted_rollout) X(rlcore_vtrace) X(rlcore_vtrace_logits) \
  X(rlcore_vtrace_out) X(rlcore_off_policy) X(rlcore_logits) X(rlcore_gaussian) X(rlcore_loss_batch) \
  X(rlcore_pixel_control) X(rlcore_normalizer)

/* A structure and its bytes in some version of the header. */
struct form {
  const char *type;
  size_t size;
};
