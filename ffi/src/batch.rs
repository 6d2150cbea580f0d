//! Asynchronous steps of N environments, in a block that threads and processes share.

use core::ffi::c_void;

use crate::env::{CompiledEnv, rlcore_env};
use crate::lifecycle::{self, Place};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, AnyInput, AnyOutput, Args, Extent, Input, One, OutSized, Output, Reads, Writes, apart, args};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use crate::vecenv::{self, How, rlcore_reset, rlcore_vecenv, rlcore_vecenv_config};
use rlcore::env::batch::{self, Batch, Config, Lanes, Setup, Share, Shares, Spans};
use rlcore::env::{Env, Level, Reset, Rows, StepOut};
use rlcore::space::{Element, Elements, ElementsMut};

/// Asynchronous steps of an rlcore_vecenv: one thread, the host, submits steps and collects results; workers do the steps
/// in rlcore_batch_run. Workers are threads, or processes if both blocks lie in shared memory and the callbacks have the
/// same addresses (fork()). Results do not depend on which worker does what.
/// Example:
///   rlcore_batch_size(env, &vecenv_config, &config, &size);
///   rlcore_batch_init(mem, size, env, &vecenv_config, &config, &b);
///   rlcore_batch_reset(b, v, env, NULL, rows.obs);
///   rlcore_batch_step_async(b, v, env, &rows);
///   rlcore_batch_run(b, v, env, worker, UINT32_MAX, &count);       // in each worker
///   status = rlcore_batch_step_wait(b, &rows);                      // E_NOT_READY while workers are busy
/// Rows are divided into groups of in_series. A group is idle, pending, running or done. Host calls must not run
/// concurrently. No call blocks: a host with nothing else to do may call rlcore_batch_run itself. While a group is not idle
/// its rows belong to the batch: no other rlcore_vecenv call may use them. The environment's action_mask is called in each
/// step, so that masks can be collected.
pub struct rlcore_batch;

/// Configuration of a batch.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_batch_config {
    /// bytes; set by rlcore_batch_config_init
    pub struct_size: u32,
    /// rows per group, stepped in order by one worker; must divide num_envs; default 1
    pub in_series: u32,
}

versioned!(rlcore_batch_config, "batch config", in_series, Config::default().into());
mirror!(rlcore_batch_config, Config { in_series });

/// Number of groups in each state. Not a consistent snapshot while workers run.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_batch_counts {
    /// sizeof(rlcore_batch_counts)
    pub struct_size: u32,
    /// 1 after rlcore_batch_close, else 0
    pub closed: u32,
    /// groups that no worker has started
    pub num_pending: u32,
    /// groups that a worker is stepping
    pub num_running: u32,
    /// groups that can be collected
    pub num_done: u32,
}

versioned!(rlcore_batch_counts, "batch counts", num_done);

unsafe fn config(p: *const rlcore_batch_config) -> Result<Config> {
    Ok(unsafe { ptr::sized(p)? }.into())
}

/// The setup of the vectorized environment that a batch is made for.
unsafe fn vecenv_setup(env: &CompiledEnv<'_>, config: *const rlcore_vecenv_config) -> Result<rlcore::env::Setup> {
    Ok(rlcore::env::Setup::new(&env.spec(), &unsafe { vecenv::config(config)? })?)
}

/// A block that `init` or `attach` accepted. Only its header and setup are read, which no call writes.
struct Block {
    base: *mut u8,
    extent: Extent,
    setup: Setup,
    spans: Spans,
    obs_kind: Element,
    action_kind: Element,
}

impl Block {
    /// Errors: `Null`, `Align`, `Image`.
    unsafe fn at(p: *const rlcore_batch) -> Result<Block> {
        let base: *const u8 = p.cast();
        let setup = Setup::read(unsafe { Input::at("batch", base, Setup::END)? }.slice())?;
        let (spans, size) = batch::spans(&setup)?;
        let (obs_kind, action_kind) = setup.kinds()?;
        let extent = Extent::of("batch", base, size);
        Ok(Block { base: base.cast_mut(), extent, setup, spans, obs_kind, action_kind })
    }

    unsafe fn batch<'a>(&self) -> Result<Batch<'a>> {
        Ok(Batch::over(self.setup, unsafe { ptr::atomics(self.base, self.spans.words) })?)
    }

