//! Verifies the paper's Fig. 1, and prints the trace to the bad state, context by context.

use cuba::cpds::Problem;
use cuba::{Options, Verdict, verify};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem: Problem = include_str!("../../../models/paper/fig1.cpds").parse()?;
    let system = problem.system();
    let answer = verify(&problem, &Options::default())?;
    match answer.verdict() {
        Verdict::Unsafe { trace, .. } => {
            println!("unsafe with {} contexts", trace.contexts.len());
            println!("{}", system.paper(&trace.initial));
            for context in &trace.contexts {
                println!("context of {}", system.thread_name(context.thread));
                for step in &context.steps {
                    let label = context.rule(system, step).label.as_deref().unwrap_or("");
                    println!("  {label:3} {}", system.paper(&step.state));
                }
            }
        }
        Verdict::Safe { proof, .. } => println!("safe: {proof:?}"),
        Verdict::Unknown(reason) => println!("unknown: {reason:?}"),
        Verdict::Converged { .. } => unreachable!("`verify` does not compute T(R)"),
    }
    Ok(())
}
