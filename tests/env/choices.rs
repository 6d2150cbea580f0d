//! Observations of choices alone: steps, copies, refusals, what wrappers make of them, and a learner that reads them.

use bytemuck::{Pod, Zeroable};
use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{Autoreset, Env, Spec, Step, VecEnv};
use rlcore::error::{Kind, Result};
#[cfg(feature = "residual")]
use rlcore::learn::{Config, Learner, Phase};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

use super::host::{Arrays, attach, block, bytes, config};

const N: usize = 3;

/// Choices of the two elements of an observation.
const CHOICES: [u32; 2] = [3, 5];

/// The action that makes the next observation show a choice that there is not.
const STRANGE: i32 = 3;

const FIELDS: [Field<'static>; 2] =
    [Field::new("door", Element::I32, &[1], 0), Field::new("key", Element::I32, &[1], 4)];

/// Doors and keys: the door goes on by the action, the key is drawn; an episode has four steps.
struct Doors {
    fields: &'static [Field<'static>],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DoorsState {
    door: i32,
    steps: u32,
}

impl Doors {
    fn show(s: &DoorsState, key: i32, obs: ElementsMut<'_>) -> Result {
        match obs {
            ElementsMut::I32(obs) => obs.copy_from_slice(&[s.door, key]),
            _ => panic!("choices"),
        }
        Ok(())
    }
}

impl Env for Doors {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::discrete(&CHOICES).with_fields(self.fields), Space::discrete(&[4]));
        Spec { env_id: 9100, state_size: 8, max_episode_steps: 0, obs, action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s: &mut DoorsState = bytemuck::from_bytes_mut(state);
        *s = DoorsState { door: rng.bounded(2) as i32, steps: 0 };
        Doors::show(s, rng.bounded(4) as i32, obs)
    }

    fn step(&self, _: usize, state: &mut [u8], rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let s: &mut DoorsState = bytemuck::from_bytes_mut(state);
        let action = action.i32()?[0];
        s.door = (s.door + action) % 3;
        s.steps += 1;
        let key = if action == STRANGE { 5 } else { rng.bounded(4) as i32 };
        Doors::show(s, key, obs)?;
        Ok(Step { reward: (s.door == 0).into(), terminated: s.steps == 4, truncated: false })
    }
}

const DOORS: Doors = Doors { fields: &[] };

fn arrays() -> Arrays<i32> {
    Arrays::of(Element::I32, N, 2, -77)
}

#[test]
fn environments_may_show_choices_alone() {
    let settings = config(N as u32, Autoreset::SameStep);
    let (mut all, mut a) = (block(&DOORS, &settings), arrays());
    attach(&mut all, &DOORS).reset(None, a.first()).unwrap();
    let mut rng = Rng::seeded(2);
    for step in 1..40 {
        let (before, action) = (a.obs.clone(), [(); N].map(|()| rng.bounded(2) as i32));
        let (mut copy, mut b) = (all.clone(), a.clone());
        attach(&mut all, &DOORS).step(Elements::I32(&action), a.out()).unwrap();
        attach(&mut copy, &DOORS).step(Elements::I32(&action), b.out()).unwrap();
        assert!(a == b && all == copy, "a copy of the block goes on the same");
        for i in 0..N {
            let last = if step % 4 == 0 { &a.final_obs } else { &a.obs };
            assert_eq!(last[2 * i], (before[2 * i] + action[i]) % 3);
            assert_eq!((a.terminated[i] != 0, a.reward[i] != 0.0), (step % 4 == 0, last[2 * i] == 0));
            assert!(a.obs.iter().enumerate().all(|(k, x)| (0..CHOICES[k % 2] as i32).contains(x)));
        }
    }
    // A choice that there is not is refused by the environment's number.
    let error = attach(&mut all, &DOORS).step(Elements::I32(&[0, STRANGE, 0]), a.out()).unwrap_err();
    assert_eq!(error.kind, Kind::Value);
    let text = "environment: the observation of environment 1 has a choice that its space does not have";
    assert_eq!(error.to_string(), text);
    // Arrays of another kind are refused; so is an observation that does not say how many choices it has.
    let error = attach(&mut all, &DOORS).reset(None, ElementsMut::F32(&mut [0.0; 2 * N])).unwrap_err();
    assert_eq!(error.kind, Kind::Shape);
    struct Without;
    impl Env for Without {
        fn spec(&self) -> Spec<'_> {
            Spec { obs: Space { n: &[3], ..DOORS.spec().obs }, ..DOORS.spec() }
        }
        fn reset(&self, _: usize, _: &mut [u8], _: &mut Rng, _: ElementsMut<'_>) -> Result {
            Ok(())
        }
        fn step(&self, _: usize, _: &mut [u8], _: &mut Rng, _: Elements, _: ElementsMut) -> Result<Step> {
            Ok(Step::default())
        }
    }
    let error = VecEnv::size(&Without, &settings).unwrap_err();
    assert!(error.to_string().contains("at least 1 choice for each of their elements"), "{error}");
}