    /// The vectorized environment that the batch was made for. Errors: `Null`, `Align`, `Image`; `Config` for another.
    unsafe fn vecenv<'v>(&self, v: *const rlcore_vecenv, env: &CompiledEnv<'_>) -> Result<vecenv::Block<'v>> {
        let block = unsafe { vecenv::Block::at(v, env)? };
        self.setup.check_vecenv(block.setup)?;
        Ok(block)
    }

    /// The output arrays of `rows` rows, and `more`; none overlaps another or the block.
    unsafe fn out<'a, A: Args>(
        &self,
        out: *const rlcore_rows,
        rows: usize,
        more: A,
    ) -> Result<(StepOut<'a>, A::Slices)> {
        let out = unsafe { *rlcore_rows::at(out, &mut None)? };
        let obs_len = self.setup.vecenv.obs_len as usize;
        let [mask, final_mask] = unsafe { out.masks(rows, self.setup.vecenv.mask_len)? };
        let arrays = unsafe {
            (
                AnyOutput::at("obs", out.obs, self.obs_kind, rows, obs_len)?,
                Output::at("reward", out.reward, rows)?,
                Output::at("terminated", out.terminated, rows)?,
                Output::at("truncated", out.truncated, rows)?,
                AnyOutput::optional("final_obs", out.final_obs, self.obs_kind, rows, obs_len)?,
                Output::optional("valid", out.valid, rows)?,
                (mask, final_mask, more),
            )
        };
        let (obs, reward, terminated, truncated, final_obs, valid, rest) = self.extent.reading(arrays)?;
        let (action_mask, final_action_mask, more) = rest;
        Ok((StepOut { obs, reward, terminated, truncated, final_obs, valid, action_mask, final_action_mask }, more))
    }

    fn num_envs(&self) -> usize {
        self.setup.vecenv.num_envs as usize
    }
}

impl Shares for Block {
    fn share<T>(&self, group: usize, work: impl FnOnce(Share<'_>) -> T) -> Option<T> {
        let rows = self.setup.in_series as usize;
        let begin = group.saturating_mul(rows);
        let (base, s) = (self.base, &self.spans);
        let obs = (self.setup.vecenv.obs_len as usize).saturating_mul(self.obs_kind.size());
        let action = (self.setup.vecenv.action_len as usize).saturating_mul(self.action_kind.size());
        // SAFETY: the core asks for the columns of a group only on behalf of the group's current owner.
        unsafe {
            let elements = |kind, span, width: usize| {
                let (first, len) = (begin.saturating_mul(width), rows.saturating_mul(width));
                ElementsMut::of_bytes(kind, ptr::field_mut(base, span, first, len)).ok()
            };
            let width = self.setup.vecenv.mask_len as usize;
            let masks = |span| {
                (width > 0).then(|| ptr::field_mut(base, span, begin.saturating_mul(width), rows.saturating_mul(width)))
            };
            let out = StepOut {
                obs: elements(self.obs_kind, s.obs, obs)?,
                reward: ptr::field_mut(base, s.reward, begin, rows),
                terminated: ptr::field_mut(base, s.terminated, begin, rows),
                truncated: ptr::field_mut(base, s.truncated, begin, rows),
                final_obs: Some(elements(self.obs_kind, s.final_obs, obs)?),
                valid: Some(ptr::field_mut(base, s.valid, begin, rows)),
                action_mask: masks(s.action_mask),
                final_action_mask: masks(s.final_action_mask),
            };
            let action = elements(self.action_kind, s.action, action)?;
            Some(work(Share { action, out, outcome: ptr::field_mut(base, s.outcome, begin, rows) }))
        }
    }
}

/// The rows of a vectorized environment, group by group.
struct Groups<'a> {
    vecenv: &'a vecenv::Block<'a>,
    in_series: usize,
}

impl Lanes for Groups<'_> {
    fn lane<T>(&self, group: usize, work: impl FnOnce(Rows<'_>) -> T) -> Option<T> {
        let begin = group.saturating_mul(self.in_series);
        // SAFETY: as for `Shares`.
        let rows = unsafe { self.vecenv.rows(begin, begin.saturating_add(self.in_series)) };
        Some(work(rows.ok()?))
    }
}

