//! Rollouts against a twin that keeps every step in its own vectors, and against known numbers.

use proptest::prelude::*;
use rlcore::block::Kind as BlockKind;
use rlcore::data::minibatch::{Cut, Window, draw_window, find_trajectories, gather_rows, stack_rows, valid_rows};
use rlcore::data::monitor::Read;
use rlcore::data::rollout_buffer::{
    ALL_ENVS, EPISODE_LENGTH, EPISODE_RETURN, FIRST_METRIC, MetricRow, Minibatch, RolloutBuffer, RolloutBufferConfig,
    Step, View,
};
use rlcore::data::rollout_text;
use rlcore::data::rows::RowsOut;
use rlcore::data::table::{Column, TableConfig};
use rlcore::error::{Kind, Result};
use rlcore::kernels::gae::{Accumulate, Rollout, gae};
use rlcore::kernels::shift_rows::shift_rows;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

use super::blocks::{bytes, forged, kind, says};

const OBS: usize = 3;
const PIXELS: usize = 2;
const M: usize = 2;

fn columns() -> [Column; 3] {
    let own = [("obs", Element::F32, OBS), ("action", Element::I32, 1), ("pixels", Element::U8, PIXELS)];
    own.map(|(name, kind, len)| Column::new(name, kind, len as u32))
}

fn config(num_steps: u32, num_envs: u32) -> RolloutBufferConfig {
    let columns = columns();
    RolloutBufferConfig { memory_len: M as u32, seed: 7, ..RolloutBufferConfig::new(num_steps, num_envs, &columns) }
}

/// The block of a rollout without steps.
fn block(config: &RolloutBufferConfig) -> Vec<u64> {
    let mut block = vec![0; RolloutBuffer::size(config).unwrap() / 8];
    RolloutBuffer::init(bytes(&mut block), config).unwrap();
    block
}

/// The rollout in these bytes, which have to be an image after every call.
fn open(mem: &mut [u64]) -> RolloutBuffer<'_> {
    RolloutBuffer::attach(bytes(mem)).unwrap()
}

/// Asserts that a call is refused and leaves its block alone.
#[track_caller]
fn refused(mem: &[u64], kind: Kind, words: &str, call: impl FnOnce(&mut RolloutBuffer<'_>) -> Result) {
    let mut after = mem.to_vec();
    says(call(&mut RolloutBuffer::open(bytes(&mut after)).unwrap()), kind, words);
    assert_eq!(mem, after);
}

/// Offsets of the fields of a block, without memory and columns: each a multiple of 64 bytes.
fn fields(num_steps: usize, n: usize, log_capacity: usize) -> [usize; 18] {
    let (flags, numbers, mut end) = (num_steps * n, 4 * num_steps * n, 0);
    let setup = 24 + size_of::<TableConfig>();
    let sizes = [40, setup, 16, 96, n, 8 * n, 4 * n, size_of::<MetricRow>() * log_capacity, numbers, numbers, numbers];
    let sizes = [&sizes[..], &[flags, flags, numbers, 4 * n, numbers, numbers, numbers]].concat();
    std::array::from_fn(|i| {
        let start = end;
        end += sizes[i].next_multiple_of(64);
        start
    })
}

/// One step of all environments, as given to the buffer.
#[derive(Clone, Debug)]
struct Given {
    obs: Vec<f32>,
    action: Vec<i32>,
    pixels: Vec<u8>,
    reward: Vec<f32>,
    value: Vec<f32>,
    log_prob: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    final_value: Vec<f32>,
    memory: Vec<f32>,
}

impl Given {
    fn random(rng: &mut Rng, n: usize, end_chance: f64) -> Given {
        let mut reals = |len: usize| -> Vec<f32> { (0..len).map(|_| rng.uniform_f32() * 4.0 - 2.0).collect() };
        let (obs, reward, value, log_prob) = (reals(n * OBS), reals(n), reals(n), reals(n));
        let (final_value, memory) = (reals(n), reals(n * M));
        let mut flags = || -> Vec<u8> { (0..n).map(|_| u8::from(rng.uniform() < end_chance) * 3).collect() };
        let (terminated, truncated) = (flags(), flags());
        let action = (0..n).map(|_| rng.integers(-5, 6) as i32).collect();
        let pixels = (0..n * PIXELS).map(|_| rng.next_u64() as u8).collect();
        Given { obs, action, pixels, reward, value, log_prob, terminated, truncated, final_value, memory }
    }

    fn ended(&self, env: usize) -> bool {
        self.terminated[env] | self.truncated[env] != 0
    }

    fn columns(&self) -> [Option<Elements<'_>>; 3] {
        [Elements::F32(&self.obs), Elements::I32(&self.action), Elements::U8(&self.pixels)].map(Some)
    }

    fn add(&self, buffer: &mut RolloutBuffer<'_>) -> Result {
        buffer.add(&self.step(&self.columns()))
    }

    fn several(rng: &mut Rng, count: usize, n: usize, end_chance: f64) -> Vec<Given> {
        (0..count).map(|_| Given::random(rng, n, end_chance)).collect()
    }

    fn step<'a>(&'a self, columns: &'a [Option<Elements<'a>>]) -> Step<'a> {
        Step {
            columns,
            reward: &self.reward,
            value: &self.value,
            log_prob: &self.log_prob,
            terminated: &self.terminated,
            truncated: &self.truncated,
            final_value: Some(&self.final_value),
            memory: &self.memory,
            raw_reward: None,
        }
    }
}

fn concat<T: Copy>(steps: &[Given], of: impl Fn(&Given) -> &[T]) -> Vec<T> {
    steps.iter().flat_map(|step| of(step).to_vec()).collect()
}

/// Advantages and value targets by the kernel.
fn judge(steps: &[Given], bootstrap: &[f32], accumulate: Accumulate) -> (Vec<f32>, Vec<f32>) {
    let (num_steps, num_envs) = (steps.len(), bootstrap.len());
    let (reward, value) = (concat(steps, |s| &s.reward), concat(steps, |s| &s.value));
    let (terminated, truncated) = (concat(steps, |s| &s.terminated), concat(steps, |s| &s.truncated));
    let final_value = concat(steps, |s| &s.final_value);
    let rollout = Rollout {
        num_steps,
        num_envs,
        reward: &reward,
        value: &value,
        bootstrap_value: bootstrap,
        terminated: &terminated,
        truncated: &truncated,
        final_value: Some(&final_value),
        accumulate,
    };
    let (mut advantage, mut value_target) = (vec![0.0; reward.len()], vec![0.0; reward.len()]);
    gae(&rollout, 0.97, 0.9, &mut advantage, &mut value_target).unwrap();
    (advantage, value_target)
}

/// Every array of a minibatch, for comparison.
#[derive(Clone, Debug, Default, PartialEq)]
struct Batch {
    obs: Vec<f32>,
    action: Vec<i32>,
    pixels: Vec<u8>,
    log_prob: Vec<f32>,
    value: Vec<f32>,
    advantage: Vec<f32>,
    value_target: Vec<f32>,
    reward: Vec<f32>,
    mask: Vec<f32>,
    memory: Vec<f32>,
    timestep: Vec<i32>,
}

impl Batch {
    fn room(rows: usize, len: usize, numbers: usize, timestep: bool) -> Batch {
        Batch {
            obs: vec![9.0; len * OBS],
            action: vec![9; len],
            pixels: vec![9; len * PIXELS],
            log_prob: vec![9.0; numbers],
            value: vec![9.0; numbers],
            advantage: vec![9.0; numbers],
            value_target: vec![9.0; numbers],
            reward: vec![9.0; numbers],
            mask: vec![9.0; len],
            memory: vec![9.0; rows * M],
            timestep: vec![9; if timestep { len } else { 0 }],
        }
    }

    fn with<R>(&mut self, timestep: bool, call: impl FnOnce(Minibatch<'_>) -> R) -> R {
        call(Minibatch {
            columns: &mut [
                Some(ElementsMut::F32(&mut self.obs)),
                Some(ElementsMut::I32(&mut self.action)),
                Some(ElementsMut::U8(&mut self.pixels)),
            ],
            log_prob: Some(&mut self.log_prob),
            value: Some(&mut self.value),
            advantage: Some(&mut self.advantage),
            value_target: Some(&mut self.value_target),
            reward: Some(&mut self.reward),
            mask: Some(&mut self.mask),
            memory: Some(&mut self.memory),
            timestep: if timestep { Some(&mut self.timestep) } else { None },
        })
    }
}

/// A finished rollout of the twin.
struct Twin<'a> {
    steps: &'a [Given],
    n: usize,
    first: Vec<bool>,
    advantage: Vec<f32>,
    value_target: Vec<f32>,
}

