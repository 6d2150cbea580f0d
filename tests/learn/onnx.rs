//! Files of ONNX: a reader of their bytes and the operators in f64, written from their specification, compute what policies
//! compute.
#![cfg(all(feature = "attention", feature = "residual", feature = "unreal", feature = "noisy", feature = "stream"))]

use std::collections::{HashMap, HashSet};

use crate::host::{Array, Host, Tune, config, export, forge, policy, recurrent};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Distribution, NamedTensor, Onnx, OnnxNames, Policy, Recurrent};
use rlcore::nn::{Activation, BYTES, INPUT, Layer, LayerKind, MEAN, NO_BIAS, RMS, WHOLE};
use rlcore::rng::Rng;
use rlcore::space::{Element, ElementsMut, Field, Space};

/// The value of a field of a message.
enum Value<'b> {
    Int(i64),
    Float(f32),
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    fn int(&self) -> i64 {
        if let Value::Int(x) = self { *x } else { panic!("no integer") }
    }

    fn bytes(&self) -> &'b [u8] {
        if let Value::Bytes(x) = self { x } else { panic!("no bytes") }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

/// The fields of a message in order.
fn fields(mut from: &[u8]) -> Vec<(i64, Value<'_>)> {
    fn varint(from: &mut &[u8]) -> i64 {
        let (mut x, mut shift) = (0u64, 0);
        loop {
            let byte = *from.split_off_first().unwrap();
            x |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return x as i64;
            }
        }
    }
    let mut all = Vec::new();
    while !from.is_empty() {
        let tag = varint(&mut from);
        let value = match tag & 7 {
            0 => Value::Int(varint(&mut from)),
            2 => {
                let len = varint(&mut from) as usize;
                Value::Bytes(from.split_off(..len).unwrap())
            }
            5 => Value::Float(f32::from_le_bytes(from.split_off(..4).unwrap().try_into().unwrap())),
            other => panic!("type {other} of a field"),
        };
        all.push((tag >> 3, value));
    }
    all
}

#[derive(Clone, Debug)]
struct Tensor {
    dims: Vec<usize>,
    data: Vec<f64>,
}

impl Tensor {
    fn new(dims: &[usize], data: Vec<f64>) -> Tensor {
        assert_eq!(dims.iter().product::<usize>(), data.len());
        Tensor { dims: dims.to_vec(), data }
    }

    /// A tensor of these dimensions, from the places of its elements.
    fn made(dims: &[usize], of: impl Fn(&[usize]) -> f64) -> Tensor {
        let mut data = Vec::new();
        for i in 0..dims.iter().product() {
            data.push(of(&place(dims, i)));
        }
        Tensor::new(dims, data)
    }

    /// An element; dimensions of length 1 are as long as they have to be.
    fn at(&self, at: &[usize]) -> f64 {
        let own = &at[at.len() - self.dims.len()..];
        let index = self.dims.iter().zip(own).fold(0, |sum, (len, at)| sum * len + if *len == 1 { 0 } else { *at });
        self.data[index]
    }

    fn ints(&self) -> Vec<i64> {
        self.data.iter().map(|x| *x as i64).collect()
    }
}

/// The place of element `i` along each dimension.
fn place(dims: &[usize], mut i: usize) -> Vec<usize> {
    let mut at = vec![0; dims.len()];
    for (at, len) in at.iter_mut().zip(dims).rev() {
        (*at, i) = (i % len, i / len);
    }
    at
}

/// The dimensions that both tensors have together.
fn together(a: &[usize], b: &[usize]) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let len = |dims: &[usize], i: usize| (i + dims.len()).checked_sub(rank).map_or(1, |i| dims[i]);
    (0..rank)
        .map(|i| {
            let (a, b) = (len(a, i), len(b, i));
            assert!(a == b || a == 1 || b == 1, "{a} and {b}");
            a.max(b)
        })
        .collect()
}

#[derive(Default)]
struct Attributes {
    ints: HashMap<String, Vec<i64>>,
    floats: HashMap<String, f32>,
}

impl Attributes {
    fn int(&self, name: &str, default: i64) -> i64 {
        self.ints.get(name).map_or(default, |x| x[0])
    }

    fn lens(&self, name: &str) -> Vec<usize> {
        self.ints[name].iter().map(|x| *x as usize).collect()
    }
}

