//! The built-in environments by name and number, for callers that choose one at run time.

use super::grid_game::GridGame;
use super::{
    Acrobot, Asterix, BitFlip, Breakout, CartPole, Catch, Env, Freeway, Maze, MountainCar, MountainCarContinuous,
    NoVel, Pendulum, PointReach, Probe, RepeatPrevious, SpaceInvaders, Spec, Step, StepOut,
};
use super::{acrobot, cartpole, mountain_car, pendulum, point_reach, repeat_previous};
use crate::error::Result;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// One of the built-in environments.
#[derive(Clone, Copy, Debug)]
pub enum Builtin {
    /// CartPole-v1.
    CartPole(CartPole),
    /// MountainCar-v0.
    MountainCar(MountainCar),
    /// MountainCarContinuous-v0.
    MountainCarContinuous(MountainCarContinuous),
    /// Acrobot-v1.
    Acrobot(Acrobot),
    /// Pendulum-v1.
    Pendulum(Pendulum),
    /// Breakout on a grid.
    Breakout(Breakout),
    /// CartPole-v1 without velocities.
    CartPoleNoVel(NoVel<CartPole>),
    /// Pendulum-v1 without the angular velocity.
    PendulumNoVel(NoVel<Pendulum>),
    /// RepeatPreviousEasy.
    RepeatPrevious(RepeatPrevious),
    /// Catch of bsuite.
    Catch(Catch),
    /// Asterix on a grid.
    Asterix(Asterix),
    /// Freeway on a grid.
    Freeway(Freeway),
    /// Space Invaders on a grid.
    SpaceInvaders(SpaceInvaders),
    /// A maze in pictures.
    Maze(Maze),
    /// Ten bits, and ten of a goal.
    BitFlip(BitFlip<10>),
    /// A point, and a place that it is to reach.
    PointReach(PointReach),
    /// A probe.
    Probe(Probe),
}

/// Every built-in environment with its name. The numbers are [`Spec::env_id`] and are never reused.
pub const BUILTINS: [(&str, Builtin); 27] = [
    ("CartPole-v1", Builtin::CartPole(CartPole)),
    ("MountainCar-v0", Builtin::MountainCar(MountainCar)),
    ("MountainCarContinuous-v0", Builtin::MountainCarContinuous(MountainCarContinuous)),
    ("Acrobot-v1", Builtin::Acrobot(Acrobot)),
    ("Pendulum-v1", Builtin::Pendulum(Pendulum)),
    ("Breakout-MinAtar", Builtin::Breakout(Breakout)),
    ("CartPoleNoVel-v1", Builtin::CartPoleNoVel(NoVel(CartPole))),
    ("PendulumNoVel-v1", Builtin::PendulumNoVel(NoVel(Pendulum))),
    ("RepeatPreviousEasy", Builtin::RepeatPrevious(RepeatPrevious)),
    ("Catch-bsuite", Builtin::Catch(Catch)),
    ("Asterix-MinAtar", Builtin::Asterix(Asterix)),
    ("Freeway-MinAtar", Builtin::Freeway(Freeway)),
    ("SpaceInvaders-MinAtar", Builtin::SpaceInvaders(SpaceInvaders)),
    ("Maze-42x42x1", Builtin::Maze(Maze::Grey)),
    ("Maze-84x84x3", Builtin::Maze(Maze::Colour)),
    ("BitFlip-10", Builtin::BitFlip(BitFlip)),
    ("PointReach", Builtin::PointReach(PointReach)),
    ("Probe1", Builtin::Probe(Probe::One)),
    ("Probe2", Builtin::Probe(Probe::Two)),
    ("Probe3", Builtin::Probe(Probe::Three)),
    ("Probe4", Builtin::Probe(Probe::Four)),
    ("Probe5", Builtin::Probe(Probe::Five)),
    ("Probe6", Builtin::Probe(Probe::Six)),
    ("Probe7", Builtin::Probe(Probe::Seven)),
    ("Probe6OddEven", Builtin::Probe(Probe::SixOddEven)),
    ("ProbeTruncation", Builtin::Probe(Probe::Truncation)),
    ("ProbeMemory", Builtin::Probe(Probe::Memory { length: 8 })),
];

