//! Coded observations: choices, and structures of pictures, numbers and choices. Their learner equals, bit for bit, a learner
//! of the numbers that networks read from them; observations that no network can read are refused by name.
#![cfg(all(feature = "pictures", feature = "residual", feature = "recurrent", feature = "actor_critic"))]

use std::fmt::Debug;

use crate::host::{Tune, attach, export, made, policy, seal};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, BatchMut, Config, Learner, Phase, Recurrent, Sampling, View};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 3;
const ACTION: Space<'static> = Space::discrete(&[3]);

/// A picture of bytes, three numbers and choices, with gaps between them.
const FIELDS: [Field<'static>; 3] = [
    Field::new("picture", Element::U8, &[4, 3, 2], 0),
    Field::new("numbers", Element::F32, &[3], 28),
    Field::new("choices", Element::I32, &[2], 44),
];
const SIZE: usize = 52;
const CHOICES: [u32; 2] = [3, 2];
const STRUCTURE: Space<'static> = Space { n: &CHOICES, ..Space::bytes(SIZE as u32).with_fields(&FIELDS) };
/// The same structure as numbers.
const NUMBERS: [Field<'static>; 3] = [
    Field::new("picture", Element::F32, &[4, 3, 2], 0),
    Field::new("numbers", Element::F32, &[3], 96),
    Field::new("choices", Element::F32, &[5], 108),
];
const SEEN: usize = 32;

fn layers() -> [Layer; 4] {
    [
        Layer { source: [INPUT | 1, 0], ..Layer::conv(3, [2, 2], [1, 1], Activation::Relu) },
        Layer::dense(5, Activation::Tanh),
        Layer::merge(LayerKind::Join, [2, INPUT | 2], Activation::Identity),
        Layer::merge(LayerKind::Join, [3, INPUT | 3], Activation::Identity),
    ]
}

fn config(num_layers: u32) -> Config {
    Config {
        num_envs: N as u32,
        num_layers,
        normalize_obs: 1,
        learning_rate: 0.01,
        ..Config::default().hidden(&[6]).rollout(8, 2, 2)
    }
}

/// The observations of the environments, coded and as numbers.
struct Shown {
    bytes: Vec<u8>,
    choices: Vec<i32>,
    structures: Vec<f32>,
    one_hot: Vec<f32>,
}

fn shown(rng: &mut Rng) -> Shown {
    let mut s = Shown { bytes: vec![], choices: vec![], structures: vec![], one_hot: vec![] };
    for _ in 0..N {
        let begin = s.bytes.len();
        s.bytes.resize(begin + SIZE, 0xEE);
        for to in &mut s.bytes[begin..begin + 24] {
            *to = rng.bounded(255) as u8;
            s.structures.push(f32::from(*to) / 255.0);
        }
        for i in 0..3 {
            let x = rng.uniform_f32() * 4.0 - 2.0;
            s.bytes[begin + 28 + 4 * i..][..4].copy_from_slice(&x.to_ne_bytes());
            s.structures.push(x);
        }
        for (i, n) in CHOICES.into_iter().enumerate() {
            let choice = rng.bounded(u64::from(n) - 1) as i32;
            s.bytes[begin + 44 + 4 * i..][..4].copy_from_slice(&choice.to_ne_bytes());
            s.choices.push(choice);
            s.structures.extend((0..n as i32).map(|x| f32::from(x == choice)));
            s.one_hot.extend((0..n as i32).map(|x| f32::from(x == choice)));
        }
    }
    s
}

struct Host {
    block: Vec<u64>,
    is_seen: bool,
}

impl Host {
    fn new(config: &Config, layers: &[Layer], obs: &Space<'_>, is_seen: bool) -> Host {
        let block = made(config, layers, obs, &ACTION);
        Host { block, is_seen }
    }

    fn learner(&mut self) -> Learner<'_> {
        attach(&mut self.block)
    }
}

