//! Verifies a Boolean program, and prints the trace to the assertion that fails, with the id of
//! each statement.

use boolprog::Options as ProgramOptions;
use cuba::{Options, Verdict, verify};

const PROGRAM: &str = "
decl locked = 0, busy = 0;
void worker() {
  assume(!locked);
  locked := 1;
  assert(!busy);
  busy := 1;
  busy := 0;
  locked := 0;
}
void main() { thread_create(&worker); thread_create(&worker); }
";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lowered = boolprog::read(PROGRAM.into(), &ProgramOptions::default())?;
    let problem = &lowered.reading.problem;
    let answer = verify(problem, &Options::default())?;
    let Verdict::Unsafe { trace, .. } = answer.verdict() else { return Err("the assertion can fail".into()) };
    for context in &lowered.map.trace(problem.system(), trace).contexts {
        println!("context of {}", context.name);
        for step in &context.steps {
            let id = step.step.statement.map_or(String::new(), |id| format!("statement {}", id.0));
            println!("  line {:2}  {:?} {id}", step.step.line, step.step.kind);
        }
    }
    let error = lowered.map.error(trace.last().shared).ok_or("the trace ends with an error")?;
    println!("{:?} in line {}", error.kind, error.line);
    Ok(())
}
