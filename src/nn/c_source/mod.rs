//! Networks as text of C: the operations of the library in its order, so that results are the same bits.

mod part;
mod text;

pub use part::Part;
pub use text::{Arg, Text};

use super::activation::Activation;
use super::compile::MISFIT;
use super::layer::BYTES;
use super::matmul::LANES;
use super::net::{ALL, Net};
use super::node::Node;
#[cfg(feature = "pictures")]
use super::prim::Frame;
#[cfg(feature = "residual")]
use super::prim::MergeOp;
#[cfg(feature = "recurrent")]
use super::prim::{Cell, Sequential};
use super::prim::{LayerKind, Local, Op};
use crate::error::Result;

/// Where a network reads its input, and where its first head goes.
#[derive(Clone, Copy)]
pub struct Names {
    /// The row that layers read.
    pub row: &'static str,
    /// Whether it has bytes, which layers divide by 255.
    pub is_bytes: bool,
    pub head: &'static str,
}

const NULL: Arg<'static> = Arg::Code("NULL");

/// Layers with a value, with their numbers, counted from 1.
fn layers<'n>(net: &Net<'n>) -> impl Iterator<Item = (usize, &'n Node)> + use<'n> {
    net.nodes().iter().enumerate().filter(|(_, node)| node.runs(ALL)).map(|(i, node)| (i.saturating_add(1), node))
}

/// Numbers of the values that layers keep for others.
pub fn values_len(net: &Net<'_>) -> usize {
    net.nodes().last().map_or(0, |node| node.width as usize)
}

/// Numbers of working memory.
pub fn work_len(net: &Net<'_>) -> usize {
    layers(net).map(|(_, node)| own_work(node)).fold(0, usize::max)
}

fn own_work(node: &Node) -> usize {
    match node.op() {
        #[cfg(feature = "recurrent")]
        Op::Sequential(Sequential::Recurrent(cell)) => cell.units.saturating_mul(match cell.cell {
            Cell::Lstm => 8,
            Cell::Gru => 6,
            Cell::MinGru => 2,
        }),
        #[cfg(feature = "attention")]
        Op::Sequential(Sequential::Attention(of)) => {
            let pairs = of.window.saturating_mul(2).saturating_add(3).saturating_mul(of.units);
            pairs.saturating_add(of.heads.saturating_mul(of.window))
        }
        _ => 0,
    }
}

/// Numbers of the parameters of all layers, without deviations of noise.
pub fn params_len(net: &Net<'_>) -> usize {
    layers(net).map(|(_, node)| node.means().len()).fold(0, usize::saturating_add)
}

fn kind_name(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Free => "free numbers",
        LayerKind::Dense => "dense",
        LayerKind::Conv => "convolution",
        LayerKind::Pool => "pooling",
        LayerKind::Norm => "normalization",
        LayerKind::Lstm => "LSTM",
        LayerKind::Gru => "GRU",
        LayerKind::MinGru => "minGRU",
        LayerKind::Deconv => "transposed convolution",
        LayerKind::Attention => "attention",
        LayerKind::Embed => "embedding",
        LayerKind::Add => "sum",
        LayerKind::Multiply => "product",
        LayerKind::Join => "join",
        LayerKind::Depthwise => "depthwise convolution",
    }
}

/// The function of an activation, and its name.
fn function(activation: Activation) -> Option<(Part, &'static str)> {
    match activation {
        Activation::Identity => None,
        Activation::Tanh => Some((Part::ApplyTanh, "tanh")),
        Activation::Relu => Some((Part::ApplyRelu, "relu")),
        #[cfg(feature = "pictures")]
        Activation::Elu => Some((Part::ApplyElu, "elu")),
        #[cfg(feature = "residual")]
        Activation::Silu => Some((Part::ApplySilu, "silu")),
        #[cfg(feature = "residual")]
        Activation::Gelu => Some((Part::ApplyGelu, "gelu")),
        #[cfg(feature = "stream")]
        Activation::LeakyRelu => Some((Part::ApplyLeakyRelu, "leaky_relu")),
    }
}

/// The list of layers, as lines of a comment.
pub fn describe(text: &mut Text<'_>, net: &Net<'_>) {
    for (number, node) in layers(net) {
        text.fill("     % %", &[Arg::Number(number), Arg::Code(kind_name(node.kind()))]);
        for k in 0..node.num_sources() {
            text.code(if k == 0 { " of " } else { " and " });
            let from = node.from.get(k).copied().unwrap_or(0) as usize;
            let begin = node.begin.get(k).copied().unwrap_or(0) as usize;
            match node.part(k) {
                Some(part) => text.fill(
                    "numbers % to % of the observation",
                    &[Arg::Number(begin), Arg::Number(begin.saturating_add(part.len()).saturating_sub(1))],
                ),
                None if node.is_input(k) => text.code("the observation"),
                None => text.fill("layer %", &[Arg::Number(from)]),
            }
        }
        let [height, width, channels] = node.output.map(|len| Arg::Number(len as usize));
        match node.output {
            [1, 1, _] => text.fill(", [%]", &[channels]),
            _ => text.fill(", [%, %, %]", &[height, width, channels]),
        }
        if let Some((_, name)) = function(node.activation()) {
            text.fill(", %", &[Arg::Code(name)]);
        }
        text.code("\n");
    }
}

