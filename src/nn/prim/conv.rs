//! Convolution over pictures `[height, width, channels]`, as a product of patches and weights without a copy of the patches.
//!
//! Parameters: weights `[kernel height, kernel width, channels, units]`, then bias `[units]` if there is one. Pixels outside a
//! picture are 0.

use super::{Layered, Local, Most, Op, Prim, RowWise, Scope, Sort, rows, rows_mut};
use crate::cpu::At;
use crate::error::{Error, Kind, Result};
use crate::nn::compile::{TOO_LARGE, product};
use crate::nn::initializer::Start;
use crate::nn::input::Pixel;
use crate::nn::layer::{Layer, NO_BIAS};
use crate::nn::matmul::{self, AddOuter, Affine, Flat, Rows};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::rng::Rng;

/// Shape of pictures and of the windows of a layer, and number of windows.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Frame {
    /// Height, width and channels of the input.
    pub input: [usize; 3],
    /// Height and width of a window.
    pub size: [usize; 2],
    /// Distance between neighboring windows, down and to the right.
    pub stride: [usize; 2],
    /// Number of windows, down and to the right.
    pub windows: [usize; 2],
    /// Padding above a picture and to the left of it.
    pub pad: [usize; 2],
}

/// Picture that the windows of a layer lie in, and their default stride.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Windows {
    /// The input, one pixel apart.
    Read,
    /// The input, side by side.
    Apart,
    /// The output, one pixel apart.
    Made,
}

impl Frame {
    /// The windows of a layer over `picture`, one for each pixel of the other picture.
    #[inline(always)]
    pub fn of(node: &Node, picture: [u32; 3], [height, width, _]: [u32; 3]) -> Frame {
        let all = |lens: [u32; 2]| lens.map(|len| len as usize);
        Frame {
            input: picture.map(|len| len as usize),
            size: all(node.size),
            stride: all(node.stride),
            windows: all([height, width]),
            pad: all(node.pad),
        }
    }

    /// [`Layered::set_shape`] of a layer with windows, with this many output channels.
    pub(super) fn set_shape(node: &mut Node, layer: &Layer, number: usize, windows: Windows, channels: u32) -> Result {
        let [[height, width, _], _] = node.input;
        (node.size, node.same) = (layer.size, layer.same);
        node.output[2] = channels;
        let sides = node.output.iter_mut().zip([height, width]).zip(layer.size).zip(layer.stride);
        for ((((output, len), size), stride), (to, pad)) in sides.zip(node.stride.iter_mut().zip(&mut node.pad)) {
            *to = if stride == 0 && windows == Windows::Apart { size } else { stride }.max(1);
            // Extent of the windows with their padding; side of their picture, and number of windows.
            let shown = |windows: u32| u64::from(windows - 1) * u64::from(*to) + u64::from(size);
            let (side, windows) = if windows == Windows::Made {
                let side = if layer.same != 0 { u64::from(len) * u64::from(*to) } else { shown(len) };
                *output = u32::try_from(side).map_err(|_| TOO_LARGE)?;
                (*output, len)
            } else if layer.same != 0 {
                *output = len.saturating_sub(1).checked_div(*to).unwrap_or(0) + 1;
                (len, *output)
            } else if let Some(rest) = len.checked_sub(size) {
                *output = rest.checked_div(*to).unwrap_or(0) + 1;
                (len, *output)
            } else {
                let what = "net: windows that lie in the picture, or same of 1, in layer";
                return Err(Error::new(Kind::Config, what).needed(number).given(size as usize));
            };
            let around = if layer.same != 0 { shown(windows).saturating_sub(u64::from(side)) } else { 0 };
            *pad = u32::try_from(around / 2).map_err(|_| TOO_LARGE)?;
        }
        Ok(())
    }

