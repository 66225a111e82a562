//! The server: 127.0.0.1 only, GET only, and for pages of its own origin only. Of two traces beside each other each has its own
//! addresses, `/before/` and `/now/`, and the page around them has `/`.
//!
//! A page of another site may have its name resolve to 127.0.0.1 (DNS rebinding), or simply link
//! here. So a request whose Host is not ours is refused, and the API also refuses what a browser
//! says comes from another site. No CORS header is ever sent.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderMap, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use loadline_trace::Trace;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::api::{Answer, Api};
use crate::confined::Client;
use crate::failure::Failure;
use crate::files::{self, File};

/// What is looked at, by its traces' directories.
#[derive(Debug, Clone)]
pub enum Show {
    /// One trace.
    One(PathBuf),
    /// Two traces beside each other, and what changed between them.
    Both {
        /// The one before.
        before: PathBuf,
        /// The one now.
        now: PathBuf,
        /// The comparison, as JSON.
        diff: String,
    },
}

/// What to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// Of which traces.
    pub show: Show,
    /// Directory of the built page.
    pub web: PathBuf,
    /// Port; 0 takes any that is free.
    pub port: u16,
}

/// A server that is bound, and answers once [`Server::run_until`] runs.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    port: u16,
    site: Arc<Site>,
}

/// What every connection shares.
struct Site {
    /// Traces by what their addresses begin with: nothing, if there is but one.
    traces: Vec<(&'static str, Api)>,
    /// What changed between two.
    diff: Option<String>,
    files: HashMap<String, File>,
    port: u16,
}

/// Reads the traces and the page, and binds the port on 127.0.0.1.
pub fn serve(options: Options) -> Result<Server> {
    let (dirs, diff) = match options.show {
        Show::One(dir) => (vec![("", dir)], None),
        Show::Both { before, now, diff } => (vec![("/before", before), ("/now", now)], Some(diff)),
    };
    let open = |(prefix, dir): (&'static str, PathBuf)| -> Result<_> {
        let api = Api::open(&Trace::open(&dir)?);
        Ok((
            prefix,
            api.with_context(|| format!("reading {}", dir.display()))?,
        ))
    };
    let files = files::read(&options.web)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let address = (Ipv4Addr::LOCALHOST, options.port);
    let listener = runtime
        .block_on(TcpListener::bind(address))
        .with_context(|| {
            format!(
                "port {} on 127.0.0.1 cannot be had; choose another, or 0 for any",
                options.port
            )
        })?;
    let port = listener.local_addr()?.port();
    let traces = dirs.into_iter().map(open).collect::<Result<_>>()?;
    let site = Site {
        traces,
        diff,
        files,
        port,
    };
    Ok(Server {
        runtime,
        listener,
        port,
        site: Arc::new(site),
    })
}

impl Server {
    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers until `stop` is true, then closes every connection.
    pub fn run_until(self, stop: &AtomicBool) -> Result<()> {
        let Server {
            runtime,
            listener,
            site,
            ..
        } = self;
        runtime.block_on(async {
            while !stop.load(Ordering::Relaxed) {
                // Wakes often enough that an end is not noticed late.
                let Ok(accepted) =
                    tokio::time::timeout(Duration::from_millis(50), listener.accept()).await
                else {
                    continue;
                };
                match accepted {
                    Ok((stream, _)) => {
                        tokio::spawn(connection(stream, site.clone()));
                    }
                    // Out of descriptors, mostly: the next may succeed.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }
}

async fn connection(stream: tokio::net::TcpStream, site: Arc<Site>) {
    let service = service_fn(move |request| {
        let site = site.clone();
        async move {
            let client = Arc::new(Client::default());
            let _leaving = Leaving(client.clone());
            // Answers compute or wait for SQL: not on the threads that read sockets.
            let answer = tokio::task::spawn_blocking(move || site.respond(&request, &client)).await;
            Ok::<_, Infallible>(answer.unwrap_or_else(|_| {
                failure(&Failure {
                    status: 500,
                    message: "the answer could not be computed (a bug)".into(),
                })
            }))
        }
    });
    // A client that goes away, or sends no HTTP, ends its own connection and nothing else.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(30))
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// A client as its connection knows it: when that closes, hyper drops the future that waits for the answer, and this with it.
struct Leaving(Arc<Client>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Site {
    fn respond<B>(&self, request: &Request<B>, client: &Client) -> Response<Full<Bytes>> {
        self.checked(request, client)
            .unwrap_or_else(|e| failure(&e))
    }

    fn checked<B>(
        &self,
        request: &Request<B>,
        client: &Client,
    ) -> Result<Response<Full<Bytes>>, Failure> {
        let (headers, path) = (request.headers(), request.uri().path());
        if !is_own_host(headers, self.port) {
            let message =
                "the Host header names another machine: open this page as http://127.0.0.1"
                    .to_string();
            return Err(Failure {
                status: 403,
                message,
            });
        }
        if request.method() != Method::GET {
            return Err(Failure {
                status: 405,
                message: format!("{} is not answered; only GET is", request.method()),
            });
        }
        let (trace, path) = self.split(path);
        let missing = || Failure {
            status: 404,
            message: format!("there is no {path}"),
        };
        if path.starts_with("/api/") {
            if is_cross_site(headers) {
                return Err(Failure {
                    status: 403,
                    message: "a page of another site may not read this trace".into(),
                });
            }
            let answer = match (trace, &self.diff) {
                (Some(api), _) => {
                    api.answer(path, request.uri().query().unwrap_or_default(), client)?
                }
                (None, Some(diff)) if path == "/api/diff" => Answer::Json(diff.clone()),
                _ => return Err(missing()),
            };
            return Ok(match answer {
                Answer::Json(text) => response(200, "application/json", text.into()),
                Answer::Bytes(bytes) => response(200, "application/octet-stream", bytes.into()),
            });
        }
        let name = match (path, trace) {
            ("/", Some(_)) => "/index.html",
            ("/", None) => "/compare.html",
            (path, _) => path,
        };
        let file = self.files.get(name).ok_or_else(missing)?;
        Ok(response(200, file.mime, file.bytes.clone()))
    }

    /// The trace that an address is about, and the address within it; what is about both has none.
    fn split<'a>(&self, path: &'a str) -> (Option<&Api>, &'a str) {
        let within = |(prefix, api)| -> Option<(&Api, &'a str)> {
            let rest = path.strip_prefix(prefix)?;
            rest.starts_with('/').then_some((api, rest))
        };
        let of = self
            .traces
            .iter()
            .map(|(p, api)| (*p, api))
            .find_map(within);
        of.map_or((None, path), |(api, rest)| (Some(api), rest))
    }
}

/// Whether the request was sent to an address of ours, not to a name that merely resolves to it.
fn is_own_host(headers: &HeaderMap, port: u16) -> bool {
    let host = headers
        .get(HOST)
        .and_then(|h| h.to_str().ok())
        .unwrap_or_default();
    ["127.0.0.1", "localhost"]
        .iter()
        .any(|name| host == format!("{name}:{port}") || (port == 80 && host == *name))
}

/// Whether the browser says that a page of another origin sent it.
fn is_cross_site(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_some_and(|v| v != "same-origin" && v != "none")
}

fn failure(failure: &Failure) -> Response<Full<Bytes>> {
    let body = serde_json::json!({ "message": failure.message }).to_string();
    response(failure.status, "application/json", body.into())
}

fn response(status: u16, mime: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(mime));
    // Another trace may be served at the same address tomorrow.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'self'; img-src 'self' data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"),
    );
    response
}
