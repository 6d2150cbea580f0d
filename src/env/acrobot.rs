//! Acrobot-v1: two links hanging from a joint, with a motor between them (Sutton 1996; Gymnasium's constants and its
//! "book" dynamics).

use bytemuck::{Pod, Zeroable};
use core::f64::consts::PI;
use core::hint::black_box;

use super::columns::{self, Columns, Next};
use super::draw::{BLACK, Canvas};
use super::{Env, Spec, put, view, view_mut};
use crate::error::Result;
use crate::num::{sin_cos64, sin_cos64_lanes};
use crate::rng::Rng;
use crate::space::{ElementsMut, Space};

/// Observes cos θ1, sin θ1, cos θ2, sin θ2 and both angular velocities. Actions 0, 1, 2 are torques -1, 0, 1. The
/// reward is -1 per step, 0 for the last one. Terminates when the free end is one link length above the joint; 500
/// steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acrobot;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// θ1, 0 when hanging down; θ2, relative to the first link; and their angular velocities.
    s: [f64; 4],
}

/// Time step in seconds.
const DT: f64 = 0.2;
const GRAVITY: f64 = 9.8;
const MAX_VELOCITY: [f64; 2] = [4.0 * PI, 9.0 * PI];

const HIGH: [f32; 6] = [1.0, 1.0, 1.0, 1.0, MAX_VELOCITY[0] as f32, MAX_VELOCITY[1] as f32];
const LOW: [f32; 6] = [-1.0, -1.0, -1.0, -1.0, -HIGH[4], -HIGH[5]];
pub(super) const SPEC: Spec<'static> = Spec {
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

/// Time derivative of the state. Both links have mass 1, length 1, center of mass at 0.5 and moment of inertia 1.
#[inline(always)]
fn slope<const L: usize>(s: &[[f64; L]; 4], torque: &[f64; L]) -> [[f64; L]; 4] {
    let [theta1, theta2, dtheta1, dtheta2] = s;
    let (mut lean1, mut lean2, mut k) = ([0.0; L], [0.0; L], [[0.0; L]; 4]);
    for i in 0..L {
        (lean1[i], lean2[i]) = (theta1[i] - PI / 2.0, theta1[i] + theta2[i] - PI / 2.0);
    }
    let (sin2, cos2) = sin_cos64_lanes(theta2);
    let ((_, cos_lean1), (_, cos_lean2)) = (sin_cos64_lanes(&lean1), sin_cos64_lanes(&lean2));
    for i in 0..L {
        let (sin2, cos2, dtheta1, dtheta2) = (sin2[i], cos2[i], dtheta1[i], dtheta2[i]);
        let d1 = 0.25 + (1.0 + 0.25 + cos2) + 1.0 + 1.0;
        let d2 = 0.25 + 0.5 * cos2 + 1.0;
        let phi2 = 0.5 * GRAVITY * cos_lean2[i];
        let phi1 = -0.5 * (dtheta2 * dtheta2) * sin2 - dtheta2 * dtheta1 * sin2 + 1.5 * GRAVITY * cos_lean1[i] + phi2;
        let ddtheta2 =
            (torque[i] + d2 / d1 * phi1 - 0.5 * (dtheta1 * dtheta1) * sin2 - phi2) / (0.25 + 1.0 - d2 * d2 / d1);
        let ddtheta1 = -(d2 * ddtheta2 + phi1) / d1;
        (k[0][i], k[1][i], k[2][i], k[3][i]) = (dtheta1, dtheta2, ddtheta1, ddtheta2);
    }
    k
}

/// One fourth-order Runge-Kutta step.
#[inline(always)]
fn advance<const L: usize>(s: [[f64; L]; 4], torque: &[f64; L]) -> [[f64; L]; 4] {
    // k1 + 2 k2 + 2 k3 + k4. The sum starts with -0 because -0 + x is x for every x.
    let (mut at, mut sum) = (s, [[-0.0; L]; 4]);
    // black_box keeps the compiler from unrolling the loop: four copies of the slope are no faster.
    for &(weight, ahead) in black_box(&[(1.0, DT / 2.0), (2.0, DT / 2.0), (2.0, DT), (1.0, 0.0)] as &[_]) {
        let k = slope(&at, torque);
        for j in 0..4 {
            for i in 0..L {
                sum[j][i] += weight * k[j][i];
                at[j][i] = s[j][i] + ahead * k[j][i];
            }
        }
    }
    for j in 0..4 {
        for i in 0..L {
            at[j][i] = s[j][i] + DT / 6.0 * sum[j][i];
        }
    }
    at
}

/// Wraps an angle to [-π, π]. The velocity limits allow at most two turns per step, so the loops are bounded. Angles of
/// damaged states may stay outside, which sine and cosine handle.
#[inline(always)]
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
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s = State { s: [(); 4].map(|()| f64::from(rng.uniform_in(-0.1, 0.1) as f32)) };
        *view_mut(state)? = s;
        put(obs, s.obs())
    }

    columns::steps!();

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
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

impl Columns for Acrobot {
    type State = State;
    type Action = [i32; 1];
    type Obs = [f32; 6];

    #[inline(always)]
    fn advance<const L: usize>(state: &[State; L], action: &[[i32; 1]; L]) -> Next<State, [f32; 6], L> {
        let mut next = Next::new();
        let (mut s, mut torque, mut both) = ([[0.0; L]; 4], [0.0; L], [0.0; L]);
        for i in 0..L {
            let (State { s: [a, b, a_dot, b_dot] }, [action]) = (state[i], action[i]);
            (s[0][i], s[1][i], s[2][i], s[3][i], torque[i]) = (a, b, a_dot, b_dot, f64::from(action) - 1.0);
        }
        let [mut a, mut b, a_dot, b_dot] = advance(s, &torque);
        for i in 0..L {
            (a[i], b[i]) = (wrap(a[i]), wrap(b[i]));
            both[i] = b[i] + a[i];
        }
        let ((a_sin, a_cos), (b_sin, b_cos)) = (sin_cos64_lanes(&a), sin_cos64_lanes(&b));
        let (_, both_cos) = sin_cos64_lanes(&both);
        let [a_max, b_max] = MAX_VELOCITY;
        for i in 0..L {
            let (a_dot, b_dot) = (a_dot[i].clamp(-a_max, a_max), b_dot[i].clamp(-b_max, b_max));
            let up = -a_cos[i] - both_cos[i] > 1.0;
            next.state[i] = State { s: [a[i], b[i], a_dot, b_dot] };
            next.obs[i] = [a_cos[i], a_sin[i], b_cos[i], b_sin[i], a_dot, b_dot].map(|x| x as f32);
            (next.reward[i], next.terminated[i]) = (if up { 0.0 } else { -1.0 }, up.into());
        }
        next
    }
}
