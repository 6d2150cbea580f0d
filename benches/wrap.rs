//! Steps of wrapped environments: `wrap/<list>/N<num_envs>`, one thread, same-step autoreset.
//!
//! The source copies a prepared picture of 210 by 160 in color, 100,800 bytes, for each frame, as an emulator would at
//! best: `skip` is four of these copies and the maximum of the last two. Its time is a lower bound for the Atari lists, which
//! add the resizing (two frames to 84 by 84, the difference between `warp_skip` and `frames`), the stack (four gray frames
//! side by side) and the other wrappers of each list.

mod limit;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use rlcore::env::wrap::Pipeline;
use rlcore::env::wrap::Wrapper::{self, *};
use rlcore::env::{Env, Spec, Step, StepOut, VecEnv, VecEnvConfig};
use rlcore::error::Result;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const SCREEN: usize = 210 * 160 * 3;
const FIELDS: [Field<'static>; 1] = [Field::new("", Element::U8, &[210, 160, 3], 0)];

/// An environment that shows two prepared pictures in turn.
struct Source {
    pictures: [Vec<u8>; 2],
}

impl Source {
    fn new() -> Self {
        let mut rng = Rng::seeded(1);
        Source { pictures: [0, 1].map(|_| (0..SCREEN).map(|_| rng.next_u64() as u8).collect()) }
    }
}

impl Env for Source {
    fn spec(&self) -> Spec<'_> {
        Spec {
            env_id: 9200,
            state_size: 8,
            max_episode_steps: 0,
            obs: Space::bytes(SCREEN as u32).with_fields(&FIELDS),
            action: Space::discrete(&[6]),
            wrappers: 0,
        }
    }

    fn reset(&self, _: usize, state: &mut [u8], _rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        state[0] ^= 1;
        obs.u8()?.copy_from_slice(&self.pictures[usize::from(state[0] & 1)]);
        Ok(())
    }

    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        _action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        self.reset(row, state, rng, obs)?;
        Ok(Step { reward: 1.0, ..Step::default() })
    }

    fn lives(&self, _: usize, _state: &[u8]) -> Result<u32> {
        Ok(3)
    }
}

fn run(c: &mut Criterion, name: &str, list: &[Wrapper<'_>]) {
    let source = Source::new();
    let env = Pipeline::new(&source, list).unwrap();
    let space = env.spec().obs;
    let mut group = c.benchmark_group(format!("wrap/{name}"));
    for n in [1usize, 16] {
        let config = VecEnvConfig { num_envs: n as u32, ..Default::default() };
        let mut block = vec![0u64; VecEnv::size(&env, &config).unwrap() / 8];
        let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut block), &env, &config).unwrap();
        let len = n * space.len as usize;
        let (mut bytes, mut final_bytes) = (vec![0u8; len], vec![0u8; len]);
        let (mut numbers, mut final_numbers) = (vec![0.0f32; len], vec![0.0f32; len]);
        let (mut reward, mut terminated, mut truncated) = (vec![0.0; n], vec![0; n], vec![0; n]);
        let action = vec![0; n];
        let mut obs = match space.kind {
            Element::U8 => [ElementsMut::U8(&mut bytes), ElementsMut::U8(&mut final_bytes)],
            _ => [ElementsMut::F32(&mut numbers), ElementsMut::F32(&mut final_numbers)],
        };
        envs.reset(None, obs[0].reborrow()).unwrap();
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("N{n}")), |b| {
            b.iter(|| {
                let [obs, final_obs] = &mut obs;
                let out = StepOut {
                    obs: obs.reborrow(),
                    reward: &mut reward,
                    terminated: &mut terminated,
                    truncated: &mut truncated,
                    final_obs: Some(final_obs.reborrow()),
                    valid: None,
                    action_mask: None,
                    final_action_mask: None,
                };
                envs.step(Elements::I32(&action), out).unwrap();
            });
        });
        // The source's copies, and the observations.
        let frames = if list.iter().any(|w| matches!(w, MaxAndSkip { .. } | ActionRepeat { .. })) { 4 } else { 1 };
        let shown = len * if space.kind == Element::U8 { 1 } else { 4 };
        limit::copy(&format!("wrap/{name}"), [&format!("N{n}"), ""], n * frames * 2 * SCREEN + shown);
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let noops = NoopReset { max: 30, exactly: 0, noop: 0 };
    let skip = MaxAndSkip { count: 4 };
    let fire = FireReset { fire: 1, second: 2 };
    let life = EpisodicLife { noop: 0 };
    let warp = WarpFrame { height: 84, width: 84, gray: true, field: "" };
    let stack = FrameStack { count: 4 };
    run(c, "frame", &[ClipReward]);
    run(c, "frames", &[ActionRepeat { count: 4 }]);
    run(c, "skip", &[skip]);
    run(c, "warp", &[warp]);
    run(c, "warp_skip", &[skip, warp]);
    run(c, "atari", &[noops, skip, fire, warp, stack, life]);
    run(c, "atari_planes", &[noops, skip, fire, warp, stack, life, ChannelsFirst]);
    run(c, "atari_record", &[noops, skip, fire, warp, stack, life, ChannelsFirst, Record]);
    run(c, "atari_f32", &[noops, skip, life, fire, warp, ScaledFloat, ClipReward, stack]);
    run(c, "atari_rescale", &[AtariRescale]);
}

criterion_group!(benches, all);
fn main() {
    limit::run(benches);
}
