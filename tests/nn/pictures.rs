//! Convolutions, depthwise and transposed ones, pools, normalizations, tables, sums and products of pictures: against their formulas in f64
//! and the slopes of these, vectors from PyTorch, every CPU level, any split of the rows, and bad shapes.

use crate::checks::{
    backward, bits, forward, near, random, read, room, same_at_every_level, slices, slope, started, wide, within,
};
use rlcore::error::Kind;
use rlcore::nn::{
    ALL, Activation, BYTES, Carry, HEAD, INPUT, Initializer, Input, Layer, LayerKind, MEAN, NO_BIAS, NO_SCALE, Net,
    Node, RMS, WHOLE,
};
use rlcore::rng::Rng;

/// Height, width and channels.
type Shape = [usize; 3];

fn conv(units: u32, size: u32, stride: u32, same: u32, activation: Activation) -> Layer {
    Layer { same, ..Layer::conv(units, [size; 2], [stride; 2], activation) }
}

fn depthwise(units: u32, size: u32, stride: u32, same: u32, activation: Activation) -> Layer {
    Layer { kind: LayerKind::Depthwise as u32, ..conv(units, size, stride, same, activation) }
}

fn pool(size: [u32; 2], stride: [u32; 2], same: u32, flags: u32) -> Layer {
    Layer { same, flags, units: 0, kind: LayerKind::Pool as u32, ..Layer::conv(0, size, stride, Activation::Identity) }
}

fn norm(flags: u32, activation: Activation) -> Layer {
    Layer { flags, kind: LayerKind::Norm as u32, ..Layer::dense(0, activation) }
}

fn head(units: u32) -> Layer {
    Layer { flags: HEAD, ..Layer::dense(units, Activation::Identity) }
}

fn networks() -> Vec<(Shape, Vec<Layer>)> {
    use Activation::{Elu, Identity, Relu, Tanh};
    let wide = |size, stride| Layer { same: 1, ..Layer::conv(3, size, stride, Elu) };
    let (mean, bare) = (pool([5, 6], [0, 0], 0, MEAN), norm(WHOLE | NO_SCALE | NO_BIAS, Tanh));
    vec![
        ([10, 10, 4], vec![conv(16, 3, 1, 0, Relu), Layer::dense(20, Relu), head(3)]),
        ([20, 18, 2], vec![conv(32, 8, 4, 0, Relu), conv(33, 2, 1, 0, Relu), head(5)]),
        ([7, 9, 3], vec![conv(5, 3, 2, 1, Elu), conv(17, 3, 2, 1, Tanh), conv(4, 3, 1, 1, Identity), head(2)]),
        ([6, 5, 1], vec![wide([3, 1], [2, 1]), wide([1, 4], [1, 3]), wide([2, 2], [3, 3]), head(1)]),
        ([1, 12, 2], vec![Layer::conv(6, [1, 5], [1, 2], Elu), norm(0, Relu), pool([1, 2], [0, 0], 0, 0), head(4)]),
        ([9, 9, 2], vec![conv(4, 2, 1, 0, Relu), pool([3, 3], [2, 2], 1, 0), pool([2, 2], [1, 1], 1, MEAN), head(2)]),
        ([5, 6, 3], vec![norm(0, Identity), conv(8, 3, 1, 1, Identity), norm(WHOLE, Elu), mean, head(1)]),
        ([4, 4, 17], vec![norm(RMS | NO_BIAS, Identity), bare, norm(WHOLE | RMS, Relu), head(2)]),
        ([1, 1, 21], vec![Layer::dense(40, Identity), norm(NO_SCALE, Tanh), norm(0, Relu), head(3)]),
        // Two layers read the same one, pictures are heads, and a convolution of one pixel reads a dense layer.
        (
            [6, 6, 2],
            vec![
                conv(3, 3, 1, 1, Elu),
                Layer { source: [1, 0], ..conv(4, 3, 2, 0, Tanh) },
                Layer { source: [1, 0], flags: HEAD, ..pool([2, 2], [2, 2], 0, 0) },
                Layer { source: [2, 0], flags: HEAD, ..conv(2, 2, 1, 1, Relu) },
                Layer { source: [INPUT, 0], ..Layer::dense(5, Relu) },
                Layer { flags: HEAD, ..conv(18, 1, 1, 0, Identity) },
            ],
        ),
        // Each channel by itself: one unit of each and several, fewer and more channels than lanes, with padding and without.
        ([6, 5, 4], vec![depthwise(4, 3, 1, 1, Relu), conv(16, 1, 1, 0, Relu), head(3)]),
        ([7, 9, 3], vec![depthwise(9, 3, 2, 0, Tanh), depthwise(18, 2, 1, 1, Elu), head(2)]),
        ([6, 7, 17], vec![depthwise(17, 3, 2, 1, Elu), depthwise(34, 2, 1, 0, Identity), head(1)]),
        (
            [6, 6, 1],
            vec![
                Layer { flags: NO_BIAS, ..depthwise(32, 2, 1, 0, Relu) },
                Layer { size: [1, 4], stride: [2, 3], ..depthwise(32, 1, 1, 1, Tanh) },
                Layer { source: [1, 0], flags: HEAD, ..depthwise(32, 4, 4, 0, Identity) },
                Layer { source: [2, 0], ..head(2) },
            ],
        ),
        // Larger pictures, in the shapes of a dueling deconvolution and with windows that leave gaps.
        (
            [1, 1, 6],
            vec![
                Layer { flags: NO_BIAS, ..Layer::dense(45, Relu) },
                Layer { source: [INPUT, 0], ..deconv(5, [3, 4], [1, 1], 0) },
                Layer { activation: Elu as u32, ..deconv(3, [4, 2], [2, 3], 0) },
                Layer { flags: NO_BIAS, ..deconv(17, [3, 3], [2, 1], 1) },
                Layer { flags: HEAD | NO_BIAS, ..conv(2, 2, 1, 0, Identity) },
                Layer { source: [1, 0], ..head(1) },
            ],
        ),
        // A residual block, then each channel scaled and moved by the output of another layer (FiLM), pictures side by side.
        (
            [4, 5, 3],
            vec![
                conv(4, 3, 1, 1, Relu),
                conv(4, 3, 1, 1, Identity),
                Layer::merge(LayerKind::Add, [0, 1], Relu),
                Layer { source: [INPUT, 0], ..Layer::dense(4, Tanh) },
                Layer::merge(LayerKind::Multiply, [3, 4], Identity),
                Layer::merge(LayerKind::Add, [5, 4], Elu),
                Layer::merge(LayerKind::Join, [INPUT, 6], Tanh),
                Layer { flags: HEAD, ..Layer::merge(LayerKind::Multiply, [7, 7], Identity) },
                Layer { source: [6, 0], ..head(2) },
            ],
        ),
        // A row behind a picture, which becomes a row.
        (
            [3, 4, 2],
            vec![
                conv(3, 2, 1, 0, Tanh),
                Layer { source: [INPUT, 0], ..Layer::dense(4, Elu) },
                Layer::merge(LayerKind::Join, [1, 2], Tanh),
                Layer { flags: HEAD, ..Layer::merge(LayerKind::Join, [1, 2], Identity) },
                Layer { source: [3, 0], ..head(2) },
            ],
        ),
        // Symbols, to which the input is rounded: 0 and 1 here.
        (
            [3, 2, 3],
            vec![
                embed(5, 2, Identity),
                Layer { source: [INPUT, 0], ..embed(5, 1, Relu) },
                Layer::merge(LayerKind::Add, [1, 2], Identity),
                conv(4, 2, 1, 0, Relu),
                head(2),
            ],
        ),
    ]
}

