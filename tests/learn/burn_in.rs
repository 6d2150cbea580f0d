//! Burn-in: sequences of recurrent learners begin with states recomputed from the steps before them.

#![cfg(all(feature = "recurrent", feature = "attention", feature = "pqn"))]

use crate::host::{Columns, Host, chunks, config, open, record, recurrent, same_in_parts};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase};
use rlcore::nn::{ALL, Activation, HEAD, Layer, Net, Node};
use rlcore::rng::Rng;
use rlcore::space::{Elements, Space};

const STEPS: usize = 24;
const SEQUENCE: usize = 4;
const N: usize = 5;

fn burning(burn_in: u32) -> Config {
    Config {
        num_envs: N as u32,
        num_steps: STEPS as u32,
        num_minibatches: 2,
        num_layers: 2,
        sequence_len: SEQUENCE as u32,
        num_chunks: 7,
        burn_in,
        ..config()
    }
}

fn host(layer: Layer, config: &Config) -> Host {
    Host::with(config, &listed(layer), &Space::unbounded(3), &Space::discrete(&[3]))
}

/// Attention carries outputs of the layer before it, so a dense layer comes first.
fn listed(layer: Layer) -> [Layer; 2] {
    [Layer::dense(5, Activation::Tanh), layer]
}

/// Recomputes the initial states of sequences, row by row from a recorded state. Returns how many changed.
fn refresh(layer: Layer, burn_in: usize, params: &[f32], columns: &mut Columns) -> usize {
    let [dense, layer] = listed(layer);
    let layers = [dense, layer, Layer { flags: HEAD, ..Layer::dense(1, Activation::Identity) }];
    let mut nodes = [Node::default(); 3];
    let net = Net::compile(&layers, [1, 1, 3], &mut nodes).unwrap();
    let width = net.state_len();
    let mut own = vec![0.0; net.param_len()];
    let layer_len = net.params_of(1).unwrap().end;
    own[..layer_len].copy_from_slice(&params[..layer_len]);
    let mut scratch = vec![0.0; net.infer_scratch_len(1)];
    let recorded = columns.state.clone();
    let row = |t: usize, env: usize| t * N + env;
    let mut changed = 0;
    for env in 0..N {
        for first in (0..STEPS).step_by(SEQUENCE) {
            let mut from = first;
            while from > 0 && first - from < burn_in && columns.begin[row(from, env)] == 0 {
                from -= 1;
            }
            let mut state = recorded[row(from, env) * width..][..width].to_vec();
            for t in from..first {
                let obs = &columns.obs[row(t, env) * 3..][..3];
                net.infer(&own, obs, 1, ALL, &mut state, &mut scratch, &mut [&mut [0.0]]).unwrap();
            }
            let to = &mut columns.state[row(first, env) * width..][..width];
            changed += usize::from(*to != *state);
            to.copy_from_slice(&state);
        }
    }
    changed
}

/// A learner with parameters other than the recorder's that has begun to learn this rollout.
fn begun(layer: Layer, config: &Config, columns: &Columns) -> Host {
    let mut h = host(layer, config);
    let mut rng = Rng::seeded(77);
    let params: Vec<f32> = h.view().params().iter().map(|x| x + 0.3 * (rng.uniform_f32() - 0.5)).collect();
    h.learner().write_params(&params).unwrap();
    h.learner().learn_batch(&columns.batch()).unwrap();
    h
}

#[test]
fn gradients_are_those_of_states_made_by_hand() {
    for layer in recurrent() {
        // With `policy_layer` 1 the policy reads the first layer, and only the values read the layer with states.
        let all = [Algorithm::Ppo, Algorithm::A2c, Algorithm::Impala, Algorithm::Pqn].into_iter().zip([3, 4, 7, 20]);
        let apart = [(Algorithm::Ppo, 20), (Algorithm::A2c, 3), (Algorithm::Impala, 7)];
        for (algorithm, steps, policy_layer) in all.map(|(a, s)| (a, s, 0)).chain(apart.map(|(a, s)| (a, s, 1))) {
            let burning = Config { policy_layer, ..burning(steps) };
            let config = match algorithm {
                Algorithm::Ppo => burning,
                _ => Config { algorithm: algorithm as u32, normalize_advantage: 0, ..burning },
            };
            let plain = Config { burn_in: 0, ..config };
            let mut recorder = host(layer, &plain);
            let last = record(&mut recorder, &mut Rng::seeded(9));
            recorder.learner().learn_begin(last.get(), None).unwrap();
            let mut columns = Columns::read(&mut recorder);
            let (fresh, stale) = (begun(layer, &config, &columns), begun(layer, &plain, &columns));
            let changed = refresh(layer, steps as usize, fresh.view().params(), &mut columns);
            let by_hand = begun(layer, &plain, &columns);
            assert!(changed > N * 3, "{changed}");
            let grads = chunks(&fresh, 0, 7);
            let (width, len) = (fresh.view().grads_len(), grads.len());
            assert!(len == 7 * width && grads.iter().any(|x| *x != 0.0));
            assert!(grads == chunks(&by_hand, 0, 7), "kind {}, {algorithm:?}, {policy_layer}", layer.kind);
            assert!(grads != chunks(&stale, 0, 7), "kind {}, {algorithm:?}, {policy_layer}", layer.kind);
        }
    }
}

