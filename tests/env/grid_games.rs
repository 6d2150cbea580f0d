//! Games on a grid: episodes of gymnax, random outcomes, drawings, damaged states, and splits of a batch.

use rlcore::env::{Builtin, Env, Step, VecEnvConfig};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

use super::host::{Arrays, attach, block};

const GAMES: [&str; 5] =
    ["Catch-bsuite", "Breakout-MinAtar", "Asterix-MinAtar", "Freeway-MinAtar", "SpaceInvaders-MinAtar"];

/// One game and its picture.
#[derive(Clone)]
struct Game {
    env: Builtin,
    state: Vec<u64>,
    obs: Vec<u8>,
}

impl Game {
    fn new(name: &str) -> Self {
        let env = Builtin::from_name(name).unwrap();
        let spec = env.spec();
        Game { env, state: vec![0; spec.state_size as usize / 8], obs: vec![7; spec.obs.len as usize] }
    }

    fn reset(&mut self, rng: &mut Rng) {
        self.env.reset(0, bytemuck::cast_slice_mut(&mut self.state), rng, ElementsMut::U8(&mut self.obs)).unwrap();
    }

    fn step(&mut self, action: i32, rng: &mut Rng) -> Step {
        let (action, obs) = (Elements::I32(&[action]), ElementsMut::U8(&mut self.obs));
        self.env.step(0, bytemuck::cast_slice_mut(&mut self.state), rng, action, obs).unwrap()
    }

    fn random_step(&mut self, rng: &mut Rng) -> Step {
        let action = rng.bounded(u64::from(self.env.spec().action.n[0]) - 1) as i32;
        self.step(action, rng)
    }

    /// Rows, columns and channels.
    fn shape(&self) -> [usize; 3] {
        let [rows, columns, channels, _] = self.env.spec().obs.fields[0].dims.map(|n| n as usize);
        [rows, columns, channels]
    }

    /// The channels of a cell.
    fn cell(&self, row: usize, column: usize) -> &[u8] {
        let [_, columns, channels] = self.shape();
        &self.obs[(row * columns + column) * channels..][..channels]
    }

    /// Gives Freeway's cars the speeds and directions in a picture, of which there are too many to be drawn at random.
    fn drive_as(&mut self, seen: &[u8], waited: u8) {
        let cars = bytemuck::cast_slice_mut::<u64, [u8; 4]>(&mut self.state);
        for (lane, [column, wait, speed, right]) in seen.chunks(70).skip(1).zip(&mut cars[..8]) {
            let mut trails = lane.iter().enumerate().filter(|(k, byte)| **byte != 0 && k % 7 > 1).map(|(k, _)| k);
            let (Some(trail), None) = (trails.next(), trails.next()) else { panic!("one trail a lane") };
            let beside = |n: u8| usize::from((*column + n) % 10);
            *speed = (trail % 7) as u8 - 1;
            *wait = *speed - waited;
            *right = u8::from(trail / 7 == beside(9));
            assert!(*right == 1 || trail / 7 == beside(1), "a trail beside its car");
        }
    }
}

/// Episodes as written by tests/golden/grid_games.py.
struct Recorded<'a>(&'a [u8]);

impl Recorded<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap()
    }

    /// Applies the changes to the previous picture.
    fn picture(&mut self, seen: &mut [u8]) {
        let mut next = 0;
        loop {
            match self.byte() {
                0 => return,
                255 => next += 254,
                gap => {
                    next += usize::from(gap);
                    seen[next - 1] ^= 255;
                }
            }
        }
    }
}

/// Seeds tried for each random outcome of gymnax.
const SEEDS: u64 = 2000;

