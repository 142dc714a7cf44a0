//! Numbers, sizes and times as text.

use cuba::Count;
use std::time::Duration;

/// Formats a number with separators: `1,234,567`.
pub(crate) fn grouped(count: Count) -> String {
    let Some(count) = count.exact() else { return count.to_string() };
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number with a unit: `950`, `12.3 k`, `2.3 M`.
pub(crate) fn short(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let unit = units.into_iter().find(|&(size, _)| number >= size);
    unit.map_or_else(|| format!("{number:.0}"), |(size, unit)| format!("{:.1} {unit}", number / size))
}

/// Formats a size: `17 B`, `1.50 KiB`, `4.00 GiB`.
pub(crate) fn bytes(bytes: usize) -> String {
    let bytes = bytes as u64;
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|&(shift, _)| bytes >> shift > 0);
    #[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
    let shown = |shift: i32| bytes as f64 / f64::from(shift).exp2();
    unit.map_or_else(|| format!("{bytes} B"), |(shift, unit)| format!("{:.2} {unit}", shown(shift)))
}

/// Formats a duration: `0:07`, `1:02:03`.
pub(crate) fn clock(time: Duration) -> String {
    let (minutes, seconds) = (time.as_secs() / 60, time.as_secs() % 60);
    if minutes < 60 {
        format!("{minutes}:{seconds:02}")
    } else {
        format!("{}:{:02}:{seconds:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_reading() {
        assert_eq!(
            [7, 123, 1234, 123_456, 1_234_567].map(|n: usize| grouped(n.into())),
            ["7", "123", "1,234", "123,456", "1,234,567"]
        );
        assert_eq!(grouped(Count::from(None)), "more than 10^38");
        assert_eq!([7.4, 950.0, 12_345.0, 2_340_000.0, 3e9].map(short), ["7", "950", "12.3 k", "2.3 M", "3.0 G"]);
        assert_eq!([0, 1023, 1536, 4 << 30, 5 << 40].map(bytes), ["0 B", "1023 B", "1.50 KiB", "4.00 GiB", "5.00 TiB"]);
        assert_eq!([7, 75, 3600, 36_061].map(Duration::from_secs).map(clock), ["0:07", "1:15", "1:00:00", "10:01:01"]);
    }
}
