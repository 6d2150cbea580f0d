//! The normalizer of N environments against its trace, a twin in f64, and conditions that must not change its results.

use rlcore::block::Kind as BlockKind;
use rlcore::cpu::{self, LEVELS};
use rlcore::data::step::{Ends, Rewrite};
use rlcore::data::vec_normalize::{StepArrays, VecNormalize, VecNormalizeConfig, View};
use rlcore::error::{Kind, Result};
use rlcore::rng::Rng;

use super::blocks::{bytes, header_is_checked, kind};

const CONFIG: VecNormalizeConfig = VecNormalizeConfig {
    num_envs: 2,
    obs_len: 2,
    normalize_obs: 1,
    normalize_reward: 1,
    clip_obs: 10.0,
    clip_reward: 10.0,
    discount: 0.99,
    epsilon: 1e-8,
};

fn block(config: &VecNormalizeConfig) -> Vec<u64> {
    let mut words = vec![u64::MAX; VecNormalize::size(config).unwrap() / 8];
    VecNormalize::init(bytes(&mut words), config).unwrap();
    words
}

fn open(words: &mut [u64]) -> VecNormalize<'_> {
    VecNormalize::attach(bytes(words)).unwrap()
}

fn close(got: f64, want: f64, tolerance: f64) -> bool {
    (got - want).abs() <= tolerance * want.abs().max(1.0)
}

fn draw(rng: &mut Rng, len: usize, low: f64, high: f64) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(low, high) as f32).collect()
}

/// The outputs of one step of the environments.
#[derive(Clone, Debug, PartialEq)]
struct Batch {
    obs: Vec<f32>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    final_obs: Vec<f32>,
    valid: Option<Vec<u8>>,
}

impl Batch {
    fn draw(rng: &mut Rng, n: usize, d: usize) -> Batch {
        let rare = |rng: &mut Rng, n| (0..n).map(|_| u8::from(rng.uniform() < 0.2)).collect();
        let mut batch = Batch {
            obs: draw(rng, n * d, -3.0, 8.0),
            reward: draw(rng, n, -1.0, 2.0),
            terminated: rare(rng, n),
            truncated: rare(rng, n),
            final_obs: draw(rng, n * d, -9.0, 9.0),
            valid: None,
        };
        // Rows without an end have unspecified final observations.
        for i in (0..n).filter(|&i| batch.terminated[i] | batch.truncated[i] == 0) {
            batch.final_obs[i * d..(i + 1) * d].fill(f32::NAN);
        }
        batch
    }

    fn ends(&self) -> Ends<'_> {
        Ends { terminated: &self.terminated, truncated: &self.truncated, valid: self.valid.as_deref() }
    }

    fn step_in_place(&mut self, v: &mut VecNormalize<'_>) -> Result {
        let ends = Ends { terminated: &self.terminated, truncated: &self.truncated, valid: self.valid.as_deref() };
        v.step(StepArrays {
            obs: Rewrite::in_place(&mut self.obs),
            reward: Rewrite::in_place(&mut self.reward),
            final_obs: Some(Rewrite::in_place(&mut self.final_obs)),
            ends,
        })
    }

    fn step_apart(&self, v: &mut VecNormalize<'_>, out: &mut Batch) -> Result {
        v.step(StepArrays {
            obs: Rewrite::apart(&self.obs, &mut out.obs),
            reward: Rewrite::apart(&self.reward, &mut out.reward),
            final_obs: Some(Rewrite::apart(&self.final_obs, &mut out.final_obs)),
            ends: self.ends(),
        })
    }

    fn bits(&self) -> Vec<u32> {
        [&self.obs[..], &self.reward, &self.final_obs].concat().into_iter().map(f32::to_bits).collect()
    }
}

/// The normalizer by its formulas, in two passes.
struct Twin {
    c: VecNormalizeConfig,
    mean: Vec<f64>,
    var: Vec<f64>,
    count: f64,
    running: Vec<f64>,
    ret: (f64, f64, f64),
}

fn merge(mean: &mut f64, var: &mut f64, count: f64, x: &[f64]) {
    let n = x.len() as f64;
    let batch_mean = x.iter().sum::<f64>() / n;
    let batch_var = x.iter().map(|x| (x - batch_mean).powi(2)).sum::<f64>() / n;
    let (d, total) = (batch_mean - *mean, count + n);
    *mean += d * n / total;
    *var = (*var * count + batch_var * n + d * d * count * n / total) / total;
}

