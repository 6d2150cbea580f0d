//! Named lists of layers, each for observations of a certain shape.

use super::activation::Activation::{self, Elu, Identity, Relu, Tanh};
use super::initializer::Initializer::{Glorot, Normal, Uniform};
use super::layer::{BYTES, FORGET_ONE, Layer, NO_BIAS};
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

impl Preset {
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
                        Layer {
                            kind: LayerKind::Embed as u32,
                            symbols: 11,
                            flags: BYTES,
                            initializer: Normal as u32,
                            ..dense(128, Identity)
                        },
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
                        narrow(Layer { flags: NO_BIAS, ..dense(128, Identity) }),
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
        }
    }
}
