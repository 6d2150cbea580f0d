//! Items that wait for a learner, first in, first out: any number of threads or processes may put and take concurrently.
//!
//! Each slot has a turn word: the place of the next item to be put there, or that place plus 1 while the item is there (D.
//! Vyukov's bounded queue). The caller that advances `tail` by one owns the slot until its item is [`Queue::publish`]ed, the
//! caller that advances `head` until it is [`Queue::release`]d; no call ever waits. The bytes of the items belong to the owner of
//! their slot: this file only tracks ownership.

use bytemuck::{Pod, Zeroable};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::block::{self, Cutter, Plan, fields};
use crate::cpu;
use crate::error::{Error, Kind, Result};

/// Configuration of a queue, stored in the block beside the header and never written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct QueueConfig {
    /// Most items held: a power of two from 2 to 2^30.
    pub capacity: u32,
    /// Bytes of the largest item, at least 1.
    pub item_size: u32,
}

impl Default for QueueConfig {
    fn default() -> Self {
        QueueConfig { capacity: 16, item_size: 1 << 20 }
    }
}

/// Words before those of the slots: `head` and `tail`, each in a cache line of its own.
const FIRST_SLOT: usize = 32;
const TAIL: usize = 16;

impl QueueConfig {
    /// Bytes from the base of a block to the end of its configuration, which determine the layout.
    pub const END: usize = block::FIELD_ALIGN + size_of::<QueueConfig>();

    /// Reads the configuration from the first [`QueueConfig::END`] bytes of a block that `init` or `attach` accepted.
    /// Errors: `Align`, `Size`, `Image`.
    pub fn read(mem: &[u8]) -> Result<QueueConfig> {
        Ok(*block::config(mem, block::Kind::Queue)?)
    }

    /// Atomic words that a queue needs.
    pub fn num_words(&self) -> usize {
        (self.capacity as usize).saturating_mul(2).saturating_add(FIRST_SLOT)
    }

    fn check(&self) -> Result {
        let what = "queue config: capacity of a power of two from 2 to 2^30, not";
        Error::new(Kind::Config, what)
            .given(self.capacity as usize)
            .fail_if(!self.capacity.is_power_of_two() || !(2..=1 << 30).contains(&self.capacity))?;
        Error::limit(Kind::Config, "queue config: item_size of at least", 1, 0).fail_if(self.item_size == 0)
    }
}

fields! {
    /// Places of the fields of a block, behind its configuration.
    pub spans Spans(config: &QueueConfig) {
        /// `[num_words]` see [`Queue::over`].
        pub words: [u32] = config.num_words(),
        /// `[capacity, item_size]` bytes.
        pub items: [u8] = (config.capacity as usize).saturating_mul(config.item_size as usize),
    }
}

/// The layout, defined only here: the fields and the bytes of the whole block.
pub fn spans(config: &QueueConfig) -> Result<(Spans, usize)> {
    config.check()?;
    let mut plan = Plan::default();
    block::spans::<QueueConfig>(&mut plan)?;
    Ok((Spans::plan(&mut plan, config)?, plan.size()?))
}

/// Initializes an empty queue in the caller's block. Errors: `Config`, `Overflow`, `Align`, `Size`; then nothing is written.
pub fn init(mem: &mut [u8], config: &QueueConfig) -> Result {
    let (spans, size) = spans(config)?;
    let block = block::create(mem, block::Kind::Queue, size, config)?;
    let words = Cutter::new(block).take(spans.words)?;
    for (word, place) in words.iter_mut().skip(FIRST_SLOT).zip(0..config.capacity) {
        *word = place;
    }
    Ok(())
}

/// Accepts a copy of a queue, or a queue in use. Errors: `Align`, `Size`, `Image`.
pub fn attach(mem: &[u8]) -> Result {
    block::attach(mem, block::Kind::Queue, |config: &QueueConfig| Ok(spans(config)?.1))?;
    Ok(())
}

/// An item's slot, owned by whoever reserved or claimed it.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot {
    place: u32,
    index: usize,
}

impl Slot {
    /// Index of the slot, below `capacity`.
    pub fn index(&self) -> usize {
        self.index
    }
}

/// Ownership of the slots.
///
/// ```
/// use core::sync::atomic::AtomicU32;
/// use rlcore::data::queue::{Queue, QueueConfig};
///
/// # fn main() -> rlcore::error::Result {
/// // In a block the words and the items lie side by side; here they are apart. A slot's first word is its place.
/// let config = QueueConfig { capacity: 4, item_size: 8 };
/// let words: Vec<AtomicU32> = (0..config.num_words() as u32).map(|i| AtomicU32::new(i.saturating_sub(32) % 4)).collect();
/// let queue = Queue::over(config, &words)?;
/// let mut items = [[0u8; 8]; 4];
///
/// let slot = queue.reserve(3)?; // any thread
/// items[slot.index()][..3].copy_from_slice(b"abc");
/// queue.publish(slot);
///
/// let (slot, size) = queue.claim(8)?; // any other
/// assert_eq!(&items[slot.index()][..size], b"abc");
/// queue.release(slot);
/// assert!(queue.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Queue<'a> {
    config: QueueConfig,
    head: &'a AtomicU32,
    tail: &'a AtomicU32,
    turns: &'a [AtomicU32],
    sizes: &'a [AtomicU32],
}

