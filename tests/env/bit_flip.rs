//! Bit flipping against its rules: observations, rewards and random starts.

use rlcore::env::{Autoreset, BitFlip, Builtin, Env, NO_LIMIT, VecEnvConfig};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

use super::host::{attach, begin};

/// Every step flips only the chosen bit, and earns -1 until the goal is reached, then 0.
fn follows_its_rules<const N: usize>() {
    let (env, mut rng) = (BitFlip::<N>, Rng::seeded(3));
    let (spec, mut ends) = (env.spec(), 0);
    assert_eq!((spec.obs.len as usize, spec.action.n, spec.max_episode_steps), (2 * N, &[N as u32][..], N as u32));
    assert!(spec.obs.low.iter().all(|x| *x == 0.0) && spec.obs.high.iter().all(|x| *x == 1.0));
    for _ in 0..200 {
        let (mut state, mut obs) = ([0u64], vec![7.0; 2 * N]);
        env.reset(0, bytemuck::cast_slice_mut(&mut state), &mut rng, ElementsMut::F32(&mut obs)).unwrap();
        let (mut bits, goal) = (obs[..N].to_vec(), obs[N..].to_vec());
        assert!(obs.iter().all(|x| *x == 0.0 || *x == 1.0) && bits != goal);
        for step in 0..3 * N {
            // Random bits at first, then the wrong ones.
            let wrong = (0..N).find(|&i| bits[i] != goal[i]).unwrap();
            let flip = if step < N { rng.bounded(N as u64 - 1) as usize } else { wrong };
            bits[flip] = 1.0 - bits[flip];
            let action = [flip as i32];
            let (state, to) = (bytemuck::cast_slice_mut(&mut state), ElementsMut::F32(&mut obs));
            let done = env.step(0, state, &mut rng, Elements::I32(&action), to).unwrap();
            assert_eq!(obs, [&bits[..], &goal[..]].concat());
            let there = bits == goal;
            assert_eq!((done.reward, done.terminated, done.truncated), (if there { 0.0 } else { -1.0 }, there, false));
            if there {
                ends += 1;
                break;
            }
        }
    }
    assert_eq!(ends, 200, "the goal can be reached from everywhere");
}

#[test]
fn steps_follow_the_rules() {
    follows_its_rules::<1>();
    follows_its_rules::<2>();
    follows_its_rules::<10>();
    follows_its_rules::<16>();
}

/// With two bits, all four starts and the three goals of each are drawn equally often.
#[test]
fn all_starts_are_drawn_alike() {
    let (mut counts, mut rng) = ([0u32; 16], Rng::seeded(1));
    for _ in 0..12_000 {
        let (mut state, mut obs) = ([0u64], [0.0; 4]);
        BitFlip::<2>.reset(0, bytemuck::cast_slice_mut(&mut state), &mut rng, ElementsMut::F32(&mut obs)).unwrap();
        counts[obs.iter().enumerate().map(|(i, x)| (*x as usize) << i).sum::<usize>()] += 1;
    }
    for (i, count) in counts.into_iter().enumerate() {
        let possible = i & 3 != i >> 2;
        assert!(if possible { (850..1150).contains(&count) } else { count == 0 }, "{i}: {count}");
    }
}

/// Episodes end after as many steps as there are bits, or at the goal, also in the built-in environment of ten bits.
#[test]
fn episodes_are_as_long_as_there_are_bits() {
    let env = Builtin::from_name("BitFlip-10").unwrap();
    assert_eq!((env.spec().env_id, BitFlip::<10>.spec().env_id, BitFlip::<9>.spec().env_id), (16, 16, 0));
    for (limit, longest) in [(0, 10), (NO_LIMIT, 40)] {
        let config = VecEnvConfig { num_envs: 2, seed: 1, autoreset: Autoreset::SameStep, max_episode_steps: limit };
        let (mut block, mut a) = begin(&env, &config);
        let mut envs = attach(&mut block, &env);
        for step in 1..=longest {
            // Flips one bit back and forth.
            envs.step(Elements::I32(&[3; 2]), a.out()).unwrap();
            let over = u8::from(limit == 0 && step == 10);
            assert_eq!((&a.terminated[..], &a.truncated[..]), (&[0; 2][..], &[over; 2][..]), "step {step}");
        }
    }
}

#[test]
fn other_shapes_are_refused() {
    let (env, mut rng, mut state) = (BitFlip::<3>, Rng::seeded(1), [0u64; 2]);
    for len in [0, 5, 7] {
        let state = bytemuck::cast_slice_mut(&mut state[..1]);
        assert!(env.reset(0, state, &mut rng, ElementsMut::F32(&mut vec![0.0; len])).is_err());
    }
    assert!(env.reset(0, bytemuck::cast_slice_mut(&mut state), &mut rng, ElementsMut::F32(&mut [0.0; 6])).is_err());
    let state = bytemuck::cast_slice_mut(&mut state[..1]);
    assert!(env.reset(0, state, &mut rng, ElementsMut::I32(&mut [0; 6])).is_err());
    assert!(env.step(0, state, &mut rng, Elements::F32(&[0.0]), ElementsMut::F32(&mut [0.0; 6])).is_err());
}
