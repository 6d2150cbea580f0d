//! Errors: a kind for programs, and a message for people.

use core::fmt;
use core::ops::Deref;

/// Kind of an error, for programs. The numbers are the C status values and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// A required pointer is NULL.
    Null = -1,
    /// A buffer is too small.
    Size = -2,
    /// A pointer is misaligned.
    Align = -3,
    /// A configuration field has an invalid value.
    Config = -4,
    /// An array has the wrong number of elements.
    Shape = -5,
    /// The bytes are not an object of this type, version and byte order, or are damaged.
    Image = -6,
    /// An index, a count or a discrete action is out of range.
    Range = -7,
    /// A callback reported failure.
    Callback = -8,
    /// A size does not fit the address space.
    Overflow = -9,
    /// The call is not due yet, or another call must come first.
    NotReady = -10,
    /// A number is NaN or infinite where a finite one is required.
    Value = -11,
    /// Two arrays that must not overlap do.
    Overlap = -12,
    /// An operation is still in progress, or there is no room yet.
    Busy = -13,
    /// No operation is pending.
    NotPending = -14,
    /// No attempt gave an exact result.
    Inexact = -15,
    /// There is nothing to draw from.
    Empty = -16,
    /// The configuration disables this call.
    Disabled = -17,
}

/// A number in an error message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// No number.
    Nothing,
    /// A count, an index, a size or a code.
    Int(i64),
    /// A floating-point value.
    Real(f32),
}

/// An error: its kind, and a message with up to two numbers.
///
/// The message is `place: expectation`; or, if it ends with a full stop, a sentence that describes the failure. The numbers
/// replace `{needed}` and `{given}` in the message, else follow it.
///
/// ```
/// use rlcore::error::{Error, Kind};
///
/// let error = Error::new(Kind::Size, "block: at least {needed} bytes").needed(384).given(100);
/// assert_eq!(error.to_string(), "block: at least 384 bytes, given 100");
/// let error = Error::new(Kind::Callback, "env_def: step failed in environment {given}.").given(1);
/// assert_eq!(error.to_string(), "env_def: step failed in environment 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// Kind, for programs.
    pub kind: Kind,
    /// The expectation, e.g. `"vecenv config: num_envs of at least"`, or a sentence.
    pub what: Text<&'static str>,
    /// The limit, if it is a number.
    pub needed: Text<Given>,
    /// The caller's value.
    pub given: Text<Given>,
    /// The row of an array with that value.
    pub row: Text<Given>,
}

/// Part of an error message; empty in builds without messages, where an error is its kind alone and fits a register.
#[cfg(feature = "words")]
pub type Text<T> = T;
/// Part of an error message; empty in builds without messages, where an error is its kind alone and fits a register.
#[cfg(not(feature = "words"))]
pub type Text<T> = core::marker::PhantomData<T>;

/// Result of every fallible call of this crate.
pub type Result<T = ()> = core::result::Result<T, Error>;

/// A message of a table, or an array's name in errors; empty in builds without messages.
#[derive(Clone, Copy)]
pub struct Name(#[cfg(feature = "words")] &'static str);

#[cfg(feature = "words")]
impl Name {
    /// Stores the text.
    pub const fn new(what: &'static str) -> Name {
        Name(what)
    }

    /// The text.
    pub const fn text(self) -> &'static str {
        self.0
    }
}

#[cfg(not(feature = "words"))]
impl Name {
    /// Stores nothing.
    pub const fn new(_: &'static str) -> Name {
        Name()
    }

    /// An empty text.
    pub const fn text(self) -> &'static str {
        ""
    }
}

impl Error {
    /// An error whose message has no numbers.
    pub const fn new(kind: Kind, what: &'static str) -> Self {
        Self::of(kind, what, Given::Nothing, Given::Nothing)
    }

    #[cfg(feature = "words")]
    const fn of(kind: Kind, what: &'static str, needed: Given, given: Given) -> Self {
        Error { kind, what, needed, given, row: Given::Nothing }
    }

