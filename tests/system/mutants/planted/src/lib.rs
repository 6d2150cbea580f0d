//! Code whose mutants are known, one function for each thing that they may change.

/// Settings, of which one has a default that matters.
#[derive(Clone, Copy)]
pub struct Settings {
    pub width: u32,
    pub height: u32,
}

/// There is no default of it, so that nothing can be put in its place.
#[derive(Debug, PartialEq)]
pub struct Token(u8);

pub const BASE: Settings = Settings { width: 4, height: 2 };

/// Every mutant is caught, also `/`, which is no more than another way to write it where `b` is 1.
pub fn mixed(a: i32, b: i32, c: i32) -> i32 {
    a - b * c
}

/// Called, but no test reads the result.
pub fn ignored(a: i32) -> i32 {
    a + 1
}

/// Never called.
pub fn forgotten(a: bool) -> bool {
    !a
}

/// Called where 0 and 1 are all that is tried: `+` and `*` are told apart, but not `<` and `<=`.
pub fn limited(a: u32) -> u32 {
    if a < 2 { a + 10 } else { 12 }
}

/// Ends, unless it counts by other means than addition.
pub fn count(until: u32) -> u32 {
    let mut n = 0;
    while n < until {
        n += 1;
    }
    n
}

pub fn token(a: u8) -> Token {
    Token(a)
}

/// Parentheses alone make one of its mutants a program: `a as u32 < b` is none.
pub fn narrow(a: u64, b: u32) -> bool {
    a as u32 > b
}

pub fn negated(a: i32) -> i32 {
    -a
}

/// The guard matters, the first arm does too, the last two have the same result.
pub fn graded(points: u32) -> char {
    match points {
        0 => 'f',
        n if n > 10 => 'a',
        7 => 'b',
        _ => 'b',
    }
}

/// Without a last arm for everything, this may not be complete when one is gone.
pub fn sided(left: Option<u8>) -> u8 {
    match left {
        _ if left > Some(100) => 100,
        Some(n) => n,
        None => 7,
    }
}

pub fn settings(width: u32) -> Settings {
    Settings { width, height: 2, ..BASE }
}

/// A condition that binds a name, around one that does not.
pub fn chained(a: Option<u32>) -> bool {
    if let Some(n) = a
        && n + 1 == 3
    {
        true
    } else {
        false
    }
}

pub fn unnamed(until: u8) -> impl Iterator<Item = u8> {
    0..until
}

pub const fn area(s: Settings) -> u32 {
    s.width * s.height
}

pub const SIZE: u32 = area(BASE) + 1;

/// Nobody looks at it.
pub const SPARE: u32 = SIZE + 1;

/// One of its mutants never ends, while the compiler runs.
pub const STEPS: u32 = {
    let mut n = 0;
    while n < 9 {
        n += 3;
    }
    n
};
