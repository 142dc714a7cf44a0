//! Prints a program in its dialect. Parsing the text gives an equal syntax tree.

use crate::syntax::{
    At, Dialect, Expr, ExprKind, Function, Name, Operator, Program, Statement, StatementKind, Target, Variable,
};
use cpds::diagnostic::Span;
use std::fmt::Write as _;

/// Prints a program.
pub fn print(program: &Program) -> String {
    placed(program.clone()).0
}

/// Prints a program, and returns it with its places in the text, as if it had been parsed.
pub(crate) fn placed(mut program: Program) -> (String, Program) {
    let mut printer = Printer { out: String::new(), dialect: program.dialect, indent: 0 };
    for variable in &mut program.variables {
        printer.variable(variable);
    }
    for function in &mut program.functions {
        printer.out.push('\n');
        printer.function(function);
    }
    (printer.out, program)
}

struct Printer {
    out: String,
    dialect: Dialect,
    indent: usize,
}

impl Printer {
    fn here(&self) -> u32 {
        u32::try_from(self.out.len()).unwrap_or(u32::MAX)
    }

    /// Runs `write`, and stores the place of its output.
    fn at(&mut self, at: &mut At, write: impl FnOnce(&mut Self)) {
        let start = self.here();
        write(self);
        *at = At(Span { source: 0, start, end: self.here() });
    }

