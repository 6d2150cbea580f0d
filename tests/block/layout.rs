//! Block layout, apart from any object: header fields, refusals and their messages, plans and their limits.

use bytemuck::{cast_slice, cast_slice_mut};
use rlcore::block::{
    BLOCK_ALIGN, Cutter, FIELD_ALIGN, HASH_START, Header, IMAGE, Kind, LayoutError, Plan, Span, TooLong, attach,
    config, copy, create, create_marked, cut_marked, end_mark, hash, rows, rows_mut, seal, spans, unseal, view,
};
use rlcore::error::{Error, Given, Kind as ErrorKind};

/// Two words of configuration; the second is the number of floats that follow.
type Config = [u32; 2];
const CONFIG: Config = [7, 9];
const KIND: Kind = Kind::Queue;

/// Byte offsets of the header fields in an image.
const MAGIC: usize = 0;
const BYTE_ORDER: usize = 8;
const VERSION: usize = 12;
const KIND_AT: usize = 16;
const CONFIG_SIZE: usize = 20;
const SIZE: usize = 24;
const CHECK: usize = 32;

fn size_of(config: &Config) -> Result<usize, Error> {
    let mut plan = Plan::default();
    spans::<Config>(&mut plan)?;
    plan.span::<f32>(config[1] as usize)?;
    Ok(plan.size()?)
}

/// A block and eight words after it.
fn block() -> [u64; 32] {
    let mut words = [u64::MAX; 32];
    let size = size_of(&CONFIG).unwrap();
    assert_eq!(create(cast_slice_mut(&mut words), KIND, size, &CONFIG).unwrap().len(), size);
    words
}

/// A block of this kind with a number in its last word.
fn block_of(kind: Kind) -> [u64; 32] {
    let mut words = [u64::MAX; 32];
    let size = size_of(&CONFIG).unwrap();
    create(cast_slice_mut(&mut words), kind, size, &CONFIG).unwrap();
    words[size / 8 - 1] = 5;
    words
}

/// A block with bytes of its header replaced.
fn with(at: usize, bytes: &[u8]) -> [u64; 32] {
    let mut words = block();
    cast_slice_mut::<_, u8>(&mut words)[at..at + bytes.len()].copy_from_slice(bytes);
    words
}

fn refusal(words: &[u64]) -> String {
    let error = attach::<Config>(cast_slice(words), KIND, size_of).unwrap_err();
    format!("{:?}: {error}", error.kind)
}

#[test]
fn a_block_is_its_header_its_configuration_and_zeros() {
    let words = block();
    let bytes: &[u8] = cast_slice(&words);
    let size = size_of(&CONFIG).unwrap();
    assert_eq!(size, 3 * FIELD_ALIGN);
    assert_eq!(&bytes[..8], b"rlcore\0\n");
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(BYTE_ORDER), word(VERSION), word(KIND_AT)), (0x0102_0304, KIND.image(), 12));
    assert_eq!((word(CONFIG_SIZE), word(FIELD_ALIGN), word(FIELD_ALIGN + 4)), (8, 7, 9));
    assert_eq!(bytes[SIZE..CHECK], (size as u64).to_ne_bytes());
    assert!(bytes[CHECK + 8..FIELD_ALIGN].iter().chain(&bytes[FIELD_ALIGN + 8..size]).all(|&b| b == 0));
    assert!(bytes[size..].iter().all(|&b| b == 255), "bytes beyond the size are not the block's");

    // The checksum: FNV-1a over the header, with its own field zero, then over the configuration.
    let mut sealed = bytes[..40].to_vec();
    sealed[CHECK..].fill(0);
    let sum = sealed.iter().chain(&bytes[FIELD_ALIGN..FIELD_ALIGN + 8]);
    let sum = sum.fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    assert_eq!(bytes[CHECK..CHECK + 8], sum.to_ne_bytes());

    assert_eq!(attach::<Config>(bytes, KIND, size_of).unwrap(), CONFIG);
    assert_eq!(attach::<Config>(&bytes[..size], KIND, size_of).unwrap(), CONFIG);
    assert_eq!(*config::<Config>(bytes, KIND).unwrap(), CONFIG);
    assert_eq!(Header::read(bytes, KIND).unwrap().size(), size as u64);
    assert!(Header::begins(bytes, KIND));
}

