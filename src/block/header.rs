//! The header of every block: its kind, version, size and the configuration it was created with.
//!
//! The header and the configuration are written by `create`, with a checksum of their own, and after it by [`configure`] alone.
//! `attach` refuses all other bytes with a named error and writes nothing; later calls trust a block that it accepted.
//!
//! A learner or a policy may also carry a [`seal`]: a checksum of all its bytes, valid until one of them changes. Behind it
//! lies the [`Mark`] of calls that change the block, for kinds that have no other record of an interrupted change.
//!
//! The words of a block have the byte order of the machine that wrote it, a fixed width and a fixed place: all little-endian
//! machines, of 32 or 64 bits, write the same bytes and can continue from each other's blocks. The byte order is checked right
//! after the first eight bytes, which are text: an image of the other order is refused with an error of its own, never read and
//! never converted.

use bytemuck::{Pod, Zeroable};
use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

use super::mark::{self, Mark};
use super::plan::{BLOCK_ALIGN, Cutter, Fit, LayoutError, Plan, Span, TooLong};
use crate::error::{Error, Kind as ErrorKind, Result};

/// The kinds of block. The numbers are part of the image and are never reused; 13 was the number of off-policy learners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// N environments of one kind.
    VecEnv = 1,
    /// A learner.
    Learner = 2,
    /// A policy that acts and does not learn.
    Policy = 3,
    /// Rings of frames for frame stacks.
    LazyFrames = 4,
    /// The episodes that N environments have finished.
    Monitor = 5,
    /// Running statistics that normalize observations and rewards.
    VecNormalize = 6,
    /// Steps of a vectorized environment that the host does not wait for.
    Batch = 7,
    /// A replay memory whose samples are balanced by reward.
    Memory = 8,
    /// A replay memory whose samples follow priorities.
    Replay = 9,
    /// The transitions of N environments over T steps, for on-policy learners.
    RolloutBuffer = 10,
    /// One trajectory, for learners that take single trajectories.
    Trajectory = 11,
    /// A queue of trajectories for a learner, first in, first out.
    Queue = 12,
}

/// The image version of the library: the highest of all kinds of block.
pub const IMAGE: u32 = 15;

impl Kind {
    /// The image version of this kind of block: the value of [`IMAGE`] when its layout last changed. Blocks are refused only if
    /// the layout of their own kind has changed since they were written.
    pub const fn image(self) -> u32 {
        match self {
            Kind::LazyFrames => 4,
            Kind::Memory => 11,
            Kind::VecEnv | Kind::Batch | Kind::Monitor | Kind::RolloutBuffer => 12,
            Kind::Policy => 14,
            Kind::Learner => 15,
            _ => 1,
        }
    }
}

const MAGIC: [u8; 8] = *b"rlcore\0\n";
const BYTE_ORDER: u32 = 0x0102_0304;

/// The first bytes of every block, followed by its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    magic: [u8; 8],
    byte_order: u32,
    image: u32,
    kind: u32,
    config_size: u32,
    size: u64,
    check: u64,
}

impl Header {
    /// Bytes of the whole block.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether [`Header::read`] would accept the header; fast, for frequent calls.
    #[inline(always)]
    pub fn begins(mem: &[u8], kind: Kind) -> bool {
        let Some(bytes) = mem.get(..size_of::<Header>()) else { return false };
        let h: Header = bytemuck::pod_read_unaligned(bytes);
        (h.magic == MAGIC)
            & (h.byte_order == BYTE_ORDER)
            & (h.image == kind.image())
            & (h.kind == kind as u32)
            & (mem.as_ptr() as usize).is_multiple_of(BLOCK_ALIGN)
    }

    /// Bytes of the whole block, as from [`Header::read`]; fast, for frequent calls.
    #[inline(always)]
    pub fn size_of(mem: &[u8], kind: Kind) -> Result<u64> {
        if !Self::begins(mem, kind) {
            Self::read(mem, kind)?;
        }
        let bytes = mem.get(..size_of::<Header>()).ok_or(LayoutError)?;
        Ok(bytemuck::pod_read_unaligned::<Header>(bytes).size)
    }

