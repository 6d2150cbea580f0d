//! The vectorized environment: autoreset, seeds, limits, ranges, copies, refusals and damaged images.

use bytemuck::{Pod, Zeroable};
use proptest::prelude::*;
use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{
    Autoreset, BUILTINS, Builtin, CartPole, Env, Level, NO_LIMIT, Probe, Setup, Spec, Step, StepOut, VecEnv,
    VecEnvConfig,
};
use rlcore::error::{Error, Given, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

use super::host::{Arrays, MARK, MODES, act, attach, begin, block, bytes, config};

/// A scripted environment: the action decides the outcome. Observes the episode's first random draw and its number of steps.
struct Script {
    max_episode_steps: u32,
}

const GO: i32 = 0;
const TERMINATE: i32 = 1;
const TRUNCATE: i32 = 2;
const BOTH: i32 = 3;
const FAIL: i32 = 4;
const BAD_REWARD: i32 = 5;
const BAD_OBS: i32 = 6;
/// Terminates; then the reset fails once.
const FAIL_IN_RESET: i32 = 7;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ScriptState {
    draw: f32,
    steps: u32,
    reset_fails: u64,
}

fn write(obs: ElementsMut, draw: f32, steps: u32) -> Result {
    obs.f32()?.copy_from_slice(&[draw, steps as f32]);
    Ok(())
}

impl Env for Script {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(2), Space::discrete(&[8]));
        Spec { env_id: 9000, state_size: 16, max_episode_steps: self.max_episode_steps, obs, action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s: &mut ScriptState = bytemuck::from_bytes_mut(state);
        if s.reset_fails != 0 {
            s.reset_fails = 0;
            return Err(Error::new(Kind::Callback, "script: a reset that works"));
        }
        (s.draw, s.steps) = (rng.uniform() as f32, 0);
        write(obs, s.draw, 0)
    }

    fn step(&self, _: usize, state: &mut [u8], rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let s: &mut ScriptState = bytemuck::from_bytes_mut(state);
        let action = action.i32()?[0];
        s.steps += 1;
        s.reset_fails = (action == FAIL_IN_RESET).into();
        write(obs, if action == BAD_OBS { f32::INFINITY } else { s.draw }, s.steps)?;
        match action {
            FAIL => Err(Error::new(Kind::Callback, "script: a step that works")),
            BAD_REWARD => Ok(Step { reward: f32::NAN, ..Step::default() }),
            _ => Ok(Step {
                reward: 1.0 + rng.uniform() as f32,
                terminated: [TERMINATE, BOTH, FAIL_IN_RESET].contains(&action),
                truncated: [TRUNCATE, BOTH].contains(&action),
            }),
        }
    }

    fn lives(&self, _: usize, state: &[u8]) -> Result<u32> {
        Ok(bytemuck::from_bytes::<ScriptState>(state).steps)
    }
}

const SCRIPT: Script = Script { max_episode_steps: 0 };

#[test]
fn an_end_is_reported_and_reset_as_the_mode_says() {
    for mode in MODES {
        let (mut mem, first) = begin(&SCRIPT, &config(5, mode));
        let mut venv = attach(&mut mem, &SCRIPT);
        let mut a = Arrays::new(5, 2);
        let actions = [GO, TERMINATE, TRUNCATE, BOTH, GO];
        venv.step(Elements::I32(&actions), a.out()).unwrap();
        assert_eq!(a.terminated, [0, 1, 0, 1, 0], "{mode:?}");
        assert_eq!(a.truncated, [0, 0, 1, 1, 0], "{mode:?}");
        assert_eq!(a.valid, [1; 5], "{mode:?}");
        // The reward of the step that ended counts.
        assert!(a.reward.iter().all(|&r| (1.0..2.0).contains(&r)), "{mode:?}");
        for (i, &action) in actions.iter().enumerate() {
            let (obs, _, _, _, last, _) = a.row(i);
            let old = first.obs[2 * i];
            if action == GO {
                assert_eq!((obs, last), (&[old, 1.0][..], &[MARK, MARK][..]), "{mode:?}");
            } else {
                assert_eq!(last, [old, 1.0], "{mode:?}");
                if mode == Autoreset::SameStep {
                    assert!(obs[0] != old && obs[1] == 0.0);
                } else {
                    assert_eq!(obs, last);
                }
            }
        }
    }
}

#[test]
fn the_step_after_an_end_starts_again_as_the_mode_says() {
    for mode in MODES {
        let (mut mem, first) = begin(&SCRIPT, &config(5, mode));
        let mut venv = attach(&mut mem, &SCRIPT);
        let mut a = Arrays::new(5, 2);
        venv.step(Elements::I32(&[GO, TERMINATE, TRUNCATE, BOTH, GO]), a.out()).unwrap();
        let before = a.clone();
        let again = venv.step(Elements::I32(&[GO; 5]), a.out());
        let ended = |i: usize| (a.row(i), a.obs[2 * i] != first.obs[2 * i]);
        match mode {
            Autoreset::SameStep => {
                assert_eq!((a.obs[3], a.obs[5]), (1.0, 1.0));
                assert_eq!(a.valid, [1; 5]);
            }
            Autoreset::NextStep => {
                assert_eq!(a.valid, [1, 0, 0, 0, 1]);
                for ((obs, reward, terminated, truncated, ..), is_new) in [1, 2, 3].map(ended) {
                    assert_eq!((obs[1], reward, terminated, truncated, is_new), (0.0, 0.0, 0, 0, true));
                }
            }
            Autoreset::Legacy => {
                assert_eq!(a.valid, [1; 5]);
                for ((obs, reward, ..), is_new) in [1, 2, 3].map(ended) {
                    assert_eq!(obs[1], 1.0, "reset and stepped at once");
                    assert!(is_new && (1.0..2.0).contains(&reward));
                }
            }
            Autoreset::Disabled => {
                let e = again.unwrap_err();
                assert_eq!((e.kind, e.given, a == before), (Kind::NotReady, Given::Int(1), true));
                (1..4).for_each(|i| venv.reset_one(i, None, a.first()).unwrap());
                venv.step(Elements::I32(&[GO; 5]), a.out()).unwrap();
                continue;
            }
        }
        again.unwrap();
        assert_eq!((a.obs[1], a.obs[9]), (2.0, 2.0));
    }
}