fn deconv(units: u32, size: [u32; 2], stride: [u32; 2], same: u32) -> Layer {
    Layer { kind: LayerKind::Deconv as u32, same, ..Layer::conv(units, size, stride, Activation::Identity) }
}

fn embed(units: u32, symbols: u32, activation: Activation) -> Layer {
    Layer { kind: LayerKind::Embed as u32, symbols, ..Layer::dense(units, activation) }
}

struct Case {
    input: Shape,
    layers: Vec<Layer>,
    nodes: Vec<Node>,
    rows: usize,
    params: Vec<f32>,
    x: Vec<f32>,
    d_outs: Vec<Vec<f32>>,
}

fn case(input: Shape, layers: &[Layer], rows: usize) -> Case {
    let mut rng = Rng::seeded(rows as u64 + 7 * layers.len() as u64);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, input, &mut nodes).unwrap();
    let params = random(&mut rng, net.param_len(), 0.4);
    let x = random(&mut rng, rows * input.iter().product::<usize>(), 1.0);
    let num_heads = layers.iter().filter(|l| l.flags & HEAD != 0).count();
    let d_outs = (0..num_heads).map(|k| random(&mut rng, rows * net.head_len(k), 1.0)).collect();
    Case { input, layers: layers.to_vec(), nodes, rows, params, x, d_outs }
}

/// Outputs, gradients and the gradient of the input.
type Run = (Vec<Vec<f32>>, Vec<f32>, Vec<f32>);

impl Case {
    fn net(&self) -> Net<'_> {
        Net::new(&self.nodes)
    }

    /// All of these for rows `[begin, end)`; adds to `grads`.
    fn run(&self, begin: usize, end: usize, grads: &mut [f32]) -> (Vec<Vec<f32>>, Vec<f32>) {
        let (net, rows) = (self.net(), end - begin);
        let part = |a: &[f32]| a[begin * (a.len() / self.rows)..end * (a.len() / self.rows)].to_vec();
        let (x, d_outs) = (part(&self.x), self.d_outs.iter().map(|d| part(d)).collect::<Vec<_>>());
        let (outs, tape) = forward(&net, &self.params, &x, &Carry::NONE);
        let mut again: Vec<_> = outs.iter().map(|out| room(out.len())).collect();
        let mut scratch = room(net.infer_scratch_len(rows));
        net.infer(&self.params, &x, rows, ALL, &mut [], &mut scratch, &mut slices(&mut again)).unwrap();
        assert_eq!(bits(&again.concat()), bits(&outs.concat()), "inference equals forward");
        let (mut d_input, mut scratch) = (room(x.len()), room(net.scratch_len(true, 0)));
        let d_outs: Vec<_> = d_outs.iter().map(|d| &d[..]).collect();
        let (params, d) = (&self.params, Some(&mut d_input[..]));
        net.backward(params, &x, rows, ALL, &Carry::NONE, &tape, &d_outs, d, grads, &mut scratch).unwrap();
        (outs, d_input)
    }

    fn all(&self) -> Run {
        let mut grads = vec![0.0; self.params.len()];
        let (outs, d_input) = self.run(0, self.rows, &mut grads);
        (outs, grads, d_input)
    }

    /// The heads for all rows, one after the other, from parameters in the order of hosts.
    fn twin(&self, params: &[f64], x: &[f64]) -> Vec<Vec<f64>> {
        let mut heads = vec![Vec::new(); self.d_outs.len()];
        for x in x.chunks(self.input.iter().product()) {
            let (mut all, mut k): (Vec<(Shape, Vec<f64>)>, _) = (Vec::new(), 0);
            let mut params = params;
            for (i, layer) in self.layers.iter().enumerate() {
                let own = (self.input, x.to_vec());
                let [first, second] = from(layer, i).map(|from| if from == 0 { &own } else { &all[from - 1] });
                let (shape, mut y) = match layer.kind {
                    12..=14 => twin_merge(layer, first, second),
                    _ => twin_layer(layer, first.0, &first.1, &mut params),
                };
                for y in &mut y {
                    *y = match layer.activation {
                        0 if layer.kind != LayerKind::Pool as u32 => y.tanh(),
                        1 => y.max(0.0),
                        3 if *y < 0.0 => y.exp() - 1.0,
                        _ => *y,
                    };
                }
                if layer.flags & HEAD != 0 {
                    heads[k].extend(&y);
                    k += 1;
                }
                all.push((shape, y));
            }
        }
        heads
    }

    /// Parameters in the order in which the twin takes them: weights, then bias, layer by layer.
    fn read(&self, params: &[f32]) -> Vec<f64> {
        let (mut all, mut shape) = (Vec::new(), Vec::new());
        for (i, layer) in self.layers.iter().enumerate() {
            let [input, second] = from(layer, i).map(|from| if from == 0 { self.input } else { shape[from - 1] });
            let [kh, kw] = layer.size.map(|s| s as usize);
            let len: usize = input.iter().product();
            let units = layer.units as usize;
            let biases = if layer.flags & NO_BIAS == 0 { units } else { 0 };
            let (w, b) = match layer.kind {
                1 => (len * units, biases),
                3 | 9 => (kh * kw * input[2] * units, biases),
                15 => (kh * kw * units, biases),
                11 => (input[2] * layer.symbols as usize * units, 0),
                5 => [NO_SCALE, NO_BIAS].map(|flag| if layer.flags & flag == 0 { input[2] } else { 0 }).into(),
                _ => (0, 0),
            };
            shape.push(windows(layer, input).map_or_else(
                || match layer.kind {
                    5 | 12 | 13 => input,
                    11 => [input[0], input[1], units],
                    14 if input[..2] != second[..2] => [1, 1, len + second[2]],
                    14 => [input[0], input[1], input[2] + second[2]],
                    _ => [1, 1, units],
                },
                |windows| windows.0,
            ));
            if w + b > 0 {
                let (w, b) = read(&self.net(), params, i, w, b);
                all.extend([wide(&w), wide(&b)].concat());
            }
        }
        all
    }
}

