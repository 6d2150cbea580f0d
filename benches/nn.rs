//! Networks at the sizes that PPO uses, and the optimizer. Throughput in rows (forward and backward together count once), in
//! operations of a matrix product (two per multiply-add), or in parameters.

mod limit;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::nn::{ALL, Activation, Adam, Carry, HEAD, Layer, LayerKind, Net, Node};
use rlcore::rng::Rng;

/// Multiplications and additions of one row in the matrix products of a tower, in one forward pass.
const TOWER: usize = 2 * (4 * 64 + 64 * 64 + 64 * 2);

const NAMES: [(&str, Activation); 2] = [("relu", Activation::Relu), ("tanh", Activation::Tanh)];

struct Arrays {
    nodes: Vec<Node>,
    params: Vec<f32>,
    x: Vec<f32>,
    tape: Vec<f32>,
    out: Vec<f32>,
    grads: Vec<f32>,
    scratch: Vec<f32>,
}

fn head(units: u32) -> Layer {
    Layer { flags: HEAD, gain: 0.01, ..Layer::dense(units, Activation::Identity) }
}

fn tower(sizes: &[u32], activation: Activation, batch: usize) -> Arrays {
    let (output, hidden) = sizes[1..].split_last().unwrap();
    let mut layers: Vec<_> = hidden.iter().map(|&units| Layer::dense(units, activation)).collect();
    layers.push(head(*output));
    arrays(&layers, [1, 1, sizes[0] as usize], batch)
}

fn arrays(layers: &[Layer], input: [usize; 3], batch: usize) -> Arrays {
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, input, &mut nodes).unwrap();
    let mut rng = Rng::seeded(1);
    let (mut params, mut scratch) = (vec![0.0; net.param_len()], vec![0.0; net.scratch_len(false, 0)]);
    net.init(&mut params, &mut rng, &mut scratch).unwrap();
    let mut x = vec![0.0; batch * net.input()];
    rng.fill_normal(&mut x);
    let (tape, out) = (vec![0.0; net.tape_len(batch)], vec![0.0; batch * net.head_len(0)]);
    Arrays { nodes, grads: params.clone(), params, x, tape, out, scratch }
}

impl Arrays {
    fn infer(&mut self, batch: usize) {
        let (params, outs) = (black_box(&self.params), &mut [&mut self.out[..]]);
        Net::new(&self.nodes).infer(params, &self.x, batch, ALL, &mut [], &mut self.scratch, outs).unwrap();
    }

    fn forward(&mut self, batch: usize) {
        let (params, outs) = (black_box(&self.params), &mut [&mut self.out[..]]);
        Net::new(&self.nodes)
            .forward(params, &self.x, batch, ALL, &Carry::NONE, &mut self.tape, &mut self.scratch, outs)
            .unwrap();
    }

    fn backward(&mut self, batch: usize) {
        let (net, params, x) = (Net::new(&self.nodes), black_box(&self.params), &self.x);
        self.grads.fill(0.0);
        let (d_outs, grads) = (&[&self.out[..]], &mut self.grads);
        net.backward(params, x, batch, ALL, &Carry::NONE, &self.tape, d_outs, None, grads, &mut self.scratch).unwrap();
    }
}

fn bench_infer(c: &mut Criterion) {
    let mut group = c.benchmark_group("mlp_4-64-64-2");
    for (name, activation) in NAMES {
        for batch in [1, 4, 256] {
            let mut a = tower(&[4, 64, 64, 2], activation, batch);
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(format!("{name}_infer"), format!("B{batch}")), |b| {
                b.iter(|| a.infer(batch))
            });
            limit::operations("mlp_4-64-64-2", [&format!("{name}_infer"), &format!("B{batch}")], TOWER * batch);
        }
    }
}

