//! Discrete soft actor-critic: gradient steps against the paper's formulas in f64, saved blocks, refusals, and training to
//! success.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, attach, export, forge_learners, learn_all, made, open, policy, slope, wide};
use rlcore::error::{Kind, Result};
use rlcore::learn::algorithm::discrete_sac;
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, Layer};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

/// Numbers of choices of the action elements, and their sum.
const N: [u32; 2] = [3, 2];
const L: usize = 5;

fn small() -> Config {
    Config {
        train_interval: 1,
        exploration_steps: 30,
        ..Config::of(Algorithm::Sac).hidden(&[6]).rate(0.02).store(40, 14, 20)
    }
}

fn block(config: &Config, obs: u32, n: &[u32]) -> Vec<u64> {
    let (obs, action) = (Space::unbounded(obs), Space { n, ..Space::discrete(n) });
    made(config, &[], &obs, &action)
}

/// A row, split by action element.
fn elements<T>(row: &[T]) -> [&[T]; 2] {
    [&row[..3], &row[3..]]
}

/// Probabilities of the choices that a mask allows.
fn softmax(logits: &[f64], mask: &[u8]) -> Vec<f64> {
    let weight: Vec<f64> = logits.iter().zip(mask).map(|(x, m)| if *m == 0 { 0.0 } else { x.exp() }).collect();
    let sum: f64 = weight.iter().sum();
    weight.iter().map(|w| w / sum).collect()
}

/// The sum over choices of p (q - temperature ln p).
fn worth(p: &[f64], q: &[f64], temperature: f64) -> f64 {
    p.iter().zip(q).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (q - temperature * p.ln())).sum()
}

/// Values, losses and gradients of three rows, some choices forbidden, against the formulas and finite differences of them.
#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let (mut rng, rows, temperature) = (Rng::seeded(2), 3, 0.3);
    let mut draw = || -> Vec<f32> { (0..rows * L).map(|_| 1.5 * rng.normal_f32()).collect() };
    let (logits, q) = (draw(), draw());
    let mask = [1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1];
    let loss = |logits: &[f64]| -> (f64, f64) {
        let (mut loss, mut entropy) = (0.0, 0.0);
        for row in 0..rows {
            let at = L * row..L * (row + 1);
            let q = wide(&q[at.clone()]);
            let (x, m) = (elements(&logits[at.clone()]), elements(&mask[at]));
            for ((x, m), q) in x.into_iter().zip(m).zip(elements(&q)) {
                let p = softmax(x, m);
                loss -= worth(&p, q, temperature) / 2.0;
                entropy += worth(&p, &vec![0.0; q.len()], 1.0);
            }
        }
        // Three rows' shares of a batch of eight.
        (loss / 8.0, entropy / 8.0)
    };
    let mut log_prob: Vec<f32> = Vec::new();
    let (mut value, mut wanted) = (vec![0.0; 2 * rows], vec![]);
    for row in 0..rows {
        let at = L * row..L * (row + 1);
        let (x, own) = (wide(&logits[at.clone()]), wide(&q[at.clone()]));
        for ((x, m), q) in elements(&x).into_iter().zip(elements(&mask[at])).zip(elements(&own)) {
            let p = softmax(x, m);
            log_prob.extend(p.iter().map(|p| p.ln() as f32));
            wanted.push(worth(&p, q, temperature));
        }
    }
    discrete_sac::values(&N, &log_prob, &q, temperature as f32, &mut value);
    assert!(value.iter().zip(&wanted).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5), "{value:?} {wanted:?}");
    let (own, entropy) = discrete_sac::descend(&N, &q, temperature as f32, 8, &mut log_prob);
    let x = wide(&logits);
    assert!((f64::from(own) - loss(&x).0).abs() < 1e-6 && (f64::from(entropy) - loss(&x).1).abs() < 1e-6);
    for i in 0..rows * L {
        let slope = slope(&x, i, 1e-6, |x| loss(x).0);
        assert!((f64::from(log_prob[i]) - slope).abs() < 1e-6, "logit {i}: {} {slope}", log_prob[i]);
        assert!(mask[i] == 1 || log_prob[i] == 0.0);
    }
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    near(discrete_sac::target_entropy(&N, None, -1.0), 0.5 * 6f64.ln());
    near(discrete_sac::target_entropy(&N, None, 0.25), 0.25 * 6f64.ln());
    near(discrete_sac::target_entropy(&N, Some(&mask), -1.0), 0.5 * (3f64.ln() + 4.0 * 2f64.ln()));
    assert_eq!(discrete_sac::target_entropy(&N, Some(&[0, 1, 0, 1, 0]), 1.0), 0.0);
}

