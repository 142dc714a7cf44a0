//! Faults on purpose, to test what becomes of them.
//!
//! With `CUBA_FAULT=panic:PLACE`, the first thread that comes to that place panics. With
//! `CUBA_FAULT=hang:PLACE` it says so and stays there, whatever happens; with
//! `CUBA_FAULT=grow:PLACE` it allocates more and more memory, too. A release build has no faults.

use crate::running::console::Console;
use crate::running::run::Run;
use cuba::checkpoint::CheckpointWriter;
use cuba::{Side, StorageError};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, thread};

/// The fault that is wanted, if there is one.
#[derive(Default)]
pub(crate) struct Faults {
    wanted: Option<String>,
    has_happened: AtomicBool,
}

impl Faults {
    /// What the environment asks for; in a debug build only.
    pub(crate) fn from_environment() -> Self {
        let wanted = if cfg!(debug_assertions) { env::var("CUBA_FAULT").ok() } else { None };
        Faults { wanted, ..Self::default() }
    }

    /// A place where there may be a fault.
    pub(crate) fn at(&self, place: &str, console: &Console) {
        if cfg!(debug_assertions)
            && let Some((fault, wanted)) = self.wanted.as_ref().and_then(|wanted| wanted.split_once(':'))
            && wanted == place
            && !self.has_happened.swap(true, Ordering::Relaxed)
        {
            match fault {
                "panic" => panic!("a fault on purpose: {place}"),
                "hang" | "grow" => {
                    console.remark("held\n");
                    let mut taken = Vec::new();
                    loop {
                        if fault == "grow" {
                            taken.push(vec![1_u8; 2 << 20]);
                        }
                        thread::sleep(Duration::from_millis(10));
                    }
                }
                _ => {}
            }
        }
    }
}

impl Run {
    /// An end of the search begins in this thread.
    pub(crate) fn fault_of_search(&self, end: Side) {
        self.fault(if end == Side::Upper { "upper end" } else { "lower end" });
    }

    /// For a search without a checkpoint, if a fault is wanted: faults at the beginning of its
    /// ends.
    pub(crate) fn fault_keeper(&self) -> Option<FaultKeeper<'_>> {
        self.faults.wanted.is_some().then_some(FaultKeeper(self))
    }
}

/// Saves nothing.
pub(crate) struct FaultKeeper<'r>(&'r Run);

impl CheckpointWriter for FaultKeeper<'_> {
    fn begins(&self, end: Side) {
        self.0.fault_of_search(end);
    }

    fn is_due(&self, _: Side) -> bool {
        false
    }

    fn keep(&self, _: Side, _: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
        false
    }
}
