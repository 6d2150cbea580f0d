//! Actions of choices and numbers: one log-probability for both, masks for the choices, and tasks that need both.
#![cfg(all(feature = "residual", feature = "actor_critic"))]

use crate::host::{Tune, attach, export, made, policy};
use bytemuck::{Pod, Zeroable};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Batch, BatchMut, Config, Learner, Phase, Policy, Recurrent, Sampling};
use rlcore::nn::{Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 8;
const OBS: Space<'static> = Space::unbounded(2);

/// An action of the environments.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Act {
    aim: f32,
    weapon: i32,
    /// Data of the host, covered by no field.
    own: u32,
    power: f32,
    stance: i32,
}

const OWN: u32 = 0xABCD_EF01;
const SIZE: usize = size_of::<Act>();
const BLANK: Act = Act { aim: f32::NAN, weapon: -9, own: OWN, power: f32::NAN, stance: -9 };
const FIELDS: [Field<'static>; 4] = [
    Field::new("aim", Element::F32, &[], 0),
    Field::new("weapon", Element::I32, &[], 4),
    Field::new("power", Element::F32, &[1], 12),
    Field::new("stance", Element::I32, &[], 16),
];
const ACTION: Space<'static> =
    Space { low: &[-2.0, 0.0], high: &[2.0, 1.0], n: &[3, 2], ..Space::bytes(SIZE as u32).with_fields(&FIELDS) };

fn config() -> Config {
    Config {
        num_envs: N as u32,
        learning_rate: 0.02,
        discount: 0.5,
        ..Config::default().hidden(&[12]).rollout(8, 1, 4)
    }
}

fn block(config: &Config) -> Vec<u64> {
    made(config, &[], &OBS, &ACTION)
}

fn to(action: &mut [Act]) -> ElementsMut<'_> {
    ElementsMut::U8(bytemuck::cast_slice_mut(action))
}

fn of(action: &[Act]) -> Elements<'_> {
    Elements::U8(bytemuck::cast_slice(action))
}

fn draw_obs(rng: &mut Rng) -> [f32; 2 * N] {
    std::array::from_fn(|_| if rng.coin() { 1.0 } else { -1.0 })
}

/// The reward of an episode of one step: 1 if the weapon matches the sign of the first observed number, less the distance of
/// the aim from the second. The other elements make no difference.
fn pay(obs: &[f32], action: &Act) -> f32 {
    let right = if obs[0] > 0.0 { 2 } else { 0 };
    f32::from(u8::from(action.weapon == right)) - (action.aim - obs[1]).abs().min(2.0)
}

fn pays(obs: &[f32], action: &[Act]) -> Vec<f32> {
    obs.chunks_exact(2).zip(action).map(|(obs, action)| pay(obs, action)).collect()
}

fn play(learner: &mut Learner<'_>, rng: &mut Rng, mask: Option<&[u8]>) {
    while learner.phase() != Phase::Learn {
        let (obs, mut action) = (draw_obs(rng), [BLANK; N]);
        learner.act(None, Elements::F32(&obs), mask, to(&mut action)).unwrap();
        for a in &action {
            assert!(a.aim.abs() <= 2.0 && (0.0..=1.0).contains(&a.power) && a.own == OWN, "{a:?}");
            assert!((0..3).contains(&a.weapon) && (0..2).contains(&a.stance), "{a:?}");
        }
        learner.observe(None, &pays(&obs, &action), &[1; N], &[0; N], None, None).unwrap();
    }
}

#[test]
fn agents_learn_what_needs_a_choice_and_a_number() {
    let a2c = Config { num_epochs: 1, ..Config { algorithm: Algorithm::A2c as u32, ..config() } };
    let impala = Config { algorithm: Algorithm::Impala as u32, normalize_advantage: 0, ..a2c };
    let squashed = Config { squash: 1, ..config() };
    for (config, updates) in [(config(), 40), (squashed, 40), (a2c, 90), (impala, 90)] {
        let mut block = block(&config);
        let mut learner = attach(&mut block);
        let mut rng = Rng::seeded(1);
        while learner.stats().num_updates < updates {
            play(&mut learner, &mut rng, None);
            learner.learn(Some(Elements::F32(&[0.0; 2 * N])), None, 0).unwrap();
        }
        let bytes = export(&learner.view());
        let policy = policy(&bytes);
        let mut scratch = vec![f32::NAN; policy.scratch_len(N).unwrap()];
        let none = Recurrent::default;
        let mut sum = 0.0;
        for _ in 0..20 {
            let obs = draw_obs(&mut rng);
            let [mut best, mut drawn, mut own] = [[BLANK; N]; 3];
            let seen = Elements::F32(&obs);
            policy.act_greedy(N, seen, None, none(), &mut scratch, to(&mut best)).unwrap();
            policy.act(N, seen, None, none(), Sampling::Greedy, &mut rng, &mut scratch, to(&mut drawn)).unwrap();
            learner.predict(seen, None, none(), Sampling::Greedy, to(&mut own)).unwrap();
            assert_eq!((best, best), (drawn, own));
            sum += pays(&obs, &best).iter().sum::<f32>();
        }
        let mean = sum / (20 * N) as f32;
        assert!(mean > 0.8, "algorithm {}, squash {}: {mean} of 1", config.algorithm, config.squash);
    }
}

/// Parameters of a policy with constant outputs: all weights are 0, the head's biases are the logits of three and of two
/// choices, then two means; behind them the free logarithms of two deviations.
const BIAS: [f32; 7] = [0.5, -0.25, 1.0, 0.75, -1.5, 0.3, -0.6];
const LOG_STD: [f32; 2] = [0.2, -0.4];

