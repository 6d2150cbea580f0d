//! Decisions that last for different times: each is discounted by the power of the discount.

use crate::host::{Array, Columns, Host, Tune, attach};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Phase};
use rlcore::rng::Rng;
use rlcore::space::Space;

/// Algorithms, and whether actions are choices.
const ALL: [(Algorithm, bool); 9] = [
    (Algorithm::Ppo, true),
    (Algorithm::A2c, false),
    (Algorithm::Impala, true),
    (Algorithm::Unreal, true),
    (Algorithm::Pqn, true),
    (Algorithm::Dqn, true),
    (Algorithm::Td3, false),
    (Algorithm::Sac, false),
    (Algorithm::StreamAc, true),
];

fn host(algorithm: Algorithm, choices: bool, discount: f32, use_duration: u32) -> Host {
    let own = Config { discount, use_duration, ..Config::of(algorithm).hidden(&[8]) };
    let own = match algorithm {
        Algorithm::Dqn | Algorithm::Td3 | Algorithm::Sac => Config { num_envs: 3, n_step: 3, ..own.store(100, 16, 30) },
        Algorithm::StreamAc => own,
        Algorithm::Unreal => Config {
            num_envs: 3,
            num_steps: 8,
            history_len: 40,
            pixel_control_coef: 0.0,
            value_replay_coef: 0.0,
            policy_replay_coef: 0.5,
            ..own
        },
        _ => Config { num_envs: 3, num_steps: 8, num_minibatches: 1, normalize_reward: 1, ..own },
    };
    let own = Config { reward_class_coef: 0.0, ..own };
    Host::new(&own, &Space::unbounded(4), &if choices { Space::discrete(&[3]) } else { Space::unbounded(2) })
}

/// A step of all environments. The durations of a step follow from `lasts` and the numbers of the step.
struct Player {
    rng: Rng,
    obs: Array,
}

impl Player {
    fn new(h: &Host) -> Player {
        let mut rng = Rng::seeded(5);
        Player { obs: h.draw_obs(&mut rng), rng }
    }

    /// Plays a step, and returns the rewards, durations and ends.
    fn step(&mut self, h: &mut Host, lasts: Option<fn(&mut Rng) -> f32>) -> [Vec<f32>; 4] {
        let mut action = h.actions();
        h.learner().act(None, self.obs.get(), None, action.get_mut()).unwrap();
        let reward: Vec<f32> = (0..h.n).map(|_| self.rng.uniform_f32()).collect();
        let [terminated, truncated] =
            [(); 2].map(|()| -> Vec<u8> { (0..h.n).map(|_| u8::from(self.rng.uniform() < 0.1)).collect() });
        let duration: Option<Vec<f32>> = lasts.map(|lasts| (0..h.n).map(|_| lasts(&mut self.rng)).collect());
        self.obs = h.draw_obs(&mut self.rng);
        let (last, ends) = (Some(self.obs.get()), [&terminated[..], &truncated]);
        h.learner().observe_after(duration.as_deref(), None, &reward, ends, last, None).unwrap();
        let wide = |flags: Vec<u8>| flags.into_iter().map(f32::from).collect();
        [reward, duration.unwrap_or_default(), wide(terminated), wide(truncated)]
    }

    fn train(&mut self, h: &mut Host, updates: u64, lasts: Option<fn(&mut Rng) -> f32>) -> Vec<f32> {
        while h.learner().stats().num_updates < updates {
            self.step(h, lasts);
            if h.learner().phase() == Phase::Learn {
                h.learner().learn(Some(self.obs.get()), None, 0).unwrap();
            }
        }
        h.learner().params().to_vec()
    }
}

/// Durations of 1 change no bit; durations of 2 are those of a discount that is squared.
#[test]
fn equal_durations_are_a_discount() {
    for (algorithm, choices) in ALL {
        let learned = |discount, used, lasts| {
            let mut h = host(algorithm, choices, discount, used);
            // A choice between equals may go either way later on.
            Player::new(&h).train(&mut h, if algorithm == Algorithm::Pqn { 1 } else { 4 }, lasts)
        };
        let plain = learned(0.81, 0, None);
        assert!(learned(0.81, 1, Some(|_| 1.0)) == plain, "{algorithm:?}");
        let twice = learned(0.9, 1, Some(|_| 2.0));
        let other = learned(0.9, 1, Some(|_| 1.0));
        let apart = |with: &[f32]| plain.iter().zip(with).map(|(a, b)| (a - b).abs()).sum::<f32>();
        let (near, far) = (apart(&twice), apart(&other));
        assert!(near < 0.02 * far, "{algorithm:?}: {near} {far}");
    }
}

