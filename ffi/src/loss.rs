//! The losses that learners optimize, and their gradients, for a host's own networks.

use crate::categorical::{self, rlcore_logits};
use crate::gaussian::{self, rlcore_gaussian};
use crate::mirror::versioned;
use crate::ptr::{self, Extent, Input, One, Output, args, args_beside};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels;
use rlcore::learn::algorithm::pixel_control::{self, Cells};
use rlcore::learn::algorithm::reward_class;
use rlcore::learn::loss::{self, Batch, Coefficients, Losses};

/// A minibatch of a policy and its values. B = num_rows.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_loss_batch {
    /// sizeof(rlcore_loss_batch)
    pub struct_size: u32,
    /// B, at least 1
    pub num_rows: u32,
    /// ratios are clipped to 1 +- clip, of at least 0; ignored by rlcore_actor_critic_loss
    pub clip: f32,
    /// values are clipped to old_value +- value_clip; 0: they are not
    pub value_clip: f32,
    /// weight of half the mean squared error of the values
    pub value_coef: f32,
    /// zero
    pub reserved: u32,
    /// [B] log-probabilities of the actions now
    pub log_prob: *const f32,
    /// [B] log-probabilities of the actions when they were taken, or under the policy that ratios are to; may be NULL for
    /// rlcore_actor_critic_loss, which makes approx_kl of them and nothing else
    pub old_log_prob: *const f32,
    /// [B]
    pub advantage: *const f32,
    /// [B] values now
    pub value: *const f32,
    /// [B] values when the actions were taken; may be NULL if value_clip is 0
    pub old_value: *const f32,
    /// [B]
    pub value_target: *const f32,
}

versioned!(rlcore_loss_batch, "loss batch", value_target);

/// Means over the rows of a minibatch.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_losses {
    /// minus log_prob * advantage, or PPO's surrogate as below
    pub policy_loss: f32,
    /// half the squared error of the values, without value_coef
    pub value_loss: f32,
    /// ratio - 1 - ln ratio, an estimate of the KL divergence of the older policy from the newer
    pub approx_kl: f32,
    /// fraction of ratios outside 1 +- clip; 0 from rlcore_actor_critic_loss
    pub clip_fraction: f32,
}

// SAFETY: numbers only.
unsafe impl ptr::Plain for rlcore_losses {}

/// A minibatch, its coefficients, and the extents of its arrays, which no output may overlap.
unsafe fn batch<'a>(p: *const rlcore_loss_batch, ratios: bool) -> Result<(Batch<'a>, Coefficients, [Extent; 6])> {
    let c = unsafe { ptr::sized(p)? };
    ptr::reserved("loss batch: reserved", c.reserved)?;
    let num_rows = c.num_rows as usize;
    let old_log_prob = if ratios || !c.old_log_prob.is_null() { c.old_log_prob } else { c.log_prob };
    let old_value = if c.value_clip != 0.0 || !c.old_value.is_null() { c.old_value } else { c.value };
    let inputs = unsafe {
        (
            Input::at("loss batch: log_prob", c.log_prob, num_rows)?,
            Input::at("loss batch: old_log_prob", old_log_prob, num_rows)?,
            Input::at("loss batch: advantage", c.advantage, num_rows)?,
            Input::at("loss batch: value", c.value, num_rows)?,
            Input::at("loss batch: old_value", old_value, num_rows)?,
            Input::at("loss batch: value_target", c.value_target, num_rows)?,
        )
    };
    let (extents, (log_prob, old_log_prob, advantage, value, old_value, value_target)) = ptr::inputs(inputs);
    let batch = Batch { num_rows, log_prob, old_log_prob, advantage, value, old_value, value_target };
    Ok((batch, Coefficients { clip: c.clip, value_clip: c.value_clip, value_coef: c.value_coef }, extents))
}

