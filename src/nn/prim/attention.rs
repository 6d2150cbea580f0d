//! Causal multi-head attention (Vaswani et al. 2017) over the last steps of an episode, with learned relative positions added
//! to the keys (Shaw et al. 2018).
//!
//! A row's query attends to the keys of its own step and of earlier ones, at most `window`; the s-th learned position is added
//! to a key that is s steps old. The heads' outputs lie side by side and pass through a dense layer. A state is the number of
//! steps that it holds, then the inputs of the layer in the last `window - 1` steps, the newest last. Keys and values are
//! recomputed from these inputs, because an update changes them.
//!
//! Parameters: weights of queries `[input, units]`, of keys and values `[input, 2 * units]`, their biases `[3 * units]`,
//! positions `[window, units]`, and weights `[units, units]` and biases `[units]` of the output.

use core::cell::Cell as Place;

use core::ops::Range;

use super::flow::{self, Flow, Taped, part, part_mut, take};
use super::{Layered, Most, Op, Prim, Scope, Sequential, Sort, StepWise, copy, rows, rows_mut};
use crate::cpu::{At, Kernel};
use crate::error::Result;
use crate::nn::initializer::Start;
use crate::nn::matmul::{self, AddOuter, Affine, Flat};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::num;
use crate::rng::Rng;

/// Deviation of the initial positions.
const POSITION_DEVIATION: f32 = 0.02;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Attention {
    pub input: usize,
    pub units: usize,
    /// Heads, which divide the units, and steps that a row attends to.
    pub heads: usize,
    pub window: usize,
}

impl Layered for Attention {
    type Form = ();
    const SORT: Sort = Sort::Sequential;
    const SCOPE: Scope = Scope::All;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        let (input, units) = (node.input(0), node.units());
        let (heads, window) = (node.num_heads as usize, node.window as usize);
        Op::Sequential(Sequential::Attention(Attention { input, units, heads, window }))
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        flow::most(node, read, made)
    }
}

/// The parameters, or their gradients.
struct Params<T> {
    query: T,
    pair: T,
    bias: T,
    positions: T,
    out: T,
    out_bias: T,
}

/// Tape data of rows, besides their outputs.
struct Memo<T> {
    query: T,
    pairs: T,
    mixed: T,
    shares: T,
}

impl Attention {
    #[inline(always)]
    fn lens(self) -> [usize; 6] {
        let (d, u) = (self.input, self.units);
        [d * u, d * 2 * u, 3 * u, self.window * u, u * u, u]
    }

