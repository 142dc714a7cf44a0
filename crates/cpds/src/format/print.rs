//! Writes a system as text. Reading the text gives the same system.

use super::name_lists::with_ranges;
use crate::names::plain_number;
use crate::system::limits;
use crate::{Alphabet, Cpds, Problem, Rule, Symbol, Wild};
use std::fmt::Write as _;

/// Writes the system and its property in the `.cpds` format.
pub fn print_cpds(problem: &Problem) -> String {
    let (system, property) = (problem.system(), problem.property());
    let mut out = String::new();
    list(&mut out, "shared", system.shared_names().iter());
    for state in system.initial() {
        line(&mut out, format_args!("init {}", system.text(state)));
    }
    for pattern in &property.bad {
        line(&mut out, format_args!("bad {}", system.text(pattern)));
    }
    for program in system.programs() {
        let copies = if program.copies() == 1 { String::new() } else { format!(" * {}", program.copies()) };
        line(&mut out, format_args!("\nthread {}{copies} {{", program.name()));
        list(&mut out, "  symbols", program.alphabet().iter().map(|symbol| system.symbol_name(symbol)));
        for rule in program.rules() {
            let label = rule.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
            line(&mut out, format_args!("  {label}{}", system.text(&rule.action)));
        }
        line(&mut out, format_args!("}}"));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string");
}

/// Writes `keyword a b 4..7`, on several lines if necessary.
fn list<'a>(out: &mut String, keyword: &str, names: impl Iterator<Item = &'a str>) {
    const WIDTH: usize = 100;
    let mut width = 0;
    for item in with_ranges(names) {
        if width > 0 && width + 1 + item.len() > WIDTH {
            out.push('\n');
            width = 0;
        }
        if width == 0 {
            out.push_str(keyword);
            width = keyword.len();
        }
        out.push(' ');
        out.push_str(&item);
        width += 1 + item.len();
    }
    if width > 0 {
        out.push('\n');
    }
}

/// A system in the artifact's format: the contents of three files of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PdsText {
    /// The `.pds` file.
    pub pds: String,
    /// The `.init` file.
    pub init: String,
    /// The `.spec` file. Without bad patterns it has only a comment.
    pub spec: String,
}

/// Writes the system and its property in the artifact's format.
///
/// This format has only numbers. Shared states are numbered in order. Symbols keep their names if
/// all of them are numbers without wide gaps. Otherwise they are numbered too, with the same number
/// in every thread. Comments give the names. Each copy of a thread is written separately, and
/// labels become comments.
///
/// The format can declare only a range of numbers. The range contains all symbols of the thread, so
/// that reading the text gives no warning. It may also contain other symbols, which are never on a
/// stack. (If this exceeds the limit on symbols, the range has only the first symbols, and the
/// other ones count as declared because the text mentions them.) A range cannot be empty, so a
/// thread without symbols gets one.
pub fn print_pds(problem: &Problem) -> PdsText {
    let (system, property) = (problem.system(), problem.property());
    let mut pds = format!("{}\n", system.shared_names().len());
    legend(&mut pds, "shared state", (0..).zip(system.shared_names().iter()));
    let numbers = Numbers::new(system);
    for thread in system.threads() {
        let program = system.program(thread);
        let (low, high) = numbers.range(program.alphabet());
        line(&mut pds, format_args!("PDA {low} {high} # {}", system.thread_name(thread)));
        legend(&mut pds, "symbol", program.alphabet().iter().map(|s| (numbers.of(s), system.symbol_name(s))));
        for Rule { label, action } in program.rules() {
            let (from, read) = action.source();
            let (to, written) = action.target();
            let (read, written) = (numbers.word(read.into_iter(), " "), numbers.word(written, " "));
            let label = label.as_ref().map_or(String::new(), |label| format!(" # {label}"));
            line(&mut pds, format_args!("{} {read} -> {} {written}{label}", from.0, to.0));
        }
    }
    let mut init = String::new();
    for state in system.initial() {
        let stacks = state.stacks.iter().map(|stack| numbers.word(stack.iter().rev(), "."));
        line(&mut init, format_args!("{}|{}", state.shared.0, stacks.collect::<Vec<_>>().join(",")));
    }
    let mut spec = String::new();
    for pattern in &property.bad {
        let shared = match pattern.shared {
            Wild::Any => "*".to_owned(),
            Wild::Is(q) => q.0.to_string(),
        };
        let tops = pattern.tops.iter().map(|top| match top {
            Wild::Any => "*".to_owned(),
            Wild::Is(top) => numbers.word(top.iter().copied(), "."),
        });
        line(&mut spec, format_args!("{shared}|{}", tops.collect::<Vec<_>>().join(",")));
    }
    if spec.is_empty() {
        spec.push_str("# no bad state\n");
    }
    PdsText { pds, init, spec }
}

