//! Truncated quantile critics (Kuznetsov et al. 2020): SAC's critics output quantiles, targets are the pooled quantiles of all
//! critics without the highest ones, and the policy maximizes the mean of all quantiles.
//!
//! Quantiles are `[rows, num_quantiles]`, and pooled ones `[rows, num_critics * num_quantiles]`.

use core::cmp::Ordering;

use super::q::infer;
use super::unroll::States;
use crate::block;
use crate::error::Result;
use crate::learn::value_head::{Cost, quantiles};
use crate::nn::{Input, Net};

/// Outputs of critics, whose parameters are contiguous, for pairs: each row of `pool` gets the quantiles of all critics in
/// ascending order. `own` is working space for the quantiles of one critic.
pub(in crate::learn) fn pool(
    net: &Net<'_>,
    critics: &[f32],
    pair: Input<'_>,
    states: &mut impl States,
    scratch: &mut [f32],
    own: &mut [f32],
    pool: &mut [f32],
) -> Result {
    let len = net.head_len(0).max(1);
    let rows = own.len() / len;
    let width = pool.len().checked_div(rows).unwrap_or(0).max(1);
    for (i, params) in critics.chunks_exact(net.param_len().max(1)).enumerate() {
        infer(net, params, pair, rows, states.of(params, scratch)?, scratch, own, &mut [])?;
        for (own, pool) in own.chunks_exact(len).zip(pool.chunks_exact_mut(width)) {
            block::copy(block::rows_mut(pool, i, 1, len)?, own);
        }
    }
    pool.chunks_exact_mut(width).for_each(sort);
    Ok(())
}

/// The means over the quantiles of all critics. `own` is working space for the quantiles of one critic.
pub(in crate::learn) fn means(
    net: &Net<'_>,
    critics: &[f32],
    pair: Input<'_>,
    scratch: &mut [f32],
    own: &mut [f32],
    value: &mut [f32],
) -> Result {
    let (rows, num_critics) = (value.len(), critics.len().checked_div(net.param_len()).unwrap_or(0));
    let own = block::rows_mut(own, 0, rows, net.head_len(0))?;
    value.fill(0.0);
    for params in critics.chunks_exact(net.param_len().max(1)) {
        infer(net, params, pair, rows, &mut [], scratch, own, &mut [])?;
        add_means(own, num_critics, value);
    }
    Ok(())
}

/// Adds the mean over the quantiles of one critic, divided by `num_critics`.
pub fn add_means(own: &[f32], num_critics: usize, value: &mut [f32]) {
    let len = own.len().checked_div(value.len()).unwrap_or(0).max(1);
    for (own, value) in own.chunks_exact(len).zip(value) {
        *value += own.iter().sum::<f32>() / len as f32 / num_critics as f32;
    }
}

/// The loss of one critic for these rows and the mean of its values, each as a contribution to that of `num_rows` rows, and the
/// gradient with respect to its quantiles: the mean over these and over the lowest `kept` quantiles of the target's rows.
/// `weigh` returns its weight for a row and an error.
#[allow(clippy::too_many_arguments)]
pub fn regress(
    own: &[f32],
    target: &[f32],
    d_own: &mut [f32],
    [len, kept]: [usize; 2],
    num_rows: usize,
    huber: bool,
    mut weigh: impl FnMut(usize, f32) -> f32,
) -> (f32, f32) {
    let (share, len) = (1.0 / num_rows as f64, len.max(1));
    let width = target.len().checked_div(own.len() / len).unwrap_or(0).max(1);
    let (mut loss, mut sum) = (0.0f64, 0.0f64);
    let rows = own.chunks_exact(len).zip(target.chunks_exact(width)).zip(d_own.chunks_exact_mut(len));
    for (row, ((own, target), d_own)) in rows.enumerate() {
        let Cost { cost, mean, error } = quantiles(own, target.get(..kept).unwrap_or(target), huber, d_own);
        let weight = weigh(row, error) / len as f32;
        d_own.iter_mut().for_each(|slope| *slope = weight * *slope * share as f32);
        (loss, sum) = (loss + f64::from(weight * cost), sum + f64::from(mean));
    }
    ((loss * share) as f32, (sum * share) as f32)
}

/// Sorts in ascending order, by Shell sort.
pub fn sort(x: &mut [f32]) {
    let mut gap = x.len();
    while gap > 1 {
        gap /= 2;
        for i in gap..x.len() {
            let mut at = i;
            while let Some(before) = at.checked_sub(gap) {
                let (Some(&a), Some(&b)) = (x.get(before), x.get(at)) else { return };
                if a.partial_cmp(&b) != Some(Ordering::Greater) {
                    break;
                }
                for (k, value) in [(before, b), (at, a)] {
                    if let Some(to) = x.get_mut(k) {
                        *to = value;
                    }
                }
                at = before;
            }
        }
    }
}
