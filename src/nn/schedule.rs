//! Values that change over a run as a function of the updates done.

use crate::error::{Error, Kind, Result};

/// A learning rate, clip range or other value as a function of the updates done.
///
/// ```
/// use rlcore::nn::Schedule;
///
/// let rate = Schedule::Linear { initial: 0.1, end: 0.0, num_updates: 4 };
/// assert_eq!(rate.at(2), Ok(0.05));
/// assert!(rate.at(5).is_err()); // past its end
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Always the same.
    Constant(f32),
    /// From `initial`, before the first update, in equal steps to `end`, after `num_updates` updates.
    Linear {
        /// Value before any update.
        initial: f32,
        /// Value after the last update.
        end: f32,
        /// Updates from `initial` to `end`.
        num_updates: u64,
    },
}

impl Schedule {
    /// The value after `updates` updates.
    ///
    /// Errors: `Range` past the end of a linear schedule; to hold its last value, ask for `updates.min(num_updates)`.
    pub fn at(&self, updates: u64) -> Result<f32> {
        match *self {
            Schedule::Constant(value) => Ok(value),
            Schedule::Linear { num_updates, .. } if updates > num_updates => {
                let past = Error::new(Kind::Range, "schedule: updates up to");
                Err(past.needed(num_updates as usize).given(updates as usize))
            }
            Schedule::Linear { initial, .. } if updates == 0 => Ok(initial),
            Schedule::Linear { initial, end, num_updates } => {
                let (initial, end) = (f64::from(initial), f64::from(end));
                Ok((initial + updates as f64 / num_updates as f64 * (end - initial)) as f32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_its_end_in_equal_steps_and_goes_no_farther() {
        let linear = Schedule::Linear { initial: 1e-3, end: 0.0, num_updates: 4 };
        let rates: [f32; 5] = core::array::from_fn(|n| linear.at(n as u64).unwrap());
        assert_eq!(rates, [1e-3, 7.5e-4, 5e-4, 2.5e-4, 0.0]);
        let error = linear.at(5).unwrap_err();
        assert_eq!(error, Error::new(Kind::Range, "schedule: updates up to").needed(4).given(5));
    }

    #[test]
    fn rises_and_stays_finite_at_the_extremes() {
        let rising = Schedule::Linear { initial: -1.0, end: 3.0, num_updates: u64::MAX };
        assert_eq!((rising.at(0), rising.at(u64::MAX / 2), rising.at(u64::MAX)), (Ok(-1.0), Ok(1.0), Ok(3.0)));
        let empty = Schedule::Linear { initial: 2.0, end: 3.0, num_updates: 0 };
        assert_eq!((empty.at(0), empty.at(1).map_err(|e| e.kind)), (Ok(2.0), Err(Kind::Range)));
    }

    #[test]
    fn constant_is_constant() {
        assert_eq!([0, 7, u64::MAX].map(|n| Schedule::Constant(0.5).at(n)), [Ok(0.5); 3]);
    }
}
