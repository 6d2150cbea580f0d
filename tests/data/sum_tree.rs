//! The tree of weights against lists of weights, and against the promised frequencies.

use proptest::prelude::*;
use rlcore::block::{Cutter, Plan};
use rlcore::cpu;
use rlcore::data::sum_tree::{Spans, SumTree, spans};
use rlcore::error::Kind;
use rlcore::rng::Rng;

struct Block {
    words: Vec<u64>,
    len: usize,
    spans: Spans,
}

impl Block {
    fn new(len: usize) -> Block {
        let mut plan = Plan::default();
        let spans = spans(&mut plan, len).unwrap();
        let mut block = Block { words: vec![0; plan.size().unwrap() / 8], len, spans };
        block.tree().clear();
        block
    }

    fn tree(&mut self) -> SumTree<'_> {
        SumTree::take(&mut Cutter::new(bytemuck::cast_slice_mut(&mut self.words)), &self.spans, self.len).unwrap()
    }

    fn bytes(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }
}

/// Children in memory order: four lanes, one after another.
fn order(children: usize) -> impl Iterator<Item = usize> {
    (0..4).flat_map(|lane| (0..4).map(move |row| 4 * row + lane)).filter(move |&child| child < children)
}

/// Items in the memory order of the tree, from the top down.
fn side_by_side(len: usize) -> Vec<u32> {
    fn walk(first: usize, span: usize, len: usize, out: &mut Vec<u32>) {
        for child in order(16) {
            let at = first + child * span;
            if at < len && span == 1 {
                out.push(at as u32);
            } else if at < len {
                walk(at, span / 16, len, out);
            }
        }
    }
    let mut span = 1;
    while span * 16 < len {
        span *= 16;
    }
    let mut out = Vec::new();
    walk(0, span, len, &mut out);
    out
}

