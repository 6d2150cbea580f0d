//! Environments that C supplies, as the core sees them.

use core::ffi::c_void;

use crate::mirror::versioned;
use crate::ptr::{self, Extent, Input, Plain};
use crate::rng::rlcore_rng;
use crate::space::{self, rlcore_field, rlcore_space};
use crate::status::{About, Fault, Result};
use crate::wrap::{self, rlcore_wrapper};
use rlcore::env::wrap::{MAX_FIELDS, MAX_WRAPPERS, Pipeline};
use rlcore::env::{Builtin, Env, Level, Setup, Spec, Step, StepOut};
use rlcore::error::{self, Error, Kind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

/// Result of a step besides the observation. All zero when the callback is entered.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_step {
    /// finite
    pub reward: f32,
    /// nonzero: the task reached a terminal state
    pub terminated: u8,
    /// nonzero: the environment itself cut the episode; rlcore_vecenv applies time limits
    pub truncated: u8,
    /// zero
    pub reserved: [u8; 2],
}

/// Starts an episode: changes state, draws from rng, writes obs.
/// For all callbacks: the arguments are valid during the call only. Return 0, or nonzero to stop the call with E_CALLBACK.
/// They may run on several threads at once, but never for the same environment. They may call the library,
/// but not with the block that is calling them: its contents may be lost, nothing else is affected.
/// Exceptions and longjmp must not leave a callback. Catch them and return nonzero: that environment has failed and must be
/// reset; the others are unaffected.
pub type rlcore_env_reset_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, state: *mut c_void, rng: *mut rlcore_rng, obs: *mut c_void) -> i32>;

/// Level in which an environment with levels restarts.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_level {
    /// a new one that it chooses
    RLCORE_LEVEL_NEW = 0,
    /// the one that just ended
    RLCORE_LEVEL_SAME = 1,
}

/// Starts the next episode of an environment that was reset before, in the given level. level: an rlcore_level.
pub type rlcore_env_restart_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        state: *mut c_void,
        rng: *mut rlcore_rng,
        level: u32,
        obs: *mut c_void,
    ) -> i32,
>;

/// Takes one step. action: [action.len]; obs: [obs.len] to write.
pub type rlcore_env_step_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        state: *mut c_void,
        rng: *mut rlcore_rng,
        action: *const c_void,
        obs: *mut c_void,
        out: *mut rlcore_step,
    ) -> i32,
>;

/// Draws the environment. rgb: [height, width, 3], rows from the top.
pub type rlcore_env_render_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, state: *const c_void, width: u32, height: u32, rgb: *mut u8) -> i32>;

/// Returns the number of lives left.
pub type rlcore_env_lives_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, state: *const c_void, out_lives: *mut u32) -> i32>;

/// Writes 1 for each choice that is allowed now, else 0. mask: [sum of action.n].
pub type rlcore_env_action_mask_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, state: *const c_void, mask: *mut u8) -> i32>;

/// An environment: its properties and functions. Passed to every call, never stored.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_env_def {
    /// sizeof(rlcore_env_def)
    pub struct_size: u32,
    /// the caller's number for this kind, 0 or at least 1000; stored in blocks. An rlcore_env_id in a definition from
    /// rlcore_env_builtin
    pub env_id: u32,
    /// bytes of one environment, a multiple of 8; zeroed at init; no pointers
    pub state_size: u32,
    /// episodes are truncated after this many steps; 0: never; kept in blocks
    pub max_episode_steps: u32,
    /// RLCORE_F32, RLCORE_U8 for images, RLCORE_STRUCT with fields of other kinds
    pub obs: rlcore_space,
    /// RLCORE_I32 or RLCORE_F32
    pub action: rlcore_space,
    /// passed to every callback, never read
    pub user: *mut c_void,
    /// required
    pub reset: rlcore_env_reset_fn,
    /// required
    pub step: rlcore_env_step_fn,
    /// NULL: a black image
    pub render: rlcore_env_render_fn,
    /// NULL: 0 lives
    pub lives: rlcore_env_lives_fn,
    /// NULL: everything is allowed
    pub action_mask: rlcore_env_action_mask_fn,
    /// NULL: episodes start with reset; there are no levels
    pub restart: rlcore_env_restart_fn,
    /// [num_fields] fields of the observation, in order, must not overlap
    pub fields: *const rlcore_field,
    /// 0 to 8
    pub num_fields: u32,
    /// 0 to 16
    pub num_wrappers: u32,
    /// [num_wrappers] innermost first; stored in blocks and compared. obs and action above are those of the unwrapped
    /// environment; rlcore_env_spaces returns those that calls then use
    pub wrappers: *const rlcore_wrapper,
}

