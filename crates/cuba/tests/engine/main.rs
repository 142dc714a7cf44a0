//! Compares the engines with the oracle, with the model collection, and with each other.

mod any_threads;
mod artifact;
mod corpus;
mod evidence;
mod families;
mod fcr;
mod laws;
mod library;
mod limits;
mod paper_map;
mod psa;
mod rooms;
mod shortest;
mod squeeze;
mod symbolic;
mod unlike;
