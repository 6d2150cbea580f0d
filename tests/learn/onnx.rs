//! Files of ONNX compute what policies compute: their bytes are read and run in f64 by `host::onnx_model`.

#![cfg(all(feature = "attention", feature = "residual", feature = "unreal", feature = "noisy", feature = "stream"))]

use std::collections::HashMap;

use crate::host::onnx_model::{Attributes, Model, Tensor, run};
use crate::host::{Array, Host, Tune, config, export, forge, policy, recurrent};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Distribution, NamedTensor, Onnx, OnnxNames, Policy, Recurrent};
use rlcore::nn::{Activation, BYTES, INPUT, Layer, LayerKind, MEAN, NO_BIAS, RMS, WHOLE};
use rlcore::rng::Rng;
use rlcore::space::{Element, ElementsMut, Field, Space};

fn onnx(policy: &Policy<'_>, how: Onnx) -> Vec<u8> {
    let mut bytes = vec![0xa5; policy.onnx_size(how).unwrap()];
    policy.write_onnx(how, &mut bytes).unwrap();
    bytes
}

/// Numbers that differ by at most this share of the larger of 1 and themselves are those of f32 and f64.
fn near(what: &str, ours: &[f32], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let a = f64::from(*a);
        assert!((a - b).abs() <= 2e-5 * a.abs().max(1.0), "{what} {i}: {a} and {b}");
    }
}

/// Four steps of two rows: the file's outputs are the policy's. `symbols`: bytes are below it.
fn agrees(h: &mut Host, what: &str, symbols: u8) {
    let mut rng = Rng::seeded(4);
    let mut params: Vec<f32> = h.view().params().to_vec();
    params.iter_mut().for_each(|x| *x += 0.3 * (rng.uniform_f32() - 0.5));
    let moments: Vec<f64> = (0..h.view().moments_len()).map(|_| 0.3 + rng.uniform()).collect();
    h.learner().write_params_with(&params, &moments).unwrap();
    let block = export(&h.view());
    let policy = policy(&block);
    let (rows, shape) = (2, *policy.shape());
    let (choices, numbers, state_len) = (shape.choices_len(), shape.std_len(), policy.state_len());
    for how in [
        Onnx::default(),
        Onnx { action_mask: choices > 0, ..Onnx::default() },
        Onnx { names: OnnxNames::MlAgents, action_mask: choices > 0 },
    ] {
        let what = format!("{what} {how:?}");
        let bytes = onnx(&policy, how);
        assert_eq!(bytes, onnx(&policy, how), "equal policies are equal bytes");
        let model = Model::read(&bytes);
        let mut tensors = vec![bytemuck::Zeroable::zeroed(); policy.tensors(&mut []).unwrap()];
        policy.tensors(&mut tensors).unwrap();
        for tensor in &tensors {
            let name: &NamedTensor = tensor;
            let end = name.name.iter().position(|byte| *byte == 0).unwrap();
            let name = std::str::from_utf8(&name.name[..end]).unwrap();
            assert!(model.constants.contains_key(name) || name == "log_std", "{what}: {name} of {}", model.bytes.len());
        }
        let ml_agents = how.names == OnnxNames::MlAgents;
        let mut state = vec![0.0; rows * state_len];
        let mut their_state = vec![0.0f64; rows * state_len];
        for _ in 0..4 {
            let obs = match h.obs_kind {
                Element::F32 => Array::F32((0..rows * h.obs_len).map(|_| rng.uniform_f32() * 3.0 - 1.0).collect()),
                _ => Array::U8((0..rows * h.obs_len).map(|_| rng.bounded(u64::from(symbols) - 1) as u8).collect()),
            };
            let values: Vec<f64> = (0..rows).flat_map(|i| obs.row(i, h.obs_len)).collect();
            let mut mask = vec![1u8; rows * choices];
            if how.action_mask {
                mask.iter_mut().step_by(3).for_each(|x| *x = 0);
            }
            let (mut prob, mut mean) = (vec![0.0; rows * choices], vec![0.0; rows * numbers]);
            let mut std = vec![0.0; rows * numbers];
            let mut best = Array::zeros(h.action_kind, rows * h.action_len);
            let mut scratch = vec![0.0; policy.scratch_len(rows).unwrap()];
            let to = Distribution {
                prob: (choices > 0).then_some(&mut prob[..]),
                mean: (numbers > 0).then_some(&mut mean[..]),
                std: (numbers > 0).then_some(&mut std[..]),
                best: Some(best.get_mut()),
                ..Distribution::default()
            };
            let (allowed, kept) = (how.action_mask.then_some(&mask[..]), Recurrent { state: &mut state, reset: &[] });
            policy.distribution(rows, obs.get(), allowed, None, kept, &mut scratch, to).unwrap();

            let scale = if ml_agents && h.obs_kind == Element::U8 { 255.0 } else { 1.0 };
            let given = values.iter().map(|x| f64::from((x / scale) as f32)).collect();
            let given = if ml_agents { turned(&model, given, rows) } else { given };
            let names =
                if ml_agents { ["obs_0", "action_masks", "recurrent_in"] } else { ["obs", "action_mask", "state"] };
            let mask = mask.iter().map(|x| f64::from(*x)).collect();
            let made = model.run(&[(names[0], given), (names[1], mask), (names[2], their_state)], rows);
            if choices > 0 && !policy.is_q() {
                near(&format!("{what} probabilities"), &prob, &made["probabilities"].data);
            }
            if choices > 0 {
                let ArrayChoices(ours) = (&best).into();
                let theirs: Vec<i32> = made["discrete_actions"].ints().iter().map(|x| *x as i32).collect();
                assert_eq!(ours, theirs, "{what}");
            }
            if let (Array::F32(ours), true) = (&best, numbers > 0) {
                near(&format!("{what} mean"), &mean, &made["mean"].data);
                let stds: Vec<f64> = made["log_std"].data.iter().map(|x| x.exp()).collect();
                near(&format!("{what} std"), &std, &stds);
                near(&format!("{what} actions"), ours, &made["continuous_actions"].data);
            }
            their_state = match (state_len, ml_agents) {
                (0, _) => vec![],
                (_, true) => made["recurrent_out"].data.clone(),
                (_, false) => made["state_out"].data.clone(),
            };
            near(&format!("{what} state"), &state, &their_state);
        }
    }
}

