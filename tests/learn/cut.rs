//! Agents that are cut while learning is due or running.

#![cfg(all(feature = "off_policy", feature = "stream", feature = "actor_critic"))]

use crate::host::{Host, Tune, attach, config, learn_all, made, open};
use rlcore::learn::{Algorithm, Config, Learner, Phase};
use rlcore::nn::{Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 3;

/// Rows of `active` act and rows of `observed` observe; no episode ends.
fn step(l: &mut Learner<'_>, rng: &mut Rng, active: &[u8; N], observed: &[u8; N]) {
    let obs: [f32; N] = core::array::from_fn(|_| rng.uniform_f32());
    let reward: [f32; N] = core::array::from_fn(|_| rng.uniform_f32());
    l.act(Some(active), Elements::F32(&obs), None, ElementsMut::I32(&mut [0; N])).unwrap();
    l.observe(Some(observed), &reward, &[0; N], &[0; N], None, None).unwrap();
}

fn learner(config: &Config, layers: &[Layer]) -> Host {
    Host::with(config, layers, &Space::unbounded(1), &Space::discrete(&[3]))
}

/// A cut takes the last transition back, observed or not, and the rollout may be incomplete again.
#[test]
fn a_rollout_that_is_complete_gives_a_transition_back() {
    for overlap in [0, 1] {
        let config = Config { num_envs: N as u32, num_steps: 2, num_minibatches: 2, overlap, ..config() };
        let params = [false, true].map(|observed| {
            let (mut h, mut rng) = (learner(&config, &[]), Rng::seeded(3));
            let mut l = h.learner();
            step(&mut l, &mut rng, &[1; N], &[1; N]);
            step(&mut l, &mut rng, &[1; N], &[1, u8::from(observed), 1]);
            assert_eq!(l.phase(), if observed { Phase::Learn } else { Phase::Observe });
            l.cut_rows(&[0, 1, 0]).unwrap();
            assert_eq!(l.phase(), Phase::Act);
            assert_eq!(l.acted(), &[0; N]);
            step(&mut l, &mut rng, &[0, 1, 1], &[0, 1, 1]);
            assert_eq!(l.phase(), Phase::Learn);
            h.learner().learn(Some(Elements::F32(&[0.5; N])), None, 0).unwrap();
            h.view().params().to_vec()
        });
        assert!(params[0] == params[1], "overlap {overlap}");
    }
}

/// An update learns the same wherever during it agents are cut, and so do later updates.
#[test]
fn an_update_that_runs_is_not_touched() {
    let memory = [Layer { kind: LayerKind::Gru as u32, ..Layer::dense(4, rlcore::nn::Activation::Tanh) }];
    for (algorithm, layers) in [(Algorithm::Ppo, &[][..]), (Algorithm::Ppo, &memory), (Algorithm::Impala, &memory)] {
        let config = Config {
            num_envs: N as u32,
            num_chunks: 2,
            num_layers: layers.len() as u32,
            sequence_len: if layers.is_empty() { 0 } else { 2 },
            ..Config::of(algorithm).hidden(&[4]).rollout(4, 1, if algorithm == Algorithm::Ppo { 3 } else { 1 })
        };
        let slices = config.num_epochs * config.num_chunks;
        let params: Vec<Vec<f32>> = (0..=slices)
            .map(|cut_after| {
                let (mut h, mut rng) = (learner(&config, layers), Rng::seeded(5));
                (0..3).for_each(|_| step(&mut h.learner(), &mut rng, &[1; N], &[1; N]));
                // Environment 0 waits for an outcome while the others complete the rollout.
                step(&mut h.learner(), &mut rng, &[1; N], &[0, 1, 1]);
                step(&mut h.learner(), &mut rng, &[0, 1, 1], &[0, 1, 1]);
                assert!(h.learner().phase() == Phase::Learn && h.learner().acted() == [1, 0, 0]);
                h.learner().learn_begin(Elements::F32(&[0.5; N]), None).unwrap();
                for slice in 0..slices {
                    if slice == cut_after {
                        h.learner().cut_rows(&[1, 1, 0]).unwrap();
                        assert!(h.learner().acted() == [0; N]);
                    }
                    h.learner().learn(None, None, 1).unwrap();
                }
                if cut_after == slices {
                    h.learner().cut_rows(&[1, 1, 0]).unwrap();
                }
                assert_eq!(h.learner().phase(), Phase::Act);
                while h.learner().phase() != Phase::Learn {
                    step(&mut h.learner(), &mut rng, &[1; N], &[1; N]);
                }
                h.learner().learn(Some(Elements::F32(&[0.5; N])), None, 0).unwrap();
                h.view().params().to_vec()
            })
            .collect();
        assert!(params.iter().all(|x| *x == params[0]), "{algorithm:?}");
    }
}

/// Traces include the step being learned, and end with it.
#[test]
fn traces_end_with_the_step_that_is_learnt() {
    for algorithm in [Algorithm::StreamAc, Algorithm::StreamQ] {
        let mut config = Config { num_hidden: 1, hidden_len: [8, 0, 0, 0], ..Config::of(algorithm) };
        if algorithm == Algorithm::StreamQ {
            config.exploration_end = 0.0;
        }
        let params = [0, 1, 2].map(|when| {
            let mut h = learner(&config, &[]);
            for t in 0..6 {
                let x = [0.3 * t as f32 - 0.5];
                h.learner().act(None, Elements::F32(&x), None, ElementsMut::I32(&mut [0])).unwrap();
                h.learner().observe(None, &[1.0], &[0], &[0], None, None).unwrap();
                h.learner().learn_begin(Elements::F32(&[x[0] + 0.3]), None).unwrap();
                let gone = t == 3;
                if gone && when == 0 {
                    h.learner().cut_rows(&[1]).unwrap();
                }
                if when == 1 {
                    let mut scratch = vec![0u64; h.view().scratch_size().unwrap().div_ceil(8)];
                    let mut grads = vec![0.0; h.view().grads_len()];
                    h.view().learn_range(0, 1, bytemuck::cast_slice_mut(&mut scratch), &mut grads).unwrap();
                    h.learner().write_grads(0, 1, &grads).unwrap();
                    if gone {
                        h.learner().cut_rows(&[1]).unwrap();
                    }
                    h.learner().learn_apply().unwrap();
                } else {
                    h.learner().learn(None, None, 0).unwrap();
                }
                if gone && when == 2 {
                    h.learner().cut_rows(&[1]).unwrap();
                }
            }
            h.view().params().to_vec()
        });
        assert!(params[0] == params[2] && params[1] == params[2], "{algorithm:?}");
    }
}

/// A cut drops unfinished transitions, whether gradient steps are due or not: those draw from the store.
#[test]
fn off_policy_learning_does_not_matter() {
    let config = Config {
        num_envs: N as u32,
        train_interval: 3,
        gradient_steps: 2,
        n_step: 2,
        ..Config::of(Algorithm::Dqn).hidden(&[8]).store(64, 4, 6)
    };
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[3]));
    let blocks = [false, true].map(|due| {
        let mut block = made(&config, &[], &obs, &action);
        let mut cuts = 0;
        for t in 0..12 {
            let mut l = open(&mut block);
            let x = [0.1 * t as f32, 0.5, -0.1 * t as f32];
            l.act(None, Elements::F32(&x), None, ElementsMut::I32(&mut [0; N])).unwrap();
            l.observe(None, &[1.0, x[0], 0.0], &[0; N], &[0; N], None, None).unwrap();
            let gone = [u8::from(t % 4 == 3), 0, u8::from(t == 7)];
            if due {
                cuts += u32::from(l.phase() == Phase::Learn && gone != [0; N]);
                l.cut_rows(&gone).unwrap();
            }
            learn_all(&mut l, 1);
            if !due {
                l.cut_rows(&gone).unwrap();
            }
        }
        assert!(!due || cuts > 1);
        attach(&mut block);
        block
    });
    assert!(blocks[0] == blocks[1]);
}
