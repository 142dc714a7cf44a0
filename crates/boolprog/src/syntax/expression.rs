//! Expressions of a Boolean program.

use super::{At, Name};

/// An expression, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub at: At,
}

impl From<ExprKind> for Expr {
    fn from(kind: ExprKind) -> Self {
        Expr { kind, at: At::default() }
    }
}

impl Expr {
    /// A variable.
    pub fn variable(name: &str) -> Self {
        ExprKind::Variable(name.into()).into()
    }

    /// What is true where this is false.
    #[must_use]
    pub fn negated(self) -> Self {
        ExprKind::Not(Box::new(self)).into()
    }

    /// Two sides and an operator.
    #[must_use]
    pub fn with(self, operator: Operator, other: Self) -> Self {
        ExprKind::Binary(operator, Box::new(self), Box::new(other)).into()
    }

    /// True where all of these are: a tree that is not deep, however many there are.
    pub fn all(exprs: impl IntoIterator<Item = Self>) -> Self {
        balanced(exprs.into_iter().collect(), Operator::And, true)
    }

    /// True where one of these is, likewise.
    pub fn any(exprs: impl IntoIterator<Item = Self>) -> Self {
        balanced(exprs.into_iter().collect(), Operator::Or, false)
    }
}

/// All of these together, and a constant if there are none.
fn balanced(mut exprs: Vec<Expr>, operator: Operator, of_none: bool) -> Expr {
    while exprs.len() > 1 {
        let mut rest = exprs.into_iter();
        exprs = Vec::new();
        while let Some(a) = rest.next() {
            exprs.push(match rest.next() {
                Some(b) => a.with(operator, b),
                None => a,
            });
        }
    }
    exprs.pop().unwrap_or_else(|| ExprKind::Constant(of_none).into())
}

/// The shapes of an expression.
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

/// The operators with two sides, from loosest to tightest.
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
    /// How it is written.
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

    /// How tightly it binds; `=` and `!=` alike.
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

    /// What it computes.
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
