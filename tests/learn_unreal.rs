//! UNREAL: its auxiliary tasks against their formulas, A2C where they are off, the same bits however it is cut, and images.

mod learn_host;

use learn_host::{Host, chunks, record, seal, threads, train};
use rlcore::error::Kind;
use rlcore::learn::objective::{pixel_control, reward_class};
use rlcore::learn::tasks::{CLASS_UNITS, CLASSES};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Policy};
use rlcore::nn::{Activation, Carry, HEAD, Initializer, Layer, LayerKind, NO_BIAS, Net, Node};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const SIDE: u32 = 10;
const CELLS: usize = 16;
const ACTIONS: usize = 3;
const FRAMES: usize = 3;

/// Pictures of 10 × 10 bytes, whose 8 × 8 in the middle are 4 × 4 cells.
fn unreal() -> Config {
    Config {
        num_envs: 3,
        num_steps: 6,
        num_hidden: 0,
        hidden_len: [0; 4],
        num_layers: 2,
        obs_dims: [SIDE, SIDE, 1],
        history_len: 20,
        ..Config::of(Algorithm::Unreal)
    }
}

fn with_state() -> Config {
    Config { num_layers: 3, sequence_len: 6, ..unreal() }
}

fn layers(config: &Config) -> Vec<Layer> {
    let mut layers = vec![Layer::conv(4, [3, 3], [2, 2], Activation::Tanh), Layer::dense(12, Activation::Tanh)];
    if config.sequence_len > 0 {
        layers.push(Layer::recurrent(LayerKind::Lstm, 5));
    }
    layers
}

fn spaces() -> (Space<'static>, Space<'static>) {
    (Space::bytes(SIDE * SIDE), Space::discrete(&[ACTIONS as u32]))
}

fn host(config: &Config) -> Host {
    let (obs, action) = spaces();
    Host::with(config, &layers(config), &obs, &action)
}

/// Without the tasks that a mask does not have: pixel control, reward prediction, value replay.
fn only(mask: usize, config: Config) -> Config {
    let weight = |bit: usize, weight: f32| if mask >> bit & 1 == 1 { weight } else { 0.0 };
    Config {
        pixel_control_coef: weight(0, config.pixel_control_coef),
        reward_class_coef: weight(1, config.reward_class_coef),
        value_replay_coef: weight(2, config.value_replay_coef),
        ..config
    }
}

/// The same with another algorithm.
fn by(algorithm: Algorithm, mut config: Config) -> Config {
    config.algorithm = algorithm as u32;
    config
}

#[test]
fn without_tasks_it_is_a2c_to_the_bit() {
    for config in [unreal(), with_state()] {
        let config = only(0, config);
        let params = [Algorithm::Unreal, Algorithm::A2c].map(|algorithm| {
            let mut h = host(&by(algorithm, config));
            train(&mut h, &mut Rng::seeded(7), 4);
            (h.view().params().iter().map(|x| x.to_bits()).collect::<Vec<_>>(), h.block.len())
        });
        assert!(params[0] == params[1]);
    }
}

/// Until a sequence of past steps is there, the tasks add nothing to the gradients of A2C.
#[test]
fn the_first_policy_and_gradient_are_those_of_a2c() {
    let config = unreal();
    let grads = [7, 0].map(|mask| {
        let mut h = host(&only(mask, config));
        let obs = record(&mut h, &mut Rng::seeded(7));
        h.learner().learn_begin(obs.get()).unwrap();
        chunks(&h, 0, 1)
    });
    // The common layers, and the policy's and the values' heads, come first. One step more than a rollout is needed.
    let len = grads[1].len() - 8;
    let class_alone = |at: &f32| *at != 0.0;
    assert!(grads[1][..len].iter().any(class_alone));
    let mut h = host(&only(5, config));
    let obs = record(&mut h, &mut Rng::seeded(7));
    h.learner().learn_begin(obs.get()).unwrap();
    assert!(chunks(&h, 0, 1)[..len] == grads[1][..len]);
}

