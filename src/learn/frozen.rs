//! Parameters that learning leaves as they are.

use core::ops::Range;

use super::tensors::Networks;
use crate::error::Result;
use crate::nn::Parts;

/// The frozen tensors of a part of a learner's parameters, which a step of the optimizer changes.
#[derive(Clone, Copy)]
pub(super) struct Frozen<'n> {
    networks: Networks<'n>,
    /// First parameter of the part, and the one behind it.
    begin: usize,
    end: usize,
}

impl<'n> Frozen<'n> {
    /// The frozen tensors of the parameters `[begin, begin + len)`.
    pub fn new(networks: Networks<'n>, begin: usize, len: usize) -> Frozen<'n> {
        Frozen { networks, begin, end: begin.saturating_add(len) }
    }

    /// The parts that a step changes; `None`: all.
    pub fn parts(&self) -> Option<&dyn Parts> {
        if self.is_empty() { None } else { Some(self) }
    }

    /// Zeroes the gradients of frozen parameters, which are those of this part.
    pub fn clear(&self, grads: &mut [f32]) {
        if !self.is_empty() {
            // Layers that are there have ranges.
            let _ = self.runs(false, &mut |is_frozen, run| {
                if is_frozen {
                    grads.get_mut(run).unwrap_or_default().fill(0.0);
                }
            });
        }
    }

    fn is_empty(&self) -> bool {
        self.networks.frozen.iter().all(|bits| *bits == 0)
    }

    /// Calls `with` with ranges of parameters, counted from the first of this part, in ascending order, and with whether they are frozen; only
    /// with those of layers that have frozen tensors, unless `all` are asked for.
    fn runs(&self, all: bool, with: &mut dyn FnMut(bool, Range<usize>)) -> Result {
        self.networks.layers(all, &mut |begin, net, layer, bits| {
            net.each_run(layer, bits, &mut |is_frozen, run| {
                let [start, end] = [run.start, run.end]
                    .map(|at| at.saturating_add(begin).max(self.begin).min(self.end).saturating_sub(self.begin));
                if start < end {
                    with(is_frozen, start..end);
                }
            })
        })
    }
}

impl Parts for Frozen<'_> {
    fn each(&self, with: &mut dyn FnMut(Range<usize>)) {
        let mut part = 0..0;
        let _ = self.runs(true, &mut |is_frozen, run| {
            if is_frozen {
                return;
            }
            if part.end == run.start {
                part.end = run.end;
            } else {
                let ended = core::mem::replace(&mut part, run);
                if !ended.is_empty() {
                    with(ended);
                }
            }
        });
        if !part.is_empty() {
            with(part);
        }
    }
}
