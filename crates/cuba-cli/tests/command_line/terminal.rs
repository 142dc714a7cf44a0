//! The output on a terminal. `script` makes a pseudo-terminal, and `vt100` computes its screen.

use crate::common::{Ran, cuba, cuba_with, in_repository, words};
use cpds::print_cpds;
use cpds_testing::corpus::repository;
use cpds_testing::families::Recursion;
use cpds_testing::skipped::{has_faults, skip};
use insta::assert_snapshot;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROWS: u16 = 40;

/// Runs `cuba` on a terminal of this kind and width. Returns the bytes written to it, or `None` if
/// there is no terminal.
fn on_terminal(term: &str, columns: u16, folder: &Path, args: &str) -> Option<String> {
    on_terminal_with("", term, columns, folder, args)
}

/// Runs `cuba` on a terminal, with a fault.
fn on_terminal_with(fault: &str, term: &str, columns: u16, folder: &Path, args: &str) -> Option<String> {
    let cuba = env!("CARGO_BIN_EXE_cuba");
    let command = format!("stty cols {columns} rows {ROWS}; exec '{cuba}' {args}");
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(folder);
    // If `CI` is set, every terminal counts as one with colours.
    script
        .env("CUBA_FAULT", fault)
        .env("TERM", term)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CI");
    match script.output() {
        Ok(output) if cfg!(target_os = "linux") => Some(String::from_utf8(output.stdout).expect("cuba prints UTF-8")),
        _ => {
            skip("there is no `script` of util-linux to make a terminal");
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
        assert_eq!(most, 3, "no line is wrapped, and no line is left");
        let lines = screen(columns, &written);
        assert!(lines[0].starts_with("k "), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains(" kept") || line.contains(" elapsed")), "{lines:#?}");
    }
    for (term, args) in [("xterm", "reach large.cpds --timeout 1s --quiet"), ("dumb", "reach large.cpds --timeout 1s")]
    {
        let written = on_terminal(term, 80, folder.path(), args).expect("there is a terminal");
        assert!(written.contains("|R_k|") && !written.contains(" elapsed"), "{args}: {written:?}");
    }
}

/// After a panic, even in the thread that draws, no progress is left on the screen.
#[test]
fn progress_is_gone_after_a_panic() {
    if !has_faults() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let large = Recursion { threads: 4, depth: 5, shared: 10 };
    fs::write(folder.path().join("large.cpds"), print_cpds(&large.problem())).unwrap();
    let args = "reach large.cpds --timeout 60s";
    let Some(written) = on_terminal_with("panic:progress", "xterm", 200, folder.path(), args) else { return };
    assert!(written.contains(" elapsed"), "it was drawn: {written:?}");
    let lines = screen(200, &written);
    assert!(lines[0].starts_with("error: this is a mistake in cuba itself"), "{lines:#?}");
    assert!(
        lines[1].starts_with("note: the file `cuba-panic-1.json` has everything that a report needs"),
        "{lines:#?}"
    );
    assert_eq!(lines.len(), 2, "{lines:#?}");
}

/// The output with colours, without a terminal. ␛ marks where a colour begins or ends.
fn coloured(args: &[&str]) -> String {
    cuba_with(&repository(), &[("CLICOLOR_FORCE", "1")], args).stdout.replace('\x1b', "␛")
}

