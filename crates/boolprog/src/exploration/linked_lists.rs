//! Many short lists of numbers in two vectors.

/// Lists of numbers. Each list has a number, too. All items are in one vector.
#[derive(Debug, Default)]
pub(crate) struct LinkedLists {
    /// The first item of each list, and the last one.
    ends: Vec<(u32, u32)>,
    /// For each item, its number and the next item of its list.
    items: Vec<(u32, u32)>,
}

/// Marks the end of a list, and an empty list.
const NONE: u32 = u32::MAX;

impl LinkedLists {
    /// Appends a number to a list.
    pub(crate) fn push(&mut self, list: u32, number: u32) {
        let (list, item) = (list as usize, u32::try_from(self.items.len()).expect("limited"));
        if self.ends.len() <= list {
            self.ends.resize(list + 1, (NONE, NONE));
        }
        self.items.push((number, NONE));
        let ends = &mut self.ends[list];
        match ends.1 {
            NONE => ends.0 = item,
            before => self.items[before as usize].1 = item,
        }
        ends.1 = item;
    }

    /// Returns the first item of a list, if it has one.
    pub(crate) fn first(&self, list: u32) -> Option<u32> {
        let (first, _) = *self.ends.get(list as usize)?;
        (first != NONE).then_some(first)
    }

    /// Returns the number of an item, and the next item of the list.
    pub(crate) fn at(&self, item: u32) -> (u32, Option<u32>) {
        let (number, next) = self.items[item as usize];
        (number, (next != NONE).then_some(next))
    }

    pub(crate) fn iter(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.first(list);
        std::iter::from_fn(move || {
            let (number, behind) = self.at(next?);
            next = behind;
            Some(number)
        })
    }

    /// Estimates the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<(u32, u32)>() * (self.ends.capacity() + self.items.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        let mut lists = LinkedLists::default();
        for (list, number) in [(3, 7), (0, 1), (3, 5), (0, 2), (3, 7)] {
            lists.push(list, number);
        }
        let all = (0..5).map(|list| lists.iter(list).collect::<Vec<_>>()).collect::<Vec<_>>();
        assert_eq!(all, [vec![1, 2], vec![], vec![], vec![7, 5, 7], vec![]]);
    }
}
