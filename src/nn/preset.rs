//! Named lists of layers, each for observations of a certain shape.

use super::activation::Activation::{self, Elu, Identity, Relu, Tanh};
use super::initializer::Initializer::{Glorot, Normal, Uniform};
use super::layer::{BYTES, FORGET_ONE, INPUT, Layer, NO_BIAS};
use super::prim::LayerKind;

/// A named list of layers to start from; hosts may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Preset {
    /// Vectors: two dense layers of 64 units with tanh.
    Fc = 1,
    /// Pictures of 84 × 84: three convolutions and a dense layer of 512 units (Mnih et al. 2015).
    Nature = 2,
    /// Pictures of 84 × 84: two convolutions, a dense layer of 256 units and an LSTM of 256 units (Mnih et al. 2016).
    ImpalaSmall = 3,
    /// Pictures of 42 × 42: four convolutions of stride 2 with ELU and an LSTM of 256 units, initialized as in TensorFlow.
    Btgym42 = 4,
    /// Pictures of 10 × 10: one convolution and a dense layer of 128 units (Young and Tian 2019).
    MinAtar = 5,
    /// Vectors: a dense layer without activation and an LSTM, 128 units each.
    LstmSimple = 6,
    /// Grids of 7 × 7 byte symbols below 11: an embedding for each channel, two convolutions with normalization, the maximum of
    /// each channel, and an LSTM of 128 units.
    LstmBowEndpoolRes = 7,
    /// Vectors: a causal transformer of two blocks, each over the last 9 steps, 128 wide, with 4 heads.
    TransformerGrid = 8,
    /// [`Preset::TransformerGrid`] with normalization before each attention and each pair of dense layers, and at the end.
    TransformerNorm = 9,
    /// Two parts, a vector and the action before it as a choice: two transformers like [`Preset::TransformerNorm`], the first
    /// for the policy, its last layer being [`Preset::POLICY_LAYER`], the second for the values. A step is one token, the sum
    /// of the embeddings of its two parts.
    TransformerActions = 10,
    /// Two parts, a grid of 7 × 7 byte symbols below 11 and an instruction of byte words below 100:
    /// [`Preset::LstmBowEndpoolRes`] with two residual blocks between convolutions and maximum, whose channels the instruction
    /// scales and shifts (FiLM, Perez et al. 2018). Each place of the instruction has embeddings of its own, and their sum
    /// passes through a dense layer.
    LstmFilm = 11,
}

const fn dense(units: u32, activation: Activation) -> Layer {
    Layer::dense(units, activation)
}

const fn conv(units: u32, size: u32, stride: u32, activation: Activation) -> Layer {
    Layer::conv(units, [size; 2], [stride; 2], activation)
}

const fn same(layer: Layer) -> Layer {
    Layer { same: 1, ..layer }
}

const fn lstm(units: u32) -> Layer {
    Layer { initializer: Uniform as u32, ..Layer::recurrent(LayerKind::Lstm, units) }
}

const fn glorot(layer: Layer) -> Layer {
    Layer { initializer: Glorot as u32, ..layer }
}

const fn norm(activation: Activation) -> Layer {
    Layer { kind: LayerKind::Norm as u32, ..dense(0, activation) }
}

/// Weights of a transformer: normal with deviation 0.02.
const fn narrow(layer: Layer) -> Layer {
    Layer { initializer: Normal as u32, gain: 0.02, ..layer }
}

/// `Add` of the previous layer and layer `k`.
const fn add(k: u32) -> Layer {
    Layer::merge(LayerKind::Add, [0, k], Identity)
}

const fn from(source: u32, layer: Layer) -> Layer {
    Layer { source: [source, 0], ..layer }
}

/// A table of `symbols` byte symbols for each channel.
const fn embed(symbols: u32) -> Layer {
    Layer { kind: LayerKind::Embed as u32, symbols, flags: BYTES, initializer: Normal as u32, ..dense(128, Identity) }
}

const fn linear() -> Layer {
    narrow(Layer { flags: NO_BIAS, ..dense(128, Identity) })
}

/// A normalized block of a transformer, layers `k + 1` to `k + 7`, over layer `k`.
const fn block(k: u32) -> [Layer; 7] {
    let (attention, wide, narrowed) = (Layer::attention(128, 4, 9), dense(256, Relu), dense(128, Identity));
    [norm(Identity), narrow(attention), add(k), norm(Identity), narrow(wide), narrow(narrowed), add(k + 3)]
}

/// A transformer over two parts of the input, behind layer `k`.
const fn tower(k: u32) -> [Layer; 18] {
    let [a, b, c, d, e, f, g] = block(k + 3);
    let [h, i, j, l, m, n, o] = block(k + 10);
    let (state, action) = (from(INPUT + 1, linear()), from(INPUT + 2, linear()));
    [state, action, add(k + 1), a, b, c, d, e, f, g, h, i, j, l, m, n, o, norm(Identity)]
}

