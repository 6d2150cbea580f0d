//! Text of C, written to an array or only counted.

use super::part::{PARTS, Part, Used};

/// Numbers of a table in a line of text.
const EACH_LINE: usize = 6;

/// A part of a text in the place of a `%`.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    Number(usize),
    Float(f32),
    /// Text whose names begin with the prefix.
    Code(&'a str),
    /// An array with this name, from an element on.
    At(&'static str, usize),
    /// The parameters of a layer, counted from 1, from an element on.
    Params(usize, usize),
}

/// Receives the text of a file, in order. In templates `@` stands for the prefix of names, and `$` for the same in capitals.
pub struct Text<'b> {
    to: Option<&'b mut [u8]>,
    len: usize,
    prefix: &'b str,
    used: Used,
}

impl<'b> Text<'b> {
    /// Counts bytes.
    pub fn counting(prefix: &'b str) -> Text<'b> {
        Text { to: None, len: 0, prefix, used: Used::default() }
    }

    /// Writes bytes from the beginning of `to` on; those beyond its end are counted only.
    pub fn writing(prefix: &'b str, to: &'b mut [u8]) -> Text<'b> {
        Text { to: Some(to), len: 0, prefix, used: Used::default() }
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The functions that were [called](Text::call) so far.
    pub fn used(&self) -> Used {
        self.used
    }

    /// Notes that a function is called, with those that it calls.
    pub fn call(&mut self, part: Part) {
        self.used.add(part);
    }

    /// The functions of a set.
    pub fn parts(&mut self, used: Used) {
        for (part, text, _) in PARTS.iter().filter(|(part, ..)| used.has(*part)) {
            self.code("\n");
            self.code(text);
            self.used.add(*part);
        }
    }

    fn put(&mut self, byte: u8) {
        if let Some(to) = self.to.as_deref_mut().and_then(|to| to.get_mut(self.len)) {
            *to = byte;
        }
        self.len = self.len.saturating_add(1);
    }

    /// A template.
    pub fn code(&mut self, template: &str) {
        let prefix = self.prefix;
        for byte in template.bytes() {
            match byte {
                b'@' => prefix.bytes().for_each(|byte| self.put(byte)),
                b'$' => prefix.bytes().for_each(|byte| self.put(byte.to_ascii_uppercase())),
                byte => self.put(byte),
            }
        }
    }

    /// A template with arguments in the places of its `%`.
    pub fn fill(&mut self, template: &str, args: &[Arg<'_>]) {
        let (mut args, mut rest) = (args.iter(), template);
        while let Some(at) = rest.bytes().position(|byte| byte == b'%') {
            self.code(rest.get(..at).unwrap_or_default());
            args.next().into_iter().for_each(|arg| self.arg(*arg));
            rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        }
        self.code(rest);
    }

    fn arg(&mut self, arg: Arg<'_>) {
        match arg {
            Arg::Number(number) => self.number(number as u64),
            Arg::Float(x) => self.float(x),
            Arg::Code(text) => self.code(text),
            Arg::At(name, element) => {
                self.code(name);
                self.from(element);
            }
            Arg::Params(layer, element) => {
                self.code("@_layer_");
                self.number(layer as u64);
                self.from(element);
            }
        }
    }

    fn from(&mut self, element: usize) {
        if element > 0 {
            self.code(" + ");
            self.number(element as u64);
        }
    }

    /// A number in decimal digits.
    pub fn number(&mut self, number: u64) {
        let mut unit = 1u64;
        while number / 10 >= unit {
            unit = unit.saturating_mul(10);
        }
        while unit > 0 {
            self.put(b'0'.wrapping_add((number.checked_div(unit).unwrap_or(0) % 10) as u8));
            unit /= 10;
        }
    }

    /// The lowest `digits` hexadecimal digits of a number.
    fn hex(&mut self, number: u64, digits: u32) {
        for digit in (0..digits).rev() {
            let digit = (number >> (4 * digit) & 15) as u8;
            self.put(if digit < 10 { b'0'.wrapping_add(digit) } else { b'a'.wrapping_add(digit - 10) });
        }
    }

    /// An exact number of `digits` hexadecimal digits behind the point, whose exponent is `exponent`, 0 of the smallest ones, of
    /// `most`.
    fn exact(&mut self, negative: bool, fraction: u64, digits: u32, exponent: i64, bias: i64) {
        if negative {
            self.put(b'-');
        }
        if exponent == 0 && fraction == 0 {
            return self.code("0.0");
        }
        self.code(if exponent == 0 { "0x0" } else { "0x1" });
        let (mut fraction, mut digits) = (fraction, digits);
        while digits > 0 && fraction & 15 == 0 {
            (fraction, digits) = (fraction >> 4, digits - 1);
        }
        if digits > 0 {
            self.put(b'.');
            self.hex(fraction, digits);
        }
        let power = exponent.max(1).wrapping_sub(bias);
        self.code(if power < 0 { "p-" } else { "p+" });
        self.number(power.unsigned_abs());
    }

    /// A literal of exactly this number.
    pub fn float(&mut self, x: f32) {
        let bits = u64::from(x.to_bits());
        self.exact(x.is_sign_negative(), (bits & 0x007f_ffff) << 1, 6, (bits >> 23 & 0xff) as i64, 127);
        self.code("f");
    }

    /// A literal of exactly this number.
    pub fn double(&mut self, x: f64) {
        let bits = x.to_bits();
        self.exact(x.is_sign_negative(), bits & ((1 << 52) - 1), 13, (bits >> 52 & 0x7ff) as i64, 1023);
    }

    /// The elements of a table between braces, each written by `put`.
    pub fn table<T>(&mut self, elements: impl Iterator<Item = T>, put: impl Fn(&mut Self, T)) {
        self.code("{");
        for (i, element) in elements.enumerate() {
            self.code(match i % EACH_LINE {
                _ if i == 0 => "\n  ",
                0 => ",\n  ",
                _ => ", ",
            });
            put(self, element);
        }
        self.code("\n};\n");
    }
}