    #[inline(always)]
    fn split<'p>(self, mut params: &'p [f32]) -> Option<Params<&'p [f32]>> {
        let mut next = self.lens().into_iter().map(|len| params.split_off(..len));
        let mut next = || -> Option<&'p [f32]> { next.next()? };
        Some(Params {
            query: next()?,
            pair: next()?,
            bias: next()?,
            positions: next()?,
            out: next()?,
            out_bias: next()?,
        })
    }

    #[inline(always)]
    fn split_mut<'p>(self, mut params: &'p mut [f32]) -> Option<Params<&'p mut [f32]>> {
        let mut next = self.lens().into_iter().map(|len| params.split_off_mut(..len));
        let mut next = || -> Option<&'p mut [f32]> { next.next()? };
        Some(Params {
            query: next()?,
            pair: next()?,
            bias: next()?,
            positions: next()?,
            out: next()?,
            out_bias: next()?,
        })
    }

    /// Number of attention weights of a row: one for each head and step.
    #[inline(always)]
    fn shares(self) -> usize {
        self.heads * self.window
    }

    /// Maximum number of steps that a state holds, and length of their keys and values.
    #[inline(always)]
    fn held(self) -> (usize, usize) {
        let steps = self.window.saturating_sub(1);
        (steps, steps * 2 * self.units)
    }

    /// Layer inputs that a state holds, the newest step last.
    #[inline(always)]
    fn tokens(self, state: &[f32]) -> Option<&[f32]> {
        let (&count, tokens) = state.get(..self.state_len())?.split_first()?;
        let (most, _) = self.held();
        tokens.get((most - (count as usize).min(most)) * self.input..)
    }

    /// Computes keys and values of the steps that a state holds.
    #[inline(always)]
    fn pairs_of<'w, A: At>(self, at: A, of: &Params<&[f32]>, tokens: &[f32], to: &'w mut [f32]) -> Option<&'w [f32]> {
        if tokens.is_empty() {
            return Some(&[]);
        }
        let n = 2 * self.units;
        let y = to.get_mut(..tokens.len().checked_div(self.input)? * n)?;
        let bias = of.bias.get(self.units..);
        at.call(Affine { x: tokens, rows: Flat(self.input), w: of.pair, bias, y: &mut *y, n })?;
        Some(y)
    }

    /// Computes queries, and keys and values, of rows.
    #[inline(always)]
    fn project<A: At>(self, at: A, of: &Params<&[f32]>, x: &[f32], query: &mut [f32], pairs: &mut [f32]) -> Option<()> {
        let (u, rows) = (self.units, Flat(self.input));
        at.call(Affine { x, rows, w: of.query, bias: of.bias.get(..u), y: query, n: u })?;
        at.call(Affine { x, rows, w: of.pair, bias: of.bias.get(u..), y: pairs, n: 2 * u })
    }

    #[inline(always)]
    fn finish<A: At>(self, at: A, of: &Params<&[f32]>, mixed: &[f32], y: &mut [f32]) -> Option<()> {
        at.call(Affine { x: mixed, rows: Flat(self.units), w: of.out, bias: Some(of.out_bias), y, n: self.units })
    }

    /// The row where the sequence of `row` starts from a state, if that is within the window, and the number of tape rows that
    /// `row` attends to.
    #[inline(always)]
    fn look_back(self, flow: &Flow<'_>, row: usize) -> (Option<usize>, usize) {
        let (mut at, mut live) = (row, 1);
        while !flow.is_cut(at) {
            if live >= self.window {
                return (None, live);
            }
            at = at.saturating_sub(flow.sequences);
            live += 1;
        }
        (Some(at), live)
    }

    /// Moves the gradients of the key and value of the step `age` steps before `step` out of those of the window.
    #[inline(always)]
    fn leave(self, d_window: &mut [f32], step: usize, age: usize, to: &mut [f32]) -> Option<()> {
        let at = (step + self.window - age).checked_rem(self.window)?;
        let d = part_mut(d_window, &(at..at + 1), 2 * self.units)?;
        copy(d, to)?;
        d.fill(0.0);
        Some(())
    }

    /// Adds the gradients of the weights of held keys and values, whose inputs get none; `step` is the first after them.
    #[inline(always)]
    fn learn_held<A: At>(
        self,
        at: A,
        tokens: &[f32],
        (d_window, step): (&mut [f32], usize),
        d_held: &mut [f32],
        (d_pair, d_bias): (&mut [f32], &mut [f32]),
    ) -> Option<()> {
        let n = 2 * self.units;
        let steps = d_held.len().checked_div(n)?;
        for (i, d) in rows_mut(d_held, n).enumerate() {
            self.leave(d_window, step, steps - i, d)?;
        }
        at.call(AddOuter { x: tokens, rows: Flat(self.input), dy: d_held, dw: d_pair, n })?;
        matmul::add_rows(d_held, d_bias)
    }

    /// Rows of `range`, sequence by sequence.
    #[inline(always)]
    fn by_sequence(range: &Range<usize>, sequences: usize) -> impl Iterator<Item = Range<usize>> {
        let (begin, end) = (range.start, range.end);
        (begin..end.min(begin + sequences)).map(move |first| first..end)
    }
}

/// Keys and values of the steps that the state before a row holds.
struct Held<'a> {
    pairs: &'a mut [f32],
    /// The row that starts from this state, and their length.
    from: Option<usize>,
    len: usize,
}

impl Held<'_> {
    /// Those of the state of row `start`, computed unless it is the last one asked for; none without.
    #[inline(always)]
    fn of<A: At>(
        &mut self,
        at: A,
        layer: Attention,
        of: &Params<&[f32]>,
        flow: &Flow<'_>,
        start: Option<usize>,
    ) -> Option<&[f32]> {
        let Some(start) = start else { return Some(&[]) };
        if self.from != Some(start) {
            self.len = layer.pairs_of(at, of, layer.tokens(flow.state_of(start)?)?, self.pairs)?.len();
            self.from = Some(start);
        }
        self.pairs.get(..self.len)
    }
}

