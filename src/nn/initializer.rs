//! Weight initialization.

use super::orthogonal::{orthogonal, orthogonal_scratch_len};
use crate::error::Result;
use crate::num;
use crate::rng::Rng;

/// Distribution of the initial weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Initializer {
    /// Orthogonal rows or columns of length `gain`.
    #[default]
    Orthogonal = 0,
    /// Normal with mean 0 and deviation `gain`.
    Normal = 1,
    /// Uniform within ± `gain` / √n for n inputs per output; for a transposed convolution, n outputs per input, as in PyTorch.
    Uniform = 2,
    /// Normal, with the weights of each output scaled to length `gain`.
    UnitRows = 3,
    /// As `Uniform`; then all weights of each output are set to 0, except a tenth of them, rounded down, at least one (Elsayed
    /// et al. 2024).
    Sparse = 4,
    /// Uniform within ± `gain` √(6 / (n + m)) for n inputs per output and m outputs per input (Glorot and Bengio 2010), as in
    /// TensorFlow; the two weight matrices of a recurrent layer count separately, all gates of each together.
    Glorot = 5,
}

impl Initializer {
    /// The initializer with this number; `None` if this build does not have it.
    pub const fn new(number: u32) -> Option<Initializer> {
        match number {
            0 => Some(Initializer::Orthogonal),
            1 => Some(Initializer::Normal),
            2 => Some(Initializer::Uniform),
            3 => Some(Initializer::UnitRows),
            4 if cfg!(feature = "stream") => Some(Initializer::Sparse),
            5 => Some(Initializer::Glorot),
            _ => None,
        }
    }
}

/// Initialization of the weights of a layer.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub initializer: Initializer,
    pub gain: f32,
    /// Positions of a window; an input goes into every output at each of them.
    pub window: usize,
}

impl Start {
    /// Scratch length for drawing a matrix of this shape.
    pub fn scratch_len(rows: usize, columns: usize) -> usize {
        orthogonal_scratch_len(rows, columns)
    }

    /// Draws weights `[inputs, outputs]`. Errors: as [`orthogonal`].
    pub fn fill(self, w: &mut [f32], inputs: usize, outputs: usize, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        match self.initializer {
            Initializer::Orthogonal => orthogonal(w, inputs, outputs, self.gain, rng, scratch)?,
            Initializer::UnitRows => {
                rng.fill_normal(w);
                for column in 0..outputs {
                    self.stretch(w.get_mut(column..).unwrap_or_default(), outputs);
                }
            }
            _ => self.each(w, inputs, outputs, rng),
        }
        if cfg!(feature = "stream") && self.initializer == Initializer::Sparse {
            for column in 0..outputs {
                thin(w.get_mut(column..).unwrap_or_default(), outputs, inputs, rng);
            }
        }
        Ok(())
    }

    /// Draws weights `[outputs, inputs]`. Errors: as [`orthogonal`].
    pub fn fill_by_output(
        self,
        w: &mut [f32],
        outputs: usize,
        inputs: usize,
        rng: &mut Rng,
        scratch: &mut [f32],
    ) -> Result {
        match self.initializer {
            Initializer::Orthogonal => orthogonal(w, outputs, inputs, self.gain, rng, scratch)?,
            Initializer::UnitRows => {
                rng.fill_normal(w);
                w.chunks_exact_mut(inputs.max(1)).for_each(|row| self.stretch(row, 1));
            }
            _ => self.each(w, inputs, outputs, rng),
        }
        if cfg!(feature = "stream") && self.initializer == Initializer::Sparse {
            w.chunks_exact_mut(inputs.max(1)).for_each(|row| thin(row, 1, inputs, rng));
        }
        Ok(())
    }

    /// Draws independent weights.
    fn each(self, w: &mut [f32], inputs: usize, outputs: usize, rng: &mut Rng) {
        if self.initializer == Initializer::Normal {
            rng.fill_normal(w);
            w.iter_mut().for_each(|x| *x *= self.gain);
        } else {
            let all = inputs.saturating_add(outputs.saturating_mul(self.window));
            let bound = match self.initializer {
                Initializer::Glorot => self.gain * num::sqrt(6.0 / all as f32),
                _ => self.gain / num::sqrt(inputs as f32),
            };
            w.iter_mut().for_each(|x| *x = (2.0 * rng.uniform_f32() - 1.0) * bound);
        }
    }

    /// Scales the elements `step` apart to a joint length of `gain`.
    fn stretch(self, w: &mut [f32], step: usize) {
        let length = num::sqrt(w.iter().step_by(step.max(1)).map(|x| x * x).sum());
        let scale = self.gain / num::max(length, f32::MIN_POSITIVE);
        w.iter_mut().step_by(step.max(1)).for_each(|x| *x *= scale);
    }
}

/// Sets all but a tenth of `len` elements, `step` apart, to 0. Every subset of remaining elements is equally likely.
fn thin(w: &mut [f32], step: usize, len: usize, rng: &mut Rng) {
    let mut stay = (len / 10).max(1);
    for (x, left) in w.iter_mut().step_by(step.max(1)).zip((1..=len).rev()) {
        if f64::from(rng.uniform_f32()) * (left as f64) < stay as f64 {
            stay = stay.saturating_sub(1);
        } else {
            *x = 0.0;
        }
    }
}
