//! The list of all processes: from a hosts file, or from free ports of this machine.
//!
//! The first line is process 0, the next one process 1, and so on. Connections go only to addresses
//! in this list.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use cpds::diagnostic::{printable, shortened};

/// The maximum number of bytes read from a hosts file. The file may be an endless device. A line
/// has fewer than 100 bytes, so this is enough for 10,000 hosts.
const MAX_BYTES: u64 = 1 << 20;

/// The maximum number of mistakes in an error message. The message has the number of the others.
const SHOWN: usize = 20;

/// The addresses of all processes, by process. There is at least one, and no two are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(Vec<String>);

/// All mistakes in a hosts file, with their lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct HostsError {
    /// The path of the file, as the user wrote it.
    pub file: String,
    /// The mistakes, in the order of the lines.
    pub mistakes: Vec<Mistake>,
}

/// One mistake in a hosts file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, counted from 1; `None` if the mistake concerns the whole file.
    pub line: Option<usize>,
    /// The mistake, as text.
    pub what: String,
    /// The way to correct it, as text.
    pub help: String,
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().take(SHOWN).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{}:", self.file)?;
            if let Some(line) = mistake.line {
                write!(f, "{line}:")?;
            }
            write!(f, " {}; {}", mistake.what, mistake.help)?;
        }
        if self.mistakes.len() > SHOWN {
            write!(f, "\n… and {} more", self.mistakes.len() - SHOWN)?;
        }
        Ok(())
    }
}

impl Hosts {
    /// Reads a file of at most 1 MiB, with one `host:port` per line. Blank lines and comments (from
    /// `#` on) are ignored.
    pub fn read(path: &Path) -> Result<Self, HostsError> {
        let file = printable(&path.display().to_string());
        let text = File::open(path).and_then(bounded);
        match text {
            Ok(text) => Self::parse(&file, &text),
            Err(error) => {
                let what = format!("cannot read the hosts file: {error}");
                let help = "it lists one host:port a line".to_owned();
                Err(HostsError { file, mistakes: vec![Mistake { line: None, what, help }] })
            }
        }
    }

    /// Parses the text of a hosts file.
    pub fn parse(file: &str, text: &str) -> Result<Self, HostsError> {
        let mut addresses: Vec<String> = Vec::new();
        // The line of each address, in lower case: host names are not case-sensitive.
        let mut lines: HashMap<String, usize> = HashMap::new();
        let mut mistakes = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let checked = address(text).and_then(|()| {
                let first = *lines.entry(text.to_ascii_lowercase()).or_insert(line);
                if first == line {
                    return Ok(());
                }
                let what = format!("`{}` is on line {first} already", shortened(text));
                Err((what, "give each process a port of its own".to_owned()))
            });
            match checked {
                Ok(()) => addresses.push(text.to_owned()),
                Err((what, help)) => mistakes.push(Mistake { line: Some(line), what, help }),
            }
        }
        if addresses.is_empty() && mistakes.is_empty() {
            let what = "no hosts".to_owned();
            mistakes.push(Mistake { line: None, what, help: "list one host:port a line".to_owned() });
        }
        if mistakes.is_empty() { Ok(Self(addresses)) } else { Err(HostsError { file: file.to_owned(), mistakes }) }
    }

    /// Returns one free port of this machine for each process (at least one).
    ///
    /// All ports are bound at the same time, so no two are equal. Then they are released, and each
    /// process binds its port. If another program binds a port before that, the process reports
    /// that it cannot listen.
    pub fn local(processes: usize) -> io::Result<Self> {
        let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listeners = (0..processes.max(1)).map(bind).collect::<io::Result<Vec<_>>>()?;
        let name = |listener: &TcpListener| Ok(listener.local_addr()?.to_string());
        Ok(Self(listeners.iter().map(name).collect::<io::Result<_>>()?))
    }

    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.0.len()
    }

    /// Returns the address of a process, as in the hosts file.
    pub fn address(&self, process: usize) -> &str {
        &self.0[process]
    }

    /// Returns all addresses, by process.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Writes a hosts file.
impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|address| writeln!(f, "{address}"))
    }
}

/// Reads the text of a hosts file, with a limit on its size.
fn bounded(file: impl Read) -> io::Result<String> {
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(text)
}

