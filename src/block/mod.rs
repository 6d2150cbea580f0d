//! The caller's memory, laid out: one plan serves size, init, attach and ranges, and no block holds a pointer.

mod header;
mod plan;
pub mod shared;

pub use header::{HASH_START, Header, IMAGE, Kind, attach, config, create, hash, spans};
pub use plan::{BLOCK_ALIGN, Cutter, FIELD_ALIGN, Fit, Misfit, Plan, Span, TooLong, copy, rows, rows_mut, view};
