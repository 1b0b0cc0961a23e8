//! Sixty-four real processes on one machine.

use crate::common::members::Members;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// `cargo test -p prdo --test command node_many:: -- --ignored`.
#[test]
#[ignore = "half a minute of 64 processes; .ci/run does it"]
fn sixty_four_processes_give_the_simulators_bits() {
    let sockets: Vec<UdpSocket> = (0..64).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> = sockets.iter().map(|s| s.local_addr().unwrap().to_string()).collect();
    drop(sockets);
    let all = Members::new(&addresses, 10);
    let began = Instant::now();
    let mut children: Vec<_> = addresses.iter().enumerate().map(|(i, at)| all.start(i, at, &[])).collect();
    all.done(&mut children, Duration::from_secs(300));
    println!("64 processes, 10 rounds: {:.1} s", began.elapsed().as_secs_f64());
    all.check();
}