impl Twin {
    fn new(c: VecNormalizeConfig) -> Twin {
        let (n, d) = (c.num_envs as usize, c.obs_len as usize);
        Twin { c, mean: vec![0.0; d], var: vec![1.0; d], count: 1e-4, running: vec![0.0; n], ret: (0.0, 1.0, 1e-4) }
    }

    fn observe(&mut self, obs: &[f32]) -> Vec<f64> {
        let d = self.mean.len();
        for j in 0..d {
            let column: Vec<f64> = obs.iter().skip(j).step_by(d).map(|x| f64::from(*x)).collect();
            merge(&mut self.mean[j], &mut self.var[j], self.count, &column);
        }
        self.count += (obs.len() / d) as f64;
        self.filter(obs)
    }

    fn filter(&self, obs: &[f32]) -> Vec<f64> {
        let (d, clip) = (self.mean.len(), f64::from(self.c.clip_obs));
        let each = |(i, x): (usize, &f32)| {
            let j = i % d;
            ((f64::from(*x) - self.mean[j]) / (self.var[j] + self.c.epsilon).sqrt()).clamp(-clip, clip)
        };
        obs.iter().enumerate().map(each).collect()
    }

    fn step(&mut self, b: &Batch) -> (Vec<f64>, Vec<f64>) {
        let obs = self.observe(&b.obs);
        let n = self.running.len();
        let valid = |i: usize| b.valid.as_ref().is_none_or(|v| v[i] != 0);
        for i in 0..n {
            self.running[i] = if valid(i) { self.running[i] * self.c.discount + f64::from(b.reward[i]) } else { 0.0 };
        }
        let sums: Vec<f64> = (0..n).filter(|&i| valid(i)).map(|i| self.running[i]).collect();
        if !sums.is_empty() {
            merge(&mut self.ret.0, &mut self.ret.1, self.ret.2, &sums);
            self.ret.2 += sums.len() as f64;
        }
        let clip = f64::from(self.c.clip_reward);
        let scale = (self.ret.1 + self.c.epsilon).sqrt();
        let reward = b.reward.iter().map(|r| (f64::from(*r) / scale).clamp(-clip, clip)).collect();
        for i in (0..n).filter(|&i| valid(i) && b.terminated[i] | b.truncated[i] != 0) {
            self.running[i] = 0.0;
        }
        (obs, reward)
    }
}

#[test]
fn a_run_follows_the_trace() {
    let mut words = block(&CONFIG);
    let mut v = open(&mut words);
    let near = |got: &[f32], want: &[f64]| {
        assert!(got.iter().zip(want).all(|(g, w)| close(f64::from(*g), *w, 2e-7)), "{got:?} is not {want:?}");
    };
    let mut obs = [1.0, 10.0, 3.0, 30.0];
    v.reset(Rewrite::in_place(&mut obs)).unwrap();
    near(&obs, &[-0.999800035, -0.9998247797, 1.000000005, 1.0000247547]);
    let (zeros, first, second) = ([0; 2], [1, 0], [0, 1]);
    let trace = [
        ([2.0, 20.0, 4.0, 10.0], [1.0, 0.0], zeros),
        ([0.0, 5.0, 1.0, 100.0], [0.5, -2.0], first),
        ([5.0, 5.0, 6.0, -7.0], [3.0, 1.0], second),
    ];
    let normalized = [
        [-0.4471308677, 0.3015510324, 1.341616191, -0.9044420537],
        [-1.3643432458, -0.7387350101, -0.6201436177, 2.1653162021],
        [1.1339024168, -0.530454878, 1.6378513473, -0.9133458274],
    ];
    let rewards = [[1.9998000025, 0.0], [0.3737176106, -1.4948704422], [1.8296803588, 0.6098934529]];
    let running = [[1.0, 0.0], [0.0, -2.0], [3.0, 0.0]];
    let returns = [
        (0.49997500124993743, 0.2500499968751874, 2.0001),
        (0.12249693757656055, 1.7899993751624925, 4.0001),
        (0.41832636122731287, 2.6883886657421456, 6.0001),
    ];
    for (i, (mut obs, mut reward, ended)) in trace.into_iter().enumerate() {
        // Either flag ends an episode.
        let (terminated, truncated) = if i == 1 { (ended, [0; 2]) } else { ([0; 2], ended) };
        v.step(StepArrays {
            obs: Rewrite::in_place(&mut obs),
            reward: Rewrite::in_place(&mut reward),
            final_obs: None,
            ends: Ends { terminated: &terminated, truncated: &truncated, valid: None },
        })
        .unwrap();
        near(&obs, &normalized[i]);
        near(&reward, &rewards[i]);
        let s = v.statistics();
        let ret = returns[i];
        assert_eq!(s.running, running[i]);
        assert!(close(s.return_mean, ret.0, 1e-15) && close(s.return_var, ret.1, 1e-15));
        assert!(close(s.return_count, ret.2, 1e-15));
    }
    let s = v.statistics();
    for j in 0..2 {
        assert!(close(s.obs_mean[j], [2.7499656254, 21.6247296909][j], 1e-10));
        assert!(close(s.obs_var[j], [3.9375578106, 982.2279550853][j], 1e-10));
    }
    assert!(close(s.obs_count, 8.0001, 1e-15) && !s.frozen);
}

