//! Rollouts and comparisons, for all of these tests.

use rlcore::cpu::{self, LEVELS};
use rlcore::error::{Kind, Result};
use rlcore::kernels::gae::{Accumulate, Rollout};
use rlcore::rng::Rng;

/// A rollout that owns its arrays, and the extra inputs of off-policy targets.
#[derive(Clone)]
pub struct Case {
    pub t: usize,
    pub n: usize,
    pub reward: Vec<f32>,
    pub value: Vec<f32>,
    pub bootstrap: Vec<f32>,
    pub terminated: Vec<u8>,
    pub truncated: Vec<u8>,
    pub final_value: Option<Vec<f32>>,
    pub q: Vec<f32>,
    pub log_rho: Vec<f32>,
    pub accumulate: Accumulate,
}

impl Case {
    pub fn view(&self) -> Rollout<'_> {
        Rollout {
            num_steps: self.t,
            num_envs: self.n,
            reward: &self.reward,
            value: &self.value,
            bootstrap_value: &self.bootstrap,
            terminated: &self.terminated,
            truncated: &self.truncated,
            final_value: self.final_value.as_deref(),
            accumulate: self.accumulate,
        }
    }

    /// `ending` is the chance of each flag at each step; the inputs of off-policy targets are drawn if asked for.
    pub fn random(seed: u64, t: usize, n: usize, ending: f64, off_policy: bool) -> Case {
        let mut rng = Rng::seeded(seed);
        let mut draw = |len: usize| -> Vec<f32> { (0..len).map(|_| rng.uniform_in(-2.0, 2.0) as f32).collect() };
        let (reward, value, bootstrap, final_value) = (draw(t * n), draw(t * n), draw(n), Some(draw(t * n)));
        let [q, log_rho] = [(); 2].map(|()| draw(if off_policy { t * n } else { 0 }));
        let mut flag = |odd: u8| -> Vec<u8> { (0..t * n).map(|_| u8::from(rng.uniform() < ending) * odd).collect() };
        let (terminated, truncated, accumulate) = (flag(1), flag(255), Accumulate::F32);
        Case { t, n, reward, value, bootstrap, terminated, truncated, final_value, q, log_rho, accumulate }
    }

    /// The specification's base case: one environment, whose episode ends at a step, or is cut at one before this value.
    pub fn base(terminated: Option<usize>, cut: Option<(usize, f32)>) -> Case {
        let flags = |at: Option<usize>| (0..4).map(|i| u8::from(at == Some(i))).collect();
        let finals = |(at, x): (usize, f32)| (0..4).map(|i| if i == at { x } else { f32::NAN }).collect();
        Case {
            t: 4,
            n: 1,
            reward: vec![1.0, 0.0, -1.0, 2.0],
            value: vec![0.5, -0.2, 0.1, 0.4],
            bootstrap: vec![0.3],
            terminated: flags(terminated),
            truncated: flags(cut.map(|(at, _)| at)),
            final_value: cut.map(finals),
            q: vec![0.6, -0.1, 0.3, 0.2],
            log_rho: vec![f32::NAN, -0.5, 1.2, -2.0],
            accumulate: Accumulate::F32,
        }
    }
}

/// A copy with a change.
pub fn with<T: Clone>(good: &T, change: impl FnOnce(&mut T)) -> T {
    let mut other = good.clone();
    change(&mut other);
    other
}

type Change = Box<dyn Fn(&mut Case)>;

/// Changes of the length of each array of a rollout by `step`.
pub fn off_by(step: isize) -> [Change; 6] {
    let off = move |x: &mut Vec<f32>| x.resize(x.len().wrapping_add_signed(step), 0.0);
    let flags = move |x: &mut Vec<u8>| x.resize(x.len().wrapping_add_signed(step), 0);
    [
        Box::new(move |c| off(&mut c.reward)),
        Box::new(move |c| off(&mut c.value)),
        Box::new(move |c| off(&mut c.bootstrap)),
        Box::new(move |c| off(c.final_value.as_mut().unwrap())),
        Box::new(move |c| flags(&mut c.terminated)),
        Box::new(move |c| flags(&mut c.truncated)),
    ]
}

pub fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

pub fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

#[track_caller]
pub fn near(got: &[f32], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        // An infinite number is near itself.
        let same = f64::from(*g) == *w || (f64::from(*g) - w).abs() <= tolerance * w.abs().max(1.0);
        assert!(same, "{what}[{i}]: {g} is not {w}");
    }
}

/// Asserts that `work` gives the same at every CPU level.
#[track_caller]
pub fn same_at_every_level<T: PartialEq>(what: &str, work: impl Fn() -> T) -> T {
    let [base, avx2, avx512] = LEVELS.map(|level| {
        cpu::set_limit(level);
        work()
    });
    cpu::set_limit(LEVELS[2]);
    assert!(base == avx2 && base == avx512, "{what}");
    base
}

pub fn kind<T>(result: Result<T>) -> Option<Kind> {
    result.err().map(|error| error.kind)
}
