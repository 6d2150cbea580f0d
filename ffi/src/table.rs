//! Columns of replay memories.
