//! Frames of stacks that the store keeps once, in a ring.
//!
//! Frames are numbered as they come. What environments have begun lies apart with whole observations; when a transition goes
//! to the store, its stacks are told by the numbers of frames that are there already, if these came of late, and the others
//! come new. So no transition needs a frame that came long before it did, and those overwritten are of transitions that are gone.

use super::OffPolicy;
use crate::block::{self, Misfit};
use crate::error::Result;
use crate::kernels::stack::MAX_STACK;
use crate::learn::rows::copy_row;
use crate::learn::seen::Part;
use crate::learn::stack::{Older, REFUSED, Stack};
use crate::learn::stored::Stored;
use crate::space::Elements;

/// The number of the frame that is zeros.
pub(super) const ZEROS: u64 = u64::MAX;

/// One spare frame for so many transitions: for the last observations of episodes that are truncated, and as many again that
/// transitions of slow environments may reach back.
const SPARE: u64 = 256;

/// How frames are kept.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Ring {
    pub(in crate::learn) stack: Stack,
    /// Frames that there is room for, but the one of zeros.
    room: u64,
    /// A transition's frames are not older than so many others, counted from when it is stored, and before its own are.
    reach: u64,
    recent: u64,
}

impl Ring {
    pub(super) fn new(stored: &Stored, parts: &[Part]) -> Ring {
        let (c, mut stack) = (&stored.config, Stack::new(stored, parts));
        if c.buffer_size == 0 {
            stack.num = 0;
        }
        let (slots, num, steps) = (u64::from(c.buffer_size), u64::from(c.num_stacked), u64::from(c.n_step));
        // Of an environment at once: a stack, the steps that follow it, and another stack.
        let most = num.saturating_add(num).saturating_add(steps);
        let reach = most.saturating_mul(4).saturating_mul(c.num_envs.into()).saturating_add(slots.div_euclid(SPARE));
        let room = slots.saturating_add(reach.saturating_mul(2));
        Ring { stack, room, reach, recent: reach.saturating_sub(most) }
    }

    /// Frames that there is room for, the last of which is always zeros.
    pub(super) fn count(&self) -> usize {
        if self.stack.is_kept() { self.room.saturating_add(1) as usize } else { 0 }
    }

    /// Where frames of these numbers lie.
    pub(super) fn tell(&self, numbers: &[u64], to: &mut [u32]) {
        for (to, &number) in to.iter_mut().zip(numbers) {
            let own = if number == ZEROS { None } else { number.checked_rem(self.room) };
            *to = own.unwrap_or(self.room) as u32;
        }
    }

    /// Every one of these is the place of a frame.
    pub(super) fn are_there(&self, frames: &[u32]) -> bool {
        frames.iter().all(|&frame| u64::from(frame) <= self.room)
    }

    /// A stack with these numbers came of late.
    fn is_recent(&self, numbers: &[u64], num_frames: u64) -> bool {
        let age = |number| num_frames.checked_sub(number);
        let recent = |&number: &u64| number == ZEROS || age(number).is_some_and(|age| age <= self.recent);
        numbers.last() != Some(&ZEROS) && numbers.iter().all(recent)
    }

