//! Past steps of each environment, for auxiliary tasks: one ring per environment, and the samples drawn from them.

use crate::block::fields;
use crate::learn::config::Config;
use crate::rng::Rng;

/// Marks a sample that was not drawn.
pub(in crate::learn) const NOT_DRAWN: u32 = u32::MAX;

/// The state of the episode after a step.
pub(in crate::learn) const GOES_ON: u8 = 0;
pub(in crate::learn) const TERMINATED: u8 = 1;
pub(in crate::learn) const TRUNCATED: u8 = 2;
/// The episode was abandoned, and the result of the step is unknown.
pub(in crate::learn) const GIVEN_UP: u8 = 3;

/// Lengths from which the array lengths of a history are computed.
#[derive(Clone, Copy)]
pub struct HistoryLens {
    /// N; 0 without a history.
    pub n: usize,
    /// Steps of each environment.
    pub len: usize,
    pub obs: usize,
    pub pixels: usize,
    pub choices: usize,
    pub vector: usize,
    pub masks: usize,
    pub values: usize,
    pub log_probs: usize,
    pub state: usize,
    pub durations: usize,
    /// Sequences and rewards drawn for a minibatch.
    pub draws: usize,
}

impl HistoryLens {
    const fn of(&self, width: usize) -> usize {
        self.n.saturating_mul(self.len).saturating_mul(width)
    }
}

fields! {
    pub(in crate::learn) spans HistorySpans(lens: HistoryLens) {
        /// Encoded observations, or bytes, as in a rollout.
        pub(in crate::learn) obs: [f32] = lens.of(lens.obs),
        pub(in crate::learn) pixels: [u8] = lens.of(lens.pixels),
        pub(in crate::learn) choice: [i32] = lens.of(lens.choices),
        /// Continuous actions and values at the time of the step, for policy replay, and masks, for policy replay and pixel
        /// control.
        pub(in crate::learn) vector: [f32] = lens.of(lens.vector),
        pub(in crate::learn) mask: [u8] = lens.of(lens.masks),
        pub(in crate::learn) value: [f32] = lens.of(lens.values),
        /// Log-probabilities at the time of the step, for policy replay that compares them with those of the policy.
        pub(in crate::learn) log_prob: [f32] = lens.of(lens.log_probs),
        pub(in crate::learn) reward: [f32] = lens.of(1),
        /// The state of the episode after the step.
        pub(in crate::learn) ends: [u8] = lens.of(1),
        /// The bootstrap value of a truncated episode.
        pub(in crate::learn) final_value: [f32] = lens.of(1),
        /// How long the action lasted, with `use_duration`.
        pub(in crate::learn) duration: [f32] = lens.of(lens.durations),
        /// Recurrent states before the step.
        pub(in crate::learn) state: [f32] = lens.of(lens.state),
        /// `[N]` the ring position of the next step, and the number of steps held.
        pub(in crate::learn) next: [u32] = lens.n,
        pub(in crate::learn) held: [u32] = lens.n,
        /// The random stream of the draws, one.
        pub(in crate::learn) rng: [Rng] = if lens.n > 0 { 1 } else { 0 },
        /// The first slots of the sequences of this minibatch, and the slots of the last observations that rewards are
        /// predicted from.
        pub(in crate::learn) sequence: [u32] = lens.draws,
        pub(in crate::learn) last: [u32] = lens.draws,
    }
    #[derive(Default)]
    pub(in crate::learn) write HistoryMut {}
    #[derive(Clone, Copy)]
    pub(in crate::learn) read HistoryView {}
    pub(in crate::learn) part History(HistoryLens)
}