/// The sources of layer `i`: 0 for the input, or a layer counted from 1.
fn from(layer: &Layer, i: usize) -> [usize; 2] {
    layer.source.map(|source| match source {
        INPUT => 0,
        0 => i,
        k => k as usize,
    })
}

fn twin_merge(layer: &Layer, (shape, a): &(Shape, Vec<f64>), (other, b): &(Shape, Vec<f64>)) -> (Shape, Vec<f64>) {
    if layer.kind == LayerKind::Join as u32 {
        if shape[..2] != other[..2] {
            return ([1, 1, a.len() + b.len()], [&a[..], b].concat());
        }
        let pixels = a.chunks(shape[2]).zip(b.chunks(other[2]));
        return ([shape[0], shape[1], shape[2] + other[2]], pixels.flat_map(|(a, b)| [a, b].concat()).collect());
    }
    let pairs = a.iter().zip(b.iter().cycle());
    (*shape, pairs.map(|(a, b)| if layer.kind == LayerKind::Add as u32 { a + b } else { a * b }).collect())
}

/// Each pixel sets the top left corner of a window that it adds to a picture, which is cropped to its size.
fn twin_deconv(layer: &Layer, [h, w, c]: Shape, x: &[f64], weights: &[f64], bias: &[f64]) -> (Shape, Vec<f64>) {
    let (units, size, stride) =
        (layer.units as usize, layer.size.map(|s| s as usize), layer.stride.map(|s| s as usize));
    let whole = [(h - 1) * stride[0] + size[0], (w - 1) * stride[1] + size[1]];
    let (shown, pad) = match layer.same {
        0 => (whole, [0; 2]),
        _ => {
            let shown = [h * stride[0], w * stride[1]];
            (shown, [0, 1].map(|k| whole[k].saturating_sub(shown[k]) / 2))
        }
    };
    let mut y: Vec<f64> = bias.iter().copied().cycle().take(shown[0] * shown[1] * units).collect();
    y.resize(shown[0] * shown[1] * units, 0.0);
    for (at, pixel) in x.chunks(c).enumerate() {
        let corner = [at / w * stride[0], at % w * stride[1]];
        for (k, x) in pixel.iter().enumerate() {
            for (i, weight) in weights[k * units * size[0] * size[1]..][..units * size[0] * size[1]].iter().enumerate()
            {
                let (unit, di, dj) = (i / (size[0] * size[1]), i / size[1] % size[0], i % size[1]);
                let place = [(corner[0] + di).wrapping_sub(pad[0]), (corner[1] + dj).wrapping_sub(pad[1])];
                if place[0] < shown[0] && place[1] < shown[1] {
                    y[(place[0] * shown[1] + place[1]) * units + unit] += x * weight;
                }
            }
        }
    }
    ([shown[0], shown[1], units], y)
}

/// The output shape of a convolution or a pool, and the border above and left of the picture that its windows include.
fn windows(layer: &Layer, input: Shape) -> Option<(Shape, [usize; 2])> {
    if layer.kind == 9 {
        let (shape, _) = twin_deconv(layer, input, &[], &[], &[]);
        return Some((shape, [0; 2]));
    } else if ![3, 4, 15].contains(&layer.kind) {
        return None;
    }
    let (mut output, mut pad) = ([0, 0, if layer.kind == 4 { input[2] } else { layer.units as usize }], [0; 2]);
    for side in 0..2 {
        let (len, size) = (input[side], layer.size[side] as usize);
        let stride = match layer.stride[side] as usize {
            0 if layer.kind == 4 => size,
            stride => stride.max(1),
        };
        if layer.same == 1 {
            output[side] = len.div_ceil(stride);
            pad[side] = ((output[side] - 1) * stride + size).saturating_sub(len) / 2;
        } else {
            output[side] = (len - size) / stride + 1;
        }
    }
    Some((output, pad))
}

fn twin_layer(layer: &Layer, shape: Shape, x: &[f64], params: &mut &[f64]) -> (Shape, Vec<f64>) {
    let mut take = |len: usize| params.split_off(..len).unwrap();
    let (units, [h, w, c]) = (layer.units as usize, shape);
    let has = |flag: u32| layer.flags & flag == 0;
    let biases = if has(NO_BIAS) { units } else { 0 };
    match layer.kind {
        5 => {
            let scale = take(if has(NO_SCALE) { c } else { 0 });
            (shape, twin_norm(layer, c, x, scale, take(if has(NO_BIAS) { c } else { 0 })))
        }
        9 => {
            let weights = take(c * units * layer.size.iter().product::<u32>() as usize);
            twin_deconv(layer, shape, x, weights, take(biases))
        }
        11 => ([h, w, units], twin_embed(layer, c, x, take(c * layer.symbols as usize * units))),
        3 => {
            let weights = take(units * c * layer.size.iter().product::<u32>() as usize);
            twin_windows(layer, shape, x, weights, take(biases))
        }
        15 => {
            let weights = take(units * layer.size.iter().product::<u32>() as usize);
            twin_windows(layer, shape, x, weights, take(biases))
        }
        4 => twin_windows(layer, shape, x, &[], &[]),
        _ => {
            let (w, b) = (take(x.len() * units), take(biases));
            let dot = |w: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            let sums = w.chunks(x.len()).enumerate().map(|(j, w)| b.get(j).unwrap_or(&0.0) + dot(w));
            ([1, 1, units], sums.collect())
        }
    }
}

fn twin_embed(layer: &Layer, channels: usize, x: &[f64], table: &[f64]) -> Vec<f64> {
    let (units, symbols) = (layer.units as usize, layer.symbols as usize);
    let scale = if layer.flags & BYTES != 0 { 255.0 } else { 1.0 };
    let row = |(k, x): (usize, &f64)| {
        let symbol = ((x.max(0.0) * scale).round() as usize).min(symbols - 1);
        &table[(k * symbols + symbol) * units..][..units]
    };
    let sum = |pixel: &[f64]| {
        let rows: Vec<&[f64]> = pixel.iter().enumerate().map(row).collect();
        (0..units).map(|j| rows.iter().map(|row| row[j]).sum()).collect::<Vec<f64>>()
    };
    x.chunks(channels).flat_map(sum).collect()
}

