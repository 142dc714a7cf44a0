//! `cuba fcr`: does finite context reachability hold? If not, a loop that refutes it, and the way to it.

use crate::arguments::evidence::EvidenceArgs;
use crate::arguments::model::{Loaded, ModelArgs, shown};
use crate::json;
use crate::pictures::picture::{Edge, Node, NodeKind, Picture};
use crate::running::interim_results::SoFar;
use crate::running::limits::{self, Ended, LimitArgs, Phase};
use crate::running::progress::{self, Progress};
use crate::running::{faults, machine};
use crate::text::state_notation::Words;
use crate::text::style::{self, BOLD, paint};
use crate::text::terminal::{self, fitted};
use crate::text::{program_trace, system_trace};
use crate::verbs::command_line::{Answer, Stopped, exit, heading};
use crate::verbs::exploration::{ExploreArgs, Explored, Setup};
use crate::verbs::show::{in_columns, labelled, plural, shortened};
use clap::Args;
use cpds::{Cpds, Problem, Program, Property, SharedState, Stack, ThreadId, Trace, Wild};
use cuba::checkpoint::Start;
use cuba::{Conclusion, Options, Proof, Question};
use cuba::{Contexts, Ground, Halt, Head, Loop, Psa, Pumping};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba fcr models/paper/fig1.cpds
  cuba fcr models/paper/fig2.cpds
  cuba fcr models/paper/stefan8.cpds --json
  cuba show models/paper/fig2.cpds --psa foo --svg > fig4.svg   draw the loop

Exit codes: 0 it holds, 10 it does not, 5 unknown, 1 usage, 2 bad input, 6 internal error")]
pub(crate) struct Fcr {
    #[command(flatten)]
    model: ModelArgs,
    /// Stop after K contexts
    ///
    /// A loop that takes more contexts to get to is not found.
    #[arg(long, value_name = "K", help_heading = heading::LIMITS)]
    max_contexts: Option<usize>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Of a longer loop, so many steps are shown at its beginning, and as many at its end.
const STEPS: usize = 500;

/// Overapproximations of more tuples are not taken to find out about further programs.
const FEW_TUPLES: usize = 300;

/// The answer for a system, as far as it was found.
pub(crate) struct Decided {
    pub(crate) fcr: cuba::Fcr,
    /// For each of [`Cpds::programs`], a loop, if it has any: from a head that is reachable, if one is known.
    pub(crate) loops: Vec<Option<Loop>>,
    /// The way to the pumping head of a loop: a trace that fits the one bad pattern of the problem.
    pub(crate) reached: Option<(Problem, Trace)>,
}

pub(crate) fn answer(args: &Fcr, quiet: bool) -> Result<Answer, Stopped> {
    let start = Instant::now();
    let (file, is_json) = (shown(&args.model.file), args.json);
    args.limits.watch(quiet, move |ended| Ok(ended_by(ended, file, is_json, start.elapsed())));
    let loaded = args.model.load()?;
    let start = Instant::now();
    limits::enter(Phase::Searching);
    faults::here("Searching");
    let (decided, verdict) = match Search::new(args, &loaded, quiet) {
        Ok(search) => match search.decide() {
            Ok((decided, verdict)) => (Some(decided), verdict),
            Err(mistake) => return Ok(*mistake),
        },
        Err(why) => (None, why),
    };
    let verdict = verdict + &loaded.assuming();
    let time = start.elapsed();
    let code = match decided.as_ref().and_then(|decided| decided.fcr.holds()) {
        Some(true) => exit::OK,
        Some(false) => exit::UNSAFE,
        None => exit::UNKNOWN,
    };
    let stdout = if args.json {
        json::print(&json::fcr(shown(&args.model.file), &loaded, decided.as_ref(), &verdict, time))
    } else {
        decided.map_or(String::new(), |decided| decided.text(&loaded)) + &style::verdict(&verdict) + "\n"
    };
    let mut remarks = loaded.warnings();
    if let Some(option) = args.model.bad_option() {
        let _ = writeln!(remarks, "note: {option} has no effect: `cuba fcr` does not ask for bad states");
    }
    Ok(Answer { stdout, remarks, errors: String::new(), code })
}

/// The squeeze, asked whether a pumping head is reachable.
struct Search<'a> {
    loaded: &'a Loaded,
    pumping: Pumping,
    max_contexts: Option<usize>,
    quiet: bool,
}

