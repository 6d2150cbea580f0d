//! Wrappers of episodes, actions and rewards: each against a slow twin written from its description, alone and in chains,
//! in every autoreset mode; then ranges, copies, bounds, damaged numbers and failing callbacks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use rlcore::env::wrap::{Atari, LifeOrder, Pipeline, Wrapper};
use rlcore::env::{Autoreset, Env, Level, NO_LIMIT, Pendulum, Spec, Step, VecEnv, VecEnvConfig, layout};
use rlcore::error::{Error, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

use super::host::{Arrays, MARK, MODES, act, attach, begin, block};

const ROWS: usize = 7;
const OBS: usize = 4;

// ---- A game with lives, scripted by its actions ----

const LOSE: i32 = 3;
const TERMINATE: i32 = 4;
const TRUNCATE: i32 = 5;
const BOTH: i32 = 6;
const CHOICES: [u32; 1] = [8];

#[derive(Default)]
struct Game {
    /// Games end after this many steps; 0: never.
    fragile: u32,
    /// An action that also ends the game.
    deadly: Option<i32>,
    /// The game ends in the step after the last life was lost.
    slow: bool,
    /// The game's own time limit.
    limit: u32,
    /// The step of a game that fails, or whose reward or observation is NaN.
    fails: Option<(u32, Failure)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Failure {
    Callback,
    Reward,
    Obs,
}

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Memory {
    games: u32,
    steps: u32,
    lives: u32,
    level: u32,
}

impl Game {
    fn obs(&self, m: &Memory) -> [f32; OBS] {
        [m.games as f32, m.steps as f32, m.lives as f32, m.level as f32]
    }

    fn begin(&self, m: &mut Memory, level: u32, rng: &mut Rng) -> [f32; OBS] {
        *m = Memory { games: m.games + 1, steps: 0, lives: 2 + rng.integers(0, 3) as u32, level };
        self.obs(m)
    }

    fn take(&self, m: &mut Memory, action: i32) -> Result<([f32; OBS], Step)> {
        m.steps += 1;
        let had = m.lives;
        m.lives -= u32::from(action == LOSE && m.lives > 0);
        m.lives += u32::from(action == 7);
        let mut obs = self.obs(m);
        let mut step = Step {
            reward: action as f32 * 0.5 - 1.0 + (m.steps % 3) as f32,
            terminated: (if self.slow { had } else { m.lives }) == 0
                || action == TERMINATE
                || action == BOTH
                || self.deadly == Some(action),
            truncated: action == TRUNCATE || action == BOTH,
        };
        step.terminated |= self.fragile != 0 && m.steps >= self.fragile;
        match self.fails {
            Some((at, Failure::Callback)) if at == m.steps => {
                return Err(Error::new(Kind::Callback, "game: one that runs"));
            }
            Some((at, Failure::Reward)) if at == m.steps => step.reward = f32::NAN,
            Some((at, Failure::Obs)) if at == m.steps => obs[1] = f32::NAN,
            _ => {}
        }
        Ok((obs, step))
    }
}

fn write(obs: ElementsMut<'_>, values: [f32; OBS]) -> Result {
    obs.f32()?.copy_from_slice(&values);
    Ok(())
}

impl Env for Game {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(OBS as u32), Space::discrete(&CHOICES));
        Spec { env_id: 9200, state_size: 16, max_episode_steps: self.limit, obs, action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        write(obs, self.begin(bytemuck::from_bytes_mut(state), 0, rng))
    }

    fn restart(&self, _: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let m: &mut Memory = bytemuck::from_bytes_mut(state);
        let level = if level == Level::Same { m.level } else { m.level + 1 };
        write(obs, self.begin(m, level, rng))
    }

    fn step(&self, _: usize, state: &mut [u8], _: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let (values, step) = self.take(bytemuck::from_bytes_mut(state), action.i32()?[0])?;
        write(obs, values)?;
        Ok(step)
    }

    fn lives(&self, _: usize, state: &[u8]) -> Result<u32> {
        Ok(bytemuck::from_bytes::<Memory>(state).lives)
    }
}

// ---- The twins: one object around another, as the original wrappers are ----

type Obs = [f32; OBS];

struct Shared<'g> {
    game: &'g Game,
    memory: Cell<Memory>,
    rng: RefCell<Rng>,
    level: Cell<Level>,
}

trait Gym {
    /// `first`: with a seed, which clears all memory.
    fn reset(&mut self, first: bool) -> Obs;
    /// Observation, reward, terminated, truncated.
    fn step(&mut self, action: i32) -> (Obs, f64, bool, bool);
}

