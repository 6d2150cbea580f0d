//! Trajectories that wait for a learner.
