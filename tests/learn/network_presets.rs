//! Networks known by name: their towers are apart, they read the parts that they say, and they learn.
#![cfg(all(feature = "words", feature = "attention", feature = "pictures", feature = "residual"))]

use crate::host::{Array, Host, attach, config, export, policy, same_in_parts};
use rlcore::learn::{Config, Recurrent, Sampling};
use rlcore::nn::{LayerKind, Net, Node, Preset};
use rlcore::rng::Rng;
use rlcore::space::{Element, Field, Space};

/// Five numbers and the action before them, of three or none.
const STATE_AND_ACTION: [Field<'static>; 2] =
    [Field::new("state", Element::F32, &[5], 0), Field::new("last_action", Element::I32, &[1], 20)];

/// A grid of symbols and an instruction of four words.
const GRID_AND_WORDS: [Field<'static>; 2] =
    [Field::new("grid", Element::U8, &[7, 7, 3], 0), Field::new("words", Element::U8, &[4], 147)];

fn actions_host() -> Host {
    let layers = Preset::TransformerActions.layers();
    let config = Config { num_envs: 2, num_steps: 4, num_minibatches: 1, num_epochs: 1, num_hidden: 0, ..config() };
    let config = Config { sequence_len: 4, hidden_len: [0; 4], num_layers: layers.len() as u32, ..config };
    let config = Config { policy_layer: Preset::POLICY_LAYER, ..config };
    let obs = Space { n: &[4], ..Space::bytes(24) }.with_fields(&STATE_AND_ACTION);
    Host::with(&config, layers, &obs, &Space::discrete(&[3]))
}

/// Two rows of numbers and of choices.
fn seen(state: f32, action: [i32; 2]) -> Array {
    let row = |action: i32| [[state; 5].map(f32::to_ne_bytes).concat(), action.to_ne_bytes().to_vec()].concat();
    Array::U8(action.map(row).concat())
}

/// Probabilities are told apart by draws, so the values and the outputs of the policy's parameters are compared as bits of
/// samples under a fixed seed.
fn said(h: &Host, steps: &[Array]) -> [Vec<u32>; 2] {
    let mut h = h.clone();
    let bytes = export(&h.view());
    let policy = policy(&bytes);
    let (mut state, mut value, mut bits) = (vec![0.0; 2 * policy.state_len()], vec![0.0; 2], vec![]);
    let mut scratch = vec![0.0; policy.scratch_len(2).unwrap()];
    for obs in steps {
        for seed in 0..64 {
            let (mut action, mut copy) = (h.actions(), state.clone());
            let recurrent = Recurrent { state: &mut copy, reset: &[0; 2] };
            let mut rng = Rng::seeded(seed);
            policy
                .act(2, obs.get(), None, recurrent, Sampling::Basic, &mut rng, &mut scratch, action.get_mut())
                .unwrap();
            bits.extend(action.bits());
        }
        let (mut action, recurrent) = (h.actions(), Recurrent { state: &mut state, reset: &[0; 2] });
        policy.act_greedy(2, obs.get(), None, recurrent, &mut scratch, action.get_mut()).unwrap();
    }
    h.learner().value(steps[0].get(), None, &mut value).unwrap();
    [bits, value.into_iter().map(f32::to_bits).collect()]
}

#[test]
fn transformers_with_actions_are_two_towers() {
    let h = actions_host();
    let (layers, mut nodes) = (Preset::TransformerActions.layers(), vec![Node::default(); 36]);
    let net = Net::compile_parts(layers, [1, 1, 9], &[[1, 1, 5], [1, 1, 4]], &mut nodes);
    assert!(net.unwrap_err().to_string().contains("a head that depends on layer"), "presets have no head");
    let steps = [seen(0.5, [3, 3]), seen(-0.25, [0, 1]), seen(0.75, [2, 0])];
    let before = said(&h, &steps);
    let len = h.view().params().len();
    // Parameters of the towers, then of the policy's head and of the value's.
    let tower = (len - 129 * 4) / 2;
    for (range, changes) in [(0..tower, [true, false]), (tower..2 * tower, [false, true])] {
        let (mut changed, mut params) = (h.clone(), h.view().params().to_vec());
        params[range].iter_mut().enumerate().for_each(|(i, x)| *x += if i % 2 == 0 { 0.5 } else { -0.5 });
        changed.learner().write_params(&params).unwrap();
        let after = said(&changed, &steps);
        assert_eq!([0, 1].map(|i| before[i] != after[i]), changes);
    }
}

#[test]
fn the_action_before_is_a_part_of_each_token() {
    let mut h = actions_host();
    // Weights that are large enough for the draws to tell.
    let params: Vec<f32> = h.view().params().iter().map(|x| 20.0 * x).collect();
    h.learner().write_params(&params).unwrap();
    let steps = |action| [seen(0.5, [3, 3]), seen(0.5, action), seen(0.5, [1, 1])];
    let [a, b] = [[0, 2], [1, 2]].map(|action| said(&h, &steps(action))[0].clone());
    let row = |bits: &[u32], k: usize| bits.iter().skip(k).step_by(2).copied().collect::<Vec<_>>();
    assert!(row(&a, 0) != row(&b, 0) && row(&a, 1) == row(&b, 1), "only the first row's action is another");
    assert_eq!(row(&a, 0)[..64], row(&b, 0)[..64], "and only from the second step on");
}

/// The last layer is a normalization: rows of mean 0 and variance 1 until scale and bias are learned.
#[test]
fn normalized_transformers_end_with_a_normalization() {
    for (preset, num) in [(Preset::TransformerNorm, 16), (Preset::TransformerActions, 36)] {
        let layers = preset.layers();
        assert_eq!((layers.len(), layers[num - 1].kind), (num, LayerKind::Norm as u32), "{preset:?}");
        let count = |kind: LayerKind| layers.iter().filter(|layer| layer.kind == kind as u32).count();
        let towers = num / 16;
        assert_eq!([LayerKind::Attention, LayerKind::Norm].map(count), [2 * towers, 5 * towers], "{preset:?}");
    }
}

#[test]
fn presets_learn_in_parts_and_can_be_attached() {
    let layers = Preset::TransformerNorm.layers();
    let plain = Config { num_envs: 2, num_steps: 14, num_minibatches: 1, num_epochs: 1, num_hidden: 0, ..config() };
    let plain = Config { num_chunks: 7, sequence_len: 2, hidden_len: [0; 4], ..plain };
    let config = Config { num_layers: layers.len() as u32, ..plain };
    same_in_parts(Host::with(&config, layers, &Space::unbounded(5), &Space::discrete(&[3])), 1, "normalized");

    let layers = Preset::LstmFilm.layers();
    assert_eq!(layers.len(), 27);
    let config = Config { num_layers: 27, ..plain };
    let obs = Space::bytes(151).with_fields(&GRID_AND_WORDS);
    let mut h = Host::with(&config, layers, &obs, &Space::discrete(&[3]));
    let mut action = h.actions();
    // Symbols below 11, whatever the learner draws; then a word that has no embedding.
    let mut cells = Array::U8((0..302).map(|i| if i % 151 < 147 { (i % 11) as u8 } else { 99 }).collect());
    for step in 0..14 {
        h.learner().act(None, cells.get(), None, action.get_mut()).unwrap();
        h.learner().observe(None, &[step as f32; 2], &[0; 2], &[0; 2], Some(cells.get()), None).unwrap();
    }
    let before = h.view().params().to_vec();
    h.learner().learn(Some(cells.get()), None, 0).unwrap();
    assert!(before.iter().zip(h.view().params()).any(|(a, b)| a != b));
    attach(&mut h.block.clone());
    let value = |h: &mut Host, cells: &Array| {
        let mut value = [0.0; 2];
        h.learner().value(cells.get(), None, &mut value).map(|()| value)
    };
    let usual = value(&mut h, &cells).unwrap();
    let Array::U8(bytes) = &mut cells else { unreachable!() };
    bytes[148] = 7;
    let other = value(&mut h, &cells).unwrap();
    assert!(usual[0] != other[0] && usual[1] == other[1], "a word of the first row changes its value alone");
    let Array::U8(bytes) = &mut cells else { unreachable!() };
    bytes[150] = 100;
    assert!(value(&mut h, &cells).unwrap_err().to_string().contains("no symbol for"));
}
