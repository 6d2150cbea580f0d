//! Off policy observations and rewards are stored as they come, and scaled when they are read.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, attach, learn_all, made, open};
use rlcore::data::normalizer::{INITIAL_COUNT, Limits, Moments, RewardScale, normalise, scale_rewards};
use rlcore::data::step::{Ends, Rewrite};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 3;
const OBS: usize = 4;

/// Algorithms, and whether actions are choices.
const ALL: [(Algorithm, bool); 4] =
    [(Algorithm::Dqn, true), (Algorithm::Sac, true), (Algorithm::Td3, false), (Algorithm::Sac, false)];

fn config(algorithm: Algorithm) -> Config {
    let own = Config { num_envs: N as u32, num_chunks: 3, gradient_steps: 2, ..Config::of(algorithm) };
    own.hidden(&[8]).store(200, 12, 20)
}

fn space(choices: bool) -> Space<'static> {
    if choices { Space::discrete(&[3]) } else { Space::unbounded(2) }
}

/// One step of all environments: observations far from mean 0, rewards far from deviation 1, ends of both kinds.
struct Step {
    obs: Vec<f32>,
    last: Vec<f32>,
    reward: Vec<f32>,
    ends: [Vec<u8>; 2],
}

impl Step {
    fn draw(rng: &mut Rng) -> Step {
        let far = |rng: &mut Rng| -> Vec<f32> {
            (0..N * OBS).map(|i| 30.0 * (i % OBS) as f32 + (1 + i % 3) as f32 * rng.uniform_f32()).collect()
        };
        let (obs, last) = (far(rng), far(rng));
        let reward = (0..N).map(|_| 50.0 * rng.uniform_f32()).collect();
        Step { obs, last, reward, ends: [(); 2].map(|()| (0..N).map(|_| u8::from(rng.bounded(6) == 0)).collect()) }
    }

    /// Acts and observes, and takes the update that is then due.
    fn play(&self, l: &mut Learner<'_>, max_slices: u32) {
        let (mut choice, mut vector) = ([0; N], [0.0; 2 * N]);
        let to = if l.shape().discrete() { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
        l.act(None, Elements::F32(&self.obs), None, to).unwrap();
        let last = Some(Elements::F32(&self.last));
        l.observe(None, &self.reward, &self.ends[0], &self.ends[1], last, None).unwrap();
        learn_all(l, max_slices);
    }
}

/// The statistics of what was played, by the kernels of the vectorized normalizer.
struct Twin {
    mean: Vec<f64>,
    var: Vec<f64>,
    counts: [f64; 2],
    returns: [f64; 2],
    running: Vec<f64>,
}

impl Twin {
    fn new() -> Twin {
        let (mean, var) = (vec![0.0; OBS], vec![1.0; OBS]);
        Twin { mean, var, counts: [INITIAL_COUNT; 2], returns: [0.0, 1.0], running: vec![0.0; N] }
    }

    fn see(&mut self, step: &Step, discount: f32) {
        let [count, returns] = &mut self.counts;
        Moments { mean: &mut self.mean, var: &mut self.var, count }.update(&step.obs).unwrap();
        let ([mean, var], ends) = (&mut self.returns, &step.ends);
        let mut scale = RewardScale { running: &mut self.running, mean, var, count: returns };
        let (ends, to) = (Ends { terminated: &ends[0], truncated: &ends[1], valid: None }, &mut [0.0; N]);
        scale.step(Rewrite::apart(&step.reward, to), ends, discount.into(), Limits::default()).unwrap();
    }

