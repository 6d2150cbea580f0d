//! Statistics of each algorithm: the same definition of the value loss everywhere, and NaN for numbers that an algorithm does
//! not have.

#![cfg(all(feature = "off_policy", feature = "stream", feature = "unreal"))]

use crate::host::{Host, Tune, learn_all, made, open};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase, Stats};
use rlcore::space::{Elements, ElementsMut, Space};

const ALL: [Algorithm; 10] = [
    Algorithm::Ppo,
    Algorithm::A2c,
    Algorithm::Impala,
    Algorithm::Unreal,
    Algorithm::Dqn,
    Algorithm::Td3,
    Algorithm::Sac,
    Algorithm::Pqn,
    Algorithm::StreamAc,
    Algorithm::StreamQ,
];

const REWARD: f32 = 0.75;

/// One environment, and one gradient step for all steps that it has recorded.
fn config(algorithm: Algorithm) -> Config {
    let own = Config { num_envs: 1, num_hidden: 1, hidden_len: [6, 0, 0, 0], ..Config::of(algorithm) };
    if algorithm.is_off_policy() {
        return Config { buffer_size: 8, batch_size: 4, learning_starts: 4, ..own };
    }
    let streams = matches!(algorithm, Algorithm::StreamAc | Algorithm::StreamQ);
    let unreal = algorithm == Algorithm::Unreal;
    Config {
        pixel_control_coef: 0.0,
        reward_class_coef: 0.0,
        history_len: if unreal { 40 } else { own.history_len },
        ..own.rollout(if streams { 1 } else { 4 }, 1, 1).normalized(0, 0)
    }
}

fn actions(algorithm: Algorithm, discrete: bool) -> Space<'static> {
    match algorithm {
        Algorithm::Td3 => Space::between(&[-1.0], &[1.0]),
        // Q of the only choice is the value.
        Algorithm::Dqn | Algorithm::Pqn | Algorithm::StreamQ => Space::discrete(&[1]),
        _ if discrete => Space::discrete(&[1]),
        _ => Space::between(&[-1.0], &[1.0]),
    }
}

/// Statistics before and after `num_steps` steps, each an episode with the same observation and the same reward.
fn after(config: &Config, action: &Space<'_>, num_steps: u32) -> [Stats; 2] {
    let (obs_space, obs) = (Space::unbounded(1), Elements::F32(&[0.5]));
    let (mut choice, mut vector) = ([0], [0.25]);
    if Algorithm::from_number(config.algorithm).unwrap().is_off_policy() {
        let mut block = made(config, &[], &obs_space, action);
        let mut l = open(&mut block);
        let first = l.stats();
        for _ in 0..num_steps {
            let shown = if action.n.is_empty() { Elements::F32(&vector) } else { Elements::I32(&choice) };
            l.demonstrate(None, obs, None, shown).unwrap();
            l.observe(None, &[REWARD], &[1], &[0], None, None).unwrap();
            learn_all(&mut l, 0);
        }
        return [first, l.stats()];
    }
    let mut host = Host::new(config, &obs_space, action);
    let first = host.learner().stats();
    for _ in 0..num_steps {
        let to = if action.n.is_empty() { ElementsMut::F32(&mut vector) } else { ElementsMut::I32(&mut choice) };
        host.learner().act(None, obs, None, to).unwrap();
        host.learner().observe(None, &[REWARD], &[1], &[0], None, None).unwrap();
        if host.learner().phase() == Phase::Learn {
            host.learner().learn(Some(obs), None, 0).unwrap();
        }
    }
    [first, host.learner().stats()]
}

/// With identical rows, the mean value determines the loss.
#[test]
fn the_loss_of_values_is_half_their_squared_error() {
    for (algorithm, huber) in ALL.into_iter().flat_map(|a| [(a, 0), (a, 1)]) {
        if huber == 1 && !algorithm.is_off_policy() {
            continue;
        }
        let own = config(algorithm);
        let critics = matches!(algorithm, Algorithm::Td3 | Algorithm::Sac);
        let config = Config { huber, num_critics: if critics { 1 } else { own.num_critics }, ..own };
        let num_steps = if algorithm.is_off_policy() { 4 } else { config.num_steps };
        let [_, stats] = after(&config, &actions(algorithm, false), num_steps);
        assert_eq!(stats.num_updates, 1, "{algorithm:?}");
        let error = f64::from(stats.value_mean - REWARD);
        let rows = if config.sum_losses != 0 { f64::from(num_steps) } else { 1.0 };
        let cost =
            if huber == 1 { (error.abs() - 0.5).max(0.5 * error.abs().min(1.0).powi(2)) } else { 0.5 * error * error };
        assert!((f64::from(stats.value_loss) - rows * cost).abs() < 1e-5 * rows, "{algorithm:?}, {huber}: {stats:?}");
        assert!(error.abs() > 0.05, "{algorithm:?}: {error}");
    }
}

