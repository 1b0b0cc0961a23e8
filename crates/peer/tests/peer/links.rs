//! Links between neighbours in one process: what arrives, who is let in, how links end and come back.

use crate::net::*;
use prdo_peer::iroh::{Limits, Links, LinksError};
use prdo_peer::transport::{Incoming, Open, Transport};
use std::time::{Duration, Instant};

const SOME: Duration = Duration::from_millis(400);

#[test]
fn frames_go_both_ways_and_the_last_ones_are_flushed() {
    let (mut zero, mut one) = pair(1000);
    zero.send(1, hello(0, 1));
    for exchange in 0..6 {
        zero.send(1, vector(0, 1, exchange, 1000));
        one.send(0, vector(1, 0, exchange, 1000));
    }
    assert_eq!(expect_frame(&mut one, 0), hello(0, 1));
    for exchange in 0..6 {
        assert_eq!(expect_frame(&mut one, 0), vector(0, 1, exchange, 1000));
        assert_eq!(expect_frame(&mut zero, 1), vector(1, 0, exchange, 1000));
    }
    one.send(0, vector(1, 0, 6, 1000));
    one.close(Duration::from_secs(5));
    assert_eq!(expect_frame(&mut zero, 1), vector(1, 0, 6, 1000));
    assert!(expect_down(&mut zero, 1).contains("the other node stops"));
    assert_eq!(one.next(Duration::ZERO), None);
    zero.send(1, vector(0, 1, 7, 1000));
    assert_eq!(zero.next(SOME), None);
}

#[test]
fn hanging_up_delivers_what_was_queued_and_the_reason() {
    let (mut zero, mut one) = pair(1000);
    zero.send(1, hello(0, 1));
    zero.hang_up(1, "that\u{7}is\nenough");
    assert_eq!(expect_down(&mut zero, 1), "that is enough");
    assert_eq!(expect_frame(&mut one, 0), hello(0, 1));
    assert!(expect_down(&mut one, 0).ends_with("that is enough"));
    zero.dial(1);
    expect_up(&mut zero, 1);
    expect_up(&mut one, 0);
}

#[test]
fn large_frames_cross_each_other() {
    let bytes = 2_200_000;
    let (mut zero, mut one) = pair(bytes as u64);
    for exchange in 0..4 {
        let (there, back) = (vector(0, 1, exchange, bytes), vector(1, 0, exchange, bytes));
        zero.send(1, there.clone());
        one.send(0, back.clone());
        assert_eq!(expect_frame(&mut one, 0), there);
        assert_eq!(expect_frame(&mut zero, 1), back);
    }
    let [(1, traffic)] = zero.traffic()[..] else { panic!("{:?}", zero.traffic()) };
    assert!(traffic.sent > 8_800_000 && traffic.received > 8_800_000, "{traffic:?}");
}

#[test]
fn a_neighbour_with_another_key_is_not_reached() {
    // Somebody listens at member 1's address, with the key of member 5.
    let other = links(5, &[(0, None)], 8);
    let mut zero = links(0, &[(1, Some(other.local_address()))], 8);
    zero.dial(1);
    let why = expect_down(&mut zero, 1);
    assert!(why.contains("has a different key") && why.contains("dialled 127.0.0.1:"), "{why}");
}

#[test]
fn an_unlisted_key_is_turned_away_and_named() {
    let mut one = links(1, &[(2, Some("127.0.0.1:9".parse().unwrap()))], 8);
    let mut zero = links(0, &[(1, Some(one.local_address()))], 8);
    zero.dial(1);
    let why = expect_down(&mut zero, 1);
    assert!(why.contains("not a neighbour's"), "{why}");
    let (who, why) = expect_refused(&mut one);
    assert_eq!(who, prdo_peer::wire::hex(&public(0)));
    assert!(why.contains("not a neighbour's"), "{why}");
    assert_eq!(one.next(SOME), None);
}

#[test]
fn the_higher_number_does_not_dial_and_is_refused_if_it_does() {
    let mut zero = links(0, &[(1, Some("127.0.0.1:9".parse().unwrap()))], 8);
    let mut one = links(1, &[(0, Some(zero.local_address()))], 8);
    one.dial(0);
    assert_eq!(one.next(SOME), None);
    // Somebody with key 1 that does not keep to it.
    let mut swapped = setup(0, vec![neighbour(1, 0, Some(zero.local_address()), 8)]);
    swapped.secret = secret(1).into();
    swapped.neighbours[0].key = public(0);
    let mut swapped = Links::new(swapped, limits()).unwrap();
    swapped.dial(1);
    let why = expect_down(&mut swapped, 1);
    assert!(why.contains("the lower number dials"), "{why}");
    let (who, why) = expect_refused(&mut zero);
    assert!(who == "member-1" && why.contains("the lower number dials"), "{who} {why}");
}

#[test]
fn links_come_back_on_the_same_ports() {
    let (mut zero, one) = pair(1000);
    let at = one.local_address();
    drop(one);
    let why = expect_down(&mut zero, 1);
    assert!(!why.is_empty());
    let same_port = || {
        let mut setup = setup(1, vec![neighbour(0, 1, None, 1000)]);
        setup.listen = at;
        Links::new(setup, limits())
    };
    let mut one = again(same_port);
    zero.dial(1);
    expect_up(&mut zero, 1);
    expect_up(&mut one, 0);
    one.send(0, vector(1, 0, 3, 1000));
    assert_eq!(expect_frame(&mut zero, 1), vector(1, 0, 3, 1000));
    // The dialling side is lost: whether the other notices first or not, the new link counts.
    drop(zero);
    let mut zero = links(0, &[(1, Some(at))], 1000);
    zero.dial(1);
    expect_up(&mut zero, 1);
    expect_down(&mut one, 0);
    expect_up(&mut one, 0);
    zero.send(1, vector(0, 1, 4, 1000));
    assert_eq!(expect_frame(&mut one, 0), vector(0, 1, 4, 1000));
}

