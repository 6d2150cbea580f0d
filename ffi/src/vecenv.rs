//! N environments of one kind in the caller's block.

use core::ffi::c_void;

use crate::env::{CompiledEnv, rlcore_env};
use crate::lifecycle::{self, Place};
use crate::mirror::versioned;
use crate::ptr::{
    self, AnyInput, AnyOutput, Args, BoundingRange, Extent, Input, One, Output, Reads, Writes, apart, args,
};
use crate::status::{About, Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::env::{self, Autoreset, Env, Level, Reset, Rows, Setup, Spans, StepOut, VecEnv, VecEnvConfig, View};
use rlcore::error::{Error, Kind};
use rlcore::space::Element;

/// N environments, stepped together.
/// Example:
///   rlcore_vecenv_config_init(&config, sizeof config);
///   config.num_envs = N;
///   rlcore_vecenv_size(env, &config, &size);
///   rlcore_vecenv_init(mem, size, env, &config, &v);
///   rlcore_vecenv_reset(v, env, NULL, rows.obs);
///   while (running) rlcore_vecenv_step(v, env, &rows);    // with rows.action chosen for rows.obs
pub struct rlcore_vecenv;

/// When an environment whose episode ended starts the next one.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_autoreset {
    /// in the same step: obs starts the new episode, final_obs ends the old one
    RLCORE_AUTORESET_SAME_STEP = 0,
    /// in the next step, which ignores the action and has valid 0
    RLCORE_AUTORESET_NEXT_STEP = 1,
    /// only by rlcore_vecenv_reset and rlcore_vecenv_reset_one
    RLCORE_AUTORESET_DISABLED = 2,
    /// in the next step, which then also takes the action
    RLCORE_AUTORESET_LEGACY = 3,
}

/// Configuration of N environments.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vecenv_config {
    /// bytes; set by rlcore_vecenv_config_init
    pub struct_size: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// environment i draws from the stream of seed + i, modulo 2^64; default 0
    pub seed: u64,
    /// an rlcore_autoreset; default same step
    pub autoreset: u32,
    /// 0 (default): the environment's own limit, counted in its own steps even if wrappers repeat actions; otherwise
    /// replaces that limit and counts steps of this batch, whatever the wrappers; UINT32_MAX: never
    pub max_episode_steps: u32,
}

versioned!(rlcore_vecenv_config, "vecenv config", seed, {
    let VecEnvConfig { num_envs, seed, autoreset, max_episode_steps } = VecEnvConfig::default();
    rlcore_vecenv_config { num_envs, seed, autoreset: autoreset as u32, max_episode_steps, ..ptr::zeros() }
});

/// What a reset begins with.
/// Example:
///   const rlcore_reset how = {.struct_size = sizeof how, .options = &level, .options_size = sizeof level};
///   rlcore_vecenv_reset_with(v, env, &how, rows.obs);
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_reset {
    /// sizeof(rlcore_reset)
    pub struct_size: u32,
    /// zero
    pub reserved: u32,
    /// [1] as in the same call without options; NULL: the random streams continue
    pub seed: *const u64,
    /// [options_size] bytes that the reset_with of the environment understands; NULL: none
    pub options: *const c_void,
    /// bytes of options; 0 if there are none
    pub options_size: usize,
}

versioned!(rlcore_reset, "reset", options_size);

/// An `rlcore_reset`, or a seed alone.
pub(crate) struct How<'a> {
    pub seed: Option<u64>,
    pub options: Option<Input<'a, u8>>,
}

impl How<'_> {
    /// Errors: `Null`, `Align`, `Config`, `Overflow`.
    ///
    /// # Safety
    /// As [`ptr::sized`] and [`Input::at`].
    pub(crate) unsafe fn at(p: *const rlcore_reset) -> Result<Self> {
        let how = unsafe { ptr::sized(p)? };
        ptr::reserved("reset: reserved", how.reserved)?;
        let (options, size) = (how.options.cast::<u8>(), how.options_size);
        let options = unsafe {
            if options.is_null() {
                Input::unless_empty("options", options, size)?
            } else {
                Some(Input::at("options", options, size)?)
            }
        };
        Ok(How { seed: unsafe { seed(how.seed)? }, options })
    }

    /// Without options.
    pub(crate) unsafe fn seeded(p: *const u64) -> Result<Self> {
        Ok(How { seed: unsafe { seed(p)? }, options: None })
    }

    /// That of row `i` alone, which gets the stream of the seed itself.
    fn of_row(self, i: usize) -> Self {
        How { seed: self.seed.map(|seed| seed.wrapping_sub(i as u64)), ..self }
    }
}

