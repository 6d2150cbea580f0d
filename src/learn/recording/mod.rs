//! Recordings: a learner's image, then the calls that changed it, with the arrays that they read. Played back, they lead to the
//! same bytes on every machine, or to the first call that does not.
//!
//! A recording is a header with the image, then entries without gaps, each of which is complete by itself: the bytes can be
//! written in pieces, and played back in pieces of whole entries. Everything is a multiple of eight bytes long and in the byte
//! order of the image, which machines of the other order refuse. A checksum covers the header with the image, and one each entry;
//! they guard against accidents, not against attackers. Every call checks what it is given, so a recording that somebody made up
//! is harmless, too.
//!
//! ```no_run
//! use rlcore::learn::recording::{self, Call, Entry, Recording};
//! # fn demo(block: &mut [u8], flags: &[u8], out: &mut [u8], copy: &mut [u8]) -> rlcore::error::Result {
//! let begun = recording::begin(block, out)?; // out is written to a file
//! // After each call, here one that cut rows:
//! let call = Call::Cut { gone: flags };
//! let size = call.record(&Ok(()), Some(block), out)?;
//! // Later, with all bytes of the file in `out`:
//! let start = Recording::open(out)?.attach(copy)?;
//! Entry::open(out, start)?.replay(copy, None)?;
//! # Ok(())
//! # }
//! ```

mod call;
mod item;

use bytemuck::{Pod, Zeroable};

pub use call::Call;

use crate::block::{self, BLOCK_ALIGN, HASH_START, Header, IMAGE, Kind as BlockKind};
use crate::cpu;
use crate::error::{Error, Kind, Result};
use crate::learn::{Learner, View};
use crate::space::ElementsMut;
use call::differs;
use item::{Sink, Source, WORD, padded};

const MAGIC: [u8; 8] = *b"rlcrec\0\n";
const BYTE_ORDER: u32 = 0x0102_0304;

/// Version of the form of headers and entries.
pub const FORMAT: u32 = 1;

/// The first bytes of a recording, before the image.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Front {
    magic: [u8; 8],
    byte_order: u32,
    format: u32,
    version: u32,
    image: u32,
    level: u32,
    reserved: u32,
    /// Bytes of the image.
    size: u64,
    /// Of this structure, with 0 here, and of the image.
    check: u64,
}

/// The first bytes of an entry, before the call.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct EntryFront {
    number: u32,
    status: i32,
    /// Bytes of the entry.
    size: u64,
    /// Of the learner after the call; 0: not taken.
    hash: u64,
    /// Of this structure, with 0 here, and of the call.
    check: u64,
}

const FRONT: usize = size_of::<Front>();
const ENTRY: usize = size_of::<EntryFront>();
const _: () = assert!(FRONT.is_multiple_of(WORD) && ENTRY.is_multiple_of(WORD) && WORD == BLOCK_ALIGN);

const CUT: &str = "recording: at least {needed} bytes";

/// Version of the library that a recording names: major << 16 | minor << 8 | patch.
pub const VERSION: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
    | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
    | number(env!("CARGO_PKG_VERSION_PATCH"));

const fn number(text: &str) -> u32 {
    let (mut rest, mut n) = (text.as_bytes(), 0u32);
    while let [digit, tail @ ..] = rest {
        n = n.wrapping_mul(10).wrapping_add(digit.wrapping_sub(b'0') as u32);
        rest = tail;
    }
    n
}

/// The bytes of a learner that a block holds. Errors: `Align`, `Image`, `Size`.
fn image(block: &[u8]) -> Result<&[u8]> {
    let size = Header::size_of(block, BlockKind::Learner)? as usize;
    block.get(..size).ok_or(Error::limit(Kind::Size, "block: at least {needed} bytes", size, block.len()))
}

/// Room for `size` bytes at the front of `out`. Errors: `Size`.
fn room(size: usize, out: &mut [u8]) -> Result<&mut [u8]> {
    let given = out.len();
    out.get_mut(..size).ok_or(Error::limit(Kind::Size, "recording: room for {needed} bytes", size, given))
}

/// The front, with the checksum of itself and `rest`, which must have 0 in its place.
fn sum<T: Pod>(front: &T, rest: &[u8]) -> u64 {
    block::hash(block::hash(HASH_START, bytemuck::bytes_of(front)), rest)
}

/// The hash of a learner in entries: that of all its bytes, and never 0.
fn state(mem: &[u8]) -> Result<u64> {
    Ok(block::hash(HASH_START, image(mem)?).max(1))
}