/// A transition: observation, mask, choices, reward, discount, next observation and its mask.
#[derive(Clone, Debug)]
struct Step {
    obs: [f64; 2],
    mask: [u8; L],
    choice: [i32; 2],
    reward: f64,
    discount: f64,
    next: [f64; 2],
    next_mask: [u8; L],
}

/// Linear networks of the policy and the critics with their gradient steps, in f64 from the paper.
struct Twin {
    config: Config,
    params: Vec<f64>,
    target: Vec<f64>,
    temperature: f64,
    taken: u64,
    /// Critic loss, mean Q of the first critic, and the policy's loss and entropy at its last update.
    losses: [f64; 4],
}

/// Parameters of a network: weights `[L, 2]`, then biases.
const LEN: usize = 3 * L;

impl Twin {
    fn say(params: &[f64], which: usize, x: [f64; 2]) -> Vec<f64> {
        let own = &params[LEN * which..][..LEN];
        (0..L).map(|i| own[2 * i] * x[0] + own[2 * i + 1] * x[1] + own[2 * L + i]).collect()
    }

    /// The lowest Q over critics for each choice.
    fn lowest(&self, params: &[f64], x: [f64; 2]) -> Vec<f64> {
        let mut q = Self::say(params, 1, x);
        if self.config.num_critics > 1 {
            q.iter_mut().zip(Self::say(params, 2, x)).for_each(|(q, other)| *q = q.min(other));
        }
        q
    }

    fn targets(&self, t: &Step) -> Vec<f64> {
        let (q, logits) = (self.lowest(&self.target, t.next), Self::say(&self.params, 0, t.next));
        let each = elements(&logits).into_iter().zip(elements(&t.next_mask)).zip(elements(&q));
        each.map(|((x, m), q)| t.reward + t.discount * worth(&softmax(x, m), q, self.temperature)).collect()
    }

    /// The loss of the critics with these parameters, and the mean Q of the first one.
    fn critics(&self, params: &[f64], batch: &[Step], targets: &[Vec<f64>]) -> (f64, f64) {
        let (mut loss, mut mean, share) = (0.0, 0.0, 1.0 / (2 * batch.len()) as f64);
        for (t, targets) in batch.iter().zip(targets) {
            for i in 1..=self.config.num_critics as usize {
                let q = Self::say(params, i, t.obs);
                for ((q, choice), target) in elements(&q).into_iter().zip(t.choice).zip(targets) {
                    let q = q[choice as usize];
                    let error: f64 = q - target;
                    loss += share
                        * match self.config.huber {
                            0 => error * error,
                            _ if error.abs() < 1.0 => 0.5 * error * error,
                            _ => error.abs() - 0.5,
                        };
                    mean += if i == 1 { share * q } else { 0.0 };
                }
            }
        }
        (loss, mean)
    }

