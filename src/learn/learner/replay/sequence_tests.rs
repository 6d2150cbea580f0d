//! Gradient steps over sequences of a replay store, against their definition.

extern crate std;
use crate::learn::algorithm;
use crate::learn::algorithm::unroll::Of;
use crate::learn::config::{Algorithm, Config};
use crate::learn::learner::layout::Scratch;
use crate::learn::learner::{Learner, Phase};
use crate::nn::{ALL, Activation, HEAD, INPUT, Layer, LayerKind, Net, Node};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field, Space};
use bytemuck::Zeroable;
use core::mem;
use std::vec;
use std::vec::Vec;

const N: usize = 3;
const OBS: usize = 3;

/// A step as the host knows it.
struct Step {
    obs: [f32; OBS],
    last: [f32; OBS],
    choice: usize,
    vector: f32,
    reward: f32,
    /// 0: the episode goes on; 1: it terminated, 2: was truncated, 3: the agent was removed.
    ends: u8,
    /// The state that was recorded before it.
    state: Vec<f32>,
}

/// Everything that was played, by environment.
struct Log([Vec<Step>; N]);

/// A step of an environment.
type At = (usize, usize);

fn config(algorithm: Algorithm, n_step: u32, burn_in: u32) -> Config {
    let own = Config::of(algorithm);
    Config {
        // Next actions of TD3 without noise; what the others do not read stays as it is.
        target_noise: if algorithm == Algorithm::Td3 { 0.0 } else { own.target_noise },
        temperature: if algorithm == Algorithm::Sac { 0.3 } else { own.temperature },
        num_envs: N as u32,
        num_layers: 2,
        num_hidden: 1,
        hidden_len: [5, 0, 0, 0],
        activation: Activation::Tanh as u32,
        sequence_len: 4,
        burn_in,
        n_step,
        num_chunks: 2,
        buffer_size: 90,
        batch_size: 5 * 4,
        learning_starts: 40,
        train_interval: 30,
        gradient_steps: 2,
        target_rate: 0.5,
        discount: 0.9,
        huber: 0,
        learning_rate: 0.02,
        priority_exponent: 0.5,
        ..own
    }
}