/// The objects that most calls open first.
struct Parts<'a> {
    block: Block,
    env: &'a CompiledEnv<'a>,
    vecenv: vecenv::Block<'a>,
}

impl<'a> Parts<'a> {
    /// Errors: `Null`, `Align`, `Image`; `Config` for another vecenv or environment; `Overlap`.
    unsafe fn at(b: *const rlcore_batch, v: *const rlcore_vecenv, env: *const rlcore_env) -> Result<Self> {
        let env = unsafe { CompiledEnv::at(env)? };
        let block = unsafe { Block::at(b)? };
        let vecenv = unsafe { block.vecenv(v, env)? };
        apart(&[block.extent, vecenv.extent], &[env.extent()])?;
        Ok(Parts { block, env, vecenv })
    }

    /// Actions of `rows` rows; they overlap neither block.
    unsafe fn action<'b>(&self, given: *const rlcore_rows, rows: usize) -> Result<Elements<'b>> {
        let action = unsafe { rlcore_rows::at(given, &mut None)?.action.cast_const() };
        let width = self.block.setup.vecenv.action_len as usize;
        let action = unsafe { AnyInput::at("action", action, self.block.action_kind, rows, width)? };
        self.writing(action)
    }

    /// The arrays of a call that writes to both blocks.
    fn writing<A: Args>(&self, arrays: A) -> Result<A::Slices> {
        Ok(args((arrays, Writes([self.block.extent, self.vecenv.extent])))?.0)
    }

    /// The arrays of a reset.
    unsafe fn resetting<'b>(&self, how: How<'b>, obs: *mut c_void) -> Result<(Reset<'b>, ElementsMut<'a>)> {
        let obs = unsafe { self.vecenv.obs(obs)? };
        apart(&[obs.extent()], &[self.env.extent()])?;
        let (options, obs) = self.writing((how.options, obs))?;
        Ok((Reset { seed: how.seed, options }, obs))
    }

    fn lanes(&self) -> Groups<'_> {
        Groups { vecenv: &self.vecenv, in_series: self.block.setup.in_series as usize }
    }
}

unsafe fn submit_all(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    level: Level,
    rows: *const rlcore_rows,
) -> Result {
    let parts = unsafe { Parts::at(b, v, env)? };
    let action = unsafe { parts.action(rows, parts.block.num_envs())? };
    let (batch, lanes) = (unsafe { parts.block.batch()? }, parts.lanes());
    Ok(batch.step_env_async(&parts.block, &lanes, parts.env, level, action)?)
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_config_init(
    config: *mut rlcore_batch_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size in bytes of a batch for an rlcore_vecenv of this environment and configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_size(
    env: *const rlcore_env,
    vecenv_config: *const rlcore_vecenv_config,
    config: *const rlcore_batch_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        ptr::put("out_size", out_size, || {
            let env = CompiledEnv::at(env)?;
            Ok(batch::size(&vecenv_setup(env, vecenv_config)?, &self::config(config)?)?)
        })
    })
}

/// Creates an idle batch in mem, for any rlcore_vecenv of this environment and configuration.
/// mem must remain valid until no worker is in a call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_init(
    mem: *mut c_void,
    mem_size: usize,
    env: *const rlcore_env,
    vecenv_config: *const rlcore_vecenv_config,
    config: *const rlcore_batch_config,
    out: *mut *mut rlcore_batch,
) -> rlcore_status {
    call(|| unsafe {
        let place = Place::at(mem, mem_size, out)?;
        let env = CompiledEnv::at(env)?;
        let setup = vecenv_setup(env, vecenv_config)?;
        let config = self::config(config)?;
        place.take(&[env.extent()], |mem| batch::init(mem, &setup, &config))
    })
}

/// Opens the bytes of a saved or copied batch. mem is only read. If the copy was made while workers were running, call
/// rlcore_batch_abandon for each of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_batch,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], batch::attach) })
}

/// Submits a step of every row. rows: reads action, which is copied.
/// Errors: E_CONFIG for a closed batch or another vecenv or environment; E_BUSY if a row was submitted and not collected;
/// E_RANGE or E_VALUE for an action; E_NOT_READY for a row that must be reset first; all before anything changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_step_async(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe { submit_all(b, v, env, Level::New, rows) })
}

