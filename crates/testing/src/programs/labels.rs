//! Labels of random programs: first numbers, then names of statements to which a `goto` may lead.

use super::name;
use boolprog::syntax::{Name, Statement, StatementKind};

/// A label before its function has a body: a number. Modulo the number of possible statements, it
/// selects one of them.
pub(super) type RawLabel = u8;

/// Returns the blocks of a statement.
pub(super) fn nested_blocks(kind: &mut StatementKind) -> Vec<&mut Vec<Statement>> {
    match kind {
        StatementKind::If { then, otherwise, .. } => vec![then, otherwise],
        StatementKind::While { body, .. } | StatementKind::Atomic { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// Replaces raw labels by names, and adds these names to the statements that they select. A `goto`
/// does not lead into an atomic block.
pub(super) fn settle_labels(body: &mut [Statement]) {
    let mut around = Vec::new();
    visit(body, &mut |_, blocks| around.push(blocks.to_vec()));
    let mut used = vec![false; around.len()];
    let mut settle = |label: &mut Name, blocks: &[usize]| {
        let allowed: Vec<usize> = (0..around.len()).filter(|&i| blocks.starts_with(&around[i])).collect();
        let raw: RawLabel = label.text.parse().expect("a raw label");
        let target = allowed[usize::from(raw) % allowed.len()];
        used[target] = true;
        label.text = label_of(target);
    };
    visit(body, &mut |statement, blocks| match &mut statement.kind {
        StatementKind::Goto(labels) => {
            for label in labels.iter_mut() {
                settle(label, blocks);
            }
            *labels = distinct(std::mem::take(labels));
        }
        // A new thread is in no atomic section.
        StatementKind::StartGoto(label) => settle(label, &[]),
        _ => {}
    });
    let mut i = 0;
    visit(body, &mut |statement, _| {
        statement.labels.iter_mut().for_each(|label| label.text = format!("unused{i}"));
        if used[i] {
            statement.labels.push(name(label_of(i)));
        }
        i += 1;
    });
}

/// Returns the label of the statement with this number: a number or a name.
fn label_of(statement: usize) -> String {
    if statement % 3 == 2 { statement.to_string() } else { format!("L{statement}") }
}

/// Calls `f` for each statement in order, with the numbers of the atomic blocks around it.
fn visit(body: &mut [Statement], f: &mut impl FnMut(&mut Statement, &[usize])) {
    visit_from(body, &mut 0, &mut Vec::new(), f);
}

fn visit_from(
    body: &mut [Statement],
    count: &mut usize,
    around: &mut Vec<usize>,
    f: &mut impl FnMut(&mut Statement, &[usize]),
) {
    for statement in body {
        f(statement, around);
        let number = *count;
        *count += 1;
        let is_atomic = matches!(statement.kind, StatementKind::Atomic { .. });
        around.extend(is_atomic.then_some(number));
        for block in nested_blocks(&mut statement.kind) {
            visit_from(block, count, around, f);
        }
        around.truncate(around.len() - usize::from(is_atomic));
    }
}

/// Removes repeated names.
pub(super) fn distinct(names: Vec<Name>) -> Vec<Name> {
    let mut distinct: Vec<Name> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}
