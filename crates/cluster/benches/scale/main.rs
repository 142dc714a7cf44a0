//! Large systems: `cargo bench -p cuba-cluster --bench scale`, or one of its parts with `--
//! states`, `-- processes`, `-- threads` or `-- unlike`.
//!
//! - `states`: 20 and 50 million states on one core and on two.
//! - `processes`: the same 20 million states in 1, 2 and 4 processes: the data sent, and the cost
//!   compared with one job in one process.
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
    let is_wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    let parts: [(&str, fn()); 4] = [
        ("states", states::compare),
        ("processes", processes::compare),
        ("threads", threads::compare),
        ("unlike", unlike::compare),
    ];
    for (_, compare) in parts.into_iter().filter(|(part, _)| is_wanted(part)) {
        compare();
    }
}
