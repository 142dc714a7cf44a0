//! `--dot`, `--svg`, and what they draw.

use crate::pictures::picture::Picture;
use crate::running::answer::Stopped;
use clap::Args;

/// How to draw.
#[derive(Args, Debug)]
pub(crate) struct PictureArgs {
    /// Draw what is reachable, for Graphviz
    ///
    /// The visible states that are reachable, with the steps between them; or the automaton of
    /// --psa.
    #[arg(long, group = "picture", conflicts_with_all = ["svg", "json", "successors"])]
    dot: bool,
    /// Draw what is reachable, as an SVG picture
    ///
    /// The same as for --dot.
    #[arg(long, group = "picture", conflicts_with_all = ["json", "successors"])]
    svg: bool,
}

impl PictureArgs {
    /// Whether there is something to draw.
    pub(crate) fn is_wanted(&self) -> bool {
        self.dot || self.svg
    }

    /// What to print. For an SVG that is too large, `hint` says what else may help.
    pub(crate) fn draw(&self, picture: &Picture, hint: &str) -> Result<String, Stopped> {
        if self.dot {
            return Ok(picture.dot());
        }
        picture.svg().map_err(|error| Stopped::Usage(format!("{error}{hint}")))
    }
}

/// Which automaton.
#[derive(Args, Debug)]
pub(crate) struct PsaArgs {
    /// Show the store automaton of this thread
    ///
    /// A name, or its number from 1 on. It is that of everything that the thread alone reaches from
    /// stacks of height at most one, as for `cuba fcr`; or of what it reaches from one state, with
    /// --from.
    #[arg(long, value_name = "THREAD", conflicts_with = "successors")]
    pub(crate) psa: Option<String>,
    /// For --psa: start in this state
    ///
    /// E.g. '0|1,4 6', or the thread's own part of it, '0|4 6'.
    #[arg(long, value_name = "STATE", requires = "psa")]
    pub(crate) from: Option<String>,
}

/// Which part of the graph.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    /// For --dot and --svg: stop after K contexts
    ///
    /// What is reachable with K contexts is drawn, if all that is reachable is not known earlier.
    #[arg(long, value_name = "K", default_value_t = 50, requires = "picture", conflicts_with_all = ["psa", "successors"])]
    pub(crate) max_contexts: usize,
}
