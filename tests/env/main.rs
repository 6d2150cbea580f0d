//! Environments, batches of them and wrappers around them.

mod batch;
mod bit_flip;
mod choices;
mod columns;
mod golden;
mod grid_games;
mod host;
mod masks;
mod maze;
mod memory;
mod options;
mod point_reach;
mod probe;
mod render;
mod snapshot;
mod vecenv;
mod wrap;
mod wrap_obs;
