//! Hindsight goals: the rows drawn and their frequencies, and the rewards and ends that go with them.

use rlcore::data::relabel::{Judgement, Steps, Strategy, draw, relabel};
use rlcore::error::{Error, Kind};
use rlcore::rng::Rng;

const ALL: [Strategy; 3] = [Strategy::Future, Strategy::Final, Strategy::Episode];

/// The rows that a strategy may choose, as the paper defines them.
fn allowed(strategy: Strategy, step: u32, num_steps: u32) -> Vec<u32> {
    match strategy {
        Strategy::Future => (step + 1..=num_steps).collect(),
        Strategy::Final => vec![num_steps],
        Strategy::Episode => (1..=num_steps).collect(),
    }
}

#[test]
fn every_allowed_row_is_equally_likely() {
    const DRAWS: u32 = 60_000;
    for strategy in ALL {
        for (step, num_steps) in [(0, 1), (0, 5), (3, 5), (4, 5), (2, 7)] {
            let (steps, lens) = (vec![step; DRAWS as usize], vec![num_steps; DRAWS as usize]);
            let mut rows = vec![0; DRAWS as usize];
            draw(strategy, &steps, &lens, &mut Rng::seeded(9), &mut rows).unwrap();
            let allowed = allowed(strategy, step, num_steps);
            let mut counts = vec![0u32; num_steps as usize + 1];
            for row in rows {
                counts[row as usize] += 1;
            }
            let expected = f64::from(DRAWS) / allowed.len() as f64;
            let mut chi = 0.0;
            for (row, count) in (0..).zip(counts) {
                if allowed.contains(&row) {
                    chi += (f64::from(count) - expected).powi(2) / expected;
                } else {
                    assert_eq!(count, 0, "{strategy:?}: row {row} for step {step} of {num_steps}");
                }
            }
            // 27.9 is the 1e-4 quantile for seven rows; with fewer rows it is lower.
            assert!(chi < 27.9, "{strategy:?}, step {step} of {num_steps}: chi-square {chi}");
        }
    }
}

#[test]
fn strategies_have_numbers() {
    let numbers = [0, 1, 2, 3, u32::MAX].map(Strategy::from_number);
    assert_eq!(numbers, [Some(Strategy::Future), Some(Strategy::Final), Some(Strategy::Episode), None, None]);
}

#[test]
fn draws_are_the_streams_bounded_ones() {
    let (steps, lens) = ([0, 4, 2, 6], [7, 5, 9, 8]);
    for strategy in ALL {
        let (mut rng, mut twin) = (Rng::seeded(4), Rng::seeded(4));
        let mut rows = [0; 4];
        draw(strategy, &steps, &lens, &mut rng, &mut rows).unwrap();
        for ((step, len), row) in steps.into_iter().zip(lens).zip(rows) {
            let allowed = allowed(strategy, step, len);
            assert_eq!(row, allowed[twin.bounded(allowed.len() as u64 - 1) as usize]);
        }
        assert_eq!(rng, twin);
    }
}

/// A reach task: done within half a unit of the goal.
fn judge(achieved: &[f32], goal: &[f32]) -> Result<Judgement, Error> {
    let gap: f32 = achieved.iter().zip(goal).map(|(a, g)| (a - g).abs()).sum();
    Ok(Judgement { reward: -gap, terminated: gap < 0.5 })
}