impl<'a> Queue<'a> {
    /// A queue over `[num_words]` words, laid out by [`init`]. Errors: `Config`, `Shape`.
    pub fn over(config: QueueConfig, words: &'a [AtomicU32]) -> Result<Self> {
        config.check()?;
        let shape = Error::limit(Kind::Shape, "queue: words", config.num_words(), words.len());
        shape.fail_if(words.len() != config.num_words())?;
        let (counters, slots) = words.split_at_checked(FIRST_SLOT).ok_or(shape)?;
        let (turns, sizes) = slots.split_at_checked(config.capacity as usize).ok_or(shape)?;
        let (head, tail) = (counters.first().ok_or(shape)?, counters.get(TAIL).ok_or(shape)?);
        Ok(Queue { config, head, tail, turns, sizes })
    }

    /// Items in the queue or being put: a momentary count if others use the queue.
    pub fn len(&self) -> u32 {
        let head = self.head.load(Ordering::Acquire);
        self.tail.load(Ordering::Acquire).wrapping_sub(head).min(self.config.capacity)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reserves a slot for an item of `size` bytes, which no other caller accesses until it is published.
    /// Errors: `Range` for a size of 0 or above `item_size`; `Busy` if the queue is full.
    pub fn reserve(&self, size: usize) -> Result<Slot> {
        let most = self.config.item_size as usize;
        let what = "queue: bytes of an item, from 1 to";
        Error::limit(Kind::Range, what, most, size).fail_if(size == 0 || size > most)?;
        let full = Error::new(Kind::Busy, "queue: room; it is full with").given(self.config.capacity as usize);
        loop {
            let slot = self.due(self.tail, 0)?.ok_or(full)?;
            if self.advance(self.tail, &slot) {
                self.sizes.get(slot.index).ok_or(DAMAGED)?.store(size as u32, Ordering::Relaxed);
                return Ok(slot);
            }
        }
    }

    /// Makes the item in a reserved slot available to others.
    pub fn publish(&self, slot: Slot) {
        self.pass(slot, 1);
    }

    /// Takes the oldest item, if it has at most `room` bytes: its slot, which no other caller accesses until it is released, and
    /// its bytes. Errors: `NotReady` if the queue is empty; `Size`; `Image` for a damaged size.
    pub fn claim(&self, room: usize) -> Result<(Slot, usize)> {
        loop {
            let slot = self.due(self.head, 1)?.ok_or(Error::new(Kind::NotReady, "queue: an item; none waits"))?;
            let size = self.sizes.get(slot.index).ok_or(DAMAGED)?.load(Ordering::Relaxed) as usize;
            let fits = size <= room && size <= self.config.item_size as usize;
            // If no other caller was faster, the size belongs to this item.
            if fits && self.advance(self.head, &slot) {
                return Ok((slot, size));
            }
            if !fits && self.head.load(Ordering::Acquire) == slot.place {
                let short = Error::limit(Kind::Size, "queue: room for an item of bytes,", size, room);
                return Err(if size > self.config.item_size as usize { DAMAGED } else { short });
            }
        }
    }

    /// Gives a claimed slot back, for another item.
    pub fn release(&self, slot: Slot) {
        self.pass(slot, self.config.capacity);
    }

    /// The slot that a counter points at, if its turn word is the counter plus `by`. Errors: `Image`.
    fn due(&self, counter: &AtomicU32, by: u32) -> Result<Option<Slot>> {
        loop {
            let place = counter.load(Ordering::Acquire);
            let slot = Slot { place, index: (place & self.config.capacity.wrapping_sub(1)) as usize };
            let turn = self.turns.get(slot.index).ok_or(DAMAGED)?.load(Ordering::Acquire);
            match turn.wrapping_sub(place.wrapping_add(by)).cast_signed() {
                0 => return Ok(Some(slot)),
                ..0 => return Ok(None),
                // Another caller was faster and has advanced the counter.
                _ if counter.load(Ordering::Acquire) != place => {}
                _ => return Err(DAMAGED),
            }
        }
    }

    fn advance(&self, counter: &AtomicU32, slot: &Slot) -> bool {
        cpu::exchange(counter, slot.place, slot.place.wrapping_add(1), Ordering::AcqRel)
    }

    fn pass(&self, slot: Slot, by: u32) {
        if let Some(turn) = self.turns.get(slot.index) {
            turn.store(slot.place.wrapping_add(by), Ordering::Release);
        }
    }
}

const DAMAGED: Error = Error::new(Kind::Image, "queue: turns and sizes that a queue can have; these are damaged");
