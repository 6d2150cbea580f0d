//! Steps of imitation: losses and gradients against formulas in f64, of what the networks answer.

#![cfg(all(feature = "residual", feature = "unreal", feature = "noisy"))]

use crate::host::takes::{HIGH, LOW, Takes, learner_of};
use crate::host::{Array, Host, refuses};
use rlcore::error::{Kind, Result};
use rlcore::learn::{
    Algorithm, Config, Distribution, Imitation, Learner, NamedTensor, Phase, Recurrent, Sampling, TensorsOf,
};
use rlcore::nn::{Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::Elements;

fn host(algorithm: Algorithm, takes: Takes, tune: impl Fn(&mut Config), layers: &[Layer]) -> Host {
    let unclipped = |c: &mut Config| {
        if !matches!(algorithm, Algorithm::StreamAc | Algorithm::StreamQ) {
            c.max_grad_norm = 0.0;
        }
        tune(c);
    };
    learner_of(algorithm, takes, unclipped, layers)
}

/// Numbers of structures have no bounds, so that squashed ones are from -1 to 1.
fn bounds(takes: Takes) -> impl Iterator<Item = (f32, f32)> {
    LOW.into_iter().zip(HIGH).map(move |own| if takes == Takes::Both { (-1.0, 1.0) } else { own })
}

/// Rows to imitate.
struct Rows {
    takes: Takes,
    count: usize,
    steps: usize,
    obs: Vec<f32>,
    mask: Option<Vec<u8>>,
    action: Array,
    prob: Option<Vec<f32>>,
    weight: Option<Vec<f32>>,
    reset: Vec<u8>,
    margin: f32,
    fit_std: bool,
}

impl Rows {
    fn drawn(takes: Takes, steps: usize, sequences: usize, masks: bool, rng: &mut Rng) -> Rows {
        let (count, n) = (steps * sequences, takes.choices());
        let mut mask = Vec::new();
        let mut action = match takes {
            Takes::Choices => Array::I32(vec![0; 2 * count]),
            Takes::Numbers => Array::F32(vec![0.0; 2 * count]),
            Takes::Both => Array::U8(vec![0; 12 * count]),
        };
        for row in 0..count {
            let mut choice = Vec::new();
            for &n in n {
                let own = rng.bounded(u64::from(n) - 1);
                choice.push(own as i32);
                mask.extend((0..u64::from(n)).map(|k| u8::from(!masks || k == own || rng.coin())));
            }
            let numbers: Vec<f32> =
                bounds(takes).map(|(low, high)| low + (high - low) * (0.02 + 0.96 * rng.uniform_f32())).collect();
            match &mut action {
                Array::I32(x) => x[2 * row..][..2].copy_from_slice(&choice),
                Array::F32(x) => x[2 * row..][..2].copy_from_slice(&numbers),
                Array::U8(x) => {
                    x[12 * row..][..4].copy_from_slice(&choice[0].to_ne_bytes());
                    x[12 * row + 4..][..4].copy_from_slice(&numbers[0].to_ne_bytes());
                    x[12 * row + 8..][..4].copy_from_slice(&numbers[1].to_ne_bytes());
                }
            }
        }
        Rows {
            takes,
            count,
            steps,
            obs: (0..4 * count).map(|_| 2.0 * rng.uniform_f32() - 1.0).collect(),
            mask: masks.then_some(mask),
            action,
            prob: None,
            weight: None,
            reset: Vec::new(),
            margin: 0.0,
            fit_std: false,
        }
    }

    /// Probabilities in place of choices, 0 where the mask forbids.
    fn soft(mut self, rng: &mut Rng) -> Rows {
        let n = self.takes.choices();
        let mut prob = Vec::new();
        for _ in 0..self.count {
            for &n in n {
                let allowed = |at: usize| self.mask.as_ref().is_none_or(|mask| mask[at] != 0);
                let own: Vec<f32> = (0..n as usize)
                    .map(|k| if allowed(prob.len() + k) { 0.05 + rng.uniform_f32() } else { 0.0 })
                    .collect();
                let sum: f32 = own.iter().sum();
                prob.extend(own.iter().map(|x| x / sum));
            }
        }
        self.prob = Some(prob);
        self
    }

    fn weighed(mut self, rng: &mut Rng) -> Rows {
        self.weight = Some((0..self.count).map(|i| if i % 5 == 1 { 0.0 } else { 2.0 * rng.uniform_f32() }).collect());
        self
    }

    fn get(&self) -> Imitation<'_> {
        Imitation {
            num_rows: self.count,
            num_steps: self.steps,
            obs: Elements::F32(&self.obs),
            mask: self.mask.as_deref(),
            action: (self.prob.is_none() || self.takes.numbers() > 0).then_some(self.action.get()),
            prob: self.prob.as_deref(),
            weight: self.weight.as_deref(),
            reset: &self.reset,
            margin: self.margin,
            fit_std: self.fit_std,
        }
    }

    /// The probabilities of the choices to imitate in a row.
    fn wanted(&self, row: usize) -> Vec<f64> {
        let n = self.takes.choices();
        let len: usize = n.iter().map(|n| *n as usize).sum();
        if let Some(prob) = &self.prob {
            return prob[row * len..][..len].iter().map(|x| f64::from(*x)).collect();
        }
        let choices: Vec<i32> = match &self.action {
            Array::I32(x) => x[2 * row..][..2].to_vec(),
            Array::U8(x) => vec![i32::from_ne_bytes(x[12 * row..][..4].try_into().unwrap())],
            Array::F32(_) => vec![],
        };
        let one = |n: u32, choice: i32| (0..n as i32).map(move |k| if k == choice { 1.0 } else { 0.0 });
        n.iter().zip(choices).flat_map(|(n, choice)| one(*n, choice)).collect()
    }

    fn numbers(&self, row: usize) -> Vec<f64> {
        let word = |x: &[u8], i: usize| f64::from(f32::from_ne_bytes(x[12 * row + i..][..4].try_into().unwrap()));
        match &self.action {
            Array::F32(x) => x[2 * row..][..2].iter().map(|x| f64::from(*x)).collect(),
            Array::U8(x) => vec![word(x, 4), word(x, 8)],
            Array::I32(_) => vec![],
        }
    }
}

