//! The built-in environments by name and number, for callers that select one at run time.

use super::grid_game::GridGame;
use super::{
    Acrobot, Asterix, BitFlip, Breakout, CartPole, Catch, Env, Freeway, Maze, MountainCar, MountainCarContinuous,
    NoVel, Pendulum, PointReach, Probe, RepeatPrevious, SpaceInvaders, Spec, Step, StepOut,
};
use super::{acrobot, cartpole, mountain_car, pendulum, point_reach, repeat_previous};
use crate::error::Result;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// Passes the table of the library's own environments to a macro: the core generates [`Builtin`] and [`BUILTINS`] from
/// it, the C interface its enumeration and its definitions.
///
/// A row of the table is an environment kind with its type and its constant specification, followed by its
/// environments, each with a one-sentence description, C name, number, name and value. Numbers are never reused.
#[macro_export]
macro_rules! env_table {
    ($to:ident) => {
        $to! {
            /// A cart that balances a pole.
            CartPole(CartPole): |_| cartpole::SPEC, {
                /// CartPole-v1
                RLCORE_ENV_CARTPOLE = 1, "CartPole-v1": CartPole;
            }
            /// A car in a valley, with three choices.
            MountainCar(MountainCar): |_| mountain_car::SPEC, {
                /// MountainCar-v0
                RLCORE_ENV_MOUNTAIN_CAR = 2, "MountainCar-v0": MountainCar;
            }
            /// A car in a valley, with a force.
            MountainCarContinuous(MountainCarContinuous): |_| mountain_car::CONTINUOUS_SPEC, {
                /// MountainCarContinuous-v0
                RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS = 3, "MountainCarContinuous-v0": MountainCarContinuous;
            }
            /// Two links that swing up.
            Acrobot(Acrobot): |_| acrobot::SPEC, {
                /// Acrobot-v1
                RLCORE_ENV_ACROBOT = 4, "Acrobot-v1": Acrobot;
            }
            /// A pendulum that swings up.
            Pendulum(Pendulum): |_| pendulum::SPEC, {
                /// Pendulum-v1
                RLCORE_ENV_PENDULUM = 5, "Pendulum-v1": Pendulum;
            }
            /// Breakout on a grid.
            Breakout(Breakout): |_| Breakout::SPEC, {
                /// MinAtar's Breakout: bytes [10, 10, 4] of paddle, ball, trail and bricks
                RLCORE_ENV_BREAKOUT = 6, "Breakout-MinAtar": Breakout;
            }
            /// CartPole without velocities.
            CartPoleNoVel(NoVel<CartPole>): |_| cartpole::NO_VEL, {
                /// CartPole-v1 that observes cart position and pole angle only
                RLCORE_ENV_CARTPOLE_NO_VEL = 7, "CartPoleNoVel-v1": NoVel(CartPole);
            }
            /// Pendulum without the angular velocity.
            PendulumNoVel(NoVel<Pendulum>): |_| pendulum::NO_VEL, {
                /// Pendulum-v1 that observes cosine and sine only
                RLCORE_ENV_PENDULUM_NO_VEL = 8, "PendulumNoVel-v1": NoVel(Pendulum);
            }
            /// Suits to be named three steps after they were seen.
            RepeatPrevious(RepeatPrevious): |_| repeat_previous::SPEC, {
                /// POPGym's RepeatPreviousEasy: name the suit seen three steps before
                RLCORE_ENV_REPEAT_PREVIOUS = 9, "RepeatPreviousEasy": RepeatPrevious;
            }
            /// Catch of bsuite.
            Catch(Catch): |_| Catch::SPEC, {
                /// bsuite's Catch: bytes [10, 5, 1] of ball and paddle
                RLCORE_ENV_CATCH = 10, "Catch-bsuite": Catch;
            }
            /// Asterix on a grid.
            Asterix(Asterix): |_| Asterix::SPEC, {
                /// MinAtar's Asterix: bytes [10, 10, 4] of player, enemies, trails and gold
                RLCORE_ENV_ASTERIX = 11, "Asterix-MinAtar": Asterix;
            }
            /// Freeway on a grid.
            Freeway(Freeway): |_| Freeway::SPEC, {
                /// MinAtar's Freeway: bytes [10, 10, 7] of chicken, cars and their trails
                RLCORE_ENV_FREEWAY = 12, "Freeway-MinAtar": Freeway;
            }
            /// Space Invaders on a grid.
            SpaceInvaders(SpaceInvaders): |_| SpaceInvaders::SPEC, {
                /// MinAtar's Space Invaders: bytes [10, 10, 6] of cannon, aliens and bullets
                RLCORE_ENV_SPACE_INVADERS = 13, "SpaceInvaders-MinAtar": SpaceInvaders;
            }
            /// A maze in pictures.
            Maze(Maze): |maze| maze.constant_spec(), {
                /// a maze of 7 x 7 cells, 20 steps long: bytes [42, 42, 1] of walls and agent
                RLCORE_ENV_MAZE = 14, "Maze-42x42x1": Maze::Grey;
                /// the same maze: bytes [84, 84, 3]
                RLCORE_ENV_MAZE_RGB = 15, "Maze-84x84x3": Maze::Colour;
            }
            /// Ten bits, and ten of a goal.
            BitFlip(BitFlip<10>): |_| BitFlip::<10>::SPEC, {
                /// ten bits to flip until they are the ten of a goal beside them
                RLCORE_ENV_BIT_FLIP = 16, "BitFlip-10": BitFlip;
            }
            /// A point that moves to a goal.
            PointReach(PointReach): |_| point_reach::SPEC, {
                /// a point to move in a square until it is within 0.1 of a goal beside it
                RLCORE_ENV_POINT_REACH = 17, "PointReach": PointReach;
            }
            /// An environment with one observation element that exposes one kind of bug in a learner.
            Probe(Probe): |probe| probe.constant_spec(), {
                /// constant reward: value
                RLCORE_ENV_PROBE1 = 101, "Probe1": Probe::One;
                /// reward equal to the observation: backpropagation
                RLCORE_ENV_PROBE2 = 102, "Probe2": Probe::Two;
                /// reward one step later: discount
                RLCORE_ENV_PROBE3 = 103, "Probe3": Probe::Three;
                /// reward depends on the action: advantage
                RLCORE_ENV_PROBE4 = 104, "Probe4": Probe::Four;
                /// reward depends on observation and action
                RLCORE_ENV_PROBE5 = 105, "Probe5": Probe::Five;
                /// reward ten steps later
                RLCORE_ENV_PROBE6 = 106, "Probe6": Probe::Six;
                /// first observation must be remembered for three steps
                RLCORE_ENV_PROBE7 = 107, "Probe7": Probe::Seven;
                /// probe 6 with a correct action in each step
                RLCORE_ENV_PROBE6_ODD_EVEN = 108, "Probe6OddEven": Probe::SixOddEven;
                /// episodes that are only ever truncated
                RLCORE_ENV_PROBE_TRUNCATION = 109, "ProbeTruncation": Probe::Truncation;
                /// first observation must be remembered for eight steps
                RLCORE_ENV_PROBE_MEMORY = 110, "ProbeMemory": Probe::Memory { length: 8 };
            }
        }
    };
}

