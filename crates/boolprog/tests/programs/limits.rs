//! Programs with thousands of variables and locks are lowered, and behave as in the interpreter.

use boolprog::{Lowered, Options, read};
use cpds::{Source, ThreadId};
use cpds_testing::interpreter::Limits;
use cpds_testing::lowering::compare;

fn lowered(text: &str) -> Lowered {
    read(Source::from(text), &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str, options: &Options) -> String {
    read(Source::from(text), options).expect_err("it is refused").to_string()
}

/// Compares a program with the interpreter. Returns the number of states.
fn same_as_interpreter(program: &Lowered, contexts: usize) -> usize {
    let limits = Limits { contexts, height: 3, states: 20_000 };
    let levels = compare(program, limits).unwrap_or_else(|why| panic!("{}", why.chars().take(200).collect::<String>()));
    levels.expect("not too many states").reachable[contexts].len()
}

fn each(range: std::ops::Range<usize>, text: impl Fn(usize) -> String) -> String {
    range.map(text).collect()
}

fn list(range: std::ops::Range<usize>, text: impl Fn(usize) -> String) -> String {
    range.map(text).collect::<Vec<_>>().join(", ")
}

/// The number of shared states.
fn shared_states(program: &Lowered) -> usize {
    program.reading.problem.system().shared_names().len()
}

const MANY: usize = 4096;

/// One thread shifts the values of all variables in one step. Another one sets the first variable.
#[test]
fn a_chain_of_many_shared_variables() {
    let text = format!(
        "decl {};\nvoid shift() {{ {} := 0, {}; {} := 0, {}; assert !x2; }}\n\
         void start() {{ x0 := 1; }}\nvoid main() {{ thread_create(&shift); thread_create(&start); }}",
        list(0..MANY, |i| format!("x{i} = 0")),
        list(0..MANY, |i| format!("x{i}")),
        list(0..MANY - 1, |i| format!("x{i}")),
        list(0..MANY, |i| format!("x{i}")),
        list(0..MANY - 1, |i| format!("x{i}")),
    );
    let program = lowered(&text);
    let variables = program.map.shared_variables(cpds::SharedState(0));
    assert_eq!((variables.len(), variables[MANY - 1]), (MANY, ("x4095", Some(false))));
    assert!(same_as_interpreter(&program, 2) > 10);
}

/// In each step the next variable becomes the only one that is true. There is a shared state for
/// each variable.
#[test]
fn a_walk_through_many_shared_variables() {
    let text = format!(
        "decl x0 = 1, {};\nvoid main() {{ {} assert !x{}; }}",
        list(1..MANY, |i| format!("x{i} = 0")),
        each(1..MANY, |i| format!("x{}, x{i} := 0, 1;\n", i - 1)),
        MANY - 1
    );
    let program = lowered(&text);
    // One shared state for each variable, and the error state.
    assert_eq!(shared_states(&program), MANY + 1);
    let system = program.reading.problem.system();
    let mut state = system.initial()[0].clone();
    for i in 0..MANY {
        let found = program.map.shared_variables(state.shared);
        assert_eq!(
            found.iter().filter(|(_, value)| *value == Some(true)).map(|(name, _)| *name).collect::<Vec<_>>(),
            [format!("x{i}")]
        );
        let steps: Vec<_> = system.steps(&state).collect();
        let [step] = steps.as_slice() else { panic!("one step from each state") };
        let told = program.map.step(ThreadId(0), &state, &step.state);
        assert_eq!(told.changes.len(), if i + 1 < MANY { 2 } else { 0 });
        state = step.state.clone();
    }
    assert!(program.map.error(state.shared).is_some());
}

/// Many parameters, local variables, thread-local ones and results; some of them are open.
#[test]
fn many_variables_of_each_kind() {
    let text = format!(
        "decl seen = 0;\nthread_local {};\n\
         bool<{MANY}> f({}) {{ decl {}; {} := {}; t4095 := l4095; return {}; }}\n\
         void main() {{ decl {}; {} := call f({}); seen := r4095 & t4095; assert !seen; }}",
        list(0..MANY, |i| format!("t{i} = 0")),
        list(0..MANY, |i| format!("p{i}")),
        list(0..MANY, |i| format!("l{i}")),
        list(0..MANY, |i| format!("l{i}")),
        list(0..MANY, |i| format!("p{}", MANY - 1 - i)),
        list(0..MANY, |i| format!("l{i}")),
        list(0..MANY, |i| format!("r{i}")),
        list(0..MANY, |i| format!("r{i}")),
        list(0..MANY, |i| if i == 0 { "1".to_owned() } else { "0".to_owned() }),
    );
    let program = lowered(&format!("{text}\n"));
    // The first argument comes back as the last result. There is only one run, and the assertion
    // fails in it.
    let system = program.reading.problem.system();
    let (mut state, mut steps) = (system.initial()[0].clone(), 0);
    loop {
        let mut next: Vec<_> = system.steps(&state).map(|step| step.state).collect();
        assert!(next.len() < 2);
        let Some(next) = next.pop() else { break };
        (state, steps) = (next, steps + 1);
    }
    assert!(steps > 5 && program.map.error(state.shared).is_some());
}

/// The interpreter tries all values of open variables. So here each variable has a value.
#[test]
fn many_local_variables_as_in_the_interpreter() {
    let text = format!(
        "decl x = 0;\nvoid f() {{ decl {}; {} := 1, {}; x := l1; x := !l4095; }}\n\
         void main() {{ thread_create(&f); thread_create(&f); }}",
        list(0..MANY, |i| format!("l{i} = 0")),
        list(0..MANY, |i| format!("l{i}")),
        list(0..MANY - 1, |i| format!("l{i}")),
    );
    assert!(same_as_interpreter(&lowered(&text), 2) > 10);
}

/// One thread takes all locks and releases all but one. Another thread waits for that lock.
#[test]
fn many_locks() {
    let count = 1024;
    let text = format!(
        "decl x = 0;\nvoid f() {{ {} {} x := 1; }}\nvoid g() {{ lock(m{last}); assert x; }}\n\
         void main() {{ thread_create(&f); thread_create(&g); }}",
        each(0..count, |i| format!("lock(m{i});\n")),
        each(0..count - 1, |i| format!("unlock(m{i});\n")),
        last = count - 1,
    );
    let program = lowered(&text);
    assert_eq!(program.map.lock_names().count(), count);
    assert!(same_as_interpreter(&program, 2) > 2 * count);
    // Names that would be too long are numbers.
    let names = program.reading.problem.system().shared_names();
    assert!(names.iter().all(|name| name.len() <= 255) && names.len() > count);
}

#[test]
fn programs_beyond_the_limits_are_refused() {
    let options = Options::default();
    let many = |kind: &str| format!("{kind} {}; void main() {{ }}", list(0..(1 << 14) + 1, |i| format!("x{i} = 0")));
    let messages = [
        (many("decl"), "more than 16384 shared variables"),
        (many("thread_local"), "more than 16384 thread-local variables"),
        (
            format!("void main() {{ {}", &many("decl")[..]).replace("void main() { }", "}"),
            "function `main` has more than 16384 variables",
        ),
        (format!("void main() {{ {} }}", each(0..(1 << 12) + 1, |i| format!("lock(l{i}); "))), "more than 4096 locks"),
    ];
    for (text, message) in messages {
        let error = refused(&text, &options);
        assert!(error.contains(message), "{}", error.chars().take(200).collect::<String>());
    }
    // A statement that needs the values of thirty open variables.
    let open = list(0..30, |i| format!("x{i}"));
    let text = format!("decl {open}; void main() {{ assert {}; }}", open.replace(", ", " ^ "));
    assert!(refused(&text, &options).contains("more than 1048576 choices of open variables in one statement"));
    // A counter of sixty bits, which only the memory limits.
    let counter = format!(
        "decl {}; void main() {{ while (1) {{ {} := !x0{}; }} }}",
        list(0..60, |i| format!("x{i} = 0")),
        list(0..60, |i| format!("x{i}")),
        each(1..60, |i| format!(", x{i} ^ ({})", list(0..i, |j| format!("x{j}")).replace(", ", " & ")))
    );
    let error = refused(&counter, &Options { memory: 16 << 20, ..options });
    assert!(error.contains("the system of the program takes more than 16 MiB of memory"), "{error}");
}
