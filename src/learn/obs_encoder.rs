//! Encoding of observations as network inputs: f32 unchanged, bytes divided by 255, choices one-hot, in the order of the parts.

use bytemuck::{Pod, Zeroable};

use crate::block::{self, Cutter, Fit, LayoutError, Plan, Span, TooLong};
use crate::error::{Error, Kind, Result, check_finite, check_rows};
use crate::nn::{Net, Node};
use crate::space::{Element, Elements, Field, Space};

/// The largest number of parts of an observation.
pub const MAX_PARTS: usize = 8;

/// Whether this build has observations that are not encoded element by element, and observations of several parts.
const CODED: bool = cfg!(feature = "residual");

const TOO_LONG: Error = Error::new(Kind::Overflow, "spaces: observations whose numbers fit 31 bits");

/// A part of an observation, and the position of its encoding. Plain data, stored in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Part {
    /// An [`Element`].
    kind: u16,
    /// 1: a picture whose channels come first in an observation, and last in its encoding.
    turned: u16,
    /// Offset in an observation, in bytes.
    offset: u32,
    /// Elements.
    len: u32,
    /// Offset in the encoded observation, in elements.
    begin: u32,
    /// Height, width and channels of its encoding; 1, 1 and its length if it is not a picture.
    pub picture: [u32; 3],
    /// Offset in the list of choice counts of all parts.
    first: u32,
}

impl Part {
    /// Bytes that networks read divided by 255; 0 if its elements are others.
    pub fn num_bytes(&self) -> u32 {
        if self.is(Element::U8) { self.len } else { 0 }
    }

    /// Whether it has bytes of an observation that another part has too.
    pub fn overlaps(&self, other: &Part) -> bool {
        let [own, its] = [self, other].map(|part| {
            let unit = if part.is(Element::U8) { 1 } else { 4 };
            let begin = u64::from(part.offset);
            begin..begin.saturating_add(u64::from(part.len).saturating_mul(unit))
        });
        own.start < its.end && its.start < own.end
    }

    /// Whether the bytes of a picture are in another order than in its encoding.
    pub fn is_turned(&self) -> bool {
        CODED && self.turned != 0
    }

    /// Kind and number of its elements, and of choices the offset of their counts in the list of all parts.
    pub fn elements(&self) -> (Element, usize, usize) {
        let kind = Element::from_number(self.kind.into()).unwrap_or(Element::F32);
        (kind, self.len as usize, self.first as usize)
    }

    /// Offsets in an observation, in bytes, and in its encoding, in elements.
    pub fn places(&self) -> (usize, usize) {
        (self.offset as usize, self.begin as usize)
    }

    fn is(&self, kind: Element) -> bool {
        self.kind == kind as u16
    }

    /// Writes the elements of a picture whose channels come first as its encoding.
    fn turn<T, U>(&self, mut from: impl Iterator<Item = T>, to: &mut [U], convert: impl Fn(T) -> U) {
        let [.., channels] = self.picture;
        for channel in 0..channels as usize {
            let plane = to.iter_mut().skip(channel).step_by(channels as usize);
            plane.zip(from.by_ref()).for_each(|(to, x)| *to = convert(x));
        }
    }
}

/// The parts of an observation space that networks read: its fields but for infos.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    list: [Part; MAX_PARTS],
    len: usize,
    /// Elements of an encoded observation.
    pub seen: u32,
    /// Entries of the list of choice counts, one for each discrete element.
    pub num_choices: u32,
    /// The encoding is not element by element.
    pub coded: bool,
}

