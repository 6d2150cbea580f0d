//! Recurrent layers: LSTM, GRU and minGRU cells (Hochreiter and Schmidhuber 1997; Cho et al. 2014; Feng et al. 2024).
//!
//! Rows are ordered step by step: row `t * S + s` is step t of sequence s, of S sequences. Parameters: weights of the input,
//! `[input, gates]`, weights of the previous output, `[units, gates]`, and biases. Gates have `units` values each: i, f, g, o
//! of an LSTM; r, z, n of a GRU, whose biases inside the product with r follow those of the gates; z and the candidate of a
//! minGRU, which has no weights of the previous output.
//!
//! An LSTM may normalize (Ba et al. 2016, as in TensorFlow's LayerNormBasicLSTMCell): the sums of each gate, before their bias,
//! and the cells, which are carried on in normalized form. Its biases are those of i, f, g, o and of the cells, followed by
//! scales in the same order.

use core::ops::Range;

use super::flow::{self, Flow, Taped, part, part_mut, take};
use super::norm::Norm;
use super::{Layered, Most, Op, Prim, Scope, Sequential, Sort, StepWise, copy, rows, rows_mut};
use crate::cpu::{At, Kernel};
use crate::error::Result;
use crate::nn::initializer::Start;
use crate::nn::layer::{FORGET_ONE, NORMALIZED};
use crate::nn::matmul::{self, AddOuter, Affine, Flat};
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::num;
use crate::rng::Rng;

/// Epsilon added to the variances of gates and cells, as in TensorFlow.
const EPSILON: f32 = 1e-12;

/// Index of the cells among the normalized vectors of an LSTM, and the number of these.
const CELLS: usize = 4;
const NORMS: usize = 5;

/// Type of the cell.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::nn) enum Cell {
    Lstm,
    Gru,
    MinGru,
}

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Recurrent {
    pub cell: Cell,
    pub input: usize,
    pub units: usize,
    /// Whether the forget-gate biases start at 1.
    pub forget_one: bool,
    /// Whether the gates and cells of an LSTM are normalized.
    pub normalises: bool,
}

impl Layered for Recurrent {
    type Form = Cell;
    const SORT: Sort = Sort::Sequential;
    const SCOPE: Scope = Scope::All;

    #[inline(always)]
    fn of(node: &Node, cell: Cell) -> Op {
        let (input, units) = (node.input(0), node.units());
        let (forget_one, normalises) = (node.has(FORGET_ONE), node.has(NORMALIZED));
        Op::Sequential(Sequential::Recurrent(Recurrent { cell, input, units, forget_one, normalises }))
    }

    fn most(node: &Node, read: u64, made: u64) -> Result<Most> {
        flow::most(node, read, made)
    }
}

impl Recurrent {
    #[inline(always)]
    fn gates(self) -> usize {
        self.units
            * match self.cell {
                Cell::Lstm => 4,
                Cell::Gru => 3,
                Cell::MinGru => 2,
            }
    }

    /// Values of a row besides its gates: the cells of an LSTM; for a GRU, the factor of r.
    #[inline(always)]
    fn extra(self) -> usize {
        if self.cell == Cell::MinGru { 0 } else { self.units }
    }

    #[inline(always)]
    fn is_recurrent(self) -> bool {
        self.cell != Cell::MinGru
    }

    #[inline(always)]
    fn cells(self) -> usize {
        if self.cell == Cell::Lstm { self.units } else { 0 }
    }

    #[inline(always)]
    fn normalises(self) -> bool {
        cfg!(feature = "pictures") && self.normalises
    }

    /// Lengths of the weights of the input, of the weights of the previous output, and of the biases.
    #[inline(always)]
    fn lens(self) -> [usize; 3] {
        let gates = self.gates();
        let own = if self.is_recurrent() { self.units * gates } else { 0 };
        let bias = match self.cell {
            Cell::Lstm if self.normalises() => 2 * NORMS * self.units,
            Cell::Gru => gates + self.units,
            _ => gates,
        };
        [self.input * gates, own, bias]
    }

    /// Bias of the input product; none before a normalization.
    #[inline(always)]
    fn added(self, bias: &[f32]) -> Option<&[f32]> {
        if self.normalises() { None } else { Some(bias) }
    }

    /// Normalization of the sums of a gate, or of the cells, to mean 0 and deviation 1.
    #[inline(always)]
    fn norm(self) -> Norm {
        let (len, channels) = (self.units, self.units);
        Norm { len, channels, has_scale: true, has_bias: true, centres: true, epsilon: EPSILON }
    }

