//! N environments of one kind in the caller's block.

use core::ffi::c_void;

use crate::env::{Bare, CEnv, Calls, Only, Room, Steps, rlcore_env_def};
use crate::lifecycle::{self, Place};
use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, AnyOutput, Args, Extent, Input, One, Output, Writes, apart, args_beside};
use crate::status::{About, Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use crate::written::{are_apart, only_are_apart};
use rlcore::env::{Autoreset, Builtin, Env, Level, Rows, Setup, Spans, StepOut, VecEnv, VecEnvConfig, View};
use rlcore::error::{Error, Kind};
use rlcore::space::{Element, ElementsMut, Space};

/// N environments, stepped together.
/// Example:
///   rlcore_vecenv_config_init(&config, sizeof config);
///   config.num_envs = N;
///   rlcore_vecenv_size(&env, &config, &size);
///   rlcore_vecenv_init(mem, size, &env, &config, &v);
///   rlcore_vecenv_reset(v, &env, NULL, rows.obs);
///   while (running) rlcore_vecenv_step(v, &env, &rows);    // with rows.action chosen for rows.obs
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

pub(crate) unsafe fn config(p: *const rlcore_vecenv_config) -> Result<VecEnvConfig> {
    let c = unsafe { ptr::sized(p)? };
    let unknown = Error::new(Kind::Config, "autoreset of 0 (same step), 1 (next step), 2 (disabled) or 3 (legacy)");
    let unknown = unknown.given(c.autoreset as usize);
    let autoreset = Autoreset::from_number(c.autoreset).ok_or(unknown).about("vecenv config")?;
    Ok(VecEnvConfig { num_envs: c.num_envs, seed: c.seed, autoreset, max_episode_steps: c.max_episode_steps })
}

/// A block that `init` or `attach` accepted. Only its header and setup are looked at, which nothing writes.
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
    pub(crate) unsafe fn at(p: *const rlcore_vecenv, env: &CEnv<'_>) -> Result<Block<'a>> {
        let block = unsafe { Self::of_one(p)? };
        block.setup.check_env(env)?;
        Ok(block)
    }

    /// [`Block::of_any`], for calls that are made seldom.
    #[inline(never)]
    unsafe fn of_one(p: *const rlcore_vecenv) -> Result<Block<'a>> {
        unsafe { Self::of_any(p) }
    }

    /// [`Block::at`] of any environment. Errors: `Null`, `Align`, `Image`.
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

    unsafe fn view(&self) -> View<'a> {
        unsafe {
            View {
                setup: self.setup,
                first: 0,
                state: ptr::field(self.base, self.spans.state),
                phase: ptr::field(self.base, self.spans.phase),
            }
        }
    }

    pub(crate) unsafe fn obs(&self, p: *mut c_void) -> Result<AnyOutput<'a>> {
        unsafe { AnyOutput::at("obs", p, self.obs_kind, self.num_envs(), self.setup.obs_len as usize) }
    }

    unsafe fn reset(&self, env: &CEnv<'_>, begin: usize, end: usize, seed: Option<u64>, obs: *mut c_void) -> Result {
        let width = self.setup.obs_len as usize;
        let (low, high) = (begin.saturating_mul(width), end.saturating_mul(width));
        let obs = unsafe { self.obs(obs)? }.part(low, high);
        let obs = self.writing(env, obs)?;
        Ok(unsafe { self.rows(begin, end)? }.reset(env, seed, obs)?)
    }

    /// The arrays of a call that writes to this block, or to nothing else.
    fn writing<A: Args>(&self, env: &CEnv<'_>, arrays: A) -> Result<A::Slices> {
        Ok(args_beside((arrays, Writes([self.extent])), &env.extents())?.0)
    }

    /// A step of any environment: says what is wrong of one that is refused.
    unsafe fn step(&self, env: &CEnv<'_>, step: Step) -> Result {
        let Step { range, level, rows } = step;
        let (n, obs_len, action_len) = (self.num_envs(), self.setup.obs_len as usize, self.setup.action_len as usize);
        let out = unsafe { *rlcore_rows::at(rows, &mut None)? };
        let (action, obs, reward, terminated, truncated, final_obs, valid) = unsafe {
            (
                AnyInput::at("action", out.action.cast_const(), self.action_kind, n, action_len)?,
                self.obs(out.obs)?,
                Output::at("reward", out.reward, n)?,
                Output::at("terminated", out.terminated, n)?,
                Output::at("truncated", out.truncated, n)?,
                AnyOutput::optional("final_obs", out.final_obs, self.obs_kind, n, obs_len)?,
                Output::optional("valid", out.valid, n)?,
            )
        };
        let [mask, final_mask] = unsafe { out.masks(n, self.setup.mask_len)? };
        let outputs = [
            obs.extent(),
            reward.extent(),
            terminated.extent(),
            truncated.extent(),
            final_obs.as_ref().map_or(Extent::NONE, AnyOutput::extent),
            valid.as_ref().map_or(Extent::NONE, Output::extent),
            mask.as_ref().map_or(Extent::NONE, Output::extent),
            final_mask.as_ref().map_or(Extent::NONE, Output::extent),
            self.extent,
        ];
        apart(&outputs, &[action.extent()])?;
        apart(&outputs, &env.extents())?;
        let [begin, end] = self.range(range);
        let rows = unsafe { self.rows(begin, end)? };
        let count = rows.len();
        let masks = self.setup.mask_len as usize;
        // These rows are there: `rows` has checked the range, and all arrays have as many rows as the block.
        let (action, out) = unsafe {
            let out = StepOut {
                obs: obs.rows(begin, count, obs_len).elements(),
                reward: reward.rows(begin, count, 1).slice(),
                terminated: terminated.rows(begin, count, 1).slice(),
                truncated: truncated.rows(begin, count, 1).slice(),
                final_obs: final_obs.map(|x| x.rows(begin, count, obs_len).elements()),
                valid: valid.map(|x| x.rows(begin, count, 1).slice()),
                action_mask: mask.map(|x| x.rows(begin, count, masks).slice()),
                final_action_mask: final_mask.map(|x| x.rows(begin, count, masks).slice()),
            };
            (action.rows(begin, count, action_len), out)
        };
        self.setup.check_env(env)?;
        rows.step_cut(env, level, action.elements(), out)
    }

    /// The same in few instructions, of numbers in an environment that is `plain`, if nothing of its arrays has to be
    /// refused. `None`, before anything changes, of all others.
    #[inline(always)]
    unsafe fn step_plain(&self, env: Bare<'_>, def: &rlcore_env_def, step: Step) -> Option<Result> {
        if self.obs_kind != Element::F32 || !self.setup.is_for(&env) {
            return None;
        }
        let Step { range, level, rows } = step;
        let (n, obs_len, action_len) = (self.num_envs(), self.setup.obs_len as usize, self.setup.action_len as usize);
        let (action, obs, reward, terminated, truncated, final_obs, valid) = unsafe {
            let out = ptr::current(rows).filter(|rows| rows.is_plain())?;
            (
                AnyInput::if_there(out.action.cast_const(), self.action_kind, n.wrapping_mul(action_len))?,
                Output::<f32>::if_there(out.obs.cast(), n.wrapping_mul(obs_len))?,
                Output::if_there(out.reward, n)?,
                Output::if_there(out.terminated, n)?,
                Output::if_there(out.truncated, n)?,
                match out.final_obs.is_null() {
                    true => None,
                    false => Some(Output::<f32>::if_there(out.final_obs.cast(), n.wrapping_mul(obs_len))?),
                },
                match out.valid.is_null() {
                    true => None,
                    false => Some(Output::if_there(out.valid, n)?),
                },
            )
        };
        let (a, b, c, d) = (obs.extent(), reward.extent(), terminated.extent(), truncated.extent());
        let e = final_obs.as_ref().map_or(Extent::NONE, Output::extent);
        let f = valid.as_ref().map_or(Extent::NONE, Output::extent);
        if !are_apart([a, b, c, d, e, f], self.extent, action.extent(), def) {
            return None;
        }
        let [begin, end] = self.range(range);
        // As in `step`.
        unsafe {
            let rows = self.rows(begin, end).ok()?;
            let count = rows.len();
            let out = StepOut {
                obs: ElementsMut::F32(obs.rows(begin, count, obs_len).slice()),
                reward: reward.rows(begin, count, 1).slice(),
                terminated: terminated.rows(begin, count, 1).slice(),
                truncated: truncated.rows(begin, count, 1).slice(),
                final_obs: final_obs.map(|x| ElementsMut::F32(x.rows(begin, count, obs_len).slice())),
                valid: valid.map(|x| x.rows(begin, count, 1).slice()),
                action_mask: None,
                final_action_mask: None,
            };
            let action = action.rows(begin, count, action_len).elements();
            Some(rows.step_cut(&env, level, action, out))
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

pub(crate) unsafe fn seed(p: *const u64) -> Result<Option<u64>> {
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
    env: *const rlcore_env_def,
    config: *const rlcore_vecenv_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let mut room = Room::default();
            let env = CEnv::at(env, &mut room)?;
            Ok(VecEnv::size(&env, &self::config(config)?)?)
        })
    })
}