/// Shapes on both sides of every kernel width.
const SHAPES: [(u32, u32); 8] = [(1, 1), (2, 3), (7, 16), (33, 17), (4, 63), (5, 64), (17, 65), (3, 200)];

#[test]
fn long_runs_equal_the_twin_in_place_and_apart() {
    for (num_envs, obs_len) in SHAPES {
        let config = VecNormalizeConfig { num_envs, obs_len, clip_obs: 2.0, clip_reward: 1.5, ..CONFIG };
        let (n, d) = (num_envs as usize, obs_len as usize);
        let mut rng = Rng::seeded(u64::from(num_envs * 1000 + obs_len));
        let (mut here, mut there, mut twin) = (block(&config), block(&config), Twin::new(config));
        let (mut here, mut there) = (open(&mut here), open(&mut there));
        let first = draw(&mut rng, n * d, -1.0, 1.0);
        let (mut a, mut b) = (first.clone(), vec![f32::NAN; n * d]);
        here.reset(Rewrite::in_place(&mut a)).unwrap();
        there.reset(Rewrite::apart(&first, &mut b)).unwrap();
        let want = twin.observe(&first);
        assert_eq!(a, b);
        assert!(a.iter().zip(&want).all(|(g, w)| close(f64::from(*g), *w, 1e-6)));
        for step in 0..40 {
            let mut raw = Batch::draw(&mut rng, n, d);
            if step % 3 == 2 {
                raw.valid = Some((0..n).map(|_| u8::from(rng.uniform() < 0.7) * 9).collect());
            }
            if step == 20 {
                raw.valid = Some(vec![0; n]);
            }
            let mut a = raw.clone();
            let mut b =
                Batch { obs: vec![7.0; n * d], reward: vec![7.0; n], final_obs: vec![7.0; n * d], ..raw.clone() };
            a.step_in_place(&mut here).unwrap();
            raw.step_apart(&mut there, &mut b).unwrap();
            let (obs, reward) = twin.step(&raw);
            let near = |got: &[f32], want: &[f64]| got.iter().zip(want).all(|(g, w)| close(f64::from(*g), *w, 1e-6));
            assert!(near(&a.obs, &obs) && near(&a.reward, &reward), "{n}x{d}, step {step}");
            assert_eq!((&a.obs, &a.reward), (&b.obs, &b.reward));
            let last = twin.filter(&raw.final_obs);
            for i in 0..n {
                let valid = raw.valid.as_ref().is_none_or(|v| v[i] != 0);
                let row = i * d..(i + 1) * d;
                if valid && raw.terminated[i] | raw.truncated[i] != 0 {
                    assert!(near(&a.final_obs[row.clone()], &last[row.clone()]));
                    assert_eq!(a.final_obs[row.clone()], b.final_obs[row]);
                } else {
                    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&a.final_obs[row.clone()]), bits(&raw.final_obs[row.clone()]));
                    assert!(b.final_obs[row].iter().all(|x| *x == 7.0));
                }
            }
            let s = here.statistics();
            assert_eq!(s, there.statistics());
            for j in 0..d {
                assert!(close(s.obs_mean[j], twin.mean[j], 1e-13) && close(s.obs_var[j], twin.var[j], 1e-12));
            }
            assert!(close(s.return_mean, twin.ret.0, 1e-12) && close(s.return_var, twin.ret.1, 1e-12));
            assert!(close(s.return_count, twin.ret.2, 1e-12) && close(s.obs_count, twin.count, 1e-12));
            assert!(s.running.iter().zip(&twin.running).all(|(a, b)| close(*a, *b, 1e-12)));
        }
    }
}

