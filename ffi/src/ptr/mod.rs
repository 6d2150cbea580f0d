//! Pointers become slices here and nowhere else: present, aligned, within the address space, and outputs apart from
//! everything else, checked before the first byte is touched.

mod array;
mod check;
mod element;
mod field;
mod overlap;
mod text;
mod versioned;

pub use array::{Input, Output, Through, absent_or_present, present, put};
pub use check::{Plain, grid};
pub use element::{AnyInput, AnyOutput, start, start_mut};
pub use field::{atomics, attach_reader, field, field_mut, part_mut};
pub use overlap::{Cover, Extent, apart, distinct};
pub use text::{Room, ascii, text};
pub use versioned::{OutSized, Versioned, current, flag, init_sized, reserved, sized, sized_ref, switch, zeros};
