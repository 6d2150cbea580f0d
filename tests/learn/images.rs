//! Learners and policies with words forged and sealed again: every block that `attach` accepts is safe for every call.

use crate::host::{Tune, export, made, policy, seal};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Config, Learner, Phase, Policy, Recurrent, Sampling};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 2;

/// The block of a learner at some point of its training.
#[derive(Clone)]
struct Host {
    block: Vec<u64>,
}

impl Host {
    fn new(config: &Config, action: &Space<'_>) -> Host {
        let obs = if config.num_stacked > 0 { Space::bytes(4) } else { Space::unbounded(2) };
        let block = made(config, &[], &obs, action);
        Host { block }
    }

    fn attach(&mut self) -> Result<Learner<'_>> {
        Learner::attach(bytemuck::cast_slice_mut(&mut self.block))
    }

    /// Makes the call that is due, with arrays of the shapes in the block; `slices` goes to `learn`.
    fn call(&mut self, slices: u32) -> Result {
        let mut learner = self.attach().expect("a block that a call left");
        let (shape, n) = (*learner.shape(), learner.config().num_envs as usize);
        let reals: Vec<f32> = (0..n * shape.obs_len as usize).map(|i| 0.5 - i as f32 / 4.0).collect();
        let bytes = vec![200; reals.len()];
        let obs = if shape.obs_u8() { Elements::U8(&bytes) } else { Elements::F32(&reals) };
        let mask: Vec<u8> = (0..n * shape.num_outputs as usize).map(|i| u8::from(i != 1)).collect();
        let mask = Some(&mask[..]).filter(|_| learner.config().use_action_mask != 0);
        let (mut choice, mut vector) =
            (vec![0; n * shape.action_len as usize], vec![0.0; n * shape.action_len as usize]);
        let mut action = if shape.discrete() { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
        let flags: Vec<u8> = (0..n).map(|i| (i % 2) as u8).collect();
        let predicted = learner.predict(obs, mask, Recurrent::default(), Sampling::Basic, action.reborrow());
        match learner.phase() {
            Phase::Act => learner.act(None, obs, mask, action.reborrow()),
            Phase::Observe => {
                let acted = learner.acted().to_vec();
                learner.observe(Some(&acted), &vec![1.0; n], &flags, &vec![1; n], Some(obs), None)
            }
            Phase::Learn => learner.learn(Some(obs), None, slices).map(drop),
        }
        .and(predicted)
    }
}

fn hosts() -> Vec<Host> {
    let config = Config { num_envs: N as u32, ..Config::default().hidden(&[3]).rollout(2, 2, 2).normalized(1, 1) };
    let low_high = (&[-1.0, -2.0][..], &[1.0, 2.0][..]);
    let mut hosts = Vec::new();
    for discrete in [true, false] {
        let config = Config { use_action_mask: discrete.into(), squash: (!discrete).into(), ..config };
        let action = if discrete { Space::discrete(&[3, 2]) } else { Space::between(low_high.0, low_high.1) };
        let mut h = Host::new(&config, &action);
        // In a rollout, before an update, and in an update.
        for calls in [1, 2, 1, 1] {
            for _ in 0..calls {
                h.call(1).unwrap();
            }
            hosts.push(h.clone());
        }
    }
    // In a minibatch, then in a step.
    let mut h = Host::new(&Config { num_chunks: 2, ..config }, &Space::discrete(&[3]));
    for _ in 0..5 {
        h.call(1).unwrap();
    }
    hosts.push(h.clone());
    h.call(0).unwrap();
    h.attach().unwrap().act_range(1, 2, None, Elements::F32(&[0.5; 2]), None, ElementsMut::I32(&mut [0])).unwrap();
    hosts.push(h.clone());
    // With a row that was cut.
    h.attach().unwrap().cut_rows(&[0, 1]).unwrap();
    hosts.push(h);
    // Acting during an update.
    let mut h = Host::new(&Config { overlap: 1, ..config }, &Space::discrete(&[3]));
    for _ in 0..6 {
        h.call(1).unwrap();
    }
    hosts.push(h);
    // With each frame stored once.
    for overlap in [0, 1] {
        let mut h = Host::new(&Config { num_stacked: 2, normalize_obs: 0, overlap, ..config }, &Space::discrete(&[3]));
        for _ in 0..5 + overlap {
            h.call(1).unwrap();
        }
        hosts.push(h);
    }
    hosts
}

