//! Bounded queue in shared memory, e.g. of trajectories for a learner.

use core::ffi::c_void;

use crate::lifecycle::{self, Place};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, Extent, Input, One, Output};
use crate::status::{Result, call, rlcore_status};
use rlcore::data::queue::{self, Queue, QueueConfig, Spans};

/// A bounded FIFO queue in memory that any number of threads or processes share. push and pop may be called concurrently
/// and do not block; the caller decides how to retry. If a process dies inside push or pop, its slot stays taken: stop all
/// users and call init again.
/// Example:
///   rlcore_queue_config_init(&config, sizeof config);
///   config.capacity = 64, config.item_size = sizeof item;
///   rlcore_queue_size(&config, &size);
///   rlcore_queue_init(mem, size, &config, &q);
///   rlcore_queue_push(q, &item, sizeof item);            // E_BUSY: full
///   rlcore_queue_pop(q, &item, sizeof item, &size);      // E_NOT_READY: empty
pub struct rlcore_queue;

/// Configuration of a queue.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_queue_config {
    /// bytes; set by rlcore_queue_config_init
    pub struct_size: u32,
    /// maximum number of items, a power of two from 2 to 2^30; default 16
    pub capacity: u32,
    /// bytes of the largest item, at least 1; default 1 MiB
    pub item_size: u32,
    /// zero
    pub reserved: u32,
}

versioned!(rlcore_queue_config, "queue config", reserved, QueueConfig::default().into());
mirror!(rlcore_queue_config, QueueConfig { capacity, item_size });

unsafe fn config(p: *const rlcore_queue_config) -> Result<QueueConfig> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("queue config: reserved", c.reserved)?;
    Ok(c.into())
}

/// A block that `init` or `attach` accepted. Only its header and configuration are read, which no call writes.
struct Block {
    base: *mut u8,
    extent: Extent,
    config: QueueConfig,
    spans: Spans,
}

impl Block {
    /// Errors: `Null`, `Align`, `Image`.
    unsafe fn at(p: *const rlcore_queue) -> Result<Block> {
        let base: *const u8 = p.cast();
        let config = QueueConfig::read(unsafe { Input::at("queue", base, QueueConfig::END)? }.slice())?;
        let (spans, size) = queue::spans(&config)?;
        Ok(Block { base: base.cast_mut(), extent: Extent::of("queue", base, size), config, spans })
    }

    unsafe fn queue<'a>(&self) -> Result<Queue<'a>> {
        Ok(Queue::over(self.config, unsafe { ptr::atomics(self.base, self.spans.words) })?)
    }

    /// # Safety
    /// The slot belongs to the caller.
    unsafe fn item<'a>(&self, index: usize, size: usize) -> &'a mut [u8] {
        let width = self.config.item_size as usize;
        unsafe { ptr::field_mut(self.base, self.spans.items, index.saturating_mul(width), size.min(width)) }
    }
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_config_init(
    config: *mut rlcore_queue_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_size(config: *const rlcore_queue_config, out_size: *mut usize) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(queue::spans(&self::config(config)?)?.1)) })
}

/// Creates an empty queue in mem. mem must remain valid until no process is in a call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_queue_config,
    out: *mut *mut rlcore_queue,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), queue::init) })
}

/// Opens a queue that another process created in this memory, or a copy made while no process was in a call.
/// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or a damaged header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_queue,
) -> rlcore_status {
    // Other processes may be inside a call.
    unsafe { lifecycle::attach_reader(mem, mem_size, out.cast::<*const rlcore_queue>(), queue::attach) }
}

/// Appends an item. item: [size] bytes, copied; size is 1 to item_size.
/// Errors: E_RANGE for size; E_BUSY if the queue is full.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_push(q: *mut rlcore_queue, item: *const c_void, size: usize) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(q)?;
        let item = Input::<u8>::at("queue: item", item.cast(), size)?;
        let item = block.extent.writing(item)?;
        let queue = block.queue()?;
        let slot = queue.reserve(size)?;
        rlcore::block::copy(block.item(slot.index(), size), item);
        queue.publish(slot);
        Ok(())
    })
}

/// Removes the oldest item. item: [room] bytes to write, as many as the item has; out_size: its size.
/// Errors: E_NOT_READY if the queue is empty; E_SIZE if the item is larger than room: it stays in the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_pop(
    q: *mut rlcore_queue,
    item: *mut c_void,
    room: usize,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(q)?;
        let item = Output::<u8>::at("queue: item", item.cast(), room)?;
        let (item, out_size) = block.extent.reading((item, One::at("queue: out_size", out_size)?))?;
        let queue = block.queue()?;
        let (slot, size) = queue.claim(room)?;
        rlcore::block::copy(item, block.item(slot.index(), size));
        queue.release(slot);
        *out_size = size;
        Ok(())
    })
}

/// Number of items in the queue at one moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_queue_len(q: *const rlcore_queue, out_len: *mut u32) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(q)?;
        let out = block.extent.reading(One::at("queue: out_len", out_len)?)?;
        *out = block.queue()?.len();
        Ok(())
    })
}
