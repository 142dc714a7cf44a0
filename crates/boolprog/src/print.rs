//! Writing a program in its dialect. Reading it back gives an equal syntax tree.

use crate::syntax::{
    Dialect, Expr, ExprKind, Function, Name, Operator, Program, Statement, StatementKind, Target, Variable,
};
use std::fmt::Write as _;

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { out: String::new(), dialect: program.dialect, indent: 0 };
    for variable in &program.variables {
        printer.variable(variable);
    }
    for function in &program.functions {
        printer.out.push('\n');
        printer.function(function);
    }
    printer.out
}

struct Printer {
    out: String,
    dialect: Dialect,
    indent: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            writeln!(self.out, "{:width$}{text}", "", width = 2 * self.indent).expect("writing to a string");
        }
    }

    /// The word of the paper's dialect, or that of the other one.
    fn word<'a>(&self, paper: &'a str, slam: &'a str) -> &'a str {
        match self.dialect {
            Dialect::Paper => paper,
            Dialect::Slam => slam,
        }
    }

    fn variable(&mut self, Variable { name, is_thread_local, value }: &Variable) {
        let thread_local = if *is_thread_local { "thread_local " } else { "" };
        let value = value.map_or(String::new(), |value| format!(" := {}", u8::from(value)));
        self.line(&format!("decl {thread_local}{}{value};", name.text));
    }

    fn function(&mut self, function: &Function) {
        let result = match function.results {
            0 => "void".to_owned(),
            1 => "bool".to_owned(),
            more => format!("bool<{more}>"),
        };
        let head = format!("{result} {}({})", function.name.text, names(&function.parameters));
        self.line(&format!("{head} {}", self.word("{", "begin")));
        self.indent += 1;
        function.locals.iter().for_each(|variable| self.variable(variable));
        for expr in &function.enforce {
            self.line(&format!("enforce {};", expression(expr)));
        }
        self.indent -= 1;
        self.block(&function.body);
        self.line(self.word("}", "end"));
    }

    fn block(&mut self, body: &[Statement]) {
        self.indent += 1;
        for statement in body {
            self.statement(statement);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        if let Some(origin) = &statement.origin {
            self.line(&format!("// file {} line {}", origin.file, origin.line));
        }
        let labels: Vec<_> = statement.labels.iter().map(|label| format!("{}: ", label.text)).collect();
        let labels = labels.concat();
        match &statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                let (open, close) = (self.word(") {", " then"), self.word("}", "fi;"));
                self.line(&format!("{labels}if {}{}{open}", self.word("(", ""), expression(condition)));
                self.block(then);
                if !otherwise.is_empty() {
                    self.line(self.word("} else {", "else"));
                    self.block(otherwise);
                }
                self.line(close);
            }
            StatementKind::While { condition, body } => {
                let (open, close) = (self.word(") {", " do"), self.word("}", "od;"));
                self.line(&format!("{labels}while {}{}{open}", self.word("(", ""), expression(condition)));
                self.block(body);
                self.line(close);
            }
            StatementKind::Atomic { body, .. } => {
                self.line(&format!("{labels}atomic {}", self.word("{", "begin")));
                self.block(body);
                self.line(self.word("}", "end;"));
            }
            simple => self.line(&format!("{labels}{};", simple_statement(simple))),
        }
    }
}

fn simple_statement(kind: &StatementKind) -> String {
    let lock = |name: &Option<Name>| name.as_ref().map_or(String::new(), |name| format!("({})", name.text));
    match kind {
        StatementKind::Skip => "skip".to_owned(),
        StatementKind::Goto(labels) => format!("goto {}", names(labels)),
        StatementKind::Assume(expr) => format!("assume({})", expression(expr)),
        StatementKind::AbortIf(expr) => format!("abortif({})", expression(expr)),
        StatementKind::Assert(expr) => format!("assert({})", expression(expr)),
        StatementKind::Assign { targets, values, constrain } => {
            let constrain = constrain.as_ref().map_or(String::new(), |expr| format!(" constrain {}", expression(expr)));
            format!("{}{}{constrain}", assigned(targets), expressions(values))
        }
        StatementKind::Call { targets, function, arguments } => {
            format!("{}call {}({})", assigned(targets), function.text, expressions(arguments))
        }
        StatementKind::Return(values) if values.is_empty() => "return".to_owned(),
        StatementKind::Return(values) => format!("return {}", expressions(values)),
        StatementKind::Dead(variables) => format!("dead {}", names(variables)),
        StatementKind::Lock(name) => format!("lock{}", lock(name)),
        StatementKind::Unlock(name) => format!("unlock{}", lock(name)),
        StatementKind::StartThread { function, arguments } => {
            format!("start_thread {}({})", function.text, expressions(arguments))
        }
        StatementKind::StartGoto(label) => format!("start_thread goto {}", label.text),
        StatementKind::EndThread => "end_thread".to_owned(),
        StatementKind::AtomicBegin => "atomic_begin".to_owned(),
        StatementKind::AtomicEnd => "atomic_end".to_owned(),
        StatementKind::If { .. } | StatementKind::While { .. } | StatementKind::Atomic { .. } => {
            unreachable!("not a simple statement")
        }
    }
}

fn names(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// `x, _ := `, or nothing.
fn assigned(targets: &[Target]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    let target = |target: &Target| match target {
        Target::Variable(name) => name.text.clone(),
        Target::Nothing(_) => "_".to_owned(),
    };
    targets.iter().map(target).collect::<Vec<_>>().join(", ") + " := "
}

fn expressions(exprs: &[Expr]) -> String {
    exprs.iter().map(expression).collect::<Vec<_>>().join(", ")
}

/// An expression, with the parentheses that it needs.
pub(crate) fn expression(expr: &Expr) -> String {
    /// How tightly an expression binds: an operator's strength, looser or tighter.
    fn strength(expr: &Expr) -> u8 {
        match &expr.kind {
            ExprKind::IfElse(..) => 0,
            ExprKind::Binary(operator, ..) => operator.strength(),
            _ => 7,
        }
    }
    let within = |expr: &Expr, least: u8| {
        let text = expression(expr);
        if strength(expr) < least { format!("({text})") } else { text }
    };
    match &expr.kind {
        ExprKind::Constant(value) => u8::from(*value).to_string(),
        ExprKind::Choice => "*".to_owned(),
        ExprKind::Variable(name) => name.text.clone(),
        ExprKind::Primed(name) => format!("'{}", name.text),
        ExprKind::Not(inner) => format!("!{}", within(inner, 7)),
        ExprKind::Binary(operator, a, b) => {
            let own = operator.strength();
            let (left, right) = if *operator == Operator::Implies { (own + 1, own) } else { (own, own + 1) };
            format!("{} {} {}", within(a, left), operator.sign(), within(b, right))
        }
        ExprKind::IfElse(a, b, c) => format!("{} ? {} : {}", within(a, 1), within(b, 1), expression(c)),
        ExprKind::Schoose(a, b) => format!("schoose[{}, {}]", expression(a), expression(b)),
    }
}