/// Creates N environments in mem. Each must be reset before it is stepped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_init(
    mem: *mut c_void,
    mem_size: usize,
    env: *const rlcore_env_def,
    config: *const rlcore_vecenv_config,
    out: *mut *mut rlcore_vecenv,
) -> rlcore_status {
    call(|| unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let mut room = Room::default();
        let (env, config) = (CEnv::at(env, &mut room)?, self::config(config)?);
        place.take(&env.extents(), |mem| VecEnv::init(mem, &env, &config))
    })
}

/// Opens the bytes of a saved or copied block. Callbacks are not saved; env supplies them.
/// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or damaged bytes;
/// E_CONFIG for another environment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_attach(
    mem: *mut c_void,
    mem_size: usize,
    env: *const rlcore_env_def,
    out: *mut *mut rlcore_vecenv,
) -> rlcore_status {
    call(|| unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        place.take(&env.extents(), |mem| VecEnv::attach(mem, &env))
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
    env: *const rlcore_env_def,
    seed: *const u64,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let block = Block::at(v, &env)?;
        block.reset(&env, 0, block.num_envs(), self::seed(seed)?, obs)
    })
}

/// Starts an episode in environment `index` only.
/// seed: it is seeded with *seed itself; NULL: its random stream continues.
/// obs:  [N, obs.len], of which only that row is written.
/// Errors: as rlcore_vecenv_reset; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_reset_one(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env_def,
    index: u32,
    seed: *const u64,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let block = Block::at(v, &env)?;
        let i = block.row(index)?;
        let seed = self::seed(seed)?.map(|seed| seed.wrapping_sub(i as u64));
        block.reset(&env, i, i.saturating_add(1), seed, obs)
    })
}

