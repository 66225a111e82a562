//! Where the load goes, and the guard that keeps it on this machine.

use crate::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// `https://HOST[:PORT]` or `http://HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Whether the connections are TLS.
    pub tls: bool,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Target {
    /// Reads a target.
    pub fn parse(text: &str) -> Result<Target, Error> {
        let wrong = |what: &str| Error::Target {
            target: text.to_owned(),
            what: what.to_owned(),
        };
        let (tls, rest) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err(wrong("it must begin with https:// or http://")),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#']) {
            return Err(wrong("it has a path; paths come from the scenario"));
        }
        if authority.contains('@') {
            return Err(wrong("it has a user; give the host alone"));
        }
        let (host, port) = if let Some(bracketed) = authority.strip_prefix('[') {
            let (host, after) = bracketed
                .split_once(']')
                .ok_or_else(|| wrong("a [ has no ]"))?;
            (
                host,
                after
                    .strip_prefix(':')
                    .or(if after.is_empty() { None } else { Some("") }),
            )
        } else {
            match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            }
        };
        if host.is_empty() || host.bytes().any(|b| b <= b' ' || b >= 0x7f) {
            return Err(wrong("it has no host"));
        }
        let port = match port {
            None => {
                if tls {
                    443
                } else {
                    80
                }
            }
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|&p| p > 0)
                .ok_or_else(|| wrong("its port is not a number from 1 to 65535"))?,
        };
        Ok(Target {
            tls,
            host: host.to_owned(),
            port,
        })
    }

    /// The address to connect to. Refused if any address of the host is another machine's, unless
    /// `owned` is this very host.
    pub fn resolve(&self, owned: Option<&str>) -> Result<SocketAddr, Error> {
        let addresses: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|e| Error::Target {
                target: self.to_string(),
                what: format!("the host does not resolve ({e})"),
            })?
            .collect();
        let first = *addresses.first().ok_or_else(|| Error::Target {
            target: self.to_string(),
            what: "the host has no address".to_owned(),
        })?;
        let own = owned.is_some_and(|o| o.eq_ignore_ascii_case(&self.host));
        if own || addresses.iter().all(|a| is_loopback(a.ip())) {
            Ok(first)
        } else {
            Err(Error::NotLoopback {
                host: self.host.clone(),
            })
        }
    }

    /// The value of the Host header.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        let default = if self.tls { 443 } else { 80 };
        if self.port == default {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}://{}",
            if self.tls { "https" } else { "http" },
            self.authority()
        )
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_loopback(),
        IpAddr::V6(v6) => {
            v6.is_loopback() || v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        for (text, tls, host, port) in [
            ("https://127.0.0.1:8443", true, "127.0.0.1", 8443),
            ("https://localhost/", true, "localhost", 443),
            ("http://[::1]:80", false, "::1", 80),
            ("http://[::1]", false, "::1", 80),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!(
                (target.tls, target.host.as_str(), target.port),
                (tls, host, port),
                "{text}"
            );
        }
        assert_eq!(
            Target::parse("https://[::1]:443")
                .expect("valid")
                .to_string(),
            "https://[::1]"
        );
    }

    #[test]
    fn what_is_no_target_is_refused_with_an_example() {
        for text in [
            "127.0.0.1:8443",
            "ftp://x",
            "https://",
            "https://:1",
            "https://x:0",
            "https://x:99999",
            "https://x:y",
            "https://x/path",
            "https://u@x",
            "https://[::1",
            "https://[::1]x",
            "https://x:1:2",
        ] {
            let error = Target::parse(text).expect_err(text).to_string();
            assert!(
                error.contains("write it as https://127.0.0.1:8443"),
                "{error}"
            );
        }
    }

    #[test]
    fn only_loopback_is_loaded_unless_the_host_is_owned_by_name() {
        let resolve = |text: &str, owned| Target::parse(text).expect(text).resolve(owned);
        for here in [
            "https://127.0.0.1:1",
            "https://127.8.9.1:1",
            "https://[::1]:1",
            "https://[::ffff:127.0.0.1]:1",
            "https://localhost:1",
        ] {
            assert!(resolve(here, None).is_ok(), "{here}");
        }
        for there in [
            "https://192.0.2.1:1",
            "https://0.0.0.0:1",
            "https://[2001:db8::1]:1",
            "https://[::ffff:192.0.2.1]:1",
        ] {
            let error = resolve(there, None).expect_err(there).to_string();
            assert!(error.contains("--i-own-this-target"), "{error}");
            assert!(resolve(there, Some("192.0.2.2")).is_err(), "{there}");
        }
        assert!(resolve("https://192.0.2.1:1", Some("192.0.2.1")).is_ok());
    }
}
