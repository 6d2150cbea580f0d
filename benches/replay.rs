//! Replay memories: frames added and sequences drawn a second, one million frames kept.
//!
//! `memory/draw` is two random numbers, a coin and an index: what no draw of a sequence can do without.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rlcore::rng::Rng;
use std::hint::black_box;
use std::time::Duration;

const FRAMES: u32 = 1_000_000;
const BATCH: usize = 256;

fn bench_memory(c: &mut Criterion) {
    let rng = &mut Rng::seeded(1);
    let mut group = c.benchmark_group("memory");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function(BenchmarkId::new("draw", format!("B{BATCH}")), |b| {
        b.iter(|| {
            for _ in 0..BATCH {
                black_box((rng.bounded(1), rng.bounded(u64::from(FRAMES) - 1)));
            }
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

criterion_group! { name = benches; config = short(); targets = bench_memory }
criterion_main!(benches);
