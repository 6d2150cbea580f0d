//! A rollout as a file that other programs read: safetensors with one fixed set of named arrays.
//!
//! The file is a header of [`HEADER_SIZE`] bytes, or more with metadata of the host's, in the JSON of safetensors, then the
//! arrays, little-endian and without gaps, the widest elements first. The first array, `meta`, and the array of the metadata
//! repeat everything in the header, so that reading needs no JSON: the header has to equal the one derived from them, byte for
//! byte. A checksum in `meta` covers the whole file: a flipped byte
//! anywhere is noticed. It guards against accidents, not against attackers.

use super::text::{self, Sink};
use crate::block::{self, HASH_START};
use crate::decimal::Repr;
use crate::error::{Error, Kind, Result, check_len};
use crate::space::{Element, Elements, ElementsMut, MAX_RANK};

/// Bytes before the first array of a file without metadata: the length of the JSON as 8 bytes, then the JSON, padded with
/// blanks. With metadata they are a multiple of this.
pub const HEADER_SIZE: usize = 4096;

/// [`RolloutFile::absent`]: the file has no `log_prob`.
pub const NO_LOG_PROB: u32 = 1;

/// [`RolloutFile::absent`]: the file has no `value`, `bootstrap_value` and `final_value`.
pub const NO_VALUE: u32 = 2;
/// All that may be absent.
const ALL_ABSENT: u32 = NO_LOG_PROB | NO_VALUE;

/// Version of the set of arrays.
pub const SCHEMA: u64 = 1;

/// Maximum number of bytes of metadata.
pub const MAX_METADATA: u32 = 1 << 16;

/// Dimensions of a file, and the origin of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolloutFile {
    /// T, at least 1.
    pub num_steps: u32,
    /// N, at least 1.
    pub num_envs: u32,
    /// Element kind of observations.
    pub obs_kind: Element,
    /// Dimensions of one observation, 0 to [`MAX_RANK`].
    pub obs_rank: u32,
    /// Their lengths, outermost first, at least 1 each; 1 beyond `obs_rank`.
    pub obs_dims: [u32; MAX_RANK],
    /// Element kind of actions.
    pub action_kind: Element,
    /// Elements of one action, at least 1.
    pub action_len: u32,
    /// M, elements of one recurrent state; 0 if there is none.
    pub state_len: u32,
    /// K, the number of final observations.
    pub num_finals: u32,
    /// Seed of the environments.
    pub seed: u64,
    /// Version of the policy that chose the actions.
    pub policy_version: u64,
    /// Steps of single environments before the first step of the file.
    pub global_step: u64,
    /// Episodes that had ended before the first step of the file.
    pub num_episodes: u64,
    /// Arrays that the file does not have: [`NO_LOG_PROB`] and [`NO_VALUE`]. They are empty in a write and left out in a read.
    pub absent: u32,
    /// Bytes of metadata; 0 if there is none.
    pub metadata_len: u32,
}

/// The arrays of a rollout, to be written.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a> {
    /// `[T + 1, N, obs...]`; the last row is the observation after the last step.
    pub obs: Elements<'a>,
    /// `[T, N, action_len]`
    pub action: Elements<'a>,
    /// `[T, N]` log-probability of the action under the policy that chose it.
    pub log_prob: &'a [f32],
    /// `[T, N]` V(obs\[t\])
    pub value: &'a [f32],
    /// `[N]` value of the observation after the last step.
    pub bootstrap_value: &'a [f32],
    /// `[T, N]`
    pub reward: &'a [f32],
    /// `[T, N]` nonzero where the step reached a terminal state.
    pub terminated: &'a [u8],
    /// `[T, N]` nonzero where the episode was cut.
    pub truncated: &'a [u8],
    /// `[T, N]` nonzero where the environment was stepped.
    pub valid: &'a [u8],
    /// `[K]` the steps with a final observation, as `t * N + n`, ascending. Each of them is valid and ended its episode; every
    /// valid step that was truncated and not terminated is among them.
    pub final_index: &'a [u64],
    /// `[K, obs...]` final observations of those episodes.
    pub final_obs: Elements<'a>,
    /// `[K]` values of the final observations.
    pub final_value: &'a [f32],
    /// `[N, M]` recurrent state before the first step.
    pub state: &'a [f32],
    /// `[metadata_len]` pairs of a name and a value in UTF-8, each with a 0 behind it: entries of `__metadata__` in the header.
    /// Names are distinct, not empty and not `format`; of control characters there are only tabs and ends of lines.
    pub metadata: &'a [u8],
}

