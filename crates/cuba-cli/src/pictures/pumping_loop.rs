//! The loop that refutes finite context reachability (paper §5), as a picture.

use crate::analysis::model::LoadedModel;
use crate::pictures::picture::{Edge, Node, NodeKind, Picture};
use crate::text::program_trace;
use crate::text::state_notation::StateNotation;
use cpds::{Program, SharedState, Stack};
use cuba::PumpingLoop;

/// A longer loop is not drawn.
const DRAWN: usize = 40;

/// Draws the run from ⟨q|σ⟩ to ⟨q|σw⟩, with an edge back to the start.
pub(crate) fn picture(loaded: &LoadedModel, program: &Program, found: &PumpingLoop) -> Option<Picture> {
    let run = found.run.as_ref().filter(|run| run.rules.len() <= DRAWN)?;
    let words = StateNotation::of(loaded);
    let states: Vec<_> = std::iter::once(run.start.clone()).chain(run.states(program)).collect();
    let kind = |i: usize| if i == 0 { NodeKind::Initial } else { NodeKind::Inner };
    let name = |(shared, stack): &(SharedState, Stack)| words.thread_state((*shared, stack));
    let nodes = states.iter().enumerate().map(|(i, state)| Node::plain(name(state), kind(i))).collect();
    let label = |i: usize, rule: usize| {
        if let Some(map) = words.map {
            let [(q, old), (p, new)] = [&states[i], &states[i + 1]];
            let step = map.step_alone((*q, old), (*p, new));
            return program_trace::describe_step(loaded, &step, program.name()).map_or(String::new(), |(text, _)| text);
        }
        let rule = &program.rules()[rule];
        rule.label.as_ref().map_or_else(|| rule.action.kind().word().to_owned(), ToString::to_string)
    };
    let step = |(i, &rule): (usize, &usize)| Edge { from: i, to: i + 1, labels: vec![label(i, rule)], marked: false };
    let mut edges: Vec<Edge> = run.rules.iter().enumerate().map(step).collect();
    edges.push(Edge { from: run.rules.len(), to: 0, labels: vec!["again".to_owned()], marked: true });
    Some(Picture { title: format!("{}: the loop", program.name()), nodes, edges })
}
