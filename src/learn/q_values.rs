//! Q, the values of the choices of an action. Each element of an action has its own Q; the value of an observation is the mean
//! over the elements of the largest Q.
//!
//! In all calls `n` has the number of choices of each of K elements, with sum L: Q and masks are `[rows, L]`, choices `[rows,
//! K]`.

use crate::num;

/// Half the mean squared error of the actions' Q, as a contribution to that of `num_rows` rows, and its gradient. `target` is
/// `[rows]`.
pub fn loss(n: &[u32], q: &[f32], choice: &[i32], target: &[f32], num_rows: usize, d_q: &mut [f32]) -> f32 {
    let share = 1.0 / num_rows.saturating_mul(n.len()) as f32;
    let (mut sum, mut choices) = (0.0f64, choice.iter());
    d_q.fill(0.0);
    for ((q, d_q), target) in by_row(n, q).zip(d_q.chunks_exact_mut(width(n))).zip(target) {
        let mut begin = 0usize;
        for (&n, &choice) in n.iter().zip(choices.by_ref()) {
            let at = begin.saturating_add(choice as usize);
            if let (Some(q), Some(d_q)) = (q.get(at), d_q.get_mut(at)) {
                let error = q - target;
                *d_q = num::canonical(error * share);
                sum += f64::from(0.5 * error * error);
            }
            begin = begin.saturating_add(n as usize);
        }
    }
    (sum * f64::from(share)) as f32
}

/// The value of each row, `[rows]`: the mean over the elements of the largest Q of the choices that the mask allows. It is NaN
/// if a Q is not finite.
pub fn values(n: &[u32], q: &[f32], mask: Option<&[u8]>, value: &mut [f32]) {
    let share = 1.0 / n.len() as f32;
    let mut allowed = mask.unwrap_or(&[]).iter();
    for (q, value) in by_row(n, q).zip(value) {
        let mut rest = q.iter();
        let mut sum = 0.0;
        for &n in n {
            let mut most = f32::NEG_INFINITY;
            for q in rest.by_ref().take(n as usize) {
                let counts = mask.is_none() || allowed.next() != Some(&0);
                most = if counts { num::max(most, *q) } else { most };
            }
            sum += most;
        }
        // The second term is 0, or NaN if a Q is not finite.
        *value = num::canonical(sum * share + 0.0 * q.iter().map(|q| q * 0.0).sum::<f32>());
    }
}

/// Replaces each element of greedy actions, with probability `epsilon`, by a uniformly drawn choice that the mask allows.
/// `noise` `[rows, K]` is uniform in [0, 1).
pub fn explore(n: &[u32], epsilon: f32, mask: Option<&[u8]>, noise: &[f32], choice: &mut [i32]) {
    let (mut begin, mut elements) = (0usize, n.iter().cycle());
    for (choice, &noise) in choice.iter_mut().zip(noise) {
        let &n = elements.next().unwrap_or(&1);
        let end = begin.saturating_add(n as usize);
        let flags = mask.and_then(|mask| mask.get(begin..end));
        if noise < epsilon {
            let allowed = |k: &u32| flags.is_none_or(|flags| flags.get(*k as usize) != Some(&0));
            let count = (0..n).filter(allowed).count();
            let index = (f64::from(noise) / f64::from(epsilon) * count as f64) as usize;
            *choice = (0..n).filter(allowed).nth(index.min(count.saturating_sub(1))).unwrap_or(0) as i32;
        }
        begin = end;
    }
}

/// The value of the choices of one row, the mean of Q over the elements, whose gradient is written to `d_q`; and whether the
/// mask allows no choice with a larger Q.
#[cfg(feature = "stream")]
pub fn of_choice(n: &[u32], q: &[f32], mask: Option<&[u8]>, choice: &[i32], d_q: &mut [f32]) -> (f32, bool) {
    let share = 1.0 / n.len() as f32;
    let (mut sum, mut is_best, mut begin) = (0.0, true, 0usize);
    d_q.fill(0.0);
    for (&n, &choice) in n.iter().zip(choice) {
        let end = begin.saturating_add(n as usize);
        let at = begin.saturating_add(choice as usize);
        if let (Some(own), Some(d_q)) = (q.get(at), d_q.get_mut(at)) {
            let counts = |at| mask.is_none_or(|mask| mask.get(at) != Some(&0));
            let better = |(at, other): (usize, &f32)| counts(at) && other > own;
            is_best &= !q.iter().enumerate().take(end).skip(begin).any(better);
            (sum, *d_q) = (sum + own, share);
        }
        begin = end;
    }
    (sum * share, is_best)
}

/// L.
fn width(n: &[u32]) -> usize {
    n.iter().fold(0usize, |sum, n| sum.saturating_add(*n as usize)).max(1)
}

fn by_row<'q>(n: &[u32], q: &'q [f32]) -> impl Iterator<Item = &'q [f32]> {
    q.chunks_exact(width(n))
}