fn twin_norm(layer: &Layer, channels: usize, x: &[f64], scale: &[f64], bias: &[f64]) -> Vec<f64> {
    let mut y = Vec::new();
    for x in x.chunks(if layer.flags & WHOLE != 0 { x.len() } else { channels }) {
        let n = x.len() as f64;
        let mean = if layer.flags & RMS != 0 { 0.0 } else { x.iter().sum::<f64>() / n };
        let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n + 1e-5).sqrt();
        for (i, x) in x.iter().enumerate() {
            let scaled = (x - mean) / deviation * scale.get(i % channels).unwrap_or(&1.0);
            y.push(scaled + bias.get(i % channels).unwrap_or(&0.0));
        }
    }
    y
}

/// A convolution, a depthwise one or a pool.
fn twin_windows(layer: &Layer, shape: Shape, x: &[f64], weights: &[f64], bias: &[f64]) -> (Shape, Vec<f64>) {
    let ((output, pad), [h, w, c]) = (windows(layer, shape).unwrap(), shape);
    let [kh, kw] = layer.size.map(|s| s as usize);
    let (is_conv, is_depthwise) = (layer.kind != 4, layer.kind == 15);
    let stride: Vec<usize> = (0..2)
        .map(|s| if layer.stride[s] == 0 && !is_conv { layer.size[s] } else { layer.stride[s].max(1) } as usize)
        .collect();
    let mut y = Vec::new();
    for (i, j, unit) in
        (0..output[0]).flat_map(|i| (0..output[1]).flat_map(move |j| (0..output[2]).map(move |u| (i, j, u))))
    {
        let mut seen = Vec::new();
        let mut sum = *bias.get(unit).unwrap_or(&0.0);
        for (di, dj) in (0..kh).flat_map(|di| (0..kw).map(move |dj| (di, dj))) {
            let (row, column) = ((i * stride[0] + di).wrapping_sub(pad[0]), (j * stride[1] + dj).wrapping_sub(pad[1]));
            if row >= h || column >= w {
                continue;
            }
            let pixel = &x[(row * w + column) * c..][..c];
            if is_depthwise {
                sum += pixel[unit / (output[2] / c)] * weights[(unit * kh + di) * kw + dj];
            } else if is_conv {
                sum += (0..c).map(|k| pixel[k] * weights[((unit * c + k) * kh + di) * kw + dj]).sum::<f64>();
            } else {
                seen.push(pixel[unit]);
            }
        }
        y.push(if is_conv {
            sum
        } else if layer.flags & MEAN != 0 {
            seen.iter().sum::<f64>() / seen.len() as f64
        } else {
            seen.iter().copied().fold(f64::MIN, f64::max)
        });
    }
    (output, y)
}

/// Checks every parameter, or a good many of them.
#[test]
fn forward_is_the_formula_and_the_gradient_is_its_slope() {
    for (input, layers) in networks() {
        let case = case(input, &layers, 3);
        let (outs, grads, d_input) = case.all();
        let (params, x) = (case.read(&case.params), wide(&case.x));
        let what = format!("{layers:?}");
        for (out, want) in outs.iter().zip(case.twin(&params, &x)) {
            near(out, &want, 1e-5, &what);
        }
        let loss = |params: &[f64], x: &[f64]| -> f64 {
            let heads = case.twin(params, x);
            heads.concat().iter().zip(case.d_outs.concat()).map(|(y, d)| y * f64::from(d)).sum()
        };
        let some = |len: usize| (0..len).step_by(len.div_ceil(150));
        let grads: Vec<f32> = case.read(&grads).into_iter().map(|g| g as f32).collect();
        let check = |values: &[f64], got: &[f32], loss: &dyn Fn(&[f64]) -> f64, of: &str| {
            let got: Vec<f32> = some(got.len()).map(|i| got[i]).collect();
            let want: Vec<f64> = some(values.len()).map(|i| slope(values, i, 1e-6, loss)).collect();
            near(&got, &want, 1e-4, &format!("{of} of {what}"));
        };
        check(&params, &grads, &|params| loss(params, &x), "parameters");
        check(&x, &d_input, &|x| loss(&params, x), "input");
    }
}

