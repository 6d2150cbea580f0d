//! What is made of the core's table of environments: the enumeration as the header shows it.

use super::tables::{documented, spliced};

macro_rules! table {
    ($(
        $(#[doc = $kind_is:literal])+
        $kind:ident($type:ty): |$env:pat_param| $spec:expr, {
            $(#[doc = $sentence:literal] $id:ident = $number:literal, $name:literal: $value:expr;)+
        }
    )+) => {
        /// The sentence, the name and the number of each.
        const TABLE: &[(&str, &str, u32)] = &[$($(($sentence, stringify!($id), $number),)+)+];
    };
}

rlcore::env_table!(table);

/// The longest comment that stands behind its name.
const BEHIND: usize = 90;

/// `ffi/src/builtin.rs` with the enumeration that its macro makes in the macro's place, for cbindgen.
pub fn expanded(source: &str) -> String {
    let rows = TABLE
        .iter()
        .map(|(sentence, name, number)| documented(sentence.trim(), BEHIND) + &format!("{name} = {number},\n"));
    spliced(source, "env_table", "$($(#[doc = $sentence] $id = $number,)+)+", &rows.collect::<String>())
}