    #[cfg(not(feature = "words"))]
    const fn of(kind: Kind, _: &'static str, _: Given, _: Given) -> Self {
        use core::marker::PhantomData;
        Error { kind, what: PhantomData, needed: PhantomData, given: PhantomData, row: PhantomData }
    }

    /// Message, limit and given value, if set.
    #[cfg(feature = "words")]
    pub(crate) const fn detail(&self) -> (&'static str, Given, Given) {
        (self.what, self.needed, self.given)
    }

    /// Message, limit and given value, if set.
    #[cfg(not(feature = "words"))]
    pub(crate) const fn detail(&self) -> (&'static str, Given, Given) {
        ("", Given::Nothing, Given::Nothing)
    }

    /// Adds the row of the array.
    #[must_use]
    #[cfg(feature = "words")]
    pub const fn in_row(self, row: usize) -> Self {
        Error { row: Given::Int(row as i64), ..self }
    }

    /// Adds the row of the array.
    #[must_use]
    #[cfg(not(feature = "words"))]
    pub const fn in_row(self, _: usize) -> Self {
        self
    }

    /// The row, if set.
    #[cfg(feature = "words")]
    const fn row(&self) -> Given {
        self.row
    }

    /// The row, if set.
    #[cfg(not(feature = "words"))]
    const fn row(&self) -> Given {
        Given::Nothing
    }

    /// An error with a limit and a given number.
    pub const fn limit(kind: Kind, what: &'static str, needed: usize, given: usize) -> Self {
        Error::new(kind, what).needed(needed).given(given)
    }

    /// A configuration error with a limit and a given number.
    pub const fn config(what: &'static str, needed: u32, given: u32) -> Self {
        Error::limit(Kind::Config, what, needed as usize, given as usize)
    }

    /// Fails if `wrong`.
    #[inline(always)]
    pub const fn fail_if(self, wrong: bool) -> Result {
        if wrong { Err(self) } else { Ok(()) }
    }

    /// Adds the limit.
    #[must_use]
    pub const fn needed(self, needed: usize) -> Self {
        let (what, _, given) = self.detail();
        Self::of(self.kind, what, Given::Int(needed as i64), given)
    }

    /// Adds the given number.
    #[must_use]
    pub const fn given(self, given: usize) -> Self {
        self.given_i64(given as i64)
    }

    /// Adds the given signed number.
    #[must_use]
    pub const fn given_i64(self, given: i64) -> Self {
        self.with(Given::Int(given))
    }

    /// Adds the given floating-point value.
    #[must_use]
    pub const fn given_f32(self, given: f32) -> Self {
        self.with(Given::Real(given))
    }

    /// Replaces the message, if the error is of this kind.
    #[must_use]
    pub fn with_message(self, kind: Kind, what: &'static str) -> Self {
        if self.kind == kind { Error { what: Error::new(kind, what).what, ..self } } else { self }
    }

    const fn with(self, given: Given) -> Self {
        let (what, needed, _) = self.detail();
        Self::of(self.kind, what, needed, given)
    }
}

/// A piece of an error message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    /// Text.
    Text(&'static str),
    /// A number.
    Number(Given),
}

impl Error {
    /// Passes the message to `put` piece by piece. `expected` precedes the expectation.
    pub fn pieces(&self, expected: &'static str, put: &mut dyn FnMut(Piece)) {
        self.say(expected, put);
        if self.row() != Given::Nothing {
            put(Piece::Text(" in row "));
            put(Piece::Number(self.row()));
        }
    }

