//! Actions that are structures of choices and numbers: what each word of one is, how they are taken apart and put together.

use super::obs_encoder::{MAX_PARTS, choices};
use crate::block::{Fit, LayoutError};
use crate::error::{Error, Kind, Result};
use crate::space::{Element, Space};

/// The most choices and the most numbers of such an action.
pub(super) const MAX_EACH: usize = 64;

/// Bytes of a word: all choices and numbers are as long.
pub(super) const WORD: usize = 4;

/// A word that no field covers.
pub(super) const GAP: u32 = u32::MAX;

/// What an action of several parts is made of.
pub(super) struct Counts {
    /// Elements that are choices.
    pub picks: u32,
    /// Elements that are numbers.
    pub numbers: u32,
    /// What a network says of both: a logit of everything that can be chosen, then a mean of each number.
    pub outputs: u32,
}

impl Counts {
    /// Reads and checks the fields of an action space. Errors: `Config`, `Overflow`.
    pub fn new(action: &Space<'_>) -> Result<Counts> {
        let refused = |what, most, given| Err(Error::limit(Kind::Config, what, most, given));
        if !cfg!(feature = "residual") {
            let what = "action space: elements of one kind; this library was built without actions that are structures";
            return Err(Error::new(Kind::Config, what));
        }
        if action.fields.len() > MAX_PARTS {
            return refused("action space: fields of an action, at most", MAX_PARTS, action.fields.len());
        }
        let size = action.size();
        let (mut end, mut lens) = (0usize, [0usize; 2]);
        for (place, field) in action.fields.iter().enumerate() {
            let len = field.size().filter(|len| *len > 0 && field.kind != Element::U8 && !field.info);
            let Some(len) =
                len.filter(|_| field.offset as usize >= end && (field.offset as usize).is_multiple_of(WORD))
            else {
                let what = "action space: field {given} must have elements of kind f32 or i32, be no info, and have an offset that is a \
                            multiple of 4 and not within the field before it.";
                return Err(Error::new(Kind::Config, what).given(place));
            };
            end = (field.offset as usize).saturating_add(len);
            let [picks, numbers] = &mut lens;
            let own = if field.kind == Element::I32 { picks } else { numbers };
            *own = own.saturating_add(len / WORD);
        }
        if end > size || !size.is_multiple_of(WORD) {
            let what =
                "action space: the fields end at byte {given}; len, {needed}, must be a multiple of 4 and not less.";
            return refused(what, size, end);
        }
        let [picks, numbers] = lens;
        if picks.max(numbers) > MAX_EACH {
            let what = "action space: elements of each kind in a structure, at most";
            return refused(what, MAX_EACH, picks.max(numbers));
        }
        if action.n.len() != picks {
            return refused("action space: n with one entry for each element of kind i32,", picks, action.n.len());
        }
        let too_many = Error::new(Kind::Overflow, "action space: choices that fit 31 bits");
        let outputs = choices(action.n)?.checked_add(numbers as u32).ok_or(too_many)?;
        Ok(Counts { picks: picks as u32, numbers: numbers as u32, outputs })
    }
}

/// Writes what the words of an action are: of a choice how many there are, 0 of a number.
pub(super) fn list(action: &Space<'_>, each: &mut [u32]) {
    each.fill(GAP);
    let mut n = action.n.iter();
    for field in action.fields {
        let words = each.iter_mut().skip(field.offset as usize / WORD).take(field.len().unwrap_or(0));
        match field.kind {
            Element::I32 => words.zip(n.by_ref()).for_each(|(word, n)| *word = *n),
            _ => words.for_each(|word| *word = 0),
        }
    }
}

/// True if words that may come from anywhere are those choices and so many numbers.
pub(super) fn are(each: &[u32], n: &[u32], numbers: usize) -> bool {
    let picks = each.iter().filter(|&&word| word != 0 && word != GAP);
    picks.eq(n) && each.iter().filter(|&&word| word == 0).count() == numbers
}

/// Takes actions apart, `[rows, each.len()]` words. Errors: `Value` for a choice that is not there.
pub(super) fn part(each: &[u32], action: &[u8], choice: &mut [i32], vector: &mut [f32]) -> Result {
    let (mut choice, mut vector) = (choice.iter_mut(), vector.iter_mut());
    for row in action.as_chunks::<WORD>().0.chunks_exact(each.len().max(1)) {
        for (word, &n) in row.iter().zip(each) {
            match n {
                GAP => {}
                0 => *vector.next().ok_or(LayoutError)? = f32::from_ne_bytes(*word),
                _ => {
                    let own = i32::from_ne_bytes(*word);
                    if own < 0 || own as u32 >= n {
                        let what = "actions: choices from 0 to below";
                        return Err(Error::new(Kind::Value, what).needed(n as usize).given_f32(own as f32));
                    }
                    *choice.next().ok_or(LayoutError)? = own;
                }
            }
        }
    }
    Ok(())
}

/// Puts actions together. What no field covers stays as it is.
pub(super) fn join(each: &[u32], choice: &[i32], vector: &[f32], action: &mut [u8]) -> Fit<()> {
    let (mut choice, mut vector) = (choice.iter(), vector.iter());
    for row in action.as_chunks_mut::<WORD>().0.chunks_exact_mut(each.len().max(1)) {
        for (word, &n) in row.iter_mut().zip(each) {
            match n {
                GAP => {}
                0 => *word = vector.next().ok_or(LayoutError)?.to_ne_bytes(),
                _ => *word = choice.next().ok_or(LayoutError)?.to_ne_bytes(),
            }
        }
    }
    Ok(())
}