fn plain(learner: &mut Learner<'_>) {
    let mut params = learner.params().to_vec();
    let before = 2 * 12 + 12 + 12 * 7;
    params[..before].fill(0.0);
    params[before..][..7].copy_from_slice(&BIAS);
    params[before + 7..][..2].copy_from_slice(&LOG_STD);
    learner.write_params(&params).unwrap();
}

/// Log-probabilities of choices.
fn softmax(logits: &[f32]) -> Vec<f64> {
    let e: Vec<f64> = logits.iter().map(|x| f64::from(*x).exp()).collect();
    e.iter().map(|x| (x / e.iter().sum::<f64>()).ln()).collect()
}

/// Log-probability and entropy are sums over all choices and numbers.
#[test]
fn choices_and_numbers_have_one_log_probability() {
    let mut block = block(&config());
    let mut learner = attach(&mut block);
    plain(&mut learner);
    let action: [Act; N] = std::array::from_fn(|i| Act {
        aim: 0.1 * i as f32,
        weapon: i as i32 % 3,
        own: u32::MAX,
        power: -0.2 * i as f32,
        stance: i as i32 % 2,
    });
    let (mut log_prob, mut entropy) = ([0.0; N], [0.0; N]);
    let obs = Elements::F32(&[0.3; 2 * N]);
    learner.log_prob(obs, None, of(&action), &mut log_prob, &mut entropy).unwrap();
    let (three, two) = (softmax(&BIAS[..3]), softmax(&BIAS[3..5]));
    let half_log_2_pi = 0.5 * (2.0 * std::f64::consts::PI).ln();
    let entropies: f64 = three.iter().chain(&two).map(|p| -p.exp() * p).sum();
    let entropies = entropies + 2.0 * (half_log_2_pi + 0.5) + LOG_STD.iter().map(|x| f64::from(*x)).sum::<f64>();
    let normal = |x: f32, at: usize| {
        let log_std = f64::from(LOG_STD[at]);
        let z = (f64::from(x) - f64::from(BIAS[5 + at])) / log_std.exp();
        -0.5 * z * z - log_std - half_log_2_pi
    };
    for (i, a) in action.iter().enumerate() {
        let want = three[a.weapon as usize] + two[a.stance as usize] + normal(a.aim, 0) + normal(a.power, 1);
        assert!((f64::from(log_prob[i]) - want).abs() < 1e-5, "{i}: {} {want}", log_prob[i]);
        assert!((f64::from(entropy[i]) - entropies).abs() < 1e-5, "{} {entropies}", entropy[i]);
    }
    // Choices out of range, and numbers that are not finite.
    type Spoil = fn(&mut Act);
    let spoils: [Spoil; 5] =
        [|a| a.weapon = 3, |a| a.weapon = -1, |a| a.stance = 2, |a| a.aim = f32::NAN, |a| a.power = f32::INFINITY];
    let bytes = learner.view().params().to_vec();
    for (i, spoil) in spoils.into_iter().enumerate() {
        let mut bad = action;
        spoil(&mut bad[N - 1]);
        let (mut l, mut e) = ([7.0; N], [7.0; N]);
        let error = learner.log_prob(obs, None, of(&bad), &mut l, &mut e).unwrap_err();
        assert_eq!((error.kind, l, e), (Kind::Value, [7.0; N], [7.0; N]), "{i}");
    }
    assert_eq!(learner.params(), bytes);
}

/// Every way of sampling: choices have their probabilities, numbers have their means and deviations, and both are drawn
/// independently.
#[test]
fn every_way_of_sampling_is_that_of_each_part() {
    let mut block = block(&config());
    let mut learner = attach(&mut block);
    plain(&mut learner);
    let bytes = export(&learner.view());
    let policy = policy(&bytes);
    const ROWS: usize = 4000;
    let mut scratch = vec![0.0; policy.scratch_len(ROWS).unwrap()];
    let mut rng = Rng::seeded(5);
    let obs = vec![0.3f32; 2 * ROWS];
    let mut draw = |sampling| {
        let (mut action, seen) = (vec![BLANK; ROWS], Elements::F32(&obs));
        policy.act(ROWS, seen, None, Recurrent::default(), sampling, &mut rng, &mut scratch, to(&mut action)).unwrap();
        assert!(action.iter().all(|a| a.own == OWN));
        let share = |f: &dyn Fn(&Act) -> f32| action.iter().map(|a| f64::from(f(a))).sum::<f64>() / ROWS as f64;
        let counts: Vec<f64> = (0..3).map(|n| share(&|a| f32::from(u8::from(a.weapon == n)))).collect();
        let aim = share(&|a| a.aim);
        let var = share(&|a| (a.aim - BIAS[5]).powi(2));
        let both = share(&|a| f32::from(u8::from(a.weapon == 2)) * (a.aim - BIAS[5]));
        (counts, aim, var.sqrt(), both)
    };
    // A few draws of the aim, with a deviation of 1.2, are clipped at ±2, so the measured deviation is smaller.
    let (counts, aim, std, both) = draw(Sampling::Basic);
    let p: Vec<f64> = softmax(&BIAS[..3]).iter().map(|p| p.exp()).collect();
    assert!(counts.iter().zip(&p).all(|(a, b)| (a - b).abs() < 0.03), "{counts:?} {p:?}");
    assert!((aim - 0.3).abs() < 0.1 && (0.95..1.2).contains(&std) && both.abs() < 0.06, "{aim} {std} {both}");
    let (counts, aim, std, _) = draw(Sampling::TopK(1));
    assert!(counts[2] == 1.0 && (aim - 0.3).abs() < 0.1 && std > 0.9, "{counts:?} {aim} {std}");
    let (counts, ..) = draw(Sampling::TopK(2));
    assert!(counts[1] == 0.0 && counts[0] > 0.3 && counts[2] > 0.5, "{counts:?}");
    let (counts, _, std, _) = draw(Sampling::BottomK(1));
    assert!(counts[1] == 1.0 && std > 0.9, "{counts:?} {std}");
    let (counts, aim, std, _) = draw(Sampling::Temperature(0.1));
    assert!(counts[2] > 0.98 && (aim - 0.3).abs() < 0.01 && (0.11..0.135).contains(&std), "{counts:?} {aim} {std}");
    let (counts, aim, std, _) = draw(Sampling::Greedy);
    assert!(counts[2] == 1.0 && (aim - f64::from(0.3f32)).abs() < 1e-6 && std == 0.0);
    let sampling = Sampling::TopK(0);
    let action = &mut [BLANK; N];
    let error = learner.predict(Elements::F32(&[0.3; 2 * N]), None, Recurrent::default(), sampling, to(action));
    assert_eq!(error.unwrap_err().kind, Kind::Config);
    // Actions of a wrong kind or length.
    let seen = Elements::F32(&[0.3; 2 * N]);
    for wrong in
        [ElementsMut::I32(&mut [0; 5 * N]), ElementsMut::F32(&mut [0.0; 5 * N]), ElementsMut::U8(&mut [0; 5 * N])]
    {
        assert_eq!(learner.act(None, seen, None, wrong).unwrap_err().kind, Kind::Shape);
    }
}