#[test]
fn hashes_are_those_of_fnv() {
    let of = |text: &str| hash(HASH_START, text.as_bytes());
    assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    assert_eq!(hash(of("foo"), b"bar"), of("foobar"));
}

#[test]
fn every_field_of_a_header_is_looked_at() {
    assert_eq!(Header::size_of(cast_slice(&block()), KIND), Ok(192));
    let other = 0x0403_0201u32;
    for (at, bytes, words) in [
        (MAGIC, &b"R"[..], "Image: block: the bytes are not an image of an rlcore block"),
        (
            BYTE_ORDER,
            &other.to_ne_bytes(),
            "Image: block: an image of this machine's byte order; this one was written on a machine of the other",
        ),
        (BYTE_ORDER, &[9; 4], "Image: block: the header is damaged"),
        (VERSION, &2u32.to_ne_bytes(), "Image: block: image version 1, given 2"),
        (KIND_AT, &3u32.to_ne_bytes(), "Image: block: an image of kind 12, given 3"),
    ] {
        let damaged = with(at, bytes);
        let mem: &[u8] = cast_slice(&damaged);
        assert_eq!(refusal(&damaged), words);
        assert!(!Header::begins(mem, KIND), "{words}");
        assert!(Header::read(mem, KIND).is_err() && config::<Config>(mem, KIND).is_err(), "{words}");
        assert!(Header::size_of(mem, KIND).is_err(), "{words}");
    }
    assert_eq!(refusal(&with(CONFIG_SIZE, &4u32.to_ne_bytes())), "Image: block: configuration bytes 8, given 4");
    assert_eq!(refusal(&with(SIZE, &257u64.to_ne_bytes())), "Size: block: at least 257 bytes, given 256");
    let sealed = "Image: block: a header and configuration that agree with their checksum";
    let low = if cfg!(target_endian = "big") { SIZE + 7 } else { SIZE };
    for at in [low, CHECK, CHECK + 7, 40 - 1, FIELD_ALIGN, FIELD_ALIGN + 7] {
        let byte = cast_slice::<_, u8>(&block())[at] ^ 1;
        assert_eq!(refusal(&with(at, &[byte])), sealed, "byte {at}");
    }
    // A forged size fails the checksum even if it fits the memory exactly.
    assert_eq!(refusal(&with(SIZE, &256u64.to_ne_bytes())), sealed);
}

/// The byte order is checked before version, kind and sizes, which mean nothing in the wrong order.
#[test]
fn an_image_of_the_other_byte_order_is_refused_in_so_many_words() {
    let mut words = block();
    let bytes: &mut [u8] = cast_slice_mut(&mut words);
    for end in [VERSION, KIND_AT, CONFIG_SIZE, SIZE] {
        bytes[end - 4..end].reverse();
    }
    bytes[SIZE..CHECK].reverse();
    bytes[CHECK..CHECK + 8].reverse();
    assert!(!Header::begins(bytes, KIND));
    for kind in [KIND, Kind::VecEnv] {
        let (read, seen) = (Header::read(bytes, kind).map(drop), config::<Config>(bytes, kind).map(drop));
        for refused in [read, seen, attach::<Config>(bytes, kind, size_of).map(drop)] {
            let error = refused.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Image);
            assert!(error.what.contains("written on a machine of the other"), "{error}");
        }
    }
}

