//! Initial parameters.

use super::Mlp;
use crate::error::Result;
use crate::rng::Rng;

impl Mlp {
    /// Draws first parameters; `gain` is that of the output layer.
    pub fn init(&self, params: &mut [f32], gain: f32, rng: &mut Rng, _scratch: &mut [f32]) -> Result {
        rng.fill_normal(params);
        let (len, last) = (params.len(), self.output().saturating_mul(65));
        for (i, x) in params.iter_mut().enumerate() {
            *x *= if i.saturating_add(last) > len { gain / 8.0 } else { 0.15 };
        }
        Ok(())
    }
}