pub(crate) unsafe fn config(p: *const rlcore_vecenv_config) -> Result<VecEnvConfig> {
    let c = unsafe { ptr::sized(p)? };
    let unknown = Error::new(Kind::Config, "autoreset of 0 (same step), 1 (next step), 2 (disabled) or 3 (legacy)");
    let unknown = unknown.given(c.autoreset as usize);
    let autoreset = Autoreset::from_number(c.autoreset).ok_or(unknown).about("vecenv config")?;
    Ok(VecEnvConfig { num_envs: c.num_envs, seed: c.seed, autoreset, max_episode_steps: c.max_episode_steps })
}

/// A block that `init` or `attach` accepted. Only its header and setup are read, which no call writes.
pub(crate) struct Block<'a> {
    base: *mut u8,
    pub(crate) extent: Extent,
    pub(crate) setup: &'a Setup,
    spans: Spans,
    obs_kind: Element,
    action_kind: Element,
}

impl<'a> Block<'a> {
    /// Errors: `Null`, `Align`, `Image`; `Config` for another environment.
    #[inline(never)]
    pub(crate) unsafe fn at(p: *const rlcore_vecenv, env: &CompiledEnv<'_>) -> Result<Block<'a>> {
        unsafe { Self::made_for(p, env) }
    }

    /// [`Block::at`], inlined into the most frequent call.
    #[inline(always)]
    unsafe fn made_for(p: *const rlcore_vecenv, env: &CompiledEnv<'_>) -> Result<Block<'a>> {
        let block = unsafe { Self::of_any(p)? };
        if !block.setup.has_env_of(&env.setup) {
            block.setup.check_env(env)?;
        }
        Ok(block)
    }

    /// [`Block::at`] for any environment. Errors: `Null`, `Align`, `Image`.
    #[inline(always)]
    unsafe fn of_any(p: *const rlcore_vecenv) -> Result<Block<'a>> {
        let base: *const u8 = p.cast();
        let setup = Setup::read(unsafe { Input::at("vecenv", base, Setup::END)? }.slice())?;
        let (spans, size) = setup.lay()?;
        let (obs_kind, action_kind) = setup.kinds();
        Ok(Block {
            base: base.cast_mut(),
            extent: Extent::of("vecenv", base, size),
            setup,
            spans,
            obs_kind,
            action_kind,
        })
    }

    fn num_envs(&self) -> usize {
        self.setup.num_envs as usize
    }

    /// N, and the elements of an observation and of an action.
    pub(crate) fn lens(&self) -> (usize, usize, usize) {
        (self.num_envs(), self.setup.obs_len as usize, self.setup.action_len as usize)
    }

    /// Rows `[begin, end)`: no other row is touched, so that threads may work on others. Errors: `Range`.
    #[inline(always)]
    pub(crate) unsafe fn rows(&self, begin: usize, end: usize) -> Result<Rows<'a>> {
        let n = self.num_envs();
        if begin > end || end > n {
            let what = "vecenv: a range with begin <= end <= num_envs = {needed}";
            return Err(Error::limit(Kind::Range, what, n, if begin > end { begin } else { end }).into());
        }
        let (rows, width) = (end.wrapping_sub(begin), self.setup.state_size as usize);
        let (base, s) = (self.base, &self.spans);
        Ok(unsafe {
            Rows {
                setup: self.setup,
                first: begin,
                state: ptr::part_mut(base, s.state, begin.wrapping_mul(width), rows.wrapping_mul(width)),
                rng: ptr::part_mut(base, s.rng, begin, rows),
                steps: ptr::part_mut(base, s.steps, begin, rows),
                phase: ptr::part_mut(base, s.phase, begin, rows),
            }
        })
    }

