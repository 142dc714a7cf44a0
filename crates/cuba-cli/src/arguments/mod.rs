//! The options of the command line: what a user can choose.
//!
//! In: the options of a verb, as `clap` reads them. Out: models, options for the library, limits
//! and names of files. The verbs use these.

pub(crate) mod checkpoint;
pub(crate) mod cluster;
pub(crate) mod evidence;
pub(crate) mod limits;
pub(crate) mod model;
pub(crate) mod pictures;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod values;

/// Headings of the groups of options in the help.
pub(crate) mod heading {
    pub(crate) const MODEL: &str = "Model";
    pub(crate) const SEARCH: &str = "Search";
    pub(crate) const LIMITS: &str = "Limits";
    pub(crate) const CLUSTER: &str = "Many processes";
    pub(crate) const EVIDENCE: &str = "Evidence";
    pub(crate) const PICTURES: &str = "Pictures";
}
