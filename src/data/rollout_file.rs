//! A rollout as a safetensors file.
