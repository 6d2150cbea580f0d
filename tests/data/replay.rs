//! The replay memory against lists of all rows ever added.

use proptest::prelude::*;
use rlcore::data::replay::{
    Added, Draw, MAX_EPSILON, Normalize, Replay, ReplayConfig, Spans, State, Step, Transitions, View, linear, spans,
};
use rlcore::data::table::{Column, FrameIndex, MAX_COLUMNS};
use rlcore::error::{Kind, Result};
use rlcore::kernels::stack::Layout;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

use super::blocks::{bytes, forged, kind};

/// The block of a memory without rows.
fn block(config: &ReplayConfig) -> Vec<u64> {
    let mut block = vec![0; Replay::size(config).unwrap() / 8];
    Replay::init(bytes(&mut block), config).unwrap();
    block
}

fn open(words: &mut [u64]) -> Replay<'_> {
    Replay::attach(bytes(words)).unwrap()
}

/// A memory whose rows hold one number.
fn numbers(num_envs: u32, num_rows: u32) -> ReplayConfig {
    ReplayConfig::new(num_envs, num_rows, &[Column::new("obs", Element::F32, 1)])
}

/// Adds rows with these numbers to an environment.
fn add_numbers(replay: &mut Replay<'_>, env: usize, numbers: std::ops::Range<u32>) {
    for number in numbers {
        replay.add(env, &[Elements::F32(&[number as f32])], &Step::default(), None).unwrap();
    }
}

/// A number, an image of two bytes in stacks of k, and an action.
fn columns(k: u32) -> [Column; 3] {
    [Column::new("obs", Element::F32, 1), Column::frames("image", 2, 1, k), Column::new("action", Element::I32, 1)]
}

struct Row {
    obs: f32,
    image: [u8; 2],
    reward: f32,
    terminated: bool,
    truncated: bool,
    tail: bool,
    /// Number of the first row of its episode.
    first: usize,
    weight: f32,
}

/// All rows that one environment ever added.
#[derive(Default)]
struct Twin {
    rows: Vec<Row>,
}

impl Twin {
    /// Steps of the transition that starts at this row, if it may be drawn.
    fn steps(&self, c: &ReplayConfig, t: usize) -> Option<usize> {
        let n = c.num_steps as usize;
        let row = self.rows.get(t).filter(|row| !row.tail)?;
        let end = self.rows.iter().skip(t).position(|row| row.tail).map_or(n, |tail| tail.min(n));
        let oldest = row.first.max((t + 1).saturating_sub(c.table.max_stack()));
        (t + end < self.rows.len() && oldest + c.table.num_rows as usize >= self.rows.len()).then_some(end)
    }

    fn fold(&self, c: &ReplayConfig, t: usize, k: usize) -> (f32, f32) {
        let sum: f64 = (0..k).map(|i| f64::from(c.discount).powi(i as i32) * f64::from(self.rows[t + i].reward)).sum();
        let terminated = self.rows[t + k - 1].terminated;
        (sum as f32, if terminated { 0.0 } else { f64::from(c.discount).powi(k as i32) as f32 })
    }

    fn stack(&self, c: &ReplayConfig, t: usize) -> Vec<u8> {
        let (k, first) = (c.table.max_stack(), self.rows[t].first);
        let frames: Vec<[u8; 2]> = (0..k).map(|j| self.rows[(t + j).saturating_sub(k - 1).max(first)].image).collect();
        (0..2).flat_map(|pixel| frames.iter().map(move |frame| frame[pixel])).collect()
    }
}

fn near(a: f32, b: f32) -> bool {
    (a - b).abs() <= 2e-6 * b.abs().max(1e-6)
}

fn compare(c: &ReplayConfig, view: View<'_>, twins: &[Twin]) {
    let num_rows = c.table.num_rows as usize;
    let (mut good, mut k_of) = (Vec::new(), Vec::new());
    for (env, twin) in twins.iter().enumerate() {
        for t in 0..twin.rows.len() {
            let index = FrameIndex::new(env as u32, t as u64);
            let held = t + num_rows >= twin.rows.len();
            let weight = if held { view.tree().weight(env * num_rows + t % num_rows) } else { 0.0 };
            match twin.steps(c, t) {
                Some(k) => {
                    assert!(near(weight, twin.rows[t].weight), "row {t}: {weight} for {}", twin.rows[t].weight);
                    good.push(index);
                    k_of.push(k);
                }
                None => {
                    assert_eq!(weight, 0.0, "row {t} of {}", twin.rows.len());
                    assert_eq!(view.check(&[index]).unwrap_err().kind, Kind::Range);
                }
            }
        }
        let beyond = FrameIndex::new(env as u32, twin.rows.len() as u64);
        assert_eq!(view.check(&[beyond]).unwrap_err().kind, Kind::Range);
    }
    assert_eq!(view.len(), good.len() as u64);
    let b = good.len();
    let (mut reward, mut discount) = (vec![9.0; b], vec![9.0; b]);
    let (mut terminated, mut truncated) = (vec![9; b], vec![9; b]);
    let out = Transitions {
        reward: Some(&mut reward),
        discount: Some(&mut discount),
        terminated: Some(&mut terminated),
        truncated: Some(&mut truncated),
    };
    view.transitions(&good, out).unwrap();
    let (mut obs, mut next_obs, mut action) = (vec![9.0; b], vec![9.0; b], vec![9; b]);
    view.gather(0, &good, Layout::Hwc, ElementsMut::F32(&mut obs)).unwrap();
    view.gather_next(0, &good, Layout::Hwc, ElementsMut::F32(&mut next_obs)).unwrap();
    view.gather(2, &good, Layout::Hwc, ElementsMut::I32(&mut action)).unwrap();
    let stack = 2 * c.table.max_stack();
    let (mut image, mut next_image) = (vec![9; b * stack], vec![9; b * stack]);
    view.gather(1, &good, Layout::Hwc, ElementsMut::U8(&mut image)).unwrap();
    view.gather_next(1, &good, Layout::Hwc, ElementsMut::U8(&mut next_image)).unwrap();
    for (i, (index, &k)) in good.iter().zip(&k_of).enumerate() {
        let (twin, t) = (&twins[index.env as usize], index.number as usize);
        let (sum, of_value) = twin.fold(c, t, k);
        assert!(near(reward[i], sum) && near(discount[i], of_value), "row {t} over {k}: {} {}", reward[i], discount[i]);
        let last = &twin.rows[t + k - 1];
        assert_eq!((terminated[i] != 0, truncated[i] != 0), (last.terminated, last.truncated));
        assert_eq!((obs[i], next_obs[i], action[i]), (twin.rows[t].obs, twin.rows[t + k].obs, t as i32));
        assert_eq!(image[i * stack..][..stack], twin.stack(c, t));
        assert_eq!(next_image[i * stack..][..stack], twin.stack(c, t + k));
    }
}