/// Outputs of a learner, and one recorded step.
fn step(
    h: &mut Host,
    obs: Elements<'_>,
    last: Elements<'_>,
    reward: &[f32],
    truncated: &[u8],
) -> impl PartialEq + Debug + use<> {
    let mut l = h.learner();
    let (mut action, mut value, mut log_prob, mut entropy) = ([9; N], [0.0; N], [0.0; N], [0.0; N]);
    l.value(obs, None, &mut value).unwrap();
    l.act(None, obs, None, ElementsMut::I32(&mut action)).unwrap();
    l.log_prob(obs, None, Elements::I32(&action), &mut log_prob, &mut entropy).unwrap();
    l.observe(None, reward, &[0; N], truncated, Some(last), None).unwrap();
    let (mut best, mut state) = ([9; N], vec![0.25; N * l.view().state_len()]);
    let recurrent = Recurrent { state: &mut state, reset: &[] };
    l.predict(last, None, recurrent, Sampling::Greedy, ElementsMut::I32(&mut best)).unwrap();
    (action, best, [value, log_prob, entropy].map(|x| x.map(f32::to_bits)))
}

/// The batch of the update that is due, which then runs in slices.
fn learn(h: &mut Host, obs: Elements<'_>, seen_len: usize) -> impl PartialEq + Debug + use<> {
    let mut l = h.learner();
    assert_eq!(l.shape().seen_len as usize, seen_len);
    l.learn_begin(obs, None).unwrap();
    let m = l.config().batch_len();
    let (mut read, mut action) = (vec![f32::NAN; m * seen_len], vec![0; m]);
    let mut columns = [(); 4].map(|()| vec![f32::NAN; m]);
    let [log_prob, value, advantage, value_target] = &mut columns;
    let (width, has) = (l.view().state_len(), usize::from(l.config().has_sequences()));
    let mut moments = vec![f64::NAN; l.view().moments_len()];
    let (mut state, mut begin, mut env) = (vec![f32::NAN; m * width], vec![9; m * has], vec![9; m * has]);
    let to = BatchMut {
        obs: &mut read,
        action: ElementsMut::I32(&mut action),
        mask: &mut [],
        log_prob,
        value,
        advantage,
        value_target,
        state: &mut state,
        begin: &mut begin,
        env: &mut env,
        duration: &mut [],
        moments: &mut moments,
    };
    l.view().read_batch(to).unwrap();
    while l.stats().minibatches_left > 0 {
        l.learn(None, None, 1).unwrap();
    }
    (read, action, columns, state, begin, env, moments)
}

/// Actions of the exported policy, which reads coded observations too.
fn ship(h: &mut Host, obs: Elements<'_>) -> [[i32; N]; 2] {
    let bytes = export(&h.learner().view());
    let policy = policy(&bytes);
    let mut scratch = vec![f32::NAN; policy.scratch_len(N).unwrap()];
    let (mut action, mut draw, mut best, mut own) = ([9; N], Rng::seeded(4), [9; N], [9; N]);
    let mut states = [(); 3].map(|()| vec![0.25; N * policy.state_len()]);
    let [one, two, three] = states.each_mut().map(|state| Recurrent { state, reset: &[] });
    let to = ElementsMut::I32(&mut action);
    policy.act(N, obs, None, one, Sampling::Basic, &mut draw, &mut scratch, to).unwrap();
    policy.act_greedy(N, obs, None, two, &mut scratch, ElementsMut::I32(&mut best)).unwrap();
    h.learner().predict(obs, None, three, Sampling::Greedy, ElementsMut::I32(&mut own)).unwrap();
    assert!(states[0] == states[1] && states[1] == states[2]);
    assert_eq!(best, own);
    [action, best]
}

/// Compares all outputs and updates of a learner of coded observations and of one of numbers.
fn compare(mut coded: Host, mut seen: Host, get: fn(&Shown, bool) -> Elements<'_>, seen_len: usize) {
    let mut rng = Rng::seeded(11);
    for update in 0..3 {
        let mut now = shown(&mut rng);
        while seen.learner().phase() != Phase::Learn {
            let next = shown(&mut rng);
            let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
            let truncated: Vec<u8> = (0..N).map(|_| u8::from(rng.bounded(3) == 0)).collect();
            let said = [&mut coded, &mut seen].map(|h| {
                let (obs, last) = (get(&now, h.is_seen), get(&next, h.is_seen));
                step(h, obs, last, &reward, &truncated)
            });
            assert_eq!(said[0], said[1], "update {update}");
            now = next;
        }
        let batches = [&mut coded, &mut seen].map(|h| {
            let obs = get(&now, h.is_seen);
            learn(h, obs, seen_len)
        });
        assert_eq!(batches[0], batches[1]);
        assert_eq!(coded.learner().stats().num_updates, update + 1);
        assert_eq!(coded.learner().params(), seen.learner().params(), "update {update}");
    }
    let now = shown(&mut rng);
    let acted = [&mut coded, &mut seen].map(|h| {
        let obs = get(&now, h.is_seen);
        ship(h, obs)
    });
    assert_eq!(acted[0], acted[1]);
}

