//! Two algorithms that exist in unit tests only. They show that a second stream of rewards with its own values, and a second
//! loss on rows supplied by the host, need one file and one row each, and no change of the learner or a store.

extern crate std;

use std::vec;
use std::vec::Vec;

use super::ppo::Ppo;
use super::{Algorithm, Needs};
use crate::block::{self, LayoutError};
use crate::data::normalizer::{Limits, normalise};
use crate::data::step::Rewrite;
use crate::error::{Kind, Result};
use crate::learn::actor::Raw;
use crate::learn::actor_config::POLICY;
use crate::learn::config::{self, Config};
use crate::learn::learner::context::{ChunkContext, UpdateContext};
use crate::learn::learner::layout::{LOSSES, Scratch};
use crate::learn::learner::{Learner, Phase, View};
use crate::learn::rows::Rows;
use crate::learn::transition_batch::TransitionBatch;
use crate::nn::Carry;
use crate::space::{Elements, ElementsMut, Space};

/// PPO with an additional non-episodic reward for observations that are rare in the rollout. Its returns have separate values,
/// whose targets are the extra column of the rollout.
pub(super) struct Curious;

/// The head of these values.
const NOVELTY: u32 = 1 << 2;

impl Algorithm for Curious {
    const NEEDS: Needs = Needs { ratios: true, values: 1, numbers: 1, ..Needs::NONE };

    fn begin(u: &mut UpdateContext<'_, '_>) -> Result {
        let (c, sizes) = (u.config, u.sizes);
        u.advantages(c.gae_lambda)?;
        let (o, slots) = (sizes.obs_len, u.slots.clone());
        let mean = mean(block::rows(u.rollout.obs, slots.start, slots.len(), o)?, o);
        let mut chains = vec![None; sizes.n];
        for at in slots.rev() {
            let (env, complete) = u.owner(at)?;
            let obs = block::rows(u.rollout.obs, at, 1, o)?;
            let mut value = [0.0];
            sizes.net.infer(u.params, obs, 1, NOVELTY, &mut [], u.work.scratch, &mut [&mut value])?;
            let [value] = value;
            let chain = chains.get_mut(env).ok_or(LayoutError)?;
            // The value after the last step is unknown; the value before it is used.
            let (next, sum) = chain.unwrap_or((value, 0.0));
            let error = novelty(obs, &mean) + c.discount * next - value;
            let sum = if complete { error + c.discount * c.gae_lambda * sum } else { 0.0 };
            *chain = Some((value, sum));
            if complete {
                *u.rollout.advantage.get_mut(at).ok_or(LayoutError)? += sum;
                *u.rollout.numbers.get_mut(at).ok_or(LayoutError)? = value + sum;
            }
        }
        Ok(())
    }

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
        Ppo::chunk(b, w, record, errors)?;
        let (c, net) = (b.config, &b.sizes.net);
        let (begin, end) = c.chunk(b.chunk);
        let order = b.order.get(begin..end).ok_or(LayoutError)?;
        let (rows, m) = (Rows::new(order, 0), order.len());
        let obs = b.obs(rows, w.obs)?;
        let mut columns = w.scalar.chunks_exact_mut(m.max(1));
        let mut column = || columns.next().ok_or(LayoutError);
        let (value, target, d_value) = (column()?, rows.get(b.rollout.numbers, 1, column()?)?, column()?);
        let tape = block::rows_mut(w.tape, 0, net.tape_len(m), 1)?;
        net.forward(b.params, obs, m, NOVELTY, &Carry::NONE, tape, w.scratch, &mut [&mut *value])?;
        let share = c.value_coef / c.loss_rows() as f32;
        let mut loss = 0.0;
        for ((d_value, value), target) in d_value.iter_mut().zip(&*value).zip(&*target) {
            *d_value = share * (value - target);
            loss += 0.5 * share * (value - target) * (value - target);
        }
        let (grads, losses) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
        *losses.get_mut(1).ok_or(LayoutError)? += loss;
        net.backward(b.params, obs, m, NOVELTY, &Carry::NONE, tape, &[&*d_value], None, grads, w.scratch)
    }
}

fn mean(obs: &[f32], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0; width];
    let rows = obs.len() / width;
    obs.chunks_exact(width).for_each(|obs| mean.iter_mut().zip(obs).for_each(|(sum, x)| *sum += x / rows as f32));
    mean
}

fn novelty(obs: &[f32], mean: &[f32]) -> f32 {
    obs.iter().zip(mean).map(|(x, mean)| (x - mean) * (x - mean)).sum()
}

/// PPO whose policy also learns the choices in rows supplied by the host, in each minibatch, by cross-entropy.
pub(super) struct Imitator;

