//! Towers at the sizes that PPO uses, and the optimiser. Throughput in rows, in operations of the hidden product (two a
//! multiply-add; one row each way where both passes run), or in parameters.

mod limit;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::nn::{Activation, Adam, Mlp};
use rlcore::rng::Rng;

/// Multiplications and additions that a row takes through the products of a tower, once.
const TOWER: usize = 2 * (4 * 64 + 64 * 64 + 64 * 2);

const NAMES: [(&str, Activation); 2] = [("relu", Activation::Relu), ("tanh", Activation::Tanh)];

struct Arrays {
    mlp: Mlp,
    params: Vec<f32>,
    x: Vec<f32>,
    tape: Vec<f32>,
    out: Vec<f32>,
    grads: Vec<f32>,
    scratch: Vec<f32>,
}

fn arrays(sizes: &[usize], activation: Activation, batch: usize) -> Arrays {
    let mlp = Mlp::new(sizes, activation).unwrap();
    let mut rng = Rng::seeded(1);
    let (mut params, mut scratch) = (vec![0.0; mlp.param_len()], vec![0.0; mlp.scratch_len()]);
    mlp.init(&mut params, 0.01, &mut rng, &mut scratch).unwrap();
    let mut x = vec![0.0; batch * mlp.input()];
    rng.fill_normal(&mut x);
    let (tape, out) = (vec![0.0; mlp.tape_len(batch)], vec![0.0; batch * mlp.output()]);
    Arrays { mlp, grads: params.clone(), params, x, tape, out, scratch }
}

fn bench_infer(c: &mut Criterion) {
    let mut group = c.benchmark_group("mlp_4-64-64-2");
    for (name, activation) in NAMES {
        for batch in [1, 4, 256] {
            let mut a = arrays(&[4, 64, 64, 2], activation, batch);
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(format!("{name}_infer"), format!("B{batch}")), |b| {
                b.iter(|| a.mlp.infer(black_box(&a.params), &a.x, batch, &mut a.scratch, &mut a.out).unwrap())
            });
            limit::operations("mlp_4-64-64-2", [&format!("{name}_infer"), &format!("B{batch}")], TOWER * batch);
        }
    }
}

fn bench_both_ways(c: &mut Criterion) {
    let mut group = c.benchmark_group("mlp_4-64-64-2");
    for (name, activation) in NAMES {
        for batch in [128, 256] {
            let mut a = arrays(&[4, 64, 64, 2], activation, batch);
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(format!("{name}_forward_backward"), format!("B{batch}")), |b| {
                b.iter(|| {
                    let p = black_box(&a.params);
                    a.mlp.forward(p, &a.x, batch, &mut a.tape, &mut a.out).unwrap();
                    a.mlp.backward(p, &a.x, batch, &a.tape, &a.out, &mut a.grads, &mut a.scratch).unwrap();
                })
            });
            // Forward, and backward to the weights of all layers and to the inputs of all but the first.
            let id = [format!("{name}_forward_backward"), format!("B{batch}")];
            limit::operations("mlp_4-64-64-2", [&id[0], &id[1]], (3 * TOWER - 2 * 4 * 64) * batch);
        }
    }
}

/// A tower without hidden layers is one product; its backward pass is the product that gives the weights' gradient.
fn bench_products(c: &mut Criterion) {
    let mut group = c.benchmark_group("product_64x64");
    for batch in [64, 256] {
        let mut a = arrays(&[64, 64], Activation::Relu, batch);
        group.throughput(Throughput::Elements(2 * 64 * 64 * batch as u64));
        group.bench_function(BenchmarkId::new("forward", format!("M{batch}")), |b| {
            b.iter(|| a.mlp.infer(black_box(&a.params), &a.x, batch, &mut a.scratch, &mut a.out).unwrap())
        });
        let shape = format!("M{batch}");
        limit::operations("product_64x64", ["forward", &shape], 2 * 64 * 64 * batch);
        group.bench_function(BenchmarkId::new("weight_gradient", format!("M{batch}")), |b| {
            b.iter(|| {
                let p = black_box(&a.params);
                a.mlp.backward(p, &a.x, batch, &a.tape, &a.out, &mut a.grads, &mut a.scratch).unwrap()
            })
        });
        limit::operations("product_64x64", ["weight_gradient", &shape], 2 * 64 * 64 * batch);
    }
}

fn bench_adam(c: &mut Criterion) {
    let len = Mlp::new(&[4, 64, 64, 2], Activation::Tanh).unwrap().param_len() * 2;
    let (mut params, mut grads) = (vec![0.0; len], vec![0.0; len]);
    let (mut m, mut v, mut steps) = (vec![0.0; len], vec![0.0; len], 0);
    Rng::seeded(1).fill_normal(&mut grads);
    let mut group = c.benchmark_group("adam");
    group.throughput(Throughput::Elements(len as u64));
    group.bench_function(BenchmarkId::from_parameter(len), |b| {
        let adam = Adam::default();
        b.iter(|| adam.step(&mut params, black_box(&grads), &mut m, &mut v, &mut steps, 1e-9, 0.5).unwrap())
    });
    // Four arrays are read, three of them written.
    limit::copy("adam", [&len.to_string(), ""], 7 * 4 * len);
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .without_plots()
}

criterion_group! {
    name = benches;
    config = short();
    targets = bench_infer, bench_both_ways, bench_products, bench_adam
}
fn main() {
    limit::run(benches);
}
