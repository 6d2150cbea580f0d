//! Pendulum-v1: swinging a pendulum up and holding it there with a weak motor (Gymnasium's constants).

use bytemuck::{Pod, Zeroable};
use core::f64::consts::PI;

use super::columns::{self, Columns, Next};
use super::draw::{BLACK, Canvas};
use super::no_vel::Positions;
use super::{Env, Spec, put, view, view_mut};
use crate::error::Result;
use crate::num::{rem64_lanes, sin_cos64, sin_cos64_lanes};
use crate::rng::Rng;
use crate::space::{ElementsMut, Space};

/// Observes cos θ, sin θ and the angular velocity. The action is a torque, clipped to ±2. Never terminates; 200 steps at
/// most. The reward is -(θ² + 0.1 θ̇² + 0.001 torque²) with θ in [-π, π), 0 upright.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pendulum;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    theta: f64,
    theta_dot: f64,
}

const MAX_SPEED: f64 = 8.0;
const MAX_TORQUE: f32 = 2.0;
/// Time step in seconds.
const DT: f64 = 0.05;
const GRAVITY: f64 = 10.0;

pub(super) const SPEC: Spec<'static> = Spec {
    env_id: 5,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 200,
    obs: Space::between(&[-1.0, -1.0, -MAX_SPEED as f32], &[1.0, 1.0, MAX_SPEED as f32]),
    action: Space::between(&[-MAX_TORQUE], &[MAX_TORQUE]),
    wrappers: 0,
};
pub(super) const NO_VEL: Spec<'static> = Spec { env_id: 8, obs: Space::between(&[-1.0, -1.0], &[1.0, 1.0]), ..SPEC };

impl State {
    #[inline]
    fn obs(&self) -> [f32; 3] {
        let (sin, cos) = sin_cos64(self.theta);
        [cos as f32, sin as f32, self.theta_dot as f32]
    }
}

/// `(x + π) mod 2π - π`, where the remainder has the sign of the divisor, as in numpy.
#[inline(always)]
fn normalise_angle<const L: usize>(x: &[f64; L]) -> [f64; L] {
    let (turn, mut x) = (2.0 * PI, *x);
    x.iter_mut().for_each(|x| *x += PI);
    let mut rest = rem64_lanes(&x, turn);
    rest.iter_mut().for_each(|rest| *rest = (if *rest < 0.0 { *rest + turn } else { *rest }) - PI);
    rest
}

impl Env for Pendulum {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s = State { theta: rng.uniform_in(-PI, PI), theta_dot: rng.uniform_in(-1.0, 1.0) };
        *view_mut(state)? = s;
        put(obs, s.obs())
    }

    columns::steps!();

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let s: &State = view(state)?;
        let mut canvas = Canvas::new(rgb, width, height, [-1.2, -1.2], [1.2, 1.2]);
        let (sin, cos) = sin_cos64(s.theta);
        canvas.bar([0.0, 0.0], [-sin, cos], 0.1, [204, 77, 77]);
        canvas.disc([0.0, 0.0], 0.05, BLACK);
        Ok(())
    }
}

impl Columns for Pendulum {
    type State = State;
    type Action = [f32; 1];
    type Obs = [f32; 3];

    #[inline(always)]
    fn advance<const L: usize>(state: &[State; L], action: &[[f32; 1]; L]) -> Next<State, [f32; 3], L> {
        let (mut next, mut theta) = (Next::new(), [0.0; L]);
        for i in 0..L {
            theta[i] = state[i].theta;
        }
        let (angle, (sin, _)) = (normalise_angle(&theta), sin_cos64_lanes(&theta));
        for i in 0..L {
            let (theta_dot, angle, [torque]) = (state[i].theta_dot, angle[i], action[i]);
            let torque = torque.clamp(-MAX_TORQUE, MAX_TORQUE);
            // Gymnasium's actions are f32, and so are its products of torques and constants.
            let cost = angle * angle + 0.1 * (theta_dot * theta_dot) + f64::from(0.001 * (torque * torque));
            let push = 3.0 * GRAVITY / 2.0 * sin[i] + f64::from(3.0 * torque);
            let theta_dot = (theta_dot + push * DT).clamp(-MAX_SPEED, MAX_SPEED);
            theta[i] += theta_dot * DT;
            (next.state[i], next.reward[i]) = (State { theta: theta[i], theta_dot }, -cost as f32);
        }
        let (sin, cos) = sin_cos64_lanes(&theta);
        for i in 0..L {
            next.obs[i] = [cos[i] as f32, sin[i] as f32, next.state[i].theta_dot as f32];
        }
        next
    }
}

impl Positions for Pendulum {
    const NO_VEL: Spec<'static> = NO_VEL;

    #[inline(always)]
    fn positions([cos, sin, _]: [f32; 3]) -> [f32; 2] {
        [cos, sin]
    }
}
