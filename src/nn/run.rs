//! Networks at work: nodes that need only their own row form strips, some rows at a time through all of them, so that
//! values stay in the first-level cache.

use core::ops::Range;

use super::activation::{Activation, Apply};
use super::net::{Net, Node};
use super::prim::Prim;
use crate::cpu::{self, At, Kernel};
use crate::num;

/// Rows that pass forward through the whole network before the next ones.
pub(super) const ROWS: usize = 32;

/// Rows that pass backward: more, because the sums of every weight's gradient go to memory in between.
pub(super) const BACKWARD_ROWS: usize = 64;

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

    /// Its part of an array that starts at `start` and has `width` numbers a row.
    #[inline(always)]
    fn range(&self, start: usize, width: usize) -> Range<usize> {
        let start = start + self.begin * width;
        start..start + self.len * width
    }

    #[inline(always)]
    fn of<'a>(&self, a: &'a [f32], width: usize) -> Option<&'a [f32]> {
        a.get(self.range(0, width))
    }

    #[inline(always)]
    fn of_mut<'a>(&self, a: &'a mut [f32], width: usize) -> Option<&'a mut [f32]> {
        a.get_mut(self.range(0, width))
    }
}

#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// [`num::canonical`] of all.
#[inline(always)]
fn canonical(x: &mut [f32]) {
    for x in x {
        *x = num::canonical(*x);
    }
}

/// Values and outputs.
pub(super) struct Forward<'a, 'o> {
    pub nodes: &'a [Node],
    pub params: &'a [f32],
    pub x: &'a [f32],
    pub rows: usize,
    pub heads: u32,
    /// The tape; or working memory of [`ROWS`] rows at most, where the next ones replace them.
    pub values: &'a mut [f32],
    pub taped: bool,
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
        let Forward { nodes, params, x: input, rows, heads, values, taped, work, outs } = self;
        for strip in Strip::all::<ROWS>(rows) {
            let value = |n: &Node| match taped {
                true => strip.range(n.on_tape(rows), n.units()),
                false => Strip { begin: 0, ..strip }.range(n.in_place(rows.min(ROWS)), n.units()),
            };
            let mut outs = outs.iter_mut();
            for node in nodes.iter().filter(|n| n.runs(heads)) {
                let mut out = if node.is_head() { Some(strip.of_mut(outs.next()?, node.units())?) } else { None };
                // A head's value goes out, unless the tape needs it too.
                let goes_out = if taped && node.is_kept() { None } else { out.take() };
                let (x, y) = match (node.source(nodes), goes_out) {
                    (Some(source), Some(y)) => (values.get(value(source))?, y),
                    (Some(source), None) => {
                        let [x, y] = values.get_disjoint_mut([value(source), value(node)]).ok()?;
                        (&*x, y)
                    }
                    (None, Some(y)) => (strip.of(input, node.input())?, y),
                    (None, None) => (strip.of(input, node.input())?, values.get_mut(value(node))?),
                };
                node.op().forward(at, params.get(node.params())?, x, y, &mut *work)?;
                if node.activation() != Activation::Identity {
                    at.call(Apply { activation: node.activation(), values: y });
                }
                if node.is_head() {
                    canonical(y);
                }
                if let Some(out) = out {
                    copy(y, out);
                }
            }
        }
        Some(())
    }
}

/// Gradients, from those of the outputs.
pub(super) struct Backward<'a> {
    pub net: Net<'a>,
    pub params: &'a [f32],
    pub x: &'a [f32],
    pub rows: usize,
    pub heads: u32,
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
        let Backward { net, params, x: input, rows, heads, tape, d_outs, mut d_input, grads, scratch } = self;
        let (nodes, wants_input) = (net.nodes(), d_input.is_some());
        let [values, added, turned, all_turned, _] = net.cuts(wants_input);
        let (scratch, work) = scratch.split_at_mut_checked(all_turned)?;
        let (scratch, copies) = scratch.split_at_mut_checked(added)?;
        let (values, more) = scratch.split_at_mut_checked(values)?;
        let copy_of = |n: &Node| n.turned(if n.reads_input() { turned - added } else { 0 });
        for node in nodes.iter().filter(|n| n.runs(heads) && (wants_input || !n.reads_input())) {
            node.op().turn(params.get(node.params())?, copies.get_mut(copy_of(node))?)?;
        }
        let copies = &*copies;

        for strip in Strip::all::<BACKWARD_ROWS>(rows) {
            let taped = |n: &Node| tape.get(strip.range(n.on_tape(rows), n.units()));
            let place = |n: &Node| Strip { begin: 0, ..strip }.range(n.in_place(BACKWARD_ROWS), n.units());
            let mut d_outs = d_outs.iter().rev();
            // Bits of values whose gradients were begun.
            let mut begun = 0;
            for node in nodes.iter().rev().filter(|n| n.runs(heads)) {
                let (source, is_kept) = (node.source(nodes), node.is_kept());
                let ranges = [if is_kept { place(node) } else { 0..0 }, source.map_or(0..0, place)];
                let [own, dx] = values.get_disjoint_mut(ranges).ok()?;
                let mut dy: &[f32] = if node.is_head() { strip.of(d_outs.next()?, node.units())? } else { &[] };
                if is_kept {
                    copy(dy, own);
                    node.activation().apply_slope(own, taped(node)?);
                    dy = own;
                }
                let x = if let Some(source) = source { taped(source)? } else { strip.of(input, node.input())? };
                node.op().add_gradients(at, x, dy, grads.get_mut(node.params())?, &mut *work)?;

                let dx = match &mut d_input {
                    _ if source.is_some() => dx,
                    Some(d_input) => strip.of_mut(d_input, node.input())?,
                    None => continue,
                };
                let is_first = begun & node.source_bit() == 0;
                begun |= node.source_bit();
                let to = if is_first { &mut *dx } else { more.get_mut(..dx.len())? };
                let (own, turned) = (params.get(node.params())?, copies.get(copy_of(node))?);
                node.op().input_gradient(at, own, turned, x, dy, to, &mut *work)?;
                if !is_first {
                    for (dx, more) in dx.iter_mut().zip(&*more) {
                        *dx += more;
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