/// Windows of a picture: each output pixel sums, or takes the largest, over the pixels that it sees.
fn windows(x: &Tensor, of: &Attributes, mut each: impl FnMut(usize, usize, [usize; 2], &[[usize; 4]])) -> [usize; 2] {
    let (size, stride, pads) = (of.lens("kernel_shape"), of.lens("strides"), of.lens("pads"));
    let out = [0, 1].map(|i| (x.dims[2 + i] + pads[i] + pads[2 + i] - size[i]) / stride[i] + 1);
    for n in 0..x.dims[0] {
        for i in 0..out[0] {
            for j in 0..out[1] {
                let mut seen = Vec::new();
                for p in 0..size[0] {
                    for q in 0..size[1] {
                        let (row, column) = (i * stride[0] + p, j * stride[1] + q);
                        let inside = |at: usize, pad: usize, len: usize| at >= pad && at - pad < len;
                        if inside(row, pads[0], x.dims[2]) && inside(column, pads[1], x.dims[3]) {
                            seen.push([row - pads[0], column - pads[1], p, q]);
                        }
                    }
                }
                each(n, i * out[1] + j, out, &seen);
            }
        }
    }
    out
}

/// An operator.
fn run(operator: &str, x: &[&Tensor], of: &Attributes) -> Tensor {
    let map = |f: &dyn Fn(f64) -> f64| Tensor::new(&x[0].dims, x[0].data.iter().map(|x| f(*x)).collect());
    let both =
        |f: &dyn Fn(f64, f64) -> f64| Tensor::made(&together(&x[0].dims, &x[1].dims), |at| f(x[0].at(at), x[1].at(at)));
    let axis = || of.int("axis", 0) as usize;
    let reduced = |axes: &[i64], keep: bool, mean: bool| {
        let mut dims = x[0].dims.clone();
        axes.iter().for_each(|axis| dims[*axis as usize] = 1);
        let mut sums = Tensor::new(&dims, vec![0.0; dims.iter().product()]);
        let share = sums.data.len() as f64 / x[0].data.len() as f64;
        for (i, value) in x[0].data.iter().enumerate() {
            let at = place(&x[0].dims, i);
            let to = dims.iter().zip(&at).fold(0, |sum, (len, at)| sum * len + if *len == 1 { 0 } else { *at });
            sums.data[to] += if mean { value * share } else { *value };
        }
        if !keep {
            sums.dims = (0..dims.len()).filter(|i| !axes.contains(&(*i as i64))).map(|i| dims[i]).collect();
        }
        sums
    };
    match operator {
        "Identity" => x[0].clone(),
        "Tanh" => map(&f64::tanh),
        "Sigmoid" => map(&|x| 1.0 / (1.0 + (-x).exp())),
        "Relu" => map(&|x| x.max(0.0)),
        "Sqrt" => map(&f64::sqrt),
        "Elu" => map(&|x| if x > 0.0 { x } else { f64::from(of.floats["alpha"]) * (x.exp() - 1.0) }),
        "LeakyRelu" => map(&|x| if x > 0.0 { x } else { f64::from(of.floats["alpha"]) * x }),
        "Add" => both(&|a, b| a + b),
        "Sub" => both(&|a, b| a - b),
        "Mul" => both(&|a, b| a * b),
        "Div" => both(&|a, b| a / b),
        "Max" => both(&f64::max),
        "Min" => both(&f64::min),
        "Equal" => both(&|a, b| f64::from(u8::from(a == b))),
        "GreaterOrEqual" => both(&|a, b| f64::from(u8::from(a >= b))),
        "LessOrEqual" => both(&|a, b| f64::from(u8::from(a <= b))),
        "Clip" => map(&|value| value.clamp(x[1].data[0], x[2].data[0])),
        "Cast" => match of.int("to", 0) {
            1 => x[0].clone(),
            6 | 7 => map(&f64::trunc),
            9 => map(&|x| f64::from(u8::from(x != 0.0))),
            other => panic!("type {other}"),
        },
        "Where" => Tensor::made(&together(&x[0].dims, &together(&x[1].dims, &x[2].dims)), |at| {
            if x[0].at(at) != 0.0 { x[1].at(at) } else { x[2].at(at) }
        }),
        "Gemm" => {
            assert_eq!(of.int("transB", 0), 1);
            let (rows, units, inputs) = (x[0].dims[0], x[1].dims[0], x[1].dims[1]);
            assert_eq!(x[0].dims[1], inputs);
            Tensor::made(&[rows, units], |at| {
                let bias = x.get(2).map_or(0.0, |bias| bias.at(at));
                (0..inputs).fold(bias, |sum, i| sum + x[0].at(&[at[0], i]) * x[1].at(&[at[1], i]))
            })
        }
        "Conv" => {
            let (groups, units) = (of.int("group", 1) as usize, x[1].dims[0]);
            let (own, each) = (x[1].dims[1], units / groups);
            let mut sums = vec![];
            let out = windows(x[0], of, |n, _, _, seen| {
                for unit in 0..units {
                    let mut sum = x.get(2).map_or(0.0, |bias| bias.data[unit]);
                    for channel in 0..own {
                        for [i, j, p, q] in seen {
                            let from = x[0].at(&[n, unit / each * own + channel, *i, *j]);
                            sum += from * x[1].at(&[unit, channel, *p, *q]);
                        }
                    }
                    sums.push(sum);
                }
            });
            let pixels = out[0] * out[1];
            Tensor::made(&[x[0].dims[0], units, out[0], out[1]], |at| {
                sums[(at[0] * pixels + at[2] * out[1] + at[3]) * units + at[1]]
            })
        }
        "MaxPool" | "AveragePool" => {
            let (channels, mut taken) = (x[0].dims[1], vec![]);
            let out = windows(x[0], of, |n, _, _, seen| {
                for channel in 0..channels {
                    let each = seen.iter().map(|[i, j, ..]| x[0].at(&[n, channel, *i, *j]));
                    taken.push(match operator {
                        "MaxPool" => each.fold(f64::MIN, f64::max),
                        _ => each.sum::<f64>() / seen.len() as f64,
                    });
                }
            });
            let pixels = out[0] * out[1];
            Tensor::made(&[x[0].dims[0], channels, out[0], out[1]], |at| {
                taken[(at[0] * pixels + at[2] * out[1] + at[3]) * channels + at[1]]
            })
        }
        "ConvTranspose" => {
            let (size, stride, pads) = (of.lens("kernel_shape"), of.lens("strides"), of.lens("pads"));
            let (more, units) = (of.lens("output_padding"), x[1].dims[1]);
            let side = |i: usize| (x[0].dims[2 + i] - 1) * stride[i] + size[i] + more[i] - pads[i] - pads[2 + i];
            let dims = [x[0].dims[0], units, side(0), side(1)];
            let mut sums = Tensor::made(&dims, |at| x.get(2).map_or(0.0, |bias| bias.data[at[1]]));
            for (i, value) in x[0].data.iter().enumerate() {
                let from = place(&x[0].dims, i);
                for unit in 0..units {
                    for p in 0..size[0] {
                        for q in 0..size[1] {
                            let (row, column) = (from[2] * stride[0] + p, from[3] * stride[1] + q);
                            let (Some(row), Some(column)) = (row.checked_sub(pads[0]), column.checked_sub(pads[1]))
                            else {
                                continue;
                            };
                            if row < dims[2] && column < dims[3] {
                                let to = ((from[0] * units + unit) * dims[2] + row) * dims[3] + column;
                                sums.data[to] += value * x[1].at(&[from[1], unit, p, q]);
                            }
                        }
                    }
                }
            }
            sums
        }
        "Reshape" => {
            let (given, all) = (x[1].ints(), x[0].data.len());
            let known: usize = given.iter().filter(|len| **len >= 0).map(|len| *len as usize).product();
            let dims: Vec<usize> = given.iter().map(|len| if *len < 0 { all / known } else { *len as usize }).collect();
            Tensor::new(&dims, x[0].data.clone())
        }
        "Transpose" => {
            let order = of.lens("perm");
            let dims: Vec<usize> = order.iter().map(|from| x[0].dims[*from]).collect();
            Tensor::made(&dims, |at| {
                let mut from = vec![0; at.len()];
                order.iter().zip(at).for_each(|(to, at)| from[*to] = *at);
                x[0].at(&from)
            })
        }
        "Slice" => {
            let [begin, end, axis] = [1, 2, 3].map(|i| x[i].ints()[0] as usize);
            let mut dims = x[0].dims.clone();
            assert!(end <= dims[axis]);
            dims[axis] = end - begin;
            Tensor::made(&dims, |at| {
                let mut from = at.to_vec();
                from[axis] += begin;
                x[0].at(&from)
            })
        }
        "Concat" => {
            let (axis, mut dims) = (axis(), x[0].dims.clone());
            dims[axis] = x.iter().map(|x| x.dims[axis]).sum();
            Tensor::made(&dims, |at| {
                let mut from = at.to_vec();
                let own = x.iter().find(|x| {
                    let is_here = from[axis] < x.dims[axis];
                    from[axis] -= if is_here { 0 } else { x.dims[axis] };
                    is_here
                });
                own.unwrap().at(&from)
            })
        }
        "Gather" => {
            let axis = axis();
            let (before, after) = (&x[0].dims[..axis], &x[0].dims[axis + 1..]);
            let dims = [before, &x[1].dims, after].concat();
            let rank = x[1].dims.len();
            Tensor::made(&dims, |at| {
                let index = x[1].at(&at[axis..axis + rank]) as usize;
                assert!(index < x[0].dims[axis]);
                x[0].at(&[&at[..axis], &[index], &at[axis + rank..]].concat())
            })
        }
        "ReduceMean" => reduced(&of.ints["axes"], true, true),
        "ReduceSum" => reduced(&x[1].ints(), of.int("keepdims", 1) != 0, false),
        "Softmax" => {
            let (axis, len) = (axis(), x[0].dims[axis()]);
            Tensor::made(&x[0].dims, |at| {
                let each = |i| {
                    let mut from = at.to_vec();
                    from[axis] = i;
                    x[0].at(&from)
                };
                let most = (0..len).map(each).fold(f64::MIN, f64::max);
                (x[0].at(at) - most).exp() / (0..len).map(|i| (each(i) - most).exp()).sum::<f64>()
            })
        }
        "ArgMax" => {
            assert_eq!((axis(), of.int("keepdims", 0), x[0].dims.len()), (1, 1, 2));
            Tensor::made(&[x[0].dims[0], 1], |at| {
                let row = &x[0].data[at[0] * x[0].dims[1]..][..x[0].dims[1]];
                row.iter().position(|x| row.iter().all(|other| other <= x)).unwrap() as f64
            })
        }
        "Shape" => Tensor::new(&[x[0].dims.len()], x[0].dims.iter().map(|len| *len as f64).collect()),
        "Expand" => {
            let dims: Vec<usize> = x[1].ints().iter().map(|len| *len as usize).collect();
            Tensor::made(&together(&x[0].dims, &dims), |at| x[0].at(at))
        }
        other => panic!("operator {other}"),
    }
}

