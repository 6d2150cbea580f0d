//! Layers that process rows independently.

#[cfg(any(feature = "pictures", feature = "recurrent", feature = "residual"))]
use super::Id;
#[cfg(feature = "residual")]
use super::Type;
#[cfg(any(feature = "pictures", feature = "recurrent"))]
use super::graph::Attribute;
use super::graph::Graph;
use super::{Layer, Value, affine};
use crate::error::Result;
use crate::nn::compile::MISFIT;
#[cfg(feature = "residual")]
use crate::nn::prim::{Embed, Merge, MergeOp};
#[cfg(feature = "pictures")]
use crate::nn::prim::{Frame, Norm, Pool};

pub fn dense(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Value) -> Result<Value> {
    let node = layer.node;
    let (mut weight, rows) = (layer.tensor("weight").ok_or(MISFIT)?, [node.units(), node.input(0)]);
    if x.is_picture() {
        weight = weight.over_picture(x.picture);
    }
    let weight = graph.shaped(node.role, &weight, &rows, layer.params)?;
    let (bias, x) = (layer.weight(graph, "bias")?, x.flat(graph)?);
    let y = affine(graph, x, weight, bias)?;
    Value::of_row(graph, y, node.output)
}

/// Windows in ONNX's terms: size, stride, and padding above, to the left, below and to the right.
#[cfg(feature = "pictures")]
fn windows(frame: Frame) -> ([i64; 2], [i64; 2], [i64; 4]) {
    let (all, [height, width, _], [down, right]) =
        (|lens: [usize; 2]| lens.map(|len| len as i64), frame.input, frame.reach());
    let [top, left] = frame.pad;
    let below = down.saturating_sub(height).saturating_sub(top);
    let beside = right.saturating_sub(width).saturating_sub(left);
    (all(frame.size), all(frame.stride), [top, left, below, beside].map(|len| len as i64))
}

/// A convolution whose channels are in so many groups.
#[cfg(feature = "pictures")]
pub fn conv(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Value, frame: Frame, groups: usize) -> Result<Value> {
    let (weight, bias) = (layer.weight(graph, "weight")?, layer.weight(graph, "bias")?);
    let (size, stride, pads) = windows(frame);
    let inputs = [x.as_picture(graph)?, weight, bias];
    let inputs = inputs.get(..if bias == Id::Nothing { 2 } else { 3 }).ok_or(MISFIT)?;
    let y = graph.op(
        "Conv",
        inputs,
        &[
            Attribute::Ints("kernel_shape", &size),
            Attribute::Ints("strides", &stride),
            Attribute::Ints("pads", &pads),
            Attribute::Int("group", groups as i64),
        ],
    )?;
    Value::of_picture(graph, y, layer.node.output)
}

/// A transposed convolution; `frame` is that of the convolution from its output to its input.
#[cfg(feature = "pictures")]
pub fn deconv(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Value, frame: Frame) -> Result<Value> {
    let (weight, bias) = (layer.weight(graph, "weight")?, layer.weight(graph, "bias")?);
    let (size, stride, pads) = windows(frame);
    // Pixels of the output behind the last window.
    let behind = |side: usize, windows: usize, stride: usize, size: usize| {
        side.saturating_sub(windows.saturating_sub(1).saturating_mul(stride).saturating_add(size)) as i64
    };
    let ([height, width, _], [rows, columns]) = (frame.input, frame.windows);
    let ([down, right], [kh, kw]) = (frame.stride, frame.size);
    let rest = [behind(height, rows, down, kh), behind(width, columns, right, kw)];
    let inputs = [x.as_picture(graph)?, weight, bias];
    let inputs = inputs.get(..if bias == Id::Nothing { 2 } else { 3 }).ok_or(MISFIT)?;
    let y = graph.op(
        "ConvTranspose",
        inputs,
        &[
            Attribute::Ints("kernel_shape", &size),
            Attribute::Ints("strides", &stride),
            Attribute::Ints("pads", &pads),
            Attribute::Ints("output_padding", &rest),
        ],
    )?;
    Value::of_picture(graph, y, layer.node.output)
}

