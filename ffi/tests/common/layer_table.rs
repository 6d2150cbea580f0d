//! The header's enumeration of layer kinds, made from the core's table.

use super::tables::{documented, spliced};

macro_rules! table {
    ($(
        $(#[doc = $sentence:literal])+
        $name:ident = $number:literal, reads [$($field:ident),*], flags [$($flag:ident),*];
        $(#[cfg($($with:tt)+)])? $kind:ident: $file:ident::$prim:ident, $form:expr;
    )+) => {
        /// The sentence, name and number of each kind, and the fields that it reads.
        fn table() -> Vec<(&'static str, &'static str, u32, Vec<&'static str>)> {
            vec![$({
                let mut fields: Vec<&str> = [$(stringify!($field)),*].to_vec();
                if fields.contains(&"initializer") {
                    fields.push("gain");
                }
                let flags: &[&str] = &[$(stringify!($flag)),*];
                if !flags.is_empty() {
                    fields.push("flags");
                }
                (concat!($($sentence),+).trim(), stringify!($name), $number, fields)
            }),+]
        }
    };
}

rlcore::layer_table!(table);

/// The longest comment behind its kind, in columns.
const BEHIND: usize = 90;

/// `ffi/src/layer.rs` with its macro replaced by the enumeration that the macro makes, for cbindgen.
pub fn expanded(source: &str) -> String {
    let rows = table().into_iter().map(|(sentence, name, number, fields)| {
        documented(&format!("{sentence} ({})", fields.join(", ")), BEHIND) + &format!("{name} = {number},\n")
    });
    spliced(source, "layer_table", "$($(#[doc = $sentence])+ $name = $number,)+", &rows.collect::<String>())
}