/// An input or an output: name, type of elements, and dimensions, 0 for N.
type Declared = (String, i64, Vec<usize>);

/// A model as it was read.
struct Model<'b> {
    /// Operator, inputs, output, attributes.
    nodes: Vec<(String, Vec<String>, String, Attributes)>,
    constants: HashMap<String, Tensor>,
    inputs: Vec<Declared>,
    outputs: Vec<Declared>,
    bytes: &'b [u8],
}

fn declared(from: &[u8]) -> Declared {
    let mut own = (String::new(), 0, Vec::new());
    for (field, value) in fields(from) {
        match field {
            1 => own.0 = value.text(),
            _ => {
                let [(1, kind)] = &fields(value.bytes())[..] else { panic!("a type") };
                for (field, value) in fields(kind.bytes()) {
                    match field {
                        1 => own.1 = value.int(),
                        _ => {
                            own.2.extend(fields(value.bytes()).iter().map(|(_, dim)| match &fields(dim.bytes())[..] {
                                [(1, len)] => len.int() as usize,
                                [(2, name)] => usize::from(name.text() != "N"),
                                _ => panic!("a dimension"),
                            }))
                        }
                    }
                }
            }
        }
    }
    own
}

fn constant(from: &[u8]) -> (String, Tensor) {
    let (mut name, mut of, mut dims, mut raw) = (String::new(), 0, Vec::new(), &[][..]);
    for (field, value) in fields(from) {
        match field {
            1 => dims.push(value.int() as usize),
            2 => of = value.int(),
            8 => name = value.text(),
            9 => raw = value.bytes(),
            other => panic!("field {other} of a tensor"),
        }
    }
    let data = match of {
        1 => raw.as_chunks().0.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect(),
        6 => raw.as_chunks().0.iter().map(|x| f64::from(i32::from_le_bytes(*x))).collect(),
        7 => raw.as_chunks().0.iter().map(|x| i64::from_le_bytes(*x) as f64).collect(),
        other => panic!("type {other}"),
    };
    (name, Tensor::new(&dims, data))
}

