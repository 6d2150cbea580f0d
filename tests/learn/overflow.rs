//! Finite inputs with overflowing results: a call that fails changes nothing, and an update that overflows ends.

use crate::host::{Tune, attach, export, made, policy};
use rlcore::error::{Error, Kind, Result};
use rlcore::learn::{Config, Learner, Phase, Recurrent, Sampling, Stats};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 3;

/// A learner of observations of two numbers, in its own block.
#[derive(Clone)]
struct Host {
    block: Vec<u64>,
    discrete: bool,
}

impl Host {
    fn new(config: &Config, action: &Space<'_>) -> Host {
        let obs = Space::unbounded(2);
        let block = made(config, &[], &obs, action);
        Host { block, discrete: action.kind == Element::I32 }
    }

    /// Attaches to the learner, as another process would.
    fn learner(&mut self) -> Learner<'_> {
        attach(&mut self.block)
    }

    fn act(&mut self, obs: f32) -> Result {
        let (obs, mut choice, mut vector) = ([obs; 2 * N], [-7; N], [-7.0; N]);
        let discrete = self.discrete;
        let action = if discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
        let done = self.learner().act(None, Elements::F32(&obs), None, action);
        assert!(done.is_ok() || (choice == [-7; N] && vector == [-7.0; N]), "actions of a call that failed");
        assert!(vector.iter().all(|x| x.is_finite()));
        done
    }

    fn predict(&mut self, obs: f32, sampling: Sampling) -> Result {
        let (obs, mut choice, mut vector) = ([obs; 2 * N], [-7; N], [-7.0; N]);
        let discrete = self.discrete;
        let action = if discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
        let done = self.learner().predict(Elements::F32(&obs), None, Recurrent::default(), sampling, action);
        assert!(done.is_ok() || (choice == [-7; N] && vector == [-7.0; N]), "actions of a call that failed");
        done
    }

    fn value(&mut self, obs: f32) -> Result {
        let mut value = [-7.0; N];
        let done = self.learner().value(Elements::F32(&[obs; 2 * N]), None, &mut value);
        assert!(done.is_ok() || value == [-7.0; N]);
        done
    }

    fn observe(&mut self, reward: f32, truncated: u8, final_obs: f32) -> Result {
        let final_obs = [final_obs; 2 * N];
        self.learner().observe(None, &[reward; N], &[0; N], &[truncated; N], Some(Elements::F32(&final_obs)), None)
    }

    /// A whole rollout of one observation and one reward.
    fn roll(&mut self, obs: f32, reward: f32) {
        while self.learner().phase() != Phase::Learn {
            self.act(obs).unwrap();
            self.observe(reward, 0, 0.0).unwrap();
        }
    }

    fn learn(&mut self, obs: f32) -> Result<Stats> {
        self.learner().learn(Some(Elements::F32(&[obs; 2 * N])), None, 0)
    }

    fn policy(&mut self) -> Vec<u64> {
        let learner = self.learner();
        let brain = export(&learner.view());
        policy(&brain);
        brain
    }

    /// The call fails with words about an overflow and changes no byte.
    fn refuses(&mut self, call: impl FnOnce(&mut Host) -> Result) {
        let before = self.block.clone();
        let error = call(self).unwrap_err();
        assert!(error.kind == Kind::Value && error.what.contains("overflow"), "{error}");
        assert!(self.block == before, "{error}, and bytes have changed");
    }
}

/// Linear networks, so that large observations pass through.
fn config() -> Config {
    Config { num_envs: N as u32, num_steps: 4, num_minibatches: 2, ..Config::default().hidden(&[]) }
}

fn spaces() -> [Space<'static>; 3] {
    [Space::discrete(&[2]), Space::unbounded(1), Space::between(&[f32::MIN], &[f32::MAX])]
}

/// Parameters so large that the largest observations overflow the outputs.
fn trained(action: &Space<'_>) -> Host {
    let mut h = Host::new(&Config { learning_rate: 1.0, ..config() }, action);
    for i in 0..20 {
        while h.learner().phase() != Phase::Learn {
            h.act(1.0).unwrap();
            h.observe((i % 3) as f32, 0, 0.0).unwrap();
        }
        h.learn(1.0).unwrap();
    }
    h
}

