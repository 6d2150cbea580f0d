//! Moving a point to a goal: the robotics tasks with goals (FetchReach, Plappert et al. 2018) without the robot arm,
//! for learners of continuous actions with hindsight.

use super::columns::{self, Columns, Next};
use super::draw::{BLACK, Canvas};
use super::{Env, Spec, put, view, view_mut};
use crate::error::Result;
use crate::rng::Rng;
use crate::space::{ElementsMut, Space};

/// Observes x and y of a point in the square from -1 to 1, followed by x and y of the goal. The action is a move along
/// both axes, each clipped to ±1 and scaled by 0.2; walls stop the point. The reward is -1 per step, or 0 for a step
/// that ends within 0.1 of the goal, which terminates the episode; 15 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointReach;

/// The state is the observation.
type State = [f32; 4];

/// Largest move along an axis.
const STRIDE: f32 = 0.2;
const REACH: f32 = 0.1;

pub(super) const SPEC: Spec<'static> = Spec {
    env_id: 17,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 15,
    obs: Space::between(&[-1.0; 4], &[1.0; 4]),
    action: Space::between(&[-1.0; 2], &[1.0; 2]),
    wrappers: 0,
};

impl PointReach {
    /// True if the point is at the goal. Also used by hindsight to relabel rewards.
    #[inline(always)]
    pub fn is_there(point: [f32; 2], goal: [f32; 2]) -> bool {
        let (dx, dy) = (point[0] - goal[0], point[1] - goal[1]);
        dx * dx + dy * dy < REACH * REACH
    }
}

impl Env for PointReach {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s: State = [(); 4].map(|()| rng.uniform_in(-1.0, 1.0) as f32);
        *view_mut(state)? = s;
        put(obs, s)
    }

    columns::steps!();

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let [x, y, goal_x, goal_y] = view::<State>(state)?.map(f64::from);
        let mut canvas = Canvas::new(rgb, width, height, [-1.1, -1.1], [1.1, 1.1]);
        canvas.disc([goal_x, goal_y], REACH.into(), [204, 77, 77]);
        canvas.disc([x, y], 0.05, BLACK);
        Ok(())
    }
}

impl Columns for PointReach {
    type State = State;
    type Action = [f32; 2];
    type Obs = [f32; 4];

    #[inline(always)]
    fn advance<const L: usize>(state: &[State; L], action: &[[f32; 2]; L]) -> Next<State, [f32; 4], L> {
        let along = |x: f32, by: f32| (x + STRIDE * by.clamp(-1.0, 1.0)).clamp(-1.0, 1.0);
        let mut next = Next::new();
        for i in 0..L {
            let ([x, y, goal_x, goal_y], [right, up]) = (state[i], action[i]);
            let (x, y) = (along(x, right), along(y, up));
            let there = Self::is_there([x, y], [goal_x, goal_y]);
            (next.state[i], next.obs[i]) = ([x, y, goal_x, goal_y], [x, y, goal_x, goal_y]);
            (next.reward[i], next.terminated[i]) = (if there { 0.0 } else { -1.0 }, there.into());
        }
        next
    }
}
