//! Alternating training and test episodes.

use crate::error::{Error, Kind, Result};

/// `num_train` training episodes, then `num_test` test episodes, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Training episodes of a cycle.
    pub num_train: u32,
    /// Test episodes of a cycle.
    pub num_test: u32,
}

impl Cycle {
    /// Whether episode `index`, from 0, is a test episode. Errors: `Config` if both counts are 0.
    pub fn is_test(self, index: u64) -> Result<bool> {
        let (train, test) = (u64::from(self.num_train), u64::from(self.num_test));
        let what = "episode_type_of: num_train or num_test of at least 1";
        Ok(index.checked_rem(train.saturating_add(test)).ok_or(Error::new(Kind::Config, what))? >= train)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn episodes_take_turns() {
        let types = |num_train, num_test| -> Vec<bool> {
            (0..6).map(|index| Cycle { num_train, num_test }.is_test(index).unwrap()).collect()
        };
        assert_eq!(types(1, 0), [false; 6]);
        assert_eq!(types(0, 1), [true; 6]);
        assert_eq!(types(2, 1), [false, false, true, false, false, true]);
        assert_eq!(types(1, 3), [false, true, true, true, false, true]);
        let most = Cycle { num_train: u32::MAX, num_test: u32::MAX };
        assert_eq!((most.is_test(u32::MAX.into()), most.is_test(u64::from(u32::MAX) - 1)), (Ok(true), Ok(false)));
        assert_eq!(Cycle { num_train: 0, num_test: 0 }.is_test(3).unwrap_err().kind, Kind::Config);
    }
}
