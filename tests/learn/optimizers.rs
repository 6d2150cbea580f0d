//! Optimizers over a host's own arrays: against their formulas in f64, vectors of PyTorch, a learner's steps, and bad input.

use rlcore::error::{Kind, Result};
use rlcore::learn::{Optimizer, OptimizerConfig, ParamState};
use rlcore::rng::Rng;

const ALL: [Optimizer; 6] = [
    Optimizer::Adam,
    Optimizer::AdamTensorflow,
    Optimizer::RmsProp,
    Optimizer::RmsPropTensorflow,
    Optimizer::RmsPropCentred,
    Optimizer::AdamRectified,
];

/// Adam counts its steps, RMSProp does not.
fn counts_steps(optimizer: Optimizer) -> bool {
    matches!(optimizer, Optimizer::Adam | Optimizer::AdamTensorflow | Optimizer::AdamRectified)
}

/// Parameters and their optimizer.
#[derive(Clone, PartialEq, Debug)]
struct State {
    params: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
    steps: u64,
}

impl State {
    fn new(params: &[f32], optimizer: Optimizer) -> State {
        let len = params.len();
        State { params: params.to_vec(), m: vec![0.0; len], v: vec![optimizer.first_square(); len], steps: 0 }
    }

    fn step(&mut self, config: &OptimizerConfig, grads: &[f32], rate: f32) -> Result<f32> {
        let State { params, m, v, steps } = self;
        config.step(ParamState { params, m, v, steps }, grads, rate)
    }
}

/// An optimizer, whether it ascends, its epsilon, gradients, and the parameter after each.
type Path<'a> = (Optimizer, bool, f32, &'a [f32], &'a [f64]);

/// Paths of a parameter that starts at 1, with a rate of 0.01: PyTorch's, or the formulas of TensorFlow in f64.
#[test]
fn known_paths() {
    let short = [0.5, -0.2, 1e-4];
    let long = [0.5, -0.2, 1e-4, 0.3, 0.3, 0.3, 0.3, 0.3];
    let rectified = [
        0.995,
        0.9936842105263158,
        0.9928535832200428,
        0.9913921409403104,
        0.9895549916643464,
        0.9893786972010015,
        0.9891357649268605,
        0.9888312280366278,
    ];
    let cases: [Path<'_>; 5] = [
        (Optimizer::Adam, true, 1e-5, &short, &[1.009999800004, 1.0134557677085245, 1.016128412237639]),
        (Optimizer::AdamTensorflow, false, 1e-5, &short, &[0.9900063205578485, 0.9865522912294056, 0.9838811307231103]),
        (Optimizer::AdamRectified, false, 1e-8, &long, &rectified),
        (Optimizer::RmsProp, false, 1e-5, &short, &[0.9000199960007998, 0.9373132331058294, 0.937294492566991]),
        (
            Optimizer::RmsPropTensorflow,
            false,
            1e-8,
            &short,
            &[0.994981143892999, 0.9969983894015586, 0.9969973756975493],
        ),
    ];
    for (optimizer, maximise, epsilon, grads, want) in cases {
        let config = OptimizerConfig { maximise, epsilon, ..OptimizerConfig::of(optimizer) };
        let mut state = State::new(&[1.0], optimizer);
        for (g, want) in grads.iter().zip(want) {
            assert_eq!(state.step(&config, &[*g], 0.01), Ok(g.abs()));
            assert!((f64::from(state.params[0]) - want).abs() < 3e-7, "{optimizer:?}: {} and {want}", state.params[0]);
        }
    }
}

/// A parameter, its moments and its steps, in f64.
#[derive(Clone, Copy)]
struct Twin {
    p: f64,
    m: f64,
    v: f64,
}

impl Twin {
    fn step(&mut self, c: &OptimizerConfig, g: f64, rate: f64, t: i32) {
        let [beta1, beta2, epsilon] = [c.beta1, c.beta2, c.epsilon].map(f64::from);
        let [decay, momentum] = [c.decay, c.momentum].map(f64::from);
        let g = if c.maximise { -g } else { g };
        if counts_steps(c.optimizer) {
            self.m = beta1 * self.m + (1.0 - beta1) * g;
            self.v = beta2 * self.v + (1.0 - beta2) * g * g;
            let (left1, left2) = (1.0 - beta1.powi(t), 1.0 - beta2.powi(t));
            let most = 2.0 / (1.0 - beta2) - 1.0;
            let known = most - 2.0 * f64::from(t) * beta2.powi(t) / left2;
            self.p -= match c.optimizer {
                Optimizer::Adam => rate * (self.m / left1) / ((self.v / left2).sqrt() + epsilon),
                Optimizer::AdamTensorflow => rate * left2.sqrt() / left1 * self.m / (self.v.sqrt() + epsilon),
                _ if known <= 5.0 => rate * self.m / left1,
                _ => {
                    let share = (known - 4.0) * (known - 2.0) * most / ((most - 4.0) * (most - 2.0) * known);
                    rate * self.m / left1 * share.sqrt() * left2.sqrt() / (self.v.sqrt() + epsilon)
                }
            };
            return;
        }
        self.v = decay * self.v + (1.0 - decay) * g * g;
        if c.optimizer == Optimizer::RmsPropCentred {
            self.m = decay * self.m + (1.0 - decay) * g;
            self.p -= rate * g / ((self.v - self.m * self.m).max(0.0).sqrt() + epsilon);
            return;
        }
        let root = if c.optimizer == Optimizer::RmsProp { self.v.sqrt() + epsilon } else { (self.v + epsilon).sqrt() };
        self.m = momentum * self.m + g / root;
        self.p -= rate * self.m;
    }
}

