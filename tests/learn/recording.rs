//! Recordings of training: every call that changes a learner is played back to the same bytes; damaged and made-up recordings
//! are refused with a sentence.

#![cfg(all(feature = "noisy", feature = "residual", feature = "unreal"))]

use crate::host::every::every;
use crate::host::{Array, Columns, Host, Tune, chunks, export, transitions};
use rlcore::block::{HASH_START, hash};
use rlcore::error::{Error, Kind, Result};
use rlcore::learn::recording::{self, Call, Entry, Recording};
use rlcore::learn::{Algorithm, Config, Imitation, Learner, NamedTensor, Phase, TensorsOf, adopt};
use rlcore::rng::Rng;
use rlcore::space::{Element, Space};

/// Bytes on a boundary of eight.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_ne_bytes(std::array::from_fn(|i| word.get(i).copied().unwrap_or(0)))).collect()
}

/// A learner whose calls are recorded.
struct Taped {
    host: Host,
    bytes: Vec<u8>,
    calls: usize,
}

impl Taped {
    fn new(host: Host) -> Taped {
        let block: &[u8] = bytemuck::cast_slice(&host.block);
        let mut bytes = vec![0xa5; recording::begin_size(block).unwrap()];
        let size = bytes.len();
        assert_eq!(recording::begin(block, &mut bytes[..size - 1]).unwrap_err().kind, Kind::Size);
        assert!(bytes.iter().all(|byte| *byte == 0xa5));
        assert_eq!(recording::begin(block, &mut bytes), Ok(size));
        Taped { host, bytes, calls: 0 }
    }

    /// Adds the entry of a call that was just made.
    fn put(&mut self, call: &Call<'_>, ended: &Result) {
        let block: &[u8] = bytemuck::cast_slice(&self.host.block);
        let learner = (self.calls % 3 != 1).then_some(block);
        let (begin, size) = (self.bytes.len(), call.size());
        self.bytes.resize(begin + size, 0xa5);
        assert_eq!(call.record(ended, learner, &mut self.bytes[begin..begin + size - 1]).unwrap_err().kind, Kind::Size);
        assert!(self.bytes[begin..].iter().all(|byte| *byte == 0xa5), "a full recording is left as it is");
        assert_eq!(call.record(ended, learner, &mut self.bytes[begin..]), Ok(size));
        self.calls += 1;
    }

