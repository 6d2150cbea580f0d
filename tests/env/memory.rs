//! Environments that need memory: those without velocities against the whole ones, RepeatPrevious against POPGym's episodes and a
//! twin.

use rlcore::env::{Autoreset, BUILTINS, Builtin, CartPole, Env, NoVel, Pendulum, RepeatPrevious, Step, VecEnvConfig};
use rlcore::error::Result;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

use super::host::{Arrays, MODES, act, attach, begin};

/// The same arrays with only these elements of each observation.
fn keep(arrays: &Arrays, obs_len: usize, kept: [usize; 2]) -> Arrays {
    let of = |obs: &[f32]| obs.chunks(obs_len).flat_map(|row| kept.map(|i| row[i])).collect();
    let mut less = arrays.clone();
    (less.obs, less.final_obs) = (of(&arrays.obs), of(&arrays.final_obs));
    less
}

/// Steps both from one seed with the same actions. Returns the numbers of terminated and of truncated episodes.
fn compare(whole: &dyn Env, hidden: &dyn Env, kept: [usize; 2], n: usize, autoreset: Autoreset) -> [usize; 2] {
    let config = VecEnvConfig { num_envs: n as u32, seed: 21, autoreset, ..VecEnvConfig::default() };
    let wide = whole.spec().obs.len as usize;
    let ((mut mem_a, mut a), (mut mem_b, mut b)) = (begin(whole, &config), begin(hidden, &config));
    let (mut whole_envs, mut hidden_envs) = (attach(&mut mem_a, whole), attach(&mut mem_b, hidden));
    assert_eq!(keep(&a, wide, kept), b);
    let (mut rng, mut ends) = (Rng::seeded(3), [0, 0]);
    for t in 0..1300 {
        // Row 0 balances its pole, so that its episodes are truncated.
        let balances = (a.obs[wide - 2] + a.obs[wide - 1] > 0.0).into();
        let ints: Vec<i32> = (0..n).map(|i| if i == 0 { balances } else { rng.coin().into() }).collect();
        let floats: Vec<f32> = (0..n).map(|_| rng.uniform_in(-3.0, 3.0) as f32).collect();
        let action = act(whole, &ints, &floats);
        whole_envs.step(action, a.out()).unwrap();
        hidden_envs.step(action, b.out()).unwrap();
        assert!(keep(&a, wide, kept) == b, "step {t} of {n} {autoreset:?}");
        for i in 0..n {
            ends[0] += usize::from(a.terminated[i] == 1);
            ends[1] += usize::from(a.truncated[i] == 1);
            if autoreset == Autoreset::Disabled && a.ended(i) {
                whole_envs.reset_one(i, None, a.first()).unwrap();
                hidden_envs.reset_one(i, None, b.first()).unwrap();
            }
        }
        assert!(keep(&a, wide, kept) == b, "reset after step {t} of {n} {autoreset:?}");
        let (x, y) = (whole_envs.rows(), hidden_envs.rows());
        assert!(x.state == y.state && x.rng == y.rng, "step {t} of {n} {autoreset:?}");
    }
    ends
}

#[test]
fn without_velocities_all_else_is_the_same() {
    for autoreset in MODES {
        for n in [1, 19] {
            let [terminated, truncated] = compare(&CartPole, &NoVel(CartPole), [0, 2], n, autoreset);
            assert!(truncated >= 2 && (n == 1 || terminated > 100), "{terminated} terminated, {truncated} truncated");
            let ends = compare(&Pendulum, &NoVel(Pendulum), [0, 1], n, autoreset);
            assert!(ends[0] == 0 && ends[1] >= 5 * n, "{ends:?}");
        }
    }
}

