//! Actions of choices and numbers: one log-probability for both, masks for the choices, and an agent that needs both.
#![cfg(feature = "residual")]

use rlcore::error::Kind;
use rlcore::learn::{Batch, BatchMut, Config, Learner, Phase, Policy, Recurrent, Sampling};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 8;
/// A number, a choice of three, a number and a choice of two.
const CHOICES: [u32; 4] = [0, 3, 0, 2];
const A: usize = 4;
const OBS: Space<'static> = Space::unbounded(2);

fn action() -> Space<'static> {
    Space { n: &CHOICES, ..Space::between(&[-2.0, 9.0, 0.0, 9.0], &[2.0, -9.0, 1.0, -9.0]) }
}

fn config() -> Config {
    Config {
        num_envs: N as u32,
        num_steps: 8,
        num_minibatches: 1,
        num_epochs: 4,
        num_hidden: 1,
        hidden_len: [12, 0, 0, 0],
        learning_rate: 0.02,
        discount: 0.5,
        ..Config::default()
    }
}

fn block(config: &Config, action: &Space<'_>) -> Vec<u64> {
    let mut block = vec![0; Learner::size(config, &[], &OBS, action).unwrap() / 8];
    Learner::init(bytemuck::cast_slice_mut(&mut block), config, &[], &OBS, action).unwrap();
    block
}

fn open(block: &mut [u64]) -> Learner<'_> {
    Learner::attach(bytemuck::cast_slice_mut(block)).unwrap()
}

fn draw_obs(rng: &mut Rng) -> [f32; 2 * N] {
    std::array::from_fn(|_| if rng.coin() { 1.0 } else { -1.0 })
}

/// One step is an episode. The first choice is paid if it is that of the sign of what is seen first, the first number costs
/// how far it is from what is seen second; the rest makes no difference.
fn pay(obs: &[f32], action: &[f32]) -> f32 {
    let right = if obs[0] > 0.0 { 2.0 } else { 0.0 };
    f32::from(action[1] == right) - (action[0] - obs[1]).abs().min(2.0)
}

fn play(learner: &mut Learner<'_>, rng: &mut Rng, mask: Option<&[u8]>) {
    while learner.phase() != Phase::Learn {
        let (obs, mut action) = (draw_obs(rng), [f32::NAN; A * N]);
        learner.act(None, Elements::F32(&obs), mask, ElementsMut::F32(&mut action)).unwrap();
        for row in action.chunks_exact(A) {
            assert!(row[0].abs() <= 2.0 && (0.0..=1.0).contains(&row[2]), "{row:?}");
            assert!([0.0, 1.0, 2.0].contains(&row[1]) && [0.0, 1.0].contains(&row[3]), "{row:?}");
        }
        let reward: Vec<f32> = obs.chunks_exact(2).zip(action.chunks_exact(A)).map(|(o, a)| pay(o, a)).collect();
        learner.observe(None, &reward, &[1; N], &[0; N], None).unwrap();
    }
}

#[test]
fn an_agent_learns_what_needs_a_choice_and_a_number() {
    let mut block = block(&config(), &action());
    let mut learner = open(&mut block);
    let mut rng = Rng::seeded(1);
    while learner.stats().num_updates < 150 {
        play(&mut learner, &mut rng, None);
        learner.learn(Some(Elements::F32(&[0.0; 2 * N])), 0).unwrap();
    }
    let mut bytes = vec![0u64; learner.view().policy_size().unwrap().div_ceil(8)];
    learner.view().export(bytemuck::cast_slice_mut(&mut bytes)).unwrap();
    let policy = Policy::attach(bytemuck::cast_slice(&bytes)).unwrap();
    let mut scratch = vec![f32::NAN; policy.scratch_len(N).unwrap()];
    let none = Recurrent::default;
    let mut sum = 0.0;
    for _ in 0..20 {
        let obs = draw_obs(&mut rng);
        let [mut best, mut drawn, mut own] = [[f32::NAN; A * N]; 3];
        let seen = Elements::F32(&obs);
        policy.act_greedy(N, seen, None, none(), &mut scratch, ElementsMut::F32(&mut best)).unwrap();
        let to = ElementsMut::F32(&mut drawn);
        policy.act(N, seen, None, none(), Sampling::Greedy, &mut rng, &mut scratch, to).unwrap();
        learner.predict(seen, None, none(), Sampling::Greedy, ElementsMut::F32(&mut own)).unwrap();
        assert_eq!((best, best), (drawn, own));
        sum += obs.chunks_exact(2).zip(best.chunks_exact(A)).map(|(o, a)| pay(o, a)).sum::<f32>();
    }
    let mean = sum / (20 * N) as f32;
    assert!(mean > 0.8, "{mean} of 1");
}

