//! Breakout on a grid: episodes of gymnax, images that lie, and the limit.

use rlcore::env::{Breakout, Env, Step, VecEnv, VecEnvConfig};
use rlcore::error::Result;
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

const LEN: usize = 400;

fn step(state: &mut [u64], action: i32, obs: &mut [u8; LEN]) -> Result<Step> {
    Breakout.step(bytemuck::cast_slice_mut(state), &mut Rng::seeded(0), Elements::I32(&[action]), ElementsMut::U8(obs))
}

/// A state whose ball starts on this side, and what is seen of it.
fn started(left: bool) -> ([u64; 2], [u8; LEN]) {
    let (mut state, mut obs) = ([0; 2], [7; LEN]);
    for seed in 0.. {
        let bytes = bytemuck::cast_slice_mut(&mut state);
        Breakout.reset(bytes, &mut Rng::seeded(seed), ElementsMut::U8(&mut obs)).unwrap();
        // The ball is in the fourth row.
        if (obs[3 * 40 + 1] != 0) == left {
            break;
        }
    }
    (state, obs)
}

/// Recorded by tests/golden/breakout.py.
#[test]
fn episodes_are_those_of_gymnax() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/Breakout-MinAtar.bin")).unwrap();
    let (mut rest, mut lost, mut bricks) = (&bytes[..], 0, 0);
    while let [left, low, high, all @ ..] = rest {
        let steps = usize::from(u16::from_le_bytes([*low, *high]));
        let (mut state, mut obs) = started(*left == 1);
        for (i, recorded) in all[..steps * 53].chunks(53).enumerate() {
            let got = step(&mut state, recorded[0].into(), &mut obs).unwrap();
            let want: Vec<u8> =
                (0..LEN).map(|bit| if recorded[3 + bit / 8] >> (bit % 8) & 1 != 0 { 255 } else { 0 }).collect();
            assert!(obs[..] == want[..], "observation after step {i} of {steps}");
            assert_eq!(got.reward, f32::from(recorded[1]), "step {i} of {steps}");
            assert_eq!(got.terminated, recorded[2] != 0, "step {i} of {steps}");
            (lost, bricks) = (lost + u32::from(got.terminated), bricks + u32::from(recorded[1]));
        }
        rest = &all[steps * 53..];
    }
    assert!(lost >= 3 && bricks > 60, "{lost} balls lost, {bricks} bricks");
}

#[test]
fn no_state_breaks_it() {
    let mut rng = Rng::seeded(1);
    for _ in 0..20_000 {
        let mut state = [rng.next_u64(), rng.next_u64()];
        let mut obs = [7; LEN];
        for action in 0..3 {
            let step = step(&mut state, action, &mut obs).unwrap();
            assert!([0.0, 1.0].contains(&step.reward) && obs.iter().all(|byte| [0, 255].contains(byte)));
        }
        let mut rgb = [0; 30 * 30 * 3];
        Breakout.render(bytemuck::cast_slice(&state), 30, 30, &mut rgb).unwrap();
    }
    let mut wrong = [0.0; LEN];
    let mut state = [0u64; 2];
    let bytes = bytemuck::cast_slice_mut(&mut state);
    assert!(Breakout.reset(bytes, &mut rng, ElementsMut::F32(&mut wrong)).is_err());
}

/// Any cut of the environments gives the bytes of all together; episodes start on both sides.
#[test]
fn batches_of_pictures_are_stepped_in_any_cut() {
    let config = VecEnvConfig { num_envs: 9, seed: 3, ..VecEnvConfig::default() };
    let mut first = None;
    for cut in [9, 4, 1] {
        let mut mem = vec![0u64; VecEnv::size(&Breakout, &config).unwrap() / 8];
        let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut mem), &Breakout, &config).unwrap();
        let (mut obs, mut last) = (vec![0; 9 * LEN], vec![0; 9 * LEN]);
        let (mut reward, mut terminated, mut truncated) = ([0.0; 9], [0; 9], [0; 9]);
        venv.reset(None, ElementsMut::U8(&mut obs)).unwrap();
        let left = obs.chunks(LEN).filter(|obs| obs[3 * 40 + 1] != 0).count();
        assert!((1..9).contains(&left));
        for t in 0..200 {
            let action: Vec<i32> = (0..9).map(|i| (t * 7 + i) % 3).collect();
            for begin in (0..9).step_by(cut) {
                let out = rlcore::env::StepOut {
                    obs: ElementsMut::U8(&mut obs),
                    reward: &mut reward,
                    terminated: &mut terminated,
                    truncated: &mut truncated,
                    final_obs: Some(ElementsMut::U8(&mut last)),
                    valid: None,
                };
                venv.step_range(begin, (begin + cut).min(9), Elements::I32(&action), out).unwrap();
            }
        }
        assert_eq!(*first.get_or_insert((mem.clone(), obs.clone())), (mem, obs));
    }
}
