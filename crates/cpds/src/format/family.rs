//! Families in `.cpds`: states and patterns with a group of stacks for each program, and the number
//! of threads for each template.
//!
//! The group of a template ends with the stack of all other threads, `STACK * any`. Before it are
//! the stacks of particular threads. The group of another program has a stack for each thread.

use super::scope::Scope;
use super::syntax::{StackNode, StateNode, Tree, WildNode, text};
use crate::diagnostic::{Diagnostic, Diagnostics, Setting, Source};
use crate::message_text::{nearest, shortened};
use crate::system::limits;
use crate::{FamilyPattern, FamilyState, GroupStacks, Stack};

/// Resolves an initial state of a family.
pub(super) fn state(
    scope: &Scope<'_>,
    tree: &Tree,
    node: &StateNode,
    diagnostics: &mut Diagnostics,
) -> Option<FamilyState> {
    let sizes = group_sizes(scope, tree, node, diagnostics)?;
    let state = scope.state_of(node, &programs(&sizes), diagnostics)?;
    let mut stacks = state.stacks.into_iter();
    let groups = sizes.iter().zip(&tree.threads).map(|(&size, thread)| {
        let mut particular: Vec<Stack> = stacks.by_ref().take(size).collect();
        let others = thread.any.and_then(|_| particular.pop());
        GroupStacks { particular, others }
    });
    Some(FamilyState { shared: state.shared, stacks: groups.collect() })
}

/// Resolves a bad pattern of a family.
pub(super) fn pattern(
    scope: &Scope<'_>,
    tree: &Tree,
    node: &StateNode,
    diagnostics: &mut Diagnostics,
) -> Option<FamilyPattern> {
    let sizes = group_sizes(scope, tree, node, diagnostics)?;
    let all = node.stacks.iter().find(|stack| stack.any && matches!(stack.word, WildNode::Is(_)));
    if let Some(all) = all {
        diagnostics.error(|| {
            Diagnostic::error("a bad pattern cannot be about all threads of a template")
                .at(all.span, "with more threads, this would not be bad any more")
                .help("name the threads that make the state bad, and end the group with `* * any`")
        });
        return None;
    }
    let pattern = scope.pattern_of(node, &programs(&sizes), diagnostics)?;
    let mut tops = pattern.tops.into_iter();
    let groups = sizes.iter().zip(&tree.threads).map(|(&size, thread)| {
        let mut group: Vec<_> = tops.by_ref().take(size).collect();
        if thread.any.is_some() {
            group.pop();
        }
        group
    });
    Some(FamilyPattern { shared: pattern.shared, tops: groups.collect() })
}

/// Returns for each stack of a state its program.
fn programs(sizes: &[usize]) -> Vec<u32> {
    (0..).zip(sizes).flat_map(|(program, &size)| std::iter::repeat_n(program, size)).collect()
}

/// Returns the number of stacks in each group of a state. The last stack of a template is that of
/// all other threads.
fn group_sizes(scope: &Scope<'_>, tree: &Tree, node: &StateNode, diagnostics: &mut Diagnostics) -> Option<Vec<usize>> {
    // Without all declarations of threads, nothing is known about groups.
    scope.threads?;
    let most = usize::try_from(limits::THREADS).expect("a small number");
    // More than any group has, so that a group with so many stacks is refused.
    let times = |stack: &StackNode| usize::try_from(stack.times).map_or(most + 2, |times| times.min(most + 2));
    let repeated = |stack| std::iter::repeat_n(stack, times(stack));
    let mut stacks = node.stacks.iter().flat_map(repeated).peekable();
    let mut sizes = Vec::with_capacity(tree.threads.len());
    for thread in &tree.threads {
        let name = text(scope.sources, thread.name);
        let mut size = 0;
        let is_complete = loop {
            if thread.any.is_none() && size == thread.copies as usize {
                break true;
            }
            let Some(stack) = stacks.next() else { break false };
            size += 1;
            if size > most + usize::from(thread.any.is_some()) {
                diagnostics.error(|| {
                    Diagnostic::error("too many threads")
                        .at(stack.span, format!("at most {most} altogether, copies counted"))
                        .help(format!("write the common stack of `{name}` once, as `STACK * any`"))
                });
                return None;
            }
            match (stack.any, thread.any) {
                (true, Some(_)) => break true,
                (true, None) => {
                    diagnostics.error(|| {
                        Diagnostic::error(format!("`* any` for `{name}`, which has a fixed number of threads"))
                            .at(stack.span, format!("a stack of `{name}`"))
                            .help("write a stack for each thread, in the order of the declarations")
                    });
                    return None;
                }
                _ => {}
            }
        };
        if !is_complete {
            diagnostics.error(|| {
                let (message, help) = match thread.any {
                    Some(_) => (
                        format!("no stack for all other threads of `{name}`"),
                        "the group of a template ends with `STACK * any`; in a bad pattern, with `* * any`".to_owned(),
                    ),
                    None => {
                        (format!("too few stacks for `{name}`"), "write one stack for each of its threads".to_owned())
                    }
                };
                Diagnostic::error(message).at(node.span, "the stacks end too early").help(help)
            });
            return None;
        }
        sizes.push(size);
    }
    if let Some(more) = stacks.peek() {
        diagnostics.error(|| {
            Diagnostic::error("more stacks than threads")
                .at(more.span, "no thread is left for this stack")
                .help("the group of a template ends with its `* any`: write particular threads before it")
        });
        return None;
    }
    Some(sizes)
}

/// Returns the number of threads for each template, in the order of the text.
pub(super) fn instances(sources: &[Source], tree: &Tree, diagnostics: &mut Diagnostics) -> Vec<u32> {
    let mut numbers = vec![None; tree.threads.len()];
    for (name, threads) in &tree.instances {
        let named = tree.threads.iter().position(|thread| text(sources, thread.name) == name);
        match named {
            Some(program) if tree.threads[program].any.is_some() && numbers[program].is_none() => {
                numbers[program] = Some(*threads);
            }
            Some(program) => diagnostics.error(|| {
                let is_fixed = tree.threads[program].any.is_none();
                let why = if is_fixed { "has a fixed number of threads" } else { "has two numbers of threads" };
                Diagnostic::error(format!("`{}` {why}", shortened(name)))
                    .about(Setting::Instances)
                    .help("give one number for each template (`thread NAME * any`)")
            }),
            None => diagnostics.error(|| {
                let templates = tree.threads.iter().filter(|thread| thread.any.is_some());
                let near = nearest(name, templates.map(|thread| text(sources, thread.name)));
                let help = near.map_or("the templates are the threads with `* any`".to_owned(), |near| {
                    format!("did you mean `{near}`?")
                });
                Diagnostic::error(format!("no thread is named `{}`", shortened(name)))
                    .about(Setting::Instances)
                    .help(help)
            }),
        }
    }
    for (thread, number) in tree.threads.iter().zip(&numbers) {
        if let (Some(any), None) = (thread.any, number) {
            diagnostics.error(|| {
                let name = text(sources, thread.name);
                Diagnostic::error(format!("`{name}` has no number of threads"))
                    .at(any, "any number of threads")
                    .help(format!("an analysis needs a number, as in `{name}=2`"))
                    .setting(Setting::Instances, None)
            });
        }
    }
    tree.threads.iter().zip(numbers).filter(|(thread, _)| thread.any.is_some()).map(|(_, n)| n.unwrap_or(0)).collect()
}