    /// Normalizes gates, or the cells, of a row: `x` holds those of the five vectors that start at index `first`.
    #[inline(always)]
    fn normalise(self, bias: &[f32], first: usize, x: &[f32], y: &mut [f32]) -> Option<()> {
        let u = self.units;
        let (bias, scale) = bias.split_at_checked(NORMS * u)?;
        let (mut biases, mut scales) = (rows(bias.get(first * u..)?, u), rows(scale.get(first * u..)?, u));
        for (x, y) in rows(x, u).zip(rows_mut(y, u)) {
            self.norm().apply(scales.next()?, biases.next()?, x, y);
        }
        Some(())
    }

    /// Replaces the gradients of the normalized values by those of `x`, and adds those of the biases and scales.
    #[inline(always)]
    fn retreat(self, learnt: &mut Learnt<'_>, first: usize, x: &[f32], d: &mut [f32], work: &mut [f32]) -> Option<()> {
        let u = self.units;
        let scale = learnt.bias.get((NORMS + first) * u..)?;
        let (d_bias, d_scale) = learnt.d_bias.split_at_mut_checked(NORMS * u)?;
        let mut d_biases = rows_mut(d_bias.get_mut(first * u..)?, u);
        let mut d_scales = rows_mut(d_scale.get_mut(first * u..)?, u);
        for ((x, d), scale) in rows(x, u).zip(rows_mut(d, u)).zip(rows(scale, u)) {
            self.norm().learn(x, d, d_scales.next()?, d_biases.next()?);
            self.norm().retreat(scale, x, d, work)?;
        }
        Some(())
    }

    /// Working memory of a row for the backward pass of the normalization: its gates, its cells, and two vectors for [`Norm`].
    #[inline(always)]
    fn room_len(self) -> usize {
        if self.normalises() { (NORMS + 2) * self.units } else { 0 }
    }

    /// Applies the activations of an LSTM's gates in place.
    #[inline(always)]
    fn open(self, gates: &mut [f32]) -> Option<()> {
        let (i_f, rest) = gates.split_at_mut_checked(2 * self.units)?;
        let (g, o) = rest.split_at_mut_checked(self.units)?;
        for gate in [i_f, o] {
            gate.iter_mut().for_each(|x| *x = num::sigmoid(*x));
        }
        g.iter_mut().for_each(|x| *x = num::tanh(*x));
        Some(())
    }

    #[inline(always)]
    fn split<T>(self, params: &[T]) -> Option<(&[T], &[T], &[T])> {
        let [input, own, _] = self.lens();
        let (of_input, rest) = params.split_at_checked(input)?;
        let (own, bias) = rest.split_at_checked(own)?;
        Some((of_input, own, bias))
    }

    #[inline(always)]
    fn split_mut<T>(self, params: &mut [T]) -> Option<(&mut [T], &mut [T], &mut [T])> {
        let [input, own, _] = self.lens();
        let (of_input, rest) = params.split_at_mut_checked(input)?;
        let (own, bias) = rest.split_at_mut_checked(own)?;
        Some((of_input, own, bias))
    }

    /// Copies the states that these rows start from, where all rows lie on the tape: outputs to `h`, cells to `c`.
    #[inline(always)]
    fn before(self, flow: &Flow<'_>, range: Range<usize>, tape: &Tape<'_>, h: &mut [f32], c: &mut [f32]) -> Option<()> {
        let u = self.units;
        let mut cells = rows_mut(c, u);
        for (row, h) in range.zip(rows_mut(h, u)) {
            let c = cells.next().unwrap_or_default();
            if flow.is_cut(row) {
                let own = flow.state_of(row)?;
                copy(own.get(..u)?, h)?;
                copy(own.get(u..)?, c)?;
            } else {
                let before = row - flow.sequences..row - flow.sequences + 1;
                copy(part(tape.y, &before, u)?, h)?;
                copy(part(tape.extra, &before, self.cells())?, c)?;
            }
        }
        Some(())
    }

    /// Completes the gates of rows, which so far depend on the input alone, with the previous state, and computes the outputs.
    #[inline(always)]
    fn advance<A: At>(
        self,
        at: A,
        params: &[f32],
        made: Made<'_>,
        h: &[f32],
        c: &[f32],
        own: &mut [f32],
    ) -> Option<()> {
        let (_, w, bias) = self.split(params)?;
        if self.is_recurrent() {
            at.call(Affine { x: h, rows: Flat(self.units), w, bias: None, y: &mut *own, n: self.gates() })?;
        }
        at.call(Advance { layer: self, made, bias, h, c, own })
    }
}