impl Model<'_> {
    /// Reads a file, and checks that names are given once and before they are read.
    fn read(bytes: &[u8]) -> Model<'_> {
        let (nodes, constants) = (Vec::new(), HashMap::new());
        let mut model = Model { nodes, constants, inputs: vec![], outputs: vec![], bytes };
        let (mut operators, mut known) = (0, HashSet::new());
        for (field, value) in fields(bytes) {
            match field {
                1 => assert_eq!(value.int(), 7),
                2 => assert_eq!(value.text(), "rlcore"),
                8 => operators = fields(value.bytes())[1].1.int(),
                7 => {
                    for (field, value) in fields(value.bytes()) {
                        match field {
                            1 => {
                                let (mut node, mut of) =
                                    ((String::new(), vec![], String::new()), Attributes::default());
                                for (field, value) in fields(value.bytes()) {
                                    match field {
                                        1 => node.1.push(value.text()),
                                        2 => node.2 = value.text(),
                                        4 => node.0 = value.text(),
                                        _ => {
                                            let own = fields(value.bytes());
                                            let name = own[0].1.text();
                                            for (field, value) in &own[1..] {
                                                match (field, value) {
                                                    (2, Value::Float(x)) => {
                                                        of.floats.insert(name.clone(), *x);
                                                    }
                                                    (3 | 8, value) => {
                                                        of.ints.entry(name.clone()).or_default().push(value.int())
                                                    }
                                                    _ => assert_eq!(*field, 20),
                                                }
                                            }
                                        }
                                    }
                                }
                                node.1.iter().for_each(|name| assert!(known.contains(name), "{name} of {}", node.0));
                                assert!(known.insert(node.2.clone()), "{}", node.2);
                                model.nodes.push((node.0, node.1, node.2, of));
                            }
                            2 => assert_eq!(value.text(), "policy"),
                            5 => {
                                let (name, tensor) = constant(value.bytes());
                                assert!(known.insert(name.clone()), "{name}");
                                model.constants.insert(name, tensor);
                            }
                            11 => {
                                model.inputs.push(declared(value.bytes()));
                                assert!(known.insert(model.inputs.last().unwrap().0.clone()));
                            }
                            12 => model.outputs.push(declared(value.bytes())),
                            other => panic!("field {other} of a graph"),
                        }
                    }
                }
                other => panic!("field {other} of a model"),
            }
        }
        assert_eq!(operators, 13);
        assert!(model.outputs.iter().all(|(name, ..)| known.contains(name)));
        model
    }

    fn run(&self, inputs: &[(&str, Vec<f64>)], rows: usize) -> HashMap<String, Tensor> {
        let mut all = self.constants.clone();
        for (name, _, dims) in &self.inputs {
            let dims: Vec<usize> = dims.iter().map(|len| if *len == 0 { rows } else { *len }).collect();
            let (_, data) = inputs.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("{name}"));
            all.insert(name.clone(), Tensor::new(&dims, data.clone()));
        }
        for (operator, inputs, output, attributes) in &self.nodes {
            let inputs: Vec<&Tensor> = inputs.iter().map(|name| &all[name]).collect();
            let made = run(operator, &inputs, attributes);
            all.insert(output.clone(), made);
        }
        for (name, _, dims) in &self.outputs {
            let own = &all[name].dims;
            assert!(own.len() == dims.len(), "{name}");
            assert!(
                own.iter().zip(dims).all(|(own, len)| own == if *len == 0 { &rows } else { len }),
                "{name} {own:?}"
            );
        }
        all
    }
}

