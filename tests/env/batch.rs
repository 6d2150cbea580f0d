//! Asynchronous steps: real threads against the serial run, every transition of the state machine, failing rows and dying
//! workers.

use bytemuck::{Pod, Zeroable};
use rlcore::block::FIELD_ALIGN;
use rlcore::env::batch::{self, Batch, Config, Counts, MAX_WORKER, Setup};
use rlcore::env::{Autoreset, BUILTINS, CartPole, Env, Level, Spec, Step, VecEnv, VecEnvConfig};
use rlcore::error::{Error, Given, Kind, Result};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::host::{Arrays, Groups, MARK, MODES, act, attach, begin, block, bytes, config, with};

/// A scripted environment: the action decides the outcome, and a step of `WAIT` blocks until the gate opens.
#[derive(Default)]
struct Script {
    inside: AtomicU32,
    open: AtomicBool,
}

const GO: i32 = 0;
const TERMINATE: i32 = 1;
const TRUNCATE: i32 = 2;
const FAIL: i32 = 3;
const BAD_REWARD: i32 = 4;
const WAIT: i32 = 5;
const PANIC: i32 = 6;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct State {
    draw: f32,
    steps: u32,
}

impl Script {
    fn wait_until_inside(&self, count: u32) {
        while self.inside.load(Ordering::Acquire) < count {
            thread::yield_now();
        }
    }
}

impl Env for Script {
    fn spec(&self) -> Spec<'_> {
        let (obs, action) = (Space::unbounded(2), Space::discrete(&[7]));
        Spec { env_id: 9001, state_size: 8, max_episode_steps: 0, obs, action, wrappers: 0 }
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let s: &mut State = bytemuck::from_bytes_mut(state);
        *s = State { draw: rng.uniform() as f32, steps: 0 };
        obs.f32()?.copy_from_slice(&[s.draw, 0.0]);
        Ok(())
    }

    /// The level is the random draw, which a restart in the same level keeps.
    fn restart(&self, row: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        if level == Level::New {
            return self.reset(row, state, rng, obs);
        }
        let s: &mut State = bytemuck::from_bytes_mut(state);
        s.steps = 0;
        obs.f32()?.copy_from_slice(&[s.draw, 0.0]);
        Ok(())
    }

    fn step(&self, _: usize, state: &mut [u8], rng: &mut Rng, action: Elements, obs: ElementsMut) -> Result<Step> {
        let s: &mut State = bytemuck::from_bytes_mut(state);
        let action = action.i32()?[0];
        s.steps += 1;
        obs.f32()?.copy_from_slice(&[s.draw, s.steps as f32]);
        let mut step = Step { reward: rng.uniform() as f32, ..Step::default() };
        match action {
            TERMINATE => step.terminated = true,
            TRUNCATE => step.truncated = true,
            FAIL => return Err(Error::new(Kind::Callback, "script: a step that works")),
            BAD_REWARD => step.reward = f32::NAN,
            WAIT => {
                self.inside.fetch_add(1, Ordering::Release);
                while !self.open.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            }
            PANIC => panic!("the worker dies"),
            _ => {}
        }
        Ok(step)
    }
}

/// The action of a row in a step, whichever worker takes it.
fn action(row: usize, step: usize) -> i32 {
    let h = (row as u32 * 31 + step as u32).wrapping_mul(0x9e37_79b9) >> 16;
    match h % 11 {
        0 => TERMINATE,
        1 => TRUNCATE,
        _ => GO,
    }
}

fn actions(n: usize, step: usize) -> Vec<i32> {
    (0..n).map(|row| action(row, step)).collect()
}

fn kind_of(result: Result) -> Option<Kind> {
    result.err().map(|e| e.kind)
}

fn collect(batch: &Batch<'_>, groups: &Groups<'_>, arrays: &mut Arrays) -> Result {
    // A worker that panicked never finishes: after a minute the others are released, so that the test fails instead of hanging.
    let patience = Instant::now() + Duration::from_secs(60);
    while Instant::now() < patience {
        match batch.step_wait(groups, arrays.out()) {
            Err(e) if e.kind == Kind::NotReady => thread::yield_now(),
            result => return result,
        }
    }
    batch.close();
    panic!("a worker is lost");
}

