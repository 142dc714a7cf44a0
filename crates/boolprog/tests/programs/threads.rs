//! The number of threads of a program.

use boolprog::threads::{Start, Threads};
use boolprog::{Options, read};
use cpds::Source;

fn plan(text: &str, options: &Options) -> Option<Threads> {
    read(Source::from(text), options).ok().map(|lowered| lowered.map.threads().clone())
}

/// The slots for created threads, by their starts; `None` if there is no bound.
fn slots(text: &str) -> Option<Vec<u32>> {
    let threads = plan(text, &Options::default())?;
    assert_eq!(threads.limit, None);
    Some(threads.pools.iter().map(|pool| pool.slots).collect())
}

#[test]
fn creations_that_can_be_counted() {
    let f = "void f() { } ";
    // In sequence, in both branches, in calls, and in calls of calls.
    assert_eq!(slots(&format!("{f} void main() {{ skip; thread_create(&f); thread_create(&f); }}")), Some(vec![2]));
    assert_eq!(
        slots(&format!("{f} void main() {{ if (*) {{ thread_create(&f); }} else {{ thread_create(&f); }} }}")),
        Some(vec![2])
    );
    let twice = format!("{f} void g() {{ thread_create(&f); }} void h() {{ g(); g(); }}");
    assert_eq!(slots(&format!("{twice} void main() {{ h(); if (*) {{ h(); }} g(); }}")), Some(vec![5]));
    // By created threads.
    assert_eq!(slots(&format!("{twice} void main() {{ thread_create(&h); h(); }}")), Some(vec![4, 1]));
    // Between two loops, and after a jump forward.
    assert_eq!(
        slots(&format!("{f} void main() {{ while (*) {{ }} thread_create(&f); while (*) {{ }} }}")),
        Some(vec![1])
    );
    // At a label after which nothing is created.
    assert_eq!(slots("void main() { start_thread goto L; start_thread goto K; L: skip; K: skip; }"), Some(vec![1, 1]));
    assert_eq!(slots("void main() { K: L: skip; }"), Some(vec![]));
}

#[test]
fn creations_without_a_bound() {
    let f = "void f() { } ";
    assert_eq!(slots(&format!("{f} void main() {{ while (*) {{ thread_create(&f); }} }}")), None);
    assert_eq!(slots(&format!("{f} void main() {{ L: thread_create(&f); goto L, K; K: skip; }}")), None);
    assert_eq!(slots(&format!("{f} void g() {{ thread_create(&f); if (*) {{ g(); }} }} void main() {{ g(); }}")), None);
    assert_eq!(slots(&format!("{f} void g() {{ thread_create(&f); }} void main() {{ while (*) {{ g(); }} }}")), None);
    assert_eq!(slots("void f() { thread_create(&f); } void main() { skip; thread_create(&f); }"), None);
    assert_eq!(slots("void main() { L: start_thread goto L; }"), None);
    // By threads that are created without a bound.
    assert_eq!(
        slots(&format!("{f} void g() {{ thread_create(&f); }} void main() {{ while (*) {{ thread_create(&g); }} }}")),
        None
    );
}

#[test]
fn a_limit() {
    let text = "void f() { } void main() { skip; thread_create(&f); thread_create(&f); }";
    let with = |threads| plan(text, &Options { threads: Some(threads), ..Options::default() }).unwrap();
    assert_eq!((with(1).limit, with(1).pools[0].slots), (Some(1), 1));
    assert_eq!((with(2).limit, with(2).pools[0].slots), (None, 2), "the program creates only two threads");
    let endless = "void f() { } void g() { } void main() { while (*) { thread_create(&f); start_thread g(); } }";
    let threads = plan(endless, &Options { threads: Some(3), ..Options::default() }).unwrap();
    assert_eq!(threads.pools.len(), 1);
    assert_eq!((threads.pools[0].starts.len(), threads.pools[0].slots), (2, 3));
}

#[test]
fn initial_threads() {
    let text = "void f() { } void g() { thread_create(&f); } void main() { thread_create(&f); start_thread g(); thread_create(&f); return; }";
    let threads = plan(text, &Options::default()).unwrap();
    assert_eq!(threads.roots, [(0, 2), (1, 1)]);
    assert_eq!(threads.pools[0].starts, [Start::Function(0)]);
    let instances = |list: &[(&str, u32)]| {
        let instances = list.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        plan(text, &Options { instances, ..Options::default() })
    };
    assert_eq!(instances(&[("g", 2), ("f", 0), ("g", 1)]).unwrap().roots, [(1, 3)]);
    assert_eq!(instances(&[("g", 2)]).unwrap().pools[0].slots, 2);
    assert_eq!(instances(&[("f", 0)]), None);
    assert_eq!(instances(&[("g", 600)]), None, "1200 threads");
    // If `main` does anything else, it is a thread.
    assert_eq!(
        plan("void f() { } void main() { enforce 1; thread_create(&f); }", &Options::default()).unwrap().roots,
        [(1, 1)]
    );
    assert_eq!(plan("void f(a) { } void main() { start_thread f(1); }", &Options::default()).unwrap().roots, [(1, 1)]);
}
