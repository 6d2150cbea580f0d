//! Targets over several steps against forward sums in f64, numbers from rlax, every CPU level, every split of the columns and bad
//! input.
//!
//! The kernels run backward; the twins here never do: each target is the sum of the literature, computed forward from its step to
//! the end of the episode.

use rlcore::error::{Kind, Result};
use rlcore::kernels::gae::{Accumulate, gae};
use rlcore::kernels::grid::{Columns, cells};
use rlcore::kernels::targets::{
    OffPolicy, lambda_returns, lambda_returns_range, n_step_returns, n_step_returns_range, retrace, retrace_range,
    td_lambda, td_lambda_range, upgo, upgo_range,
};

use super::checks::{self, Case, off_by, same_at_every_level, with};

/// One of the functions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Lambda(f32),
    TdLambda(f32),
    Upgo,
    NStep(usize),
    Retrace(f32),
}

#[rustfmt::skip]
const CALLS: [Call; 9] = [
    Call::Lambda(0.95), Call::TdLambda(0.0), Call::TdLambda(0.8), Call::TdLambda(1.0), Call::Upgo,
    Call::NStep(1), Call::NStep(4), Call::NStep(usize::MAX), Call::Retrace(0.9),
];

/// The targets and, where the function has them, their errors.
#[derive(Clone, Debug, PartialEq)]
struct Out {
    target: Vec<f32>,
    error: Vec<f32>,
}

impl Out {
    /// Untouched outputs.
    fn new(len: usize) -> Out {
        Out { target: vec![-77.0; len], error: vec![-77.0; len] }
    }

    fn bits(&self) -> Vec<u32> {
        self.target.iter().chain(&self.error).map(|x| x.to_bits()).collect()
    }
}

impl Call {
    fn off_policy(self) -> bool {
        matches!(self, Call::Retrace(_))
    }

    fn apply(self, case: &Case, discount: f32, out: &mut Out) -> Result {
        let (rollout, actions) = (case.view(), case.actions());
        let Out { target, error } = out;
        match self {
            Call::Lambda(lambda) => lambda_returns(&rollout, discount, lambda, target),
            Call::TdLambda(lambda) => td_lambda(&rollout, discount, lambda, error, target),
            Call::Upgo => upgo(&rollout, discount, error, target),
            Call::NStep(n) => n_step_returns(&rollout, discount, n, target),
            Call::Retrace(lambda) => retrace(&rollout, actions, discount, lambda, error, target),
        }
    }

    fn apply_range(self, case: &Case, columns: Columns, discount: f32, out: &mut Out) -> Result {
        let (rollout, actions) = (case.view(), case.actions());
        let (target, error) = (cells(&mut out.target), cells(&mut out.error));
        match self {
            Call::Lambda(lambda) => lambda_returns_range(&rollout, columns, discount, lambda, target),
            Call::TdLambda(lambda) => td_lambda_range(&rollout, columns, discount, lambda, error, target),
            Call::Upgo => upgo_range(&rollout, columns, discount, error, target),
            Call::NStep(n) => n_step_returns_range(&rollout, columns, discount, n, target),
            Call::Retrace(lambda) => retrace_range(&rollout, actions, columns, discount, lambda, error, target),
        }
    }

    fn run(self, case: &Case, discount: f32) -> Out {
        let mut out = Out::new(case.t * case.n);
        self.apply(case, discount, &mut out).unwrap();
        out
    }

    /// The target of one step and, where the function has it, its error.
    fn twin(self, case: &Case, t: usize, e: usize, discount: f64) -> (f64, Option<f64>) {
        let i = case.at(t, e);
        let error = |target: f64, baseline: &[f32]| (target, Some(target - f64::from(baseline[i])));
        match self {
            Call::Lambda(lambda) => (case.lambda_return(t, e, discount, lambda.into()), None),
            Call::TdLambda(lambda) => {
                let errors = case.errors(t, e, discount, &case.value, &|_| lambda.into());
                (case.lambda_return(t, e, discount, lambda.into()), Some(errors))
            }
            Call::Upgo => error(case.upgo(t, e, discount), &case.value),
            Call::NStep(n) => (case.n_step(t, e, n, discount).0, None),
            Call::Retrace(lambda) => {
                let trace = |i: usize| f64::from(lambda) * f64::from(case.log_rho[i]).exp().min(1.0);
                let errors = case.errors(t, e, discount, &case.q, &trace);
                (f64::from(case.q[i]) + errors, Some(errors))
            }
        }
    }
}