/// The results when all `n` rows are stepped together, and the memory after the last step.
fn serial(n: usize, mode: Autoreset, steps: usize) -> (Vec<u64>, Vec<Arrays>) {
    let env = Script::default();
    let (mut mem, mut arrays) = begin(&env, &config(n as u32, mode));
    let mut venv = attach(&mut mem, &env);
    let mut one = |step| {
        arrays.final_obs.fill(MARK);
        venv.step(Elements::I32(&actions(n, step)), arrays.out()).unwrap();
        arrays.clone()
    };
    let all = (0..steps).map(&mut one).collect();
    (mem, all)
}

/// Workers that run until the batch is closed, `max` groups at a time.
fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    max: &'static [u32],
    (batch, groups): (&'scope Batch<'scope>, &'scope Groups<'_>),
    env: &'scope Script,
) {
    for (worker, &max) in (0..).zip(max) {
        scope.spawn(move || {
            while batch.run(groups, groups, env, worker, max).is_ok() {
                thread::yield_now();
            }
        });
    }
}

#[test]
fn any_number_of_workers_and_groups_gives_the_serial_bytes() {
    const N: usize = 42;
    const ALL: u32 = u32::MAX;
    for mode in [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Legacy] {
        let (mem, serial) = serial(N, mode, 20);
        for in_series in [42, 21, 14, 6, 1] {
            let mut first = None;
            for workers in [&[][..], &[ALL], &[ALL, 1], &[ALL, 1, ALL], &[ALL, 1, ALL, 1, ALL, 1, ALL]] {
                let env = Script::default();
                let what = format!("{mode:?}, {in_series} in series, {} workers", workers.len());
                let (venv, own, ()) = with(&env, config(N as u32, mode), in_series, |batch, groups, arrays| {
                    thread::scope(|scope| {
                        spawn(scope, workers, (batch, groups), &env);
                        for (step, expected) in serial.iter().enumerate() {
                            arrays.final_obs.fill(MARK);
                            batch.step_async(groups, groups, &env, Elements::I32(&actions(N, step))).unwrap();
                            if workers.is_empty() {
                                let all = N as u32 / in_series;
                                assert_eq!(batch.run(groups, groups, &env, 9, u32::MAX).unwrap(), all);
                            }
                            collect(batch, groups, arrays).unwrap();
                            assert!(arrays == expected, "{what}, step {step}");
                        }
                        batch.close();
                    });
                });
                assert!(venv == mem, "{what}");
                assert_eq!(*first.get_or_insert(own.clone()), own, "the batch's own columns");
            }
        }
    }
}

#[test]
fn the_librarys_environments_step_as_they_do_serially() {
    for (name, env) in BUILTINS.iter().filter(|(_, env)| env.spec().obs.kind == Element::F32) {
        for mode in MODES {
            let config = VecEnvConfig { max_episode_steps: 7, ..config(6, mode) };
            let (mut mem, mut expected) = begin(env, &config);
            let mut venv = attach(&mut mem, env);
            let (choices, numbers) =
                (vec![0; 6 * env.spec().action.len as usize], vec![0.5; 6 * env.spec().action.len as usize]);
            let act = || act(env, &choices, &numbers);
            let (own, _, ()) = with(env, config, 3, |batch, groups, arrays| {
                for _ in 0..12 {
                    let serial = venv.step(act(), expected.out());
                    let submitted = batch.step_async(groups, groups, env, act());
                    assert_eq!(kind_of(serial), kind_of(submitted), "{name} {mode:?}");
                    if submitted.is_ok() {
                        batch.run(groups, groups, env, 0, u32::MAX).unwrap();
                        batch.step_wait(groups, arrays.out()).unwrap();
                    } else {
                        venv.reset(None, ElementsMut::F32(&mut expected.obs)).unwrap();
                        batch.reset(groups, groups, env, None, arrays.first()).unwrap();
                    }
                    assert!(*arrays == expected, "{name} {mode:?}");
                }
            });
            assert_eq!(own, mem, "{name} {mode:?}");
        }
    }
}

/// Many small groups, and threads that look for work in the same places: two workers on one group would be detected by its lock
/// or by its step count.
#[test]
fn no_two_workers_have_one_group() {
    const N: usize = 4000;
    let env = Script::default();
    with(&env, config(N as u32, Autoreset::SameStep), 1, |batch, groups, arrays| {
        thread::scope(|scope| {
            for worker in 0..3 {
                let env = &env;
                scope.spawn(move || while batch.run(groups, groups, env, worker, u32::MAX).is_ok() {});
            }
            for step in 1..=40 {
                batch.step_async(groups, groups, &env, Elements::I32(&[GO; N])).unwrap();
                collect(batch, groups, arrays).unwrap();
                assert!(arrays.obs.chunks(2).all(|obs| obs[1] == step as f32), "step {step}");
            }
            batch.close();
        });
    });
}

