//! Learning from transitions supplied by the host.

use crate::block;
use crate::error::{Error, Kind, Result, check_len, check_rows};
use crate::learn::actor::{Head, check_action, check_obs};
use crate::learn::learner::{Learner, Stats};
use crate::learn::store::replay::TransitionView;
use crate::learn::transition_batch::TransitionBatch;
use crate::space::Elements;

impl Learner<'_> {
    /// Takes one gradient step, of Q or of the critics and, when it is due, of the policy and the targets, from transitions
    /// supplied by the host, whose store may be shared, prioritized, or relabeled with other goals. It counts as an update of
    /// one gradient step, and not as environment steps. The learner's own store and its priorities do not change.
    ///
    /// `error`: `[B]`, written: the distance of each transition's value from its target, for priorities. With several elements
    /// of an action, or two critics, it is the mean.
    ///
    /// Errors: `NotReady` while gradient steps from the learner's own store are due; `Shape`; `Value` for numbers that are not
    /// finite, actions outside of their space or not allowed, and masks that allow no choice: then nothing changes. `Value` if
    /// numbers of the update overflow, as [`Learner::learn`].
    pub fn learn_transitions(&mut self, batch: &TransitionBatch<'_>, error: Option<&mut [f32]>) -> Result<Stats> {
        let _changing = self.mark.begin();
        self.config.check_transitions()?;
        let what = "learner learn_transitions: recurrent layers learn from sequences of the learner's own store.";
        Error::new(Kind::Disabled, what).fail_if(self.sizes.state_len() > 0)?;
        let what = "learner learn_transitions: an update is due; call learn first.";
        self.state.check_recording(self.config, what)?;
        Error::new(Kind::NotReady, what).fail_if(self.is_learning())?;
        if let Some(error) = &error {
            check_len("learner learn_transitions: errors", error, self.config.batch_size as usize)?;
        }
        let checked = self.check_transitions(batch);
        self.clear_scratch();
        checked?;
        self.state.num_left = 1;
        let what = "learner learn_transitions: numbers overflowed; the gradient step was dropped.";
        self.keep_for_update();
        let done = self.begin_step(true).and_then(|()| self.learn_slices(u64::MAX, Some(batch)));
        self.clear_scratch();
        let done = self.finish(done, what);
        block::copy(self.acting, self.params);
        if let (Ok(_), Some(error)) = (&done, error) {
            block::copy(error, self.replay.error);
        }
        self.replay.error.fill(0.0);
        done
    }

    fn check_transitions(&mut self, batch: &TransitionBatch<'_>) -> Result {
        let &TransitionBatch { obs, action, mask, reward, terminated, discount, next_obs, next_mask, importance } =
            batch;
        let (rows, shape) = (self.config.batch_size as usize, self.actor.shape);
        check_obs("learner learn_transitions: obs", &shape, rows, &obs)?;
        check_obs("learner learn_transitions: next_obs", &shape, rows, &next_obs)?;
        check_action(&shape, rows, action.kind(), action.len())?;
        check_len("learner learn_transitions: rewards", reward, rows)?;
        check_len("learner learn_transitions: terminated flags", terminated, rows)?;
        if let Some(discount) = discount {
            check_len("learner learn_transitions: discounts", discount, rows)?;
            let what = "learner learn_transitions: discounts from 0 to 1";
            check_all(what, discount, |x| (0.0..=1.0).contains(&x))?;
        }
        if let Some(importance) = importance {
            check_len("learner learn_transitions: importance weights", importance, rows)?;
            let what = "learner learn_transitions: finite importance weights of at least 0";
            check_all(what, importance, |x| (0.0..=f32::MAX).contains(&x))?;
        }
        self.check_masks(mask, next_mask, rows)?;
        check_rows("learner learn_transitions: finite rewards", reward, 1, 0..)?;
        for row in 0..rows {
            self.sizes.seen.check_row("learner learn_transitions: finite obs", (obs, row), 0, self.work.raw)?;
            self.sizes.seen.check_row(
                "learner learn_transitions: finite next_obs",
                (next_obs, row),
                0,
                self.work.raw,
            )?;
        }
        let (head, a, masks) =
            (Head::new(&self.actor, self.taken.read(), &[]), shape.action_len as usize, self.sizes.masks);
        let room = block::rows_mut(self.work.vector, 0, 1, self.sizes.std_len)?;
        let picks = block::rows_mut(self.work.choice, 0, 1, self.taken.n.len())?;
        for row in 0..rows {
            let mask = mask.map(|mask| block::rows(mask, row, 1, masks)).transpose()?;
            let exists = match action {
                Elements::I32(choice) => {
                    block::copy(picks, block::rows(choice, row, 1, a)?);
                    true
                }
                Elements::F32(vector) => {
                    block::copy(room, block::rows(vector, row, 1, a)?);
                    true
                }
                Elements::U8(bytes) => head.part(block::rows(bytes, row, 1, a)?, picks, room).is_ok(),
            };
            let fits = exists && head.could_take(picks, mask) && head.shrink(room);
            let what = "learner learn_transitions: the action of transition {given} is outside of the action space, or not allowed.";
            Error::new(Kind::Value, what).given(row).fail_if(!fits)?;
        }
        Ok(())
    }

    /// Checks that masks are given where the algorithm requires them, and allow a choice in each element of each row.
    fn check_masks(&self, mask: Option<&[u8]>, next_mask: Option<&[u8]>, rows: usize) -> Result {
        let use_mask = self.config.use_action_mask as usize;
        let what = "learner learn_transitions: next_action_mask must be given exactly if use_action_mask is 1; it is {needed}.";
        Error::new(Kind::Shape, what).needed(use_mask).fail_if(next_mask.is_some() != (use_mask != 0))?;
        let needed = self.sizes.replay.own_masks > 0 && self.config.needs().critics;
        let wrong = if mask.is_some() { use_mask == 0 } else { needed };
        let what = "learner learn_transitions: action_mask must be given to SAC exactly if use_action_mask is 1, and to DQN only then; it is {needed}.";
        Error::new(Kind::Shape, what).needed(use_mask).fail_if(wrong)?;
        let what = "learner learn_transitions: action_mask forbids every choice of an element of transition {given}.";
        let next =
            "learner learn_transitions: next_action_mask forbids every choice of an element of transition {given}.";
        for (mask, what) in [(mask, what), (next_mask, next)] {
            self.view().head()?.check_mask(mask, rows).map_err(|e| e.with_message(Kind::Value, what))?;
        }
        Ok(())
    }
}