versioned!(rlcore_env_def, "env_def", step);

// SAFETY: plain data.
unsafe impl Plain for rlcore_step {}

/// Room for what an environment needs as long as a call lasts; nothing of it is touched for bare ones.
#[derive(Default)]
pub struct Room<'a> {
    fields: Option<[Field<'a>; MAX_FIELDS]>,
    bare: Option<Bare<'a>>,
    pipeline: Option<Pipeline<'a>>,
}

/// A C environment as the core sees one, with its wrappers.
#[derive(Clone, Copy)]
pub struct CEnv<'a> {
    bare: &'a Bare<'a>,
    wrapped: Option<&'a Pipeline<'a>>,
}

/// A C environment without its wrappers.
#[derive(Clone, Copy)]
pub struct Bare<'a> {
    callbacks: Callbacks<'a>,
    /// The caller's own numbers of choices.
    choices: *const u32,
    /// Fields as the caller lists them.
    fields: Extent,
    /// Wrappers as the caller lists them.
    wrappers: Extent,
    /// The environment itself if it is one of the library's own.
    own: Option<&'static Builtin>,
}

/// What the caller says of an environment, and its functions.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    calls: Calls,
    render: rlcore_env_render_fn,
    lives: rlcore_env_lives_fn,
    action_mask: rlcore_env_action_mask_fn,
    spec: Spec<'a>,
}

/// The caller's functions that change a state.
#[derive(Clone, Copy)]
pub struct Calls {
    user: *mut c_void,
    reset: ResetFn,
    step: StepFn,
    restart: rlcore_env_restart_fn,
}

type ResetFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut rlcore_rng, *mut c_void) -> i32;
type StepFn = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    *mut rlcore_rng,
    *const c_void,
    *mut c_void,
    *mut rlcore_step,
) -> i32;

impl rlcore_env_def {
    /// It has no fields and no wrappers.
    #[inline(always)]
    pub fn is_bare(&self) -> bool {
        self.num_fields | self.num_wrappers == 0
    }

    /// The caller's functions that change a state, if none is missing.
    #[inline(always)]
    pub fn calls(&self) -> Option<Calls> {
        Some(Calls { user: self.user, reset: self.reset?, step: self.step?, restart: self.restart })
    }
}

impl<'a> Bare<'a> {
    /// An environment of the caller's own functions.
    #[inline(always)]
    fn of(def: &rlcore_env_def, calls: Calls, obs: Space<'a>, action: Space<'a>) -> Self {
        let &rlcore_env_def { env_id, state_size, max_episode_steps, .. } = def;
        Bare {
            callbacks: Callbacks {
                calls,
                render: def.render,
                lives: def.lives,
                action_mask: def.action_mask,
                spec: Spec { env_id, state_size, max_episode_steps, obs, action, wrappers: 0 },
            },
            choices: def.action.n,
            fields: Extent::NONE,
            wrappers: Extent::NONE,
            own: None,
        }
    }