    /// All rows, to read.
    unsafe fn view(&self) -> View<'a> {
        unsafe { self.view_part(0, self.num_envs()) }
    }

    /// `rows` rows from row `first` on, which are there; no other row is touched.
    #[inline(always)]
    unsafe fn view_part(&self, first: usize, rows: usize) -> View<'a> {
        let width = self.setup.state_size as usize;
        let (base, s) = (self.base, &self.spans);
        unsafe {
            View {
                setup: self.setup,
                first,
                state: ptr::part(base, s.state, first.wrapping_mul(width), rows.wrapping_mul(width)),
                rng: ptr::part(base, s.rng, first, rows),
                steps: ptr::part(base, s.steps, first, rows),
                phase: ptr::part(base, s.phase, first, rows),
            }
        }
    }

    pub(crate) unsafe fn obs(&self, p: *mut c_void) -> Result<AnyOutput<'a>> {
        unsafe { AnyOutput::at("obs", p, self.obs_kind, self.num_envs(), self.setup.obs_len as usize) }
    }

    unsafe fn reset(&self, env: &CompiledEnv<'_>, begin: usize, end: usize, how: How<'_>, obs: *mut c_void) -> Result {
        let width = self.setup.obs_len as usize;
        let (low, high) = (begin.saturating_mul(width), end.saturating_mul(width));
        let obs = unsafe { self.obs(obs)? }.part(low, high);
        let (options, obs) = self.writing(env, (how.options, obs))?;
        let how = Reset { seed: how.seed, options };
        Ok(unsafe { self.rows(begin, end)? }.reset_with(env, how, obs)?)
    }

    /// The arrays of a call that writes to this block, or whose arrays are all outputs.
    fn writing<A: Args>(&self, env: &CompiledEnv<'_>, arrays: A) -> Result<A::Slices> {
        Ok(args((arrays, Writes([self.extent]), Reads([env.extent()])))?.0)
    }

    /// A step of the environment that the block was made for.
    #[inline(always)]
    unsafe fn step(&self, env: &CompiledEnv<'_>, step: Step) -> Result {
        let Step { range, level, rows } = step;
        let mut other = None;
        let given = unsafe { rlcore_rows::at(rows, &mut other)? };
        if !self.are_apart(given, env) {
            unsafe { Self::check_arrays(self.base.cast(), given, env)? };
        }
        if cfg!(feature = "avx2") && range.is_none() && self.setup.num_envs == 1 {
            return unsafe { self.step_only(env, level, given) };
        }
        let [begin, end] = self.range(range);
        let rows = unsafe { self.rows(begin, end)? };
        let (n, count, masks) = (self.num_envs(), rows.len(), self.setup.mask_len as usize);
        let (obs_len, action_len) = (self.setup.obs_len as usize, self.setup.action_len as usize);
        // These rows exist: `rows` has checked the range, and all arrays have as many rows as the block.
        let (action, out) = unsafe {
            let observed = |p| AnyOutput::known(p, self.obs_kind, n).rows(begin, count, obs_len).elements();
            let flags = |p: *mut u8, width: usize| {
                ptr::known_mut(p.wrapping_add(begin.wrapping_mul(width)), count.wrapping_mul(width))
            };
            let optional = |p: *mut u8, width| if p.is_null() { None } else { Some(flags(p, width)) };
            let out = StepOut {
                obs: observed(given.obs),
                reward: ptr::known_mut(given.reward.wrapping_add(begin), count),
                terminated: flags(given.terminated, 1),
                truncated: flags(given.truncated, 1),
                final_obs: if given.final_obs.is_null() { None } else { Some(observed(given.final_obs)) },
                valid: optional(given.valid, 1),
                action_mask: optional(given.action_mask, masks),
                final_action_mask: optional(given.final_action_mask, masks),
            };
            let action = AnyInput::known(given.action.cast_const(), self.action_kind, n);
            (action.rows(begin, count, action_len).elements(), out)
        };
        Ok(rows.step_cut(env, level, action, out)?)
    }

    /// A step of a block of one row, whose arrays were checked.
    #[inline(always)]
    unsafe fn step_only(&self, env: &CompiledEnv<'_>, level: Level, given: &rlcore_rows) -> Result {
        let (obs_len, masks) = (self.setup.obs_len as usize, self.setup.mask_len as usize);
        unsafe {
            let observed = |p| AnyOutput::known(p, self.obs_kind, obs_len).elements();
            let optional = |p: *mut u8, len| if p.is_null() { None } else { Some(ptr::known_mut(p, len)) };
            let out = StepOut {
                obs: observed(given.obs),
                reward: ptr::known_mut(given.reward, 1),
                terminated: ptr::known_mut(given.terminated, 1),
                truncated: ptr::known_mut(given.truncated, 1),
                final_obs: if given.final_obs.is_null() { None } else { Some(observed(given.final_obs)) },
                valid: optional(given.valid, 1),
                action_mask: optional(given.action_mask, masks),
                final_action_mask: optional(given.final_action_mask, masks),
            };
            let action = AnyInput::known(given.action.cast_const(), self.action_kind, self.setup.action_len as usize);
            self.rows(0, 1)?.step_only(env, level, action.elements(), out)
        }
    }

    /// Fast check: true only if the arrays of a step are present, aligned and do not overlap. It accepts nearly all steps in a
    /// few instructions.
    #[inline(always)]
    fn are_apart(&self, rows: &rlcore_rows, env: &CompiledEnv<'_>) -> bool {
        let (n, element) = (self.num_envs(), self.obs_kind.size());
        let wide = n.wrapping_mul(self.setup.obs_len as usize).wrapping_mul(element);
        let deep = n.wrapping_mul(self.setup.action_len as usize).wrapping_mul(size_of::<f32>());
        let (obs, reward, action) = (rows.obs.addr(), rows.reward.addr(), rows.action.addr());
        let (terminated, truncated) = (rows.terminated.addr(), rows.truncated.addr());
        let (final_obs, valid) = (rows.final_obs.addr(), rows.valid.addr());
        // Required addresses lie in the lower half of 64 bits, from which no array of a block wraps around, and are not 0:
        // `p - 1` would set the sign bit.
        let needed = [obs, reward, action, terminated, truncated];
        let there = needed.iter().fold(final_obs | valid, |all, p| all | p | p.wrapping_sub(1));
        let crooked = ((obs | final_obs) & element.wrapping_sub(1)) | ((reward | action) & 3);
        let masks = rows.action_mask.addr() | rows.final_action_mask.addr();
        if size_of::<usize>() != 8 || there.cast_signed() < 0 || (crooked | masks) != 0 {
            return false;
        }
        let bytes = |start, size| Extent::of_elements("", start, size, 1);
        let (action, env) = (bytes(action, deep), env.extent());
        let mut written = BoundingRange::of(bytes(obs, wide));
        // One by one: a list would have to be stored first.
        let beside = written.takes(bytes(reward, n.wrapping_mul(size_of::<f32>())))
            && written.takes(bytes(terminated, n))
            && written.takes(bytes(truncated, n))
            && (final_obs == 0 || written.takes(bytes(final_obs, wide)))
            && (valid == 0 || written.takes(bytes(valid, n)));
        // The block is not part of the range: actions mostly lie between it and the outputs.
        beside
            && written.is_beside(self.extent)
            && written.is_beside(action)
            && written.is_beside(env)
            && !self.extent.meets(action)
            && !self.extent.meets(env)
    }

    /// Full check of the arrays of a step: a failure names the array that is missing or overlaps another.
    #[cold]
    #[inline(never)]
    unsafe fn check_arrays(v: *const rlcore_vecenv, rows: &rlcore_rows, env: &CompiledEnv<'_>) -> Result {
        // The block is opened again: callers would have to store one to pass it.
        let block = unsafe { Self::at(v, env)? };
        let Setup { obs_len, action_len, mask_len, .. } = *block.setup;
        let (n, obs_len, action_len) = (block.num_envs(), obs_len as usize, action_len as usize);
        unsafe {
            let action = AnyInput::at("action", rows.action.cast_const(), block.action_kind, n, action_len)?;
            let final_obs = AnyOutput::optional("final_obs", rows.final_obs, block.obs_kind, n, obs_len)?;
            let [mask, final_mask] = rows.masks(n, mask_len)?;
            let flags = |array: Option<Output<'_, u8>>| array.map_or(Extent::NONE, |array| array.extent());
            let written = [
                block.obs(rows.obs)?.extent(),
                Output::at("reward", rows.reward, n)?.extent(),
                Output::at("terminated", rows.terminated, n)?.extent(),
                Output::at("truncated", rows.truncated, n)?.extent(),
                final_obs.map_or(Extent::NONE, |array| array.extent()),
                flags(Output::optional("valid", rows.valid, n)?),
                flags(mask),
                flags(final_mask),
                block.extent,
            ];
            apart(&written, &[action.extent(), env.extent()])
        }
    }

    /// `[begin, end)`, or all rows.
    #[inline(always)]
    fn range(&self, range: Option<&[u32; 2]>) -> [usize; 2] {
        range.map_or([0, self.num_envs()], |range| range.map(|row| row as usize))
    }

    fn row(&self, index: u32) -> Result<usize> {
        let n = self.num_envs();
        let i = index as usize;
        if i < n { Ok(i) } else { Err(Error::limit(Kind::Range, "vecenv: an index below", n, i).into()) }
    }
}