/// Output for the arrays of a rollout; arrays of `None` are left out.
#[derive(Debug, Default)]
pub struct ArraysMut<'a> {
    /// `[T + 1, N, obs...]`
    pub obs: Option<ElementsMut<'a>>,
    /// `[T, N, action_len]`
    pub action: Option<ElementsMut<'a>>,
    /// `[T, N]`
    pub log_prob: Option<&'a mut [f32]>,
    /// `[T, N]`
    pub value: Option<&'a mut [f32]>,
    /// `[N]`
    pub bootstrap_value: Option<&'a mut [f32]>,
    /// `[T, N]`
    pub reward: Option<&'a mut [f32]>,
    /// `[T, N]` 0 or 1
    pub terminated: Option<&'a mut [u8]>,
    /// `[T, N]` 0 or 1
    pub truncated: Option<&'a mut [u8]>,
    /// `[T, N]` 0 or 1
    pub valid: Option<&'a mut [u8]>,
    /// `[K]`
    pub final_index: Option<&'a mut [u64]>,
    /// `[K, obs...]`
    pub final_obs: Option<ElementsMut<'a>>,
    /// `[K]`
    pub final_value: Option<&'a mut [f32]>,
    /// `[N, M]`
    pub state: Option<&'a mut [f32]>,
    /// `[metadata_len]`
    pub metadata: Option<&'a mut [u8]>,
}

macro_rules! parts {
    ($($part:ident)+) => {
        /// Every array of the file, in the order of the fields of [`Arrays`].
        #[derive(Clone, Copy, PartialEq)]
        enum Part {
            $($part),+
        }

        use Part::*;

        const PARTS: [Part; 15] = [$($part),+];
    };
}

parts! {
    Meta Obs Action LogProb Value BootstrapValue Reward Terminated Truncated Valid FinalIndex FinalObs FinalValue State
    Metadata
}

/// Words of `meta`.
const META_LEN: usize = 24;
/// The word of `meta` with the checksum.
const CHECKSUM: usize = 2;
/// Bytes of `meta`.
const META_SIZE: usize = META_LEN * 8;

/// Element type of an array, with its name in safetensors and its size.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    U64,
    I64,
    Of(Element),
}

impl Type {
    fn name(self) -> &'static [u8] {
        match self {
            Type::U64 => b"U64",
            Type::I64 => b"I64",
            Type::Of(Element::F32) => b"F32",
            Type::Of(Element::I32) => b"I32",
            Type::Of(Element::U8) => b"U8",
        }
    }

    fn size(self) -> usize {
        match self {
            Type::U64 | Type::I64 => 8,
            Type::Of(kind) => kind.size(),
        }
    }
}

/// One array: name, element type and shape (up to three leading lengths, then those of an observation if `is_obs`).
struct Array {
    name: &'static [u8],
    element: Type,
    lead: [u64; 3],
    lead_rank: usize,
    is_obs: bool,
}

impl RolloutFile {
    /// Bytes of the file. Errors: `Config` for a length that is 0 or too large; `Overflow`.
    pub fn size(&self) -> Result<usize> {
        self.check()?;
        let mut size = self.header_size()?;
        for part in PARTS {
            size = size.checked_add(self.part_size(part)?).ok_or(OVERFLOW)?;
        }
        if size <= isize::MAX as usize { Ok(size) } else { Err(OVERFLOW) }
    }

    /// Elements of one observation. Errors: `Overflow`.
    pub fn obs_len(&self) -> Result<usize> {
        self.obs_dims.iter().try_fold(1usize, |len, &d| len.checked_mul(d as usize)).ok_or(OVERFLOW)
    }

