//! Asterix on a grid with the rules of MinAtar (Young and Tian 2019), as implemented by gymnax.
//!
//! When all eight lanes are occupied, MinAtar adds no entity and gymnax removes one; here none is added or removed.

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Colour};
use super::grid_game::{GridGame, Picture, walk};
use crate::rng::Rng;

/// Enemies and gold cross the eight rows between the first and the last, more often and faster over time. Observes four
/// channels: player, enemies, the trails of enemies and gold, and gold. Action 0 stays, 1 moves left, 2 up, 3 right, 4
/// down. Gold earns 1. Terminates when the player meets an enemy; 1000 steps at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asterix;

const LAST: u8 = 9;
const LANES: usize = 8;
/// Initial value of the difficulty timer.
const RAMP_INTERVAL: u8 = 101;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Row and column of the player.
    player: [u8; 2],
    /// Steps between two new entities, and steps until the next one.
    spawn_interval: u8,
    spawn_timer: u8,
    /// Steps between two moves of the entities, and steps until the next one.
    move_interval: u8,
    move_timer: u8,
    /// Steps until the difficulty increases, and the number of increases so far.
    ramp_timer: u8,
    ramp_index: u8,
    /// Entities in the rows from the second on.
    lanes: [Entity; LANES],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Entity {
    kind: u8,
    column: u8,
    /// 1 if the entity moves right.
    right: u8,
    zero: u8,
}

/// Kinds of entities; 0 is none.
const ENEMY: u8 = 1;
const GOLD: u8 = 2;

const EMPTY: Entity = Entity { kind: 0, column: 0, right: 0, zero: 0 };

impl Entity {
    /// The next column to the right or left. Left of the grid wraps to 255.
    fn beside(&self, right: bool) -> u8 {
        if right { self.column.wrapping_add(1) } else { self.column.wrapping_sub(1) }
    }
}

impl State {
    /// Adds an enemy, or gold with a probability of 1/3, on either side of a free row.
    fn spawn(&mut self, rng: &mut Rng) {
        let free = || self.lanes.iter().filter(|entity| entity.kind == 0);
        let Some(others) = free().count().checked_sub(1) else { return };
        let (right, gold) = (rng.coin(), rng.bounded(2) == 0);
        let nth = rng.bounded(others as u64) as usize;
        let (kind, column) = (if gold { GOLD } else { ENEMY }, if right { 0 } else { LAST });
        let entity = Entity { kind, column, right: right.into(), zero: 0 };
        self.lanes.iter_mut().filter(|entity| entity.kind == 0).nth(nth).into_iter().for_each(|lane| *lane = entity);
    }

    /// Reward for the entity in the player's cell, and whether the entity is an enemy.
    fn meet(&mut self) -> (f32, bool) {
        let [row, column] = self.player;
        let lane = row.checked_sub(1).and_then(|lane| self.lanes.get_mut(usize::from(lane)));
        match lane {
            Some(entity) if entity.kind != 0 && entity.column == column => {
                if entity.kind != GOLD {
                    return (0.0, true);
                }
                *entity = EMPTY;
                (1.0, false)
            }
            _ => (0.0, false),
        }
    }

    fn move_entities(&mut self) {
        for entity in self.lanes.iter_mut().filter(|entity| entity.kind != 0) {
            entity.column = entity.beside(entity.right != 0);
            if entity.column > LAST {
                *entity = EMPTY;
            }
        }
    }

    fn ramp(&mut self) {
        if self.spawn_interval <= 1 && self.move_interval <= 1 {
            return;
        }
        if self.ramp_timer > 0 {
            self.ramp_timer -= 1;
            return;
        }
        self.ramp_timer = RAMP_INTERVAL;
        self.move_interval -= u8::from(self.move_interval > 1 && self.ramp_index & 1 == 1);
        self.spawn_interval -= u8::from(self.spawn_interval > 1);
        self.ramp_index = self.ramp_index.wrapping_add(1);
    }
}

impl GridGame for Asterix {
    type State = State;

    const ENV_ID: u32 = 11;
    const MAX_EPISODE_STEPS: u32 = 1000;
    const SHAPE: [u32; 3] = [10, 10, 4];
    const CHOICES: [u32; 1] = [5];
    const COLOURS: &'static [Colour] = &[BLACK, [205, 60, 60], [220, 220, 235], [230, 180, 40]];

    fn start(_: &mut Rng) -> State {
        State {
            player: [5, 5],
            spawn_interval: 10,
            spawn_timer: 10,
            move_interval: 5,
            move_timer: 5,
            ramp_timer: RAMP_INTERVAL,
            ramp_index: 0,
            lanes: [EMPTY; LANES],
        }
    }

    fn advance(s: &mut State, action: i32, rng: &mut Rng) -> (f32, bool) {
        if s.spawn_timer == 0 {
            s.spawn(rng);
            s.spawn_timer = s.spawn_interval;
        }
        let [row, column] = s.player;
        s.player = match action {
            1 | 3 => [row, walk(column, action == 3, 0, LAST)],
            2 | 4 => [walk(row, action == 4, 1, LAST - 1), column],
            _ => s.player,
        };
        let (mut reward, mut over) = s.meet();
        if s.move_timer == 0 {
            s.move_timer = s.move_interval;
            s.move_entities();
            let (more, met) = s.meet();
            (reward, over) = (reward + more, over | met);
        }
        s.spawn_timer = s.spawn_timer.saturating_sub(1);
        s.move_timer = s.move_timer.saturating_sub(1);
        s.ramp();
        (reward, over)
    }

    fn show(s: &State, picture: &mut Picture<'_>) {
        let [row, column] = s.player;
        picture.set(0, row, column);
        for (row, entity) in (1..).zip(&s.lanes).filter(|(_, entity)| entity.kind != 0) {
            picture.set(if entity.kind == GOLD { 3 } else { 1 }, row, entity.column);
            picture.set(2, row, entity.beside(entity.right == 0));
        }
    }
}