unsafe fn seed(p: *const u64) -> Result<Option<u64>> {
    Ok(unsafe { Input::optional("seed", p, 1)? }.and_then(|seed| seed.slice().first().copied()))
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_config_init(
    config: *mut rlcore_vecenv_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this environment and configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_size(
    env: *const rlcore_env,
    config: *const rlcore_vecenv_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let env = CompiledEnv::at(env)?;
            Ok(VecEnv::size(env, &self::config(config)?)?)
        })
    })
}

/// Creates N environments in mem. Each must be reset before it is stepped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_init(
    mem: *mut c_void,
    mem_size: usize,
    env: *const rlcore_env,
    config: *const rlcore_vecenv_config,
    out: *mut *mut rlcore_vecenv,
) -> rlcore_status {
    call(|| unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let (env, config) = (CompiledEnv::at(env)?, self::config(config)?);
        place.take(&[env.extent()], |mem| VecEnv::init(mem, env, &config))
    })
}

/// Opens the bytes of a saved or copied block. Callbacks are not saved; env supplies them.
/// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or damaged bytes;
/// E_CONFIG for another environment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_attach(
    mem: *mut c_void,
    mem_size: usize,
    env: *const rlcore_env,
    out: *mut *mut rlcore_vecenv,
) -> rlcore_status {
    call(|| unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let env = CompiledEnv::at(env)?;
        place.take(&[env.extent()], |mem| VecEnv::attach(mem, env))
    })
}

