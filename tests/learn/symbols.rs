//! Embeddings must know each symbol of an observation; otherwise the call is refused and names the row.
#![cfg(all(feature = "residual", feature = "off_policy", feature = "words"))]

use crate::host::{export, made, open, policy, transitions};
use rlcore::error::{Error, Kind, Result};
use rlcore::learn::{Algorithm, Batch, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, BYTES, Layer, LayerKind};
use rlcore::space::{Element, Elements, ElementsMut, Space};

const N: usize = 3;
const SYMBOLS: u32 = 11;

/// An embedding of the two symbols of an observation; dense layers follow.
fn layers(flags: u32) -> [Layer; 1] {
    let embed = LayerKind::Embed as u32;
    [Layer { kind: embed, symbols: SYMBOLS, flags, ..Layer::dense(4, Activation::Identity) }]
}

fn config(algorithm: Algorithm) -> Config {
    let (num_envs, num_layers) = (N as u32, 1);
    let own = Config { num_envs, num_layers, num_hidden: 1, hidden_len: [5, 0, 0, 0], ..Config::of(algorithm) };
    match algorithm.is_off_policy() {
        true => Config { buffer_size: 30, batch_size: N as u32, ..own },
        false => Config { num_steps: 2, num_minibatches: 1, ..own },
    }
}

/// Observations of bytes or of numbers, all of whose symbols are known.
#[derive(Clone)]
struct Obs {
    numbers: [f32; 2 * N],
    bytes: Option<[u8; 2 * N]>,
}

impl Obs {
    fn known(kind: Element) -> Obs {
        let numbers = [0.0, 10.0, 3.0, 4.0, 7.0, 10.0];
        Obs { numbers, bytes: (kind == Element::U8).then(|| numbers.map(|x| x as u8)) }
    }

    /// A copy with the symbol `x` in row 1.
    fn with(&self, x: f32) -> Obs {
        let mut other = self.clone();
        other.numbers[3] = x;
        other.bytes.iter_mut().for_each(|bytes| bytes[3] = x as u8);
        other
    }

    fn get(&self) -> Elements<'_> {
        match &self.bytes {
            Some(bytes) => Elements::U8(bytes),
            None => Elements::F32(&self.numbers),
        }
    }
}

fn refused(done: Result<impl Sized>, what: &str) {
    let e: Error = done.map(drop).unwrap_err();
    let text = "obs: row 1 has a number that its embedding has no symbol for: a whole one, below 11";
    assert!(e.kind == Kind::Value && e.to_string() == text, "{what}: {e}");
}

/// Kinds of observations, layer flags, and numbers that are unknown symbols.
fn strangers() -> Vec<(Element, u32, Vec<f32>)> {
    vec![(Element::F32, 0, vec![11.0, -1.0, 0.5, 1e30, -0.25]), (Element::U8, BYTES, vec![11.0, 255.0])]
}

#[test]
fn on_policy_every_call_that_is_given_observations_refuses_strangers() {
    for (kind, flags, bad) in strangers() {
        let obs_space = if kind == Element::U8 { Space::bytes(2) } else { Space::unbounded(2) };
        let (config, action_space) = (config(Algorithm::Ppo), Space::discrete(&[2]));
        let mut block = made(&config, &layers(flags), &obs_space, &action_space);
        let (mut l, good) = (open(&mut block), Obs::known(kind));
        let none = Recurrent::default;
        let (mut action, mut value, mut entropy) = ([0; N], [0.0; N], [0.0; N]);
        for step in 0..2 {
            for x in &bad {
                let (obs, before) = (good.with(*x), l.stats());
                refused(l.act(None, obs.get(), None, ElementsMut::I32(&mut action)), "act");
                let to = ElementsMut::I32(&mut action);
                refused(l.predict(obs.get(), None, none(), Sampling::Greedy, to), "predict");
                refused(l.value(obs.get(), None, &mut value), "value");
                let taken = Elements::I32(&[0; N]);
                refused(l.log_prob(obs.get(), None, taken, &mut value, &mut entropy), "log_prob");
                assert!(l.phase() == Phase::Act && l.stats().num_steps == before.num_steps);
            }
            l.act(None, good.get(), None, ElementsMut::I32(&mut action)).unwrap();
            let ends = [[0; N], [u8::from(step == 0); N]];
            for x in &bad {
                let obs = good.with(*x);
                // A row that is not read may hold any number.
                if step == 0 {
                    refused(l.observe(None, &[1.0; N], &ends[0], &[0, 1, 0], Some(obs.get()), None), "observe");
                }
            }
            let other = good.with(bad[0]);
            l.observe(None, &[1.0; N], &[0; N], &[ends[1][0], 0, 0], Some(other.get()), None).unwrap();
        }
        for x in &bad {
            refused(l.learn(Some(good.with(*x).get()), None, 0), "learn");
            refused(l.learn_begin(good.with(*x).get(), None), "learn_begin");
        }
        l.learn(Some(good.get()), None, 0).unwrap();
        refuses_batches(&mut l, &good, flags);
        let shipped = export(&l.view());
        let policy = policy(&shipped);
        let mut scratch = vec![0.0; policy.scratch_len(N).unwrap()];
        for x in &bad {
            let (obs, to) = (good.with(*x), ElementsMut::I32(&mut action));
            refused(policy.act_greedy(N, obs.get(), None, none(), &mut scratch, to), "policy");
        }
        policy.act_greedy(N, good.get(), None, none(), &mut scratch, ElementsMut::I32(&mut action)).unwrap();
    }
}