    /// [`Layered::most`] of a layer with windows.
    pub(super) fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        let [[height, width, channels], _] = node.input.map(|input| input.map(u64::from));
        let ([down, right, units], [kh, kw]) = (node.output.map(u64::from), node.size.map(u64::from));
        // Weights plus the patch gradients of a row of windows; upper bounds of the sides of a padded picture.
        let most = channels.max(units);
        let patches = product(&[kh, kw, most, width.max(right)])?;
        let weights = product(&[kh, kw, channels, units])?.saturating_add(patches);
        let sides = [height.max(down).saturating_add(kh), width.max(right).saturating_add(kw)];
        Ok(Most { weights, padded: product(&[sides[0], sides[1], most])?, row: read.max(made) })
    }

    /// Values in a picture.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.input.iter().product()
    }

    /// Windows in a picture.
    #[inline(always)]
    pub fn num_windows(self) -> usize {
        self.windows.iter().product()
    }

    /// Height and width of a picture with its padding.
    #[inline(always)]
    pub(in crate::nn) fn reach(self) -> [usize; 2] {
        let ([h, w, _], [kh, kw], [sh, sw], [oh, ow]) = (self.input, self.size, self.stride, self.windows);
        [h.max((oh - 1) * sh + kh), w.max((ow - 1) * sw + kw)]
    }

    #[inline(always)]
    pub(super) fn is_padded(self) -> bool {
        let [h, w, _] = self.input;
        self.reach() != [h, w]
    }

    /// Values in a padded picture.
    pub(super) fn padded_len(self) -> usize {
        let ([h, w], [.., channels]) = (self.reach(), self.input);
        h * w * channels
    }

    /// Calls `each` with the offset of each row of a picture, and its place in the padded picture.
    #[inline(always)]
    pub(super) fn inner(self, padded: &mut [f32], mut each: impl FnMut(usize, &mut [f32])) -> Option<()> {
        let ([h, w, channels], [_, width], [top, left]) = (self.input, self.reach(), self.pad);
        for row in 0..h {
            let start = ((top + row) * width + left) * channels;
            each(row * w * channels, padded.get_mut(start..start + w * channels)?);
        }
        Some(())
    }
}

/// Patches of pictures: the contents of the windows, row by row of windows.
#[derive(Clone, Copy)]
struct Patches {
    /// Length of a run, runs per patch, and distance between runs.
    run: usize,
    runs: usize,
    line: usize,
    /// Windows per row, and distance between neighbors.
    columns: usize,
    right: usize,
    /// Rows of windows, and distance between them.
    rows: usize,
    down: usize,
    /// Distance between pictures.
    picture: usize,
}

impl Rows for Patches {
    const FLAT: bool = false;

    #[inline(always)]
    fn len(self) -> usize {
        self.run * self.runs
    }

    #[inline(always)]
    fn runs(self) -> (impl Iterator<Item = usize>, usize) {
        ((0..self.runs).map(move |run| run * self.line), self.run)
    }

    #[inline(always)]
    fn place(self, i: usize) -> usize {
        let run = i.checked_div(self.run).unwrap_or(0);
        run * self.line + i - run * self.run
    }

    #[inline(always)]
    fn left(self, i: usize) -> usize {
        self.run - i.checked_rem(self.run).unwrap_or(0)
    }

    #[inline(always)]
    fn pick<'a, const R: usize>(self, x: &'a [f32], start: usize, places: &[usize; R]) -> Option<[&'a f32; R]> {
        let x = x.get(start..)?;
        let mut all = [x.first()?; R];
        for (to, place) in all.iter_mut().zip(places) {
            *to = x.get(*place)?;
        }
        Some(all)
    }

    #[inline(always)]
    fn starts<const R: usize>(self, first: usize) -> [usize; R] {
        let mut walk = self.walk_from(first);
        core::array::from_fn(|_| walk.step())
    }

    #[inline(always)]
    fn walk(self, first: usize) -> impl Iterator<Item = usize> {
        self.walk_from(first)
    }
}

impl Patches {
    #[inline(always)]
    fn walk_from(self, first: usize) -> Walk {
        let row = first.checked_div(self.columns).unwrap_or(0);
        let picture = row.checked_div(self.rows).unwrap_or(0);
        let (column, row) = (first - row * self.columns, row - picture * self.rows);
        Walk { of: self, column, row, picture: picture * self.picture, start: row * self.down + column * self.right }
    }
}

