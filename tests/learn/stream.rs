//! Stream algorithms: whole runs in f64 from their formulas, steps that do not overshoot, traces that end, CartPole, and
//! refusals.

use crate::host::{Host, Tune, attach, chunks, export, forge, made, outcome, policy, slope};
use rlcore::env::{Autoreset, CartPole, Env, VecEnv, VecEnvConfig};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, Carry, Initializer, Layer, Net, Node, Obgd};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

/// A network of 5 hidden units, which reads 3 numbers without normalization.
fn config(algorithm: Algorithm) -> Config {
    if algorithm == Algorithm::StreamQ {
        let (exploration_steps, exploration_end, algorithm) = (0, 0.3, algorithm as u32);
        let own = config(Algorithm::StreamAc);
        let Config { entropy_coef, entropy_share_end, .. } = Config::default();
        return Config { entropy_coef, entropy_share_end, exploration_steps, exploration_end, algorithm, ..own };
    }
    Config {
        entropy_coef: 0.05,
        entropy_share_end: 0.2,
        total_steps: 300,
        discount: 0.9,
        ..Config::of(algorithm).hidden(&[5]).normalized(0, 0)
    }
}

/// A dense layer of fewer than 16 units, from its parameters.
fn dense<'p>(params: &mut &'p [f64], x: &[f64], units: usize) -> Vec<f64> {
    let (w, rest) = params.split_at(x.len() * units);
    let (bias, rest): (&'p [f64], _) = rest.split_at(units);
    *params = rest;
    let sum = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    w.chunks_exact(x.len()).zip(bias).map(|(row, bias)| sum(row) + bias).collect()
}

/// 5 hidden units, normalized to mean 0 and deviation 1, with leaky ReLU; then the outputs.
fn tower(params: &mut &[f64], x: &[f64], outputs: usize) -> Vec<f64> {
    let sums = dense(params, x, 5);
    let mean = sums.iter().sum::<f64>() / 5.0;
    let var = sums.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 5.0;
    let normal = sums.iter().map(|x| (x - mean) / (var + 1e-5).sqrt());
    let hidden: Vec<f64> = normal.map(|x| if x > 0.0 { x } else { 0.01 * x }).collect();
    dense(params, &hidden, outputs)
}

/// The learner's formulas in f64.
struct Twin {
    config: Config,
    choices: Vec<u32>,
    /// Elements of a continuous action.
    numbers: usize,
    params: Vec<f64>,
    trace: Vec<f64>,
    steps: u64,
}

/// Outputs for an observation: logits, means or Q; logarithms of deviations; the value.
type Says = (Vec<f64>, Vec<f64>, f64);

impl Twin {
    fn new(h: &Host) -> Twin {
        let params: Vec<f64> = h.view().params().iter().map(|&x| x.into()).collect();
        let numbers = if h.choices.is_empty() { h.action_len } else { 0 };
        Twin { config: h.config, choices: h.choices.clone(), numbers, trace: vec![0.0; params.len()], params, steps: 0 }
    }

    fn is_q(&self) -> bool {
        self.config.algorithm == Algorithm::StreamQ as u32
    }

    fn says(&self, mut params: &[f64], x: &[f64]) -> Says {
        let outputs = self.choices.iter().sum::<u32>() as usize + self.numbers;
        let out = tower(&mut params, x, outputs);
        let (log_std, mut rest) = params.split_at(self.numbers);
        let value = if self.is_q() { 0.0 } else { tower(&mut rest, x, 1)[0] };
        (out, log_std.to_vec(), value)
    }

    /// The number of parameters of the policy, which come first; 0 with Q.
    fn policy_len(&self) -> usize {
        if self.is_q() { 0 } else { self.params.len() - (3 * 5 + 5 + 5 + 1) }
    }

    /// The outputs of each action element, and flags of the allowed ones.
    fn parts<'a>(&'a self, out: &'a [f64], mask: &'a Option<Vec<u8>>) -> Vec<(Vec<f64>, Vec<bool>)> {
        let mut at = 0;
        let part = |&n: &u32| {
            let own = at..at + n as usize;
            at = own.end;
            let allowed = own.clone().map(|k| mask.as_ref().is_none_or(|mask| mask[k] != 0)).collect();
            (out[own].to_vec(), allowed)
        };
        self.choices.iter().map(part).collect()
    }

    /// The log-probability of an action and the entropy.
    fn log_prob(&self, (out, log_std, _): &Says, mask: &Option<Vec<u8>>, action: &[f64]) -> [f64; 2] {
        let (mut log_prob, mut entropy) = (0.0, 0.0);
        for ((logits, allowed), action) in self.parts(out, mask).iter().zip(action) {
            let ours = || logits.iter().zip(allowed).filter(|(_, allowed)| **allowed).map(|(x, _)| x);
            let log_sum = ours().map(|x| x.exp()).sum::<f64>().ln();
            log_prob += logits[*action as usize] - log_sum;
            entropy -= ours().map(|x| (x - log_sum).exp() * (x - log_sum)).sum::<f64>();
        }
        let two_pi = 2.0 * std::f64::consts::PI;
        for ((mean, log_std), action) in out.iter().zip(log_std).zip(action) {
            let z = (action - mean) / log_std.exp();
            log_prob -= 0.5 * z * z + log_std + 0.5 * two_pi.ln();
            entropy += log_std + 0.5 * (two_pi.ln() + 1.0);
        }
        [log_prob, entropy]
    }

    /// The Q of the best action: the mean over its elements.
    fn best(&self, out: &[f64], mask: &Option<Vec<u8>>) -> f64 {
        let parts = self.parts(out, mask);
        let most = |(q, allowed): &(Vec<f64>, Vec<bool>)| {
            q.iter().zip(allowed).filter(|(_, allowed)| **allowed).map(|(q, _)| *q).fold(f64::MIN, f64::max)
        };
        parts.iter().map(most).sum::<f64>() / parts.len() as f64
    }

    /// The Q of an action: the mean over its elements.
    fn q(&self, out: &[f64], action: &[f64]) -> f64 {
        let parts = self.parts(out, &None);
        parts.iter().zip(action).map(|((q, _), action)| q[*action as usize]).sum::<f64>() / parts.len() as f64
    }

    /// One step, from the paper's algorithms; `after` is the next observation, or the last one of the episode.
    fn learn(
        &mut self,
        x: &[f64],
        mask: &Option<Vec<u8>>,
        action: &[f64],
        reward: f64,
        ends: [bool; 2],
        after: &[f64],
    ) {
        let (now, then) = (self.says(&self.params, x), self.says(&self.params, after));
        let next = if ends[0] {
            0.0
        } else if self.is_q() {
            self.best(&then.0, &None)
        } else {
            then.2
        };
        let value = if self.is_q() { self.q(&now.0, action) } else { now.2 };
        let error = reward + f64::from(self.config.discount) * next - value;
        let is_best = !self.is_q() || value > self.best(&now.0, mask) - 1e-9;
        let gone = (self.steps as f64 / self.config.total_steps as f64).min(1.0);
        let share = 1.0 + (f64::from(self.config.entropy_share_end) - 1.0) * gone;
        let entropy_coef = f64::from(self.config.entropy_coef) * share * error.signum();
        self.steps += 1;
        let goal = |params: &[f64]| {
            let says = self.says(params, x);
            if self.is_q() {
                return self.q(&says.0, action);
            }
            let [log_prob, entropy] = self.log_prob(&says, mask, action);
            says.2 + log_prob + entropy_coef * entropy
        };
        let slopes: Vec<f64> = (0..self.params.len()).map(|i| slope(&self.params, i, 1e-6, goal)).collect();
        let decay = f64::from(self.config.discount) * f64::from(self.config.gae_lambda);
        self.trace.iter_mut().zip(&slopes).for_each(|(z, g)| *z = decay * *z + g);
        let policy_len = self.policy_len();
        for (range, kappa) in
            [(0..policy_len, self.config.kappa_policy), (policy_len..self.params.len(), self.config.kappa_value)]
        {
            let length: f64 = self.trace[range.clone()].iter().map(|z| z.abs()).sum();
            let rate = f64::from(self.config.learning_rate);
            let bound = rate * f64::from(kappa) * error.abs().max(1.0) * length;
            let step = if bound > 1.0 { rate / bound } else { rate };
            for i in range {
                self.params[i] += step * error * self.trace[i];
            }
        }
        if ends[0] || ends[1] || !is_best {
            self.trace.fill(0.0);
        }
    }

    fn distance(&self, h: &Host) -> f64 {
        let apart = |(a, b): (&f64, &f32)| (a - f64::from(*b)).abs();
        self.params.iter().zip(h.view().params()).map(apart).fold(0.0, f64::max)
    }
}

