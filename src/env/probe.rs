//! Probe environments, so small that the correct values are known. Each exposes one kind of bug in a learner.

use bytemuck::{Pod, Zeroable};

use super::{Env, Spec, Step, choice, put, view_mut};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

/// Every probe observes one number. V denotes the value under the best policy, γ the discount factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// One step, reward 1: V = 1. Tests that the value function learns at all.
    One,
    /// Observes +1 or -1; one step, whose reward is the observation: V(s) = s. Tests that the value depends on the
    /// observation.
    Two,
    /// Two steps, observing 0 then 1, reward 1 at the end: V(0) = γ, V(1) = 1. Tests the discount.
    Three,
    /// Two actions, one step, reward 1 for action 1 and -1 for action 0: V = 1. Tests that the policy learns.
    Four,
    /// Observes 0 or 1; one step, reward 1 for the action equal to the observation, else -1: V = 1. Tests that the
    /// policy depends on the observation.
    Five,
    /// Observes the step count; the tenth step terminates with reward 1 for any action: V(k) = γ^(9-k).
    Six,
    /// Observes the step count of ten steps; reward 1 whenever the action is the parity of the observed count.
    SixOddEven,
    /// Observes 0 or 1, then zeros; the fourth and last action earns 1 if it equals the first observation, else 0: V =
    /// γ³ with memory, half of it without.
    Seven,
    /// Observes 1 and then zeros; every step but the first earns 1, and the fifth step truncates the episode at an
    /// observation of 0. V(0) = 1 / (1 - γ) and V(1) = γ V(0), provided that the learner bootstraps truncated episodes
    /// from the value of `final_obs`: treating truncation as termination, or bootstrapping from the next episode's
    /// first observation, gives less.
    Truncation,
    /// Observes +1 or -1, then zeros. Only the last of `length + 1` actions matters: action 1 earns the first
    /// observation, action 0 its negative. V = γ^length with memory, 0 without.
    Memory {
        /// Steps between the observation to be remembered and the action that depends on it.
        length: u32,
    },
}

/// State of one probe.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct State {
    step: u32,
    /// Random bit drawn by the reset.
    coin: u32,
}

/// Length of an episode of [`Probe::Truncation`] in steps.
const TRUNCATED_AFTER: u32 = 5;

impl Probe {
    const fn env_id(self) -> u32 {
        match self {
            Probe::One => 101,
            Probe::Two => 102,
            Probe::Three => 103,
            Probe::Four => 104,
            Probe::Five => 105,
            Probe::Six => 106,
            Probe::Seven => 107,
            Probe::SixOddEven => 108,
            Probe::Truncation => 109,
            Probe::Memory { .. } => 110,
        }
    }

    /// [`Env::spec`] as a constant.
    pub(super) const fn constant_spec(self) -> Spec<'static> {
        let obs = match self {
            Probe::One | Probe::Four => Space::between(&[0.0], &[0.0]),
            Probe::Two | Probe::Five | Probe::Memory { .. } => Space::between(&[-1.0], &[1.0]),
            Probe::Three | Probe::Seven | Probe::Truncation => Space::between(&[0.0], &[1.0]),
            Probe::Six | Probe::SixOddEven => Space::between(&[0.0], &[f32::INFINITY]),
        };
        let action = match self {
            Probe::One | Probe::Two | Probe::Three | Probe::Truncation => Space::discrete(&[1]),
            Probe::Four | Probe::Five | Probe::Six | Probe::SixOddEven | Probe::Memory { .. } => Space::discrete(&[2]),
            Probe::Seven => Space::discrete(&[5]),
        };
        Spec {
            env_id: self.env_id(),
            state_size: size_of::<State>() as u32,
            max_episode_steps: 0,
            obs,
            action,
            wrappers: 0,
        }
    }
}

impl Env for Probe {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        self.constant_spec()
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let draws = matches!(self, Probe::Two | Probe::Five | Probe::Seven | Probe::Memory { .. });
        let coin = draws && rng.coin();
        *view_mut(state)? = State { step: 0, coin: coin.into() };
        let first = match self {
            Probe::Two | Probe::Memory { .. } => sign(!coin),
            Probe::Five | Probe::Seven => f32::from(coin),
            Probe::Truncation => 1.0,
            _ => 0.0,
        };
        put(obs, [first])
    }

    #[inline]
    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        _: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let action = choice(action)?;
        let state: &mut State = view_mut(state)?;
        let coin = state.coin != 0;
        let step = state.step.saturating_add(1);
        if *self == Probe::Three && step > 2 {
            return Err(Error::new(Kind::NotReady, "probe 3: the episode has ended; reset it first."));
        }
        state.step = step;
        let right = action == i32::from(coin);
        let (seen, reward, terminated) = match *self {
            Probe::One => (0.0, 1.0, true),
            Probe::Two => (0.0, sign(!coin), true),
            Probe::Three => (f32::from(step == 1), f32::from(step == 2), step == 2),
            Probe::Four => (0.0, sign(action == 1), true),
            Probe::Five => (-1.0, sign(right), true),
            Probe::Six => (step as f32, f32::from(step == 10), step == 10),
            Probe::SixOddEven => (step as f32, f32::from(action == ((step - 1) & 1) as i32), step == 10),
            Probe::Seven if step == 4 => (f32::from(coin), f32::from(right), true),
            Probe::Seven => (0.0, 0.0, false),
            Probe::Truncation => (0.0, f32::from(step > 1), false),
            Probe::Memory { length } if step > length => (0.0, sign((action == 1) != coin), true),
            Probe::Memory { .. } => (0.0, 0.0, false),
        };
        put(obs, [seen])?;
        Ok(Step { reward, terminated, truncated: *self == Probe::Truncation && step >= TRUNCATED_AFTER })
    }
}

/// 1 or -1.
#[inline]
fn sign(positive: bool) -> f32 {
    if positive { 1.0 } else { -1.0 }
}
