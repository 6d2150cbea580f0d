//! Learners and policies with recurrent layers.

use crate::host::{Array, Columns, Host, Tune, config, export, policy, recurrent, same_in_parts};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind, NORMALIZED};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 8;

/// Steps of an episode of [`Cue`].
const STEPS: u32 = 4;

/// An agent sees a cue only in the first step and is paid for naming it in the last one.
#[derive(Clone, Copy)]
struct Cue {
    cue: u32,
    step: u32,
}

impl Cue {
    fn new(rng: &mut Rng) -> Cue {
        Cue { cue: rng.bounded(1) as u32, step: 0 }
    }

    fn obs(&self) -> [f32; 2] {
        [if self.step == 0 { self.cue as f32 * 2.0 - 1.0 } else { 0.0 }, f32::from(self.step + 1 == STEPS)]
    }

    /// The reward, and whether the episode ended.
    fn act(&mut self, action: i32, rng: &mut Rng) -> (f32, u8) {
        let right = action as u32 == self.cue;
        self.step += 1;
        if self.step < STEPS {
            return (0.0, 0);
        }
        *self = Cue::new(rng);
        (f32::from(right), 1)
    }
}

fn observations(cues: &[Cue]) -> Vec<f32> {
    cues.iter().flat_map(Cue::obs).collect()
}

fn cue_host(layer: Layer) -> Host {
    let config = Config { num_envs: N as u32, num_steps: 32, num_minibatches: 2, ..Config::default().hidden(&[16]) };
    let config = Config { num_layers: 1, sequence_len: 8, entropy_coef: 0.003, learning_rate: 0.01, ..config };
    Host::with(&config, &[Layer { units: 12, ..layer }], &Space::unbounded(2), &Space::discrete(&[2]))
}

/// Plays until an update is due.
fn play(h: &mut Host, cues: &mut [Cue], rng: &mut Rng) {
    let mut learner = h.learner();
    while learner.phase() != Phase::Learn {
        let mut action = [0; N];
        learner.act(None, Elements::F32(&observations(cues)), None, ElementsMut::I32(&mut action)).unwrap();
        let steps: Vec<_> = cues.iter_mut().zip(action).map(|(cue, action)| cue.act(action, rng)).collect();
        let (reward, ends): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
        learner.observe(None, &reward, &ends, &[0; N], None, None).unwrap();
    }
}

/// Every cell learns to remember (without a state the return is one half); the exported policy does too, and so does
/// [`Learner::predict`], with states of the caller.
#[test]
fn every_cell_learns_to_remember_and_ships_what_it_learnt() {
    for layer in recurrent() {
        let (mut h, mut rng) = (cue_host(layer), Rng::seeded(3));
        let mut cues = [Cue::new(&mut rng); N];
        while h.learner().stats().num_updates < 200 && h.learner().stats().return_mean.max(0.0) < 0.97 {
            play(&mut h, &mut cues, &mut rng);
            h.learner().learn(Some(Elements::F32(&observations(&cues))), None, 0).unwrap();
        }
        assert!(h.learner().stats().return_mean >= 0.97, "kind {}: {:?}", layer.kind, h.learner().stats());

        let right = shown(&mut h, &mut rng);
        assert!(right >= 0.97, "{right}");
    }
}

/// Off policy every cell learns to remember from sequences of the store, with burn-in, n-step rewards and priorities, and in
/// critics that have no recorded states; the exported policy acts like [`Learner::predict`].
#[test]
#[cfg(feature = "off_policy")]
fn every_cell_learns_to_remember_from_a_store() {
    let [_, gru, ..] = recurrent();
    let each = recurrent().map(|layer| (layer, Algorithm::Dqn, 1, 0.0));
    let others = [(gru, Algorithm::Dqn, 3, 0.6), (gru, Algorithm::Sac, 1, 0.0)];
    for (layer, algorithm, n_step, priority_exponent) in each.into_iter().chain(others) {
        let config = Config {
            num_envs: N as u32,
            num_layers: 1,
            sequence_len: 4,
            burn_in: 4,
            n_step,
            priority_exponent,
            train_interval: 8,
            gradient_steps: 4,
            exploration_steps: 2000,
            ..Config::of(algorithm).hidden(&[16]).store(4000, 64, 500)
        };
        let config = match algorithm {
            Algorithm::Dqn => Config { target_interval: 50, learning_rate: 3e-3, learning_rate_end: 3e-3, ..config },
            _ => Config { temperature: 0.05, temperature_rate: 0.0, exploration_steps: 500, ..config },
        };
        let layers = [Layer { units: 12, ..layer }];
        let mut h = Host::with(&config, &layers, &Space::unbounded(2), &Space::discrete(&[2]));
        let (mut rng, mut right) = (Rng::seeded(3), 0.0);
        let mut cues = [Cue::new(&mut rng); N];
        while h.learner().stats().num_steps < 40_000 && right < 0.97 {
            for _ in 0..250 {
                play(&mut h, &mut cues, &mut rng);
                h.learner().learn(None, None, 0).unwrap();
            }
            right = shown(&mut h, &mut rng);
        }
        assert!(right >= 0.97, "kind {}, {algorithm:?}, {n_step} steps: {right}", layer.kind);
    }
}