/// An actor-critic of one choice, of two with masks, and of numbers; and Q of the choices.
fn hosts() -> Vec<Host> {
    let obs = Space::unbounded(3);
    let mut hosts = vec![Host::new(&config(Algorithm::StreamAc), &obs, &Space::unbounded(2))];
    for algorithm in [Algorithm::StreamAc, Algorithm::StreamQ] {
        let masked = Config { use_action_mask: 1, ..config(algorithm) };
        hosts.push(Host::new(&config(algorithm), &obs, &Space::discrete(&[4])));
        hosts.push(Host::new(&masked, &obs, &Space::discrete(&[3, 2])));
    }
    hosts
}

/// A step that a host took: mask, action, reward, ends of both kinds, and the next or final observation.
type Taken = (Option<Vec<u8>>, Vec<f64>, f32, [bool; 2], [f32; 3]);

/// One step of a host, with a probability of 1/12 for each kind of end. The next observation is written to `obs`.
fn step(h: &mut Host, rng: &mut Rng, obs: &mut [f32; 3]) -> Taken {
    let (mask, mut action) = (h.draw_mask(rng), h.actions());
    h.learner().act(None, Elements::F32(obs), mask.as_deref(), action.get_mut()).unwrap();
    let reward = 2.0 * rng.uniform_f32() - 1.0;
    let ends = [rng.bounded(11) == 0, rng.bounded(11) == 0];
    let after = [(); 3].map(|()| rng.uniform_f32() * 3.0 - 1.0);
    let flags = ends.map(u8::from);
    h.learner().observe(None, &[reward], &flags[..1], &flags[1..], Some(Elements::F32(&after)), None).unwrap();
    // After an end, the next episode begins at another observation.
    *obs = if ends == [false; 2] { after } else { [(); 3].map(|()| rng.uniform_f32() * 3.0 - 1.0) };
    (mask, action.row(0, h.action_len), reward, ends, after)
}

