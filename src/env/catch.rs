//! Catch with the rules of bsuite (Osband et al. 2020), as implemented by gymnax.

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Colour};
use super::grid_game::{GridGame, Picture, walk};
use crate::rng::Rng;

/// A ball falls from the top of a grid of ten rows and five columns. Observes one channel: the ball, and the paddle in
/// the last row. Action 0 moves left, 1 stays, 2 moves right. The ninth step terminates the episode; its reward is 1 if
/// the ball is caught, else -1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Catch;

const LAST_ROW: u8 = 9;
const LAST_COLUMN: u8 = 4;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Row and column of the ball.
    ball: [u8; 2],
    /// Column of the paddle.
    paddle: u8,
    zero: [u8; 5],
}

impl GridGame for Catch {
    type State = State;

    const ENV_ID: u32 = 10;
    const MAX_EPISODE_STEPS: u32 = 0;
    const SHAPE: [u32; 3] = [10, 5, 1];
    const CHOICES: [u32; 1] = [3];
    const COLOURS: &'static [Colour] = &[BLACK];

    fn start(rng: &mut Rng) -> State {
        State { ball: [0, rng.bounded(LAST_COLUMN.into()) as u8], paddle: 2, zero: [0; 5] }
    }

    fn advance(s: &mut State, action: i32, _: &mut Rng) -> (f32, bool) {
        if action == 0 || action == 2 {
            s.paddle = walk(s.paddle, action == 2, 0, LAST_COLUMN);
        }
        let [row, column] = s.ball;
        s.ball = [walk(row, true, 0, LAST_ROW), column];
        if s.ball == [LAST_ROW, s.paddle] {
            (1.0, true)
        } else if s.ball == [LAST_ROW, column] {
            (-1.0, true)
        } else {
            (0.0, false)
        }
    }

    fn show(s: &State, picture: &mut Picture<'_>) {
        let [row, column] = s.ball;
        picture.set(0, row, column);
        picture.set(0, LAST_ROW, s.paddle);
    }
}
