//! Losses against the specification's numbers and against finite differences in f64.

use rlcore::kernels::categorical::{self, Logits};
use rlcore::kernels::moments;
use rlcore::learn::loss::{Batch, Coefficients, actor_and_critic, policy_and_value};

fn near(what: &str, given: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(given.len(), expected.len(), "{what}");
    for (i, (g, e)) in given.iter().zip(expected).enumerate() {
        assert!((f64::from(*g) - e).abs() <= tolerance, "{what}[{i}] = {g}, expected {e}");
    }
}

const LOGITS: [f32; 12] = [0.2, -0.1, 0.4, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, -0.5, 2.0, 0.3];

fn logits(logits: &[f32]) -> Logits<'_> {
    Logits { num_rows: 4, n: &[3], logits, mask: None }
}

/// The data of section 2.3.
fn batch<'a>(log_prob: &'a [f32], old_log_prob: &'a [f32], advantage: &'a [f32]) -> Batch<'a> {
    let (value, old_value, value_target) = (&[0.5, -0.2, 0.1, 0.9], &[0.0; 4], &[1.0, 0.0, 0.4, 0.7]);
    Batch { num_rows: 4, log_prob, old_log_prob, advantage, value, old_value, value_target }
}

/// Spec, agents, section 2.3: N = 4, A = 3, clip 0.2, value weight 0.5, entropy weight 0.01.
#[test]
fn the_specification_s_minibatch() {
    let action = [2, 0, 1, 1];
    let (mut log_prob, mut entropy) = ([0.0; 4], [0.0; 4]);
    categorical::evaluate(&logits(&LOGITS), &action, &mut log_prob, &mut entropy).unwrap();
    near("log_prob", &log_prob, &[-0.8859393177, -0.4076059644, -1.0986122887, -0.2348891194], 2e-7);

    let mut advantage = [1.0, -0.5, 2.0, 0.3];
    moments::standardise(&mut advantage, 1e-7).unwrap();
    near("advantage", &advantage, &[0.2826334052, -1.1305336209, 1.224744756, -0.3768445403], 3e-7);

    let c = Coefficients { clip: 0.2, value_clip: 0.0, value_coef: 0.5 };
    let (mut d_log_prob, mut d_value) = ([0.0; 4], [0.0; 4]);
    let losses =
        policy_and_value(&batch(&log_prob, &[-0.9, -1.2, -1.5, -0.2], &advantage), &c, &mut d_log_prob, &mut d_value)
            .unwrap();
    let bonus = 0.01 * moments::mean_std(&entropy).unwrap().0;
    near("surrogate", &[-losses.policy_loss], &[-0.27614468443243834], 3e-7);
    near("value loss", &[0.5 * losses.value_loss], &[0.02625], 1e-8);
    near("entropy bonus", &[bonus as f32], &[0.009130497732448173], 1e-9);
    near("approximate KL", &[losses.approx_kl], &[0.127373322423031], 3e-7);
    near("clip fraction", &[losses.clip_fraction], &[0.5], 0.0);
    // The specification maximizes and the code minimizes: every gradient has the opposite sign.
    near("d value", &d_value, &[-0.0625, -0.025, -0.0375, 0.025], 1e-8);
    let mut d_logits = [0.0; 12];
    categorical::gradient(&logits(&LOGITS), &action, &d_log_prob, &[-0.01 / 4.0; 4], &mut d_logits).unwrap();
    let expected = [
        [-0.0241846497, -0.0177288626, 0.0419135123],
        [-0.2096785014, 0.1531227232, 0.0565557783],
        [0.0; 3],
        [0.0062442334, -0.0198521498, 0.0136079164],
    ];
    near("d logits", &d_logits, &expected.concat().iter().map(|x| -x).collect::<Vec<f64>>(), 1e-7);
}

/// Spec, agents, section 8: the data of section 2.3, advantages not normalized, half the squared value error, entropy 0.01.
#[test]
fn the_specification_s_actor_and_critic() {
    let (mut log_prob, mut entropy) = ([0.0; 4], [0.0; 4]);
    categorical::evaluate(&logits(&LOGITS), &[2, 0, 1, 1], &mut log_prob, &mut entropy).unwrap();
    let batch = batch(&log_prob, &log_prob, &[1.0, -0.5, 2.0, 0.3]);
    let c = Coefficients { clip: 0.2, value_clip: 0.0, value_coef: 1.0 };
    let (mut d_log_prob, mut d_value) = ([0.0; 4], [0.0; 4]);
    let losses = actor_and_critic(&batch, &c, &mut d_log_prob, &mut d_value).unwrap();
    let bonus = 0.01 * moments::mean_std(&entropy).unwrap().0;
    near("policy", &[losses.policy_loss], &[0.7374569121513054], 2e-7);
    near("value", &[losses.value_loss], &[0.0525], 1e-8);
    let total = f64::from(losses.policy_loss) + f64::from(losses.value_loss) - bonus;
    near("total", &[total as f32], &[0.7808264144188573], 2e-7);
    near("KL and clipped ratios", &[losses.approx_kl, losses.clip_fraction], &[0.0, 0.0], 0.0);
    near("d log_prob", &d_log_prob, &[-0.25, 0.125, -0.5, -0.075], 1e-8);
    near("d value", &d_value, &[-0.125, -0.05, -0.075, 0.05], 1e-8);
}

