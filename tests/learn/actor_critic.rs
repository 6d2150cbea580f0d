//! A2C and IMPALA learners: gradients compared with PPO, with one another and with the formula.

use crate::host::{Array, Columns, Host, Tune, chunks, record, recurrent, spaces, threads, train};
use rlcore::learn::{Algorithm, Config};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements};

/// Short rollouts, each learned in one pass as one minibatch.
fn once(algorithm: Algorithm) -> Config {
    Config {
        num_envs: 3,
        num_steps: 7,
        num_chunks: 2,
        learning_rate: 0.02,
        clip: if algorithm == Algorithm::Ppo { 10.0 } else { 0.2 },
        algorithm: algorithm as u32,
        ..Config::of(Algorithm::A2c).hidden(&[7])
    }
}

#[test]
fn the_gradient_is_that_of_ppo_where_no_ratio_has_moved() {
    for (obs, action) in spaces() {
        let mut pair = [Algorithm::A2c, Algorithm::Ppo].map(|algorithm| {
            let use_action_mask = u32::from(action.kind == Element::I32);
            (Host::new(&Config { use_action_mask, ..once(algorithm) }, &obs, &action), Rng::seeded(3))
        });
        for _ in 0..3 {
            let grads = pair.each_mut().map(|(host, rng)| {
                let obs = record(host, rng);
                host.learner().learn_begin(obs.get(), None).unwrap();
                chunks(host, 0, 2)
            });
            // The losses stored after the gradients differ.
            let len = pair[0].0.view().params().len();
            let [a2c, ppo] = grads.each_ref().map(|grads| &grads[..len]);
            assert!(a2c == ppo && a2c.iter().any(|x| x.abs() > 1e-3));
            for (host, _) in &mut pair {
                host.learner().learn(None, None, 0).unwrap();
            }
            assert!(pair[0].0.view().params() == pair[1].0.view().params());
        }
    }
}

/// The gradient of each update equals the one with a constant coefficient of the scheduled value, up to the end of the schedule
/// and past it.
#[test]
fn the_entropy_bonus_goes_to_its_end_in_equal_steps() {
    for algorithm in [Algorithm::Ppo, Algorithm::A2c, Algorithm::Impala] {
        let still = Config { learning_rate: 0.0, learning_rate_end: 0.0, num_chunks: 1, ..once(algorithm) };
        let total_steps = 2 * still.batch_len() as u64;
        let (obs, action) = &spaces()[1];
        let gradient = |config: Config, updates: u32| {
            let (mut host, mut rng) = (Host::new(&config, obs, action), Rng::seeded(3));
            train(&mut host, &mut rng, updates);
            let obs = record(&mut host, &mut rng);
            host.learner().learn_begin(obs.get(), None).unwrap();
            chunks(&host, 0, 1)
        };
        let fading = Config { entropy_coef: 0.5, entropy_share_end: 0.25, total_steps, ..still };
        for (updates, entropy_coef) in [0.5, 0.3125, 0.125, 0.125].into_iter().enumerate() {
            let constant = gradient(Config { entropy_coef, ..still }, updates as u32);
            assert!(gradient(fading, updates as u32) == constant, "{algorithm:?}, {updates}");
            assert!(gradient(Config { entropy_coef: 0.25, ..still }, updates as u32) != constant);
        }
        let kept = Config { entropy_coef: 0.5, total_steps, ..still };
        assert!(gradient(kept, 3) == gradient(Config { entropy_coef: 0.5, ..still }, 3));
    }
}

/// In a second pass A2C still follows its plain gradient, where PPO has ratios.
#[test]
fn a_second_pass_is_not_that_of_ppo() {
    let (obs, action) = &spaces()[0];
    let params = [Algorithm::A2c, Algorithm::Ppo].map(|algorithm| {
        let mut host = Host::new(&Config { num_epochs: 2, ..once(algorithm) }, obs, action);
        train(&mut host, &mut Rng::seeded(3), 1);
        host.view().params().to_vec()
    });
    assert!(params[0] != params[1]);
}

/// IMPALA with unchanged parameters and mean losses is the actor-critic with n-step returns.
#[test]
fn on_policy_v_trace_is_the_return_over_n_steps() {
    let plain = spaces().map(|(obs, action)| (None, obs, action));
    let with_state = recurrent().map(|layer| (Some(layer), spaces()[0].0, spaces()[1].1));
    for (layer, obs, action) in plain.into_iter().chain(with_state) {
        let grads = [Algorithm::A2c, Algorithm::Impala].map(|algorithm| {
            let config = Config {
                num_chunks: 1,
                num_steps: 12,
                num_layers: layer.is_some().into(),
                sequence_len: if layer.is_some() { 12 } else { 0 },
                use_action_mask: u32::from(action.kind == Element::I32),
                ..once(algorithm)
            };
            let mut host = Host::with(&config, layer.as_slice(), &obs, &action);
            let mut rng = Rng::seeded(3);
            // Leaves some environments in the middle of an episode.
            train(&mut host, &mut rng, 1);
            let params = Host::with(&config, layer.as_slice(), &obs, &action).view().params().to_vec();
            host.learner().write_params(&params).unwrap();
            let obs = record(&mut host, &mut rng);
            host.learner().learn_begin(obs.get(), None).unwrap();
            chunks(&host, 0, 1)
        });
        let [a2c, impala] = &grads;
        assert!(a2c.iter().any(|x| x.abs() > 1e-2));
        for (a, b) in a2c.iter().zip(impala) {
            assert!((a - b).abs() < 1e-5 + 1e-4 * a.abs(), "{a}, {b}");
        }
    }
}

