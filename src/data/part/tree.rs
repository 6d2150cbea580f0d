//! Tree of weights for drawing items in proportion: nodes of 16 weights, one cache line each, and above them the sum of every
//! node in f64.
//!
//! A sum is always recomputed from the 16 numbers below it, in a fixed order, never by adding differences: after any number of
//! updates it has the same bits as in a new tree of the same weights. Weights are f32; the error of an f64 sum of up to 2^32 of
//! them is below the resolution of any test of frequencies.
//!
//! ```
//! use rlcore::block::{Cutter, Plan};
//! use rlcore::data::sum_tree::{SumTree, spans};
//!
//! # fn main() -> rlcore::error::Result {
//! let mut plan = Plan::default();
//! let spans = spans(&mut plan, 1000)?;
//! let mut block = vec![0u64; plan.size()? / 8];
//! let mut tree = SumTree::take(&mut Cutter::new(bytemuck::cast_slice_mut(&mut block)), &spans, 1000)?;
//! tree.clear();
//!
//! tree.set(&[7, 500], &[1.0, 3.0])?;
//! let (mut mass, mut slot) = ([0.5, 1.5, 3.9], [0; 3]);
//! tree.view().find(&mut mass, &mut slot)?;
//! assert_eq!(slot, [7, 500, 500]);
//! assert_eq!((tree.view().total(), tree.view().min()), (4.0, 1.0));
//! # Ok(())
//! # }
//! ```

use crate::block::{self, Cutter, Field, Fit, Plan, TooLong, fields};
use crate::cpu::{self, Kernel, snapshot};
use crate::error::{Error, Kind, Result, check_len};
use crate::num;

/// Children of a node.
pub const WIDTH: usize = 16;

/// Children summed side by side.
const LANES: usize = 4;

/// Most levels of sums, enough for 2^32 weights.
const MAX_DEPTH: usize = 8;

/// Items that go down or up the tree together, so that their cache misses overlap.
const DOWN: usize = 32;
const UP: usize = 256;

/// Starts of the levels of sums, counted in nodes. Level 0 has an entry for each node of weights, and each further level one for
/// each node of the level below, up to the level whose only entry is the sum of all weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    start: [usize; MAX_DEPTH],
    depth: usize,
    /// Nodes of all levels.
    nodes: usize,
}

impl Levels {
    fn of(len: usize) -> Levels {
        let mut levels = Levels { start: [0; MAX_DEPTH], depth: 0, nodes: 0 };
        let mut entries = len.div_ceil(WIDTH);
        for start in &mut levels.start {
            *start = levels.nodes;
            let nodes = entries.div_ceil(WIDTH);
            levels.nodes = levels.nodes.saturating_add(nodes);
            levels.depth = levels.depth.wrapping_add(1);
            if entries <= 1 {
                break;
            }
            entries = nodes;
        }
        levels
    }

    /// Start of each level, lowest first.
    #[inline(always)]
    fn starts(&self) -> &[usize] {
        self.start.get(..self.depth).unwrap_or(&[])
    }
}

fields! {
    /// Places of the parts of a tree in a block.
    pub spans Spans(len: usize, nodes: usize) {
        /// A weight for each item, padded with 0 to the next multiple of 16.
        pub weights: [[f32; WIDTH]] = len.div_ceil(WIDTH),
        /// Sums of nodes, level after level.
        pub sums: [[f64; WIDTH]] = nodes,
        /// Sum of the children before each child in a node of sums, so that a mass finds its child by comparisons alone; 0 in the
        /// root.
        pub begins: [[f64; WIDTH]] = nodes,
        /// Smallest weight above 0 of each node, infinite where there is none; laid out as the sums.
        pub mins: [[f32; WIDTH]] = nodes,
        /// 1 for nodes that an update has touched; all 0 between calls.
        pub marks: [[u8; WIDTH]] = nodes,
    }
    /// A tree in a block, for writing.
    #[derive(Debug, Default)]
    pub write SumTree { len: usize, levels: Levels }
    /// A tree, for drawing by any number of threads.
    #[derive(Clone, Copy, Debug, Default)]
    pub read View { levels: Levels }
}
/// Plans a tree of `len` weights as the next parts of a block. Errors for more than 2^32 weights, or none.
pub fn spans(plan: &mut Plan, len: usize) -> core::result::Result<Spans, TooLong> {
    if len == 0 || u32::try_from(len.wrapping_sub(1)).is_err() {
        return Err(TooLong);
    }
    Spans::plan(plan, len, Levels::of(len).nodes)
}

