//! Structures as actions of algorithms over stored transitions: of one kind they are, to the bit, plain
//! actions; SAC takes choices and numbers together.
#![cfg(all(feature = "residual", feature = "off_policy", feature = "noisy"))]

use crate::host::{Tune, attach, export, forge_learners, learn_all, made, open, policy, slope, wide};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling, TransitionBatch};
use rlcore::nn::{Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 3;
const OBS: Space<'static> = Space::unbounded(2);
const LOW: [f32; 2] = [-2.0, 8.0];
const HIGH: [f32; 2] = [6.0, 16.0];

/// Two elements of an action, with data of the host between or before them.
const CHOICES: [Field<'static>; 2] =
    [Field::new("weapon", Element::I32, &[], 0), Field::new("stance", Element::I32, &[], 8)];
const NUMBERS: [Field<'static>; 1] = [Field::new("aim", Element::F32, &[2], 4)];
/// The words of these elements, and the word that no field covers.
const WORDS: [([usize; 2], usize); 2] = [([0, 2], 1), ([1, 2], 0)];
const OWN: u32 = 0xABCD_EF01;

/// The action spaces of choices or of numbers alone, plain and as a structure.
fn pair(choices: bool) -> [Space<'static>; 2] {
    if choices {
        let n = &[3, 2];
        return [Space::discrete(n), Space { n, ..Space::bytes(12).with_fields(&CHOICES) }];
    }
    let bounded = |space| Space { low: &LOW, high: &HIGH, ..space };
    [bounded(Space::unbounded(2)), bounded(Space::bytes(12).with_fields(&NUMBERS))]
}

/// Actions as words of the plain space, and as structures.
struct Actions {
    plain: Vec<u32>,
    structure: Vec<[u32; 3]>,
    words: ([usize; 2], usize),
    kind: Element,
}

impl Actions {
    fn new(rows: usize, choices: bool) -> Actions {
        let words = WORDS[usize::from(!choices)];
        let kind = if choices { Element::I32 } else { Element::F32 };
        Actions { plain: vec![7; 2 * rows], structure: vec![[OWN; 3]; rows], words, kind }
    }

    /// Actions that a host demonstrates.
    fn draw(rows: usize, choices: bool, mask: Option<&[u8]>, rng: &mut Rng) -> Actions {
        let mut own = Actions::new(rows, choices);
        for (i, word) in own.plain.iter_mut().enumerate() {
            let number = LOW[i % 2] + 0.125 * rng.bounded(64) as f32;
            let flags = mask.map(|mask| &mask[i / 2 * 5 + i % 2 * 3..][..3 - i % 2]);
            let choice = flags.map_or(0, |flags| flags.iter().position(|x| *x != 0).unwrap());
            *word = if choices { choice as u32 } else { number.to_bits() };
        }
        for (to, from) in own.structure.iter_mut().zip(own.plain.chunks(2)) {
            own.words.0.iter().zip(from).for_each(|(at, word)| to[*at] = *word);
        }
        own
    }

    fn get(&self, structured: bool) -> Elements<'_> {
        match (structured, self.kind) {
            (true, _) => Elements::U8(bytemuck::cast_slice(&self.structure)),
            (_, Element::I32) => Elements::I32(bytemuck::cast_slice(&self.plain)),
            _ => Elements::F32(bytemuck::cast_slice(&self.plain)),
        }
    }

    fn get_mut(&mut self, structured: bool) -> ElementsMut<'_> {
        match (structured, self.kind) {
            (true, _) => ElementsMut::U8(bytemuck::cast_slice_mut(&mut self.structure)),
            (_, Element::I32) => ElementsMut::I32(bytemuck::cast_slice_mut(&mut self.plain)),
            _ => ElementsMut::F32(bytemuck::cast_slice_mut(&mut self.plain)),
        }
    }

    /// The elements of both forms have the same bits, and the host's data has not changed.
    fn check(&self) {
        let ([first, second], own) = self.words;
        for (plain, structure) in self.plain.chunks(2).zip(&self.structure) {
            assert_eq!([plain[0], plain[1], OWN], [structure[first], structure[second], structure[own]]);
        }
    }
}

/// Everything that a host does with a learner, with actions of both forms.
fn compare(config: &Config, layers: &[Layer], choices: bool) {
    let what = format!("algorithm {}, {layers:?}, {config:?}", config.algorithm);
    let mut blocks = pair(choices).map(|space| made(config, layers, &OBS, &space));
    let (mut rng, mut twins) = (Rng::seeded(5), [Rng::seeded(8); 2]);
    let forms = [false, true];
    let draw = |rng: &mut Rng| -> [f32; 2 * N] { std::array::from_fn(|_| 2.0 * rng.uniform_f32() - 1.0) };
    for step in 0..60 {
        let (obs, last) = (draw(&mut rng), draw(&mut rng));
        let obs = Elements::F32(&obs);
        let flags: Vec<u8> = (0..N).flat_map(|_| [1, u8::from(rng.coin()), 1, 1, u8::from(rng.coin())]).collect();
        let mask = (config.use_action_mask != 0).then_some(&flags[..]);
        let mut action = Actions::new(N, choices);
        if step % 7 == 6 {
            action = Actions::draw(N, choices, mask, &mut rng);
            for (block, form) in blocks.iter_mut().zip(forms) {
                attach(block).demonstrate(None, obs, mask, action.get(form)).unwrap();
            }
        } else {
            for (block, form) in blocks.iter_mut().zip(forms) {
                attach(block).act(None, obs, mask, action.get_mut(form)).unwrap();
            }
            action.check();
        }
        let reward: [f32; N] = std::array::from_fn(|i| (action.plain[2 * i] % 5) as f32 - rng.uniform_f32());
        let [terminated, truncated] = [(); 2].map(|()| [(); N].map(|()| u8::from(rng.bounded(5) == 0)));
        let duration = [1.0, 2.0, 1.5];
        let duration = (config.use_duration != 0).then_some(&duration[..]);
        for block in &mut blocks {
            let (mut learner, ends) = (attach(block), [&terminated[..], &truncated[..]]);
            learner.observe_after(duration, None, &reward, ends, Some(Elements::F32(&last)), None).unwrap();
            while learner.phase() == Phase::Learn {
                learner.learn(None, None, 2).unwrap();
            }
        }
        if config.sequence_len == 0 && step > 30 && step % 5 == 0 {
            let b = config.batch_size as usize;
            let given: Vec<f32> = (0..4 * b).map(|_| rng.uniform_f32()).collect();
            let masks = vec![1; 5 * b];
            let mask = (config.use_action_mask != 0).then_some(&masks[..]);
            let action = Actions::draw(b, choices, mask, &mut rng);
            let [one, other] = [0, 1].map(|i| {
                let batch = TransitionBatch {
                    obs: Elements::F32(&given[..2 * b]),
                    action: action.get(forms[i]),
                    mask,
                    reward: &given[..b],
                    terminated: &vec![0; b],
                    discount: None,
                    next_obs: Elements::F32(&given[2 * b..]),
                    next_mask: mask,
                    importance: None,
                };
                let mut errors = vec![f32::NAN; b];
                attach(&mut blocks[i]).learn_transitions(&batch, Some(&mut errors)).unwrap();
                errors
            });
            assert_eq!(one, other);
        }
        let [one, other] = blocks.each_mut().map(|block| {
            let learner = attach(block);
            let bits: Vec<u32> = learner.params().iter().map(|x| x.to_bits()).collect();
            (bits, format!("{:?}", learner.stats()))
        });
        assert!(one == other, "step {step}: {what}");
        if step % 10 != 9 {
            continue;
        }
        let state_len = attach(&mut blocks[0]).view().state_len() * N;
        for sampling in [Sampling::Greedy, Sampling::Basic, Sampling::Temperature(0.5)] {
            let (mut action, mut states) = (Actions::new(N, choices), [vec![0.25; state_len], vec![0.25; state_len]]);
            for ((block, form), state) in blocks.iter_mut().zip(forms).zip(&mut states) {
                let recurrent = Recurrent { state, reset: &[] };
                attach(block).predict(obs, mask, recurrent, sampling, action.get_mut(form)).unwrap();
            }
            action.check();
            assert_eq!(states[0], states[1]);
            let mut action = Actions::new(N, choices);
            for (i, form) in forms.into_iter().enumerate() {
                let exported = export(&attach(&mut blocks[i]).view());
                let own = policy(&exported);
                let (mut scratch, rng) = (vec![f32::NAN; own.scratch_len(N).unwrap()], &mut twins[i]);
                let recurrent = Recurrent { state: &mut states[i], reset: &[] };
                own.act(N, obs, mask, recurrent, sampling, rng, &mut scratch, action.get_mut(form)).unwrap();
            }
            action.check();
        }
        if state_len == 0 || config.algorithm == Algorithm::Dqn as u32 {
            let values = blocks.each_mut().map(|block| {
                let mut value = [f32::NAN; N];
                attach(block).value(obs, mask, &mut value).unwrap();
                value
            });
            assert_eq!(values[0], values[1]);
        }
    }
    let stats = attach(&mut blocks[0]).stats();
    assert!(stats.num_updates > 5 && stats.num_dropped == 0, "{what}");
}

fn small(algorithm: Algorithm) -> Config {
    Config {
        num_envs: N as u32,
        num_chunks: 3,
        train_interval: 6,
        exploration_steps: 100,
        ..Config::of(algorithm).hidden(&[6]).rate(0.01).store(40, 10, 21)
    }
}

#[test]
fn a_structure_of_choices_is_several_choices_to_dqn_and_sac() {
    for algorithm in [Algorithm::Dqn, Algorithm::Sac] {
        let own = small(algorithm);
        let masked = Config { use_action_mask: 1, n_step: 3, priority_exponent: 0.6, ..own };
        let lasting = Config { use_duration: 1, n_step: 2, ..own.normalized(1, 1) };
        [own, masked, lasting].iter().for_each(|config| compare(config, &[], true));
        let layers = [Layer::recurrent(LayerKind::Gru, 4)];
        let config = Config { num_layers: 1, sequence_len: 2, burn_in: 3, ..masked };
        compare(&config, &layers, true);
        compare(&Config { batch_size: 12, ..config }, &[Layer::attention(4, 2, 3)], true);
    }
    let own = small(Algorithm::Dqn);
    let dueling = Config { dueling: 1, num_shared: 1, noisy: 1, use_action_mask: 1, ..own };
    let atoms = Config { num_atoms: 5, value_min: -5.0, value_max: 5.0, ..dueling };
    let quantiles = Config { num_quantiles: 4, double_q: 0, n_step: 3, ..own };
    [dueling, atoms, quantiles].iter().for_each(|config| compare(config, &[], true));
}

#[test]
fn a_structure_of_numbers_is_several_numbers_to_td3_and_sac() {
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        let own = small(algorithm);
        let weighed = Config { n_step: 3, priority_exponent: 0.6, exploration_end: 0.3, ..own };
        let lasting = Config { use_duration: 1, n_step: 2, ..own.normalized(1, 1) };
        let quantiles = Config { num_critics: 3, num_quantiles: 4, dropped_quantiles: 1, ..own };
        let plain = Config { num_critics: 1, huber: 1, ..own };
        let quantiles = if algorithm == Algorithm::Sac { quantiles } else { plain };
        [own, weighed, lasting, quantiles].iter().for_each(|config| compare(config, &[], false));
        let layers = [Layer::recurrent(LayerKind::Gru, 4)];
        let config = Config { num_layers: 1, sequence_len: 2, burn_in: 3, ..weighed };
        compare(&config, &layers, false);
        compare(&Config { batch_size: 12, ..config }, &[Layer::attention(4, 2, 3)], false);
        compare(&Config { num_layers: 1, ..own }, &[Layer::dense(5, rlcore::nn::Activation::Relu)], false);
    }
}