/// Pictures with their channels first, if the model asks for them.
fn turned(model: &Model<'_>, given: Vec<f64>, rows: usize) -> Vec<f64> {
    let [_, channels, height, width] = model.inputs[0].2[..] else { return given };
    let last = Tensor::new(&[rows, height, width, channels], given);
    let of = Attributes { ints: HashMap::from([("perm".to_string(), vec![0, 3, 1, 2])]), ..Attributes::default() };
    run("Transpose", &[&last], &of).data
}

struct ArrayChoices(Vec<i32>);

impl From<&Array> for ArrayChoices {
    fn from(all: &Array) -> ArrayChoices {
        if let Array::I32(x) = all { ArrayChoices(x.clone()) } else { panic!("no choices") }
    }
}

fn ppo(layers: &[Layer], tune: impl Fn(&mut Config), obs: &Space<'_>, action: &Space<'_>) -> Host {
    let mut c = Config { num_envs: 2, num_steps: 4, num_minibatches: 1, num_layers: layers.len() as u32, ..config() };
    tune(&mut c);
    Host::with(&c, layers, obs, action)
}

#[test]
fn heads_say_the_same() {
    let (obs, choose) = (Space::unbounded(5), Space::discrete(&[3, 2, 4]));
    let bounds: (&[f32], &[f32]) = (&[-2.0, -1.0], &[0.5, 3.0]);
    let wide: (&[f32], &[f32]) = (&[-3e38, -1.0], &[3e38, 3.0]);
    let (bounded, wide) = (Space::between(bounds.0, bounds.1), Space::between(wide.0, wide.1));
    for activation in 0..7 {
        let tune = |c: &mut Config| {
            (c.activation, c.normalize_obs, c.hidden_norm) = (activation, activation % 2, activation / 5)
        };
        agrees(&mut ppo(&[], tune, &obs, &choose), "ppo", 0);
        let squash = |c: &mut Config| (c.activation, c.squash) = (activation, activation % 2);
        agrees(&mut ppo(&[], squash, &obs, &bounded), "gaussian", 0);
    }
    agrees(&mut ppo(&[], |c| c.squash = 1, &obs, &wide), "wide", 0);
    agrees(&mut ppo(&[], |_| {}, &Space::bytes(6), &Space::unbounded(2)), "bytes", 255);
    let store = |algorithm| Config { num_envs: 2, ..Config::of(algorithm).hidden(&[6]).store(64, 16, 32) };
    let q = store(Algorithm::Dqn);
    for q in
        [q, Config { num_quantiles: 5, noisy: 1, ..q }, Config { num_atoms: 9, value_min: -3.0, value_max: 5.0, ..q }]
    {
        agrees(&mut Host::new(&q, &obs, &choose), "dqn", 0);
    }
    agrees(&mut Host::new(&store(Algorithm::Td3), &obs, &bounded), "td3", 0);
    agrees(&mut Host::new(&store(Algorithm::Sac), &obs, &bounded), "sac", 0);
    agrees(&mut Host::new(&store(Algorithm::Sac), &obs, &choose), "discrete sac", 0);
}

