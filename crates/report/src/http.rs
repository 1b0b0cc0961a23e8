//! A small HTTP server for pages that only this machine may ask for: a node's status page and the dashboard.
//!
//! The address must be a loopback one, and so must the name under which the browser knows it: a page from elsewhere
//! could otherwise point its own name here and read along. One request a connection, `GET` only, with limits on size,
//! time and number, so that a slow or hostile caller costs the program behind it nothing but a few idle threads.
//!
//! What never happens here: a look at a file, or at a request's body.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a request that are read.
const REQUEST: usize = 8192;
/// The longest time from the first byte of a request to its last, and again to the last byte of its answer.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// Requests at a time.
pub const AT_ONCE: usize = 8;
/// What a page may do until it says otherwise: nothing but look as it likes.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Others could read what it serves.
    #[error(
        "{address} is not an address of this machine alone: it must be a loopback one, such as 127.0.0.1:9464"
    )]
    NotLoopback { address: SocketAddr },
    #[error("{address} is taken: another program listens there")]
    PortTaken { address: SocketAddr },
    /// The operating system does not give us the socket or the thread.
    #[error("{address}: {problem}")]
    Bind { address: SocketAddr, problem: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The path, as it was sent: nothing is decoded.
    pub path: &'a str,
    /// What follows the question mark; may be empty.
    pub query: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    status: &'static str,
    kind: &'static str,
    policy: String,
    body: Vec<u8>,
}

impl Response {
    /// Something that is there, of a media type.
    pub fn of(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: "200 OK", kind, policy: POLICY.to_owned(), body: body.into() }
    }

    /// A few words with another status than 200.
    pub fn plain(status: &'static str, body: &str) -> Self {
        Self { status, ..Self::of("text/plain; charset=utf-8", body) }
    }

    /// The same with another Content-Security-Policy than the strictest.
    #[must_use]
    pub fn policy(self, policy: String) -> Self {
        Self { policy, ..self }
    }

    fn encode(&self) -> Vec<u8> {
        let Self { status, kind, policy, body } = self;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Content-Security-Policy: {policy}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }
}

/// Listens at a loopback address; port 0 takes a free one.
pub fn bind(address: SocketAddr) -> Result<TcpListener, ServerError> {
    if !address.ip().is_loopback() {
        return Err(ServerError::NotLoopback { address });
    }
    TcpListener::bind(address).map_err(failed(address))
}

fn failed(address: SocketAddr) -> impl Fn(io::Error) -> ServerError {
    move |error| match error.kind() {
        io::ErrorKind::AddrInUse => ServerError::PortTaken { address },
        _ => ServerError::Bind { address, problem: error.to_string() },
    }
}

/// A server, until this is dropped.
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers every request of this machine by `answer`, on threads of its own. Port 0 takes a free one.
    pub fn open(
        address: SocketAddr,
        answer: impl Fn(Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Result<Self, ServerError> {
        Self::on(bind(address)?, answer)
    }

    /// The same where [`bind`] has found a place.
    pub fn on(
        listener: TcpListener,
        answer: impl Fn(Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Result<Self, ServerError> {
        let unknown = SocketAddr::from(([127, 0, 0, 1], 0));
        let bound = listener.local_addr().map_err(failed(unknown))?;
        let stop = Arc::new(AtomicBool::new(false));
        let halt = Arc::clone(&stop);
        let answer: Arc<Answer> = Arc::new(answer);
        let thread = named().spawn(move || listen(&listener, &answer, &halt)).map_err(failed(bound))?;
        Ok(Self { address: bound, stop, thread: Some(thread) })
    }

    /// Where it is, with the port that was found if 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
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

type Answer = dyn Fn(Request<'_>) -> Response + Send + Sync;

fn named() -> std::thread::Builder {
    std::thread::Builder::new().name("prdo-page".to_owned())
}

fn listen(listener: &TcpListener, answer: &Arc<Answer>, stop: &AtomicBool) {
    let (busy, answering) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return finish(&answering);
        }
        let Ok(stream) = stream else {
            // Out of descriptors, most likely: they come back.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Some(place) = Place::take(&busy) else { continue };
        let (answer, answering) = (Arc::clone(answer), Arc::clone(&answering));
        // A thread that does not start drops its place, too.
        let _ = named().spawn(move || {
            let _place = place;
            let _ = serve(stream, &*answer, &answering);
        });
    }
}

/// Answers that were begun are sent before the program may end.
fn finish(answering: &AtomicUsize) {
    let end = Instant::now() + DEADLINE;
    while answering.load(Ordering::SeqCst) > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// One of the connections that are served at once; given back when it is dropped, whatever becomes of its thread.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(busy: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(busy));
        (busy.fetch_add(1, Ordering::SeqCst) < AT_ONCE).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, answering: &Arc<AtomicUsize>) -> io::Result<()> {
    let request = read_request(&mut stream, Instant::now() + DEADLINE)?;
    let _place = Place::take(answering);
    let response = match request {
        Some(request) => respond(&request, answer),
        None => Response::plain("431 Request Header Fields Too Large", "the request is too long\n"),
    };
    let (bytes, end) = (response.encode(), Instant::now() + DEADLINE);
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

fn respond(request: &str, answer: &Answer) -> Response {
    let mut lines = request.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.1" | "HTTP/1.0"] = words[..] else {
        return Response::plain("400 Bad Request", "not a request of HTTP/1.1\n");
    };
    if !asks_this_machine(lines) {
        return Response::plain("403 Forbidden", "the Host must be localhost, 127.0.0.1 or [::1]\n");
    }
    if method != "GET" {
        return Response::plain("405 Method Not Allowed", "only GET\n");
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    answer(Request { path, query })
}

/// Whether there is one `Host`, and it is a name of this machine for itself. Any port will do: it may have been
/// forwarded, and a page from elsewhere is told by its name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_panics_gives_its_place_back() {
        let answer = |request: Request<'_>| match request.path {
            "/panic" => panic!("this answer panics on purpose"),
            _ => Response::of("text/plain", "here"),
        };
        let server = Server::open(SocketAddr::from(([127, 0, 0, 1], 0)), answer).unwrap();
        let ask = |path: &str| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            answer
        };
        for _ in 0..=AT_ONCE {
            assert!(ask("/panic").is_empty());
        }
        // The last thread may still be ending.
        let answered = (0..50).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            ask("/").ends_with("here")
        });
        assert!(answered);
    }

    #[test]
    fn an_answer_that_was_begun_is_sent_before_the_server_is_gone() {
        let (begun, begins) = std::sync::mpsc::channel();
        let answer = move |_: Request<'_>| {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(100));
            Response::of("text/plain", "the last word")
        };
        let server = Server::open(SocketAddr::from(([127, 0, 0, 1], 0)), answer).unwrap();
        // Connections that ask for nothing are not waited for.
        let _idle = TcpStream::connect(server.address()).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        begins.recv().unwrap();
        drop(server);
        // It is all here: nothing more is waited for.
        stream.set_nonblocking(true).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("the last word"), "{answer}");
    }
}
