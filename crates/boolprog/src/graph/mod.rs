//! A program with its names looked up: for each function a graph of steps.
//!
//! A node is a place at which a thread can stand, and the step that it takes from there. Compound
//! statements are gone: an `if` is a node with two successors.

mod resolution;

pub(crate) use resolution::{formula, resolve};

use crate::syntax::{Operator, Origin, StatementId};
use cpds::diagnostic::Span;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A program, ready to be run.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Shared variables.
    pub(crate) shared: Vec<Declaration>,
    /// Thread-local variables; in a frame they come before all others.
    pub(crate) thread_locals: Vec<Declaration>,
    /// Locks by name; the one without a name is called `lock`.
    pub(crate) locks: Vec<String>,
    pub(crate) functions: Vec<FunctionGraph>,
    pub(crate) nodes: Vec<Node>,
}

/// A variable and what it starts with.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) value: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct FunctionGraph {
    pub(crate) name: String,
    pub(crate) results: usize,
    pub(crate) parameters: usize,
    /// Parameters, then the other variables.
    pub(crate) locals: Vec<Declaration>,
    pub(crate) enforce: Option<Formula>,
    pub(crate) entry: usize,
    /// Its end, where there is no `return`.
    pub(crate) end: usize,
    /// Labels, and the nodes they stand for.
    pub(crate) labels: Vec<(String, usize)>,
}

/// A place and the step from it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) function: usize,
    pub(crate) step: Step,
    /// The next place, where there is only one.
    pub(crate) next: usize,
    /// The `atomic` blocks of its function that it stands in, outermost first, each by the node
    /// that leaves it.
    pub(crate) blocks: Vec<usize>,
    /// The statement that it belongs to; none at the end of a function.
    pub(crate) statement: Option<StatementId>,
    pub(crate) span: Span,
    pub(crate) origin: Option<Origin>,
}

/// What a thread does at a place.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Skip,
    Goto(Vec<usize>),
    Assume(Formula),
    Assert(Formula),
    /// `if` and `while`: where to go if the condition is true, and if not.
    Branch(Formula, usize, usize),
    /// Also `dead`: the values are choices. `None` is `_`.
    Assign {
        targets: Vec<Option<Var>>,
        values: Vec<Formula>,
        constrain: Option<Formula>,
    },
    /// `returned` is the node that awaits the return.
    Call {
        function: usize,
        arguments: Vec<Formula>,
        returned: usize,
    },
    /// A call has been made. `assign` is the node that assigns the results, if that is a step of
    /// its own.
    Await {
        targets: Vec<Option<Var>>,
        assign: Option<usize>,
    },
    /// The results are there.
    Results {
        targets: Vec<Option<Var>>,
    },
    Return(Vec<Formula>),
    EndThread,
    /// `atomic {`, and the node that leaves the block.
    Enter(usize),
    /// The bracket at the end of an `atomic` block.
    Leave,
    AtomicBegin,
    AtomicEnd,
    Lock(usize),
    Unlock(usize),
    /// Starts a function in a new thread.
    Start {
        function: usize,
        arguments: Vec<Formula>,
    },
    /// Starts a new thread at another node, which has this label.
    StartAt(usize, String),
}

/// A variable by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Var {
    Shared(usize),
    /// In the frame: thread-local ones, then parameters, then the others.
    Local(usize),
}

/// An expression with its names looked up.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Constant(bool),
    Choice,
    Variable(Var),
    /// The value after the assignment, of one of its targets.
    Primed(Var),
    Not(Box<Formula>),
    Binary(Operator, Box<Formula>, Box<Formula>),
    IfElse(Box<Formula>, Box<Formula>, Box<Formula>),
    Schoose(Box<Formula>, Box<Formula>),
}

impl Graph {
    /// Where a thread may stand after this node, in the same call.
    pub(crate) fn successors(&self, node: usize) -> Vec<usize> {
        let Node { step, next, .. } = &self.nodes[node];
        match step {
            Step::Goto(nodes) => nodes.clone(),
            Step::Branch(_, then, otherwise) => vec![*then, *otherwise],
            Step::Call { returned, .. } => vec![*returned],
            Step::Await { assign: Some(assign), .. } => vec![*assign],
            Step::Return(_) | Step::EndThread => Vec::new(),
            _ => vec![*next],
        }
    }

    /// The nodes that are reached in one call that starts at this node, itself included.
    pub(crate) fn reach(&self, node: usize) -> Vec<usize> {
        // Not as large as the program: functions are many, and small.
        let mut found: IndexSet<usize, FxBuildHasher> = IndexSet::from_iter([node]);
        let mut done = 0;
        while let Some(&node) = found.get_index(done) {
            done += 1;
            found.extend(self.successors(node));
        }
        found.into_iter().collect()
    }

    /// The nodes with this label: `L` in any function, or `f:L`.
    pub(crate) fn labelled(&self, text: &str) -> Option<Vec<usize>> {
        let (function, label) =
            text.split_once(':').map_or((None, text), |(function, label)| (Some(function.trim()), label.trim()));
        let functions = self.functions.iter().filter(|it| function.is_none_or(|name| it.name == name));
        let nodes = functions.flat_map(|it| it.labels.iter().filter(|(name, _)| name == label).map(|&(_, node)| node));
        Some(nodes.collect()).filter(|nodes: &Vec<usize>| !nodes.is_empty())
    }
}
