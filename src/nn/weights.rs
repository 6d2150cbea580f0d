//! Initial weights of a host's own layer.

use super::initializer::{Initializer, Start};
use crate::error::{Error, Kind, Result, check_len};
use crate::rng::Rng;

/// A matrix of weights to draw. Plain data; the matrix, the stream and the scratch are the caller's.
///
/// ```
/// use rlcore::nn::{Initializer, Weights};
/// use rlcore::rng::Rng;
///
/// # fn main() -> rlcore::error::Result {
/// let head = Weights { initializer: Initializer::Orthogonal, gain: 0.01, inputs: 2, outputs: 1, inputs_first: false };
/// let (mut w, mut scratch) = ([0.0; 2], vec![0.0; head.scratch_len()]);
/// head.draw(&mut w, &mut Rng::seeded(1), &mut scratch)?;
/// assert!((w[0].hypot(w[1]) - 0.01).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Distribution of the weights.
    pub initializer: Initializer,
    /// Scale of the weights; finite.
    pub gain: f32,
    /// Inputs of each output, at least 1.
    pub inputs: usize,
    /// Outputs, at least 1.
    pub outputs: usize,
    /// Whether the matrix is `[inputs, outputs]`, as in TensorFlow, not `[outputs, inputs]`, as in PyTorch.
    pub inputs_first: bool,
}

impl Weights {
    /// Elements of scratch that [`Weights::draw`] needs.
    pub fn scratch_len(&self) -> usize {
        let (rows, columns) = if self.inputs_first { (self.inputs, self.outputs) } else { (self.outputs, self.inputs) };
        if self.initializer == Initializer::Orthogonal { Start::scratch_len(rows, columns) } else { 0 }
    }

    /// Errors: `Shape` for no inputs or outputs; `Value` for a gain that is not finite.
    pub fn check(&self) -> Result {
        let least = self.inputs.min(self.outputs);
        Error::limit(Kind::Shape, "weights: inputs and outputs of at least", 1, least).fail_if(least == 0)?;
        Error::new(Kind::Value, "weights: a finite gain").given_f32(self.gain).fail_if(!self.gain.is_finite())
    }

    /// Draws the weights. Values in `scratch` do not matter.
    ///
    /// Errors: those of [`Weights::check`]; `Shape` for a matrix of another length; `Size` for less scratch than
    /// [`Weights::scratch_len`]. Nothing is written then, and nothing drawn.
    pub fn draw(&self, w: &mut [f32], rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let Weights { initializer, gain, inputs, outputs, inputs_first } = *self;
        self.check()?;
        check_len("weights: matrix of length", w, inputs.saturating_mul(outputs))?;
        let (needed, given) = (self.scratch_len(), scratch.len());
        Error::limit(Kind::Size, "weights: scratch of at least", needed, given).fail_if(given < needed)?;
        let start = Start { initializer, gain, window: 1 };
        match inputs_first {
            true => start.fill(w, inputs, outputs, rng, scratch),
            false => start.fill_by_output(w, outputs, inputs, rng, scratch),
        }
    }
}
