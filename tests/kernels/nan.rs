//! Finite inputs whose results overflow: every NaN in the results has one bit pattern, on every CPU level and, as
//! `tests/system/bits` shows, on every processor. Inputs are drawn from the ends of f32, so that infinities meet each other and
//! 0.

use rlcore::cpu::{self, LEVELS};
use rlcore::error::Kind;
use rlcore::kernels::gae::{Accumulate, Rollout, ShiftedRollout, gae, gae_shifted};
use rlcore::kernels::gaussian::{self, Gaussian};
use rlcore::kernels::moments::update;
use rlcore::kernels::returns::forward;
use rlcore::kernels::targets::{OffPolicy, lambda_returns, retrace, td_lambda, upgo};
use rlcore::kernels::vtrace::{Rates, VTrace, from_importance_weights};
use rlcore::learn::loss::{Batch, Coefficients, policy_and_value};
use rlcore::nn::{ALL, Activation, Carry, HEAD, Layer, Net, Node};
use rlcore::rng::Rng;

/// More steps than products of f64 stay finite for, and more environments than any lane width, no multiple of one.
const T: usize = 11;
const N: usize = 83;

/// Numbers of the largest sizes, and some that are 0 or 1.
fn extreme(seed: u64, len: usize) -> Vec<f32> {
    const SOME: [f32; 8] = [f32::MAX, f32::MIN, 3e38, -3e38, f32::MAX, f32::MIN, 0.0, 1.0];
    let mut rng = Rng::seeded(seed);
    (0..len).map(|_| SOME[rng.bounded(7) as usize]).collect()
}

fn flags(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = Rng::seeded(seed);
    (0..len).map(|_| u8::from(rng.uniform() < 0.1)).collect()
}