/// Answers for all rows, with the states of the sequences.
#[derive(Default)]
struct Told {
    prob: Vec<f32>,
    mean: Vec<f32>,
    std: Vec<f32>,
    q: Vec<f32>,
}

fn is_q(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Dqn | Algorithm::Pqn | Algorithm::StreamQ)
}

fn told(h: &mut Host, rows: &Rows) -> Told {
    let (l, a) = (rows.takes.choices().iter().map(|n| *n as usize).sum::<usize>(), rows.takes.numbers());
    let is_q = is_q(h.config.algorithm());
    let width = h.view().state_len();
    let sequences = rows.count / rows.steps;
    let mut state = vec![0.0; sequences * width];
    let mut all = Told::default();
    for t in 0..rows.steps {
        let own = t * sequences..(t + 1) * sequences;
        let (mut prob, mut q) = (vec![0.0; sequences * l], vec![0.0; sequences * l]);
        let (mut mean, mut std) = (vec![0.0; sequences * a], vec![0.0; sequences * a]);
        let to = Distribution {
            prob: (l > 0 && !is_q).then_some(&mut prob[..]),
            q: is_q.then_some(&mut q[..]),
            mean: (a > 0).then_some(&mut mean[..]),
            std: (a > 0).then_some(&mut std[..]),
            ..Distribution::default()
        };
        let reset = if t == 0 || rows.reset.is_empty() { &[][..] } else { &rows.reset[own.clone()] };
        let recurrent = Recurrent { state: &mut state, reset };
        let obs = Elements::F32(&rows.obs[4 * own.start..4 * own.end]);
        let mask = rows.mask.as_ref().map(|mask| &mask[l * own.start..l * own.end]);
        h.learner().distribution(sequences, obs, mask, None, recurrent, to).unwrap();
        all.prob.extend(prob);
        all.q.extend(q);
        all.mean.extend(mean);
        all.std.extend(std);
    }
    all
}

