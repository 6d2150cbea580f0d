//! Networks as graphs of ONNX, operator set 13. Of layer normalization, recurrent cells and attention the graph has the plain
//! operators that they consist of, which every reader knows.
//!
//! Values of layers are `[N, length]`; pictures of several pixels are `[N, channels, height, width]`.

mod graph;
mod row_wise;
mod sink;
#[cfg(feature = "recurrent")]
mod step_wise;

pub use graph::{Attribute, Graph, Id, Namer, ROWS, Type};
pub use sink::Sink;

use super::activation::Activation;
use super::compile::MISFIT;
use super::layer::MAX_LAYERS;
use super::net::{ALL, Net};
use super::node::Node;
#[cfg(feature = "recurrent")]
use super::prim::Sequential;
use super::prim::{Local, Op, Prim};
use super::tensor::Tensor;
use crate::error::Result;

/// Version of the format, and of the set of operators.
const FORMAT: i64 = 7;
const OPERATORS: i64 = 13;

/// Writes a model whose graph `body` writes.
pub fn model(to: &mut Sink<'_>, namer: Namer, body: &dyn Fn(&mut Graph<'_, '_>) -> Result) -> Result {
    to.int(1, FORMAT);
    to.text(2, b"rlcore");
    to.message(7, &|graph| {
        body(&mut Graph::new(graph, namer))?;
        graph.text(2, b"policy");
        Ok(())
    })?;
    to.message(8, &|operators| {
        operators.text(1, b"");
        operators.int(2, OPERATORS);
        Ok(())
    })
}

/// A value, and the height, width and channels of its picture; 1, 1 and the length if it is none.
#[derive(Clone, Copy)]
struct Value {
    id: Id,
    picture: [u32; 3],
}

impl Value {
    fn sides(&self) -> [i64; 3] {
        self.picture.map(i64::from)
    }

    fn is_picture(&self) -> bool {
        let [height, width, _] = self.picture;
        height > 1 || width > 1
    }

    /// The value of a row in the order of the library.
    fn of_row(graph: &mut Graph<'_, '_>, row: Id, picture: [u32; 3]) -> Result<Value> {
        let mut value = Value { id: row, picture };
        let [height, width, channels] = value.sides();
        if value.is_picture() {
            value.id = if channels == 1 {
                graph.reshape(row, &[-1, 1, height, width])?
            } else {
                let last = graph.reshape(row, &[-1, height, width, channels])?;
                graph.transpose(last, &[0, 3, 1, 2])?
            };
        }
        Ok(value)
    }

    /// The value of a convolution's result, `[N, channels, height, width]`.
    #[cfg(feature = "pictures")]
    fn of_picture(graph: &mut Graph<'_, '_>, id: Id, picture: [u32; 3]) -> Result<Value> {
        let mut value = Value { id, picture };
        let [.., channels] = value.sides();
        if !value.is_picture() {
            value.id = graph.reshape(id, &[-1, channels])?;
        }
        Ok(value)
    }

    /// Its row in the order of the library.
    fn row(&self, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let [height, width, channels] = self.sides();
        if !self.is_picture() {
            return Ok(self.id);
        }
        let last = if channels == 1 { self.id } else { graph.transpose(self.id, &[0, 2, 3, 1])? };
        graph.reshape(last, &[-1, height.saturating_mul(width).saturating_mul(channels)])
    }

    /// Its row in PyTorch's order.
    fn flat(&self, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let [height, width, channels] = self.sides();
        if !self.is_picture() {
            return Ok(self.id);
        }
        graph.reshape(self.id, &[-1, height.saturating_mul(width).saturating_mul(channels)])
    }

    /// Its picture, of one pixel too.
    #[cfg(any(feature = "pictures", feature = "residual"))]
    fn as_picture(&self, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let [.., channels] = self.sides();
        if self.is_picture() { Ok(self.id) } else { graph.reshape(self.id, &[-1, channels, 1, 1]) }
    }
}

/// A layer that is written: its description and its parameters.
#[derive(Clone, Copy)]
struct Layer<'a> {
    node: &'a Node,
    params: &'a [f32],
}

impl Layer<'_> {
    /// A tensor as it is in memory, whatever the layer reads.
    fn tensor(&self, name: &str) -> Option<Tensor> {
        self.node.op().tensors().as_slice().iter().find(|tensor| tensor.name.bytes().eq(name.bytes())).copied()
    }

    /// That tensor in the graph; nothing if the layer has none of this name.
    fn weight(&self, graph: &mut Graph<'_, '_>, name: &str) -> Result<Id> {
        match self.tensor(name) {
            Some(tensor) => graph.weight(self.node.role, &tensor, self.params),
            None => Ok(Id::Nothing),
        }
    }
}

/// The weighted sums of a row, with a bias if there is one.
fn affine(graph: &mut Graph<'_, '_>, x: Id, weight: Id, bias: Id) -> Result<Id> {
    let by = [Attribute::Int("transB", 1)];
    match bias {
        Id::Nothing => graph.op("Gemm", &[x, weight], &by),
        bias => graph.op("Gemm", &[x, weight, bias], &by),
    }
}

