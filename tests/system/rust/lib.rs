//! Nothing: the programs are the tests.