    /// The environment if it is as nearly all are and right: with spaces that are whole, without fields and wrappers; one of
    /// the library's own or the caller's functions, as is asked. Told in few instructions, for calls that are made all the
    /// time; [`CEnv::at`] knows what to refuse of all others. Of bounds, which no step asks for, only the structure knows.
    ///
    /// # Safety
    /// As [`CEnv::at`].
    #[inline(always)]
    pub unsafe fn plain(def: &rlcore_env_def, own: bool) -> Option<Self> {
        unsafe {
            let calls = def.calls().filter(|_| def.is_bare())?;
            let (own, obs, action) = match own {
                // Spaces as in the table are whole.
                true => (Some(def.own().ok()?), space::known(&def.obs), space::known(&def.action)),
                false => (None, space::whole(&def.obs)?, space::whole(&def.action)?),
            };
            let (obs, action) = (Space { low: &[], high: &[], ..obs }, Space { low: &[], high: &[], ..action });
            Some(Bare { own, ..Bare::of(def, calls, obs, action) })
        }
    }

    #[inline(always)]
    fn own(&self) -> Option<&'static Builtin> {
        if cfg!(feature = "games") { self.own } else { None }
    }

    /// Arrays that describe it.
    fn extents(&self) -> [Extent; 8] {
        let Bare { callbacks: Callbacks { spec, .. }, fields, wrappers, .. } = self;
        let [a, b, c] = space::extents(&space::OBS, &spec.obs);
        let [d, e, f] = space::extents(&space::ACTION, &spec.action);
        [a, b, c, d, e, f, *fields, *wrappers]
    }
}

// SAFETY: callbacks may run on several threads at once, by their contract.
unsafe impl Sync for Bare<'_> {}

impl<'a> CEnv<'a> {
    /// Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// The structure is as long as it says, its arrays as long as its spaces say, its callbacks keep their contracts.
    #[inline(never)]
    pub unsafe fn at(p: *const rlcore_env_def, room: &'a mut Room<'a>) -> Result<Self> {
        let mut other = None;
        // Nothing is written before this returns, and nothing that it returns refers to the structure.
        let def = unsafe { ptr::sized_ref(p, &mut other)? };
        let missing = |what| Fault::at(what, Error::new(Kind::Null, "the function pointer is NULL."));
        let reset = def.reset.ok_or_else(|| missing("env_def: reset"))?;
        let step = def.step.ok_or_else(|| missing("env_def: step"))?;
        let calls = Calls { user: def.user, reset, step, restart: def.restart };
        let own = if def.has_own_id() { Some(def.own().map_err(|changed| def.refuse(changed))?) } else { None };
        let (obs, action) =
            unsafe { (space::space(&space::OBS, &def.obs)?, space::space(&space::ACTION, &def.action)?) };
        let Room { fields, bare, pipeline } = room;
        let bare = bare.insert(Bare { own, ..Bare::of(def, calls, obs, action) });
        if def.num_fields != 0 {
            built_with_wrappers("env_def: fields")?;
            let given = unsafe { array("env_def: fields", def.fields, def.num_fields, MAX_FIELDS)? };
            bare.fields = given.extent();
            bare.callbacks.spec.obs.fields = parts(given.slice(), fields)?;
        }
        // Nobody may take bytes of a structure for numbers, who has this space alone.
        let mixed = def.num_fields != 0 && space::structured(rlcore_space::bare(&bare.callbacks.spec.obs).kind);
        let what = "kind of 3 (bytes of a structure) exactly if fields are of other kinds than bytes";
        let wrong = Error::new(Kind::Config, what).given(def.obs.kind as usize);
        wrong.when(space::structured(def.obs.kind) != mixed).about("obs")?;
        if def.num_wrappers == 0 {
            return Ok(CEnv { bare, wrapped: None });
        }
        let list = unsafe { array("env_def: wrappers", def.wrappers, def.num_wrappers, MAX_WRAPPERS)? };
        bare.wrappers = list.extent();
        let bare = &*bare;
        Ok(CEnv { bare, wrapped: Some(wrap_up(bare, list.slice(), pipeline)?) })
    }

    /// The wrappers, if there are any.
    #[inline]
    pub fn pipeline(&self) -> Option<&'a Pipeline<'a>> {
        if cfg!(feature = "wrappers") { self.wrapped } else { None }
    }

