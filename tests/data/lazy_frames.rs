//! Frame rings against a twin that stores whole stacks, in every state that pushes can reach.

use proptest::prelude::*;
use rlcore::cpu;
use rlcore::data::lazy_frames::{Frames, LazyFrames, LazyFramesConfig, spans};
use rlcore::data::table::{Column, FrameIndex, MAX_COLUMNS, Run, Spans, Table, TableConfig, View};
use rlcore::error::Kind;
use rlcore::kernels::stack::{self, Layout, MAX_STACK, Window, unit};
use rlcore::rng::Rng;
use rlcore::space::{Element, ElementsMut};

use super::blocks::{bytes, forged, kind};

const LAYOUTS: [Layout; 2] = [Layout::Hwc, Layout::Chw];

fn config(num_envs: u32, num_frames: u32, (height, width, channels): (u32, u32, u32), k: u32) -> LazyFramesConfig {
    LazyFramesConfig { num_envs, num_frames, height, width, channels, num_stack: k }
}

fn frame_len(c: &LazyFramesConfig) -> usize {
    (c.height * c.width * c.channels) as usize
}

fn stack_len(c: &LazyFramesConfig) -> usize {
    frame_len(c) * c.num_stack as usize
}

fn spans_of(c: &LazyFramesConfig) -> Spans {
    spans(&c.table().unwrap()).unwrap().0
}

/// The block of rings without frames.
fn block(config: &LazyFramesConfig) -> Vec<u64> {
    let mut block = vec![0; LazyFrames::size(config).unwrap() / 8];
    LazyFrames::init(bytes(&mut block), config).unwrap();
    block
}

fn open(mem: &mut [u64]) -> LazyFrames<'_> {
    LazyFrames::attach(bytes(mem)).unwrap()
}

fn frame(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.next_u64() as u8).collect()
}

/// The stacks of a frame-stacking wrapper, for every frame ever pushed to one environment.
#[derive(Clone, Default)]
struct Twin {
    stacks: Vec<Vec<Vec<u8>>>,
    starts: Vec<usize>,
}

impl Twin {
    fn push(&mut self, k: usize, frame: &[u8], first: bool) {
        let n = self.stacks.len();
        if first {
            self.stacks.push(vec![frame.to_vec(); k]);
            self.starts.push(n);
        } else {
            let mut stack = self.stacks[n - 1].clone();
            stack.remove(0);
            stack.push(frame.to_vec());
            self.stacks.push(stack);
            self.starts.push(self.starts[n - 1]);
        }
    }

    /// The oldest frame in the stack of frame `number`.
    fn oldest(&self, k: usize, number: usize) -> usize {
        self.starts[number].max((number + 1).saturating_sub(k))
    }

    fn held(&self, c: &LazyFramesConfig) -> std::ops::Range<usize> {
        self.stacks.len().saturating_sub(c.num_frames as usize)..self.stacks.len()
    }

    fn has(&self, c: &LazyFramesConfig, number: usize) -> bool {
        let held = self.held(c);
        held.contains(&number) && self.oldest(c.num_stack as usize, number) >= held.start
    }

    fn has_transition(&self, c: &LazyFramesConfig, number: usize) -> bool {
        self.has(c, number) && number + 1 < self.stacks.len() && self.starts[number + 1] == self.starts[number]
    }
}

/// A stack built element by element from the definition of the layouts.
fn materialised(c: &LazyFramesConfig, frames: &[Vec<u8>], layout: Layout) -> Vec<u8> {
    let (pixels, channels) = ((c.height * c.width) as usize, c.channels as usize);
    let mut out = vec![0; pixels * channels * frames.len()];
    for (j, frame) in frames.iter().enumerate() {
        for p in 0..pixels {
            for ch in 0..channels {
                let at = match layout {
                    Layout::Hwc => p * channels * frames.len() + j * channels + ch,
                    Layout::Chw => (j * channels + ch) * pixels + p,
                };
                out[at] = frame[p * channels + ch];
            }
        }
    }
    out
}

fn scaled(x: &[u8]) -> Vec<f32> {
    x.iter().map(|&x| f32::from(x) / 255.0).collect()
}

