//! Wrappers of observations: each against a slow twin written from its description, alone and in chains, in every autoreset mode;
//! then their declarations, refusals and robustness.

use bytemuck::{Pod, Zeroable};
use rlcore::env::wrap::{Observe, Pipeline, Wrapper};
use rlcore::env::{Autoreset, CartPole, Env, Level, Spec, Step, VecEnvConfig};
use rlcore::error::{Kind, Result};
use rlcore::kernels::image::{self, Size};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

use super::host::{Arrays, MODES, attach, block};

// ---- Two environments ----

/// A game with lives that observes a picture, or a picture among other fields.
struct Game {
    size: [u32; 3],
    fields: Vec<Field<'static>>,
    len: u32,
}

const LOSE: i32 = 3;
const TERMINATE: i32 = 4;
const TRUNCATE: i32 = 5;
const CHOICES: [u32; 1] = [6];

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GameState {
    steps: u64,
    lives: u32,
    salt: u32,
}

impl Game {
    fn film(height: u32, width: u32, channels: u32) -> Self {
        let size = [height, width, channels];
        Game { size, fields: vec![Field::new("", Element::U8, &size, 0)], len: size.iter().product() }
    }

    /// A vector of floats, a picture, integers after a gap, single bytes.
    fn dict(height: u32, width: u32) -> Self {
        let pixels = height * width * 3;
        let at = (12 + pixels).next_multiple_of(4) + 8;
        let fields = vec![
            Field::new("speed", Element::F32, &[3], 0),
            Field::new("screen", Element::U8, &[height, width, 3], 12),
            Field::new("score", Element::I32, &[2], at),
            Field::new("keys", Element::U8, &[3], at + 8),
        ];
        Game { size: [height, width, 3], fields, len: at + 8 + 3 + 9 }
    }

    fn draw(&self, s: &GameState, obs: ElementsMut<'_>) -> Result {
        let [_, width, channels] = self.size;
        let obs = obs.u8()?;
        obs.fill(0xee);
        let pixel = |i: usize| {
            let (y, x, c) = (i as u32 / channels / width, i as u32 / channels % width, i as u32 % channels);
            let t = s.steps as u32 * 17 + s.salt;
            (7 * y + 13 * x + 29 * c + 5 * ((x * y) % 31) + t + (t / 3) * (x % 2)) as u8
        };
        for field in &self.fields {
            let part = &mut obs[field.offset as usize..][..field.size().unwrap()];
            match (field.kind, field.rank) {
                (Element::U8, 3) => part.iter_mut().enumerate().for_each(|(i, x)| *x = pixel(i)),
                (Element::U8, _) => part.iter_mut().enumerate().for_each(|(i, x)| *x = s.lives as u8 + i as u8),
                (Element::F32, _) => part.as_chunks_mut().0.iter_mut().enumerate().for_each(|(i, x)| {
                    *x = (s.steps as f32 * 0.5 - i as f32 + s.salt as f32).to_ne_bytes();
                }),
                (Element::I32, _) => part.as_chunks_mut().0.iter_mut().enumerate().for_each(|(i, x)| {
                    *x = (i as i32 * 1000 - s.steps as i32).to_ne_bytes();
                }),
            }
        }
        Ok(())
    }
}

impl Env for Game {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::bytes(self.len).with_fields(&self.fields), Space::discrete(&CHOICES));
        Spec { env_id: 9100, state_size: 16, max_episode_steps: 0, obs, action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s: &mut GameState = bytemuck::from_bytes_mut(state);
        *s = GameState { steps: 0, lives: 3, salt: rng.integers(0, 200) as u32 };
        self.draw(s, obs)
    }

    fn step(&self, _: usize, state: &mut [u8], _rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let s: &mut GameState = bytemuck::from_bytes_mut(state);
        let action = action.i32()?[0];
        s.steps = s.steps.wrapping_add(1);
        s.lives = s.lives.wrapping_sub((action == LOSE).into());
        self.draw(&GameState { steps: s.steps % 9999, ..*s }, obs)?;
        Ok(Step {
            reward: action as f32 - 1.5 + (s.steps % 3) as f32,
            terminated: action == TERMINATE || s.lives == 0,
            truncated: action == TRUNCATE,
        })
    }

    fn lives(&self, _: usize, state: &[u8]) -> Result<u32> {
        Ok(bytemuck::from_bytes::<GameState>(state).lives)
    }
}

// ---- Slow twins: each wrapper by its description, with copies of everything ----

#[derive(Clone, Debug, PartialEq)]
enum Data {
    U8(Vec<u8>),
    F32(Vec<f32>),
    I32(Vec<i32>),
}

impl Data {
    fn kind(&self) -> Element {
        match self {
            Data::U8(_) => Element::U8,
            Data::F32(_) => Element::F32,
            Data::I32(_) => Element::I32,
        }
    }
    fn bytes(&self) -> Vec<u8> {
        match self {
            Data::U8(x) => x.clone(),
            Data::F32(x) => bytemuck::cast_slice(x).to_vec(),
            Data::I32(x) => bytemuck::cast_slice(x).to_vec(),
        }
    }
    fn u8(&self) -> &[u8] {
        match self {
            Data::U8(x) => x,
            _ => panic!("bytes"),
        }
    }
    fn numbers(&self) -> Vec<f32> {
        match self {
            Data::U8(x) => x.iter().map(|&x| x as f32).collect(),
            Data::F32(x) => x.clone(),
            Data::I32(x) => x.iter().map(|&x| x as f32).collect(),
        }
    }
    /// The same elements in another order.
    fn pick(&self, order: impl Iterator<Item = usize>) -> Data {
        match self {
            Data::U8(x) => Data::U8(order.map(|i| x[i]).collect()),
            Data::F32(x) => Data::F32(order.map(|i| x[i]).collect()),
            Data::I32(x) => Data::I32(order.map(|i| x[i]).collect()),
        }
    }
    fn extend(&mut self, other: &Data) {
        match (self, other) {
            (Data::U8(x), Data::U8(y)) => x.extend(y),
            (Data::F32(x), Data::F32(y)) => x.extend(y),
            _ => panic!("one kind"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    name: String,
    shape: Vec<u32>,
    data: Data,
}

fn part(name: &str, shape: &[u32], data: Data) -> Part {
    Part { name: name.into(), shape: shape.into(), data }
}

type Obs = Vec<Part>;

#[derive(Clone)]
struct Out {
    obs: Obs,
    reward: f32,
    terminated: bool,
    truncated: bool,
}

impl Out {
    fn done(&self) -> bool {
        self.terminated | self.truncated
    }
}

trait Gym {
    fn reset(&mut self, afresh: bool) -> Obs;
    fn step(&mut self, action: i32) -> Out;
    fn lives(&self) -> u32;
    /// The `was_real_done` of EpisodicLife.
    fn was_real_done(&self) -> Option<bool>;
}

struct Bare<'e> {
    env: &'e Game,
    state: [u64; 2],
    rng: Rng,
}

impl Bare<'_> {
    fn parts(&self, obs: &[u8]) -> Obs {
        let of = |field: &Field| {
            let bytes = obs[field.offset as usize..][..field.size().unwrap()].to_vec();
            let data = match field.kind {
                Element::U8 => Data::U8(bytes),
                Element::F32 => Data::F32(bytes.as_chunks().0.iter().map(|&x| f32::from_ne_bytes(x)).collect()),
                Element::I32 => Data::I32(bytes.as_chunks().0.iter().map(|&x| i32::from_ne_bytes(x)).collect()),
            };
            part(field.name, field.shape(), data)
        };
        self.env.fields.iter().map(of).collect()
    }
}

impl Gym for Bare<'_> {
    fn reset(&mut self, _afresh: bool) -> Obs {
        let mut obs = vec![0; self.env.len as usize];
        let state = bytemuck::cast_slice_mut(&mut self.state);
        self.env.reset(0, state, &mut self.rng, ElementsMut::U8(&mut obs)).unwrap();
        self.parts(&obs)
    }
    fn step(&mut self, action: i32) -> Out {
        let mut obs = vec![0; self.env.len as usize];
        let state = bytemuck::cast_slice_mut(&mut self.state);
        let action = Elements::I32(&[action]);
        let step = self.env.step(0, state, &mut self.rng, action, ElementsMut::U8(&mut obs)).unwrap();
        Out { obs: self.parts(&obs), reward: step.reward, terminated: step.terminated, truncated: step.truncated }
    }
    fn lives(&self) -> u32 {
        self.env.lives(0, bytemuck::cast_slice(&self.state)).unwrap()
    }
    fn was_real_done(&self) -> Option<bool> {
        None
    }
}