/// Tape data of rows.
struct Tape<'a> {
    y: &'a [f32],
    gates: &'a [f32],
    extra: &'a [f32],
}

/// Mutable tape data of rows.
struct Made<'a> {
    y: &'a mut [f32],
    gates: &'a mut [f32],
    extra: &'a mut [f32],
}

/// Outputs of rows from their gates.
struct Advance<'a> {
    layer: Recurrent,
    made: Made<'a>,
    bias: &'a [f32],
    h: &'a [f32],
    c: &'a [f32],
    /// Products of the previous output, `[rows, gates]`.
    own: &'a mut [f32],
}

impl Kernel for Advance<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        let Advance { layer, made: Made { y, gates, extra }, bias, h, c, own } = self;
        let u = layer.units;
        let mut extras = rows_mut(extra, u);
        let (mut owns, mut cells) = (rows_mut(own, layer.gates()), rows(c, u));
        for ((y, gates), h) in rows_mut(y, u).zip(rows_mut(gates, layer.gates())).zip(rows(h, u)) {
            let (extra, own) = (extras.next().unwrap_or_default(), owns.next().unwrap_or_default());
            if layer.cell == Cell::Lstm {
                gates.iter_mut().zip(&*own).for_each(|(x, own)| *x += own);
            }
            match layer.cell {
                Cell::Lstm => layer.lstm(bias, gates, own, cells.next()?, extra, y)?,
                Cell::Gru => layer.gru(bias, gates, own, extra, h, y)?,
                Cell::MinGru => layer.min_gru(gates, h, y)?,
            }
        }
        Some(())
    }
}

/// Outputs of one row.
impl Recurrent {
    /// New cells go to `c`. `own` is overwritten.
    #[inline(always)]
    fn lstm(
        self,
        bias: &[f32],
        gates: &mut [f32],
        own: &mut [f32],
        before: &[f32],
        c: &mut [f32],
        y: &mut [f32],
    ) -> Option<()> {
        // The tape keeps the sums before normalization.
        let gates = if self.normalises() {
            self.normalise(bias, 0, gates, own)?;
            own
        } else {
            gates
        };
        self.open(gates)?;
        self.update_cells(gates, before, c)?;
        if self.normalises() {
            copy(c, y)?;
            self.normalise(bias, CELLS, y, c)?;
        }
        for ((y, c), o) in y.iter_mut().zip(c).zip(gates.get(3 * self.units..)?) {
            *y = o * num::tanh(*c);
        }
        Some(())
    }

    /// Cells of an LSTM from those before and from the gates.
    #[inline(always)]
    fn update_cells(self, gates: &[f32], before: &[f32], c: &mut [f32]) -> Option<()> {
        let (i, rest) = gates.split_at_checked(self.units)?;
        let (f, g) = rest.split_at_checked(self.units)?;
        for (c, (((i, f), g), before)) in c.iter_mut().zip(i.iter().zip(f).zip(g).zip(before)) {
            *c = f * before + i * g;
        }
        Some(())
    }

    /// The factors of r go to `inner`.
    #[inline(always)]
    fn gru(
        self,
        bias: &[f32],
        gates: &mut [f32],
        own: &[f32],
        inner: &mut [f32],
        h: &[f32],
        y: &mut [f32],
    ) -> Option<()> {
        let u = self.units;
        let (r, rest) = gates.split_at_mut_checked(u)?;
        let (z, n) = rest.split_at_mut_checked(u)?;
        r.iter_mut().zip(own).for_each(|(x, own)| *x = num::sigmoid(*x + own));
        z.iter_mut().zip(own.get(u..)?).for_each(|(x, own)| *x = num::sigmoid(*x + own));
        let sums = inner.iter_mut().zip(own.get(2 * u..)?).zip(bias.get(self.gates()..)?);
        sums.for_each(|((to, own), bias)| *to = own + bias);
        n.iter_mut().zip(r).zip(inner).for_each(|((n, r), x)| *n = num::tanh(*n + *r * *x));
        for (((y, z), n), h) in y.iter_mut().zip(z).zip(n).zip(h) {
            *y = (1.0 - *z) * *n + *z * h;
        }
        Some(())
    }

    #[inline(always)]
    fn min_gru(self, gates: &mut [f32], h: &[f32], y: &mut [f32]) -> Option<()> {
        let (z, v) = gates.split_at_mut_checked(self.units)?;
        z.iter_mut().for_each(|x| *x = num::sigmoid(*x));
        v.iter_mut().for_each(|x| *x = candidate(*x));
        for (((y, z), v), h) in y.iter_mut().zip(z).zip(v).zip(h) {
            *y = (1.0 - *z) * h + *z * *v;
        }
        Some(())
    }
}

