//! GAE against its formula in f64, the specification's vectors, every CPU level and bad input.

use rlcore::error::Kind;
use rlcore::kernels::gae::{Accumulate, ShiftedRollout, gae, gae_range, gae_shifted};
use rlcore::kernels::grid::{Columns, cells};

use super::checks::{self, Case, bits, off_by, same_at_every_level, with};

impl Case {
    fn run(&self, discount: f32, lambda: f32) -> (Vec<f32>, Vec<f32>) {
        let (mut advantage, mut target) = (vec![f32::NAN; self.t * self.n], vec![f32::NAN; self.t * self.n]);
        gae(&self.view(), discount, lambda, &mut advantage, &mut target).unwrap();
        (advantage, target)
    }

    /// The formula, column by column in f64.
    fn twin(&self, discount: f64, lambda: f64) -> (Vec<f64>, Vec<f64>) {
        let (t, n) = (self.t, self.n);
        let (mut advantage, mut target) = (vec![0.0; t * n], vec![0.0; t * n]);
        for e in 0..n {
            let mut carry = 0.0;
            for s in (0..t).rev() {
                let i = s * n + e;
                let (term, trunc) = (self.terminated[i] != 0, self.truncated[i] != 0);
                let next = if term {
                    0.0
                } else if trunc {
                    f64::from(self.final_value.as_ref().unwrap()[i])
                } else if s + 1 < t {
                    f64::from(self.value[i + n])
                } else {
                    f64::from(self.bootstrap[e])
                };
                let v = f64::from(self.value[i]);
                let delta = f64::from(self.reward[i]) + discount * next - v;
                carry = delta + if term || trunc || s + 1 == t { 0.0 } else { discount * lambda * carry };
                advantage[i] = carry;
                target[i] = carry + v;
            }
        }
        (advantage, target)
    }
}

fn random(seed: u64, t: usize, n: usize, ending: f64) -> Case {
    Case::random(seed, t, n, ending, false)
}

/// Sizes on both sides of every choice of the kernel: 1, 8 and 16 lanes, columns and rows.
#[rustfmt::skip]
const SHAPES: [(usize, usize); 15] = [
    (1, 1), (2, 1), (1, 16), (5, 3), (7, 4), (128, 8), (33, 15), (20, 17), (9, 31), (50, 45), (3, 64), (40, 77),
    (1, 4_105), (130, 32), (70, 63),
];

/// Wide rows, processed one after another, some beyond the nearest caches.
const WIDE: [(usize, usize); 7] =
    [(5, 1_023), (5, 1_030), (4, 2_060), (3, 4_096), (3, 4_110), (2, 65_600), (3, 32_768 - 16)];

fn near(got: &[f32], want: &[f64], what: &str) {
    checks::near(got, want, 8e-6, what);
}

#[test]
fn equals_the_formula_in_f64() {
    for (i, (t, n)) in SHAPES.into_iter().enumerate() {
        for ending in [0.0, 0.1, 1.0] {
            let case = random(i as u64, t, n, ending);
            let (advantage, target) = case.run(0.99, 0.95);
            let (a, v) = case.twin(0.99f32.into(), 0.95f32.into());
            near(&advantage, &a, &format!("advantage {t}x{n}, {ending}"));
            near(&target, &v, &format!("value_target {t}x{n}, {ending}"));
        }
    }
}

#[test]
fn wide_rows_equal_the_formula_however_they_are_walked() {
    for (i, (t, n)) in WIDE.into_iter().enumerate() {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            let case = Case { accumulate, ..random(i as u64, t, n, 0.1) };
            let (advantage, target) = case.run(0.99, 0.95);
            let (a, v) = case.twin(0.99f32.into(), 0.95f32.into());
            near(&advantage, &a, &format!("advantage {t}x{n}"));
            near(&target, &v, &format!("value_target {t}x{n}"));
            let (mut in_parts, mut targets) = (vec![f32::NAN; t * n], vec![f32::NAN; t * n]);
            for (begin, end) in [(1_000, n - 3), (0, 1_000), (n - 3, n)] {
                let columns = Columns::new(t, n, begin, end).unwrap();
                gae_range(&case.view(), columns, 0.99, 0.95, cells(&mut in_parts), cells(&mut targets)).unwrap();
            }
            assert_eq!((in_parts, targets), (advantage, target), "{t}x{n} in parts");
        }
        // The first and the last number of the last environment, which do not affect the environments before it.
        let case = random(i as u64, t, n, 0.1);
        for at in [n - 1, t * n - 1] {
            let arrays: [fn(&mut Case) -> &mut [f32]; 3] =
                [|c| &mut c.reward, |c| &mut c.value, |c| c.final_value.as_mut().unwrap()];
            for array in arrays {
                let mut bad = case.clone();
                (bad.truncated[at], bad.terminated[at]) = (1, 0);
                array(&mut bad)[at] = f32::NAN;
                let (mut a, mut v) = (vec![7.0; t * n], vec![8.0; t * n]);
                let error = gae(&bad.view(), 0.99, 0.95, &mut a, &mut v).unwrap_err();
                assert_eq!(error.kind, Kind::Value, "{t}x{n}, {at}");
                let columns = Columns::new(t, n, 0, n - 1).unwrap();
                gae_range(&bad.view(), columns, 0.99, 0.95, cells(&mut a), cells(&mut v)).unwrap();
            }
        }
    }
}

