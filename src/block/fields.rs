//! The fields of a block, declared once: their places, and the arrays to write and to read.

use bytemuck::Pod;
use core::fmt::Debug;
use core::marker::PhantomData;

use super::plan::{Cutter, Fit, LayoutError, Plan, Span, TooLong, copy_row_within, view};

/// The types and operations of a field: planning, writing and reading.
pub trait Field {
    /// Argument that determines its size.
    type Len<'a>;
    /// Its place in the block.
    type Span: Pod + Debug;
    /// The field for writing.
    type Mut<'a>;
    /// The field for reading.
    type Ref<'a>: Copy;

    /// Plans the field behind all fields planned so far.
    fn plan(plan: &mut Plan, len: Self::Len<'_>) -> Result<Self::Span, TooLong>;
    /// Takes the field out of its block; a [`Cold`] field only if `ALL`, else it is empty.
    fn cut<'a, const ALL: bool>(cut: &mut Cutter<'a>, span: &Self::Span) -> Fit<Self::Mut<'a>>;
    /// Reads the field in its block.
    fn view<'a>(block: &'a [u8], span: &Self::Span) -> Fit<Self::Ref<'a>>;
    /// Reads a field that was taken out of its block.
    fn read<'a>(field: &'a Self::Mut<'_>) -> Self::Ref<'a>;
    /// Copies row `from` of an array of `rows` rows to row `to`. Only arrays have rows.
    #[inline(always)]
    fn copy_row(_: &mut Self::Mut<'_>, _rows: usize, _from: usize, _to: usize) -> Fit<()> {
        Ok(())
    }
}

/// An array, whose size is its number of elements.
impl<T: Pod + Debug> Field for [T] {
    type Len<'a> = usize;
    type Span = Span<T>;
    type Mut<'a> = &'a mut [T];
    type Ref<'a> = &'a [T];

    #[inline(always)]
    fn plan(plan: &mut Plan, len: usize) -> Result<Span<T>, TooLong> {
        Ok(plan.next(len))
    }

    #[inline(always)]
    fn cut<'a, const ALL: bool>(cut: &mut Cutter<'a>, span: &Span<T>) -> Fit<&'a mut [T]> {
        Ok(cut.next(*span))
    }

    #[inline(always)]
    fn view<'a>(block: &'a [u8], span: &Span<T>) -> Fit<&'a [T]> {
        view(block, *span)
    }

    #[inline(always)]
    fn read<'a>(field: &'a &mut [T]) -> &'a [T] {
        field
    }

    #[inline(always)]
    fn copy_row(field: &mut &mut [T], rows: usize, from: usize, to: usize) -> Fit<()> {
        copy_row_within(field, rows, from, to)
    }
}

/// A single value.
pub struct One<T>(PhantomData<T>);

impl<T: Pod + Debug> Field for One<T> {
    type Len<'a> = ();
    type Span = Span<T>;
    type Mut<'a> = &'a mut T;
    type Ref<'a> = &'a T;

    #[inline(always)]
    fn plan(plan: &mut Plan, _: ()) -> Result<Span<T>, TooLong> {
        plan.span(1)
    }

    #[inline(always)]
    fn cut<'a, const ALL: bool>(cut: &mut Cutter<'a>, span: &Span<T>) -> Fit<&'a mut T> {
        cut.take(*span)?.first_mut().ok_or(LayoutError)
    }

    #[inline(always)]
    fn view<'a>(block: &'a [u8], span: &Span<T>) -> Fit<&'a T> {
        view(block, *span)?.first().ok_or(LayoutError)
    }

    #[inline(always)]
    fn read<'a>(field: &'a &mut T) -> &'a T {
        field
    }
}

/// A field that is cut only if `ALL`, and empty otherwise, for calls that do not use it.
pub struct Cold<F: ?Sized>(PhantomData<F>);