    fn word_at(&mut self, at: &mut At, word: &str) {
        self.at(at, |printer| printer.out.push_str(word));
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    fn end_of_line(&mut self) {
        self.out.push('\n');
    }

    /// Selects one of two words by the dialect.
    fn word<'a>(&self, paper: &'a str, slam: &'a str) -> &'a str {
        match self.dialect {
            Dialect::Paper => paper,
            Dialect::Slam => slam,
        }
    }

    fn push(&mut self, paper: &str, slam: &str) {
        let word = self.word(paper, slam);
        self.out += word;
    }

    fn name(&mut self, Name { text, at }: &mut Name) {
        self.word_at(at, text);
    }

    /// Writes items separated by commas.
    fn list<T>(&mut self, items: &mut [T], mut write: impl FnMut(&mut Self, &mut T)) {
        for (i, item) in items.iter_mut().enumerate() {
            self.out += if i == 0 { "" } else { ", " };
            write(self, item);
        }
    }

    fn variable(&mut self, Variable { name, is_thread_local, value }: &mut Variable) {
        self.indent();
        self.out += if *is_thread_local { "decl thread_local " } else { "decl " };
        self.name(name);
        self.out += match value {
            None => ";",
            Some(false) => " := 0;",
            Some(true) => " := 1;",
        };
        self.end_of_line();
    }

    fn function(&mut self, function: &mut Function) {
        match function.results {
            0 => self.out += "void ",
            1 => self.out += "bool ",
            more => write!(self.out, "bool<{more}> ").expect("writing to a string"),
        }
        self.name(&mut function.name);
        self.out.push('(');
        self.list(&mut function.parameters, Self::name);
        self.push(") {\n", ") begin\n");
        self.indent += 1;
        function.locals.iter_mut().for_each(|variable| self.variable(variable));
        for expr in &mut function.enforce {
            self.indent();
            self.out += "enforce ";
            self.expression(expr);
            self.out += ";\n";
        }
        self.indent -= 1;
        self.block(&mut function.body);
        let end = self.word("}", "end");
        self.word_at(&mut function.end, end);
        self.end_of_line();
    }

    fn block(&mut self, body: &mut [Statement]) {
        self.indent += 1;
        for statement in body {
            self.statement(statement);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, Statement { labels, kind, at, origin, .. }: &mut Statement) {
        if let Some(origin) = origin {
            self.indent();
            writeln!(self.out, "// file {} line {}", origin.file, origin.line).expect("writing to a string");
        }
        self.indent();
        for label in labels {
            self.name(label);
            self.out += ": ";
        }
        match kind {
            StatementKind::If { condition, then, otherwise } => {
                self.at(at, |printer| printer.head("if ", condition));
                self.push(" {\n", " then\n");
                self.block(then);
                if !otherwise.is_empty() {
                    self.indent();
                    self.push("} else {\n", "else\n");
                    self.block(otherwise);
                }
                self.indent();
                self.push("}", "fi;");
            }
            StatementKind::While { condition, body } => {
                self.at(at, |printer| printer.head("while ", condition));
                self.push(" {\n", " do\n");
                self.block(body);
                self.indent();
                self.push("}", "od;");
            }
            StatementKind::Atomic { body, end } => {
                self.word_at(at, "atomic");
                self.push(" {\n", " begin\n");
                self.block(body);
                self.indent();
                let bracket = self.word("}", "end");
                self.word_at(end, bracket);
                self.push("", ";");
            }
            simple => {
                self.at(at, |printer| printer.simple(simple));
                self.out.push(';');
            }
        }
        self.end_of_line();
    }

    /// Writes the head of an `if` or a `while`.
    fn head(&mut self, word: &str, condition: &mut Expr) {
        self.out += word;
        self.push("(", "");
        self.expression(condition);
        self.push(")", "");
    }

    fn simple(&mut self, kind: &mut StatementKind) {
        match kind {
            StatementKind::Skip => self.out += "skip",
            StatementKind::Goto(labels) => self.names("goto ", labels),
            StatementKind::Assume(expr) => self.of_condition("assume", expr),
            StatementKind::AbortIf(expr) => self.of_condition("abortif", expr),
            StatementKind::Assert(expr) => self.of_condition("assert", expr),
            StatementKind::Assign { targets, values, constrain } => {
                self.assigned(targets);
                self.list(values, Self::expression);
                if let Some(expr) = constrain {
                    self.out += " constrain ";
                    self.expression(expr);
                }
            }
            StatementKind::Call { targets, function, arguments } => {
                if !targets.is_empty() {
                    self.assigned(targets);
                }
                self.out += "call ";
                self.called(function, arguments);
            }
            StatementKind::Return(values) => {
                self.out += if values.is_empty() { "return" } else { "return " };
                self.list(values, Self::expression);
            }
            StatementKind::Dead(variables) => self.names("dead ", variables),
            StatementKind::Lock(name) => self.of_lock("lock", name),
            StatementKind::Unlock(name) => self.of_lock("unlock", name),
            StatementKind::StartThread { function, arguments } => {
                self.out += "start_thread ";
                self.called(function, arguments);
            }
            StatementKind::StartGoto(label) => self.names("start_thread goto ", std::slice::from_mut(label)),
            StatementKind::EndThread => self.out += "end_thread",
            StatementKind::AtomicBegin => self.out += "atomic_begin",
            StatementKind::AtomicEnd => self.out += "atomic_end",
            StatementKind::If { .. } | StatementKind::While { .. } | StatementKind::Atomic { .. } => {
                unreachable!("not a simple statement")
            }
        }
    }

    fn names(&mut self, word: &str, names: &mut [Name]) {
        self.out += word;
        self.list(names, Self::name);
    }

    /// Writes a statement with a condition: `assume(e)`.
    fn of_condition(&mut self, word: &str, expr: &mut Expr) {
        self.out += word;
        self.in_parentheses(expr);
    }

    fn of_lock(&mut self, word: &str, name: &mut Option<Name>) {
        self.out += word;
        if let Some(name) = name {
            self.out.push('(');
            self.name(name);
            self.out.push(')');
        }
    }

    fn called(&mut self, function: &mut Name, arguments: &mut [Expr]) {
        self.name(function);
        self.out.push('(');
        self.list(arguments, Self::expression);
        self.out.push(')');
    }

    /// Writes the left side of an assignment: `x, _ := `.
    fn assigned(&mut self, targets: &mut [Target]) {
        self.list(targets, |printer, target| match target {
            Target::Variable(name) => printer.name(name),
            Target::Nothing(at) => printer.word_at(at, "_"),
        });
        self.out += " := ";
    }

    /// Writes an expression in parentheses. Its place includes them.
    fn in_parentheses(&mut self, expr: &mut Expr) {
        let start = self.here();
        self.out.push('(');
        self.expression(expr);
        self.out.push(')');
        expr.at = At(Span { source: 0, start, end: self.here() });
    }

    /// Writes an operand, in parentheses if its binding strength is less than `least`.
    fn part(&mut self, expr: &mut Expr, least: u8) {
        if strength(expr) < least { self.in_parentheses(expr) } else { self.expression(expr) }
    }

    /// Writes an expression, with the necessary parentheses.
    fn expression(&mut self, Expr { kind, at }: &mut Expr) {
        self.at(at, |printer| match kind {
            ExprKind::Constant(value) => printer.out.push(if *value { '1' } else { '0' }),
            ExprKind::Choice => printer.out.push('*'),
            ExprKind::Variable(name) => printer.name(name),
            ExprKind::Primed(name) => {
                printer.out.push('\'');
                printer.name(name);
            }
            ExprKind::Not(inner) => {
                printer.out.push('!');
                printer.part(inner, 7);
            }
            ExprKind::Binary(operator, a, b) => {
                let own = operator.strength();
                let (left, right) = if *operator == Operator::Implies { (own + 1, own) } else { (own, own + 1) };
                printer.part(a, left);
                printer.out.push(' ');
                printer.out += operator.sign();
                printer.out.push(' ');
                printer.part(b, right);
            }
            ExprKind::IfElse(a, b, c) => {
                printer.part(a, 1);
                printer.out += " ? ";
                printer.part(b, 1);
                printer.out += " : ";
                printer.expression(c);
            }
            ExprKind::Schoose(a, b) => {
                printer.out += "schoose[";
                printer.expression(a);
                printer.out += ", ";
                printer.expression(b);
                printer.out.push(']');
            }
        });
    }
}

/// Returns the binding strength of an expression: that of its operator, 0 for `a ? b : c`, and 7
/// for expressions without an operator between operands.
fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::IfElse(..) => 0,
        ExprKind::Binary(operator, ..) => operator.strength(),
        _ => 7,
    }
}
