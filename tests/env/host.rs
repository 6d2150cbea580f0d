//! A host of environments, for all of these tests: blocks, arrays of a step, and groups of an asynchronous batch.

use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, TryLockError};

use bytemuck::Pod;
use rlcore::env::batch::{self, Batch, Config, Lanes, Setup, Share, Shares};
use rlcore::env::{Autoreset, Env, Rows, StepOut, VecEnv, VecEnvConfig};
use rlcore::space::{Element, Elements, ElementsMut};

pub const MODES: [Autoreset; 4] = [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Disabled, Autoreset::Legacy];

/// Numbers and flags that no environment writes.
pub const MARK: f32 = -77.0;
pub const FLAG: u8 = 9;

/// The arrays of a step, filled with marks. They are compared bit by bit, so that NaN and -0 count, too.
#[derive(Clone, Debug)]
pub struct Arrays<T = f32> {
    kind: Element,
    /// Bytes of all observations.
    size: usize,
    pub obs: Vec<T>,
    pub reward: Vec<f32>,
    pub terminated: Vec<u8>,
    pub truncated: Vec<u8>,
    pub final_obs: Vec<T>,
    pub valid: Vec<u8>,
    /// Empty without masks.
    pub mask: Vec<u8>,
    pub final_mask: Vec<u8>,
}

impl Arrays {
    pub fn new(n: usize, obs_len: usize) -> Self {
        Arrays::of(Element::F32, n, obs_len, MARK)
    }

    pub fn with_masks(n: usize, obs_len: usize, choices: usize) -> Self {
        let mask = vec![FLAG; n * choices];
        Arrays { mask: mask.clone(), final_mask: mask, ..Arrays::new(n, obs_len) }
    }

    pub fn row(&self, i: usize) -> (&[f32], f32, u8, u8, &[f32], u8) {
        let k = self.obs.len() / self.reward.len();
        let (obs, last) = (&self.obs[i * k..][..k], &self.final_obs[i * k..][..k]);
        (obs, self.reward[i], self.terminated[i], self.truncated[i], last, self.valid[i])
    }
}

impl Arrays<u8> {
    pub fn of_bytes(n: usize, obs_len: usize) -> Self {
        Arrays::of(Element::U8, n, obs_len, FLAG)
    }
}

impl<T: Pod> Arrays<T> {
    /// The arrays of `n` rows. Observations are kept in elements of their kind, or in words with room for them.
    pub fn of(kind: Element, n: usize, obs_len: usize, mark: T) -> Self {
        let (flags, size) = (vec![FLAG; n], n * obs_len * kind.size());
        let obs = vec![mark; size.div_ceil(size_of::<T>())];
        Arrays {
            kind,
            size,
            final_obs: obs.clone(),
            obs,
            reward: vec![MARK; n],
            terminated: flags.clone(),
            truncated: flags.clone(),
            valid: flags,
            mask: Vec::new(),
            final_mask: Vec::new(),
        }
    }

    pub fn out(&mut self) -> StepOut<'_> {
        let [obs, last] = [&mut self.obs, &mut self.final_obs].map(|x| {
            let bytes = &mut bytemuck::cast_slice_mut(x)[..self.size];
            ElementsMut::of_bytes(self.kind, bytes).unwrap()
        });
        StepOut {
            obs,
            reward: &mut self.reward,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            final_obs: Some(last),
            valid: Some(&mut self.valid),
            action_mask: Some(&mut self.mask[..]).filter(|mask| !mask.is_empty()),
            final_action_mask: Some(&mut self.final_mask[..]).filter(|mask| !mask.is_empty()),
        }
    }

    /// The observations alone, for a reset.
    pub fn first(&mut self) -> ElementsMut<'_> {
        self.out().obs
    }

    pub fn ended(&self, i: usize) -> bool {
        self.terminated[i] == 1 || self.truncated[i] == 1
    }

    /// The rows that ended and that only the host resets.
    pub fn to_reset(&self, mode: Autoreset) -> Vec<usize> {
        (0..self.reward.len()).filter(|&i| mode == Autoreset::Disabled && self.ended(i)).collect()
    }

    /// All arrays as bytes.
    pub fn bytes(&self) -> [&[u8]; 8] {
        let [obs, last] = [&self.obs, &self.final_obs].map(|x| bytemuck::cast_slice(x));
        let (reward, flags) = (bytemuck::cast_slice(&self.reward), [&self.terminated, &self.truncated, &self.valid]);
        [obs, last, reward, flags[0], flags[1], flags[2], &self.mask, &self.final_mask]
    }
}

