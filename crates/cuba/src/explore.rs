//! What `cuba reach` and `cuba verify` have in common: options, progress, and words for what was found.

use crate::engine::analysis::{Analysis, Blocking, Event, Options, Proof, Question, Reason, Upper, analyse};
use crate::engine::{Engine, Lower};
use crate::load::{Loaded, ModelArgs};
use crate::show::plural;
use clap::{Args, ValueEnum};
use cpds::Cpds;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// The options of an exploration.
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Stop after K contexts; what is safe up to K contexts is not called safe
    #[arg(long, value_name = "K")]
    max_contexts: Option<usize>,
    /// What to explore: states one by one, which needs finite context reachability (see `cuba fcr`), or tuples of stack
    /// languages, which always works
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: Choice,
    /// Do not use that threads are interchangeable (the answers are the same)
    #[arg(long)]
    no_symmetry: bool,
    /// Stop when the tables would take more than this, e.g. 512M or 16G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size)]
    memory: usize,
    /// Say on standard error what the exploration took
    #[arg(long)]
    stats: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The engines that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Choice {
    /// Explicit if finite context reachability holds, otherwise symbolic
    Auto,
    /// R_k: states one by one
    Explicit,
    /// S_k: tuples of stack languages
    Symbolic,
}

/// `512M`, `16G`: bytes in powers of 1024.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("a number with K, M, G or T behind it".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "a number with K, M, G or T behind it".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more than a machine can have".to_owned())
}

/// An analysis, and what it took.
pub(crate) struct Explored<'a> {
    pub(crate) problem: &'a cpds::Problem,
    pub(crate) analysis: Analysis<'a>,
    pub(crate) time: Duration,
    pub(crate) memory: usize,
    /// G ∩ Z \ T(R_k), if there is no answer and Z is known.
    pub(crate) blocking: Option<Blocking>,
}

impl ExploreArgs {
    /// Answers the question, with a progress line on a terminal if that is wanted.
    pub(crate) fn explore<'a>(&self, loaded: &'a Loaded, question: Question, quiet: bool) -> Explored<'a> {
        let options = Options {
            engine: match self.engine {
                Choice::Auto => None,
                Choice::Explicit => Some(Engine::Explicit),
                Choice::Symbolic => Some(Engine::Symbolic),
            },
            symmetry: !self.no_symmetry,
            max_contexts: self.max_contexts,
            memory: self.memory,
        };
        let problem = loaded.problem();
        let mut progress = (!quiet).then(Progress::new);
        let start = Instant::now();
        let mut analysis = analyse(problem, question, options, |event| {
            if let Some(progress) = &mut progress {
                progress.show(&event);
            }
        });
        let time = start.elapsed();
        let blocking = if analysis.is_open() { analysis.blocking() } else { None };
        Explored { problem, analysis, time, memory: self.memory, blocking }
    }

    /// The remarks: warnings about the model, and what the exploration took.
    pub(crate) fn remarks(&self, loaded: &Loaded, explored: &Explored<'_>) -> String {
        let mut remarks = loaded.warnings();
        if self.engine == Choice::Explicit && explored.analysis.fcr.as_ref().is_some_and(|fcr| !fcr.holds()) {
            remarks +=
                "note: finite context reachability does not hold, so a context may be infinite; see `cuba fcr`\n";
        }
        if self.stats {
            remarks += &explored.statistics();
        }
        remarks
    }
}

/// One line on a terminal, for work that takes a while.
struct Progress {
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new() -> Self {
        Progress { start: Instant::now(), bar: None }
    }

