//! Distributions of returns: quantiles and atoms of DQN, quantiles of SAC's critics. They are tested against vectors, formulas
//! and differences in f64, in host runs, refusals, forged blocks, and training to success.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, attach, export, forge, made, open, policy, slope, wide};
use rlcore::error::{Kind, Result};
use rlcore::learn::algorithm::{q, tqc};
use rlcore::learn::value_head::{Atoms, ValueHead, quantiles};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Policy, Recurrent, Sampling};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

fn near(a: &[f32], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (f64::from(*a) - b).abs() < 2e-5 * b.abs().max(1.0))
}

/// Entries `qr_huber_sumq_meant`, `c51_projection` and `tqc_kept` of the project's vectors, made with torch in f64.
#[test]
fn losses_projections_and_pools_are_those_of_the_vectors() {
    let mut slope = [0.0; 3];
    let said = quantiles(&[-0.5, 0.2, 1.4], &[0.0, 0.5, 3.0], true, &mut slope);
    assert!(near(&[said.cost], &[0.973_611_111]), "{said:?}");
    assert!(near(&slope, &[-0.138_888_889, -0.183_333_333, -0.172_222_222]), "{slope:?}");

    let atoms = Atoms { num: 5, low: -1.0, high: 1.0 };
    let logits = [0.1f32, 0.2, 0.4, 0.2, 0.1].map(f32::ln);
    let mut to = [0.0; 5];
    atoms.project(&logits, 0.3, 0.9, &mut to);
    assert!(near(&to, &[0.02, 0.14, 0.3, 0.34, 0.2]), "{to:?}");
    atoms.project(&logits, 0.3, 0.0, &mut to);
    assert!(near(&to, &[0.0, 0.0, 0.4, 0.6, 0.0]), "{to:?}");

    let mut pool = [1.0, 5.0, 2.0, 3.0, 0.0, 4.0];
    tqc::sort(&mut pool);
    assert_eq!(pool[..4], [0.0, 1.0, 2.0, 3.0]);
    let mut rng = Rng::seeded(4);
    for len in 0..70 {
        let mut x: Vec<f32> = (0..len).map(|_| rng.bounded(9) as f32 - 4.0).collect();
        let mut want = x.clone();
        want.sort_by(f32::total_cmp);
        tqc::sort(&mut x);
        assert_eq!(x, want);
    }
}

/// Loss, Q and priority error of a row in f64, from the definition.
fn twin(of: ValueHead, own: &[f64], target: &[f64], huber: bool) -> [f64; 3] {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    match of {
        ValueHead::Mean => unreachable!(),
        ValueHead::Quantiles(_) => {
            let mut cost = 0.0;
            for (i, theta) in own.iter().enumerate() {
                let tau = (2 * i + 1) as f64 / (2 * own.len()) as f64;
                for target in target {
                    let u = target - theta;
                    let l = if !huber {
                        u.abs()
                    } else if u.abs() <= 1.0 {
                        u * u / 2.0
                    } else {
                        u.abs() - 0.5
                    };
                    cost += (tau - if u < 0.0 { 1.0 } else { 0.0 }).abs() * l / target_len(target, own.len());
                }
            }
            [cost, mean(own), (mean(own) - mean(target)).abs()]
        }
        ValueHead::Atoms(atoms) => {
            let p = softmax(own);
            let z = support(atoms);
            let cross: f64 = target.iter().zip(&p).map(|(m, p)| -m * p.ln()).sum();
            let own_entropy: f64 = target.iter().filter(|m| **m > 0.0).map(|m| -m * m.ln()).sum();
            [cross, p.iter().zip(&z).map(|(p, z)| p * z).sum(), cross - own_entropy]
        }
    }
}

/// The number of targets, here equal to the number of quantiles.
fn target_len(_: &f64, len: usize) -> f64 {
    len as f64
}

fn softmax(x: &[f64]) -> Vec<f64> {
    let sum: f64 = x.iter().map(|x| x.exp()).sum();
    x.iter().map(|x| x.exp() / sum).collect()
}

fn support(atoms: Atoms) -> Vec<f64> {
    let step = f64::from(atoms.high - atoms.low) / f64::from(atoms.num - 1);
    (0..atoms.num).map(|i| f64::from(atoms.low) + step * f64::from(i)).collect()
}