/// spec: agents, section 8.
#[test]
fn losses_are_those_of_the_vectors() {
    let q: Vec<f32> = (0..24).map(|i| 0.1 * i as f32).collect();
    let targets = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8f32]];
    let mut sum = 0.0;
    for (i, choice) in [2, 0].into_iter().enumerate() {
        let own = &q[i * 12..][..12];
        // Values are the means of a cell's: Q is what was given.
        let value: Vec<f32> = own.chunks(3).map(|q| q.iter().sum::<f32>() / 3.0).collect();
        let (mut d, mut dv) = ([0.0; 12], [0.0; 4]);
        sum += pixel_control::loss(3, choice, own, &value, &targets[i], 1.0, &mut d, &mut dv);
    }
    assert!((sum / 2.0 - 2.52).abs() < 1e-6, "{sum}");

    let mut d = [0.0; 6];
    let loss = reward_class::cross_entropy(&[0.1, 0.7, -0.3, 1.0, 0.0, 0.0], &[1, 0], 1.0, &mut d).unwrap();
    assert!((loss / 2.0 - 0.6010225079783456).abs() < 1e-6, "{loss}");
    let first = reward_class::cross_entropy(&[0.1, 0.7, -0.3], &[1], 1.0, &mut d[..3]).unwrap();
    assert!((first - 0.650600302).abs() < 1e-6, "{first}");
}

/// spec: agents, section 10.
#[test]
fn changes_are_those_of_the_vector() {
    let s = |factor: usize, base: usize| -> Vec<f32> { (0..42).map(|i| (factor * i % base) as f32 / 10.0).collect() };
    let mut change = [9.0; 6];
    pixel_control::changes([6, 7, 1], 2, false, &s(17, 13), &s(37, 11), &mut change);
    let want = [0.7, 0.6, 0.5, 1.0, 0.8, 0.5];
    assert!(change.iter().zip(want).all(|(a, b)| (a - b as f32).abs() < 1e-6), "{change:?}");
}

#[test]
fn changes_are_those_of_the_formula() {
    let mut rng = Rng::seeded(4);
    for (h, w, channels, cell) in
        [(10, 10, 1, 2), (11, 9, 3, 2), (12, 7, 2, 3), (9, 3, 1, 2), (84, 84, 3, 4), (5, 5, 1, 1)]
    {
        for mean in [false, true] {
            let [a, b] = [(); 2].map(|()| (0..h * w * channels).map(|_| rng.uniform_f32()).collect::<Vec<_>>());
            let border = |side: usize| if side > cell / 2 * 2 + 1 { cell / 2 } else { 0 };
            let (top, left) = (border(h), border(w));
            let (rows, columns) = (h - 2 * top, w - 2 * left);
            let (gh, gw) = (rows.div_ceil(cell), columns.div_ceil(cell));
            let mut got = vec![f32::NAN; gh * gw];
            pixel_control::changes([h, w, channels], cell, mean, &a, &b, &mut got);
            let pad = |n: usize, g: usize| ((g * cell - n) / 2) as isize;
            for (i, got) in got.iter().enumerate() {
                let mut own = Vec::new();
                for (y, x) in (0..cell * cell).map(|k| (k / cell, k % cell)) {
                    let y = (i / gw * cell + y) as isize - pad(rows, gh);
                    let x = (i % gw * cell + x) as isize - pad(columns, gw);
                    if (0..rows as isize).contains(&y) && (0..columns as isize).contains(&x) {
                        let at = ((y as usize + top) * w + x as usize + left) * channels;
                        let diff = |c: usize| f64::from((b[at + c] - a[at + c]).abs());
                        own.push((0..channels).map(diff).sum::<f64>() / channels as f64);
                    }
                }
                let want = if mean {
                    own.iter().sum::<f64>() / own.len() as f64
                } else {
                    own.iter().fold(0.0, |a: f64, b| a.max(*b))
                };
                assert!((f64::from(*got) - want).abs() < 1e-6, "{got}, not {want}");
            }
        }
    }
}

/// What a host knows of every step of an environment, as the learner should keep it.
#[derive(Clone, Default)]
struct Past {
    obs: Vec<u8>,
    choice: i32,
    reward: f32,
    ends: u8,
    final_value: f32,
    state: Vec<f32>,
}

/// Learners are driven by this, which keeps all of their past.
struct Twin {
    h: Host,
    past: Vec<Vec<Past>>,
    rng: Rng,
}

impl Twin {
    fn new(config: &Config) -> Twin {
        Twin { h: host(config), past: vec![Vec::new(); config.num_envs as usize], rng: Rng::seeded(21) }
    }

