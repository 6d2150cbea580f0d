//! Learners whose networks begin with the longest list of layers.
#![cfg(all(feature = "words", feature = "attention", feature = "residual", feature = "off_policy"))]

use crate::host::{Host, attach, config, export, policy, record, same_in_parts};
use rlcore::learn::{Algorithm, Config, Learner, Recurrent, Sampling};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::Space;

/// The longest list.
const MOST: usize = 64;

/// Two towers of blocks with residual sums, the second over the observation or over the first, whose second layers are of this
/// kind; the last layer of the list reads the first one.
fn towers(kind: LayerKind, apart: bool) -> Vec<Layer> {
    let second = match kind {
        LayerKind::Attention => Layer::attention(6, 2, 3),
        _ => Layer::dense(6, Activation::Tanh),
    };
    let mut layers = vec![];
    for half in [1, 2] {
        let source = [if apart { INPUT } else { 0 }, 0];
        layers.extend([Layer { source, ..Layer::dense(6, Activation::Tanh) }, second]);
        while layers.len() < half * MOST / 2 {
            let add = Layer::merge(LayerKind::Add, [0, layers.len() as u32], Activation::Identity);
            layers.extend([Layer::dense(6, Activation::Tanh), add]);
        }
    }
    layers[MOST - 1].source = [0, 1];
    layers
}

#[test]
fn sixty_four_layers_learn_in_parts_and_act_as_a_policy() {
    let layers = towers(LayerKind::Attention, true);
    assert_eq!(layers.len(), MOST);
    let config = Config { num_envs: 4, num_steps: 14, num_minibatches: 1, num_chunks: 7, ..config() };
    let config = Config { num_layers: MOST as u32, sequence_len: 2, policy_layer: MOST as u32 / 2, ..config };
    let mut h = Host::with(&config, &layers, &Space::unbounded(5), &Space::unbounded(2));
    same_in_parts(h.clone(), 2, "64 layers");

    let obs = record(&mut h, &mut Rng::seeded(5));
    h.learner().learn(Some(obs.get()), None, 0).unwrap();
    attach(&mut h.block.clone());
    let bytes = export(&h.view());
    let policy = policy(&bytes);
    let (mut own, mut shipped) = (h.actions(), h.actions());
    let mut state = vec![0.0; 4 * h.view().state_len()];
    let recurrent = Recurrent { state: &mut state, reset: &[0; 4] };
    h.learner().predict(obs.get(), None, recurrent, Sampling::Greedy, own.get_mut()).unwrap();
    let mut state = vec![0.0; 4 * policy.state_len()];
    let recurrent = Recurrent { state: &mut state, reset: &[0; 4] };
    let mut scratch = vec![f32::NAN; policy.scratch_len(4).unwrap()];
    policy.act_greedy(4, obs.get(), None, recurrent, &mut scratch, shipped.get_mut()).unwrap();
    assert_eq!(own.bits(), shipped.bits());
}

#[test]
fn critics_have_a_copy_of_sixty_four_layers() {
    let layers = towers(LayerKind::Dense, false);
    let config = Config { num_envs: 2, num_layers: MOST as u32, ..Config::of(Algorithm::Sac) };
    let config = Config { buffer_size: 40, batch_size: 7, learning_starts: 14, num_chunks: 7, ..config };
    let mut h = Host::with(&config, &layers, &Space::unbounded(5), &Space::unbounded(2));
    crate::host::train(&mut h, &mut Rng::seeded(3), 3);
    attach(&mut h.block.clone());
    export(&h.view());
}

#[test]
fn a_list_may_have_sixty_four_layers_and_no_more() {
    let [obs, action] = [Space::unbounded(5), Space::discrete(&[3])];
    let size = |num: usize, config: Config| {
        let layers = vec![Layer::dense(4, Activation::Relu); num];
        Learner::size(&Config { num_layers: num as u32, ..config }, &layers, &obs, &action).map_err(|e| e.to_string())
    };
    let hidden = Config { num_hidden: 4, hidden_len: [4; 4], ..Config::default() };
    assert!(size(MOST, hidden).is_ok());
    assert_eq!(size(MOST + 1, hidden).unwrap_err(), "learner config: num_layers of at most 64, given 65");
    let most = "learner config: layers and hidden layers together, with normalisations, of at most 75, given 82";
    assert_eq!(size(MOST, Config { hidden_norm: 1, ..hidden }).unwrap_err(), most);
}
