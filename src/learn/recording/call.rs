//! The calls that change a learner, with the arrays that each reads.

use super::item::{DAMAGED, Item, Sink, Source, structures};
use crate::error::{Error, Kind, Result};
use crate::learn::{Batch, Config, Imitation, Learner, NamedTensor, Policy, TensorsOf, TransitionBatch, View};
use crate::space::{Elements, ElementsMut};

structures! {
    Batch { obs action mask log_prob value advantage value_target state begin env duration moments }
    TransitionBatch { obs action mask reward terminated discount next_obs next_mask importance }
    Imitation { num_rows num_steps obs mask action prob weight reset margin fit_std }
}

macro_rules! calls {
    ($(
        $(#[$doc:meta])*
        $name:ident = $number:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? }
    )*) => {
        /// A call that changes a learner: a method of [`Learner`], with its arguments.
        #[derive(Clone, Copy, Debug)]
        pub enum Call<'a> {$(
            $(#[$doc])*
            $name { $($(#[$field_doc])* $field: $type),* },
        )*}

        impl<'a> Call<'a> {
            /// The number that stands for the call in an entry; never reused.
            pub fn number(&self) -> u32 {
                match self {
                    $(Call::$name { .. } => $number,)*
                }
            }

            /// Its name, for messages.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Call::$name { .. } => stringify!($name),)*
                }
            }

            pub(super) fn put(&self, to: &mut Sink<'_>) {
                match self {
                    $(Call::$name { $($field),* } => { $($field.put(to);)* })*
                }
            }

            pub(super) fn take(number: u32, from: &mut Source<'a>) -> Result<Self> {
                Ok(match number {
                    $($number => Call::$name { $($field: Item::take(from)?),* },)*
                    _ => {
                        let unknown = Error::new(Kind::Image, "recording: a call that this version of the library knows, number");
                        return Err(unknown.given(number as usize));
                    }
                })
            }
        }
    };
}

calls! {
    /// [`Learner::act_range`], and [`Learner::act`] with the range of all environments.
    Act = 1 {
        /// The first environment.
        begin: usize,
        /// The one behind the last.
        end: usize,
        /// `[end - begin]`
        active: Option<&'a [u8]>,
        /// `[end - begin, obs_len]`
        obs: Elements<'a>,
        /// `[end - begin, mask_len]`
        mask: Option<&'a [u8]>,
        /// `[end - begin, action_len]` the actions that it drew.
        action: Elements<'a>,
    }
    /// [`Learner::demonstrate`].
    Demonstrate = 2 {
        /// `[N]`
        active: Option<&'a [u8]>,
        /// `[N, obs_len]`
        obs: Elements<'a>,
        /// `[N, mask_len]`
        mask: Option<&'a [u8]>,
        /// `[N, action_len]`
        action: Elements<'a>,
    }
    /// [`Learner::observe_after`], and [`Learner::observe`] without durations.
    Observe = 3 {
        /// `[N]`
        duration: Option<&'a [f32]>,
        /// `[N]`
        active: Option<&'a [u8]>,
        /// `[N]`
        reward: &'a [f32],
        /// `[N]`
        terminated: &'a [u8],
        /// `[N]`
        truncated: &'a [u8],
        /// `[N, obs_len]`
        final_obs: Option<Elements<'a>>,
        /// `[N, mask_len]`
        final_mask: Option<&'a [u8]>,
    }
    /// [`Learner::cut_rows`].
    Cut = 4 {
        /// `[N]`
        gone: &'a [u8],
    }
    /// [`Learner::learn`].
    Learn = 5 {
        /// `[N, obs_len]`
        obs: Option<Elements<'a>>,
        /// `[N, mask_len]`
        mask: Option<&'a [u8]>,
        /// The most chunks; 0: all that are left.
        max_slices: u32,
    }
    /// [`Learner::learn_begin`].
    LearnBegin = 6 {
        /// `[N, obs_len]`
        obs: Option<Elements<'a>>,
        /// `[N, mask_len]`
        mask: Option<&'a [u8]>,
    }
    /// [`Learner::write_grads`].
    WriteGrads = 7 {
        /// The first chunk.
        begin: usize,
        /// The one behind the last.
        end: usize,
        /// `[end - begin, grads_len]`
        grads: &'a [f32],
    }
    /// [`Learner::add_grads`].
    AddGrads = 8 {
        /// The first chunk.
        begin: usize,
        /// The one behind the last.
        end: usize,
        /// `[end - begin, grads_len]`
        grads: &'a [f32],
    }
    /// [`Learner::learn_apply`].
    LearnApply = 9 {}
    /// [`Learner::learn_drop`].
    LearnDrop = 10 {}
    /// [`Learner::learn_batch`].
    LearnBatch = 11 {
        /// The rollout.
        batch: Batch<'a>,
    }
    /// [`Learner::learn_transitions`].
    LearnTransitions = 12 {
        /// The transitions.
        transitions: TransitionBatch<'a>,
    }
    /// [`Learner::imitate`].
    Imitate = 13 {
        /// The rows.
        rows: Imitation<'a>,
    }
    /// [`Learner::count_steps`].
    CountSteps = 14 {
        /// Steps that others took.
        num_steps: u64,
    }
    /// [`Learner::freeze`].
    Freeze = 15 {
        /// Whether statistics stay.
        frozen: bool,
    }
    /// [`Learner::set_trainable`].
    SetTrainable = 16 {
        /// The pattern of names.
        names: &'a [u8],
        /// Whether the tensors learn.
        trainable: bool,
    }
    /// [`Learner::configure`].
    Configure = 17 {
        /// The new configuration.
        config: &'a Config,
    }
    /// [`Learner::write_params_with`].
    WriteParams = 18 {
        /// `[params_len]`
        params: &'a [f32],
        /// `[moments_len]`
        moments: &'a [f64],
    }
    /// [`Learner::write_moments`].
    WriteMoments = 19 {
        /// `[moments_len]`
        moments: &'a [f64],
    }
    /// [`Learner::write_tensors`].
    WriteTensors = 20 {
        /// The numbers that these are.
        of: TensorsOf,
        /// The tensors to write.
        tensors: &'a [NamedTensor],
        /// Their numbers.
        values: &'a [f32],
    }
    /// [`Learner::adopt`].
    Adopt = 21 {
        /// All bytes of the other learner.
        other: &'a [u8],
        /// A sum of the constants of [`adopt`](crate::learn::adopt).
        parts: u32,
    }
    /// [`Learner::adopt_policy`].
    AdoptPolicy = 22 {
        /// All bytes of the policy.
        other: &'a [u8],
        /// A sum of the constants of [`adopt`](crate::learn::adopt).
        parts: u32,
        /// Observations that its moments count as.
        obs_count: f64,
    }
}

