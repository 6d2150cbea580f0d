//! Breakout on a grid of 10 × 10: MinAtar's rules (Young and Tian 2019), as gymnax has them.

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Canvas};
use super::{Env, Spec, Step, choice, view, view_mut};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field, Space};

/// Observes a picture of four channels: paddle, ball, where the ball was, and bricks, 255 where they are. Action 0 stays, 1
/// goes left, 2 right. A brick earns 1; three new rows come when all are gone. Ends when the ball is lost; 1000 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breakout;

/// Rows and columns of the grid.
const SIDE: usize = 10;
const LAST: u8 = SIDE as u8 - 1;
const CHANNELS: usize = 4;
const LEN: usize = SIDE * SIDE * CHANNELS;
/// A row of bricks, a bit for each column.
const FULL: u16 = (1 << SIDE) - 1;
/// The first row that has bricks.
const TOP: u8 = 1;

#[derive(Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Row and column of the ball, and of where it was.
    ball: [u8; 2],
    last: [u8; 2],
    /// 1 if the ball goes down, and if it goes right.
    down: u8,
    right: u8,
    /// Column of the paddle, which is in the last row.
    paddle: u8,
    /// 1 while the ball is among bricks of which it has hit one.
    strike: u8,
    bricks: [u16; 3],
    zero: u16,
}

const FIELD: [Field<'static>; 1] = [Field::new("", Element::U8, &[SIDE as u32, SIDE as u32, CHANNELS as u32], 0)];

pub(super) const SPEC: Spec<'static> = Spec {
    env_id: 6,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 1000,
    obs: Space { kind: Element::U8, ..Space::unbounded(LEN as u32) }.with_fields(&FIELD),
    action: Space::discrete(&[3]),
    wrappers: 0,
};

impl State {
    /// The row of bricks that a row of the grid is.
    fn row(&mut self, row: u8) -> Option<&mut u16> {
        self.bricks.get_mut(usize::from(row.checked_sub(TOP)?))
    }

    /// Whether there is anything in channel `k` of a pixel.
    fn shows(&self, k: usize, row: u8, column: u8) -> bool {
        match k {
            0 => [row, column] == [LAST, self.paddle],
            1 => [row, column] == self.ball,
            2 => [row, column] == self.last,
            _ => self.clone().row(row).is_some_and(|bricks| *bricks & 1 << column != 0),
        }
    }

    fn observe(&self, obs: ElementsMut<'_>) -> Result {
        let wrong = Error::new(Kind::Shape, "environment obs: elements").needed(LEN);
        let ElementsMut::U8(obs) = obs else { return Err(wrong) };
        if obs.len() != LEN {
            return Err(wrong.given(obs.len()));
        }
        let pixels = (0..=LAST).flat_map(|row| (0..=LAST).map(move |column| (row, column)));
        for (pixel, (row, column)) in obs.chunks_exact_mut(CHANNELS).zip(pixels) {
            for (k, byte) in pixel.iter_mut().enumerate() {
                *byte = if self.shows(k, row, column) { 255 } else { 0 };
            }
        }
        Ok(())
    }

    /// Takes one step: what it earns, and whether the ball is lost.
    fn advance(&mut self, action: i32) -> (f32, bool) {
        self.paddle = match action {
            1 => self.paddle.saturating_sub(1),
            2 => LAST.min(self.paddle.saturating_add(1)),
            _ => self.paddle,
        };
        self.last = self.ball;
        let [row, column] = self.ball;
        let next = |at: u8, forward: u8| if forward != 0 { at.wrapping_add(1) } else { at.wrapping_sub(1) };
        let (mut row, mut column) = (next(row, self.down), next(column, self.right));
        // Left of the grid wraps to 255.
        if column > LAST {
            column = if self.right != 0 { LAST } else { 0 };
            self.right ^= 1;
        }
        let (mut reward, mut lost) = (0.0, false);
        let bit = 1u16.checked_shl(column.into()).unwrap_or(0);
        let struck = self.row(row).is_some_and(|bricks| *bricks & bit != 0);
        let [last_row, last_column] = self.last;
        if row > LAST {
            (row, self.down) = (0, 1);
        } else if struck {
            if self.strike == 0 {
                reward = 1.0;
                self.row(row).into_iter().for_each(|bricks| *bricks &= !bit);
                row = last_row;
                self.down ^= 1;
            }
        } else if row == LAST {
            if self.bricks == [0; 3] {
                self.bricks = [FULL; 3];
            }
            if last_column == self.paddle {
                (row, self.down) = (last_row, 0);
            } else if column == self.paddle {
                (row, self.down) = (last_row, 0);
                self.right ^= 1;
            } else {
                lost = true;
            }
        }
        self.strike = u8::from(struck);
        self.ball = [row, column];
        (reward, lost)
    }
}

impl Env for Breakout {
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    fn reset(&self, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let right = u8::from(rng.uniform_f32() < 0.5);
        let ball = [TOP + 2, if right != 0 { 0 } else { LAST }];
        let s = State { ball, last: ball, down: 1, right, paddle: 4, strike: 0, bricks: [FULL; 3], zero: 0 };
        *view_mut(state)? = s;
        s.observe(obs)
    }

    fn step(&self, state: &mut [u8], _: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        let state: &mut State = view_mut(state)?;
        let (reward, lost) = state.advance(choice(action)?);
        state.observe(obs)?;
        Ok(Step { reward, terminated: lost, ..Step::default() })
    }

    fn render(&self, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let s: &State = view(state)?;
        let side = SIDE as f64;
        let mut canvas = Canvas::new(rgb, width, height, [0.0, 0.0], [side, side]);
        canvas.bar([0.0, 0.0], [side, 0.0], 0.02, BLACK);
        let (bricks, trail, ball, paddle) = ([202, 152, 101], [220, 220, 235], [129, 132, 203], BLACK);
        for (row, column) in (0..=LAST).flat_map(|row| (0..=LAST).map(move |column| (row, column))) {
            for (k, colour) in [(3, bricks), (2, trail), (1, ball), (0, paddle)] {
                if s.shows(k, row, column) {
                    let [left, bottom] = [f64::from(column), side - 1.0 - f64::from(row)];
                    let [right, top] = [left + 0.92, bottom + 0.92];
                    canvas.polygon([[left, bottom], [right, bottom], [right, top], [left, top]], colour);
                }
            }
        }
        Ok(())
    }
}