/// The transitions of a rollout.
#[derive(Debug, PartialEq)]
struct Rows {
    obs: Vec<f32>,
    action: Vec<Act>,
    mask: Vec<u8>,
    columns: [Vec<f32>; 4],
}

fn read(learner: &Learner<'_>, flags: usize) -> Rows {
    let m = learner.config().batch_len();
    let mut r = Rows {
        obs: vec![f32::NAN; 2 * m],
        action: vec![BLANK; m],
        mask: vec![9; flags * m],
        columns: [(); 4].map(|()| vec![f32::NAN; m]),
    };
    let [log_prob, value, advantage, value_target] = &mut r.columns;
    let (obs, action, mask) = (&mut r.obs[..], to(&mut r.action), &mut r.mask[..]);
    let (state, begin, env) = (&mut [][..], &mut [][..], &mut [][..]);
    let to = BatchMut {
        obs,
        action,
        mask,
        log_prob,
        value,
        advantage,
        value_target,
        state,
        begin,
        env,
        duration: &mut [],
        moments: &mut [],
    };
    learner.view().read_batch(to).unwrap();
    r
}

fn batch<'a>(r: &'a Rows, action: &'a [Act]) -> Batch<'a> {
    let [log_prob, value, advantage, value_target] = &r.columns;
    let (obs, mask, action) = (&r.obs[..], &r.mask[..], of(action));
    let (state, begin, env, moments) = (&[][..], &[][..], &[][..], &[][..]);
    Batch { obs, action, mask, log_prob, value, advantage, value_target, state, begin, env, duration: &[], moments }
}

fn range(learner: &Learner<'_>, begin: usize, end: usize) -> Vec<f32> {
    let mut grads = vec![f32::NAN; (end - begin) * learner.view().grads_len()];
    let mut scratch = vec![0u64; learner.view().scratch_size().unwrap().div_ceil(8)];
    learner.view().learn_range(begin, end, bytemuck::cast_slice_mut(&mut scratch), &mut grads).unwrap();
    grads
}

/// The gradient of a minibatch against the slopes of its loss, which the host computes from log-probabilities and entropies.
#[test]
fn gradients_are_the_slopes_of_log_probabilities_and_entropies() {
    let entropy_coef = 0.3;
    let config = Config { num_steps: 4, num_epochs: 1, value_coef: 0.0, ..config().hidden(&[5]) };
    let config = Config { normalize_advantage: 0, max_grad_norm: 0.0, entropy_coef, ..config };
    let mut block = block(&config);
    let mut learner = attach(&mut block);
    let mut rng = Rng::seeded(9);
    let wide: Vec<f32> = learner.params().iter().map(|x| x + rng.uniform_in(-0.3, 0.3) as f32).collect();
    learner.write_params(&wide).unwrap();
    play(&mut learner, &mut rng, None);
    learner.learn_begin(Elements::F32(&[0.0; 2 * N]), None).unwrap();
    let rows = read(&learner, 0);
    let m = rows.columns[0].len();
    let grads = range(&learner, 0, 1);
    learner.learn_drop().unwrap();
    let mut loss = |params: &[f32]| -> f64 {
        learner.write_params(params).unwrap();
        let mut sum = 0.0;
        for k in 0..m / N {
            let (mut log_prob, mut entropy) = ([0.0; N], [0.0; N]);
            let obs = Elements::F32(&rows.obs[2 * N * k..2 * N * (k + 1)]);
            let action = of(&rows.action[N * k..N * (k + 1)]);
            learner.log_prob(obs, None, action, &mut log_prob, &mut entropy).unwrap();
            for i in 0..N {
                let ratio = (f64::from(log_prob[i]) - f64::from(rows.columns[0][k * N + i])).exp();
                sum -= ratio * f64::from(rows.columns[2][k * N + i]) + f64::from(entropy_coef * entropy[i]);
            }
        }
        sum / m as f64
    };
    let policy_len = 2 * 5 + 5 + 5 * 7 + 7 + 2;
    let mut slopes = vec![];
    for at in 0..policy_len {
        let (mut up, mut down) = (wide.clone(), wide.clone());
        (up[at], down[at]) = (wide[at] + 0.01, wide[at] - 0.01);
        let slope = (loss(&up) - loss(&down)) / f64::from(up[at] - down[at]);
        assert!((f64::from(grads[at]) - slope).abs() < 2e-3 * (1.0 + slope.abs()), "{at}: {} {slope}", grads[at]);
        slopes.push(slope.abs());
    }
    // The biases of every logit and every mean, and both deviations.
    assert!(slopes[policy_len - 9..].iter().all(|slope| *slope > 1e-3), "{slopes:?}");
}

