//! Environments that C supplies: a definition is checked and compiled once, and every call uses the compiled form.

use core::ffi::c_void;
use core::ptr::from_ref;

use crate::lifecycle::Place;
use crate::mirror::versioned;
use crate::ptr::{self, Extent, Input, Plain};
use crate::rng::rlcore_rng;
use crate::space::{self, rlcore_field, rlcore_space};
use crate::status::{About, Fault, Result, call, rlcore_status};
use crate::wrap::{self, rlcore_wrapper};
use rlcore::env::wrap::{MAX_FIELDS, MAX_WRAPPERS, Pipeline};
use rlcore::env::{Builtin, Env, FIRST_FREE_ID, Level, NO_LIMIT, Setup, Spec, Step, StepOut, VecEnvConfig};
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
/// For all callbacks: row is the number of the environment within its block. The arguments are valid during the call only.
/// Return 0, or nonzero to stop the call with E_CALLBACK.
/// They may run on several threads at once, but never for the same environment. They may call the library,
/// but not with the block that is calling them: its contents may be lost, nothing else is affected.
/// Exceptions and longjmp must not leave a callback. Catch them and return nonzero: that environment has failed and must be
/// reset; the others are unaffected.
pub type rlcore_env_reset_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        row: u32,
        state: *mut c_void,
        rng: *mut rlcore_rng,
        obs: *mut c_void,
    ) -> i32,
>;

/// Starts an episode with options of the host's: called in place of reset and restart where rlcore_vecenv_reset_with and
/// the like pass options, also through wrappers. options: [options_size] bytes as passed, the same for every row.
pub type rlcore_env_reset_with_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        row: u32,
        state: *mut c_void,
        rng: *mut rlcore_rng,
        options: *const c_void,
        options_size: usize,
        obs: *mut c_void,
    ) -> i32,
>;

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
        row: u32,
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
        row: u32,
        state: *mut c_void,
        rng: *mut rlcore_rng,
        action: *const c_void,
        obs: *mut c_void,
        out: *mut rlcore_step,
    ) -> i32,
>;

/// Draws the environment. rgb: [height, width, 3], rows from the top.
pub type rlcore_env_render_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        row: u32,
        state: *const c_void,
        width: u32,
        height: u32,
        rgb: *mut u8,
    ) -> i32,
>;

/// Returns the number of lives left.
pub type rlcore_env_lives_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, row: u32, state: *const c_void, out_lives: *mut u32) -> i32>;

/// Writes 1 for each choice that is allowed now, else 0. mask: [sum of action.n].
pub type rlcore_env_action_mask_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, row: u32, state: *const c_void, mask: *mut u8) -> i32>;

/// An environment: its properties and functions, which rlcore_env_init compiles. It and all that it points to may be
/// changed or freed afterwards, except the data behind user, here and in wrappers.
/// For a built-in environment with wrappers or functions of the host's, set env_id, an rlcore_env_id, and any of
/// max_episode_steps, user, render, lives, action_mask, fields and wrappers. All else is zero.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_env_def {
    /// sizeof(rlcore_env_def)
    pub struct_size: u32,
    /// the caller's number for this kind, 0 or at least 1000; stored in blocks. Or an rlcore_env_id
    pub env_id: u32,
    /// bytes of one environment, a multiple of 8; zeroed at init; no pointers
    pub state_size: u32,
    /// episodes are truncated after this many steps; 0: never, or the limit that one of the library's own has;
    /// UINT32_MAX: never; kept in blocks
    pub max_episode_steps: u32,
    /// RLCORE_F32, RLCORE_I32, RLCORE_U8 (images) or RLCORE_STRUCT (several kinds)
    pub obs: rlcore_space,
    /// RLCORE_I32 or RLCORE_F32
    pub action: rlcore_space,
    /// passed to every callback, never read
    pub user: *mut c_void,
    /// required
    pub reset: rlcore_env_reset_fn,
    /// required
    pub step: rlcore_env_step_fn,
    /// NULL: a black image, or that of one of the library's own
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
    /// NULL: resets take no options
    pub reset_with: rlcore_env_reset_with_fn,
}

