//! Status of calls, as a number and as text.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering, fence};

use crate::ptr::{Input, Output};
use rlcore::error::{Error, Given, Kind, Piece};

/// Major version of the library, as in its Cargo.toml.
pub const RLCORE_VERSION_MAJOR: u32 = 0;
/// Minor version of the library.
pub const RLCORE_VERSION_MINOR: u32 = 1;
/// Patch version of the library.
pub const RLCORE_VERSION_PATCH: u32 = 0;
/// Incremented when callers must be recompiled.
pub const RLCORE_ABI_VERSION: u32 = 0;
/// Incremented when a kind of saved block can no longer be attached.
pub const RLCORE_IMAGE_VERSION: u32 = 15;

const _: () = assert!(RLCORE_IMAGE_VERSION == rlcore::block::IMAGE);

/// Result of every call: 0 is success, negative is failure. Values are never reused.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum rlcore_status {
    /// Success.
    RLCORE_OK = 0,
    /// A required pointer is NULL.
    RLCORE_E_NULL = -1,
    /// A buffer is too small.
    RLCORE_E_SIZE = -2,
    /// A pointer is misaligned.
    RLCORE_E_ALIGN = -3,
    /// A configuration field has an invalid value.
    RLCORE_E_CONFIG = -4,
    /// An array has the wrong number of elements.
    RLCORE_E_SHAPE = -5,
    /// The bytes are not an object of this type, version and byte order, or are damaged.
    RLCORE_E_IMAGE = -6,
    /// An index, a count or a discrete action is out of range.
    RLCORE_E_RANGE = -7,
    /// A callback reported failure.
    RLCORE_E_CALLBACK = -8,
    /// A size does not fit the address space.
    RLCORE_E_OVERFLOW = -9,
    /// The call is not due yet, or another call must come first.
    RLCORE_E_NOT_READY = -10,
    /// A number is NaN or infinite where a finite one is required.
    RLCORE_E_VALUE = -11,
    /// Two arrays that must not overlap do.
    RLCORE_E_OVERLAP = -12,
    /// An operation is still in progress, or there is no room yet.
    RLCORE_E_BUSY = -13,
    /// No operation is pending.
    RLCORE_E_NOT_PENDING = -14,
    /// No attempt gave an exact result.
    RLCORE_E_INEXACT = -15,
    /// There is nothing to draw from.
    RLCORE_E_EMPTY = -16,
    /// The configuration disables this call.
    RLCORE_E_DISABLED = -17,
}

use rlcore_status::*;

const WORDS: [(rlcore_status, &CStr, &CStr); 18] = [
    (RLCORE_OK, c"RLCORE_OK", c"success"),
    (RLCORE_E_NULL, c"RLCORE_E_NULL", c"a required pointer is NULL"),
    (RLCORE_E_SIZE, c"RLCORE_E_SIZE", c"a buffer is too small"),
    (RLCORE_E_ALIGN, c"RLCORE_E_ALIGN", c"a pointer is misaligned"),
    (RLCORE_E_CONFIG, c"RLCORE_E_CONFIG", c"a configuration field has an invalid value"),
    (RLCORE_E_SHAPE, c"RLCORE_E_SHAPE", c"an array has the wrong number of elements"),
    (
        RLCORE_E_IMAGE,
        c"RLCORE_E_IMAGE",
        c"the bytes are not an object of this type, version and byte order, or are damaged",
    ),
    (RLCORE_E_RANGE, c"RLCORE_E_RANGE", c"an index, a count or a discrete action is out of range"),
    (RLCORE_E_CALLBACK, c"RLCORE_E_CALLBACK", c"a callback reported failure"),
    (RLCORE_E_OVERFLOW, c"RLCORE_E_OVERFLOW", c"a size does not fit the address space"),
    (RLCORE_E_NOT_READY, c"RLCORE_E_NOT_READY", c"the call is not due yet, or another call must come first"),
    (RLCORE_E_VALUE, c"RLCORE_E_VALUE", c"a number is NaN or infinite where a finite one is required"),
    (RLCORE_E_OVERLAP, c"RLCORE_E_OVERLAP", c"two arrays that must not overlap do"),
    (RLCORE_E_BUSY, c"RLCORE_E_BUSY", c"an operation is still in progress, or there is no room yet"),
    (RLCORE_E_NOT_PENDING, c"RLCORE_E_NOT_PENDING", c"no operation is pending"),
    (RLCORE_E_INEXACT, c"RLCORE_E_INEXACT", c"no attempt gave an exact result"),
    (RLCORE_E_EMPTY, c"RLCORE_E_EMPTY", c"there is nothing to draw from"),
    (RLCORE_E_DISABLED, c"RLCORE_E_DISABLED", c"the configuration disables this call"),
];