    /// Reads the header alone and checks alignment, magic, byte order, kind and version.
    #[inline(never)]
    pub fn read(mem: &[u8], kind: Kind) -> Result<Header> {
        let h = Self::of_any_kind(mem)?;
        Error::limit(ErrorKind::Image, "block: an image of kind", kind as usize, h.kind as usize)
            .fail_if(h.kind != kind as u32)?;
        Error::limit(ErrorKind::Image, "block: image version", kind.image() as usize, h.image as usize)
            .fail_if(h.image != kind.image())?;
        Ok(h)
    }

    /// A header of any kind and version.
    fn of_any_kind(mem: &[u8]) -> Result<Header> {
        check_align(mem)?;
        let need = size_of::<Header>();
        let bytes = mem.get(..need).ok_or(Error::limit(
            ErrorKind::Size,
            "block: at least {needed} bytes for its header",
            need,
            mem.len(),
        ))?;
        let h: Header = bytemuck::pod_read_unaligned(bytes);
        Error::new(ErrorKind::Image, "block: the bytes are not an image of an rlcore block.")
            .fail_if(h.magic != MAGIC)?;
        if h.byte_order == BYTE_ORDER.swap_bytes() {
            return Err(Error::new(
                ErrorKind::Image,
                "block: an image of this machine's byte order; this one was written on a machine of the other",
            ));
        }
        Error::new(ErrorKind::Image, "block: the header is damaged.").fail_if(h.byte_order != BYTE_ORDER)?;
        Ok(h)
    }
}

/// Plans the header and the configuration, the start of every block.
pub fn spans<C: Pod>(plan: &mut Plan) -> core::result::Result<(Span<Header>, Span<C>), TooLong> {
    Ok((plan.span(1)?, plan.span(1)?))
}

/// Lays out a new block: checks the memory, zeroes its first `size` bytes, writes header and configuration.
///
/// Errors: `Align`, `Size`; then nothing is written.
pub fn create<'a, C: Pod>(mem: &'a mut [u8], kind: Kind, size: usize, config: &C) -> Result<&'a mut [u8]> {
    create_with(mem, kind, size, config, |_| Ok(()))
}

/// As [`create`], for a block whose fields are not all zero at first: `fill` writes them before the header, so that `attach`
/// never accepts a block without them.
pub fn create_with<'a, C: Pod>(
    mem: &'a mut [u8],
    kind: Kind,
    size: usize,
    config: &C,
    fill: impl FnOnce(&mut [u8]) -> Result,
) -> Result<&'a mut [u8]> {
    let (_, body) = spans::<C>(&mut Plan::default())?;
    let block = clear(mem, size)?;
    fill(block)?;
    begin(block, kind, body.start(), bytemuck::bytes_of(config))?;
    Ok(block)
}

/// As [`create`], with the block marked as changing until [`Mark::end`] or [`end_mark`]: the caller has more to write.
pub fn create_marked<'a, C: Pod>(mem: &'a mut [u8], kind: Kind, size: usize, config: &C) -> Result<&'a mut [u8]> {
    create_with(mem, kind, size, config, |block| {
        Ok(block.get_mut(MARK.start()).ok_or(LayoutError).map(|byte| *byte = 1)?)
    })
}

/// Replaces the configuration of an accepted block, whose size and fields stay where they are, and removes its seal. The block is
/// marked as changing until [`Mark::end`]: the caller has fields to adapt. Errors: `Align`, `Image`; then nothing is written.
pub fn configure<C: Pod>(mem: &mut [u8], kind: Kind, config: &C) -> Result {
    let h = Header::read(mem, kind)?;
    let (_, body) = spans::<C>(&mut Plan::default())?;
    let size = h.size as usize;
    let block = mem.get_mut(..size).ok_or(LayoutError)?;
    unseal(block);
    *block.get_mut(MARK.start()).ok_or(LayoutError)? = 1;
    fence(Ordering::Release);
    begin(block, kind, body.start(), bytemuck::bytes_of(config))
}

/// Zeroes the first `size` bytes, the header first, and returns them: a process that is stopped meanwhile leaves no valid
/// image.
fn clear(mem: &mut [u8], size: usize) -> Result<&mut [u8]> {
    check_align(mem)?;
    let given = mem.len();
    let block =
        mem.get_mut(..size).ok_or(Error::limit(ErrorKind::Size, "block: at least {needed} bytes", size, given))?;
    let (header, rest) = block.split_at_mut_checked(size_of::<Header>()).ok_or(LayoutError)?;
    header.fill(0);
    fence(Ordering::Release);
    rest.fill(0);
    Ok(block)
}