versioned!(rlcore_env_def, "env_def", step);

/// A compiled environment, for any number of blocks and threads: calls only read it.
/// It holds callbacks and pointers of this process and knows where it lies: it is never saved, copied or moved, and is part
/// of no block. A program that loads a block makes its environment anew.
/// Example:
///   rlcore_env_size(&def, &size);
///   rlcore_env_init(mem, size, &def, &env);
///   rlcore_env_spaces(env, &obs, &action);
pub struct rlcore_env;

// SAFETY: plain data.
unsafe impl Plain for rlcore_step {}

/// A definition as read, each part checked on its own.
#[derive(Clone, Copy)]
struct Definition<'a> {
    raw: RawEnv<'a>,
    fields: &'a [rlcore_field],
    /// The caller declared the observation as a structure.
    structured: bool,
    wrappers: &'a [rlcore_wrapper],
}

/// An environment without its wrappers.
#[derive(Clone, Copy)]
struct RawEnv<'a> {
    /// A built-in environment; its only callbacks are those that read a state: `render`, `lives` and `action_mask`.
    own: Option<Builtin>,
    user: *mut c_void,
    reset: rlcore_env_reset_fn,
    step: rlcore_env_step_fn,
    restart: rlcore_env_restart_fn,
    reset_with: rlcore_env_reset_with_fn,
    render: rlcore_env_render_fn,
    lives: rlcore_env_lives_fn,
    action_mask: rlcore_env_action_mask_fn,
    spec: Spec<'a>,
}

// SAFETY: callbacks may run on several threads at once, by their contract.
unsafe impl Sync for RawEnv<'_> {}

/// The start of the memory of an `rlcore_env`. Its references point to the rest of that memory.
#[repr(C)]
pub struct CompiledEnv<'a> {
    /// [`MARK`] xor this address, so that moved bytes are refused.
    mark: usize,
    size: usize,
    raw: &'a RawEnv<'a>,
    pipeline: Option<&'a Pipeline<'a>>,
    /// The specification that calls use, wrappers included; bounds have one number for each element.
    spec: Spec<'a>,
    /// The setup that blocks store and compare.
    pub setup: Setup,
}

const MARK: usize = 0x726c_656e;

/// Never occurs with an environment that was checked.
const MISSING: Error = Error::new(Kind::Null, "env_def: the function pointer is NULL.");

const UNKNOWN: Error =
    Error::new(Kind::Config, "an env_id of the caller's, 0 or from 1000, or an rlcore_env_id that this library has");

/// The built-in environment of this number.
pub fn builtin(env_id: u32) -> Option<Builtin> {
    Builtin::from_id(env_id).filter(|_| cfg!(feature = "games"))
}

impl rlcore_env_def {
    /// The definition of an unchanged built-in environment.
    pub fn own(env_id: u32) -> Self {
        rlcore_env_def { env_id, ..ptr::zeros() }
    }

    /// The built-in environment of this `env_id`. Errors: `Config` if there is none, or if a field that it determines is set.
    fn builtin(&self) -> Result<Builtin> {
        let unknown = UNKNOWN.given(self.env_id as usize);
        let env = builtin(self.env_id).ok_or(unknown).about("env_def")?;
        let told = [
            ("env_def: state_size", self.state_size != 0),
            ("env_def: obs", !self.obs.is(&rlcore_space::NONE)),
            ("env_def: action", !self.action.is(&rlcore_space::NONE)),
            ("env_def: reset", self.reset.is_some()),
            ("env_def: step", self.step.is_some()),
            ("env_def: restart", self.restart.is_some()),
            ("env_def: reset_with", self.reset_with.is_some()),
        ];
        let what = "zero, as the library's own environment has it, or an env_id of the caller's; env_id";
        match told.into_iter().find(|(_, told)| *told) {
            Some((field, _)) => Err(Fault::at(field, Error::new(Kind::Config, what).given(self.env_id as usize))),
            None => Ok(env),
        }
    }

