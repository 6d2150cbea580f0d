//! Moving a point to its goal against its rules: observations, rewards, random starts and refusals.

use rlcore::env::{Autoreset, Builtin, Env, NO_LIMIT, PointReach, Step, VecEnvConfig};
use rlcore::error::{Given, Kind};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

use super::host::{Arrays, attach, begin, block};

fn reset(state: &mut [f32; 4], rng: &mut Rng) -> [f32; 4] {
    let mut obs = [7.0; 4];
    PointReach.reset(0, bytemuck::cast_slice_mut(state), rng, ElementsMut::F32(&mut obs)).unwrap();
    obs
}

fn step(state: &mut [f32; 4], action: [f32; 2]) -> ([f32; 4], Step) {
    let mut obs = [7.0; 4];
    let (state, to) = (bytemuck::cast_slice_mut(state), ElementsMut::F32(&mut obs));
    let done = PointReach.step(0, state, &mut Rng::seeded(1), Elements::F32(&action), to).unwrap();
    (obs, done)
}

/// The rules in f64 with every result rounded to f32, which equals f32 arithmetic.
fn twin(s: [f32; 4], action: [f32; 2]) -> ([f32; 4], bool) {
    let round = |x: f64| f64::from(x as f32);
    let mut next = s;
    for axis in 0..2 {
        let by = f64::from(action[axis]).clamp(-1.0, 1.0);
        let to = round(f64::from(s[axis]) + round(round(0.2) * by));
        next[axis] = to.clamp(-1.0, 1.0) as f32;
    }
    let square = |axis: usize| {
        let apart = round(f64::from(next[axis]) - f64::from(next[axis + 2]));
        round(apart * apart)
    };
    (next, round(square(0) + square(1)) < round(round(0.1) * round(0.1)))
}

/// Every move equals the twin's, also beyond ±1 and against walls; every second episode goes straight to its goal.
#[test]
fn steps_follow_the_rules() {
    let (mut rng, mut ends, mut walls) = (Rng::seeded(3), 0, 0);
    for episode in 0..400 {
        let mut state = [0.0; 4];
        let mut s = reset(&mut state, &mut rng);
        assert_eq!(s, state);
        for _ in 0..60 {
            let action = match episode % 2 {
                0 => [0, 1].map(|axis| 5.0 * (s[axis + 2] - s[axis])),
                _ => [(); 2].map(|()| rng.uniform_in(-3.0, 3.0) as f32),
            };
            let (next, there) = twin(s, action);
            let (obs, done) = step(&mut state, action);
            assert_eq!((obs.map(f32::to_bits), obs), (next.map(f32::to_bits), state));
            let earned = if there { 0.0 } else { -1.0 };
            assert_eq!((done.reward, done.terminated, done.truncated), (earned, there, false));
            assert_eq!(PointReach::is_there([s[0], s[1]], [s[2], s[3]]), twin([s[0], s[1], s[2], s[3]], [0.0; 2]).1);
            walls += usize::from(obs[..2].iter().any(|x| x.abs() == 1.0));
            s = next;
            if there {
                ends += usize::from(episode % 2 == 0);
                break;
            }
        }
    }
    assert!(ends == 200 && walls > 100, "{ends} of 200 went there, {walls} at walls");
}

/// The goal is a disc: a point near it along both axes may lie outside.
#[test]
fn the_goal_is_reached_within_a_tenth() {
    for (x, y, there) in [
        (0.0, 0.0, true),
        (0.1, 0.0, false),
        (0.1f32.next_down(), 0.0, true),
        (0.0, -0.101, false),
        (0.08, 0.08, false),
        (-0.07, 0.07, true),
    ] {
        assert_eq!(PointReach::is_there([x, 0.5 + y], [0.0, 0.5]), there, "{x}, {y}");
        let (_, done) = step(&mut [x, 0.5 + y, 0.0, 0.5], [0.0; 2]);
        assert_eq!((done.terminated, done.reward), (there, if there { 0.0 } else { -1.0 }), "{x}, {y}");
    }
    assert!(!PointReach::is_there([f32::NAN, 0.0], [0.0; 2]) && !PointReach::is_there([0.0; 2], [f32::INFINITY, 0.0]));
}

/// Coordinates are drawn independently: all 16 patterns of signs are equally frequent.
#[test]
fn starts_fill_the_square() {
    let (mut counts, mut rng, mut most) = ([0u32; 16], Rng::seeded(1), 0.0f32);
    for _ in 0..16_000 {
        let obs = reset(&mut [0.0; 4], &mut rng);
        assert!(obs.iter().all(|x| x.abs() <= 1.0));
        most = obs.iter().fold(most, |most, x| most.max(x.abs()));
        counts[obs.iter().enumerate().map(|(i, x)| usize::from(*x > 0.0) << i).sum::<usize>()] += 1;
    }
    assert!(most > 0.999 && counts.iter().all(|count| (880..1120).contains(count)), "{most}, {counts:?}");
}

