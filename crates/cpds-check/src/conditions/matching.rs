//! Bipartite matching within a group: can each item of one side get an item of the other side?

/// Whether each row of a square matrix of bits can get a column of its own in which it has a bit.
pub(super) fn can_be_matched(fits: &[Vec<bool>]) -> bool {
    fn place(row: usize, fits: &[Vec<bool>], tried: &mut [bool], taken: &mut [Option<usize>]) -> bool {
        for column in 0..fits.len() {
            if fits[row][column] && !std::mem::replace(&mut tried[column], true) {
                let is_free = taken[column].is_none_or(|other| place(other, fits, tried, taken));
                if is_free {
                    taken[column] = Some(row);
                    return true;
                }
            }
        }
        false
    }
    let mut taken = vec![None; fits.len()];
    (0..fits.len()).all(|row| place(row, fits, &mut vec![false; fits.len()], &mut taken))
}

/// Two lists of languages without their common elements. Removing them is allowed, because a
/// language can always be matched with itself: if L ⊆ M and K ⊆ L, then K ⊆ M.
pub(super) fn without_common(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut rest_a, mut rest_b) = (Vec::new(), b.to_vec());
    for language in a {
        match rest_b.iter().position(|other| other == language) {
            Some(place) => drop(rest_b.remove(place)),
            None => rest_a.push(*language),
        }
    }
    (rest_a, rest_b)
}