#[test]
fn without_velocities_the_description_is_the_same() {
    for (whole, hidden, kept) in
        [("CartPole-v1", "CartPoleNoVel-v1", [0, 2]), ("Pendulum-v1", "PendulumNoVel-v1", [0, 1])]
    {
        let (whole, hidden) = (Builtin::from_name(whole).unwrap(), Builtin::from_name(hidden).unwrap());
        let (a, b) = (whole.spec(), hidden.spec());
        assert_eq!((a.state_size, a.max_episode_steps, a.action), (b.state_size, b.max_episode_steps, b.action));
        assert_eq!(kept.map(|i| a.obs.bounds(i)), [0, 1].map(|i| b.obs.bounds(i)));
        assert_eq!((b.obs.len, b.obs.kind), (2, Element::F32));
        let mut state = vec![0u64; a.state_size as usize / 8];
        let state: &mut [u8] = bytemuck::cast_slice_mut(&mut state);
        // Observations of another length are refused.
        assert!(hidden.reset(0, state, &mut Rng::seeded(1), ElementsMut::F32(&mut [0.0; 3])).is_err());
        hidden.reset(0, state, &mut Rng::seeded(1), ElementsMut::F32(&mut [0.0; 2])).unwrap();
        let [mut x, mut y] = [(); 2].map(|()| vec![0; 60 * 40 * 3]);
        whole.render(0, state, 60, 40, &mut x).unwrap();
        hidden.render(0, state, 60, 40, &mut y).unwrap();
        assert!(x == y && x.iter().any(|&byte| byte != 255));
    }
}

/// One game of RepeatPrevious.
struct Game {
    state: [u64; 7],
    rng: Rng,
    obs: [f32; 4],
}

impl Game {
    fn new(seed: u64) -> Self {
        Game { state: [u64::MAX; 7], rng: Rng::seeded(seed), obs: [7.0; 4] }
    }

    /// The observed suit, if there is one.
    fn suit(&self) -> Option<usize> {
        let suit = self.obs.iter().position(|&x| x == 1.0)?;
        let others = self.obs.iter().filter(|&&x| x == 0.0).count();
        assert_eq!(others, 3);
        Some(suit)
    }

    /// The count of dealt cards, at the end of the state.
    fn dealt(&mut self) -> &mut u32 {
        bytemuck::cast_slice_mut(&mut self.state).last_mut().unwrap()
    }

    fn reset(&mut self) -> usize {
        let state = bytemuck::cast_slice_mut(&mut self.state);
        RepeatPrevious.reset(0, state, &mut self.rng, ElementsMut::F32(&mut self.obs)).unwrap();
        self.suit().unwrap()
    }

    fn step(&mut self, action: i32) -> Result<Step> {
        let state = bytemuck::cast_slice_mut(&mut self.state);
        RepeatPrevious.step(0, state, &mut self.rng, Elements::I32(&[action]), ElementsMut::F32(&mut self.obs))
    }
}

/// Recorded by tests/golden/repeat_previous.py.
#[test]
fn episodes_are_those_of_popgym() {
    let text = include_str!("../golden/RepeatPreviousEasy.txt");
    let (mut game, mut last_seed) = (Game::new(0), None);
    for line in text.lines() {
        let [seed, suits, actions, earned] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if last_seed.replace(seed) != Some(seed) {
            game = Game::new(seed.parse().unwrap());
        }
        let mut seen = game.reset().to_string();
        for (i, (action, earned)) in actions.bytes().zip(earned.bytes()).enumerate() {
            let step = game.step((action - b'0').into()).unwrap();
            let reward = [("+", 1.0 / 48.0), ("-", -1.0 / 48.0), ("0", 0.0)];
            let (_, reward) = reward.iter().find(|(sign, _)| sign.as_bytes() == [earned]).unwrap();
            assert_eq!((step.reward, step.terminated, step.truncated), (*reward as f32, i == 50, false));
            seen += &game.suit().unwrap().to_string();
        }
        assert_eq!(seen, suits, "seed {seed}");
    }
    assert_eq!(text.lines().count(), 9);
}

/// The rules again, with a growing hand of cards.
struct Twin {
    deck: Vec<i64>,
    hand: Vec<i64>,
}

impl Twin {
    /// The deck after numpy's shuffle, which has a test of its own.
    fn new(rng: &mut Rng) -> Self {
        let mut deck: Vec<i64> = (0..52).collect();
        rng.shuffle(&mut deck);
        let hand = deck.pop().into_iter().collect();
        Twin { deck, hand }
    }

