//! Environments whose step is pure arithmetic, written once for any number of rows, so that a row stepped alone and a
//! row stepped in a vector lane give identical bits. A single row is the case of one lane.

use bytemuck::Pod;

use super::{Env, Step, StepOut, view_mut};
use crate::cpu::{self, Kernel};
use crate::error::{Error, Kind, Result, overflowing};
use crate::space::{Elements, ElementsMut};

/// Number of rows stepped together.
pub(super) const LANES: usize = 8;

/// An environment whose step is such a formula. It draws no random numbers, and its time limit is applied by the batch.
pub(super) trait Columns: Env {
    /// State of one environment.
    type State: Pod;
    /// One action, an array.
    type Action: Pod;
    /// One observation, an array of f32.
    type Obs: Pod;

    /// Steps L rows.
    fn advance<const L: usize>(state: &[Self::State; L], action: &[Self::Action; L])
    -> Next<Self::State, Self::Obs, L>;
}

/// Implements [`Env::step`] and [`Env::step_rows`] for a `Columns` environment.
macro_rules! steps {
    () => {
        #[inline]
        fn step(
            &self,
            _: usize,
            state: &mut [u8],
            _: &mut $crate::rng::Rng,
            action: $crate::space::Elements<'_>,
            obs: $crate::space::ElementsMut<'_>,
        ) -> $crate::error::Result<$crate::env::Step> {
            $crate::env::columns::step::<Self>(state, action, obs)
        }

        #[inline]
        fn step_rows(
            &self,
            state: &mut [u8],
            action: $crate::space::Elements<'_>,
            out: &mut $crate::env::StepOut<'_>,
        ) -> usize {
            $crate::env::columns::step_rows::<Self>(state, action, out)
        }
    };
}
pub(super) use steps;

/// Results of a step of L rows.
pub(super) struct Next<S, O, const L: usize> {
    pub state: [S; L],
    pub obs: [O; L],
    pub reward: [f32; L],
    pub terminated: [u8; L],
    /// False if a block of more than one row must be stepped row by row instead.
    pub together: bool,
}

impl<S: Pod, O: Pod, const L: usize> Next<S, O, L> {
    #[inline(always)]
    pub fn new() -> Self {
        Next { state: [S::zeroed(); L], obs: [O::zeroed(); L], reward: [0.0; L], terminated: [0; L], together: true }
    }

    /// True if every observation and reward is finite.
    #[inline(always)]
    fn is_finite(&self) -> bool {
        let numbers: &[f32] = bytemuck::try_cast_slice(&self.obs).unwrap_or(&[f32::NAN]);
        let flags = numbers.iter().fold(0, |flags, x| flags | overflowing(*x));
        self.reward.iter().fold(flags, |flags, x| flags | overflowing(*x)) >> 31 == 0
    }
}

const ACTION: Error = Error::new(Kind::Shape, "environment action: 1 element of the agreed kind");
const OBS: Error = Error::new(Kind::Shape, "environment obs: elements of the agreed kind");

/// [`Env::step`].
#[inline(always)]
pub(super) fn step<C: Columns>(state: &mut [u8], action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
    let state: &mut C::State = view_mut(state)?;
    let ([action], _) = actions::<C>(action).as_chunks::<1>() else { return Err(ACTION) };
    let (obs, _) = observations::<C>(obs).as_chunks_mut::<1>();
    let obs = obs.first_mut().ok_or(OBS)?;
    let next = C::advance(core::array::from_ref(state), action);
    [*state] = next.state;
    *obs = next.obs;
    let ([reward], [terminated]) = (next.reward, next.terminated);
    Ok(Step { reward, terminated: terminated != 0, truncated: false })
}

/// [`Env::step_rows`].
#[inline]
pub(super) fn step_rows<C: Columns>(state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize {
    if !cfg!(feature = "avx2") {
        return 0;
    }
    let done = cpu::dispatch(Sweep::<C> {
        state: bytemuck::try_cast_slice_mut(state).unwrap_or(&mut []),
        action: actions::<C>(action),
        obs: observations::<C>(out.obs.reborrow()),
        reward: &mut *out.reward,
        terminated: &mut *out.terminated,
    });
    out.truncated.iter_mut().take(done).for_each(|truncated| *truncated = 0);
    done
}

#[inline(always)]
fn actions<C: Columns>(action: Elements<'_>) -> &[C::Action] {
    match action {
        Elements::F32(x) => bytemuck::try_cast_slice(x),
        Elements::I32(x) => bytemuck::try_cast_slice(x),
        Elements::U8(x) => bytemuck::try_cast_slice(x),
    }
    .unwrap_or(&[])
}

#[inline(always)]
fn observations<C: Columns>(obs: ElementsMut<'_>) -> &mut [C::Obs] {
    obs.f32().ok().and_then(|x| bytemuck::try_cast_slice_mut(x).ok()).unwrap_or(&mut [])
}

struct Sweep<'a, C: Columns> {
    state: &'a mut [C::State],
    action: &'a [C::Action],
    obs: &'a mut [C::Obs],
    reward: &'a mut [f32],
    terminated: &'a mut [u8],
}

impl<C: Columns> Kernel for Sweep<'_, C> {
    type Output = usize;

    /// Returns the number of rows stepped.
    #[inline(always)]
    fn run(self) -> usize {
        let mut done = 0usize;
        let rows = self.state.as_chunks_mut::<LANES>().0.iter_mut().zip(self.action.as_chunks::<LANES>().0);
        let outs = self.reward.as_chunks_mut::<LANES>().0.iter_mut().zip(self.terminated.as_chunks_mut::<LANES>().0);
        let outs = self.obs.as_chunks_mut::<LANES>().0.iter_mut().zip(outs);
        for ((state, action), (obs, (reward, terminated))) in rows.zip(outs) {
            let next = C::advance(state, action);
            if !(next.together & next.is_finite()) {
                break;
            }
            (*state, *obs, *reward, *terminated) = (next.state, next.obs, next.reward, next.terminated);
            done = done.saturating_add(LANES);
        }
        done
    }
}