/// Candidate of a minGRU, which is positive and increasing: v + 1/2 from 0 on, else sigmoid.
#[inline(always)]
fn candidate(v: f32) -> f32 {
    if v >= 0.0 { v + 0.5 } else { num::sigmoid(v) }
}

/// Biases of a normalizing layer, and their gradients.
struct Learnt<'a> {
    bias: &'a [f32],
    d_bias: &'a mut [f32],
}

/// Gradients of gates from those of outputs.
struct Retreat<'a> {
    layer: Recurrent,
    learnt: Learnt<'a>,
    /// A row of normalized values, and working memory for the backward pass of the normalization.
    room: &'a mut [f32],
    made: Tape<'a>,
    h: &'a [f32],
    c: &'a [f32],
    dy: &'a [f32],
    dh: &'a mut [f32],
    dc: &'a mut [f32],
    d: &'a mut [f32],
    /// Gradients of a GRU's products of the previous output.
    d_own: &'a mut [f32],
}

impl Kernel for Retreat<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self) -> Option<()> {
        let Retreat { layer, mut learnt, room, made, h, c, dy, dh, dc, d, d_own } = self;
        let (u, width) = (layer.units, layer.gates());
        let (opened, room) = room.split_at_mut_checked(if layer.normalises() { width } else { 0 })?;
        let (raw, room) = room.split_at_mut_checked(if layer.normalises() { u } else { 0 })?;
        dh.iter_mut().zip(dy).for_each(|(dh, dy)| *dh += dy);
        let (mut extras, mut cells) = (rows(made.extra, u), rows(c, u));
        let (mut dcs, mut d_owns) = (rows_mut(dc, u), rows_mut(d_own, width));
        for (((sums, h), dh), d) in rows(made.gates, width).zip(rows(h, u)).zip(rows_mut(dh, u)).zip(rows_mut(d, width))
        {
            let gates = if layer.normalises() {
                layer.normalise(learnt.bias, 0, sums, opened)?;
                layer.open(opened)?;
                &*opened
            } else {
                sums
            };
            match layer.cell {
                Cell::Lstm => {
                    let (made, before, dc) = (extras.next()?, cells.next()?, dcs.next()?);
                    layer.lstm_output_back(gates, made, dh, dc, d)?;
                    if layer.normalises() {
                        layer.update_cells(gates, before, raw)?;
                        layer.retreat(&mut learnt, CELLS, raw, dc, room)?;
                    }
                    layer.lstm_cells_back(gates, before, dc, d)?;
                    if layer.normalises() {
                        layer.retreat(&mut learnt, 0, sums, d, room)?;
                    }
                }
                Cell::Gru => layer.gru_back(gates, extras.next()?, h, dh, d, d_owns.next()?)?,
                Cell::MinGru => layer.min_gru_back(gates, h, dh, d)?,
            }
        }
        Some(())
    }
}

/// Gradients of one row: those of the gates go to `d`, those carried back replace `dh` and `dc`.
impl Recurrent {
    /// From the output of an LSTM to its cells and its last gate.
    #[inline(always)]
    fn lstm_output_back(self, gates: &[f32], c: &[f32], dh: &mut [f32], dc: &mut [f32], d: &mut [f32]) -> Option<()> {
        let (o, d_o) = (gates.get(3 * self.units..)?, d.get_mut(3 * self.units..)?);
        for ((((dh, dc), d_o), c), o) in dh.iter_mut().zip(dc).zip(d_o).zip(c).zip(o) {
            let t = num::tanh(*c);
            *dc += *dh * o * (1.0 - t * t);
            *d_o = *dh * t * (o * (1.0 - o));
            *dh = 0.0;
        }
        Some(())
    }

    /// From the cells of an LSTM to the cells before and the other gates.
    #[inline(always)]
    fn lstm_cells_back(self, gates: &[f32], before: &[f32], dc: &mut [f32], d: &mut [f32]) -> Option<()> {
        let u = self.units;
        let (i, rest) = gates.split_at_checked(u)?;
        let (f, g) = rest.split_at_checked(u)?;
        let (di, d_rest) = d.split_at_mut_checked(u)?;
        let (df, dg) = d_rest.split_at_mut_checked(u)?;
        let inputs = i.iter().zip(f).zip(g).zip(before);
        let d_gates = di.iter_mut().zip(df).zip(dg).zip(dc);
        for ((((di, df), dg), dc), (((i, f), g), before)) in d_gates.zip(inputs) {
            *di = *dc * g * (i * (1.0 - i));
            *df = *dc * before * (f * (1.0 - f));
            *dg = *dc * i * (1.0 - g * g);
            *dc *= f;
        }
        Some(())
    }