/// The documented loss in f64.
fn loss(h: &mut Host, rows: &Rows) -> f64 {
    let told = told(h, rows);
    let (n, algorithm) = (rows.takes.choices(), h.config.algorithm());
    let l: usize = n.iter().map(|n| *n as usize).sum();
    let squashes = h.config.squash != 0 || matches!(algorithm, Algorithm::Td3 | Algorithm::Sac);
    let mut sum = 0.0;
    for row in 0..rows.count {
        let (wanted, mut own, mut begin) = (rows.wanted(row), 0.0, 0);
        for &n in n {
            let range = begin..begin + n as usize;
            begin = range.end;
            let allowed = |k: usize| rows.mask.as_ref().is_none_or(|mask| mask[row * l + k] != 0);
            for k in range.clone().filter(|k| wanted[*k] > 0.0) {
                if is_q(algorithm) {
                    let margin = if rows.margin > 0.0 { f64::from(rows.margin) } else { 0.8 };
                    let q = |k: usize| f64::from(told.q[row * l + k]);
                    let most = range
                        .clone()
                        .filter(|k| allowed(*k))
                        .map(|other| if other == k { q(k) } else { q(other) + margin });
                    own += wanted[k] * (most.fold(f64::MIN, f64::max) - q(k)) / rows.takes.choices().len() as f64;
                } else {
                    own += wanted[k] * (wanted[k].ln() - f64::from(told.prob[row * l + k]).ln());
                }
            }
        }
        for (i, x) in rows.numbers(row).iter().enumerate() {
            let (mean, std) = (f64::from(told.mean[2 * row + i]), f64::from(told.std[2 * row + i]));
            let (low, high) = bounds(rows.takes).map(|(low, high)| (f64::from(low), f64::from(high))).nth(i).unwrap();
            let part = 2.0 * (x - low) / (high - low) - 1.0;
            if algorithm == Algorithm::Td3 {
                own += (mean.tanh() - part).powi(2);
                continue;
            }
            let raw = if squashes { part.clamp(-0.999, 0.999).atanh() } else { *x };
            own += 0.5 * ((raw - mean) / std).powi(2) + std.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
        }
        sum += own * rows.weight.as_ref().map_or(1.0, |weight| f64::from(weight[row]));
    }
    sum / rows.count as f64
}

/// The numbers of the tensors of a learner.
fn numbers(h: &Host, of: TensorsOf) -> Vec<f32> {
    let mut to = vec![0.0; h.view().params().len()];
    h.view().read_tensors(of, &mut to).unwrap();
    to
}

fn list(h: &Host) -> Vec<NamedTensor> {
    let count = h.view().tensors(&mut []).unwrap();
    let mut list = vec![bytemuck::Zeroable::zeroed(); count];
    h.view().tensors(&mut list).unwrap();
    list
}

