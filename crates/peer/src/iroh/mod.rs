//! Links over QUIC: neighbours are dialled by public key, and both sides prove theirs (iroh).
//!
//! * [`Setup`] and [`Limits`] say with whom and how; [`Links`] is the [`Transport`];
//! * `listen` makes the endpoint, turns strangers away and greets, `link` reads and writes the frames of one connection,
//!   `board` holds which link is up and what is to be reported next.
//!
//! Of two neighbours the one with the lower number dials; it opens the connection's only stream and sends
//! `prdo/1?` with the hash of its agreement, and the link is up when the other has answered `prdo/1!` with the same hash.
//! From then on both sides send frames.
//!
//! What never happens here: a connection that is not encrypted or whose other end has not proven a neighbour's key;
//! early data (0-RTT); a look-up of addresses anywhere; a relay that was not named; more memory for a neighbour than
//! the window, two frames received and nine to send; a line printed (what happened is reported as [`Incoming`]).

mod board;
mod limits;
mod link;
mod listen;

pub use limits::Limits;

use crate::transport::{Incoming, LinkSetup, Open, Transport};
use crate::wire::Frame;
use ::iroh::endpoint::Connection;
use ::iroh::{Endpoint, PublicKey, RelayUrl, SecretKey};
use board::Shared;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long the endpoint may take to say goodbye after the links are closed.
const FAREWELL: Duration = Duration::from_millis(300);

pub type Neighbour = crate::transport::Neighbour<SocketAddr>;
pub type Setup = LinkSetup<SocketAddr>;

/// Links that could not be made; nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinksError {
    #[error("{address} is taken: another program listens there. Stop it, or choose another port")]
    PortTaken { address: SocketAddr },
    #[error("{address} is not an address of this machine: listen on one that is, or on 0.0.0.0 for all")]
    NotOurs { address: SocketAddr },
    #[error("cannot listen on {address}: {problem}")]
    Bind { address: SocketAddr, problem: String },
    #[error("the public key of {name} ({key}) is not an ed25519 key")]
    Key { name: String, key: String },
    #[error("{name} (member {member}) is listed twice, or has the number or key of another")]
    Twice { name: String, member: usize },
    #[error("frames expected of {name} go from member {from} to {to}; they must go from {member} to {me}")]
    Expected { name: String, member: usize, me: usize, from: u32, to: u32 },
    #[error("{name} has no address that can be reached from {listen} (both must be IPv4 or both IPv6)")]
    Address { name: String, listen: SocketAddr },
    #[error("relay = {value:?} is not an address: it must look like https://relay.example.org")]
    Relay { value: String },
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    Limit { field: &'static str, value: String, allowed: &'static str },
}

/// What one link has carried since it came up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes sent in UDP datagrams, encryption and acknowledgements included.
    pub sent: u64,
    pub received: u64,
    /// Packets that had to be sent again.
    pub lost: u64,
}

/// Links to all neighbours over QUIC. Not to be used from inside an asynchronous runtime: it has its own.
pub struct Links {
    shared: Arc<Shared>,
    endpoint: Option<Endpoint>,
    runtime: Option<Runtime>,
    address: SocketAddr,
}

impl Links {
    /// As [`Open::open`], with these limits.
    pub fn new(setup: Setup, limits: Limits) -> Result<Self, LinksError> {
        let address = setup.listen;
        let secret = SecretKey::from_bytes(&setup.secret);
        let relay = setup.relay.as_deref().map(relay).transpose()?;
        limits.check()?;
        let neighbours = check(&setup, secret.public(), relay.is_some())?;
        let shared = Arc::new(Shared::new(setup.member, neighbours, relay, limits, setup.looks));
        let problem = |problem: String| LinksError::Bind { address, problem };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("prdo-links")
            .enable_all()
            .build()
            .map_err(|error| problem(error.to_string()))?;
        let (done, made) = mpsc::channel();
        let inner = Arc::clone(&shared);
        runtime.spawn(async move {
            let _ = done.send(listen::bind(inner, secret, address).await);
        });
        let endpoint = made.recv().map_err(|error| problem(error.to_string()))??;
        let bound = endpoint.bound_sockets().into_iter().next().unwrap_or(address);
        runtime.spawn(listen::accept(endpoint.clone(), Arc::clone(&shared)));
        Ok(Self { shared, endpoint: Some(endpoint), runtime: Some(runtime), address: bound })
    }

