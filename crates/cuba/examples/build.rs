//! Builds a system in code: two copies of a recursive thread, with a lock.
//!
//! Each copy takes the lock, may call itself, and releases the lock when its first call returns. So
//! the two copies are never in the critical section together, for any number of contexts and any
//! depth of recursion.

use cuba::cpds::{Action, Alphabet, Cpds, GlobalState, Names, Pattern, Problem, Program, Property};
use cuba::cpds::{Rule, SharedState, Stack, Symbol, Wild};
use cuba::{Options, Verdict, verify};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut shared = Names::default();
    let [free, taken] = ["free", "taken"].map(|name| SharedState(shared.insert(name)));
    let mut symbols = Names::default();
    let [start, critical, back, done] = ["start", "critical", "back", "done"].map(|name| Symbol(symbols.insert(name)));

    let rule = |label: &str, action| Rule { label: Some(label.into()), action };
    let rules = vec![
        rule("lock", Action::Push { from: free, top: start, to: taken, callee: critical, return_point: done }),
        rule("call", Action::Push { from: taken, top: critical, to: taken, callee: critical, return_point: back }),
        rule("leave", Action::Pop { from: taken, top: critical, to: taken }),
        rule("return", Action::Pop { from: taken, top: back, to: taken }),
        rule("unlock", Action::Pop { from: taken, top: done, to: free }),
    ];
    let worker = Program::new("worker", 2, Alphabet::new([start, critical, back, done]), rules)?;
    let initial = GlobalState { shared: free, stacks: vec![Stack::from_top([start]); 2] };
    let system = Cpds::new(shared, symbols, vec![worker], vec![initial])?;

    // Both copies are in the critical section.
    let bad = Pattern { shared: Wild::Any, tops: vec![Wild::Is(Some(critical)); 2] };
    let problem = Problem::new(system, Property { bad: vec![bad] })?;
    let answer = verify(&problem, &Options::default())?;
    let Verdict::Safe { proof, certificate: Some(certificate) } = answer.verdict() else {
        return Err("the system is safe, but was not verified".into());
    };
    println!("safe, by {proof:?}; checked certificate with {} tuples", certificate.tuples().len());
    Ok(())
}
