//! Eight processes, each in a network namespace of its own: as on eight machines. Needs root, `ip` from iproute2 and a
//! kernel that allows it; where that is missing the tests say so and do nothing.
//!
//! The bad network is made by a relay of this file's own, which holds every datagram for 50 ms and drops one in twenty:
//! it needs no netem in the kernel. The namespaces reach each other through it and in no other way.
#![cfg(all(target_os = "linux", feature = "peers", debug_assertions))]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Desk;
use prdo::peer::ledger::contents::Contents;
use safetensors::SafeTensors;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs::File;
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MEMBERS: usize = 8;
const SEED: &str = "11";
const PORT: u16 = 4433;

fn ip(words: &str) -> bool {
    let quiet = || Stdio::null();
    let status = Command::new("ip").args(words.split(' ')).stdout(quiet()).stderr(quiet()).status();
    status.is_ok_and(|status| status.success())
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
}

impl Drop for Net {
    fn drop(&mut self) {
        for ns in (0..MEMBERS).map(|i| self.member(i)).chain([self.hub()]) {
            ip(&format!("netns del {ns}"));
        }
    }
}

/// Eight members with keys, records and an agreement signed by all.
struct Eight {
    desk: Desk,
    net: Net,
    rounds: usize,
}

impl Eight {
    /// `relayed`: members are reached at the relay's addresses instead of their own.
    fn new(net: Net, rounds: usize, relayed: bool) -> Self {
        let eight = Self { desk: Desk::new(), net, rounds };
        let desk = &eight.desk;
        let mut members = String::new();
        let mut all = String::from("a,b,label,node\n");
        for i in 0..MEMBERS {
            let mut own = String::from("a,b,label\n");
            for k in 0..20 {
                let class = (k + i) % 2;
                let (a, b) = ((k * 7 % 13) as f64 / 13.0 - class as f64, (k * 5 % 11) as f64 / 11.0 - 0.5);
                let _ = writeln!(own, "{a:.4},{b:.4},{class}");
                let _ = writeln!(all, "{a:.4},{b:.4},{class},{i}");
            }
            desk.write(&format!("m{i}.csv"), own);
            let key = desk.prdo(&format!("node key m{i}.key --json")).json()["public_key"]
                .as_str()
                .unwrap()
                .to_string();
            let address = if relayed { format!("10.99.0.{}", i + 1) } else { format!("10.77.{i}.2") };
            let _ = writeln!(
                members,
                "[[member]]\nname = \"m{i}\"\nkey = \"{key}\"\naddresses = [\"{address}:{PORT}\"]\nrecords = 20\n"
            );
        }
        desk.write("all.csv", all);
        desk.write("members.toml", members);
        desk.write(
            "run.toml",
            format!(
                "name = \"eight\"\nrounds = {rounds}\n[graph]\nkind = \"ring\"\n[data]\nsource = \"file\"\npath = \"all.csv\"\n\
                 test = 0\n[model]\nkind = \"logistic\"\n[method]\nname = \"prdo\"\nstep_size = 0.2\n[batch]\nsize = 5\n[clip]\n\
                 gradient = 1.0\ndifference = 0.1\n[privacy]\nnoise_multiplier = 4.0\ndelta = 1e-3\naccountant = \"rdp\"\n"
            ),
        );
        desk.prdo("node init run.toml --members members.toml --out eight.agreement").done();
        for i in 0..MEMBERS {
            desk.prdo(&format!("node sign eight.agreement --key m{i}.key")).done();
        }
        eight
    }

