//! What an exchange costs on this machine: three nodes in a line or ring, every neighbour gets a vector and sends one.
//!
//!     cargo run --release -p prdo-peer --features iroh --example exchange -- [ROUNDS [PARAMETERS [WINDOW]]]
//!
//! Printed for each shape and wire: milliseconds from the start of a round until the busiest node holds both neighbours'
//! vectors (packing, hashing, checking and unpacking included; median and 90 %), against the plain wire of the same run; the
//! plain wire's bytes over bare TCP; and the bytes that travel on top of the payloads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use prdo_algorithm::{Exchanges, Message, Shape};
use prdo_peer::iroh::{Limits, Links, Neighbour, Setup};
use prdo_peer::transport::{Incoming, Open, Transport};
use prdo_peer::wire::{Expected, Frame, FrameKind, Hash, Header, Ways};
use prdo_privacy::{Noised, Packed, Packing, PublicDither, Released, Start};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

const WARM_UP: usize = 5;

fn main() {
    // As `prdo node run` does.
    prdo_kernels::keep_freed_memory();
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let rounds = arguments.next().unwrap_or(60);
    let dimension = arguments.next().unwrap_or(550_570);
    let window = arguments.next().map_or(Limits::lan().window, |window| window as u32);
    println!("{rounds} rounds, models of {dimension} parameters, stream window {window}");
    for (shape, edges) in [("line", &[(0, 1), (1, 2)][..]), ("ring", &[(0, 1), (1, 2), (0, 2)])] {
        let (median, ninety) = spread(plain(edges, rounds, 8 * dimension));
        println!("{shape}, bare TCP     : {median:6.2} ms a round, 90 % {ninety:6.2}");
        let mut first = None;
        for packing in [Packing::Plain, Packing::Bits(8), Packing::Bits(3), Packing::Top(0.05)] {
            let (times, sent, lost) = quic(edges, rounds, (dimension, packing), window);
            let (median, ninety) = spread(times);
            let bytes = packing.bytes(dimension);
            let on_top = percent(sent as usize, bytes * 2 * (rounds + WARM_UP)) - 100.0;
            let share = median / *first.get_or_insert(median);
            println!(
                "{shape}, {:<13}: {median:6.2} ms a round, 90 % {ninety:6.2}; {share:.2} of plain; {bytes} bytes \
                 ({:.1} % of plain), UDP bytes on top {on_top:.2} %, {lost} packets lost",
                packing.to_string(),
                percent(bytes, 8 * dimension)
            );
        }
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// The median and the 90th of a hundred, in milliseconds.
fn spread(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    (at(0.5), at(0.9))
}

/// Each round's time at member 1, who has two neighbours in either shape, what it sent and what it lost.
fn quic(
    edges: &'static [(usize, usize)],
    rounds: usize,
    wire: (usize, Packing),
    window: u32,
) -> (Vec<Duration>, u64, u64) {
    let bytes = wire.1.bytes(wire.0);
    let mut at: Vec<Option<SocketAddr>> = vec![None; 3];
    let mut nodes: Vec<Links> = Vec::new();
    // The higher number listens first, since the lower one dials it.
    for me in (0..3).rev() {
        let of = |(a, b): &(usize, usize)| if *a == me { Some(*b) } else { (*b == me).then_some(*a) };
        let neighbours =
            edges.iter().filter_map(of).map(|peer| neighbour(peer, me, at[peer], bytes)).collect();
        let listen = "127.0.0.1:0".parse().unwrap();
        let limits = Limits { window, ..Limits::lan() };
        let setup =
            Setup { member: me, secret: secret(me).into(), listen, neighbours, relay: None, looks: false };
        let links = Links::new(setup, limits).unwrap();
        at[me] = Some(links.local_address());
        nodes.insert(0, links);
    }
    let start = Arc::new(Barrier::new(3));
    let tasks: Vec<_> = nodes
        .into_iter()
        .enumerate()
        .map(|(me, links)| {
            let start = Arc::clone(&start);
            std::thread::spawn(move || node(me, links, edges, rounds, wire, &start))
        })
        .collect();
    tasks.into_iter().map(|task| task.join().unwrap()).nth(1).unwrap()
}

fn node(
    me: usize,
    mut links: Links,
    edges: &[(usize, usize)],
    rounds: usize,
    (dimension, packing): (usize, Packing),
    start: &Barrier,
) -> (Vec<Duration>, u64, u64) {
    let peers: Vec<usize> =
        (0..3).filter(|peer| edges.contains(&(me, *peer)) || edges.contains(&(*peer, me))).collect();
    for peer in &peers {
        links.dial(*peer);
    }
    let mut up = 0;
    while up < peers.len() {
        match links.next(Duration::from_secs(10)) {
            Some(Incoming::Up { .. }) => up += 1,
            other => panic!("{other:?}"),
        }
    }
    let vector = Start::normal(dimension, 0.01, me as u64);
    let vector = Released::<Noised>::start(&vector);
    let shape = Shape { packing, ..Shape::vectors(1) };
    let mut times = Vec::new();
    for round in 0..rounds + WARM_UP {
        start.wait();
        let began = Instant::now();
        let message = match packing {
            Packing::Plain => Message::one(vector.clone()),
            packing => {
                Message::packed(Packed::of(&vector, packing, &mut PublicDither::new(me as u32, round as u32)))
            }
        };
        let payload: Arc<[u8]> = message.to_wire().into();
        let hash = *blake3::hash(&payload).as_bytes();
        for peer in &peers {
            links.send(*peer, frame(me, *peer, round as u64, &payload, hash));
        }
        for _ in &peers {
            match links.next(Duration::from_secs(10)) {
                Some(Incoming::Frame { frame, .. }) => {
                    let received = Message::from_wire(&frame.payload, dimension, &shape).unwrap();
                    assert_eq!(received.vectors().len(), 1);
                }
                other => panic!("{other:?}"),
            }
        }
        times.push(began.elapsed());
    }
    start.wait();
    let traffic = links.traffic();
    start.wait();
    links.close(Duration::from_secs(1));
    let (sent, lost) = traffic.iter().fold((0, 0), |(sent, lost), (_, t)| (sent + t.sent, lost + t.lost));
    (times.split_off(WARM_UP), sent, lost)
}

/// The same payloads over TCP on loopback, a stream for each direction of each edge.
fn plain(edges: &[(usize, usize)], rounds: usize, bytes: usize) -> Vec<Duration> {
    let directed: Vec<_> = edges.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
    let (start, end) =
        (Arc::new(Barrier::new(2 * directed.len() + 1)), Arc::new(Barrier::new(directed.len() + 1)));
    let mut threads = Vec::new();
    for _ in directed {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut out = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut input, _) = listener.accept().unwrap();
        let (begin, done) = (Arc::clone(&start), Arc::clone(&end));
        threads.push(std::thread::spawn(move || {
            let mut buffer = vec![0; bytes];
            for _ in 0..rounds + WARM_UP {
                begin.wait();
                input.read_exact(&mut buffer).unwrap();
                done.wait();
            }
        }));
        let begin = Arc::clone(&start);
        threads.push(std::thread::spawn(move || {
            let payload = vec![1; bytes];
            for _ in 0..rounds + WARM_UP {
                begin.wait();
                out.write_all(&payload).unwrap();
            }
        }));
    }
    let mut times = Vec::new();
    for _ in 0..rounds + WARM_UP {
        start.wait();
        let began = Instant::now();
        end.wait();
        times.push(began.elapsed());
    }
    for thread in threads {
        thread.join().unwrap();
    }
    times.split_off(WARM_UP)
}

fn secret(member: usize) -> [u8; 32] {
    [member as u8 + 1; 32]
}

fn expected(peer: usize, me: usize, bytes: usize) -> Expected {
    let (peer, me, rounds) = (peer as u32, me as u32, 1_000_000);
    Expected {
        run: [1; 32],
        agreement: [2; 32],
        peer,
        me,
        payload_bytes: bytes as u64,
        exchanges: Exchanges::ONE,
        rounds,
        ways: Ways::both(),
    }
}

fn neighbour(member: usize, me: usize, at: Option<SocketAddr>, bytes: usize) -> Neighbour {
    let key = *iroh::SecretKey::from_bytes(&secret(member)).public().as_bytes();
    let name = format!("member-{member}");
    Neighbour {
        member,
        name,
        key,
        addresses: at.into_iter().collect(),
        expected: expected(member, me, bytes),
    }
}

fn frame(from: usize, to: usize, exchange: u64, payload: &Arc<[u8]>, hash: Hash) -> Frame {
    let Expected { run, agreement, .. } = expected(to, from, payload.len());
    let header = Header {
        kind: FrameKind::Vector,
        sender: from as u32,
        receiver: to as u32,
        run,
        agreement,
        round: exchange as u32,
        exchange,
        length: payload.len() as u64,
        hash,
    };
    Frame { header, payload: Arc::clone(payload) }
}
