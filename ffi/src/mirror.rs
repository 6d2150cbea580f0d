//! Structures of C's and of the core's that say the same.

/// Both have these fields, which are all that the core's has; the others of C's are zeros.
macro_rules! mirror {
    ($c:ident, $core:ident { $($field:ident),+ }) => {
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

/// Both are laid out alike, field by field, so that the caller's arrays of one are the core's of the other.
macro_rules! alike {
    ($c:ident, $core:ident { $($field:ident),+ }) => {
        const _: () = {
            assert!(size_of::<$c>() == size_of::<$core>() && align_of::<$c>() == align_of::<$core>());
            $(assert!(core::mem::offset_of!($c, $field) == core::mem::offset_of!($core, $field));)+
        };
        // SAFETY: laid out as in C; numbers only.
        unsafe impl crate::ptr::Plain for $core {}
    };
}

pub(crate) use {alike, mirror};