/// Advantages and targets of steps of any duration are those of the definition, and batches carry the durations.
#[test]
fn advantages_of_mixed_durations_are_those_of_the_definition() {
    let mut h = host(Algorithm::Ppo, true, 0.9, 1);
    h = Host::new(&Config { normalize_reward: 0, ..h.config }, &Space::unbounded(4), &Space::discrete(&[3]));
    let (mut p, mut steps) = (Player::new(&h), Vec::new());
    while h.learner().phase() != Phase::Learn {
        steps.push(p.step(&mut h, Some(|rng| 4.0 * rng.uniform_f32())));
    }
    let mut after = vec![0.0; h.n];
    h.learner().value(p.obs.get(), None, &mut after).unwrap();
    h.learner().learn_begin(p.obs.get(), None).unwrap();
    let batch = Columns::read(&mut h);
    let (n, lambda) = (h.n, f64::from(h.config.gae_lambda));
    for env in 0..n {
        let (mut next, mut carry) = (f64::from(after[env]), 0.0);
        for (t, [reward, duration, terminated, truncated]) in steps.iter().enumerate().rev() {
            let (at, discount) = (t * n + env, f64::from(h.config.discount).powf(duration[env].into()));
            let value = f64::from(batch.value[at]);
            // Where an episode was truncated its last value is not in the batch.
            let live = if terminated[env] > 0.0 { 0.0 } else { 1.0 };
            let cut = truncated[env] > 0.0 && live > 0.0;
            let ends = cut || live == 0.0;
            let error = f64::from(reward[env]) + discount * next * live - value;
            let advantage = error + if ends { 0.0 } else { discount * lambda * carry };
            assert!(cut || (advantage - f64::from(batch.advantage[at])).abs() < 1e-5, "{at}");
            assert_eq!(batch.duration[at], duration[env]);
            (next, carry) = (value, f64::from(batch.advantage[at]));
        }
    }
    let mut other = Host::new(&h.config, &Space::unbounded(4), &Space::discrete(&[3]));
    let error = other.learner().learn_batch(&Columns { duration: Vec::new(), ..batch.clone() }.batch()).unwrap_err();
    assert!(error.kind == Kind::Shape && error.what.contains("duration"), "{error}");
    let wrong = Columns { duration: vec![-1.0; batch.duration.len()], ..batch.clone() };
    assert_eq!(other.learner().learn_batch(&wrong.batch()).unwrap_err().kind, Kind::Value);
    other.learner().learn_batch(&batch.batch()).unwrap();
    other.learner().learn(None, None, 0).unwrap();
}

/// IMPALA computes its targets when it learns: a learner that gets batches learns as the one that recorded them.
#[test]
fn batches_carry_durations_to_other_learners() {
    let (mut own, mut server) = (host(Algorithm::Impala, true, 0.9, 1), host(Algorithm::Impala, true, 0.9, 1));
    let mut p = Player::new(&own);
    for _ in 0..3 {
        while own.learner().phase() != Phase::Learn {
            p.step(&mut own, Some(|rng| 3.0 * rng.uniform_f32()));
        }
        own.learner().learn_begin(p.obs.get(), None).unwrap();
        let batch = Columns::read(&mut own);
        server.learner().learn_batch(&batch.batch()).unwrap();
        own.learner().learn(None, None, 0).unwrap();
        server.learner().learn(None, None, 0).unwrap();
        assert!(own.learner().params() == server.learner().params());
    }
}

#[test]
fn durations_are_given_exactly_where_they_are_used() {
    for (algorithm, choices) in ALL {
        for (used, given, wanted) in [
            (0, Some(1.0), Some(Kind::Shape)),
            (1, None, Some(Kind::Null)),
            (1, Some(-1.0), Some(Kind::Value)),
            (1, Some(f32::NAN), Some(Kind::Value)),
            (1, Some(f32::INFINITY), Some(Kind::Value)),
            (1, Some(0.0), None),
        ] {
            let mut h = host(algorithm, choices, 0.9, used);
            let (obs, mut action) = (h.obs(), h.actions());
            h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
            let before = h.block.clone();
            let duration = given.map(|x| vec![x; h.n]);
            let (reward, ends) = (vec![0.0; h.n], vec![0; h.n]);
            let done =
                attach(&mut h.block).observe_after(duration.as_deref(), None, &reward, [&ends, &ends], None, None);
            assert_eq!(done.map_err(|error| error.kind).err(), wanted, "{algorithm:?}");
            assert!(wanted.is_none() || h.block == before);
        }
    }
}
