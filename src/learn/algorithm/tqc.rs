//! Truncated quantile critics (Kuznetsov et al. 2020): critics of SAC say quantiles, targets are those of all of them without the
//! highest, and the policy goes after the mean of all.
//!
//! Quantiles are `[rows, num_quantiles]`, and pooled ones `[rows, num_critics * num_quantiles]`.

use core::cmp::Ordering;

use super::q::infer;
use crate::block;
use crate::error::Result;
use crate::learn::value_head::{Cost, quantiles};
use crate::nn::{Input, Net};

/// What critics, whose parameters lie one after another, say of pairs: quantiles of all of them in each row of `pool`, in order.
/// `own` is for those of one.
pub(in crate::learn) fn pool(
    net: &Net<'_>,
    critics: &[f32],
    pair: &[f32],
    scratch: &mut [f32],
    own: &mut [f32],
    pool: &mut [f32],
) -> Result {
    let len = net.head_len(0).max(1);
    let rows = own.len() / len;
    let width = pool.len().checked_div(rows).unwrap_or(0).max(1);
    for (i, params) in critics.chunks_exact(net.param_len().max(1)).enumerate() {
        infer(net, params, Input::F32(pair), rows, scratch, own, &mut [])?;
        for (own, pool) in own.chunks_exact(len).zip(pool.chunks_exact_mut(width)) {
            block::copy(block::rows_mut(pool, i, 1, len)?, own);
        }
    }
    pool.chunks_exact_mut(width).for_each(sort);
    Ok(())
}

/// The means over the quantiles of all critics. `own` has room for those of one.
pub(in crate::learn) fn means(
    net: &Net<'_>,
    critics: &[f32],
    pair: &[f32],
    scratch: &mut [f32],
    own: &mut [f32],
    value: &mut [f32],
) -> Result {
    let (rows, num_critics) = (value.len(), critics.len().checked_div(net.param_len()).unwrap_or(0));
    let own = block::rows_mut(own, 0, rows, net.head_len(0))?;
    value.fill(0.0);
    for params in critics.chunks_exact(net.param_len().max(1)) {
        infer(net, params, Input::F32(pair), rows, scratch, own, &mut [])?;
        add_means(own, num_critics, value);
    }
    Ok(())
}

/// Adds the means over the quantiles of one of so many critics, a share of the mean over all.
pub fn add_means(own: &[f32], num_critics: usize, value: &mut [f32]) {
    let len = own.len().checked_div(value.len()).unwrap_or(0).max(1);
    for (own, value) in own.chunks_exact(len).zip(value) {
        *value += own.iter().sum::<f32>() / len as f32 / num_critics as f32;
    }
}

/// The loss of one critic for these rows and the mean of its values, each a share of those of `num_rows` rows, and the gradient
/// by its quantiles: the mean over them and over the lowest `kept` numbers of the target's rows, as often as `weigh` says of a
/// row and an error.
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

/// Sorts numbers upwards, by insertion among those further and further apart first.
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