/// Iterator over the windows.
#[derive(Clone, Copy)]
struct Walk {
    of: Patches,
    column: usize,
    row: usize,
    picture: usize,
    /// Offset from the start of the picture.
    start: usize,
}

impl Walk {
    /// Returns the start of the current window and advances to the next one.
    #[inline(always)]
    fn step(&mut self) -> usize {
        let start = self.picture + self.start;
        self.column += 1;
        self.start += self.of.right;
        if self.column == self.of.columns {
            self.row += 1;
            self.column = 0;
            if self.row == self.of.rows {
                self.row = 0;
                self.picture += self.of.picture;
            }
            self.start = self.row * self.of.down;
        }
        start
    }
}

impl Iterator for Walk {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        Some(self.step())
    }
}

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Conv {
    pub frame: Frame,
    pub units: usize,
    pub has_bias: bool,
}

impl Layered for Conv {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::Window;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        let frame = Frame::of(node, node.input[0], node.output);
        Op::Local(Local::Conv(Conv { frame, units: node.output[2] as usize, has_bias: !node.has(NO_BIAS) }))
    }

    fn set_shape(node: &mut Node, layer: &Layer, number: usize, (): ()) -> Result {
        Frame::set_shape(node, layer, number, Windows::Read, layer.units)
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        Frame::most(node, read, made)
    }
}

impl Conv {
    /// Values in a patch.
    #[inline(always)]
    fn patch_len(self) -> usize {
        let ([kh, kw], [.., channels]) = (self.frame.size, self.frame.input);
        kh * kw * channels
    }

    #[inline(always)]
    pub(in crate::nn) fn weight_len(self) -> usize {
        self.patch_len() * self.units
    }

    #[inline(always)]
    fn bias_len(self) -> usize {
        if self.has_bias { self.units } else { 0 }
    }

    #[inline(always)]
    fn patches(self) -> Patches {
        let ([_, width], [.., channels]) = (self.frame.reach(), self.frame.input);
        let ([kh, kw], [sh, sw], [oh, ow]) = (self.frame.size, self.frame.stride, self.frame.windows);
        Patches {
            run: kw * channels,
            runs: kh,
            line: width * channels,
            columns: ow,
            right: sw * channels,
            rows: oh,
            down: sh * width * channels,
            picture: self.frame.padded_len(),
        }
    }

    /// Rows of windows whose gradients are computed at once, so that products have enough rows to be fast.
    #[inline(always)]
    fn lines(self) -> usize {
        let [rows, columns] = self.frame.windows;
        matmul::MANY_ROWS.div_ceil(columns.max(1)).min(rows)
    }

    /// Output values of a picture.
    #[inline(always)]
    fn out_len(self) -> usize {
        self.frame.num_windows() * self.units
    }

    /// Calls `each` with pictures in the layout of the patches, and their outputs: one by one, padded in `work` and with bytes
    /// converted, or all at once without a copy.
    #[inline(always)]
    fn each<X: Pixel, T>(
        self,
        x: &[X],
        work: &mut [f32],
        mut y: T,
        split: impl Fn(T, usize) -> Option<(T, T)>,
        mut each: impl FnMut(&[f32], T) -> Option<()>,
    ) -> Option<()> {
        if let (Some(x), false) = (X::numbers(x), self.frame.is_padded()) {
            return each(x, y);
        }
        let padded = work.get_mut(..self.frame.padded_len())?;
        padded.fill(0.0);
        for x in rows(x, self.frame.len()) {
            let (own, rest) = split(y, self.out_len())?;
            self.frame.inner(padded, |start, to| {
                to.iter_mut().zip(x.get(start..).unwrap_or_default()).for_each(|(to, x)| *to = x.number())
            })?;
            each(padded, own)?;
            y = rest;
        }
        Some(())
    }
}

