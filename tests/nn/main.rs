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
mod weights;
