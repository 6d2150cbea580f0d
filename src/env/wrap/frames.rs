//! Image wrappers and frame stacking.

use bytemuck::{Pod, Zeroable};

use super::change::{Change, Fit, Parts, SHAPE, Stack, WIDE, Warp, elements};
use super::episodes;
use super::layer::{Below, Face, Layer, Start};
use super::wrapper::Wrapper;
use crate::env::{Step, view_mut};
use crate::error::{Error, Kind, Result};
use crate::kernels::image::{self, RESCALED, Size};
use crate::kernels::stack::{self, Layout, MAX_STACK};
use crate::space::{Element, Elements, ElementsMut, Field, Space};

const UNIT: (&[f32], &[f32]) = (&[0.0], &[1.0]);

/// Size of an image of bytes or numbers.
fn size_of_picture(field: &Field<'_>, what: &'static str) -> Result<Size> {
    match *field.shape() {
        [height, width, channels] => Ok(Size::new(height as usize, width as usize, channels as usize)),
        _ => Err(Error::new(Kind::Config, what)),
    }
}

/// Repeat count of a frame skip that produced the observation and can pass its last two frames directly to the
/// resizing.
fn skips(source: Option<&Layer<'_>>) -> Option<u32> {
    match source.map(|layer| (layer.wrapper, layer.change)) {
        Some((Wrapper::MaxAndSkip { count }, Change::None)) => Some(count),
        _ => None,
    }
}

pub(super) fn fit_warp<'a>(
    [height, width]: [u32; 2],
    gray: bool,
    name: &str,
    source: Option<&Layer<'a>>,
    face: &mut Face<'a>,
) -> Result<Fit> {
    const PICTURE: &str = "warp frame: a picture [height, width, channels] of bytes";
    let config = |what| Error::new(Kind::Config, what);
    let seen = face.seen();
    let picture = face.part(name)?;
    let mut fields = face.fields;
    let field = fields.get_mut(picture).ok_or(config(PICTURE))?;
    if field.kind != Element::U8 {
        return Err(config(PICTURE));
    }
    let from = size_of_picture(field, PICTURE)?;
    Error::new(Kind::Config, PICTURE).fail_if(field.channels_first)?;
    if gray && from.channels != 3 {
        return Err(config("warp frame: gray from a picture of 3 channels,").given(from.channels));
    }
    let to = Size::new(height as usize, width as usize, if gray { 1 } else { from.channels });
    let scratch = image::warp_scratch(from, to)?;
    *field = Field { info: field.info, ..Field::new(field.name, Element::U8, &[height, width, to.channels as u32], 0) };

    let count = face.num_fields;
    let (parts, len) = Parts::packed(seen, face.fields.iter().zip(&mut fields).take(count))?;
    let alone = face.only().is_some();
    let space = if alone { Space { len, ..face.widest() } } else { Space { n: face.obs.n, ..Space::bytes(len) } };
    face.show(space, fields.get(..count).ok_or(SHAPE)?);
    let change = Change::Warp(Warp { seen, from, to, scratch, parts, picture, alone });
    let room = seen.room().saturating_add(scratch.saturating_mul(size_of::<f32>()));
    Ok(match skips(source) {
        Some(skip) => Fit::merged(change, if skip > 1 { room.saturating_add(seen.room()) } else { room }),
        None => Fit::new(change, room),
    })
}

impl Warp {
    /// Writes the observation with its image resized. With two observations, their maximum is resized; the image is
    /// then the only field.
    pub fn show(&self, seen: &[u8], second: Option<&[u8]>, scratch: &mut [u8], out: &mut [u8]) -> Result {
        let scratch = scratch.get_mut(..self.scratch.saturating_mul(size_of::<f32>())).ok_or(SHAPE)?;
        let scratch = bytemuck::try_cast_slice_mut(scratch).map_err(|_| SHAPE)?;
        if self.alone {
            return image::warp(self.from, seen, second, self.to, out, scratch);
        }
        self.parts.pack(seen, out, Some(self.picture))?;
        let place = self.parts.moves().get(self.picture).ok_or(SHAPE)?;
        let picture = place.source(seen)?.get(..self.from.len()?).ok_or(SHAPE)?;
        image::warp(self.from, picture, None, self.to, place.place(out)?, scratch)
    }

