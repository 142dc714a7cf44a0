//! The oracle on the paper's own benchmark systems, where they are at hand.

use cpds_testing::artifact::{KNOWN, Known, names};
use cpds_testing::corpus::artifact;
use cpds_testing::oracle::levels;

#[test]
fn the_oracle_agrees_with_what_is_known_of_the_artifact() {
    let small = || KNOWN.iter().filter(|known| known.small);
    let Some(folder) = artifact(&names(small())) else { return };
    for known @ &Known { file, visible, collapse, bug, .. } in small() {
        let problem = known.read(&folder);
        let found = levels(problem.system(), collapse + 1, 100);
        assert!(found.exact, "{file}");
        let counts = found.visible_counts();
        assert_eq!(counts[collapse..], [visible, visible], "{file}: |T(R)|");
        assert!(counts[collapse - 1] < visible, "{file}: T(R_k) grows until {collapse}");
        assert_eq!(found.first_violation(&problem), bug, "{file}");
    }
}
