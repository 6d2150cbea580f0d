//! The sources themselves: which module uses which, and the words of comments.

mod floors;
mod words;
