//! Value targets over several steps.
