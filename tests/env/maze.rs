//! The maze: its rules in every cell, its pictures, the shortest way, and damaged images.

use rlcore::env::{Builtin, Env, Maze, Step};
use rlcore::error::Kind;
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut};

/// The original's map: `+` is a wall, S the start, G the goal.
const MAP: [&str; 7] = ["--+---G", "--+-+++", "S-+---+", "--+++--", "--+-+--", "--+----", "-----++"];
const KINDS: [Maze; 2] = [Maze::Grey, Maze::Colour];

type Cell = (i32, i32);

fn seen_at((x, y): Cell) -> char {
    if (0..7).contains(&x) && (0..7).contains(&y) { MAP[y as usize].as_bytes()[x as usize].into() } else { '+' }
}

fn cells() -> impl Iterator<Item = Cell> {
    (0..49).map(|i| (i % 7, i / 7))
}

/// The cell after an action, its reward, and whether it ends the episode.
fn rule((x, y): Cell, action: i32) -> (Cell, f32, bool) {
    let (dx, dy) = [(0, -1), (0, 1), (-1, 0), (1, 0)][action as usize];
    let to = (x + dx, y + dy);
    match seen_at(to) {
        '+' => ((x, y), -1.0, false),
        'G' => (to, 1.0, true),
        _ => (to, 0.0, false),
    }
}

/// The picture, pixel by pixel.
fn picture(maze: Maze, at: Cell) -> Vec<u8> {
    let side = if maze == Maze::Grey { 42 } else { 84 };
    let pixel = |i: i32| {
        let cell = (i % side / (side / 7), i / side / (side / 7));
        let (wall, agent) = (seen_at(cell) == '+', cell == at);
        match maze {
            Maze::Grey => vec![if agent { 255 } else { 128 * u8::from(wall) }],
            Maze::Colour => vec![255 * u8::from(wall), 255 * u8::from(agent), 0],
        }
    };
    (0..side * side).flat_map(pixel).collect()
}

/// A maze with its agent in a cell, and the picture after its last step.
struct Walk {
    maze: Maze,
    state: u64,
    obs: Vec<u8>,
}

impl Walk {
    fn at(maze: Maze, (x, y): Cell) -> Self {
        let obs = vec![7; maze.spec().obs.len as usize];
        Walk { maze, state: u64::from_ne_bytes([x as u8, y as u8, 0, 0, 0, 0, 0, 0]), obs }
    }

    fn cell(&self) -> Cell {
        let bytes = bytemuck::bytes_of(&self.state);
        (bytes[0].into(), bytes[1].into())
    }

    fn reset(&mut self) {
        let (state, obs) = (bytemuck::bytes_of_mut(&mut self.state), ElementsMut::U8(&mut self.obs));
        self.maze.reset(0, state, &mut Rng::seeded(1), obs).unwrap();
    }

    fn step(&mut self, action: i32) -> Step {
        let (state, obs) = (bytemuck::bytes_of_mut(&mut self.state), ElementsMut::U8(&mut self.obs));
        self.maze.step(0, state, &mut Rng::seeded(1), Elements::I32(&[action]), obs).unwrap()
    }

    fn draw(&self, side: usize) -> Vec<u8> {
        let mut rgb = vec![0; side * side * 3];
        self.maze.render(0, bytemuck::bytes_of(&self.state), side, side, &mut rgb).unwrap();
        rgb
    }
}

#[test]
fn every_step_from_every_cell_obeys_the_rules() {
    for maze in KINDS {
        for from in cells().filter(|cell| seen_at(*cell) != '+') {
            for action in 0..4 {
                let mut walk = Walk::at(maze, from);
                let step = walk.step(action);
                let (to, reward, terminated) = rule(from, action);
                // Only a forged state stands on the goal.
                if seen_at(from) == 'G' && to == from {
                    continue;
                }
                assert_eq!((step.reward, step.terminated, step.truncated), (reward, terminated, false));
                assert_eq!(walk.cell(), to, "{from:?}, action {action}");
                assert!(walk.obs == picture(maze, to), "{maze:?} from {from:?}, action {action}");
            }
        }
    }
}

#[test]
fn an_episode_starts_on_the_left_and_its_shortest_way_takes_twenty_steps() {
    let start = cells().find(|cell| seen_at(*cell) == 'S').unwrap();
    let mut reached = vec![(start, Vec::new())];
    let mut next = 0;
    let way = loop {
        let (at, way): (Cell, Vec<i32>) = reached[next].clone();
        if seen_at(at) == 'G' {
            break way;
        }
        for action in 0..4 {
            let to = rule(at, action).0;
            if reached.iter().all(|(cell, _)| *cell != to) {
                reached.push((to, [&way[..], &[action]].concat()));
            }
        }
        next += 1;
    };
    assert_eq!(way.len(), 20);
    for maze in KINDS {
        let mut walk = Walk::at(maze, (3, 3));
        walk.reset();
        assert!(walk.obs == picture(maze, start));
        let steps: Vec<_> = way.iter().map(|&action| walk.step(action)).collect();
        let (last, before) = steps.split_last().unwrap();
        assert!(last.terminated && last.reward == 1.0);
        assert!(before.iter().all(|step| !step.terminated && step.reward == 0.0));
    }
}

#[test]
fn unknown_actions_stay_and_states_that_lie_harm_nothing() {
    for maze in KINDS {
        for action in [-1, 4, i32::MIN, i32::MAX] {
            let mut walk = Walk::at(maze, (0, 0));
            let step = walk.step(action);
            assert_eq!((step.reward, step.terminated, walk.cell()), (0.0, false, (0, 0)));
        }
        for cell in [(2, 0), (7, 3), (255, 255), (0, 255), (200, 6)] {
            for action in 0..4 {
                let mut walk = Walk::at(maze, cell);
                let step = walk.step(action);
                assert!(step.reward.abs() <= 1.0);
                assert_eq!(walk.draw(9).len(), 243);
            }
        }
    }
}

#[test]
fn observations_of_another_kind_or_length_are_refused() {
    for maze in KINDS {
        let (mut state, mut short) = (0u64, vec![0; maze.spec().obs.len as usize - 1]);
        for obs in [ElementsMut::U8(&mut short), ElementsMut::F32(&mut [0.0])] {
            let refused = maze.reset(0, bytemuck::bytes_of_mut(&mut state), &mut Rng::seeded(1), obs).unwrap_err();
            assert_eq!(refused.kind, Kind::Shape);
        }
        assert!(maze.reset(0, &mut [], &mut Rng::seeded(1), ElementsMut::U8(&mut [0; 1764])).is_err());
    }
}

#[test]
fn the_drawing_shows_walls_the_goal_and_the_agent() {
    let rgb = Walk::at(Maze::Grey, (0, 0)).draw(70);
    let middle =
        |(x, y): Cell| <[u8; 3]>::try_from(&rgb[((y * 10 + 5) * 70 + x * 10 + 5) as usize * 3..][..3]).unwrap();
    for cell in cells() {
        let expected = match (cell, seen_at(cell)) {
            ((0, 0), _) => [202, 152, 101],
            (_, '+') => [90, 90, 100],
            (_, 'G') => [110, 170, 110],
            _ => [255; 3],
        };
        assert_eq!(middle(cell), expected, "{cell:?}");
    }
}

#[test]
fn both_have_names_and_numbers() {
    for (name, id) in [("Maze-42x42x1", 14), ("Maze-84x84x3", 15)] {
        let env = Builtin::from_name(name).unwrap();
        assert_eq!((env.spec().env_id, env.name()), (id, name));
    }
}