#[test]
fn each_call_is_allowed_in_its_state_only() {
    let env = Script::default();
    with(&env, config(4, Autoreset::SameStep), 2, |batch, groups, arrays| {
        let go = Elements::I32(&[GO; 4]);
        let step_async = |a| kind_of(batch.step_async(groups, groups, &env, a));
        let send = |rows: &[u32], a| kind_of(batch.send(groups, groups, &env, rows, a));
        let run = |max| batch.run(groups, groups, &env, 0, max);
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotPending));
        assert_eq!(run(9), Ok(0));
        assert_eq!(step_async(go), None);

        let before = arrays.clone();
        assert_eq!(step_async(Elements::I32(&[TERMINATE; 4])), Some(Kind::Busy));
        assert_eq!(send(&[0, 1], Elements::I32(&[GO; 2])), Some(Kind::Busy));
        let one = batch.reset_one(groups, groups, &env, 1, None, arrays.first());
        assert_eq!(kind_of(one), Some(Kind::Busy));
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotReady));
        assert_eq!(run(0), Ok(0));
        assert_eq!(run(1), Ok(1));
        assert_eq!(step_async(go), Some(Kind::Busy));
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotReady));
        assert_eq!(run(9), Ok(1));
        assert_eq!(step_async(go), Some(Kind::Busy));
        assert_eq!(*arrays, before, "a refused call writes nothing");
        assert_eq!(batch.step_wait(groups, arrays.out()), Ok(()));
        assert_eq!((arrays.obs[1], &*arrays.terminated), (1.0, &[0; 4][..]), "the first actions counted");
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotPending));
        let one = batch.reset_one(groups, groups, &env, 1, None, arrays.first());
        assert_eq!((one, arrays.obs[1], arrays.obs[3]), (Ok(()), 1.0, 0.0), "row 1 alone");
        let one = batch.reset_one(groups, groups, &env, 4, None, arrays.first());
        assert_eq!(kind_of(one), Some(Kind::Range));
        assert_eq!(kind_of(run_as(batch, groups, &env, MAX_WORKER + 1)), Some(Kind::Range));
        assert_eq!(kind_of(run_as(batch, groups, &env, MAX_WORKER)), None);
    });
}

#[test]
fn errors_in_actions_and_rows_are_reported_before_anything_changes() {
    let env = Script::default();
    with(&env, config(4, Autoreset::SameStep), 2, |batch, groups, arrays| {
        let step_async = |a| kind_of(batch.step_async(groups, groups, &env, a));
        let send = |rows: &[u32], a| kind_of(batch.send(groups, groups, &env, rows, a));
        let (go, two) = (Elements::I32(&[GO; 4]), Elements::I32(&[GO; 2]));
        assert_eq!(step_async(Elements::I32(&[0, 0, 0, 7])), Some(Kind::Range));
        assert_eq!(step_async(Elements::I32(&[0; 3])), Some(Kind::Shape));
        assert_eq!(step_async(Elements::F32(&[0.0; 4])), Some(Kind::Shape));
        for rows in [&[][..], &[0], &[0, 1, 2], &[1, 2], &[1, 0], &[2, 4], &[3, 4], &[4, 5], &[0, 0], &[u32::MAX, 0]] {
            assert_eq!(send(rows, two), Some(Kind::Range), "{rows:?}");
        }
        for rows in [[2, 3, 0, 1], [0, 1, 0, 1], [0, 1, 3, 2]] {
            assert_eq!(send(&rows, go), Some(Kind::Range), "{rows:?}");
        }
        assert_eq!(send(&[0, 1], go), Some(Kind::Shape));
        assert_eq!(kind_of(batch.step_async(groups, groups, &CartPole, go)), Some(Kind::Config));
        assert_eq!(batch.run(groups, groups, &CartPole, 0, 1).unwrap_err().kind, Kind::Config);
        let mut short = Arrays::new(3, 2);
        assert_eq!(kind_of(batch.step_wait(groups, short.out())), Some(Kind::Shape));
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotPending), "nothing was submitted");
    });
}