/// Loss and gradient of a step are those of the formula, the gradient by central differences.
fn follows(name: &str, mut h: Host, rows: &Rows) {
    let name = format!("{name} {:?}", rows.takes);
    let want = loss(&mut h, rows);
    let (before, list) = (h.clone(), list(&h));
    let params = numbers(&h, TensorsOf::Params);
    let got = f64::from(h.learner().imitate(&rows.get()).unwrap());
    assert!((got - want).abs() < 2e-5 * (1.0 + want.abs()), "{name}: {got}, {want}");
    let after = numbers(&h, TensorsOf::Params);
    let traces = matches!(h.config.algorithm(), Algorithm::StreamAc | Algorithm::StreamQ);
    let own: Vec<f64> = if traces {
        assert!(numbers(&h, TensorsOf::FirstMoments).iter().all(|x| *x == 0.0));
        params.iter().zip(&after).map(|(a, b)| f64::from(a - b)).collect()
    } else {
        let share = 1.0 / (1.0 - h.config.adam_beta1);
        numbers(&h, TensorsOf::FirstMoments).iter().map(|m| f64::from(m * share)).collect()
    };
    let mut twin = before;
    let mut moved = |i: usize, by: f32| {
        let mut params = params.clone();
        params[i] += by;
        twin.learner().write_tensors(TensorsOf::Params, &list, &params).unwrap();
        loss(&mut twin, rows)
    };
    // Slopes to both sides, because units and margins have kinks.
    let slope: Vec<(usize, [f64; 2])> = (0..params.len())
        .step_by(if params.len() > 300 { 5 } else { 1 })
        .map(|i| (i, [(moved(i, 1e-3) - want) / 1e-3, (want - moved(i, -1e-3)) / 1e-3]))
        .collect();
    let held = |i: usize| {
        // Deviations that do not learn, of policies whose deviations are free numbers or a head of their own.
        let of = list.iter().rfind(|tensor| tensor.offset as usize <= i).unwrap();
        let name = std::str::from_utf8(&of.name).unwrap();
        !rows.fit_std && (name.starts_with("log_std") || name.starts_with("deviation"))
    };
    // Of stream algorithms parameters move by the gradient, divided by a number that is the same for all.
    let factor = if traces {
        let middle = |x: &[f64; 2]| 0.5 * (x[0] + x[1]);
        let (dot, squares) = slope
            .iter()
            .fold((0.0, 0.0), |(dot, squares), (i, x)| (dot + middle(x) * own[*i], squares + middle(x) * middle(x)));
        let length: f64 = own.iter().map(|x| x.abs()).sum();
        let kappa = f64::from(if is_q(h.config.algorithm()) { h.config.kappa_value } else { h.config.kappa_policy });
        assert!(length * kappa < 1.0 + 1e-4, "{name}: {length}");
        dot / squares
    } else {
        1.0
    };
    let mut largest = 0.0f64;
    for (i, [a, b]) in slope {
        let (low, high) = if held(i) { (0.0, 0.0) } else { (a.min(b), a.max(b)) };
        let own = own[i] / factor;
        largest = largest.max(own.abs());
        // Logarithms of deviations reach the layers below too, where they are a head.
        let sac = h.config.algorithm() == Algorithm::Sac && !rows.fit_std && rows.takes != Takes::Choices;
        let slack = 2e-3 * (1.0 + low.abs().max(high.abs()));
        let near = own > low - slack && own < high + slack;
        assert!(near || sac && !held(i) && !of_head(&list, i), "{name}, {i}: {own}, {low} {high}");
    }
    assert!(largest > 1e-3, "{name}");
    assert!(after != params, "{name}");
}

/// Whether a parameter is one of the policy's head, which no other head depends on.
fn of_head(list: &[NamedTensor], i: usize) -> bool {
    let of = list.iter().rfind(|tensor| tensor.offset as usize <= i).unwrap();
    std::str::from_utf8(&of.name).unwrap().starts_with("policy.head")
}

#[test]
fn steps_over_rollouts_are_those_of_the_formula() {
    use Algorithm::*;
    let mut rng = Rng::seeded(3);
    for algorithm in [Ppo, A2c, Impala, Unreal, StreamAc] {
        for takes in [Takes::Choices, Takes::Numbers, Takes::Both] {
            let h = host(
                algorithm,
                takes,
                |c| {
                    if algorithm == Unreal {
                        (c.pixel_control_coef, c.reward_class_coef, c.value_replay_coef) = (0.0, 0.0, 0.0);
                        c.history_len = 20;
                    }
                    // Its first moments are means of gradients, as Adam's.
                    if algorithm != StreamAc {
                        (c.optimizer, c.adam_beta1, c.adam_beta2) = (0, 0.9, 0.999);
                        (c.rms_decay, c.rms_momentum) = (0.99, 0.0);
                    }
                },
                &[],
            );
            let mut rows = Rows::drawn(takes, 1, 31, false, &mut rng).weighed(&mut rng);
            rows.fit_std = takes != Takes::Choices;
            follows(&format!("{algorithm:?}"), h, &rows);
        }
    }
    for takes in [Takes::Choices, Takes::Both] {
        let h = host(Ppo, takes, |c| c.use_action_mask = 1, &[]);
        let rows = Rows::drawn(takes, 1, 60, true, &mut rng);
        follows("masks", h.clone(), &rows);
        follows("probabilities", h, &rows.soft(&mut rng).weighed(&mut rng));
    }
    follows(
        "squash",
        host(Ppo, Takes::Numbers, |c| c.squash = 1, &[]),
        &Rows::drawn(Takes::Numbers, 1, 9, false, &mut rng),
    );
    for algorithm in [Pqn, StreamQ] {
        for masks in [false, true] {
            let tune = |c: &mut Config| {
                c.use_action_mask = u32::from(masks);
                if algorithm == Pqn {
                    c.optimizer = 0;
                }
            };
            let rows = Rows::drawn(Takes::Choices, 1, 31, masks, &mut rng);
            follows("Q", host(algorithm, Takes::Choices, tune, &[]), &rows);
            let mut rows = rows.soft(&mut rng);
            rows.margin = 0.3;
            follows("Q of probabilities", host(algorithm, Takes::Choices, tune, &[]), &rows);
        }
    }
}

