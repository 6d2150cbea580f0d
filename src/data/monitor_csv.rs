//! `monitor.csv` as Stable-Baselines3 and its ancestors read it: a header line in JSON behind `# `, the names of the columns,
//! then one row per episode.
//!
//! The first line ends with a blank and LF, the others with CR LF. Reals are formatted as Python floats: the shortest text that
//! reads back as the same number. Only times are rounded, to six decimal places; returns are f64 sums and not rounded (Monitor,
//! for one environment, rounds both; VecMonitor sums in f32).

use super::monitor::{Episode, MAX_INFO};
use super::text;
use crate::decimal::Repr;
use crate::error::{Error, Kind, Result};

/// Upper bound on the bytes of a row.
pub const MAX_ROW_LEN: usize = 512;

const _: () = assert!(MAX_ROW_LEN > (MAX_INFO + 3) * (Repr::MAX_LEN + 1));

/// Writes the first two lines. `t_start`: Unix time of the start, in seconds; `env_id`: name of the environment, if any;
/// `keywords`: a name for each info. Texts are printable ASCII. Returns the bytes written, or needed if `out` is `None`.
///
/// Errors: `Value` for a time that is not finite or a character that is not printable ASCII; `Range` for too many
/// keywords; `Size`. Nothing is written then.
pub fn header(t_start: f64, env_id: Option<&[u8]>, keywords: &[&[u8]], out: Option<&mut [u8]>) -> Result<usize> {
    Error::new(Kind::Value, "monitor csv: a finite t_start").given_f32(t_start as f32).fail_if(!t_start.is_finite())?;
    let what = "monitor csv: keywords, at most";
    Error::limit(Kind::Range, what, MAX_INFO, keywords.len()).fail_if(keywords.len() > MAX_INFO)?;
    for text in keywords.iter().copied().chain(env_id) {
        if let Some(byte) = text.iter().find(|byte| !(b' '..=b'~').contains(*byte)) {
            let what = "monitor csv: names of printable ASCII characters";
            return Err(Error::new(Kind::Value, what).given(usize::from(*byte)));
        }
    }
    text::fill("monitor csv: bytes, at least", out, |sink| {
        sink.push(b"# {\"t_start\": ");
        sink.push(Repr::of(t_start).bytes());
        if let Some(env_id) = env_id {
            sink.push(b", \"env_id\": \"");
            for byte in env_id {
                if matches!(byte, b'"' | b'\\') {
                    sink.push(b"\\");
                }
                sink.push(&[*byte]);
            }
            sink.push(b"\"");
        }
        sink.push(b"} \nr,l,t");
        for keyword in keywords {
            sink.push(b",");
            let quoted = keyword.iter().any(|byte| matches!(byte, b'"' | b','));
            if quoted {
                sink.push(b"\"");
            }
            for byte in *keyword {
                if *byte == b'"' {
                    sink.push(b"\"");
                }
                sink.push(&[*byte]);
            }
            if quoted {
                sink.push(b"\"");
            }
        }
        sink.push(b"\r\n");
    })
}

/// Writes the row of an episode with its info. Returns the bytes written, or needed if `out` is `None`; never more than
/// [`MAX_ROW_LEN`].
///
/// Errors: `Value` for a number that is not finite; `Range` for too many infos; `Size`. Nothing is written then.
pub fn row(episode: &Episode, info: &[f64], out: Option<&mut [u8]>) -> Result<usize> {
    let what = "monitor csv: infos, at most";
    Error::limit(Kind::Range, what, MAX_INFO, info.len()).fail_if(info.len() > MAX_INFO)?;
    let what = "monitor csv: a finite episode_return";
    Error::new(Kind::Value, what)
        .given_f32(episode.episode_return as f32)
        .fail_if(!episode.episode_return.is_finite())?;
    if let Some(bad) = info.iter().chain([&episode.seconds]).find(|x| !x.is_finite()) {
        return Err(Error::new(Kind::Value, "monitor csv: finite seconds and infos").given_f32(*bad as f32));
    }
    text::fill("monitor csv: bytes, at least", out, |sink| {
        sink.push(Repr::of(episode.episode_return).bytes());
        sink.push(b",");
        sink.push(Repr::of_u64(episode.len.into()).bytes());
        sink.push(b",");
        sink.push(Repr::of(episode.seconds).bytes());
        for info in info {
            sink.push(b",");
            sink.push(Repr::of(*info).bytes());
        }
        sink.push(b"\r\n");
    })
}
