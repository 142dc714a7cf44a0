//! The oracle on the paper's own benchmark systems, if the machine has them.

use cpds_testing::artifact::{BenchmarkSystem, SYSTEMS, names};
use cpds_testing::corpus::artifact;
use cpds_testing::oracle::levels;

#[test]
fn the_oracle_finds_the_expected_figures_of_the_artifact() {
    let small = || SYSTEMS.iter().filter(|system| system.small);
    let Some(folder) = artifact(&names(small())) else { return };
    for system @ &BenchmarkSystem { file, visible, collapse, bug, .. } in small() {
        let problem = system.read(&folder);
        let found = levels(problem.system(), collapse + 1, 100);
        assert!(found.exact, "{file}");
        let counts = found.visible_counts();
        assert_eq!(counts[collapse..], [visible, visible], "{file}: |T(R)|");
        assert!(counts[collapse - 1] < visible, "{file}: T(R_k) grows until {collapse}");
        assert_eq!(found.first_violation(&problem), bug, "{file}");
    }
}
