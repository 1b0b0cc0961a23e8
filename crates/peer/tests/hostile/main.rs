//! A neighbour that holds a listed key and means harm: nothing panics, memory stays bounded, and the other neighbour's
//! frames keep flowing.
#![cfg(feature = "iroh")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../peer/net.rs"]
mod net;

use iroh::endpoint::{Connection, RecvStream, SendStream, VarInt, presets};
use iroh::{Endpoint, EndpointAddr, RelayMode, SecretKey, TransportAddr};
use net::*;
use prdo_peer::iroh::Links;
use prdo_peer::transport::{Incoming, Open, Transport};
use prdo_peer::wire::{Frame, FrameKind, HEADER, HELLO};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const BYTES: usize = 100_000;

/// How often each attack is tried: `PRDO_HOSTILE_TIMES` times, or a few.
fn times() -> usize {
    std::env::var("PRDO_HOSTILE_TIMES").map_or(20, |times| times.parse().unwrap())
}

/// One scene at a time: they measure the process's memory.
static ALONE: Mutex<()> = Mutex::new(());

/// Member 1 is the victim, member 0 is hostile, member 2 is honest and exchanges frames with member 1 all the time.
struct Scene {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    exchanged: Arc<AtomicU64>,
    victim: JoinHandle<Seen>,
    honest: JoinHandle<()>,
    _alone: MutexGuard<'static, ()>,
}

/// What the victim was told.
#[derive(Default)]
struct Seen {
    refused: BTreeMap<String, usize>,
    hellos: u64,
    ups: usize,
    downs: usize,
}

impl Scene {
    fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut honest = links(2, &[(1, None)], BYTES as u64);
        let mut victim = links(1, &[(0, None), (2, Some(honest.local_address()))], BYTES as u64);
        let at = victim.local_address();
        victim.dial(2);
        expect_up(&mut victim, 2);
        expect_up(&mut honest, 1);
        let (stop, exchanged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (halt, count) = (Arc::clone(&stop), Arc::clone(&exchanged));
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let victim = std::thread::spawn(move || serve(&mut victim, &halt, &ended, &count));
        let halt = Arc::clone(&stop);
        let honest = std::thread::spawn(move || {
            while !halt.load(SeqCst) {
                honest.send(1, vector(2, 1, 5, BYTES));
                assert_eq!(expect_frame(&mut honest, 1), vector(1, 2, 5, BYTES));
                std::thread::sleep(Duration::from_millis(5));
            }
            honest.close(Duration::from_secs(1));
        });
        Self { at, stop, over, exchanged, victim, honest, _alone: alone }
    }

    fn end(self) -> Seen {
        std::thread::sleep(Duration::from_millis(200));
        self.stop.store(true, SeqCst);
        // The victim answers until the honest neighbour has its last answer.
        self.honest.join().unwrap();
        self.over.store(true, SeqCst);
        self.victim.join().unwrap()
    }
}

/// Answers the honest neighbour, and writes down what is reported of the other.
fn serve(links: &mut Links, stop: &AtomicBool, over: &AtomicBool, exchanged: &AtomicU64) -> Seen {
    let mut seen = Seen::default();
    let answer = vector(1, 2, 5, BYTES);
    while !over.load(SeqCst) {
        match links.next(Duration::from_millis(50)) {
            Some(Incoming::Frame { peer: 2, .. }) => {
                links.send(2, answer.clone());
                exchanged.fetch_add(1, SeqCst);
            }
            Some(Incoming::Frame { peer: 0, frame }) => {
                assert_eq!(frame.header.kind, FrameKind::Hello);
                seen.hellos += 1;
            }
            Some(Incoming::Refused { who, why }) => {
                assert_eq!(who, "member-0", "{why}");
                *seen.refused.entry(why.to_string()).or_default() += 1;
            }
            Some(Incoming::Up { peer: 0 }) => seen.ups += 1,
            Some(Incoming::Down { peer: 0, .. }) => seen.downs += 1,
            Some(other) if !stop.load(SeqCst) => panic!("{}", short(&other)),
            _ => {}
        }
    }
    seen
}

/// A bare endpoint with member 0's key.
struct Attacker {
    runtime: tokio::runtime::Runtime,
    endpoint: Endpoint,
    to: EndpointAddr,
}