#[test]
fn episodes_are_cut_at_the_configured_length() {
    let own = Script { max_episode_steps: 3 };
    for (limit, cut_at) in [(0, Some(3)), (2, Some(2)), (1, Some(1)), (5, Some(5)), (NO_LIMIT, None)] {
        let config = VecEnvConfig { max_episode_steps: limit, ..config(1, Autoreset::SameStep) };
        let (mut mem, mut a) = begin(&own, &config);
        let mut venv = attach(&mut mem, &own);
        let mut cuts = vec![];
        for step in 1..=12 {
            venv.step(Elements::I32(&[GO]), a.out()).unwrap();
            if a.truncated[0] != 0 {
                cuts.push(step);
                assert_eq!((a.terminated[0], a.final_obs[1]), (0, cut_at.unwrap() as f32));
            }
        }
        let expected: Vec<i32> = cut_at.map_or(vec![], |n| (1..=12).filter(|step| step % n == 0).collect());
        assert_eq!(cuts, expected, "limit {limit}");
    }
    // The limit and the environment's own end in one step: both flags.
    let config = VecEnvConfig { max_episode_steps: 1, ..config(1, Autoreset::Disabled) };
    let (mut mem, mut a) = begin(&own, &config);
    let mut venv = attach(&mut mem, &own);
    venv.step(Elements::I32(&[TERMINATE]), a.out()).unwrap();
    assert_eq!((a.terminated[0], a.truncated[0]), (1, 1));
}

#[test]
fn a_failing_row_stops_the_call_and_the_rows_before_it_are_complete() {
    for (action, kind) in
        [(FAIL, Kind::Callback), (BAD_REWARD, Kind::Value), (BAD_OBS, Kind::Value), (FAIL_IN_RESET, Kind::Callback)]
    {
        let config = config(4, Autoreset::SameStep);
        let (mut mem, mut a) = begin(&SCRIPT, &config);
        let mut venv = attach(&mut mem, &SCRIPT);
        let before = a.clone();
        let e = venv.step(Elements::I32(&[GO, TERMINATE, action, GO]), a.out()).unwrap_err();
        assert_eq!((e.kind, e.given), (kind, Given::Int(2)));
        assert_eq!((a.terminated[0], a.terminated[1], a.obs[1], a.obs[3]), (0, 1, 1.0, 0.0));
        let (_, reward, terminated, truncated, _, valid) = a.row(2);
        assert_eq!((reward, terminated, truncated, valid), (MARK, 9, 9, 9));
        assert_eq!(a.row(3), before.row(3));

        // The row has to be reset; the others are unaffected.
        let e = venv.step(Elements::I32(&[GO; 4]), a.out()).unwrap_err();
        assert_eq!((e.kind, e.given), (Kind::NotReady, Given::Int(2)));
        assert_eq!(venv.lives(2).unwrap_err().kind, Kind::NotReady);
        venv.reset_one(2, None, a.first()).unwrap();
        venv.step(Elements::I32(&[GO; 4]), a.out()).unwrap();
        assert_eq!([a.obs[1], a.obs[3], a.obs[5], a.obs[7]], [2.0, 1.0, 1.0, 1.0]);
    }
}

#[test]
fn a_row_alone_is_stepped_and_refused_as_among_others() {
    for mode in MODES {
        for action in [GO, TERMINATE, TRUNCATE, BOTH, FAIL, BAD_REWARD, BAD_OBS, FAIL_IN_RESET, 8, -1] {
            let config = config(3, mode);
            let [(mut whole, mut a), (mut parts, mut b)] =
                [(); 2].map(|()| (block(&SCRIPT, &config), Arrays::new(3, 2)));
            let (mut together, mut apart) = (attach(&mut whole, &SCRIPT), attach(&mut parts, &SCRIPT));
            let unset = apart.step_range(1, 2, Elements::I32(&[GO; 3]), b.out()).unwrap_err();
            assert_eq!((unset.kind, unset.given), (Kind::NotReady, Given::Int(1)));
            together.reset(None, a.first()).unwrap();
            apart.reset(None, ElementsMut::F32(&mut b.obs)).unwrap();
            // The scripted row is the last, so that all rows have been stepped, whatever stops the call.
            for action in [action, GO, GO] {
                let actions = [GO, GO, action];
                let want = together.step(Elements::I32(&actions), a.out());
                let each = |i| apart.step_range(i, i + 1, Elements::I32(&actions), b.out());
                let stopped = (0..3).map(each).fold(Ok(()), Result::and);
                assert_eq!(stopped, want, "{mode:?}, {action}");
                // A call that is refused as a whole steps no row: then only the last row is compared.
                if matches!(&want, Err(e) if e.kind != Kind::Callback && e.kind != Kind::Value) {
                    assert_eq!(a.row(2), b.row(2));
                    break;
                }
                assert_eq!(a, b, "{mode:?}, {action}");
            }
        }
    }
}

