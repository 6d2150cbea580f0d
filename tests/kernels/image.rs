//! Pictures against OpenCV's bytes, the specification's fingerprints, twins written from the formulas, and bad input.

use proptest::prelude::*;
use rlcore::cpu::{self, LEVELS};
use rlcore::error::Kind;
use rlcore::kernels::image::{
    Size, area, area_scratch, channels_first, gray, maximum, maximum_in_place, rescale42, scale_bytes, text, text_size,
    tile, tile_shape, warp, warp_scratch,
};
use rlcore::rng::Rng;

use super::checks::{kind, same_at_every_level};

const SCREEN: Size = Size::new(210, 160, 1);
const COLOUR: Size = Size::new(210, 160, 3);
const SMALL: Size = Size::new(84, 84, 1);

/// The picture of the fingerprints.
fn fingerprinted(height: usize, width: usize) -> Vec<u8> {
    let value = |y: usize, x: usize, c: usize| (7 * y + 13 * x + 29 * c + 5 * ((x * y) % 31)) as u8;
    (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..3).map(move |c| value(y, x, c)))).collect()
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|x| u64::from(*x)).sum()
}

fn noise(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.bounded(255) as u8).collect()
}

fn to_gray(rgb: &[u8]) -> Vec<u8> {
    let mut out = vec![0; rgb.len() / 3];
    gray(rgb, &mut out).unwrap();
    out
}

fn larger(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = vec![0; a.len()];
    maximum(a, b, &mut out).unwrap();
    out
}

fn resized(from: Size, src: &[u8], to: Size) -> Vec<u8> {
    let mut out = vec![99; to.len().unwrap()];
    let mut scratch = vec![f32::NAN; area_scratch(from, to).unwrap()];
    area(from, src, to, &mut out, &mut scratch).unwrap();
    out
}

fn warped(from: Size, a: &[u8], b: Option<&[u8]>, to: Size) -> Vec<u8> {
    let mut out = vec![99; to.len().unwrap()];
    let mut scratch = vec![f32::NAN; warp_scratch(from, to).unwrap()];
    warp(from, a, b, to, &mut out, &mut scratch).unwrap();
    out
}

/// The source pixels of one output pixel along one axis and their weights, by the rule of OpenCV's area table.
fn taps(from: usize, to: usize, d: usize) -> Vec<(usize, f32)> {
    let scale = 1.0 / (to as f64 / from as f64);
    let (f1, last) = (d as f64 * scale, from - 1);
    let f2 = f1 + scale;
    let width = scale.min(from as f64 - f1);
    let s2 = (f2.floor() as usize).min(last);
    let s1 = (f1.ceil() as usize).min(s2);
    let mut list = Vec::new();
    if s1 as f64 - f1 > 1e-3 {
        list.push((s1 - 1, ((s1 as f64 - f1) / width) as f32));
    }
    list.extend((s1..s2).map(|s| (s, (1.0 / width) as f32)));
    if f2 - s2 as f64 > 1e-3 {
        list.push((s2, ((f2 - s2 as f64).min(1.0).min(width) / width) as f32));
    }
    list
}

/// The general rule in f32, for any sizes.
fn general(from: Size, src: &[u8], to: Size) -> Vec<u8> {
    let c = from.channels;
    let mut wide = vec![0f32; from.height * to.width * c];
    for x in 0..to.width {
        for (s, weight) in taps(from.width, to.width, x) {
            for y in 0..from.height {
                for k in 0..c {
                    wide[(y * to.width + x) * c + k] += f32::from(src[(y * from.width + s) * c + k]) * weight;
                }
            }
        }
    }
    let mut out = vec![];
    for y in 0..to.height {
        let list = taps(from.height, to.height, y);
        for i in 0..to.width * c {
            let sum = list.iter().fold(0f32, |sum, (s, weight)| sum + wide[s * to.width * c + i] * weight);
            out.push(sum.round_ties_even().clamp(0.0, 255.0) as u8);
        }
    }
    out
}

