//! CartPole-v1: a pole on a cart that is pushed left or right (Barto, Sutton and Anderson 1983; Gymnasium's constants).
//!
//! The steps are bit-identical to Gymnasium's except for sine and cosine, which numpy takes from the machine's C
//! library: about one angle in a hundred differs in the last of its 53 bits, and in long episodes an observation
//! occasionally differs in the last of its 24 bits.

use bytemuck::{Pod, Zeroable};
use core::hint::black_box;

use super::columns::{self, Columns, Next};
use super::draw::{BLACK, Canvas, place};
use super::no_vel::Positions;
use super::{Env, Spec, put, view, view_mut};
use crate::error::Result;
use crate::num::{NEAR_0, sin_cos64, sin_cos64_near_0};
use crate::rng::Rng;
use crate::space::{ElementsMut, Space};

/// Observes position, velocity, angle and angular velocity. Action 0 pushes left, 1 right. The reward is 1 per step.
/// Terminates when the cart leaves ±2.4 or the pole ±12°; 500 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct CartPole;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    x: f64,
    x_dot: f64,
    theta: f64,
    theta_dot: f64,
}

const GRAVITY: f64 = 9.8;
const MASS_POLE: f64 = 0.1;
const TOTAL_MASS: f64 = 0.1 + 1.0;
/// Half the length of the pole.
const LENGTH: f64 = 0.5;
const POLEMASS_LENGTH: f64 = MASS_POLE * LENGTH;
const FORCE: f64 = 10.0;
/// Time step in seconds.
const TAU: f64 = 0.02;
const X_LIMIT: f64 = 2.4;
const THETA_LIMIT: f64 = 12.0 * 2.0 * core::f64::consts::PI / 360.0;

const HIGH: [f32; 4] = [(X_LIMIT * 2.0) as f32, f32::INFINITY, (THETA_LIMIT * 2.0) as f32, f32::INFINITY];
const LOW: [f32; 4] = [-HIGH[0], -HIGH[1], -HIGH[2], -HIGH[3]];
pub(super) const SPEC: Spec<'static> = Spec {
    env_id: 1,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 500,
    obs: Space::between(&LOW, &HIGH),
    action: Space::discrete(&[2]),
    wrappers: 0,
};
pub(super) const NO_VEL: Spec<'static> =
    Spec { env_id: 7, obs: Space::between(&[LOW[0], LOW[2]], &[HIGH[0], HIGH[2]]), ..SPEC };

impl State {
    #[inline]
    fn obs(&self) -> [f32; 4] {
        [self.x as f32, self.x_dot as f32, self.theta as f32, self.theta_dot as f32]
    }
}

impl Env for CartPole {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let mut draw = || rng.uniform_in(-0.05, 0.05);
        let s = State { x: draw(), x_dot: draw(), theta: draw(), theta_dot: draw() };
        *view_mut(state)? = s;
        put(obs, s.obs())
    }

    columns::steps!();

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let s: &State = view(state)?;
        let mut canvas = Canvas::new(rgb, width, height, [-X_LIMIT, -0.8], [X_LIMIT, 2.4]);
        canvas.bar([-X_LIMIT, 0.0], [X_LIMIT, 0.0], 0.005, BLACK);
        let (axle, (sin, cos)) = ([s.x, 0.06], sin_cos64(-s.theta));
        let cart = [[-0.2, -0.18], [0.2, -0.18], [0.2, 0.06], [-0.2, 0.06]];
        canvas.polygon(cart.map(|p| place(p, axle, (0.0, 1.0))), BLACK);
        let pole = [[-0.04, -0.04], [0.04, -0.04], [0.04, 2.0 * LENGTH - 0.04], [-0.04, 2.0 * LENGTH - 0.04]];
        canvas.polygon(pole.map(|p| place(p, axle, (sin, cos))), [202, 152, 101]);
        canvas.disc(axle, 0.04, [129, 132, 203]);
        Ok(())
    }
}

impl Columns for CartPole {
    type State = State;
    type Action = [i32; 1];
    type Obs = [f32; 4];

    #[inline(always)]
    fn advance<const L: usize>(state: &[State; L], action: &[[i32; 1]; L]) -> Next<State, [f32; 4], L> {
        let (mut next, mut sin, mut cos) = (Next::new(), [0.0; L], [0.0; L]);
        for i in 0..L {
            let theta = state[i].theta;
            next.together &= theta.abs() <= NEAR_0;
            (sin[i], cos[i]) = if L == 1 { sin_cos64(theta) } else { sin_cos64_near_0(theta) };
        }
        for i in 0..L {
            let (s, sin, cos) = (state[i], sin[i], cos[i]);
            let force = if action[i] == [1] { FORCE } else { -FORCE };
            let temp = (force + POLEMASS_LENGTH * (s.theta_dot * s.theta_dot) * sin) / TOTAL_MASS;
            let theta_acc =
                (GRAVITY * sin - cos * temp) / (LENGTH * (4.0 / 3.0 - MASS_POLE * (cos * cos) / TOTAL_MASS));
            let mut theta = s.theta + TAU * s.theta_dot;
            if L == 1 {
                // The sine of the next step depends only on theta, not on the acceleration of this step. black_box
                // keeps theta from being computed as a pair with the angular velocity, for which it would have to wait.
                theta = black_box(theta);
            }
            let x_acc = temp - POLEMASS_LENGTH * theta_acc * cos / TOTAL_MASS;
            let s = State {
                x: s.x + TAU * s.x_dot,
                x_dot: s.x_dot + TAU * x_acc,
                theta,
                theta_dot: s.theta_dot + TAU * theta_acc,
            };
            let out = (s.x < -X_LIMIT) | (s.x > X_LIMIT) | (s.theta < -THETA_LIMIT) | (s.theta > THETA_LIMIT);
            (next.state[i], next.obs[i], next.reward[i], next.terminated[i]) = (s, s.obs(), 1.0, out.into());
        }
        next
    }
}

impl Positions for CartPole {
    const NO_VEL: Spec<'static> = NO_VEL;

    #[inline(always)]
    fn positions([x, _, theta, _]: [f32; 4]) -> [f32; 2] {
        [x, theta]
    }
}
