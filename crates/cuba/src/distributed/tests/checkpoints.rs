//! A run that resumes from a checkpoint gives the same results. A wrong checkpoint is an error.

use crate::Fcr;
use crate::distributed::coordinator::Shares;
use crate::distributed::share::checkpoint::ShareStore;
use crate::distributed::single_process::SingleProcess;
use crate::distributed::tests::exploration::{ExplorationLimits, explore_and_resume, explore_in_shares};
use crate::distributed::tests::problems;
use crate::encoding::{read, write};
use crate::tuning::Tuning;
use cpds::Problem;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// The checkpoints of all shares in memory, by part and level.
#[derive(Default)]
pub(super) struct MemoryStore(Mutex<BTreeMap<(usize, usize), Vec<u8>>>);

impl ShareStore for MemoryStore {
    fn save(
        &self,
        part: usize,
        k: usize,
        complete: Option<usize>,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        let mut all = self.0.lock().unwrap();
        all.retain(|&(other, level), _| other != part || Some(level) == complete);
        all.insert((part, k), bytes);
        Ok(())
    }

    fn load(&self, part: usize, k: usize, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> Result<(), String> {
        let bytes = self.0.lock().unwrap().get(&(part, k)).cloned().ok_or("there is no checkpoint")?;
        read(&mut &*bytes).map_err(|error| error.to_string())
    }
}

/// Shares that resume from a checkpoint give the same results as one run without an interruption.
#[test]
fn a_resumed_run_gives_the_same_results() {
    proptest!(ProptestConfig::with_cases(200), |(
        problem in problems(), symmetry: bool, parts in 1_usize..=4, seed: u64, after in 1_usize..4,
    )| {
        if Fcr::new(problem.system()).holds() == Some(true) {
            let limits = ExplorationLimits { contexts: 5, states: 2000 };
            let (whole, counters) = explore_in_shares(&problem, symmetry, (parts, seed), limits);
            let (resumed, later) = explore_and_resume(&problem, symmetry, (parts, seed), limits, Some(after));
            prop_assert_eq!(&resumed, &whole);
            prop_assert_eq!((later.kept, later.expansions), (counters.kept, counters.expansions));
        }
    });
}

/// Shares without a checkpoint, or with another number of parts, do not resume.
#[test]
fn a_missing_checkpoint_is_an_error() {
    let problem: Problem = include_str!("../../../../../models/paper/fig1.cpds").parse().unwrap();
    let system = problem.system();
    let store: Arc<dyn ShareStore> = Arc::new(MemoryStore::default());
    let supersteps = SingleProcess::with_store(system, true, (2, 0), Some(&store), Tuning::SMALL);
    let mut shares = Shares::new(system, true, supersteps, Tuning::SMALL).unwrap();
    shares.advance(&mut |_| ControlFlow::<()>::Continue(())).unwrap();
    let mut bytes = Vec::new();
    write(&shares, &mut bytes).unwrap();
    let restored = |parts, store| {
        let supersteps = SingleProcess::with_store(system, true, (parts, 0), store, Tuning::SMALL);
        let restored = Shares::restored(system, true, supersteps, read(&mut &*bytes).unwrap(), Tuning::SMALL);
        restored.err().map(|why| why.to_string())
    };
    assert_eq!(restored(2, Some(&store)).unwrap(), "part 0 cannot go on: there is no checkpoint");
    shares.save().unwrap();
    assert_eq!(restored(2, Some(&store)), None);
    assert_eq!(restored(2, None).unwrap(), "part 0 cannot go on: it has no store for checkpoints");
    assert_eq!(restored(3, Some(&store)).unwrap(), "part 0 cannot go on: there were 2 parts, and now there are 3");
}