    /// Records until learning is due, and begins it.
    fn begin(&mut self) {
        loop {
            let obs = self.h.draw_obs(&mut self.rng);
            if self.h.learner().phase() == Phase::Learn {
                self.h.learner().learn_begin(obs.get()).unwrap();
                return;
            }
            let mut action = self.h.actions();
            self.h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
            let n = self.h.n;
            let reward: Vec<f32> = (0..n).map(|_| [0.0, 0.0, 1.0, -0.5][self.rng.bounded(3) as usize]).collect();
            let [terminated, truncated] =
                [(); 2].map(|()| (0..n).map(|_| u8::from(self.rng.uniform() < 0.06)).collect::<Vec<_>>());
            let last = self.h.draw_obs(&mut self.rng);
            let mut value = vec![0.0; n];
            self.h.learner().value(last.get(), &mut value).unwrap();
            self.h.learner().observe(None, &reward, &terminated, &truncated, Some(last.get())).unwrap();
            let (learn_host::Array::U8(obs), learn_host::Array::I32(action)) = (obs, action) else { unreachable!() };
            for env in 0..n {
                let own = (SIDE * SIDE) as usize;
                let ends = if terminated[env] != 0 { 1 } else { 2 * truncated[env] };
                self.past[env].push(Past {
                    obs: obs[env * own..][..own].to_vec(),
                    choice: action[env],
                    reward: reward[env],
                    ends,
                    final_value: if ends == 2 { value[env] } else { 0.0 },
                    state: Vec::new(),
                });
            }
        }
    }
}

/// The layers of the learner's network, written down by hand.
fn network(config: &Config) -> Vec<Layer> {
    let mut all = layers(config);
    let last = all.len() as u32;
    let head = |source: u32, units: u32, gain: f32| Layer {
        source: [source, 0],
        flags: HEAD,
        gain,
        ..Layer::dense(units, Activation::Identity)
    };
    all.push(head(last, ACTIONS as u32, 0.01));
    all.push(head(last, 1, 1.0));
    let uniform = Initializer::Uniform as u32;
    if config.pixel_control_coef > 0.0 {
        // A picture of 1 × 1 with windows of 4 × 4 makes 4 × 4 cells.
        let small = Layer {
            source: [last, 0],
            size: [1, 1],
            initializer: uniform,
            gain: 1.0,
            ..Layer::dense(32, Activation::Elu)
        };
        all.push(small);
        let from = all.len() as u32;
        for units in [ACTIONS as u32, 1] {
            let deconv = Layer::conv(units, [4, 4], [2, 2], Activation::Identity);
            all.push(Layer {
                kind: LayerKind::Deconv as u32,
                source: [from, 0],
                flags: HEAD,
                initializer: uniform,
                gain: 1.0,
                ..deconv
            });
        }
    }
    if config.reward_class_coef > 0.0 {
        let shares = Layer::dense((FRAMES * CLASS_UNITS) as u32, Activation::Identity);
        all.push(Layer { source: [1, 0], flags: HEAD | NO_BIAS, initializer: uniform, gain: 1.0, ..shares });
        all.push(Layer::free((CLASS_UNITS + CLASSES * CLASS_UNITS + CLASSES) as u32, 0.0));
    }
    all
}

/// Values of a network's heads for some rows, one sequence.
fn run(config: &Config, params: &[f32], rows: &[&Past], carried: bool) -> Vec<Vec<f32>> {
    let layers = network(config);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(&layers, [SIDE as usize, SIDE as usize, 1], &mut nodes).unwrap();
    let m = rows.len();
    let x: Vec<f32> = rows.iter().flat_map(|p| &p.obs).map(|&b| f32::from(b) / 255.0).collect();
    let mut outs: Vec<Vec<f32>> = (0..net.num_heads()).map(|k| vec![0.0; m * net.head_len(k)]).collect();
    let width = net.state_len();
    let cut: Vec<u8> = (0..m).map(|i| u8::from(i == 0 || rows[i - 1].ends != 0 || !carried)).collect();
    let state: Vec<f32> =
        if carried { rows.iter().flat_map(|p| p.state.clone()).collect() } else { vec![0.0; m * width] };
    let carry = if width > 0 { Carry { steps: m, cut: &cut, state: &state } } else { Carry::NONE };
    let mut tape = vec![0.0; net.tape_len(m)];
    let mut scratch = vec![0.0; net.scratch_len(false, m)];
    let mut refs: Vec<&mut [f32]> = outs.iter_mut().map(|x| &mut x[..]).collect();
    net.forward(params, &x, m, u32::MAX, &carry, &mut tape, &mut scratch, &mut refs).unwrap();
    outs
}

