//! Nothing: the manifest names a header.