impl Prim for Conv {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.weight_len() + self.bias_len()
    }

    fn turned_len(self) -> usize {
        self.weight_len()
    }

    #[inline(always)]
    fn turn(self, params: &[f32], turned: &mut [f32]) -> Option<()> {
        matmul::transpose(params, turned, self.patch_len(), self.units)
    }

    fn work_len(self, _: usize) -> usize {
        self.frame.padded_len() + self.lines() * self.patches().columns * self.patch_len()
    }

    fn init_scratch_len(self) -> usize {
        Start::scratch_len(self.patch_len(), self.units)
    }

    /// The bias starts at 0.
    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (w, bias) = params.split_at_mut_checked(self.weight_len()).unwrap_or_default();
        let [height, width] = self.frame.size;
        let start = Start { window: height * width, ..start };
        start.fill(w, self.patch_len(), self.units, rng, scratch)?;
        bias.fill(0.0);
        Ok(())
    }

    /// Weights are `[units, channels, height, width]`.
    fn tensors(self) -> Tensors {
        let ([kh, kw], [.., channels], units) = (self.frame.size, self.frame.input, self.units);
        let pixel = channels.saturating_mul(units);
        let axes = [(units, 1), (channels, units), (kh, kw.saturating_mul(pixel)), (kw, pixel)];
        let bias = Tensor::vector("bias", self.weight_len(), self.bias_len());
        Tensors::of([Tensor::weights("weight", 0, axes), bias])
    }
}

impl Conv {
    /// [`RowWise::forward`] of pictures of f32 values or bytes.
    #[inline(always)]
    pub fn look<A: At, X: Pixel>(self, at: A, params: &[f32], x: &[X], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        let (w, bias) = params.split_at_checked(self.weight_len())?;
        let bias = if self.has_bias { Some(bias) } else { None };
        let (rows, n) = (self.patches(), self.units);
        self.each(x, work, y, <[f32]>::split_at_mut_checked, |x, y| at.call(Affine { x, rows, w, bias, y, n }))
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
        let (rows, n) = (self.patches(), self.units);
        self.each(x, work, dy, <[f32]>::split_at_checked, |x, dy| at.call(AddOuter { x, rows, dy, dw: &mut *dw, n }))?;
        if self.has_bias { matmul::add_rows(dy, db) } else { Some(()) }
    }
}

impl RowWise for Conv {
    #[inline(always)]
    fn forward<A: At>(self, at: A, params: &[f32], x: &[f32], y: &mut [f32], work: &mut [f32]) -> Option<()> {
        self.look(at, params, x, y, work)
    }

    #[inline(always)]
    fn add_gradients<A: At>(self, at: A, x: &[f32], dy: &[f32], grads: &mut [f32], work: &mut [f32]) -> Option<()> {
        self.add_gradients_of(at, x, dy, grads, work)
    }

    /// Computes the patch gradients of some rows of windows at a time and adds them to the picture, window by window.
    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        at: A,
        _: &[f32],
        turned: &[f32],
        _: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        work: &mut [f32],
    ) -> Option<()> {
        let (patches, k, is_padded) = (self.patches(), self.patch_len(), self.frame.is_padded());
        let (padded, work) = work.split_at_mut_checked(self.frame.padded_len())?;
        let windows_at_once = self.lines() * patches.columns;
        let d_patches = work.get_mut(..windows_at_once * k)?;
        for (dy, dx) in rows(dy, self.out_len()).zip(rows_mut(dx, self.frame.len())) {
            let d_picture = if is_padded { &mut *padded } else { &mut *dx };
            d_picture.fill(0.0);
            let mut windows = patches.walk_from(0);
            for dy in dy.chunks((windows_at_once * self.units).max(1)) {
                let d_patches = d_patches.get_mut(..dy.len().checked_div(self.units)? * k)?;
                at.call(Affine { x: dy, rows: Flat(self.units), w: turned, bias: None, y: &mut *d_patches, n: k })?;
                for d_patch in rows(d_patches, k) {
                    let start = windows.step();
                    for (run, d) in patches.runs().0.zip(rows(d_patch, patches.run)) {
                        for (to, d) in d_picture.get_mut(start + run..)?.iter_mut().zip(d) {
                            *to += d;
                        }
                    }
                }
            }
            if is_padded {
                self.frame.inner(padded, |start, from| {
                    dx.get_mut(start..).unwrap_or_default().iter_mut().zip(from).for_each(|(dx, from)| *dx = *from);
                })?;
            }
        }
        Some(())
    }
}
