//! Copies of drawn sequences.

use bytemuck::Pod;

use super::draw::{Moment, Sample};
use super::{SHAPE, View};
use crate::block;
use crate::data::part::pools::behind;
use crate::error::{Error, Kind, Result, check_some};
use crate::kernels::stack::Layout;
use crate::space::ElementsMut;

const OVERWRITTEN: Error =
    Error::new(Kind::Range, "memory: frames that no writer has overwritten meanwhile, from number");

/// Output for the data of frames beside their columns, `[B, len]` each, zeros after a shorter sequence; `None` is left out.
#[derive(Debug, Default)]
pub struct FramesOut<'a> {
    /// Rewards.
    pub reward: Option<&'a mut [f32]>,
    /// 1 where the task ended.
    pub terminated: Option<&'a mut [u8]>,
    /// 1 where the episode was cut.
    pub truncated: Option<&'a mut [u8]>,
    /// 1 where there is a frame.
    pub valid: Option<&'a mut [u8]>,
}

impl View<'_> {
    /// Copies one column of sequences, `[B, len, stack, ...]` in this layout as
    /// [`gather_runs`](crate::data::table::View::gather_runs) does: the frames of each sequence, then zeros.
    ///
    /// Errors: `Range` if a frame is not held, was dropped since the draw, or belongs to a sequence longer than `len`; `Range`
    /// for the column; `Shape`. Nothing is written then. Also `Range` if a concurrent writer has overwritten a frame meanwhile;
    /// the output is invalid then.
    pub fn gather(
        &self,
        column: usize,
        samples: &[Sample],
        len: usize,
        layout: Layout,
        out: ElementsMut<'_>,
    ) -> Result {
        let description = self.config.table.column(column)?;
        let width = description.read_len();
        let needed = samples.len().saturating_mul(len).saturating_mul(width);
        let what = "memory: out [B, len] with elements for every frame as it is read,";
        Error::limit(Kind::Shape, what, needed, out.len()).fail_if(out.len() != needed)?;
        let mut rest = out;
        // Without sequences, this only checks that the column can be read as elements of this kind.
        self.table.gather_runs(column, &[], len, layout, rest.get(0, 0).ok_or(SHAPE)?)?;
        self.check(samples, len, description.stack() > 1)?;
        for sample in samples {
            let (run, tail) = sample.runs();
            let head_len = if tail.is_some() { run.len as usize } else { len };
            let (head, others) = rest.split_at(head_len.saturating_mul(width)).ok_or(SHAPE)?;
            self.table.gather_runs(column, &[run], head_len, layout, head)?;
            rest = others;
            if let Some(tail) = tail {
                let tail_len = len.saturating_sub(head_len);
                let (last, others) = rest.split_at(tail_len.saturating_mul(width)).ok_or(SHAPE)?;
                self.table.gather_runs(column, &[tail], tail_len, layout, last)?;
                rest = others;
            }
        }
        Ok(())
    }

    /// Copies rewards and flags of the frames of sequences, `[B, len]`.
    /// Errors: `Range` as [`View::gather`]; `Shape`. Nothing is written then.
    pub fn gather_frames(&self, samples: &[Sample], len: usize, out: FramesOut<'_>) -> Result {
        let cells = samples.len().saturating_mul(len);
        check_some("memory: reward [B, len],", &out.reward, cells)?;
        check_some("memory: terminated [B, len],", &out.terminated, cells)?;
        check_some("memory: truncated [B, len],", &out.truncated, cells)?;
        check_some("memory: valid [B, len],", &out.valid, cells)?;
        self.check(samples, len, false)?;
        let head = self.read_state()?;
        if let Some(out) = out.reward {
            self.copy(&head, samples, len, self.reward, out)?;
        }
        if let Some(out) = out.terminated {
            self.copy(&head, samples, len, self.terminated, out)?;
        }
        if let Some(out) = out.truncated {
            self.copy(&head, samples, len, self.truncated, out)?;
        }
        if let Some(out) = out.valid {
            let mut rest = out;
            for sample in samples {
                let to = rest.split_off_mut(..len).ok_or(SHAPE)?;
                let (ones, zeros) = to.split_at_mut_checked(sample.len as usize).ok_or(SHAPE)?;
                ones.fill(1);
                zeros.fill(0);
            }
        }
        self.table.rings().check_held(samples.iter().map(|sample| (0, sample.first)))
    }

    /// Checks that these are sequences of at most `len` frames, that all are held, and with `stacks` also the frames of their
    /// stacks.
    /// Errors: `Range`.
    pub fn check(&self, samples: &[Sample], len: usize, stacks: bool) -> Result {
        for sample in samples {
            let needs_two = sample.gap != 0 && sample.len < 2;
            Error::new(Kind::Range, "memory: a sample that was drawn, of frames")
                .given(sample.len as usize)
                .fail_if(sample.len == 0 || sample.burn_in >= sample.len || sample.priority > 1 || needs_two)?;
            let what = "memory: samples of at most len frames,";
            Error::limit(Kind::Range, what, len, sample.len as usize).fail_if(sample.len as usize > len)?;
            let (run, tail) = sample.runs();
            self.table.check_run(&run, len, stacks)?;
            if let Some(tail) = tail {
                self.table.check_run(&tail, len, stacks)?;
            }
        }
        Ok(())
    }

    fn copy<T: Pod>(&self, now: &Moment, samples: &[Sample], len: usize, ring: &[T], out: &mut [T]) -> Result {
        let frames = self.config.history_size();
        let mut rest = out;
        for sample in samples {
            let mut to = rest.split_off_mut(..len).ok_or(SHAPE)?;
            let (run, tail) = sample.runs();
            for run in [Some(run), tail].into_iter().flatten() {
                let back = now.end.wrapping_sub(run.number);
                OVERWRITTEN.needed(now.start as usize).given(run.number as usize).fail_if(back > frames.into())?;
                let slot = behind(now.head, back as u32, frames);
                let (early, late) = ring.split_at_checked(slot).ok_or(SHAPE)?;
                let run_to = to.split_off_mut(..run.len as usize).ok_or(SHAPE)?;
                let (first, wrapped) = run_to.split_at_mut(late.len().min(run.len as usize));
                block::copy(first, late);
                block::copy(wrapped, early);
            }
            to.fill(T::zeroed());
        }
        Ok(())
    }
}