/// One step of an environment, added both to the memory and to its twin.
struct Step1 {
    obs: [f32; 2],
    image: [[u8; 2]; 2],
    action: [i32; 1],
    step: Step,
}

impl Step1 {
    fn random(rng: &mut Rng) -> Step1 {
        let end = rng.bounded(9);
        let step = Step { reward: rng.uniform_f32() - 0.5, terminated: end == 0, truncated: end <= 1 && rng.coin() };
        let image = [(); 2].map(|()| [rng.next_u32() as u8, rng.next_u32() as u8]);
        Step1 { obs: [rng.uniform_f32(), rng.uniform_f32()], image, action: [0], step }
    }

    fn row(&self, which: usize) -> [Elements<'_>; 3] {
        [Elements::F32(&self.obs[which..which + 1]), Elements::U8(&self.image[which]), Elements::I32(&self.action)]
    }

    fn added(&self) -> Added<'_> {
        let full = |which: usize| {
            let mut row = [Elements::U8(&[]); MAX_COLUMNS];
            row[..3].copy_from_slice(&self.row(which));
            row
        };
        Added { row: full(0), step: self.step, tail: Some(full(1)) }
    }

    fn to(&self, twin: &mut Twin, weight: f32) {
        let t = twin.rows.len();
        let first = twin.rows.last().map_or(0, |last| if last.tail { t } else { last.first });
        let Step { reward, terminated, truncated } = self.step;
        let (obs, image) = (self.obs[0], self.image[0]);
        twin.rows.push(Row { obs, image, reward, terminated, truncated, tail: false, first, weight });
        if terminated || truncated {
            let (obs, image) = (self.obs[1], self.image[1]);
            let (terminated, truncated) = (false, false);
            twin.rows.push(Row { obs, image, reward: 0.0, terminated, truncated, tail: true, first, weight: 0.0 });
        }
    }
}

/// The host has reset the environment: the outcome of its last step is unknown.
fn cut(twin: &mut Twin) {
    let Some(last) = twin.rows.last_mut().filter(|last| !last.tail) else { return };
    (last.tail, last.reward) = (true, 0.0);
    let before = twin.rows.len().checked_sub(2).map(|at| &mut twin.rows[at]);
    if let Some(before) = before.filter(|before| !before.tail) {
        before.truncated = true;
    }
}

