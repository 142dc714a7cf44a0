//! Whatever is large: `cargo bench -p cuba-cluster --bench scale`, or `-- states`, `-- processes`,
//! `-- threads` or `-- unlike` for a part.
//!
//! - `states`: 20 and 50 million states on one core and on two.
//! - `processes`: the same 20 million, in 1, 2 and 4 processes; what is sent, and what it takes
//!   more than one job in one process.
//! - `threads`: how far each engine gets with more and more threads that are all the same.
//! - `unlike`: how far each engine gets with more and more threads that are all different.

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
