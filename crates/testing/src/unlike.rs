//! Families of systems with unlike threads: each thread runs its own program, and no two threads
//! are interchangeable, under any renaming.

use cpds::Problem;
use std::fmt::Write as _;

/// Threads that share a pool of permits (a counting semaphore): a call takes a permit, and a return
/// gives it back.
///
/// Thread i takes a permit only if more than i permits are left, so it leaves i permits for more
/// urgent threads. Its stack has a frame for each of its permits. Every context is finite. The
/// states are ⟨c - Σhᵢ | h₀,…⟩, with hᵢ for the permits of thread i. The stacks depend on each
/// other through the sum, so R is not a product of sets of stacks.
#[derive(Clone, Copy, Debug)]
pub struct Permits {
    /// n.
    pub threads: u32,
    /// c; more than n.
    pub permits: u32,
}

impl Permits {
    /// Makes the system, without bad patterns.
    ///
    /// # Panics
    /// If there are too many threads or too few permits.
    pub fn problem(self) -> Problem {
        let Permits { threads, permits } = self;
        assert!(threads < permits);
        let mut text = format!("shared 0..{permits}\ninit {permits}|{}\n", list(threads, |_| "-".to_owned()));
        for i in 0..threads {
            let _ = writeln!(text, "thread T{i} {{\n  symbols f{i}");
            for q in i + 1..=permits {
                let _ = writeln!(text, "  ({q},-) -> ({},f{i})\n  ({q},f{i}) -> ({},f{i} f{i})", q - 1, q - 1);
            }
            for q in 0..permits {
                let _ = writeln!(text, "  ({q},f{i}) -> ({},-)", q + 1);
            }
            text.push_str("}\n");
        }
        parsed(&text)
    }

    /// |R|. Let thread i hold a permit, and let s be the number of permits of thread i and of all
    /// less urgent threads. Then s ≤ c - i, because the last of these permits left at least i
    /// permits. All these states are reachable: the threads take their permits one after the other,
    /// the least urgent thread first.
    pub fn states(self) -> u64 {
        // Indexed by the permits of the threads so far.
        let mut ways = vec![0_u64; self.permits as usize + 1];
        ways[0] = 1;
        for i in (0..self.threads).rev() {
            let most = (self.permits - i) as usize;
            let mut next = ways.clone();
            for (before, &count) in ways.iter().enumerate() {
                for next in next.iter_mut().take(most + 1).skip(before + 1) {
                    *next += count;
                }
            }
            ways = next;
        }
        ways.iter().sum()
    }

    /// |T(R)|. Let J be the threads with permits, and let i be the most urgent of them. They hold
    /// at least |J| and at most c - i permits.
    pub fn visible(self) -> u64 {
        let with_holders = |set: u32| {
            let fits = |i: u32| (set >> i & 1) == 0 || (set >> i).count_ones() <= self.permits - i;
            if set == 0 {
                1
            } else if (0..self.threads).all(fits) {
                u64::from(self.permits - set.trailing_zeros() - set.count_ones() + 1)
            } else {
                0
            }
        };
        (0..1 << self.threads).map(with_holders).sum()
    }
}

/// Threads that change shared data with optimistic transactions.
///
/// A thread stores on its stack the version that it has read, and works with calls of any depth.
/// Then it takes the lock and compares its version with the shared one; thread i needs i further
/// steps for this. If the versions are equal, it writes the next version. If not, it restarts with
/// the shared version. Every context is infinite. In R, the thread that wrote the last version has
/// this version on its stack; every other thread may have any version, independently of the others.
#[derive(Clone, Copy, Debug)]
pub struct Transactions {
    /// n; at least 2.
    pub threads: u32,
    /// m; at least 2.
    pub versions: u32,
}

impl Transactions {
    /// Makes the system, without bad patterns.
    ///
    /// # Panics
    /// If there are too few versions or threads, or too many.
    pub fn problem(self) -> Problem {
        let Transactions { threads, versions } = self;
        assert!(threads > 1 && versions > 1);
        let shared: Vec<String> = (0..versions).flat_map(|q| [format!("q{q}"), format!("lock{q}")]).collect();
        let start = list(threads, |i| format!("b{i} v0"));
        let seen: Vec<String> = (0..versions).map(|q| format!("v{q}")).collect();
        let mut text = format!("shared {}\ninit q0|{start}\n", shared.join(" "));
        for i in 0..threads {
            let looking = (1..=i).flat_map(|s| [format!("same{i}_{s}"), format!("old{i}_{s}")]);
            let symbols: Vec<String> = seen.iter().cloned().chain(looking).collect();
            let _ = writeln!(text, "thread T{i} {{\n  symbols b{i} w{i} {}", symbols.join(" "));
            for q in 0..versions {
                let _ = writeln!(text, "  (q{q},b{i}) -> (q{q},w{i} b{i})\n  (q{q},w{i}) -> (q{q},w{i} w{i})");
                let _ = writeln!(text, "  (q{q},w{i}) -> (q{q},-)\n  (q{q},b{i}) -> (lock{q},-)");
                let next = (q + 1) % versions;
                let ends = [("same", format!("(q{next},b{i} v{next})")), ("old", format!("(q{q},b{i} v{q})"))];
                for (found, end) in &ends {
                    let looking = |s: u32| format!("{found}{i}_{s}");
                    for s in 1..=i {
                        let to = if s == i { end.clone() } else { format!("(lock{q},{})", looking(s + 1)) };
                        let _ = writeln!(text, "  (lock{q},{}) -> {to}", looking(s));
                    }
                    let to = if i == 0 { end.clone() } else { format!("(lock{q},{})", looking(1)) };
                    for v in (0..versions).filter(|&v| (v == q) == (*found == "same")) {
                        let _ = writeln!(text, "  (lock{q},v{v}) -> {to}");
                    }
                }
            }
            text.push_str("}\n");
        }
        parsed(&text)
    }

