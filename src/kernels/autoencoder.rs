//! Losses of autoencoders: the reconstruction of pictures, and codes that are drawn from Gaussians.
//!
//! A loss is the sum over a row, averaged over the rows, so that both parts of a variational bound have the same scale. Its sums
//! run in f64 from the first element to the last.

use super::finite::{check_finite, check_one};
use super::gaussian::LOG_STD_LIMIT;
use super::stack::unit;
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// A loss of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reconstruction {
    /// Half the squared error.
    Squared = 0,
    /// The binary cross-entropy of a logit and a target from 0 to 1.
    Binary = 1,
}

impl Reconstruction {
    /// The one with this number.
    pub fn from_number(number: u32) -> Option<Reconstruction> {
        [Reconstruction::Squared, Reconstruction::Binary].into_iter().find(|loss| *loss as u32 == number)
    }
}

/// The elements that are to be reconstructed.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// Numbers.
    F32(&'a [f32]),
    /// Bytes, divided by 255.
    U8(&'a [u8]),
}

/// Returns the loss of `out[num_rows, ..]` and writes its gradient.
///
/// Errors: `Shape`, also for no rows; `Value` for a number that is not finite; `Range` for a target of `Binary` outside [0, 1].
/// The gradient is untouched on error.
pub fn reconstruction(
    loss: Reconstruction,
    num_rows: usize,
    out: &[f32],
    target: Target<'_>,
    d_out: &mut [f32],
) -> Result<f32> {
    Error::limit(Kind::Shape, "reconstruction: num_rows of at least", 1, num_rows).fail_if(num_rows == 0)?;
    check_len("reconstruction: d_out as long as out,", d_out, out.len())?;
    check_finite("reconstruction: a finite out", out)?;
    match target {
        Target::F32(target) => {
            check_len("reconstruction: target as long as out,", target, out.len())?;
            check_finite("reconstruction: a finite target", target)?;
            let foreign = target.iter().position(|x| !(0.0..=1.0).contains(x));
            if let Some(i) = foreign.filter(|_| loss == Reconstruction::Binary) {
                let given = target.get(i).copied().unwrap_or(0.0);
                return Err(Error::new(Kind::Range, "reconstruction: a target from 0 to 1").given_f32(given));
            }
            Ok(each(loss, num_rows, out, target.iter().copied(), d_out))
        }
        Target::U8(target) => {
            check_len("reconstruction: target as long as out,", target, out.len())?;
            Ok(each(loss, num_rows, out, target.iter().map(|x| unit(*x)), d_out))
        }
    }
}

fn each(
    loss: Reconstruction,
    num_rows: usize,
    out: &[f32],
    target: impl Iterator<Item = f32>,
    d_out: &mut [f32],
) -> f32 {
    let share = 1.0 / num_rows as f32;
    let mut sum = 0.0;
    for ((out, target), d) in out.iter().zip(target).zip(d_out) {
        let (own, slope) = match loss {
            Reconstruction::Squared => {
                let error = out - target;
                (0.5 * f64::from(error) * f64::from(error), error)
            }
            Reconstruction::Binary => {
                (f64::from(num::softplus(*out)) - f64::from(*out) * f64::from(target), num::sigmoid(*out) - target)
            }
        };
        sum += own;
        *d = num::canonical(slope * share);
    }
    (sum / num_rows as f64) as f32
}

/// Codes that are drawn from diagonal Gaussians, one for each row (Kingma and Welling 2014).
#[derive(Clone, Copy, Debug)]
pub struct Latent<'a> {
    /// B, at least 1.
    pub num_rows: usize,
    /// `[B, L]`
    pub mean: &'a [f32],
    /// `[B, L]` from -40 to 40.
    pub log_std: &'a [f32],
    /// `[B, L]` standard normal draws of the caller's.
    pub normal: &'a [f32],
}

impl Latent<'_> {
    fn check(&self) -> Result {
        let Latent { num_rows, mean, log_std, normal } = *self;
        Error::limit(Kind::Shape, "latent: num_rows of at least", 1, num_rows).fail_if(num_rows == 0)?;
        check_len("latent: log_std as long as mean,", log_std, mean.len())?;
        check_len("latent: normal as long as mean,", normal, mean.len())?;
        check_finite("latent: a finite mean", mean)?;
        check_finite("latent: a finite log_std", log_std)?;
        check_finite("latent: a finite normal draw", normal)?;
        let foreign = log_std.iter().find(|x| x.abs() > LOG_STD_LIMIT);
        let what = "latent: a log_std from -40 to 40";
        foreign.map_or(Ok(()), |x| Err(Error::new(Kind::Range, what).given_f32(*x)))
    }

    /// Checks a weight of the divergence. Errors: `Value`; `Range` below 0.
    pub fn check_coef(&self, kl_coef: f32) -> Result {
        check_one("latent: a finite kl_coef", kl_coef)?;
        Error::new(Kind::Range, "latent: kl_coef of at least 0").given_f32(kl_coef).fail_if(kl_coef < 0.0)
    }

    /// Writes the codes `z[B, L]`: mean + exp(log_std) * normal.
    ///
    /// Errors, here and below: `Shape`; `Range` for a `log_std`; `Value` for a number that is not finite. Outputs are untouched
    /// on error.
    pub fn sample(&self, z: &mut [f32]) -> Result {
        self.check()?;
        check_len("latent: z as long as mean,", z, self.mean.len())?;
        for (((z, mean), log_std), normal) in z.iter_mut().zip(self.mean).zip(self.log_std).zip(self.normal) {
            *z = mean + num::exp(*log_std) * normal;
        }
        Ok(())
    }

    /// Returns the Kullback-Leibler divergence of the Gaussians from the standard normal one, and writes the gradients of
    /// `kl_coef` times it plus a loss whose gradient by the codes is `d_z[B, L]`.
    pub fn loss(&self, d_z: &[f32], kl_coef: f32, d_mean: &mut [f32], d_log_std: &mut [f32]) -> Result<f32> {
        self.check()?;
        self.check_coef(kl_coef)?;
        check_len("latent: d_z as long as mean,", d_z, self.mean.len())?;
        check_len("latent: d_mean as long as mean,", d_mean, self.mean.len())?;
        check_len("latent: d_log_std as long as mean,", d_log_std, self.mean.len())?;
        check_finite("latent: a finite d_z", d_z)?;
        let share = kl_coef / self.num_rows as f32;
        let read = self.mean.iter().zip(self.log_std).zip(self.normal).zip(d_z);
        let mut sum = 0.0;
        for ((((mean, log_std), normal), d_z), (d_mean, d_log_std)) in read.zip(d_mean.iter_mut().zip(d_log_std)) {
            let std = num::exp(*log_std);
            let excess = f64::from(std) * f64::from(std) - 1.0;
            sum += 0.5 * (f64::from(*mean) * f64::from(*mean) + excess) - f64::from(*log_std);
            *d_mean = num::canonical(d_z + share * mean);
            *d_log_std = num::canonical(d_z * (std * normal) + share * excess as f32);
        }
        Ok((sum / self.num_rows as f64) as f32)
    }
}
