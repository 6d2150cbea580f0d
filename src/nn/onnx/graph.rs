//! A graph of ONNX: operators, constants, inputs and outputs, in the order in which they are made.

use super::sink::Sink;
use crate::error::Result;
use crate::nn::tensor::Tensor;

/// Bytes of the name of a tensor, with a zero at its end.
pub const NAME_LEN: usize = 48;

/// The name of a tensor: that of the layer with a role, and its own in the layer.
pub type Namer = fn(u32, &str) -> [u8; NAME_LEN];

/// Type of the elements of a tensor, by ONNX's number.
#[derive(Clone, Copy, PartialEq)]
pub enum Type {
    F32 = 1,
    U8 = 2,
    I32 = 6,
    I64 = 7,
    Bool = 9,
}

/// A tensor of the graph.
#[derive(Clone, Copy, PartialEq)]
pub enum Id {
    /// An input that an operator may lack.
    Nothing,
    /// The output of an operator, or a constant, by its number.
    Number(u32),
    /// An input or an output of the graph.
    Named(&'static str),
    /// The same, one of several.
    Indexed(&'static str, u32),
    /// The tensor with a name in the layer with a role.
    Weight(u32, &'static str),
}

/// An attribute of an operator.
#[allow(dead_code, reason = "a build may have no activation with a number")]
#[derive(Clone, Copy)]
pub enum Attribute<'a> {
    Int(&'static str, i64),
    Ints(&'static str, &'a [i64]),
    Float(&'static str, f32),
}

/// A text that is put together.
struct Label {
    bytes: [u8; NAME_LEN + 16],
    len: usize,
}

impl Label {
    /// The name of a tensor of the graph.
    fn new(id: Id, namer: Namer) -> Label {
        let mut label = Label { bytes: [0; NAME_LEN + 16], len: 0 };
        match id {
            Id::Nothing => {}
            Id::Number(number) => label.number(number),
            Id::Named(name) => label.text(name.as_bytes()),
            Id::Indexed(name, index) => {
                label.text(name.as_bytes());
                label.number(index);
            }
            Id::Weight(role, name) => label.text(&namer(role, name)),
        }
        label
    }

    fn push(&mut self, byte: u8) {
        if let Some(to) = self.bytes.get_mut(self.len) {
            (*to, self.len) = (byte, self.len.saturating_add(1));
        }
    }

    fn text(&mut self, text: &[u8]) {
        text.iter().take_while(|byte| **byte != 0).for_each(|byte| self.push(*byte));
    }

    fn number(&mut self, number: u32) {
        let mut unit = 1u32;
        while number / 10 >= unit {
            unit = unit.saturating_mul(10);
        }
        while unit > 0 {
            self.push(b'0'.saturating_add((number.checked_div(unit).unwrap_or(0) % 10) as u8));
            unit /= 10;
        }
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// A graph that is written, or counted.
pub struct Graph<'s, 'b> {
    to: &'s mut Sink<'b>,
    namer: Namer,
    next: u32,
}

/// The length of a dimension of observations: any number.
pub const ROWS: i64 = -1;

impl<'s, 'b> Graph<'s, 'b> {
    /// An empty graph.
    pub fn new(to: &'s mut Sink<'b>, namer: Namer) -> Graph<'s, 'b> {
        Graph { to, namer, next: 0 }
    }

    fn fresh(&mut self) -> Id {
        self.next = self.next.saturating_add(1);
        Id::Number(self.next)
    }

    /// An operator of so many inputs.
    pub fn gather(
        &mut self,
        operator: &str,
        (count, input): (usize, &dyn Fn(usize) -> Id),
        attributes: &[Attribute<'_>],
        output: Id,
    ) -> Result<Id> {
        let namer = self.namer;
        self.to.message(1, &|node| {
            for i in 0..count {
                node.text(1, Label::new(input(i), namer).as_slice());
            }
            node.text(2, Label::new(output, namer).as_slice());
            node.text(4, operator.as_bytes());
            attributes.iter().try_for_each(|attribute| node.message(5, &|to| attribute.write(to)))
        })?;
        Ok(output)
    }

    /// An operator with a given output.
    pub fn node(&mut self, operator: &str, inputs: &[Id], attributes: &[Attribute<'_>], output: Id) -> Result<Id> {
        self.gather(operator, (inputs.len(), &|i| inputs.get(i).copied().unwrap_or(Id::Nothing)), attributes, output)
    }

    /// An operator.
    pub fn op(&mut self, operator: &str, inputs: &[Id], attributes: &[Attribute<'_>]) -> Result<Id> {
        let output = self.fresh();
        self.node(operator, inputs, attributes, output)
    }

    /// A constant of 32-bit words.
    fn constant(
        &mut self,
        id: Id,
        of: Type,
        dims: &[usize],
        len: usize,
        words: &dyn Fn(&mut Sink<'_>, usize),
    ) -> Result<Id> {
        let name = Label::new(id, self.namer);
        self.to.message(5, &|tensor| {
            dims.iter().for_each(|len| tensor.int(1, *len as i64));
            tensor.int(2, of as i64);
            tensor.text(8, name.as_slice());
            words(tensor, len);
            Ok(())
        })?;
        Ok(id)
    }

    /// A constant of numbers.
    pub fn floats(&mut self, dims: &[usize], of: &[f32]) -> Result<Id> {
        self.made(dims, &|i| of.get(i).copied().unwrap_or(0.0))
    }

    /// A constant of numbers, computed from their places.
    pub fn made(&mut self, dims: &[usize], of: &dyn Fn(usize) -> f32) -> Result<Id> {
        let (id, len) = (self.fresh(), dims.iter().fold(1usize, |all, len| all.saturating_mul(*len)));
        self.constant(id, Type::F32, dims, len, &|to, len| {
            to.words(9, len, &mut (0..len).map(|i| of(i).to_le_bytes()));
        })
    }

    /// A number.
    pub fn scalar(&mut self, of: f32) -> Result<Id> {
        self.floats(&[], &[of])
    }

    /// Whole numbers.
    pub fn ints(&mut self, of: &[i64]) -> Result<Id> {
        self.places(of.len(), &|i| of.get(i).copied().unwrap_or(0))
    }

    /// Whole numbers, computed from their places.
    pub fn places(&mut self, len: usize, of: &dyn Fn(usize) -> i64) -> Result<Id> {
        let id = self.fresh();
        self.constant(id, Type::I64, &[len], len, &|to, len| {
            to.words(9, len, &mut (0..len).map(|i| of(i).to_le_bytes()));
        })
    }

    /// Small whole numbers, computed from their places.
    pub fn symbols(&mut self, len: usize, of: &dyn Fn(usize) -> i32) -> Result<Id> {
        let id = self.fresh();
        self.constant(id, Type::I32, &[len], len, &|to, len| {
            to.words(9, len, &mut (0..len).map(|i| of(i).to_le_bytes()));
        })
    }

    /// The tensor of a layer, under its own name.
    pub fn weight(&mut self, role: u32, tensor: &Tensor, params: &[f32]) -> Result<Id> {
        self.shaped(role, tensor, tensor.dims.get(..tensor.rank).unwrap_or_default(), params)
    }

    /// The tensor of a layer with other dimensions.
    pub fn shaped(&mut self, role: u32, tensor: &Tensor, dims: &[usize], params: &[f32]) -> Result<Id> {
        let id = Id::Weight(role, tensor.name);
        self.constant(id, Type::F32, dims, tensor.len(), &|to, len| {
            to.words(9, len, &mut tensor.values(params).map(f32::to_le_bytes));
        })
    }

    /// An input or an output of the graph, [`ROWS`] in any number.
    fn value(&mut self, field: u64, id: Id, of: Type, dims: &[i64]) -> Result<Id> {
        let name = Label::new(id, self.namer);
        self.to.message(field, &|value| {
            value.text(1, name.as_slice());
            value.message(2, &|kind| {
                kind.message(1, &|tensor| {
                    tensor.int(1, of as i64);
                    tensor.message(2, &|shape| {
                        dims.iter().try_for_each(|len| {
                            shape.message(1, &|dim| {
                                match *len {
                                    ROWS => dim.text(2, b"N"),
                                    len => dim.int(1, len),
                                }
                                Ok(())
                            })
                        })
                    })
                })
            })
        })?;
        Ok(id)
    }

    /// An input of the graph.
    pub fn input(&mut self, id: Id, of: Type, dims: &[i64]) -> Result<Id> {
        self.value(11, id, of, dims)
    }

    /// Makes a tensor an output of the graph.
    pub fn output(&mut self, from: Id, id: Id, of: Type, dims: &[i64]) -> Result {
        self.node("Identity", &[from], &[], id)?;
        self.value(12, id, of, dims)?;
        Ok(())
    }

    /// The same elements with other dimensions, -1 for that which follows from the others.
    pub fn reshape(&mut self, x: Id, dims: &[i64]) -> Result<Id> {
        let dims = self.ints(dims)?;
        self.op("Reshape", &[x, dims], &[])
    }

    /// Other order of dimensions.
    pub fn transpose(&mut self, x: Id, order: &[i64]) -> Result<Id> {
        self.op("Transpose", &[x], &[Attribute::Ints("perm", order)])
    }

    /// Elements `[begin, end)` along a dimension.
    pub fn slice(&mut self, x: Id, axis: i64, [begin, end]: [usize; 2]) -> Result<Id> {
        let (begin, end) = (self.ints(&[begin as i64])?, self.ints(&[end as i64])?);
        let axis = self.ints(&[axis])?;
        self.op("Slice", &[x, begin, end, axis], &[])
    }

    /// Tensors one after another along a dimension.
    #[cfg(any(feature = "recurrent", feature = "residual"))]
    pub fn concat(&mut self, all: &[Id], axis: i64) -> Result<Id> {
        match all {
            [one] => Ok(*one),
            _ => self.op("Concat", all, &[Attribute::Int("axis", axis)]),
        }
    }

    /// The same of any number of tensors.
    pub fn concat_of(&mut self, count: usize, each: &dyn Fn(usize) -> Id, axis: i64) -> Result<Id> {
        let output = self.fresh();
        self.gather("Concat", (count, each), &[Attribute::Int("axis", axis)], output)
    }

    /// Sums along a dimension, which goes.
    pub fn sum(&mut self, x: Id, axis: i64) -> Result<Id> {
        let axis = self.ints(&[axis])?;
        self.op("ReduceSum", &[x, axis], &[Attribute::Int("keepdims", 0)])
    }

    /// Other elements.
    pub fn cast(&mut self, x: Id, to: Type) -> Result<Id> {
        self.op("Cast", &[x], &[Attribute::Int("to", to as i64)])
    }

    /// A number with each element of a tensor.
    pub fn with(&mut self, operator: &str, x: Id, number: f32) -> Result<Id> {
        let number = self.scalar(number)?;
        self.op(operator, &[x, number], &[])
    }
}

impl Attribute<'_> {
    fn write(&self, to: &mut Sink<'_>) -> Result {
        match *self {
            Attribute::Float(name, value) => {
                to.text(1, name.as_bytes());
                to.float(2, value);
                to.int(20, 1);
            }
            Attribute::Int(name, value) => {
                to.text(1, name.as_bytes());
                to.int(3, value);
                to.int(20, 2);
            }
            Attribute::Ints(name, values) => {
                to.text(1, name.as_bytes());
                values.iter().for_each(|value| to.int(8, *value));
                to.int(20, 7);
            }
        }
        Ok(())
    }
}