struct Bare<'g>(Rc<Shared<'g>>);

impl Gym for Bare<'_> {
    fn reset(&mut self, first: bool) -> Obs {
        let mut m = self.0.memory.get();
        let level = match self.0.level.get() {
            _ if first => 0,
            Level::Same => m.level,
            Level::New => m.level + 1,
        };
        let obs = self.0.game.begin(&mut m, level, &mut self.0.rng.borrow_mut());
        self.0.memory.set(m);
        obs
    }

    fn step(&mut self, action: i32) -> (Obs, f64, bool, bool) {
        let mut m = self.0.memory.get();
        let (obs, step) = self.0.game.take(&mut m, action).unwrap();
        self.0.memory.set(m);
        (obs, step.reward.into(), step.terminated, step.truncated)
    }
}

struct Twin<'g> {
    env: Box<dyn Gym + 'g>,
    shared: Rc<Shared<'g>>,
    wrapper: Wrapper<'static>,
    elapsed: u32,
    lives: u32,
    was_real_done: bool,
    last_action: Option<i32>,
}

impl Twin<'_> {
    fn press(&mut self, action: i32, obs: &mut Obs) {
        let (seen, _, terminated, truncated) = self.env.step(action);
        *obs = if terminated || truncated { self.env.reset(false) } else { seen };
    }
}

impl Gym for Twin<'_> {
    fn reset(&mut self, first: bool) -> Obs {
        (self.elapsed, self.last_action) = (0, None);
        let mut obs = [0.0; OBS];
        match self.wrapper {
            Wrapper::NoopReset { max, exactly, noop } => {
                obs = self.env.reset(first);
                let drawn = || self.shared.rng.borrow_mut().integers(1, i64::from(max) + 1) as u32;
                let count = if exactly > 0 { exactly } else { drawn() };
                (0..count).for_each(|_| self.press(noop as i32, &mut obs));
            }
            Wrapper::FireReset { fire, second } => {
                obs = self.env.reset(first);
                self.press(fire as i32, &mut obs);
                self.press(second as i32, &mut obs);
            }
            Wrapper::EpisodicLife { noop } => {
                if first || self.was_real_done {
                    obs = self.env.reset(first);
                } else {
                    self.press(noop as i32, &mut obs);
                }
                self.was_real_done = false;
                self.lives = self.shared.memory.get().lives;
            }
            _ => obs = self.env.reset(first),
        }
        obs
    }

    fn step(&mut self, action: i32) -> (Obs, f64, bool, bool) {
        match self.wrapper {
            Wrapper::TimeLimit { steps } => {
                let (obs, reward, terminated, truncated) = self.env.step(action);
                self.elapsed += 1;
                (obs, reward, terminated, truncated || self.elapsed >= steps)
            }
            Wrapper::EpisodicLife { .. } => {
                let (obs, reward, mut terminated, truncated) = self.env.step(action);
                self.was_real_done = terminated || truncated;
                let lives = self.shared.memory.get().lives;
                if lives < self.lives && lives > 0 {
                    terminated = true;
                }
                self.lives = lives;
                (obs, reward, terminated, truncated)
            }
            Wrapper::MaxAndSkip { count } | Wrapper::ActionRepeat { count } => {
                let (mut frames, mut total) = (Vec::new(), 0.0);
                let (mut terminated, mut truncated) = (false, false);
                for _ in 0..count {
                    let reward;
                    let obs;
                    (obs, reward, terminated, truncated) = self.env.step(action);
                    frames.push(obs);
                    total += f64::from(reward as f32);
                    if terminated || truncated {
                        break;
                    }
                }
                let last = *frames.last().unwrap();
                let before = frames.len().checked_sub(2).map_or(last, |i| frames[i]);
                let max = matches!(self.wrapper, Wrapper::MaxAndSkip { .. });
                let obs = std::array::from_fn(|i| if max { last[i].max(before[i]) } else { last[i] });
                (obs, total, terminated, truncated)
            }
            Wrapper::StickyActions { probability } => {
                let mut taken = action;
                if let Some(last) = self.last_action
                    && self.shared.rng.borrow_mut().uniform() < f64::from(probability)
                {
                    taken = last;
                }
                self.last_action = Some(taken);
                self.env.step(taken)
            }
            Wrapper::ClipReward => {
                let (obs, reward, terminated, truncated) = self.env.step(action);
                (obs, if reward == 0.0 { 0.0 } else { reward.signum() }, terminated, truncated)
            }
            Wrapper::ScaleReward { factor } => {
                let (obs, reward, terminated, truncated) = self.env.step(action);
                (obs, f64::from(reward as f32 * factor), terminated, truncated)
            }
            _ => self.env.step(action),
        }
    }
}

