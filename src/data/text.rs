//! Texts in the caller's bytes: all of a text or nothing, and its length either way.

use crate::error::{Error, Kind, Result};

/// Counts what is written, and writes what there is room for.
pub(crate) struct Sink<'a> {
    room: &'a mut [u8],
    len: usize,
}

impl Sink<'_> {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for (to, from) in self.room.iter_mut().skip(self.len).zip(bytes) {
            *to = *from;
        }
        self.len = self.len.saturating_add(bytes.len());
    }
}

/// Writes everything or nothing, and returns its length; without room it is only measured. Errors: `Size`, as `what`.
pub(crate) fn fill(what: &'static str, out: Option<&mut [u8]>, body: impl Fn(&mut Sink<'_>)) -> Result<usize> {
    let mut sink = Sink { room: &mut [], len: 0 };
    body(&mut sink);
    let needed = sink.len;
    let Some(room) = out else { return Ok(needed) };
    Error::limit(Kind::Size, what, needed, room.len()).when(room.len() < needed)?;
    body(&mut Sink { room, len: 0 });
    Ok(needed)
}
