//! V-trace: off-policy value targets and policy-gradient advantages.
