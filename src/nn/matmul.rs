//! Small row-major matrix products, blocked for registers, with one fixed order for every sum.
//!
//! Each output sums over the inner or the batch dimension in ascending order, in one f32 accumulator, and every product is
//! fused with its addition ([`At::fused`]). So the block shape, the CPU level and the split of a batch never change a bit. Only
//! [`Dots`], for outputs too narrow to fill a vector, keeps sixteen partial sums and adds them in a fixed tree.
//!
//! Every function is part of a kernel: inlined into the caller's [`Kernel`](crate::cpu::Kernel), which passes its level on.
//! `None` means mismatched lengths; callers check lengths first, so it does not happen.

use core::num::NonZero;

use crate::cpu::{self, At, Base, FEW_WAYS, Kernel, Level};
use crate::num;

/// Lanes of a vector, and the narrowest matrix that is processed in vectors.
pub(crate) const LANES: usize = 16;

/// Repeats a block of code for each row or column `$i` of a tile. Unrolled by macro, because the compiler keeps the
/// accumulators in registers only if these loops are gone before its analysis.
macro_rules! unroll {
    ($i:ident in 0..4 $body:block) => { unroll!(@ $i $body 0 1 2 3) };
    ($i:ident in 0..8 $body:block) => { unroll!(@ $i $body 0 1 2 3 4 5 6 7) };
    (@ $i:ident $body:block $($value:literal)*) => { $({ const $i: usize = $value; $body })* };
}

/// Accumulators in registers: `R` rows (at most 8) of `C` vectors of `L` lanes.
type Tile<const R: usize, const C: usize, const L: usize> = [[[f32; L]; C]; R];

/// `C` vectors from element `start` on.
#[inline(always)]
fn vectors<const C: usize, const L: usize>(a: &[f32], start: usize) -> Option<&[[f32; L]; C]> {
    a.get(start..)?.as_chunks().0.first_chunk()
}

/// `C` vectors from element `start` on.
#[inline(always)]
fn vectors_mut<const C: usize, const L: usize>(a: &mut [f32], start: usize) -> Option<&mut [[f32; L]; C]> {
    a.get_mut(start..)?.as_chunks_mut().0.first_chunk_mut()
}

/// `sums + x * w`.
#[inline(always)]
fn add_scaled<A: At, const C: usize, const L: usize>(at: A, sums: &mut [[f32; L]; C], x: f32, w: &[[f32; L]; C]) {
    if C > 4 {
        return sums.iter_mut().zip(w).for_each(|(sums, w)| at.fused(sums, &[x; L], w));
    }
    unroll!(COLUMN in 0..4 {
        if let (Some(sums), Some(w)) = (sums.get_mut(COLUMN), w.get(COLUMN)) {
            at.fused(sums, &[x; L], w);
        }
    });
}

/// Layout of the rows of a factor in its array: each row consists of contiguous runs of elements.
pub(crate) trait Rows: Copy {
    /// Whether the rows are contiguous, each in one run.
    const FLAT: bool;

    /// Elements of a row, over all its runs.
    fn len(self) -> usize;

    /// Offsets of the runs of a row from its start, and the length of each run.
    fn runs(self) -> (impl Iterator<Item = usize>, usize);

    /// Offset of element `i` of a row from its start.
    fn place(self, i: usize) -> usize;

    /// Length of the rest of a run from element `i` of a row on.
    fn left(self, i: usize) -> usize;

    /// The elements at consecutive places of the row that starts at `start`.
    fn pick<'a, const R: usize>(self, x: &'a [f32], start: usize, places: &[usize; R]) -> Option<[&'a f32; R]>;

    /// Starts of `R` rows from `first` on.
    fn starts<const R: usize>(self, first: usize) -> [usize; R];

    /// Starts of the rows from `first` on, without end.
    fn walk(self, first: usize) -> impl Iterator<Item = usize>;
}

/// Contiguous rows of this many elements.
#[derive(Clone, Copy)]
pub(crate) struct Flat(pub(crate) usize);

impl Rows for Flat {
    const FLAT: bool = true;

    #[inline(always)]
    fn len(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn runs(self) -> (impl Iterator<Item = usize>, usize) {
        (core::iter::once(0), self.0)
    }

    #[inline(always)]
    fn place(self, i: usize) -> usize {
        i
    }

    #[inline(always)]
    fn left(self, i: usize) -> usize {
        self.0 - i
    }

    #[inline(always)]
    fn pick<'a, const R: usize>(self, x: &'a [f32], start: usize, places: &[usize; R]) -> Option<[&'a f32; R]> {
        Some(x.get(start + places.first()?..)?.first_chunk()?.each_ref())
    }

