//! Forward and backward passes: nodes that need only their own row are run in strips, some rows at a time through all nodes, so
//! that values stay in the first-level cache.

use core::ops::Range;

use super::activation::{Activation, Apply};
use super::carry::Carry;
use super::input::Input;
use super::layer::MAX_LAYERS;
#[cfg(feature = "recurrent")]
use super::node::state_len;
use super::node::{BACKWARD_ROWS, Node, ROWS, parts_len};
#[cfg(feature = "pictures")]
use super::prim::Local;
use super::prim::{Op, Prim, RowWise, copy};
#[cfg(feature = "recurrent")]
use super::prim::{StepWise, Taped};
use crate::cpu::{self, At, Kernel};
use crate::num;

/// Rows `[begin, begin + len)`.
#[derive(Clone, Copy)]
struct Strip {
    begin: usize,
    len: usize,
}

impl Strip {
    #[inline(always)]
    fn all<const N: usize>(rows: usize) -> impl Iterator<Item = Strip> {
        (0..rows).step_by(N).map(move |begin| Strip { begin, len: (rows - begin).min(N) })
    }

    /// The strip at the same position when strips are counted from the last one.
    #[inline(always)]
    fn mirrored<const N: usize>(self, rows: usize) -> Strip {
        let begin = (rows.saturating_sub(1) / N * N).saturating_sub(self.begin);
        Strip { begin, len: (rows - begin).min(N) }
    }

    /// Its rows.
    #[cfg(feature = "recurrent")]
    #[inline(always)]
    fn rows(&self) -> Range<usize> {
        self.begin..self.begin + self.len
    }

    /// Its part of an array that starts at `start` and has `width` elements per row.
    #[inline(always)]
    fn range(&self, start: usize, width: usize) -> Range<usize> {
        let start = start + self.begin * width;
        start..start + self.len * width
    }

    #[inline(always)]
    fn of<'a, T>(&self, a: &'a [T], width: usize) -> Option<&'a [T]> {
        a.get(self.range(0, width))
    }

    #[inline(always)]
    fn of_mut<'a>(&self, a: &'a mut [f32], width: usize) -> Option<&'a mut [f32]> {
        a.get_mut(self.range(0, width))
    }
}

/// [`num::canonical`] of all elements, which are written only if there is a NaN.
#[inline(always)]
fn canonical(x: &mut [f32]) {
    if x.iter().fold(false, |any, x| any | x.is_nan()) {
        for x in x {
            *x = num::canonical(*x);
        }
    }
}

/// The range of source `k` in a row of the numbers of the input, whose first `front` elements are bytes, if it is a part.
#[inline(always)]
fn part_of(node: &Node, k: usize, front: usize) -> Option<Range<usize>> {
    let part = node.part(k).filter(|_| !node.reads_front(k, front))?;
    Some(part.start - front..part.end - front)
}

/// Copies the input parts that a node reads to the front of `to`: of the first source, then of the second. The first `front`
/// elements of the input are bytes, which are read where they lie.
#[inline(always)]
fn split_parts<'t>(
    node: &Node,
    strip: Strip,
    (input, front): (&[f32], usize),
    to: &'t mut [f32],
) -> Option<[&'t [f32]; 2]> {
    if !cfg!(feature = "residual") || to.is_empty() || input.is_empty() {
        return Some([&[]; 2]);
    }
    let len = |k| part_of(node, k, front).map_or(0, |part| part.len() * strip.len);
    let (first, rest) = to.split_at_mut_checked(len(0))?;
    let second = rest.get_mut(..len(1))?;
    let width = node.row as usize - front;
    for (k, to) in [&mut *first, &mut *second].into_iter().enumerate() {
        let Some(part) = part_of(node, k, front) else { continue };
        let rows = strip.of(input, width)?;
        for (row, to) in to.chunks_exact_mut(part.len().max(1)).enumerate() {
            copy(rows.get(row * width..)?.get(part.clone())?, to)?;
        }
    }
    Some([first, second])
}

/// Adds the gradients of a part to those of the input rows.
#[inline(always)]
fn add_part(part: Range<usize>, width: usize, from: &[f32], rows: &mut [f32]) {
    for (i, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
        let from = from.get(i * part.len()..).unwrap_or_default().iter().take(part.len());
        row.iter_mut().skip(part.start).zip(from).for_each(|(to, from)| *to += from);
    }
}