    /// Writes the file into the first [`RolloutFile::size`] bytes of `out` and returns that size.
    ///
    /// Errors: `Config`, also for metadata that is not as it must be; `Overflow`; `Shape`; `Range` for a final index that is not above the one before it, or not of an ended
    /// step; `NotReady` if a truncated step has no final observation; `Size`. Nothing is written then.
    pub fn write(&self, arrays: &Arrays<'_>, out: &mut [u8]) -> Result<usize> {
        let size = self.size()?;
        self.check_arrays(arrays)?;
        let given = out.len();
        let Some(out) = out.get_mut(..size) else {
            return Err(Error::limit(Kind::Size, "rollout file: bytes, at least", size, given));
        };
        let header_size = self.header_size()?;
        let Some((head, data)) = out.split_at_mut_checked(header_size) else { return Err(OVERFLOW) };
        head.fill(b' ');
        let metadata = arrays.metadata;
        text::fill("rollout file: bytes of a header,", head.get_mut(8..), |text| self.json(metadata, text))?;
        put(head, &[(header_size as u64).saturating_sub(8)], u64::to_le_bytes);
        let mut rest = data;
        for part in self.order() {
            let Some((to, others)) = rest.split_at_mut_checked(self.part_size(part)?) else { return Err(OVERFLOW) };
            match part {
                Meta => put(to, &self.meta(), u64::to_le_bytes),
                Obs => put_elements(to, arrays.obs),
                Action => put_elements(to, arrays.action),
                LogProb => put(to, arrays.log_prob, f32::to_le_bytes),
                Value => put(to, arrays.value, f32::to_le_bytes),
                BootstrapValue => put(to, arrays.bootstrap_value, f32::to_le_bytes),
                Reward => put(to, arrays.reward, f32::to_le_bytes),
                Terminated => put(to, arrays.terminated, flag),
                Truncated => put(to, arrays.truncated, flag),
                Valid => put(to, arrays.valid, flag),
                FinalIndex => put(to, arrays.final_index, u64::to_le_bytes),
                FinalObs => put_elements(to, arrays.final_obs),
                FinalValue => put(to, arrays.final_value, f32::to_le_bytes),
                State => put(to, arrays.state, f32::to_le_bytes),
                Metadata => put(to, arrays.metadata, u8::to_le_bytes),
            }
            rest = others;
        }
        let sum = checksum(out, header_size);
        let words = out.get_mut(header_size..).unwrap_or_default();
        if let Some(to) = words.as_chunks_mut::<8>().0.get_mut(CHECKSUM) {
            *to = sum.to_le_bytes();
        }
        Ok(size)
    }

    fn check(&self) -> Result {
        let what = "rollout file: num_steps from 1 to";
        Error::config(what, u32::MAX - 1, self.num_steps).fail_if(self.num_steps == 0 || self.num_steps == u32::MAX)?;
        Error::config("rollout file: num_envs of at least", 1, 0).fail_if(self.num_envs == 0)?;
        Error::config("rollout file: obs_rank from 0 to", MAX_RANK as u32, self.obs_rank)
            .fail_if(self.obs_rank as usize > MAX_RANK)?;
        let (inner, outer) = self.obs_dims.split_at_checked(self.obs_rank as usize).unwrap_or_default();
        Error::config("rollout file: obs_dims of at least", 1, 0).fail_if(inner.contains(&0))?;
        if let Some(bad) = outer.iter().find(|d| **d != 1) {
            return Err(Error::config("rollout file: beyond obs_rank, obs_dims of", 1, *bad));
        }
        Error::config("rollout file: action_len of at least", 1, 0).fail_if(self.action_len == 0)?;
        let what = "rollout file: num_finals of at most one a step,";
        Error::limit(Kind::Config, what, self.steps() as usize, self.num_finals as usize)
            .fail_if(u64::from(self.num_finals) > self.steps())?;
        Error::config("rollout file: absent of 0 to", ALL_ABSENT, self.absent).fail_if(self.absent > ALL_ABSENT)?;
        Error::config("rollout file: metadata_len of at most", MAX_METADATA, self.metadata_len)
            .fail_if(self.metadata_len > MAX_METADATA)?;
        self.obs_len().map(|_| ())
    }

    /// T times N.
    fn steps(&self) -> u64 {
        u64::from(self.num_steps).saturating_mul(self.num_envs.into())
    }

