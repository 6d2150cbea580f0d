//! The probe environments, step by step against their descriptions.

use rlcore::env::{Builtin, Env, Probe, Step};
use rlcore::error::Kind;
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

/// One probe outside any batch.
struct Alone {
    probe: Probe,
    state: u64,
    rng: Rng,
}

impl Alone {
    fn new(probe: Probe, seed: u64) -> Self {
        Alone { probe, state: 0, rng: Rng::seeded(seed) }
    }
    fn reset(&mut self) -> f32 {
        let mut obs = [f32::NAN];
        let state = bytemuck::bytes_of_mut(&mut self.state);
        self.probe.reset(0, state, &mut self.rng, ElementsMut::F32(&mut obs)).unwrap();
        obs[0]
    }
    /// `(obs, reward, terminated, truncated)`
    fn step(&mut self, action: i32) -> (f32, f32, bool, bool) {
        let mut obs = [f32::NAN];
        let state = bytemuck::bytes_of_mut(&mut self.state);
        let action = Elements::I32(std::slice::from_ref(&action));
        let Step { reward, terminated, truncated } =
            self.probe.step(0, state, &mut self.rng, action, ElementsMut::F32(&mut obs)).unwrap();
        (obs[0], reward, terminated, truncated)
    }
}

/// The first 32 coins of numpy's generator for three seeds.
const COINS: [(u64, &str); 3] = [
    (0, "10001111111010101100001110111110"),
    (1, "11010010101101000000100111100110"),
    (42, "10110111000111001011101110000111"),
];

fn each_coin(probe: Probe, mut check: impl FnMut(&mut Alone, bool)) {
    for (seed, coins) in COINS {
        let mut env = Alone::new(probe, seed);
        coins.chars().for_each(|coin| check(&mut env, coin == '1'));
    }
}

const NO: bool = false;

#[test]
fn spaces_are_those_of_the_table() {
    let inf = f32::INFINITY;
    #[rustfmt::skip]
    let table = [
        ("Probe1", 1, 0.0, 0.0), ("Probe2", 1, -1.0, 1.0), ("Probe3", 1, 0.0, 1.0), ("Probe4", 2, 0.0, 0.0),
        ("Probe5", 2, -1.0, 1.0), ("Probe6", 2, 0.0, inf), ("Probe6OddEven", 2, 0.0, inf), ("Probe7", 5, 0.0, 1.0),
        ("ProbeTruncation", 1, 0.0, 1.0), ("ProbeMemory", 2, -1.0, 1.0),
    ];
    for (name, choices, low, high) in table {
        let env = Builtin::from_name(name).unwrap();
        let spec = env.spec();
        assert_eq!((spec.obs.low, spec.obs.high, spec.action.n), (&[low][..], &[high][..], &[choices][..]), "{name}");
        assert_eq!((spec.obs.len, spec.max_episode_steps), (1, 0), "{name}");
    }
}

#[test]
fn probe_1_pays_at_once() {
    let mut env = Alone::new(Probe::One, 0);
    assert_eq!(env.reset(), 0.0);
    assert_eq!([env.step(0), env.step(0)], [(0.0, 1.0, true, NO); 2]);
    assert_eq!(env.rng, Rng::seeded(0), "nothing is drawn");
}

#[test]
fn probe_2_pays_what_was_observed() {
    each_coin(Probe::Two, |env, coin| {
        let sign = if coin { -1.0 } else { 1.0 };
        assert_eq!(env.reset(), sign);
        assert_eq!([env.step(0), env.step(0)], [(0.0, sign, true, NO); 2]);
    });
}

#[test]
fn probe_3_pays_after_two_steps() {
    let mut env = Alone::new(Probe::Three, 0);
    assert_eq!(env.reset(), 0.0);
    assert_eq!([env.step(0), env.step(0)], [(1.0, 0.0, NO, NO), (0.0, 1.0, true, NO)]);
    let (state, rest) = (bytemuck::bytes_of_mut(&mut env.state), ElementsMut::F32(&mut [0.0]));
    let third = Probe::Three.step(0, state, &mut env.rng, Elements::I32(&[0]), rest);
    assert_eq!(third.unwrap_err().kind, Kind::NotReady);
    assert_eq!(env.rng, Rng::seeded(0), "nothing is drawn");
}

