//! Compilation of a list of layers to nodes.

use super::activation::Activation;
use super::initializer::Initializer;
use super::layer::{HEAD, INPUT, Layer, MAX_HEADS, MAX_LAYERS};
use super::node::{ADDS, BACKWARD_ROWS, KEPT, NOTHING, Node, SYMBOLS};
use super::prim::Most;
use crate::error::{Error, Kind, Result};

/// Error of a kernel for mismatched lengths; the checks before it exclude that.
pub(super) const MISFIT: Error = Error::new(Kind::Shape, "net: arrays as the layers say");

pub(super) const TOO_LARGE: Error = Error::new(Kind::Overflow, "net: layers whose products fit the address space");

/// Maximum number of f32 elements in an array.
const MOST: u64 = (isize::MAX as usize / size_of::<f32>()) as u64;

/// Product of the lengths of a shape, each at least 1.
fn fits(lens: &[u32; 3]) -> Result<u64> {
    product(&lens.map(u64::from))
}

/// Product of lengths. Errors: `Overflow` if no array can be that long.
#[inline(never)]
pub(super) fn product(lens: &[u64]) -> Result<u64> {
    let product = lens.iter().try_fold(1u64, |all, len| all.checked_mul(*len));
    product.filter(|all| *all <= MOST).ok_or(TOO_LARGE)
}

/// Checks that the parts of an input, if any, make up its whole row.
fn check_parts(parts: &[[u32; 3]], row: u64) -> Result {
    if parts.is_empty() {
        return Ok(());
    }
    if !cfg!(feature = "residual") {
        return Err(Error::new(Kind::Config, "net: an input of one part in this build, parts").given(parts.len()));
    }
    let mut sum = 0u64;
    for part in parts {
        sum = sum.saturating_add(fits(part)?);
    }
    if sum == row && !parts.as_flattened().contains(&0) {
        return Ok(());
    }
    Err(Error::new(Kind::Config, "net: parts of the input with as many numbers as it has,")
        .needed(row as usize)
        .given(sum as usize))
}

/// Part `k` of the input, counted from 1, and the index of its first element.
fn part(parts: &[[u32; 3]], k: u32) -> Option<([u32; 3], u32)> {
    if !cfg!(feature = "residual") {
        return None;
    }
    let (before, rest) = parts.split_at_checked((k as usize).wrapping_sub(1))?;
    let numbers = |part: &[u32; 3]| fits(part).unwrap_or(0) as u32;
    Some((*rest.first()?, before.iter().fold(0, |all, part| all.saturating_add(numbers(part)))))
}

/// Implementation of [`super::Net::compile_parts`].
pub(super) fn compile<'n>(
    layers: &[Layer],
    input: [usize; 3],
    parts: &[[u32; 3]],
    nodes: &'n mut [Node],
) -> Result<&'n [Node]> {
    if layers.is_empty() || layers.len() > MAX_LAYERS {
        let what = "net: layers, at least 1 and at most";
        return Err(Error::new(Kind::Config, what).needed(MAX_LAYERS).given(layers.len()));
    }
    let too_few = Error::new(Kind::Size, "net: nodes, at least").needed(layers.len()).given(nodes.len());
    let nodes = nodes.get_mut(..layers.len()).ok_or(too_few)?;
    let mut picture = [0; 3];
    for (to, from) in picture.iter_mut().zip(input) {
        *to = u32::try_from(from).map_err(|_| TOO_LARGE)?;
        if *to == 0 {
            return Err(Error::new(Kind::Config, "net: an input of at least").needed(1).given(from));
        }
    }
    let row = fits(&picture)?;
    check_parts(parts, row)?;
    let mut next = Totals::default();
    // Every length of a network is at most this sum, so none overflows.
    let mut sum = 0u64;
    let mut head = 0u32;
    let num_heads = layers.iter().filter(|layer| layer.flags & HEAD != 0).count();
    Error::limit(Kind::Config, "net: heads, at most", MAX_HEADS, num_heads).fail_if(num_heads > MAX_HEADS)?;
    for (i, layer) in layers.iter().enumerate() {
        let (done, rest) = nodes.split_at_mut_checked(i).ok_or(MISFIT)?;
        let node = rest.first_mut().ok_or(MISFIT)?;
        node.set(layer, i, picture, parts, done)?;
        node.row = u32::try_from(row).map_err(|_| TOO_LARGE)?;
        if node.is_head() {
            head = if head == 0 { 1 } else { head << 1 };
            node.heads = head;
        } else if node.is_free() {
            node.heads = head;
        }
        sum = sum.saturating_add(node.most()?);
        if sum > MOST {
            return Err(TOO_LARGE);
        }
        next.put(node);
    }
    link(nodes)?;
    let reads_symbols = nodes.iter().any(Node::reads_symbols);
    nodes.iter_mut().take(usize::from(reads_symbols)).for_each(|first| first.flags |= SYMBOLS);
    Ok(nodes)
}