/// The item at a mass, by a search from the left in f64.
fn search(weights: &[f32], order: &[u32], mass: f64) -> u32 {
    let mut end = 0.0;
    let mut last = None;
    for &item in order.iter().filter(|&&item| weights[item as usize] > 0.0) {
        end += f64::from(weights[item as usize]);
        last = Some(item);
        if mass < end {
            return item;
        }
    }
    last.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Small whole weights add up without rounding: every mass has one right answer.
    #[test]
    fn finds_what_a_search_finds(
        len in 1usize..5000,
        changes in proptest::collection::vec((any::<u32>(), 0u32..9), 1..600),
        seed in any::<u64>(),
    ) {
        let mut block = Block::new(len);
        let mut weights = vec![0.0; len];
        let (slots, new): (Vec<u32>, Vec<f32>) =
            changes.iter().map(|&(slot, weight)| (slot % len as u32, weight as f32)).unzip();
        for (&slot, &weight) in slots.iter().zip(&new) {
            weights[slot as usize] = weight;
        }
        let mut tree = block.tree();
        tree.set(&slots, &new).unwrap();
        tree.check_image().unwrap();
        let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        let least = weights.iter().copied().filter(|weight| *weight > 0.0).fold(f32::INFINITY, f32::min);
        let view = tree.view();
        prop_assert_eq!((view.total(), view.min()), (total, least));
        for (slot, &weight) in weights.iter().enumerate() {
            prop_assert_eq!(view.weight(slot), weight);
        }
        let rng = &mut Rng::seeded(seed);
        let mut mass: Vec<f64> = (0..200).map(|_| rng.uniform() * total).collect();
        mass.extend([0.0, total / 2.0, total - 0.5, total, total + 1.0, total * 2.0]);
        let expected = mass.clone();
        let mut found = vec![7; mass.len()];
        if total == 0.0 {
            prop_assert_eq!(view.find(&mut mass, &mut found).unwrap_err().kind, Kind::NotReady);
            prop_assert_eq!((mass, found), (expected, vec![7; 206]));
            return Ok(());
        }
        view.find(&mut mass, &mut found).unwrap();
        let order = side_by_side(len);
        for (&found, &mass) in found.iter().zip(&expected) {
            prop_assert_eq!(found, search(&weights, &order, mass.min(total - 0.25)), "mass {} of {}", mass, total);
        }
    }

    /// Weights of all magnitudes: despite rounding, only weights above 0 are drawn, and the order of updates leaves no trace.
    #[test]
    fn never_lands_on_nothing(
        len in 1usize..3000,
        changes in proptest::collection::vec((any::<u32>(), 0usize..7), 1..400),
        seed in any::<u64>(),
    ) {
        const SIZES: [f32; 7] = [0.0, 1e-30, 3e-7, 0.1, 1.7, 3e7, 1e38];
        let (mut block, mut other) = (Block::new(len), Block::new(len));
        let mut weights = vec![0.0f32; len];
        for &(slot, size) in &changes {
            let slot = slot % len as u32;
            weights[slot as usize] = SIZES[size];
            block.tree().set(&[slot], &[SIZES[size]]).unwrap();
        }
        let all: Vec<u32> = (0..len as u32).rev().collect();
        let reversed: Vec<f32> = weights.iter().rev().copied().collect();
        other.tree().set(&all, &reversed).unwrap();
        prop_assert!(block.words == other.words, "the way to the weights left a trace");
        let tree = block.tree();
        let total = tree.view().total();
        if total > 0.0 {
            let rng = &mut Rng::seeded(seed);
            let mut mass: Vec<f64> = (0..300).map(|_| rng.uniform() * total).collect();
            mass.extend([0.0, total * (1.0 - f64::EPSILON), total, total * 1.5, f64::INFINITY]);
            // Just before, at and after each boundary of the tree's own sums.
            let mut end = 0.0;
            for item in side_by_side(len) {
                end += f64::from(weights[item as usize]);
                mass.extend([end * (1.0 - f64::EPSILON), end, end * (1.0 + f64::EPSILON)]);
            }
            let mut found = vec![0; mass.len()];
            tree.view().find(&mut mass, &mut found).unwrap();
            for found in found {
                prop_assert!(weights[found as usize] > 0.0, "item {} of weight 0", found);
            }
        }
    }

    #[test]
    fn all_levels_give_the_same_bytes(len in 1usize..2000, seed in any::<u64>()) {
        let results = cpu::LEVELS.map(|level| {
            cpu::set_limit(level);
            let rng = &mut Rng::seeded(seed);
            let mut block = Block::new(len);
            let slots: Vec<u32> = (0..500).map(|_| rng.bounded(len as u64 - 1) as u32).collect();
            let weights: Vec<f32> = slots.iter().map(|_| 1.0 / (1.0 + 1e4 * rng.uniform_f32())).collect();
            block.tree().set(&slots, &weights).unwrap();
            let total = block.tree().view().total();
            let mut mass: Vec<f64> = (0..100).map(|_| rng.uniform() * total).collect();
            let mut found = vec![0; 100];
            block.tree().view().find(&mut mass, &mut found).unwrap();
            (block.words, found)
        });
        cpu::set_limit(cpu::Level::Avx512);
        prop_assert!(results[0] == results[1] && results[1] == results[2]);
    }
}

#[test]
fn refuses_by_name_and_writes_nothing() {
    let mut block = Block::new(20);
    block.tree().set(&[3, 19], &[1.0, 2.0]).unwrap();
    let before = block.words.clone();
    let cases: [(&[u32], &[f32], Kind, &str); 7] = [
        (&[0, 20], &[1.0, 1.0], Kind::Range, "sum_tree: an item below 20, given 20"),
        (&[0, u32::MAX], &[1.0, 1.0], Kind::Range, "sum_tree: an item below 20, given 4294967295"),
        (&[0, 1], &[1.0, -0.5], Kind::Range, "sum_tree: a weight of at least 0, given -0.5"),
        (&[0, 1], &[1.0, f32::NAN], Kind::Value, "sum_tree: a finite weight, given NaN"),
        (&[0, 1], &[1.0, f32::INFINITY], Kind::Value, "sum_tree: a finite weight, given inf"),
        (&[0, 1], &[1.0, f32::NEG_INFINITY], Kind::Value, "sum_tree: a finite weight, given -inf"),
        (&[0, 1], &[1.0], Kind::Shape, "sum_tree: as many weights as items, 2, given 1"),
    ];
    for (slots, weights, kind, words) in cases {
        let error = block.tree().set(slots, weights).unwrap_err();
        assert_eq!((error.kind, error.to_string().as_str()), (kind, words));
        assert_eq!(block.words, before);
    }
    let error = block.tree().view().find(&mut [0.0, 1.0], &mut [0]).unwrap_err();
    assert_eq!(error.to_string(), "sum_tree: as many items as masses, 2, given 1");
    assert!(spans(&mut Plan::default(), 0).is_err());
    #[cfg(target_pointer_width = "64")]
    assert!(spans(&mut Plan::default(), (1 << 32) + 1).is_err());
}

