//! Normalization statistics go from learner to learner together with their parameters.

#[cfg(feature = "off_policy")]
use crate::host::transitions;
use crate::host::{Columns, Host, Tune, chunks, config, export, train};
use rlcore::error::{Kind, Result};
#[cfg(feature = "off_policy")]
use rlcore::learn::Algorithm;
use rlcore::learn::{Config, Policy, Recurrent, Sampling, merge_moments};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const OBS: usize = 6;

/// Numbers far from mean 0 and variance 1, so that another learner's statistics give another policy.
fn far(rng: &mut Rng, rows: usize) -> Vec<f32> {
    (0..rows * OBS).map(|i| 40.0 * (i % OBS) as f32 - 90.0 + (1 + i % 3) as f32 * rng.uniform_f32()).collect()
}

fn host(num_envs: u32, normalize: [u32; 2]) -> Host {
    let [normalize_obs, normalize_reward] = normalize;
    let config = Config { num_envs, num_steps: 12, num_minibatches: 2, normalize_obs, normalize_reward, ..config() };
    Host::new(&config, &Space::unbounded(OBS as u32), &Space::discrete(&[5]))
}

/// Records a rollout of observations from `far`, and returns those for the next act.
fn play(h: &mut Host, rng: &mut Rng) -> Vec<f32> {
    play_of(h, rng, 1.0)
}

/// [`play`] with observations of another size.
fn play_of(h: &mut Host, rng: &mut Rng, size: f32) -> Vec<f32> {
    let far = |rng: &mut Rng, rows| far(rng, rows).iter().map(|x| size * x).collect::<Vec<_>>();
    for _ in 0..h.config.num_steps {
        let (obs, mut choice) = (far(rng, h.n), vec![0; h.n]);
        h.learner().act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut choice)).unwrap();
        let reward: Vec<f32> =
            choice.iter().zip(obs.chunks(OBS)).map(|(c, o)| 30.0 * (*c as f32) * o[0].fract()).collect();
        let ends: Vec<u8> = (0..h.n).map(|_| u8::from(rng.uniform() < 0.1)).collect();
        h.learner().observe(None, &reward, &ends, &vec![0; ends.len()], None, None).unwrap();
    }
    far(rng, h.n)
}

fn moments(h: &Host) -> Vec<f64> {
    let mut moments = vec![f64::NAN; h.view().moments_len()];
    h.view().read_moments(&mut moments).unwrap();
    moments
}

/// The greedy actions of a policy, and of a learner.
fn of_policy(bytes: &[u64], obs: &[f32]) -> Vec<i32> {
    let policy = Policy::attach(bytemuck::cast_slice(bytes)).unwrap();
    let rows = obs.len() / OBS;
    let (mut scratch, mut choice) = (vec![0.0; policy.scratch_len(rows).unwrap()], vec![-1; rows]);
    let recurrent = Recurrent::default();
    policy.act_greedy(rows, Elements::F32(obs), None, recurrent, &mut scratch, ElementsMut::I32(&mut choice)).unwrap();
    choice
}

fn of_learner(h: &mut Host, obs: &[f32]) -> Vec<i32> {
    let mut all = Vec::new();
    for obs in obs.chunks_exact(h.n * OBS) {
        let mut choice = vec![-1; h.n];
        let (greedy, none) = (Sampling::Greedy, Recurrent::default());
        h.learner().predict(Elements::F32(obs), None, none, greedy, ElementsMut::I32(&mut choice)).unwrap();
        all.extend(choice);
    }
    all
}

/// A learner that never sees an environment learns from the rollouts of an actor: its exported policy acts like the actor with
/// the learner's parameters, in every observation.
#[test]
fn a_central_learner_exports_the_policy_of_its_actor() {
    let (mut actor, mut server, mut rng) = (host(4, [1, 1]), host(4, [1, 1]), Rng::seeded(2));
    let obs = far(&mut Rng::seeded(9), 400);
    for _ in 0..8 {
        let last = play(&mut actor, &mut rng);
        actor.learner().learn_begin(Elements::F32(&last), None).unwrap();
        let batch = Columns::read(&mut actor);
        actor.learner().learn_drop().unwrap();
        assert_eq!(batch.moments, moments(&actor));
        let bare = Columns { moments: Vec::new(), ..batch.clone() };
        let error = server.learner().learn_batch(&bare.batch()).unwrap_err();
        assert!(error.kind == Kind::Shape && error.what.contains("moments"), "{error}");
        server.learner().learn_batch(&batch.batch()).unwrap();
        assert_eq!(moments(&server), moments(&actor));
        assert_eq!(export(&server.view()), export(&actor.view()), "the same parameters and statistics");
        server.learner().learn(None, None, 0).unwrap();
        assert!(export(&server.view()) != export(&actor.view()));
        let params = server.learner().params().to_vec();
        actor.learner().write_params_with(&params, &batch.moments).unwrap();
        let chosen = of_learner(&mut actor, &obs);
        assert_eq!(of_policy(&export(&server.view()), &obs), chosen);
        assert!(chosen.iter().any(|choice| *choice != chosen[0]), "one action in all observations says nothing");
    }
}

