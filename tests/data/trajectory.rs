//! Trajectories against known numbers, and against a twin that sums in f64.

use proptest::prelude::*;
use rlcore::data::monitor::Read;
use rlcore::data::rows::RowsOut;
use rlcore::data::table::Column;
use rlcore::data::trajectory::{Frames, Process, Processed, RewardClass, Shape, Trajectory, TrajectoryConfig, View};
use rlcore::error::{Kind, Result};
use rlcore::kernels::gae::Accumulate;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

use super::blocks::{bytes, forged, says};

const M: usize = 2;

fn columns() -> [Column; 3] {
    [Column::new("obs", Element::U8, 3), Column::new("action", Element::F32, 2), Column::new("last", Element::I32, 1)]
}

fn config(capacity: u32) -> TrajectoryConfig {
    TrajectoryConfig { memory_len: M as u32, one_hot: 0b10, ..TrajectoryConfig::new(capacity, &columns()) }
}

/// The block of a trajectory without frames.
fn block(config: &TrajectoryConfig) -> Vec<u64> {
    let mut block = vec![0; Trajectory::size(config).unwrap() / 8];
    Trajectory::init(bytes(&mut block), config).unwrap();
    block
}

/// The trajectory in these bytes, which have to be an image after every call.
fn open(mem: &mut [u64]) -> Trajectory<'_> {
    Trajectory::attach(bytes(mem)).unwrap()
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Given {
    obs: Vec<u8>,
    action: Vec<f32>,
    last: Vec<i32>,
    reward: Vec<f32>,
    value: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    memory: Vec<f32>,
}

impl Given {
    fn random(rng: &mut Rng, len: usize) -> Given {
        let mut reals = |len: usize| -> Vec<f32> { (0..len).map(|_| rng.uniform_f32() * 2.0 - 1.0).collect() };
        let (action, reward, value, memory) = (reals(2 * len), reals(len), reals(len), reals(M * len));
        let obs = (0..3 * len).map(|_| rng.next_u64() as u8).collect();
        let last = (0..len).map(|_| rng.next_u64() as i32).collect();
        Given { obs, action, last, reward, value, terminated: vec![0; len], truncated: vec![0; len], memory }
    }

    fn of(reward: &[f32], value: &[f32]) -> Given {
        let len = reward.len();
        Given { reward: reward.to_vec(), value: value.to_vec(), ..Given::random(&mut Rng::seeded(5), len) }
    }

    fn rows(&self, begin: usize, end: usize) -> Given {
        Given {
            obs: self.obs[3 * begin..3 * end].to_vec(),
            action: self.action[2 * begin..2 * end].to_vec(),
            last: self.last[begin..end].to_vec(),
            reward: self.reward[begin..end].to_vec(),
            value: self.value[begin..end].to_vec(),
            terminated: self.terminated[begin..end].to_vec(),
            truncated: self.truncated[begin..end].to_vec(),
            memory: self.memory[M * begin..M * end].to_vec(),
        }
    }

    fn columns(&self) -> [Elements<'_>; 3] {
        [Elements::U8(&self.obs), Elements::F32(&self.action), Elements::I32(&self.last)]
    }

    fn frames<'a>(&'a self, columns: &'a [Elements<'a>]) -> Frames<'a> {
        Frames {
            columns,
            reward: &self.reward,
            value: &self.value,
            terminated: &self.terminated,
            truncated: &self.truncated,
            memory: &self.memory,
        }
    }

    fn add(&self, trajectory: &mut Trajectory<'_>) -> Result<()> {
        trajectory.add(&self.frames(&self.columns()))
    }

    /// Returns and advantages in f64, with this value after the last frame.
    fn judged(&self, after: f64, discount: f64, lambda: f64) -> (Vec<f64>, Vec<f64>) {
        let len = self.reward.len();
        let (mut returns, mut advantage) = (vec![0.0; len], vec![0.0; len]);
        let (mut r, mut v, mut a) = (after, after, 0.0);
        for t in (0..len).rev() {
            let (reward, value) = (f64::from(self.reward[t]), f64::from(self.value[t]));
            r = reward + discount * r;
            a = reward + discount * v - value + discount * lambda * a;
            v = value;
            (returns[t], advantage[t]) = (r, a);
        }
        (returns, advantage)
    }
}