/// Recorded by tests/golden/grid_games.py. For random outcomes, one of the seeds has to give those of gymnax.
#[test]
fn episodes_are_those_of_gymnax() {
    // Terminated episodes, and the sum of all rewards.
    let expected = [(6, 0.0), (6, 91.0), (6, 98.0), (0, 21.0), (3, 301.0)];
    for (name, expected) in GAMES.iter().zip(expected) {
        let file = format!("{}/tests/golden/{name}.bin", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(file).unwrap();
        let (mut recorded, mut terminated, mut sum) = (Recorded(&bytes), 0, 0.0);
        while !recorded.0.is_empty() {
            let steps = u16::from_le_bytes([recorded.byte(), recorded.byte()]);
            let mut game = Game::new(name);
            let mut seen = vec![0; game.obs.len()];
            recorded.picture(&mut seen);
            let freeway = *name == "Freeway-MinAtar";
            if freeway {
                game.reset(&mut Rng::seeded(0));
                game.drive_as(&seen, 0);
            } else {
                let found = (0..SEEDS).any(|seed| {
                    game.reset(&mut Rng::seeded(seed));
                    game.obs == seen
                });
                assert!(found, "{name}: the first picture");
            }
            for t in 0..steps {
                let (action, reward) = (recorded.byte(), f32::from(recorded.byte() as i8));
                recorded.picture(&mut seen);
                let (ends, cars_anew) = (action >= 128, freeway && reward == 1.0);
                let before = game.clone();
                let found = (0..SEEDS).any(|seed| {
                    game.clone_from(&before);
                    let step = game.step((action & 127).into(), &mut Rng::seeded(seed));
                    (step.reward, step.terminated, step.truncated) == (reward, ends, false)
                        && (game.obs == seen || cars_anew)
                });
                assert!(found, "{name}: step {t} of {steps}");
                if cars_anew {
                    let cars = |obs: &[u8]| obs.chunks(7).map(|cell| [cell[0], cell[1]]).collect::<Vec<_>>();
                    assert_eq!(cars(&game.obs), cars(&seen), "step {t} of {steps}");
                    game.drive_as(&seen, 1);
                }
                (terminated, sum) = (terminated + u32::from(ends), sum + reward);
            }
        }
        assert_eq!((terminated, sum), expected, "{name}");
    }
}

/// Asserts these shares in the counts, up to five standard deviations.
fn assert_shares<const N: usize>(counts: [u32; N], shares: [f64; N], what: &str) {
    let n = f64::from(counts.iter().sum::<u32>());
    for (count, share) in counts.into_iter().zip(shares) {
        let error = f64::from(count) - n * share;
        assert!(error.abs() < 5.0 * (n * share * (1.0 - share)).sqrt(), "{what}: {counts:?}");
    }
}

#[test]
fn chance_is_fair() {
    let mut rng = Rng::seeded(5);
    let (mut columns, mut ball) = ([0; 5], [0; 2]);
    let (mut sides, mut kinds, mut lanes) = ([0; 2], [0; 2], [0; 8]);
    let (mut directions, mut speeds) = ([0; 2], [0; 5]);
    for _ in 0..4000 {
        let mut game = Game::new("Catch-bsuite");
        game.reset(&mut rng);
        columns[(0..5).find(|&column| game.cell(0, column)[0] != 0).unwrap()] += 1;

        let mut game = Game::new("Breakout-MinAtar");
        game.reset(&mut rng);
        ball[usize::from(game.cell(3, 0)[1] == 0)] += 1;

        let mut game = Game::new("Asterix-MinAtar");
        game.reset(&mut rng);
        (0..10).for_each(|_| _ = game.step(0, &mut rng));
        assert!(game.obs.iter().filter(|byte| **byte != 0).count() == 1, "nothing but the player");
        game.step(0, &mut rng);
        let things = (1..9).flat_map(|row| (0..10).map(move |column| (row, column)));
        let mut things = things.filter(|&(row, column)| game.cell(row, column)[1] | game.cell(row, column)[3] != 0);
        let (row, column) = things.next().unwrap();
        assert!(things.next().is_none());
        lanes[row - 1] += 1;
        // It has already moved once in this step.
        sides[[1, 8].iter().position(|at| *at == column).unwrap()] += 1;
        kinds[usize::from(game.cell(row, column)[3] != 0)] += 1;

        let mut game = Game::new("Freeway-MinAtar");
        game.reset(&mut rng);
        for row in 1..9 {
            let trail = |column: usize| (2..7).find(|&channel| game.cell(row, column)[channel] != 0);
            directions[usize::from(trail(1).is_some())] += 1;
            speeds[trail(1).or(trail(9)).unwrap() - 2] += 1;
        }
    }
    assert_shares(columns, [0.2; 5], "columns of Catch");
    assert_shares(ball, [0.5; 2], "sides of Breakout");
    assert_shares(lanes, [0.125; 8], "lanes of Asterix");
    assert_shares(sides, [0.5; 2], "sides of Asterix");
    assert_shares(kinds, [2.0 / 3.0, 1.0 / 3.0], "kinds of Asterix");
    assert_shares(directions, [0.5; 2], "directions of Freeway");
    assert_shares(speeds, [0.2; 5], "speeds of Freeway");
}

/// The middle of a cell is white where nothing is observed, and only there.
#[test]
fn what_is_seen_is_drawn() {
    for name in GAMES {
        let mut game = Game::new(name);
        let mut rng = Rng::seeded(2);
        game.reset(&mut rng);
        let [rows, columns, _] = game.shape();
        let (width, height) = (8 * columns, 8 * rows);
        for _ in 0..100 {
            let mut rgb = vec![0; 3 * width * height];
            game.env.render(0, bytemuck::cast_slice(&game.state), width, height, &mut rgb).unwrap();
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let middle = &rgb[3 * ((8 * row + 4) * width + 8 * column + 4)..][..3];
                let empty = game.cell(row, column).iter().all(|byte| *byte == 0);
                assert_eq!(*middle == [255; 3], empty, "{name}: {row}, {column}");
            }
            if game.random_step(&mut rng).terminated {
                game.reset(&mut rng);
            }
        }
    }
}

