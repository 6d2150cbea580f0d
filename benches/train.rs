//! Whole updates, environments included: acting, stepping, observing and learning, in environment steps per second.
//!
//! The limit of PPO is the arithmetic of two 64-64 towers: 234 kFLOP per step at the CartPole settings, 122 kFLOP at Pendulum's.

mod limit;

use criterion::{Criterion, Throughput, criterion_group};
use rlcore::env::{Builtin, Env, StepOut, VecEnv, VecEnvConfig};
use rlcore::learn::{Algorithm, Config, Learner, Phase};
use rlcore::nn::Preset;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

/// CleanRL's settings for CartPole-v1.
fn cartpole() -> Config {
    Config { total_steps: 500_000, ..Config::default() }
}

/// RLtools' settings for Pendulum-v1.
fn pendulum() -> Config {
    Config {
        num_steps: 1024,
        num_minibatches: 16,
        num_epochs: 2,
        activation: 1,
        learning_rate: 1e-3,
        learning_rate_end: 1e-3,
        ..Config::default()
    }
}

fn updates(c: &mut Criterion, label: &str, name: &str, config: Config, operations: usize) {
    let env = Builtin::from_name(name).unwrap();
    let (spec, n) = (env.spec(), config.num_envs as usize);
    let vec_config = VecEnvConfig { num_envs: config.num_envs, seed: 1, ..VecEnvConfig::default() };
    let mut env_block = vec![0u64; VecEnv::size(&env, &vec_config).unwrap().div_ceil(8)];
    let mut learner_block = vec![0u64; Learner::size(&config, &[], &spec.obs, &spec.action).unwrap().div_ceil(8)];
    let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut env_block), &env, &vec_config).unwrap();
    let mut learner =
        Learner::init(bytemuck::cast_slice_mut(&mut learner_block), &config, &[], &spec.obs, &spec.action).unwrap();
    let mut obs = vec![0.0; n * spec.obs.len as usize];
    let mut final_obs = obs.clone();
    let (mut choice, mut vector) = (vec![0i32; n], vec![0.0f32; n]);
    let (mut reward, mut terminated, mut truncated) = (vec![0.0f32; n], vec![0u8; n], vec![0u8; n]);
    let discrete = spec.action.kind == Element::I32;
    envs.reset(None, ElementsMut::F32(&mut obs)).unwrap();
    let mut group = c.benchmark_group("train");
    group.throughput(Throughput::Elements(config.batch_len() as u64)).sample_size(20);
    group.bench_function(label, |b| {
        b.iter(|| {
            while learner.phase() != Phase::Learn {
                let action = if discrete { ElementsMut::I32(&mut choice) } else { ElementsMut::F32(&mut vector) };
                learner.act(None, Elements::F32(&obs), None, action).unwrap();
                let action = if discrete { Elements::I32(&choice) } else { Elements::F32(&vector) };
                let out = StepOut {
                    obs: ElementsMut::F32(&mut obs),
                    reward: &mut reward,
                    terminated: &mut terminated,
                    truncated: &mut truncated,
                    final_obs: Some(ElementsMut::F32(&mut final_obs)),
                    valid: None,
                    action_mask: None,
                    final_action_mask: None,
                };
                envs.step(action, out).unwrap();
                learner.observe(None, &reward, &terminated, &truncated, Some(Elements::F32(&final_obs)), None).unwrap();
            }
            learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap()
        })
    });
    limit::operations("train", [label, ""], operations * config.batch_len());
    group.finish();
}

/// An update of UNREAL with btgym's network on pictures of 42 x 42 and three actions, with and without its auxiliary tasks.
fn unreal(c: &mut Criterion) {
    const N: usize = 8;
    let layers = Preset::Btgym42.layers();
    let (obs_space, action_space) = (Space::bytes(42 * 42), Space::discrete(&[3]));
    let tasks = Config {
        num_envs: N as u32,
        num_hidden: 0,
        hidden_len: [0; 4],
        num_layers: layers.len() as u32,
        sequence_len: 20,
        obs_dims: [42, 42, 1],
        history_len: 200,
        ..Config::of(Algorithm::Unreal)
    };
    let alone = Config { pixel_control_coef: 0.0, reward_class_coef: 0.0, value_replay_coef: 0.0, ..tasks };
    let mut group = c.benchmark_group("unreal");
    group.throughput(Throughput::Elements(tasks.batch_len() as u64)).sample_size(10);
    for (name, config) in [("btgym42", tasks), ("btgym42/without-tasks", alone)] {
        let mut block = vec![0u64; Learner::size(&config, layers, &obs_space, &action_space).unwrap() / 8];
        let mut learner =
            Learner::init(bytemuck::cast_slice_mut(&mut block), &config, layers, &obs_space, &action_space).unwrap();
        let (mut rng, mut obs, mut action) = (Rng::seeded(1), vec![0u8; N * 42 * 42], [0; N]);
        group.bench_function(name, |b| {
            b.iter(|| {
                while learner.phase() != Phase::Learn {
                    obs.iter_mut().for_each(|x| *x = rng.next_u64() as u8);
                    learner.act(None, Elements::U8(&obs), None, ElementsMut::I32(&mut action)).unwrap();
                    learner.observe(None, &[0.1; N], &[0; N], &[0; N], None, None).unwrap();
                }
                learner.learn(Some(Elements::U8(&obs)), None, 0).unwrap()
            })
        });
    }
    group.finish();
}

fn train(c: &mut Criterion) {
    updates(c, "cartpole/4x128-64-64-tanh", "CartPole-v1", cartpole(), 234_000);
    updates(c, "pendulum/4x1024-64-64-relu", "Pendulum-v1", pendulum(), 122_000);
    unreal(c);
}

criterion_group!(benches, train);
fn main() {
    limit::run(benches);
}
