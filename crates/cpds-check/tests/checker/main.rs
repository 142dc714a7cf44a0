//! The checker from outside: its conditions, hostile input, its dependencies, and the imports
//! between its rooms.

mod conditions;
mod hostile;
mod independence;
mod rooms;
