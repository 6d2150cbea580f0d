//! Adam, and the global-norm clip that goes before it (Kingma and Ba 2015; spec: agents, section 2.1).

use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// The decay rates and the epsilon of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
}

impl Default for Adam {
    fn default() -> Self {
        Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl Adam {
    /// Takes one minimising step; `steps` counts them. Errors: `Shape`.
    pub fn step(
        &self,
        params: &mut [f32],
        grads: &[f32],
        m: &mut [f32],
        v: &mut [f32],
        steps: &mut u64,
        lr: f32,
    ) -> Result {
        check_len("adam: gradients of length", grads, params.len())?;
        check_len("adam: first moments of length", m, params.len())?;
        check_len("adam: second moments of length", v, params.len())?;
        *steps = steps.saturating_add(1);
        let correct1 = (1.0 - num::pow64(f64::from(self.beta1), *steps as f64)) as f32;
        let correct2 = num::sqrt64(1.0 - num::pow64(f64::from(self.beta2), *steps as f64)) as f32;
        for (((p, g), m), v) in params.iter_mut().zip(grads).zip(m).zip(v) {
            *m = self.beta1 * *m + (1.0 - self.beta1) * g;
            *v = self.beta2 * *v + (1.0 - self.beta2) * g * g;
            *p -= lr / correct1 * *m / (num::sqrt(*v) / correct2 + self.epsilon);
        }
        Ok(())
    }
}

/// Scales gradients down to a global norm of at most `max_norm` (0: leaves them) and returns the norm they had.
///
/// Errors: `Value` if a gradient is not finite; nothing is changed then.
pub fn clip_global_norm(grads: &mut [f32], max_norm: f32) -> Result<f32> {
    let norm = num::sqrt64(grads.iter().map(|&x| f64::from(x) * f64::from(x)).sum()) as f32;
    if !norm.is_finite() {
        return Err(Error::new(Kind::Value, "gradients: a finite norm").given_f32(norm));
    }
    if max_norm > 0.0 {
        let scale = num::min(1.0, max_norm / (norm + 1e-6));
        grads.iter_mut().for_each(|x| *x *= scale);
    }
    Ok(norm)
}