/// A weapon, a stance and two numbers of an action.
const BOTH: [Field<'static>; 3] = [
    Field::new("weapon", Element::I32, &[], 0),
    Field::new("aim", Element::F32, &[2], 4),
    Field::new("stance", Element::I32, &[], 12),
];
const CHOSEN: [u32; 2] = [3, 2];
const L: usize = 5;

/// The action space of these elements, with numbers from -`most` to `most`.
fn both<'a>(low: &'a [f32], high: &'a [f32]) -> Space<'a> {
    Space { n: &CHOSEN, low, high, ..Space::bytes(16).with_fields(&BOTH) }
}

/// An action: weapon, bits of the numbers, stance.
type Act = [u32; 4];

fn to(action: &mut [Act]) -> ElementsMut<'_> {
    ElementsMut::U8(bytemuck::cast_slice_mut(action))
}

fn numbers(action: &Act) -> [f64; 2] {
    [action[1], action[2]].map(|bits| f64::from(f32::from_bits(bits)))
}

#[derive(Clone)]
struct Step {
    obs: [f64; 2],
    mask: [u8; L],
    choice: [u32; 2],
    numbers: [f64; 2],
    reward: f64,
    discount: f64,
    next: [f64; 2],
    next_mask: [u8; L],
    /// Normal draws for the next action, and for that of the policy.
    normal: [[f64; 2]; 2],
}

