//! Arguments of a slice: `DebugAnnotation`s of its event. What is not known is left out.

use super::proto::Message;

/// Arguments of a slice.
#[derive(Default)]
pub struct Args(pub Message);

impl Args {
    fn one(mut self, name: &str, value: impl FnOnce(Message) -> Message) -> Args {
        let annotation = value(Message::new().text(10, name));
        self.0 = self.0.message(4, &annotation);
        self
    }

    pub fn int(self, name: &str, value: Option<i64>) -> Args {
        match value {
            Some(v) => self.one(name, |m| m.int(4, v)),
            None => self,
        }
    }

    pub fn text(self, name: &str, value: &str) -> Args {
        if value.is_empty() {
            return self;
        }
        self.one(name, |m| m.text(6, value))
    }

    pub fn bool(self, name: &str, value: Option<bool>) -> Args {
        match value {
            Some(v) => self.one(name, |m| m.uint(2, v.into())),
            None => self,
        }
    }
}