/// How actors and the learner that they share work together.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Share {
    /// Rollouts go to the learner.
    Rollouts,
    /// Gradients of rollouts do.
    Gradients,
    /// Transitions off policy do.
    #[cfg(feature = "off_policy")]
    Transitions,
}

/// Three actors count observations of their own, each of other sizes. After each round the learner merges their statistics and
/// answers with its parameters: the exported policy acts like each of them, in every observation.
#[test]
fn a_central_learner_agrees_with_all_of_its_actors() {
    let mut obs = far(&mut Rng::seeded(9), 400);
    obs.chunks_mut(OBS).enumerate().for_each(|(i, row)| row.iter_mut().for_each(|x| *x *= (i % 4) as f32));
    #[cfg(feature = "off_policy")]
    let ways = [Share::Rollouts, Share::Gradients, Share::Transitions];
    #[cfg(not(feature = "off_policy"))]
    let ways = [Share::Rollouts, Share::Gradients];
    for way in ways {
        let on_policy = way == Share::Rollouts || way == Share::Gradients;
        let config = match way {
            Share::Rollouts | Share::Gradients => Config { num_minibatches: 2, ..config() },
            #[cfg(feature = "off_policy")]
            Share::Transitions => Config { buffer_size: 0, batch_size: 24, ..Config::of(Algorithm::Dqn) },
        };
        let config = Config { num_envs: 4, normalize_obs: 1, normalize_reward: 1, ..config.hidden(&[8]).rate(1e-2) };
        let config =
            if on_policy { Config { num_steps: 12, num_epochs: 1, num_minibatches: 1, ..config } } else { config };
        let made = |seed| Host::new(&Config { seed, ..config }, &Space::unbounded(OBS as u32), &Space::discrete(&[5]));
        let (mut server, mut actors) = (made(1), [2, 3, 4].map(made));
        let (params, base) = (server.learner().params().to_vec(), moments(&server));
        actors.iter_mut().for_each(|actor| actor.learner().write_params_with(&params, &base).unwrap());
        let (mut rng, mut before, mut changed) = (Rng::seeded(2), Vec::new(), 0);
        for round in 0..6 {
            let base = moments(&server);
            let mut merged = base.clone();
            for (k, actor) in actors.iter_mut().enumerate() {
                let size = (k + 1) as f32;
                let last = play_of(actor, &mut rng, size);
                match way {
                    Share::Rollouts => {
                        actor.learner().learn_begin(Elements::F32(&last), None).unwrap();
                        let batch = Columns::read(actor);
                        actor.learner().learn_drop().unwrap();
                        server.learner().learn_batch(&batch.batch()).unwrap();
                        server.learner().learn(None, None, 0).unwrap();
                    }
                    Share::Gradients => {
                        actor.learner().learn_begin(Elements::F32(&last), None).unwrap();
                        let grads = chunks(actor, 0, 1);
                        actor.learner().learn_drop().unwrap();
                        server.learner().write_grads(0, 1, &grads).unwrap();
                        server.learner().learn_apply().unwrap();
                    }
                    #[cfg(feature = "off_policy")]
                    Share::Transitions => {
                        let rows = server.view().batch_len().0;
                        let (obs, next) = (far(&mut rng, rows), far(&mut rng, rows));
                        let choice: Vec<i32> = (0..rows).map(|_| rng.bounded(4) as i32).collect();
                        let reward: Vec<f32> = choice.iter().map(|c| *c as f32 * size).collect();
                        let over = vec![0; rows];
                        let (obs, next) = (Elements::F32(&obs), Elements::F32(&next));
                        let batch = transitions(obs, Elements::I32(&choice), &reward, &over, next);
                        server.learner().learn_transitions(&batch, None).unwrap();
                    }
                }
                merge_moments(&mut merged, &moments(actor), Some(&base)).unwrap();
            }
            server.learner().write_moments(&merged).unwrap();
            let params = server.learner().params().to_vec();
            let policy = of_policy(&export(&server.view()), &obs);
            for actor in &mut actors {
                actor.learner().write_params_with(&params, &merged).unwrap();
                assert_eq!(export(&actor.view()), export(&server.view()), "{way:?}, round {round}");
                assert_eq!(of_learner(actor, &obs), policy, "{way:?}, round {round}");
            }
            changed += u32::from(before != policy);
            before = policy;
        }
        assert!(changed > 2, "{way:?}: policies that stay the same say nothing");
    }
}

