//! Merge of two values: sum, product or concatenation.

use super::{Layered, Op, Prim, Scope, Sort, copy, rows, rows_mut};
use crate::error::{Error, Kind, Result};
use crate::nn::compile::TOO_LARGE;
use crate::nn::layer::Layer;
use crate::nn::node::Node;

/// Operation of a merge.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::nn) enum MergeOp {
    Add,
    Multiply,
    Join,
}

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Merge {
    pub way: MergeOp,
    /// Group length in each value: for `Join`, the channels of a pixel; else the length of the second value, which is added to
    /// each group of that length in the first, or multiplied by it.
    pub lens: [usize; 2],
}

impl Layered for Merge {
    type Form = MergeOp;
    const SORT: Sort = Sort::Merge;
    const SCOPE: Scope = Scope::Pixel;

    #[inline(always)]
    fn of(node: &Node, way: MergeOp) -> Op {
        let channels = node.input.map(|[.., channels]| channels as usize);
        Op::Merge(Merge { way, lens: if way == MergeOp::Join { channels } else { [node.input(1); 2] } })
    }

    fn set_shape(node: &mut Node, _: &Layer, number: usize, way: MergeOp) -> Result {
        let refused = |what, given: u32| Err(Error::new(Kind::Config, what).needed(number).given(given as usize));
        let [first @ [height, width, channels], second @ [down, right, more]] = node.input;
        node.output = first;
        if way == MergeOp::Join {
            node.output[2] = channels.checked_add(more).ok_or(TOO_LARGE)?;
            if [height, width] != [down, right] {
                return refused("net: sources of one height and width in layer", down);
            }
        } else if second != first && second != [1, 1, channels] {
            return refused("net: a second source of the first one's shape, or of its channels, in layer", more);
        }
        Ok(())
    }
}

impl Prim for Merge {}

impl Merge {
    /// `y[m, output]` from two values; a row of the first one has `first` elements.
    #[inline(always)]
    pub fn forward(self, x: [&[f32]; 2], first: usize, y: &mut [f32]) -> Option<()> {
        let ([a, b], [m, n]) = (x, self.lens);
        if self.way == MergeOp::Join {
            for ((y, a), b) in rows_mut(y, m + n).zip(rows(a, m)).zip(rows(b, n)) {
                let (left, right) = y.split_at_mut_checked(m)?;
                copy(a, left)?;
                copy(b, right)?;
            }
            return Some(());
        }
        for ((y, a), b) in rows_mut(y, first).zip(rows(a, first)).zip(rows(b, n)) {
            for (y, a) in rows_mut(y, n).zip(rows(a, n)) {
                let all = y.iter_mut().zip(a).zip(b);
                match self.way {
                    MergeOp::Add => all.for_each(|((y, a), b)| *y = a + b),
                    _ => all.for_each(|((y, a), b)| *y = a * b),
                }
            }
        }
        Some(())
    }

    /// The gradient `dx` of value `k` from that of the output.
    #[inline(always)]
    pub fn gradient(self, k: usize, x: [&[f32]; 2], first: usize, dy: &[f32], dx: &mut [f32]) -> Option<()> {
        let ([a, b], [m, n]) = (x, self.lens);
        if self.way == MergeOp::Join {
            let (own, skip) = if k == 0 { (m, 0) } else { (n, m) };
            for (dy, dx) in rows(dy, m + n).zip(rows_mut(dx, own)) {
                copy(dy.get(skip..)?, dx)?;
            }
            return Some(());
        }
        let product = self.way == MergeOp::Multiply;
        if k == 0 {
            for ((dx, dy), b) in rows_mut(dx, first).zip(rows(dy, first)).zip(rows(b, n)) {
                for (dx, dy) in rows_mut(dx, n).zip(rows(dy, n)) {
                    let all = dx.iter_mut().zip(dy).zip(b);
                    all.for_each(|((dx, dy), b)| *dx = if product { dy * b } else { *dy });
                }
            }
            return Some(());
        }
        for ((dx, dy), a) in rows_mut(dx, n).zip(rows(dy, first)).zip(rows(a, first)) {
            dx.fill(0.0);
            for (dy, a) in rows(dy, n).zip(rows(a, n)) {
                let all = dx.iter_mut().zip(dy).zip(a);
                all.for_each(|((dx, dy), a)| *dx += if product { dy * a } else { *dy });
            }
        }
        Some(())
    }
}