fn play(l: &mut Learner<'_>, log: &mut Log, rng: &mut Rng) {
    let width = l.sizes.state_len();
    let mut obs = [0.0; N * OBS];
    obs.fill_with(|| 2.0 * rng.uniform_f32() - 1.0);
    let (mut choice, mut vector) = ([0; N], [0.0; N]);
    let states: Vec<Vec<f32>> = (0..N)
        .map(|i| if l.begins[i] != 0 { vec![0.0; width] } else { l.carry[i * width..][..width].to_vec() })
        .collect();
    let to = if l.shape().discrete() { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
    l.act(None, Elements::F32(&obs), None, to).unwrap();
    let last = obs.map(|x| 0.5 - x);
    let reward = obs.as_chunks::<OBS>().0.iter().map(|x| x[0] + 0.5).collect::<Vec<_>>();
    let ends = [(); N].map(|()| if rng.bounded(5) == 0 { 1 + rng.bounded(1) as u8 } else { 0 });
    let gone = ends.map(|ends| u8::from(ends == 0 && rng.bounded(8) == 0));
    l.cut_rows(&gone).unwrap();
    let active = gone.map(|gone| 1 - gone);
    let [terminated, truncated] = [1, 2].map(|kind| ends.map(|ends| u8::from(ends == kind)));
    l.observe(Some(&active), &reward, &terminated, &truncated, Some(Elements::F32(&last)), None).unwrap();
    for (i, state) in states.into_iter().enumerate() {
        if gone[i] != 0 {
            // What the agent had not seen the result of never was.
            if let Some(step) = log.0[i].last_mut().filter(|step| step.ends == 0) {
                step.ends = 3;
            }
            continue;
        }
        log.0[i].push(Step {
            obs: obs.as_chunks().0[i],
            last: last.as_chunks().0[i],
            choice: choice[i] as usize,
            vector: vector[i],
            reward: reward[i],
            ends: ends[i],
            state,
        });
    }
}

/// The gradient step of a learner as its definition has it.
struct Twin<'t, 'l> {
    l: &'t Learner<'l>,
    log: &'t Log,
    /// Steps that the store holds, by environment.
    held: [Vec<usize>; N],
}

impl Twin<'_, '_> {
    fn step(&self, (env, t): At) -> &Step {
        &self.log.0[env][t]
    }

    fn find(log: &Log, obs: &[f32]) -> Option<At> {
        (0..N).find_map(|env| Some((env, log.0[env].iter().position(|step| step.obs == *obs)?)))
    }

    fn new<'t, 'l>(l: &'t Learner<'l>, log: &'t Log) -> Twin<'t, 'l> {
        let mut held = [const { Vec::new() }; N];
        for slot in 0..l.view().stored() {
            // The last step of a removed agent may be in the store without a result that the host has seen.
            let (env, t) = Self::find(log, &l.replay.store.obs[slot * OBS..][..OBS]).unwrap();
            held[env].push(t);
        }
        held.iter_mut().for_each(|steps| steps.sort_unstable());
        Twin { l, log, held }
    }

    /// The steps of the sequence that ends with this one.
    fn sequence(&self, end: At) -> Vec<At> {
        let (env, t) = end;
        let place = self.held[env].iter().position(|held| *held == t).unwrap();
        let len = self.l.config.sequence_steps();
        (0..len).map(|i| (env, self.held[env][(place + 1 + i).saturating_sub(len)])).collect()
    }

    /// Whether a step continues the episode of the one before it.
    fn goes_on(&self, before: At, at: At) -> bool {
        before.0 == at.0 && before.1 + 1 == at.1 && self.step(before).ends == 0
    }

    fn run(&self, of: Of, params: &[f32], vector: f32, obs: &[f32], state: &mut [f32]) -> Vec<f64> {
        let net = if of == Of::Policy { &self.l.sizes.net } else { &self.l.sizes.critic };
        let joined = [obs, &[vector]].concat();
        let x = if of == Of::Critic && !self.l.shape().discrete() { &joined[..] } else { obs };
        let mut outs = [vec![0.0; net.head_len(0)], vec![0.0; net.head_len(1)]];
        let mut to: Vec<&mut [f32]> = outs.iter_mut().map(|out| &mut out[..]).take(net.num_heads()).collect();
        let mut scratch = vec![0.0; net.infer_scratch_len(1)];
        net.infer(params, x, 1, ALL, state, &mut scratch, &mut to).unwrap();
        outs.concat().iter().map(|x| f64::from(*x)).collect()
    }

    fn recorded(&self, of: Of, at: At) -> Vec<f32> {
        let step = self.step(at);
        if of == Of::Policy { step.state.clone() } else { vec![0.0; step.state.len()] }
    }

    /// The state before row `row` of a sequence, whose burn-in has these parameters as they are.
    fn before(&self, of: Of, [params, fixed]: [&[f32]; 2], steps: &[At], row: usize) -> Vec<f32> {
        let mut first = row;
        while first > 0 && self.goes_on(steps[first - 1], steps[first]) {
            first -= 1;
        }
        let mut at = steps[first];
        for _ in 0..if first == 0 { self.l.config.burn_in } else { 0 } {
            let before = (at.0, at.1.wrapping_sub(1));
            if !(self.held[at.0].contains(&before.1) && self.goes_on(before, at)) {
                break;
            }
            at = before;
        }
        let mut state = self.recorded(of, at);
        while at != steps[row] {
            let params = if at.1 < steps[first].1 { fixed } else { params };
            self.run(of, params, self.step(at).vector, &self.step(at).obs, &mut state);
            at.1 += 1;
        }
        state
    }

    /// The state in the next observation of a row, the observation, its discount and the sum of rewards; `None` if steps on
    /// the way are not in the sequence.
    fn next(&self, of: Of, params: &[f32], steps: &[At], row: usize) -> Option<(Vec<f32>, [f32; OBS], f64, f64)> {
        let c = self.l.config;
        let (mut state, mut at) = (self.before(of, [params; 2], steps, row), steps[row]);
        let (mut discount, mut reward) = (1.0, 0.0);
        for k in 0..c.n_step as usize {
            if k > 0 && steps.get(row + k) != Some(&at) {
                return None;
            }
            let step = self.step(at);
            self.run(of, params, step.vector, &step.obs, &mut state);
            reward += discount * f64::from(step.reward);
            discount *= f64::from(c.discount);
            if step.ends == 1 || step.ends == 2 {
                return Some((state, step.last, if step.ends == 1 { 0.0 } else { discount }, reward));
            }
            at.1 += 1;
        }
        // The observation that the next step acted on, which a removed agent may never have had the result of.
        let next = self.l.replay.store.next_obs.as_chunks().0;
        let own = |slot: &usize| self.l.replay.store.obs.as_chunks::<OBS>().0[*slot] == self.step(steps[row]).obs;
        Some((state, next[(0..next.len()).find(own).unwrap()], discount, reward))
    }

    fn best(of: &[f64]) -> usize {
        (0..of.len()).max_by(|a, b| of[*a].total_cmp(&of[*b])).unwrap()
    }

    /// The loss of Q, of the critics, or of the policy in these parameters.
    fn loss(&self, params: &[f32]) -> f64 {
        let (c, l, net) = (self.l.config, self.l, self.l.sizes.net.param_len());
        let mut sum = 0.0;
        for (number, end) in l.replay.sequence.iter().enumerate() {
            let end = Self::find(self.log, &l.replay.store.obs[*end as usize * OBS..][..OBS]).unwrap();
            let steps = self.sequence(end);
            for row in 0..c.sequence_rows() {
                sum += self.importance(number, row) * self.row(params, net, &steps, row);
            }
        }
        sum / f64::from(c.batch_size)
    }

    /// The importance that was drawn for a row.
    fn importance(&self, number: usize, row: usize) -> f64 {
        let c = self.l.config;
        let mut first = 0;
        for chunk in 0..c.num_chunks {
            let (begin, end) = c.batch_part(chunk);
            let sequences = (end - begin) / c.sequence_rows();
            if number < first + sequences {
                let all = &self.l.replay.importance[begin..end];
                return if self.l.state.updating > 1 { 1.0 } else { all[row * sequences + number - first].into() };
            }
            first += sequences;
        }
        unreachable!()
    }

    fn row(&self, params: &[f32], net: usize, steps: &[At], row: usize) -> f64 {
        let (c, l, step) = (self.l.config, self.l, self.step(steps[row]));
        let (len, obs) = (l.sizes.critic.param_len(), &step.obs);
        let critic = |all: &'_ [f32], i: usize| all[net + i * len..][..len].to_vec();
        let discrete = l.shape().discrete();
        let temperature = f64::from(l.view().temperature());
        let v = &*l.replay.target;
        if !c.needs().critics {
            let Some((mut state, next, discount, reward)) = self.next(Of::Policy, &l.params[..net], steps, row) else {
                return 0.0;
            };
            let choice = Self::best(&self.run(Of::Policy, l.params, 0.0, &next, &mut state));
            let (mut state, ..) = self.next(Of::Policy, v, steps, row).unwrap();
            let value = self.run(Of::Policy, v, 0.0, &next, &mut state)[choice];
            let mut state = self.before(Of::Policy, [params, l.params], steps, row);
            let own = self.run(Of::Policy, params, 0.0, obs, &mut state)[step.choice];
            return (own - reward - discount * value).powi(2);
        }
        if l.state.updating > 1 {
            let mut state = self.before(Of::Policy, [params, l.params].map(|all| &all[..net]), steps, row);
            let said = self.run(Of::Policy, &params[..net], 0.0, obs, &mut state);
            let action = if discrete { 0.0 } else { said[0].tanh() as f32 };
            let values = [0, 1].map(|i| {
                let own = critic(l.params, i);
                let mut state = self.before(Of::Critic, [&own, &critic(l.params, i)], steps, row);
                self.run(Of::Critic, &own, action, obs, &mut state)
            });
            if !discrete {
                return -values[0][0];
            }
            return soft(&said)
                .iter()
                .enumerate()
                .map(|(k, log)| log.exp() * (temperature * log - values[0][k].min(values[1][k])))
                .sum();
        }
        let own = if discrete { &l.params[..net] } else { &v[..net] };
        let Some((mut state, next, discount, reward)) = self.next(Of::Policy, own, steps, row) else { return 0.0 };
        let said = self.run(Of::Policy, own, 0.0, &next, &mut state);
        let action = if discrete { 0.0 } else { said[0].tanh() as f32 };
        let values = [0, 1].map(|i| {
            let own = critic(v, i);
            let (mut state, ..) = self.next(Of::Critic, &own, steps, row).unwrap();
            self.run(Of::Critic, &own, action, &next, &mut state)
        });
        let value = match discrete {
            false => values[0][0].min(values[1][0]),
            true => soft(&said)
                .iter()
                .enumerate()
                .map(|(k, log)| log.exp() * (values[0][k].min(values[1][k]) - temperature * log))
                .sum(),
        };
        (0..2)
            .map(|i| {
                let own = critic(params, i);
                let mut state = self.before(Of::Critic, [&own, &critic(l.params, i)], steps, row);
                let said = self.run(Of::Critic, &own, step.vector, obs, &mut state);
                (said[if discrete { step.choice } else { 0 }] - reward - discount * value).powi(2)
            })
            .sum()
    }
}

fn soft(logits: &[f64]) -> Vec<f64> {
    let sum: f64 = logits.iter().map(|x| x.exp()).sum();
    logits.iter().map(|x| x - sum.ln()).collect()
}

/// The sums of the records of all chunks.
fn record(l: &mut Learner<'_>) -> Vec<f32> {
    let mut sum = vec![0.0f32; l.sizes.record_len];
    for chunk in 0..l.config.num_chunks {
        let mut work = mem::take(&mut l.work);
        let mut own = vec![0.0; sum.len()];
        let view = l.view();
        let to: &mut Scratch<'_> = &mut work;
        algorithm::chunk(&view.context(chunk, None).unwrap(), to, &mut own).unwrap();
        sum.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
        l.work = work;
    }
    sum
}

fn compare(l: &mut Learner<'_>, log: &Log, rng: &mut Rng) {
    let got = record(l);
    let twin = Twin::new(l, log);
    let wanted = twin.loss(l.params);
    let loss = f64::from(got[l.params.len()]);
    assert!((loss - wanted).abs() < 1e-4 * (1.0 + wanted.abs()), "{loss} {wanted} {:?}", l.config);
    let (mut params, net, h) = (l.params.to_vec(), l.sizes.net.param_len(), 4e-3f32);
    let policy = !l.config.needs().critics || l.state.updating > 1;
    let range = if policy { 0..net } else { net..params.len() };
    for _ in 0..12 {
        let i = range.start + rng.bounded((range.len() - 1) as u64) as usize;
        let own = params[i];
        let mut at = |x: f32| {
            params[i] = x;
            twin.loss(&params)
        };
        let slope = (at(own + h) - at(own - h)) / f64::from((own + h) - (own - h));
        params[i] = own;
        let tolerance = 2e-3 + 0.02 * slope.abs();
        assert!((f64::from(got[i]) - slope).abs() < tolerance, "{i}: {} {slope} {:?}", got[i], l.config);
    }
}

/// An observation of two fields, and layers that see the first of them and remember both.
const FIELDS: [Field<'static>; 2] = [Field::new("", Element::F32, &[2], 0), Field::new("", Element::F32, &[1], 8)];

fn of_fields(cell: LayerKind) -> [Layer; 3] {
    let first = Layer { source: [INPUT + 1, 0], ..Layer::dense(4, Activation::Tanh) };
    let both = Layer::merge(LayerKind::Join, [1, INPUT + 2], Activation::Identity);
    [first, both, Layer::recurrent(cell, 3)]
}

/// Critics of observations of several fields are the network that this test puts together: the action is the part after the
/// fields, and follows the listed layers. A layer that would read fields and action together is refused.
#[test]
#[cfg(feature = "residual")]
fn actions_follow_the_layers_of_fields() {
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        let config = Config { num_layers: 3, ..config(algorithm, 1, 0) };
        let (obs, action) = (Space::unbounded(OBS as u32).with_fields(&FIELDS), Space::unbounded(1));
        let listed = of_fields(LayerKind::Gru);
        let mut block = vec![0u64; Learner::size(&config, &listed, &obs, &action).unwrap() / 8];
        let l = Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &listed, &obs, &action).unwrap();
        let after = [
            Layer::merge(LayerKind::Join, [3, INPUT + 3], Activation::Identity),
            Layer::dense(5, Activation::Tanh),
            Layer { flags: HEAD, ..Layer::dense(1, Activation::Identity) },
        ];
        let all: Vec<Layer> = listed.into_iter().chain(after).collect();
        let mut nodes = vec![Node::zeroed(); all.len()];
        let net = Net::compile_parts(&all, [1, 1, 4], &[[1, 1, 2], [1, 1, 1], [1, 1, 1]], &mut nodes).unwrap();
        let critic = &l.sizes.critic;
        let params = &l.params[l.sizes.net.param_len()..][..critic.param_len()];
        assert_eq!(net.param_len(), params.len());
        let (mut rng, mut states) = (Rng::seeded(3), [[0.0; 3]; 2]);
        for _ in 0..20 {
            let x = [(); 4].map(|()| 2.0 * rng.uniform_f32() - 1.0);
            let mut values = [[f32::NAN]; 2];
            for ((net, state), value) in [critic, &net].into_iter().zip(&mut states).zip(&mut values) {
                let mut scratch = vec![0.0; net.infer_scratch_len(1)];
                net.infer(params, &x[..], 1, ALL, state, &mut scratch, &mut [value]).unwrap();
            }
            assert!(values[0] == values[1] && states[0] == states[1]);
        }
        let reads_all = [Layer::dense(4, Activation::Tanh), listed[1], listed[2]];
        let refused = Learner::size(&config, &reads_all, &obs, &action).unwrap_err();
        assert!(refused.what.contains("layers that read fields, not all of the input"), "{refused}");
    }
}

