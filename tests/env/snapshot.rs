//! Rows as bytes: they go on alike anywhere, and all others are refused.

use rlcore::env::wrap::{Observe, Pipeline, Wrapper};
use rlcore::env::{
    Acrobot, Autoreset, BUILTINS, CartPole, Env, NO_LIMIT, Pendulum, Setup, Spec, Step, VecEnv, VecEnvConfig, row_size,
};
use rlcore::error::{Error, Given, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

use super::host::{Arrays, MODES, act, attach, begin, block, bytes, config};

/// Observes two numbers that depend on all of the observation below.
struct Sums;

impl Observe for Sums {
    fn observe(&self, _: usize, obs: Elements<'_>, out: ElementsMut<'_>) -> Result {
        let seen = obs.bytes().iter().enumerate();
        let sum = seen.map(|(i, &byte)| (i % 7 + 1) as f32 * f32::from(byte)).sum();
        out.f32()?.copy_from_slice(&[sum, obs.len() as f32]);
        Ok(())
    }
}

/// Lists of wrappers; each fits some of the built-in environments.
fn lists() -> [&'static [Wrapper<'static>]; 14] {
    use Wrapper::*;
    const LIFE: Wrapper<'static> = EpisodicLife { noop: 0 };
    const STACK: Wrapper<'static> = FrameStack { count: 3 };
    [
        &[],
        &[TimeLimit { steps: 7 }],
        &[StickyActions { probability: 0.4 }, ScaleReward { factor: 0.5 }],
        &[ActionRepeat { count: 2 }, ClipReward],
        &[NoopReset { max: 4, exactly: 0, noop: 0 }, MaxAndSkip { count: 3 }, LIFE, FireReset { fire: 1, second: 0 }],
        &[STACK],
        &[STACK, ChannelsFirst, ScaledFloat],
        &[LIFE, STACK, Record],
        &[TimeLimit { steps: 5 }, Record],
        &[RescaleAction { low: -3.0, high: 3.0 }, ClipAction, MaxAndSkip { count: 2 }],
        &[WarpFrame { height: 5, width: 4, gray: false, field: "" }, STACK, Flatten],
        &[Flatten, STACK, Record],
        &[Observe { len: 2, observe: &Sums }, STACK],
        &[Record, Extract { field: "episode_return" }],
    ]
}

/// One batch with its arrays, in words of 4 bytes.
struct Host<'a> {
    env: &'a dyn Env,
    mode: Autoreset,
    mem: Vec<u64>,
    out: Arrays<u32>,
}

/// An action, as choices and as numbers.
type Action = (Vec<i32>, Vec<f32>);

/// The result of a row's step: observation, final observation, reward and flags.
type Told = (Vec<u8>, Vec<u8>, u32, [u8; 3]);

impl<'a> Host<'a> {
    fn new(env: &'a dyn Env, config: &VecEnvConfig) -> Self {
        let (spec, n) = (env.spec(), config.num_envs as usize);
        let out = Arrays::of(spec.obs.kind, n, spec.obs.len as usize, 0u32);
        Host { env, mode: config.autoreset, mem: block(env, config), out }
    }

    fn reset(&mut self, seed: u64) {
        attach(&mut self.mem, self.env).reset(Some(seed), self.out.first()).unwrap();
    }

    /// Steps all rows; row `i`, if given, with this action, and the others with random ones.
    fn step(&mut self, rng: &mut Rng, chosen: Option<(usize, &Action)>) {
        let spec = self.env.spec();
        let (n, len) = (self.out.reward.len(), spec.action.len as usize);
        let (mut choices, mut numbers) = (Vec::new(), Vec::new());
        for i in 0..n {
            let (a, b) = match chosen {
                Some((row, action)) if row == i => action.clone(),
                _ => random(self.env, rng),
            };
            choices.extend_from_slice(&a[..len]);
            numbers.extend_from_slice(&b[..len]);
        }
        let mut envs = VecEnv::attach(bytes(&mut self.mem), self.env).unwrap();
        envs.step(act(self.env, &choices, &numbers), self.out.out()).unwrap();
        for i in self.out.to_reset(self.mode) {
            envs.reset_one(i, None, self.out.first()).unwrap();
        }
    }

    fn read(&mut self, i: usize) -> Vec<u64> {
        let mut row = vec![0xa5a5; row_size(self.env).unwrap() / 8];
        let envs = VecEnv::attach(bytes(&mut self.mem), self.env).unwrap();
        envs.read_row(i, self.out.first().as_ref(), &mut row).unwrap();
        row
    }

