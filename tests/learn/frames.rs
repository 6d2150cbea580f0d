//! Off-policy learners that store each frame of stacked observations once.

#![cfg(all(feature = "off_policy", feature = "residual"))]

use crate::host::camera::{CHANNELS, Camera, LEN, NUM, Scene, pictures, play};
use crate::host::{Tune, attach, forge_learners, learn_all, made, refused};
use rlcore::env::Autoreset;
use rlcore::env::wrap::Wrapper;
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, Layer};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 4;
const DIMS: [u32; 3] = [2, 2, (CHANNELS * NUM) as u32];

fn config(algorithm: Algorithm) -> Config {
    Config {
        num_envs: N as u32,
        train_interval: 3,
        gradient_steps: 2,
        target_interval: 3,
        policy_interval: if algorithm == Algorithm::Dqn { 1 } else { 2 },
        learning_rate: 1e-2,
        ..Config::of(algorithm).hidden(&[7]).store(50, 9, 14)
    }
}

fn init(config: &Config, action: &Space<'_>) -> Vec<u64> {
    let fields = [Field::new("", Element::U8, &DIMS, 0)];
    let obs = Space::bytes(LEN as u32).with_fields(&fields);
    let layers = [Layer::conv(3, [2; 2], [1; 2], Activation::Relu)];
    made(config, &layers[..config.num_layers as usize], &obs, action)
}

/// Attaches to the learner, as another process would.
fn learner(block: &mut [u64]) -> Learner<'_> {
    attach(block)
}

/// Agents that act at their own times, are shown demonstrations at times, and sometimes leave.
struct World {
    cameras: Vec<Camera>,
    rng: Rng,
    truncations: f64,
}

impl World {
    fn new(truncations: f64) -> World {
        let mut rng = Rng::seeded(4);
        World { cameras: (0..N).map(|_| Camera::begin(&mut rng)).collect(), rng, truncations }
    }

    /// One step of both learners on the same data, asserting equal results: one learns at once, the other in slices.
    fn tick(&mut self, blocks: &mut [Vec<u64>; 2], discrete: bool, a: usize) {
        let rng = &mut self.rng;
        let acted = learner(&mut blocks[0]).view().acted().to_vec();
        let mut some = |acted: &[u8], flag: u8| -> Vec<u8> {
            acted.iter().map(|&x| u8::from(x == flag && rng.bounded(4) > 0)).collect()
        };
        let (to_act, obs) = (some(&acted, 0), pictures(&self.cameras));
        let shown = self.rng.bounded(4) == 0;
        let choices: Vec<i32> = (0..N * a).map(|_| self.rng.bounded(1) as i32).collect();
        let vector: Vec<f32> = (0..N * a).map(|_| self.rng.uniform_f32() - 0.5).collect();
        let actions = blocks.each_mut().map(|block| {
            let mut l = learner(block);
            let (mut choices, mut vector) = (choices.clone(), vector.clone());
            let obs = Elements::U8(&obs);
            match (shown, discrete) {
                (true, true) => l.demonstrate(Some(&to_act), obs, None, Elements::I32(&choices)),
                (true, false) => l.demonstrate(Some(&to_act), obs, None, Elements::F32(&vector)),
                (false, true) => l.act(Some(&to_act), obs, None, ElementsMut::I32(&mut choices)),
                (false, false) => l.act(Some(&to_act), obs, None, ElementsMut::F32(&mut vector)),
            }
            .unwrap();
            (choices, vector)
        });
        assert_eq!(actions[0], actions[1]);
        let rng = &mut self.rng;
        let acted = learner(&mut blocks[0]).view().acted().to_vec();
        let observe: Vec<u8> = acted.iter().map(|&x| u8::from(x == 1 && rng.bounded(4) > 0)).collect();
        let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
        let mut flags = |p: f64| (0..N).map(|_| u8::from(rng.uniform() < p)).collect::<Vec<u8>>();
        let (terminated, truncated, gone) = (flags(0.12), flags(self.truncations), flags(0.04));
        for (camera, _) in self.cameras.iter_mut().zip(&observe).filter(|(_, observed)| **observed != 0) {
            camera.step(&mut self.rng);
        }
        let last = pictures(&self.cameras);
        for (i, camera) in self.cameras.iter_mut().enumerate() {
            if observe[i] != 0 && (terminated[i] | truncated[i]) != 0 {
                *camera = Camera::begin(&mut self.rng);
            }
        }
        for block in blocks.iter_mut() {
            let last = Some(Elements::U8(&last));
            learner(block).observe(Some(&observe), &reward, &terminated, &truncated, last, None).unwrap();
        }
        if learner(&mut blocks[0]).phase() == Phase::Learn {
            let stats = blocks.each_mut().map(|block| learner(block).stats().minibatches_left);
            assert_eq!(stats[0], stats[1]);
            learner(&mut blocks[0]).learn(None, None, 0).unwrap();
            learn_all(&mut learner(&mut blocks[1]), 1);
        }
        for block in blocks.iter_mut() {
            learner(block).cut_rows(&gone).unwrap();
        }
        for (camera, _) in self.cameras.iter_mut().zip(gone).filter(|(_, gone)| *gone != 0) {
            *camera = Camera::begin(&mut self.rng);
        }
        let said = blocks.each_mut().map(|block| {
            let l = learner(block);
            (l.params().iter().map(|x| x.to_bits()).collect::<Vec<_>>(), format!("{:?}", l.stats()), l.view().stored())
        });
        assert!(said[0] == said[1], "{:?}", said.map(|(_, stats, stored)| (stats, stored)));
    }
}