impl Parts {
    /// Reads and checks the fields of a space. Errors: `Config`, `Overflow`.
    pub fn new(obs: &Space<'_>) -> Result<Parts> {
        let mut parts =
            Parts { list: [Part::default(); MAX_PARTS], len: 0, seen: obs.len, num_choices: 0, coded: false };
        let whole = [Field::new("", obs.kind, &[obs.len], 0)];
        let fields = if obs.fields.is_empty() && obs.kind == Element::I32 { &whole } else { obs.fields };
        if fields.is_empty() {
            return Ok(parts);
        }
        if !CODED {
            let all = |field: &Field<'_>| field.kind == obs.kind && field.len() == Some(obs.len as usize);
            let whole = |field: &Field<'_>| all(field) && !field.info && !field.channels_first;
            if obs.kind != Element::I32 && fields.len() == 1 && fields.iter().all(whole) {
                return Ok(parts);
            }
            let what = "spaces: observations of kind f32 or u8 without fields; this library was built without others";
            return Err(Error::new(Kind::Config, what));
        }
        if fields.len() > MAX_PARTS {
            let what = "spaces: fields of an observation, at most";
            return Err(Error::new(Kind::Config, what).needed(MAX_PARTS).given(fields.len()));
        }
        let size = obs.size();
        (parts.seen, parts.coded) = (0, false);
        let mut end = 0u64;
        for (i, field) in fields.iter().enumerate() {
            let part = parts.part(field, obs, i)?;
            let begin = u64::from(field.offset);
            let last = begin.saturating_add(field.size().unwrap_or(usize::MAX) as u64);
            if last > size as u64 {
                let what = "spaces: fields that end within the bytes of an observation,";
                return Err(Error::new(Kind::Config, what).needed(size).given(last as usize));
            }
            if field.info {
                continue;
            }
            parts.push(part, obs, i)?;
            parts.coded |= part.is_turned() || field.kind != obs.kind || field.kind == Element::I32 || begin != end;
            end = last;
        }
        parts.coded |= end != size as u64;
        let what = "spaces: a field of an observation that is no info, as networks read nothing else, fields";
        Error::new(Kind::Config, what).given(fields.len()).fail_if(parts.len == 0)?;
        let all = if obs.kind == Element::I32 { obs.len } else { parts.num_choices };
        if obs.n.len() != parts.num_choices as usize || all != parts.num_choices {
            let what = "observation space: n with one entry for each discrete element,";
            return Err(Error::new(Kind::Config, what).needed(parts.num_choices as usize).given(obs.n.len()));
        }
        Ok(parts)
    }

    /// A field as the next part, whose choices are not counted yet. Errors: `Config`, `Overflow`.
    fn part(&self, field: &Field<'_>, obs: &Space<'_>, place: usize) -> Result<Part> {
        let refused = |what| Error::new(Kind::Config, what).given(place);
        let len = field.len().and_then(|len| u32::try_from(len).ok()).filter(|len| *len <= i32::MAX as u32);
        let len = len.ok_or(TOO_LONG)?;
        if len == 0 || !(field.offset as usize).is_multiple_of(field.kind.size()) {
            return Err(refused("spaces: field {given} of an observation must have elements, and be aligned."));
        }
        if obs.kind != field.kind && obs.kind != Element::U8 {
            return Err(refused("spaces: field {given} must have the observation's kind, unless that is bytes."));
        }
        let picture = match (field.shape(), field.channels_first) {
            (&([channels, height, width] | [1, channels, height, width]), true) if field.kind != Element::I32 => {
                [height, width, channels]
            }
            (_, true) => {
                return Err(refused(
                    "spaces: field {given} must be [channels, height, width], of bytes or numbers, if its channels come first.",
                ));
            }
            (&[height, width], _) => [height, width, 1],
            (&([height, width, channels] | [1, height, width, channels]), _) => [height, width, channels],
            _ => [1, 1, len],
        };
        let [height, width, channels] = picture;
        let turned = field.channels_first && channels > 1 && height.saturating_mul(width) > 1;
        let (kind, turned) = (field.kind as u16, turned.into());
        Ok(Part { kind, turned, offset: field.offset, len, begin: self.seen, picture, first: self.num_choices })
    }