fn bench_both_ways(c: &mut Criterion) {
    let mut group = c.benchmark_group("mlp_4-64-64-2");
    for (name, activation) in NAMES {
        for batch in [128, 256] {
            let mut a = tower(&[4, 64, 64, 2], activation, batch);
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(format!("{name}_forward_backward"), format!("B{batch}")), |b| {
                b.iter(|| {
                    a.forward(batch);
                    a.backward(batch);
                })
            });
            // The forward pass, and the gradients of all layers' weights and of the inputs of all layers but the first.
            let id = [format!("{name}_forward_backward"), format!("B{batch}")];
            limit::operations("mlp_4-64-64-2", [&id[0], &id[1]], (3 * TOWER - 2 * 4 * 64) * batch);
        }
    }
}

/// Networks with picture inputs, each with its multiplications and additions per picture in the forward pass.
fn pictures() -> [(&'static str, [usize; 3], Vec<Layer>, usize); 3] {
    use Activation::{Elu, Relu};
    let conv = |units, size, stride| Layer::conv(units, [size; 2], [stride; 2], Relu);
    let same = |units| Layer { same: 1, ..Layer::conv(units, [3; 2], [2; 2], Elu) };
    [
        (
            "nature_84x84x4",
            [84, 84, 4],
            vec![conv(32, 8, 4), conv(64, 4, 2), conv(64, 3, 1), Layer::dense(512, Relu), head(6)],
            2 * (400 * 256 * 32 + 81 * 512 * 64 + 49 * 576 * 64 + 3136 * 512 + 512 * 6),
        ),
        (
            "btgym_42x42x1",
            [42, 42, 1],
            vec![same(32), same(32), same(64), same(64), head(4)],
            2 * (441 * 9 * 32 + 121 * 288 * 32 + 36 * 288 * 64 + 9 * 576 * 64 + 576 * 4),
        ),
        (
            "minatar_10x10x4",
            [10, 10, 4],
            vec![conv(16, 3, 1), Layer::dense(128, Relu), head(3)],
            2 * (64 * 36 * 16 + 1024 * 128 + 128 * 3),
        ),
    ]
}

fn bench_pictures(c: &mut Criterion) {
    for (name, input, layers, operations) in pictures() {
        let mut group = c.benchmark_group(name);
        for batch in [1, 32] {
            let (mut a, id) = (arrays(&layers, input, batch), format!("B{batch}"));
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new("infer", &id), |b| b.iter(|| a.infer(batch)));
            limit::operations(name, ["infer", &id], operations * batch);
            group.bench_function(BenchmarkId::new("forward_backward", &id), |b| {
                b.iter(|| {
                    a.forward(batch);
                    a.backward(batch);
                })
            });
            let first = match name {
                "nature_84x84x4" => 2 * 400 * 256 * 32,
                "btgym_42x42x1" => 2 * 441 * 9 * 32,
                _ => 2 * 64 * 36 * 16,
            };
            limit::operations(name, ["forward_backward", &id], (3 * operations - first) * batch);
        }
    }
}

/// Recurrent layers and attention over sequences: forward, and backward to the weights, as measured for other packages.
fn bench_recurrent(c: &mut Criterion) {
    for (name, kind, input, units, steps, sequences) in [
        ("lstm_64-64_T1B1", LayerKind::Lstm, 64, 64, 1, 1),
        ("lstm_580-256_T1B1", LayerKind::Lstm, 580, 256, 1, 1),
        ("lstm_64-64_T20B16", LayerKind::Lstm, 64, 64, 20, 16),
        ("lstm_64-64_T16B8", LayerKind::Lstm, 64, 64, 16, 8),
        ("gru_64-64_T16B8", LayerKind::Gru, 64, 64, 16, 8),
        ("mingru_64-64_T16B8", LayerKind::MinGru, 64, 64, 16, 8),
    ] {
        let operations = 2 * (input + units as usize) * units as usize * if kind == LayerKind::Lstm { 4 } else { 3 };
        let operations = if kind == LayerKind::MinGru { 2 * input * units as usize * 2 } else { operations };
        bench_steps(c, name, &[Layer::recurrent(kind, units), head(1)], input, [steps, sequences], operations);
    }
    // Width 128, 4 heads, 2 layers, a context of 9.
    let mut layers = vec![Layer::dense(128, Activation::Identity)];
    for _ in 0..2 {
        layers.push(Layer::attention(128, 4, 9));
        layers.extend([Layer::dense(256, Activation::Relu), Layer::dense(128, Activation::Identity)]);
    }
    layers.push(head(4));
    let operations = 2 * (128 * 128 + 2 * (4 * 128 * 128 + 2 * 9 * 128 + 2 * 128 * 256) + 128 * 4);
    for (name, steps, sequences) in
        [("transformer_T1B1", 1, 1), ("transformer_T9B1", 9, 1), ("transformer_T9B32", 9, 32)]
    {
        bench_steps(c, name, &layers, 128, [steps, sequences], operations);
    }
}