fn twin<'g>(game: &'g Game, list: &[Wrapper<'static>], seed: u64) -> (Box<dyn Gym + 'g>, Rc<Shared<'g>>) {
    let (memory, rng, level) = (Cell::default(), RefCell::new(Rng::seeded(seed)), Cell::new(Level::New));
    let shared = Rc::new(Shared { game, memory, rng, level });
    let mut env: Box<dyn Gym + 'g> = Box::new(Bare(shared.clone()));
    let limit = Some(Wrapper::TimeLimit { steps: game.limit }).filter(|_| game.limit != 0);
    for wrapper in limit.into_iter().chain(list.iter().copied()) {
        let shared = shared.clone();
        env = Box::new(Twin { env, shared, wrapper, elapsed: 0, lives: 0, was_real_done: true, last_action: None });
    }
    (env, shared)
}

// ---- Both side by side ----

fn random_action(rng: &mut Rng) -> i32 {
    const OFTEN: [i32; 16] = [0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 6, 7, 0, 1];
    OFTEN[rng.integers(0, 16) as usize]
}

/// Steps wrapped games and their twins side by side, and compares all that they give.
fn compare(game: &Game, list: &[Wrapper<'static>], what: &str) {
    let env = Pipeline::new(game, list).unwrap();
    for (mode, seed) in MODES.into_iter().flat_map(|mode| [(mode, 3u64), (mode, 71)]) {
        let config = VecEnvConfig { num_envs: ROWS as u32, seed: 0, autoreset: mode, max_episode_steps: 0 };
        let mut bytes = block(&env, &config);
        let (mut envs, mut batch) = (attach(&mut bytes, &env), Arrays::new(ROWS, OBS));
        let mut twins: Vec<_> = (0..ROWS).map(|i| twin(game, list, seed + i as u64)).collect();
        let (mut ended, mut ends, mut cuts) = ([None; ROWS], 0, 0);
        envs.reset(Some(seed), batch.first()).unwrap();
        for (i, (twin, _)) in twins.iter_mut().enumerate() {
            assert_eq!(batch.row(i).0, twin.reset(true), "{what}: first observation, row {i}");
        }
        let mut rng = Rng::seeded(seed ^ 99);
        for t in 0..120 {
            let level = if rng.coin() { Level::Same } else { Level::New };
            let action: [i32; ROWS] = std::array::from_fn(|_| random_action(&mut rng));
            for i in (0..ROWS).filter(|&i| mode == Autoreset::Disabled && ended[i].is_some()) {
                envs.reset_one(i, None, batch.first()).unwrap();
                twins[i].1.level.set(Level::New);
                assert_eq!(batch.row(i).0, twins[i].0.reset(false), "{what}: reset, row {i}");
            }
            batch.final_obs.fill(MARK);
            envs.step_env(level, Elements::I32(&action), batch.out()).unwrap();
            for (i, twin) in twins.iter_mut().enumerate() {
                let name = format!("{what}: {mode:?}, seed {seed}, step {t}, row {i}");
                check_row(batch.row(i), twin, mode, &mut ended[i], (action[i], level), &name);
                ends += u32::from(batch.terminated[i]);
                cuts += u32::from(batch.truncated[i]);
                if batch.ended(i) {
                    assert_eq!(envs.lives(i).unwrap(), twin.1.memory.get().lives, "{name}: lives");
                }
            }
        }
        assert!(ends > 2 && (cuts > 1 || game.fragile == 1), "{what}: {ends} ends, {cuts} cuts");
    }
}

/// Compares the step of a row with its twin's. The level of the step in which an episode ended is kept until the next one starts.
fn check_row(
    (obs, reward, terminated, truncated, last, valid): (&[f32], f32, u8, u8, &[f32], u8),
    (twin, shared): &mut (Box<dyn Gym + '_>, Rc<Shared<'_>>),
    mode: Autoreset,
    ended: &mut Option<Level>,
    (action, level): (i32, Level),
    name: &str,
) {
    let ended_in = ended.take();
    shared.level.set(ended_in.unwrap_or(level));
    if ended_in.is_some() && mode == Autoreset::NextStep {
        assert_eq!(obs, twin.reset(false), "{name}: obs");
        assert_eq!((reward, terminated, truncated, valid), (0.0, 0, 0, 0), "{name}: a row only reset");
        return;
    }
    if ended_in.is_some() && mode == Autoreset::Legacy {
        twin.reset(false);
    }
    shared.level.set(level);
    let (seen, earned, terminates, truncates) = twin.step(action);
    assert_eq!(reward, earned as f32, "{name}: reward");
    assert_eq!((terminated, truncated), (terminates.into(), truncates.into()), "{name}: terminated, truncated");
    assert_eq!(valid, 1, "{name}: valid");
    if !(terminates || truncates) {
        assert_eq!(last, [MARK; OBS], "{name}: final_obs of a row that goes on");
        assert_eq!(obs, seen, "{name}: obs");
        return;
    }
    assert_eq!(last, seen, "{name}: final_obs");
    if mode == Autoreset::SameStep {
        assert_eq!(obs, twin.reset(false), "{name}: obs after the reset");
    } else {
        assert_eq!(obs, seen, "{name}: obs of the end");
        *ended = Some(level);
    }
}

fn games() -> Vec<(&'static str, Game)> {
    vec![
        ("a game", Game::default()),
        ("one that ends soon", Game { fragile: 4, ..Game::default() }),
        ("one that ends at once", Game { fragile: 1, ..Game::default() }),
        ("one that ends under a no-op", Game { deadly: Some(0), ..Game::default() }),
        ("one that ends under fire", Game { deadly: Some(1), ..Game::default() }),
        ("one that ends under the second action", Game { deadly: Some(2), ..Game::default() }),
        ("one that outlives its last life", Game { slow: true, ..Game::default() }),
        ("one with a limit of its own", Game { limit: 7, ..Game::default() }),
    ]
}

const NOOPS: Wrapper<'static> = Wrapper::NoopReset { max: 5, exactly: 0, noop: 0 };
const FIRE: Wrapper<'static> = Wrapper::FireReset { fire: 1, second: 2 };
const LIFE: Wrapper<'static> = Wrapper::EpisodicLife { noop: 0 };
const SKIP: Wrapper<'static> = Wrapper::MaxAndSkip { count: 4 };
const STICKY: Wrapper<'static> = Wrapper::StickyActions { probability: 0.25 };
const LIMIT: Wrapper<'static> = Wrapper::TimeLimit { steps: 5 };

#[test]
fn each_wrapper_does_what_its_twin_does() {
    let alone: [(&str, Wrapper<'static>); 19] = [
        ("time limit", LIMIT),
        ("time limit of 1", Wrapper::TimeLimit { steps: 1 }),
        ("no-ops", NOOPS),
        ("1 no-op", Wrapper::NoopReset { max: 1, exactly: 0, noop: 0 }),
        ("exactly 6 no-ops", Wrapper::NoopReset { max: 1, exactly: 6, noop: 0 }),
        ("losing no-ops", Wrapper::NoopReset { max: 3, exactly: 0, noop: LOSE as u32 }),
        ("fire", FIRE),
        ("fire and lose", Wrapper::FireReset { fire: LOSE as u32, second: TRUNCATE as u32 }),
        ("life", LIFE),
        ("life that begins with a loss", Wrapper::EpisodicLife { noop: LOSE as u32 }),
        ("skip", SKIP),
        ("skip of 1", Wrapper::MaxAndSkip { count: 1 }),
        ("skip of 2", Wrapper::MaxAndSkip { count: 2 }),
        ("skip of 3", Wrapper::MaxAndSkip { count: 3 }),
        ("repeat", Wrapper::ActionRepeat { count: 3 }),
        ("sticky", STICKY),
        ("mostly sticky", Wrapper::StickyActions { probability: 0.75 }),
        ("sign", Wrapper::ClipReward),
        ("scale", Wrapper::ScaleReward { factor: -0.3 }),
    ];
    for (about, game) in games() {
        compare(&game, &[], about);
        for (name, wrapper) in alone {
            compare(&game, &[wrapper], &format!("{name} around {about}"));
        }
    }
}

#[test]
fn chains_do_what_their_twins_do() {
    let chains: [(&str, &[Wrapper<'static>]); 9] = [
        ("a limit within a skip", &[LIMIT, SKIP]),
        ("a limit around a skip", &[SKIP, LIMIT]),
        ("two limits", &[Wrapper::TimeLimit { steps: 6 }, SKIP, Wrapper::TimeLimit { steps: 2 }]),
        ("seed order", &[NOOPS, SKIP, FIRE, Wrapper::ClipReward, LIFE]),
        ("classic order", &[NOOPS, SKIP, LIFE, FIRE, Wrapper::ClipReward]),
        ("no-ops around lives", &[LIFE, NOOPS]),
        ("sticky below a skip", &[STICKY, Wrapper::MaxAndSkip { count: 2 }, LIFE]),
        ("sticky above a skip", &[Wrapper::MaxAndSkip { count: 2 }, STICKY, NOOPS]),
        ("skips in skips", &[Wrapper::ActionRepeat { count: 2 }, Wrapper::MaxAndSkip { count: 3 }, LIFE, LIFE]),
    ];
    for (about, game) in games() {
        for (name, list) in chains {
            compare(&game, list, &format!("{name} around {about}"));
        }
    }
}

#[test]
fn ranges_and_copies_give_the_same_bytes() {
    let game = Game { limit: 9, ..Game::default() };
    let env = Pipeline::new(&game, &[NOOPS, STICKY, SKIP, LIFE, FIRE, LIMIT]).unwrap();
    for mode in MODES.into_iter().filter(|&mode| mode != Autoreset::Disabled) {
        let config = VecEnvConfig { num_envs: ROWS as u32, seed: 5, autoreset: mode, max_episode_steps: 0 };
        let mut blocks = Vec::new();
        for ranges in [1, 2, 3, 7] {
            let (mut bytes, mut batch) = begin(&env, &config);
            let mut envs = attach(&mut bytes, &env);
            let (mut trace, mut rng) = (Vec::new(), Rng::seeded(1));
            for t in 0..60 {
                let action: [i32; ROWS] = std::array::from_fn(|_| random_action(&mut rng));
                for k in 0..ranges {
                    let (begin, end) = (k * ROWS / ranges, (k + 1) * ROWS / ranges);
                    envs.step_range(begin, end, Elements::I32(&action), batch.out()).unwrap();
                }
                trace.push(batch.clone());
                if t == 30 {
                    // All state is in the block: a copy of its bytes continues alike.
                    let mut copy = bytes.clone();
                    std::mem::swap(&mut bytes, &mut copy);
                    copy.fill(u64::MAX);
                    envs = attach(&mut bytes, &env);
                }
            }
            blocks.push((bytes, trace));
        }
        assert!(blocks.iter().all(|b| *b == blocks[0]), "{mode:?}");
    }
}

/// The lengths of the first two episodes of one row, up to 300 steps.
fn lengths(env: &dyn Env, config: &VecEnvConfig) -> Vec<u32> {
    let (mut block, mut a) = begin(env, config);
    let mut envs = attach(&mut block, env);
    let (mut lengths, mut steps) = (vec![], 0);
    for _ in 0..300 {
        envs.step(act(env, &[0], &[0.5]), a.out()).unwrap();
        steps += u32::from(a.valid[0]);
        if a.ended(0) {
            lengths.push(std::mem::take(&mut steps));
            if config.autoreset == Autoreset::Disabled {
                envs.reset(None, a.first()).unwrap();
            }
        }
    }
    lengths.truncate(2);
    lengths
}

#[test]
fn a_limit_of_the_batch_means_the_same_with_and_without_wrappers() {
    let stack = Wrapper::FrameStack { count: 4 };
    let (once, twice) = (Wrapper::TimeLimit { steps: 90 }, Wrapper::ActionRepeat { count: 2 });
    let wrapped = Pipeline::new(&Pendulum, &[stack]).unwrap();
    let within = Pipeline::new(&wrapped, &[Wrapper::ClipReward]).unwrap();
    let limited = Pipeline::new(&Pendulum, &[once, stack]).unwrap();
    let game = Game { limit: 60, ..Game::default() };
    let repeated = Pipeline::new(&game, &[twice]).unwrap();
    let cut = |steps: u32| {
        if steps <= 150 {
            vec![steps; 2]
        } else if steps <= 300 {
            vec![steps]
        } else {
            vec![]
        }
    };
    for autoreset in MODES {
        for max_episode_steps in [0, 1, 50, 120, 200, 250, NO_LIMIT] {
            let config = VecEnvConfig { autoreset, max_episode_steps, ..VecEnvConfig::default() };
            let what = format!("{autoreset:?}, {max_episode_steps}");
            let or = |own: u32| if max_episode_steps == 0 { own } else { max_episode_steps };
            for env in [&Pendulum as &dyn Env, &wrapped, &within] {
                assert_eq!(lengths(env, &config), cut(or(200)), "{what}");
            }
            assert_eq!(lengths(&limited, &config), cut(or(200).min(90)), "{what}: a limit in the list counts too");
            assert_eq!(lengths(&game, &config), cut(or(60)), "{what}");
            // The game's own limit counts game steps, the batch's limit batch steps.
            assert_eq!(lengths(&repeated, &config), cut(or(30)), "{what}: each action is taken twice");
        }
    }
}

#[test]
fn a_block_belongs_to_its_list() {
    let game = Game::default();
    let config = VecEnvConfig::default();
    let list = [NOOPS, SKIP, LIFE];
    let env = Pipeline::new(&game, &list).unwrap();
    let mut bytes = block(&env, &config);
    let others: [(&Game, &[Wrapper<'static>]); 7] = [
        (&game, &[]),
        (&game, &[NOOPS, SKIP]),
        (&game, &[SKIP, NOOPS, LIFE]),
        (&game, &[NOOPS, SKIP, LIFE, Wrapper::ClipReward]),
        (&game, &[NOOPS, Wrapper::MaxAndSkip { count: 3 }, LIFE]),
        (&game, &[NOOPS, SKIP, Wrapper::EpisodicLife { noop: 1 }]),
        (&game, &[Wrapper::NoopReset { max: 5, exactly: 1, noop: 0 }, SKIP, LIFE]),
    ];
    for (k, (game, list)) in others.into_iter().enumerate() {
        let other = Pipeline::new(game, list).unwrap();
        let refused = VecEnv::attach(bytemuck::cast_slice_mut(&mut bytes), &other).map(drop).unwrap_err();
        assert_eq!(refused.kind, Kind::Config, "{k}");
        assert!(refused.what.contains("the wrappers differ"), "{k}: {refused}");
    }
    attach(&mut bytes, &env);
}

/// A block also belongs to the environment's own limit, with wrappers and without, whether it applies or the batch has another.
#[test]
fn a_block_belongs_to_its_limit() {
    for list in [&[][..], &[NOOPS, SKIP]] {
        for max_episode_steps in [0, 5] {
            let config = VecEnvConfig { max_episode_steps, ..VecEnvConfig::default() };
            let [short, long] = [9, 10].map(|limit| Game { limit, ..Game::default() });
            let [short, long] = [&short, &long].map(|game| Pipeline::new(game, list).unwrap());
            let mut bytes = block(&short, &config);
            attach(&mut bytes, &short);
            let refused = VecEnv::attach(bytemuck::cast_slice_mut(&mut bytes), &long).map(drop).unwrap_err();
            let text = "vecenv: an environment with the max_episode_steps that the block was made with, 9, given 10";
            assert_eq!((refused.kind, refused.to_string()), (Kind::Config, text.to_string()));
        }
    }
}

#[test]
fn sticky_actions_repeat_when_gymnasium_repeats() {
    // gymnasium 1.4.0: StickyAction(env, 0.25), reset(seed), 16 steps with actions 0, 1, 2, ...; reset(), 8 more.
    struct Echo;
    impl Env for Echo {
        fn spec(&self) -> Spec<'_> {
            let (obs, action) = (Space::unbounded(1), Space::discrete(&[1000]));
            Spec { env_id: 9201, state_size: 0, max_episode_steps: 0, obs, action, wrappers: 0 }
        }
        fn reset(&self, _: usize, _: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
            obs.f32()?.fill(-1.0);
            Ok(())
        }
        fn step(&self, _: usize, _: &mut [u8], _: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
            obs.f32()?.fill(action.i32()?[0] as f32);
            Ok(Step::default())
        }
    }
    let vectors: [(u64, [i32; 16], [i32; 8]); 2] = [
        (0, [0, 1, 2, 2, 2, 5, 6, 7, 8, 9, 10, 11, 11, 13, 13, 15], [0, 0, 2, 3, 4, 5, 5, 5]),
        (42, [0, 1, 2, 3, 4, 4, 6, 7, 8, 8, 10, 11, 12, 13, 14, 15], [0, 0, 2, 2, 4, 5, 6, 7]),
    ];
    let env = Pipeline::new(&Echo, &[STICKY]).unwrap();
    for (seed, first, second) in vectors {
        let (mut rng, mut obs) = (Rng::seeded(seed), [0.0]);
        let mut words = [0u64; 8];
        let state = &mut bytemuck::cast_slice_mut(&mut words)[..env.spec().state_size as usize];
        env.reset(0, state, &mut rng, ElementsMut::F32(&mut obs)).unwrap();
        for (t, want) in (0..).zip(first) {
            env.step(0, state, &mut rng, Elements::I32(&[t]), ElementsMut::F32(&mut obs)).unwrap();
            assert_eq!(obs[0] as i32, want, "seed {seed}, step {t}");
        }
        env.restart(0, Level::New, state, &mut rng, ElementsMut::F32(&mut obs)).unwrap();
        for (t, want) in (0..).zip(second) {
            env.step(0, state, &mut rng, Elements::I32(&[t]), ElementsMut::F32(&mut obs)).unwrap();
            assert_eq!(obs[0] as i32, want, "seed {seed}, step {t} of the second episode");
        }
    }
}

/// Observes the two forces of its action.
struct Cart;

impl Env for Cart {
    fn spec(&self) -> Spec<'_> {
        let action = Space::between(&[-2.0, 10.0], &[2.0, 30.0]);
        Spec { env_id: 9202, state_size: 0, max_episode_steps: 0, obs: Space::unbounded(2), action, wrappers: 0 }
    }
    fn reset(&self, _: usize, _: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        obs.f32()?.fill(0.0);
        Ok(())
    }
    fn step(&self, _: usize, _: &mut [u8], _: &mut Rng, action: Elements, mut obs: ElementsMut) -> Result<Step> {
        obs.copy_from(action)?;
        Ok(Step::default())
    }
}

fn forces(list: &[Wrapper<'static>], action: [f32; 2]) -> [f32; 2] {
    let env = Pipeline::new(&Cart, list).unwrap();
    let (mut rng, mut obs, mut words) = (Rng::seeded(0), [0.0; 2], [0u64; 16]);
    let state = &mut bytemuck::cast_slice_mut(&mut words)[..env.spec().state_size as usize];
    env.reset(0, state, &mut rng, ElementsMut::F32(&mut obs)).unwrap();
    env.step(0, state, &mut rng, Elements::F32(&action), ElementsMut::F32(&mut obs)).unwrap();
    obs
}

#[test]
fn actions_are_rescaled_and_clipped_as_gymnasium_does() {
    // gymnasium 1.4.0: RescaleAction(env, -1, 1) and ClipAction(env) over Box([-2, 10], [2, 30]).
    const RESCALE: Wrapper<'static> = Wrapper::RescaleAction { low: -1.0, high: 1.0 };
    for (action, want) in [
        ([0.0, 0.0], [0.0, 20.0]),
        ([1.0, -1.0], [2.0, 10.0]),
        ([-0.5, 0.25], [-1.0, 22.5]),
        ([0.1, 0.9], [0.2, 29.0]),
        ([3.0, -3.0], [2.0, 10.0]), // outside: clipped
    ] {
        let got = forces(&[RESCALE], action);
        assert!((got[0] - want[0]).abs() < 1e-6 && (got[1] - want[1]).abs() < 1e-5, "{action:?}: {got:?}");
    }
    for (action, want) in [([0.0, 0.0], [0.0, 10.0]), ([100.0, -1.0], [2.0, 10.0]), ([-3.0, 25.5], [-2.0, 25.5])] {
        assert_eq!(forces(&[Wrapper::ClipAction], action), want);
    }
    // Each wrapper sees the bounds of the one inside it.
    assert_eq!(forces(&[RESCALE, Wrapper::ClipAction], [7.0, -7.0]), [2.0, 10.0]);
    assert_eq!(forces(&[RESCALE, Wrapper::RescaleAction { low: 0.0, high: 10.0 }], [5.0, 10.0]), [0.0, 30.0]);
    let bounds = |list: &[Wrapper<'static>]| Pipeline::new(&Cart, list).unwrap().spec().action.bounds(1);
    assert_eq!(bounds(&[]), (10.0, 30.0));
    assert_eq!(bounds(&[RESCALE]), (-1.0, 1.0));
    assert_eq!(bounds(&[RESCALE, Wrapper::ClipAction]), (f32::NEG_INFINITY, f32::INFINITY));
    let refused = Pipeline::new(&Cart, &[Wrapper::ClipAction, RESCALE]).map(drop).unwrap_err();
    assert_eq!(refused.to_string(), "action rescaling: continuous actions with bounds a finite way apart, given 1");
    assert!(Pipeline::new(&Pendulum, &[RESCALE]).is_ok());
}

#[test]
fn what_is_no_number_is_refused_and_failures_name_their_row() {
    let skip = [Wrapper::MaxAndSkip { count: 4 }, Wrapper::ClipReward];
    let cases: [(Failure, u32, &[Wrapper<'static>], Option<Kind>); 8] = [
        (Failure::Reward, 2, &[Wrapper::ClipReward], Some(Kind::Value)),
        (Failure::Reward, 2, &[Wrapper::ScaleReward { factor: 0.0 }], Some(Kind::Value)),
        (Failure::Reward, 6, &skip, Some(Kind::Value)),
        (Failure::Obs, 7, &skip, Some(Kind::Value)), // the last but one of the frames that are read
        (Failure::Obs, 8, &skip, Some(Kind::Value)),
        (Failure::Obs, 6, &skip, None), // a frame that is skipped
        (Failure::Callback, 6, &skip, Some(Kind::Callback)),
        (Failure::Callback, 6, &[SKIP, LIFE, FIRE, STICKY], Some(Kind::Callback)),
    ];
    for (k, (failure, at, list, kind)) in cases.into_iter().enumerate() {
        let game = Game { fails: Some((at, failure)), ..Game::default() };
        let env = Pipeline::new(&game, list).unwrap();
        let config = VecEnvConfig { num_envs: ROWS as u32, ..VecEnvConfig::default() };
        let mut bytes = block(&env, &config);
        let (mut envs, mut batch) = (attach(&mut bytes, &env), Arrays::new(ROWS, OBS));
        let action = [0; ROWS];
        let mut result = envs.reset(Some(1), batch.first());
        for _ in 0..2 {
            result = result.and_then(|()| envs.step(Elements::I32(&action), batch.out()));
        }
        assert_eq!(result.map_err(|e| e.kind).err(), kind, "case {k}");
        if kind.is_some() {
            let error = result.unwrap_err();
            assert_eq!(error.given, rlcore::error::Given::Int(0), "case {k}: {error}");
            assert_eq!(envs.step(Elements::I32(&action), batch.out()).unwrap_err().kind, Kind::NotReady, "case {k}");
        }
    }
}

#[test]
fn presets_are_the_known_lists() {
    let kinds = |atari: Atari| {
        let list = atari.list();
        let name = |w: &Wrapper<'_>| match *w {
            Wrapper::NoopReset { max: 30, exactly: 0, noop: 0 } => "noops",
            Wrapper::MaxAndSkip { count: 4 } => "skip",
            Wrapper::EpisodicLife { noop: 0 } => "life",
            Wrapper::FireReset { fire: 1, second: 2 } => "fire",
            Wrapper::WarpFrame { height: 84, width: 84, gray: true, field: "" } => "warp",
            Wrapper::AtariRescale => "rescale",
            Wrapper::ScaledFloat => "scale",
            Wrapper::ClipReward => "sign",
            Wrapper::FrameStack { count: 4 } => "stack",
            Wrapper::ChannelsFirst => "planes",
            Wrapper::Record => "record",
            _ => "?",
        };
        list.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(kinds(Atari::BASE), "noops skip");
    assert_eq!(kinds(Atari::default()), "noops skip fire warp sign life");
    assert_eq!(kinds(Atari::spawner()), "noops skip fire warp stack life planes record");
    assert_eq!(kinds(Atari::SMALL), "rescale");
    let all = Atari { scale: true, clip_reward: true, ..Atari::spawner() };
    assert_eq!(kinds(all), "noops skip fire warp scale sign stack life planes record");
    let classic = Atari { life_order: LifeOrder::Classic, ..all };
    assert_eq!(kinds(classic), "noops skip life fire warp scale sign stack planes record");
    assert_eq!(
        kinds(Atari { fire_reset: false, episodic_life: false, ..classic }),
        "noops skip warp scale sign stack planes record"
    );
}

#[test]
fn observations_come_apart_and_together() {
    let fields = [Field::new("a", Element::U8, &[3], 0), Field::new("b", Element::F32, &[2], 4)];
    let space = Space::bytes(13).with_fields(&fields);
    let rows: Vec<u8> = (0..3 * 13).collect();
    let whole = [layout::whole(&space)];
    assert_eq!(layout::fields(&space, &whole).len(), 2);
    assert_eq!(layout::fields(&Space::unbounded(5), &[layout::whole(&Space::unbounded(5))])[0].shape(), [5]);
    let mut again = vec![0xff; rows.len()];
    for field in &fields {
        let size = field.size().unwrap();
        let mut part = vec![0; 3 * size];
        layout::split(field, 13, &rows, &mut part).unwrap();
        for (n, part) in part.chunks_exact(size).enumerate() {
            assert_eq!(part, &rows[n * 13 + field.offset as usize..][..size]);
        }
        layout::join(field, 13, &part, &mut again).unwrap();
        assert_eq!(layout::split(field, 13, &rows, &mut part[1..]).unwrap_err().kind, Kind::Shape);
        assert_eq!(layout::split(field, 12, &rows, &mut part).unwrap_err().kind, Kind::Shape);
        assert_eq!(layout::join(field, 13, &part, &mut again[1..]).unwrap_err().kind, Kind::Shape);
        assert_eq!(layout::join(field, 2, &part, &mut again).unwrap_err().kind, Kind::Shape);
    }
    for (i, (a, b)) in again.iter().zip(&rows).enumerate() {
        assert_eq!(*a, if [3, 12].contains(&(i % 13)) { 0xff } else { *b }, "byte {i}");
    }
}