#[test]
fn a_failing_reset_stops_the_call_too() {
    for mode in MODES {
        let (mut mem, mut a) = begin(&SCRIPT, &config(3, mode));
        let mut venv = attach(&mut mem, &SCRIPT);
        let first = venv.step(Elements::I32(&[GO, FAIL_IN_RESET, GO]), a.out());
        let failed = match mode {
            Autoreset::SameStep => first,
            Autoreset::NextStep | Autoreset::Legacy => venv.step(Elements::I32(&[GO; 3]), a.out()),
            Autoreset::Disabled => venv.reset(None, a.first()),
        };
        assert_eq!(failed.map_err(|e| (e.kind, e.given)), Err((Kind::Callback, Given::Int(1))), "{mode:?}");
        assert_eq!(venv.step(Elements::I32(&[GO; 3]), a.out()).unwrap_err().kind, Kind::NotReady);
        venv.reset(None, a.first()).unwrap();
        venv.step(Elements::I32(&[GO; 3]), a.out()).unwrap();
    }
}

/// The kind of error of a call on three rows that are ready. It must change nothing.
fn refused(call: impl FnOnce(&mut VecEnv<Script>, &mut Arrays) -> Result) -> Kind {
    let (mut mem, mut a) = begin(&SCRIPT, &config(3, Autoreset::SameStep));
    let before = (mem.clone(), a.clone());
    let kind = call(&mut attach(&mut mem, &SCRIPT), &mut a).unwrap_err().kind;
    assert!((mem, a) == before, "an error changes nothing");
    kind
}

const THREE: Elements<'static> = Elements::I32(&[GO; 3]);

#[test]
fn wrong_actions_are_refused_before_anything_changes() {
    for (actions, kind) in [
        (Elements::I32(&[0, 0]), Kind::Shape),
        (Elements::I32(&[0, 0, 0, 0]), Kind::Shape),
        (Elements::F32(&[0.0; 3]), Kind::Shape),
        (Elements::U8(&[0; 3]), Kind::Shape),
        (Elements::I32(&[0, 0, 8]), Kind::Range),
        (Elements::I32(&[-1, 0, 0]), Kind::Range),
        (Elements::I32(&[i32::MIN, 0, i32::MAX]), Kind::Range),
    ] {
        assert_eq!(refused(|v, a| v.step(actions, a.out())), kind, "{actions:?}");
    }
}

#[test]
fn wrong_arrays_are_refused_before_anything_changes() {
    let with = |change: fn(&mut StepOut)| {
        refused(|v, a| {
            let mut out = a.out();
            change(&mut out);
            v.step(THREE, out)
        })
    };
    assert_eq!(with(|out| out.obs = ElementsMut::F32(&mut [])), Kind::Shape);
    assert_eq!(refused(|v, a| v.step(THREE, StepOut { obs: ElementsMut::U8(&mut [0; 6]), ..a.out() })), Kind::Shape);
    assert_eq!(with(|out| out.reward = &mut []), Kind::Shape);
    assert_eq!(with(|out| out.terminated = &mut []), Kind::Shape);
    assert_eq!(with(|out| out.truncated = &mut []), Kind::Shape);
    assert_eq!(with(|out| out.final_obs = Some(ElementsMut::F32(&mut []))), Kind::Shape);
    assert_eq!(with(|out| out.final_obs = None), Kind::Null);
    assert_eq!(with(|out| out.valid = Some(&mut [])), Kind::Shape);
}

#[test]
fn rows_that_are_not_there_are_refused_before_anything_changes() {
    for (begin, end) in [(0, 4), (2, 1), (4, 4), (usize::MAX, usize::MAX), (0, usize::MAX)] {
        assert_eq!(refused(|v, a| v.step_range(begin, end, THREE, a.out())), Kind::Range);
        assert_eq!(refused(|v, a| v.reset_range(begin, end, None, a.first())), Kind::Range);
    }
    assert_eq!(refused(|v, a| v.step_range(0, 1, Elements::I32(&[GO]), a.out())), Kind::Shape, "arrays of the batch");
    assert_eq!(refused(|v, a| v.reset_one(3, None, a.first())), Kind::Range);
    assert_eq!(refused(|v, a| v.reset(None, ElementsMut::F32(&mut a.obs[1..]))), Kind::Shape);
    assert_eq!(refused(|v, _| v.lives(3).map(drop)), Kind::Range);
    assert_eq!(refused(|v, _| v.action_mask(0, &mut [0; 7])), Kind::Shape);
    assert_eq!(refused(|v, _| v.render(0, 2, 2, &mut [0; 11])), Kind::Shape);
    assert_eq!(refused(|v, _| v.render(0, usize::MAX, 2, &mut [])), Kind::Shape);
    assert_eq!(refused(|v, a| v.rows().step(&CartPole, THREE, a.out())), Kind::Config);
}

