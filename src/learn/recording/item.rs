//! Values and arrays as the entries of a recording hold them: words of eight bytes in the machine's byte order, so that every
//! array lies where a program can read it in place.

use bytemuck::{AnyBitPattern, NoUninit};

use crate::block;
use crate::error::{Error, Kind, Result};
use crate::learn::{Config, NamedTensor, TensorsOf};
use crate::space::Elements;

/// Bytes of a word.
pub(super) const WORD: usize = size_of::<u64>();

/// An entry whose contents are no values of its call.
pub(super) const DAMAGED: Error = Error::new(Kind::Image, "recording: an entry whose arrays are those of its call");

/// `size` bytes and those up to the next word.
pub(super) fn padded(size: usize) -> usize {
    size.saturating_add(WORD - 1) & !(WORD - 1)
}

/// Counts bytes, and writes those that there is room for.
pub(super) struct Sink<'s> {
    room: &'s mut [u8],
    len: usize,
}

impl<'s> Sink<'s> {
    pub(super) fn new(room: &'s mut [u8]) -> Sink<'s> {
        Sink { room, len: 0 }
    }

    /// Bytes that were put.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn word(&mut self, word: u64) {
        self.bytes(&word.to_ne_bytes());
    }

    /// Puts bytes, and zeros up to the next word.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(padded(bytes.len()));
        if let Some(to) = self.room.get_mut(self.len..end) {
            to.fill(0);
            block::copy(to, bytes);
        }
        self.len = end;
    }

    fn array(&mut self, tag: u64, len: usize, bytes: &[u8]) {
        self.word(tag);
        self.word(len as u64);
        self.bytes(bytes);
    }
}

/// The words of an entry that are left to read.
pub(super) struct Source<'a> {
    rest: &'a [u8],
}

impl<'a> Source<'a> {
    /// Reads `bytes`, which begin on a boundary of words.
    pub(super) fn new(bytes: &'a [u8]) -> Source<'a> {
        Source { rest: bytes }
    }

    /// Errors: `Image` if words are left.
    pub(super) fn end(&self) -> Result {
        DAMAGED.fail_if(!self.rest.is_empty())
    }

    fn bytes(&mut self, size: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(padded(size)).ok_or(DAMAGED)?;
        self.rest = rest;
        bytes.get(..size).ok_or(DAMAGED)
    }

    fn word(&mut self) -> Result<u64> {
        let bytes = self.bytes(WORD)?;
        Ok(u64::from_ne_bytes(*bytes.first_chunk().ok_or(DAMAGED)?))
    }

    /// The next word, without reading it.
    fn peek(&self) -> u64 {
        self.rest.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }

    /// Bytes of an array with this tag and elements of `size` bytes.
    fn array(&mut self, tag: u64, size: usize) -> Result<&'a [u8]> {
        DAMAGED.fail_if(self.word()? != tag)?;
        let len = usize::try_from(self.word()?).ok().and_then(|len| len.checked_mul(size));
        self.bytes(len.ok_or(DAMAGED)?)
    }
}

/// A part of a call, as its entry holds it.
pub(super) trait Item<'a>: Sized {
    /// Adds it to an entry.
    fn put(&self, to: &mut Sink<'_>);
    /// Reads it. Errors: `Image`.
    fn take(from: &mut Source<'a>) -> Result<Self>;
}

impl Item<'_> for u64 {
    fn put(&self, to: &mut Sink<'_>) {
        to.word(*self);
    }
    fn take(from: &mut Source<'_>) -> Result<Self> {
        from.word()
    }
}

/// Items that a word holds.
macro_rules! words {
    ($($item:ty: |$x:ident| $word:expr, |$w:ident| $back:expr;)*) => {$(
        impl Item<'_> for $item {
            fn put(&self, to: &mut Sink<'_>) {
                let $x = *self;
                to.word($word);
            }
            fn take(from: &mut Source<'_>) -> Result<Self> {
                let $w = from.word()?;
                $back.ok_or(DAMAGED)
            }
        }
    )*};
}

words! {
    u32: |x| u64::from(x), |w| u32::try_from(w).ok();
    usize: |x| x as u64, |w| usize::try_from(w).ok();
    bool: |x| u64::from(x), |w| if w > 1 { None } else { Some(w == 1) };
    f32: |x| u64::from(x.to_bits()), |w| u32::try_from(w).ok().map(f32::from_bits);
    f64: |x| x.to_bits(), |w| Some(f64::from_bits(w));
    TensorsOf: |x| x as u64, |w| u32::try_from(w).ok().and_then(TensorsOf::from_number);
}

/// Tags of arrays, by the type of their elements.
const F32: u64 = 1;
const I32: u64 = 2;
const U8: u64 = 3;
const F64: u64 = 4;
const U32: u64 = 5;
const TENSOR: u64 = 6;
const CONFIG: u64 = 7;

fn put<T: NoUninit>(array: &[T], tag: u64, to: &mut Sink<'_>) {
    to.array(tag, array.len(), bytemuck::cast_slice(array));
}

fn take<'a, T: AnyBitPattern>(tag: u64, from: &mut Source<'a>) -> Result<&'a [T]> {
    bytemuck::try_cast_slice(from.array(tag, size_of::<T>())?).map_err(|_| DAMAGED)
}

macro_rules! arrays {
    ($($element:ty: $tag:ident;)*) => {$(
        impl<'a> Item<'a> for &'a [$element] {
            fn put(&self, to: &mut Sink<'_>) {
                put(self, $tag, to);
            }
            fn take(from: &mut Source<'a>) -> Result<Self> {
                take($tag, from)
            }
        }
    )*};
}

arrays! {
    f32: F32;
    u8: U8;
    f64: F64;
    u32: U32;
    NamedTensor: TENSOR;
    Config: CONFIG;
}

impl<'a> Item<'a> for &'a Config {
    fn put(&self, to: &mut Sink<'_>) {
        put(core::slice::from_ref(*self), CONFIG, to);
    }
    fn take(from: &mut Source<'a>) -> Result<Self> {
        take(CONFIG, from)?.first().ok_or(DAMAGED)
    }
}

impl<'a> Item<'a> for Elements<'a> {
    fn put(&self, to: &mut Sink<'_>) {
        match self {
            Elements::F32(x) => put(x, F32, to),
            Elements::I32(x) => put(x, I32, to),
            Elements::U8(x) => put(x, U8, to),
        }
    }
    fn take(from: &mut Source<'a>) -> Result<Self> {
        match from.peek() {
            F32 => take(F32, from).map(Elements::F32),
            I32 => take(I32, from).map(Elements::I32),
            _ => take(U8, from).map(Elements::U8),
        }
    }
}

impl<'a, T: Item<'a>> Item<'a> for Option<T> {
    fn put(&self, to: &mut Sink<'_>) {
        self.is_some().put(to);
        if let Some(item) = self {
            item.put(to);
        }
    }
    fn take(from: &mut Source<'a>) -> Result<Self> {
        Ok(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

/// Structures whose fields are items, in this order.
macro_rules! structures {
    ($($structure:ident { $($field:ident)* })*) => {$(
        impl<'a> Item<'a> for $structure<'a> {
            fn put(&self, to: &mut Sink<'_>) {
                let $structure { $($field),* } = self;
                $($field.put(to);)*
            }
            fn take(from: &mut Source<'a>) -> Result<Self> {
                Ok($structure { $($field: Item::take(from)?),* })
            }
        }
    )*};
}

pub(super) use structures;
