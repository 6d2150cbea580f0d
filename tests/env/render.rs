//! Pictures of the classic environments.

use rlcore::block::{HASH_START, hash};
use rlcore::env::{BUILTINS, Builtin, CartPole, Env, VecEnv, VecEnvConfig};
use rlcore::error::Kind;
use rlcore::rng::Rng;
use rlcore::space::ElementsMut;

const CLASSIC: usize = 5;

fn picture(env: &Builtin, state: &[f64], width: usize, height: usize) -> Vec<u8> {
    let mut rgb = vec![7; width * height * 3];
    env.render(0, bytemuck::cast_slice(state), width, height, &mut rgb).unwrap();
    rgb
}

#[test]
fn the_pole_leans_where_its_angle_says() {
    let env = Builtin::CartPole(CartPole);
    let (width, height) = (600, 400);
    // Gymnasium's picture: 125 pixels per unit, the track 100 pixels above the lower edge.
    let wood_at = |x: f64, theta: f64| {
        let rgb = picture(&env, &[x, 0.0, theta, 0.0], width, height);
        let wood = rgb.as_chunks::<3>().0.iter().enumerate().filter(|(_, p)| **p == [202, 152, 101]);
        let (sum, n) = wood.fold((0, 0), |(sum, n), (at, _)| (sum + at % width, n + 1));
        assert!(n > 800, "{n} pixels of wood");
        sum as f64 / n as f64 + 0.5
    };
    assert!((wood_at(0.0, 0.0) - 300.0).abs() < 1.0);
    assert!((wood_at(1.0, 0.0) - 425.0).abs() < 1.0);
    assert!(wood_at(0.0, 0.2) > 305.0 && wood_at(0.0, -0.2) < 295.0);
    let rgb = picture(&env, &[0.0; 4], width, height);
    let at = |x: usize, y: usize| &rgb[3 * (width * y + x)..][..3];
    assert_eq!((at(0, 0), at(300, 312), at(300, 293)), (&[255; 3][..], &[0; 3][..], &[129, 132, 203][..]));
}

#[test]
fn pictures_have_the_same_bytes_everywhere() {
    let expected: [u64; CLASSIC] = [
        0x12f4_1587_ef0f_96b0,
        0x7b49_d3d2_2a01_8d37,
        0xd44b_e3e1_70dc_888e,
        0x77ec_7d5d_8dd4_60c3,
        0x3610_5201_1201_6e29,
    ];
    for ((name, env), expected) in BUILTINS.iter().take(CLASSIC).zip(expected) {
        let mut state = [0u64; 8];
        let state = &mut bytemuck::cast_slice_mut(&mut state)[..env.spec().state_size as usize];
        let mut obs = vec![0.0; env.spec().obs.len as usize];
        env.reset(0, state, &mut Rng::seeded(1), ElementsMut::F32(&mut obs)).unwrap();
        let mut rgb = vec![0; 120 * 80 * 3];
        env.render(0, state, 120, 80, &mut rgb).unwrap();
        assert_eq!(hash(HASH_START, &rgb), expected, "{name}");
    }
}

#[test]
fn any_size_and_any_state_has_a_picture() {
    for (_, env) in BUILTINS.iter().take(CLASSIC) {
        let numbers = env.spec().state_size as usize / 8;
        for x in [0.0, f64::NAN, f64::INFINITY, -1e308, 5e-324] {
            for (width, height) in [(0, 0), (0, 9), (9, 0), (1, 1), (1, 200), (200, 1), (33, 17)] {
                picture(env, &vec![x; numbers], width, height);
            }
        }
        // A buffer too short for the size gets as many bytes as fit.
        let mut rgb = [0; 50];
        env.render(0, bytemuck::cast_slice(&vec![0.0; numbers]), 30, 20, &mut rgb).unwrap();
    }
}

#[test]
fn all_rows_are_drawn_as_each_one_is() {
    let config = VecEnvConfig { num_envs: 3, seed: 4, ..VecEnvConfig::default() };
    let mut mem = vec![0u64; VecEnv::size(&CartPole, &config).unwrap() / 8];
    let mut venv = VecEnv::init(bytemuck::cast_slice_mut(&mut mem), &CartPole, &config).unwrap();
    let (width, height) = (40, 30);
    let len = 3 * width * height;
    let mut all = vec![7; 3 * len];
    assert_eq!(venv.images(width, height, &mut all).unwrap_err().kind, Kind::NotReady);
    venv.reset(None, ElementsMut::F32(&mut [0.0; 12])).unwrap();
    assert_eq!(venv.images(width, height, &mut all[1..]).unwrap_err().kind, Kind::Shape);
    assert!(all.iter().all(|&x| x == 7));
    venv.images(width, height, &mut all).unwrap();
    for (i, picture) in all.chunks(len).enumerate() {
        let mut one = vec![0; len];
        venv.render(i, width, height, &mut one).unwrap();
        assert_eq!(picture, one);
    }
    assert_ne!(all[..len], all[len..2 * len], "each row has its own picture");
}