/// Runs `work` at every CPU level: the results have NaN of one bit pattern, and the same bits everywhere.
fn one_nan(what: &str, work: impl Fn() -> Vec<Vec<f32>>) {
    let all = LEVELS.map(|level| {
        cpu::set_limit(level);
        work().concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    for bits in &all {
        let mut nans = bits.iter().filter(|x| f32::from_bits(**x).is_nan()).peekable();
        assert!(nans.peek().is_some(), "{what}: no NaN");
        assert!(nans.all(|x| *x == 0x7fc0_0000), "{what}: another NaN than 7fc00000");
        assert!(*bits == all[0], "{what}: a level with other bits");
    }
}

#[test]
fn estimators_write_one_nan() {
    let [reward, value, final_value, q] = [1, 2, 3, 4].map(|seed| extreme(seed, T * N));
    let (bootstrap, [terminated, truncated]) = (extreme(5, N), [6, 7].map(|seed| flags(seed, T * N)));
    let (log_rho, inf) = (extreme(8, T * N), f32::INFINITY);
    let room = || vec![7.0; T * N];
    for accumulate in [Accumulate::F32, Accumulate::F64] {
        let rollout = Rollout {
            num_steps: T,
            num_envs: N,
            reward: &reward,
            value: &value,
            bootstrap_value: &bootstrap,
            terminated: &terminated,
            truncated: &truncated,
            final_value: Some(&final_value),
            accumulate,
        };
        let done: Vec<f32> = q.iter().map(|x| if *x == 0.0 { 1.0 } else { *x }).collect();
        let shifted = ShiftedRollout {
            num_steps: T,
            num_envs: N,
            reward: &reward,
            value: &value,
            done: &done,
            next_value: &bootstrap,
            next_done: &bootstrap,
            accumulate,
        };
        let discounts: Vec<f32> = terminated.iter().map(|x| if *x != 0 { 0.0 } else { 1.0 }).collect();
        let v = VTrace {
            num_steps: T,
            num_envs: N,
            discounts: &discounts,
            reward: &reward,
            value: &value,
            bootstrap_value: &bootstrap,
            truncated: Some(&truncated),
            final_value: Some(&final_value),
            rates: Rates { clip_rho: inf, clip_c: inf, clip_pg_rho: inf, ..Rates::default() },
            accumulate,
        };
        let two = |call: &dyn Fn(&mut [f32], &mut [f32])| {
            let (mut a, mut b) = (room(), room());
            call(&mut a, &mut b);
            vec![a, b]
        };
        one_nan("shifted", || two(&|a, b| gae_shifted(&shifted, 1.0, 1.0, a, b).unwrap()));
        // In f64 the sums of these functions stay in range: only the f32 outputs may be infinite.
        if accumulate == Accumulate::F64 {
            continue;
        }
        one_nan("vtrace", || two(&|a, b| from_importance_weights(&v, &log_rho, a, b).unwrap()));
        one_nan("gae", || two(&|a, b| gae(&rollout, 1.0, 1.0, a, b).unwrap()));
        one_nan("td", || two(&|a, b| td_lambda(&rollout, 1.0, 0.0, a, b).unwrap()));
        one_nan("upgo", || two(&|a, b| upgo(&rollout, 0.0, a, b).unwrap()));
        let actions = OffPolicy { q: &q, log_rho: &log_rho };
        one_nan("retrace", || two(&|a, b| retrace(&rollout, actions, 1.0, 1.0, a, b).unwrap()));
        one_nan("lambda", || two(&|a, _| lambda_returns(&rollout, 1.0, 0.0, a).unwrap()));
    }
}

/// Groups of sixteen and of eight, single environments and wide rows each detect an overflow that no other one has.
#[test]
fn one_environment_that_overflows_is_enough() {
    for (n, env) in [27, 83].into_iter().flat_map(|n| (0..n).map(move |env| (n, env))) {
        let (mut reward, mut value) = (vec![0.0; T * n], vec![0.0; T * n]);
        for t in 0..T {
            let number = if t < 2 { f32::MIN } else { f32::MAX };
            (reward[t * n + env], value[t * n + env]) = (number, number);
        }
        let (none, zeros, ones) = (vec![0; T * n], vec![0.0; T * n], vec![1.0; T * n]);
        let rollout = Rollout {
            num_steps: T,
            num_envs: n,
            reward: &reward,
            value: &value,
            bootstrap_value: &zeros[..n],
            terminated: &none,
            truncated: &none,
            final_value: None,
            accumulate: Accumulate::F32,
        };
        let v = VTrace {
            num_steps: T,
            num_envs: n,
            discounts: &ones,
            reward: &reward,
            value: &value,
            bootstrap_value: &zeros[..n],
            truncated: None,
            final_value: None,
            rates: Rates::default(),
            accumulate: Accumulate::F32,
        };
        let two = |call: &dyn Fn(&mut [f32], &mut [f32])| {
            let (mut a, mut b) = (vec![7.0; T * n], vec![7.0; T * n]);
            call(&mut a, &mut b);
            let others = a.iter().chain(&b).enumerate().filter(|(i, _)| i % n != env);
            assert!(others.into_iter().all(|(_, x)| *x == 0.0));
            vec![a, b]
        };
        one_nan("gae", || two(&|a, b| gae(&rollout, 1.0, 1.0, a, b).unwrap()));
        one_nan("td", || two(&|a, b| td_lambda(&rollout, 1.0, 0.0, a, b).unwrap()));
        one_nan("vtrace", || two(&|a, b| from_importance_weights(&v, &zeros, a, b).unwrap()));
    }
}

#[test]
fn gradients_and_networks_write_one_nan() {
    let (mean, action) = (extreme(1, N * 3), extreme(2, N * 3));
    let (zeros, ones) = (vec![0.0; N], vec![1.0; N]);
    let batch = Gaussian { num_rows: N, mean: &mean, log_std: &[-40.0, 0.0, 1.0] };
    one_nan("gaussian", || {
        let (mut a, mut b) = (vec![7.0; N * 3], vec![7.0; 3]);
        gaussian::gradient(&batch, &action, &zeros, &ones, &mut a, &mut b).unwrap();
        vec![a, b]
    });
    let columns = [3, 4, 5, 6, 7, 8].map(|seed| extreme(seed, N));
    let [log_prob, old_log_prob, advantage, value, old_value, value_target] = &columns;
    let batch = Batch { num_rows: N, log_prob, old_log_prob, advantage, value, old_value, value_target };
    one_nan("loss", || {
        let (mut a, mut b) = (vec![7.0; N], vec![7.0; N]);
        let c = Coefficients { clip: 0.2, value_clip: 0.2, value_coef: 0.0 };
        let losses = policy_and_value(&batch, &c, &mut a, &mut b).unwrap();
        vec![a, b, vec![losses.policy_loss, losses.value_loss, losses.approx_kl, losses.clip_fraction]]
    });
    for hidden in [3, 16, 64] {
        let output = Layer { flags: HEAD, ..Layer::dense(3, Activation::Identity) };
        let layers = [Layer::dense(hidden, Activation::Relu), output];
        let mut nodes = [Node::default(); 2];
        let net = Net::compile(&layers, [1, 1, 5], &mut nodes).unwrap();
        let (params, x, d_out) = (extreme(9, net.param_len()), extreme(10, N * 5), extreme(11, N * 3));
        one_nan("network", || {
            let (mut tape, mut out) = (vec![0.0; net.tape_len(N)], vec![7.0; N * 3]);
            net.forward(&params, &x, N, ALL, &Carry::NONE, &mut tape, &mut [], &mut [&mut out]).unwrap();
            let (mut grads, mut scratch) = (vec![0.0; net.param_len()], vec![0.0; net.scratch_len(true, 0)]);
            let mut d_x = vec![7.0; N * 5];
            let d = Some(&mut d_x[..]);
            net.backward(&params, &x, N, ALL, &Carry::NONE, &tape, &[&d_out], d, &mut grads, &mut scratch).unwrap();
            let (mut again, mut room) = (vec![7.0; N * 3], vec![0.0; net.infer_scratch_len(N)]);
            net.infer(&params, &x, N, ALL, &mut [], &mut room, &mut [&mut again]).unwrap();
            vec![out, grads, d_x, again]
        });
    }
}

/// Running numbers belong to the caller: those that no rows of f32 can give are refused before they can overflow.
#[test]
fn running_numbers_that_would_overflow_are_refused() {
    let x = [f32::MAX, f32::MIN];
    #[rustfmt::skip]
    let bad = [
        (1.1e60, 0.0, 1.0, Kind::Value), (-1.1e60, 0.0, 1.0, Kind::Value), (1e60, 1e110, 1.0, Kind::Value),
        (0.0, 1.1e120, 1.0, Kind::Value), (f64::NAN, 1.0, 1.0, Kind::Value), (0.0, f64::NAN, 1.0, Kind::Value),
        (0.0, -1.0, 1.0, Kind::Range), (0.0, 1.0, -2.0, Kind::Range), (0.0, 1.0, 1.9e19, Kind::Range),
    ];
    for (mean, var, count, kind) in bad {
        let (mut mean, mut var, mut count) = ([mean], [var], count);
        let before = (mean[0].to_bits(), var[0].to_bits(), count);
        assert_eq!(update(&x, 2, &mut mean, &mut var, &mut count).unwrap_err().kind, kind, "{before:?}");
        assert_eq!((mean[0].to_bits(), var[0].to_bits(), count), before);
    }
    // From the largest accepted numbers, every update leads to accepted ones.
    for (mean, var) in [(1e60, 0.0), (-1e60, 0.0), (0.0, 1e120), (6e59, 6.4e119)] {
        let (mut mean, mut var, mut count) = ([mean], [var], 18_446_744_073_709_551_616.0);
        for _ in 0..3 {
            update(&[1.0; 5000], 5000, &mut mean, &mut var, &mut count).unwrap();
            assert_eq!(count, 18_446_744_073_709_551_616.0);
            count = 1.0;
            update(&x, 2, &mut mean, &mut var, &mut count).unwrap();
            assert_eq!(count, 3.0);
            count = 18_446_744_073_709_551_616.0;
        }
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let (mut running, mut out) = ([bad], [7.0]);
        assert_eq!(forward(&[1.0], &[0], &[0], 1.0, &mut running, &mut out).unwrap_err().kind, Kind::Value);
        assert_eq!(out, [7.0]);
    }
}
