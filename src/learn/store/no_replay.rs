//! In builds without learners over a store, nothing in its place.

use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use crate::block::{Cutter, Field, Fit, Plan, TooLong};

/// Nowhere.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(in crate::learn) struct ReplaySpans {}

/// Nothing to write.
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

/// Nothing to read.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct ReplayView<'a>(PhantomData<&'a ()>);

impl<'a> ReplayView<'a> {
    pub(in crate::learn) fn of(_: &'a [u8], _: &ReplaySpans) -> Fit<Self> {
        Ok(ReplayView::default())
    }
}

/// No lengths of a batch.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct BatchLens {
    /// 0.
    pub(in crate::learn) rows: usize,
}

/// No working arrays of a batch.
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