/// The target distribution from the definition; `next` holds the numbers of the next choice.
fn twin_target(of: ValueHead, next: &[f64], reward: f64, discount: f64) -> Vec<f64> {
    let ValueHead::Atoms(atoms) = of else { return next.iter().map(|x| reward + discount * x).collect() };
    let (z, p) = (support(atoms), softmax(next));
    let step = z[1] - z[0];
    // Each atom takes the probability moved to within a step of it, the nearer the more.
    let moved = |j: usize| (reward + discount * z[j]).clamp(z[0], z[z.len() - 1]);
    z.iter().map(|z| (0..p.len()).map(|j| p[j] * (1.0 - (moved(j) - z).abs() / step).max(0.0)).sum()).collect()
}

fn heads(width: u32) -> [ValueHead; 2] {
    [ValueHead::Quantiles(width), ValueHead::Atoms(Atoms { num: width, low: -2.0, high: 3.0 })]
}

/// Losses, targets and gradients by advantages and values, of actions with two elements, against the twin and its differences.
#[test]
fn gradients_are_the_slopes_of_the_losses() {
    let (n, m, mut rng) = ([3, 2], 4, Rng::seeded(11));
    let (choice, next, weight) = ([0, 1, 2, 0, 1, 1, 0, 0], [1, 0, 2, 1, 0, 0, 1, 1], [1.0, 0.5, 0.125, 2.0]);
    for (width, huber) in [(2, true), (5, false), (19, true), (33, false)] {
        for of in heads(width as u32) {
            let mut draw = |len: usize| -> Vec<f32> { (0..len).map(|_| 2.0 * rng.normal_f32()).collect() };
            let (advantage, value) = (draw(5 * m * width), draw(m * width));
            let (follows, reward, discount) = (draw(5 * m * width), draw(m), [0.9, 0.0, 0.5, 1.0]);
            let mut target = vec![0.0; 2 * m * width];
            q::targets(of, &n, &follows, &next, &reward, &discount, &mut target);
            let at = |i: usize, choice: i32| (5 * (i / 2) + 3 * (i % 2) + choice as usize) * width;
            for i in 0..2 * m {
                let own = &wide(&follows)[at(i, next[i])..][..width];
                let want = twin_target(of, own, reward[i / 2].into(), f64::from(discount[i / 2]));
                let said = &target[i * width..][..width];
                assert!(near(said, &want), "{of:?}: {said:?} {want:?}");
                let sum: f32 = said.iter().sum();
                assert!(matches!(of, ValueHead::Quantiles(_)) || (sum - 1.0).abs() < 1e-5);
            }

            let (mut d_q, mut d_value, mut numbers) =
                (vec![0.0; 5 * m * width], vec![0.0; m * width], advantage.clone());
            q::combine(&n, width, &mut numbers, &value);
            let mut errors = [0.0; 4];
            let weigh = |row: usize, error: f32| {
                errors[row] += error.abs();
                weight[row]
            };
            let (loss, mean) = q::loss(of, &n, &numbers, &choice, &target, 8, huber, &mut d_q, weigh);
            q::split(&n, width, &mut d_q, &mut d_value);
            let wanted = wide(&target);
            let all = |advantage: &[f64], value: &[f64]| -> ([f64; 2], [f64; 4]) {
                let (mut sums, mut errors) = ([0.0; 2], [0.0; 4]);
                for i in 0..2 * m {
                    let (row, first, count) = (i / 2, at(i, 0), [3, 2][i % 2]);
                    let own: Vec<f64> = (0..width)
                        .map(|k| {
                            let centre = (0..count).map(|j| advantage[first + j * width + k]).sum::<f64>();
                            advantage[at(i, choice[i]) + k] + value[row * width + k] - centre / count as f64
                        })
                        .collect();
                    let [cost, q, error] = twin(of, &own, &wanted[i * width..][..width], huber);
                    sums = [sums[0] + f64::from(weight[row]) * cost / 16.0, sums[1] + q / 16.0];
                    errors[row] += error;
                }
                (sums, errors)
            };
            let (a, v) = (wide(&advantage), wide(&value));
            let (sums, wanted_errors) = all(&a, &v);
            assert!(near(&[loss, mean], &sums), "{of:?} {loss} {mean} {sums:?}");
            assert!(near(&errors, &wanted_errors), "{of:?} {errors:?} {wanted_errors:?}");
            let by_advantage: Vec<f64> = (0..a.len()).map(|i| slope(&a, i, 1e-6, |a| all(a, &v).0[0])).collect();
            let by_value: Vec<f64> = (0..v.len()).map(|i| slope(&v, i, 1e-6, |v| all(&a, v).0[0])).collect();
            assert!(near(&d_q, &by_advantage) && near(&d_value, &by_value), "{of:?} {d_q:?} {by_advantage:?}");
        }
    }
}