/// As rlcore_batch_step_async, but environments that end restart in the given level, as in rlcore_vecenv_step_env.
/// level: an rlcore_level.
/// Errors: as rlcore_batch_step_async; E_RANGE for another level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_step_env_async(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    level: u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let level = if ptr::flag("level", level)? { Level::Same } else { Level::New };
        submit_all(b, v, env, level, rows)
    })
}

/// Does submitted work: steps pending groups until none is left or max_groups are done. Does not block. Any number of
/// threads and processes may call it concurrently, also during a host call.
/// worker:         the caller's number, below 2^30; must be unique if rlcore_batch_abandon is to be used.
/// max_groups:     UINT32_MAX: no limit.
/// out_num_groups: number of groups stepped.
/// Errors: E_RANGE; E_CONFIG for a closed batch or another vecenv or environment. Failures of callbacks are reported to
/// the host when it collects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_run(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    worker: u32,
    max_groups: u32,
    out_num_groups: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let out = parts.writing(One::at("out_num_groups", out_num_groups)?)?;
        *out = parts.block.batch()?.run(&parts.block, &parts.lanes(), parts.env, worker, max_groups)?;
        Ok(())
    })
}

/// Collects everything submitted, once all of it is done. Does not block.
/// rows: writes all that rlcore_vecenv_step writes; reads nothing.
/// Errors: E_CONFIG for a closed batch; E_NOT_PENDING if no step is pending; E_NOT_READY while workers are not done; all
/// before anything changes. E_CALLBACK (also for rows of an abandoned worker), or E_VALUE for a reward or observation
/// that is not finite: everything is collected, but failed rows are not written and must be reset. rlcore_last_error()
/// names the first, rlcore_batch_failed() returns all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_step_wait(b: *mut rlcore_batch, rows: *const rlcore_rows) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(b)?;
        let (out, ()) = block.out(rows, block.num_envs(), Reads([]))?;
        Ok(block.batch()?.step_wait(&block, out)?)
    })
}

/// Collects rows of finished groups while others are still running: for environments whose steps vary in duration. The
/// order depends on the workers' speed, the results of a row do not. No group is collected twice while another one is
/// done and waiting.
/// num_rows: number of rows, a multiple of in_series; exactly this many are collected, or none.
/// index:    [num_rows] to write: their numbers, ascending.
/// rows:     arrays of num_rows rows, written as by rlcore_vecenv_step; row k is that of environment index[k].
/// Errors: as rlcore_batch_step_wait; E_RANGE for num_rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_recv(
    b: *mut rlcore_batch,
    num_rows: u32,
    index: *mut u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(b)?;
        let index = Output::at("index", index, num_rows as usize)?;
        let (out, index) = block.out(rows, num_rows as usize, index)?;
        Ok(block.batch()?.recv(&block, index, out)?)
    })
}

/// Submits a step of some rows; others may be running.
/// num_rows: number of rows, a multiple of in_series.
/// index:    [num_rows] whole groups, ascending, as rlcore_batch_recv returns them.
/// rows:     reads action of num_rows rows, which is copied; row k is for environment index[k].
/// Errors: as rlcore_batch_step_async; E_RANGE for index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_send(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    num_rows: u32,
    index: *const u32,
    rows: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let index = Input::at("index", index, num_rows as usize)?;
        let action = parts.action(rows, num_rows as usize)?;
        let index = parts.writing(index)?;
        let (batch, lanes) = (parts.block.batch()?, parts.lanes());
        Ok(batch.send(&parts.block, &lanes, parts.env, index, action)?)
    })
}

/// Starts an episode in every environment, as rlcore_vecenv_reset. Discards submitted steps: pending groups are withdrawn,
/// results of running ones are dropped.
/// seed: environment i is seeded with *seed + i, modulo 2^64; NULL: the random streams continue.
/// obs:  [N, obs.len] to write.
/// Errors: E_CONFIG, before anything changes. E_NOT_READY while a worker is stepping a group: the steps are discarded
/// nevertheless, and until this call succeeds nothing is pending and submitting returns E_BUSY. E_CALLBACK and E_VALUE as
/// for rlcore_vecenv_reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_reset(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    seed: *const u64,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let (how, obs) = parts.resetting(How::seeded(seed)?, obs)?;
        Ok(parts.block.batch()?.reset_with(&parts.block, &parts.lanes(), parts.env, how, obs)?)
    })
}