/// The first observation of each environment in numbers.
fn first(env: &dyn Env) -> (Spec<'_>, Vec<f32>) {
    let (spec, settings) = (env.spec(), config(N as u32, Autoreset::SameStep));
    let mut a = Arrays::new(N, spec.obs.len as usize);
    let mut all = block(env, &settings);
    attach(&mut all, env).reset(None, a.first()).unwrap();
    attach(&mut all, env).step(Elements::I32(&[1; N]), a.out()).unwrap();
    (spec, a.obs)
}

#[test]
fn choices_are_flattened_to_numbers_or_one_hot() {
    let settings = config(N as u32, Autoreset::SameStep);
    let (mut all, mut a) = (block(&DOORS, &settings), arrays());
    attach(&mut all, &DOORS).reset(None, a.first()).unwrap();
    attach(&mut all, &DOORS).step(Elements::I32(&[1; N]), a.out()).unwrap();
    let numbers: Vec<f32> = a.obs.iter().map(|x| *x as f32).collect();
    let one_hot: Vec<f32> = a
        .obs
        .chunks(2)
        .flat_map(|row| (0..8).map(|i| f32::from(row[0] == i || row[1] + 3 == i)).collect::<Vec<_>>())
        .collect();
    for doors in [Doors { fields: &[] }, Doors { fields: &FIELDS }] {
        let flat = Pipeline::new(&doors, &[Wrapper::Flatten]).unwrap();
        let (spec, obs) = first(&flat);
        assert_eq!((spec.obs.kind, spec.obs.len, spec.obs.n), (Element::F32, 2, &[][..]));
        assert_eq!(obs, numbers);
        let hot = Pipeline::new(&doors, &[Wrapper::OneHot]).unwrap();
        let (spec, obs) = first(&hot);
        assert_eq!((spec.obs.kind, spec.obs.len, spec.obs.n), (Element::F32, 8, &[][..]));
        assert_eq!(spec.obs.fields, [Field::new("", Element::F32, &[8], 0)]);
        assert_eq!(obs, one_hot);
        // A block made with one of them is not that of the other.
        let mut own = block(&flat, &settings);
        assert_eq!(VecEnv::attach(bytes(&mut own), &hot).err().unwrap().kind, Kind::Config);
        // Stacks are made of what is numbers now.
        let stacked = Pipeline::new(&doors, &[Wrapper::OneHot, Wrapper::FrameStack { count: 2 }]).unwrap();
        assert_eq!(first(&stacked).0.obs.len, 16);
    }
    // A choice that there is not has no place.
    let hot = Pipeline::new(&DOORS, &[Wrapper::OneHot]).unwrap();
    let (mut all, mut a) = (block(&hot, &settings), Arrays::new(N, 8));
    attach(&mut all, &hot).reset(None, a.first()).unwrap();
    let error = attach(&mut all, &hot).step(Elements::I32(&[0, 0, STRANGE]), a.out()).unwrap_err();
    assert_eq!(error.kind, Kind::Value);
    let text = "one-hot: the observation of environment 2 has a choice that its space does not have";
    assert_eq!(error.to_string(), text);
}

