//! The checker from outside: its conditions, hostile input, and its dependencies.

mod conditions;
mod hostile;
mod independence;
