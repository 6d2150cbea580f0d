//! Environments that hide velocities, so that an agent must remember previous positions.

use bytemuck::Zeroable;

use super::columns::{self, Columns, Next};
use super::{Env, Spec, put};
use crate::error::Result;
use crate::rng::Rng;
use crate::space::ElementsMut;

/// The environment `E` without velocities in its observation; everything else is bit-identical.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoVel<E>(pub E);

/// An environment whose observation consists of positions and velocities.
pub(super) trait Positions: Columns<Obs: AsMut<[f32]>> {
    /// Specification of the environment with only positions observed.
    const NO_VEL: Spec<'static>;

    /// The two positions of an observation.
    fn positions(obs: Self::Obs) -> [f32; 2];
}

impl<E: Positions> Env for NoVel<E> {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        E::NO_VEL
    }

    #[inline]
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let mut all: E::Obs = Zeroable::zeroed();
        self.0.reset(row, state, rng, ElementsMut::F32(all.as_mut()))?;
        put(obs, E::positions(all))
    }

    columns::steps!();

    fn render(&self, row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.0.render(row, state, width, height, rgb)
    }
}

impl<E: Positions> Columns for NoVel<E> {
    type State = E::State;
    type Action = E::Action;
    type Obs = [f32; 2];

    #[inline(always)]
    fn advance<const L: usize>(state: &[E::State; L], action: &[E::Action; L]) -> Next<E::State, [f32; 2], L> {
        let Next { state, obs, reward, terminated, together } = E::advance(state, action);
        Next { state, obs: obs.map(E::positions), reward, terminated, together }
    }
}
