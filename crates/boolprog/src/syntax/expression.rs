//! Expressions of a Boolean program.

use super::{At, Name};

/// An expression and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its place.
    pub at: At,
}

impl From<ExprKind> for Expr {
    fn from(kind: ExprKind) -> Self {
        Expr { kind, at: At::default() }
    }
}

impl Expr {
    /// Creates an expression that is a variable.
    pub fn variable(name: &str) -> Self {
        ExprKind::Variable(name.into()).into()
    }

    /// Negates this expression.
    #[must_use]
    pub fn negated(self) -> Self {
        ExprKind::Not(Box::new(self)).into()
    }

    /// Joins this expression and another one by an operator.
    #[must_use]
    pub fn with(self, operator: Operator, other: Self) -> Self {
        ExprKind::Binary(operator, Box::new(self), Box::new(other)).into()
    }

    /// Joins all expressions by conjunctions, as a balanced tree.
    pub fn all(exprs: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(exprs, Operator::And, true)
    }

    /// Joins all expressions by disjunctions, as a balanced tree.
    pub fn any(exprs: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(exprs, Operator::Or, false)
    }

    /// Joins all expressions by an operator. The result for no expression is the constant
    /// `of_none`.
    fn joined(exprs: impl IntoIterator<Item = Self>, operator: Operator, of_none: bool) -> Self {
        let joined = balanced(exprs.into_iter().collect(), |a: Self, b| a.with(operator, b));
        joined.unwrap_or_else(|| ExprKind::Constant(of_none).into())
    }
}

/// Joins all items by `join`, as a balanced tree. Returns nothing for no item.
pub(crate) fn balanced<T>(mut items: Vec<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    while items.len() > 1 {
        let mut rest = items.into_iter();
        items = Vec::new();
        while let Some(a) = rest.next() {
            items.push(match rest.next() {
                Some(b) => join(a, b),
                None => a,
            });
        }
    }
    items.pop()
}

/// The kinds of expressions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the grammar's words")]
pub enum ExprKind {
    Constant(bool),
    /// `*`
    Choice,
    Variable(Name),
    /// `'x`
    Primed(Name),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    IfElse(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `schoose[a,b]`
    Schoose(Box<Expr>, Box<Expr>),
}

/// The binary operators, in ascending order of strength.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Operator {
    Iff,
    Implies,
    Or,
    Xor,
    And,
    Equal,
    NotEqual,
}

impl Operator {
    /// Returns the sign of the operator.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Iff => "<=>",
            Operator::Implies => "=>",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::And => "&",
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
        }
    }

    /// Returns the binding strength of the operator. `=` and `!=` have the same strength.
    pub fn strength(self) -> u8 {
        match self {
            Operator::Iff => 1,
            Operator::Implies => 2,
            Operator::Or => 3,
            Operator::Xor => 4,
            Operator::And => 5,
            Operator::Equal | Operator::NotEqual => 6,
        }
    }

    /// Applies the operator to two operands.
    pub fn apply(self, a: bool, b: bool) -> bool {
        match self {
            Operator::Iff | Operator::Equal => a == b,
            Operator::Implies => !a || b,
            Operator::Or => a || b,
            Operator::Xor | Operator::NotEqual => a != b,
            Operator::And => a && b,
        }
    }
}
