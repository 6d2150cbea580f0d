//! Rows of named, typed columns in rings: what every replay memory keeps.