#[test]
fn fields_of_choices_are_extracted_with_their_numbers() {
    let doors = Doors { fields: &FIELDS };
    let key = Pipeline::new(&doors, &[Wrapper::Extract { field: "key" }]).unwrap();
    let obs = key.spec().obs;
    assert_eq!((obs.kind, obs.len, obs.n), (Element::I32, 1, &[5][..]));
    let settings = config(N as u32, Autoreset::SameStep);
    let [mut all, mut whole] = [block(&key, &settings), block(&doors, &settings)];
    let (mut a, mut b) = (Arrays::of(Element::I32, N, 1, -77), arrays());
    attach(&mut all, &key).reset(None, a.first()).unwrap();
    attach(&mut whole, &doors).reset(None, b.first()).unwrap();
    assert_eq!(a.obs, b.obs.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
    // A record is bytes, its frame the choices.
    let record = Pipeline::new(&DOORS, &[Wrapper::Record]).unwrap();
    let spec = record.spec();
    assert_eq!((spec.obs.kind, spec.obs.fields[0].kind), (Element::U8, Element::I32));
    let (mut all, len) = (block(&record, &settings), spec.obs.len as usize);
    let mut a = Arrays::of(Element::U8, N, len, 9u8);
    attach(&mut all, &record).reset(None, a.first()).unwrap();
    let frame = |i: usize| [0, 4].map(|k| i32::from_ne_bytes(a.obs[i * len + k..][..4].try_into().unwrap()));
    assert_eq!((0..N).flat_map(frame).collect::<Vec<_>>(), b.obs);
}

/// A picture, choices and a number as one structure.
struct Mixed {
    n: &'static [u32],
}

const MIXED: [Field<'static>; 4] = [
    Field::new("screen", Element::U8, &[2, 2, 3], 0),
    Field::new("pick", Element::I32, &[2], 12),
    Field::new("speed", Element::F32, &[1], 20),
    Field::new("mode", Element::I32, &[1], 24),
];

impl Env for Mixed {
    fn spec(&self) -> Spec<'_> {
        let obs = Space { n: self.n, ..Space::bytes(28) }.with_fields(&MIXED);
        Spec { env_id: 9101, state_size: 8, max_episode_steps: 0, obs, action: Space::discrete(&[2]), wrappers: 0 }
    }

    fn reset(&self, _: usize, _: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let obs = obs.u8()?;
        (0..12).zip(&mut *obs).for_each(|(x, to)| *to = x);
        for (at, x) in [(12, 1), (16, 2), (24, 0)] {
            obs[at..at + 4].copy_from_slice(&i32::to_ne_bytes(x));
        }
        obs[20..24].copy_from_slice(&0.5f32.to_ne_bytes());
        Ok(())
    }

    fn step(&self, i: usize, state: &mut [u8], rng: &mut Rng, _: Elements, obs: ElementsMut) -> Result<Step> {
        self.reset(i, state, rng, obs)?;
        Ok(Step::default())
    }
}

