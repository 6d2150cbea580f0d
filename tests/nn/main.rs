//! Networks, optimizers and initializations.

mod adam;
mod checks;
mod large;
mod net;
mod noisy;
mod orthogonal;
mod parts;
mod pictures;
mod recurrent;
mod rmsprop;
#[cfg(all(feature = "attention", feature = "noisy", feature = "pictures", feature = "residual"))]
mod tensors;
mod weights;