/// Bytes that [`begin`] writes for the learner in `block`. Errors: `Align`, `Image`.
pub fn begin_size(block: &[u8]) -> Result<usize> {
    Ok(padded(image(block)?.len()).saturating_add(FRONT))
}

/// Begins a recording of the learner in `block`, in any phase: writes the header and the image to the front of `out`, and returns
/// their size. Errors: `Align`, `Image`; `Size` of `out`, which is not written then.
pub fn begin(block: &[u8], out: &mut [u8]) -> Result<usize> {
    let image = image(block)?;
    let room = room(begin_size(block)?, out)?;
    let mut front = Front {
        magic: MAGIC,
        byte_order: BYTE_ORDER,
        format: FORMAT,
        version: VERSION,
        image: IMAGE,
        level: cpu::level() as u32,
        reserved: 0,
        size: image.len() as u64,
        check: 0,
    };
    front.check = sum(&front, image);
    let mut sink = Sink::new(room);
    sink.bytes(bytemuck::bytes_of(&front));
    sink.bytes(image);
    Ok(sink.len())
}

impl Call<'_> {
    /// Bytes of the entry of this call.
    pub fn size(&self) -> usize {
        let mut sink = Sink::new(&mut []);
        self.put(&mut sink);
        sink.len().saturating_add(ENTRY)
    }

    /// Writes the entry of this call to the front of `out`, after the call and before the next one, and returns its size.
    /// `ended` is the result of the call. The entry has the hash of all bytes of `learner`, if it is given.
    ///
    /// Errors: `Size` of `out`, which is not written then; `Align` and `Image` of `learner`.
    pub fn record(&self, ended: &Result, learner: Option<&[u8]>, out: &mut [u8]) -> Result<usize> {
        self.record_status(status(ended), learner, out)
    }

    /// [`Call::record`] of a call whose result is known as a status: 0, or the number of a [`Kind`].
    pub fn record_status(&self, status: i32, learner: Option<&[u8]>, out: &mut [u8]) -> Result<usize> {
        let size = self.size();
        let room = room(size, out)?;
        let hash = learner.map_or(Ok(0), state)?;
        let mut front = EntryFront { number: self.number(), status, size: size as u64, hash, check: 0 };
        let Some((head, body)) = room.split_at_mut_checked(ENTRY) else { return Err(item::DAMAGED) };
        self.put(&mut Sink::new(body));
        front.check = sum(&front, body);
        Sink::new(head).bytes(bytemuck::bytes_of(&front));
        Ok(size)
    }
}

fn status(ended: &Result) -> i32 {
    ended.as_ref().map_or_else(|error| error.kind as i32, |()| 0)
}

/// The start of a recording that [`Recording::open`] has checked.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    front: Front,
    image: &'a [u8],
}

impl<'a> Recording<'a> {
    /// Checks the header and the image's checksum. Errors: `Align`; `Size` if bytes are missing; `Image` for bytes that are no
    /// recording, of another form or byte order, or damaged.
    pub fn open(bytes: &'a [u8]) -> Result<Recording<'a>> {
        check_align(bytes)?;
        let head = bytes.get(..FRONT).ok_or(Error::limit(Kind::Size, CUT, FRONT, bytes.len()))?;
        let front: Front = bytemuck::pod_read_unaligned(head);
        let wrong = |what| Error::new(Kind::Image, what);
        wrong("recording: the bytes do not begin as a recording does.").fail_if(front.magic != MAGIC)?;
        wrong("recording: one of this machine's byte order; this one was written on a machine of the other")
            .fail_if(front.byte_order == BYTE_ORDER.swap_bytes())?;
        wrong("recording: the header is damaged.").fail_if(front.byte_order != BYTE_ORDER || front.reserved != 0)?;
        Error::limit(Kind::Image, "recording: a header of form", FORMAT as usize, front.format as usize)
            .fail_if(front.format != FORMAT)?;
        let size = usize::try_from(front.size).ok().filter(|size| *size <= isize::MAX as usize);
        let size = size.ok_or(wrong("recording: the header is damaged."))?;
        let (whole, end) = (padded(size).saturating_add(FRONT), size.saturating_add(FRONT));
        Error::limit(Kind::Size, CUT, whole, bytes.len()).fail_if(bytes.len() < whole)?;
        let image = bytes.get(FRONT..end).ok_or(wrong("recording: the header is damaged."))?;
        wrong("recording: a header and an image that agree with their checksum")
            .fail_if(front.check != sum(&Front { check: 0, ..front }, image))?;
        Ok(Recording { front, image })
    }

    /// The image of the learner at the start.
    pub fn image(&self) -> &'a [u8] {
        self.image
    }