/// Closing a batch again has no effect.
#[test]
fn a_batch_may_be_closed_at_any_time() {
    let env = Script::default();
    with(&env, config(4, Autoreset::SameStep), 2, |batch, groups, arrays| {
        assert_eq!(batch.step_async(groups, groups, &env, Elements::I32(&[GO; 4])), Ok(()));
        assert_eq!(batch.run(groups, groups, &env, 0, 1), Ok(1));
        batch.close();
        batch.close();
        let closed = [
            kind_of(batch.step_async(groups, groups, &env, Elements::I32(&[GO; 4]))),
            kind_of(batch.send(groups, groups, &env, &[0, 1], Elements::I32(&[GO; 2]))),
            kind_of(run_as(batch, groups, &env, 0)),
            kind_of(batch.reset(groups, groups, &env, None, arrays.first())),
            kind_of(batch.reset_one(groups, groups, &env, 0, None, arrays.first())),
            kind_of(batch.step_wait(groups, arrays.out())),
            kind_of(batch.recv(groups, &mut [0; 2], arrays.out())),
            kind_of(batch.abandon(groups, groups, 0).map(drop)),
            kind_of(batch.failed(groups, &mut [0; 4])),
        ];
        assert_eq!(closed, [Some(Kind::Config); 9]);
        let told = batch.step_wait(groups, arrays.out()).unwrap_err();
        assert!(told.what.contains("closed"), "{told}");
    });
}

fn run_as(batch: &Batch<'_>, groups: &Groups<'_>, env: &Script, worker: u32) -> Result {
    batch.run(groups, groups, env, worker, 1).map(drop)
}

#[test]
fn environments_that_end_start_again_in_the_level_that_was_asked_for() {
    let env = Script::default();
    for level in [Level::New, Level::Same] {
        let (mut mem, mut serial) = begin(&env, &config(3, Autoreset::SameStep));
        let mut venv = attach(&mut mem, &env);
        let first = serial.obs.clone();
        let act = [TERMINATE, GO, TRUNCATE];
        venv.step_env(level, Elements::I32(&act), serial.out()).unwrap();
        with(&env, config(3, Autoreset::SameStep), 1, |batch, groups, arrays| {
            batch.step_env_async(groups, groups, &env, level, Elements::I32(&act)).unwrap();
            let counts = Counts { closed: false, num_pending: 3, num_running: 0, num_done: 0 };
            assert_eq!(batch.count(), counts);
            let busy = batch.step_env_async(groups, groups, &env, level, Elements::I32(&act));
            assert_eq!(kind_of(busy), Some(Kind::Busy));
            batch.run(groups, groups, &env, 0, 2).unwrap();
            assert_eq!(batch.count(), Counts { num_pending: 1, num_done: 2, ..counts });
            batch.run(groups, groups, &env, 0, 2).unwrap();
            batch.step_wait(groups, arrays.out()).unwrap();
            assert!(*arrays == serial, "{level:?}");
            assert_eq!(arrays.obs[0] == first[0], level == Level::Same);
            // Rows submitted in any level are withdrawn by `close`.
            batch.step_env_async(groups, groups, &env, level, Elements::I32(&act)).unwrap();
            batch.close();
            assert_eq!(batch.count(), Counts { closed: true, num_pending: 0, num_running: 0, num_done: 0 });
        });
    }
}