    #[inline(always)]
    fn starts<const R: usize>(self, first: usize) -> [usize; R] {
        core::array::from_fn(|row| (first + row) * self.0)
    }

    #[inline(always)]
    fn walk(self, first: usize) -> impl Iterator<Item = usize> {
        (first * self.0..usize::MAX).step_by(self.0.max(1))
    }
}

/// `y[m,n] = x[m,k] * w[k,n] + bias[n]`; without a bias the sums start at 0.
pub(crate) struct Affine<'a, X> {
    pub(crate) x: &'a [f32],
    pub(crate) rows: X,
    pub(crate) w: &'a [f32],
    pub(crate) bias: Option<&'a [f32]>,
    pub(crate) y: &'a mut [f32],
    pub(crate) n: usize,
}

impl<X: Rows> Kernel for Affine<'_, X> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(Base)
    }

    /// Tile shapes were the fastest in measurements; others, wider ones above all, spill accumulators or make the compiler
    /// shuffle lanes.
    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        let Affine { x, rows, w, bias, y, n } = self;
        let m = y.len().checked_div(n)?;
        // Copies to panels pay off from this many rows on.
        let is_large = rows.len() * n >= LARGE && n.is_multiple_of(LANES) && m >= MANY_ROWS;
        let is_thin = X::FLAT && m >= 4 && n.is_multiple_of(LANES);
        match A::LEVEL {
            // Several accumulators side by side, because each addition waits for the previous one.
            _ if !FEW_WAYS && n < LANES && m >= 8 => affine_tiles::<_, _, 8, 1, 1>(at, x, rows, w, bias, y, n),
            _ if n < LANES => affine_tiles::<_, _, 1, 1, 1>(at, x, rows, w, bias, y, n),
            _ if FEW_WAYS => affine_tiles::<_, _, 1, 1, LANES>(at, x, rows, w, bias, y, n),
            Level::Avx2 if is_thin && rows.len() == 1 => affine_thin::<_, 1>(at, x, w, bias, y, n),
            Level::Avx2 if is_thin && rows.len() == 2 => affine_thin::<_, 2>(at, x, w, bias, y, n),
            Level::Avx2 if is_thin && rows.len() == 3 => affine_thin::<_, 3>(at, x, w, bias, y, n),
            Level::Avx2 if is_thin && rows.len() == 4 => affine_thin::<_, 4>(at, x, w, bias, y, n),
            // Few rows use as many accumulators as there are registers, so that weights are read in long runs.
            Level::Avx512 if X::FLAT && m == 1 && n >= 512 => {
                affine_tiles::<_, _, 1, 32, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if X::FLAT && m == 1 && n >= 256 => {
                affine_tiles::<_, _, 1, 16, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if X::FLAT && m == 1 && n >= 128 => {
                affine_tiles::<_, _, 1, 8, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if X::FLAT && m == 2 && n >= 128 => {
                affine_tiles::<_, _, 2, 8, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if X::FLAT && m == 3 && n >= 64 => {
                affine_tiles::<_, _, 3, 4, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx2 if X::FLAT && m == 2 && n >= 32 => {
                affine_tiles::<_, _, 2, 2, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 | Level::Avx2 if X::FLAT && m < 4 && n.is_multiple_of(LANES) && w.len() >= 8 * LARGE => {
                affine_rows(at, x, rows.len(), w, bias, y, n)
            }
            Level::Avx512 if is_large && n.is_multiple_of(64) => {
                affine_panels::<_, _, 4, 4>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if is_large && n.is_multiple_of(32) => {
                affine_panels::<_, _, 8, 2>(at, x, rows, w, bias, y, n)
            }
            Level::Avx2 if is_large => affine_panels::<_, _, 4, 1>(at, x, rows, w, bias, y, n),
            Level::Avx512 if m >= 4 && n.is_multiple_of(64) => {
                affine_tiles::<_, _, 4, 4, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if m >= 8 && n.is_multiple_of(32) => {
                affine_tiles::<_, _, 8, 2, LANES>(at, x, rows, w, bias, y, n)
            }
            Level::Avx512 if m >= 8 => affine_tiles::<_, _, 8, 1, LANES>(at, x, rows, w, bias, y, n),
            Level::Avx2 if m >= 4 => affine_tiles::<_, _, 4, 1, LANES>(at, x, rows, w, bias, y, n),
            Level::Avx512 | Level::Avx2 if n >= 64 => affine_tiles::<_, _, 1, 4, LANES>(at, x, rows, w, bias, y, n),
            Level::Base if m >= 4 => affine_tiles::<_, _, 4, 1, LANES>(at, x, rows, w, bias, y, n),
            _ => affine_tiles::<_, _, 1, 1, LANES>(at, x, rows, w, bias, y, n),
        }
    }
}

/// [`Affine`] tile by tile, `m >= R`, `n >= C * L`. The last tile overlaps the previous one.
#[inline(always)]
fn affine_tiles<A: At, X: Rows, const R: usize, const C: usize, const L: usize>(
    at: A,
    x: &[f32],
    rows: X,
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    n: usize,
) -> Option<()> {
    if rows.len() == 0 || n == 0 {
        return None;
    }
    let (last_row, last_column) = ((y.len() / n).checked_sub(R)?, n.checked_sub(C * L)?);
    let mut row = 0;
    loop {
        let starts = rows.starts::<R>(row);
        let y = y.get_mut(row * n..(row + R) * n)?;
        let mut column = 0;
        loop {
            let start = match bias {
                Some(bias) => *vectors(bias, column)?,
                None => [[0.0; L]; C],
            };
            let (runs, k) = rows.runs();
            let (mut sums, mut w): (Tile<R, C, L>, _) = ([start; R], w);
            for run in runs {
                let (of_run, rest) = w.split_at_checked(k * n)?;
                sums = add_tile(at, sums, slices(x, run, &starts, k)?, of_run, k, n, column);
                w = rest;
            }
            for (r, sums) in sums.iter().enumerate() {
                *vectors_mut(y, r * n + column)? = *sums;
            }
            if column == last_column {
                break;
            }
            column = (column + C * L).min(last_column);
        }
        if row == last_row {
            return Some(());
        }
        row = (row + R).min(last_row);
    }
}

/// [`Affine`] for rows so short that the weights of a vector of columns stay in registers. `n` is a multiple of [`LANES`].
#[inline(always)]
fn affine_thin<A: At, const K: usize>(
    at: A,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    n: usize,
) -> Option<()> {
    let n = NonZero::new(n)?.get();
    for column in (0..n).step_by(LANES) {
        let mut own = [[0.0; LANES]; K];
        for (own, w) in own.iter_mut().zip(w.chunks_exact(n)) {
            *own = *w.get(column..)?.first_chunk()?;
        }
        let start = match bias {
            Some(bias) => *bias.get(column..)?.first_chunk()?,
            None => [0.0; LANES],
        };
        for (x, y) in x.as_chunks::<K>().0.iter().zip(y.chunks_exact_mut(n)) {
            let mut sums = start;
            for (x, w) in x.iter().zip(&own) {
                at.fused(&mut sums, &[*x; LANES], w);
            }
            *y.get_mut(column..)?.first_chunk_mut()? = sums;
        }
    }
    Some(())
}

/// [`Affine`] for few rows and large weights, which are read once, four rows side by side; `n` is a multiple of [`LANES`].
#[inline(always)]
fn affine_rows<A: At>(
    at: A,
    x: &[f32],
    k: usize,
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    n: usize,
) -> Option<()> {
    let (k, n) = (NonZero::new(k)?.get(), NonZero::new(n)?.get());
    for y in y.chunks_exact_mut(n) {
        match bias {
            Some(bias) => y.iter_mut().zip(bias).for_each(|(y, bias)| *y = *bias),
            None => y.fill(0.0),
        }
    }
    for (i, w) in w.get(..k * n)?.chunks(NonZero::new(4 * n)?.get()).enumerate() {
        for (x, y) in x.chunks_exact(k).zip(y.chunks_exact_mut(n)) {
            let (x, (y, _)) = (x.get(4 * i..)?, y.as_chunks_mut::<LANES>());
            if let (Some([x0, x1, x2, x3]), Some((w01, w23))) = (x.first_chunk(), w.split_at_checked(2 * n)) {
                let ((w0, w1), (w2, w3)) = (w01.split_at_checked(n)?, w23.split_at_checked(n)?);
                let of_w = w0.as_chunks().0.iter().zip(w1.as_chunks().0).zip(w2.as_chunks().0).zip(w3.as_chunks().0);
                for (y, (((w0, w1), w2), w3)) in y.iter_mut().zip(of_w) {
                    at.fused(y, &[*x0; LANES], w0);
                    at.fused(y, &[*x1; LANES], w1);
                    at.fused(y, &[*x2; LANES], w2);
                    at.fused(y, &[*x3; LANES], w3);
                }
            } else {
                for (x, w) in x.iter().zip(w.chunks_exact(n)) {
                    for (y, w) in y.iter_mut().zip(w.as_chunks().0) {
                        at.fused(y, &[*x; LANES], w);
                    }
                }
            }
        }
    }
    Some(())
}

/// Elements of a matrix that fill the first-level cache. A strip of columns of such a matrix does not stay there, because lines
/// that are a power of two apart share few cache sets: it is copied to a [`PANEL`].
const LARGE: usize = 8192;

/// Rows from which on copies to panels pay off.
pub(crate) const MANY_ROWS: usize = 32;

/// Elements of a factor that are copied side by side, half of a first-level cache. With frames of 32 KiB LLVM 22 overwrites
/// arguments.
const PANEL: usize = 4096;

/// Elements of an array that may have left the second-level cache: the next ones are prefetched while earlier ones are used.
const FAR: usize = 8 * LARGE;

/// Prefetch distance, in elements, from the first pixel of a window.
const AHEAD: usize = 8192;

/// Elements of pictures to prefetch with each of `m` patches; 0 if the pictures are small or the rows are no patches.
#[inline(always)]
fn new_of_row<X: Rows>(x: &[f32], m: usize) -> usize {
    if !X::FLAT && x.len() >= FAR { x.len().checked_div(m).unwrap_or(0) } else { 0 }
}

/// Rows that use a panel before it is replaced.
const PANEL_ROWS: usize = 128;

/// [`Affine`] with weights from panels, `m >= R`, `n` a multiple of `C * LANES`. Partial sums are kept in `y` between panels.
#[inline(always)]
fn affine_panels<A: At, X: Rows, const R: usize, const C: usize>(
    at: A,
    x: &[f32],
    rows: X,
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    n: usize,
) -> Option<()> {
    let (n, len) = (NonZero::new(n)?.get(), rows.len());
    let m = y.len() / n;
    let mut panel = [[0.0; LANES]; PANEL / LANES];
    let panel: &mut [[_; C]] = panel.as_chunks_mut().0;
    let deep = len.div_ceil(len.div_ceil(panel.len()).max(1)).max(1);
    let (new_of_row, next_deep) = (new_of_row::<X>(x, m), if w.len() >= FAR { deep } else { 0 });
    let mut first = 0;
    while first < m {
        let end = if m - first < 2 * PANEL_ROWS { m } else { first + PANEL_ROWS };
        for begin in (0..len).step_by(deep) {
            let panel = panel.get_mut(..deep.min(len - begin))?;
            for column in (0..n).step_by(C * LANES) {
                for (from, to) in w.get(begin * n..)?.chunks_exact(n).zip(&mut *panel) {
                    *to = *vectors(from, column)?;
                }
                let start = match bias {
                    Some(bias) => *vectors(bias, column)?,
                    None => [[0.0; LANES]; C],
                };
                // The weights of the next panel are prefetched while this one is used.
                let right = column + C * LANES;
                let next = if right < n { begin * n + right } else { (begin + deep) * n };
                let mut next = w.get(next..).unwrap_or_default().chunks(n).take(next_deep);
                let next_at_once = (deep * R).div_ceil((end - first).max(1));
                let (mut row, mut old_rows, last_row) = (first, 0, end.checked_sub(R)?);
                loop {
                    if next_deep > 0 {
                        next.by_ref().take(next_at_once).for_each(|w| cpu::prefetch_far(w, 0, C * LANES));
                    }
                    if begin + column == 0 && new_of_row > 0 {
                        cpu::prefetch_far(x, row * new_of_row + AHEAD, R * new_of_row);
                    }
                    let starts = rows.starts::<R>(row);
                    let y = y.get_mut(row * n..(row + R) * n)?;
                    let mut sums: Tile<R, C, LANES> = [start; R];
                    if begin > 0 {
                        for (r, sums) in sums.iter_mut().enumerate() {
                            *sums = *vectors(y, r * n + column)?;
                        }
                    }
                    let (mut at_k, mut rest) = (begin, &*panel);
                    while !rest.is_empty() {
                        let k = rows.left(at_k).min(rest.len());
                        let (of_run, others) = rest.split_at_checked(k)?;
                        let x = slices(x, rows.place(at_k), &starts, k)?;
                        sums = add_panel(at, sums, x, of_run);
                        (at_k, rest) = (at_k + k.max(1), others);
                    }
                    for (r, sums) in sums.iter().enumerate() {
                        if r >= old_rows {
                            *vectors_mut(y, r * n + column)? = *sums;
                        }
                    }
                    if row == last_row {
                        break;
                    }
                    let next = (row + R).min(last_row);
                    (old_rows, row) = (row + R - next, next);
                }
            }
        }
        first = end;
    }
    Some(())
}

/// `sums + x[R,k] * w[k]`.
#[inline(always)]
fn add_panel<A: At, const R: usize, const C: usize>(
    at: A,
    mut sums: Tile<R, C, LANES>,
    x: [&[f32]; R],
    w: &[[[f32; LANES]; C]],
) -> Tile<R, C, LANES> {
    for (i, w) in w.iter().enumerate() {
        unroll!(ROW in 0..8 {
            if let (Some(sums), Some(x)) = (sums.get_mut(ROW), x.get(ROW).and_then(|x| x.get(i))) {
                add_scaled(at, sums, *x, w);
            }
        });
    }
    sums
}

/// `k` elements of each row, from offset `run` after its start.
#[inline(always)]
fn slices<'a, const R: usize>(x: &'a [f32], run: usize, starts: &[usize; R], k: usize) -> Option<[&'a [f32]; R]> {
    let mut all: [&[f32]; R] = [&[]; R];
    unroll!(ROW in 0..8 {
        if let (Some(row), Some(start)) = (all.get_mut(ROW), starts.get(ROW)) {
            *row = x.get(run + start..)?.get(..k)?;
        }
    });
    Some(all)
}

/// `sums + x[R,k] * w[k,n]` for the columns of a tile.
#[inline(always)]
fn add_tile<A: At, const R: usize, const C: usize, const L: usize>(
    at: A,
    mut sums: Tile<R, C, L>,
    x: [&[f32]; R],
    w: &[f32],
    k: usize,
    n: usize,
    column: usize,
) -> Tile<R, C, L> {
    let mut all = w;
    for i in 0..k {
        let Some((w, rest)) = all.split_at_checked(n) else { break };
        let Some(w) = vectors(w, column) else { break };
        all = rest;
        unroll!(ROW in 0..8 {
            if let (Some(sums), Some(x)) = (sums.get_mut(ROW), x.get(ROW).and_then(|x| x.get(i))) {
                add_scaled(at, sums, *x, w);
            }
        });
    }
    sums
}

/// `y[m,n] = x[m,k] * w[n,k]^T + bias[n]` for narrow `n`, or without a bias. Lane `l` sums the products `l, l + 16, ..`, the
/// last of which are padded with zeros; then [`num::tree`].
pub(crate) struct Dots<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) w: &'a [f32],
    pub(crate) bias: Option<&'a [f32]>,
    pub(crate) y: &'a mut [f32],
    pub(crate) k: usize,
    pub(crate) n: usize,
}

impl Kernel for Dots<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        let Dots { x, w, bias, y, k, n } = self;
        let m = y.len().checked_div(n)?;
        let fours = if FEW_WAYS { 0 } else { m & !3 };
        for row in (0..fours).step_by(4) {
            let x = slices(x, 0, &Flat(k).starts::<4>(row), k)?;
            for j in 0..n {
                let sums = add_dots(at, x, w.get(j * k..)?.get(..k)?);
                let bias = bias.and_then(|bias| bias.get(j)).copied().unwrap_or(0.0);
                for (r, sum) in num::trees(sums).into_iter().enumerate() {
                    *y.get_mut((row + r) * n + j)? = sum + bias;
                }
            }
        }
        for row in fours..m {
            let x = slices(x, 0, &[row * k], k)?;
            for j in 0..n {
                let [sums] = add_dots(at, x, w.get(j * k..)?.get(..k)?);
                let bias = bias.and_then(|bias| bias.get(j)).copied().unwrap_or(0.0);
                *y.get_mut(row * n + j)? = num::tree(sums) + bias;
            }
        }
        Some(())
    }
}

/// Partial sums of `x[R,k] * w[k]`.
#[inline(always)]
fn add_dots<A: At, const R: usize>(at: A, x: [&[f32]; R], w: &[f32]) -> [[f32; LANES]; R] {
    let (w, w_rest) = w.as_chunks();
    let mut sums = [[0.0; LANES]; R];
    for (i, w) in w.iter().enumerate() {
        unroll!(ROW in 0..4 {
            if let (Some(sums), Some(x)) = (sums.get_mut(ROW), x.get(ROW).and_then(|x| x.as_chunks().0.get(i))) {
                at.fused(sums, x, w);
            }
        });
    }
    if !w_rest.is_empty() {
        let w = padded(w_rest);
        for (sums, x) in sums.iter_mut().zip(x) {
            at.fused(sums, &padded(x.as_chunks::<LANES>().1), &w);
        }
    }
    sums
}

#[inline(always)]
fn padded(rest: &[f32]) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = *x;
    }
    lanes
}