#[test]
fn steps_over_a_store_are_those_of_the_formula() {
    use Algorithm::*;
    let mut rng = Rng::seeded(4);
    for masks in [false, true] {
        let q: [fn(&mut Config); 4] = [
            |_| {},
            |c| c.dueling = 1,
            |c| (c.num_quantiles, c.huber) = (5, 1),
            |c| (c.num_atoms, c.value_min, c.value_max, c.dueling) = (7, -1.0, 4.0, 1),
        ];
        for tune in q {
            let h = host(
                Dqn,
                Takes::Choices,
                |c| {
                    c.use_action_mask = u32::from(masks);
                    tune(c);
                },
                &[],
            );
            follows("DQN", h, &Rows::drawn(Takes::Choices, 1, 50, masks, &mut rng).weighed(&mut rng));
        }
        for takes in [Takes::Choices, Takes::Both] {
            let h = host(Sac, takes, |c| c.use_action_mask = u32::from(masks), &[]);
            let mut rows = Rows::drawn(takes, 1, 50, masks, &mut rng);
            rows.fit_std = takes == Takes::Both;
            follows("SAC", h.clone(), &rows);
            follows("SAC of probabilities", h, &rows.soft(&mut rng));
        }
    }
    for fit_std in [false, true] {
        let mut rows = Rows::drawn(Takes::Numbers, 1, 50, false, &mut rng);
        rows.fit_std = fit_std;
        follows("SAC", host(Sac, Takes::Numbers, |_| {}, &[]), &rows);
    }
    let rows = Rows::drawn(Takes::Numbers, 1, 50, false, &mut rng);
    follows("TD3", host(Td3, Takes::Numbers, |c| c.overlap = 1, &[]), &rows);
}

/// Sequences start from zeros, and episodes begin within them.
#[test]
fn sequences_go_through_recurrent_layers() {
    use Algorithm::*;
    let mut rng = Rng::seeded(5);
    for kind in [LayerKind::Gru, LayerKind::Lstm] {
        let layers = [Layer::recurrent(kind, 5)];
        for (algorithm, takes) in [
            (Ppo, Takes::Both),
            (Impala, Takes::Choices),
            (Pqn, Takes::Choices),
            (Dqn, Takes::Choices),
            (Sac, Takes::Both),
        ] {
            for (steps, sequences) in [(3, 5), (6, 9), (1, 20)] {
                let tune = |c: &mut Config| c.optimizer = 0;
                let mut rows = Rows::drawn(takes, steps, sequences, false, &mut rng);
                rows.reset = (0..rows.count).map(|_| u8::from(rng.bounded(3) == 0)).collect();
                rows.fit_std = takes == Takes::Both;
                follows(&format!("{algorithm:?} {kind:?} {steps}"), host(algorithm, takes, tune, &layers), &rows);
            }
        }
    }
    let layers = [Layer::recurrent(LayerKind::Gru, 5)];
    let mut h = host(Ppo, Takes::Choices, |_| {}, &layers);
    let rows = Rows::drawn(Takes::Choices, 25, 1, false, &mut rng);
    refuses(&mut h, Kind::Shape, "sequences longer than a chunk", |l| l.imitate(&rows.get()).map(drop));
}