    /// The specification of the caller's own environment. Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// As [`Definition::at`].
    unsafe fn spec<'a>(&self) -> Result<Spec<'a>> {
        let missing = Error::new(Kind::Null, "the function pointer is NULL.");
        missing.fail_if(self.reset.is_none()).about("env_def: reset")?;
        missing.fail_if(self.step.is_none()).about("env_def: step")?;
        let (obs, action) =
            unsafe { (space::space(&space::OBS, &self.obs)?, space::space(&space::ACTION, &self.action)?) };
        let &rlcore_env_def { env_id, state_size, max_episode_steps, .. } = self;
        Ok(Spec { env_id, state_size, max_episode_steps, obs, action, wrappers: 0 })
    }
}

impl<'a> Definition<'a> {
    /// The caller's definition, and the extents of its arrays. Errors: `Null`, `Align`, `Config`.
    ///
    /// # Safety
    /// The structure is as long as it says, its arrays as long as its spaces say, its callbacks keep their contracts.
    unsafe fn at(p: *const rlcore_env_def) -> Result<(Self, [Extent; 9])> {
        let def = unsafe { ptr::sized(p)? };
        let own = if (1..FIRST_FREE_ID).contains(&def.env_id) { Some(def.builtin()?) } else { None };
        let mut spec = match &own {
            Some(own) => own.constant_spec(),
            None => unsafe { def.spec()? },
        };
        spec.max_episode_steps = match def.max_episode_steps {
            0 => spec.max_episode_steps,
            NO_LIMIT if own.is_some() => 0,
            steps => steps,
        };
        let rlcore_env_def { user, reset, step, restart, reset_with, render, lives, action_mask, .. } = def;
        let (fields, fields_at) = unsafe { array("env_def: fields", def.fields, def.num_fields, MAX_FIELDS)? };
        let (wrappers, wrappers_at) =
            unsafe { array("env_def: wrappers", def.wrappers, def.num_wrappers, MAX_WRAPPERS)? };
        let structured = space::structured(def.obs.kind);
        if structured && !def.obs.n.is_null() {
            let mut room = None;
            let count = space::count(space::OBS.n, parts(fields, &mut room)?, Element::I32)?;
            spec.obs.n = unsafe { Input::unless_empty(space::OBS.n, def.obs.n, count)? }.map_or(&[], Input::slice);
        }
        let [a, b, c] = space::extents(&space::OBS, &spec.obs);
        let [d, e, f] = space::extents(&space::ACTION, &spec.action);
        let whole = Extent::of("env_def", p.cast(), def.struct_size as usize);
        let extents = [a, b, c, d, e, f, fields_at, wrappers_at, whole];
        let raw = RawEnv { own, user, reset, step, restart, reset_with, render, lives, action_mask, spec };
        Ok((Definition { raw, fields, structured, wrappers }, extents))
    }

