//! Every function on a range of environments: however `[0, N)` is split, in whatever order and at whatever CPU level the parts
//! are done, they give the bytes of the whole, and a part changes nothing beyond it.

use proptest::prelude::*;
use rlcore::cpu::{self, LEVELS};
use rlcore::data::lazy_frames::{Frames, LazyFrames, LazyFramesConfig};
use rlcore::error::Result;
use rlcore::kernels::gae::{Accumulate, gae_range};
use rlcore::kernels::grid::{Columns, cells};
use rlcore::kernels::targets::{
    OffPolicy, lambda_returns_range, n_step_returns_range, retrace_range, td_lambda_range, upgo_range,
};
use rlcore::kernels::vtrace::{Outputs, Policies, Rates, VTrace, from_importance_weights_range, from_logits};
use rlcore::rng::Rng;

use super::checks::Case;

/// The inputs of all functions.
struct Inputs {
    case: Case,
    a: usize,
    discounts: Vec<f32>,
    behavior: Vec<f32>,
    target: Vec<f32>,
    action: Vec<i32>,
}

impl Inputs {
    fn random(seed: u64, t: usize, n: usize, a: usize, accumulate: Accumulate) -> Inputs {
        let mut rng = Rng::seeded(seed);
        let mut draw = |len: usize, low: f64, high: f64| -> Vec<f32> {
            (0..len).map(|_| rng.uniform_in(low, high) as f32).collect()
        };
        let len = t * n;
        let [reward, value, final_value, log_rho, q] = [(); 5].map(|()| draw(len, -3.0, 3.0));
        let (bootstrap, discounts) = (draw(n, -3.0, 3.0), draw(len, 0.0, 1.0));
        let [behavior, target] = [(); 2].map(|()| draw(len * a, -4.0, 4.0));
        let action = (0..len).map(|_| (rng.next_u64() % a as u64) as i32).collect();
        let [terminated, truncated] =
            [(); 2].map(|()| (0..len).map(|_| u8::from(rng.next_u64().is_multiple_of(7))).collect());
        let final_value = Some(final_value);
        let case = Case { t, n, reward, value, bootstrap, terminated, truncated, final_value, q, log_rho, accumulate };
        Inputs { case, a, discounts, behavior, target, action }
    }

    fn vtrace(&self) -> VTrace<'_> {
        let rollout = self.case.view();
        VTrace {
            num_steps: rollout.num_steps,
            num_envs: rollout.num_envs,
            discounts: &self.discounts,
            reward: rollout.reward,
            value: rollout.value,
            bootstrap_value: rollout.bootstrap_value,
            truncated: Some(rollout.truncated),
            final_value: rollout.final_value,
            rates: Rates { td_lambda: 0.9, leak: 0.1, ..Rates::default() },
            accumulate: rollout.accumulate,
        }
    }

    /// Calls function number `which` on some columns; no function has other outputs than these.
    fn apply(&self, which: usize, columns: Columns, out: &mut [Vec<f32>; 5]) -> Result {
        let rollout = self.case.view();
        let [x, y, z, v, w] = out.each_mut().map(|x| cells(x));
        match which {
            0 => gae_range(&rollout, columns, 0.99, 0.95, x, y),
            1 => lambda_returns_range(&rollout, columns, 0.99, 0.9, x),
            2 => td_lambda_range(&rollout, columns, 0.99, 0.9, x, y),
            3 => upgo_range(&rollout, columns, 0.99, x, y),
            4 => n_step_returns_range(&rollout, columns, 0.99, 3, x),
            5 => {
                let actions = OffPolicy { q: &self.case.q, log_rho: &self.case.log_rho };
                retrace_range(&rollout, actions, columns, 0.99, 0.9, x, y)
            }
            6 => {
                let out = Outputs { vs: Some(x), pg_advantage: Some(y), ..Outputs::default() };
                from_importance_weights_range(&self.vtrace(), Some(&self.case.log_rho), columns, &out)
            }
            _ => {
                let (num_actions, action) = (self.a, &self.action);
                let (behavior_logits, target_logits) = (&self.behavior, &self.target);
                let policies = Policies { num_actions, behavior_logits, target_logits, action };
                let [vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob] = [x, y, z, v, w].map(Some);
                let out = Outputs { vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob };
                from_logits(&self.vtrace(), &policies, columns, &out)
            }
        }
    }

    fn untouched(&self) -> [Vec<f32>; 5] {
        [(); 5].map(|()| vec![-7.5; self.case.t * self.case.n])
    }
}

const FUNCTIONS: usize = 8;

fn bits(out: &[Vec<f32>; 5]) -> Vec<u32> {
    out.iter().flatten().map(|x| x.to_bits()).collect()
}