#[test]
fn probe_4_pays_for_action_1() {
    let mut env = Alone::new(Probe::Four, 0);
    assert_eq!(env.reset(), 0.0);
    assert_eq!([env.step(1), env.step(0)], [(0.0, 1.0, true, NO), (0.0, -1.0, true, NO)]);
}

#[test]
fn probe_5_pays_for_the_action_that_was_observed() {
    each_coin(Probe::Five, |env, coin| {
        assert_eq!(env.reset(), f32::from(coin));
        let (right, wrong) = (i32::from(coin), i32::from(!coin));
        assert_eq!([env.step(right), env.step(wrong)], [(-1.0, 1.0, true, NO), (-1.0, -1.0, true, NO)]);
    });
}

#[test]
fn probe_6_counts_to_ten() {
    for action in [0, 1] {
        let mut env = Alone::new(Probe::Six, 0);
        assert_eq!(env.reset(), 0.0);
        for k in 1..=12 {
            let tenth = k == 10;
            assert_eq!(env.step(action), (k as f32, f32::from(tenth), tenth, NO));
        }
    }
    let (mut right, mut wrong) = (Alone::new(Probe::SixOddEven, 0), Alone::new(Probe::SixOddEven, 0));
    let mut seen = right.reset();
    wrong.reset();
    for k in 1..=10 {
        let parity = seen as i32 % 2;
        assert_eq!(wrong.step(1 - parity), (k as f32, 0.0, k == 10, NO));
        assert_eq!(right.step(parity), (k as f32, 1.0, k == 10, NO));
        seen = k as f32;
    }
}

#[test]
fn probe_7_pays_for_the_first_observation_at_its_fourth_step() {
    let mut action = 0;
    each_coin(Probe::Seven, |env, coin| {
        let bit = f32::from(coin);
        assert_eq!(env.reset(), bit);
        for _ in 0..3 {
            assert_eq!(env.step(i32::from(coin)), (0.0, 0.0, NO, NO));
        }
        action = (action + 1) % 5;
        assert_eq!(env.step(action), (bit, f32::from(action == i32::from(coin)), true, NO));
        assert_eq!(env.step(i32::from(coin)), (0.0, 0.0, NO, NO));
    });
}

#[test]
fn the_truncation_probe_tells_three_ways_of_bootstrapping_apart() {
    let mut env = Alone::new(Probe::Truncation, 0);
    for _ in 0..2 {
        assert_eq!(env.reset(), 1.0);
        let steps = [(); 5].map(|()| env.step(0));
        let (no, go, cut) = ((0.0, 0.0, NO, NO), (0.0, 1.0, NO, NO), (0.0, 1.0, NO, true));
        assert_eq!(steps, [no, go, go, go, cut]);
    }
    // Iterates the values of the two observations to their fixed point for each way to continue after the cut: from the value of
    // final_obs (0), from the value of the next episode's first observation (1), or from nothing.
    let discount = 0.9;
    let fixed_point = |after_cut: fn([f64; 2]) -> f64| {
        let mut v = [0.0, 0.0];
        for _ in 0..2000 {
            // Four visits to observation 0, the last of which is cut; one visit to observation 1.
            v = [1.0 + discount * (3.0 * v[0] + after_cut(v)) / 4.0, discount * v[0]];
        }
        v[0]
    };
    assert!((fixed_point(|v| v[0]) - 1.0 / (1.0 - discount)).abs() < 1e-9);
    assert!(fixed_point(|v| v[1]) < 9.0 && fixed_point(|_| 0.0) < 5.0);
}

#[test]
fn the_memory_probe_pays_for_the_first_observation_after_its_length() {
    for length in [0, 1, 5] {
        each_coin(Probe::Memory { length }, |env, coin| {
            let first = env.reset();
            assert_eq!(first, if coin { -1.0 } else { 1.0 });
            for _ in 0..length {
                assert_eq!(env.step(1), (0.0, 0.0, NO, NO));
            }
            assert_eq!(env.step(1), (0.0, first, true, NO));
            assert_eq!(env.step(0), (0.0, -first, true, NO));
        });
    }
}