#[test]
fn rows_are_stepped_after_a_reset_and_an_empty_range_is_valid() {
    let (mut mem, mut a) = (block(&SCRIPT, &config(3, Autoreset::SameStep)), Arrays::new(3, 2));
    let mut venv = attach(&mut mem, &SCRIPT);
    assert_eq!(venv.step(THREE, a.out()).unwrap_err().kind, Kind::NotReady, "before the first reset");
    venv.reset(None, a.first()).unwrap();
    venv.step_range(3, 3, THREE, a.out()).unwrap();
    let mut mask = [0; 8];
    venv.action_mask(0, &mut mask).unwrap();
    assert_eq!((mask, venv.lives(0)), ([1; 8], Ok(0)));
}

#[test]
fn arrays_that_a_mode_does_not_need_may_be_missing() {
    for mode in [Autoreset::NextStep, Autoreset::Disabled] {
        let (mut mem, mut a) = begin(&SCRIPT, &config(1, mode));
        let mut venv = attach(&mut mem, &SCRIPT);
        venv.step(Elements::I32(&[TERMINATE]), StepOut { final_obs: None, ..a.out() }).unwrap();
        let without = venv.step(Elements::I32(&[GO]), StepOut { valid: None, ..a.out() });
        let needed = if mode == Autoreset::NextStep { Kind::Null } else { Kind::NotReady };
        assert_eq!(without.unwrap_err().kind, needed);
    }
}

/// Actions of a choice of 3 and a choice of 2; observes bytes.
struct Images;

impl Env for Images {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::bytes(3), Space::discrete(&[3, 2]));
        Spec { env_id: 9001, state_size: 0, max_episode_steps: 2, obs, action, wrappers: 0 }
    }
    fn reset(&self, _: usize, _: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        obs.u8()?.copy_from_slice(b"new");
        Ok(())
    }
    fn step(&self, _: usize, _: &mut [u8], _: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        obs.u8()?.copy_from_slice(b"old");
        Ok(Step { reward: (10 * action.i32()?[0] + action.i32()?[1]) as f32, ..Step::default() })
    }
}

#[test]
fn several_choices_a_row_and_images() {
    let config = config(2, Autoreset::SameStep);
    let mut mem = block(&Images, &config);
    let mut venv = attach(&mut mem, &Images);
    let (mut obs, mut last) = ([0u8; 6], [0u8; 6]);
    let mut a = Arrays::new(2, 3);
    venv.reset(None, ElementsMut::U8(&mut obs)).unwrap();
    assert_eq!(&obs, b"newnew");
    let mut step = |actions: &[i32]| {
        let (obs, final_obs) = (ElementsMut::U8(&mut obs), Some(ElementsMut::U8(&mut last)));
        let done = venv.step(Elements::I32(actions), StepOut { obs, final_obs, ..a.out() });
        done.map(|()| a.reward.clone()).map_err(|e| (e.kind, e.needed, e.given))
    };
    assert_eq!(step(&[2, 1, 0, 1]), Ok(vec![21.0, 1.0]));
    assert_eq!(step(&[2, 1, 0, 2]), Err((Kind::Range, Given::Int(2), Given::Int(2))));
    assert_eq!(step(&[2, 1, 3, 0]), Err((Kind::Range, Given::Int(3), Given::Int(3))));
    assert_eq!(step(&[2, 1]), Err((Kind::Shape, Given::Int(4), Given::Int(2))));
    assert_eq!(step(&[1, 1, 1, 0]), Ok(vec![11.0, 10.0]));
    assert_eq!((&obs, &last, &a.truncated[..]), (b"newnew", b"oldold", &[1, 1][..]));
}

#[test]
fn continuous_actions_have_to_be_finite() {
    let env = Builtin::from_name("Pendulum-v1").unwrap();
    let config = config(2, Autoreset::SameStep);
    let (mut mem, mut a) = begin(&env, &config);
    let mut venv = attach(&mut mem, &env);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let before = a.clone();
        assert_eq!(venv.step(Elements::F32(&[0.0, bad]), a.out()).unwrap_err().kind, Kind::Value);
        assert_eq!(a, before);
    }
    // Actions out of bounds are clipped by the environment.
    venv.step(Elements::F32(&[-1e30, 1e30]), a.out()).unwrap();
}

#[test]
fn seeds_mean_what_they_mean_in_gymnasium() {
    let n = 4;
    let config = VecEnvConfig { seed: 11, ..config(n, Autoreset::SameStep) };
    let mut mem = block(&CartPole, &config);
    let mut venv = attach(&mut mem, &CartPole);
    let alone = |rng: &mut Rng| {
        let (mut state, mut obs) = ([0u64; 4], [0.0; 4]);
        CartPole.reset(0, bytemuck::bytes_of_mut(&mut state), rng, ElementsMut::F32(&mut obs)).unwrap();
        obs
    };
    let mut obs = vec![0.0; 16];
    let mut streams: Vec<Rng> = (0..4).map(|i| Rng::seeded(11 + i)).collect();
    for _ in 0..2 {
        venv.reset(None, ElementsMut::F32(&mut obs)).unwrap();
        for (row, rng) in obs.chunks(4).zip(&mut streams) {
            assert_eq!(row, alone(rng), "the configured seed, and streams that go on");
        }
    }
    venv.reset(Some(500), ElementsMut::F32(&mut obs)).unwrap();
    for (i, row) in obs.chunks(4).enumerate() {
        assert_eq!(row, alone(&mut Rng::seeded(500 + i as u64)));
    }
    let before = obs.clone();
    venv.reset_one(2, Some(9), ElementsMut::F32(&mut obs)).unwrap();
    assert_eq!(obs[8..12], alone(&mut Rng::seeded(9)), "one row takes the seed itself");
    assert_eq!((&obs[..8], &obs[12..]), (&before[..8], &before[12..]));
    venv.reset_range(1, 3, Some(40), ElementsMut::F32(&mut obs)).unwrap();
    assert_eq!(obs[8..12], alone(&mut Rng::seeded(42)), "a range takes seed + i");
    assert_eq!((&obs[..4], &obs[12..]), (&before[..4], &before[12..]));
    venv.reset(Some(u64::MAX), ElementsMut::F32(&mut obs)).unwrap();
    assert_eq!(obs[4..8], alone(&mut Rng::seeded(0)), "seeds wrap");
}

