//! The text of evidence: as much of it as can be taken in, and no list or string in it that fills
//! the memory.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use std::fmt::{self, Formatter};
use std::io::{self, Read};
use std::marker::PhantomData;

/// The longest text.
const MOST_BYTES: u64 = 1 << 30;
/// The longest string in it: a state with the highest stacks is shorter.
const LONGEST_STRING: u64 = 1 << 24;
/// The most blanks in a row.
const MOST_BLANKS: u64 = 1 << 20;
/// The most numbers and lists in a member that has lists of numbers.
const MOST_NUMBERS: usize = 1 << 26;
/// The most names in a list: a model has no more.
const MOST_NAMES: usize = 1 << 21;

/// JSON up to the limits above; what goes on beyond them is an error.
pub(crate) struct Bounded<R> {
    text: R,
    bytes: u64,
    /// How long the string is that we are in, or how many blanks there were.
    length: u64,
    is_string: bool,
    is_escaped: bool,
}

impl<R: Read> Bounded<R> {
    pub(crate) fn new(text: R) -> Self {
        Bounded { text, bytes: 0, length: 0, is_string: false, is_escaped: false }
    }

    fn pass(&mut self, byte: u8) {
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

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        self.bytes += count as u64;
        for &byte in &buffer[..count] {
            self.pass(byte);
            let (what, limit) =
                if self.is_string { ("string", LONGEST_STRING) } else { ("row of blanks", MOST_BLANKS) };
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

/// Lists of numbers, all in one.
#[derive(Default)]
pub(crate) struct Lists {
    numbers: Vec<u32>,
    ends: Vec<u32>,
}

impl Lists {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let list = &self.numbers[start..end as usize];
            start = end as usize;
            list
        })
    }
}

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut lists = Lists::default();
        deserializer.deserialize_seq(Outer(&mut lists))?;
        Ok(lists)
    }
}

/// Reads lists.
struct Outer<'l>(&'l mut Lists);

impl<'de> Visitor<'de> for Outer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<(), A::Error> {
        while lists.next_element_seed(Inner(self.0))?.is_some() {}
        Ok(())
    }
}

/// Reads one of them.
struct Inner<'l>(&'l mut Lists);

impl<'de> DeserializeSeed<'de> for Inner<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Inner<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        let Lists { numbers: all, ends } = self.0;
        while let Some(number) = numbers.next_element()? {
            all.push(number);
            if all.len() > MOST_NUMBERS {
                return Err(too_many(MOST_NUMBERS, "numbers"));
            }
        }
        ends.push(u32::try_from(all.len()).expect("limited"));
        if ends.len() > MOST_NUMBERS {
            return Err(too_many(MOST_NUMBERS, "lists"));
        }
        Ok(())
    }
}

fn too_many<E: serde::de::Error>(limit: usize, what: &str) -> E {
    E::custom(format_args!("more than {limit} {what}"))
}

/// A list that is not long.
pub(crate) struct Few<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FewVisitor(PhantomData)).map(Few)
    }
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
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
