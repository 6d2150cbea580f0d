//! The numbers of each layer of a learner or a policy, as named tensors.

use bytemuck::{Pod, Zeroable};

use super::role::{NAME_LEN, TensorName, is_q_head};
use crate::block::{self, LayoutError};
use crate::error::{Error, Kind, Result, check_len};
use crate::nn::{MAX_RANK, Net, Tensor};

/// A tensor, described for hosts. Plain data.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct NamedTensor {
    /// Its name, with zeros behind it.
    pub name: [u8; NAME_LEN],
    /// Offset of its first element among those of all tensors.
    pub offset: u64,
    /// Number of dimensions, at least 1.
    pub rank: u32,
    /// Their lengths; 1 beyond `rank`.
    pub dims: [u32; MAX_RANK],
    /// 0: the network of the policy, or of Q; k: critic k, counted from 1.
    pub network: u32,
    /// The layer of that network, counted from 0.
    pub layer: u32,
    /// 1: learning leaves it as it is; 0: it is learned, or belongs to no learner.
    pub frozen: u32,
}

impl NamedTensor {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().fold(1, |all, len| all.saturating_mul(*len as usize))
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name, if a zero ends it.
    fn named(&self) -> Option<&[u8]> {
        let end = self.name.iter().position(|byte| *byte == 0)?;
        self.name.get(..end)
    }

    /// Whether the name is the same.
    fn is_named(&self, other: &NamedTensor) -> bool {
        self.named().is_some_and(|name| other.named().is_some_and(|other| name.iter().eq(other)))
    }
}

/// Numbers of which a learner has one for each parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TensorsOf {
    /// The parameters.
    Params = 0,
    /// The parameters of target networks.
    Targets = 1,
    /// First moments of the optimizer; with stream algorithms, the traces.
    FirstMoments = 2,
    /// Second moments of the optimizer.
    SecondMoments = 3,
}

impl TensorsOf {
    /// The one with this number.
    pub fn from_number(number: u32) -> Option<TensorsOf> {
        [TensorsOf::Params, TensorsOf::Targets, TensorsOf::FirstMoments, TensorsOf::SecondMoments]
            .into_iter()
            .find(|of| *of as u32 == number)
    }
}

/// The networks whose parameters lie one after another.
#[derive(Clone, Copy)]
pub(super) struct Networks<'n> {
    pub net: Net<'n>,
    /// The network of each critic; without layers if there are none.
    pub critic: Net<'n>,
    pub num_critics: usize,
    /// One for each layer of each network: bit k: its tensor k is frozen. Empty: none is.
    pub frozen: &'n [u8],
}

/// A tensor, its layer in the networks, and where the parameters of its network begin.
#[derive(Clone, Copy)]
pub(super) struct Found<'n> {
    pub told: NamedTensor,
    pub tensor: Tensor,
    pub net: Net<'n>,
    pub begin: usize,
    pub role: u32,
    /// Its layer among those of all networks, and its bit there, as in [`Networks::frozen`].
    pub flag: (usize, u8),
}

impl<'n> Networks<'n> {
    /// The networks one after another, with where the parameters of each begin.
    fn each(&self) -> impl Iterator<Item = (usize, Net<'n>)> {
        let (first, other) = (self.net.param_len(), self.critic.param_len());
        let critic = self.critic;
        let critics = (0..self.num_critics).map(move |k| (first.saturating_add(other.saturating_mul(k)), critic));
        core::iter::once((0, self.net)).chain(critics)
    }