/// Starts an episode in every environment, in a new level if there are levels.
/// seed: environment i is seeded with *seed + i, modulo 2^64; NULL: the random streams continue.
/// obs:  [N, obs.len] to write.
/// Errors: E_CONFIG, before anything changes. E_CALLBACK, or E_VALUE for an observation that is not finite: earlier
/// environments are reset, the failed one must be reset again, later ones are unchanged. rlcore_last_error() names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_reset(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    seed: *const u64,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        block.reset(env, 0, block.num_envs(), How::seeded(seed)?, obs)
    })
}

/// Starts an episode in environment `index` only.
/// seed: it is seeded with *seed itself; NULL: its random stream continues.
/// obs:  [N, obs.len], of which only that row is written.
/// Errors: as rlcore_vecenv_reset; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_reset_one(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    seed: *const u64,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        let i = block.row(index)?;
        block.reset(env, i, i.saturating_add(1), How::seeded(seed)?.of_row(i), obs)
    })
}

/// rlcore_vecenv_reset with options for the environment's reset_with, which is called for every environment in place of
/// reset and restart, also if it was reset before and without a seed. Wrappers begin as after a reset with a seed; those
/// that play actions at the start of an episode pass the options on again if it ends during them. Episodes that
/// autoreset starts have no options.
/// how: seed and options.
/// obs: [N, obs.len] to write.
/// Errors: as rlcore_vecenv_reset; E_CONFIG, before anything changes, for options if the environment has no reset_with, as
/// those of the library have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_reset_with(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    how: *const rlcore_reset,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        block.reset(env, 0, block.num_envs(), How::at(how)?, obs)
    })
}

/// rlcore_vecenv_reset_one with options, as rlcore_vecenv_reset_with.
/// how: seed and options.
/// obs: [N, obs.len], of which only that row is written.
/// Errors: as rlcore_vecenv_reset_with; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_reset_one_with(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    how: *const rlcore_reset,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        let i = block.row(index)?;
        block.reset(env, i, i.saturating_add(1), How::at(how)?.of_row(i), obs)
    })
}

/// Parameters of a step besides the block and the environment.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// `[begin, end)`, or all.
    range: Option<&'a [u32; 2]>,
    level: Level,
    rows: *const rlcore_rows,
}