#[test]
fn learning_is_the_same_as_with_whole_observations() {
    let (one, two, real) = (Space::discrete(&[2]), Space::discrete(&[3, 2]), Space::between(&[-1.0; 2], &[1.0; 2]));
    // The last number: convolutions, also of critics, which get continuous actions behind them.
    let cases = [
        (Algorithm::Dqn, one, 1, 1, 0.0, 0.1, 0),
        (Algorithm::Dqn, two, 2, 2, 0.7, 0.3, 0),
        (Algorithm::Dqn, one, 3, 7, 0.0, 0.1, 0),
        (Algorithm::Dqn, two, 5, 3, 1.0, 0.1, 0),
        (Algorithm::Sac, two, 2, 3, 0.5, 0.2, 0),
        (Algorithm::Sac, real, 1, 2, 0.0, 0.1, 0),
        (Algorithm::Td3, real, 3, 1, 0.6, 0.1, 0),
        (Algorithm::Sac, two, 2, 3, 0.5, 0.2, 1),
        (Algorithm::Sac, real, 2, 7, 0.5, 0.1, 1),
        (Algorithm::Td3, real, 3, 2, 0.6, 0.1, 1),
    ];
    for (algorithm, action, n_step, num_chunks, priority_exponent, truncations, num_layers) in cases {
        let importance_steps = if priority_exponent > 0.0 { 200 } else { 0 };
        let obs_dims = if num_layers > 0 { DIMS } else { [0; 3] };
        let own = config(algorithm);
        let config = Config { n_step, num_chunks, priority_exponent, importance_steps, num_layers, obs_dims, ..own };
        let once = Config { num_stacked: NUM as u32, ..config };
        let (mut blocks, mut world) = ([&config, &once].map(|c| init(c, &action)), World::new(truncations));
        for _ in 0..160 {
            world.tick(&mut blocks, action.kind == Element::I32, action.len as usize);
        }
        let stats = learner(&mut blocks[1]).stats();
        assert!(stats.num_updates > 60 && stats.num_steps > 250, "{stats:?}");
        assert_eq!(learner(&mut blocks[1]).view().stored(), 50);
    }
}

#[test]
fn stacks_that_do_not_follow_are_refused_and_nothing_is_written() {
    let once = Config { num_stacked: NUM as u32, learning_starts: 1000, ..config(Algorithm::Dqn) };
    let mut block = init(&once, &Space::discrete(&[2]));
    let mut rng = Rng::seeded(3);
    let mut cameras: Vec<Camera> = (0..N).map(|_| Camera::begin(&mut rng)).collect();
    let mut action = [0; N];
    // A first stack may hold any frames.
    let mut first = vec![0; N * LEN];
    first.fill_with(|| rng.bounded(255) as u8);
    learner(&mut block).act(None, Elements::U8(&first), None, ElementsMut::I32(&mut action)).unwrap();
    let other = pictures(
        &cameras
            .iter_mut()
            .map(|camera| {
                camera.step(&mut rng);
                camera.clone()
            })
            .collect::<Vec<_>>(),
    );
    let words = "num_stacked: older frames";
    let cut = [0, 1, 0, 0];
    refused(&mut block, Kind::Value, words, |l| {
        l.observe(None, &[0.0; N], &[0; N], &cut, Some(Elements::U8(&other)), None)
    });
    learner(&mut block).observe(None, &[0.0; N], &[0; N], &[0; N], None, None).unwrap();
    refused(&mut block, Kind::Value, words, |l| l.act(None, Elements::U8(&other), None, ElementsMut::I32(&mut action)));
    refused(&mut block, Kind::Value, words, |l| {
        l.demonstrate(None, Elements::U8(&other), None, Elements::I32(&[1; N]))
    });
    // After a cut a new agent begins, with a first stack.
    learner(&mut block).cut_rows(&[1; N]).unwrap();
    learner(&mut block).demonstrate(None, Elements::U8(&other), None, Elements::I32(&[1; N])).unwrap();
}