#[test]
fn refuses_damaged_bytes() {
    let mut block = Block::new(300);
    let rng = &mut Rng::seeded(3);
    let slots: Vec<u32> = (0..250).collect();
    let weights: Vec<f32> = slots.iter().map(|_| 0.5 + rng.uniform_f32()).collect();
    block.tree().set(&slots, &weights).unwrap();
    block.tree().check_image().unwrap();
    let Spans { weights, marks, .. } = block.spans;
    let ends = [(weights.start(), 304 * 4), (block.spans.sums.start(), 3 * 128), (block.spans.begins.start(), 3 * 128)];
    let ends = ends.into_iter().chain([(block.spans.mins.start(), 3 * 64), (marks.start(), 3 * 16)]);
    for (start, len) in ends {
        for at in (start..start + len).step_by(3) {
            block.bytes()[at] ^= 1;
            assert_eq!(block.tree().check_image().unwrap_err().kind, Kind::Image, "byte {at}");
            block.bytes()[at] ^= 1;
        }
    }
    block.tree().check_image().unwrap();
}

/// Weights that no call can set, with consistent sums, minima and derived values.
#[test]
fn refuses_bad_weights_under_the_right_sums() {
    let mut block = Block::new(32);
    block.tree().set(&[3, 25], &[1.0, 2.0]).unwrap();
    block.tree().check_image().unwrap();
    block.len = 26;
    block.tree().check_image().unwrap();
    block.len = 25;
    assert_eq!(block.tree().check_image().unwrap_err().kind, Kind::Image, "a weight behind the last item");

    let mut block = Block::new(1);
    let Spans { weights, sums, .. } = block.spans;
    let zero: [f32; 16] = [0.0; 16];
    for (weight, sum) in [(-0.0f32, 0.0f64), (f32::INFINITY, f64::INFINITY)] {
        let mut node = zero;
        node[0] = weight;
        block.bytes()[weights.start()..][..64].copy_from_slice(bytemuck::bytes_of(&node));
        block.bytes()[sums.start()..][..8].copy_from_slice(&sum.to_ne_bytes());
        assert_eq!(block.tree().check_image().unwrap_err().kind, Kind::Image, "a weight of {weight}");
        block.tree().clear();
        block.tree().check_image().unwrap();
    }
}

/// 1.5 + s is rounded up, so a mass just below it still falls into the second node, where it is rounded up to s, the total of
/// that node: its last weight is drawn, not one behind it.
#[test]
fn a_mass_that_rounding_moves_past_a_node_falls_on_its_last_weight() {
    let s = f64::from(1u32 << 26) * f64::from(1u32 << 26) + 2.0;
    let mut block = Block::new(256);
    // In the order of the tree: node 0, then node 4 with its children 0 and 4, then nodes 8 and 1.
    let slots = [0, 64, 68, 128, 16];
    block.tree().set(&slots, &[1.5, (s - 2.0) as f32, 2.0, 4.0, 8.0]).unwrap();
    let tree = block.tree();
    assert_eq!((1.5 + s, tree.view().total()), (s + 2.0, s + 14.0));
    let (mut mass, mut found) = ([1.0, 1.5, s, s + 1.0, s + 2.0, s + 6.0], [9; 6]);
    tree.view().find(&mut mass, &mut found).unwrap();
    assert_eq!(found, [0, 64, 68, 68, 128, 16]);
}