/// The body of every call that steps.
#[inline(never)]
unsafe fn step(v: *mut rlcore_vecenv, env: *const rlcore_env, step: Step) -> Result {
    unsafe {
        let env = CompiledEnv::at(env)?;
        Block::made_for(v, env)?.step(env, step)
    }
}

/// Steps every environment.
/// rows: reads action; writes obs, reward, terminated and truncated, and where they are given valid, action_mask, and
///       in rows that ended final_obs and final_action_mask. final_obs may be NULL unless autoreset is "same step",
///       valid unless it is "next step". active is not read: all are stepped.
/// With same-step autoreset, an environment that ends is reset in this call: final_obs receives the last observation, obs
/// the first of the next episode.
/// Errors: E_CONFIG; E_RANGE or E_VALUE for an action; E_NOT_READY for an environment that must be reset first; all before
/// anything changes. E_CALLBACK, or E_VALUE for a reward or observation that is not finite: earlier environments are
/// stepped, the failed one must be reset, later ones are unchanged. rlcore_last_error() names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_step(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe { step(v, env, Step { range: None, level: Level::New, rows }) })
}

/// Steps environments [begin, end) as rlcore_vecenv_step. The arrays are those of all N; only rows of the range are
/// used.
/// Threads: calls on disjoint ranges may run concurrently; results do not depend on the split. Ranges that begin at
/// multiples of 64 share no cache line.
/// Errors: as rlcore_vecenv_step; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_step_range(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    begin: u32,
    end: u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe { step(v, env, Step { range: Some(&[begin, end]), level: Level::New, rows }) })
}

/// As rlcore_vecenv_step, but environments that end restart in the given level. If autoreset restarts them in their next
/// step, this level applies there, not the one passed to that step.
/// level: an rlcore_level.
/// Errors: as rlcore_vecenv_step; E_RANGE for another level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_step_env(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    level: u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let level = if ptr::flag("level", level)? { Level::Same } else { Level::New };
        step(v, env, Step { range: None, level, rows })
    })
}

/// Bytes of one environment as rlcore_vecenv_row_read writes it, for batches of any N.
/// Errors: E_OVERFLOW.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_row_size(env: *const rlcore_env, out_size: *mut usize) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(env::row_size(CompiledEnv::at(env)?)?)) })
}

/// Copies environment `index` with all that its next steps depend on: its state, those of its wrappers (frame stacks,
/// limits, records), its random stream, its count of steps, and its observation. rlcore_vecenv_row_write makes it a row of
/// any block of the same environment, with other N, autoreset and seeds, also in another process: what a search branches
/// from, and where a curriculum starts.
/// Not held are what callbacks keep behind user, and what other blocks hold of an environment, such as running statistics
/// and returns of an rlcore_vec_normalize, sums of an rlcore_monitor, rings of an rlcore_lazy_frames, the memory of a
/// learner. The bytes have no pointers, and machines of the other byte order refuse them.
/// obs: [N, obs.len] of the last reset or step, of which only that row is read.
/// row: [row_size] bytes to be written, 8-byte aligned, at least rlcore_vecenv_row_size().
/// Threads: calls for different rows may run concurrently, also with steps of other rows; not with an rlcore_batch that
/// has a step of that row.
/// Errors: E_CONFIG; E_RANGE; E_NOT_READY before its reset; E_VALUE for an obs that is not finite; E_SIZE. Nothing is
/// written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_row_read(
    v: *const rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    obs: *const c_void,
    row: *mut c_void,
    row_size: usize,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::made_for(v, env)?;
        let (i, (n, width, _)) = (block.row(index)?, block.lens());
        let low = i.wrapping_mul(width);
        let obs = AnyInput::at("obs", obs, block.obs_kind, n, width)?.part(low, low.wrapping_add(width));
        let row = Output::at("row", row.cast::<u64>(), row_size / size_of::<u64>())?;
        let (row, obs, ()) = args((row, obs, Reads([block.extent, env.extent()])))?;
        Ok(block.view_part(i, 1).read_row(env, 0, obs, row)?)
    })
}

