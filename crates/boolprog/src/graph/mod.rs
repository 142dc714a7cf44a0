//! The control-flow graph of a program, with all names resolved.
//!
//! In: a syntax tree. Out: a [`Graph`], or diagnostics.
//!
//! A node is a place at which a thread can be, with the step that it takes from there. There are no
//! compound statements: an `if` is a node with two successors.

mod resolution;

pub(crate) use resolution::{formula, resolve};

use crate::syntax::{Operator, Origin, StatementId};
use cpds::diagnostic::Span;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A program as a graph for each function.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Shared variables.
    pub(crate) shared: Vec<Declaration>,
    /// Thread-local variables. In a frame they come before all others.
    pub(crate) thread_locals: Vec<Declaration>,
    /// Locks by name. The lock without a name is called `lock`.
    pub(crate) locks: Vec<String>,
    pub(crate) functions: Vec<FunctionGraph>,
    pub(crate) nodes: Vec<Node>,
}

/// A variable and its initial value. `None` is any value.
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
    /// Parameters, then the other local variables.
    pub(crate) locals: Vec<Declaration>,
    pub(crate) enforce: Option<Formula>,
    pub(crate) entry: usize,
    /// The node after the last statement.
    pub(crate) end: usize,
    /// Labels with their nodes.
    pub(crate) labels: Vec<(String, usize)>,
}

/// A place of a function and the step from it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) function: usize,
    pub(crate) step: Step,
    /// The successor, if there is only one.
    pub(crate) next: usize,
    /// The `atomic` blocks around the node, outermost first. The node that leaves a block
    /// identifies it.
    pub(crate) blocks: Vec<usize>,
    /// The statement of the node. The end of a function has none.
    pub(crate) statement: Option<StatementId>,
    pub(crate) span: Span,
    pub(crate) origin: Option<Origin>,
}

/// The step of a thread at a place.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Skip,
    Goto(Vec<usize>),
    Assume(Formula),
    Assert(Formula),
    /// `if` and `while`: the successors for a true condition and for a false one.
    Branch(Formula, usize, usize),
    /// An assignment. Also `dead`, with any values. The target `None` is `_`.
    Assign {
        targets: Vec<Option<Var>>,
        values: Vec<Formula>,
        constrain: Option<Formula>,
    },
    /// A call. `returned` is the node that awaits the return.
    Call {
        function: usize,
        arguments: Vec<Formula>,
        returned: usize,
    },
    /// Awaits the return of a call. `assign` is the node that assigns the results, if that is a
    /// separate step.
    Await {
        targets: Vec<Option<Var>>,
        assign: Option<usize>,
    },
    /// Assigns the results of a call.
    Results {
        targets: Vec<Option<Var>>,
    },
    Return(Vec<Formula>),
    EndThread,
    /// `atomic {`. The number is the node that leaves the block.
    Enter(usize),
    /// The bracket at the end of an `atomic` block.
    Leave,
    AtomicBegin,
    AtomicEnd,
    Lock(usize),
    Unlock(usize),
    /// Starts a new thread at the entry of a function.
    Start {
        function: usize,
        arguments: Vec<Formula>,
    },
    /// Starts a new thread at another node of this function, which has this label.
    StartAt(usize, String),
}

/// A variable by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Var {
    Shared(usize),
    /// A variable of the frame: thread-local ones, then parameters, then other local ones.
    Local(usize),
}

/// An expression with its names resolved.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Constant(bool),
    Choice,
    Variable(Var),
    /// The value of a target after the assignment.
    Primed(Var),
    Not(Box<Formula>),
    Binary(Operator, Box<Formula>, Box<Formula>),
    IfElse(Box<Formula>, Box<Formula>, Box<Formula>),
    Schoose(Box<Formula>, Box<Formula>),
}

impl Graph {
    /// Returns the largest number of results of any function.
    pub(crate) fn most_results(&self) -> usize {
        self.functions.iter().map(|function| function.results).max().unwrap_or(0)
    }

    /// Returns the nodes after this one in the same call.
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

    /// Returns the nodes that this node leads to in the same call, including the node itself.
    pub(crate) fn reach(&self, node: usize) -> Vec<usize> {
        // A hash set of the reached nodes. A bit for each node of the program would take more time,
        // because most programs have many small functions.
        let mut reached: IndexSet<usize, FxBuildHasher> = IndexSet::from_iter([node]);
        let mut done = 0;
        while let Some(&node) = reached.get_index(done) {
            done += 1;
            reached.extend(self.successors(node));
        }
        reached.into_iter().collect()
    }

    /// Returns the nodes with this label: `L` in any function, or `f:L`.
    pub(crate) fn labelled(&self, text: &str) -> Option<Vec<usize>> {
        let (function, label) =
            text.split_once(':').map_or((None, text), |(function, label)| (Some(function.trim()), label.trim()));
        let functions = self.functions.iter().filter(|it| function.is_none_or(|name| it.name == name));
        let nodes = functions.flat_map(|it| it.labels.iter().filter(|(name, _)| name == label).map(|&(_, node)| node));
        Some(nodes.collect()).filter(|nodes: &Vec<usize>| !nodes.is_empty())
    }
}
