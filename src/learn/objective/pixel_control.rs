//! Pixel control (Jaderberg et al. 2016): how much cells of a picture change, and what each choice is worth to each cell.
//!
//! Of a step, `change` and `target` are `[cells]`, advantages `[cells, choices]`, and a cell's values of choices are its value
//! and its advantages, without their mean.

use crate::learn::tasks::crop;
use crate::num;

/// Changes of the cells from one picture to the next: the sizes of the differences, their means over the last `newest`
/// channels, and of these the largest in each cell or their mean. Cells are squares of `cell` pixels over the picture without half a cell at each end,
/// in the middle of what they show where they do not fit (SAME).
pub fn changes(
    [height, width, channels]: [usize; 3],
    newest: usize,
    cell: usize,
    mean: bool,
    from: &[f32],
    to: &[f32],
    change: &mut [f32],
) {
    let side = |len: usize| {
        let (rest, border) = crop(len as u32, cell as u32);
        let (rest, border) = (rest as usize, border as usize);
        let cells = rest.div_ceil(cell.max(1));
        // What the cells show beyond the picture, before it.
        let pad = cells.saturating_mul(cell).saturating_sub(rest) / 2;
        (cells, move |i: usize| {
            let begin = i.saturating_mul(cell);
            let within = |at: usize| at.saturating_sub(pad).min(rest).saturating_add(border);
            within(begin)..within(begin.saturating_add(cell))
        })
    };
    let ((rows, row_of), (columns, column_of)) = (side(height), side(width));
    let pixel = |row: usize, column: usize| {
        let end = row.saturating_mul(width).saturating_add(column).saturating_add(1).saturating_mul(channels);
        let at = end.saturating_sub(newest);
        let (from, to) = (from.iter().skip(at), to.iter().skip(at));
        let sum: f32 = from.zip(to).take(newest).map(|(from, to)| (to - from).abs()).sum();
        sum / newest as f32
    };
    let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    for (to, (i, j)) in change.iter_mut().zip(cells) {
        let (mut most, mut sum, mut count) = (0.0f32, 0.0f32, 0u32);
        for row in row_of(i) {
            for column in column_of(j) {
                let own = pixel(row, column);
                (most, sum, count) = (num::max(own, most), sum + own, count.saturating_add(1));
            }
        }
        *to = if mean { sum / count.max(1) as f32 } else { most };
    }
}

/// The largest values of the choices of each cell.
pub fn best(choices: usize, advantage: &[f32], value: &[f32], best: &mut [f32]) {
    for ((own, value), to) in advantage.chunks_exact(choices.max(1)).zip(value).zip(best) {
        let most = own.iter().copied().fold(f32::NEG_INFINITY, num::max);
        *to = value + (most - mean(own));
    }
}

/// The squared error of the values of a choice, summed over cells, and `weight` times its gradient, by advantages and values.
#[allow(clippy::too_many_arguments)]
pub fn loss(
    choices: usize,
    choice: i32,
    advantage: &[f32],
    value: &[f32],
    target: &[f32],
    weight: f32,
    d_advantage: &mut [f32],
    d_value: &mut [f32],
) -> f64 {
    let mut sum = 0.0f64;
    let cells = advantage.chunks_exact(choices.max(1)).zip(d_advantage.chunks_exact_mut(choices.max(1)));
    for (((own, d_own), (value, d_value)), target) in cells.zip(value.iter().zip(d_value)).zip(target) {
        let chosen = own.get(choice as usize).copied().unwrap_or(0.0);
        let error = value + (chosen - mean(own)) - target;
        sum += f64::from(error) * f64::from(error);
        let slope = 2.0 * weight * error;
        *d_value = slope;
        d_own.fill(-(slope / choices as f32));
        if let Some(d_own) = d_own.get_mut(choice as usize) {
            *d_own += slope;
        }
    }
    sum
}

fn mean(x: &[f32]) -> f32 {
    x.iter().sum::<f32>() / x.len() as f32
}