/// The rule of OpenCV's area mean.
fn twin(from: Size, src: &[u8], to: Size) -> Vec<u8> {
    let scale = |from: usize, to: usize| 1.0 / (to as f64 / from as f64);
    let (down, across) = (scale(from.height, to.height), scale(from.width, to.width));
    if (from.height, from.width) == (to.height, to.width) {
        return src.to_vec();
    }
    if down.fract() != 0.0 || across.fract() != 0.0 {
        return general(from, src, to);
    }
    let (down, across, c) = (down as usize, across as usize, from.channels);
    let mut out = vec![];
    for i in 0..to.len().unwrap() {
        let (y, x, k) = (i / c / to.width, i / c % to.width, i % c);
        let at = |n: usize| src[((y * down + n / across) * from.width + x * across + n % across) * c + k];
        let sum: u32 = (0..down * across).map(|n| u32::from(at(n))).sum();
        out.push(if down == 2 && across == 2 && c != 2 {
            ((sum + 2) >> 2) as u8
        } else {
            (sum as f32 * (1.0 / (down * across) as f32)).round_ties_even().min(255.0) as u8
        });
    }
    out
}

#[test]
fn gray_equals_the_formula_for_every_colour() {
    let mut rgb = vec![0; 3 << 16];
    for r in 0..=255u8 {
        for (i, pixel) in rgb.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *pixel = [r, (i >> 8) as u8, i as u8];
        }
        cpu::set_limit(LEVELS[r as usize % 3]);
        for (pixel, y) in rgb.as_chunks::<3>().0.iter().zip(to_gray(&rgb)) {
            let [r, g, b] = pixel.map(u32::from);
            assert_eq!(u32::from(y), (9798 * r + 19235 * g + 3735 * b + 16384) / 32768, "{pixel:?}");
        }
    }
    let known = [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 128, 64, 32, 200, 30, 90];
    assert_eq!(to_gray(&known), [255, 76, 150, 29, 2, 79, 88]);
    assert_eq!(to_gray(&[]), []);
}

#[test]
fn fingerprints_are_those_of_opencv() {
    #[rustfmt::skip]
    let tall = [
        (210, 4296729, 0xed45_d097_2408_db0e, 902_314, 0x11b0_ff42_9e61_b831, [38, 70, 102, 135, 162, 165, 158, 121],
         132),
        (250, 5112943, 0xf257_7044_41a4_5db8, 901_911, 0x02c4_2299_4816_fb08, [39, 74, 108, 142, 168, 155, 141, 117],
         150),
    ];
    for (height, gray_sum, gray_fnv, small_sum, small_fnv, begin, centre) in tall {
        let (one, three) = (Size::new(height, 160, 1), Size::new(height, 160, 3));
        let rgb = fingerprinted(height, 160);
        same_at_every_level("pictures", || {
            let gray = to_gray(&rgb);
            assert_eq!((sum(&gray), fnv(&gray)), (gray_sum, gray_fnv));
            let small = resized(one, &gray, SMALL);
            assert_eq!((sum(&small), fnv(&small)), (small_sum, small_fnv));
            assert_eq!((&small[..8], small[41 * 84 + 41]), (&begin[..], centre));
            assert_eq!(warped(three, &rgb, None, SMALL), small);
            let colour = resized(three, &rgb, Size::new(84, 84, 3));
            let known =
                if height == 210 { (2_702_538, 0x389f_25c3_d0ed_dce7) } else { (2_701_489, 0x7bea_3cc2_3bb1_fdbe) };
            assert_eq!((sum(&colour), fnv(&colour)), known);
        });
    }
}

#[test]
fn rescaled_screen_is_that_of_opencv() {
    let rgb = fingerprinted(210, 160);
    let out = same_at_every_level("pictures", || {
        let mut out = vec![f32::NAN; 42 * 42];
        rescale42(&rgb, &mut out).unwrap();
        out
    });
    assert_eq!(out[..3], [0.345_098_05, 0.670_588_26, 0.577_777_8]);
    assert_eq!(out[41 * 42 + 41], 0.566_013_1);
    assert_eq!(out.iter().map(|x| f64::from(*x)).sum::<f64>(), 883.358_222_782_611_8);

    let mut out = vec![0.0; 42 * 42];
    rescale42(&vec![255; rgb.len()], &mut out).unwrap();
    assert!(out.iter().all(|x| *x == 1.0));
}