/// Errors: `Value` for a number that `is_right` rejects.
fn check_all(what: &'static str, numbers: &[f32], is_right: impl Fn(f32) -> bool) -> Result {
    match numbers.iter().enumerate().find(|(_, x)| !is_right(**x)) {
        Some((row, &x)) => Err(Error::new(Kind::Value, what).given_f32(x).in_row(row)),
        None => Ok(()),
    }
}

impl<'a> TransitionBatch<'a> {
    /// This batch as rows of a replay store.
    pub(in crate::learn::learner) fn rows(&self, as_numbers: bool) -> TransitionView<'a> {
        let split = |obs: Elements<'a>| match obs {
            Elements::F32(x) if as_numbers => (x, &[][..]),
            _ => (&[][..], obs.bytes()),
        };
        let ((obs, pixels), (next_obs, next_pixels)) = (split(self.obs), split(self.next_obs));
        let (choice, vector) = match self.action {
            Elements::I32(choice) => (choice, &[][..]),
            Elements::F32(vector) => (&[][..], vector),
            // Structures are taken apart where they are read.
            Elements::U8(_) => (&[][..], &[][..]),
        };
        let (mask, next_mask) = (self.mask.unwrap_or_default(), self.next_mask.unwrap_or_default());
        let reward = self.reward;
        let discount = self.discount.unwrap_or_default();
        TransitionView {
            obs,
            pixels,
            frame: &[],
            mask,
            next_obs,
            next_pixels,
            next_frame: &[],
            stamp: &[],
            next_mask,
            choice,
            vector,
            reward,
            discount,
            state: &[],
            begin: &[],
            before: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::learn::config::{Algorithm, Config};
    use crate::learn::learner::Phase;
    use crate::learn::learner::replay::update::LEAST_PRIORITY;
    use crate::rng::Rng;
    use crate::space::{Element, Space};
    use std::vec;
    use std::vec::Vec;

    const N: usize = 3;
    const LOW: [f32; 2] = [-2.0, 8.0];
    const HIGH: [f32; 2] = [6.0, 16.0];

    fn config(algorithm: Algorithm) -> Config {
        Config {
            num_envs: N as u32,
            num_hidden: 1,
            hidden_len: [8, 0, 0, 0],
            buffer_size: 60,
            batch_size: 10,
            num_chunks: 3,
            learning_starts: 21,
            train_interval: 6,
            policy_interval: if algorithm == Algorithm::Dqn { 1 } else { 2 },
            target_interval: 2,
            learning_rate: 1e-2,
            ..Config::of(algorithm)
        }
    }

    /// Rows of bytes as elements of a given type.
    fn elements(kind: Element, bytes: &[u32], size: usize) -> Elements<'_> {
        match kind {
            Element::F32 => Elements::F32(bytemuck::cast_slice(bytes)),
            Element::I32 => Elements::I32(bytemuck::cast_slice(bytes)),
            Element::U8 => Elements::U8(&bytemuck::cast_slice(bytes)[..size]),
        }
    }

    /// The transitions of the slots in `order`, in the form that a host has them.
    struct Host {
        kind: Element,
        obs: Vec<u32>,
        next_obs: Vec<u32>,
        mask: Vec<u8>,
        next_mask: Vec<u8>,
        choice: Vec<i32>,
        vector: Vec<f32>,
        reward: Vec<f32>,
        terminated: Vec<u8>,
        discount: Vec<f32>,
        importance: Vec<f32>,
        obs_size: usize,
    }

    fn rows<T: Copy>(from: &[T], order: &[u32], width: usize) -> Vec<T> {
        order.iter().flat_map(|slot| from[*slot as usize * width..][..width].to_vec()).collect()
    }

    impl Host {
        fn of(l: &Learner<'_>) -> Host {
            let (s, sizes, order) = (l.replay.store.read(), &l.sizes, &*l.order);
            let words = |numbers: &[f32], bytes: &[u8]| {
                let mut all: Vec<u8> = bytemuck::cast_slice(&rows(numbers, order, sizes.obs_len)).to_vec();
                all.extend(rows(bytes, order, sizes.pixels_len));
                all.resize(all.len().next_multiple_of(4), 0);
                all.as_chunks().0.iter().map(|x| u32::from_ne_bytes(*x)).collect()
            };
            let mut vector = rows(s.vector, order, sizes.std_len);
            for (i, x) in vector.iter_mut().enumerate() {
                *x = LOW[i % 2] + 0.5 * (*x + 1.0) * (HIGH[i % 2] - LOW[i % 2]);
            }
            let discount = rows(s.discount, order, 1);
            Host {
                kind: l.shape().kinds().0,
                obs: words(s.obs, s.pixels),
                next_obs: words(s.next_obs, s.next_pixels),
                mask: rows(s.mask, order, sizes.replay.own_masks),
                next_mask: rows(s.next_mask, order, sizes.masks),
                choice: rows(s.choice, order, l.taken.n.len()),
                vector,
                reward: rows(s.reward, order, 1),
                terminated: discount.iter().map(|x| u8::from(*x == 0.0)).collect(),
                discount,
                importance: l.replay.importance.to_vec(),
                obs_size: sizes.pixels_len * order.len(),
            }
        }

        fn batch(&self, one_step: bool) -> TransitionBatch<'_> {
            TransitionBatch {
                obs: elements(self.kind, &self.obs, self.obs_size),
                action: match self.choice.is_empty() {
                    true => Elements::F32(&self.vector),
                    false => Elements::I32(&self.choice),
                },
                mask: (!self.mask.is_empty()).then_some(&self.mask),
                reward: &self.reward,
                terminated: &self.terminated,
                discount: (!one_step).then_some(&self.discount),
                next_obs: elements(self.kind, &self.next_obs, self.obs_size),
                next_mask: (!self.next_mask.is_empty()).then_some(&self.next_mask),
                importance: self.importance.iter().any(|x| *x != 1.0).then_some(&self.importance),
            }
        }
    }

    /// Observations of all environments.
    fn see(kind: Element, rng: &mut Rng) -> Vec<u32> {
        let word = |i: usize, rng: &mut Rng| match kind {
            Element::F32 => (2.0 * rng.uniform_f32() - 1.0).to_bits(),
            Element::I32 => rng.bounded(if i.is_multiple_of(2) { 3 } else { 1 }) as u32,
            Element::U8 => rng.next_u64() as u32,
        };
        (0..2 * N).map(|i| word(i, rng)).collect()
    }

    /// A step of all environments, with an action of the host.
    fn step(l: &mut Learner<'_>, rng: &mut Rng) {
        let kind = l.shape().kinds().0;
        let (obs, last) = (see(kind, rng), see(kind, rng));
        let choice: Vec<i32> = (0..2 * N).map(|i| rng.bounded(2 - i as u64 % 2) as i32).collect();
        let mut mask: Vec<u8> = (0..5 * N).map(|_| rng.coin().into()).collect();
        (0..N).for_each(|i| (0..2).for_each(|k| mask[5 * i + 3 * k + choice[2 * i + k] as usize] = 1));
        // Exact in f32, both from -1 to 1 and within the bounds.
        let part = |rng: &mut Rng| rng.bounded(64) as f32 / 64.0;
        let vector: Vec<f32> = (0..2 * N).map(|i| LOW[i % 2] + part(rng) * (HIGH[i % 2] - LOW[i % 2])).collect();
        let action = if l.shape().discrete() { Elements::I32(&choice) } else { Elements::F32(&vector) };
        let mask = (l.config.use_action_mask != 0).then_some(&mask[..]);
        l.demonstrate(None, elements(kind, &obs, 2 * N), mask, action).unwrap();
        let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
        let [terminated, truncated] = [(); 2].map(|()| [(); N].map(|()| u8::from(rng.bounded(4) == 0)));
        let last = elements(kind, &last, 2 * N);
        l.observe(None, &reward, &terminated, &truncated, Some(last), None).unwrap();
    }

    /// All that a gradient step changes, except priorities, in bits.
    fn learned(l: &Learner<'_>) -> impl PartialEq + use<> {
        let (r, s) = (&l.replay, &l.state);
        let all = [&*l.params, r.target, l.adam_m, l.adam_v, r.draws, l.noise, l.noisy, r.noisy_target];
        let bits: Vec<u32> = all.concat().iter().map(|x| x.to_bits()).collect();
        let steps = (s.adam_steps, s.critic_steps, s.temperature_steps, s.rng, s.log_temperature.to_bits());
        (bits, steps, [s.policy_loss, s.entropy, s.learning_rate].map(f32::to_bits))
    }

    fn weights(l: &Learner<'_>) -> Vec<f32> {
        let weights = l.replay.weights.view();
        (0..weights.len()).map(|i| weights.weight(i)).collect()
    }

    /// Takes a gradient step of `l` again in its copy `t`, which had drawn the same transitions before: they are those of the
    /// host this time.
    fn compare(l: &Learner<'_>, t: &mut Learner<'_>) {
        if t.state.updating == 0 {
            t.draw().unwrap();
        }
        t.learn_drop().unwrap();
        let (host, before, stored) = (Host::of(t), weights(t), t.view().stored());
        let mut errors = vec![f32::NAN; t.config.batch_size as usize];
        let (updates, sums) = (t.state.num_updates, t.state.num_gradient_steps);
        t.learn_transitions(&host.batch(t.config.n_step == 1), Some(&mut errors)).unwrap();
        assert_eq!((t.state.num_updates, t.state.num_gradient_steps), (updates + 1, sums + 1));
        assert!(learned(l) == learned(t), "{:?}", l.config);
        if l.config.gradient_steps == 1 {
            assert_eq!(std::format!("{:?}", l.stats()), std::format!("{:?}", t.stats()));
        }
        // The store's priorities do not change; the host's errors are those that determine the learner's own priorities.
        assert!(weights(t) == before && t.view().stored() == stored);
        let (ours, exponent) = (weights(l), f64::from(l.config.priority_exponent));
        // A transition that was drawn twice has the weight of its last error.
        let last = |k: usize| !l.order[k + 1..].contains(&l.order[k]);
        let drawn = l.order.iter().zip(&errors).enumerate().filter(|(k, _)| last(*k) && exponent > 0.0);
        for (_, (slot, error)) in drawn {
            let wanted = (f64::from(*error) + LEAST_PRIORITY).powf(exponent);
            let weight = f64::from(ours[*slot as usize]);
            assert!((weight - wanted).abs() < 1e-5 * wanted, "{weight} {wanted}");
        }
        assert!(errors.iter().all(|x| *x > 0.0));
    }

    /// A step from transitions that the learner's own store has drawn, supplied by the host, equals the learner's own step bit
    /// by bit: with all kinds of observations, algorithms, chunks, masks, n-step transitions, noise, and priorities.
    #[test]
    fn steps_from_given_transitions_are_those_of_the_own_store() {
        let real = Space { low: &LOW, high: &HIGH, ..Space::unbounded(2) };
        let discrete = Space::discrete(&[3, 2]);
        let spaces =
            [Space::unbounded(2), Space { kind: Element::U8, ..Space::unbounded(2) }, Space::discrete(&[4, 2])];
        let algorithms =
            [(Algorithm::Dqn, true), (Algorithm::Td3, false), (Algorithm::Sac, false), (Algorithm::Sac, true)];
        let all = algorithms.into_iter().flat_map(|(a, choices)| [0, 1, 2, 3].map(|i| (a, choices, i)));
        for (algorithm, choices, which) in all {
            let dqn = algorithm == Algorithm::Dqn;
            let config = Config {
                use_action_mask: u32::from(choices && which != 1),
                dueling: u32::from(dqn && which == 2),
                noisy: u32::from(dqn && cfg!(feature = "noisy") && which == 3),
                normalize_obs: u32::from(which > 1),
                normalize_reward: u32::from(which == 2),
                n_step: [1, 1, 3, 2][which],
                priority_exponent: [0.0, 0.6, 0.5, 1.0][which],
                importance_exponent: [0.4, 0.5, 0.5, 0.5][which],
                importance_steps: [0, 200, 200, 200][which],
                gradient_steps: if choices && which == 1 { 2 } else { 1 },
                ..config(algorithm)
            };
            let (obs_space, action_space) = (&spaces[which % 3], if choices { &discrete } else { &real });
            let mut own = vec![0u64; Learner::size(&config, &[], obs_space, action_space).unwrap() / 8];
            Learner::init(bytemuck::cast_slice_mut(&mut own), &config, &[], obs_space, action_space).unwrap();
            let (mut rng, mut steps) = (Rng::seeded(5), 0);
            for _ in 0..60 {
                let mut l = Learner::open(bytemuck::cast_slice_mut(&mut own)).unwrap();
                step(&mut l, &mut rng);
                if l.phase() == Phase::Act {
                    continue;
                }
                for left in (0..config.gradient_steps).rev() {
                    let mut twin = own.clone();
                    let mut l = Learner::open(bytemuck::cast_slice_mut(&mut own)).unwrap();
                    while l.stats().minibatches_left > left {
                        l.learn(None, None, 1).unwrap();
                    }
                    if left > 0 {
                        // The next batch is drawn already, which that of the host is not.
                        continue;
                    }
                    compare(&l, &mut Learner::open(bytemuck::cast_slice_mut(&mut twin)).unwrap());
                    crate::learn::learner::replay::View::attach(bytemuck::cast_slice(&twin)).unwrap();
                    steps += 1;
                }
            }
            assert!(steps > 20, "{steps}");
        }
    }
}