#[test]
fn threads_changes_and_verdicts_have_colours() {
    assert_snapshot!(coloured(&["verify", "models/paper/fig1.cpds"]), @"
                           ⟨0|1,4⟩
    ␛[1m␛[36mcontext 1: P1␛[0m
      ␛[36mf1: (0,1) → (1,2)␛[0m    ⟨␛[1m1␛[0m|␛[1m␛[36m2␛[0m,4⟩
    ␛[1m␛[35mcontext 2: P2␛[0m
      ␛[35mb2: (1,4) → (2,5)␛[0m    ⟨␛[1m2␛[0m|2,␛[1m␛[35m5␛[0m⟩
      ␛[35mb3: (2,5) → (3,4 6)␛[0m  ⟨␛[1m3␛[0m|2,␛[1m␛[35m4 6␛[0m⟩
    ␛[1m␛[36mcontext 3: P1␛[0m
      ␛[36mf2: (3,2) → (0,1)␛[0m    ⟨␛[1m0␛[0m|␛[1m␛[36m1␛[0m,4 6⟩
    ␛[1m␛[35mcontext 4: P2␛[0m
      ␛[35mb1: (0,4) → (0,ε)␛[0m    ⟨0|1,␛[1m␛[35m6␛[0m⟩

    ␛[1m␛[31munsafe␛[0m: the bad state ⟨0|1,6⟩ is reachable with 4 contexts, and with no fewer
    ");
    assert_snapshot!(coloured(&["verify", "models/table2/peterson-broken.bp"]), @"
    models/table2/peterson-broken.bp
    ␛[1m␛[35mcontext 1: second␛[0m
      ␛[2m30␛[0m  ␛[35msecond␛[0m  while (*)                yes
      ␛[2m31␛[0m  ␛[35msecond␛[0m  turn2 := 0               ␛[1mturn2 = 0␛[0m
    ␛[1m␛[36mcontext 2: first␛[0m
      ␛[2m18␛[0m  ␛[36mfirst ␛[0m  while (*)                yes
      ␛[2m19␛[0m  ␛[36mfirst ␛[0m  turn2 := 1               ␛[1mturn2 = 1␛[0m
      ␛[2m20␛[0m  ␛[36mfirst ␛[0m  want1 := 1               ␛[1mwant1 = 1␛[0m
      ␛[2m21␛[0m  ␛[36mfirst ␛[0m  assume(!want2 | !turn2)
      ␛[2m22␛[0m  ␛[36mfirst ␛[0m  assert(!busy)
      ␛[2m23␛[0m  ␛[36mfirst ␛[0m  busy := 1                ␛[1mbusy = 1␛[0m
    ␛[1m␛[35mcontext 3: second␛[0m
      ␛[2m32␛[0m  ␛[35msecond␛[0m  want2 := 1               ␛[1mwant2 = 1␛[0m
      ␛[2m33␛[0m  ␛[35msecond␛[0m  assume(!want1 | turn2)
      ␛[2m34␛[0m  ␛[35msecond␛[0m  assert(!busy)            ␛[1m␛[31mfails␛[0m

    ␛[1m␛[31munsafe␛[0m: `assert(!busy)` at models/table2/peterson-broken.bp:34 in second fails with 3 contexts, and with no fewer
    ");
    assert_snapshot!(coloured(&["reach", "models/tiny/stutter.cpds", "--states"]), @r"
    ␛[1mk  |R_k|  new  |T(R_k)|  new  |T(R)| ≤␛[0m
    0      1    1         1    1         4  by matched-Z
    1      2    1         2    1         4  T(R_k) stutters at 1
    2      3    1         2    0         4
    3      4    1         2    0         4
    4      5    1         2    0         4
    5      6    1         3    1         4
    6      7    1         4    1         4  R_k collapses at 6, T(R_k) collapses at 6
    7      7    0         4    0         4

    ␛[1mk  R_k \ R_{k-1}    T(R_k) \ T(R_{k-1})␛[0m
    0  ⟨0|a a a end,b⟩  ⟨0|a,b⟩
    1  ⟨1|a a end,b⟩    ⟨1|a,b⟩
    2  ⟨0|a a end,b⟩    –
    3  ⟨1|a end,b⟩      –
    4  ⟨0|a end,b⟩      –
    5  ⟨1|end,b⟩        ⟨1|end,b⟩
    6  ⟨0|end,b⟩        ⟨0|end,b⟩
    7  –                –

    ␛[1m␛[32mconverged␛[0m: T(R) has 4 visible states and collapses at k = 6 (proved by R_6 = R_7; proof checked)
    ");
    let first = |args: &[&str]| coloured(args).lines().last().unwrap().split(':').next().unwrap().to_owned();
    assert_eq!(first(&["verify", "models/paper/fig1.cpds", "--target", "2|1,*"]), "␛[1m␛[32msafe␛[0m");
    assert_eq!(first(&["verify", "models/paper/fig1.cpds", "--max-contexts", "3"]), "␛[1m␛[33munknown␛[0m");
    assert_eq!(first(&["fcr", "models/paper/fig1.cpds"]), "␛[1m␛[32mholds␛[0m");
    assert_eq!(first(&["fcr", "models/paper/fig2.cpds"]), "␛[1m␛[31mrefuted␛[0m");
}

/// Output with colours is the same text.
const READ: [&[&str]; 6] = [
    &["verify", "models/table2/bluetooth-1.bp", "--instances", "adder=1,stopper=1"],
    &["verify", "models/paper/fig1.cpds"],
    &["verify", "models/squeeze/mirror.cpds", "--max-contexts", "9"],
    &["reach", "models/paper/fig1.cpds", "--states"],
    &["fcr", "models/paper/fig2.cpds"],
    &["show", "models/paper/fig1.cpds", "--successors", "0|1,4"],
];

#[test]
fn colours_change_no_word() {
    for args in READ {
        let plain = in_repository(args).stdout;
        assert!(!plain.contains('\x1b'), "{plain:?}");
        let run = |variables: &[(&str, &str)], more: &[&str]| {
            cuba_with(&repository(), variables, &[args, more].concat()).stdout
        };
        let coloured = run(&[], &["--color", "always"]);
        assert_eq!(run(&[("CLICOLOR_FORCE", "1")], &[]), coloured);
        assert_eq!(run(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], &[]), plain);
        assert_eq!(run(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]), plain);
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
        let json = run(&[("CLICOLOR_FORCE", "1")], &["--json"]);
        assert!(!json.contains('\x1b'), "{json}");
    }
}

#[test]
fn help_and_errors_use_the_color_option() {
    let help = |args: &[&str]| cuba_with(&repository(), &[], args).stdout.contains('\x1b');
    assert!(help(&["--help", "--color=always"]) && help(&["show", "--color", "always", "--help"]));
    assert!(!help(&["--help"]) && !help(&["--help", "--color", "never"]));
    let Ran { code, stderr, .. } = in_repository(&["show", "--color", "always"]);
    assert!(code == 1 && stderr.contains('\x1b'), "{stderr}");
    let Ran { code, stderr, .. } = in_repository(&["show", "nowhere.cpds", "--color=always"]);
    assert!(code == 2 && stderr.contains('\x1b'), "{stderr}");
    let Ran { code, stderr, .. } = in_repository(&["show", "--color", "green"]);
    assert!(code == 1 && stderr.contains("[possible values: auto, always, never]"), "{stderr}");
}

/// Twelve threads with very long names.
const WIDE: &str = "\
shared idle busy done
init idle|work*12
bad done|*,*,*,*,*,*,*,*,*,*,*,*
thread worker * 12 {
  symbols work call return_address
  start: (idle,work) -> (busy,call return_address)
  pass: (busy,call) -> (idle,-)
  back: (idle,return_address) -> (done,work)
}
";

/// Lines are cut only on a terminal. The verdict is never cut.
#[test]
fn lines_fit_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("wide.cpds"), WIDE).unwrap();
    fs::copy(repository().join("models/table2/bluetooth-1.bp"), folder.path().join("bluetooth.bp")).unwrap();
    for args in [
        "verify wide.cpds",
        "reach wide.cpds --states --max-contexts 1",
        "verify bluetooth.bp --instances adder=1,stopper=1",
    ] {
        let Some(written) = on_terminal("xterm", 60, folder.path(), args) else { return };
        let plain = anstream::adapter::strip_str(&written).to_string();
        let lines: Vec<&str> = plain.lines().collect();
        let (verdict, others) = lines.split_last().expect("there is a verdict");
        assert!(verdict.chars().count() > 60 && !verdict.contains('…'), "{verdict}");
        let shown = others.iter().filter(|line| line.starts_with("  ") || line.contains('⟨'));
        let (long, short): (Vec<&str>, Vec<&str>) = shown.partition(|line| line.chars().count() > 60);
        assert!(long.is_empty() && short.iter().any(|line| line.contains('…')), "{args}: {long:#?}");
        let dumb = on_terminal("dumb", 60, folder.path(), args).expect("there is a terminal");
        assert_eq!(dumb.replace("\r\n", "\n"), cuba(folder.path(), &words(args)).stdout, "{args}");
    }
    let trace = on_terminal("xterm", 60, folder.path(), "verify wide.cpds").expect("there is a terminal");
    assert_snapshot!(anstream::adapter::strip_str(&trace).to_string().replace('\r', ""), @"
                                    ⟨idle|work,work,work,work,w…
    context 1: worker#1
      start: (idle,work) → (busy,…  ⟨busy|call return_address,…⟩
      pass: (busy,call) → (idle,ε)  ⟨idle|return_address,…⟩
      back: (idle,return_address)…  ⟨done|work,…⟩

    unsafe: the bad state ⟨done|work,work,work,work,work,work,work,work,work,work,work,work⟩ is reachable with 1 context, and with no fewer
    ");
}
