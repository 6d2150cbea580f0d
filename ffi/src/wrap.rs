//! Wrappers as a list of plain structures.

use core::ffi::{c_char, c_void};
use core::mem::take;
use core::ptr::null_mut;

use crate::lifecycle;
use crate::mirror::versioned;
use crate::ptr::{self, One, Output, Plain, args};
use crate::status::{About, Fault, Result, call, places, rlcore_status};
use rlcore::env::wrap::{Atari, LifeOrder, Observe, Screen, Wrapper};
use rlcore::error::{Error, Kind};
use rlcore::space::{Elements, ElementsMut};

/// Effect of a wrapper, followed by the fields of rlcore_wrapper that it reads; all other fields must be zero.
/// No-op reset: after each reset of the inner environment, draws the number of no-ops from the environment's stream,
/// uniform from 1 to noop_max; with noop_count it draws nothing. If an episode ends during the no-ops, it is reset and the
/// remaining no-ops follow.
/// Max and skip: if an episode ends during a skip, the result is the elementwise maximum of the last two observations so
/// far, or the only one, and the sum of the rewards. The first observation of an episode is passed through.
/// Frame stack: the first observation of an episode fills the whole stack. Inside episodic life, the stack carries over to
/// the next life.
/// Record: its fields are frame (with a leading dimension of 1), reward f32, done u8, episode_return f32, episode_step i32,
/// last_action and real_done u8; rlcore_env_fields gives their offsets. Each end of an episode is reported once. With
/// same-step autoreset, final_obs and the first record of the next episode both describe the step that ended the episode
/// and differ only in frame. In the other modes, and after a reset with a seed, the first record of an episode is zeros.
/// If the batch's max_episode_steps or a reset without a seed cuts an episode, the first record of the next one reports it
/// with done; to have it reported in its own step, put a time limit in the list.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_wrap {
    /// truncates episodes after this many steps of the inner environment: steps
    RLCORE_WRAP_TIME_LIMIT = 1,
    /// starts episodes with random or noop_count no-ops: noop_max, noop_count, noop
    RLCORE_WRAP_NOOP_RESET = 2,
    /// starts episodes with two actions that start a game: fire, second
    RLCORE_WRAP_FIRE_RESET = 3,
    /// ends the episode when a life is lost; the game continues in the next one: noop
    RLCORE_WRAP_EPISODIC_LIFE = 4,
    /// repeats actions, sums rewards, takes the maximum of the last two obs: count
    RLCORE_WRAP_MAX_AND_SKIP = 5,
    /// repeats actions and sums rewards: count
    RLCORE_WRAP_ACTION_REPEAT = 6,
    /// repeats the previous action with this probability: probability
    RLCORE_WRAP_STICKY_ACTIONS = 7,
    /// maps actions from [low, high] to the bounds of the action space: low, high
    RLCORE_WRAP_RESCALE_ACTION = 8,
    /// clips actions to the bounds of the action space
    RLCORE_WRAP_CLIP_ACTION = 9,
    /// replaces the reward by its sign
    RLCORE_WRAP_CLIP_REWARD = 10,
    /// multiplies the reward: factor
    RLCORE_WRAP_SCALE_REWARD = 11,
    /// resizes images as OpenCV's INTER_AREA: height, width, gray, field
    RLCORE_WRAP_WARP_FRAME = 12,
    /// crops and resizes 210 by 160 RGB images to 42 by 42 floats in [0, 1]
    RLCORE_WRAP_ATARI_RESCALE = 13,
    /// converts bytes to floats in [0, 1]
    RLCORE_WRAP_SCALED_FLOAT = 14,
    /// stacks the last observations along the last axis, oldest first: count
    RLCORE_WRAP_FRAME_STACK = 15,
    /// transposes [height, width, channels] to [channels, height, width]
    RLCORE_WRAP_CHANNELS_FIRST = 16,
    /// concatenates all fields of the observation as one row: one_hot
    RLCORE_WRAP_FLATTEN = 17,
    /// keeps one field of the observation: field
    RLCORE_WRAP_EXTRACT = 18,
    /// adds reward, done and other data of the step as fields: see above
    RLCORE_WRAP_RECORD = 19,
    /// applies the caller's function to the observation: len, observe, user
    RLCORE_WRAP_OBSERVE = 20,
}

/// Computes an observation from another. row: the number of the environment within its block; obs: the output of the inner
/// wrappers; out: [len] floats to write. Returns 0, or nonzero to stop with E_CALLBACK. May run on several threads at once.
/// Exceptions and longjmp must not leave it.
pub type rlcore_observe_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, row: u32, obs: *const c_void, out: *mut f32) -> i32>;

