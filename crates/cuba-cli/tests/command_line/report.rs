//! `--report` and `--plot`: the content of the files. `tests/browser` tests them in a browser.

use crate::common::{Ran, cuba, in_repository};
use cpds_testing::corpus::models;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// The data of the report's script.
fn data(page: &str) -> Value {
    let start = page.split_once(r#"<script type="application/json" id="data">"#).expect("there is data").1;
    serde_json::from_str(start.split_once("</script>").unwrap().0).expect("the data is JSON")
}

/// A state of the data, as text.
fn state(data: &Value, row: &[Value]) -> String {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let stack = |value: &Value| {
        let (mut at, mut symbols) = (number(value), Vec::new());
        while at > 0 {
            let [symbol, below] = &data["stacks"][at - 1].as_array().unwrap()[..] else { panic!("a pair") };
            symbols.push(data["symbols"][number(symbol)].as_str().unwrap());
            at = number(below);
        }
        if symbols.is_empty() { "-".to_owned() } else { symbols.join(" ") }
    };
    let stacks: Vec<String> = row[1..].iter().map(stack).collect();
    format!("{}|{}", data["shared"][number(&row[0])].as_str().unwrap(), stacks.join(","))
}

/// The states that a table lists as new at k, sorted.
fn listed(data: &Value, table: &str, k: usize) -> Vec<String> {
    let width = data["threads"].as_array().unwrap().len() + 1;
    // Empty levels at the end are not listed.
    let none = Vec::new();
    let rows = data[table]["levels"].get(k).map_or(&none, |rows| rows.as_array().unwrap());
    let mut states: Vec<String> = rows.chunks(width).map(|row| state(data, row)).collect();
    states.sort_unstable();
    states
}

fn sorted(states: &Value) -> Vec<String> {
    let mut states: Vec<String> = states.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    states.sort_unstable();
    states
}

/// For every small model, the report has the same states and the same trace as the JSON, and it
/// needs no other file.
#[test]
fn reports_have_the_data_of_the_json() {
    let folder = tempfile::tempdir().unwrap();
    let (page_path, plot_path) = (folder.path().join("r.html"), folder.path().join("p.svg"));
    let outputs = ["--report", page_path.to_str().unwrap(), "--plot", plot_path.to_str().unwrap(), "--json"];
    for model in models().into_iter().filter(|model| model.expected.visible_total < Some(1000)) {
        let arguments: Vec<&str> = model.arguments.iter().map(String::as_str).collect();
        // A few levels are enough: some models have hundreds before the overapproximation is found.
        let limits = ["--max-contexts", "9", "--max-depth", "2"];
        for verb in ["verify", "reach"] {
            let what = format!("{verb} {}", model.name);
            let states: &[&str] = if verb == "reach" { &["--states"] } else { &[] };
            let ran = in_repository(&[&[verb], &*arguments, &outputs, &limits, states].concat());
            assert!([0, 5, 10].contains(&ran.code), "{what}: {}", ran.stderr);
            let json: Value = serde_json::from_str(&ran.stdout).unwrap();
            let (page, plot) = (fs::read_to_string(&page_path).unwrap(), fs::read_to_string(&plot_path).unwrap());
            assert!(page.contains(plot.trim()), "{what}: the chart is the plot");
            assert_eq!(page.matches("<script").count(), 2, "{what}");
            // The report loads nothing: its only address is the namespace of SVG.
            let addresses = page.matches("://").count();
            assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count() + 1, "{what}");
            assert!(!plot.contains("NaN") && !plot.contains("inf"), "{what}");

            let data = data(&page);
            let sequence = json["sequence"].as_array().unwrap();
            assert_eq!(data["visible"]["is_complete"], true, "{what}");
            let complete = data["states"]["is_complete"] == true;
            let mut before = 0;
            for (k, level) in sequence.iter().enumerate() {
                let visible = level["visible"].as_u64().unwrap();
                let new = listed(&data, "visible", k);
                assert_eq!(new.len() as u64, visible - before, "{what}: k = {k}");
                before = visible;
                if verb == "reach" {
                    assert_eq!(new, sorted(&level["new_visible_states"]), "{what}: k = {k}");
                }
                if let Some(states) = level.get("new_states").filter(|_| complete) {
                    assert_eq!(listed(&data, "states", k), sorted(states), "{what}: k = {k}");
                }
            }
            let trace = &data["trace"];
            assert_eq!(trace.is_null(), json.get("trace").is_none(), "{what}");
            if let Some(told) = json.get("trace") {
                let contexts = told["contexts"].as_array().unwrap();
                let steps = contexts.iter().flat_map(|context| context["steps"].as_array().unwrap());
                let states = std::iter::once(&told["initial"]).chain(steps.map(|step| &step["state"]));
                let states: Vec<&str> = states.map(|state| state.as_str().unwrap()).collect();
                let drawn = trace["states"].as_array().unwrap().iter();
                let drawn: Vec<String> = drawn.map(|row| state(&data, row.as_array().unwrap())).collect();
                assert_eq!(drawn, states, "{what}");
                let lines: Vec<&Value> = contexts
                    .iter()
                    .flat_map(|it| it["steps"].as_array().unwrap())
                    .map(|it| &it["source"]["line"])
                    .collect();
                let marked: Vec<&Value> = trace["steps"].as_array().unwrap().iter().map(|step| &step["line"]).collect();
                assert_eq!(marked, lines, "{what}");
            }
        }
    }
}

