//! Every way a call can fail: a kind that a program can act on, and what a person needs to mend it.

use core::fmt;

/// What went wrong, as a program sees it. The numbers are the C status values and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// A pointer that is required is NULL.
    Null = -1,
    /// Memory is smaller than it has to be.
    Size = -2,
    /// Memory does not start on the boundary it has to.
    Align = -3,
    /// A configuration field has a value that is not allowed.
    Config = -4,
    /// An array has another number of elements than the configuration says.
    Shape = -5,
    /// The bytes are no image of this object, of this version and byte order, or they are damaged.
    Image = -6,
    /// An index, a count or a discrete action is outside its range.
    Range = -7,
    /// A callback reported failure.
    Callback = -8,
    /// A size does not fit the address space.
    Overflow = -9,
    /// The call is not due yet, or another has to come first.
    NotReady = -10,
    /// A number is NaN or infinite where a finite one is needed.
    Value = -11,
    /// Two arrays that must be apart share bytes.
    Overlap = -12,
    /// What was begun has to be finished first.
    Busy = -13,
    /// Nothing was begun that could be finished.
    NotPending = -14,
    /// Every attempt to find what was asked for exactly has failed.
    Inexact = -15,
    /// There is nothing to choose from.
    Empty = -16,
    /// The configuration has switched this off.
    Disabled = -17,
}

/// The value that was given where another was needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// The text says everything.
    Nothing,
    /// A count, an index, a size or a code.
    Int(i64),
    /// A floating-point value.
    Real(f32),
}

/// A failure: its kind, what was needed in words, the limit where it is a number, and what was given.
///
/// ```
/// use rlcore::error::{Error, Kind};
///
/// let error = Error::new(Kind::Size, "block: bytes, at least").needed(384).given(100);
/// assert_eq!(error.to_string(), "block: bytes, at least 384, given 100");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// What a program acts on.
    pub kind: Kind,
    /// What was needed, e.g. `"vecenv config: num_envs of at least"`.
    pub what: &'static str,
    /// The number that completes `what`, where there is one.
    pub needed: Given,
    /// What the caller gave.
    pub given: Given,
}

/// What every fallible call of this crate returns.
pub type Result<T = ()> = core::result::Result<T, Error>;

impl Error {
    /// A failure that words alone describe.
    pub const fn new(kind: Kind, what: &'static str) -> Self {
        let what = if cfg!(feature = "words") { what } else { "" };
        Error { kind, what, needed: Given::Nothing, given: Given::Nothing }
    }

    /// Words need numbers; a kind alone does not.
    const fn with(self, needed: Given, given: Given) -> Self {
        if cfg!(feature = "words") { Error { needed, given, ..self } } else { self }
    }

    /// Adds the number that was needed.
    #[must_use]
    pub const fn needed(self, needed: usize) -> Self {
        self.with(Given::Int(needed as i64), self.given)
    }

    /// Adds the whole number that was given.
    #[must_use]
    pub const fn given(self, given: usize) -> Self {
        self.with(self.needed, Given::Int(given as i64))
    }

    /// Adds the signed whole number that was given.
    #[must_use]
    pub const fn given_i64(self, given: i64) -> Self {
        self.with(self.needed, Given::Int(given))
    }

    /// Adds the floating-point value that was given.
    #[must_use]
    pub const fn given_f32(self, given: f32) -> Self {
        self.with(self.needed, Given::Real(given))
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Nothing => Ok(()),
            Given::Int(i) => write!(f, "{i}"),
            Given::Real(x) => write!(f, "{x}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        if self.needed != Given::Nothing {
            write!(f, " {}", self.needed)?;
        }
        if self.given != Given::Nothing {
            write!(f, ", given {}", self.given)?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {}

/// Checks that a slice has the length that was agreed, naming it in the failure.
#[inline]
pub fn check_len<T>(what: &'static str, slice: &[T], len: usize) -> Result {
    if slice.len() == len { Ok(()) } else { Err(Error::new(Kind::Shape, what).needed(len).given(slice.len())) }
}

/// Checks that every number is finite, naming the array in the failure and giving the offending value.
#[inline(never)]
pub fn check_finite(what: &'static str, values: &[f32]) -> Result {
    // x * 0 is 0 for finite x and NaN otherwise: one branch-free pass decides, a second one only names the culprit.
    let mut sum = [0.0f32; 16];
    let (blocks, rest) = values.as_chunks::<16>();
    for block in blocks {
        for (s, x) in sum.iter_mut().zip(block) {
            *s += x * 0.0;
        }
    }
    let mut total = 0.0;
    for x in rest {
        total += x * 0.0;
    }
    for s in sum {
        total += s;
    }
    if total == 0.0 {
        return Ok(());
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(Error::new(Kind::Value, what).given_f32(values.get(i).copied().unwrap_or(0.0))),
        None => Ok(()),
    }
}