#[test]
fn runs_are_those_of_the_formulas() {
    for (case, mut h) in hosts().into_iter().enumerate() {
        let (mut twin, mut rng, mut obs) = (Twin::new(&h), Rng::seeded(case as u64), [0.3, -0.2, 0.9]);
        let before = twin.params.clone();
        for t in 0..400 {
            let x = obs.map(f64::from);
            let (mask, action, reward, ends, after) = step(&mut h, &mut rng, &mut obs);
            assert_eq!(h.learner().phase(), Phase::Learn);
            let stats = h.learner().learn(Some(Elements::F32(&obs)), None, 0).unwrap();
            assert_eq!((stats.num_updates, stats.num_dropped, stats.minibatches_left), (t + 1, 0, 0));
            twin.learn(&x, &mask, &action, reward.into(), ends, &after.map(f64::from));
            assert!(twin.distance(&h) < 2e-4, "host {case}, step {t}: {}", twin.distance(&h));
        }
        let moved = before.iter().zip(&twin.params).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved > 0.1, "{moved}");
    }
}

/// `runs_are_those_of_the_formulas` attaches anew for every step. Here other ways to the same step leave the same bytes.
#[test]
fn slices_threads_and_copies_leave_the_bytes_of_learn() {
    for mut whole in hosts() {
        let (mut rng, mut obs) = (Rng::seeded(5), [0.1, 0.2, -0.3]);
        let mut other = whole.clone();
        for t in 0..60 {
            let mut again = rng;
            let mut same = obs;
            step(&mut whole, &mut rng, &mut obs);
            step(&mut other, &mut again, &mut same);
            let obs = Elements::F32(&obs);
            whole.learner().learn(Some(obs), None, 0).unwrap();
            if t % 2 == 0 {
                assert_eq!(other.learner().learn(Some(obs), None, 1).unwrap().minibatches_left, 0);
            } else {
                other.learner().learn_begin(obs, None).unwrap();
                let grads = chunks(&other, 0, 1);
                other.learner().write_grads(0, 1, &grads).unwrap();
                other.learner().learn_apply().unwrap();
            }
            assert!(whole.block == other.block, "step {t}");
        }
    }
}

