//! Depthwise convolution over pictures `[height, width, channels]`: each channel has windows of its own, `units / channels` of
//! them, and no sum runs over channels.
//!
//! Parameters: weights `[kernel height, kernel width, units]`, then bias `[units]` if there is one; unit u reads channel
//! `u / (units / channels)`. Pixels outside a picture are 0.

use super::conv::Windows;
use super::{Frame, Layered, Local, Most, Op, Prim, RowWise, Scope, Sort, rows, rows_mut};
use crate::cpu::{self, At, Kernel};
use crate::error::{Error, Kind, Result};
use crate::nn::initializer::Start;
use crate::nn::input::Pixel;
use crate::nn::layer::{Layer, NO_BIAS};
use crate::nn::matmul::{self, LANES};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::rng::Rng;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Depthwise {
    pub frame: Frame,
    pub units: usize,
    pub has_bias: bool,
}

impl Layered for Depthwise {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::Window;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        let frame = Frame::of(node, node.input[0], node.output);
        Op::Local(Local::Depthwise(Depthwise { frame, units: node.output[2] as usize, has_bias: !node.has(NO_BIAS) }))
    }

    fn set_shape(node: &mut Node, layer: &Layer, number: usize, (): ()) -> Result {
        let [[.., channels], _] = node.input;
        let what = "net: units that are a multiple of the channels of its source in layer";
        let refused = Error::new(Kind::Config, what).needed(number).given(layer.units as usize);
        refused.fail_if(layer.units.checked_rem(channels) != Some(0))?;
        Frame::set_shape(node, layer, number, Windows::Read, layer.units)
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        Frame::most(node, read, made)
    }
}

impl Depthwise {
    /// Pixels of a window.
    #[inline(always)]
    fn num_pixels(self) -> usize {
        self.frame.size.iter().product()
    }

    #[inline(always)]
    fn weight_len(self) -> usize {
        self.num_pixels() * self.units
    }

    #[inline(always)]
    fn bias_len(self) -> usize {
        if self.has_bias { self.units } else { 0 }
    }

    /// Units of each channel, at least 1.
    #[inline(always)]
    fn each_channel(self) -> usize {
        let [.., channels] = self.frame.input;
        self.units.checked_div(channels).unwrap_or(1).max(1)
    }

    /// The frame of pictures that repeat each channel for each of its units.
    #[inline(always)]
    fn spread(self) -> Frame {
        let [h, w, _] = self.frame.input;
        Frame { input: [h, w, self.units], ..self.frame }
    }

    /// Whether pictures are read and gradients written without a copy.
    #[inline(always)]
    fn is_direct(self) -> bool {
        self.each_channel() == 1 && !self.frame.is_padded()
    }

    #[inline(always)]
    fn taps(self) -> Taps {
        let (units, [_, width]) = (self.units, self.frame.reach());
        let ([down, right], [rows, columns], line) = (self.frame.stride, self.frame.windows, width * units);
        Taps { size: self.frame.size, line, columns, right: right * units, rows, down: down * line, units }
    }

    /// Output values of a picture.
    #[inline(always)]
    fn out_len(self) -> usize {
        self.frame.num_windows() * self.units
    }

    /// Writes a picture to the middle of a padded one, each channel as often as it has units.
    #[inline(always)]
    fn put<X: Pixel>(self, x: &[X], padded: &mut [f32]) -> Option<()> {
        let (times, [_, w, channels]) = (self.each_channel(), self.frame.input);
        self.spread().inner(padded, |start, to| {
            let from = x.get(start.checked_div(times).unwrap_or(0)..).unwrap_or_default().iter().take(w * channels);
            if times == 1 {
                to.iter_mut().zip(from).for_each(|(to, x)| *to = x.number());
            } else {
                rows_mut(to, times).zip(from).for_each(|(to, x)| to.fill(x.number()));
            }
        })
    }

    /// The inverse of `put`, with the sums of repeated channels.
    #[inline(always)]
    fn sum(self, padded: &mut [f32], dx: &mut [f32]) -> Option<()> {
        let times = self.each_channel();
        self.spread().inner(padded, |start, from| {
            let to = dx.get_mut(start.checked_div(times).unwrap_or(0)..).unwrap_or_default();
            to.iter_mut().zip(rows(from, times)).for_each(|(to, from)| *to = from.iter().sum());
        })
    }