/// Compares the answers to every query about one number, held or not, with the twin's.
fn compare_number(c: &LazyFramesConfig, view: &View<'_>, twin: &Twin, env: usize, number: usize) {
    let (k, len) = (c.num_stack as usize, stack_len(c));
    let index = [FrameIndex::new(env as u32, number as u64)];
    let mut numbers = vec![77; k];
    let answer = view.stack_numbers(0, env, number as u64, &mut numbers);
    if twin.has(c, number) {
        answer.unwrap();
        let oldest = twin.oldest(k, number);
        let expected: Vec<u64> = (0..k).map(|j| (number + j).saturating_sub(k - 1).max(oldest) as u64).collect();
        assert_eq!(numbers, expected);
    } else {
        assert_eq!((kind(answer), numbers), (Some(Kind::Range), vec![77; k]));
        let mut out = vec![7; len];
        let refused = view.gather(0, &index, Layout::Hwc, ElementsMut::U8(&mut out));
        assert_eq!((kind(refused), out), (Some(Kind::Range), vec![7; len]));
    }
    if !twin.has_transition(c, number) {
        let (mut obs, mut next) = (vec![7; len], vec![7; len]);
        let out = (ElementsMut::U8(&mut obs), ElementsMut::U8(&mut next));
        let refused = view.gather_transitions(0, &index, Layout::Hwc, out.0, out.1);
        assert_eq!((kind(refused), obs, next), (Some(Kind::Range), vec![7; len], vec![7; len]));
    }
    if twin.held(c).contains(&number) {
        assert_eq!(view.row(0, env, number as u64).unwrap().bytes(), twin.stacks[number][k - 1]);
        assert_eq!(view.is_first(env, number as u64).unwrap(), twin.starts[number] == number);
    } else {
        assert_eq!(kind(view.row(0, env, number as u64)), Some(Kind::Range));
    }
}

fn compare(c: LazyFramesConfig, frames: &LazyFrames<'_>, twins: &[Twin]) {
    let (view, len) = (frames.view(), stack_len(&c));
    let (mut good, mut pairs) = (Vec::new(), Vec::new());
    for (env, twin) in twins.iter().enumerate() {
        let (held, end) = (twin.held(&c), twin.stacks.len());
        assert_eq!(view.held(env).unwrap(), held.start as u64..held.end as u64);
        (0..end + 2).for_each(|number| compare_number(&c, &view, twin, env, number));
        let index = |number| FrameIndex::new(env as u32, number as u64);
        good.extend((0..end).filter(|&number| twin.has(&c, number)).map(index));
        pairs.extend((0..end).filter(|&number| twin.has_transition(&c, number)).map(index));
    }
    let of = |index: &[FrameIndex], after: usize, layout| -> Vec<u8> {
        let stack = |i: &FrameIndex| materialised(&c, &twins[i.env as usize].stacks[i.number as usize + after], layout);
        index.iter().flat_map(stack).collect()
    };
    for layout in LAYOUTS {
        let (mut out, mut real) = (vec![0; good.len() * len], vec![0.0; good.len() * len]);
        view.gather(0, &good, layout, ElementsMut::U8(&mut out)).unwrap();
        view.gather(0, &good, layout, ElementsMut::F32(&mut real)).unwrap();
        assert_eq!(out, of(&good, 0, layout));
        assert_eq!(real, scaled(&out));
        let (mut obs, mut next) = (vec![0; pairs.len() * len], vec![0; pairs.len() * len]);
        view.gather_transitions(0, &pairs, layout, ElementsMut::U8(&mut obs), ElementsMut::U8(&mut next)).unwrap();
        assert_eq!((&obs, &next), (&of(&pairs, 0, layout), &of(&pairs, 1, layout)));
        let (mut real, mut next_real) = (vec![0.0; obs.len()], vec![0.0; obs.len()]);
        let out = (ElementsMut::F32(&mut real), ElementsMut::F32(&mut next_real));
        view.gather_transitions(0, &pairs, layout, out.0, out.1).unwrap();
        assert_eq!((real, next_real), (scaled(&obs), scaled(&next)));
    }
}

