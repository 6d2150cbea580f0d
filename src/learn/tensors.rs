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
    /// 0.
    pub reserved: u32,
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
}

/// A tensor, its layer in the networks, and where the parameters of its network begin.
#[derive(Clone, Copy)]
pub(super) struct Found<'n> {
    pub told: NamedTensor,
    pub tensor: Tensor,
    pub net: Net<'n>,
    pub begin: usize,
    pub role: u32,
}

impl<'n> Networks<'n> {
    /// Calls `with` with each tensor, until it returns true or fails. Returns whether it returned true.
    fn any(&self, with: &mut dyn FnMut(Found<'n>) -> Result<bool>) -> Result<bool> {
        let (mut offset, mut begin) = (0usize, 0usize);
        for network in 0..=self.num_critics {
            let net = if network == 0 { self.net } else { self.critic };
            for (layer, role) in net.roles().enumerate() {
                for tensor in net.tensors(layer)?.as_slice() {
                    let critic = (network as u32).checked_sub(1);
                    let told = NamedTensor {
                        name: *TensorName::new(critic, role, tensor.name).bytes(),
                        offset: offset as u64,
                        rank: tensor.rank as u32,
                        dims: tensor.told().map(|len| len as u32),
                        network: network as u32,
                        layer: layer as u32,
                        reserved: 0,
                    };
                    offset = offset.saturating_add(tensor.len());
                    if with(Found { told, tensor: *tensor, net, begin, role })? {
                        return Ok(true);
                    }
                }
            }
            begin = begin.saturating_add(net.param_len());
        }
        Ok(false)
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
        self.any(&mut |Found { told, tensor, net, begin, role }| {
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