#[test]
fn what_is_switched_off_passes_and_keeps_no_statistics() {
    let mut rng = Rng::seeded(3);
    for (normalize_obs, normalize_reward) in [(false, true), (true, false), (false, false)] {
        let (obs, reward) = (normalize_obs.into(), normalize_reward.into());
        let config =
            VecNormalizeConfig { normalize_obs: obs, normalize_reward: reward, num_envs: 5, obs_len: 3, ..CONFIG };
        let both = VecNormalizeConfig { num_envs: 5, obs_len: 3, ..CONFIG };
        let (mut words, mut other) = (block(&config), block(&both));
        let (mut v, mut whole) = (open(&mut words), open(&mut other));
        for _ in 0..5 {
            let mut raw = Batch::draw(&mut rng, 5, 3);
            // Beyond the clip range of normalized numbers.
            (raw.obs[4], raw.reward[1]) = (1e6, -1e6);
            let (mut a, mut b) = (raw.clone(), raw.clone());
            a.step_in_place(&mut v).unwrap();
            b.step_in_place(&mut whole).unwrap();
            assert_eq!(a.obs, if normalize_obs { &b.obs } else { &raw.obs }[..]);
            assert_eq!(a.reward, if normalize_reward { &b.reward } else { &raw.reward }[..]);
            let mut apart = raw.clone();
            apart.obs.fill(5.0);
            apart.reward.fill(5.0);
            let mut copy = block(&config);
            raw.step_apart(&mut open(&mut copy), &mut apart).unwrap();
            assert!(normalize_obs || apart.obs == raw.obs);
            assert!(normalize_reward || apart.reward == raw.reward);
        }
        let s = v.statistics();
        assert_eq!(s.obs_count == 1e-4, !normalize_obs);
        assert_eq!(s.return_count == 1e-4, !normalize_reward);
    }
}

#[test]
fn frozen_statistics_normalise_and_nothing_in_the_block_changes() {
    let config = VecNormalizeConfig { num_envs: 6, obs_len: 4, ..CONFIG };
    let mut rng = Rng::seeded(4);
    let mut words = block(&config);
    for _ in 0..3 {
        Batch::draw(&mut rng, 6, 4).step_in_place(&mut open(&mut words)).unwrap();
    }
    let thawed = words.clone();
    open(&mut words).freeze(true);
    let frozen = words.clone();
    assert_ne!(frozen, thawed);
    let raw = Batch::draw(&mut rng, 6, 4);
    let mut first = raw.obs.clone();
    open(&mut words).reset(Rewrite::in_place(&mut first)).unwrap();
    open(&mut words).reset_one(2, Rewrite::in_place(&mut raw.obs.clone())).unwrap();
    let (mut a, mut b) = (raw.clone(), raw.clone());
    a.step_in_place(&mut open(&mut words)).unwrap();
    b.step_in_place(&mut open(&mut words)).unwrap();
    assert_eq!(a.bits(), b.bits());
    assert_eq!(words, frozen);
    let v = open(&mut words);
    let s = v.statistics();
    assert!(s.frozen && first == a.obs);
    for (i, x) in a.obs.iter().enumerate() {
        let want = (f64::from(raw.obs[i]) - s.obs_mean[i % 4]) / (s.obs_var[i % 4] + 1e-8).sqrt();
        assert!(close(f64::from(*x), want, 1e-6));
    }
    for (got, raw) in a.reward.iter().zip(&raw.reward) {
        assert!(close(f64::from(*got), f64::from(*raw) / (s.return_var + 1e-8).sqrt(), 1e-6));
    }
    let mut many = vec![0.5; 4 * 9];
    v.normalize_obs(Rewrite::in_place(&mut many)).unwrap();
    assert!(close(f64::from(many[5]), (0.5 - s.obs_mean[1]) / (s.obs_var[1] + 1e-8).sqrt(), 1e-6));
    open(&mut words).freeze(false);
    assert_eq!(words, thawed);
    a.step_in_place(&mut open(&mut words)).unwrap();
    assert_ne!(words, thawed);
}

