//! Transitions per second gathered from frame rings, 84x84x1 with stacks of 4: `frames/<call>/<layout>-<kind>/B32`.
//!
//! A transition is an observation and its successor, 5 different frames read and 8 written. The 20,000 frames are
//! larger than any cache; 64 batches of random frame numbers are used in turn. `copy` writes the same bytes from as many
//! random places of the same memory, each observation in a single copy.

mod limit;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::data::lazy_frames::{LazyFrames, LazyFramesConfig};
use rlcore::data::table::{FrameIndex, View};
use rlcore::kernels::stack::Layout;
use rlcore::rng::Rng;
use rlcore::space::ElementsMut;
use std::hint::black_box;
use std::time::Duration;

const BATCH: usize = 32;
const FRAMES: usize = 20_000;
const FRAME_LEN: usize = 84 * 84;
const STACK_LEN: usize = 4 * FRAME_LEN;

fn bench_frames(c: &mut Criterion) {
    let config = LazyFramesConfig { num_frames: FRAMES as u32, ..Default::default() };
    let mut block = vec![0u64; LazyFrames::size(&config).unwrap() / 8];
    let mut frames = LazyFrames::init(bytemuck::cast_slice_mut(&mut block), &config).unwrap();
    let rng = &mut Rng::seeded(1);
    let frame: Vec<u8> = (0..FRAME_LEN + 256).map(|_| rng.next_u64() as u8).collect();
    for i in 0..FRAMES {
        frames.push(0, &frame[i % 256..][..FRAME_LEN], i % 500 == 0).unwrap();
    }
    let view = frames.view();
    let index: Vec<FrameIndex> = (0..64 * BATCH)
        .map(|_| FrameIndex::new(0, rng.next_u64() % (FRAMES as u64 - 1)))
        .map(|i| if i.number % 500 == 499 { FrameIndex::new(0, i.number - 1) } else { i })
        .collect();
    let mut group = c.benchmark_group("frames");
    group.throughput(Throughput::Elements(BATCH as u64));
    bench_gathers(&mut group, &view, &index);
    bench_copies(&mut group, &view, &index);
    // Two stacks: five different frames are read, eight are written.
    let transitions = BATCH * 13 * FRAME_LEN;
    for layout in ["hwc", "chw"] {
        let (u8, f32) = (format!("transitions/{layout}-u8"), format!("transitions/{layout}-f32"));
        limit::against("frames", [&u8, "B32"], ["copy/u8", "B32"], transitions);
        limit::against("frames", [&f32, "B32"], ["copy/f32", "B32"], BATCH * (5 + 4 * 8) * FRAME_LEN);
        limit::copy("frames", [&format!("stacks/{layout}-u8"), "B32"], BATCH * 8 * FRAME_LEN);
    }
}

fn bench_gathers(group: &mut BenchmarkGroup<'_, WallTime>, view: &View<'_>, index: &[FrameIndex]) {
    let mut batches = index.chunks_exact(BATCH).cycle();
    let (mut obs, mut next) = (vec![0u8; BATCH * STACK_LEN], vec![0u8; BATCH * STACK_LEN]);
    let (mut obs_f32, mut next_f32) = (vec![0f32; BATCH * STACK_LEN], vec![0f32; BATCH * STACK_LEN]);
    for (name, layout) in [("hwc", Layout::Hwc), ("chw", Layout::Chw)] {
        group.bench_function(BenchmarkId::new(format!("transitions/{name}-u8"), "B32"), |b| {
            b.iter(|| {
                let (obs, next) = (ElementsMut::U8(&mut obs), ElementsMut::U8(&mut next));
                view.gather_transitions(0, batches.next().unwrap(), layout, obs, next).unwrap()
            })
        });
        group.bench_function(BenchmarkId::new(format!("transitions/{name}-f32"), "B32"), |b| {
            b.iter(|| {
                let (obs, next) = (ElementsMut::F32(&mut obs_f32), ElementsMut::F32(&mut next_f32));
                view.gather_transitions(0, batches.next().unwrap(), layout, obs, next).unwrap()
            })
        });
        group.bench_function(BenchmarkId::new(format!("stacks/{name}-u8"), "B32"), |b| {
            b.iter(|| view.gather(0, batches.next().unwrap(), layout, ElementsMut::U8(&mut obs)).unwrap())
        });
    }
}

/// Copies of as many bytes to the same arrays, from as many places.
fn bench_copies(group: &mut BenchmarkGroup<'_, WallTime>, view: &View<'_>, index: &[FrameIndex]) {
    let mut batches = index.chunks_exact(BATCH).cycle();
    let (mut obs, mut next) = (vec![0u8; BATCH * STACK_LEN], vec![0u8; BATCH * STACK_LEN]);
    let copy = |to: &mut [u8], i: &FrameIndex, after: usize| {
        let begin = (i.number as usize + after).saturating_sub(3).min(FRAMES - 4) * FRAME_LEN;
        to.copy_from_slice(&view.columns[0][begin..begin + STACK_LEN]);
    };
    group.bench_function(BenchmarkId::new("copy/u8", "B32"), |b| {
        b.iter(|| {
            let outs = obs.chunks_exact_mut(STACK_LEN).zip(next.chunks_exact_mut(STACK_LEN));
            for (index, (obs, next)) in batches.next().unwrap().iter().zip(outs) {
                copy(obs, index, 0);
                copy(next, index, 1);
            }
            black_box((&mut obs, &mut next));
        })
    });
    let from = vec![1f32; BATCH * STACK_LEN];
    let (mut obs, mut next) = (vec![0f32; BATCH * STACK_LEN], vec![0f32; BATCH * STACK_LEN]);
    group.bench_function(BenchmarkId::new("copy/f32", "B32"), |b| {
        b.iter(|| {
            black_box(&mut obs).copy_from_slice(black_box(&from));
            black_box(&mut next).copy_from_slice(black_box(&from));
        })
    });
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1000))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets = bench_frames }
fn main() {
    limit::run(benches);
}
