//! Learners of every algorithm, for actions of every kind.

use super::{Host, Tune};
use rlcore::learn::{Algorithm, Config};
use rlcore::nn::Layer;
use rlcore::space::{Element, Field, Space};

/// An action of a choice of 3 and two numbers.
pub const FIELDS: [Field<'static>; 2] =
    [Field::new("choice", Element::I32, &[], 0), Field::new("numbers", Element::F32, &[2], 4)];
/// Bounds of the numbers of an action alone.
pub const LOW: [f32; 2] = [-2.0, -1.0];
pub const HIGH: [f32; 2] = [0.5, 3.0];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    Choices,
    Numbers,
    Both,
}

impl Takes {
    pub fn choices(self) -> &'static [u32] {
        match self {
            Takes::Choices => &[3, 2],
            Takes::Numbers => &[],
            Takes::Both => &[3],
        }
    }

    pub fn numbers(self) -> usize {
        if self == Takes::Choices { 0 } else { 2 }
    }
}

pub fn learner_of(algorithm: Algorithm, takes: Takes, tune: impl Fn(&mut Config), layers: &[Layer]) -> Host {
    let own = Config { num_envs: 4, seed: 5, ..Config::of(algorithm).hidden(&[6]) };
    let mut c = match algorithm {
        Algorithm::StreamAc | Algorithm::StreamQ => Config { num_envs: 1, ..own },
        Algorithm::Dqn | Algorithm::Td3 | Algorithm::Sac => Config { train_interval: 8, ..own.store(200, 24, 40) },
        _ => Config { num_steps: 6, num_minibatches: 1, ..own },
    };
    c.num_layers = layers.len() as u32;
    c.sequence_len = if layers.is_empty() { 0 } else { 3 };
    tune(&mut c);
    let action = match takes {
        Takes::Choices => Space::discrete(&[3, 2]),
        Takes::Numbers => Space::between(&LOW, &HIGH),
        Takes::Both => Space { n: &[3], ..Space::bytes(12).with_fields(&FIELDS) },
    };
    Host::with(&c, layers, &Space::unbounded(4), &action)
}