    /// Builds the environment in these places and returns the specification that calls use. `fields` and `pipeline` are only
    /// called if there are fields or wrappers. Errors: `Config`.
    fn compile(
        &self,
        raw: &'a mut Option<RawEnv<'a>>,
        fields: impl FnOnce() -> &'a mut Option<[Field<'a>; MAX_FIELDS]>,
        pipeline: impl FnOnce() -> &'a mut Option<Pipeline<'a>>,
    ) -> Result<(&'a RawEnv<'a>, Option<&'a Pipeline<'a>>, Spec<'a>)> {
        let raw = raw.insert(self.raw);
        // A build without wrappers has already refused both lists.
        if cfg!(feature = "wrappers") && !self.fields.is_empty() {
            raw.spec.obs.fields = parts(self.fields, fields())?;
        }
        // Callers that have only this space must not take the bytes of a structure for numbers.
        let mixed = !self.fields.is_empty() && space::structured(rlcore_space::bare(&raw.spec.obs).kind);
        let what = "kind of 3 (bytes of a structure) exactly if fields are of other kinds than bytes";
        let own = self.raw.own.is_some();
        Error::new(Kind::Config, what).fail_if(!own && self.structured != mixed).about("obs")?;
        let raw = &*raw;
        if !cfg!(feature = "wrappers") || self.wrappers.is_empty() {
            return Ok((raw, None, raw.spec));
        }
        let pipeline = pipeline().insert(Pipeline::bare(raw)?);
        for (place, wrapper) in self.wrappers.iter().enumerate() {
            pipeline.wrap(wrapper.wrapper(place)?).map_err(|e| wrap::fault(place, e))?;
        }
        let pipeline = &*pipeline;
        Ok((raw, Some(pipeline), pipeline.spec()))
    }

    /// Checks the whole definition and returns the layout of its memory. Errors: `Config`, `Overflow`.
    fn check(&self) -> Result<Layout> {
        let (mut raw, mut fields, mut pipeline) = (None, None, None);
        let (_, _, spec) = self.compile(&mut raw, || &mut fields, || &mut pipeline)?;
        Setup::new(&spec, &VecEnvConfig::default())?;
        let wide = Error::new(Kind::Overflow, "an environment that fits the address space");
        Layout::of(self, &spec).ok_or(wide).about("env_def")
    }

    /// Copies the definition to the caller's memory and compiles it there.
    ///
    /// # Safety
    /// `check` returned the layout; `layout.size` bytes at `base` are aligned and the caller's alone for the life of `'a`.
    unsafe fn install(&self, base: *mut u8, layout: Layout) -> Result {
        let at = |offset: usize| base.wrapping_add(offset);
        unsafe {
            let numbers = layout.size.saturating_sub(layout.numbers) / size_of::<f32>();
            let mut rest = ptr::known_mut(at(layout.numbers).cast::<f32>(), numbers);
            let Spec { obs, action, .. } = self.raw.spec;
            let mut spec =
                Spec { obs: copy_space(&obs, &mut rest), action: copy_space(&action, &mut rest), ..self.raw.spec };
            if let Some(own) = &self.raw.own {
                spec.obs.fields = own.constant_spec().obs.fields;
            }
            let def = Definition {
                raw: RawEnv { spec, ..self.raw },
                fields: ptr::copied(at(layout.fields_given).cast(), self.fields),
                wrappers: ptr::copied(at(layout.wrappers_given).cast(), self.wrappers),
                ..*self
            };
            let (raw, fields, pipeline) = (at(layout.raw), at(layout.fields), at(layout.pipeline));
            let (raw, pipeline, mut spec) =
                def.compile(ptr::slot(raw), || ptr::slot(fields), || ptr::slot(pipeline))?;
            if cfg!(feature = "wrappers") && pipeline.is_some() {
                // Wrappers may change the number of choices, so that `n` no longer fits.
                let choices = space::count(space::OBS.n, spec.obs.fields, Element::I32)?;
                spec.obs.n = if choices == spec.obs.n.len() { spec.obs.n } else { &[] };
                (spec.obs, spec.action) = (spread(&spec.obs, &mut rest), spread(&spec.action, &mut rest));
            }
            let setup = Setup::new(&spec, &VecEnvConfig::default())?;
            let mark = MARK ^ base.addr();
            base.cast::<CompiledEnv<'a>>().write(CompiledEnv { mark, size: layout.size, raw, pipeline, spec, setup });
        }
        Ok(())
    }
}

/// Takes the next `len` numbers of `rest`.
fn take<'a>(rest: &mut &'a mut [f32], len: usize) -> &'a mut [f32] {
    let (head, tail) = core::mem::take(rest).split_at_mut_checked(len).unwrap_or_default();
    *rest = tail;
    head
}

/// A copy of a space, with its arrays in `rest`; its fields are filled in later.
fn copy_space<'a>(space: &Space<'_>, rest: &mut &'a mut [f32]) -> Space<'a> {
    let mut copy = |x: &[f32]| {
        let to = take(rest, x.len());
        to.iter_mut().zip(x).for_each(|(to, from)| *to = *from);
        &*to
    };
    let (low, high) = (copy(space.low), copy(space.high));
    let n = take(rest, space.n.len());
    // SAFETY: as many 32-bit words, to be written as `u32`.
    let n = unsafe { ptr::copied(n.as_mut_ptr().cast(), space.n) };
    Space { kind: space.kind, len: space.len, low, high, n, fields: space::stand_in(!space.fields.is_empty()) }
}

