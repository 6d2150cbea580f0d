//! Protocol buffers, written to an array or only counted: a length comes before everything that has one, so the same code counts
//! it first and writes it then.

use crate::error::Result;

/// Types of fields on the wire.
const VARINT: u64 = 0;
const LENGTH: u64 = 2;
const FIXED: u64 = 5;

/// Receives fields of messages, in order.
pub struct Sink<'b> {
    to: Option<&'b mut [u8]>,
    len: usize,
}

impl<'b> Sink<'b> {
    /// Counts bytes.
    pub fn counting() -> Sink<'static> {
        Sink { to: None, len: 0 }
    }

    /// Writes bytes from the beginning of `to` on; those beyond its end are counted only.
    pub fn writing(to: &'b mut [u8]) -> Sink<'b> {
        Sink { to: Some(to), len: 0 }
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.len
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Some(to) = self.to.as_deref_mut() {
            to.iter_mut().skip(self.len).zip(bytes).for_each(|(to, byte)| *to = *byte);
        }
        self.len = self.len.saturating_add(bytes.len());
    }

    fn varint(&mut self, mut x: u64) {
        while x > 0x7f {
            self.put(&[x as u8 | 0x80]);
            x >>= 7;
        }
        self.put(&[x as u8]);
    }

    fn tag(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    /// An integer.
    pub fn int(&mut self, field: u64, value: i64) {
        self.tag(field, VARINT);
        self.varint(value as u64);
    }

    /// A number of 32 bits.
    pub fn float(&mut self, field: u64, value: f32) {
        self.tag(field, FIXED);
        self.put(&value.to_le_bytes());
    }

    /// A text.
    pub fn text(&mut self, field: u64, text: &[u8]) {
        self.tag(field, LENGTH);
        self.varint(text.len() as u64);
        self.put(text);
    }

    /// Exactly `len` words of `SIZE` bytes.
    pub fn words<const SIZE: usize>(&mut self, field: u64, len: usize, words: &mut dyn Iterator<Item = [u8; SIZE]>) {
        self.tag(field, LENGTH);
        let size = len.saturating_mul(SIZE);
        self.varint(size as u64);
        let own = self.to.as_deref_mut().and_then(|to| to.get_mut(self.len..));
        let own = own.unwrap_or_default().as_chunks_mut::<SIZE>().0;
        own.iter_mut().take(len).zip(words).for_each(|(to, word)| *to = word);
        self.len = self.len.saturating_add(size);
    }

    /// A message of the fields that `body` writes. Errors: those of `body`.
    pub fn message(&mut self, field: u64, body: &dyn Fn(&mut Sink<'_>) -> Result) -> Result {
        let mut counted = Sink::counting();
        body(&mut counted)?;
        self.tag(field, LENGTH);
        self.varint(counted.len as u64);
        body(self)
    }
}