    /// The caller's own numbers of choices.
    pub fn choices(&self) -> *const u32 {
        self.bare.choices
    }

    /// Kinds of the elements of observations and actions.
    #[inline]
    pub fn kinds(&self) -> (Element, Element) {
        let spec = self.spec();
        (spec.obs.kind, spec.action.kind)
    }

    /// Arrays that describe it.
    pub fn extents(&self) -> [Extent; 8] {
        self.bare.extents()
    }
}

/// Refuses what only a library with wrappers knows.
fn built_with_wrappers(what: &'static str) -> Result {
    let left_out = Error::new(Kind::Config, "this library was built without wrappers.");
    left_out.when(!cfg!(feature = "wrappers")).about(what)
}

unsafe fn array<'a, T: Plain>(what: &'static str, p: *const T, len: u32, most: usize) -> Result<Input<'a, T>> {
    Error::limit(Kind::Config, "a list of at most", most, len as usize).when(len as usize > most).about(what)?;
    unsafe { Input::at(what, p, len as usize) }
}

/// The fields as the core knows them.
pub fn parts<'a>(given: &'a [rlcore_field], room: &'a mut Option<[Field<'a>; MAX_FIELDS]>) -> Result<&'a [Field<'a>]> {
    let fields = room.insert([Field::new("", Element::U8, &[], 0); MAX_FIELDS]);
    for (place, (to, from)) in fields.iter_mut().zip(given).enumerate() {
        *to = from.field().map_err(|e| space::fault(place, e))?;
    }
    Ok(fields.get(..given.len()).unwrap_or(&[]))
}

/// The environment within its wrappers.
fn wrap_up<'a>(
    bare: &'a Bare<'a>,
    list: &'a [rlcore_wrapper],
    room: &'a mut Option<Pipeline<'a>>,
) -> Result<&'a Pipeline<'a>> {
    built_with_wrappers("env_def: wrappers")?;
    let pipeline = room.insert(Pipeline::bare(bare)?);
    for (place, wrapper) in list.iter().enumerate() {
        pipeline.wrap(wrapper.wrapper(place)?).map_err(|e| wrap::fault(place, e))?;
    }
    Ok(pipeline)
}

