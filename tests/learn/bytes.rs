//! Byte pictures reach convolutions as bytes: all calls return the same bits as for the bytes divided by 255 as f32, with every
//! algorithm that supports both, whichever environments act.

use crate::host::{export, made, policy};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling, Stats};
use rlcore::nn::{Activation, HEAD, INPUT, Layer, LayerKind, Net, Node};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Field, Space};

const N: usize = 5;
const DIMS: [u32; 3] = [6, 5, 2];
const LEN: usize = 60;
const CHOICES: usize = 3;

/// Two learners: one of bytes, one of f32.
struct Pair {
    blocks: [Vec<u64>; 2],
    config: Config,
}

/// The same observations for both.
struct Obs(Vec<u8>, Vec<f32>);

impl Obs {
    fn new(bytes: Vec<u8>) -> Obs {
        let numbers = bytes.iter().map(|x| f32::from(*x) / 255.0).collect();
        Obs(bytes, numbers)
    }

    fn draw(rng: &mut Rng) -> Obs {
        Obs::new((0..N * LEN).map(|_| rng.bounded(255) as u8).collect())
    }

    fn of(&self, k: usize) -> Elements<'_> {
        if k == 0 { Elements::U8(&self.0) } else { Elements::F32(&self.1) }
    }
}

impl Pair {
    /// Observations are a picture, declared by `obs_dims` or by their only field.
    fn new(config: Config, layers: &[Layer], as_field: bool) -> Pair {
        let mut layers = layers.to_vec();
        layers[0].source[0] = if as_field { INPUT + 1 } else { 0 };
        let config = Config {
            num_envs: N as u32,
            num_layers: layers.len() as u32,
            obs_dims: if as_field { [0; 3] } else { DIMS },
            ..config
        };
        Pair::of(config, &layers, as_field, &Space::discrete(&[CHOICES as u32]))
    }

    fn of(config: Config, layers: &[Layer], as_field: bool, action: &Space<'_>) -> Pair {
        let blocks = [Space::bytes(LEN as u32), Space::unbounded(LEN as u32)].map(|obs| {
            let field = [Field::new("screen", obs.kind, &DIMS, 0)];
            let obs = if as_field { obs.with_fields(&field) } else { obs };
            made(&config, layers, &obs, action)
        });
        Pair { blocks, config }
    }

    /// Makes a call on both learners and asserts equal results.
    fn call<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, call: impl Fn(&mut Learner<'_>, usize) -> T) -> T {
        let [a, b] = [0, 1].map(|k| {
            let mut learner = Learner::attach(bytemuck::cast_slice_mut(&mut self.blocks[k])).unwrap();
            call(&mut learner, k)
        });
        assert_eq!(a, b, "{what}: {:?}", self.config.algorithm());
        a
    }

    /// Queries of the networks that take no step.
    fn ask(&mut self, obs: &Obs, mask: Option<&[u8]>) {
        self.call("predict", |learner, k| {
            let (mut action, len) = ([0; N], learner.view().state_len());
            let (mut state, begins) = (vec![0.1; N * len], [0; N]);
            let recurrent = Recurrent { state: &mut state, reset: &begins };
            learner.predict(obs.of(k), mask, recurrent, Sampling::Basic, ElementsMut::I32(&mut action)).unwrap();
            (action, bits(&state))
        });
        self.call("value", |learner, k| {
            let mut value = [0.0; N];
            learner.value(obs.of(k), mask, &mut value).unwrap();
            bits(&value)
        });
        if !self.config.algorithm().is_off_policy() {
            self.call("log_prob", |learner, k| {
                let (mut log_prob, mut entropy) = ([0.0; N], [0.0; N]);
                let action = mask.map_or([0; N], |mask| core::array::from_fn(|i| first(&mask[i * CHOICES..])));
                learner.log_prob(obs.of(k), mask, Elements::I32(&action), &mut log_prob, &mut entropy).unwrap();
                (bits(&log_prob), bits(&entropy))
            });
        }
        self.call("policy", |learner, k| {
            let view = learner.view();
            let mut mem = vec![0u64; view.policy_size().unwrap().div_ceil(8)];
            view.export(bytemuck::cast_slice_mut(&mut mem)).unwrap();
            let policy = policy(&mem);
            let (mut action, mut state) = ([0; N], vec![0.2; N * policy.state_len()]);
            let mut scratch = vec![0.0; policy.scratch_len(N).unwrap()];
            let recurrent = Recurrent { state: &mut state, reset: &[0; N] };
            let to = ElementsMut::I32(&mut action);
            policy.act_greedy(N, obs.of(k), mask, recurrent, &mut scratch, to).unwrap();
            (action, bits(&state))
        });
    }
}