/// The space with bounds of one number for each element, stored in `rest`.
fn spread<'a>(space: &Space<'a>, rest: &mut &'a mut [f32]) -> Space<'a> {
    let mut side = |any: bool, of: fn((f32, f32)) -> f32| {
        let to = take(rest, if any { space.len as usize } else { 0 });
        to.iter_mut().enumerate().for_each(|(i, bound)| *bound = of(space.bounds(i)));
        &*to
    };
    let low = side(!space.low.is_empty(), |(low, _)| low);
    let high = side(!space.high.is_empty(), |(_, high)| high);
    Space { low, high, ..*space }
}

/// Offsets in the memory of a compiled environment, in bytes; absent parts take no bytes.
#[derive(Clone, Copy)]
struct Layout {
    raw: usize,
    fields: usize,
    pipeline: usize,
    fields_given: usize,
    wrappers_given: usize,
    /// Bounds and numbers of choices.
    numbers: usize,
    size: usize,
}

impl Layout {
    fn of(def: &Definition<'_>, spec: &Spec<'_>) -> Option<Layout> {
        let mut end = size_of::<CompiledEnv<'_>>();
        let mut add = |size: usize, count: usize| {
            let begin = end;
            end =
                begin.checked_add(size.checked_mul(count)?)?.checked_next_multiple_of(align_of::<CompiledEnv<'_>>())?;
            Some(begin)
        };
        let (any_fields, any_wrappers) = (!def.fields.is_empty(), !def.wrappers.is_empty());
        let numbers = |of: fn(&Space<'_>) -> usize, spec: &Spec<'_>| of(&spec.obs).checked_add(of(&spec.action));
        let given = |space: &Space<'_>| space.low.len().saturating_add(space.high.len()).saturating_add(space.n.len());
        let spread = |space: &Space<'_>| {
            let sides = usize::from(!space.low.is_empty()).wrapping_add((!space.high.is_empty()).into());
            (space.len as usize).saturating_mul(sides)
        };
        let spread = if any_wrappers { numbers(spread, spec)? } else { 0 };
        Some(Layout {
            raw: add(size_of::<Option<RawEnv<'_>>>(), 1)?,
            fields: add(size_of::<Option<[Field<'_>; MAX_FIELDS]>>(), any_fields.into())?,
            pipeline: add(size_of::<Option<Pipeline<'_>>>(), any_wrappers.into())?,
            fields_given: add(size_of::<rlcore_field>(), def.fields.len())?,
            wrappers_given: add(size_of::<rlcore_wrapper>(), def.wrappers.len())?,
            numbers: add(size_of::<f32>(), numbers(given, &def.raw.spec)?.checked_add(spread)?)?,
            size: end,
        })
    }
}

impl<'a> CompiledEnv<'a> {
    /// Errors: `Null`, `Align`, `Image`.
    ///
    /// # Safety
    /// If `p` is not NULL, `rlcore_env_init` or `rlcore_env_builtin` has handed it out, and nobody writes to it.
    #[inline(always)]
    pub unsafe fn at(p: *const rlcore_env) -> Result<&'a Self> {
        unsafe {
            Input::at("env", p.cast::<usize>(), 1)?;
            let env = p.cast::<CompiledEnv<'_>>();
            // SAFETY: an environment begins with its mark; of any other bytes only this word is read.
            if (&raw const (*env).mark).read() == MARK ^ p.addr() { Ok(&*env) } else { Err(moved()) }
        }
    }

    /// Its bytes.
    #[inline(always)]
    pub fn extent(&self) -> Extent {
        Extent::of("env", from_ref(self).cast(), self.size)
    }

    /// The wrappers, if there are any.
    #[inline(always)]
    pub fn pipeline(&self) -> Option<&'a Pipeline<'a>> {
        if cfg!(feature = "wrappers") { self.pipeline } else { None }
    }
}

/// The failure for bytes that are no environment.
#[cold]
fn moved() -> Fault {
    Fault::at("env", Error::new(Kind::Image, "what rlcore_env_init has made in this place and in this process."))
}

/// A list of the caller's; a library without wrappers refuses lists that are not empty.
unsafe fn array<'a, T: Plain>(what: &'static str, p: *const T, len: u32, most: usize) -> Result<(&'a [T], Extent)> {
    let len = len as usize;
    Error::limit(Kind::Config, "a list of at most", most, len).fail_if(len > most).about(what)?;
    let Some(list) = (unsafe { Input::unless_empty(what, p, len)? }) else { return Ok((&[], Extent::NONE)) };
    let left_out = Error::new(Kind::Config, "this library was built without wrappers.");
    left_out.fail_if(!cfg!(feature = "wrappers")).about(what)?;
    let extent = list.extent();
    Ok((list.slice(), extent))
}

/// The fields in the core's form, stored in `room`.
pub fn parts<'a>(given: &'a [rlcore_field], room: &'a mut Option<[Field<'a>; MAX_FIELDS]>) -> Result<&'a [Field<'a>]> {
    let fields = room.insert([Field::new("", Element::U8, &[], 0); MAX_FIELDS]);
    for (place, (to, from)) in fields.iter_mut().zip(given).enumerate() {
        *to = from.field().map_err(|e| space::fault(place, e))?;
    }
    Ok(fields.get(..given.len()).unwrap_or(&[]))
}