/// What the twin says of a minibatch: the loss of each task, with the targets of other parameters than it is asked about.
struct Drawn {
    sequences: Vec<Vec<Past>>,
    classes: Vec<(Vec<Past>, usize)>,
    /// Of each step of each sequence, what its value and its cells should be; none where nothing is learnt.
    values: Vec<Vec<Option<f64>>>,
    cells: Vec<Vec<Option<Vec<f64>>>>,
}

/// Values of choices of the cells of a row.
fn q_of(outs: &[Vec<f32>], row: usize) -> Vec<[f64; ACTIONS]> {
    let (a, v) = (&outs[2][row * CELLS * ACTIONS..][..CELLS * ACTIONS], &outs[3][row * CELLS..][..CELLS]);
    let cell = |(a, v): (&[f32], &f32)| {
        let mean = a.iter().map(|&x| f64::from(x)).sum::<f64>() / ACTIONS as f64;
        core::array::from_fn(|k| f64::from(*v) + f64::from(a[k]) - mean)
    };
    a.chunks(ACTIONS).zip(v).map(cell).collect()
}

fn best_of(outs: &[Vec<f32>], row: usize) -> Vec<f64> {
    q_of(outs, row).iter().map(|q| q.iter().fold(f64::MIN, |a, b| a.max(*b))).collect()
}

fn changes_of(a: &Past, b: &Past) -> Vec<f64> {
    let pixel = |y: usize, x: usize| f64::from(a.obs[y * 10 + x].abs_diff(b.obs[y * 10 + x])) / 255.0;
    let cell = |i: usize| (0..4).map(|k| pixel(1 + i / 4 * 2 + k / 2, 1 + i % 4 * 2 + k % 2)).fold(0.0, f64::max);
    (0..CELLS).map(cell).collect()
}

impl Drawn {
    /// Draws from the last steps as documented, and makes targets with these parameters.
    fn new(config: &Config, past: &[Vec<Past>], rng: &mut Rng, params: &[f32]) -> Drawn {
        let (steps, keep) = (config.replay_len(), config.history_len as usize);
        let held: Vec<&[Past]> = past.iter().map(|p| &p[p.len().saturating_sub(keep)..]).collect();
        let total: usize = held.iter().map(|p| p.len().saturating_sub(steps)).sum();
        let mut sequences = Vec::new();
        for _ in 0..if total > 0 { config.num_replays() } else { 0 } {
            let at = rng.bounded(total as u64 - 1) as usize;
            let starts = held.iter().flat_map(|p| (0..p.len().saturating_sub(steps)).map(move |i| &p[i..=i + steps]));
            sequences.push(starts.clone().nth(at).unwrap().to_vec());
        }
        let mut classes = Vec::new();
        if config.reward_class_coef > 0.0 {
            let all = held.iter().flat_map(|p| p.windows(FRAMES));
            let whole: Vec<&[Past]> = all.filter(|w| w[..FRAMES - 1].iter().all(|p| p.ends == 0)).collect();
            let (pay, none): (Vec<&[Past]>, Vec<&[Past]>) =
                whole.into_iter().partition(|w| w[FRAMES - 1].reward != 0.0);
            for _ in 0..if pay.is_empty() && none.is_empty() { 0 } else { config.num_replays() } {
                let coin = rng.coin();
                let from = if none.is_empty() || (coin && !pay.is_empty()) { &pay } else { &none };
                let own = from[rng.bounded(from.len() as u64 - 1) as usize];
                let reward = own[FRAMES - 1].reward;
                let class =
                    if reward > config.reward_threshold { 2 } else { usize::from(reward >= -config.reward_threshold) };
                classes.push((own.to_vec(), class));
            }
        }
        let mut drawn = Drawn { sequences, classes, values: Vec::new(), cells: Vec::new() };
        for sequence in &drawn.sequences {
            let rows: Vec<&Past> = sequence.iter().collect();
            let outs = run(config, params, &rows, config.sequence_len > 0);
            let discount = f64::from(config.discount);
            let mut value = f64::from(outs[1][steps]);
            let has_cells = config.pixel_control_coef > 0.0;
            let mut cells = if has_cells { best_of(&outs, steps) } else { Vec::new() };
            let (mut values, mut targets) = (vec![None; steps], vec![None; steps]);
            for i in (0..steps).rev() {
                let (own, v) = (&sequence[i], f64::from(outs[1][i]));
                let reward = f64::from(own.reward);
                value = match own.ends {
                    0 => reward + discount * value,
                    1 => reward,
                    2 => reward + discount * f64::from(own.final_value),
                    _ => v,
                };
                values[i] = (own.ends != 3).then_some(value);
                if has_cells && own.ends == 0 {
                    let change = changes_of(own, &sequence[i + 1]);
                    let discount = f64::from(config.pixel_control_discount);
                    cells = change.iter().zip(&cells).map(|(c, next)| c + discount * next).collect();
                    targets[i] = Some(cells.clone());
                } else if has_cells {
                    cells = if own.ends == 1 { vec![0.0; CELLS] } else { best_of(&outs, i) };
                }
            }
            drawn.values.push(values);
            drawn.cells.push(targets);
        }
        drawn
    }

