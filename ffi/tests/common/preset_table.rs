//! The header's enumeration of configurations known by name, made from the core's table.

use super::tables::{documented, spliced};

macro_rules! table {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $name:ident: $algorithm:ident, $net:ident { $($field:ident = $value:expr,)* }
    )+) => {
        /// The sentence, name, number, algorithm and network of each preset.
        const TABLE: &[(&str, &str, u32, &str, &str)] = &[$((
            concat!($($sentence),+), stringify!($id), $number, stringify!($algorithm), stringify!($net),
        )),+];
    };
}

rlcore::preset_table!(table);

/// The longest comment behind its name, in columns.
const BEHIND: usize = 70;

/// `ffi/src/learner_preset.rs` with its macro replaced by the enumeration that the macro makes, for cbindgen.
pub fn expanded(source: &str) -> String {
    let rows = TABLE.iter().map(|(sentence, id, number, algorithm, net)| {
        let net = match *net {
            "Own" => String::new(),
            "Btgym42" => ", RLCORE_NET_BTGYM_42".into(),
            net => format!(", RLCORE_NET_{}", net.to_uppercase()),
        };
        let with = format!(" ({}{net})", algorithm.to_uppercase());
        documented(&(sentence.trim().to_string() + &with), BEHIND) + &format!("{id} = {number},\n")
    });
    spliced(source, "preset_table", "$($(#[doc = $sentence])+ $id = $number,)+", &rows.collect::<String>())
}
