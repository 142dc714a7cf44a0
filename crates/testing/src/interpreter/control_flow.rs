//! The control flow of a function: from its syntax tree, the place after each statement, and the
//! atomic blocks around it.

use super::Place;
use boolprog::syntax::{At, Function, Statement, StatementKind, Target};
use std::collections::BTreeMap;

/// A function with its control flow. Statements are identified by their offset in the text.
pub(super) struct ControlFlow<'a> {
    pub(super) function: &'a Function,
    pub(super) statements: BTreeMap<u32, Node<'a>>,
    pub(super) labels: BTreeMap<&'a str, u32>,
    /// From the closing bracket of an atomic block to the block.
    pub(super) block_ends: BTreeMap<u32, u32>,
}

/// A statement in the control flow.
pub(super) struct Node<'a> {
    pub(super) statement: &'a Statement,
    /// The place after the statement.
    pub(super) next: Place,
    /// The atomic blocks around the statement, from the outermost on.
    pub(super) blocks: Vec<u32>,
}

impl<'a> ControlFlow<'a> {
    pub(super) fn new(function: &'a Function) -> Self {
        let mut code =
            ControlFlow { function, statements: BTreeMap::new(), labels: BTreeMap::new(), block_ends: BTreeMap::new() };
        code.lay_out(&function.body, code.end(), &[]);
        code
    }

    /// Returns the place at the end of the function.
    pub(super) fn end(&self) -> Place {
        Place::End(offset(self.function.end))
    }

    /// Adds the statements of a block. The block is inside `blocks`, and `after` is the place after
    /// it.
    fn lay_out(&mut self, block: &'a [Statement], after: Place, blocks: &[u32]) {
        for (i, statement) in block.iter().enumerate() {
            let at = offset(statement.at);
            let next = first(&block[i + 1..], after);
            self.labels.extend(statement.labels.iter().map(|label| (label.text.as_str(), at)));
            match &statement.kind {
                StatementKind::If { then, otherwise, .. } => {
                    self.lay_out(then, next, blocks);
                    self.lay_out(otherwise, next, blocks);
                }
                StatementKind::While { body, .. } => self.lay_out(body, Place::At(at), blocks),
                StatementKind::Atomic { body, end } => {
                    let earlier = self.block_ends.insert(offset(*end), at);
                    assert!(earlier.is_none(), "each block has an end of its own");
                    self.lay_out(body, Place::LeaveAtomic(offset(*end)), &[blocks, &[at]].concat());
                }
                _ => {}
            }
            let earlier = self.statements.insert(at, Node { statement, next, blocks: blocks.to_vec() });
            assert!(earlier.is_none(), "each statement has a position of its own");
        }
    }
}

/// Returns the offset at which something starts in the text.
pub(super) fn offset(at: At) -> u32 {
    at.0.start
}

/// Returns the first place of a block; for an empty block, `after`.
pub(super) fn first(block: &[Statement], after: Place) -> Place {
    block.first().map_or(after, |statement| Place::At(offset(statement.at)))
}

/// Returns the targets of a call statement.
pub(super) fn call_targets<'a>(node: &Node<'a>) -> &'a [Target] {
    let StatementKind::Call { targets, .. } = &node.statement.kind else { unreachable!("the statement is a call") };
    targets
}
