//! Families of systems and programs. For most of them, closed formulas give the sizes of the
//! results.

use cpds::{Action, Alphabet, Cpds, GlobalState, Names, Problem, Program, Rule, SharedState, Stack, Symbol};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Interchangeable threads that repeat a recursion of a given depth. A shared counter, modulo
/// `shared`, counts how often any of them has restarted.
///
/// A call leaves `l` or `r` on the stack. So at depth i a thread has 2^i stacks `a_i {l,r}^i`, and
/// 2^i stacks `{l,r}^i` while it returns. Every combination of these stacks and of the counter is
/// reachable.
#[derive(Clone, Copy, Debug)]
pub struct Recursion {
    /// n.
    pub threads: u32,
    /// The depth of the recursion; at least 1.
    pub depth: u32,
    /// |Q|.
    pub shared: u64,
}

impl Recursion {
    /// Makes the system, without bad patterns.
    ///
    /// # Panics
    /// If a parameter is 0 or too large.
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

    /// The number of stacks of a thread.
    fn stacks(self) -> u64 {
        (1 << (self.depth + 2)) - 2
    }

    /// |R|.
    pub fn states(self) -> u64 {
        self.shared * self.stacks().pow(self.threads)
    }

    /// |T(R)|. The top of a stack is one of `a_0`, …, `a_depth`, `l`, `r`, or the stack is empty.
    pub fn visible(self) -> u64 {
        self.shared * (u64::from(self.depth) + 4).pow(self.threads)
    }

    /// The number of steps from the states of R. A thread has two steps from each `a_i` that calls,
    /// and one step from each other stack.
    pub fn steps(self) -> u64 {
        let calls = (1 << self.depth) - 1;
        u64::from(self.threads) * self.shared * self.stacks().pow(self.threads - 1) * (self.stacks() + calls)
    }

    /// The number of states up to permutations of the threads.
    pub fn sorted_states(self) -> u64 {
        // The number of multisets of `threads` stacks.
        let choose = (0..u64::from(self.threads)).fold(1, |ways, i| ways * (self.stacks() + i) / (i + 1));
        self.shared * choose
    }
}

/// Interchangeable, independent threads with `symbols` procedures each. A procedure returns, or
/// calls the next procedure; the last procedure calls the first one. Every context is infinite.
#[derive(Clone, Copy, Debug)]
pub struct Pile {
    /// n.
    pub threads: u32,
    /// |Σ_i|; at least 1.
    pub symbols: u32,
}

