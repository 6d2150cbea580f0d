//! MountainCar-v0 and MountainCarContinuous-v0: a car too weak for a hill has to swing to reach the goal (Moore 1990;
//! Gymnasium's constants).

use bytemuck::{Pod, Zeroable};

use super::columns::{self, Columns, Next};
use super::draw::{BLACK, Canvas, place};
use super::{Env, Spec, put, view, view_mut};
use crate::error::Result;
use crate::num::{cos64, sin_cos64, sin_cos64_lanes, sin64};
use crate::rng::Rng;
use crate::space::{ElementsMut, Space};

/// Observes position and velocity. Action 0 pushes left, 2 right, 1 not at all. The reward is -1 per step. Terminates
/// at position 0.5; 200 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct MountainCar;

/// As [`MountainCar`] with a continuous push in [-1, 1]. Each step costs 0.1 times the square of the push; reaching
/// position 0.45 earns 100. 999 steps at most. Pushes beyond ±1 act as ±1, but their cost is not clipped, as in
/// Gymnasium.
#[derive(Clone, Copy, Debug, Default)]
pub struct MountainCarContinuous;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    position: f64,
    velocity: f64,
}

/// Gymnasium's continuous car computes the first step of an episode in f64 and all others in f32.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ContinuousState {
    car: State,
    /// 1 before the first step of an episode.
    fresh: u64,
}

const MIN_POSITION: f64 = -1.2;
const MAX_POSITION: f64 = 0.6;
const MAX_SPEED: f64 = 0.07;
const GOAL: f64 = 0.5;
const CONTINUOUS_GOAL: f64 = 0.45;
const FORCE: f64 = 0.001;
const POWER: f64 = 0.0015;
const GRAVITY: f64 = 0.0025;

const OBS: Space<'static> =
    Space::between(&[MIN_POSITION as f32, -MAX_SPEED as f32], &[MAX_POSITION as f32, MAX_SPEED as f32]);
pub(super) const SPEC: Spec<'static> = Spec {
    env_id: 2,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 200,
    obs: OBS,
    action: Space::discrete(&[3]),
    wrappers: 0,
};
pub(super) const CONTINUOUS_SPEC: Spec<'static> = Spec {
    env_id: 3,
    state_size: size_of::<ContinuousState>() as u32,
    max_episode_steps: 999,
    obs: OBS,
    action: Space::between(&[-1.0], &[1.0]),
    wrappers: 0,
};

impl State {
    /// A car at rest in the valley.
    #[inline]
    fn at_rest(rng: &mut Rng) -> Self {
        State { position: rng.uniform_in(-0.6, -0.4), velocity: 0.0 }
    }

    #[inline]
    fn obs(&self) -> [f32; 2] {
        [self.position as f32, self.velocity as f32]
    }

    /// Draws the hill, the flag at `goal` and the car.
    fn draw(&self, goal: f64, width: usize, height: usize, rgb: &mut [u8]) {
        let mut canvas = Canvas::new(rgb, width, height, [MIN_POSITION, 0.0], [MAX_POSITION, 1.2]);
        let ground = |x: f64| [x, sin64(3.0 * x) * 0.45 + 0.55];
        let part = |i: u32| ground(MIN_POSITION + (MAX_POSITION - MIN_POSITION) * f64::from(i) / 64.0);
        for i in 0..64 {
            canvas.bar(part(i), part(i + 1), 0.002, BLACK);
        }
        let [x, y] = ground(goal);
        canvas.bar([x, y], [x, y + 0.15], 0.002, BLACK);
        canvas.polygon([[x, y + 0.15], [x, y + 0.12], [x + 0.075, y + 0.135]], [204, 204, 0]);
        let [x, y] = ground(self.position);
        let (centre, turn) = ([x, y + 0.03], sin_cos64(cos64(3.0 * x)));
        let body = [[-0.06, 0.0], [0.06, 0.0], [0.06, 0.06], [-0.06, 0.06]];
        canvas.polygon(body.map(|p| place(p, centre, turn)), BLACK);
        for wheel in [-0.03, 0.03] {
            canvas.disc(place([wheel, 0.0], centre, turn), 0.024, [128, 128, 128]);
        }
    }
}

impl Env for MountainCar {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s = State::at_rest(rng);
        *view_mut(state)? = s;
        put(obs, s.obs())
    }

    columns::steps!();

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        view::<State>(state)?.draw(GOAL, width, height, rgb);
        Ok(())
    }
}

