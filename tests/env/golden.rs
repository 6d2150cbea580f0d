//! The classic environments against traces of the real Gymnasium, recorded by `tests/golden/record.py`.

use rlcore::env::{Autoreset, Builtin, Env, StepOut, VecEnv, VecEnvConfig};
use rlcore::space::{Element, Elements, ElementsMut};

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
    let mut block = vec![0u64; VecEnv::size(&env, &config).unwrap() / 8];
    let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut block), &env, &config).unwrap();

    let mut obs = vec![0.0; n * obs_len];
    let (mut reward, mut terminated, mut truncated, mut valid) = (vec![0.0; n], vec![9; n], vec![9; n], vec![9; n]);
    let mut ended_before = vec![false; n];
    venv.reset(Some(seed.into()), ElementsMut::F32(&mut obs)).unwrap();
    same(&obs, &t.f32s(n * obs_len), "first obs");
    for step in 0..steps {
        let (floats, ints);
        let action = if env.spec().action.kind == Element::I32 {
            ints = t.i32s(n);
            Elements::I32(&ints)
        } else {
            floats = t.f32s(n);
            Elements::F32(&floats)
        };
        let mut final_obs = vec![f32::NAN; n * obs_len];
        let out = StepOut {
            obs: ElementsMut::F32(&mut obs),
            reward: &mut reward,
            terminated: &mut terminated,
            truncated: &mut truncated,
            final_obs: Some(ElementsMut::F32(&mut final_obs)),
            valid: Some(&mut valid),
            action_mask: None,
            final_action_mask: None,
        };
        venv.step(action, out).unwrap();
        same(&obs, &t.f32s(n * obs_len), &format!("{file} obs, step {step}"));
        same(&reward, &t.f32s(n), &format!("{file} reward, step {step}"));
        assert_eq!(terminated, t.flags(n), "{file} terminated, step {step}");
        assert_eq!(truncated, t.flags(n), "{file} truncated, step {step}");
        for i in 0..n {
            let row = &final_obs[i * obs_len..][..obs_len];
            let ended = terminated[i] | truncated[i] != 0;
            if ended {
                same(row, &t.f32s(obs_len), &format!("{file} final_obs, step {step}"));
            } else {
                assert!(row.iter().all(|x| x.is_nan()), "final_obs of a row that goes on was written");
            }
            assert_eq!(valid[i] == 0, autoreset == Autoreset::NextStep && ended_before[i]);
            ended_before[i] = ended;
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