/// What a step is asked for, beside the block and the environment.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// `[begin, end)`, or all.
    range: Option<&'a [u32; 2]>,
    level: Level,
    rows: *const rlcore_rows,
}

/// Every call that steps. The caller's functions and the library's environments are stepped by code of their own, and a block
/// of one by yet another, which is compiled without the other ways that a step may go and without the words for what is
/// refused; a build that is to be small has one for all.
#[inline(always)]
unsafe fn step(v: *mut rlcore_vecenv, env: *const rlcore_env_def, step: Step) -> Result {
    let Step { range, level, rows } = step;
    unsafe {
        match ptr::current(env).filter(|_| cfg!(feature = "simd")) {
            Some(def) => {
                let one_choice = (def.action.kind, def.action.len) == (Element::I32 as u32, 1);
                match (def.has_own_id(), one_choice) {
                    (true, true) => step_by::<&Builtin, true>(v, def, range, level, rows),
                    (true, false) => step_by::<&Builtin, false>(v, def, range, level, rows),
                    (false, true) => step_by::<Calls, true>(v, def, range, level, rows),
                    (false, false) => step_by::<Calls, false>(v, def, range, level, rows),
                }
            }
            None => step_any(v, env, range, level, rows),
        }
    }
}

/// Of an environment whose steps are these, and whose actions are one choice or not.
#[inline(never)]
unsafe fn step_by<S: Steps, const ONE_CHOICE: bool>(
    v: *mut rlcore_vecenv,
    def: &rlcore_env_def,
    range: Option<&[u32; 2]>,
    level: Level,
    rows: *const rlcore_rows,
) -> Result {
    unsafe {
        let only = S::of(def).filter(|_| range.is_none());
        match only.and_then(|steps| step_only::<S, ONE_CHOICE>(v, def, steps, level, rows)) {
            Some(done) => done,
            None => step_several::<S>(v, def, range, level, rows),
        }
    }
}

