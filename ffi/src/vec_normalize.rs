//! Observations and rewards of N environments normalized by running moments.

use core::ffi::c_void;

use crate::lifecycle::{self, Block, Place, open, view};
use crate::mirror::{mirror, versioned};
use crate::ptr::{self, Output, Reads, Through};
use crate::status::{Result, call, rlcore_status};
use crate::step_rows::rlcore_rows;
use rlcore::block::Kind as BlockKind;
use rlcore::data::step::Ends;
use rlcore::data::vec_normalize::{StepArrays, VecNormalize, VecNormalizeConfig, View};

/// Running normalization of the observations and rewards of N environments.
/// Example:
///   rlcore_vec_normalize_config_init(&config, sizeof config);
///   config.num_envs = N, config.obs_len = LEN;
///   rlcore_vec_normalize_size(&config, &size);
///   rlcore_vec_normalize_init(mem, size, &config, &v);
///   rlcore_vec_normalize_reset(v, obs, obs);             // after rlcore_vecenv_reset
///   rlcore_vec_normalize_step(v, &rows, NULL);           // after each rlcore_vecenv_step
pub struct rlcore_vec_normalize;

/// Configuration of a normalizer.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vec_normalize_config {
    /// bytes; set by rlcore_vec_normalize_config_init
    pub struct_size: u32,
    /// N, at least 1; default 1
    pub num_envs: u32,
    /// elements of one observation, at least 1; default 1
    pub obs_len: u32,
    /// 1 (default); 0: observations are not changed
    pub normalize_obs: u32,
    /// 1 (default); 0: rewards are not changed
    pub normalize_reward: u32,
    /// normalized observations are clipped to [-clip_obs, clip_obs]; default 10
    pub clip_obs: f32,
    /// scaled rewards are clipped to [-clip_reward, clip_reward]; default 10
    pub clip_reward: f32,
    /// zero
    pub reserved: u32,
    /// discount of the return whose deviation scales rewards, from 0 to 1; default 0.99
    pub discount: f64,
    /// added to variances, from 1e-30 to 1e30; default 1e-8
    pub epsilon: f64,
}

/// Scalar statistics of a normalizer.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_vec_normalize_stats {
    /// sizeof(rlcore_vec_normalize_stats)
    pub struct_size: u32,
    /// 1 if the statistics are frozen
    pub frozen: u32,
    /// number of observations merged, plus 1e-4
    pub obs_count: f64,
    /// mean of the discounted returns
    pub return_mean: f64,
    /// their population variance; rewards are divided by its square root
    pub return_var: f64,
    /// number of returns merged, plus 1e-4
    pub return_count: f64,
}

versioned!(rlcore_vec_normalize_config, "vec_normalize config", epsilon, VecNormalizeConfig::default().into());
mirror!(
    rlcore_vec_normalize_config,
    VecNormalizeConfig { num_envs, obs_len, normalize_obs, normalize_reward, clip_obs, clip_reward, discount, epsilon }
);
versioned!(rlcore_vec_normalize_stats, "vec_normalize stats", return_count);

unsafe fn config(p: *const rlcore_vec_normalize_config) -> Result<VecNormalizeConfig> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("vec_normalize config: reserved", c.reserved)?;
    Ok(c.into())
}

impl Block for rlcore_vec_normalize {
    const WHAT: &'static str = "vec_normalize";
    const KIND: BlockKind = BlockKind::VecNormalize;
}

/// Observations of all environments.
unsafe fn obs<'a>(normalizer: &VecNormalize<'_>, obs: *const f32, out: *mut f32) -> Result<Through<'a>> {
    let config = normalizer.config();
    let len = ptr::grid("obs", config.num_envs as usize, config.obs_len as usize)?;
    unsafe { ptr::through("obs", obs, "out: obs", out, len) }
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_config_init(
    config: *mut rlcore_vec_normalize_config,
    config_size: usize,
) -> rlcore_status {
    unsafe { lifecycle::config_init(config, config_size) }
}

/// Size of the block for this configuration, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_size(
    config: *const rlcore_vec_normalize_config,
    out_size: *mut usize,
) -> rlcore_status {
    call(|| unsafe { ptr::put("out_size", out_size, || Ok(VecNormalize::size(&self::config(config)?)?)) })
}

/// Creates a normalizer in mem: means 0, variances 1, counts 1e-4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_init(
    mem: *mut c_void,
    mem_size: usize,
    config: *const rlcore_vec_normalize_config,
    out: *mut *mut rlcore_vec_normalize,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.init(|| self::config(config), VecNormalize::init) })
}

/// Opens a saved or copied normalizer in mem.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_attach(
    mem: *mut c_void,
    mem_size: usize,
    out: *mut *mut rlcore_vec_normalize,
) -> rlcore_status {
    call(|| unsafe { Place::at(mem, mem_size, out)?.take(&[], VecNormalize::attach) })
}

/// Processes the first observations of all environments: merges them into the statistics and writes them normalized.
/// Discounted returns restart at 0.
/// obs, out_obs: [N, obs_len]; may be the same array.
/// Errors: E_VALUE for a number that is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_reset(
    v: *mut rlcore_vec_normalize,
    obs: *const f32,
    out_obs: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let mut normalizer = open(v, VecNormalize::open)?;
        let obs = normalizer.extent.writing(self::obs(&normalizer, obs, out_obs)?)?;
        Ok(normalizer.reset(ptr::rewrite(obs))?)
    })
}