/// The same off policy, where the store keeps the coded bytes.
#[cfg(feature = "off_policy")]
fn compare_off_policy(
    algorithm: Algorithm,
    layers: &[Layer],
    coded: &Space<'_>,
    seen: &Space<'_>,
    get: fn(&Shown, bool) -> Elements<'_>,
) {
    let critics = algorithm != Algorithm::Dqn;
    let space = if critics { Space::between(&[-1.0], &[1.0]) } else { ACTION };
    let config = Config {
        num_envs: N as u32,
        num_layers: layers.len() as u32,
        num_chunks: 2,
        exploration_steps: 30,
        target_interval: 3,
        dueling: u32::from(!critics),
        train_interval: 1,
        ..Config::of(algorithm).hidden(&[6]).store(40, 6, 12)
    };
    let mut hosts = [(coded, false), (seen, true)].map(|(obs, is_seen)| {
        let block = made(&config, layers, obs, &space);
        (block, is_seen)
    });
    let kind = space.kind;
    let mut rng = Rng::seeded(3);
    let (mut before, mut now) = (shown(&mut rng), shown(&mut rng));
    for step in 0..40 {
        let next = shown(&mut rng);
        let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
        let [terminated, truncated] = [(); 2].map(|()| [(); N].map(|()| u8::from(rng.bounded(4) == 0)));
        let said = hosts.each_mut().map(|(block, is_seen)| {
            let mut l = attach(block);
            let (obs, last) = (get(&now, *is_seen), get(&next, *is_seen));
            let (mut action, mut best, mut value) = ([9u32; N], [9u32; N], [0.0; N]);
            l.value(obs, None, &mut value).unwrap();
            l.act(None, obs, None, words(kind, &mut action)).unwrap();
            l.observe(None, &reward, &terminated, &truncated, Some(last), None).unwrap();
            if l.phase() == Phase::Learn {
                l.learn(None, None, 0).unwrap();
            }
            l.predict(last, None, Recurrent::default(), Sampling::Greedy, words(kind, &mut best)).unwrap();
            let params: Vec<u32> = l.params().iter().map(|x| x.to_bits()).collect();
            let shipped = export(&l.view());
            let policy = policy(&shipped);
            let (mut scratch, mut own) = (vec![0.0; policy.scratch_len(N).unwrap()], [9u32; N]);
            policy.act_greedy(N, last, None, Recurrent::default(), &mut scratch, words(kind, &mut own)).unwrap();
            assert_eq!(own, best);
            (action, best, value.map(f32::to_bits), params, l.stats().num_updates)
        });
        assert_eq!(said[0], said[1], "step {step}");
        assert!(step < 39 || said[0].4 > 50, "{}", said[0].4);
        (before, now) = (now, next);
    }
    check_out_of_range(&mut hosts[0].0, &before, now, get, kind);
}

#[cfg(feature = "off_policy")]
fn words(kind: Element, action: &mut [u32; N]) -> ElementsMut<'_> {
    ElementsMut::of_bytes(kind, bytemuck::cast_slice_mut(action)).unwrap()
}

/// A choice out of range is refused, by calls and in blocks.
#[cfg(feature = "off_policy")]
fn check_out_of_range(
    block: &mut [u64],
    before: &Shown,
    mut now: Shown,
    get: fn(&Shown, bool) -> Elements<'_>,
    kind: Element,
) {
    let mut l = attach(block);
    now.choices[1] = CHOICES[1] as i32;
    let begin = SIZE - 4;
    now.bytes[begin..SIZE].copy_from_slice(&now.choices[1].to_ne_bytes());
    let error = l.act(None, get(&now, false), None, words(kind, &mut [9; N])).unwrap_err();
    assert_eq!(error.kind, Kind::Value, "{error}");
    let (bytes, size) = (bytemuck::cast_slice_mut::<_, u8>(block), get(&now, false).bytes().len() / N);
    // The last observations of all rows, found in the block.
    let all = get(before, false).bytes();
    let at = bytes.windows(all.len()).position(|rows| rows == all).unwrap();
    bytes[at + size - 4..at + size].copy_from_slice(&(-1i32).to_ne_bytes());
    assert_eq!(Learner::attach(bytes).err().unwrap().kind, Kind::Image);
}