/// Valid actions for `rows` rows, drawn from `rng`.
fn actions(env: &Builtin, rows: usize, rng: &mut Rng) -> (Vec<i32>, Vec<f32>) {
    let n = env.spec().action.n.first().copied().unwrap_or(1);
    let len = rows * env.spec().action.len as usize;
    (0..len).map(|_| ((rng.next_u64() % u64::from(n)) as i32, rng.uniform_in(-3.0, 3.0) as f32)).unzip()
}

/// Number of built-in environments that observe floats; the others show pictures.
const NUMBERS: usize = BUILTINS.len() - 7;

fn of_numbers(which: usize) -> Builtin {
    let mut all = BUILTINS.iter().filter(|(_, env)| env.spec().obs.kind == Element::F32);
    all.nth(which).unwrap().1
}

fn elements<'a>(env: &Builtin, (ints, floats): &'a (Vec<i32>, Vec<f32>)) -> Elements<'a> {
    act(env, ints, floats)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_split_changes_a_byte(
        which in 0..NUMBERS, n in 1u32..40, seed: u64, limit in 0u32..30, mode in 0usize..2, cuts: [u32; 6]
    ) {
        let env = of_numbers(which);
        let width = env.spec().obs.len as usize;
        let config = VecEnvConfig { num_envs: n, seed, autoreset: MODES[mode], max_episode_steps: limit };
        let n = n as usize;
        let mut expected: Option<(Vec<u64>, Arrays)> = None;
        for parts in [1, 2, 3, 7] {
            let mut bounds: Vec<usize> = cuts[..parts - 1].iter().map(|&c| c as usize % (n + 1)).collect();
            bounds.extend([0, n]);
            bounds.sort_unstable();
            let mut mem = block(&env, &config);
            let mut venv = attach(&mut mem, &env);
            let mut a = Arrays::new(n, width);
            for range in bounds.windows(2).rev() {
                venv.reset_range(range[0], range[1], None, a.first()).unwrap();
            }
            let mut rng = Rng::seeded(seed);
            for _ in 0..40 {
                let actions = actions(&env, n, &mut rng);
                for range in bounds.windows(2).rev() {
                    venv.step_range(range[0], range[1], elements(&env, &actions), a.out()).unwrap();
                }
            }
            match &expected {
                None => expected = Some((mem, a)),
                Some((block, arrays)) => prop_assert!(*block == mem && *arrays == a, "{parts} parts"),
            }
        }
    }

    #[test]
    fn a_copy_goes_on_as_the_original(which in 0..NUMBERS, seed: u64, mode in 0usize..2, at in 0usize..40) {
        let env = of_numbers(which);
        let config = VecEnvConfig { num_envs: 3, seed, autoreset: MODES[mode], max_episode_steps: 7 };
        let (mut mem, mut a) = begin(&env, &config);
        let (mut copy, mut b, mut rng) = (vec![], None, Rng::seeded(seed));
        for step in 0..60 {
            if step == at {
                copy = mem.clone();
                b = Some(a.clone());
            }
            let actions = actions(&env, 3, &mut rng);
            // Attached anew each time: all state is in the block.
            attach(&mut mem, &env).step(elements(&env, &actions), a.out()).unwrap();
            if let Some(b) = &mut b {
                attach(&mut copy, &env).step(elements(&env, &actions), b.out()).unwrap();
            }
        }
        prop_assert!(mem == copy && Some(a) == b);
    }

    #[test]
    fn random_bytes_behind_the_setup_never_crash(
        which in 0..NUMBERS, seed: u64, mode in 0usize..3, whole: bool, flips in 0usize..20
    ) {
        let env = of_numbers(which);
        let config = VecEnvConfig { num_envs: 5, seed, autoreset: MODES[mode], max_episode_steps: 9 };
        let (mut mem, mut a) = begin(&env, &config);
        let mut rng = Rng::seeded(seed);
        let image = bytes(&mut mem);
        // Random states alone leave an accepted image; a wholly random image is seldom accepted.
        let end = if whole { image.len() } else { 128 + 5 * env.spec().state_size as usize };
        if flips == 0 {
            image[128..end].fill_with(|| rng.next_u64() as u8);
        }
        for _ in 0..flips {
            let at = 128 + rng.next_u64() as usize % (end - 128);
            image[at] ^= 1 << (rng.next_u64() % 8);
        }
        if let Ok(mut venv) = VecEnv::attach(image, &env) {
            for _ in 0..30 {
                let actions = actions(&env, 5, &mut rng);
                if venv.step(elements(&env, &actions), a.out()).is_err() {
                    let _ = venv.reset_one(0, None, a.first());
                }
            }
            prop_assert!(venv.render(0, 40, 30, &mut [0; 3600]).is_ok() || venv.lives(0).is_err());
        } else {
            prop_assert!(whole, "states are the environment's own business");
        }
    }
}