/// The loss is a mean over critics: two identical ones have the loss of one.
#[test]
fn a_second_critic_does_not_double_the_loss() {
    for (algorithm, discrete) in [(Algorithm::Td3, false), (Algorithm::Sac, false), (Algorithm::Sac, true)] {
        let loss = [1, 2].map(|num_critics| {
            let config = Config { num_critics, ..config(algorithm) };
            let (obs_space, action) = (Space::unbounded(1), actions(algorithm, discrete));
            let mut block = made(&config, &[], &obs_space, &action);
            let mut l = open(&mut block);
            let params: Vec<f32> = l.params().iter().map(|_| 0.1).collect();
            l.write_params(&params).unwrap();
            for _ in 0..4 {
                let shown = if discrete { Elements::I32(&[0]) } else { Elements::F32(&[0.25]) };
                l.demonstrate(None, Elements::F32(&[0.5]), None, shown).unwrap();
                l.observe(None, &[REWARD], &[1], &[0], None, None).unwrap();
            }
            l.learn(None, None, 0).unwrap().value_loss
        });
        assert!(loss[0] > 0.01 && (loss[0] - loss[1]).abs() < 1e-6, "{algorithm:?}: {loss:?}");
    }
}

/// Numbers that each algorithm has once it has learned, in the order of [`named`].
fn has(algorithm: Algorithm, discrete: bool) -> [bool; 11] {
    use Algorithm::{A2c, Dqn, Impala, Ppo, Pqn, Sac, StreamAc, StreamQ, Td3, Unreal};
    let gradient = matches!(algorithm, Ppo | A2c | Impala | Unreal);
    let acts = gradient || matches!(algorithm, StreamAc | Sac);
    [
        true,
        acts || algorithm == Td3,
        acts,
        gradient,
        algorithm == Ppo,
        gradient || algorithm == Pqn,
        true,
        algorithm == Sac,
        matches!(algorithm, Dqn | Td3 | Sac | Pqn | StreamQ),
        acts && !discrete,
        algorithm == Unreal,
    ]
}

fn named(s: &Stats) -> [f32; 11] {
    [
        s.value_loss,
        s.policy_loss,
        s.entropy,
        s.approx_kl,
        s.clip_fraction,
        s.explained_variance,
        s.grad_norm,
        s.temperature,
        s.exploration_rate,
        s.log_std_mean,
        s.value_replay_loss,
    ]
}

#[test]
fn numbers_that_an_algorithm_does_not_have_are_nan() {
    for (algorithm, discrete) in ALL.into_iter().flat_map(|a| [(a, false), (a, true)]) {
        let config = config(algorithm);
        let [first, stats] = after(&config, &actions(algorithm, discrete), 8);
        let (own, wanted) = (named(&stats).map(|x| !x.is_nan()), has(algorithm, discrete));
        assert_eq!(own, wanted, "{algorithm:?}: {stats:?}");
        assert!(
            [stats.pixel_control_loss, stats.reward_class_loss, stats.policy_replay_loss].iter().all(|x| x.is_nan())
        );
        // Every NaN has the same bits on every processor.
        let nan =
            named(&first).into_iter().chain([first.return_std, first.return_min, first.return_max, first.value_mean]);
        assert!(nan.filter(|x| x.is_nan()).all(|x| x.to_bits() == f32::NAN.to_bits()), "{algorithm:?}: {first:?}");
        assert_eq!(stats.num_stored, if algorithm.is_off_policy() { 8 } else { 0 }, "{algorithm:?}");
        if algorithm == Algorithm::Sac {
            assert!((stats.temperature == config.temperature) == discrete && stats.temperature > 0.0);
        }
        let sum: f32 = if config.algorithm == Algorithm::Dqn as u32 { stats.exploration_rate } else { 1.0 };
        assert!(sum > 0.99 && sum <= 1.0);
        let finished = if algorithm.is_off_policy() { f32::NAN } else { REWARD };
        assert!([stats.return_min, stats.return_max].iter().all(|x| x.to_bits() == finished.to_bits()), "{stats:?}");
        assert!(stats.return_std == 0.0 || finished.is_nan());
    }
}