    /// `inner` has the factors of r.
    #[inline(always)]
    fn gru_back(
        self,
        gates: &[f32],
        inner: &[f32],
        h: &[f32],
        dh: &mut [f32],
        d: &mut [f32],
        d_own: &mut [f32],
    ) -> Option<()> {
        let u = self.units;
        let (r, rest) = gates.split_at_checked(u)?;
        let (z, n) = rest.split_at_checked(u)?;
        let (dr, d_rest) = d.split_at_mut_checked(u)?;
        let (dz, dn) = d_rest.split_at_mut_checked(u)?;
        let (own_r, own_rest) = d_own.split_at_mut_checked(u)?;
        let (own_z, own_n) = own_rest.split_at_mut_checked(u)?;
        let d_gates = dr.iter_mut().zip(dz).zip(dn);
        let d_own = own_r.iter_mut().zip(own_z).zip(own_n);
        let state = dh.iter_mut().zip(h).zip(inner);
        let gates = r.iter().zip(z).zip(n);
        for (((to, own), ((dh, h), x)), ((r, z), n)) in d_gates.zip(d_own).zip(state).zip(gates) {
            let (((dr, dz), dn), ((own_r, own_z), own_n)) = (to, own);
            *dn = *dh * (1.0 - z) * (1.0 - n * n);
            *dr = *dn * x * (r * (1.0 - r));
            *dz = *dh * (h - n) * (z * (1.0 - z));
            (*own_r, *own_z, *own_n) = (*dr, *dz, *dn * r);
            *dh *= z;
        }
        Some(())
    }

    #[inline(always)]
    fn min_gru_back(self, gates: &[f32], h: &[f32], dh: &mut [f32], d: &mut [f32]) -> Option<()> {
        let (z, v) = gates.split_at_checked(self.units)?;
        let (dz, dv) = d.split_at_mut_checked(self.units)?;
        let (state, inputs) = (dh.iter_mut().zip(h), z.iter().zip(v));
        for (((dz, dv), (dh, h)), (z, v)) in dz.iter_mut().zip(dv).zip(state).zip(inputs) {
            *dz = *dh * (v - h) * (z * (1.0 - z));
            *dv = *dh * z * if *v >= 0.5 { 1.0 } else { v * (1.0 - v) };
            *dh *= 1.0 - z;
        }
        Some(())
    }

    /// Zeroes the gradients that would be carried back beyond the begin of an episode.
    #[inline(always)]
    fn cut_back(self, flow: &Flow<'_>, range: Range<usize>, dh: &mut [f32], dc: &mut [f32]) {
        let mut dc = rows_mut(dc, self.units);
        for (row, dh) in range.zip(rows_mut(dh, self.units)) {
            let dc = dc.next().unwrap_or_default();
            if flow.is_cut(row) {
                dh.fill(0.0);
                dc.fill(0.0);
            }
        }
    }

    /// Adds the gradients of the parameters, from those of the gates and of a GRU's products of the previous output.
    #[inline(always)]
    fn add_gradients<A: At>(
        self,
        at: A,
        [x, h]: [&[f32]; 2],
        [d, d_own]: [&[f32]; 2],
        (dw, dw_own, d_bias): (&mut [f32], &mut [f32], &mut [f32]),
    ) -> Option<()> {
        let gates = self.gates();
        if self.is_recurrent() {
            let dy = if self.cell == Cell::Gru { d_own } else { d };
            at.call(AddOuter { x: h, rows: Flat(self.units), dy, dw: dw_own, n: gates })?;
        }
        at.call(AddOuter { x, rows: Flat(self.input), dy: d, dw, n: gates })?;
        let (db, db_own) = d_bias.split_at_mut_checked(gates)?;
        if !self.normalises() {
            matmul::add_rows(d, db)?;
        }
        for row in rows(d_own, gates) {
            db_own.iter_mut().zip(row.get(2 * self.units..)?).for_each(|(sum, x)| *sum += x);
        }
        Some(())
    }
}