/// One wrapper: a kind and its parameters, e.g. { .kind = RLCORE_WRAP_FRAME_STACK, .count = 4 }. Fields that the kind does
/// not read must be zero. Zero selects the default where one is given.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_wrapper {
    /// an rlcore_wrap
    pub kind: u32,
    /// steps for each action, or observations in a stack; 0: 4
    pub count: u32,
    /// at least 1
    pub steps: u32,
    /// maximum number of no-ops; 0: 30
    pub noop_max: u32,
    /// exact number of no-ops; 0: random, up to noop_max
    pub noop_count: u32,
    /// the action that does nothing
    pub noop: u32,
    /// the action pressed first; 0: 1
    pub fire: u32,
    /// the action pressed second; 0: 2
    pub second: u32,
    /// 0 to 1
    pub probability: f32,
    /// maps to the lower bound; -1 if high is 0 too
    pub low: f32,
    /// maps to the upper bound; 1 if low is 0 too
    pub high: f32,
    /// finite, not 0
    pub factor: f32,
    /// rows of the result; 0: 84
    pub height: u32,
    /// columns of the result; 0: 84
    pub width: u32,
    /// 1: one luma channel; 0: the image's own channels
    pub gray: u32,
    /// elements that observe writes
    pub len: u32,
    /// name of a field of the observation, NUL-terminated; "": the only one
    pub field: [c_char; 24],
    /// 1: floats, and each RLCORE_I32 as many of them as it has choices, 1 for the one that it is and 0 for the others; obs.n
    /// must say how many. 0: bytes if all fields are bytes, else floats of the same values
    pub one_hot: u32,
    /// zero
    pub reserved: [u32; 3],
    /// required for RLCORE_WRAP_OBSERVE
    pub observe: rlcore_observe_fn,
    /// passed to observe, never read
    pub user: *mut c_void,
}

// SAFETY: plain data; any callback pointer is a value, also NULL.
unsafe impl Plain for rlcore_wrapper {}

// SAFETY: `observe` may run on several threads at once, by its contract.
unsafe impl Sync for rlcore_wrapper {}

impl Observe for rlcore_wrapper {
    fn observe(&self, row: usize, obs: Elements<'_>, out: ElementsMut<'_>) -> rlcore::error::Result {
        let missing = Error::new(Kind::Null, "wrappers: observe is NULL.");
        let observe = self.observe.ok_or(missing)?;
        // SAFETY: the core passes the observation of the inner wrappers and room for `len` numbers.
        let code = unsafe { observe(self.user, row as u32, ptr::start(obs), out.f32()?.as_mut_ptr()) };
        if code == 0 {
            Ok(())
        } else {
            Err(Error::new(Kind::Callback, "wrappers: observe failed in environment {given}."))
        }
    }
}

