//! The replay memory against tables computed by hand, the odds of every outcome, and a twin that keeps all frames.

use proptest::prelude::*;
use rlcore::data::memory::{
    Chance, Draw, Frame, FramesOut, Front, Memory, MemoryConfig, Rule, Sample, Spans, State, View, spans,
};
use rlcore::data::table::Column;
use rlcore::error::{Kind, Result};
use rlcore::kernels::stack::Layout;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};
use std::collections::{BTreeMap, VecDeque};

use super::blocks::{bytes, forged, kind};

const NUMBER: Column = Column::new("number", Element::I32, 1);
const PICTURE: Column = Column::frames("picture", 2, 1, 3);

fn config(history_size: u32, max_sample_size: u32) -> MemoryConfig {
    MemoryConfig { max_sample_size, ..MemoryConfig::new(history_size, &[NUMBER]) }
}

/// The block of a memory without frames.
fn block(config: &MemoryConfig) -> Vec<u64> {
    let mut block = vec![0; Memory::size(config).unwrap() / 8];
    Memory::init(bytes(&mut block), config).unwrap();
    block
}

fn open(block: &mut [u64]) -> Memory<'_> {
    Memory::attach(bytes(block)).unwrap()
}

/// Adds consecutive frames with these rewards and ends; every end starts the next episode.
fn add_all(memory: &mut Memory<'_>, frames: &[(f32, bool)]) {
    let (mut episode, mut step) = (0, 0);
    for &(reward, terminated) in frames {
        let frame = Frame { episode, step, reward, terminated, truncated: false };
        let number = memory.view().held().end;
        let added = memory.add(&frame, &[Elements::I32(&[number as i32])]).unwrap();
        assert_eq!((added.number, added.cuts), (number, 0));
        (episode, step) = if terminated { (episode + 1, 0) } else { (episode, step + 1) };
    }
}

fn pool(memory: &Memory<'_>, priority: bool) -> Vec<u64> {
    let view = memory.view();
    let numbers = (0..view.pool_len(priority)).map(|i| view.pool_number(priority, i).unwrap()).collect();
    assert_eq!(view.pool_number(priority, view.pool_len(priority)).unwrap_err().kind, Kind::Range);
    numbers
}