/// `dw[k,n] += x[m,k]^T * dy[m,n]`, rows in ascending order.
pub(crate) struct AddOuter<'a, X> {
    pub(crate) x: &'a [f32],
    pub(crate) rows: X,
    pub(crate) dy: &'a [f32],
    pub(crate) dw: &'a mut [f32],
    pub(crate) n: usize,
}

impl<X: Rows> Kernel for AddOuter<'_, X> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        self.run_at(Base)
    }

    #[inline(always)]
    fn run_at<A: At>(self, at: A) -> Option<()> {
        let AddOuter { x, rows, dy, dw, n } = self;
        let (k, m) = (rows.len(), dy.len().checked_div(n)?);
        let is_large = n.is_multiple_of(LANES) && k >= 4 && m >= 16 && (m * n >= LARGE || k * n >= LARGE);
        match A::LEVEL {
            _ if !FEW_WAYS && n < LANES && k >= 8 => outer_tiles::<_, _, 8, 1, 1>(at, x, rows, dy, dw, n),
            _ if n < LANES => outer_tiles::<_, _, 1, 1, 1>(at, x, rows, dy, dw, n),
            _ if FEW_WAYS => outer_tiles::<_, _, 1, 1, LANES>(at, x, rows, dy, dw, n),
            Level::Avx512 | Level::Avx2 if X::FLAT && m == 1 => outer_row(at, x, dy, dw, n),
            Level::Avx512 if is_large && k >= 8 && n.is_multiple_of(32) => {
                outer_panels::<_, _, 8, 2>(at, x, rows, dy, dw, n)
            }
            Level::Avx2 if is_large && k >= 32 => outer_panels::<_, _, 6, 1>(at, x, rows, dy, dw, n),
            Level::Avx2 if is_large => outer_panels::<_, _, 4, 1>(at, x, rows, dy, dw, n),
            Level::Avx512 if k >= 4 && n.is_multiple_of(64) => outer_tiles::<_, _, 4, 4, LANES>(at, x, rows, dy, dw, n),
            Level::Avx512 if k >= 8 && n.is_multiple_of(32) => outer_tiles::<_, _, 8, 2, LANES>(at, x, rows, dy, dw, n),
            Level::Avx512 if k >= 8 => outer_tiles::<_, _, 8, 1, LANES>(at, x, rows, dy, dw, n),
            Level::Avx2 if k >= 4 => outer_tiles::<_, _, 4, 1, LANES>(at, x, rows, dy, dw, n),
            Level::Avx512 | Level::Avx2 if n >= 64 => outer_tiles::<_, _, 1, 4, LANES>(at, x, rows, dy, dw, n),
            Level::Base if k >= 4 => outer_tiles::<_, _, 4, 1, LANES>(at, x, rows, dy, dw, n),
            _ => outer_tiles::<_, _, 1, 1, LANES>(at, x, rows, dy, dw, n),
        }
    }
}