/// Makes environment `index` the one of rlcore_vecenv_row_read: with the same actions it takes the same steps, bit for
/// bit. The block keeps its autoreset and max_episode_steps. It need not have been reset before.
/// row: [row_size] bytes of rlcore_vecenv_row_read, 8-byte aligned.
/// obs: [N, obs.len], of which only that row is written: its observation.
/// Threads: as rlcore_vecenv_row_read.
/// Errors: E_CONFIG for a row of another environment, one with more steps than max_episode_steps allows here, one that has
/// ended if autoreset is "same step", and with wrappers if max_episode_steps is 0 on one side only; E_RANGE; E_SIZE;
/// E_IMAGE for another version or byte order, or damaged bytes; E_VALUE if its observation is not finite. Nothing is
/// written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_row_write(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    row: *const c_void,
    row_size: usize,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::made_for(v, env)?;
        let (i, (_, width, _)) = (block.row(index)?, block.lens());
        let low = i.wrapping_mul(width);
        let obs = block.obs(obs)?.part(low, low.wrapping_add(width));
        let row = Input::at("row", row.cast::<u64>(), row_size / size_of::<u64>())?;
        let (row, obs) = block.writing(env, (row, obs))?;
        Ok(block.rows(i, i.wrapping_add(1))?.write_row(env, 0, row, obs)?)
    })
}

/// Renders environment `index`. rgb: [height, width, 3], rows from the top.
/// Errors: E_CONFIG; E_RANGE; E_CALLBACK; E_NOT_READY before its reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_render(
    v: *const rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    width: u32,
    height: u32,
    rgb: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        let (width, height) = (width as usize, height as usize);
        let rgb = Output::at("rgb", rgb, ptr::grid("rgb", ptr::grid("rgb", width, height)?, 3)?)?;
        let rgb = block.writing(env, rgb)?;
        Ok(block.view().render(env, block.row(index)?, width, height, rgb)?)
    })
}

/// Renders every environment. rgb: [N, height, width, 3], rows from the top. rlcore_image_tile combines them.
/// Errors: as rlcore_vecenv_render; E_CALLBACK: environments before that one are rendered.
#[cfg(feature = "frames")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_images(
    v: *const rlcore_vecenv,
    env: *const rlcore_env,
    width: u32,
    height: u32,
    rgb: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        let (width, height) = (width as usize, height as usize);
        let row = ptr::grid("rgb", ptr::grid("rgb", width, height)?, 3)?;
        let rgb = Output::at("rgb", rgb, ptr::grid("rgb", block.num_envs(), row)?)?;
        let rgb = block.writing(env, rgb)?;
        Ok(block.view().images(env, width, height, rgb)?)
    })
}

/// Number of lives left in each environment. lives: [N] to write.
/// Errors: E_CONFIG; E_NOT_READY if an environment was never reset; E_CALLBACK: earlier rows are written.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_lives(
    v: *const rlcore_vecenv,
    env: *const rlcore_env,
    lives: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        let lives = Output::at("lives", lives, block.num_envs())?;
        let lives = block.writing(env, lives)?;
        let view = block.view();
        view.check_ready()?;
        for (i, lives) in lives.iter_mut().enumerate() {
            *lives = view.lives(env, i)?;
        }
        Ok(())
    })
}

/// Which choices are allowed now: 1 if allowed, else 0. mask: [N, sum of action.n] to write.
/// Errors: E_CONFIG for actions that are not RLCORE_I32, and as rlcore_vecenv_lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_action_mask(
    v: *const rlcore_vecenv,
    env: *const rlcore_env,
    mask: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let block = Block::at(v, env)?;
        let width = env.spec().action.n.iter().fold(0usize, |sum, &n| sum.saturating_add(n as usize));
        Error::new(Kind::Config, "actions that are discrete").fail_if(width == 0).about("action_mask")?;
        let mask = Output::at("mask", mask, ptr::grid("mask", block.num_envs(), width)?)?;
        let mask = block.writing(env, mask)?;
        let view = block.view();
        view.check_ready()?;
        for (i, row) in mask.chunks_exact_mut(width).enumerate() {
            view.action_mask(env, i, row)?;
        }
        Ok(())
    })
}

/// Number of environments in a block, e.g. one that was loaded. out: [1] N.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_num_envs(v: *const rlcore_vecenv, out: *mut u32) -> rlcore_status {
    call(|| unsafe {
        let block = Block::of_any(v)?;
        let out = block.extent.reading(One::at("out", out)?)?;
        *out = block.setup.num_envs;
        Ok(())
    })
}