#[test]
fn a_reset_discards_what_is_under_way_and_waits_for_workers_outside() {
    let env = Script::default();
    with(&env, config(4, Autoreset::SameStep), 1, |batch, groups, arrays| {
        // No worker has begun: all rows are withdrawn.
        let first = arrays.obs.clone();
        let reset = |arrays: &mut Arrays| batch.reset(groups, groups, &env, Some(3), arrays.first());
        batch.step_async(groups, groups, &env, Elements::I32(&[GO; 4])).unwrap();
        assert_eq!(batch.run(groups, groups, &env, 0, 1), Ok(1), "one group is done and forgotten");
        reset(arrays).unwrap();
        assert_eq!(arrays.obs, first, "the same seed gives the first observations again");
        assert_eq!(
            kind_of(batch.step_wait(groups, arrays.out())),
            Some(Kind::NotPending),
            "results are never delivered"
        );
        assert_eq!(batch.run(groups, groups, &env, 0, 9), Ok(0), "nothing is left to run");

        // One worker is inside row 0, another has done row 1; rows 2 and 3 are not begun.
        thread::scope(|scope| {
            batch.step_async(groups, groups, &env, Elements::I32(&[WAIT, GO, GO, GO])).unwrap();
            let worker = scope.spawn(|| batch.run(groups, groups, &env, 1, 1));
            env.wait_until_inside(1);
            assert_eq!(batch.run(groups, groups, &env, 0, 1), Ok(1));
            let inside = reset(arrays).unwrap_err();
            assert_eq!((inside.kind, inside.given), (Kind::NotReady, Given::Int(1)));
            assert_eq!(batch.run(groups, groups, &env, 0, 9), Ok(0), "what was not begun was taken back");
            let busy = batch.step_async(groups, groups, &env, Elements::I32(&[GO; 4]));
            assert_eq!(kind_of(busy), Some(Kind::Busy));
            let one = batch.reset_one(groups, groups, &env, 2, None, arrays.first());
            assert_eq!(kind_of(one), Some(Kind::Busy));
            assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotPending));
            assert_eq!(kind_of(batch.recv(groups, &mut [0], Arrays::new(1, 2).out())), Some(Kind::NotPending));
            assert_eq!(arrays.obs, first);
            env.open.store(true, Ordering::Release);
            assert_eq!(worker.join().unwrap(), Ok(1));
        });
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotPending), "late results neither");
        reset(arrays).unwrap();
        assert_eq!(arrays.obs, first);
        batch.step_async(groups, groups, &env, Elements::I32(&[GO; 4])).unwrap();
        batch.run(groups, groups, &env, 0, 9).unwrap();
        batch.step_wait(groups, arrays.out()).unwrap();
        assert_eq!(arrays.obs[1], 1.0);
    });
}

#[test]
fn a_row_that_fails_takes_no_other_with_it() {
    for mode in MODES {
        let env = Script::default();
        with(&env, config(6, mode), 3, |batch, groups, arrays| {
            let go = Elements::I32(&[GO; 6]);
            let bad = [GO, FAIL, TERMINATE, GO, GO, BAD_REWARD];
            batch.step_async(groups, groups, &env, Elements::I32(&bad)).unwrap();
            assert_eq!(batch.run(groups, groups, &env, 0, 9), Ok(2), "failing is no error of the worker's");
            let before = arrays.clone();
            let e = batch.step_wait(groups, arrays.out()).unwrap_err();
            assert_eq!((e.kind, e.given), (Kind::Callback, Given::Int(1)), "{mode:?}");
            assert_eq!((arrays.row(1), arrays.row(5)), (before.row(1), before.row(5)), "failed rows are left out");
            for row in [0, 2, 3, 4] {
                let (_, reward, terminated, _, last, valid) = arrays.row(row);
                assert!((0.0..1.0).contains(&reward) && valid == 1, "{mode:?} row {row}");
                assert_eq!((terminated == 1, last[0] != MARK), (row == 2, row == 2), "{mode:?} row {row}");
            }
            let mut failed = [9; 6];
            batch.failed(groups, &mut failed).unwrap();
            assert_eq!(failed, [0, 1, 0, 0, 0, 1]);
            // Only those rows have to be reset (and ended rows in the mode without autoreset).
            let e = batch.step_async(groups, groups, &env, go).unwrap_err();
            assert_eq!((e.kind, e.given), (Kind::NotReady, Given::Int(1)));
            for row in [1, 5] {
                batch.reset_one(groups, groups, &env, row, None, arrays.first()).unwrap();
            }
            batch.failed(groups, &mut failed).unwrap();
            assert_eq!(failed, [0; 6]);
            if mode == Autoreset::Disabled {
                let e = batch.step_async(groups, groups, &env, go).unwrap_err();
                assert_eq!((e.kind, e.given), (Kind::NotReady, Given::Int(2)));
                batch.reset_one(groups, groups, &env, 2, None, arrays.first()).unwrap();
            }
            batch.step_async(groups, groups, &env, go).unwrap();
            batch.run(groups, groups, &env, 0, 9).unwrap();
            batch.step_wait(groups, arrays.out()).unwrap();
            let reset_by_the_step = if mode == Autoreset::NextStep { 0.0 } else { 1.0 };
            assert_eq!((arrays.obs[1], arrays.obs[3], arrays.obs[7]), (2.0, 1.0, 2.0));
            assert_eq!(arrays.obs[5], reset_by_the_step);
        });
    }
    // The reported failure is that of the lowest row, whatever its kind.
    let env = Script::default();
    with(&env, config(2, Autoreset::SameStep), 1, |batch, groups, arrays| {
        batch.step_async(groups, groups, &env, Elements::I32(&[BAD_REWARD, FAIL])).unwrap();
        batch.run(groups, groups, &env, 0, 9).unwrap();
        let e = batch.step_wait(groups, arrays.out()).unwrap_err();
        assert_eq!((e.kind, e.given), (Kind::Value, Given::Int(0)));
    });
}

