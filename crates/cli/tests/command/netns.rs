//! Eight processes, each in a network namespace of its own: as on eight machines. Needs root, `ip` from iproute2 and a
//! kernel that allows it; where that is missing the tests say so and do nothing.
//!
//! The bad network is made by a relay of this file's own, which holds every datagram for 50 ms and drops one in twenty:
//! it needs no netem in the kernel. The namespaces reach each other through it and in no other way.

use crate::common::members::Members;
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MEMBERS: usize = 8;
const PORT: u16 = 4433;

fn ip(words: &str) -> bool {
    let quiet = || Stdio::null();
    let status = Command::new("ip").args(words.split(' ')).stdout(quiet()).stderr(quiet()).status();
    status.is_ok_and(|status| status.success())
}

fn own_address(i: usize) -> String {
    format!("10.77.{i}.2:{PORT}")
}

/// Namespaces of one test: a hub, and one for each member with a line to the hub.
struct Net {
    tag: String,
}

impl Net {
    /// `None`, with a word on stderr, where namespaces are not allowed.
    fn new(tag: &str, routed: bool) -> Option<Self> {
        let net = Self { tag: format!("prdo-{tag}-{}", std::process::id()) };
        let hub = net.hub();
        if !ip(&format!("netns add {hub}")) {
            eprintln!("SKIPPED: network namespaces are not permitted here (root and iproute2 are needed)");
            return None;
        }
        let forward = if routed { 1 } else { 0 };
        let set = format!("echo {forward} > /proc/sys/net/ipv4/ip_forward");
        assert!(
            Command::new("ip").args(["netns", "exec", &hub, "sh", "-c", &set]).status().unwrap().success()
        );
        assert!(ip(&format!("-n {hub} link set lo up")));
        for i in 0..MEMBERS {
            let (ns, far, near) = (net.member(i), format!("h{i}"), "eth0");
            for words in [
                format!("netns add {ns}"),
                format!("-n {hub} link add {far} type veth peer name {near} netns {ns}"),
                format!("-n {hub} addr add 10.77.{i}.1/24 dev {far}"),
                format!("-n {hub} link set {far} up"),
                format!("-n {hub} addr add 10.99.0.{}/32 dev lo", i + 1),
                format!("-n {ns} addr add 10.77.{i}.2/24 dev {near}"),
                format!("-n {ns} link set {near} up"),
                format!("-n {ns} link set lo up"),
                format!("-n {ns} route add default via 10.77.{i}.1"),
            ] {
                assert!(ip(&words), "ip {words}");
            }
        }
        Some(net)
    }

    fn hub(&self) -> String {
        format!("{}-hub", self.tag)
    }

    fn member(&self, i: usize) -> String {
        format!("{}-{i}", self.tag)
    }

    /// Starts a member in its namespace.
    fn start(&self, members: &Members, i: usize) -> Child {
        members.start(i, &own_address(i), &["ip", "netns", "exec", &self.member(i)])
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for ns in (0..MEMBERS).map(|i| self.member(i)).chain([self.hub()]) {
            ip(&format!("netns del {ns}"));
        }
    }
}

#[test]
fn eight_namespaces_give_the_simulators_bits() {
    let Some(net) = Net::new("plain", true) else { return };
    let eight = Members::new(&[0, 1, 2, 3, 4, 5, 6, 7].map(own_address), 15);
    let mut children: Vec<Child> = (0..MEMBERS).map(|i| net.start(&eight, i)).collect();
    eight.done(&mut children, Duration::from_secs(120));
    eight.check();
}