#[test]
fn rollouts_are_handed_on_and_masks_forbid_choices() {
    let config = Config { use_action_mask: 1, ..config() };
    let mask: Vec<u8> = [0, 1, 1, 1, 0].repeat(N);
    let (mut one, mut other) = (block(&config), block(&config));
    let (mut from, mut to_it) = (attach(&mut one), attach(&mut other));
    assert_eq!(from.view().batch_len(), (64, 5));
    play(&mut from, &mut Rng::seeded(6), Some(&mask));
    from.learn_begin(Elements::F32(&[0.0; 2 * N]), None).unwrap();
    let rows = read(&from, 5);
    assert!(rows.mask.chunks_exact(5).all(|row| row == &mask[..5]));
    assert!(rows.action.iter().all(|a| [1, 2].contains(&a.weapon) && a.stance == 0 && a.own == OWN));
    assert!(rows.action.iter().any(|a| a.power < 0.0), "as they were drawn, before they are clipped");
    type Spoil = fn(&mut Act);
    let spoils: [Spoil; 5] =
        [|a| a.weapon = 0, |a| a.stance = 1, |a| a.weapon = 3, |a| a.aim = f32::NAN, |a| a.weapon = i32::MIN];
    let before = to_it.params().to_vec();
    for (i, spoil) in spoils.into_iter().enumerate() {
        let mut bad = rows.action.clone();
        spoil(&mut bad[63]);
        assert_eq!(to_it.learn_batch(&batch(&rows, &bad)).unwrap_err().kind, Kind::Value, "{i}");
    }
    assert!(to_it.params() == before && to_it.phase() == Phase::Act);
    to_it.learn_batch(&batch(&rows, &rows.action)).unwrap();
    assert_eq!(read(&to_it, 5), rows);
    from.learn(None, None, 0).unwrap();
    to_it.learn(None, None, 0).unwrap();
    assert!(from.stats().grad_norm > 0.0 && from.params() == to_it.params());
    let nothing = [0, 0, 0, 1, 1].repeat(N);
    let mut action = [BLANK; N];
    let error = from.act(None, Elements::F32(&[0.0; 2 * N]), Some(&nothing), to(&mut action));
    assert_eq!(error.unwrap_err().kind, Kind::Value);
    let short = [1; 4 * N];
    let error = from.act(None, Elements::F32(&[0.0; 2 * N]), Some(&short), to(&mut action));
    assert_eq!(error.unwrap_err().kind, Kind::Shape);
    assert!(action.iter().all(|a| a.own == OWN && a.weapon == -9));
}

/// A learner saved before any call goes on to the same bytes, and slices of any size and ranges of any number do not change
/// them, whatever the number of chunks.
#[test]
fn saves_slices_and_ranges_leave_the_same_bytes() {
    for (algorithm, num_chunks, overlap, use_action_mask) in [
        (Algorithm::Ppo, 1, 0, 0),
        (Algorithm::Ppo, 2, 1, 1),
        (Algorithm::Ppo, 3, 0, 1),
        (Algorithm::A2c, 7, 1, 0),
        (Algorithm::Impala, 2, 1, 1),
        (Algorithm::Impala, 2, 0, 0),
    ] {
        let fresh = Config::of(algorithm);
        let config = Config { overlap, use_action_mask, num_envs: N as u32, ..fresh.hidden(&[6]) };
        let config = Config { num_steps: 8, num_minibatches: 2, num_chunks, ..config };
        let mut whole = block(&config);
        let (mut parts, mut shared) = (whole.clone(), whole.clone());
        let (mut rng, mut updates) = (Rng::seeded(2), 0);
        while updates < 2 {
            let (obs, mut action, mut other) = (draw_obs(&mut rng), [BLANK; N], [BLANK; N]);
            let seen = Elements::F32(&obs);
            // Some agents pause, or take longer over their last step.
            let acted = attach(&mut whole).acted().to_vec();
            let acts: Vec<u8> = acted.iter().map(|acted| u8::from(*acted == 0 && rng.bounded(4) > 0)).collect();
            let flags: Vec<u8> = (0..N).flat_map(|_| [1, u8::from(rng.coin()), 0, u8::from(rng.coin()), 1]).collect();
            let mask = |begin: usize, end: usize| (use_action_mask == 1).then_some(&flags[5 * begin..5 * end]);
            attach(&mut whole).act(Some(&acts), seen, mask(0, N), to(&mut action)).unwrap();
            for (block, ends) in [(&mut parts, vec![1, 3, 6, 8]), (&mut shared, vec![7, 8])] {
                let mut begin = 0;
                for end in ends {
                    // Saved and read again before each call.
                    let mut copy = block.clone();
                    let (rows, here) = (&obs[2 * begin..2 * end], &mut other[begin..end]);
                    let acts = Some(&acts[begin..end]);
                    let (rows, mask) = (Elements::F32(rows), mask(begin, end));
                    attach(&mut copy).act_range(begin, end, acts, rows, mask, to(here)).unwrap();
                    *block = copy;
                    begin = end;
                }
                assert_eq!(bytemuck::cast_slice::<_, u8>(&action), bytemuck::cast_slice::<_, u8>(&other));
            }
            let acted = attach(&mut whole).acted().to_vec();
            let sees: Vec<u8> = acted.iter().map(|acted| u8::from(*acted == 1 && rng.bounded(4) > 0)).collect();
            let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
            for block in [&mut whole, &mut parts, &mut shared] {
                attach(block).observe(Some(&sees), &reward, &[0; N], &[1; N], Some(seen), None).unwrap();
            }
            assert!(whole == parts && whole == shared);
            if attach(&mut whole).phase() != Phase::Learn {
                continue;
            }
            updates += 1;
            attach(&mut whole).learn(Some(seen), None, 0).unwrap();
            while attach(&mut parts).stats().minibatches_left > 0 || attach(&mut parts).phase() == Phase::Learn {
                attach(&mut parts).learn(Some(seen), None, 1).unwrap();
                parts = parts.clone();
            }
            let mut learner = attach(&mut shared);
            let mut left = learner.learn_begin(seen, None).unwrap().minibatches_left;
            while left > 0 {
                let (chunks, half) = (num_chunks as usize, num_chunks as usize / 2);
                let (late, early) = (range(&learner, half, chunks), range(&learner, 0, half));
                learner.write_grads(half, chunks, &late).unwrap();
                learner.write_grads(0, half, &early).unwrap();
                left = learner.learn_apply().unwrap().minibatches_left;
            }
            assert!(whole == parts, "algorithm {}, {num_chunks} chunks", config.algorithm);
            assert_eq!(learner.params(), attach(&mut whole).params());
            shared = whole.clone();
        }
    }
}