/// The share of episodes in which the exported policy names the cue, the same actions as those of [`Learner::predict`].
fn shown(h: &mut Host, rng: &mut Rng) -> f32 {
    let bytes = export(&h.view());
    let policy = policy(&bytes);
    let width = policy.state_len();
    let (mut shipped, mut ours) = (vec![0.5; N * width], vec![f32::NAN; N * width]);
    let (mut ends, mut right) = ([1u8; N], 0.0);
    let mut scratch = vec![f32::NAN; policy.scratch_len(N).unwrap()];
    let mut cues = [Cue::new(rng); N];
    for _ in 0..10 * STEPS {
        let (obs, mut action, mut own) = (observations(&cues), [-1; N], [-1; N]);
        let state = Recurrent { state: &mut shipped, reset: &ends };
        policy.act_greedy(N, Elements::F32(&obs), None, state, &mut scratch, ElementsMut::I32(&mut action)).unwrap();
        let (state, to) = (Recurrent { state: &mut ours, reset: &ends }, ElementsMut::I32(&mut own));
        h.learner().predict(Elements::F32(&obs), None, state, Sampling::Greedy, to).unwrap();
        assert_eq!((action, &shipped), (own, &ours));
        for ((cue, action), end) in cues.iter_mut().zip(action).zip(&mut ends) {
            let (reward, ended) = cue.act(action, rng);
            (*end, right) = (ended, right + reward);
        }
    }
    right / (10 * N) as f32
}

/// As in btgym's stacked policy: one recurrent layer for the policy, and one for the values, which also reads the first.
fn stacked_host(policy_layer: u32) -> Host {
    let cell = |units| Layer { flags: NORMALIZED, ..Layer::recurrent(LayerKind::Lstm, units) };
    let layers = [cell(6), Layer::merge(LayerKind::Join, [1, INPUT], Activation::Identity), cell(4)];
    let config = Config { num_envs: 4, num_steps: 14, num_minibatches: 1, ..config() };
    let config = Config { num_layers: 3, sequence_len: 2, num_chunks: 7, policy_layer, ..config };
    Host::with(&config, &layers, &Space::unbounded(5), &Space::unbounded(2))
}

/// The bits of the policy's actions and of the values, after three fixed draws of observations.
fn said(h: &mut Host) -> [Vec<u32>; 2] {
    let (mut rng, mut state, mut value) = (Rng::seeded(9), vec![0.0; 4 * h.view().state_len()], vec![0.0; 4]);
    let mut action = h.actions();
    for _ in 0..3 {
        let obs = h.draw_obs(&mut rng);
        h.learner().value(obs.get(), None, &mut value).unwrap();
        let recurrent = Recurrent { state: &mut state, reset: &[0; 4] };
        h.learner().predict(obs.get(), None, recurrent, Sampling::Greedy, action.get_mut()).unwrap();
    }
    [action.bits(), value.into_iter().map(f32::to_bits).collect()]
}