/// Sum of (drawn - expected)^2 / expected over groups with enough expected draws, and the number of groups.
fn chi_square(drawn: &[u32], weights: &[f32], draws: f64) -> (f64, f64) {
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let (mut chi, mut groups) = (0.0, 0.0);
    let (mut expected, mut seen) = (0.0, 0.0);
    for (&drawn, &weight) in drawn.iter().zip(weights) {
        expected += f64::from(weight) / total * draws;
        seen += f64::from(drawn);
        if expected >= 8.0 {
            chi += (seen - expected) * (seen - expected) / expected;
            groups += 1.0;
            (expected, seen) = (0.0, 0.0);
        }
    }
    (chi, groups)
}

#[test]
fn draws_a_million_items_in_proportion_to_their_weights() {
    const ITEMS: usize = 1 << 20;
    const DRAWS: usize = 1 << 24;
    let rng = &mut Rng::seeded(11);
    let all: Vec<u32> = (0..ITEMS as u32).collect();
    // Weights of very different sizes, a tenth of them 0.
    let weights: Vec<f32> =
        all.iter().map(|i| if i % 10 == 3 { 0.0 } else { (10.0 * rng.uniform_f32() - 5.0).exp() }).collect();
    let mut block = Block::new(ITEMS);
    block.tree().set(&all, &weights).unwrap();
    let tree = block.tree();
    let view = tree.view();
    let mut drawn = vec![0u32; ITEMS];
    let (mut mass, mut found) = (vec![0.0; 4096], vec![0; 4096]);
    for _ in 0..DRAWS / 4096 {
        mass.fill_with(|| rng.uniform() * view.total());
        view.find(&mut mass, &mut found).unwrap();
        found.iter().for_each(|&item| drawn[item as usize] += 1);
    }
    assert!(drawn.iter().zip(&weights).all(|(&drawn, &weight)| drawn == 0 || weight > 0.0));
    let (chi, groups) = chi_square(&drawn, &weights, DRAWS as f64);
    let deviations = (chi - groups) / (2.0 * groups).sqrt();
    assert!(
        groups > 100_000.0 && deviations.abs() < 4.0,
        "chi-square {chi} of {groups} groups: {deviations} deviations"
    );

    // The test would detect a fortieth of the weight in the wrong half.
    let mut wrong = weights.clone();
    wrong.iter_mut().take(ITEMS / 2).for_each(|weight| *weight *= 1.1);
    let (chi, groups) = chi_square(&drawn, &wrong, DRAWS as f64);
    assert!((chi - groups) / (2.0 * groups).sqrt() > 8.0);
}

fn updates_without_drift(updates: usize) {
    const ITEMS: usize = 1 << 20;
    let rng = &mut Rng::seeded(5);
    let mut block = Block::new(ITEMS);
    let mut weights = vec![0.0f32; ITEMS];
    let (mut slots, mut new) = ([0u32; 256], [0.0f32; 256]);
    for _ in 0..updates / 256 {
        slots.fill_with(|| rng.next_u32() % ITEMS as u32);
        // 20 powers of two: a tree updated by differences would accumulate rounding errors.
        new.fill_with(|| rng.uniform_f32() * f32::from(1u16 << (rng.next_u32() % 16)));
        block.tree().set(&slots, &new).unwrap();
        for (&slot, &weight) in slots.iter().zip(&new) {
            weights[slot as usize] = weight;
        }
    }
    let mut fresh = Block::new(ITEMS);
    let all: Vec<u32> = (0..ITEMS as u32).collect();
    fresh.tree().set(&all, &weights).unwrap();
    assert!(block.words == fresh.words, "the sums depend on the way to the weights");
    let exact: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    assert!((block.tree().view().total() / exact - 1.0).abs() < 1e-13);
}

#[test]
fn sums_have_no_drift_after_a_million_updates() {
    updates_without_drift(1 << 20);
}

#[test]
#[ignore = "10^8 updates take a while"]
fn sums_have_no_drift_after_a_hundred_million_updates() {
    updates_without_drift(100_000_000);
}
