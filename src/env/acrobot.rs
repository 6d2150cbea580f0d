//! Acrobot-v1: two links that hang from a joint, a motor between them (Sutton 1996; Gymnasium's constants and its "book" form).

use bytemuck::{Pod, Zeroable};
use core::f64::consts::PI;

use super::draw::{BLACK, Canvas};
use super::{Env, Spec, Step, choice, put, view, view_mut};
use crate::error::Result;
use crate::num::{cos64, sin_cos64};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

/// Observes cos θ1, sin θ1, cos θ2, sin θ2 and both angular velocities; actions 0, 1, 2 are torques -1, 0, 1; every step
/// costs 1 but the last. Terminates when the free end is a link's length above the joint; 500 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acrobot;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct State {
    /// θ1, measured from hanging down; θ2, relative to the first link; and their velocities.
    s: [f64; 4],
}

/// Seconds of a step.
const DT: f64 = 0.2;
const GRAVITY: f64 = 9.8;
const MAX_VELOCITY: [f64; 2] = [4.0 * PI, 9.0 * PI];

const HIGH: [f32; 6] = [1.0, 1.0, 1.0, 1.0, MAX_VELOCITY[0] as f32, MAX_VELOCITY[1] as f32];
const LOW: [f32; 6] = [-1.0, -1.0, -1.0, -1.0, -HIGH[4], -HIGH[5]];
const SPEC: Spec<'static> = Spec {
    env_id: 4,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 500,
    obs: Space::between(&LOW, &HIGH),
    action: Space::discrete(&[3]),
    wrappers: 0,
};

impl State {
    #[inline]
    fn obs(&self) -> [f32; 6] {
        let [a, b, a_dot, b_dot] = self.s;
        let ((a_sin, a_cos), (b_sin, b_cos)) = (sin_cos64(a), sin_cos64(b));
        [a_cos, a_sin, b_cos, b_sin, a_dot, b_dot].map(|x| x as f32)
    }
}

/// d/dt of the state. Both links have mass 1, length 1, their centre at 0.5 and moment of inertia 1.
#[inline]
fn slope([theta1, theta2, dtheta1, dtheta2]: [f64; 4], torque: f64) -> [f64; 4] {
    let (sin2, cos2) = sin_cos64(theta2);
    let d1 = 0.25 + (1.0 + 0.25 + cos2) + 1.0 + 1.0;
    let d2 = 0.25 + 0.5 * cos2 + 1.0;
    let phi2 = 0.5 * GRAVITY * cos64(theta1 + theta2 - PI / 2.0);
    let phi1 =
        -0.5 * (dtheta2 * dtheta2) * sin2 - dtheta2 * dtheta1 * sin2 + 1.5 * GRAVITY * cos64(theta1 - PI / 2.0) + phi2;
    let ddtheta2 = (torque + d2 / d1 * phi1 - 0.5 * (dtheta1 * dtheta1) * sin2 - phi2) / (0.25 + 1.0 - d2 * d2 / d1);
    let ddtheta1 = -(d2 * ddtheta2 + phi1) / d1;
    [dtheta1, dtheta2, ddtheta1, ddtheta2]
}

/// One fourth-order Runge-Kutta step.
#[inline]
fn advance(s: [f64; 4], torque: f64) -> [f64; 4] {
    let along = |k: [f64; 4], h: f64| core::array::from_fn(|i| s[i] + h * k[i]);
    let k1 = slope(s, torque);
    let k2 = slope(along(k1, DT / 2.0), torque);
    let k3 = slope(along(k2, DT / 2.0), torque);
    let k4 = slope(along(k3, DT), torque);
    core::array::from_fn(|i| s[i] + DT / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// The angle in [-π, π]. The velocity limits allow two turns a step, so the loops are bounded; an angle from nowhere
/// stays outside, which sine and cosine do not mind.
#[inline]
fn wrap(mut x: f64) -> f64 {
    for _ in 0..4 {
        if x > PI {
            x -= 2.0 * PI;
        }
    }
    for _ in 0..4 {
        if x < -PI {
            x += 2.0 * PI;
        }
    }
    x
}

impl Env for Acrobot {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    #[inline]
    fn reset(&self, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s = State { s: [(); 4].map(|()| f64::from(rng.uniform_in(-0.1, 0.1) as f32)) };
        *view_mut(state)? = s;
        put(obs, s.obs())
    }

    #[inline]
    fn step(&self, state: &mut [u8], _: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        let state: &mut State = view_mut(state)?;
        let [a, b, a_dot, b_dot] = advance(state.s, f64::from(choice(action)?) - 1.0);
        let (a, b, [a_max, b_max]) = (wrap(a), wrap(b), MAX_VELOCITY);
        state.s = [a, b, a_dot.clamp(-a_max, a_max), b_dot.clamp(-b_max, b_max)];
        put(obs, state.obs())?;
        let terminated = -cos64(a) - cos64(b + a) > 1.0;
        Ok(Step { reward: if terminated { 0.0 } else { -1.0 }, terminated, truncated: false })
    }

    fn render(&self, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let s: &State = view(state)?;
        let mut canvas = Canvas::new(rgb, width, height, [-2.2, -2.2], [2.2, 2.2]);
        let [a, b, ..] = s.s;
        let ((a_sin, a_cos), (b_sin, b_cos)) = (sin_cos64(a), sin_cos64(a + b));
        let (base, elbow) = ([0.0, 0.0], [a_sin, -a_cos]);
        canvas.bar([-2.2, 1.0], [2.2, 1.0], 0.01, BLACK);
        for (from, to) in [(base, elbow), (elbow, [elbow[0] + b_sin, elbow[1] - b_cos])] {
            canvas.bar(from, to, 0.1, [0, 204, 204]);
            canvas.disc(from, 0.1, [204, 204, 0]);
        }
        Ok(())
    }
}
