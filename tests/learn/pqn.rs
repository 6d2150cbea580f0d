//! PQN, Q over rollouts: targets, losses and gradients from their formulas, exploration, chunks, and refusals.

use crate::host::{Columns, Host, Tune, chunks, export, policy, record, threads, train};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Recurrent, Sampling};
use rlcore::nn::Adam;
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

fn config() -> Config {
    Config {
        num_envs: 3,
        activation: 0,
        learning_rate: 0.02,
        exploration_steps: 100,
        ..Config::of(Algorithm::Pqn).hidden(&[7]).rollout(14, 2, 2)
    }
}

/// Actions of one element and of two, with and without masks, and byte observations.
fn hosts(config: &Config) -> Vec<Host> {
    let (obs, bytes) = (Space::unbounded(6), Space::bytes(6));
    let masked = Config { use_action_mask: 1, normalize_obs: 1, ..*config };
    vec![
        Host::new(config, &obs, &Space::discrete(&[4])),
        Host::new(&masked, &obs, &Space::discrete(&[3, 2])),
        Host::new(config, &bytes, &Space::discrete(&[2, 3])),
    ]
}

/// Q(λ) of one environment from its formula: the reward, and the discounted mix of the next value and the next target.
fn returns(reward: &[f64], next: &[f64], ends: &[bool], lambda: f64, discount: f64) -> Vec<f64> {
    let mut after = *next.last().unwrap();
    let mut all: Vec<f64> = (0..reward.len())
        .rev()
        .map(|t| {
            let mix = if ends[t] { next[t] } else { lambda * after + (1.0 - lambda) * next[t] };
            after = reward[t] + discount * mix;
            after
        })
        .collect();
    all.reverse();
    all
}

#[test]
fn the_formula_gives_the_specification_s_vector() {
    let ends = [false, false, true, false];
    let got = returns(&[1.0, 0.0, -1.0, 2.0], &[0.7, 0.2, 0.0, 0.9], &ends, 0.65, 0.99);
    for (got, want) in got.iter().zip([0.8730522999999999, -0.5742, -1.0, 2.891]) {
        assert!((got - want).abs() < 1e-12, "{got}, not {want}");
    }
}

#[test]
fn targets_are_q_lambda_of_the_values() {
    for mut h in hosts(&Config { num_envs: 1, num_steps: 20, ..config() }) {
        let mut rng = Rng::seeded(7);
        let (mut rewards, mut ends, mut finals) = (vec![], vec![], vec![]);
        let mut obs = h.draw_obs(&mut rng);
        for t in 0..20 {
            let mut action = h.actions();
            let mask = h.draw_mask(&mut rng);
            h.learner().act(None, obs.get(), mask.as_deref(), action.get_mut()).unwrap();
            let (reward, end) = (rng.uniform_f32(), [0, 1, 2][(t == 6) as usize + 2 * (t == 13) as usize]);
            obs = h.draw_obs(&mut rng);
            let (terminated, truncated) = ([(end == 1).into()], [(end == 2).into()]);
            h.learner().observe(None, &[reward], &terminated, &truncated, Some(obs.get()), None).unwrap();
            // Observation statistics are up to date by then: the next value stays the same until the next act.
            let mut value = [0.0];
            h.learner().value(obs.get(), None, &mut value).unwrap();
            rewards.push(f64::from(reward));
            ends.push(end > 0);
            finals.push(if end == 1 { 0.0 } else { f64::from(value[0]) });
        }
        h.learner().learn_begin(obs.get(), None).unwrap();
        let columns = Columns::read(&mut h);
        let values: Vec<f64> = columns.value.iter().map(|&x| f64::from(x)).collect();
        let next: Vec<f64> = (0..20).map(|t| if t == 19 || ends[t] { finals[t] } else { values[t + 1] }).collect();
        let want = returns(&rewards, &next, &ends, f64::from(h.config.gae_lambda), f64::from(h.config.discount));
        for (t, (got, want)) in columns.value_target.iter().zip(want).enumerate() {
            assert!((f64::from(*got) - want).abs() < 1e-5, "step {t}: {got}, not {want}");
        }
    }
}

