//! Encodings of Parquet: runs and packed bits (RLE/bit-packing hybrid), and differences (DELTA_BINARY_PACKED).
//!
//! Of runs only whole pages are made, since the compression that follows finds the others.

/// Values of a block of differences, and of each of its parts that has a width of its own.
const BLOCK: usize = 128;
const MINIBLOCK: usize = 32;

/// A number in as many bytes as it takes, seven bits in each.
pub fn varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// The same of a number that may be negative.
fn zigzag(out: &mut Vec<u8>, n: i64) {
    varint(out, ((n << 1) ^ (n >> 63)) as u64);
}

/// The lowest `width` bits of each value, one behind the other.
fn pack(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    if width == 0 {
        return;
    }
    let (mut word, mut bits) = (0u64, 0u32);
    for value in values {
        word |= value << bits;
        bits += width;
        if bits >= 64 {
            out.extend(word.to_le_bytes());
            bits -= 64;
            word = if bits == 0 {
                0
            } else {
                value >> (width - bits)
            };
        }
    }
    out.extend(&word.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// Bits of a number.
fn width(n: u64) -> u32 {
    64 - n.leading_zeros()
}

/// A run of `len` times one value of up to 32 bits.
fn run(out: &mut Vec<u8>, len: usize, value: u32, width: u32) {
    varint(out, (len as u64) << 1);
    out.extend(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Which rows of a page have a value: length, then a run or packed bits.
pub fn levels(out: &mut Vec<u8>, valid: &super::Bits) {
    let at = out.len();
    out.extend([0; 4]);
    if valid.ones == valid.len || valid.ones == 0 {
        run(out, valid.len, u32::from(valid.ones > 0), 1);
    } else {
        varint(out, ((valid.len.div_ceil(8) as u64) << 1) | 1);
        out.extend(valid.bytes());
    }
    let len = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// Places in a dictionary: their width, then a run or packed bits.
pub fn places(out: &mut Vec<u8>, places: &[u32]) {
    let all = places.iter().fold(0, |all, place| all | place);
    let width = width(all.into()).max(1);
    out.push(width as u8);
    match places.first() {
        Some(&first) if places.iter().all(|place| *place == first) => {
            run(out, places.len(), first, width);
        }
        Some(_) => {
            let eights = places.len().div_ceil(8);
            varint(out, ((eights as u64) << 1) | 1);
            let padding = std::iter::repeat_n(0, eights * 8 - places.len());
            let padded = places.iter().map(|place| u64::from(*place)).chain(padding);
            pack(out, padded, width);
        }
        None => {}
    }
}

/// Numbers as their differences. Differences of 32 bits wrap as 32 bits: none may need more.
pub fn deltas<T: Number>(out: &mut Vec<u8>, numbers: &[T]) {
    varint(out, BLOCK as u64);
    varint(out, (BLOCK / MINIBLOCK) as u64);
    varint(out, numbers.len() as u64);
    let Some((&first, rest)) = numbers.split_first() else {
        return zigzag(out, 0);
    };
    zigzag(out, first.long());
    let mut before = first;
    for block in rest.chunks(BLOCK) {
        let mut deltas = [0i64; BLOCK];
        for (delta, &number) in deltas.iter_mut().zip(block) {
            *delta = number.less(before);
            before = number;
        }
        let deltas = &mut deltas[..block.len().next_multiple_of(MINIBLOCK)];
        let least = deltas[..block.len()].iter().min().copied().unwrap_or(0);
        zigzag(out, least);
        deltas[block.len()..].fill(least);
        let mut widths = [0u8; BLOCK / MINIBLOCK];
        for (part, width_of) in deltas.chunks_mut(MINIBLOCK).zip(&mut widths) {
            let mut all = 0;
            for delta in part {
                *delta = delta.wrapping_sub(least);
                all |= *delta as u64;
            }
            *width_of = width(all) as u8;
        }
        out.extend(widths);
        for (part, width) in deltas.chunks(MINIBLOCK).zip(widths) {
            pack(out, part.iter().map(|d| *d as u64), width.into());
        }
    }
}

/// What differences are made of.
pub trait Number: Copy {
    /// As a wider number.
    fn long(self) -> i64;
    /// This less another, wrapping as numbers of its own width do.
    fn less(self, other: Self) -> i64;
}

impl Number for i64 {
    fn long(self) -> i64 {
        self
    }
    fn less(self, other: i64) -> i64 {
        self.wrapping_sub(other)
    }
}

impl Number for i32 {
    fn long(self) -> i64 {
        self.into()
    }
    fn less(self, other: i32) -> i64 {
        self.wrapping_sub(other).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_packed_from_the_lowest_on() {
        let packed = |values: &[u64], width| {
            let mut out = Vec::new();
            pack(&mut out, values.iter().copied(), width);
            out
        };
        // The example of the format's own page on encodings: 0 to 7 in three bits each.
        let eight: Vec<u64> = (0..8).collect();
        assert_eq!(packed(&eight, 3), [0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(packed(&[u64::MAX, 1], 64).len(), 16);
        assert_eq!(packed(&[1, 1, 1], 40).len(), 15);
    }

    #[test]
    fn the_examples_of_the_format_are_what_they_are() {
        // 1 to 5: least difference 1, all widths 0.
        let mut out = Vec::new();
        deltas(&mut out, &[1i64, 2, 3, 4, 5]);
        assert_eq!(out, [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        // 7 5 3 1 2 3 4 5: differences -2 -2 -2 1 1 1 1, of which the least is -2 and the rest take two bits.
        let mut out = Vec::new();
        deltas(&mut out, &[7i32, 5, 3, 1, 2, 3, 4, 5]);
        assert_eq!(out[..9], [0x80, 1, 4, 8, 14, 3, 2, 0, 0]);
        assert_eq!(out[10..], [0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0]);
    }
}