#[test]
fn steps_are_as_long_as_the_bound_says() {
    let mut rng = Rng::seeded(3);
    let mut draw = |scale: f32| -> Vec<f32> { (0..37).map(|_| (rng.uniform_f32() - 0.5) * scale).collect() };
    let mut bounded = 0;
    for (scale, error, rate, kappa) in [
        (1.0, 0.5, 1.0, 2.0),
        (10.0, -30.0, 1.0, 3.0),
        (0.01, 0.3, 0.5, 2.0),
        (0.01, -2.0, 0.1, 1.0),
        (9.0, 9.0, 0.5, 0.0),
    ] {
        let (mut params, mut trace, grads) = (draw(1.0), draw(scale), draw(scale));
        let obgd = Obgd { decay: 0.7, kappa, ..Obgd::default() };
        let (old, z) = (params.clone(), trace.iter().zip(&grads).map(|(z, g)| 0.7 * f64::from(*z) + f64::from(*g)));
        let z: Vec<f64> = z.collect();
        let norm = obgd.step(&mut params, &mut trace, &grads, error, rate).unwrap();
        let length: f64 = z.iter().map(|z| z.abs()).sum();
        let error = f64::from(error);
        let bound = f64::from(rate) * f64::from(kappa) * error.abs().max(1.0) * length;
        bounded += u32::from(bound > 1.0);
        let step = f64::from(rate) / bound.max(1.0);
        for i in 0..37 {
            let want = f64::from(old[i]) + step * error * z[i];
            assert!((f64::from(params[i]) - want).abs() < 1e-5 * (1.0 + want.abs()), "{} {want}", params[i]);
            assert!((f64::from(trace[i]) - z[i]).abs() < 1e-5, "{} {}", trace[i], z[i]);
        }
        let squares: f64 = grads.iter().map(|g| f64::from(*g) * f64::from(*g)).sum();
        assert!((f64::from(norm) - squares.sqrt()).abs() < 1e-5);
        // The bound promises that a step does not overshoot the error of a linear function.
        if kappa > 0.0 {
            let moved: f64 =
                z.iter().zip(&params).zip(&old).map(|((z, a), b)| (z.signum() * f64::from(a - b)).abs()).sum();
            assert!(moved <= error.abs().max(1.0) / (f64::from(kappa) * error.abs().max(1.0)) + 1e-4, "{moved}");
        }
    }
    assert_eq!(bounded, 2);
}

#[test]
fn steps_that_cannot_be_taken_write_nothing() {
    let obgd = Obgd { decay: 0.5, kappa: 0.0, limit: 10.0 };
    let (params, trace) = ([1.0f32, -2.0], [0.5f32, 4.0]);
    let refused = |grads: &[f32], error: f32, rate: f32, word: &str| {
        let (mut to, mut z) = (params, trace);
        let failed = obgd.step(&mut to, &mut z, grads, error, rate).unwrap_err();
        assert!(failed.what.contains(word), "{failed}");
        assert!((to, z) == (params, trace));
    };
    refused(&[1.0; 2], f32::NAN, 1.0, "finite error");
    refused(&[1.0; 2], f32::INFINITY, 1.0, "finite error");
    refused(&[1.0; 2], 1.0, f32::NAN, "finite error");
    refused(&[1.0, f32::INFINITY], 1.0, 1.0, "finite");
    refused(&[1.0; 3], 1.0, 1.0, "gradients of length");
    refused(&[1.0; 2], 9.0, 1.0, "within their limit");
    refused(&[3e38, f32::MAX], 1e38, 1.0, "within their limit");
    assert!(obgd.step(&mut { params }, &mut [f32::MAX; 2], &[f32::MAX; 2], 1e-30, 1.0).is_err());
    obgd.step(&mut { params }, &mut { trace }, &[1.0; 2], 1.0, 1.0).unwrap();
}

/// The parameters of `h` after one step of a Q learner without exploration and history.
fn afresh(h: &Host, obs: [f32; 3], after: [f32; 3]) -> Vec<f32> {
    let mut fresh = Host::new(&h.config, &Space::unbounded(3), &Space::discrete(&[4]));
    let params = h.view().params().to_vec();
    fresh.learner().write_params(&params).unwrap();
    one(&mut fresh, obs, after)
}