/// A batch from elsewhere is refused with a stranger, and accepted without.
fn refuses_batches(l: &mut Learner<'_>, good: &Obs, flags: u32) {
    let seen: Vec<f32> = good.numbers.iter().map(|x| if flags == 0 { *x } else { x / 255.0 }).collect();
    let mut obs = [&seen[..], &seen].concat();
    let mut learn = |obs: &[f32]| {
        l.learn_batch(&Batch {
            obs,
            action: Elements::I32(&[0; 2 * N]),
            mask: &[],
            log_prob: &[-0.7; 2 * N],
            value: &[0.0; 2 * N],
            advantage: &[1.0; 2 * N],
            value_target: &[1.0; 2 * N],
            state: &[],
            begin: &[],
            env: &[],
            duration: &[],
            moments: &[],
        })
    };
    obs[3] = if flags == 0 { 11.0 } else { 11.0 / 255.0 };
    refused(learn(&obs), "learn_batch");
    obs[3] = seen[3];
    learn(&obs).unwrap();
}

#[test]
fn off_policy_every_call_that_is_given_observations_refuses_strangers() {
    for (kind, flags, bad) in strangers() {
        let obs_space = if kind == Element::U8 { Space::bytes(2) } else { Space::unbounded(2) };
        let (config, action_space) = (config(Algorithm::Dqn), Space::discrete(&[2]));
        let mut block = made(&config, &layers(flags), &obs_space, &action_space);
        let (mut l, good) = (open(&mut block), Obs::known(kind));
        let (mut action, taken) = ([0; N], [1; N]);
        for x in &bad {
            let obs = good.with(*x);
            refused(l.act(None, obs.get(), None, ElementsMut::I32(&mut action)), "act");
            refused(l.demonstrate(None, obs.get(), None, Elements::I32(&taken)), "demonstrate");
            let (none, to) = (Recurrent::default(), ElementsMut::I32(&mut action));
            refused(l.predict(obs.get(), None, none, Sampling::Greedy, to), "predict");
            refused(l.value(obs.get(), None, &mut [0.0; N]), "value");
            for next in [false, true] {
                let (obs, next_obs) = if next { (good.get(), obs.get()) } else { (obs.get(), good.get()) };
                let batch = transitions(obs, Elements::I32(&taken), &[1.0; N], &[0; N], next_obs);
                refused(l.learn_transitions(&batch, None), "learn_transitions");
            }
        }
        l.act(None, good.get(), None, ElementsMut::I32(&mut action)).unwrap();
        for x in &bad {
            refused(l.observe(None, &[1.0; N], &[0; N], &[0, 1, 0], Some(good.with(*x).get()), None), "observe");
        }
        l.observe(None, &[1.0; N], &[0; N], &[1; N], Some(good.get()), None).unwrap();
    }
}

/// Normalized numbers are no symbols.
#[test]
fn symbols_are_not_normalized() {
    let config = Config { normalize_obs: 1, ..config(Algorithm::Ppo) };
    let e = Learner::size(&config, &layers(0), &Space::unbounded(2), &Space::discrete(&[2])).unwrap_err();
    assert!(e.to_string().contains("normalize_obs of 0 with an embedding"), "{e}");
}
