//! Which links are up, and what is to be reported next. One lock for both, so that reports come in the order of events.

use super::{Limits, Neighbour};
use crate::transport::{Incoming, Reason};
use crate::wire::Frame;
use ::iroh::endpoint::{Connection, VarInt};
use ::iroh::{PublicKey, RelayUrl};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;

/// Frames of a neighbour that may wait to be taken.
const UNDELIVERED: usize = 2;
/// Frames that may wait to be sent to a neighbour.
const UNSENT: usize = 8;
/// Notices about a neighbour that may wait before its further connections are turned away.
const NOTICES: usize = 12;
/// Refusals that may wait to be taken before further strangers are only counted.
const REFUSALS: usize = 16;
/// Connections of a neighbour that may be in their greeting.
const GREETINGS: usize = 4;
/// Bytes of a reason that is shown or sent.
const REASON: usize = 300;

/// Codes with which a connection is closed.
pub(super) const ENDED: VarInt = VarInt::from_u32(1);
pub(super) const REFUSED: VarInt = VarInt::from_u32(2);
pub(super) const REPLACED: VarInt = VarInt::from_u32(3);

pub(super) struct KnownNeighbour {
    pub(super) neighbour: Neighbour,
    pub(super) key: PublicKey,
    /// Room for frames that were read and not yet taken.
    pub(super) room: Arc<Semaphore>,
    /// Room for connections that have proven the key and not yet said what they want.
    pub(super) greetings: Arc<Semaphore>,
}

/// What all tasks of one node's links share.
pub(super) struct Shared {
    pub(super) member: usize,
    pub(super) relay: Option<RelayUrl>,
    pub(super) limits: Limits,
    pub(super) looks: bool,
    known: BTreeMap<usize, Arc<KnownNeighbour>>,
    board: Mutex<Board>,
    wake: Condvar,
}

struct Board {
    slots: BTreeMap<usize, Slot>,
    queue: VecDeque<Entry>,
    generation: u64,
    /// Refusals that wait, and strangers that were not reported because there were too many.
    refusals: usize,
    unreported: u64,
    /// Held by every link's task; gone when the links are closed.
    alive: Option<mpsc::Sender<()>>,
    gone: Option<mpsc::Receiver<()>>,
}

#[derive(Default)]
struct Slot {
    state: State,
    notices: usize,
}

#[derive(Default)]
enum State {
    #[default]
    Down,
    Dialling {
        generation: u64,
        task: AbortHandle,
    },
    Up {
        generation: u64,
        connection: Connection,
        frames: mpsc::Sender<Frame>,
        farewell: oneshot::Sender<Farewell>,
    },
}

/// How a link is ended by this side.
pub(super) struct Farewell {
    pub(super) reason: String,
    pub(super) linger: Duration,
}

/// What a link's task gets when the link comes up.
pub(super) struct LinkChannels {
    pub(super) generation: u64,
    pub(super) frames: mpsc::Receiver<Frame>,
    pub(super) farewell: oneshot::Receiver<Farewell>,
    /// Only to be held.
    pub(super) _alive: mpsc::Sender<()>,
}

struct Entry {
    what: Incoming,
    /// Given back when the entry is taken.
    _room: Option<OwnedSemaphorePermit>,
}

impl Board {
    fn notice(&mut self, what: Incoming) {
        match &what {
            Incoming::Up { peer } | Incoming::Down { peer, .. } => {
                self.slots.entry(*peer).or_default().notices += 1;
            }
            Incoming::Refused { .. } => self.refusals += 1,
            Incoming::Frame { .. } => {}
        }
        self.queue.push_back(Entry { what, _room: None });
    }

    fn down(&mut self, peer: usize, why: impl Into<Reason>) {
        self.slots.entry(peer).or_default().state = State::Down;
        self.notice(Incoming::Down { peer, why: why.into() });
    }

    /// Whether this generation's link is the neighbour's link now.
    fn is_current(&self, peer: usize, mine: u64) -> bool {
        matches!(self.slots.get(&peer).map(|slot| &slot.state), Some(State::Up { generation, .. }) if *generation == mine)
    }
}