#[test]
fn the_largest_numbers_are_finite() {
    // Rows of at least 64 numbers take the fast check; where every step ends an episode, the results are finite, too.
    let mut case = random(3, 2, 300, 0.0);
    case.terminated.fill(1);
    case.value.fill(0.0);
    case.reward.fill(f32::MAX);
    assert_eq!(case.run(0.99, 0.95).0, case.reward);
    case.value.fill(f32::MIN);
    case.reward.fill(0.0);
    assert_eq!(case.run(0.99, 0.95).0, [f32::MAX; 600]);
}

#[test]
fn a_cut_in_the_last_step_bootstraps_from_its_final_value() {
    for n in [1, 16, 17] {
        let mut case = random(3, 4, n, 0.0);
        case.truncated[3 * n..].fill(1);
        near(&case.run(0.9, 0.8).0, &case.twin(0.9f32.into(), 0.8f32.into()).0, "advantage");
    }
}

#[test]
fn columns_do_not_know_each_other() {
    // One environment alone gives the same bytes as among others, whatever lane or loop computes it.
    for (t, n) in [(40, 45), (50, 77)] {
        let all = random(9, t, n, 0.1);
        let (advantage, _) = all.run(0.99, 0.95);
        for e in [0, 15, 16, 31, 32, 39, 40, 43, 44] {
            let column = |x: &[f32]| -> Vec<f32> { x.iter().skip(e).step_by(n).copied().collect() };
            let flags = |x: &[u8]| -> Vec<u8> { x.iter().skip(e).step_by(n).copied().collect() };
            let one = Case {
                n: 1,
                reward: column(&all.reward),
                value: column(&all.value),
                bootstrap: vec![all.bootstrap[e]],
                terminated: flags(&all.terminated),
                truncated: flags(&all.truncated),
                final_value: all.final_value.as_deref().map(column),
                ..all.clone()
            };
            assert_eq!(bits(&one.run(0.99, 0.95).0), bits(&column(&advantage)), "environment {e} of {n}");
        }
    }
}

#[test]
fn sums_in_f64_are_rounded_once() {
    for (i, (t, n)) in SHAPES.into_iter().enumerate() {
        let case = Case { accumulate: Accumulate::F64, ..random(i as u64, t, n, 0.02) };
        let (discount, lambda) = (0.999f32, 0.97f32);
        let (advantage, target) = case.run(discount, lambda);
        let (a, v) = case.twin(discount.into(), lambda.into());
        let rounded = |x: Vec<f64>| -> Vec<f32> { x.into_iter().map(|x| x as f32).collect() };
        assert_eq!((advantage, target), (rounded(a), rounded(v)), "{t}x{n}");
    }
    // In f32 the small reward is lost in the large value: 1e8 + 1 - 1e8.
    let (large, reward) = (vec![1e8], vec![1.0]);
    let case = Case { value: large.clone(), bootstrap: large, reward, ..random(1, 1, 1, 0.0) };
    let lost = |accumulate| Case { accumulate, ..case.clone() };
    assert_eq!((lost(Accumulate::F32).run(1.0, 1.0).0, lost(Accumulate::F64).run(1.0, 1.0).0), (vec![0.0], vec![1.0]));
}

