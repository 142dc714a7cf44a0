//! Cycles of imports between rooms.

use std::collections::{BTreeMap, BTreeSet};

/// From each room to the rooms that it imports, with the files that import them.
pub(super) type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Returns for each import that is on a cycle a shortest such cycle, without duplicates.
pub(super) fn cycles_of(imports: &Imports) -> Vec<String> {
    let mut cycles = BTreeMap::new();
    for (from, targets) in imports {
        for to in targets.keys() {
            if let Some(back) = path(imports, to, from) {
                let rooms: BTreeSet<String> = back.iter().cloned().collect();
                let mut round = vec![from.clone()];
                round.extend(back);
                cycles.entry(rooms).or_insert(round);
            }
        }
    }
    let step = |pair: &[String]| {
        let files: Vec<&str> = imports[&pair[0]][&pair[1]].iter().map(String::as_str).collect();
        format!("{} imports {} ({})", pair[0], pair[1], files.join(", "))
    };
    cycles.values().map(|round| round.windows(2).map(step).collect::<Vec<_>>().join("; ")).collect()
}

/// Returns a shortest path of imports, with both its ends.
fn path(imports: &Imports, from: &str, to: &str) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, Option<&str>> = BTreeMap::from([(from, None)]);
    let mut wave = vec![from];
    while !wave.is_empty() && !before.contains_key(to) {
        let mut next = Vec::new();
        for room in wave {
            for target in imports.get(room).into_iter().flatten().map(|(target, _)| target.as_str()) {
                before.entry(target).or_insert_with(|| {
                    next.push(target);
                    Some(room)
                });
            }
        }
        wave = next;
    }
    let mut rooms = vec![*before.get_key_value(to)?.0];
    while let Some(Some(room)) = before.get(rooms[rooms.len() - 1]) {
        rooms.push(room);
    }
    Some(rooms.into_iter().rev().map(str::to_owned).collect())
}