/// Writes the configuration and then the header, which makes the block valid.
fn begin(block: &mut [u8], kind: Kind, start: usize, config: &[u8]) -> Result {
    let mut h = Header {
        magic: MAGIC,
        byte_order: BYTE_ORDER,
        image: kind.image(),
        kind: kind as u32,
        config_size: config.len() as u32,
        size: block.len() as u64,
        check: 0,
    };
    h.check = checksum(&h, config);
    super::copy(block.get_mut(start..).ok_or(LayoutError)?, config);
    fence(Ordering::Release);
    super::copy(block, bytemuck::bytes_of(&h));
    Ok(())
}

/// Accepts a copy of a block and returns its configuration; `size_of_config` recomputes the size of a block of this
/// configuration, so that an image can never claim more than it holds. Nothing is written.
///
/// Errors: `Align`; `Size` if bytes are missing; `Image` for anything else that is wrong.
pub fn attach<C: Pod>(mem: &[u8], kind: Kind, size_of_config: impl FnOnce(&C) -> Result<usize>) -> Result<C> {
    let (_, body) = spans::<C>(&mut Plan::default())?;
    let promised = check_image(mem, kind, body.start(), size_of::<C>())?;
    let config = *super::plan::view(mem, body)?.first().ok_or(LayoutError)?;
    let size = size_of_config(&config).map_err(|e| Error { kind: ErrorKind::Image, ..e })?;
    let what = "block: the size that its configuration asks for,";
    Error::limit(ErrorKind::Image, what, size, promised as usize).fail_if(promised != size as u64)?;
    Ok(config)
}

/// Checks that the plan stored at `kept` equals `plan`, and returns `size`. Errors: `Image`.
pub fn check_plan<P: Pod>(mem: &[u8], kept: Span<P>, (plan, size): (P, usize)) -> Result<usize> {
    let kept = bytemuck::cast_slice::<P, u8>(super::plan::view(mem, kept)?);
    let damaged = Error::new(ErrorKind::Image, "block: arrays that lie where its configuration puts them");
    damaged.fail_if(kept.iter().ne(bytemuck::bytes_of(&plan)))?;
    Ok(size)
}

/// Checks a block with `config_size` bytes of configuration from `start`, and returns the size in its header.
fn check_image(mem: &[u8], kind: Kind, start: usize, config_size: usize) -> Result<u64> {
    let h = Header::read(mem, kind)?;
    let damaged = |what| Error::new(ErrorKind::Image, what);
    damaged("block: configuration bytes")
        .needed(config_size)
        .given(h.config_size as usize)
        .fail_if(h.config_size as usize != config_size)?;
    Error::limit(ErrorKind::Size, "block: at least {needed} bytes", h.size as usize, mem.len())
        .fail_if(h.size > mem.len() as u64)?;
    let config = mem.get(start..start.saturating_add(config_size)).ok_or(LayoutError)?;
    if h.check != checksum(&Header { check: 0, ..h }, config) {
        return Err(damaged("block: a header and configuration that agree with their checksum"));
    }
    mark::check_image(mem.get(MARK.start()..MARK.start().saturating_add(size_of::<u32>())).unwrap_or_default())?;
    let seal = mem.get(SEAL).unwrap_or_default();
    if seal.iter().any(|&b| b != 0) && *seal != content(mem, &h).to_ne_bytes() {
        return Err(damaged("block: bytes that agree with their seal; something in them is damaged"));
    }
    Ok(h.size)
}

/// Bytes of the seal, right behind the header; zeros in a block without one.
const SEAL: Range<usize> = size_of::<Header>()..size_of::<Header>() + size_of::<u64>();

/// Place of the mark, behind the seal.
const MARK: Span<u32> = Span::at(SEAL.end, 1);

/// Writes a checksum of all bytes of a learner or a policy into the block; `attach` compares it from then on. Calls that cut
/// the block for a change remove the seal, so that it is never stale.
///
/// Errors: `Align`; `Size` if bytes are missing; `Image` for a block of another kind, or a damaged header. Nothing changes then.
pub fn seal(mem: &mut [u8]) -> Result {
    let h = Header::of_any_kind(mem)?;
    let kind = [Kind::Learner, Kind::Policy].into_iter().find(|&kind| h.kind == kind as u32);
    let what = "block: a learner or a policy to seal, kind 2 or 3";
    let kind = kind.ok_or(Error::new(ErrorKind::Image, what).given(h.kind as usize))?;
    let (_, body) = spans::<u8>(&mut Plan::default())?;
    check_image(mem, kind, body.start(), h.config_size as usize)?;
    put_seal(mem, &h);
    Ok(())
}