    /// Losses of cells, classes and values, not weighed.
    fn losses(&self, config: &Config, params: &[f32]) -> [f64; 3] {
        let layers = network(config);
        let mut nodes = vec![Node::default(); layers.len()];
        let net = Net::compile(&layers, [SIDE as usize, SIDE as usize, 1], &mut nodes).unwrap();
        let share = 1.0 / (config.num_replays() * config.replay_len()) as f64;
        let mut losses = [0.0; 3];
        for ((sequence, values), cells) in self.sequences.iter().zip(&self.values).zip(&self.cells) {
            let rows: Vec<&Past> = sequence.iter().collect();
            let outs = run(config, params, &rows, config.sequence_len > 0);
            for (i, (value, cells)) in values.iter().zip(cells).enumerate() {
                if let Some(value) = value {
                    losses[2] += (f64::from(outs[1][i]) - value).powi(2) * share;
                }
                if let Some(cells) = cells {
                    let q = q_of(&outs, i);
                    losses[0] +=
                        q.iter().zip(cells).map(|(q, c)| (q[sequence[i].choice as usize] - c).powi(2)).sum::<f64>()
                            * share;
                }
            }
        }
        for (frames, class) in &self.classes {
            let rows: Vec<&Past> = frames.iter().collect();
            let outs = run(config, params, &rows, false);
            let (head, width) = (net.num_heads() - 1, FRAMES * CLASS_UNITS);
            let free = &params[net.free_params(head)];
            let hidden = |u: usize| {
                let sum = (0..FRAMES).map(|k| f64::from(outs[head][k * width + k * CLASS_UNITS + u])).sum::<f64>()
                    + f64::from(free[u]);
                if sum > 0.0 { sum } else { sum.exp() - 1.0 }
            };
            let logit = |k: usize| {
                let weights = &free[CLASS_UNITS * (1 + k)..][..CLASS_UNITS];
                let bias = f64::from(free[CLASS_UNITS * (1 + CLASSES) + k]);
                weights.iter().enumerate().map(|(u, w)| f64::from(*w) * hidden(u)).sum::<f64>() + bias
            };
            let logits = [logit(0), logit(1), logit(2)];
            let all = logits.iter().map(|x| x.exp()).sum::<f64>().ln();
            losses[1] += (all - logits[*class]) / config.num_replays() as f64;
        }
        losses
    }

    fn total(&self, config: &Config, params: &[f32]) -> f64 {
        let weights = [config.pixel_control_coef, config.reward_class_coef, config.value_replay_coef];
        self.losses(config, params).iter().zip(weights).map(|(loss, weight)| loss * f64::from(weight)).sum()
    }
}