impl Algorithm for Imitator {
    const NEEDS: Needs = Needs { ratios: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
        Ppo::chunk(b, w, record, errors)?;
        let Some(TransitionBatch { obs, action: Elements::I32(choice), mask, reward, .. }) = b.given else {
            return Ok(());
        };
        let (c, sizes, count) = (b.config, b.sizes, reward.len());
        let bound = |chunk: u32| chunk as usize * count / c.num_chunks as usize;
        let own: Vec<u32> = (bound(b.chunk)..bound(b.chunk + 1)).map(|row| row as u32).collect();
        let (k, flags) = (b.head.lens()[0], sizes.masks);
        let (grads, losses) = record.split_at_mut_checked(b.params.len()).ok_or(LayoutError)?;
        for part in own.chunks(sizes.chunk_rows.max(1)) {
            let (rows, m) = (Rows::new(part, 0), part.len());
            let seen = rows.see(&sizes.seen, *obs, w.obs)?;
            if c.normalize_obs != 0 {
                let [mean, var] = b.moments;
                let limits = Limits { clip: c.obs_clip, ..Limits::default() };
                normalise(mean, var, limits, Rewrite::in_place(seen))?;
            }
            let seen = &*seen;
            let raw = Raw { choice: &*rows.get(choice, k, w.choice)?, vector: &[] };
            let mask = mask.map(|mask| rows.get(mask, flags, w.mask)).transpose()?;
            let outputs = block::rows_mut(w.outputs, 0, m, b.shape.num_outputs as usize)?;
            let d_outputs = block::rows_mut(w.d_outputs, 0, m, b.shape.num_outputs as usize)?;
            let mut columns = w.scalar.chunks_exact_mut(m.max(1));
            let mut column = || columns.next().ok_or(LayoutError);
            let (log_prob, entropy, d_log_prob, d_entropy) = (column()?, column()?, column()?, column()?);
            let tape = block::rows_mut(w.tape, 0, sizes.net.tape_len(m), 1)?;
            let carry = &Carry::NONE;
            sizes.net.forward(b.params, seen, m, POLICY, carry, tape, w.scratch, &mut [&mut *outputs])?;
            b.head.evaluate(outputs, mask.as_deref(), raw, log_prob, entropy)?;
            d_log_prob.fill(-1.0 / count as f32);
            d_entropy.fill(0.0);
            *losses.get_mut(0).ok_or(LayoutError)? -= log_prob.iter().sum::<f32>() / count as f32;
            b.head.gradient(outputs, mask.as_deref(), raw, d_log_prob, d_entropy, d_outputs, &mut [])?;
            sizes.net.backward(b.params, seen, m, POLICY, carry, tape, &[&*d_outputs], None, grads, w.scratch)?;
        }
        Ok(())
    }
}

/// A corridor of this many places, which observations encode one-hot. Choice 1 moves on, 0 returns to the beginning; there are
/// no rewards.
const PLACES: usize = 8;
const N: usize = 4;
const UNITS: usize = 16;

fn config(algorithm: config::Algorithm) -> Config {
    Config {
        num_chunks: 3,
        num_hidden: 1,
        hidden_len: [UNITS as u32, 0, 0, 0],
        learning_rate: 3e-3,
        ..Config::of(algorithm)
    }
}

fn block(config: &Config) -> Vec<u64> {
    let (obs, action) = (Space::unbounded(PLACES as u32), Space::discrete(&[2]));
    let mut block = vec![0u64; Learner::size(config, &[], &obs, &action).unwrap() / 8];
    Learner::init(bytemuck::cast_slice_mut(&mut block), config, &[], &obs, &action).unwrap();
    block
}

fn show(places: &[usize; N]) -> Vec<f32> {
    places.iter().flat_map(|place| (0..PLACES).map(move |i| if i == *place { 1.0 } else { 0.0 })).collect()
}

/// Acts until an update is due, and counts the visits of each place. Environment 0 acts in step `waits` for the last time, and
/// its transition stays pending.
fn walk(learner: &mut Learner<'_>, places: &mut [usize; N], waits: usize) -> [usize; PLACES] {
    let (mut counts, mut step) = ([0; PLACES], 0);
    while learner.phase() != Phase::Learn {
        let [acts, observes] = [step <= waits, step < waits].map(|first| [u8::from(first), 1, 1, 1]);
        let (obs, mut action) = (show(places), [0; N]);
        learner.act(Some(&acts), Elements::F32(&obs), None, ElementsMut::I32(&mut action)).unwrap();
        for ((place, choice), _) in places.iter_mut().zip(action).zip(observes).filter(|(_, observes)| *observes != 0) {
            *place = if choice == 1 { (*place + 1).min(PLACES - 1) } else { 0 };
            counts[*place] += 1;
        }
        learner.observe(Some(&observes), &[0.0; N], &[0; N], &[0; N], None, None).unwrap();
        step += 1;
    }
    counts
}