/// The output of `process`.
#[derive(Clone, Debug, PartialEq)]
struct Out {
    obs: Vec<u8>,
    action: Vec<f32>,
    last: Vec<i32>,
    returns: Vec<f32>,
    advantage: Vec<f32>,
    memory: Vec<f32>,
    time_steps: Vec<u32>,
    valid: Vec<u8>,
}

impl Out {
    fn room(rows: usize, samples: usize) -> Out {
        Out {
            obs: vec![9; 3 * rows],
            action: vec![9.0; 2 * rows],
            last: vec![9; rows],
            returns: vec![9.0; rows],
            advantage: vec![9.0; rows],
            memory: vec![9.0; M * samples],
            time_steps: vec![9; samples],
            valid: vec![9; rows],
        }
    }

    fn with<R>(&mut self, call: impl FnOnce(Processed<'_>) -> R) -> R {
        call(Processed {
            columns: &mut [
                Some(ElementsMut::U8(&mut self.obs)),
                Some(ElementsMut::F32(&mut self.action)),
                Some(ElementsMut::I32(&mut self.last)),
            ],
            returns: &mut self.returns,
            advantage: &mut self.advantage,
            memory: Some(&mut self.memory),
            time_steps: Some(&mut self.time_steps),
            valid: Some(&mut self.valid),
        })
    }
}

fn near(got: &[f32], wanted: &[f64]) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        assert!((f64::from(*got) - wanted).abs() < 2e-6 * wanted.abs().max(1.0), "{got} is not {wanted}");
    }
}

/// The output for frames in a block of their own.
fn processed(given: &Given, process: Process) -> Result<(Shape, Out)> {
    let mut mem = block(&config(given.reward.len().max(1) as u32));
    let mut trajectory = open(&mut mem);
    given.add(&mut trajectory)?;
    let mut out = Out::room(process.rows, if process.time_flat { process.rows } else { 1 });
    let shape = out.with(|out| trajectory.view().unwrap().process(&process, out))?;
    Ok((shape, out))
}

#[test]
fn returns_and_advantages_are_the_known_ones() {
    let given = Given::of(&[1.0, 0.0, -1.0], &[0.5, -0.2, 0.1]);
    let process =
        |lambda| Process { discount: 0.99, gae_lambda: lambda, bootstrap_value: 0.4, rows: 3, time_flat: false };
    let returns = [0.4080196, -0.59796, -0.604];
    let (td, all) = ([0.302, 0.299, -0.704], [-0.0919804, -0.39796, -0.704]);
    for (lambda, advantage) in [(1.0, all), (0.95, [-0.039506836, -0.363112, -0.704]), (0.0, td)] {
        let (shape, out) = processed(&given, process(lambda)).unwrap();
        near(&out.returns, &returns);
        near(&out.advantage, &advantage);
        assert_eq!((shape, &out.time_steps[..]), (Shape { num_steps: 3, batch_size: 1 }, &[3][..]));
    }
    // A terminal last frame: nothing comes after it, whatever bootstrap value the caller gives.
    let mut last = given.clone();
    last.terminated[2] = 1;
    for bootstrap_value in [0.4, f32::NAN] {
        let (_, out) = processed(&last, Process { bootstrap_value, ..process(1.0) }).unwrap();
        near(&out.returns, &[0.0199, -0.99, -1.0]);
        near(&out.advantage, &[-0.4801, -0.79, -1.1]);
    }
    // A truncated last frame has the bootstrap value after it.
    last.terminated[2] = 0;
    last.truncated[2] = 1;
    near(&processed(&last, process(1.0)).unwrap().1.returns, &returns);

    let one = Process { discount: 0.9, rows: 1, ..Process::new(0.4) };
    let (_, out) = processed(&Given::of(&[2.0], &[0.5]), one).unwrap();
    near(&out.returns, &[2.36]);
    near(&out.advantage, &[1.86]);

    let (shape, out) = processed(&given, Process { rows: 5, ..process(1.0) }).unwrap();
    near(&out.returns, &[0.4080196, -0.59796, -0.604, 0.0, 0.0]);
    near(&out.advantage, &[-0.0919804, -0.39796, -0.704, 0.0, 0.0]);
    assert_eq!((shape.num_steps, shape.batch_size, &out.time_steps[..]), (3, 1, &[3][..]));
    assert_eq!(out.valid, [1, 1, 1, 0, 0]);
    assert_eq!(out.action[..6], given.action);
    assert_eq!(out.action[6..], [1.0, 0.0, 1.0, 0.0]);
    assert_eq!((&out.obs[9..], &out.last[3..]), (&[0; 6][..], &[0; 2][..]));
    assert_eq!(out.memory, given.memory[..M]);

    let (shape, out) = processed(&given, Process { time_flat: true, ..process(1.0) }).unwrap();
    assert_eq!(shape, Shape { num_steps: 3, batch_size: 3 });
    assert_eq!((out.memory, out.time_steps), (given.memory, vec![1, 1, 1]));
}