impl Prim for Recurrent {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.lens().iter().sum()
    }

    fn turned_len(self) -> usize {
        let [input, own, _] = self.lens();
        input + own
    }

    #[inline(always)]
    fn turn(self, params: &[f32], turned: &mut [f32]) -> Option<()> {
        self.turn_used(params, turned, [true; 2])
    }

    fn work_len(self, rows: usize) -> usize {
        (2 * self.gates() + 3 * self.units) * rows + self.room_len()
    }

    fn init_scratch_len(self) -> usize {
        Start::scratch_len(self.input, self.gates()).max(Start::scratch_len(self.units, self.gates()))
    }

    /// Biases start at 0, and scales at 1.
    fn init(self, params: &mut [f32], start: Start, rng: &mut Rng, scratch: &mut [f32]) -> Result {
        let (w, own, bias) = self.split_mut(params).unwrap_or_default();
        start.fill(w, self.input, self.gates(), rng, scratch)?;
        if self.is_recurrent() {
            start.fill(own, self.units, self.gates(), rng, scratch)?;
        }
        bias.fill(0.0);
        if self.forget_one {
            bias.iter_mut().skip(self.units).take(self.units).for_each(|x| *x = 1.0);
        }
        if self.normalises() {
            bias.iter_mut().skip(NORMS * self.units).for_each(|x| *x = 1.0);
        }
        Ok(())
    }

    /// Weights are `[gates, input]` and `[gates, units]`.
    fn tensors(self) -> Tensors {
        let ([input, own, bias], gates) = (self.lens(), self.gates());
        let begin = input.saturating_add(own);
        let vector = |name, at: usize, len| Tensor::vector(name, begin.saturating_add(at), len);
        let (first, name) = match self.cell {
            Cell::Lstm if self.normalises() => (NORMS.saturating_mul(self.units), "scale"),
            _ => (gates, "bias_hn"),
        };
        Tensors::of([
            Tensor::weights("weight_ih", 0, [(gates, 1), (self.input, gates)]).of_input(),
            Tensor::weights("weight_hh", input, [(if own > 0 { gates } else { 0 }, 1), (self.units, gates)]),
            vector("bias", 0, first),
            vector(name, first, bias.saturating_sub(first)),
        ])
    }
}

impl StepWise for Recurrent {
    #[inline(always)]
    fn turn_used(self, params: &[f32], turned: &mut [f32], [input, back]: [bool; 2]) -> Option<()> {
        let (w, own, _) = self.split(params)?;
        let (to, to_own) = turned.split_at_mut_checked(w.len())?;
        if input {
            matmul::transpose(w, to, self.input, self.gates())?;
        }
        if back && self.is_recurrent() { matmul::transpose(own, to_own, self.units, self.gates()) } else { Some(()) }
    }

    /// Output, and cells of an LSTM.
    #[inline(always)]
    fn state_len(self) -> usize {
        self.units + self.cells()
    }

    /// Gates, and the other values of a row.
    #[inline(always)]
    fn memo_len(self) -> usize {
        self.gates() + self.extra()
    }

    #[inline(always)]
    fn back_len(self) -> usize {
        self.state_len()
    }

    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn go_forward<A: At>(
        self,
        at: A,
        params: &[f32],
        x: &[f32],
        all: usize,
        tape: &mut [f32],
        mut range: Range<usize>,
        flow: &Flow<'_>,
        mut work: &mut [f32],
    ) -> Option<()> {
        let (u, gates) = (self.units, self.gates());
        let (w, _, bias) = self.split(params)?;
        let (y_all, rest) = tape.split_at_mut_checked(all * u)?;
        let (gates_all, extra_all) = rest.split_at_mut_checked(all * gates)?;
        let y = part_mut(gates_all, &range, gates)?;
        at.call(Affine { x, rows: Flat(self.input), w, bias: self.added(bias), y, n: gates })?;
        let m = range.len();
        let (h, c) = (take(&mut work, m * u)?, take(&mut work, m * self.cells())?);
        let own = take(&mut work, m * gates)?;
        while !range.is_empty() {
            let step = flow.first_step(&range);
            range.start = step.end;
            let m = step.len();
            let (h, c) = (h.get_mut(..m * u)?, c.get_mut(..m * self.cells())?);
            self.before(flow, step.clone(), &Tape { y: y_all, gates: &[], extra: extra_all }, h, c)?;
            let made = Made {
                y: part_mut(y_all, &step, u)?,
                gates: part_mut(gates_all, &step, gates)?,
                extra: part_mut(extra_all, &step, self.extra())?,
            };
            self.advance(at, params, made, h, c, own.get_mut(..m * gates)?)?;
        }
        Some(())
    }