impl Case {
    fn actions(&self) -> OffPolicy<'_> {
        OffPolicy { q: &self.q, log_rho: &self.log_rho }
    }
}

/// The successor of step `t` of environment `e`.
enum After {
    /// The episode or the rollout ended: the value of the last observation, 0 if that was terminal.
    Last(f64),
    /// Another step of the same episode.
    Step,
}

impl Case {
    fn at(&self, t: usize, e: usize) -> usize {
        t * self.n + e
    }

    fn after(&self, t: usize, e: usize) -> After {
        let i = self.at(t, e);
        if self.terminated[i] != 0 {
            After::Last(0.0)
        } else if self.truncated[i] != 0 {
            After::Last(self.final_value.as_ref().unwrap()[i].into())
        } else if t + 1 == self.t {
            After::Last(self.bootstrap[e].into())
        } else {
            After::Step
        }
    }

    /// The value of the observation after step t.
    fn next(&self, t: usize, e: usize) -> f64 {
        match self.after(t, e) {
            After::Last(value) => value,
            After::Step => self.value[self.at(t + 1, e)].into(),
        }
    }

    /// The return over at most n steps, and whether the episode or the rollout ended within them.
    fn n_step(&self, t: usize, e: usize, n: usize, discount: f64) -> (f64, bool) {
        let mut sum = 0.0;
        for k in 0..n {
            sum += discount.powi(k as i32) * f64::from(self.reward[self.at(t + k, e)]);
            if let After::Last(value) = self.after(t + k, e) {
                return (sum + discount.powi(k as i32 + 1) * value, true);
            }
        }
        (sum + discount.powi(n as i32) * f64::from(self.value[self.at(t + n, e)]), false)
    }

    /// All n-step returns, weighted with (1 - lambda) lambda^(n - 1), the last one with the remaining weight.
    fn lambda_return(&self, t: usize, e: usize, discount: f64, lambda: f64) -> f64 {
        let (mut sum, mut weight) = (0.0, 1.0);
        for n in 1.. {
            let (g, ended) = self.n_step(t, e, n, discount);
            if ended {
                return sum + weight * g;
            }
            sum += weight * (1.0 - lambda) * g;
            weight *= lambda;
        }
        unreachable!()
    }

    /// reward + discount * V(next) - baseline
    fn delta(&self, t: usize, e: usize, discount: f64, baseline: &[f32]) -> f64 {
        let i = self.at(t, e);
        f64::from(self.reward[i]) + discount * self.next(t, e) - f64::from(baseline[i])
    }

    /// The errors of the steps ahead, each weighted with the product of the traces up to it: `trace` gives one per step, `[T,
    /// N]`, and the first is not used.
    fn errors(&self, t: usize, e: usize, discount: f64, baseline: &[f32], trace: &dyn Fn(usize) -> f64) -> f64 {
        let (mut sum, mut weight) = (0.0, 1.0);
        for s in t.. {
            sum += weight * self.delta(s, e, discount, baseline);
            if let After::Last(_) = self.after(s, e) {
                return sum;
            }
            weight *= discount * trace(self.at(s + 1, e));
        }
        unreachable!()
    }

    /// Rewards for as long as the next action is at least as good as expected, then the value.
    fn upgo(&self, t: usize, e: usize, discount: f64) -> f64 {
        let mut n = 1;
        while let After::Step = self.after(t + n - 1, e) {
            if self.delta(t + n, e, discount, &self.value) < 0.0 {
                break;
            }
            n += 1;
        }
        self.n_step(t, e, n, discount).0
    }
}

fn random(seed: u64, t: usize, n: usize, ending: f64) -> Case {
    Case::random(seed, t, n, ending, true)
}