fn first(mask: &[u8]) -> i32 {
    mask.iter().position(|x| *x != 0).unwrap() as i32
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn conv(units: u32, same: u32) -> Layer {
    Layer { same, ..Layer::conv(units, [3; 2], [1; 2], Activation::Relu) }
}

/// Trains both learners for `updates` updates; the rows that act change from step to step.
fn train(config: Config, layers: &[Layer], updates: u64) {
    train_of(config, layers, updates, false);
    train_of(config, layers, updates, true);
}

fn train_of(config: Config, layers: &[Layer], updates: u64, as_field: bool) {
    let (mut pair, mut rng) = (Pair::new(config, layers, as_field), Rng::seeded(3));
    let uses_mask = config.use_action_mask != 0;
    let mask = |rng: &mut Rng| -> Option<Vec<u8>> {
        let some: Vec<u8> = (0..N * CHOICES).map(|i| u8::from(i % CHOICES == 1 || rng.bounded(1) == 0)).collect();
        uses_mask.then_some(some)
    };
    let mut stats = Stats::default();
    for step in 0.. {
        let (obs, own) = (Obs::draw(&mut rng), mask(&mut rng));
        // All rows, the first rows, or random rows with gaps.
        let active: [u8; N] = core::array::from_fn(|i| match step % 3 {
            0 => 1,
            1 => u8::from(i < 3),
            _ => u8::from(rng.bounded(1) == 0),
        });
        pair.call("act", |learner, k| {
            let mut action = [7; N];
            learner.act(Some(&active), obs.of(k), own.as_deref(), ElementsMut::I32(&mut action)).unwrap();
            action
        });
        if step % 7 == 0 {
            pair.ask(&obs, own.as_deref());
        }
        let ends = [(); 2].map(|()| core::array::from_fn::<u8, N, _>(|_| u8::from(rng.bounded(9) == 0)));
        let reward: [f32; N] = core::array::from_fn(|_| rng.uniform_in(-1.0, 1.0) as f32);
        let (last, last_mask) = (Obs::draw(&mut rng), mask(&mut rng));
        pair.call("observe", |learner, k| {
            let [terminated, truncated] = &ends;
            let last_mask = last_mask.as_deref();
            learner.observe(Some(&active), &reward, terminated, truncated, Some(last.of(k)), last_mask).unwrap();
        });
        while pair.call("phase", |learner, _| learner.phase()) == Phase::Learn {
            let (next, next_mask) = (Obs::draw(&mut rng), mask(&mut rng));
            pair.call("learn", |learner, k| {
                format!("{:?}", learner.learn(Some(next.of(k)), next_mask.as_deref(), 2).unwrap())
            });
            stats = Learner::attach(bytemuck::cast_slice_mut(&mut pair.blocks[0])).unwrap().stats();
            pair.call("parameters", |learner, _| bits(learner.params()));
        }
        if stats.num_updates >= updates {
            assert_eq!(stats.num_dropped, 0);
            return;
        }
    }
}

fn configs() -> Vec<Config> {
    let all = [
        Algorithm::Ppo,
        Algorithm::A2c,
        Algorithm::Impala,
        Algorithm::Unreal,
        Algorithm::Pqn,
        Algorithm::Dqn,
        Algorithm::Sac,
    ];
    let of = |algorithm: Algorithm| {
        let config = Config { num_hidden: 1, hidden_len: [8, 0, 0, 0], num_chunks: 2, ..Config::of(algorithm) };
        match algorithm.is_off_policy() {
            true => Config { buffer_size: 40, batch_size: 8, learning_starts: 16, train_interval: 2, ..config },
            false => Config { num_steps: 8, num_minibatches: 1, ..config },
        }
    };
    let mut configs: Vec<Config> = all.map(of).into();
    configs.extend(all.map(|algorithm| Config { use_action_mask: 1, ..of(algorithm) }));
    configs.extend([
        Config { normalize_obs: 1, ..of(Algorithm::Ppo) },
        Config { overlap: 1, ..of(Algorithm::Ppo) },
        Config { dueling: 1, num_atoms: 5, value_min: -3.0, value_max: 3.0, huber: 0, ..of(Algorithm::Dqn) },
        Config { priority_exponent: 0.5, n_step: 3, ..of(Algorithm::Dqn) },
    ]);
    configs
}

#[test]
fn bytes_and_the_numbers_that_they_stand_for_train_alike() {
    for config in configs() {
        let config = match config.algorithm() {
            Algorithm::Unreal => Config {
                history_len: 30,
                pixel_cell: 2,
                pixel_control_coef: 0.1,
                reward_class_coef: 1.0,
                value_replay_coef: 1.0,
                ..config
            },
            _ => config,
        };
        // Padding with zeros, first of f32 outputs of a layer, then of the bytes themselves.
        train(config, &[conv(4, 0), conv(3, 1)], 6);
        train(config, &[conv(5, 1)], 3);
        let depthwise = |units, same| Layer { kind: LayerKind::Depthwise as u32, ..conv(units, same) };
        train(config, &[depthwise(6, 1), depthwise(6, 0)], 2);
    }
}

#[test]
fn recurrent_layers_behind_convolutions_and_layers_that_read_no_bytes_agree_too() {
    let recurrent = |algorithm, kind: LayerKind| {
        let config =
            Config { num_steps: 8, sequence_len: 4, num_minibatches: 1, num_hidden: 0, ..Config::of(algorithm) };
        train(config, &[conv(4, 0), Layer { kind: kind as u32, ..Layer::dense(6, Activation::Tanh) }], 4);
    };
    recurrent(Algorithm::Ppo, LayerKind::Gru);
    recurrent(Algorithm::Pqn, LayerKind::Lstm);
    recurrent(Algorithm::Impala, LayerKind::MinGru);
    for config in configs() {
        // A pool reads the picture first, so both networks get f32.
        let pool =
            Layer { kind: LayerKind::Pool as u32, units: 0, activation: Activation::Identity as u32, ..conv(0, 0) };
        train(config, &[pool, conv(3, 0)], 2);
    }
}

/// Critics that get continuous actions behind a picture read the picture as bytes, and their value is that of a network in
/// which the action follows the listed layers.
#[test]
fn critics_read_pictures_as_bytes_in_front_of_actions() {
    const LEN_ACTION: usize = 2;
    let of = |algorithm| Config {
        num_envs: N as u32,
        obs_dims: DIMS,
        num_layers: 2,
        num_hidden: 1,
        hidden_len: [8, 0, 0, 0],
        num_chunks: 2,
        buffer_size: 40,
        batch_size: 8,
        learning_starts: 16,
        train_interval: 2,
        ..Config::of(algorithm)
    };
    let configs = [
        of(Algorithm::Td3),
        of(Algorithm::Sac),
        Config { num_quantiles: 5, dropped_quantiles: 1, ..of(Algorithm::Sac) },
        Config { n_step: 3, priority_exponent: 0.5, ..of(Algorithm::Td3) },
    ];
    let listed = [conv(4, 0), conv(3, 1)];
    let action = Space::between(&[-1.0; LEN_ACTION], &[1.0; LEN_ACTION]);
    for (config, as_field) in configs.into_iter().flat_map(|config| [(config, false), (config, true)]) {
        let mut pair = Pair::of(config, &listed, as_field, &action);
        let mut rng = Rng::seeded(8);
        for step in 0..40 {
            let (obs, last) = (Obs::draw(&mut rng), Obs::draw(&mut rng));
            let active: [u8; N] = core::array::from_fn(|i| u8::from(step % 3 == 0 || rng.bounded(2) > 0 || i == 1));
            pair.call("act", |learner, k| {
                let mut action = [7.0; N * LEN_ACTION];
                learner.act(Some(&active), obs.of(k), None, ElementsMut::F32(&mut action)).unwrap();
                bits(&action)
            });
            let value = pair.call("value", |learner, k| {
                let mut value = [0.0; N];
                learner.value(obs.of(k), None, &mut value).unwrap();
                bits(&value)
            });
            if config.num_quantiles == 0 {
                let learner = Learner::attach(bytemuck::cast_slice_mut(&mut pair.blocks[0])).unwrap();
                for (value, other) in value.iter().zip(value_by_hand(&learner, &listed, &obs)) {
                    assert!((f32::from_bits(*value) - other).abs() < 1e-5, "{:?}", config.algorithm());
                }
            }
            let ends = [(); 2].map(|()| core::array::from_fn::<u8, N, _>(|_| u8::from(rng.bounded(9) == 0)));
            let reward: [f32; N] = core::array::from_fn(|_| rng.uniform_in(-1.0, 1.0) as f32);
            pair.call("observe", |learner, k| {
                let [terminated, truncated] = &ends;
                learner.observe(Some(&active), &reward, terminated, truncated, Some(last.of(k)), None).unwrap();
            });
            while pair.call("phase", |learner, _| learner.phase()) == Phase::Learn {
                pair.call("learn", |learner, _| format!("{:?}", learner.learn(None, None, 2).unwrap()));
                pair.call("parameters", |learner, _| bits(learner.params()));
            }
        }
        let stats = Learner::attach(bytemuck::cast_slice_mut(&mut pair.blocks[1])).unwrap().stats();
        assert!(stats.num_updates > 10 && stats.num_dropped == 0, "{stats:?}");
    }
}

/// The picture is all that a first layer reads in critics, also where it reads it twice.
#[test]
fn a_first_layer_of_two_sources_reads_the_picture_twice() {
    let config = Config { obs_dims: DIMS, num_layers: 2, ..Config::of(Algorithm::Td3) };
    for source in [[0, 0], [0, INPUT], [INPUT, 0], [INPUT, INPUT]] {
        let layers = [Layer::merge(LayerKind::Multiply, source, Activation::Identity), conv(4, 0)];
        Learner::size(&config, &layers, &Space::bytes(LEN as u32), &Space::between(&[-1.0], &[1.0])).unwrap();
    }
}

/// The lowest value of the two critics for the policy's own actions, by networks that are compiled here.
fn value_by_hand(learner: &Learner<'_>, listed: &[Layer], obs: &Obs) -> Vec<f32> {
    let mem = export(&learner.view());
    let policy = policy(&mem);
    let (mut action, mut scratch) = (vec![0.0; N * 2], vec![0.0; policy.scratch_len(N).unwrap()]);
    let none = Recurrent { state: &mut [], reset: &[0; N] };
    policy.act_greedy(N, obs.of(0), None, none, &mut scratch, ElementsMut::F32(&mut action)).unwrap();
    let layers = [
        Layer { source: [INPUT + 1, 0], ..listed[0] },
        listed[1],
        Layer::merge(LayerKind::Join, [2, INPUT + 2], Activation::Identity),
        Layer::dense(8, Activation::Relu),
        Layer { flags: HEAD, ..Layer::dense(1, Activation::Identity) },
    ];
    let mut nodes = [Node::default(); 5];
    let net = Net::compile_parts(&layers, [1, 1, LEN + 2], &[DIMS, [1, 1, 2]], &mut nodes).unwrap();
    let pair: Vec<f32> = obs.1.chunks(LEN).zip(action.chunks(2)).flat_map(|(a, b)| [a, b].concat()).collect();
    let mut lowest = vec![f32::INFINITY; N];
    let critics = &learner.params()[learner.params().len() - 2 * net.param_len()..];
    for params in critics.chunks(net.param_len()) {
        let (mut value, mut scratch) = (vec![0.0; N], vec![0.0; net.infer_scratch_len(N)]);
        net.infer(params, &pair, N, 1, &mut [], &mut scratch, &mut [&mut value]).unwrap();
        lowest.iter_mut().zip(value).for_each(|(to, x)| *to = to.min(x));
    }
    lowest
}
