//! The words of a command, and the values that they stand for: what a user can say.
//!
//! In: the options of a verb, as `clap` reads them. Out: models, options of a search, limits,
//! files. What the verbs do with these is not here.

pub(crate) mod checkpoint;
pub(crate) mod cluster;
pub(crate) mod evidence;
pub(crate) mod limits;
pub(crate) mod model;
pub(crate) mod pictures;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod values;

/// Headings of groups of options. The options of the output have none of their own.
pub(crate) mod heading {
    pub(crate) const MODEL: &str = "Model";
    pub(crate) const SEARCH: &str = "Search";
    pub(crate) const LIMITS: &str = "Limits";
    pub(crate) const CLUSTER: &str = "Many processes";
    pub(crate) const EVIDENCE: &str = "Evidence";
    pub(crate) const PICTURES: &str = "Pictures";
}