/// rlcore_batch_reset with options, as rlcore_vecenv_reset_with.
/// how: seed and options.
/// obs: [N, obs.len] to write.
/// Errors: as rlcore_batch_reset; E_CONFIG, before anything changes, for options if the environment has no reset_with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_reset_with(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    how: *const rlcore_reset,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let (how, obs) = parts.resetting(How::at(how)?, obs)?;
        Ok(parts.block.batch()?.reset_with(&parts.block, &parts.lanes(), parts.env, how, obs)?)
    })
}

/// Starts an episode in environment `index` only, as rlcore_vecenv_reset_one; other groups may be running.
/// seed: it is seeded with *seed itself; NULL: its random stream continues.
/// obs:  [N, obs.len], of which only that row is written.
/// Errors: as rlcore_batch_reset; E_RANGE; E_BUSY if its group was submitted and not collected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_reset_one(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    seed: *const u64,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let (how, obs) = parts.resetting(How::seeded(seed)?, obs)?;
        let (batch, lanes) = (parts.block.batch()?, parts.lanes());
        Ok(batch.reset_one_with(&parts.block, &lanes, parts.env, index as usize, how, obs)?)
    })
}

/// rlcore_batch_reset_one with options, as rlcore_vecenv_reset_with.
/// how: seed and options.
/// obs: [N, obs.len], of which only that row is written.
/// Errors: as rlcore_batch_reset_with; E_RANGE; E_BUSY if its group was submitted and not collected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_reset_one_with(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    index: u32,
    how: *const rlcore_reset,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let (how, obs) = parts.resetting(How::at(how)?, obs)?;
        let (batch, lanes) = (parts.block.batch()?, parts.lanes());
        Ok(batch.reset_one_with(&parts.block, &lanes, parts.env, index as usize, how, obs)?)
    })
}

/// Abandons a worker that died: the rows of its current group have failed and must be reset; all others are unaffected.
/// The worker must no longer run, or it could still write to its rows.
/// out_num_rows: number of rows that failed; 0 if it was not stepping a group.
/// Errors: E_RANGE; E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_abandon(
    b: *mut rlcore_batch,
    v: *mut rlcore_vecenv,
    env: *const rlcore_env,
    worker: u32,
    out_num_rows: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let parts = Parts::at(b, v, env)?;
        let out = parts.writing(One::at("out_num_rows", out_num_rows)?)?;
        *out = parts.block.batch()?.abandon(&parts.block, &parts.lanes(), worker)? as u32;
        Ok(())
    })
}

/// Which rows failed in their last step and have not been reset by this batch since: 1 for those, else 0, also for rows
/// that are pending or running. failed: [N] to write.
/// Errors: E_CONFIG for a closed batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_failed(b: *const rlcore_batch, failed: *mut u8) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(b)?;
        let failed = Output::at("failed", failed, block.num_envs())?;
        let failed = block.extent.reading(failed)?;
        Ok(block.batch()?.failed(&block, failed)?)
    })
}

/// Counts the groups in each state. out: to write. Also works on a closed batch: num_running is 0 once its workers have
/// left. Errors: E_CONFIG for struct_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_count(b: *const rlcore_batch, out: *mut rlcore_batch_counts) -> rlcore_status {
    call(|| unsafe {
        let block = Block::at(b)?;
        let out = block.extent.reading(OutSized::at(out)?)?;
        let batch::Counts { closed, num_pending, num_running, num_done } = block.batch()?.count();
        let closed = closed.into();
        out.store(rlcore_batch_counts { closed, num_pending, num_running, num_done, ..ptr::zeros() });
        Ok(())
    })
}

/// Closes the batch: withdraws pending steps. Every later call but this one and rlcore_batch_count returns E_CONFIG.
/// Workers finish the groups that they are stepping; both blocks must remain valid until they have returned. The
/// rlcore_vecenv remains usable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_batch_close(b: *mut rlcore_batch) -> rlcore_status {
    call(|| unsafe {
        Block::at(b)?.batch()?.close();
        Ok(())
    })
}
