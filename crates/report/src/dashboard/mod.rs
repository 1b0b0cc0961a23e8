//! The live dashboard: one page that shows a run's folder while it is written, and afterwards.
//!
//! The folder is the one source: `run.toml`, `metrics.csv`, `live.json` and `summary.json` of a run, or the status, the
//! log and `progress.csv` of a node (`source`, `member`). So the page is the same whether it is served from within the run
//! (`prdo run --watch`) or by another process (`prdo watch DIR`), for a run that is running, was killed or is long over.
//!
//! Who may look: whoever has the address, which holds a token of 128 bits drawn from the operating system, on this
//! machine (the server listens on loopback only). The page loads nothing from anywhere else.
//!
//! What never happens here: a change of the folder, or a look at records, models or checkpoints.

mod member;
mod network;
mod page;
mod reading;
mod source;
mod tail;

pub use member::{Homes, Members};
pub use source::Source;

use crate::http::{Request, Response, Server, ServerError, bind};
use prdo_store::names;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum DashboardError {
    #[error("the dashboard cannot listen: {0}")]
    Server(#[from] ServerError),
    #[error("the operating system has no randomness for the dashboard's address: {0}")]
    Random(String),
}

/// A port on 127.0.0.1 that is ours: taken early, so that one that is in use is found before anything is written.
pub struct Port(TcpListener);

impl Port {
    /// Takes a port; 0 takes a free one.
    pub fn take(port: u16) -> Result<Self, DashboardError> {
        Ok(Self(bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?))
    }
}

/// A dashboard, served until this is dropped.
pub struct Dashboard {
    server: Server,
    token: String,
    shown: Arc<Shown>,
}

/// A page that has not asked for this long is taken for gone. A hidden one asks every five seconds, and on a busy machine
/// an answer can take as long again; one that is closed says so.
const OPEN: Duration = Duration::from_secs(20);

struct Shown {
    source: Source,
    /// Open pages, by their nonces. A program that asks for the state without one counts as a page too.
    pages: Mutex<HashMap<String, Page>>,
}

/// When a page last asked for anything, and when it asked for the last state that it was told.
struct Page {
    seen: Instant,
    state: Option<Instant>,
}

impl Dashboard {
    pub fn open(port: Port, source: Source) -> Result<Self, DashboardError> {
        let token = draw()?;
        let shown = Arc::new(Shown { source, pages: Mutex::default() });
        let (expected, answering) = (token.clone(), Arc::clone(&shown));
        let server = Server::on(port.0, move |request| match after_token(request.path, &expected) {
            Some(rest) => answering.respond(rest, request),
            None => Response::plain("403 Forbidden", ""),
        })?;
        Ok(Self { server, token, shown })
    }

    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.server.address(), self.token)
    }

    /// The work is over, which the folder says by now: every page that is open gets the time to ask once more.
    pub fn linger(&self, longest: Duration) {
        // Before the clock is read: whoever asks from then on is told how it ended.
        self.shown.source.look_again();
        let over = Instant::now();
        while over.elapsed() < longest && self.shown.is_awaited(over) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// 128 bits from the operating system, in hexadecimal.
fn draw() -> Result<String, DashboardError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| DashboardError::Random(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What follows `/TOKEN/` in a path, if that is how it begins. How long it takes does not tell how much was right.
fn after_token<'a>(path: &'a str, token: &str) -> Option<&'a str> {
    let (given, rest) = path.strip_prefix('/')?.split_once('/')?;
    let same = given.len() == token.len();
    let differ = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    (same && std::hint::black_box(differ) == 0).then_some(rest)
}

impl Shown {
    fn respond(&self, what: &str, request: Request<'_>) -> Response {
        match what {
            "" => match draw() {
                Ok(nonce) => {
                    self.saw(&nonce, None);
                    Response::of("text/html; charset=utf-8", page::html(&nonce)).policy(page::policy(&nonce))
                }
                Err(error) => Response::plain("500 Internal Server Error", &error.to_string()),
            },
            "state.json" => {
                let asked = Instant::now();
                let state = self.source.state(value(request, "epoch"), value(request, "from"));
                self.saw(&value::<String>(request, "page"), Some(asked));
                Response::of("application/json", state.to_string())
            }
            "closed" => {
                self.pages().remove(&value::<String>(request, "page"));
                Response::of("text/plain; charset=utf-8", "")
            }
            "network.json" => Response::of("application/json", self.source.network().to_string()),
            names::REPORT => match self.source.report() {
                // Not even this page's own state is for a file that somebody may have put there.
                Some(html) => {
                    Response::of("text/html; charset=utf-8", html).policy(page::REPORT_POLICY.into())
                }
                None => Response::plain("404 Not RunFolder", "there is no report yet\n"),
            },
            _ => Response::plain("404 Not RunFolder", ""),
        }
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<String, Page>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, page: &str, state: Option<Instant>) {
        let mut pages = self.pages();
        pages.retain(|_, page| page.seen.elapsed() < OPEN);
        pages.insert(page.to_owned(), Page { seen: Instant::now(), state });
    }

    /// Whether a page is open that has not asked for the state since.
    fn is_awaited(&self, since: Instant) -> bool {
        let awaited =
            |page: &Page| page.seen.elapsed() < OPEN && page.state.is_none_or(|asked| asked < since);
        self.pages().values().any(awaited)
    }
}

/// A value of a request's query; the type's default where there is none, or none that can be read.
fn value<T: std::str::FromStr + Default>(request: Request<'_>, key: &str) -> T {
    let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == key).find_map(|(_, value)| value.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let token = draw().unwrap();
        assert_eq!(token.len(), 32);
        assert_ne!(token, draw().unwrap());
        assert_eq!(after_token(&format!("/{token}/"), &token), Some(""));
        assert_eq!(after_token(&format!("/{token}/state.json"), &token), Some("state.json"));
        let mut other = token.clone();
        other.replace_range(31.., if token.ends_with('0') { "1" } else { "0" });
        for path in
            ["", "/", "//", "/state.json", &format!("/{token}"), &format!("{token}/"), &format!("/{other}/")]
        {
            assert_eq!(after_token(path, &token), None, "{path}");
        }
        assert_eq!(after_token(&format!("/{}/", &token[..31]), &token), None);
        assert_eq!(after_token(&format!("/{token}0/"), &token), None);
        assert_eq!(after_token("//", ""), Some(""));
    }
}