#[test]
fn layers_that_carry_states_say_the_same() {
    for layer in recurrent() {
        let layers = [Layer::dense(5, Activation::Silu), layer];
        let tune = |c: &mut Config| (c.sequence_len, c.normalize_obs) = (2, 1);
        agrees(&mut ppo(&layers, tune, &Space::unbounded(4), &Space::discrete(&[3])), "recurrent", 0);
    }
    let layers = [Layer::attention(4, 2, 1), Layer::recurrent(LayerKind::Gru, 3), Layer::attention(4, 1, 3)];
    agrees(&mut ppo(&layers, |c| c.sequence_len = 2, &Space::unbounded(4), &Space::unbounded(2)), "stacked", 0);
}

#[test]
fn layers_over_pictures_say_the_same() {
    let conv = Layer::conv(6, [3, 2], [2, 1], Activation::Relu);
    let plain = Layer { stride: [0; 2], size: [0; 2], units: 0, activation: Activation::Identity as u32, ..conv };
    let kind = |kind: LayerKind, layer: Layer| Layer { kind: kind as u32, ..layer };
    let lists: [&[Layer]; 7] = [
        &[conv, Layer { same: 1, flags: NO_BIAS, ..conv }],
        &[
            conv,
            kind(LayerKind::Deconv, Layer { units: 3, ..conv }),
            kind(LayerKind::Deconv, Layer { same: 1, size: [1, 4], stride: [2, 3], ..conv }),
        ],
        &[
            kind(LayerKind::Pool, Layer { units: 0, same: 1, activation: 2, ..conv }),
            kind(
                LayerKind::Pool,
                Layer { units: 0, size: [2, 2], stride: [0; 2], flags: MEAN, same: 1, activation: 5, ..conv },
            ),
        ],
        &[kind(LayerKind::Depthwise, Layer { units: 4, same: 1, ..conv }), kind(LayerKind::Norm, plain)],
        &[
            conv,
            kind(LayerKind::Norm, Layer { flags: RMS | WHOLE, ..plain }),
            kind(LayerKind::Norm, Layer { flags: WHOLE, ..plain }),
        ],
        &[
            conv,
            kind(LayerKind::Norm, plain),
            Layer::merge(LayerKind::Add, [1, 2], Activation::Tanh),
            Layer::dense(6, Activation::Tanh),
            Layer::merge(LayerKind::Multiply, [3, 4], Activation::Identity),
            Layer::merge(LayerKind::Join, [5, 4], Activation::Elu),
            Layer { size: [2, 3], ..Layer::dense(12, Activation::Gelu) },
            Layer { same: 1, stride: [1, 1], ..conv },
            Layer::merge(LayerKind::Join, [7, 8], Activation::LeakyRelu),
        ],
        &[
            kind(LayerKind::Embed, Layer { units: 5, symbols: 7, flags: BYTES, source: [INPUT, 0], ..plain }),
            Layer { same: 1, ..conv },
            Layer::recurrent(LayerKind::Lstm, 4),
        ],
    ];
    for (i, layers) in lists.iter().enumerate() {
        let tune = |c: &mut Config| (c.obs_dims, c.sequence_len) = ([6, 5, 2], if i == 6 { 2 } else { 0 });
        let symbols = if i == 6 { 7 } else { 255 };
        agrees(&mut ppo(layers, tune, &Space::bytes(60), &Space::discrete(&[3])), &format!("list {i}"), symbols);
    }
}