/// Generates all lists of the built-in environments from the table: the variants of [`Builtin`] with their constant
/// specifications, and the names by which they are found.
macro_rules! builtins {
    ($(
        $(#[doc = $kind_is:literal])+
        $kind:ident($type:ty): |$env:pat_param| $spec:expr, {
            $(#[doc = $sentence:literal] $id:ident = $number:literal, $name:literal: $value:expr;)+
        }
    )+) => {
        /// One of the built-in environments.
        #[derive(Clone, Copy, Debug)]
        pub enum Builtin {
            $($(#[doc = $kind_is])+ $kind($type),)+
        }

        /// All built-in environments with their names. The numbers are [`Spec::env_id`] and are never reused.
        pub const BUILTINS: &[(&str, Builtin)] = &[$($(($name, Builtin::$kind($value)),)+)+];

        $($(const _: () = assert!(Builtin::$kind($value).constant_spec().env_id == $number, $name);)+)+

        impl Builtin {
            /// Constant version of [`Env::spec`].
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
            fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
                match self {
                    $(Builtin::$kind(env) => env.reset(row, state, rng, obs),)+
                }
            }

            #[inline]
            fn step(
                &self,
                row: usize,
                state: &mut [u8],
                rng: &mut Rng,
                action: Elements<'_>,
                obs: ElementsMut<'_>,
            ) -> Result<Step> {
                match self {
                    $(Builtin::$kind(env) => env.step(row, state, rng, action, obs),)+
                }
            }

            #[inline]
            fn step_rows(&self, state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize {
                match self {
                    $(Builtin::$kind(env) => env.step_rows(state, action, out),)+
                }
            }

            fn lives(&self, row: usize, state: &[u8]) -> Result<u32> {
                match self {
                    $(Builtin::$kind(env) => env.lives(row, state),)+
                }
            }

            fn has_mask(&self) -> bool {
                false
            }

            fn action_mask(&self, row: usize, state: &[u8], mask: &mut [u8]) -> Result {
                match self {
                    $(Builtin::$kind(env) => env.action_mask(row, state, mask),)+
                }
            }

            fn render(&self, row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
                match self {
                    $(Builtin::$kind(env) => env.render(row, state, width, height, rgb),)+
                }
            }
        }
    };
}

env_table!(builtins);

/// First environment number available to callers, who may also use 0; smaller numbers are reserved for the library.
pub const FIRST_FREE_ID: u32 = 1000;

impl Builtin {
    /// The environment with this name, e.g. `"CartPole-v1"`.
    pub fn from_name(name: &str) -> Option<Builtin> {
        BUILTINS.iter().find(|(n, _)| *n == name).map(|(_, env)| *env)
    }

    /// The environment with this number.
    pub fn from_id(env_id: u32) -> Option<Builtin> {
        BUILTINS.iter().find(|(_, env)| env.spec().env_id == env_id).map(|(_, env)| *env)
    }

    /// Name of the environment.
    pub fn name(&self) -> &'static str {
        let id = self.spec().env_id;
        BUILTINS.iter().find(|(_, env)| env.spec().env_id == id).map_or("", |(name, _)| name)
    }
}