fn onnx(policy: &Policy<'_>, how: Onnx) -> Vec<u8> {
    let mut bytes = vec![0xa5; policy.onnx_size(how).unwrap()];
    policy.write_onnx(how, &mut bytes).unwrap();
    bytes
}

/// Numbers that differ by at most this share of the larger of 1 and themselves are those of f32 and f64.
fn near(what: &str, ours: &[f32], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let a = f64::from(*a);
        assert!((a - b).abs() <= 2e-5 * a.abs().max(1.0), "{what} {i}: {a} and {b}");
    }
}

/// Four steps of two rows: the file's outputs are the policy's. `symbols`: bytes are below it.
fn agrees(h: &mut Host, what: &str, symbols: u8) {
    let mut rng = Rng::seeded(4);
    let mut params: Vec<f32> = h.view().params().to_vec();
    params.iter_mut().for_each(|x| *x += 0.3 * (rng.uniform_f32() - 0.5));
    let moments: Vec<f64> = (0..h.view().moments_len()).map(|_| 0.3 + rng.uniform()).collect();
    h.learner().write_params_with(&params, &moments).unwrap();
    let block = export(&h.view());
    let policy = policy(&block);
    let (rows, shape) = (2, *policy.shape());
    let (choices, numbers, state_len) = (shape.choices_len(), shape.std_len(), policy.state_len());
    for how in [
        Onnx::default(),
        Onnx { action_mask: choices > 0, ..Onnx::default() },
        Onnx { names: OnnxNames::MlAgents, action_mask: choices > 0 },
    ] {
        let what = format!("{what} {how:?}");
        let bytes = onnx(&policy, how);
        assert_eq!(bytes, onnx(&policy, how), "equal policies are equal bytes");
        let model = Model::read(&bytes);
        let mut tensors = vec![bytemuck::Zeroable::zeroed(); policy.tensors(&mut []).unwrap()];
        policy.tensors(&mut tensors).unwrap();
        for tensor in &tensors {
            let name: &NamedTensor = tensor;
            let end = name.name.iter().position(|byte| *byte == 0).unwrap();
            let name = std::str::from_utf8(&name.name[..end]).unwrap();
            assert!(model.constants.contains_key(name) || name == "log_std", "{what}: {name} of {}", model.bytes.len());
        }
        let ml_agents = how.names == OnnxNames::MlAgents;
        let mut state = vec![0.0; rows * state_len];
        let mut their_state = vec![0.0f64; rows * state_len];
        for _ in 0..4 {
            let obs = match h.obs_kind {
                Element::F32 => Array::F32((0..rows * h.obs_len).map(|_| rng.uniform_f32() * 3.0 - 1.0).collect()),
                _ => Array::U8((0..rows * h.obs_len).map(|_| rng.bounded(u64::from(symbols) - 1) as u8).collect()),
            };
            let values: Vec<f64> = (0..rows).flat_map(|i| obs.row(i, h.obs_len)).collect();
            let mut mask = vec![1u8; rows * choices];
            if how.action_mask {
                mask.iter_mut().step_by(3).for_each(|x| *x = 0);
            }
            let (mut prob, mut mean) = (vec![0.0; rows * choices], vec![0.0; rows * numbers]);
            let mut std = vec![0.0; rows * numbers];
            let mut best = Array::zeros(h.action_kind, rows * h.action_len);
            let mut scratch = vec![0.0; policy.scratch_len(rows).unwrap()];
            let to = Distribution {
                prob: (choices > 0).then_some(&mut prob[..]),
                mean: (numbers > 0).then_some(&mut mean[..]),
                std: (numbers > 0).then_some(&mut std[..]),
                best: Some(best.get_mut()),
                ..Distribution::default()
            };
            let (allowed, kept) = (how.action_mask.then_some(&mask[..]), Recurrent { state: &mut state, reset: &[] });
            policy.distribution(rows, obs.get(), allowed, None, kept, &mut scratch, to).unwrap();

            let scale = if ml_agents && h.obs_kind == Element::U8 { 255.0 } else { 1.0 };
            let given = values.iter().map(|x| f64::from((x / scale) as f32)).collect();
            let given = if ml_agents { turned(&model, given, rows) } else { given };
            let names =
                if ml_agents { ["obs_0", "action_masks", "recurrent_in"] } else { ["obs", "action_mask", "state"] };
            let mask = mask.iter().map(|x| f64::from(*x)).collect();
            let made = model.run(&[(names[0], given), (names[1], mask), (names[2], their_state)], rows);
            if choices > 0 && !policy.is_q() {
                near(&format!("{what} probabilities"), &prob, &made["probabilities"].data);
            }
            if choices > 0 {
                let ArrayChoices(ours) = (&best).into();
                let theirs: Vec<i32> = made["discrete_actions"].ints().iter().map(|x| *x as i32).collect();
                assert_eq!(ours, theirs, "{what}");
            }
            if let (Array::F32(ours), true) = (&best, numbers > 0) {
                near(&format!("{what} mean"), &mean, &made["mean"].data);
                let stds: Vec<f64> = made["log_std"].data.iter().map(|x| x.exp()).collect();
                near(&format!("{what} std"), &std, &stds);
                near(&format!("{what} actions"), ours, &made["continuous_actions"].data);
            }
            their_state = match (state_len, ml_agents) {
                (0, _) => vec![],
                (_, true) => made["recurrent_out"].data.clone(),
                (_, false) => made["state_out"].data.clone(),
            };
            near(&format!("{what} state"), &state, &their_state);
        }
    }
}