/// Names of wrappers in error messages.
const PLACES: [&str; 16] = places!("wrappers" 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

/// A failure of one wrapper of a list.
pub fn fault(place: usize, error: Error) -> Fault {
    Fault::at(PLACES.get(place).copied().unwrap_or("wrappers"), error)
}

impl rlcore_wrapper {
    /// All fields zero.
    // SAFETY: plain numbers, and pointers that may be NULL.
    pub const NONE: rlcore_wrapper = unsafe { core::mem::zeroed() };

    /// The wrapper in the core's form. Errors: `Config`, `Null`, which name its place in the list.
    pub fn wrapper(&self, place: usize) -> Result<Wrapper<'_>> {
        // The fields that the kind reads are taken out of `rest`; all others must be zero.
        let mut rest = *self;
        let or = |value: &mut u32, default: u32| match take(value) {
            0 => default,
            given => given,
        };
        let refuse = |error| Err(fault(place, error));
        let wrapper = match take(&mut rest.kind) {
            1 => Wrapper::TimeLimit { steps: take(&mut rest.steps) },
            2 => Wrapper::NoopReset {
                max: or(&mut rest.noop_max, 30),
                exactly: take(&mut rest.noop_count),
                noop: take(&mut rest.noop),
            },
            3 => Wrapper::FireReset { fire: or(&mut rest.fire, 1), second: or(&mut rest.second, 2) },
            4 => Wrapper::EpisodicLife { noop: take(&mut rest.noop) },
            5 => Wrapper::MaxAndSkip { count: or(&mut rest.count, 4) },
            6 => Wrapper::ActionRepeat { count: or(&mut rest.count, 4) },
            7 => Wrapper::StickyActions { probability: take(&mut rest.probability) },
            8 => match (take(&mut rest.low), take(&mut rest.high)) {
                (0.0, 0.0) => Wrapper::RescaleAction { low: -1.0, high: 1.0 },
                (low, high) => Wrapper::RescaleAction { low, high },
            },
            9 => Wrapper::ClipAction,
            10 => Wrapper::ClipReward,
            11 => match take(&mut rest.factor) {
                0.0 => return refuse(Error::new(Kind::Config, "a factor other than 0")),
                factor => Wrapper::ScaleReward { factor },
            },
            12 => {
                let gray = take(&mut rest.gray);
                if gray > 1 {
                    return refuse(Error::new(Kind::Config, "gray of 0 or 1").given(gray as usize));
                }
                rest.field = [0; 24];
                Wrapper::WarpFrame {
                    height: or(&mut rest.height, 84),
                    width: or(&mut rest.width, 84),
                    gray: gray != 0,
                    field: name(&self.field).map_err(|e| fault(place, e))?,
                }
            }
            13 => Wrapper::AtariRescale,
            14 => Wrapper::ScaledFloat,
            15 => Wrapper::FrameStack { count: or(&mut rest.count, 4) },
            16 => Wrapper::ChannelsFirst,
            17 => match take(&mut rest.one_hot) {
                0 => Wrapper::Flatten,
                1 => Wrapper::OneHot,
                other => return refuse(Error::new(Kind::Config, "one_hot of 0 or 1").given(other as usize)),
            },
            18 => {
                rest.field = [0; 24];
                Wrapper::Extract { field: name(&self.field).map_err(|e| fault(place, e))? }
            }
            19 => Wrapper::Record,
            20 => {
                rest.user = null_mut();
                if rest.observe.take().is_none() {
                    return refuse(Error::new(Kind::Null, "observe is NULL."));
                }
                Wrapper::Observe { len: take(&mut rest.len), observe: self }
            }
            _ => return refuse(Error::new(Kind::Config, "a kind from 1 to 20").given(self.kind as usize)),
        };
        if let Some(field) = rest.first_set() {
            return refuse(Error::new(Kind::Config, field).given(self.kind as usize));
        }
        Ok(wrapper)
    }

    /// The error text for the first field that is not zero.
    fn first_set(&self) -> Option<&'static str> {
        macro_rules! unread {
            ($($field:ident: $is_set:expr),* $(,)?) => {
                [$((concat!(stringify!($field), " of 0, as this kind does not read it; kind is"), $is_set)),*]
            };
        }
        let fields = unread![
            count: self.count != 0,
            steps: self.steps != 0,
            noop_max: self.noop_max != 0,
            noop_count: self.noop_count != 0,
            noop: self.noop != 0,
            fire: self.fire != 0,
            second: self.second != 0,
            probability: self.probability.to_bits() != 0,
            low: self.low.to_bits() != 0,
            high: self.high.to_bits() != 0,
            factor: self.factor.to_bits() != 0,
            height: self.height != 0,
            width: self.width != 0,
            gray: self.gray != 0,
            len: self.len != 0,
            field: self.field.iter().any(|&c| c != 0),
            one_hot: self.one_hot != 0,
            reserved: self.reserved.iter().any(|&x| x != 0),
            observe: self.observe.is_some(),
            user: !self.user.is_null(),
        ];
        fields.iter().find(|(_, is_set)| *is_set).map(|(what, _)| *what)
    }
}

/// A name that ends in 0. Errors: `Config`.
pub fn name(chars: &[c_char; 24]) -> rlcore::error::Result<&str> {
    ptr::ascii(chars).ok_or(Error::new(Kind::Config, "a name of up to 23 bytes of ASCII that ends in 0"))
}

/// Format to which an Atari screen is converted.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_atari_screen {
    /// unchanged
    RLCORE_ATARI_WHOLE = 0,
    /// 84 by 84 gray bytes
    RLCORE_ATARI_GRAY84 = 1,
    /// 42 by 42 floats in [0, 1]
    RLCORE_ATARI_MEAN42 = 2,
}

/// Position of episodic life in the list.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_atari_order {
    /// outermost: FIRE is not pressed after a lost life, and a stack carries over
    RLCORE_ATARI_SEED = 0,
    /// around max and skip, as in OpenAI Baselines: each life starts like a game
    RLCORE_ATARI_CLASSIC = 1,
}

/// The usual wrappers for Atari games. The defaults are those of Baselines' make_atari and wrap_deepmind. For
/// pytorch_seed_rl's EnvSpawner: clip_reward 0, stack 4, channels_first 1, record 1. For 42 by 42 agents: screen
/// RLCORE_ATARI_MEAN42, all else 0.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_atari_config {
    /// bytes; set by rlcore_atari_config_init
    pub struct_size: u32,
    /// maximum number of no-ops at the start of a game; 0: none; default 30
    pub noop_max: u32,
    /// steps for each action; 0: no skipping; default 4
    pub skip: u32,
    /// 1: press actions 1 and 2 first, for games with FIRE; default 1
    pub fire_reset: u32,
    /// 1: an episode for each life; default 1
    pub episodic_life: u32,
    /// an rlcore_atari_order; default RLCORE_ATARI_SEED
    pub order: u32,
    /// an rlcore_atari_screen; default RLCORE_ATARI_GRAY84
    pub screen: u32,
    /// 1: floats in [0, 1]; default 0
    pub scale: u32,
    /// 1: the sign of the reward; default 1
    pub clip_reward: u32,
    /// observations in a stack; 0 (default): no stack
    pub stack: u32,
    /// 1: [channels, height, width]; default 0
    pub channels_first: u32,
    /// 1: add RLCORE_WRAP_RECORD; default 0
    pub record: u32,
}