    fn all(&self) -> Vec<f64> {
        let [obs, returns] = self.counts;
        [&[returns, self.returns[0], self.returns[1], obs][..], &self.mean, &self.var].concat()
    }
}

fn moments(l: &Learner<'_>) -> Vec<f64> {
    let mut all = vec![f64::NAN; l.view().moments_len()];
    l.view().read_moments(&mut all).unwrap();
    all
}

/// With fixed statistics a learner takes the same bits as one whose host scales observations and rewards itself.
#[test]
fn a_store_of_raw_steps_learns_as_one_of_scaled_steps() {
    for (algorithm, choices) in ALL {
        let plain = Config { priority_exponent: 0.5, huber: 1, ..config(algorithm) };
        let config = Config { normalize_obs: 1, normalize_reward: 1, obs_clip: 1.5, reward_clip: 2.0, ..plain };
        let (obs, action) = (Space::unbounded(OBS as u32), space(choices));
        let (mut own, mut other) = (made(&config, &[], &obs, &action), made(&plain, &[], &obs, &action));
        let (mut rng, mut twin) = (Rng::seeded(4), Twin::new());
        (0..40).for_each(|_| twin.see(&Step::draw(&mut rng), config.discount));
        open(&mut own).write_moments(&twin.all()).unwrap();
        open(&mut own).freeze(true);
        for _ in 0..60 {
            let raw = Step::draw(&mut rng);
            raw.play(&mut open(&mut own), 0);
            let [obs, reward] = [config.obs_clip, config.reward_clip].map(|clip| Limits { clip, ..Limits::default() });
            let mut scaled = Step { ends: raw.ends.clone(), ..Step::draw(&mut Rng::seeded(1)) };
            for (from, to) in [(&raw.obs, &mut scaled.obs), (&raw.last, &mut scaled.last)] {
                normalise(&twin.mean, &twin.var, obs, Rewrite::apart(from, to)).unwrap();
            }
            scale_rewards(twin.returns[1], reward, Rewrite::apart(&raw.reward, &mut scaled.reward)).unwrap();
            scaled.play(&mut open(&mut other), 0);
        }
        let (own, other) = (open(&mut own), open(&mut other));
        assert!(own.stats().num_updates > 30 && own.params() == other.params(), "{algorithm:?}");
        assert!(own.stats().return_mean > other.stats().return_mean, "episodes count rewards as they come");
    }
}

/// The statistics are those of the vectorized normalizer, frozen within an update; saved in the middle and in slices everything
/// goes on with the same bytes.
#[test]
fn statistics_are_those_of_what_was_played() {
    for (algorithm, choices) in ALL {
        let config = Config { normalize_obs: 1, normalize_reward: 1, n_step: 3, ..config(algorithm) };
        let (obs, action) = (Space::unbounded(OBS as u32), space(choices));
        let mut block = made(&config, &[], &obs, &action);
        let (mut sliced, mut rng, mut twin) = (block.clone(), Rng::seeded(6), Twin::new());
        for _ in 0..50 {
            let step = Step::draw(&mut rng);
            twin.see(&step, config.discount);
            step.play(&mut open(&mut block), 0);
            step.play(&mut attach(&mut sliced), 1);
            assert!(block == sliced, "{algorithm:?}");
            let (own, twin) = (moments(&open(&mut block)), twin.all());
            assert!(own.iter().zip(&twin).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()), "{own:?} {twin:?}");
        }
        // An agent that is removed has been seen; its return ends.
        let step = Step::draw(&mut rng);
        let (mut choice, mut vector) = ([0; N], [0.0; 2 * N]);
        let mut l = open(&mut block);
        let to = if choices { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
        l.act(None, Elements::F32(&step.obs), None, to).unwrap();
        l.cut_rows(&[1; N]).unwrap();
        twin.see(&Step { reward: vec![0.0; N], ..step }, config.discount);
        assert_eq!(moments(&l)[4..], twin.all()[4..]);
    }
}

#[test]
fn statistics_do_not_change_while_an_update_is_due() {
    let config = Config { normalize_obs: 1, ..config(Algorithm::Dqn) };
    let mut block = made(&config, &[], &Space::unbounded(OBS as u32), &space(true));
    let (mut rng, mut l) = (Rng::seeded(2), open(&mut block));
    while l.phase() != Phase::Learn {
        let step = Step::draw(&mut rng);
        l.act(None, Elements::F32(&step.obs), None, ElementsMut::I32(&mut [0; N])).unwrap();
        l.observe(None, &step.reward, &[0; N], &[0; N], None, None).unwrap();
    }
    let (params, all) = (l.params().to_vec(), moments(&l));
    let mut after = l.view().params().to_vec();
    for due in [true, false] {
        let kind = |done: rlcore::error::Result| done.map_err(|error| error.kind);
        let wanted = if due { Err(Kind::NotReady) } else { Ok(()) };
        assert_eq!(kind(l.write_moments(&all)), wanted);
        assert_eq!(kind(l.write_params_with(&params, &all)), wanted);
        learn_all(&mut l, 0);
        after = if due { l.params().to_vec() } else { after };
    }
    assert!(after != params);
}
