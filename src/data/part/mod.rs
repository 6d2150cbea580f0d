//! Parts that stores share: each is planned among the fields of its owner's block and knows no header.

pub mod episodes;
pub mod pools;
pub mod rollout;
pub mod scale;
pub mod table;
pub mod tree;