    /// The loss of the policy with these parameters, and its entropy.
    fn policy(&self, params: &[f64], batch: &[Step]) -> (f64, f64) {
        let (mut loss, mut entropy, share) = (0.0, 0.0, 1.0 / batch.len() as f64);
        for t in batch {
            let (q, logits) = (self.lowest(&self.params, t.obs), Self::say(params, 0, t.obs));
            for ((x, m), q) in elements(&logits).into_iter().zip(elements(&t.mask)).zip(elements(&q)) {
                let p = softmax(x, m);
                loss -= 0.5 * share * worth(&p, q, self.temperature);
                entropy += share * worth(&p, &vec![0.0; q.len()], 1.0);
            }
        }
        (loss, entropy)
    }

    /// Adam with betas of 0 and an epsilon of 1, on finite differences of a loss.
    fn descend(rate: f64, params: &mut [f64], range: std::ops::Range<usize>, loss: impl Fn(&[f64]) -> f64) {
        let from = params.to_vec();
        for i in range {
            let slope = slope(&from, i, 1e-5, &loss);
            params[i] -= rate * slope / (slope.abs() + 1.0);
        }
    }

    fn step(&mut self, batch: &[Step]) {
        let (c, rate) = (self.config, f64::from(self.config.learning_rate));
        let targets: Vec<Vec<f64>> = batch.iter().map(|t| self.targets(t)).collect();
        (self.losses[0], self.losses[1]) = self.critics(&self.params, batch, &targets);
        let (mut params, len) = (self.params.clone(), self.params.len());
        Self::descend(rate * f64::from(c.critic_rate), &mut params, LEN..len, |x| self.critics(x, batch, &targets).0);
        self.params = params;
        self.taken += 1;
        if self.taken.is_multiple_of(c.policy_interval.into()) {
            (self.losses[2], self.losses[3]) = self.policy(&self.params, batch);
            let mut params = self.params.clone();
            Self::descend(rate, &mut params, 0..LEN, |x| self.policy(x, batch).0);
            self.params = params;
            let share = if c.target_entropy < 0.0 { 0.5 } else { f64::from(c.target_entropy) };
            let allowed = |mask: &[u8]| f64::from(mask.iter().sum::<u8>());
            let most = |t: &Step| elements(&t.mask).into_iter().map(|mask| allowed(mask).ln()).sum::<f64>();
            let target = share * batch.iter().map(most).sum::<f64>() / batch.len() as f64;
            let slope = self.temperature * (self.losses[3] - target);
            self.temperature *= (-f64::from(c.temperature_rate) * slope / (slope.abs() + 1.0)).exp();
        }
        if self.taken.is_multiple_of(c.target_interval.into()) {
            let part = f64::from(c.target_rate);
            self.target.iter_mut().zip(&self.params).for_each(|(to, x)| *to += part * (x - *to));
        }
    }
}