#[test]
fn pools_move_as_the_trace_table_shows() {
    let mut block = block(&config(6, 3));
    let mut memory = open(&mut block);
    // Label, reward, end; then the labels of the held frames, the top, and the numbers in each pool.
    type Row = (u32, f32, bool, &'static [u32], u64, &'static [u64], &'static [u64]);
    let rows: [Row; 11] = [
        (0, 0.0, false, &[0], 0, &[], &[]),
        (1, 0.5, false, &[0, 1], 0, &[], &[]),
        (2, 0.1, false, &[0, 1, 2], 0, &[2], &[]),
        (3, -0.2, false, &[0, 1, 2, 3], 0, &[2], &[3]),
        (4, 0.0, true, &[0, 1, 2, 3, 4], 0, &[2, 4], &[3]),
        (5, 0.0, true, &[0, 1, 2, 3, 4], 0, &[2, 4], &[3]),
        (6, 0.0, false, &[0, 1, 2, 3, 4, 6], 0, &[2, 4, 5], &[3]),
        (7, 1.0, false, &[1, 2, 3, 4, 6, 7], 1, &[4, 5], &[3, 6]),
        (8, 0.0, false, &[2, 3, 4, 6, 7, 8], 2, &[4, 5, 7], &[6]),
        (9, 0.0, false, &[3, 4, 6, 7, 8, 9], 3, &[5, 7, 8], &[6]),
        (10, -1.0, false, &[4, 6, 7, 8, 9, 10], 4, &[7, 8], &[6, 9]),
    ];
    for (label, reward, terminated, held, top, ordinary, priority) in rows {
        // The second end belongs to an episode that has ended: it is refused by name, and nothing of it is kept.
        let episode = u64::from(label > 5);
        let frame = Frame { episode, step: label, reward, terminated, truncated: false };
        let added = memory.add(&frame, &[Elements::I32(&[label as i32])]);
        match label {
            5 => assert_eq!(added.unwrap_err().kind, Kind::Range),
            _ => assert_eq!(added.unwrap().cuts, 0),
        }
        let view = memory.view();
        assert_eq!(view.held(), top..top + held.len() as u64);
        let sample = Sample { first: top, len: held.len() as u32, ..Sample::default() };
        let mut labels = vec![0; held.len()];
        view.gather(0, &[sample], held.len(), Layout::Hwc, ElementsMut::I32(&mut labels)).unwrap();
        assert!(labels.iter().map(|&x| x as u32).eq(held.iter().copied()), "{labels:?}");
        assert_eq!(
            (pool(&memory, false), pool(&memory, true)),
            (ordinary.to_vec(), priority.to_vec()),
            "frame {label}"
        );
    }
}

/// The memory of the enumerations: frames 2 to 9, episodes that end with 2 and 6, priority frames 5 and 9.
fn with_enumerated<T>(attempt: impl FnOnce(&Memory<'_>) -> T) -> T {
    let mut block = block(&config(8, 3));
    let mut memory = open(&mut block);
    let frames = [0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0];
    let frames: Vec<(f32, bool)> = frames.iter().enumerate().map(|(i, &reward)| (reward, i == 2 || i == 6)).collect();
    add_all(&mut memory, &frames);
    assert_eq!((pool(&memory, false), pool(&memory, true)), (vec![4, 6, 7, 8], vec![5, 9]));
    attempt(&memory)
}

/// A scripted source of draws, which records the number of choices of each.
#[derive(Default)]
struct Script {
    choices: Vec<(u64, u64)>,
    at: usize,
}

impl Chance for Script {
    fn bounded(&mut self, max: u64) -> u64 {
        if self.at == self.choices.len() {
            self.choices.push((0, max));
        }
        let (choice, known) = self.choices[self.at];
        assert_eq!(known, max, "a draw depends on those before it alone");
        self.at += 1;
        choice
    }
}

/// Every outcome with its probability: enumerates all choices of all draws.
fn outcomes<T: Ord>(mut attempt: impl FnMut(&mut Script) -> T) -> BTreeMap<T, f64> {
    let (mut script, mut found) = (Script::default(), BTreeMap::new());
    loop {
        script.at = 0;
        let outcome = attempt(&mut script);
        assert_eq!(script.at, script.choices.len());
        let probability = script.choices.iter().fold(1.0, |p, (_, max)| p / (max + 1) as f64);
        *found.entry(outcome).or_insert(0.0) += probability;
        while script.choices.pop_if(|(choice, max)| choice == max).is_some() {}
        match script.choices.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return found,
        }
    }
}

fn numbers(sample: &Sample) -> Vec<u64> {
    let numbers: Vec<u64> = sample.numbers().collect();
    assert_eq!(numbers.len(), sample.len as usize);
    assert_eq!(numbers.last(), Some(&sample.last()));
    numbers
}

/// How a draw goes: by priority or uniformly.
#[derive(Clone, Copy)]
enum By {
    Priority,
    All,
}

fn one<R: Chance>(memory: &Memory<'_>, by: By, draw: Draw, rng: &mut R) -> (Option<Kind>, Sample) {
    let mut sample = [Sample::default()];
    let result = match by {
        By::Priority => memory.view().sample_priority(&draw, rng, &mut sample),
        By::All => memory.view().sample_uniform(&draw, rng, &mut sample),
    };
    (kind(result), sample[0])
}

type Odds = Vec<(Option<Kind>, &'static [u64], f64)>;

/// Outcomes that are equally likely.
fn each(probability: f64, outcomes: &[&'static [u64]]) -> Odds {
    outcomes.iter().map(|numbers| (None, *numbers, probability)).collect()
}

fn same(found: BTreeMap<(Option<i32>, Vec<u64>), f64>, expected: &Odds) {
    let mut wanted = BTreeMap::new();
    for (error, numbers, probability) in expected {
        *wanted.entry((error.map(|kind| kind as i32), numbers.to_vec())).or_insert(0.0) += probability;
    }
    let total: f64 = wanted.values().sum();
    assert!((total - 1.0).abs() < 1e-12, "{total}");
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (outcome, probability) in &found {
        assert!((probability - wanted[outcome]).abs() < 1e-12, "{outcome:?}: {probability}, not {}", wanted[outcome]);
    }
}

fn check(by: By, draw: Draw, expected: &Odds) {
    same(outcomes_of(by, draw), expected);
    chi_square(by, draw, expected);
}

fn outcomes_of(by: By, draw: Draw) -> BTreeMap<(Option<i32>, Vec<u64>), f64> {
    with_enumerated(|memory| {
        outcomes(|script| {
            let (error, sample) = one(memory, by, draw, script);
            (error.map(|kind| kind as i32), numbers(&sample))
        })
    })
}

/// 40,000 draws of the real generator against the same odds; one seed in 10^6 exceeds the limit.
fn chi_square(by: By, draw: Draw, expected: &Odds) {
    const DRAWS: usize = 40_000;
    let mut wanted: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
    for (_, numbers, probability) in expected {
        *wanted.entry(numbers.to_vec()).or_insert(0.0) += probability;
    }
    let mut counts: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
    with_enumerated(|memory| {
        let rng = &mut Rng::seeded(7);
        for _ in 0..DRAWS {
            *counts.entry(numbers(&one(memory, by, draw, rng).1)).or_insert(0.0) += 1.0;
        }
    });
    let statistic: f64 = wanted
        .iter()
        .map(|(numbers, probability)| {
            let mean = probability * DRAWS as f64;
            (counts.remove(numbers).unwrap_or(0.0) - mean).powi(2) / mean
        })
        .sum();
    assert!(counts.is_empty(), "{counts:?}");
    // Wilson and Hilferty's approximation of the quantile at 1 - 10^-6.
    let freedom = (wanted.len() - 1).max(1) as f64;
    let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 4.75 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
    assert!(statistic < limit, "{statistic}, limit {limit}");
}

const ORIGINAL: Draw =
    Draw { size: 0, burn_in: 0, exact_size: false, skewness: 2, attempts: 100, rule: Rule::Original };

#[test]
fn priority_draws_of_the_original_have_its_odds() {
    let rare = each(0.125, &[&[2, 4], &[4, 5, 6], &[5, 6, 7], &[6, 8]]);
    check(By::Priority, ORIGINAL, &[each(0.25, &[&[3, 4, 5], &[7, 8, 9]]), rare].concat());
    let rare = each(0.125, &[&[3, 4], &[5, 6], &[6, 7], &[7, 8]]);
    check(By::Priority, Draw { size: 2, ..ORIGINAL }, &[each(0.25, &[&[4, 5], &[8, 9]]), rare].concat());
    // Sizes above max_sample_size are cut to it.
    let cut = outcomes_of(By::Priority, Draw { size: 9, ..ORIGINAL });
    assert_eq!(cut, outcomes_of(By::Priority, ORIGINAL));
}

/// Few attempts can be enumerated; the last attempt of `Rule::Original` accepts any outcome.
#[test]
fn exact_priority_draws_have_the_odds_of_their_attempts() {
    for attempts in 1..6u32 {
        let failed = 0.75f64.powi(attempts as i32 - 1);
        let by_luck = failed / 8.0;
        let draw = Draw { exact_size: true, attempts, ..ORIGINAL };
        let often = each(0.25, &[&[3, 4, 5], &[7, 8, 9]]);
        let other = each((1.0 - failed) / 2.0 + by_luck, &[&[4, 5, 6]]);
        let odds = [often.clone(), other, each(by_luck, &[&[2, 3, 4], &[5, 6, 7], &[6, 7, 8]])].concat();
        check(By::Priority, draw, &odds);
        let found = 1.0 - failed * 0.75;
        let inexact: [&'static [u64]; 3] = [&[3, 4], &[7], &[7, 8]];
        let inexact = inexact.map(|numbers| (Some(Kind::Inexact), numbers, by_luck)).to_vec();
        let odds = [often, each(found / 2.0, &[&[4, 5, 6]]), inexact].concat();
        check(By::Priority, Draw { rule: Rule::Fixed, ..draw }, &odds);
    }
    // After a hundred attempts a failure is negligibly rare.
    let limit = [each(0.25, &[&[3, 4, 5], &[7, 8, 9]]), each(0.5, &[&[4, 5, 6]])].concat();
    for rule in [Rule::Original, Rule::Fixed] {
        chi_square(By::Priority, Draw { exact_size: true, rule, ..ORIGINAL }, &limit);
    }
    let limit = [each(0.25, &[&[4, 5], &[8, 9]]), each(1.0 / 6.0, &[&[3, 4], &[5, 6], &[7, 8]])].concat();
    for rule in [Rule::Original, Rule::Fixed] {
        chi_square(By::Priority, Draw { exact_size: true, size: 2, rule, ..ORIGINAL }, &limit);
    }
}

#[test]
fn priority_draws_end_where_they_should_and_stay_in_one_episode() {
    let rare = each(0.125, &[&[3, 4], &[4, 5, 6], &[7], &[7, 8]]);
    let usual = [each(0.25, &[&[3, 4, 5], &[7, 8, 9]]), rare].concat();
    check(By::Priority, Draw::default(), &usual);
    // Priority frames in one draw of three.
    let third = 1.0 / 6.0;
    let odds = usual.iter().map(|&(error, numbers, _)| (error, numbers, third)).collect();
    check(By::Priority, Draw { skewness: 3, ..Draw::default() }, &odds);
    // Priority frames always.
    let odds = each(0.5, &[&[3, 4, 5], &[7, 8, 9]]);
    check(By::Priority, Draw { skewness: 1, ..Draw::default() }, &odds);
    // Priority frames almost never.
    let odds = outcomes_of(By::Priority, Draw { skewness: 1000, size: 1, ..Draw::default() });
    assert_eq!(odds[&(None, vec![9])], 0.0005);
    let frame = [each(0.25, &[&[5], &[9]]), each(0.125, &[&[4], &[6], &[7], &[8]])].concat();
    check(By::Priority, Draw { size: 1, ..Draw::default() }, &frame);
    check(By::Priority, Draw { size: 1, exact_size: true, ..Draw::default() }, &frame);
}

#[test]
fn uniform_draws_have_the_odds_of_their_rule() {
    // `Rule::Original` never draws the newest frame, and draws the frame after an end twice as often.
    let odds = [each(0.5, &[&[3, 4, 5]]), each(0.25, &[&[4, 5, 6], &[5, 6]])].concat();
    check(By::All, Draw { size: 3, ..ORIGINAL }, &odds);
    let odds = [each(2.0 / 6.0, &[&[3], &[7]]), each(1.0 / 6.0, &[&[4], &[5]])].concat();
    check(By::All, Draw { size: 1, ..ORIGINAL }, &odds);
    let usual = each(1.0 / 6.0, &[&[2], &[3, 4, 5], &[4, 5, 6], &[5, 6], &[6], &[7, 8, 9]]);
    check(By::All, Draw { size: 3, ..Draw::default() }, &usual);
    check(By::All, Draw::default(), &usual);
    // Sizes above the number of held frames are cut to it.
    check(By::All, Draw { size: 100, ..Draw::default() }, &each(1.0, &[&[2]]));
    // Whole sequences only.
    for attempts in 1..5u32 {
        let failed = 0.5f64.powi(attempts as i32);
        let whole = (1.0 - failed) / 3.0;
        let inexact: [&'static [u64]; 3] = [&[2], &[5, 6], &[6]];
        let inexact = inexact.map(|numbers| (Some(Kind::Inexact), numbers, failed / 3.0)).to_vec();
        let odds = [each(whole, &[&[3, 4, 5], &[4, 5, 6], &[7, 8, 9]]), inexact].concat();
        check(By::All, Draw { size: 3, exact_size: true, attempts, ..Draw::default() }, &odds);
    }
}

#[test]
fn burn_in_goes_back_within_the_episode_and_what_is_held() {
    let burnt = |sample: &Sample| (sample.burn_in, numbers(sample));
    let draw = Draw { size: 2, burn_in: 2, ..Draw::default() };
    with_enumerated(|memory| {
        let mut sample = [Sample::default()];
        let found = outcomes(|script| {
            memory.view().sample_priority(&draw, script, &mut sample).unwrap();
            (sample[0].priority, burnt(&sample[0]))
        });
        let found: Vec<_> = found.into_keys().collect();
        let expected = [
            (0, (0, vec![7])),
            (0, (0, vec![7, 8])),
            (0, (1, vec![3, 4, 5])),
            (0, (2, vec![3, 4, 5, 6])),
            (1, (1, vec![3, 4, 5])),
            (1, (1, vec![7, 8, 9])),
        ];
        // Frame 4 has one predecessor, which its two frames need: no burn-in is left.
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(p, (burn, n))| if (p, burn, n.len()) == (0, 1, 3) { (0, (0, vec![3, 4])) } else { (p, (burn, n)) })
            .collect();
        assert_eq!(found, sorted(expected));
        let found = outcomes(|script| {
            memory.view().sample_uniform(&draw, script, &mut sample).unwrap();
            burnt(&sample[0])
        });
        let expected = [
            (0, vec![2]),
            (0, vec![3, 4]),
            (1, vec![3, 4, 5]),
            (2, vec![3, 4, 5, 6]),
            (2, vec![4, 5, 6]),
            (0, vec![7, 8]),
            (1, vec![7, 8, 9]),
        ];
        assert_eq!(found.into_keys().collect::<Vec<_>>(), sorted(expected.to_vec()));
    });
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// All frames ever added, and the two pools as lists: the rules taken literally.
#[derive(Clone)]
struct Twin {
    config: MemoryConfig,
    margin: usize,
    frames: Vec<Frame>,
    top: usize,
    pools: [VecDeque<usize>; 2],
}

type Drawn = (Vec<u64>, u32, u32);

impl Twin {
    fn new(config: MemoryConfig) -> Twin {
        let stacks = config.table.columns().iter().map(|column| column.num_stack.max(1)).max().unwrap();
        let margin = (config.max_sample_size + stacks - 2) as usize;
        Twin { config, margin, frames: Vec::new(), top: 0, pools: Default::default() }
    }

    fn add(&mut self, frame: &Frame) -> Option<u32> {
        let mut cuts = 0;
        if let Some(last) = self.frames.last_mut() {
            if last.terminated || last.truncated {
                if last.episode == frame.episode {
                    return None;
                }
            } else if last.episode != frame.episode || u64::from(last.step) + 1 != u64::from(frame.step) {
                last.truncated = true;
                cuts = 1;
            }
        }
        let i = self.frames.len();
        let was_full = i - self.top >= self.config.history_size() as usize;
        self.frames.push(*frame);
        if i >= self.margin {
            let is_ordinary = frame.reward.abs() <= self.config.reward_threshold;
            self.pools[usize::from(!is_ordinary)].push_back(i);
        }
        if was_full {
            self.top += 1;
            for pool in &mut self.pools {
                if pool.front().is_some_and(|&k| k < self.top + self.margin) {
                    pool.pop_front();
                }
            }
        }
        Some(cuts)
    }

    fn ended(&self, i: usize) -> bool {
        self.frames[i].terminated || self.frames[i].truncated
    }

    /// First readable frame: its stack and those of all later frames are complete.
    fn start(&self) -> usize {
        let k = self.config.table.columns().iter().map(|column| column.num_stack.max(1)).max().unwrap() as usize;
        let needs =
            |i: usize| (0..k).take_while(|back| *back == 0 || (i >= *back && !self.ended(i - back))).count() - 1;
        (self.top..self.frames.len()).find(|&i| i - needs(i) >= self.top).unwrap_or(self.frames.len())
    }

    fn burn(&self, draw: &Draw, mut numbers: Vec<usize>) -> (Vec<u64>, u32) {
        let mut burn = 0;
        while burn < draw.burn_in && numbers[0] > self.start() && !self.ended(numbers[0] - 1) {
            numbers.insert(0, numbers[0] - 1);
            burn += 1;
        }
        (numbers.into_iter().map(|i| i as u64).collect(), burn)
    }

    fn uniform(&self, draw: &Draw, rng: &mut Rng) -> std::result::Result<(Drawn, bool), Kind> {
        let size = if draw.size == 0 { self.config.max_sample_size } else { draw.size } as usize;
        let (h, start) = (self.config.history_size() as usize, self.start());
        if draw.rule == Rule::Original {
            if self.frames.len() < h {
                return Err(Kind::NotReady);
            }
            if size + 2 > h {
                return Err(Kind::Range);
            }
            let mut i = self.top + rng.bounded((h - size - 2) as u64) as usize;
            if self.ended(i) {
                i += 1;
            }
            let mut numbers = Vec::new();
            for j in i..i + size {
                numbers.push(j as u64);
                if self.ended(j) {
                    break;
                }
            }
            return Ok(((numbers, 0, 0), true));
        }
        let held = self.frames.len() - start;
        if held == 0 {
            return Err(Kind::NotReady);
        }
        let len = size.min(held);
        let mut attempts = if draw.exact_size { draw.attempts } else { 1 };
        loop {
            attempts -= 1;
            let first = start + rng.bounded((held - len) as u64) as usize;
            let mut numbers = vec![first];
            while numbers.len() < len && !self.ended(*numbers.last().unwrap()) {
                numbers.push(first + numbers.len());
            }
            let whole = numbers.len() == len;
            if whole || attempts == 0 {
                let exact = !draw.exact_size || numbers.len() == size;
                let (numbers, burn) = self.burn(draw, numbers);
                return Ok(((numbers, burn, 0), exact));
            }
        }
    }

    fn priority(&self, draw: &Draw, rng: &mut Rng) -> std::result::Result<(Drawn, bool), Kind> {
        if self.config.use_priority == 0 {
            return Err(Kind::Disabled);
        }
        let most = self.config.max_sample_size;
        let usual = if self.config.priority_sample_size == 0 { most } else { self.config.priority_sample_size };
        let size = if draw.size == 0 { usual } else { draw.size };
        if size > most && draw.rule == Rule::Fixed {
            return Err(Kind::Range);
        }
        let size = size.min(most) as usize;
        if self.pools.iter().all(VecDeque::is_empty) {
            return Err(Kind::Empty);
        }
        let mut from = usize::from(rng.bounded(u64::from(draw.skewness) - 1) == 0);
        if self.pools[from].is_empty() {
            from = 1 - from;
        }
        let list = &self.pools[from];
        let attempts = if draw.exact_size || draw.rule == Rule::Original { draw.attempts } else { 1 };
        for attempt in 0..attempts {
            let end = list[rng.bounded(list.len() as u64 - 1) as usize];
            let first = end + 1 - size;
            let mut numbers = Vec::new();
            if draw.rule == Rule::Original {
                let is_checked = attempt + 1 < draw.attempts;
                let mut failed = false;
                for i in first..end {
                    numbers.push(i as u64);
                    if self.ended(i) && is_checked {
                        failed = true;
                        break;
                    }
                }
                numbers.push(end as u64);
                if failed && draw.exact_size {
                    continue;
                }
                return Ok(((numbers, 0, from as u32), true));
            }
            let mut begin = end;
            while begin > first && !self.ended(begin - 1) {
                begin -= 1;
            }
            if begin == first || attempt + 1 == attempts {
                let (numbers, burn) = self.burn(draw, (begin..=end).collect());
                return Ok(((numbers, burn, from as u32), begin == first || !draw.exact_size));
            }
        }
        unreachable!()
    }

    /// A batch: the sample of each draw, and the result of the call.
    fn batch(&self, draw: &Draw, rng: &mut Rng, by_priority: bool, count: usize) -> (Vec<Drawn>, Option<Kind>) {
        let (mut drawn, mut answer) = (Vec::new(), None);
        for _ in 0..count {
            match if by_priority { self.priority(draw, rng) } else { self.uniform(draw, rng) } {
                Ok((sample, true)) => drawn.push(sample),
                Ok((sample, false)) => {
                    drawn.push(sample);
                    answer = Some(Kind::Inexact);
                }
                Err(kind) => return (Vec::new(), Some(kind)),
            }
        }
        (drawn, answer)
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Frames, consecutive or not: increment of the step, new episode, reward, terminated, truncated.
    Add(Vec<(u32, bool, f32, bool, bool)>),
    Draw {
        draw: Draw,
        by_priority: bool,
        count: usize,
        seed: u64,
    },
    Save,
}

fn op() -> impl Strategy<Value = Op> {
    let reward = prop_oneof![Just(0.0f32), Just(0.1), Just(-0.2), Just(1.0), Just(f32::NAN), Just(-0.0)];
    let jump = prop_oneof![9 => Just(1u32), 1 => Just(2), 1 => Just(0)];
    let frame = (jump, prop::bool::weighted(0.1), reward, prop::bool::weighted(0.15), prop::bool::weighted(0.1));
    let draw = (0..8u32, 0..4u32, any::<bool>(), 1..4u32, 1..5u32, any::<bool>()).prop_map(
        |(size, burn_in, exact_size, skewness, attempts, original)| Draw {
            size,
            burn_in: if original { 0 } else { burn_in },
            exact_size,
            skewness,
            attempts,
            rule: if original { Rule::Original } else { Rule::Fixed },
        },
    );
    prop_oneof![
        4 => prop::collection::vec(frame, 1..6).prop_map(Op::Add),
        4 => (draw, any::<bool>(), 1..5usize, any::<u64>())
            .prop_map(|(draw, by_priority, count, seed)| Op::Draw { draw, by_priority, count, seed }),
        1 => Just(Op::Save),
    ]
}

fn picture(number: u64) -> [u8; 2] {
    [number as u8, !(number as u8)]
}

/// Adds frames one by one or as a rollout; the memory and the twin have to answer alike.
fn add_frames(memory: &mut Memory<'_>, twin: &mut Twin, frames: &[Frame]) {
    let number = twin.frames.len() as u64;
    let numbers: Vec<i32> = (number..).take(frames.len()).map(|n| n as i32).collect();
    let pictures: Vec<u8> = (number..).take(frames.len()).flat_map(picture).collect();
    let columns = [Elements::I32(&numbers), Elements::U8(&pictures)];
    let columns = &columns[..memory.config().table.columns().len()];
    let mut after = twin.clone();
    let cuts: Option<Vec<u32>> = frames.iter().map(|frame| after.add(frame)).collect();
    let before = format!("{:?}", memory.view());
    match (memory.add_rollout(frames.iter().copied(), columns), cuts) {
        (Ok(added), Some(cuts)) => {
            assert_eq!((added.number, added.cuts), (number, cuts.iter().sum()));
            *twin = after;
        }
        (Err(error), None) => {
            assert_eq!((error.kind, format!("{:?}", memory.view())), (Kind::Range, before));
            // One by one, the valid frames are added.
            for frame in frames {
                let number = twin.frames.len() as u64;
                let (numbers, pictures) = ([number as i32], picture(number));
                let row = [Elements::I32(&numbers), Elements::U8(&pictures)];
                let row = &row[..columns.len()];
                let added = if number.is_multiple_of(2) { memory.add(frame, row) } else { memory.add_cut(frame, row) };
                match twin.add(frame) {
                    Some(cuts) => assert_eq!(added.map(|added| (added.number, added.cuts)), Ok((number, cuts))),
                    None => assert_eq!(added.unwrap_err().kind, Kind::Range),
                }
            }
        }
        (answer, cuts) => panic!("{answer:?}, twin {cuts:?}"),
    }
}

/// Compares a batch of draws, and what is gathered of them, with the twin's.
fn compare_drawn(memory: &Memory<'_>, twin: &Twin, draw: &Draw, by_priority: bool, count: usize, seed: u64) {
    let (mut rng, mut other) = (Rng::seeded(seed), Rng::seeded(seed));
    let untouched = Sample { first: 77, ..Sample::default() };
    let mut samples = vec![untouched; count];
    let answer = match by_priority {
        true => memory.view().sample_priority(draw, &mut rng, &mut samples),
        false => memory.view().sample_uniform(draw, &mut rng, &mut samples),
    };
    let (wanted, error) = twin.batch(draw, &mut other, by_priority, count);
    assert_eq!(kind(answer), error);
    if wanted.is_empty() {
        assert_eq!(samples, vec![untouched; count]);
        return;
    }
    assert_eq!(rng, other);
    let found: Vec<Drawn> = samples.iter().map(|s| (numbers(s), s.burn_in, s.priority)).collect();
    assert_eq!(found, wanted);
    let gathered = compare_gathered(memory, twin, &samples);
    // `Rule::Original` ignores stacks.
    if draw.rule == Rule::Fixed || memory.config().table.columns().len() == 1 {
        gathered.unwrap();
    }
}

/// Compares all gathered arrays of the samples with the twin's.
fn compare_gathered(memory: &Memory<'_>, twin: &Twin, samples: &[Sample]) -> Result {
    let view = memory.view();
    let len = samples.iter().map(|sample| sample.len as usize).max().unwrap_or(0) + 1;
    let cells = samples.len() * len;
    let (mut got, mut reward) = (vec![-1; cells], vec![-1.0; cells]);
    let (mut terminated, mut truncated, mut valid) = (vec![9; cells], vec![9; cells], vec![9; cells]);
    view.gather(0, samples, len, Layout::Hwc, ElementsMut::I32(&mut got))?;
    let [ends, cuts, are_valid] = [&mut terminated, &mut truncated, &mut valid].map(|flags| Some(&mut flags[..]));
    let out = FramesOut { reward: Some(&mut reward), terminated: ends, truncated: cuts, valid: are_valid };
    view.gather_frames(samples, len, out)?;
    for (b, sample) in samples.iter().enumerate() {
        let mut numbers = sample.numbers();
        for cell in b * len..(b + 1) * len {
            let found = (got[cell], reward[cell].to_bits(), terminated[cell], truncated[cell], valid[cell]);
            let frame = numbers.next().map(|n| (n, &twin.frames[n as usize]));
            let flags = |frame: &Frame| (frame.terminated.into(), frame.truncated.into());
            let wanted = frame.map_or((0, 0, 0, 0, 0), |(n, frame)| {
                (n as i32, frame.reward.to_bits(), flags(frame).0, flags(frame).1, 1)
            });
            assert_eq!(found, wanted);
        }
    }
    if memory.config().table.columns().len() > 1 {
        let mut stacks = vec![9; cells * 6];
        view.gather(1, samples, len, Layout::Chw, ElementsMut::U8(&mut stacks))?;
        for (b, sample) in samples.iter().enumerate() {
            for (at, n) in sample.numbers().enumerate() {
                let mut stack = vec![n];
                while stack.len() < 3 {
                    let n = stack[0];
                    let first = n == 0 || twin.ended(n as usize - 1);
                    stack.insert(0, if first { n } else { n - 1 });
                }
                let wanted: Vec<u8> = stack.into_iter().flat_map(picture).collect();
                assert_eq!(stacks[(b * len + at) * 6..][..6], wanted);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_program_is_answered_as_the_twin_answers_it(
        (h, s) in (1..12u32).prop_flat_map(|h| (Just(h), 1..=h)),
        usual in 0..5u32,
        threshold in prop_oneof![Just(0.1f32), Just(0.0), Just(1.0)],
        use_priority in prop::bool::weighted(0.9),
        stacks in any::<bool>(),
        ops in prop::collection::vec(op(), 1..40),
    ) {
        let columns = if stacks { vec![NUMBER, PICTURE] } else { vec![NUMBER] };
        let config = MemoryConfig {
            max_sample_size: s,
            priority_sample_size: usual.min(s),
            reward_threshold: threshold,
            use_priority: use_priority.into(),
            ..MemoryConfig::new(if stacks { h + 2 } else { h }, &columns)
        };
        let mut home = block(&config);
        let mut away = home.clone();
        let mut twin = Twin::new(config);
            let (mut episode, mut step) = (0, 0);
        for op in ops {
            let mut memory = open(&mut home);
            match op {
                Op::Add(frames) => {
                    let frames: Vec<Frame> = frames
                        .into_iter()
                        .map(|(jump, other, reward, terminated, truncated)| {
                            let ended = twin.frames.last().is_some_and(|last| last.terminated || last.truncated);
                            (episode, step) = if other || (ended && jump != 2) { (episode + 1, 0) } else { (episode, step + jump) };
                            Frame { episode, step, reward, terminated, truncated }
                        })
                        .collect();
                    add_frames(&mut memory, &mut twin, &frames);
                    prop_assert_eq!(memory.view().held(), twin.top as u64..twin.frames.len() as u64);
                    if use_priority {
                        for priority in [false, true] {
                            let wanted: Vec<u64> = twin.pools[usize::from(priority)].iter().map(|&i| i as u64).collect();
                            prop_assert_eq!(pool(&memory, priority), wanted);
                        }
                    }
                }
                Op::Draw { draw, by_priority, count, seed } => {
                    compare_drawn(&memory, &twin, &draw, by_priority, count, seed);
                }
                Op::Save => {
                    let rng = Rng::seeded(twin.frames.len() as u64);
                    memory.store_rng(&rng);
                    away.copy_from_slice(&home);
                    home.fill(u64::MAX);
                    std::mem::swap(&mut home, &mut away);
                    prop_assert_eq!(open(&mut home).rng(), rng);
                }
            }
        }
    }
}

fn row(x: &[i32]) -> [Elements<'_>; 1] {
    [Elements::I32(x)]
}

fn frame(episode: u64, step: u32) -> Frame {
    Frame { episode, step, ..Frame::default() }
}

#[test]
fn configurations_that_make_no_memory_are_refused() {
    let good = config(8, 3);
    let kind = |config: MemoryConfig| Memory::size(&config).map_err(|e| e.kind);
    assert!(kind(good).is_ok());
    for bad in [
        MemoryConfig { max_sample_size: 0, ..good },
        MemoryConfig { max_sample_size: 9, ..good },
        MemoryConfig { max_sample_size: u32::MAX, ..good },
        MemoryConfig { priority_sample_size: 4, ..good },
        MemoryConfig { reward_threshold: f32::NAN, ..good },
        MemoryConfig { reward_threshold: -0.1, ..good },
        MemoryConfig { reward_threshold: f32::INFINITY, ..good },
        MemoryConfig { use_priority: 2, ..good },
        MemoryConfig { max_sample_size: 1, ..MemoryConfig::new(0, &[NUMBER]) },
        MemoryConfig { max_sample_size: 1, ..MemoryConfig::new(2, &[NUMBER, PICTURE]) },
        MemoryConfig { max_sample_size: 7, ..MemoryConfig::new(8, &[NUMBER, PICTURE]) },
        MemoryConfig::new(100, &[]),
        MemoryConfig::new(100, &[NUMBER, NUMBER]),
    ] {
        assert_eq!(kind(bad), Err(Kind::Config), "{bad:?}");
    }
    assert!(kind(MemoryConfig { max_sample_size: 6, ..MemoryConfig::new(8, &[NUMBER, PICTURE]) }).is_ok());
    assert!(kind(MemoryConfig { max_sample_size: 8, ..good }).is_ok());
    let huge = MemoryConfig::new(u32::MAX, &[Column::new("all", Element::F32, u32::MAX)]);
    // On 32-bit processors the column alone is too large.
    assert_eq!(kind(huge), Err(if usize::BITS == 64 { Kind::Overflow } else { Kind::Config }));
}

#[test]
fn what_cannot_be_added_is_refused_and_nothing_of_it_is_kept() {
    let mut home = block(&config(4, 2));
    let mut memory = open(&mut home);
    memory.add_cut(&frame(7, 3), &row(&[0])).unwrap();
    memory.add(&Frame { truncated: true, ..frame(7, 4) }, &row(&[1])).unwrap();
    let before = format!("{:?}", memory.view());
    let kind = |answer: Result<_>| answer.map(|added: rlcore::data::memory::Added| added.number).unwrap_err().kind;
    assert_eq!(kind(memory.add(&frame(7, 5), &row(&[2]))), Kind::Range);
    assert_eq!(kind(memory.add(&frame(7, 0), &row(&[2]))), Kind::Range);
    assert_eq!(kind(memory.add(&frame(8, 0), &[])), Kind::Shape);
    assert_eq!(kind(memory.add(&frame(8, 0), &row(&[]))), Kind::Shape);
    assert_eq!(kind(memory.add(&frame(8, 0), &[Elements::F32(&[0.0])])), Kind::Shape);
    assert_eq!(kind(memory.add(&frame(8, 0), &[row(&[2])[0], row(&[2])[0]])), Kind::Shape);
    let (good, ended) = (frame(8, 0), Frame { terminated: true, ..frame(8, 1) });
    assert_eq!(kind(memory.add_rollout([].into_iter(), &row(&[]))), Kind::Range);
    assert_eq!(kind(memory.add_rollout([good, ended, frame(8, 2)].into_iter(), &row(&[2, 3, 4]))), Kind::Range);
    assert_eq!(kind(memory.add_rollout([good, ended].into_iter(), &row(&[2]))), Kind::Shape);
    assert_eq!(kind(memory.add_rollout([good, ended].into_iter(), &[])), Kind::Shape);
    assert_eq!(kind(memory.add_rollout([good, ended].into_iter(), &[Elements::F32(&[0.0, 0.0])])), Kind::Shape);
    assert_eq!(format!("{:?}", memory.view()), before);
    // A jump or a repetition of the step cuts the episode, and so does the last possible step.
    let added = memory
        .add_rollout([good, frame(8, 2), frame(8, 2), frame(8, u32::MAX), frame(8, 0)].into_iter(), &row(&[2; 5]));
    assert_eq!(added.map(|added| (added.number, added.cuts)), Ok((2, 4)));
    let sample = Sample { first: 3, len: 4, ..Sample::default() };
    let mut truncated = [9; 4];
    let out = FramesOut { truncated: Some(&mut truncated), ..FramesOut::default() };
    memory.view().gather_frames(&[sample], 4, out).unwrap();
    assert_eq!(truncated, [1, 1, 1, 0]);
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    let config = MemoryConfig { priority_sample_size: 2, ..config(4, 3) };
    let mut home = block(&config);
    let mut memory = open(&mut home);
    let original = Draw { rule: Rule::Original, ..Draw::default() };
    let len = |memory: &Memory<'_>, by, draw| {
        let (error, sample) = one(memory, by, draw, &mut Rng::seeded(3));
        error.map_or(Ok(sample.len), Err)
    };
    let uniform = |memory: &Memory<'_>, draw| len(memory, By::All, draw);
    let priority = |memory: &Memory<'_>, draw| len(memory, By::Priority, draw);
    assert_eq!(uniform(&memory, Draw::default()), Err(Kind::NotReady));
    assert_eq!(priority(&memory, Draw::default()), Err(Kind::Empty));
    for step in 0..2 {
        memory.add(&frame(0, step), &row(&[0])).unwrap();
    }
    assert_eq!(uniform(&memory, Draw::default()), Ok(2));
    assert_eq!(uniform(&memory, original), Err(Kind::NotReady));
    assert_eq!(priority(&memory, Draw::default()), Err(Kind::Empty));
    for step in 2..4 {
        memory.add(&frame(0, step), &row(&[0])).unwrap();
    }
    assert_eq!(priority(&memory, Draw::default()), Ok(2));
    assert_eq!(priority(&memory, Draw { size: 3, ..Draw::default() }), Ok(3));
    assert_eq!(priority(&memory, Draw { size: 4, ..Draw::default() }), Err(Kind::Range));
    assert_eq!(priority(&memory, Draw { size: 4, ..original }), Ok(3));
    assert_eq!(uniform(&memory, original), Err(Kind::Range));
    assert_eq!(uniform(&memory, Draw { size: 2, ..original }), Ok(2));
    assert_eq!(uniform(&memory, Draw { size: 9, ..Draw::default() }), Ok(4));
    assert_eq!(uniform(&memory, Draw { size: 9, exact_size: true, ..Draw::default() }), Err(Kind::Inexact));
    let usual = Draw::default();
    for draw in [Draw { skewness: 0, ..usual }, Draw { attempts: 0, ..usual }, Draw { burn_in: 1, ..original }] {
        assert_eq!((uniform(&memory, draw), priority(&memory, draw)), (Err(Kind::Range), Err(Kind::Range)));
    }
    // Without pools there is no priority draw, and the block is smaller.
    let without = MemoryConfig { use_priority: 0, ..config };
    assert!(Memory::size(&without).unwrap() < Memory::size(&config).unwrap());
    let mut home = block(&without);
    let mut memory = open(&mut home);
    memory.add(&frame(0, 0), &row(&[0])).unwrap();
    assert_eq!(priority(&memory, Draw::default()), Err(Kind::Disabled));
    assert_eq!(uniform(&memory, Draw::default()), Ok(1));
}

#[test]
fn frames_that_are_gone_or_never_were_are_not_gathered() {
    let mut home = block(&config(4, 2));
    let mut memory = open(&mut home);
    for step in 0..6 {
        memory.add(&Frame { reward: step as f32, ..frame(0, step) }, &row(&[step as i32])).unwrap();
    }
    let good = Sample { first: 2, len: 2, ..Sample::default() };
    let gather = |memory: &Memory<'_>, sample: Sample, len: usize| {
        let (mut x, mut reward) = (vec![9; 2 * len], vec![9.0; 2 * len]);
        let first = memory.view().gather(0, &[good, sample], len, Layout::Hwc, ElementsMut::I32(&mut x));
        let out = FramesOut { reward: Some(&mut reward), ..FramesOut::default() };
        let second = memory.view().gather_frames(&[good, sample], len, out);
        assert_eq!(first.map_err(|e| e.kind), second.map_err(|e| e.kind));
        if first.is_err() {
            assert_eq!((&x, &reward), (&vec![9; 2 * len], &vec![9.0; 2 * len]));
        }
        assert!(first.is_err() || x.iter().zip(&reward).all(|(&x, &reward)| x as f32 == reward));
        first.map(|()| x).map_err(|e| e.kind)
    };
    assert_eq!(gather(&memory, Sample { first: 3, len: 3, ..good }, 4), Ok(vec![2, 3, 0, 0, 3, 4, 5, 0]));
    assert_eq!(gather(&memory, Sample { first: 2, len: 3, gap: 1, ..good }, 3), Ok(vec![2, 3, 0, 2, 3, 5]));
    for bad in [
        Sample { first: 1, ..good },
        Sample { first: 5, ..good },
        Sample { first: 6, ..good },
        Sample { first: u64::MAX, ..good },
        Sample { len: 0, ..good },
        Sample { len: 4, ..good },
        Sample { len: u32::MAX, ..good },
        Sample { burn_in: 2, ..good },
        Sample { gap: 3, ..good },
        Sample { gap: u32::MAX, ..good },
        Sample { len: 1, gap: 1, ..good },
        Sample { priority: 2, ..good },
    ] {
        assert_eq!(gather(&memory, bad, 3), Err(Kind::Range), "{bad:?}");
    }
    let error = memory.view().check(&[Sample { first: 5, len: 3, ..good }], 3, false).unwrap_err();
    assert_eq!(error, error.needed(6).given(7), "the last frame of a sequence is named");
    memory.add(&frame(0, 6), &row(&[6])).unwrap();
    assert_eq!(gather(&memory, good, 2), Err(Kind::Range), "forgotten since the draw");
}

#[test]
fn arrays_of_other_shapes_are_not_filled() {
    let mut home = block(&config(4, 2));
    let mut memory = open(&mut home);
    for step in 0..7 {
        memory.add(&frame(0, step), &row(&[step as i32])).unwrap();
    }
    let view = memory.view();
    let now = Sample { first: 5, len: 2, ..Sample::default() };
    let mut x = [0; 3];
    let shape = |answer: Result| answer.unwrap_err().kind;
    assert_eq!(shape(view.gather(0, &[now], 2, Layout::Hwc, ElementsMut::I32(&mut x))), Kind::Shape);
    assert_eq!(shape(view.gather(0, &[now], 3, Layout::Hwc, ElementsMut::F32(&mut [0.0; 3]))), Kind::Shape);
    assert_eq!(shape(view.gather(1, &[now], 3, Layout::Hwc, ElementsMut::I32(&mut x))), Kind::Range);
    for i in 0..4 {
        let (mut short, mut bytes) = ([0.0; 2], [[0; 2]; 3]);
        let [a, b, c] = &mut bytes;
        let mut out = FramesOut::default();
        match i {
            0 => out.reward = Some(&mut short),
            1 => out.terminated = Some(a),
            2 => out.truncated = Some(b),
            _ => out.valid = Some(c),
        }
        assert_eq!(shape(view.gather_frames(&[now], 3, out)), Kind::Shape);
    }
}

/// A held frame whose oldest stack is incomplete: refused where stacks are read, before anything is written.
#[test]
fn frames_without_their_stacks_are_read_from_other_columns() {
    let config = MemoryConfig { max_sample_size: 1, ..MemoryConfig::new(4, &[NUMBER, PICTURE]) };
    let mut home = block(&config);
    let mut memory = open(&mut home);
    for step in 0..6 {
        memory.add(&frame(0, step), &[Elements::I32(&[step as i32]), Elements::U8(&picture(step.into()))]).unwrap();
    }
    let [whole, torn] = [4, 3].map(|first| Sample { first, len: 1, ..Sample::default() });
    let (mut numbers, mut pictures) = ([9; 2], [9; 12]);
    memory.view().gather(0, &[whole, torn], 1, Layout::Hwc, ElementsMut::I32(&mut numbers)).unwrap();
    assert_eq!(numbers, [4, 3]);
    let answer = memory.view().gather(1, &[whole, torn], 1, Layout::Hwc, ElementsMut::U8(&mut pictures));
    assert_eq!((answer.unwrap_err().kind, pictures), (Kind::Range, [9; 12]));
}

/// A concurrent writer has counted frame 1 but not listed it yet: the number it is about to remove is not drawn.
#[test]
fn numbers_that_a_writer_is_about_to_forget_are_not_drawn() {
    let config = config(1, 1);
    let mut home = block(&config);
    open(&mut home).add(&frame(0, 0), &row(&[0])).unwrap();
    let draw = |home: &mut [u64], exact_size: bool| {
        let (view, mut sample) = (View::attach(bytes(home)).unwrap(), [Sample::default()]);
        let draw = Draw { exact_size, ..Draw::default() };
        let drawn = view.sample_priority(&draw, &mut Rng::seeded(1), &mut sample).map_err(|e| e.kind);
        (drawn.map(|()| sample[0].first), view.pool_number(false, 0).map_err(|e| e.kind))
    };
    assert_eq!([draw(&mut home, false), draw(&mut home, true)], [(Ok(0), Ok(0)); 2]);
    let pushed = spans(&config).unwrap().0.table.pushed.start();
    bytes(&mut home)[pushed..pushed + 8].copy_from_slice(&2u64.to_ne_bytes());
    assert_eq!([draw(&mut home, false), draw(&mut home, true)], [(Err(Kind::Busy), Err(Kind::Range)); 2]);
}

/// Frames are held, but for a moment no pool lists any: `Busy`, unlike `Empty` without drawable frames.
#[test]
fn pools_that_a_writer_beside_has_emptied_are_looked_at_again() {
    let config = config(4, 3);
    let (spans, _) = spans(&config).unwrap();
    let mut home = block(&config);
    add_all(&mut open(&mut home), &[(0.0, false); 2]);
    let draw = |home: &mut [u64]| {
        let (view, mut samples) = (View::attach(bytes(home)).unwrap(), [Sample::default()]);
        view.sample_priority(&Draw::default(), &mut Rng::seeded(1), &mut samples).map_err(|e| e.kind)
    };
    assert_eq!(draw(&mut home), Err(Kind::Empty));
    home = block(&config);
    add_all(&mut open(&mut home), &[(0.0, false); 3]);
    assert_eq!(draw(&mut home), Ok(()));
    let pools = spans.index.state.start() + std::mem::offset_of!(State, pools);
    bytes(&mut home)[pools..pools + 16].fill(0);
    assert_eq!(draw(&mut home), Err(Kind::Busy));
}

/// A partly stored random stream makes the bytes no image.
#[test]
fn a_writer_that_died_amid_a_stream_leaves_no_image() {
    let config = config(4, 3);
    let (spans, _) = spans(&config).unwrap();
    let mut home = block(&config);
    let mut memory = open(&mut home);
    assert_eq!(memory.view().rng(), Ok(Rng::seeded(0)));
    memory.store_rng(&Rng::seeded(7));
    assert_eq!((memory.rng(), memory.view().rng()), (Rng::seeded(7), Ok(Rng::seeded(7))));
    let (changes, reserved) = (std::mem::offset_of!(State, rng_changes), std::mem::offset_of!(State, reserved));
    let low = |word: usize| if cfg!(target_endian = "big") { word + 3 } else { word }; // the low byte of a word
    for field in [changes, reserved] {
        let (mut home, at) = (home.clone(), low(spans.index.state.start() + field));
        bytes(&mut home)[at] ^= 1;
        assert_eq!(Memory::attach(bytes(&mut home)).unwrap_err().kind, Kind::Image);
        let read = View::attach(bytes(&mut home)).unwrap().rng().map_err(|e| e.kind);
        assert_eq!(read, if field == reserved { Ok(Rng::seeded(7)) } else { Err(Kind::Busy) });
    }
}

#[test]
fn rules_have_numbers_and_configurations_lie_in_the_first_bytes() {
    let numbers = [0, 1, 2, u32::MAX].map(Rule::from_number);
    assert_eq!(numbers, [Some(Rule::Fixed), Some(Rule::Original), None, None]);
    let config = config(8, 3);
    let mut home = block(&config);
    let start = &bytes(&mut home)[..Front::END];
    let (spans, size) = spans(&config).unwrap();
    let front = Front::of(start).unwrap();
    assert_eq!((front.config, front.size), (&config, size));
    assert_eq!(bytemuck::bytes_of(front.spans), bytemuck::bytes_of(&spans));
    assert!(Front::of(&start[..start.len() - 1]).is_err());
    assert_eq!(Front::of(&start[..8]).unwrap_err().kind, Kind::Size);
}

/// Slots of frames not added yet, and pools that are absent, have to be empty.
#[test]
fn images_with_something_where_nothing_is_are_refused() {
    for use_priority in [0, 1] {
        let config = MemoryConfig { use_priority, ..config(8, 3) };
        let (spans, _) = spans(&config).unwrap();
        let mut home = block(&config);
        add_all(&mut open(&mut home), &[(0.0, false); 3]);
        open(&mut home);
        let refused = |at: usize, with: &[u8]| {
            assert_eq!(kind(Memory::attach(bytes(&mut forged(&home, &[(at, with)])))), Some(Kind::Image), "byte {at}");
        };
        for slot in 3..8 {
            refused(spans.index.reward.start() + 4 * slot, &1f32.to_ne_bytes());
            refused(spans.index.reach.start() + 4 * slot, &1u32.to_ne_bytes());
            refused(spans.index.terminated.start() + slot, &[1]);
            refused(spans.index.truncated.start() + slot, &[1]);
        }
        for word in 0..4 {
            refused(spans.index.state.start() + std::mem::offset_of!(State, pools) + 4 * word, &2u32.to_ne_bytes());
        }
    }
}

/// An image with one changed word or byte is refused where it contradicts the rest.
#[test]
fn images_that_no_calls_lead_to_are_refused() {
    let config = config(8, 3);
    let (spans, _) = spans(&config).unwrap();
    let mut home = block(&config);
    let mut memory = open(&mut home);
    let frames: Vec<(f32, bool)> = (0..11).map(|i| (if i % 4 == 1 { 1.0 } else { 0.0 }, i == 2 || i == 6)).collect();
    add_all(&mut memory, &frames);
    // Frames 3 to 10 in slots 3 to 7 and 0 to 2; frame 6 ends an episode; the newest frame has step 3.
    open(&mut home);
    let damage = |at: usize, with: &[u8]| {
        let mut image = forged(&home, &[(at, with)]);
        assert_ne!(image, home);
        kind(Memory::attach(bytes(&mut image)))
    };
    let words = |x: &[u32]| x.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    let state = spans.index.state.start();
    let (step, head) = (state + std::mem::offset_of!(State, step), state + std::mem::offset_of!(State, head));
    let (queues, rng) = (state + std::mem::offset_of!(State, pools), state + std::mem::offset_of!(State, rng));
    let (pools, reach) = (spans.index.pools.start(), spans.index.reach.start());
    let image = Some(Kind::Image);
    let plan = Front::END - size_of::<Spans>()..Front::END;
    for at in plan.step_by(8) {
        let mut block = home.clone();
        block[at / 8] = block[at / 8].wrapping_add(64);
        assert_eq!(kind(Memory::attach(bytes(&mut block))), image, "plan at {at}");
        assert_eq!(kind(View::attach(bytes(&mut block))), image, "plan at {at}");
    }
    assert_eq!(damage(step, &words(&[2])), image, "the newest reaches back to step 0");
    assert_eq!(damage(step, &words(&[4])), None, "its episode may have started with step 1");
    assert_eq!(damage(head, &words(&[4])), image);
    assert_eq!(damage(head, &words(&[u32::MAX])), image);
    for i in 0..4 {
        for value in [8, u32::MAX] {
            assert_eq!(damage(queues + 4 * i, &words(&[value])), image, "queue word {i}, {value}");
        }
    }
    assert_eq!(damage(rng + 39, &[9]), image, "half a draw");
    for i in 0..16 {
        assert_eq!(damage(pools + 4 * i, &words(&[77])), image, "pool entry {i}");
    }
    for slot in 0..8 {
        assert_eq!(damage(reach + 4 * slot, &words(&[8])), image, "reach {slot}");
        assert_eq!(damage(spans.index.terminated.start() + slot, &[2]), image);
        assert_eq!(damage(spans.index.truncated.start() + slot, &[255]), image);
        let reward = spans.index.reward.start() + 4 * slot;
        let is_zero = bytemuck::cast_slice::<_, u8>(&home)[reward..][..4] == 0f32.to_ne_bytes();
        let is_listed = !(3..5).contains(&slot);
        assert_eq!(damage(reward, &f32::from(is_zero).to_ne_bytes()), image.filter(|_| is_listed), "reward {slot}");
        assert_eq!(damage(spans.table.age.start() + slot, &[9]), image);
    }
    assert_eq!(damage(spans.index.truncated.start() + 4, &[1]), image, "an end that the next frame does not know of");
    assert_eq!(damage(spans.index.terminated.start() + 6, &[0]), image, "no end where the next frame starts");
    assert_eq!(damage(spans.index.terminated.start() + 2, &[1]), None, "the newest may have ended");
    assert_eq!(damage(spans.table.pushed.start(), &19u64.to_ne_bytes()), image, "other numbers in the pools");
    assert_eq!(damage(spans.table.writing.start(), &words(&[1])), image);
}

/// A copy continues like the original, byte for byte.
#[test]
fn copies_are_the_same_memory() {
    let config = MemoryConfig { max_sample_size: 4, ..MemoryConfig::new(50, &[NUMBER, PICTURE]) };
    let (mut home, mut away) = (block(&config), block(&config));
    let mut memory = open(&mut home);
    let rng = &mut Rng::seeded(1);
    let mut step = |memory: &mut Memory<'_>| {
        let number = memory.view().held().end;
        let (reward, other) = (rng.uniform_f32(), rng.bounded(9) == 0);
        let frame =
            Frame { episode: number / 9, step: (number % 9) as u32, reward, terminated: other, truncated: false };
        let _ = memory.add(&frame, &[Elements::I32(&[number as i32]), Elements::U8(&picture(number))]);
    };
    for _ in 0..120 {
        step(&mut memory);
    }
    memory.store_rng(&Rng::stream(3, 4));
    away.copy_from_slice(&home);
    let mut memories = [open(&mut home), open(&mut away)];
    let mut samples = [[Sample::default(); 64]; 2];
    for (memory, samples) in memories.iter_mut().zip(&mut samples) {
        let mut rng = memory.rng();
        memory.view().sample_priority(&Draw { burn_in: 2, ..Draw::default() }, &mut rng, samples).unwrap();
        memory.store_rng(&rng);
        let frame = Frame { terminated: true, ..frame(1000, 0) };
        memory.add(&frame, &[Elements::I32(&[1]), Elements::U8(&[2, 3])]).unwrap();
    }
    assert_eq!(samples[0], samples[1]);
    assert_eq!(home, away);
}
