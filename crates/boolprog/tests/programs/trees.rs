//! Programs that are built in code, without a text. The steps of a trace have their statement ids.

use boolprog::syntax::{
    At, Dialect, Expr, ExprKind, Function, Operator, Program, Statement, StatementId, StatementKind, Target, Variable,
};
use boolprog::{Lowered, Options, StepKind, SynchronisationEvent, VariableKind, lower, print, read};
use cpds::{Context, Cpds, Source, ThreadId, Trace, TraceStep};
use cpds_testing::programs::{self, ProgramShape};
use proptest::prelude::*;

fn statement(id: u32, kind: StatementKind) -> Statement {
    Statement::new(StatementId(id), kind)
}

fn assign(id: u32, target: &str, value: Expr) -> Statement {
    let targets = vec![Target::Variable(target.into())];
    statement(id, StatementKind::Assign { targets, values: vec![value], constrain: None })
}

fn function(name: &str, locals: &[&str], body: Vec<Statement>) -> Function {
    let local = |name: &&str| Variable { name: (*name).into(), is_thread_local: false, value: Some(false) };
    let locals = locals.iter().map(local).collect();
    Function {
        name: name.into(),
        results: 0,
        parameters: Vec::new(),
        locals,
        enforce: Vec::new(),
        body,
        end: At::default(),
    }
}

fn program(shared: &[&str], functions: Vec<Function>) -> Program {
    let variable = |name: &str| Variable { name: name.into(), is_thread_local: false, value: Some(false) };
    let thread_local = Variable { is_thread_local: true, ..variable("mine") };
    let variables = shared.iter().map(|name| variable(name)).chain([thread_local]).collect();
    Program { dialect: Dialect::Paper, variables, functions }
}

/// Runs threads in turn, each for a number of steps, and always takes the first step.
fn run_in_turn(system: &Cpds, turns: &[(u32, usize)]) -> Trace {
    let initial = system.initial()[0].clone();
    let (mut state, mut contexts) = (initial.clone(), Vec::new());
    for &(thread, count) in turns {
        let thread = ThreadId(thread);
        let mut steps = Vec::new();
        for _ in 0..count {
            let step = system.steps_of(thread, &state).next().expect("the thread has a step");
            state = step.state;
            steps.push(TraceStep { rule: step.index, state: state.clone() });
        }
        contexts.push(Context { thread, steps });
    }
    let trace = Trace { initial, contexts };
    assert_eq!(trace.replay(system), Ok(()));
    trace
}

/// Two threads: one sets a flag under a lock, in a call. The other one waits for the flag.
fn two_threads() -> Program {
    let call = StatementKind::Call { targets: Vec::new(), function: "set".into(), arguments: Vec::new() };
    let lock = || Some("m".into());
    let set = function(
        "set",
        &["seen"],
        vec![assign(31, "seen", Expr::variable("flag")), assign(17, "flag", Expr::variable("seen").negated())],
    );
    let writer = function(
        "writer",
        &[],
        vec![
            statement(900, StatementKind::Lock(lock())),
            statement(5, call),
            assign(5_000_000, "mine", Expr::variable("flag")),
            statement(901, StatementKind::Unlock(lock())),
        ],
    );
    let condition = Expr::all([Expr::variable("flag"), Expr::variable("other").negated()]);
    let reader = function(
        "reader",
        &[],
        vec![
            statement(
                40,
                StatementKind::While { condition: condition.negated(), body: vec![statement(41, StatementKind::Skip)] },
            ),
            statement(42, StatementKind::Assert(ExprKind::Constant(false).into())),
        ],
    );
    let start =
        |id, name: &str| statement(id, StatementKind::StartThread { function: name.into(), arguments: Vec::new() });
    let main = function("main", &[], vec![start(1, "writer"), start(2, "reader")]);
    program(&["flag", "other"], vec![set, writer, reader, main])
}