/// Sizes on both sides of every choice of the kernels.
const SHAPES: [(usize, usize); 12] =
    [(1, 1), (2, 1), (1, 16), (5, 3), (7, 4), (40, 8), (33, 15), (20, 17), (9, 31), (3, 64), (12, 141), (1, 1_105)];

/// Recorded from rlax 0.1.9 in f64, discount 0.9: lambda returns for 0.8, 0 and 1; n-step returns for 1, 2 and 3; UPGO, as the
/// lambda return with lambda 1 or 0 by step; Retrace with lambda 0.8.
#[test]
fn vectors_of_rlax() {
    type Row = [f64; 4];
    type Vector = (&'static str, Case, [Row; 3], [Row; 3], Row, Row);
    let vectors: [Vector; 5] = [
        (
            "none ended",
            Case::base(None, None),
            [[1.34315776, 0.526608, 0.7064, 2.27], [0.82, 0.09, -0.64, 2.27], [1.84483, 0.9387, 1.043, 2.27]],
            [[0.82, 0.09, -0.64, 2.27], [1.081, -0.576, 1.043, 2.27], [0.4816, 0.9387, 1.043, 2.27]],
            [1.081, 0.09, 1.043, 2.27],
            [0.670834217336, -0.441573331582, -0.438296293864, 2.27],
        ),
        (
            "terminated in the middle",
            Case::base(Some(1), None),
            [[0.964, 0.0, 0.7064, 2.27], [0.82, 0.0, -0.64, 2.27], [1.0, 0.0, 1.043, 2.27]],
            [[0.82, 0.0, -0.64, 2.27], [1.0, 0.0, 1.043, 2.27], [1.0, 0.0, 1.043, 2.27]],
            [1.0, 0.0, 1.043, 2.27],
            [0.863670207499, 0.0, -0.438296293864, 2.27],
        ),
        (
            "truncated in the middle",
            Case::base(None, Some((1, 0.8))),
            [[1.4824, 0.72, 0.7064, 2.27], [0.82, 0.72, -0.64, 2.27], [1.648, 0.72, 1.043, 2.27]],
            [[0.82, 0.72, -0.64, 2.27], [1.648, 0.72, 1.043, 2.27], [1.648, 0.72, 1.043, 2.27]],
            [1.648, 0.72, 1.043, 2.27],
            [1.178095701494, 0.72, -0.438296293864, 2.27],
        ),
        (
            "terminated and truncated in the middle",
            Case { truncated: vec![0, 1, 0, 0], final_value: Some(vec![f32::NAN; 4]), ..Case::base(Some(1), None) },
            [[0.964, 0.0, 0.7064, 2.27], [0.82, 0.0, -0.64, 2.27], [1.0, 0.0, 1.043, 2.27]],
            [[0.82, 0.0, -0.64, 2.27], [1.0, 0.0, 1.043, 2.27], [1.0, 0.0, 1.043, 2.27]],
            [1.0, 0.0, 1.043, 2.27],
            [0.863670207499, 0.0, -0.438296293864, 2.27],
        ),
        (
            "truncated in the last step",
            Case::base(None, Some((3, -0.6))),
            [[1.04082688, 0.106704, 0.1232, 1.46], [0.82, 0.09, -0.64, 1.46], [1.25434, 0.2826, 0.314, 1.46]],
            [[0.82, 0.09, -0.64, 1.46], [1.081, -0.576, 0.314, 1.46], [0.4816, 0.2826, 0.314, 1.46]],
            [1.081, 0.09, 0.314, 1.46],
            [0.646017387467, -0.498401158354, -0.517223831048, 1.46],
        ),
    ];
    for (name, case, lambda, n_step, upgo, retrace) in vectors {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            let case = Case { accumulate, ..case.clone() };
            for (rate, want) in [0.8, 0.0, 1.0].into_iter().zip(&lambda) {
                near(&Call::Lambda(rate).run(&case, 0.9).target, want, &format!("{name}: lambda {rate}"));
                let out = Call::TdLambda(rate).run(&case, 0.9);
                let errors: Vec<f64> = want.iter().zip(&case.value).map(|(g, v)| g - f64::from(*v)).collect();
                near(&out.target, want, &format!("{name}: TD({rate})"));
                near(&out.error, &errors, &format!("{name}: errors of TD({rate})"));
            }
            for (n, want) in [1, 2, 3].into_iter().zip(&n_step) {
                near(&Call::NStep(n).run(&case, 0.9).target, want, &format!("{name}: {n} steps"));
            }
            near(&Call::NStep(4).run(&case, 0.9).target, &lambda[2], &format!("{name}: all steps"));
            near(&Call::NStep(9).run(&case, 0.9).target, &lambda[2], &format!("{name}: more steps than there are"));
            near(&Call::Upgo.run(&case, 0.9).target, &upgo, &format!("{name}: UPGO"));
            near(&Call::Retrace(0.8).run(&case, 0.9).target, &retrace, &format!("{name}: Retrace"));
        }
    }
}

