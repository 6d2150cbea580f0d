//! The library's own environments, through the same table as those that C supplies.

use core::ffi::c_void;
use core::ptr::{fn_addr_eq, null, without_provenance_mut};

use crate::env::{rlcore_env_def, rlcore_step};
use crate::ptr::{self, AnyInput, AnyOutput, Input, Output};
use crate::rng::{rlcore_rng, stream};
use crate::space::rlcore_space;
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::env::{BUILTINS, Builtin, Env, FIRST_FREE_ID, Spec};
use rlcore::error::{Error, Kind};

// The enumeration of all rows of the core's table; tests/common/env_table.rs hands it to cbindgen.
macro_rules! ids {
    ($(
        $(#[doc = $kind_is:literal])+
        $kind:ident($type:ty): |$env:pat_param| $spec:expr, {
            $(#[doc = $sentence:literal] $id:ident = $number:literal, $name:literal: $value:expr;)+
        }
    )+) => {
        /// Built-in environments. Each probe has one observation element and exposes one kind of bug in a learner. V(o) is the
        /// optimal value of observation o, d the discount:
        ///   1  observes 0; 1 action; one step, reward 1: V = 1.
        ///   2  observes 1 or -1; 1 action; one step, the reward is the observation: V(o) = o.
        ///   3  observes 0, then 1; 1 action; two steps, the second has reward 1: V(0) = d, V(1) = 1.
        ///   4  observes 0; 2 actions; one step, reward 1 for action 1, -1 for action 0: V = 1.
        ///   5  observes 0 or 1; 2 actions; one step, reward 1 if the action equals the observation, else -1: V = 1.
        ///   6  observes the step count; 2 actions; ten steps, the last has reward 1 for any action: V(o) = d^(9-o).
        ///   6 odd even  observes the step count; 2 actions; ten steps, each has reward 1 if its action equals the observation
        ///      modulo 2: V(o) = 1 + d + ... + d^(9-o).
        ///   7  observes 0 or 1, then 0; 5 actions; four steps, the last has reward 1 if its action equals the first observation:
        ///      V = d^3 at first, half of that without memory.
        ///   truncation  observes 1, then 0; 1 action; every step but the first has reward 1, the fifth is truncated:
        ///      V(0) = 1 / (1 - d) and V(1) = d V(0) if truncated steps bootstrap from final_obs.
        ///   memory  observes 1 or -1, then 0; 2 actions; nine steps, the last has the first observation as its reward for action
        ///      1, its negative for action 0: V = d^8 at first, 0 without memory.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub enum rlcore_env_id {
            $($(#[doc = $sentence] $id = $number,)+)+
        }
    };
}

rlcore::env_table!(ids);

impl rlcore_env_def {
    /// The table of one of the library's own. Its functions are handed its number.
    const fn of(env: &Builtin) -> Self {
        let Spec { env_id, state_size, max_episode_steps, obs, action, .. } = env.constant_spec();
        rlcore_env_def {
            struct_size: size_of::<Self>() as u32,
            env_id,
            state_size,
            max_episode_steps,
            obs: rlcore_space::of(&obs),
            action: rlcore_space::of(&action),
            user: without_provenance_mut(env_id as usize),
            reset: Some(builtin_reset),
            step: Some(builtin_step),
            render: Some(builtin_render),
            lives: None,
            action_mask: None,
            restart: None,
            fields: null(),
            num_fields: 0,
            num_wrappers: 0,
            wrappers: null(),
        }
    }

    /// The number is not the caller's.
    #[inline(always)]
    pub fn has_own_id(&self) -> bool {
        (1..FIRST_FREE_ID).contains(&self.env_id)
    }

    /// The library's own environment of this number, or what makes this none of its tables: nothing for a number that it does
    /// not have.
    #[inline(always)]
    pub fn own(&self) -> core::result::Result<&'static Builtin, &'static str> {
        let mut tables = TABLES.0.iter().zip(BUILTINS);
        // The first of them are numbered from 1 on.
        let place = (self.env_id as usize).wrapping_sub(1);
        let near = TABLES.0.get(place).zip(BUILTINS.get(place)).filter(|(table, _)| table.env_id == self.env_id);
        let found = near.or_else(|| tables.find(|(table, _)| table.env_id == self.env_id));
        let (table, (_, env)) = found.ok_or("")?;
        if self.is_as(table) { Ok(env) } else { Err(self.differs_from(table)) }
    }

    /// Nothing that counts differs, which is told in few instructions.
    #[inline(always)]
    fn is_as(&self, table: &Self) -> bool {
        self.state_size == table.state_size
            && self.obs.is(&table.obs)
            && self.action.is(&table.action)
            && self.user == table.user
            && self.reset.map_or(0, |f| f as usize) == table.reset.map_or(0, |f| f as usize)
            && self.step.map_or(0, |f| f as usize) == table.step.map_or(0, |f| f as usize)
            && self.restart.is_none()
    }

    /// What of an environment is not as in its table. Limit, fields, wrappers and what is only looked at may be the caller's.
    #[cold]
    #[inline(never)]
    fn differs_from(&self, table: &Self) -> &'static str {
        let same_step = matches!((self.step, table.step), (Some(a), Some(b)) if fn_addr_eq(a, b));
        let same_reset = matches!((self.reset, table.reset), (Some(a), Some(b)) if fn_addr_eq(a, b));
        let same = [
            ("env_def: state_size", self.state_size == table.state_size),
            ("env_def: obs", self.obs.is(&table.obs)),
            ("env_def: action", self.action.is(&table.action)),
            ("env_def: user", self.user == table.user),
            ("env_def: reset", same_reset),
            ("env_def: step", same_step),
            ("env_def: restart", self.restart.is_none()),
        ];
        same.into_iter().find(|(_, same)| !same).map_or("env_def", |(what, _)| what)
    }

    /// What is said of a table that is not the library's though its number is.
    #[cold]
    #[inline(never)]
    pub fn refuse(&self, changed: &'static str) -> Fault {
        let what = match changed {
            "" => return Fault::at("env_def", UNKNOWN.given(self.env_id as usize)),
            _ => "what rlcore_env_builtin has set, or an env_id of the caller's, 0 or from 1000; env_id",
        };
        Fault::at(changed, Error::new(Kind::Config, what).given(self.env_id as usize))
    }
}

const UNKNOWN: Error =
    Error::new(Kind::Config, "an env_id of the caller's, 0 or from 1000, or an rlcore_env_id that this library has");

/// Tables of the built-in environments, in the order of [`BUILTINS`].
static TABLES: Tables = Tables::new();

const NUM_TABLES: usize = if cfg!(feature = "games") { BUILTINS.len() } else { 0 };

struct Tables([rlcore_env_def; NUM_TABLES]);

// SAFETY: nobody writes to them.
unsafe impl Sync for Tables {}

impl Tables {
    const fn new() -> Self {
        let mut tables = [rlcore_env_def::of(&BUILTINS[0].1); NUM_TABLES];
        let mut i = 0;
        while i < tables.len() {
            tables[i] = rlcore_env_def::of(&BUILTINS[i].1);
            i += 1;
        }
        Tables(tables)
    }
}

fn builtin(user: *mut c_void) -> Result<Builtin> {
    u32::try_from(user.addr()).ok().and_then(Builtin::from_id).ok_or_else(|| {
        Fault::at("env_def: user", Error::new(Kind::Config, "user must stay as rlcore_env_builtin set it."))
    })
}

fn code(result: Result) -> i32 {
    match result {
        Ok(()) => 0,
        Err(fault) => fault.status() as i32,
    }
}

// SAFETY of these callbacks: `CEnv` calls them with what the core handed it, or C does and keeps the same contract.

unsafe extern "C" fn builtin_reset(
    user: *mut c_void,
    state: *mut c_void,
    rng: *mut rlcore_rng,
    obs: *mut c_void,
) -> i32 {
    code((|| unsafe {
        let env = builtin(user)?;
        let spec = env.spec();
        let state = Output::at("state", state.cast(), spec.state_size as usize)?;
        let obs = AnyOutput::at("obs", obs, spec.obs.kind, 1, spec.obs.len as usize)?;
        Ok(env.reset(0, state.slice(), stream(rng)?.one(), obs.elements())?)
    })())
}

unsafe extern "C" fn builtin_step(
    user: *mut c_void,
    state: *mut c_void,
    rng: *mut rlcore_rng,
    action: *const c_void,
    obs: *mut c_void,
    out: *mut rlcore_step,
) -> i32 {
    code((|| unsafe {
        let env = builtin(user)?;
        let spec = env.spec();
        let state = Output::at("state", state.cast(), spec.state_size as usize)?;
        let action = AnyInput::at("action", action, spec.action.kind, 1, spec.action.len as usize)?;
        let obs = AnyOutput::at("obs", obs, spec.obs.kind, 1, spec.obs.len as usize)?;
        let out = Output::at("out", out, 1)?;
        let step = env.step(0, state.slice(), stream(rng)?.one(), action.elements(), obs.elements())?;
        *out.one() = rlcore_step {
            reward: step.reward,
            terminated: step.terminated.into(),
            truncated: step.truncated.into(),
            reserved: [0; 2],
        };
        Ok(())
    })())
}

unsafe extern "C" fn builtin_render(
    user: *mut c_void,
    state: *const c_void,
    width: u32,
    height: u32,
    rgb: *mut u8,
) -> i32 {
    code((|| unsafe {
        let env = builtin(user)?;
        let state = Input::at("state", state.cast(), env.spec().state_size as usize)?;
        let (width, height) = (width as usize, height as usize);
        let rgb = Output::at("rgb", rgb, ptr::grid("rgb", ptr::grid("rgb", width, height)?, 3)?)?;
        Ok(env.render(0, state.slice(), width, height, rgb.slice())?)
    })())
}

/// The definition of a built-in environment.
/// env_id:   an rlcore_env_id.
/// out_size: sizeof(rlcore_env_def). Everything that it points to is static. max_episode_steps, render, lives,
///           action_mask, fields and wrappers may be changed. With any other change it is another environment, which needs
///           an env_id of its own.
/// Errors: E_SIZE; E_RANGE for another env_id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_builtin(env_id: u32, out: *mut rlcore_env_def, out_size: usize) -> rlcore_status {
    call(|| unsafe {
        let unknown = Error::new(Kind::Range, "env_builtin: an rlcore_env_id").given(env_id as usize);
        ptr::init_sized(out, out_size, || Ok(*TABLES.0.iter().find(|table| table.env_id == env_id).ok_or(unknown)?))
    })
}