    fn array(&self, part: Part) -> Array {
        let (t, n) = (u64::from(self.num_steps), u64::from(self.num_envs));
        let (k, f32) = (u64::from(self.num_finals), Type::Of(Element::F32));
        let (obs, u8) = (Type::Of(self.obs_kind), Type::Of(Element::U8));
        let (action, a, m) = (Type::Of(self.action_kind), u64::from(self.action_len), u64::from(self.state_len));
        let (name, element, lead, lead_rank): (&[u8], _, _, _) = match part {
            Meta => (b"meta", Type::U64, [META_LEN as u64, 1, 1], 1),
            Obs => (b"obs", obs, [t.saturating_add(1), n, 1], 2),
            Action => (b"action", action, [t, n, a], 3),
            LogProb => (b"log_prob", f32, [t, n, 1], 2),
            Value => (b"value", f32, [t, n, 1], 2),
            BootstrapValue => (b"bootstrap_value", f32, [n, 1, 1], 1),
            Reward => (b"reward", f32, [t, n, 1], 2),
            Terminated => (b"terminated", u8, [t, n, 1], 2),
            Truncated => (b"truncated", u8, [t, n, 1], 2),
            Valid => (b"valid", u8, [t, n, 1], 2),
            FinalIndex => (b"final_index", Type::I64, [k, 1, 1], 1),
            FinalObs => (b"final_obs", obs, [k, 1, 1], 1),
            FinalValue => (b"final_value", f32, [k, 1, 1], 1),
            State => (b"state", f32, [n, m, 1], 2),
            Metadata => (b"metadata", u8, [self.metadata_len.into(), 1, 1], 1),
        };
        Array { name, element, lead, lead_rank, is_obs: matches!(part, Obs | FinalObs) }
    }

    /// Whether the file has this array.
    fn has(&self, part: Part) -> bool {
        match part {
            LogProb => self.absent & NO_LOG_PROB == 0,
            Value | BootstrapValue | FinalValue => self.absent & NO_VALUE == 0,
            Metadata => self.metadata_len > 0,
            _ => true,
        }
    }

    fn part_len(&self, part: Part) -> Result<usize> {
        if !self.has(part) {
            return Ok(0);
        }
        let array = self.array(part);
        let obs_len = if array.is_obs { self.obs_len()? } else { 1 };
        let lead = array.lead.iter().try_fold(1u64, |len, d| len.checked_mul(*d)).ok_or(OVERFLOW)?;
        usize::try_from(lead).ok().and_then(|len| len.checked_mul(obs_len)).ok_or(OVERFLOW)
    }

    fn part_size(&self, part: Part) -> Result<usize> {
        self.part_len(part)?.checked_mul(self.array(part).element.size()).ok_or(OVERFLOW)
    }