impl Node {
    /// Compiles layer `i`, which follows the layers `done`, except for its offsets and the heads that depend on it.
    fn set(&mut self, layer: &Layer, i: usize, input: [u32; 3], parts: &[[u32; 3]], done: &[Node]) -> Result {
        let number = i + 1;
        layer.check(number)?;
        let node = self;
        *node = Node {
            from: [NOTHING; 2],
            kind: layer.kind,
            activation: layer.activation,
            flags: layer.flags,
            output: [1, 1, layer.units],
            num_heads: layer.heads,
            window: layer.window,
            symbols: layer.symbols,
            initializer: layer.initializer,
            gain: layer.gain,
            role: layer.role,
            ..Node::default()
        };
        if node.is_free() {
            if done.iter().any(Node::is_head) {
                return Ok(());
            }
            return Err(Error::new(Kind::Config, "net: a head before free numbers, which are layer").needed(number));
        }
        node.connect(layer, i, input, parts, done)?;
        node.kind().set_shape(node, layer, number)?;
        node.gain = match (layer.gain, node.activation()) {
            (0.0, _) if node.is_sequential() || layer.initializer != Initializer::Orthogonal as u32 => 1.0,
            (0.0, Activation::Identity) => 1.0,
            (0.0, _) => core::f32::consts::SQRT_2,
            (gain, _) => gain,
        };
        let goes_out = node.is_head() && node.activation() == Activation::Identity;
        if !goes_out {
            node.flags |= KEPT;
        }
        Ok(())
    }

    /// Sets the sources, and the shapes that are read from them.
    fn connect(&mut self, layer: &Layer, i: usize, input: [u32; 3], parts: &[[u32; 3]], done: &[Node]) -> Result {
        let num_sources = self.kind().reads().sources;
        let sources = self.from.iter_mut().zip(&mut self.input).zip(&mut self.begin).zip(layer.source);
        for (((from, read), begin), source) in sources.take(num_sources) {
            *from = match source {
                0 => i as u32,
                INPUT => 0,
                k => k,
            };
            let refused = |what| Error::new(Kind::Config, what).needed(i + 1).given(source as usize);
            if *from & INPUT != 0 {
                let missing = refused("net: a source with a part that the input has, counted from 1, in layer");
                (*read, *begin) = part(parts, *from & !INPUT).ok_or(missing)?;
                continue;
            }
            *read = match (*from as usize).checked_sub(1) {
                None => input,
                Some(k) => {
                    let source =
                        done.get(k).ok_or(refused("net: a source with the input or a layer before it in layer"))?;
                    if source.is_head() || source.is_free() {
                        return Err(refused("net: a source without a head or free numbers in layer"));
                    }
                    source.output
                }
            };
        }
        Ok(())
    }

    /// The layer of a node, with every default filled in.
    pub(super) fn layer(&self) -> Layer {
        let source = self.from.map(|from| match from {
            NOTHING => 0,
            0 => INPUT,
            from => from,
        });
        let mut layer = Layer {
            kind: self.kind,
            source,
            units: if self.kind().reads().units { self.output[2] } else { 0 },
            activation: self.activation,
            flags: self.flags & !(ADDS | KEPT | SYMBOLS),
            size: self.size,
            stride: self.stride,
            same: self.same,
            heads: self.num_heads,
            window: self.window,
            symbols: self.symbols,
            initializer: self.initializer,
            gain: self.gain,
            role: self.role,
        };
        self.kind().describe(self, &mut layer);
        layer
    }

    /// Upper bound of the length of any array that is stored or computed for the node. Errors: `Overflow`.
    fn most(&self) -> Result<u64> {
        let read = fits(&self.input[0])?.saturating_add(self.input(1) as u64);
        let Most { weights, padded, row } = self.kind().most(self, read, fits(&self.output)?)?;
        let rows = row.saturating_mul(4 * BACKWARD_ROWS as u64);
        Ok(padded.saturating_add(weights.saturating_mul(2)).saturating_add(rows))
    }
}

/// Offsets of the next node.
#[derive(Default)]
struct Totals {
    params: usize,
    tape: usize,
    turned: [usize; 2],
    state: usize,
    back: usize,
}

impl Totals {
    fn put(&mut self, node: &mut Node) {
        (node.params, node.tape) = (self.params as u64, self.tape as u64);
        (node.state, node.back) = (self.state as u64, self.back as u64);
        let [state, memo, back] = node.remembers();
        (self.params, self.tape) = (node.params().end, self.tape + node.kept() + memo);
        (self.state, self.back) = (self.state + state, self.back + back);
        if let Some(turned) = self.turned.get_mut(usize::from(node.turns_late())) {
            node.turned = *turned as u64;
            *turned = node.turned(0).end;
        }
    }
}

/// Sets the heads that depend on each node and assigns places in working memory: values that are live at the same time share
/// none.
fn link(nodes: &mut [Node]) -> Result {
    // Last layer that reads each value, counted from 1: the last use in the forward pass, the first gradient in the backward
    // pass.
    let mut last = [0u8; MAX_LAYERS + 1];
    for i in (0..nodes.len()).rev() {
        let Some(&node) = nodes.get(i) else { continue };
        if node.heads == 0 {
            return Err(Error::new(Kind::Config, "net: a head that depends on layer").needed(i + 1));
        }
        for from in node.from {
            let Some(last) = last.get_mut(from as usize) else { continue };
            if *last == 0 {
                *last = (i + 1) as u8;
            } else if let Some(node) = nodes.get_mut(i) {
                node.flags |= ADDS;
            }
            if let Some(source) = nodes.get_mut((from as usize).wrapping_sub(1)) {
                source.heads |= node.heads;
            }
        }
    }
    for i in 0..nodes.len() {
        let Some((done, [node, ..])) = nodes.split_at_mut_checked(i) else { continue };
        let width = node.kept() as u64;
        let mut place = 0;
        let mut taken = || {
            let held = done.iter().zip(last.iter().skip(1)).filter(|(_, last)| usize::from(**last) > i).map(|(n, _)| n);
            let (from, to) = (place, place + width);
            let hit = held.map(|n| (n.place, n.place + n.kept() as u64)).find(|n| n.0 < to && from < n.1);
            hit.map(|n| place = n.1).is_some()
        };
        while taken() {}
        node.place = place;
        node.width = done.last().map_or(0, |n| n.width).max(place + width);
    }
    Ok(())
}