/// Two minutes: `cargo test -p prdo --test command netns:: -- --ignored`.
#[test]
#[ignore = "takes two minutes; .ci/run does it"]
fn a_bad_network_and_a_kill_every_few_seconds_change_no_bit() {
    let Some(net) = Net::new("bad", false) else { return };
    let rounds = std::env::var("PRDO_NETNS_ROUNDS").map_or(250, |rounds| rounds.parse().unwrap());
    let eight = Members::new(&[0, 1, 2, 3, 4, 5, 6, 7].map(|i| format!("10.99.0.{}:{PORT}", i + 1)), rounds);
    let mut relay = relay(&net.hub());
    let mut children: Vec<Child> = (0..MEMBERS).map(|i| net.start(&eight, i)).collect();
    let (began, mut kills, mut state) = (Instant::now(), 0, 3_u64);
    while began.elapsed() < Duration::from_secs(120) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(1500 + (state >> 40) % 2500));
        let victim = (state >> 20) as usize % MEMBERS;
        if children[victim].try_wait().unwrap().is_none() {
            children[victim].kill().unwrap();
            children[victim].wait().unwrap();
            children[victim] = net.start(&eight, victim);
            kills += 1;
        }
    }
    eight.done(&mut children, Duration::from_secs(400));
    relay.kill().unwrap();
    relay.wait().unwrap();
    eight.check();
    println!("{kills} kills in two minutes, {rounds} rounds, {:.0} s in all", began.elapsed().as_secs_f64());
    assert!(kills >= 20, "only {kills} kills");
}

/// This very program in the hub's namespace, as the relay.
fn relay(hub: &str) -> Child {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", hub]).arg(own).args([
        "--exact",
        "netns::the_relay",
        "--ignored",
        "--nocapture",
    ]);
    command.env("PRDO_RELAY", "1").stdout(Stdio::null()).spawn().unwrap()
}

/// Not a test: what [`relay`] runs. At 10.99.0.(i+1) it stands in for member i at 10.77.i.2.
#[test]
#[ignore = "a part of another test"]
fn the_relay() {
    if std::env::var_os("PRDO_RELAY").is_none() {
        return;
    }
    let threads: Vec<_> = (0..MEMBERS).map(|i| std::thread::spawn(move || stand_in(i))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Datagrams on their way, by the time at which they arrive.
type Line = Arc<Mutex<Vec<(Instant, Vec<u8>, Arc<UdpSocket>, SocketAddr)>>>;

fn stand_in(member: usize) {
    let front = Arc::new(UdpSocket::bind((format!("10.99.0.{}", member + 1), PORT)).unwrap());
    let target: SocketAddr = format!("10.77.{member}.2:{PORT}").parse().unwrap();
    let line: Line = Arc::default();
    let carried = Arc::clone(&line);
    std::thread::spawn(move || carry(&carried));
    let mut backs: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let (mut buffer, mut dice) = ([0; 65_536], member as u64 + 1);
    loop {
        let (length, from) = front.recv_from(&mut buffer).unwrap();
        let back = backs.entry(from).or_insert_with(|| {
            let back = Arc::new(UdpSocket::bind("0.0.0.0:0").unwrap());
            let (own, front, line) = (Arc::clone(&back), Arc::clone(&front), Arc::clone(&line));
            std::thread::spawn(move || {
                let (mut buffer, mut dice) = ([0; 65_536], 99);
                loop {
                    let Ok((length, _)) = own.recv_from(&mut buffer) else { continue };
                    put(&line, &mut dice, &buffer[..length], &front, from);
                }
            });
            back
        });
        put(&line, &mut dice, &buffer[..length], back, target);
    }
}

/// One in twenty is lost, the others take 50 ms.
fn put(line: &Line, dice: &mut u64, bytes: &[u8], by: &Arc<UdpSocket>, to: SocketAddr) {
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    if !(*dice >> 33).is_multiple_of(20) {
        let arrives = Instant::now() + Duration::from_millis(50);
        line.lock().unwrap().push((arrives, bytes.to_vec(), Arc::clone(by), to));
    }
}

fn carry(line: &Line) {
    loop {
        std::thread::sleep(Duration::from_millis(1));
        let due: Vec<_> = {
            let mut line = line.lock().unwrap();
            let count = line.iter().take_while(|(at, ..)| *at <= Instant::now()).count();
            line.drain(..count).collect()
        };
        for (_, bytes, by, to) in due {
            let _ = by.send_to(&bytes, to);
        }
    }
}