    /// The arrays in the order of the file: each starts on a multiple of its element's size.
    fn order(&self) -> impl Iterator<Item = Part> + '_ {
        let all = || PARTS.into_iter().filter(|part| self.has(*part));
        let of = move |size| all().filter(move |part| self.array(*part).element.size() == size);
        of(8).chain(of(4)).chain(of(1))
    }

    /// Bytes before the first array: enough for any metadata of this length. A pair of `k` bytes takes `2 * k + 2` at most, and
    /// has at least 3.
    fn header_size(&self) -> Result<usize> {
        let own = text::fill("", None, |text| self.json(&[], text))?;
        let pairs = (self.metadata_len as usize).checked_mul(3).and_then(|len| len.checked_add(own + 8));
        pairs.and_then(|len| len.checked_next_multiple_of(HEADER_SIZE)).ok_or(OVERFLOW)
    }

    fn json(&self, metadata: &[u8], text: &mut Sink<'_>) {
        let number = |text: &mut Sink<'_>, x: u64| text.push(Repr::of_u64(x).bytes());
        text.push(b"{\"__metadata__\":{\"format\":\"rlcore rollout\"");
        for (i, word) in words(metadata).enumerate() {
            text.push(if i.is_multiple_of(2) { b",\"" } else { b":\"" });
            for byte in word {
                match byte {
                    b'"' => text.push(b"\\\""),
                    b'\\' => text.push(b"\\\\"),
                    b'\t' => text.push(b"\\t"),
                    b'\n' => text.push(b"\\n"),
                    b'\r' => text.push(b"\\r"),
                    _ => text.push(&[*byte]),
                }
            }
            text.push(b"\"");
        }
        text.push(b"}");
        let mut at = 0u64;
        for part in self.order() {
            let array = self.array(part);
            text.push(b",\"");
            text.push(array.name);
            text.push(b"\":{\"dtype\":\"");
            text.push(array.element.name());
            text.push(b"\",\"shape\":[");
            let obs = if array.is_obs { self.obs_dims.get(..self.obs_rank as usize) } else { None };
            let lead = array.lead.iter().take(array.lead_rank).copied();
            for (i, d) in lead.chain(obs.unwrap_or_default().iter().map(|d| u64::from(*d))).enumerate() {
                text.push(if i == 0 { b"" } else { b"," });
                number(text, d);
            }
            text.push(b"],\"data_offsets\":[");
            number(text, at);
            // Sizes that overflow were refused before this call.
            at = at.saturating_add(self.part_size(part).unwrap_or(0) as u64);
            text.push(b",");
            number(text, at);
            text.push(b"]}");
        }
        text.push(b"}");
    }

    /// The words of `meta`, with a checksum of 0.
    fn meta(&self) -> [u64; META_LEN] {
        let [a, b, c, d] = self.obs_dims.map(u64::from);
        [
            SCHEMA,
            VERSION,
            0,
            self.seed,
            self.policy_version,
            self.global_step,
            self.num_episodes,
            0,
            self.num_steps.into(),
            self.num_envs.into(),
            self.obs_kind as u64,
            self.obs_rank.into(),
            a,
            b,
            c,
            d,
            self.action_kind as u64,
            self.action_len.into(),
            self.state_len.into(),
            self.num_finals.into(),
            self.absent.into(),
            self.metadata_len.into(),
            0,
            0,
        ]
    }

    fn of_meta(meta: &[u64; META_LEN]) -> Result<RolloutFile> {
        let [schema, _, _, seed, policy_version, global_step, num_episodes, z0, rest @ ..] = *meta;
        let [t, n, obs_kind, obs_rank, a, b, c, d, action_kind, rest @ ..] = rest;
        let [action_len, state_len, num_finals, absent, metadata_len, zeros @ ..] = rest;
        let what = "rollout file: arrays of schema";
        Error::limit(Kind::Image, what, SCHEMA as usize, schema as usize).fail_if(schema != SCHEMA)?;
        DAMAGED.fail_if(z0 != 0 || zeros.iter().any(|z| *z != 0))?;
        let int = |x: u64| u32::try_from(x).map_err(|_| DAMAGED);
        let kind = |x: u64| int(x).and_then(|x| Element::from_number(x).ok_or(DAMAGED));
        let file = RolloutFile {
            num_steps: int(t)?,
            num_envs: int(n)?,
            obs_kind: kind(obs_kind)?,
            obs_rank: int(obs_rank)?,
            obs_dims: [int(a)?, int(b)?, int(c)?, int(d)?],
            action_kind: kind(action_kind)?,
            action_len: int(action_len)?,
            state_len: int(state_len)?,
            num_finals: int(num_finals)?,
            seed,
            policy_version,
            global_step,
            num_episodes,
            absent: int(absent)?,
            metadata_len: int(metadata_len)?,
        };
        file.check().map_err(|error| Error { kind: Kind::Image, ..error })?;
        Ok(file)
    }

    fn check_arrays(&self, a: &Arrays<'_>) -> Result {
        self.elements("rollout file: obs [T + 1, N, obs...] of elements,", Obs, a.obs)?;
        self.elements("rollout file: action [T, N, action_len] of elements,", Action, a.action)?;
        self.elements("rollout file: final_obs [K, obs...] of elements,", FinalObs, a.final_obs)?;
        check_len("rollout file: log_prob [T, N] of length", a.log_prob, self.part_len(LogProb)?)?;
        check_len("rollout file: value [T, N] of length", a.value, self.part_len(Value)?)?;
        check_len("rollout file: bootstrap_value [N] of length", a.bootstrap_value, self.part_len(BootstrapValue)?)?;
        check_len("rollout file: reward [T, N] of length", a.reward, self.part_len(Reward)?)?;
        check_len("rollout file: terminated [T, N] of length", a.terminated, self.part_len(Terminated)?)?;
        check_len("rollout file: truncated [T, N] of length", a.truncated, self.part_len(Truncated)?)?;
        check_len("rollout file: valid [T, N] of length", a.valid, self.part_len(Valid)?)?;
        check_len("rollout file: final_index [K] of length", a.final_index, self.part_len(FinalIndex)?)?;
        check_len("rollout file: final_value [K] of length", a.final_value, self.part_len(FinalValue)?)?;
        check_len("rollout file: state [N, M] of length", a.state, self.part_len(State)?)?;
        check_len("rollout file: metadata of bytes,", a.metadata, self.part_len(Metadata)?)?;
        check_metadata(a.metadata)?;
        check_finals(a.final_index.iter().copied(), a.terminated, a.truncated, a.valid)
    }

    fn check_room(&self, a: &ArraysMut<'_>) -> Result {
        fn room<T>(what: &'static str, array: &Option<&mut [T]>, len: usize) -> Result {
            array.as_ref().map_or(Ok(()), |array| check_len(what, array, len))
        }
        let any = |what, part, array: &Option<ElementsMut<'_>>| {
            array.as_ref().map_or(Ok(()), |array| self.elements(what, part, array.as_ref()))
        };
        any("rollout file: obs [T + 1, N, obs...] of elements,", Obs, &a.obs)?;
        any("rollout file: action [T, N, action_len] of elements,", Action, &a.action)?;
        any("rollout file: final_obs [K, obs...] of elements,", FinalObs, &a.final_obs)?;
        room("rollout file: log_prob [T, N] of length", &a.log_prob, self.part_len(LogProb)?)?;
        room("rollout file: value [T, N] of length", &a.value, self.part_len(Value)?)?;
        room("rollout file: bootstrap_value [N] of length", &a.bootstrap_value, self.part_len(BootstrapValue)?)?;
        room("rollout file: reward [T, N] of length", &a.reward, self.part_len(Reward)?)?;
        room("rollout file: terminated [T, N] of length", &a.terminated, self.part_len(Terminated)?)?;
        room("rollout file: truncated [T, N] of length", &a.truncated, self.part_len(Truncated)?)?;
        room("rollout file: valid [T, N] of length", &a.valid, self.part_len(Valid)?)?;
        room("rollout file: final_index [K] of length", &a.final_index, self.part_len(FinalIndex)?)?;
        room("rollout file: final_value [K] of length", &a.final_value, self.part_len(FinalValue)?)?;
        room("rollout file: state [N, M] of length", &a.state, self.part_len(State)?)?;
        room("rollout file: metadata of bytes,", &a.metadata, self.part_len(Metadata)?)
    }

    fn elements(&self, what: &'static str, part: Part, given: Elements<'_>) -> Result {
        let needed = self.part_len(part)?;
        Error::limit(Kind::Shape, what, needed, given.len()).fail_if(given.len() != needed)?;
        let what = "rollout file: elements of the kind that is said";
        Error::new(Kind::Shape, what).fail_if(Type::Of(given.kind()) != self.array(part).element)
    }
}