fn near(got: &[f32], want: &[f64], what: &str) {
    checks::near(got, want, 4e-6, what);
}

/// The specification's table of discounted sums, as returns of rollouts with all values 0.
#[test]
fn whole_returns_follow_the_table() {
    let table = [
        (0.99, 0.4, [0.4080196, -0.59796, -0.604]),
        (0.99, 0.0, [0.0199, -0.99, -1.0]),
        (1.0, 0.4, [0.4, -0.6, -0.6]),
        (0.0, 0.4, [1.0, 0.0, -1.0]),
    ];
    for (discount, bootstrap, want) in table {
        let case = Case {
            t: 3,
            reward: vec![1.0, 0.0, -1.0],
            value: vec![0.0; 3],
            bootstrap: vec![bootstrap],
            terminated: vec![0; 3],
            truncated: vec![0; 3],
            ..Case::base(None, None)
        };
        near(&Call::NStep(3).run(&case, discount).target, &want, "whole return");
    }
}

#[test]
fn equals_the_forward_sums_in_f64() {
    for (i, (t, n)) in SHAPES.into_iter().enumerate() {
        for ending in [0.0, 0.1, 1.0] {
            let case = random(i as u64, t, n, ending);
            for call in CALLS {
                let n_step = if let Call::NStep(n) = call { Call::NStep(n.min(t)) } else { call };
                let discount = 0.97f32;
                let out = call.run(&case, discount);
                let exact = call.run(&Case { accumulate: Accumulate::F64, ..case.clone() }, discount);
                for s in 0..t {
                    for e in 0..n {
                        let i = case.at(s, e);
                        let what = format!("{call:?} {t}x{n}, {ending}, [{s}, {e}]");
                        let (target, error) = n_step.twin(&case, s, e, discount.into());
                        near(&out.target[i..=i], &[target], &what);
                        nearest(exact.target[i], target, &what);
                        match error {
                            Some(error) => {
                                near(&out.error[i..=i], &[error], &what);
                                nearest(exact.error[i], error, &what);
                            }
                            None => assert_eq!((out.error[i], exact.error[i]), (-77.0, -77.0), "{what}"),
                        }
                    }
                }
            }
        }
    }
}

/// Asserts that `got` is `want` rounded to f32 once.
fn nearest(got: f32, want: f64, what: &str) {
    let ulp = f64::from(f32::from_bits(got.abs().to_bits() + 1)) - f64::from(got.abs());
    assert!((f64::from(got) - want).abs() <= 0.5 * ulp + 1e-13, "{what}: {got} is not the f32 nearest to {want}");
}

#[test]
fn f64_is_closer_than_f32() {
    for call in CALLS {
        if let Call::NStep(1) | Call::TdLambda(0.0) = call {
            continue; // one step each: f32 loses next to nothing
        }
        let case = random(77, 100, 5, 0.0);
        let off = |accumulate| -> f64 {
            let out = call.run(&Case { accumulate, ..case.clone() }, 0.999);
            let n_step = if let Call::NStep(n) = call { Call::NStep(n.min(100)) } else { call };
            let steps = (0..500)
                .map(|i| (f64::from(out.target[i]) - n_step.twin(&case, i / 5, i % 5, 0.999f32.into()).0).abs());
            steps.sum()
        };
        let (f32, f64) = (off(Accumulate::F32), off(Accumulate::F64));
        assert!(f64 < 0.7 * f32, "{call:?}: {f64} against {f32}");
    }
}