/// `operations`: per row in the forward pass.
fn bench_steps(
    c: &mut Criterion,
    name: &str,
    layers: &[Layer],
    input: usize,
    [steps, sequences]: [usize; 2],
    operations: usize,
) {
    let (rows, operations) = (steps * sequences, operations * steps * sequences);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, [1, 1, input], &mut nodes).unwrap();
    let (mut params, mut grads) = (vec![0.0; net.param_len()], vec![0.0; net.param_len()]);
    let mut scratch = vec![0.0; net.scratch_len(true, sequences).max(net.infer_scratch_len(rows))];
    net.init(&mut params, &mut Rng::seeded(1), &mut scratch).unwrap();
    let outputs = rows * net.head_len(0);
    let (x, d) = (vec![0.5; rows * input], vec![0.1; outputs]);
    let (mut tape, mut out) = (vec![0.0; net.tape_len(rows)], vec![0.0; outputs]);
    let mut state = vec![0.0; rows * net.state_len()];
    let (zeros, cut) = (state.clone(), vec![0; rows]);
    let carry = Carry { steps, cut: &cut, state: &zeros };
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(rows as u64));
    if steps == 1 {
        group.bench_function("infer", |b| {
            b.iter(|| net.infer(&params, &x, rows, ALL, &mut state, &mut scratch, &mut [&mut out]).unwrap())
        });
        limit::operations(name, ["infer", ""], operations);
    }
    group.bench_function("forward", |b| {
        b.iter(|| net.forward(&params, &x, rows, ALL, &carry, &mut tape, &mut scratch, &mut [&mut out]).unwrap())
    });
    limit::operations(name, ["forward", ""], operations);
    group.bench_function("forward_backward", |b| {
        b.iter(|| {
            net.forward(&params, &x, rows, ALL, &carry, &mut tape, &mut scratch, &mut [&mut out]).unwrap();
            net.backward(&params, &x, rows, ALL, &carry, &tape, &[&d], None, &mut grads, &mut scratch).unwrap();
        })
    });
    limit::operations(name, ["forward_backward", ""], 3 * operations);
}

/// A network without hidden layers is one matrix product; its backward pass is the product that computes the weight gradient.
fn bench_products(c: &mut Criterion) {
    let mut group = c.benchmark_group("product_64x64");
    for batch in [64, 256] {
        let mut a = tower(&[64, 64], Activation::Relu, batch);
        group.throughput(Throughput::Elements(2 * 64 * 64 * batch as u64));
        group.bench_function(BenchmarkId::new("forward", format!("M{batch}")), |b| b.iter(|| a.infer(batch)));
        let shape = format!("M{batch}");
        limit::operations("product_64x64", ["forward", &shape], 2 * 64 * 64 * batch);
        group
            .bench_function(BenchmarkId::new("weight_gradient", format!("M{batch}")), |b| b.iter(|| a.backward(batch)));
        limit::operations("product_64x64", ["weight_gradient", &shape], 2 * 64 * 64 * batch);
    }
}

fn bench_adam(c: &mut Criterion) {
    let len = tower(&[4, 64, 64, 2], Activation::Tanh, 1).params.len() * 2;
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
    targets = bench_infer, bench_both_ways, bench_pictures, bench_recurrent, bench_products, bench_adam
}
fn main() {
    limit::run(benches);
}