/// A layout change raises the version of its own kind only: a new learner layout refuses no shipped policy.
#[test]
fn every_kind_of_block_has_an_image_version_of_its_own() {
    #[rustfmt::skip]
    let kinds = [
        Kind::VecEnv, Kind::Learner, Kind::Policy, Kind::LazyFrames, Kind::Monitor, Kind::VecNormalize, Kind::Batch,
        Kind::Memory, Kind::Replay, Kind::RolloutBuffer, Kind::Trajectory, Kind::Queue,
    ];
    assert_eq!(kinds.iter().map(|kind| kind.image()).max(), Some(IMAGE));
    assert!(kinds.iter().any(|kind| kind.image() < IMAGE));
    for kind in kinds {
        let mut words = [0u64; 24];
        create(cast_slice_mut(&mut words), kind, 192, &CONFIG).unwrap();
        let taken = |words: &[u64; 24]| attach::<Config>(cast_slice(words), kind, size_of).map_err(|e| e.to_string());
        assert_eq!(taken(&words), Ok(CONFIG));
        for version in (0..=IMAGE + 1).filter(|&version| version != kind.image()) {
            let mut other = words;
            cast_slice_mut::<_, u8>(&mut other)[VERSION..VERSION + 4].copy_from_slice(&version.to_ne_bytes());
            let words = format!("block: image version {}, given {version}", kind.image());
            assert_eq!(taken(&other), Err(words), "{kind:?}");
            assert!(!Header::begins(cast_slice(&other), kind) && seal(cast_slice_mut(&mut other)).is_err(), "{kind:?}");
        }
    }
}

#[test]
fn the_size_has_to_be_what_the_configuration_asks_for() {
    let words = block();
    let mem: &[u8] = cast_slice(&words);
    let more = attach::<Config>(mem, KIND, |c| Ok(size_of(c)? + 1)).unwrap_err();
    assert_eq!(more.kind, ErrorKind::Image);
    assert_eq!(more.to_string(), "block: the size that its configuration asks for, 193, given 192");
    let refused = attach::<Config>(mem, KIND, |_| Err(Error::new(ErrorKind::Config, "config: another"))).unwrap_err();
    assert_eq!((refused.kind, refused.what), (ErrorKind::Image, "config: another"));
}

#[test]
fn memory_that_is_short_or_off_its_boundary_is_refused() {
    let mut words = block();
    let before = words;
    let size = size_of(&CONFIG).unwrap();
    let mem: &mut [u8] = cast_slice_mut(&mut words);
    for off in 1..BLOCK_ALIGN {
        let error =
            Error::new(ErrorKind::Align, "block: misaligned by {given} bytes; a multiple of {needed} is required.")
                .needed(8)
                .given(off);
        assert_eq!(create(&mut mem[off..], KIND, size, &CONFIG).unwrap_err(), error);
        assert_eq!(Header::read(&mem[off..], KIND).unwrap_err(), error);
    }
    let short = create(&mut mem[..size - 1], KIND, size, &CONFIG).unwrap_err();
    assert_eq!((short.kind, short.to_string()), (ErrorKind::Size, "block: at least 192 bytes, given 191".into()));
    let header = Header::read(&mem[..39], KIND).unwrap_err();
    assert_eq!(header.to_string(), "block: at least 40 bytes for its header, given 39");
    assert!(Header::read(&mem[..40], KIND).is_ok() && Header::begins(&mem[..40], KIND));
    assert!(!Header::begins(&mem[..39], KIND));
    assert!(config::<Config>(&mem[..FIELD_ALIGN + 7], KIND).is_err());
    let given = attach::<Config>(&mem[..size - 8], KIND, size_of).unwrap_err();
    assert_eq!((given.kind, given.given), (ErrorKind::Size, Given::Int(184)));
    assert_eq!(mem, cast_slice::<_, u8>(&before), "nothing was written");
    // A size without room for the configuration.
    assert_eq!(create(&mut mem[..FIELD_ALIGN], KIND, FIELD_ALIGN - 1, &CONFIG).unwrap_err().kind, ErrorKind::Size);

    // A correct image at a misaligned address.
    let mut moved = [0u64; 33];
    let moved: &mut [u8] = cast_slice_mut(&mut moved);
    moved[4..4 + 256].copy_from_slice(cast_slice(&block()));
    assert!(!Header::begins(&moved[4..], KIND));
}

