use super::*;
use proptest::prelude::*;

fn whole(bytes: &[u8]) -> Reply {
    let mut reply = Reply::default();
    assert_eq!(reply.push(bytes), Ok((Progress::Whole, bytes.len())));
    reply
}

fn refused(bytes: &[u8]) -> BadReply {
    Reply::default()
        .push(bytes)
        .expect_err("it should be refused")
}

#[test]
fn a_reply_with_a_length() {
    let reply = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(
        (reply.status, reply.body.as_slice(), reply.keep_alive),
        (200, &b"hello"[..], true)
    );
}

#[test]
fn a_chunked_reply_with_extension_and_trailer() {
    let reply =
        whole(b"HTTP/1.1 200 \r\nTransfer-Encoding: Chunked\r\n\r\n4;x=1\r\nhell\r\n1\r\no\r\n0\r\nTrailer: 1\r\n\r\n");
    assert_eq!(reply.body, b"hello");
}

#[test]
fn a_reply_that_the_connections_end_ends() {
    let mut reply = Reply::default();
    assert_eq!(
        reply.push(b"HTTP/1.0 200 OK\r\n\r\nhel"),
        Ok((Progress::Partial, 22))
    );
    assert_eq!(reply.push(b"lo"), Ok((Progress::Partial, 2)));
    assert_eq!(reply.end(), Ok(()));
    assert_eq!(
        (reply.body.as_slice(), reply.keep_alive),
        (&b"hello"[..], false)
    );
}

#[test]
fn a_reply_without_body() {
    for head in [
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9",
        "HTTP/1.1 204 No",
        "HTTP/1.1 200 OK\r\nContent-Length: 0",
    ] {
        assert!(whole(format!("{head}\r\n\r\n").as_bytes()).body.is_empty());
    }
}

#[test]
fn an_interim_reply_is_skipped() {
    let reply =
        whole(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx");
    assert_eq!(reply.status, 404);
}

#[test]
fn connection_close_is_heard_in_any_case_and_place() {
    for value in ["close", "Close", "upgrade, close"] {
        let head = format!("HTTP/1.1 200 OK\r\nCONNECTION: {value}\r\nContent-Length: 0\r\n\r\n");
        assert!(!whole(head.as_bytes()).keep_alive, "{value}");
    }
    assert!(
        whole(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").keep_alive
    );
}

#[test]
fn cookies_are_kept_as_they_came() {
    let reply = whole(b"HTTP/1.1 200 OK\r\nSet-Cookie: JSESSIONID=AB; Path=/; Secure\r\nSet-Cookie: x\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(reply.cookies, ["JSESSIONID=AB; Path=/; Secure"]);
}

#[test]
fn what_is_no_reply_is_refused() {
    refused(b"SSH-2.0-OpenSSH_9\r\n");
    refused(b"\x15\x03\x03\x00\x02\x02\x50");
    refused(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n");
    refused(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
    refused(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n");
    refused(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n");
    refused(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
    refused(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n");
}

#[test]
fn bytes_after_a_reply_are_left_to_the_next() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc";
    let mut reply = Reply::default();
    assert_eq!(reply.push(bytes), Ok((Progress::Whole, bytes.len() - 2)));
    assert_eq!(reply.body, b"a");
}

#[test]
fn a_reply_to_head_has_no_body_whatever_its_length_says() {
    let mut reply = Reply {
        bodiless: true,
        ..Reply::default()
    };
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(reply.push(bytes), Ok((Progress::Whole, bytes.len())));
}

#[test]
fn where_a_redirect_leads_and_what_must_not_be_kept_are_noted() {
    let reply = whole(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nCache-Control: private, No-Store\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(
        (reply.location.as_deref(), reply.no_store, reply.retry_after),
        (Some("/x"), true, false)
    );
    let busy =
        whole(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nContent-Length: 0\r\n\r\n");
    assert!(busy.retry_after);
}

#[test]
fn a_head_without_end_is_refused() {
    let mut reply = Reply::default();
    let line = b"X-Filler: 0123456789\r\n";
    let mut result = reply.push(b"HTTP/1.1 200 OK\r\n");
    for _ in 0..MAX_HEAD / line.len() + 2 {
        result = result.and_then(|_| reply.push(line));
    }
    assert!(result.is_err());
}

#[test]
fn an_ended_connection_inside_a_reply_is_an_error() {
    let mut reply = Reply::default();
    assert_eq!(
        reply.push(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
        Ok((Progress::Partial, 41))
    );
    assert!(reply.end().is_err());
    reply.reset();
    assert!(reply.is_untouched());
}

/// Replies as servers write them, and as they do not.
fn reply_bytes() -> impl Strategy<Value = Vec<u8>> {
    let body = prop::collection::vec(any::<u8>(), 0..200);
    let length = body.clone().prop_map(|b| {
        let mut out =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", b.len()).into_bytes();
        out.extend(b);
        out
    });
    let chunked =
        prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6).prop_map(|chunks| {
            let mut out = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            for chunk in chunks {
                out.extend(format!("{:x}\r\n", chunk.len()).bytes());
                out.extend(chunk);
                out.extend(b"\r\n");
            }
            out.extend(b"0\r\n\r\n");
            out
        });
    let garbled = (length.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut bytes, at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        },
    );
    prop_oneof![length, chunked, garbled, body]
}

/// What came of feeding `pieces`: comparable, whatever the tearing.
fn fed<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<(Progress, u16, Vec<u8>, bool), BadReply> {
    let mut reply = Reply::default();
    let mut progress = Progress::Partial;
    for piece in pieces {
        if progress == Progress::Partial {
            progress = reply.push(piece)?.0;
        }
    }
    Ok((progress, reply.status, reply.body.clone(), reply.keep_alive))
}

proptest! {
    #[test]
    fn tearing_changes_nothing(bytes in reply_bytes(), size in 1usize..40) {
        let at_once = fed(std::iter::once(bytes.as_slice()));
        let torn = fed(bytes.chunks(size));
        prop_assert_eq!(at_once.is_ok(), torn.is_ok());
        if let (Ok(a), Ok(b)) = (at_once, torn) {
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20)) {
        let _ = fed(pieces.iter().map(Vec::as_slice));
    }

    #[test]
    fn no_bytes_after_a_head_make_it_panic(pieces in prop::collection::vec("[0-9a-f;\r\n ]{0,12}", 0..20)) {
        let head: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let _ = fed(std::iter::once(head).chain(pieces.iter().map(String::as_bytes)));
    }
}