#[test]
fn the_choices_of_upgo_are_those_of_the_numbers() {
    // Quarters and halves: sums are exact, and many of them tie, which counts as no worse.
    let mut case = random(6, 60, 21, 0.05);
    let quarters = |x: &mut Vec<f32>| x.iter_mut().for_each(|x| *x = (*x * 2.0).round() / 4.0);
    quarters(&mut case.reward);
    quarters(&mut case.value);
    quarters(&mut case.bootstrap);
    quarters(case.final_value.as_mut().unwrap());
    let out = Call::Upgo.run(&case, 0.5);
    let mut ties = 0;
    for t in 0..60 {
        for e in 0..21 {
            ties += u32::from(case.delta(t, e, 0.5, &case.value) == 0.0);
            near(&[out.target[case.at(t, e)]], &[case.upgo(t, e, 0.5)], "UPGO");
        }
    }
    assert!(ties > 60);
}

/// As many rows as `x` has, each shifted by one place: an upper triangular matrix with `x` in its first row and equal diagonals.
fn shift_rows<const K: usize>(x: &[[f64; K]]) -> Vec<Vec<[f64; K]>> {
    let row = |i: usize| (0..x.len()).map(|j| if j >= i { x[j - i] } else { [0.0; K] }).collect();
    (0..x.len()).map(row).collect()
}

/// Advantages by a matrix instead of a recursion: every error up to the end of the episode, times its power of the decay. GAE and
/// TD(lambda) have to agree.
#[test]
fn gae_and_td_lambda_are_a_shifted_matrix_times_the_errors() {
    assert_eq!(shift_rows(&[[1.0], [2.0], [3.0]])[1..], [[[0.0], [1.0], [2.0]], [[0.0], [0.0], [1.0]]]);
    let two = shift_rows(&[[1.0, 10.0], [2.0, 20.0]]);
    assert_eq!(two, [[[1.0, 10.0], [2.0, 20.0]], [[0.0, 0.0], [1.0, 10.0]]]);

    for (t, n, ending, lambda) in [(1, 1, 0.0, 0.9f32), (30, 3, 0.1, 0.95), (17, 20, 0.3, 0.0), (40, 2, 0.0, 1.0)] {
        let case = random(12, t, n, ending);
        let (discount, decay) = (0.98f32, 0.98 * f64::from(lambda));
        let powers = shift_rows(&(0..t).map(|k| [decay.powi(k as i32)]).collect::<Vec<_>>());
        let (mut advantage, mut value_target) = (vec![0.0; t * n], vec![0.0; t * n]);
        gae(&case.view(), discount, lambda, &mut advantage, &mut value_target).unwrap();
        let td = Call::TdLambda(lambda).run(&case, discount);
        for e in 0..n {
            let ended = |s: usize| matches!(case.after(s, e), After::Last(_));
            for s in 0..t {
                let reached = (s..t).take_while(|u| *u == s || !ended(u - 1));
                let want: f64 = reached.map(|u| powers[s][u][0] * case.delta(u, e, discount.into(), &case.value)).sum();
                near(&[advantage[case.at(s, e)], td.error[case.at(s, e)]], &[want; 2], "advantage");
            }
        }
        near(&td.target, &value_target.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), "value_target");
    }
}

#[test]
fn retrace_of_one_policy_without_decay_is_the_expected_sarsa_sum() {
    // With rho 1 everywhere the traces are lambda; with ever smaller rho only one step is left.
    let mut case = random(15, 20, 18, 0.1);
    case.q.clone_from(&case.value);
    case.log_rho.fill(0.0);
    let td: Vec<f64> = Call::TdLambda(0.9).run(&case, 0.95).target.iter().map(|x| f64::from(*x)).collect();
    near(&Call::Retrace(0.9).run(&case, 0.95).target, &td, "on policy");
    case.log_rho.fill(700.0);
    near(&Call::Retrace(0.9).run(&case, 0.95).target, &td, "rho is cut at 1");
    case.log_rho.fill(-200.0);
    let one: Vec<f64> = Call::NStep(1).run(&case, 0.95).target.iter().map(|x| f64::from(*x)).collect();
    near(&Call::Retrace(0.9).run(&case, 0.95).target, &one, "never taken");
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (t, n) in SHAPES {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            let case = Case { accumulate, ..random(5, t, n, 0.1) };
            for call in CALLS {
                same_at_every_level(&format!("{call:?} {t}x{n}"), || call.run(&case, 0.99).bits());
            }
        }
    }
}

