//! Whether S_k stands for more states than S_{k-1}.
//!
//! A tuple of S_k that no tuple of S_{k-1} covers may still be covered by several of them together.
//! So S_k growing does not mean that R_k grows, and where (R_k) collapses, (S_k) may collapse
//! later. What several tuples cover together is found out one component after the other: the words
//! of the first fall into classes by which of the tuples have them, and for each class the other
//! components must be covered by those tuples.

use crate::automata::language_table::{LanguageId, Languages};
use crate::symbolic::levels::Symbolic;

/// How many automaton states may be looked at.
const EFFORT: usize = 1 << 20;

impl Symbolic<'_> {
    /// The least k with R_k = R, if S_k stopped growing at `collapse`. Nothing if finding out takes
    /// too long.
    pub fn collapse_of_states(&self, collapse: usize) -> Option<usize> {
        let mut k = collapse;
        while k > 0 && !self.visible().grew(k) && !self.states_grew(k)? {
            k -= 1;
        }
        Some(k)
    }

    /// Whether R_k \ R_{k-1} has any states.
    fn states_grew(&self, k: usize) -> Option<bool> {
        let mut effort = EFFORT;
        for (shared, new) in self.of_level(k)? {
            let before = self.of_levels_before(k, shared, &mut effort)?;
            let before: Vec<&[u32]> = before.iter().map(Vec::as_slice).collect();
            if has_more(&self.languages, &new, &before, &mut effort)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn listed_tuple(&self, id: usize) -> (u32, Vec<u32>) {
        let (layout, row) = (self.tuples.layout(), self.tuples.row(id));
        (layout.shared(row), layout.locals(row).collect())
    }

    /// The tuples of level k, if they are not too many.
    fn of_level(&self, k: usize) -> Option<Vec<(u32, Vec<u32>)>> {
        let Some(drawn) = &self.drawn else { return Some(self.range(k).map(|id| self.listed_tuple(id)).collect()) };
        let mut all = Vec::new();
        for shared in drawn.shared(k) {
            all.extend(drawn.tuples(k..=k, shared, EFFORT)?.into_iter().map(|tuple| (shared, tuple)));
        }
        Some(all)
    }

    /// The tuples of the levels before k with this shared state, permuted in every way.
    fn of_levels_before(&self, k: usize, shared: u32, effort: &mut usize) -> Option<Vec<Vec<u32>>> {
        if let Some(drawn) = &self.drawn {
            let all = drawn.tuples(0..k, shared, *effort)?;
            *effort = effort.checked_sub(all.iter().map(Vec::len).sum())?;
            return Some(all);
        }
        let mut before = Vec::new();
        for (_, other) in (0..self.range(k).start).map(|id| self.listed_tuple(id)).filter(|(q, _)| *q == shared) {
            let orbit = usize::try_from(self.symmetry.orbit(&other)?).ok()?;
            *effort = effort.checked_sub(orbit.checked_mul(other.len())?)?;
            before.extend(self.symmetry.members(other));
        }
        Some(before)
    }
}

/// Whether a tuple has a state that none of the others has.
fn has_more(languages: &Languages, tuple: &[u32], others: &[&[u32]], effort: &mut usize) -> Option<bool> {
    if others.is_empty() {
        return Some(true);
    }
    let Some((&first, rest)) = tuple.split_first() else { return Some(false) };
    let of_others: Vec<LanguageId> = others.iter().map(|other| LanguageId(other[0])).collect();
    for class in languages.classes(LanguageId(first), &of_others, effort)? {
        let having: Vec<&[u32]> = class.into_iter().map(|index| &others[index][1..]).collect();
        if has_more(languages, rest, &having, effort)? {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use crate::squeeze::question::{Options, Question};
    use crate::squeeze::search::search;
    use crate::statistics::Engine;
    use crate::tuning::Tuning;
    use cpds::Problem;

    /// ⟨3|a,x⟩ and ⟨3|b,x⟩ come from different contexts, and are two tuples; with a third context A
    /// makes one of them, which neither of the two covers, and nothing new.
    #[test]
    fn several_tuples_may_cover_one_together() {
        let text = "shared 0 1 2 3; init 0|p,x
            thread A { symbols p a b; (0,p) -> (1,a); (0,p) -> (2,b); (3,a) -> (3,b) }
            thread B { symbols x; (1,x) -> (3,x); (2,x) -> (3,x) }";
        let problem: Problem = text.parse().unwrap();
        for tuning in [Tuning::SMALL, Tuning::SHIPPED] {
            let options = |engine| Options { engine: Some(engine), tuning, ..Options::default() };
            let collapses = [Engine::Explicit, Engine::Symbolic].map(|engine| {
                let found = search(&problem, Question::Reachable, &options(engine), |_| ());
                (found.lower_sequence.collapse(), found.collapse_of_states)
            });
            assert_eq!(collapses, [(Some(2), Some(2)), (Some(3), Some(2))]);
        }
    }
}
