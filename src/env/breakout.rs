//! Breakout on a grid of 10 × 10 with the rules of MinAtar (Young and Tian 2019), as implemented by gymnax.

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Colour};
use super::grid_game::{GridGame, Picture, walk};
use crate::rng::Rng;

/// Observes an image of four channels, 255 where an object is: paddle, ball, previous position of the ball, and bricks.
/// Action 0 stays, 1 moves left, 2 right. A brick earns 1; three new rows of bricks appear when all are gone.
/// Terminates when the ball is lost; 1000 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breakout;

/// Rows and columns of the grid.
const SIDE: usize = 10;
const LAST: u8 = SIDE as u8 - 1;
/// A row of bricks, a bit for each column.
const FULL: u16 = (1 << SIDE) - 1;
/// The first row that has bricks.
const TOP: u8 = 1;

#[derive(Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Row and column of the ball, and of its previous position.
    ball: [u8; 2],
    last: [u8; 2],
    /// 1 if the ball moves down; 1 if it moves right.
    down: u8,
    right: u8,
    /// Column of the paddle, which is in the last row.
    paddle: u8,
    /// 1 if the last step met a brick: the ball destroys only the first of successive bricks.
    strike: u8,
    bricks: [u16; 3],
    zero: u16,
}

impl State {
    /// The row of bricks at a row of the grid, if there is one.
    fn row(&mut self, row: u8) -> Option<&mut u16> {
        self.bricks.get_mut(usize::from(row.checked_sub(TOP)?))
    }
}

impl GridGame for Breakout {
    type State = State;

    const ENV_ID: u32 = 6;
    const MAX_EPISODE_STEPS: u32 = 1000;
    const SHAPE: [u32; 3] = [SIDE as u32, SIDE as u32, 4];
    const CHOICES: [u32; 1] = [3];
    const COLOURS: &'static [Colour] = &[BLACK, [129, 132, 203], [220, 220, 235], [202, 152, 101]];

    fn start(rng: &mut Rng) -> State {
        let right = u8::from(rng.uniform_f32() < 0.5);
        let ball = [TOP + 2, if right != 0 { 0 } else { LAST }];
        State { ball, last: ball, down: 1, right, paddle: 4, strike: 0, bricks: [FULL; 3], zero: 0 }
    }

    fn advance(s: &mut State, action: i32, _: &mut Rng) -> (f32, bool) {
        if action == 1 || action == 2 {
            s.paddle = walk(s.paddle, action == 2, 0, LAST);
        }
        s.last = s.ball;
        let [row, column] = s.ball;
        let next = |at: u8, forward: u8| if forward != 0 { at.wrapping_add(1) } else { at.wrapping_sub(1) };
        let (mut row, mut column) = (next(row, s.down), next(column, s.right));
        // Columns left of the grid wrap to 255.
        if column > LAST {
            column = if s.right != 0 { LAST } else { 0 };
            s.right ^= 1;
        }
        let (mut reward, mut lost) = (0.0, false);
        let bit = 1u16.checked_shl(column.into()).unwrap_or(0);
        let struck = s.row(row).is_some_and(|bricks| *bricks & bit != 0);
        let [last_row, last_column] = s.last;
        if row > LAST {
            (row, s.down) = (0, 1);
        } else if struck {
            if s.strike == 0 {
                reward = 1.0;
                s.row(row).into_iter().for_each(|bricks| *bricks &= !bit);
                row = last_row;
                s.down ^= 1;
            }
        } else if row == LAST {
            if s.bricks == [0; 3] {
                s.bricks = [FULL; 3];
            }
            if last_column == s.paddle {
                (row, s.down) = (last_row, 0);
            } else if column == s.paddle {
                (row, s.down) = (last_row, 0);
                s.right ^= 1;
            } else {
                lost = true;
            }
        }
        s.strike = u8::from(struck);
        s.ball = [row, column];
        (reward, lost)
    }

    fn show(s: &State, picture: &mut Picture<'_>) {
        picture.set(0, LAST, s.paddle);
        for (channel, [row, column]) in [(1, s.ball), (2, s.last)] {
            picture.set(channel, row, column);
        }
        picture.set_rows(3, TOP, &s.bricks);
    }
}