#[test]
fn a_call_that_fails_changes_no_byte() {
    for action in spaces() {
        let mut h = trained(&action);
        let samplings = [Sampling::Basic, Sampling::Greedy, Sampling::Temperature(0.5)];
        for steps in 0..3 {
            h.refuses(|h| h.act(f32::MAX));
            for sampling in samplings {
                h.refuses(|h| h.predict(f32::MAX, sampling));
            }
            h.refuses(|h| h.value(f32::MAX));
            h.act(0.5).unwrap();
            for sampling in samplings {
                h.refuses(|h| h.predict(f32::MAX, sampling));
            }
            h.refuses(|h| h.value(f32::MAX));
            let before = h.block.clone();
            assert_eq!(h.observe(f32::NAN, 0, 0.0).unwrap_err().kind, Kind::Value);
            assert_eq!(h.observe(0.0, 1, f32::INFINITY).unwrap_err().kind, Kind::Value);
            assert_eq!(h.learn(0.0).unwrap_err().kind, Kind::NotReady);
            assert!(h.block == before, "step {steps}");
            h.observe(0.5, 1, 0.5).unwrap();
        }
        h.roll(0.5, 0.5);
        let before = h.block.clone();
        assert_eq!(h.learn(f32::NAN).unwrap_err().kind, Kind::Value);
        assert_eq!(h.act(0.0).unwrap_err().kind, Kind::NotReady);
        assert!(h.block == before);

        let brain = h.policy();
        let policy = policy(&brain);
        let mut scratch = vec![0.0; policy.scratch_len(N).unwrap()];
        for sampling in samplings {
            let (mut rng, obs) = (Rng::seeded(5), [f32::MAX; 2 * N]);
            let (mut choice, mut vector) = ([-7; N], [-7.0; N]);
            let action = if h.discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
            let done = policy.act(
                N,
                Elements::F32(&obs),
                None,
                Recurrent::default(),
                sampling,
                &mut rng,
                &mut scratch,
                action,
            );
            assert_eq!(done.unwrap_err().kind, Kind::Value);
            let action = if h.discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
            let done = policy.act_greedy(N, Elements::F32(&obs), None, Recurrent::default(), &mut scratch, action);
            assert_eq!(done.unwrap_err().kind, Kind::Value);
            assert_eq!((rng, choice, vector), (Rng::seeded(5), [-7; N], [-7.0; N]));
        }
    }
}

/// The same with statistics of observations, which would take the row in before the network overflows.
#[test]
fn statistics_do_not_follow_an_observation_that_was_refused() {
    let deep = Config { num_hidden: 4, hidden_len: [256; 4], activation: 1, normalize_obs: 1, ..config() };
    let mut h = Host::new(&deep, &Space::discrete(&[2]));
    // The largest allowed parameters, except for the biases.
    let params: Vec<f32> = h.learner().params().iter().map(|&x| if x == 0.0 { x } else { 1e6 }).collect();
    let mut moments = vec![f64::NAN; h.learner().view().moments_len()];
    h.learner().view().read_moments(&mut moments).unwrap();
    h.learner().write_params_with(&params, &moments).unwrap();
    let (mut obs, mut choice) = ([0.0; 2 * N], [-7; N]);
    obs[..2].fill(1e6);
    h.refuses(|h| h.learner().act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut choice)));
    assert_eq!(choice, [-7; N]);
    h.act(0.0).unwrap();
}

#[test]
fn an_update_that_overflows_is_dropped_and_counted() {
    let overflow = |done: Result<Stats>| {
        let Error { kind, what, .. } = done.unwrap_err();
        assert!(kind == Kind::Value && what.contains("dropped") && what.contains("act is due"), "{what}");
    };
    for action in spaces() {
        for (obs, reward, after) in [(0.5, 1e38, 0.5), (1e30, 1.0, 0.5), (0.5, 1.0, f32::MAX), (0.5, f32::MIN, 0.5)] {
            let mut h = Host::new(&config(), &action);
            h.roll(0.5, 1.0);
            h.learn(0.5).unwrap();
            let before = h.policy();
            for dropped in 1..4 {
                h.roll(obs, reward);
                // Values of 1e30 do no harm until they are squared.
                match h.learn(after) {
                    Ok(stats) => assert!(after == f32::MAX && stats.num_dropped < dropped, "{stats:?}"),
                    done => overflow(done),
                }
                assert_eq!(h.learner().phase(), Phase::Act);
            }
            let stats = h.learner().stats();
            assert!(stats.num_updates + stats.num_dropped == 4 && stats.minibatches_left == 0, "{stats:?}");
            if after != f32::MAX {
                assert_eq!(stats.num_dropped, 3);
                assert!(h.policy() == before, "a dropped update moved the policy");
            }
            h.roll(0.5, 1.0);
            let stats = h.learn(0.5).unwrap();
            assert!(stats.policy_loss.is_finite() && stats.value_loss.is_finite() && stats.grad_norm.is_finite());
            assert!(h.policy() != before, "learning goes on");
        }
    }
}