/// Keys and values that a row attends to.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    /// Of all rows of the tape; then the row, its distance to the previous row of its sequence, and the number of tape rows
    /// that it attends to.
    tape: &'a [f32],
    row: usize,
    sequences: usize,
    live: usize,
    /// Of the state that its sequence started from, the newest last.
    held: &'a [f32],
    units: usize,
}

impl<'a> Pairs<'a> {
    #[inline(always)]
    fn count(&self, window: usize) -> usize {
        let held = self.held.len().checked_div(2 * self.units).unwrap_or(0);
        (self.live + held).min(window)
    }

    /// Key and value of the step `age` steps ago.
    #[inline(always)]
    fn get(&self, age: usize) -> Option<(&'a [f32], &'a [f32])> {
        let width = 2 * self.units;
        let pair = if age < self.live {
            let row = self.row.checked_sub(age * self.sequences)?;
            part(self.tape, &(row..row + 1), width)?
        } else {
            let end = self.held.len().checked_sub((age - self.live) * width)?;
            self.held.get(end.checked_sub(width)?..end)?
        };
        pair.split_at_checked(self.units)
    }
}

/// Attention of all heads for one row.
struct Read<'a> {
    layer: Attention,
    query: &'a [f32],
    pairs: Pairs<'a>,
    positions: &'a [f32],
    /// `[heads, window]` attention weights, the newest step first; 0 beyond the oldest.
    shares: &'a mut [f32],
    mixed: &'a mut [f32],
    /// `[units]` working memory.
    products: &'a mut [f32],
}

impl Kernel for Read<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        let Read { layer: Attention { units, heads, window, .. }, query, pairs, positions, shares, mixed, products } =
            self;
        let (count, len) = (pairs.count(window), units.checked_div(heads)?);
        let scale = 1.0 / num::sqrt(len as f32);
        for (age, position) in rows(positions, units).enumerate().take(count) {
            let (key, _) = pairs.get(age)?;
            for (((to, query), key), position) in products.iter_mut().zip(query).zip(key).zip(position) {
                *to = query * (key + position);
            }
            for (shares, products) in rows_mut(shares, window).zip(rows(products, len)) {
                *shares.get_mut(age)? = scale * num::sum(products);
            }
        }
        for shares in rows_mut(shares, window) {
            let (shares, none) = shares.split_at_mut_checked(count)?;
            none.fill(0.0);
            let most = shares.iter().fold(f32::MIN, |most, x| num::max(most, *x));
            shares.iter_mut().for_each(|x| *x = num::exp(*x - most));
            let share = 1.0 / shares.iter().sum::<f32>();
            shares.iter_mut().for_each(|x| *x *= share);
        }
        mixed.fill(0.0);
        for age in 0..count {
            let (_, value) = pairs.get(age)?;
            for ((mixed, value), shares) in rows_mut(mixed, len).zip(rows(value, len)).zip(rows(shares, window)) {
                let share = *shares.get(age)?;
                mixed.iter_mut().zip(value).for_each(|(mixed, value)| *mixed += share * value);
            }
        }
        Some(())
    }
}

/// Gradients of the attention of all heads for one row.
struct Unread<'a> {
    layer: Attention,
    query: &'a [f32],
    pairs: Pairs<'a>,
    positions: &'a [f32],
    shares: &'a [f32],
    d_mixed: &'a [f32],
    d_query: &'a mut [f32],
    d_positions: &'a mut [f32],
    /// `[window, 2 * units]` gradients of keys and values; step t is at index t modulo the window.
    d_pairs: &'a mut [f32],
    step: usize,
    /// `[heads, window]` and `[units]` working memory.
    d_shares: &'a mut [f32],
    products: &'a mut [f32],
}