#[cfg(feature = "pictures")]
pub fn pool(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Value, pool: Pool) -> Result<Value> {
    let (size, stride, pads) = windows(pool.frame);
    let x = x.as_picture(graph)?;
    let operator = if pool.mean { "AveragePool" } else { "MaxPool" };
    let y = graph.op(
        operator,
        &[x],
        &[Attribute::Ints("kernel_shape", &size), Attribute::Ints("strides", &stride), Attribute::Ints("pads", &pads)],
    )?;
    Value::of_picture(graph, y, layer.node.output)
}

/// Subtracts the mean, if it is to, and divides by the deviation, along these dimensions.
#[cfg(any(feature = "pictures", feature = "recurrent"))]
pub fn standardize(graph: &mut Graph<'_, '_>, x: Id, axes: &[i64], centres: bool, epsilon: f32) -> Result<Id> {
    let axes = [Attribute::Ints("axes", axes)];
    let apart = if centres {
        let mean = graph.op("ReduceMean", &[x], &axes)?;
        graph.op("Sub", &[x, mean], &[])?
    } else {
        x
    };
    let square = graph.op("Mul", &[apart, apart], &[])?;
    let variance = graph.op("ReduceMean", &[square], &axes)?;
    let variance = graph.with("Add", variance, epsilon)?;
    let deviation = graph.op("Sqrt", &[variance], &[])?;
    graph.op("Div", &[apart, deviation], &[])
}

#[cfg(feature = "pictures")]
pub fn norm(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Value, norm: Norm) -> Result<Value> {
    let whole = norm.len != norm.channels;
    let (own, channels) = (norm.channels, [norm.channels, 1, 1]);
    let axes: &[i64] = if whole { &[1, 2, 3] } else { &[1] };
    let dims: &[usize] = if x.is_picture() { &channels } else { &[own] };
    let mut y = standardize(graph, x.id, axes, norm.centres, norm.epsilon)?;
    for (operator, name) in [("Mul", "weight"), ("Add", "bias")] {
        if let Some(tensor) = layer.tensor(name) {
            let by = graph.shaped(layer.node.role, &tensor, dims, layer.params)?;
            y = graph.op(operator, &[y, by], &[])?;
        }
    }
    Ok(Value { id: y, ..x })
}

#[cfg(feature = "residual")]
pub fn embed(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Value, embed: Embed) -> Result<Value> {
    let (channels, symbols, units) = (embed.channels, embed.symbols, embed.units);
    let table = layer.tensor("weight").ok_or(MISFIT)?;
    let table = graph.shaped(layer.node.role, &table, &[channels.saturating_mul(symbols), units], layer.params)?;
    let [height, width, _] = x.sides();
    let pixels = height.saturating_mul(width);
    let row = x.row(graph)?;
    let row = graph.reshape(row, &[-1, pixels, channels as i64])?;
    let above = graph.with("Max", row, 0.0)?;
    let scaled = graph.with("Mul", above, embed.scale)?;
    let rounded = graph.with("Add", scaled, 0.5)?;
    let most = graph.with("Min", rounded, symbols.saturating_sub(1) as f32 + 0.5)?;
    let symbol = graph.cast(most, Type::I64)?;
    let first = graph.places(channels, &|channel| channel.saturating_mul(symbols) as i64)?;
    let place = graph.op("Add", &[symbol, first], &[])?;
    let found = graph.op("Gather", &[table, place], &[])?;
    let sums = graph.sum(found, 2)?;
    let flat = graph.reshape(sums, &[-1, pixels.saturating_mul(units as i64)])?;
    Value::of_row(graph, flat, layer.node.output)
}

#[cfg(feature = "residual")]
pub fn merge(graph: &mut Graph<'_, '_>, layer: Layer<'_>, [a, b]: [Value; 2], merge: Merge) -> Result<Value> {
    let picture = layer.node.output;
    if merge.way == MergeOp::Join {
        let id = if a.is_picture() && !b.is_picture() {
            let row = a.row(graph)?;
            graph.concat(&[row, b.id], 1)?
        } else {
            graph.concat(&[a.id, b.id], 1)?
        };
        return Ok(Value { id, picture });
    }
    let operator = if merge.way == MergeOp::Add { "Add" } else { "Mul" };
    let second = if a.is_picture() { b.as_picture(graph)? } else { b.id };
    let id: Id = graph.op(operator, &[a.id, second], &[])?;
    Ok(Value { id, picture })
}
