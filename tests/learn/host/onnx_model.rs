//! A reader of files of ONNX, and all their operators in f64.

use std::collections::{HashMap, HashSet};

/// The value of a field of a message.
pub enum Value<'b> {
    Int(i64),
    Float(f32),
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    pub fn int(&self) -> i64 {
        if let Value::Int(x) = self { *x } else { panic!("no integer") }
    }

    pub fn bytes(&self) -> &'b [u8] {
        if let Value::Bytes(x) = self { x } else { panic!("no bytes") }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

/// The fields of a message in order.
pub fn fields(mut from: &[u8]) -> Vec<(i64, Value<'_>)> {
    pub fn varint(from: &mut &[u8]) -> i64 {
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
pub struct Tensor {
    pub dims: Vec<usize>,
    pub data: Vec<f64>,
}

impl Tensor {
    pub fn new(dims: &[usize], data: Vec<f64>) -> Tensor {
        assert_eq!(dims.iter().product::<usize>(), data.len());
        Tensor { dims: dims.to_vec(), data }
    }

    /// A tensor of these dimensions, from the places of its elements.
    pub fn made(dims: &[usize], of: impl Fn(&[usize]) -> f64) -> Tensor {
        let mut data = Vec::new();
        for i in 0..dims.iter().product() {
            data.push(of(&place(dims, i)));
        }
        Tensor::new(dims, data)
    }

    /// An element; dimensions of length 1 are as long as they have to be.
    pub fn at(&self, at: &[usize]) -> f64 {
        let own = &at[at.len() - self.dims.len()..];
        let index = self.dims.iter().zip(own).fold(0, |sum, (len, at)| sum * len + if *len == 1 { 0 } else { *at });
        self.data[index]
    }

    pub fn ints(&self) -> Vec<i64> {
        self.data.iter().map(|x| *x as i64).collect()
    }
}

/// The place of element `i` along each dimension.
pub fn place(dims: &[usize], mut i: usize) -> Vec<usize> {
    let mut at = vec![0; dims.len()];
    for (at, len) in at.iter_mut().zip(dims).rev() {
        (*at, i) = (i % len, i / len);
    }
    at
}

/// The dimensions that both tensors have together.
pub fn together(a: &[usize], b: &[usize]) -> Vec<usize> {
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
pub struct Attributes {
    pub ints: HashMap<String, Vec<i64>>,
    pub floats: HashMap<String, f32>,
}

impl Attributes {
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.ints.get(name).map_or(default, |x| x[0])
    }

    pub fn lens(&self, name: &str) -> Vec<usize> {
        self.ints[name].iter().map(|x| *x as usize).collect()
    }
}

/// Windows of a picture: each output pixel sums, or takes the largest, over the pixels that it sees.
pub fn windows(
    x: &Tensor,
    of: &Attributes,
    mut each: impl FnMut(usize, usize, [usize; 2], &[[usize; 4]]),
) -> [usize; 2] {
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
pub fn run(operator: &str, x: &[&Tensor], of: &Attributes) -> Tensor {
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
pub type Declared = (String, i64, Vec<usize>);

/// A model as it was read.
pub struct Model<'b> {
    /// Operator, inputs, output, attributes.
    pub nodes: Vec<(String, Vec<String>, String, Attributes)>,
    pub constants: HashMap<String, Tensor>,
    pub inputs: Vec<Declared>,
    pub outputs: Vec<Declared>,
    pub bytes: &'b [u8],
}

pub fn declared(from: &[u8]) -> Declared {
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

pub fn constant(from: &[u8]) -> (String, Tensor) {
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
    pub fn read(bytes: &[u8]) -> Model<'_> {
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

    pub fn run(&self, inputs: &[(&str, Vec<f64>)], rows: usize) -> HashMap<String, Tensor> {
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