/// A network of biases alone has known outputs, hence a known loss and gradient.
#[test]
fn the_loss_is_half_the_mean_squared_error_of_what_was_chosen() {
    let flat = Config { num_hidden: 0, hidden_len: [0; 4], num_minibatches: 1, ..config() };
    let mut h = Host::new(&flat, &Space::unbounded(6), &Space::discrete(&[3, 2]));
    let len = h.view().params().len();
    let bias = [0.5, -0.25, 1.0, -1.0, 0.75];
    let mut params = vec![0.0; len];
    params[len - 5..].copy_from_slice(&bias);
    h.learner().write_params(&params).unwrap();
    let obs = record(&mut h, &mut Rng::seeded(5));
    h.learner().learn_begin(obs.get(), None).unwrap();
    let columns = Columns::read(&mut h);
    let record = chunks(&h, 0, 1);
    let (Elements::I32(choice), mut loss, mut slope) = (columns.action.get(), 0.0, [0.0; 5]) else { panic!() };
    // The value is the mean over both elements of the highest Q.
    assert!(columns.value.iter().all(|&value| (value - 0.875).abs() < 1e-6));
    for (choice, target) in choice.chunks_exact(2).zip(&columns.value_target) {
        for at in [choice[0] as usize, 3 + choice[1] as usize] {
            let error = f64::from(bias[at]) - f64::from(*target);
            loss += 0.5 * error * error / 84.0;
            slope[at] += error / 84.0;
        }
    }
    assert!((f64::from(record[len + 1]) - loss).abs() < 1e-6, "{} {loss}", record[len + 1]);
    for (got, want) in record[len - 5..len].iter().zip(slope) {
        assert!((f64::from(*got) - want).abs() < 1e-6, "{got}, not {want}");
    }
}

#[test]
fn gradients_are_finite_differences_of_the_loss() {
    for hidden_norm in [0, 1] {
        for mut h in hosts(&Config { hidden_norm, ..config() }) {
            let mut rng = Rng::seeded(2);
            train(&mut h, &mut rng, 1);
            let obs = record(&mut h, &mut rng);
            h.learner().learn_begin(obs.get(), None).unwrap();
            let params = h.view().params().to_vec();
            let grads = chunks(&h, 0, 1);
            let mut loss = |i: usize, by: f32| {
                let mut moved = params.clone();
                moved[i] += by;
                let moments = h.moments();
                h.learner().write_params_with(&moved, &moments).unwrap();
                f64::from(chunks(&h, 0, 1)[params.len() + 1])
            };
            for (i, grad) in grads.iter().enumerate().take(params.len()) {
                let want = (loss(i, 4e-3) - loss(i, -4e-3)) / 8e-3;
                assert!((f64::from(*grad) - want).abs() < 1e-4 + 1e-2 * want.abs(), "{i}: {grad} {want}");
            }
            assert!(grads[..params.len()].iter().any(|x| x.abs() > 1e-2));
        }
    }
}

#[test]
fn a_step_is_rectified_adam_s() {
    let mut h = hosts(&Config { num_minibatches: 1, num_epochs: 1, num_chunks: 3, ..config() }).swap_remove(0);
    let mut rng = Rng::seeded(3);
    let len = h.view().params().len();
    let (mut m, mut v, mut steps) = (vec![0.0; len], vec![0.0; len], 0);
    for _ in 0..8 {
        let obs = record(&mut h, &mut rng);
        h.learner().learn_begin(obs.get(), None).unwrap();
        let mut params = h.view().params().to_vec();
        let all = chunks(&h, 0, 3);
        let part = |k: usize| all[k * h.view().grads_len()..][..len].iter();
        let grads: Vec<f32> = part(0).zip(part(1)).zip(part(2)).map(|((a, b), c)| a + b + c).collect();
        let adam = Adam { rectify: true, ..Adam::default() };
        adam.step(&mut params, &grads, &mut m, &mut v, &mut steps, 0.02, h.config.max_grad_norm).unwrap();
        h.learner().learn(None, None, 0).unwrap();
        assert!(h.view().params() == params, "step {steps}");
    }
}

#[test]
fn threads_and_slices_leave_the_bytes_of_learn() {
    for num_chunks in [1, 2, 3, 7] {
        for mut whole in hosts(&Config { num_chunks, overlap: num_chunks % 2, ..config() }) {
            let mut rng = Rng::seeded(4);
            train(&mut whole, &mut rng, 1);
            let obs = record(&mut whole, &mut rng);
            let (mut sliced, mut shared) = (whole.clone(), whole.clone());
            whole.learner().learn(Some(obs.get()), None, 0).unwrap();
            let mut left = sliced.learner().learn(Some(obs.get()), None, 1).unwrap().minibatches_left;
            while left > 0 {
                // Saved, and continued elsewhere.
                sliced = sliced.clone();
                left = sliced.learner().learn(None, None, 1).unwrap().minibatches_left;
            }
            assert!(sliced.block == whole.block, "slices of {num_chunks} chunks");
            let mut stats = shared.learner().learn_begin(obs.get(), None).unwrap();
            while stats.minibatches_left > 0 {
                let grads = threads(&shared, 3.min(num_chunks as usize));
                shared.learner().write_grads(0, num_chunks as usize, &grads).unwrap();
                stats = shared.learner().learn_apply().unwrap();
            }
            assert!(shared.block == whole.block, "threads for {num_chunks} chunks");
        }
    }
}

