//! The syntax tree of a Boolean program: what both dialects say (docs/boolean-programs.md).
//!
//! Names are as written, and not looked up. Two trees are equal if the programs are: where
//! something stands in its text makes no difference, nor what statements are called.
//!
//! A tree may also be built in code: nothing needs a place there ([`At::default`]), and
//! [`lower`](crate::lower) makes a text of it.

mod expression;
pub(crate) mod limits;

pub use expression::{Expr, ExprKind, Operator};

use cpds::diagnostic::Span;

/// The two ways to write a program; they differ in brackets, and in whether `T` and `F` are
/// constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `{ … }`, as in Fig. 6.
    Paper,
    /// `begin … end`, as SLAM, SatAbs, Boppo and Boom have it.
    Slam,
}

/// Where something stands. Not part of what it is: any two are equal.
#[derive(Clone, Copy, Debug)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl Eq for At {}

/// Nowhere yet.
impl Default for At {
    fn default() -> Self {
        At(Span { source: 0, start: 0, end: 0 })
    }
}

/// A name, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
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
    /// How it is written.
    pub dialect: Dialect,
    /// The variables declared at the top level: shared or thread-local.
    pub variables: Vec<Variable>,
    /// The functions, in order.
    pub functions: Vec<Function>,
}

/// A declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// What it declares.
    pub name: Name,
    /// Whether each thread has its own; at the top level only.
    pub is_thread_local: bool,
    /// What it starts with; nothing: any value.
    pub value: Option<bool>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// What it is called.
    pub name: Name,
    /// How many results it has.
    pub results: usize,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// Its other variables.
    pub locals: Vec<Variable>,
    /// What is assumed before and after each of its statements.
    pub enforce: Vec<Expr>,
    /// What it does.
    pub body: Vec<Statement>,
    /// The bracket at its end.
    pub end: At,
}

/// What a statement is called: a number that means nothing here, and comes back in each step of a
/// trace.
///
/// In a program that was read from a text, statements are numbered in the order of the text, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct StatementId(pub u32);

/// A statement with its labels.
#[derive(Clone, Eq, Debug)]
pub struct Statement {
    /// What it is called. Not part of what it is: two statements that do the same are equal.
    pub id: StatementId,
    /// Its labels.
    pub labels: Vec<Name>,
    /// What it does.
    pub kind: StatementKind,
    /// The statement as written, without labels; of a compound statement, its head.
    pub at: At,
    /// The place in another program that it comes from, if a comment says so.
    pub origin: Option<Origin>,
}

impl Statement {
    /// A statement without labels.
    pub fn new(id: StatementId, kind: StatementKind) -> Self {
        Statement { id, labels: Vec::new(), kind, at: At::default(), origin: None }
    }
}

impl PartialEq for Statement {
    fn eq(&self, Statement { id: _, labels, kind, at: _, origin }: &Self) -> bool {
        self.labels == *labels && self.kind == *kind && self.origin == *origin
    }
}

/// A place in the program that a Boolean program was made from: `// file main.c line 12`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// What a statement does.
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
    /// `atomic` with its block; `end` is the bracket behind it.
    Atomic {
        body: Vec<Statement>,
        end: At,
    },
}

/// What is assigned to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A variable.
    Variable(Name),
    /// `_`: nothing.
    Nothing(At),
}