/// The second layer's parameters change only the values, unless the policy reads it; the exported policy acts like the
/// learner's.
#[test]
fn the_policy_may_read_another_layer_than_the_values() {
    for (policy_layer, reads_second) in [(0, true), (1, false), (3, true)] {
        let mut h = stacked_host(policy_layer);
        let mut rng = Rng::seeded(4);
        let last = crate::host::record(&mut h, &mut rng);
        h.learner().learn(Some(last.get()), None, 0).unwrap();
        // Weights of 11 and of 15 numbers to four gates per unit, then ten more parameters per unit.
        let (first, second) = (11 * 24 + 60, (11 + 4) * 16 + 40);
        let before = said(&mut h);
        for (range, changes) in [(0..first, [true, true]), (first..first + second, [reads_second, true])] {
            let (mut changed, mut params) = (h.clone(), h.view().params().to_vec());
            params[range].iter_mut().for_each(|x| *x += 0.25);
            changed.learner().write_params(&params).unwrap();
            let after = said(&mut changed);
            let differ = [0, 1].map(|i| before[i] != after[i]);
            assert_eq!(differ, changes, "policy_layer {policy_layer}");
        }

        let bytes = export(&h.view());
        let policy = policy(&bytes);
        assert_eq!(policy.state_len(), if reads_second { 20 } else { 12 });
        let (mut rng, mut state) = (Rng::seeded(9), vec![0.0; 4 * policy.state_len()]);
        let (mut action, mut scratch) = (h.actions(), vec![f32::NAN; policy.scratch_len(4).unwrap()]);
        for _ in 0..3 {
            let (obs, state) = (h.draw_obs(&mut rng), Recurrent { state: &mut state, reset: &[0; 4] });
            policy.act_greedy(4, obs.get(), None, state, &mut scratch, action.get_mut()).unwrap();
        }
        assert_eq!(action.bits(), before[0]);
        same_in_parts(h, 2, "another layer");
    }
    let apart = stacked_host(1).config;
    let layer = "learner config: policy_layer of 0, or up to num_layers on policy, without num_shared";
    let recurrent = "learner config: recurrent layers and sequence_len are not supported by stream algorithms, whose traces go \
                     back through single steps.";
    for (config, words) in [
        (Config { policy_layer: 4, ..apart }, layer),
        (Config { num_shared: 1, ..apart }, layer),
        (Config { algorithm: Algorithm::Pqn as u32, ..apart }, layer),
        (Config { algorithm: Algorithm::StreamAc as u32, ..apart }, recurrent),
        (Config { algorithm: Algorithm::Dqn as u32, ..apart }, layer),
    ] {
        let refused = Learner::size(&config, &[Layer::default(); 3], &Space::unbounded(5), &Space::unbounded(2));
        assert_eq!(refused.unwrap_err().what.to_string(), words, "{:?}", config.algorithm);
    }
}

/// Before the first step of an update the networks reproduce their recorded outputs for every transition, whichever agents come
/// and go: each sequence starts from the state of its agent.
#[test]
fn sequences_start_from_the_states_that_were_recorded() {
    for (layer, overlap, num_chunks) in recurrent().into_iter().flat_map(|layer| [(layer, 0, 1), (layer, 1, 3)]) {
        let config = Config { num_envs: 5, num_steps: 12, num_minibatches: 1, ..config() };
        let config = Config { num_layers: 1, sequence_len: 4, num_chunks, overlap, ..config };
        let mut h = Host::with(&config, &[layer], &Space::unbounded(3), &Space::discrete(&[3]));
        let mut rng = Rng::seeded(7);
        let (mut updates, mut ragged, mut exact, mut is_new) = (0, 0, 0, true);
        while updates < 20 {
            let obs = h.draw_obs(&mut rng);
            if h.learner().phase() == Phase::Learn {
                let first = h.learner().learn(Some(obs.get()), None, num_chunks).unwrap();
                // Unless an agent acted before the last update, and was observed after it.
                if is_new {
                    assert_eq!((first.approx_kl, first.clip_fraction), (0.0, 0.0), "update {updates}");
                    exact += 1;
                }
                is_new = overlap == 0 && !h.learner().acted().contains(&1);
                assert_eq!(first.minibatches_left, config.num_epochs - 1);
                let last = h.learner().learn(None, None, 0).unwrap();
                assert!(last.approx_kl > 0.0);
                updates += 1;
                continue;
            }
            let sees = h.play_some(&obs, &mut rng);
            if h.learner().phase() != Phase::Learn && rng.bounded(20) == 0 {
                let gone: Vec<u8> = (0..h.n).map(|_| rng.coin().into()).collect();
                h.learner().cut_rows(&gone).unwrap();
            }
            ragged += usize::from(sees.contains(&0));
        }
        assert!(ragged > 100 && (exact > 2 || overlap != 0), "{ragged} {exact}");
    }
}

/// The value of a final observation is computed from the state after its transition, and an episode begins with zeros.
#[test]
fn values_of_final_observations_know_the_episode() {
    for layer in recurrent() {
        let config = Config { num_envs: 2, num_minibatches: 1, num_layers: 1, sequence_len: 1, ..config() };
        let mut h = Host::with(&config, &[layer], &Space::unbounded(2), &Space::discrete(&[2]));
        let mut rng = Rng::seeded(5);
        let (mut before, width) = (Vec::new(), h.view().state_len());
        while h.learner().phase() != Phase::Learn {
            let obs = h.draw_obs(&mut rng);
            let mut action = h.actions();
            h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
            let (last, mut value) = (h.draw_obs(&mut rng), [0.0; 2]);
            h.learner().value(last.get(), None, &mut value).unwrap();
            before.push(value);
            h.learner().observe(None, &[0.0; 2], &[0; 2], &[0, 1], Some(last.get()), None).unwrap();
        }
        let obs = h.obs();
        h.learner().learn_begin(obs.get(), None).unwrap();
        let batch = Columns::read(&mut h);
        for (t, value) in before.iter().enumerate() {
            // With a reward of 0 and a truncation, the advantage is the discounted value of the final observation, less the own
            // value.
            let at = 2 * t + 1;
            let want = config.discount * value[1] - batch.value[at];
            assert!((batch.advantage[at] - want).abs() < 1e-6, "step {t}");
            assert_eq!((batch.begin[at], batch.begin[2 * t]), (1, u8::from(t == 0)));
            assert!(batch.state[at * width..(at + 1) * width].iter().all(|x| *x == 0.0));
            assert_eq!(batch.state[2 * t * width..(2 * t + 1) * width].iter().all(|x| *x == 0.0), t == 0);
            assert_eq!((batch.env[at], batch.env[2 * t]), (1, 0));
        }
    }
}