#[test]
fn any_split_of_the_environments_gives_the_same_bytes() {
    for accumulate in [Accumulate::F32, Accumulate::F64] {
        for (t, n) in [(1, 1), (7, 5), (20, 63), (9, 300), (4, 9_000)] {
            let case = Case { accumulate, ..random(6, t, n, 0.1) };
            let (want, want_target) = case.run(0.99, 0.95);
            for parts in [1, 2, 3, 7] {
                let (mut advantage, mut target) = (vec![7.5; t * n], vec![8.5; t * n]);
                for part in 0..parts {
                    let columns = Columns::new(t, n, n * part / parts, n * (part + 1) / parts).unwrap();
                    gae_range(&case.view(), columns, 0.99, 0.95, cells(&mut advantage), cells(&mut target)).unwrap();
                    // Columns left of the range's end are done, those right of it untouched.
                    let end = n * (part + 1) / parts;
                    let done = |i: usize| i % n < end;
                    assert!((0..t * n).all(|i| advantage[i] == if done(i) { want[i] } else { 7.5 }));
                    assert!((0..t * n).all(|i| target[i] == if done(i) { want_target[i] } else { 8.5 }));
                }
            }
        }
    }
}

#[test]
fn a_range_reads_its_columns_only() {
    let mut case = random(7, 5, 40, 0.1);
    let want = case.run(0.99, 0.95).0;
    for i in (0..200).filter(|i| !(8..31).contains(&(i % 40))) {
        (case.reward[i], case.value[i], case.final_value.as_mut().unwrap()[i]) = (f32::NAN, f32::NAN, f32::NAN);
    }
    case.bootstrap[7] = f32::NAN;
    let (mut advantage, mut target) = (vec![0.0; 200], vec![0.0; 200]);
    let run = |begin, end, advantage: &mut [f32], target: &mut [f32]| {
        let columns = Columns::new(5, 40, begin, end).unwrap();
        gae_range(&case.view(), columns, 0.99, 0.95, cells(advantage), cells(target))
    };
    for (begin, end) in [(8, 31), (0, 0), (40, 40)] {
        run(begin, end, &mut advantage, &mut target).unwrap();
    }
    for (begin, end) in [(7, 31), (8, 32)] {
        let (mut advantage, mut target) = (advantage.clone(), target.clone());
        assert_eq!(run(begin, end, &mut advantage, &mut target).unwrap_err().kind, Kind::Value);
        assert!((0..200).all(|i| (begin..end).contains(&(i % 40)) || (advantage[i], target[i]) == (0.0, 0.0)));
    }
    assert!((0..200).all(|i| advantage[i] == if (8..31).contains(&(i % 40)) { want[i] } else { 0.0 }));

    let text = "rollout: a range of environments with begin <= end <= num_envs, 40, given 41";
    assert_eq!(Columns::new(5, 40, 0, 41).unwrap_err().to_string(), text);
    assert_eq!(Columns::new(5, 40, 3, 2).unwrap_err().kind, Kind::Range);
    let other = Columns::all(40, 5).unwrap();
    let error = gae_range(&case.view(), other, 0.9, 0.9, cells(&mut advantage), cells(&mut target)).unwrap_err();
    assert_eq!(error.kind, Kind::Shape);
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (t, n) in SHAPES {
        let case = random(5, t, n, 0.1);
        same_at_every_level(&format!("{t}x{n}"), || {
            let (a, v) = case.run(0.99, 0.95);
            bits(&[a, v].concat())
        });
    }
}

#[test]
fn vectors_g1_to_g5_and_g11_to_g13() {
    let base = Case::base;
    let g1 = [1.5386266334, 1.3148608543, 1.0801285, 1.897];
    let g2 = [0.4901, 0.2, 1.0801285, 1.897];
    let g11 = [1.234976, 0.992, 1.0801285, 1.897];
    let g5 = [1.748676803, 1.4612897, 1.17403, 1.897];
    // Value targets: those of G12 are not in the specification.
    let g1_target = [2.0386266334, 1.1148608543, 1.1801285, 2.297];
    let g2_target = [0.9901, 0.0, 1.1801285, 2.297];
    let g3_target = [1.7915493322, 0.8521524, 0.9008, 2.0];
    let g5_target = [2.248676803, 1.2612897, 1.27403, 2.297];
    let g11_target = [1.734976, 0.792, 1.1801285, 2.297];
    // The final value of a step that terminates is not read.
    let both = Case {
        truncated: vec![0, 1, 0, 0],
        final_value: Some(vec![7.0, f32::NAN, f32::NAN, f32::NAN]),
        ..base(Some(1), None)
    };
    let vectors = [
        ("G1", base(None, None), 0.99, 0.95, g1, Some(g1_target)),
        ("G2", base(Some(1), None), 0.99, 0.95, g2, Some(g2_target)),
        ("G3", base(Some(3), None), 0.99, 0.95, [1.2915493322, 1.0521524, 0.8008, 1.6], Some(g3_target)),
        ("G4", base(Some(1), None), 0.99, 0.0, [0.302, 0.2, -0.704, 1.897], Some([0.802, 0.0, -0.604, 2.297])),
        ("G5", base(None, None), 0.99, 1.0, g5, Some(g5_target)),
        ("G11", base(None, Some((1, 0.8))), 0.99, 0.95, g11, Some(g11_target)),
        ("G12", base(None, Some((3, -0.6))), 0.99, 0.95, [0.7973947298, 0.5267354915, 0.242143, 1.006], None),
        ("G13", both, 0.99, 0.95, g2, Some(g2_target)),
    ];
    for (name, case, discount, lambda, advantage, target) in vectors {
        let (a, v) = case.run(discount, lambda);
        near(&a, &advantage, name);
        if let Some(target) = target {
            near(&v, &target, name);
        }
    }
}