#[test]
fn threads_step_disjoint_rows() {
    let n = 64;
    let config = VecEnvConfig { seed: 5, ..config(n as u32, Autoreset::SameStep) };
    let env = Builtin::CartPole(CartPole);
    let [(mut one, mut a), (mut two, mut b)] = [(); 2].map(|()| begin(&env, &config));
    let mut rng = Rng::seeded(1);
    for _ in 0..100 {
        let ints = actions(&env, n, &mut rng).0;
        attach(&mut one, &env).step(Elements::I32(&ints), a.out()).unwrap();
        let mut venv = attach(&mut two, &env);
        let (mut low, mut high) = venv.rows().split_at(24).unwrap();
        let (mut low_out, mut high_out) = b.out().split_at(24, 4).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| low.step(&env, Elements::I32(&ints[..24]), low_out.reborrow()).unwrap());
            scope.spawn(|| high.step(&env, Elements::I32(&ints[24..]), high_out.reborrow()).unwrap());
        });
    }
    assert!(one == two && a == b);
}

#[test]
fn a_damaged_or_foreign_image_is_refused_and_left_alone() {
    let config = VecEnvConfig { max_episode_steps: 20, ..config(3, Autoreset::NextStep) };
    let (mut mem, _) = begin(&CartPole, &config);
    let good = mem.clone();
    let refused = |change: &dyn Fn(&mut [u8])| {
        let mut mem = good.clone();
        change(bytes(&mut mem));
        let before = mem.clone();
        let kind = VecEnv::attach(bytes(&mut mem), &CartPole).err().unwrap().kind;
        assert!(mem == before, "attach writes nothing");
        kind
    };
    let setup = 64..Setup::END;
    for at in (0..40).chain(setup) {
        for bit in 0..8 {
            let kind = refused(&|image| image[at] ^= 1 << bit);
            assert!([Kind::Image, Kind::Size].contains(&kind), "byte {at} bit {bit}: {kind:?}");
        }
    }
    let fields = Setup::read(bytes(&mut mem)).unwrap().spans().unwrap().0;
    let (steps, phase, rng) = (fields.steps.start(), fields.phase.start(), fields.rng.start());
    assert_eq!(bytes(&mut mem)[phase..][..3], [1; 3]);
    assert_eq!(refused(&|image| image[phase] = 3), Kind::Image);
    assert_eq!(
        refused(&|image| image[rng + size_of::<Rng>() - 1] = 2),
        Kind::Image,
        "a stream with two halves waiting"
    );
    assert_eq!(refused(&|image| image[steps] = 20), Kind::Image, "a step count that its limit forbids");
    assert_eq!(refused(&|image| image[phase] = 2), Kind::Image, "an end after no step");
    for len in [0, 8, 39, 40, 64, 127, 128, good.len() * 8 - 8] {
        let mut mem = good.clone();
        assert_eq!(VecEnv::attach(&mut bytes(&mut mem)[..len], &CartPole).err().unwrap().kind, Kind::Size);
    }
    assert_eq!(VecEnv::attach(&mut bytes(&mut mem)[4..], &CartPole).err().unwrap().kind, Kind::Align);
    for other in [Builtin::from_name("Acrobot-v1"), Builtin::from_name("Probe1")] {
        let e = VecEnv::attach(bytes(&mut mem), &other.unwrap()).err().unwrap();
        assert_eq!((e.kind, e.needed), (Kind::Config, Given::Int(1)));
    }
    attach(&mut mem, &CartPole);
    VecEnv::attach(bytes(&mut mem), &Builtin::CartPole(CartPole)).unwrap();
}

/// An environment with any specification.
struct Described<'a>(Spec<'a>);

impl Env for Described<'_> {
    fn spec(&self) -> Spec<'_> {
        self.0
    }
    fn reset(&self, _: usize, _: &mut [u8], _: &mut Rng, _: ElementsMut<'_>) -> Result {
        Ok(())
    }
    fn step(&self, _: usize, _: &mut [u8], _: &mut Rng, _: Elements<'_>, _: ElementsMut<'_>) -> Result<Step> {
        Ok(Step::default())
    }
}