/// A learner that is copied in the middle continues to the same bytes.
#[test]
fn a_copy_in_the_middle_of_an_episode_or_an_update_goes_on_the_same() {
    for layer in recurrent() {
        let (mut h, mut rng) = (cue_host(layer), Rng::seeded(3));
        let mut cues = [Cue::new(&mut rng); N];
        for slices in [1, 3] {
            play(&mut h, &mut cues, &mut rng);
            h.learner().learn(Some(Elements::F32(&observations(&cues))), None, slices).unwrap();
            let mut copy = h.clone();
            for h in [&mut h, &mut copy] {
                let (mut cues, mut rng) = (cues, rng);
                h.learner().learn(None, None, 0).unwrap();
                play(h, &mut cues, &mut rng);
                h.learner().learn(Some(Elements::F32(&observations(&cues))), None, 0).unwrap();
            }
            assert!(h.block == copy.block);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (obs, action) = (Space::unbounded(2), Space::discrete(&[2]));
    let lstm = [Layer::recurrent(LayerKind::Lstm, 4)];
    let good = Config { num_envs: 2, num_steps: 12, num_layers: 1, num_minibatches: 2, sequence_len: 4, ..config() };
    let size = |config: Config, layers: &[Layer]| Learner::size(&config, layers, &obs, &action).map_err(|e| e.kind);
    assert!(size(good, &lstm).is_ok());
    let spoilt = [
        (Config { sequence_len: 0, ..good }, &lstm[..]),
        (Config { sequence_len: 5, ..good }, &lstm),
        (Config { sequence_len: 8, ..good }, &lstm),
        (Config { num_chunks: 4, ..good }, &lstm),
        (Config { num_layers: 0, ..good }, &[]),
        (Config { ..good }, &[Layer::dense(4, Activation::Tanh)]),
    ];
    for (k, (config, layers)) in spoilt.into_iter().enumerate() {
        assert_eq!(size(config, layers), Err(Kind::Config), "{k}");
    }

    let mut h = Host::with(&good, &lstm, &obs, &action);
    let bytes = export(&h.view());
    let policy = policy(&bytes);
    let mut scratch = vec![0.0; policy.scratch_len(2).unwrap()];
    let mut nan = vec![0.25; 16];
    nan[9] = f32::NAN;
    let cases: [(&[f32], &[u8], Option<Kind>); 7] = [
        (&[0.25; 16], &[0, 1], None),
        (&[0.25; 16], &[], None),
        (&nan, &[0, 1], None),
        (&nan, &[1, 0], Some(Kind::Value)),
        (&nan, &[], Some(Kind::Value)),
        (&[0.25; 15], &[0, 1], Some(Kind::Shape)),
        (&[0.25; 16], &[0], Some(Kind::Shape)),
    ];
    let input = Array::F32(vec![0.5; 4]);
    for (k, (state, reset, want)) in cases.into_iter().enumerate() {
        for call in 0..3 {
            let (before, mut own, mut choice) = (h.block.clone(), state.to_vec(), [7; 2]);
            let recurrent = Recurrent { state: &mut own, reset };
            let (to, mut rng) = (ElementsMut::I32(&mut choice), Rng::seeded(1));
            let done = match call {
                0 => h.learner().predict(input.get(), None, recurrent, Sampling::Basic, to),
                1 => policy.act(2, input.get(), None, recurrent, Sampling::Basic, &mut rng, &mut scratch, to),
                _ => policy.act_greedy(2, input.get(), None, recurrent, &mut scratch, to),
            };
            assert_eq!(done.err().map(|e| e.kind), want, "case {k}");
            if want.is_some() {
                let same = own.iter().zip(state).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(h.block == before && choice == [7; 2] && rng == Rng::seeded(1) && same);
            } else {
                assert!(choice != [7; 2] && own.iter().all(|x| x.is_finite() && *x != 0.25));
            }
        }
    }
}
