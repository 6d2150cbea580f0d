//! Agents that see stacks of small pictures.

use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{Autoreset, Env, Spec, Step, StepOut, VecEnv, VecEnvConfig};
use rlcore::error::Result;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

pub const NUM: usize = 3;
pub const CHANNELS: usize = 2;
pub const PIXELS: usize = 4;
pub const LEN: usize = PIXELS * CHANNELS * NUM;

/// An agent's observation: its last frames, oldest first.
#[derive(Clone)]
pub struct Camera {
    frames: Vec<[u8; PIXELS * CHANNELS]>,
}

impl Camera {
    /// The start of an episode: the first frame is repeated or preceded by zeros, at random.
    pub fn begin(rng: &mut Rng) -> Camera {
        let (mut first, zeros) = ([0; PIXELS * CHANNELS], rng.coin());
        first.fill_with(|| rng.bounded(255) as u8);
        let mut frames = vec![if zeros { [0; PIXELS * CHANNELS] } else { first }; NUM];
        frames[NUM - 1] = first;
        Camera { frames }
    }

    pub fn step(&mut self, rng: &mut Rng) {
        let mut next = [0; PIXELS * CHANNELS];
        next.fill_with(|| rng.bounded(255) as u8);
        self.frames.remove(0);
        self.frames.push(next);
    }

    fn write(&self, to: &mut [u8]) {
        for (i, frame) in self.frames.iter().enumerate() {
            for (pixel, from) in to.chunks_exact_mut(CHANNELS * NUM).zip(frame.chunks_exact(CHANNELS)) {
                pixel[i * CHANNELS..][..CHANNELS].copy_from_slice(from);
            }
        }
    }
}

pub fn pictures(cameras: &[Camera]) -> Vec<u8> {
    let mut obs = vec![0; cameras.len() * LEN];
    cameras.iter().zip(obs.chunks_exact_mut(LEN)).for_each(|(camera, to)| camera.write(to));
    obs
}

/// A game of three lives whose pictures are noise.
pub struct Film;

const FRAME: [Field<'static>; 1] = [Field::new("", Element::U8, &[2, 2, CHANNELS as u32], 0)];

impl Film {
    fn show(state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        obs.u8()?.fill_with(|| rng.bounded(255) as u8);
        state[0] -= u8::from(state[0] > 0 && rng.bounded(7) == 0);
        Ok(())
    }
}

impl Env for Film {
    fn spec(&self) -> Spec<'_> {
        Spec {
            env_id: 9300,
            state_size: 8,
            max_episode_steps: 20,
            obs: Space::bytes((PIXELS * CHANNELS) as u32).with_fields(&FRAME),
            action: Space::discrete(&[3]),
            wrappers: 0,
        }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        state[0] = 3;
        Film::show(state, rng, obs)
    }

    fn step(&self, _: usize, state: &mut [u8], rng: &mut Rng, _: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        Film::show(state, rng, obs)?;
        Ok(Step { reward: f32::from(state[0]), terminated: state[0] == 0, truncated: false })
    }

    fn lives(&self, _: usize, state: &[u8]) -> Result<u32> {
        Ok(state[0].into())
    }
}

/// A stage of a step of N films, handed to the host that learns. All arrays have one row per film.
pub enum Scene<'a> {
    /// The host must choose actions for the `active` rows.
    Act { active: &'a [u8], obs: &'a [u8], action: &'a mut [i32] },
    /// The outcome of the actions: `last` holds the observations that they led to, `obs` those for the next actions.
    Observe { active: &'a [u8], outcome: [&'a [u8]; 2], reward: &'a [f32], last: &'a [u8], obs: &'a [u8] },
}

/// Steps N films with these wrappers until `host` returns false.
pub fn play<const N: usize>(
    list: &[Wrapper<'_>],
    autoreset: Autoreset,
    mut host: impl FnMut(Scene<'_>) -> Result<bool>,
) -> Result {
    let pipeline = Pipeline::new(&Film, list)?;
    let vec_config = VecEnvConfig { num_envs: N as u32, seed: 3, autoreset, ..VecEnvConfig::default() };
    let mut block = vec![0u64; VecEnv::size(&pipeline, &vec_config)?.div_ceil(8)];
    let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut block), &pipeline, &vec_config)?;
    let (mut obs, mut last, mut valid) = (vec![0; N * LEN], vec![0; N * LEN], [1; N]);
    let (mut reward, mut terminated, mut truncated) = ([0.0; N], [0; N], [0; N]);
    envs.reset(None, ElementsMut::U8(&mut obs))?;
    loop {
        // A row that the next step only resets needs no action.
        let resets = |i: usize| autoreset == Autoreset::NextStep && (terminated[i] | truncated[i]) != 0;
        let active: Vec<u8> = (0..N).map(|i| u8::from(!resets(i))).collect();
        let mut action = [0; N];
        if !host(Scene::Act { active: &active, obs: &obs, action: &mut action })? {
            return Ok(());
        }
        let out = StepOut {
            obs: ElementsMut::U8(&mut obs),
            reward: &mut reward,
            terminated: &mut terminated,
            truncated: &mut truncated,
            final_obs: Some(ElementsMut::U8(&mut last)),
            valid: Some(&mut valid),
            action_mask: None,
            final_action_mask: None,
        };
        envs.step(Elements::I32(&action), out)?;
        if autoreset != Autoreset::SameStep {
            last.copy_from_slice(&obs);
        }
        for i in (0..N).filter(|i| autoreset == Autoreset::Disabled && (terminated[*i] | truncated[*i]) != 0) {
            envs.reset_one(i, None, ElementsMut::U8(&mut obs))?;
        }
        let outcome = [&terminated[..], &truncated];
        if !host(Scene::Observe { active: &active, outcome, reward: &reward, last: &last, obs: &obs })? {
            return Ok(());
        }
    }
}