impl Shared {
    pub(super) fn new(
        member: usize,
        neighbours: Vec<(Neighbour, PublicKey)>,
        relay: Option<RelayUrl>,
        limits: Limits,
        looks: bool,
    ) -> Self {
        let known = |(neighbour, key): (Neighbour, PublicKey)| {
            let room = Arc::new(Semaphore::new(UNDELIVERED));
            let greetings = Arc::new(Semaphore::new(GREETINGS));
            (neighbour.member, Arc::new(KnownNeighbour { neighbour, key, room, greetings }))
        };
        let (alive, gone) = mpsc::channel(1);
        let board = Board {
            slots: BTreeMap::new(),
            queue: VecDeque::new(),
            generation: 0,
            refusals: 0,
            unreported: 0,
            alive: Some(alive),
            gone: Some(gone),
        };
        let known = neighbours.into_iter().map(known).collect();
        Self { member, relay, limits, looks, known, board: Mutex::new(board), wake: Condvar::new() }
    }

    /// The board. A panic elsewhere leaves it usable: every change is a single step.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn neighbour(&self, member: usize) -> Option<Arc<KnownNeighbour>> {
        self.known.get(&member).cloned()
    }

    /// Who may hold a connection with this key: a neighbour, in the direction that the two numbers say.
    ///
    /// # Errors
    /// Who it is and why not.
    pub(super) fn admit(
        &self,
        key: PublicKey,
        incoming: bool,
    ) -> Result<Arc<KnownNeighbour>, (String, String)> {
        let Some(known) = self.known.values().find(|known| known.key == key) else {
            return Err((key.to_string(), "its key is not a neighbour's".to_owned()));
        };
        if incoming != (known.neighbour.member < self.member) {
            let Neighbour { member, name, .. } = &known.neighbour;
            let why = format!("member {member} must not dial member {}: the lower number dials", self.member);
            return Err((name.clone(), why));
        }
        Ok(Arc::clone(known))
    }

    /// Begins to dial, if the link is down.
    pub(super) fn dialling(&self, peer: usize, start: impl FnOnce(u64) -> AbortHandle) {
        let mut board = self.board();
        board.generation += 1;
        let generation = board.generation;
        let slot = board.slots.entry(peer).or_default();
        if matches!(slot.state, State::Down) {
            slot.state = State::Dialling { generation, task: start(generation) };
        }
    }

    /// Dialling came to nothing.
    pub(super) fn unreachable(&self, peer: usize, mine: u64, why: Reason) {
        let mut board = self.board();
        let state = board.slots.get(&peer).map(|slot| &slot.state);
        if matches!(state, Some(State::Dialling { generation, .. }) if *generation == mine) {
            board.down(peer, bounded(why));
            self.wake.notify_all();
        }
    }

    /// A link comes up, in place of the one that was, if there was one. `dialled` is the generation of our own
    /// dialling.
    pub(super) fn up(
        &self,
        peer: usize,
        dialled: Option<u64>,
        connection: Connection,
    ) -> Result<LinkChannels, String> {
        let mut board = self.board();
        let Some(alive) = board.alive.clone() else { return Err("this node is stopping".to_owned()) };
        let slot = board.slots.entry(peer).or_default();
        match (&slot.state, dialled) {
            (State::Dialling { generation, .. }, Some(mine)) if *generation == mine => {}
            (_, Some(_)) => return Err("no longer wanted".to_owned()),
            (_, None) if slot.notices >= NOTICES => {
                return Err("too many connections in a short time".to_owned());
            }
            (State::Up { connection, .. }, None) => {
                connection.close(REPLACED, b"replaced by a newer connection");
                board.down(peer, "it connected again: the new link takes the old one's place");
            }
            (_, None) => {}
        }
        board.generation += 1;
        let generation = board.generation;
        let (frames, to_send) = mpsc::channel(UNSENT);
        let (farewell, end) = oneshot::channel();
        board.slots.entry(peer).or_default().state = State::Up { generation, connection, frames, farewell };
        board.notice(Incoming::Up { peer });
        self.wake.notify_all();
        Ok(LinkChannels { generation, frames: to_send, farewell: end, _alive: alive })
    }

    /// A frame arrived; whether its link still counts.
    pub(super) fn frame(&self, peer: usize, mine: u64, frame: Frame, room: OwnedSemaphorePermit) -> bool {
        let mut board = self.board();
        let current = board.is_current(peer, mine);
        if current {
            board.queue.push_back(Entry { what: Incoming::Frame { peer, frame }, _room: Some(room) });
            self.wake.notify_all();
        }
        current
    }

    /// A link ended, `refused` if because of what the neighbour sent. Nothing is said of links that were replaced or
    /// hung up: that was said then.
    pub(super) fn ended(&self, known: &KnownNeighbour, mine: u64, why: Reason, refused: bool) {
        let (mut board, peer, why) = (self.board(), known.neighbour.member, bounded(why));
        if !board.is_current(peer, mine) {
            return;
        }
        if refused {
            board.notice(Incoming::Refused { who: known.neighbour.name.clone(), why: why.clone() });
        }
        board.down(peer, why);
        self.wake.notify_all();
    }

    /// Somebody was turned away before there was a link.
    pub(super) fn turned_away(&self, who: String, why: Reason) {
        let mut board = self.board();
        if board.refusals >= REFUSALS {
            board.unreported += 1;
            return;
        }
        let mut why = bounded(why);
        if board.unreported > 0 {
            why = why.with(&format!(" ({} more were turned away since the last report)", board.unreported));
            board.unreported = 0;
        }
        board.notice(Incoming::Refused { who, why });
        self.wake.notify_all();
    }

    pub(super) fn send(&self, peer: usize, frame: Frame) {
        let board = self.board();
        let Some(State::Up { frames, .. }) = board.slots.get(&peer).map(|slot| &slot.state) else { return };
        if frames.try_send(frame).is_err() {
            drop(board);
            self.hang_up(peer, &format!("it leaves {UNSENT} frames waiting"), Duration::ZERO);
        }
    }

    /// Ends a link, or the attempt to make one.
    pub(super) fn hang_up(&self, peer: usize, reason: &str, linger: Duration) {
        let (mut board, reason) = (self.board(), clean(reason));
        let Some(slot) = board.slots.get_mut(&peer) else { return };
        match std::mem::take(&mut slot.state) {
            State::Down => return,
            State::Dialling { task, .. } => task.abort(),
            // The task gets the reason when it has sent what was queued.
            State::Up { farewell, .. } => {
                let _ = farewell.send(Farewell { reason: reason.clone(), linger });
            }
        }
        board.down(peer, reason);
        self.wake.notify_all();
    }

    /// Ends everything and takes no more; what is returned ends when the last link's task does.
    pub(super) fn close(&self, linger: Duration) -> mpsc::Receiver<()> {
        let peers: Vec<usize> = self.board().slots.keys().copied().collect();
        for peer in peers {
            self.hang_up(peer, "the other node stops", linger);
        }
        let mut board = self.board();
        board.alive = None;
        board.queue.clear();
        board.gone.take().unwrap_or_else(|| mpsc::channel(1).1)
    }

    pub(super) fn connections(&self) -> Vec<(usize, Connection)> {
        let board = self.board();
        let up = |(peer, slot): (&usize, &Slot)| match &slot.state {
            State::Up { connection, .. } => Some((*peer, connection.clone())),
            _ => None,
        };
        board.slots.iter().filter_map(up).collect()
    }

    /// What happened next, if anything does within `wait`.
    pub(super) fn next(&self, wait: Duration) -> Option<Incoming> {
        let end = Instant::now() + wait;
        let mut board = self.board();
        loop {
            if let Some(Entry { what, .. }) = board.queue.pop_front() {
                match &what {
                    Incoming::Up { peer } | Incoming::Down { peer, .. } => {
                        let slot = board.slots.entry(*peer).or_default();
                        slot.notices = slot.notices.saturating_sub(1);
                    }
                    Incoming::Refused { .. } => board.refusals = board.refusals.saturating_sub(1),
                    Incoming::Frame { .. } => {}
                }
                return Some(what);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            board = self.wake.wait_timeout(board, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A reason in one line of bounded length, whoever wrote it.
fn bounded(reason: Reason) -> Reason {
    match reason {
        Reason::Wire { error, aside } => {
            let room = REASON.saturating_sub(error.to_string().len());
            Reason::Wire { error, aside: clean_to(room, &aside) }
        }
        Reason::Words(words) => Reason::Words(clean(&words)),
    }
}

/// Words in one line of bounded length, whoever wrote them.
pub(super) fn clean(words: &str) -> String {
    clean_to(REASON, words)
}

fn clean_to(most: usize, reason: &str) -> String {
    let one_line = reason.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut text = String::new();
    for c in one_line {
        if text.len() + c.len_utf8() > most {
            break;
        }
        text.push(c);
    }
    text
}
