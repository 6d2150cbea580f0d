//! The lists that Atari learners share, ready made.

use core::ops::Deref;

use super::pipeline::MAX_WRAPPERS;
use super::wrapper::Wrapper;

/// A list of wrappers: a slice of them that owns its place.
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

/// Where [`Wrapper::EpisodicLife`] stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum LifeOrder {
    /// Around everything that changes observations: after a life is lost no FIRE is pressed and a stack goes on.
    #[default]
    Outermost = 0,
    /// Around `MaxAndSkip`, as in the Baselines: each life starts like a game.
    Classic = 1,
}

/// What becomes of an Atari screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Screen {
    /// It stays what it is.
    Whole = 0,
    /// 84 by 84 gray bytes.
    #[default]
    Gray84 = 1,
    /// 42 by 42 numbers from 0 to 1.
    Mean42 = 2,
}

/// Which of the usual wrappers a game of Atari wears. The default is DeepMind's: no stack and no scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atari {
    /// Most no-ops at the start of a game; 0 leaves `NoopReset` out.
    pub noop_max: u32,
    /// Steps for each action; 0 leaves `MaxAndSkip` out.
    pub skip: u32,
    /// For games with a FIRE action: `FireReset` with actions 1 and 2.
    pub fire_reset: bool,
    /// `EpisodicLife`.
    pub episodic_life: bool,
    /// Where it stands.
    pub life_order: LifeOrder,
    /// `WarpFrame` or `AtariRescale`.
    pub screen: Screen,
    /// `ScaledFloat`; not for 42 by 42 numbers, which are scaled already.
    pub scale: bool,
    /// `ClipReward`.
    pub clip_reward: bool,
    /// Observations in a stack; 0 leaves `FrameStack` out.
    pub stack: u32,
    /// `ChannelsFirst`.
    pub channels_first: bool,
    /// `Record`.
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
    /// `make_atari`: no-ops at the start and four steps for each action.
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

    /// The 42 by 42 screen alone, as the asynchronous agents saw it.
    pub const SMALL: Atari = Atari { noop_max: 0, skip: 0, screen: Screen::Mean42, ..Atari::BASE };

    /// What the environment spawner puts on: a stack of four, channel by channel, with the facts of its step; rewards are
    /// left to the learner.
    pub fn spawner() -> Atari {
        Atari { clip_reward: false, stack: 4, channels_first: true, record: true, ..Atari::default() }
    }

    /// The list.
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