#[test]
#[cfg(feature = "off_policy")]
fn off_policy_learners_see_choices_and_structures_too() {
    for algorithm in [Algorithm::Dqn, Algorithm::Td3, Algorithm::Sac] {
        let choices = Space::discrete(&CHOICES);
        compare_off_policy(algorithm, &[], &choices, &Space::unbounded(5), |s, is_seen| match is_seen {
            true => Elements::F32(&s.one_hot),
            false => Elements::I32(&s.choices),
        });
        let numbers = Space::unbounded(SEEN as u32).with_fields(&NUMBERS);
        // Critics need a layer that reads all of the input, beside the parts.
        let [conv, dense, join, last] = layers();
        let all = Layer { source: [INPUT, 0], ..Layer::dense(4, Activation::Tanh) };
        let with_all = Layer::merge(LayerKind::Join, [4, 5], Activation::Identity);
        let list = if algorithm == Algorithm::Dqn {
            vec![conv, dense, join, last]
        } else {
            vec![conv, dense, join, last, all, with_all]
        };
        compare_off_policy(algorithm, &list, &STRUCTURE, &numbers, |s, is_seen| match is_seen {
            true => Elements::F32(&s.structures),
            false => Elements::U8(&s.bytes),
        });
    }
}

/// Critics whose layers read only parts of observations would never see an action.
#[test]
#[cfg(feature = "off_policy")]
fn critics_that_read_no_action_are_refused_by_name() {
    use rlcore::learn::Learner;
    let real = Space::between(&[-1.0], &[1.0]);
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        let config = Config { num_layers: 4, ..Config::of(algorithm) };
        let error = Learner::size(&config, &layers(), &STRUCTURE, &real).unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains("reads all of the input"), "{error}");
    }
    let config = Config { num_layers: 4, ..Config::of(Algorithm::Dqn) };
    Learner::size(&config, &layers(), &STRUCTURE, &ACTION).unwrap();
}

#[test]
fn choices_are_learnt_as_one_hot_numbers() {
    let space = Space::discrete(&CHOICES);
    for normalize_obs in [0, 1] {
        let config = Config { normalize_obs, ..config(0) };
        let (coded, seen) =
            (Host::new(&config, &[], &space, false), Host::new(&config, &[], &Space::unbounded(5), true));
        compare(
            coded,
            seen,
            |s, is_seen| if is_seen { Elements::F32(&s.one_hot) } else { Elements::I32(&s.choices) },
            5,
        );
    }
}

#[test]
fn structures_are_learnt_part_by_part() {
    let mut list = layers().to_vec();
    list.push(Layer::recurrent(LayerKind::Gru, 5));
    let space = Space::unbounded(SEEN as u32).with_fields(&NUMBERS);
    let own = config(4);
    for config in [
        Config { normalize_obs: 0, overlap: 1, ..own },
        own,
        Config { normalize_obs: 0, num_layers: 5, sequence_len: 4, burn_in: 2, ..own },
        Config { overlap: 1, num_layers: 5, sequence_len: 2, burn_in: 5, ..own },
        Config { algorithm: Algorithm::Impala as u32, normalize_advantage: 0, num_minibatches: 1, ..own },
    ] {
        let list = &list[..config.num_layers as usize];
        let (coded, seen) = (Host::new(&config, list, &STRUCTURE, false), Host::new(&config, list, &space, true));
        compare(
            coded,
            seen,
            |s, is_seen| if is_seen { Elements::F32(&s.structures) } else { Elements::U8(&s.bytes) },
            SEEN,
        );
    }
}