/// Losses and gradients of the tasks: what is drawn, what the targets are, and where the gradients go.
#[test]
fn tasks_are_those_of_the_formula() {
    for (config, mask) in
        [(unreal(), 1), (unreal(), 2), (unreal(), 4), (unreal(), 7), (with_state(), 5), (with_state(), 7)]
    {
        let config = Config { num_replayed: if mask == 7 { 4 } else { 0 }, ..only(mask, config) };
        let (mut tasks, mut plain) = (Twin::new(&config), Twin::new(&only(0, config)));
        let len = plain.h.view().params().len();
        let mut draws = Rng::stream(config.seed, 4 << 32);
        let mut seen = [0usize; 4];
        for update in 0..6 {
            tasks.begin();
            plain.begin();
            let batch = learn_host::Columns::read(&mut tasks.h);
            let width = tasks.h.view().state_len();
            for (env, past) in tasks.past.iter_mut().enumerate() {
                let first = past.len() - config.num_steps as usize;
                for (t, own) in past[first..].iter_mut().enumerate() {
                    own.state = batch.state[(t * config.num_envs as usize + env) * width..][..width].to_vec();
                }
            }
            let params = tasks.h.view().params().to_vec();
            let drawn = Drawn::new(&config, &tasks.past, &mut draws, &params);
            drawn.sequences.iter().flatten().for_each(|p| seen[p.ends as usize] += 1);
            let (with, without) = (chunks(&tasks.h, 0, 1), chunks(&plain.h, 0, 1));
            let (mut grads, losses) = (with[..params.len()].to_vec(), &with[params.len() + 5..]);
            grads.iter_mut().zip(&without[..len]).for_each(|(a, b)| *a -= b);
            if mask != 2 && update == 0 {
                // A step is missing.
                assert!(drawn.sequences.is_empty());
            }
            for (i, (got, want)) in losses.iter().zip(drawn.losses(&config, &params)).enumerate() {
                let want = if mask >> i & 1 == 1 { want } else { 0.0 };
                assert!((f64::from(*got) - want).abs() < 1e-5 * want.max(1.0), "loss {i}: {got}, not {want}");
            }
            // Along random directions, of all parameters and of those of each layer.
            let layers = network(&config);
            let mut nodes = vec![Node::default(); layers.len()];
            let net = Net::compile(&layers, [SIDE as usize, SIDE as usize, 1], &mut nodes).unwrap();
            assert_eq!(net.param_len(), params.len());
            let mut ranges: Vec<_> = (0..layers.len()).map(|i| net.params_of(i).unwrap()).collect();
            ranges.push(0..params.len());
            for (at, range) in ranges.into_iter().enumerate() {
                let mut rng = Rng::seeded(range.start as u64);
                let mut direction = vec![0.0f32; params.len()];
                direction[range.clone()].fill_with(|| rng.uniform_f32() - 0.5);
                let step = 2e-3f32;
                let moved = |by: f32| params.iter().zip(&direction).map(|(p, d)| p + by * d).collect::<Vec<_>>();
                let [up, down] = [step, -step].map(|by| drawn.total(&config, &moved(by)));
                let slope = (up - down) / (2.0 * f64::from(step));
                let along = |g: &f32, d: &f32| f64::from(*g) * f64::from(*d);
                let got: f64 = grads.iter().zip(&direction).map(|(g, d)| along(g, d)).sum();
                let size: f64 =
                    grads[range.clone()].iter().zip(&direction[range]).map(|(g, d)| along(g, d).powi(2)).sum();
                assert!(
                    (got - slope).abs() < 3e-3 + 0.02 * size.sqrt(),
                    "mask {mask}, update {update}, {at}: {got}, not {slope}"
                );
            }
            tasks.h.learner().learn(None, 0).unwrap();
            plain.h.learner().learn(None, 0).unwrap();
            let params = tasks.h.view().params()[..len].to_vec();
            plain.h.learner().write_params(&params).unwrap();
        }
        assert!(mask == 2 || seen[1] > 0 && seen[2] > 0, "{seen:?}");
    }
}

/// The whole learner, its past and its draws are the same however an update is cut, and wherever it was saved.
#[test]
fn slices_threads_and_copies_leave_the_same_bits() {
    for base in [unreal(), with_state()] {
        for num_chunks in [1, 2, 3] {
            let config = Config { num_chunks, num_replayed: 5, num_minibatches: 1, ..base };
            let mut whole = Twin::new(&config);
            let mut sliced = Twin::new(&config);
            let mut shared = Twin::new(&config);
            for _ in 0..4 {
                for twin in [&mut whole, &mut sliced, &mut shared] {
                    twin.begin();
                }
                whole.h.learner().learn(None, 0).unwrap();
                while sliced.h.learner().stats().minibatches_left > 0 {
                    // As another process that was handed the bytes.
                    sliced.h = sliced.h.clone();
                    sliced.h.learner().learn(None, 1).unwrap();
                }
                let grads = threads(&shared.h, num_chunks.min(2) as usize);
                shared.h.learner().write_grads(0, num_chunks as usize, &grads).unwrap();
                shared.h.learner().learn_apply().unwrap();
            }
            let params = |t: &Twin| t.h.view().params().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(params(&whole) == params(&sliced) && params(&whole) == params(&shared), "{num_chunks} chunks");
            assert!(whole.h.block == sliced.h.block, "{num_chunks} chunks");
        }
    }
}

