//! Text output into the caller's bytes: a text is written in full or not at all, and its length is returned either way.

use crate::error::{Error, Kind, Result};

/// Counts the bytes pushed, writes those that fit, and compares them with others.
pub(crate) struct Sink<'a> {
    room: &'a mut [u8],
    others: &'a [u8],
    differs: bool,
    len: usize,
}

impl Sink<'_> {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for (to, from) in self.room.iter_mut().skip(self.len).zip(bytes) {
            *to = *from;
        }
        let mut others = self.others.iter().skip(self.len);
        self.differs |= !self.others.is_empty() && !bytes.iter().all(|byte| others.next() == Some(byte));
        self.len = self.len.saturating_add(bytes.len());
    }
}

/// Writes the text in full or not at all, and returns its length; without `out` it is only measured. Errors: `Size`, with the
/// given message.
pub(crate) fn fill(what: &'static str, out: Option<&mut [u8]>, body: impl Fn(&mut Sink<'_>)) -> Result<usize> {
    let mut sink = Sink { room: &mut [], others: &[], differs: false, len: 0 };
    body(&mut sink);
    let needed = sink.len;
    let Some(room) = out else { return Ok(needed) };
    Error::limit(Kind::Size, what, needed, room.len()).fail_if(room.len() < needed)?;
    body(&mut Sink { room, others: &[], differs: false, len: 0 });
    Ok(needed)
}

/// The length of the text, if `bytes` begin with it.
pub(crate) fn begins(bytes: &[u8], body: impl Fn(&mut Sink<'_>)) -> Option<usize> {
    let mut sink = Sink { room: &mut [], others: bytes, differs: bytes.is_empty(), len: 0 };
    body(&mut sink);
    if sink.differs { None } else { Some(sink.len) }
}
