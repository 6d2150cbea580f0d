//! A policy as one file of C99: observations in, greedy actions out, without this library.

use super::obs_encoder::Part as ObsPart;
use super::policy::{Policy, Q_LOGIT_SCALE};
use super::struct_action::GAP;
use crate::data::normalizer::Limits;
use crate::error::{Error, Kind, Result};
use crate::nn::c_source::{self, Arg, Names, Part, Text};
use crate::num;
use crate::space::Element;

/// The longest prefix of names.
pub const MAX_PREFIX: usize = 31;

/// Checks a prefix of names in C. Errors: `Config`.
fn check_prefix(prefix: &str) -> Result {
    Error::limit(Kind::Config, "C source: a prefix of letters, at most", MAX_PREFIX, prefix.len())
        .fail_if(prefix.len() > MAX_PREFIX)?;
    let begins = prefix.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let named = prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    Error::new(Kind::Config, "C source: a prefix that begins with a letter, of letters, digits and underscores")
        .fail_if(!(begins && named))
}

/// The elements of observations as the generated functions take them.
fn obs_type(policy: &Policy<'_>) -> &'static str {
    match policy.shape().kinds().0 {
        Element::F32 => "float",
        Element::I32 => "int32_t",
        Element::U8 if policy.shape().obs_structure() => "void",
        Element::U8 => "uint8_t",
    }
}

fn action_type(policy: &Policy<'_>) -> &'static str {
    match policy.shape().kinds().1 {
        Element::F32 => "float",
        Element::I32 => "int32_t",
        Element::U8 => "void",
    }
}

impl Policy<'_> {
    /// Bytes of the policy as a file of C99, which is C++17 as well, whose names begin with `prefix`. Errors: `Config` for a
    /// prefix that is none.
    pub fn c_source_size(&self, prefix: &str) -> Result<usize> {
        check_prefix(prefix)?;
        let mut counted = Text::counting(prefix);
        self.write_c(&mut counted)?;
        Ok(counted.len())
    }

    /// Writes the policy as a file of C99. Its functions compute the greedy actions of [`Policy::act_greedy`], the same bits
    /// where the compiler has a fused multiply-add. Errors: `Size` for another length of `to`; those of
    /// [`Policy::c_source_size`].
    pub fn write_c_source(&self, prefix: &str, to: &mut [u8]) -> Result {
        let len = self.c_source_size(prefix)?;
        Error::new(Kind::Size, "C source: bytes").needed(len).given(to.len()).fail_if(to.len() != len)?;
        self.write_c(&mut Text::writing(prefix, to))
    }

    fn write_c(&self, text: &mut Text<'_>) -> Result {
        let mut body = Text::counting("");
        self.write_functions(&mut body)?;
        self.write_front(text);
        text.parts(body.used());
        self.write_tables(text)?;
        self.write_functions(text)?;
        text.code(BACK);
        Ok(())
    }

    /// Whether layers read the bytes of observations where they lie.
    fn reads_bytes_alone(&self) -> bool {
        self.shape().obs_u8() && self.encoder().reads_bytes(self.config().normalize_obs)
    }

    /// Whether observations are copied before layers read them.
    fn copies_obs(&self) -> bool {
        let whole = self.shape().kinds().0 == Element::F32 && !self.encoder().coded;
        !(self.reads_bytes_alone() || whole && self.config().normalize_obs == 0)
    }

    /// Outputs of the network: of distributions, their logits.
    fn raw_len(&self) -> usize {
        self.config().outputs()
    }

    fn has_atoms(&self) -> bool {
        self.config().num_atoms > 0
    }

    /// The comment, sizes and types.
    fn write_front(&self, text: &mut Text<'_>) {
        let (shape, net) = (self.shape(), self.net());
        let (seen, state) = (shape.seen_len as usize, self.state_len());
        let (choices, means) = (shape.choices_len(), shape.std_len());
        text.code(TITLE);
        let kind = |kind| match kind {
            Element::F32 => "numbers",
            Element::I32 => "choices",
            Element::U8 => "bytes",
        };
        let (obs, action) = shape.kinds();
        let [obs, action] = [obs, action].map(|own| Arg::Code(kind(own)));
        let lens = [shape.obs_len, shape.action_len].map(|len| Arg::Number(len as usize));
        let [obs_len, action_len] = lens;
        text.fill("   Observations of % %", &[obs_len, obs]);
        if seen != shape.obs_len as usize {
            text.fill(", % numbers for the network", &[Arg::Number(seen)]);
        }
        if self.config().normalize_obs != 0 {
            text.code(", normalized");
        }
        text.fill("; actions of % %. Layers:\n\n", &[action_len, action]);
        c_source::describe(text, &net);
        let bytes = c_source::params_len(&net).saturating_mul(size_of::<f32>());
        text.fill("\n   % bytes of weights", &[Arg::Number(bytes)]);
        if self.is_q() {
            text.fill("; outputs are % times Q", &[Arg::Number(Q_LOGIT_SCALE as usize)]);
        } else if choices > 0 {
            text.code("; outputs are logits");
        }
        if means > 0 {
            text.code(if choices > 0 { ", then means" } else { "; outputs are means" });
            text.code(", before bounds; @_log_std has the logarithms of their deviations");
        }
        text.code(". */\n");
        text.code(INCLUDES);
        for (name, len) in [
            ("OBS_LEN", shape.obs_len as usize),
            ("ACTION_LEN", shape.action_len as usize),
            ("NUM_OUTPUTS", shape.num_outputs as usize),
            ("NUM_CHOICES", choices),
            ("NUM_MEANS", means),
            ("STATE_LEN", state),
        ] {
            text.fill("#define $_% %\n", &[Arg::Code(name), Arg::Number(len)]);
        }
        if state > 0 {
            text.code(STATE);
        }
        text.code(SCRATCH);
        let raw = if self.has_atoms() { self.raw_len() } else { 0 };
        let obs = if self.copies_obs() { seen } else { 0 };
        for (name, len) in [
            ("outputs", shape.num_outputs as usize),
            ("atoms", raw),
            ("obs", obs),
            ("after", state),
            ("values", c_source::values_len(&net)),
            ("work", c_source::work_len(&net)),
        ] {
            if len > 0 {
                text.fill("  float %[%];\n", &[Arg::Code(name), Arg::Number(len)]);
            }
        }
        text.code("} @_scratch;\n");
        text.code(PRAGMAS);
    }

    fn write_tables(&self, text: &mut Text<'_>) -> Result {
        c_source::tables(text, &self.net(), self.params().0)?;
        if self.config().normalize_obs != 0 {
            let (mean, var) = self.moments();
            let epsilon = Limits::default().epsilon;
            text.fill(
                "\n/* Means, and factors. */\nstatic const double @_moments[%] = ",
                &[Arg::Number(2 * mean.len())],
            );
            let factors = var.iter().map(|var| num::inverse_sqrt64(var + epsilon));
            let pairs = mean.iter().zip(factors).flat_map(|(mean, factor)| [*mean, factor]);
            text.table(pairs, |text, x| text.double(x));
        }
        let n = self.action_spec().n;
        if !n.is_empty() {
            text.fill("\nstatic const uint32_t @_choices[%] = ", &[Arg::Number(n.len())]);
            text.table(n.iter(), |text, n| text.number(u64::from(*n)));
        }
        let log_std = self.log_std()?;
        if !log_std.is_empty() {
            text.fill("\nstatic const float @_log_std[%] = ", &[Arg::Number(log_std.len())]);
            text.table(log_std.iter(), |text, x| text.float(*x));
        }
        Ok(())
    }

    fn write_functions(&self, text: &mut Text<'_>) -> Result {
        let (state, choices) = (self.state_len() > 0, self.shape().choices_len() > 0);
        if state {
            text.code(RESET);
        }
        let head = [Arg::Code(if state { "@_state *state, " } else { "" }), Arg::Code(obs_type(self))];
        text.code(OUTPUTS);
        text.fill("static inline int @_outputs(%@_scratch *scratch, const % *obs) {\n", &head);
        let row = self.write_encoded(text);
        if state {
            text.code("  const float *before = state->values;\n  float *after = scratch->after;\n");
        }
        if c_source::values_len(&self.net()) > 0 {
            text.code("  float *values = scratch->values;\n");
        }
        self.write_checks(text, row);
        let head_of = if self.has_atoms() { "scratch->atoms" } else { "scratch->outputs" };
        let row = if self.config().normalize_obs != 0 { "scratch->obs" } else { row };
        let names = Names { row, is_bytes: self.reads_bytes_alone(), head: head_of };
        c_source::network(text, &self.net(), names)?;
        text.call(Part::Finite);
        text.fill("  if (!@_finite(%, %)) return 3;\n", &[Arg::Code(head_of), Arg::Number(self.raw_len())]);
        let config = self.config();
        if self.has_atoms() {
            text.call(Part::Atoms);
            let [n, atoms] = [config.shape.num_outputs, config.num_atoms].map(|len| Arg::Number(len as usize));
            let [low, high] = [config.value_min, config.value_max].map(Arg::Float);
            text.fill("  @_atoms(scratch->atoms, %, %, %, %, scratch->outputs);\n", &[n, atoms, low, high]);
            text.code("  if (!@_finite(scratch->outputs, $_NUM_OUTPUTS)) return 3;\n");
        }
        if state {
            text.code("  if (!@_finite(after, $_STATE_LEN)) return 3;\n");
            text.code("  memcpy(state->values, after, sizeof state->values);\n");
        }
        text.code("  return 0;\n}\n");
        self.write_best(text)?;
        text.code(ACT);
        text.fill("static inline int @_act(%@_scratch *scratch, const % *obs, ", &head);
        text.fill("%% *action) {\n", &[Arg::Code(mask(choices)), Arg::Code(action_type(self))]);
        if choices {
            text.call(Part::Allows);
            text.fill("  if (!@_allows(mask, @_choices, %)) return 2;\n", &[Arg::Number(self.action_spec().n.len())]);
        }
        text.code("  const int failed = @_outputs(");
        text.code(if state { "state, scratch, obs);\n" } else { "scratch, obs);\n" });
        text.code("  if (failed) return failed;\n  @_best(scratch->outputs, ");
        text.code(if choices { "mask, action);\n  return 0;\n}\n" } else { "action);\n  return 0;\n}\n" });
        Ok(())
    }

    /// The statements that encode an observation before it is checked. Returns the name of the encoded row.
    fn write_encoded(&self, text: &mut Text<'_>) -> &'static str {
        let (seen, shape) = (self.encoder(), self.shape());
        if !seen.coded {
            if shape.obs_u8() && self.copies_obs() {
                text.call(Part::Bytes);
                text.code("  @_bytes(obs, $_OBS_LEN, scratch->obs);\n");
                return "scratch->obs";
            }
            return "obs";
        }
        text.code("  const uint8_t *bytes = (const uint8_t *)obs;\n");
        for (part, index) in seen.parts.iter().zip(1usize..) {
            self.write_field(text, part, index);
        }
        "scratch->obs"
    }

    fn write_field(&self, text: &mut Text<'_>, part: &ObsPart, index: usize) {
        let ((kind, len, first), (offset, begin)) = (part.elements(), part.places());
        let (from, to) = (Arg::At("bytes", offset), Arg::At("scratch->obs", begin));
        let [height, width, channels] = part.picture.map(|len| len as usize);
        let (pixels, channels) = (Arg::Number(height.saturating_mul(width)), Arg::Number(channels));
        match (kind, part.is_turned()) {
            (Element::F32, false) => text.fill("  memcpy(%, %, % * sizeof(float));\n", &[to, from, Arg::Number(len)]),
            (Element::F32, true) => {
                text.call(Part::TurnFloats);
                text.fill("  @_turn_floats(%, %, %, %);\n", &[from, pixels, channels, to]);
            }
            (Element::U8, false) => {
                text.call(Part::Bytes);
                text.fill("  @_bytes(%, %, %);\n", &[from, Arg::Number(len), to]);
            }
            (Element::U8, true) => {
                text.call(Part::TurnBytes);
                text.fill("  @_turn_bytes(%, %, %, %);\n", &[from, pixels, channels, to]);
            }
            (Element::I32, _) => {
                text.call(Part::OneHot);
                text.fill("  static const uint32_t counts_%[%] = ", &[Arg::Number(index), Arg::Number(len)]);
                let counts = self.encoder().n.iter().skip(first).take(len);
                text.table(counts, |text, n| text.number(u64::from(*n)));
                let args = [from, Arg::Number(index), Arg::Number(len), to];
                text.fill("  if (!@_one_hot(%, counts_%, %, %)) return 1;\n", &args);
            }
        }
    }

    /// The checks of an encoded observation and of the state, and its normalization. `row` is the encoded row; that which layers
    /// read is normalized.
    fn write_checks(&self, text: &mut Text<'_>, row: &'static str) {
        let (shape, config) = (self.shape(), self.config());
        let seen = Arg::Number(shape.seen_len as usize);
        text.call(Part::Finite);
        if self.state_len() > 0 {
            text.code("  if (!@_finite(before, $_STATE_LEN)) return 1;\n");
        }
        if !shape.obs_u8() {
            text.fill("  if (!@_finite(%, %)) return 1;\n", &[Arg::Code(row), seen]);
        }
        c_source::symbols(text, &self.net(), row);
        if config.normalize_obs != 0 {
            text.call(Part::Normalize);
            let args = [Arg::Code(row), Arg::Float(config.obs_clip), seen];
            text.fill("  @_normalize(%, @_moments, %, %, scratch->obs);\n", &args);
        }
    }

    /// The function that takes the best action.
    fn write_best(&self, text: &mut Text<'_>) -> Result {
        let (shape, spec) = (self.shape(), self.action_spec());
        let (choices, numbers) = (shape.choices_len() > 0, shape.std_len() > 0);
        let head = self.head()?;
        let (squash, low, high) = head.bounds();
        if numbers {
            text.code(
                "\n/* Element i of an action, from its mean. */\nstatic inline float @_bounded(float x, size_t i) {\n",
            );
            if low.is_empty() {
                text.code("  (void)i;\n");
            } else {
                for (name, bounds) in [("low", low), ("high", high)] {
                    text.fill("  static const float %[%] = ", &[Arg::Code(name), Arg::Number(bounds.len())]);
                    text.table(bounds.iter(), |text, x| text.float(*x));
                }
            }
            if squash {
                text.call(Part::Tanh);
            }
            let value = if squash { "@_tanh(x)" } else { "x" };
            match (low.is_empty(), squash) {
                (true, _) => text.fill("  return %;\n}\n", &[Arg::Code(value)]),
                (false, true) => {
                    text.call(Part::Stretch);
                    text.fill("  return @_stretch(%, low[i], high[i]);\n}\n", &[Arg::Code(value)]);
                }
                (false, false) => {
                    text.call(Part::Clamp);
                    text.fill("  return @_clamp(%, low[i], high[i]);\n}\n", &[Arg::Code(value)]);
                }
            }
        }
        if choices {
            text.call(Part::Best);
        }
        text.code(BEST);
        let args = [Arg::Code(mask(choices)), Arg::Code(action_type(self))];
        text.fill("static inline void @_best(const float *outputs, %% *action) {\n", &args);
        match (shape.structured(), spec.n.len()) {
            (true, _) => {
                text.fill("  static const uint32_t words[%] = ", &[Arg::Number(spec.each.len())]);
                text.table(spec.each.iter(), |text, word| match *word {
                    GAP => text.code("UINT32_MAX"),
                    word => text.number(word.into()),
                });
                text.code("  uint8_t *to = (uint8_t *)action;\n");
                if numbers {
                    text.code("  const float *means = outputs + $_NUM_CHOICES;\n  size_t number = 0;\n");
                }
                text.fill("  for (size_t i = 0; i < %; i++, to += 4) {\n", &[Arg::Number(spec.each.len())]);
                text.code("    if (words[i] == UINT32_MAX) continue;\n");
                if numbers {
                    text.code(NUMBER);
                }
                if choices {
                    text.code(CHOICE);
                }
                text.code("  }\n}\n");
            }
            (false, 0) => text.code(NUMBERS),
            (false, 1) => text.code("  action[0] = @_best_of(outputs, mask, @_choices[0]);\n}\n"),
            (false, _) => text.code(CHOICES),
        }
        Ok(())
    }
}

/// The parameter of functions of actions with choices.
fn mask(choices: bool) -> &'static str {
    if choices { "const uint8_t *mask, " } else { "" }
}

const TITLE: &str = "\
/* A trained policy that needs no library: include this file, call @_act. Written by rlcore; C99 and C++17.

";

const INCLUDES: &str = "\
#ifndef $_POLICY_H
#define $_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error \"-ffast-math: infinities and the order of operations matter here\"
#endif

";

const STATE: &str = "
/* The state of one episode, which begins with zeros. */
typedef struct {
  float values[$_STATE_LEN];
} @_state;
";

const SCRATCH: &str = "
/* Working memory of a call, of any content: static, on the stack, or shared by policies that act in turn. outputs remain. */
typedef struct {
";

/// Products are rounded before they are added, but where the text fuses both.
const PRAGMAS: &str = "
/* Products and sums are rounded each, unless they are fused below. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize(\"fp-contract=off\")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif
";

const RESET: &str = "
/* Begins an episode. */
static inline void @_reset(@_state *state) { memset(state->values, 0, sizeof state->values); }
";

const OUTPUTS: &str = "
/* Computes scratch->outputs of an observation. Returns 0; 1 for numbers that are not finite, and choices or symbols that do not
   exist; 3 if outputs overflow. A state is changed only with 0. */
";

const BEST: &str = "
/* Takes the best action by outputs: most probable choices, the first of equals; means within their bounds. */
";

const ACT: &str = "
/* Acts greedily. mask has a flag for each choice, 0 forbids it; NULL allows all. Returns as @_outputs; 2 for a mask that allows no
   choice of an element. Nothing but scratch is changed unless it returns 0. */
";

const NUMBER: &str = "\
    if (words[i] == 0) {
      const float x = @_bounded(means[number], number);
      memcpy(to, &x, sizeof x);
      number++;
      continue;
    }
";

const CHOICE: &str = "\
    const int32_t choice = @_best_of(outputs, mask, words[i]);
    memcpy(to, &choice, sizeof choice);
    outputs += words[i];
    if (mask) mask += words[i];
";

const NUMBERS: &str = "\
  for (size_t i = 0; i < $_ACTION_LEN; i++) action[i] = @_bounded(outputs[i], i);
}
";

const CHOICES: &str = "\
  for (size_t i = 0; i < $_ACTION_LEN; i++) {
    action[i] = @_best_of(outputs, mask, @_choices[i]);
    outputs += @_choices[i];
    if (mask) mask += @_choices[i];
  }
}
";

const BACK: &str = "
#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC pop_options
#elif defined(_MSC_VER)
#pragma fp_contract(on)
#endif

#endif
";