fn one(h: &mut Host, obs: [f32; 3], after: [f32; 3]) -> Vec<f32> {
    h.learner().act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut [0])).unwrap();
    h.learner().observe(None, &[1.0], &[0], &[0], None, None).unwrap();
    h.learner().learn(Some(Elements::F32(&after)), None, 0).unwrap();
    h.view().params().to_vec()
}

#[test]
fn traces_do_not_outlive_what_was_given_up() {
    let greedy = Config { exploration_end: 0.0, ..config(Algorithm::StreamQ) };
    let mut h = Host::new(&greedy, &Space::unbounded(3), &Space::discrete(&[4]));
    let (a, b, c, far) = ([0.5, -0.5, 1.0], [0.2, 0.9, -0.4], [-0.7, 0.1, 0.6], [3e38; 3]);
    one(&mut h, a, b);
    // Without a cut or drop there is a trace.
    let mut goes_on = h.clone();
    assert!(afresh(&h, b, c) != one(&mut goes_on, b, c));
    // A cut agent.
    let mut gone = h.clone();
    gone.learner().cut_rows(&[1]).unwrap();
    assert!(afresh(&gone, b, c) == one(&mut gone, b, c));
    // A dropped update.
    let mut dropped = h.clone();
    dropped.learner().act(None, Elements::F32(&b), None, ElementsMut::I32(&mut [0])).unwrap();
    dropped.learner().observe(None, &[1.0], &[0], &[0], None, None).unwrap();
    dropped.learner().learn_drop().unwrap();
    assert!(h.view().params() == dropped.view().params());
    assert!(afresh(&dropped, b, c) == one(&mut dropped, b, c));
    // An update that overflows.
    let mut params = h.view().params().to_vec();
    params.iter_mut().for_each(|x| *x *= 1e3);
    h.learner().write_params(&params).unwrap();
    h.learner().act(None, Elements::F32(&b), None, ElementsMut::I32(&mut [0])).unwrap();
    h.learner().observe(None, &[1.0], &[0], &[0], None, None).unwrap();
    let error = h.learner().learn(Some(Elements::F32(&far)), None, 0).unwrap_err();
    assert!(error.kind == Kind::Value && error.what.contains("act is due"), "{error}");
    assert!(h.view().params() == params && h.learner().stats().num_dropped == 1);
    assert!(afresh(&h, b, c) == one(&mut h, b, c));
}

/// Environment steps until the last 20 episodes of CartPole had a mean return above 200, then the mean return of 10 episodes
/// without exploration, and the bytes of the learner.
fn cart_pole(config: &Config) -> (u64, f32, usize) {
    let spec = CartPole.spec();
    let of_envs =
        VecEnvConfig { num_envs: 1, seed: config.seed, autoreset: Autoreset::SameStep, ..VecEnvConfig::default() };
    let mut memory = vec![0u64; VecEnv::size(&CartPole, &of_envs).unwrap() / 8];
    let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut memory), &CartPole, &of_envs).unwrap();
    let mut block = made(config, &[], &spec.obs, &spec.action);
    let size = block.len() * 8;
    let mut learner = attach(&mut block);
    let (mut obs, mut last, mut choice, mut returns) = ([0.0; 4], [0.0; 4], [0], vec![]);
    envs.reset(None, ElementsMut::F32(&mut obs)).unwrap();
    let (mut learnt_at, mut sum) = (0, 0.0);
    loop {
        let learns = learnt_at == 0;
        if learns {
            learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut choice)).unwrap();
        } else {
            let to = ElementsMut::I32(&mut choice);
            learner.predict(Elements::F32(&obs), None, Recurrent::default(), Sampling::Greedy, to).unwrap();
        }
        let (mut reward, mut terminated, mut truncated) = ([0.0], [0], [0]);
        let out = outcome(&mut obs, &mut last, &mut reward, &mut terminated, &mut truncated);
        envs.step(Elements::I32(&choice), out).unwrap();
        sum += reward[0];
        if learns {
            learner.observe(None, &reward, &terminated, &truncated, Some(Elements::F32(&last)), None).unwrap();
            learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap();
        }
        if terminated[0] + truncated[0] > 0 {
            returns.push(core::mem::take(&mut sum));
            let mean = |count: usize| returns.iter().rev().take(count).sum::<f32>() / count as f32;
            let steps = learner.stats().num_steps;
            if learns && (steps > 40_000 || (returns.len() >= 20 && mean(20) > 200.0)) {
                learnt_at = steps;
                returns.clear();
            } else if !learns && returns.len() == 10 {
                return (learnt_at, mean(10), size);
            }
        }
    }
}