/// A wrapper of any kind and its state.
struct Wrapped<'e> {
    wrapper: Wrapper<'static>,
    inner: Box<dyn Gym + 'e>,
    /// Episodes start in calls of their own: an end reported by a record is not reported again.
    apart: bool,
    frames: Vec<Obs>,
    lives: u32,
    was_real_done: bool,
    /// State of Record, and the steps of TimeLimit: return, steps, and the facts of the last step if there was one since the
    /// start.
    episode: (f64, i32),
    facts: Option<(f32, bool, f32, i32, i32, bool)>,
}

impl Wrapped<'_> {
    fn press(&mut self, action: u32, obs: &mut Obs) {
        let out = self.inner.step(action as i32);
        *obs = if out.done() { self.inner.reset(false) } else { out.obs };
    }

    fn record(&self, frame: Obs) -> Obs {
        let (reward, done, total, steps, action, real_done) = self.facts.unwrap_or_default();
        let [frame]: [Part; 1] = frame.try_into().unwrap();
        let shape = [&[1], &frame.shape[..]].concat();
        let byte = |x: bool| Data::U8(vec![x.into()]);
        vec![
            part("frame", &shape, frame.data),
            part("reward", &[1], Data::F32(vec![reward])),
            part("done", &[1], byte(done)),
            part("episode_return", &[1], Data::F32(vec![total])),
            part("episode_step", &[1], Data::I32(vec![steps])),
            part("last_action", &[1], Data::I32(vec![action])),
            part("real_done", &[1], byte(real_done)),
        ]
    }

    /// The wrapper's output for an observation, except the first of an episode.
    fn view(&mut self, obs: Obs) -> Obs {
        match self.wrapper {
            Wrapper::WarpFrame { height, width, gray, field } => obs
                .into_iter()
                .map(|p| if p.name == field || field.is_empty() { warp(p, height, width, gray) } else { p })
                .collect(),
            Wrapper::AtariRescale => {
                let mut out = vec![0.0; 42 * 42];
                image::rescale42(obs[0].data.u8(), &mut out).unwrap();
                vec![part("external", &[42, 42, 1], Data::F32(out))]
            }
            Wrapper::ScaledFloat => {
                let data = Data::F32(obs[0].data.u8().iter().map(|&x| x as f32 / 255.0).collect());
                vec![Part { data, ..obs[0].clone() }]
            }
            Wrapper::FrameStack { .. } => {
                self.frames.remove(0);
                self.frames.push(obs);
                self.stack()
            }
            Wrapper::ChannelsFirst => {
                let [h, w, c] = obs[0].shape[..] else { panic!("a picture") };
                let order = (0..c * h * w).map(|i| {
                    let (k, y, x) = (i / (h * w), i / w % h, i % w);
                    ((y * w + x) * c + k) as usize
                });
                vec![part(&obs[0].name, &[c, h, w], obs[0].data.pick(order))]
            }
            Wrapper::Flatten => {
                let bytes = obs.iter().all(|p| p.data.kind() == Element::U8);
                let data = if bytes {
                    Data::U8(obs.iter().flat_map(|p| p.data.bytes()).collect())
                } else {
                    Data::F32(obs.iter().flat_map(|p| p.data.numbers()).collect())
                };
                vec![part("", &[data.numbers().len() as u32], data)]
            }
            Wrapper::Extract { field } => {
                let found = obs.into_iter().find(|p| p.name == field || field.is_empty()).unwrap();
                vec![Part { name: String::new(), ..found }]
            }
            Wrapper::Observe { len, .. } => {
                let sum: f64 = obs[0].data.numbers().iter().map(|&x| x as f64).sum();
                vec![part("", &[len], Data::F32((0..len).map(|i| (sum + i as f64) as f32).collect()))]
            }
            _ => obs,
        }
    }

    fn stack(&self) -> Obs {
        let newest = &self.frames.last().unwrap()[0];
        let mut shape = newest.shape.clone();
        let last = shape.pop().unwrap();
        shape.push(last * self.frames.len() as u32);
        let pixels = newest.data.bytes().len() / newest.data.kind().size() / last as usize;
        let mut all = newest.data.pick(0..0);
        for p in 0..pixels {
            for frame in &self.frames {
                all.extend(&frame[0].data.pick(p * last as usize..(p + 1) * last as usize));
            }
        }
        vec![part(&newest.name, &shape, all)]
    }
}

fn warp(p: Part, height: u32, width: u32, gray: bool) -> Part {
    let [h, w, c] = p.shape[..] else { panic!("a picture") };
    let mut source = p.data.u8().to_vec();
    let channels = if gray { 1 } else { c };
    if gray {
        source = vec![0; (h * w) as usize];
        image::gray(p.data.u8(), &mut source).unwrap();
    }
    let size = |h: u32, w: u32| Size::new(h as usize, w as usize, channels as usize);
    let (from, to) = (size(h, w), size(height, width));
    let mut out = vec![0; (height * width * channels) as usize];
    let mut scratch = vec![0.0; image::area_scratch(from, to).unwrap()];
    image::area(from, &source, to, &mut out, &mut scratch).unwrap();
    part(&p.name, &[height, width, channels], Data::U8(out))
}