    fn show(&mut self, event: &Event<'_>) {
        // Most runs are over before anybody could read it.
        if self.start.elapsed() < Duration::from_millis(500) {
            return;
        }
        let style = || ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a template");
        let bar = self.bar.get_or_insert_with(|| ProgressBar::new_spinner().with_style(style()));
        bar.set_message(match event {
            Event::Overapproximating(progress) => format!("Z: {} visible states", HumanCount(progress.states as u64)),
            Event::Exploring(seen) => format!(
                "context {}: {} {} kept, {} expansions, {}",
                seen.k + 1,
                HumanCount(seen.kept as u64),
                if seen.engine == Engine::Explicit { "states" } else { "tuples" },
                HumanCount(seen.expansions),
                HumanBytes(seen.bytes as u64),
            ),
            Event::Level(level) => format!("{} contexts: {} visible states", level.k, level.visible),
        });
        bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Explored<'_> {
    pub(crate) fn system(&self) -> &Cpds {
        self.problem.system()
    }

    fn statistics(&self) -> String {
        let seen = self.analysis.lower.glimpse();
        let counters = match &self.analysis.lower {
            Lower::Explicit(reachable) => [
                plural(reachable.kept(), "state") + " kept",
                plural(reachable.expansions(), "expansion"),
                plural(reachable.stack_count(), "stack"),
            ]
            .join(", "),
            Lower::Symbolic(tuples) => [
                plural(tuples.kept(), "tuple") + " kept",
                plural(tuples.expansions(), "expansion"),
                plural(tuples.languages().len(), "language"),
                format!("post* computed {} with {}", times(tuples.posts()), plural(tuples.transitions(), "transition")),
            ]
            .join(", "),
        };
        let (tables, time) = (HumanBytes(seen.bytes as u64), self.time.as_secs_f64() * 1000.0);
        format!("{counters}, {tables} of tables, {time:.1} ms\n")
    }

    /// What the levels are called: R_k, or S_k.
    pub(crate) fn levels(&self) -> char {
        match self.analysis.lower.engine() {
            Engine::Explicit => 'R',
            Engine::Symbolic => 'S',
        }
    }

    /// Why the answer holds for every number of contexts.
    pub(crate) fn proof(&self, proof: Proof) -> String {
        let (k, s) = (self.analysis.k(), self.levels());
        match proof {
            Proof::Overapproximation => {
                let size = self.analysis.upper.z().expect("Z was computed").size;
                let states = plural(size, "state");
                format!("Z, which has every visible state that is reachable, has {states}, none of them bad")
            }
            Proof::LowerCollapsed => {
                format!("{s}_{} = {s}_{k}, and so no further context adds a state (Scheme 1)", k - 1)
            }
            Proof::GeneratorsReached => {
                let k0 = self.analysis.visible_sequence.collapse().expect("it has converged");
                // Where Z was finished late, the plateau is not new any more.
                let new = if k0 + 1 == k { "new " } else { "" };
                format!("T({s}_{k0}) = T({s}_{k}) is a {new}plateau and has all generators in Z (Alg. 3)")
            }
        }
    }

    /// Why there is no answer.
    pub(crate) fn reason(&self, reason: &Reason) -> String {
        let next = self.analysis.k() + 1;
        match *reason {
            Reason::ContextBound => "--max-contexts ends the search there".to_owned(),
            Reason::Memory => {
                let limit = HumanBytes(self.memory as u64);
                let explicit = self.analysis.lower.engine() == Engine::Explicit;
                let hint = match &self.analysis.fcr {
                    Some(fcr) if explicit && !fcr.holds() => {
                        "; finite context reachability does not hold, so it may be infinite: try --engine symbolic"
                    }
                    _ => "",
                };
                format!("context {next} takes more memory than {limit}, see --memory{hint}")
            }
            Reason::LongTrace { contexts } => {
                let contexts = plural(contexts, "context");
                format!("with {contexts} a bad state is reachable, but the way there is too long to be written out")
            }
        }
    }

    /// What keeps T(R_k) from being all of T(R), for all we know.
    pub(crate) fn blocking(&self) -> String {
        const SHOWN: usize = 5;
        let unknown = match self.analysis.upper {
            Upper::TooLarge => "Z takes more than a quarter of the memory",
            Upper::Growing(_) => "Z is larger than what was explored, and was not finished",
            Upper::NotStarted | Upper::Known(_) => "",
        };
        if !unknown.is_empty() {
            return format!("{unknown}; so it is not known which generators are missing\n");
        }
        let (Some(z), Some(Blocking { count, states })) = (self.analysis.upper.z(), &self.blocking) else {
            return String::new();
        };
        if states.is_empty() {
            return String::new();
        }
        let (k, s) = (self.analysis.k(), self.levels());
        let mut shown: Vec<String> =
            states.iter().take(SHOWN).map(|state| self.system().paper(state).to_string()).collect();
        if states.len() > SHOWN {
            shown.push("…".to_owned());
        }
        format!(
            "T({s}_{k}) has {} of the {} of Z; of the {} among these, {count} may still come:\n  {}\n",
            self.analysis.levels[k].visible,
            plural(z.size, "visible state"),
            plural(z.generators, "generator"),
            shown.join("  ")
        )
    }
}

/// `once`, `2 times`.
fn times(n: usize) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("16g"), Ok(16 << 30));
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("2KiB"), Ok(2048));
        for wrong in ["", "G", "4X", "-1", "1.5G", "99999999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