impl Twin<'_> {
    fn starts(&self, t: usize, e: usize) -> bool {
        if t == 0 { self.first[e] } else { self.steps[t - 1].ended(e) }
    }

    fn push(&self, batch: &mut Batch, t: usize, e: usize) {
        let step = &self.steps[t];
        batch.obs.extend(&step.obs[e * OBS..][..OBS]);
        batch.action.push(step.action[e]);
        batch.pixels.extend(&step.pixels[e * PIXELS..][..PIXELS]);
    }

    fn numbers(&self, batch: &mut Batch, t: usize, e: usize) {
        let step = &self.steps[t];
        batch.log_prob.push(step.log_prob[e]);
        batch.value.push(step.value[e]);
        batch.reward.push(step.reward[e]);
        batch.advantage.push(self.advantage[t * self.n + e]);
        batch.value_target.push(self.value_target[t * self.n + e]);
    }

    fn gather(&self, index: &[u32], window_len: usize) -> Batch {
        let mut batch = Batch::default();
        for &i in index {
            let (e, first) = (i as usize / self.steps.len(), i as usize % self.steps.len());
            batch.memory.extend(&self.steps[first].memory[e * M..][..M]);
            for t in first..first + window_len {
                self.push(&mut batch, t, e);
                self.numbers(&mut batch, t, e);
                batch.mask.push(if self.starts(t, e) { 0.0 } else { 1.0 });
            }
        }
        batch
    }

    /// Trajectories as (environment, first step, length).
    fn trajectories(&self) -> Vec<(usize, usize, usize)> {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        for e in 0..self.n {
            for t in 0..self.steps.len() {
                match found.last_mut() {
                    Some(last) if t > 0 && !self.steps[t - 1].ended(e) => last.2 += 1,
                    _ => found.push((e, t, 1)),
                }
            }
        }
        found
    }

    fn windows(&self, windows: &[Window], timesteps: usize, token: i32) -> Batch {
        let mut batch = Batch::default();
        for w in windows {
            let (e, first) = (w.first as usize / self.steps.len(), w.first as usize % self.steps.len());
            let (len, pad) = (w.len as usize, timesteps - w.len as usize);
            batch.memory.extend(&self.steps[first].memory[e * M..][..M]);
            batch.obs.extend(vec![0.0; pad * OBS]);
            batch.action.extend(vec![token; pad]);
            batch.pixels.extend(vec![0; pad * PIXELS]);
            batch.mask.extend(vec![0.0; pad]);
            batch.timestep.extend(vec![0; pad]);
            for t in first..first + len {
                self.push(&mut batch, t, e);
                batch.mask.push(1.0);
                batch.timestep.push((t - first) as i32 + w.timestep as i32);
            }
            self.numbers(&mut batch, first + len - 1, e);
        }
        batch
    }
}

/// The episodes of all environments, and the log of their ends.
#[derive(Default)]
struct Episodes {
    global_step: u64,
    sums: Vec<f64>,
    lens: Vec<u32>,
    log: Vec<MetricRow>,
}

impl Episodes {
    /// Adds the steps of a rollout; returns how many episodes end in it, and the sums of their lengths and returns.
    fn add(&mut self, steps: &[Given]) -> (u64, f64, f64) {
        let (mut ended, mut len_sum, mut return_sum) = (0, 0.0, 0.0);
        for step in steps {
            for e in 0..self.sums.len() {
                self.sums[e] += f64::from(step.reward[e]);
                self.lens[e] += 1;
                if step.ended(e) {
                    let (sum, len) = (std::mem::take(&mut self.sums[e]), f64::from(std::mem::take(&mut self.lens[e])));
                    for (metric, value) in [(EPISODE_LENGTH, len), (EPISODE_RETURN, sum)] {
                        self.log.push(MetricRow { global_step: self.global_step, value, env: e as u32, metric });
                    }
                    (ended, len_sum, return_sum) = (ended + 1, len_sum + len, return_sum + sum);
                }
            }
            self.global_step += self.sums.len() as u64;
        }
        (ended, len_sum, return_sum)
    }
}

/// Minibatches: every sample once, each window of `r` steps in one environment.
fn check_minibatches(buffer: &mut RolloutBuffer<'_>, twin: &Twin<'_>, r: usize) {
    let mut index = vec![0; twin.steps.len() * twin.n / r];
    buffer.draw(r, r, &mut index).unwrap();
    let mut sorted = index.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().enumerate().all(|(i, &start)| start as usize == i * r));
    let view = buffer.view().unwrap();
    let mut got = Batch::room(index.len(), index.len() * r, index.len() * r, false);
    got.with(false, |out| view.gather(&index, r, out)).unwrap();
    assert_eq!(got, twin.gather(&index, r));
    view.gather(&index, r, Minibatch::default()).unwrap();
}

/// Windows of trajectories.
fn check_windows(buffer: &mut RolloutBuffer<'_>, twin: &Twin<'_>, timesteps: usize) {
    let (t, mut windows) = (twin.steps.len(), vec![Window::default(); 20]);
    buffer.draw_windows(timesteps as u32, 0.3, &mut windows).unwrap();
    let found = twin.trajectories();
    for w in &windows {
        let (e, at) = (w.first as usize / t, w.first as usize % t);
        let &(_, start, len) = found.iter().find(|x| x.0 == e && (x.1..x.1 + x.2).contains(&at)).unwrap();
        assert_eq!(w.len as usize, len.min(timesteps));
        assert_eq!((w.pad + w.len) as usize, timesteps);
        assert_eq!(w.timestep as usize, at - start);
        assert!(at + w.len as usize <= start + len);
    }
    let mut got = Batch::room(20, 20 * timesteps, 20, true);
    got.with(true, |out| buffer.view().unwrap().gather_windows(&windows, timesteps, 77, out)).unwrap();
    assert_eq!(got, twin.windows(&windows, timesteps, 77));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn rollouts_are_those_of_the_twin(
        capacity in 1u32..7, n in 1usize..5, r in 1usize..4, parts in 1usize..4, short in 0usize..3, seed: u64,
        end_chance in 0.0..0.6f64,
    ) {
        // T is a multiple of the window, except for a rollout finished early.
        let num_steps = capacity * r as u32;
        let mut mem = block(&config(num_steps, n as u32));
        let mut buffer = open(&mut mem);
        let rng = &mut Rng::seeded(seed);
        let (mut first, mut cursor) = (vec![true; n], 0);
        let mut episodes = Episodes { sums: vec![0.0; n], lens: vec![0; n], ..Episodes::default() };
        for _ in 0..parts {
            let t = (num_steps as usize).saturating_sub(short * r).max(r);
            let steps = Given::several(rng, t, n, end_chance);
            steps.iter().for_each(|step| step.add(&mut buffer).unwrap());
            let (ended, len_sum, return_sum) = episodes.add(&steps);
            let mut rows = vec![MetricRow::default(); 64];
            let read = buffer.view().unwrap().read_log(cursor, &mut rows).unwrap();
            prop_assert_eq!(&rows[..read.count], &episodes.log[cursor as usize..][..read.count]);
            prop_assert!(read.lost == 0 && (read.count == 64 || read.next == episodes.log.len() as u64));
            cursor = read.next;

            let bootstrap: Vec<f32> = (0..n).map(|_| rng.uniform_f32()).collect();
            let next_obs: Vec<f32> = (0..n * OBS).map(|_| rng.uniform_f32()).collect();
            buffer.finish(&bootstrap, Some(Elements::F32(&next_obs)), 0.97, 0.9).unwrap();
            let (advantage, value_target) = judge(&steps, &bootstrap, Accumulate::F32);
            let view = buffer.view().unwrap();
            prop_assert_eq!(view.advantages().unwrap(), (&advantage[..], &value_target[..]));
            let held = view.rollout().unwrap();
            prop_assert_eq!(held.reward, concat(&steps, |s| &s.reward));
            prop_assert_eq!(held.value, concat(&steps, |s| &s.value));
            let mut all_obs = concat(&steps, |s| &s.obs);
            all_obs.extend(&next_obs);
            prop_assert_eq!(view.column(0).unwrap(), Elements::F32(&all_obs));
            prop_assert_eq!(view.column(2).unwrap(), Elements::U8(&concat(&steps, |s| &s.pixels)));
            let p = view.progress();
            let counts = (p.global_step, p.num_steps as usize, p.finished, p.num_ended);
            prop_assert_eq!(counts, (episodes.global_step, t, true, ended));
            if ended > 0 {
                prop_assert_eq!((p.len_mean, p.return_mean), (len_sum / ended as f64, return_sum / ended as f64));
            } else {
                prop_assert!(p.len_mean.is_nan() && p.return_mean.is_nan());
            }
            let twin = Twin { steps: &steps, n, first: first.clone(), advantage, value_target };
            prop_assert_eq!(view.first().iter().map(|&x| x != 0).collect::<Vec<_>>(), first.clone());
            check_minibatches(&mut buffer, &twin, r);
            check_windows(&mut buffer, &twin, 1 + seed as usize % 6);

            let p = buffer.sample().unwrap();
            prop_assert!((p as usize) < t);
            first = (0..n).map(|e| steps[t - 1].ended(e)).collect();
            buffer.reset().unwrap();
            prop_assert_eq!(buffer.row(0, 0).unwrap(), ElementsMut::F32(&mut next_obs.clone()));
            prop_assert_eq!(buffer.view().unwrap().progress().num_ended, 0);
        }
        // A copy of the bytes behaves alike, random state included.
        let mut copy = mem.clone();
        for mem in [&mut mem, &mut copy] {
            let mut buffer = open(mem);
            prop_assert_eq!(buffer.config().table.columns(), &columns()[..]);
            Given::several(&mut Rng::seeded(3), r, n, 0.5).iter().for_each(|step| step.add(&mut buffer).unwrap());
            buffer.finish(&vec![0.0; n], None, 1.0, 1.0).unwrap();
            buffer.draw(r, 1, &mut vec![0; r * n]).unwrap();
        }
        prop_assert_eq!(mem, copy);
    }

    #[test]
    fn trajectories_start_where_the_twin_splits(t in 1usize..9, n in 1usize..5, seed: u64) {
        let rng = &mut Rng::seeded(seed);
        let steps = Given::several(rng, t, n, 0.3);
        let twin = Twin { steps: &steps, n, first: vec![false; n], advantage: vec![], value_target: vec![] };
        let (terminated, truncated) = (concat(&steps, |s| &s.terminated), concat(&steps, |s| &s.truncated));
        let mut starts = vec![u32::MAX; t * n];
        let count = find_trajectories(&terminated, &truncated, t, n, &mut starts).unwrap();
        let wanted: Vec<u32> = twin.trajectories().iter().map(|x| (x.0 * t + x.1) as u32).collect();
        prop_assert_eq!(&starts[..count], &wanted[..]);
        prop_assert!(starts[count..].iter().all(|&x| x == 0));
    }

    #[test]
    fn rows_are_gathered_as_one_by_one(rows in 1usize..6, width in 1usize..4, index in prop::collection::vec(0usize..10, 0..8)) {
        let x: Vec<f32> = (0..rows * width).map(|x| x as f32).collect();
        let index: Vec<i64> = index.into_iter().map(|i| (i % (2 * rows)) as i64 - rows as i64).collect();
        let mut out = vec![0.0; index.len() * width];
        gather_rows(Elements::F32(&x), width, &index, ElementsMut::F32(&mut out)).unwrap();
        let row = |i: i64| i.rem_euclid(rows as i64) as usize;
        let wanted: Vec<f32> = index.iter().flat_map(|&i| x[row(i) * width..][..width].to_vec()).collect();
        prop_assert_eq!(out, wanted);
    }

    /// A rollout with a changed byte is refused, or still answers every query.
    #[test]
    fn changed_bytes_are_refused_or_harmless(at in any::<prop::sample::Index>(), bits in 1u8.., finished: bool) {
        let mut mem = block(&config(3, 2));
        let mut buffer = open(&mut mem);
        let rng = &mut Rng::seeded(1);
        let steps = Given::several(rng, 3, 2, 0.4);
        steps[..2].iter().for_each(|step| step.add(&mut buffer).unwrap());
        if finished {
            buffer.finish(&[0.5, 0.5], None, 0.9, 0.9).unwrap();
            buffer.draw_windows(2, 0.1, &mut [Window::default(); 3]).unwrap();
        }
        let at = at.index(mem.len() * 8);
        bytes(&mut mem)[at] ^= bits;
        if let Ok(mut buffer) = RolloutBuffer::attach(bytes(&mut mem)) {
            let _ = steps[2].add(&mut buffer);
            let _ = buffer.finish(&[0.5, 0.5], None, 0.9, 0.9);
            let _ = buffer.draw(1, 1, &mut [0; 6]);
            let mut windows = [Window::default(); 3];
            let _ = buffer.draw_windows(2, 0.1, &mut windows);
            let view = buffer.view().unwrap();
            let mut out = Batch::room(3, 6, 3, true);
            let _ = out.with(true, |out| view.gather_windows(&windows, 2, 0, out));
            let mut out = Batch::room(2, 4, 4, false);
            let _ = out.with(false, |out| view.gather(&[0, 2], 2, out));
            let _ = view.read_log(0, &mut [MetricRow::default(); 9]);
            let _ = rollout_text::step(&view, 0, None);
            let _ = buffer.reset();
        }
    }
}