impl Gym for Wrapped<'_> {
    fn reset(&mut self, afresh: bool) -> Obs {
        match self.wrapper {
            Wrapper::NoopReset { exactly, noop, .. } => {
                let mut obs = self.inner.reset(afresh);
                (0..exactly).for_each(|_| self.press(noop, &mut obs));
                obs
            }
            Wrapper::FireReset { fire, second } => {
                let mut obs = self.inner.reset(afresh);
                [fire, second].into_iter().for_each(|action| self.press(action, &mut obs));
                obs
            }
            Wrapper::EpisodicLife { noop } => {
                let obs = if self.was_real_done || afresh {
                    self.inner.reset(afresh)
                } else {
                    let mut obs = Vec::new();
                    self.press(noop, &mut obs);
                    obs
                };
                (self.lives, self.was_real_done) = (self.inner.lives(), false);
                obs
            }
            Wrapper::FrameStack { count } => {
                let obs = self.inner.reset(afresh);
                self.frames = vec![obs; count as usize];
                self.stack()
            }
            Wrapper::Record => {
                let frame = self.inner.reset(afresh);
                if afresh || (self.apart && self.facts.is_some_and(|(_, done, ..)| done)) {
                    self.facts = None;
                }
                if let Some((_, done, _, _, _, real_done)) = &mut self.facts {
                    *real_done |= !*done && self.inner.was_real_done().is_none();
                    *done = true;
                }
                let record = self.record(frame);
                (self.episode, self.facts) = ((0.0, 0), None);
                record
            }
            _ => {
                self.episode.1 = 0;
                let obs = self.inner.reset(afresh);
                self.view(obs)
            }
        }
    }

    fn step(&mut self, action: i32) -> Out {
        match self.wrapper {
            Wrapper::EpisodicLife { .. } => {
                let mut out = self.inner.step(action);
                self.was_real_done = out.done();
                let lives = self.inner.lives();
                out.terminated |= lives < self.lives && lives > 0;
                self.lives = lives;
                out
            }
            Wrapper::MaxAndSkip { count } => {
                let (mut seen, mut total) = (Vec::new(), 0.0f64);
                let mut out;
                loop {
                    out = self.inner.step(action);
                    total += out.reward as f64;
                    seen.push(out.obs.clone());
                    if out.done() || seen.len() == count as usize {
                        break;
                    }
                }
                if let [.., a, b] = &seen[..] {
                    let max = match (&a[0].data, &b[0].data) {
                        (Data::U8(a), Data::U8(b)) => Data::U8(a.iter().zip(b).map(|(a, b)| *a.max(b)).collect()),
                        (Data::F32(a), Data::F32(b)) => Data::F32(a.iter().zip(b).map(|(a, b)| a.max(*b)).collect()),
                        _ => panic!("one kind"),
                    };
                    out.obs = vec![Part { data: max, ..b[0].clone() }];
                }
                Out { reward: total as f32, ..out }
            }
            Wrapper::TimeLimit { steps } => {
                let out = self.inner.step(action);
                self.episode.1 += 1;
                Out { truncated: out.truncated | (self.episode.1 >= steps as i32), ..out }
            }
            Wrapper::Record => {
                let out = self.inner.step(action);
                self.episode.0 += out.reward as f64;
                self.episode.1 += 1;
                let real_done = self.inner.was_real_done().unwrap_or(out.done());
                let (total, steps) = self.episode;
                self.facts = Some((out.reward, out.done(), total as f32, steps, action, real_done));
                Out { obs: self.record(out.obs.clone()), ..out }
            }
            _ => {
                let out = self.inner.step(action);
                let obs = self.view(out.obs.clone());
                let clip = matches!(self.wrapper, Wrapper::ClipReward) && out.reward != 0.0;
                Out { obs, reward: if clip { out.reward.signum() } else { out.reward }, ..out }
            }
        }
    }

    fn lives(&self) -> u32 {
        self.inner.lives()
    }

    fn was_real_done(&self) -> Option<bool> {
        match self.wrapper {
            Wrapper::EpisodicLife { .. } => Some(self.was_real_done),
            _ => self.inner.was_real_done(),
        }
    }
}

fn twin<'e>(env: &'e Game, list: &[Wrapper<'static>], seed: u64, mode: Autoreset) -> Box<dyn Gym + 'e> {
    let bare: Box<dyn Gym + 'e> = Box::new(Bare { env, state: [0; 2], rng: Rng::seeded(seed) });
    list.iter().fold(bare, |inner, wrapper| {
        Box::new(Wrapped {
            wrapper: *wrapper,
            inner,
            apart: mode != Autoreset::SameStep,
            frames: Vec::new(),
            lives: 0,
            was_real_done: true,
            episode: (0.0, 0),
            facts: None,
        })
    })
}

/// The bytes of a wrapped observation: a single part as it is, several parts one after another on their boundaries.
fn encode(obs: &Obs) -> Vec<u8> {
    let mut all = Vec::new();
    let largest = obs.iter().map(|p| p.data.kind().size()).max().unwrap();
    for p in obs {
        all.resize(all.len().next_multiple_of(p.data.kind().size()), 0);
        all.extend(p.data.bytes());
    }
    all.resize(all.len().next_multiple_of(largest), 0);
    all
}

// ---- Both side by side ----

/// A batch of wrapped environments in a block of its own; their observations are of any kind.
struct Batch<'e> {
    env: &'e Pipeline<'e>,
    block: Vec<u64>,
    mode: Autoreset,
    arrays: Arrays<u64>,
}

impl<'e> Batch<'e> {
    fn new(env: &'e Pipeline<'e>, n: usize, mode: Autoreset) -> Self {
        let config = VecEnvConfig { num_envs: n as u32, autoreset: mode, ..Default::default() };
        let obs = env.spec().obs;
        Batch { env, block: block(env, &config), mode, arrays: Arrays::of(obs.kind, n, obs.len as usize, u64::MAX) }
    }

    fn reset(&mut self, row: Option<usize>, seed: Option<u64>) -> Result {
        let mut envs = attach(&mut self.block, self.env);
        match row {
            None => envs.reset(seed, self.arrays.first()),
            Some(i) => envs.reset_one(i, seed, self.arrays.first()),
        }
    }

    fn step(&mut self, action: &[i32]) -> Result {
        attach(&mut self.block, self.env).step_env(Level::New, Elements::I32(action), self.arrays.out())
    }

    fn row(&self, of: &[u64], i: usize) -> Vec<u8> {
        bytemuck::cast_slice(of)[i * self.env.spec().obs.size()..][..self.env.spec().obs.size()].to_vec()
    }