/// A file that was checked in full.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    file: RolloutFile,
    bytes: &'a [u8],
    header_size: usize,
}

impl<'a> Reader<'a> {
    /// Checks a whole file. `bytes` may be longer than it.
    ///
    /// Errors: `Size` for a file that was cut short; `Image` for another format or schema, or damage.
    pub fn open(bytes: &'a [u8]) -> Result<Reader<'a>> {
        let short = |needed: usize| Error::new(Kind::Size, "rollout file: bytes, at least").needed(needed);
        let need = HEADER_SIZE + META_SIZE;
        let Some(json_len) = bytes.first_chunk::<8>() else { return Err(short(need).given(bytes.len())) };
        let what = "rollout file: the header that follows from meta";
        let foreign = Error::new(Kind::Image, what);
        let header_size = usize::try_from(u64::from_le_bytes(*json_len)).ok().and_then(|len| len.checked_add(8));
        let header_size = header_size.filter(|size| size.is_multiple_of(HEADER_SIZE)).ok_or(foreign)?;
        let need = header_size.checked_add(META_SIZE).ok_or(foreign)?;
        let Some(words) = bytes.get(header_size..need) else { return Err(short(need).given(bytes.len())) };
        let mut meta = [0u64; META_LEN];
        for (to, from) in meta.iter_mut().zip(words.as_chunks::<8>().0) {
            *to = u64::from_le_bytes(*from);
        }
        let file = RolloutFile::of_meta(&meta)?;
        let size = file.size().map_err(|_| DAMAGED)?;
        let Some(bytes) = bytes.get(..size) else { return Err(short(size).given(bytes.len())) };
        foreign.fail_if(file.header_size()? != header_size)?;
        let reader = Reader { file, bytes, header_size };
        let metadata = if file.has(Metadata) { reader.part(Metadata)? } else { &[] };
        let json = bytes.get(8..header_size).unwrap_or_default();
        let len = text::begins(json, |text| file.json(metadata, text)).ok_or(foreign)?;
        foreign.fail_if(json.iter().skip(len).any(|byte| *byte != b' '))?;
        let what = "rollout file: bytes that agree with their checksum";
        Error::new(Kind::Image, what).fail_if(meta.get(CHECKSUM) != Some(&checksum(bytes, header_size)))?;
        check_metadata(metadata).map_err(|error| Error { kind: Kind::Image, ..error })?;
        reader.check_flags()?;
        Ok(reader)
    }

    /// Dimensions of the file, and the origin of its data.
    pub fn file(&self) -> &RolloutFile {
        &self.file
    }

    /// Copies the wanted arrays. Errors: `Shape` for an output of another length or kind; then nothing is written.
    pub fn read(&self, mut out: ArraysMut<'_>) -> Result {
        self.file.check_room(&out)?;
        let mut rest = self.bytes.get(self.header_size..).unwrap_or_default();
        for part in self.file.order() {
            let Some((from, others)) = rest.split_at_checked(self.file.part_size(part)?) else { return Err(DAMAGED) };
            match part {
                Meta => {}
                Obs => get_elements(from, out.obs.take()),
                Action => get_elements(from, out.action.take()),
                LogProb => get(from, out.log_prob.take(), f32::from_le_bytes),
                Value => get(from, out.value.take(), f32::from_le_bytes),
                BootstrapValue => get(from, out.bootstrap_value.take(), f32::from_le_bytes),
                Reward => get(from, out.reward.take(), f32::from_le_bytes),
                Terminated => get(from, out.terminated.take(), u8::from_le_bytes),
                Truncated => get(from, out.truncated.take(), u8::from_le_bytes),
                Valid => get(from, out.valid.take(), u8::from_le_bytes),
                FinalIndex => get(from, out.final_index.take(), u64::from_le_bytes),
                FinalObs => get_elements(from, out.final_obs.take()),
                FinalValue => get(from, out.final_value.take(), f32::from_le_bytes),
                State => get(from, out.state.take(), f32::from_le_bytes),
                Metadata => get(from, out.metadata.take(), u8::from_le_bytes),
            }
            rest = others;
        }
        Ok(())
    }

    /// The bytes of an array.
    fn part(&self, part: Part) -> Result<&'a [u8]> {
        let mut at = self.header_size;
        for before in self.file.order().take_while(|p| *p != part) {
            at = at.saturating_add(self.file.part_size(before)?);
        }
        self.bytes.get(at..at.saturating_add(self.file.part_size(part)?)).ok_or(DAMAGED)
    }

