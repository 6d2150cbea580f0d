//! Learned values that depend on no input. All of them start at the gain of their layer.

use super::{Layered, Op, Prim, Scope, Sort};
use crate::error::Result;
use crate::nn::initializer::Start;
use crate::nn::node::Node;
use crate::nn::tensor::{Tensor, Tensors};
use crate::rng::Rng;

/// Shape of a layer.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Free {
    pub units: usize,
}

impl Layered for Free {
    type Form = ();
    const SORT: Sort = Sort::Free;
    const SCOPE: Scope = Scope::All;

    #[inline(always)]
    fn of(node: &Node, (): ()) -> Op {
        Op::Free(Free { units: node.units() })
    }
}

impl Prim for Free {
    #[inline(always)]
    fn param_len(self) -> usize {
        self.units
    }

    fn init(self, params: &mut [f32], start: Start, _: &mut Rng, _: &mut [f32]) -> Result {
        params.fill(start.gain);
        Ok(())
    }

    fn tensors(self) -> Tensors {
        Tensors::of([Tensor::weights("", 0, [(self.units, 1)])])
    }
}