fn words(status: i32) -> (&'static CStr, &'static CStr) {
    match WORDS.iter().find(|(s, ..)| *s as i32 == status) {
        Some(&(_, name, text)) => (name, text),
        None => (c"unknown", c"no status of this version of the library"),
    }
}

impl From<Kind> for rlcore_status {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Null => RLCORE_E_NULL,
            Kind::Size => RLCORE_E_SIZE,
            Kind::Align => RLCORE_E_ALIGN,
            Kind::Config => RLCORE_E_CONFIG,
            Kind::Shape => RLCORE_E_SHAPE,
            Kind::Image => RLCORE_E_IMAGE,
            Kind::Range => RLCORE_E_RANGE,
            Kind::Callback => RLCORE_E_CALLBACK,
            Kind::Overflow => RLCORE_E_OVERFLOW,
            Kind::NotReady => RLCORE_E_NOT_READY,
            Kind::Value => RLCORE_E_VALUE,
            Kind::Overlap => RLCORE_E_OVERLAP,
            Kind::Busy => RLCORE_E_BUSY,
            Kind::NotPending => RLCORE_E_NOT_PENDING,
            Kind::Inexact => RLCORE_E_INEXACT,
            Kind::Empty => RLCORE_E_EMPTY,
            Kind::Disabled => RLCORE_E_DISABLED,
        }
    }
}

/// A failure whose text is already recorded, so that only its status is left.
pub struct Fault(rlcore_status);

/// Result of the internal functions of this crate.
pub type Result<T = ()> = core::result::Result<T, Fault>;

impl Fault {
    /// A failure of the core, with the name of the argument if the core did not know it. Records its text, so it is
    /// called only once a call has failed.
    #[cfg_attr(feature = "words", cold, inline(never))]
    #[cfg_attr(not(feature = "words"), inline(always))]
    pub fn at(what: &'static str, error: Error) -> Self {
        let status = error.kind.into();
        if cfg!(feature = "words") {
            LAST.keep(&Text::of(status, what, &error));
        }
        Fault(status)
    }

    /// The status that C receives.
    pub fn status(&self) -> rlcore_status {
        self.0
    }
}

/// Names of the elements of a caller's array in error messages.
macro_rules! places {
    ($array:literal $($i:literal)+) => {
        [$(concat!($array, "[", $i, "]")),+]
    };
}

pub(crate) use places;

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::at("", error)
    }
}

/// Adds to a failure the name of its argument, which the core does not know.
pub trait About<T> {
    /// Names the argument.
    fn about(self, what: &'static str) -> Result<T>;
}

impl<T> About<T> for rlcore::error::Result<T> {
    #[inline(always)]
    fn about(self, what: &'static str) -> Result<T> {
        self.map_err(|error| Fault::at(what, error))
    }
}

/// The body of every exported function: a failure becomes its status.
#[inline]
pub fn call(body: impl FnOnce() -> Result) -> rlcore_status {
    match body() {
        Ok(()) => RLCORE_OK,
        Err(fault) => fault.status(),
    }
}

/// Text of a failure, truncated if it does not fit.
struct Text {
    bytes: [u8; Text::SIZE],
    len: usize,
}

impl Text {
    const SIZE: usize = 4 * WORDS_KEPT;

    fn of(status: rlcore_status, argument: &str, error: &Error) -> Text {
        let mut text = Text { bytes: [0; Text::SIZE], len: 0 };
        text.push(words(status as i32).0.to_bytes());
        text.push(b": ");
        if !argument.is_empty() {
            text.push(argument.as_bytes());
            text.push(b": ");
        }
        error.pieces("expected ", &mut |piece| match piece {
            Piece::Text(words) => text.push(words.as_bytes()),
            Piece::Number(number) => text.number(number),
        });
        text
    }

    fn push(&mut self, bytes: &[u8]) {
        // The last byte stays 0.
        let room = self.bytes.iter_mut().take(Text::SIZE - 1).skip(self.len);
        for (to, from) in room.zip(bytes) {
            *to = *from;
            self.len = self.len.saturating_add(1);
        }
    }

    fn number(&mut self, number: Given) {
        match number {
            Given::Nothing => {}
            Given::Int(i) => {
                if i < 0 {
                    self.push(b"-");
                }
                self.digits(i.unsigned_abs(), 0);
            }
            Given::Real(x) => self.real(x),
        }
    }

    /// A whole number with at least `width` digits.
    fn digits(&mut self, mut number: u64, width: u32) {
        let mut digits = [0u8; 20];
        let mut count = 0u32;
        for digit in digits.iter_mut().rev() {
            if number == 0 && count >= width.max(1) {
                break;
            }
            *digit = b'0'.wrapping_add((number % 10) as u8);
            number /= 10;
            count = count.saturating_add(1);
        }
        let skip = 20usize.saturating_sub(count as usize);
        self.push(digits.get(skip..).unwrap_or_default());
    }

