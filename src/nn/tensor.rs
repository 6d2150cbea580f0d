//! Named arrays of a layer's parameters, with PyTorch's names and order of dimensions, whatever the order in memory.

use super::prim::copy;

/// The largest number of tensors of a layer: those of attention.
const MOST: usize = 7;

/// The largest number of dimensions of a tensor.
pub const MAX_RANK: usize = 4;

/// A tensor of a layer. Its elements are a selection of the layer's parameters in row-major order of its dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tensor {
    /// Name within the layer; empty for the only one of a layer of free values.
    pub name: &'static str,
    /// Whether hosts read and write it as one of the biases of the layer.
    pub is_bias: bool,
    /// Its second dimension is the input of the layer.
    is_of_input: bool,
    /// Number of dimensions.
    pub rank: usize,
    /// Their lengths; 1 beyond `rank`.
    pub dims: [usize; MAX_RANK],
    /// Offset of the first element in the parameters of the layer, and distances of neighbors along each dimension.
    begin: usize,
    strides: [usize; MAX_RANK],
}

impl Tensor {
    /// Weights with these lengths and distances of their dimensions, from `begin` on.
    pub(super) fn weights<const R: usize>(name: &'static str, begin: usize, axes: [(usize, usize); R]) -> Tensor {
        let (mut dims, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        let own = dims.iter_mut().zip(&mut strides);
        own.zip(axes).for_each(|((len, stride), axis)| (*len, *stride) = axis);
        Tensor { name, is_bias: false, is_of_input: false, rank: R.min(MAX_RANK), dims, begin, strides }
    }

    /// The same with the input of the layer as its second dimension.
    pub(super) fn of_input(self) -> Tensor {
        Tensor { is_of_input: true, ..self }
    }

    /// A vector that lies in memory as it is.
    pub(super) fn vector(name: &'static str, begin: usize, len: usize) -> Tensor {
        Tensor { is_bias: true, ..Tensor::weights(name, begin, [(len, 1)]) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().fold(1, |all, len| all.saturating_mul(*len))
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its dimensions for hosts, with the pixels and channels of a picture as one.
    pub fn told(&self) -> [usize; MAX_RANK] {
        let mut told = [1usize; MAX_RANK];
        let last = self.rank.saturating_sub(1);
        for (at, len) in self.dims.into_iter().enumerate() {
            if let Some(to) = told.get_mut(at.min(last)) {
                *to = to.saturating_mul(len);
            }
        }
        told
    }

    /// The tensor with its second dimension, over the pixels and channels of a picture `[height, width, channels]`, in the order
    /// in which PyTorch flattens pictures: channels, height, width.
    pub(super) fn over_picture(self, [height, width, channels]: [u32; 3]) -> Tensor {
        let [[rows, _, ..], [stride, next, ..]] = [self.dims, self.strides];
        let [height, width, channels] = [height, width, channels].map(|len| len as usize);
        Tensor {
            dims: [rows, channels, height, width],
            strides: [stride, next, next.saturating_mul(width.saturating_mul(channels)), next.saturating_mul(channels)],
            ..self
        }
    }

    /// The offsets of its elements in the parameters of the layer.
    fn offsets(&self) -> impl Iterator<Item = usize> + use<> {
        let ([a, b, c, d], [i, j, k, l]) = (self.dims, self.strides);
        let axis = |len: usize, stride: usize| (0..len).map(move |at| at.saturating_mul(stride));
        let begin = self.begin;
        axis(a, i).flat_map(move |i| {
            axis(b, j).flat_map(move |j| {
                axis(c, k).flat_map(move |k| {
                    let at = begin.saturating_add(i).saturating_add(j).saturating_add(k);
                    axis(d, l).map(move |l| at.saturating_add(l))
                })
            })
        })
    }

    /// Its elements, of the parameters of its layer.
    pub(super) fn values<'p>(&self, params: &'p [f32]) -> impl Iterator<Item = f32> + use<'p> {
        let own = *self;
        own.offsets().map(|at| params.get(at).copied().unwrap_or(0.0))
    }

    /// Copies it out of the parameters of its layer.
    pub(super) fn read(&self, params: &[f32], to: &mut [f32]) -> Option<()> {
        if self.lies_flat() {
            return copy(params.get(self.begin..)?, to);
        }
        for (to, from) in to.iter_mut().zip(self.offsets()) {
            *to = *params.get(from)?;
        }
        Some(())
    }

    /// Copies it into the parameters of its layer.
    pub(super) fn write(&self, params: &mut [f32], from: &[f32]) -> Option<()> {
        for (from, to) in from.iter().zip(self.offsets()) {
            *params.get_mut(to)? = *from;
        }
        Some(())
    }

    /// Copies the product of `factor` and a tensor of the same length into the parameters of its layer.
    pub(super) fn copy(&self, params: &mut [f32], factor: f32, of: &Tensor, from: &[f32]) -> Option<()> {
        for (at, from_at) in self.offsets().zip(of.offsets()) {
            *params.get_mut(at)? = factor * *from.get(from_at)?;
        }
        Some(())
    }

    /// Its runs of adjacent parameters: the length of a run, the distance of their beginnings, and their number.
    fn runs(&self) -> [usize; 3] {
        let axes = || self.dims.iter().copied().zip(self.strides).filter(|(len, _)| *len > 1);
        let mut run = 1usize;
        // The axis whose neighbors are a run apart makes the run longer.
        while let Some((len, _)) = axes().find(|(_, stride)| *stride == run) {
            run = run.saturating_mul(len);
        }
        let distance = axes().map(|(_, stride)| stride).filter(|stride| *stride > run).min().unwrap_or(run);
        [run, distance, self.len().checked_div(run).unwrap_or(0)]
    }

    /// The end of the run that holds this parameter of the layer, if it is one of the tensor.
    fn run_end(&self, at: usize) -> Option<usize> {
        let [run, distance, count] = self.runs();
        let at = at.checked_sub(self.begin)?;
        let (number, within) = (at.checked_div(distance)?, at.checked_rem(distance)?);
        let begin = self.begin.saturating_add(number.saturating_mul(distance));
        (number < count && within < run).then(|| begin.saturating_add(run))
    }

    fn lies_flat(&self) -> bool {
        self.rank == 1 && self.strides[0] == 1
    }
}

/// The tensors of a layer, which hold each of its parameters once: weights first, then biases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tensors {
    list: [Tensor; MOST],
    len: usize,
}