    fn write(&mut self, i: usize, row: &[u64]) -> Result {
        VecEnv::attach(bytes(&mut self.mem), self.env)?.write_row(i, row, self.out.first())
    }

    fn told(&self, i: usize) -> Told {
        let spec = self.env.spec();
        let size = spec.obs.len as usize * spec.obs.kind.size();
        let part = |x: &[u32]| bytemuck::cast_slice::<_, u8>(x)[i * size..][..size].to_vec();
        let last = if self.out.ended(i) { part(&self.out.final_obs) } else { Vec::new() };
        let flags = [self.out.terminated[i], self.out.truncated[i], self.out.valid[i]];
        (part(&self.out.obs), last, self.out.reward[i].to_bits(), flags)
    }
}

fn random(env: &dyn Env, rng: &mut Rng) -> Action {
    let space = env.spec().action;
    let n = |k: usize| space.n.get(k).map_or(1, |&n| i64::from(n));
    let choices = (0..space.len as usize).map(|k| rng.integers(0, n(k)) as i32).collect();
    (choices, (0..space.len).map(|_| rng.uniform_in(-2.0, 2.0) as f32).collect())
}

#[test]
fn a_row_goes_on_alike_in_another_batch() {
    let (mut fits, mut ends) = ([0; 14], 0);
    for (name, own) in BUILTINS {
        for (k, list) in lists().into_iter().enumerate() {
            let Ok(wrapped) = Pipeline::new(own, list) else { continue };
            let env: &dyn Env = if list.is_empty() { own } else { &wrapped };
            fits[k] += 1;
            for (m, mode) in MODES.into_iter().enumerate() {
                let mut rng = Rng::stream(u64::from(env.spec().env_id), (k * MODES.len() + m) as u64);
                let (mut from, mut to) =
                    (Host::new(env, &config(9, mode)), Host::new(env, &VecEnvConfig { seed: 91, ..config(20, mode) }));
                let (i, j) = (rng.integers(0, 9) as usize, rng.integers(0, 20) as usize);
                from.reset(rng.next_u64());
                // Rows that were never reset can be written, too.
                let fresh = rng.coin();
                if !fresh {
                    to.reset(rng.next_u64());
                }
                for t in 0..rng.integers(0, 30) {
                    from.step(&mut rng, None);
                    if t % 2 == 0 && !fresh {
                        to.step(&mut rng, None);
                    }
                }
                let row = from.read(i);
                // As in another process: a copy of the block alone, and of the bytes.
                to.mem = to.mem.clone();
                to.write(j, &row.clone()).unwrap();
                if fresh {
                    (0..20).filter(|&other| other != j).for_each(|other| to.write(other, &row).unwrap());
                }
                let what = format!("{name}, list {k}, {mode:?}");
                assert_eq!(to.told(j).0, from.told(i).0, "{what}: observation");
                for t in 0..25 {
                    let action = random(env, &mut rng);
                    from.step(&mut rng, Some((i, &action)));
                    to.step(&mut rng, Some((j, &action)));
                    assert_eq!(to.told(j), from.told(i), "{what}: step {t}");
                    assert!(to.read(j) == from.read(i), "{what}: state, stream, count or phase after step {t}");
                    ends += u32::from(from.out.ended(i));
                }
            }
        }
    }
    assert!(fits.iter().all(|&count| count > 2), "{fits:?}");
    assert!(ends > 300, "{ends}");
}

#[test]
fn a_row_takes_the_autoreset_of_its_new_batch() {
    let mut ends = 0;
    let pairs = MODES.into_iter().flat_map(|a| MODES.into_iter().map(move |b| (a, b))).filter(|(a, b)| a != b);
    for (name, own) in BUILTINS {
        for (k, list) in lists().into_iter().enumerate() {
            let Ok(wrapped) = Pipeline::new(own, list) else { continue };
            let env: &dyn Env = if list.is_empty() { own } else { &wrapped };
            for (m, (a, b)) in pairs.clone().enumerate() {
                let mut rng = Rng::stream(u64::from(env.spec().env_id), (k * 16 + m) as u64);
                let [mut from, mut native] = [a, b].map(|mode| Host::new(env, &config(1, mode)));
                let mut to = Host::new(env, &config(2, b));
                let seed = rng.next_u64();
                from.reset(seed);
                native.reset(seed);
                let (mut others, mut row) = (rng, from.read(0));
                // Up to the first end, all modes take the same steps.
                for _ in 0..rng.integers(0, 12) {
                    let action = random(env, &mut rng);
                    from.step(&mut others, Some((0, &action)));
                    if from.out.ended(0) {
                        break;
                    }
                    native.step(&mut others, Some((0, &action)));
                    row = from.read(0);
                }
                to.write(0, &row).unwrap();
                to.write(1, &row).unwrap();
                let what = format!("{name}, list {k}, {a:?} to {b:?}");
                assert!(to.read(1) == native.read(0), "{what}");
                for t in 0..20 {
                    let action = random(env, &mut rng);
                    native.step(&mut others, Some((0, &action)));
                    to.step(&mut others, Some((1, &action)));
                    assert_eq!(to.told(1), native.told(0), "{what}: step {t}");
                    assert!(to.read(1) == native.read(0), "{what}: state after step {t}");
                    ends += u32::from(native.out.ended(0));
                }
            }
        }
    }
    assert!(ends > 1000, "{ends}");
}

