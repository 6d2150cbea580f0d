//! Kernels and the arithmetic under them.

mod autoencoder;
mod categorical;
mod checks;
mod cpu;
mod gae;
mod gaussian;
mod image;
mod moments;
mod nan;
mod num;
mod range_splits;
mod targets;
mod transpose;
mod vtrace;
