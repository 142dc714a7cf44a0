//! Whatever is large: `cargo bench -p cuba --bench scale`, or `-- states` or `-- unlike` for a part of it.
//!
//! - `states`: 20 and 50 million states on one core and on two.
//! - `unlike`: how far each engine gets with more and more threads that are all different.

mod states;
mod unlike;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [one, shared, jobs] = &*arguments
        && one == states::ONE
    {
        return states::one(shared.parse().expect("a number"), jobs.parse().expect("a number"));
    }
    let is_wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    if is_wanted("states") {
        states::compare();
    }
    if is_wanted("unlike") {
        unlike::compare();
    }
}