#[test]
fn every_split_of_the_columns_gives_the_same_bytes() {
    for (t, n) in [(6, 7), (9, 31), (30, 100), (3, 141), (1, 1_105)] {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            let case = Case { accumulate, ..random(21, t, n, 0.1) };
            for call in CALLS {
                let whole = call.run(&case, 0.99);
                for parts in [1, 2, 3, 7] {
                    let mut out = Out::new(t * n);
                    for part in 0..parts {
                        let columns = Columns::new(t, n, n * part / parts, n * (part + 1) / parts).unwrap();
                        call.apply_range(&case, columns, 0.99, &mut out).unwrap();
                    }
                    assert_eq!(out.bits(), whole.bits(), "{call:?} {t}x{n} in {parts}");
                }
            }
        }
    }
}

#[test]
fn a_range_reads_and_writes_its_own_columns() {
    let (t, n, begin, end) = (6, 40, 9, 28);
    let good = random(8, t, n, 0.2);
    let mut case = good.clone();
    let inside = |e: usize| (begin..end).contains(&e);
    for i in (0..t * n).filter(|i| !inside(i % n)) {
        case.reward[i] = f32::NAN;
        case.value[i] = f32::INFINITY;
        case.final_value.as_mut().unwrap()[i] = f32::NAN;
        case.q[i] = f32::NAN;
        case.log_rho[i] = f32::NAN;
    }
    (0..n).filter(|e| !inside(*e)).for_each(|e| case.bootstrap[e] = f32::NAN);
    let columns = Columns::new(t, n, begin, end).unwrap();
    for call in CALLS {
        let (whole, mut out) = (call.run(&good, 0.9), Out::new(t * n));
        call.apply_range(&case, columns, 0.9, &mut out).unwrap();
        for i in 0..t * n {
            let want = if inside(i % n) { (whole.target[i], whole.error[i]) } else { (-77.0, -77.0) };
            assert_eq!((out.target[i], out.error[i]), want, "{call:?}[{i}]");
        }
        let (mut out, none) = (Out::new(t * n), Columns::new(t, n, 5, 5).unwrap());
        call.apply_range(&case, none, 0.9, &mut out).unwrap();
        assert_eq!(out, Out::new(t * n));
        let other = Columns::new(t, n - 1, begin, end).unwrap();
        assert_eq!(call.apply_range(&good, other, 0.9, &mut out).unwrap_err().kind, Kind::Shape);
        assert_eq!(out, Out::new(t * n));
    }
}

#[test]
fn numbers_that_are_not_read_do_not_matter() {
    let mut case = random(2, 6, 20, 0.3);
    for call in CALLS {
        case.log_rho[..20].fill(0.0);
        let want = call.run(&case, 0.99);
        for i in 0..120 {
            if case.truncated[i] == 0 || case.terminated[i] != 0 {
                case.final_value.as_mut().unwrap()[i] = [f32::NAN, f32::INFINITY][i % 2];
            }
        }
        case.log_rho[..20].fill(f32::NAN);
        assert_eq!(call.run(&case, 0.99), want, "{call:?}");
        if !call.off_policy() {
            let empty = Case { q: Vec::new(), log_rho: Vec::new(), ..case.clone() };
            assert_eq!(call.run(&empty, 0.99), want, "{call:?}");
        }
        let mut uncut = Case { truncated: vec![0; 120], ..case.clone() };
        let want = call.run(&uncut, 0.99);
        uncut.final_value = None;
        assert_eq!(call.run(&uncut, 0.99), want, "{call:?}");
    }
}

