//! Queues against a `VecDeque`, with threads at both ends, and with damaged words.

use proptest::prelude::*;
use rlcore::block;
use rlcore::data::queue::{self, Queue, QueueConfig};
use rlcore::error::Kind;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

fn words(config: &QueueConfig) -> Vec<AtomicU32> {
    let (spans, size) = queue::spans(config).unwrap();
    let mut mem = vec![0u64; size / 8];
    queue::init(bytemuck::cast_slice_mut(&mut mem), config).unwrap();
    let words: &[u32] = block::view(bytemuck::cast_slice(&mem), spans.words).unwrap();
    words.iter().map(|word| AtomicU32::new(*word)).collect()
}

/// Advances a fresh queue, as if `count` items had gone through it.
fn age(config: &QueueConfig, words: &[AtomicU32], count: u32) {
    for word in words.iter().take(32) {
        word.store(0, Ordering::Relaxed);
    }
    words[0].store(count, Ordering::Relaxed);
    words[16].store(count, Ordering::Relaxed);
    for (i, word) in (0..config.capacity).zip(&words[32..]) {
        let ahead = i.wrapping_sub(count) % config.capacity;
        word.store(count.wrapping_add(ahead), Ordering::Relaxed);
    }
}

proptest! {
    #[test]
    fn first_in_first_out(
        bits in 1u32..5, item_size in 1u32..100, start in prop_oneof![Just(0u32), Just(u32::MAX - 20), any::<u32>()],
        program in prop::collection::vec((any::<bool>(), 0usize..110), 1..200),
    ) {
        let config = QueueConfig { capacity: 1 << bits, item_size };
        let words = words(&config);
        age(&config, &words, start);
        let queue = Queue::over(config, &words).unwrap();
        let mut model = VecDeque::new();
        let mut items = vec![0; config.capacity as usize];
        for (i, (push, size)) in program.into_iter().enumerate() {
            if push {
                match queue.reserve(size) {
                    Ok(slot) => {
                        prop_assert!(size >= 1 && size <= item_size as usize && model.len() < items.len());
                        items[slot.index()] = i;
                        queue.publish(slot);
                        model.push_back((i, size));
                    }
                    Err(e) if e.kind == Kind::Range => prop_assert!(size == 0 || size > item_size as usize),
                    Err(e) => prop_assert!(e.kind == Kind::Busy && model.len() == items.len()),
                }
            } else {
                match (queue.claim(size), model.front()) {
                    (Ok((slot, len)), Some(front)) => {
                        prop_assert_eq!((items[slot.index()], len), *front);
                        prop_assert!(len <= size);
                        queue.release(slot);
                        model.pop_front();
                    }
                    (Err(e), Some((_, len))) => prop_assert!(e.kind == Kind::Size && *len > size),
                    (Err(e), None) => prop_assert_eq!(e.kind, Kind::NotReady),
                    (Ok(_), None) => prop_assert!(false, "an item out of nothing"),
                }
            }
            prop_assert_eq!((queue.len() as usize, queue.is_empty()), (model.len(), model.is_empty()));
        }
    }
}

#[test]
fn threads_put_and_take_everything_once_and_in_order() {
    const EACH: u64 = 20_000;
    let config = QueueConfig { capacity: 8, item_size: 8 };
    let words = words(&config);
    age(&config, &words, u32::MAX - 30_000);
    let queue = Queue::over(config, &words).unwrap();
    let items: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
    let total = AtomicU64::new(0);
    let taken: Vec<Vec<u64>> = thread::scope(|scope| {
        for producer in 0..3u64 {
            let (queue, items) = (&queue, &items);
            scope.spawn(move || {
                for i in 0..EACH {
                    let slot = loop {
                        match queue.reserve(8) {
                            Ok(slot) => break slot,
                            Err(e) => assert_eq!(e.kind, Kind::Busy, "{e}"),
                        }
                        thread::yield_now();
                    };
                    // Relaxed: the publication makes it visible.
                    items[slot.index()].store(producer * EACH + i, Ordering::Relaxed);
                    queue.publish(slot);
                }
            });
        }
        let consumers: Vec<_> = (0..2)
            .map(|_| {
                let (queue, items, total) = (&queue, &items, &total);
                scope.spawn(move || {
                    let mut taken = Vec::new();
                    while total.load(Ordering::Relaxed) < 3 * EACH {
                        match queue.claim(8) {
                            Ok((slot, _)) => {
                                taken.push(items[slot.index()].load(Ordering::Relaxed));
                                queue.release(slot);
                                total.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(e) => {
                                assert_eq!(e.kind, Kind::NotReady, "{e}");
                                thread::yield_now();
                            }
                        }
                    }
                    taken
                })
            })
            .collect();
        consumers.into_iter().map(|consumer| consumer.join().unwrap()).collect()
    });
    for taken in &taken {
        for producer in 0..3 {
            let own: Vec<u64> = taken.iter().copied().filter(|x| x / EACH == producer).collect();
            assert!(own.is_sorted(), "each consumer sees a producer's items in their order");
        }
    }
    let mut all: Vec<u64> = taken.concat();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..3 * EACH), "every item once");
}

