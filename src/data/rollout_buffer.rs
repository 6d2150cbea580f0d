//! What N environments did in T steps, for learners on policy.
