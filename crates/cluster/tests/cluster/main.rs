//! Tests of many processes as one: the transport, whole runs, and every model.

mod blocks;
mod models;
mod runs;
