//! Labels of pictures, broken into short lines.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The longest line of a label, in columns of a font of fixed width.
const MAX_WIDTH: usize = 20;
const MAX_LINES: usize = 3;

/// Lists labels in short lines. Omits labels that do not fit into the last line.
pub(crate) fn wrapped(labels: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (i, label) in labels.iter().enumerate() {
        let word = shortened(label) + if i + 1 < labels.len() { "," } else { "" };
        let full = lines.len() == MAX_LINES;
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= MAX_WIDTH => line.extend([" ", &word]),
            Some(line) if full => {
                *line += " …";
                break;
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Cuts off the end of a name that is too long.
pub(crate) fn shortened(name: &str) -> String {
    if name.width() <= MAX_WIDTH {
        return name.to_owned();
    }
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width < MAX_WIDTH
    };
    name.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_wrapped_and_cut() {
        let labels = |count: usize| (0..count).map(|i| format!("label{i}")).collect::<Vec<_>>();
        assert_eq!(wrapped(&labels(3)), ["label0, label1,", "label2"]);
        assert_eq!(wrapped(&labels(9)), ["label0, label1,", "label2, label3,", "label4, label5, …"]);
        assert_eq!(wrapped(&[]), [""; 0]);
        assert_eq!(shortened(&"x".repeat(20)), "x".repeat(20));
        assert_eq!(shortened(&"x".repeat(21)), "x".repeat(19) + "…");
        assert_eq!(shortened(&"語".repeat(11)), "語".repeat(9) + "…");
    }
}