#[test]
fn statistics_that_saw_the_largest_numbers_go_on() {
    let config = Config { normalize_obs: 1, normalize_reward: 1, ..config() };
    for action in spaces() {
        let mut h = Host::new(&config, &action);
        for number in [f32::MAX, f32::MIN, 1e38, 1.0, 0.5] {
            h.roll(number, number);
            let stats = h.learn(number).unwrap();
            assert!(stats.policy_loss.is_finite(), "{stats:?}");
        }
    }
}

#[test]
fn deviations_stay_within_their_bounds() {
    for (entropy_coef, low, high) in [(10.0, -20.0, 0.5), (-10.0, -0.25, 2.0)] {
        let config = Config { entropy_coef, log_std_min: low, log_std_max: high, learning_rate: 0.1, ..config() };
        let mut h = Host::new(&config, &Space::unbounded(1));
        let mut entropy = 0.0;
        for _ in 0..30 {
            h.roll(0.5, 1.0);
            entropy = h.learn(0.5).unwrap().entropy;
        }
        // 1.4189385 is the entropy of a deviation of 1.
        let bound = if entropy_coef > 0.0 { high } else { low };
        assert!((entropy - 1.418_938_5 - bound).abs() < 1e-5, "{entropy}");
    }
}

#[test]
fn parameters_stay_finite_at_the_ends_of_the_ranges() {
    let small = f32::MIN_POSITIVE;
    let size =
        |config: &Config| Learner::size(config, &[], &Space::unbounded(2), &Space::unbounded(1)).unwrap_err().kind;
    for bad in [
        Config { adam_beta2: 0.0, ..config() },
        Config { adam_beta1: 0.99, adam_beta2: 0.98, ..config() },
        Config { adam_epsilon: small, ..config() },
        Config { num_epochs: 1001, ..config() },
    ] {
        assert_eq!(size(&bad), Kind::Config);
    }
    for (adam_beta1, adam_beta2) in [(0.0, 0.0), (0.5, 0.25), (0.999_999_9, 0.999_999_9), (0.9, 0.999)] {
        for max_grad_norm in [0.0, 1e-30, f32::MAX] {
            let config = Config { adam_beta1, adam_beta2, adam_epsilon: 1e-12, ..config() };
            let config = Config { learning_rate: 1.0, clip: 10.0, value_coef: 1e6, max_grad_norm, ..config };
            let mut h = Host::new(&config, &Space::unbounded(1));
            for reward in [0.0f32, 1e10, 1e-30, -1e3, 1e12, 0.0, 1e-20, 1.0].repeat(10) {
                h.roll(reward.clamp(-1.0, 1.0), reward);
                if let Err(error) = h.learn(0.0) {
                    assert_eq!(error.kind, Kind::Value);
                }
                h.policy();
            }
        }
    }
}

#[test]
fn advantages_are_summed_in_f64_if_wanted() {
    let run = |accumulate| {
        let mut h = Host::new(&Config { accumulate, num_steps: 128, ..config() }, &Space::discrete(&[2]));
        while h.learner().phase() != Phase::Learn {
            h.act(0.5).unwrap();
            h.observe(0.1, 0, 0.0).unwrap();
        }
        h.learn(0.5).unwrap();
        h.policy()
    };
    assert!(run(0) == run(0) && run(1) == run(1) && run(0) != run(1));
}

#[test]
fn structures_are_read_by_their_fields_and_choices_need_their_counts() {
    let fields = |kind| [Field::new("speed", Element::F32, &[1], 0), Field::new("gear", kind, &[1], 4)];
    let size = |obs: &Space<'_>| Learner::size(&Config::default(), &[], obs, &Space::discrete(&[2]));
    for kind in [Element::U8, Element::F32] {
        size(&Space::bytes(8).with_fields(&fields(kind))).unwrap();
        size(&Space::unbounded(2).with_fields(&fields(Element::F32))).unwrap();
    }
    let gear = [Field::new("", Element::I32, &[], 0)];
    for obs in [Space::bytes(8).with_fields(&fields(Element::I32)), Space::bytes(4).with_fields(&gear)] {
        let error = size(&obs).unwrap_err();
        assert!(
            error.kind == Kind::Config && error.what.contains("n with an entry for each discrete element"),
            "{error}"
        );
    }
    let two = [Field::new("a", Element::U8, &[2, 2], 0), Field::new("b", Element::U8, &[4], 4)];
    size(&Space::bytes(8).with_fields(&two)).unwrap();
}