/// A residual block, layers `k + 1` to `k + 9`, over layer `read`, whose channels layer 7 scales and shifts.
const fn film(k: u32, read: u32) -> [Layer; 9] {
    [
        from(read, same(conv(128, 3, 1, Identity))),
        norm(Relu),
        same(conv(128, 3, 1, Identity)),
        from(7, dense(128, Identity)),
        Layer::merge(LayerKind::Multiply, [k + 3, k + 4], Identity),
        from(7, dense(128, Identity)),
        Layer::merge(LayerKind::Add, [k + 5, k + 6], Identity),
        norm(Relu),
        add(read),
    ]
}

/// [`Preset::LstmFilm`].
const fn lstm_film() -> [Layer; 27] {
    let [a, b, c, d, e, f, g, h, i] = film(7, 5);
    let [j, k, l, m, n, o, p, q, r] = film(16, 16);
    [
        from(INPUT + 1, embed(11)),
        same(conv(128, 3, 1, Identity)),
        norm(Relu),
        same(conv(128, 3, 1, Identity)),
        norm(Relu),
        from(INPUT + 2, embed(100)),
        dense(128, Relu),
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        m,
        n,
        o,
        p,
        q,
        r,
        Layer { kind: LayerKind::Pool as u32, ..conv(0, 7, 7, Relu) },
        lstm(128),
    ]
}

impl Preset {
    /// The layer that the policy reads in [`Preset::TransformerActions`], counted from 1.
    pub const POLICY_LAYER: u32 = 18;

    /// The preset with this number.
    pub const fn new(number: u32) -> Option<Preset> {
        Some(match number {
            1 => Preset::Fc,
            2 => Preset::Nature,
            3 => Preset::ImpalaSmall,
            4 => Preset::Btgym42,
            5 => Preset::MinAtar,
            6 => Preset::LstmSimple,
            7 => Preset::LstmBowEndpoolRes,
            8 => Preset::TransformerGrid,
            9 => Preset::TransformerNorm,
            10 => Preset::TransformerActions,
            11 => Preset::LstmFilm,
            _ => return None,
        })
    }

    /// The layers, without a head: the last one is read by the hidden layers and heads of a learner.
    pub const fn layers(self) -> &'static [Layer] {
        match self {
            Preset::Fc => const { &[dense(64, Tanh), dense(64, Tanh)] },
            Preset::Nature => {
                const { &[conv(32, 8, 4, Relu), conv(64, 4, 2, Relu), conv(64, 3, 1, Relu), dense(512, Relu)] }
            }
            Preset::ImpalaSmall => const { &[conv(16, 8, 4, Relu), conv(32, 4, 2, Relu), dense(256, Relu), lstm(256)] },
            Preset::Btgym42 => {
                const {
                    &[
                        glorot(same(conv(32, 3, 2, Elu))),
                        glorot(same(conv(32, 3, 2, Elu))),
                        glorot(same(conv(64, 3, 2, Elu))),
                        glorot(same(conv(64, 3, 2, Elu))),
                        glorot(Layer { flags: FORGET_ONE, ..lstm(256) }),
                    ]
                }
            }
            Preset::MinAtar => const { &[conv(16, 3, 1, Relu), dense(128, Relu)] },
            Preset::LstmSimple => const { &[Layer { initializer: Uniform as u32, ..dense(128, Identity) }, lstm(128)] },
            Preset::LstmBowEndpoolRes => {
                const {
                    &[
                        embed(11),
                        same(conv(128, 3, 1, Identity)),
                        norm(Relu),
                        same(conv(128, 3, 1, Identity)),
                        norm(Relu),
                        Layer { kind: LayerKind::Pool as u32, ..conv(0, 7, 7, Relu) },
                        lstm(128),
                    ]
                }
            }
            Preset::TransformerGrid => {
                const {
                    &[
                        linear(),
                        narrow(Layer::attention(128, 4, 9)),
                        add(1),
                        narrow(dense(256, Relu)),
                        narrow(dense(128, Identity)),
                        add(3),
                        narrow(Layer::attention(128, 4, 9)),
                        add(6),
                        narrow(dense(256, Relu)),
                        narrow(dense(128, Identity)),
                        add(8),
                    ]
                }
            }
            Preset::TransformerNorm => {
                const {
                    let ([a, b, c, d, e, f, g], [h, i, j, k, l, m, n]) = (block(1), block(8));
                    &[linear(), a, b, c, d, e, f, g, h, i, j, k, l, m, n, norm(Identity)]
                }
            }
            Preset::TransformerActions => {
                const {
                    const TOWERS: &[[Layer; 18]; 2] = &[tower(0), tower(18)];
                    TOWERS.as_flattened()
                }
            }
            Preset::LstmFilm => const { &lstm_film() },
        }
    }
}
