//! `[T, N]` arrays of which a call uses some columns.
