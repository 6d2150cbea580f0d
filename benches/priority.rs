//! Items per second drawn from, or updated in, a sum tree of 1 M priorities: `priority/<call>/B<batch>`.
//!
//! `update` uses 64 batches of random items in turn, each with different weights, so that it changes every sum above an item.
//! `stratified` draws one item from each of B equal parts of the total, `independent` draws each item from the whole total.

mod limit;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::block::{Cutter, Plan};
use rlcore::data::sum_tree::{SumTree, spans};
use rlcore::rng::Rng;
use std::hint::black_box;
use std::time::Duration;

const ITEMS: usize = 1 << 20;
const SETS: usize = 64;

/// Bytes of an item's nodes, from the root to its weight: four levels of 16 sums, and 16 weights.
const PATH: usize = 4 * 16 * 8 + 16 * 4;

fn bench_tree(c: &mut Criterion) {
    let mut plan = Plan::default();
    let spans = spans(&mut plan, ITEMS).unwrap();
    let mut block = vec![[0u64; 8]; plan.size().unwrap() / 64 + 1];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
    let begin = bytes.as_ptr().align_offset(64);
    let mut tree = SumTree::take(&mut Cutter::new(&mut bytes[begin..]), &spans, ITEMS).unwrap();
    tree.clear();
    let rng = &mut Rng::seeded(1);
    let all: Vec<u32> = (0..ITEMS as u32).collect();
    let weights: Vec<f32> = all.iter().map(|_| 0.01 + rng.uniform_f32()).collect();
    tree.set(&all, &weights).unwrap();

    let mut group = c.benchmark_group("priority");
    for batch in [32, 256, 4096] {
        group.throughput(Throughput::Elements(batch as u64));
        let (mut mass, mut found) = (vec![0.0; batch], vec![0; batch]);
        group.bench_function(BenchmarkId::new("stratified", format!("B{batch}")), |b| {
            b.iter(|| {
                let part = tree.view().total() / batch as f64;
                for (i, mass) in mass.iter_mut().enumerate() {
                    *mass = (i as f64 + rng.uniform()) * part;
                }
                tree.view().find(&mut mass, &mut found).unwrap();
                black_box(&mut found);
            })
        });
        limit::copy("priority", ["stratified", &format!("B{batch}")], batch * (PATH + 20));
        group.bench_function(BenchmarkId::new("independent", format!("B{batch}")), |b| {
            b.iter(|| {
                let total = tree.view().total();
                mass.fill_with(|| rng.uniform() * total);
                tree.view().find(&mut mass, &mut found).unwrap();
                black_box(&mut found);
            })
        });
        limit::copy("priority", ["independent", &format!("B{batch}")], batch * (PATH + 20));
        let slots: Vec<u32> = (0..SETS * batch).map(|_| rng.bounded(ITEMS as u64 - 1) as u32).collect();
        let weights: Vec<f32> = slots.iter().map(|_| 0.01 + rng.uniform_f32()).collect();
        let mut sets = slots.chunks_exact(batch).cycle();
        let mut at = 0;
        group.bench_function(BenchmarkId::new("update", format!("B{batch}")), |b| {
            b.iter(|| {
                at = (at + 1) % (weights.len() - batch + 1);
                tree.set(sets.next().unwrap(), &weights[at..at + batch]).unwrap();
            })
        });
        limit::copy("priority", ["update", &format!("B{batch}")], batch * (PATH + 4 * 16 * 4 + 8 + 4 + 4 * 12));
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
}

criterion_group! { name = benches; config = short(); targets = bench_tree }
fn main() {
    limit::run(benches);
}