    /// The shortest decimal that reads back as the same value, such as 0.25, 1e-7 or -3.4028235e38.
    fn real(&mut self, x: f32) {
        if x.is_nan() {
            return self.push(b"NaN");
        }
        if x.is_sign_negative() {
            self.push(b"-");
        }
        let size = f64::from(x.abs());
        if size == 0.0 {
            return self.push(b"0");
        }
        if size == f64::INFINITY {
            return self.push(b"inf");
        }
        let mut exponent = 0i32;
        while exponent < 39 && size >= scale(1.0, exponent.wrapping_add(1)) {
            exponent = exponent.wrapping_add(1);
        }
        while exponent > -46 && size < scale(1.0, exponent) {
            exponent = exponent.wrapping_sub(1);
        }
        let (mut places, mut digits) = (0i32, 0u64);
        while places < 9 {
            digits = (scale(size, places.wrapping_sub(exponent)) + 0.5) as u64;
            if scale(digits as f64, exponent.wrapping_sub(places)) as f32 == x.abs() {
                break;
            }
            places = places.wrapping_add(1);
        }
        if digits >= u64::pow(10, places.unsigned_abs().min(9)).saturating_mul(10) {
            // Rounded up to the next power of ten.
            (digits, places, exponent) = (1, 0, exponent.wrapping_add(1));
        }
        if (-4..0).contains(&exponent) {
            self.push(b"0.");
            self.digits(digits, places.wrapping_sub(exponent).unsigned_abs());
        } else if (0..10).contains(&exponent) && places <= exponent {
            self.digits(scale(digits as f64, exponent.wrapping_sub(places)) as u64, 1);
        } else {
            let behind = if (0..10).contains(&exponent) { places.wrapping_sub(exponent) } else { places };
            let unit = u64::pow(10, behind.unsigned_abs().min(10)).max(1);
            self.digits(digits / unit, 1);
            if behind > 0 {
                self.push(b".");
                self.digits(digits % unit, behind.unsigned_abs());
            }
            if !(0..10).contains(&exponent) {
                self.push(if exponent < 0 { b"e-" } else { b"e" });
                self.digits(exponent.unsigned_abs().into(), 1);
            }
        }
    }
}

/// `x` times ten to the `exponent`.
fn scale(x: f64, exponent: i32) -> f64 {
    let mut power = 1.0f64;
    for _ in 0..exponent.unsigned_abs().min(60) {
        power *= 10.0;
    }
    if exponent < 0 { x / power } else { x * power }
}

const WORDS_KEPT: usize = 64;

/// TextOut for the text of one failure. A writer makes `turn` odd while it writes; a reader that sees it change starts again, so
/// that it never mixes two texts.
struct Slot {
    turn: AtomicU32,
    words: [AtomicU32; WORDS_KEPT],
}

/// Text of the most recent failure. Threads that fail at the same time write to different slots. After a fork(), slots to which
/// other threads were writing stay odd in the child, which uses the others.
struct Last {
    /// Number of the slot that was completed last.
    latest: AtomicU32,
    slots: [Slot; SLOTS],
}

const SLOTS: usize = 8;

static LAST: Last = Last { latest: AtomicU32::new(0), slots: [const { Slot::empty() }; SLOTS] };

impl Last {
    fn keep(&self, text: &Text) {
        let latest = self.latest.load(Ordering::Relaxed) as usize;
        // The slot that readers use is tried last. If none is free, this failure is dropped: those being written are as recent.
        let numbers = (0..SLOTS).map(|k| latest.wrapping_add(k).wrapping_add(1) % SLOTS);
        for number in numbers {
            if self.slots.get(number).is_some_and(|slot| slot.keep(text)) {
                self.latest.store(number as u32, Ordering::Release);
                return;
            }
        }
    }

    /// The latest text; an empty one if writers kept changing it.
    fn read(&self) -> [u8; Text::SIZE] {
        for _ in 0..100 {
            let latest = self.latest.load(Ordering::Acquire) as usize;
            if let Some(bytes) = self.slots.get(latest).and_then(Slot::read) {
                return bytes;
            }
        }
        [0; Text::SIZE]
    }
}

impl Slot {
    const fn empty() -> Slot {
        Slot { turn: AtomicU32::new(0), words: [const { AtomicU32::new(0) }; WORDS_KEPT] }
    }