impl Tensors {
    /// Those of a list, without empty ones.
    pub(super) fn of<const N: usize>(list: [Tensor; N]) -> Tensors {
        let mut all = Tensors::default();
        list.into_iter().for_each(|tensor| all.push(tensor));
        all
    }

    pub(super) fn push(&mut self, tensor: Tensor) {
        if let Some(to) = self.list.get_mut(self.len).filter(|_| !tensor.is_empty()) {
            (*to, self.len) = (tensor, self.len.saturating_add(1));
        }
    }

    /// Which tensor holds this parameter of the layer, and the end of those after it that the tensor holds too, without a gap.
    pub(super) fn run_at(&self, at: usize) -> Option<(usize, usize)> {
        let mut all = self.as_slice().iter().enumerate();
        all.find_map(|(k, tensor)| tensor.run_end(at).map(|end| (k, end)))
    }

    /// The tensors in order.
    pub fn as_slice(&self) -> &[Tensor] {
        self.list.get(..self.len).unwrap_or_default()
    }

    /// Those with dimensions over a picture that their layer reads, which has several pixels, in PyTorch's order.
    pub(super) fn over_picture(mut self, picture: [u32; 3]) -> Tensors {
        let [height, width, _] = picture;
        for tensor in self.list.iter_mut().filter(|_| height.saturating_mul(width) > 1) {
            if tensor.is_of_input {
                *tensor = tensor.over_picture(picture);
            }
        }
        self
    }
}