impl<T: Pod> PartialEq for Arrays<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

pub fn config(num_envs: u32, autoreset: Autoreset) -> VecEnvConfig {
    VecEnvConfig { num_envs, seed: 3, autoreset, max_episode_steps: 0 }
}

pub fn bytes(block: &mut [u64]) -> &mut [u8] {
    bytemuck::cast_slice_mut(block)
}

/// The block of these environments before their first reset.
pub fn block<E: Env + ?Sized>(env: &E, config: &VecEnvConfig) -> Vec<u64> {
    let mut block = vec![0; VecEnv::size(env, config).unwrap() / 8];
    VecEnv::init(bytes(&mut block), env, config).unwrap();
    block
}

/// The block of these environments after their first reset, and the arrays that tell it.
pub fn begin<E: Env + ?Sized>(env: &E, config: &VecEnvConfig) -> (Vec<u64>, Arrays) {
    let (mut block, n) = (block(env, config), config.num_envs as usize);
    let mut arrays = Arrays::new(n, env.spec().obs.len as usize);
    attach(&mut block, env).reset(None, arrays.first()).unwrap();
    (block, arrays)
}

pub fn attach<'a, E: Env + ?Sized>(block: &'a mut [u64], env: &'a E) -> VecEnv<'a, E> {
    VecEnv::attach(bytes(block), env).unwrap()
}

/// These numbers as actions of the environment's kind.
pub fn act<'a>(env: &(impl Env + ?Sized), choices: &'a [i32], numbers: &'a [f32]) -> Elements<'a> {
    if env.spec().action.kind == Element::I32 { Elements::I32(choices) } else { Elements::F32(numbers) }
}

/// Every group behind a lock that never blocks: a held lock means that two workers have the group at once.
pub struct Groups<'a> {
    pub shares: Vec<Mutex<Share<'a>>>,
    pub lanes: Vec<Mutex<Rows<'a>>>,
}

impl<'a> Groups<'a> {
    fn new(setup: &Setup, mut share: Share<'a>, mut rows: Rows<'a>) -> Self {
        let (mut shares, mut lanes) = (Vec::new(), Vec::new());
        for _ in 0..setup.num_groups() {
            let (own, rest) = share.split_at(setup.in_series as usize, setup).unwrap();
            shares.push(Mutex::new(own));
            share = rest;
            let (own, rest) = rows.split_at(setup.in_series as usize).unwrap();
            lanes.push(Mutex::new(own));
            rows = rest;
        }
        assert!(rows.is_empty() && share.outcome.is_empty());
        Groups { shares, lanes }
    }
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    match lock.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(dead)) => dead.into_inner(),
        Err(TryLockError::WouldBlock) => panic!("two have one group"),
    }
}

impl Shares for Groups<'_> {
    fn share<T>(&self, group: usize, work: impl FnOnce(Share<'_>) -> T) -> Option<T> {
        Some(work(hold(self.shares.get(group)?).reborrow()))
    }
}

impl Lanes for Groups<'_> {
    fn lane<T>(&self, group: usize, work: impl FnOnce(Rows<'_>) -> T) -> Option<T> {
        Some(work(hold(self.lanes.get(group)?).reborrow()))
    }
}

/// Runs `test` on a batch with its vectorized environment, reset and ready; returns the memory of both and the result.
pub fn with<E: Env, T>(
    env: &E,
    config: VecEnvConfig,
    in_series: u32,
    test: impl FnOnce(&Batch<'_>, &Groups<'_>, &mut Arrays) -> T,
) -> (Vec<u64>, Vec<u64>, T) {
    let (mut mem, mut arrays) = begin(env, &config);
    let mut venv = attach(&mut mem, env);
    let (setup, config) = (*venv.setup(), Config { in_series });
    let mut own = vec![0u64; batch::size(&setup, &config).unwrap() / 8];
    let (setup, share) = batch::init(bytes(&mut own), &setup, &config).unwrap();
    let groups = Groups::new(&setup, share, venv.rows());
    let words: Vec<AtomicU32> = (0..setup.num_words()).map(|_| AtomicU32::new(0)).collect();
    let result = test(&Batch::over(setup, &words).unwrap(), &groups, &mut arrays);
    drop(groups);
    (mem, own, result)
}