fn cut(num_steps: usize, num_envs: usize, minibatch_size: usize, recurrence: usize) -> Cut {
    Cut { num_steps, num_envs, minibatch_size, recurrence }
}

/// The rules for cutting permutations, on permutations drawn by numpy's legacy generator from seed 0.
#[test]
fn permutations_are_cut_into_minibatches() {
    let mut index = [2, 8, 4, 9, 1, 6, 7, 3, 0, 5];
    let single = cut(10, 1, 5, 1);
    single.starts(&mut index).unwrap();
    assert_eq!(single.windows_each().unwrap(), 5);
    assert_eq!((&index[..5], &index[5..]), (&[2, 8, 4, 9, 1][..], &[6, 7, 3, 0, 5][..]));

    let recurrent = cut(4, 3, 4, 4);
    let mut index = [2, 1, 0];
    recurrent.starts(&mut index).unwrap();
    assert_eq!((index, recurrent.windows_each().unwrap()), ([8, 4, 0], 1));
    let sizes = cut(8, 4, 8, 2);
    assert_eq!((sizes.num_windows().unwrap(), sizes.windows_each().unwrap()), (16, 4));
}

#[test]
fn sizes_that_do_not_divide_are_refused() {
    for (c, kind, words) in [
        (cut(0, 3, 1, 1), Kind::Shape, "num_steps of at least 1, given 0"),
        (cut(4, 0, 1, 1), Kind::Shape, "num_envs of at least 1, given 0"),
        (cut(4, 3, 0, 1), Kind::Range, "T * N = 12, given 0"),
        (cut(4, 3, 5, 1), Kind::Range, "T * N = 12, given 5"),
        (cut(4, 3, 24, 1), Kind::Range, "T * N = 12, given 24"),
        (cut(4, 3, 4, 0), Kind::Range, "divides num_steps, 4, given 0"),
        // 12 samples make 4 windows of 3, one of which would begin in one environment and end in the next.
        (cut(4, 3, 6, 3), Kind::Range, "divides num_steps, 4, given 3"),
        (cut(4, 3, 6, 4), Kind::Range, "divides minibatch_size, 6, given 4"),
        (cut(1 << 16, 1 << 16, 1, 1), Kind::Overflow, "T"),
    ] {
        says(c.num_windows(), kind, words);
        assert_eq!(c.windows_each(), c.num_windows());
        let (mut index, rng) = ([77; 12], &mut Rng::seeded(0));
        assert_eq!(c.draw(rng, &mut index).unwrap_err(), c.num_windows().unwrap_err());
        assert_eq!((index, *rng), ([77; 12], Rng::seeded(0)));
    }
    let c = cut(4, 3, 4, 2);
    assert_eq!(c.starts(&mut [0; 5]).unwrap_err().kind, Kind::Shape);
    let mut index = [0, 1, 2, 3, 4, 6];
    assert_eq!(c.starts(&mut index).unwrap_err().to_string(), "minibatch: a window below 6, given 6");
    assert_eq!(index, [0, 1, 2, 3, 4, 6]);
    c.draw(&mut Rng::seeded(5), &mut index).unwrap();
    let mut same = [0; 6];
    Rng::seeded(5).permutation(&mut same);
    assert_eq!(index, same.map(|w| 2 * w));
}

/// The done flags of the observations are [0,0], [0,1], [1,0], [0,0]: the episode of environment 1 ended with step 0, that of
/// environment 0 with step 1.
#[test]
fn an_environment_is_never_joined_to_the_next() {
    let mut starts = [9; 8];
    let terminated = [0, 1, 1, 0, 0, 0, 0, 0];
    assert_eq!(find_trajectories(&terminated, &[0; 8], 4, 2, &mut starts), Ok(4));
    assert_eq!(starts, [0, 2, 4, 5, 0, 0, 0, 0]); // [0,1] [2,3] [4] [5,6,7]
    assert_eq!(find_trajectories(&[0; 8], &terminated, 4, 2, &mut starts), Ok(4));
    assert_eq!(find_trajectories(&[0; 7], &[0; 8], 4, 2, &mut starts).unwrap_err().kind, Kind::Shape);
    assert_eq!(find_trajectories(&[0; 8], &[0; 9], 4, 2, &mut starts).unwrap_err().kind, Kind::Shape);
    assert_eq!(find_trajectories(&[0; 8], &[0; 8], 4, 2, &mut starts[1..]).unwrap_err().kind, Kind::Shape);
    assert_eq!(find_trajectories(&[], &[], 0, 2, &mut []).unwrap_err().kind, Kind::Shape);
}

#[test]
fn windows_are_drawn_in_the_order_that_is_promised() {
    let (starts, num_samples) = ([0, 3, 4], 12); // lengths 3, 1, 8
    for seed in 0..400 {
        let (mut rng, mut twin) = (Rng::seeded(seed), Rng::seeded(seed));
        let w = draw_window(&starts, num_samples, 3, 0.25, &mut rng).unwrap();
        let wanted = match twin.integers(0, 3) {
            0 => Window { first: 0, len: 3, pad: 0, timestep: 0 },
            1 => Window { first: 3, len: 1, pad: 2, timestep: 0 },
            _ => {
                let end = if twin.uniform() < 0.25 { 8 } else { twin.integers(3, 9) as u32 };
                Window { first: 4 + end - 3, len: 3, pad: 0, timestep: end - 3 }
            }
        };
        assert_eq!((w, rng), (wanted, twin));
    }
    assert_eq!(draw_window(&[], 0, 3, 0.1, &mut Rng::seeded(0)), None);
}

/// With an end chance of 0, the last step is as likely as any other end.
#[test]
fn the_last_step_is_reachable() {
    let rng = &mut Rng::seeded(11);
    let mut counts = [0u32; 6];
    for _ in 0..6000 {
        counts[draw_window(&[0], 8, 3, 0.0, rng).unwrap().timestep as usize] += 1;
    }
    assert!(counts.iter().all(|&c| (850..1150).contains(&c)), "{counts:?}");
    for _ in 0..100 {
        assert_eq!(draw_window(&[0], 8, 3, 1.0, rng).unwrap().timestep, 5);
    }
    // A draw equal to the chance is not below it: the end is drawn at random.
    for seed in 0..20 {
        let (mut rng, mut twin) = (Rng::seeded(seed), Rng::seeded(seed));
        twin.bounded(0);
        let chance = twin.uniform();
        let end = twin.integers(3, 9) as u32;
        assert_eq!(draw_window(&[0], 8, 3, chance, &mut rng).unwrap().timestep, end - 3);
        assert_eq!(rng, twin);
    }
}

#[test]
fn rows_are_shifted() {
    let mut out = [9.0; 9];
    shift_rows(&[1.0, 2.0, 3.0], 3, 1, &mut out).unwrap();
    assert_eq!(out, [1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0]);
    let mut out = [9.0; 8];
    shift_rows(&[1.0, 10.0, 2.0, 20.0], 2, 2, &mut out).unwrap();
    assert_eq!(out, [1.0, 10.0, 2.0, 20.0, 0.0, 0.0, 1.0, 10.0]);
    shift_rows(&[], 0, 3, &mut []).unwrap();
    assert_eq!(shift_rows(&[1.0; 3], 2, 2, &mut out).unwrap_err().kind, Kind::Shape);
    assert_eq!(shift_rows(&[1.0; 4], 2, 2, &mut out[1..]).unwrap_err().kind, Kind::Shape);
    assert_eq!(shift_rows(&[], usize::MAX, 2, &mut []).unwrap_err().kind, Kind::Overflow);
}