    fn start(&self, i: usize) -> Child {
        let typed = format!(
            "node run eight.agreement --key m{i}.key --data m{i}.csv --home m{i} --listen 10.77.{i}.2:{PORT} --linger 60 --json"
        );
        let prdo = self.desk.command(&typed);
        let file = |end: &str| {
            let path = self.desk.path(&format!("m{i}.{end}"));
            Stdio::from(File::options().create(true).append(true).open(path).unwrap())
        };
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.net.member(i)]).arg(prdo.get_program()).args(prdo.get_args());
        command.current_dir(prdo.get_current_dir().unwrap());
        command.env("PRDO_TEST_SEED", SEED).env("PRDO_TEST_CAPTURE", self.desk.path(&format!("m{i}.sent")));
        command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err")).spawn().unwrap()
    }

    fn done(&self, children: &mut [Child], limit: Duration) {
        let end = Instant::now() + limit;
        for (i, child) in children.iter_mut().enumerate() {
            let code = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status.code();
                }
                if Instant::now() > end {
                    child.kill().unwrap();
                    panic!("m{i} does not end: {}", self.desk.read(&format!("m{i}.err")));
                }
                std::thread::sleep(Duration::from_millis(20));
            };
            assert_eq!(code, Some(0), "m{i}: {}", self.desk.read(&format!("m{i}.err")));
        }
    }

    /// The simulator's bits at every member, each charge once, one payload for every exchange.
    fn check(&self) {
        self.desk.prdo(&format!("run run.toml --out simulated --seed {SEED}")).done();
        let (_, models) = prdo::output::read_models(&self.desk.bytes("simulated/model.safetensors")).unwrap();
        for (i, reference) in models.iter().enumerate() {
            let bytes = self.desk.bytes(&format!("m{i}/model.safetensors"));
            let file = SafeTensors::deserialize(&bytes).unwrap();
            let own = file.tensor("model").unwrap().data().to_vec();
            assert_eq!(own, reference.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(), "m{i}");
            let ledger = Contents::parse(&self.desk.bytes(&format!("m{i}.csv.ledger"))).unwrap();
            assert_eq!((ledger.runs()[0].charges.len(), ledger.runs()[0].ended), (self.rounds, true), "m{i}");
            let mut sent: BTreeMap<u64, String> = BTreeMap::new();
            for line in self.desk.read(&format!("m{i}.sent")).lines() {
                let [_, exchange, hash] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
                let first = sent.entry(exchange.parse().unwrap()).or_insert_with(|| hash.to_string());
                assert_eq!(first, hash, "m{i} sent exchange {exchange} with two contents");
            }
            assert_eq!(sent.len(), self.rounds, "m{i}");
        }
    }
}

#[test]
fn eight_namespaces_give_the_simulators_bits() {
    let Some(net) = Net::new("plain", true) else { return };
    let eight = Eight::new(net, 15, false);
    let mut children: Vec<Child> = (0..MEMBERS).map(|i| eight.start(i)).collect();
    eight.done(&mut children, Duration::from_secs(120));
    eight.check();
}

/// Two minutes: `cargo test -p prdo --test netns -- --ignored`.
#[test]
#[ignore = "takes two minutes; .ci/run does it"]
fn a_bad_network_and_a_kill_every_few_seconds_change_no_bit() {
    let Some(net) = Net::new("bad", false) else { return };
    let rounds = std::env::var("PRDO_NETNS_ROUNDS").map_or(250, |rounds| rounds.parse().unwrap());
    let eight = Eight::new(net, rounds, true);
    let mut relay = relay(&eight.net.hub());
    let mut children: Vec<Child> = (0..MEMBERS).map(|i| eight.start(i)).collect();
    let (began, mut kills, mut state) = (Instant::now(), 0, 3_u64);
    while began.elapsed() < Duration::from_secs(120) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(1500 + (state >> 40) % 2500));
        let victim = (state >> 20) as usize % MEMBERS;
        if children[victim].try_wait().unwrap().is_none() {
            children[victim].kill().unwrap();
            children[victim].wait().unwrap();
            children[victim] = eight.start(victim);
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
    command.args(["netns", "exec", hub]).arg(own).args(["--exact", "the_relay", "--ignored", "--nocapture"]);
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
    if (*dice >> 33) % 20 != 0 {
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