fn shifted<'a>(
    reward: &'a [f32],
    value: &'a [f32],
    done: &'a [f32],
    next_value: &'a [f32],
    next_done: &'a [f32],
) -> ShiftedRollout<'a> {
    let (num_steps, num_envs, accumulate) = (value.len() / next_value.len(), next_value.len(), Accumulate::F32);
    ShiftedRollout { num_steps, num_envs, reward, value, done, next_value, next_done, accumulate }
}

#[test]
fn vectors_g1_to_g10_in_the_shifted_form() {
    let s = ([0.5, -0.2, 0.1, 0.4], [1.0, 0.0, -1.0, 2.0]);
    let run = |v: &[f32], r: &[f32], done: &[f32], nv: &[f32], nd: &[f32], discount: f32, lambda: f32| {
        let (mut a, mut target) = (vec![f32::NAN; v.len()], vec![f32::NAN; v.len()]);
        gae_shifted(&shifted(r, v, done, nv, nd), discount, lambda, &mut a, &mut target).unwrap();
        (a, target)
    };
    // done[0] is never read.
    let (no, at2) = ([f32::NAN, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]);
    let (a, t) = run(&s.0, &s.1, &no, &[0.3], &[0.0], 0.99, 0.95);
    near(&a, &[1.5386266334, 1.3148608543, 1.0801285, 1.897], "G1");
    near(&t, &[2.0386266334, 1.1148608543, 1.1801285, 2.297], "G1");
    let (a, t) = run(&s.0, &s.1, &at2, &[0.3], &[0.0], 0.99, 0.95);
    near(&a, &[0.4901, 0.2, 1.0801285, 1.897], "G2");
    near(&t, &[0.9901, 0.0, 1.1801285, 2.297], "G2");
    let (a, t) = run(&s.0, &s.1, &no, &[0.3], &[1.0], 0.99, 0.95);
    near(&a, &[1.2915493322, 1.0521524, 0.8008, 1.6], "G3");
    near(&t, &[1.7915493322, 0.8521524, 0.9008, 2.0], "G3");
    near(&run(&s.0, &s.1, &at2, &[0.3], &[0.0], 0.99, 0.0).0, &[0.302, 0.2, -0.704, 1.897], "G4");
    near(&run(&s.0, &s.1, &no, &[0.3], &[0.0], 0.99, 1.0).0, &[1.748676803, 1.4612897, 1.17403, 1.897], "G5");
    let (a, t) = run(&[0.25], &[1.5], &[1.0], &[2.0], &[0.0], 0.9, 0.5);
    near(&[a, t].concat(), &[3.05, 3.3], "G6");
    let (a, t) = run(&[0.25], &[1.5], &[0.0], &[2.0], &[1.0], 0.9, 0.5);
    near(&[a, t].concat(), &[1.25, 1.5], "G7");
    let (v, r) = ([0.5, -0.2, 0.1, 0.4, 0.0], [1.0, 0.0, -1.0, 2.0, 0.5]);
    let (a, t) = run(&v, &r, &[1.0, 1.0, 0.0, 1.0, 0.0], &[-0.7], &[1.0], 0.9, 0.8);
    near(&a, &[0.5, -0.502, -1.1, 1.96, 0.5], "G8");
    near(&t, &[1.0, -0.702, -1.0, 2.36, 0.5], "G8");
    let (a, t) = run(&[0.5, -0.2, 0.1], &[1.0, 2.0, 3.0], &[0.0, 1.0, 0.0], &[9.0], &[0.0], 0.0, 0.95);
    near(&a, &[0.5, 2.2, 2.9], "G9");
    near(&t, &[1.0, 2.0, 3.0], "G9");
    let x = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
    let done = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let (a, _) = run(&x, &x, &done, &[1.0, 2.0, 3.0], &[0.0, 1.0, 0.0], 0.99, 0.95);
    near(&a, &[0.0, 1.98, 5.763285, 0.99, 0.0, 2.97], "G10");
}

