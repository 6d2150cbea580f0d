//! Pointers become slices here and nowhere else: present, aligned, within the address space, and outputs apart from
//! everything else, checked before the first byte is touched.

use core::cell::Cell;
use core::ffi::{c_char, c_void};
use core::marker::PhantomData;
use core::slice;
use core::sync::atomic::AtomicU32;

use crate::status::{Fault, Result};
use rlcore::block::Span;
use rlcore::data::step::Rewrite;
use rlcore::error::{Error, Kind};
use rlcore::space::{Element, Elements, ElementsMut};

/// Types that C and Rust lay out alike and whose every bit pattern is a value.
///
/// # Safety
/// That is what it promises.
pub unsafe trait Plain: Copy {}

unsafe impl Plain for u8 {}
unsafe impl Plain for u32 {}
unsafe impl Plain for u64 {}
unsafe impl Plain for usize {}
unsafe impl Plain for i32 {}
unsafe impl Plain for i64 {}
unsafe impl Plain for f32 {}
unsafe impl Plain for f64 {}
unsafe impl Plain for rlcore::rng::Rng {}
unsafe impl<T> Plain for *mut T {}
unsafe impl<T> Plain for *const T {}

/// A structure that begins with `struct_size` and only ever grows at its end.
///
/// # Safety
/// `#[repr(C)]`; the first field is `struct_size: u32`; every bit pattern is a value.
pub unsafe trait Versioned: Copy {
    /// What failures call it.
    const WHAT: &'static str;
    /// Bytes up to the end of the fields that a caller has to give; never changes.
    const MIN_SIZE: usize;
    /// What stands in the fields that a shorter structure does not have.
    fn defaults() -> Self;
}

/// No structure will ever be longer: a larger `struct_size` was never set.
const MAX_STRUCT_SIZE: usize = 4096;

/// An array to read, checked but not touched yet.
pub struct Input<'a, T> {
    what: &'static str,
    p: *const T,
    len: usize,
    lives: PhantomData<&'a [T]>,
}

/// An array to write, checked but not touched yet.
pub struct Output<'a, T> {
    what: &'static str,
    p: *mut T,
    len: usize,
    lives: PhantomData<&'a mut [T]>,
}

/// The bytes that an array covers and what failures call it.
#[derive(Clone, Copy)]
pub struct Extent {
    what: &'static str,
    start: usize,
    end: usize,
}

impl<'a, T: Plain> Input<'a, T> {
    /// The `len` values that the caller says are at `p`. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// If `p` is not NULL, as many values are there for the life of `'a`, and nobody writes to them.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *const T, len: usize) -> Result<Self> {
        check(what, p, len)?;
        Ok(Input { what, p, len, lives: PhantomData })
    }

    /// As [`Input::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *const T, len: usize) -> Result<Option<Self>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, len) }.map(Some) }
    }

    /// The bytes it covers.
    pub fn extent(&self) -> Extent {
        let (start, size) = (self.p.addr(), self.len.wrapping_mul(size_of::<T>()));
        Extent { what: self.what, start, end: start.wrapping_add(size) }
    }

    /// Elements `[begin, end)` of it, or as many of them as there are.
    pub fn range(self, begin: usize, end: usize) -> Self {
        let begin = begin.min(self.len);
        Input { p: self.p.wrapping_add(begin), len: end.min(self.len).saturating_sub(begin), ..self }
    }

    /// `rows` rows of `width` elements from row `begin` on.
    ///
    /// # Safety
    /// So many rows are there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        Input { p: self.p.wrapping_add(begin.wrapping_mul(width)), len: rows.wrapping_mul(width), ..self }
    }

    /// The values.
    pub fn slice(self) -> &'a [T] {
        // SAFETY: present and aligned by `check`, readable by the promise to `at`.
        unsafe { slice::from_raw_parts(self.p, self.len) }
    }
}