    /// Stores a text. False if another thread is writing to this slot.
    fn keep(&self, text: &Text) -> bool {
        let turn = self.turn.load(Ordering::Relaxed);
        if turn & 1 == 1 || !self.begin(turn) {
            return false;
        }
        fence(Ordering::Release);
        let (chunks, _) = text.bytes.as_chunks::<4>();
        for (word, bytes) in self.words.iter().zip(chunks) {
            word.store(u32::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
        self.turn.store(turn.wrapping_add(2), Ordering::Release);
        true
    }

    #[cfg(target_has_atomic = "32")]
    fn begin(&self, turn: u32) -> bool {
        self.turn.compare_exchange(turn, turn.wrapping_add(1), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Processors without compare-and-swap have one core.
    #[cfg(not(target_has_atomic = "32"))]
    fn begin(&self, turn: u32) -> bool {
        self.turn.store(turn.wrapping_add(1), Ordering::Relaxed);
        true
    }

    fn read(&self) -> Option<[u8; Text::SIZE]> {
        let mut bytes = [0; Text::SIZE];
        let before = self.turn.load(Ordering::Acquire);
        let (chunks, _) = bytes.as_chunks_mut::<4>();
        for (chunk, word) in chunks.iter_mut().zip(&self.words) {
            *chunk = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        fence(Ordering::Acquire);
        (before & 1 == 0 && self.turn.load(Ordering::Relaxed) == before).then_some(bytes)
    }
}

/// Name of a status, e.g. "RLCORE_E_SIZE". Static text, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_status_name(status: i32) -> *const c_char {
    words(status).0.as_ptr()
}

/// Meaning of a status in one sentence. Static text, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_status_text(status: i32) -> *const c_char {
    words(status).1.as_ptr()
}

/// Describes the most recent failure in this process, e.g. "RLCORE_E_SIZE: block: expected at least 4096 bytes, given
/// 100". Empty if no call has failed, or if the library was built without the feature `words`.
/// text: [text_size] to write; always NUL-terminated, truncated if it does not fit (256 bytes always suffice).
/// Diagnostic only: the failure may be another thread's, so act on statuses. After fork() the child starts with its
/// parent's text and then keeps its own.
/// Errors: E_SIZE if text_size is 0. Its own failures are not recorded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_last_error(text: *mut c_char, text_size: usize) -> rlcore_status {
    let room = match unsafe { Output::unkept(text.cast::<u8>(), text_size) } {
        Ok(room) => room.slice(),
        Err(error) => return error.kind.into(),
    };
    let Some((end, room)) = room.split_last_mut() else {
        return RLCORE_E_SIZE;
    };
    *end = 0;
    let kept = LAST.read();
    for (to, from) in room.iter_mut().zip(kept) {
        *to = from;
        if from == 0 {
            break;
        }
    }
    RLCORE_OK
}

/// Keeps a failure that a wrapper of this interface has found itself, for rlcore_last_error: its name, ": " and the text.
/// status: a failure, an rlcore_status below 0.
/// text:   [text_size] up to its first NUL, if it has one; cut where it does not fit.
/// Errors: E_RANGE for a status that is no failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_last_error_write(status: i32, text: *const c_char, text_size: usize) -> rlcore_status {
    call(|| unsafe {
        let text = Input::at("text", text.cast::<u8>(), text_size)?.slice();
        let failure = WORDS.iter().find(|(s, ..)| *s != RLCORE_OK && *s as i32 == status);
        let no_failure = Error::new(Kind::Range, "status: the number of a failure").given_i64(status.into());
        let (_, name, _) = failure.ok_or(no_failure)?;
        if cfg!(feature = "words") {
            let mut kept = Text { bytes: [0; Text::SIZE], len: 0 };
            kept.push(name.to_bytes());
            kept.push(b": ");
            kept.push(text.split(|byte| *byte == 0).next().unwrap_or_default());
            LAST.keep(&kept);
        }
        Ok(())
    })
}

const fn number(text: &str) -> u32 {
    let (mut rest, mut n) = (text.as_bytes(), 0);
    while let [digit, tail @ ..] = rest {
        n = n * 10 + (*digit - b'0') as u32;
        rest = tail;
    }
    n
}

const _: () = assert!(
    RLCORE_VERSION_MAJOR == number(env!("CARGO_PKG_VERSION_MAJOR"))
        && RLCORE_VERSION_MINOR == number(env!("CARGO_PKG_VERSION_MINOR"))
        && RLCORE_VERSION_PATCH == number(env!("CARGO_PKG_VERSION_PATCH"))
);

/// Version of the linked library: major << 16 | minor << 8 | patch.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_version() -> u32 {
    RLCORE_VERSION_MAJOR << 16 | RLCORE_VERSION_MINOR << 8 | RLCORE_VERSION_PATCH
}

/// RLCORE_ABI_VERSION of the linked library. Compare it with the header's before any other call.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_abi_version() -> u32 {
    RLCORE_ABI_VERSION
}

/// RLCORE_IMAGE_VERSION of the linked library.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_image_version() -> u32 {
    RLCORE_IMAGE_VERSION
}
