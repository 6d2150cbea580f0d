//! Noisy networks: noise, noisy parameters, and the gradients of deviations.

use super::compile::MISFIT;
use super::net::Net;
use crate::error::{Result, check_len};
use crate::num;
use crate::rng::Rng;

impl Net<'_> {
    /// Length of one draw of noise for all layers with [`NOISY`](super::NOISY); 0 without such layers.
    pub fn noise_len(&self) -> usize {
        if !cfg!(feature = "noisy") {
            return 0;
        }
        self.nodes().iter().filter_map(|node| node.noisy()).map(|layer| layer.noise_len()).sum()
    }

    /// Draws noise: sign(x) √|x| of normal numbers x. Errors: `Shape`.
    pub fn draw_noise(&self, rng: &mut Rng, noise: &mut [f32]) -> Result {
        check_len("net: noise of length", noise, self.noise_len())?;
        rng.fill_normal(noise);
        noise.iter_mut().for_each(|x| *x = num::sqrt(x.abs()).copysign(*x));
        Ok(())
    }

    /// Adds noise to the weights and biases of noisy layers: to a weight its deviation times the noise of its input and of its
    /// output, to a bias its deviation times the noise of its output. A pass with the resulting parameters is noisy. Errors:
    /// `Shape`.
    pub fn add_noise(&self, noise: &[f32], params: &mut [f32]) -> Result {
        self.each_noisy(noise, params, |mean, deviation, noise| *mean += *deviation * noise)
    }

    /// Computes the gradients of the deviations from those of the means, which [`Net::backward`] computed in a pass with this
    /// noise. Errors: `Shape`.
    pub fn noise_gradients(&self, noise: &[f32], grads: &mut [f32]) -> Result {
        self.each_noisy(noise, grads, |mean, deviation, noise| *deviation = num::canonical(*mean * noise))
    }

    fn each_noisy(&self, noise: &[f32], params: &mut [f32], f: impl Fn(&mut f32, &mut f32, f32)) -> Result {
        check_len("net: noise of length", noise, self.noise_len())?;
        check_len("net: parameters of length", params, self.param_len())?;
        let mut rest = noise;
        for node in self.nodes() {
            let Some(layer) = node.noisy() else { continue };
            let (noise, after) = rest.split_at_checked(layer.noise_len()).ok_or(MISFIT)?;
            layer.each_noisy(params.get_mut(node.params()).ok_or(MISFIT)?, noise, &f).ok_or(MISFIT)?;
            rest = after;
        }
        Ok(())
    }
}