    /// Adds a part. Errors: `Config`, `Overflow`.
    fn push(&mut self, mut part: Part, obs: &Space<'_>, place: usize) -> Result {
        let refused = |what| Error::new(Kind::Config, what).given(place);
        let (len, mut seen) = (part.len, part.len);
        if part.is(Element::I32) {
            let first = part.first as usize;
            let Some(n) = obs.n.get(first..first.saturating_add(len as usize)) else {
                let what = "observation space: n with an entry for each discrete element of field {given}.";
                return Err(refused(what));
            };
            seen = choices(n)?;
            let same = n.iter().all(|x| n.first() == Some(x));
            let [.., channels] = &mut part.picture;
            match (same, n.first()) {
                (true, Some(&n)) => *channels = channels.saturating_mul(n),
                _ => part.picture = [1, 1, seen],
            }
            self.num_choices = self.num_choices.saturating_add(len);
        }
        self.seen = self.seen.checked_add(seen).filter(|all| *all <= i32::MAX as u32).ok_or(TOO_LONG)?;
        *self.list.get_mut(self.len).ok_or(LayoutError)? = part;
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    pub fn list(&self) -> &[Part] {
        self.list.get(..self.len).unwrap_or(&self.list)
    }
}

/// Height, width and channels of parts, and the number of parts.
pub(super) fn pictures(parts: &[Part]) -> ([[u32; 3]; MAX_PARTS], usize) {
    let mut pictures = [[0; 3]; MAX_PARTS];
    if !CODED {
        return (pictures, 0);
    }
    pictures.iter_mut().zip(parts).for_each(|(to, part)| *to = part.picture);
    (pictures, parts.len().min(MAX_PARTS))
}

/// [`pictures`] of a critic's input: an action, if it is part of the input, follows the parts of an observation that has any.
#[cfg(feature = "off_policy")]
pub(super) fn critic_parts(parts: &[Part], action_len: Option<u32>) -> ([[u32; 3]; MAX_PARTS + 1], usize) {
    let (mut all, (observed, count)) = ([[1, 1, action_len.unwrap_or(0)]; MAX_PARTS + 1], pictures(parts));
    all.iter_mut().zip(observed.iter().take(count)).for_each(|(to, picture)| *to = *picture);
    (all, if count == 0 || action_len.is_none() { count } else { count.saturating_add(1) })
}

/// Spans of compiled layers, of the parts of observations and of the choice counts of their discrete elements.
#[derive(Clone, Copy)]
pub(super) struct Front {
    nodes: Span<Node>,
    parts: Span<Part>,
    n: Span<u32>,
}

impl Front {
    pub fn plan(
        p: &mut Plan,
        num_layers: usize,
        num_parts: u32,
        num_choices: u32,
    ) -> core::result::Result<Front, TooLong> {
        let [parts, n] = if CODED { [num_parts, num_choices].map(|len| len as usize) } else { [0; 2] };
        Ok(Front { nodes: p.span(num_layers)?, parts: p.span(parts)?, n: p.span(n)? })
    }

    pub fn write(self, to: &mut Cutter<'_>, nodes: &[Node], parts: &[Part], n: &[u32]) -> Fit<()> {
        block::copy(to.take(self.nodes)?, nodes);
        block::copy(to.take(self.parts)?, parts);
        block::copy(to.take(self.n)?, n);
        Ok(())
    }

    pub fn take<'m>(self, from: &mut Cutter<'m>) -> Fit<(&'m [Node], &'m [Part], &'m [u32])> {
        Ok((from.take(self.nodes)?, from.take(self.parts)?, from.take(self.n)?))
    }

    pub fn read(self, mem: &[u8]) -> Fit<(&[Node], &[Part], &[u32])> {
        if !CODED {
            return Ok((block::view(mem, self.nodes)?, &[], &[]));
        }
        Ok((block::view(mem, self.nodes)?, block::view(mem, self.parts)?, block::view(mem, self.n)?))
    }
}

/// The encoding of observations.
#[derive(Clone, Copy)]
pub(super) struct ObsEncoder<'a> {
    /// Elements of an encoded observation.
    pub len: usize,
    /// Elements of an observation.
    pub elements: usize,
    /// The encoding is not element by element.
    pub coded: bool,
    pub parts: &'a [Part],
    /// Choice counts of discrete elements.
    pub n: &'a [u32],
    /// The network that reads the encoded observations.
    pub net: Net<'a>,
}