fn small(algorithm: Algorithm) -> Config {
    Config {
        train_interval: 2,
        target_interval: 10,
        target_rate: 1.0,
        exploration_steps: 200,
        ..Config::of(algorithm).hidden(&[16]).rate(5e-3).store(300, 14, 30)
    }
}

/// A learner in its block.
#[derive(Clone)]
struct Agent {
    block: Vec<u64>,
    rng: Rng,
    discrete: bool,
}

impl Agent {
    fn new(config: &Config) -> Agent {
        let discrete = config.algorithm == Algorithm::Dqn as u32;
        let (obs, action) = (Space::unbounded(1), Self::space(discrete));
        let block = made(config, &[], &obs, &action);
        Agent { block, rng: Rng::seeded(5), discrete }
    }

    fn space(discrete: bool) -> Space<'static> {
        if discrete { Space::discrete(&[2]) } else { Space::between(&[-1.0], &[1.0]) }
    }

    fn learner(&mut self) -> Learner<'_> {
        open(&mut self.block)
    }

    /// A step of a bandit: the sign of the observation selects the choice that pays 1, where the other pays 0, or the number
    /// that pays 1, where others pay less by their distance.
    fn step(&mut self) -> Result {
        let (x, discrete, ended) = (2.0 * self.rng.uniform_f32() - 1.0, self.discrete, u8::from(self.rng.coin()));
        let mut learner = self.learner();
        let (mut choice, mut vector) = ([0], [0.0]);
        let to = if discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
        learner.act(None, Elements::F32(&[x]), None, to)?;
        let (good, want) = (choice[0] == i32::from(x > 0.0), if x > 0.0 { 0.5 } else { -0.5 });
        let reward = if discrete { f32::from(good) } else { 1.0 - f32::abs(vector[0] - want) };
        learner.observe(None, &[reward], &[ended], &[0], None, None)
    }

    fn run(&mut self, num_steps: u64, max_slices: u32) {
        loop {
            let mut learner = self.learner();
            if learner.phase() == Phase::Learn {
                learner.learn(None, None, max_slices).unwrap();
            } else if learner.stats().num_steps >= num_steps {
                return;
            } else {
                self.step().unwrap();
            }
        }
    }

    fn export(&mut self) -> Vec<u64> {
        export(&self.learner().view())
    }
}

/// Quantiles, atoms and truncated quantile critics, with options of all kinds.
fn all() -> Vec<Config> {
    let (dqn, sac) = (small(Algorithm::Dqn), small(Algorithm::Sac));
    let critics = Config { num_quantiles: 5, dropped_quantiles: 2, huber: 1, ..sac };
    let atoms = Config { num_atoms: 21, value_min: -1.0, value_max: 2.0, ..dqn };
    vec![
        Config { num_quantiles: 8, ..dqn },
        Config { num_quantiles: 8, huber: 0, dueling: 1, double_q: 0, n_step: 3, priority_exponent: 0.6, ..dqn },
        atoms,
        Config { dueling: 1, double_q: 0, n_step: 3, priority_exponent: 0.6, ..atoms },
        critics,
        Config { num_critics: 3, huber: 0, n_step: 2, priority_exponent: 0.6, policy_interval: 2, ..critics },
    ]
}