/// Pictures with their channels first, if the model asks for them.
fn turned(model: &Model<'_>, given: Vec<f64>, rows: usize) -> Vec<f64> {
    let [_, channels, height, width] = model.inputs[0].2[..] else { return given };
    let last = Tensor::new(&[rows, height, width, channels], given);
    let of = Attributes { ints: HashMap::from([("perm".to_string(), vec![0, 3, 1, 2])]), ..Attributes::default() };
    run("Transpose", &[&last], &of).data
}

struct ArrayChoices(Vec<i32>);

impl From<&Array> for ArrayChoices {
    fn from(all: &Array) -> ArrayChoices {
        if let Array::I32(x) = all { ArrayChoices(x.clone()) } else { panic!("no choices") }
    }
}

fn ppo(layers: &[Layer], tune: impl Fn(&mut Config), obs: &Space<'_>, action: &Space<'_>) -> Host {
    let mut c = Config { num_envs: 2, num_steps: 4, num_minibatches: 1, num_layers: layers.len() as u32, ..config() };
    tune(&mut c);
    Host::with(&c, layers, obs, action)
}

#[test]
fn heads_say_the_same() {
    let (obs, choose) = (Space::unbounded(5), Space::discrete(&[3, 2, 4]));
    let bounds: (&[f32], &[f32]) = (&[-2.0, -1.0], &[0.5, 3.0]);
    let wide: (&[f32], &[f32]) = (&[-3e38, -1.0], &[3e38, 3.0]);
    let (bounded, wide) = (Space::between(bounds.0, bounds.1), Space::between(wide.0, wide.1));
    for activation in 0..7 {
        let tune = |c: &mut Config| {
            (c.activation, c.normalize_obs, c.hidden_norm) = (activation, activation % 2, activation / 5)
        };
        agrees(&mut ppo(&[], tune, &obs, &choose), "ppo", 0);
        let squash = |c: &mut Config| (c.activation, c.squash) = (activation, activation % 2);
        agrees(&mut ppo(&[], squash, &obs, &bounded), "gaussian", 0);
    }
    agrees(&mut ppo(&[], |c| c.squash = 1, &obs, &wide), "wide", 0);
    agrees(&mut ppo(&[], |_| {}, &Space::bytes(6), &Space::unbounded(2)), "bytes", 255);
    let store = |algorithm| Config { num_envs: 2, ..Config::of(algorithm).hidden(&[6]).store(64, 16, 32) };
    let q = store(Algorithm::Dqn);
    for q in
        [q, Config { num_quantiles: 5, noisy: 1, ..q }, Config { num_atoms: 9, value_min: -3.0, value_max: 5.0, ..q }]
    {
        agrees(&mut Host::new(&q, &obs, &choose), "dqn", 0);
    }
    agrees(&mut Host::new(&store(Algorithm::Td3), &obs, &bounded), "td3", 0);
    agrees(&mut Host::new(&store(Algorithm::Sac), &obs, &bounded), "sac", 0);
    agrees(&mut Host::new(&store(Algorithm::Sac), &obs, &choose), "discrete sac", 0);
}