#[rustfmt::skip]
const WORDS: [u32; 22] = [
    0, 1, 2, 3, 4, 5, 1000, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x7fc0_0000, 0x7f80_0000, 0xff80_0000,
    0x7f7f_ffff, 0xff7f_ffff, 0x3f80_0000, 0xbf80_0000, 0x4240_0000, 0x0000_0002, 0x4e9f_5000, 0x5f80_0000,
    0x43f0_0000,
];

/// Each host tries 1 in 4 cases in the words of configuration and state, and 1 in 97 in the numbers behind them.
fn is_left_out(at: usize, word: u32, host: usize) -> bool {
    !(at * 31 + word as usize + host).is_multiple_of(if at > 300 { 97 } else { 4 })
}

#[test]
fn the_seal_is_the_blocks_own() {
    for mut h in hosts() {
        let before = h.block.clone();
        seal(&mut h.block);
        assert!(h.block == before);
    }
}

/// Calls trust the offsets and lengths of arrays in the block, so `attach` checks each of them.
#[test]
fn plans_other_than_the_configurations_are_refused() {
    for host in hosts() {
        let refused = (10..host.block.len() * 2).filter(|&at| {
            let mut h = host.clone();
            bytemuck::cast_slice_mut::<u64, u32>(&mut h.block)[at] ^= 1;
            seal(&mut h.block);
            h.attach().is_err_and(|e| e.what.contains("arrays that lie where"))
        });
        // Offsets and lengths of some seventy arrays, in two words each.
        let refused = refused.count();
        assert!(refused > 280, "{refused}");
    }
}

#[test]
fn what_attach_accepts_every_call_takes() {
    let (mut accepted, mut refused) = (0, 0);
    for (host_number, host) in hosts().into_iter().enumerate() {
        let words = host.block.len() * 2;
        for (at, word) in (10..words).flat_map(|at| WORDS.map(|word| (at, word))) {
            if is_left_out(at, word, host_number) {
                continue;
            }
            let mut h = host.clone();
            bytemuck::cast_slice_mut::<u64, u32>(&mut h.block)[at] = word;
            seal(&mut h.block);
            if h.attach().is_err() {
                refused += 1;
                continue;
            }
            accepted += 1;
            // Through the rest of the rollout, an update, and into the next rollout.
            for _ in 0..7 {
                if let Err(error) = h.call(0) {
                    assert_eq!(error.kind, Kind::Value, "word {at} as {word:#x}: {error}");
                }
                let learner = h.attach().unwrap_or_else(|e| panic!("word {at} as {word:#x}: a call left {e}"));
                let brain = export(&learner.view());
                policy(&brain);
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn what_attach_accepts_of_a_policy_acts() {
    let (mut accepted, mut refused) = (0, 0);
    for (host_number, mut host) in hosts().into_iter().enumerate() {
        let learner = host.attach().unwrap();
        let good = export(&learner.view());
        for (at, word) in (10..good.len() * 2).flat_map(|at| WORDS.map(|word| (at, word))) {
            if is_left_out(at, word, host_number) {
                continue;
            }
            let mut bad = good.clone();
            bytemuck::cast_slice_mut::<u64, u32>(&mut bad)[at] = word;
            seal(&mut bad);
            let Ok(policy) = Policy::attach(bytemuck::cast_slice(&bad)) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let shape = *policy.shape();
            let len = N * shape.action_len as usize;
            let (mut choice, mut vector) = (vec![0; len], vec![0.0; len]);
            let action = if shape.discrete() { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
            let (mut scratch, mut rng) = (vec![0.0; policy.scratch_len(N).unwrap()], Rng::seeded(3));
            let (reals, bytes) = (vec![0.5; N * shape.obs_len as usize], vec![9; N * shape.obs_len as usize]);
            let obs = if shape.obs_u8() { Elements::U8(&bytes) } else { Elements::F32(&reals) };
            match policy.act(N, obs, None, Recurrent::default(), Sampling::Basic, &mut rng, &mut scratch, action) {
                Err(e) => assert_eq!(e.kind, Kind::Value, "word {at} as {word:#x}: {e}"),
                Ok(()) => assert!(vector.iter().all(|x| x.is_finite())),
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}
