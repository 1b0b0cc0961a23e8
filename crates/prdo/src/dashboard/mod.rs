//! The live dashboard: one page that shows a run's folder while it is written, and afterwards.
//!
//! The folder is the one source: `run.toml`, `metrics.csv`, `live.json` and `summary.json` of a run, or the status, the
//! log and `progress.csv` of a node (`source`, `member`). So the page is the same whether it is served from within the run
//! (`prdo run --watch`) or by another process (`prdo watch DIR`), for a run that goes on, was killed or is long over.
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

pub use source::Source;

use prdo_peer::http::{Request, Response, Server, ServerError, bind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A dashboard that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DashboardError {
    /// The port cannot be had.
    #[error("the dashboard cannot listen: {0}")]
    Server(#[from] ServerError),
    /// No token.
    #[error("the operating system has no randomness for the dashboard's address: {0}")]
    Random(String),
}

/// A port on 127.0.0.1 that is ours: taken early, so that one that is in use is found before anything is written.
pub struct Port(TcpListener);

impl Port {
    /// Takes a port; 0 takes a free one.
    ///
    /// # Errors
    /// A port that is taken.
    pub fn take(port: u16) -> Result<Self, DashboardError> {
        Ok(Self(bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?))
    }
}

/// A dashboard, served until this is dropped.
pub struct Dashboard {
    server: Server,
    token: String,
    seen: Arc<Mutex<Seen>>,
}

/// When somebody last asked for anything, and for the state.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    page: Option<Instant>,
    state: Option<Instant>,
}

impl Dashboard {
    /// Serves a folder.
    ///
    /// # Errors
    /// An operating system without randomness or threads.
    pub fn open(port: Port, source: Source) -> Result<Self, DashboardError> {
        let token = draw()?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (expected, looked) = (token.clone(), Arc::clone(&seen));
        let server = Server::on(port.0, move |request| {
            let Some(rest) = after_token(request.path, &expected) else {
                return Response::plain("403 Forbidden", "");
            };
            let response = respond(rest, request, &source);
            let mut seen = looked.lock().unwrap_or_else(PoisonError::into_inner);
            seen.page = Some(Instant::now());
            if rest == "state.json" {
                seen.state = seen.page;
            }
            response
        })?;
        Ok(Self { server, token, seen })
    }

    /// What to open in a browser.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.server.address(), self.token)
    }

    /// The work is over, which the folder says by now: a page that is open gets the time to ask once more.
    pub fn linger(&self, longest: Duration) {
        let over = Instant::now();
        let seen = || *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let open = seen().page.is_some_and(|at| at.elapsed() < longest);
        while open && over.elapsed() < longest && seen().state.is_none_or(|at| at <= over) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if open {
            // The answer itself is on its way.
            std::thread::sleep(Duration::from_millis(100));
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

fn respond(what: &str, request: Request<'_>, source: &Source) -> Response {
    match what {
        "" => match draw() {
            Ok(nonce) => {
                Response::of("text/html; charset=utf-8", page::html(&nonce)).policy(page::policy(&nonce))
            }
            Err(error) => Response::plain("500 Internal Server Error", &error.to_string()),
        },
        "state.json" => {
            let number = |key: &str| {
                let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
                pairs.filter(|(name, _)| *name == key).find_map(|(_, value)| value.parse().ok())
            };
            let state = source.state(number("epoch").unwrap_or(0), number("from").unwrap_or(0));
            Response::of("application/json", state.to_string())
        }
        "network.json" => Response::of("application/json", source.network().to_string()),
        "report.html" => match source.report() {
            // Not even this page's own state is for a file that somebody may have put there.
            Some(html) => Response::of("text/html; charset=utf-8", html).policy(page::REPORT_POLICY.into()),
            None => Response::plain("404 Not Found", "there is no report yet\n"),
        },
        _ => Response::plain("404 Not Found", ""),
    }
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
