//! What the tests of links share: members with keys, frames, and waiting for events.
#![allow(dead_code)]

use prdo_algorithm::Exchanges;
use prdo_peer::iroh::{Limits, Links, LinksError, Neighbour, Setup};
use prdo_peer::transport::{Incoming, Open, Transport};
use prdo_peer::wire::{Expected, Frame, FrameKind, HELLO, Header, Hello, Ways};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub const RUN: [u8; 32] = [7; 32];
pub const AGREEMENT: [u8; 32] = [9; 32];
pub const ROUNDS: u32 = 1000;

/// The secret bytes of a member's key.
pub fn secret(member: usize) -> [u8; 32] {
    let mut seed = [42; 32];
    seed[0] = member as u8;
    seed
}

pub fn public(member: usize) -> [u8; 32] {
    *iroh::SecretKey::from_bytes(&secret(member)).public().as_bytes()
}

/// What `me` expects of `peer`.
pub fn expected(peer: usize, me: usize, payload_bytes: u64) -> Expected {
    let (peer, me) = (peer as u32, me as u32);
    Expected {
        run: RUN,
        agreement: AGREEMENT,
        peer,
        me,
        payload_bytes,
        final_bytes: payload_bytes,
        exchanges: Exchanges::ONE,
        rounds: ROUNDS,
        ways: Ways::both(),
    }
}

pub fn neighbour(member: usize, me: usize, at: Option<SocketAddr>, payload_bytes: u64) -> Neighbour {
    let name = format!("member-{member}");
    let addresses = at.into_iter().collect();
    Neighbour { member, name, key: public(member), addresses, expected: expected(member, me, payload_bytes) }
}

/// Short times, so that tests are.
pub fn limits() -> Limits {
    let ms = Duration::from_millis;
    Limits { connect: ms(2000), grace: ms(700), silence: ms(4000), keep_alive: ms(300), ..Limits::lan() }
}

pub fn setup(member: usize, neighbours: Vec<Neighbour>) -> Setup {
    let listen = "127.0.0.1:0".parse().unwrap();
    Setup { member, secret: secret(member).into(), listen, neighbours, relay: None, looks: false }
}

/// Links of `me` whose neighbours listen at the given places.
pub fn links(me: usize, neighbours: &[(usize, Option<SocketAddr>)], payload_bytes: u64) -> Links {
    let all = neighbours.iter().map(|(member, at)| neighbour(*member, me, *at, payload_bytes)).collect();
    Links::new(setup(me, all), limits()).unwrap()
}

/// Links on a port that was in use a moment ago.
pub fn again(mut make: impl FnMut() -> Result<Links, LinksError>) -> Links {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        match make() {
            Err(LinksError::PortTaken { .. }) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(20))
            }
            other => return other.unwrap(),
        }
    }
}

/// A vector's frame from `from` to `to`, every byte a function of the exchange.
pub fn vector(from: usize, to: usize, exchange: u64, bytes: usize) -> Frame {
    let payload: Arc<[u8]> = (0..bytes).map(|i| (i as u64 * 31 + exchange) as u8).collect();
    Frame { header: header(FrameKind::Vector, from, to, exchange, &payload), payload }
}

pub fn hello(from: usize, to: usize) -> Frame {
    Frame::hello(&expected(to, from, 0), 0, &Hello::default())
}

pub fn header(kind: FrameKind, from: usize, to: usize, exchange: u64, payload: &[u8]) -> Header {
    assert!(kind != FrameKind::Hello || payload.len() == HELLO);
    Header {
        kind,
        sender: from as u32,
        receiver: to as u32,
        run: RUN,
        agreement: AGREEMENT,
        round: exchange as u32,
        exchange,
        length: payload.len() as u64,
        hash: *blake3::hash(payload).as_bytes(),
    }
}

/// The next event, which must come within ten seconds.
pub fn next(links: &mut Links) -> Incoming {
    links.next(Duration::from_secs(10)).expect("nothing happened for ten seconds")
}

pub fn expect_up(links: &mut Links, from: usize) {
    assert_eq!(next(links), Incoming::Up { peer: from });
}

/// The reason of the neighbour's link being down, which must be the next event.
pub fn expect_down(links: &mut Links, of: usize) -> String {
    match next(links) {
        Incoming::Down { peer, why } if peer == of => why.to_string(),
        other => panic!("{other:?} instead of Down of {of}"),
    }
}

pub fn expect_refused(links: &mut Links) -> (String, String) {
    match next(links) {
        Incoming::Refused { who, why } => (who, why.to_string()),
        other => panic!("{other:?} instead of Refused"),
    }
}

pub fn expect_frame(links: &mut Links, from: usize) -> Frame {
    match next(links) {
        Incoming::Frame { peer, frame } if peer == from => frame,
        other => panic!("{} instead of a frame of {from}", short(&other)),
    }
}

/// An event without a frame's bytes.
pub fn short(event: &Incoming) -> String {
    match event {
        Incoming::Frame { peer, frame } => format!("Frame of {peer}: {:?}", frame.header.kind),
        other => format!("{other:?}"),
    }
}

/// Two members, 0 and 1, with the link between them up.
pub fn pair(payload_bytes: u64) -> (Links, Links) {
    let mut one = links(1, &[(0, None)], payload_bytes);
    let mut zero = links(0, &[(1, Some(one.local_address()))], payload_bytes);
    zero.dial(1);
    expect_up(&mut zero, 1);
    expect_up(&mut one, 0);
    (zero, one)
}
