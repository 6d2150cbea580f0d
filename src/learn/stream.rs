//! Requirements of stream algorithms (Elsayed et al. 2024) on a configuration.

use super::config::Config;
use crate::error::{Error, Kind, Name, Result};

impl Config {
    /// Checks the fields that eligibility traces require: each transition is an update. Errors: `Config`.
    pub(super) fn check_stream(&self) -> Result {
        if !self.needs().traces {
            return Ok(());
        }
        for (what, given, needed) in [
            (Name::new("learner config: num_envs with a stream algorithm of"), self.num_envs, 1),
            (Name::new("learner config: num_steps with a stream algorithm of"), self.num_steps, 1),
            (Name::new("learner config: num_epochs with a stream algorithm of"), self.num_epochs, 1),
        ] {
            Error::limit(Kind::Config, what.text(), needed, given as usize).fail_if(given as usize != needed)?;
        }
        let shares = !self.needs().q && (self.num_shared > 0 || self.num_layers > 0);
        let what = "learner config: num_shared and num_layers of 0 with stream AC, whose policy and values have their own traces";
        Error::new(Kind::Config, what).given(self.num_shared.max(self.num_layers) as usize).fail_if(shares)
    }
}
