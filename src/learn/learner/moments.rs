//! The statistics that normalize observations and rewards, as one array for transfer between learners.
//!
//! The array has two groups, each a count, means and population variances: of the discounted sums of rewards, 3 elements; then
//! of the encoded observations, 1 element and two per observation element, or 1 if observations are not normalized.

use super::{Learner, View};
use crate::block;
use crate::error::{Error, Kind, Result, check_len, check_some};
use crate::kernels::moments::{MAX_COUNT, Moment, check_moments, merge};

/// Elements of the first group.
const RETURNS: usize = 3;

impl View<'_> {
    /// Elements of the statistics; 0 if neither observations nor rewards are normalized.
    pub fn moments_len(&self) -> usize {
        let seen = self.obs_mean.len();
        let len = seen.saturating_mul(2).saturating_add(RETURNS + 1);
        if seen == 0 && self.config.normalize_reward == 0 { 0 } else { len }
    }

    /// Copies the statistics: count, mean and variance of the sums of rewards; count, means and variances of observations.
    /// Observations of environments that have acted and not observed yet are not counted. Errors: `Shape`.
    pub fn read_moments(&self, to: &mut [f64]) -> Result {
        self.check_moments(to)?;
        let s = &self.state;
        let head = [s.return_count, s.return_mean, s.return_var, s.obs_count];
        let all = head.iter().chain(self.obs_mean).chain(self.obs_var);
        to.iter_mut().zip(all).for_each(|(to, x)| *to = *x);
        Ok(())
    }

    /// Checks that statistics are given exactly if the learner has some. Errors: `Shape`.
    pub(super) fn check_moments(&self, moments: &[f64]) -> Result {
        let what = "learner: moments must be the {needed} numbers of the learner that the parameters or transitions come from; \
                    {given} were given.";
        check_len(what, moments, self.moments_len())
    }
}

impl Learner<'_> {
    /// Replaces the statistics, in the layout of [`View::read_moments`], also while they are frozen. Errors: `Shape`; `NotReady`
    /// off policy while an update is due, whose gradient steps read them; those of [`check_moments`].
    pub fn write_moments(&mut self, moments: &[f64]) -> Result {
        let _changing = self.mark.begin();
        self.view().check_moments(moments)?;
        if moments.is_empty() {
            return Ok(());
        }
        let what = "learner moments: an update that is due reads the statistics; call learn first.";
        Error::new(Kind::NotReady, what)
            .fail_if(self.config.needs().replay && (self.state.due > 0 || self.state.updating != 0))?;
        let [returns, obs] = groups(moments)?;
        let s = &mut *self.state;
        (s.return_count, s.obs_count) = (returns.count, obs.count);
        for (mean, var) in returns.mean.iter().zip(returns.var) {
            (s.return_mean, s.return_var) = (*mean, *var);
        }
        block::copy(self.obs_mean, obs.mean);
        block::copy(self.obs_var, obs.var);
        Ok(())
    }
}

/// Count, means and variances.
#[derive(Clone, Copy)]
struct Group<'a> {
    count: f64,
    mean: &'a [f64],
    var: &'a [f64],
}

impl<'a> Group<'a> {
    /// Reads and checks a group. Errors: `Shape`; those of [`check_moments`].
    fn new(all: &'a [f64]) -> Result<Group<'a>> {
        let (count, rest) = all.split_first().filter(|(_, rest)| rest.len().is_multiple_of(2)).ok_or(LENGTH)?;
        let (mean, var) = rest.split_at_checked(rest.len() / 2).ok_or(LENGTH)?;
        check_moments(mean, var, *count)?;
        Ok(Group { count: *count, mean, var })
    }

    fn each(self) -> impl Iterator<Item = Moment> + use<'a> {
        self.mean.iter().zip(self.var).map(|(&mean, &var)| Moment { mean, var })
    }
}

/// The length error of statistics.
const LENGTH: Error =
    Error::new(Kind::Shape, "learner moments: 4 numbers, and 2 for each that networks read of an observation.");

/// The groups of statistics. Errors: as [`Group::new`].
fn groups(all: &[f64]) -> Result<[Group<'_>; 2]> {
    let (returns, obs) = all.split_at_checked(RETURNS).ok_or(LENGTH)?;
    Ok([Group::new(returns)?, Group::new(obs)?])
}

/// Merges statistics of another learner into these by Chan's formula in f64, number by number.
///
/// `base`: statistics that both learners started from, which the result counts once; `None`: they have no counts in common. The
/// base is subtracted by the same formula with a negative count.
/// Errors: `Shape`; those of [`check_moments`], also for the result; `Range` for a count below that of the base, and for counts
/// whose sum is 0 or above 2^64. Nothing changes on error.
pub fn merge_moments(moments: &mut [f64], with: &[f64], base: Option<&[f64]>) -> Result {
    check_len("learner moments: as many numbers to merge,", with, moments.len())?;
    check_some("learner moments: as many numbers of the base,", &base, moments.len())?;
    let with = groups(with)?;
    let base = base.map_or(Ok(with.map(|group| Group { count: 0.0, ..group })), groups)?;
    let mut unions = groups(moments)?.map(|own| Union { own: own.count, with: 0.0, base: 0.0 });
    for ((union, own), (with, base)) in unions.iter_mut().zip(groups(moments)?).zip(with.iter().zip(&base)) {
        (union.with, union.base) = (with.count, base.count);
        union.check()?;
        for ((own, with), base) in own.each().zip(with.each()).zip(base.each()) {
            let Moment { mean, var } = union.of(own, with, base);
            check_moments(&[mean], &[var], 0.0)?;
        }
    }
    let (returns, obs) = moments.split_at_mut_checked(RETURNS).ok_or(LENGTH)?;
    for ((union, group), (with, base)) in unions.iter().zip([returns, obs]).zip(with.iter().zip(&base)) {
        let (count, rest) = group.split_first_mut().ok_or(LENGTH)?;
        let (mean, var) = rest.split_at_mut_checked(rest.len() / 2).ok_or(LENGTH)?;
        *count = union.total();
        for ((mean, var), (with, base)) in mean.iter_mut().zip(var).zip(with.each().zip(base.each())) {
            let all = union.of(Moment { mean: *mean, var: *var }, with, base);
            (*mean, *var) = (all.mean, all.var);
        }
    }
    Ok(())
}

/// Counts of two groups to be merged, and of their common base.
struct Union {
    own: f64,
    with: f64,
    base: f64,
}

impl Union {
    fn total(&self) -> f64 {
        self.own + self.with - self.base
    }

    fn check(&self) -> Result {
        let (least, total) = (self.own.min(self.with), self.total());
        let what = "learner moments: counts of at least those of the base";
        Error::new(Kind::Range, what).given_f32(least as f32).fail_if(least < self.base)?;
        let what = "learner moments: counts whose sum is above 0 and at most 2^64";
        Error::new(Kind::Range, what).given_f32(total as f32).fail_if(!(total > 0.0 && total <= MAX_COUNT))
    }

    fn of(&self, own: Moment, with: Moment, base: Moment) -> Moment {
        let both = merge(own, self.own, with, self.with);
        if self.base == 0.0 {
            return both;
        }
        let Moment { mean, var } = merge(both, self.own + self.with, base, -self.base);
        Moment { mean, var: if var < 0.0 { 0.0 } else { var } } // rounding error of nearly constant data
    }
}