    /// The reward, and whether this was the last step.
    fn step(&mut self, action: i64) -> (f64, bool) {
        let reward = if self.hand.len() < 4 {
            0.0
        } else if self.hand[self.hand.len() - 4] % 4 == action {
            1.0 / (52 - 4) as f64
        } else {
            -1.0 / (52 - 4) as f64
        };
        self.hand.push(self.deck.pop().unwrap());
        (reward, self.deck.is_empty())
    }
}

#[test]
fn repeat_previous_plays_by_its_rules() {
    let mut game = Game::new(5);
    let (mut rng, mut draws) = (Rng::seeded(6), game.rng);
    for _ in 0..300 {
        let mut twin = Twin::new(&mut draws);
        let first = game.reset();
        assert_eq!(first as i64, twin.hand[0] % 4);
        for _ in 0..51 {
            let action = rng.integers(0, 4);
            let (reward, ended) = twin.step(action);
            let step = game.step(action as i32).unwrap();
            assert_eq!(step, Step { reward: reward as f32, terminated: ended, truncated: false });
            assert_eq!(game.suit().unwrap() as i64, twin.hand.last().unwrap() % 4);
        }
        assert_eq!((twin.hand.len(), game.rng), (52, draws));
    }
}

/// The returns of some episodes of a player that sees all suits so far.
fn returns(episodes: usize, player: impl Fn(&[usize]) -> i32) -> Vec<f32> {
    let mut game = Game::new(8);
    let episode = |_| {
        let mut seen = vec![game.reset()];
        let mut sum = 0.0;
        loop {
            let step = game.step(player(&seen)).unwrap();
            seen.push(game.suit().unwrap());
            sum += f64::from(step.reward);
            if step.terminated {
                return sum as f32;
            }
        }
    };
    (0..episodes).map(episode).collect()
}

#[test]
fn memory_is_what_earns() {
    let k_back = |k: usize| move |seen: &[usize]| if seen.len() < k { 0 } else { seen[seen.len() - k] as i32 };
    assert!(returns(50, k_back(4)).iter().all(|&sum| sum == 1.0));
    // Of the 48 cards that count, 12 are of one suit on average: 12 right answers and 36 wrong ones.
    for suit in 0..4 {
        let sums = returns(2000, |_| suit);
        let mean = sums.iter().sum::<f32>() / 2000.0;
        assert!((mean + 0.5).abs() < 0.005, "{mean}");
        // 9 to 13 of them are of this suit.
        assert!(sums.iter().all(|sum| (9..=13).any(|right| (sum - (2 * right - 48) as f32 / 48.0).abs() < 1e-5)));
    }
    for wrong in [1, 3, 5] {
        let sums = returns(200, k_back(wrong));
        assert!(sums.iter().sum::<f32>() / 200.0 < -0.4, "remembers card {wrong}");
    }
}

#[test]
fn no_state_breaks_repeat_previous() {
    let mut rng = Rng::seeded(1);
    for k in 0..20_000u64 {
        let mut game = Game::new(0);
        game.state = [(); 7].map(|()| rng.next_u64());
        if k % 2 == 0 {
            // Cards that do not exist, dealt up to the end and beyond.
            *game.dealt() = (k / 2 % 60) as u32;
        }
        for action in [0, 3, -1, i32::MAX] {
            let step = game.step(action).unwrap();
            assert!(step.reward.abs() <= 1.0 / 48.0 && game.obs.iter().all(|x| [0.0, 1.0].contains(x)));
            assert_eq!(game.suit().is_none(), *game.dealt() > 52);
        }
    }
    let (mut state, mut rng) = ([0u64; 7], Rng::seeded(1));
    for len in [0, 3, 5] {
        let state = bytemuck::cast_slice_mut(&mut state);
        assert!(RepeatPrevious.reset(0, state, &mut rng, ElementsMut::F32(&mut vec![0.0; len])).is_err());
    }
    assert!(RepeatPrevious.reset(0, &mut [0; 8], &mut rng, ElementsMut::F32(&mut [0.0; 4])).is_err());
}

#[test]
fn they_follow_breakout_in_the_list() {
    let ids = BUILTINS[6..9].iter().map(|(name, env)| (*name, env.spec().env_id));
    assert!(ids.eq([("CartPoleNoVel-v1", 7), ("PendulumNoVel-v1", 8), ("RepeatPreviousEasy", 9)]));
}