impl<'a, T: Plain> Output<'a, T> {
    /// Room for `len` values that the caller says is at `p`. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// If `p` is not NULL, as much room is there for the life of `'a`, it is initialised, and nobody else uses it, or of
    /// [`Output::cells`] what is written through them; and [`apart`] is asked about it before it becomes a slice.
    #[inline]
    pub unsafe fn at(what: &'static str, p: *mut T, len: usize) -> Result<Self> {
        check(what, p, len)?;
        Ok(Output { what, p, len, lives: PhantomData })
    }

    /// As [`Output::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline]
    pub unsafe fn optional(what: &'static str, p: *mut T, len: usize) -> Result<Option<Self>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, len) }.map(Some) }
    }

    /// As [`Output::at`], with a failure that [`rlcore_last_error`](crate::status::rlcore_last_error) never tells.
    ///
    /// # Safety
    /// As [`Output::at`].
    pub unsafe fn unkept(p: *mut T, len: usize) -> rlcore::error::Result<Self> {
        fault_of(p.addr(), len, size_of::<T>(), align_of::<T>()).map_or(Ok(()), Err)?;
        Ok(Output { what: "", p, len, lives: PhantomData })
    }

    /// The bytes it covers.
    pub fn extent(&self) -> Extent {
        let (start, size) = (self.p.addr(), self.len.wrapping_mul(size_of::<T>()));
        Extent { what: self.what, start, end: start.wrapping_add(size) }
    }

    /// Elements `[begin, end)` of it, or as many of them as there are; nothing else of it is touched.
    pub fn range(self, begin: usize, end: usize) -> Self {
        let begin = begin.min(self.len);
        Output { p: self.p.wrapping_add(begin), len: end.min(self.len).saturating_sub(begin), ..self }
    }

    /// `rows` rows of `width` elements from row `begin` on; nothing else of it is touched.
    ///
    /// # Safety
    /// So many rows are there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        Output { p: self.p.wrapping_add(begin.wrapping_mul(width)), len: rows.wrapping_mul(width), ..self }
    }

    /// The only value.
    pub fn one(self) -> &'a mut T {
        // SAFETY: as in `slice`; every caller asked for one.
        unsafe { &mut *self.p }
    }

    /// The room, which other threads may hold at once: everyone writes elements of its own only.
    pub fn cells(self) -> &'a [Cell<T>] {
        // SAFETY: present and aligned by `check`; a reference to cells claims none of them for itself, and what is ours
        // alone by the promise to `at` are the elements that the caller of this writes.
        unsafe { slice::from_raw_parts(self.p.cast(), self.len) }
    }

    /// The room.
    pub fn slice(self) -> &'a mut [T] {
        // SAFETY: present and aligned by `check`, ours alone by the promise to `at`.
        unsafe { slice::from_raw_parts_mut(self.p, self.len) }
    }
}

/// An array to rewrite: in place where both pointers are the same, else from one into the other.
pub struct Through<'a> {
    from: Option<Input<'a, f32>>,
    to: Output<'a, f32>,
}

impl<'a> Through<'a> {
    /// Errors: as [`Input::at`] of `from` and [`Output::at`] of `to`.
    ///
    /// # Safety
    /// As theirs.
    pub unsafe fn at(
        what: &'static str,
        from: *const f32,
        out_what: &'static str,
        to: *mut f32,
        len: usize,
    ) -> Result<Self> {
        let from = unsafe { Input::at(what, from, len)? };
        let to = unsafe { Output::at(out_what, to, len)? };
        let same = from.p.addr() == to.p.addr();
        Ok(Through { from: if same { None } else { Some(from) }, to })
    }

    /// The bytes that are only read.
    pub fn input(&self) -> Extent {
        self.from.as_ref().map_or(Extent::NONE, Input::extent)
    }

    /// The bytes that are written.
    pub fn output(&self) -> Extent {
        self.to.extent()
    }

    /// The arrays.
    pub fn rewrite(self) -> Rewrite<'a> {
        match self.arrays() {
            (Some(from), to) => Rewrite::apart(from, to),
            (None, to) => Rewrite::in_place(to),
        }
    }

    /// What is read, unless it is what is written, and what is written.
    pub fn arrays(self) -> (Option<&'a [f32]>, &'a mut [f32]) {
        (self.from.map(Input::slice), self.to.slice())
    }
}