/// Sizes of every rule: shared pixels, whole blocks, two by two, one axis only, a single pixel, and a quotient that is whole only
/// in exact arithmetic (1 / (1 / 49) is more than 49 in f64).
#[test]
fn area_equals_its_twin() {
    #[rustfmt::skip]
    let sizes = [
        (10, 10, 5, 5), (9, 12, 3, 4), (12, 12, 6, 4), (8, 8, 2, 2), (8, 9, 8, 3), (9, 8, 3, 8), (7, 7, 1, 1),
        (1, 1, 1, 1), (1, 9, 1, 4), (9, 1, 2, 1), (5, 7, 5, 7), (10, 11, 7, 3), (33, 17, 32, 16),
        (250, 160, 84, 84), (210, 160, 84, 84), (210, 160, 42, 80), (49, 49, 1, 1), (98, 49, 2, 7),
        (41, 31, 17, 30),
    ];
    let rng = &mut Rng::seeded(3);
    for (h, w, to_h, to_w) in sizes {
        for channels in 1..=4 {
            let (from, to) = (Size::new(h, w, channels), Size::new(to_h, to_w, channels));
            for _ in 0..3 {
                let src = noise(rng, from.len().unwrap());
                let got = same_at_every_level("pictures", || resized(from, &src, to));
                assert_eq!(got, twin(from, &src, to), "{from:?} {to:?}");
            }
        }
    }
}

/// Small enough to be set aside on small devices: one source line, one or two output lines, and with shared pixels five numbers
/// per output column.
#[test]
fn scratch_is_a_few_lines() {
    let scratch = |h, w, to_h, to_w, c| area_scratch(Size::new(h, w, c), Size::new(to_h, to_w, c)).unwrap();
    assert_eq!(scratch(10, 11, 7, 3, 1), 11 + 3 * (2 + 5));
    assert_eq!(scratch(10, 11, 7, 3, 4), 4 * 11 + 3 * (4 * 2 + 5));
    assert_eq!(scratch(10, 12, 5, 4, 3), 3 * (12 + 4));
    assert_eq!((scratch(5, 7, 5, 7, 2), scratch(210, 160, 84, 84, 1)), (0, 0));
    assert!(!SCREEN.is_empty());
}

/// Two by two pixels: halves are rounded up for 1, 3 and 4 channels, and to the even byte for 2.
#[test]
fn halves_go_where_opencv_sends_them() {
    for (channels, halved) in [(1, 1), (2, 0), (3, 1), (4, 1)] {
        let src: Vec<u8> = [1, 0, 0, 1].iter().flat_map(|x| vec![*x; channels]).collect();
        let halves = resized(Size::new(2, 2, channels), &src, Size::new(1, 1, channels));
        assert_eq!(halves, vec![halved; channels]);
    }
}

/// Frames of all kinds, some with most means half-way between two bytes.
fn frames(rng: &mut Rng) -> Vec<Vec<u8>> {
    let len = 210 * 160;
    let mut frames = vec![vec![0; len], vec![255; len]];
    let at = |i: usize| (i / 160, i % 160);
    for step in [1, 2, 3, 7, 20, 60] {
        frames.push((0..len).map(|i| (at(i).1 * step) as u8).collect());
        frames.push((0..len).map(|i| (at(i).0 * step) as u8).collect());
        frames.push((0..len).map(|i| ((at(i).0 + at(i).1) * step) as u8).collect());
    }
    for _ in 0..60 {
        // Few values, 20 apart: sums are multiples of 20, so that one in ten is a tie.
        let base = rng.bounded(35) as u8;
        frames.push((0..len).map(|_| base + 20 * rng.bounded(11) as u8).collect());
        // Vertical stripes, so that a tie holds for the whole column.
        let line = noise(rng, 160);
        frames.push(line.iter().copied().cycle().take(len).collect());
        frames.push(noise(rng, len));
        // Flat areas with sharp edges, as games draw them.
        let (high, wide) = (1 + rng.bounded(39) as usize, 1 + rng.bounded(39) as usize);
        let colours = noise(rng, 211 * 161);
        frames.push((0..len).map(|i| colours[at(i).0 / high * 161 + at(i).1 / wide]).collect());
    }
    frames
}

#[test]
fn screens_equal_the_general_rule() {
    let rng = &mut Rng::seeded(5);
    let mut ties = 0;
    for frame in frames(rng) {
        let want = general(SCREEN, &frame, SMALL);
        assert_eq!(same_at_every_level("pictures", || resized(SCREEN, &frame, SMALL)), want);
        ties += count_ties(&frame);
    }
    assert!(ties > 10_000, "only {ties} means between two bytes");
}

