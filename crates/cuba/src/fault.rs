//! Faults on purpose, to see what becomes of them: with `CUBA_FAULT=panic:PLACE`, whoever comes to that place first panics, with
//! `CUBA_FAULT=hang:PLACE` says so and stays there, deaf to everything, and with `CUBA_FAULT=grow:PLACE` takes more and more memory, too.
//! There are none in a release build.

use crate::cli::remark;
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