/// Longest text that a caller may hand over.
const MAX_TEXT_LEN: usize = 4096;

/// A text that ends with NUL, without it. Errors: `Null`, `Range`.
///
/// # Safety
/// If `p` is not NULL, a NUL stands there or after at most `MAX_TEXT_LEN` characters, and nobody writes to them.
pub unsafe fn text<'a>(what: &'static str, p: *const c_char) -> Result<&'a [u8]> {
    let p = unsafe { Input::at(what, p.cast::<u8>(), 0)? }.p;
    for len in 0..MAX_TEXT_LEN {
        // SAFETY: no NUL came before this character, so it is there by the promise.
        if unsafe { p.add(len).read() } == 0 {
            // SAFETY: these were read just now.
            return Ok(unsafe { slice::from_raw_parts(p, len) });
        }
    }
    let long = Error::new(Kind::Range, "a text that ends with NUL, characters before it less than");
    Err(Fault::at(what, long.needed(MAX_TEXT_LEN)))
}

/// Room for a text and where its length goes.
pub struct Room<'a> {
    text: Option<Output<'a, u8>>,
    len: Output<'a, usize>,
}

impl<'a> Room<'a> {
    /// `text_size` bytes at `text`, or none for NULL and 0, and the length at `out_len`. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// As [`Output::at`].
    pub unsafe fn at(text: *mut c_char, text_size: usize, out_len: *mut usize) -> Result<Room<'a>> {
        let text = match text.is_null() && text_size == 0 {
            true => None,
            false => Some(unsafe { Output::at("text", text.cast::<u8>(), text_size)? }),
        };
        Ok(Room { text, len: unsafe { Output::at("out_len", out_len, 1)? } })
    }

    /// Checks that nothing of it is shared. Errors: `Overlap`.
    pub fn apart(&self, inputs: &[Extent]) -> Result {
        apart(&[self.text.as_ref().map_or(Extent::NONE, Output::extent), self.len.extent()], inputs)
    }

    /// Stores the text that `write` writes, if there is room for one, and the length that it returns.
    pub fn fill(self, write: impl FnOnce(Option<&mut [u8]>) -> Result<usize>) -> Result {
        *self.len.one() = write(self.text.map(Output::slice))?;
        Ok(())
    }
}

/// Observations or actions to read.
pub struct AnyInput<'a> {
    kind: Element,
    what: &'static str,
    p: *const u8,
    /// Elements.
    len: usize,
    lives: PhantomData<&'a [u8]>,
}

/// Room for observations or actions.
pub struct AnyOutput<'a> {
    kind: Element,
    what: &'static str,
    p: *mut u8,
    /// Elements.
    len: usize,
    lives: PhantomData<&'a mut [u8]>,
}

impl<'a> AnyInput<'a> {
    /// `rows` times `width` elements of this kind. Errors: as [`Input::at`].
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn at(
        what: &'static str,
        p: *const c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<AnyInput<'a>> {
        let len = check_any(what, p, kind, rows, width)?;
        Ok(AnyInput { kind, what, p: p.cast(), len, lives: PhantomData })
    }

    /// As [`AnyInput::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Input::at`].
    #[inline]
    pub unsafe fn optional(
        what: &'static str,
        p: *const c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<Option<AnyInput<'a>>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, kind, rows, width) }.map(Some) }
    }

    /// The bytes it covers.
    #[inline]
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p, self.len, self.kind)
    }

    /// As [`Input::rows`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        let offset = begin.wrapping_mul(width).wrapping_mul(self.kind.size());
        AnyInput { p: self.p.wrapping_add(offset), len: rows.wrapping_mul(width), ..self }
    }

    /// The elements.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        let AnyInput { p, len, .. } = self;
        // SAFETY: whole elements of this kind, present and aligned by `check_any`, readable by the promise to `at`.
        unsafe {
            match self.kind {
                Element::F32 => Elements::F32(slice::from_raw_parts(p.cast(), len)),
                Element::I32 => Elements::I32(slice::from_raw_parts(p.cast(), len)),
                Element::U8 => Elements::U8(slice::from_raw_parts(p, len)),
            }
        }
    }
}

