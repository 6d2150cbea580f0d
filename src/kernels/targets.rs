//! Value targets over several steps, all of one reverse scan.
