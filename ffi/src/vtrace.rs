//! V-trace.