impl<'a> AnyOutput<'a> {
    /// Room for `rows` times `width` elements of this kind. Errors: as [`Output::at`].
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline]
    pub unsafe fn at(
        what: &'static str,
        p: *mut c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<AnyOutput<'a>> {
        let len = check_any(what, p, kind, rows, width)?;
        Ok(AnyOutput { kind, what, p: p.cast(), len, lives: PhantomData })
    }

    /// As [`AnyOutput::at`], or nothing for NULL.
    ///
    /// # Safety
    /// As [`Output::at`].
    #[inline(always)]
    pub unsafe fn optional(
        what: &'static str,
        p: *mut c_void,
        kind: Element,
        rows: usize,
        width: usize,
    ) -> Result<Option<AnyOutput<'a>>> {
        if p.is_null() { Ok(None) } else { unsafe { Self::at(what, p, kind, rows, width) }.map(Some) }
    }

    /// The bytes it covers.
    #[inline]
    pub fn extent(&self) -> Extent {
        Extent::of_elements(self.what, self.p, self.len, self.kind)
    }

    /// Elements `[begin, end)` of it; nothing else of it is touched.
    #[inline]
    pub fn range(self, begin: usize, end: usize) -> Self {
        let begin = begin.min(self.len);
        let offset = begin.wrapping_mul(self.kind.size());
        AnyOutput { p: self.p.wrapping_add(offset), len: end.min(self.len).saturating_sub(begin), ..self }
    }

    /// As [`Output::rows`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn rows(self, begin: usize, rows: usize, width: usize) -> Self {
        let offset = begin.wrapping_mul(width).wrapping_mul(self.kind.size());
        AnyOutput { p: self.p.wrapping_add(offset), len: rows.wrapping_mul(width), ..self }
    }

    /// The room.
    #[inline]
    pub fn elements(self) -> ElementsMut<'a> {
        let AnyOutput { p, len, .. } = self;
        // SAFETY: whole elements of this kind, present and aligned by `check_any`, ours alone by the promise to `at`.
        unsafe {
            match self.kind {
                Element::F32 => ElementsMut::F32(slice::from_raw_parts_mut(p.cast(), len)),
                Element::I32 => ElementsMut::I32(slice::from_raw_parts_mut(p.cast(), len)),
                Element::U8 => ElementsMut::U8(slice::from_raw_parts_mut(p, len)),
            }
        }
    }
}

/// The number of `rows` times `width` elements of this kind, which are there. Errors: as [`check`]; `Overflow`.
#[inline]
fn check_any(what: &'static str, p: *const c_void, kind: Element, rows: usize, width: usize) -> Result<usize> {
    // Elements are aligned to their size.
    let (len, size) = (grid(what, rows, width)?, kind.size());
    if !fits(p.addr(), len, size, size) {
        check_bytes(what, p.addr(), len, size, size)?;
    }
    Ok(len)
}

/// Where elements start that C is to read.
#[inline]
pub fn start(x: Elements<'_>) -> *const c_void {
    match x {
        Elements::F32(x) => x.as_ptr().cast(),
        Elements::I32(x) => x.as_ptr().cast(),
        Elements::U8(x) => x.as_ptr().cast(),
    }
}

/// Where elements start that C is to write.
#[inline]
pub fn start_mut(mut x: ElementsMut<'_>) -> *mut c_void {
    match &mut x {
        ElementsMut::F32(x) => x.as_mut_ptr().cast(),
        ElementsMut::I32(x) => x.as_mut_ptr().cast(),
        ElementsMut::U8(x) => x.as_mut_ptr().cast(),
    }
}

/// The ASCII text before the first 0, if there is one and nothing else before it.
pub fn ascii(chars: &[c_char]) -> Option<&str> {
    let len = chars.iter().position(|&c| c == 0)?;
    let chars = chars.get(..len).filter(|chars| chars.iter().all(|&c| (c as u8).is_ascii()))?;
    // SAFETY: a `c_char` is a byte, and ASCII is UTF-8.
    Some(unsafe { core::str::from_utf8_unchecked(slice::from_raw_parts(chars.as_ptr().cast(), chars.len())) })
}