#[test]
fn one_environment_is_reset_alone() {
    let config = VecNormalizeConfig { num_envs: 3, obs_len: 2, ..CONFIG };
    let mut words = block(&config);
    let mut v = open(&mut words);
    let mut raw = Batch::draw(&mut Rng::seeded(5), 3, 2);
    (raw.terminated, raw.truncated) = (vec![0; 3], vec![0; 3]);
    raw.step_in_place(&mut v).unwrap();
    let before: Vec<f64> = v.statistics().running.to_vec();
    let mut obs = [f32::NAN, f32::NAN, 4.0, -1.0, f32::NAN, f32::NAN];
    v.reset_one(1, Rewrite::in_place(&mut obs)).unwrap();
    let s = v.statistics();
    assert_eq!(s.running, [before[0], 0.0, before[2]]);
    assert!(close(s.obs_count, 4.0001, 1e-15));
    assert!(close(f64::from(obs[2]), (4.0 - s.obs_mean[0]) / (s.obs_var[0] + 1e-8).sqrt(), 1e-6));
    assert!(obs[0].is_nan() && obs[5].is_nan());
    assert_eq!(kind(v.reset_one(3, Rewrite::in_place(&mut obs))), Some(Kind::Range));
    assert_eq!(kind(v.reset_one(0, Rewrite::in_place(&mut obs))), Some(Kind::Value));
    assert_eq!(kind(v.reset_one(0, Rewrite::in_place(&mut obs[..4]))), Some(Kind::Shape));
}

#[test]
fn merged_workers_have_seen_what_both_have() {
    let mut rng = Rng::seeded(6);
    let small = VecNormalizeConfig { num_envs: 3, obs_len: 20, ..CONFIG };
    let large = VecNormalizeConfig { num_envs: 8, ..small };
    let (mut a, mut b) = (block(&small), block(&large));
    let (mut a, mut b) = (open(&mut a), open(&mut b));
    let (mut column, mut sums) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let (mut x, mut y) = (Batch::draw(&mut rng, 3, 20), Batch::draw(&mut rng, 8, 20));
        for batch in [&mut x, &mut y] {
            column.extend(batch.obs.iter().skip(7).step_by(20).map(|x| f64::from(*x)));
            let n = batch.terminated.len();
            (batch.terminated, batch.truncated) = (vec![1; n], vec![0; n]);
            batch.final_obs.fill(0.0);
            sums.extend(batch.reward.iter().map(|x| f64::from(*x)));
        }
        x.step_in_place(&mut a).unwrap();
        y.step_in_place(&mut b).unwrap();
    }
    let running = a.statistics().running.to_vec();
    a.merge(&b.statistics()).unwrap();
    let s = a.statistics();
    // Each contributes its initial count of 1e-4.
    assert!(close(s.obs_count, 330.0002, 1e-14) && close(s.return_count, 330.0002, 1e-14));
    for (x, mean, var) in [(column, s.obs_mean[7], s.obs_var[7]), (sums, s.return_mean, s.return_var)] {
        let want = x.iter().sum::<f64>() / 330.0;
        assert!(close(mean, want, 1e-5));
        assert!(close(var, x.iter().map(|x| (x - want).powi(2)).sum::<f64>() / 330.0, 1e-5));
    }
    assert_eq!(s.running, running);
    let mut words = block(&CONFIG);
    assert_eq!(kind(a.merge(&open(&mut words).statistics())), Some(Kind::Config));
    let huge = |count| rlcore::data::vec_normalize::Statistics { return_count: count, ..b.statistics() };
    let before = (a.statistics().obs_mean.to_vec(), a.statistics().obs_count);
    assert_eq!(kind(a.merge(&huge(2f64.powi(64) * 1.5))), Some(Kind::Range));
    assert_eq!(kind(a.merge(&huge(f64::NAN))), Some(Kind::Value));
    assert_eq!((a.statistics().obs_mean.to_vec(), a.statistics().obs_count), before);
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (num_envs, obs_len) in SHAPES {
        let config = VecNormalizeConfig { num_envs, obs_len, ..CONFIG };
        let run = || {
            let (mut words, mut rng) = (block(&config), Rng::seeded(7));
            let mut all = Vec::new();
            for _ in 0..6 {
                let mut batch = Batch::draw(&mut rng, num_envs as usize, obs_len as usize);
                batch.step_in_place(&mut open(&mut words)).unwrap();
                all.extend(batch.bits());
            }
            (words, all)
        };
        let [base, avx2, avx512] = LEVELS.map(|level| {
            cpu::set_limit(level);
            run()
        });
        assert!(base == avx2 && base == avx512);
    }
}