/// Names and texts of the user are never interpreted as HTML.
#[test]
fn nothing_of_the_model_becomes_part_of_the_page() {
    let program = "// </script><script>alert(1)</script> <b>&amp; {{ 7 * 6000001 }}\ndecl x;\nvoid main() { x := 1; assert(!x); }\n";
    let folder = tempfile::tempdir().unwrap();
    let name = "<i>&'{{ file }}.bp";
    fs::write(folder.path().join(name), program).unwrap();
    let ran = cuba(folder.path(), &["verify", name, "--report", "r.html", "--plot", "p.svg"]);
    assert_eq!(ran.code, 10, "{}", ran.stderr);
    let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
    for wrong in ["<i>", "<b>", "alert(1)</script>", "42000007"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    assert_eq!(data(&page)["trace"]["source"]["text"], program);
    assert!(page.contains("<title>unsafe: &lt;i&gt;&amp;&#x27;{{ file }}.bp</title>"));
    let plot = fs::read_to_string(folder.path().join("p.svg")).unwrap();
    assert!(plot.contains("&lt;i&gt;&amp;"), "{plot}");
}

/// The report distinguishes an answer without evidence from a missing answer.
#[test]
fn the_kind_of_evidence_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.html");
    let evidence = |args: &[&str]| {
        in_repository(&[args, &["--report", path.to_str().unwrap()]].concat());
        let page = fs::read_to_string(&path).unwrap();
        let told = page.split_once("<dt>evidence</dt>\n<dd>").unwrap().1.split_once("</dd>").unwrap().0;
        told.split('<').next().unwrap().to_owned()
    };
    let fig2 = "models/paper/fig2.cpds";
    assert!(evidence(&["verify", fig2]).starts_with("certificate with "));
    assert_eq!(evidence(&["verify", fig2, "--no-check"]), "none was made (--no-check)");
    assert_eq!(evidence(&["verify", "models/squeeze/mirror.cpds", "--max-contexts", "3"]), "none: there is no answer");
    assert!(evidence(&["verify", "models/paper/fig1.cpds"]).starts_with("trace,"));
}

