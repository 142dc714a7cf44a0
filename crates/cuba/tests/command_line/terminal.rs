//! What a terminal shows. A pseudo-terminal comes from `script`, and what it shows of the output from `vt100`.

use cpds::print_cpds;
use cpds_testing::families::Recursion;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROWS: u16 = 40;

/// Runs `cuba` on a terminal of this kind and width; what was written to it. Nothing, if there is no terminal to be had.
fn on_terminal(term: &str, columns: u16, folder: &Path, args: &str) -> Option<String> {
    let cuba = env!("CARGO_BIN_EXE_cuba");
    let command = format!("stty cols {columns} rows {ROWS}; exec '{cuba}' {args}");
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(folder);
    script.env("TERM", term).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    match script.output() {
        Ok(output) if cfg!(target_os = "linux") => Some(String::from_utf8(output.stdout).expect("cuba prints UTF-8")),
        _ => {
            eprintln!("skipped: there is no `script` of util-linux to make a terminal");
            None
        }
    }
}

/// The lines on the screen, without empty ones.
fn screen(columns: u16, written: &str) -> Vec<String> {
    let size = [ROWS, columns].map(|size| size.try_into().expect("there is room"));
    let mut terminal = vt100::Parser::new(size[0], size[1], 0);
    terminal.process(written.as_bytes());
    terminal.screen().rows(0, columns).filter(|line| !line.is_empty()).collect()
}

#[test]
fn progress_is_drawn_and_gone() {
    let folder = tempfile::tempdir().unwrap();
    let large = Recursion { threads: 4, depth: 5, shared: 10 };
    fs::write(folder.path().join("large.cpds"), print_cpds(&large.problem())).unwrap();
    for columns in [50, 120] {
        let Some(written) = on_terminal("xterm", columns, folder.path(), "reach large.cpds --timeout 2s") else {
            return;
        };
        let drawn: Vec<&str> = written.split("\x1b[J").collect();
        assert!(drawn.len() > 3, "it is drawn again and again: {written:?}");
        let shown = (2..drawn.len()).map(|number| screen(columns, &drawn[..number].join("\x1b[J")));
        let mut most = 0;
        for lines in shown {
            assert!(lines.last().unwrap().contains(" elapsed"), "{lines:#?}");
            most = most.max(lines.len());
        }
        assert_eq!(most, 3, "no line is wrapped, and none is left behind");
        let lines = screen(columns, &written);
        assert!(lines[0].starts_with("k "), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains(" kept") || line.contains(" elapsed")), "{lines:#?}");
    }
    for (term, args) in [("xterm", "reach large.cpds --timeout 1s --quiet"), ("dumb", "reach large.cpds --timeout 1s")]
    {
        let written = on_terminal(term, 80, folder.path(), args).expect("there is a terminal");
        assert!(written.starts_with("k ") && !written.contains(" elapsed"), "{args}: {written:?}");
    }
}