#[test]
fn layers_that_carry_states_say_the_same() {
    for layer in recurrent() {
        let layers = [Layer::dense(5, Activation::Silu), layer];
        let tune = |c: &mut Config| (c.sequence_len, c.normalize_obs) = (2, 1);
        agrees(&mut ppo(&layers, tune, &Space::unbounded(4), &Space::discrete(&[3])), "recurrent", 0);
    }
    let layers = [Layer::attention(4, 2, 1), Layer::recurrent(LayerKind::Gru, 3), Layer::attention(4, 1, 3)];
    agrees(&mut ppo(&layers, |c| c.sequence_len = 2, &Space::unbounded(4), &Space::unbounded(2)), "stacked", 0);
}

#[test]
fn layers_over_pictures_say_the_same() {
    let conv = Layer::conv(6, [3, 2], [2, 1], Activation::Relu);
    let plain = Layer { stride: [0; 2], size: [0; 2], units: 0, activation: Activation::Identity as u32, ..conv };
    let kind = |kind: LayerKind, layer: Layer| Layer { kind: kind as u32, ..layer };
    let lists: [&[Layer]; 7] = [
        &[conv, Layer { same: 1, flags: NO_BIAS, ..conv }],
        &[
            conv,
            kind(LayerKind::Deconv, Layer { units: 3, ..conv }),
            kind(LayerKind::Deconv, Layer { same: 1, size: [1, 4], stride: [2, 3], ..conv }),
        ],
        &[
            kind(LayerKind::Pool, Layer { units: 0, same: 1, activation: 2, ..conv }),
            kind(
                LayerKind::Pool,
                Layer { units: 0, size: [2, 2], stride: [0; 2], flags: MEAN, same: 1, activation: 5, ..conv },
            ),
        ],
        &[kind(LayerKind::Depthwise, Layer { units: 4, same: 1, ..conv }), kind(LayerKind::Norm, plain)],
        &[
            conv,
            kind(LayerKind::Norm, Layer { flags: RMS | WHOLE, ..plain }),
            kind(LayerKind::Norm, Layer { flags: WHOLE, ..plain }),
        ],
        &[
            conv,
            kind(LayerKind::Norm, plain),
            Layer::merge(LayerKind::Add, [1, 2], Activation::Tanh),
            Layer::dense(6, Activation::Tanh),
            Layer::merge(LayerKind::Multiply, [3, 4], Activation::Identity),
            Layer::merge(LayerKind::Join, [5, 4], Activation::Elu),
            Layer { size: [2, 3], ..Layer::dense(12, Activation::Gelu) },
            Layer { same: 1, stride: [1, 1], ..conv },
            Layer::merge(LayerKind::Join, [7, 8], Activation::LeakyRelu),
        ],
        &[
            kind(LayerKind::Embed, Layer { units: 5, symbols: 7, flags: BYTES, source: [INPUT, 0], ..plain }),
            Layer { same: 1, ..conv },
            Layer::recurrent(LayerKind::Lstm, 4),
        ],
    ];
    for (i, layers) in lists.iter().enumerate() {
        let tune = |c: &mut Config| (c.obs_dims, c.sequence_len) = ([6, 5, 2], if i == 6 { 2 } else { 0 });
        let symbols = if i == 6 { 7 } else { 255 };
        agrees(&mut ppo(layers, tune, &Space::bytes(60), &Space::discrete(&[3])), &format!("list {i}"), symbols);
    }
}