/// An end of a call that is not the recorded one.
pub(super) const fn differs(what: &'static str) -> Error {
    Error::new(Kind::Inexact, what)
}

impl Call<'_> {
    /// Makes the call. An act draws into `action`, `[N, action_len]`, and compares the actions with the recorded ones.
    ///
    /// Errors: those of the call, as the inner result; `Inexact` for other actions; `Null` without `action` if it acts; `Image` for
    /// contents that no call has. `offset` is named in messages.
    pub(super) fn make(&self, mem: &mut [u8], action: Option<ElementsMut<'_>>, offset: usize) -> Result<Result> {
        if let Call::Configure { config } = *self {
            return Ok(Learner::configure(mem, config));
        }
        let mut learner = Learner::open(mem)?;
        Ok(match *self {
            Call::Act { begin, end, active, obs, mask, action: drawn } => {
                let missing = Error::new(Kind::Null, "recording: action is NULL, but the call acts.");
                let room = action.ok_or(missing)?;
                return act(&mut learner, [begin, end], (active, obs, mask), (drawn, offset), room);
            }
            Call::Demonstrate { active, obs, mask, action } => learner.demonstrate(active, obs, mask, action),
            Call::Observe { duration, active, reward, terminated, truncated, final_obs, final_mask } => {
                learner.observe_after(duration, active, reward, [terminated, truncated], final_obs, final_mask)
            }
            Call::Cut { gone } => learner.cut_rows(gone),
            Call::Learn { obs, mask, max_slices } => learner.learn(obs, mask, max_slices).map(drop),
            Call::LearnBegin { obs, mask } => learner.learn_begin(obs, mask).map(drop),
            Call::WriteGrads { begin, end, grads } => learner.write_grads(begin, end, grads),
            Call::AddGrads { begin, end, grads } => learner.add_grads(begin, end, grads),
            Call::LearnApply {} => learner.learn_apply().map(drop),
            Call::LearnDrop {} => learner.learn_drop(),
            Call::LearnBatch { batch } => learner.learn_batch(&batch).map(drop),
            Call::LearnTransitions { transitions } => learner.learn_transitions(&transitions, None).map(drop),
            Call::Imitate { rows } => learner.imitate(&rows).map(drop),
            Call::CountSteps { num_steps } => learner.count_steps(num_steps),
            Call::Freeze { frozen } => {
                learner.freeze(frozen);
                Ok(())
            }
            Call::SetTrainable { names, trainable } => learner.set_trainable(names, trainable).map(drop),
            Call::Configure { .. } => return Err(DAMAGED),
            Call::WriteParams { params, moments } => learner.write_params_with(params, moments),
            Call::WriteMoments { moments } => learner.write_moments(moments),
            Call::WriteTensors { of, tensors, values } => learner.write_tensors(of, tensors, values),
            Call::Adopt { other, parts } => learner.adopt(&View::attach(other)?, parts),
            Call::AdoptPolicy { other, parts, obs_count } => {
                learner.adopt_policy(&Policy::attach(other)?, parts, obs_count)
            }
        })
    }
}

/// Acts in a range of environments and compares the actions.
fn act(
    learner: &mut Learner<'_>,
    [begin, end]: [usize; 2],
    (active, obs, mask): (Option<&[u8]>, Elements<'_>, Option<&[u8]>),
    (drawn, offset): (Elements<'_>, usize),
    mut room: ElementsMut<'_>,
) -> Result<Result> {
    let width = learner.shape().action_len as usize;
    let rows = begin.checked_mul(width).zip(end.checked_mul(width));
    let mut room = rows.and_then(|(begin, end)| room.get(begin, end)).ok_or(DAMAGED)?;
    // Bytes that no call writes, of rows that do not act and between fields, are equal then.
    room.copy_from(drawn)?;
    if let Err(error) = learner.act_range(begin, end, active, obs, mask, room.reborrow()) {
        return Ok(Err(error));
    }
    let now = room.as_ref();
    let size = width.saturating_mul(now.kind().size()).max(1);
    let mut recorded = drawn.bytes().iter();
    match now.bytes().iter().position(|byte| recorded.next() != Some(byte)) {
        Some(place) => {
            let row = begin.saturating_add(place.checked_div(size).unwrap_or(0));
            let other = "recording: the call at byte {needed} drew another action than the recorded one.";
            Err(differs(other).needed(offset).in_row(row))
        }
        None => Ok(Ok(())),
    }
}