    /// Calls `each` with pictures in the layout of the taps, in `work` if they have to be copied, and their numbers.
    #[inline(always)]
    fn each<X: Pixel>(
        self,
        x: &[X],
        work: &mut [f32],
        mut each: impl FnMut(usize, &[f32]) -> Option<()>,
    ) -> Option<()> {
        let len = self.frame.len();
        if let (Some(x), true) = (X::numbers(x), self.is_direct()) {
            return rows(x, len).enumerate().try_for_each(|(i, x)| each(i, x));
        }
        let padded = work.get_mut(..self.spread().padded_len())?;
        padded.fill(0.0);
        rows(x, len).enumerate().try_for_each(|(i, x)| {
            self.put(x, padded)?;
            each(i, padded)
        })
    }

    /// [`RowWise::forward`] of pictures of f32 values or bytes.
    #[inline(always)]
    pub fn look<A: At, X: Pixel>(self, at: A, params: &[f32], x: &[X], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        let (w, bias) = params.split_at_checked(self.weight_len())?;
        let (taps, len) = (self.taps(), self.out_len());
        self.each(x, work, |i, x| at.call(Sums { taps, x, w, bias, y: y.get_mut(i * len..(i + 1) * len)? }))
    }

    /// [`RowWise::add_gradients`] of pictures of f32 values or bytes.
    #[inline(always)]
    pub fn add_gradients_of<A: At, X: Pixel>(
        self,
        at: A,
        x: &[X],
        dy: &[f32],
        grads: &mut [f32],
        work: &mut [f32],
    ) -> Option<()> {
        let (dw, db) = grads.split_at_mut_checked(self.weight_len())?;
        let (taps, len) = (self.taps(), self.out_len());
        self.each(x, work, |i, x| at.call(AddWeights { taps, x, dy: dy.get(i * len..(i + 1) * len)?, dw: &mut *dw }))?;
        if self.has_bias { matmul::add_rows(dy, db) } else { Some(()) }
    }
}

impl Prim for Depthwise {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.weight_len() + self.bias_len()
    }

    fn work_len(self, _: usize) -> usize {
        self.spread().padded_len()
    }

    fn init_scratch_len(self) -> usize {
        let (pixels, units) = (self.num_pixels(), self.each_channel());
        pixels * units + Start::scratch_len(pixels, units)
    }

    /// Each channel starts as a convolution of one channel; the bias starts at 0.
    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (w, bias) = params.split_at_mut_checked(self.weight_len()).unwrap_or_default();
        let (pixels, units) = (self.num_pixels(), self.each_channel());
        let (own, scratch) = scratch.split_at_mut_checked(pixels * units).unwrap_or_default();
        let start = Start { window: pixels, ..start };
        for channel in (0..self.units).step_by(units) {
            start.fill(own, pixels, units, rng, scratch)?;
            for (to, from) in rows_mut(w, self.units).zip(rows(own, units)) {
                to.iter_mut().skip(channel).zip(from).for_each(|(to, from)| *to = *from);
            }
        }
        bias.fill(0.0);
        Ok(())
    }

    /// Weights are `[units, 1, height, width]`.
    fn tensors(self) -> Tensors {
        let ([kh, kw], units) = (self.frame.size, self.units);
        let axes = [(units, 1), (1, 0), (kh, kw.saturating_mul(units)), (kw, units)];
        let bias = Tensor::vector("bias", self.weight_len(), self.bias_len());
        Tensors::of([Tensor::weights("weight", 0, axes), bias])
    }
}

impl RowWise for Depthwise {
    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        self.look(at, params, x, y, work)
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], grads: &mut [f32], work: &mut [f32]) -> Option<()> {
        self.add_gradients_of(at, x, dy, grads, work)
    }

    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        at: A,
        params: &[f32],
        _: &[f32],
        _: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        work: &mut [f32],
    ) -> Option<()> {
        let (taps, w) = (self.taps(), params.get(..self.weight_len())?);
        let padded = work.get_mut(..self.spread().padded_len())?;
        for (dy, dx) in rows(dy, self.out_len()).zip(rows_mut(dx, self.frame.len())) {
            let is_direct = self.is_direct();
            let d_picture = if is_direct { &mut *dx } else { &mut *padded };
            d_picture.fill(0.0);
            at.call(AddPixels { taps, w, dy, dx: d_picture })?;
            if !is_direct {
                self.sum(padded, dx)?;
            }
        }
        Some(())
    }
}

/// The windows of a picture with as many channels as units, and the pixels of a window.
#[derive(Clone, Copy)]
struct Taps {
    size: [usize; 2],
    /// Distance between rows of pixels.
    line: usize,
    /// Windows per row, and distance between neighbors.
    columns: usize,
    right: usize,
    /// Rows of windows, and distance between them.
    rows: usize,
    down: usize,
    units: usize,
}

impl Taps {
    /// Offsets of the windows in a picture.
    #[inline(always)]
    fn windows(self) -> impl Iterator<Item = usize> {
        (0..self.rows).flat_map(move |row| (0..self.columns).map(move |column| row * self.down + column * self.right))
    }