/// Trajectories of an actor with another policy: targets, advantages and losses against their formula in f64.
#[test]
fn trajectories_of_an_older_policy_are_corrected() {
    let (obs, action) = &spaces()[0];
    let config = Config { num_chunks: 1, gae_lambda: 0.9, clip_rho: 0.9, ..once(Algorithm::Impala) };
    let config = Config { clip_c: 0.8, clip_pg_rho: 1.1, leak: 0.1, sum_losses: 1, num_steps: 20, ..config };
    let mut actor = Host::new(&config, obs, action);
    let last = record(&mut actor, &mut Rng::seeded(5));
    actor.learner().learn_begin(last.get(), None).unwrap();
    let sent = Columns::read(&mut actor);
    assert!(sent.begin.contains(&1) && sent.begin[3..].contains(&1));
    let mut learner = Host::new(&Config { seed: 99, ..config }, obs, action);
    // Initial policies are nearly uniform for every seed.
    let far: Vec<f32> = learner.view().params().iter().map(|x| x * 40.0).collect();
    learner.learner().write_params(&far).unwrap();
    learner.learner().learn_batch(&sent.batch()).unwrap();
    let record = chunks(&learner, 0, 1);
    let losses = &record[learner.view().params().len()..];

    let (n, steps) = (3, 20);
    let (mut value, mut log_prob) = (vec![0.0f32; n * steps], vec![0.0f32; n * steps]);
    for t in 0..steps {
        let rows = t * n..(t + 1) * n;
        let seen = Array::F32(sent.obs[t * n * 6..(t + 1) * n * 6].to_vec());
        let Array::I32(choice) = &sent.action else { unreachable!() };
        let mut l = learner.learner();
        l.value(seen.get(), None, &mut value[rows.clone()]).unwrap();
        let chosen = Elements::I32(&choice[rows.clone()]);
        l.log_prob(seen.get(), None, chosen, &mut log_prob[rows], &mut [0.0; 3]).unwrap();
    }
    let (mut policy_loss, mut value_loss, mut moved) = (0.0, 0.0, 0.0);
    for env in 0..n {
        let mut acc = 0.0;
        for t in (0..steps).rev() {
            let (i, next) = (t * n + env, (t + 1) * n + env);
            let v = f64::from(value[i]);
            let rho = f64::from(log_prob[i] - sent.log_prob[i]).exp();
            let leaky = |clip: f32| {
                let cut = rho.min(clip.into());
                cut + 0.1 * (rho - cut)
            };
            let (d, k) = if t + 1 < steps && sent.begin[next] == 0 {
                (f64::from(sent.advantage[i]) + 0.99 * f64::from(value[next]) - v, 0.99 * 0.9 * acc)
            } else {
                (f64::from(sent.value_target[i]) - v, 0.0)
            };
            acc = leaky(config.clip_rho) * d + leaky(config.clip_c) * k;
            policy_loss -= f64::from(log_prob[i]) * leaky(config.clip_pg_rho) * (d + k);
            value_loss += 0.5 * acc * acc;
            moved += (rho - 1.0).abs();
        }
    }
    assert!(moved > 1.0);
    assert!((f64::from(losses[0]) / policy_loss - 1.0).abs() < 1e-4, "{}, {policy_loss}", losses[0]);
    assert!((f64::from(losses[1]) / value_loss - 1.0).abs() < 1e-4, "{}, {value_loss}", losses[1]);
}

#[test]
fn chunks_of_trajectories_are_the_same_on_any_number_of_threads() {
    for layer in [None, Some(recurrent()[0])] {
        let config = Config {
            num_envs: 4,
            num_steps: 8,
            num_chunks: 4,
            num_layers: layer.is_some().into(),
            sequence_len: if layer.is_some() { 4 } else { 0 },
            overlap: layer.is_some().into(),
            ..once(Algorithm::Impala)
        };
        let (obs, action) = &spaces()[3];
        let mut host = Host::with(&config, layer.as_slice(), obs, action);
        let mut rng = Rng::seeded(7);
        for _ in 0..3 {
            let obs = record(&mut host, &mut rng);
            host.learner().learn_begin(obs.get(), None).unwrap();
            let mut other = host.clone();
            let grads = threads(&host, 3);
            assert!(grads == chunks(&host, 0, 4));
            host.learner().write_grads(0, 4, &grads).unwrap();
            host.learner().learn_apply().unwrap();
            for _ in 0..4 {
                other.learner().learn(None, None, 1).unwrap();
            }
            assert!(host.view().params() == other.view().params());
        }
    }
}

#[test]
fn what_v_trace_cannot_do_is_refused_by_name() {
    let (obs, action) = &spaces()[0];
    let good = Config { num_envs: 4, num_steps: 8, ..Config::of(Algorithm::Impala) };
    good.check().unwrap();
    for bad in [
        Config { normalize_advantage: 1, ..good },
        // Trajectories would be cut in two.
        Config { num_minibatches: 8, ..good },
        Config { num_chunks: 5, ..good },
    ] {
        assert_eq!(rlcore::learn::Learner::size(&bad, &[], obs, action).unwrap_err().kind, rlcore::error::Kind::Config);
    }
}