/// Functions of an environment that stands for one of two: those that change a state, or those that look at one.
macro_rules! by_either {
    (changes $choice:ident or $other:ident) => {
        by_either! { $choice $other
            fn configure(state: &mut [u8], setup: &Setup) -> error::Result;
            #[inline]
            fn reset(row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result;
            #[inline]
            fn restart(row: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result;
            #[inline(always)]
            fn step(
                row: usize, state: &mut [u8], rng: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>
            ) -> error::Result<Step>;
            #[inline]
            fn step_rows(state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize;
        }
    };
    (looks $choice:ident or $other:ident) => {
        by_either! { $choice $other
            fn lives(row: usize, state: &[u8]) -> error::Result<u32>;
            fn has_mask() -> bool;
            fn action_mask(row: usize, state: &[u8], mask: &mut [u8]) -> error::Result;
            fn render(row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> error::Result;
        }
    };
    ($choice:ident $other:ident $($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(
            $(#[$meta])*
            fn $name(&self, $($arg: $type),*) -> $out {
                match self.$choice() {
                    Some(env) => env.$name($($arg),*),
                    None => self.$other.$name($($arg),*),
                }
            }
        )*
    };
}

// What is wrapped goes through the pipeline, what is not goes straight to the callbacks.
impl Env for CEnv<'_> {
    #[inline(always)]
    fn spec(&self) -> Spec<'_> {
        self.pipeline().map_or(self.bare.callbacks.spec, Pipeline::spec)
    }

    by_either!(changes pipeline or bare);
    by_either!(looks pipeline or bare);
}

#[inline]
fn done(code: i32, what: &'static str) -> error::Result {
    if code == 0 { Ok(()) } else { Err(Error::new(Kind::Callback, what)) }
}

// The library's own go straight to their steps, the caller's to the functions; looks go to the functions, which the caller
// may have changed.
impl Env for Bare<'_> {
    #[inline(always)]
    fn spec(&self) -> Spec<'_> {
        self.callbacks.spec
    }

    by_either!(changes own or callbacks);

    fn lives(&self, row: usize, state: &[u8]) -> error::Result<u32> {
        self.callbacks.lives(row, state)
    }

    fn has_mask(&self) -> bool {
        self.callbacks.has_mask()
    }

    fn action_mask(&self, row: usize, state: &[u8], mask: &mut [u8]) -> error::Result {
        self.callbacks.action_mask(row, state, mask)
    }

    fn render(&self, row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> error::Result {
        self.callbacks.render(row, state, width, height, rgb)
    }
}

/// What a step asks of an environment.
pub trait Steps: Copy {
    /// They are the library's.
    const OWN: bool;
    /// Those of an environment that is the library's or not, as is asked, if it is as it has to be.
    fn of(def: &rlcore_env_def) -> Option<Self>;
    /// The bare environment is this setup's, in kinds and lengths that are right.
    fn are_for(def: &rlcore_env_def, setup: &Setup) -> bool;
    /// [`Env::reset`].
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result;
    /// [`Env::restart`].
    fn restart(&self, row: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>)
    -> error::Result;
    /// [`Env::step`].
    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> error::Result<Step>;
}

impl Steps for &'static Builtin {
    const OWN: bool = true;

    #[inline(always)]
    fn of(def: &rlcore_env_def) -> Option<Self> {
        def.own().ok()
    }

    #[inline(always)]
    fn are_for(def: &rlcore_env_def, setup: &Setup) -> bool {
        // No block with its number was ever accepted that is another's.
        (def.env_id, def.max_episode_steps, 0) == (setup.env_id, setup.own_max_episode_steps, setup.wrappers)
    }

    #[inline]
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result {
        Env::reset(*self, row, state, rng, obs)
    }

    #[inline]
    fn restart(
        &self,
        row: usize,
        level: Level,
        state: &mut [u8],
        rng: &mut Rng,
        obs: ElementsMut<'_>,
    ) -> error::Result {
        Env::restart(*self, row, level, state, rng, obs)
    }

    #[inline(always)]
    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> error::Result<Step> {
        Env::step(*self, row, state, rng, action, obs)
    }
}

/// The environment of a block of one, for a step: it consists of little, and so little has to be kept aside meanwhile.
#[derive(Clone, Copy)]
pub struct Only<'a, S> {
    /// The environment.
    pub steps: S,
    /// What its block was made with.
    pub setup: &'a Setup,
    /// Its actions, without bounds.
    pub actions: Space<'a>,
}

impl<S: Steps> Env for Only<'_, S> {
    #[inline(always)]
    fn spec(&self) -> Spec<'_> {
        let &Setup { env_id, state_size, own_max_episode_steps: max_episode_steps, obs_len, wrappers, .. } = self.setup;
        let obs = Space { kind: self.setup.kinds().0, len: obs_len, low: &[], high: &[], n: &[], fields: &[] };
        Spec { env_id, state_size, max_episode_steps, obs, action: self.actions, wrappers }
    }

    #[inline]
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result {
        self.steps.reset(row, state, rng, obs)
    }

    #[inline]
    fn restart(
        &self,
        row: usize,
        level: Level,
        state: &mut [u8],
        rng: &mut Rng,
        obs: ElementsMut<'_>,
    ) -> error::Result {
        self.steps.restart(row, level, state, rng, obs)
    }

    #[inline(always)]
    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> error::Result<Step> {
        self.steps.step(row, state, rng, action, obs)
    }
}

// SAFETY of all calls: the core hands out a state of `state_size` bytes and arrays of the lengths of the spaces.
impl Steps for Calls {
    const OWN: bool = false;

