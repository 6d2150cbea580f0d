//! Plans of arbitrary blocks: fields aligned, disjoint and within the block, sizes exact, cuts in the planned order only, and
//! overflow refused. The expected plan is computed in 128-bit numbers.

use bytemuck::{Pod, Zeroable};
use proptest::prelude::*;
use rlcore::block::{self, BLOCK_ALIGN, Cutter, FIELD_ALIGN, Kind, LayoutError, Plan, Span, TooLong};
use rlcore::error::{Kind as ErrorKind, Result};

/// A field of any of the element types in blocks.
#[derive(Clone, Copy, Debug)]
enum Field {
    Bytes(Span<u8>),
    Words(Span<u32>),
    Floats(Span<f32>),
    Longs(Span<u64>),
    Pairs(Span<[u64; 4]>),
}

const SIZES: [usize; 5] = [1, 4, 4, 8, 32];

fn span(plan: &mut Plan, kind: usize, rows: usize, width: usize) -> std::result::Result<Field, TooLong> {
    // Width 1 takes `span`, as most fields do.
    Ok(match (kind, width) {
        (0, 1) => Field::Bytes(plan.span(rows)?),
        (1, 1) => Field::Words(plan.span(rows)?),
        (2, 1) => Field::Floats(plan.span(rows)?),
        (3, 1) => Field::Longs(plan.span(rows)?),
        (4, 1) => Field::Pairs(plan.span(rows)?),
        (0, _) => Field::Bytes(plan.grid(rows, width)?),
        (1, _) => Field::Words(plan.grid(rows, width)?),
        (2, _) => Field::Floats(plan.grid(rows, width)?),
        (3, _) => Field::Longs(plan.grid(rows, width)?),
        _ => Field::Pairs(plan.grid(rows, width)?),
    })
}

impl Field {
    /// First byte and number of elements.
    fn place(&self) -> (usize, usize) {
        match self {
            Field::Bytes(s) => (s.start(), s.len()),
            Field::Words(s) => (s.start(), s.len()),
            Field::Floats(s) => (s.start(), s.len()),
            Field::Longs(s) => (s.start(), s.len()),
            Field::Pairs(s) => (s.start(), s.len()),
        }
    }

    /// Fills the field with one byte; returns its address and size in bytes.
    fn fill(&self, cut: &mut Cutter<'_>, with: u8) -> std::result::Result<(usize, usize), LayoutError> {
        fn fill<T: Pod>(field: &mut [T], with: u8) -> (usize, usize) {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(field);
            bytes.fill(with);
            (bytes.as_ptr().addr(), bytes.len())
        }
        Ok(match *self {
            Field::Bytes(s) => fill(cut.take(s)?, with),
            Field::Words(s) => fill(cut.take(s)?, with),
            Field::Floats(s) => fill(cut.take(s)?, with),
            Field::Longs(s) => fill(cut.take(s)?, with),
            Field::Pairs(s) => fill(cut.take(s)?, with),
        })
    }

    fn view<'a>(&self, mem: &'a [u8]) -> std::result::Result<&'a [u8], LayoutError> {
        Ok(match *self {
            Field::Bytes(s) => block::view(mem, s)?,
            Field::Words(s) => bytemuck::cast_slice(block::view(mem, s)?),
            Field::Floats(s) => bytemuck::cast_slice(block::view(mem, s)?),
            Field::Longs(s) => bytemuck::cast_slice(block::view(mem, s)?),
            Field::Pairs(s) => bytemuck::cast_slice(block::view(mem, s)?),
        })
    }
}

/// A configuration of a block with this many bytes and words.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Config {
    bytes: u64,
    words: u64,
}

fn fields(config: &Config) -> Result<(Span<u8>, Span<u64>, usize)> {
    let mut plan = Plan::default();
    block::spans::<Config>(&mut plan)?;
    let (bytes, words) = (plan.span(config.bytes as usize)?, plan.span(config.words as usize)?);
    Ok((bytes, words, plan.size()?))
}