/// Parts of a row that belong to each choice of an action.
fn parts<T>(row: &[T]) -> [&[T]; 2] {
    let (one, other) = row.split_at(3);
    [one, other]
}

/// Probabilities of the choices that the mask allows.
fn softmax(logits: &[f64], mask: &[u8]) -> Vec<f64> {
    let own: Vec<f64> = logits.iter().zip(mask).map(|(x, m)| x.exp() * f64::from(*m)).collect();
    let sum: f64 = own.iter().sum();
    own.iter().map(|x| x / sum).collect()
}

/// The mean of Q plus the weighted entropy.
fn worth(p: &[f64], q: &[f64], temperature: f64) -> f64 {
    p.iter().zip(q).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (q - temperature * p.ln())).sum()
}

/// A linear policy and linear critics with their gradient steps: in f64, from the definitions, with slopes by finite
/// differences.
struct Twin {
    config: Config,
    params: Vec<f64>,
    target: Vec<f64>,
    temperature: f64,
    taken: u64,
    /// Critic loss, mean Q of the first critic, and the policy's loss and entropy at its last update.
    losses: [f64; 4],
}

/// Parameters of the policy: logits and means of two inputs, two free numbers, logarithms of deviations; and of a critic, which
/// reads two numbers more.
const POLICY: usize = 3 * 7 + 2 + 3 * 2;
const CRITIC: usize = 5 * L;