impl Kernel for Unread<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        let Unread { layer, query, pairs, positions, shares, d_mixed, d_query, d_positions, d_pairs, .. } = self;
        let Attention { units, heads, window, .. } = layer;
        let (count, len) = (pairs.count(window), units.checked_div(heads)?);
        let scale = 1.0 / num::sqrt(len as f32);
        for age in 0..count {
            let (_, value) = pairs.get(age)?;
            for ((to, d_mixed), value) in self.products.iter_mut().zip(d_mixed).zip(value) {
                *to = d_mixed * value;
            }
            for (d_shares, products) in rows_mut(self.d_shares, window).zip(rows(self.products, len)) {
                *d_shares.get_mut(age)? = num::sum(products);
            }
        }
        for (d_shares, shares) in rows_mut(self.d_shares, window).zip(rows(shares, window)) {
            let d_shares = d_shares.get_mut(..count)?;
            let mean = d_shares.iter().zip(shares).fold(0.0, |sum, (d, share)| sum + d * share);
            d_shares.iter_mut().zip(shares).for_each(|(d, share)| *d = scale * share * (*d - mean));
        }
        d_query.fill(0.0);
        for (age, (position, d_position)) in
            rows(positions, units).zip(rows_mut(d_positions, units)).enumerate().take(count)
        {
            let (key, _) = pairs.get(age)?;
            let at = (self.step + window - age).checked_rem(window)?;
            let (d_key, d_value) = part_mut(d_pairs, &(at..at + 1), 2 * units)?.split_at_mut_checked(units)?;
            let rests = rows(shares, window).zip(rows(self.d_shares, window));
            for (head, (shares, d_shares)) in rests.enumerate() {
                let (share, d, at) = (*shares.get(age)?, *d_shares.get(age)?, head * len..(head + 1) * len);
                let query = query.get(at.clone())?;
                let (key, position) = (key.get(at.clone())?, position.get(at.clone())?);
                let to = d_key.get_mut(at.clone())?.iter_mut().zip(d_position.get_mut(at.clone())?);
                to.zip(query).for_each(|((d_key, d_position), query)| {
                    *d_key += d * query;
                    *d_position += d * query;
                });
                for ((to, key), position) in d_query.get_mut(at.clone())?.iter_mut().zip(key).zip(position) {
                    *to += d * (key + position);
                }
                let d_mixed = d_mixed.get(at.clone())?;
                d_value.get_mut(at)?.iter_mut().zip(d_mixed).for_each(|(to, d_mixed)| *to += share * d_mixed);
            }
        }
        Some(())
    }
}

impl Attention {
    /// Sections of a tape of this many rows, behind the outputs.
    #[inline(always)]
    fn memo(self, mut tape: &[f32], all: usize) -> Option<Memo<&[f32]>> {
        let mut next = |len: usize| tape.split_off(..all * len);
        let u = self.units;
        Some(Memo { query: next(u)?, pairs: next(2 * u)?, mixed: next(u)?, shares: next(self.shares())? })
    }

    #[inline(always)]
    fn memo_mut(self, mut tape: &mut [f32], all: usize) -> Option<Memo<&mut [f32]>> {
        let mut next = |len: usize| tape.split_off_mut(..all * len);
        let u = self.units;
        Some(Memo { query: next(u)?, pairs: next(2 * u)?, mixed: next(u)?, shares: next(self.shares())? })
    }
}

impl StepWise for Attention {
    /// Number of held steps, and the layer's inputs in these.
    #[inline(always)]
    fn state_len(self) -> usize {
        1 + self.held().0 * self.input
    }

    /// Query, key and value, heads' outputs, and attention weights.
    #[inline(always)]
    fn memo_len(self) -> usize {
        4 * self.units + self.shares()
    }

    /// Gradients of the keys and values of a window.
    #[inline(always)]
    fn back_len(self) -> usize {
        self.window * 2 * self.units
    }