/// Consecutive gradient steps, with and without masks; batches come from the documented random stream.
#[test]
fn steps_are_those_of_the_formulas() {
    let cases = [(1, 1, 0, -1.0), (2, 0, 1, 0.3), (2, 1, 1, -1.0), (2, 0, 0, 0.1), (2, 0, 1, 0.0)];
    for (num_critics, huber, use_action_mask, target_entropy) in cases {
        let config = Config {
            use_action_mask,
            num_chunks: 2,
            policy_interval: 2,
            target_interval: 3,
            target_rate: 0.25,
            critic_rate: 2.0,
            temperature: 0.5,
            temperature_rate: 0.1,
            target_entropy,
            discount: 0.9,
            exploration_end: 0.5,
            adam_beta1: 0.0,
            adam_beta2: 0.0,
            adam_epsilon: 1.0,
            num_critics,
            huber,
            seed: 9,
            ..small().hidden(&[]).store(8, 5, 12)
        };
        let mut block = block(&config, 2, &N);
        let (mut rng, mut draws) = (Rng::seeded(4), Rng::stream(9, 2 << 32));
        let mut l = open(&mut block);
        let params: Vec<f32> = l.params().iter().map(|_| rng.uniform_f32() - 0.5).collect();
        assert_eq!(params.len(), LEN * (1 + num_critics as usize));
        l.write_params(&params).unwrap();
        let params = wide(&params);
        let mut twin = Twin { config, target: params.clone(), params, temperature: 0.5, taken: 0, losses: [0.0; 4] };
        let (mut stored, mut waits): (Vec<Step>, Option<Step>) = (vec![], None);
        while twin.taken < 40 {
            let obs = [(); 2].map(|()| 2.0 * rng.uniform_f32() - 1.0);
            let mask = match use_action_mask {
                0 => [1; L],
                _ => [[1, 1, 0, 1, 1], [0, 1, 1, 1, 0], [1, 0, 0, 0, 1], [1; L]][rng.bounded(3) as usize],
            };
            let mut choice = [0; 2];
            let given = (use_action_mask == 1).then_some(&mask[..]);
            l.act(None, Elements::F32(&obs), given, ElementsMut::I32(&mut choice)).unwrap();
            assert!(mask[choice[0] as usize] == 1 && mask[3 + choice[1] as usize] == 1);
            if let Some(t) = waits.take() {
                stored.push(Step { next: obs.map(f64::from), next_mask: mask, ..t });
            }
            let (reward, last) = (rng.uniform_f32(), [(); 2].map(|()| rng.uniform_f32()));
            let [terminated, truncated] = [5, 5].map(|p| u8::from(rng.bounded(p) == 0));
            l.observe(None, &[reward], &[terminated], &[truncated], Some(Elements::F32(&last)), None).unwrap();
            let discount = if terminated == 1 { 0.0 } else { f64::from(config.discount) };
            let (obs, reward, next) = (obs.map(f64::from), f64::from(reward), last.map(f64::from));
            let t = Step { obs, mask, choice, reward, discount, next, next_mask: [1; L] };
            if terminated | truncated == 1 {
                stored.push(t)
            } else {
                waits = Some(t)
            }
            while l.phase() == Phase::Learn {
                let count = stored.len().min(8) as u64;
                let slots: Vec<usize> = (0..5).map(|_| draws.bounded(count - 1) as usize).collect();
                let batch: Vec<Step> =
                    slots.iter().map(|slot| stored[(stored.len() - 1 - slot) / 8 * 8 + slot].clone()).collect();
                twin.step(&batch);
                l.learn(None, None, 2).unwrap();
                if twin.taken.is_multiple_of(2) {
                    l.learn(None, None, 2).unwrap();
                }
                let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 2e-5 * (1.0 + b.abs());
                let same = l.params().iter().zip(&twin.params).all(|(a, b)| near(*a, *b));
                assert!(same, "step {}: {:?} {:?}", twin.taken, l.params(), twin.params);
                assert!(near(l.view().temperature(), twin.temperature), "{}", twin.temperature);
                let stats = l.stats();
                // The learner reports the mean over critics, and half of squared errors.
                let share = if huber == 0 { 0.5 } else { 1.0 } / f64::from(num_critics);
                twin.losses[0] *= share;
                let own = [stats.value_loss, stats.value_mean, stats.policy_loss, stats.entropy];
                assert!(own.iter().zip(twin.losses).all(|(a, b)| near(*a, b)), "{own:?} {:?}", twin.losses);
            }
            // The value of an observation is the expected Q under the policy, averaged over the elements.
            let x = [0.25, -0.5];
            let (mut value, q) = ([0.0], twin.lowest(&twin.params, x));
            l.value(Elements::F32(&x.map(|x| x as f32)), None, &mut value).unwrap();
            let logits = Twin::say(&twin.params, 0, x);
            let each = elements(&logits).into_iter().zip(elements(&q));
            let wanted: f64 = each.map(|(x, q)| worth(&softmax(x, &[1; 3][..x.len()]), q, 0.0) / 2.0).sum();
            assert!((f64::from(value[0]) - wanted).abs() < 1e-4, "{value:?} {wanted}");
        }
        assert!(twin.temperature != 0.5);
    }
}