fn play(h: &mut Host, steps: usize, rng: &mut Rng) {
    for _ in 0..steps {
        let (obs, mut action) = (h.draw_obs(rng), h.actions());
        h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
        let reward: Vec<f32> = (0..h.n).map(|_| rng.uniform_f32()).collect();
        let ends = vec![0; h.n];
        h.learner().observe(None, &reward, &ends, &ends, None, None).unwrap();
        if h.learner().phase() == Phase::Learn {
            let next = h.draw_obs(rng);
            h.learner().learn(Some(next.get()), None, 0).unwrap();
        }
    }
}

/// Choices that a script prefers: the sign of a number decides.
fn scripted(takes: Takes, rng: &mut Rng) -> Rows {
    let mut rows = Rows::drawn(takes, 1, 64, false, rng);
    for row in 0..rows.count {
        let x = rows.obs[4 * row];
        match &mut rows.action {
            Array::I32(all) => all[2 * row..][..2].copy_from_slice(&[if x > 0.0 { 2 } else { 0 }, i32::from(x > 0.0)]),
            Array::F32(all) => all[2 * row..][..2].copy_from_slice(&[0.3 * x - 0.7, x.signum() + 1.0]),
            Array::U8(_) => {}
        }
    }
    rows
}

/// With normalized observations, noisy layers, overlap and recurrent state: after some steps the best actions are the script's,
/// and a saved learner goes on alike.
#[test]
fn clones_act_as_the_script_does() {
    use Algorithm::*;
    let noisy = [Layer { flags: rlcore::nn::NOISY, ..Layer::dense(16, rlcore::nn::Activation::Tanh) }];
    let tunes: [fn(&mut Config); 3] = [|_| {}, |c| c.normalize_obs = 1, |c| c.overlap = 1];
    for algorithm in [Ppo, A2c, Pqn, StreamAc, StreamQ, Dqn, Sac, Td3] {
        for takes in [Takes::Choices, Takes::Numbers] {
            if takes == if algorithm == Td3 { Takes::Choices } else { Takes::Numbers }
                && algorithm != Ppo
                && algorithm != Sac
            {
                continue;
            }
            for (i, tune) in tunes.iter().enumerate() {
                let stream = matches!(algorithm, StreamAc | StreamQ);
                if i == 2 && stream {
                    continue;
                }
                let layers = if i == 0 && algorithm == Dqn { &noisy[..] } else { &[] };
                let mut h = host(
                    algorithm,
                    takes,
                    |c| {
                        (c.learning_rate, c.learning_rate_end) = if stream { (1.0, 1.0) } else { (1e-2, 1e-2) };
                        c.hidden_len = [16, 16, 0, 0];
                        tune(c);
                        c.sequence_len = 0;
                        if c.overlap != 0 && c.buffer_size > 0 && matches!(algorithm, Dqn | Sac | Td3) {
                            c.buffer_size = 400;
                        }
                    },
                    layers,
                );
                let mut rng = Rng::seeded(9);
                play(&mut h, 10, &mut rng);
                let mut last = 0.0;
                for _ in 0..400 {
                    last = h.learner().imitate(&scripted(takes, &mut rng).get()).unwrap();
                }
                let mut saved = h.clone();
                let rows = scripted(takes, &mut rng);
                let n = h.n;
                let (mut right, mut most) = (0, 0);
                for begin in (0..rows.count / n).map(|k| k * n) {
                    let (mut action, none) = (h.actions(), Recurrent::default());
                    let obs = Elements::F32(&rows.obs[4 * begin..][..4 * n]);
                    h.learner().predict(obs, None, none, Sampling::Greedy, action.get_mut()).unwrap();
                    for (k, row) in (begin..begin + n).enumerate() {
                        let (own, wanted) = (action.row(k, 2), rows.action.row(row, 2));
                        right += usize::from(own.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 0.5));
                        most += 1;
                    }
                }
                assert!(5 * right > 4 * most, "{algorithm:?} {takes:?} {i}: {right} of {most}, loss {last}");
                play(&mut h, 15, &mut rng.clone());
                h.learner().imitate(&rows.get()).unwrap();
                play(&mut saved, 15, &mut rng);
                saved.learner().imitate(&rows.get()).unwrap();
                // `predict` has drawn nothing that the greedy action needs, but its streams went on.
                assert_eq!(h.view().params(), saved.view().params());
            }
        }
    }
}