/// Parameters of a learner of 16 environments in a learner of one: the same greedy actions and the same exported bytes.
/// Parameters without statistics are refused, and nothing changes.
#[test]
fn parameters_take_their_statistics_to_learners_of_another_size() {
    for normalize in [[1, 0], [0, 1], [1, 1]] {
        let (mut many, mut one, mut rng) = (host(16, normalize), host(1, normalize), Rng::seeded(3));
        for _ in 0..6 {
            let last = play(&mut many, &mut rng);
            many.learner().learn(Some(Elements::F32(&last)), None, 0).unwrap();
        }
        let (params, moments) = (many.learner().params().to_vec(), moments(&many));
        let before = one.block.clone();
        for wrong in [&[][..], &moments[1..]] {
            let error = one.learner().write_params_with(&params, wrong).unwrap_err();
            assert!(error.kind == Kind::Shape && error.what.contains("moments"), "{error}");
        }
        assert_eq!(one.learner().write_params(&params).unwrap_err().kind, Kind::Shape);
        let mut bad = moments.clone();
        for (x, kind) in [(f64::NAN, Kind::Value), (-1.0, Kind::Range)] {
            bad[2] = x;
            assert_eq!(one.learner().write_params_with(&params, &bad).unwrap_err().kind, kind);
        }
        assert!(one.block == before);
        one.learner().write_params_with(&params, &moments).unwrap();
        assert_eq!(export(&one.view()), export(&many.view()));
        let obs = far(&mut rng, 320);
        assert_eq!(of_learner(&mut one, &obs), of_learner(&mut many, &obs));
        assert_eq!(self::moments(&one), moments);
        let (mut value, mut values) = ([0.0], [0.0; 16]);
        many.learner().value(Elements::F32(&obs[..16 * OBS]), None, &mut values).unwrap();
        one.learner().value(Elements::F32(&obs[..OBS]), None, &mut value).unwrap();
        assert_eq!(value[0], values[0]);
    }
}

/// With overlap, parameters wait for the end of the update but statistics would act at once, so writing both is refused.
#[test]
fn parameters_and_statistics_change_together() {
    let mut h = host(4, [1, 0]);
    let config = Config { overlap: 1, ..h.config };
    h = Host::new(&config, &Space::unbounded(OBS as u32), &Space::discrete(&[5]));
    let last = play(&mut h, &mut Rng::seeded(1));
    let (params, moments) = (h.learner().params().to_vec(), moments(&h));
    h.learner().learn_begin(Elements::F32(&last), None).unwrap();
    let before = h.block.clone();
    assert_eq!(h.learner().write_params_with(&params, &moments).unwrap_err().kind, Kind::NotReady);
    assert!(h.block == before);
    h.learner().learn_drop().unwrap();
    h.learner().write_params_with(&params, &moments).unwrap();
}

#[test]
fn statistics_are_as_long_as_what_is_normalised() {
    for (normalize, len) in [([0, 0], 0), ([0, 1], 4), ([1, 0], 4 + 2 * OBS), ([1, 1], 4 + 2 * OBS)] {
        let mut h = host(3, normalize);
        assert_eq!(h.view().moments_len(), len);
        let fresh = moments(&h);
        assert!(len == 0 || fresh[..4] == [1e-4, 0.0, 1.0, 1e-4]);
        train(&mut h, &mut Rng::seeded(5), 1);
        let seen = moments(&h);
        let rows = f64::from(h.config.num_steps * h.config.num_envs);
        assert!(len == 0 || seen[0] == 1e-4 + rows * f64::from(normalize[1]));
        assert!(len == 0 || seen[3] == 1e-4 + rows * f64::from(normalize[0]));
        h.learner().freeze(true);
        h.learner().write_moments(&fresh).unwrap();
        assert_eq!(moments(&h), fresh);
        assert_eq!(h.learner().write_moments(&[1.0; 3]).unwrap_err().kind, Kind::Shape);
        assert_eq!(h.view().read_moments(&mut [1.0; 3]).unwrap_err().kind, Kind::Shape);
    }
}

/// Statistics of rows of two observed numbers; the returns are the second number.
fn of_rows(rows: &[[f64; 2]]) -> Vec<f64> {
    let n = rows.len() as f64;
    let mean = |k: usize| rows.iter().map(|row| row[k]).sum::<f64>() / n;
    let var = |k: usize| rows.iter().map(|row| (row[k] - mean(k)).powi(2)).sum::<f64>() / n;
    vec![n, mean(1), var(1), n, mean(0), mean(1), var(0), var(1)]
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
}