/// A contextual bandit: the sign of the first number selects the choice of the first element that pays, the second element
/// should always be 1; one choice is forbidden at times.
struct Bandit {
    rng: Rng,
    obs: [f32; 2],
    mask: [u8; L],
}

impl Bandit {
    fn new() -> Bandit {
        let mut bandit = Bandit { rng: Rng::seeded(3), obs: [0.0; 2], mask: [1; L] };
        bandit.next();
        bandit
    }

    fn next(&mut self) {
        self.obs = [(); 2].map(|()| 2.0 * self.rng.uniform_f32() - 1.0);
        self.mask = [1, 1, u8::from(self.rng.coin()), 1, 1];
    }

    fn reward(&self, choice: &[i32]) -> f32 {
        let right = i32::from(self.obs[0] > 0.0);
        0.5 * f32::from(u8::from(choice[0] == right)) + 0.5 * choice[1] as f32
    }
}

fn learning(config: &Config, block: &mut [u64], bandit: &mut Bandit, steps: u64, max_slices: u32) {
    let mut l = open(block);
    let end = l.stats().num_steps + steps;
    while l.stats().num_steps < end || l.phase() == Phase::Learn {
        match l.phase() {
            Phase::Learn => drop(l.learn(None, None, max_slices).unwrap()),
            _ => {
                let mut choice = [0; 2];
                let mask = (config.use_action_mask == 1).then_some(&bandit.mask[..]);
                l.act(None, Elements::F32(&bandit.obs), mask, ElementsMut::I32(&mut choice)).unwrap();
                l.observe(None, &[bandit.reward(&choice)], &[1], &[0], None, None).unwrap();
                bandit.next();
            }
        }
    }
}

/// A row that allows 2 of 16 choices has an entropy of at most ln 2: the temperature's target lies below that, and the choice
/// that pays is found.
#[test]
fn few_choices_that_are_allowed_are_told_apart() {
    for seed in 1..=2 {
        let config =
            Config { use_action_mask: 1, temperature_rate: 3e-3, seed, ..small().rate(3e-3).store(2000, 64, 64) };
        let (mut block, mut mask) = (block(&config, 1, &[16]), [0u8; 16]);
        (mask[3], mask[11]) = (1, 1);
        let (mut l, mut paid) = (open(&mut block), 0);
        for t in 0..4000 {
            let mut choice = [0];
            l.act(None, Elements::F32(&[1.0]), Some(&mask), ElementsMut::I32(&mut choice)).unwrap();
            let reward = u32::from(choice[0] == 11);
            paid += if t >= 3000 { reward } else { 0 };
            l.observe(None, &[reward as f32], &[1], &[0], None, None).unwrap();
            learn_all(&mut l, 0);
        }
        let stats = l.stats();
        // 0.89 of 1,000 draws by the target entropy, less three standard deviations.
        assert!(paid >= 860, "seed {seed}: {paid}, entropy {}, temperature {}", stats.entropy, l.view().temperature());
        assert!((stats.entropy - 0.5 * 2f32.ln()).abs() < 0.1, "{stats:?}");
    }
}