    /// What the links that are up have carried, by member.
    pub fn traffic(&self) -> Vec<(usize, Traffic)> {
        let of = |(member, connection): (usize, Connection)| {
            let all = connection.stats();
            (member, Traffic { sent: all.udp_tx.bytes, received: all.udp_rx.bytes, lost: all.lost_packets })
        };
        self.shared.connections().into_iter().map(of).collect()
    }
}

impl Open for Links {
    type Address = SocketAddr;
    type Error = LinksError;

    /// With the limits that the neighbours' addresses suggest.
    fn open(setup: Setup) -> Result<Self, LinksError> {
        let limits = Limits::for_addresses(setup.neighbours.iter().flat_map(|n| &n.addresses));
        Self::new(setup, limits)
    }

    fn local_address(&self) -> SocketAddr {
        self.address
    }
}

impl Transport for Links {
    /// Does nothing if the link is up or being made, or if the neighbour is the one that dials.
    fn dial(&mut self, peer: usize) {
        let (Some(runtime), Some(endpoint)) = (&self.runtime, &self.endpoint) else { return };
        if peer <= self.shared.member {
            return;
        }
        let Some(neighbour) = self.shared.neighbour(peer) else { return };
        let (shared, endpoint) = (Arc::clone(&self.shared), endpoint.clone());
        self.shared.dialling(peer, |generation| {
            runtime.spawn(listen::dial(endpoint, shared, neighbour, generation)).abort_handle()
        });
    }

    /// A neighbour that leaves eight frames waiting loses its link: frames arrive in order or not at all.
    fn send(&mut self, peer: usize, frame: Frame) {
        self.shared.send(peer, frame);
    }

    fn hang_up(&mut self, peer: usize, reason: &str) {
        self.shared.hang_up(peer, reason, self.shared.limits.linger);
    }

    fn next(&mut self, wait: Duration) -> Option<Incoming> {
        self.shared.next(wait)
    }

    fn close(&mut self, wait: Duration) {
        let (Some(runtime), Some(endpoint)) = (self.runtime.take(), self.endpoint.take()) else { return };
        let end = Instant::now() + wait;
        let mut gone = self.shared.close(wait);
        let (done, closed) = mpsc::channel();
        runtime.spawn(async move {
            // `recv` gives nothing when the last link has ended.
            let _ = tokio::time::timeout_at(end.into(), gone.recv()).await;
            let _ = tokio::time::timeout(FAREWELL, endpoint.close()).await;
            let _ = done.send(());
        });
        let _ = closed.recv_timeout(wait + 2 * FAREWELL);
        runtime.shutdown_timeout(FAREWELL);
    }
}

impl Drop for Links {
    /// As if the process had died: nothing is flushed. Whoever wants that calls [`Transport::close`] first.
    fn drop(&mut self) {
        drop(self.shared.close(Duration::ZERO));
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(FAREWELL);
        }
    }
}

fn relay(value: &str) -> Result<RelayUrl, LinksError> {
    value.parse().map_err(|_| LinksError::Relay { value: value.to_owned() })
}

/// The neighbours with their keys, if the setup is one that can work.
fn check(setup: &Setup, own: PublicKey, relay: bool) -> Result<Vec<(Neighbour, PublicKey)>, LinksError> {
    let (mut members, mut keys) = (BTreeSet::from([setup.member]), BTreeSet::from([own]));
    let mut checked = Vec::with_capacity(setup.neighbours.len());
    for neighbour in &setup.neighbours {
        let Neighbour { member, name, key, addresses, expected } = neighbour;
        let (member, name) = (*member, name.clone());
        let Ok(key) = PublicKey::from_bytes(key) else {
            return Err(LinksError::Key { name, key: crate::wire::hex(key) });
        };
        if !members.insert(member) || !keys.insert(key) {
            return Err(LinksError::Twice { name, member });
        }
        let (from, to, me) = (expected.peer, expected.me, setup.member);
        if (from as usize, to as usize) != (member, me) {
            return Err(LinksError::Expected { name, member, me, from, to });
        }
        let listen = setup.listen;
        if member > me && !relay && !addresses.iter().any(|to| to.is_ipv4() == listen.is_ipv4()) {
            return Err(LinksError::Address { name, listen });
        }
        checked.push((neighbour.clone(), key));
    }
    Ok(checked)
}
