//! A policy as a file of ONNX: observations in, greedy actions, and the numbers that they are made of, out.

use super::actor::Head;
use super::obs_encoder::Part;
use super::policy::{Policy, Q_LOGIT_SCALE};
use super::role::TensorName;
use crate::error::{Error, Kind, Result};
use crate::nn::onnx::{self, Attribute, Graph, Id, ROWS, Sink, Type};
use crate::num;
use crate::space::Element;

/// The names of inputs and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum OnnxNames {
    /// The library's: `obs`, or `obs_0` and so on of an observation of several fields, `action_mask`, `state`; observations have
    /// their own kinds of elements, and pictures their order of dimensions.
    #[default]
    Own = 0,
    /// Those of Unity ML-Agents: `obs_0`, `action_masks`, `recurrent_in`; all are f32, of bytes already divided by 255, and
    /// pictures have their channels first.
    MlAgents = 1,
}

/// How a policy is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Onnx {
    /// The names of inputs and outputs.
    pub names: OnnxNames,
    /// Whether it has an input for the choices that are allowed.
    pub action_mask: bool,
}

/// The largest file, in bytes: readers of protocol buffers take no larger one.
const MOST: usize = i32::MAX as usize;

/// Added to variances that normalize observations.
const EPSILON: f64 = 1e-8;

/// Version of ML-Agents' interface.
const ML_AGENTS: f32 = 3.0;