/// [`AddOuter`] tile by tile, `k >= R`, `n >= C * L`. The last tile overlaps the previous one and stores only the elements that
/// the previous one did not.
#[inline(always)]
fn outer_tiles<A: At, X: Rows, const R: usize, const C: usize, const L: usize>(
    at: A,
    x: &[f32],
    rows: X,
    dy: &[f32],
    dw: &mut [f32],
    n: usize,
) -> Option<()> {
    let k = rows.len();
    if k == 0 || n == 0 {
        return None;
    }
    let (last_row, last_column) = (k.checked_sub(R)?, n.checked_sub(C * L)?);
    let (mut row, mut old_rows) = (0, 0);
    loop {
        let dw = dw.get_mut(row * n..(row + R) * n)?;
        let (mut column, mut old_columns) = (0, 0);
        loop {
            let mut start: Tile<R, C, L> = [[[0.0; L]; C]; R];
            for (r, start) in start.iter_mut().enumerate() {
                *start = *vectors(dw, r * n + column)?;
            }
            let sums = add_outer_tile(at, start, (x, rows, row), (dy, n, column));
            for (r, sums) in sums.iter().enumerate() {
                let dw: &mut [[f32; L]; C] = vectors_mut(dw, r * n + column)?;
                if r >= old_rows && old_columns == 0 {
                    *dw = *sums;
                } else if r >= old_rows {
                    for (dw, sum) in dw.as_flattened_mut().iter_mut().zip(sums.as_flattened()).skip(old_columns) {
                        *dw = *sum;
                    }
                }
            }
            if column == last_column {
                break;
            }
            let next = (column + C * L).min(last_column);
            old_columns = column + C * L - next;
            column = next;
        }
        if row == last_row {
            return Some(());
        }
        let next = (row + R).min(last_row);
        old_rows = row + R - next;
        row = next;
    }
}