impl Attacker {
    fn new(at: SocketAddr) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let endpoint = runtime.block_on(async {
            Endpoint::builder(presets::Minimal)
                .secret_key(SecretKey::from_bytes(&secret(0)))
                .relay_mode(RelayMode::Disabled)
                .clear_ip_transports()
                .bind_addr("127.0.0.1:0")
                .unwrap()
                .bind()
                .await
                .unwrap()
        });
        let victim = SecretKey::from_bytes(&secret(1)).public();
        Self { runtime, endpoint, to: EndpointAddr::from_parts(victim, [TransportAddr::Ip(at)]) }
    }

    async fn connect(&self) -> Connection {
        self.endpoint.connect(self.to.clone(), b"prdo/1").await.unwrap()
    }

    async fn link(&self) -> (Connection, SendStream, RecvStream) {
        loop {
            let connection = self.connect().await;
            let (mut out, mut input) = connection.open_bi().await.unwrap();
            out.write_all(&[&b"prdo/1?"[..], &AGREEMENT].concat()).await.unwrap();
            let mut welcome = [0; 39];
            match input.read_exact(&mut welcome).await {
                Ok(()) => {
                    assert_eq!(welcome[..], [&b"prdo/1!"[..], &AGREEMENT].concat());
                    return (connection, out, input);
                }
                // The victim's thread has not yet heard of the last few: on a busy machine it takes a moment.
                Err(_) if closed(&connection).await.contains("too many connections") => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Sends the bytes on a link, perhaps ends the stream, and waits to be thrown out; the reason.
    fn send(&self, bytes: &[u8], finish: bool) -> String {
        self.runtime.block_on(async {
            let (connection, mut out, _input) = self.link().await;
            let _ = out.write_all(bytes).await;
            if finish {
                let _ = out.finish();
            }
            closed(&connection).await
        })
    }
}

async fn closed(connection: &Connection) -> String {
    let error = tokio::time::timeout(Duration::from_secs(5), connection.closed()).await;
    error.expect("a bad message is answered by the end of the link").to_string()
}

/// A frame's bytes with some of them changed.
fn changed(frame: &Frame, at: usize, to: &[u8]) -> Vec<u8> {
    let mut bytes = frame.encode().to_vec();
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

fn resident_mb() -> usize {
    let pages: usize = std::fs::read_to_string("/proc/self/statm")
        .unwrap()
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap();
    pages * 4096 / 1_000_000
}

/// Bad messages: a name, the bytes, whether the stream ends after them, and a part of the reason given.
fn messages() -> Vec<(&'static str, Vec<u8>, bool, &'static str)> {
    let good = vector(0, 1, 5, BYTES);
    let small = |bytes: usize| vector(0, 1, 5, bytes).encode().to_vec();
    let at = |at: usize, to: &[u8]| changed(&good, at, to);
    let garbage: Vec<u8> = (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let tag = changed(&hello(0, 1), HEADER, &[9]);
    let mut bad_hello = Frame::decode(&hello(0, 1).encode(), &expected(0, 1, 0)).unwrap();
    bad_hello.payload = tag[HEADER..].into();
    bad_hello.header = header(FrameKind::Hello, 0, 1, 0, &bad_hello.payload);
    let long = vec![b'x'; 401];
    let refusal = Frame { header: header(FrameKind::Refusal, 0, 1, 0, &long), payload: long.into() };
    vec![
        ("wrong magic", at(0, b"HTTP"), false, "not a prdo frame"),
        ("version", at(4, &[2]), false, "not a prdo frame"),
        ("kind", at(5, &[3]), false, "kind 3"),
        ("reserved bits", at(6, &[1]), false, "reserved"),
        ("other reserved bits", at(86, &[1]), false, "reserved"),
        ("wrong sender", at(8, &2_u32.to_le_bytes()), false, "from member 2"),
        ("wrong receiver", at(12, &2_u32.to_le_bytes()), false, "to member 2"),
        ("other run", at(16, &[1]), false, "belongs to run"),
        ("other agreement", at(48, &[1]), false, "different texts"),
        ("round is not the exchange's", at(80, &6_u32.to_le_bytes()), false, "exchange 5 of round 6"),
        ("exchange beyond the run", vector(0, 1, 1000, BYTES).encode().to_vec(), false, "1000 in all"),
        ("oversized", at(96, &u64::MAX.to_le_bytes()), false, "18446744073709551615 bytes"),
        ("another dimension", small(BYTES + 8), false, "100008 bytes"),
        ("wrong hash", at(104, &[1, 2, 3]), false, "hash"),
        ("changed payload", at(HEADER + 77, &[1, 2, 3]), false, "hash"),
        ("truncated payload", good.encode()[..50_000].to_vec(), true, "cut short"),
        ("truncated header", good.encode()[..50].to_vec(), true, "cut short"),
        ("hello with a bad tag", bad_hello.encode().to_vec(), false, "tag 9"),
        ("hello of another length", at(5, &[1]), false, "100000 bytes"),
        ("long refusal", refusal.encode().to_vec(), false, "at most 400"),
        ("garbage", garbage, false, "not a prdo frame"),
    ]
}

#[test]
fn bad_messages_hurt_nobody() {
    let scene = Scene::new();
    let attacker = Attacker::new(scene.at);
    let (start, times) = (Instant::now(), times());
    let mut before = None;
    for (name, bytes, finish, reason) in messages() {
        let exchanged = scene.exchanged.load(SeqCst);
        for _ in 0..times {
            let found = attacker.send(&bytes, finish);
            assert!(found.contains(reason), "{name}: {found}");
        }
        assert!(scene.exchanged.load(SeqCst) > exchanged, "{name}: the honest neighbour waits");
        before.get_or_insert_with(resident_mb);
    }
    let (kinds, growth) = (messages().len(), resident_mb().saturating_sub(before.unwrap()));
    eprintln!("{kinds} kinds x {times}: {:?}, {growth} MB more memory", start.elapsed());
    assert!(growth < 40, "{growth} MB");
    let seen = scene.end();
    assert_eq!(seen.refused.values().sum::<usize>(), kinds * times, "{:?}", seen.refused);
    assert_eq!((seen.ups, seen.downs), (kinds * times, kinds * times));
}

#[test]
fn what_is_no_message_at_all_hurts_nobody() {
    let scene = Scene::new();
    let attacker = Attacker::new(scene.at);
    let (mut before, mut reported, times) = (None, 0, times());
    for kind in 0..6 {
        let exchanged = scene.exchanged.load(SeqCst);
        for _ in 0..times {
            attacker.runtime.block_on(attack(&attacker, kind));
        }
        reported += if kind == 0 || kind == 1 { times } else { 0 };
        assert!(scene.exchanged.load(SeqCst) > exchanged, "{kind}: the honest neighbour waits");
        before.get_or_insert_with(resident_mb);
    }
    let growth = resident_mb().saturating_sub(before.unwrap());
    eprintln!("{growth} MB more memory");
    assert!(growth < 40, "{growth} MB");
    let seen = scene.end();
    assert_eq!(seen.refused.values().sum::<usize>(), reported, "{:?}", seen.refused);
}

async fn attack(attacker: &Attacker, kind: usize) {
    let soon = Duration::from_millis(5);
    match kind {
        // A greeting of another protocol.
        0 => {
            let connection = attacker.connect().await;
            let (mut out, _input) = connection.open_bi().await.unwrap();
            out.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            assert!(closed(&connection).await.contains("not one of this protocol"));
        }
        // A frame that is broken off.
        1 => {
            let (connection, mut out, _input) = attacker.link().await;
            out.write_all(&vector(0, 1, 5, BYTES).encode()[..9000]).await.unwrap();
            out.reset(VarInt::from_u32(77)).unwrap();
            assert!(closed(&connection).await.contains("reset by peer"));
        }
        // More streams, of both kinds: as many as one likes to ask for, none is granted.
        2 => {
            let (connection, _out, _input) = attacker.link().await;
            assert!(tokio::time::timeout(soon, connection.open_bi()).await.is_err());
            for _ in 0..1000 {
                tokio::select! {
                    biased;
                    stream = connection.open_uni() => panic!("{stream:?}"),
                    () = std::future::ready(()) => {}
                }
            }
            connection.close(VarInt::from_u32(0), b"");
        }
        // Datagrams.
        3 => {
            let (connection, _out, _input) = attacker.link().await;
            assert!(connection.send_datagram(bytes::Bytes::from_static(b"hello")).is_err());
            connection.close(VarInt::from_u32(0), &[b'\n'; 900]);
        }
        // A connection that is given up without a word.
        4 => drop(attacker.connect().await),
        // A link that is ended at once.
        _ => {
            let (connection, mut out, mut input) = attacker.link().await;
            out.finish().unwrap();
            assert_eq!(input.read(&mut [0; 9]).await.unwrap(), None);
            connection.close(VarInt::from_u32(0), b"bye");
        }
    }
}

#[test]
fn a_flood_of_hellos_waits_its_turn() {
    let scene = Scene::new();
    let attacker = Attacker::new(scene.at);
    let (before, exchanged) = (resident_mb(), scene.exchanged.load(SeqCst));
    let hellos = hello(0, 1).encode().repeat(100);
    assert_eq!(hellos.len(), 100 * (HEADER + HELLO));
    attacker.runtime.block_on(async {
        let (connection, mut out, _input) = attacker.link().await;
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end {
            out.write_all(&hellos).await.unwrap();
        }
        connection.close(VarInt::from_u32(0), b"");
    });
    let growth = resident_mb().saturating_sub(before);
    let exchanged = scene.exchanged.load(SeqCst) - exchanged;
    let seen = scene.end();
    eprintln!("{} hellos, {exchanged} frames of the honest neighbour, {growth} MB more memory", seen.hellos);
    assert!(seen.hellos > 1000 && exchanged > 20 && growth < 20);
    assert_eq!(seen.refused.len(), 0);
}

#[test]
fn slow_drips_are_cut_off() {
    let scene = Scene::new();
    let attacker = Attacker::new(scene.at);
    let frame = vector(0, 1, 5, BYTES).encode();
    let exchanged = scene.exchanged.load(SeqCst);
    // The header comes byte by byte; the payload comes byte by byte; a link on which nothing comes may stay.
    for (whole, reason) in [(0, "its header was not here"), (HEADER, "its payload was not here")] {
        attacker.runtime.block_on(async {
            let (connection, mut out, _input) = attacker.link().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert!(connection.close_reason().is_none());
            let start = Instant::now();
            let _ = out.write_all(&frame[..whole]).await;
            for byte in &frame[whole..] {
                if out.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let why = closed(&connection).await;
            assert!(why.contains(reason), "{why}");
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        });
    }
    assert!(scene.exchanged.load(SeqCst) > exchanged + 100);
    assert_eq!(scene.end().refused.values().sum::<usize>(), 2);
}
