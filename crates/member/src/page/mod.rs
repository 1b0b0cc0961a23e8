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

use prdo_report::http::{Request, Response, Server, ServerError};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot serve the status page: {0}")]
pub struct PageError(pub ServerError);

/// The page, served until this is dropped.
pub struct Page(Server);

impl Page {
    /// Serves what the sheet says at the time of each request. Port 0 takes a free one.
    pub fn open(address: SocketAddr, sheet: Arc<Mutex<Sheet>>) -> Result<Self, PageError> {
        Server::open(address, move |request| respond(request, &sheet)).map(Self).map_err(PageError)
    }

    /// Where it is, with the port that was found if 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

fn respond(request: Request<'_>, sheet: &Mutex<Sheet>) -> Response {
    let sheet = sheet.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match request.path {
        "/" => Response::of("text/html; charset=utf-8", sheet.html()),
        "/metrics" => Response::of("text/plain; version=0.0.4; charset=utf-8", sheet.metrics()),
        "/status.json" => Response::of("application/json", sheet.status),
        _ => Response::plain("404 Not Found", "unknown page; expected one of /, /metrics and /status.json\n"),
    }
}
