//! The classic environments against traces of the real Gymnasium, recorded by `tests/golden/record.py`.

use rlcore::env::{Autoreset, Builtin, Env, VecEnvConfig};
use rlcore::space::Element;

use super::host::{Arrays, act, attach, block};

/// Reads a trace from front to back.
struct Trace<'a>(&'a [u8]);

impl Trace<'_> {
    fn bytes<const W: usize>(&mut self, n: usize) -> Vec<[u8; W]> {
        let (head, rest) = self.0.split_at(n * W);
        self.0 = rest;
        head.as_chunks::<W>().0.to_vec()
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes(1)[0])
    }
    fn f32s(&mut self, n: usize) -> Vec<f32> {
        self.bytes(n).into_iter().map(f32::from_le_bytes).collect()
    }
    fn i32s(&mut self, n: usize) -> Vec<i32> {
        self.bytes(n).into_iter().map(i32::from_le_bytes).collect()
    }
    fn flags(&mut self, n: usize) -> Vec<u8> {
        self.bytes::<1>(n).into_iter().map(|[b]| b).collect()
    }
}

/// Equal bits: stricter than the promised 1e-6.
fn same(ours: &[f32], theirs: &[f32], what: &str) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!(a.to_bits() == b.to_bits(), "{what}: {a} is not {b}");
    }
}

fn follow(file: &str, autoreset: Autoreset) {
    let (name, _) = file.split_once('.').unwrap();
    let bytes = std::fs::read(format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut t = Trace(&bytes);
    let [seed, steps, n, obs_len, kind] = [(); 5].map(|()| t.u32());
    let (n, obs_len) = (n as usize, obs_len as usize);

    let env = Builtin::from_name(name).unwrap();
    assert_eq!((env.spec().obs.len as usize, env.spec().action.kind as u32), (obs_len, kind));
    let config = VecEnvConfig { num_envs: n as u32, autoreset, ..Default::default() };
    let mut block = block(&env, &config);
    let (mut venv, mut a) = (attach(&mut block, &env), Arrays::new(n, obs_len));
    let mut ended_before = vec![false; n];
    venv.reset(Some(seed.into()), a.first()).unwrap();
    same(&a.obs, &t.f32s(n * obs_len), "first obs");
    for step in 0..steps {
        let discrete = env.spec().action.kind == Element::I32;
        let (choices, numbers) = if discrete { (t.i32s(n), vec![]) } else { (vec![], t.f32s(n)) };
        a.final_obs.fill(f32::NAN);
        venv.step(act(&env, &choices, &numbers), a.out()).unwrap();
        same(&a.obs, &t.f32s(n * obs_len), &format!("{file} obs, step {step}"));
        same(&a.reward, &t.f32s(n), &format!("{file} reward, step {step}"));
        assert_eq!(a.terminated, t.flags(n), "{file} terminated, step {step}");
        assert_eq!(a.truncated, t.flags(n), "{file} truncated, step {step}");
        for (i, before) in ended_before.iter_mut().enumerate() {
            let row = a.row(i).4;
            if a.ended(i) {
                same(row, &t.f32s(obs_len), &format!("{file} final_obs, step {step}"));
            } else {
                assert!(row.iter().all(|x| x.is_nan()), "final_obs of a row that goes on was written");
            }
            assert_eq!(a.valid[i] == 0, autoreset == Autoreset::NextStep && *before);
            *before = a.ended(i);
        }
    }
    assert!(t.0.is_empty());
}

#[test]
fn cartpole() {
    follow("CartPole-v1.same-step.bin", Autoreset::SameStep);
}

#[test]
fn cartpole_with_next_step_autoreset() {
    follow("CartPole-v1.next-step.bin", Autoreset::NextStep);
}

#[test]
fn pendulum() {
    follow("Pendulum-v1.same-step.bin", Autoreset::SameStep);
}

#[test]
fn mountain_car() {
    follow("MountainCar-v0.same-step.bin", Autoreset::SameStep);
}

#[test]
fn mountain_car_continuous() {
    follow("MountainCarContinuous-v0.same-step.bin", Autoreset::SameStep);
}

#[test]
fn acrobot() {
    follow("Acrobot-v1.same-step.bin", Autoreset::SameStep);
}