/// The log-probability is the sum of those of every choice and every number, and so is the entropy.
#[test]
fn choices_and_numbers_have_one_log_probability() {
    let mut block = block(&config(), &action());
    let mut learner = open(&mut block);
    // No weights but the biases of the head: logits of three and two choices, then two means. Free numbers are behind.
    let mut params = learner.params().to_vec();
    let (hidden, heads) = (2 * 12 + 12, 12 * 7);
    params[..hidden + heads].fill(0.0);
    let bias = [0.5, -0.25, 1.0, 0.75, -1.5, 0.3, -0.6f32];
    params[hidden + heads..][..7].copy_from_slice(&bias);
    params[hidden + heads + 7..][..2].copy_from_slice(&[0.2, -0.4]);
    learner.write_params(&params).unwrap();
    let mut action = [0.0; A * N];
    for (i, row) in action.chunks_exact_mut(A).enumerate() {
        row.copy_from_slice(&[0.1 * i as f32, (i % 3) as f32, -0.2 * i as f32, (i % 2) as f32]);
    }
    let (mut log_prob, mut entropy) = ([0.0; N], [0.0; N]);
    let obs = Elements::F32(&[0.3; 2 * N]);
    learner.log_prob(obs, None, Elements::F32(&action), &mut log_prob, &mut entropy).unwrap();
    let softmax = |logits: &[f32]| -> Vec<f64> {
        let e: Vec<f64> = logits.iter().map(|x| f64::from(*x).exp()).collect();
        e.iter().map(|x| (x / e.iter().sum::<f64>()).ln()).collect()
    };
    let (three, two) = (softmax(&bias[..3]), softmax(&bias[3..5]));
    let half_log_2_pi = 0.5 * (2.0 * std::f64::consts::PI).ln();
    let entropies: f64 = three.iter().chain(&two).map(|p| -p.exp() * p).sum();
    let entropies = entropies + 2.0 * (half_log_2_pi + 0.5) + f64::from(0.2f32) - f64::from(0.4f32);
    for (i, row) in action.chunks_exact(A).enumerate() {
        let normal = |x: f32, mean: f32, log_std: f32| {
            let z = (f64::from(x) - f64::from(mean)) / f64::from(log_std).exp();
            -0.5 * z * z - f64::from(log_std) - half_log_2_pi
        };
        let numbers = normal(row[0], bias[5], 0.2) + normal(row[2], bias[6], -0.4);
        let want = three[row[1] as usize] + two[row[3] as usize] + numbers;
        assert!((f64::from(log_prob[i]) - want).abs() < 1e-5, "{i}: {} {want}", log_prob[i]);
        assert!((f64::from(entropy[i]) - entropies).abs() < 1e-5, "{} {entropies}", entropy[i]);
    }
    // Choices that are not there or no whole number, and numbers that are not finite.
    for (at, x) in [(1, 3.0), (5, -1.0), (3, 0.5), (7, f32::NAN), (0, f32::INFINITY)] {
        let mut bad = action;
        bad[at] = x;
        let error = learner.log_prob(obs, None, Elements::F32(&bad), &mut log_prob, &mut entropy).unwrap_err();
        assert_eq!(error.kind, Kind::Value, "{at}");
    }
}

/// The transitions of a rollout.
struct Rows {
    obs: Vec<f32>,
    action: Vec<f32>,
    mask: Vec<u8>,
    columns: [Vec<f32>; 4],
}

fn read(learner: &Learner<'_>, flags: usize) -> Rows {
    let m = learner.config().batch_len();
    let mut r = Rows {
        obs: vec![f32::NAN; 2 * m],
        action: vec![f32::NAN; A * m],
        mask: vec![9; flags * m],
        columns: [(); 4].map(|()| vec![f32::NAN; m]),
    };
    let [log_prob, value, advantage, value_target] = &mut r.columns;
    let (obs, action, mask) = (&mut r.obs[..], ElementsMut::F32(&mut r.action), &mut r.mask[..]);
    let (state, begin, env) = (&mut [][..], &mut [][..], &mut [][..]);
    let to = BatchMut { obs, action, mask, log_prob, value, advantage, value_target, state, begin, env };
    learner.view().read_batch(to).unwrap();
    r
}

