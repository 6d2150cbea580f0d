//! Wrappers of observation fields.

use super::change::{Change, Fit, MAX_FIELDS, Move, Parts, SHAPE, Seen, WIDE, bytes_of};
use super::layer::Face;
use crate::block;
use crate::error::{Error, Kind, Result};
use crate::space::{Element, Elements, ElementsMut, Field, Space};

impl Move {
    fn of(kind: Element, from: u32, to: u32, size: usize) -> Result<Self> {
        Ok(Move { kind, from, to, size: u32::try_from(size).map_err(|_| WIDE)? })
    }

    /// The bytes of the observation below, starting at the field.
    pub fn source<'s>(&self, seen: &'s [u8]) -> Result<&'s [u8]> {
        seen.get(self.from as usize..).ok_or(SHAPE)
    }

    /// The bytes of the field at its new place.
    pub fn place<'s>(&self, out: &'s mut [u8]) -> Result<&'s mut [u8]> {
        out.get_mut(self.to as usize..).and_then(|rest| rest.get_mut(..self.size as usize)).ok_or(SHAPE)
    }
}

impl Parts {
    fn none(seen: Seen) -> Self {
        let none = Move { kind: Element::U8, from: 0, to: 0, size: 0 };
        Parts { seen, moves: [none; MAX_FIELDS], len: 0, one_hot: false }
    }

    fn push(&mut self, part: Move) -> Result {
        *self.moves.get_mut(self.len).ok_or(SHAPE)? = part;
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Packs fields one after another, each aligned to its elements. Returns their moves and the total size in bytes, a
    /// multiple of the largest element. Each item is a pair of the old field and the new field, whose offset is set.
    pub fn packed<'f, 'a: 'f>(
        seen: Seen,
        fields: impl Iterator<Item = (&'f Field<'a>, &'f mut Field<'a>)>,
    ) -> Result<(Self, u32)> {
        let (mut parts, mut end, mut largest) = (Parts::none(seen), 0, 1);
        for (old, new) in fields {
            let size = place(new, &mut end, &mut largest)?;
            parts.push(Move::of(new.kind, old.offset, new.offset, size)?)?;
        }
        Ok((parts, rounded(end, largest)?))
    }

    pub fn moves(&self) -> &[Move] {
        self.moves.get(..self.len).unwrap_or_default()
    }

    /// Copies the fields, except field `but`, to their new places; bytes between them are set to 0.
    pub fn pack(&self, seen: &[u8], out: &mut [u8], but: Option<usize>) -> Result {
        let mut end = 0;
        for (i, part) in self.moves().iter().enumerate() {
            out.get_mut(end..part.to as usize).ok_or(SHAPE)?.fill(0);
            end = (part.to as usize).saturating_add(part.size as usize);
            if but != Some(i) {
                let (from, to) = (part.source(seen)?, part.place(out)?);
                block::copy(to, from.get(..to.len()).ok_or(SHAPE)?);
            }
        }
        out.get_mut(end..).ok_or(SHAPE)?.fill(0);
        Ok(())
    }

    /// Writes the fields as elements of the kind of `obs`, one after another. `n` has the choices of discrete elements. Errors:
    /// `Value` for a choice that has no place.
    pub fn gather(&self, seen: Elements<'_>, mut n: &[u32], obs: ElementsMut<'_>) -> Result {
        let seen = bytes_of(seen)?;
        match obs {
            ElementsMut::U8(out) => self.pack(seen, out, None),
            ElementsMut::F32(mut out) => {
                for part in self.moves() {
                    let (to, rest) = out.split_at_mut_checked(part.size as usize / 4).ok_or(SHAPE)?;
                    if self.one_hot && part.kind == Element::I32 {
                        n = one_hot(part.source(seen)?, n, to)?;
                    } else {
                        numbers(part.source(seen)?, part.kind, to);
                    }
                    out = rest;
                }
                Ok(())
            }
            // One field of several.
            ElementsMut::I32(out) => self.pack(seen, bytemuck::cast_slice_mut(out), None),
        }
    }
}

/// Places a field after the preceding ones and returns its size in bytes.
pub(super) fn place(field: &mut Field<'_>, end: &mut usize, largest: &mut usize) -> Result<usize> {
    let unit = field.kind.size();
    *largest = unit.max(*largest);
    let begin = u32::try_from(*end).ok().and_then(|end| end.checked_next_multiple_of(unit as u32)).ok_or(WIDE)?;
    let size = field.size().ok_or(WIDE)?;
    *end = (begin as usize).checked_add(size).ok_or(WIDE)?;
    field.offset = begin;
    Ok(size)
}

/// End of the last field, rounded up so that the elements stay aligned in rows of observations.
pub(super) fn rounded(end: usize, largest: usize) -> Result<u32> {
    let end = u32::try_from(end).map_err(|_| WIDE)?;
    end.checked_next_multiple_of(largest.max(1) as u32).ok_or(WIDE)
}

/// Converts elements of any kind, from unaligned bytes, to numbers of the same value.
fn numbers(seen: &[u8], kind: Element, out: &mut [f32]) {
    let (words, _) = seen.as_chunks();
    match kind {
        Element::F32 => out.iter_mut().zip(words).for_each(|(to, from)| *to = f32::from_ne_bytes(*from)),
        Element::I32 => out.iter_mut().zip(words).for_each(|(to, from)| *to = i32::from_ne_bytes(*from) as f32),
        Element::U8 => out.iter_mut().zip(seen).for_each(|(to, from)| *to = f32::from(*from)),
    }
}