/// `sums + x[m,k]^T * dy[m,n]` for a tile that starts at the given columns of `x` and `dy`.
#[inline(always)]
fn add_outer_tile<A: At, X: Rows, const R: usize, const C: usize, const L: usize>(
    at: A,
    mut sums: Tile<R, C, L>,
    (x, rows, row): (&[f32], X, usize),
    (dy, n, column): (&[f32], usize, usize),
) -> Tile<R, C, L> {
    if X::FLAT {
        // Chunks leave no bounds checks in the loop.
        let mut all_dy = dy.chunks_exact(n.max(1));
        for x in x.chunks_exact(rows.len().max(1)) {
            let Some(dy) = all_dy.next() else { break };
            let (Some(x), Some(dy)) = (x.get(row..).and_then(|x| x.first_chunk()), vectors(dy, column)) else { break };
            add_row(at, &mut sums, x, dy);
        }
        return sums;
    }
    let places: [usize; R] = core::array::from_fn(|r| rows.place(row + r));
    for (start, dy) in rows.walk(0).zip(dy.chunks_exact(n.max(1))) {
        let (Some(x), Some(dy)) = (rows.pick(x, start, &places), vectors(dy, column)) else { break };
        add_row(at, &mut sums, &x.map(|x| *x), dy);
    }
    sums
}

