//! Common lists of wrappers for Atari.

use core::ops::Deref;

use super::pipeline::MAX_WRAPPERS;
use super::wrapper::Wrapper;

/// A list of wrappers of fixed capacity, which dereferences to a slice.
#[derive(Clone, Copy)]
pub struct Preset {
    wrappers: [Wrapper<'static>; MAX_WRAPPERS],
    len: usize,
}

impl Preset {
    fn new() -> Self {
        Preset { wrappers: [Wrapper::ClipReward; MAX_WRAPPERS], len: 0 }
    }

    fn add(&mut self, wanted: bool, wrapper: Wrapper<'static>) {
        if let Some(place) = self.wrappers.get_mut(self.len).filter(|_| wanted) {
            *place = wrapper;
            self.len = self.len.saturating_add(1);
        }
    }
}

impl Deref for Preset {
    type Target = [Wrapper<'static>];

    fn deref(&self) -> &[Wrapper<'static>] {
        self.wrappers.get(..self.len).unwrap_or(&self.wrappers)
    }
}

/// Position of [`Wrapper::EpisodicLife`] in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum LifeOrder {
    /// Outside all wrappers that change observations: after a life is lost, FIRE is not pressed and a frame stack
    /// continues.
    #[default]
    Outermost = 0,
    /// Directly around `MaxAndSkip`, as in the Baselines: each life starts like a game.
    Classic = 1,
}

/// Preprocessing of the Atari screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Screen {
    /// Unchanged.
    Whole = 0,
    /// 84 by 84 gray bytes.
    #[default]
    Gray84 = 1,
    /// 42 by 42 numbers from 0 to 1.
    Mean42 = 2,
}

/// Selection of the usual Atari wrappers. The default is DeepMind's, without stack and scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atari {
    /// Maximum number of no-ops at the start of a game; 0 omits `NoopReset`.
    pub noop_max: u32,
    /// Steps per action; 0 omits `MaxAndSkip`.
    pub skip: u32,
    /// `FireReset` with actions 1 and 2, for games with a FIRE action.
    pub fire_reset: bool,
    /// Adds `EpisodicLife`.
    pub episodic_life: bool,
    /// Position of `EpisodicLife`.
    pub life_order: LifeOrder,
    /// Screen preprocessing: `WarpFrame` or `AtariRescale`.
    pub screen: Screen,
    /// Adds `ScaledFloat`; not for 42 by 42 numbers, which are already scaled.
    pub scale: bool,
    /// Adds `ClipReward`.
    pub clip_reward: bool,
    /// Number of stacked observations; 0 omits `FrameStack`.
    pub stack: u32,
    /// Adds `ChannelsFirst`.
    pub channels_first: bool,
    /// Adds `Record`.
    pub record: bool,
}

impl Default for Atari {
    fn default() -> Self {
        Atari {
            fire_reset: true,
            episodic_life: true,
            life_order: LifeOrder::Outermost,
            screen: Screen::Gray84,
            clip_reward: true,
            ..Atari::BASE
        }
    }
}

impl Atari {
    /// `make_atari`: no-ops at the start and four steps per action.
    pub const BASE: Atari = Atari {
        noop_max: 30,
        skip: 4,
        fire_reset: false,
        episodic_life: false,
        life_order: LifeOrder::Outermost,
        screen: Screen::Whole,
        scale: false,
        clip_reward: false,
        stack: 0,
        channels_first: false,
        record: false,
    };

    /// Only the 42 by 42 screen, as used by the asynchronous agents.
    pub const SMALL: Atari = Atari { noop_max: 0, skip: 0, screen: Screen::Mean42, ..Atari::BASE };

    /// Wrappers of the environment spawner: a stack of four frames, channels first, with `Record`. Rewards are not
    /// clipped; this is left to the learner.
    pub fn spawner() -> Atari {
        Atari { clip_reward: false, stack: 4, channels_first: true, record: true, ..Atari::default() }
    }

    /// The list of wrappers.
    pub fn list(&self) -> Preset {
        let life = |order| self.episodic_life && self.life_order == order;
        let mut list = Preset::new();
        list.add(self.noop_max > 0, Wrapper::NoopReset { max: self.noop_max, exactly: 0, noop: 0 });
        list.add(self.skip > 0, Wrapper::MaxAndSkip { count: self.skip });
        list.add(life(LifeOrder::Classic), Wrapper::EpisodicLife { noop: 0 });
        list.add(self.fire_reset, Wrapper::FireReset { fire: 1, second: 2 });
        let warp = Wrapper::WarpFrame { height: 84, width: 84, gray: true, field: "" };
        list.add(self.screen == Screen::Gray84, warp);
        list.add(self.screen == Screen::Mean42, Wrapper::AtariRescale);
        list.add(self.scale, Wrapper::ScaledFloat);
        list.add(self.clip_reward, Wrapper::ClipReward);
        list.add(self.stack > 0, Wrapper::FrameStack { count: self.stack });
        list.add(life(LifeOrder::Outermost), Wrapper::EpisodicLife { noop: 0 });
        list.add(self.channels_first, Wrapper::ChannelsFirst);
        list.add(self.record, Wrapper::Record);
        list
    }
}