/// An untrained agent may be right in two cases of three by chance; a trained one in all but those near the border.
#[test]
fn the_right_action_is_learnt_and_ships() {
    for config in all() {
        let temperature = if config.algorithm() == Algorithm::Sac { 0.05 } else { config.temperature };
        let mut agent = Agent::new(&Config { discount: 0.0, train_interval: 1, temperature, ..config });
        let right = |agent: &mut Agent| -> usize {
            let brain = agent.export();
            let policy = policy(&brain);
            let mut scratch = vec![0.0; policy.scratch_len(1).unwrap()];
            let mut count = 0;
            for i in (0..100).filter(|i| !(45..55).contains(i)) {
                let x = [(i as f32 - 49.5) / 50.0];
                let (mut choice, mut vector, mut same) = ([0], [0.0], ([0], [0.0]));
                let discrete = agent.discrete;
                let to = if discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
                policy.act_greedy(1, Elements::F32(&x), None, Recurrent::default(), &mut scratch, to).unwrap();
                let to = if discrete { ElementsMut::I32(&mut same.0) } else { ElementsMut::F32(&mut same.1) };
                agent.learner().predict(Elements::F32(&x), None, Recurrent::default(), Sampling::Greedy, to).unwrap();
                assert_eq!((choice, vector), same, "what ships does what the learner does: {i} {config:?}");
                count +=
                    usize::from(if discrete { (choice[0] == 1) == (i > 49) } else { (vector[0] > 0.0) == (i > 49) });
            }
            count
        };
        let before = right(&mut agent);
        agent.run(1500, 0);
        let after = right(&mut agent);
        assert!(before < 85 && after >= 88, "{before} {after} of 90: {config:?}");
        let stats = agent.learner().stats();
        assert!(stats.num_dropped == 0 && stats.value_mean > 0.3 && stats.value_mean < 1.2, "{stats:?}");
        let mut value = [0.0];
        agent.learner().value(Elements::F32(&[0.7]), None, &mut value).unwrap();
        assert!((value[0] - 1.0).abs() < 0.25, "{value:?} {config:?}");
    }
}

#[test]
fn slices_copies_and_chunks_change_no_bit() {
    for config in all() {
        let mut plain: Vec<f32> = vec![];
        for num_chunks in [1, 2, 3, 7] {
            let mut whole = Agent::new(&Config { num_chunks, gradient_steps: 2, ..config });
            let mut sliced = whole.clone();
            whole.run(100, 0);
            sliced.run(100, 1);
            assert!(whole.block == sliced.block, "{num_chunks} chunks");
            assert!(whole.learner().stats().num_dropped == 0);
            if plain.is_empty() {
                plain = whole.learner().params().to_vec();
            }
            let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-2;
            assert!(whole.learner().params().iter().zip(&plain).all(close), "{num_chunks} chunks {config:?}");
            // Saved in the middle of a gradient step, queried and attached again.
            while sliced.learner().phase() != Phase::Learn {
                sliced.step().unwrap();
            }
            sliced.learner().learn(None, None, 1).unwrap();
            let mut other = sliced.clone();
            other.learner().value(Elements::F32(&[0.5]), None, &mut [0.0]).unwrap();
            let mut copy = other.block.clone();
            attach(&mut copy);
            other.block = copy;
            sliced.run(160, 0);
            other.run(160, 2);
            assert!(sliced.block == other.block);
        }
    }
}