impl<'a> SumTree<'a> {
    /// Takes a tree of `len` weights out of a block. In a new block, call [`SumTree::clear`] next.
    pub fn take(cut: &mut Cutter<'a>, spans: &Spans, len: usize) -> Fit<Self> {
        Self::cut(cut, spans, len, Levels::of(len))
    }

    /// Sets all weights to 0.
    pub fn clear(&mut self) {
        self.weights.fill([0.0; WIDTH]);
        self.sums.fill([0.0; WIDTH]);
        self.begins.fill([0.0; WIDTH]);
        self.mins.fill([f32::INFINITY; WIDTH]);
        self.marks.fill([0; WIDTH]);
    }

    /// The same tree, for drawing.
    pub fn view(&self) -> View<'_> {
        self.read(self.levels)
    }

    /// Sets the weights of items; of repeated items the last weight counts. Each touched node is summed once per 256 items.
    ///
    /// Errors: `Shape`; `Range` for an item that is not below the tree's length, or a negative weight; `Value` for a weight
    /// that is not finite. Nothing is written then.
    pub fn set(&mut self, slots: &[u32], weights: &[f32]) -> Result {
        check_len("sum_tree: as many weights as items,", weights, slots.len())?;
        if let Some(slot) = slots.iter().find(|&&slot| slot as usize >= self.len) {
            let what = "sum_tree: an item below";
            return Err(Error::limit(Kind::Range, what, self.len, *slot as usize));
        }
        if let Some(weight) = weights.iter().find(|weight| !(**weight >= 0.0 && **weight < f32::INFINITY)) {
            return Err(if weight.is_finite() {
                Error::new(Kind::Range, "sum_tree: a weight of at least 0").given_f32(*weight)
            } else {
                Error::new(Kind::Value, "sum_tree: a finite weight").given_f32(*weight)
            });
        }
        self.set_checked(slots, weights);
        Ok(())
    }

    /// [`SumTree::set`] of items below the length and of finite weights that are not negative.
    pub(crate) fn set_checked(&mut self, slots: &[u32], weights: &[f32]) {
        let (mut slots, mut weights) = (slots, weights);
        while !slots.is_empty() {
            let some = slots.len().min(weights.len()).min(UP);
            let Some(((now, later), (w_now, w_later))) =
                slots.split_at_checked(some).zip(weights.split_at_checked(some))
            else {
                return;
            };
            if some == 0 {
                return;
            }
            cpu::dispatch(Raise { tree: self, slots: now, weights: w_now });
            (slots, weights) = (later, w_later);
        }
    }

    /// Refuses contents that no sequence of calls can produce. Errors: `Image`.
    pub fn check_image(&self) -> Result {
        self.view().check_image(self.len)
    }
}

/// A tree as a field of a block; its length is the number of weights.
pub struct Weights;

impl Field for Weights {
    type Len<'a> = usize;
    type Span = Spans;
    type Mut<'a> = SumTree<'a>;
    type Ref<'a> = View<'a>;

    fn plan(plan: &mut Plan, len: usize) -> core::result::Result<Spans, TooLong> {
        spans(plan, len)
    }

    fn cut<'a, const ALL: bool>(cut: &mut Cutter<'a>, spans: &Spans) -> Fit<SumTree<'a>> {
        SumTree::take(cut, spans, spans.weights.len().saturating_mul(WIDTH))
    }

    fn view<'a>(block: &'a [u8], spans: &Spans) -> Fit<View<'a>> {
        View::open(block, spans, spans.weights.len().saturating_mul(WIDTH))
    }

    fn read<'a>(field: &'a SumTree<'_>) -> View<'a> {
        field.view()
    }
}