    /// What an environment sees in the middle of an episode follows what it saw before, which is in `pixels` of what it has
    /// begun. Errors: `Value`.
    pub(super) fn check(
        &self,
        pixels: &[u8],
        num_begun: &[u64],
        env: usize,
        (obs, row): (&Elements<'_>, usize),
    ) -> Result {
        let count = *num_begun.get(env).ok_or(Misfit)?;
        if !self.stack.is_kept() || count == 0 {
            return Ok(());
        }
        let of_env = block::rows(pixels, env, 1, pixels.len().checked_div(num_begun.len()).unwrap_or(0))?;
        let steps = of_env.len().checked_div(self.stack.width()).unwrap_or(0) as u64;
        let before = count.saturating_sub(1).checked_rem(steps).unwrap_or(0);
        let before = block::rows(of_env, before as usize, 1, self.stack.width())?;
        let obs = block::rows(obs.bytes(), row, 1, self.stack.width())?;
        let follows = |i: usize| self.stack.are_same((obs, i), (before, i.saturating_add(1)));
        let refused = self.stack.older(obs, 0, Some(follows)).any(|older| older == Older::Own);
        if refused { Err(REFUSED) } else { Ok(()) }
    }

    /// The number of frame `i` of a stack that comes new.
    fn put(&self, (frames, num_frames): (&mut [u8], &mut u64), obs: &[u8], i: usize) -> Result<u64> {
        let number = *num_frames;
        let at = number.checked_rem(self.room).unwrap_or(0) as usize;
        self.stack.copy(obs, i, |x| x, block::rows_mut(frames, at, 1, self.stack.len)?);
        *num_frames = number.saturating_add(1);
        Ok(number)
    }

    /// The numbers of a stack's frames, some of which may come new. `before`: the stack before it, with numbers and whole.
    fn place(
        &self,
        (frames, num_frames): (&mut [u8], &mut u64),
        obs: &[u8],
        before: Option<(&[u64], &[u8])>,
    ) -> Result<[u64; MAX_STACK]> {
        let (mut numbers, newest) = ([ZEROS; MAX_STACK], self.stack.num.saturating_sub(1));
        let last = self.put((frames, num_frames), obs, newest)?;
        let follows =
            before.map(|(_, other)| move |i: usize| self.stack.are_same((obs, i), (other, i.saturating_add(1))));
        for (i, (to, older)) in numbers.iter_mut().zip(self.stack.older(obs, 0, follows)).enumerate() {
            *to = match older {
                Older::Before => *before.and_then(|(numbers, _)| numbers.get(i.saturating_add(1))).ok_or(Misfit)?,
                Older::Newest => last,
                Older::Zeros => ZEROS,
                Older::Own => self.put((frames, num_frames), obs, i)?,
            };
        }
        *numbers.get_mut(newest).ok_or(Misfit)? = last;
        Ok(numbers)
    }
}

impl OffPolicy<'_> {
    /// Before an environment's transitions go to the store, of which it has begun `count` in this episode: their frames are
    /// there then, and those of what they led to, whose numbers are returned.
    pub(super) fn place(
        &mut self,
        env: usize,
        count: u64,
        next: Option<(&Elements<'_>, usize)>,
    ) -> Result<[u64; MAX_STACK]> {
        let ring = self.sizes.ring;
        let (num, width) = (ring.stack.num, ring.stack.width());
        if !ring.stack.is_kept() {
            return Ok([ZEROS; MAX_STACK]);
        }
        let mut before = None;
        for number in count.saturating_sub(self.config.n_step.into())..count {
            let at = self.begun_row(env, number);
            let (pixels, numbers) = (&*self.begun.pixels, &mut *self.begun_frames);
            if !ring.is_recent(block::rows(numbers, at, 1, num)?, self.state.num_frames) {
                let other = match before {
                    Some(at) => Some((block::rows(numbers, at, 1, num)?, block::rows(pixels, at, 1, width)?)),
                    None => None,
                };
                let to = (&mut *self.frames, &mut self.state.num_frames);
                let found = ring.place(to, block::rows(pixels, at, 1, width)?, other)?;
                copy_row(&found, numbers, (0, at, num))?;
            }
            before = Some(at);
        }
        let numbers = match (next, before) {
            (Some((obs, row)), Some(at)) => {
                let (pixels, numbers) = (&*self.begun.pixels, &*self.begun_frames);
                let before = Some((block::rows(numbers, at, 1, num)?, block::rows(pixels, at, 1, width)?));
                let to = (&mut *self.frames, &mut self.state.num_frames);
                ring.place(to, block::rows(obs.bytes(), row, 1, width)?, before)?
            }
            _ => [ZEROS; MAX_STACK],
        };
        self.forget();
        Ok(numbers)
    }

    /// Transitions whose frames may have been overwritten are gone.
    fn forget(&mut self) {
        let (ring, slots) = (self.sizes.ring, self.config.buffer_size.into());
        let most = ring.room.saturating_sub(ring.reach);
        while self.view().stored() > 0 {
            let oldest = self.state.num_gone.checked_rem(slots).unwrap_or(0);
            let stamp = self.store.stamp.get(oldest as usize).copied().unwrap_or(0);
            if u64::from((self.state.num_frames as u32).wrapping_sub(stamp)) <= most {
                break;
            }
            self.state.num_gone = self.state.num_gone.saturating_add(1);
            if self.config.priority_exponent > 0.0 {
                self.weights.set_checked(&[oldest as u32], &[0.0]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::learn::config::{Algorithm, Config};
    use crate::learn::learner::Phase;
    use crate::rng::Rng;
    use crate::space::{ElementsMut, Space};
    use std::vec;
    use std::vec::Vec;

    const N: usize = 3;
    const NUM: usize = 3;
    const LEN: usize = 2 * NUM;

    fn init(config: &Config) -> Vec<u64> {
        let (obs, action) = (Space::bytes(LEN as u32), Space::discrete(&[2]));
        let mut block = vec![0; OffPolicy::size(config, &[], &obs, &action).unwrap() / 8];
        OffPolicy::init(bytemuck::cast_slice_mut(&mut block), config, &[], &obs, &action).unwrap();
        block
    }

    /// Every transition that is held has the stacks that a twin keeps whole, which never forgets; also if others came long
    /// after those of a slow environment, and if there is no room for the frames of so many ends.
    #[test]
    fn what_is_held_is_what_was_seen() {
        let pixels = |stack: &[u8]| stack.iter().map(|x| f32::from(*x) / 255.0).collect::<Vec<f32>>();
        for (slots, n_step, truncated, priority) in
            [(700, 1, 0.9, 0.0), (700, 3, 0.9, 1.0), (150, 2, 0.05, 1.0), (20, 1, 0.3, 0.0), (900, 1, 0.02, 0.0)]
        {
            let config = Config {
                num_envs: N as u32,
                num_hidden: 1,
                hidden_len: [2, 0, 0, 0],
                obs_dims: [1, 2, NUM as u32],
                buffer_size: slots,
                batch_size: 4,
                n_step,
                priority_exponent: priority,
                learning_starts: 10,
                train_interval: 500,
                num_stacked: NUM as u32,
                ..Config::of(Algorithm::Dqn)
            };
            let whole = Config { num_stacked: 0, obs_dims: [0; 3], buffer_size: 20_000, ..config };
            let (mut own, mut twin, mut rng) = (init(&config), init(&whole), Rng::seeded(slots.into()));
            let mut stacks = [[0u8; LEN]; N];
            let (mut thinned, mut reached) = (0, 0);
            for tick in 0..3000 {
                let active = [1, u8::from(tick % 3 == 0), u8::from(tick % 200 == 0)];
                let obs = stacks.concat();
                let ends: Vec<u8> = (0..2 * N).map(|i| u8::from(rng.uniform() < [0.02, truncated][i / N])).collect();
                for stack in stacks.iter_mut().zip(active).filter(|(_, active)| *active != 0).map(|(stack, _)| stack) {
                    stack.copy_within(1..NUM, 0);
                    stack.copy_within(NUM + 1.., NUM);
                    (stack[NUM - 1], stack[2 * NUM - 1]) = (rng.bounded(255) as u8, rng.bounded(255) as u8);
                }
                let last = stacks.concat();
                for block in [&mut own, &mut twin] {
                    let mut l = OffPolicy::open(bytemuck::cast_slice_mut(block)).unwrap();
                    l.act(Some(&active), Elements::U8(&obs), None, ElementsMut::I32(&mut [0; N])).unwrap();
                    let (terminated, truncated) = ends.split_at(N);
                    l.observe(Some(&active), &[0.5; N], terminated, truncated, Some(Elements::U8(&last)), None)
                        .unwrap();
                    if l.phase() == Phase::Learn {
                        l.learn_drop().unwrap();
                    }
                }
                for env in (0..N).filter(|env| active[*env] != 0 && ends[*env] + ends[N + *env] != 0) {
                    let zeros = rng.coin();
                    stacks[env].fill_with(|| if zeros { 0 } else { rng.bounded(255) as u8 });
                }
                if tick % 50 != 0 {
                    continue;
                }
                crate::learn::off_policy::View::attach(bytemuck::cast_slice(&own)).unwrap();
                let (mut l, t) = (
                    OffPolicy::open(bytemuck::cast_slice_mut(&mut own)).unwrap(),
                    OffPolicy::open(bytemuck::cast_slice_mut(&mut twin)).unwrap(),
                );
                assert_eq!(l.state.num_stored, t.state.num_stored);
                let (held, ring) = (l.state.num_gone..l.state.num_stored, l.sizes.ring);
                for number in held.clone() {
                    let (slot, at) = ((number % u64::from(slots)) as usize, number as usize);
                    assert!(l.view().holds(slot));
                    let (mut seen, sides) = (
                        [0.0; LEN],
                        [(&*l.store.frame, &*t.store.pixels), (&*l.store.next_frame, &*t.store.next_pixels)],
                    );
                    for (frames, wanted) in sides {
                        ring.stack.see((frames, l.frames), [slot].into_iter(), &mut seen).unwrap();
                        assert_eq!(
                            seen[..],
                            pixels(&wanted[at * LEN..(at + 1) * LEN])[..],
                            "{slots} {number} at {tick}"
                        );
                    }
                }
                let count = (0..slots as usize).filter(|slot| l.view().holds(*slot)).count();
                assert_eq!(count, l.view().stored());
                thinned += u32::from(l.view().is_thinned());
                reached += u32::from(l.state.num_frames > 2 * ring.room);
                if !held.is_empty() {
                    l.draw().unwrap();
                    assert!(l.order.iter().all(|slot| l.view().holds(*slot as usize)));
                }
            }
            assert_eq!(thinned > 10, slots == 700 && truncated > 0.5, "{slots}: {thinned}");
            assert!(reached > 10 || slots == 900, "{slots}: frames are overwritten");
        }
    }
}