    /// Calls `with` with each tensor, until it returns true or fails. Returns whether it returned true.
    fn any(&self, with: &mut dyn FnMut(Found<'n>) -> Result<bool>) -> Result<bool> {
        let (mut offset, mut number) = (0usize, 0usize);
        for (network, (begin, net)) in self.each().enumerate() {
            for (layer, role) in net.roles().enumerate() {
                let bits = self.frozen.get(number).copied().unwrap_or(0);
                for (tensor, k) in net.tensors(layer)?.as_slice().iter().zip(0..) {
                    let critic = (network as u32).checked_sub(1);
                    let bit = 1u8.checked_shl(k).unwrap_or(0);
                    let told = NamedTensor {
                        name: *TensorName::new(critic, role, tensor.name).bytes(),
                        offset: offset as u64,
                        rank: tensor.rank as u32,
                        dims: tensor.told().map(|len| len as u32),
                        network: network as u32,
                        layer: layer as u32,
                        frozen: u32::from(bits & bit != 0),
                    };
                    offset = offset.saturating_add(tensor.len());
                    if with(Found { told, tensor: *tensor, net, begin, role, flag: (number, bit) })? {
                        return Ok(true);
                    }
                }
                number = number.saturating_add(1);
            }
        }
        Ok(false)
    }

    /// Layers of all networks.
    pub fn num_layers(&self) -> usize {
        self.each().fold(0, |count, (_, net)| count.saturating_add(net.nodes().len()))
    }

    /// Calls `with` with each layer that has a frozen tensor: where the parameters of its network begin, the network, the layer
    /// there, and its flags; with `all` also with the others.
    pub fn layers(&self, all: bool, with: &mut dyn FnMut(usize, Net<'n>, usize, u8) -> Result) -> Result {
        let mut bits = self.frozen.iter();
        for (begin, net) in self.each() {
            for layer in 0..net.nodes().len() {
                let own = bits.next().copied().unwrap_or(0);
                if all || own != 0 {
                    with(begin, net, layer, own)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `with` with the flag of each tensor whose name fits a pattern, as [`Found::flag`]. Returns their number.
    pub fn fitting(&self, pattern: &[u8], with: &mut dyn FnMut((usize, u8))) -> Result<usize> {
        let mut count = 0usize;
        self.any(&mut |found| {
            if fits(pattern, found.told.named().unwrap_or_default()) {
                count = count.saturating_add(1);
                with(found.flag);
            }
            Ok(false)
        })?;
        Ok(count)
    }

    /// Describes the tensors. Returns their number; those beyond the length of `to` are not written.
    pub fn list(&self, to: &mut [NamedTensor]) -> Result<usize> {
        let mut count = 0usize;
        self.any(&mut |found| {
            if let Some(to) = to.get_mut(count) {
                *to = found.told;
            }
            count = count.saturating_add(1);
            Ok(false)
        })?;
        Ok(count)
    }

    /// Copies all tensors out of numbers in the order of parameters. Those of Q are multiplied by `q_factor` in the last layer.
    pub fn read(&self, params: &[f32], q_factor: f32, mut to: &mut [f32]) -> Result {
        check_len("tensors: numbers of all, of length", to, params.len())?;
        self.any(&mut |Found { told, tensor, net, begin, role, .. }| {
            let own = block::rows(params, begin, net.param_len(), 1)?;
            let to = to.split_off_mut(..tensor.len()).ok_or(LayoutError)?;
            net.read_tensor(own, told.layer as usize, &tensor, to)?;
            if is_q_head(role) {
                to.iter_mut().for_each(|x| *x *= q_factor);
            }
            Ok(false)
        })?;
        Ok(())
    }

    /// Calls `with` with each tensor, and with that of its name and dimensions in other networks, if they have it. Errors: those of
    /// `with`.
    pub fn pairs<'o>(
        &self,
        other: &Networks<'o>,
        with: &mut dyn FnMut(Found<'n>, Option<Found<'o>>) -> Result,
    ) -> Result {
        self.any(&mut |own| {
            let mut twin = None;
            other.any(&mut |found| {
                let same = found.told.rank == own.told.rank && found.told.dims.iter().eq(&own.told.dims);
                let same = same && found.told.is_named(&own.told);
                twin = same.then_some(found);
                Ok(same)
            })?;
            with(own, twin).map(|()| false)
        })?;
        Ok(())
    }

    /// Copies each tensor that other networks have too, of their numbers `from`, times `factor`; the rest stays, and what has
    /// no factor.
    pub fn carry(
        &self,
        to: &mut [f32],
        other: &Networks<'_>,
        from: &[f32],
        factor: &dyn Fn(u32) -> Option<f32>,
    ) -> Result {
        self.pairs(other, &mut |own, twin| {
            let (Some(twin), Some(factor)) = (twin, factor(own.role)) else { return Ok(()) };
            let params = block::rows_mut(&mut *to, own.begin, own.net.param_len(), 1)?;
            let numbers = block::rows(from, twin.begin, twin.net.param_len(), 1)?;
            let (at, there) = ((own.told.layer as usize, &own.tensor), (twin.told.layer as usize, &twin.tensor));
            own.net.copy_tensor(params, at, factor, (&twin.net, numbers), there)
        })
    }

    /// Calls `with` with each tensor of a list, as it is in the networks, and with its numbers. Errors: `Config` for a name that
    /// no tensor has; `Shape` for other dimensions; `Range` for numbers beyond the given ones; those of `with`.
    pub fn each_of(
        &self,
        list: &[NamedTensor],
        values: &[f32],
        with: &mut dyn FnMut(&Found<'n>, &[f32]) -> Result,
    ) -> Result {
        for (i, given) in list.iter().enumerate() {
            let known = self.any(&mut |found| {
                if !found.told.is_named(given) {
                    return Ok(false);
                }
                let same = found.told.rank == given.rank && found.told.dims.iter().eq(&given.dims);
                let what = "tensors: entry {given} has other dimensions than the tensor of its name here.";
                Error::new(Kind::Shape, what).given(i).fail_if(!same)?;
                let begin = usize::try_from(given.offset).unwrap_or(usize::MAX);
                let what = "tensors: the numbers of entry {given} end beyond those that are there, {needed}.";
                let end = begin.saturating_add(found.tensor.len());
                let own = values.get(begin..end).ok_or(Error::limit(Kind::Range, what, values.len(), i))?;
                with(&found, own)?;
                Ok(true)
            })?;
            let what = "tensors: entry {given} has the name of no tensor here.";
            Error::new(Kind::Config, what).given(i).fail_if(!known)?;
        }
        Ok(())
    }
}

/// Whether a name fits a pattern, in which `*` stands for any characters, or none.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0usize, 0usize);
    // The last star, and where the characters that it stands for end.
    let mut star = None;
    while let Some(byte) = name.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at = at.saturating_add(1);
            }
            Some(own) if own == byte => (at, read) = (at.saturating_add(1), read.saturating_add(1)),
            _ => {
                let Some((begin, end)) = star else { return false };
                let end = end.saturating_add(1);
                star = Some((begin, end));
                (at, read) = (begin.saturating_add(1), end);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::String;

    /// The definition: a star stands for every possible beginning of the rest.
    fn by_trial(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some((b'*', rest)), _) => (0..=name.len()).any(|k| by_trial(rest, &name[k..])),
            (Some((a, rest)), Some((b, others))) => a == b && by_trial(rest, others),
            (Some(_), None) => false,
        }
    }

    #[test]
    fn patterns_fit_as_if_every_beginning_were_tried() {
        let word = |len: u32, letters: &[u8], mut number: usize| {
            let mut text = String::new();
            for _ in 0..len {
                text.push(letters[number % letters.len()] as char);
                number /= letters.len();
            }
            text
        };
        let mut fitting = [0, 0];
        for (len, name_len) in (0..=5).flat_map(|len| (0..=5).map(move |other| (len, other))) {
            for pattern in (0..3usize.pow(len)).map(|number| word(len, b"ab*", number)) {
                for name in (0..2usize.pow(name_len)).map(|number| word(name_len, b"ab", number)) {
                    let own = fits(pattern.as_bytes(), name.as_bytes());
                    assert_eq!(own, by_trial(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
                    fitting[usize::from(own)] += 1;
                }
            }
        }
        assert!(fitting.iter().all(|count| *count > 500), "{fitting:?}");
        assert!(fits(b"layers.1.*", b"layers.1.weight") && !fits(b"layers.1.*", b"layers.10.weight"));
        assert!(fits(b"*head*", b"critics.1.head.bias") && !fits(b"layers.1", b"layers.1.weight"));
    }
}
