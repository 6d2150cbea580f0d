//! Flipping bits until they equal those of a goal (Andrychowicz et al. 2017, section 3.1): a task with sparse rewards,
//! for learners with hindsight.

use bytemuck::{Pod, Zeroable};

use super::{Env, Spec, Step, choice, view_mut};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

/// Observes N bits followed by the N bits of the goal, as numbers 0 and 1. The action is the index of the bit to flip.
/// The reward is -1 per step, or 0 for the step that reaches the goal, which terminates; N steps at most. The initial
/// bits are drawn from all values, the goal from all values but the initial bits.
///
/// N is from 1 to 16. The environment with 10 bits is one of the built-in ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct BitFlip<const N: usize>;

/// Maximum number of bits.
const MOST: usize = 16;
static LOW: [f32; 2 * MOST] = [0.0; 2 * MOST];
static HIGH: [f32; 2 * MOST] = [1.0; 2 * MOST];

/// Bit i is element i.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct State {
    bits: u32,
    goal: u32,
}

impl<const N: usize> BitFlip<N> {
    /// Largest number of N bits.
    const LAST: u64 = (1 << N) - 1;

    pub(super) const SPEC: Spec<'static> = Spec {
        env_id: if N == 10 { 16 } else { 0 },
        state_size: size_of::<State>() as u32,
        max_episode_steps: N as u32,
        obs: Space::between(LOW.split_at(2 * N).0, HIGH.split_at(2 * N).0),
        action: Space::discrete(&[N as u32]),
        wrappers: 0,
    };

    fn show(s: State, obs: ElementsMut<'_>) -> Result {
        let obs = obs.f32()?;
        if obs.len() != 2 * N {
            return Err(Error::new(Kind::Shape, "environment obs: elements").needed(2 * N));
        }
        let bits = [s.bits, s.goal].into_iter().flat_map(|word| (0..N).map(move |i| (word >> i) & 1));
        obs.iter_mut().zip(bits).for_each(|(to, bit)| *to = bit as f32);
        Ok(())
    }
}

impl<const N: usize> Env for BitFlip<N> {
    fn spec(&self) -> Spec<'_> {
        Self::SPEC
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let bits = rng.bounded(Self::LAST) as u32;
        let differing = rng.bounded(const { Self::LAST - 1 }).wrapping_add(1) as u32;
        let s = State { bits, goal: bits ^ differing };
        *view_mut(state)? = s;
        Self::show(s, obs)
    }

    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        _: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let s: &mut State = view_mut(state)?;
        s.bits ^= 1u32.checked_shl(choice(action)? as u32).unwrap_or(0);
        Self::show(*s, obs)?;
        let reached = s.bits == s.goal;
        Ok(Step { reward: if reached { 0.0 } else { -1.0 }, terminated: reached, truncated: false })
    }
}
