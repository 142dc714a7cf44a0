//! The memory of a hash table.

/// Returns the bytes of a hash table with `len` numbers of 32 bits.
pub(crate) fn bytes_of_table(len: usize) -> usize {
    (len + 1).saturating_mul(8).div_ceil(7).next_power_of_two() * (size_of::<u32>() + 1)
}