#[test]
fn a_worker_that_dies_takes_its_own_rows_only() {
    let env = Script::default();
    let (venv, ..) = with(&env, config(6, Autoreset::SameStep), 2, |batch, groups, arrays| {
        let go = Elements::I32(&[GO; 6]);
        assert_eq!(batch.abandon(groups, groups, 5), Ok(0), "nothing is under way");
        batch.step_async(groups, groups, &env, Elements::I32(&[GO, GO, GO, WAIT, GO, GO])).unwrap();
        thread::scope(|scope| {
            let lost = scope.spawn(|| {
                while env.inside.load(Ordering::Relaxed) == 0 {
                    batch.run(groups, groups, &env, 5, 1).unwrap();
                }
            });
            env.wait_until_inside(1);
            while batch.run(groups, groups, &env, 4, 1).unwrap() > 0 {}
            assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotReady));
            assert_eq!(batch.abandon(groups, groups, 4), Ok(0), "worker 4 is in no group");
            env.open.store(true, Ordering::Release);
            lost.join().unwrap();
        });
        collect(batch, groups, arrays).unwrap();

        // Now a worker that dies: for the batch, a step that never returns.
        batch.step_async(groups, groups, &env, Elements::I32(&[GO, GO, GO, GO, PANIC, GO])).unwrap();
        assert_eq!(batch.run(groups, groups, &env, 4, 2), Ok(2));
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let dead = thread::scope(|scope| scope.spawn(|| batch.run(groups, groups, &env, 5, 9)).join());
        std::panic::set_hook(hook);
        assert!(dead.is_err());
        assert_eq!(kind_of(batch.step_wait(groups, arrays.out())), Some(Kind::NotReady));
        let before = arrays.clone();
        assert_eq!(batch.abandon(groups, groups, 5), Ok(2));
        let e = batch.step_wait(groups, arrays.out()).unwrap_err();
        assert_eq!((e.kind, e.given), (Kind::Callback, Given::Int(4)));
        assert_eq!((arrays.row(4), arrays.row(5)), (before.row(4), before.row(5)));
        assert_eq!((arrays.obs[1], arrays.obs[7]), (2.0, 2.0), "the other rows are intact and delivered");
        let mut failed = [9; 6];
        batch.failed(groups, &mut failed).unwrap();
        assert_eq!(failed, [0, 0, 0, 0, 1, 1]);
        assert_eq!(kind_of(batch.step_async(groups, groups, &env, go)), Some(Kind::NotReady));
        for row in [4, 5] {
            batch.reset_one(groups, groups, &env, row, Some(row as u64), arrays.first()).unwrap();
        }
        batch.step_async(groups, groups, &env, go).unwrap();
        batch.run(groups, groups, &env, 6, 9).unwrap();
        batch.step_wait(groups, arrays.out()).unwrap();
        assert_eq!((arrays.obs[1], arrays.obs[9]), (3.0, 1.0));
    });
    assert!(!venv.is_empty());
}

/// Collects any rows that are done and sends them their next actions, until each row has taken all of its steps.
fn collect_as_they_come(batch: &Batch<'_>, groups: &Groups<'_>, env: &Script, serial: &[Arrays], runs_here: bool) {
    let (n, in_series) = (serial[0].reward.len(), batch.setup().in_series as usize);
    let (mut taken, mut left) = (vec![0; n], n);
    batch.step_async(groups, groups, env, Elements::I32(&actions(n, 0))).unwrap();
    while left > 0 {
        let (mut rows, mut got) = (vec![0; in_series], Arrays::new(in_series, 2));
        if runs_here {
            batch.run(groups, groups, env, 0, 1).unwrap();
        }
        match batch.recv(groups, &mut rows, got.out()) {
            Err(e) if e.kind == Kind::NotReady => continue,
            result => result.unwrap(),
        }
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
        let mut next = vec![];
        for (k, row) in rows.iter().map(|&row| row as usize).enumerate() {
            assert_eq!(got.row(k), serial[taken[row]].row(row), "step {} of row {row}", taken[row]);
            taken[row] += 1;
            next.push(action(row, taken[row]));
        }
        if taken[rows[0] as usize] < serial.len() {
            batch.send(groups, groups, env, &rows, Elements::I32(&next)).unwrap();
        } else {
            left -= rows.len();
        }
    }
    assert_eq!(taken, vec![serial.len(); n]);
    let more = batch.recv(groups, &mut [0; 6], Arrays::new(6, 2).out());
    assert_eq!(kind_of(more), Some(Kind::NotPending));
}