#[derive(Clone, Debug)]
struct Case {
    config: LazyFramesConfig,
    pushes: Vec<(usize, bool)>,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    (1u32..4, 1u32..6, 0u32..5, (1u32..4, 1u32..4, 1u32..5), any::<u64>()).prop_flat_map(
        |(n, k, spare, shape, seed)| {
            let pushes = prop::collection::vec((0..n as usize, prop::bool::weighted(0.3)), 0..60);
            pushes.prop_map(move |pushes| Case { config: config(n, k + spare, shape, k), pushes, seed })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn stacks_are_those_of_the_twin(case in case()) {
        let c = case.config;
        let (k, len) = (c.num_stack as usize, frame_len(&c));
        let mut mem = block(&c);
        let mut frames = open(&mut mem);
        let mut twins = vec![Twin::default(); c.num_envs as usize];
        let rng = &mut Rng::seeded(case.seed);
        for (i, (env, first)) in case.pushes.into_iter().enumerate() {
            let frame = frame(rng, len);
            if twins[env].stacks.is_empty() && !first {
                prop_assert_eq!(frames.push(env, &frame, false).unwrap_err().kind, Kind::NotReady);
                continue;
            }
            prop_assert_eq!(frames.push(env, &frame, first).unwrap(), twins[env].stacks.len() as u64);
            twins[env].push(k, &frame, first);
            if i % 7 == 0 {
                compare(c, &frames, &twins);
            }
        }
        compare(c, &frames, &twins);
        // A copy of the bytes behaves alike.
        let mut copy = mem.clone();
        let mut again = open(&mut copy);
        compare(c, &again, &twins);
        let last = frame(rng, len);
        again.push(0, &last, true).unwrap();
        open(&mut mem).push(0, &last, true).unwrap();
        prop_assert_eq!(mem, copy);
    }

    /// A ring with a changed byte is refused, or still answers every query.
    #[test]
    fn changed_bytes_are_refused_or_harmless(case in case(), at in any::<prop::sample::Index>(), bits in 1u8..) {
        let c = case.config;
        let len = frame_len(&c);
        let mut mem = block(&c);
        let mut frames = open(&mut mem);
        for (env, first) in case.pushes {
            let _ = frames.push(env, &vec![1; len], first);
        }
        let at = at.index(spans_of(&c).columns[0].start());
        bytes(&mut mem)[at] ^= bits;
        if let Ok(mut frames) = LazyFrames::attach(bytes(&mut mem)) {
            let _ = frames.push(0, &vec![2; len], false);
            for env in 0..c.num_envs as usize {
                let held = frames.view().held(env).unwrap();
                for number in held.clone().chain([0, held.end, u64::MAX]) {
                    let mut out = vec![0; stack_len(&c)];
                    let mut next = out.clone();
                    let _ = frames.view().gather(0, &[FrameIndex::new(env as u32, number)], Layout::Hwc, ElementsMut::U8(&mut out));
                    let index = [FrameIndex::new(env as u32, number)];
                    let to = (ElementsMut::U8(&mut out), ElementsMut::U8(&mut next));
                    let _ = frames.view().gather_transitions(0, &index, Layout::Chw, to.0, to.1);
                }
            }
        }
    }
}

/// One environment whose episode ends in the step that starts the next one: each transition has its own two stacks, wherever in
/// the stack and in the ring the episode ends.
#[test]
fn the_final_frame_comes_before_the_first() {
    for k in 1..=5u32 {
        for length in 1..=7usize {
            let c = config(1, 2 * (k + length as u32) + 3, (1, 2, 1), k);
            let mut mem = block(&c);
            let mut frames = open(&mut mem);
            let (mut shown, mut number) = (Twin::default(), [0u64]);
            let rng = &mut Rng::seeded(9);
            let mut obs = frame(rng, 2);
            frames.push_all(Frames { frame: &obs, first: &[1], final_frame: None }, Some(&mut number)).unwrap();
            shown.push(k as usize, &obs, true);
            for step in 1..=3 * length {
                let (before, last) = (number[0], frame(rng, 2));
                let ended = step % length == 0;
                obs = if ended { frame(rng, 2) } else { last.clone() };
                let step = Frames { frame: &obs, first: &[ended.into()], final_frame: Some(&last) };
                frames.push_all(step, Some(&mut number)).unwrap();
                shown.push(k as usize, &last, false);
                let truth = &shown.stacks[shown.stacks.len() - 2..];
                let expected = truth.iter().map(|stack| materialised(&c, stack, Layout::Hwc)).collect::<Vec<_>>();
                let (mut stack, mut next) = (vec![0; 2 * k as usize], vec![0; 2 * k as usize]);
                let to = (ElementsMut::U8(&mut stack), ElementsMut::U8(&mut next));
                frames.view().gather_transitions(0, &[FrameIndex::new(0, before)], Layout::Hwc, to.0, to.1).unwrap();
                assert_eq!(vec![stack, next], expected, "k {k}, length {length}");
                if ended {
                    shown.push(k as usize, &obs, true);
                    assert_eq!(number[0], before + 2);
                    let mut padded = vec![0; 2 * k as usize];
                    let newest = [FrameIndex::new(0, number[0])];
                    frames.view().gather(0, &newest, Layout::Hwc, ElementsMut::U8(&mut padded)).unwrap();
                    assert_eq!(padded, materialised(&c, &vec![obs.clone(); k as usize], Layout::Hwc));
                }
            }
            compare(c, &frames, &[shown]);
        }
    }
}

/// Threads that push parts of a batch leave the same bytes as one thread.
#[test]
fn every_split_gives_equal_blocks() {
    let c = config(7, 9, (3, 2, 2), 3);
    let len = frame_len(&c);
    let run = |parts: usize| {
        let mut mem = block(&c);
        let mut frames = open(&mut mem);
        let rng = &mut Rng::seeded(3);
        let mut numbers = vec![0; 7];
        for step in 0..25 {
            let (obs, last) = (frame(rng, 7 * len), frame(rng, 7 * len));
            let first: Vec<u8> = (0..7).map(|_| u8::from(step == 0 || rng.next_u64().is_multiple_of(4))).collect();
            let cuts: Vec<usize> = (0..=parts).map(|i| i * 7 / parts).collect();
            for range in cuts.windows(2) {
                let (begin, end) = (range[0], range[1]);
                let step = Frames {
                    frame: &obs[begin * len..end * len],
                    first: &first[begin..end],
                    final_frame: (step > 0).then(|| &last[begin * len..end * len]),
                };
                let mut rings = LazyFrames::of(frames.rings().range(begin, end).unwrap()).unwrap();
                rings.push_all(step, Some(&mut numbers[begin..end])).unwrap();
            }
        }
        (mem, numbers)
    };
    let whole = run(1);
    for parts in [2, 3, 7] {
        assert_eq!(whole, run(parts));
    }
    let mut mem = whole.0;
    let mut frames = open(&mut mem);
    let (none, rest) = frames.rings().split_at(0).unwrap();
    assert_eq!((none.is_empty(), rest.is_empty(), rest.len()), (true, false, 7));
    let (low, high) = frames.rings().split_at(3).unwrap();
    assert_eq!((low.len(), low.first, high.len(), high.first), (3, 0, 4, 3));
    std::thread::scope(|scope| {
        for rings in [low, high] {
            let (count, mut rings) = (rings.len(), LazyFrames::of(rings).unwrap());
            scope.spawn(move || {
                for i in 0..count {
                    rings.push(i, &vec![5; len], false).unwrap();
                }
            });
        }
    });
    for (begin, end) in [(0, 8), (5, 4), (8, 8), (0, usize::MAX)] {
        assert_eq!(frames.rings().range(begin, end).unwrap_err().kind, Kind::Range);
    }
}

#[test]
fn no_level_changes_a_byte() {
    for (k, channels) in [(1, 1), (2, 1), (4, 1), (5, 1), (16, 1), (4, 3), (3, 2)] {
        let c = config(1, k + 7, (13, 11, channels), k);
        let mut mem = block(&c);
        let mut frames = open(&mut mem);
        let rng = &mut Rng::seeded(4);
        let mut twin = Twin::default();
        for i in 0..=k + 9 {
            let frame = frame(rng, frame_len(&c));
            frames.push(0, &frame, i == 0).unwrap();
            twin.push(k as usize, &frame, i == 0);
        }
        for level in cpu::LEVELS {
            cpu::set_limit(level);
            compare(c, &frames, std::slice::from_ref(&twin));
        }
    }
}

#[test]
fn a_byte_becomes_what_a_division_gives() {
    for x in 0..=255u8 {
        assert_eq!(unit(x).to_bits(), (f32::from(x) / 255.0).to_bits());
    }
}

/// The ring of a wrapper, for bytes and for floats, against a queue.
#[test]
fn small_rings_stack_too() {
    for k in 1..=MAX_STACK {
        for (width, channels) in [(6usize, 3usize), (6, 1), (5, 5)] {
            let mut ring = vec![0.0f32; k * width];
            let mut out = vec![0.0; k * width];
            let first: Vec<f32> = (0..width).map(|i| i as f32).collect();
            stack::ring_fill(&mut ring, k, &first).unwrap();
            let mut queue = vec![first; k];
            let mut newest = 0;
            for step in 1..2 * k + 2 {
                let frame: Vec<f32> = (0..width).map(|i| (100 * step + i) as f32 - 0.5).collect();
                newest = stack::ring_push(&mut ring, k, newest, &frame).unwrap();
                queue.remove(0);
                queue.push(frame);
                let window = Window::of_ring(&ring, k, newest).unwrap();
                assert_eq!(window.frames(), queue);
                stack::stack(&window, channels, Layout::Hwc, &mut out).unwrap();
                let pixels = 0..width / channels;
                let expected: Vec<f32> = pixels
                    .flat_map(|p| queue.iter().flat_map(move |frame| frame[p * channels..(p + 1) * channels].to_vec()))
                    .collect();
                assert_eq!(out, expected);
                for layout in LAYOUTS {
                    let mut back = vec![0.0; width];
                    stack::stack(&window, channels, layout, &mut out).unwrap();
                    let mut same = vec![0.0; k * width];
                    stack::stack_ring(&ring, (k, newest), channels, layout, &mut same).unwrap();
                    assert_eq!(same, out);
                    stack::newest(&out, k, channels, layout, &mut back).unwrap();
                    assert_eq!(back, queue[k - 1]);
                }
            }
        }
    }
}

#[test]
fn rings_of_other_shapes_are_refused() {
    let ring = [0u8; 12];
    let shape = |ring: &[u8], k, newest| Window::of_ring(ring, k, newest).unwrap_err().kind;
    assert_eq!(shape(&ring, 0, 0), Kind::Range);
    assert_eq!(shape(&ring, MAX_STACK + 1, 0), Kind::Range);
    assert_eq!(shape(&ring, 4, 4), Kind::Range);
    assert_eq!(shape(&ring, 5, 0), Kind::Shape);
    let window = Window::of_ring(&ring, 4, 0).unwrap();
    let refused = |channels, len| {
        let mut out = vec![9u8; len];
        let error = stack::stack(&window, channels, Layout::Hwc, &mut out).unwrap_err();
        assert!(out.iter().all(|&x| x == 9));
        error.kind
    };
    assert_eq!(refused(0, 12), Kind::Shape);
    assert_eq!(refused(2, 12), Kind::Shape);
    assert_eq!(refused(1, 11), Kind::Shape);
    // Frames of one pixel, and of three.
    for (channels, len) in [(3, 11), (3, 13), (1, 11), (1, 13)] {
        let mut out = vec![9u8; len];
        let error = stack::stack_ring(&ring, (4, 0), channels, Layout::Hwc, &mut out).unwrap_err();
        assert_eq!(error.kind, Kind::Shape);
        assert!(out.iter().all(|&x| x == 9));
    }
    assert_eq!(stack::ring_push(&mut [0u8; 12], 4, 0, &[1; 2]).unwrap_err().kind, Kind::Shape);
    assert_eq!(stack::ring_fill(&mut [0u8; 12], 4, &[1; 4]).unwrap_err().kind, Kind::Shape);
    assert_eq!(stack::newest(&[0u8; 12], 4, 1, Layout::Hwc, &mut [0; 4]).unwrap_err().kind, Kind::Shape);
    assert_eq!(stack::stack(&Window::new(), 1, Layout::Hwc, &mut [0u8; 0]).unwrap_err().kind, Kind::Range);
    let mut full = Window::new();
    for _ in 0..=MAX_STACK {
        full.push(&ring[..1]).unwrap();
    }
    assert_eq!(full.push(&ring[..1]).unwrap_err().kind, Kind::Range);
    assert_eq!(stack::stack(&full, 1, Layout::Hwc, &mut [0u8; 17]).unwrap_err().kind, Kind::Range);
    let mut uneven = Window::new();
    uneven.push(&ring[..2]).unwrap();
    uneven.push(&ring[..3]).unwrap();
    assert_eq!(stack::stack(&uneven, 1, Layout::Hwc, &mut [0u8; 4]).unwrap_err().kind, Kind::Shape);
}

#[test]
fn layouts_are_the_numbers_that_c_says() {
    assert_eq!([0, 1, 2, u32::MAX].map(Layout::from_number), [Some(Layout::Hwc), Some(Layout::Chw), None, None]);
}

#[test]
fn a_transition_costs_one_frame() {
    let c = LazyFramesConfig { num_frames: 20_000, ..Default::default() };
    let cost = c.bytes_per_transition().unwrap();
    assert!((7056..=7056 + 70).contains(&cost), "{cost}");
    assert_eq!(cost, (LazyFrames::size(&c).unwrap() as u64).div_ceil(20_000));
    let c = LazyFramesConfig { num_envs: 8, num_frames: 1000, ..c };
    assert_eq!(c.bytes_per_transition().unwrap(), (LazyFrames::size(&c).unwrap() as u64).div_ceil(8000));
}

#[test]
fn what_is_wrong_is_named() {
    let good = config(2, 5, (2, 3, 1), 4);
    let refused = |c: LazyFramesConfig| LazyFrames::size(&c).unwrap_err().kind;
    assert_eq!(refused(LazyFramesConfig { num_envs: 0, ..good }), Kind::Config);
    assert_eq!(refused(LazyFramesConfig { num_frames: 3, ..good }), Kind::Config);
    for c in [(0, 3, 1), (2, 0, 1), (2, 3, 0)].map(|shape| config(2, 5, shape, 4)) {
        let what = "lazy_frames config: height, width and channels of at least 1, given 0";
        assert_eq!(LazyFrames::size(&c).unwrap_err().to_string(), what);
    }
    assert_eq!(refused(LazyFramesConfig { num_stack: 0, ..good }), Kind::Config);
    assert_eq!(refused(LazyFramesConfig { num_stack: 17, num_frames: 17, ..good }), Kind::Config);
    assert_eq!(refused(LazyFramesConfig { height: u32::MAX, width: u32::MAX, ..good }), Kind::Overflow);
    LazyFrames::size(&LazyFramesConfig { num_stack: 16, num_frames: 16, ..good }).unwrap();

    let mut mem = block(&good);
    assert_eq!(LazyFrames::init(&mut bytes(&mut mem)[..64], &good).unwrap_err().kind, Kind::Size);
    let mut frames = open(&mut mem);
    assert_eq!(frames.push(2, &[0; 6], true).unwrap_err().kind, Kind::Range);
    assert_eq!(frames.push(0, &[0; 5], true).unwrap_err().kind, Kind::Shape);
    assert_eq!(frames.push(0, &[0; 6], false).unwrap_err().kind, Kind::NotReady);
    let all = [1; 12];
    let step = Frames { frame: &all, first: &[1, 1], final_frame: None };
    let wrong =
        |frames: &mut LazyFrames<'_>, step, len| frames.push_all(step, Some(&mut vec![0; len])).unwrap_err().kind;
    assert_eq!(wrong(&mut frames, Frames { frame: &all[..11], ..step }, 2), Kind::Shape);
    assert_eq!(wrong(&mut frames, Frames { first: &[1], ..step }, 2), Kind::Shape);
    assert_eq!(wrong(&mut frames, Frames { final_frame: Some(&all[..6]), ..step }, 2), Kind::Shape);
    assert_eq!(wrong(&mut frames, Frames { final_frame: Some(&all), ..step }, 2), Kind::NotReady);
    assert_eq!(wrong(&mut frames, Frames { first: &[1, 0], ..step }, 2), Kind::NotReady);
    assert_eq!(wrong(&mut frames, step, 3), Kind::Shape);
    assert_eq!(frames.view().pushed, [0, 0]);
    frames.push_all(step, None).unwrap();

    let mut out = [3u8; 25];
    let view = frames.view();
    let ask = |index: FrameIndex, out: &mut [u8]| view.gather(0, &[index], Layout::Hwc, ElementsMut::U8(out));
    assert_eq!(ask(FrameIndex::new(2, 0), &mut out[..24]).unwrap_err().kind, Kind::Range);
    assert_eq!(ask(FrameIndex { reserved: 1, ..FrameIndex::new(0, 0) }, &mut out[..24]).unwrap_err().kind, Kind::Range);
    assert_eq!(ask(FrameIndex::new(0, 0), &mut out[..23]).unwrap_err().kind, Kind::Shape);
    assert_eq!(ask(FrameIndex::new(0, 0), &mut out).unwrap_err().kind, Kind::Shape);
    let kind = view.gather(0, &[FrameIndex::new(0, 0)], Layout::Hwc, ElementsMut::I32(&mut [0; 24])).unwrap_err().kind;
    assert_eq!(kind, Kind::Shape);
    assert_eq!(view.stack_numbers(0, 0, 0, &mut [0; 3]).unwrap_err().kind, Kind::Shape);
    assert_eq!(view.held(2).unwrap_err().kind, Kind::Range);
    assert_eq!(out, [3; 25]);
    ask(FrameIndex::new(0, 0), &mut out[..24]).unwrap();
    assert_eq!(out[..24], [1; 24]);
    let mut reals = [0.0; 24];
    let mixed =
        view.gather_transitions(0, &[], Layout::Hwc, ElementsMut::U8(&mut []), ElementsMut::F32(&mut reals[..0]));
    assert_eq!(mixed.unwrap_err().kind, Kind::Shape);
    view.gather(0, &[], Layout::Hwc, ElementsMut::U8(&mut [])).unwrap();
}

/// The first bytes of a block hold its configuration: enough for a reader to map the rest.
#[test]
fn the_first_bytes_are_enough_to_lay_a_block_out() {
    let c = config(3, 5, (2, 3, 1), 4);
    let mut mem = block(&c);
    let head = &bytes(&mut mem)[..LazyFrames::END];
    assert_eq!(LazyFrames::config(head), Ok(&c.table().unwrap()));
    assert_eq!(LazyFrames::config(&head[..head.len() - 1]).unwrap_err().kind, Kind::Size);
}

/// Rings cut wrongly from a raw block by the caller: one field has a ring too few or too many.
#[test]
fn fields_of_different_lengths_are_no_rings() {
    let config = config(2, 3, (1, 2, 1), 2).table().unwrap();
    for (field, rings) in (1..4).flat_map(|field| [1, 2, 3].map(|rings| (field, rings))) {
        let of = |this: usize| if this == field { rings } else { 2 };
        let (mut pushed, mut writing) = ([0; 2], vec![0; of(1)]);
        let (mut age, mut frames) = (vec![0; 3 * of(2)], vec![7; 6 * of(3)]);
        let mut columns: [&mut [u8]; MAX_COLUMNS] = Default::default();
        columns[0] = &mut frames;
        let (pushed, writing, age) = (&mut pushed, &mut writing, &mut age);
        let rings = LazyFrames::of(Table { config: &config, first: 0, pushed, writing, age, columns });
        assert_eq!(rings.err().map(|e| e.kind), (of(field) != 2).then_some(Kind::Shape), "field {field}");
    }
    let real = TableConfig::new(2, 3, &[Column::new("frames", Element::F32, 2)]);
    let two = TableConfig::new(2, 3, &[config.columns[0], Column::frames("more", 2, 1, 2)]);
    for config in [real, two] {
        assert_eq!(spans(&config).unwrap_err().kind, Kind::Shape);
    }
}

/// Frame numbers end where their sums would overflow: the last one is given, none after it.
#[test]
fn numbers_end_below_two_to_the_63() {
    const LAST: u64 = i64::MAX as u64;
    let c = config(1, 3, (1, 1, 1), 1);
    let push = |pushed: u64| {
        let mut mem = block(&c);
        let mut frames = open(&mut mem);
        frames.rings().pushed[0] = pushed;
        let one = frames.push(0, &[1], true).map_err(|e| e.kind);
        frames.rings().pushed[0] = pushed;
        let step = Frames { frame: &[1], first: &[1], final_frame: Some(&[2]) };
        (one, frames.push_all(step, None).err().map(|e| e.kind))
    };
    let gone = Some(Kind::Range);
    assert_eq!(push(LAST - 2), (Ok(LAST - 2), None));
    assert_eq!(push(LAST - 1), (Ok(LAST - 1), gone));
    assert_eq!(push(LAST), (Err(Kind::Range), gone));
}

/// Counters and ages that no sequence of pushes can produce.
#[test]
fn damaged_images_are_refused() {
    let c = config(2, 5, (1, 1, 1), 3);
    let mut mem = block(&c);
    let spans = spans_of(&c);
    let mut frames = open(&mut mem);
    for first in [true, false, false, true, false, false, false] {
        frames.push(0, &[1], first).unwrap();
    }
    let refused = |pushed: [u64; 2], ages: [u8; 10]| {
        let pushed = (spans.pushed.start(), bytemuck::cast_slice(&pushed));
        kind(LazyFrames::attach(bytes(&mut forged(&mem, &[pushed, (spans.age.start(), &ages)]))))
    };
    let ages = [2, 3, 2, 0, 1, 0, 0, 0, 0, 0];
    assert_eq!(refused([7, 0], ages), None);
    // The last valid number, and a larger one in the same slot.
    assert_eq!(refused([i64::MAX as u64, 0], ages), None);
    for pushed in [i64::MAX as u64 + 5, u64::MAX, 1 << 63, 8, 2] {
        assert_eq!(refused([pushed, 0], ages), Some(Kind::Image), "{pushed}");
    }
    assert_eq!(refused([7, 1 << 62], ages), None);
    for (at, age) in [(0, 1), (0, 3), (1, 4), (1, 2), (2, 4), (3, 1), (4, 2), (5, 1), (9, 1), (2, 255)] {
        let mut ages = ages;
        ages[at] = age;
        assert_eq!(refused([7, 0], ages), Some(Kind::Image), "age {age} at {at}");
    }
    // The oldest frame of a ring may be anywhere in its episode, but no episode starts before the ring's first frame.
    assert_eq!(refused([7, 0], [2, 3, 3, 0, 1, 0, 0, 0, 0, 0]), Some(Kind::Image));
    assert_eq!(refused([5, 0], [0, 1, 2, 3, 3, 0, 0, 0, 0, 0]), None);
    assert_eq!(refused([5, 0], [1, 2, 3, 3, 3, 0, 0, 0, 0, 0]), Some(Kind::Image));
    assert_eq!(refused([6, 0], [3, 1, 2, 3, 3, 0, 0, 0, 0, 0]), None);
    assert_eq!(refused([6, 0], [3, 2, 3, 3, 3, 0, 0, 0, 0, 0]), Some(Kind::Image));
    let mut short = mem.clone();
    let len = short.len();
    assert_eq!(LazyFrames::attach(bytes(&mut short[..len - 8])).unwrap_err().kind, Kind::Size);
}

/// The view of another process amid a push: the oldest frame is not trusted, although it was copied.
#[test]
fn readers_beside_a_writer_lose_what_it_may_have_touched() {
    let c = config(2, 5, (1, 2, 1), 3);
    let mut mem = block(&c);
    let spans = spans_of(&c);
    let mut frames = open(&mut mem);
    for number in 0..7 {
        frames.push(1, &[number, 10 + number], number % 4 == 0).unwrap();
    }
    let kinds = |writing: u32| {
        let mut copy = forged(&mem, &[(spans.writing.start() + 4, &writing.to_ne_bytes())]);
        let own = kind(LazyFrames::attach(bytes(&mut copy.clone())));
        assert_eq!(own, (writing != 0).then_some(Kind::Image));
        let attached = LazyFrames::attach_reader(bytes(&mut copy)).unwrap();
        let (mut frames, mut first, mut stack, mut next) = ([0; 4], [9; 2], [0; 6], [0; 6]);
        let read = attached.read_run(0, &Run::new(1, 2, 2), &mut frames, &mut first);
        if writing == 0 {
            assert_eq!((frames, first), ([2, 12, 3, 13], [0, 0]));
        }
        // Frame 5 follows frame 4, the first of its episode.
        let gathered = attached.gather(0, &[FrameIndex::new(1, 5)], Layout::Hwc, ElementsMut::U8(&mut stack));
        let obs = ElementsMut::U8(&mut stack);
        let pairs =
            attached.gather_transitions(0, &[FrameIndex::new(1, 4)], Layout::Hwc, obs, ElementsMut::U8(&mut next));
        let indices = attached.stack_numbers(0, 1, 5, &mut [0; 3]);
        [read, gathered, pairs, indices].map(|result| result.err().map(|e| e.kind))
    };
    let gone = Some(Kind::Range);
    assert_eq!(kinds(0), [None; 4]);
    assert_eq!(kinds(1), [gone, None, None, None]);
    assert_eq!(kinds(2), [gone, None, None, None]);
    assert_eq!(kinds(3), [gone; 4]);
    let view = LazyFrames::attach_reader(bytes(&mut mem)).unwrap();
    let (mut frames, mut first) = ([0; 4], [0; 2]);
    assert_eq!(view.read_run(0, &Run::new(1, 6, 2), &mut frames, &mut first).unwrap_err().kind, Kind::Range);
    assert_eq!(view.read_run(0, &Run::new(1, 1, 2), &mut frames, &mut first).unwrap_err().kind, Kind::Range);
    assert_eq!(view.read_run(0, &Run::new(2, 5, 2), &mut frames, &mut first).unwrap_err().kind, Kind::Range);
    assert_eq!(view.read_run(0, &Run::new(1, u64::MAX, 2), &mut frames, &mut first).unwrap_err().kind, Kind::Range);
    assert_eq!(view.read_run(0, &Run::new(1, 5, 2), &mut frames[..3], &mut first).unwrap_err().kind, Kind::Shape);
    assert_eq!((frames, first), ([0; 4], [0; 2]));
    view.read_run(0, &Run::new(1, 4, 2), &mut frames, &mut first).unwrap();
    assert_eq!((frames, first), ([4, 14, 5, 15], [1, 0]));
    view.read_run(0, &Run::new(1, 99, 0), &mut [], &mut []).unwrap();
    view.read_run(0, &Run::new(1, 1, 0), &mut [], &mut []).unwrap();
    bytes(&mut mem)[70] ^= 1;
    assert_eq!(LazyFrames::attach_reader(bytes(&mut mem)).unwrap_err().kind, Kind::Image);
}