#[test]
fn rewards_for_novelty_spread_visits_where_the_host_pays_nothing() {
    let least = |algorithm| {
        let (mut block, mut places) = (block(&config(algorithm)), [0; N]);
        let mut learner = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
        let mut sum = [0; PLACES];
        for update in 0..60 {
            let counts = walk(&mut learner, &mut places, usize::MAX);
            if update >= 20 {
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            learner.learn(Some(Elements::F32(&show(&places))), None, 0).unwrap();
        }
        *sum.iter().min().unwrap()
    };
    let (plain, curious) = (least(config::Algorithm::Ppo), least(config::Algorithm::Curious));
    assert!(curious > 3 * plain, "the least visited place: {curious} steps, {plain} without");
}

/// Targets and advantages equal the formula in f64, and the loss adds its derivative to the gradient.
#[test]
fn values_of_the_second_stream_are_those_of_the_formula() {
    second_stream(usize::MAX, 0);
    // The columns of transitions behind the pending one move to its front.
    second_stream(20, 1);
}

fn second_stream(waits: usize, pending: usize) {
    let c = config(config::Algorithm::Curious);
    let (mut block, mut places) = (block(&c), [0; N]);
    let mut learner = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
    walk(&mut learner, &mut places, waits);
    learner.learn_begin(Elements::F32(&show(&places)), None).unwrap();
    let view = View::attach(bytemuck::cast_slice(&block)).unwrap();
    let whole = view.context(0, None).unwrap();
    let (r, sizes) = (&whole.rollout, whole.sizes);
    let (count, all) = (c.batch_len(), c.batch_len() + pending);
    let value = |params: &[f32], obs: &[f32]| {
        let (mut value, mut scratch) = ([0.0], vec![0.0; 4096]);
        sizes.net.infer(params, obs, 1, NOVELTY, &mut [], &mut scratch, &mut [&mut value]).unwrap();
        f64::from(value[0])
    };
    let obs = |at: usize| &r.obs[at * PLACES..][..PLACES];
    let share = |i: usize| (0..all).map(|at| f64::from(obs(at)[i])).sum::<f64>() / all as f64;
    let mean: Vec<f64> = (0..PLACES).map(share).collect();
    let paid = |at: usize| obs(at).iter().zip(&mean).map(|(x, mean)| (f64::from(*x) - mean).powi(2)).sum::<f64>();
    let (gamma, lambda) = (f64::from(c.discount), f64::from(c.gae_lambda));
    for env in 0..N {
        let (mut next, mut sum, mut own, mut plain) = (None, 0.0, None, 0.0);
        for at in (0..all).rev().filter(|at| r.env[*at] as usize == env) {
            let (here, first) = (value(view.params(), obs(at)), f64::from(r.value[at]));
            if at < count {
                sum = paid(at) + gamma * next.unwrap_or(here) - here + gamma * lambda * sum;
                assert!((f64::from(r.numbers[at]) - (here + sum)).abs() < 1e-4, "environment {env}, slot {at}");
                // Without rewards and episode ends the rest of an advantage depends on the first values only.
                plain = match own {
                    Some(later) => gamma * later - first + gamma * lambda * plain,
                    None => f64::from(r.value_target[at]) - first,
                };
                assert!((f64::from(r.advantage[at]) - (plain + sum)).abs() < 1e-4, "environment {env}, slot {at}");
            }
            (next, own) = (Some(here), Some(first));
        }
    }
    // The derivative of the second loss, by central differences.
    let (scratch_len, len) = (view.scratch_size().unwrap(), view.params().len() + LOSSES);
    let (mut scratch, mut grads) = (vec![0u64; scratch_len / 8 + 1], vec![0.0; 3 * len]);
    view.learn_range(0, 3, bytemuck::cast_slice_mut(&mut scratch), &mut grads).unwrap();
    let rows = c.minibatch_len();
    let loss = |params: &[f32]| -> f64 {
        let error = |at: &u32| value(params, obs(*at as usize)) - f64::from(r.numbers[*at as usize]);
        whole.order.iter().map(|at| 0.5 * f64::from(c.value_coef) * error(at).powi(2) / rows as f64).sum()
    };
    // The parameters of its hidden layer and its head come last.
    let own = (PLACES + 1) * UNITS + UNITS + 1;
    for i in (view.params().len() - own..view.params().len()).step_by(5) {
        let moved = |by: f32| {
            let mut params = view.params().to_vec();
            params[i] += by;
            loss(&params)
        };
        let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
        let own: f64 = (0..3).map(|chunk| f64::from(grads[chunk * len + i])).sum();
        assert!((own - slope).abs() < 2e-3 * (1.0 + slope.abs()), "parameter {i}: {own}, {slope}");
    }
}

#[test]
fn a_saved_update_of_the_second_stream_goes_on_and_numbers_that_are_none_are_refused() {
    let c = config(config::Algorithm::Curious);
    let (mut whole, mut places) = (block(&c), [0; N]);
    let mut learner = Learner::open(bytemuck::cast_slice_mut(&mut whole)).unwrap();
    walk(&mut learner, &mut places, usize::MAX);
    let after = show(&places);
    learner.learn(Some(Elements::F32(&after)), None, 5).unwrap();
    let mut saved = whole.clone();
    let finish = |block: &mut [u64]| {
        Learner::attach(bytemuck::cast_slice_mut(block)).unwrap().learn(None, None, 0).unwrap();
    };
    let mut spoilt = saved.clone();
    finish(&mut whole);
    finish(&mut saved);
    assert!(whole == saved, "the same bytes");
    let mem: &[u8] = bytemuck::cast_slice(&spoilt);
    let view = View::open(mem).unwrap();
    let first = view.context(0, None).unwrap().rollout.numbers.as_ptr().addr() - mem.as_ptr().addr();
    let at = first + size_of::<f32>() * (c.batch_len() / 2);
    bytemuck::cast_slice_mut::<u64, u8>(&mut spoilt)[at..][..size_of::<f32>()].copy_from_slice(&f32::NAN.to_ne_bytes());
    let refused = Learner::attach(bytemuck::cast_slice_mut(&mut spoilt)).err().unwrap();
    assert_eq!(refused.kind, Kind::Image);
}

/// Rows supplied by the host: the script moves on in the first half of the corridor and returns in the second.
fn script() -> (Vec<f32>, Vec<i32>) {
    let count = 3 * PLACES * 40;
    let obs = (0..count).flat_map(|row| (0..PLACES).map(move |i| if i == row % PLACES { 1.0 } else { 0.0 })).collect();
    (obs, (0..count).map(|row| i32::from(row % PLACES < PLACES / 2)).collect())
}

fn imitate(config: &Config, updates: usize, given: bool) -> Vec<u64> {
    let (mut block, mut places, (obs, choice)) = (block(config), [0; N], script());
    let mut learner = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
    let zeros = vec![0.0; choice.len()];
    let batch = TransitionBatch {
        obs: Elements::F32(&obs),
        action: Elements::I32(&choice),
        mask: None,
        reward: &zeros,
        terminated: &[],
        discount: None,
        next_obs: Elements::F32(&[]),
        next_mask: None,
        importance: None,
    };
    for _ in 0..updates {
        walk(&mut learner, &mut places, usize::MAX);
        learner.learn_begin(Elements::F32(&show(&places)), None).unwrap();
        learner.learn_slices(u64::MAX, given.then_some(&batch)).unwrap();
    }
    block
}

#[test]
fn a_loss_on_rows_of_the_host_is_learned_beside_that_of_the_rollout() {
    let (obs, choice) = script();
    for normalize_obs in [0, 1] {
        let c = Config { normalize_obs, ..config(config::Algorithm::Imitator) };
        let mut block = imitate(&c, 10, true);
        let mut learner = Learner::open(bytemuck::cast_slice_mut(&mut block)).unwrap();
        let (mut log_prob, mut entropy, mut least) = ([0.0; N], [0.0; N], 0.0f32);
        for row in (0..PLACES * 3).step_by(N) {
            let (obs, choice) = (&obs[row * PLACES..][..N * PLACES], &choice[row..][..N]);
            learner.log_prob(Elements::F32(obs), None, Elements::I32(choice), &mut log_prob, &mut entropy).unwrap();
            least = log_prob.iter().copied().fold(least, f32::min);
        }
        assert!(least > 0.9f32.ln(), "normalize_obs {normalize_obs}: {}", least.exp());
    }
}

#[test]
fn without_rows_of_the_host_the_second_loss_is_nothing() {
    let params = |block: Vec<u64>| View::open(bytemuck::cast_slice(&block)).unwrap().params().to_vec();
    let plain = params(imitate(&config(config::Algorithm::Ppo), 2, false));
    let none = params(imitate(&config(config::Algorithm::Imitator), 2, false));
    assert!(plain == none, "the same parameters");
    assert!(plain != params(imitate(&config(config::Algorithm::Imitator), 2, true)));
}