    /// Refuses flags and final indexes that no rollout can have, even if the checksum is right.
    fn check_flags(&self) -> Result {
        let flags = [self.part(Terminated)?, self.part(Truncated)?, self.part(Valid)?];
        let what = "rollout file: flags of 0 or 1";
        Error::new(Kind::Image, what).fail_if(flags.iter().any(|flags| flags.iter().any(|x| *x > 1)))?;
        let [terminated, truncated, valid] = flags;
        let index = self.part(FinalIndex)?.as_chunks::<8>().0.iter().map(|x| u64::from_le_bytes(*x));
        check_finals(index, terminated, truncated, valid).map_err(|error| Error { kind: Kind::Image, ..error })
    }
}

/// The library's version as one number.
const VERSION: u64 = (number(env!("CARGO_PKG_VERSION_MAJOR")) << 32)
    | (number(env!("CARGO_PKG_VERSION_MINOR")) << 16)
    | number(env!("CARGO_PKG_VERSION_PATCH"));

const fn number(text: &str) -> u64 {
    match u64::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => panic!("a version is made of numbers"),
    }
}

/// Checks that each index belongs to a valid step that ended, and that every step that needs a final observation has one.
fn check_finals(index: impl Iterator<Item = u64>, terminated: &[u8], truncated: &[u8], valid: &[u8]) -> Result {
    let mut index = index.peekable();
    let steps = terminated.iter().zip(truncated).zip(valid);
    for (step, ((terminated, truncated), valid)) in (0u64..).zip(steps) {
        let has = index.next_if_eq(&step).is_some();
        let ended = terminated | truncated != 0 && *valid != 0;
        let what = "rollout file: a final_index of a valid step that ended, not of step";
        Error::new(Kind::Range, what).given(step as usize).fail_if(has && !ended)?;
        Error::new(Kind::NotReady, "rollout file: a final observation for the truncated step")
            .given(step as usize)
            .fail_if(!has && *valid != 0 && *truncated != 0 && *terminated == 0)?;
    }
    match index.next() {
        None => Ok(()),
        Some(bad) => {
            Err(Error::new(Kind::Range, "rollout file: final_index ascending and below T * N, not").given(bad as usize))
        }
    }
}

