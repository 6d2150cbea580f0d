//! Rollouts as safetensors files.