/// `[0, n)` split at random, the parts in random order; some may be empty.
fn parts(n: usize, cuts: &[u32], rng: &mut Rng) -> Vec<(usize, usize)> {
    let mut bounds: Vec<usize> = cuts.iter().map(|&cut| cut as usize % (n + 1)).collect();
    bounds.extend([0, n]);
    bounds.sort_unstable();
    let mut parts: Vec<(usize, usize)> = bounds.windows(2).map(|pair| (pair[0], pair[1])).collect();
    for i in (1..parts.len()).rev() {
        parts.swap(i, rng.next_u64() as usize % (i + 1));
    }
    parts
}

/// Widths at the borders of lane groups, row blocks and loops over them, and widths between.
fn width() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 1usize..80, 1 => 120usize..140, 1 => Just(256usize), 1 => 500usize..530]
}

/// Checks every function on these parts against the whole.
fn check(inputs: &Inputs, parts: &[(usize, usize)], rng: &mut Rng) -> std::result::Result<(), TestCaseError> {
    let (t, n) = (inputs.case.t, inputs.case.n);
    for which in 0..FUNCTIONS {
        let mut whole = inputs.untouched();
        inputs.apply(which, Columns::all(t, n).unwrap(), &mut whole).unwrap();
        let (mut cut, untouched) = (inputs.untouched(), inputs.untouched());
        let mut done = vec![false; n];
        for &(begin, end) in parts {
            cpu::set_limit(LEVELS[rng.next_u64() as usize % LEVELS.len()]);
            inputs.apply(which, Columns::new(t, n, begin, end).unwrap(), &mut cut).unwrap();
            done[begin..end].fill(true);
            for (i, (x, y)) in cut.iter().flatten().zip(whole.iter().flatten()).enumerate() {
                let wanted = if done[i % n] { *y } else { untouched[0][0] };
                prop_assert_eq!(x.to_bits(), wanted.to_bits(), "function {}, column {}", which, i % n);
            }
        }
        cpu::set_limit(LEVELS[2]);
        prop_assert_eq!(bits(&cut), bits(&whole));
        prop_assert!(bits(&whole) != bits(&untouched));
    }
    Ok(())
}

/// Rows so wide that they are processed in several stripes, one row at a time.
#[test]
fn wide_rows_give_the_bytes_of_the_whole() {
    for (seed, (t, n)) in (0..).zip([(5, 1_030), (4, 2_060), (3, 4_110), (2, 65_600)]) {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            let (inputs, rng) = (Inputs::random(seed, t, n, 3, accumulate), &mut Rng::seeded(seed));
            // One long part, then short ones.
            let cuts = [n as u32 - 40, n as u32 - 1, rng.next_u32()];
            let parts = parts(n, &cuts, rng);
            check(&inputs, &parts, rng).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn kernels_give_the_bytes_of_the_whole(
        seed: u64, t in 1usize..12, n in width(), a in 1usize..20, f64s: bool, cuts in prop::collection::vec(any::<u32>(), 0..9)
    ) {
        let accumulate = if f64s { Accumulate::F64 } else { Accumulate::F32 };
        let (inputs, rng) = (Inputs::random(seed, t, n, a, accumulate), &mut Rng::seeded(seed));
        check(&inputs, &parts(n, &cuts, rng), rng)?;
    }

    #[test]
    fn frames_give_the_block_of_the_whole(
        seed: u64, n in 1usize..20, num_frames in 4u32..9, cuts in prop::collection::vec(any::<u32>(), 0..6)
    ) {
        let config =
            LazyFramesConfig { num_envs: n as u32, num_frames, height: 3, width: 2, channels: 2, num_stack: 3 };
        let len = 3 * 2 * 2;
        let size = LazyFrames::size(&config).unwrap();
        let run = |parts: &[(usize, usize)]| {
            let mut mem = vec![0u64; size / 8];
            let mut frames = LazyFrames::init(bytemuck::cast_slice_mut(&mut mem), &config).unwrap();
            let (rng, mut numbers) = (&mut Rng::seeded(seed), vec![0; n]);
            for step in 0..12 {
                let mut draw = || -> Vec<u8> { (0..n * len).map(|_| rng.next_u64() as u8).collect() };
                let (obs, last) = (draw(), draw());
                let first: Vec<u8> = (0..n).map(|_| u8::from(step == 0 || rng.next_u64().is_multiple_of(4))).collect();
                for &(begin, end) in parts {
                    let step = Frames {
                        frame: &obs[begin * len..end * len],
                        first: &first[begin..end],
                        final_frame: (step > 0).then(|| &last[begin * len..end * len]),
                    };
                    let mut rings = LazyFrames::of(frames.rings().range(begin, end).unwrap()).unwrap();
                    rings.push_all(step, Some(&mut numbers[begin..end])).unwrap();
                }
            }
            (mem, numbers)
        };
        prop_assert_eq!(run(&parts(n, &cuts, &mut Rng::seeded(seed))), run(&[(0, n)]));
    }
}