/// The shares of 4 choices among the actions of 1,000 environments.
fn shares(config: &Config, mask: Option<&[u8; 4]>) -> [f64; 4] {
    let config = Config { num_envs: 1000, use_action_mask: mask.is_some().into(), ..*config };
    let mut h = Host::new(&config, &Space::unbounded(6), &Space::discrete(&[4]));
    let (obs, mut action, mut shares) = (h.obs(), h.actions(), [0.0; 4]);
    let mask = mask.map(|mask| mask.repeat(1000));
    h.learner().act(None, obs.get(), mask.as_deref(), action.get_mut()).unwrap();
    let Elements::I32(choice) = action.get() else { panic!() };
    choice.iter().for_each(|&choice| shares[choice as usize] += 1e-3);
    shares
}

#[test]
fn random_actions_are_as_frequent_as_the_schedule_says() {
    let near = |got: [f64; 4], want: [f64; 4]| {
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 0.06), "{got:?}, not {want:?}");
    };
    // All Q of an observation of zeros are 0: the best choice is the first that is allowed.
    near(shares(&config(), None), [0.25; 4]);
    near(shares(&config(), Some(&[0, 1, 1, 0])), [0.0, 0.5, 0.5, 0.0]);
    let half = Config { exploration_steps: 0, exploration_end: 0.5, ..config() };
    near(shares(&half, None), [0.625, 0.125, 0.125, 0.125]);
    near(shares(&half, Some(&[0, 1, 0, 1])), [0.0, 0.75, 0.0, 0.25]);
    let none = Config { exploration_steps: 0, exploration_end: 0.0, ..config() };
    assert!((shares(&none, Some(&[0, 0, 1, 1]))[2] - 1.0).abs() < 1e-9);
    // 200 steps, past the end of the schedule.
    let mut h =
        Host::new(&Config { num_envs: 200, num_steps: 1, ..config() }, &Space::unbounded(6), &Space::discrete(&[4]));
    train(&mut h, &mut Rng::seeded(1), 1);
    let (zeros, mut action) = (h.obs(), h.actions());
    let params = vec![0.0; h.view().params().len()];
    h.learner().write_params(&params).unwrap();
    h.learner().act(None, zeros.get(), None, action.get_mut()).unwrap();
    let Elements::I32(choice) = action.get() else { panic!() };
    let others = choice.iter().filter(|&&choice| choice != 0).count();
    assert!(others < 25, "{others} of 200 at the end, of 0.05");
}

#[test]
fn a_policy_that_ships_takes_the_best_action_however_it_draws() {
    for mut h in hosts(&Config { normalize_obs: 1, ..config() }).into_iter().take(1) {
        let mut rng = Rng::seeded(9);
        train(&mut h, &mut rng, 4);
        let obs = h.draw_obs(&mut rng);
        let draw = |h: &mut Host, sampling| {
            let mut action = h.actions();
            h.learner().predict(obs.get(), None, Recurrent::default(), sampling, action.get_mut()).unwrap();
            action
        };
        let best = draw(&mut h, Sampling::Greedy);
        assert!(best == draw(&mut h, Sampling::Basic));
        let block = export(&h.view());
        let policy = policy(&block);
        let mut scratch = vec![0.0; policy.scratch_len(3).unwrap()];
        let mut action = [0; 3];
        let to = ElementsMut::I32(&mut action);
        policy.act_greedy(3, obs.get(), None, Recurrent::default(), &mut scratch, to).unwrap();
        assert!(Elements::I32(&action) == best.get());
    }
}

#[test]
fn what_means_nothing_for_q_is_refused_by_name() {
    let refused = |config: &Config, action: &Space<'_>, word: &str| {
        let error = Learner::size(config, &[], &Space::unbounded(6), action).unwrap_err();
        assert!(error.kind == Kind::Config && error.what.contains(word), "{error}");
    };
    let choose = Space::discrete(&[4]);
    refused(&config(), &Space::unbounded(2), "discrete actions");
    for bad in [-0.1, 1.1, f32::NAN] {
        refused(&Config { exploration_start: bad, ..config() }, &choose, "exploration_start");
        refused(&Config { exploration_end: bad, ..config() }, &choose, "exploration_end");
    }
    refused(&Config { hidden_norm: 2, ..config() }, &choose, "hidden_norm");
}
