//! Writing protocol-buffer messages: the few kinds of field that ONNX and TensorBoard files need.

#[derive(Clone, Debug, Default)]
pub struct Message(Vec<u8>);

/// How a field's value is stored.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Eight = 1,
    Length = 2,
    Four = 5,
}

impl Message {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn integer(mut self, field: u32, value: i64) -> Self {
        self.key(field, Wire::Varint);
        // Negative numbers are written as their 64 bits, as the format asks.
        self.varint(value as u64);
        self
    }

    pub fn double(mut self, field: u32, value: f64) -> Self {
        self.key(field, Wire::Eight);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, Wire::Four);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, Wire::Length);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub fn message(self, field: u32, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }

    pub fn messages<'a>(self, field: u32, values: impl IntoIterator<Item = &'a Message>) -> Self {
        values.into_iter().fold(self, |message, value| message.message(field, value))
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire: Wire) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_format() {
        // The examples of the format's own description.
        assert_eq!(Message::new().integer(1, 150).finish(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().text(2, "testing").finish(), *b"\x12\x07testing");
        let inner = Message::new().integer(1, 150);
        assert_eq!(Message::new().message(3, &inner).finish(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus = Message::new().integer(1, -1).finish();
        assert_eq!(minus, [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(Message::new().float(2, 1.0).finish(), [0x15, 0, 0, 0x80, 0x3f]);
        assert_eq!(Message::new().double(1, 1.0).finish(), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}
