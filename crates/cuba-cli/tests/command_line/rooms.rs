//! Checks that the imports between the folders of this crate have no cycle.

use cpds_testing::rooms::cycles;
use std::fs;
use std::path::Path;

#[test]
fn no_cycle_of_imports() {
    let cycles = cycles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}

#[test]
fn a_cycle_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "use crate::a::X;");
    write("a/mod.rs", "use crate::b::X;\n// use crate::c::X;\nfn f() { $crate::c; other_crate::c }");
    write("b/mod.rs", "use crate::b::Y;\n#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}\n");
    write("c/d/e.rs", "use crate::{\n    a::{self, b},\n};\nfn f() { crate::b::g() }");
    assert_eq!(cycles(folder.path()), [""; 0]);
    write("b/f.rs", "use crate::{b, c as d};");
    let found = [
        "a imports b (a/mod.rs); b imports c (b/f.rs); c imports a (c/d/e.rs)",
        "b imports c (b/f.rs); c imports b (c/d/e.rs)",
    ];
    assert_eq!(cycles(folder.path()), found);
}
