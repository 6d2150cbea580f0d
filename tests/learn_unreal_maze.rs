//! UNREAL in the maze beside A2C, and how many steps it makes: figures, which take minutes. Run with `--release --ignored`.

use std::time::Instant;

use rlcore::env::{Builtin, Env, Maze};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, Layer, Preset};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 8;
const PIXELS: usize = 42 * 42;

/// Steps until the last 100 episodes take at most 22 steps in the mean, and those of the best actions; none within `most`.
fn steps_until_solved(config: &Config, most: u64) -> Option<(u64, u32)> {
    let layers = [
        Layer::conv(16, [6, 6], [3, 3], Activation::Relu),
        Layer::conv(32, [4, 4], [2, 2], Activation::Relu),
        Layer::dense(128, Activation::Relu),
    ];
    let env = Builtin::Maze(Maze::Grey);
    let (obs_space, action_space) = (Space::bytes(PIXELS as u32), Space::discrete(&[4]));
    let config = Config { num_layers: 3, obs_dims: [42, 42, 1], ..*config };
    let mut block = vec![0u64; Learner::size(&config, &layers, &obs_space, &action_space).unwrap() / 8];
    let mut learner =
        Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &layers, &obs_space, &action_space).unwrap();
    let (mut rng, mut state, mut obs) = (Rng::seeded(1), vec![0u64; N], vec![0; N * PIXELS]);
    for (state, obs) in state.iter_mut().zip(obs.chunks_mut(PIXELS)) {
        env.reset(bytemuck::bytes_of_mut(state), &mut rng, ElementsMut::U8(obs)).unwrap();
    }
    let (mut action, mut reward, mut ends, mut last) = ([0; N], [0.0; N], [0; N], [0; N]);
    while learner.stats().num_steps < most {
        if learner.phase() == Phase::Learn {
            let stats = learner.learn(Some(Elements::U8(&obs)), 0).unwrap();
            if stats.num_episodes >= 100 && stats.length_mean <= 22.0 {
                return Some((stats.num_steps, best(&mut learner)));
            }
            continue;
        }
        learner.act(None, Elements::U8(&obs), None, ElementsMut::I32(&mut action)).unwrap();
        for i in 0..N {
            let (state, obs) = (bytemuck::bytes_of_mut(&mut state[i]), &mut obs[i * PIXELS..][..PIXELS]);
            let step = env.step(state, &mut rng, Elements::I32(&action[i..=i]), ElementsMut::U8(obs)).unwrap();
            (reward[i], ends[i], last[i]) = (step.reward, step.terminated.into(), 0);
            if step.terminated {
                env.reset(state, &mut rng, ElementsMut::U8(obs)).unwrap();
            }
        }
        learner.observe(None, &reward, &ends, &last, None).unwrap();
    }
    None
}

/// Steps of the best actions to the goal, 100 at most.
fn best(learner: &mut Learner<'_>) -> u32 {
    let (env, mut rng, mut state, mut obs) = (Maze::Grey, Rng::seeded(1), 0u64, vec![0; N * PIXELS]);
    env.reset(bytemuck::bytes_of_mut(&mut state), &mut rng, ElementsMut::U8(&mut obs[..PIXELS])).unwrap();
    for step in 1..100 {
        let mut action = [0; N];
        let to = ElementsMut::I32(&mut action);
        learner.predict(Elements::U8(&obs), None, Recurrent::default(), Sampling::Greedy, to).unwrap();
        let (state, own) = (bytemuck::bytes_of_mut(&mut state), ElementsMut::U8(&mut obs[..PIXELS]));
        if env.step(state, &mut rng, Elements::I32(&action[..1]), own).unwrap().terminated {
            return step;
        }
    }
    100
}

#[test]
#[ignore = "minutes"]
fn the_shortest_way_in_fewer_steps() {
    let of = |name: &str, otherwise: f32| std::env::var(name).map_or(otherwise, |x| x.parse().unwrap());
    for seed in 1..=3 {
        for algorithm in [Algorithm::Unreal, Algorithm::A2c] {
            let unreal = Config::of(Algorithm::Unreal);
            let config = Config {
                seed,
                num_envs: N as u32,
                num_hidden: 0,
                hidden_len: [0; 4],
                learning_rate: of("LR", 7e-4),
                learning_rate_end: of("LR", 7e-4),
                entropy_coef: of("ENTROPY", 1e-2),
                pixel_control_coef: of("PC", unreal.pixel_control_coef),
                reward_class_coef: of("RP", unreal.reward_class_coef),
                value_replay_coef: of("VR", unreal.value_replay_coef),
                max_grad_norm: of("NORM", 0.5),
                ..unreal
            };
            let a2c = Config { pixel_control_coef: 0.0, reward_class_coef: 0.0, value_replay_coef: 0.0, ..config };
            let begin = Instant::now();
            let config = if algorithm == Algorithm::A2c { a2c } else { config };
            let solved = steps_until_solved(&config, 1_000_000);
            println!("seed {seed}: {algorithm:?} {solved:?} in {:?}", begin.elapsed());
        }
    }
}

/// All of it on one core: acting, recording and learning with btgym's network.
#[test]
#[ignore = "a minute"]
fn steps_a_second() {
    let layers = Preset::Btgym42.layers();
    let (obs_space, action_space) = (Space::bytes(PIXELS as u32), Space::discrete(&[3]));
    let config = Config {
        num_envs: N as u32,
        num_hidden: 0,
        hidden_len: [0; 4],
        num_layers: layers.len() as u32,
        sequence_len: 20,
        obs_dims: [42, 42, 1],
        ..Config::of(Algorithm::Unreal)
    };
    for tasks in [true, false] {
        let own = if tasks {
            config
        } else {
            Config { pixel_control_coef: 0.0, reward_class_coef: 0.0, value_replay_coef: 0.0, ..config }
        };
        let mut block = vec![0u64; Learner::size(&own, layers, &obs_space, &action_space).unwrap() / 8];
        let mut learner =
            Learner::init(bytemuck::cast_slice_mut(&mut block), &own, layers, &obs_space, &action_space).unwrap();
        let (mut rng, mut obs, mut action) = (Rng::seeded(1), vec![0; N * PIXELS], [0; N]);
        let (mut begin, mut from) = (Instant::now(), 0);
        while learner.stats().num_updates < 12 {
            if learner.phase() == Phase::Learn {
                learner.learn(Some(Elements::U8(&obs)), 0).unwrap();
                if learner.stats().num_updates == 2 {
                    (begin, from) = (Instant::now(), learner.stats().num_steps);
                }
                continue;
            }
            obs.iter_mut().for_each(|x| *x = rng.bounded(255) as u8);
            learner.act(None, Elements::U8(&obs), None, ElementsMut::I32(&mut action)).unwrap();
            learner.observe(None, &[0.1; N], &[0; N], &[0; N], None).unwrap();
        }
        let steps = (learner.stats().num_steps - from) as f64;
        println!("tasks {tasks}: {:.0} steps/s", steps / begin.elapsed().as_secs_f64());
    }
}
