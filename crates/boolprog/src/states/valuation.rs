//! Valuations: values of variables, of which some are open, and the values of expressions.
//!
//! A variable that may have any value stays open until a step reads it. Then the step chooses a
//! value, and the variable keeps it. So a valuation with open variables stands for all valuations
//! that agree with it on the other variables, and each of these valuations is possible ([design
//! note](../../../../docs/design/009-programs-as-systems.md)).

use super::NumberSet;
use crate::graph::{Formula, Var};

/// Values of Boolean variables. An open variable is false in `values`, so equal valuations have
/// equal fields.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Valuation {
    chosen: NumberSet,
    values: NumberSet,
}

impl Valuation {
    pub(crate) fn get(&self, number: usize) -> Option<bool> {
        self.chosen.contains(number).then(|| self.values.contains(number))
    }

    pub(crate) fn set(&mut self, number: usize, value: Option<bool>) {
        if value.is_some() {
            self.chosen.insert(number);
        } else {
            self.chosen.remove(number);
        }
        if value == Some(true) {
            self.values.insert(number);
        } else {
            self.values.remove(number);
        }
    }

    /// Returns the variables that are not open.
    pub(crate) fn chosen(&self) -> &NumberSet {
        &self.chosen
    }

    /// Returns the values of the variables in the mask. All others are open.
    pub(crate) fn masked(&self, mask: &NumberSet) -> Valuation {
        Valuation { chosen: self.chosen.intersection(mask), values: self.values.intersection(mask) }
    }

    /// Returns the values of the first `count` variables. All others are open.
    pub(crate) fn first(&self, count: usize) -> Valuation {
        if count == 0 { Valuation::default() } else { self.masked(&NumberSet::first(count)) }
    }

    /// Copies this valuation, with the first `count` variables of `other`.
    pub(crate) fn with_first(&self, count: usize, other: &Valuation) -> Valuation {
        if count == 0 {
            return self.clone();
        }
        let first = NumberSet::first(count);
        let either = |own: &NumberSet, other: &NumberSet| own.difference(&first).union(&other.intersection(&first));
        Valuation { chosen: either(&self.chosen, &other.chosen), values: either(&self.values, &other.values) }
    }

    /// Returns the heap memory in bytes, as if no copy shared it.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.chosen.heap_bytes() + self.values.heap_bytes()
    }
}

impl FromIterator<Option<bool>> for Valuation {
    fn from_iter<I: IntoIterator<Item = Option<bool>>>(values: I) -> Self {
        let mut bits = Valuation::default();
        values.into_iter().enumerate().for_each(|(number, value)| bits.set(number, value));
        bits
    }
}

/// The variables that a step can read and write: the shared ones, and those of the topmost frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Store {
    pub(crate) shared: Valuation,
    pub(crate) local: Valuation,
}

impl Store {
    pub(crate) fn get(&self, variable: Var) -> Option<bool> {
        match variable {
            Var::Shared(number) => self.shared.get(number),
            Var::Local(number) => self.local.get(number),
        }
    }

    pub(crate) fn set(&mut self, variable: Var, value: Option<bool>) {
        match variable {
            Var::Shared(number) => self.shared.set(number, value),
            Var::Local(number) => self.local.set(number, value),
        }
    }

    /// Runs `step` on this store. If `step` needs an open variable, runs it on the two stores in
    /// which this variable has a value instead.
    pub(crate) fn cases(&self, step: &mut impl FnMut(&Store) -> Result<(), Stop>) -> Result<(), Cutoff> {
        match step(self) {
            Ok(()) => Ok(()),
            Err(Stop::Cutoff) => Err(Cutoff),
            Err(Stop::Open(variable)) => [false, true].into_iter().try_for_each(|value| {
                let mut store = self.clone();
                store.set(variable, Some(value));
                store.cases(step)
            }),
        }
    }
}

/// A computation needs the value of this variable, which is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OpenVariable(pub(crate) Var);

/// No further case is tried: one case was enough, or there are too many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cutoff;

/// Why a case ends early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Open(Var),
    Cutoff,
}

impl From<OpenVariable> for Stop {
    fn from(OpenVariable(variable): OpenVariable) -> Self {
        Stop::Open(variable)
    }
}

impl From<Cutoff> for Stop {
    fn from(Cutoff: Cutoff) -> Self {
        Stop::Cutoff
    }
}

/// The values that an expression can have. Each `*` is a separate choice. So the parts of an
/// expression are independent once the variables are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PossibleValues {
    pub(crate) no: bool,
    pub(crate) yes: bool,
}

impl PossibleValues {
    const BOTH: PossibleValues = PossibleValues { no: true, yes: true };

    fn only(value: bool) -> PossibleValues {
        PossibleValues { no: !value, yes: value }
    }

    /// Returns the value, if there is only one.
    pub(crate) fn value(self) -> Option<bool> {
        (self.no != self.yes).then_some(self.yes)
    }

    fn values(self) -> impl Iterator<Item = bool> {
        [(self.no, false), (self.yes, true)].into_iter().filter_map(|(is_possible, value)| is_possible.then_some(value))
    }
}

