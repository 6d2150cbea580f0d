//! Stores, normalizers, monitors and files of experience.

mod blocks;
mod lazy_frames;
mod memory;
mod monitor;
mod queue;
mod relabel;
mod replay;
mod rollout_buffer;
mod rollout_file;
mod sum_tree;
mod table;
mod trajectory;
mod vec_normalize;
