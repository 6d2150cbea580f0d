//! Embeddings of symbols: the output of a pixel is the sum of the table rows that its channels select.
//!
//! Parameters: a table for each channel, `[channels, symbols, units]`.

use super::{Layered, Local, Most, Op, Prim, RowWise, Scope, Sort, rows, rows_mut};
use crate::cpu::At;
use crate::error::Result;
use crate::nn::compile::product;
use crate::nn::initializer::Start;
use crate::nn::layer::{BYTES, Layer};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::num;
use crate::rng::Rng;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Embed {
    pub channels: usize,
    /// Rows of each table.
    pub symbols: usize,
    pub units: usize,
    /// Factor from input values to symbols: 255 for bytes.
    pub scale: f32,
}

impl Layered for Embed {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::Pixel;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        let ([[.., channels], _], [.., units]) = (node.input, node.output);
        Op::Local(Local::Embed(Embed {
            channels: channels as usize,
            symbols: node.symbols as usize,
            units: units as usize,
            scale: if node.has(BYTES) { 255.0 } else { 1.0 },
        }))
    }

    fn set_shape(node: &mut Node, layer: &Layer, _: usize, (): ()) -> Result {
        let [[height, width, _], _] = node.input;
        node.output = [height, width, layer.units];
        Ok(())
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        let ([[.., channels], _], [.., units]) = (node.input, node.output);
        let weights = product(&[channels.into(), node.symbols.into(), units.into()])?;
        Ok(Most { weights, padded: 0, row: read.max(made) })
    }
}

impl Embed {
    /// Offset of the table row for a channel's value. A value that is no symbol counts as the nearest one.
    #[inline(always)]
    fn begin(self, channel: usize, x: f32) -> usize {
        let most = self.symbols.saturating_sub(1);
        let symbol = (num::max(x, 0.0) * self.scale + 0.5) as usize;
        (channel * self.symbols + symbol.min(most)) * self.units
    }
}

impl Prim for Embed {
    fn param_len(self) -> usize {
        self.channels * self.symbols * self.units
    }

    fn init_scratch_len(self) -> usize {
        Start::scratch_len(self.channels * self.symbols, self.units)
    }

    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        start.fill(params, self.channels * self.symbols, self.units, rng, scratch)
    }

    fn tensors(self) -> Tensors {
        let (symbols, units) = (self.symbols, self.units);
        let axes = [(self.channels, symbols.saturating_mul(units)), (symbols, units), (units, 1)];
        Tensors::of([Tensor::weights("weight", 0, axes)])
    }
}

impl RowWise for Embed {
    #[inline(always)]
    fn forward<A: At>(self, _: A, params: &[f32], x: &[f32], y: &mut [f32], _: &mut [f32]) -> Option<()> {
        for (x, y) in rows(x, self.channels).zip(rows_mut(y, self.units)) {
            y.fill(0.0);
            for (channel, &x) in x.iter().enumerate() {
                y.iter_mut().zip(params.get(self.begin(channel, x)..)?).for_each(|(y, w)| *y += w);
            }
        }
        Some(())
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, _: A, x: &[f32], dy: &[f32], grads: &mut [f32], _: &mut [f32]) -> Option<()> {
        for (x, dy) in rows(x, self.channels).zip(rows(dy, self.units)) {
            for (channel, &x) in x.iter().enumerate() {
                grads.get_mut(self.begin(channel, x)..)?.iter_mut().zip(dy).for_each(|(g, dy)| *g += dy);
            }
        }
        Some(())
    }

    /// Symbols have no gradient.
    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        _: A,
        _: &[f32],
        _: &[f32],
        _: &[f32],
        _: &[f32],
        dx: &mut [f32],
        _: &mut [f32],
    ) -> Option<()> {
        dx.fill(0.0);
        Some(())
    }
}