#[test]
fn damaged_words_are_refused_and_nobody_hangs() {
    let config = QueueConfig { capacity: 4, item_size: 16 };
    let fresh = || {
        let words = words(&config);
        let queue = Queue::over(config, &words).unwrap();
        for size in [3, 5] {
            queue.publish(queue.reserve(size).unwrap());
        }
        words
    };
    let count = config.num_words();
    for i in 0..count {
        for value in [0, 1, 2, 3, 4, 7, 17, 1 << 31, u32::MAX] {
            let words = fresh();
            words[i].store(value, Ordering::Relaxed);
            let queue = Queue::over(config, &words).unwrap();
            for _ in 0..6 {
                // Every call returns, and no slot lies outside the queue.
                if let Ok(slot) = queue.reserve(4) {
                    assert!(slot.index() < 4);
                    queue.publish(slot);
                }
                if let Ok((slot, size)) = queue.claim(16) {
                    assert!(slot.index() < 4 && size <= 16);
                    queue.release(slot);
                }
            }
        }
    }
    let words = fresh();
    words[32 + 4].store(17, Ordering::Relaxed);
    assert_eq!(Queue::over(config, &words).unwrap().claim(100).unwrap_err().kind, Kind::Image);
    let words = fresh();
    words[32].store(2, Ordering::Relaxed);
    assert_eq!(Queue::over(config, &words).unwrap().claim(16).unwrap_err().kind, Kind::Image);
    assert_eq!(Queue::over(config, &words[1..]).unwrap_err().kind, Kind::Shape);
}

#[test]
fn configurations_and_images() {
    let mut mem = vec![0xAAAA_AAAA_AAAA_AAAAu64; 100];
    for (capacity, item_size) in [(0, 1), (1, 1), (3, 1), (1 << 31, 1), (u32::MAX, 1), (2, 0)] {
        let config = QueueConfig { capacity, item_size };
        let error = queue::init(bytemuck::cast_slice_mut(&mut mem), &config).unwrap_err();
        assert_eq!(error.kind, Kind::Config, "{error}");
    }
    let config = QueueConfig { capacity: 2, item_size: 9 };
    let (_, size) = queue::spans(&config).unwrap();
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut mem);
    assert_eq!(queue::init(&mut bytes[..size - 1], &config).unwrap_err().kind, Kind::Size);
    assert!(bytes.iter().all(|b| *b == 0xAA));
    queue::init(bytes, &config).unwrap();
    assert_eq!((queue::attach(bytes), QueueConfig::read(&bytes[..QueueConfig::END])), (Ok(()), Ok(config)));
    assert_eq!(QueueConfig::read(&bytes[..QueueConfig::END - 1]).unwrap_err().kind, Kind::Size);
    assert_eq!(queue::attach(&bytes[..size - 1]).unwrap_err().kind, Kind::Size);
    for i in 0..QueueConfig::END {
        let was = bytes[i];
        bytes[i] ^= 1;
        let padding = (52..64).contains(&i);
        assert_eq!(queue::attach(bytes).is_ok(), padding, "byte {i}");
        bytes[i] = was;
    }
}
