//! A tree of sums that finds the item a priority belongs to.