    /// Makes a call that writes nothing but the learner, and adds its entry.
    fn make(&mut self, call: Call<'_>, make: impl FnOnce(&mut Learner<'_>) -> Result) {
        let ended = make(&mut self.host.learner());
        self.put(&call, &ended);
    }

    fn act(&mut self, obs: &Array, mask: Option<&[u8]>, [begin, end]: [usize; 2]) {
        let h = &mut self.host;
        let (mut action, width, len) = (Array::junk(h.action_kind, h.n * h.action_len), h.action_len, h.obs_len);
        let mask = mask.map(|mask| &mask[begin * h.mask_len..end * h.mask_len]);
        let seen = obs.get().get(begin * len, end * len).unwrap();
        let mut room = action.get_mut();
        let drawn = room.get(begin * width, end * width).unwrap();
        let ended = h.learner().act_range(begin, end, None, seen, mask, drawn);
        let action = action.get().get(begin * width, end * width).unwrap();
        self.put(&Call::Act { begin, end, active: None, obs: seen, mask, action }, &ended);
    }

    fn observe(&mut self, obs: &Array, rng: &mut Rng) {
        let n = self.host.n;
        let reward: Vec<f32> = (0..n).map(|_| rng.uniform_f32()).collect();
        let ends: Vec<u8> = (0..2 * n).map(|_| u8::from(rng.uniform() < 0.1)).collect();
        let (terminated, truncated) = ends.split_at(n);
        let (final_obs, reward) = (Some(obs.get()), &reward[..]);
        let call =
            Call::Observe { duration: None, active: None, reward, terminated, truncated, final_obs, final_mask: None };
        self.make(call, |l| l.observe(None, reward, terminated, truncated, final_obs, None));
    }

    /// Acts and observes until learning is due; the observations that follow.
    fn play(&mut self, rng: &mut Rng) -> Array {
        loop {
            let (obs, n) = (self.host.draw_seen(rng), self.host.n);
            if self.host.learner().phase() == Phase::Learn {
                return obs;
            }
            let mask = self.host.draw_mask(rng);
            let middle = if self.calls % 2 == 0 { n } else { n / 2 };
            for range in [[0, middle], [middle, n]].into_iter().filter(|[begin, end]| begin < end) {
                self.act(&obs, mask.as_deref(), range);
            }
            self.observe(&obs, rng);
        }
    }

    fn learn(&mut self, obs: Option<&Array>, max_slices: u32) {
        let obs = obs.map(Array::get);
        self.make(Call::Learn { obs, mask: None, max_slices }, |l| l.learn(obs, None, max_slices).map(drop));
    }

    /// One update in the slices of `max_slices`; 0: by calls for several threads.
    fn update(&mut self, rng: &mut Rng, max_slices: u32) {
        let obs = self.play(rng);
        if max_slices > 0 {
            self.learn(Some(&obs), max_slices);
            // With overlap another update may be due by now, which needs observations.
            let before = self.host.view().stats().num_updates;
            for _ in 0..1000 {
                if self.host.view().stats().num_updates > before || self.host.learner().phase() != Phase::Learn {
                    break;
                }
                self.learn(None, max_slices);
            }
            return;
        }
        let off = self.host.config.check_transitions().is_ok();
        let seen = if off { None } else { Some(obs.get()) };
        self.make(Call::LearnBegin { obs: seen, mask: None }, |l| l.learn_begin(seen, None).map(drop));
        let all = self.host.config.num_chunks as usize;
        // With overlap minibatches_left may count the next update already.
        let before = self.host.view().stats().num_updates;
        for _ in 0..1000 {
            if self.host.view().stats().num_updates > before {
                break;
            }
            let grads = chunks(&self.host, 0, all);
            self.make(Call::WriteGrads { begin: 0, end: all, grads: &grads }, |l| l.write_grads(0, all, &grads));
            self.make(Call::LearnApply {}, |l| l.learn_apply().map(drop));
        }
    }

    /// Plays everything back in memory of its own.
    fn replay(&self) -> Result<Vec<u64>> {
        let bytes = aligned(&self.bytes);
        replay(bytemuck::cast_slice(&bytes), self.host.block.len(), &self.host).map(|(block, calls)| {
            assert_eq!(calls, self.calls);
            block
        })
    }
}

/// The learner at the end of a recording, and the number of its calls.
fn replay(bytes: &[u8], words: usize, host: &Host) -> Result<(Vec<u64>, usize)> {
    let mut block = vec![0u64; words];
    let mem = bytemuck::cast_slice_mut(&mut block);
    let mut offset = Recording::open(bytes)?.attach(mem)?;
    let (mut action, mut calls) = (Array::junk(host.action_kind, host.n * host.action_len), 0);
    while offset < bytes.len() {
        let entry = Entry::open(bytes, offset)?;
        entry.replay(mem, Some(action.get_mut()))?;
        offset += entry.size;
        calls += 1;
    }
    Ok((block, calls))
}

fn all() -> impl Iterator<Item = Taped> {
    every().into_iter().map(|(c, layers, obs, action)| Taped::new(Host::with(&c, &layers, &obs, &action)))
}