    #[inline(always)]
    fn go_forward<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        all: usize,
        tape: &mut [f32],
        range: Range<usize>,
        flow: &Flow<'_>,
        mut work: &mut [f32],
    ) -> Option<()> {
        let (u, of) = (self.units, self.split(params)?);
        let (y, rest) = tape.split_at_mut_checked(all * u)?;
        let memo = self.memo_mut(rest, all)?;
        let (query, pairs) = (part_mut(memo.query, &range, u)?, part_mut(memo.pairs, &range, 2 * u)?);
        self.project(at, &of, x, query, pairs)?;
        let (held_to, products) = (take(&mut work, self.held().1)?, take(&mut work, u)?);
        for some in Self::by_sequence(&range, flow.sequences) {
            let mut held = Held { pairs: &mut *held_to, from: None, len: 0 };
            for row in some.step_by(flow.sequences.max(1)) {
                let (start, live) = self.look_back(flow, row);
                let held = held.of(at, self, &of, flow, start)?;
                let pairs = Pairs { tape: memo.pairs, row, sequences: flow.sequences, live, held, units: u };
                let own = row..row + 1;
                at.call(Read {
                    layer: self,
                    query: part(memo.query, &own, u)?,
                    pairs,
                    positions: of.positions,
                    shares: part_mut(memo.shares, &own, self.shares())?,
                    mixed: part_mut(memo.mixed, &own, u)?,
                    products,
                })?;
            }
        }
        self.finish(at, &of, part(memo.mixed, &range, u)?, part_mut(y, &range, u)?)
    }

    #[inline(always)]
    fn step<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        y: &mut [f32],
        state: &mut [f32],
        (width, offset): (usize, usize),
        mut work: &mut [f32],
    ) -> Option<()> {
        let (u, of) = (self.units, self.split(params)?);
        let m = y.len().checked_div(u)?;
        let (query, pairs) = (take(&mut work, m * u)?, take(&mut work, m * 2 * u)?);
        let (mixed, shares) = (take(&mut work, m * u)?, take(&mut work, self.shares())?);
        let (held_to, products) = (take(&mut work, self.held().1)?, take(&mut work, u)?);
        self.project(at, &of, x, query, pairs)?;
        for row in 0..m {
            let own = row..row + 1;
            let state = state.get_mut(row * width + offset..)?.get_mut(..self.state_len())?;
            let held = self.pairs_of(at, &of, self.tokens(state)?, held_to)?;
            at.call(Read {
                layer: self,
                query: part(query, &own, u)?,
                pairs: Pairs { tape: pairs, row, sequences: 1, live: 1, held, units: u },
                positions: of.positions,
                shares: &mut *shares,
                mixed: part_mut(mixed, &own, u)?,
                products: &mut *products,
            })?;
            let (count, tokens) = state.split_first_mut()?;
            let (most, places) = (self.held().0, Place::from_mut(tokens).as_slice_of_cells());
            *count = (*count as usize).saturating_add(1).min(most) as f32;
            let newer = places.iter().skip(self.input).map(Place::get);
            let own = part(x, &own, self.input)?.iter().copied();
            places.iter().zip(newer.chain(own)).for_each(|(to, x)| to.set(x));
        }
        self.finish(at, &of, mixed, y)
    }

    #[inline(always)]
    fn go_back<A: At>(
        self,
        at: A,
        taped: Taped<'_>,
        back: &mut [f32],
        grads: &mut [f32],
        dx: Option<&mut [f32]>,
        mut work: &mut [f32],
    ) -> Option<()> {
        let Taped { params, turned, x, dy, all, range, tape, flow } = taped;
        let (d, u, m) = (self.input, self.units, range.len());
        let (of, mut turned) = (self.split(params)?, turned);
        let (query_back, pair_back) = (turned.split_off(..u * d)?, turned.split_off(..2 * u * d)?);
        let memo = self.memo(tape.get(all * u..)?, all)?;
        let to = self.split_mut(grads)?;
        let (d_mixed, d_query, d_pairs) =
            (take(&mut work, m * u)?, take(&mut work, m * u)?, take(&mut work, m * 2 * u)?);
        let (held_to, d_held) = (take(&mut work, self.held().1)?, take(&mut work, self.held().1)?);
        let (products, d_shares) = (take(&mut work, u)?, take(&mut work, self.shares())?);

        let flat = Flat(u);
        at.call(AddOuter { x: part(memo.mixed, &range, u)?, rows: flat, dy, dw: to.out, n: u })?;
        matmul::add_rows(dy, to.out_bias)?;
        at.call(Affine { x: dy, rows: flat, w: turned, bias: None, y: &mut *d_mixed, n: u })?;
        let (d_query_bias, d_pair_bias) = to.bias.split_at_mut_checked(u)?;
        for some in Self::by_sequence(&range, flow.sequences) {
            let sequence = some.start.checked_rem(flow.sequences)?;
            let d_window = part_mut(back, &(sequence..sequence + 1), self.back_len())?;
            let mut held = Held { pairs: &mut *held_to, from: None, len: 0 };
            for row in some.step_by(flow.sequences.max(1)).rev() {
                let (start, live) = self.look_back(&flow, row);
                let held = held.of(at, self, &of, &flow, start)?;
                let (own, here) = (row..row + 1, row - range.start..row - range.start + 1);
                let step = row.checked_div(flow.sequences)?;
                at.call(Unread {
                    layer: self,
                    query: part(memo.query, &own, u)?,
                    pairs: Pairs { tape: memo.pairs, row, sequences: flow.sequences, live, held, units: u },
                    positions: of.positions,
                    shares: part(memo.shares, &own, self.shares())?,
                    d_mixed: part(d_mixed, &here, u)?,
                    d_query: part_mut(d_query, &here, u)?,
                    d_positions: &mut *to.positions,
                    d_pairs: &mut *d_window,
                    step,
                    d_shares: &mut *d_shares,
                    products: &mut *products,
                })?;
                self.leave(d_window, step, 0, part_mut(d_pairs, &here, 2 * u)?)?;
                if start == Some(row) && !held.is_empty() {
                    let (tokens, d_held) = (self.tokens(flow.state_of(row)?)?, d_held.get_mut(..held.len())?);
                    self.learn_held(at, tokens, (d_window, step), d_held, (&mut *to.pair, &mut *d_pair_bias))?;
                }
            }
        }
        at.call(AddOuter { x, rows: Flat(d), dy: d_query, dw: to.query, n: u })?;
        at.call(AddOuter { x, rows: Flat(d), dy: d_pairs, dw: to.pair, n: 2 * u })?;
        matmul::add_rows(d_query, d_query_bias)?;
        matmul::add_rows(d_pairs, d_pair_bias)?;
        let Some(dx) = dx else { return Some(()) };
        let more = take(&mut work, m * d)?;
        at.call(Affine { x: d_query, rows: flat, w: query_back, bias: None, y: &mut *dx, n: d })?;
        at.call(Affine { x: d_pairs, rows: Flat(2 * u), w: pair_back, bias: None, y: &mut *more, n: d })?;
        dx.iter_mut().zip(more).for_each(|(dx, more)| *dx += *more);
        Some(())
    }
}

