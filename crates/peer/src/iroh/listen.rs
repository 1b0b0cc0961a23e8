//! The endpoint: who may connect, and the greeting before a link is up.

use super::LinksError;
use super::board::{KnownNeighbour, REFUSED, Shared, clean};
use super::link::{self, Link};
use crate::transport::Reason;
use crate::wire::{Hash, WireError, hex};
use ::iroh::endpoint::{
    self, AfterHandshakeOutcome, BindError, ConnectOptions, ConnectingError, Connection, ConnectionError,
    EndpointHooks, PortmapperConfig, RecvStream, Side, TransportErrorCode, presets,
};
use ::iroh::{Endpoint, EndpointAddr, RelayMode, SecretKey, TransportAddr};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The protocol's name in the handshake.
pub(super) const PROTOCOL: &[u8] = b"prdo/1";
/// What the dialling side says first, and what the other answers; the hash of one's agreement follows.
const GREETING: &[u8; 7] = b"prdo/1?";
const WELCOME: &[u8; 7] = b"prdo/1!";
/// The same of somebody who only looks whether it could take part.
const LOOKING: &[u8; 7] = b"prdo/1l";
/// How long somebody with another agreement is given to read ours.
const FINAL_WORD: Duration = Duration::from_secs(1);
/// Handshakes at a time; beyond half of them, only with callers who have proven their address.
const HANDSHAKES: usize = 64;
/// TLS' alert (`unknown_ca`) with which a handshake ends if the other side's key is not the one that was dialled.
const BAD_CERTIFICATE: u8 = 48;

/// An endpoint that listens on `address` and nowhere else.
pub(super) async fn bind(
    shared: Arc<Shared>,
    secret: SecretKey,
    address: SocketAddr,
) -> Result<Endpoint, LinksError> {
    let problem = |problem: String| LinksError::Bind { address, problem };
    let relay = shared.relay.clone().map_or(RelayMode::Disabled, |url| RelayMode::custom([url]));
    Endpoint::builder(presets::Minimal)
        .secret_key(secret)
        .alpns(vec![PROTOCOL.to_vec()])
        .relay_mode(relay)
        .clear_address_lookup()
        .portmapper_config(PortmapperConfig::Disabled)
        // No ticket is kept, so that no connection begins with early data.
        .max_tls_tickets(0)
        .transport_config(shared.limits.transport(1))
        .hooks(Gatekeeper(Arc::downgrade(&shared)))
        .clear_ip_transports()
        .bind_addr(address)
        .map_err(|error| problem(with_causes(&error)))?
        .bind()
        .await
        .map_err(|error| match &error {
            BindError::Sockets { source, .. } | BindError::CreateQuicEndpoint { source, .. } => {
                match source.kind() {
                    io::ErrorKind::AddrInUse => LinksError::PortTaken { address },
                    io::ErrorKind::AddrNotAvailable => LinksError::NotOurs { address },
                    _ => problem(source.to_string()),
                }
            }
            _ => problem(with_causes(&error)),
        })
}

/// Turns away everybody but neighbours in the right direction, as soon as the key is proven.
struct Gatekeeper(Weak<Shared>);

impl std::fmt::Debug for Gatekeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gatekeeper")
    }
}

impl EndpointHooks for Gatekeeper {
    async fn after_handshake<'a>(&'a self, connection: &'a Connection) -> AfterHandshakeOutcome {
        let reject = |why: &str| AfterHandshakeOutcome::Reject { error_code: REFUSED, reason: why.into() };
        let Some(shared) = self.0.upgrade() else { return reject("this node stops") };
        match shared.admit(connection.remote_id(), connection.side() == Side::Server) {
            Ok(_) if connection.alpn() == PROTOCOL => AfterHandshakeOutcome::Accept,
            Ok(_) => reject("another protocol"),
            Err((who, why)) => {
                shared.turned_away(who, why.as_str().into());
                reject(&why)
            }
        }
    }
}

/// Takes connections until the endpoint is closed.
pub(super) async fn accept(endpoint: Endpoint, shared: Arc<Shared>) {
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
    while let Some(incoming) = endpoint.accept().await {
        if handshakes.available_permits() < HANDSHAKES / 2 && !incoming.remote_addr_validated() {
            let _ = incoming.retry();
            continue;
        }
        let Ok(place) = Arc::clone(&handshakes).try_acquire_owned() else {
            incoming.refuse();
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            if let Some((known, link)) = greet(&shared, incoming, place).await {
                begin(shared, known, None, link).await;
            }
        });
    }
}

/// Serves a link, if it is still wanted.
async fn begin(shared: Arc<Shared>, known: Arc<KnownNeighbour>, dialled: Option<u64>, link: Link) {
    match shared.up(known.neighbour.member, dialled, link.connection.clone()) {
        Ok(channels) => link::serve(shared, known, link, channels).await,
        Err(why) => link.connection.close(REFUSED, why.as_bytes()),
    }
}