#[test]
fn a_search_without_autoreset_sees_the_end_that_the_batch_then_has() {
    let mut ends = 0;
    for (name, own) in BUILTINS {
        for (k, list) in lists().into_iter().enumerate() {
            let Ok(wrapped) = Pipeline::new(own, list) else { continue };
            let env: &dyn Env = if list.is_empty() { own } else { &wrapped };
            let mut rng = Rng::stream(u64::from(env.spec().env_id), k as u64);
            let (mut played, mut search) =
                (Host::new(env, &config(3, Autoreset::SameStep)), Host::new(env, &config(1, Autoreset::Disabled)));
            played.reset(rng.next_u64());
            for t in 0..60 {
                search.write(0, &played.read(1)).unwrap();
                let action = random(env, &mut rng);
                played.step(&mut rng, Some((1, &action)));
                let (choices, numbers) = &action;
                attach(&mut search.mem, env).step(act(env, choices, numbers), search.out.out()).unwrap();
                let (real, seen) = (played.told(1), search.told(0));
                let obs = if played.out.ended(1) { &real.1 } else { &real.0 };
                assert_eq!((&seen.0, seen.2, seen.3), (obs, real.2, real.3), "{name}, list {k}, step {t}");
                ends += u32::from(played.out.ended(1));
            }
        }
    }
    assert!(ends > 300, "{ends}");
}

#[test]
fn limits_are_those_of_the_batch() {
    let limited = |limit| VecEnvConfig { max_episode_steps: limit, ..config(2, Autoreset::Disabled) };
    let mut rng = Rng::seeded(4);
    let mut from = Host::new(&Pendulum, &limited(50));
    from.reset(1);
    (0..10).for_each(|_| from.step(&mut rng, None));
    let row = from.read(1);
    let mut to = Host::new(&Pendulum, &limited(13));
    to.write(0, &row).unwrap();
    to.write(1, &row).unwrap();
    for t in 11..=13 {
        to.step(&mut rng, None);
        assert_eq!(to.out.truncated, [u8::from(t == 13); 2], "step {t}");
    }
    let mut short = Host::new(&Pendulum, &limited(10));
    short.reset(1);
    let before = short.mem.clone();
    let e = short.write(0, &row).unwrap_err();
    assert_eq!((e.kind, e.needed, e.given), (Kind::Config, Given::Int(10), Given::Int(10)));
    assert!(short.mem == before);
    Host::new(&Pendulum, &limited(NO_LIMIT)).write(0, &row).unwrap();

    // Wrappers count the environment's own limit, unless the batch replaces it.
    let sign = Pipeline::new(&Pendulum, &[Wrapper::ActionRepeat { count: 4 }]).unwrap();
    let (mut own, mut given) = (Host::new(&sign, &limited(0)), Host::new(&sign, &limited(60)));
    own.reset(1);
    given.reset(1);
    (0..30).for_each(|_| own.step(&mut rng, None));
    let (row, other) = (own.read(0), given.read(0));
    assert_eq!(given.write(0, &row).unwrap_err().kind, Kind::Config);
    assert_eq!(own.write(0, &other).unwrap_err().kind, Kind::Config);
    Host::new(&sign, &limited(NO_LIMIT)).write(0, &other).unwrap();
    let mut late = Host::new(&sign, &limited(0));
    late.write(0, &row).unwrap();
    late.write(1, &row).unwrap();
    (31..50).for_each(|_| late.step(&mut rng, None));
    assert_eq!(late.out.truncated, [0; 2]);
    late.step(&mut rng, None);
    assert_eq!(late.out.truncated, [1; 2], "200 of its own steps");
}