/// The parameters that acted reproduce the recorded states, whichever agents come and go.
#[test]
fn fresh_states_of_the_same_parameters_are_the_recorded_ones() {
    for ((layer, burn_in), noisy) in recurrent().into_iter().zip([4, 1, 8, 5, 3]).flat_map(|own| [(own, 0), (own, 1)]) {
        let config = Config { num_steps: 12, num_minibatches: 1, num_chunks: 3, burn_in, noisy, ..burning(0) };
        let mut h = host(layer, &config);
        let (mut rng, mut exact, mut is_new) = (Rng::seeded(7), 0, true);
        for _ in 0..400 {
            let obs = h.draw_obs(&mut rng);
            if h.learner().phase() == Phase::Learn {
                let first = h.learner().learn(Some(obs.get()), None, 3).unwrap();
                if is_new {
                    assert_eq!((first.approx_kl, first.clip_fraction), (0.0, 0.0));
                    exact += 1;
                }
                // An agent that acted before the update and is observed after it had older parameters.
                is_new = !h.learner().acted().contains(&1);
                h.learner().learn(None, None, 0).unwrap();
                continue;
            }
            h.play_some(&obs, &mut rng);
            if h.learner().phase() != Phase::Learn && rng.bounded(9) == 0 {
                h.learner().cut_rows(&[(); N].map(|()| u8::from(rng.bounded(4) == 0))).unwrap();
            }
        }
        assert!(exact > 1, "{exact}");
    }
}

#[test]
fn any_parts_leave_the_same_bytes() {
    for layer in recurrent() {
        for overlap in [0, 1] {
            let config = Config { overlap, noisy: u32::from(overlap == 0), ..burning(6) };
            same_in_parts(host(layer, &config), 2, &format!("kind {}", layer.kind));
        }
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (obs, action) = (Space::unbounded(3), Space::discrete(&[3]));
    let [lstm, ..] = recurrent();
    let list = listed(lstm);
    let size = |config: &Config, layers: &[Layer]| Learner::size(config, layers, &obs, &action);
    let most = (STEPS - SEQUENCE) as u32;
    size(&burning(most), &list).unwrap();
    let words = "burn_in of at most num_steps - sequence_len, or 0 without recurrent layers,";
    let dense = Config { num_layers: 0, sequence_len: 0, ..burning(1) };
    let whole = Config { sequence_len: STEPS as u32, num_chunks: 1, num_minibatches: 1, ..burning(1) };
    for (config, layers, most) in
        [(burning(most + 1), &list[..], most), (burning(u32::MAX), &list, most), (dense, &[], 0), (whole, &list, 0)]
    {
        let error = size(&config, layers).unwrap_err();
        let wanted = format!("{words} {most}, given {}", config.burn_in);
        assert!(error.kind == Kind::Config && error.to_string().contains(&wanted), "{error}");
    }
    let config = Config { burn_in: 1, ..Config::of(Algorithm::Dqn) };
    let error = Learner::size(&config, &[], &obs, &action).unwrap_err();
    assert!(
        error.kind == Kind::Config && error.to_string().contains("burn_in of at most buffer_size, or 0 without"),
        "{error}"
    );
}

/// States of a learner and of its rollout must be finite: a block with a NaN or an infinity among them is refused.
#[test]
fn states_that_are_no_numbers_are_refused() {
    let [lstm, ..] = recurrent();
    let mut h = host(lstm, &burning(0));
    let mut rng = Rng::seeded(1);
    for _ in 0..3 {
        let (obs, mut action) = (h.draw_obs(&mut rng), h.actions());
        h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
        h.learner().observe(None, &[0.0; N], &[0; N], &[0; N], None, None).unwrap();
    }
    // Agent 2's states before step 2 (recorded in the rollout) and before step 3 (carried to the next act), taken from a copy
    // and located in the block by value.
    let mut copy = h.clone();
    let last = record(&mut copy, &mut rng);
    copy.learner().learn_begin(last.get(), None).unwrap();
    let columns = Columns::read(&mut copy);
    let width = copy.view().state_len();
    for t in [2, 3] {
        let state = &columns.state[(t * N + 2) * width..][..width];
        let words: &[f32] = bytemuck::cast_slice(&h.block);
        let places: Vec<usize> = (0..words.len() - width).filter(|&i| words[i..i + width] == *state).collect();
        assert_eq!(places.len(), 1, "step {t}");
        for bad in [f32::NAN, f32::INFINITY] {
            let mut spoilt = h.clone();
            bytemuck::cast_slice_mut::<u64, f32>(&mut spoilt.block)[places[0] + 4] = bad;
            let before = spoilt.block.clone();
            let mem = bytemuck::cast_slice_mut(&mut spoilt.block);
            assert_eq!(Learner::attach(mem).err().map(|e| e.kind), Some(Kind::Image), "step {t}: {bad}");
            // A host that opens the block unchecked: its next step is refused and changes nothing. (Gates saturate at
            // infinity.)
            if t == 3 && bad.is_nan() {
                let (obs, mut action) = (vec![0.5; 3 * N], h.actions());
                let mut learner = open(&mut spoilt.block);
                let done = learner.act(None, Elements::F32(&obs), None, action.get_mut());
                assert_eq!((done.err().map(|e| e.kind), &action), (Some(Kind::Value), &h.actions()));
                assert!(spoilt.block == before);
            }
        }
    }
}