impl ObsEncoder<'_> {
    /// Checks parts from an untrusted source: they must be a result of [`Parts::new`] for observations of `size` bytes with
    /// elements of this kind, which [`ObsEncoder::row`] relies on, and match the shape. Errors: `Image`.
    pub fn check(&self, of: Element, size: usize) -> Result {
        let refused = Error::new(Kind::Image, "image: parts of its observations");
        if !CODED {
            return if self.coded || self.len != self.elements { Err(refused) } else { Ok(()) };
        }
        let (mut seen, mut num_choices, mut coded, mut next) = (0u64, 0u64, false, 0u64);
        for part in self.parts {
            let kind = Element::from_number(part.kind.into()).ok_or(refused)?;
            let lens = part.picture.iter().map(|len| u64::from(*len));
            let own = lens.fold(1u64, u64::saturating_mul);
            let mut expected = u64::from(part.len);
            if kind == Element::I32 {
                let first = part.first as usize;
                let n = self.n.get(first..first.saturating_add(part.len as usize)).ok_or(refused)?;
                expected = u64::from(choices(n).map_err(|_| refused)?);
            }
            let begin = u64::from(part.offset);
            let end = begin.saturating_add(u64::from(part.len).saturating_mul(kind.size() as u64));
            let aligned = begin.checked_rem(kind.size() as u64) == Some(0);
            let fits = part.len > 0 && end <= size as u64 && own == expected && aligned;
            let fits = fits && (kind == of || of == Element::U8);
            let fits = fits && (part.turned == 0 || part.turned == 1 && kind != Element::I32);
            if !fits || u64::from(part.begin) != seen || u64::from(part.first) != num_choices {
                return Err(refused);
            }
            coded |= begin != next || kind == Element::I32 || kind != of || part.is_turned();
            next = end;
            seen = seen.saturating_add(own);
            num_choices = num_choices.saturating_add(if kind == Element::I32 { part.len.into() } else { 0 });
        }
        let all = match self.parts {
            [] => !self.coded && self.len == self.elements && of != Element::I32,
            _ => self.coded == (coded || next != size as u64) && seen == self.len as u64,
        };
        let choices = if of == Element::I32 { self.elements as u64 } else { num_choices };
        if all && num_choices == self.n.len() as u64 && choices == num_choices { Ok(()) } else { Err(refused) }
    }

    /// Whether a part has elements other than bytes.
    pub fn mixed(&self) -> bool {
        self.parts.iter().any(|part| !part.is(Element::U8))
    }

    /// Encodes one observation. Errors: `Value` for a choice that does not exist.
    pub fn row(&self, obs: Elements<'_>, to: &mut [f32]) -> Result {
        self.row_behind(obs, [0; 2], to)
    }

    /// Encodes one observation without its first `front` elements: 0, or those of the first part, a part of bytes. The first
    /// `removed` bytes of that part are not in the observation. Errors: as `ObsEncoder::row`.
    pub fn row_behind(&self, obs: Elements<'_>, [front, removed]: [usize; 2], to: &mut [f32]) -> Result {
        if !CODED || !self.coded {
            match obs {
                Elements::F32(x) => block::copy(to, x),
                Elements::U8(x) => bytes_to_f32(x.get(front.saturating_sub(removed)..).ok_or(LayoutError)?, to),
                Elements::I32(_) => return Err(LayoutError.into()),
            }
            return Ok(());
        }
        let bytes = obs.bytes();
        for part in self.parts {
            let Some(begin) = (part.begin as usize).checked_sub(front) else { continue };
            let from = bytes.get(self.offset(part, removed)..).ok_or(LayoutError)?;
            let len = part.picture.iter().fold(1usize, |all, len| all.saturating_mul(*len as usize));
            let to = block::rows_mut(to.get_mut(begin..).ok_or(LayoutError)?, 0, 1, len)?;
            let words = from.as_chunks::<4>().0.iter().take(part.len as usize);
            match Element::from_number(part.kind.into()) {
                Some(Element::F32) if part.is_turned() => part.turn(words, to, |x| f32::from_ne_bytes(*x)),
                Some(Element::F32) => to.iter_mut().zip(words).for_each(|(to, x)| *to = f32::from_ne_bytes(*x)),
                Some(Element::I32) => {
                    let n = self.n.get(part.first as usize..).ok_or(LayoutError)?;
                    one_hot(n, words.map(|x| i32::from_ne_bytes(*x)), to)?;
                }
                _ if part.is_turned() => part.turn(from.iter(), to, |x| f32::from(*x) / 255.0),
                _ => bytes_to_f32(from, to),
            }
        }
        Ok(())
    }

    /// The offset of a part in an observation without the first `removed` bytes of the first part.
    fn offset(&self, part: &Part, removed: usize) -> usize {
        let offset = part.offset as usize;
        if offset > self.front_offset() { offset.saturating_sub(removed) } else { offset }
    }

    /// Encodes `rows` consecutive observations. Errors: as `ObsEncoder::row`.
    pub fn rows(&self, obs: Elements<'_>, rows: usize, to: &mut [f32]) -> Result {
        if !CODED || !self.coded {
            self.row(obs, to)?;
        } else {
            for row in 0..rows {
                self.row(self.at(obs, row)?, block::rows_mut(to, row, 1, self.len)?).map_err(|e| e.in_row(row))?;
            }
        }
        self.net.check_symbols(block::rows(to, 0, rows, self.len)?, |row| row)
    }

    /// Observation `row` of an array.
    pub fn at<'o>(&self, obs: Elements<'o>, row: usize) -> Fit<Elements<'o>> {
        let begin = row.saturating_mul(self.elements);
        obs.get(begin, begin.saturating_add(self.elements)).ok_or(LayoutError)
    }

    /// Whether the bytes of an observation from an untrusted source, without the first `removed` ones of the first part, are
    /// finite numbers and existing choices.
    pub fn can_be(&self, bytes: &[u8], removed: usize) -> bool {
        self.parts.iter().all(|part| {
            let from = bytes.get(self.offset(part, removed)..).unwrap_or_default();
            let mut words = from.as_chunks::<4>().0.iter().take(part.len as usize);
            let n = self.n.get(part.first as usize..).unwrap_or_default();
            match Element::from_number(part.kind.into()) {
                Some(Element::F32) => words.all(|x| f32::from_ne_bytes(*x).is_finite()),
                Some(Element::I32) => words.zip(n).all(|(x, n)| u32::from_ne_bytes(*x) < *n),
                _ => true,
            }
        })
    }

    /// Whether observations of bytes can be the network's input as they are.
    pub fn reads_bytes(&self, normalize_obs: u32) -> bool {
        !self.coded && normalize_obs == 0 && self.net.reads_bytes()
    }

    /// The offset of the first part in an observation, in bytes.
    pub fn front_offset(&self) -> usize {
        self.parts.first().map_or(0, |part| part.offset as usize)
    }

    /// Writes the first elements of an encoded observation, which are bytes, before they are divided by 255.
    pub fn copy_front(&self, obs: Elements<'_>, row: usize, to: &mut [u8]) -> Fit<()> {
        let from = self.front(obs, row, to.len())?;
        match self.parts.first().filter(|part| part.is_turned()) {
            Some(part) => part.turn(from.iter(), to, |x| *x),
            None => block::copy(to, from),
        }
        Ok(())
    }

    /// The first `front` elements of an encoded observation of bytes, in the order in which the observation has them.
    pub fn front<'o>(&self, obs: Elements<'o>, row: usize, front: usize) -> Fit<&'o [u8]> {
        block::rows(self.at(obs, row)?.bytes().get(self.front_offset()..).ok_or(LayoutError)?, 0, 1, front)
    }

    /// Whether the encoding is bytes divided by 255, which are always finite.
    fn are_bytes(&self, obs: Elements<'_>) -> bool {
        !self.coded && obs.kind() == Element::U8
    }

    /// Checks that the encoded observations, rows of `seen` without the `front` elements that are bytes, are finite. Errors:
    /// `Value`.
    pub fn check_finite(
        &self,
        what: &'static str,
        obs: Elements<'_>,
        (seen, front): (&[f32], usize),
        rows: impl IntoIterator<Item = usize>,
    ) -> Result {
        if self.are_bytes(obs) { Ok(()) } else { check_rows(what, seen, self.len.saturating_sub(front), rows) }
    }

    /// Checks that observation `row` can be encoded, besides its first `front` elements, which are bytes; `room` is scratch
    /// memory for the encoding of the others.
    pub fn check_row(
        &self,
        what: &'static str,
        (obs, row): (Elements<'_>, usize),
        front: usize,
        room: &mut [f32],
    ) -> Result {
        if self.are_bytes(obs) && !self.net.reads_symbols() {
            return Ok(());
        }
        let room = block::rows_mut(room, 0, 1, self.len.saturating_sub(front))?;
        let encoded = self.row_behind(self.at(obs, row)?, [front, 0], room);
        encoded.and_then(|()| check_finite(what, room)).map_err(|e| e.in_row(row))?;
        self.net.check_symbols(room, |_| row)
    }
}

