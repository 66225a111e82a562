//! The cookies of one session: names, values and paths, as far as one host needs them (RFC 6265).

/// One visitor's cookies.
#[derive(Debug, Default, Clone)]
pub(crate) struct Jar(Vec<Cookie>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    /// `name=value`
    pair: String,
    name_length: usize,
    path: String,
}

const MAX_COOKIES: usize = 50;

impl Jar {
    /// Takes the value of one Set-Cookie field; what cannot be read is ignored, as browsers do.
    pub(crate) fn set(&mut self, field: &str) {
        let mut parts = field.split(';').map(str::trim);
        let pair = parts.next().unwrap_or_default();
        let Some(name_length) = pair.find('=').filter(|&n| n > 0) else {
            return;
        };
        let (mut path, mut expired) = ("/", false);
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if key.eq_ignore_ascii_case("path") && value.starts_with('/') {
                path = value;
            } else if key.eq_ignore_ascii_case("max-age") {
                expired = value.parse::<i64>().is_ok_and(|age| age <= 0);
            } else if key.eq_ignore_ascii_case("expires") {
                // Servers delete a cookie by a date in 1970; no other date ends within a session.
                expired |= value.contains("1970");
            }
        }
        let name = &pair[..name_length];
        let same = |c: &Cookie| &c.pair[..c.name_length] == name && c.path == path;
        self.0.retain(|c| !same(c));
        if !expired && self.0.len() < MAX_COOKIES {
            self.0.push(Cookie {
                pair: pair.to_owned(),
                name_length,
                path: path.to_owned(),
            });
        }
    }

    /// Writes the value of the Cookie field for a request; empty if no cookie belongs to it.
    pub(crate) fn write(&self, request_path: &str, out: &mut String) {
        out.clear();
        for cookie in &self.0 {
            if matches(&cookie.path, request_path) {
                if !out.is_empty() {
                    out.push_str("; ");
                }
                out.push_str(&cookie.pair);
            }
        }
    }
}

fn matches(cookie_path: &str, request_path: &str) -> bool {
    match request_path.strip_prefix(cookie_path) {
        Some(rest) => cookie_path.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?']),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(jar: &Jar, path: &str) -> String {
        let mut out = String::new();
        jar.write(path, &mut out);
        out
    }

    #[test]
    fn a_cookie_replaces_the_one_of_its_name_and_path() {
        let mut jar = Jar::default();
        jar.set("id=1; HttpOnly");
        jar.set("lang=de; Path=/shop");
        jar.set("id=2; Path=/; Secure");
        assert_eq!(sent(&jar, "/"), "id=2");
        assert_eq!(sent(&jar, "/shop?x"), "lang=de; id=2");
        assert_eq!(sent(&jar, "/shopping"), "id=2");
    }

    #[test]
    fn a_cookie_that_the_server_deletes_is_gone() {
        let mut jar = Jar::default();
        jar.set("a=1");
        jar.set("b=1");
        jar.set("a=; Max-Age=0");
        jar.set("b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(sent(&jar, "/"), "");
    }

    proptest! {
        #[test]
        fn no_field_makes_it_panic(field in "\\PC{0,60}", path in "/\\PC{0,20}") {
            let mut jar = Jar::default();
            jar.set(&field);
            let _ = sent(&jar, &path);
        }
    }
}