/// Writes choices, from unaligned bytes, as one-hot numbers that fill `out`, and returns the numbers of choices of the elements
/// behind them. Errors: `Value`.
fn one_hot<'n>(seen: &[u8], n: &'n [u32], mut out: &mut [f32]) -> Result<&'n [u32]> {
    let (mut rest, (words, _)) = (n, seen.as_chunks());
    for word in words {
        if out.is_empty() {
            break;
        }
        let (&own, others) = rest.split_first().ok_or(SHAPE)?;
        let (to, behind) = out.split_at_mut_checked(own as usize).ok_or(SHAPE)?;
        to.fill(0.0);
        let what = "one-hot: the observation of environment {given} has a choice that its space does not have.";
        let place = usize::try_from(i32::from_ne_bytes(*word)).ok().and_then(|choice| to.get_mut(choice));
        *place.ok_or(Error::new(Kind::Value, what))? = 1.0;
        (rest, out) = (others, behind);
    }
    Ok(rest)
}

pub(super) fn fit_one_hot(face: &mut Face<'_>) -> Result<Fit> {
    let (seen, mut n) = (face.seen(), face.obs.n);
    let what = "one-hot: an observation with choices, each of which says how many it has";
    let count = |field: &Field<'_>| field.len().and_then(|count| u32::try_from(count).ok()).ok_or(WIDE);
    let (mut parts, mut len, mut any) = (Parts { one_hot: true, ..Parts::none(seen) }, 0u32, false);
    for field in face.parts() {
        let mut own = count(field)?;
        if field.kind == Element::I32 {
            let (first, others) = n.split_at_checked(own as usize).ok_or(Error::new(Kind::Config, what))?;
            own = first.iter().try_fold(0u32, |all, n| all.checked_add(*n)).ok_or(WIDE)?;
            (n, any) = (others, true);
        }
        let [to, size] = [len, own].map(|len| len.checked_mul(size_of::<f32>() as u32));
        parts.push(Move::of(field.kind, field.offset, to.ok_or(WIDE)?, size.ok_or(WIDE)? as usize)?)?;
        len = len.checked_add(own).ok_or(WIDE)?;
    }
    Error::new(Kind::Config, what).fail_if(!any || !n.is_empty())?;
    face.show(Space::unbounded(len), &[Field::new("", Element::F32, &[len], 0)]);
    Ok(Fit::new(Change::Gather(parts), seen.room()))
}

pub(super) fn fit_flatten(face: &mut Face<'_>) -> Result<Fit> {
    let seen = face.seen();
    let what = "flatten: fields that are no infos, as networks would read them in a row of numbers; field";
    if let Some(info) = face.parts().iter().position(|field| field.info) {
        return Err(Error::new(Kind::Config, what).given(info));
    }
    let bytes = face.parts().iter().all(|field| field.kind == Element::U8);
    let kind = if bytes { Element::U8 } else { Element::F32 };
    let (mut parts, mut len) = (Parts::none(seen), 0u32);
    for field in face.parts() {
        let count = field.len().and_then(|count| u32::try_from(count).ok()).ok_or(WIDE)?;
        let to = len.checked_mul(kind.size() as u32).ok_or(WIDE)?;
        let size = (count as usize).saturating_mul(kind.size());
        parts.push(Move::of(field.kind, field.offset, to, size)?)?;
        len = len.checked_add(count).ok_or(WIDE)?;
    }
    let in_place = kind == face.obs.kind && len == face.obs.len;
    let space = if in_place { face.obs } else { Space { kind, ..Space::bytes(len) } };
    face.show(space, &[Field::new("", kind, &[len], 0)]);
    Ok(if in_place { Fit::nothing() } else { Fit::new(Change::Gather(parts), seen.room()) })
}

pub(super) fn fit_extract(name: &str, face: &mut Face<'_>) -> Result<Fit> {
    let seen = face.seen();
    let field = *face.parts().get(face.part(name)?).ok_or(SHAPE)?;
    let kind = if field.kind == face.obs.kind || field.kind == Element::F32 { field.kind } else { Element::U8 };
    let size = field.size().ok_or(WIDE)?;
    let len = size.checked_div(kind.size()).and_then(|len| u32::try_from(len).ok()).ok_or(WIDE)?;
    let begin = (field.offset as usize) / kind.size();
    let whole = kind == face.obs.kind && len == face.obs.len;
    let bounds = |bounds| part_of(bounds, face.obs.len, begin, len);
    let space = if field.kind == face.obs.kind {
        let n = part_of(face.obs.n, face.obs.len, begin, len);
        Space { len, low: bounds(face.obs.low), high: bounds(face.obs.high), n, ..face.obs }
    } else {
        Space { kind, ..Space::bytes(len) }
    };
    let mut parts = Parts::none(seen);
    parts.push(Move::of(field.kind, field.offset, 0, size)?)?;
    face.show(space, &[Field { name: "", offset: 0, info: false, ..field }]);
    Ok(if whole { Fit::nothing() } else { Fit::new(Change::Gather(parts), seen.room()) })
}

/// Bounds, or choices, of `len` of `all` elements, from element `begin`.
fn part_of<T>(bounds: &[T], all: u32, begin: usize, len: u32) -> &[T] {
    if bounds.len() == all as usize {
        bounds.get(begin..).and_then(|rest| rest.get(..len as usize)).unwrap_or_default()
    } else {
        bounds
    }
}
