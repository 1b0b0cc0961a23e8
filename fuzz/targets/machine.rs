//! Frames, links going up and down, time, and crashes, as the input says, drive a node. It never panics, does a bounded
//! number of things at a time, sends only what it has kept, and sends one payload for an exchange through all restarts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::node::{D, ME, ROUNDS, expected, machine, mark_of, released, vector};
use prdo_peer::home::{KEPT, Saved};
use prdo_peer::machine::{Action, Effect, Event, Machine};
use prdo_peer::wire::{Frame, Hash, Hello, FrameKind, Mark};
use std::collections::BTreeMap;

/// Payloads that are kept are sent to both neighbours with a note each; a few more effects come with a round.
const MOST_EFFECTS: usize = 40;

struct World<'a> {
    input: &'a [u8],
    exchanges: u32,
    meet_first: bool,
    machine: Machine,
    saved: Saved,
    asked: bool,
    answers: u32,
    now: u64,
    /// After so many effects the node crashes.
    crash: Option<u8>,
    /// What has left the node: by exchange.
    sent: BTreeMap<u64, Hash>,
}

impl World<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.input.split_first()?;
        self.input = rest;
        Some(*first)
    }

    fn hash(&mut self, exchange: u64, tag: u8) -> Hash {
        match self.sent.get(&exchange) {
            Some(hash) if tag % 4 != 0 => *hash,
            _ => [tag; 32],
        }
    }

    /// None, the true mark of an exchange of ours, of a neighbour's, or any.
    fn mark(&mut self, from: u32) -> Option<Option<Mark>> {
        let (kind, exchange) = (self.byte()?, self.byte()?);
        let near = u64::from(exchange % 8);
        Some(match kind % 6 {
            0 | 1 => None,
            2 => Some(Mark { exchange: near, hash: self.hash(near, kind) }),
            3 => Some(Mark { exchange: u64::MAX - near, hash: [kind; 32] }),
            _ => {
                let values = [f64::from(exchange / 8), 0.0];
                let frame = vector(from, self.exchanges, near, values);
                Some(mark_of(&frame))
            }
        })
    }

    fn event(&mut self) -> Option<Event> {
        let what = self.byte()?;
        let peer = usize::from(what >> 4 & 3);
        let from = peer as u32;
        Some(match what & 15 {
            0 => Event::Start,
            1 => Event::Up(peer),
            2 => Event::Down(peer, "gone".into()),
            3 => {
                let shift = self.byte()? % 64;
                self.now = self.now.saturating_add(1 << shift);
                Event::Tick
            }
            4 if what >> 6 == 3 => Event::Stop,
            5 => {
                self.crash = Some(self.byte()? % 16);
                Event::Tick
            }
            6..=8 => {
                let (at, received, sent) = (self.byte()?, self.mark(ME)?, self.mark(from)?);
                let hello = Hello { sent, received, question: what >> 7 == 1 };
                let exchange = u64::from(at) % (u64::from(ROUNDS * self.exchanges) + 1);
                Event::Frame(peer, Frame::hello(&expected(from, ME, self.exchanges), exchange, &hello))
            }
            9..=11 => {
                let at = self.byte()?;
                let exchange = u64::from(at % 8).min(u64::from(ROUNDS * self.exchanges) - 1);
                Event::Frame(peer, vector(from, self.exchanges, exchange, [f64::from(at / 8), 0.0]))
            }
            12 => {
                let good = vector(from, self.exchanges, 0, [0.0; D]);
                let length = usize::from(self.byte()?).min(self.input.len());
                let (payload, rest) = self.input.split_at(length);
                self.input = rest;
                let mut header = good.header;
                header.kind =
                    [FrameKind::Vector, FrameKind::Hello, FrameKind::Refusal, FrameKind::Vector][usize::from(what >> 6)];
                header.length = length as u64;
                header.hash = *blake3::hash(payload).as_bytes();
                let bytes = [&header.encode()[..], payload].concat();
                Event::Frame(peer, Frame::decode(&bytes, &expected(ME, from, self.exchanges)).ok()?)
            }
            _ if self.asked => {
                self.asked = false;
                self.answers += 1;
                Event::Answered(released([f64::from(self.answers), -1.0]))
            }
            _ => Event::Tick,
        })
    }

    fn step(&mut self, event: Event) {
        let effects = self.machine.handle(self.now, event);
        assert!(effects.len() <= MOST_EFFECTS, "{} effects", effects.len());
        let crash = self.crash.take();
        for effect in effects.into_iter().take(crash.map_or(usize::MAX, usize::from)) {
            self.carry_out(effect);
        }
        if crash.is_some() || self.machine.is_over() {
            self.asked = false;
            let again = machine(self.exchanges, &self.saved, self.meet_first);
            self.machine = again.unwrap_or_else(|error| panic!("what was kept is not taken: {error}"));
            // It has not been told the time yet.
            return;
        }
        assert!(self.machine.wake_at() > self.now || self.now == u64::MAX);
        let _ = (self.machine.neighbours(), self.machine.is_meeting());
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Ask { .. } => self.asked = true,
            Effect::KeepState(state) => self.saved.state = Some(state),
            Effect::KeepOutgoing(outgoing) => {
                self.saved.outgoing.push(outgoing);
                let excess = self.saved.outgoing.len().saturating_sub(KEPT as usize);
                self.saved.outgoing.drain(..excess);
            }
            Effect::Outside(Action::Send { to, frame }) => {
                let frame = Frame::decode(&frame.encode(), &expected(to as u32, ME, self.exchanges));
                let frame = frame.unwrap_or_else(|error| panic!("sent to {to}: {error}"));
                if frame.header.kind == FrameKind::Vector {
                    let Mark { exchange, hash } = mark_of(&frame);
                    let kept = self.saved.outgoing.iter().find(|kept| kept.exchange == exchange);
                    assert!(kept.is_some_and(|kept| kept.payload == frame.payload), "sent but not kept");
                    assert_eq!(*self.sent.entry(exchange).or_insert(hash), hash, "exchange {exchange} twice");
                }
            }
            Effect::End(_) | Effect::Outside(_) => {}
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((first, input)) = input.split_first() else { return };
    let (exchanges, meet_first) = (1 + u32::from(first & 1), first & 2 != 0);
    let saved = Saved::default();
    let machine = machine(exchanges, &saved, meet_first).expect("a new run");
    let (asked, answers, now, crash, sent) = (false, 0, 0, None, BTreeMap::new());
    let mut world = World { input, exchanges, meet_first, machine, saved, asked, answers, now, crash, sent };
    // A frame that is no frame for us ends nothing: the driver drops it.
    while !world.input.is_empty() {
        if let Some(event) = world.event() {
            world.step(event);
        }
    }
});