/// Rows one by one, or in any split, give the bits of all rows together.
#[test]
fn rows_do_not_know_each_other() {
    for (input, layers) in networks() {
        for rows in [1, 7, 67] {
            let case = case(input, &layers, rows);
            let (outs, grads, d_input) = case.all();
            for step in [1, 5, 32] {
                let (mut own, mut d, mut heads) = (vec![0.0; grads.len()], Vec::new(), vec![Vec::new(); outs.len()]);
                for begin in (0..rows).step_by(step) {
                    let (outs, d_input) = case.run(begin, (begin + step).min(rows), &mut own);
                    heads.iter_mut().zip(outs).for_each(|(all, out)| all.extend(out));
                    d.extend(d_input);
                }
                assert_eq!((bits(&own), bits(&d)), (bits(&grads), bits(&d_input)), "{layers:?}");
                assert_eq!(bits(&heads.concat()), bits(&outs.concat()), "{layers:?}");
            }
        }
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    for (input, layers) in networks() {
        let case = case(input, &layers, 5);
        same_at_every_level(&format!("{layers:?}"), || {
            let (outs, grads, d_input) = case.all();
            [bits(&outs.concat()), bits(&grads), bits(&d_input)]
        });
    }
}

/// Convolutions that read bytes give the bits that they give for the bytes divided by 255; other layers refuse bytes.
#[test]
fn bytes_are_read_as_numbers_divided_by_255() {
    let mut count = 0;
    for (input, layers) in networks() {
        for rows in [1, 5, 67] {
            let mut case = case(input, &layers, rows);
            let mut rng = Rng::seeded(rows as u64);
            let bytes: Vec<u8> = case.x.iter().map(|_| rng.bounded(255) as u8).collect();
            case.x = bytes.iter().map(|&x| f32::from(x) / 255.0).collect();
            let readers = layers.iter().enumerate().filter(|(i, layer)| match layer.source {
                [0, second] => *i == 0 || second & INPUT != 0,
                [first, second] => (first | second) & INPUT != 0,
            });
            let all = readers.clone().all(|(_, layer)| {
                [LayerKind::Conv as u32, LayerKind::Depthwise as u32].contains(&layer.kind)
                    && layer.source.iter().all(|source| source & !INPUT == 0 || *source & INPUT == 0)
            });
            let net = case.net();
            assert_eq!(net.reads_bytes(), all, "{layers:?}");
            let (mut tape, mut work) = (room(net.tape_len(rows)), room(net.work_len()));
            let mut outs: Vec<_> = case.d_outs.iter().map(|d| room(d.len())).collect();
            let mut again = outs.clone();
            let (x, carry) = (Input::U8(&bytes), &Carry::NONE);
            let to = &mut slices(&mut outs);
            let seen = net.forward(&case.params, x, rows, ALL, carry, &mut tape, &mut work, to);
            if !all {
                assert_eq!(seen.unwrap_err().kind, Kind::Shape, "{layers:?}");
                continue;
            }
            seen.unwrap();
            let mut scratch = room(net.infer_scratch_len(rows));
            net.infer(&case.params, x, rows, ALL, &mut [], &mut scratch, &mut slices(&mut again)).unwrap();
            let (mut grads, mut scratch) = (vec![0.0; case.params.len()], room(net.scratch_len(false, 0)));
            let d_outs: Vec<_> = case.d_outs.iter().map(|d| &d[..]).collect();
            let back = |d_input: Option<&mut [f32]>, grads: &mut [f32], scratch: &mut [f32]| {
                net.backward(&case.params, x, rows, ALL, carry, &tape, &d_outs, d_input, grads, scratch)
            };
            back(None, &mut grads, &mut scratch).unwrap();
            let mut d_input = room(bytes.len());
            let refused = back(Some(&mut d_input), &mut grads, &mut scratch);
            assert_eq!(refused.unwrap_err().kind, Kind::Shape, "{layers:?}");
            let (wanted, wanted_grads, _) = case.all();
            assert_eq!(bits(&outs.concat()), bits(&wanted.concat()), "{layers:?}");
            assert_eq!(bits(&again.concat()), bits(&wanted.concat()), "{layers:?}");
            assert_eq!(bits(&grads), bits(&wanted_grads), "{layers:?}");
            count += 1;
        }
    }
    assert!(count > 12, "{count}");
    // A picture that is the only part of the input counts as the whole input; one of two parts does not.
    let layers = [Layer { source: [INPUT + 1, 0], ..conv(4, 3, 1, 0, Activation::Relu) }, head(2)];
    for (parts, all) in [(&[[5, 5, 2]][..], true), (&[[5, 5, 2], [1, 1, 3]], false)] {
        let (mut nodes, len) = ([Node::default(); 2], if all { 50 } else { 53 });
        let net = Net::compile_parts(&layers, [1, 1, len], parts, &mut nodes).unwrap();
        assert_eq!(net.reads_bytes(), all);
    }
}

/// Bytes in front of numbers: convolutions read the picture, other layers the parts behind it, with the bits of an input of
/// numbers, and the gradient of the input is that of the numbers.
#[test]
fn bytes_in_front_of_numbers_are_read_where_they_lie() {
    const PARTS: [[u32; 3]; 3] = [[4, 3, 2], [1, 1, 3], [1, 1, 2]];
    const FRONT: usize = 24;
    let part = |k: u32| [INPUT + k, 0];
    let layers = [
        Layer { source: part(1), ..conv(4, 2, 1, 1, Activation::Relu) },
        Layer { source: part(1), ..depthwise(4, 3, 1, 0, Activation::Tanh) },
        Layer::merge(LayerKind::Join, [1, INPUT + 2], Activation::Identity),
        Layer::merge(LayerKind::Join, [INPUT + 3, INPUT + 2], Activation::Identity),
        Layer { source: [3, 0], ..Layer::dense(5, Activation::Tanh) },
        Layer::merge(LayerKind::Join, [5, 4], Activation::Identity),
        head(2),
        Layer { source: [2, 0], ..head(1) },
    ];
    let mut nodes = [Node::default(); 8];
    let net = Net::compile_parts(&layers, [1, 1, 29], &PARTS, &mut nodes).unwrap();
    let reads = |front| net.reads_bytes_in_front(front);
    assert_eq!((net.reads_bytes(), reads(FRONT), reads(FRONT - 1), reads(FRONT + 1)), (false, true, false, false));
    let mut rng = Rng::seeded(4);
    let mut params = vec![0.0; net.param_len()];
    net.init(&mut params, &mut rng, &mut vec![0.0; net.scratch_len(true, 0)]).unwrap();
    for rows in [1, 5, 67, 130] {
        let bytes: Vec<u8> = (0..rows * FRONT).map(|_| rng.bounded(255) as u8).collect();
        let rest: Vec<f32> = (0..rows * 5).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect();
        let whole: Vec<f32> = (bytes.chunks(FRONT).zip(rest.chunks(5)))
            .flat_map(|(a, b)| a.iter().map(|x| f32::from(*x) / 255.0).chain(b.iter().copied()).collect::<Vec<_>>())
            .collect();
        let d_outs = [2, 1].map(|len| (0..rows * len).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect::<Vec<_>>());
        let run = |x: Input<'_>, with_grads: bool| {
            let room = |len| vec![f32::NAN; len];
            let (mut tape, mut work) = (room(net.tape_len(rows)), room(net.work_len()));
            let [mut first, mut second] = [room(rows * 2), room(rows)];
            let outs = &mut [&mut first[..], &mut second];
            net.forward(&params, x, rows, ALL, &Carry::NONE, &mut tape, &mut work, outs).unwrap();
            let (mut again, mut scratch) = ([room(rows * 2), room(rows)], room(net.infer_scratch_len(rows)));
            let [a, b] = &mut again;
            net.infer(&params, x, rows, ALL, &mut [], &mut scratch, &mut [a, b]).unwrap();
            assert_eq!(again.each_ref().map(|y| bits(y)), [bits(&first), bits(&second)]);
            let mut grads = vec![0.0; if with_grads { params.len() } else { 0 }];
            let (mut d_input, mut scratch) = (room(x.numbers().len()), room(net.scratch_len(true, 0)));
            let d_outs = d_outs.each_ref().map(|d| &d[..]);
            let carry = &Carry::NONE;
            net.backward(&params, x, rows, ALL, carry, &tape, &d_outs, Some(&mut d_input), &mut grads, &mut scratch)
                .unwrap();
            let behind = d_input.len() / rows - 5;
            let d_rest: Vec<f32> = d_input.chunks(behind + 5).flat_map(|row| row[behind..].to_vec()).collect();
            [&first, &second, &grads, &d_rest].map(|y| bits(y))
        };
        let split = Input::Split { front: &bytes, rest: &rest };
        assert_eq!((split.len(), split.bytes(), split.numbers()), (whole.len(), &bytes[..], &rest[..]));
        for with_grads in [true, false] {
            assert_eq!(run(split, with_grads), run(Input::F32(&whole), with_grads), "{rows}");
        }
        let refused = |front: &[u8], rest: &[f32]| {
            let (mut tape, mut work) = (vec![0.0; net.tape_len(rows)], vec![0.0; net.work_len()]);
            let (x, mut outs) = (Input::Split { front, rest }, [vec![0.0; rows * 2], vec![0.0; rows]]);
            let [a, b] = &mut outs;
            let seen = net.forward(&params, x, rows, ALL, &Carry::NONE, &mut tape, &mut work, &mut [a, b]);
            assert_eq!(seen.unwrap_err().kind, Kind::Shape);
        };
        refused(&bytes, &rest[1..]);
        refused(&bytes[rows..], &whole[..rows * 6]);
        refused(&bytes[1..], &whole[..rows * 5 + 1]);
        refused(&[], &rest);
    }
    let whole = [Layer { source: [INPUT, 0], ..Layer::dense(3, Activation::Relu) }, head(1)];
    let mut nodes = [Node::default(); 2];
    assert!(!Net::compile_parts(&whole, [1, 1, 29], &PARTS, &mut nodes).unwrap().reads_bytes_in_front(FRONT));
}