#[test]
fn goals_rewards_and_ends_go_together() {
    let rng = &mut Rng::seeded(2);
    for width in [1, 3, 8] {
        let achieved: Vec<f32> = (0..20 * width).map(|_| (rng.uniform() * 4.0) as f32).collect();
        let row: Vec<u32> = (0..50).map(|_| rng.bounded(19) as u32).collect();
        let goal_row: Vec<u32> = row.iter().map(|r| if r % 3 == 0 { *r } else { rng.bounded(19) as u32 }).collect();
        let (mut goal, mut reward, mut terminated) = (vec![9.0; 50 * width], vec![9.0; 50], vec![9; 50]);
        let steps = Steps { goal_len: width, achieved: &achieved, row: &row, goal_row: &goal_row };
        relabel(&steps, judge, &mut goal, &mut reward, &mut terminated).unwrap();
        for b in 0..50 {
            let at = |row: u32| &achieved[row as usize * width..][..width];
            assert_eq!(&goal[b * width..][..width], at(goal_row[b]));
            let judged = judge(at(row[b]), at(goal_row[b])).unwrap();
            assert_eq!((reward[b], terminated[b]), (judged.reward, u8::from(judged.terminated)));
        }
        assert!(terminated.contains(&1) && terminated.contains(&0));
    }
}

#[test]
fn wrong_input_is_refused() {
    let rng = &mut Rng::seeded(1);
    let before = *rng;
    let mut out = [7u32; 2];
    for (steps, lens, kind) in [
        (&[0u32, 3][..], &[1u32, 3][..], Kind::Range),
        (&[0, 0], &[1, 0], Kind::Range),
        (&[0, u32::MAX], &[1, u32::MAX], Kind::Range),
        (&[0], &[1, 1], Kind::Shape),
        (&[0, 0, 0], &[1, 1, 1], Kind::Shape),
    ] {
        assert_eq!(draw(Strategy::Future, steps, lens, rng, &mut out).unwrap_err().kind, kind);
        assert_eq!((*rng, out), (before, [7; 2]));
    }
    assert_eq!(draw(Strategy::Episode, &[0, u32::MAX - 1], &[1, u32::MAX], rng, &mut out), Ok(()));
    assert_eq!(out[0], 1);

    let achieved = [0.0, 1.0, 2.0, 3.0];
    let good = Steps { goal_len: 2, achieved: &achieved, row: &[0, 1], goal_row: &[1, 1] };
    let nan = [0.0, f32::NAN, 2.0, 3.0];
    let wrong: [(Steps<'_>, Kind); 7] = [
        (Steps { goal_len: 0, ..good }, Kind::Shape),
        (Steps { goal_len: 3, ..good }, Kind::Shape),
        (Steps { goal_len: usize::MAX, achieved: &[], ..good }, Kind::Overflow),
        (Steps { row: &[0], ..good }, Kind::Shape),
        (Steps { row: &[0, 2], ..good }, Kind::Range),
        (Steps { goal_row: &[u32::MAX, 0], ..good }, Kind::Range),
        (Steps { achieved: &nan, ..good }, Kind::Value),
    ];
    let (mut goal, mut reward, mut terminated) = ([9.0; 4], [9.0; 2], [9; 2]);
    for (steps, kind) in wrong {
        let error = relabel(&steps, judge, &mut goal, &mut reward, &mut terminated).unwrap_err();
        assert_eq!((error.kind, goal, reward, terminated), (kind, [9.0; 4], [9.0; 2], [9; 2]), "{error}");
    }
    for (room_goal, room_reward, room_terminated) in [(3, 2, 2), (4, 1, 2), (4, 2, 1)] {
        let (goal, reward) = (&mut goal[..room_goal], &mut reward[..room_reward]);
        let error = relabel(&good, judge, goal, reward, &mut terminated[..room_terminated]).unwrap_err();
        assert_eq!(error.kind, Kind::Shape, "{error}");
    }
    // If a callback fails midway, the steps before it are done.
    let mut calls = 0;
    let mut fails = |_: &[f32], _: &[f32]| {
        calls += 1;
        let reward = if calls == 1 { 1.5 } else { f32::INFINITY };
        Ok(Judgement { reward, terminated: true })
    };
    let error = relabel(&good, &mut fails, &mut goal, &mut reward, &mut terminated).unwrap_err();
    assert_eq!((error.kind, goal, reward, terminated), (Kind::Value, [2.0, 3.0, 9.0, 9.0], [1.5, 9.0], [1, 9]));
}