/// Forward pass: values and outputs.
pub(super) struct Forward<'a, 'o> {
    pub nodes: &'a [Node],
    pub params: &'a [f32],
    pub x: Input<'a>,
    pub rows: usize,
    pub heads: u32,
    /// The tape; or working memory of at most [`ROWS`] rows, which the next strip overwrites.
    pub values: &'a mut [f32],
    /// Steps of sequences, for rows whose values go on the tape; `None` without a tape.
    pub carry: Option<&'a Carry<'a>>,
    /// `[rows, state_len]` states for one step of each row, without a tape.
    #[cfg(feature = "recurrent")]
    pub state: &'a mut [f32],
    pub work: &'a mut [f32],
    pub outs: &'a mut [&'o mut [f32]],
}

impl Kernel for Forward<'_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(cpu::Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        let Forward { nodes, params, x, rows, heads, values, carry, work, outs, .. } = self;
        let (input, bytes) = (x.numbers(), x.bytes());
        let front = bytes.len().checked_div(rows).unwrap_or(0);
        let taped = carry.is_some();
        let parts_len = parts_len(nodes);
        for strip in Strip::all::<ROWS>(rows) {
            let value = |n: &Node| match taped {
                true => strip.range(n.on_tape(rows), n.units()),
                false => Strip { begin: 0, ..strip }.range(n.in_place(rows.min(ROWS)), n.units()),
            };
            let mut outs = outs.iter_mut();
            for node in nodes.iter().filter(|n| n.runs(heads)) {
                let mut out = if node.is_head() { Some(strip.of_mut(outs.next()?, node.units())?) } else { None };
                // A head's value goes to the output, unless the tape needs it too.
                let goes_out = if taped && node.is_kept() { None } else { out.take() };
                let own = match goes_out {
                    Some(_) => 0..0,
                    None if taped && node.is_more_on_tape() => node.all_on_tape(rows),
                    None => value(node),
                };
                let (before, rest) = values.split_at_mut_checked(own.start)?;
                let (kept, after) = rest.split_at_mut_checked(own.len())?;
                let (before, after) = (&*before, &*after);
                let source = |k| match node.source(nodes, k).map(value) {
                    None if node.reads_front(k, front) => Some(&[][..]),
                    None => strip.of(input, node.input(k)),
                    Some(from) if from.start < own.start => before.get(from),
                    Some(from) => after.get(from.start.checked_sub(own.end)?..from.end.checked_sub(own.end)?),
                };
                let (copies, work) = work.split_at_mut_checked(parts_len * strip.len)?;
                let parts = split_parts(node, strip, (input, front), copies)?;
                let source = |k, part| if node.part(k).is_some() { Some(part) } else { source(k) };
                let (x, mut y, own) = (source(0, parts[0])?, goes_out.unwrap_or(kept), params.get(node.params())?);
                #[cfg(feature = "recurrent")]
                if let Op::Sequential(layer) = node.op() {
                    if let Some(carry) = carry {
                        let flow = carry.flow(rows, nodes, node);
                        layer.go_forward(at, own, x, rows, y, strip.rows(), &flow, &mut *work)?;
                    } else {
                        let width = state_len(nodes);
                        let state = strip.of_mut(self.state, width)?;
                        layer.step(at, own, x, y, state, (width, node.state()), &mut *work)?;
                    }
                    continue;
                }
                let mut sum = None;
                if taped && node.keeps_sum() {
                    let (values, sums) = y.split_at_mut_checked(node.units() * rows)?;
                    (y, sum) = (strip.of_mut(values, node.units())?, Some(strip.of_mut(sums, node.units())?));
                }
                match node.op() {
                    #[cfg(feature = "pictures")]
                    Op::Local(Local::Conv(layer)) if node.reads_front(0, front) => {
                        layer.look(at, own, strip.of(bytes, node.input(0))?, y, &mut *work)?
                    }
                    #[cfg(feature = "pictures")]
                    Op::Local(Local::Depthwise(layer)) if node.reads_front(0, front) => {
                        layer.look(at, own, strip.of(bytes, node.input(0))?, y, &mut *work)?
                    }
                    Op::Local(layer) => layer.forward(at, own, x, y, &mut *work)?,
                    #[cfg(feature = "residual")]
                    Op::Merge(layer) => layer.forward([x, source(1, parts[1])?], node.input(0), y)?,
                    // Without a value, or handled above.
                    Op::Free(_) => {}
                    #[cfg(feature = "recurrent")]
                    Op::Sequential(_) => {}
                }
                if let Some(sum) = sum {
                    copy(y, sum)?;
                }
                if node.activation() != Activation::Identity {
                    at.call(Apply { activation: node.activation(), values: y });
                }
                if node.is_head() {
                    canonical(y);
                }
                if let Some(out) = out {
                    copy(y, out)?;
                }
            }
        }
        Some(())
    }
}