/// Three workers begin with the statistics of a server and count rows of their own; merged, they equal the statistics of all
/// rows.
#[test]
fn merged_statistics_are_those_of_all_rows() {
    let mut rng = Rng::seeded(4);
    let mut rows = |n: usize| -> Vec<[f64; 2]> { (0..n).map(|_| [rng.uniform() - 7.0, 1e3 * rng.uniform()]).collect() };
    let (base, own) = (rows(1000), [rows(10), rows(300), rows(1)]);
    let all = of_rows(&[base.clone(), own.concat()].concat());
    let began = of_rows(&base);
    let mut merged = began.clone();
    for own in &own {
        merge_moments(&mut merged, &of_rows(&[base.clone(), own.clone()].concat()), Some(&began)).unwrap();
    }
    assert!(near(&merged, &all), "{merged:?} {all:?}");
    // No common base.
    let mut apart = of_rows(&own[0]);
    merge_moments(&mut apart, &of_rows(&own[1]), None).unwrap();
    assert!(near(&apart, &of_rows(&own[..2].concat())));
    // Constant numbers have a variance of 0, not below.
    let still = of_rows(&[[0.1, 3.3]; 7]);
    let mut merged = still.clone();
    merge_moments(&mut merged, &of_rows(&[[0.1, 3.3]; 10]), Some(&still)).unwrap();
    assert!(merged[0] == 10.0 && merged[2] >= 0.0 && merged[6] >= 0.0 && near(&merged, &of_rows(&[[0.1, 3.3]; 10])));
}

#[test]
fn statistics_that_cannot_be_merged_are_refused() {
    let good = of_rows(&[[1.0, 2.0], [3.0, 5.0]]);
    let refused = |moments: &[f64], with: &[f64], base: Option<&[f64]>| {
        let mut to = moments.to_vec();
        let kind = merge_moments(&mut to, with, base).unwrap_err().kind;
        assert!(to.iter().zip(moments).all(|(a, b)| a.to_bits() == b.to_bits()));
        kind
    };
    let with = |i: usize, x: f64| {
        let mut changed = good.clone();
        changed[i] = x;
        changed
    };
    assert_eq!(refused(&good, &good[1..], None), Kind::Shape);
    assert_eq!(refused(&good, &good, Some(&good[1..])), Kind::Shape);
    assert_eq!(refused(&good[1..], &good[1..], None), Kind::Shape);
    assert_eq!(refused(&[], &[], None), Kind::Shape);
    for (i, x, kind) in [(0, f64::NAN, Kind::Value), (1, f64::INFINITY, Kind::Value), (7, -1.0, Kind::Range)] {
        assert_eq!(refused(&with(i, x), &good, None), kind);
        assert_eq!(refused(&good, &with(i, x), None), kind);
        assert_eq!(refused(&good, &good, Some(&with(i, x))), kind);
    }
    assert_eq!(refused(&good, &with(3, 1.0), Some(&good)), Kind::Range);
    assert_eq!(refused(&with(3, 0.0), &with(3, 0.0), None), Kind::Range);
    // A base that is part of neither side: the mean that remains exceeds the limit of 1e60.
    let far = with(4, 1e60);
    assert_eq!(refused(&with(4, -1e60), &with(4, -1e60), Some(&far)), Kind::Value);
}

/// A policy reports its spaces of observations and actions.
#[test]
fn a_policy_tells_its_spaces() -> Result {
    let (low, high) = ([-1.0, -2.0, 0.0], [1.0, 0.5, 9.0]);
    let bounded = Space::between(&low, &high);
    for action in [Space::discrete(&[3, 2]), Space::unbounded(2), bounded] {
        for obs in [Space::unbounded(4), Space::bytes(4), Space::discrete(&[7, 2])] {
            if !obs.n.is_empty() && !cfg!(feature = "residual") {
                continue;
            }
            let h = Host::new(&config(), &obs, &action);
            let bytes = export(&h.view());
            let policy = Policy::attach(bytemuck::cast_slice(&bytes))?;
            for told in [policy.spaces(), h.view().spaces()] {
                assert_eq!(
                    (told.obs_n, told.action_n, told.low, told.high),
                    (obs.n, action.n, action.low, action.high)
                );
                assert_eq!(told.shape.kinds(), (obs.kind, action.kind));
                assert_eq!((told.shape.obs_len, told.shape.action_len), (obs.len, action.len));
                assert!(!told.obs_structured);
            }
        }
    }
    Ok(())
}