/// [`seal`] for a new block that is marked as changing, whose mark is then cleared: it is complete only with its seal.
pub fn seal_new(mem: &mut [u8]) -> Result {
    let h = Header::of_any_kind(mem)?;
    put_seal(mem, &h);
    Ok(end_mark(mem)?)
}

fn put_seal(mem: &mut [u8], h: &Header) {
    let sum = content(mem, h).to_ne_bytes();
    super::copy(mem.get_mut(SEAL).unwrap_or_default(), &sum);
}

/// Removes the seal, if there is one, before a block is changed.
pub fn unseal(mem: &mut [u8]) {
    mem.get_mut(SEAL).unwrap_or_default().fill(0);
}

/// The expected seal of a block, never 0: FNV-1a over all its bytes but the seal's own, with the mark as cleared; every flipped
/// byte changes it.
fn content(mem: &[u8], h: &Header) -> u64 {
    let cleared = [0; size_of::<u32>()];
    let rest = mem.get(SEAL.end.saturating_add(cleared.len())..h.size as usize).unwrap_or_default();
    let state = hash(HASH_START, mem.get(..SEAL.start).unwrap_or_default());
    hash(hash(state, &cleared), rest).max(1)
}

/// Clears the mark of a new block, which is complete now.
pub fn end_mark(mem: &mut [u8]) -> Fit<()> {
    Mark::new(Cutter::new(mem).take(MARK)?.first_mut().ok_or(LayoutError)?).end();
    Ok(())
}

/// The configuration of a block that `create` or `attach` has accepted; only the header is checked again.
pub fn config<C: Pod>(mem: &[u8], kind: Kind) -> Result<&C> {
    Header::size_of(mem, kind)?;
    let (_, body) = spans::<C>(&mut Plan::default())?;
    Ok(super::plan::view(mem, body)?.first().ok_or(LayoutError)?)
}

/// The configuration of an accepted block, and a cutter for the fields behind it.
pub fn cut_config<C: Pod>(mem: &mut [u8]) -> Fit<(&C, Cutter<'_>)> {
    let (_, body) = spans::<C>(&mut Plan::default()).map_err(|_| LayoutError)?;
    let mut cut = Cutter::new(mem);
    let config: &C = cut.take(body)?.first().ok_or(LayoutError)?;
    Ok((config, cut))
}

/// As [`cut_config`], with the mark, for a block whose calls mark their changes.
pub fn cut_marked<C: Pod>(mem: &mut [u8]) -> Fit<(Mark<'_>, &C, Cutter<'_>)> {
    let (_, body) = spans::<C>(&mut Plan::default()).map_err(|_| LayoutError)?;
    let mut cut = Cutter::new(mem);
    let mark = Mark::new(cut.take(MARK)?.first_mut().ok_or(LayoutError)?);
    let config: &C = cut.take(body)?.first().ok_or(LayoutError)?;
    Ok((mark, config, cut))
}

fn check_align(mem: &[u8]) -> Result {
    let off = mem.as_ptr() as usize % BLOCK_ALIGN;
    if off == 0 {
        Ok(())
    } else {
        Err(Error::limit(
            ErrorKind::Align,
            "block: misaligned by {given} bytes; a multiple of {needed} is required.",
            BLOCK_ALIGN,
            off,
        ))
    }
}

/// FNV-1a over the header (with `check` zero) and the configuration: every flipped byte changes it.
fn checksum(h: &Header, config: &[u8]) -> u64 {
    hash(hash(HASH_START, bytemuck::bytes_of(h)), config)
}

/// Initial state of [`hash`].
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bits, continued from `state`: identifies a state in a log or compares two, and guards against accidents, not
/// against attackers.
///
/// ```
/// use rlcore::block::{HASH_START, hash};
///
/// let whole = hash(HASH_START, b"state");
/// assert_eq!(hash(hash(HASH_START, b"sta"), b"te"), whole); // piece by piece
/// ```
pub fn hash(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}
