//! Perfect matchings, for comparing interchangeable threads: by augmenting paths (Kuhn).

/// For each of `count` places a different one of `count` things that fits it, if there is such a
/// choice.
pub(crate) fn matching(count: usize, mut fits: impl FnMut(usize, usize) -> bool) -> Option<Vec<usize>> {
    let mut place_of: Vec<Option<usize>> = vec![None; count];
    for place in 0..count {
        // A breadth-first search for a free thing, over things whose place could use another one.
        let mut wanted_by: Vec<Option<usize>> = vec![None; count];
        let mut queue = vec![place];
        let mut next = 0;
        let mut free = None;
        while let Some(&at) = queue.get(next).filter(|_| free.is_none()) {
            next += 1;
            for thing in 0..count {
                if wanted_by[thing].is_none() && fits(at, thing) {
                    wanted_by[thing] = Some(at);
                    let Some(other) = place_of[thing] else {
                        free = Some(thing);
                        break;
                    };
                    queue.push(other);
                }
            }
        }
        let mut thing = free?;
        loop {
            let at = wanted_by[thing].expect("it was reached");
            let before = place_of.iter().position(|&other| other == Some(at));
            place_of[thing] = Some(at);
            match before {
                Some(before) => thing = before,
                None => break,
            }
        }
    }
    let mut chosen = vec![0; count];
    for (thing, place) in place_of.into_iter().enumerate() {
        chosen[place.expect("every thing has one")] = thing;
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_order_fits(fits: &[Vec<bool>], place: usize, used: &mut [bool]) -> bool {
        place == fits.len()
            || (0..fits.len()).any(|thing| {
                if used[thing] || !fits[place][thing] {
                    return false;
                }
                used[thing] = true;
                let found = some_order_fits(fits, place + 1, used);
                used[thing] = false;
                found
            })
    }

    proptest! {
        #[test]
        fn a_matching_is_found_if_there_is_one(fits in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 5)) {
            let found = matching(5, |place, thing| fits[place][thing]);
            prop_assert_eq!(found.is_some(), some_order_fits(&fits, 0, &mut [false; 5]));
            if let Some(chosen) = found {
                let mut things = chosen.clone();
                things.sort_unstable();
                prop_assert_eq!(things, [0, 1, 2, 3, 4]);
                prop_assert!(chosen.iter().enumerate().all(|(place, &thing)| fits[place][thing]));
            }
        }
    }
}