/// Computes the values that `formula` can have. `before` has the values before an assignment,
/// `after` those after it. Fails with an open variable only if the value depends on it.
pub(crate) fn evaluate(formula: &Formula, before: &Store, after: &Store) -> Result<PossibleValues, OpenVariable> {
    let known =
        |store: &Store, variable: Var| store.get(variable).map(PossibleValues::only).ok_or(OpenVariable(variable));
    match formula {
        Formula::Constant(value) => Ok(PossibleValues::only(*value)),
        Formula::Choice => Ok(PossibleValues::BOTH),
        Formula::Variable(variable) => known(before, *variable),
        Formula::Primed(variable) => known(after, *variable),
        Formula::Not(a) => {
            evaluate(a, before, after).map(|PossibleValues { no, yes }| PossibleValues { no: yes, yes: no })
        }
        Formula::Binary(operator, a, b) => {
            let (a, b) = (evaluate(a, before, after), evaluate(b, before, after));
            // One side may decide the value.
            for (side, swap) in [(a, false), (b, true)] {
                if let Some(value) = side.ok().and_then(PossibleValues::value) {
                    let apply =
                        |other: bool| if swap { operator.apply(other, value) } else { operator.apply(value, other) };
                    if apply(false) == apply(true) {
                        return Ok(PossibleValues::only(apply(false)));
                    }
                }
            }
            let (a, b) = (a?, b?);
            let mut possible = PossibleValues { no: false, yes: false };
            for value in a.values().flat_map(|a| b.values().map(move |b| operator.apply(a, b))) {
                possible = PossibleValues { no: possible.no || !value, yes: possible.yes || value };
            }
            Ok(possible)
        }
        Formula::IfElse(condition, then, otherwise) => {
            let condition = evaluate(condition, before, after)?;
            let mut possible = PossibleValues { no: false, yes: false };
            for value in condition.values() {
                let PossibleValues { no, yes } = evaluate(if value { then } else { otherwise }, before, after)?;
                possible = PossibleValues { no: possible.no || no, yes: possible.yes || yes };
            }
            Ok(possible)
        }
        Formula::Schoose(a, b) => {
            let a = evaluate(a, before, after)?;
            if !a.no {
                return Ok(PossibleValues::only(true));
            }
            let b = evaluate(b, before, after)?;
            // If a, then true. Otherwise, if b, then false. Otherwise any value.
            Ok(PossibleValues { no: true, yes: a.yes || b.no })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Operator;

    const X: Formula = Formula::Variable(Var::Shared(0));
    const Y: Formula = Formula::Variable(Var::Local(1));

    fn store(x: Option<bool>, y: Option<bool>) -> Store {
        Store { shared: [x].into_iter().collect(), local: [None, y].into_iter().collect() }
    }

    fn both(operator: Operator, a: Formula, b: Formula) -> Formula {
        Formula::Binary(operator, Box::new(a), Box::new(b))
    }

    #[test]
    fn an_open_variable_is_asked_for_only_if_it_matters() {
        let or = both(Operator::Or, X, Y);
        let value = |x, y| evaluate(&or, &store(x, y), &store(x, y));
        assert_eq!(value(None, Some(true)), Ok(PossibleValues::only(true)));
        assert_eq!(value(Some(true), None), Ok(PossibleValues::only(true)));
        assert_eq!(value(None, Some(false)), Err(OpenVariable(Var::Shared(0))));
        assert_eq!(value(Some(false), None), Err(OpenVariable(Var::Local(1))));
    }

    #[test]
    fn every_star_is_a_choice_of_its_own() {
        let store = store(None, None);
        let not = Formula::Not(Box::new(Formula::Choice));
        assert_eq!(evaluate(&both(Operator::And, Formula::Choice, not), &store, &store), Ok(PossibleValues::BOTH));
        let x_or_not_x = both(Operator::Or, X, Formula::Not(Box::new(X)));
        let mut seen = Vec::new();
        let all = store.cases(&mut |store| {
            seen.push((store.get(Var::Shared(0)), evaluate(&x_or_not_x, store, store)?));
            Ok(())
        });
        assert_eq!(all, Ok(()));
        assert_eq!(seen, [(Some(false), PossibleValues::only(true)), (Some(true), PossibleValues::only(true))]);
    }

    #[test]
    fn schoose() {
        let value = |a, b| {
            let formula = Formula::Schoose(Box::new(a), Box::new(b));
            evaluate(&formula, &store(None, None), &store(None, None)).unwrap()
        };
        let constant = Formula::Constant;
        assert_eq!(value(constant(true), constant(true)), PossibleValues::only(true));
        assert_eq!(value(constant(false), constant(true)), PossibleValues::only(false));
        assert_eq!(value(constant(false), constant(false)), PossibleValues::BOTH);
        assert_eq!(value(Formula::Choice, constant(true)), PossibleValues::BOTH);
    }

    #[test]
    fn bits() {
        let mut bits: Valuation = [Some(true), None, Some(false)].into_iter().collect();
        assert_eq!([0, 1, 2].map(|number| bits.get(number)), [Some(true), None, Some(false)]);
        assert_eq!(bits.first(1), [Some(true)].into_iter().collect());
        assert_eq!(
            bits.with_first(2, &[None, Some(true)].into_iter().collect()),
            [None, Some(true), Some(false)].into_iter().collect()
        );
        bits.set(0, None);
        assert_eq!(bits, [None, None, Some(false)].into_iter().collect());
        assert_eq!(bits.first(64), bits);
    }
}
