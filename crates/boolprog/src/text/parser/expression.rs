//! Parses expressions by precedence climbing.

use super::{Parsed, Parser, Reported};
use crate::syntax::{At, Expr, ExprKind, Name, Operator};
use crate::text::lexer::Token;
use cpds::diagnostic::Diagnostic;

/// The limit for the number of operators of the same strength in a row. Their tree has the same
/// depth.
const LONGEST: usize = 500;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let condition = parser.binary(1)?;
            let condition = parser.without_c_operator(condition);
            if parser.take("?").is_none() {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(":", "as in `a ? b : c`")?;
            let otherwise = parser.expression()?;
            let at = At(condition.at.0.to(otherwise.at.0));
            Ok(Expr { kind: ExprKind::IfElse(Box::new(condition), Box::new(then), Box::new(otherwise)), at })
        })
    }

    /// Reports a call inside an expression.
    pub(super) fn call_inside(&mut self, function: &Name) -> Reported {
        self.c_function(&function.text, function.at.0).unwrap_or_else(|| {
            self.mistake(|| {
                Diagnostic::error("a call inside an expression")
                    .at(function.at.0, "a call is a statement of its own")
                    .help(format!("assign its result first: `x := call {}(…);`", function.text))
            })
        })
    }

    pub(super) fn operator(&self) -> Option<Operator> {
        Some(match self.next_text() {
            "<=>" => Operator::Iff,
            "=>" => Operator::Implies,
            "|" | "||" => Operator::Or,
            "^" => Operator::Xor,
            "&" | "&&" => Operator::And,
            "=" | "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            _ => return None,
        })
    }

    /// Parses operands and operators of at least this strength.
    fn binary(&mut self, strength: u8) -> Parsed<Expr> {
        let mut left = self.prefix()?;
        let mut length = 0;
        while let Some(operator) = self.operator().filter(|operator| operator.strength() >= strength) {
            length += 1;
            if length > LONGEST {
                let here = self.here();
                return self.report(|| {
                    Diagnostic::error("an expression with too many operators in a row")
                        .at(here, format!("more than {LONGEST}"))
                        .help("use parentheses to halve it")
                });
            }
            self.at += 1;
            // Only `=>` is right-associative.
            let right = if operator == Operator::Implies {
                self.deeper(|parser| parser.binary(operator.strength()))?
            } else {
                self.deeper(|parser| parser.binary(operator.strength() + 1))?
            };
            let at = At(left.at.0.to(right.at.0));
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), at };
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        if let Some(operand) = self.c_operand() {
            return Ok(operand);
        }
        let start = self.here();
        let kind = match self.next_text() {
            "!" | "~" => {
                self.at += 1;
                ExprKind::Not(Box::new(self.deeper(Self::prefix)?))
            }
            "(" => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")", "close the parenthesis")?;
                inner.kind
            }
            "*" => {
                self.at += 1;
                ExprKind::Choice
            }
            "'" => {
                self.at += 1;
                ExprKind::Primed(self.name("a variable")?)
            }
            "schoose" => {
                self.at += 1;
                self.expect("[", "as in `schoose[a,b]`")?;
                let a = self.expression()?;
                self.expect(",", "as in `schoose[a,b]`")?;
                let b = self.expression()?;
                self.expect("]", "as in `schoose[a,b]`")?;
                ExprKind::Schoose(Box::new(a), Box::new(b))
            }
            word => match (self.is_constant(word), self.peek()) {
                (Some(value), _) => {
                    self.at += 1;
                    ExprKind::Constant(value)
                }
                (None, Some(Token::Word)) => {
                    let name = self.name("an expression")?;
                    if self.next_text() == "(" {
                        self.call_inside(&name);
                        return Ok(self.skip_expression(start));
                    }
                    ExprKind::Variable(name)
                }
                _ => {
                    return Err(
                        self.expected("an expression", "a variable, `0`, `1`, `*`, or an expression in parentheses")
                    );
                }
            },
        };
        Ok(Expr { kind, at: At(start.to(self.last())) })
    }
}