#[test]
fn the_steps_of_a_trace_have_their_statements() {
    let lowered = lower(&two_threads(), &Options::default()).unwrap();
    let system = lowered.reading.problem.system();
    let trace = run_in_turn(system, &[(1, 2), (0, 4), (1, 2)]);
    let told = lowered.map.trace(system, &trace);
    let ids: Vec<Vec<(Option<u32>, StepKind)>> = told
        .contexts
        .iter()
        .map(|context| context.steps.iter().map(|it| (it.step.statement.map(|id| id.0), it.step.kind)).collect())
        .collect();
    let statement = |id| (Some(id), StepKind::Statement);
    assert_eq!(ids[0], [(Some(40), StepKind::Condition(true)), statement(41)]);
    assert_eq!(ids[1], [statement(900), statement(5), statement(31), statement(17)]);
    assert_eq!(ids[2], [(Some(40), StepKind::Condition(false)), (Some(42), StepKind::Assert)]);
    assert_eq!(lowered.map.error(trace.last().shared).unwrap().statement, Some(StatementId(42)));

    // The other data of a step: thread, function, call depth, changes, and synchronisation.
    let names: Vec<&str> = told.contexts.iter().map(|context| &*context.name).collect();
    assert_eq!(names, ["reader", "writer", "reader"]);
    let steps: Vec<_> = told.steps().collect();
    let (lock, set) = (steps[2], steps[5]);
    assert_eq!((lock.context, lock.thread, lock.step.function, lock.step.depth), (1, ThreadId(0), "writer", 0));
    assert_eq!(lock.step.synchronised, [SynchronisationEvent::Takes("m")]);
    assert_eq!(lock.now.locks[0].holder, Some(ThreadId(0)));
    assert_eq!((set.step.function, set.step.depth), ("set", 1));
    let [change] = &*set.step.changes else { panic!("one variable changes") };
    assert_eq!((change.name, change.kind, change.after), ("flag", VariableKind::Shared, Some(true)));
    // The place is in the printed text of the program.
    let text = &lowered.reading.sources[0].text;
    assert_eq!(&text[set.step.span.start as usize..set.step.span.end as usize], "flag := !seen");
    assert_eq!(text.lines().nth(set.step.line - 1), Some("  flag := !seen;"));
    // A frame has its next statement.
    let top = trace.contexts[1].steps[1].state.stacks[0].top().unwrap();
    assert_eq!(lowered.map.frame(top).statement, Some(StatementId(31)));
}

#[test]
fn changes_of_each_kind() {
    let lowered = lower(&two_threads(), &Options::default()).unwrap();
    let system = lowered.reading.problem.system();
    // Before its assignment, `seen` may have any value, since it is not live. The return hands over
    // the lock, in two steps.
    let trace = run_in_turn(system, &[(0, 7), (1, 1), (0, 1)]);
    let told = lowered.map.trace(system, &trace);
    let changes: Vec<(&str, VariableKind)> =
        told.steps().flat_map(|it| it.step.changes.iter().map(|change| (change.name, change.kind))).collect();
    let kinds = [VariableKind::Local, VariableKind::Shared, VariableKind::ThreadLocal];
    assert_eq!(changes, ["seen", "flag", "mine"].into_iter().zip(kinds).collect::<Vec<_>>());
    let end = told.steps().nth(4).unwrap();
    assert_eq!((end.step.kind, end.step.statement), (StepKind::EndOfFunction, None));

    let arguments = vec![ExprKind::Constant(true).into()];
    let call = StatementKind::Call { targets: Vec::new(), function: "f".into(), arguments };
    let mut f = function("f", &[], vec![assign(2, "x", Expr::variable("a"))]);
    f.parameters.push("a".into());
    let lowered =
        lower(&program(&["x"], vec![f, function("main", &[], vec![statement(1, call)])]), &Options::default());
    let lowered = lowered.unwrap();
    let system = lowered.reading.problem.system();
    let trace = run_in_turn(system, &[(0, 2)]);
    let told = lowered.map.trace(system, &trace);
    let changes: Vec<_> = told
        .steps()
        .map(|it| it.step.changes.iter().map(|change| (change.name, change.kind)).collect::<Vec<_>>())
        .collect();
    assert_eq!(changes, [[("a", VariableKind::Local)], [("x", VariableKind::Shared)]]);
}

/// Gives each statement another id.
fn renumber(statements: &mut [Statement], number: &mut impl FnMut(StatementId) -> StatementId) {
    for statement in statements {
        statement.id = number(statement.id);
        match &mut statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                renumber(then, number);
                renumber(otherwise, number);
            }
            StatementKind::While { body, .. } | StatementKind::Atomic { body, .. } => renumber(body, number),
            _ => {}
        }
    }
}

fn renumbered(mut program: Program, mut number: impl FnMut(StatementId) -> StatementId) -> Program {
    program.functions.iter_mut().for_each(|function| renumber(&mut function.body, &mut number));
    program
}