/// Elements of `rows` rows of `width`. Errors: `Overflow`.
#[inline]
pub fn grid(what: &'static str, rows: usize, width: usize) -> Result<usize> {
    let overflow = || Fault::at(what, Error::new(Kind::Overflow, "an array that fits the address space"));
    rows.checked_mul(width).ok_or_else(overflow)
}

impl Extent {
    /// `size` bytes at `p`, without a check.
    #[inline]
    pub fn of(what: &'static str, p: *const u8, size: usize) -> Extent {
        let start = p.addr();
        Extent { what, start, end: start.saturating_add(size) }
    }

    /// `len` elements of this kind at `p`, which are there.
    #[inline]
    fn of_elements(what: &'static str, p: *const u8, len: usize, kind: Element) -> Extent {
        let start = p.addr();
        Extent { what, start, end: start.wrapping_add(len.wrapping_mul(kind.size())) }
    }

    /// Covers nothing: stands for an optional array that was not given.
    pub const NONE: Extent = Extent { what: "", start: 0, end: 0 };

    /// The least that covers all of these.
    pub fn hull(extents: &[Extent]) -> Extent {
        let given = extents.iter().filter(|extent| extent.start < extent.end);
        let (start, end) = given.fold((usize::MAX, 0), |(start, end), x| (start.min(x.start), end.max(x.end)));
        Extent { what: "", start: start.min(end), end }
    }

    #[inline(always)]
    fn meets_any(&self, others: &[Extent]) -> bool {
        others.iter().any(|other| self.start < other.end && other.start < self.end)
    }
}

/// The least that covers some arrays, to which others are added. Mostly each lies below or above all before it, which takes
/// two comparisons; only one that lies between some of them is compared with every one.
pub struct Cover {
    start: usize,
    end: usize,
}

impl Cover {
    /// Covers this array.
    #[inline(always)]
    pub fn of(first: Extent) -> Cover {
        Cover { start: first.start, end: first.end }
    }

    /// Adds an array, if it was given and shares no byte with those before it, which these are.
    #[inline(always)]
    pub fn add(&mut self, x: Extent, before: &[Extent]) -> bool {
        if x.start == x.end {
            return true;
        }
        if x.start >= self.end {
            self.end = x.end;
        } else if x.end <= self.start {
            self.start = x.start;
        } else {
            return !x.meets_any(before);
        }
        true
    }

    /// An array shares no byte with those, which these are.
    #[inline(always)]
    pub fn clears(&self, x: Extent, all: &[Extent]) -> bool {
        x.start >= self.end || x.end <= self.start || !x.meets_any(all)
    }
}

/// Checks that no output shares a byte with any other array. Errors: `Overlap`.
pub fn apart(outputs: &[Extent], inputs: &[Extent]) -> Result {
    let mut rest = outputs;
    while let Some((output, others)) = rest.split_first() {
        if output.meets_any(others) || output.meets_any(inputs) {
            return Err(Fault::at(
                output.what,
                Error::new(Kind::Overlap, "an array apart from all others of the call"),
            ));
        }
        rest = others;
    }
    Ok(())
}

#[inline]
fn check<T>(what: &'static str, p: *const T, len: usize) -> Result {
    if fits(p.addr(), len, size_of::<T>(), align_of::<T>()) {
        return Ok(());
    }
    check_bytes(what, p.addr(), len, size_of::<T>(), align_of::<T>())
}

/// There is nothing that [`fault_of`] would say: what nearly every array is told in a few instructions.
#[inline(always)]
fn fits(start: usize, len: usize, size: usize, align: usize) -> bool {
    // Fewer than 2^32 elements of 2^12 bytes from the lower half of 64 bits, but not from 0, end within the address space.
    let near = size_of::<usize>() == 8 && (start.cast_signed() > 0) & (len <= u32::MAX as usize) & (size <= 1 << 12);
    near & (start & align.wrapping_sub(1) == 0)
}