#[test]
fn a_second_connection_takes_the_place_of_the_first() {
    let (first, mut one) = pair(1000);
    let mut second = links(0, &[(1, Some(one.local_address()))], 1000);
    second.dial(1);
    expect_up(&mut second, 1);
    let why = expect_down(&mut one, 0);
    assert!(why.contains("connected again"), "{why}");
    expect_up(&mut one, 0);
    let mut first = first;
    assert!(expect_down(&mut first, 1).contains("replaced"));
    second.send(1, vector(0, 1, 4, 1000));
    assert_eq!(expect_frame(&mut one, 0), vector(0, 1, 4, 1000));
}

#[test]
fn whoever_does_not_take_frames_is_not_sent_more() {
    let bytes = 1_000_000;
    let (mut zero, mut one) = pair(bytes as u64);
    let frames: Vec<_> = (0..6).map(|i| vector(0, 1, i, bytes)).collect();
    for frame in &frames {
        zero.send(1, frame.clone());
    }
    // Two frames and a window's worth are on the other side; the rest waits here.
    std::thread::sleep(Duration::from_millis(1000));
    let sent = zero.traffic()[0].1.sent;
    assert!((2_000_000..2_700_000).contains(&sent), "{sent}");
    for exchange in 0..6 {
        assert_eq!(expect_frame(&mut one, 0), vector(0, 1, exchange, bytes));
    }
    // Beyond eight waiting frames the link is given up.
    for _ in 0..20 {
        zero.send(1, frames[0].clone());
    }
    assert!(expect_down(&mut zero, 1).contains("8 frames waiting"));
    // One that still does not read does not keep us from hanging up, dialling again and leaving.
    zero.dial(1);
    expect_up(&mut zero, 1);
    for frame in &frames {
        zero.send(1, frame.clone());
    }
    zero.hang_up(1, "enough");
    assert_eq!(expect_down(&mut zero, 1), "enough");
    let start = Instant::now();
    zero.close(Duration::from_secs(20));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[test]
fn silence_is_noticed() {
    let one = links(1, &[(0, None)], 8);
    let at = one.local_address();
    drop(one);
    // Nobody is there.
    let mut zero = links(0, &[(1, Some(at))], 8);
    let start = Instant::now();
    zero.dial(1);
    zero.dial(1);
    let why = expect_down(&mut zero, 1);
    assert!(why.contains(&at.to_string()), "{why}");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(zero.next(SOME), None);
    zero.dial(1);
    zero.hang_up(1, "never mind");
    assert_eq!(next(&mut zero), Incoming::Down { peer: 1, why: "never mind".into() });
}

#[test]
fn what_cannot_work_is_refused_before_anything_starts() {
    let one = links(1, &[(0, None)], 8);
    let at = one.local_address();
    let both = |change: &dyn Fn(&mut prdo_peer::iroh::Setup), limits| {
        let mut setup = setup(0, vec![neighbour(1, 0, Some(at), 8), neighbour(2, 0, Some(at), 8)]);
        change(&mut setup);
        Links::new(setup, limits).err()
    };
    let with = |change: &dyn Fn(&mut prdo_peer::iroh::Setup)| both(change, limits());
    assert_eq!(with(&|_| {}), None);
    assert_eq!(with(&|s| s.listen = at), Some(LinksError::PortTaken { address: at }));
    let foreign = "192.0.2.7:0".parse().unwrap();
    assert_eq!(with(&|s| s.listen = foreign), Some(LinksError::NotOurs { address: foreign }));
    let twice = LinksError::Twice { name: "member-2".to_owned(), member: 2 };
    assert_eq!(with(&|s| s.neighbours[1].key = public(1)), Some(twice.clone()));
    assert_eq!(with(&|s| s.neighbours[1].key = public(0)), Some(twice));
    assert!(matches!(with(&|s| s.neighbours[0].member = 2), Some(LinksError::Expected { .. })));
    assert!(matches!(with(&|s| s.neighbours[0].key = [2; 32]), Some(LinksError::Key { .. })));
    assert!(matches!(with(&|s| s.neighbours[0].addresses.clear()), Some(LinksError::Address { .. })));
    assert!(matches!(with(&|s| s.relay = Some("no".to_owned())), Some(LinksError::Relay { .. })));
    for (field, change) in [
        ("window", Limits { window: 0, ..Limits::lan() }),
        ("minimum_rate", Limits { minimum_rate: 0, ..Limits::lan() }),
        ("silence", Limits { silence: Duration::from_secs(60), ..Limits::lan() }),
        ("keep_alive", Limits { keep_alive: Duration::from_secs(4), ..Limits::lan() }),
        ("connect", Limits { connect: Duration::ZERO, ..Limits::lan() }),
    ] {
        let found = both(&|_| {}, change);
        assert!(matches!(found, Some(LinksError::Limit { field: f, .. }) if f == field), "{found:?}");
    }
    assert_eq!(both(&|_| {}, Limits::wan()), None);
}
