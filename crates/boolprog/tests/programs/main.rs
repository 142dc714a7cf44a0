//! Programs: their texts, trees and threads, and what the lowered system does.

mod limits;
mod rooms;
mod semantics;
mod texts;
mod threads;
mod trees;
mod words;