/// Adds a step of every environment, of which some are then reset by the host. New transitions get this weight.
fn add_steps(replay: &mut Replay<'_>, twins: &mut [Twin], rng: &mut Rng, weight: f32) {
    let config = *replay.config();
    let drawable = |x: &Twin| (0..x.rows.len()).map(|t| x.steps(&config, t).is_some()).collect::<Vec<bool>>();
    let mut steps: Vec<Step1> = twins.iter().map(|_| Step1::random(rng)).collect();
    for (step, twin) in steps.iter_mut().zip(&*twins) {
        step.action = [twin.rows.len() as i32];
    }
    if rng.coin() {
        replay.add_all(|env| steps[env].added()).unwrap();
    } else {
        for (env, step) in steps.iter().enumerate() {
            let number = replay.add(env, &step.row(0), &step.step, Some(&step.row(1))).unwrap();
            assert_eq!(number, twins[env].rows.len() as u64);
        }
    }
    let gone: Vec<u8> = twins.iter().map(|_| u8::from(rng.bounded(5) == 0) * 7).collect();
    replay.cut_rows(&gone).unwrap();
    for ((step, twin), gone) in steps.iter().zip(twins).zip(&gone) {
        let before = drawable(twin);
        step.to(twin, 0.0);
        if *gone != 0 {
            cut(twin);
        }
        for (t, is_drawable) in drawable(twin).into_iter().enumerate() {
            if is_drawable && before.get(t) != Some(&true) {
                twin.rows[t].weight = weight;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn knows_what_a_list_of_everything_knows(
        num_envs in 1u32..4, num_steps in 1u32..5, k in 1u32..4, more in 0u32..9, seed in any::<u64>(),
    ) {
        let mut config = ReplayConfig::new(num_envs, num_steps + k + more, &columns(k));
        (config.num_steps, config.observations, config.epsilon) = (num_steps, 0b11, 0.01);
        let mut words = block(&config);
        let mut replay = open(&mut words);
        let mut twins: Vec<Twin> = (0..num_envs).map(|_| Twin::default()).collect();
        let rng = &mut Rng::seeded(seed);
        let (mut most, mut alpha) = (1.0f64, f64::from(config.alpha));
        let mut old = Vec::new();
        for round in 0..60 {
            add_steps(&mut replay, &mut twins, rng, most.powf(alpha) as f32);
            compare(&config, replay.view(), &twins);
            if replay.view().is_empty() {
                continue;
            }
            let mut index = vec![FrameIndex::new(0, 0); 7];
            let mut weight = vec![0.0; 7];
            replay.view().sample(&Draw::default(), rng, &mut index, &mut weight, None).unwrap();
            index.extend_from_slice(&old);
            let priority: Vec<f32> = index.iter().map(|_| 4.0 * rng.uniform_f32()).collect();
            let mut forgotten = 0;
            for (index, &priority) in index.iter().zip(&priority) {
                let with = f64::from(priority + config.epsilon);
                let (twin, t) = (&mut twins[index.env as usize], index.number as usize);
                if twin.steps(&config, t).is_some() {
                    twin.rows[t].weight = with.powf(alpha) as f32;
                    most = most.max(with);
                } else {
                    forgotten += 1;
                }
            }
            assert_eq!(replay.update(&index, &priority).unwrap(), forgotten);
            old = index[..3].to_vec();
            if round % 7 == 3 {
                alpha = [0.0, 0.5, 1.0][rng.bounded(2) as usize];
                replay.set_alpha(alpha as f32).unwrap();
            }
            compare(&config, replay.view(), &twins);
        }
        prop_assert_eq!(replay.cut_rows(&[0; 9]).unwrap_err().kind, Kind::Shape);
        let mut copy = words.clone();
        let again = open(&mut copy);
        compare(&config, again.view(), &twins);
        prop_assert!(copy == words);
    }
}

/// A memory of one environment with these weights: one number per row, alpha 1 and a negligible epsilon.
fn with_weights(words: &mut Vec<u64>, weights: &[f32]) -> ReplayConfig {
    let mut config = numbers(1, weights.len() as u32 + 1);
    (config.alpha, config.epsilon) = (1.0, f32::MIN_POSITIVE);
    *words = block(&config);
    let mut replay = open(words);
    for i in 0..=weights.len() {
        replay.add(0, &[Elements::F32(&[i as f32])], &Step::default(), None).unwrap();
    }
    let index: Vec<FrameIndex> = (0..weights.len()).map(|i| FrameIndex::new(0, i as u64)).collect();
    replay.update(&index, weights).unwrap();
    config
}

#[test]
fn corrections_are_those_of_the_paper() {
    let weights = [4.0, 0.5, 1.0, 2.5];
    let mut words = Vec::new();
    with_weights(&mut words, &weights);
    let view = View::open(bytes(&mut words)).unwrap();
    let (mut index, mut weight) = ([FrameIndex::new(0, 0); 64], [0.0; 64]);
    for (beta, normalize) in
        [(0.4, Normalize::Memory), (1.0, Normalize::Batch), (0.7, Normalize::Not), (0.0, Normalize::Not)]
    {
        let draw = Draw { beta, normalize, independent: false };
        let (rng, mut probability) = (&mut Rng::seeded(4), [0.0; 64]);
        view.sample(&draw, rng, &mut index, &mut weight, Some(&mut probability)).unwrap();
        let plain = |i: u64| (4.0 * f64::from(weights[i as usize]) / 8.0).powf(-f64::from(beta));
        let largest = match normalize {
            Normalize::Memory => plain(1),
            Normalize::Batch => index.iter().map(|index| plain(index.number)).fold(0.0, f64::max),
            Normalize::Not => 1.0,
        };
        for ((index, weight), probability) in index.iter().zip(weight).zip(probability) {
            assert_eq!(probability, weights[index.number as usize] / 8.0);
            assert!((f64::from(weight) / (plain(index.number) / largest) - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn strata_are_drawn_from_once_each() {
    let mut words = Vec::new();
    with_weights(&mut words, &[1.0; 16]);
    let view = View::open(bytes(&mut words)).unwrap();
    let (mut index, mut weight) = ([FrameIndex::new(0, 0); 16], [0.0; 16]);
    let mut repeated = 0;
    for seed in 0..50 {
        for independent in [false, true] {
            let draw = Draw { independent, ..Draw::default() };
            view.sample(&draw, &mut Rng::seeded(seed), &mut index, &mut weight, None).unwrap();
            let mut numbers = index.map(|index| index.number);
            numbers.sort_unstable();
            let each_once = numbers.iter().copied().eq(0..16);
            assert!(independent || each_once, "{numbers:?}");
            repeated += u32::from(independent && !each_once);
        }
    }
    assert!(repeated > 45);
}

#[test]
fn frequencies_follow_weights_both_ways() {
    let mut words = Vec::new();
    let weights: Vec<f32> = (0..500).map(|i| 0.1 + (i * 37 % 101) as f32).collect();
    with_weights(&mut words, &weights);
    let view = View::open(bytes(&mut words)).unwrap();
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    for independent in [false, true] {
        let (rng, mut drawn) = (&mut Rng::seeded(8), vec![0.0; weights.len()]);
        let (mut index, mut weight) = ([FrameIndex::new(0, 0); 64], [0.0; 64]);
        const DRAWS: usize = 40_000;
        for _ in 0..DRAWS {
            let draw = Draw { independent, ..Draw::default() };
            view.sample(&draw, rng, &mut index, &mut weight, None).unwrap();
            index.iter().for_each(|index| drawn[index.number as usize] += 1.0);
        }
        let chi: f64 = drawn
            .iter()
            .zip(&weights)
            .map(|(drawn, &weight)| {
                let expected = f64::from(weight) / total * (64 * DRAWS) as f64;
                (drawn - expected) * (drawn - expected) / expected
            })
            .sum();
        // 499 degrees of freedom; strata can only make the counts more even.
        let low = if independent { 380.0 } else { 0.0 };
        assert!((low..640.0).contains(&chi), "chi-square {chi}");
    }
}

#[test]
fn schedules_are_straight_lines() {
    assert_eq!([0.0, 0.5, 1.0].map(|at| linear(0.4, 1.0, at).unwrap()), [0.4, 0.7, 1.0]);
    assert_eq!(linear(0.4, 1.0, 1.5).unwrap_err().to_string(), "replay: a progress from 0 to 1, given 1.5");
    assert_eq!(linear(0.4, 1.0, f32::NAN).unwrap_err().kind, Kind::Range);
    assert_eq!(linear(f32::NAN, 1.0, 0.5).unwrap_err().kind, Kind::Value);
}

#[test]
fn refuses_by_name_and_writes_nothing() {
    let mut words = Vec::new();
    with_weights(&mut words, &[1.0, 2.0, 3.0]);
    let before = words.clone();
    let mut replay = open(&mut words);
    let row = [Elements::F32(&[1.0])];
    let step = |reward: f32, terminated: bool| Step { reward, terminated, truncated: false };
    let said = |result: Result<u64>| result.unwrap_err().to_string();
    assert_eq!(said(replay.add(1, &row, &step(0.0, false), None)), "replay: an environment below 1, given 1");
    assert_eq!(said(replay.add(0, &row, &step(f32::NAN, false), None)), "replay: a finite reward, given NaN in row 0");
    let words_said = "replay: a last observation where an episode ended; violated by environment 0";
    assert_eq!(said(replay.add(0, &row, &step(0.0, true), None)), words_said);
    let pair = [Elements::F32(&[1.0, 2.0])];
    let wide = said(replay.add(0, &pair, &step(0.0, false), None));
    assert_eq!(wide, "table: elements of a row in each column, 1, given 2");
    assert!(said(replay.add(0, &row, &step(0.0, true), Some(&pair))).starts_with("table: elements of a row"));
    let ints = [Elements::I32(&[1])];
    assert!(said(replay.add(0, &ints, &step(0.0, false), None)).contains("violated by column 0"));
    let at = |number: u64| FrameIndex::new(0, number);
    assert_eq!(said(replay.update(&[at(0), at(1)], &[1.0, -1.0])), "replay: a priority of at least 0, given -1");
    assert_eq!(said(replay.update(&[at(0)], &[f32::NAN])), "replay: a finite priority, given NaN");
    assert_eq!(said(replay.update(&[at(0)], &[f32::INFINITY])), "replay: a finite priority, given inf");
    assert_eq!(said(replay.update(&[at(0)], &[])), "replay: as many priorities as transitions, 1, given 0");
    let never = "replay: a row that is a transition; violated by number 3";
    assert_eq!(said(replay.update(&[at(0), at(3)], &[1.0, 1.0])), never);
    assert_eq!(said(replay.update(&[at(4)], &[1.0])), "replay: a row that was added, of a number below 4, given 4");
    assert_eq!(said(replay.update(&[FrameIndex::new(1, 0)], &[1.0])), "replay: an environment below 1, given 1");
    assert_eq!(replay.set_alpha(1.5).unwrap_err().to_string(), "replay: alpha from 0 to 1, given 1.5");
    assert_eq!(replay.set_alpha(f32::NAN).unwrap_err().kind, Kind::Range);
    let rng = &mut Rng::seeded(1);
    let (mut index, mut weight) = ([at(9); 2], [9.0; 2]);
    for (beta, kind) in [(-0.5, Kind::Range), (f32::NAN, Kind::Value), (f32::INFINITY, Kind::Value)] {
        let draw = Draw { beta, ..Draw::default() };
        assert_eq!(replay.view().sample(&draw, rng, &mut index, &mut weight, None).unwrap_err().kind, kind);
    }
    let draw = Draw::default();
    assert!(replay.view().sample(&draw, rng, &mut index, &mut weight[..1], None).is_err());
    assert!(replay.view().sample(&draw, rng, &mut index, &mut weight, Some(&mut [0.0])).is_err());
    assert_eq!((index, weight, *rng), ([at(9); 2], [9.0; 2], Rng::seeded(1)));
    let next = replay.view().gather_next(1, &[at(0)], Layout::Hwc, ElementsMut::F32(&mut [0.0]));
    assert_eq!(kind(next), Some(Kind::Range));
    assert_eq!(words, before);

    let config = numbers(1, 4);
    let mut words = block(&config);
    let replay = open(&mut words);
    let error = replay.view().sample(&draw, rng, &mut index, &mut weight, None).unwrap_err();
    assert_eq!(error.to_string(), "replay: a transition that may be drawn");
}

#[test]
fn forgotten_transitions_are_counted_and_refused() {
    let mut words = Vec::new();
    with_weights(&mut words, &[1.0, 2.0, 3.0]);
    let mut replay = open(&mut words);
    add_numbers(&mut replay, 0, 0..2);
    let at = |number: u64| FrameIndex::new(0, number);
    assert_eq!(replay.update(&[at(0), at(2), at(1), at(2)], &[9.0, 5.0, 9.0, 7.0]).unwrap(), 2);
    assert_eq!(replay.view().tree().weight(2), 7.0);
    assert_eq!(replay.view().state().max_priority, 7.0);
    let error = replay.view().gather(0, &[at(1)], Layout::Hwc, ElementsMut::F32(&mut [0.0])).unwrap_err();
    assert_eq!(error.to_string(), "replay: transitions that are still held; violated by number 1");
    // A priority of 0 leaves epsilon as the weight.
    assert_eq!(replay.update(&[at(2)], &[0.0]).unwrap(), 0);
    assert_eq!(replay.view().tree().weight(2), f32::MIN_POSITIVE);
}

#[test]
fn only_observations_have_a_next_one() {
    let mut config = ReplayConfig::new(1, 8, &columns(2));
    for observations in 0..8 {
        config.observations = observations;
        for column in [0, 1, 2, 3, MAX_COLUMNS - 1, MAX_COLUMNS, MAX_COLUMNS + 1, 2 * MAX_COLUMNS, usize::MAX] {
            let expected = column < 3 && observations >> column & 1 == 1;
            assert_eq!(config.is_observation(column), expected, "column {column} of {observations:03b}");
        }
    }
    config.observations = 0b011;
    let mut words = block(&config);
    let mut replay = open(&mut words);
    let rng = &mut Rng::seeded(5);
    for _ in 0..3 {
        let step = Step1 { step: Step::default(), ..Step1::random(rng) };
        replay.add(0, &step.row(0), &step.step, None).unwrap();
    }
    let (index, mut action) = ([FrameIndex::new(0, 1)], [9]);
    replay.view().gather(2, &index, Layout::Hwc, ElementsMut::I32(&mut action)).unwrap();
    let error = replay.view().gather_next(2, &index, Layout::Hwc, ElementsMut::I32(&mut action)).unwrap_err();
    assert_eq!(error.to_string(), "replay: a column that is an observation; violated by 2");
}

#[test]
fn choices_have_numbers() {
    let numbers = [0, 1, 2, 3, u32::MAX].map(Normalize::from_number);
    assert_eq!(numbers, [Some(Normalize::Memory), Some(Normalize::Batch), Some(Normalize::Not), None, None]);
}

/// The view of another process amid a change: it draws nothing and trusts no row that may be overwritten.
#[test]
fn readers_beside_a_writer_are_told() {
    let config = numbers(1, 4);
    let (spans, _) = spans(&config).unwrap();
    let mut words = block(&config);
    let count = spans.rows.state.start() + std::mem::offset_of!(State, num_transitions);
    let (mut index, mut weight, mut rng) = ([FrameIndex::new(0, 9); 2], [9.0; 2], Rng::seeded(1));
    let mut draws = |words: &mut [u64]| {
        let view = View::attach(bytes(words)).unwrap();
        let drawn = view.sample(&Draw::default(), &mut rng, &mut index, &mut weight, None).map_err(|e| e.kind);
        assert!(drawn.is_ok() || (index, weight, rng) == ([FrameIndex::new(0, 9); 2], [9.0; 2], Rng::seeded(1)));
        drawn
    };
    // The first transition is counted but has no weight yet.
    bytes(&mut words)[count..count + 8].copy_from_slice(&1u64.to_ne_bytes());
    assert_eq!(draws(&mut words), Err(Kind::NotReady));
    bytes(&mut words)[count..count + 8].fill(0);
    let mut replay = open(&mut words);
    add_numbers(&mut replay, 0, 0..7);
    // All transitions are forgotten, but their weights are still there.
    let three = bytes(&mut words)[count..count + 8].to_vec();
    bytes(&mut words)[count..count + 8].fill(0);
    assert_eq!(draws(&mut words), Err(Kind::NotReady));
    // With a writer about to add others, the state may be temporary.
    let writing = spans.table.writing.start();
    bytes(&mut words)[writing..writing + 4].copy_from_slice(&2u32.to_ne_bytes());
    assert_eq!(draws(&mut words), Err(Kind::Busy));
    bytes(&mut words)[writing..writing + 4].fill(0);
    bytes(&mut words)[count..count + 8].copy_from_slice(&three);
    assert_eq!(draws(&mut words), Ok(()));

    // Rows 3 to 6 are held, and the next row is being written over row 3.
    let of = |words: &mut [u64], number: u64| {
        let (mut reward, index) = ([9.0], [FrameIndex::new(0, number)]);
        let out = Transitions { reward: Some(&mut reward), discount: None, terminated: None, truncated: None };
        View::attach(bytes(words)).unwrap().transitions(&index, out).map_err(|e| e.kind)
    };
    assert_eq!((of(&mut words, 3), of(&mut words, 4)), (Ok(()), Ok(())));
    bytes(&mut words)[writing..writing + 4].copy_from_slice(&1u32.to_ne_bytes());
    assert_eq!((of(&mut words, 3), of(&mut words, 4)), (Err(Kind::Range), Ok(())));
    assert_eq!(Replay::attach(bytes(&mut words)).unwrap_err().kind, Kind::Image);
}

/// A row is counted before the weight of the overwritten row is cleared: nothing is drawn by that weight.
#[test]
fn rows_that_are_being_added_are_not_drawn_by_the_weights_of_others() {
    let config = numbers(2, 4);
    let (spans, _) = spans(&config).unwrap();
    let mut words = block(&config);
    let mut replay = open(&mut words);
    add_numbers(&mut replay, 1, 0..7);
    let set = |words: &mut [u64], pushed: u64, writing: u32| {
        let (at, count) = (spans.table.writing.start() + 4, spans.table.pushed.start() + 8);
        bytes(words)[at..at + 4].copy_from_slice(&writing.to_ne_bytes());
        bytes(words)[count..count + 8].copy_from_slice(&pushed.to_ne_bytes());
    };
    let draw_by = |words: &mut [u64], rows: usize, independent: bool, seed: u64| {
        let (mut index, mut weight) = (vec![FrameIndex::new(0, 9); rows], vec![0.0; rows]);
        let (draw, view) = (Draw { independent, ..Draw::default() }, View::attach(bytes(words)).unwrap());
        view.sample(&draw, &mut Rng::seeded(seed), &mut index, &mut weight, None).map_err(|e| e.kind)?;
        assert!(index.iter().all(|index| index.env == 1) && weight.iter().all(|weight| *weight == 1.0));
        Ok(index.iter().map(|index| index.number).collect::<Vec<_>>())
    };
    let draw = |words: &mut [u64], rows: usize, independent: bool| draw_by(words, rows, independent, 3);
    // Transitions 4, 5 and 3 lie in this order, each with a third of the weight.
    assert_eq!(draw(&mut words, 3, false), Ok(vec![4, 5, 3]));
    // Row 7 is now in the slot of row 3, under the weight of row 3.
    set(&mut words, 8, 2);
    assert_eq!(draw(&mut words, 3, false), Err(Kind::Busy), "nothing else is in the last third");
    for seed in 0..20 {
        let drawn = draw_by(&mut words, 2, false, seed).unwrap();
        assert!([4, 5].contains(&drawn[0]) && drawn[1] == 5, "in the last half there is: {drawn:?}");
    }
    for rows in [1, 100] {
        let drawn = draw(&mut words, rows, true).unwrap();
        assert!(drawn.iter().all(|number| [4, 5].contains(number)), "{drawn:?}");
    }
    let drawn = draw(&mut words, 100, true).unwrap();
    assert!((35..65).contains(&drawn.iter().filter(|number| **number == 4).count()), "{drawn:?}");
    // The last 200 of 600 parts hold only that weight: the first of them that is drawn fails.
    assert_eq!(draw(&mut words, 600, false), Err(Kind::Busy));
    set(&mut words, 8, 3);
    assert!(draw(&mut words, 100, true).unwrap().iter().all(|number| *number == 4));
    set(&mut words, 8, 4);
    assert_eq!(draw(&mut words, 1, true), Err(Kind::Busy));
    set(&mut words, 8, 0);
    assert_eq!(draw(&mut words, 3, false), Ok(vec![4, 5, 7]));
}

/// The smallest and largest priorities leave drawable weights and a valid image.
#[test]
fn the_largest_and_smallest_priorities_leave_finite_numbers() {
    for (epsilon, alpha) in
        [(MAX_EPSILON, 1.0), (MAX_EPSILON, 0.999_999_94), (f32::MIN_POSITIVE, 1.0), (f32::MIN_POSITIVE, 0.9)]
    {
        let config = ReplayConfig { epsilon, alpha, ..numbers(1, 8) };
        let mut words = block(&config);
        let mut replay = open(&mut words);
        add_numbers(&mut replay, 0, 0..7);
        let index = [0, 1, 2].map(|number| FrameIndex::new(0, number));
        replay.update(&index, &[f32::MAX, 0.0, 1.0]).unwrap();
        replay.add(0, &[Elements::F32(&[7.0])], &Step::default(), None).unwrap();
        assert_eq!(replay.view().state().max_priority, f32::MAX);
        let replay = open(&mut words);
        assert!(replay.view().tree().min() >= f32::MIN_POSITIVE && replay.view().tree().total() < 3e39);
        for (normalize, beta) in
            [(Normalize::Memory, 1.0), (Normalize::Batch, 1.0), (Normalize::Not, 1.0), (Normalize::Not, 1e30)]
        {
            let (mut index, mut weight, mut probability) = ([FrameIndex::new(0, 0); 9], [9.0; 9], [9.0; 9]);
            let draw = Draw { beta, normalize, ..Draw::default() };
            replay.view().sample(&draw, &mut Rng::seeded(1), &mut index, &mut weight, Some(&mut probability)).unwrap();
            assert!(weight.iter().all(|weight| (0.0..=f32::MAX).contains(weight)), "{normalize:?} {weight:?}");
            assert!(probability.iter().all(|probability| (0.0..=1.0).contains(probability)));
        }
    }
}

/// A partly stored stream or update makes the bytes no image.
#[test]
fn a_writer_that_died_amid_an_update_or_a_stream_leaves_no_image() {
    let config = numbers(1, 4);
    let (spans, _) = spans(&config).unwrap();
    let mut words = block(&config);
    let mut replay = open(&mut words);
    let stream = Rng::seeded(9);
    assert_eq!(replay.view().rng(), Ok(Rng::seeded(0)));
    replay.store_rng(&stream).unwrap();
    assert_eq!(replay.view().rng(), Ok(stream));
    for field in [std::mem::offset_of!(State, rng_changes), std::mem::offset_of!(State, updating)] {
        let mut words = words.clone();
        let word = spans.rows.state.start() + field;
        bytes(&mut words)[if cfg!(target_endian = "big") { word + 3 } else { word }] ^= 1; // the word's low byte
        assert_eq!(Replay::attach(bytes(&mut words)).unwrap_err().kind, Kind::Image);
        let read = View::attach(bytes(&mut words)).unwrap().rng().map_err(|e| e.kind);
        assert_eq!(read, if field == std::mem::offset_of!(State, updating) { Ok(stream) } else { Err(Kind::Busy) });
    }
}

#[test]
fn refuses_configurations_by_name() {
    let good = ReplayConfig::new(2, 10, &columns(4));
    Replay::size(&ReplayConfig { num_steps: 6, observations: 3, ..good }).unwrap();
    Replay::size(&ReplayConfig { num_steps: 255, ..ReplayConfig::new(2, 259, &columns(4)) }).unwrap();
    let steps = "num_steps from 1 to 255, given";
    let epsilon = "epsilon, a normal number above 0 and at most 1e30, given";
    for (config, words) in [
        (ReplayConfig { num_steps: 0, ..good }, format!("{steps} 0")),
        (ReplayConfig { num_steps: 256, ..good }, format!("{steps} 256")),
        (
            ReplayConfig { num_steps: 7, ..good },
            "num_rows of at least num_steps and any num_stack, 11, given 10".into(),
        ),
        (ReplayConfig { observations: 8, ..good }, "observations with bits below num_columns, 3, given 8".into()),
        (ReplayConfig { discount: 1.5, ..good }, "discount from 0 to 1, given 1.5".into()),
        (ReplayConfig { discount: f32::NAN, ..good }, "discount from 0 to 1, given NaN".into()),
        (ReplayConfig { alpha: -0.1, ..good }, "alpha from 0 to 1, given -0.1".into()),
        (ReplayConfig { epsilon: 0.0, ..good }, format!("{epsilon} 0")),
        (ReplayConfig { epsilon: f32::INFINITY, ..good }, format!("{epsilon} inf")),
        (ReplayConfig { epsilon: 2e30, ..good }, format!("{epsilon} 2000000000000000000000000000000")),
        (ReplayConfig { reserved: 1, ..good }, "reserved of 0, given 1".into()),
    ] {
        let error = Replay::size(&config).unwrap_err();
        assert_eq!((error.kind, error.to_string()), (Kind::Config, format!("replay config: {words}")));
    }
    let mut huge = numbers(u32::MAX, u32::MAX);
    assert_eq!(Replay::size(&huge).unwrap_err().kind, Kind::Overflow);
    huge.table.num_rings = 0;
    assert_eq!(Replay::size(&huge).unwrap_err().kind, Kind::Config);
}

#[test]
fn the_random_stream_is_saved_with_the_transitions() {
    let mut words = Vec::new();
    with_weights(&mut words, &[1.0, 2.0, 3.0]);
    let mut rng = Rng::stream(3, 4);
    rng.next_u32();
    open(&mut words).store_rng(&rng).unwrap();
    let mut copy = words.clone();
    let (mut one, mut two) = ([FrameIndex::new(0, 0); 9], [FrameIndex::new(0, 0); 9]);
    let mut weight = [0.0; 9];
    View::open(bytes(&mut words)).unwrap().sample(&Draw::default(), &mut rng, &mut one, &mut weight, None).unwrap();
    let loaded = open(&mut copy);
    let mut rng = loaded.view().state().rng;
    loaded.view().sample(&Draw::default(), &mut rng, &mut two, &mut weight, None).unwrap();
    assert_eq!(one, two);
}

/// The error for a memory with other bytes in one place.
fn damage(words: &[u64], at: usize, with: &[u8]) -> Option<Kind> {
    let mut copy = forged(words, &[(at, with)]);
    assert_ne!(copy, words);
    kind(Replay::attach(bytes(&mut copy)))
}

const IMAGE: Option<Kind> = Some(Kind::Image);

/// A memory of two-step transitions in one environment, with one row.
fn two_steps() -> (ReplayConfig, Spans, Vec<u64>) {
    let config = ReplayConfig { num_steps: 2, ..numbers(1, 6) };
    let mut words = block(&config);
    add_numbers(&mut open(&mut words), 0, 1..2);
    open(&mut words);
    (config, spans(&config).unwrap().0, words)
}

/// At most as many rows are open as were added.
#[test]
fn open_rows_of_images_are_checked() {
    let (config, spans, words) = two_steps();
    let start = spans.rows.open.start();
    assert_eq!(damage(&words, start, &2u32.to_ne_bytes()), IMAGE, "two open rows of one");
    assert_eq!(damage(&words, start, &3u32.to_ne_bytes()), IMAGE, "three open rows of two steps");
    let [alpha, max_priority] = [0, 4].map(|field| spans.rows.state.start() + field);
    for (at, with) in [(alpha, 1.5f32), (alpha, -0.5), (max_priority, 0.5), (max_priority, f32::INFINITY)] {
        assert_eq!(damage(&words, at, &with.to_ne_bytes()), IMAGE, "{with} in byte {at}");
    }
    // Three open rows, as with three steps, in a memory of two steps.
    let mut longer = block(&ReplayConfig { num_steps: 3, ..config });
    for _ in 0..3 {
        add_numbers(&mut open(&mut longer), 0, 1..2);
    }
    let fields = spans.table.pushed.start();
    let mut shorter = forged(&words, &[(fields, &bytes(&mut longer)[fields..])]);
    let refused = Replay::attach(bytes(&mut shorter)).unwrap_err().to_string();
    assert_eq!(refused, "replay: at most num_steps open rows; violated by environment 0");
    // Three steps, the third of them taken back: row 0 leads to a missing row.
    let [two, three] = [1, 2].map(|more| {
        let mut words = words.clone();
        (0..more).for_each(|_| add_numbers(&mut open(&mut words), 0, 1..2));
        open(&mut words);
        words
    });
    let rows = spans.table.pushed.start()..spans.tree.weights.start();
    let parts = [spans.rows.reward.start()..spans.rows.sum.start(), rows];
    let two = parts.map(|part| (part.start, &bytemuck::cast_slice(&two)[part]));
    assert_eq!(damage(&forged(&three, &two), start, &1u32.to_ne_bytes()), IMAGE, "a transition to a row to come");
}

/// Fields of rows not added yet have to be empty, and those of an episode that has ended follow from its end.
#[test]
fn images_of_rings_that_are_not_full_are_checked() {
    let (_, spans, mut words) = two_steps();
    let (obs, start) = ([Elements::F32(&[1.0])], spans.rows.open.start());
    // An episode of two steps and its tail row.
    let end = Step { terminated: true, ..Step::default() };
    open(&mut words).add(0, &obs, &end, Some(&obs)).unwrap();
    open(&mut words);
    assert_eq!(damage(&words, start, &2u32.to_ne_bytes()), IMAGE, "row 1 is a transition and open");
    assert_eq!(damage(&words, spans.rows.ahead.start() + 1, &[2]), IMAGE, "row 1 leads behind the tail, to no row");
    let one = 1f32.to_ne_bytes();
    let numbers = [spans.rows.reward.start(), spans.rows.sum.start(), spans.rows.discount.start()];
    for slot in 3..6 {
        for of_number in numbers.into_iter().chain([spans.tree.weights.start()]) {
            assert_eq!(damage(&words, of_number + 4 * slot, &one), IMAGE, "slot {slot}, byte {of_number}");
        }
        for of_byte in [spans.rows.ahead.start(), spans.rows.ended.start()] {
            assert_eq!(damage(&words, of_byte + slot, &[1]), IMAGE, "slot {slot}, byte {of_byte}");
        }
    }
    // The first row of another episode, still open.
    open(&mut words).add(0, &obs, &Step::default(), None).unwrap();
    open(&mut words);
    assert_eq!(damage(&words, start, &2u32.to_ne_bytes()), IMAGE, "a tail is open");
    assert_eq!(damage(&words, start, &0u32.to_ne_bytes()), IMAGE, "the newest row is no transition and not open");
    let ended = spans.rows.ended.start();
    for (row, with) in [(0, 4), (1, 5), (2, 0), (2, 2), (3, 1), (3, 4)] {
        assert_eq!(damage(&words, ended + row, &[with]), IMAGE, "row {row} has ended by {with}");
    }
}

/// The successor, end and fold of a row follow from the rows after it: any other value is refused.
#[test]
fn images_in_which_rows_contradict_each_other_are_refused() {
    let rng = &mut Rng::seeded(3);
    // Without rewards and discounting all rows fold alike, and their successors follow from the other rows alone.
    for (num_steps, discount) in (1..=4).flat_map(|n| [(n, 0.9), (n, 1.0)]) {
        let mut config = ReplayConfig::new(1, 9, &columns(1));
        (config.num_steps, config.observations, config.discount) = (num_steps, 3, discount);
        let (spans, _) = spans(&config).unwrap();
        let mut words = block(&config);
        open(&mut words);
        for _ in 0..40 {
            let mut step = Step1::random(rng);
            step.step.reward = if discount == 1.0 { 0.0 } else { step.step.reward };
            open(&mut words).add_all(|_| step.added()).unwrap();
            open(&mut words);
            let mut copy = words.clone();
            let mut refuses = |at: usize, with: &[u8]| {
                let mut was = [0; 4];
                was[..with.len()].copy_from_slice(&bytes(&mut copy)[at..at + with.len()]);
                bytes(&mut copy)[at..at + with.len()].copy_from_slice(with);
                let refused = Replay::attach(bytes(&mut copy)).is_err();
                bytes(&mut copy)[at..at + with.len()].copy_from_slice(&was[..with.len()]);
                assert!(refused || was[..with.len()] == *with, "{num_steps} steps, byte {at}: {was:?} as {with:?}");
            };
            for value in 0..=7 {
                for row in 0..9 {
                    refuses(spans.rows.ahead.start() + row, &[value]);
                    let ended = spans.rows.ended.start() + row;
                    // Truncated as well or not: a terminated step folds alike.
                    if ![1, 3].contains(&value) || ![1, 3].contains(&bytes(&mut words)[ended]) {
                        refuses(ended, &[value]);
                    }
                }
                refuses(spans.rows.open.start(), &u32::from(value).to_ne_bytes());
            }
            for row in 0..9 {
                for of_number in [spans.rows.sum.start(), spans.rows.discount.start()] {
                    refuses(of_number + 4 * row, &0.75f32.to_ne_bytes());
                    refuses(of_number + 4 * row, &0f32.to_ne_bytes());
                }
            }
        }
    }
}

#[test]
fn the_configuration_lies_in_the_first_bytes() {
    let mut words = Vec::new();
    let config = with_weights(&mut words, &[1.0]);
    let start = &bytes(&mut words)[..ReplayConfig::END];
    assert_eq!(ReplayConfig::of(start), Ok(&config));
    assert_eq!(ReplayConfig::of(&start[..start.len() - 1]).unwrap_err().kind, Kind::Size);
}

/// Every bit outside of the columns: refused, or accepted and harmless.
#[test]
fn damaged_images_are_refused_or_harmless() {
    let mut config = ReplayConfig::new(2, 6, &columns(2));
    (config.num_steps, config.observations) = (2, 3);
    let mut words = block(&config);
    let mut replay = open(&mut words);
    let rng = &mut Rng::seeded(2);
    for _ in 0..17 {
        let steps: Vec<Step1> = (0..2).map(|_| Step1::random(rng)).collect();
        replay.add_all(|env| steps[env].added()).unwrap();
    }
    assert!(!replay.view().is_empty());
    let (spans, size) = spans(&config).unwrap();
    let (mut refused, mut accepted) = (0, 0);
    let mut copy = words.clone();
    for at in (0..size).filter(|at| !(spans.table.columns[0].start()..spans.tree.weights.start()).contains(at)) {
        for bit in 0..8 {
            bytes(&mut copy)[at] ^= 1 << bit;
            match Replay::attach(bytes(&mut copy)) {
                Err(error) => {
                    assert!(matches!(error.kind, Kind::Image | Kind::Size), "{error}");
                    refused += 1;
                }
                Ok(mut replay) => {
                    accepted += 1;
                    let (mut index, mut weight) = ([FrameIndex::new(0, 0); 4], [0.0; 4]);
                    if replay.view().sample(&Draw::default(), rng, &mut index, &mut weight, None).is_ok() {
                        replay.view().check(&index).unwrap();
                        replay.update(&index, &[1.0; 4]).unwrap();
                    }
                    let steps: Vec<Step1> = (0..2).map(|_| Step1::random(rng)).collect();
                    replay.add_all(|env| steps[env].added()).unwrap();
                }
            }
            bytemuck::cast_slice_mut::<u64, u8>(&mut copy).copy_from_slice(bytes(&mut words));
        }
    }
    assert!(refused > 10_000 && accepted > 0, "{refused} refused, {accepted} accepted");
}
