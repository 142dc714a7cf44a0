//! The scale of the chart: numbers as heights, and as short texts.

use super::{BOTTOM, HEIGHT, TOP};
use cuba::Count;

/// Maps numbers to heights.
pub(super) struct Scale {
    low: f64,
    high: f64,
    pub(super) is_logarithmic: bool,
}

/// Returns the value to draw. Numbers of more than 128 bits are drawn at the upper edge.
#[expect(clippy::cast_precision_loss, reason = "a pixel is coarser")]
pub(super) fn value(count: Count) -> f64 {
    count.exact().unwrap_or(u128::MAX) as f64
}

#[expect(clippy::cast_precision_loss, reason = "a pixel is coarser")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Scale {
    pub(super) fn new(counts: &[Count]) -> Self {
        let values: Vec<f64> = counts.iter().copied().map(value).collect();
        let high = values.iter().copied().fold(1.0, f64::max);
        let low = values.iter().copied().fold(high, f64::min).max(1.0);
        if high / low > 20.0 {
            // Whole powers of ten.
            Scale { low: low.log10().floor(), high: (high * 1.02).log10().ceil(), is_logarithmic: true }
        } else {
            let step = Self::step(high);
            Scale { low: 0.0, high: (high * 1.05 / step).ceil() * step, is_logarithmic: false }
        }
    }

    /// Returns a round distance between ticks.
    fn step(high: f64) -> f64 {
        let power = 10_f64.powf((high / 5.0).log10().floor().max(0.0));
        [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| high / step <= 6.0).unwrap_or(power)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        let place = if self.is_logarithmic { value.max(1.0).log10() } else { value };
        let part = (place - self.low) / (self.high - self.low);
        TOP + (1.0 - part.clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
    }

    /// Returns the values of the horizontal lines, with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        if self.is_logarithmic {
            let every = ((self.high - self.low) / 8.0).ceil().max(1.0);
            let mut power = self.low;
            while power <= self.high {
                let name = if power < 6.0 { format!("{}", 10_f64.powf(power)) } else { format!("10^{power}") };
                ticks.push((10_f64.powf(power), name));
                power += every;
            }
        } else {
            let step = Self::step(self.high);
            let mut tick = 0.0;
            while tick <= self.high {
                ticks.push((tick, tick.to_string()));
                tick += step;
            }
        }
        ticks
    }
}

/// Formats a number in few characters: `12345`, `2.4·10^19`.
pub(super) fn brief(count: Count) -> String {
    match count.exact() {
        Some(exact) if exact >= 10_000_000 => {
            let power = exact.ilog10();
            format!("{:.1}·10^{power}", value(count) / 10_f64.powf(f64::from(power)))
        }
        Some(_) => count.to_string(),
        None => ">10^38".to_owned(),
    }
}

/// Returns the distance between numbers on the axis of k: 1, 2, 5, 10, …, so that there are at most
/// twenty.
pub(super) fn round_step(most: usize) -> usize {
    let mut power = 1;
    loop {
        if let Some(step) = [1, 2, 5].map(|step| step * power).into_iter().find(|step| most / step < 20) {
            return step;
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_little_room() {
        let counts = [9_999_999, 24_315_330_918_113_857_600].map(|n| brief(Count::from(Some(n))));
        assert_eq!(counts, ["9999999", "2.4·10^19"]);
        assert_eq!(brief(Count::from(None)), ">10^38");
    }

    #[test]
    fn ticks() {
        let scale = |high, is_logarithmic| Scale { low: 0.0, high, is_logarithmic };
        let names = |scale: Scale| scale.ticks().into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(scale(8.0, false)), "0 2 4 6 8");
        assert_eq!(names(scale(1.0, false)), "0 1");
        assert_eq!(names(scale(40.0, false)), "0 10 20 30 40");
        assert_eq!(names(scale(3.0, true)), "1 10 100 1000");
        assert_eq!(names(scale(39.0, true)), "1 100000 10^10 10^15 10^20 10^25 10^30 10^35");
        assert_eq!([1, 19, 20, 39, 40, 99, 100, 2110].map(round_step), [1, 1, 2, 2, 5, 5, 10, 200]);
    }

    #[test]
    fn what_has_more_than_128_bits_is_at_the_upper_edge() {
        let many = value(Count::from(None));
        let scale = Scale { low: 0.0, high: many.log10().ceil(), is_logarithmic: true };
        assert!((TOP..TOP + 10.0).contains(&scale.y(many)));
        assert!(scale.y(0.0) <= HEIGHT - BOTTOM);
    }
}
