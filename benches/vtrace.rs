//! V-trace against a copy of as many bytes in the same run. Throughput in elements, T times N.

mod limit;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::kernels::gae::Accumulate;
use rlcore::kernels::grid::{Columns, cells};
use rlcore::kernels::vtrace::{Outputs, Policies, Rates, VTrace, from_importance_weights, from_logits};
use rlcore::rng::Rng;

const T: usize = 80;
const A: usize = 18;

fn values(rng: &mut Rng, len: usize, to: f64) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(-to, to) as f32).collect()
}

fn bench_vtrace(c: &mut Criterion) {
    let mut group = c.benchmark_group("vtrace");
    for n in [8, 32, 512, 4096] {
        let len = T * n;
        let rng = &mut Rng::seeded(1);
        let [log_rho, reward, value] = [0.5, 1.0, 1.0].map(|to| values(rng, len, to));
        let (bootstrap_value, logits) = (values(rng, n, 1.0), [(); 2].map(|()| values(rng, len * A, 2.0)));
        let discounts: Vec<f32> = (0..len).map(|_| if rng.uniform() < 0.01 { 0.0 } else { 0.99 }).collect();
        let action: Vec<i32> = (0..len).map(|_| (rng.next_u64() % A as u64) as i32).collect();
        let [mut vs, mut pg_advantage] = [(); 2].map(|()| vec![0.0; len]);
        let v = VTrace {
            num_steps: T,
            num_envs: n,
            discounts: &discounts,
            reward: &reward,
            value: &value,
            bootstrap_value: &bootstrap_value,
            truncated: None,
            final_value: None,
            rates: Rates::default(),
            accumulate: Accumulate::F32,
        };
        group.throughput(Throughput::Elements(len as u64));
        let shape = format!("T{T}xN{n}");
        for (name, accumulate) in [("weights", Accumulate::F32), ("weights_f64", Accumulate::F64)] {
            let v = VTrace { accumulate, ..v };
            group.bench_function(BenchmarkId::new(name, &shape), |b| {
                b.iter(|| from_importance_weights(black_box(&v), &log_rho, &mut vs, &mut pg_advantage).unwrap())
            });
            // 16 bytes read and 8 written per element.
            limit::copy("vtrace", [name, &shape], 24 * len);
        }
        let policies =
            Policies { num_actions: A, behavior_logits: &logits[0], target_logits: &logits[1], action: &action };
        let columns = Columns::all(T, n).unwrap();
        group.bench_function(BenchmarkId::new("logits", format!("{shape}xA{A}")), |b| {
            b.iter(|| {
                let (vs, pg_advantage) = (Some(cells(&mut vs)), Some(cells(&mut pg_advantage)));
                let out = Outputs { vs, pg_advantage, ..Outputs::default() };
                from_logits(black_box(&v), &policies, columns, &out).unwrap()
            })
        });
        limit::copy("vtrace", ["logits", &format!("{shape}xA{A}")], (24 + 8 * A) * len);
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets = bench_vtrace }
fn main() {
    limit::run(benches);
}