/// A server's schedules follow the steps that it is told of, and those of a learner beside others follow the steps of all.
#[test]
fn steps_of_others_count() {
    let config = Config {
        total_steps: 100,
        learning_rate: 1e-3,
        learning_rate_end: 0.0,
        entropy_coef: 0.5,
        ..config(Algorithm::A2c)
    };
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
    let mut host = Host::new(&config, &obs, &action);
    let len = host.view().grads_len();
    for step in 0..30u64 {
        let mut l = host.learner();
        l.write_grads(0, 1, &vec![0.01; len]).unwrap();
        let stats = l.learn_apply().unwrap();
        let wanted = 1e-3 * (1.0 - 4.0 * step as f32 / 100.0).max(0.0);
        assert!((stats.learning_rate - wanted).abs() < 1e-9, "{step}: {}", stats.learning_rate);
        assert_eq!((stats.num_steps, stats.num_updates), (4 * step, step + 1));
        l.count_steps(4).unwrap();
    }
    let before = host.block.clone();
    let error = host.learner().count_steps(u64::MAX - 119).unwrap_err();
    assert!(error.kind == Kind::Overflow && host.block == before, "{error}");
    host.learner().count_steps(u64::MAX - 120).unwrap();
    assert_eq!(host.learner().stats().num_steps, u64::MAX);

    // A worker's own rollout begins at the step count of all.
    let mut host = Host::new(&config, &obs, &action);
    host.learner().count_steps(50).unwrap();
    for t in 0..4 {
        host.learner().act(None, Elements::F32(&[0.5]), None, ElementsMut::I32(&mut [0])).unwrap();
        host.learner().observe(None, &[1.0], &[u8::from(t == 3)], &[0], None, None).unwrap();
    }
    let error = host.learner().count_steps(1).unwrap_err();
    assert!(error.kind == Kind::NotReady, "{error}");
    let stats = host.learner().learn(Some(Elements::F32(&[0.5])), None, 0).unwrap();
    assert!((stats.learning_rate - 0.5e-3).abs() < 1e-9 && stats.num_steps == 54, "{stats:?}");
}

/// Off policy, exploration, rate and first update follow the steps of all, which make no update due by themselves.
#[test]
fn steps_of_others_count_off_policy() {
    let config = Config {
        total_steps: 200,
        learning_rate: 1e-2,
        learning_rate_end: 0.0,
        exploration_steps: 100,
        exploration_start: 1.0,
        exploration_end: 0.0,
        learning_starts: 60,
        train_interval: 4,
        ..config(Algorithm::Dqn)
    };
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
    let mut block = made(&config, &[], &obs, &action);
    let mut l = open(&mut block);
    let step = |l: &mut Learner<'_>| {
        l.act(None, Elements::F32(&[0.5]), None, ElementsMut::I32(&mut [0])).unwrap();
        l.observe(None, &[1.0], &[1], &[0], None, None).unwrap();
        l.phase()
    };
    (0..7).for_each(|_| assert_eq!(step(&mut l), Phase::Act));
    l.count_steps(92).unwrap();
    assert!(l.phase() == Phase::Act && (l.stats().exploration_rate - 0.01).abs() < 1e-6);
    assert_eq!(step(&mut l), Phase::Learn);
    assert_eq!(l.count_steps(1).unwrap_err().kind, Kind::NotReady);
    assert!((l.learn(None, None, 0).unwrap().learning_rate - 5e-3).abs() < 1e-8);
    assert_eq!((l.stats().num_steps, l.stats().exploration_rate), (100, 0.0));
}

/// Written parameters are copied to the targets too, whatever the learner's own initial draws.
#[test]
fn targets_are_the_parameters_that_were_written() {
    for seed in [1, 2] {
        let own = Config { seed, discount: 0.9, target_interval: 1000, huber: 0, ..config(Algorithm::Dqn) };
        let (obs, action) = (Space::unbounded(1), Space::discrete(&[1]));
        let mut block = made(&own, &[], &obs, &action);
        let mut l = open(&mut block);
        let p: Vec<f32> = (0..l.params().len()).map(|i| 0.3 - 0.05 * (i % 13) as f32).collect();
        l.write_params(&p).unwrap();
        for _ in 0..4 {
            l.demonstrate(None, Elements::F32(&[0.5]), None, Elements::I32(&[0])).unwrap();
            l.observe(None, &[REWARD], &[0], &[1], Some(Elements::F32(&[-0.5])), None).unwrap();
        }
        let loss = l.learn(None, None, 0).unwrap().value_loss;
        // Q of the only choice, by hand: six units, then their weighted sum.
        let q = |x: f32| (0..6).map(|i| (p[i] * x + p[6 + i]).max(0.0) * p[12 + i]).sum::<f32>() + p[18];
        let error = q(0.5) - (REWARD + 0.9 * q(-0.5));
        assert!((loss - 0.5 * error * error).abs() < 1e-5, "{loss} {error}");
    }
}