/// The names and values of metadata, one after the other.
fn words(metadata: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = metadata.strip_suffix(&[0]);
    whole.into_iter().flat_map(|whole| whole.split(|byte| *byte == 0))
}

/// Checks that metadata is pairs of a name and a value. Errors: `Config`.
fn check_metadata(metadata: &[u8]) -> Result {
    let what = "rollout file: metadata of UTF-8 without control characters, a 0 behind each name and each value";
    let plain = |byte: &u8| *byte >= b' ' || [0, b'\t', b'\n', b'\r'].contains(byte);
    let is_text = core::str::from_utf8(metadata).is_ok() && metadata.iter().all(plain);
    let whole = metadata.is_empty() || metadata.ends_with(&[0]);
    let pairs = words(metadata).count().is_multiple_of(2);
    Error::new(Kind::Config, what).fail_if(!(is_text && whole && pairs))?;
    let names = || words(metadata).step_by(2);
    // Not the comparison of slices, for which compilers call a function that some targets lack.
    let same = |a: &[u8], b: &[u8]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b);
    for (i, name) in names().enumerate() {
        let what = "rollout file: names in metadata that are distinct, not empty and not format, not name";
        let known = name.is_empty() || same(name, b"format") || names().take(i).any(|other| same(other, name));
        Error::new(Kind::Config, what).given(i).fail_if(known)?;
    }
    Ok(())
}

/// FNV-1a over words of 8 bytes, with the checksum's word as 0, and over the remaining bytes one by one.
fn checksum(file: &[u8], header_size: usize) -> u64 {
    let (words, rest) = file.as_chunks::<8>();
    let mut sum = HASH_START;
    for (i, word) in words.iter().enumerate() {
        let word = if i == header_size / 8 + CHECKSUM { 0 } else { u64::from_le_bytes(*word) };
        sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }
    block::hash(sum, rest)
}

fn flag(x: u8) -> [u8; 1] {
    [u8::from(x != 0)]
}

fn put<T: Copy, const B: usize>(to: &mut [u8], from: &[T], bytes: impl Fn(T) -> [u8; B]) {
    for (to, from) in to.as_chunks_mut::<B>().0.iter_mut().zip(from) {
        *to = bytes(*from);
    }
}

fn get<T, const B: usize>(from: &[u8], to: Option<&mut [T]>, value: impl Fn([u8; B]) -> T) {
    for (to, from) in to.unwrap_or_default().iter_mut().zip(from.as_chunks::<B>().0) {
        *to = value(*from);
    }
}

fn put_elements(to: &mut [u8], from: Elements<'_>) {
    match from {
        Elements::F32(from) => put(to, from, f32::to_le_bytes),
        Elements::I32(from) => put(to, from, i32::to_le_bytes),
        Elements::U8(from) => put(to, from, u8::to_le_bytes),
    }
}

fn get_elements(from: &[u8], to: Option<ElementsMut<'_>>) {
    match to {
        Some(ElementsMut::F32(to)) => get(from, Some(to), f32::from_le_bytes),
        Some(ElementsMut::I32(to)) => get(from, Some(to), i32::from_le_bytes),
        Some(ElementsMut::U8(to)) => get(from, Some(to), u8::from_le_bytes),
        None => {}
    }
}

const OVERFLOW: Error = Error::new(Kind::Overflow, "a rollout file that fits the address space");
const DAMAGED: Error = Error::new(Kind::Image, "rollout file: a meta that a rollout can have; this one is damaged");
