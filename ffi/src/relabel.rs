//! Hindsight goals.
