//! Parts shared by several stores: each is planned among the fields of its owner's block and has no header of its own.

pub mod episodes;
pub mod pools;
pub mod rollout;
pub mod scale;
pub mod table;
pub mod tree;
