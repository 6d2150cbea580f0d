//! Errors about numbers name the row of the host's array that holds them.

#![cfg(all(feature = "off_policy", feature = "words"))]

use crate::host::{Host, config, export, made, open, policy};
use rlcore::data::normalizer;
use rlcore::error::{Kind, Result};
use rlcore::kernels::finite::finite_rows;
use rlcore::learn::{Algorithm, Config, Phase, Recurrent, Sampling};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 4;
const NAN: f32 = f32::NAN;

/// Observations with a number in row `bad` that is not finite.
fn obs(bad: usize) -> [f32; 2 * N] {
    core::array::from_fn(|i| if i == 2 * bad + 1 { NAN } else { 0.25 })
}

fn rewards(bad: usize) -> [f32; N] {
    core::array::from_fn(|i| if i == bad { f32::INFINITY } else { 1.0 })
}

/// Asserts that the call fails and names the row.
#[track_caller]
fn names<T>(call: Result<T>, row: usize) {
    let error = call.err().expect("an error");
    assert_eq!(error.kind, Kind::Value, "{error}");
    assert!(error.to_string().ends_with(&format!(" in row {row}")), "{error}: row {row}");
}

#[test]
fn learners_on_policy_name_rows() {
    for normalize_obs in [0, 1] {
        let config = Config { num_envs: N as u32, num_steps: 2, num_minibatches: 1, normalize_obs, ..config() };
        let mut h = Host::new(&config, &Space::unbounded(2), &Space::discrete(&[3]));
        let (mut choice, good) = ([0; N], obs(N));
        for row in 0..N {
            let mut l = h.learner();
            let active: [u8; N] = core::array::from_fn(|i| u8::from(i >= row));
            for active in [None, Some(&active[..])] {
                let action = ElementsMut::I32(&mut choice);
                names(l.act(active, Elements::F32(&obs(row)), None, action), row);
            }
            let part = obs(row);
            let action = ElementsMut::I32(&mut choice[row..]);
            names(l.act_range(row, N, None, Elements::F32(&part[2 * row..]), None, action), 0);
            let (none, to) = (Recurrent::default(), ElementsMut::I32(&mut choice));
            names(l.predict(Elements::F32(&obs(row)), None, none, Sampling::Greedy, to), row);
            names(l.value(Elements::F32(&obs(row)), None, &mut [0.0; N]), row);
            let mut wrong = [0; N];
            wrong[row] = 3;
            let (log_prob, entropy) = (&mut [0.0; N], &mut [0.0; N]);
            names(l.log_prob(Elements::F32(&obs(row)), None, Elements::I32(&[0; N]), log_prob, entropy), row);
            names(l.log_prob(Elements::F32(&good), None, Elements::I32(&wrong), log_prob, entropy), row);
        }
        let truncated = [1; N];
        while h.learner().phase() != Phase::Learn {
            let mut l = h.learner();
            l.act(None, Elements::F32(&good), None, ElementsMut::I32(&mut choice)).unwrap();
            for row in 0..N {
                let active: [u8; N] = core::array::from_fn(|i| u8::from(i + 1 >= row));
                names(l.observe(Some(&active), &rewards(row), &[0; N], &[0; N], None, None), row);
                let last = obs(row);
                let last = Some(Elements::F32(&last));
                names(l.observe(Some(&active), &[1.0; N], &[0; N], &truncated, last, None), row);
            }
            l.observe(None, &[1.0; N], &[0; N], &[0; N], None, None).unwrap();
        }
        for row in 0..N {
            names(h.learner().learn(Some(Elements::F32(&obs(row))), None, 0), row);
        }
    }
}

#[test]
fn masks_that_allow_nothing_name_rows() {
    let config = Config { num_envs: N as u32, use_action_mask: 1, ..config() };
    let mut h = Host::new(&config, &Space::unbounded(2), &Space::discrete(&[3]));
    let mut mask = [1; 3 * N];
    mask[6..9].fill(0);
    let call = h.learner().act(Some(&[0, 0, 1, 1]), Elements::F32(&obs(N)), Some(&mask), ElementsMut::I32(&mut [0; N]));
    let error = call.unwrap_err();
    assert!(error.to_string().ends_with("not so row 2") || error.to_string().ends_with("violated by row 2"), "{error}");
}

#[test]
fn learners_off_policy_and_policies_name_rows() {
    let config = Config { num_envs: N as u32, num_hidden: 1, hidden_len: [4, 0, 0, 0], ..Config::of(Algorithm::Dqn) };
    let (obs_space, action_space) = (Space::unbounded(2), Space::discrete(&[3]));
    let mut block = made(&config, &[], &obs_space, &action_space);
    let mut l = open(&mut block);
    let (mut choice, good) = ([0; N], obs(N));
    let mem = export(&l.view());
    let policy = policy(&mem);
    let mut scratch = vec![0.0; policy.scratch_len(N).unwrap()];
    for row in 0..N {
        let bad = obs(row);
        let bad = Elements::F32(&bad);
        let active: [u8; N] = core::array::from_fn(|i| u8::from(i + 1 >= row));
        names(l.act(Some(&active), bad, None, ElementsMut::I32(&mut choice)), row);
        names(l.demonstrate(Some(&active), bad, None, Elements::I32(&[0; N])), row);
        names(l.predict(bad, None, Recurrent::default(), Sampling::Greedy, ElementsMut::I32(&mut choice)), row);
        let action = ElementsMut::I32(&mut choice);
        names(policy.act_greedy(N, bad, None, Recurrent::default(), &mut scratch, action), row);
        let (rng, action) = (&mut Rng::seeded(1), ElementsMut::I32(&mut choice));
        names(policy.act(N, bad, None, Recurrent::default(), Sampling::Basic, rng, &mut scratch, action), row);
    }
    l.act(None, Elements::F32(&good), None, ElementsMut::I32(&mut choice)).unwrap();
    for row in 0..N {
        names(l.observe(None, &rewards(row), &[0; N], &[0; N], None, None), row);
        let bad = obs(row);
        names(l.observe(None, &[1.0; N], &[0; N], &[1; N], Some(Elements::F32(&bad)), None), row);
    }
}

#[test]
fn bad_rows_are_found() {
    let mut ok = [9; N];
    for row in 0..N {
        assert_eq!(finite_rows(Elements::F32(&obs(row)), 2, &mut ok), Ok(1));
        assert_eq!(ok, core::array::from_fn(|i| u8::from(i != row)));
    }
    assert_eq!(finite_rows(Elements::F32(&[NAN; 2 * N]), 2, &mut ok), Ok(N));
    assert_eq!((finite_rows(Elements::I32(&[-1; N]), 1, &mut ok), ok), (Ok(0), [1; N]));
    assert_eq!((finite_rows(Elements::F32(&[]), 0, &mut ok), ok), (Ok(0), [1; N]));
    assert_eq!(finite_rows(Elements::F32(&[0.0; 3]), 1, &mut ok).unwrap_err().kind, Kind::Shape);
    // Long rows, which take the fast path.
    let mut wide = vec![0.5; 200 * N];
    wide[200 * N - 1] = f32::NEG_INFINITY;
    assert_eq!((finite_rows(Elements::F32(&wide), 200, &mut ok), ok), (Ok(1), [1, 1, 1, 0]));
    let limits = normalizer::Limits::default();
    let x = rlcore::data::step::Rewrite::in_place(&mut wide);
    names(normalizer::normalise(&[0.0; 200], &[1.0; 200], limits, x), N - 1);
}