/// The gradient of a minibatch against the slopes of its loss, which the host works out from log-probabilities alone.
#[test]
fn gradients_are_the_slopes_of_log_probabilities_and_entropies() {
    let entropy_coef = 0.3;
    let config = Config {
        num_steps: 4,
        num_epochs: 1,
        value_coef: 0.0,
        normalize_advantage: 0,
        max_grad_norm: 0.0,
        entropy_coef,
        hidden_len: [5, 0, 0, 0],
        ..config()
    };
    let mut block = block(&config, &action());
    let mut learner = open(&mut block);
    let mut rng = Rng::seeded(9);
    let wide: Vec<f32> = learner.params().iter().map(|x| x + rng.uniform_in(-0.3, 0.3) as f32).collect();
    learner.write_params(&wide).unwrap();
    play(&mut learner, &mut rng, None);
    learner.learn_begin(Elements::F32(&[0.0; 2 * N])).unwrap();
    let batch = read(&learner, 0);
    let m = batch.columns[0].len();
    let mut grads = vec![0.0; learner.view().grads_len()];
    let mut scratch = vec![0u64; learner.view().scratch_size().unwrap() / 8 + 1];
    learner.view().learn_range(0, 1, bytemuck::cast_slice_mut(&mut scratch), &mut grads).unwrap();
    learner.learn_drop().unwrap();
    let mut loss = |params: &[f32]| -> f64 {
        learner.write_params(params).unwrap();
        let mut sum = 0.0;
        for k in 0..m / N {
            let (mut log_prob, mut entropy) = ([0.0; N], [0.0; N]);
            let obs = Elements::F32(&batch.obs[2 * N * k..2 * N * (k + 1)]);
            let action = Elements::F32(&batch.action[A * N * k..A * N * (k + 1)]);
            learner.log_prob(obs, None, action, &mut log_prob, &mut entropy).unwrap();
            for i in 0..N {
                let ratio = (f64::from(log_prob[i]) - f64::from(batch.columns[0][k * N + i])).exp();
                sum -= ratio * f64::from(batch.columns[2][k * N + i]) + f64::from(entropy_coef * entropy[i]);
            }
        }
        sum / m as f64
    };
    let mut largest = 0.0f64;
    let policy_len = 2 * 5 + 5 + 5 * 7 + 7 + 2;
    for at in 0..policy_len {
        let (mut up, mut down) = (wide.clone(), wide.clone());
        (up[at], down[at]) = (wide[at] + 0.01, wide[at] - 0.01);
        let slope = (loss(&up) - loss(&down)) / f64::from(up[at] - down[at]);
        assert!((f64::from(grads[at]) - slope).abs() < 2e-3 * (1.0 + slope.abs()), "{at}: {} {slope}", grads[at]);
        largest = largest.max(slope.abs());
    }
    assert!(largest > 0.1);
}

#[test]
fn rollouts_are_handed_on_and_masks_forbid_choices() {
    let config = Config { use_action_mask: 1, ..config() };
    let mask: Vec<u8> = [0, 1, 1, 1, 0].repeat(N);
    let (mut one, mut other) = (block(&config, &action()), block(&config, &action()));
    let (mut from, mut to) = (open(&mut one), open(&mut other));
    play(&mut from, &mut Rng::seeded(6), Some(&mask));
    from.learn_begin(Elements::F32(&[0.0; 2 * N])).unwrap();
    let rows = read(&from, 5);
    assert!(rows.mask.chunks_exact(5).all(|row| row == &mask[..5]));
    assert!(rows.action.chunks_exact(A).all(|row| [1.0, 2.0].contains(&row[1]) && row[3] == 0.0));
    fn batch<'a>(r: &'a Rows, action: &'a [f32]) -> Batch<'a> {
        let [log_prob, value, advantage, value_target] = &r.columns;
        let (obs, mask, action) = (&r.obs[..], &r.mask[..], Elements::F32(action));
        Batch { obs, action, mask, log_prob, value, advantage, value_target, state: &[], begin: &[], env: &[] }
    }
    for (at, x) in [(1, 0.0), (3, 1.0), (1, 1.5), (5, 3.0)] {
        let mut bad = rows.action.clone();
        bad[at] = x;
        assert_eq!(to.learn_batch(&batch(&rows, &bad)).unwrap_err().kind, Kind::Value, "{at} {x}");
    }
    to.learn_batch(&batch(&rows, &rows.action)).unwrap();
    from.learn(None, 0).unwrap();
    to.learn(None, 0).unwrap();
    assert!(from.stats().grad_norm > 0.0 && from.params() == to.params());
    let nothing = [0, 0, 0, 1, 1].repeat(N);
    let error = from.act(None, Elements::F32(&[0.0; 2 * N]), Some(&nothing), ElementsMut::F32(&mut [0.0; A * N]));
    assert_eq!(error.unwrap_err().kind, Kind::Value);
}

#[test]
fn spaces_that_cannot_be_are_refused_by_name() {
    let refused = |action: &Space<'_>, words: &str| {
        let error = Learner::size(&config(), &[], &OBS, action).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(&Space { n: &[0, 3], ..action() }, "n with one entry an element, at most 32, or none, 4, given 2");
    refused(&Space { n: &[0; 33], ..Space::unbounded(33) }, "n with one entry an element, at most 32");
    refused(&Space { n: &[2, 3], ..Space::unbounded(2) }, "kind i32 if every element is a choice");
    refused(&Space { n: &[0, 1 << 31], ..Space::unbounded(2) }, "31 bits");
    refused(&Space { n: &[0, 3], ..Space::between(&[1.0, 0.0], &[0.0, 0.0]) }, "finite bounds, low at most high");
    let masked = Config { use_action_mask: 1, ..config() };
    let zeros = Space { n: &[0, 0], ..Space::unbounded(2) };
    assert_eq!(Learner::size(&masked, &[], &OBS, &zeros).unwrap_err().kind, Kind::Config);
    Learner::size(&config(), &[], &OBS, &zeros).unwrap();
}
