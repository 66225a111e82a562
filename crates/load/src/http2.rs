//! HTTP/2 over one connection: requests are streams, shared by all that hold a clone.

use crate::clock::now_ns;
use crate::connection::Broken;
use crate::http::Reply;
use crate::scenario::Ask;
use crate::session::Context;
use crate::stats::{Failure, lock};
use crate::stream::Stream;
use bytes::Bytes;
use h2::client::SendRequest;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, COOKIE, LOCATION, RETRY_AFTER, SET_COOKIE, USER_AGENT,
};
use std::rc::Rc;
use tokio::task::AbortHandle;

const MAX_BODY: usize = 64 * 1024 * 1024;
/// As browsers do: a page and its pictures come without waiting for the client to allow more.
const STREAM_WINDOW: u32 = 6 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 15 * 1024 * 1024;

/// One user of an HTTP/2 connection. It is closed when the last user has gone.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: SendRequest<Bytes>,
    _driver: Rc<Driver>,
}

/// The task that moves the connection's bytes.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Http2 {
    pub(crate) async fn begin(stream: Stream) -> Result<Http2, Failure> {
        let (sender, connection) = h2::client::Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake::<_, Bytes>(stream)
            .await
            .map_err(|_| Failure::Closed)?;
        // How it ended is told to whoever has a request on it.
        let driver = tokio::task::spawn_local(async move {
            let _told_to_the_streams = connection.await;
        });
        Ok(Http2 {
            sender,
            _driver: Rc::new(Driver(driver.abort_handle())),
        })
    }

    pub(crate) async fn ask(
        &mut self,
        context: &Context,
        request: &Ask,
        cookies: &str,
        reply: &mut Reply,
        reused: bool,
    ) -> Result<(), Broken> {
        let sent_ns = now_ns();
        let before_any_byte = |_: h2::Error| Broken {
            why: Failure::Closed,
            was_idle_close: reused,
        };
        let broken = |_: h2::Error| Broken {
            why: Failure::Closed,
            was_idle_close: false,
        };
        std::future::poll_fn(|cx| self.sender.poll_ready(cx))
            .await
            .map_err(before_any_byte)?;
        let head = head(context, request, cookies).map_err(|_| Broken {
            why: Failure::BadReply,
            was_idle_close: false,
        })?;
        let (response, mut body) = self
            .sender
            .send_request(head, request.body.is_none())
            .map_err(before_any_byte)?;
        if let Some(form) = &request.body {
            body.send_data(Bytes::copy_from_slice(form), true)
                .map_err(broken)?;
        }
        let response = response.await.map_err(|e| Broken {
            why: Failure::Closed,
            // The server said that it has not looked at this stream.
            was_idle_close: reused && (e.is_go_away() || e.is_io()),
        })?;
        let first_ns = now_ns();
        let (head, mut body) = response.into_parts();
        reply.status = head.status.as_u16();
        reply.keep_alive = true;
        let text = |v: &http::HeaderValue| v.to_str().ok().map(str::to_owned);
        reply.location = head.headers.get(LOCATION).and_then(text);
        reply.cookies = head
            .headers
            .get_all(SET_COOKIE)
            .iter()
            .filter_map(text)
            .collect();
        reply.no_store = head
            .headers
            .get(CACHE_CONTROL)
            .and_then(text)
            .is_some_and(|v| {
                let v = v.to_ascii_lowercase();
                v.contains("no-store") || v.contains("no-cache")
            });
        reply.retry_after = head.headers.contains_key(RETRY_AFTER);
        while let Some(data) = body.data().await {
            let data = data.map_err(broken)?;
            // What is read makes room for more; an error of that is the connection's end, told next.
            let _told_next = body.flow_control().release_capacity(data.len());
            if reply.body.len() + data.len() > MAX_BODY {
                return Err(Broken {
                    why: Failure::BadReply,
                    was_idle_close: false,
                });
            }
            reply.body.extend_from_slice(&data);
        }
        let mut stats = lock(&context.stats);
        stats.bytes_received += reply.body.len() as u64;
        stats.wait.add(first_ns.saturating_sub(sent_ns));
        stats.transfer.add(now_ns().saturating_sub(first_ns));
        Ok(())
    }
}

fn head(context: &Context, request: &Ask, cookies: &str) -> http::Result<http::Request<()>> {
    let scheme = if context.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let mut head = http::Request::builder()
        .version(http::Version::HTTP_2)
        .method(&*request.method)
        .uri(format!("{scheme}://{}{}", context.authority, request.path))
        .header(USER_AGENT, "loadline");
    if !cookies.is_empty() {
        head = head.header(COOKIE, cookies);
    }
    if request.body.is_some() {
        head = head.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    }
    head.body(())
}