/// [`AddOuter`] of one row.
#[inline(always)]
fn outer_row<A: At>(at: A, x: &[f32], dy: &[f32], dw: &mut [f32], n: usize) -> Option<()> {
    let (dy, dy_rest) = dy.as_chunks::<LANES>();
    for (x, dw) in x.iter().zip(dw.chunks_exact_mut(NonZero::new(n)?.get())) {
        let (dw, dw_rest) = dw.as_chunks_mut::<LANES>();
        for (dw, dy) in dw.iter_mut().zip(dy) {
            at.fused(dw, &[*x; LANES], dy);
        }
        for (dw, dy) in dw_rest.as_chunks_mut::<1>().0.iter_mut().zip(dy_rest.as_chunks().0) {
            at.fused(dw, &[*x], dy);
        }
    }
    Some(())
}

/// [`AddOuter`] for blocks of rows, which are copied to a panel, `k >= R`, `n` a multiple of `C * LANES`. Partial sums are kept
/// in `dw` between blocks.
#[inline(always)]
fn outer_panels<A: At, X: Rows, const R: usize, const C: usize>(
    at: A,
    x: &[f32],
    rows: X,
    dy: &[f32],
    dw: &mut [f32],
    n: usize,
) -> Option<()> {
    let (n, k) = (NonZero::new(n)?.get(), rows.len());
    let m = dy.len() / n;
    let mut panel = [[0.0; LANES]; PANEL / LANES];
    let panel: &mut [[_; C]] = panel.as_chunks_mut().0;
    let (mut picked, mut starts) = ([[0.0; R]; PANEL_ROWS], [0; PANEL_ROWS]);
    let deep = m.min(PANEL_ROWS).min(panel.len()).max(1);
    // Columns that fit in the panels.
    let wide = panel.len().checked_div(deep)? * C * LANES;
    let new_of_row = new_of_row::<X>(x, m);
    let new_at_once = (deep * new_of_row * R).div_ceil(k.max(1));
    for first in (0..m).step_by(deep) {
        let deep = deep.min(m - first).max(1);
        let dy = dy.get(first * n..)?;
        starts.iter_mut().zip(rows.walk(first)).for_each(|(to, start)| *to = start);
        for left in (0..n).step_by(wide.max(1)) {
            let columns = left..n.min(left + wide);
            for (column, panel) in columns.clone().step_by(C * LANES).zip(panel.chunks_exact_mut(deep)) {
                for (from, to) in dy.chunks_exact(n).zip(panel) {
                    *to = *vectors(from, column)?;
                }
            }
            let (mut row, mut old_rows, last_row) = (0, 0, k.checked_sub(R)?);
            loop {
                let places: [usize; R] = core::array::from_fn(|r| rows.place(row + r));
                let (begin, end) = (*places.first()?, *places.last()?);
                let side_by_side = end == begin + R - 1;
                if !side_by_side {
                    for (to, start) in picked.get_mut(..deep)?.iter_mut().zip(&starts) {
                        *to = rows.pick(x, *start, &places)?.map(|x| *x);
                    }
                }
                for row in (row + 2 * R)..(row + if dw.len() >= FAR { 3 * R } else { 0 }) {
                    cpu::prefetch_far(dw, row * n + left, columns.len());
                }
                if left == 0 {
                    let next = (first + deep) * new_of_row + row.div_ceil(R) * new_at_once;
                    cpu::prefetch_far(x, next + AHEAD, new_at_once);
                }
                let dw = dw.get_mut(row * n..(row + R) * n)?;
                for (column, panel) in columns.clone().step_by(C * LANES).zip(panel.chunks_exact(deep)) {
                    let mut sums: Tile<R, C, LANES> = [[[0.0; LANES]; C]; R];
                    for (r, sums) in sums.iter_mut().enumerate() {
                        *sums = *vectors(dw, r * n + column)?;
                    }
                    if X::FLAT {
                        let mut all_x = x.get(first * k..)?.chunks_exact(k.max(1));
                        for dy in panel {
                            let Some(x) = all_x.next() else { break };
                            add_row(at, &mut sums, x.get(row..)?.first_chunk()?, dy);
                        }
                    } else if side_by_side {
                        for (start, dy) in starts.iter().zip(panel) {
                            add_row(at, &mut sums, x.get(start + begin..)?.first_chunk()?, dy);
                        }
                    } else {
                        picked.iter().zip(panel).for_each(|(x, dy)| add_row(at, &mut sums, x, dy));
                    }
                    for (r, sums) in sums.iter().enumerate() {
                        if r >= old_rows {
                            *vectors_mut(dw, r * n + column)? = *sums;
                        }
                    }
                }
                if row == last_row {
                    break;
                }
                let next = (row + R).min(last_row);
                (old_rows, row) = (row + R - next, next);
            }
        }
    }
    Some(())
}