/// The parameters of layers, a table for each, in the library's order.
pub fn tables(text: &mut Text<'_>, net: &Net<'_>, params: &[f32]) -> Result {
    for (number, node) in layers(net) {
        let own = params.get(node.means()).ok_or(MISFIT)?;
        if !own.is_empty() {
            text.fill("\nstatic const float @_layer_%[%] = ", &[Arg::Number(number), Arg::Number(own.len())]);
            text.table(own.iter(), |text, x| text.float(*x));
        }
    }
    Ok(())
}

/// Checks, in statements, that symbols which layers read from a row are in their tables, or returns 1.
pub fn symbols(text: &mut Text<'_>, net: &Net<'_>, row: &'static str) {
    for (_, node) in layers(net).filter(|(_, node)| node.reads_symbols()) {
        text.call(Part::Symbols);
        let (begin, bytes) = (node.part(0).map_or(0, |part| part.start), usize::from(node.has(BYTES)));
        text.fill(
            "  if (!@_symbols(%, %, %, %)) return 1;\n",
            &[Arg::At(row, begin), Arg::Number(node.input(0)), Arg::Number(bytes), Arg::Number(node.symbols as usize)],
        );
    }
}

/// The layers, a statement for each.
pub fn network(text: &mut Text<'_>, net: &Net<'_>, names: Names) -> Result {
    for (number, node) in layers(net) {
        let y = if node.is_head() { Arg::At(names.head, 0) } else { Arg::At("values", node.place as usize) };
        let source = |k: usize| match node.source(net.nodes(), k) {
            Some(source) => Arg::At("values", source.place as usize),
            None => Arg::At(names.row, node.part(k).map_or(0, |part| part.start)),
        };
        layer(text, number, node, [source(0), source(1)], y, names);
        if let Some((part, name)) = function(node.activation()) {
            text.call(part);
            text.fill("  @_apply_%(%, %);\n", &[Arg::Code(name), y, Arg::Number(node.units())]);
        }
    }
    Ok(())
}