/// The error of a call that has written nothing.
fn fails(case: &Case, call: Call, discount: f32, [target, error]: [usize; 2]) -> (Kind, String) {
    let mut out = Out { target: vec![7.0; target], error: vec![8.0; error] };
    let error = call.apply(case, discount, &mut out).unwrap_err();
    assert!(out.target.iter().all(|x| *x == 7.0) && out.error.iter().all(|x| *x == 8.0));
    (error.kind, error.to_string())
}

const FULL: [usize; 2] = [126, 126];

#[test]
fn bad_numbers_are_named_and_outputs_stay() {
    let good = random(4, 6, 21, 0.2);
    for (call, bad) in CALLS.into_iter().flat_map(|c| [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|x| (c, x))) {
        let refused = |change: &dyn Fn(&mut Case), text: &str| {
            let said = (Kind::Value, format!("{text}, given {bad}"));
            assert_eq!(fails(&with(&good, change), call, 0.9, FULL), said, "{call:?}");
        };
        for at in [0, 15, 16, 77, 125] {
            refused(&|c| c.reward[at] = bad, "rollout: a finite reward");
            refused(&|c| c.value[at] = bad, "rollout: a finite value");
            let cut = |c: &mut Case| {
                (c.truncated[at], c.terminated[at]) = (1, 0);
                c.final_value.as_mut().unwrap()[at] = bad;
            };
            refused(&cut, "rollout: a finite final_value where truncated");
            if call.off_policy() {
                refused(&|c| c.q[at] = bad, "retrace: a finite q");
                refused(&|c| c.log_rho[at.max(21)] = bad, "retrace: a finite log_rho");
            }
        }
        refused(&|c| c.bootstrap[20] = bad, "rollout: a finite bootstrap_value");
    }
}

#[test]
fn bad_rates_are_refused_and_outputs_stay() {
    let good = random(4, 6, 21, 0.2);
    for call in CALLS {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(fails(&good, call, bad, FULL).0, Kind::Value);
        }
        for bad in [-0.1, 1.1] {
            assert_eq!(fails(&good, call, bad, FULL).0, Kind::Range);
        }
        let worse: &[Call] = match call {
            Call::Lambda(_) => &[Call::Lambda(-0.1), Call::Lambda(1.1), Call::Lambda(f32::NAN)],
            Call::TdLambda(_) => &[Call::TdLambda(-0.1), Call::TdLambda(1.1), Call::TdLambda(f32::NAN)],
            Call::Retrace(_) => &[Call::Retrace(-0.1), Call::Retrace(1.1), Call::Retrace(f32::NAN)],
            Call::NStep(_) => &[Call::NStep(0)],
            Call::Upgo => &[],
        };
        for worse in worse {
            let kind = fails(&good, *worse, 0.9, FULL).0;
            assert!(matches!(kind, Kind::Range | Kind::Value), "{worse:?}: {kind:?}");
        }
    }
}

#[test]
fn arrays_of_another_length_are_refused_and_outputs_stay() {
    let good = random(4, 6, 21, 0.2);
    for call in CALLS {
        assert_eq!(fails(&Case { final_value: None, ..good.clone() }, call, 0.9, FULL).0, Kind::Null);
        for step in [-1isize, 1] {
            let other = 126usize.wrapping_add_signed(step);
            for edit in off_by(step) {
                assert_eq!(fails(&with(&good, edit), call, 0.9, FULL).0, Kind::Shape, "{call:?}");
            }
            if call.off_policy() {
                assert_eq!(fails(&with(&good, |c| c.q.resize(other, 0.0)), call, 0.9, FULL).0, Kind::Shape);
                assert_eq!(fails(&with(&good, |c| c.log_rho.resize(other, 0.0)), call, 0.9, FULL).0, Kind::Shape);
            }
            assert_eq!(fails(&good, call, 0.9, [other, 126]).0, Kind::Shape);
            if !matches!(call, Call::Lambda(_) | Call::NStep(_)) {
                assert_eq!(fails(&good, call, 0.9, [126, other]).0, Kind::Shape);
            }
        }
        for (t, n, kind) in [(0, 1, Kind::Shape), (1, 0, Kind::Shape), (usize::MAX, 2, Kind::Overflow)] {
            assert_eq!(fails(&Case { t, n, ..good.clone() }, call, 0.9, FULL).0, kind);
        }
    }
}