/// Environments of the caller's have numbers from here on, or 0: those below are the library's.
pub const FIRST_FREE_ID: u32 = 1000;

impl Builtin {
    /// What the environment is, as a constant: [`Env::spec`].
    pub const fn constant_spec(&self) -> Spec<'static> {
        match self {
            Builtin::CartPole(_) => cartpole::SPEC,
            Builtin::MountainCar(_) => mountain_car::SPEC,
            Builtin::MountainCarContinuous(_) => mountain_car::CONTINUOUS_SPEC,
            Builtin::Acrobot(_) => acrobot::SPEC,
            Builtin::Pendulum(_) => pendulum::SPEC,
            Builtin::Breakout(_) => Breakout::SPEC,
            Builtin::CartPoleNoVel(_) => cartpole::NO_VEL,
            Builtin::PendulumNoVel(_) => pendulum::NO_VEL,
            Builtin::RepeatPrevious(_) => repeat_previous::SPEC,
            Builtin::Catch(_) => Catch::SPEC,
            Builtin::Asterix(_) => Asterix::SPEC,
            Builtin::Freeway(_) => Freeway::SPEC,
            Builtin::SpaceInvaders(_) => SpaceInvaders::SPEC,
            Builtin::Maze(maze) => maze.constant_spec(),
            Builtin::BitFlip(_) => BitFlip::<10>::SPEC,
            Builtin::PointReach(_) => point_reach::SPEC,
            Builtin::Probe(probe) => probe.constant_spec(),
        }
    }

    /// The environment of this name, e.g. `"CartPole-v1"`.
    pub fn from_name(name: &str) -> Option<Builtin> {
        BUILTINS.iter().find(|(n, _)| *n == name).map(|(_, env)| *env)
    }

    /// The environment of this number.
    pub fn from_id(env_id: u32) -> Option<Builtin> {
        BUILTINS.iter().find(|(_, env)| env.spec().env_id == env_id).map(|(_, env)| *env)
    }

    /// The environment's name.
    pub fn name(&self) -> &'static str {
        let id = self.spec().env_id;
        BUILTINS.iter().find(|(_, env)| env.spec().env_id == id).map_or("", |(name, _)| name)
    }
}

/// Evaluates `$call` with `$env` bound to the environment itself.
macro_rules! each {
    ($self:ident, $env:ident => $call:expr) => {
        match $self {
            Builtin::CartPole($env) => $call,
            Builtin::MountainCar($env) => $call,
            Builtin::MountainCarContinuous($env) => $call,
            Builtin::Acrobot($env) => $call,
            Builtin::Pendulum($env) => $call,
            Builtin::Breakout($env) => $call,
            Builtin::CartPoleNoVel($env) => $call,
            Builtin::PendulumNoVel($env) => $call,
            Builtin::RepeatPrevious($env) => $call,
            Builtin::Catch($env) => $call,
            Builtin::Asterix($env) => $call,
            Builtin::Freeway($env) => $call,
            Builtin::SpaceInvaders($env) => $call,
            Builtin::Maze($env) => $call,
            Builtin::BitFlip($env) => $call,
            Builtin::PointReach($env) => $call,
            Builtin::Probe($env) => $call,
        }
    };
}

impl Env for Builtin {
    #[inline]
    fn spec(&self) -> Spec<'_> {
        self.constant_spec()
    }

    #[inline]
    fn reset(&self, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        each!(self, env => env.reset(state, rng, obs))
    }

    #[inline]
    fn step(&self, state: &mut [u8], rng: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        each!(self, env => env.step(state, rng, action, obs))
    }

    #[inline]
    fn step_rows(&self, state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize {
        each!(self, env => env.step_rows(state, action, out))
    }

    fn lives(&self, state: &[u8]) -> Result<u32> {
        each!(self, env => env.lives(state))
    }

    fn action_mask(&self, state: &[u8], mask: &mut [u8]) -> Result {
        each!(self, env => env.action_mask(state, mask))
    }

    fn render(&self, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        each!(self, env => env.render(state, width, height, rgb))
    }
}