#[test]
fn the_right_choices_are_learnt_and_ship() {
    for (use_action_mask, num_critics, priority_exponent) in [(0, 2, 0.0), (1, 1, 0.6)] {
        let config = Config {
            buffer_size: 500,
            batch_size: 32,
            temperature: 0.1,
            target_entropy: 0.05,
            temperature_rate: 3e-3,
            use_action_mask,
            num_critics,
            priority_exponent,
            ..small().hidden(&[16])
        };
        let mut block = block(&config, 2, &N);
        let mut bandit = Bandit::new();
        learning(&config, &mut block, &mut bandit, 1500, 0);
        let mut l = open(&mut block);
        let stats = l.stats();
        assert!(stats.return_mean > 0.9 && stats.num_dropped == 0 && stats.entropy < 0.5, "{stats:?}");
        assert!(stats.entropy > 0.01 && l.view().temperature() > 0.0, "{stats:?}");
        let brain = export(&l.view());
        let policy = policy(&brain);
        let mut scratch = vec![0.0; policy.scratch_len(1).unwrap()];
        let (mut total, mut rng) = (0.0, Rng::seeded(1));
        for _ in 0..200 {
            let (mut a, mut b, seen) = ([0; 2], [0; 2], Elements::F32(&bandit.obs));
            let mask = (use_action_mask == 1).then_some(&bandit.mask[..]);
            let to = ElementsMut::I32(&mut a);
            policy.act(1, seen, mask, Recurrent::default(), Sampling::Greedy, &mut rng, &mut scratch, to).unwrap();
            l.predict(seen, mask, Recurrent::default(), Sampling::Greedy, ElementsMut::I32(&mut b)).unwrap();
            assert_eq!(a, b);
            total += bandit.reward(&a);
            bandit.next();
        }
        assert!(total > 190.0, "{total}");
        // The exported policy has the same probabilities, not sharper ones: at times it draws another choice.
        let draw = |seed: u64, scratch: &mut [f32]| {
            let (mut a, seen) = ([0; 2], Elements::F32(&[0.01, 0.0]));
            let (state, to) = (Recurrent::default(), ElementsMut::I32(&mut a));
            let mask = (use_action_mask == 1).then_some(&[1u8; L][..]);
            policy.act(1, seen, mask, state, Sampling::Basic, &mut Rng::seeded(seed), scratch, to).unwrap();
            a
        };
        let drawn: std::collections::BTreeSet<_> = (0..500).map(|seed| draw(seed, &mut scratch)).collect();
        assert!(drawn.len() > 1, "{drawn:?}");
    }
}

#[test]
fn slices_copies_and_chunks_change_no_bit() {
    for (num_chunks, num_critics) in [1, 2, 3, 7].into_iter().flat_map(|chunks| [(chunks, 1), (chunks, 2)]) {
        let config = Config { num_chunks, num_critics, use_action_mask: 1, ..small() };
        let config = Config { gradient_steps: 2, n_step: num_critics, priority_exponent: 0.5, ..config };
        let mut whole = block(&config, 2, &N);
        let (mut sliced, mut saved) = (whole.clone(), whole.clone());
        learning(&config, &mut whole, &mut Bandit::new(), 120, 0);
        learning(&config, &mut sliced, &mut Bandit::new(), 120, 1);
        assert!(whole == sliced, "{num_chunks} chunks");
        assert!(open(&mut whole).stats().num_updates > 50);
        // Saved and queried in the middle of gradient steps of the critics and of the policy.
        let mut bandit = Bandit::new();
        learning(&config, &mut saved, &mut bandit, 60, 0);
        for slices in [1, num_chunks, num_chunks + 1] {
            let mut l = open(&mut saved);
            while l.phase() != Phase::Learn {
                let mut choice = [0; 2];
                l.act(None, Elements::F32(&bandit.obs), Some(&bandit.mask), ElementsMut::I32(&mut choice)).unwrap();
                l.observe(None, &[bandit.reward(&choice)], &[1], &[0], None, None).unwrap();
                bandit.next();
            }
            l.learn(None, None, slices).unwrap();
            let mut other = saved.clone();
            let mut l = attach(&mut other);
            let x = Elements::F32(&[0.5, 0.5]);
            for sampling in [Sampling::Basic, Sampling::Greedy, Sampling::Temperature(0.5), Sampling::TopK(2)] {
                l.predict(x, Some(&[1; L]), Recurrent::default(), sampling, ElementsMut::I32(&mut [0; 2])).unwrap();
            }
            l.value(x, None, &mut [0.0]).unwrap();
            learn_all(&mut l, 0);
            let mut l = open(&mut saved);
            learn_all(&mut l, 1);
            assert!(open(&mut saved).params() == open(&mut other).params());
        }
    }
}