#[test]
fn both_forms_agree_and_half_a_done_counts_half() {
    let sums = [Accumulate::F32, Accumulate::F64];
    for (t, n, accumulate) in
        [(1, 1), (12, 5), (30, 37), (5, 80)].into_iter().flat_map(|(t, n)| sums.map(|a| (t, n, a)))
    {
        let mut case = Case { accumulate, ..random(8, t, n, 0.2) };
        case.truncated.fill(0);
        // done for the observation after step t is terminated[t]; the first row is never read.
        let flags: Vec<f32> = case.terminated.iter().map(|x| f32::from(*x)).collect();
        let done = [vec![f32::NAN; n], flags.clone()].concat();
        let rollout = shifted(&case.reward, &case.value, &done[..t * n], &case.bootstrap, &done[t * n..]);
        let rollout = ShiftedRollout { accumulate, ..rollout };
        let (mut a, mut v) = (vec![0.0; t * n], vec![0.0; t * n]);
        gae_shifted(&rollout, 0.99, 0.95, &mut a, &mut v).unwrap();
        assert_eq!((a, v), case.run(0.99, 0.95));
    }
    let rollout = shifted(&[1.0, 1.0], &[0.0, 2.0], &[0.0, 0.5], &[4.0], &[0.75]);
    let (mut a, mut v) = ([0.0; 2], [0.0; 2]);
    gae_shifted(&rollout, 0.5, 0.5, &mut a, &mut v).unwrap();
    // delta: 1 + 0.5*4*0.25 - 2 = -0.5; 1 + 0.5*2*0.5 - 0 = 1.5, then 1.5 + 0.25*0.5*-0.5.
    assert_eq!((a, v), ([1.4375, -0.5], [1.4375, 1.5]));
}

#[test]
fn numbers_that_are_not_read_do_not_matter() {
    let mut case = random(2, 6, 20, 0.3);
    let want = case.run(0.99, 0.95);
    for i in 0..120 {
        if case.truncated[i] == 0 || case.terminated[i] != 0 {
            case.final_value.as_mut().unwrap()[i] = [f32::NAN, f32::INFINITY][i % 2];
        }
    }
    assert_eq!(case.run(0.99, 0.95), want);
    case.truncated.fill(0);
    let want = case.run(0.99, 0.95);
    case.final_value = None;
    assert_eq!(case.run(0.99, 0.95), want);
}

/// The error of a call that has written nothing, except where a bad number is found while computing: rates are checked first.
fn fails(case: &Case, [discount, lambda]: [f32; 2], [a, v]: [usize; 2]) -> (Kind, String) {
    let (mut a, mut v) = (vec![7.0; a], vec![8.0; v]);
    let error = gae(&case.view(), discount, lambda, &mut a, &mut v).unwrap_err();
    let computed = error.kind == Kind::Value && error.to_string().starts_with("rollout: ");
    assert!(computed || a.iter().all(|x| *x == 7.0) && v.iter().all(|x| *x == 8.0));
    (error.kind, error.to_string())
}