/// Losses and gradients of steps over sequences are those of the definition, with cuts at the ends of episodes, steps that
/// are missing, burn-in, n-step rewards, and a state of each network of its own.
#[test]
fn steps_over_sequences_are_those_of_the_definition() {
    let layers = |cell: LayerKind| [Layer::dense(4, Activation::Tanh), Layer::recurrent(cell, 3)];
    let algorithms = [(Algorithm::Dqn, true), (Algorithm::Td3, false), (Algorithm::Sac, true)];
    for (algorithm, choices) in algorithms {
        for (n_step, burn_in, cell) in [(1, 0, LayerKind::Gru), (1, 3, LayerKind::Lstm), (3, 2, LayerKind::Gru)] {
            // Observations of two fields are learned from with all kinds of critics, too.
            let fields = n_step == 3 && cfg!(feature = "residual");
            let layers = if fields { of_fields(cell).to_vec() } else { layers(cell).to_vec() };
            let config = Config { num_layers: layers.len() as u32, ..config(algorithm, n_step, burn_in) };
            let obs = Space::unbounded(OBS as u32).with_fields(if fields { &FIELDS } else { &[] });
            let action = if choices { Space::discrete(&[3]) } else { Space::unbounded(1) };
            let mut block = vec![0u64; Learner::size(&config, &layers, &obs, &action).unwrap() / 8];
            let mut l = Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &layers, &obs, &action).unwrap();
            let (mut log, mut rng, mut steps) = (Log([const { Vec::new() }; N]), Rng::seeded(7), 0);
            while steps < 6 {
                while l.phase() != Phase::Learn {
                    play(&mut l, &mut log, &mut rng);
                }
                l.learn_begin(None, None).unwrap();
                while l.state.num_left > 0 {
                    compare(&mut l, &log, &mut rng);
                    (0..config.num_chunks).for_each(|_| assert!(l.learn(None, None, 1).is_ok()));
                    steps += 1;
                }
            }
            assert!(l.stats().grad_norm > 0.0);
        }
    }
}
