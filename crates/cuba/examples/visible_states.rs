//! Computes T(R), the visible states that are reachable with any number of contexts, level by
//! level.

use cuba::cpds::Problem;
use cuba::{Options, Verdict, reach};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem: Problem = include_str!("../../../models/paper/fig1.cpds").parse()?;
    let system = problem.system();
    let answer = reach(&problem, &Options::default())?;
    let Verdict::Converged { certificate, .. } = answer.verdict() else {
        return Err("T(R) was not computed".into());
    };
    for level in &answer.analysis.levels {
        let visible = answer.analysis.level_store.visible().states(level.k);
        let new: Vec<String> = visible.iter().map(|state| system.paper(state).to_string()).collect();
        println!("T(R_{}) has {} states; new: {}", level.k, level.visible, new.join(" "));
    }
    let tuples = certificate.map_or(0, |certificate| certificate.tuples().len());
    println!("T(R) = T(R_{}), by a certificate with {tuples} tuples", answer.analysis.k());
    Ok(())
}