/// A uniformly random policy has a mean return of 22.
#[test]
fn cart_pole_is_learnt_step_by_step() {
    for algorithm in [Algorithm::StreamAc, Algorithm::StreamQ] {
        for seed in 1..=3 {
            let mut config = Config { seed, num_hidden: 1, hidden_len: [16, 0, 0, 0], ..Config::of(algorithm) };
            if algorithm == Algorithm::StreamQ {
                (config.exploration_steps, config.exploration_end) = (3000, 0.02);
            }
            let (learnt_at, greedy, size) = cart_pole(&config);
            println!("{algorithm:?}: {learnt_at} steps, {greedy} without exploration, {size} bytes");
            assert!(learnt_at < 20_000 && greedy > 200.0, "{algorithm:?}: {learnt_at} steps, {greedy}");
        }
    }
}

#[test]
fn a_policy_that_ships_does_as_the_learner() {
    for mut h in hosts().into_iter().skip(1).filter(|h| h.mask_len == 0) {
        let (mut rng, mut obs) = (Rng::seeded(8), [0.1, 0.2, -0.3]);
        for _ in 0..50 {
            step(&mut h, &mut rng, &mut obs);
            h.learner().learn(Some(Elements::F32(&obs)), None, 0).unwrap();
        }
        let block = export(&h.view());
        let policy = policy(&block);
        let mut scratch = vec![0.0; policy.scratch_len(1).unwrap()];
        let mut seen = [0; 4];
        for _ in 0..100 {
            let (obs, mut best, mut ships) = (h.draw_obs(&mut rng), h.actions(), h.actions());
            h.learner().predict(obs.get(), None, Recurrent::default(), Sampling::Greedy, best.get_mut()).unwrap();
            policy.act_greedy(1, obs.get(), None, Recurrent::default(), &mut scratch, ships.get_mut()).unwrap();
            assert!(best == ships);
            seen[best.row(0, 1)[0] as usize] += 1;
        }
        assert!(seen.iter().filter(|&&count| count > 0).count() > 1, "{seen:?}");
    }
}

#[test]
fn what_means_nothing_for_a_stream_is_refused_by_name() {
    let refused = |config: &Config, layers: &[Layer], action: &Space<'_>, word: &str| {
        let error = Learner::size(config, layers, &Space::unbounded(3), action).unwrap_err();
        assert!(error.kind == Kind::Config && error.what.contains(word), "{word}: {error}");
    };
    let (choose, one) = (Space::discrete(&[4]), [Layer::dense(3, Activation::Tanh)]);
    for algorithm in [Algorithm::StreamAc, Algorithm::StreamQ] {
        let good = config(algorithm);
        refused(&Config { num_envs: 2, ..good }, &[], &choose, "num_envs with a stream algorithm");
        refused(&Config { num_steps: 2, ..good }, &[], &choose, "num_steps with a stream algorithm");
        refused(&Config { num_epochs: 2, ..good }, &[], &choose, "num_epochs with a stream algorithm");
        refused(&Config { overlap: 1, ..good }, &[], &choose, "overlap is set");
        refused(&Config { normalize_advantage: 1, ..good }, &[], &choose, "normalize_advantage is set");
        refused(
            &Config { sequence_len: 1, ..good },
            &[],
            &choose,
            "recurrent layers and sequence_len are not supported",
        );
        refused(&Config { num_chunks: 2, ..good }, &[], &choose, "num_chunks");
        refused(&Config { num_minibatches: 2, ..good }, &[], &choose, "num_minibatches");
        refused(&Config { noisy: 1, num_layers: 0, ..good }, &[], &choose, "noisy");
        for bad in [-0.1, f32::NAN, f32::INFINITY] {
            refused(&Config { kappa_policy: bad, ..good }, &[], &choose, "kappa_policy");
            refused(&Config { kappa_value: bad, ..good }, &[], &choose, "kappa_value");
        }
    }
    let q = config(Algorithm::StreamQ);
    refused(&q, &[], &Space::unbounded(2), "discrete actions");
    let ac = config(Algorithm::StreamAc);
    refused(&Config { num_shared: 1, ..ac }, &[], &choose, "num_shared and num_layers of 0");
    refused(&Config { num_layers: 1, ..ac }, &one, &choose, "num_shared and num_layers of 0");
    // Q has one network, which may contain the host's layers.
    Learner::size(&Config { num_layers: 1, ..q }, &one, &Space::unbounded(3), &choose).unwrap();
    let mut h = Host::new(&ac, &Space::unbounded(3), &choose);
    let columns = crate::host::Columns::new(&h);
    let error = h.learner().learn_batch(&columns.batch()).unwrap_err();
    assert!(error.kind == Kind::Config && error.what.contains("other than a stream one"), "{error}");
}

