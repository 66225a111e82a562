//! Protocol buffers as far as Perfetto's trace needs them: varints, fixed 64-bit numbers, nested messages.
//!
//! Field numbers are those of `protos/perfetto/trace` in Perfetto 59, where `perfetto_trace.proto` has them all.

/// A message that is being written.
#[derive(Debug, Default, Clone)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn new() -> Message {
        Message::default()
    }

    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    pub fn uint(mut self, field: u32, n: u64) -> Message {
        self.key(field, 0);
        self.varint(n);
        self
    }

    /// A signed number (`int32`, `int64`): two's complement, as those types have it.
    pub fn int(self, field: u32, n: i64) -> Message {
        self.uint(field, n as u64)
    }

    pub fn fixed64(mut self, field: u32, n: u64) -> Message {
        self.key(field, 1);
        self.0.extend(n.to_le_bytes());
        self
    }

    pub fn double(self, field: u32, n: f64) -> Message {
        self.fixed64(field, n.to_bits())
    }

    pub fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u32, m: &Message) -> Message {
        self.bytes(field, &m.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of protobuf.dev, "Encoding".
    #[test]
    fn it_writes_what_the_specification_shows() {
        assert_eq!(Message::new().uint(1, 150).0, [0x08, 0x96, 0x01]);
        assert_eq!(
            Message::new().text(2, "testing").0,
            [0x12, 7, b't', b'e', b's', b't', b'i', b'n', b'g']
        );
        assert_eq!(
            Message::new().message(3, &Message::new().uint(1, 150)).0,
            [0x1a, 3, 0x08, 0x96, 0x01]
        );
        assert_eq!(
            Message::new().int(1, -2).0,
            [
                0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
            ]
        );
    }
}
