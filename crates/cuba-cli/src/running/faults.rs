//! Faults on purpose, to see what becomes of them: with `CUBA_FAULT=panic:PLACE`, whoever comes to that place first panics, with
//! `CUBA_FAULT=hang:PLACE` says so and stays there, deaf to everything, and with `CUBA_FAULT=grow:PLACE` takes more and more memory, too.
//! There are none in a release build.

use crate::verbs::command_line::remark;
use cuba::checkpoint::Keeper;
use cuba::{End, NotKept};
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, thread};

/// A place where there may be a fault.
pub(crate) fn here(place: &str) {
    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| env::var("CUBA_FAULT").ok());
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    if cfg!(debug_assertions)
        && let Some((fault, wanted)) = WANTED.as_ref().and_then(|wanted| wanted.split_once(':'))
        && wanted == place
        && !IS_OVER.swap(true, Ordering::Relaxed)
    {
        match fault {
            "panic" => panic!("a fault on purpose: {place}"),
            "hang" | "grow" => {
                remark("held\n");
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

/// An end of the search begins in this thread.
pub(crate) fn begins(end: End) {
    here(if end == End::Upper { "upper end" } else { "lower end" });
}

/// For a search without a checkpoint in a debug build: faults at the beginning of its ends.
pub(crate) fn keeper() -> Option<&'static dyn Keeper> {
    (cfg!(debug_assertions) && env::var_os("CUBA_FAULT").is_some()).then_some(&Faults)
}

struct Faults;

impl Keeper for Faults {
    fn begins(&self, end: End) {
        begins(end);
    }

    fn is_due(&self, _: End) -> bool {
        false
    }

    fn keep(&self, _: End, _: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> bool {
        false
    }
}
