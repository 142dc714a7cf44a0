//! The options of `cuba show` for pictures and automata.

use crate::pictures::picture::Picture;
use crate::running::answer::VerbError;
use clap::Args;

/// The format of a picture.
#[derive(Args, Debug)]
pub(crate) struct PictureArgs {
    /// Draw the reachable visible states for Graphviz
    ///
    /// The output has the visible states and the steps between them, in the language of Graphviz.
    /// With --psa, it has the store automaton instead.
    #[arg(long, group = "picture", conflicts_with_all = ["svg", "json", "successors"])]
    dot: bool,
    /// Draw the reachable visible states as SVG
    ///
    /// The picture shows the visible states and the steps between them. With --psa, it shows the
    /// store automaton instead.
    #[arg(long, group = "picture", conflicts_with_all = ["json", "successors"])]
    svg: bool,
}

impl PictureArgs {
    /// Returns whether the user wants a picture.
    pub(crate) fn is_wanted(&self) -> bool {
        self.dot || self.svg
    }

    /// Draws the picture as text. The error for an SVG that is too large ends with `hint`.
    pub(crate) fn draw(&self, picture: &Picture, hint: &str) -> Result<String, VerbError> {
        if self.dot {
            return Ok(picture.dot());
        }
        picture.svg().map_err(|error| VerbError::Usage(format!("{error}{hint}")))
    }
}

/// The store automaton to show.
#[derive(Args, Debug)]
pub(crate) struct PsaArgs {
    /// Print the store automaton of this thread
    ///
    /// The thread is given by its name, or by its number, counted from 1. The automaton accepts
    /// everything that the thread alone reaches from stacks of height at most one, as in `cuba
    /// fcr`, or from the state of --from.
    #[arg(long, value_name = "THREAD", conflicts_with = "successors")]
    pub(crate) psa: Option<String>,
    /// With --psa: start in this state
    ///
    /// E.g. '0|1,4 6', or only the shared state and the stack of the thread, '0|4 6'.
    #[arg(long, value_name = "STATE", requires = "psa")]
    pub(crate) from: Option<String>,
}

/// The limit of the exploration for a picture.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    /// With --dot or --svg: stop after K contexts
    ///
    /// The picture shows the visible states that are reachable with K contexts. The search stops
    /// earlier if all reachable visible states are known.
    #[arg(long, value_name = "K", default_value_t = 50, requires = "picture", conflicts_with_all = ["psa", "successors"])]
    pub(crate) max_contexts: usize,
}
