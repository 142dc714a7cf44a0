//! Facts about this process and its limits, as the operating system reports them.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the peak memory of the process, if the system reports it.
pub fn peak_memory_bytes() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the current memory of the process, if the system reports it.
pub(crate) fn resident_bytes() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Returns the memory that the process may use, if the system reports it: the memory of the
/// machine, or a smaller limit of a control group or of the process.
pub(crate) fn memory_bytes() -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let of_process = |name: &str| read(&Path::new("/proc/self").join(name)).unwrap_or_default();
    let machine = kilobytes(&read(Path::new("/proc/meminfo"))?, "MemTotal:");
    let groups = group_limit(&of_process("cgroup"), &of_process("mountinfo"), read);
    machine.into_iter().chain(groups).chain(process_limit(&of_process("limits"))).min()
}

/// Returns the number of cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns whether this process was started with this signal ignored, if the system reports it.
#[cfg(unix)]
pub(crate) fn is_ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

/// Reads whether a signal is ignored from a line such as `SigIgn: 0000000000000001`. The line has a
/// bit for each signal, counted from 1.
#[cfg(unix)]
fn ignores(status: &str, signal: i32) -> bool {
    let signals = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let signals = signals.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    signals.is_some_and(|signals| (signals >> (signal - 1)) & 1 == 1)
}

/// Reads the value of a field in bytes from a line such as `VmRSS: 12345 kB`.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the smallest limit of the control groups of the process, of either version.
///
/// A limit holds for all descendants of a group, so all ancestors count, as far as the hierarchy is
/// mounted.
fn group_limit(groups: &str, mounts: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let least = |(mount, root, file): (&str, &str, &str)| {
        let path = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_meant =
                if file == V2 { controllers.is_empty() } else { controllers.split(',').any(|it| it == "memory") };
            is_meant.then_some(path)
        })?;
        // In a container, only a part of the hierarchy is mounted.
        let below = Path::new(path).strip_prefix(root).or_else(|_| Path::new(path).strip_prefix("/")).ok()?;
        let limit = |folder: &Path| read(&Path::new(mount).join(folder).join(file))?.trim().parse().ok();
        below.ancestors().map(PathBuf::from).filter_map(|folder| limit(&folder)).min()
    };
    mounts.lines().filter_map(mounted).filter_map(least).min()
}

/// The file with the limit, in version 2 and in version 1.
const V2: &str = "memory.max";
const V1: &str = "memory.limit_in_bytes";

/// Reads a line such as `35 31 0:32 /part /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`.
/// Returns the place where a hierarchy that may limit memory is mounted, the mounted part, and the
/// name of the limit files.
fn mounted(line: &str) -> Option<(&str, &str, &'static str)> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let file = match (kind.next()?, kind.nth(1)?) {
        ("cgroup2", _) => V2,
        ("cgroup", options) if options.split(',').any(|option| option == "memory") => V1,
        _ => return None,
    };
    let mut fields = mount.split(' ').skip(3);
    let root = fields.next()?;
    Some((fields.next()?, root, file))
}

/// Computes the memory that the limits in `/proc/self/limits` leave. They limit address space, not
/// used memory. Each thread reserves address space, and a growing table needs twice its size for a
/// moment.
fn process_limit(limits: &str) -> Option<u64> {
    const RESERVED: u64 = 128 << 20;
    let of =
        |name: &str| limits.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    let least: u64 = ["Max address space", "Max data size"].into_iter().filter_map(of).min()?;
    Some(least.saturating_sub(RESERVED) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The limit that made-up files give.
    fn least(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<u64> {
        let files: BTreeMap<PathBuf, &str> = files.iter().map(|(path, text)| (PathBuf::from(path), *text)).collect();
        group_limit(groups, mounts, |path| files.get(path).map(ToString::to_string))
    }

    const V2_MOUNT: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
    const V1_MOUNT: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";

    #[test]
    fn sizes_in_kilobytes() {
        let status = "Name:\tcuba\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(1 << 20));
        assert_eq!(kilobytes(status, "VmHWM:"), Some(2 << 20));
        assert_eq!(kilobytes(status, "VmSwap:"), None);
        assert_eq!(kilobytes("VmRSS: 99999999999999999999 kB", "VmRSS:"), None);
    }

    #[test]
    fn the_least_limit_of_all_parents() {
        let groups = "0::/user.slice/job.scope\n";
        let max = [("/sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n")];
        assert_eq!(least(groups, V2_MOUNT, &max), None);
        let files = [max[0], ("/sys/fs/cgroup/user.slice/memory.max", "2000\n")];
        assert_eq!(least(groups, V2_MOUNT, &files), Some(2000));
        let files = [files[1], ("/sys/fs/cgroup/user.slice/job.scope/memory.max", "3000\n")];
        assert_eq!(least(groups, V2_MOUNT, &files), Some(2000));
        let of_others = [("/sys/fs/cgroup/user.slice/other.scope/memory.max", "1\n")];
        assert_eq!(least(groups, V2_MOUNT, &of_others), None);
    }

    /// Both versions may exist, and one of them limits the memory.
    #[test]
    fn the_first_version() {
        let groups = "4:memory,hugetlb:/docker/12ab\n2:cpu,cpuacct:/elsewhere\n0::/\n";
        let mounts = format!("{V1_MOUNT}\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
        let files = [
            ("/sys/fs/cgroup/memory/docker/12ab/memory.limit_in_bytes", "5000"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "1"),
        ];
        assert_eq!(least(groups, &mounts, &files), Some(5000));
        let none = "35 31 0:32 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu";
        assert_eq!(least(groups, none, &files), None);
    }

    /// In a container, a part of the hierarchy is mounted. The process may see its path inside or
    /// outside of the container.
    #[test]
    fn a_part_of_the_hierarchy() {
        let mount = "35 31 0:32 /docker/12ab /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        for path in ["/docker/12ab", "/"] {
            let files = [("/sys/fs/cgroup/memory.max", "7000")];
            assert_eq!(least(&format!("0::{path}\n"), mount, &files), Some(7000), "{path}");
        }
    }

    #[test]
    fn limits_of_the_process() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
            Max data size             unlimited            unlimited            bytes\n\
            Max address space         136314880            unlimited            bytes\n";
        assert_eq!(process_limit(limits), Some(1 << 20));
        assert_eq!(process_limit(""), None);
    }

    #[cfg(unix)]
    #[test]
    fn ignored_signals() {
        let status = "SigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n";
        assert_eq!([1, 2, 13, 15].map(|signal| ignores(status, signal)), [true, false, true, false]);
        assert!(!ignores("", 1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine() {
        let (now, peak, all) = (resident_bytes().unwrap(), peak_memory_bytes().unwrap(), memory_bytes().unwrap());
        assert!(100_000 < now && now <= peak.max(now) && now < all, "{now} {peak} {all}");
    }
}
