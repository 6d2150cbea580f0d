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

/// Makes all that lists the built-in environments from one table: a variant of [`Builtin`] with its constant
/// specification, and the names under which it is found.
macro_rules! builtins {
    ($($(#[$doc:meta])* $kind:ident($type:ty): |$env:pat_param| $spec:expr, { $($name:literal: $value:expr),+ $(,)? })+) => {
        /// One of the built-in environments.
        #[derive(Clone, Copy, Debug)]
        pub enum Builtin {
            $($(#[$doc])* $kind($type),)+
        }

        /// Every built-in environment with its name. The numbers are [`Spec::env_id`] and are never reused.
        pub const BUILTINS: &[(&str, Builtin)] = &[$($(($name, Builtin::$kind($value)),)+)+];

        impl Builtin {
            /// The specification as a constant: [`Env::spec`].
            pub const fn constant_spec(&self) -> Spec<'static> {
                match self {
                    $(Builtin::$kind($env) => $spec,)+
                }
            }
        }

        impl Env for Builtin {
            #[inline]
            fn spec(&self) -> Spec<'_> {
                self.constant_spec()
            }

            #[inline]
            fn reset(&self, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
                match self {
                    $(Builtin::$kind(env) => env.reset(state, rng, obs),)+
                }
            }

            #[inline]
            fn step(
                &self,
                state: &mut [u8],
                rng: &mut Rng,
                action: Elements<'_>,
                obs: ElementsMut<'_>,
            ) -> Result<Step> {
                match self {
                    $(Builtin::$kind(env) => env.step(state, rng, action, obs),)+
                }
            }

            #[inline]
            fn step_rows(&self, state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize {
                match self {
                    $(Builtin::$kind(env) => env.step_rows(state, action, out),)+
                }
            }

            fn lives(&self, state: &[u8]) -> Result<u32> {
                match self {
                    $(Builtin::$kind(env) => env.lives(state),)+
                }
            }

            fn has_mask(&self) -> bool {
                false
            }

            fn action_mask(&self, state: &[u8], mask: &mut [u8]) -> Result {
                match self {
                    $(Builtin::$kind(env) => env.action_mask(state, mask),)+
                }
            }

            fn render(&self, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
                match self {
                    $(Builtin::$kind(env) => env.render(state, width, height, rgb),)+
                }
            }
        }
    };
}

builtins! {
    /// A cart that balances a pole.
    CartPole(CartPole): |_| cartpole::SPEC, { "CartPole-v1": CartPole }
    /// A car in a valley, with three choices.
    MountainCar(MountainCar): |_| mountain_car::SPEC, { "MountainCar-v0": MountainCar }
    /// A car in a valley, with a force.
    MountainCarContinuous(MountainCarContinuous): |_| mountain_car::CONTINUOUS_SPEC, {
        "MountainCarContinuous-v0": MountainCarContinuous,
    }
    /// Two links that swing up.
    Acrobot(Acrobot): |_| acrobot::SPEC, { "Acrobot-v1": Acrobot }
    /// A pendulum that swings up.
    Pendulum(Pendulum): |_| pendulum::SPEC, { "Pendulum-v1": Pendulum }
    /// Breakout on a grid.
    Breakout(Breakout): |_| Breakout::SPEC, { "Breakout-MinAtar": Breakout }
    /// CartPole without velocities.
    CartPoleNoVel(NoVel<CartPole>): |_| cartpole::NO_VEL, { "CartPoleNoVel-v1": NoVel(CartPole) }
    /// Pendulum without the angular velocity.
    PendulumNoVel(NoVel<Pendulum>): |_| pendulum::NO_VEL, { "PendulumNoVel-v1": NoVel(Pendulum) }
    /// Suits to be named three steps after they were seen.
    RepeatPrevious(RepeatPrevious): |_| repeat_previous::SPEC, { "RepeatPreviousEasy": RepeatPrevious }
    /// Catch of bsuite.
    Catch(Catch): |_| Catch::SPEC, { "Catch-bsuite": Catch }
    /// Asterix on a grid.
    Asterix(Asterix): |_| Asterix::SPEC, { "Asterix-MinAtar": Asterix }
    /// Freeway on a grid.
    Freeway(Freeway): |_| Freeway::SPEC, { "Freeway-MinAtar": Freeway }
    /// Space Invaders on a grid.
    SpaceInvaders(SpaceInvaders): |_| SpaceInvaders::SPEC, { "SpaceInvaders-MinAtar": SpaceInvaders }
    /// A maze in pictures.
    Maze(Maze): |maze| maze.constant_spec(), { "Maze-42x42x1": Maze::Grey, "Maze-84x84x3": Maze::Colour }
    /// Ten bits, and ten of a goal.
    BitFlip(BitFlip<10>): |_| BitFlip::<10>::SPEC, { "BitFlip-10": BitFlip }
    /// A point that moves to a goal.
    PointReach(PointReach): |_| point_reach::SPEC, { "PointReach": PointReach }
    /// An environment with one observation element that exposes one kind of bug in a learner.
    Probe(Probe): |probe| probe.constant_spec(), {
        "Probe1": Probe::One,
        "Probe2": Probe::Two,
        "Probe3": Probe::Three,
        "Probe4": Probe::Four,
        "Probe5": Probe::Five,
        "Probe6": Probe::Six,
        "Probe7": Probe::Seven,
        "Probe6OddEven": Probe::SixOddEven,
        "ProbeTruncation": Probe::Truncation,
        "ProbeMemory": Probe::Memory { length: 8 },
    }
}

/// Environments of the caller's have numbers from here on, or 0: those below are the library's.
pub const FIRST_FREE_ID: u32 = 1000;

impl Builtin {
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
