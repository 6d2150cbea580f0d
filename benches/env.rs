//! Environment steps per second: `env/<name>/N<num_envs>`, one thread, same-step autoreset, random actions.
//!
//! Limits. One environment: the latency of the chain from one state to the next, for CartPole two divisions and the products
//! between them. 4096 environments: instructions. At AVX2 a row takes 69 (CartPole), 64 (MountainCar), 76
//! (MountainCarContinuous), 552 (Acrobot: 15 sines and cosines, 16 divisions) and 100 (Pendulum), resets included
//! (callgrind). A row of CartPole reads and writes about 100 bytes, 64 of them its state; they stay in the L2 cache.

mod limit;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::env::{
    Acrobot, CartPole, Env, MountainCar, MountainCarContinuous, Pendulum, StepOut, VecEnv, VecEnvConfig,
};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

fn run<E: Env>(c: &mut Criterion, name: &str, env: &E) {
    let spec = env.spec();
    let obs_len = spec.obs.len as usize;
    let mut group = c.benchmark_group(format!("env/{name}"));
    for n in [1usize, 64, 4096] {
        let config = VecEnvConfig { num_envs: n as u32, ..Default::default() };
        let mut block = vec![0u64; VecEnv::size(env, &config).unwrap() / 8];
        let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut block), env, &config).unwrap();
        let (mut obs, mut final_obs) = (vec![0.0; n * obs_len], vec![0.0; n * obs_len]);
        let (mut reward, mut terminated, mut truncated) = (vec![0.0; n], vec![0; n], vec![0; n]);
        let mut rng = Rng::seeded(1);
        // 64 batches of actions, used in turn.
        let choices = spec.action.n.first().map_or(1, |&n| u64::from(n));
        let ints: Vec<i32> = (0..64 * n).map(|_| (rng.next_u64() % choices) as i32).collect();
        let floats: Vec<f32> = (0..64 * n).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect();
        let batches: Vec<Elements> = match spec.action.kind {
            Element::I32 => ints.chunks(n).map(Elements::I32).collect(),
            _ => floats.chunks(n).map(Elements::F32).collect(),
        };
        let mut batches = batches.iter().cycle();
        venv.reset(None, ElementsMut::F32(&mut obs)).unwrap();
        let (obs, final_obs) = (&mut obs[..], &mut final_obs[..]);
        let (reward, terminated, truncated) = (&mut reward[..], &mut terminated[..], &mut truncated[..]);
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("N{n}")), |b| {
            b.iter(|| {
                let out = StepOut {
                    obs: ElementsMut::F32(obs),
                    reward,
                    terminated,
                    truncated,
                    final_obs: Some(ElementsMut::F32(final_obs)),
                    valid: None,
                    action_mask: None,
                    final_action_mask: None,
                };
                venv.step(*batches.next().unwrap(), out).unwrap();
            });
        });
        // The block and the action are read, the block and four arrays are written.
        let row = 4 * spec.action.len as usize + 4 * obs_len + 4 + 2;
        limit::copy(&format!("env/{name}"), [&format!("N{n}"), ""], 16 * block.len() + n * row);
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    run(c, "CartPole-v1", &CartPole);
    run(c, "MountainCar-v0", &MountainCar);
    run(c, "MountainCarContinuous-v0", &MountainCarContinuous);
    run(c, "Acrobot-v1", &Acrobot);
    run(c, "Pendulum-v1", &Pendulum);
}

criterion_group!(benches, all);
fn main() {
    limit::run(benches);
}