#[test]
fn training_with_every_algorithm_is_played_back_to_the_same_bytes() {
    for mut taped in all() {
        let mut rng = Rng::seeded(3);
        for max_slices in [u32::MAX, 1, 0, 3] {
            // Learners that learn from single steps have no chunks of their own.
            let traces = matches!(taped.host.config.algorithm(), Algorithm::StreamAc | Algorithm::StreamQ);
            taped.update(&mut rng, if traces { max_slices.max(1) } else { max_slices });
        }
        let gone: Vec<u8> = (0..taped.host.n).map(|i| (i == 0).into()).collect();
        taped.make(Call::Cut { gone: &gone }, |l| l.cut_rows(&gone));
        taped.update(&mut rng, 2);
        assert!(taped.host.view().stats().num_updates > 2);
        assert!(taped.replay().unwrap() == taped.host.block, "{:?}", taped.host.config.algorithm());
    }
}

#[test]
fn calls_of_hosts_are_played_back_whether_they_are_accepted_or_refused() {
    for mut taped in all() {
        let mut rng = Rng::seeded(5);
        taped.update(&mut rng, u32::MAX);
        let (view, n) = (taped.host.view(), taped.host.n);
        let params: Vec<f32> = view.params().iter().map(|x| x * 0.5).collect();
        let (moments, grads_len, rows) = (taped.host.moments(), view.grads_len(), view.batch_len().0);
        let (obs, mask) = (taped.host.draw_seen(&mut rng), None);
        let mut config = *view.config();
        config.learning_rate *= 0.5;
        let mut tensors: Vec<NamedTensor> = vec![bytemuck::Zeroable::zeroed(); view.tensors(&mut []).unwrap()];
        view.tensors(&mut tensors).unwrap();
        let other = {
            let mut other = taped.host.clone();
            other.learner().write_params_with(&params, &moments).unwrap();
            other
        };
        let (policy, other): (Vec<u64>, &[u8]) = (export(&other.view()), bytemuck::cast_slice(&other.block));
        let policy: &[u8] = bytemuck::cast_slice(&policy);
        let action = Array::zeros(taped.host.action_kind, n * taped.host.action_len);
        let (seen, chosen) = (obs.get(), action.get());

        taped.make(Call::CountSteps { num_steps: 7 }, |l| l.count_steps(7));
        for frozen in [true, false] {
            taped.make(Call::Freeze { frozen }, |l| {
                l.freeze(frozen);
                Ok(())
            });
        }
        for (names, trainable) in [(&b"*.weight"[..], false), (b"nothing", false), (b"*", true)] {
            taped.make(Call::SetTrainable { names, trainable }, |l| l.set_trainable(names, trainable).map(drop));
        }
        let ended = Learner::configure(bytemuck::cast_slice_mut(&mut taped.host.block), &config);
        taped.put(&Call::Configure { config: &config }, &ended);
        taped
            .make(Call::WriteParams { params: &params, moments: &moments }, |l| l.write_params_with(&params, &moments));
        taped.make(Call::WriteMoments { moments: &moments }, |l| l.write_moments(&moments));
        for of in [TensorsOf::Params, TensorsOf::FirstMoments, TensorsOf::Targets] {
            let (tensors, values) = (&tensors[..2], &params[..]);
            taped.make(Call::WriteTensors { of, tensors, values }, |l| l.write_tensors(of, tensors, values));
        }
        for parts in [adopt::PARAMS | adopt::COUNTERS, adopt::PARAMS, 1 << 20] {
            let from = rlcore::learn::View::open(other).unwrap();
            taped.make(Call::Adopt { other, parts }, |l| l.adopt(&from, parts));
            let from = rlcore::learn::Policy::open(policy).unwrap();
            let call = Call::AdoptPolicy { other: policy, parts, obs_count: 0.0 };
            taped.make(call, |l| l.adopt_policy(&from, parts, 0.0));
        }
        let imitated = Imitation {
            num_rows: n,
            num_steps: 1,
            obs: seen,
            mask,
            action: Some(chosen),
            prob: None,
            weight: None,
            reset: &[],
            margin: 0.0,
            fit_std: false,
        };
        taped.make(Call::Imitate { rows: imitated }, |l| l.imitate(&imitated).map(drop));
        taped.make(Call::Demonstrate { active: None, obs: seen, mask, action: chosen }, |l| {
            l.demonstrate(None, seen, mask, chosen)
        });
        taped.make(Call::LearnDrop {}, |l| l.learn_drop());
        let grads = vec![0.125; grads_len];
        taped.make(Call::AddGrads { begin: 0, end: 1, grads: &grads }, |l| l.add_grads(0, 1, &grads));
        taped.make(Call::LearnApply {}, |l| l.learn_apply().map(drop));
        if taped.host.config.check_transitions().is_ok() && taped.host.config.num_stacked == 0 {
            let mut seen = Array::zeros(taped.host.obs_kind, rows * taped.host.obs_len);
            let mut taken = Array::zeros(taped.host.action_kind, rows * taped.host.action_len);
            for i in 0..rows {
                seen.copy_row(&obs, i % n, taped.host.obs_len);
                taken.copy_row(&action, i % n, taped.host.action_len);
            }
            let (reward, terminated) = (vec![0.5; rows], vec![0; rows]);
            let batch = transitions(seen.get(), taken.get(), &reward, &terminated, seen.get());
            taped.make(Call::LearnTransitions { transitions: batch }, |l| l.learn_transitions(&batch, None).map(drop));
        }
        assert!(taped.replay().unwrap() == taped.host.block, "{:?}", taped.host.config.algorithm());
    }
}