#[test]
fn a_tenth_of_the_weights_of_each_output_stay() {
    for (inputs, units, stay) in [(4, 3, 1), (20, 7, 2), (39, 33, 3), (1, 2, 1)] {
        let layer = Layer { initializer: Initializer::Sparse as u32, ..Layer::dense(units, Activation::Identity) };
        let head = Layer { flags: rlcore::nn::HEAD, ..layer };
        let mut nodes = [Node::default(); 1];
        let net = Net::compile(&[head], [1, 1, inputs], &mut nodes).unwrap();
        let (mut params, mut scratch) = (vec![1.0; net.param_len()], vec![0.0; net.scratch_len(false, 0)]);
        net.init(&mut params, &mut Rng::seeded(4), &mut scratch).unwrap();
        // A one-hot row returns the weights of its input.
        let units = units as usize;
        let mut count = vec![0; units];
        for i in 0..inputs {
            let (mut x, mut y) = (vec![0.0; inputs], vec![0.0; units]);
            x[i] = 1.0;
            let (mut tape, mut work) = (vec![0.0; net.tape_len(1)], vec![0.0; net.work_len()]);
            net.forward(&params, &x, 1, 1, &Carry::NONE, &mut tape, &mut work, &mut [&mut y]).unwrap();
            assert!(y.iter().all(|w| w.abs() <= 1.0 / (inputs as f32).sqrt()));
            count.iter_mut().zip(&y).for_each(|(count, w)| *count += usize::from(*w != 0.0));
        }
        assert_eq!(count, vec![stay; units], "{inputs} inputs");
    }
}

/// A block with any one word forged is refused, or safe for every call.
#[test]
fn forged_images_are_refused_or_harmless() {
    for (k, algorithm) in [Algorithm::StreamAc, Algorithm::StreamQ].into_iter().enumerate() {
        let config =
            Config { hidden_len: [2, 0, 0, 0], use_action_mask: k as u32, normalize_obs: 1, ..config(algorithm) };
        let mut h = Host::new(&config, &Space::unbounded(3), &Space::discrete(&[3, 2]));
        let (mut rng, mut obs) = (Rng::seeded(1), [0.5, 0.0, -1.0]);
        let mut blocks = vec![];
        for t in 0..6 {
            step(&mut h, &mut rng, &mut obs);
            if t == 5 {
                blocks.push(h.block.clone());
                h.learner().learn_begin(Elements::F32(&obs), None).unwrap();
                blocks.push(h.block.clone());
            }
            h.learner().learn(Some(Elements::F32(&obs)), None, 0).unwrap();
        }
        blocks.push(h.block.clone());
        let mask = Some(vec![1u8; 5]).filter(|_| k > 0);
        let call = |learner: &mut Learner<'_>| -> Result {
            let (x, mut choice) = (Elements::F32(&[0.5, -1.0, 0.2]), [0; 2]);
            let to = ElementsMut::I32(&mut choice);
            learner.predict(x, mask.as_deref(), Recurrent::default(), Sampling::Basic, to)?;
            match learner.phase() {
                Phase::Act => learner.act(None, x, mask.as_deref(), ElementsMut::I32(&mut choice)),
                Phase::Observe => learner.observe(None, &[1.0], &[0], &[1], Some(x), None),
                Phase::Learn => learner.learn(Some(x), None, 1).map(drop),
            }
        };
        forge(&blocks, &[1, 9, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 100, |block| {
            let Ok(mut learner) = Learner::attach(bytemuck::cast_slice_mut(block)) else { return false };
            for _ in 0..5 {
                let _ = call(&mut learner); // may fail, must not panic
            }
            true
        });
    }
}
