//! Connections that the target has closed, as the kernel level tells them: with whom they were, and when they ended.
//! Descriptors are looked at once a second; by then one that lived for a second is in no table of the kernel's any more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use libbpf_rs::{MapCore, MapFlags, MapHandle};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// When it was closed, or shut down before that, CLOCK_MONOTONIC.
    pub ts: i64,
    /// The target's address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

/// Who knows of a socket, by its inode, whether it was closed.
pub type Asked = Box<dyn Fn(u64) -> Option<Closed>>;

/// Entries of the map, `CLOSED` of `kernel.bpf.c`.
const ENTRIES: u64 = 32_768;

/// Asks this map of the kernel level's programs.
pub fn known_by(map: MapHandle) -> Asked {
    Box::new(move |inode| {
        let key = ((inode % ENTRIES) as u32).to_ne_bytes();
        // A failing look-up would mean that our own map is gone.
        let ask = || decode(&map.lookup(&key, MapFlags::ANY).ok()??, inode);
        // The inode is written last, and read last: with it, what is read from now on is whole.
        ask().and_then(|_| ask())
    })
}

/// `struct closed` of `kernel.bpf.c`, if it is of this socket.
fn decode(value: &[u8], inode: u64) -> Option<Closed> {
    const LOCAL: usize = 16;
    const REMOTE: usize = 32;
    const INODE: usize = 48;
    let of = u64::from_ne_bytes(value.get(INODE..INODE + 8)?.try_into().ok()?);
    if of != inode {
        return None;
    }
    let ts = u64::from_ne_bytes(value.get(..8)?.try_into().ok()?);
    let port = |at: usize| Some(u16::from_ne_bytes(value.get(at..at + 2)?.try_into().ok()?));
    let is_ipv4 = *value.get(12)? != 0;
    let address = |at: usize| {
        let bytes: [u8; 16] = value.get(at..at + 16)?.try_into().ok()?;
        Some(match is_ipv4 {
            true => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
            // Java's sockets are IPv6 and speak IPv4 through mapped addresses.
            false => IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(),
        })
    };
    Some(Closed {
        ts: ts as i64,
        local: SocketAddr::new(address(LOCAL)?, port(8)?),
        remote: SocketAddr::new(address(REMOTE)?, port(10)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(is_ipv4: bool, local: &[u8], remote: &[u8]) -> Vec<u8> {
        let mut v = 7u64.to_ne_bytes().to_vec();
        v.extend(8443u16.to_ne_bytes());
        v.extend(50_000u16.to_ne_bytes());
        v.extend([u8::from(is_ipv4), 0, 0, 0]);
        for address in [local, remote] {
            v.extend(address);
            v.extend(vec![0; 16 - address.len()]);
        }
        v.extend(9u64.to_ne_bytes());
        v
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        let four = decode(&value(true, &[127, 0, 0, 1], &[127, 0, 0, 2]), 9).expect("whole");
        assert_eq!(four.ts, 7);
        assert_eq!(four.local.to_string(), "127.0.0.1:8443");
        assert_eq!(four.remote.to_string(), "127.0.0.2:50000");

        let six = Ipv6Addr::LOCALHOST.octets();
        let mapped = Ipv4Addr::new(10, 0, 0, 9).to_ipv6_mapped().octets();
        let read = decode(&value(false, &six, &mapped), 9).expect("whole");
        assert_eq!(read.local.to_string(), "[::1]:8443");
        assert_eq!(read.remote.to_string(), "10.0.0.9:50000");

        assert_eq!(decode(&value(true, &[127, 0, 0, 1], &[])[..40], 9), None);
        assert_eq!(
            decode(&value(true, &[127, 0, 0, 1], &[]), 9 + ENTRIES),
            None,
            "of another"
        );
    }
}
