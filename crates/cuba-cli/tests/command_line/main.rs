//! Tests of the whole command line: every verb on the models of the collection, and every kind of
//! bad input. Bad input gives exit code 2 and nothing on standard output.

mod bad_files;
mod bad_pds;
mod bad_programs;
mod bad_text;
mod bench;
mod book;
mod c_habits;
mod checkpoint;
mod cluster;
mod common;
mod convert;
mod corpora;
mod docs;
mod evidence;
mod faults;
mod fcr;
mod generate;
mod hostile;
mod in_process;
mod limits;
mod markdown;
mod outputs;
mod pictures;
mod printable;
mod programs;
mod reach;
mod report;
mod rooms;
mod show;
mod squeeze;
mod terminal;
mod threads;
mod usage;
mod verify;
mod words;
