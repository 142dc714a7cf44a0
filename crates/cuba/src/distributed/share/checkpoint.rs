//! Saves and restores one share between two levels.
//!
//! Between levels no block is in transit, so the shares of one level are a complete checkpoint. All
//! shares are restored together. Each sender then sends its stacks again, and each receiver numbers
//! them again.

use crate::distributed::protocol::messages::Reply;
use crate::distributed::share::Share;
use crate::encoding::{StorageError, read, write};
use crate::explicit::partition::owner::PartId;
use crate::explicit::partition::wire_format::Reader;
use crate::explicit::reachable::{Reachable, SavedReachable};
use std::io::{Read, Write};

/// The storage for the shares of a process.
pub trait ShareStore: Send + Sync {
    /// Saves a part after level k: `write` writes its content. Removes the earlier checkpoints of
    /// this part, except for that of level `complete`.
    fn save(
        &self,
        part: usize,
        k: usize,
        complete: Option<usize>,
        write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>,
    ) -> Result<(), String>;

    /// Loads the checkpoint of a part after level k: `read` reads its content.
    fn load(
        &self,
        part: usize,
        k: usize,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), StorageError>,
    ) -> Result<(), String>;
}

impl Share<'_> {
    /// Saves the share after level k. Returns `None` if level k is not the last one, or is
    /// incomplete.
    pub(super) fn save(&self, k: usize, complete: Option<usize>) -> Option<Reply> {
        let is_now = !self.reachable.has_incomplete_level() && self.reachable.k() == k;
        is_now.then(|| Reply::Storage(self.try_save(k, complete)))
    }

    fn try_save(&self, k: usize, complete: Option<usize>) -> Result<(), String> {
        let store = self.store.as_ref().ok_or("it has no store for checkpoints")?;
        store.save(self.part.part, k, complete, &|out| write(&(self.part, &self.reachable), out))
    }

    /// Restores the share that was saved after level k.
    pub(super) fn restore(&mut self, k: usize) -> Reply {
        Reply::Storage(self.try_restore(k))
    }

    fn try_restore(&mut self, k: usize) -> Result<(), String> {
        let store = self.store.clone().ok_or("it has no store for checkpoints")?;
        let mut saved: Option<(PartId, SavedReachable)> = None;
        store.load(self.part.part, k, &mut |input| {
            saved = Some(read(input)?);
            Ok(())
        })?;
        let (part, saved) = saved.ok_or("the checkpoint is empty")?;
        if part != self.part {
            return Err("the checkpoint is of another partition".to_owned());
        }
        let (system, symmetry) = (self.reachable.system().clone(), self.reachable.symmetry().has_groups());
        let reachable = Reachable::restored(Some(self.part), &system, symmetry, saved, self.tuning);
        if reachable.k() != k || reachable.has_incomplete_level() {
            return Err("the checkpoint is of another level".to_owned());
        }
        self.reported_visible = reachable.visible().kept();
        self.reachable = reachable;
        self.readers = (0..part.parts).map(|_| Reader::new(&system)).collect();
        Ok(())
    }
}