#[test]
fn plans_reach_the_end_of_the_address_space_and_not_beyond() {
    let most = isize::MAX as usize;
    let whole = Plan::default().span::<u8>(most).unwrap();
    assert_eq!((whole.start(), whole.len(), whole.is_empty()), (0, most, false));
    assert_eq!(Plan::default().span::<u8>(most + 1), Err(TooLong));
    let mut plan = Plan::default();
    assert_eq!(plan.size(), Ok(0));
    let none: Span<u64> = plan.span(0).unwrap();
    assert_eq!((none.is_empty(), none.len()), (true, 0));
    plan.span::<u8>(1).unwrap();
    assert_eq!((plan.size(), plan.span::<u8>(FIELD_ALIGN).unwrap().start(), plan.size()), (Ok(64), 64, Ok(128)));
    // The next field starts at the next multiple of `FIELD_ALIGN`.
    assert_eq!((plan.span::<u8>(65).unwrap().start(), plan.span::<u8>(1).unwrap().start()), (128, 256));
    assert_eq!((plan.grid::<u16>(3, 5).unwrap().len(), plan.size()), (15, Ok(384)));
    assert_eq!((plan.span::<u64>(usize::MAX), plan.grid::<u64>(usize::MAX, 2)), (Err(TooLong), Err(TooLong)));
    assert_eq!((Error::from(TooLong).kind, Error::from(LayoutError).kind), (ErrorKind::Overflow, ErrorKind::Size));
}

#[test]
fn spans_are_cut_in_order_and_within_the_block() {
    let mut plan = Plan::default();
    let [a, b, c]: [Span<u32>; 3] = [(); 3].map(|()| plan.span(2).unwrap());
    let mut words = [0u64; 24];
    let mut cut = Cutter::new(cast_slice_mut(&mut words));
    cut.take(a).unwrap().fill(1);
    cut.take(c).unwrap().fill(3);
    assert_eq!(cut.take(b), Err(LayoutError), "behind what was taken");
    assert_eq!(cut.take(c), Err(LayoutError), "nothing is left after a misfit");
    let bytes: &[u8] = cast_slice(&words);
    assert_eq!(
        (view(bytes, a).unwrap(), view(bytes, b).unwrap(), view(bytes, c).unwrap()),
        (&[1; 2][..], &[0; 2][..], &[3; 2][..])
    );
    assert_eq!(view(&bytes[..136], c).unwrap().len(), 2);
    assert_eq!(view(&bytes[..135], c), Err(LayoutError));
    let off: Span<u32> = Plan::default().span(1).unwrap();
    assert_eq!(view(&bytes[1..], off), Err(LayoutError), "off its boundary");
    let bytes: &mut [u8] = cast_slice_mut(&mut words);
    assert_eq!(Cutter::new(&mut bytes[1..]).take(off), Err(LayoutError));
    assert_eq!(Cutter::new(&mut bytes[..135]).take(c), Err(LayoutError));
}

#[test]
fn rows_are_what_they_say_or_nothing() {
    let mut array = [0, 1, 2, 3, 4, 5, 6];
    assert_eq!(rows(&array, 1, 2, 2), Ok(&[2, 3, 4, 5][..]));
    assert_eq!(rows(&array, 2, 1, 3), Err(LayoutError));
    assert_eq!(rows(&array, usize::MAX, 2, 2), Err(LayoutError));
    assert_eq!(rows(&array, 7, 0, 1), Ok(&[][..]));
    rows_mut(&mut array, 1, 2, 2).unwrap().reverse();
    assert_eq!(array, [0, 1, 5, 4, 3, 2, 6]);
    assert_eq!(rows_mut(&mut array, 3, 1, 2), Err(LayoutError));
    copy(&mut array, &[9, 8]);
    assert_eq!(array, [9, 8, 5, 4, 3, 2, 6]);
    copy(&mut array[6..], &[1, 2]);
    assert_eq!(array, [9, 8, 5, 4, 3, 2, 1]);
}