/// Targets become copies of what imitates before the first gradient step only.
#[test]
fn targets_follow_before_the_first_gradient_step() {
    let mut h = host(Algorithm::Dqn, Takes::Choices, |c| c.target_interval = 1000, &[]);
    let (mut rng, rows) = (Rng::seeded(1), Rows::drawn(Takes::Choices, 1, 8, false, &mut Rng::seeded(2)));
    h.learner().imitate(&rows.get()).unwrap();
    assert_eq!(numbers(&h, TensorsOf::Params), numbers(&h, TensorsOf::Targets));
    while h.view().stats().num_updates == 0 {
        play(&mut h, 1, &mut rng);
    }
    let before = numbers(&h, TensorsOf::Targets);
    h.learner().imitate(&rows.get()).unwrap();
    assert_eq!(before, numbers(&h, TensorsOf::Targets));
}

#[test]
fn rows_that_cannot_be_imitated_are_refused() {
    fn no(h: &mut Host, kind: Kind, name: &str, rows: &Imitation<'_>) {
        refuses(h, kind, name, |l: &mut Learner<'_>| -> Result { l.imitate(rows).map(drop) });
    }
    let mut rng = Rng::seeded(6);
    let mut h = host(Algorithm::Ppo, Takes::Choices, |c| c.use_action_mask = 1, &[]);
    let rows = Rows::drawn(Takes::Choices, 1, 9, true, &mut rng).soft(&mut rng);
    let good = Imitation { action: Some(rows.action.get()), prob: None, ..rows.get() };
    let soft = rows.get();
    h.clone().learner().imitate(&good).unwrap();
    h.clone().learner().imitate(&soft).unwrap();
    no(&mut h, Kind::Shape, "no rows", &Imitation { num_rows: 0, ..good });
    no(&mut h, Kind::Shape, "fewer rows", &Imitation { num_rows: 8, ..good });
    no(&mut h, Kind::Shape, "steps", &Imitation { num_steps: 2, ..good });
    no(&mut h, Kind::Shape, "no steps", &Imitation { num_steps: 0, ..good });
    no(&mut h, Kind::Null, "no action", &Imitation { action: None, ..good });
    no(&mut h, Kind::Shape, "mask", &Imitation { mask: Some(&[1; 44]), ..good });
    no(&mut h, Kind::Value, "a mask of nothing", &Imitation { mask: Some(&[0; 45]), ..good });
    no(&mut h, Kind::Shape, "weights", &Imitation { weight: Some(&[1.0; 8]), ..good });
    no(&mut h, Kind::Shape, "resets", &Imitation { reset: &[1; 8], ..good });
    for x in [-1.0, f32::NAN, f32::INFINITY] {
        let mut weight = [1.0; 9];
        weight[8] = x;
        no(&mut h, Kind::Value, "a weight", &Imitation { weight: Some(&weight), ..good });
        no(&mut h, Kind::Config, "a margin", &Imitation { margin: x, ..good });
        let mut prob = rows.prob.clone().unwrap();
        prob[44] = x;
        no(&mut h, Kind::Value, "a probability", &Imitation { prob: Some(&prob), ..soft });
    }
    no(&mut h, Kind::Shape, "probabilities", &Imitation { prob: Some(&[0.5; 44]), ..soft });
    no(&mut h, Kind::Value, "a sum", &Imitation { prob: Some(&[0.5; 45]), ..soft });
    let mut forbidden = rows.mask.clone().unwrap();
    let at = (0..45).find(|at| forbidden[*at] == 0).unwrap();
    let whole = |prob: &[f32], at: usize| {
        let begin = at - at % 5 + if at % 5 < 3 { 0 } else { 3 };
        let mut prob = prob.to_vec();
        prob[begin..begin + if at % 5 < 3 { 3 } else { 2 }].fill(0.0);
        prob[at] = 1.0;
        prob
    };
    let prob = whole(rows.prob.as_ref().unwrap(), at);
    no(&mut h, Kind::Value, "a probability of a forbidden choice", &Imitation { prob: Some(&prob), ..soft });
    let Array::I32(action) = &rows.action else { unreachable!() };
    forbidden.fill(1);
    forbidden[40 + action[16] as usize] = 0;
    no(&mut h, Kind::Value, "a forbidden choice", &Imitation { mask: Some(&forbidden), ..good });
    for x in [-1, 3, i32::MAX, i32::MIN] {
        let mut action = action.clone();
        action[16] = x;
        no(&mut h, Kind::Value, "a choice", &Imitation { action: Some(Elements::I32(&action)), ..good });
    }
    let mut obs = rows.obs.clone();
    obs[35] = f32::NAN;
    no(&mut h, Kind::Value, "an observation", &Imitation { obs: Elements::F32(&obs), ..good });
    no(&mut h, Kind::Shape, "observations of bytes", &Imitation { obs: Elements::U8(&[0; 36]), ..good });
    no(&mut h, Kind::Shape, "numbers", &Imitation { action: Some(Elements::F32(&[0.0; 18])), ..good });
    no(&mut h, Kind::Config, "fit_std of choices", &Imitation { fit_std: true, ..good });
    no(&mut h, Kind::Config, "a margin of a policy", &Imitation { margin: 0.5, ..good });

    for algorithm in [Algorithm::Td3, Algorithm::Sac, Algorithm::Ppo] {
        let mut h = host(algorithm, Takes::Numbers, |_| {}, &[]);
        let rows = Rows::drawn(Takes::Numbers, 1, 9, false, &mut rng);
        let good = rows.get();
        no(&mut h, Kind::Shape, "probabilities of numbers", &Imitation { prob: Some(&[]), ..good });
        no(&mut h, Kind::Shape, "a mask", &Imitation { mask: Some(&[]), ..good });
        let Array::F32(action) = &rows.action else { unreachable!() };
        for x in [f32::NAN, f32::INFINITY, 0.6] {
            let mut action = action.clone();
            action[16] = x;
            if x != 0.6 || algorithm != Algorithm::Ppo {
                no(&mut h, Kind::Value, "a number", &Imitation { action: Some(Elements::F32(&action)), ..good });
            }
        }
        if algorithm == Algorithm::Td3 {
            no(&mut h, Kind::Config, "fit_std of a point", &Imitation { fit_std: true, ..good });
        }
        if algorithm == Algorithm::Ppo {
            let mut action = action.clone();
            action[3] = f32::MAX;
            let far = Imitation { action: Some(Elements::F32(&action)), ..good };
            no(&mut h, Kind::Value, "an action so far away that numbers overflow", &far);
        }
    }
    // While an update runs.
    for overlap in [0, 1] {
        let mut h = host(Algorithm::Ppo, Takes::Choices, |c| (c.overlap, c.num_chunks) = (overlap, 2), &[]);
        while h.learner().phase() != Phase::Learn {
            let (obs, mut action) = (h.draw_obs(&mut rng), h.actions());
            h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
            h.learner().observe(None, &[0.0; 4], &[0; 4], &[0; 4], None, None).unwrap();
        }
        let rows = Rows::drawn(Takes::Choices, 1, 9, false, &mut rng);
        h.clone().learner().imitate(&rows.get()).unwrap();
        let next = h.draw_obs(&mut rng);
        h.learner().learn(Some(next.get()), None, 1).unwrap();
        no(&mut h, Kind::NotReady, "an update runs", &rows.get());
    }
}