type Loss = fn(&Batch<'_>, &Coefficients, &mut [f32], &mut [f32]) -> rlcore::error::Result<Losses>;

unsafe fn policy_loss(
    (p, ratios, loss): (*const rlcore_loss_batch, bool, Loss),
    d_log_prob: *mut f32,
    d_value: *mut f32,
    losses: *mut rlcore_losses,
) -> Result {
    let (batch, c, read) = unsafe { batch(p, ratios)? };
    let outputs = unsafe {
        (
            Output::at("d_log_prob", d_log_prob, batch.num_rows)?,
            Output::at("d_value", d_value, batch.num_rows)?,
            One::at("losses", losses)?,
        )
    };
    let (d_log_prob, d_value, losses) = args_beside(outputs, &read)?;
    loss::check(&batch, &c)?;
    let Losses { policy_loss, value_loss, approx_kl, clip_fraction } = loss(&batch, &c, d_log_prob, d_value)?;
    *losses = rlcore_losses { policy_loss, value_loss, approx_kl, clip_fraction };
    Ok(())
}

/// Loss of an actor and a critic, and its gradient by log_prob and by value. d_log_prob, d_value: [B] to write;
/// losses: [1] to write.
///   loss = -mean(log_prob * advantage) + value_coef * mean((value - value_target)^2) / 2
/// An entropy bonus is the host's: its gradient by the entropy of each row is -entropy_coef / B.
/// rlcore_categorical_gradient and rlcore_gaussian_gradient take both further, to the outputs of a network.
/// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a number below 0; E_VALUE for one that is not
/// finite. Outputs are untouched on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_actor_critic_loss(
    batch: *const rlcore_loss_batch,
    d_log_prob: *mut f32,
    d_value: *mut f32,
    losses: *mut rlcore_losses,
) -> rlcore_status {
    call(|| unsafe { policy_loss((batch, false, loss::actor_and_critic), d_log_prob, d_value, losses) })
}

/// As rlcore_actor_critic_loss, with PPO's clipped surrogate. ratio = exp(log_prob - old_log_prob).
///   loss = -mean(min(ratio * advantage, clip(ratio) * advantage)) + value_coef * mean(error^2) / 2
/// With value_clip, the larger of the squared errors of the value and of the clipped value counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_ppo_loss(
    batch: *const rlcore_loss_batch,
    d_log_prob: *mut f32,
    d_value: *mut f32,
    losses: *mut rlcore_losses,
) -> rlcore_status {
    call(|| unsafe { policy_loss((batch, true, loss::policy_and_value), d_log_prob, d_value, losses) })
}

/// Mean squared error of values, and its gradient. value, value_target: [len]; d_value: [len] to write; loss: [1] to write.
/// E_SHAPE if len is 0; E_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_value_loss(
    value: *const f32,
    value_target: *const f32,
    len: usize,
    d_value: *mut f32,
    loss: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let value = Input::at("value_loss: value", value, len)?;
        let target = Input::at("value_loss: value_target", value_target, len)?;
        let d_value = Output::at("value_loss: d_value", d_value, len)?;
        let (value, target, d_value, loss) = args((value, target, d_value, One::at("value_loss: loss", loss)?))?;
        *loss = loss::mean_squared_error(value, target, d_value)?;
        Ok(())
    })
}

/// Mean cross-entropy of the classes of rewards (rlcore_reward_class_of), and its gradient. logits: [num_rows, 3];
/// reward_class: [num_rows] each from 0 to 2; d_logits: [num_rows, 3] to write; loss: [1] to write.
/// E_SHAPE if num_rows is 0; E_RANGE for a class; E_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_reward_class_loss(
    logits: *const f32,
    reward_class: *const i32,
    num_rows: u32,
    d_logits: *mut f32,
    loss: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (rows, all) = (num_rows as usize, ptr::grid("reward_class_loss: logits", num_rows as usize, 3)?);
        let logits = Input::at("reward_class_loss: logits", logits, all)?;
        let class = Input::at("reward_class_loss: reward_class", reward_class, rows)?;
        let d_logits = Output::at("reward_class_loss: d_logits", d_logits, all)?;
        let loss = One::at("reward_class_loss: loss", loss)?;
        let (logits, class, d_logits, loss) = args((logits, class, d_logits, loss))?;
        *loss = reward_class::mean_cross_entropy(logits, class, d_logits)?;
        Ok(())
    })
}

/// Values of each action for each cell of a picture, and their targets. B = num_rows, C = num_cells, A = num_choices.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_pixel_control {
    /// sizeof(rlcore_pixel_control)
    pub struct_size: u32,
    /// B, at least 1
    pub num_rows: u32,
    /// C, at least 1
    pub num_cells: u32,
    /// A, at least 1
    pub num_choices: u32,
    /// [B, C, A]
    pub advantage: *const f32,
    /// [B, C]; NULL: advantage is then q of every choice
    pub value: *const f32,
    /// [B, C]
    pub target: *const f32,
    /// [B] each from 0 to A - 1
    pub action: *const i32,
}