impl Env for MountainCarContinuous {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        CONTINUOUS_SPEC
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let car = State::at_rest(rng);
        *view_mut(state)? = ContinuousState { car, fresh: 1 };
        put(obs, car.obs())
    }

    columns::steps!();

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        view::<ContinuousState>(state)?.car.draw(CONTINUOUS_GOAL, width, height, rgb);
        Ok(())
    }
}

impl Columns for MountainCar {
    type State = State;
    type Action = [i32; 1];
    type Obs = [f32; 2];

    #[inline(always)]
    fn advance<const L: usize>(state: &[State; L], action: &[[i32; 1]; L]) -> Next<State, [f32; 2], L> {
        let (mut next, mut angle) = (Next::new(), [0.0; L]);
        for i in 0..L {
            angle[i] = 3.0 * state[i].position;
        }
        let (_, slope) = sin_cos64_lanes(&angle);
        for i in 0..L {
            let (s, [action]) = (state[i], action[i]);
            let push = (f64::from(action) - 1.0) * FORCE;
            let velocity = (s.velocity + (push + slope[i] * -GRAVITY)).clamp(-MAX_SPEED, MAX_SPEED);
            let position = (s.position + velocity).clamp(MIN_POSITION, MAX_POSITION);
            let velocity = if (position == MIN_POSITION) & (velocity < 0.0) { 0.0 } else { velocity };
            let s = State { position, velocity };
            let goal = (position >= GOAL) & (velocity >= 0.0);
            (next.state[i], next.obs[i], next.reward[i], next.terminated[i]) = (s, s.obs(), -1.0, goal.into());
        }
        next
    }
}

impl Columns for MountainCarContinuous {
    type State = ContinuousState;
    type Action = [f32; 1];
    type Obs = [f32; 2];

    #[inline(always)]
    fn advance<const L: usize>(
        state: &[ContinuousState; L],
        action: &[[f32; 1]; L],
    ) -> Next<ContinuousState, [f32; 2], L> {
        let (mut next, mut angle) = (Next::new(), [0.0; L]);
        for i in 0..L {
            next.together &= state[i].fresh == 0;
            angle[i] = f64::from(3.0 * state[i].car.position as f32);
        }
        let (_, slope) = sin_cos64_lanes(&angle);
        for i in 0..L {
            let (s, [push]) = (state[i].car, action[i]);
            let (car, goal) = if L == 1 && !next.together { first_move(s, push) } else { next_move(s, push, slope[i]) };
            let reward = (if goal { 100.0 } else { 0.0 }) - f64::from(push) * f64::from(push) * 0.1;
            next.state[i] = ContinuousState { car, fresh: 0 };
            (next.obs[i], next.reward[i], next.terminated[i]) = (car.obs(), reward as f32, goal.into());
        }
        next
    }
}

/// Change of velocity by a push and gravity: an f32 difference, or an f64 one if the push was clipped.
#[inline(always)]
fn impulse(push: f32, slope: f64) -> f64 {
    let gravity = GRAVITY * slope;
    if push.abs() > 1.0 {
        f64::from(push.signum()) * POWER - gravity
    } else {
        f64::from(push * POWER as f32 - gravity as f32)
    }
}

/// Takes a step from an f64 state. The result is rounded to f32, as Gymnasium stores it.
#[inline]
fn first_move(s: State, push: f32) -> (State, bool) {
    let velocity = (s.velocity + impulse(push, cos64(3.0 * s.position))).clamp(-MAX_SPEED, MAX_SPEED);
    let position = (s.position + velocity).clamp(MIN_POSITION, MAX_POSITION);
    let velocity = if position == MIN_POSITION && velocity < 0.0 { 0.0 } else { velocity };
    let rounded = State { position: f64::from(position as f32), velocity: f64::from(velocity as f32) };
    (rounded, position >= CONTINUOUS_GOAL && velocity >= 0.0)
}

/// Takes a step from an f32 state, with every constant rounded to f32 where it is combined with the state.
#[inline(always)]
fn next_move(s: State, push: f32, slope: f64) -> (State, bool) {
    const SPEED: f32 = MAX_SPEED as f32;
    const MIN: f32 = MIN_POSITION as f32;
    let (position, velocity) = (s.position as f32, s.velocity as f32);
    let velocity = (velocity + impulse(push, slope) as f32).clamp(-SPEED, SPEED);
    let position = (position + velocity).clamp(MIN, MAX_POSITION as f32);
    let velocity = if (position == MIN) & (velocity < 0.0) { 0.0 } else { velocity };
    let next = State { position: position.into(), velocity: velocity.into() };
    (next, (position >= CONTINUOUS_GOAL as f32) & (velocity >= 0.0))
}
