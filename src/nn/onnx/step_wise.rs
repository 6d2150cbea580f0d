//! Layers that carry a state from step to step: one step of each row.

#[cfg(feature = "attention")]
use super::graph::Attribute;
use super::graph::{Graph, Id};
use super::row_wise::standardize;
use super::{Layer, affine};
use crate::error::Result;
#[cfg(feature = "attention")]
use crate::nn::compile::MISFIT;
#[cfg(feature = "attention")]
use crate::nn::prim::Attention;
use crate::nn::prim::{Cell, Recurrent};

/// Index of the cells among the normalized vectors of an LSTM.
const CELLS: usize = 4;

/// Epsilon of an LSTM's normalization.
const EPSILON: f32 = 1e-12;

/// The weighted sums of `x`, without a bias.
fn product(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, weight: &str) -> Result<Id> {
    let weight = layer.weight(graph, weight)?;
    affine(graph, x, weight, Id::Nothing)
}

/// `1 - z`, times `a`, plus `z` times `b`.
fn mix(graph: &mut Graph<'_, '_>, z: Id, a: Id, b: Id) -> Result<Id> {
    let one = graph.scalar(1.0)?;
    let rest = graph.op("Sub", &[one, z], &[])?;
    let (a, b) = (graph.op("Mul", &[rest, a], &[])?, graph.op("Mul", &[z, b], &[])?);
    graph.op("Add", &[a, b], &[])
}

/// Vector `k` of `units` numbers in a tensor of a layer.
fn vector(graph: &mut Graph<'_, '_>, whole: Id, k: usize, units: usize) -> Result<Id> {
    let begin = k.saturating_mul(units);
    graph.slice(whole, 0, [begin, begin.saturating_add(units)])
}

/// Numbers `[k * units, (k + 1) * units)` of each row.
fn gate(graph: &mut Graph<'_, '_>, x: Id, k: usize, units: usize) -> Result<Id> {
    let begin = k.saturating_mul(units);
    graph.slice(x, 1, [begin, begin.saturating_add(units)])
}

/// Output, and state after the step.
pub fn cell(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, before: Id, cell: Recurrent) -> Result<(Id, Id)> {
    match cell.cell {
        Cell::Lstm => lstm(graph, layer, x, before, cell),
        Cell::Gru => gru(graph, layer, x, before, cell.units),
        Cell::MinGru => min_gru(graph, layer, x, before, cell.units),
    }
}

/// The sums of all gates from the input, with their bias unless it is added later.
fn from_input(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, biased: bool) -> Result<Id> {
    let weight = layer.weight(graph, "weight_ih")?;
    let bias = if biased { layer.weight(graph, "bias")? } else { Id::Nothing };
    affine(graph, x, weight, bias)
}

fn lstm(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, before: Id, cell: Recurrent) -> Result<(Id, Id)> {
    let units = cell.units;
    let (h, c) = (gate(graph, before, 0, units)?, gate(graph, before, 1, units)?);
    let (sums, own) = (from_input(graph, layer, x, !cell.normalises)?, product(graph, layer, h, "weight_hh")?);
    let sums = graph.op("Add", &[sums, own], &[])?;
    let (scales, biases) = match cell.normalises {
        true => (layer.weight(graph, "scale")?, layer.weight(graph, "bias")?),
        false => (Id::Nothing, Id::Nothing),
    };
    let scaled = |graph: &mut Graph<'_, '_>, x: Id, k: usize| {
        if !cell.normalises {
            return Ok(x);
        }
        let x = standardize(graph, x, &[1], true, EPSILON)?;
        let (scale, bias) = (vector(graph, scales, k, units)?, vector(graph, biases, k, units)?);
        let x = graph.op("Mul", &[x, scale], &[])?;
        graph.op("Add", &[x, bias], &[])
    };
    let mut opened = [Id::Nothing; CELLS];
    for ((k, to), operator) in opened.iter_mut().enumerate().zip(["Sigmoid", "Sigmoid", "Tanh", "Sigmoid"]) {
        let own = gate(graph, sums, k, units)?;
        let own = scaled(graph, own, k)?;
        *to = graph.op(operator, &[own], &[])?;
    }
    let [i, f, g, o] = opened;
    let (kept, new) = (graph.op("Mul", &[f, c], &[])?, graph.op("Mul", &[i, g], &[])?);
    let c = graph.op("Add", &[kept, new], &[])?;
    let c = scaled(graph, c, CELLS)?;
    let bent = graph.op("Tanh", &[c], &[])?;
    let y = graph.op("Mul", &[o, bent], &[])?;
    Ok((y, graph.concat(&[y, c], 1)?))
}