/// A step of the environment of a block of one, in few instructions, of numbers and of what is bare, if nothing of the call
/// has to be refused. `None`, before anything changes, of all others.
#[inline(always)]
unsafe fn step_only<S: Steps, const ONE_CHOICE: bool>(
    v: *mut rlcore_vecenv,
    def: &rlcore_env_def,
    steps: S,
    level: Level,
    rows: *const rlcore_rows,
) -> Option<Result> {
    let base: *mut u8 = v.cast();
    let setup = Setup::read(unsafe { ptr::present(base.cast_const(), Setup::END)? }).ok()?;
    let out = unsafe { ptr::current(rows)? };
    let action = out.action.cast_const();
    let plain = setup.num_envs == 1 && setup.obs_kind == Element::F32 as u32 && out.is_plain();
    let other = !ONE_CHOICE && def.action.kind != Element::F32 as u32;
    if other || !(plain && def.is_bare() && S::are_for(def, setup)) {
        return None;
    }
    let (spans, size) = setup.lay().ok()?;
    // Of a setup with the actions of this environment.
    let (kind, action_len) = match ONE_CHOICE {
        true => (Element::I32, 1),
        false => (Element::F32, setup.action_len as usize),
    };
    let (obs_len, state_size) = (setup.obs_len as usize, setup.state_size as usize);
    let (final_obs, valid) = (out.final_obs.addr(), out.valid.addr());
    if !only_are_apart::<ONE_CHOICE>(def, setup, (base.addr(), size), action.addr(), out) {
        return None;
    }
    // Everything is there, aligned and apart.
    unsafe {
        let n = if kind == Element::I32 { ptr::known(def.action.n, action_len) } else { &[] };
        let actions = Space { kind, len: action_len as u32, low: &[], high: &[], n, fields: &[] };
        let rows = Rows {
            setup,
            first: 0,
            state: ptr::part_mut(base, spans.state, 0, state_size),
            rng: ptr::part_mut(base, spans.rng, 0, 1),
            steps: ptr::part_mut(base, spans.steps, 0, 1),
            phase: ptr::part_mut(base, spans.phase, 0, 1),
        };
        let floats = |p: *mut c_void| ElementsMut::F32(ptr::known_mut(p.cast(), obs_len));
        let out = StepOut {
            obs: floats(out.obs),
            reward: ptr::known_mut(out.reward, 1),
            terminated: ptr::known_mut(out.terminated, 1),
            truncated: ptr::known_mut(out.truncated, 1),
            final_obs: if final_obs == 0 { None } else { Some(floats(out.final_obs)) },
            valid: if valid == 0 { None } else { Some(ptr::known_mut(out.valid, 1)) },
            action_mask: None,
            final_action_mask: None,
        };
        let action = AnyInput::known(action, kind, action_len).elements();
        Some(rows.step_cut(&Only { steps, setup, actions }, level, action, out))
    }
}

/// A step of any number of rows.
#[inline(never)]
unsafe fn step_several<S: Steps>(
    v: *mut rlcore_vecenv,
    def: &rlcore_env_def,
    range: Option<&[u32; 2]>,
    level: Level,
    rows: *const rlcore_rows,
) -> Result {
    let done = unsafe {
        match (Bare::plain(def, S::OWN), Block::of_any(v)) {
            (Some(plain), Ok(block)) => block.step_plain(plain, def, Step { range, level, rows }),
            _ => None,
        }
    };
    match done {
        Some(result) => result,
        None => unsafe { step_any(v, def, range, level, rows) },
    }
}