/// Spec, agents, section 8: the same data, with the whole squared value error (a weight of 2), clip 0.1, and the older policy
/// of the ratios given by its logits.
#[test]
fn the_specification_s_ratios_to_an_older_policy() {
    let older = [0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.2, -0.2, 0.0, 1.5, 0.3];
    let (mut log_prob, mut old_log_prob, mut entropy) = ([0.0; 4], [0.0; 4], [0.0; 4]);
    for (given, to) in [(older, &mut old_log_prob), (LOGITS, &mut log_prob)] {
        categorical::evaluate(&logits(&given), &[2, 0, 1, 1], to, &mut entropy).unwrap();
    }
    let ratio: Vec<f32> = log_prob.iter().zip(&old_log_prob).map(|(a, b)| (a - b).exp()).collect();
    near("ratios", &ratio, &[1.2369800567, 1.7339709473, 0.8296835997, 1.205220042], 5e-7);
    let batch = batch(&log_prob, &old_log_prob, &[1.0, -0.5, 2.0, 0.3]);
    let c = Coefficients { clip: 0.1, value_clip: 0.0, value_coef: 2.0 };
    let losses = policy_and_value(&batch, &c, &mut [0.0; 4], &mut [0.0; 4]).unwrap();
    let value = f64::from(c.value_coef * losses.value_loss);
    let total = f64::from(losses.policy_loss) + value - 0.01 * moments::mean_std(&entropy).unwrap().0;
    near("surrogate", &[losses.policy_loss], &[-0.5555954314368191], 3e-7);
    near("value", &[value as f32], &[0.105], 1e-8);
    near("total", &[total as f32], &[-0.45972592916926724], 3e-7);
}

/// The loss in f64 from the formula, with the clipped surrogate or with log-probabilities.
fn twin(surrogate: bool, columns: [&[f64]; 6], c: &Coefficients) -> f64 {
    let [lp, old_lp, adv, v, old_v, target] = columns;
    let n = lp.len() as f64;
    let (clip, value_clip) = (f64::from(c.clip), f64::from(c.value_clip));
    let mut loss = 0.0;
    for i in 0..lp.len() {
        let r = (lp[i] - old_lp[i]).exp();
        let clipped = (r * adv[i]).min(r.clamp(1.0 - clip, 1.0 + clip) * adv[i]);
        loss -= if surrogate { clipped } else { lp[i] * adv[i] } / n;
        let plain = (v[i] - target[i]).powi(2);
        let clipped = (old_v[i] + (v[i] - old_v[i]).clamp(-value_clip, value_clip) - target[i]).powi(2);
        let error = if value_clip == 0.0 { plain } else { plain.max(clipped) };
        loss += f64::from(c.value_coef) * 0.5 * error / n;
    }
    loss
}

#[test]
fn gradients_equal_finite_differences_for_every_length() {
    let mut seed = 1u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as f32 / (1 << 24) as f32 * 2.0 - 1.0
    };
    let lengths = [(1, 0.0), (1, 0.3), (15, 0.3), (16, 0.0), (17, 0.3), (40, 0.1)];
    for (k, (len, value_clip)) in lengths.into_iter().chain(lengths).enumerate() {
        let surrogate = k < lengths.len();
        let losses_of = if surrogate { policy_and_value } else { actor_and_critic };
        let mut column = || (0..len).map(|_| draw()).collect::<Vec<f32>>();
        let (lp, old_lp, adv, v, old_v, target) = (column(), column(), column(), column(), column(), column());
        let c = Coefficients { clip: 0.2, value_clip, value_coef: 0.7 };
        let batch = Batch {
            num_rows: len,
            log_prob: &lp,
            old_log_prob: &old_lp,
            advantage: &adv,
            value: &v,
            old_value: &old_v,
            value_target: &target,
        };
        let (mut d_lp, mut d_v) = (vec![0.0; len], vec![0.0; len]);
        let losses = losses_of(&batch, &c, &mut d_lp, &mut d_v).unwrap();
        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let (lp, old_lp, adv) = (wide(&lp), wide(&old_lp), wide(&adv));
        let (v, old_v, target) = (wide(&v), wide(&old_v), wide(&target));
        let loss = |lp: &[f64], v: &[f64]| twin(surrogate, [lp, &old_lp, &adv, v, &old_v, &target], &c);
        let total = f64::from(losses.policy_loss) + f64::from(c.value_coef * losses.value_loss);
        assert!((total - loss(&lp, &v)).abs() < 2e-6);
        for i in 0..len {
            let slope = |which: usize| {
                let at = |h: f64| {
                    let (mut lp, mut v) = (lp.clone(), v.clone());
                    if which == 0 {
                        lp[i] += h
                    } else {
                        v[i] += h
                    }
                    loss(&lp, &v)
                };
                (at(1e-6) - at(-1e-6)) / 2e-6
            };
            assert!((f64::from(d_lp[i]) - slope(0)).abs() < 1e-5, "len {len}, d_log_prob[{i}]");
            assert!((f64::from(d_v[i]) - slope(1)).abs() < 1e-5, "len {len}, d_value[{i}]");
        }
    }
}

#[test]
fn lengths_that_differ_are_refused() {
    let (four, three) = ([0.0; 4], [0.0; 3]);
    let c = Coefficients { clip: 0.2, value_clip: 0.0, value_coef: 0.5 };
    for bad in 0..7 {
        let pick = |i: usize| if i == bad { &three[..] } else { &four[..] };
        let batch = Batch {
            num_rows: 4,
            log_prob: &four,
            old_log_prob: pick(0),
            advantage: pick(1),
            value: pick(2),
            old_value: pick(3),
            value_target: pick(4),
        };
        let (mut d_lp, mut d_v) = (pick(5).to_vec(), pick(6).to_vec());
        for losses_of in [policy_and_value, actor_and_critic] {
            assert!(losses_of(&batch, &c, &mut d_lp, &mut d_v).is_err(), "array {bad}");
        }
    }
}