#[test]
fn configurations_and_descriptions_are_checked() {
    let good = CartPole.spec();
    let size = |spec: Spec, config: VecEnvConfig| VecEnv::size(&Described(spec), &config).map_err(|e| e.kind);
    let one = VecEnvConfig::default();
    assert_eq!(size(good, one), Ok(384));
    assert_eq!(size(good, VecEnvConfig { num_envs: 0, ..one }), Err(Kind::Config));
    let most = VecEnvConfig { num_envs: u32::MAX, ..one };
    assert_eq!(size(Spec { state_size: u32::MAX - 7, ..good }, most), Err(Kind::Overflow));
    for spec in [
        Spec { state_size: 12, ..good },
        Spec { obs: Space { kind: Element::I32, n: &[1, 1, 0, 1], ..good.obs }, ..good },
        Spec { obs: Space { kind: Element::I32, n: &[1; 3], ..good.obs }, ..good },
        Spec { obs: Space { len: 0, low: &[], high: &[], ..good.obs }, ..good },
        Spec { obs: Space { low: &[0.0; 3], ..good.obs }, ..good },
        Spec { obs: Space::between(&[1.0], &[0.0]), ..good },
        Spec { obs: Space::between(&[f32::NAN], &[0.0]), ..good },
        Spec { action: Space::bytes(1), ..good },
        Spec { action: Space::discrete(&[]), ..good },
        Spec { action: Space::discrete(&[0]), ..good },
        Spec { action: Space::discrete(&[2, u32::MAX]), ..good },
        Spec { action: Space { len: 2, ..good.action }, ..good },
    ] {
        assert_eq!(size(spec, one), Err(Kind::Config), "{spec:?}");
    }
    let mut mem = vec![7u64; 384 / 8];
    let short = &mut bytes(&mut mem)[..383];
    assert_eq!(VecEnv::init(short, &CartPole, &one).err().unwrap().kind, Kind::Size);
    let aside = &mut bytes(&mut mem)[4..];
    assert_eq!(VecEnv::init(aside, &CartPole, &one).err().unwrap().kind, Kind::Align);
    assert_eq!(mem, [7; 384 / 8], "refused memory is untouched");
}

#[test]
fn builtins_have_names_and_numbers_of_their_own() {
    for (i, (name, env)) in BUILTINS.iter().enumerate() {
        assert_eq!((env.name(), Builtin::from_name(name).unwrap().name()), (*name, *name));
        assert_eq!(Builtin::from_id(env.spec().env_id).unwrap().name(), *name);
        assert!(BUILTINS[..i].iter().all(|(n, e)| n != name && e.spec().env_id != env.spec().env_id));
    }
    assert!(Builtin::from_name("CartPole").is_none() && Builtin::from_id(0).is_none());
    assert_eq!(Probe::Memory { length: 3 }.spec().env_id, Builtin::from_name("ProbeMemory").unwrap().spec().env_id);
}

/// Counts the ways it is started: observes (resets, restarts in a new level, restarts in the same level).
struct Starts;

impl Env for Starts {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(3), Space::discrete(&[1]));
        Spec { env_id: 9002, state_size: 24, max_episode_steps: 2, obs, action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        count(state, 0, obs)
    }

    fn restart(&self, _: usize, level: Level, state: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        count(state, if level == Level::New { 1 } else { 2 }, obs)
    }

    fn step(&self, _: usize, state: &mut [u8], _: &mut Rng, _: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        count(state, 3, obs)?;
        Ok(Step { reward: 1.0, ..Step::default() })
    }
}

fn count(state: &mut [u8], which: usize, obs: ElementsMut<'_>) -> Result {
    let counts: &mut [u64] = bytemuck::cast_slice_mut(state);
    if let Some(count) = counts.get_mut(which) {
        *count += 1;
    }
    for (obs, count) in obs.f32()?.iter_mut().zip(counts) {
        *obs = *count as f32;
    }
    Ok(())
}

#[test]
fn a_level_is_kept_or_chosen_anew_and_a_seed_starts_afresh() {
    for mode in MODES {
        let mut mem = block(&Starts, &config(1, mode));
        let mut venv = attach(&mut mem, &Starts);
        let mut a = Arrays::new(1, 3);
        let reset = |venv: &mut VecEnv<Starts>, seed| {
            let mut obs = [0.0; 3];
            venv.reset(seed, ElementsMut::F32(&mut obs)).unwrap();
            obs
        };
        assert_eq!(reset(&mut venv, None), [1.0, 0.0, 0.0], "a new row starts afresh");
        assert_eq!(reset(&mut venv, None), [1.0, 1.0, 0.0], "one that was reset goes on");
        assert_eq!(reset(&mut venv, Some(1)), [2.0, 1.0, 0.0], "a seed starts afresh");
        if mode == Autoreset::Disabled {
            continue;
        }
        for _ in 0..3 {
            venv.step_env(Level::Same, Elements::I32(&[0]), a.out()).unwrap();
        }
        assert_eq!(a.obs, [2.0, 1.0, 1.0], "{mode:?}");
        let steps = if mode == Autoreset::NextStep { 3 } else { 2 };
        for _ in 0..steps {
            venv.step(Elements::I32(&[0]), a.out()).unwrap();
        }
        assert_eq!(a.obs, [2.0, 2.0, 1.0], "{mode:?}");
    }
}

/// [`Starts`] with rows stepped together.
struct Together;

impl Env for Together {
    fn spec(&self) -> Spec<'_> {
        Spec { env_id: 9003, ..Starts.spec() }
    }

    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        Starts.reset(row, state, rng, obs)
    }

    fn restart(&self, row: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        Starts.restart(row, level, state, rng, obs)
    }

    fn step(&self, row: usize, state: &mut [u8], rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        Starts.step(row, state, rng, action, obs)
    }

    fn step_rows(&self, state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize {
        let rows = action.len() & !7;
        for (i, state) in state.chunks_exact_mut(24).take(rows).enumerate() {
            let obs = out.obs.get(3 * i, 3 * i + 3).unwrap();
            let step = self.step(0, state, &mut Rng::seeded(0), Elements::I32(&[0]), obs).unwrap();
            (out.reward[i], out.terminated[i], out.truncated[i]) = (step.reward, 0, 0);
        }
        rows
    }
}