/// The `len` values at `p` if [`Input::at`] would accept them at once.
///
/// # Safety
/// As [`Input::at`].
#[inline(always)]
pub unsafe fn present<'a, T: Plain>(p: *const T, len: usize) -> Option<&'a [T]> {
    let fits = fits(p.addr(), len, size_of::<T>(), align_of::<T>());
    // SAFETY: present and aligned, readable by the promise.
    fits.then(|| unsafe { slice::from_raw_parts(p, len) })
}

/// As [`present`], or no values for NULL.
///
/// # Safety
/// As [`Input::at`].
#[inline(always)]
pub unsafe fn absent_or_present<'a, T: Plain>(p: *const T, len: usize) -> Option<&'a [T]> {
    if p.is_null() { Some(&[]) } else { unsafe { present(p, len) } }
}

/// `len` elements of `size` bytes are there: one function for all types. Errors: `Null`, `Align`, `Overflow`.
#[cold]
#[inline(never)]
fn check_bytes(what: &'static str, start: usize, len: usize, size: usize, align: usize) -> Result {
    match fault_of(start, len, size, align) {
        None => Ok(()),
        Some(error) => Err(Fault::at(what, error)),
    }
}

fn fault_of(start: usize, len: usize, size: usize, align: usize) -> Option<Error> {
    if start == 0 {
        return Some(Error::new(Kind::Null, "a pointer, given NULL"));
    }
    let off = start & (align.wrapping_sub(1));
    if off != 0 {
        return Some(Error::new(Kind::Align, "start on a multiple of").needed(align).given(off));
    }
    match len.checked_mul(size).and_then(|bytes| start.checked_add(bytes)) {
        Some(end) if end.wrapping_sub(start) <= isize::MAX as usize => None,
        _ => Some(Error::new(Kind::Overflow, "an array that fits the address space, elements").given(len)),
    }
}

/// Elements `[begin, begin + len)` of a field of the block at `base`, to change; nothing else of it is touched.
///
/// # Safety
/// `base` is a block that was laid out with this span, and nobody else uses these elements for the life of `'a`.
pub unsafe fn field_mut<'a, T>(base: *mut u8, span: Span<T>, begin: usize, len: usize) -> &'a mut [T] {
    let begin = begin.min(span.len());
    let len = len.min(span.len().wrapping_sub(begin));
    // SAFETY: within the span, which is aligned within the block; ours alone by the promise.
    unsafe { slice::from_raw_parts_mut(base.add(span.start()).cast::<T>().add(begin), len) }
}

/// As [`field_mut`], of elements that are known to be within the field.
///
/// # Safety
/// As [`field_mut`], and `begin + len` elements are there.
#[inline(always)]
pub unsafe fn part_mut<'a, T>(base: *mut u8, span: Span<T>, begin: usize, len: usize) -> &'a mut [T] {
    // SAFETY: by the promise.
    unsafe { slice::from_raw_parts_mut(base.add(span.start()).cast::<T>().add(begin), len) }
}

/// A field of the block at `base`, to read.
///
/// # Safety
/// `base` is a block that was laid out with this span, and nobody writes to it for the life of `'a`.
pub unsafe fn field<'a, T>(base: *const u8, span: Span<T>) -> &'a [T] {
    // SAFETY: the span is aligned within the block; readable by the promise.
    unsafe { slice::from_raw_parts(base.add(span.start()).cast::<T>(), span.len()) }
}

/// A field of the block at `base` that threads and processes change at once.
///
/// # Safety
/// `base` is a block that was laid out with this span, and nobody uses it but through atomics for the life of `'a`.
pub unsafe fn atomics<'a>(base: *const u8, span: Span<u32>) -> &'a [AtomicU32] {
    // SAFETY: the span is aligned within the block, an atomic is laid out as what it holds; shared by the promise.
    unsafe { slice::from_raw_parts(base.add(span.start()).cast::<AtomicU32>(), span.len()) }
}