    /// Starts an episode and writes its first frame with [`Warp::show`].
    pub fn start_skip(&self, mut below: impl Below, own: &mut [u8], start: Start<'_>, obs: ElementsMut<'_>) -> Result {
        let (seen, rest) = own.split_at_mut_checked(self.seen.room()).ok_or(SHAPE)?;
        let seen = seen.get_mut(..self.seen.len).ok_or(SHAPE)?;
        below.start(start, ElementsMut::U8(seen))?;
        self.show(seen, None, rest, obs.u8()?)
    }

    /// Takes `count` steps and writes the maximum of the last two frames with [`Warp::show`].
    pub fn step_skip(
        &self,
        below: impl Below,
        own: &mut [u8],
        count: u32,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let room = self.seen.room();
        let (first, rest) = own.split_at_mut_checked(room).ok_or(SHAPE)?;
        let (second, rest) = rest.split_at_mut_checked(if count > 1 { room } else { 0 }).ok_or(SHAPE)?;
        let first = first.get_mut(..self.seen.len).ok_or(SHAPE)?;
        let second = second.get_mut(..if count > 1 { self.seen.len } else { 0 }).ok_or(SHAPE)?;
        let pair = [ElementsMut::U8(&mut *first), ElementsMut::U8(&mut *second)];
        let (step, both) = episodes::step_pair(below, pair, count, action)?;
        self.show(first, if both { Some(second) } else { None }, rest, obs.u8()?)?;
        Ok(step)
    }
}

pub(super) fn fit_rescale(face: &mut Face<'_>) -> Result<Fit> {
    let what = "atari rescale: one picture of bytes, [210, 160, 3]";
    let seen = face.seen();
    let field = face.only().filter(|field| field.kind == Element::U8 && matches!(field.shape(), [210, 160, 3]));
    field.ok_or(Error::new(Kind::Config, what))?;
    let dims = [RESCALED.height, RESCALED.width, RESCALED.channels].map(|len| len as u32);
    let space = Space { low: UNIT.0, high: UNIT.1, ..Space::unbounded(dims.iter().product()) };
    face.show(space, &[Field::new("external", Element::F32, &dims, 0)]);
    Ok(Fit::new(Change::Rescale(seen), seen.room()))
}

pub(super) fn fit_scale<'a>(source: Option<&Layer<'a>>, face: &mut Face<'a>) -> Result<Fit> {
    let seen = face.seen();
    let field = face.only().filter(|field| field.kind == Element::U8);
    let field = *field.ok_or(Error::new(Kind::Config, "scaled float: an observation of one part, of bytes"))?;
    let space = Space { low: UNIT.0, high: UNIT.1, ..Space::unbounded(face.obs.len) };
    face.show(space, &[Field { kind: Element::F32, ..field }]);
    Ok(match source.map(|layer| layer.change) {
        // The stack writes elements of any requested kind.
        Some(Change::Stack(stack)) if stack.kind == Element::U8 => Fit::merged(Change::Stack(stack), stack.room()),
        _ => Fit::new(Change::Scale(seen), seen.room()),
    })
}

pub(super) fn fit_planes<'a>(source: Option<&Layer<'a>>, face: &mut Face<'a>) -> Result<Fit> {
    let what = "channels first: an observation of one part, a picture [height, width, channels] of floats or bytes";
    let seen = face.seen();
    let fits = |field: &&Field<'_>| field.kind != Element::I32 && !field.channels_first;
    let field = *face.only().filter(fits).ok_or(Error::new(Kind::Config, what))?;
    let size = size_of_picture(&field, what)?;
    let [height, width, channels, _] = field.dims;
    face.show(face.widest(), &[Field::new(field.name, field.kind, &[channels, height, width], 0).planes()]);
    Ok(match source.map(|layer| layer.change) {
        Some(Change::Stack(stack)) if stack.layout == Layout::Hwc => {
            Fit::merged(Change::Stack(Stack { layout: Layout::Chw, ..stack }), stack.room())
        }
        _ if size.channels == 1 => Fit::nothing(),
        _ => Fit::new(Change::Planes(seen, size), seen.room()),
    })
}

