//! Steps that the host does not wait for: it submits actions, any threads or processes do the work, it collects.
//!
//! The rows of a vectorised environment are cut into groups of `in_series`. Every group has one atomic word that says who
//! may touch its rows and its share of the columns: the host while it is idle or done, one worker while it runs. The
//! library starts no thread and waits for nobody: whoever calls [`Batch::run`] is a worker, and which worker steps
//! which group changes no byte.
//!
//! ```text
//!        step_async, send          run claims            run finishes, abandon
//!  IDLE ------------------> PENDING ---------> RUNNING by w ------------------> DONE
//!    ^----- reset, close ------'                                                  |
//!    '------------------------------ step_wait, recv, reset ----------------------'
//! ```
//!
//! Safe Rust lends a group by [`Shares`] and [`Lanes`], for which two vectors of mutexes will do; the C interface lends it
//! from the raw block, words included.

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
