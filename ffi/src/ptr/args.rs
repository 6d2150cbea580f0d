//! All arrays of a call: they become slices after a check that no output overlaps another array.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::slice;

use super::array::{Cells, Checked, One, Start};
use super::check::Plain;
use super::overlap::{Extent, Part, apart};
use super::versioned::{OutSized, Versioned};
use crate::status::Result;

/// An array that was checked on its own.
pub trait Array {
    /// The slice that it becomes.
    type Slice;
    /// True if the call writes to it.
    const WRITTEN: bool;
    /// The bytes it covers.
    fn extent(&self) -> Extent;
    /// Converts it to a slice.
    fn slice(self) -> Self::Slice;
}

macro_rules! array {
    ($array:ty, $slice:ty, $take:ident) => {
        impl<'a, T: Plain> Array for $array {
            type Slice = $slice;
            const WRITTEN: bool = true;
            #[inline(always)]
            fn extent(&self) -> Extent {
                self.0.extent()
            }
            #[inline(always)]
            fn slice(self) -> $slice {
                self.0.$take()
            }
        }
    };
}

array!(One<'a, T>, &'a mut T, one);
array!(Cells<'a, T>, &'a [Cell<T>], shared);

impl<'a, P: Start> Array for Checked<'a, P> {
    type Slice = P::Slice<'a>;
    const WRITTEN: bool = P::WRITTEN;
    #[inline(always)]
    fn extent(&self) -> Extent {
        Checked::extent(self)
    }
    #[inline(always)]
    fn slice(self) -> Self::Slice {
        Checked::slice(self)
    }
}

impl<A: Array> Array for Part<A> {
    type Slice = A::Slice;
    const WRITTEN: bool = A::WRITTEN;
    fn extent(&self) -> Extent {
        self.whole
    }
    fn slice(self) -> A::Slice {
        self.part.slice()
    }
}

/// Room for a structure, which is stored as a whole.
impl<T: Versioned> Array for OutSized<T> {
    type Slice = Self;
    const WRITTEN: bool = true;
    fn extent(&self) -> Extent {
        OutSized::extent(self)
    }
    fn slice(self) -> Self {
        self
    }
}

/// One or more arrays, or tuples of them.
pub trait Args {
    /// The slices that they become.
    type Slices;
    /// Maximum number of their extents.
    const MOST: usize;
    /// True if the call writes to none of them.
    const READ_ONLY: bool;
    /// Adds their extents to a list.
    fn list(&self, list: &mut List<'_>);
    /// Converts them to slices.
    fn slices(self) -> Self::Slices;
}

/// Extents of the arrays of a call: written ones from the front, read ones from the back.
pub struct List<'l> {
    all: &'l mut [MaybeUninit<Extent>],
    written: usize,
    read: usize,
}

impl List<'_> {
    /// Adds an array.
    #[inline(always)]
    pub fn add(&mut self, extent: Extent, written: bool) {
        let place = if written { self.written } else { self.all.len().wrapping_sub(1).wrapping_sub(self.read) };
        // The place exists: `args` has room for all extents.
        if let Some(to) = self.all.get_mut(place) {
            to.write(extent);
            self.written = self.written.wrapping_add(written.into());
            self.read = self.read.wrapping_add((!written).into());
        }
    }
}

/// Checks that no written array overlaps another, or one of `more`, which are read. Errors: `Overlap`.
#[inline(always)]
fn apart_in<const N: usize>(args: &impl Args, more: &[Extent]) -> Result {
    let mut all = [MaybeUninit::<Extent>::uninit(); N];
    let mut list = List { all: &mut all, written: 0, read: 0 };
    args.list(&mut list);
    let List { written, read, .. } = list;
    let start = all.as_ptr().cast::<Extent>();
    // SAFETY: `add` has filled these places.
    let (written, read) = unsafe {
        (slice::from_raw_parts(start, written), slice::from_raw_parts(start.add(N.wrapping_sub(read)), read))
    };
    if !read.is_empty() || more.is_empty() {
        apart(written, read)?;
    }
    if more.is_empty() { Ok(()) } else { apart(written, more) }
}

/// The arrays of a call as slices. Errors: `Overlap` if one that is written shares a byte with any other.
#[inline(always)]
pub fn args<A: Args>(args: A) -> Result<A::Slices> {
    args_beside(args, &[])
}

