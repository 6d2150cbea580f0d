//! A maze of 7 × 7 cells, observed as an image, with the rewards of miyosuda/unreal
//! (`environment/maze_environment.py`).

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Canvas, Colour};
use super::{Env, Spec, Step, choice, view, view_mut};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field, Space};

/// Observes the maze and the agent, but not the goal. Actions 0 to 3 go up, down, left and right. Walking into a wall
/// or out of the maze has no effect and a reward of -1; the goal earns 1 and terminates. The shortest path takes 20
/// steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maze {
    /// 42 × 42 gray pixels: walls 128, the agent 255.
    #[default]
    Grey,
    /// 84 × 84 pixels of three channels, as in the original: walls are 255 in the first channel, the agent in the
    /// second.
    Colour,
}

const SIDE: usize = 7;
const LAST: u8 = SIDE as u8 - 1;
/// `#` is a wall.
const MAP: [&[u8; SIDE]; SIDE] = [
    b"..#....", // the goal is on the right
    b"..#.###", b"..#...#", // the start is on the left
    b"..###..", b"..#.#..", b"..#....", b".....##",
];
/// Column and row of the start.
const START: [u8; 2] = [0, 2];
const GOAL: [u8; 2] = [6, 0];

const WALL: Colour = [90, 90, 100];
const AGENT: Colour = [202, 152, 101];
const FLAG: Colour = [110, 170, 110];

const GREY: [Field<'static>; 1] = [Field::new("", Element::U8, &[42, 42, 1], 0)];
const COLOURED: [Field<'static>; 1] = [Field::new("", Element::U8, &[84, 84, 3], 0)];

/// Specification of the maze observed as an image of this shape.
const fn spec(env_id: u32, fields: &'static [Field<'static>; 1]) -> Spec<'static> {
    let [rows, columns, channels, _] = fields[0].dims;
    Spec {
        env_id,
        state_size: size_of::<State>() as u32,
        max_episode_steps: 0,
        obs: Space { kind: Element::U8, ..Space::unbounded(rows * columns * channels) }.with_fields(fields),
        action: Space::discrete(&[4]),
        wrappers: 0,
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct State {
    /// Column and row of the agent.
    at: [u8; 2],
    zero: [u8; 6],
}

impl State {
    /// Content of a cell, given by its column and row: the agent, a wall, or nothing.
    fn shown<T>(&self, cell: [u8; 2], agent: T, wall: T, nothing: T) -> T {
        if cell == self.at {
            agent
        } else if is_wall(cell) {
            wall
        } else {
            nothing
        }
    }
}

/// True for walls and outside the maze.
fn is_wall([column, row]: [u8; 2]) -> bool {
    MAP.get(usize::from(row)).and_then(|row| row.get(usize::from(column))) != Some(&b'.')
}

impl Maze {
    /// Specification of the environment as a constant.
    pub(super) const fn constant_spec(&self) -> Spec<'static> {
        match self {
            Maze::Grey => spec(14, &GREY),
            Maze::Colour => spec(15, &COLOURED),
        }
    }

    fn observe(&self, state: &State, obs: ElementsMut<'_>) -> Result {
        let len = self.constant_spec().obs.len as usize;
        let wrong = Error::new(Kind::Shape, "environment obs: elements").needed(len);
        let ElementsMut::U8(obs) = obs else { return Err(wrong) };
        if obs.len() != len {
            return Err(wrong.given(obs.len()));
        }
        match self {
            Maze::Grey => fill(obs, 6, |cell| [state.shown(cell, 255, 128, 0)]),
            Maze::Colour => {
                fill(obs, 12, |cell| [if is_wall(cell) { 255 } else { 0 }, state.shown(cell, 255, 0, 0), 0])
            }
        }
        Ok(())
    }
}

/// Fills an image with cells of `side` × `side` pixels.
fn fill<const C: usize>(picture: &mut [u8], side: usize, pixel: impl Fn([u8; 2]) -> [u8; C]) {
    let pixels = picture.as_chunks_mut::<C>().0;
    for (row, lines) in (0..).zip(pixels.chunks_exact_mut(SIDE * side * side)) {
        for line in lines.chunks_exact_mut(SIDE * side) {
            (0..).zip(line.chunks_exact_mut(side)).for_each(|(column, cell)| cell.fill(pixel([column, row])));
        }
    }
}

impl Env for Maze {
    fn spec(&self) -> Spec<'_> {
        self.constant_spec()
    }

    fn reset(&self, _: usize, state: &mut [u8], _: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let state: &mut State = view_mut(state)?;
        state.at = START;
        self.observe(state, obs)
    }

    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        _: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let state: &mut State = view_mut(state)?;
        let [column, row] = state.at;
        // Coordinates left of the maze and above it wrap to 255, which is outside too.
        let to = match choice(action)? {
            0 => [column, row.wrapping_sub(1)],
            1 => [column, row.wrapping_add(1)],
            2 => [column.wrapping_sub(1), row],
            3 => [column.wrapping_add(1), row],
            _ => state.at,
        };
        let stopped = is_wall(to);
        if !stopped {
            state.at = to;
        }
        self.observe(state, obs)?;
        let terminated = state.at == GOAL;
        let reward = match (terminated, stopped) {
            (true, _) => 1.0,
            (_, true) => -1.0,
            _ => 0.0,
        };
        Ok(Step { reward, terminated, ..Step::default() })
    }

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let state: &State = view(state)?;
        let side = SIDE as f64;
        let mut canvas = Canvas::new(rgb, width, height, [0.0, 0.0], [side, side]);
        canvas.bar([0.0, 0.0], [side, 0.0], 0.02, BLACK);
        for cell in (0..=LAST).flat_map(|row| (0..=LAST).map(move |column| [column, row])) {
            let nothing = if cell == GOAL { Some(FLAG) } else { None };
            if let Some(colour) = state.shown(cell, Some(AGENT), Some(WALL), nothing) {
                let [left, bottom] = [f64::from(cell[0]), side - 1.0 - f64::from(cell[1])];
                let [right, top] = [left + 1.0, bottom + 1.0];
                canvas.polygon([[left, bottom], [right, bottom], [right, top], [left, top]], colour);
            }
        }
        Ok(())
    }
}
