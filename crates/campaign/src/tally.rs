//! Counts of checks, and highest values, for the summary of a campaign.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Counts by heading and name, and highest values by name. Merging adds the counts, and takes the
/// maximum of the highest values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    counts: BTreeMap<(&'static str, String), u64>,
    highest: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Adds 1 to a count.
    pub fn count(&mut self, heading: &'static str, name: impl Into<String>) {
        self.add(heading, name, 1);
    }

    /// Adds a number to a count.
    pub fn add(&mut self, heading: &'static str, name: impl Into<String>, number: usize) {
        *self.counts.entry((heading, name.into())).or_default() += number as u64;
    }

    /// Raises a highest value.
    pub fn highest(&mut self, name: &'static str, value: usize) {
        let highest = self.highest.entry(name).or_default();
        *highest = (*highest).max(value as u64);
    }

    /// Returns a count.
    pub fn of(&self, heading: &'static str, name: &str) -> u64 {
        self.counts.get(&(heading, name.to_owned())).copied().unwrap_or(0)
    }

    /// Merges another tally into this one.
    pub fn merge(&mut self, other: Tally) {
        for (name, number) in other.counts {
            *self.counts.entry(name).or_default() += number;
        }
        for (name, value) in other.highest {
            self.highest(name, usize::try_from(value).unwrap_or(usize::MAX));
        }
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut under = "";
        for ((heading, name), number) in &self.counts {
            if *heading != under {
                writeln!(f, "{heading}")?;
                under = heading;
            }
            writeln!(f, "  {number:>10}  {name}")?;
        }
        if !self.highest.is_empty() {
            writeln!(f, "highest")?;
        }
        for (name, value) in &self.highest {
            writeln!(f, "  {value:>10}  {name}")?;
        }
        Ok(())
    }
}