/// Hands a block out, for reading, that `accept` accepts beside the one who writes to it.
/// Errors: `Null`, `Align`, `Overlap`, those of `accept`.
///
/// # Safety
/// As [`Input::at`] of the block, except that its writer may go on; as [`Output::at`] of `out`.
pub unsafe fn attach_reader<T>(
    mem: *const c_void,
    mem_size: usize,
    out: *mut *const T,
    accept: impl FnOnce(&[u8]) -> Result,
) -> Result {
    let block = unsafe { Input::at("mem", mem.cast::<u8>(), mem_size)? };
    let out = unsafe { Output::at("out", out, 1)? };
    apart(&[out.extent()], &[block.extent()])?;
    accept(block.slice())?;
    *out.one() = mem.cast();
    Ok(())
}

/// Stores a result.
///
/// # Safety
/// As [`Output::at`].
pub unsafe fn put<T: Plain>(what: &'static str, p: *mut T, value: impl FnOnce() -> Result<T>) -> Result {
    check(what, p, 1)?;
    let value = value()?;
    // SAFETY: present and aligned, ours alone by the promise.
    unsafe { p.write(value) };
    Ok(())
}

/// What the checks of a [`Versioned`] structure have to know of it.
#[derive(Clone, Copy)]
struct Form {
    what: &'static str,
    min_size: usize,
    size: usize,
    align: usize,
}

