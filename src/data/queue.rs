//! Trajectories that wait for a learner, first in, first out.
