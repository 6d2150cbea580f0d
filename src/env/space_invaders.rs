//! Space Invaders on a grid with the rules of MinAtar (Young and Tian 2019), as implemented by gymnax 1.0.1.

use bytemuck::{Pod, Zeroable};

use super::draw::{BLACK, Colour};
use super::grid_game::{GridGame, Picture, walk};
use crate::rng::Rng;

/// Aliens march sideways and go down a row at each edge, faster the fewer they are; the alien nearest to the cannon
/// shoots. Observes six channels: cannon, aliens, aliens if they move left, aliens if they move right, bullets of the
/// cannon, and bullets of the aliens. Action 0 stays, 1 moves left, 2 right, 3 fires, at most every fifth step. Each
/// alien hit earns 1; a faster wave of 24 follows the last one. Terminates when a bullet or an alien hits the cannon,
/// or when aliens move below the last row; 1000 steps at most. The game is deterministic.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpaceInvaders;

const SIDE: usize = 10;
const LAST: u8 = SIDE as u8 - 1;
/// Bits of the first and of the last column.
const LEFT: u16 = 1;
const RIGHT: u16 = 1 << LAST;
const ALL: u16 = (1 << SIDE) - 1;
/// A row of aliens: columns 2 to 7.
const WAVE: u16 = 0b00_1111_1100;
/// Steps between two shots of the cannon, and of the aliens.
const SHOT_INTERVAL: u8 = 5;
const ALIEN_SHOT_INTERVAL: u8 = 10;
/// Maximum steps between two moves of the first wave, and of the last ones.
const FIRST_INTERVAL: u8 = 12;
const LAST_INTERVAL: u8 = 6;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Rows from the top, with one bit per column.
    aliens: [u16; SIDE],
    bullets: [u16; SIDE],
    alien_bullets: [u16; SIDE],
    /// Column of the cannon.
    cannon: u8,
    /// 1 if the aliens move right.
    right: u8,
    /// Maximum steps between two moves of the aliens.
    move_interval: u8,
    /// Steps until each event may happen.
    move_timer: u8,
    alien_shot_timer: u8,
    shot_timer: u8,
    zero: [u8; 6],
}

/// Moves rows by one in the given order: the first becomes `row`. Returns the last.
fn shift<'a>(rows: impl Iterator<Item = &'a mut u16>, row: u16) -> u16 {
    rows.fold(row, |row, next| core::mem::replace(next, row))
}

fn last_row(&[.., row]: &[u16; SIDE]) -> u16 {
    row
}

impl State {
    /// The bit of the cannon's column.
    fn cannon(&self) -> u16 {
        1u16.checked_shl(self.cannon.into()).unwrap_or(0)
    }

    /// Moves the aliens sideways; at an edge they turn and go down a row. Returns true if aliens left the last row,
    /// which reappear at the top.
    fn march(&mut self) -> bool {
        let edge = if self.right != 0 { RIGHT } else { LEFT };
        if self.aliens.iter().all(|row| row & edge == 0) {
            let right = self.right != 0;
            self.aliens = self.aliens.map(|row| if right { row << 1 } else { row >> 1 } & ALL);
            return false;
        }
        self.right = u8::from(self.right == 0);
        let below = last_row(&self.aliens);
        shift(self.aliens.iter_mut(), below);
        below != 0
    }

    /// The lowest alien of the column nearest to the cannon shoots; of two columns, the left one.
    fn shoot_back(&mut self) {
        let any = self.aliens.iter().fold(0, |any, row| any | row);
        let columns = (0..=LAST).filter(|column| any >> column & 1 != 0);
        let Some(column) = columns.min_by_key(|column| column.abs_diff(self.cannon)) else { return };
        let lowest =
            self.aliens.iter().rev().zip(self.alien_bullets.iter_mut().rev()).find(|(row, _)| *row >> column & 1 != 0);
        lowest.into_iter().for_each(|(_, bullets)| *bullets |= 1 << column);
    }

    /// Removes the aliens that are hit and the bullets that hit them. Returns the number of hits.
    fn hits(&mut self) -> u32 {
        self.aliens.iter_mut().zip(&mut self.bullets).fold(0, |sum, (aliens, bullets)| {
            let both = *aliens & *bullets;
            (*aliens, *bullets) = (*aliens ^ both, *bullets ^ both);
            sum + both.count_ones()
        })
    }
}

impl GridGame for SpaceInvaders {
    type State = State;

    const ENV_ID: u32 = 13;
    const MAX_EPISODE_STEPS: u32 = 1000;
    const SHAPE: [u32; 3] = [10, 10, 6];
    const CHOICES: [u32; 1] = [4];
    const COLOURS: &'static [Colour] =
        &[BLACK, [60, 150, 90], [60, 150, 90], [60, 150, 90], [129, 132, 203], [205, 60, 60]];

    fn start(_: &mut Rng) -> State {
        State {
            aliens: [WAVE, WAVE, WAVE, WAVE, 0, 0, 0, 0, 0, 0],
            bullets: [0; SIDE],
            alien_bullets: [0; SIDE],
            cannon: 5,
            right: 0,
            move_interval: FIRST_INTERVAL,
            move_timer: FIRST_INTERVAL,
            alien_shot_timer: ALIEN_SHOT_INTERVAL,
            shot_timer: 0,
            zero: [0; 6],
        }
    }

    fn advance(s: &mut State, action: i32, rng: &mut Rng) -> (f32, bool) {
        let fired = if action == 3 && s.shot_timer == 0 { s.cannon() } else { 0 };
        if fired != 0 {
            s.shot_timer = SHOT_INTERVAL;
        }
        if action == 1 || action == 2 {
            s.cannon = walk(s.cannon, action == 2, 0, LAST);
        }
        // A bullet leaves the last row in the step in which it is fired.
        let [rows @ .., last] = &mut s.bullets;
        shift(rows.iter_mut().rev(), core::mem::take(last) | fired);
        shift(s.alien_bullets.iter_mut(), 0);
        let mut dangers = last_row(&s.alien_bullets) | last_row(&s.aliens);
        let mut over = false;
        if s.move_timer == 0 {
            let count: u32 = s.aliens.iter().map(|row| row.count_ones()).sum();
            s.move_timer = s.move_interval.min(count as u8);
            over = s.march();
            dangers |= last_row(&s.aliens);
        }
        over |= dangers & s.cannon() != 0;
        if s.alien_shot_timer == 0 {
            s.alien_shot_timer = ALIEN_SHOT_INTERVAL;
            s.shoot_back();
        }
        let hits = s.hits();
        s.shot_timer = s.shot_timer.saturating_sub(1);
        s.move_timer = s.move_timer.saturating_sub(1);
        s.alien_shot_timer = s.alien_shot_timer.saturating_sub(1);
        if s.aliens == [0; SIDE] {
            s.move_interval -= u8::from(s.move_interval > LAST_INTERVAL);
            s.aliens = Self::start(rng).aliens;
        }
        (hits as f32, over)
    }

    fn show(s: &State, picture: &mut Picture<'_>) {
        picture.set(0, LAST, s.cannon);
        for (channel, rows) in
            [(1, &s.aliens), (if s.right != 0 { 3 } else { 2 }, &s.aliens), (4, &s.bullets), (5, &s.alien_bullets)]
        {
            picture.set_rows(channel, 0, rows);
        }
    }
}