/// PyTorch's convolution of a picture padded at the bottom and the right, as TensorFlow pads it.
#[test]
fn a_convolution_is_that_of_other_libraries() {
    let layers = [Layer { flags: HEAD, ..conv(2, 3, 2, 1, Activation::Elu) }];
    let mut case = case([6, 6, 1], &layers, 1);
    case.x = (0..36).map(|i| (37 * i % 11) as f32 / 10.0).collect();
    let weights: Vec<f32> = (0..18).map(|i| (7 * i % 13) as f32 / 10.0 - 0.6).collect();
    let mut params = case.params.clone();
    case.net().write_layer(&mut params, 0, &weights, &[0.1, -0.2]).unwrap();
    case.params = params;
    // PyTorch's arrays are channels first.
    let turned = |a: &[f64]| -> Vec<f64> { (0..9).flat_map(|i| [a[i], a[9 + i]]).collect() };
    let upstream: Vec<f64> = (0..18).map(|i| f64::from(i) / 10.0 - 0.8).collect();
    case.d_outs = vec![turned(&upstream).into_iter().map(|d| d as f32).collect()];
    let (outs, grads, d_input) = case.all();
    #[rustfmt::skip]
    let y = [
        0.02, -0.28822968, -0.14785621, -0.45118836, -0.33634975, -0.32967995, -0.28107627, 0.05, -0.18126925,
        -0.09516258, 0.07, -0.36237185, -0.68963306, -0.2054664, 0.01, 0.38, 0.12, -0.47270758,
    ];
    near(&outs[0], &turned(&y), 1e-6, "y");
    #[rustfmt::skip]
    let d_params = [
        -1.13655706, -1.32683395, -1.24736666, -1.47420588, -1.21327349, -1.37173853, -1.22245548, -1.37838915,
        -0.71871023, 1.93994225, 1.72104183, 1.05234179, 1.99549204, 1.34617433, 1.07772777, 0.64630392, 0.94059948,
        0.33057512, -2.79427218, 3.57774895,
    ];
    near(&case.read(&grads), &d_params, 1e-6, "gradients");
    #[rustfmt::skip]
    let d_x = [
        0.52524187, -0.0890484, 0.85323378, -0.06982392, 0.77153556, -0.07025747, -0.16, 0.26570975, -0.33059947,
        0.07929569, -0.23172902, 0.08974144, 0.42147501, -0.34175851, 0.74287871, -0.22556838, 0.86913724, -0.24636642,
        -0.05488116, 0.03527426, -0.12299909, -0.13217604, -0.08013055, -0.2795616, 0.45651921, -0.16931145,
        0.83811946, -0.11673068, 0.42179569, -0.00789472, -0.02875695, -0.3624861, 0.00686458, -0.44, 0.05,
        -0.28473791,
    ];
    near(&d_input, &d_x, 1e-6, "gradient of the input");
}

/// PyTorch's layer norm.
#[test]
fn a_normalisation_is_that_of_other_libraries() {
    let layers = [Layer { flags: HEAD, ..norm(0, Activation::Identity) }];
    let mut case = case([1, 1, 3], &layers, 2);
    case.x = vec![1.0, 2.0, 4.0, 0.0, -1.0, 3.0];
    case.params = vec![1.0, 0.5, 2.0, 0.0, 0.1, -0.1];
    case.d_outs = vec![vec![1.0, -2.0, 0.5, 0.25, 1.0, -1.0]];
    let (outs, grads, d_input) = case.all();
    near(&outs[0], &[-1.06904153, -0.03363019, 2.57260383, -0.39223159, -0.39028949, 2.64562114], 1e-6, "y");
    near(&grads, &[-1.1670994, -0.44605822, -0.70465961, 1.25, -1.0, -0.5], 1e-6, "gradients");
    near(&d_input, &[0.68724, -1.03086172, 0.34362172, 0.13577336, -0.10182714, -0.03394623], 1e-6, "d_input");
}

#[test]
fn the_first_of_equal_pixels_gets_the_gradient_of_the_largest() {
    let layers = [Layer { flags: HEAD, ..pool([2, 2], [2, 2], 0, 0) }];
    let mut case = case([2, 4, 1], &layers, 1);
    case.x = vec![1.0, 1.0, 0.5, 2.0, 1.0, 1.0, 2.0, 2.0];
    case.d_outs = vec![vec![3.0, 5.0]];
    let (outs, _, d_input) = case.all();
    assert_eq!((&outs[0][..], &d_input[..]), (&[1.0, 2.0][..], &[3.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0][..]));
}

