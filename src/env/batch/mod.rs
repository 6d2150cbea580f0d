//! Asynchronous stepping: the host submits actions, any threads or processes step the environments, the host collects
//! results.
//!
//! The rows of a vectorized environment are divided into groups of `in_series` rows. Each group has one atomic word
//! that gives the owner of its rows and its share of the columns: the host while the group is idle or done, one worker
//! while it runs. The library starts no threads and never blocks: any caller of [`Batch::run`] is a worker, and the
//! results do not depend on which worker steps which group.
//!
//! ```text
//!        step_async, send          run claims            run finishes, abandon
//!  IDLE ------------------> PENDING ---------> RUNNING by w ------------------> DONE
//!    ^----- reset, close ------'                                                  |
//!    '------------------------------ step_wait, recv, reset ----------------------'
//! ```
//!
//! In safe Rust, groups are accessed through [`Shares`] and [`Lanes`], e.g. two vectors of mutexes; the C interface
//! accesses them, and the words, in the raw block.

mod block;
mod machine;
mod setup;
mod share;
mod words;

pub use block::{Spans, attach, init, size, spans};
pub use machine::{Batch, Counts};
pub use setup::{Config, Setup};
pub use share::{Lanes, Share, Shares};
pub use words::MAX_WORKER;