/// An overflow in a single row leaves the actions of all rows and every random stream unchanged.
#[test]
fn outputs_that_overflow_write_no_row() {
    let mut block = block(&Config { activation: 1, ..config() });
    let mut learner = attach(&mut block);
    // Hidden units are a tenth of an observation's sum; only the logits grow from there.
    let mut params = vec![0.0; learner.params().len()];
    params[..2 * 12].fill(0.1);
    params[2 * 12 + 12..][..12 * 5].fill(1e6);
    learner.write_params(&params).unwrap();
    let mut obs = [0.0; 2 * N];
    obs[2 * N - 1] = 3e38;
    let (seen, none) = (Elements::F32(&obs), Recurrent::default);
    let bytes = export(&learner.view());
    let policy = policy(&bytes);
    let before = block.clone();
    let mut learner = attach(&mut block);
    let mut scratch = vec![f32::NAN; policy.scratch_len(N).unwrap()];
    for sampling in
        [Sampling::Basic, Sampling::Greedy, Sampling::Temperature(2.0), Sampling::TopK(2), Sampling::BottomK(1)]
    {
        let (mut action, mut rng) = ([BLANK; N], Rng::seeded(1));
        let done = [
            policy.act(N, seen, None, none(), sampling, &mut rng, &mut scratch, to(&mut action)),
            learner.predict(seen, None, none(), sampling, to(&mut action)),
            policy.act_greedy(N, seen, None, none(), &mut scratch, to(&mut action)),
            learner.act(None, seen, None, to(&mut action)),
        ];
        assert!(done.iter().all(|done| done.as_ref().is_err_and(|e| e.kind == Kind::Value)), "{sampling:?}");
        let untouched = action.iter().all(|a| a.weapon == -9 && a.stance == -9 && a.aim.is_nan());
        assert!(untouched && rng == Rng::seeded(1), "{sampling:?}: {action:?}");
    }
    assert!(block == before);
}

/// Recurrent layers and normalized observations work with actions of both kinds.
#[test]
fn recurrent_policies_take_them_too() {
    if cfg!(not(feature = "recurrent")) {
        return;
    }
    let config = Config { num_layers: 1, sequence_len: 4, normalize_obs: 1, num_minibatches: 2, ..config() };
    let layers = [Layer::recurrent(LayerKind::Gru, 5)];
    let mut block = made(&config, &layers, &OBS, &ACTION);
    let mut learner = attach(&mut block);
    let mut rng = Rng::seeded(3);
    play(&mut learner, &mut rng, None);
    learner.learn(Some(Elements::F32(&[0.0; 2 * N])), None, 0).unwrap();
    let bytes = export(&learner.view());
    let policy = policy(&bytes);
    let mut scratch = vec![f32::NAN; policy.scratch_len(N).unwrap()];
    let (mut ours, mut theirs) = (vec![0.5; 5 * N], vec![0.5; 5 * N]);
    let (mut one, mut other) = ([BLANK; N], [BLANK; N]);
    let seen = Elements::F32(&[0.7; 2 * N]);
    let recurrent = Recurrent { state: &mut ours, reset: &[] };
    learner.predict(seen, None, recurrent, Sampling::Greedy, to(&mut one)).unwrap();
    let recurrent = Recurrent { state: &mut theirs, reset: &[] };
    policy.act_greedy(N, seen, None, recurrent, &mut scratch, to(&mut other)).unwrap();
    assert_eq!((one, ours), (other, theirs));
}

/// The actions before the first update, and the parameters after `updates` updates.
fn one_kind(config: &Config, space: &Space<'_>, updates: u32) -> (Vec<[u32; 2 * N]>, Vec<f32>) {
    let mut block = made(config, &[], &OBS, space);
    let mut learner = attach(&mut block);
    let (mut rng, mut actions) = (Rng::seeded(4), vec![]);
    for update in 0..updates {
        while learner.phase() != Phase::Learn {
            let (obs, mut action) = (draw_obs(&mut rng), [0u32; 2 * N]);
            let to = ElementsMut::of_bytes(space.kind, bytemuck::cast_slice_mut(&mut action)).unwrap();
            learner.act(None, Elements::F32(&obs), None, to).unwrap();
            // After an update the numbers of the two forms differ in their last bits, so rewards no longer depend on them.
            let reward: [f32; N] =
                std::array::from_fn(|i| (action[2 * i] % 3) as f32 * obs[2 * i] * if update == 0 { 1.0 } else { 0.0 });
            learner.observe(None, &reward, &[1; N], &[0; N], None, None).unwrap();
            if update == 0 {
                actions.push(action);
            }
        }
        learner.learn(Some(Elements::F32(&[0.0; 2 * N])), None, 0).unwrap();
    }
    assert!(config.policy_replay_coef == 0.0 || learner.stats().policy_replay_loss != 0.0);
    (actions, learner.params().to_vec())
}