#[test]
fn shapes_that_cannot_be_are_refused_by_name() {
    let refused = |input: Shape, layer: Layer| {
        let layers = [Layer { flags: layer.flags | HEAD, ..layer }];
        let error = Net::compile(&layers, input, &mut [Node::default()]).unwrap_err();
        (error.kind, error.to_string())
    };
    let good = conv(4, 3, 1, 0, Activation::Relu);
    let (norm, pool) = (norm(0, Activation::Relu), pool([1, 1], [1, 1], 0, 0));
    let beyond = "windows that lie in the picture, or same of 1, in layer 1, given 3";
    for (input, layer, what) in [
        ([2, 9, 1], good, beyond),
        ([9, 2, 1], good, beyond),
        ([9, 0, 1], good, "an input of at least 1, given 0"),
        ([9, 9, 1], Layer { size: [3, 0], ..good }, "size of at least 1 in layer 1, given 0"),
        ([9, 9, 1], Layer { same: 2, ..good }, "same of 0 or 1 in layer 1, given 2"),
        ([9, 9, 1], Layer { flags: MEAN, ..good }, "known flags in layer 1, given 33"),
        (
            [9, 9, 2],
            depthwise(3, 3, 1, 0, Activation::Relu),
            "units that are a multiple of the channels of its source in layer 1, given 3",
        ),
        (
            [9, 9, 2],
            depthwise(1, 3, 1, 0, Activation::Relu),
            "units that are a multiple of the channels of its source in layer 1, given 1",
        ),
        ([9, 9, 2], depthwise(0, 3, 1, 0, Activation::Relu), "units of at least 1 in layer 1, given 0"),
        ([9, 2, 2], depthwise(2, 3, 1, 0, Activation::Relu), beyond),
        ([9, 9, 1], Layer { flags: RMS, ..pool }, "known flags in layer 1, given 9"),
        ([9, 9, 1], Layer { units: 4, ..norm }, "units of 0, which its kind does not read, in layer 1, given 4"),
        ([9, 9, 1], Layer { size: [3, 0], ..norm }, "size of 0, which its kind does not read, in layer 1, given 3"),
    ] {
        assert_eq!(refused(input, layer), (Kind::Config, format!("net: {what}")));
    }
    let vast = u32::MAX;
    for (input, layer) in [
        ([usize::MAX, 1, 1], good),
        ([vast as usize, vast as usize, 3], good),
        ([vast as usize, 3, 1], Layer { units: vast, ..good }),
        ([3, 3, 1], Layer { size: [vast, vast], same: 1, ..good }),
        ([3, 3, 1], Layer { size: [vast, vast], same: 1, ..depthwise(4, 3, 1, 0, Activation::Relu) }),
        ([3, 3, 1 << 20], Layer { size: [vast, 1], same: 1, ..pool }),
        ([1, 1, vast as usize], Layer { size: [vast, vast], same: 1, ..good }),
    ] {
        assert_eq!(refused(input, layer).0, Kind::Overflow, "{input:?} {layer:?}");
    }
}

/// Vectors made with PyTorch: a transposed convolution of 4 × 4 windows and stride 2, from two channels to one.
#[test]
fn a_deconvolution_is_that_of_other_libraries() {
    let layers = [Layer { flags: HEAD | NO_BIAS, ..deconv(1, [4, 4], [2, 2], 0) }];
    let mut nodes = [Node::default()];
    let net = Net::compile(&layers, [2, 2, 2], &mut nodes).unwrap();
    // x[c, h, w] = i/4 - 1, w[c, kh, kw] = (5 i mod 9)/10 - 0.4, d_y = (3 i mod 7)/10.
    let x: Vec<f32> = (0..4).flat_map(|pixel| [0, 4].map(|c| (c + pixel) as f32 / 4.0 - 1.0)).collect();
    let w: Vec<f32> = (0..32).map(|i| (5 * i % 9) as f32 / 10.0 - 0.4).collect();
    let mut params = vec![f32::NAN; 32];
    net.write_layer(&mut params, 0, &w, &[]).unwrap();
    let (y, tape) = forward(&net, &params, &x, &Carry::NONE);
    let near = |got: &[f32], want: &[f64], what: &str| within(got, want, 1e-6, what);
    near(&y[0][..6], &[0.4, -0.1, 0.7, -0.275, 0.125, -0.125], "first of y");
    near(&y[0][30..], &[-0.05, -0.05, -0.025, -0.225, 0.075, -0.125], "last of y");
    let d_y: Vec<f32> = (0..36).map(|i| (3 * i % 7) as f32 / 10.0).collect();
    let (grads, dx) = backward(&net, &params, &x, &Carry::NONE, &tape, &[d_y]);
    near(&dx, &[-0.03, -0.09, -0.06, 0.21, -0.14, -0.04, -0.03, -0.09], "gradient of the input");
    let (d_w, _) = read(&net, &grads, 0, 32, 0);
    near(&d_w[..5], &[-0.5, -0.725, -1.125, -0.475, -0.975], "first gradients");
    near(&d_w[28..], &[0.775, 0.175, 0.625, 0.2], "last gradients");
}

/// Bytes divided by 255 become symbols again; numbers that are no symbol count as the nearest one.
#[test]
fn symbols_are_rounded_and_kept_in_their_table() {
    let layers = [Layer { flags: HEAD | BYTES, ..embed(1, 4, Activation::Identity) }];
    let mut nodes = [Node::default()];
    let net = Net::compile(&layers, [1, 1, 1], &mut nodes).unwrap();
    let x = [0.0, 1.0 / 255.0, 3.0 / 255.0, 1.0, -7.0, f32::NAN, f32::INFINITY];
    let (mut y, mut scratch) = ([0.0; 7], vec![0.0; net.infer_scratch_len(7)]);
    net.infer(&[10.0, 11.0, 12.0, 13.0], &x, 7, ALL, &mut [], &mut scratch, &mut [&mut y]).unwrap();
    assert_eq!(y, [10.0, 11.0, 13.0, 13.0, 10.0, 10.0, 13.0]);
}

#[test]
fn weights_start_as_their_initializer_says() {
    let start = |initializer: Initializer, gain: f32, units: u32| {
        let dense =
            Layer { initializer: initializer as u32, gain, flags: HEAD, ..Layer::dense(units, Activation::Relu) };
        let mut nodes = [Node::default()];
        let net = Net::compile(&[dense], [1, 1, 400], &mut nodes).unwrap();
        let (w, b) = read(&net, &started(&net, 1), 0, 400 * units as usize, units as usize);
        assert!(b.iter().all(|b| *b == 0.0));
        w
    };
    let deviation = |w: &[f32]| (w.iter().map(|x| f64::from(x * x)).sum::<f64>() / w.len() as f64).sqrt();
    for units in [3, 50] {
        for row in start(Initializer::UnitRows, 0.5, units).chunks(400) {
            assert!((deviation(row) * 20.0 - 0.5).abs() < 1e-4);
        }
        for row in start(Initializer::Orthogonal, 0.0, units).chunks(400) {
            assert!((deviation(row) * 20.0 - 2f64.sqrt()).abs() < 1e-4);
        }
        assert!((deviation(&start(Initializer::Normal, 0.02, units)) / 0.02 - 1.0).abs() < 0.05);
        let uniform = start(Initializer::Uniform, 0.0, units);
        assert!(uniform.iter().all(|x| x.abs() <= 0.05));
        assert!((deviation(&uniform) * 3f64.sqrt() / 0.05 - 1.0).abs() < 0.05);
    }
}