/// Refuses the setup of its batch, and counts its steps.
struct Picky;

impl Env for Picky {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
        Spec { env_id: 2000, state_size: 8, max_episode_steps: 0, obs, action, wrappers: 0 }
    }
    fn configure(&self, _: &mut [u8], setup: &Setup) -> Result {
        Error::new(Kind::Callback, "picky: an even number of environments").fail_if(setup.num_envs % 2 == 1)
    }
    fn reset(&self, _: usize, state: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        state.fill(0);
        obs.f32()?[0] = 0.0;
        Ok(())
    }
    fn step(&self, _: usize, state: &mut [u8], _: &mut Rng, _: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        state[0] += 1;
        obs.f32()?[0] = f32::from(state[0]);
        Ok(Step::default())
    }
}

#[test]
fn a_row_that_its_environment_refuses_must_be_reset() {
    let mut from = Host::new(&Picky, &config(2, Autoreset::Disabled));
    from.reset(0);
    let row = from.read(1);
    let mut odd = block(&Picky, &config(3, Autoreset::Disabled));
    let mut envs = attach(&mut odd, &Picky);
    let e = envs.write_row(1, &row, ElementsMut::F32(&mut [0.0; 3])).unwrap_err();
    assert_eq!((e.kind, e.given), (Kind::Callback, Given::Int(1)));
    assert_eq!(envs.rows().phase, [0; 3]);
}

#[test]
fn other_rows_are_refused_by_name_and_nothing_is_written() {
    let (mut mem, mut a) = begin(&CartPole, &config(3, Autoreset::SameStep));
    let size = row_size(&CartPole).unwrap();
    assert_eq!((size % 8, row_size(&Acrobot).unwrap()), (0, size + 8));
    let mut row = vec![7u64; size / 8];
    // Reading.
    let envs = attach(&mut mem, &CartPole);
    let mut read = |i, obs: Elements<'_>, len: usize| {
        let e = envs.read_row(i, obs, &mut row[..len]).unwrap_err();
        assert!(row.iter().all(|&word| word == 7));
        (e.kind, e.given)
    };
    let obs = Elements::F32(&a.obs);
    assert_eq!(read(3, obs, size / 8), (Kind::Range, Given::Int(3)));
    assert_eq!(read(usize::MAX, obs, size / 8), (Kind::Range, Given::Int(-1)));
    assert_eq!(read(0, obs, size / 8 - 1), (Kind::Size, Given::Int(size as i64 - 8)));
    assert_eq!(read(0, Elements::F32(&a.obs[..8]), size / 8), (Kind::Shape, Given::Int(8)));
    assert_eq!(read(0, Elements::I32(&[0; 12]), size / 8).0, Kind::Shape);
    let mut wrong = a.obs.clone();
    wrong[9] = f32::NAN;
    assert_eq!(read(2, Elements::F32(&wrong), size / 8), (Kind::Value, Given::Int(2)));
    let mut new = block(&CartPole, &config(3, Autoreset::SameStep));
    let unset = attach(&mut new, &CartPole).read_row(1, obs, &mut row).unwrap_err();
    assert_eq!((unset.kind, unset.given), (Kind::NotReady, Given::Int(1)));
    envs.read_row(1, Elements::F32(&wrong), &mut row).unwrap();

    // Writing.
    let before = (mem.clone(), a.clone());
    let mut refused = |row: &[u64], i: usize, kind: Kind, says: &str| {
        let e = attach(&mut mem, &CartPole).write_row(i, row, a.first()).unwrap_err();
        assert!(e.kind == kind && e.to_string().contains(says), "{e}");
        assert!(mem == before.0 && a == before.1, "{e}");
    };
    refused(&row, 3, Kind::Range, "below");
    refused(&row[..size / 8 - 1], 0, Kind::Size, "row");
    let of = |env: &dyn Env, mode| {
        let mut host = Host::new(env, &config(2, mode));
        host.reset(1);
        let mut row = host.read(0);
        row.resize(row.len().max(size / 8), 0);
        row
    };
    refused(&of(&Acrobot, Autoreset::SameStep), 0, Kind::Config, "env_id");
    let limited = Pipeline::new(&CartPole, &[Wrapper::ClipReward]).unwrap();
    refused(&of(&limited, Autoreset::SameStep), 0, Kind::Config, "wrappers");
    let mut ended = Host::new(&CartPole, &config(1, Autoreset::NextStep));
    ended.reset(5);
    let mut rng = Rng::seeded(8);
    while !ended.out.ended(0) {
        ended.step(&mut rng, None);
    }
    refused(&ended.read(0), 0, Kind::Config, "same step");
    Host::new(&CartPole, &config(1, Autoreset::Disabled)).write(0, &ended.read(0)).unwrap();

    // The head: magic, version, setup, stream, steps and phase; then the state and the observation.
    let mut damaged = |at: usize, with: &[u8], kind, says| {
        let mut row = row.clone();
        bytes(&mut row)[at..][..with.len()].copy_from_slice(with);
        refused(&row, 0, kind, says);
    };
    damaged(0, &[0], Kind::Image, "damaged");
    damaged(4, &[99], Kind::Image, "version");
    let magic: [u8; 4] = std::array::from_fn(|i| bytemuck::cast_slice::<_, u8>(&row)[3 - i]);
    damaged(0, &magic, Kind::Image, "byte order");
    for (at, says) in
        [(28, "env_id"), (32, "state_size"), (36, "max_episode_steps"), (44, "obs_len"), (52, "action_len")]
    {
        damaged(at, &[9; 2], Kind::Config, says);
    }
    damaged(60, &[3], Kind::Config, "choices");
    damaged(64, &[1], Kind::Config, "wrappers");
    damaged(72 + size_of::<Rng>() - 4, &[2], Kind::Image, "damaged");
    damaged(112, &500u32.to_ne_bytes(), Kind::Config, "max_episode_steps");
    damaged(116, &0u32.to_ne_bytes(), Kind::Image, "damaged");
    damaged(116, &257u32.to_ne_bytes(), Kind::Image, "damaged");
    damaged(size - 4, &f32::NAN.to_ne_bytes(), Kind::Value, "not finite");
    damaged(size - 4, &f32::INFINITY.to_ne_bytes(), Kind::Value, "not finite");
}