/// Seven chunks and a number of sequences that they do not divide: the gradients of one chunk, but for rounding.
#[test]
fn chunks_add_up_to_the_same_gradient() {
    let sums = [1u32, 2, 3, 7].map(|num_chunks| {
        let config = Config { num_chunks, num_replayed: 5, ..unreal() };
        let mut twin = Twin::new(&config);
        // The first update has no sequence.
        twin.begin();
        twin.h.learner().learn(None, 0).unwrap();
        let params = Twin::new(&config).h.view().params().to_vec();
        twin.h.learner().write_params(&params).unwrap();
        twin.begin();
        let all = chunks(&twin.h, 0, num_chunks as usize);
        let width = all.len() / num_chunks as usize;
        (0..width).map(|i| all.iter().skip(i).step_by(width).map(|&x| f64::from(x)).sum::<f64>()).collect::<Vec<_>>()
    });
    for sum in &sums[1..] {
        for (a, b) in sums[0].iter().zip(sum) {
            assert!((a - b).abs() < 1e-5 + 1e-4 * a.abs(), "{a}, {b}");
        }
    }
}

/// An episode that is given up ends the past of its environment, and what its last step led to is not learnt.
#[test]
fn what_was_given_up_is_not_learnt() {
    let config = only(5, unreal());
    let mut twin = Twin::new(&config);
    for _ in 0..5 {
        let obs = twin.h.draw_obs(&mut twin.rng);
        twin.h.learner().act(None, obs.get(), None, ElementsMut::I32(&mut [0; 3])).unwrap();
        twin.h.learner().observe(None, &[0.5; 3], &[0; 3], &[0; 3], None).unwrap();
        twin.h.learner().cut_rows(&[0, 1, 0]).unwrap();
    }
    train(&mut twin.h, &mut Rng::seeded(2), 5);
    assert!(twin.h.view().params().iter().all(|x| x.is_finite()));
    assert_eq!(twin.h.learner().stats().num_dropped, 0);
}

/// A policy knows nothing of the tasks: it is as long as that of A2C, and its network is the same.
#[test]
fn a_policy_has_no_auxiliary_layers() {
    let policies = [7, 0].map(|mask| {
        let config = only(mask, unreal());
        let h = host(&config);
        let view = h.view();
        let mut policy = vec![0u64; view.policy_size().unwrap().div_ceil(8)];
        view.export(bytemuck::cast_slice_mut(&mut policy)).unwrap();
        Policy::attach(bytemuck::cast_slice(&policy)).unwrap();
        policy
    });
    assert!(policies[0] == policies[1]);
}

/// Dense layers that make a picture, as the head of pixel control does of 4 × 4 cells and more.
#[test]
fn cells_of_every_number_have_a_head() {
    for side in [3, 4, 5, 6, 7, 8, 9, 11, 14, 42] {
        for pixel_cell in [1, 2, 3, 4] {
            let config = Config { obs_dims: [side, side + 1, 1], num_layers: 1, pixel_cell, ..unreal() };
            let (obs, action) = (Space::bytes(side * (side + 1)), Space::discrete(&[2]));
            let mut h = Host::with(&config, &[Layer::dense(6, Activation::Tanh)], &obs, &action);
            if side < 9 {
                train(&mut h, &mut Rng::seeded(3), 3);
            }
            assert_eq!(h.learner().stats().num_dropped, 0);
        }
    }
}

