//! A plain status page and Prometheus metrics on a loopback address.
//!
//! `GET /` is the page, `GET /metrics` the metrics, `GET /status.json` both for programs; everything else is not
//! found. There is no password, so only this machine may ask: the address must be a loopback one, and so must the name
//! under which the browser knows it (a page from elsewhere could otherwise point its own name here and read along).
//!
//! What is shown is a [`Sheet`] that the node fills in. What never happens here: a look at anything else of the node.

mod sheet;
#[cfg(test)]
mod tests;

pub use sheet::{Measure, Sample, Sheet};

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a request that are read.
const REQUEST: usize = 8192;
/// The longest time from the first byte of a request to the last of its answer.
const DEADLINE: Duration = Duration::from_secs(2);
/// Requests at a time.
const AT_ONCE: usize = 4;

/// A page that could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// Others could read it.
    #[error(
        "the status page cannot be at {address}: it has no password, so the address must be a loopback one, such as 127.0.0.1:9464"
    )]
    NotLoopback {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The port is in use.
    #[error("the status page cannot be at {address}: another program listens there")]
    PortTaken {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The operating system does not give us the socket or the thread.
    #[error("the status page cannot be at {address}: {problem}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What was said.
        problem: String,
    },
}

/// The page, served until this is dropped.
pub struct Page {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    /// Serves what the sheet says at the time of each request. Port 0 takes a free one.
    ///
    /// # Errors
    /// An address that is not a loopback one, or cannot be had.
    pub fn open(address: SocketAddr, sheet: Arc<Mutex<Sheet>>) -> Result<Self, PageError> {
        if !address.ip().is_loopback() {
            return Err(PageError::NotLoopback { address });
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => PageError::PortTaken { address },
            _ => PageError::Bind { address, problem: error.to_string() },
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let halt = Arc::clone(&stop);
        let named = std::thread::Builder::new().name("prdo-page".to_owned());
        let thread = named.spawn(move || listen(&listener, &sheet, &halt)).map_err(failed)?;
        Ok(Self { address: bound, stop, thread: Some(thread) })
    }

    /// Where it is, with the port that was found if 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The thread waits for the next connection: this is it.
        if TcpStream::connect_timeout(&self.address, DEADLINE).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn listen(listener: &TcpListener, sheet: &Arc<Mutex<Sheet>>, stop: &AtomicBool) {
    let busy = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            // Out of descriptors, most likely: they come back.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if busy.fetch_add(1, Ordering::SeqCst) >= AT_ONCE {
            busy.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (sheet, mine) = (Arc::clone(sheet), Arc::clone(&busy));
        let named = std::thread::Builder::new().name("prdo-page".to_owned());
        let started = named.spawn(move || {
            let _ = answer(stream, &sheet);
            mine.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            busy.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Reads a request and answers it, in time.
fn answer(mut stream: TcpStream, sheet: &Mutex<Sheet>) -> io::Result<()> {
    let end = Instant::now() + DEADLINE;
    let response = match read_request(&mut stream, end)? {
        Some(request) => respond(&request, sheet),
        None => Response::plain("431 Request Header Fields Too Large", "the request is too long\n"),
    };
    let bytes = response.encode();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(end)?))?;
        let written = stream.write(rest)?;
        rest = rest.get(written.max(1)..).unwrap_or_default();
    }
    stream.shutdown(std::net::Shutdown::Write)
}

fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A request up to its empty line; nothing if that does not come within [`REQUEST`] bytes.
fn read_request(stream: &mut TcpStream, end: Instant) -> io::Result<Option<String>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 1024]);
    while bytes.len() <= REQUEST {
        if let Some(length) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bytes.truncate(length);
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
        stream.set_read_timeout(Some(left(end)?))?;
        match stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend(chunk.iter().take(read)),
        }
    }
    Ok(None)
}

struct Response {
    status: &'static str,
    kind: &'static str,
    body: String,
}

impl Response {
    fn plain(status: &'static str, body: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: body.to_owned() }
    }

    fn encode(&self) -> Vec<u8> {
        let Self { status, kind, body } = self;
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

fn respond(request: &str, sheet: &Mutex<Sheet>) -> Response {
    let mut lines = request.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.1" | "HTTP/1.0"] = words[..] else {
        return Response::plain("400 Bad Request", "not a request of HTTP/1.1\n");
    };
    if !asks_this_machine(lines) {
        return Response::plain("403 Forbidden", "the Host must be localhost, 127.0.0.1 or [::1]\n");
    }
    let path = target.split('?').next().unwrap_or_default();
    let sheet = sheet.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match (method, path) {
        ("GET", "/") => Response { status: "200 OK", kind: "text/html; charset=utf-8", body: sheet.html() },
        ("GET", "/metrics") => Response {
            status: "200 OK",
            kind: "text/plain; version=0.0.4; charset=utf-8",
            body: sheet.metrics(),
        },
        ("GET", "/status.json") => {
            Response { status: "200 OK", kind: "application/json", body: sheet.status.clone() }
        }
        _ => Response::plain("404 Not Found", "there are /, /metrics and /status.json\n"),
    }
}

/// Whether there is one `Host`, and it is a name of this machine for itself.
fn asks_this_machine<'a>(headers: impl Iterator<Item = &'a str>) -> bool {
    let hosts = headers.filter_map(|line| line.split_once(':'));
    let mut hosts =
        hosts.filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.trim());
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost") || ["127.0.0.1", "[::1]"].contains(&name)
}