/// The sum of the choices of a discrete space, each at least 1 and below 2^31.
pub fn choices(n: &[u32]) -> Result<u32> {
    let mut sum = 0u32;
    for &n in n {
        if n == 0 {
            return Err(Error::new(Kind::Config, "action space: choices of at least").needed(1).given(0));
        }
        let fits = sum.checked_add(n).filter(|_| n <= i32::MAX as u32);
        sum = fits.ok_or(Error::new(Kind::Overflow, "action space: choices that fit 31 bits"))?;
    }
    Ok(sum)
}

/// Converts bytes to f32, divided by 255.
pub(super) fn bytes_to_f32(bytes: &[u8], to: &mut [f32]) {
    to.iter_mut().zip(bytes).for_each(|(to, x)| *to = f32::from(*x) / 255.0);
}

/// Encodes consecutive choices one-hot; `n` has the number of choices of each. Errors: `Value`.
fn one_hot(n: &[u32], choices: impl Iterator<Item = i32>, to: &mut [f32]) -> Result {
    to.fill(0.0);
    let mut rest = to.iter_mut();
    for (&n, choice) in n.iter().zip(choices) {
        if choice < 0 || choice as u32 >= n {
            let what = "observation: choices from 0 to below";
            return Err(Error::new(Kind::Value, what).needed(n as usize).given_f32(choice as f32));
        }
        let mut own = rest.by_ref().take(n as usize);
        *own.nth(choice as usize).ok_or(LayoutError)? = 1.0;
        own.for_each(drop);
    }
    Ok(())
}
