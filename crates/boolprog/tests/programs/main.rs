//! Tests of texts, syntax trees, threads, state texts, limits, and the meaning of lowered systems.

mod limits;
mod rooms;
mod semantics;
mod state_texts;
mod texts;
mod threads;
mod trees;