/// A picture of symbols has one channel per symbol.
#[test]
fn a_grid_of_choices_is_a_picture_that_convolutions_read() {
    let fields = [Field::new("", Element::I32, &[2, 3], 0)];
    let space = Space::discrete(&[4; 6]).with_fields(&fields);
    let list = [Layer { source: [INPUT | 1, 0], ..Layer::conv(2, [2, 2], [1, 1], Activation::Relu) }];
    let mut h = Host::new(&config(1), &list, &space, false);
    // Each channel's 2 * 2 * 4 weights and its bias come first.
    let l = h.learner();
    assert_eq!((l.shape().seen_len, l.params().len()), (24, 2 * 17 + (4 * 6 + 6) * 2 + 6 * 3 + 3 + 6 + 1));
}

#[test]
fn what_networks_cannot_see_is_refused_and_changes_nothing() {
    let mut rng = Rng::seeded(2);
    let (mut h, mut now) = (Host::new(&config(4), &layers(), &STRUCTURE, false), shown(&mut rng));
    let (good, before) = (now.bytes.clone(), h.block.clone());
    let action = &mut [9; N];
    for (at, bytes, words) in [
        (SIZE + 44, 3i32.to_ne_bytes(), "choices from 0 to below 3, given 3"),
        (48, (-1i32).to_ne_bytes(), "choices from 0 to below 2, given -1"),
        (44, i32::MIN.to_ne_bytes(), "choices from 0 to below 3"),
        (2 * SIZE + 32, f32::NAN.to_ne_bytes(), "a finite obs"),
    ] {
        now.bytes.copy_from_slice(&good);
        now.bytes[at..at + 4].copy_from_slice(&bytes);
        let bad = Elements::U8(&now.bytes);
        let mut l = h.learner();
        let error = l.act(None, bad, None, ElementsMut::I32(action)).unwrap_err();
        assert!(error.kind == Kind::Value && error.to_string().contains(words), "{error}");
        assert_eq!(l.value(bad, None, &mut [0.0; N]).unwrap_err().kind, Kind::Value);
        let to = ElementsMut::I32(action);
        assert_eq!(l.predict(bad, None, Recurrent::default(), Sampling::Basic, to).unwrap_err().kind, Kind::Value);
        assert_eq!((h.block == before, *action), (true, [9; N]));
    }
    // A final observation is checked only where an episode was truncated.
    h.learner().act(None, Elements::U8(&good), None, ElementsMut::I32(action)).unwrap();
    let before = h.block.clone();
    now.bytes.copy_from_slice(&good);
    now.bytes[SIZE + 44] = 7;
    let bad = Some(Elements::U8(&now.bytes));
    let error = h.learner().observe(None, &[0.0; N], &[0; N], &[0, 1, 0], bad, None).unwrap_err();
    assert!(error.kind == Kind::Value && h.block == before, "{error}");
    h.learner().observe(None, &[0.0; N], &[0; N], &[1, 0, 0], bad, None).unwrap();

    let refused = |obs: &Space<'_>, words: &str| {
        let error = Learner::size(&config(0), &[], obs, &ACTION).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    let field = |kind, dims: &[u32], offset| [Field::new("f", kind, dims, offset)];
    refused(&Space { n: &[], ..STRUCTURE }, "n with an entry for each discrete element of field 2");
    refused(&Space { n: &[3, 2, 2], ..STRUCTURE }, "n with one entry for each discrete element, 2, given 3");
    refused(&Space { n: &[3, 0], ..STRUCTURE }, "choices of at least 1");
    refused(&Space { n: &[3], ..Space::discrete(&[2, 2]) }, "n with an entry for each discrete element of field 0");
    refused(&Space::bytes(8).with_fields(&field(Element::F32, &[2], 2)), "field 0 of an observation must have");
    refused(
        &Space::bytes(8).with_fields(&field(Element::F32, &[3], 0)),
        "within the bytes of an observation, 8, given 12",
    );
    refused(
        &Space::bytes(8).with_fields(&field(Element::F32, &[0], 0)),
        "field 0 of an observation must have elements",
    );
    refused(&Space::unbounded(8).with_fields(&field(Element::U8, &[2], 0)), "field 0 must have the observation's kind");
    refused(&Space::bytes(9).with_fields(&[Field::new("", Element::U8, &[1], 0); 9]), "at most 8, given 9");
    refused(&Space { n: &[u32::MAX >> 1; 2], ..Space::discrete(&[0; 2]) }, "31 bits");
}