// Wrapped environments are called through the pipeline, others directly.
macro_rules! by_either {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(
            $(#[$meta])*
            fn $name(&self, $($arg: $type),*) -> $out {
                match self.pipeline() {
                    Some(env) => env.$name($($arg),*),
                    None => self.raw.$name($($arg),*),
                }
            }
        )*
    };
}

impl Env for CompiledEnv<'_> {
    #[inline(always)]
    fn spec(&self) -> Spec<'_> {
        self.spec
    }

    by_either! {
        fn configure(state: &mut [u8], setup: &Setup) -> error::Result;
        fn reset(row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result;
        fn takes_options() -> bool;
        fn reset_with(
            row: usize, state: &mut [u8], rng: &mut Rng, options: &[u8], obs: ElementsMut<'_>
        ) -> error::Result;
        fn restart(row: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result;
        #[inline(always)]
        fn step(
            row: usize, state: &mut [u8], rng: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>
        ) -> error::Result<Step>;
        fn step_rows(state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize;
        fn lives(row: usize, state: &[u8]) -> error::Result<u32>;
        fn has_mask() -> bool;
        fn action_mask(row: usize, state: &[u8], mask: &mut [u8]) -> error::Result;
        fn render(row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> error::Result;
    }
}

#[inline(always)]
fn done(code: i32, what: &'static str) -> error::Result {
    if code == 0 { Ok(()) } else { Err(Error::new(Kind::Callback, what)) }
}

impl RawEnv<'_> {
    #[inline(always)]
    fn own(&self) -> Option<&Builtin> {
        if cfg!(feature = "games") { self.own.as_ref() } else { None }
    }
}

// SAFETY of all calls: the core passes a state of `state_size` bytes and arrays of the lengths of the spaces.
impl Env for RawEnv<'_> {
    #[inline(always)]
    fn spec(&self) -> Spec<'_> {
        self.spec
    }

    #[inline]
    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> error::Result {
        if let Some(env) = self.own() {
            return env.reset(row, state, rng, obs);
        }
        let (rng, state) = (core::ptr::from_mut(rng).cast(), state.as_mut_ptr().cast());
        let reset = self.reset.ok_or(MISSING)?;
        let code = unsafe { reset(self.user, row as u32, state, rng, ptr::start_mut(obs)) };
        done(code, "env_def: reset failed in environment {given}.")
    }

    fn takes_options(&self) -> bool {
        self.reset_with.is_some()
    }

    fn reset_with(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        options: &[u8],
        obs: ElementsMut<'_>,
    ) -> error::Result {
        let (rng, state) = (core::ptr::from_mut(rng).cast(), state.as_mut_ptr().cast());
        let (reset_with, obs) = (self.reset_with.ok_or(MISSING)?, ptr::start_mut(obs));
        let options = (options.as_ptr().cast(), options.len());
        let code = unsafe { reset_with(self.user, row as u32, state, rng, options.0, options.1, obs) };
        done(code, "env_def: reset_with failed in environment {given}.")
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
        let (rng, state) = (core::ptr::from_mut(rng).cast(), state.as_mut_ptr().cast());
        let code = unsafe { restart(self.user, row as u32, state, rng, level as u32, ptr::start_mut(obs)) };
        done(code, "env_def: restart failed in environment {given}.")
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
        if let Some(env) = self.own() {
            return env.step(row, state, rng, action, obs);
        }
        let (rng, state) = (core::ptr::from_mut(rng).cast(), state.as_mut_ptr().cast());
        let mut out = rlcore_step { reward: 0.0, terminated: 0, truncated: 0, reserved: [0; 2] };
        let (action, obs) = (ptr::start(action), ptr::start_mut(obs));
        let step = self.step.ok_or(MISSING)?;
        let code = unsafe { step(self.user, row as u32, state, rng, action, obs, &raw mut out) };
        done(code, "env_def: step failed in environment {given}.")?;
        Ok(Step { reward: out.reward, terminated: out.terminated != 0, truncated: out.truncated != 0 })
    }

    #[inline]
    fn step_rows(&self, state: &mut [u8], action: Elements<'_>, out: &mut StepOut<'_>) -> usize {
        self.own().map_or(0, |env| env.step_rows(state, action, out))
    }

    fn lives(&self, row: usize, state: &[u8]) -> error::Result<u32> {
        let mut lives = 0;
        let Some(f) = self.lives else { return Ok(0) };
        let code = unsafe { f(self.user, row as u32, state.as_ptr().cast(), &raw mut lives) };
        done(code, "env_def: lives failed in environment {given}.")?;
        Ok(lives)
    }

    fn has_mask(&self) -> bool {
        self.action_mask.is_some()
    }

    fn action_mask(&self, row: usize, state: &[u8], mask: &mut [u8]) -> error::Result {
        let Some(f) = self.action_mask else {
            mask.fill(1);
            return Ok(());
        };
        let code = unsafe { f(self.user, row as u32, state.as_ptr().cast(), mask.as_mut_ptr()) };
        done(code, "env_def: action_mask failed in environment {given}.")
    }

    fn render(&self, row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> error::Result {
        let Some(f) = self.render else {
            if let Some(env) = self.own() {
                return env.render(row, state, width, height, rgb);
            }
            rgb.fill(0);
            return Ok(());
        };
        let state = state.as_ptr().cast();
        let code = unsafe { f(self.user, row as u32, state, width as u32, height as u32, rgb.as_mut_ptr()) };
        done(code, "env_def: render failed in environment {given}.")
    }
}

/// Compiles a definition into the caller's memory. Errors: those of [`Definition`]; `Size`, `Align`, `Overlap`.
///
/// # Safety
/// As [`Definition::at`] and [`Place::at`].
pub unsafe fn compile(
    mem: *mut c_void,
    mem_size: usize,
    def: *const rlcore_env_def,
    out: *mut *mut rlcore_env,
) -> Result {
    unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let (def, extents) = Definition::at(def)?;
        let layout = def.check()?;
        let short = Error::limit(Kind::Size, "at least {needed} bytes", layout.size, mem_size);
        short.fail_if(layout.size > mem_size).about("mem")?;
        // Checks the alignment.
        Input::at("mem", mem.cast::<u64>().cast_const(), layout.size / size_of::<u64>())?;
        place.take(&extents, |mem| def.install(mem.as_mut_ptr(), layout))
    }
}

/// Size in bytes of the memory for a compiled environment.
/// Errors: E_CONFIG for anything that is wrong with the definition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_size(definition: *const rlcore_env_def, out_size: *mut usize) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(Definition::at(definition)?.0.check()?.size)) })
}

/// Compiles a definition: checks it, puts its wrappers together and copies all that it points to. mem: aligned to 8 bytes.
/// Errors: E_CONFIG; E_SIZE if mem_size is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_init(
    mem: *mut c_void,
    mem_size: usize,
    definition: *const rlcore_env_def,
    out: *mut *mut rlcore_env,
) -> rlcore_status {
    call(|| unsafe { compile(mem, mem_size, definition, out) })
}
