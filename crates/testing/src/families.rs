//! A family of systems that grows in three directions, with sizes known in closed form.

use cpds::Problem;
use std::fmt::Write as _;

/// `threads` interchangeable threads that call themselves down to a depth and return, over and over; a counter of `shared`
/// states says how often they have started anew, all together.
///
/// On its way down a thread leaves `l` or `r` at each depth, so that it has 2^i stacks `a_i {l,r}^i` and as many `{l,r}^i`.
/// Every combination of these stacks and of the counter is reachable.
#[derive(Clone, Copy, Debug)]
pub struct Recursion {
    /// n.
    pub threads: u32,
    /// How deep the calls are; at least 1.
    pub depth: u32,
    /// |Q|.
    pub shared: u64,
}

impl Recursion {
    /// The system. Nothing of it is bad.
    ///
    /// # Panics
    /// If it would have no thread, no depth or no shared state, or too much of them.
    pub fn problem(self) -> Problem {
        let Recursion { threads, depth, shared } = self;
        assert!(threads > 0 && depth > 0 && shared > 0);
        let mut rules = String::new();
        for q in 0..shared {
            for i in 0..depth {
                for side in ["l", "r"] {
                    let _ = writeln!(rules, "  ({q},a{i}) -> ({q},a{} {side})", i + 1);
                }
            }
            for returning in [&format!("a{depth}"), "l", "r"] {
                let _ = writeln!(rules, "  ({q},{returning}) -> ({q},-)");
            }
            let _ = writeln!(rules, "  ({q},-) -> ({},a0)", (q + 1) % shared);
        }
        let symbols: Vec<String> = (0..=depth).map(|i| format!("a{i}")).collect();
        let text = format!(
            "shared 0..{}\ninit 0|a0*{threads}\nthread T * {threads} {{\n  symbols {} l r\n{rules}}}\n",
            shared - 1,
            symbols.join(" ")
        );
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    /// How many stacks a thread has.
    fn stacks(self) -> u64 {
        (1 << (self.depth + 2)) - 2
    }

    /// |R|.
    pub fn states(self) -> u64 {
        self.shared * self.stacks().pow(self.threads)
    }

    /// |T(R)|: on top is one of `a_0`, …, `a_depth`, `l`, `r`, or nothing.
    pub fn visible(self) -> u64 {
        self.shared * (u64::from(self.depth) + 4).pow(self.threads)
    }

    /// How many steps there are from the states of R: two from `a_i` above the deepest, otherwise one.
    pub fn steps(self) -> u64 {
        let calls = (1 << self.depth) - 1;
        u64::from(self.threads) * self.shared * self.stacks().pow(self.threads - 1) * (self.stacks() + calls)
    }

    /// How many states there are up to permuting the threads.
    pub fn sorted_states(self) -> u64 {
        // Multisets of `threads` stacks.
        let choose = (0..u64::from(self.threads)).fold(1, |ways, i| ways * (self.stacks() + i) / (i + 1));
        self.shared * choose
    }
}