/// Reward prediction: all frames but the last, and the trajectory stays.
fn check_reward_prediction(trajectory: &Trajectory<'_>, given: &Given, rows: usize, time_flat: bool) {
    let left = given.reward.len() - 1;
    if left > 0 {
        let rows = if time_flat { left } else { rows };
        let mut all_but = Out::room(rows, if time_flat { left } else { 1 });
        let rp = all_but.with(|out| trajectory.view().unwrap().process_rp(0.1, rows, time_flat, out));
        let (shape, class) = rp.unwrap();
        assert_eq!(class, RewardClass::of(given.reward[left], 0.1).unwrap());
        let process = Process { rows, time_flat, ..Process::new(given.value[left]) };
        assert_eq!((shape, all_but), processed(&given.rows(0, left), process).unwrap());
        assert_eq!(shape, Shape { num_steps: left, batch_size: if time_flat { left } else { 1 } });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn trajectories_are_those_of_the_twin(
        len in 1usize..12, spare in 0u32..4, pad in 0usize..5, cuts in prop::collection::vec(0usize..12, 0..4), seed: u64,
        end in 0usize..3, discount in 0.0..=1.0f32, lambda in 0.0..=1.0f32, time_flat: bool,
    ) {
        let rng = &mut Rng::seeded(seed);
        let mut given = Given::random(rng, len);
        given.terminated[len - 1] = u8::from(end == 1) * 7;
        given.truncated[len - 1] = u8::from(end == 2);
        let mut mem = block(&config(len as u32 + spare));
        let mut trajectory = open(&mut mem);
        // Added in parts of any size, after a discarded trajectory.
        Given::random(rng, 1).add(&mut trajectory).unwrap();
        trajectory.reset().unwrap();
        let mut bounds: Vec<usize> = cuts.into_iter().map(|c| c.min(len)).chain([0, len]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        for part in bounds.windows(2) {
            given.rows(part[0], part[1]).add(&mut trajectory).unwrap();
        }
        let view = trajectory.view().unwrap();
        prop_assert_eq!((view.len(), view.is_empty()), (len, false));
        prop_assert_eq!(view.column(0).unwrap(), Elements::U8(&given.obs));
        let held = view.frames().unwrap();
        prop_assert_eq!((held.reward, held.memory), (&given.reward[..], &given.memory[..]));

        let rows = if time_flat { len } else { len + pad };
        let process = Process { discount, gae_lambda: lambda, bootstrap_value: 0.7, rows, time_flat };
        let mut out = Out::room(rows, if time_flat { len } else { 1 });
        let before = mem.clone();
        let trajectory = open(&mut mem);
        let shape = out.with(|out| trajectory.view().unwrap().process(&process, out)).unwrap();
        prop_assert_eq!(shape, Shape { num_steps: len, batch_size: if time_flat { len } else { 1 } });
        let after = if end == 1 { 0.0 } else { f64::from(0.7f32) };
        let (discount, lambda) = (f64::from(discount), f64::from(lambda));
        let (mut returns, mut advantage) = given.judged(after, discount, lambda);
        returns.resize(rows, 0.0);
        advantage.resize(rows, 0.0);
        near(&out.returns, &returns);
        near(&out.advantage, &advantage);
        let zeros = rows - len;
        prop_assert_eq!(&out.obs, &[given.obs.clone(), vec![0; 3 * zeros]].concat());
        prop_assert_eq!(&out.last, &[given.last.clone(), vec![0; zeros]].concat());
        prop_assert_eq!(&out.action, &[given.action.clone(), [1.0, 0.0].repeat(zeros)].concat());
        prop_assert_eq!(&out.valid, &[vec![1; len], vec![0; zeros]].concat());
        prop_assert_eq!(&out.memory[..], &given.memory[..if time_flat { M * len } else { M }]);
        prop_assert_eq!(&out.time_steps, &if time_flat { vec![1; len] } else { vec![len as u32] });

        check_reward_prediction(&trajectory, &given, rows, time_flat);
        prop_assert_eq!(&mem, &before);

        // A copy of the bytes behaves alike.
        let mut copy = mem.clone();
        for mem in [&mut mem, &mut copy] {
            let mut trajectory = Trajectory::attach(bytes(mem)).unwrap();
            trajectory.pop().unwrap();
            given.rows(len - 1, len).add(&mut trajectory).unwrap();
        }
        prop_assert_eq!(&mem, &copy);
        // The words for concurrent readers count the changes; all other words are unchanged.
        const TOLD: std::ops::Range<usize> = 96..98;
        prop_assert_eq!((&mem[..TOLD.start], &mem[TOLD.end..]), (&before[..TOLD.start], &before[TOLD.end..]));
    }

    #[test]
    fn changed_bytes_are_refused_or_harmless(at in any::<prop::sample::Index>(), bits in 1u8.., len in 0usize..4) {
        let mut mem = block(&config(4));
        let mut trajectory = open(&mut mem);
        if len > 0 {
            Given::random(&mut Rng::seeded(1), len).add(&mut trajectory).unwrap();
        }
        let at = at.index(mem.len() * 8);
        bytes(&mut mem)[at] ^= bits;
        if let Ok(mut trajectory) = Trajectory::attach(bytes(&mut mem)) {
            let mut out = Out::room(6, 1);
            let process = Process { rows: 6, ..Process::new(0.5) };
            let _ = out.with(|out| trajectory.view().unwrap().process(&process, out));
            let _ = out.with(|out| trajectory.view().unwrap().process_rp(0.1, 6, false, out));
            let _ = trajectory.pop();
            let _ = Given::random(&mut Rng::seeded(1), 2).add(&mut trajectory);
            let _ = trajectory.reset();
        }
    }
}

#[test]
fn rewards_have_classes() {
    let hot = |reward, threshold| RewardClass::of(reward, threshold).map(RewardClass::one_hot);
    assert_eq!(hot(0.5, 0.1), Ok([0.0, 1.0, 0.0]));
    assert_eq!(hot(-0.5, 0.1), Ok([0.0, 0.0, 1.0]));
    for zero in [0.0, 0.1, -0.1, 0.05] {
        assert_eq!(hot(zero, 0.1), Ok([1.0, 0.0, 0.0]));
    }
    assert_eq!(hot(f32::MIN_POSITIVE, 0.0), Ok([0.0, 1.0, 0.0]));
    assert_eq!(hot(f32::NAN, 0.1).unwrap_err().kind, Kind::Value);
    assert_eq!(hot(1.0, -0.1).unwrap_err().kind, Kind::Range);
    assert_eq!(hot(1.0, f32::NAN).unwrap_err().kind, Kind::Range);
}

#[test]
fn bad_configurations_are_refused() {
    let good = config(4);
    let with = |columns: &[Column]| TrajectoryConfig { memory_len: M as u32, ..TrajectoryConfig::new(4, columns) };
    for (c, words) in [
        (TrajectoryConfig::new(0, &[]), "capacity of at least 1, given 0"),
        (TrajectoryConfig { one_hot: 8, ..good }, "bits of the columns alone, of which there are 3, given 8"),
        (with(&[]), "num_columns"),
        (with(&[Column::frames("obs", 4, 1, 2)]), "num_stack of at most 1, given 2"),
    ] {
        says(Trajectory::size(&c), Kind::Config, words);
        let mut mem = vec![7u64; 1024];
        assert_eq!(Trajectory::init(bytes(&mut mem), &c).err(), Trajectory::size(&c).err());
        assert_eq!(mem, vec![7; 1024]);
    }
    Trajectory::size(&with(&[Column::frames("obs", 4, 1, 1)])).unwrap();
    let mut mem = vec![0; Trajectory::size(&good).unwrap() / 8];
    let len = mem.len() * 8;
    assert_eq!(Trajectory::init(&mut bytes(&mut mem)[..len - 1], &good).unwrap_err().kind, Kind::Size);
    assert_eq!(Trajectory::attach(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
    Trajectory::init(bytes(&mut mem), &good).unwrap();
    let trajectory = open(&mut mem);
    assert_eq!(trajectory.config(), &good);
    assert!(trajectory.view().unwrap().is_empty());
}

#[test]
fn bad_frames_change_nothing() {
    let mut mem = block(&config(3));
    let good = Given::random(&mut Rng::seeded(2), 2);
    let all = good.columns();
    let frames = good.frames(&all);
    let refused = |mem: &[u64], frames: Frames<'_>, kind, words: &str| {
        let mut after = mem.to_vec();
        says(Trajectory::open(bytes(&mut after)).unwrap().add(&frames), kind, words);
        assert_eq!(mem, after);
    };
    refused(&mem, Frames { reward: &[], ..frames }, Kind::Shape, "frames to add, at least 1");
    for len in [0, 1, 3] {
        let (reals, flags) = (&[0.0; 3][..len], &[0; 3][..len]);
        let words = format!("[frames] of length 2, given {len}");
        if len > 0 {
            let words = format!("[frames], or none, of length 2, given {len}");
            refused(&mem, Frames { value: reals, ..frames }, Kind::Shape, &words);
        }
        refused(&mem, Frames { terminated: flags, ..frames }, Kind::Shape, &words);
        refused(&mem, Frames { truncated: flags, ..frames }, Kind::Shape, &words);
        refused(&mem, Frames { memory: reals, ..frames }, Kind::Shape, "[frames, M] of length 4");
        let short = [all[0], all[1], Elements::I32(&[0; 3][..len])];
        refused(&mem, Frames { columns: &short, ..frames }, Kind::Shape, "[frames, len] of length 2");
    }
    refused(&mem, Frames { columns: &all[..2], ..frames }, Kind::Shape, "columns of the frames 3, given 2");
    refused(&mem, Frames { columns: &[all[0], all[2], all[2]], ..frames }, Kind::Shape, "of their own kind");
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        refused(&mem, Frames { reward: &[0.0, bad], ..frames }, Kind::Value, "a finite reward");
        refused(&mem, Frames { value: &[bad, 0.0], ..frames }, Kind::Value, "a finite value");
        refused(&mem, Frames { memory: &[0.0, 0.0, bad, 0.0], ..frames }, Kind::Value, "a finite memory");
        let action = [0.0, bad, 0.0, 1.0];
        let spoilt = [all[0], Elements::F32(&action), all[2]];
        refused(&mem, Frames { columns: &spoilt, ..frames }, Kind::Value, "a finite column");
    }
    for (terminated, truncated) in [(&[1, 0], &[0, 0]), (&[0, 0], &[1, 1]), (&[1, 0], &[1, 0])] {
        refused(&mem, Frames { terminated, truncated, ..frames }, Kind::Range, "violated by frame 0");
    }
    assert_eq!(open(&mut mem).pop().unwrap_err().kind, Kind::NotReady);
    good.add(&mut open(&mut mem)).unwrap();
    refused(&mem, frames, Kind::NotReady, "room for, at most 1, given 2");
    // A frame after the last frame of an episode.
    let one = Given::random(&mut Rng::seeded(4), 1);
    for end in [0, 1] {
        let last = Given { terminated: vec![1 - end], truncated: vec![end], ..one.clone() };
        open(&mut mem).reset().unwrap();
        last.add(&mut open(&mut mem)).unwrap();
        refused(&mem, one.frames(&one.columns()), Kind::NotReady, "an episode that has not ended");
    }
    let alone = open(&mut mem).view().unwrap().process_rp(0.1, 3, false, Processed::default());
    assert_eq!(alone.unwrap_err().to_string(), "trajectory: frames for reward prediction, at least 2, given 1");
}

#[test]
fn bad_calls_to_process_change_nothing() {
    let mut mem = block(&config(3));
    let process = Process { rows: 3, ..Process::new(0.0) };
    let refused = |mem: &mut [u64], process: Process, spoil: fn(&mut Out), kind, words: &str| {
        let mut out = Out::room(3, 1);
        spoil(&mut out);
        let before = out.clone();
        says(out.with(|out| open(mem).view().unwrap().process(&process, out)), kind, words);
        assert_eq!(out, before);
    };
    refused(&mut mem, process, |_| (), Kind::NotReady, "frames to process, at least 1, given 0");
    Given::random(&mut Rng::seeded(2), 2).add(&mut open(&mut mem)).unwrap();
    for (process, kind, words) in [
        (Process { rows: 1, ..process }, Kind::Range, "rows of at least the frames, 2, given 1"),
        (Process { time_flat: true, ..process }, Kind::Range, "as many rows as frames, 2, given 3"),
        (Process { discount: 1.5, ..process }, Kind::Range, "discount from 0 to 1"),
        (Process { gae_lambda: -1.0, ..process }, Kind::Range, "lambda from 0 to 1"),
        (Process { discount: f32::NAN, ..process }, Kind::Value, "discount"),
        (Process { bootstrap_value: f32::NAN, ..process }, Kind::Value, "bootstrap_value"),
    ] {
        refused(&mut mem, process, |_| (), kind, words);
    }
    refused(&mut mem, process, |out| out.obs.truncate(8), Kind::Shape, "[rows, len] of length 9, given 8");
    refused(&mut mem, process, |out| out.returns.truncate(2), Kind::Shape, "returns [rows] of length 3");
    refused(&mut mem, process, |out| out.advantage.push(0.0), Kind::Shape, "advantage [rows] of length 3");
    refused(&mut mem, process, |out| out.memory.truncate(1), Kind::Shape, "memory of length 2");
    refused(&mut mem, process, |out| out.time_steps.push(0), Kind::Shape, "time_steps of length 1");
    refused(&mut mem, process, |out| out.valid.truncate(0), Kind::Shape, "valid [rows] of length 3");
    // Any column may be left out, but none added.
    for num_columns in 0..5 {
        let (mut returns, mut advantage, mut none) = ([9.0; 3], [9.0; 3], [const { None }; 4]);
        let columns = &mut none[..num_columns];
        let out = Processed { columns, returns: &mut returns, advantage: &mut advantage, ..Default::default() };
        let result = open(&mut mem).view().unwrap().process(&process, out);
        assert_eq!(result.map(|shape| shape.num_steps).map_err(|e| e.kind), [Ok(2), Err(Kind::Shape)][num_columns / 4]);
    }
}

#[test]
fn what_no_calls_lead_to_is_no_image() {
    let mut mem = block(&config(3));
    let mut trajectory = open(&mut mem);
    let mut given = Given::random(&mut Rng::seeded(3), 2);
    given.terminated[1] = 1;
    given.add(&mut trajectory).unwrap();
    open(&mut mem);
    // From the count of held frames on, each array of three begins on a multiple of 64 bytes.
    let [len, reward, value, terminated, truncated, memory] = [0, 1, 2, 3, 4, 5].map(|field| 832 + 64 * field);
    let refused = |edits: &[(usize, &[u8])]| {
        let mut copy = forged(&mem, edits);
        let before = copy.clone();
        let error = Trajectory::attach(bytes(&mut copy)).expect_err(&format!("{edits:?}"));
        assert_eq!((error.kind, copy), (Kind::Image, before), "{edits:?}: {error}");
    };
    assert_eq!(bytes(&mut mem.clone())[len..len + 4], 2u32.to_ne_bytes());
    refused(&[(len, &4u32.to_ne_bytes())]);
    refused(&[(len + 4, &2u32.to_ne_bytes())]);
    refused(&[(len, &0u32.to_ne_bytes()), (len + 4, &1u32.to_ne_bytes())]);
    // The number of the first frame.
    for first in [(1u64 << 63) - 2, 1 << 63, u64::MAX - 1, u64::MAX] {
        refused(&[(len - 64, &first.to_ne_bytes())]);
    }
    refused(&[(terminated, &[1])]);
    // At the last number, calls that need another one are refused; a reset needs none.
    const LAST: u64 = i64::MAX as u64;
    for (first, room) in [(LAST - 2, 0u64), (LAST - 3, 1), (LAST - 4, 2)] {
        let forged = forged(&mem, &[(len - 64, &first.to_ne_bytes()), (terminated + 1, &[0])]);
        type Call = fn(&mut Trajectory<'_>) -> Result<()>;
        let add: Call = |t| Given::random(&mut Rng::seeded(4), 1).add(t);
        let pop: Call = |t| t.pop();
        for call in [add, pop] {
            let mut block = forged.clone();
            let got = call(&mut open(&mut block));
            assert_eq!(got.err().map(|error| error.kind), if room < 1 { Some(Kind::Range) } else { None });
            assert_eq!(block == forged, room < 1);
            open(&mut block).reset().unwrap();
            open(&mut block);
        }
    }
    refused(&[(truncated, &[1])]);
    refused(&[(terminated, &[1]), (truncated, &[1])]);
    for number in [reward, value + 4, memory + 12] {
        refused(&[(number, &f32::NAN.to_ne_bytes())]);
    }
}

/// A writer without values leaves them out; calls that need them fail until no such frame is held.
#[test]
fn values_may_be_left_out() {
    let mut mem = block(&config(4));
    let mut trajectory = open(&mut mem);
    let given = Given::random(&mut Rng::seeded(5), 2);
    let all = given.columns();
    given.add(&mut trajectory).unwrap();
    trajectory.add(&Frames { value: &[], ..given.frames(&all) }).unwrap();
    let mut trajectory = open(&mut mem);
    let view = trajectory.view().unwrap();
    assert_eq!((view.frames().unwrap().value, view.frames().unwrap().reward.len()), (&[][..], 4));
    let refused = |result: Result<()>| says(result, Kind::NotReady, "value of every row");
    let (mut value, mut reward) = ([7.0; 4], [7.0; 4]);
    refused(view.read(0, RowsOut { num_rows: 4, value: Some(&mut value), ..Default::default() }).map(|_| ()));
    view.read(0, RowsOut { num_rows: 4, reward: Some(&mut reward), ..Default::default() }).unwrap();
    assert_eq!((value, reward[3]), ([7.0; 4], given.reward[1]));
    let process = Process { rows: 4, ..Process::new(0.0) };
    let mut out = Out::room(4, 1);
    refused(out.with(|out| view.process(&process, out)).map(|_| ()));
    refused(out.with(|out| view.process_rp(0.5, 4, false, out)).map(|_| ()));
    // A pop may leave such a frame; a reset leaves none.
    trajectory.pop().unwrap();
    assert!(trajectory.view().unwrap().frames().unwrap().value.is_empty());
    (0..3).for_each(|_| trajectory.pop().unwrap());
    given.add(&mut trajectory).unwrap();
    assert_eq!(trajectory.view().unwrap().frames().unwrap().value, given.value);
    trajectory.reset().unwrap();
    trajectory.add(&Frames { value: &[], ..given.frames(&all) }).unwrap();
    trajectory.reset().unwrap();
    given.add(&mut trajectory).unwrap();
    out.with(|out| trajectory.view().unwrap().process(&process, out)).unwrap();
    open(&mut mem);
}

/// Frames are read from a number on; frames left by a pop or added after a reset have new numbers.
#[test]
fn frames_are_read_by_number() {
    let mut mem = block(&config(4));
    let given = Given::random(&mut Rng::seeded(5), 3);
    let read = |mem: &mut [u64], next: u64, num_rows: usize| {
        let (mut value, mut obs) = (vec![f32::NAN; num_rows], vec![9; num_rows * 3]);
        let view = View::attach(bytes(mem)).unwrap();
        let mut columns = [Some(ElementsMut::U8(&mut obs)), None, None];
        let out = RowsOut { num_rows, columns: &mut columns, value: Some(&mut value), ..Default::default() };
        view.read(next, out).map(|read| (read, value, obs))
    };
    assert_eq!(read(&mut mem, 0, 2).unwrap().0, Read { count: 0, lost: 0, next: 0 });
    given.add(&mut open(&mut mem)).unwrap();
    let (got, value, obs) = read(&mut mem, 1, 2).unwrap();
    assert_eq!((got, &value[..], &obs[..]), (Read { count: 2, lost: 0, next: 3 }, &given.value[1..], &given.obs[3..]));
    assert_eq!(read(&mut mem, 0, 1).unwrap().0, Read { count: 1, lost: 0, next: 1 });
    says(read(&mut mem, 4, 1), Kind::Range, "rows: a number of at most the rows that have come, 3, given 4");
    open(&mut mem).pop().unwrap();
    let (got, value, _) = read(&mut mem, 2, 4).unwrap();
    assert_eq!((got, &value[..2]), (Read { count: 2, lost: 1, next: 5 }, &given.value[..2]));
    open(&mut mem).reset().unwrap();
    assert_eq!(read(&mut mem, 5, 4).unwrap().0, Read { count: 0, lost: 0, next: 5 });
    assert_eq!(read(&mut mem, 0, 4).unwrap().0, Read { count: 0, lost: 5, next: 5 });

    let view = View::attach(bytes(&mut mem)).unwrap();
    let refused = |out: RowsOut<'_>| assert_eq!(view.read(0, out).unwrap_err().kind, Kind::Shape);
    refused(RowsOut { num_rows: 1, log_prob: Some(&mut [0.0]), ..Default::default() });
    refused(RowsOut { num_rows: 1, final_value: Some(&mut [0.0]), ..Default::default() });
    refused(RowsOut { num_rows: 2, reward: Some(&mut [0.0]), ..Default::default() });
    refused(RowsOut { num_rows: 2, value: Some(&mut [0.0]), ..Default::default() });
    refused(RowsOut { num_rows: 2, terminated: Some(&mut [0]), ..Default::default() });
    refused(RowsOut { num_rows: 2, truncated: Some(&mut [0]), ..Default::default() });
    refused(RowsOut { num_rows: 2, memory: Some(&mut [0.0]), ..Default::default() });
    refused(RowsOut { num_rows: 1, columns: &mut [Some(ElementsMut::I32(&mut [0; 3]))], ..Default::default() });
    refused(RowsOut { num_rows: 1, columns: &mut [Some(ElementsMut::U8(&mut [0; 4]))], ..Default::default() });
    refused(RowsOut { columns: &mut [None, None, None, None], ..Default::default() });
    bytes(&mut mem)[70] ^= 1;
    assert_eq!(View::attach(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
}

#[test]
fn sums_are_in_f64_if_the_configuration_says_so() {
    let columns = [Column::new("action", Element::F32, 1)];
    let rewards: Vec<f32> = (0..200).map(|i| 0.1 + (i % 7) as f32).collect();
    let (values, zeros) = (vec![0.3; 200], vec![0; 200]);
    let process = |accumulate| {
        let config = TrajectoryConfig { accumulate: accumulate as u32, ..TrajectoryConfig::new(200, &columns) };
        let mut mem = block(&config);
        let mut trajectory = open(&mut mem);
        assert_eq!(trajectory.config().accumulate, accumulate as u32);
        let frames = Frames {
            columns: &[Elements::F32(&rewards)],
            reward: &rewards,
            value: &values,
            terminated: &zeros,
            truncated: &zeros,
            memory: &[],
        };
        trajectory.add(&frames).unwrap();
        let (mut returns, mut advantage) = (vec![0.0; 200], vec![0.0; 200]);
        let how = Process { discount: 0.99, gae_lambda: 0.95, rows: 200, ..Process::new(2.0) };
        let out = Processed { returns: &mut returns, advantage: &mut advantage, ..Default::default() };
        trajectory.view().unwrap().process(&how, out).unwrap();
        (returns, advantage)
    };
    let (mut sum, mut gae, mut after, discount) = (2.0, 0.0, 2.0, f64::from(0.99f32));
    let (returns, advantage) = process(Accumulate::F64);
    for i in (0..200).rev() {
        sum = f64::from(rewards[i]) + discount * sum;
        gae = f64::from(rewards[i]) + discount * after - f64::from(values[i]) + discount * f64::from(0.95f32) * gae;
        after = f64::from(values[i]);
        assert_eq!(returns[i], sum as f32, "{i}");
        assert!((f64::from(advantage[i]) - gae).abs() <= 1e-7 * gae.abs(), "{i}");
    }
    let plain = process(Accumulate::F32);
    assert!(plain.0 != returns && plain.1 != advantage);
}