/// Processes the first observation of environment `index` only, as written by rlcore_vecenv_reset_one.
/// obs, out_obs: [N, obs_len], of which only that row is used; may be the same array.
/// Errors: as rlcore_vec_normalize_reset; E_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_reset_one(
    v: *mut rlcore_vec_normalize,
    index: u32,
    obs: *const f32,
    out_obs: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let mut normalizer = open(v, VecNormalize::open)?;
        let obs = normalizer.extent.writing(self::obs(&normalizer, obs, out_obs)?)?;
        Ok(normalizer.reset_one(index as usize, ptr::rewrite(obs))?)
    })
}

/// Normalizes the results of rlcore_vecenv_step, or of the caller's own batch; one call for the whole batch. In this order:
/// merges obs and normalizes it with the new statistics; adds reward to the discounted returns, merges those and scales
/// reward by their deviation; normalizes final_obs without merging it; resets the returns of ended episodes. A row that
/// was only reset (valid 0) counts as an observation; its reward does not count.
/// rows: reads obs, reward, terminated, truncated, and final_obs and valid unless they are NULL; obs and final_obs are
///       float; valid NULL: every row was stepped.
/// out:  receives obs, reward and final_obs, each of which may be the same array as in rows. NULL: normalizes the
///       arrays of rows in place.
/// Errors: E_CONFIG; E_VALUE for a number that is not finite; final_obs is checked only in rows that ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_step(
    v: *mut rlcore_vec_normalize,
    rows: *const rlcore_rows,
    out: *const rlcore_rows,
) -> rlcore_status {
    call(|| unsafe {
        let mut normalizer = open(v, VecNormalize::open)?;
        let from = *rlcore_rows::at(rows, &mut None)?;
        let to = if out.is_null() { from } else { *rlcore_rows::at(out, &mut None)? };
        let config = normalizer.config();
        let n = config.num_envs as usize;
        let len = ptr::grid("obs", n, config.obs_len as usize)?;
        let obs = ptr::through("obs", from.obs.cast_const().cast(), "out: obs", to.obs.cast(), len)?;
        let reward = ptr::through("reward", from.reward.cast_const(), "out: reward", to.reward, n)?;
        let final_obs = match from.final_obs.is_null() {
            true => None,
            false => {
                let (from, to) = (from.final_obs.cast_const().cast(), to.final_obs.cast());
                Some(ptr::through("final_obs", from, "out: final_obs", to, len)?)
            }
        };
        let (obs, reward, final_obs, (terminated, truncated, valid)) =
            normalizer.extent.writing((obs, reward, final_obs, from.flags(n)?))?;
        let (obs, reward, final_obs) = (ptr::rewrite(obs), ptr::rewrite(reward), final_obs.map(ptr::rewrite));
        let ends = Ends { terminated, truncated, valid };
        Ok(normalizer.step(StepArrays { obs, reward, final_obs, ends })?)
    })
}

/// Normalizes any number of observations with the current statistics, without changing them.
/// obs, out_obs: [num_rows, obs_len]; may be the same array.
/// Errors: as rlcore_vec_normalize_reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_obs(
    v: *const rlcore_vec_normalize,
    num_rows: u32,
    obs: *const f32,
    out_obs: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let normalizer = view(v, View::open)?;
        let len = ptr::grid("obs", num_rows as usize, normalizer.config().obs_len as usize)?;
        let obs = normalizer.extent.reading(ptr::through("obs", obs, "out_obs", out_obs, len)?)?;
        Ok(normalizer.normalize_obs(ptr::rewrite(obs))?)
    })
}

/// 1: reset and step only normalize and do not change the block, for evaluation. 0: the statistics are updated again, and
/// the discounted returns continue where they were.
/// Errors: E_RANGE for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_freeze(v: *mut rlcore_vec_normalize, frozen: u32) -> rlcore_status {
    call(|| unsafe {
        let mut normalizer = open(v, VecNormalize::open)?;
        normalizer.freeze(ptr::flag("vec_normalize_freeze: frozen", frozen)?);
        Ok(())
    })
}

/// Merges the statistics of another normalizer into this one, as if this one had seen its observations too. Both initial
/// counts of 1e-4 are included. `other` is only read; its num_envs may differ.
/// Errors: E_CONFIG for another obs_len; E_RANGE for counts beyond 2^64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_merge(
    v: *mut rlcore_vec_normalize,
    other: *const rlcore_vec_normalize,
) -> rlcore_status {
    call(|| unsafe {
        ptr::distinct("vec_normalize: other", v, other)?;
        let (mut normalizer, other) = (open(v, VecNormalize::open)?, view(other, View::open)?);
        normalizer.extent.writing(Reads([other.extent]))?;
        Ok(normalizer.merge(&other.statistics())?)
    })
}

/// Copies the statistics. mean, variance: [obs_len] to write; may be NULL.
/// Errors: E_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_vec_normalize_statistics(
    v: *const rlcore_vec_normalize,
    mean: *mut f64,
    variance: *mut f64,
    out: *mut rlcore_vec_normalize_stats,
) -> rlcore_status {
    call(|| unsafe {
        let normalizer = view(v, View::open)?;
        let obs_len = normalizer.config().obs_len as usize;
        let room = ptr::OutSized::at(out)?;
        let moments = [Output::optional("mean", mean, obs_len)?, Output::optional("variance", variance, obs_len)?];
        let ([mean, var], room) = normalizer.extent.reading((moments, room))?;
        let s = normalizer.statistics();
        if let Some(mean) = mean {
            rlcore::block::copy(mean, s.obs_mean);
        }
        if let Some(var) = var {
            rlcore::block::copy(var, s.obs_var);
        }
        room.store(rlcore_vec_normalize_stats {
            frozen: s.frozen.into(),
            obs_count: s.obs_count,
            return_mean: s.return_mean,
            return_var: s.return_var,
            return_count: s.return_count,
            ..ptr::zeros()
        });
        Ok(())
    })
}