/// [`args`] of a call that also reads the extents `more`.
#[inline(always)]
pub fn args_beside<A: Args>(args: A, more: &[Extent]) -> Result<A::Slices> {
    const { assert!(A::MOST <= 40) };
    // Short lists take less code.
    match const { A::MOST } {
        0..=2 => apart_in::<2>(&args, more)?,
        3..=4 => apart_in::<4>(&args, more)?,
        5..=8 => apart_in::<8>(&args, more)?,
        _ => apart_in::<40>(&args, more)?,
    }
    Ok(args.slices())
}

/// The extents of read-only arrays, and the arrays as slices: possible before the written arrays are known.
#[inline(always)]
pub fn inputs<A: Args, const N: usize>(args: A) -> ([Extent; N], A::Slices) {
    const { assert!(A::READ_ONLY && A::MOST == N) };
    let mut all = [MaybeUninit::<Extent>::uninit(); N];
    let mut list = List { all: &mut all, written: 0, read: 0 };
    args.list(&mut list);
    while list.read < N {
        list.add(Extent::NONE, false);
    }
    // SAFETY: `add` has filled all places.
    (unsafe { all.as_ptr().cast::<[Extent; N]>().read() }, args.slices())
}

impl Extent {
    /// [`args`] of a call that also reads these bytes; or that writes to them and reads no other array.
    #[inline(always)]
    pub fn reading<A: Args>(self, more: A) -> Result<A::Slices> {
        Ok(args((more, Reads([self])))?.0)
    }

    /// [`args`] of a call that also writes to these bytes.
    #[inline(always)]
    pub fn writing<A: Args>(self, more: A) -> Result<A::Slices> {
        Ok(args((Writes([self]), more))?.1)
    }
}

/// Bytes that the call reads.
pub struct Reads<const N: usize>(pub [Extent; N]);

/// Bytes that the call writes.
pub struct Writes<const N: usize>(pub [Extent; N]);

macro_rules! extents {
    ($extents:ident, $written:literal) => {
        impl<const N: usize> Args for $extents<N> {
            type Slices = ();
            const MOST: usize = N;
            const READ_ONLY: bool = !$written;
            #[inline(always)]
            fn list(&self, list: &mut List<'_>) {
                self.0.iter().for_each(|&extent| list.add(extent, $written));
            }
            #[inline(always)]
            fn slices(self) {}
        }
    };
}

extents!(Reads, false);
extents!(Writes, true);

impl<A: Array> Args for A {
    type Slices = A::Slice;
    const MOST: usize = 1;
    const READ_ONLY: bool = !A::WRITTEN;
    #[inline(always)]
    fn list(&self, list: &mut List<'_>) {
        list.add(self.extent(), A::WRITTEN);
    }
    #[inline(always)]
    fn slices(self) -> A::Slice {
        self.slice()
    }
}

/// Optional arrays.
impl<A: Args> Args for Option<A> {
    type Slices = Option<A::Slices>;
    const MOST: usize = A::MOST;
    const READ_ONLY: bool = A::READ_ONLY;
    #[inline(always)]
    fn list(&self, list: &mut List<'_>) {
        if let Some(args) = self {
            args.list(list);
        }
    }
    #[inline(always)]
    fn slices(self) -> Self::Slices {
        self.map(A::slices)
    }
}

impl<A: Args, const N: usize> Args for [A; N] {
    type Slices = [A::Slices; N];
    const MOST: usize = N * A::MOST;
    const READ_ONLY: bool = A::READ_ONLY;
    #[inline(always)]
    fn list(&self, list: &mut List<'_>) {
        self.iter().for_each(|args| args.list(list));
    }
    #[inline(always)]
    fn slices(self) -> Self::Slices {
        self.map(A::slices)
    }
}

macro_rules! tuples {
    ($($arg:ident)+) => {
        impl<$($arg: Args),+> Args for ($($arg,)+) {
            type Slices = ($($arg::Slices,)+);
            const MOST: usize = 0 $(+ $arg::MOST)+;
            const READ_ONLY: bool = true $(&& $arg::READ_ONLY)+;
            #[expect(non_snake_case, reason = "an argument is named as its type")]
            #[inline(always)]
            fn list(&self, list: &mut List<'_>) {
                let ($($arg,)+) = self;
                $($arg.list(list);)+
            }
            #[expect(non_snake_case, reason = "an argument is named as its type")]
            #[inline(always)]
            fn slices(self) -> Self::Slices {
                let ($($arg,)+) = self;
                ($($arg.slices(),)+)
            }
        }
    };
}

tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
tuples!(A B C D E F G H I J K L M);