impl Policy<'_> {
    /// Bytes of the policy as a file of ONNX. Errors: `Config` for a mask of actions without choices; `Overflow` beyond 2 GB,
    /// which no reader takes.
    pub fn onnx_size(&self, how: Onnx) -> Result<usize> {
        let what = "onnx: action_mask of 0 for actions without choices";
        Error::new(Kind::Config, what).given(1).fail_if(how.action_mask && self.shape().choices_len() == 0)?;
        let mut counted = Sink::counting();
        self.write_model(how, &mut counted)?;
        let len = counted.len();
        Error::limit(Kind::Overflow, "onnx: a file of bytes, at most", MOST, len).fail_if(len > MOST)?;
        Ok(len)
    }

    /// Writes the policy as a file of ONNX. Errors: `Size` for another length of `to`; those of [`Policy::onnx_size`].
    pub fn write_onnx(&self, how: Onnx, to: &mut [u8]) -> Result {
        let len = self.onnx_size(how)?;
        Error::new(Kind::Size, "onnx: bytes").needed(len).given(to.len()).fail_if(to.len() != len)?;
        self.write_model(how, &mut Sink::writing(to))
    }

    fn write_model(&self, how: Onnx, to: &mut Sink<'_>) -> Result {
        let namer = |role, name: &str| *TensorName::new(None, role, name).bytes();
        onnx::model(to, namer, &|graph| self.write_graph(how, graph))
    }

    fn write_graph(&self, how: Onnx, graph: &mut Graph<'_, '_>) -> Result {
        let ml_agents = how.names == OnnxNames::MlAgents;
        let row = self.write_obs(ml_agents, graph)?;
        let row = self.write_normalized(row, graph)?;
        let state = self.write_state(ml_agents, graph)?;
        let (outputs, after) = onnx::network(graph, self.net(), self.params, row, state)?;
        let outputs = self.write_means(outputs, graph)?;
        let len = self.state_len() as i64;
        if len > 0 && ml_agents {
            let after = graph.reshape(after, &[-1, 1, len])?;
            graph.output(after, Id::Named("recurrent_out"), Type::F32, &[ROWS, 1, len])?;
        } else if len > 0 {
            graph.output(after, Id::Named("state_out"), Type::F32, &[ROWS, len])?;
        }
        let (choices, numbers) = (self.shape().choices_len(), self.shape().std_len());
        let (all, both) = (choices.saturating_add(numbers), choices > 0 && numbers > 0);
        if choices > 0 {
            let own = if both { graph.slice(outputs, 1, [0, choices])? } else { outputs };
            self.write_choices(how, own, graph)?;
        }
        if numbers > 0 {
            let own = if both { graph.slice(outputs, 1, [choices, all])? } else { outputs };
            self.write_numbers(ml_agents, own, graph)?;
        }
        if ml_agents {
            let told = |graph: &mut Graph<'_, '_>, name, number: f32| {
                let number = graph.floats(&[1], &[number])?;
                graph.output(number, Id::Named(name), Type::F32, &[1])
            };
            told(graph, "version_number", ML_AGENTS)?;
            told(graph, "memory_size", len as f32)?;
        }
        Ok(())
    }

    /// The inputs of observations, as an encoded row.
    fn write_obs(&self, ml_agents: bool, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let (seen, shape) = (self.encoder(), self.shape());
        let single = ml_agents || seen.parts.len() > 1;
        let name = |index| if single { Id::Indexed("obs_", index) } else { Id::Named("obs") };
        if seen.parts.is_empty() {
            let picture = self.net().picture().map(|len| len as i64);
            let kind = if shape.obs_u8() { Element::U8 } else { Element::F32 };
            return write_input(graph, name(0), kind, (picture, false), ml_agents);
        }
        for (part, index) in seen.parts.iter().zip(0..) {
            let own = self.write_part(part, name(index), ml_agents, graph)?;
            graph.node("Identity", &[own], &[], Id::Indexed("encoded_", index))?;
        }
        graph.concat_of(seen.parts.len(), &|i| Id::Indexed("encoded_", i as u32), 1)
    }

    fn write_part(&self, part: &Part, name: Id, ml_agents: bool, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let (kind, len, first) = part.elements();
        let picture = part.picture.map(i64::from);
        if kind != Element::I32 {
            return write_input(graph, name, kind, (picture, part.is_turned()), ml_agents);
        }
        let counts = self.encoder().n.get(first..).unwrap_or_default();
        let counts = counts.get(..len).unwrap_or_default();
        let own = if ml_agents { Type::F32 } else { Type::I32 };
        let mut chosen = graph.input(name, own, &[ROWS, len as i64])?;
        if ml_agents {
            chosen = graph.cast(chosen, Type::I32)?;
        }
        one_hot(graph, chosen, counts)
    }

    /// Normalized observations. A mean is subtracted in two parts, so that it is as exact as in the library.
    fn write_normalized(&self, row: Id, graph: &mut Graph<'_, '_>) -> Result<Id> {
        if self.config().normalize_obs == 0 {
            return Ok(row);
        }
        let (mean, var) = self.moments();
        let (len, mean) = ([mean.len()], |i: usize| mean.get(i).copied().unwrap_or(0.0));
        let rest = |i: usize| (mean(i) - f64::from(mean(i) as f32)) as f32;
        let factor = |i: usize| (1.0 / num::sqrt64(var.get(i).copied().unwrap_or(1.0) + EPSILON)) as f32;
        let (mean, rest, factor) =
            (graph.made(&len, &|i| mean(i) as f32)?, graph.made(&len, &rest)?, graph.made(&len, &factor)?);
        let apart = graph.op("Sub", &[row, mean], &[])?;
        let apart = graph.op("Sub", &[apart, rest], &[])?;
        let scaled = graph.op("Mul", &[apart, factor], &[])?;
        let (low, high) = (graph.scalar(-self.config().obs_clip)?, graph.scalar(self.config().obs_clip)?);
        graph.op("Clip", &[scaled, low, high], &[])
    }

    fn write_state(&self, ml_agents: bool, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let len = self.state_len() as i64;
        match (len, ml_agents) {
            (0, _) => Ok(Id::Nothing),
            (_, false) => graph.input(Id::Named("state"), Type::F32, &[ROWS, len]),
            (_, true) => {
                let state = graph.input(Id::Named("recurrent_in"), Type::F32, &[ROWS, 1, len])?;
                graph.reshape(state, &[-1, len])
            }
        }
    }

    /// The outputs, or the means of the distributions that they are logits of.
    fn write_means(&self, outputs: Id, graph: &mut Graph<'_, '_>) -> Result<Id> {
        let config = self.config();
        if config.num_atoms == 0 {
            return Ok(outputs);
        }
        let (num, all) = (config.num_atoms as usize, i64::from(config.shape.num_outputs));
        let logits = graph.reshape(outputs, &[-1, all, num as i64])?;
        let share = graph.op("Softmax", &[logits], &[Attribute::Int("axis", 2)])?;
        let (low, width) = (config.value_min, config.value_max - config.value_min);
        let last = config.num_atoms.saturating_sub(1).max(1) as f32;
        let atoms = graph.made(&[num], &|i| low + width * (i as f32 / last))?;
        let parts = graph.op("Mul", &[share, atoms], &[])?;
        graph.sum(parts, 2)
    }

    fn write_choices(&self, how: Onnx, logits: Id, graph: &mut Graph<'_, '_>) -> Result {
        let ml_agents = how.names == OnnxNames::MlAgents;
        let n = self.action_spec().n;
        let (all, count) = (self.shape().choices_len() as i64, n.len());
        if self.is_q() {
            let q = graph.with("Mul", logits, 1.0 / Q_LOGIT_SCALE)?;
            graph.output(q, Id::Named("q"), Type::F32, &[ROWS, all])?;
        } else {
            graph.output(logits, Id::Named("logits"), Type::F32, &[ROWS, all])?;
        }
        let mut allowed = logits;
        if how.action_mask {
            let (name, of) = if ml_agents { ("action_masks", Type::F32) } else { ("action_mask", Type::U8) };
            let mask = graph.input(Id::Named(name), of, &[ROWS, all])?;
            let (mask, never) = (graph.cast(mask, Type::Bool)?, graph.scalar(f32::MIN)?);
            allowed = graph.op("Where", &[mask, logits, never], &[])?;
        }
        let mut begin = 0usize;
        for (&n, index) in n.iter().zip(0..) {
            let end = begin.saturating_add(n as usize);
            let own = if count > 1 { graph.slice(allowed, 1, [begin, end])? } else { allowed };
            let axis = Attribute::Int("axis", 1);
            if !self.is_q() {
                graph.node("Softmax", &[own], &[axis], Id::Indexed("probabilities_", index))?;
            }
            graph.node("ArgMax", &[own], &[axis, Attribute::Int("keepdims", 1)], Id::Indexed("choice_", index))?;
            begin = end;
        }
        if !self.is_q() {
            let shares = graph.concat_of(count, &|i| Id::Indexed("probabilities_", i as u32), 1)?;
            graph.output(shares, Id::Named("probabilities"), Type::F32, &[ROWS, all])?;
        }
        let choices = graph.concat_of(count, &|i| Id::Indexed("choice_", i as u32), 1)?;
        let choices = graph.cast(choices, Type::I32)?;
        let dims = [ROWS, count as i64];
        graph.output(choices, Id::Named("discrete_actions"), Type::I32, &dims)?;
        if ml_agents {
            graph.output(choices, Id::Named("deterministic_discrete_actions"), Type::I32, &dims)?;
            let counts = graph.made(&[1, count], &|i| n.get(i).copied().unwrap_or(0) as f32)?;
            graph.output(counts, Id::Named("discrete_action_output_shape"), Type::F32, &[1, count as i64])?;
        }
        Ok(())
    }

    fn write_numbers(&self, ml_agents: bool, mean: Id, graph: &mut Graph<'_, '_>) -> Result {
        let len = self.shape().std_len();
        let dims = [ROWS, len as i64];
        graph.output(mean, Id::Named("mean"), Type::F32, &dims)?;
        let log_std = graph.floats(&[len], self.log_std()?)?;
        let size = graph.op("Shape", &[mean], &[])?;
        let log_std = graph.op("Expand", &[log_std, size], &[])?;
        graph.output(log_std, Id::Named("log_std"), Type::F32, &dims)?;
        let action = self.head()?.write_bound(graph, mean)?;
        graph.output(action, Id::Named("continuous_actions"), Type::F32, &dims)?;
        if ml_agents {
            graph.output(action, Id::Named("deterministic_continuous_actions"), Type::F32, &dims)?;
            let size = graph.floats(&[1], &[len as f32])?;
            graph.output(size, Id::Named("continuous_action_output_shape"), Type::F32, &[1])?;
        }
        Ok(())
    }
}

