//! Interchangeable threads.

use crate::{Action, Cpds, GlobalState, ThreadId};
use std::collections::{BTreeMap, HashSet};

impl Cpds {
    /// Divides the threads into groups of interchangeable threads: swapping two threads of a group
    /// changes neither the step relation nor the set of initial states. So for every k, the set R_k
    /// is closed under such swaps.
    ///
    /// The groups are the largest possible ones, unless this needs millions of comparisons of
    /// stacks. Then a group may be split into several.
    ///
    /// The groups depend only on the system. A bad pattern need not be symmetric: `20|23,19,-`
    /// distinguishes two adders.
    pub fn symmetric_groups(&self) -> Vec<Vec<ThreadId>> {
        let actions: Vec<Vec<Action>> = self.programs().iter().map(sorted_actions).collect();
        let initial: HashSet<&GlobalState> = self.initial().iter().collect();
        let mut budget = (1 << 23) / self.thread_count();

        // Two threads can be swapped only if they have the same actions, and the same multiset of
        // stacks in the initial states. With this key, the exact test below is rarely necessary.
        let mut alike: BTreeMap<_, Vec<Vec<ThreadId>>> = BTreeMap::new();
        for thread in self.threads() {
            let mut stacks: Vec<_> = self.initial().iter().map(|s| (s.shared, &s.stacks[thread.index()])).collect();
            stacks.sort_unstable();
            let groups = alike.entry((&actions[self.program_index(thread)], stacks)).or_default();
            // Being interchangeable is an equivalence: (i k) = (i j)(j k)(i j). So it is enough to
            // compare with one thread of each group.
            match groups.iter_mut().find(|group| self.can_swap(&initial, group[0], thread, &mut budget)) {
                Some(group) => group.push(thread),
                None => groups.push(vec![thread]),
            }
        }
        let mut groups: Vec<_> = alike.into_values().flatten().collect();
        groups.sort_unstable();
        groups
    }

    /// Whether swapping `a` and `b` keeps the set of initial states. Also `false` if `budget` is
    /// used up.
    fn can_swap(&self, initial: &HashSet<&GlobalState>, a: ThreadId, b: ThreadId, budget: &mut usize) -> bool {
        self.initial().iter().all(|state| {
            if state.stacks[a.index()] == state.stacks[b.index()] {
                return true;
            }
            if *budget == 0 {
                return false;
            }
            *budget -= 1;
            let mut swapped = state.clone();
            swapped.stacks.swap(a.index(), b.index());
            initial.contains(&swapped)
        })
    }
}

fn sorted_actions(program: &crate::Program) -> Vec<Action> {
    let mut actions: Vec<_> = program.rules().iter().map(|rule| rule.action).collect();
    actions.sort_unstable();
    actions
}

#[cfg(test)]
mod tests {
    use crate::Problem;

    fn groups(text: &str) -> Vec<Vec<u32>> {
        let problem: Problem = text.parse().unwrap();
        problem.system().symmetric_groups().iter().map(|g| g.iter().map(|t| t.0).collect()).collect()
    }

    const SAME_PROGRAM: &str = "thread A * 2 { symbols a b; (0,a) -> (0,b) }
        thread B { symbols b a; (0,a) -> (0,b) }\n thread C { symbols a b }\n shared 0 1\n";

    #[test]
    fn threads_with_the_same_actions_and_stacks_form_a_group() {
        assert_eq!(groups(&format!("{SAME_PROGRAM} init 0|a,a,a,a")), [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn another_initial_stack_breaks_a_group() {
        assert_eq!(groups(&format!("{SAME_PROGRAM} init 0|a,b,a,a")), [vec![0, 2], vec![1], vec![3]]);
    }

    fn column(bits: u32, thread: u32) -> &'static str {
        if bits >> thread & 1 == 1 { "a" } else { "b" }
    }

    #[test]
    fn a_thousand_initial_states_are_not_too_many() {
        let state = |bits| (0..10).map(|t| column(bits, t)).collect::<Vec<_>>().join(",");
        let states: Vec<_> = (0..1024).map(|bits| format!("init 0|{}", state(bits))).collect();
        let text = format!("shared 0\nthread A * 10 {{ symbols a b }}\n{}", states.join("\n"));
        assert_eq!(groups(&text), [(0..10).collect::<Vec<_>>()]);
    }

    /// The 252 threads have in the ten initial states the stacks of the balanced words of length
    /// ten. No two threads can be swapped, and the comparison of all pairs exceeds the budget. A
    /// pair that is not compared must not be in one group.
    #[test]
    fn threads_that_are_not_compared_are_in_different_groups() {
        let words: Vec<u32> = (0..1024_u32).filter(|bits| bits.count_ones() == 5).collect();
        let state = |k| words.iter().map(|&word| column(word, k)).collect::<Vec<_>>().join(",");
        let states: Vec<_> = (0..10).map(|k| format!("init 0|{}", state(k))).collect();
        let text = format!("shared 0\nthread A * {} {{ symbols a b }}\n{}", words.len(), states.join("\n"));
        assert_eq!(groups(&text).len(), 252);
    }

    #[test]
    fn initial_states_that_are_swapped_images_keep_it() {
        assert_eq!(groups(&format!("{SAME_PROGRAM} init 0|a,b,b,a\n init 0|b,a,b,a")), [vec![0, 1], vec![2], vec![3]]);
        // Each of the first three threads has the stacks a and b once, but swapping the first two
        // changes the set of initial states.
        assert_eq!(groups(&format!("{SAME_PROGRAM} init 0|a,b,a,a\n init 0|b,a,b,a")), [vec![0, 2], vec![1], vec![3]]);
    }
}