/// A small recording of a learner of choices.
fn small() -> Taped {
    let config = Config { num_envs: 2, num_chunks: 2, ..Config::of(Algorithm::Ppo).hidden(&[3]).rollout(2, 1, 1) };
    let mut taped = Taped::new(Host::new(&config, &Space::unbounded(2), &Space::discrete(&[3])));
    taped.update(&mut Rng::seeded(1), 1);
    taped
}

#[test]
fn a_batch_of_another_learner_is_played_back() {
    let mut taped = small();
    let mut other = taped.host.clone();
    let mut rng = Rng::seeded(8);
    let last = crate::host::record(&mut other, &mut rng);
    other.learner().learn_begin(last.get(), None).unwrap();
    let columns = Columns::read(&mut other);
    let batch = columns.batch();
    taped.make(Call::LearnBatch { batch }, |l| l.learn_batch(&batch).map(drop));
    taped.learn(None, 0);
    assert!(taped.host.view().stats().num_updates == 2);
    assert!(taped.replay().unwrap() == taped.host.block);
}

#[test]
fn the_first_call_that_ends_otherwise_is_named() {
    let taped = small();
    let mut words = aligned(&taped.bytes);
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let start = Recording::open(bytes).unwrap().start();
    let first = Entry::open(bytes, start).unwrap();
    // Other parameters: another learner than the recorded one.
    let mut other = taped.host.clone();
    let mut action = Array::zeros(Element::I32, 2);
    let mut replays = |mem: &mut Vec<u64>, entry: &Entry<'_>| {
        entry.replay(bytemuck::cast_slice_mut(mem), Some(action.get_mut())).unwrap_err()
    };
    let error = replays(&mut other.block, &first);
    assert_eq!(error.kind, Kind::Inexact);
    assert!(error.to_string().contains(&format!("the call at byte {start} ")), "{error}");

    let mut fresh = vec![0u64; taped.host.block.len()];
    let begun = Recording::open(bytes).unwrap().attach(bytemuck::cast_slice_mut(&mut fresh)).unwrap();
    assert_eq!(begun, start);
    let mut refused = first;
    refused.status = Kind::Value as i32;
    let text = replays(&mut fresh.clone(), &refused).to_string();
    assert!(text.contains("ended with another status than the recorded one, 0"), "{text}");
    let mut hashed = first;
    hashed.hash = 1;
    let text = replays(&mut fresh.clone(), &hashed).to_string();
    assert!(text.contains("left other bytes of the learner"), "{text}");
    let Call::Act { begin, end, active, obs, mask, .. } = first.call else { panic!("{:?}", first.call) };
    let drawn = [7, 7];
    let call = Call::Act { begin, end, active, obs, mask, action: rlcore::space::Elements::I32(&drawn[begin..end]) };
    let mut other = first;
    other.call = call;
    let text = replays(&mut fresh.clone(), &other).to_string();
    assert!(text.contains("drew another action than the recorded one in row 0"), "{text}");
    // Without the actions' room.
    assert_eq!(first.replay(bytemuck::cast_slice_mut(&mut fresh.clone()), None).unwrap_err().kind, Kind::Null);
    // Behind the end, and not on a boundary.
    assert_eq!(Entry::open(bytes, bytes.len()).unwrap_err().kind, Kind::Range);
    assert_eq!(Entry::open(bytes, usize::MAX).unwrap_err().kind, Kind::Range);
    assert_eq!(Entry::open(bytes, start + 4).unwrap_err().kind, Kind::Align);
    // Of the other byte order.
    let order = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[8..12];
    order.reverse();
    let error = Recording::open(bytemuck::cast_slice(&words)).unwrap_err();
    assert!(error.kind == Kind::Image && error.to_string().contains("byte order"), "{error}");
}

