//! Links between nodes of one process: the other implementation of [`Transport`].

use crate::transport::{Incoming, Transport};
use crate::wire::{Expected, Frame};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where each member takes what is sent to it.
type Inboxes = BTreeMap<usize, Sender<(usize, Parcel)>>;

/// Where the nodes of one process meet.
#[derive(Clone, Debug, Default)]
pub struct Hub {
    members: Arc<Mutex<Inboxes>>,
}

#[derive(Clone, Debug)]
enum Parcel {
    Up,
    Down(String),
    Bytes(Arc<[u8]>),
}

/// One node's links in a [`Hub`].
pub struct Local {
    me: usize,
    hub: Hub,
    expected: BTreeMap<usize, Expected>,
    up: BTreeMap<usize, bool>,
    /// What this node tells itself, and what others tell it.
    own: Sender<(usize, Parcel)>,
    inbox: Receiver<(usize, Parcel)>,
}

impl Hub {
    pub fn join(&self, me: usize, neighbours: &[Expected]) -> Local {
        let (own, inbox) = channel();
        self.lock().insert(me, own.clone());
        let expected = neighbours.iter().map(|e| (e.peer as usize, e.clone())).collect();
        Local { me, hub: self.clone(), expected, up: BTreeMap::new(), own, inbox }
    }

    fn lock(&self) -> MutexGuard<'_, Inboxes> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, from: usize, to: usize, parcel: Parcel) -> bool {
        self.lock().get(&to).is_some_and(|inbox| inbox.send((from, parcel)).is_ok())
    }
}

impl Local {
    fn received(&mut self, from: usize, parcel: Parcel) -> Option<Incoming> {
        let expected = self.expected.get(&from)?;
        match parcel {
            Parcel::Up => {
                self.up.insert(from, true);
                Some(Incoming::Up { peer: from })
            }
            Parcel::Down(why) => {
                self.up.insert(from, false);
                Some(Incoming::Down { peer: from, why: why.into() })
            }
            Parcel::Bytes(_) if self.up.get(&from) != Some(&true) => None,
            Parcel::Bytes(bytes) => Some(match Frame::decode(&bytes, expected) {
                Ok(frame) => Incoming::Frame { peer: from, frame },
                Err(error) => Incoming::Refused { who: format!("member {from}"), why: error.into() },
            }),
        }
    }
}

impl Transport for Local {
    fn dial(&mut self, peer: usize) {
        // This node hears of it first: the other may answer at once. (The own channel cannot be closed.)
        let _ = self.own.send((peer, Parcel::Up));
        if !self.hub.send(self.me, peer, Parcel::Up) {
            let _ = self.own.send((peer, Parcel::Down("it is not here".into())));
        }
    }

    fn send(&mut self, peer: usize, frame: Frame) {
        if self.up.get(&peer) == Some(&true) {
            self.hub.send(self.me, peer, Parcel::Bytes(frame.encode()));
        }
    }

    fn hang_up(&mut self, peer: usize, reason: &str) {
        self.up.insert(peer, false);
        self.hub.send(self.me, peer, Parcel::Down(reason.to_string()));
    }

    fn next(&mut self, wait: Duration) -> Option<Incoming> {
        let (from, parcel) = self.inbox.recv_timeout(wait).ok()?;
        self.received(from, parcel)
    }

    fn close(&mut self, _wait: Duration) {
        self.hub.lock().remove(&self.me);
        let up: Vec<usize> = self.up.iter().filter(|(_, up)| **up).map(|(peer, _)| *peer).collect();
        for peer in up {
            self.hang_up(peer, "it has ended");
        }
    }
}