    #[inline(always)]
    fn of(def: &rlcore_env_def) -> Option<Self> {
        def.calls()
    }

    #[inline(always)]
    fn are_for(def: &rlcore_env_def, setup: &Setup) -> bool {
        def.env_id == setup.env_id
            && def.state_size == setup.state_size
            && def.max_episode_steps == setup.own_max_episode_steps
            && def.obs.kind == setup.obs_kind
            && def.obs.len == setup.obs_len
            && def.action.kind == setup.action_kind
            && def.action.len == setup.action_len
            && (def.obs.len | def.action.len) < space::MAX_LEN
            && setup.wrappers == 0
    }

    #[inline]
    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result {
        let rng = core::ptr::from_mut(rng).cast();
        let code = unsafe { (self.reset)(self.user, state.as_mut_ptr().cast(), rng, ptr::start_mut(obs)) };
        done(code, "env_def: reset failed in environment {given}.")
    }

    #[inline]
    fn restart(
        &self,
        row: usize,
        level: Level,
        state: &mut [u8],
        rng: &mut Rng,
        obs: ElementsMut<'_>,
    ) -> error::Result {
        let Some(restart) = self.restart else { return self.reset(row, state, rng, obs) };
        let rng = core::ptr::from_mut(rng).cast();
        let state = state.as_mut_ptr().cast();
        let code = unsafe { restart(self.user, state, rng, level as u32, ptr::start_mut(obs)) };
        done(code, "env_def: restart failed in environment {given}.")
    }

    #[inline(always)]
    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> error::Result<Step> {
        let rng = core::ptr::from_mut(rng).cast();
        let action = ptr::start(action);
        let mut out = rlcore_step { reward: 0.0, terminated: 0, truncated: 0, reserved: [0; 2] };
        let state = state.as_mut_ptr().cast();
        let code = unsafe { (self.step)(self.user, state, rng, action, ptr::start_mut(obs), &raw mut out) };
        done(code, "env_def: step failed in environment {given}.")?;
        Ok(Step { reward: out.reward, terminated: out.terminated != 0, truncated: out.truncated != 0 })
    }
}

impl Env for Callbacks<'_> {
    #[inline(always)]
    fn spec(&self) -> Spec<'_> {
        self.spec
    }

    #[inline]
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result {
        self.calls.reset(row, state, rng, obs)
    }

    #[inline]
    fn restart(
        &self,
        row: usize,
        level: Level,
        state: &mut [u8],
        rng: &mut Rng,
        obs: ElementsMut<'_>,
    ) -> error::Result {
        self.calls.restart(row, level, state, rng, obs)
    }

    #[inline(always)]
    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> error::Result<Step> {
        self.calls.step(row, state, rng, action, obs)
    }

    fn lives(&self, _: usize, state: &[u8]) -> error::Result<u32> {
        let mut lives = 0;
        match self.lives {
            None => Ok(0),
            Some(f) => {
                done(
                    unsafe { f(self.calls.user, state.as_ptr().cast(), &raw mut lives) },
                    "env_def: lives failed in environment {given}.",
                )?;
                Ok(lives)
            }
        }
    }

    fn has_mask(&self) -> bool {
        self.action_mask.is_some()
    }

    fn action_mask(&self, _: usize, state: &[u8], mask: &mut [u8]) -> error::Result {
        match self.action_mask {
            None => {
                mask.fill(1);
                Ok(())
            }
            Some(f) => done(
                unsafe { f(self.calls.user, state.as_ptr().cast(), mask.as_mut_ptr()) },
                "env_def: action_mask failed in environment {given}.",
            ),
        }
    }

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> error::Result {
        match self.render {
            None => {
                rgb.fill(0);
                Ok(())
            }
            Some(f) => done(
                unsafe { f(self.calls.user, state.as_ptr().cast(), width as u32, height as u32, rgb.as_mut_ptr()) },
                "env_def: render failed in environment {given}.",
            ),
        }
    }
}