fn drawn(seed: u64, len: usize) -> Vec<f32> {
    let mut rng = Rng::seeded(seed);
    (0..len).map(|_| rng.uniform_f32() - 0.5).collect()
}

fn settings() -> Vec<OptimizerConfig> {
    let all = ALL.map(OptimizerConfig::of).into_iter();
    let all = all.flat_map(|c| [c, OptimizerConfig { maximise: true, max_grad_norm: 0.7, epsilon: 1e-3, ..c }]);
    let momentum = |optimizer| OptimizerConfig { momentum: 0.5, decay: 0.9, ..OptimizerConfig::of(optimizer) };
    let adam = OptimizerConfig { beta1: 0.5, beta2: 0.9, ..OptimizerConfig::of(Optimizer::AdamRectified) };
    all.chain([momentum(Optimizer::RmsProp), momentum(Optimizer::RmsPropTensorflow), adam]).collect()
}

#[test]
fn steps_are_those_of_the_formulas_in_f64() {
    const LEN: usize = 37;
    for config in settings() {
        let params = drawn(1, LEN);
        let mut state = State::new(&params, config.optimizer);
        let v = f64::from(config.optimizer.first_square());
        let mut twins: Vec<Twin> = params.iter().map(|p| Twin { p: f64::from(*p), m: 0.0, v }).collect();
        for t in 1..=20 {
            let grads = drawn(1 + t, LEN);
            let norm = grads.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            let given = state.step(&config, &grads, 3e-3).unwrap();
            assert!((f64::from(given) / norm - 1.0).abs() < 1e-6);
            let most = f64::from(config.max_grad_norm);
            let scale = if most > 0.0 { (most / (norm + 1e-6)).min(1.0) } else { 1.0 };
            let grads = grads.iter().map(|g| f64::from(*g) * scale);
            twins.iter_mut().zip(grads).for_each(|(twin, g)| twin.step(&config, g, 3e-3, t as i32));
        }
        for (p, twin) in state.params.iter().zip(&twins) {
            assert!((f64::from(*p) - twin.p).abs() < 1e-5, "{config:?}: {p} and {}", twin.p);
        }
        assert_eq!(state.steps, if counts_steps(config.optimizer) { 20 } else { 0 });
    }
}

/// A state that is stored and continued elsewhere takes the same steps, beside a second one.
#[test]
fn a_copied_state_goes_on_alike() {
    for config in settings() {
        let mut one = State::new(&drawn(1, 20), config.optimizer);
        let mut other = State::new(&drawn(9, 20), config.optimizer);
        one.step(&config, &drawn(2, 20), 0.01).unwrap();
        let mut copy = one.clone();
        for t in 3..6 {
            one.step(&config, &drawn(t, 20), 0.01).unwrap();
            other.step(&config, &drawn(t, 20), 0.01).unwrap();
            copy.step(&config, &drawn(t, 20), 0.01).unwrap();
        }
        assert!(copy == one && other != one);
    }
}

#[test]
fn bad_input_is_refused_and_nothing_moves() {
    for optimizer in ALL {
        let good = OptimizerConfig::of(optimizer);
        let refused = |config: OptimizerConfig, grads: &[f32], rate: f32, kind: Kind| {
            let mut state = State::new(&[1.0; 3], optimizer);
            assert_eq!(state.step(&config, grads, rate).unwrap_err().kind, kind, "{config:?}");
            assert_eq!(state, State::new(&[1.0; 3], optimizer));
        };
        refused(good, &[0.1; 2], 0.1, Kind::Shape);
        refused(good, &[0.1, f32::NAN, 0.1], 0.1, Kind::Value);
        refused(good, &[0.1; 3], f32::NAN, Kind::Value);
        refused(OptimizerConfig { max_grad_norm: -1.0, ..good }, &[0.1; 3], 0.1, Kind::Config);
        refused(OptimizerConfig { epsilon: -1.0, ..good }, &[0.1; 3], 0.1, Kind::Config);
        refused(OptimizerConfig { limit: 1.0, ..good }, &[-0.1; 3], 0.1, Kind::Value);
        let adam = OptimizerConfig { beta1: 0.5, beta2: 0.5, ..good };
        let rms_prop = OptimizerConfig { decay: 0.5, momentum: 0.5, ..good };
        let (unread, text) = match counts_steps(optimizer) {
            true => (rms_prop, "optimizer: rms_decay is set to 0.5, which is read only by RMSProp"),
            false => (adam, "optimizer: beta1 is set to 0.5, which is read only by Adam"),
        };
        assert_eq!(unread.check().unwrap_err().to_string(), text);
        for bad in [
            OptimizerConfig { epsilon: -1.0, ..good },
            OptimizerConfig { epsilon: f32::NAN, ..good },
            OptimizerConfig { max_grad_norm: f32::NAN, ..good },
            OptimizerConfig { max_grad_norm: -0.5, ..good },
            OptimizerConfig { beta1: 1.0, decay: 1.0, ..good },
        ] {
            assert_eq!(bad.check().unwrap_err().kind, Kind::Config);
        }
        assert_eq!(good.check(), Ok(()));
    }
}
