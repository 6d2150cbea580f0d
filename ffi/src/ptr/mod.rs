//! Pointers become slices here and nowhere else: present, aligned, within the address space, and outputs apart from
//! everything else, checked before the first byte is touched.

mod args;
mod array;
mod check;
mod element;
mod field;
mod overlap;
mod slot;
mod text;
mod versioned;

pub use args::{Args, Array, List, Reads, Writes, args, args_beside, inputs};
pub use array::{Cells, Input, One, Output, Through, filled, known_mut, put, rewrite, tell, through};
pub use check::{Plain, exact, grid};
pub use element::{AnyInput, AnyOutput, start, start_mut};
pub use field::{atomics, field_mut, part, part_mut};
pub use overlap::{BoundingRange, Extent, apart, distinct};
pub use slot::{copied, slot};
pub use text::{ascii, room, text};
pub use versioned::{OutSized, Versioned, flag, init_sized, reserved, sized, sized_ref, switch, zeros};
