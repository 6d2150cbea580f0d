//! Kernels against a copy of as many bytes in the same run. Throughput in elements.

mod limit;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::data::normalizer::{Limits, Moments, normalise};
use rlcore::data::step::Rewrite;
use rlcore::data::vec_normalize::{VecNormalize, VecNormalizeConfig};
use rlcore::kernels::categorical::{self, Logits, Sampling};
use rlcore::kernels::gae::{Accumulate, Rollout, gae};
use rlcore::kernels::gaussian::{self, Gaussian};
use rlcore::kernels::transpose::transpose;
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

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
            accumulate: Accumulate::F32,
        };
        let (mut advantage, mut value_target) = (vec![0.0; len], vec![0.0; len]);
        group.throughput(Throughput::Elements(len as u64));
        let shape = format!("T128xN{n}");
        group.bench_function(BenchmarkId::from_parameter(&shape), |b| {
            b.iter(|| gae(black_box(&rollout), 0.99, 0.95, &mut advantage, &mut value_target).unwrap())
        });
        // 10 bytes read and 8 written per element.
        limit::copy("gae", [&shape, ""], 18 * len);
    }
}

/// [N, T, len] to [T, N, len], against a copy of the same bytes.
fn bench_transpose(c: &mut Criterion) {
    let mut group = c.benchmark_group("transpose");
    for (n, len) in [(256, 1), (4096, 1), (256, 17)] {
        let x = values(&mut Rng::seeded(1), 128 * n * len);
        let mut out = vec![0.0; x.len()];
        group.throughput(Throughput::Elements(x.len() as u64));
        let shape = format!("N{n}xT128xD{len}");
        group.bench_function(BenchmarkId::from_parameter(&shape), |b| {
            b.iter(|| {
                transpose(n, 128, len, Elements::F32(black_box(&x)), ElementsMut::F32(black_box(&mut out))).unwrap()
            })
        });
        limit::copy("transpose", [&shape, ""], 8 * x.len());
    }
}

/// Elements are logits.
fn bench_categorical(c: &mut Criterion) {
    let mut group = c.benchmark_group("categorical");
    for (rows, n) in [(8, 2), (256, 2), (256, 3), (256, 6), (256, 18)] {
        let rng = &mut Rng::seeded(1);
        let (logits, grads) = (values(rng, rows * n), values(rng, rows));
        let uniform: Vec<f32> = grads.iter().map(|x| x.abs()).collect();
        let batch = Logits { num_rows: rows, n: &[n as u32], logits: &logits, mask: None };
        let (mut log_prob, mut entropy) = (vec![0.0; rows], vec![0.0; rows]);
        let (mut action, mut grad) = (vec![0; rows], vec![0.0; rows * n]);
        group.throughput(Throughput::Elements((rows * n) as u64));
        let shape = format!("B{rows}xA{n}");
        group.bench_function(BenchmarkId::new("sample", &shape), |b| {
            b.iter(|| categorical::sample(black_box(&batch), Sampling::Basic, &uniform, &mut action).unwrap())
        });
        limit::copy("categorical", ["sample", &shape], (4 * n + 8) * rows);
        let action = action.clone();
        group.bench_function(BenchmarkId::new("evaluate", &shape), |b| {
            b.iter(|| categorical::evaluate(black_box(&batch), &action, &mut log_prob, &mut entropy).unwrap())
        });
        limit::copy("categorical", ["evaluate", &shape], (4 * n + 12) * rows);
        group.bench_function(BenchmarkId::new("gradient", &shape), |b| {
            b.iter(|| categorical::gradient(black_box(&batch), &action, &grads, &grads, &mut grad).unwrap())
        });
        limit::copy("categorical", ["gradient", &shape], (8 * n + 12) * rows);
    }
}

/// Elements are components of actions.
fn bench_gaussian(c: &mut Criterion) {
    let mut group = c.benchmark_group("gaussian");
    for (rows, width) in [(256, 1), (256, 6)] {
        let rng = &mut Rng::seeded(1);
        let (mean, action) = (values(rng, rows * width), values(rng, rows * width));
        let (log_std, grads) = (values(rng, width), values(rng, rows));
        let batch = Gaussian { num_rows: rows, mean: &mean, log_std: &log_std };
        let (mut log_prob, mut drawn) = (vec![0.0; rows], vec![0.0; rows * width]);
        let (mut mean_grad, mut log_std_grad) = (vec![0.0; rows * width], vec![0.0; width]);
        group.throughput(Throughput::Elements((rows * width) as u64));
        let shape = format!("B{rows}xA{width}");
        group.bench_function(BenchmarkId::new("sample", &shape), |b| {
            b.iter(|| gaussian::sample(black_box(&batch), &action, &mut drawn).unwrap())
        });
        limit::copy("gaussian", ["sample", &shape], 12 * width * rows);
        group.bench_function(BenchmarkId::new("log_prob", &shape), |b| {
            b.iter(|| gaussian::log_prob(black_box(&batch), &action, &mut log_prob).unwrap())
        });
        limit::copy("gaussian", ["log_prob", &shape], (8 * width + 4) * rows);
        group.bench_function(BenchmarkId::new("gradient", &shape), |b| {
            b.iter(|| {
                let (mean_grad, log_std_grad) = (&mut mean_grad, &mut log_std_grad);
                gaussian::gradient(black_box(&batch), &action, &grads, &grads, mean_grad, log_std_grad).unwrap()
            })
        });
        limit::copy("gaussian", ["gradient", &shape], (12 * width + 8) * rows);
    }
}

/// One step of an observation normalizer: update, then normalize. 12 bytes per element, which is read twice and written once.
fn bench_moments(c: &mut Criterion) {
    let mut group = c.benchmark_group("moments");
    for (rows, width) in [(1, 17), (8, 4), (64, 3), (64, 17), (4, 400), (4096, 17), (4096, 64)] {
        let x = values(&mut Rng::seeded(1), rows * width);
        let (mut mean, mut var, mut count) = (vec![0.0; width], vec![1.0; width], 1e-4);
        let mut out = vec![0.0; rows * width];
        group.throughput(Throughput::Elements((rows * width) as u64));
        let shape = format!("N{rows}xD{width}");
        group.bench_function(BenchmarkId::from_parameter(&shape), |b| {
            b.iter(|| {
                let mut moments = Moments { mean: &mut mean, var: &mut var, count: &mut count };
                moments.update(black_box(&x)).unwrap();
                normalise(&mean, &var, Limits::default(), Rewrite::apart(&x, &mut out)).unwrap();
            })
        });
        limit::copy("moments", [&shape, ""], 12 * x.len());
        // The same in one call, which checks only once that all numbers are finite.
        let config = VecNormalizeConfig { num_envs: rows as u32, obs_len: width as u32, ..Default::default() };
        let mut words = vec![0u64; VecNormalize::size(&config).unwrap() / 8];
        let mut block = VecNormalize::init(bytemuck::cast_slice_mut(&mut words), &config).unwrap();
        group.bench_function(BenchmarkId::new("vec_normalize", &shape), |b| {
            b.iter(|| block.reset(Rewrite::apart(black_box(&x), &mut out)).unwrap())
        });
        limit::copy("moments", ["vec_normalize", &shape], 12 * x.len());
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets = bench_gae, bench_transpose, bench_categorical, bench_gaussian, bench_moments }
fn main() {
    limit::run(benches);
}