#[test]
fn an_environment_starts_again_in_the_level_of_the_step_that_ended_it() {
    fn check<E: Env>(env: &E, n: u32, ranges: &[[usize; 2]]) {
        for mode in MODES {
            let config = VecEnvConfig { max_episode_steps: 1, ..config(n, mode) };
            let mut mem = block(env, &config);
            let mut venv = attach(&mut mem, env);
            let mut a = Arrays::new(n as usize, 3);
            venv.reset(None, a.first()).unwrap();
            let (mut starts, mut ended) = ([1.0, 0.0, 0.0], None);
            let mut rng = Rng::seeded(5);
            for t in 0..40 {
                let level = if rng.coin() { Level::Same } else { Level::New };
                let again = ended.take();
                if mode == Autoreset::Disabled && again.is_some() {
                    venv.reset(None, a.first()).unwrap();
                    starts[1] += 1.0;
                } else if let Some(level) = again {
                    starts[1 + level as usize] += 1.0;
                }
                // A block saved between an end and the next start keeps the level, too.
                let copy = mem.clone();
                mem.fill(!0);
                mem = copy;
                venv = attach(&mut mem, env);
                for &[begin, end] in ranges {
                    let (n, mut rows) = (end - begin, venv.rows());
                    let out = a.out().range(begin, end, 3).unwrap();
                    let mut rows = rows.reborrow().range(begin, end).unwrap();
                    rows.step_env(env, level, Elements::I32(&vec![0; n]), out).unwrap();
                }
                match mode {
                    Autoreset::SameStep => starts[1 + level as usize] += 1.0,
                    Autoreset::NextStep if again.is_some() => {}
                    _ => ended = Some(level),
                }
                assert_eq!(a.obs, starts.repeat(n as usize), "{mode:?}, {n} rows, step {t}");
            }
            assert!(starts[1] > 3.0 && (starts[2] > 3.0 || mode == Autoreset::Disabled));
        }
    }
    check(&Starts, 1, &[[0, 1]]);
    check(&Starts, 9, &[[0, 9]]);
    check(&Together, 9, &[[0, 9]]);
    check(&Together, 70, &[[0, 70]]);
    check(&Together, 70, &[[33, 70], [0, 1], [1, 33]]);
}

/// Observes the number of its row, and allows the choices below it.
struct Numbered;

impl Env for Numbered {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(1), Space::discrete(&[4]));
        Spec { env_id: 9200, state_size: 0, max_episode_steps: 2, obs, action, wrappers: 0 }
    }

    fn reset(&self, row: usize, _: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        obs.f32()?[0] = row as f32;
        Ok(())
    }

    fn restart(&self, row: usize, _: Level, _: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        obs.f32()?[0] = 100.0 + row as f32;
        Ok(())
    }

    fn step(&self, row: usize, _: &mut [u8], _: &mut Rng, _: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        obs.f32()?[0] = row as f32;
        Ok(Step { reward: row as f32, ..Step::default() })
    }

    fn lives(&self, row: usize, _: &[u8]) -> Result<u32> {
        Ok(row as u32)
    }

    fn action_mask(&self, row: usize, _: &[u8], mask: &mut [u8]) -> Result {
        mask.iter_mut().enumerate().for_each(|(choice, flag)| *flag = (choice < row).into());
        Ok(())
    }

    fn render(&self, row: usize, _: &[u8], _: usize, _: usize, rgb: &mut [u8]) -> Result {
        rgb.fill(row as u8);
        Ok(())
    }
}

#[test]
fn an_environment_is_told_its_row_bare_and_within_wrappers() {
    let list = [Wrapper::NoopReset { max: 1, exactly: 1, noop: 0 }, Wrapper::ClipReward];
    let wrapped = Pipeline::new(&Numbered, &list).unwrap();
    for (env, clipped) in [(&Numbered as &dyn Env, false), (&wrapped, true)] {
        let config = config(4, Autoreset::SameStep);
        let mut block = block(env, &config);
        let mut venv = attach(&mut block, env);
        let mut a = Arrays::with_masks(4, 1, 4);
        (a.obs, a.reward) = (vec![0.0; 4], vec![0.0; 4]);
        venv.reset_range(1, 4, Some(1), a.first()).unwrap();
        assert_eq!(a.obs, [0.0, 1.0, 2.0, 3.0]);
        for t in 0..2 {
            let out = StepOut { final_action_mask: None, valid: None, ..a.out() };
            venv.step_range(2, 4, Elements::I32(&[0; 4]), out).unwrap();
            assert_eq!(a.reward, if clipped { [0.0, 0.0, 1.0, 1.0] } else { [0.0, 0.0, 2.0, 3.0] });
            assert_eq!(a.mask[8..], [1, 1, 0, 0, 1, 1, 1, 0]);
            let first = if clipped { [0.0, 1.0, 2.0, 3.0] } else { [0.0, 1.0, 102.0, 103.0] };
            assert_eq!(a.obs, if t == 0 { [0.0, 1.0, 2.0, 3.0] } else { first });
        }
        let (mut mask, mut rgb) = ([9; 4], [0; 3]);
        venv.action_mask(3, &mut mask).unwrap();
        venv.render(2, 1, 1, &mut rgb).unwrap();
        assert_eq!((mask, venv.lives(1), rgb), ([1, 1, 1, 0], Ok(1), [2; 3]));
    }
}