impl HistoryMut<'_> {
    /// The length of each environment's ring.
    fn len(&self) -> usize {
        self.reward.len().checked_div(self.next.len()).unwrap_or(0)
    }

    /// The slot of the next step of an environment, in place of its oldest one; `None` without a history.
    pub(in crate::learn) fn place(&mut self, env: usize) -> Option<usize> {
        let len = self.len();
        let (next, held) = (self.next.get_mut(env)?, self.held.get_mut(env)?);
        let at = env.saturating_mul(len).saturating_add(*next as usize);
        *next = next.saturating_add(1);
        if *next as usize >= len {
            *next = 0;
        }
        *held = held.saturating_add(1).min(len as u32);
        Some(at)
    }

    /// Marks the last step of an environment as abandoned, unless an episode ended with it: another episode begins.
    pub(in crate::learn) fn cut_episode(&mut self, env: usize) {
        let len = self.len();
        let (Some(next), Some(held)) = (self.next.get(env), self.held.get(env)) else { return };
        let last = (*next as usize).checked_sub(1).unwrap_or(len.saturating_sub(1));
        let last = env.saturating_mul(len).saturating_add(last);
        if let Some(ends) = self.ends.get_mut(last).filter(|ends| *held > 0 && **ends == GOES_ON) {
            *ends = GIVEN_UP;
        }
    }

    /// Draws the past samples of the next minibatch: sequences, uniformly, and observations followed by a reward, half of which
    /// precede a nonzero reward, if both kinds exist.
    pub(in crate::learn) fn draw(&mut self, c: &Config) {
        let (len, [_, class, ..]) = (self.len(), c.tasks());
        let Some(rng) = self.rng.first_mut() else { return };
        let starts = c.history_starts;
        let view = Past { len, starts, next: self.next, held: self.held, ends: self.ends, reward: self.reward };
        self.sequence.fill(NOT_DRAWN);
        self.last.fill(NOT_DRAWN);
        let steps = c.replay_len();
        let begins = |held| if held >= starts { (held as usize).saturating_sub(steps) as u64 } else { 0 };
        let total: u64 = self.held.iter().copied().map(begins).sum();
        for to in self.sequence.iter_mut().take(if total > 0 { usize::MAX } else { 0 }) {
            let mut at = rng.bounded(total.saturating_sub(1));
            for (env, &held) in self.held.iter().enumerate() {
                let own = begins(held);
                if at < own {
                    *to = view.slot(env, at as usize) as u32;
                    break;
                }
                at = at.saturating_sub(own);
            }
        }
        let frames = c.reward_sequence_len as usize;
        let kinds = if class { [false, true].map(|pays| view.ends_of(frames, pays).count() as u64) } else { [0; 2] };
        if kinds == [0; 2] {
            return;
        }
        for to in &mut *self.last {
            let pays = rng.coin();
            let pays = if pays { kinds[1] > 0 } else { kinds[0] == 0 };
            let at = rng.bounded(kinds[usize::from(pays)].saturating_sub(1));
            *to = view.ends_of(frames, pays).nth(at as usize).unwrap_or(NOT_DRAWN);
        }
    }
}

/// The inputs of the draws.
struct Past<'h> {
    len: usize,
    /// Environments with fewer steps are excluded.
    starts: u32,
    next: &'h [u32],
    held: &'h [u32],
    ends: &'h [u8],
    reward: &'h [f32],
}

impl Past<'_> {
    /// The slot of step `age` of an environment, counted from its oldest one.
    fn slot(&self, env: usize, age: usize) -> usize {
        let (next, held) = (self.next.get(env), self.held.get(env));
        let first =
            (next.map_or(0, |x| *x as usize).saturating_add(self.len)).saturating_sub(held.map_or(0, |x| *x as usize));
        let at = first.saturating_add(age).checked_rem(self.len).unwrap_or(0);
        env.saturating_mul(self.len).saturating_add(at)
    }

    /// Steps with at least `frames` observations of their episode up to their own, with nonzero rewards if `pays`, else with
    /// zero rewards.
    fn ends_of(&self, frames: usize, pays: bool) -> impl Iterator<Item = u32> {
        let envs = self.held.iter().enumerate().filter(|(_, held)| **held >= self.starts);
        envs.flat_map(move |(env, &held)| {
            let mut seen = 0usize;
            (0..held as usize).filter_map(move |age| {
                let at = self.slot(env, age);
                seen = seen.saturating_add(1);
                let enough = seen >= frames;
                if self.ends.get(at) != Some(&GOES_ON) {
                    seen = 0;
                }
                let own = self.reward.get(at).is_some_and(|&reward| reward != 0.0);
                (enough && own == pays).then_some(at as u32)
            })
        })
    }
}

#[cfg_attr(not(feature = "unreal"), allow(dead_code))]
impl HistoryView<'_> {
    /// The slot of the step that is `steps` after that of `slot`, of the same environment.
    pub(in crate::learn) fn after(&self, slot: u32, steps: usize) -> u32 {
        let len = self.reward.len().checked_div(self.next.len()).unwrap_or(0);
        let slot = slot as usize;
        let (Some(env), Some(at)) = (slot.checked_div(len), slot.checked_rem(len)) else { return 0 };
        let at = at.saturating_add(steps).checked_rem(len).unwrap_or(0);
        env.saturating_mul(len).saturating_add(at) as u32
    }

    /// The slot of the step that is `steps` before that of `slot`.
    pub(in crate::learn) fn before(&self, slot: u32, steps: usize) -> u32 {
        let len = self.reward.len().checked_div(self.next.len()).unwrap_or(0);
        self.after(slot, len.saturating_sub(steps))
    }
}