fn same_bits(a: &[f64; WIDTH], b: &[f64; WIDTH]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Sum and minimum of a node without weights above 0.
const NOTHING: (f64, f32) = (0.0, f32::INFINITY);

/// Exclusive prefix sums of 16 numbers, and their total. The order is lane by lane: 0, 4, 8, 12, then 1, 5, 9, 13, and so on. In
/// this order the prefix sums never fall, and do not change behind a 0, whatever is rounded: the sum within a lane is added to
/// the sum of the lanes before it.
#[inline(always)]
fn before(x: &[f64; WIDTH]) -> ([f64; WIDTH], f64) {
    let one = rows(x);
    let two = add(one[0], one[1]);
    let three = add(two, one[2]);
    let [a, b, c, d] = add(three, one[3]);
    let starts = [0.0, a, a + b, (a + b) + c];
    let mut before = [0.0; WIDTH];
    let all = [starts, add(starts, one[0]), add(starts, two), add(starts, three)];
    block::copy(&mut before, all.as_flattened());
    (before, ((a + b) + c) + d)
}

#[inline(always)]
fn rows(x: &[f64; WIDTH]) -> [[f64; LANES]; WIDTH / LANES] {
    let mut rows = [[0.0; LANES]; WIDTH / LANES];
    block::copy(rows.as_flattened_mut(), x);
    rows
}

#[inline(always)]
fn add(a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

/// The child at a position in the order of [`before`]: the position's four bits, rotated by two.
#[inline(always)]
fn place(visited: usize) -> usize {
    visited.wrapping_mul(LANES).wrapping_add(visited / LANES) % WIDTH
}

/// The last child, in the order of [`before`], that begins at or before `mass`, and the rest of the mass within it.
#[inline(always)]
fn child(before: &[f64; WIDTH], mass: f64) -> (usize, f64) {
    // Counts sign bits, not comparisons, which compilers take apart one by one.
    let mut behind = 0u64;
    for before in before {
        behind += (mass - before).to_bits() >> 63;
    }
    let begun = (WIDTH as u64).wrapping_sub(behind);
    let place = place((begun as usize).wrapping_sub(1));
    (place, mass - before[place])
}

#[inline(always)]
fn widened(x: &[f32; WIDTH]) -> [f64; WIDTH] {
    let mut wide = [0.0; WIDTH];
    for i in 0..WIDTH {
        wide[i] = x[i].into();
    }
    wide
}

/// The smallest of 16.
#[inline(always)]
fn least(x: &[f32; WIDTH]) -> f32 {
    let mut lanes = [f32::INFINITY; LANES];
    for row in x.as_chunks::<LANES>().0 {
        for (lane, x) in lanes.iter_mut().zip(row) {
            *lane = num::min(*x, *lane);
        }
    }
    let [a, b, c, d] = lanes;
    num::min(num::min(a, b), num::min(c, d))
}

/// Sum and smallest weight above 0.
#[inline(always)]
fn sum_weights(x: &[f32; WIDTH]) -> (f64, f32) {
    let mut above_0 = *x;
    for x in &mut above_0 {
        *x = if *x > 0.0 { *x } else { f32::INFINITY };
    }
    (before(&widened(x)).1, least(&above_0))
}

impl View<'_> {
    /// The tree of `len` weights in a block, for drawing.
    pub fn open<'a>(block: &'a [u8], spans: &Spans, len: usize) -> Fit<View<'a>> {
        View::of(block, spans, Levels::of(len))
    }

    /// Refuses contents of a tree of `len` weights that no sequence of calls can produce. Errors: `Image`.
    pub fn check_image(&self, len: usize) -> Result {
        let damaged = |what| Error::new(Kind::Image, what);
        for (i, weight) in self.weights.as_flattened().iter().enumerate() {
            let allowed = *weight >= 0.0 && *weight < f32::INFINITY && weight.is_sign_positive();
            let what = "sum_tree: weights that are finite, not negative, and 0 behind the last item";
            damaged(what).fail_if(!allowed || i >= len && weight.to_bits() != 0)?;
        }
        let what = "sum_tree: no node of an update that did not end";
        damaged(what).fail_if(self.marks.as_flattened().iter().any(|&mark| mark != 0))?;
        let damaged = damaged("sum_tree: sums that are those of the weights");
        let mut below: Option<usize> = None;
        for (i, &start) in self.levels.starts().iter().enumerate() {
            let end = self.levels.starts().get(i.wrapping_add(1)).copied().unwrap_or(self.levels.nodes);
            let entries = start.saturating_mul(WIDTH)..end.saturating_mul(WIDTH);
            for (node, at) in entries.enumerate() {
                let (sum, min) = match below {
                    None => self.weights.get(node).map_or(NOTHING, sum_weights),
                    Some(below) if below.saturating_add(node) < start => {
                        let node = below.saturating_add(node);
                        let (Some(sums), Some(mins)) = (self.sums.get(node), self.mins.get(node)) else {
                            return Err(damaged);
                        };
                        let (before, sum) = before(sums);
                        damaged.fail_if(self.begins.get(node).is_none_or(|begins| !same_bits(begins, &before)))?;
                        (sum, least(mins))
                    }
                    Some(_) => NOTHING,
                };
                let has_sum = self.sums.as_flattened().get(at).copied().unwrap_or(f64::NAN);
                let has_min = self.mins.as_flattened().get(at).copied().unwrap_or(f32::NAN);
                damaged.fail_if(sum.to_bits() != has_sum.to_bits() || min.to_bits() != has_min.to_bits())?;
            }
            below = Some(start);
        }
        damaged.fail_if(self.begins.last().is_none_or(|root| !same_bits(root, &[0.0; WIDTH])))
    }

    /// Number of weights, including the padding at the end.
    #[cfg(feature = "off_policy")]
    pub(crate) fn len(&self) -> usize {
        self.weights.as_flattened().len()
    }

    /// Sum of all weights.
    pub fn total(&self) -> f64 {
        self.sums.last().map_or(0.0, |root| snapshot(&root[0]))
    }

    /// Smallest weight above 0; infinite if there is none.
    pub fn min(&self) -> f32 {
        self.mins.last().map_or(f32::INFINITY, |root| snapshot(&root[0]))
    }

    /// Weight of an item; 0 if there is no such item.
    pub fn weight(&self, slot: usize) -> f32 {
        self.weights.as_flattened().get(slot).map_or(0.0, snapshot)
    }

    /// Finds the item on which each mass falls, with the weights laid side by side from 0 to [`View::total`] in the tree's own
    /// order: uniform masses draw items in proportion to their weights. A mass of the total or more falls on the last item with a
    /// weight above 0; no mass falls on an item without. The masses are overwritten.
    ///
    /// Errors: `Shape`; `NotReady` if all weights are 0. Nothing is written then.
    pub fn find(&self, mass: &mut [f64], slots: &mut [u32]) -> Result {
        check_len("sum_tree: as many items as masses,", slots, mass.len())?;
        Error::new(Kind::NotReady, "sum_tree: an item of a weight above 0").fail_if(self.total() <= 0.0)?;
        self.descend(mass, slots);
        Ok(())
    }

    /// [`View::find`] without checks, for as many items as masses; if a concurrent writer leaves no weight above 0, it finds any
    /// item.
    pub(crate) fn descend(&self, mass: &mut [f64], slots: &mut [u32]) {
        cpu::dispatch(Descend { tree: *self, mass, slots });
    }

    /// The item for a mass that rounding has moved past the last weight above 0 of some node: the item of that weight. Only then
    /// has the descent reached a sum of 0, by the last child of each node, whether anything lies below it or not.
    #[cold]
    #[inline(never)]
    fn nearest(&self, slot: u32) -> u32 {
        let (mut at, mut lost) = (0u32, false);
        let levels = self.levels.starts();
        for level in (0..levels.len()).rev() {
            let sums = match level.checked_sub(1).and_then(|below| levels.get(below)) {
                Some(start) => self.sums.get(start.saturating_add(at as usize)).copied(),
                None => self.weights.get(at as usize).map(widened),
            };
            let sums = sums.unwrap_or([0.0; WIDTH]);
            let mut child = slot.checked_shr(4 * level as u32).unwrap_or(0) % WIDTH as u32;
            lost |= sums.get(child as usize).is_none_or(|sum| *sum <= 0.0);
            if lost {
                let above_0 = |child: &usize| sums.get(*child).is_some_and(|sum| *sum > 0.0);
                child = (0..WIDTH).map(place).rfind(above_0).unwrap_or(0) as u32;
            }
            at = at << 4 | child;
        }
        at
    }
}