/// Steps of a linear distributional DQN against the twin: draws come from the documented random stream.
#[test]
fn gradient_steps_are_those_of_the_formulas() {
    for (own, double_q) in heads(4).into_iter().flat_map(|own| [(own, 0), (own, 1)]) {
        let config = Config {
            num_chunks: 2,
            train_interval: 1,
            target_interval: 3,
            target_rate: 0.5,
            discount: 0.8,
            double_q,
            huber: 1,
            exploration_end: 0.5,
            num_quantiles: if matches!(own, ValueHead::Quantiles(_)) { 4 } else { 0 },
            num_atoms: if matches!(own, ValueHead::Atoms(_)) { 4 } else { 0 },
            value_min: if matches!(own, ValueHead::Atoms(_)) { -2.0 } else { -10.0 },
            value_max: if matches!(own, ValueHead::Atoms(_)) { 3.0 } else { 10.0 },
            seed: 9,
            ..small(Algorithm::Dqn).hidden(&[]).rate(0.05).plain_adam().store(12, 5, 12)
        };
        let mut agent = Agent::new(&config);
        let mut rng = Rng::seeded(1);
        // Weights of two choices of four numbers each, then their biases.
        let params: Vec<f32> = (0..16).map(|_| rng.normal_f32()).collect();
        agent.learner().write_params(&params).unwrap();
        let (mut params, mut target) = (wide(&params), wide(&params));
        let mut draws = Rng::stream(9, 2 << 32);
        let mut stored: Vec<(f64, usize, f64)> = vec![];
        let say = |params: &[f64], x: f64, choice: usize| -> Vec<f64> {
            (4 * choice..4 * choice + 4).map(|i| params[i] * x + params[8 + i]).collect()
        };
        let q = |numbers: &[f64]| twin(own, numbers, &[0.25; 4], true)[1];
        let mut steps = 0;
        for _ in 0..40 {
            let (x, mut choice, reward) = (2.0 * rng.uniform_f32() - 1.0, [0], rng.uniform_f32());
            let mut l = agent.learner();
            l.act(None, Elements::F32(&[x]), None, ElementsMut::I32(&mut choice)).unwrap();
            l.observe(None, &[reward], &[0], &[0], None, None).unwrap();
            stored.push((x.into(), choice[0] as usize, reward.into()));
            // The last transition has no next observation yet.
            let count = stored.len() - 1;
            while l.phase() == Phase::Learn {
                let held = count.min(12);
                let (mut grads, mut loss) = (vec![0.0; 16], 0.0);
                for _ in 0..5 {
                    let slot = draws.bounded(held as u64 - 1) as usize;
                    let t = (count - 1 - slot) / 12 * 12 + slot;
                    let ((x, choice, reward), next) = (stored[t], stored[t + 1].0);
                    let chooses = if double_q == 1 { &params } else { &target };
                    let best = usize::from(q(&say(chooses, next, 1)) > q(&say(chooses, next, 0)));
                    let wanted = twin_target(own, &say(&target, next, best), reward, f64::from(config.discount));
                    let said = say(&params, x, choice);
                    loss += twin(own, &said, &wanted, true)[0] / 5.0;
                    for i in 0..4 {
                        let by = slope(&said, i, 1e-6, |said| twin(own, said, &wanted, true)[0] / 5.0);
                        grads[4 * choice + i] += by * x;
                        grads[8 + 4 * choice + i] += by;
                    }
                }
                // Adam with betas of 0 and an epsilon of 1.
                for (x, g) in params.iter_mut().zip(&grads) {
                    *x -= 0.05 * g / (g.abs() + 1.0);
                }
                steps += 1;
                if steps % 3 == 0 {
                    target.iter_mut().zip(&params).for_each(|(to, x)| *to += 0.5 * (x - *to));
                }
                let stats = l.learn(None, None, 2).unwrap();
                let stats = if l.phase() == Phase::Learn { l.learn(None, None, 0).unwrap() } else { stats };
                assert!(near(&[stats.value_loss], &[loss]), "{own:?} {stats:?} {loss}");
                assert!(near(l.params(), &params), "{own:?}: {:?} {params:?}", l.params());
            }
        }
        assert!(steps > 20, "{steps}");
    }
}