impl Prim for Attention {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.lens().iter().sum()
    }

    fn turned_len(self) -> usize {
        let [query, pair, .., out, _] = self.lens();
        query + pair + out
    }

    #[inline(always)]
    fn turn(self, params: &[f32], mut turned: &mut [f32]) -> Option<()> {
        let (of, d, u) = (self.split(params)?, self.input, self.units);
        matmul::transpose(of.query, take(&mut turned, d * u)?, d, u)?;
        matmul::transpose(of.pair, take(&mut turned, d * 2 * u)?, d, 2 * u)?;
        matmul::transpose(of.out, turned, u, u)
    }

    fn work_len(self, rows: usize) -> usize {
        (4 * self.units + self.input) * rows + 2 * self.held().1 + self.units + self.shares()
    }

    fn init_scratch_len(self) -> usize {
        Start::scratch_len(self.input, self.units).max(Start::scratch_len(self.input, 2 * self.units))
    }

    /// Biases start at 0, positions near 0.
    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let Some(to) = self.split_mut(params) else { return Ok(()) };
        start.fill(to.query, self.input, self.units, rng, scratch)?;
        start.fill(to.pair, self.input, 2 * self.units, rng, scratch)?;
        start.fill(to.out, self.units, self.units, rng, scratch)?;
        rng.fill_normal(to.positions);
        to.positions.iter_mut().for_each(|x| *x *= POSITION_DEVIATION);
        to.bias.fill(0.0);
        to.out_bias.fill(0.0);
        Ok(())
    }

    /// Weights are `[units, input]` of queries, keys and values, positions `[window, units]`, the newest step first, and
    /// `[units, units]` of the output.
    fn tensors(self) -> Tensors {
        let (d, u) = (self.input, self.units);
        let [query, pair, bias, positions, out, out_bias] = self.lens();
        let [at_bias, at_positions, at_out, at_out_bias] = {
            let bias_at = query.saturating_add(pair);
            let positions_at = bias_at.saturating_add(bias);
            let out_at = positions_at.saturating_add(positions);
            [bias_at, positions_at, out_at, out_at.saturating_add(out)]
        };
        let double = u.saturating_mul(2);
        Tensors::of([
            Tensor::weights("q_proj_weight", 0, [(u, 1), (d, u)]).of_input(),
            Tensor::weights("k_proj_weight", query, [(u, 1), (d, double)]).of_input(),
            Tensor::weights("v_proj_weight", query.saturating_add(u), [(u, 1), (d, double)]).of_input(),
            Tensor::weights("positions", at_positions, [(self.window, u), (u, 1)]),
            Tensor::weights("out_proj.weight", at_out, [(u, 1), (u, u)]),
            Tensor::vector("in_proj_bias", at_bias, bias),
            Tensor::vector("out_proj.bias", at_out_bias, out_bias),
        ])
    }
}