/// The accepting side's part: handshake, identity, direction, greeting.
async fn greet(
    shared: &Shared,
    incoming: endpoint::Incoming,
    place: OwnedSemaphorePermit,
) -> Option<(Arc<KnownNeighbour>, Link)> {
    let connection = timeout(shared.limits.connect, async { incoming.await.ok() }).await.ok()??;
    // The handshake's hook has asked the same; a link does not depend on a hook alone.
    let known = match shared.admit(connection.remote_id(), true) {
        Ok(known) => known,
        Err((_, why)) => {
            connection.close(REFUSED, why.as_bytes());
            return None;
        }
    };
    drop(place);
    let Ok(_greeting) = known.greetings.try_acquire() else {
        connection.close(REFUSED, b"too many connections at a time");
        return None;
    };
    let greeted = timeout(shared.limits.connect, async {
        let (mut out, mut input) = connection.accept_bi().await.map_err(|_| None)?;
        if input.is_0rtt() {
            return Err(Some("it sent early data".to_owned()));
        }
        let theirs = read_greeting(&mut input, GREETING).await?;
        // The other side is told in any case, so that it can say in its own words what differs.
        out.write_all(&greeting(shared, &known, WELCOME)).await.map_err(|_| None)?;
        Ok((out, input, theirs.agrees(&known)))
    });
    let late = "its greeting did not come in time".to_owned();
    match greeted.await.unwrap_or(Err(Some(late))) {
        Ok((out, input, Ok(()))) => Some((Arc::clone(&known), Link { connection, out, input })),
        Ok((mut out, _, Err(why))) => {
            shared.turned_away(known.neighbour.name.clone(), why);
            // The other side reads our greeting, and then hangs up.
            let _ = out.finish();
            let _ = timeout(FINAL_WORD, connection.closed()).await;
            connection.close(REFUSED, b"another agreement");
            None
        }
        Err(why) => {
            if let Some(why) = &why {
                shared.turned_away(known.neighbour.name.clone(), why.as_str().into());
            }
            connection.close(REFUSED, why.unwrap_or_default().as_bytes());
            None
        }
    }
}

/// What this side says first.
fn greeting(shared: &Shared, known: &KnownNeighbour, first: &[u8; 7]) -> Vec<u8> {
    let head = if shared.looks { LOOKING } else { first };
    [head.as_slice(), &known.neighbour.expected.agreement].concat()
}

/// What the other side has said first.
struct PeerGreeting {
    looks: bool,
    agreement: Hash,
}

impl PeerGreeting {
    /// Whether both sides have the same agreement; the error shows both hashes.
    fn agrees(&self, known: &KnownNeighbour) -> Result<(), Reason> {
        let ours = known.neighbour.expected.agreement;
        if self.agreement == ours {
            return Ok(());
        }
        let found = hex(&self.agreement);
        Err(match self.looks {
            // No reason for a run to stop: nothing was started there.
            true => format!("it checked whether it could take part, with another agreement: {found}").into(),
            false => WireError::Agreement { found, ours: hex(&ours) }.into(),
        })
    }
}

/// Reads a greeting; the error says what is wrong with it, nothing if the connection broke.
async fn read_greeting(input: &mut RecvStream, wanted: &[u8; 7]) -> Result<PeerGreeting, Option<String>> {
    let (mut head, mut agreement) = ([0; 7], [0; 32]);
    input.read_exact(&mut head).await.map_err(|_| None)?;
    if &head != wanted && &head != LOOKING {
        return Err(Some("its greeting is not one of this protocol".to_owned()));
    }
    input.read_exact(&mut agreement).await.map_err(|_| None)?;
    Ok(PeerGreeting { looks: &head == LOOKING, agreement })
}

/// The dialling side's part.
pub(super) async fn dial(
    endpoint: Endpoint,
    shared: Arc<Shared>,
    known: Arc<KnownNeighbour>,
    generation: u64,
) {
    let time = shared.limits.connect;
    let why = match timeout(time, call(&endpoint, &shared, &known)).await {
        Ok(Ok(link)) => {
            drop(endpoint);
            return begin(shared, known, Some(generation), link).await;
        }
        Ok(Err(why)) => why,
        Err(_) => format!("no answer within {time:?}").into(),
    };
    let places: Vec<_> = known.neighbour.addresses.iter().map(ToString::to_string).collect();
    shared.unreachable(
        known.neighbour.member,
        generation,
        why.with(&format!(" (dialled {})", places.join(", "))),
    );
}

async fn call(endpoint: &Endpoint, shared: &Shared, known: &KnownNeighbour) -> Result<Link, Reason> {
    let direct = known.neighbour.addresses.iter().copied().map(TransportAddr::Ip);
    let relayed = shared.relay.clone().map(TransportAddr::Relay);
    let to = EndpointAddr::from_parts(known.key, direct.chain(relayed));
    // The dialling side opens the stream: the other may open none.
    let options = ConnectOptions::new().with_transport_config(shared.limits.transport(0));
    let connecting =
        endpoint.connect_with_opts(to, PROTOCOL, options).await.map_err(|error| with_causes(&error))?;
    let connection = connecting.await.map_err(|error| no_handshake(&error, shared.limits.silence))?;
    let broken = || match connection.close_reason() {
        Some(error) => link::explain(&error, shared.limits.silence),
        None => "it does not speak this protocol".to_owned(),
    };
    let (mut out, mut input) = connection.open_bi().await.map_err(|_| broken())?;
    out.write_all(&greeting(shared, known, GREETING)).await.map_err(|_| broken())?;
    let theirs = read_greeting(&mut input, WELCOME).await.map_err(|_| broken())?;
    if let Err(why) = theirs.agrees(known) {
        connection.close(REFUSED, b"another agreement");
        return Err(why);
    }
    Ok(Link { connection, out, input })
}

/// Why no handshake came about, in words.
fn no_handshake(error: &ConnectingError, silence: Duration) -> String {
    match error {
        ConnectingError::ConnectionError { source: ConnectionError::TransportError(error), .. }
            if error.code == TransportErrorCode::crypto(BAD_CERTIFICATE) =>
        {
            "whoever answers there has a different key from this neighbour's".to_owned()
        }
        ConnectingError::ConnectionError { source, .. } => link::explain(source, silence),
        other => with_causes(other),
    }
}

/// An error with its causes, in one line.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text += &format!(": {inner_text}");
        }
        cause = inner.source();
    }
    clean(&text)
}
