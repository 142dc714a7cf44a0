//! Tests of the search for cycles of imports. The crates `cpds-testing` and `cpds-models` have no
//! such cycle.

use cpds_testing::corpus::repository;
use cpds_testing::rooms::{Sources, cycles, cycles_in};

fn found<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
    let sources: Sources = files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    cycles_in(&sources)
}

#[test]
fn imports_between_rooms_have_no_cycle() {
    for name in ["testing", "models"] {
        let cycles = cycles(&repository().join("crates").join(name).join("src"));
        assert!(cycles.is_empty(), "{}", cycles.join("\n"));
    }
}

#[test]
fn a_cycle_is_found_and_named() {
    let mut files = [
        ("lib.rs", "mod a; mod b; mod c;\nuse crate::a::X;"),
        ("a/mod.rs", "use crate::b::X;\n// use crate::c::X;\nfn f() { $crate::c; other_crate::c }"),
        ("b/mod.rs", "mod f;\nuse crate::b::Y;\n#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}\n"),
        ("b/f.rs", ""),
        ("c/mod.rs", "use crate::{\n    a::{self, b},\n};\nfn f() { crate::b::g() }"),
    ];
    assert_eq!(found(files), [""; 0]);
    files[3].1 = "use crate::{b, c as d};";
    let cycles = [
        "a imports b (a/mod.rs); b imports c (b/f.rs); c imports a (c/mod.rs)",
        "b imports c (b/f.rs); c imports b (c/mod.rs)",
    ];
    assert_eq!(found(files), cycles);
}

#[test]
fn a_folder_and_its_subfolder_may_not_import_each_other() {
    let cycle = ["a imports a/b (a/x.rs); a/b imports a (a/b/y.rs)"];
    let downward = ["use crate::a::b::y::Y;", "use super::b::{self, y::*};", "fn f() { super::b::y::f::<u8>() }"];
    let upward = ["use crate::a::{x::X};", "pub(crate) use super::super::x;", "type X = <super::super::x::X as T>::X;"];
    for (down, up) in downward.iter().flat_map(|down| upward.map(|up| (*down, up))) {
        let found = |x, y| {
            found([
                ("a/mod.rs", "mod b; mod x;"),
                ("a/x.rs", x),
                ("a/b/mod.rs", "pub(in crate::a) mod y;"),
                ("a/b/y.rs", y),
            ])
        };
        assert_eq!(found(down, ""), [""; 0], "{down}");
        assert_eq!(found("", up), [""; 0], "{up}");
        assert_eq!(found(down, up), cycle, "{down} {up}");
    }
}

#[test]
fn a_front_file_imports_the_modules_that_its_own_code_names() {
    let found = |front| found([("a/mod.rs", front), ("a/b/mod.rs", "pub use super::X;")]);
    let cycle = ["a imports a/b (a/mod.rs); a/b imports a (a/b/mod.rs)"];
    for front in [
        "mod b; use b::Y;",
        "mod b; fn f() { b::Y }",
        "mod b; mod c { use super::b::Y; }",
        "use self::b::Y;",
        "pub use b::Y; fn f(y: Y) {}",
    ] {
        assert_eq!(found(front), cycle, "{front}");
    }
    for front in ["mod b; pub use b::Y;", "mod b; pub(crate) use self::b::{Y, Z};", "mod b; fn f() { c::b::Y }"] {
        assert_eq!(found(front), [""; 0], "{front}");
    }
}

#[test]
fn a_path_to_a_reexported_name_leads_to_its_definition() {
    let files = |b| {
        found([
            ("lib.rs", "mod a; pub use a::X;"),
            ("a/mod.rs", "pub use b::X; struct Y;"),
            ("a/c.rs", "use super::b;"),
            ("a/b/mod.rs", b),
        ])
    };
    assert_eq!(files("use crate::{X as Z, a::X as Y};"), [""; 0]);
    let cycle = ["a imports a/b (a/c.rs); a/b imports a (a/b/mod.rs)"];
    assert_eq!(files("use crate::a::Y;"), cycle);
    let files =
        [("lib.rs", "mod a; pub use a::{Y as X};"), ("a.rs", "pub use crate::b::f;"), ("b.rs", "fn f() { crate::X }")];
    assert_eq!(found(files), ["a.rs imports b.rs (a.rs); b.rs imports a.rs (b.rs)"]);
}

#[test]
fn a_file_beside_a_folder_with_its_name_belongs_to_the_folder() {
    let files = [("a/b.rs", "use b::c::X;"), ("a/b/c.rs", "use super::Y;"), ("a/d.rs", "use super::b::Y;")];
    assert_eq!(found(files), [""; 0]);
    // A folder with tests alone is no room.
    let files = [("a/b.rs", "use super::c::X;"), ("a/b/tests.rs", "use super::*;"), ("a/c.rs", "use super::b::Y;")];
    assert_eq!(found(files), [""; 0]);
}

#[test]
fn only_code_imports() {
    let a = r##"
        /* crate::b */
        const TEXTS: [&str; 3] = ["\" crate::b::X", r#"" crate::b "#, "{"];
        fn f<'a>(x: &'a impl Fn() -> X + use<'a>) { ['"', '\'', '{', '\u{7b}']; $crate::b::x; c::crate_::b }
        mod tests { const TEXT: &str = "{"; use crate::b::X; fn f() { crate::b::x } }
        "##;
    let found = |a| found([("a.rs", a), ("b.rs", "use crate::a::X;")]);
    assert_eq!(found(a), [""; 0]);
    let a = format!("{a} fn f() {{ crate::b::x }}");
    assert_eq!(found(&a), ["a.rs imports b.rs (a.rs); b.rs imports a.rs (b.rs)"]);
}