/// The outputs of a linear layer: weights of each output, then biases.
fn linear(params: &[f64], x: &[f64], outputs: usize) -> Vec<f64> {
    let (weights, bias) = params.split_at(x.len() * outputs);
    weights.chunks(x.len()).zip(bias).map(|(w, b)| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + b).collect()
}

impl Twin {
    /// Logits, numbers of an action of these normal draws, and the logarithm of their density.
    fn draw(params: &[f64], x: [f64; 2], normal: [f64; 2]) -> (Vec<f64>, [f64; 2], f64) {
        let (said, log_std) = (linear(&params[..21], &x, 7), linear(&params[23..POLICY], &x, 2));
        let raw = [0, 1].map(|i| said[L + i] + log_std[i].exp() * normal[i]);
        let action = raw.map(f64::tanh);
        let of = |i: usize| {
            let own = -0.5 * normal[i] * normal[i] - log_std[i] - 0.5 * std::f64::consts::TAU.ln();
            own - (1.0 - action[i] * action[i]).ln()
        };
        (said[..L].to_vec(), action, of(0) + of(1))
    }

    fn critic(params: &[f64], i: usize, x: [f64; 2], a: [f64; 2]) -> Vec<f64> {
        linear(&params[POLICY + CRITIC * i..][..CRITIC], &[x, a].concat(), L)
    }

    /// The lowest Q over critics for each choice.
    fn lowest(&self, params: &[f64], x: [f64; 2], a: [f64; 2]) -> Vec<f64> {
        let mut q = Self::critic(params, 0, x, a);
        if self.config.num_critics > 1 {
            q.iter_mut().zip(Self::critic(params, 1, x, a)).for_each(|(q, other)| *q = q.min(other));
        }
        q
    }

    fn targets(&self, t: &Step) -> Vec<f64> {
        let (logits, action, density) = Self::draw(&self.params, t.next, t.normal[0]);
        let q = self.lowest(&self.target, t.next, action);
        let each = parts(&logits).into_iter().zip(parts(&t.next_mask)).zip(parts(&q));
        let value = |((x, m), q): ((&[f64], &[u8]), &[f64])| worth(&softmax(x, m), q, self.temperature);
        each.map(|of| t.reward + t.discount * (value(of) - self.temperature * density)).collect()
    }

    /// The loss of the critics with these parameters, and the mean Q of the first one.
    fn critics(&self, params: &[f64], batch: &[Step], targets: &[Vec<f64>]) -> (f64, f64) {
        let (mut loss, mut mean, share) = (0.0, 0.0, 1.0 / (2 * batch.len()) as f64);
        for (t, targets) in batch.iter().zip(targets) {
            for i in 0..self.config.num_critics as usize {
                let q = Self::critic(params, i, t.obs, t.numbers);
                for ((q, choice), target) in parts(&q).into_iter().zip(t.choice).zip(targets) {
                    let q = q[choice as usize];
                    let error: f64 = q - target;
                    loss += share
                        * match self.config.huber {
                            0 => error * error,
                            _ if error.abs() < 1.0 => 0.5 * error * error,
                            _ => error.abs() - 0.5,
                        };
                    mean += if i == 0 { share * q } else { 0.0 };
                }
            }
        }
        (loss, mean)
    }