/// Means that lie exactly between two bytes, in integers.
fn count_ties(frame: &[u8]) -> usize {
    let share = |from: usize, d: usize, s: usize| {
        // In 84ths of a source pixel.
        let (begin, end) = ((d * from).max(s * 84), ((d + 1) * from).min(s * 84 + 84));
        end.saturating_sub(begin)
    };
    let covered = |from: usize, d: usize| d * from / 84..=((d + 1) * from - 1) / 84;
    let mut ties = 0;
    for (y, x) in (0..84).flat_map(|y| (0..84).map(move |x| (y, x))) {
        let mut sum = 0;
        for sy in covered(210, y) {
            for sx in covered(160, x) {
                sum += usize::from(frame[sy * 160 + sx]) * share(210, y, sy) * share(160, x, sx);
            }
        }
        ties += usize::from(2 * sum % (210 * 160) == 0 && sum % (210 * 160) != 0);
    }
    ties
}

#[test]
fn warp_is_larger_then_gray_then_area() {
    let rng = &mut Rng::seeded(7);
    for (h, w, to_h, to_w) in
        [(210, 160, 84, 84), (250, 160, 84, 84), (12, 9, 6, 3), (12, 9, 5, 9), (7, 5, 7, 5), (6, 6, 3, 3)]
    {
        for (channels, to_channels) in [(1, 1), (3, 1), (3, 3), (2, 2), (4, 4)] {
            let (from, to) = (Size::new(h, w, channels), Size::new(to_h, to_w, to_channels));
            let (a, b) = (noise(rng, h * w * channels), noise(rng, h * w * channels));
            let one = |x: &[u8]| {
                let x = if channels == to_channels { x.to_vec() } else { to_gray(x) };
                resized(Size { channels: to_channels, ..from }, &x, to)
            };
            assert_eq!(same_at_every_level("pictures", || warped(from, &a, None, to)), one(&a));
            assert_eq!(same_at_every_level("pictures", || warped(from, &a, Some(&b), to)), one(&larger(&a, &b)));
        }
    }
    assert_eq!(warp_scratch(COLOUR, SMALL), Ok(0));
    assert_eq!(area_scratch(SCREEN, SMALL), Ok(0));
}

#[test]
fn bytes_become_numbers_by_division() {
    let all: Vec<u8> = (0..=255).collect();
    let out = same_at_every_level("pictures", || {
        let mut out = vec![f32::NAN; 256];
        scale_bytes(&all, &mut out).unwrap();
        out
    });
    for (x, out) in all.iter().zip(out) {
        assert_eq!(out.to_bits(), (f32::from(*x) / 255.0).to_bits(), "{x}");
    }
}

#[test]
fn larger_bytes_win() {
    let mut a = [1, 200, 7];
    assert_eq!(larger(&a, &[2, 100, 7]), [2, 200, 7]);
    maximum_in_place(&mut a, &[0, 255, 8]).unwrap();
    assert_eq!(a, [1, 255, 8]);
}

#[test]
fn channels_come_first() {
    for channels in 1..=7 {
        let size = Size::new(3, 5, channels);
        let x: Vec<f32> = (0..15 * channels).map(|i| i as f32).collect();
        let mut out = vec![f32::NAN; x.len()];
        channels_first(size, &x, &mut out).unwrap();
        for (i, out) in out.iter().enumerate() {
            assert_eq!(*out, x[i % 15 * channels + i / 15]);
        }
        let bytes: Vec<u8> = x.iter().map(|x| *x as u8).collect();
        let mut turned = vec![0; bytes.len()];
        channels_first(size, &bytes, &mut turned).unwrap();
        assert!(turned.iter().zip(&out).all(|(a, b)| f32::from(*a) == *b));
    }
}