/// Moves many masses down the tree, level by level.
struct Descend<'t, 'a> {
    tree: View<'t>,
    mass: &'a mut [f64],
    slots: &'a mut [u32],
}

impl Kernel for Descend<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Descend { tree, mass, slots } = self;
        // The highest level is the sum of all weights, without a choice of children.
        let levels = tree.levels.starts();
        let levels = levels.split_last().map_or(&[] as &[usize], |(_, levels)| levels);
        let (mut mass, mut slots) = (mass, slots);
        while !mass.is_empty() {
            let some = mass.len().min(slots.len()).min(DOWN);
            let (Some((now, later)), Some((slots_now, slots_later))) =
                (mass.split_at_mut_checked(some), slots.split_at_mut_checked(some))
            else {
                return;
            };
            if some == 0 {
                return;
            }
            slots_now.fill(0);
            for (i, &start) in levels.iter().enumerate().rev() {
                let Some(level) = tree.begins.get(start..) else { return };
                for (mass, slot) in now.iter_mut().zip(slots_now.iter_mut()) {
                    let (place, rest) = match level.get(*slot as usize) {
                        Some(node) => child(node, *mass),
                        // Below a sum of 0, any child will do.
                        None => (0, *mass),
                    };
                    (*slot, *mass) = (*slot << 4 | place as u32, rest);
                    if i == 0 {
                        cpu::prefetch(tree.weights, *slot as usize);
                    }
                }
            }
            for (mass, slot) in now.iter().zip(slots_now.iter_mut()) {
                let (place, weight) = match tree.weights.get(*slot as usize) {
                    Some(node) => {
                        let (place, _) = child(&before(&widened(node)).0, *mass);
                        (place, node[place])
                    }
                    None => (0, 0.0),
                };
                *slot = *slot << 4 | place as u32;
                if weight <= 0.0 {
                    *slot = tree.nearest(*slot);
                }
            }
            (mass, slots) = (later, slots_later);
        }
    }
}