#[inline(never)]
unsafe fn step_any(
    v: *mut rlcore_vecenv,
    env: *const rlcore_env_def,
    range: Option<&[u32; 2]>,
    level: Level,
    rows: *const rlcore_rows,
) -> Result {
    let mut room = Room::default();
    unsafe {
        let env = CEnv::at(env, &mut room)?;
        Block::of_one(v)?.step(&env, Step { range, level, rows })
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
    env: *const rlcore_env_def,
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
    env: *const rlcore_env_def,
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
    env: *const rlcore_env_def,
    level: u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let level = if ptr::flag("level", level)? { Level::Same } else { Level::New };
        step(v, env, Step { range: None, level, rows })
    })
}

/// Renders environment `index`. rgb: [height, width, 3], rows from the top.
/// Errors: E_CONFIG; E_RANGE; E_CALLBACK; E_NOT_READY before its reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_render(
    v: *const rlcore_vecenv,
    env: *const rlcore_env_def,
    index: u32,
    width: u32,
    height: u32,
    rgb: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let block = Block::at(v, &env)?;
        let (width, height) = (width as usize, height as usize);
        let rgb = Output::at("rgb", rgb, ptr::grid("rgb", ptr::grid("rgb", width, height)?, 3)?)?;
        let rgb = block.writing(&env, rgb)?;
        Ok(block.view().render(&env, block.row(index)?, width, height, rgb)?)
    })
}

/// Renders every environment. rgb: [N, height, width, 3], rows from the top. rlcore_image_tile combines them.
/// Errors: as rlcore_vecenv_render; E_CALLBACK: environments before that one are rendered.
#[cfg(feature = "frames")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_images(
    v: *const rlcore_vecenv,
    env: *const rlcore_env_def,
    width: u32,
    height: u32,
    rgb: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let block = Block::at(v, &env)?;
        let (width, height) = (width as usize, height as usize);
        let row = ptr::grid("rgb", ptr::grid("rgb", width, height)?, 3)?;
        let rgb = Output::at("rgb", rgb, ptr::grid("rgb", block.num_envs(), row)?)?;
        let rgb = block.writing(&env, rgb)?;
        Ok(block.view().images(&env, width, height, rgb)?)
    })
}

/// Number of lives left in each environment. lives: [N] to write.
/// Errors: E_CONFIG; E_NOT_READY if an environment was never reset; E_CALLBACK: earlier rows are written.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_lives(
    v: *const rlcore_vecenv,
    env: *const rlcore_env_def,
    lives: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let block = Block::at(v, &env)?;
        let lives = Output::at("lives", lives, block.num_envs())?;
        let lives = block.writing(&env, lives)?;
        let view = block.view();
        view.check_ready()?;
        for (i, lives) in lives.iter_mut().enumerate() {
            *lives = view.lives(&env, i)?;
        }
        Ok(())
    })
}

/// Which choices are allowed now: 1 if allowed, else 0. mask: [N, sum of action.n] to write.
/// Errors: E_CONFIG for actions that are not RLCORE_I32, and as rlcore_vecenv_lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_action_mask(
    v: *const rlcore_vecenv,
    env: *const rlcore_env_def,
    mask: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let block = Block::at(v, &env)?;
        let width = env.spec().action.n.iter().fold(0usize, |sum, &n| sum.saturating_add(n as usize));
        Error::new(Kind::Config, "actions that are discrete").when(width == 0).about("action_mask")?;
        let mask = Output::at("mask", mask, ptr::grid("mask", block.num_envs(), width)?)?;
        let mask = block.writing(&env, mask)?;
        let view = block.view();
        view.check_ready()?;
        for (i, row) in mask.chunks_exact_mut(width).enumerate() {
            view.action_mask(&env, i, row)?;
        }
        Ok(())
    })
}

/// Number of environments in a block, e.g. one that was loaded. out: [1] N.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vecenv_num_envs(v: *const rlcore_vecenv, out: *mut u32) -> rlcore_status {
    call(|| unsafe {
        let block = Block::of_one(v)?;
        let out = block.extent.reading(One::at("out", out)?)?;
        *out = block.setup.num_envs;
        Ok(())
    })
}