/// The statement of each stack symbol.
fn statements(lowered: &Lowered) -> Vec<Option<u32>> {
    let symbols = 0..u32::try_from(lowered.reading.problem.system().symbol_names().len()).unwrap();
    symbols.map(|symbol| lowered.map.frame(cpds::Symbol(symbol)).statement.map(|id| id.0)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    /// A tree without places has the same system as its text, and gets the places of the text.
    /// Random trees have no places.
    #[test]
    fn a_tree_without_a_text_is_lowered_like_its_text(program in programs::program(&ProgramShape::default()), threads in 1u32..=2) {
        let options = Options { threads: Some(threads), ..Options::default() };
        let text = print(&program);
        let from_text = read(Source::new("program", &*text), &options).unwrap();
        // First with the ids of the text, then with others.
        let mut next = 0..;
        let numbered = renumbered(program.clone(), |_| StatementId(next.next().unwrap()));
        let from_tree = lower(&numbered, &options).unwrap();
        prop_assert_eq!(&from_tree.reading.problem, &from_text.reading.problem);
        prop_assert_eq!(&from_tree.reading.sources, &from_text.reading.sources);
        prop_assert_eq!(&from_tree.reading.diagnostics, &from_text.reading.diagnostics);
        prop_assert_eq!(format!("{:?}", from_tree.program), format!("{:?}", from_text.program), "the places and numbers are equal too");
        prop_assert_eq!(statements(&from_tree), statements(&from_text));

        let other = |id: u32| u32::MAX - 7 * id;
        let from_tree = lower(&renumbered(numbered, |StatementId(id)| StatementId(other(id))), &options).unwrap();
        prop_assert_eq!(&from_tree.reading.problem, &from_text.reading.problem);
        prop_assert_eq!(statements(&from_tree), statements(&from_text).iter().map(|id| id.map(other)).collect::<Vec<_>>());
    }

    /// A text with another layout has other lines in names, but is equal otherwise.
    #[test]
    fn places_make_no_difference(program in programs::program(&ProgramShape::default())) {
        let options = Options { threads: Some(1), ..Options::default() };
        let plain = lower(&program, &options).unwrap();
        let text = print(&program).replace('\n', "\n\n  ");
        let other = read(Source::from(&*text), &options).unwrap();
        let (plain_system, other_system) = (plain.reading.problem.system(), other.reading.problem.system());
        prop_assert_eq!(plain_system.programs(), other_system.programs());
        prop_assert_eq!(plain_system.initial(), other_system.initial());
        prop_assert_eq!(plain.reading.problem.property(), other.reading.problem.property());
    }
}

/// The statements of a text are numbered in order, inner statements after the head of the outer
/// one.
#[test]
fn the_statements_of_a_text_are_numbered() {
    let text = "decl x; void f() begin if x then skip; elsif !x then x := 1; else while * do x := 0; od fi; \
        atomic begin L: assert x; end end void main() begin f(); end";
    let (program, _) = boolprog::parse(&Source::from(text));
    let mut ids = Vec::new();
    renumbered(program, |id| {
        ids.push(id.0);
        id
    });
    assert_eq!(ids, (0..9).collect::<Vec<_>>());
}

fn errors(program: &Program) -> Vec<String> {
    let error = lower(program, &Options::default()).unwrap_err();
    error.to_string().lines().map(str::to_owned).collect()
}

/// Errors of a tree that cannot be printed have no place. All others have a place in the printed
/// text.
#[test]
fn mistakes_in_trees() {
    let main = |body: Vec<Statement>| program(&["x"], vec![function("main", &[], body)]);
    let with = |shared: &[&str], name: &str| program(shared, vec![function(name, &[], Vec::new())]);
    assert_eq!(errors(&with(&["while"], "main")), ["error: the keyword `while` as a name"]);
    assert_eq!(errors(&with(&["a b", ""], "main")), ["error: `a b` is not a name", "error: `` is not a name"]);
    assert_eq!(errors(&with(&[&"x".repeat(128)], "main")), ["error: a name of 128 bytes"]);
    assert_eq!(errors(&with(&[], "2")), ["error: `2` is not a name"]);
    let lock = statement(0, StatementKind::Lock(Some("\u{1b}".into())));
    assert_eq!(errors(&main(vec![lock])), ["error: function `main`: `\\u{1b}` is not a name"]);
    let empty = "error: function `main`: an assignment, `goto` or `dead` without a target";
    for kind in [StatementKind::Goto(Vec::new()), StatementKind::Dead(Vec::new())] {
        assert_eq!(errors(&main(vec![statement(0, kind)])), [empty]);
    }
    let deep = (0..1000).fold(Expr::variable("x"), |expr, _| expr.negated());
    let deep = errors(&main(vec![assign(0, "x", deep)]));
    assert_eq!(deep, ["error: function `main`: an expression that is more than 1000 levels deep"]);
    let nested = (0..251).fold(statement(0, StatementKind::Skip), |inner, _| {
        statement(0, StatementKind::While { condition: ExprKind::Choice.into(), body: vec![inner] })
    });
    assert_eq!(errors(&main(vec![nested])), ["error: function `main`: statements nested more than 250 levels deep"]);

    // Names are resolved as in a text.
    let unknown = errors(&main(vec![assign(0, "y", Expr::variable("z").with(Operator::Xor, Expr::variable("x")))]));
    assert_eq!(unknown, ["program:5:3: error: undeclared variable `y`", "program:5:8: error: undeclared variable `z`"]);
    assert_eq!(errors(&program(&[], Vec::new())), ["error: there is no function `main`"]);
    // The deepest possible nesting.
    let deep = (0..999).fold(Expr::variable("x"), |expr, _| expr.negated());
    assert!(lower(&main(vec![assign(0, "x", deep)]), &Options::default()).is_ok());
    // `Expr::all` makes a balanced tree of thousands of parts.
    let long = Expr::any((0..5000).map(|_| Expr::variable("x")));
    assert!(lower(&main(vec![assign(0, "x", long)]), &Options::default()).is_ok());
}