/// State of a frame stack; the ring buffer follows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Ring {
    /// Index of the newest observation in the ring.
    newest: u64,
}

pub(super) fn fit_stack(count: u32, face: &mut Face<'_>) -> Result<Fit> {
    let config = |what| Error::new(Kind::Config, what);
    if count == 0 || count as usize > MAX_STACK {
        return Err(config("frame stack: a count from 1 to").needed(MAX_STACK).given(count as usize));
    }
    let seen = face.seen();
    let what = "frame stack: an observation of one part, of floats or bytes";
    let mut field = *face.only().filter(|field| field.kind != Element::I32).ok_or(config(what))?;
    field.rank = field.rank.max(1);
    let last = (field.rank as usize).wrapping_sub(1);
    let axis = field.dims.get_mut(last).ok_or(SHAPE)?;
    let channels = *axis as usize;
    *axis = axis.checked_mul(count).ok_or(WIDE)?;
    let len = face.obs.len.checked_mul(count).ok_or(WIDE)?;
    face.show(Space { len, ..face.widest() }, &[field]);
    let stack = Stack { kind: seen.kind, len: seen.len, count: count as usize, channels, layout: Layout::Hwc };
    Ok(Fit::new(Change::Stack(stack), stack.room()))
}

impl Stack {
    fn room(&self) -> usize {
        let frames = self.len.saturating_mul(self.kind.size()).saturating_mul(self.count);
        frames.saturating_add(size_of::<Ring>())
    }

    fn cut<'s>(&self, own: &'s mut [u8]) -> Result<(&'s mut Ring, ElementsMut<'s>)> {
        let (ring, rest) = own.split_at_mut_checked(size_of::<Ring>()).ok_or(SHAPE)?;
        let bytes = self.room().saturating_sub(size_of::<Ring>());
        Ok((view_mut(ring)?, elements(self.kind, rest.get_mut(..bytes).ok_or(SHAPE)?)?))
    }

    pub fn start(&self, mut below: impl Below, own: &mut [u8], start: Start<'_>, obs: ElementsMut<'_>) -> Result {
        let (ring, frames) = self.cut(own)?;
        ring.newest = 0;
        let (mut first, others) = frames.split_at(self.len).ok_or(SHAPE)?;
        below.start(start, first.reborrow())?;
        let more = self.count.saturating_sub(1);
        if more > 0 {
            match (first, others) {
                (ElementsMut::U8(first), ElementsMut::U8(others)) => stack::ring_fill(others, more, first)?,
                (ElementsMut::F32(first), ElementsMut::F32(others)) => stack::ring_fill(others, more, first)?,
                _ => return Err(SHAPE),
            }
        }
        self.show(own, obs)
    }

    pub fn step(
        &self,
        mut below: impl Below,
        own: &mut [u8],
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let (ring, mut frames) = self.cut(own)?;
        let oldest = usize::try_from(ring.newest).map_or(0, |newest| newest.saturating_add(1));
        let oldest = if oldest < self.count { oldest } else { 0 };
        let begin = oldest.saturating_mul(self.len);
        let place = frames.get(begin, begin.saturating_add(self.len)).ok_or(SHAPE)?;
        let step = below.step(action, place)?;
        ring.newest = oldest as u64;
        self.show(own, obs)?;
        Ok(step)
    }

    fn show(&self, own: &mut [u8], obs: ElementsMut<'_>) -> Result {
        let (ring, frames) = self.cut(own)?;
        let (of, channels, layout) = ((self.count, ring.newest as usize), self.channels, self.layout);
        match (frames, obs) {
            (ElementsMut::U8(x), ElementsMut::U8(out)) => stack::stack_ring(x, of, channels, layout, out),
            (ElementsMut::U8(x), ElementsMut::F32(out)) => stack::stack_ring(x, of, channels, layout, out),
            (ElementsMut::F32(x), ElementsMut::F32(out)) => stack::stack_ring(x, of, channels, layout, out),
            _ => Err(SHAPE),
        }
    }
}