    #[allow(clippy::too_many_arguments)]
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
        let (u, gates, cells) = (self.units, self.gates(), self.cells());
        let (w, _, bias) = self.split(params)?;
        let m = y.len().checked_div(u)?;
        let (h, c) = (take(&mut work, m * u)?, take(&mut work, m * cells)?);
        let (own, to) = (take(&mut work, m * gates)?, take(&mut work, m * gates)?);
        let extra = take(&mut work, m * self.extra())?;
        for (row, h) in rows_mut(h, u).enumerate() {
            copy(state.get(row * width + offset..)?.get(..u)?, h)?;
        }
        for (row, c) in rows_mut(c, u).enumerate() {
            copy(state.get(row * width + offset + u..)?.get(..u)?, c)?;
        }
        at.call(Affine { x, rows: Flat(self.input), w, bias: self.added(bias), y: &mut *to, n: gates })?;
        self.advance(at, params, Made { y: &mut *y, gates: to, extra: &mut *extra }, h, c, own)?;
        for (row, y) in rows(y, u).enumerate() {
            copy(y, state.get_mut(row * width + offset..)?)?;
        }
        for (row, c) in rows(extra, u).enumerate().take(if cells > 0 { m } else { 0 }) {
            copy(c, state.get_mut(row * width + offset + u..)?)?;
        }
        Some(())
    }

    /// `back` holds the gradients from the next row of each sequence: outputs of all sequences, and then their cells.
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
        let (u, gates, cells, m) = (self.units, self.gates(), self.cells(), range.len());
        let (y_all, rest) = tape.split_at_checked(all * u)?;
        let (gates_all, extra_all) = rest.split_at_checked(all * gates)?;
        let tape = Tape { y: y_all, gates: gates_all, extra: extra_all };
        let (turned, turned_own) = turned.split_at_checked(self.input * gates)?;
        let (dh, dc) = back.split_at_mut_checked(flow.sequences * u)?;
        let (h, c) = (take(&mut work, m * u)?, take(&mut work, m * cells)?);
        let (d, back) = (take(&mut work, m * gates)?, take(&mut work, m * u)?);
        let own_gates = if self.cell == Cell::Gru { gates } else { 0 };
        let (d_own, room) = (take(&mut work, m * own_gates)?, take(&mut work, self.room_len())?);
        let (_, _, bias) = self.split(params)?;
        let (dw, dw_own, d_bias) = self.split_mut(grads)?;
        self.before(&flow, range.clone(), &tape, h, c)?;

        let (first, mut left) = (range.start, range);
        while !left.is_empty() {
            let step = flow.last_step(&left);
            left.end = step.start;
            let own = step.start - first..step.end - first;
            let begin = step.start.checked_rem(flow.sequences)?;
            let sequences = begin..begin + step.len();
            let (dh, dc) = (part_mut(dh, &sequences, u)?, part_mut(dc, &sequences, cells)?);
            let (d, d_own) = (part_mut(d, &own, gates)?, part_mut(d_own, &own, own_gates)?);
            at.call(Retreat {
                layer: self,
                learnt: Learnt { bias, d_bias: &mut *d_bias },
                room: &mut *room,
                made: Tape {
                    y: &[],
                    gates: part(tape.gates, &step, gates)?,
                    extra: part(tape.extra, &step, self.extra())?,
                },
                h: part(h, &own, u)?,
                c: part(c, &own, cells)?,
                dy: part(dy, &own, u)?,
                dh: &mut *dh,
                dc: &mut *dc,
                d: &mut *d,
                d_own: &mut *d_own,
            })?;
            // No gradients are computed for the state before the first step.
            if self.is_recurrent() && step.start >= flow.sequences {
                let (x, y) = (if self.cell == Cell::Gru { &*d_own } else { d }, part_mut(back, &own, u)?);
                at.call(Affine { x, rows: Flat(gates), w: turned_own, bias: None, y: &mut *y, n: u })?;
                dh.iter_mut().zip(y).for_each(|(dh, back)| *dh += *back);
            }
            self.cut_back(&flow, step, dh, dc);
        }

        self.add_gradients(at, [x, h], [d, d_own], (dw, dw_own, d_bias))?;
        if let Some(y) = dx {
            at.call(Affine { x: d, rows: Flat(gates), w: turned, bias: None, y, n: self.input })?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::cpu::Base;

    const X: [f32; 2] = [1.0, -1.0];

    /// Weights of X and of the previous output, as two columns and one, for this many gates.
    fn weights(gates: usize) -> Vec<f32> {
        let columns: [[f32; 4]; 3] = [[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8], [-0.3, 0.2, 0.1, -0.4]];
        columns.iter().flat_map(|column| &column[..gates]).copied().collect()
    }

    /// One step of one unit from the state `[h, c]`: the new state; and the gradients of the parameters, of the input and of
    /// the state, from those of the output and of an LSTM's cell.
    fn step(layer: Recurrent, params: &[f32], x: &[f32], state: [f32; 2], d: [f32; 2]) -> ([f32; 2], [Vec<f32>; 3]) {
        let flow = Flow { sequences: 1, cut: &[1, 0], state: &[0.0; 4], width: 2, offset: 0 };
        // The previous row holds the state.
        let (gates, extra) = (layer.gates(), layer.extra());
        let mut tape = vec![0.0; 2 * (1 + gates + extra)];
        tape[0] = state[0];
        if extra > 0 {
            tape[2 * (1 + gates)] = state[1];
        }
        let mut work = vec![f32::NAN; layer.work_len(1)];
        layer.go_forward(Base, params, x, 2, &mut tape, 1..2, &flow, &mut work).unwrap();
        let (mut grads, mut dx, mut turned) =
            (vec![0.0; params.len()], vec![0.0; x.len()], vec![0.0; layer.turned_len()]);
        layer.turn(params, &mut turned).unwrap();
        let mut d_state = vec![0.0, d[1]];
        d_state.truncate(layer.state_len());
        let (dy, to) = (&d[..1], Some(&mut dx[..]));
        let taped = Taped { params, turned: &turned, x, dy, all: 2, range: 1..2, tape: &tape, flow };
        layer.go_back(Base, taped, &mut d_state, &mut grads, to, &mut work).unwrap();
        ([tape[1], tape.get(2 * (1 + gates) + 1).copied().unwrap_or(0.0)], [grads, dx, d_state])
    }

    fn near(got: &[f32], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        assert!(got.iter().zip(want).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-7), "{got:?} {want:?}");
    }

    /// Expected values from PyTorch.
    #[test]
    fn cells_are_those_of_other_libraries() {
        let lstm = Recurrent { cell: Cell::Lstm, input: 2, units: 1, forget_one: false, normalises: false };
        let params = [weights(4), vec![0.01, 0.02, 0.03, 0.04]].concat();
        // Loss h' + c' / 2.
        let (made, [grads, dx, d_state]) = step(lstm, &params, &X, [0.2, 0.5], [1.0, 0.5]);
        near(&made, &[0.1703627245476755, 0.4659067941826593]);
        let b = [0.15198646036973062, 0.08939905321821197, 0.12377233806359234, 0.10362466570870452];
        near(&grads, &[b, b.map(|x| -x), b.map(|x| 0.2 * x), b].concat());
        near(&dx, &[0.07590040309589018, 0.12589175803824149]);
        near(&d_state, &[-0.056788759944399365, 0.2641051710860528]);

        let gru = Recurrent { cell: Cell::Gru, ..lstm };
        let params = [weights(3), vec![0.05, 0.07, 0.03, 0.06]].concat();
        let (made, [grads, dx, d_state]) = step(gru, &params, &X, [0.2, 0.0], [1.0, 0.0]);
        near(&made[..1], &[0.5905196191960178]);
        let b = [0.004874689000352124, -0.1304464685637547, 0.254121683221866];
        let own = [0.0009749378000704249, -0.02608929371275094, 0.020274443936931442];
        near(&grads, &[&b[..], &b.map(|x| -x), &own, &b, &[0.1013722196846572]].concat());
        near(&dx, &[0.10281326757934595, -0.25371571489338296]);
        near(&d_state, &[0.31661859480378884]);

        let min = Recurrent { cell: Cell::MinGru, input: 1, ..lstm };
        let cases = [
            ([0.3, 0.4], 0.2, 0.6021097617681614, [0.17112081818352207, 0.574442516811659], 0.42555748318834097),
            ([-1.2, -0.6], 0.7, 0.6199891316814541, [-0.06149033525207886, 0.052957881591717555], 0.7685247834990176),
        ];
        for (gates, h, want, d_gates, d_h) in cases {
            let params = [&gates[..], &[0.0; 2]].concat();
            let (made, [grads, _, d_state]) = step(min, &params, &[1.0], [h, 0.0], [1.0, 0.0]);
            near(&made[..1], &[want]);
            near(&grads, &[d_gates, d_gates].concat());
            near(&d_state, &[d_h]);
        }
    }
}