/// Critics have the listed layers over bytes too, and actions are drawn from the softmax.
#[test]
fn listed_layers_belong_to_critics_and_choices_are_drawn() {
    let (obs, action) = (Space::bytes(4), Space::discrete(&[2]));
    let config = Config { num_layers: 1, exploration_start: 0.0, num_envs: 2, batch_size: 4, ..small() };
    let layers = [Layer::dense(3, Activation::Relu)];
    let mut block = made(&config, &layers, &obs, &action);
    let mut l = open(&mut block);
    let one = (4 * 3 + 3) + (3 * 6 + 6) + (6 * 2 + 2);
    assert_eq!(l.params().len(), 3 * one);
    // Logits are biases alone: ln 3 for the second choice.
    let mut params = vec![0.0; 3 * one];
    params[one - 1] = 3f32.ln();
    l.write_params(&params).unwrap();
    let mut ones = 0;
    for _ in 0..10 {
        for _ in 0..100 {
            let mut action = [0; 2];
            if l.phase() == Phase::Learn {
                l.learn_drop().unwrap();
            }
            l.act(None, Elements::U8(&[0, 50, 100, 255, 1, 2, 3, 4]), None, ElementsMut::I32(&mut action)).unwrap();
            l.observe(None, &[0.5; 2], &[1; 2], &[0; 2], None, None).unwrap();
            ones += action.iter().sum::<i32>();
        }
    }
    assert!((ones - 1500).abs() < 100, "{ones} of 2000");
    attach(&mut block);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let obs = Space::unbounded(2);
    let size = |c: &Config, a: &Space<'_>| Learner::size(c, &[], &obs, a);
    size(&small(), &Space::discrete(&N)).unwrap();
    let error = size(&Config { algorithm: Algorithm::Td3 as u32, ..small() }, &Space::discrete(&N)).unwrap_err();
    assert!(error.kind == Kind::Config && error.what.contains("DQN or SAC for discrete actions"), "{error}");
    let error = size(&Config { noisy: 1, ..small() }, &Space::discrete(&N)).unwrap_err();
    assert!(error.kind == Kind::Config && error.what.contains("noisy"), "{error}");
    // Continuous actions have no masks, choices do.
    let masked = Config { use_action_mask: 1, ..small() };
    size(&masked, &Space::discrete(&N)).unwrap();
    assert_eq!(size(&masked, &Space::between(&[-1.0], &[1.0])).unwrap_err().kind, Kind::Config);
}

/// A block with any one word forged is refused, or safe for every call.
#[test]
fn forged_images_are_refused_or_harmless() {
    let config = Config {
        num_chunks: 2,
        use_action_mask: 1,
        n_step: 2,
        priority_exponent: 1.0,
        ..small().hidden(&[2]).store(4, 3, 3)
    };
    let mut block = block(&config, 1, &N);
    let call = |learner: &mut Learner<'_>| -> Result {
        let (x, mask, mut choice) = (Elements::F32(&[0.5]), Some(&[1u8; L][..]), [0; 2]);
        learner.predict(x, mask, Recurrent::default(), Sampling::Basic, ElementsMut::I32(&mut choice))?;
        learner.value(x, None, &mut [0.0])?;
        match learner.phase() {
            Phase::Act => learner.act(None, x, mask, ElementsMut::I32(&mut choice)),
            Phase::Observe => learner.observe(None, &[1.0], &[0], &[1], Some(x), None),
            Phase::Learn => learner.learn(None, None, 1).map(drop),
        }
    };
    let mut l = open(&mut block);
    while l.phase() != Phase::Learn {
        call(&mut l).unwrap();
    }
    l.learn(None, None, 1).unwrap();
    let first = block.clone();
    open(&mut block).learn(None, None, 2).unwrap();
    forge_learners(&[first, block], &[0, 1, 3, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 6, call);
}
