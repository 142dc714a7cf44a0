//! The checker depends on the vocabulary, and on no code that finds evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

#[test]
fn the_engines_are_not_among_the_dependencies() {
    // Packages for other platforms may be absent.
    let version = Command::new("rustc").arg("-vV").output().expect("rustc starts").stdout;
    let version = String::from_utf8(version).expect("a text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc -vV prints the host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let list = |value: &serde_json::Value| value.as_array().expect("a list").clone();
    // The dependencies of each package, except for tests.
    let mut names = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        names.insert(text(&package["id"]), text(&package["name"]));
    }
    let mut leads_to = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let is_normal = |dep: &serde_json::Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let deps: Vec<String> =
            list(&node["deps"]).iter().filter(|dep| is_normal(dep)).map(|dep| text(&dep["pkg"])).collect();
        leads_to.insert(text(&node["id"]), deps);
    }
    let id_of = |wanted: &str| names.iter().find(|(_, name)| *name == wanted).expect("a package").0.clone();
    let direct: BTreeSet<&str> = leads_to[&id_of("cpds-check")].iter().map(|id| names[id].as_str()).collect();
    assert_eq!(direct, BTreeSet::from(["cpds", "serde", "serde_json"]));
    let (mut all, mut open) = (BTreeSet::new(), vec![id_of("cpds-check")]);
    while let Some(id) = open.pop() {
        if all.insert(names[&id].clone()) {
            open.extend(leads_to[&id].iter().cloned());
        }
    }
    assert!(!all.contains("cuba"), "{all:?}");
    assert!(all.contains("cpds"));
}