versioned!(rlcore_atari_config, "atari config", record, {
    let a = Atari::default();
    rlcore_atari_config {
        noop_max: a.noop_max,
        skip: a.skip,
        fire_reset: a.fire_reset.into(),
        episodic_life: a.episodic_life.into(),
        order: a.life_order as u32,
        screen: a.screen as u32,
        scale: a.scale.into(),
        clip_reward: a.clip_reward.into(),
        stack: a.stack,
        channels_first: a.channels_first.into(),
        record: a.record.into(),
        ..ptr::zeros()
    }
});

unsafe fn atari(p: *const rlcore_atari_config) -> Result<Atari> {
    let c = unsafe { ptr::sized(p)? };
    let screen = match c.screen {
        0 => Screen::Whole,
        1 => Screen::Gray84,
        2 => Screen::Mean42,
        other => {
            let unknown = Error::new(Kind::Config, "an rlcore_atari_screen").given(other as usize);
            return Err(Fault::at("atari config: screen", unknown));
        }
    };
    let classic = ptr::switch("atari config: order", c.order)?;
    Ok(Atari {
        noop_max: c.noop_max,
        skip: c.skip,
        fire_reset: ptr::switch("atari config: fire_reset", c.fire_reset)?,
        episodic_life: ptr::switch("atari config: episodic_life", c.episodic_life)?,
        life_order: if classic { LifeOrder::Classic } else { LifeOrder::Outermost },
        screen,
        scale: ptr::switch("atari config: scale", c.scale)?,
        clip_reward: ptr::switch("atari config: clip_reward", c.clip_reward)?,
        stack: c.stack,
        channels_first: ptr::switch("atari config: channels_first", c.channels_first)?,
        record: ptr::switch("atari config: record", c.record)?,
    })
}

impl rlcore_wrapper {
    /// The C form of a wrapper of a preset.
    fn of(wrapper: &Wrapper<'_>) -> Self {
        let none = rlcore_wrapper::NONE;
        match *wrapper {
            Wrapper::NoopReset { max, exactly, noop } => {
                rlcore_wrapper { kind: 2, noop_max: max, noop_count: exactly, noop, ..none }
            }
            Wrapper::FireReset { fire, second } => rlcore_wrapper { kind: 3, fire, second, ..none },
            Wrapper::EpisodicLife { noop } => rlcore_wrapper { kind: 4, noop, ..none },
            Wrapper::MaxAndSkip { count } => rlcore_wrapper { kind: 5, count, ..none },
            Wrapper::ClipReward => rlcore_wrapper { kind: 10, ..none },
            Wrapper::WarpFrame { height, width, gray, .. } => {
                rlcore_wrapper { kind: 12, height, width, gray: gray.into(), ..none }
            }
            Wrapper::AtariRescale => rlcore_wrapper { kind: 13, ..none },
            Wrapper::ScaledFloat => rlcore_wrapper { kind: 14, ..none },
            Wrapper::FrameStack { count } => rlcore_wrapper { kind: 15, count, ..none },
            Wrapper::ChannelsFirst => rlcore_wrapper { kind: 16, ..none },
            Wrapper::Record => rlcore_wrapper { kind: 19, ..none },
            // No preset has another; kind 0 is refused by every call.
            _ => none,
        }
    }
}

/// Fills in the defaults. Writes config_size bytes, so that callers with an older, smaller struct are safe.
/// Errors: E_SIZE.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_atari_config_init(
    config: *mut rlcore_atari_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Writes the usual wrappers for an Atari game whose observations are RLCORE_U8 screens [height, width, 3].
/// out: [capacity], of which *out_len are written, at most 11; rlcore_env_def.wrappers may point to it.
/// Errors: E_CONFIG; E_SIZE if capacity is too small.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_wrappers_atari(
    config: *const rlcore_atari_config,
    out: *mut rlcore_wrapper,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let list = atari(config)?.list();
        let (out, out_len) = args((Output::at("out", out, capacity as usize)?, One::at("out_len", out_len)?))?;
        let short = Error::limit(Kind::Size, "at least {needed} wrappers", list.len(), capacity as usize);
        short.fail_if(list.len() > capacity as usize).about("out")?;
        for (to, from) in out.iter_mut().zip(list.iter()) {
            *to = rlcore_wrapper::of(from);
        }
        *out_len = list.len() as u32;
        Ok(())
    })
}
