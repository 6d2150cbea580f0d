//! Kernels beside a copy of the same bytes in the same run. Throughput in elements.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rlcore::kernels::gae::{Rollout, gae};
use rlcore::rng::Rng;

fn values(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.uniform() as f32 * 2.0 - 1.0).collect()
}

fn flags(rng: &mut Rng, len: usize, rate: f64) -> Vec<u8> {
    (0..len).map(|_| u8::from(rng.uniform() < rate)).collect()
}

fn bench_gae(c: &mut Criterion) {
    let mut group = c.benchmark_group("gae");
    for n in [8, 256, 4096, 65536] {
        let len = 128 * n;
        let rng = &mut Rng::seeded(1);
        let (reward, value, bootstrap_value) = (values(rng, len), values(rng, len), values(rng, n));
        let (terminated, truncated) = (flags(rng, len, 0.01), flags(rng, len, 0.002));
        let final_value = values(rng, len);
        let rollout = Rollout {
            num_steps: 128,
            num_envs: n,
            reward: &reward,
            value: &value,
            bootstrap_value: &bootstrap_value,
            terminated: &terminated,
            truncated: &truncated,
            final_value: Some(&final_value),
        };
        let (mut advantage, mut value_target) = (vec![0.0; len], vec![0.0; len]);
        group.throughput(Throughput::Elements(len as u64));
        let shape = format!("T128xN{n}");
        group.bench_function(BenchmarkId::from_parameter(&shape), |b| {
            b.iter(|| gae(black_box(&rollout), 0.99, 0.95, &mut advantage, &mut value_target).unwrap())
        });
        // 10 bytes read and 8 written an element: the copy moves 9 each way.
        let from = vec![1u8; len * 9];
        let mut to = vec![0u8; len * 9];
        group.bench_function(BenchmarkId::new("copy", &shape), |b| {
            b.iter(|| black_box(&mut to).copy_from_slice(black_box(&from)))
        });
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets = bench_gae }
criterion_main!(benches);
