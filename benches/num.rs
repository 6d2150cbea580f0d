//! Transcendental functions over 4096 f32, in lanes of 16 and at every CPU level: `num/<function>/<level>`.

mod limit;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::cpu::{self, Kernel, LEVELS, Level};
use rlcore::num;
use rlcore::rng::Rng;

const LEN: usize = 4096;

struct Map<'a, F> {
    x: &'a [f32],
    y: &'a mut [f32],
    f: F,
}

impl<F: Fn(f32) -> f32> Kernel for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (x, y) = (self.x.as_chunks::<16>().0, self.y.as_chunks_mut::<16>().0);
        for (x, y) in x.iter().zip(y) {
            for (x, y) in x.iter().zip(y) {
                *y = (self.f)(*x);
            }
        }
    }
}

fn at_all_levels(c: &mut Criterion, name: &str, bytes: usize, mut run: impl FnMut()) {
    let name = format!("num/{name}");
    let mut group = c.benchmark_group(&name);
    group.throughput(Throughput::Elements(LEN as u64));
    for level in LEVELS {
        cpu::set_limit(level);
        if cpu::level() == level {
            group.bench_function(BenchmarkId::from_parameter(format!("{level:?}")), |b| b.iter(&mut run));
            limit::copy(&name, [&format!("{level:?}"), ""], bytes * LEN);
        }
    }
    cpu::set_limit(Level::Avx512);
    group.finish();
}

fn map(c: &mut Criterion, name: &str, low: f64, high: f64, f: impl Fn(f32) -> f32 + Copy) {
    let mut rng = Rng::seeded(1);
    let x: Vec<f32> = (0..LEN).map(|_| rng.uniform_in(low, high) as f32).collect();
    let mut y = vec![0.0; LEN];
    at_all_levels(c, name, 8, || cpu::dispatch(Map { x: black_box(&x), y: black_box(&mut y), f }));
}

#[inline(always)]
fn sin_plus_cos(x: f32) -> f32 {
    let (sin, cos) = num::sin_cos(x);
    sin + cos
}

fn all(c: &mut Criterion) {
    map(c, "exp", -80.0, 80.0, num::exp);
    map(c, "ln", 0.0, 1e4, num::ln);
    map(c, "tanh", -10.0, 10.0, num::tanh);
    map(c, "sqrt", 0.0, 1e4, num::sqrt);
    map(c, "sigmoid", -20.0, 20.0, num::sigmoid);
    map(c, "softplus", -20.0, 20.0, num::softplus);
    map(c, "sin_cos", -1e4, 1e4, sin_plus_cos);
    let (mut rng, mut normal) = (Rng::seeded(1), vec![0.0; LEN]);
    at_all_levels(c, "fill_normal", 4, || rng.fill_normal(black_box(&mut normal)));
    let mut order = vec![0; LEN];
    at_all_levels(c, "permutation", 4, || rng.permutation(black_box(&mut order)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600)).sample_size(20);
    targets = all
}
fn main() {
    limit::run(benches);
}
