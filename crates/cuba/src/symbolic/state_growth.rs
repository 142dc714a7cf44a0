//! Whether S_k stands for more states than S_{k-1}.
//!
//! Several tuples of S_{k-1} together may cover a tuple of S_k that none of them covers alone. So
//! if S_k grows, R_k need not grow, and (S_k) may collapse later than (R_k). The test whether
//! several tuples together cover a tuple goes component by component. It splits the words of the
//! first component into classes by the set of tuples that have them. For each class, these tuples
//! have to cover the other components.

use crate::automata::language_table::{LanguageId, Languages};
use crate::symbolic::levels::Symbolic;

/// The most automaton states that are visited.
const MAX_VISITS: usize = 1 << 20;

impl Symbolic<'_> {
    /// Returns the least k with R_k = R, if (S_k) collapses at `collapse`; `None` if the budget
    /// does not suffice.
    pub fn collapse_of_states(&self, collapse: usize) -> Option<usize> {
        let mut k = collapse;
        while k > 0 && !self.visible().grew(k) && !self.states_grew(k)? {
            k -= 1;
        }
        Some(k)
    }

    /// Whether R_k \ R_{k-1} has any states; `None` if the budget does not suffice.
    fn states_grew(&self, k: usize) -> Option<bool> {
        let mut budget = MAX_VISITS;
        for (shared, new) in self.store().tuples_of_level(k, MAX_VISITS)? {
            let before = self.store().orbits_before(self.symmetry(), k, shared, &mut budget)?;
            let before: Vec<&[u32]> = before.iter().map(Vec::as_slice).collect();
            if has_other_state(self.languages(), &new, &before, &mut budget)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// Whether a tuple stands for a state for which none of the other tuples stands; `None` if the
/// budget does not suffice.
fn has_other_state(languages: &Languages, tuple: &[u32], others: &[&[u32]], budget: &mut usize) -> Option<bool> {
    if others.is_empty() {
        return Some(true);
    }
    let Some((&first, rest)) = tuple.split_first() else { return Some(false) };
    let firsts: Vec<LanguageId> = others.iter().map(|other| LanguageId(other[0])).collect();
    for class in languages.classes(LanguageId(first), &firsts, budget)? {
        let rest_of_others: Vec<&[u32]> = class.into_iter().map(|index| &others[index][1..]).collect();
        if has_other_state(languages, rest, &rest_of_others, budget)? {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use crate::squeeze::question::{Options, Question};
    use crate::squeeze::search::search_unchecked;
    use crate::statistics::Engine;
    use crate::tuning::Tuning;
    use cpds::Problem;

    /// ⟨3|a,x⟩ and ⟨3|b,x⟩ come from different contexts, and are two tuples. A third context, of A,
    /// leads to ⟨3|a∪b,x⟩. Neither of the two tuples covers it, but it has no new state.
    #[test]
    fn several_tuples_may_cover_one_together() {
        let text = "shared 0 1 2 3; init 0|p,x
            thread A { symbols p a b; (0,p) -> (1,a); (0,p) -> (2,b); (3,a) -> (3,b) }
            thread B { symbols x; (1,x) -> (3,x); (2,x) -> (3,x) }";
        let problem: Problem = text.parse().unwrap();
        for tuning in [Tuning::SMALL, Tuning::SHIPPED] {
            let options = |engine| Options { engine: Some(engine), tuning, ..Options::default() };
            let collapses = [Engine::Explicit, Engine::Symbolic].map(|engine| {
                let analysis = search_unchecked(&problem, Question::Reachable, &options(engine), |_| ());
                (analysis.lower_sequence.collapse(), analysis.collapse_of_states)
            });
            assert_eq!(collapses, [(Some(2), Some(2)), (Some(3), Some(2))]);
        }
    }
}