impl Head<'_> {
    /// [`Head::bound`].
    fn write_bound(&self, graph: &mut Graph<'_, '_>, mean: Id) -> Result<Id> {
        let (squash, low, high) = self.bounds();
        let mut x = if squash { graph.op("Tanh", &[mean], &[])? } else { mean };
        if low.is_empty() {
            return Ok(x);
        }
        let (least, most) = (graph.floats(&[low.len()], low)?, graph.floats(&[high.len()], high)?);
        if squash {
            let half = graph.with("Mul", x, 0.5)?;
            let part = graph.with("Add", half, 0.5)?;
            if low.iter().zip(high).all(|(low, high)| (high - low).is_finite()) {
                let width = |i: usize| high.get(i).zip(low.get(i)).map_or(0.0, |(high, low)| high - low);
                let width = graph.made(&[low.len()], &width)?;
                let above = graph.op("Mul", &[part, width], &[])?;
                x = graph.op("Add", &[least, above], &[])?;
            } else {
                let one = graph.scalar(1.0)?;
                let rest = graph.op("Sub", &[one, part], &[])?;
                let (low, high) = (graph.op("Mul", &[rest, least], &[])?, graph.op("Mul", &[part, most], &[])?);
                x = graph.op("Add", &[low, high], &[])?;
            }
        }
        let x = graph.op("Max", &[x, least], &[])?;
        graph.op("Min", &[x, most], &[])
    }
}

