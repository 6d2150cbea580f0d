//! Image kernels against a copy of the bytes that they read and write. Elements are source pixels; an Atari screen has 33,600.
//!
//! Screens of two kinds: noise, where some means are ties between two bytes, and flat pieces, where none are.

mod limit;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::kernels::image::{Size, channels_first, gray, rescale42, scale_bytes, warp, warp_scratch};
use rlcore::rng::Rng;

const PIXELS: usize = 210 * 160;

fn noise(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.bounded(255) as u8).collect()
}

/// Pieces of 12 by 12 pixels of one color, as games draw them.
fn flat(rng: &mut Rng, channels: usize) -> Vec<u8> {
    let colours = noise(rng, 18 * 14 * channels);
    let at = |i: usize| (i / 160 / 12 * 14 + i % 160 / 12) * channels;
    (0..PIXELS).flat_map(|i| colours[at(i)..at(i) + channels].to_vec()).collect()
}

fn bench_warp(c: &mut Criterion) {
    let mut group = c.benchmark_group("warp");
    let rng = &mut Rng::seeded(1);
    group.throughput(Throughput::Elements(PIXELS as u64));
    for (channels, what) in [(1, "gray"), (3, "rgb")] {
        let (from, to) = (Size::new(210, 160, channels), Size::new(84, 84, 1));
        let (a, b, flat_a, flat_b) =
            (noise(rng, PIXELS * channels), noise(rng, PIXELS * channels), flat(rng, channels), flat(rng, channels));
        let mut out = vec![0; 84 * 84];
        for (shape, a, b) in [
            ("1 noise", &a, None),
            ("2 noise", &a, Some(&b[..])),
            ("1 flat", &flat_a, None),
            ("2 flat", &flat_a, Some(&flat_b[..])),
        ] {
            group.bench_function(BenchmarkId::new(what, shape), |bench| {
                bench.iter(|| warp(from, black_box(a), black_box(b), to, &mut out, &mut []).unwrap())
            });
            limit::copy("warp", [what, shape], a.len() + b.map_or(0, <[u8]>::len) + out.len());
        }
    }
    for (h, w, channels, to_h, to_w, what) in
        [(250, 160, 1, 84, 84, "250x160"), (210, 160, 3, 84, 84, "colour"), (84, 84, 1, 42, 42, "two by two")]
    {
        let (from, to) = (Size::new(h, w, channels), Size::new(to_h, to_w, channels));
        let src = noise(rng, h * w * channels);
        let (mut out, mut scratch) = (vec![0; to.len().unwrap()], vec![0.0; warp_scratch(from, to).unwrap()]);
        group.throughput(Throughput::Elements((h * w) as u64));
        group.bench_function(what, |bench| {
            bench.iter(|| warp(from, black_box(&src), None, to, &mut out, &mut scratch).unwrap())
        });
        limit::copy("warp", [what, ""], src.len() + out.len());
    }
}

fn bench_steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("picture");
    let rng = &mut Rng::seeded(2);
    let rgb = noise(rng, PIXELS * 3);
    let (mut bytes, mut numbers) = (vec![0; PIXELS], vec![0.0; 84 * 84 * 4]);
    group.throughput(Throughput::Elements(PIXELS as u64));
    group.bench_function("gray", |bench| bench.iter(|| gray(black_box(&rgb), &mut bytes).unwrap()));
    group.bench_function("rescale42", |bench| {
        bench.iter(|| rescale42(black_box(&rgb), &mut numbers[..42 * 42]).unwrap());
    });
    let stack = Size::new(84, 84, 4);
    let (x, out) = (&rgb[..84 * 84 * 4], &mut bytes[..84 * 84 * 4]);
    group.throughput(Throughput::Elements(x.len() as u64));
    group.bench_function("scale", |bench| bench.iter(|| scale_bytes(black_box(x), &mut numbers).unwrap()));
    group.bench_function("channels_first", |bench| {
        bench.iter(|| channels_first(stack, black_box(x), out).unwrap());
    });
    let bytes = [4 * PIXELS, 3 * PIXELS + 4 * 42 * 42, 5 * x.len(), 2 * x.len()];
    for (name, bytes) in ["gray", "rescale42", "scale", "channels_first"].into_iter().zip(bytes) {
        limit::copy("picture", [name, ""], bytes);
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets = bench_warp, bench_steps }
fn main() {
    limit::run(benches);
}
