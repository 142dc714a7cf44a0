//! Perfect matchings, to compare interchangeable threads: Kuhn's algorithm with augmenting paths.

/// Assigns to each of `count` places a different one of `count` items that fits the place. Returns
/// `None` if there is no such assignment.
pub(crate) fn matching(count: usize, mut fits: impl FnMut(usize, usize) -> bool) -> Option<Vec<usize>> {
    let mut place_of: Vec<Option<usize>> = vec![None; count];
    for place in 0..count {
        // A breadth-first search for a free item. If an item is taken, its place may take another
        // item.
        let mut wanted_by: Vec<Option<usize>> = vec![None; count];
        let mut queue = vec![place];
        let mut next = 0;
        let mut free = None;
        while let Some(&at) = queue.get(next).filter(|_| free.is_none()) {
            next += 1;
            for item in 0..count {
                if wanted_by[item].is_none() && fits(at, item) {
                    wanted_by[item] = Some(at);
                    let Some(other) = place_of[item] else {
                        free = Some(item);
                        break;
                    };
                    queue.push(other);
                }
            }
        }
        let mut item = free?;
        loop {
            let at = wanted_by[item].expect("it was reached");
            let before = place_of.iter().position(|&other| other == Some(at));
            place_of[item] = Some(at);
            match before {
                Some(before) => item = before,
                None => break,
            }
        }
    }
    let mut chosen = vec![0; count];
    for (item, place) in place_of.into_iter().enumerate() {
        chosen[place.expect("each item has a place")] = item;
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_order_fits(fits: &[Vec<bool>], place: usize, used: &mut [bool]) -> bool {
        place == fits.len()
            || (0..fits.len()).any(|item| {
                if used[item] || !fits[place][item] {
                    return false;
                }
                used[item] = true;
                let fits_rest = some_order_fits(fits, place + 1, used);
                used[item] = false;
                fits_rest
            })
    }

    proptest! {
        #[test]
        fn a_matching_is_found_if_there_is_one(fits in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 5)) {
            let assignment = matching(5, |place, item| fits[place][item]);
            prop_assert_eq!(assignment.is_some(), some_order_fits(&fits, 0, &mut [false; 5]));
            if let Some(chosen) = assignment {
                let mut items = chosen.clone();
                items.sort_unstable();
                prop_assert_eq!(items, [0, 1, 2, 3, 4]);
                prop_assert!(chosen.iter().enumerate().all(|(place, &item)| fits[place][item]));
            }
        }
    }
}