    /// The number of tuples of R that no other tuple covers.
    ///
    /// The thread that wrote the last version has this version on its stack. Each other thread may
    /// have any version, and a single language contains all of them, because a context may end
    /// before the thread changes its version. If the lock is taken, one of the threads compares
    /// versions.
    pub fn tuples(self) -> u64 {
        u64::from(self.versions) * u64::from(self.threads) * u64::from(self.threads + 1)
    }

    /// |T(R)|. Each thread works or does not. If thread i has the lock, its top is a version, or
    /// one of i steps for equal versions, or one of i steps for different versions.
    pub fn visible(self) -> u64 {
        let (threads, versions) = (u64::from(self.threads), u64::from(self.versions));
        let looking: u64 = (0..threads).map(|i| versions + 2 * i).sum();
        versions * (1 << threads) + versions * looking * (1 << (threads - 1))
    }
}

/// Threads in a ring that pass a token.
///
/// Thread i may pass the token to one of the next 1 + i mod 3 threads of the ring. The thread with
/// the token may work, with calls of any depth. It passes the token after all calls have returned.
/// It counts on its stack how often it has passed the token, up to `turns`. Contexts are infinite.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// n; at least 4.
    pub threads: u32,
    /// The largest count of a thread.
    pub turns: u32,
}

impl Token {
    /// Makes the system, without bad patterns.
    ///
    /// # Panics
    /// If there are too few threads, or too many.
    pub fn problem(self) -> Problem {
        let Token { threads, turns } = self;
        assert!(threads > 3);
        let start = list(threads, |i| format!("p{i} l0"));
        let counts: Vec<String> = (0..=turns).map(|j| format!("l{j}")).collect();
        let mut text = format!("shared {} {}\n", names("at", threads), names("from", threads));
        let _ = writeln!(text, "init at0|{start}");
        for i in 0..threads {
            let _ = writeln!(text, "thread T{i} {{\n  symbols p{i} w{i} {}", counts.join(" "));
            let _ = writeln!(text, "  (at{i},p{i}) -> (at{i},w{i} p{i})\n  (at{i},w{i}) -> (at{i},w{i} w{i})");
            let _ = writeln!(text, "  (at{i},w{i}) -> (at{i},-)\n  (at{i},p{i}) -> (from{i},-)");
            for j in 0..=turns {
                for next in 1..=1 + i % 3 {
                    let (next, count) = ((i + next) % threads, turns.min(j + 1));
                    let _ = writeln!(text, "  (from{i},l{j}) -> (at{next},p{i} l{count})");
                }
            }
            text.push_str("}\n");
        }
        parsed(&text)
    }

    /// |T(R)|. The thread with the token is idle, or works, or reads its count before it passes the
    /// token.
    pub fn visible(self) -> u64 {
        u64::from(self.threads) * (2 + u64::from(self.turns) + 1)
    }
}

/// Independent threads with a single shared state. Thread i has i + 1 procedures. A procedure
/// returns, or calls the next procedure; the last procedure calls the first one.
#[derive(Clone, Copy, Debug)]
pub struct Strangers {
    /// n.
    pub threads: u32,
}

impl Strangers {
    /// Makes the system, without bad patterns.
    ///
    /// # Panics
    /// If there are too many threads.
    pub fn problem(self) -> Problem {
        let mut text = format!("shared 0\ninit 0|{}\n", list(self.threads, |i| format!("a{i}_0")));
        for i in 0..self.threads {
            let symbols: Vec<String> = (0..=i).map(|j| format!("a{i}_{j}")).collect();
            let _ = writeln!(text, "thread T{i} {{\n  symbols {}", symbols.join(" "));
            for j in 0..=i {
                let _ = writeln!(text, "  (0,a{i}_{j}) -> (0,a{i}_{} a{i}_{j})", (j + 1) % (i + 1));
                let _ = writeln!(text, "  (0,a{i}_{j}) -> (0,-)");
            }
            text.push_str("}\n");
        }
        parsed(&text)
    }

    /// |S_k|: the number of ways to choose the k threads that have run.
    pub fn tuples(self, k: u32) -> u64 {
        let k = u64::from(k.min(self.threads));
        (0..k).fold(1, |ways, i| ways * (u64::from(self.threads) - i) / (i + 1))
    }

    /// |T(R)|. The top of thread i is one of i + 1 procedures, or its stack is empty.
    pub fn visible(self) -> u64 {
        (2..=u64::from(self.threads) + 1).product()
    }
}

fn list(count: u32, of: impl Fn(u32) -> String) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(",")
}

fn names(name: &str, count: u32) -> String {
    (0..count).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(" ")
}

fn parsed(text: &str) -> Problem {
    text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
}
