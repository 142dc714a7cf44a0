//! States as text: for a program, with its lines, functions and variables; for a system, in the
//! paper's notation. This module also reads such texts.

use crate::analysis::model::LoadedModel;
use crate::text::labels::{shortened, wrapped};
use boolprog::SourceMap;
use cpds::{Cpds, GlobalState, ReadError, Rule, SharedState, Source, Stack, Symbol, ThreadId, VisibleState};

/// Writes and reads states of a model.
#[derive(Clone, Copy)]
pub(crate) struct StateNotation<'a> {
    pub(crate) system: &'a Cpds,
    /// The map to the source of a Boolean program.
    pub(crate) map: Option<&'a SourceMap>,
}

impl<'a> StateNotation<'a> {
    pub(crate) fn of(loaded: &'a LoadedModel) -> Self {
        StateNotation { system: loaded.problem().system(), map: loaded.program.as_ref().map(|program| &program.map) }
    }

    /// Formats a state.
    pub(crate) fn state(&self, state: &GlobalState) -> String {
        match self.map {
            Some(map) => format!("⟨{}⟩", map.state_text(state)),
            None => self.system.paper(state).to_string(),
        }
    }

    /// Formats a visible state.
    pub(crate) fn visible(&self, state: &VisibleState) -> String {
        let stacks = || state.tops.iter().map(|top| Stack::from_top(*top)).collect();
        match self.map {
            Some(_) => self.state(&GlobalState { shared: state.shared, stacks: stacks() }),
            None => self.system.paper(state).to_string(),
        }
    }

    /// Formats the state of one thread alone.
    pub(crate) fn thread_state(&self, (shared, stack): (SharedState, &Stack)) -> String {
        match self.map {
            Some(map) => format!("⟨{}⟩", map.thread_state_text((shared, stack))),
            None => self.system.paper(&thread_state(shared, stack)).to_string(),
        }
    }

    /// Formats a shared state.
    pub(crate) fn shared(&self, q: SharedState) -> String {
        self.map.map_or_else(|| self.system.shared_name(q).to_owned(), |map| map.shared_text(q))
    }

    /// Formats a shared state in lines for a picture. Shortens a long state: `x=0&y=1` to its
    /// values.
    pub(crate) fn lines(&self, q: SharedState) -> Vec<String> {
        let shared = self.shared(q);
        if shortened(&shared) == shared {
            return vec![shared];
        }
        // Besides variables, there may be items such as `f:3(a=1) waits`.
        let is_value = |part: &&str| self.map.is_none() || part.contains('=') && !part.contains('(');
        let (values, others): (Vec<&str>, Vec<&str>) = shared.split('&').map(str::trim).partition(is_value);
        let values = values.into_iter().map(|part| part.split_once('=').map_or(part, |(_, value)| value));
        let values = Some(values.collect::<Vec<_>>().join("&")).filter(|values| !values.is_empty());
        let others: Vec<String> = others.into_iter().map(str::to_owned).collect();
        values.into_iter().chain(wrapped(&others)).collect()
    }

    /// Formats a stack symbol.
    pub(crate) fn symbol(&self, symbol: Symbol) -> String {
        self.map.map_or_else(|| self.system.symbol_name(symbol).to_owned(), |map| map.symbol_text(symbol))
    }

    /// Reads the state of an option: with the names of the system, or in words of the program.
    pub(crate) fn read_state(&self, option: &str, text: &str) -> Result<GlobalState, ReadError> {
        let by_names = self.system.read_state(Source::new(option, text));
        match (by_names, self.map) {
            (Err(by_names), Some(map)) => {
                let in_words = map.read_state(self.system, None, Source::new(option, text));
                in_words.map_err(|in_words| if self.has_name(text) { by_names } else { in_words })
            }
            (by_names, _) => by_names,
        }
    }

    /// Reads the state of one thread: only its own part, or a whole state.
    pub(crate) fn read_thread_state(
        &self,
        option: &str,
        thread: ThreadId,
        text: &str,
    ) -> Result<(SharedState, Stack), ReadError> {
        let plain = bare(text);
        let is_own = plain.split_once('|').is_some_and(|(_, own)| !has_comma(own)) && self.system.thread_count() > 1;
        if let (true, Some(map)) = (is_own, self.map) {
            match map.read_state(self.system, Some(thread), Source::new(option, text)) {
                Ok(own) => return Ok((own.shared, own.stacks[0].clone())),
                Err(error) if !self.has_name(text) => return Err(error),
                Err(_) => {}
            }
        }
        let whole = match plain.split_once('|') {
            Some((shared, own)) if is_own => {
                let stacks: Vec<&str> = self.system.threads().map(|i| if i == thread { own } else { "-" }).collect();
                format!("{shared}|{}", stacks.join(","))
            }
            _ => text.to_owned(),
        };
        let whole = self.read_state(option, &whole)?;
        Ok((whole.shared, whole.stacks[thread.index()].clone()))
    }

    /// Returns whether a text seems to use the names of the system.
    fn has_name(&self, text: &str) -> bool {
        let shared = bare(text).split('|').next().unwrap_or_default().trim();
        let has_places = bare(text).contains(':') || shared.contains(' ');
        self.system.shared_names().get(shared).is_some() && !has_places
    }
}

/// Formats an action after its label, if it has one.
pub(crate) fn labelled(system: &Cpds, rule: &Rule) -> String {
    let label = rule.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
    format!("{label}{}", system.paper(&rule.action))
}

/// Returns the state of one thread alone.
pub(crate) fn thread_state(shared: SharedState, stack: &Stack) -> GlobalState {
    GlobalState { shared, stacks: vec![stack.clone()] }
}

fn bare(text: &str) -> &str {
    text.trim().trim_start_matches('⟨').trim_end_matches('⟩')
}

/// Returns whether the text has a comma outside of parentheses.
fn has_comma(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().any(|sign| {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    })
}
