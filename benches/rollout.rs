//! Samples of rollouts per second: `rollout/<call>/<shape>`; a shape is T, N, bytes of an observation, samples of a minibatch.
//!
//! `gather` reads the observation, the action and the five numbers of random samples; `windows` reads windows of 8 steps;
//! `copy` writes the same bytes of observations from the same places, one copy per sample. All minibatches are used in turn.

mod limit;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::data::rollout_buffer::{Minibatch, RolloutBuffer, RolloutBufferConfig, Step};
use rlcore::data::table::Column;
use rlcore::space::{Element, Elements, ElementsMut};
use std::hint::black_box;
use std::time::Duration;

/// Steps and environments of a rollout, bytes of an observation.
type Shape = (usize, usize, usize);

fn label((t, n, len): Shape, rows: usize) -> String {
    format!("T{t}xN{n}x{len}B-{rows}")
}

fn bench_rollouts(c: &mut Criterion) {
    let mut group = c.benchmark_group("rollout");
    for (shape, rows) in [((128, 8, 84 * 84 * 4), 256), ((256, 64, 16), 2048)] {
        let (t, n, len) = shape;
        let columns = [Column::new("obs", Element::U8, len as u32), Column::new("action", Element::I32, 1)];
        let config = RolloutBufferConfig::new(t as u32, n as u32, &columns);
        let mut block = vec![0u64; RolloutBuffer::size(&config).unwrap() / 8];
        let mut buffer = RolloutBuffer::init(bytemuck::cast_slice_mut(&mut block), &config).unwrap();
        bench_adds(&mut group, &mut buffer, shape);
        group.throughput(Throughput::Elements(rows as u64));
        for (name, window) in [("gather", 1), ("windows", 8)] {
            bench_samples(&mut group, &mut buffer, shape, rows, name, window);
        }
        bench_copies(&mut group, &mut buffer, shape, rows);
        let label = label(shape, rows);
        for name in ["gather", "windows"] {
            limit::against("rollout", [name, &label], ["copy", &label], 2 * rows * (len + 4 + 20));
        }
    }
    group.finish();
}

/// Steps added; the buffer is full and finished afterwards.
fn bench_adds(group: &mut BenchmarkGroup<'_, WallTime>, buffer: &mut RolloutBuffer<'_>, shape: Shape) {
    let (_, n, len) = shape;
    let (obs, action, numbers) = (vec![7u8; n * len], vec![1; n], vec![0.5; n]);
    let step = Step {
        columns: &[Some(Elements::U8(&obs)), Some(Elements::I32(&action))],
        reward: &numbers,
        value: &numbers,
        log_prob: &numbers,
        terminated: &vec![0; n],
        truncated: &vec![0; n],
        ..Default::default()
    };
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function(BenchmarkId::new("add", label(shape, n)), |b| {
        b.iter(|| {
            if buffer.add(&step).is_err() {
                buffer.reset().unwrap();
            }
        })
    });
    // Observation, action, three numbers and two flags are read and written.
    limit::copy("rollout", ["add", &label(shape, n)], 2 * n * (len + 4 + 12 + 2));
    while buffer.add(&step).is_ok() {}
    buffer.finish(&numbers, None, 0.99, 0.95).unwrap();
}

fn bench_samples(
    group: &mut BenchmarkGroup<'_, WallTime>,
    buffer: &mut RolloutBuffer<'_>,
    shape: Shape,
    rows: usize,
    name: &str,
    window: usize,
) {
    let (t, n, len) = shape;
    let (mut got, mut acts, mut five) = (vec![0u8; rows * len], vec![0; rows], vec![0.0; 5 * rows]);
    let mut index = vec![0; t * n / window];
    buffer.draw(rows, window, &mut index).unwrap();
    let view = buffer.view().unwrap();
    let mut batches = index.chunks_exact(rows / window).cycle();
    group.bench_function(BenchmarkId::new(name, label(shape, rows)), |b| {
        b.iter(|| {
            let mut numbers = five.chunks_exact_mut(rows);
            let out = Minibatch {
                columns: &mut [Some(ElementsMut::U8(&mut got)), Some(ElementsMut::I32(&mut acts))],
                log_prob: numbers.next(),
                value: numbers.next(),
                advantage: numbers.next(),
                value_target: numbers.next(),
                reward: numbers.next(),
                ..Default::default()
            };
            view.gather(batches.next().unwrap(), window, out).unwrap()
        })
    });
}

fn bench_copies(group: &mut BenchmarkGroup<'_, WallTime>, buffer: &mut RolloutBuffer<'_>, shape: Shape, rows: usize) {
    let (t, n, len) = shape;
    let (mut got, mut index) = (vec![0u8; rows * len], vec![0; t * n]);
    buffer.draw(rows, 1, &mut index).unwrap();
    let view = buffer.view().unwrap();
    let all = view.column(0).unwrap().bytes();
    let mut batches = index.chunks_exact(rows).cycle();
    group.bench_function(BenchmarkId::new("copy", label(shape, rows)), |b| {
        b.iter(|| {
            for (to, &i) in got.chunks_exact_mut(len).zip(batches.next().unwrap()) {
                let row = (i as usize % t) * n + i as usize / t;
                to.copy_from_slice(&all[row * len..][..len]);
            }
            black_box(&mut got);
        })
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = bench_rollouts
}
fn main() {
    limit::run(benches);
}