/// Backward pass: gradients, from those of the outputs.
pub(super) struct Backward<'a> {
    pub nodes: &'a [Node],
    /// Ends of the sections of `scratch`.
    pub cuts: [usize; 6],
    pub params: &'a [f32],
    pub x: Input<'a>,
    pub rows: usize,
    pub heads: u32,
    #[cfg(feature = "recurrent")]
    pub carry: &'a Carry<'a>,
    pub tape: &'a [f32],
    pub d_outs: &'a [&'a [f32]],
    pub d_input: Option<&'a mut [f32]>,
    pub grads: &'a mut [f32],
    pub scratch: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(cpu::Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        #[cfg(feature = "recurrent")]
        let carry = self.carry;
        let Backward { nodes, cuts, params, x, rows, heads, tape, d_outs, mut d_input, grads, scratch, .. } = self;
        let (input, bytes) = (x.numbers(), x.bytes());
        let front = bytes.len().checked_div(rows).unwrap_or(0);
        let (wants_input, wants_grads) = (d_input.is_some(), !grads.is_empty());
        let [values, added, turned, all_turned, back, _] = cuts;
        let (scratch, work) = scratch.split_at_mut_checked(back)?;
        let (scratch, back) = scratch.split_at_mut_checked(all_turned)?;
        let (scratch, copies) = scratch.split_at_mut_checked(added)?;
        let (values, more) = scratch.split_at_mut_checked(values)?;
        let copy_of = |n: &Node| n.turned(if n.turns_late() { turned - added } else { 0 });
        for node in
            nodes.iter().filter(|n| n.runs(heads) && (wants_input && !n.reads_front(0, front) || !n.turns_late()))
        {
            let (own, copy) = (params.get(node.params())?, copies.get_mut(copy_of(node))?);
            match node.op() {
                #[cfg(feature = "recurrent")]
                Op::Sequential(layer) => {
                    layer.turn_used(own, copy, [wants_input || !node.reads_input(), carry.steps > 1])?
                }
                op => op.turn(own, copy)?,
            }
        }
        let copies = &*copies;
        let parts_len = parts_len(nodes);
        if parts_len > 0
            && let Some(d_input) = &mut d_input
        {
            d_input.fill(0.0);
        }
        // Gradients carried back through steps come from later rows.
        let backward = !back.is_empty();
        back.fill(0.0);

        for strip in Strip::all::<BACKWARD_ROWS>(rows) {
            let strip = if backward { strip.mirrored::<BACKWARD_ROWS>(rows) } else { strip };
            let taped = |n: &Node| tape.get(strip.range(n.on_tape(rows), n.units()));
            let place = |n: &Node| Strip { begin: 0, ..strip }.range(n.in_place(BACKWARD_ROWS), n.units());
            let mut d_outs = d_outs.iter().rev();
            // Mask of values whose gradients are already written.
            let mut begun = [0u64; MAX_LAYERS / u64::BITS as usize + 1];
            for node in nodes.iter().rev().filter(|n| n.runs(heads)) {
                let own_place = if node.is_kept() { place(node) } else { 0..0 };
                let d_out: &[f32] = if node.is_head() { strip.of(d_outs.next()?, node.units())? } else { &[] };
                if node.is_kept() {
                    let own = values.get_mut(own_place.clone())?;
                    copy(d_out, own)?;
                    let sum = strip.range(node.sum_on_tape(rows), node.units());
                    let known = if node.keeps_sum() { tape.get(sum)? } else { taped(node)? };
                    node.activation().apply_slope(own, known);
                }
                let (part_copies, work) = work.split_at_mut_checked(parts_len * strip.len)?;
                let [first, second] = split_parts(node, strip, (input, front), part_copies)?;
                let value = |k| match node.source(nodes, k) {
                    Some(source) => taped(source),
                    None if node.part(k).is_some() => Some(if k == 0 { first } else { second }),
                    None if node.reads_front(k, front) => Some(&[][..]),
                    None => strip.of(input, node.input(k)),
                };
                let (x, own, turned) = (value(0)?, params.get(node.params())?, copies.get(copy_of(node)));
                let own_grads = if wants_grads { grads.get_mut(node.params())? } else { &mut [] };
                for k in 0..node.num_sources() {
                    let source = node.source(nodes, k);
                    let [own_d, dx] = values.get_disjoint_mut([own_place.clone(), source.map_or(0..0, place)]).ok()?;
                    let dy = if node.is_kept() { &*own_d } else { d_out };
                    let part = part_of(node, k, front).filter(|_| wants_input);
                    let dx = match &mut d_input {
                        _ if source.is_some() => Some(dx),
                        Some(_) if part.is_some() || node.reads_front(k, front) => None,
                        Some(d_input) => Some(strip.of_mut(d_input, node.input(k))?),
                        None => None,
                    };
                    let (word, bit) = node.source_bit(k);
                    let begun = begun.get_mut(word)?;
                    let is_first = *begun & bit == 0;
                    *begun |= bit;
                    let (mut to, sum) = match dx {
                        Some(dx) if !is_first => (Some(more.get_mut(..dx.len())?), Some(dx)),
                        None if part.is_some() => (Some(more.get_mut(..strip.len * node.input(k))?), None),
                        dx => (dx, None),
                    };
                    match node.op() {
                        #[cfg(feature = "pictures")]
                        Op::Local(Local::Conv(layer)) if node.reads_front(k, front) => {
                            let x = strip.of(bytes, node.input(k))?;
                            if wants_grads {
                                layer.add_gradients_of(at, x, dy, own_grads, &mut *work)?;
                            }
                        }
                        #[cfg(feature = "pictures")]
                        Op::Local(Local::Depthwise(layer)) if node.reads_front(k, front) => {
                            let x = strip.of(bytes, node.input(k))?;
                            if wants_grads {
                                layer.add_gradients_of(at, x, dy, own_grads, &mut *work)?;
                            }
                        }
                        Op::Local(layer) => {
                            if wants_grads {
                                layer.add_gradients(at, x, dy, own_grads, &mut *work)?;
                            }
                            if let Some(to) = to.as_deref_mut() {
                                layer.input_gradient(at, own, turned?, x, dy, to, &mut *work)?;
                            }
                        }
                        #[cfg(feature = "recurrent")]
                        Op::Sequential(layer) => {
                            let flow = carry.flow(rows, nodes, node);
                            let back = back.get_mut(node.back(flow.sequences))?;
                            let (tape, range) = (tape.get(node.all_on_tape(rows))?, strip.rows());
                            let taped = Taped { params: own, turned: turned?, x, dy, all: rows, range, tape, flow };
                            layer.go_back(at, taped, back, own_grads, to.as_deref_mut(), &mut *work)?;
                        }
                        Op::Free(_) => {}
                        #[cfg(feature = "residual")]
                        Op::Merge(layer) => {
                            if let Some(to) = to.as_deref_mut() {
                                layer.gradient(k, [x, value(1)?], node.input(0), dy, to)?;
                            }
                        }
                    }
                    if let (Some(sum), Some(to)) = (sum, to) {
                        sum.iter_mut().zip(to).for_each(|(dx, more)| *dx += *more);
                    }
                    if let (Some(part), Some(d_input)) = (part, &mut d_input) {
                        let (from, width) = (more.get(..strip.len * part.len())?, node.row as usize - front);
                        add_part(part, width, from, strip.of_mut(d_input, width)?);
                    }
                }
            }
        }
        canonical(grads);
        if let Some(d_input) = d_input {
            if d_outs.is_empty() {
                d_input.fill(0.0);
            }
            canonical(d_input);
        }
        Some(())
    }
}