    fn say(&self, expected: &'static str, put: &mut dyn FnMut(Piece)) {
        let (what, needed, given) = self.detail();
        if let Some(sentence) = what.strip_suffix('.') {
            self.fill(sentence, put);
            return;
        }
        let colon = what.as_bytes().windows(2).rposition(|pair| pair == b": ");
        let (place, phrase) = what.split_at_checked(colon.map_or(0, |at| at.saturating_add(2))).unwrap_or_default();
        let (phrase, culprit) = cut(phrase, b"; not so").map_or((phrase, None), |(all, one)| (all, Some(one)));
        put(Piece::Text(place));
        put(Piece::Text(expected));
        let seen = self.fill(phrase, put);
        if needed != Given::Nothing && !seen {
            put(Piece::Text(" "));
            put(Piece::Number(needed));
        }
        if let Some(culprit) = culprit {
            put(Piece::Text("; violated by"));
            put(Piece::Text(culprit));
        }
        if given != Given::Nothing {
            put(Piece::Text(if culprit.is_some() { " " } else { ", given " }));
            put(Piece::Number(given));
        }
    }

    /// Passes the text with its numbers inserted. True if `{needed}` is among them.
    fn fill(&self, words: &'static str, put: &mut dyn FnMut(Piece)) -> bool {
        let (_, needed, given) = self.detail();
        let (mut rest, mut seen) = (words, false);
        while let Some((before, hole)) = cut(rest, b"{") {
            let (name, after) = cut(hole, b"}").unwrap_or_default();
            put(Piece::Text(before));
            put(Piece::Number(if name == "needed" { needed } else { given }));
            seen |= name == "needed";
            rest = after;
        }
        put(Piece::Text(rest));
        seen
    }
}

/// The text before and after the first `mark`.
fn cut<const K: usize>(text: &'static str, mark: &[u8; K]) -> Option<(&'static str, &'static str)> {
    let place = text.as_bytes().windows(K).position(|bytes| bytes == mark)?;
    Some((text.get(..place)?, text.get(place.saturating_add(K)..)?))
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
        let mut result = Ok(());
        self.pieces("", &mut |piece| {
            result = result.and_then(|()| match piece {
                Piece::Text(text) => f.write_str(text),
                Piece::Number(number) => write!(f, "{number}"),
            });
        });
        result
    }
}

impl core::error::Error for Error {}

/// Checks the length of a slice; the error names it.
#[inline]
pub fn check_len<T>(what: &'static str, slice: &[T], len: usize) -> Result {
    if slice.len() == len { Ok(()) } else { Err(Error::new(Kind::Shape, what).needed(len).given(slice.len())) }
}

/// [`check_len`] of an optional array.
#[inline]
pub fn check_some<T, A: Deref<Target = [T]>>(what: &'static str, array: &Option<A>, len: usize) -> Result {
    array.as_deref().map_or(Ok(()), |array| check_len(what, array, len))
}

/// Has the top bit set if `x` is NaN or infinite: adding one to an exponent of all ones carries into the sign.
#[inline(always)]
pub(crate) fn overflowing(x: f32) -> u32 {
    (x.to_bits() & 0x7fff_ffff).wrapping_add(0x0080_0000)
}

/// [`check_finite`] of rows of `width` values, naming the row too; `rows` are the numbers of the rows.
pub fn check_rows(what: &'static str, values: &[f32], width: usize, rows: impl IntoIterator<Item = usize>) -> Result {
    match check_finite(what, values) {
        Ok(()) => Ok(()),
        Err(error) => {
            let bad = values.iter().position(|x| !x.is_finite()).and_then(|i| i.checked_div(width));
            Err(bad.and_then(|bad| rows.into_iter().nth(bad)).map_or(error, |row| error.in_row(row)))
        }
    }
}

/// Checks that every value is finite; the error names the array and the value.
#[inline(never)]
pub fn check_finite(what: &'static str, values: &[f32]) -> Result {
    // One branch-free pass decides; a second one only finds the value.
    if values.iter().fold(0, |flags, x| flags | overflowing(*x)) >> 31 == 0 {
        return Ok(());
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(Error::new(Kind::Value, what).given_f32(values.get(i).copied().unwrap_or(0.0))),
        None => Ok(()),
    }
}
