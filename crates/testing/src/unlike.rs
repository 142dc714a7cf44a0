//! Families of threads that differ: each runs a program of its own, and no two are interchangeable,
//! under whatever names.

use cpds::Problem;
use std::fmt::Write as _;

/// Threads that take permits from a common pool, one for each call, and give them back as they
/// return (a counting semaphore).
///
/// Thread i takes a permit only if more than i are left: what it leaves is for the more urgent
/// ones. It has as many frames on its stack as it has permits. Every context is finite. The number
/// of free permits and all stacks together say how many there are, so no state is a product of what
/// the threads may have: ⟨c - Σhᵢ | h₀,…⟩.
#[derive(Clone, Copy, Debug)]
pub struct Permits {
    /// n.
    pub threads: u32,
    /// c; more than there are threads.
    pub permits: u32,
}

impl Permits {
    /// The system. Nothing of it is bad.
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

    /// |R|. Where thread i has a permit, and it and all less urgent ones have s together, then s ≤ c - i: the last one of these permits
    /// left i at least. And taking them in order of urgency, the least urgent first, is a way to
    /// get there.
    pub fn states(self) -> u64 {
        // By the sum of the threads so far.
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

    /// |T(R)|. Those threads J that have any have at least |J| permits and, the most urgent of them being i, at most c - i.
    pub fn visible(self) -> u64 {
        let having = |set: u32| {
            let fits = |i: u32| (set >> i & 1) == 0 || (set >> i).count_ones() <= self.permits - i;
            if set == 0 {
                1
            } else if (0..self.threads).all(fits) {
                u64::from(self.permits - set.trailing_zeros() - set.count_ones() + 1)
            } else {
                0
            }
        };
        (0..1 << self.threads).map(having).sum()
    }
}

/// Threads that change something shared, in the way of optimistic transactions.
///
/// A thread keeps on its stack which version it has seen, and works on it, with calls as deep as it
/// likes. In the end it takes a lock and looks at the version, which takes thread i as many as i
/// steps more: if it is still the same, there is a next one; if not, it begins anew with the one it
/// sees. Every context is infinite. In R, every thread but the last that made a version may have
/// any in mind, whatever the others have.
#[derive(Clone, Copy, Debug)]
pub struct Transactions {
    /// n; at least 2.
    pub threads: u32,
    /// m; at least 2.
    pub versions: u32,
}

impl Transactions {
    /// The system. Nothing of it is bad.
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

    /// How many of the tuples of R are the largest. Who was the last to make a version has it in
    /// mind; each of the others may have any, and one language has them all: a context may leave
    /// what was there before, or not. With the lock, one of all threads is looking.
    pub fn tuples(self) -> u64 {
        u64::from(self.versions) * u64::from(self.threads) * u64::from(self.threads + 1)
    }

    /// |T(R)|: each thread works or not; with the lock, thread i shows a version or how far it has got, one way or the other.
    pub fn visible(self) -> u64 {
        let (threads, versions) = (u64::from(self.threads), u64::from(self.versions));
        let looking: u64 = (0..threads).map(|i| versions + 2 * i).sum();
        versions * (1 << threads) + versions * looking * (1 << (threads - 1))
    }
}

/// A token that the threads hand on, each in its turn.
///
/// Thread i may give it to one of the next 1 + i mod 3 threads of the ring. Who has it may work,
/// with calls as deep as it likes, has to return from all of them to hand it on, and keeps on its
/// stack how often it has had it, up to a number. Contexts are infinite.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// n; at least 4.
    pub threads: u32,
    /// How often a thread counts.
    pub turns: u32,
}

impl Token {
    /// The system. Nothing of it is bad.
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

    /// |T(R)|: who has the token is about to work, or works, or looks at its count.
    pub fn visible(self) -> u64 {
        u64::from(self.threads) * (2 + u64::from(self.turns) + 1)
    }
}

/// Threads that do not mind each other at all, in one shared state: thread i has i + 1 procedures,
/// of which each calls the next one and the last one the first, without end; or returns.
#[derive(Clone, Copy, Debug)]
pub struct Strangers {
    /// n.
    pub threads: u32,
}

impl Strangers {
    /// The system. Nothing of it is bad.
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

    /// |S_k|: which k threads have had a context.
    pub fn tuples(self, k: u32) -> u64 {
        let k = u64::from(k.min(self.threads));
        (0..k).fold(1, |ways, i| ways * (u64::from(self.threads) - i) / (i + 1))
    }

    /// |T(R)|: thread i has one of i + 1 procedures on top, or none.
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
