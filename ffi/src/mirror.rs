//! Pairs of structures with the same content: one of C, one of the core.

/// Conversions between two structures with these fields; further fields of the C structure are zeros.
macro_rules! mirror {
    ($c:ident, $core:ident { $($field:ident),+ $(,)? }) => {
        impl From<$core> for $c {
            fn from($core { $($field),+ }: $core) -> Self {
                $c { $($field,)+ ..crate::ptr::zeros() }
            }
        }

        impl From<$c> for $core {
            fn from($c { $($field,)+ .. }: $c) -> Self {
                $core { $($field),+ }
            }
        }
    };
}

/// Checks that both have the same layout, field by field, so that the core can use the caller's arrays.
macro_rules! alike {
    ($c:ident, $core:ident { $($field:ident),+ } $(, $named:ident = $other:ident)?) => {
        const _: () = {
            assert!(size_of::<$c>() == size_of::<$core>() && align_of::<$c>() == align_of::<$core>());
            $(assert!(core::mem::offset_of!($c, $field) == core::mem::offset_of!($core, $field));)+
            $(assert!(core::mem::offset_of!($c, $named) == core::mem::offset_of!($core, $other));)?
        };
        // SAFETY: laid out as in C; numbers only.
        unsafe impl crate::ptr::Plain for $core {}
    };
}

/// A structure that begins with `struct_size`: its name in error messages, the last field that every caller has to give, and
/// its defaults, unless zeros.
macro_rules! versioned {
    ($c:ident, $what:literal, $last:ident $(, $default:expr)?) => {
        const _: () = assert!(core::mem::offset_of!($c, struct_size) == 0);
        // SAFETY: `repr(C)`, `struct_size` first; numbers, and pointers that are checked before use.
        unsafe impl crate::ptr::Versioned for $c {
            const WHAT: &'static str = $what;
            const MIN_SIZE: usize = core::mem::offset_of!($c, $last) + crate::mirror::size_of_field(|c: &$c| &c.$last);
            $(
                fn defaults() -> Self {
                    $default
                }
            )?
        }
    };
}

/// Bytes of a field.
pub const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

pub(crate) use {alike, mirror, versioned};