#[test]
fn arrays_are_stacked() {
    let mut out = [0.0; 5];
    let parts = [Elements::F32(&[1.0, 2.0, 3.0]), Elements::F32(&[]), Elements::F32(&[4.0, 5.0])];
    stack_rows(&parts, ElementsMut::F32(&mut out)).unwrap();
    assert_eq!(out, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let error = stack_rows(&parts, ElementsMut::F32(&mut out[..4])).unwrap_err();
    assert_eq!(error.to_string(), "stack: out of length 5, given 4");
    assert_eq!(stack_rows(&parts, ElementsMut::I32(&mut [0; 5])).unwrap_err().kind, Kind::Shape);

    let x = [1, 2, 3, 4, 5, 6];
    let mut rows = [0; 6];
    gather_rows(Elements::I32(&x), 2, &[-1, 0, -3], ElementsMut::I32(&mut rows)).unwrap();
    assert_eq!(rows, [5, 6, 1, 2, 1, 2]);
    for bad in [3, -4, i64::MAX, i64::MIN] {
        let error = gather_rows(Elements::I32(&x), 2, &[0, bad, 1], ElementsMut::I32(&mut rows)).unwrap_err();
        assert_eq!((error.kind, rows), (Kind::Range, [5, 6, 1, 2, 1, 2]));
    }
    let shape = |x: &[i32], width, out: &mut [i32]| {
        gather_rows(Elements::I32(x), width, &[0], ElementsMut::I32(out)).unwrap_err().kind
    };
    assert_eq!(shape(&x, 0, &mut []), Kind::Shape);
    assert_eq!(shape(&x, 4, &mut [0; 4]), Kind::Shape);
    assert_eq!(shape(&x, 2, &mut [0; 3]), Kind::Shape);
    assert_eq!(gather_rows(Elements::I32(&x), 2, &[0], ElementsMut::U8(&mut [0; 2])).unwrap_err().kind, Kind::Shape);

    let mut valid = [9; 8];
    valid_rows(&[4, 0], 4, &mut valid).unwrap();
    assert_eq!(valid, [1, 1, 1, 1, 0, 0, 0, 0]);
    valid_rows(&[3, 0], 4, &mut valid).unwrap();
    assert_eq!(valid, [1, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(valid_rows(&[3, 5], 4, &mut valid).unwrap_err().kind, Kind::Range);
    assert_eq!(valid_rows(&[3], 4, &mut valid).unwrap_err().kind, Kind::Shape);
    assert_eq!(valid, [1, 1, 1, 0, 0, 0, 0, 0]);
}

/// Advantages and value targets of a case, from a buffer of one environment and one column.
fn judged(case: &Case) -> (Vec<f32>, Vec<f32>) {
    let columns = [Column::new("obs", Element::U8, 1)];
    let t = case.reward.len();
    let config = RolloutBufferConfig::new(t as u32, 1, &columns);
    let mut mem = block(&config);
    let mut buffer = open(&mut mem);
    for i in 0..t {
        let (terminated, truncated) = ([u8::from(case.terminated == Some(i))], [u8::from(case.truncated == Some(i))]);
        let step = Step {
            columns: &[Some(Elements::U8(&[0]))],
            reward: &[case.reward[i]],
            value: &[case.value[i]],
            log_prob: &[0.0],
            terminated: &terminated,
            truncated: &truncated,
            final_value: Some(&[case.final_value]),
            ..Default::default()
        };
        buffer.add(&step).unwrap();
    }
    buffer.finish(&[case.bootstrap], None, case.discount, case.lambda).unwrap();
    let view = buffer.view().unwrap();
    let (advantage, target) = view.advantages().unwrap();
    (advantage.to_vec(), target.to_vec())
}

struct Case {
    value: &'static [f32],
    reward: &'static [f32],
    bootstrap: f32,
    terminated: Option<usize>,
    truncated: Option<usize>,
    final_value: f32,
    discount: f32,
    lambda: f32,
}

#[test]
fn advantages_are_the_known_ones() {
    let s = || Case {
        value: &[0.5, -0.2, 0.1, 0.4],
        reward: &[1.0, 0.0, -1.0, 2.0],
        bootstrap: 0.3,
        terminated: None,
        truncated: None,
        final_value: f32::NAN,
        discount: 0.99,
        lambda: 0.95,
    };
    let check = |case: Case, advantage: [f64; 4]| {
        let (got, target) = judged(&case);
        for ((got, target), (wanted, value)) in got.iter().zip(target).zip(advantage.iter().zip(case.value)) {
            assert!((f64::from(*got) - wanted).abs() < 2e-6, "{got} is not {wanted}");
            assert_eq!(target, got + value);
        }
    };
    check(s(), [1.5386266334, 1.3148608543, 1.0801285, 1.897]);
    check(Case { terminated: Some(1), ..s() }, [0.4901, 0.2, 1.0801285, 1.897]);
    check(Case { terminated: Some(3), ..s() }, [1.2915493322, 1.0521524, 0.8008, 1.6]);
    check(Case { lambda: 1.0, ..s() }, [1.748676803, 1.4612897, 1.17403, 1.897]);
    check(Case { truncated: Some(1), final_value: 0.8, ..s() }, [1.234976, 0.992, 1.0801285, 1.897]);
    check(Case { truncated: Some(3), final_value: -0.6, ..s() }, [0.7973947298, 0.5267354915, 0.242143, 1.006]);
    // Termination wins over truncation, and then the final value is not read.
    check(Case { terminated: Some(1), truncated: Some(1), ..s() }, [0.4901, 0.2, 1.0801285, 1.897]);
    let one = Case { value: &[0.25], reward: &[1.5], bootstrap: 2.0, discount: 0.9, lambda: 0.5, ..s() };
    assert_eq!(judged(&one), (vec![3.05], vec![3.3]));
}

fn lines(buffer: &RolloutBuffer<'_>) -> String {
    let progress = buffer.view().unwrap().progress();
    let mut text = vec![b'#'; rollout_text::progress(&progress, None).unwrap()];
    let len = rollout_text::progress(&progress, Some(&mut text)).unwrap();
    assert_eq!(len, text.len());
    if len > 0 {
        let mut short = vec![b'#'; len - 1];
        assert_eq!(rollout_text::progress(&progress, Some(&mut short)).unwrap_err().kind, Kind::Size);
        assert_eq!(short, vec![b'#'; len - 1]);
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn progress_is_three_lines_padded_on_the_left() {
    let columns = [Column::new("obs", Element::F32, 2), Column::new("action", Element::I32, 1)];
    let config = RolloutBufferConfig::new(50, 2, &columns);
    let mut mem = block(&config);
    let mut buffer = open(&mut mem);
    let add = |buffer: &mut RolloutBuffer<'_>, reward: [f32; 2], terminated: [u8; 2]| {
        let obs = [0.5, -1.0, 0.25, 3.0];
        let step = Step {
            columns: &[Some(Elements::F32(&obs)), Some(Elements::I32(&[-3, 0]))],
            reward: &[0.125, 0.25],
            raw_reward: Some(&reward),
            value: &[1.0, 2.0],
            log_prob: &[-0.5, -0.75],
            terminated: &terminated,
            truncated: &[0, 0],
            ..Default::default()
        };
        buffer.add(&step).unwrap();
    };
    // The mean of no episodes is the same NaN on every machine.
    let p = buffer.view().unwrap().progress();
    assert_eq!([p.len_mean.to_bits(), p.return_mean.to_bits()], [f64::NAN.to_bits(); 2]);
    for _ in 0..20 {
        add(&mut buffer, [1.0, -0.5], [0, 0]);
        assert_eq!(lines(&buffer), "");
    }
    add(&mut buffer, [1.0, 0.0], [1, 0]);
    assert_eq!(lines(&buffer), "global_step=000042\navg_episode_length=021.00\navg_episode_return=021.00\n");
    add(&mut buffer, [0.0, 0.0], [0, 2]);
    assert_eq!(lines(&buffer), "global_step=000044\navg_episode_length=021.50\navg_episode_return=005.50\n");
    let view = buffer.view().unwrap();
    let mut rows = [MetricRow::default(); 9];
    let read = view.read_log(0, &mut rows).unwrap();
    let row = |global_step, env, metric, value| MetricRow { global_step, env, metric, value };
    assert_eq!((read.count, read.lost, read.next), (4, 0, 4));
    assert_eq!(rows[..2], [row(40, 0, EPISODE_LENGTH, 21.0), row(40, 0, EPISODE_RETURN, 21.0)]);
    assert_eq!(rows[2..4], [row(42, 1, EPISODE_LENGTH, 22.0), row(42, 1, EPISODE_RETURN, -10.0)]);

    let mut text = vec![0; rollout_text::step(&view, 21, None).unwrap()];
    rollout_text::step(&view, 21, Some(&mut text)).unwrap();
    let wanted = "Sample 22/22:\nobs       : 0.5 -1.0 0.25 3.0\naction    : -3 0\nreward    : 0.125 0.25\nvalue     : 1.0 2.0\n\
                  log_prob  : -0.5 -0.75\nterminated: 0 2\ntruncated : 0 0\n";
    assert_eq!(String::from_utf8(text).unwrap(), wanted);
    assert_eq!(rollout_text::step(&view, 22, None).unwrap_err().to_string(), "rollout text: a step below 22, given 22");
    let mut short = vec![0; wanted.len() - 1];
    assert_eq!(rollout_text::step(&view, 21, Some(&mut short)).unwrap_err().kind, Kind::Size);

    buffer.reset().unwrap();
    assert_eq!(lines(&buffer), "");
    add(&mut buffer, [0.0, 0.0], [0, 0]);
    assert_eq!(buffer.view().unwrap().progress().global_step, 46);
}

#[test]
fn metrics_lie_in_a_ring() {
    let columns = [Column::new("obs", Element::U8, 1)];
    let config = RolloutBufferConfig { log_capacity: 3, ..RolloutBufferConfig::new(1, 1, &columns) };
    let mut mem = block(&config);
    let mut buffer = open(&mut mem);
    for i in 0..5u32 {
        buffer.log(FIRST_METRIC + i, f64::from(i)).unwrap();
    }
    assert_eq!(buffer.log(EPISODE_RETURN, 1.0).unwrap_err().kind, Kind::Range);
    assert_eq!(buffer.log(FIRST_METRIC, f64::NAN).unwrap_err().kind, Kind::Value);
    let view = buffer.view().unwrap();
    let mut rows = [MetricRow::default(); 2];
    let read = view.read_log(1, &mut rows).unwrap();
    assert_eq!((read.count, read.lost, read.next), (2, 1, 4));
    assert_eq!(rows.map(|row| (row.metric, row.env, row.value)), [(4, ALL_ENVS, 2.0), (5, ALL_ENVS, 3.0)]);
    assert_eq!(view.read_log(5, &mut rows).unwrap().count, 0);
    assert_eq!(view.read_log(6, &mut rows).unwrap_err().kind, Kind::Range);
    open(&mut mem);
    // Of rows 2 to 4, a concurrent writer about to log a row may have touched row 2: readers that copied it get an error.
    let [_, _, turn, ..] = fields(1, 1, 3);
    let beside = |writing: u32, next: u64, len: usize| {
        let mut copy = forged(&mem, &[(turn + 12, &writing.to_ne_bytes())]);
        assert_eq!(kind(RolloutBuffer::attach(bytes(&mut copy))), (writing > 0).then_some(Kind::Image));
        let view = View::attach(bytes(&mut copy)).unwrap();
        view.read_log(next, &mut vec![MetricRow::default(); len]).map(|read| read.count).map_err(|e| e.kind)
    };
    assert_eq!([beside(0, 2, 3), beside(1, 3, 2), beside(1, 2, 0)], [Ok(3), Ok(2), Ok(0)]);
    assert_eq!([beside(1, 2, 3), beside(2, 3, 1)], [Err(Kind::Range); 2]);
}

#[test]
fn draws_follow_the_stream_of_the_seed() {
    let mut mem = block(&config(4, 2));
    let mut buffer = open(&mut mem);
    let mut twin = Rng::seeded(config(4, 2).seed);
    for _ in 0..4 {
        Given::random(&mut Rng::seeded(1), 2, 0.2).add(&mut buffer).unwrap();
    }
    buffer.finish(&[0.0; 2], None, 0.9, 0.9).unwrap();
    for _ in 0..3 {
        let (mut index, mut wanted) = ([0; 4], [0; 4]);
        buffer.draw(4, 2, &mut index).unwrap();
        cut(4, 2, 4, 2).draw(&mut twin, &mut wanted).unwrap();
        assert_eq!((index, u64::from(buffer.sample().unwrap())), (wanted, twin.bounded(3)));
    }
}

/// Rows may be filled in place: the observation of the next step while the current one is still in use.
#[test]
fn rows_are_filled_in_place() {
    let (mut mem, mut other) = (block(&config(2, 1)), block(&config(2, 1)));
    let (mut copied, mut buffer) = (open(&mut other), open(&mut mem));
    let steps = [3, 4].map(|seed| Given::random(&mut Rng::seeded(seed), 1, 0.0));
    let fill = |buffer: &mut RolloutBuffer<'_>, t: usize, obs: &[f32]| {
        buffer.row(0, t).unwrap().copy_from(Elements::F32(obs)).unwrap();
    };
    fill(&mut buffer, 0, &steps[0].obs);
    for (t, step) in steps.iter().enumerate() {
        fill(&mut buffer, t + 1, &steps.get(t + 1).unwrap_or(&steps[0]).obs);
        buffer.row(2, t).unwrap().copy_from(Elements::U8(&step.pixels)).unwrap();
        let columns = [None, Some(Elements::I32(&step.action)), None];
        buffer.add(&step.step(&columns)).unwrap();
        step.add(&mut copied).unwrap();
    }
    buffer.finish(&[0.0], None, 0.9, 0.9).unwrap();
    copied.finish(&[0.0], Some(Elements::F32(&steps[0].obs)), 0.9, 0.9).unwrap();
    let (a, b) = (buffer.view().unwrap(), copied.view().unwrap());
    assert_eq!((a.column(0), a.column(2)), (b.column(0), b.column(2)));
    for (column, step, needed) in [(0, 1, 2), (0, 3, 2), (2, 2, 2), (2, 1, 2), (3, 2, 3)] {
        let error = buffer.row(column, step).unwrap_err();
        assert_eq!(error.kind, Kind::Range, "{error} {needed}");
    }
    buffer.row(0, 2).unwrap();
    buffer.reset().unwrap();
    buffer.row(0, 1).unwrap();
    assert_eq!(buffer.row(2, 1).unwrap_err().kind, Kind::Range);
    buffer.row(0, 0).unwrap().f32().unwrap()[1] = f32::INFINITY;
    let columns = [None, Some(Elements::I32(&[1])), None];
    let error = buffer.add(&steps[0].step(&columns)).unwrap_err();
    assert_eq!(error.to_string(), "rollout_buffer: a finite column, given inf in row 0");
    assert_eq!(mem.len(), other.len());
}

#[test]
fn bad_configurations_are_refused() {
    let good = config(3, 2);
    let with = |columns: &[Column]| RolloutBufferConfig::new(3, 2, columns);
    let many = [Column::new("x", Element::F32, 1); 17];
    for (c, words) in [
        (config(0, 2), "num_steps of at least 1, given 0"),
        (config(3, 0), "num_envs of at least 1, given 0"),
        (config(1 << 31, 2), "num_steps with these num_envs"),
        (RolloutBufferConfig { log_capacity: 3, ..good }, "twice num_envs, 4, given 3"),
        (with(&[]), "num_columns"),
        (with(&many), "num_columns"),
        (with(&many[..2]), "names that differ"),
        (with(&[Column::frames("obs", 4, 1, 2)]), "num_stack of at most 1, given 2"),
        (with(&[Column::new("obs", Element::F32, 0)]), "len"),
    ] {
        says(RolloutBuffer::size(&c), Kind::Config, words);
        let mut mem = vec![7u64; 4096];
        assert_eq!(RolloutBuffer::init(bytes(&mut mem), &c).err(), RolloutBuffer::size(&c).err());
        assert_eq!(mem, vec![7; 4096]);
    }
    RolloutBuffer::size(&RolloutBufferConfig { log_capacity: 4, ..with(&[Column::frames("obs", 4, 1, 1)]) }).unwrap();
    let mut mem = vec![0; RolloutBuffer::size(&good).unwrap() / 8];
    let len = mem.len() * 8;
    assert_eq!(kind(RolloutBuffer::init(&mut bytes(&mut mem)[..len - 1], &good)), Some(Kind::Size));
    let mut longer = vec![0; mem.len() + 1];
    assert_eq!(RolloutBuffer::init(&mut bytes(&mut longer)[4..], &good).unwrap_err().kind, Kind::Align);
    assert_eq!(RolloutBuffer::attach(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
}

#[test]
fn bad_steps_change_nothing() {
    let mut mem = block(&config(2, 2));
    let good = Given::random(&mut Rng::seeded(9), 2, 0.0);
    let all = good.columns();
    let step = good.step(&all);
    let refused = |mem: &[u64], step: Step<'_>, kind, words: &str| refused(mem, kind, words, |b| b.add(&step));
    for len in [0, 1, 3] {
        let (reals, flags) = (&[0.0; 3][..len], &[0; 3][..len]);
        let words = format!("[N] of length 2, given {len}");
        refused(&mem, Step { reward: reals, ..step }, Kind::Shape, &words);
        if len > 0 {
            let words = format!("[N], or none, of length 2, given {len}");
            refused(&mem, Step { value: reals, ..step }, Kind::Shape, &words);
            refused(&mem, Step { log_prob: reals, ..step }, Kind::Shape, &words);
        }
        refused(&mem, Step { terminated: flags, ..step }, Kind::Shape, &words);
        refused(&mem, Step { truncated: flags, ..step }, Kind::Shape, &words);
        refused(&mem, Step { final_value: Some(reals), ..step }, Kind::Shape, &words);
        refused(&mem, Step { raw_reward: Some(reals), ..step }, Kind::Shape, &words);
        refused(&mem, Step { memory: reals, ..step }, Kind::Shape, "[N, M] of length 4");
        refused(&mem, Step { columns: &all[..len.min(2)], ..step }, Kind::Shape, "columns of the step 3");
        let columns = [all[0], Some(Elements::I32(&[0; 3][..len])), None];
        refused(&mem, Step { columns: &columns, ..step }, Kind::Shape, "a column [N, len] of length 2");
    }
    refused(&mem, Step { columns: &[all[1], all[1], all[2]], ..step }, Kind::Shape, "of their own kind");
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let reals = [0.0, bad];
        refused(&mem, Step { reward: &reals, ..step }, Kind::Value, "a finite reward");
        refused(&mem, Step { value: &reals, ..step }, Kind::Value, "a finite value");
        refused(&mem, Step { log_prob: &reals, ..step }, Kind::Value, "a finite log_prob");
        refused(&mem, Step { raw_reward: Some(&reals), ..step }, Kind::Value, "a finite raw_reward");
        refused(&mem, Step { memory: &[0.0, 0.0, 0.0, bad], ..step }, Kind::Value, "a finite memory");
        let obs = [0.0, 0.0, bad, 0.0, 0.0, 0.0];
        let columns = [Some(Elements::F32(&obs)), all[1], all[2]];
        refused(&mem, Step { columns: &columns, ..step }, Kind::Value, "a finite column");
        let cut = Step { truncated: &[0, 1], final_value: Some(&reals), ..step };
        refused(&mem, cut, Kind::Value, "a finite final_value");
        // It is read neither at terminated steps nor where no episode ended.
        let mut copy = mem.clone();
        open(&mut copy).add(&Step { terminated: &[0, 1], ..cut }).unwrap();
        open(&mut copy).add(&Step { truncated: &[1, 0], ..cut }).unwrap();
        open(&mut copy);
    }
    let cut = Step { truncated: &[0, 1], final_value: None, ..step };
    refused(&mem, cut, Kind::Null, "truncated and not terminated: 1");
    open(&mut mem).add(&Step { final_value: None, ..step }).unwrap();
    good.add(&mut open(&mut mem)).unwrap();
    refused(&mem, step, Kind::NotReady, "room for another step");
    open(&mut mem).finish(&[0.0; 2], None, 0.9, 0.9).unwrap();
    refused(&mem, step, Kind::NotReady, "not finished yet");
}

#[test]
fn calls_before_a_rollout_is_finished_change_nothing() {
    let mut mem = block(&config(4, 2));
    let (mut windows, mut index, obs) = ([Window::default(); 2], [0; 8], [0.5; 6]);
    let next = Elements::F32(&obs);
    let unfinished = "a rollout that is finished";
    refused(&mem, Kind::NotReady, "steps to finish", |b| b.finish(&[0.0; 2], None, 0.9, 0.9));
    refused(&mem, Kind::NotReady, "steps to choose from", |b| b.sample().map(drop));
    refused(&mem, Kind::NotReady, unfinished, |b| b.draw(2, 1, &mut index));
    refused(&mem, Kind::NotReady, unfinished, |b| b.draw_windows(2, 0.1, &mut windows));
    refused(&mem, Kind::NotReady, unfinished, |b| b.view().unwrap().advantages().map(drop));
    refused(&mem, Kind::NotReady, unfinished, |b| b.view().unwrap().gather(&[0], 1, Minibatch::default()));
    let none = Minibatch::default();
    refused(&mem, Kind::NotReady, unfinished, |b| b.view().unwrap().gather_windows(&windows, 1, 0, none));
    add_four(&mut mem);
    for (kind, words, bootstrap, next, discount, lambda) in [
        (Kind::Shape, "bootstrap_value [N] of length 2", &[0.0; 3][..], next, 0.9, 0.9),
        (Kind::Value, "a finite bootstrap_value", &[0.0, f32::NAN], next, 0.9, 0.9),
        (Kind::Range, "discount", &[0.0; 2], next, 1.1, 0.9),
        (Kind::Range, "lambda", &[0.0; 2], next, 0.9, -0.1),
        (Kind::Shape, "a column [N, len] of length 6, given 5", &[0.0; 2], Elements::F32(&obs[1..]), 0.9, 0.9),
        (Kind::Shape, "of their own kind", &[0.0; 2], Elements::U8(&[0; 6]), 0.9, 0.9),
        (Kind::Value, "a finite column", &[0.0; 2], Elements::F32(&[f32::NAN; 6]), 0.9, 0.9),
    ] {
        refused(&mem, kind, words, |b| b.finish(bootstrap, Some(next), discount, lambda));
    }
    refused(&mem, Kind::NotReady, unfinished, |b| b.draw(2, 1, &mut index));
}

/// Four steps of two environments; the first environment's episode ends with its second step.
fn add_four(mem: &mut [u64]) {
    let mut steps = Given::several(&mut Rng::seeded(2), 4, 2, 0.0);
    steps[1].terminated[0] = 1;
    steps.iter().for_each(|step| step.add(&mut open(mem)).unwrap());
}

/// The same steps, finished.
fn finished() -> Vec<u64> {
    let mut mem = block(&config(4, 2));
    add_four(&mut mem);
    open(&mut mem).finish(&[0.0; 2], Some(Elements::F32(&[0.5; 6])), 0.9, 0.9).unwrap();
    mem
}

fn window(first: u32, len: u32, pad: u32) -> Window {
    Window { first, len, pad, timestep: 0 }
}

#[test]
fn calls_after_a_rollout_is_finished_are_checked() {
    let mem = finished();
    let (mut windows, mut index) = ([Window::default(); 2], [0; 8]);
    // Advantages are computed once per rollout.
    let next = Some(Elements::F32(&[0.5; 6]));
    refused(&mem, Kind::NotReady, "reset it", |b| b.finish(&[0.0; 2], next, 0.9, 0.9));
    refused(&mem, Kind::Range, "T * N = 8, given 3", |b| b.draw(3, 1, &mut index));
    refused(&mem, Kind::Range, "divides num_steps, 4, given 3", |b| b.draw(8, 3, &mut index));
    refused(&mem, Kind::Shape, "indexes of length 8, given 7", |b| b.draw(8, 1, &mut index[1..]));
    refused(&mem, Kind::Range, "timesteps of at least 1", |b| b.draw_windows(0, 0.1, &mut windows));
    refused(&mem, Kind::Range, "end_chance from 0 to 1", |b| b.draw_windows(1, 1.5, &mut windows));
    refused(&mem, Kind::Range, "end_chance from 0 to 1", |b| b.draw_windows(1, f64::NAN, &mut windows));
    for (index, len, words) in [
        (&[0, 8][..], 1, "samples below 8, given 8"),
        (&[0], 0, "window_len of at least 1"),
        // From step 2 of environment 0, three samples would end in environment 1.
        (&[0, 2], 3, "inside one environment, of at most 2, given 3"),
    ] {
        refused(&mem, Kind::Range, words, |b| b.view().unwrap().gather(index, len, Minibatch::default()));
    }
    for (w, words) in [
        (window(8, 1, 2), "inside one trajectory, of at most 0, given 1"),
        (window(4, 0, 3), "inside one trajectory, of at most 4, given 0"),
        (window(3, 2, 1), "inside one trajectory, of at most 1, given 2"),
        (window(1, 3, 0), "violated by that from sample 1"),
        (window(4, 3, 1), "together are timesteps, 3, given 4"),
        (window(4, 1, u32::MAX), "together are timesteps, 3"),
    ] {
        refused(&mem, Kind::Range, words, |b| b.view().unwrap().gather_windows(&[w], 3, 0, Minibatch::default()));
    }
}

#[test]
fn arrays_of_another_length_are_refused_and_stay() {
    let mut mem = finished();
    let buffer = open(&mut mem);
    let view = buffer.view().unwrap();
    let spoilt: [fn(&mut Batch); 11] = [
        |out| out.timestep.truncate(3),
        |out| out.obs.truncate(11),
        |out| out.action.push(0),
        |out| out.pixels.truncate(7),
        |out| out.log_prob.truncate(1),
        |out| out.value.truncate(1),
        |out| out.advantage.push(0.0),
        |out| out.value_target.truncate(0),
        |out| out.reward.truncate(1),
        |out| out.mask.truncate(3),
        |out| out.memory.truncate(3),
    ];
    for timestep in [false, true] {
        for spoil in &spoilt[usize::from(!timestep)..] {
            let mut out = Batch::room(2, 4, if timestep { 2 } else { 4 }, timestep);
            spoil(&mut out);
            let untouched = out.clone();
            let error = out.with(timestep, |out| match timestep {
                true => view.gather_windows(&[window(4, 2, 0); 2], 2, 0, out),
                false => view.gather(&[0, 4], 2, out),
            });
            assert_eq!((error.unwrap_err().kind, out), (Kind::Shape, untouched));
        }
    }
    let mut none = [None, None, None, None];
    let four = Minibatch { columns: &mut none, ..Default::default() };
    assert_eq!(view.gather(&[0], 1, four).unwrap_err().to_string(), "minibatch: columns, at most 3, given 4");
    let mut bytes_of_obs = [0; 3];
    let mut wrong = [Some(ElementsMut::U8(&mut bytes_of_obs))];
    let wrong = Minibatch { columns: &mut wrong, ..Default::default() };
    assert_eq!(view.gather(&[0], 1, wrong).unwrap_err().to_string(), "minibatch: columns of their own kind");
    let stray = Minibatch { timestep: Some(&mut [0]), ..Default::default() };
    assert_eq!(view.gather(&[0], 1, stray).unwrap_err().kind, Kind::Shape);
}

/// A rollout of three steps whose first episode ends with step 0 in environment 0, and one metric from the host.
fn made(num_steps: usize, is_finished: bool, is_drawn: bool) -> Vec<u64> {
    let mut mem = block(&RolloutBufferConfig { log_capacity: 8, ..config(3, 2) });
    for i in 0..num_steps {
        let mut given = Given::random(&mut Rng::seeded(2), 2, 0.0);
        given.terminated[0] = u8::from(i == 0);
        given.add(&mut open(&mut mem)).unwrap();
    }
    if is_finished {
        open(&mut mem).finish(&[0.5, 0.5], None, 0.9, 0.9).unwrap();
    }
    if is_drawn {
        open(&mut mem).draw_windows(2, 0.1, &mut [Window::default(); 3]).unwrap();
    }
    open(&mut mem).log(FIRST_METRIC, 0.5).unwrap();
    open(&mut mem);
    mem
}

/// Asserts that these bytes in a block make it no image.
#[track_caller]
fn no_image(mem: &[u64], edits: &[(usize, &[u8])]) {
    let mut copy = forged(mem, edits);
    assert_ne!(mem, copy, "{edits:?}");
    let before = copy.clone();
    let error = RolloutBuffer::attach(bytes(&mut copy)).expect_err(&format!("{edits:?}"));
    assert_eq!((error.kind, copy), (Kind::Image, before), "{edits:?}: {error}");
}

/// The state of a rollout is checked word by word; the columns may hold anything.
#[test]
fn words_that_no_calls_lead_to_make_no_image() {
    let at = fields(3, 2, 8);
    let (state, running_return, log) = (at[3], at[5], at[7]);
    let [has_half, global_step, ended_return] = [36, 40, 72].map(|at| state + at);
    let [filled, is_finished, left_out] = [80, 84, 92].map(|at| state + at);
    let row = |slot: usize| log + slot * size_of::<MetricRow>();
    let [one, two, four] = [1u32, 2, 4].map(u32::to_ne_bytes);
    let (nan, infinity) = (f32::NAN.to_ne_bytes(), f64::INFINITY.to_ne_bytes());
    // No steps: nothing to finish, and no running return yet.
    let fresh = made(0, false, false);
    no_image(&fresh, &[(is_finished, &one)]);
    no_image(&fresh, &[(running_return + 8, &0.5f64.to_ne_bytes())]);
    no_image(&fresh, &[(left_out, &one)]);
    // Two steps of three; three metrics: length and return of the episode that ended in environment 0, and one from the host.
    let filling = made(2, false, false);
    no_image(&filling, &[(filled, &four), (global_step, &8u64.to_ne_bytes())]);
    for (at, step) in [(global_step, 5u64), (global_step, 6), (row(0), 5)] {
        no_image(&filling, &[(at, &step.to_ne_bytes())]);
    }
    no_image(&filling, &[(left_out, &four)]);
    no_image(&filling, &[(row(2) + 20, &one)]);
    for at in [is_finished, has_half, row(0) + 16, row(0) + 20] {
        no_image(&filling, &[(at, &two)]);
    }
    for at in [running_return + 8, row(1) + 8] {
        no_image(&filling, &[(at, &infinity)]);
    }
    no_image(&filling, &[(row(3) + 8, &1f64.to_ne_bytes())]);
    // Rewards, values, log-probabilities, final values and bootstrap values.
    for number in [at[8], at[9], at[10], at[13] + 20, at[14] + 4] {
        no_image(&filling, &[(number, &nan)]);
    }
    for (at, sum) in [(ended_return, 2.1e60), (running_return + 8, 1.1e60)] {
        no_image(&filling, &[(at, &f64::to_ne_bytes(sum))]);
        no_image(&filling, &[(at, &f64::to_ne_bytes(-sum))]);
    }
    no_image(&filling, &[(ended_return, &f64::NAN.to_ne_bytes())]);
}

/// One episode of one step has ended; two of the metrics are its own.
#[test]
fn counts_that_no_calls_lead_to_make_no_image() {
    let (state, filling) = (fields(3, 2, 8)[3], made(2, false, false));
    let [logged, num_ended, ended_len] = [48, 56, 64].map(|at| state + at);
    for (at, count, others) in [
        (logged, 3u64, [1 << 63, u64::MAX - 3, u64::MAX]),
        (num_ended, 1, [0, 2, u64::MAX]),
        (ended_len, 1, [0, 1 << 32, u64::MAX]),
    ] {
        assert_eq!(bytes(&mut filling.clone())[at..][..8], count.to_ne_bytes());
        others.iter().for_each(|other| no_image(&filling, &[(at, &other.to_ne_bytes())]));
    }
    // The number of the first step, and the global step that follows from it.
    for first in [1u64 << 62, (u64::MAX - 3) / 2] {
        let steps = first.wrapping_add(2).wrapping_mul(2);
        no_image(&filling, &[(state - 64, &first.to_ne_bytes()), (state + 40, &steps.to_ne_bytes())]);
    }
}

/// Trajectories start at samples 0, 1 and 3; they are unused until the rollout is finished.
#[test]
fn trajectories_that_no_calls_lead_to_make_no_image() {
    let at = fields(3, 2, 8);
    let (starts, [is_finished, num_trajectories, left_out]) = (at[17], [84, 88, 92].map(|word| at[3] + word));
    let [one, two, four] = [1u32, 2, 4].map(u32::to_ne_bytes);
    no_image(&made(2, false, false), &[(num_trajectories, &one)]);
    made(3, true, false);
    let drawn = made(3, true, true);
    assert_eq!(bytes(&mut drawn.clone())[starts + 8..starts + 12], 3u32.to_ne_bytes());
    no_image(&drawn, &[(is_finished, &[0; 4])]);
    no_image(&drawn, &[(starts + 4, &two)]);
    no_image(&drawn, &[(num_trajectories, &two)]);
    no_image(&drawn, &[(num_trajectories, &four)]);
    no_image(&drawn, &[(left_out, &one)]);
}

/// Values and log-probabilities may be left out; calls that need them name them in their error, until the next reset.
#[test]
fn values_and_log_probs_may_be_left_out() {
    let mut mem = block(&config(3, 2));
    let given = Given::several(&mut Rng::seeded(8), 3, 2, 0.5);
    for (no_value, no_log_prob) in [(true, false), (false, true), (true, true), (false, false)] {
        // Every state is a valid image, and one step leaves out an array.
        for (t, given) in given.iter().enumerate() {
            let all = given.columns();
            let mut step = given.step(&all);
            if t == 1 && no_value {
                (step.value, step.final_value) = (&[], None);
            }
            if t == 1 && no_log_prob {
                step.log_prob = &[];
            }
            open(&mut mem).add(&step).unwrap();
        }
        check_what_is_read(&open(&mut mem).view().unwrap(), no_value, no_log_prob);
        let result = open(&mut mem).finish(&[0.5; 2], None, 0.9, 0.9);
        if no_value {
            says(result, Kind::NotReady, "value of every row");
        } else {
            result.unwrap();
            check_what_is_gathered(&open(&mut mem).view().unwrap(), &given[0], no_log_prob);
        }
        open(&mut mem).reset().unwrap();
        open(&mut mem);
    }
}

fn check_what_is_read(view: &View<'_>, no_value: bool, no_log_prob: bool) {
    let rollout = view.rollout().unwrap();
    assert_eq!((rollout.value.is_empty(), rollout.final_value.is_none()), (no_value, no_value));
    assert_eq!(view.log_prob().unwrap().is_empty(), no_log_prob);
    let next = view.progress().global_step / 2 - 3;
    let arrays =
        [(no_value, "value of every row"), (no_log_prob, "log_prob of every row"), (no_value, "value of every row")];
    for (i, (lacks, words)) in arrays.into_iter().enumerate() {
        let (mut numbers, mut out) = ([f32::NAN; 6], RowsOut { num_rows: 3, ..Default::default() });
        *[&mut out.value, &mut out.log_prob, &mut out.final_value][i] = Some(&mut numbers);
        let read = view.read(next, out);
        assert_eq!(numbers.iter().all(|x| x.is_nan()), lacks);
        if lacks {
            says(read, Kind::NotReady, words);
        } else {
            assert_eq!(read.unwrap().count, 3);
        }
    }
    let mut text = [0; 4096];
    let len = rollout_text::step(view, 0, Some(&mut text)).unwrap();
    let text = std::str::from_utf8(&text[..len]).unwrap();
    assert_eq!((text.contains("\nvalue "), text.contains("\nlog_prob ")), (!no_value, !no_log_prob));
}

fn check_what_is_gathered(view: &View<'_>, first: &Given, no_log_prob: bool) {
    let (mut log_prob, mut value) = ([f32::NAN; 2], [0.0; 2]);
    for windows in [false, true] {
        let out = Minibatch { log_prob: Some(&mut log_prob), value: Some(&mut value), ..Default::default() };
        let gathered = match windows {
            true => view.gather_windows(&[window(0, 1, 0); 2], 1, 0, out),
            false => view.gather(&[0, 3], 1, out),
        };
        if no_log_prob {
            says(gathered, Kind::NotReady, "log_prob of every row");
        } else {
            gathered.unwrap();
            assert_eq!(log_prob[0], first.log_prob[0]);
        }
    }
    view.gather(&[0, 3], 1, Minibatch { value: Some(&mut value), ..Default::default() }).unwrap();
    assert_eq!(value, [first.value[0], first.value[1]]);
}

/// A call that would count beyond the last number is refused; any other call leads from a valid image to a valid image.
#[test]
fn images_at_the_ends_of_their_ranges_lead_to_images() {
    let mut mem = block(&RolloutBufferConfig { log_capacity: 8, ..config(4, 2) });
    let mut buffer = open(&mut mem);
    let mut given = Given::random(&mut Rng::seeded(2), 2, 0.0);
    for end in [1, 0] {
        given.terminated = vec![end; 2];
        given.add(&mut buffer).unwrap();
    }
    given.terminated = vec![1; 2];
    let [_, _, turn, state, _, running_return, _, log, ..] = fields(4, 2, 8);
    const LAST: u64 = i64::MAX as u64;
    let no = Some(Kind::Range);
    // The number of the first step, the metrics logged, and the results of a step that ends two episodes and of a metric.
    let cases = [
        (0, LAST, no, no),
        (0, LAST - 1, no, None),
        (0, LAST - 3, no, None),
        (0, LAST - 4, None, None),
        (LAST / 2 - 2, 20, no, None),
        (LAST / 2 - 3, 20, None, None),
    ];
    for (first, logged, of_add, of_log) in cases {
        let words = [
            (turn, first),
            (state + 40, (first + 2) * 2),
            (state + 48, logged),
            (state + 64, 2 * u64::from(u32::MAX)),
            (state + 72, 4e60f64.to_bits()),
            (running_return, 1e60f64.to_bits()),
            (running_return + 8, (-1e60f64).to_bits()),
        ]
        .map(|(at, word)| (at, word.to_ne_bytes()));
        let row = [MetricRow { global_step: 0, value: 1.0, env: 0, metric: 0 }; 8];
        let words = words.iter().map(|(at, word)| (*at, &word[..])).chain([(log, bytemuck::cast_slice(&row))]);
        let forged = forged(&mem, &words.collect::<Vec<_>>());
        for (wanted, is_add) in [(of_add, true), (of_log, false)] {
            let mut block = forged.clone();
            let mut buffer = open(&mut block);
            let got = if is_add { given.add(&mut buffer) } else { buffer.log(FIRST_METRIC, 1.0) };
            assert_eq!(got.err().map(|error| error.kind), wanted);
            assert_eq!(block == forged, wanted.is_some());
            let rows = if wanted.is_some() { 0 } else { [1, 4][usize::from(is_add)] };
            let mut buffer = open(&mut block);
            let (view, mut out) = (buffer.view().unwrap(), [MetricRow::default(); 9]);
            let next = logged + rows;
            assert_eq!(view.read_log(next - 8, &mut out).unwrap(), Read { count: 8, lost: 0, next });
            assert_eq!(view.read_log(next + 1, &mut out).unwrap_err().kind, Kind::Range);
            assert!(view.progress().return_mean.is_finite());
            buffer.reset().unwrap();
            open(&mut block);
        }
    }
}

#[test]
fn another_block_is_no_rollout() {
    let mut mem = block(&config(2, 2));
    let other = BlockKind::Trajectory as u32;
    bytes(&mut mem)[16..20].copy_from_slice(&other.to_ne_bytes());
    assert_eq!(RolloutBuffer::attach(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
    assert_eq!(RolloutBuffer::open(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
}

/// Steps are read from a number on; no reset gives the same number out again.
#[test]
fn steps_are_read_by_number() {
    let mut mem = block(&config(3, 2));
    let given = Given::several(&mut Rng::seeded(6), 5, 2, 0.3);
    let read = |mem: &mut [u64], next: u64, num_rows: usize| {
        let (mut reals, mut actions) = (vec![f32::NAN; num_rows * 2], vec![7; num_rows * 2]);
        let (mut memory, mut flags) = (vec![f32::NAN; num_rows * 2 * M], vec![9; num_rows * 2]);
        let view = View::attach(bytes(mem)).unwrap();
        let mut columns = [None, Some(ElementsMut::I32(&mut actions))];
        let out = RowsOut {
            num_rows,
            columns: &mut columns,
            log_prob: Some(&mut reals),
            terminated: Some(&mut flags),
            memory: Some(&mut memory),
            ..Default::default()
        };
        view.read(next, out).map(|read| (read, reals, actions, flags, memory))
    };
    given[..3].iter().for_each(|given| given.add(&mut open(&mut mem)).unwrap());
    let (got, log_prob, action, terminated, memory) = read(&mut mem, 1, 2).unwrap();
    assert_eq!(got, Read { count: 2, lost: 0, next: 3 });
    assert_eq!(log_prob, concat(&given[1..3], |step| &step.log_prob));
    assert_eq!(action, concat(&given[1..3], |step| &step.action));
    assert_eq!(terminated, concat(&given[1..3], |step| &step.terminated));
    assert_eq!(memory, concat(&given[1..3], |step| &step.memory));
    let mut buffer = open(&mut mem);
    buffer.finish(&[0.0; 2], Some(Elements::F32(&[0.0; 2 * OBS])), 0.9, 0.9).unwrap();
    buffer.reset().unwrap();
    assert_eq!(read(&mut mem, 3, 2).unwrap().0, Read { count: 0, lost: 0, next: 3 });
    given[3..].iter().for_each(|given| given.add(&mut open(&mut mem)).unwrap());
    let (got, log_prob, ..) = read(&mut mem, 2, 4).unwrap();
    assert_eq!(got, Read { count: 2, lost: 1, next: 5 });
    assert_eq!(log_prob[..4], concat(&given[3..], |step| &step.log_prob));
    assert!(log_prob[4..].iter().all(|x| x.is_nan()));
    assert_eq!(read(&mut mem, 6, 1).unwrap_err().kind, Kind::Range);
    open(&mut mem);
    bytes(&mut mem)[70] ^= 1;
    assert_eq!(View::attach(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
}

#[test]
fn advantages_are_summed_in_what_the_configuration_says() {
    for accumulate in [Accumulate::F32, Accumulate::F64] {
        let mut mem = block(&RolloutBufferConfig { accumulate: accumulate as u32, ..config(60, 3) });
        let mut buffer = open(&mut mem);
        assert_eq!(buffer.config().accumulate, accumulate as u32);
        Given::several(&mut Rng::seeded(9), 60, 3, 0.02).iter().for_each(|step| step.add(&mut buffer).unwrap());
        buffer.finish(&[0.5; 3], None, 0.99, 0.95).unwrap();
        let view = buffer.view().unwrap();
        let rollout = view.rollout().unwrap();
        assert_eq!(rollout.accumulate, accumulate);
        let both = [Accumulate::F32, Accumulate::F64].map(|accumulate| {
            let (mut advantage, mut value_target) = ([0.0; 180], [0.0; 180]);
            gae(&Rollout { accumulate, ..rollout }, 0.99, 0.95, &mut advantage, &mut value_target).unwrap();
            (advantage, value_target)
        });
        assert!(both[0] != both[1]);
        let (advantage, value_target) = &both[accumulate as usize];
        assert_eq!(view.advantages().unwrap(), (&advantage[..], &value_target[..]));
    }
}

/// Steps of three environments, of which the host resets environment 1 after step 1, and environments 0 and 2 after step 2. A 2
/// given by a step is no mark of a host's cut, and an episode ends before the cut step. Returns one more step, not added.
fn cut_by_the_host(mem: &mut [u64], num_steps: usize) -> (Vec<Given>, Given) {
    says(open(mem).cut_rows(&[0; 4]), Kind::Shape, "");
    open(mem).cut_rows(&[1; 3]).unwrap(); // nothing to cut before the first step
    let mut steps = Given::several(&mut Rng::seeded(7), num_steps + 1, 3, 0.0);
    let last = steps.pop().unwrap();
    (steps[2].truncated[2], steps[2].final_value[2]) = (2, 0.5);
    steps[0].terminated[0] = 1;
    for (t, step) in steps.iter().enumerate() {
        step.add(&mut open(mem)).unwrap();
        match t {
            1 => open(mem).cut_rows(&[0, 9, 0]).unwrap(),
            2 => open(mem).cut_rows(&[1, 0, 1]).unwrap(),
            _ => {}
        }
        open(mem).cut_rows(&[0; 3]).unwrap();
    }
    (steps, last)
}

/// Nothing is learned from a step of unknown outcome: the step before it bootstraps from its value, others are unaffected.
#[test]
fn resets_by_the_host_cut_the_rollout() {
    const N: usize = 3;
    for (accumulate, num_steps) in [(0, 4), (1, 4), (0, 5)] {
        let mut mem = block(&RolloutBufferConfig { accumulate, ..config(num_steps, N as u32) });
        let (steps, mut last) = cut_by_the_host(&mut mem, num_steps as usize);
        let bootstrap = [0.25, -0.5, 1.0];
        open(&mut mem).finish(&bootstrap, Some(Elements::F32(&[0.0; N * OBS])), 0.97, 0.9).unwrap();
        // Steps of unknown outcome are left out: the step before is the last of a truncated episode.
        let (mut known, gone) = (steps.clone(), [(1, 1), (2, 0)]);
        for (t, e) in gone {
            (known[t - 1].truncated[e], known[t - 1].final_value[e]) = (1, steps[t].value[e]);
            known[t].truncated[e] = 1;
        }
        let accumulate = Accumulate::from_number(accumulate).unwrap();
        let (mut advantage, mut value_target) = judge(&known, &bootstrap, accumulate);
        for (t, e) in gone {
            (advantage[t * N + e], value_target[t * N + e]) = (0.0, steps[t].value[e]);
        }
        let buffer = open(&mut mem);
        let view = buffer.view().unwrap();
        assert_eq!(view.advantages().unwrap(), (&advantage[..], &value_target[..]));
        let held = view.rollout().unwrap().truncated;
        assert_eq!(held.iter().map(|&x| u32::from(x == 2)).sum::<u32>(), 2);
        assert_eq!((held[N + 1], held[2 * N], held[2 * N + 2]), (2, 2, 1));
        // Cut episodes are not counted, and the next ones start with empty sums.
        assert_eq!((view.progress().num_ended, view.progress().len_mean), (2, 2.0));
        // In a finished rollout the advantages stay, and the next rollout begins with a new episode.
        open(&mut mem).cut_rows(&[0, 0, 1]).unwrap();
        let buffer = open(&mut mem);
        assert_eq!(buffer.view().unwrap().advantages().unwrap(), (&advantage[..], &value_target[..]));
        open(&mut mem).reset().unwrap();
        assert_eq!(open(&mut mem).view().unwrap().first().to_vec(), [0, 0, 1]);
        open(&mut mem).cut_rows(&[1, 0, 0]).unwrap();
        assert_eq!(open(&mut mem).view().unwrap().first().to_vec(), [1, 0, 1]);
        (last.terminated, last.reward) = (vec![1; N], vec![0.5; N]);
        last.add(&mut open(&mut mem)).unwrap();
        let (t, p) = (num_steps as usize, open(&mut mem).view().unwrap().progress());
        let lens = 1 + (t - 2 + 1) + 1; // 0 was cut just now, 1 after its second step, 2 in the rollout before
        assert_eq!((p.num_ended, p.len_mean), (3, lens as f64 / 3.0));
    }
}

/// No step of the rollout is later than the steps left out.
#[test]
fn resets_by_the_host_cut_the_last_step_of_all_environments() {
    const N: usize = 2;
    let mut mem = block(&config(3, N as u32));
    let steps = Given::several(&mut Rng::seeded(8), 3, N, 0.0);
    steps.iter().for_each(|step| step.add(&mut open(&mut mem)).unwrap());
    open(&mut mem).cut_rows(&[1; N]).unwrap();
    open(&mut mem).finish(&[0.5; N], Some(Elements::F32(&[0.0; N * OBS])), 0.9, 0.8).unwrap();
    let buffer = open(&mut mem);
    let view = buffer.view().unwrap();
    let (advantage, value_target) = view.advantages().unwrap();
    assert_eq!((&advantage[2 * N..], &value_target[2 * N..]), (&[0.0; N][..], &steps[2].value[..]));
    for env in 0..N {
        let error = |step: usize| {
            let next = f64::from(steps[step + 1].value[env]);
            f64::from(steps[step].reward[env]) + 0.9 * next - f64::from(steps[step].value[env])
        };
        let wanted = [error(0) + 0.9 * 0.8 * error(1), error(1)];
        for (step, wanted) in wanted.into_iter().enumerate() {
            assert!((f64::from(advantage[step * N + env]) - wanted).abs() < 1e-6, "step {step} of {env}");
        }
    }
}
