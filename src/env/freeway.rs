//! Freeway on a grid with the rules of MinAtar (Young and Tian 2019), as implemented by gymnax.

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Colour};
use super::grid_game::{GridGame, Picture, walk};
use crate::rng::Rng;

/// A chicken crosses eight lanes of cars. Observes seven channels: chicken, cars, and the trails of cars by speed: a
/// car of speed 1 moves every second step, one of speed 5 every sixth. Action 0 stays, 1 moves up, 2 down; the chicken
/// moves every third step at most. Reaching the first row earns 1, gives each car a new speed and direction, and
/// returns the chicken to the last row; being hit by a car only returns it. Never terminates; truncated after 2500
/// steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Freeway;

const LAST: u8 = 9;
const LANES: usize = 8;
/// Column of the chicken.
const COLUMN: u8 = 4;
const SPEEDS: u8 = 5;
/// Steps between two moves of the chicken.
const WAIT: u8 = 3;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Cars in the rows from the second on.
    cars: [Car; LANES],
    /// Row of the chicken.
    row: u8,
    /// Steps until the chicken may move.
    wait: u8,
    zero: [u8; 6],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Car {
    column: u8,
    /// Steps until the car moves.
    wait: u8,
    /// Steps that the car waits after each move: smaller is faster.
    speed: u8,
    /// 1 if the car moves right.
    right: u8,
}

impl Car {
    /// A car in this column with a random speed and direction.
    fn at(column: u8, rng: &mut Rng) -> Self {
        let speed = 1 + rng.bounded(u64::from(SPEEDS) - 1) as u8;
        Car { column, wait: speed, speed, right: rng.coin().into() }
    }

    /// The next column to the right or left, wrapping around the edges.
    fn beside(&self, right: bool) -> u8 {
        match (right, self.column) {
            (true, LAST..) => 0,
            (true, column) => column + 1,
            (false, column) => column.checked_sub(1).unwrap_or(LAST),
        }
    }
}

impl GridGame for Freeway {
    type State = State;

    const ENV_ID: u32 = 12;
    const MAX_EPISODE_STEPS: u32 = 2500;
    const SHAPE: [u32; 3] = [10, 10, 7];
    const CHOICES: [u32; 1] = [3];
    const COLOURS: &'static [Colour] =
        &[[230, 180, 40], BLACK, [205, 60, 60], [215, 110, 110], [225, 150, 150], [235, 190, 190], [245, 225, 225]];

    fn start(rng: &mut Rng) -> State {
        State { cars: [(); LANES].map(|()| Car::at(0, rng)), row: LAST, wait: WAIT, zero: [0; 6] }
    }

    fn advance(s: &mut State, action: i32, rng: &mut Rng) -> (f32, bool) {
        if s.wait == 0 && (action == 1 || action == 2) {
            s.row = walk(s.row, action == 2, 0, LAST);
            s.wait = WAIT;
        }
        let arrived = s.row == 0;
        if arrived {
            s.row = LAST;
            s.cars = s.cars.map(|car| Car::at(car.column, rng));
        }
        for (row, car) in (1..).zip(&mut s.cars) {
            let mut hit = car.column == COLUMN;
            if car.wait == 0 {
                car.column = car.beside(car.right != 0);
                car.wait = car.speed;
                hit |= car.column == COLUMN;
            } else {
                car.wait -= 1;
            }
            if hit && row == s.row {
                s.row = LAST;
            }
        }
        s.wait = s.wait.saturating_sub(1);
        (f32::from(u8::from(arrived)), false)
    }

    fn show(s: &State, picture: &mut Picture<'_>) {
        picture.set(0, s.row, COLUMN);
        for (row, car) in (1..).zip(&s.cars) {
            picture.set(1, row, car.column);
            picture.set(1 + usize::from(car.speed), row, car.beside(car.right == 0));
        }
    }
}
