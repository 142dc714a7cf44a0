//! Limits on the text of evidence: its length, and the length of each string and list in it. They
//! prevent a text from filling the memory.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use std::fmt::{self, Formatter};
use std::io::{self, Read};
use std::marker::PhantomData;

/// The largest number of bytes of a text.
const MOST_BYTES: u64 = 1 << 30;
/// The largest number of bytes of a string. A state with the highest possible stacks is shorter.
const MOST_STRING_BYTES: u64 = 1 << 24;
/// The largest number of consecutive blanks.
const MOST_BLANKS: u64 = 1 << 20;
/// The largest number of numbers, and of lists, in a member that consists of lists of numbers.
const MOST_NUMBERS: usize = 1 << 26;
/// The largest number of names in a list. No model has more.
const MOST_NAMES: usize = 1 << 21;

/// Reads a JSON text, and returns an error if the text exceeds a limit.
pub(crate) struct LimitedReader<R> {
    text: R,
    bytes: u64,
    /// The length so far of the current string, or the number of consecutive blanks.
    length: u64,
    is_string: bool,
    is_escaped: bool,
}

impl<R: Read> LimitedReader<R> {
    pub(crate) fn new(text: R) -> Self {
        LimitedReader { text, bytes: 0, length: 0, is_string: false, is_escaped: false }
    }

    fn count(&mut self, byte: u8) {
        self.length += 1;
        if self.is_string && (self.is_escaped || byte != b'"') {
            self.is_escaped = !self.is_escaped && byte == b'\\';
        } else if self.is_string {
            (self.is_string, self.length) = (false, 0);
        } else if !byte.is_ascii_whitespace() {
            (self.is_string, self.length) = (byte == b'"', 0);
        }
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        self.bytes += count as u64;
        for &byte in &buffer[..count] {
            self.count(byte);
            let (what, limit) =
                if self.is_string { ("string", MOST_STRING_BYTES) } else { ("row of blanks", MOST_BLANKS) };
            if self.length > limit {
                return Err(io::Error::other(format!("a {what} of more than {limit} bytes")));
            }
        }
        if self.bytes > MOST_BYTES {
            return Err(io::Error::other(format!("evidence of more than {MOST_BYTES} bytes")));
        }
        Ok(count)
    }
}

/// A list of lists of numbers, stored in one vector.
#[derive(Default)]
pub(crate) struct NumberLists {
    numbers: Vec<u32>,
    ends: Vec<u32>,
}

impl NumberLists {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let list = &self.numbers[start..end as usize];
            start = end as usize;
            list
        })
    }
}

impl<'de> Deserialize<'de> for NumberLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut lists = NumberLists::default();
        deserializer.deserialize_seq(OuterList(&mut lists))?;
        Ok(lists)
    }
}

/// Reads the outer list.
struct OuterList<'l>(&'l mut NumberLists);

impl<'de> Visitor<'de> for OuterList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<(), A::Error> {
        while lists.next_element_seed(InnerList(self.0))?.is_some() {}
        Ok(())
    }
}

/// Reads one inner list.
struct InnerList<'l>(&'l mut NumberLists);

impl<'de> DeserializeSeed<'de> for InnerList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for InnerList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        let NumberLists { numbers: all, ends } = self.0;
        while let Some(number) = numbers.next_element()? {
            all.push(number);
            if all.len() > MOST_NUMBERS {
                return Err(too_many(MOST_NUMBERS, "numbers"));
            }
        }
        ends.push(u32::try_from(all.len()).expect("MOST_NUMBERS is less than 2^32"));
        if ends.len() > MOST_NUMBERS {
            return Err(too_many(MOST_NUMBERS, "lists"));
        }
        Ok(())
    }
}

fn too_many<E: serde::de::Error>(limit: usize, what: &str) -> E {
    E::custom(format_args!("more than {limit} {what}"))
}

/// A list of at most [`MOST_NAMES`] items.
pub(crate) struct ShortList<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ShortList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ShortListVisitor(PhantomData)).map(ShortList)
    }
}

struct ShortListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ShortListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Vec<T>, A::Error> {
        let mut few = Vec::new();
        while let Some(name) = names.next_element()? {
            few.push(name);
            if few.len() > MOST_NAMES {
                return Err(A::Error::custom(format_args!("more than {MOST_NAMES} names")));
            }
        }
        Ok(few)
    }
}
