//! Arrays that are laid out the other way round.