/// Blocks whose parts contradict their shape are refused, and none crashes.
#[test]
fn parts_that_were_changed_in_a_block_are_refused() {
    let h = Host::new(&config(4), &layers(), &STRUCTURE, false);
    let (len, mut refused) = (h.block.len().min(700), 0);
    for word in 0..len {
        for bit in [0, 1, 7, 31, 33, 40, 63] {
            let mut block = h.block.clone();
            block[word] ^= 1 << bit;
            let Ok(mut l) = Learner::attach(bytemuck::cast_slice_mut(&mut block)) else {
                refused += 1;
                continue;
            };
            let obs = vec![0u8; l.config().num_envs as usize * l.shape().obs_len as usize];
            let _ = l.act(None, Elements::U8(&obs), None, ElementsMut::I32(&mut [0; N]));
        }
    }
    assert!(refused > len, "{refused} of {len} words");
    // Every number of a part must match the shape: kind, offset, elements, offset and dimensions of the numbers read, choices.
    let words: Vec<u32> = bytemuck::cast_slice(&h.block).to_vec();
    for part in [[2, 0, 24, 0, 4, 3, 2, 0], [0, 28, 3, 24, 1, 1, 3, 0], [1, 44, 2, 27, 1, 1, 5, 0]] {
        let at = words.windows(8).position(|w| w == part).unwrap();
        for (i, junk) in (at..at + 8).flat_map(|i| [words[i] + 1, words[i] + 4, 1 << 31, u32::MAX].map(|x| (i, x))) {
            if i == at + 1 && junk < 100 {
                continue; // a gap before the part is valid
            }
            let mut block = h.block.clone();
            bytemuck::cast_slice_mut::<u64, u32>(&mut block)[i] = junk;
            let error = Learner::attach(bytemuck::cast_slice_mut(&mut block)).err().map(|e| e.kind);
            assert_eq!(error, Some(Kind::Image), "word {} of {part:?}: {junk}", i - at);
        }
    }
}

/// Any forged block that attaches reports spaces that match its shape, with one number of choices per element.
#[test]
fn a_forged_block_tells_of_as_many_choices_as_it_has() {
    let grid = [Field::new("", Element::I32, &[2, 1], 0)];
    let apart = [Field::new("a", Element::I32, &[], 0), Field::new("b", Element::F32, &[49], 4)];
    let spaces = [
        STRUCTURE,
        Space { n: &[3], ..Space::bytes(200).with_fields(&apart) },
        Space::discrete(&CHOICES),
        Space::discrete(&CHOICES).with_fields(&grid),
    ];
    let small = Config { num_steps: 2, num_minibatches: 1, ..config(0) };
    let blocks = spaces.map(|obs| {
        let block = made(&small, &[], &obs, &ACTION);
        // Other tests cover the numbers behind the configuration and the plan.
        block
    });
    let mut taken = [0; 2];
    for block in &blocks {
        let old: &[u32] = bytemuck::cast_slice(block);
        for (at, &old) in old.iter().enumerate().take(520) {
            for value in [0, 1, 2, 3, old.wrapping_add(1), old.wrapping_sub(1), old ^ 1 << 16, u32::MAX] {
                let mut forged = block.clone();
                bytemuck::cast_slice_mut::<u64, u32>(&mut forged)[at] = value;
                seal(&mut forged);
                let Ok(view) = View::attach(bytemuck::cast_slice(&forged)) else {
                    taken[0] += 1;
                    continue;
                };
                taken[1] += 1;
                let (shape, n) = (view.shape(), view.spaces().obs_n);
                let told = match shape.kinds().0 {
                    Element::I32 => n.len() == shape.obs_len as usize,
                    Element::F32 => n.is_empty(),
                    Element::U8 => n.is_empty() || shape.obs_structure(),
                };
                let actions =
                    view.spaces().action_n.len() == if shape.discrete() { shape.action_len as usize } else { 0 };
                assert!(told && actions && n.iter().all(|n| *n > 0), "word {at} of {value}: {shape:?}, {n:?}");
            }
        }
    }
    assert!(taken[0] > 2000 && taken[1] > 500, "{taken:?}");
}