impl<F: Field + ?Sized> Field for Cold<F>
where
    for<'a> F::Mut<'a>: Default,
{
    type Len<'a> = F::Len<'a>;
    type Span = F::Span;
    type Mut<'a> = F::Mut<'a>;
    type Ref<'a> = F::Ref<'a>;

    #[inline(always)]
    fn plan(plan: &mut Plan, len: F::Len<'_>) -> Result<F::Span, TooLong> {
        F::plan(plan, len)
    }

    #[inline(always)]
    fn cut<'a, const ALL: bool>(cut: &mut Cutter<'a>, span: &F::Span) -> Fit<F::Mut<'a>> {
        if ALL { F::cut::<ALL>(cut, span) } else { Ok(F::Mut::default()) }
    }

    #[inline(always)]
    fn view<'a>(block: &'a [u8], span: &F::Span) -> Fit<F::Ref<'a>> {
        F::view(block, span)
    }

    #[inline(always)]
    fn read<'a>(field: &'a F::Mut<'_>) -> F::Ref<'a> {
        F::read(field)
    }

    #[inline(always)]
    fn copy_row(field: &mut F::Mut<'_>, rows: usize, from: usize, to: usize) -> Fit<()> {
        F::copy_row(field, rows, from, to)
    }
}

/// Generates code from one list of a block's fields: a structure of their spans, with `plan`; if `write` is given, a structure
/// of arrays to write, with `cut` and `copy_row`; and if `read` is given too, one of arrays to read, with `of`, and `read` on
/// the first. Both may begin with extra members, which are passed as the last arguments.
///
/// `part Name(Len)` at the end makes the list a [`Field`] for use in other lists; it needs a list with one argument and
/// structures without extra members.
///
/// ```ignore
/// fields! {
///     /// Where the fields lie.
///     pub spans Spans(num_envs: usize) {
///         /// Steps so far.
///         count: One<u64> = (),
///         /// `[N]` sums of rewards.
///         total: [f32] = num_envs,
///     }
///     /// To write.
///     #[derive(Debug)]
///     pub write Fields { setup: Setup }
///     /// To read.
///     pub read View { setup: Setup }
/// }
/// ```
macro_rules! fields {
    (
        $(#[$spans_meta:meta])* $own:vis spans $spans:ident $args:tt $list:tt
        $($(#[$write_meta:meta])* $write_vis:vis write $write:ident $write_members:tt
        $($(#[$read_meta:meta])* $read_vis:vis read $read:ident $read_members:tt
        $($(#[$part_meta:meta])* $part_vis:vis part $part:ident($len:ty))?)?)?
    ) => {
        $crate::block::fields!(@spans [$(#[$spans_meta])* $own] $spans $args $list);
        $($crate::block::fields!(@write [$(#[$write_meta])* $write_vis] $own $write $spans $write_members $list);
        $($crate::block::fields!(@read [$(#[$read_meta])* #[allow(dead_code)] $read_vis] $own $read $spans $write
            $read_members $list);
        $($crate::block::fields!(@part [$(#[$part_meta])* $part_vis] $part $len, $spans $write $read);)?)?)?
    };
    (@spans [$($head:tt)*] $spans:ident ($($arg:ident: $arg_type:ty),*)
        { $($(#[$doc:meta])* $vis:vis $name:ident: $kind:ty = $len:expr,)* }
    ) => {
        #[derive(Clone, Copy, Debug, ::bytemuck::Pod, ::bytemuck::Zeroable)]
        #[repr(C)]
        $($head)* struct $spans {
            $($(#[$doc])* $vis $name: <$kind as $crate::block::Field>::Span,)*
        }

        impl $spans {
            /// Plans the fields, one after another. Errors: `Overflow`.
            #[inline(always)]
            pub fn plan(
                plan: &mut $crate::block::Plan,
                $($arg: $arg_type),*
            ) -> ::core::result::Result<Self, $crate::block::TooLong> {
                let spans = $spans { $($name: <$kind as $crate::block::Field>::plan(plan, $len)?,)* };
                plan.check()?;
                Ok(spans)
            }
        }
    };
    (@write [$($head:tt)*] $own:vis $write:ident $spans:ident
        { $($(#[$w_meta:meta])* $w_vis:vis $w:ident: $w_type:ty),* $(,)? }
        { $($(#[$doc:meta])* $vis:vis $name:ident: $kind:ty = $len:expr,)* }
    ) => {
        $($head)* struct $write<'a> {
            $($(#[$w_meta])* $w_vis $w: $w_type,)*
            $($(#[$doc])* $vis $name: <$kind as $crate::block::Field>::Mut<'a>,)*
        }

        impl<'a> $write<'a> {
            /// Takes the fields out of their block. Errors: `Size`.
            #[allow(dead_code, clippy::too_many_arguments)]
            #[inline(always)]
            $own fn cut(
                cut: &mut $crate::block::Cutter<'a>,
                spans: &$spans,
                $($w: $w_type),*
            ) -> $crate::block::Fit<Self> {
                Self::cut_some::<true>(cut, spans, $($w),*)
            }

            /// The same; cold fields are empty unless `ALL`. Errors: `Size`.
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            $own fn cut_some<const ALL: bool>(
                cut: &mut $crate::block::Cutter<'a>,
                spans: &$spans,
                $($w: $w_type),*
            ) -> $crate::block::Fit<Self> {
                let fields =
                    $write { $($w,)* $($name: <$kind as $crate::block::Field>::cut::<ALL>(cut, &spans.$name)?,)* };
                cut.check()?;
                Ok(fields)
            }

            /// Copies row `from` of every array to row `to`; each array has `rows` rows, or is empty. Errors: `Size`.
            #[allow(dead_code)]
            $own fn copy_row(&mut self, rows: usize, from: usize, to: usize) -> $crate::block::Fit<()> {
                $(<$kind as $crate::block::Field>::copy_row(&mut self.$name, rows, from, to)?;)*
                Ok(())
            }
        }
    };
    (@read [$($head:tt)*] $own:vis $read:ident $spans:ident $write:ident
        { $($(#[$r_meta:meta])* $r_vis:vis $r:ident: $r_type:ty),* $(,)? }
        { $($(#[$doc:meta])* $vis:vis $name:ident: $kind:ty = $len:expr,)* }
    ) => {
        $($head)* struct $read<'a> {
            $($(#[$r_meta])* $r_vis $r: $r_type,)*
            $($(#[$doc])* $vis $name: <$kind as $crate::block::Field>::Ref<'a>,)*
        }

        impl<'a> $read<'a> {
            /// Reads the fields in their block. Errors: `Size`.
            #[inline(always)]
            $own fn of(block: &'a [u8], spans: &$spans, $($r: $r_type),*) -> $crate::block::Fit<Self> {
                Ok($read { $($r,)* $($name: <$kind as $crate::block::Field>::view(block, &spans.$name)?,)* })
            }
        }

        impl $write<'_> {
            /// The fields, for reading; extra members are passed in.
            #[allow(dead_code)]
            #[inline(always)]
            $own fn read<'a>(&'a self, $($r: $r_type),*) -> $read<'a> {
                $read { $($r,)* $($name: <$kind as $crate::block::Field>::read(&self.$name),)* }
            }
        }
    };
    (@part [$($head:tt)*] $part:ident $len:ty, $spans:ident $write:ident $read:ident) => {
        $($head)* struct $part;

        impl $crate::block::Field for $part {
            type Len<'a> = $len;
            type Span = $spans;
            type Mut<'a> = $write<'a>;
            type Ref<'a> = $read<'a>;

            #[inline(always)]
            fn plan(
                plan: &mut $crate::block::Plan,
                len: Self::Len<'_>,
            ) -> ::core::result::Result<$spans, $crate::block::TooLong> {
                $spans::plan(plan, len)
            }

            #[inline(always)]
            fn cut<'a, const ALL: bool>(
                cut: &mut $crate::block::Cutter<'a>,
                spans: &$spans,
            ) -> $crate::block::Fit<$write<'a>> {
                $write::cut_some::<ALL>(cut, spans)
            }

            #[inline(always)]
            fn view<'a>(block: &'a [u8], spans: &$spans) -> $crate::block::Fit<$read<'a>> {
                $read::of(block, spans)
            }

            #[inline(always)]
            fn read<'a>(field: &'a $write<'_>) -> $read<'a> {
                field.read()
            }

            #[inline(always)]
            fn copy_row(field: &mut $write<'_>, rows: usize, from: usize, to: usize) -> $crate::block::Fit<()> {
                field.copy_row(rows, from, to)
            }
        }
    };
}

pub(crate) use fields;