/// The seal: FNV-1a over every byte of the block except its own eight, after the header. Only objects that remove it before they
/// change may carry one.
#[test]
fn a_seal_covers_every_byte_of_its_block() {
    let size = size_of(&CONFIG).unwrap();
    for kind in [Kind::Learner, Kind::Policy] {
        let accepts = |words: &[u64]| attach::<Config>(cast_slice(words), kind, size_of).is_ok();
        let plain = block_of(kind);
        let mut words = plain;
        seal(cast_slice_mut(&mut words)).unwrap();
        let bytes: &[u8] = cast_slice(&words);
        let sum = bytes[..40].iter().chain(&bytes[48..size]);
        let sum = sum.fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        assert_eq!(words[5], sum);
        assert_eq!((&words[..5], &words[6..]), (&plain[..5], &plain[6..]));
        assert!(accepts(&words) && accepts(&plain));

        let again = words;
        seal(cast_slice_mut(&mut words)).unwrap();
        assert_eq!(words, again);
        for at in 0..size / 8 {
            let mut damaged = words;
            damaged[at] ^= 1 << 63;
            assert!(!accepts(&damaged), "word {at}");
            let before = damaged;
            assert!(seal(cast_slice_mut(&mut damaged)).is_err(), "word {at}: damage was sealed");
            assert_eq!(damaged, before);
        }
        let mut damaged = words;
        damaged[20] ^= 1;
        let error = attach::<Config>(cast_slice(&damaged), kind, size_of).unwrap_err();
        assert!(error.kind == ErrorKind::Image && error.what.contains("agree with their seal"), "{error}");
        // Bytes after the block do not belong to it.
        words[size / 8] = 0;
        assert!(accepts(&words));
        unseal(cast_slice_mut(&mut words));
        assert_eq!(words[..size / 8], plain[..size / 8]);
    }
}

#[test]
fn blocks_that_cannot_be_sealed_are_refused_and_stay() {
    let size = size_of(&CONFIG).unwrap();
    for plain in [Kind::Learner, Kind::Policy].map(block_of) {
        let mut short = plain;
        for len in [0, 39, 63, 71, size - 1] {
            let error = seal(&mut cast_slice_mut::<_, u8>(&mut short)[..len]).unwrap_err();
            assert_eq!((error.kind, short), (ErrorKind::Size, plain), "{len} bytes");
        }
        assert_eq!(seal(&mut cast_slice_mut::<_, u8>(&mut short)[4..]).unwrap_err().kind, ErrorKind::Align);
        cast_slice_mut::<_, u8>(&mut short)[FIELD_ALIGN] ^= 1;
        assert_eq!(seal(cast_slice_mut(&mut short)).unwrap_err().kind, ErrorKind::Image);
    }
    let mut other = block_of(KIND);
    let error = seal(cast_slice_mut(&mut other)).unwrap_err();
    assert_eq!((error.kind, other), (ErrorKind::Image, block_of(KIND)));
    assert!(error.to_string().contains("a learner or a policy to seal, kind 2 or 3, given 12"), "{error}");
    unseal(&mut []);
}

/// `attach` sees the mark of an unfinished change, also amid nested calls; a finished change leaves no byte behind.
#[test]
fn a_block_that_is_being_changed_is_no_image() {
    let size = size_of(&CONFIG).unwrap();
    let mut words = [0u64; 64];
    create_marked(cast_slice_mut(&mut words), Kind::Learner, size, &CONFIG).unwrap();
    let refused = |words: &[u64]| {
        let error = attach::<Config>(cast_slice(words), Kind::Learner, size_of).unwrap_err();
        assert!(error.kind == ErrorKind::Image && error.what.contains("interrupted"), "{error}");
    };
    refused(&words);
    assert!(seal(cast_slice_mut(&mut words)).is_err());
    end_mark(cast_slice_mut(&mut words)).unwrap();
    let whole = words;
    attach::<Config>(cast_slice(&words), Kind::Learner, size_of).unwrap();
    let (mark, config, mut cut) = cut_marked::<Config>(cast_slice_mut(&mut words)).unwrap();
    assert_eq!(*config, CONFIG);
    let mut plan = Plan::default();
    spans::<Config>(&mut plan).unwrap();
    cut.take(plan.span::<f32>(1).unwrap()).unwrap()[0] = 1.0;
    // A nested call, and one that ends while the outer one goes on.
    let outer = mark.begin();
    drop(mark.begin());
    // A copy of the bytes made now still carries the mark.
    std::mem::forget(outer);
    refused(&words);
    let (mark, ..) = cut_marked::<Config>(cast_slice_mut(&mut words)).unwrap();
    drop(mark.begin());
    refused(&words);
    end_mark(cast_slice_mut(&mut words)).unwrap();
    attach::<Config>(cast_slice(&words), Kind::Learner, size_of).unwrap();
    words[16] = whole[16];
    assert_eq!(words, whole);
    assert_eq!(end_mark(&mut []), Err(LayoutError));
}