#[test]
fn tiles_stand_in_rows() {
    let known =
        [(1, (1, 1)), (2, (2, 1)), (3, (2, 2)), (4, (2, 2)), (5, (3, 2)), (6, (3, 2)), (7, (3, 3)), (9, (3, 3))];
    for (n, shape) in known.into_iter().chain([(10, (4, 3)), (12, (4, 3)), (13, (4, 4)), (16, (4, 4)), (17, (5, 4))]) {
        assert_eq!(tile_shape(n), Ok(shape), "{n}");
    }
    assert_eq!(kind(tile_shape(0)), Some(Kind::Range));
    assert_eq!(tile_shape(usize::MAX).unwrap().0, 1 << 32);

    let rng = &mut Rng::seeded(9);
    for n in 1..18 {
        for size in [Size::new(2, 3, 3), Size::new(1, 1, 1), Size::new(4, 2, 1)] {
            let len = size.len().unwrap();
            let images = noise(rng, n * len);
            let (rows, columns) = tile_shape(n).unwrap();
            let mut out = vec![77; rows * columns * len];
            tile(n, size, &images, &mut out).unwrap();
            for (i, got) in out.iter().enumerate() {
                let (pixel, c) = (i / size.channels, i % size.channels);
                let (y, x) = (pixel / (columns * size.width), pixel % (columns * size.width));
                let image = y / size.height * columns + x / size.width;
                let within = (y % size.height * size.width + x % size.width) * size.channels + c;
                assert_eq!(*got, if image < n { images[image * len + within] } else { 0 });
            }
        }
    }
}

#[test]
fn bad_input_is_refused_before_anything_is_written() {
    let (one, small) = (Size::new(4, 4, 1), Size::new(2, 3, 1));
    let (src, scratch) = (&[7; 16][..], &mut [0.0; 64][..]);
    let out = &mut [9; 6][..];
    let needed = area_scratch(one, small).unwrap();
    assert!(needed > 0);
    assert_eq!(kind(area(one, &src[1..], small, out, scratch)), Some(Kind::Shape));
    assert_eq!(kind(area(one, src, small, &mut out[1..], scratch)), Some(Kind::Shape));
    assert_eq!(kind(area(one, src, small, out, &mut scratch[..needed - 1])), Some(Kind::Size));
    assert_eq!(kind(warp(one, src, Some(&src[1..]), small, out, scratch)), Some(Kind::Shape));
    let zero = [Size { height: 0, ..small }, Size { width: 0, ..small }, Size { channels: 0, ..small }];
    for bad in zero.into_iter().chain([Size::new(5, 3, 1), Size::new(2, 5, 1), Size::new(2, 3, 3), Size::new(2, 3, 2)])
    {
        assert_eq!(kind(area_scratch(one, bad)), Some(Kind::Config));
        assert_eq!(kind(warp_scratch(one, bad)), Some(Kind::Config));
        assert_eq!(kind(area(one, src, bad, out, scratch)), Some(Kind::Config));
    }
    let five = Size { channels: 5, ..one };
    assert_eq!(kind(area_scratch(five, Size { channels: 5, ..small })), Some(Kind::Config));
    assert_eq!(kind(area_scratch(Size { channels: 3, ..one }, small)), Some(Kind::Config), "only warp makes gray");
    assert_eq!(kind(area_scratch(Size::new(1 << 33, 4, 1), small)), Some(Kind::Config));
    assert_eq!(kind(area_scratch(Size::new(1 << 40, 1 << 40, 1), small)), Some(Kind::Overflow));
    assert_eq!(kind(area_scratch(Size::new(1 << 16, 1 << 16, 1), Size::new(1, 1, 1))), Some(Kind::Config));
    // The most white pixels that 32 bits can sum with room for rounding, and one more.
    assert_eq!(kind(area_scratch(Size::new(128, 65_793, 1), Size::new(1, 1, 1))), None);
    assert_eq!(kind(area_scratch(Size::new(1, 8_421_505, 1), Size::new(1, 1, 1))), Some(Kind::Config));
    assert!(out.iter().all(|x| *x == 9));

    assert_eq!(kind(gray(&[0; 5], &mut [0; 2])), Some(Kind::Shape));
    assert_eq!(kind(gray(&[0; 6], &mut [0; 1])), Some(Kind::Shape));
    assert_eq!(kind(maximum(&[0; 2], &[0; 3], &mut [0; 3])), Some(Kind::Shape));
    assert_eq!(kind(maximum(&[0; 3], &[0; 2], &mut [0; 3])), Some(Kind::Shape));
    assert_eq!(kind(maximum_in_place(&mut [0; 3], &[0; 2])), Some(Kind::Shape));
    assert_eq!(kind(scale_bytes(&[0; 3], &mut [0.0; 2])), Some(Kind::Shape));
    assert_eq!(kind(rescale42(&[0; 100_799], &mut [0.0; 42 * 42])), Some(Kind::Shape));
    assert_eq!(kind(rescale42(&[0; 100_800], &mut [0.0; 42 * 42 + 1])), Some(Kind::Shape));
    assert_eq!(kind(channels_first(small, &[0; 6], &mut [0; 5])), Some(Kind::Shape));
    assert_eq!(kind(channels_first(small, &[0; 7], &mut [0; 6])), Some(Kind::Shape));
    assert_eq!(kind(channels_first(zero[0], &[0u8; 0], &mut [])), Some(Kind::Config));
    assert_eq!(kind(tile(0, small, &[], &mut [])), Some(Kind::Range));
    assert_eq!(kind(tile(2, small, &[0; 11], &mut [0; 12])), Some(Kind::Shape));
    assert_eq!(kind(tile(2, small, &[0; 12], &mut [0; 13])), Some(Kind::Shape));
    assert_eq!(kind(tile(usize::MAX, small, &[0; 12], &mut [0; 13])), Some(Kind::Overflow));
}