/// A learner of a picture whose channels come first, numbers and choices, whose actions are choices and numbers.
fn structured() -> Host {
    const SEEN: [Field<'static>; 3] = [
        Field { channels_first: true, ..Field::new("camera", Element::U8, &[2, 3, 4], 0) },
        Field::new("speed", Element::F32, &[2], 24),
        Field::new("items", Element::I32, &[2], 32),
    ];
    const TAKEN: [Field<'static>; 2] =
        [Field::new("weapon", Element::I32, &[2], 0), Field::new("aim", Element::F32, &[2], 8)];
    let obs = Space { n: &[3, 5], ..Space::bytes(40) }.with_fields(&SEEN);
    let action = Space { n: &[3, 2], ..Space::bytes(16).with_fields(&TAKEN) };
    ppo(
        &[
            Layer::conv(3, [2, 2], [1, 1], Activation::Relu),
            Layer::merge(LayerKind::Join, [1, INPUT | 3], Activation::Tanh),
        ]
        .map(|layer| {
            if layer.kind == LayerKind::Conv as u32 { Layer { source: [INPUT | 1, 0], ..layer } } else { layer }
        }),
        |c| c.normalize_obs = 1,
        &obs,
        &action,
    )
}

#[test]
fn structures_are_inputs_and_outputs_of_their_own() {
    let h = structured();
    let block = export(&h.view());
    let policy = policy(&block);
    let bytes = onnx(&policy, Onnx::default());
    let model = Model::read(&bytes);
    let expected = [("obs_0", 2, vec![0, 2, 3, 4]), ("obs_1", 1, vec![0, 2]), ("obs_2", 6, vec![0, 2])];
    assert!(
        model.inputs.iter().zip(&expected).all(|(a, b)| a.0 == b.0 && a.1 == b.1 && a.2 == b.2),
        "{:?}",
        model.inputs
    );
    let mut rng = Rng::seeded(6);
    for _ in 0..8 {
        let camera: Vec<u8> = (0..24).map(|_| rng.bounded(255) as u8).collect();
        let speed = [rng.uniform_f32(), -rng.uniform_f32()];
        let items = [rng.bounded(2) as i32, rng.bounded(4) as i32];
        let seen =
            [camera.clone(), bytemuck::cast_slice(&speed).to_vec(), bytemuck::cast_slice(&items).to_vec()].concat();
        let (mut action, mut scratch) = (vec![0u32; 4], vec![0.0; policy.scratch_len(1).unwrap()]);
        let to = ElementsMut::U8(bytemuck::cast_slice_mut(&mut action));
        policy.act_greedy(1, Array::U8(seen).get(), None, Recurrent::default(), &mut scratch, to).unwrap();
        let given = [
            ("obs_0", camera.iter().map(|x| f64::from(*x)).collect()),
            ("obs_1", speed.map(f64::from).to_vec()),
            ("obs_2", items.map(f64::from).to_vec()),
        ];
        let made = model.run(&given, 1);
        assert_eq!(made["discrete_actions"].ints(), [action[0], action[1]].map(i64::from));
        near("aim", &[action[2], action[3]].map(f32::from_bits), &made["continuous_actions"].data);
    }
}

#[test]
fn masks_need_choices_and_lengths_are_exact() {
    let h = ppo(&[], |_| {}, &Space::unbounded(3), &Space::unbounded(2));
    let block = export(&h.view());
    let policy = policy(&block);
    let masked = Onnx { action_mask: true, ..Onnx::default() };
    assert_eq!(policy.onnx_size(masked).unwrap_err().kind, Kind::Config);
    let len = policy.onnx_size(Onnx::default()).unwrap();
    for wrong in [0, len - 1, len + 1] {
        let mut bytes = vec![7; wrong];
        assert_eq!(policy.write_onnx(Onnx::default(), &mut bytes).unwrap_err().kind, Kind::Size);
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}

/// Files of forged policies that attach accepts are written, or refused.
#[test]
fn forged_policies_are_written_or_refused() {
    let carries =
        ppo(&[Layer::attention(4, 2, 2)], |c| c.sequence_len = 2, &Space::unbounded(2), &Space::discrete(&[2]));
    let blocks = [export(&structured().view()), export(&carries.view())];
    forge(&blocks, &[0, 1, 2, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 20, |brain| {
        let Ok(policy) = Policy::attach(bytemuck::cast_slice(brain)) else { return false };
        for names in [OnnxNames::Own, OnnxNames::MlAgents] {
            if let Ok(size) = policy.onnx_size(Onnx { names, action_mask: true }) {
                policy.write_onnx(Onnx { names, action_mask: true }, &mut vec![0; size]).unwrap();
            }
        }
        true
    });
}