/// The loss of one of SAC's critics, from the definition, and the pool without the highest quantiles.
#[test]
fn truncated_targets_and_their_gradients_are_those_of_the_formula() {
    let (mut rng, z, critics, dropped) = (Rng::seeded(3), 5usize, 3usize, 2usize);
    let kept = critics * (z - dropped);
    let mut draw = |len: usize| -> Vec<f32> { (0..len).map(|_| 2.0 * rng.normal_f32()).collect() };
    let (own, mut target, weight) = (draw(2 * z), draw(2 * z * critics), [1.0f32, 0.25]);
    target.chunks_mut(z * critics).for_each(tqc::sort);
    for huber in [true, false] {
        let mut slopes = vec![0.0; 2 * z];
        let mut errors = [0.0; 2];
        let weigh = |row: usize, error: f32| {
            errors[row] = error.abs();
            weight[row]
        };
        let (loss, mean) = tqc::regress(&own, &target, &mut slopes, [z, kept], 4, huber, weigh);
        let of = |own: &[f64]| -> f64 {
            let mut sum = 0.0;
            for row in 0..2 {
                for i in 0..z {
                    let tau = (i as f64 + 0.5) / z as f64;
                    for target in &target[row * z * critics..][..kept] {
                        let u = f64::from(*target) - own[row * z + i];
                        let size =
                            if !huber { u.abs() } else { (u.abs() - 0.5).max(u * u / 2.0 * f64::from(u.abs() < 1.0)) };
                        let side = (tau - f64::from(u < 0.0)).abs();
                        sum += f64::from(weight[row]) * side * size / (z * kept * 4) as f64;
                    }
                }
            }
            sum
        };
        let all = wide(&own);
        assert!(near(&[loss, mean], &[of(&all), all.iter().sum::<f64>() / (4 * z) as f64]), "{loss} {mean}");
        let by: Vec<f64> = (0..2 * z).map(|i| slope(&all, i, 1e-6, of)).collect();
        assert!(near(&slopes, &by), "{slopes:?} {by:?}");
        for row in 0..2 {
            let mean = |x: &[f32]| wide(x).iter().sum::<f64>() / x.len() as f64;
            let want = mean(&own[row * z..][..z]) - mean(&target[row * z * critics..][..kept]);
            assert!(near(&[errors[row]], &[want.abs()]));
        }
    }
}

/// Critics with constant quantiles from entry `tqc_kept`: the pool without the dropped ones is their target.
#[test]
fn critics_learn_from_what_is_left_of_the_pool() {
    let config = Config { num_quantiles: 3, dropped_quantiles: 1, ..small(Algorithm::Sac).hidden(&[]) };
    let config = Config { huber: 1, discount: 1.0, temperature: 1e-8, temperature_rate: 0.0, ..config };
    let config = Config { batch_size: 1, learning_starts: 1, train_interval: 1, ..config };
    let mut agent = Agent::new(&config);
    let mut l = agent.learner();
    let said = [[1.0f32, 5.0, 2.0], [3.0, 0.0, 4.0]];
    let params: Vec<f32> = [0.0; 5].into_iter().chain(said.iter().flat_map(|b| [&[0.0; 6][..], b].concat())).collect();
    l.write_params(&params).unwrap();
    l.act(None, Elements::F32(&[0.5]), None, ElementsMut::F32(&mut [0.0])).unwrap();
    l.observe(None, &[0.0], &[0], &[1], Some(Elements::F32(&[0.5])), None).unwrap();
    let stats = l.learn(None, None, 0).unwrap();
    let mut want = 0.0;
    for own in said {
        for (i, own) in wide(&own).into_iter().enumerate() {
            for target in [0.0, 1.0, 2.0, 3.0] {
                let u: f64 = target - own;
                let size = if u.abs() < 1.0 { u * u / 2.0 } else { u.abs() - 0.5 };
                // The mean over two critics.
                want += ((i as f64 + 0.5) / 3.0 - f64::from(u < 0.0)).abs() * size / 24.0;
            }
        }
    }
    assert!(near(&[stats.value_loss, stats.value_mean], &[want, 8.0 / 3.0]), "{stats:?} {want}");
    // The policy maximizes the mean of all quantiles, which a step has moved by 5e-3 at most.
    assert!((stats.policy_loss + 2.5).abs() < 0.006, "{stats:?}");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Spoil = fn(&mut Config);
    let both: [(&str, Spoil); 10] = [
        ("num_quantiles of 0, or 2", |c| c.num_quantiles = 1),
        ("num_quantiles of 0, or 2", |c| c.num_quantiles = 257),
        ("num_atoms of 0, or 2", |c| c.num_atoms = 1),
        ("num_atoms of 0, or 2", |c| c.num_atoms = u32::MAX),
        ("value_min", |c| c.value_min = f32::NAN),
        ("value_max", |c| c.value_max = 2e6),
        ("dropped_quantiles is set", |c| (c.num_quantiles, c.dropped_quantiles) = (0, 1)),
        ("num_critics", |c| (c.num_quantiles, c.num_critics) = (0, 3)),
        ("num_critics", |c| c.num_critics = 9),
        ("num_critics", |c| c.num_critics = 0),
    ];
    let dqn: [(&str, Spoil); 3] = [
        ("num_atoms of 0 with num_quantiles", |c| (c.num_quantiles, c.num_atoms) = (4, 4)),
        ("value_min below", |c| (c.num_atoms, c.value_min, c.value_max) = (4, 1.0, 1.0)),
        ("dropped_quantiles is set", |c| (c.num_quantiles, c.dropped_quantiles) = (4, 1)),
    ];
    let sac: [(&str, Spoil); 3] = [
        ("num_quantiles is set", |c| *c = Config { num_quantiles: 2, ..small(Algorithm::Td3) }),
        ("num_atoms is set", |c| c.num_atoms = 4),
        ("dropped_quantiles below", |c| (c.num_quantiles, c.dropped_quantiles) = (4, 4)),
    ];
    let obs = Space::unbounded(1);
    for (algorithm, more) in [(Algorithm::Dqn, &dqn[..]), (Algorithm::Sac, &sac[..])] {
        for (word, spoil) in both.iter().chain(more) {
            let mut config = small(algorithm);
            spoil(&mut config);
            let error = Learner::size(&config, &[], &obs, &Agent::space(algorithm == Algorithm::Dqn)).unwrap_err();
            assert!(error.kind == Kind::Config && error.what.contains(word), "{word}: {error}");
        }
    }
    // Too many numbers for any block.
    let config = Config { num_atoms: 256, ..small(Algorithm::Dqn) };
    assert!(Learner::size(&config, &[], &obs, &Space::discrete(&[1 << 30])).is_err());
}