#[test]
fn a_copy_goes_on_as_the_original() {
    let config = VecNormalizeConfig { num_envs: 4, obs_len: 5, ..CONFIG };
    let (mut words, mut rng) = (block(&config), Rng::seeded(8));
    for _ in 0..4 {
        Batch::draw(&mut rng, 4, 5).step_in_place(&mut open(&mut words)).unwrap();
    }
    let mut copy = words.clone();
    let raw = Batch::draw(&mut rng, 4, 5);
    let (mut a, mut b) = (raw.clone(), raw);
    a.step_in_place(&mut open(&mut words)).unwrap();
    b.step_in_place(&mut VecNormalize::open(bytes(&mut copy)).unwrap()).unwrap();
    assert_eq!(a.bits(), b.bits());
    assert_eq!(words, copy);
    assert_eq!(open(&mut words).config(), config);
}

#[test]
fn a_number_that_is_not_finite_changes_nothing() {
    for (num_envs, obs_len) in [(3u32, 4u32), (5, 70)] {
        let (n, d) = (num_envs as usize, obs_len as usize);
        for (normalize_obs, frozen) in [(true, false), (true, true), (false, false)] {
            let config = VecNormalizeConfig { num_envs, obs_len, normalize_obs: normalize_obs.into(), ..CONFIG };
            let (mut words, mut rng) = (block(&config), Rng::seeded(9));
            Batch::draw(&mut rng, n, d).step_in_place(&mut open(&mut words)).unwrap();
            open(&mut words).freeze(frozen);
            let before = words.clone();
            let mut good = Batch::draw(&mut rng, n, d);
            good.terminated[n - 1] = 1;
            good.final_obs[(n - 1) * d..].fill(1.0);
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for place in 0..3 {
                    let mut batch = good.clone();
                    match place {
                        0 => batch.obs[n * d - 1] = bad,
                        1 => batch.reward[n - 1] = bad,
                        _ => batch.final_obs[n * d - 1] = bad,
                    }
                    let bits = batch.bits();
                    let error = batch.step_in_place(&mut open(&mut words)).unwrap_err();
                    let word = ["a finite obs", "a finite reward", "a finite final_obs"][place];
                    assert!(error.kind == Kind::Value && error.what.ends_with(word), "{error}");
                    assert_eq!(batch.bits(), bits);
                    assert_eq!(words, before);
                }
                let mut obs = vec![1.0; n * d];
                obs[d] = bad;
                assert_eq!(kind(open(&mut words).reset(Rewrite::in_place(&mut obs))), Some(Kind::Value));
                assert_eq!(kind(open(&mut words).normalize_obs(Rewrite::in_place(&mut obs))), Some(Kind::Value));
                assert_eq!(words, before);
            }
        }
    }
}

#[test]
fn arrays_of_another_shape_are_refused() {
    let mut words = block(&CONFIG);
    let before = words.clone();
    let mut v = open(&mut words);
    let good = Batch {
        obs: vec![1.0; 4],
        reward: vec![1.0; 2],
        terminated: vec![0; 2],
        truncated: vec![0; 2],
        final_obs: vec![1.0; 4],
        valid: Some(vec![1; 2]),
    };
    let spoilt: [fn(&mut Batch); 6] = [
        |b| b.obs.truncate(3),
        |b| b.reward.push(1.0),
        |b| b.terminated.truncate(1),
        |b| b.truncated.push(0),
        |b| b.final_obs.truncate(2),
        |b| b.valid = Some(vec![1]),
    ];
    for spoil in spoilt {
        let mut batch = good.clone();
        spoil(&mut batch);
        assert_eq!(kind(batch.step_in_place(&mut v)), Some(Kind::Shape));
        let mut out = good.clone();
        spoil(&mut out);
        let bad = good.step_apart(&mut v, &mut out);
        assert!(bad.is_ok() == (out.obs.len() == 4 && out.reward.len() == 2 && out.final_obs.len() == 4));
        if bad.is_ok() {
            v = open(&mut words);
        }
    }
    words.copy_from_slice(&before);
    let mut v = open(&mut words);
    assert_eq!(kind(v.reset(Rewrite::in_place(&mut [1.0; 6]))), Some(Kind::Shape));
    assert_eq!(kind(v.reset(Rewrite::apart(&[1.0; 4], &mut [1.0; 5]))), Some(Kind::Shape));
    assert_eq!(kind(v.normalize_obs(Rewrite::in_place(&mut [1.0; 3]))), Some(Kind::Shape));
    assert_eq!(words, before);
}

