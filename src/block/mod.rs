//! Layout of the caller's memory: one plan serves size, init, attach and ranges, and no block holds a pointer.
//!
//! A saved block is portable between little-endian machines of any width. Machines of the other byte order refuse it with
//! [`Kind::Image`](crate::error::Kind::Image), and vice versa; to cross byte orders, use a rollout file or the program's own
//! format.

mod fields;
mod header;
mod mark;
mod plan;
pub mod shared;

pub(crate) use fields::fields;
pub use fields::{Cold, Field, One};
pub use header::{
    HASH_START, Header, IMAGE, Kind, attach, check_plan, config, configure, create, create_marked, create_with,
    cut_config, cut_marked, end_mark, hash, seal, seal_new, spans, unseal,
};
pub use mark::{Changing, Mark};
pub use plan::{
    BLOCK_ALIGN, Cutter, FIELD_ALIGN, Fit, LayoutError, Plan, Span, TooLong, copy, copy_row_within, rows, rows_mut,
    view,
};
