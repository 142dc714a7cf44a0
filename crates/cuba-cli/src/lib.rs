//! The command line of cuba: from the words of a command to text, JSON, pages and pictures.

pub mod json;
pub mod running;
pub mod text;
pub mod verbs;

mod analysis;
mod arguments;
mod html;
mod pictures;