impl<'a> Search<'a> {
    /// Finds the pumping heads; or says why it cannot.
    fn new(args: &Fcr, loaded: &'a Loaded, quiet: bool) -> Result<Self, String> {
        let memory = limits::memory().for_tables();
        let _progress = Progress::unless(quiet, progress::FCR, memory);
        let cancel = limits::stop().clone();
        let limit = memory / Psa::BYTES_A_TRANSITION;
        let pumping = Pumping::within(loaded.problem().system(), limit, limit, &cancel);
        let why = |_| no_pumping_heads(cancel.why().map(|why| Ended { why, phase: Phase::Searching }));
        Ok(Search { loaded, pumping: pumping.map_err(why)?, max_contexts: args.max_contexts, quiet })
    }

    fn system(&self) -> &'a Cpds {
        self.loaded.problem().system()
    }

    /// The answer, with the verdict in words.
    ///
    /// # Errors
    /// If there is a mistake in an engine: then there is no answer but that.
    fn decide(self) -> Result<(Decided, String), Box<Answer>> {
        let system = self.system();
        let a_loop = |program: usize| {
            let found = self.pumping.a_loop(program).cloned();
            found.map(|found| found.shortened(&system.programs()[program]))
        };
        let mut decided = Decided {
            fcr: cuba::Fcr::by_theorem_17(self.pumping.clone()),
            loops: (0..system.programs().len()).map(a_loop).collect(),
            reached: None,
        };
        if decided.fcr.holds() == Some(true) {
            let why = "within one context, every thread reaches finitely many states (Theorem 17)";
            return Ok((decided, format!("holds: {why}; so every R_k is finite")));
        }
        let open: Vec<usize> = decided.open();
        let Ok(question) = self.pumping.question(system, &open) else {
            return Ok((decided, "unknown: there are too many pumping heads to look for".to_owned()));
        };
        let explored = self.explore(&question, self.max_contexts, None)?;
        let verdict = match &explored.analysis.conclusion {
            Conclusion::Safe(proof) if self.pumping.is_complete() => {
                for program in open {
                    decided.fcr.programs[program] = Contexts::Finite(ground(proof));
                }
                let why = explored.proof_of(proof, "none of them with a pumping head");
                format!("holds: no pumping head is reachable, and so every R_k is finite; {why}")
            }
            Conclusion::Safe(_) => {
                format!(
                    "unknown: not all pumping heads are known; {}",
                    no_pumping_heads(None).trim_start_matches("unknown: ")
                )
            }
            Conclusion::Unsafe { trace, pattern } => {
                let (thread, head) = head(&question, *pattern);
                let contexts = trace.contexts.len();
                self.refute(&mut decided, system.program_index(thread), head, contexts);
                let bad = vec![question.property().bad[*pattern].clone()];
                let alone = Problem::new(system.clone(), Property { bad }).expect("it was a pattern before");
                decided.reached = Some((alone, trace.clone()));
                self.others(&mut decided, contexts)?;
                let (name, at) = (system.thread_name(thread), head_state(&Words::of(self.loaded), head));
                match contexts {
                    0 => format!("refuted: {name} starts in {at}, from where it alone can raise its stack for ever"),
                    _ => format!(
                        "refuted: with {} {name} gets to {at}, from where it alone can raise its stack for ever",
                        plural(contexts, "context")
                    ),
                }
            }
            Conclusion::Unknown(_) => {
                let outline = explored.outline();
                if let Some(unconfirmed) = outline.unconfirmed() {
                    return Ok((
                        decided,
                        format!("unknown: an answer was found, but it was not checked: {}", unconfirmed.ended),
                    ));
                }
                let known = match outline.last() {
                    Some(last) => {
                        format!("no pumping head is reachable with up to {}, open beyond", plural(last.k, "context"))
                    }
                    None => "nothing is known yet".to_owned(),
                };
                format!("unknown: {known}; {}", outline.why())
            }
            Conclusion::Converged(_) | Conclusion::Contradiction(_) => unreachable!("not an answer to this question"),
        };
        Ok((decided, verdict))
    }

    /// Finds out about the other programs, with no more contexts than the first one took, and with few tuples: the answer is known.
    fn others(&self, decided: &mut Decided, contexts: usize) -> Result<(), Box<Answer>> {
        for program in decided.open() {
            let Ok(question) = self.pumping.question(self.system(), &[program]) else { continue };
            let explored = self.explore(&question, Some(contexts), Some(FEW_TUPLES))?;
            match &explored.analysis.conclusion {
                Conclusion::Safe(proof) if self.pumping.is_complete() => {
                    decided.fcr.programs[program] = Contexts::Finite(ground(proof));
                }
                Conclusion::Unsafe { trace, pattern } => {
                    let (_, head) = head(&question, *pattern);
                    self.refute(decided, program, head, trace.contexts.len());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes that a thread of this program gets to this pumping head.
    fn refute(&self, decided: &mut Decided, program: usize, head: Head, contexts: usize) {
        decided.fcr.programs[program] = Contexts::Infinite { contexts };
        let limit = limits::memory().for_tables() / Psa::BYTES_A_TRANSITION;
        let of_program = &self.system().programs()[program];
        let found = Loop::at(head, of_program, limit);
        // A loop is believed only if it replays.
        let is_one = found.as_ref().is_none_or(|found| found.run.is_none() || found.replays(of_program));
        assert!(is_one, "the loop of {} is a run of it", of_program.name());
        decided.loops[program] = found.or(decided.loops[program].take());
    }

    /// Asks the squeeze, and has its evidence checked.
    fn explore<'p>(
        &self,
        question: &'p Problem,
        max_contexts: Option<usize>,
        max_tuples: Option<usize>,
    ) -> Result<Explored<'p>, Box<Answer>> {
        let options = Options {
            max_contexts,
            max_tuples,
            memory: limits::memory().for_tables(),
            jobs: machine::cores(),
            ..Options::default()
        };
        let setup = Setup {
            options,
            evidence: &EvidenceArgs::default(),
            so_far: &SoFar::new(),
            quiet: self.quiet,
            start: Start::default(),
            checkpoint: None,
        };
        ExploreArgs::explore_with(question, Question::Verify, setup, |_| self.loaded.warnings())
    }
}

/// Why the contexts of programs are finite, if none of their pumping heads is reachable.
fn ground(proof: &Proof) -> Ground {
    match proof {
        Proof::Bounded(rungs) => Ground::Bounded(rungs.clone()),
        Proof::LowerCollapsed => Ground::Collapsed,
    }
}

/// The thread and the pumping head that a pattern of a question asks for.
fn head(question: &Problem, pattern: usize) -> (ThreadId, Head) {
    let pattern = &question.property().bad[pattern];
    let named = |(thread, top): (ThreadId, &Wild<_>)| match top {
        Wild::Is(Some(symbol)) => Some((thread, *symbol)),
        _ => None,
    };
    let top = question.system().threads().zip(&pattern.tops).find_map(named);
    match (pattern.shared, top) {
        (Wild::Is(q), Some((thread, symbol))) => (thread, (q, symbol)),
        _ => unreachable!("a pattern of a question has a head"),
    }
}

fn head_state(words: &Words<'_>, (q, symbol): Head) -> String {
    words.own((q, &Stack::from_top([symbol])))
}

impl Decided {
    /// The programs of which nothing is known.
    fn open(&self) -> Vec<usize> {
        let programs = self.fcr.programs.iter().enumerate();
        programs.filter(|(_, contexts)| **contexts == Contexts::Open).map(|(program, _)| program).collect()
    }

    /// The way to a loop, and the loops, unless it is known that none is reachable.
    fn text(&self, loaded: &Loaded) -> String {
        let system = loaded.problem().system();
        let mut out = match &self.reached {
            Some((_, trace)) if !trace.contexts.is_empty() => match &loaded.program {
                Some(program) => program_trace::steps(loaded, program, trace, terminal::width()),
                None => system_trace::steps(system, trace, terminal::width()),
            },
            _ => String::new(),
        };
        for ((program, found), contexts) in system.programs().iter().zip(&self.loops).zip(&self.fcr.programs) {
            let Some(found) = found else { continue };
            let start = head_state(&Words::of(loaded), (found.shared, found.top));
            let reachable = match contexts {
                Contexts::Finite(_) => continue,
                Contexts::Infinite { contexts: 0 } => format!("{start} is initial"),
                Contexts::Infinite { contexts } => format!("{start} is reachable with {}", plural(contexts, "context")),
                Contexts::Open => format!("it is not known whether {start} is reachable"),
            };
            out += &fitted(&shown_loop(loaded, program, found, Some(&reachable)), terminal::width());
            out += "\n";
        }
        out
    }
}

/// The verdict if there is no answer: a limit has ended it, or the memory is not enough.
fn no_pumping_heads(ended: Option<Ended>) -> String {
    match ended {
        Some(ended) if ended.why != Halt::Memory || ended.phase != Phase::Searching => format!("unknown: {ended}"),
        _ => format!("unknown: a store automaton takes more memory than {}", limits::memory().hint()),
    }
}

/// What is to be said if a limit ends it from outside.
fn ended_by(ended: Ended, file: String, is_json: bool, time: Duration) -> Answer {
    let verdict = no_pumping_heads(Some(ended));
    let stdout =
        if is_json { json::print(&json::no_fcr(file, &verdict, time)) } else { style::verdict(&verdict) + "\n" };
    Answer { stdout, remarks: String::new(), errors: String::new(), code: exit::UNKNOWN }
}

/// The run, step by step: of a program in its lines, and of a system the actions on the left, the states they lead to on the right. The
/// heading may say whether its start is reachable.
pub(crate) fn shown_loop(loaded: &Loaded, program: &Program, found: &Loop, reachable: Option<&str>) -> String {
    let words = Words::of(loaded);
    let state = |(shared, stack): &(SharedState, Stack)| words.own((*shared, stack));
    let [start, end] = found.ends();
    let name = paint(BOLD, program.name());
    let reachable = reachable.map_or(String::new(), |reachable| format!("; {reachable}"));
    let heading = format!("{name}: {} →⁺ {}, and so on for ever{reachable}\n", state(&start), state(&end));
    let Some(run) = &found.run else { return heading + "  (the run is too long to be written out)\n" };
    let states = || std::iter::once(run.start.clone()).chain(run.states(program));
    if let Some(of_program) = &loaded.program {
        let all: Vec<_> = states().collect();
        let thread = words.system.threads().find(|&thread| std::ptr::eq(words.system.program(thread), program));
        let thread = (thread.expect("every program has a thread"), program.name());
        return heading + &program_trace::run(loaded, of_program, thread, &all, (STEPS, terminal::width()));
    }
    let actions = run.rules.iter().map(|&rule| format!("  {}", labelled(words.system, &program.rules()[rule])));
    let lines = std::iter::once(String::new()).chain(actions).zip(states().map(|to| state(&to)));
    heading
        + &in_columns(shortened(lines.collect(), STEPS, |left_out| (format!("  … {left_out} steps …"), String::new())))
}

/// A loop that is longer than this cannot be read as a picture.
const DRAWN: usize = 40;

/// The run as a picture: from ⟨q|σ⟩ to ⟨q|σw⟩, where it starts again.
pub(crate) fn loop_picture(loaded: &Loaded, program: &Program, found: &Loop) -> Option<Picture> {
    let run = found.run.as_ref().filter(|run| run.rules.len() <= DRAWN)?;
    let words = Words::of(loaded);
    let states: Vec<_> = std::iter::once(run.start.clone()).chain(run.states(program)).collect();
    let kind = |i: usize| if i == 0 { NodeKind::Initial } else { NodeKind::Inner };
    let name = |(shared, stack): &(SharedState, Stack)| words.own((*shared, stack));
    let nodes = states.iter().enumerate().map(|(i, state)| Node::plain(name(state), kind(i))).collect();
    let label = |i: usize, rule: usize| {
        if let Some(map) = words.map {
            let [(q, old), (p, new)] = [&states[i], &states[i + 1]];
            let step = map.step_alone((*q, old), (*p, new));
            return program_trace::told(loaded, &step, program.name()).map_or(String::new(), |(text, _)| text);
        }
        let rule = &program.rules()[rule];
        rule.label.as_ref().map_or_else(|| rule.action.kind().word().to_owned(), ToString::to_string)
    };
    let step = |(i, &rule): (usize, &usize)| Edge {
        from: i,
        to: i + 1,
        labels: vec![label(i, rule)],
        marked: false,
        dashed: false,
    };
    let mut edges: Vec<Edge> = run.rules.iter().enumerate().map(step).collect();
    edges.push(Edge { from: run.rules.len(), to: 0, labels: vec!["again".to_owned()], marked: true, dashed: false });
    Some(Picture { title: format!("{}: the loop", program.name()), nodes, edges })
}
