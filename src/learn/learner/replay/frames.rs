//! Storing the frames of transitions.

use crate::block;
use crate::error::Result;
use crate::kernels::stack::MAX_STACK;
use crate::learn::learner::Learner;
use crate::learn::rows::copy_row;
use crate::learn::store::ring::ZEROS;
use crate::space::Elements;

impl Learner<'_> {
    /// Adds the frames of an environment's pending transitions and of their next observation to the store, before the
    /// transitions themselves. `count` transitions were begun in this episode. Returns the frame numbers of the next
    /// observation.
    pub(super) fn place(
        &mut self,
        env: usize,
        count: u64,
        next: Option<(&Elements<'_>, usize)>,
    ) -> Result<[u64; MAX_STACK]> {
        let ring = self.sizes.replay.ring;
        let (num, width, seen) = (ring.stack.num, ring.stack.width(), self.sizes.seen);
        if !ring.stack.is_kept() {
            return Ok([ZEROS; MAX_STACK]);
        }
        let mut before = None;
        for number in count.saturating_sub(self.config.n_step.into())..count {
            let at = self.begun_row(env, number);
            let (pixels, numbers) = (Elements::U8(self.replay.begun.pixels), &mut *self.replay.begun_frames);
            if !ring.is_recent(block::rows(numbers, at, 1, num)?, self.state.num_frames) {
                let other = match before {
                    Some(at) => Some((block::rows(numbers, at, 1, num)?, seen.front(pixels, at, width)?)),
                    None => None,
                };
                let to = (&mut *self.replay.frames, &mut self.state.num_frames);
                let found = ring.place(to, seen.front(pixels, at, width)?, other)?;
                copy_row(&found, numbers, (0, at, num))?;
            }
            before = Some(at);
        }
        let numbers = match (next, before) {
            (Some((obs, row)), Some(at)) => {
                let (pixels, numbers) = (Elements::U8(self.replay.begun.pixels), &*self.replay.begun_frames);
                let before = Some((block::rows(numbers, at, 1, num)?, seen.front(pixels, at, width)?));
                let to = (&mut *self.replay.frames, &mut self.state.num_frames);
                ring.place(to, seen.front(*obs, row, width)?, before)?
            }
            _ => [ZEROS; MAX_STACK],
        };
        self.forget();
        Ok(numbers)
    }

    /// Removes transitions whose frames may have been overwritten; while an update runs besides, all stay.
    pub(super) fn forget(&mut self) {
        let (ring, slots) = (self.sizes.replay.ring, self.config.buffer_size.into());
        if !ring.stack.is_kept() || self.state.runs_besides(self.config) {
            return;
        }
        while self.view().stored() > 0 {
            let oldest = self.state.num_gone.checked_rem(slots).unwrap_or(0);
            let stamp = self.replay.store.stamp.get(oldest as usize).copied().unwrap_or(0);
            if u64::from((self.state.num_frames as u32).wrapping_sub(stamp)) <= ring.held {
                break;
            }
            self.remove_oldest();
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
        let mut block = vec![0; Learner::size(config, &[], &obs, &action).unwrap() / 8];
        Learner::init(bytemuck::cast_slice_mut(&mut block), config, &[], &obs, &action).unwrap();
        block
    }

    fn config(slots: u32, n_step: u32, priority_exponent: f32) -> Config {
        Config {
            num_envs: N as u32,
            num_hidden: 1,
            hidden_len: [2, 0, 0, 0],
            obs_dims: [1, 2, NUM as u32],
            buffer_size: slots,
            batch_size: 4,
            n_step,
            priority_exponent,
            learning_starts: 10,
            train_interval: 500,
            num_stacked: NUM as u32,
            ..Config::of(Algorithm::Dqn)
        }
    }

    /// A learner that stores frames, and its twin, which stores whole observations and never removes one.
    struct Twins {
        own: Vec<u64>,
        twin: Vec<u64>,
        rng: Rng,
        stacks: [[u8; LEN]; N],
    }

    impl Twins {
        fn new(config: &Config) -> Twins {
            let whole = Config { num_stacked: 0, obs_dims: [0; 3], buffer_size: 20_000, ..*config };
            let rng = Rng::seeded(config.buffer_size.into());
            Twins { own: init(config), twin: init(&whole), rng, stacks: [[0u8; LEN]; N] }
        }

        /// A step of those environments that are active at a time, which ends episodes with these probabilities.
        fn step(&mut self, tick: usize, terminated_and_truncated: [f64; 2]) {
            let Twins { own, twin, rng, stacks } = self;
            let active = [1, u8::from(tick.is_multiple_of(3)), u8::from(tick.is_multiple_of(200))];
            let obs = stacks.concat();
            let ends: Vec<u8> = (0..2 * N).map(|i| u8::from(rng.uniform() < terminated_and_truncated[i / N])).collect();
            for stack in stacks.iter_mut().zip(active).filter(|(_, active)| *active != 0).map(|(stack, _)| stack) {
                stack.copy_within(1..NUM, 0);
                stack.copy_within(NUM + 1.., NUM);
                (stack[NUM - 1], stack[2 * NUM - 1]) = (rng.bounded(255) as u8, rng.bounded(255) as u8);
            }
            let last = stacks.concat();
            for block in [own, twin] {
                let mut l = Learner::open(bytemuck::cast_slice_mut(block)).unwrap();
                l.act(Some(&active), Elements::U8(&obs), None, ElementsMut::I32(&mut [0; N])).unwrap();
                let (terminated, truncated) = ends.split_at(N);
                l.observe(Some(&active), &[0.5; N], terminated, truncated, Some(Elements::U8(&last)), None).unwrap();
                if l.phase() == Phase::Learn {
                    l.learn_drop().unwrap();
                }
            }
            for env in (0..N).filter(|env| active[*env] != 0 && ends[*env] + ends[N + *env] != 0) {
                let zeros = rng.coin();
                stacks[env].fill_with(|| if zeros { 0 } else { rng.bounded(255) as u8 });
            }
        }

        /// Compares all that is held. Returns whether transitions were removed early, and whether frames were overwritten.
        fn compare(&mut self) -> [bool; 2] {
            crate::learn::learner::replay::View::attach(bytemuck::cast_slice(&self.own)).unwrap();
            let mut l = Learner::open(bytemuck::cast_slice_mut(&mut self.own)).unwrap();
            let t = Learner::open(bytemuck::cast_slice_mut(&mut self.twin)).unwrap();
            assert_eq!(l.state.num_stored, t.state.num_stored);
            let (held, ring, slots) =
                (l.state.num_gone..l.state.num_stored, l.sizes.replay.ring, l.config.buffer_size as usize);
            let pixels = |stack: &[u8]| stack.iter().map(|x| f32::from(*x) / 255.0).collect::<Vec<f32>>();
            for number in held.clone() {
                let (slot, at) = (number as usize % slots, number as usize);
                assert!(l.view().holds(slot));
                let (mut seen, own, whole) = ([0.0; LEN], &l.replay.store, &t.replay.store);
                for (frames, wanted) in [(&*own.frame, &*whole.pixels), (&*own.next_frame, &*whole.next_pixels)] {
                    ring.stack.see((frames, l.replay.frames), [slot].into_iter(), &mut seen).unwrap();
                    assert_eq!(seen[..], pixels(&wanted[at * LEN..(at + 1) * LEN])[..], "{slots} {number}");
                }
            }
            let count = (0..slots).filter(|slot| l.view().holds(*slot)).count();
            assert_eq!(count, l.view().stored());
            if !held.is_empty() {
                l.draw().unwrap();
                assert!(l.order.iter().all(|slot| l.view().holds(*slot as usize)));
            }
            [l.view().is_thinned(), l.state.num_frames > 2 * ring.room]
        }
    }

    /// Every stored transition has the same stacks as in the twin; also if a slow environment's transitions are followed by
    /// many others, and if there is no room for the frames of so many episode ends.
    #[test]
    fn what_is_held_is_what_was_seen() {
        for (slots, n_step, truncated, priority) in
            [(700, 1, 0.9, 0.0), (700, 3, 0.9, 1.0), (150, 2, 0.05, 1.0), (20, 1, 0.3, 0.0), (900, 1, 0.02, 0.0)]
        {
            let mut twins = Twins::new(&config(slots, n_step, priority));
            let mut counts = [0; 2];
            for tick in 0..3000 {
                twins.step(tick, [0.02, truncated]);
                if tick % 50 == 0 {
                    counts.iter_mut().zip(twins.compare()).for_each(|(count, own)| *count += u32::from(own));
                }
            }
            let [thinned, reached] = counts;
            assert_eq!(thinned > 10, slots == 700 && truncated > 0.5, "{slots}: {thinned}");
            assert!(reached > 10 || slots == 900, "{slots}: frames are overwritten");
        }
    }
}