versioned!(rlcore_pixel_control, "pixel control", action);

/// Loss of pixel control, and its gradient: the squared error of the value q of a row's action for each cell, summed over
/// cells and averaged over rows.
///   q[b][c] = value[b][c] + advantage[b][c][action[b]] - mean of advantage[b][c]
/// d_advantage: [B, C, A] to write; d_value: [B, C] to write, or NULL if
/// value is, which ignores it; loss: [1] to write. E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an action; E_VALUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_pixel_control_loss(
    batch: *const rlcore_pixel_control,
    d_advantage: *mut f32,
    d_value: *mut f32,
    loss: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let rlcore_pixel_control { num_rows, num_cells, num_choices, advantage, value, target, action, .. } =
            ptr::sized(batch)?;
        let choices = num_choices as usize;
        let cells = ptr::grid("pixel_control_loss", num_rows as usize, num_cells as usize)?;
        let all = ptr::grid("pixel_control_loss", cells, choices)?;
        let values = if value.is_null() { 0 } else { cells };
        let inputs = (
            Input::at("pixel_control_loss: advantage", advantage, all)?,
            Input::optional("pixel_control_loss: value", value, cells)?,
            Input::at("pixel_control_loss: target", target, cells)?,
            Input::at("pixel_control_loss: action", action, num_rows as usize)?,
        );
        let outputs = (
            Output::at("pixel_control_loss: d_advantage", d_advantage, all)?,
            Output::unless_empty("pixel_control_loss: d_value", d_value, values)?,
            One::at("pixel_control_loss: loss", loss)?,
        );
        let ((advantage, value, target, action), (d_advantage, d_value, loss)) = args((inputs, outputs))?;
        let cells = Cells { choices, advantage, value: value.unwrap_or(&[]), target };
        *loss = pixel_control::mean_loss(&cells, action, d_advantage, d_value.unwrap_or(&mut []))?;
        Ok(())
    })
}

/// Gradient by logits of a loss whose gradients by the log-probability and by the entropy of each row are given.
/// action: [B, K]; d_log_prob, d_entropy: [B]; d_logits: [B, L] to write.
/// E_RANGE for an action that is out of range or forbidden.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_categorical_gradient(
    batch: *const rlcore_logits,
    action: *const i32,
    d_log_prob: *const f32,
    d_entropy: *const f32,
    d_logits: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (batch, num_actions, read) = categorical::batch(batch)?;
        let action = Input::at("categorical: action", action, num_actions)?;
        let d_log_prob = Input::at("categorical: d_log_prob", d_log_prob, batch.num_rows)?;
        let d_entropy = Input::at("categorical: d_entropy", d_entropy, batch.num_rows)?;
        let out = Output::at("categorical: d_logits", d_logits, batch.logits.len())?;
        let (action, d_log_prob, d_entropy, out) = args_beside((action, d_log_prob, d_entropy, out), &read)?;
        Ok(kernels::categorical::gradient(&batch, action, d_log_prob, d_entropy, out)?)
    })
}

/// Gradient by means and logarithms of standard deviations of a loss whose gradients by the log-density and by the entropy
/// of each row are given; also where actions are squashed. action: [B, A], before squashing; d_log_prob, d_entropy: [B];
/// d_mean: [B, A] to write; d_log_std: [A] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_gaussian_gradient(
    batch: *const rlcore_gaussian,
    action: *const f32,
    d_log_prob: *const f32,
    d_entropy: *const f32,
    d_mean: *mut f32,
    d_log_std: *mut f32,
) -> rlcore_status {
    call(|| unsafe {
        let (batch, read) = gaussian::batch(batch)?;
        let action = Input::at("gaussian: action", action, batch.mean.len())?;
        let d_log_prob = Input::at("gaussian: d_log_prob", d_log_prob, batch.num_rows)?;
        let d_entropy = Input::at("gaussian: d_entropy", d_entropy, batch.num_rows)?;
        let d_mean = Output::at("gaussian: d_mean", d_mean, batch.mean.len())?;
        let d_log_std = Output::at("gaussian: d_log_std", d_log_std, batch.log_std.len())?;
        let arrays = args_beside((action, d_log_prob, d_entropy, d_mean, d_log_std), &read)?;
        let (action, d_log_prob, d_entropy, d_mean, d_log_std) = arrays;
        Ok(kernels::gaussian::gradient(&batch, action, d_log_prob, d_entropy, d_mean, d_log_std)?)
    })
}