    /// The loss of the policy with these parameters, and its entropy.
    fn policy(&self, params: &[f64], batch: &[Step]) -> (f64, f64) {
        let (mut loss, mut entropy, share) = (0.0, 0.0, 1.0 / batch.len() as f64);
        for t in batch {
            let (logits, action, density) = Self::draw(params, t.obs, t.normal[1]);
            let q = self.lowest(&self.params, t.obs, action);
            for ((x, m), q) in parts(&logits).into_iter().zip(parts(&t.mask)).zip(parts(&q)) {
                let p = softmax(x, m);
                loss -= 0.5 * share * worth(&p, q, self.temperature);
                entropy += share * worth(&p, &vec![0.0; q.len()], 1.0);
            }
            loss += share * self.temperature * density;
            entropy -= share * density;
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
        Self::descend(rate * f64::from(c.critic_rate), &mut params, POLICY..len, |x| {
            self.critics(x, batch, &targets).0
        });
        self.params = params;
        self.taken += 1;
        if self.taken.is_multiple_of(c.policy_interval.into()) {
            (self.losses[2], self.losses[3]) = self.policy(&self.params, batch);
            let mut params = self.params.clone();
            Self::descend(rate, &mut params, 0..POLICY, |x| self.policy(x, batch).0);
            self.params = params;
            // A share of the most that the allowed choices can have, and so many nats of each number.
            let share = if c.target_entropy < 0.0 { 0.5 } else { f64::from(c.target_entropy) };
            let allowed = |mask: &[u8]| f64::from(mask.iter().sum::<u8>());
            let most = |t: &Step| parts(&t.mask).into_iter().map(|mask| allowed(mask).ln()).sum::<f64>();
            let target = share * batch.iter().map(most).sum::<f64>() / batch.len() as f64;
            let slope = self.temperature * (self.losses[3] - target - 2.0 * f64::from(c.target_entropy));
            self.temperature *= (-f64::from(c.temperature_rate) * slope / (slope.abs() + 1.0)).exp();
        }
        if self.taken.is_multiple_of(c.target_interval.into()) {
            let part = f64::from(c.target_rate);
            self.target.iter_mut().zip(&self.params).for_each(|(to, x)| *to += part * (x - *to));
        }
    }
}

/// Consecutive gradient steps of choices and numbers, with and without masks: explored numbers, batches and noise come from the
/// documented random streams.
#[test]
fn steps_of_choices_and_numbers_are_those_of_the_definitions() {
    let cases = [(1, 1, 0, -1.0), (2, 0, 1, 0.3), (2, 1, 1, -1.0), (2, 0, 0, 0.1), (2, 0, 1, 0.0)];
    let space = both(&[-1.0], &[1.0]);
    for (num_critics, huber, use_action_mask, target_entropy) in cases {
        let config = Config {
            num_envs: 1,
            use_action_mask,
            num_chunks: 2,
            train_interval: 1,
            policy_interval: 2,
            target_interval: 3,
            target_rate: 0.25,
            critic_rate: 2.0,
            temperature: 0.5,
            temperature_rate: 0.1,
            target_entropy,
            discount: 0.9,
            exploration_start: 0.5,
            exploration_end: 0.5,
            num_critics,
            huber,
            seed: 9,
            ..small(Algorithm::Sac).hidden(&[]).rate(0.05).plain_adam().store(8, 5, 12)
        };
        let mut block = made(&config, &[], &OBS, &space);
        let (mut rng, mut explores, mut draws) = (Rng::seeded(4), Rng::stream(9, 0), Rng::stream(9, 2 << 32));
        let mut l = open(&mut block);
        let params: Vec<f32> = l.params().iter().map(|_| rng.uniform_f32() - 0.5).collect();
        assert_eq!(params.len(), POLICY + CRITIC * num_critics as usize);
        l.write_params(&params).unwrap();
        let params = wide(&params);
        let mut twin = Twin { config, target: params.clone(), params, temperature: 0.5, taken: 0, losses: [0.0; 4] };
        let (mut stored, mut waits): (Vec<Step>, Option<Step>) = (vec![], None);
        let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * (1.0 + b.abs());
        while twin.taken < 40 {
            let obs = [(); 2].map(|()| 2.0 * rng.uniform_f32() - 1.0);
            let mask = match use_action_mask {
                0 => [1; L],
                _ => [[1, 1, 0, 1, 1], [0, 1, 1, 1, 0], [1, 0, 0, 0, 1], [1; L]][rng.bounded(3) as usize],
            };
            let mut action = [[9; 4]];
            let given = (use_action_mask == 1).then_some(&mask[..]);
            l.act(None, Elements::F32(&obs), given, to(&mut action)).unwrap();
            let [action] = action;
            let choice = [action[0], action[3]];
            assert!(mask[choice[0] as usize] == 1 && mask[3 + choice[1] as usize] == 1);
            if explores.uniform_f32() < 0.5 {
                for (i, flags) in parts(&mask).into_iter().enumerate() {
                    let allowed: Vec<u32> = (0..CHOSEN[i]).filter(|k| flags[*k as usize] == 1).collect();
                    assert_eq!(choice[i], allowed[explores.bounded(allowed.len() as u64 - 1) as usize]);
                }
                let wanted = [(); 2].map(|()| f64::from(2.0 * explores.uniform_f32() - 1.0));
                assert_eq!(numbers(&action), wanted);
            } else {
                let uniform = [(); 2].map(|()| f64::from(explores.uniform_f32()));
                let mut normal = [0.0; 2];
                explores.fill_normal(&mut normal);
                let (logits, wanted, _) = Twin::draw(&twin.params, obs.map(f64::from), normal.map(f64::from));
                assert!(numbers(&action).iter().zip(wanted).all(|(a, b)| near(*a as f32, b)), "{action:?} {wanted:?}");
                for (i, (x, m)) in parts(&logits).into_iter().zip(parts(&mask)).enumerate() {
                    // The draw is within the share of the choice in the whole.
                    let (p, own) = (softmax(x, m), choice[i] as usize);
                    let below: f64 = p[..own].iter().sum();
                    assert!((below - 1e-4..below + p[own] + 1e-4).contains(&uniform[i]), "{p:?} {own} {uniform:?}");
                }
            }
            if let Some(t) = waits.take() {
                stored.push(Step { next: obs.map(f64::from), next_mask: mask, ..t });
            }
            let (reward, last) = (rng.uniform_f32(), [(); 2].map(|()| rng.uniform_f32()));
            let [terminated, truncated] = [5, 5].map(|p| u8::from(rng.bounded(p) == 0));
            l.observe(None, &[reward], &[terminated], &[truncated], Some(Elements::F32(&last)), None).unwrap();
            let discount = if terminated == 1 { 0.0 } else { f64::from(config.discount) };
            let t = Step {
                obs: obs.map(f64::from),
                mask,
                choice,
                numbers: numbers(&action),
                reward: reward.into(),
                discount,
                next: last.map(f64::from),
                next_mask: [1; L],
                normal: [[0.0; 2]; 2],
            };
            if terminated | truncated == 1 {
                stored.push(t)
            } else {
                waits = Some(t)
            }
            while l.phase() == Phase::Learn {
                let count = stored.len().min(8) as u64;
                let slots: Vec<usize> = (0..5).map(|_| draws.bounded(count - 1) as usize).collect();
                let mut noise = [0.0; 20];
                draws.fill_normal(&mut noise);
                let normal = |at: usize| [noise[at], noise[at + 1]].map(f64::from);
                let batch: Vec<Step> = slots
                    .iter()
                    .enumerate()
                    .map(|(i, slot)| Step {
                        normal: [normal(2 * i), normal(10 + 2 * i)],
                        ..stored[(stored.len() - 1 - slot) / 8 * 8 + slot].clone()
                    })
                    .collect();
                twin.step(&batch);
                learn_all(&mut l, 1);
                let same = l.params().iter().zip(&twin.params).all(|(a, b)| near(*a, *b));
                assert!(same, "step {}: {:?} {:?}", twin.taken, l.params(), twin.params);
                assert!(near(l.view().temperature(), twin.temperature), "{}", twin.temperature);
                let stats = l.stats();
                // The learner reports the mean over critics, and half of squared errors.
                twin.losses[0] *= if huber == 0 { 0.5 } else { 1.0 } / f64::from(num_critics);
                let own = [stats.value_loss, stats.value_mean, stats.policy_loss, stats.entropy];
                assert!(own.iter().zip(twin.losses).all(|(a, b)| near(*a, b)), "{own:?} {:?}", twin.losses);
            }
            // The value of an observation is the expected Q of the mean numbers, averaged over the choices of an action.
            let x = [0.25, -0.5];
            let (logits, ..) = Twin::draw(&twin.params, x, [0.0; 2]);
            let mean = linear(&twin.params[..21], &x, 7);
            let (mut value, q) = ([0.0], twin.lowest(&twin.params, x, [mean[L].tanh(), mean[L + 1].tanh()]));
            l.value(Elements::F32(&x.map(|x| x as f32)), None, &mut value).unwrap();
            let each = parts(&logits).into_iter().zip(parts(&q));
            let wanted: f64 = each.map(|(x, q)| worth(&softmax(x, &[1; 3][..x.len()]), q, 0.0) / 2.0).sum();
            assert!(near(value[0], wanted), "{value:?} {wanted}");
        }
        assert!(twin.temperature != 0.5);
    }
}

/// The reward of an episode of one step: 1 if the weapon matches the sign of the first observed number, less the distance of the
/// first number from the target that the weapon selects. The best is 1.
fn pay(obs: &[f32], action: &Act) -> f32 {
    let right = if obs[0] > 0.0 { 2 } else { 0 };
    let target = if action[0] == 2 { obs[1] } else { -0.5 };
    f32::from(u8::from(action[0] == right)) - (f32::from_bits(action[1]) - target).abs().min(2.0)
}

#[test]
fn a_choice_of_a_target_and_a_number_that_hits_it_are_learnt_together() {
    let space = both(&[-2.0, 0.0], &[2.0, 1.0]);
    for (masks, recurrent) in [(0, 0), (1, 0), (0, 1)] {
        let n = 8;
        let config = Config {
            num_envs: n as u32,
            discount: 0.5,
            train_interval: 8,
            gradient_steps: 4,
            use_action_mask: masks,
            temperature: 0.05,
            temperature_rate: 1e-3,
            target_entropy: -1.5,
            num_layers: recurrent,
            sequence_len: recurrent,
            ..small(Algorithm::Sac).hidden(&[24]).rate(5e-3).store(2000, 48, 200)
        };
        let layers = &[Layer::recurrent(LayerKind::Gru, 8)][..recurrent as usize];
        let mut block = made(&config, layers, &OBS, &space);
        let (mut l, mut rng) = (open(&mut block), Rng::seeded(2));
        let draw = |rng: &mut Rng| -> Vec<f32> { (0..2 * n).map(|_| if rng.coin() { 1.0 } else { -1.0 }).collect() };
        // The middle weapon is never of use.
        let flags = [1, 0, 1, 1, 1].repeat(n);
        let mask = (masks == 1).then_some(&flags[..]);
        while l.stats().num_steps < 5000 {
            let (obs, mut action) = (draw(&mut rng), vec![[9; 4]; n]);
            l.act(None, Elements::F32(&obs), mask, to(&mut action)).unwrap();
            assert!(masks == 0 || action.iter().all(|a| a[0] != 1));
            let reward: Vec<f32> = obs.chunks(2).zip(&action).map(|(obs, a)| pay(obs, a)).collect();
            l.observe(None, &reward, &vec![1; n], &vec![0; n], None, None).unwrap();
            learn_all(&mut l, 0);
        }
        let stats = l.stats();
        assert!(stats.num_dropped == 0 && stats.log_std_mean < 0.0, "{stats:?}");
        let bytes = export(&l.view());
        let policy = policy(&bytes);
        let (mut scratch, mut sum) = (vec![f32::NAN; policy.scratch_len(n).unwrap()], 0.0);
        for _ in 0..20 {
            let obs = draw(&mut rng);
            let seen = Elements::F32(&obs);
            let (mut best, mut own) = (vec![[9; 4]; n], vec![[9; 4]; n]);
            let mut states = [(); 2].map(|()| vec![0.0; n * l.view().state_len()]);
            let [ours, theirs] = &mut states;
            let none = Recurrent { state: ours, reset: &[] };
            l.predict(seen, mask, none, Sampling::Greedy, to(&mut own)).unwrap();
            let none = Recurrent { state: theirs, reset: &[] };
            policy.act_greedy(n, seen, mask, none, &mut scratch, to(&mut best)).unwrap();
            assert_eq!(best, own);
            sum += obs.chunks(2).zip(&best).map(|(obs, a)| pay(obs, a)).sum::<f32>();
        }
        let mean = sum / (20 * n) as f32;
        assert!(mean > 0.85, "masks {masks}, recurrent {recurrent}: {mean} of 1");
    }
}

#[test]
fn what_an_algorithm_cannot_take_is_refused_by_name() {
    let space = both(&[-1.0], &[1.0]);
    let refused = |config: &Config, space: &Space<'_>, words: &str| {
        let error = Learner::size(config, &[], &OBS, space).unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{error}");
    };
    let [td3, dqn, sac] = [Algorithm::Td3, Algorithm::Dqn, Algorithm::Sac].map(small);
    for (choices, given) in [(true, space), (true, pair(true)[1])] {
        refused(&td3, &given, "algorithm 5 follows the derivative of its actions, which choices do not have");
        assert!(choices);
    }
    for given in [space, pair(false)[1]] {
        refused(
            &dqn,
            &given,
            "algorithm 4 learns Q, which tells the best of choices, not of numbers: no f32 in a structure",
        );
    }
    refused(&Config { num_quantiles: 4, ..sac }, &space, "num_quantiles of 0 with SAC on choices");
    refused(&Config { target_entropy: 0.7, ..sac }, &space, "target_entropy of at most 0.69");
    refused(&Config { noisy: 1, ..sac }, &space, "noisy");
    Learner::size(&Config { target_entropy: 0.69, use_action_mask: 1, ..sac }, &[], &OBS, &space).unwrap();
}