#[test]
fn refusals_say_what_is_needed() {
    type Spoil = fn(&mut Config);
    let bad: [(&str, Spoil); 15] = [
        ("pixel_control_coef of at least 0", |c| c.pixel_control_coef = -1.0),
        ("reward_class_coef of at least 0", |c| c.reward_class_coef = f32::NAN),
        ("value_replay_coef of at least 0", |c| c.value_replay_coef = f32::INFINITY),
        ("pixel_control_discount in [0, 1]", |c| c.pixel_control_discount = 1.5),
        ("reward_threshold of at least 0", |c| c.reward_threshold = -0.1),
        ("pixel_mean of 0 or 1", |c| c.pixel_mean = 2),
        ("an algorithm other than UNREAL", |c| c.algorithm = Algorithm::A2c as u32),
        ("overlap of 0", |c| c.overlap = 1),
        ("num_stacked of 0", |c| c.num_stacked = 2),
        ("pixel_cell of at least 1", |c| c.pixel_cell = 0),
        ("reward_sequence_len of 1 to 16", |c| c.reward_sequence_len = 0),
        ("reward_sequence_len of 1 to 16", |c| c.reward_sequence_len = 17),
        ("history_len of at least a sequence", |c| c.history_len = 6),
        ("below 2^31", |c| c.history_len = u32::MAX / 2),
        ("obs_dims with pixel_control_coef", |c| c.obs_dims = [0; 3]),
    ];
    let (obs, action) = spaces();
    for (i, (word, spoil)) in bad.iter().enumerate() {
        let mut config = unreal();
        spoil(&mut config);
        let layers = [Layer::dense(4, Activation::Tanh), Layer::dense(12, Activation::Tanh)];
        let error = Learner::size(&config, &layers, &obs, &action).unwrap_err();
        assert!(error.what.contains(word), "case {i}: {error}");
    }
    for action in [Space::discrete(&[3, 2]), Space::unbounded(2)] {
        let error = Learner::size(&unreal(), &layers(&unreal()), &obs, &action).unwrap_err();
        assert!(error.kind == Kind::Config && error.what.contains("actions of one choice"), "{error}");
        // The other tasks take them.
        Learner::size(&only(6, unreal()), &layers(&unreal()), &obs, &action).unwrap();
    }
}

/// Words anywhere in a block that was sealed again: what is accepted, every call takes.
#[test]
fn forged_images_are_refused_or_work() {
    let mut twin = Twin::new(&Config { history_len: 8, num_chunks: 2, ..with_state() });
    twin.begin();
    twin.h.learner().learn(None, 0).unwrap();
    twin.begin();
    twin.h.learner().learn(None, 1).unwrap();
    let good = twin.h.block.clone();
    let words = good.len() * 2;
    let (mut accepted, mut refused) = (0, 0);
    let forged = [0, 1, 2, 7, 8, 0x7fff_ffff, u32::MAX, 0x7fc0_0000, 0x3f80_0000, 0xff7f_ffff];
    let mut rng = Rng::seeded(9);
    // All of the configuration and the layers, and some of the rest.
    let some: Vec<usize> = (0..1500).map(|_| rng.bounded(words as u64 - 11) as usize + 10).collect();
    for at in (10..600).chain(some) {
        let word = forged[rng.bounded(forged.len() as u64 - 1) as usize];
        let mut block = good.clone();
        bytemuck::cast_slice_mut::<u64, u32>(&mut block)[at] = word;
        seal(&mut block);
        let Ok(learner) = Learner::attach(bytemuck::cast_slice_mut(&mut block)) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let (n, shape) = (learner.config().num_envs as usize, *learner.shape());
        if shape.obs_u8() && n * shape.obs_len as usize <= 1 << 16 && shape.discrete() {
            let obs = vec![7; n * shape.obs_len as usize];
            let mut action = vec![0; n * shape.action_len as usize];
            for _ in 0..12 {
                let mut learner = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
                let done = match learner.phase() {
                    Phase::Act => learner.act(None, Elements::U8(&obs), None, ElementsMut::I32(&mut action)),
                    Phase::Observe => {
                        let acted = learner.acted().to_vec();
                        let (reward, ends) = (vec![1.0; n], vec![0; n]);
                        learner.observe(Some(&acted), &reward, &ends, &ends, None)
                    }
                    Phase::Learn => learner.learn(Some(Elements::U8(&obs)), 0).map(drop),
                };
                assert!(
                    done.is_ok_and(|()| true) || done.is_err_and(|e| e.kind == Kind::Value || e.kind == Kind::Shape)
                );
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}
