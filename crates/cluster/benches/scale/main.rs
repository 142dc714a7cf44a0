//! Measures large systems: `cargo bench -p cuba-cluster --bench scale`. An argument after `--`
//! chooses one measurement:
//!
//! - `states`: 20 and 50 million states on one core and on two.
//! - `processes`: the same 20 million states in 1, 2 and 4 processes. The table has the data sent,
//!   and the cost compared with one job in one process.
//! - `threads`: the largest number of equal threads that each engine can analyse.
//! - `unlike`: the largest number of different threads that each engine can analyse.

mod processes;
mod states;
mod threads;
mod unlike;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let shared = |text: &String| number(text) as u64;
    match &*arguments {
        [one, states, jobs] if one == states::ONE => return states::one(shared(states), number(jobs)),
        [one, states, processes] if one == processes::ONE => return processes::one(shared(states), number(processes)),
        [one, states, _, process] if one == processes::ONE => {
            return processes::other(shared(states), number(process));
        }
        _ => {}
    }
    let is_wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == name);
    let measurements: [(&str, fn()); 4] = [
        ("states", states::compare),
        ("processes", processes::compare),
        ("threads", threads::compare),
        ("unlike", unlike::compare),
    ];
    for (_, compare) in measurements.into_iter().filter(|(name, _)| is_wanted(name)) {
        compare();
    }
}
