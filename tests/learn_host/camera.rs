//! Agents that see stacks of small pictures.

use rlcore::env::{Env, Spec, Step};
use rlcore::error::Result;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

pub const NUM: usize = 3;
pub const CHANNELS: usize = 2;
pub const PIXELS: usize = 4;
pub const LEN: usize = PIXELS * CHANNELS * NUM;

/// What one agent sees: its last frames, oldest first.
#[derive(Clone)]
pub struct Camera {
    frames: Vec<[u8; PIXELS * CHANNELS]>,
}

impl Camera {
    /// An episode begins, whose first frame is repeated; or zeros come before it.
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
        state[0] -= u8::from(state[0] > 0 && rng.bounded(4) == 0);
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

    fn reset(&self, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        state[0] = 3;
        Film::show(state, rng, obs)
    }

    fn step(&self, state: &mut [u8], rng: &mut Rng, _: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        Film::show(state, rng, obs)?;
        Ok(Step { reward: f32::from(state[0]), terminated: state[0] == 0, truncated: false })
    }

    fn lives(&self, state: &[u8]) -> Result<u32> {
        Ok(state[0].into())
    }
}
