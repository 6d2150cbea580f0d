//! Maximum or mean of each channel in each window of a picture. Pixels outside the picture are ignored.

use super::conv::Windows;
use super::{Frame, Layered, Local, Most, Op, Prim, RowWise, Scope, Sort, rows, rows_mut};
use crate::cpu::At;
use crate::error::Result;
use crate::nn::layer::{Layer, MEAN};
use crate::nn::node::Node;
use crate::num;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Pool {
    pub frame: Frame,
    pub mean: bool,
}

impl Layered for Pool {
    type Form = ();
    const SORT: Sort = Sort::Local;
    const SCOPE: Scope = Scope::Window;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        Op::Local(Local::Pool(Pool { frame: Frame::of(node, node.input[0], node.output), mean: node.has(MEAN) }))
    }

    fn set_shape(node: &mut Node, layer: &Layer, number: usize, (): ()) -> Result {
        let [[.., channels], _] = node.input;
        Frame::set_shape(node, layer, number, Windows::Apart, channels)
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        Frame::most(node, read, made)
    }
}

impl Pool {
    /// Calls `each` with the pixels of each window that lie in the picture.
    #[inline(always)]
    fn windows(self, mut each: impl FnMut(Pixels) -> Option<()>) -> Option<()> {
        let ([h, w, channels], [kh, kw]) = (self.frame.input, self.frame.size);
        let ([sh, sw], [oh, ow], [top, left]) = (self.frame.stride, self.frame.windows, self.frame.pad);
        let within = |i: usize, stride: usize, pad: usize, size: usize, end: usize| {
            ((i * stride).saturating_sub(pad), (i * stride + size).saturating_sub(pad).min(end))
        };
        for i in 0..oh {
            for j in 0..ow {
                let (rows, columns) = (within(i, sh, top, kh, h), within(j, sw, left, kw, w));
                each(Pixels { rows, columns, width: w, channels })?;
            }
        }
        Some(())
    }
}

/// The pixels of a window that lie in the picture.
#[derive(Clone, Copy)]
struct Pixels {
    rows: (usize, usize),
    columns: (usize, usize),
    width: usize,
    channels: usize,
}

impl Pixels {
    #[inline(always)]
    fn starts(self) -> impl Iterator<Item = usize> {
        let ((top, bottom), (left, right)) = (self.rows, self.columns);
        (top..bottom).flat_map(move |i| (left..right).map(move |j| (i * self.width + j) * self.channels))
    }

    /// Reciprocal of the number of pixels, which is at least 1.
    #[inline(always)]
    fn share(self) -> f32 {
        1.0 / ((self.rows.1 - self.rows.0) * (self.columns.1 - self.columns.0)) as f32
    }
}

impl Prim for Pool {}

impl RowWise for Pool {
    #[inline(always)]
    fn forward<A: At>(self, _: A, _: &[f32], x: &[f32], y: &mut [f32], _: &mut [f32]) -> Option<()> {
        let [.., channels] = self.frame.input;
        let mut all = rows_mut(y, channels);
        for x in rows(x, self.frame.len()) {
            self.windows(|pixels| {
                let y = all.next()?;
                y.fill(if self.mean { 0.0 } else { f32::NEG_INFINITY });
                for start in pixels.starts() {
                    for (y, x) in y.iter_mut().zip(x.get(start..)?) {
                        *y = if self.mean { *y + x } else { num::max(*y, *x) };
                    }
                }
                if self.mean {
                    y.iter_mut().for_each(|y| *y *= pixels.share());
                }
                Some(())
            })?;
        }
        Some(())
    }

    /// The gradient of a maximum goes to the first pixel that has it.
    #[inline(always)]
    fn input_gradient<A: At>(
        self,
        _: A,
        _: &[f32],
        _: &[f32],
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        _: &mut [f32],
    ) -> Option<()> {
        let (len, [.., channels]) = (self.frame.len(), self.frame.input);
        let mut all = rows(dy, channels);
        dx.fill(0.0);
        for (x, dx) in rows(x, len).zip(rows_mut(dx, len)) {
            self.windows(|pixels| {
                let dy = all.next()?;
                if self.mean {
                    for start in pixels.starts() {
                        for (dx, dy) in dx.get_mut(start..)?.iter_mut().zip(dy) {
                            *dx += dy * pixels.share();
                        }
                    }
                    return Some(());
                }
                for (channel, dy) in dy.iter().enumerate() {
                    let mut best = (f32::NEG_INFINITY, None);
                    for start in pixels.starts() {
                        let x = *x.get(start + channel)?;
                        if best.1.is_none() || x > best.0 {
                            best = (x, Some(start + channel));
                        }
                    }
                    *dx.get_mut(best.1?)? += dy;
                }
                Some(())
            })?;
        }
        Some(())
    }
}
