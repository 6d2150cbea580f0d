//! Blocks of memory and words in them: layouts, plans, text of numbers, random streams.

mod decimal;
mod layout;
mod plan;
mod rng;
