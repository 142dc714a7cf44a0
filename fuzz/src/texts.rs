//! Texts: each is read, or refused with printable errors. Printing a model and reading the printed
//! text must give the same model.

use boolprog::BadStates;
use cpds::{Problem, ReadError, Reader, Reading, Source, print_cpds, print_pds};
use cuba_cli::text::diagnostics;

/// Systems with more shared states and symbols than this are not printed, because it takes too
/// long.
const SMALL: usize = 5_000;

/// The bytes are a `.cpds` text.
pub fn cpds(bytes: &[u8]) {
    if let Some(text) = decoded("fuzz.cpds", bytes) {
        prints_and_reads(Reader::cpds(text).finish());
    }
}

/// The bytes are a `.pds` text, a `.init` text and a `.spec` text, separated by 0 bytes.
pub fn pds(bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let mut part = |name| parts.next().map(|bytes| decoded(name, bytes));
    let Some(Some(pds)) = part("fuzz.pds") else { return };
    let mut reader = Reader::pds(pds);
    match part("fuzz.init") {
        None => {}
        Some(None) => return,
        Some(Some(init)) => reader.init_file(init),
    }
    match part("fuzz.spec") {
        None => {}
        Some(None) => return,
        Some(Some(spec)) => reader.spec_file(spec),
    }
    prints_and_reads(reader.finish());
}

/// The bytes are a Boolean program.
pub fn bp(bytes: &[u8]) {
    let Some(text) = decoded("fuzz.bp", bytes) else { return };
    let (program, diagnostics) = boolprog::parse(&text);
    if diagnostics.is_ok() {
        let printed = boolprog::print(&program);
        let (again, diagnostics) = boolprog::parse(&Source::from(&*printed));
        assert!(diagnostics.is_ok() && again == program, "{printed}");
    }
    // Lowering a program with many variables takes too long.
    let locals = program.functions.iter().map(|function| function.parameters.len() + function.locals.len());
    if program.variables.len() + locals.max().unwrap_or(0) <= 8 {
        lowered(text, Vec::new(), BadStates::Errors);
    }
}

/// The bytes are a TOML text with expected answers.
pub fn toml(bytes: &[u8]) {
    if let Some(text) = decoded("fuzz.toml", bytes) {
        without_errors(cpds_models::read(text));
    }
}

/// The bytes are an option and its value, for a fixed system or program. The first byte selects the
/// option.
pub fn patterns(bytes: &[u8]) {
    const SYSTEM: &str = "shared 0..2 x; init 0|a,b; bad 1|a,*\nthread A { symbols a b 7; (0,a) -> (1,a b) }\n\
        thread B { symbols b c; (1,b) -> (0,-) }";
    const PROGRAM: &str = "decl x, y := 0; decl thread_local z;\nvoid f() { decl l; L: l := x; M: assert !l | z; }\n\
        void g(p) { x := p; L: skip; }\nvoid main() { start_thread f(); g(y); E: skip; }";
    let Some((option, rest)) = bytes.split_first() else { return };
    let Some(text) = decoded("--option", rest) else { return };
    let mut system = Reader::cpds(SYSTEM.into());
    match option {
        b'i' => system.replace_initial([text]),
        b'b' => system.replace_bad([text]),
        b't' => return lowered(PROGRAM.into(), Vec::new(), BadStates::Targets(vec![text])),
        b'l' => return lowered(PROGRAM.into(), Vec::new(), BadStates::Labels(vec![text.text])),
        b'n' => {
            // Printing hundreds of copies takes seconds. More than 1024 copies are refused.
            let is_quick = |&number: &u32| !(50..=1024).contains(&number);
            let instance = |text: &str| {
                let (function, number) = text.split_once('=')?;
                Some((function.to_owned(), number.parse().ok().filter(is_quick)?))
            };
            let instances = text.text.split(',').map(instance).collect::<Option<_>>();
            return instances.map_or((), |instances| lowered(PROGRAM.into(), instances, BadStates::Errors));
        }
        _ => return,
    }
    prints_and_reads(system.finish());
}

fn lowered(text: Source, instances: Vec<(String, u32)>, bad_states: BadStates) {
    let options = boolprog::Options { instances, threads: Some(2), bad_states, memory: 256 << 20 };
    if let Some(lowered) = without_errors(boolprog::read(text, &options)) {
        prints_and_reads(Ok(lowered.reading));
    }
}

/// Decodes the bytes, if they are UTF-8.
fn decoded(name: &str, bytes: &[u8]) -> Option<Source> {
    without_errors(Source::decode(name, bytes.to_vec()))
}

/// Returns the result, if there are no errors. Checks that errors are printable.
fn without_errors<T>(read: Result<T, ReadError>) -> Option<T> {
    read.map_err(|error| {
        assert_ne!(diagnostics::errors(&error.sources, &error.diagnostics), "");
        assert_ne!(error.to_string(), "");
    })
    .ok()
}

/// Checks that printing a model and reading the printed text gives the same model.
fn prints_and_reads(read: Result<Reading, ReadError>) {
    let Some(Reading { problem, sources, diagnostics }) = without_errors(read) else { return };
    assert_eq!(diagnostics::errors(&sources, &diagnostics), "");
    assert_eq!(diagnostics::warnings(&sources, &diagnostics).is_empty(), diagnostics.warnings() == 0);
    let system = problem.system();
    let symbols = system.threads().map(|thread| system.program(thread).alphabet().len()).sum::<usize>();
    if system.shared_names().len() + symbols > SMALL {
        return;
    }
    let through_cpds =
        |problem: &Problem| print_cpds(problem).parse::<Problem>().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(through_cpds(&problem), problem);
    // The first pass replaces names by numbers. The second pass changes nothing.
    let numbered = through_pds(&problem);
    assert_eq!(through_pds(&through_cpds(&numbered)), numbered);
}

fn through_pds(problem: &Problem) -> Problem {
    let text = print_pds(problem);
    let mut reader = Reader::pds(Source::new("printed.pds", text.pds));
    reader.init_file(Source::new("printed.init", text.init));
    reader.spec_file(Source::new("printed.spec", text.spec));
    reader.finish().unwrap_or_else(|error| panic!("{error}")).problem
}