#[test]
fn rows_that_are_first_are_collected_first_and_each_keeps_its_own_trajectory() {
    for (in_series, mode) in [(1, Autoreset::SameStep), (2, Autoreset::SameStep), (3, Autoreset::NextStep)] {
        let (mem, serial) = serial(12, mode, 15);
        for workers in [&[][..], &[1], &[1; 2], &[1; 3], &[1; 7]] {
            let env = Script::default();
            let (own, ..) = with(&env, config(12, mode), in_series, |batch, groups, _| {
                thread::scope(|scope| {
                    spawn(scope, workers, (batch, groups), &env);
                    collect_as_they_come(batch, groups, &env, &serial, workers.is_empty());
                    batch.close();
                });
            });
            assert!(own == mem, "{in_series} in series, {} workers", workers.len());
        }
    }
}

#[test]
fn no_group_is_collected_twice_while_another_waits() {
    let env = Script::default();
    with(&env, config(5, Autoreset::SameStep), 1, |batch, groups, _| {
        let mut order = vec![];
        batch.step_async(groups, groups, &env, Elements::I32(&[GO; 5])).unwrap();
        for turn in 0..5 {
            batch.run(groups, groups, &env, 0, 9).unwrap();
            let mut rows = [9; 2];
            let mut got = Arrays::new(2, 2);
            batch.recv(groups, &mut rows, got.out()).unwrap();
            order.push(rows);
            assert_eq!(got.obs[1], [1.0, 1.0, 2.0, 2.0, 2.0][turn], "every row is stepped equally often");
            batch.send(groups, groups, &env, &rows, Elements::I32(&[GO; 2])).unwrap();
        }
        assert_eq!(order, [[0, 1], [2, 3], [0, 4], [1, 2], [3, 4]]);
        // More rows than were submitted will never be there; more than are done are not there yet.
        batch.run(groups, groups, &env, 0, 1).unwrap();
        let all = |n: usize| kind_of(batch.recv(groups, &mut vec![0; n], Arrays::new(n, 2).out()));
        assert_eq!((all(6), all(5), all(0)), (Some(Kind::NotPending), Some(Kind::NotReady), Some(Kind::Range)));
        batch.run(groups, groups, &env, 0, 9).unwrap();
        assert_eq!(all(5), None);
    });
}

#[test]
fn rows_of_idle_groups_may_be_reset_while_others_run() {
    let env = Script::default();
    with(&env, config(4, Autoreset::Disabled), 2, |batch, groups, arrays| {
        batch.send(groups, groups, &env, &[2, 3], Elements::I32(&[GO, GO])).unwrap();
        batch.reset_one(groups, groups, &env, 1, Some(8), arrays.first()).unwrap();
        let one = batch.reset_one(groups, groups, &env, 2, None, arrays.first());
        assert_eq!(kind_of(one), Some(Kind::Busy));
        batch.run(groups, groups, &env, 0, 9).unwrap();
        let before = arrays.clone();
        batch.step_wait(groups, arrays.out()).unwrap();
        assert_eq!((arrays.row(0), arrays.row(1)), (before.row(0), before.row(1)), "rows that were not submitted");
        assert_eq!((arrays.obs[5], arrays.obs[7]), (1.0, 1.0));
        let mut rng = Rng::seeded(8);
        assert_eq!(arrays.obs[2], rng.uniform() as f32, "the stream of the very seed");
    });
}

fn damaged(own: &[u64], change: impl FnOnce(&mut [u8])) -> Kind {
    let mut copy = own.to_vec();
    change(bytes(&mut copy));
    let before = copy.clone();
    let kind = batch::attach(bytes(&mut copy)).unwrap_err().kind;
    assert_eq!(copy, before, "attach only reads");
    kind
}