/// A structure of choices alone or of numbers alone is drawn and learned as without a structure, also from past steps.
#[test]
fn a_structure_of_one_kind_is_what_it_is_without_one() {
    let fields = [[Field::new("", Element::I32, &[2], 0)], [Field::new("", Element::F32, &[2], 0)]];
    let bounds = [-1.0f32, 1.0];
    let bytes = Space::bytes(8);
    let unreal = Config {
        algorithm: Algorithm::Unreal as u32,
        policy_replay_coef: 2.0,
        entropy_coef: 0.1,
        history_len: 20,
        ..config()
    };
    let plain = [Space::discrete(&[3, 2]), Space { low: &bounds[..1], high: &bounds[1..], ..Space::unbounded(2) }];
    for (i, plain) in plain.into_iter().enumerate() {
        let structure = Space { n: plain.n, low: plain.low, high: plain.high, ..bytes.with_fields(&fields[i]) };
        let [ppo, impala] = [Algorithm::Ppo, Algorithm::Impala].map(|algorithm| Config {
            algorithm: algorithm as u32,
            num_minibatches: 1,
            normalize_advantage: 0,
            ..unreal
        });
        let primed = Config { prime_interval: 2, ..ppo };
        for (config, updates) in [(config(), 1), (unreal, 2), (ppo, 2), (primed, 2), (impala, 2)] {
            let [plain, structured] = [&plain, &structure].map(|space| one_kind(&config, space, updates));
            assert_eq!(plain.0, structured.0);
            let close = plain.1.iter().zip(&structured.1).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(close && plain.1.len() == structured.1.len());
        }
        let masked = Config { use_action_mask: 1, ..config() };
        assert_eq!(Learner::size(&masked, &[], &OBS, &structure).is_ok(), i == 0);
        assert_eq!(Learner::size(&Config { squash: 1, ..config() }, &[], &OBS, &structure).is_ok(), i == 1);
    }
}

/// A structure of choices alone or of numbers alone is, to the bit, a plain action to stream AC, which learns from one row at
/// a time.
#[test]
#[cfg(feature = "stream")]
fn a_structure_of_one_kind_is_what_it_is_without_one_in_a_stream() {
    let fields = [[Field::new("", Element::I32, &[2], 0)], [Field::new("", Element::F32, &[2], 0)]];
    let bytes = Space::bytes(8);
    let config = Config { seed: 5, ..Config::of(Algorithm::StreamAc).hidden(&[12]) };
    for (i, plain) in [Space::discrete(&[3, 2]), Space::unbounded(2)].into_iter().enumerate() {
        let structure = Space { n: plain.n, ..bytes.with_fields(&fields[i]) };
        let mut blocks = [&plain, &structure].map(|space| made(&config, &[], &OBS, space));
        let (mut rng, kinds) = (Rng::seeded(4), [plain.kind, Element::U8]);
        let before = attach(&mut blocks[0]).params().to_vec();
        for _ in 0..200 {
            let (obs, mut actions) = (draw_obs(&mut rng), [[0u32; 2]; 2]);
            let obs = Elements::F32(&obs[..2]);
            let ends = [u8::from(rng.bounded(5) == 0)];
            for ((block, kind), action) in blocks.iter_mut().zip(kinds).zip(&mut actions) {
                let mut learner = attach(block);
                let to = ElementsMut::of_bytes(kind, bytemuck::cast_slice_mut(action)).unwrap();
                learner.act(None, obs, None, to).unwrap();
                learner.observe(None, &[(action[0] % 7) as f32], &ends, &[0], None, None).unwrap();
                learner.learn(Some(obs), None, 0).unwrap();
            }
            assert_eq!(actions[0], actions[1]);
            let [one, other] = blocks.each_mut().map(|block| attach(block).params().to_vec());
            assert!(one == other && one != before);
        }
    }
}

