//! Parsers for durations, sizes and numbers of jobs on the command line.

use std::time::Duration;

/// Parses a duration: `500ms`, `90s`, `30m`, `2h`. A number alone is in seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "expected a number with the unit ms, s, m, h or d".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let milliseconds = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "d" => 24 * 60 * 60 * 1000,
        _ => return Err(wanted()),
    };
    let number: u64 = digits.parse().map_err(|_| wanted())?;
    number.checked_mul(milliseconds).map(Duration::from_millis).ok_or_else(|| "the time is too long".to_owned())
}

/// Parses a number of at least 1.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&jobs| jobs > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

/// Parses a size in bytes, in powers of 1024: `512M`, `16G`.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("expected a number with the unit K, M, G or T".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "expected a number with the unit K, M, G or T".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "the size is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("16g"), Ok(16 << 30));
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("2KiB"), Ok(2048));
        for wrong in ["", "G", "4X", "-1", "1.5G", "99999999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "h", "1.5h", "-1s", "5 s", "10us", "99999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
