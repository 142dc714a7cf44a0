//! Tests of many processes as one: the transport, whole runs, every model, and the imports
//! between rooms.

mod blocks;
mod models;
mod rooms;
mod runs;