/// Ordinary lengths, and lengths at which sums and products of `usize` overflow.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..5_000,
        1 => (0u32..usize::BITS, 0usize..130).prop_map(|(bits, off)| (usize::MAX >> bits).wrapping_sub(off)),
        1 => (0u32..usize::BITS, 0usize..130).prop_map(|(bits, off)| (1usize << bits).wrapping_add(off)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn fields_are_aligned_apart_and_cut_as_they_were_walked(
        wanted in prop::collection::vec((0usize..5, 0usize..90, 1usize..4), 1..12), left_out: u16
    ) {
        let mut plan = Plan::default();
        let all: Vec<Field> =
            wanted.iter().map(|&(kind, rows, width)| span(&mut plan, kind, rows, width).unwrap()).collect();
        let size = plan.size().unwrap();
        let mut end = 0;
        for (field, &(kind, rows, width)) in all.iter().zip(&wanted) {
            let (start, len) = field.place();
            prop_assert_eq!((start % FIELD_ALIGN, len), (0, rows * width));
            prop_assert!(end <= start && start < end + FIELD_ALIGN, "apart, with the least gap");
            end = start + len * SIZES[kind];
        }
        prop_assert!(size.is_multiple_of(FIELD_ALIGN) && end <= size && size < end + FIELD_ALIGN, "exact");

        // In a block of the least alignment allowed, with some fields left out.
        let mut words = vec![0u64; size / 8 + 1];
        let off = (bytemuck::cast_slice::<u64, u8>(&words).as_ptr().addr() + BLOCK_ALIGN) % FIELD_ALIGN;
        prop_assert_eq!(off % BLOCK_ALIGN, 0);
        let mem: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut words)[BLOCK_ALIGN..];
        let base = mem.as_ptr().addr();
        let mut cut = Cutter::new(mem);
        let taken = |i: usize| left_out >> i & 1 == 0;
        for (i, field) in all.iter().enumerate().filter(|(i, _)| taken(*i)) {
            let (start, len) = field.fill(&mut cut, i as u8 + 1).unwrap();
            prop_assert_eq!((start - base, len), (field.place().0, field.place().1 * SIZES[wanted[i].0]));
        }
        let mut filled = 0;
        for (i, field) in all.iter().enumerate() {
            let bytes = field.view(mem).unwrap();
            let with = if taken(i) { i as u8 + 1 } else { 0 };
            prop_assert!(bytes.iter().all(|&b| b == with), "no field wrote into another");
            filled += if taken(i) { bytes.len() } else { 0 };
        }
        prop_assert_eq!(mem.iter().filter(|&&b| b != 0).count(), filled, "gaps stay as they were");

        // A block one byte too short for the last field, and fields out of the planned order.
        let last = all.last().unwrap();
        if last.place().1 > 0 {
            prop_assert_eq!(last.fill(&mut Cutter::new(&mut mem[..end - 1]), 1), Err(LayoutError));
            prop_assert_eq!(last.view(&mem[..end - 1]), Err(LayoutError));
        }
        let mut cut = Cutter::new(mem);
        last.fill(&mut cut, 1).unwrap();
        if all[0].place() != last.place() && end > 0 {
            prop_assert_eq!(all[0].fill(&mut cut, 1), Err(LayoutError), "taken twice or backwards");
        }
    }

    #[test]
    fn what_overflows_is_too_long_and_nothing_else_is(
        wanted in prop::collection::vec((0usize..5, length(), prop_oneof![2 => Just(1usize), 1 => length()]), 1..8)
    ) {
        let (mut plan, mut end) = (Plan::default(), 0u128);
        for (kind, rows, width) in wanted {
            let len = rows as u128 * width as u128;
            let start = end.next_multiple_of(FIELD_ALIGN as u128);
            let ours = start.saturating_add(len.saturating_mul(SIZES[kind] as u128));
            let theirs = span(&mut plan, kind, rows, width);
            if ours > isize::MAX as u128 {
                prop_assert_eq!(theirs.err(), Some(TooLong));
                break;
            }
            prop_assert_eq!(theirs.unwrap().place(), (start as usize, len as usize));
            end = ours;
            // Rounding up to `FIELD_ALIGN` fits, too.
            prop_assert_eq!(plan.size().unwrap() as u128, end.next_multiple_of(FIELD_ALIGN as u128));
        }
    }

    #[test]
    fn a_block_is_attached_as_it_was_made_wherever_it_is_copied(
        bytes in 0u64..300, words in 0u64..90, more in 0usize..100, flip: u32, bit in 0u32..8
    ) {
        let config = Config { bytes, words };
        let (first, second, size) = fields(&config).unwrap();
        let mut memory = vec![u64::MAX; size / 8 + 16];
        let mem = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut memory)[..size + more];
        let made = block::create(mem, Kind::Queue, size, &config).unwrap();
        prop_assert_eq!(made.len(), size);
        prop_assert!(block::view(made, first).unwrap().iter().all(|&x| x == 0));
        prop_assert!(block::view(made, second).unwrap().iter().all(|&x| x == 0));
        let image = made.to_vec();
        prop_assert!(mem[size..].iter().all(|&b| b == 0xFF), "not a byte beyond");

        let of = |config: &Config| Ok(fields(config)?.2);
        let mut copy = vec![0u64; size / 8 + 1];
        let copy = bytemuck::cast_slice_mut::<u64, u8>(&mut copy);
        copy[8..].copy_from_slice(&image);
        prop_assert_eq!(block::attach(&copy[8..], Kind::Queue, of).unwrap(), config);
        prop_assert_eq!(*block::config::<Config>(&copy[8..], Kind::Queue).unwrap(), config);
        prop_assert_eq!(block::attach(&copy[8..8 + size - 1], Kind::Queue, of).unwrap_err().kind, ErrorKind::Size);
        prop_assert_eq!(block::attach(&copy[8..], Kind::Memory, of).unwrap_err().kind, ErrorKind::Image);
        prop_assert_eq!(block::attach(&copy[7..], Kind::Queue, of).unwrap_err().kind, ErrorKind::Align);

        // A flipped bit of the header or the configuration. The size it then states may exceed the memory.
        let (header, body) = block::spans::<Config>(&mut Plan::default()).unwrap();
        let sealed: Vec<usize> = (0..size_of::<block::Header>())
            .chain(body.start()..body.start() + size_of::<Config>())
            .collect();
        prop_assert_eq!(header.start(), 0);
        copy[8 + sealed[flip as usize % sealed.len()]] ^= 1 << bit;
        let kind = block::attach(&copy[8..], Kind::Queue, of).unwrap_err().kind;
        prop_assert!(matches!(kind, ErrorKind::Image | ErrorKind::Size), "{kind:?}");
    }
}