#[test]
fn episodes_are_cut_after_fifteen_steps() {
    let env = Builtin::from_name("PointReach").unwrap();
    assert_eq!((env.spec(), env.spec().env_id), (PointReach.spec(), 17));
    for (limit, cut) in [(0, true), (NO_LIMIT, false)] {
        let config = VecEnvConfig { num_envs: 3, seed: 1, autoreset: Autoreset::SameStep, max_episode_steps: limit };
        let (mut block, mut a) = begin(&env, &config);
        let mut envs = attach(&mut block, &env);
        // Moves away from the goals, which are in the other corner.
        bytemuck::cast_slice_mut(envs.rows().state).copy_from_slice(&[[0.0f32, 0.0, 1.0, 1.0]; 3].concat());
        for step in 1..=15 {
            envs.step(Elements::F32(&[-9.0; 6]), a.out()).unwrap();
            assert_eq!((&a.terminated[..], &a.reward[..]), (&[0; 3][..], &[-1.0; 3][..]), "step {step}");
            assert_eq!(a.truncated, [u8::from(cut && step == 15); 3], "step {step}");
        }
        assert_eq!(if cut { a.final_obs } else { a.obs }, *[[-1.0, -1.0, 1.0, 1.0]; 3].concat());
    }
}

/// Damaged states: a point beyond the walls is put back to them; a state without a valid observation fails its row and no other.
#[test]
fn damaged_rows_fail_or_go_on() {
    let config = VecEnvConfig { num_envs: 3, ..VecEnvConfig::default() };
    let mut block = block(&PointReach, &config);
    for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 5.0, -0.0, 1e-45] {
        for at in 0..4 {
            let (mut envs, mut a) = (attach(&mut block, &PointReach), Arrays::new(3, 4));
            envs.reset(None, a.first()).unwrap();
            bytemuck::cast_slice_mut::<_, f32>(envs.rows().state)[4 + at] = x;
            let given = envs.step(Elements::F32(&[0.0; 6]), a.out());
            if x.is_nan() || x.is_infinite() && at >= 2 {
                let e = given.unwrap_err();
                assert_eq!((e.kind, e.given), (Kind::Value, Given::Int(1)), "{x} at {at}");
            } else {
                assert_eq!(a.obs[4 + at], if at < 2 { x.clamp(-1.0, 1.0) } else { x }, "{x} at {at}");
                assert!(a.obs.iter().all(|x| x.is_finite()) && a.reward[1] == -1.0 && given.is_ok());
            }
        }
    }
    for x in [f32::NAN, f32::INFINITY] {
        let (mut envs, mut a) = (attach(&mut block, &PointReach), Arrays::new(3, 4));
        envs.reset(None, a.first()).unwrap();
        let action = [0.0, 0.0, 0.0, x, 0.0, 0.0];
        let given = envs.step(Elements::F32(&action), a.out());
        assert_eq!(given.unwrap_err().kind, Kind::Value);
    }
    // In a single step, an infinite move counts as one of length 1.
    assert_eq!(step(&mut [0.0; 4], [f32::INFINITY, -f32::INFINITY]).0, [0.2, -0.2, 0.0, 0.0]);
}

#[test]
fn other_shapes_are_refused() {
    let (mut rng, mut state, mut obs) = (Rng::seeded(1), [0.0f32; 8], [0.0; 4]);
    let whole: &mut [u8] = bytemuck::cast_slice_mut(&mut state);
    assert!(PointReach.reset(0, whole, &mut rng, ElementsMut::F32(&mut obs)).is_err());
    let (one, _) = whole.split_at_mut(16);
    for len in [0, 3, 5] {
        assert!(PointReach.reset(0, one, &mut rng, ElementsMut::F32(&mut vec![0.0; len])).is_err());
    }
    assert!(PointReach.reset(0, one, &mut rng, ElementsMut::I32(&mut [0; 4])).is_err());
    for action in [Elements::F32(&[0.0]), Elements::I32(&[0; 3]), Elements::U8(&[0; 2])] {
        assert!(PointReach.step(0, one, &mut rng, action, ElementsMut::F32(&mut obs)).is_err());
    }
    assert!(PointReach.step(0, one, &mut rng, Elements::F32(&[0.0; 2]), ElementsMut::F32(&mut obs[..3])).is_err());
}

#[test]
fn the_picture_shows_point_and_goal() {
    let mut rgb = vec![7; 220 * 220 * 3];
    let mut draw = |state: [f32; 4]| {
        PointReach.render(0, bytemuck::cast_slice(&state), 220, 220, &mut rgb).unwrap();
        // 100 pixels per unit, the origin in the middle.
        let at = |x: f32, y: f32| {
            let (column, row) = ((110.0 + 100.0 * x) as usize, (110.0 - 100.0 * y) as usize);
            [0, 1, 2].map(|c| rgb[3 * (220 * row + column) + c])
        };
        [at(0.5, 0.8), at(0.5, 0.87), at(0.5, 0.92), at(-0.3, -0.6), at(-0.3, -0.67)]
    };
    let (red, black, white) = ([204, 77, 77], [0; 3], [255; 3]);
    assert_eq!(draw([-0.3, -0.6, 0.5, 0.8]), [red, red, white, black, white]);
    assert_eq!(draw([0.5, 0.8, 0.5, 0.8]), [black, red, white, white, white]);
    for x in [f32::NAN, f32::INFINITY, f32::MAX] {
        assert_eq!(draw([x; 4]), [white; 5]);
    }
}