    /// Where the first entry begins.
    pub fn start(&self) -> usize {
        padded(self.image.len()).saturating_add(FRONT)
    }

    /// Version of the library that began the recording, as [`VERSION`].
    pub fn version(&self) -> u32 {
        self.front.version
    }

    /// Its image version, as [`IMAGE`].
    pub fn image_version(&self) -> u32 {
        self.front.image
    }

    /// The CPU level that it computed with.
    pub fn cpu_level(&self) -> u32 {
        self.front.level
    }

    /// Copies the learner of the start to the front of `mem`, checks it, and returns where the first entry begins.
    /// Errors: as [`Learner::attach`], of the recorded image before anything is written; `Size` of `mem`.
    pub fn attach(&self, mem: &mut [u8]) -> Result<usize> {
        View::attach(self.image)?;
        let size = self.image.len();
        let given = mem.len();
        let to = mem.get_mut(..size);
        let to =
            to.ok_or(Error::limit(Kind::Size, "recording: memory for a learner of {needed} bytes", size, given))?;
        check_align(to)?;
        block::copy(to, self.image);
        Learner::open(to)?;
        Ok(self.start())
    }
}

/// An entry that [`Entry::open`] has checked.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The call, with the arrays that it read.
    pub call: Call<'a>,
    /// How it ended: 0, or the number of a [`Kind`].
    pub status: i32,
    /// The hash of the learner after it; 0: not taken.
    pub hash: u64,
    /// Bytes of the entry.
    pub size: usize,
    offset: usize,
}

impl<'a> Entry<'a> {
    /// The entry at byte `offset`. Errors: `Align`; `Range` behind the last one; `Size` if bytes of it are missing; `Image` for a
    /// damaged one.
    pub fn open(bytes: &'a [u8], offset: usize) -> Result<Entry<'a>> {
        let wrong = |what| Error::new(Kind::Image, what).given(offset);
        let end = Error::limit(Kind::Range, "recording: an entry before byte", bytes.len(), offset);
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty()).ok_or(end)?;
        check_align(rest)?;
        let head = rest.get(..ENTRY).ok_or(Error::limit(Kind::Size, CUT, ENTRY, rest.len()))?;
        let front: EntryFront = bytemuck::pod_read_unaligned(head);
        let size = usize::try_from(front.size).ok();
        let size = size.filter(|size| *size >= ENTRY && *size <= isize::MAX as usize && size.is_multiple_of(WORD));
        let size = size.ok_or(wrong("recording: the length of the entry at byte {given} is damaged."))?;
        let body = rest.get(ENTRY..size).ok_or(Error::limit(Kind::Size, CUT, size, rest.len()))?;
        wrong("recording: the entry at byte {given} does not agree with its checksum.")
            .fail_if(front.check != sum(&EntryFront { check: 0, ..front }, body))?;
        let mut source = Source::new(body);
        let call = Call::take(front.number, &mut source)?;
        source.end()?;
        Ok(Entry { call, status: front.status, hash: front.hash, size, offset })
    }

    /// Makes the call of the entry on the learner in `mem`, and compares its end with the recorded one: the status, the actions of
    /// an act, and the hash, if it was taken. An act draws into `action`, `[N, action_len]`.
    ///
    /// Errors: `Inexact` at another end: the learner is as the call has left it then. `Null` without `action` for an act; `Image` for
    /// arrays that no call has; `Align` and `Image` of `mem`.
    pub fn replay(&self, mem: &mut [u8], action: Option<ElementsMut<'_>>) -> Result {
        let ended = self.call.make(mem, action, self.offset)?;
        let now = status(&ended);
        differs("recording: the call at byte {needed} ended with another status than the recorded one, {given}.")
            .needed(self.offset)
            .given_i64(now.into())
            .fail_if(now != self.status)?;
        differs("recording: the call at byte {needed} left other bytes of the learner than the recorded ones.")
            .needed(self.offset)
            .fail_if(self.hash != 0 && self.hash != state(mem)?)
    }
}

/// Errors: `Align`.
fn check_align(bytes: &[u8]) -> Result {
    let off = bytes.as_ptr().addr() % WORD;
    let what = "recording: misaligned by {given} bytes; a multiple of {needed} is required.";
    Error::limit(Kind::Align, what, WORD, off).fail_if(off != 0)
}