#[test]
fn choices_in_structures_are_one_hot_between_the_others() {
    let mixed = Mixed { n: &[2, 4, 3] };
    let warp = Wrapper::WarpFrame { height: 1, width: 1, gray: false, field: "screen" };
    let hot = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0, 0.0];
    let bytes: Vec<f32> = (0..12).map(|x| x as f32).collect();
    // Means of 0, 3, 6 and 9 and so on, half of them rounded to even.
    for (list, front) in [(&[Wrapper::OneHot][..], &bytes[..]), (&[warp, Wrapper::OneHot], &[4.0, 6.0, 6.0])] {
        let pipeline = Pipeline::new(&mixed, list).unwrap();
        let (spec, obs) = first(&pipeline);
        assert_eq!((spec.obs.kind, spec.obs.len as usize), (Element::F32, front.len() + 10));
        for row in obs.chunks(front.len() + 10) {
            assert_eq!(row[front.len()..], hot);
            assert!(row.iter().zip(front).all(|(x, y)| (x - y).abs() <= 1.0), "{row:?}");
        }
    }
    let without = Mixed { n: &[] };
    for n in [&[][..], &[2, 4], &[2, 4, 3, 1]] {
        let mixed = Mixed { n: Box::leak(n.to_vec().into_boxed_slice()) };
        let error = Pipeline::new(&mixed, &[Wrapper::OneHot]).err().unwrap();
        assert!(error.kind == Kind::Config && error.to_string().contains("each of which says how many"), "{error}");
    }
    assert_eq!(first(&Pipeline::new(&without, &[Wrapper::Flatten]).unwrap()).1[12..16], [1.0, 2.0, 0.5, 0.0]);
}

#[test]
fn wrappers_that_calculate_refuse_choices() {
    let misfits: [(Wrapper<'static>, &str); 6] = [
        (Wrapper::FrameStack { count: 2 }, "frame stack: an observation of one part, of floats or bytes"),
        (Wrapper::ChannelsFirst, "[height, width, channels] of floats or bytes"),
        (Wrapper::MaxAndSkip { count: 2 }, "max and skip: observations of one part, of floats or bytes"),
        (Wrapper::ScaledFloat, "of bytes"),
        (Wrapper::AtariRescale, "[210, 160, 3]"),
        (Wrapper::WarpFrame { height: 1, width: 1, gray: false, field: "" }, "of bytes"),
    ];
    for (wrapper, words) in misfits {
        let error = Pipeline::new(&DOORS, &[wrapper]).err().unwrap();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{error}");
    }
    let error = Pipeline::new(&rlcore::env::CartPole, &[Wrapper::OneHot]).err().unwrap();
    assert!(error.to_string().contains("one-hot: an observation with choices"), "{error}");
}

/// A learner encodes choices as the wrapper does: both trainings are the same.
#[cfg(feature = "residual")]
#[test]
fn a_learner_reads_choices_as_their_one_hot_numbers() {
    let hot = Pipeline::new(&DOORS, &[Wrapper::OneHot]).unwrap();
    let settings = config(N as u32, Autoreset::SameStep);
    let train = |env: &dyn Env| {
        let Spec { obs, action, .. } = env.spec();
        let config = Config { num_envs: N as u32, num_steps: 12, num_minibatches: 1, ..Config::default() };
        let mut learner = vec![0u64; Learner::size(&config, &[], &obs, &action).unwrap() / 8];
        Learner::init(bytes(&mut learner), &config, &[], &obs, &action).unwrap();
        // Words with room for either kind.
        let (mut all, mut a) = (block(env, &settings), Arrays::of(obs.kind, N, obs.len as usize, 0u32));
        attach(&mut all, env).reset(None, a.first()).unwrap();
        let (mut taken, mut choice) = (vec![], [0; N]);
        for _ in 0..60 {
            let mut learner = Learner::attach(bytes(&mut learner)).unwrap();
            learner.act(None, a.out().obs.as_ref(), None, ElementsMut::I32(&mut choice)).unwrap();
            // The strange action is none of the host's.
            let action = choice.map(|x| x.min(2));
            attach(&mut all, env).step(Elements::I32(&action), a.out()).unwrap();
            let out = a.out();
            let last = out.final_obs.as_ref().map(|x| x.as_ref());
            learner.observe(None, out.reward, out.terminated, out.truncated, last, None).unwrap();
            if learner.phase() == Phase::Learn {
                learner.learn(Some(out.obs.as_ref()), None, 0).unwrap();
            }
            taken.extend(choice);
        }
        let learner = Learner::attach(bytes(&mut learner)).unwrap();
        (taken, learner.params().to_vec())
    };
    assert_eq!(train(&DOORS), train(&hot));
}