proptest! {
    #[test]
    fn any_two_sizes(h in 1..40usize, w in 1..40usize, to_h in 1..40usize, to_w in 1..40usize, channels in 1..5usize, seed: u64) {
        let (from, to) = (Size::new(h, w, channels), Size::new(to_h.min(h), to_w.min(w), channels));
        let src = noise(&mut Rng::seeded(seed), from.len().unwrap());
        prop_assert_eq!(resized(from, &src, to), twin(from, &src, to));
    }

    #[test]
    fn any_screen(seed: u64, low in 0..256u64, count in 1..256u64, step in 1..64u64) {
        let rng = &mut Rng::seeded(seed);
        let frame: Vec<u8> = (0..210 * 160).map(|_| (low + step * rng.bounded(count - 1)) as u8).collect();
        prop_assert_eq!(resized(SCREEN, &frame, SMALL), general(SCREEN, &frame, SMALL));
    }
}

#[test]
fn a_picture_is_lines_of_braille() {
    // 5 by 3 pixels: two characters wide, two lines high, dots where a pixel differs from the first one.
    let size = Size::new(5, 3, 1);
    let picture = [9, 200, 9, 9, 9, 9, 9, 9, 9, 9, 9, 250, 200, 9, 30];
    assert_eq!(text_size(size).unwrap(), 2 * (2 * 3 + 1));
    let mut plain = [0; 14];
    text(size, &picture, &mut plain).unwrap();
    assert_eq!(std::str::from_utf8(&plain).unwrap(), "⠈⡀\n⠁⠀\n");
    // The same in color; nothing is written into a buffer one byte too short.
    let rgb: Vec<u8> = picture.iter().flat_map(|&p| [p; 3]).collect();
    let mut coloured = [0; 14];
    text(Size::new(5, 3, 3), &rgb, &mut coloured).unwrap();
    assert_eq!(coloured, plain);
    // A dot is at least 25 brighter than the background, by weights of 2 for red, 5 for green and 1 for blue.
    #[rustfmt::skip]
    let dots = [
        ([99, 0, 0], "⠀\n"), ([100, 0, 0], "⠈\n"), ([0, 39, 0], "⠀\n"), ([0, 40, 0], "⠈\n"), ([0, 0, 199], "⠀\n"),
        ([0, 0, 200], "⠈\n"), ([40, 20, 20], "⠈\n"), ([40, 20, 19], "⠀\n"),
    ];
    for (colour, want) in dots {
        let mut out = [0; 4];
        text(Size::new(1, 2, 3), &[[0; 3], colour].concat(), &mut out).unwrap();
        assert_eq!(std::str::from_utf8(&out).unwrap(), want, "{colour:?}");
    }
    let mut short = [7; 13];
    assert_eq!(text(size, &picture, &mut short).unwrap_err().kind, Kind::Shape);
    assert_eq!(text(size, &picture[1..], &mut plain).unwrap_err().kind, Kind::Shape);
    assert_eq!(text_size(Size::new(5, 3, 2)).unwrap_err().kind, Kind::Config);
    assert_eq!(short, [7; 13]);
}