/// A learner of a picture whose channels come first, numbers and choices, whose actions are choices and numbers.
fn structured() -> Host {
    const SEEN: [Field<'static>; 3] = [
        Field { channels_first: true, ..Field::new("camera", Element::U8, &[2, 3, 4], 0) },
        Field::new("speed", Element::F32, &[2], 24),
        Field::new("items", Element::I32, &[2], 32),
    ];
    const TAKEN: [Field<'static>; 2] =
        [Field::new("weapon", Element::I32, &[2], 0), Field::new("aim", Element::F32, &[2], 8)];
    let obs = Space { n: &[3, 5], ..Space::bytes(40) }.with_fields(&SEEN);
    let action = Space { n: &[3, 2], ..Space::bytes(16).with_fields(&TAKEN) };
    ppo(
        &[
            Layer::conv(3, [2, 2], [1, 1], Activation::Relu),
            Layer::merge(LayerKind::Join, [1, INPUT | 3], Activation::Tanh),
        ]
        .map(|layer| {
            if layer.kind == LayerKind::Conv as u32 { Layer { source: [INPUT | 1, 0], ..layer } } else { layer }
        }),
        |c| c.normalize_obs = 1,
        &obs,
        &action,
    )
}

#[test]
fn structures_are_inputs_and_outputs_of_their_own() {
    let h = structured();
    let block = export(&h.view());
    let policy = policy(&block);
    let bytes = onnx(&policy, Onnx::default());
    let model = Model::read(&bytes);
    let expected = [("obs_0", 2, vec![0, 2, 3, 4]), ("obs_1", 1, vec![0, 2]), ("obs_2", 6, vec![0, 2])];
    assert!(
        model.inputs.iter().zip(&expected).all(|(a, b)| a.0 == b.0 && a.1 == b.1 && a.2 == b.2),
        "{:?}",
        model.inputs
    );
    let mut rng = Rng::seeded(6);
    for _ in 0..8 {
        let camera: Vec<u8> = (0..24).map(|_| rng.bounded(255) as u8).collect();
        let speed = [rng.uniform_f32(), -rng.uniform_f32()];
        let items = [rng.bounded(2) as i32, rng.bounded(4) as i32];
        let seen =
            [camera.clone(), bytemuck::cast_slice(&speed).to_vec(), bytemuck::cast_slice(&items).to_vec()].concat();
        let (mut action, mut scratch) = (vec![0u32; 4], vec![0.0; policy.scratch_len(1).unwrap()]);
        let to = ElementsMut::U8(bytemuck::cast_slice_mut(&mut action));
        policy.act_greedy(1, Array::U8(seen).get(), None, Recurrent::default(), &mut scratch, to).unwrap();
        let given = [
            ("obs_0", camera.iter().map(|x| f64::from(*x)).collect()),
            ("obs_1", speed.map(f64::from).to_vec()),
            ("obs_2", items.map(f64::from).to_vec()),
        ];
        let made = model.run(&given, 1);
        assert_eq!(made["discrete_actions"].ints(), [action[0], action[1]].map(i64::from));
        near("aim", &[action[2], action[3]].map(f32::from_bits), &made["continuous_actions"].data);
    }
}

#[test]
fn masks_need_choices_and_lengths_are_exact() {
    let h = ppo(&[], |_| {}, &Space::unbounded(3), &Space::unbounded(2));
    let block = export(&h.view());
    let policy = policy(&block);
    let masked = Onnx { action_mask: true, ..Onnx::default() };
    assert_eq!(policy.onnx_size(masked).unwrap_err().kind, Kind::Config);
    let len = policy.onnx_size(Onnx::default()).unwrap();
    for wrong in [0, len - 1, len + 1] {
        let mut bytes = vec![7; wrong];
        assert_eq!(policy.write_onnx(Onnx::default(), &mut bytes).unwrap_err().kind, Kind::Size);
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}

/// Files of forged policies that attach accepts are written, or refused.
#[test]
fn forged_policies_are_written_or_refused() {
    let carries =
        ppo(&[Layer::attention(4, 2, 2)], |c| c.sequence_len = 2, &Space::unbounded(2), &Space::discrete(&[2]));
    let blocks = [export(&structured().view()), export(&carries.view())];
    forge(&blocks, &[0, 1, 2, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 20, |brain| {
        let Ok(policy) = Policy::attach(bytemuck::cast_slice(brain)) else { return false };
        for names in [OnnxNames::Own, OnnxNames::MlAgents] {
            if let Ok(size) = policy.onnx_size(Onnx { names, action_mask: true }) {
                policy.write_onnx(Onnx { names, action_mask: true }, &mut vec![0; size]).unwrap();
            }
        }
        true
    });
}