/// An overflow drops the update, and the block can still be saved.
#[test]
fn overflows_drop_an_update_and_leave_a_block_that_attaches() {
    for config in all() {
        let mut agent = Agent::new(&config);
        while agent.learner().phase() != Phase::Learn {
            agent.step().unwrap();
        }
        let mut l = agent.learner();
        let params = vec![9e5; l.params().len()];
        l.write_params(&params).unwrap();
        let _ = l.learn(None, None, 0);
        let mut copy = agent.block.clone();
        attach(&mut copy);
    }
}

/// A block or exported policy with any one word forged is refused, or safe for every call.
#[test]
fn forged_images_are_refused_or_harmless() {
    for config in all() {
        let dqn = config.algorithm == Algorithm::Dqn as u32;
        let (quantiles, atoms) = (config.num_quantiles.min(2), config.num_atoms.min(3));
        let config = Config {
            num_quantiles: quantiles,
            num_atoms: atoms,
            dropped_quantiles: config.dropped_quantiles.min(1),
            num_chunks: 2,
            train_interval: 1,
            n_step: 1,
            ..config.hidden(&[2]).store(4, 3, 3)
        };
        let mut agent = Agent::new(&config);
        while agent.learner().phase() != Phase::Learn {
            agent.step().unwrap();
        }
        agent.learner().learn(None, None, 1).unwrap();
        forge(std::slice::from_ref(&agent.block), &[1, 3, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 100, |block| {
            let mut forged = Agent { block: block.to_vec(), ..agent.clone() };
            if Learner::attach(bytemuck::cast_slice_mut(&mut forged.block)).is_err() {
                return false;
            }
            for _ in 0..4 {
                let mut l = forged.learner();
                let _ = l.value(Elements::F32(&[0.5]), None, &mut [0.0]); // may fail, must not panic
                let _ = if l.phase() == Phase::Learn { l.learn(None, None, 1).map(drop) } else { forged.step() };
            }
            true
        });
        forge(&[agent.export()], &[0, 1, 2, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 20, |brain| {
            let Ok(policy) = Policy::attach(bytemuck::cast_slice(brain)) else { return false };
            let mut scratch = vec![0.0; policy.scratch_len(1).unwrap()];
            let (mut choice, mut vector) = ([0], [0.0]);
            let to = if dqn { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
            let _ = policy.act_greedy(1, Elements::F32(&[0.5]), None, Recurrent::default(), &mut scratch, to);
            true
        });
    }
}