/// Checks that a line is an address. Returns the mistake and the help if it is not.
fn address(line: &str) -> Result<(), (String, String)> {
    let mistake = |what: String, help: String| Err((what, help));
    // Messages show only this form of the line, without control characters.
    let text = &*shortened(line);
    if printable(line) != line {
        return mistake(format!("an invisible character: `{text}`"), "write one host:port a line".to_owned());
    }
    // Host names and ports are shorter.
    if line.len() > 300 {
        return mistake(format!("too long for an address: `{text}`"), "write one host:port a line".to_owned());
    }
    let text = line;
    if text.contains(char::is_whitespace) {
        return mistake(format!("more than an address: `{text}`"), "write one host:port a line".to_owned());
    }
    let bare_v6 = text.parse::<std::net::Ipv6Addr>().is_ok();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !bare_v6 && !text.ends_with(']') => (host, port),
        _ => {
            let host = if bare_v6 { format!("[{text}]") } else { text.to_owned() };
            return mistake(format!("no port: `{text}`"), format!("write, say, `{host}:4000`"));
        }
    };
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() {
        return mistake(format!("no host: `{text}`"), format!("write, say, `localhost:{port}`"));
    }
    if host.contains(':') && !is_bracketed {
        return mistake(format!("more than one colon: `{text}`"), format!("write, say, `[{host}]:{port}`"));
    }
    match port.parse::<u16>() {
        Ok(0) => mistake(
            format!("port 0: `{text}`"),
            "the other processes need to know the port: write one from 1 on".to_owned(),
        ),
        Ok(_) => Ok(()),
        Err(_) => mistake(format!("`{port}` is no port"), "a port is a number from 1 to 65535".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> String {
        Hosts::parse("hosts.txt", text).expect_err("there is a mistake").to_string()
    }

    #[test]
    fn comments_and_blank_lines() {
        let hosts =
            Hosts::parse("hosts.txt", "# three machines\n\nnode0:4000\n  node1:4000 # the big one\n[::1]:4000\n");
        let hosts = hosts.expect("nothing is wrong");
        assert_eq!(hosts.addresses().collect::<Vec<_>>(), ["node0:4000", "node1:4000", "[::1]:4000"]);
        assert_eq!((hosts.processes(), hosts.address(1)), (3, "node1:4000"));
        assert_eq!(Hosts::parse("again", &hosts.to_string()), Ok(hosts));
    }

    #[test]
    fn mistakes_with_their_lines() {
        assert_eq!(mistakes("node0\n"), "hosts.txt:1: no port: `node0`; write, say, `node0:4000`");
        assert_eq!(mistakes("\n::1"), "hosts.txt:2: no port: `::1`; write, say, `[::1]:4000`");
        assert_eq!(mistakes("[::1]"), "hosts.txt:1: no port: `[::1]`; write, say, `[::1]:4000`");
        assert_eq!(mistakes("a:b:1"), "hosts.txt:1: more than one colon: `a:b:1`; write, say, `[a:b]:1`");
        assert_eq!(mistakes(":4000"), "hosts.txt:1: no host: `:4000`; write, say, `localhost:4000`");
        let port = "hosts.txt:1: port 0: `a:0`; the other processes need to know the port: write one from 1 on";
        assert_eq!(mistakes("a:0"), port);
        let range = "hosts.txt:1: `70000` is no port; a port is a number from 1 to 65535";
        assert_eq!(mistakes("a:70000"), range);
        assert_eq!(mistakes("a:1 b:2"), "hosts.txt:1: more than an address: `a:1 b:2`; write one host:port a line");
        assert_eq!(mistakes("# none\n"), "hosts.txt: no hosts; list one host:port a line");
    }

    #[test]
    fn all_mistakes_at_once() {
        let text = mistakes("a:1\nA:1\nb\n");
        let expected = "hosts.txt:2: `A:1` is on line 1 already; give each process a port of its own\n\
                        hosts.txt:3: no port: `b`; write, say, `b:4000`";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_missing_file() {
        let error = Hosts::read(Path::new("no/such/hosts.txt")).expect_err("the file does not exist").to_string();
        assert!(error.starts_with("no/such/hosts.txt: cannot read the hosts file: "), "{error}");
    }

    /// An endless file, which counts the bytes read from it.
    struct Endless(u64);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'#');
            self.0 += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    #[test]
    fn no_more_than_a_mebibyte_is_read() {
        let mut endless = Endless(0);
        let error = bounded(&mut endless).expect_err("it does not end").to_string();
        assert_eq!((endless.0 <= MAX_BYTES + 1, &*error), (true, "it is larger than 1 MiB"));
        let all = "#".repeat(1 << 20);
        assert_eq!(bounded(all.as_bytes()).expect("it fits"), all);
        if cfg!(unix) {
            let error = Hosts::read(Path::new("/dev/zero")).expect_err("it does not end").to_string();
            let expected =
                "/dev/zero: cannot read the hosts file: it is larger than 1 MiB; it lists one host:port a line";
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn a_long_list_of_mistakes() {
        let text = mistakes(&"a:1\n".repeat(1 << 18));
        assert!(text.ends_with("\n… and 262123 more") && text.lines().count() == 21, "{text}");
        let text = mistakes(&format!("{}:1", "x".repeat(1 << 20)));
        assert!(text.contains("too long for an address: `xxx") && text.len() < 200, "{text}");
    }

    #[test]
    fn control_characters_are_escaped() {
        let text = mistakes("\u{1b}[2Ja:1\nb\u{202e}:2\n");
        let expected = "hosts.txt:1: an invisible character: `\\u{1b}[2Ja:1`; write one host:port a line\n\
                        hosts.txt:2: an invisible character: `b\\u{202e}:2`; write one host:port a line";
        assert_eq!(text, expected);
    }

    #[test]
    fn local_ports_differ() {
        let hosts = Hosts::local(8).expect("there are free ports");
        let mut addresses: Vec<_> = hosts.addresses().collect();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), 8);
        assert_eq!(Hosts::parse("local", &hosts.to_string()), Ok(hosts));
    }
}