    /// Offsets of the pixels in a window.
    #[inline(always)]
    fn pixels(self) -> impl Iterator<Item = usize> {
        let [height, width] = self.size;
        (0..height).flat_map(move |row| (0..width).map(move |column| row * self.line + column * self.units))
    }
}

/// A kernel that handles a block of channels at a time.
trait Blocks {
    fn units(&self) -> usize;

    /// Channels `[channel, channel + L)`.
    fn block<A: At, const L: usize>(&mut self, at: A, channel: usize) -> Option<()>;

    #[inline(always)]
    fn blocks<A: At>(&mut self, at: A) -> Option<()> {
        let units = self.units();
        let wide = units - units % LANES;
        for channel in (0..wide).step_by(LANES) {
            self.block::<A, LANES>(at, channel)?;
        }
        (wide..units).try_for_each(|channel| self.block::<A, 1>(at, channel))
    }
}

/// `L` elements from `start` on.
#[inline(always)]
fn lanes<const L: usize>(a: &[f32], start: usize) -> Option<&[f32; L]> {
    a.get(start..)?.first_chunk()
}

#[inline(always)]
fn lanes_mut<const L: usize>(a: &mut [f32], start: usize) -> Option<&mut [f32; L]> {
    a.get_mut(start..)?.first_chunk_mut()
}

/// Outputs of a picture: each sums over the pixels of its window in ascending order, from the bias.
struct Sums<'a> {
    taps: Taps,
    x: &'a [f32],
    w: &'a [f32],
    /// Empty without a bias.
    bias: &'a [f32],
    y: &'a mut [f32],
}

impl Blocks for Sums<'_> {
    #[inline(always)]
    fn units(&self) -> usize {
        self.taps.units
    }

    #[inline(always)]
    fn block<A: At, const L: usize>(&mut self, at: A, channel: usize) -> Option<()> {
        let start = if self.bias.is_empty() { [0.0; L] } else { *lanes(self.bias, channel)? };
        for (window, y) in self.taps.windows().zip(rows_mut(self.y, self.taps.units)) {
            let mut sums = start;
            for (pixel, w) in self.taps.pixels().zip(rows(self.w, self.taps.units)) {
                at.fused(&mut sums, lanes(self.x, window + pixel + channel)?, lanes(w, channel)?);
            }
            *lanes_mut(y, channel)? = sums;
        }
        Some(())
    }
}

/// Adds the gradients of the weights: each sums over the windows of a picture in ascending order.
struct AddWeights<'a> {
    taps: Taps,
    x: &'a [f32],
    dy: &'a [f32],
    dw: &'a mut [f32],
}

impl Blocks for AddWeights<'_> {
    #[inline(always)]
    fn units(&self) -> usize {
        self.taps.units
    }

    #[inline(always)]
    fn block<A: At, const L: usize>(&mut self, at: A, channel: usize) -> Option<()> {
        for (pixel, dw) in self.taps.pixels().zip(rows_mut(self.dw, self.taps.units)) {
            let dw = lanes_mut(dw, channel)?;
            let mut sums: [f32; L] = *dw;
            for (window, dy) in self.taps.windows().zip(rows(self.dy, self.taps.units)) {
                at.fused(&mut sums, lanes(self.x, window + pixel + channel)?, lanes(dy, channel)?);
            }
            *dw = sums;
        }
        Some(())
    }
}

/// Adds the gradients of a picture: each sums over the windows that see the pixel in ascending order.
struct AddPixels<'a> {
    taps: Taps,
    w: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
}

impl Blocks for AddPixels<'_> {
    #[inline(always)]
    fn units(&self) -> usize {
        self.taps.units
    }

    #[inline(always)]
    fn block<A: At, const L: usize>(&mut self, at: A, channel: usize) -> Option<()> {
        for (window, dy) in self.taps.windows().zip(rows(self.dy, self.taps.units)) {
            let dy: &[f32; L] = lanes(dy, channel)?;
            for (pixel, w) in self.taps.pixels().zip(rows(self.w, self.taps.units)) {
                at.fused(lanes_mut(self.dx, window + pixel + channel)?, dy, lanes(w, channel)?);
            }
        }
        Some(())
    }
}

/// Implements [`Kernel`] for kernels of blocks.
macro_rules! kernels {
    ($($kernel:ident)+) => {
        $(
            impl Kernel for $kernel<'_> {
                type Output = Option<()>;

                #[inline(always)]
                fn run(self) -> Option<()> {
                    self.run_at(cpu::Base)
                }

                #[inline(always)]
                fn run_at<A: At>(mut self, at: A) -> Option<()> {
                    self.blocks(at)
                }
            }
        )+
    };
}

kernels!(Sums AddWeights AddPixels);