#[test]
fn configurations_are_checked() {
    let bad = [
        VecNormalizeConfig { num_envs: 0, ..CONFIG },
        VecNormalizeConfig { obs_len: 0, ..CONFIG },
        VecNormalizeConfig { clip_obs: 0.0, ..CONFIG },
        VecNormalizeConfig { clip_obs: f32::INFINITY, ..CONFIG },
        VecNormalizeConfig { clip_reward: f32::NAN, ..CONFIG },
        VecNormalizeConfig { clip_reward: -1.0, ..CONFIG },
        VecNormalizeConfig { clip_reward: 0.0, ..CONFIG },
        VecNormalizeConfig { clip_reward: f32::INFINITY, ..CONFIG },
        VecNormalizeConfig { discount: 1.1, ..CONFIG },
        VecNormalizeConfig { discount: f64::NAN, ..CONFIG },
        VecNormalizeConfig { epsilon: 0.0, ..CONFIG },
        VecNormalizeConfig { epsilon: f64::INFINITY, ..CONFIG },
    ];
    for config in bad {
        assert_eq!(kind(VecNormalize::size(&config)), Some(Kind::Config), "{config:?}");
    }
}

#[test]
fn images_are_checked() {
    let mut words = block(&CONFIG);
    Batch::draw(&mut Rng::seeded(1), 2, 2).step_in_place(&mut open(&mut words)).unwrap();
    // The state begins on a 64-byte boundary, after header and configuration: counts, moments, the switch.
    let state = 128 / 8;
    let (nan, big) = (f64::NAN.to_bits(), 1e200f64.to_bits());
    #[rustfmt::skip]
    let places = [
        (0, nan), (0, 0), (0, (-1.0f64).to_bits()), (1, big), (2, (-1e-9f64).to_bits()), (3, 0), (4, 2), (8, nan),
        (9, big), (16, (-0.5f64).to_bits()), (17, f64::INFINITY.to_bits()), (24, nan), (25, big),
    ];
    for (place, value) in places {
        let mut damaged = words.clone();
        damaged[state + place] = value;
        assert_eq!(kind(VecNormalize::attach(bytes(&mut damaged))), Some(Kind::Image), "word {place}");
    }
    header_is_checked(&words, 40, |mem| kind(VecNormalize::attach(mem)));
    let size = words.len() * 8;
    // Switches that no call sets, under a correct checksum.
    for switch in [6, 7] {
        let mut sealed = words.clone();
        let mut setup: [u32; 10] = bytemuck::pod_read_unaligned(&bytes(&mut sealed)[64..104]);
        assert_eq!(std::mem::replace(&mut setup[switch], 2), 1);
        rlcore::block::create(bytes(&mut sealed), BlockKind::VecNormalize, size, &setup).unwrap();
        sealed[state..].copy_from_slice(&words[state..]);
        assert_eq!(kind(VecNormalize::attach(bytes(&mut sealed))), Some(Kind::Image), "switch {switch}");
    }
    assert_eq!(kind(VecNormalize::attach(&mut bytes(&mut words)[..size - 1])), Some(Kind::Size));
    assert_eq!(kind(VecNormalize::init(&mut bytes(&mut words)[..size - 1], &CONFIG)), Some(Kind::Size));
    assert_eq!(kind(VecNormalize::attach(&mut bytes(&mut words)[1..])), Some(Kind::Align));
}

/// A read-only view sees the owner's changes.
#[test]
fn a_view_is_of_the_same_block() {
    let config = VecNormalizeConfig { num_envs: 2, obs_len: 3, ..VecNormalizeConfig::default() };
    let mut words = block(&config);
    open(&mut words).reset(Rewrite::in_place(&mut [1.0, -2.0, 3.0, 0.5, 4.0, -1.0])).unwrap();
    let copy = words.clone();
    let view = View::open(bytemuck::cast_slice(&copy)).unwrap();
    let own = open(&mut words);
    assert_eq!((view.config(), view.statistics()), (own.config(), own.statistics()));
    assert_ne!(view.config(), VecNormalizeConfig::default());
}