/// Writes at most [`UP`] weights, and sums the nodes above them level by level, each once.
struct Raise<'a, 'b> {
    tree: &'b mut SumTree<'a>,
    slots: &'b [u32],
    weights: &'b [f32],
}

impl Kernel for Raise<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Raise { tree, slots, weights } = self;
        let SumTree { levels, weights: all, sums, begins, mins, marks, .. } = tree;
        let marks = marks.as_flattened_mut();
        for &slot in slots {
            cpu::prefetch(all, slot as usize / WIDTH);
        }
        let mut nodes = [0u32; UP];
        let mut count = 0usize;
        // A node is listed when it is first marked.
        for (&slot, &weight) in slots.iter().zip(weights) {
            if let Some(at) = all.as_flattened_mut().get_mut(slot as usize) {
                *at = weight;
            }
            note(marks, 0, slot >> 4, &mut nodes, &mut count);
        }
        let mut below: Option<usize> = None;
        for (i, &start) in levels.starts().iter().enumerate() {
            let Some(touched) = nodes.get(..count) else { return };
            for &node in touched {
                let (sum, min) = match below {
                    None => match all.get(node as usize) {
                        Some(weights) => sum_weights(weights),
                        None => NOTHING,
                    },
                    Some(below) => {
                        let node = below.wrapping_add(node as usize);
                        let (Some(sums), Some(mins), Some(begins)) =
                            (sums.get(node), mins.get(node), begins.get_mut(node))
                        else {
                            return;
                        };
                        let sum;
                        (*begins, sum) = before(sums);
                        (sum, least(mins))
                    }
                };
                let at = start.wrapping_mul(WIDTH).wrapping_add(node as usize);
                let (sums, mins) = (sums.as_flattened_mut(), mins.as_flattened_mut());
                let (Some(to), Some(to_min), Some(mark)) = (sums.get_mut(at), mins.get_mut(at), marks.get_mut(at))
                else {
                    return;
                };
                (*to, *to_min, *mark) = (sum, min, 0);
            }
            let Some(&above) = levels.starts().get(i.wrapping_add(1)) else { return };
            let left = count;
            count = 0;
            for i in 0..left {
                let Some(&node) = nodes.get(i) else { return };
                note(marks, above, node >> 4, &mut nodes, &mut count);
            }
            below = Some(start);
        }
    }
}

#[inline(always)]
fn note(marks: &mut [u8], start: usize, node: u32, nodes: &mut [u32; UP], count: &mut usize) {
    nodes[*count % UP] = node;
    if let Some(mark) = marks.get_mut(start.wrapping_mul(WIDTH).wrapping_add(node as usize)) {
        *count = count.wrapping_add(usize::from(*mark == 0));
        *mark = 1;
    }
}