fn activate(graph: &mut Graph<'_, '_>, activation: Activation, x: Id) -> Result<Id> {
    match activation {
        Activation::Identity => Ok(x),
        Activation::Tanh => graph.op("Tanh", &[x], &[]),
        Activation::Relu => graph.op("Relu", &[x], &[]),
        #[cfg(feature = "pictures")]
        Activation::Elu => graph.op("Elu", &[x], &[Attribute::Float("alpha", 1.0)]),
        #[cfg(feature = "stream")]
        Activation::LeakyRelu => graph.op("LeakyRelu", &[x], &[Attribute::Float("alpha", super::activation::LEAK)]),
        #[cfg(feature = "residual")]
        Activation::Silu => {
            let share = graph.op("Sigmoid", &[x], &[])?;
            graph.op("Mul", &[x, share], &[])
        }
        #[cfg(feature = "residual")]
        Activation::Gelu => {
            let [root, cube] = super::activation::GELU;
            let square = graph.op("Mul", &[x, x], &[])?;
            let cubed = graph.op("Mul", &[square, x], &[])?;
            let bent = graph.with("Mul", cubed, cube)?;
            let sum = graph.op("Add", &[x, bent], &[])?;
            let scaled = graph.with("Mul", sum, root)?;
            let tanh = graph.op("Tanh", &[scaled], &[])?;
            let half = graph.with("Mul", tanh, 0.5)?;
            let share = graph.with("Add", half, 0.5)?;
            graph.op("Mul", &[x, share], &[])
        }
    }
}

/// A source of a layer.
fn source(graph: &mut Graph<'_, '_>, node: &Node, k: usize, row: Id, values: &[Id]) -> Result<Value> {
    let picture = *node.input.get(k).ok_or(MISFIT)?;
    if !node.is_input(k) {
        let from = *node.from.get(k).ok_or(MISFIT)? as usize;
        let id = *values.get(from.wrapping_sub(1)).ok_or(MISFIT)?;
        return Ok(Value { id, picture });
    }
    let own = match node.part(k) {
        Some(part) if part.len() < node.row as usize => graph.slice(row, 1, [part.start, part.end])?,
        _ => row,
    };
    Value::of_row(graph, own, picture)
}

/// The first head of a network for rows of its input, and the states of its recurrent layers after this step from those before
/// it, `[N, state_len]`.
pub fn network(graph: &mut Graph<'_, '_>, net: Net<'_>, params: &[f32], row: Id, state: Id) -> Result<(Id, Id)> {
    let nodes = net.nodes();
    let (mut values, mut head) = ([Id::Nothing; MAX_LAYERS], Id::Nothing);
    for (i, node) in nodes.iter().enumerate() {
        let own = params.get(node.params()).ok_or(MISFIT)?;
        let layer = Layer { node, params: own };
        if !node.runs(ALL) {
            continue;
        }
        let x = source(graph, node, 0, row, &values)?;
        let mut y = match node.op() {
            Op::Free(_) => continue,
            Op::Local(local) => match local {
                Local::Dense(_) => row_wise::dense(graph, layer, x)?,
                #[cfg(feature = "pictures")]
                Local::Conv(conv) => row_wise::conv(graph, layer, x, conv.frame, 1)?,
                #[cfg(feature = "pictures")]
                Local::Depthwise(depthwise) => {
                    let [.., channels] = depthwise.frame.input;
                    row_wise::conv(graph, layer, x, depthwise.frame, channels)?
                }
                #[cfg(feature = "pictures")]
                Local::Deconv(deconv) => row_wise::deconv(graph, layer, x, deconv.conv.frame)?,
                #[cfg(feature = "pictures")]
                Local::Pool(pool) => row_wise::pool(graph, layer, x, pool)?,
                #[cfg(feature = "pictures")]
                Local::Norm(norm) => row_wise::norm(graph, layer, x, norm)?,
                #[cfg(feature = "residual")]
                Local::Embed(embed) => row_wise::embed(graph, layer, x, embed)?,
            },
            #[cfg(feature = "residual")]
            Op::Merge(merge) => {
                let second = source(graph, node, 1, row, &values)?;
                row_wise::merge(graph, layer, [x, second], merge)?
            }
            #[cfg(feature = "recurrent")]
            Op::Sequential(sequential) => {
                let [len, ..] = node.remembers();
                let before = graph.slice(state, 1, [node.state(), node.state().saturating_add(len)])?;
                let x = x.row(graph)?;
                let (y, after) = match sequential {
                    Sequential::Recurrent(cell) => step_wise::cell(graph, layer, x, before, cell)?,
                    #[cfg(feature = "attention")]
                    Sequential::Attention(attention) => step_wise::attention(graph, layer, x, before, attention)?,
                };
                graph.node("Identity", &[after], &[], Id::Indexed("state_", i as u32))?;
                Value { id: y, picture: node.output }
            }
        };
        y.id = activate(graph, node.activation(), y.id)?;
        if node.is_head() {
            head = y.row(graph)?;
        }
        *values.get_mut(i).ok_or(MISFIT)? = y.id;
    }
    let carries = || nodes.iter().zip(0..).filter(|(node, _)| node.is_sequential() && node.runs(ALL));
    if state == Id::Nothing {
        return Ok((head, Id::Nothing));
    }
    let name = |k| carries().nth(k).map_or(Id::Nothing, |(_, i)| Id::Indexed("state_", i));
    Ok((head, graph.concat_of(carries().count(), &name, 1)?))
}
