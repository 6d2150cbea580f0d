//! Pure functions on slices: lengths and values are checked once at the top, then loops carry no checks.
//!
//! Every loop has one order of operations per element, whatever the width of the lanes and the CPU level: the same
//! inputs give the same bytes.

pub mod autoencoder;
pub mod categorical;
pub mod finite;
pub mod gae;
pub mod gaussian;
pub mod grid;
pub mod image;
pub mod moments;
pub mod returns;
pub mod shift_rows;
pub mod stack;
pub mod targets;
mod tile;
pub mod transpose;
pub mod vtrace;
