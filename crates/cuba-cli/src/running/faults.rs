//! Injected faults, for tests.
//!
//! With `CUBA_FAULT=panic:PLACE`, the first thread that reaches that place panics. With
//! `CUBA_FAULT=hang:PLACE`, it prints `held` and hangs. With `CUBA_FAULT=grow:PLACE`, it also
//! allocates more and more memory. A release build has no faults.

use crate::running::console::Console;
use crate::running::run::Run;
use cuba::checkpoint::CheckpointWriter;
use cuba::{Side, StorageError};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, thread};

/// The fault to inject, if any.
#[derive(Default)]
pub(crate) struct Faults {
    wanted: Option<String>,
    has_happened: AtomicBool,
}

impl Faults {
    /// Reads the fault that `CUBA_FAULT` names. A release build has none.
    pub(crate) fn from_environment() -> Self {
        let wanted = if cfg!(debug_assertions) { env::var("CUBA_FAULT").ok() } else { None };
        Faults { wanted, ..Self::default() }
    }

    /// Injects the fault if it is for this place.
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
    /// Injects a fault where this thread begins the lower or the upper search.
    pub(crate) fn fault_of_search(&self, side: Side) {
        self.fault(if side == Side::Upper { "upper search" } else { "lower search" });
    }

    /// Creates a checkpoint writer that injects faults at the beginning of both searches. A search
    /// without a checkpoint uses it.
    pub(crate) fn fault_writer(&self) -> Option<FaultWriter<'_>> {
        self.faults.wanted.is_some().then_some(FaultWriter(self))
    }
}

/// A checkpoint writer that saves nothing, and only injects faults.
pub(crate) struct FaultWriter<'r>(&'r Run);

impl CheckpointWriter for FaultWriter<'_> {
    fn begins(&self, side: Side) {
        self.0.fault_of_search(side);
    }

    fn is_due(&self, _: Side) -> bool {
        false
    }

    fn save(&self, _: Side, _: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
        false
    }
}