impl Form {
    const fn of<T: Versioned>() -> Form {
        Form { what: T::WHAT, min_size: T::MIN_SIZE, size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Errors: `Null`, `Align`.
    fn check_pointer(&self, start: usize) -> Result {
        check_bytes(self.what, start, 1, self.size, self.align)
    }

    fn check_size(&self, what: &'static str, kind: Kind, size: usize) -> Result {
        if size < self.min_size || size > MAX_STRUCT_SIZE || size & self.align.wrapping_sub(1) != 0 {
            return Err(Fault::at(self.what, Error::new(kind, what).needed(self.min_size).given(size)));
        }
        Ok(())
    }

    /// The `struct_size` of the structure at `p`. Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// As [`sized`].
    unsafe fn size_at(&self, p: *const u8) -> Result<usize> {
        self.check_pointer(p.addr())?;
        // SAFETY: the first field of every `Versioned` is its `struct_size`, present and aligned.
        let size = unsafe { p.cast::<u32>().read() } as usize;
        self.check_size("struct_size as sizeof gives it, at least", Kind::Config, size)?;
        Ok(size)
    }

    /// # Safety
    /// As [`sized`]; `value` is a structure of this form with its defaults.
    unsafe fn read(&self, p: *const u8, value: *mut u8) -> Result {
        let size = unsafe { self.size_at(p)? };
        let known = size.min(self.size);
        // SAFETY: `known` bytes are there by the promise and fit `value`; every bit pattern is a value.
        let tail = unsafe {
            core::ptr::copy_nonoverlapping(p, value, known);
            slice::from_raw_parts(p.add(known), size.wrapping_sub(known))
        };
        if tail.iter().any(|&b| b != 0) {
            let what = "a structure of this version, or a longer one with zeros from byte";
            return Err(Fault::at(self.what, Error::new(Kind::Config, what).needed(self.size).given(size)));
        }
        Ok(())
    }

    /// Writes a structure into `size` bytes: cut short for an older caller, followed by zeros for a newer one.
    ///
    /// # Safety
    /// `p` and `size` passed the checks, the room is ours alone; `value` is a structure of this form.
    unsafe fn write(&self, p: *mut u8, size: usize, value: *const u8) {
        let known = size.min(self.size);
        // SAFETY: `size` bytes are there by the promise, the first four are `struct_size`.
        unsafe {
            core::ptr::copy_nonoverlapping(value, p, known);
            p.add(known).write_bytes(0, size.wrapping_sub(known));
            p.cast::<u32>().write(size as u32);
        }
    }
}

/// A structure as the caller's version of the header has it: what a shorter one lacks is default, what a longer one
/// has beyond ours must be zero. Errors: `Null`, `Align`, `Config`.
///
/// # Safety
/// If `p` is not NULL, as many bytes are there as `struct_size` says.
#[inline]
pub unsafe fn sized<T: Versioned>(p: *const T) -> Result<T> {
    let mut other = None;
    unsafe { sized_ref(p, &mut other) }.copied()
}

/// As [`sized`], without a copy of a structure that is of our own version; of another one, `other` takes it.
///
/// # Safety
/// As [`sized`], and nobody writes to the structure as long as it is looked at.
#[inline]
pub unsafe fn sized_ref<T: Versioned>(p: *const T, other: &mut Option<T>) -> Result<&T> {
    match unsafe { current(p) } {
        Some(value) => Ok(value),
        None => unsafe { sized_other(p, other) },
    }
}

/// The structure at `p` if it is of our own version.
///
/// # Safety
/// As [`sized_ref`].
#[inline(always)]
pub unsafe fn current<'a, T: Versioned>(p: *const T) -> Option<&'a T> {
    // SAFETY: present and aligned, and the first field of every `Versioned` is its `struct_size`.
    let current = !p.is_null() && p.is_aligned() && unsafe { p.cast::<u32>().read() } as usize == size_of::<T>();
    // SAFETY: as many bytes are there by the promise; every bit pattern is a value.
    current.then(|| unsafe { &*p })
}

/// # Safety
/// As [`sized`].
#[cold]
#[inline(never)]
unsafe fn sized_other<T: Versioned>(p: *const T, other: &mut Option<T>) -> Result<&T> {
    let value = other.insert(T::defaults());
    // SAFETY: by the promise; `value` is a `T`.
    unsafe { Form::of::<T>().read(p.cast(), core::ptr::from_mut(value).cast())? };
    Ok(value)
}

/// Fills in a structure of `size` bytes, as many as the caller's version of the header has.
/// Errors: `Null`, `Align`, `Size`.
///
/// # Safety
/// If `p` is not NULL, `size` bytes of room are there, for us alone.
pub unsafe fn init_sized<T: Versioned>(p: *mut T, size: usize, value: impl FnOnce() -> Result<T>) -> Result {
    let form = Form::of::<T>();
    form.check_pointer(p.addr())?;
    form.check_size("its size as sizeof gives it, at least", Kind::Size, size)?;
    let value = value()?;
    // SAFETY: checked, and ours by the promise.
    unsafe { form.write(p.cast(), size, (&raw const value).cast()) };
    Ok(())
}

/// Room for a structure whose `struct_size` the caller has set.
pub struct OutSized<T> {
    p: *mut T,
    size: usize,
}

impl<T: Versioned> OutSized<T> {
    /// Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// As [`sized`], and the room is ours alone until `store`.
    pub unsafe fn at(p: *mut T) -> Result<Self> {
        // SAFETY: by the promise.
        let size = unsafe { Form::of::<T>().size_at(p.cast_const().cast())? };
        Ok(OutSized { p, size })
    }

    /// The bytes it covers.
    pub fn extent(&self) -> Extent {
        Extent::of(T::WHAT, self.p.cast_const().cast(), self.size)
    }

    /// Writes the structure.
    pub fn store(self, value: T) {
        // SAFETY: checked by `at`, ours by the promise to it.
        unsafe { Form::of::<T>().write(self.p.cast(), self.size, (&raw const value).cast()) }
    }
}

/// Checks a field that a later version may give a meaning. Errors: `Config`.
pub fn reserved(what: &'static str, value: u32) -> Result {
    if value == 0 { Ok(()) } else { Err(Fault::at(what, Error::new(Kind::Config, "zero").given(value as usize))) }
}

/// A flag of a configuration. Errors: `Config`.
pub fn switch(what: &'static str, value: u32) -> Result<bool> {
    if value <= 1 {
        Ok(value == 1)
    } else {
        Err(Fault::at(what, Error::new(Kind::Config, "0 or 1").given(value as usize)))
    }
}

/// Checks that two objects are not one, before either is looked at. Errors: `Overlap`.
pub fn distinct<T>(what: &'static str, a: *const T, b: *const T) -> Result {
    match a.addr() == b.addr() && !a.is_null() {
        true => Err(Fault::at(what, Error::new(Kind::Overlap, "an object that is another one"))),
        false => Ok(()),
    }
}

/// A flag. Errors: `Range`.
pub fn flag(what: &'static str, value: u32) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Fault::at(what, Error::new(Kind::Range, "0 or 1").given(value as usize))),
    }
}