#[test]
fn what_no_call_can_produce_is_no_image() {
    let venv = *attach(&mut block(&CartPole, &config(6, Autoreset::SameStep)), &CartPole).setup();
    for in_series in [0, 4, 5, 7, 12, u32::MAX] {
        assert_eq!(batch::size(&venv, &Config { in_series }).unwrap_err().kind, Kind::Config, "{in_series}");
    }
    let config = Config { in_series: 2 };
    let mut own = vec![0u64; batch::size(&venv, &config).unwrap() / 8];
    let short = own.len() - 1;
    let mut room = own.clone();
    let e = batch::init(bytemuck::cast_slice_mut(&mut room[..short]), &venv, &config).unwrap_err();
    assert_eq!((e.kind, room == own), (Kind::Size, true));
    let (setup, share) = batch::init(bytes(&mut own), &venv, &config).unwrap();
    assert_eq!((setup.num_groups(), share.outcome.len(), share.action.len()), (3, 6, 6));
    let (again, _) = batch::attach(bytes(&mut own)).unwrap();
    assert_eq!(setup, again);
    assert_eq!(Setup::read(bytemuck::cast_slice(&own)).unwrap(), setup);

    let (spans, _) = batch::spans(&setup).unwrap();
    let words = spans.words.start();
    let low = |word: usize| if cfg!(target_endian = "big") { word + 3 } else { word }; // the low byte of a word
    for byte in 0..Setup::END {
        // Padding follows the header.
        if !(40..FIELD_ALIGN).contains(&byte) {
            let kind = damaged(&own, |mem| mem[byte] ^= 0x40);
            assert!(matches!(kind, Kind::Image | Kind::Size), "byte {byte}: {kind:?}");
        }
    }
    assert_eq!(damaged(&own, |mem| mem[low(words)] = 3), Kind::Image, "no such mode");
    assert_eq!(damaged(&own, |mem| mem[low(words + 4)] = 4), Kind::Image, "a turn behind the last group");
    assert_eq!(damaged(&own, |mem| mem[low(words + 8)] = 4), Kind::Image, "a turn behind the last group");
    assert_eq!(damaged(&own, |mem| mem[low(words + 12)] = 4), Kind::Image, "idle, and yet a worker's");
    assert_eq!(damaged(&own, |mem| mem[low(words + 12)] = 7), Kind::Image, "done, and yet a worker's");
    assert_eq!(damaged(&own, |mem| mem[low(words + 12)] = 9), Kind::Image, "pending in no level");
    assert_eq!(damaged(&own, |mem| mem[spans.outcome.start() + 5] = 4), Kind::Image, "no such outcome");
    let mut copy = own.clone();
    bytemuck::cast_slice_mut::<u64, u8>(&mut copy)[low(words + 12)] = 6;
    batch::attach(bytes(&mut copy)).unwrap(); // worker 1 was inside when it was copied
    let mut other = vec![0u64; 1000];
    let other: &mut [u8] = bytemuck::cast_slice_mut(&mut other);
    VecEnv::init(&mut *other, &CartPole, &VecEnvConfig::default()).unwrap();
    assert_eq!(batch::attach(other).unwrap_err().kind, Kind::Image, "another kind of block");

    let words: Vec<AtomicU32> = (0..6).map(|_| AtomicU32::new(0)).collect();
    assert!(Batch::over(setup, &words).is_ok());
    assert_eq!(Batch::over(setup, &words[1..]).unwrap_err().kind, Kind::Shape);
    assert_eq!(Batch::over(setup, &[]).unwrap_err().kind, Kind::Shape);
}

#[test]
fn another_vectorised_environment_is_refused() {
    let env = Script::default();
    with(&env, config(4, Autoreset::SameStep), 2, |batch, groups, _| {
        let foreign = VecEnvConfig { seed: 4, ..config(4, Autoreset::SameStep) };
        let (mut mem, _) = begin(&env, &foreign);
        let mut venv = attach(&mut mem, &env);
        let (low, high) = venv.rows().split_at(2).unwrap();
        let lanes = Groups { shares: vec![], lanes: vec![Mutex::new(low), Mutex::new(high)] };
        let refused = batch.step_async(groups, &lanes, &env, Elements::I32(&[GO; 4]));
        assert_eq!(kind_of(refused), Some(Kind::Config));
        assert_eq!(batch.run(groups, groups, &env, 0, 9), Ok(0), "nothing was submitted");
        let missing =
            batch.step_async(groups, &Groups { shares: vec![], lanes: vec![] }, &env, Elements::I32(&[GO; 4]));
        assert_eq!(kind_of(missing), Some(Kind::Shape));
    });
}