/// A block with any one word forged is refused, or safe for every call; so are demonstrations and transitions with actions that
/// are not there.
#[test]
fn forged_blocks_and_actions_are_refused_or_harmless() {
    let config = Config {
        num_envs: 1,
        num_chunks: 2,
        use_action_mask: 1,
        n_step: 2,
        priority_exponent: 1.0,
        train_interval: 1,
        policy_interval: 1,
        ..small(Algorithm::Sac).hidden(&[2]).store(4, 3, 3)
    };
    let space = both(&[-1.0], &[1.0]);
    let mut block = made(&config, &[], &OBS, &space);
    let call = |learner: &mut Learner<'_>| -> Result {
        let (x, mask, mut action) = (Elements::F32(&[0.5; 2]), Some(&[1u8; L][..]), [[0; 4]]);
        learner.predict(x, mask, Recurrent::default(), Sampling::Basic, to(&mut action))?;
        learner.value(x, None, &mut [0.0])?;
        match learner.phase() {
            Phase::Act => learner.act(None, x, mask, to(&mut action)),
            Phase::Observe => learner.observe(None, &[1.0], &[0], &[1], Some(x), None),
            Phase::Learn => learner.learn(None, None, 1).map(drop),
        }
    };
    let mut l = open(&mut block);
    while l.phase() != Phase::Learn {
        call(&mut l).unwrap();
    }
    let before = block.clone();
    let mut l = open(&mut block);
    l.learn(None, None, 1).unwrap();
    let first = block.clone();
    open(&mut block).learn(None, None, 2).unwrap();
    forge_learners(&[first, block], &[0, 1, 3, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 6, call);

    let mut block = before;
    learn_all(&mut open(&mut block), 0);
    let good: Act = [1, 0.5f32.to_bits(), 0, 1];
    let (nan, far) = (f32::NAN.to_bits(), 1.5f32.to_bits());
    for (at, word) in [(0, 3), (0, u32::MAX), (3, 2), (1, nan), (2, far), (2, 0xff80_0000), (0, 2)] {
        let mut bad = good;
        bad[at] = word;
        let (obs, kept, mask) = ([0.5; 6], block.clone(), [1, 1, 0, 1, 1].repeat(3));
        let action = [good, bad, good].concat();
        let batch = TransitionBatch {
            obs: Elements::F32(&obs),
            action: Elements::U8(bytemuck::cast_slice(&action)),
            mask: Some(&mask),
            reward: &[0.0; 3],
            terminated: &[0; 3],
            discount: None,
            next_obs: Elements::F32(&obs),
            next_mask: Some(&mask),
            importance: None,
        };
        let mut l = attach(&mut block);
        let errors = [
            l.learn_transitions(&batch, None).unwrap_err(),
            l.demonstrate(None, Elements::F32(&obs[..2]), Some(&mask[..L]), Elements::U8(bytemuck::cast_slice(&[bad])))
                .unwrap_err(),
        ];
        assert!(errors.iter().all(|e| e.kind == Kind::Value && e.to_string().contains("outside of the action space")));
        assert!(block == kept, "word {at}: {word}");
    }
}