/// A depthwise convolution is a convolution whose weights are 0 wherever a unit would read another channel, and starts as one
/// convolution for each channel.
#[test]
fn a_depthwise_convolution_reads_its_own_channel() {
    let (channels, times, size) = (3, 2, 9);
    let layers = [Layer { flags: HEAD, ..depthwise(6, 3, 2, 1, Activation::Elu) }];
    let whole = [Layer { flags: HEAD, ..conv(6, 3, 2, 1, Activation::Elu) }];
    let (own, mut all) = (case([7, 6, 3], &layers, 3), case([7, 6, 3], &whole, 3));
    let (w, b) = read(&own.net(), &own.params, 0, 6 * size, 6);
    let mut spread = vec![0.0; 6 * channels * size];
    for unit in 0..6 {
        let to = (unit * channels + unit / times) * size;
        spread[to..to + size].copy_from_slice(&w[unit * size..(unit + 1) * size]);
    }
    let mut params = room(all.params.len());
    all.net().write_layer(&mut params, 0, &spread, &b).unwrap();
    (all.params, all.x, all.d_outs) = (params, own.x.clone(), own.d_outs.clone());
    let ((y, grads, dx), (want_y, want_grads, want_dx)) = (own.all(), all.all());
    near(&y[0], &wide(&want_y[0]), 1e-6, "y");
    near(&dx, &wide(&want_dx), 1e-6, "gradient of the input");
    let (dw, db) = read(&own.net(), &grads, 0, 6 * size, 6);
    let (want, want_db) = read(&all.net(), &want_grads, 0, 6 * channels * size, 6);
    let diagonal: Vec<f64> =
        (0..6).flat_map(|unit| wide(&want[(unit * channels + unit / times) * size..][..size])).collect();
    near(&dw, &diagonal, 1e-6, "gradients of the weights");
    near(&db, &wide(&want_db), 1e-6, "gradients of the biases");

    let (w, b) = read(&own.net(), &started(&own.net(), 5), 0, 6 * size, 6);
    assert!(b.iter().all(|b| *b == 0.0));
    let dot = |a: usize, b: usize| -> f32 { (0..size).map(|i| w[a * size + i] * w[b * size + i]).sum() };
    for unit in 0..6 {
        assert!((dot(unit, unit) - 2.0).abs() < 1e-5, "length √2");
        assert!(unit % 2 > 0 || dot(unit, unit + 1).abs() < 1e-5, "units of a channel are orthogonal");
    }
    assert!((2..6).any(|unit| dot(0, unit).abs() > 1e-3), "those of others are not");
    // Glorot: 9 inputs of an output, 2 · 9 outputs of an input.
    let layers = [Layer { initializer: Initializer::Glorot as u32, ..layers[0] }];
    let mut nodes = [Node::default()];
    let net = Net::compile(&layers, [7, 6, 3], &mut nodes).unwrap();
    let (w, _) = read(&net, &started(&net, 5), 0, 6 * size, 6);
    let most = w.iter().fold(0.0, |most: f32, w| most.max(w.abs()));
    let bound = (6.0f32 / 27.0).sqrt();
    assert!(most <= bound && most > 0.9 * bound, "{most} of {bound}");
}

/// Bounds of TensorFlow's `GlorotUniform`, by hand: inputs and outputs of a place times the places of a window.
#[test]
fn glorot_counts_inputs_and_outputs() {
    let initializer = Initializer::Glorot as u32;
    let picture = |layer: Layer| Layer { initializer, size: [3, 5], ..layer };
    let conv = Layer::conv(40, [3, 5], [1, 1], Activation::Relu);
    let cases = [
        (Layer { initializer, ..Layer::dense(30, Activation::Relu) }, 10 * 10 * 7, 30, 1.0),
        (Layer { initializer, gain: 0.5, ..Layer::dense(3, Activation::Relu) }, 10 * 10 * 7, 3, 0.5),
        (picture(conv), 3 * 5 * 7, 3 * 5 * 40, 1.0),
        (Layer { kind: LayerKind::Deconv as u32, ..picture(conv) }, 3 * 5 * 7, 3 * 5 * 40, 1.0),
    ];
    for (layer, inputs, outputs, gain) in cases {
        let layer = Layer { flags: HEAD, ..layer };
        let mut nodes = [Node::default()];
        let net = Net::compile(&[layer], [10, 10, 7], &mut nodes).unwrap();
        let params = started(&net, 1);
        let bound = gain * (6.0 / f64::from(inputs + outputs)).sqrt();
        let most = params.iter().fold(0.0, |most: f64, x| most.max(f64::from(x.abs())));
        assert!(most <= bound * 1.000001 && most > 0.99 * bound, "{most}, not {bound}");
    }
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    let refused = |layers: &[Layer]| {
        let mut nodes = vec![Node::default(); layers.len()];
        Net::compile(layers, [4, 4, 2], &mut nodes).unwrap_err().to_string()
    };
    let merge = |kind, source| Layer { flags: HEAD, ..Layer::merge(kind, source, Activation::Identity) };
    let dense = Layer::dense(3, Activation::Relu);
    assert_eq!(
        refused(&[dense, merge(LayerKind::Add, [INPUT, 1])]),
        "net: a second source of the first one's shape, or of its channels, in layer 2, given 3"
    );
    assert_eq!(
        refused(&[dense, merge(LayerKind::Join, [1, INPUT])]),
        "net: a second source of one row, or of the first one's height and width, in layer 2, given 4"
    );
    assert_eq!(
        refused(&[dense, merge(LayerKind::Join, [1, 3])]),
        "net: a source with the input or a layer before it in layer 2, given 3"
    );
    let windows = |size, stride| Layer { flags: HEAD, ..deconv(1, size, stride, 0) };
    assert_eq!(refused(&[windows([0, 2], [1, 1])]), "net: size of at least 1 in layer 1, given 0");
    assert!(refused(&[windows([1, 1], [u32::MAX; 2])]).starts_with("net: layers whose products fit"));
    let symbols = Layer { flags: HEAD, ..embed(2, 0, Activation::Identity) };
    assert_eq!(refused(&[symbols]), "net: symbols of at least 1 in layer 1, given 0");
    let huge = Layer { flags: HEAD, ..embed(u32::MAX, u32::MAX, Activation::Identity) };
    assert!(refused(&[huge]).starts_with("net: layers whose products fit"));
}
