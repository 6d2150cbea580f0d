//! Empty replacement of the replay store, in builds without learners over one.

use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use crate::block::{Cutter, Field, Fit, Plan, TooLong};

/// Empty spans.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(in crate::learn) struct ReplaySpans {}

/// Empty replay store, mutable.
#[derive(Default)]
pub(in crate::learn) struct Replay<'a>(PhantomData<&'a ()>);

impl<'a> Replay<'a> {
    pub(in crate::learn) fn cut_some<const ALL: bool>(_: &mut Cutter<'a>, _: &ReplaySpans) -> Fit<Self> {
        Ok(Replay::default())
    }

    pub(in crate::learn) fn read(&self) -> ReplayView<'_> {
        ReplayView::default()
    }
}

/// Empty replay store, read-only.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct ReplayView<'a>(PhantomData<&'a ()>);

impl<'a> ReplayView<'a> {
    pub(in crate::learn) fn of(_: &'a [u8], _: &ReplaySpans) -> Fit<Self> {
        Ok(ReplayView::default())
    }
}

/// Empty lengths of a batch.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct BatchLens {
    /// 0.
    pub(in crate::learn) rows: usize,
}

/// Empty working arrays of a batch.
pub(in crate::learn) struct BatchWork;

impl Field for BatchWork {
    type Len<'a> = BatchLens;
    type Span = ReplaySpans;
    type Mut<'a> = ();
    type Ref<'a> = ();

    fn plan(_: &mut Plan, _: BatchLens) -> Result<ReplaySpans, TooLong> {
        Ok(ReplaySpans {})
    }

    fn cut<'a, const ALL: bool>(_: &mut Cutter<'a>, _: &ReplaySpans) -> Fit<()> {
        Ok(())
    }

    fn view<'a>(_: &'a [u8], _: &ReplaySpans) -> Fit<()> {
        Ok(())
    }

    fn read<'a>(_: &'a ()) {}
}