/// `sums + x[R] * w`.
#[inline(always)]
fn add_row<A: At, const R: usize, const C: usize, const L: usize>(
    at: A,
    sums: &mut Tile<R, C, L>,
    x: &[f32; R],
    w: &[[f32; L]; C],
) {
    unroll!(ROW in 0..8 {
        if let (Some(sums), Some(x)) = (sums.get_mut(ROW), x.get(ROW)) {
            add_scaled(at, sums, *x, w);
        }
    });
}

/// `sums[n] += dy[m,n]`, rows in ascending order.
#[inline(always)]
pub(crate) fn add_rows(dy: &[f32], sums: &mut [f32]) -> Option<()> {
    /// Accumulators that stay in registers.
    const WIDE: usize = 4 * LANES;
    let n = NonZero::new(sums.len())?.get();
    let (wide, rest) = if FEW_WAYS { (Default::default(), sums) } else { sums.as_chunks_mut::<WIDE>() };
    let left = wide.len() * WIDE;
    for (i, sums) in wide.iter_mut().enumerate() {
        let mut own = *sums;
        for row in dy.chunks_exact(n) {
            let row: &[f32; WIDE] = row.get(i * WIDE..)?.first_chunk()?;
            own.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        *sums = own;
    }
    for row in dy.chunks_exact(if rest.is_empty() { usize::MAX } else { n }) {
        rest.iter_mut().zip(row.get(left..)?).for_each(|(sum, x)| *sum += x);
    }
    Some(())
}

/// `t[n,m] = a[m,n]^T`, in squares: large ones, so that whole cache lines are read and written, then small ones for the
/// remainder, then element by element.
#[inline(always)]
pub(crate) fn transpose(a: &[f32], t: &mut [f32], m: usize, n: usize) -> Option<()> {
    let (large, small) = if FEW_WAYS { (0, 0) } else { (!15, !3) };
    let (large_m, large_n, small_m, small_n) = (m & large, n & large, m & small, n & small);
    for i in (0..large_n).step_by(16) {
        for j in (0..large_m).step_by(16) {
            for row in (j + 32)..(j + if m * n >= FAR { 48 } else { 0 }) {
                cpu::prefetch_far(a, row * n + i, 16);
            }
            square::<4>(a, t, [m, n], [j, i])?;
        }
    }
    for i in (0..small_n).step_by(4) {
        for j in (if i < large_n { large_m } else { 0 }..small_m).step_by(4) {
            square::<1>(a, t, [m, n], [j, i])?;
        }
    }
    for i in 0..n {
        for j in if i < small_n { small_m } else { 0 }..m {
            *t.get_mut(i * m + j)? = *a.get(j * n + i)?;
        }
    }
    Some(())
}

/// [`transpose`] of the square of `4 S` rows and columns that starts at row `j` and column `i` of `a`.
#[inline(always)]
fn square<const S: usize>(a: &[f32], t: &mut [f32], [m, n]: [usize; 2], [j, i]: [usize; 2]) -> Option<()> {
    let mut turned = [[[[0.0; 4]; S]; 4]; S];
    let mut a = a.get(j * n + i..)?;
    for down in 0..S {
        let mut rows = [[[0.0; 4]; S]; 4];
        for row in &mut rows {
            *row = *a.as_chunks().0.first_chunk()?;
            a = a.get(n..).unwrap_or_default();
        }
        for (right, turned) in turned.iter_mut().enumerate() {
            let own = rows.map(|row| row.get(right).copied().unwrap_or_default());
            for (to, column) in turned.iter_mut().zip(cpu::turn(own)) {
                *to.get_mut(down)? = column;
            }
        }
    }
    let mut t = t.get_mut(i * m + j..)?;
    for row in turned.as_flattened() {
        *t.as_chunks_mut().0.first_chunk_mut()? = *row;
        t = t.get_mut(m..).unwrap_or_default();
    }
    Some(())
}