#[test]
fn bad_numbers_are_named() {
    let good = random(4, 6, 21, 0.2);
    let fails = |case: &Case| fails(case, [0.9; 2], [case.t * case.n; 2]);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 15, 16, 77, 125] {
            let text = format!("rollout: a finite reward, given {bad}");
            assert_eq!(fails(&with(&good, |c| c.reward[at] = bad)), (Kind::Value, text));
            assert_eq!(fails(&with(&good, |c| c.value[at] = bad)).0, Kind::Value);
            let mut cut = with(&good, |c| (c.truncated[at], c.terminated[at]) = (1, 0));
            cut.final_value.as_mut().unwrap()[at] = bad;
            let text = format!("rollout: a finite final_value where truncated, given {bad}");
            assert_eq!(fails(&cut), (Kind::Value, text));
        }
        let text = format!("rollout: a finite bootstrap_value, given {bad}");
        assert_eq!(fails(&with(&good, |c| c.bootstrap[20] = bad)).1, text);
    }
    assert_eq!(fails(&with(&good, |c| c.final_value = None)).0, Kind::Null);
    // One of two cuts is bad, and nothing else is truncated; unread bad numbers before it are not reported.
    for (width, cuts) in [(21, [3, 11]), (130, [66, 74]), (130, [128, 129])] {
        let mut case = random(4, 2, width, 0.0);
        (case.truncated[cuts[0]], case.truncated[cuts[1]]) = (1, 1);
        let finals = case.final_value.as_mut().unwrap();
        finals.fill(f32::NAN);
        (finals[cuts[0]], finals[cuts[1]]) = (0.5, f32::NEG_INFINITY);
        let text = "rollout: a finite final_value where truncated, given -inf";
        assert_eq!(fails(&case), (Kind::Value, text.into()));
        case.final_value.as_mut().unwrap()[cuts[0]] = f32::NEG_INFINITY;
        assert_eq!(fails(&case), (Kind::Value, text.into()), "both");
    }
}

#[test]
fn bad_rates_and_lengths_are_named_and_outputs_stay() {
    let (good, full) = (random(4, 6, 21, 0.2), [126, 126]);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(fails(&good, [bad, 0.9], full).0, Kind::Value);
        assert_eq!(fails(&good, [0.9, bad], full).0, Kind::Value);
    }
    assert_eq!(fails(&good, [99.0, 0.9], full), (Kind::Range, "gae: discount from 0 to 1, given 99".into()));
    assert_eq!(fails(&good, [0.9, -0.1], full).0, Kind::Range);
    for step in [-1isize, 1] {
        for edit in off_by(step) {
            assert_eq!(fails(&with(&good, edit), [0.9; 2], full).0, Kind::Shape);
        }
        let other = 126usize.wrapping_add_signed(step);
        assert_eq!(fails(&good, [0.9; 2], [other, 126]).0, Kind::Shape);
        assert_eq!(fails(&good, [0.9; 2], [126, other]).0, Kind::Shape);
    }
    for (t, n, kind) in [(0, 1, Kind::Shape), (1, 0, Kind::Shape), (usize::MAX, 2, Kind::Overflow)] {
        assert_eq!(fails(&Case { t, n, ..good.clone() }, [0.9; 2], full).0, kind);
    }
}

#[test]
fn bad_input_in_the_shifted_form_is_refused() {
    let x = [1.0f32; 6];
    let good = shifted(&x, &x, &x, &x[..2], &x[..2]);
    let fails = |rollout: ShiftedRollout<'_>, len: usize| {
        let (mut a, mut v) = (vec![7.0; len], vec![8.0; 6]);
        let kind = gae_shifted(&rollout, 0.9, 0.9, &mut a, &mut v).unwrap_err().kind;
        assert!(kind == Kind::Value || a.iter().all(|x| *x == 7.0) && v.iter().all(|x| *x == 8.0));
        kind
    };
    assert_eq!(fails(good, 5), Kind::Shape);
    assert_eq!(fails(ShiftedRollout { reward: &x[1..], ..good }, 6), Kind::Shape);
    assert_eq!(fails(ShiftedRollout { value: &x[1..], ..good }, 6), Kind::Shape);
    assert_eq!(fails(ShiftedRollout { done: &x[1..], ..good }, 6), Kind::Shape);
    assert_eq!(fails(ShiftedRollout { next_value: &x[..3], ..good }, 6), Kind::Shape);
    assert_eq!(fails(ShiftedRollout { next_done: &x[..1], ..good }, 6), Kind::Shape);
    assert_eq!(fails(ShiftedRollout { num_steps: 0, ..good }, 6), Kind::Shape);
    let bad = [1.0, 1.0, 1.0, f32::NAN, 1.0, 1.0];
    assert_eq!(fails(ShiftedRollout { reward: &bad, ..good }, 6), Kind::Value);
    assert_eq!(fails(ShiftedRollout { value: &bad, ..good }, 6), Kind::Value);
    assert_eq!(fails(ShiftedRollout { done: &bad, ..good }, 6), Kind::Value);
    assert_eq!(fails(ShiftedRollout { next_value: &bad[3..5], ..good }, 6), Kind::Value);
    assert_eq!(fails(ShiftedRollout { next_done: &bad[3..5], ..good }, 6), Kind::Value);
}
