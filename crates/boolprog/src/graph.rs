//! A program with its names looked up: for each function a graph of steps.
//!
//! A node is a place at which a thread can stand, and the step that it takes from there. Compound
//! statements are gone: an `if` is a node with two successors.

use crate::syntax::{Operator, Origin, StatementId};
use cpds::diagnostic::Span;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// The most variables of a kind: shared ones, thread-local ones, those of a function; and the most
/// results of a function.
pub(crate) const MOST_VARIABLES: usize = 1 << 14;

/// The most locks.
pub(crate) const MOST_LOCKS: usize = 1 << 12;

/// A program, ready to be run.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Shared variables.
    pub(crate) shared: Vec<Declared>,
    /// Thread-local variables; in a frame they come before all others.
    pub(crate) thread_locals: Vec<Declared>,
    /// Locks by name; the one without a name is called `lock`.
    pub(crate) locks: Vec<String>,
    pub(crate) functions: Vec<FunctionGraph>,
    pub(crate) nodes: Vec<Node>,
}

/// A variable and what it starts with.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) value: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct FunctionGraph {
    pub(crate) name: String,
    pub(crate) results: usize,
    pub(crate) parameters: usize,
    /// Parameters, then the other variables.
    pub(crate) locals: Vec<Declared>,
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

    /// For each node, whether it can come again in the same call: the strongly connected
    /// components, by two searches (Kosaraju).
    pub(crate) fn in_loop(&self) -> Vec<bool> {
        let count = self.nodes.len();
        let forward: Vec<Vec<usize>> = (0..count).map(|node| self.successors(node)).collect();
        let mut backward = vec![Vec::new(); count];
        for (node, successors) in forward.iter().enumerate() {
            for &next in successors {
                backward[next].push(node);
            }
        }
        let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
        for node in 0..count {
            finish(node, &forward, &mut seen, &mut order);
        }
        let (mut seen, mut in_loop) = (vec![false; count], vec![false; count]);
        for &node in order.iter().rev() {
            let mut component = Vec::new();
            finish(node, &backward, &mut seen, &mut component);
            for &member in &component {
                in_loop[member] = component.len() > 1 || forward[member].contains(&member);
            }
        }
        in_loop
    }
}

/// A depth-first search; nodes are noted when everything behind them has been.
fn finish(start: usize, edges: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, done)) = path.last_mut() {
        let node = *node;
        if let Some(&next) = edges[node].get(*done) {
            *done += 1;
            if !std::mem::replace(&mut seen[next], true) {
                path.push((next, 0));
            }
        } else {
            order.push(node);
            path.pop();
        }
    }
}