/// The size of a report is limited for any system, and the report names what it omits.
#[test]
fn large_reports_are_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let page = |model: &str, args: &[&str]| {
        fs::write(folder.path().join("m.cpds"), model).unwrap();
        let ran = cuba(folder.path(), &[&["reach", "m.cpds", "--max-contexts=1", "--report=r.html"], args].concat());
        assert!([0, 5].contains(&ran.code), "{}", ran.stderr);
        fs::read_to_string(folder.path().join("r.html")).unwrap()
    };
    let all = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<Vec<_>>();

    // No step is possible, but there are large automata, each small enough to be drawn alone.
    let seed = std::cell::Cell::new(1_u32);
    let random = |below: u32| {
        seed.set(seed.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        (seed.get() >> 16) % below
    };
    let action = |thread: usize, i: usize| {
        let [symbol, top, below] = [i, random(80) as usize, random(80) as usize].map(|i| format!("a{thread}_{i}"));
        let [from, to, at, next] = [4, 4, 4, 4].map(random);
        format!("({from},{symbol}) -> ({to},{top} {below})\n({at},{symbol}) -> ({next},-)\n")
    };
    let thread = |thread: usize| {
        let (symbols, actions) = (all(80, &|i| format!("a{thread}_{i}")), all(80, &|i| action(thread, i)));
        format!("thread T{thread} {{ symbols {}\n{} }}\n", symbols.join(" "), actions.concat())
    };
    let stacks = all(8, &|i| format!("a{i}_0")).join(",");
    let large = page(&format!("shared 0..4\ninit 4|{stacks}\n{}", all(8, &thread).concat()), &[]);
    let too_large = large.matches("The automaton is too large to be drawn here").count();
    assert!((1..8).contains(&too_large), "{too_large}");
    assert_eq!(
        too_large + large.matches("<summary>The automaton: ").count(),
        8,
        "each is drawn, or said to be left out"
    );

    // Many programs, each with a loop.
    let thread = |i: usize| format!("thread T{i} {{ symbols a b{i}; (0,a) -> (0,a b{i}) }}\n");
    let many = page(&format!("shared 0 1\ninit 1|a*60\n{}", all(60, &thread).concat()), &[]);
    assert_eq!(many.matches(": there is a loop, but no thread reaches it</h3>").count(), 50);
    assert!(many.contains("10 more programs left out; <code>cuba show --psa</code>"));
}

/// Two runs give the same report, except for times.
#[test]
fn reports_are_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.html");
    let report = || {
        in_repository(&["verify", "models/paper/fig2.cpds", "--report", path.to_str().unwrap()]);
        let page = fs::read_to_string(&path).unwrap();
        let varies = page.split("varies\">").map(|part| part.split_once('<').map_or(part, |(_, rest)| rest));
        varies.collect::<Vec<_>>().join("")
    };
    let first = report();
    assert!(first.contains("accepted by the independent checker"));
    assert_eq!(first, report());
}

#[test]
fn where_they_go() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(cpds_testing::corpus::repository().join("models/paper/fig1.cpds"), folder.path().join("fig1.cpds"))
        .unwrap();
    let ran = |args: &[&str]| {
        let Ran { code, stdout, stderr } = cuba(folder.path(), &[&["reach", "fig1.cpds"], args].concat());
        format!("{code}: {}\n{stderr}", stdout.lines().last().unwrap_or("").split(':').next().unwrap())
    };
    assert_snapshot!(ran(&["--report", "fig1.cpds"]), @r"
    1: 
    error: `fig1.cpds` is an input; write to another file
    ");
    assert_snapshot!(ran(&["--plot", "./fig1.cpds"]), @r"
    1: 
    error: `./fig1.cpds` is an input; write to another file
    ");
    assert_snapshot!(ran(&["--plot", "p.svg", "--report", "p.svg"]), @r"
    1: 
    error: `p.svg` is given for two outputs
    ");
    assert_snapshot!(ran(&["--plot", "p.svg", "--report", "r.html.gz"]), @"0: converged");
    assert!(fs::read_to_string(folder.path().join("p.svg")).unwrap().starts_with("<svg"));
    assert!(
        fs::read(folder.path().join("r.html.gz")).unwrap().starts_with(&[0x1f, 0x8b]),
        "compressed, by its extension"
    );
}
