//! How the client behaves on its connections: patience, retries, browsers' habits, TLS.

use super::place::Place;
use crate::Error;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use toml::Spanned;

/// 127.1.0.0: apart from the addresses that servers usually listen on.
const FIRST_SOURCE: u32 = 0x7f01_0000;
/// Up to 127.254.255.255: the last is for broadcasts.
const MOST_SOURCES: i64 = 0x00fe_0000;

/// How a visitor who has lost patience leaves its connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Abandon {
    /// Closes it (FIN), as a closed browser tab does.
    #[default]
    Close,
    /// Resets it (RST), as a program that is killed does.
    Reset,
}

/// How the client behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// Response time that the user wants: what is within it is counted beside. None: all counts as within.
    pub objective: Option<Duration>,
    /// How often a request that timed out, or found no connection, is made again.
    pub retries: u32,
    /// Pause before the first such retry; doubles each time.
    pub back_off: Duration,
    /// How a visitor who gives up leaves its connection.
    pub abandon: Abandon,
    /// Redirects that are followed for one page.
    pub redirects: u32,
    /// Whether the images, styles and scripts of a page are fetched with it.
    pub resources: bool,
    /// Connections at once for those of HTTP/1.1, the page's own included.
    pub connections: u32,
    /// Requests sent on a connection before a reply has come (HTTP/1.1; resources and replayed bursts).
    pub pipeline: u32,
    /// Share of the connections whose client reads slowly.
    pub slow_share: f64,
    /// How fast a slow one reads, in bytes per second.
    pub slow_bytes_per_s: u32,
    /// Addresses from which visitors come, one after the other, if the target is on 127.0.0.0/8, all of which is this
    /// machine's; 1 leaves the choice to the kernel.
    pub addresses: u32,
}

impl Client {
    /// The address that visitor `number` comes from; none where the kernel chooses.
    pub fn source(&self, number: u64, target: IpAddr) -> Option<Ipv4Addr> {
        let here = matches!(target, IpAddr::V4(v4) if v4.is_loopback());
        let nth = (number % u64::from(self.addresses)) as u32;
        (here && self.addresses > 1).then(|| Ipv4Addr::from_bits(FIRST_SOURCE + nth))
    }
}

impl Default for Client {
    fn default() -> Client {
        Client {
            objective: None,
            retries: 0,
            back_off: Duration::from_secs(1),
            abandon: Abandon::Close,
            redirects: 5,
            resources: false,
            connections: 6,
            pipeline: 1,
            slow_share: 0.0,
            slow_bytes_per_s: 2000,
            addresses: 1,
        }
    }
}

/// Which tickets are offered beside good ones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TicketPolicy {
    /// Of the connections that offer a ticket, the share that offers the oldest ticket still at hand.
    pub stale: f64,
    /// Probability that a connection offers a ticket that another server made: well formed, but no
    /// key of the target opens it.
    pub forged: f64,
    /// The client forgets tickets that are older.
    pub life: Option<Duration>,
}

/// Version of HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1
    #[default]
    One,
    /// HTTP/2, by ALPN over TLS and by prior knowledge without.
    Two,
}

/// Which certificate the client asks for, where the server has several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keys {
    /// The server chooses.
    #[default]
    Any,
    /// RSA signatures only.
    Rsa,
    /// ECDSA signatures only.
    Ecdsa,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClient {
    pub(super) timeout: Option<Spanned<String>>,
    retries: Option<Spanned<i64>>,
    back_off: Option<Spanned<String>>,
    abandon: Option<Spanned<String>>,
    redirects: Option<Spanned<i64>>,
    resources: Option<bool>,
    connections: Option<Spanned<i64>>,
    slow_share: Option<Spanned<f64>>,
    slow_bytes_per_s: Option<Spanned<i64>>,
    addresses: Option<Spanned<i64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTls {
    pub(super) versions: Option<Spanned<Vec<String>>>,
    pub(super) resume_within: Option<Spanned<f64>>,
    pub(super) resume_across: Option<Spanned<f64>>,
    stale: Option<Spanned<f64>>,
    forged: Option<Spanned<f64>>,
    ticket_life: Option<Spanned<String>>,
    pub(super) keys: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawConnection {
    pub(super) requests: Option<Spanned<i64>>,
    pub(super) http: Option<Spanned<String>>,
    pipeline: Option<Spanned<i64>>,
}

pub(super) fn client(
    place: &Place<'_>,
    raw: RawClient,
    connection: &RawConnection,
) -> Result<Client, Error> {
    let default = Client::default();
    let whole = |key: &str, value: &Option<Spanned<i64>>, low, high, default| match value {
        Some(n) => place.whole(key, n, low, high),
        None => Ok(default),
    };
    let client = Client {
        objective: default.objective,
        retries: whole("client.retries", &raw.retries, 0, 100, default.retries)?,
        back_off: place.duration("client.back_off", raw.back_off, default.back_off)?,
        abandon: place.one_of(
            "client.abandon",
            raw.abandon,
            &[("close", Abandon::Close), ("reset", Abandon::Reset)],
            default.abandon,
        )?,
        redirects: whole("client.redirects", &raw.redirects, 0, 20, default.redirects)?,
        resources: raw.resources.unwrap_or(default.resources),
        connections: whole(
            "client.connections",
            &raw.connections,
            1,
            64,
            default.connections,
        )?,
        pipeline: whole(
            "connection.pipeline",
            &connection.pipeline,
            1,
            64,
            default.pipeline,
        )?,
        slow_share: place.probability("client.slow_share", raw.slow_share, 0.0)?,
        slow_bytes_per_s: whole(
            "client.slow_bytes_per_s",
            &raw.slow_bytes_per_s,
            10,
            1_000_000_000,
            default.slow_bytes_per_s,
        )?,
        addresses: whole(
            "client.addresses",
            &raw.addresses,
            1,
            MOST_SOURCES,
            default.addresses,
        )?,
    };
    if client.pipeline > 1 && connection.http.as_ref().is_some_and(|h| h.get_ref() == "2") {
        let at = connection.pipeline.as_ref().map_or(0..0, Spanned::span);
        return Err(place.error(
            at,
            "connection.pipeline and connection.http = \"2\": HTTP/2 has streams instead; leave one out",
        ));
    }
    Ok(client)
}

pub(super) fn tickets(place: &Place<'_>, raw: &RawTls) -> Result<TicketPolicy, Error> {
    Ok(TicketPolicy {
        stale: place.probability("tls.stale", raw.stale.clone(), 0.0)?,
        forged: place.probability("tls.forged", raw.forged.clone(), 0.0)?,
        life: match &raw.ticket_life {
            None => None,
            Some(_) => {
                let zero = Duration::ZERO;
                Some(place.duration("tls.ticket_life", raw.ticket_life.clone(), zero)?)
            }
        },
    })
}

pub(super) fn http(place: &Place<'_>, raw: Option<Spanned<String>>) -> Result<Http, Error> {
    let known = [("1.1", Http::One), ("2", Http::Two)];
    place.one_of("connection.http", raw, &known, Http::One)
}

pub(super) fn keys(place: &Place<'_>, raw: Option<Spanned<String>>) -> Result<Keys, Error> {
    let known = [
        ("any", Keys::Any),
        ("rsa", Keys::Rsa),
        ("ecdsa", Keys::Ecdsa),
    ];
    place.one_of("tls.keys", raw, &known, Keys::Any)
}
