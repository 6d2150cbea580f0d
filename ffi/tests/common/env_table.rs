//! The header's enumeration of environments, made from the core's table.

use super::tables::{documented, spliced};

macro_rules! table {
    ($(
        $(#[doc = $kind_is:literal])+
        $kind:ident($type:ty): |$env:pat_param| $spec:expr, {
            $(#[doc = $sentence:literal] $id:ident = $number:literal, $name:literal: $value:expr;)+
        }
    )+) => {
        /// The sentence, name and number of each environment.
        const TABLE: &[(&str, &str, u32)] = &[$($(($sentence, stringify!($id), $number),)+)+];
    };
}

rlcore::env_table!(table);

/// The longest comment behind its name, in columns.
const BEHIND: usize = 90;

/// `ffi/src/builtin.rs` with its macro replaced by the enumeration that the macro makes, for cbindgen.
pub fn expanded(source: &str) -> String {
    let rows = TABLE
        .iter()
        .map(|(sentence, name, number)| documented(sentence.trim(), BEHIND) + &format!("{name} = {number},\n"));
    spliced(source, "env_table", "$($(#[doc = $sentence] $id = $number,)+)+", &rows.collect::<String>())
}