    fn obs(&self, i: usize) -> Vec<u8> {
        self.row(&self.arrays.obs, i)
    }

    fn final_obs(&self, i: usize) -> Vec<u8> {
        self.row(&self.arrays.final_obs, i)
    }
}

fn random_action(rng: &mut Rng) -> i32 {
    match rng.integers(0, 24) {
        0 | 1 => LOSE,
        2 => TERMINATE,
        3 => TRUNCATE,
        i => i as i32 % 3,
    }
}

/// Steps a list of wrappers and its twins side by side, copies the block half way, and compares every byte.
fn compare(env: &Game, list: &[Wrapper<'static>], steps: usize, what: &str) {
    let pipeline = Pipeline::new(env, list).unwrap_or_else(|e| panic!("{what}: {e}"));
    let n = 3;
    for mode in MODES {
        let mut batch = Batch::new(&pipeline, n, mode);
        batch.reset(None, Some(40)).unwrap();
        let mut twins: Vec<_> = (0..n).map(|i| (twin(env, list, 40 + i as u64, mode), false)).collect();
        for (i, (twin, _)) in twins.iter_mut().enumerate() {
            let obs = twin.reset(true);
            assert_eq!(batch.obs(i), encode(&obs), "{what} {mode:?}: first observation of row {i}");
            check_fields(&pipeline, &obs, what);
        }
        let mut rng = Rng::seeded(3);
        for t in 0..steps {
            let at = format!("{what} {mode:?}: step {t}");
            if t == steps / 2 {
                let copy = batch.block.clone();
                batch.block.fill(0xa5a5_a5a5_a5a5_a5a5);
                batch.block = copy;
            }
            if t == steps / 3 {
                // Amid an episode, or after its end.
                batch.reset(Some(1), None).unwrap();
                twins[1].1 = false;
                assert_eq!(batch.obs(1), encode(&twins[1].0.reset(false)), "{at}: a row started again");
            }
            if t == 2 * steps / 3 {
                batch.reset(Some(2), Some(77)).unwrap();
                twins[2] = (twin(env, list, 77, mode), false);
                assert_eq!(batch.obs(2), encode(&twins[2].0.reset(true)), "{at}: a row started afresh");
            }
            let action: Vec<i32> = (0..n).map(|_| random_action(&mut rng)).collect();
            batch.step(&action).unwrap_or_else(|e| panic!("{at}: {e}"));
            for (i, twin) in twins.iter_mut().enumerate() {
                check_row(&mut batch, i, action[i], twin, &format!("{at}, row {i}"));
            }
        }
    }
}

/// Compares the last step of a row with its twin's, and resets both where only the host does.
fn check_row(batch: &mut Batch, i: usize, action: i32, (twin, ended): &mut (Box<dyn Gym + '_>, bool), at: &str) {
    let was_ended = std::mem::take(ended);
    let only_reset = was_ended && batch.mode == Autoreset::NextStep;
    let first = was_ended.then(|| twin.reset(false));
    let mut out = match first {
        Some(obs) if only_reset => Out { obs, reward: 0.0, terminated: false, truncated: false },
        _ => twin.step(action),
    };
    if out.done() {
        assert_eq!(batch.final_obs(i), encode(&out.obs), "{at}: final_obs");
        match batch.mode {
            Autoreset::SameStep => out.obs = twin.reset(false),
            _ => *ended = true,
        }
    }
    assert_eq!(batch.obs(i), encode(&out.obs), "{at}: obs");
    let (a, flags) = (&batch.arrays, (u8::from(out.terminated), u8::from(out.truncated)));
    assert_eq!((a.reward[i], (a.terminated[i], a.truncated[i])), (out.reward, flags), "{at}");
    assert_eq!(a.valid[i], u8::from(!only_reset), "{at}: valid");
    if *ended && batch.mode == Autoreset::Disabled {
        batch.reset(Some(i), None).unwrap();
        assert_eq!(batch.obs(i), encode(&twin.reset(false)), "{at}: reset");
        *ended = false;
    }
}

fn check_fields(pipeline: &Pipeline<'_>, obs: &Obs, what: &str) {
    let spec = pipeline.spec();
    assert_eq!(spec.obs.fields.len(), obs.len(), "{what}");
    for (field, p) in spec.obs.fields.iter().zip(obs) {
        assert_eq!((field.name, field.kind, field.shape()), (&p.name[..], p.data.kind(), &p.shape[..]), "{what}");
    }
    if let [p] = &obs[..] {
        // Integers alone stay bytes, since observations are f32 or u8.
        let kind = if p.data.kind() == Element::I32 { Element::U8 } else { p.data.kind() };
        assert_eq!(spec.obs.kind, kind, "{what}");
        let bounds = |x: f32| spec.obs.bounds(0).0 <= x && x <= spec.obs.bounds(0).1;
        assert!(kind != Element::F32 || p.data.numbers().into_iter().all(bounds), "{what}: values within their bounds");
    }
}

/// Sums all elements.
struct Sum;

impl Observe for Sum {
    fn observe(&self, _row: usize, obs: Elements<'_>, out: ElementsMut<'_>) -> Result {
        let sum: f64 = match obs {
            Elements::F32(x) => x.iter().map(|&x| x as f64).sum(),
            Elements::I32(x) => x.iter().map(|&x| x as f64).sum(),
            Elements::U8(x) => x.iter().map(|&x| x as f64).sum(),
        };
        out.f32()?.iter_mut().enumerate().for_each(|(i, x)| *x = (sum + i as f64) as f32);
        Ok(())
    }
}

const SKIP: Wrapper<'static> = Wrapper::MaxAndSkip { count: 4 };
/// Has no effect, but separates layers that would share their work.
const APART: Wrapper<'static> = Wrapper::MaxAndSkip { count: 1 };
const LIFE: Wrapper<'static> = Wrapper::EpisodicLife { noop: 0 };
const FIRE: Wrapper<'static> = Wrapper::FireReset { fire: 1, second: 2 };
const NOOPS: Wrapper<'static> = Wrapper::NoopReset { max: 30, exactly: 3, noop: 0 };
const STACK: Wrapper<'static> = Wrapper::FrameStack { count: 4 };
const SUM: Wrapper<'static> = Wrapper::Observe { len: 3, observe: &Sum };

const fn warp_to(height: u32, width: u32, gray: bool, field: &'static str) -> Wrapper<'static> {
    Wrapper::WarpFrame { height, width, gray, field }
}

#[test]
fn each_wrapper_does_what_its_twin_does() {
    use Wrapper::*;
    #[rustfmt::skip]
    let lists: &[&[Wrapper]] = &[
        &[warp_to(4, 3, true, "")], &[warp_to(4, 3, false, "")], &[warp_to(7, 5, true, "")],
        &[warp_to(7, 5, false, "")], &[warp_to(1, 1, true, "")], &[ScaledFloat], &[FrameStack { count: 1 }],
        &[FrameStack { count: 3 }], &[FrameStack { count: 16 }], &[ChannelsFirst], &[Flatten],
        &[Extract { field: "" }], &[Record], &[SUM],
    ];
    for (i, list) in lists.iter().enumerate() {
        compare(&Game::film(7, 5, 3), list, 60, &format!("film list {i}"));
    }
    let lists: &[&[Wrapper]] = &[
        &[warp_to(4, 3, true, "screen")],
        &[warp_to(7, 4, false, "screen")],
        &[warp_to(3, 3, true, "screen")],
        &[Flatten],
        &[Extract { field: "speed" }],
        &[Extract { field: "screen" }],
        &[Extract { field: "score" }],
        &[Extract { field: "keys" }],
        &[warp_to(3, 3, true, "screen"), Flatten],
        &[warp_to(3, 3, true, "screen"), Extract { field: "screen" }, STACK, ChannelsFirst, Record],
        &[Extract { field: "speed" }, STACK, Record],
        &[Extract { field: "speed" }, SKIP, STACK, Flatten],
        &[Extract { field: "keys" }, STACK, ScaledFloat],
        &[Extract { field: "screen" }, Record, Extract { field: "episode_return" }],
        &[Extract { field: "keys" }, Record, Flatten],
        &[Extract { field: "speed" }, SUM, STACK],
    ];
    for (i, list) in lists.iter().enumerate() {
        compare(&Game::dict(7, 5), list, 60, &format!("dict list {i}"));
    }
}

#[test]
fn chains_do_what_their_twins_do() {
    use Wrapper::*;
    let warp = warp_to(4, 3, true, "");
    let lists: &[&[Wrapper]] = &[
        // The order of the first wrappers, with the life outermost; then the order of the papers.
        &[NOOPS, SKIP, FIRE, warp, STACK, LIFE, ChannelsFirst, Record],
        &[NOOPS, SKIP, LIFE, FIRE, warp, ClipReward, STACK, ChannelsFirst, Record],
        &[NOOPS, SKIP, LIFE, FIRE, warp, ScaledFloat, ClipReward, STACK],
        &[SKIP, warp],
        &[SKIP, warp_to(5, 4, false, "")],
        &[MaxAndSkip { count: 2 }, LIFE, TimeLimit { steps: 3 }, warp],
        &[SKIP, warp, warp_to(2, 2, false, "")],
        &[APART, warp],
        &[SKIP, APART, warp],
        &[STACK, ScaledFloat],
        &[STACK, ScaledFloat, ChannelsFirst],
        &[STACK, LIFE, ChannelsFirst, ClipReward, ScaledFloat],
        &[STACK, ChannelsFirst, FrameStack { count: 2 }],
        &[STACK, APART, ChannelsFirst],
        &[STACK, SKIP, ScaledFloat],
        &[STACK, Flatten, ScaledFloat, Record],
        &[ScaledFloat, STACK, ChannelsFirst],
        &[ScaledFloat, SKIP, STACK, ChannelsFirst, Record],
        &[ChannelsFirst, STACK],
        &[STACK, FrameStack { count: 2 }],
        &[Record, LIFE, TimeLimit { steps: 7 }],
        &[LIFE, TimeLimit { steps: 4 }, Record, LIFE],
        &[Record, Extract { field: "frame" }, Flatten],
        &[STACK, LIFE, NOOPS],
        &[ActionRepeat { count: 1 }, STACK, ActionRepeat { count: 1 }, ChannelsFirst],
    ];
    for (i, list) in lists.iter().enumerate() {
        compare(&Game::film(7, 5, 3), list, 90, &format!("chain {i}"));
    }
}

#[test]
fn atari_screens_go_through_both_orders() {
    use Wrapper::*;
    let warp = warp_to(84, 84, true, "");
    let lists: &[&[Wrapper]] = &[
        &[NOOPS, SKIP, FIRE, warp, STACK, LIFE, ChannelsFirst, Record],
        &[NOOPS, SKIP, LIFE, FIRE, warp, ClipReward, STACK],
        &[AtariRescale],
        &[SKIP, AtariRescale, STACK],
    ];
    for (i, list) in lists.iter().enumerate() {
        compare(&Game::film(210, 160, 3), list, 8, &format!("atari list {i}"));
    }
    for height in [210, 250] {
        compare(&Game::film(height, 160, 3), &[SKIP, warp_to(84, 84, false, "")], 4, "colour");
    }
}

/// Observes a picture of known fingerprint first.
struct Fingerprint;

impl Env for Fingerprint {
    fn spec(&self) -> Spec<'_> {
        const FIELDS: [Field<'static>; 1] = [Field::new("", Element::U8, &[210, 160, 3], 0)];
        let (obs, action) = (Space::bytes(210 * 160 * 3).with_fields(&FIELDS), Space::discrete(&CHOICES));
        Spec { env_id: 1, state_size: 0, max_episode_steps: 0, obs, action, wrappers: 0 }
    }
    fn reset(&self, _: usize, _state: &mut [u8], _rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        for (i, px) in obs.u8()?.iter_mut().enumerate() {
            let (y, x, c) = (i / 480, i / 3 % 160, i % 3);
            *px = (7 * y + 13 * x + 29 * c + 5 * ((x * y) % 31)) as u8;
        }
        Ok(())
    }
    fn step(&self, row: usize, state: &mut [u8], rng: &mut Rng, _action: Elements, obs: ElementsMut) -> Result<Step> {
        self.reset(row, state, rng, obs)?;
        Ok(Step::default())
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn pictures_have_the_bytes_of_the_reference() {
    let gray = [SKIP, warp_to(84, 84, true, "")];
    let pipeline = Pipeline::new(&Fingerprint, &gray).unwrap();
    let mut batch = Batch::new(&pipeline, 1, Autoreset::SameStep);
    batch.reset(None, None).unwrap();
    assert_eq!(fnv(&batch.obs(0)), 0x11b0_ff42_9e61_b831);
    batch.step(&[0]).unwrap();
    assert_eq!(fnv(&batch.obs(0)), 0x11b0_ff42_9e61_b831);

    let colour = [warp_to(84, 84, false, "")];
    let pipeline = Pipeline::new(&Fingerprint, &colour).unwrap();
    let mut batch = Batch::new(&pipeline, 1, Autoreset::SameStep);
    batch.reset(None, None).unwrap();
    assert_eq!(fnv(&batch.obs(0)), 0x389f_25c3_d0ed_dce7);

    let pipeline = Pipeline::new(&Fingerprint, &[Wrapper::AtariRescale]).unwrap();
    let mut batch = Batch::new(&pipeline, 1, Autoreset::SameStep);
    batch.reset(None, None).unwrap();
    let obs: Vec<f32> = batch.obs(0).as_chunks().0.iter().map(|&x| f32::from_ne_bytes(x)).collect();
    #[allow(clippy::excessive_precision)]
    let first = [0.3450980484485626, 0.6705882549285889, 0.5777778029441833];
    assert_eq!(obs[..3], first);
    assert_eq!(obs.iter().map(|&x| x as f64).sum::<f64>(), 883.3582227826118);
    assert_eq!((pipeline.spec().obs.fields[0].name, pipeline.spec().obs.bounds(5)), ("external", (0.0, 1.0)));
}

#[test]
fn a_record_tells_the_step_that_ended() {
    let env = Game::film(1, 1, 1);
    let list = [LIFE, Wrapper::Record];
    let pipeline = Pipeline::new(&env, &list).unwrap();
    let fields = pipeline.spec().obs.fields;
    let at: Vec<_> = fields.iter().map(|f| (f.name, f.kind, f.offset)).collect();
    let expected = [
        ("frame", Element::U8, 0),
        ("reward", Element::F32, 4),
        ("done", Element::U8, 8),
        ("episode_return", Element::F32, 12),
        ("episode_step", Element::I32, 16),
        ("last_action", Element::I32, 20),
        ("real_done", Element::U8, 24),
    ];
    assert_eq!(at, expected);
    assert_eq!((fields[0].shape(), pipeline.spec().obs.len), (&[1, 1, 1, 1][..], 28));

    type Facts = (u8, f32, u8, f32, i32, i32, u8);
    let facts = |x: Vec<u8>| -> Facts {
        let word = |i: usize| <[u8; 4]>::try_from(&x[i..i + 4]).unwrap();
        let [f, i] = [f32::from_ne_bytes, |x| i32::from_ne_bytes(x) as f32];
        (x[0], f(word(4)), x[8], f(word(12)), i(word(16)) as i32, i(word(20)) as i32, x[24])
    };
    let mut batch = Batch::new(&pipeline, 1, Autoreset::SameStep);
    batch.reset(None, Some(5)).unwrap();
    let first = batch.obs(0)[0];
    assert_eq!(facts(batch.obs(0)), (first, 0.0, 0, 0.0, 0, 0, 0));
    let mut step = |action: i32| {
        batch.step(&[action]).unwrap();
        (facts(batch.obs(0)), facts(batch.final_obs(0)))
    };
    // Rewards are action - 1.5 + steps mod 3; a pixel moves by 17 with each step of the game.
    let px = |steps: u8| first.wrapping_add(17 * steps);
    assert_eq!(step(2).0, (px(1), 1.5, 0, 1.5, 1, 2, 0));
    let (obs, last) = step(LOSE);
    // The next life begins with an action without effect, whose reward is dropped.
    assert_eq!((obs, last), ((px(3), 3.5, 1, 5.0, 2, 3, 0), (px(2), 3.5, 1, 5.0, 2, 3, 0)));
    assert_eq!(step(1).0, (px(4), 0.5, 0, 0.5, 1, 1, 0));
    let (obs, last) = step(TERMINATE);
    assert_eq!(last, (px(5), 4.5, 1, 5.0, 2, 4, 1));
    assert_eq!((obs.1, obs.2, obs.3, obs.4, obs.5, obs.6), (4.5, 1, 5.0, 2, 4, 1));
    assert_eq!(step(0).0.4, 1);
    batch.reset(None, Some(5)).unwrap();
    assert_eq!(facts(batch.obs(0)), (first, 0.0, 0, 0.0, 0, 0, 0));

    let mut record = [7; 28];
    pipeline.initial(&mut record).unwrap();
    assert_eq!(facts(record.to_vec()), (0, 0.0, 0, 0.0, 0, 0, 1));
    assert_eq!(record.iter().map(|&x| x as u32).sum::<u32>(), 1);
    assert_eq!(pipeline.initial(&mut [0; 27]).unwrap_err().kind, Kind::Shape);
    let bare = Pipeline::new(&env, &[LIFE]).unwrap();
    assert_eq!(bare.initial(&mut record).unwrap_err().kind, Kind::Config);
}

/// The facts in a record of CartPole besides frame and action: reward, done, return and steps.
fn told(record: &[u8]) -> (f32, bool, f32, i32) {
    let word = |i: usize| <[u8; 4]>::try_from(&record[i..i + 4]).unwrap();
    (f32::from_ne_bytes(word(16)), record[20] != 0, f32::from_ne_bytes(word(24)), i32::from_ne_bytes(word(28)))
}

#[test]
fn each_end_is_told_by_one_record() {
    const N: usize = 18;
    let list = [Wrapper::Record];
    let pipeline = Pipeline::new(&CartPole, &list).unwrap();
    let fields: Vec<_> = pipeline.spec().obs.fields.iter().map(|f| (f.name, f.offset)).collect();
    assert_eq!(fields[1..5], [("reward", 16), ("done", 20), ("episode_return", 24), ("episode_step", 28)]);
    let len = pipeline.spec().obs.len as usize;
    // The environment's own limit is not applied; the batch's limit is reported in the first record of the next episode.
    for (mode, limit) in MODES.into_iter().flat_map(|mode| [(mode, 0), (mode, 12)]) {
        let config = VecEnvConfig { num_envs: N as u32, autoreset: mode, max_episode_steps: limit, seed: 4 };
        let mut block = block(&pipeline, &config);
        let (mut envs, mut a) = (attach(&mut block, &pipeline), Arrays::of_bytes(N, len));
        envs.reset(None, a.first()).unwrap();
        assert!(a.obs.chunks(len).all(|record| told(record) == (0.0, false, 0.0, 0)));
        let (mut ends, mut tellings, mut cuts, mut steps) = ([0; N], [0; N], 0, [0; N]);
        let mut rng = Rng::seeded(9);
        for t in 0..200 {
            let action: Vec<i32> = (0..N).map(|_| rng.coin().into()).collect();
            for [begin, end] in [[0, 9], [10, 18], [9, 10]] {
                envs.step_range(begin, end, Elements::I32(&action), a.out()).unwrap();
            }
            for i in 0..N {
                let at = format!("{mode:?}, limit {limit}, step {t}, row {i}");
                steps[i] += i32::from(a.valid[i]);
                let (told_now, last) = (told(&a.obs[i * len..][..len]), told(&a.final_obs[i * len..][..len]));
                check_record(told_now, a.valid[i] == 1, steps[i], limit, &at);
                tellings[i] += i32::from(told_now.1);
                if !a.ended(i) {
                    continue;
                }
                let (was, terminated) = (steps[i], a.terminated[i] == 1);
                assert_eq!(last, (1.0, terminated, was as f32, was), "{at}");
                (ends[i], steps[i]) = (ends[i] + 1, 0);
                cuts += i32::from(a.truncated[i]);
                if mode == Autoreset::Disabled {
                    envs.reset_one(i, None, a.first()).unwrap();
                    let (gain, done, total, count) = told(&a.obs[i * len..][..len]);
                    tellings[i] += i32::from(done);
                    let expected = if terminated { (0.0, 0.0, 0) } else { (1.0, was as f32, was) };
                    assert_eq!((gain, total, count), expected, "{at}: the first record after a reset");
                }
            }
        }
        assert!(ends.iter().all(|&ends| ends > 4) && (cuts > 9) == (limit > 0), "{mode:?}: {ends:?}, {cuts}");
        for (ends, tellings) in ends.into_iter().zip(tellings) {
            let open = i32::from(mode == Autoreset::NextStep && limit > 0);
            // The first observation after a legacy reset is never returned.
            let unseen = mode == Autoreset::Legacy && limit > 0;
            let known = tellings == ends || tellings == ends - open || unseen;
            assert!(known, "{mode:?}: {ends} ends, told {tellings} times");
        }
    }
}

/// Checks the record of a step, or of a row that was only reset, against the steps of its episode.
fn check_record((gain, done, total, count): (f32, bool, f32, i32), valid: bool, steps: i32, limit: u32, at: &str) {
    if valid {
        assert_eq!((gain, total, count), (1.0, steps as f32, steps), "{at}");
    } else if done {
        assert_eq!((total, count), (limit as f32, limit as i32), "{at}: a cut of the batch");
    } else {
        assert_eq!((gain, total, count), (0.0, 0.0, 0), "{at}: a row that was only reset");
    }
}

#[test]
fn layers_that_share_their_work_keep_less_and_give_the_same_bytes() {
    use Wrapper::*;
    let env = Game::film(210, 160, 3);
    let (raw, small) = (100_800, 7_056);
    let warp = warp_to(84, 84, true, "");
    // The game's 16 bytes; two screens; a ring of four frames and its position; lives; the record's facts and action.
    let sizes: &[(&[Wrapper], u32)] = &[
        (&[SKIP, warp], 16 + 2 * raw),
        (&[SKIP, FIRE, warp, STACK, LIFE, ChannelsFirst], 16 + 2 * raw + 8 + 4 * small + 8),
        (&[SKIP, FIRE, warp, STACK, LIFE, ChannelsFirst, Record], 16 + 2 * raw + 8 + 4 * small + 8 + 24 + 8),
        (&[SKIP, LIFE, FIRE, warp, STACK, ScaledFloat], 16 + 2 * raw + 8 + 4 * small + 8),
        (&[warp], 16 + raw),
        (&[warp, STACK, APART, ChannelsFirst], 16 + raw + 8 + 4 * small + 4 * small),
    ];
    for (i, (list, size)) in sizes.iter().enumerate() {
        assert_eq!(Pipeline::new(&env, list).unwrap().spec().state_size, *size, "list {i}");
    }

    let pairs: &[[&[Wrapper]; 2]] = &[
        [&[SKIP, warp], &[SKIP, APART, warp]],
        [
            &[SKIP, LIFE, FIRE, warp, STACK, ChannelsFirst],
            &[SKIP, LIFE, FIRE, APART, warp, STACK, APART, ChannelsFirst],
        ],
        [&[warp, STACK, ScaledFloat], &[warp, STACK, APART, ScaledFloat]],
    ];
    for (p, pair) in pairs.iter().enumerate() {
        let pipelines = pair.map(|list| Pipeline::new(&env, list).unwrap());
        let mut batches = [&pipelines[0], &pipelines[1]].map(|env| Batch::new(env, 2, Autoreset::SameStep));
        let mut rng = Rng::seeded(8);
        batches.iter_mut().for_each(|b| b.reset(None, Some(1)).unwrap());
        for t in 0..20 {
            let action = [random_action(&mut rng), random_action(&mut rng)];
            batches.iter_mut().for_each(|b| b.step(&action).unwrap());
            let [a, b] = &batches;
            assert!(a.arrays == b.arrays, "pair {p} at step {t}");
        }
    }
}

#[test]
fn bounds_follow_the_values() {
    use Wrapper::*;
    let env = Game::film(7, 5, 3);
    let bounds = |list: &[Wrapper<'static>]| Pipeline::new(&env, list).unwrap().spec().obs.bounds(3);
    assert_eq!(bounds(&[ScaledFloat, STACK, ChannelsFirst]), (0.0, 1.0));
    assert_eq!(bounds(&[STACK, ChannelsFirst, ScaledFloat]), (0.0, 1.0));
    assert_eq!(bounds(&[ScaledFloat, Flatten]), (0.0, 1.0));
    assert_eq!(bounds(&[STACK]), (0.0, 255.0));
    assert_eq!(bounds(&[ScaledFloat, SUM]), (f32::NEG_INFINITY, f32::INFINITY));
    // Where elements move, bounds of single elements become bounds of all.
    let stacked = [STACK];
    let pipeline = Pipeline::new(&CartPole, &stacked).unwrap();
    let (spec, own) = (pipeline.spec(), CartPole.spec());
    let low = (0..4).map(|i| own.obs.bounds(i).0).fold(f32::INFINITY, f32::min);
    assert_eq!((spec.obs.len, spec.obs.low, spec.obs.fields[0].shape()), (16, &[low][..], &[16][..]));
    let dict = Game::dict(7, 5);
    let all = [Flatten];
    assert!(Pipeline::new(&dict, &all).unwrap().spec().obs.low.is_empty());
}

#[test]
fn misfits_are_named() {
    use Wrapper::*;
    let film = Game::film(7, 5, 3);
    let gray = Game::film(7, 5, 1);
    let dict = Game::dict(7, 5);
    let wide = Game { size: [1 << 20, 1 << 10, 2], fields: vec![], len: 1 << 31 };
    let cases: &[(&Game, &[Wrapper], &str)] = &[
        (&film, &[warp_to(8, 5, true, "")], "at most as large"),
        (&film, &[warp_to(7, 6, true, "")], "at most as large"),
        (&film, &[warp_to(0, 5, true, "")], "at least 1"),
        (&film, &[warp_to(4, 0, false, "")], "at least 1"),
        (&film, &[warp_to(4, 3, true, "screen")], "the name of one of their parts"),
        (&gray, &[warp_to(4, 3, true, "")], "3 channels"),
        (&film, &[ScaledFloat, warp_to(4, 3, true, "")], "of bytes"),
        (&film, &[Flatten, warp_to(4, 3, true, "")], "[height, width, channels]"),
        (&dict, &[warp_to(4, 3, true, "")], "there are several"),
        (&dict, &[warp_to(4, 3, true, "score")], "of bytes"),
        (&dict, &[warp_to(4, 3, true, "keys")], "[height, width, channels]"),
        (&film, &[AtariRescale], "[210, 160, 3]"),
        (&film, &[ScaledFloat, ScaledFloat], "of bytes"),
        (&dict, &[ScaledFloat], "one part"),
        (&film, &[FrameStack { count: 0 }], "from 1 to"),
        (&film, &[FrameStack { count: 17 }], "from 1 to"),
        (&dict, &[STACK], "one part"),
        (&wide, &[FrameStack { count: 2 }], "2^32"),
        (&dict, &[ChannelsFirst], "one part"),
        (&film, &[Flatten, ChannelsFirst], "[height, width, channels]"),
        (&film, &[Extract { field: "speed" }], "the name of one of their parts"),
        (&dict, &[Extract { field: "" }], "there are several"),
        (&dict, &[Record], "one part"),
        (&dict, &[SKIP], "one part"),
        (&film, &[Record, Record], "one part"),
        (&film, &[STACK, ChannelsFirst, ChannelsFirst], "a picture [height, width, channels]"),
        (&film, &[Record, Extract { field: "frame" }, Record], "fewer dimensions"),
        (&film, &[Observe { len: 0, observe: &Sum }], "at least 1"),
    ];
    for (i, (env, list, words)) in cases.iter().enumerate() {
        let e = Pipeline::new(*env, list).err().unwrap_or_else(|| panic!("case {i}: refused"));
        assert_eq!(e.kind, Kind::Config, "case {i}: {e}");
        assert!(e.to_string().contains(words), "case {i}: {e}");
    }
    // A refused wrapper leaves the pipeline as it was, including the environment's own limit.
    let mut pipeline = Pipeline::bare(&CartPole).unwrap();
    assert_eq!(pipeline.wrap(ScaledFloat).unwrap_err().kind, Kind::Config);
    assert_eq!(pipeline.spec(), Pipeline::bare(&CartPole).unwrap().spec());
    pipeline.wrap(STACK).unwrap();
    let before = pipeline.spec().state_size;
    assert_eq!(pipeline.wrap(ScaledFloat).unwrap_err().kind, Kind::Config);
    assert_eq!(pipeline.spec(), Pipeline::new(&CartPole, &[STACK]).unwrap().spec());
    assert_eq!(pipeline.spec().state_size, before);

    let large = [Observe { len: 1 << 31, observe: &Sum }, FrameStack { count: 1 }];
    assert_eq!(Pipeline::new(&film, &large).err().unwrap().kind, Kind::Overflow);
}

/// A callback that reports failure; no layer above hides it.
struct Fails;

impl Observe for Fails {
    fn observe(&self, _row: usize, _obs: Elements<'_>, _out: ElementsMut<'_>) -> Result {
        Err(rlcore::error::Error::new(Kind::Callback, "observe: an observation"))
    }
}

#[test]
fn a_failing_callback_is_reported() {
    let env = Game::film(2, 2, 1);
    let list = [Wrapper::Observe { len: 1, observe: &Fails }, STACK, Wrapper::Record];
    let pipeline = Pipeline::new(&env, &list).unwrap();
    let mut batch = Batch::new(&pipeline, 1, Autoreset::SameStep);
    assert_eq!(batch.reset(None, None).unwrap_err().kind, Kind::Callback);
}

#[test]
fn no_bytes_of_state_crash_a_wrapper() {
    use Wrapper::*;
    let (film, dict) = (Game::film(7, 5, 3), Game::dict(7, 5));
    let warp = warp_to(4, 3, true, "");
    let cases: &[(&Game, &[Wrapper])] = &[
        (&film, &[NOOPS, SKIP, FIRE, warp, STACK, LIFE, ChannelsFirst, Record]),
        (&film, &[SKIP, LIFE, APART, warp, ScaledFloat, STACK, APART, ChannelsFirst, Record]),
        (&dict, &[warp_to(3, 3, true, "screen"), Flatten, STACK]),
        (&dict, &[Extract { field: "speed" }, STACK, Record, Flatten]),
    ];
    let mut rng = Rng::seeded(2);
    for (env, list) in cases {
        let pipeline = Pipeline::new(*env, list).unwrap();
        let size = pipeline.spec().state_size as usize;
        for round in 0..300 {
            let mut batch = Batch::new(&pipeline, 2, MODES[round % 4]);
            batch.reset(None, Some(3)).unwrap();
            let mut envs = attach(&mut batch.block, &pipeline);
            let rows = envs.rows();
            // Overwrites whole words after the game's own bytes: mostly counts and indices.
            for row in rows.state.chunks_exact_mut(size) {
                for _ in 0..1 + round % 40 {
                    let at = 16 + 8 * rng.integers(0, (size as i64 - 16) / 8) as usize;
                    let word = [0, 1, 2, 5, u64::MAX, 1 << 63, 0x7ff8_0000_7fc0_0000, rng.next_u64()];
                    row[at..at + 8].copy_from_slice(&word[rng.integers(0, 8) as usize].to_ne_bytes());
                }
            }
            for _ in 0..6 {
                let action = [random_action(&mut rng), random_action(&mut rng)];
                if batch.step(&action).is_err() {
                    batch.reset(None, None).unwrap_or_default();
                }
            }
            // After a seeded reset, no damage is left to observe.
            let mut other = Batch::new(&pipeline, 2, batch.mode);
            batch.reset(None, Some(6)).unwrap();
            other.reset(None, Some(6)).unwrap();
            assert_eq!(batch.arrays.obs, other.arrays.obs);
            for _ in 0..6 {
                let mode = batch.mode;
                let action = [0, i32::from(mode == Autoreset::SameStep) * LOSE];
                batch.step(&action).unwrap();
                other.step(&action).unwrap();
                assert_eq!(batch.arrays.obs, other.arrays.obs);
            }
        }
    }
}

#[test]
fn a_copy_of_the_block_is_a_copy_of_everything() {
    let env = Game::film(9, 8, 3);
    let list = [NOOPS, SKIP, FIRE, warp_to(4, 3, true, ""), STACK, LIFE, Wrapper::ChannelsFirst, Wrapper::Record];
    let pipeline = Pipeline::new(&env, &list).unwrap();
    let mut batch = Batch::new(&pipeline, 2, Autoreset::SameStep);
    let mut rng = Rng::seeded(4);
    batch.reset(None, Some(1)).unwrap();
    for _ in 0..10 {
        batch.step(&[random_action(&mut rng), random_action(&mut rng)]).unwrap();
    }
    let mut copy = Batch::new(&pipeline, 2, Autoreset::SameStep);
    copy.block = batch.block.clone();
    for _ in 0..10 {
        let action = [random_action(&mut rng), random_action(&mut rng)];
        batch.step(&action).unwrap();
        copy.step(&action).unwrap();
        assert_eq!(batch.arrays.obs, copy.arrays.obs);
        assert_eq!(batch.block, copy.block);
    }
}