/// Writes a comment with the names that the numbers stand for, unless the numbers are the names.
fn legend<'a>(out: &mut String, what: &str, names: impl Iterator<Item = (u32, &'a str)>) {
    for (number, name) in names {
        if plain_number(name) != Some(number) {
            line(out, format_args!("# {what} {number} is {name}"));
        }
    }
}

/// The numbers that stand for the symbols.
struct Numbers {
    /// The number of each symbol, if all names are numbers.
    kept: Option<Vec<u32>>,
    /// Whether each thread declares a range with all its symbols.
    is_complete: bool,
}

impl Numbers {
    fn new(system: &Cpds) -> Self {
        let sizes = system.threads().map(|thread| system.program(thread).alphabet().len().max(1) as u64);
        let needed: u64 = sizes.sum();
        // Some additional symbols are harmless, but a wide gap may have millions of them.
        let kept = Numbers { kept: system.symbol_names().iter().map(plain_number).collect(), is_complete: true };
        if kept.kept.is_some() && kept.declared(system) <= limits::of_text::SYMBOLS.min(2 * needed + 100) {
            return kept;
        }
        let numbered = Numbers { kept: None, is_complete: true };
        if numbered.declared(system) <= limits::of_text::SYMBOLS {
            return numbered;
        }
        Numbers { is_complete: false, ..kept }
    }

    fn of(&self, symbol: Symbol) -> u32 {
        self.kept.as_ref().map_or(symbol.0, |kept| kept[symbol.0 as usize])
    }

    /// Returns the number of symbols that all threads declare together.
    fn declared(&self, system: &Cpds) -> u64 {
        let ranges = system.threads().map(|thread| self.range(system.program(thread).alphabet()));
        ranges.map(|(low, high)| u64::from(high - low) + 1).sum()
    }

    /// Returns the range that a thread with this alphabet declares.
    fn range(&self, alphabet: &Alphabet) -> (u32, u32) {
        if !self.is_complete {
            return self.first_run(alphabet);
        }
        let numbers = || alphabet.iter().map(|symbol| self.of(symbol));
        numbers().min().zip(numbers().max()).unwrap_or((0, 0))
    }

    /// Returns the consecutive numbers with which the alphabet begins.
    fn first_run(&self, alphabet: &Alphabet) -> (u32, u32) {
        let mut numbers = alphabet.iter().map(|symbol| self.of(symbol));
        let low = numbers.next().unwrap_or(0);
        let run = numbers.zip(low..u32::MAX).take_while(|&(number, before)| number == before + 1);
        (low, run.map(|(number, _)| number).last().unwrap_or(low))
    }

    fn word(&self, symbols: impl Iterator<Item = Symbol>, separator: &str) -> String {
        let word: Vec<_> = symbols.map(|symbol| self.of(symbol).to_string()).collect();
        if word.is_empty() { "-".to_owned() } else { word.join(separator) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_take_several_lines_of_at_most_a_hundred_columns() {
        let names: Vec<String> = (0..60).map(|i| format!("name{i:02}")).collect();
        let mut out = String::new();
        list(&mut out, "shared", names.iter().map(String::as_str));
        let widths: Vec<usize> = out.lines().map(str::len).collect();
        // "shared" and 13 names of seven columns each, with blanks, have 97 columns. Another name
        // would exceed the limit.
        assert_eq!(widths, [97, 97, 97, 97, 62]);
        assert!(out.lines().all(|line| line.starts_with("shared name")));
        assert_eq!(out.matches("name").count(), 60);

        for (second, expected) in [(49, vec![100]), (50, vec![50, 52])] {
            let mut out = String::new();
            list(&mut out, "s", ["a".repeat(48), "b".repeat(second)].iter().map(String::as_str));
            assert_eq!(out.lines().map(str::len).collect::<Vec<_>>(), expected);
        }

        let mut none = String::new();
        list(&mut none, "shared", std::iter::empty());
        assert_eq!(none, "");
    }
}
