//! Rollouts as safetensors files: against the `safetensors` crate, refusals by the own reader, and round trips.

use proptest::prelude::*;
use rlcore::data::rollout_file::{Arrays, ArraysMut, HEADER_SIZE, NO_LOG_PROB, NO_VALUE, Reader, RolloutFile};
use rlcore::error::Kind;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};
use safetensors::{Dtype, SafeTensors};

/// Owned elements of any kind, in words.
#[derive(Clone, Debug, PartialEq)]
struct Values {
    kind: Element,
    words: Vec<u32>,
    size: usize,
}

impl Values {
    fn zeros(kind: Element, len: usize) -> Values {
        let size = len * kind.size();
        Values { kind, words: vec![0; size.div_ceil(4)], size }
    }

    fn draw(kind: Element, len: usize, rng: &mut Rng) -> Values {
        let mut values = Values::zeros(kind, len);
        match values.room() {
            ElementsMut::F32(x) => x.fill_with(|| rng.uniform() as f32 - 0.5),
            ElementsMut::I32(x) => x.fill_with(|| (rng.uniform() * 1e6) as i32 - 500_000),
            ElementsMut::U8(x) => x.fill_with(|| (rng.uniform() * 256.0) as u8),
        }
        values
    }

    fn view(&self) -> Elements<'_> {
        Elements::of_bytes(self.kind, &bytemuck::cast_slice(&self.words)[..self.size]).unwrap()
    }

    fn room(&mut self) -> ElementsMut<'_> {
        ElementsMut::of_bytes(self.kind, &mut bytemuck::cast_slice_mut(&mut self.words)[..self.size]).unwrap()
    }

    fn little_endian(&self) -> Vec<u8> {
        match self.view() {
            Elements::F32(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Elements::I32(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Elements::U8(x) => x.to_vec(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Rollout {
    file: RolloutFile,
    obs: Values,
    action: Values,
    log_prob: Vec<f32>,
    value: Vec<f32>,
    bootstrap_value: Vec<f32>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    valid: Vec<u8>,
    final_index: Vec<u64>,
    final_obs: Values,
    final_value: Vec<f32>,
    state: Vec<f32>,
    metadata: Vec<u8>,
}

fn floats(len: usize, rng: &mut Rng) -> Vec<f32> {
    (0..len).map(|_| rng.uniform() as f32 * 4.0 - 2.0).collect()
}

fn flags(len: usize, rate: f64, rng: &mut Rng) -> Vec<u8> {
    (0..len).map(|_| u8::from(rng.uniform() < rate)).collect()
}

impl Rollout {
    fn draw(mut file: RolloutFile, rng: &mut Rng) -> Rollout {
        let (t, n) = (file.num_steps as usize, file.num_envs as usize);
        let obs_len = file.obs_len().unwrap();
        let (terminated, truncated) = (flags(t * n, 0.2, rng), flags(t * n, 0.2, rng));
        let valid = flags(t * n, 0.8, rng);
        let has = |i: &usize| valid[*i] != 0 && terminated[*i] | truncated[*i] != 0;
        // A final observation where required, and at some of the terminal states.
        let finals: Vec<usize> = (0..t * n).filter(has).filter(|i| terminated[*i] == 0 || i % 2 == 0).collect();
        file.num_finals = finals.len() as u32;
        let metadata = file.metadata_len as usize;
        let pairs: Vec<u8> = (0..metadata / 9).flat_map(|i| format!("n{i:03}\0v\n\"\0").into_bytes()).collect();
        file.metadata_len = pairs.len() as u32;
        // Whether the file has what only learners know.
        let [log_prob, value] = [NO_LOG_PROB, NO_VALUE].map(|flag| usize::from(file.absent & flag == 0));
        Rollout {
            metadata: pairs,
            obs: Values::draw(file.obs_kind, (t + 1) * n * obs_len, rng),
            action: Values::draw(file.action_kind, t * n * file.action_len as usize, rng),
            log_prob: floats(log_prob * t * n, rng),
            value: floats(value * t * n, rng),
            bootstrap_value: floats(value * n, rng),
            reward: floats(t * n, rng),
            final_obs: Values::draw(file.obs_kind, finals.len() * obs_len, rng),
            final_value: floats(value * finals.len(), rng),
            state: floats(n * file.state_len as usize, rng),
            final_index: finals.iter().map(|i| *i as u64).collect(),
            terminated,
            truncated,
            valid,
            file,
        }
    }

    fn empty(file: RolloutFile) -> Rollout {
        let (t, n, k) = (file.num_steps as usize, file.num_envs as usize, file.num_finals as usize);
        let obs_len = file.obs_len().unwrap();
        let [log_prob, value] = [NO_LOG_PROB, NO_VALUE].map(|flag| usize::from(file.absent & flag == 0));
        Rollout {
            file,
            obs: Values::zeros(file.obs_kind, (t + 1) * n * obs_len),
            action: Values::zeros(file.action_kind, t * n * file.action_len as usize),
            log_prob: vec![0.0; log_prob * t * n],
            value: vec![0.0; value * t * n],
            bootstrap_value: vec![0.0; value * n],
            reward: vec![0.0; t * n],
            terminated: vec![0; t * n],
            truncated: vec![0; t * n],
            valid: vec![0; t * n],
            final_index: vec![0; k],
            final_obs: Values::zeros(file.obs_kind, k * obs_len),
            final_value: vec![0.0; value * k],
            state: vec![0.0; n * file.state_len as usize],
            metadata: vec![0; file.metadata_len as usize],
        }
    }

    fn arrays(&self) -> Arrays<'_> {
        Arrays {
            obs: self.obs.view(),
            action: self.action.view(),
            log_prob: &self.log_prob,
            value: &self.value,
            bootstrap_value: &self.bootstrap_value,
            reward: &self.reward,
            terminated: &self.terminated,
            truncated: &self.truncated,
            valid: &self.valid,
            final_index: &self.final_index,
            final_obs: self.final_obs.view(),
            final_value: &self.final_value,
            state: &self.state,
            metadata: &self.metadata,
        }
    }

    fn room(&mut self) -> ArraysMut<'_> {
        ArraysMut {
            obs: Some(self.obs.room()),
            action: Some(self.action.room()),
            log_prob: Some(&mut self.log_prob),
            value: Some(&mut self.value),
            bootstrap_value: Some(&mut self.bootstrap_value),
            reward: Some(&mut self.reward),
            terminated: Some(&mut self.terminated),
            truncated: Some(&mut self.truncated),
            valid: Some(&mut self.valid),
            final_index: Some(&mut self.final_index),
            final_obs: Some(self.final_obs.room()),
            final_value: Some(&mut self.final_value),
            state: Some(&mut self.state),
            metadata: Some(&mut self.metadata),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0xAA; self.file.size().unwrap()];
        assert_eq!(self.file.write(&self.arrays(), &mut bytes), Ok(bytes.len()));
        bytes
    }
}

const SMALL: RolloutFile = RolloutFile {
    num_steps: 5,
    num_envs: 3,
    obs_kind: Element::F32,
    obs_rank: 1,
    obs_dims: [4, 1, 1, 1],
    action_kind: Element::I32,
    action_len: 1,
    state_len: 2,
    num_finals: 0,
    seed: 7,
    policy_version: u64::MAX,
    global_step: 1 << 40,
    num_episodes: 12,
    absent: 0,
    metadata_len: 0,
};

fn small() -> Rollout {
    Rollout::draw(SMALL, &mut Rng::seeded(3))
}

/// Checks a file with the `safetensors` crate: every name, type, shape and byte.
fn check_with_the_crate(rollout: &Rollout, bytes: &[u8]) {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let f = &rollout.file;
    let absent = (f.absent & NO_LOG_PROB) as usize + 3 * usize::from(f.absent & NO_VALUE != 0);
    assert_eq!(tensors.len(), 14 - absent + usize::from(f.metadata_len > 0));
    let (t, n, k) = (f.num_steps as usize, f.num_envs as usize, f.num_finals as usize);
    let dims: Vec<usize> = f.obs_dims[..f.obs_rank as usize].iter().map(|d| *d as usize).collect();
    let kind = |kind: Element| [Dtype::F32, Dtype::I32, Dtype::U8][kind as usize];
    let le = |x: &[f32]| -> Vec<u8> { x.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let index: Vec<u8> = rollout.final_index.iter().flat_map(|x| x.to_le_bytes()).collect();
    let expected: [(&str, Dtype, Vec<usize>, Vec<u8>); 13] = [
        ("obs", kind(f.obs_kind), [&[t + 1, n], &dims[..]].concat(), rollout.obs.little_endian()),
        ("action", kind(f.action_kind), vec![t, n, f.action_len as usize], rollout.action.little_endian()),
        ("log_prob", Dtype::F32, vec![t, n], le(&rollout.log_prob)),
        ("value", Dtype::F32, vec![t, n], le(&rollout.value)),
        ("bootstrap_value", Dtype::F32, vec![n], le(&rollout.bootstrap_value)),
        ("reward", Dtype::F32, vec![t, n], le(&rollout.reward)),
        ("terminated", Dtype::U8, vec![t, n], rollout.terminated.clone()),
        ("truncated", Dtype::U8, vec![t, n], rollout.truncated.clone()),
        ("valid", Dtype::U8, vec![t, n], rollout.valid.clone()),
        ("final_index", Dtype::I64, vec![k], index),
        ("final_obs", kind(f.obs_kind), [&[k], &dims[..]].concat(), rollout.final_obs.little_endian()),
        ("final_value", Dtype::F32, vec![k], le(&rollout.final_value)),
        ("state", Dtype::F32, vec![n, f.state_len as usize], le(&rollout.state)),
    ];
    for (name, dtype, shape, data) in expected {
        let is_absent = match name {
            "log_prob" => f.absent & NO_LOG_PROB != 0,
            "value" | "bootstrap_value" | "final_value" => f.absent & NO_VALUE != 0,
            _ => false,
        };
        if is_absent {
            assert!(tensors.tensor(name).is_err(), "{name}");
            continue;
        }
        let tensor = tensors.tensor(name).unwrap();
        assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (dtype, &shape[..], &data[..]), "{name}");
    }
    let meta = tensors.tensor("meta").unwrap();
    assert_eq!((meta.dtype(), meta.shape()), (Dtype::U64, &[24][..]));
    let word = |i: usize| u64::from_le_bytes(meta.data()[8 * i..8 * i + 8].try_into().unwrap());
    assert_eq!([word(0), word(8), word(9), word(19)], [1, t as u64, n as u64, k as u64]);
    assert_eq!([word(3), word(4), word(5), word(6)], [f.seed, f.policy_version, f.global_step, f.num_episodes]);
    let version: Vec<u64> = env!("CARGO_PKG_VERSION").split('.').map(|x| x.parse().unwrap()).collect();
    assert_eq!([word(1) >> 32, word(1) >> 16 & 0xffff, word(1) & 0xffff], version[..]);
    // An array mapped into memory starts on a multiple of its element size.
    let (head, _) = SafeTensors::read_metadata(bytes).unwrap();
    assert!(f.metadata_len > 0 || head + 8 == HEADER_SIZE);
    assert!((head + 8).is_multiple_of(HEADER_SIZE));
    let (_, notes) = SafeTensors::read_metadata(bytes).unwrap();
    let notes = notes.metadata().clone().unwrap();
    let words: Vec<&str> = std::str::from_utf8(&rollout.metadata).unwrap().split('\0').collect();
    assert_eq!((notes.len(), notes["format"].as_str()), (1 + words.len() / 2, "rlcore rollout"));
    for pair in words.as_chunks::<2>().0 {
        assert_eq!(notes[pair[0]], pair[1]);
    }
    for (name, tensor) in tensors.tensors() {
        let size = tensor.dtype().bitsize() / 8;
        let at = tensor.data().as_ptr() as usize - bytes.as_ptr() as usize;
        assert_eq!(at % size, 0, "{name}");
    }
}

proptest! {
    #[test]
    fn what_is_written_comes_back_and_is_what_the_crate_reads(
        t in 1u32..7, n in 1u32..5, obs_kind in 0u32..3, action_kind in 0u32..3, rank in 0u32..5, dims in [1u32..4, 1..4, 1..4, 1..4],
        action_len in 1u32..3, state_len in 0u32..3, seed: u64, absent in 0u32..4, metadata_len in 0u32..3000,
    ) {
        let mut obs_dims = dims;
        obs_dims[rank as usize..].fill(1);
        let file = RolloutFile {
            num_steps: t, num_envs: n,
            obs_kind: Element::from_number(obs_kind).unwrap(), obs_rank: rank, obs_dims,
            action_kind: Element::from_number(action_kind).unwrap(), action_len, state_len, seed, absent,
            metadata_len: metadata_len.saturating_sub(1000), ..SMALL
        };
        let rollout = Rollout::draw(file, &mut Rng::seeded(seed));
        let bytes = rollout.bytes();
        check_with_the_crate(&rollout, &bytes);
        let reader = Reader::open(&bytes).unwrap();
        prop_assert_eq!(*reader.file(), rollout.file);
        let mut back = Rollout::empty(*reader.file());
        prop_assert_eq!(reader.read(back.room()), Ok(()));
        prop_assert_eq!(back, rollout);
    }
}

#[test]
fn every_flipped_byte_and_every_cut_is_noticed() {
    let rollout = small();
    let bytes = rollout.bytes();
    for i in 0..bytes.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut damaged = bytes.clone();
            damaged[i] ^= bit;
            let error = Reader::open(&damaged).expect_err("a flipped byte");
            // A damaged length may ask for more bytes than there are.
            assert!(matches!(error.kind, Kind::Image | Kind::Size), "byte {i}: {error}");
        }
    }
    for len in 0..bytes.len() {
        let error = Reader::open(&bytes[..len]).expect_err("a file cut short");
        assert_eq!(error.kind, Kind::Size, "{len} bytes: {error}");
    }
    // Extra bytes after the file are ignored.
    assert_eq!(*Reader::open(&[&bytes[..], &[1, 2, 3]].concat()).unwrap().file(), rollout.file);
}

/// Recomputes the checksum of a file, as a forger would.
fn mend(file: &mut [u8]) {
    let at = HEADER_SIZE + 16;
    file[at..at + 8].fill(0);
    let (words, rest) = file.as_chunks::<8>();
    let prime = 0x0000_0100_0000_01b3u64;
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, w| (h ^ u64::from_le_bytes(*w)).wrapping_mul(prime));
    let sum = rest.iter().fold(sum, |h, b| (h ^ u64::from(*b)).wrapping_mul(prime));
    file[at..at + 8].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_checksum_does_not_make_a_rollout() {
    let bytes = small().bytes();
    let mut same = bytes.clone();
    mend(&mut same);
    assert_eq!(same, bytes, "the checksum as the test computes it");
    let offset = |name: &str| {
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        tensors.tensor(name).unwrap().data().as_ptr() as usize - bytes.as_ptr() as usize
    };
    for (name, value, what) in
        [("terminated", 2u8, "flags of 0 or 1"), ("valid", 255, "flags of 0 or 1"), ("final_index", 200, "not of step")]
    {
        let mut forged = bytes.clone();
        forged[offset(name)] = value;
        mend(&mut forged);
        let error = Reader::open(&forged).unwrap_err();
        assert_eq!(error.kind, Kind::Image, "{error}");
        assert!(name == "final_index" || error.to_string().contains(what), "{error}");
    }
    // Step counts that no array has, and lengths that do not fit the file.
    for words in [
        &[(0, 2u64)][..],
        &[(7, 1)],
        &[(8, 0)],
        &[(8, 6)],
        &[(9, 1 << 32)],
        &[(10, 3)],
        &[(11, 5)],
        &[(15, 2)],
        &[(17, 0)],
        &[(19, 16)],
        &[(23, 1)],
        // Two wrong values that agree with each other.
        &[(7, 1), (22, 1)],
        &[(22, 1), (23, 1)],
    ] {
        let mut forged = bytes.clone();
        for (word, value) in words {
            let at = HEADER_SIZE + 8 * word;
            forged[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        mend(&mut forged);
        let error = Reader::open(&forged).unwrap_err();
        assert!(matches!(error.kind, Kind::Image | Kind::Size), "{words:?}: {error}");
    }
}

/// A header that says something else than the file, with a checksum that agrees, is refused, and so are notes that no file has.
#[test]
fn a_checksum_does_not_make_a_header() {
    let bytes = small().bytes();
    for i in 8..HEADER_SIZE {
        let mut forged = bytes.clone();
        forged[i] ^= 1;
        mend(&mut forged);
        let error = Reader::open(&forged).unwrap_err();
        assert!(
            error.kind == Kind::Image && error.to_string().contains("the header that follows"),
            "byte {i}: {error}"
        );
    }
    let mut rollout = small();
    (rollout.metadata, rollout.file.metadata_len) = (b"a\0x\0b\0y\0".to_vec(), 8);
    let mut forged = rollout.bytes();
    let header = forged.windows(4).position(|four| four == b"\"b\":").unwrap();
    let notes = forged.windows(4).rposition(|four| four == b"b\0y\0").unwrap();
    (forged[header + 1], forged[notes]) = (b'a', b'a');
    mend(&mut forged);
    let error = Reader::open(&forged).unwrap_err();
    assert!(error.kind == Kind::Image && error.to_string().contains("names in metadata that are distinct"), "{error}");
    // However short a file is, what is missing is the header and the words behind it.
    let said = |len: usize| Reader::open(&bytes[..len]).unwrap_err().to_string().replace(&format!("given {len}"), "");
    assert_eq!(said(0), said(HEADER_SIZE));
}

#[test]
fn wrong_input_writes_nothing() {
    let good = small();
    let size = good.file.size().unwrap();
    let write = |rollout: &Rollout, room: usize| {
        let mut out = vec![0xAA; room];
        let error = rollout.file.write(&rollout.arrays(), &mut out).unwrap_err();
        assert!(out.iter().all(|b| *b == 0xAA), "{error}: something was written");
        (error.kind, error.to_string())
    };
    for (room, words) in [(size - 1, format!("at least {size}, given {}", size - 1)), (0, "given 0".into())] {
        let (kind, text) = write(&good, room);
        assert!(kind == Kind::Size && text.contains(&words), "{text}");
    }
    type Change = (&'static str, Kind, fn(&mut Rollout));
    let changes: [Change; 26] = [
        ("num_steps from 1 to 4294967294, given 0", Kind::Config, |r| r.file.num_steps = 0),
        ("num_steps", Kind::Config, |r| r.file.num_steps = u32::MAX),
        ("num_envs", Kind::Config, |r| r.file.num_envs = 0),
        ("obs_rank", Kind::Config, |r| r.file.obs_rank = 5),
        ("obs_dims", Kind::Config, |r| r.file.obs_dims[0] = 0),
        ("obs_dims", Kind::Config, |r| r.file.obs_dims[1] = 2),
        ("action_len", Kind::Config, |r| r.file.action_len = 0),
        ("num_finals", Kind::Config, |r| r.file.num_finals = 16),
        ("log_prob", Kind::Shape, |r| r.log_prob.truncate(14)),
        ("value", Kind::Shape, |r| r.value.push(0.0)),
        ("bootstrap_value", Kind::Shape, |r| r.bootstrap_value.truncate(2)),
        ("reward", Kind::Shape, |r| r.reward.truncate(14)),
        ("terminated", Kind::Shape, |r| r.terminated.push(0)),
        ("truncated", Kind::Shape, |r| r.truncated.truncate(14)),
        ("valid", Kind::Shape, |r| r.valid.truncate(14)),
        ("final_index", Kind::Shape, |r| r.final_index.push(14)),
        ("final_value", Kind::Shape, |r| r.final_value.push(0.0)),
        ("state", Kind::Shape, |r| r.state.truncate(5)),
        ("obs [T + 1", Kind::Shape, |r| r.obs = Values::zeros(Element::F32, 5 * 3 * 4)),
        ("kind", Kind::Shape, |r| r.obs = Values::zeros(Element::I32, 6 * 3 * 4)),
        ("action", Kind::Shape, |r| r.action = Values::zeros(Element::I32, 14)),
        ("kind", Kind::Shape, |r| r.action = Values::zeros(Element::F32, 15)),
        ("final_obs", Kind::Shape, |r| r.final_obs = Values::zeros(Element::F32, 1)),
        ("not of step", Kind::Range, |r| r.valid.fill(0)),
        ("ascending", Kind::Range, |r| r.final_index.swap(0, 1)),
        ("ascending", Kind::Range, |r| *r.final_index.last_mut().unwrap() = 15),
    ];
    assert!(good.final_index.len() > 1);
    for (words, kind, change) in changes {
        let mut bad = good.clone();
        change(&mut bad);
        // If an index is moved, a step without its final observation may be reported first.
        let (found, text) = write(&bad, size + 64);
        let is_other = words == "ascending" && found == Kind::NotReady;
        assert!(is_other || found == kind && text.contains(words), "{words}: {text}");
    }
    let n = good.valid.len();
    let lost = Rollout { truncated: vec![1; n], terminated: vec![0; n], valid: vec![1; n], ..good.clone() };
    let (kind, text) = write(&lost, size);
    assert!(kind == Kind::NotReady && text.contains("a final observation for the truncated step"), "{text}");
}

#[test]
fn arrays_of_another_length_are_not_filled_and_any_may_be_left_out() {
    let good = small();
    let mut back = Rollout::empty(good.file);
    back.reward.push(0.5);
    let before = back.clone();
    let bytes = good.bytes();
    let reader = Reader::open(&bytes).unwrap();
    assert_eq!(reader.read(back.room()).unwrap_err().kind, Kind::Shape);
    assert_eq!(back, before);
    assert_eq!(reader.read(ArraysMut::default()), Ok(()));
}

/// Rollouts of people or scripts have no log-probabilities and no values, and say where they come from.
#[test]
fn a_file_does_without_what_the_host_does_not_have_and_takes_its_notes() {
    let notes = "args\0{\"seed\": 7, \"path\": \"C:\\\\runs\"}\0time\0Saturday\t\u{e9}\r\n\0empty\0\0";
    let absent = NO_LOG_PROB | NO_VALUE;
    let file = RolloutFile { absent, ..SMALL };
    let mut rollout = Rollout::draw(file, &mut Rng::seeded(3));
    (rollout.metadata, rollout.file.metadata_len) = (notes.into(), notes.len() as u32);
    let bytes = rollout.bytes();
    check_with_the_crate(&rollout, &bytes);
    let reader = Reader::open(&bytes).unwrap();
    let mut back = Rollout::empty(*reader.file());
    reader.read(back.room()).unwrap();
    assert_eq!(back, rollout);
    // The rest is that of a file that has all.
    let whole = Rollout { file: RolloutFile { absent: 0, metadata_len: 0, ..rollout.file }, ..small() };
    assert!(rollout.bytes().len() < whole.bytes().len() + notes.len());
    for i in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[i] ^= 4;
        assert!(Reader::open(&damaged).is_err(), "byte {i}");
    }
    for len in (0..bytes.len()).step_by(7) {
        assert_eq!(Reader::open(&bytes[..len]).unwrap_err().kind, Kind::Size, "{len} bytes");
    }
    // Arrays that are absent have no room to be read to.
    back.log_prob.push(0.0);
    assert_eq!(reader.read(back.room()).unwrap_err().kind, Kind::Shape);

    // A long text that needs an escape at each of its bytes takes a longer header.
    let long = format!("quotes\0{}\0", "\"".repeat(9000));
    (rollout.metadata, rollout.file.metadata_len) = (long.clone().into(), long.len() as u32);
    let bytes = rollout.bytes();
    assert_eq!(u64::from_le_bytes(bytes[..8].try_into().unwrap()) + 8, 7 * HEADER_SIZE as u64);
    check_with_the_crate(&rollout, &bytes);
    assert_eq!(Reader::open(&bytes).unwrap().file(), &rollout.file);

    let (behind, names) = ("a 0 behind each name and each value", "names in metadata that are distinct");
    for (bad, words) in [
        (&b"name"[..], behind),
        (b"name\0", behind),
        (b"name\0value", behind),
        (b"name\0value\0more\0", behind),
        (b"name\0\xff\0", behind),
        (b"name\0\x07\0", behind),
        (b"\0value\0", names),
        (b"format\0mine\0", names),
        (b"a\0x\0b\0y\0a\0z\0", names),
    ] {
        (rollout.metadata, rollout.file.metadata_len) = (bad.to_vec(), bad.len() as u32);
        let mut out = vec![0xAA; rollout.file.size().unwrap()];
        let error = rollout.file.write(&rollout.arrays(), &mut out).unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{bad:?}: {error}");
        assert!(out.iter().all(|b| *b == 0xAA));
    }
    rollout.file.metadata_len = 5;
    let error = rollout.file.write(&rollout.arrays(), &mut vec![0; 9999]).unwrap_err();
    assert_eq!(error.kind, Kind::Shape, "{error}");
    for (file, words) in [
        (RolloutFile { absent: 4, ..SMALL }, "absent of 0 to 3, given 4"),
        (RolloutFile { metadata_len: 65537, ..SMALL }, "metadata_len of at most 65536, given 65537"),
    ] {
        let error = file.size().unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{error}");
    }
    RolloutFile { metadata_len: 65536, ..SMALL }.size().unwrap();
}

#[test]
fn the_longest_header_fits() {
    // Fourteen arrays of a name, a type, a shape of up to six lengths and two offsets, each of maximal length.
    let one = "\"bootstrap_value\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[,]},".len() + 6 * 11 + 2 * 19;
    assert!(14 * one + 60 < HEADER_SIZE - 8);
    let bytes = small().bytes();
    let text = bytes[8..HEADER_SIZE].trim_ascii_end();
    assert!(text.ends_with(b"]}}") && text.len() < 14 * one + 60);
}
