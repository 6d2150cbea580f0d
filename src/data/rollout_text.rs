//! A rollout as text for people: the progress of training, and one of its steps.

use super::rollout_buffer::{Progress, View};
use super::text::{Sink, fill};
use crate::decimal::Repr;
use crate::error::{Error, Kind, Result};
use crate::space::Elements;

const SHORT: &str = "rollout text: bytes, at least";

/// Three lines, `global_step=`, `avg_episode_length=` and `avg_episode_return=`, with numbers padded with zeros to six characters
/// and means to two decimal places; empty if no episode has ended since the last reset. Returns the bytes written, or needed if
/// `out` is `None`. Errors: `Size`; then nothing is written.
pub fn progress(progress: &Progress, out: Option<&mut [u8]>) -> Result<usize> {
    fill(SHORT, out, |sink| {
        if progress.num_ended == 0 {
            return;
        }
        sink.push(b"global_step=");
        sink.push(Repr::padded(progress.global_step, 6).bytes());
        sink.push(b"\navg_episode_length=");
        sink.push(Repr::fixed2(progress.len_mean, 6).bytes());
        sink.push(b"\navg_episode_return=");
        sink.push(Repr::fixed2(progress.return_mean, 6).bytes());
        sink.push(b"\n");
    })
}

/// `Sample i/T:` and a line for each array of a step that was not left out: its name in ten columns, a colon, and the numbers
/// of all environments.
/// Returns the bytes written, or needed if `out` is `None`. Errors: `Range` for a step that is not held; `Size`. Nothing is
/// written then.
pub fn step(view: &View<'_>, step: u32, out: Option<&mut [u8]>) -> Result<usize> {
    let (held, n) = (view.progress().num_steps, view.num_envs());
    let what = "rollout text: a step below";
    Error::limit(Kind::Range, what, held as usize, step as usize).fail_if(step >= held)?;
    let r = view.rollout()?;
    let log_prob = view.log_prob()?;
    let len = fill(SHORT, out, |sink| {
        sink.push(b"Sample ");
        sink.push(Repr::of_u64(u64::from(step).wrapping_add(1)).bytes());
        sink.push(b"/");
        sink.push(Repr::of_u64(held.into()).bytes());
        sink.push(b":\n");
        for (i, column) in view.columns().iter().enumerate() {
            if let Ok(x) = view.column(i) {
                line(sink, column.name(), x, step, n.saturating_mul(column.len as usize));
            }
        }
        line(sink, "reward", Elements::F32(r.reward), step, n);
        for (name, x) in [("value", r.value), ("log_prob", log_prob)] {
            if !x.is_empty() {
                line(sink, name, Elements::F32(x), step, n);
            }
        }
        line(sink, "terminated", Elements::U8(r.terminated), step, n);
        line(sink, "truncated", Elements::U8(r.truncated), step, n);
    })?;
    view.check_held()?;
    Ok(len)
}

/// Writes row `step` of an array as a line.
fn line(sink: &mut Sink<'_>, name: &str, x: Elements<'_>, step: u32, width: usize) {
    let first = (step as usize).saturating_mul(width);
    let row = x.get(first, first.saturating_add(width));
    sink.push(name.as_bytes());
    for _ in name.len()..10 {
        sink.push(b" ");
    }
    sink.push(b":");
    let mut number = |negative: bool, number: Repr| {
        sink.push(if negative { b" -" } else { b" " });
        sink.push(number.bytes());
    };
    match row {
        Some(Elements::F32(row)) => row.iter().for_each(|&x| number(false, Repr::of_f32(x))),
        Some(Elements::I32(row)) => row.iter().for_each(|&x| number(x < 0, Repr::of_u64(x.unsigned_abs().into()))),
        Some(Elements::U8(row)) => row.iter().for_each(|&x| number(false, Repr::of_u64(x.into()))),
        None => {}
    }
    sink.push(b"\n");
}