/// A layer without its activation.
fn layer(text: &mut Text<'_>, number: usize, node: &Node, [x, second]: [Arg<'_>; 2], y: Arg<'_>, names: Names) {
    let (params, input, units) = (Arg::Params(number, 0), Arg::Number(node.input(0)), Arg::Number(node.units()));
    let bias = |weights: usize, has: bool| if has { Arg::Params(number, weights) } else { NULL };
    #[cfg(not(feature = "pictures"))]
    let _ = names.is_bytes;
    #[cfg(not(feature = "residual"))]
    let _ = second;
    match node.op() {
        Op::Free(_) => {}
        Op::Local(Local::Dense(dense)) => {
            let narrow = dense.units < LANES;
            text.call(if narrow { Part::Narrow } else { Part::Wide });
            let name = Arg::Code(if narrow { "narrow" } else { "wide" });
            let bias = bias(dense.input.saturating_mul(dense.units), dense.has_bias);
            text.fill("  @_%(%, %, %, %, %, %);\n", &[name, x, input, params, bias, units, y]);
        }
        #[cfg(feature = "pictures")]
        Op::Local(local @ (Local::Conv(_) | Local::Depthwise(_))) => {
            let (frame, name, part, weights, has_bias) = match local {
                Local::Conv(conv) => {
                    let [.., channels] = conv.frame.input;
                    (conv.frame, "conv", Part::Conv, channels.saturating_mul(conv.units), conv.has_bias)
                }
                Local::Depthwise(depthwise) => {
                    (depthwise.frame, "depthwise", Part::Depthwise, depthwise.units, depthwise.has_bias)
                }
                _ => return,
            };
            text.call(part);
            windows(text, number, frame);
            let bytes = names.is_bytes && node.is_input(0);
            let [numbers, bytes] = if bytes { [NULL, x] } else { [x, NULL] };
            let bias = bias(frame.size.iter().fold(weights, |all, len| all.saturating_mul(*len)), has_bias);
            let [.., units] = node.output.map(|len| Arg::Number(len as usize));
            let number = Arg::Number(number);
            text.fill(
                "  @_%(&windows_%, %, %, %, %, %, %);\n",
                &[Arg::Code(name), number, numbers, bytes, params, bias, units, y],
            );
        }
        #[cfg(feature = "pictures")]
        Op::Local(Local::Deconv(deconv)) => {
            text.call(Part::Deconv);
            windows(text, number, deconv.conv.frame);
            let bias = bias(deconv.conv.weight_len(), deconv.has_bias);
            let args = [Arg::Number(number), x, params, bias, Arg::Number(deconv.conv.units), y];
            text.fill("  @_deconv(&windows_%, %, %, %, %, %);\n", &args);
        }
        #[cfg(feature = "pictures")]
        Op::Local(Local::Pool(pool)) => {
            text.call(Part::Pool);
            windows(text, number, pool.frame);
            let args = [Arg::Number(number), x, Arg::Number(usize::from(pool.mean)), y];
            text.fill("  @_pool(&windows_%, %, %, %);\n", &args);
        }
        #[cfg(feature = "pictures")]
        Op::Local(Local::Norm(norm)) => {
            text.call(Part::Norm);
            let scale = if norm.has_scale { params } else { NULL };
            let bias = bias(if norm.has_scale { norm.channels } else { 0 }, norm.has_bias);
            let (len, channels) = (Arg::Number(norm.len), Arg::Number(norm.channels));
            let centers = Arg::Number(usize::from(norm.centres));
            text.fill("  for (size_t i = 0; i < %; i += %)\n", &[units, len]);
            text.fill(
                "    @_norm(% + i, %, %, %, %, %, %, % + i);\n",
                &[x, len, channels, scale, bias, centers, Arg::Float(norm.epsilon), y],
            );
        }
        #[cfg(feature = "residual")]
        Op::Local(Local::Embed(embed)) => {
            text.call(Part::Embed);
            let pixels = node.units().checked_div(embed.units).unwrap_or(0);
            let [pixels, channels, symbols, units] =
                [pixels, embed.channels, embed.symbols, embed.units].map(Arg::Number);
            text.fill(
                "  @_embed(%, %, %, %, %, %, %, %);\n",
                &[x, pixels, channels, Arg::Float(embed.scale), symbols, params, units, y],
            );
        }
        #[cfg(feature = "residual")]
        Op::Merge(merge) => {
            let [first, other] = merge.lens;
            if merge.way == MergeOp::Join {
                text.call(Part::Join);
                let pixels = node.input(0).checked_div(first).unwrap_or(0);
                let args = [x, Arg::Number(first), second, Arg::Number(other), Arg::Number(pixels), y];
                return text.fill("  @_join(%, %, %, %, %, %);\n", &args);
            }
            let add = merge.way == MergeOp::Add;
            text.call(if add { Part::Add } else { Part::Multiply });
            let name = Arg::Code(if add { "add" } else { "multiply" });
            text.fill("  @_%(%, %, %, %, %);\n", &[name, x, units, second, Arg::Number(other), y]);
        }
        #[cfg(feature = "recurrent")]
        Op::Sequential(layer) => {
            let state = node.state();
            let (before, after) = (Arg::At("before", state), Arg::At("after", state));
            match layer {
                Sequential::Recurrent(cell) => {
                    let (part, name) = match cell.cell {
                        Cell::Lstm if cell.normalises => (Part::LstmNormalized, "lstm_normalized"),
                        Cell::Lstm => (Part::Lstm, "lstm"),
                        Cell::Gru => (Part::Gru, "gru"),
                        Cell::MinGru => (Part::MinGru, "mingru"),
                    };
                    text.call(part);
                    let args = [Arg::Code(name), x, input, units, params, before, after, y];
                    text.fill("  @_%(%, %, %, %, %, %, scratch->work, %);\n", &args);
                }
                #[cfg(feature = "attention")]
                Sequential::Attention(of) => {
                    text.call(Part::Attention);
                    let scale = 1.0 / crate::num::sqrt(of.units.checked_div(of.heads).unwrap_or(1) as f32);
                    let (heads, window, scale) = (Arg::Number(of.heads), Arg::Number(of.window), Arg::Float(scale));
                    text.fill(
                        "  @_attention(%, %, %, %, %, %, %, %, %, scratch->work, %);\n",
                        &[x, input, units, heads, window, scale, params, before, after, y],
                    );
                }
            }
        }
    }
}

/// The constant that describes the windows of a layer.
#[cfg(feature = "pictures")]
fn windows(text: &mut Text<'_>, number: usize, frame: Frame) {
    text.fill("  static const @_windows windows_% = {", &[Arg::Number(number)]);
    let [height, width, channels] = frame.input.map(Arg::Number);
    text.fill("%, %, %", &[height, width, channels]);
    for [first, second] in [frame.size, frame.stride, frame.windows, frame.pad] {
        text.fill(", {%, %}", &[Arg::Number(first), Arg::Number(second)]);
    }
    text.code("};\n");
}