#[test]
fn damaged_and_cut_recordings_are_refused_with_a_sentence() {
    let taped = small();
    let (words, host) = (aligned(&taped.bytes), &taped.host);
    let whole: &[u8] = bytemuck::cast_slice(&words);
    let start = Recording::open(whole).unwrap().start();
    let check = |bytes: &[u8]| replay(bytes, host.block.len(), host).map(|(_, calls)| calls);
    let said = |error: Error| {
        assert!(matches!(error.kind, Kind::Image | Kind::Size), "{error}");
        assert!(error.to_string().len() > 20, "{error}");
    };
    // Every bit of the header, every seventh of the image, every bit of entries.
    let places = (0..64 * 8).chain((512..start * 8).step_by(7)).chain(start * 8..whole.len() * 8);
    for bit in places.step_by(3) {
        let mut words = words.clone();
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[bit / 8] ^= 1 << (bit % 8);
        said(check(bytemuck::cast_slice(&words)).expect_err("a flipped bit is noticed"));
    }
    let mut ends = vec![start];
    while let Ok(entry) = Entry::open(whole, *ends.last().unwrap()) {
        ends.push(ends.last().unwrap() + entry.size);
    }
    for size in (0..whole.len()).step_by(5) {
        match check(&whole[..size]) {
            Ok(calls) => assert_eq!(ends[calls], size),
            Err(error) => said(error),
        }
    }
}

/// Entries that somebody made up, with checksums that fit: every word of one after the other is replaced.
#[test]
fn recordings_that_somebody_made_up_are_harmless() {
    let taped = small();
    let words = aligned(&taped.bytes);
    let whole: &[u8] = bytemuck::cast_slice(&words);
    let (mut offset, mut refused) = (Recording::open(whole).unwrap().start(), 0);
    let mut block = vec![0u64; taped.host.block.len()];
    while offset < whole.len() {
        let size = Entry::open(whole, offset).unwrap().size;
        for place in (0..size / 8).filter(|place| *place != 3) {
            for value in [0, 1, 2, 3, 7, 1 << 31, u64::from(u32::MAX), 1 << 61, u64::MAX] {
                let mut entry: Vec<u64> = words[offset / 8..(offset + size) / 8].to_vec();
                entry[place] = value;
                entry[3] = 0;
                entry[3] = hash(HASH_START, bytemuck::cast_slice(&entry));
                Recording::open(whole).unwrap().attach(bytemuck::cast_slice_mut(&mut block)).unwrap();
                let mut action = Array::zeros(Element::I32, 2);
                let done = Entry::open(bytemuck::cast_slice(&entry), 0)
                    .and_then(|entry| entry.replay(bytemuck::cast_slice_mut(&mut block), Some(action.get_mut())));
                refused += u32::from(done.is_err());
                // The learner is still one.
                crate::host::attach(&mut block);
            }
        }
        offset += size;
    }
    assert!(refused > 100, "{refused}");
}