#[test]
fn no_state_breaks_them() {
    let mut rng = Rng::seeded(1);
    for name in GAMES {
        let mut game = Game::new(name);
        let choices = game.env.spec().action.n[0] as i32;
        for k in 0..5000 {
            // Half of the states have bytes within the grid.
            let high = if k % 2 == 0 { u64::MAX } else { 0x0f0f_0f0f_0f0f_0f0f };
            game.state.iter_mut().for_each(|word| *word = rng.next_u64() & high);
            for action in [-1, choices, i32::MIN, i32::MAX].into_iter().chain(0..choices) {
                let step = game.step(action, &mut rng);
                assert!(step.reward.abs() <= 100.0 && step.reward.fract() == 0.0, "{name}: {}", step.reward);
                assert!(game.obs.iter().all(|byte| [0, 255].contains(byte)), "{name}");
            }
            if k % 10 == 0 {
                let mut rgb = [0; 30 * 30 * 3];
                game.env.render(0, bytemuck::cast_slice(&game.state), 30, 30, &mut rgb).unwrap();
            }
        }
        let len = game.obs.len();
        let bytes = bytemuck::cast_slice_mut(&mut game.state);
        assert!(game.env.reset(0, bytes, &mut rng, ElementsMut::F32(&mut vec![0.0; len])).is_err());
        for len in [0, len - 1, len + 1] {
            assert!(game.env.reset(0, bytes, &mut rng, ElementsMut::U8(&mut vec![0; len])).is_err());
        }
        assert!(game.env.reset(0, &mut bytes[1..], &mut rng, ElementsMut::U8(&mut game.obs)).is_err());
    }
}

/// Any split of the environments gives the bytes of all together, also for episodes that start anew.
#[test]
fn batches_of_pictures_are_stepped_in_any_cut() {
    for name in GAMES {
        let env = Builtin::from_name(name).unwrap();
        let (len, choices) = (env.spec().obs.len as usize, env.spec().action.n[0] as i32);
        let config = VecEnvConfig { num_envs: 9, seed: 3, max_episode_steps: 150, ..VecEnvConfig::default() };
        let mut first = None;
        for cut in [9, 4, 1] {
            let mut mem = block(&env, &config);
            let (mut venv, mut a) = (attach(&mut mem, &env), Arrays::of_bytes(9, len));
            venv.reset(None, a.first()).unwrap();
            let mut different = false;
            for t in 0..200 {
                let action: Vec<i32> = (0..9).map(|i| (t * 7 + i) % choices).collect();
                for begin in (0..9).step_by(cut) {
                    venv.step_range(begin, (begin + cut).min(9), Elements::I32(&action), a.out()).unwrap();
                }
                different |= a.obs[..len] != a.obs[len..2 * len];
            }
            assert!(different, "{name}: each row plays a game of its own");
            assert_eq!(*first.get_or_insert((mem.clone(), a.obs.clone())), (mem, a.obs), "{name}");
        }
    }
}