/// An input of bytes or numbers, a picture or a row, whose channels may come first, as an encoded row.
fn write_input(
    graph: &mut Graph<'_, '_>,
    name: Id,
    kind: Element,
    ([height, width, channels], turned): ([i64; 3], bool),
    ml_agents: bool,
) -> Result<Id> {
    let (is_picture, turned) = (height > 1 || width > 1, turned || ml_agents);
    let len = height.saturating_mul(width).saturating_mul(channels);
    let bytes = kind == Element::U8 && !ml_agents;
    let of = if bytes { Type::U8 } else { Type::F32 };
    let mut x = match (is_picture, turned) {
        (false, _) => graph.input(name, of, &[ROWS, len])?,
        (true, false) => graph.input(name, of, &[ROWS, height, width, channels])?,
        (true, true) => graph.input(name, of, &[ROWS, channels, height, width])?,
    };
    if bytes {
        x = graph.cast(x, Type::F32)?;
        x = graph.with("Div", x, 255.0)?;
    }
    if !is_picture {
        return Ok(x);
    }
    if turned && channels > 1 {
        x = graph.transpose(x, &[0, 2, 3, 1])?;
    }
    graph.reshape(x, &[-1, len])
}

/// Choices `[N, K]` of so many each, one-hot: each column has the element that it belongs to, and the choice that it stands for.
fn one_hot(graph: &mut Graph<'_, '_>, chosen: Id, counts: &[u32]) -> Result<Id> {
    let total = counts.iter().fold(0usize, |all, n| all.saturating_add(*n as usize));
    let column = |at: usize| {
        let mut rest = at;
        let index = counts.iter().position(|n| {
            let own = rest < *n as usize;
            rest = if own { rest } else { rest.saturating_sub(*n as usize) };
            own
        });
        (index.unwrap_or(0), rest)
    };
    let elements = graph.places(total, &|at| column(at).0 as i64)?;
    let choices = graph.symbols(total, &|at| column(at).1 as i32)?;
    let own = graph.op("Gather", &[chosen, elements], &[Attribute::Int("axis", 1)])?;
    let equal = graph.op("Equal", &[own, choices], &[])?;
    graph.cast(equal, Type::F32)
}
