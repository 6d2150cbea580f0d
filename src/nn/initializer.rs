//! How weights start.

use super::orthogonal::{orthogonal, orthogonal_scratch_len};
use crate::error::Result;
use crate::num;
use crate::rng::Rng;

/// How weights are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Initializer {
    /// Orthogonal rows or columns of length `gain`.
    #[default]
    Orthogonal = 0,
    /// Normal numbers of mean 0 and deviation `gain`.
    Normal = 1,
    /// Uniform numbers within ± `gain` / √n, where n numbers go into an output; of a transposed convolution, where one goes
    /// into n, as PyTorch counts.
    Uniform = 2,
    /// Normal numbers, of which those that belong to the same n have length `gain` together.
    UnitRows = 3,
    /// As `Uniform`; then 0 but for a tenth of the numbers that go into each output, rounded down, at least one (Elsayed et
    /// al. 2024).
    Sparse = 4,
    /// Uniform numbers within ± `gain` √(6 / (n + m)), where n numbers go into an output and one goes into m (Glorot and Bengio
    /// 2010), as in TensorFlow; both weights of a recurrent layer are apart, all gates of each together.
    Glorot = 5,
}

impl Initializer {
    /// The initializer of this number.
    pub(super) const fn new(number: u32) -> Option<Initializer> {
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

/// How the weights of a layer start.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub initializer: Initializer,
    pub gain: f32,
    /// Places of a window, in each of which a number goes into every output.
    pub window: usize,
}

impl Start {
    /// Numbers of scratch that it takes to draw a matrix of this shape.
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

    /// Draws numbers that know nothing of each other.
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

    /// Brings numbers, `step` apart, to length `gain` together.
    fn stretch(self, w: &mut [f32], step: usize) {
        let length = num::sqrt(w.iter().step_by(step.max(1)).map(|x| x * x).sum());
        let scale = self.gain / num::max(length, f32::MIN_POSITIVE);
        w.iter_mut().step_by(step.max(1)).for_each(|x| *x *= scale);
    }
}

/// Makes all but a tenth of `len` numbers 0, `step` apart. Every choice of those that stay is as likely.
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
