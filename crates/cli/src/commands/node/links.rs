//! A member's links over the network, and the attempt to reach its neighbours without releasing anything.

use super::check::Attempt;
use crate::commands::Failure;
use prdo_member::Membership;
use prdo_peer::identity::Identity;
use prdo_peer::transport::{Incoming, LinkSetup, Neighbour, Open, Transport};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// What carries the messages between members.
pub type Links = prdo_peer::iroh::Links;

/// Listens, and knows the neighbours. Somebody who only looks stops nobody with another agreement.
pub fn open(
    seat: &Membership,
    identity: &Identity,
    listen: SocketAddr,
    looks: bool,
) -> Result<Links, Failure> {
    let neighbours = seat.neighbours().into_iter().map(|(number, member)| Neighbour {
        member: number,
        name: member.name.clone(),
        key: *member.key.as_bytes(),
        addresses: member.addresses.clone(),
        expected: seat.agreement.expected(seat.number, number),
    });
    let setup = LinkSetup {
        member: seat.number,
        secret: Zeroizing::new(*identity.secret_bytes()),
        listen,
        neighbours: neighbours.collect(),
        relay: seat.agreement.terms().relay.clone(),
        looks,
    };
    Links::open(setup).map_err(|error| Failure::Input(error.to_string()))
}

/// Between two attempts to dial.
const AGAIN: Duration = Duration::from_millis(500);
/// After a link is up: a neighbour with another agreement says so within this time.
const OBJECTION: Duration = Duration::from_millis(500);

struct Contact {
    dial_at: Option<Instant>,
    up_since: Option<Instant>,
    why: String,
    objects: bool,
}

/// Tries to reach every neighbour: identities are proven, nothing else is said.
pub fn attempt(
    seat: &Membership,
    identity: &Identity,
    listen: SocketAddr,
    wait: Duration,
) -> Result<Vec<Attempt>, Failure> {
    let mut links = open(seat, identity, listen, true)?;
    let end = Instant::now() + wait;
    let neighbours = seat.neighbours();
    let mut contacts: BTreeMap<usize, Contact> = neighbours
        .iter()
        .map(|(number, _)| {
            let ours = *number > seat.number;
            let why = if ours { "no answer" } else { "it did not connect (it is the side that dials)" };
            let dial_at = ours.then(Instant::now);
            (*number, Contact { dial_at, up_since: None, why: why.into(), objects: false })
        })
        .collect();
    let settled = |t: &Contact| t.objects || t.up_since.is_some_and(|since| since.elapsed() >= OBJECTION);
    while Instant::now() < end && !contacts.values().all(settled) {
        for (peer, t) in &mut contacts {
            if t.dial_at.is_some_and(|at| at <= Instant::now()) {
                t.dial_at = None;
                links.dial(*peer);
            }
        }
        hear(links.next(Duration::from_millis(50)), &mut contacts, seat);
    }
    links.close(Duration::from_secs(1));
    let place = |list: &[SocketAddr]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let result = |(number, member): &(usize, &prdo_peer::agreement::Member)| {
        let t = contacts.get(number);
        let reached = t.is_some_and(|t| t.up_since.is_some() && !t.objects);
        let why = (!reached).then(|| t.map_or(String::new(), |t| t.why.clone()));
        Attempt { name: member.name.clone(), addresses: place(&member.addresses), why }
    };
    Ok(neighbours.iter().map(result).collect())
}

fn hear(incoming: Option<Incoming>, contacts: &mut BTreeMap<usize, Contact>, seat: &Membership) {
    match incoming {
        Some(Incoming::Up { peer }) => {
            if let Some(t) = contacts.get_mut(&peer) {
                t.up_since.get_or_insert_with(Instant::now);
            }
        }
        Some(Incoming::Down { peer, why }) => {
            if let Some(t) = contacts.get_mut(&peer) {
                // Once reached it may go its way: the other side was looking too.
                if !t.objects {
                    t.why = why.to_string();
                }
                t.dial_at = (peer > seat.number && t.up_since.is_none()).then(|| Instant::now() + AGAIN);
            }
        }
        Some(Incoming::Refused { who, why }) => {
            let number = seat.neighbours().into_iter().find(|(_, m)| m.name == who).map(|(n, _)| n);
            if let Some(t) = number.and_then(|n| contacts.get_mut(&n)) {
                (t.why, t.objects) = (why.to_string(), true);
            }
        }
        Some(Incoming::Frame { .. }) | None => {}
    }
}
