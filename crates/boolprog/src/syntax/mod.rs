//! The syntax tree of a Boolean program (docs/boolean-programs.md), for both dialects.
//!
//! In: declarations, functions and statements, from the parser or from code. Out: the tree, which
//! the printer and the lowering read.
//!
//! Names are not resolved. Two trees are equal if the programs are equal; positions in the text and
//! statement ids do not count.
//!
//! The parser builds trees from text. A front end may also build them in code. Then no part needs a
//! position ([`At::default`]), and [`lower`](crate::lower) prints the tree.

mod expression;
pub(crate) mod limits;

pub(crate) use expression::balanced;
pub use expression::{Expr, ExprKind, Operator};

use cpds::diagnostic::Span;

/// The two dialects. They differ in brackets, and in whether `T` and `F` are constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `{ … }`, as in the paper's Fig. 6.
    Paper,
    /// `begin … end`, as in SLAM, SatAbs, Boppo and Boom.
    Slam,
}

/// The position of a part of the tree in its text. Any two positions are equal, so that positions
/// do not count when trees are compared.
#[derive(Clone, Copy, Debug)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl Eq for At {}

/// No position yet.
impl Default for At {
    fn default() -> Self {
        At(Span { source: 0, start: 0, end: 0 })
    }
}

/// A name and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its place.
    pub at: At,
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name { text: text.to_owned(), at: At::default() }
    }
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The dialect in which it is written.
    pub dialect: Dialect,
    /// The variables declared at the top level: shared or thread-local.
    pub variables: Vec<Variable>,
    /// The functions, in the order of the text.
    pub functions: Vec<Function>,
}

/// The declaration of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The name of the variable.
    pub name: Name,
    /// Whether each thread has its own copy. Only allowed at the top level.
    pub is_thread_local: bool,
    /// The initial value. `None` is any value.
    pub value: Option<bool>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The number of its results.
    pub results: usize,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// Its other local variables.
    pub locals: Vec<Variable>,
    /// Conditions that are assumed before and after each of its statements.
    pub enforce: Vec<Expr>,
    /// Its statements.
    pub body: Vec<Statement>,
    /// The place of the bracket at its end.
    pub end: At,
}

/// The id of a statement: a number without a meaning in this crate. Each step of a trace has it
/// ([`SourceStep::statement`](crate::SourceStep::statement)).
///
/// The parser numbers the statements of a text in order, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct StatementId(pub u32);

/// A statement with its labels.
#[derive(Clone, Eq, Debug)]
pub struct Statement {
    /// Its id. It does not count when statements are compared.
    pub id: StatementId,
    /// Its labels.
    pub labels: Vec<Name>,
    /// Its kind.
    pub kind: StatementKind,
    /// Its place without labels. The place of a compound statement is that of its head.
    pub at: At,
    /// The place in another program that it was made from, if a comment gives it.
    pub origin: Option<Origin>,
}

impl Statement {
    /// Creates a statement without labels.
    pub fn new(id: StatementId, kind: StatementKind) -> Self {
        Statement { id, labels: Vec::new(), kind, at: At::default(), origin: None }
    }
}

impl PartialEq for Statement {
    fn eq(&self, Statement { id: _, labels, kind, at: _, origin }: &Self) -> bool {
        self.labels == *labels && self.kind == *kind && self.origin == *origin
    }
}

/// A place in the program from which a Boolean program was made: `// file main.c line 12`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// The kinds of statements.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the grammar's words; docs/boolean-programs.md says what they mean")]
pub enum StatementKind {
    Skip,
    Goto(Vec<Name>),
    Assume(Expr),
    AbortIf(Expr),
    Assert(Expr),
    Assign {
        targets: Vec<Target>,
        values: Vec<Expr>,
        constrain: Option<Expr>,
    },
    Call {
        targets: Vec<Target>,
        function: Name,
        arguments: Vec<Expr>,
    },
    Return(Vec<Expr>),
    Dead(Vec<Name>),
    Lock(Option<Name>),
    Unlock(Option<Name>),
    /// Also `thread_create`, and a call labelled `ASYNC_…`.
    StartThread {
        function: Name,
        arguments: Vec<Expr>,
    },
    StartGoto(Name),
    EndThread,
    AtomicBegin,
    AtomicEnd,
    If {
        condition: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    /// `atomic` with its block. `end` is the place of the closing bracket.
    Atomic {
        body: Vec<Statement>,
        end: At,
    },
}

/// The target of an assignment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A variable.
    Variable(Name),
    /// `_`: the value is discarded.
    Nothing(At),
}