#[test]
fn a_flipped_bit_is_refused_or_harmless() {
    use Wrapper::*;
    let lists: [&[Wrapper<'static>]; 3] = [
        &[],
        &[
            TimeLimit { steps: 6 },
            EpisodicLife { noop: 0 },
            StickyActions { probability: 0.5 },
            FrameStack { count: 2 },
        ],
        &[NoopReset { max: 2, exactly: 0, noop: 0 }, MaxAndSkip { count: 2 }, TimeLimit { steps: 6 }, Record],
    ];
    let (mut refusals, mut accepted) = (0, 0);
    for (_, own) in BUILTINS {
        for list in lists {
            let Ok(wrapped) = Pipeline::new(own, list) else { continue };
            let env: &dyn Env = if list.is_empty() { own } else { &wrapped };
            let mut rng = Rng::stream(3, u64::from(env.spec().env_id));
            let mut host = Host::new(env, &config(2, Autoreset::NextStep));
            host.reset(2);
            (0..5).for_each(|_| host.step(&mut rng, None));
            let (row, before) = (host.read(0), (host.mem.clone(), host.out.clone()));
            let bits = row.len() * 64;
            // All of the head and of small rows, and every few bits of large ones.
            let stride = if bits > 4096 { bits / 997 } else { 1 };
            for bit in (0..960).chain((960..bits).step_by(stride)) {
                let mut row = row.clone();
                row[bit / 64] ^= 1 << (bit % 64);
                match host.write(1, &row) {
                    Err(e) => {
                        assert!([Kind::Image, Kind::Config, Kind::Value].contains(&e.kind), "{e}");
                        assert!(host.mem == before.0 && host.out == before.1, "bit {bit}: {e}");
                        refusals += 1;
                    }
                    Ok(()) => {
                        assert!((576..960).contains(&bit) || bit >= 960, "bit {bit} of the head");
                        accepted += 1;
                        let (choices, numbers) = (0..2).map(|_| random(env, &mut rng)).unzip::<_, _, Vec<_>, Vec<_>>();
                        let (choices, numbers) = (choices.concat(), numbers.concat());
                        for _ in 0..8 {
                            let mut envs = VecEnv::attach(bytes(&mut host.mem), env).unwrap();
                            if envs.step(act(env, &choices, &numbers), host.out.out()).is_err() {
                                break;
                            }
                        }
                        (host.mem, host.out) = before.clone();
                    }
                }
            }
        }
    }
    assert!(refusals > 20_000 && accepted > 20_000, "{refusals} refused, {accepted} accepted");
}