#[test]
fn spaces_that_cannot_be_are_refused_by_name() {
    let refused = |action: Space<'_>, words: &str| {
        let error = Learner::size(&config(), &[], &OBS, &action).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    let field = Field::new;
    refused(Space::bytes(4), "elements of kind f32 or i32, or a structure with fields of these");
    refused(Space { n: &[3], ..ACTION }, "n with one entry for each element of kind i32, 2, given 1");
    refused(Space { n: &[3, 0], ..ACTION }, "choices of at least 1, given 0");
    refused(Space { n: &[3, 1 << 31], ..ACTION }, "31 bits");
    refused(Space { low: &[0.0; 3], ..ACTION }, "one entry for all or one an element, 2, given 3");
    refused(Space { low: &[], ..ACTION }, "one entry for all or one an element, 2, given 0");
    refused(Space { low: &[0.0, 2.0], ..ACTION }, "finite bounds, low at most high");
    refused(Space { len: 16, ..ACTION }, "the fields end at byte 20; len, 16, must be a multiple of 4 and not less");
    refused(Space { len: 22, ..ACTION }, "len, 22, must be a multiple of 4");
    let lie = "must have elements of kind f32 or i32, be no info, and have an offset that is a multiple of 4 and not within the field before it";
    for (at, wrong) in [
        (1, field("", Element::I32, &[], 0)),
        (2, field("", Element::U8, &[4], 12)),
        (1, field("", Element::I32, &[], 6)),
        (3, field("", Element::I32, &[0], 16)),
        (0, field("", Element::F32, &[1 << 20, 1 << 20, 1 << 20, 1 << 20], 0)),
    ] {
        let mut fields = FIELDS;
        fields[at] = wrong;
        refused(Space { fields: &fields, ..ACTION }, &format!("field {at} {lie}"));
    }
    let nine: [Field<'_>; 9] = std::array::from_fn(|i| field("", Element::F32, &[], 4 * i as u32));
    refused(Space::bytes(36).with_fields(&nine), "fields of an action, at most 8, given 9");
    refused(
        Space::bytes(260).with_fields(&[field("", Element::F32, &[65], 0)]),
        "elements of each kind in a structure, at most 64, given 65",
    );
    Learner::size(&config(), &[], &OBS, &Space::bytes(256).with_fields(&[field("", Element::F32, &[64], 0)])).unwrap();
}

/// A weapon and a stance, with data of the host between them.
#[cfg(all(feature = "pqn", feature = "stream"))]
const PICKS: [Field<'static>; 2] =
    [Field::new("weapon", Element::I32, &[], 0), Field::new("stance", Element::I32, &[], 8)];

/// Q over a structure of choices is, to the bit, Q over several choices: the elements of both are the branches.
#[test]
#[cfg(all(feature = "pqn", feature = "stream"))]
fn q_of_a_structure_of_choices_is_q_of_several_choices() {
    let plain = Space::discrete(&[3, 2]);
    let structure = Space { n: &[3, 2], ..Space::bytes(12).with_fields(&PICKS) };
    let own = |algorithm: Algorithm| Config {
        algorithm: algorithm as u32,
        exploration_steps: 100,
        use_action_mask: 1,
        ..Config::of(algorithm).hidden(&[12])
    };
    let layers = [Layer::recurrent(LayerKind::Gru, 5)];
    let pqn = Config { num_envs: N as u32, num_chunks: 3, ..own(Algorithm::Pqn).rollout(8, 2, 2) };
    let recurrent = Config { num_layers: 1, sequence_len: 4, overlap: 1, noisy: 0, ..pqn };
    for (config, layers) in [(pqn, &layers[..0]), (recurrent, &layers[..]), (own(Algorithm::StreamQ), &layers[..0])] {
        let n = config.num_envs as usize;
        let [mut one, mut other] = [&plain, &structure].map(|space| made(&config, layers, &OBS, space));
        let (mut rng, mut chosen) = (Rng::seeded(6), [0; 3]);
        for _ in 0..64 {
            let obs = draw_obs(&mut rng);
            let obs = Elements::F32(&obs[..2 * n]);
            let mask: Vec<u8> = (0..n).flat_map(|_| [1, u8::from(rng.coin()), 1, 1, u8::from(rng.coin())]).collect();
            let (mut a, mut b) = (vec![0i32; 2 * n], vec![[7i32; 3]; n]);
            attach(&mut one).act(None, obs, Some(&mask), ElementsMut::I32(&mut a)).unwrap();
            let to = ElementsMut::U8(bytemuck::cast_slice_mut(&mut b));
            attach(&mut other).act(None, obs, Some(&mask), to).unwrap();
            assert!(a.chunks(2).zip(&b).all(|(a, b)| [a[0], 7, a[1]] == *b));
            a.iter().step_by(2).for_each(|&weapon| chosen[weapon as usize] += 1);
            let reward: Vec<f32> = a.chunks(2).map(|a| a[0] as f32 - a[1] as f32).collect();
            let ends: Vec<u8> = (0..n).map(|_| rng.coin().into()).collect();
            for block in [&mut one, &mut other] {
                let mut learner = attach(block);
                learner.observe(None, &reward, &ends, &vec![0; n], None, None).unwrap();
                if learner.phase() == Phase::Learn {
                    learner.learn(Some(obs), Some(&mask), 0).unwrap();
                }
            }
            let params = [&mut one, &mut other].map(|block| attach(block).params().to_vec());
            assert!(params[0] == params[1]);
        }
        assert!(chosen.iter().all(|count| *count > 0));
        let exported = [&mut one, &mut other].map(|block| export(&attach(block).view()));
        let [ours, theirs] = [&exported[0], &exported[1]].map(|bytes| policy(bytes));
        let mut scratch = vec![f32::NAN; ours.scratch_len(n).unwrap()];
        let obs = Elements::F32(&[0.5; 2 * N][..2 * n]);
        let (mut a, mut b) = (vec![0i32; 2 * n], vec![[7i32; 3]; n]);
        let mut state = vec![0.0; ours.state_len() * n];
        let none = Recurrent { state: &mut state, reset: &[] };
        ours.act_greedy(n, obs, None, none, &mut scratch, ElementsMut::I32(&mut a)).unwrap();
        let mut state = vec![0.0; ours.state_len() * n];
        let none = Recurrent { state: &mut state, reset: &[] };
        let to = ElementsMut::U8(bytemuck::cast_slice_mut(&mut b));
        theirs.act_greedy(n, obs, None, none, &mut scratch, to).unwrap();
        assert!(a.chunks(2).zip(&b).all(|(a, b)| [a[0], 7, a[1]] == *b));
        let mut state = vec![0.0; ours.state_len() * n];
        let none = Recurrent { state: &mut state, reset: &[] };
        let mut c = vec![[7i32; 3]; n];
        let to = ElementsMut::U8(bytemuck::cast_slice_mut(&mut c));
        attach(&mut other).predict(obs, Some(&vec![1; 5 * n]), none, Sampling::Greedy, to).unwrap();
        assert_eq!(b, c);
    }
}

/// No Q tells the best of continuous numbers.
#[test]
#[cfg(all(feature = "pqn", feature = "stream"))]
fn q_of_numbers_in_a_structure_is_refused() {
    for algorithm in [Algorithm::Pqn, Algorithm::StreamQ] {
        let error = Learner::size(&Config::of(algorithm), &[], &OBS, &ACTION).unwrap_err();
        let words = format!("algorithm {} learns Q, which tells the best of choices, not of numbers", algorithm as u32);
        assert!(error.kind == Kind::Config && error.to_string().contains(&words), "{error}");
    }
}

/// Blocks with a changed list of action parts are refused.
#[test]
fn spoilt_images_are_refused() {
    let config = Config { use_action_mask: 1, ..config() };
    let mut good = block(&config);
    let mask = [1; 5 * N];
    let mut learner = attach(&mut good);
    learner.act(None, Elements::F32(&[0.5; 2 * N]), Some(&mask), to(&mut [BLANK; N])).unwrap();
    let words: Vec<u32> = bytemuck::cast_slice(&good).to_vec();
    let each = [0, 3, u32::MAX, 0, 2];
    let at = words.windows(5).position(|w| w == each).unwrap();
    for (i, junk) in (at..at + 5).flat_map(|i| [0, 1, 2, 3, 4, u32::MAX].map(|junk| (i, junk))) {
        let mut spoilt = words.clone();
        spoilt[i] = junk;
        let mut block = vec![0u64; spoilt.len() / 2];
        bytemuck::cast_slice_mut(&mut block).copy_from_slice(&spoilt);
        let attached = Learner::attach(bytemuck::cast_slice_mut(&mut block));
        assert_eq!(attached.is_ok(), junk == words[i], "{} {junk}", i - at);
    }
}

/// Blocks with any one word changed are refused, or safe for every call.
#[test]
fn no_spoilt_word_does_harm() {
    let small = Config { num_envs: 2, use_action_mask: 1, ..Config::default().hidden(&[2]).rollout(2, 1, 1) };
    let (obs, mask) = ([0.5; 4], [1; 10]);
    let seen = Elements::F32(&obs);
    let mut acted = block(&small);
    attach(&mut acted).act(None, seen, Some(&mask), to(&mut [BLANK; 2])).unwrap();
    let mut learns = acted.clone();
    let mut learner = attach(&mut learns);
    learner.observe(None, &[1.0; 2], &[0; 2], &[0; 2], None, None).unwrap();
    learner.act(None, seen, Some(&mask), to(&mut [BLANK; 2])).unwrap();
    learner.observe(None, &[2.0; 2], &[0; 2], &[0; 2], None, None).unwrap();
    learner.learn_begin(seen, None).unwrap();
    let (mut refused, mut accepted) = (0, 0);
    for block in [acted, learns] {
        let words: Vec<u32> = bytemuck::cast_slice(&block).to_vec();
        for (i, junk) in (0..words.len()).flat_map(|i| [0, 1, 0x7F00_0000, u32::MAX].map(|x| (i, x))) {
            let mut spoilt = block.clone();
            bytemuck::cast_slice_mut::<u64, u32>(&mut spoilt)[i] = junk;
            let Ok(mut learner) = Learner::attach(bytemuck::cast_slice_mut(&mut spoilt)) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let (mut log_prob, mut entropy, mut action) = ([0.0; 2], [0.0; 2], [Act { weapon: 2, ..BLANK }; 2]);
            let _ = learner.predict(seen, Some(&mask), Recurrent::default(), Sampling::Basic, to(&mut action));
            let _ = learner.log_prob(seen, Some(&mask), of(&action), &mut log_prob, &mut entropy);
            let _ = learner.observe(None, &[1.0; 2], &[0; 2], &[0; 2], None, None);
            let _ = learner.act(None, seen, Some(&mask), to(&mut action));
            let _ = learner.learn(Some(seen), None, 0);
            let brain = export(&learner.view());
            policy(&brain);
        }
    }
    assert!(refused > 500 && accepted > 500, "{refused} {accepted}");

    let (shipped, mut taken) = (export(&attach(&mut block(&small)).view()), 0);
    let words: Vec<u32> = bytemuck::cast_slice(&shipped).to_vec();
    for (i, junk) in (0..words.len()).flat_map(|i| [0, 1, 2, 0x7F00_0000, u32::MAX].map(|x| (i, x))) {
        let mut spoilt = shipped.clone();
        bytemuck::cast_slice_mut::<u64, u32>(&mut spoilt)[i] = junk;
        // As a host could write it, without the hash of the whole.
        bytemuck::cast_slice_mut::<u64, u8>(&mut spoilt)[40..48].fill(0);
        let Ok(policy) = Policy::attach(bytemuck::cast_slice(&spoilt)) else { continue };
        taken += 1;
        let mut scratch = vec![f32::NAN; policy.scratch_len(2).unwrap()];
        for sampling in [Sampling::Basic, Sampling::TopK(2), Sampling::Temperature(1e30)] {
            let (none, mut rng, mut action) = (Recurrent::default(), Rng::seeded(1), [BLANK; 2]);
            if policy.act(2, seen, Some(&mask), none, sampling, &mut rng, &mut scratch, to(&mut action)).is_err() {
                assert!(action.iter().all(|a| a.weapon == -9 && a.stance == -9), "word {i}: {junk}");
            }
            let _ = policy.act_greedy(2, seen, None, Recurrent::default(), &mut scratch, to(&mut action));
        }
    }
    assert!(taken > words.len(), "{taken} of {}", words.len());
}
