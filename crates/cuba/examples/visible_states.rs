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
    let levels = answer.analysis.level_store.visible();
    for level in &answer.analysis.levels {
        let new: Vec<String> = levels.states(level.k).iter().map(|state| system.paper(state).to_string()).collect();
        println!("T(R_{}) has {} states; new: {}", level.k, level.visible, new.join(" "));
    }
    let visible = levels.up_to(answer.analysis.k());
    println!("T(R) has {} states", visible.len());
    let tuples = certificate.map_or(0, |certificate| certificate.tuples().len());
    println!("T(R) = T(R_{}), by a certificate with {tuples} tuples", answer.analysis.k());
    Ok(())
}