impl Pile {
    /// Makes the system, without bad patterns.
    ///
    /// # Panics
    /// If a parameter is 0 or too large.
    pub fn problem(self) -> Problem {
        let Pile { threads, symbols } = self;
        let call = |i: u32| format!("  (0,a{i}) -> (0,a{} a{i})\n  (0,a{i}) -> (0,-)\n", (i + 1) % symbols);
        let calls: String = (0..symbols).map(call).collect();
        let names: Vec<String> = (0..symbols).map(|i| format!("a{i}")).collect();
        let names = names.join(" ");
        let text = format!("shared 0\ninit 0|a0*{threads}\nthread T * {threads} {{\n  symbols {names}\n{calls}}}\n");
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    /// |S_k|: the number of ways to choose the threads that have run.
    pub fn tuples(self, k: u32) -> u64 {
        choose(self.threads, k.min(self.threads))
    }

    /// |T(R_k)|: at most k threads have another top than in the initial state.
    pub fn visible(self, k: u32) -> u64 {
        (0..=k.min(self.threads)).map(|moved| choose(self.threads, moved) * u64::from(self.symbols).pow(moved)).sum()
    }
}

fn choose(n: u32, k: u32) -> u64 {
    (0..u64::from(k)).fold(1, |ways, i| ways * (u64::from(n) - i) / (i + 1))
}

/// Makes Stefan-1 of the paper's Table 2, with any number of threads.
///
/// # Panics
/// If the number is 0 or too large.
pub fn stefan(threads: u32) -> Problem {
    let rules = "(0,a) -> (1,b a)\n(1,b) -> (2,c a)\n(2,c) -> (0,b)\n(0,b) -> (0,-)\n(0,a) -> (0,-)";
    let text = format!("shared 0..2\ninit 0|a*{threads}\nthread T * {threads} {{\nsymbols a b c\n{rules}\n}}\n");
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// Makes threads with random actions, each with its own program. Pops, overwrites and pushes are
/// equally likely. The same seed gives the same system.
///
/// # Panics
/// If `shared` and `symbols` do not give this many different actions.
pub fn random_system(threads: u32, actions: usize, shared: u32, symbols: u32, seed: u64) -> Cpds {
    let mut state = seed;
    // SplitMix64 (Steele, Lea and Flood, 2014).
    let mut below = |bound: u32| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) >> 32).expect("the upper half") % bound
    };
    let mut program = |thread: u32| {
        let mut known = HashSet::new();
        let mut rules = Vec::new();
        while rules.len() < actions {
            let (from, to, top) = (SharedState(below(shared)), SharedState(below(shared)), Symbol(below(symbols)));
            let written: Vec<Symbol> = (0..below(3)).map(|_| Symbol(below(symbols))).collect();
            let action = Action::new((from, &[top]), (to, &written)).expect("of the right shape");
            if known.insert(action) {
                rules.push(Rule { label: None, action });
            }
        }
        let alphabet = Alphabet::new((0..symbols).map(Symbol));
        Program::new(&format!("random{thread}"), 1, alphabet, rules).expect("no action twice")
    };
    let programs = (1..=threads).map(&mut program).collect();
    let names = |count: u32| (0..count).map(|i| i.to_string()).collect::<Names>();
    let stacks = (0..threads).map(|_| Stack::from_top([Symbol(0)])).collect();
    let initial = GlobalState { shared: SharedState(0), stacks };
    Cpds::new(names(shared), names(symbols), programs, vec![initial]).expect("of the right shape")
}

/// A Boolean program of any size: two threads that run the same function.
#[derive(Clone, Copy, Debug)]
pub struct Variables {
    /// The number of shared variables.
    pub shared: usize,
    /// The number of local variables.
    pub locals: usize,
    /// The approximate number of statements.
    pub statements: usize,
    /// The kind of statements.
    pub style: Style,
}

/// A way in which statements use variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// The statements set a shared variable, read the next one, and clear the first one. All
    /// combinations of the shared variables are reachable.
    Claims,
    /// The statements read a shared variable into a local one, and use it after the next read. Two
    /// local variables are live at a time.
    Late,
}

impl Variables {
    /// Makes the text of the program.
    pub fn text(self) -> String {
        let Variables { shared, locals, statements, style } = self;
        let list = |name: &str, count: usize, value: &str| {
            (0..count).map(|i| format!("{name}{i}{value}")).collect::<Vec<_>>().join(", ")
        };
        let body = (0..statements).map(|t| {
            let (i, j) = (t / 4 % shared, t / 4 % locals);
            let (next, before) = ((i + 1) % shared, (j + locals - 1) % locals);
            match (style, t % 4) {
                (Style::Claims, 0) => format!("s{i} := 1 constrain !s{i};"),
                (Style::Claims, 1) => format!("l{j} := s{next};"),
                (Style::Claims, 2) => format!("if (l{j}) {{ skip; }}"),
                (Style::Claims, _) => format!("s{i} := 0;"),
                (Style::Late, 0) => format!("l{j} := s{i};"),
                (Style::Late, 1) => format!("if (*) {{ s{i} := !s{i}; }}"),
                (Style::Late, 2) => format!("if (l{j} & l{before}) {{ skip; }}"),
                (Style::Late, _) => "skip;".to_owned(),
            }
        });
        let body: Vec<String> = body.map(|statement| format!("    {statement}\n")).collect();
        format!(
            "decl {};\nvoid worker() {{\n  decl {};\n  while (*) {{\n{}  }}\n}}\nvoid main() {{ thread_create(&worker); thread_create(&worker); }}\n",
            list("s", shared, " = 0"),
            list("l", locals, ""),
            body.concat()
        )
    }
}