fn gru(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, h: Id, units: usize) -> Result<(Id, Id)> {
    let (sums, own) = (from_input(graph, layer, x, true)?, product(graph, layer, h, "weight_hh")?);
    let mut opened = [Id::Nothing; 2];
    for (k, to) in opened.iter_mut().enumerate() {
        let (a, b) = (gate(graph, sums, k, units)?, gate(graph, own, k, units)?);
        let sum = graph.op("Add", &[a, b], &[])?;
        *to = graph.op("Sigmoid", &[sum], &[])?;
    }
    let [r, z] = opened;
    let (a, b) = (gate(graph, sums, 2, units)?, gate(graph, own, 2, units)?);
    let bias = layer.weight(graph, "bias_hn")?;
    let b = graph.op("Add", &[b, bias], &[])?;
    let b = graph.op("Mul", &[r, b], &[])?;
    let n = graph.op("Add", &[a, b], &[])?;
    let n = graph.op("Tanh", &[n], &[])?;
    let y = mix(graph, z, n, h)?;
    Ok((y, y))
}

fn min_gru(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, h: Id, units: usize) -> Result<(Id, Id)> {
    let sums = from_input(graph, layer, x, true)?;
    let (z, v) = (gate(graph, sums, 0, units)?, gate(graph, sums, 1, units)?);
    let z = graph.op("Sigmoid", &[z], &[])?;
    // v + 1/2 from 0 on, else the sigmoid.
    let (line, bent) = (graph.with("Add", v, 0.5)?, graph.op("Sigmoid", &[v], &[])?);
    let above = graph.with("GreaterOrEqual", v, 0.0)?;
    let v = graph.op("Where", &[above, line, bent], &[])?;
    let y = mix(graph, z, h, v)?;
    Ok((y, y))
}

/// Output, and state after the step: the number of steps that it holds, and their inputs, the newest last.
#[cfg(feature = "attention")]
pub fn attention(graph: &mut Graph<'_, '_>, layer: Layer<'_>, x: Id, before: Id, of: Attention) -> Result<(Id, Id)> {
    let Attention { input, units, heads, window } = of;
    let (d, u, w, h) = (input as i64, units as i64, window as i64, heads as i64);
    let (most, len) = (window.saturating_sub(1), units.checked_div(heads).ok_or(MISFIT)?);
    let count = graph.slice(before, 1, [0, 1])?;
    let own = graph.reshape(x, &[-1, 1, d])?;
    let steps = if most > 0 {
        let held = graph.slice(before, 1, [1, most.saturating_mul(input).saturating_add(1)])?;
        let held = graph.reshape(held, &[-1, most as i64, d])?;
        graph.concat(&[held, own], 1)?
    } else {
        own
    };
    let biases = layer.weight(graph, "in_proj_bias")?;
    let project = |graph: &mut Graph<'_, '_>, x: Id, name: &str, k: usize| {
        let (weight, bias) = (layer.weight(graph, name)?, vector(graph, biases, k, units)?);
        affine(graph, x, weight, bias)
    };
    let query = project(graph, x, "q_proj_weight", 0)?;
    let query = graph.reshape(query, &[-1, 1, h, len as i64])?;
    let rows = graph.reshape(steps, &[-1, d])?;
    let key = project(graph, rows, "k_proj_weight", 1)?;
    let key = graph.reshape(key, &[-1, w, u])?;
    let value = project(graph, rows, "v_proj_weight", 2)?;
    let value = graph.reshape(value, &[-1, w, h, len as i64])?;

    // Positions in the order of the steps, the oldest first.
    let positions = layer.weight(graph, "positions")?;
    let order = graph.places(window, &|i| most.saturating_sub(i) as i64)?;
    let positions = graph.op("Gather", &[positions, order], &[])?;
    let key = graph.op("Add", &[key, positions], &[])?;
    let key = graph.reshape(key, &[-1, w, h, len as i64])?;
    let products = graph.op("Mul", &[query, key], &[])?;
    let scores = graph.sum(products, 3)?;
    let scores = graph.with("Mul", scores, 1.0 / crate::num::sqrt(len as f32))?;

    // Steps that the state does not hold have no part.
    let ages = graph.made(&[1, window], &|i| most.saturating_sub(i) as f32)?;
    let there = graph.op("LessOrEqual", &[ages, count], &[])?;
    let there = graph.reshape(there, &[-1, w, 1])?;
    let never = graph.scalar(f32::MIN)?;
    let scores = graph.op("Where", &[there, scores, never], &[])?;
    let shares = graph.op("Softmax", &[scores], &[Attribute::Int("axis", 1)])?;
    let shares = graph.reshape(shares, &[-1, w, h, 1])?;
    let mixed = graph.op("Mul", &[shares, value], &[])?;
    let mixed = graph.sum(mixed, 1)?;
    let mixed = graph.reshape(mixed, &[-1, u])?;
    let (weight, bias) = (layer.weight(graph, "out_proj.weight")?, layer.weight(graph, "out_proj.bias")?);
    let y = affine(graph, mixed, weight, bias)?;

    let more = graph.with("Add", count, 1.0)?;
    let more = graph.with("Min", more, most as f32)?;
    if most == 0 {
        return Ok((y, more));
    }
    let newer = graph.slice(steps, 1, [1, window])?;
    let newer = graph.reshape(newer, &[-1, most.saturating_mul(input) as i64])?;
    Ok((y, graph.concat(&[more, newer], 1)?))
}