/// Steps films with these wrappers; both kinds of stores must lead to the same parameters.
fn watch(list: &[Wrapper<'_>], autoreset: Autoreset) -> Result {
    let config = Config { n_step: 2, ..config(Algorithm::Dqn) };
    let once = Config { num_stacked: NUM as u32, ..config };
    let mut blocks = [&config, &once].map(|c| init(c, &Space::discrete(&[3])));
    play::<N>(list, autoreset, |mut scene| {
        for block in &mut blocks {
            let mut l = learner(block);
            match &mut scene {
                Scene::Act { active, obs, action } => {
                    l.act(Some(active), Elements::U8(obs), None, ElementsMut::I32(action))?;
                }
                Scene::Observe { active, outcome: [terminated, truncated], reward, last, .. } => {
                    l.observe(Some(active), reward, terminated, truncated, Some(Elements::U8(last)), None)?;
                    if l.phase() == Phase::Learn {
                        l.learn(None, None, 0)?;
                    }
                }
            }
        }
        let params = blocks.each_mut().map(|block| learner(block).params().to_vec());
        assert!(params[0] == params[1]);
        Ok(learner(&mut blocks[0]).stats().num_updates < 40)
    })
}

/// Every autoreset mode; also a stack that carries over to the next life, where it is a first stack with frames of its own.
#[test]
fn stacks_of_wrappers_are_kept_in_every_mode() {
    let (stack, life) = (Wrapper::FrameStack { count: NUM as u32 }, Wrapper::EpisodicLife { noop: 0 });
    for mode in [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Disabled] {
        for list in [&[stack][..], &[life, stack], &[stack, life]] {
            watch(list, mode).unwrap();
        }
    }
}

/// Bytes per additional transition.
#[test]
fn a_transition_takes_one_frame() {
    let bytes = |config: &Config, obs: &Space<'_>| {
        let (few, many) = (Config { buffer_size: 100_000, ..*config }, Config { buffer_size: 200_000, ..*config });
        let size = |c: &Config| Learner::size(c, &[], obs, &Space::discrete(&[2])).unwrap() as f64;
        (size(&many) - size(&few)) / 100_000.0
    };
    let preset = Config::of(Algorithm::Dqn);
    assert!((44.0..44.01).contains(&bytes(&preset, &Space::unbounded(4))), "{}", bytes(&preset, &Space::unbounded(4)));
    let pictures = Config { num_hidden: 1, hidden_len: [16, 0, 0, 0], ..preset };
    let stacked = Config { num_stacked: 4, obs_dims: [84, 84, 4], ..pictures };
    let [whole, once] = [&pictures, &stacked].map(|c| bytes(c, &Space::bytes(84 * 84 * 4)));
    assert!((56_460.0..56_461.0).contains(&whole), "{whole}");
    assert!((7_150.0..7_160.0).contains(&once), "{once}");
    let huge = Config { buffer_size: u32::MAX, ..stacked };
    let error = Learner::size(&huge, &[], &Space::bytes(84 * 84 * 4), &Space::discrete(&[2])).unwrap_err();
    assert!(error.kind == Kind::Overflow && error.what.contains("num_stacked"), "{error}");
}

#[test]
fn forged_images_are_refused_or_harmless() {
    let config = Config { num_envs: 1, train_interval: 2, ..config(Algorithm::Dqn).hidden(&[2]).store(4, 3, 3) };
    let config = Config { num_chunks: 2, n_step: 2, num_stacked: 2, priority_exponent: 1.0, ..config };
    let (obs, action) = (Space::bytes(2), Space::discrete(&[2]));
    let mut block = made(&config, &[], &obs, &action);
    let call = |l: &mut Learner<'_>| -> Result {
        let (x, mut action) = (Elements::U8(&[7, 7]), [0]);
        l.predict(x, None, Recurrent::default(), Sampling::Basic, ElementsMut::I32(&mut action))?;
        match l.phase() {
            Phase::Act => l.act(None, x, None, ElementsMut::I32(&mut action)),
            Phase::Observe => l.observe(None, &[1.0], &[0], &[1], Some(x), None),
            Phase::Learn => l.learn(None, None, 1).map(drop),
        }
    };
    let mut blocks = vec![];
    for count in 0..24 {
        if count % 6 == 5 {
            blocks.push(block.clone());
        }
        call(&mut learner(&mut block)).unwrap();
    }
    forge_learners(&blocks, &[1, 52, 0x7fc0_0000, u32::MAX - 1, u32::MAX], 9, call);
}
