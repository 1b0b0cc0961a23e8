//! What travels between neighbours: a fixed header, then the payload.
//!
//! | bytes | what |
//! |---|---|
//! | 0..4 | `PRDO` |
//! | 4 | version, 1 |
//! | 5 | kind: 1 hello, 2 vector, 4 refusal |
//! | 6..8 | zero |
//! | 8..12, 12..16 | sender, receiver: member numbers |
//! | 16..48 | run id |
//! | 48..80 | hash of the agreement |
//! | 80..84 | round |
//! | 84..88 | zero |
//! | 88..96 | exchange: counts all exchanges of the run |
//! | 96..104 | length of the payload in bytes |
//! | 104..136 | BLAKE3 of the payload |
//!
//! Numbers are little-endian. Every header has one encoding, and a frame is refused unless run, agreement, sender,
//! receiver, length and hash are the expected ones. A vector's payload comes from a `Message<Noised>` and from nothing
//! else: [`Frame::vector`] takes that type.

use data_encoding::HEXLOWER;
use prdo_algorithm::graph::{Mixing, Mixings};
use prdo_algorithm::{Exchanges, Message};
use prdo_privacy::Noised;
use std::sync::Arc;

/// A BLAKE3 hash.
pub type Hash = [u8; 32];

pub const HEADER: usize = 136;
pub const HELLO: usize = 83;
/// The most bytes of a refusal's payload.
pub const REFUSAL: usize = 400;

const MARK: usize = 41;
const MAGIC: &[u8; 4] = b"PRDO";
const VERSION: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Where its sender is.
    Hello = 1,
    Vector = 2,
    /// Why the sender refuses the receiver, in words.
    Refusal = 4,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: FrameKind,
    /// The sender's member number.
    pub sender: u32,
    /// The receiver's member number.
    pub receiver: u32,
    pub run: Hash,
    pub agreement: Hash,
    pub round: u32,
    /// The exchange, counted through all rounds; of a hello or refusal: the one its sender works on.
    pub exchange: u64,
    pub length: u64,
    pub hash: Hash,
}

/// A frame whose payload has the length and hash that its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub header: Header,
    pub payload: Arc<[u8]>,
}

/// An exchange and the hash of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub exchange: u64,
    pub hash: Hash,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The latest exchange whose payload the sender has durably prepared for its neighbours.
    pub sent: Option<Mark>,
    /// The latest exchange of the receiver's up to which the sender holds all.
    pub received: Option<Mark>,
    /// Whether the sender has waited long and asks for a hello, and for what it lacks, in return.
    pub question: bool,
}

/// Bytes that are not a frame for us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("not a prdo frame of version {VERSION}")]
    NotAFrame,
    #[error("kind {0} is not allowed: it must be 1, 2 or 4")]
    Kind(u8),
    #[error("reserved bytes are not zero")]
    Reserved,
    #[error("it belongs to run {found}, ours is {ours}")]
    Run { found: String, ours: String },
    #[error("its agreement has the hash {found}, ours has {ours}: the two sides signed different texts")]
    Agreement { found: String, ours: String },
    #[error("it goes from member {sender} to member {receiver}; it must go from {expected} to {me}")]
    Direction { sender: u32, receiver: u32, expected: u32, me: u32 },
    #[error("its payload has {found} bytes; a {kind:?} has {allowed}")]
    Length { kind: FrameKind, found: u64, allowed: String },
    #[error("exchange {exchange} of round {round} is not one of this run ({exchanges} in all)")]
    Exchange { exchange: u64, round: u32, exchanges: u64 },
    #[error("cut short or too long: {found} bytes instead of {expected}")]
    Size { expected: u64, found: u64 },
    #[error("its payload does not have the hash that its header says")]
    Hash,
    #[error("{0}")]
    Vector(#[from] prdo_privacy::DecodeError),
    #[error("a hello with tag {0}, which is neither 0 nor 1")]
    Hello(u8),
}

/// What a node expects of every frame of one neighbour: all is checked before a payload is read or stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub run: Hash,
    pub agreement: Hash,
    pub peer: u32,
    pub me: u32,
    /// Bytes of the payload of a round that is not silent, and of the exchanges after the last round.
    pub payload_bytes: u64,
    pub final_bytes: u64,
    pub exchanges: Exchanges,
    pub rounds: u32,
    /// Which way vectors go, by the turns of the network.
    pub ways: Arc<[Ways]>,
}

/// Which way vectors go between a node and a neighbour. Where none goes the payload is empty: neighbours answer one another
/// in every exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Whether the neighbour's are mixed here.
    pub here: bool,
    /// Whether the node's own are mixed there.
    pub there: bool,
}

impl Ways {
    pub const BOTH: Self = Self { here: true, there: true };

    /// Between two members whose links always go both ways.
    pub fn both() -> Arc<[Self]> {
        Arc::new([Self::BOTH])
    }

    /// Between two members, in each turn.
    pub fn between(mixing: &Mixings, me: usize, peer: usize) -> Arc<[Self]> {
        let turn = |w: &Mixing| Self { here: w.weight(me, peer) != 0.0, there: w.weight(peer, me) != 0.0 };
        mixing.turns().iter().map(turn).collect()
    }
}

impl Expected {
    /// Exchanges of the whole run.
    pub fn all_exchanges(&self) -> u64 {
        self.exchanges.before(self.rounds, self.rounds)
    }

    fn round_of(&self, exchange: u64) -> Option<u32> {
        self.exchanges.round_of(exchange, self.rounds)
    }

    fn ways_in(&self, round: u32) -> Ways {
        let turns = self.ways.len().max(1);
        self.ways.get(round as usize % turns).copied().unwrap_or(Ways::BOTH)
    }

    /// Whether the neighbour's vectors come in this round.
    pub fn comes_in(&self, round: u32) -> bool {
        !self.exchanges.is_silent(round) && self.ways_in(round).here
    }

    /// Whether the neighbour mixes what this node makes in the round of an exchange.
    pub fn goes_in(&self, exchange: u64) -> bool {
        self.round_of(exchange).is_none_or(|round| self.ways_in(round).there)
    }

    /// Bytes of the payload that comes in this round with this exchange.
    fn payload_in(&self, round: u32, exchange: u64) -> u64 {
        let is_final = exchange >= u64::from(self.rounds) * u64::from(self.exchanges.per_round);
        match self.comes_in(round) {
            true if is_final => self.final_bytes,
            true => self.payload_bytes,
            false => 0,
        }
    }

    /// Whether a header may be followed by its payload.
    pub fn check(&self, header: &Header) -> Result<(), WireError> {
        // First: two agreements have two runs as well, and their hashes are what people compare.
        if header.agreement != self.agreement {
            let (found, ours) = (hex(&header.agreement), hex(&self.agreement));
            return Err(WireError::Agreement { found, ours });
        }
        if header.run != self.run {
            return Err(WireError::Run { found: hex(&header.run), ours: hex(&self.run) });
        }
        if (header.sender, header.receiver) != (self.peer, self.me) {
            let Header { sender, receiver, .. } = *header;
            return Err(WireError::Direction { sender, receiver, expected: self.peer, me: self.me });
        }
        let payload = self.payload_in(header.round, header.exchange);
        let (fits, allowed) = match header.kind {
            FrameKind::Hello => (header.length == HELLO as u64, HELLO.to_string()),
            FrameKind::Vector => (header.length == payload, payload.to_string()),
            FrameKind::Refusal => (header.length <= REFUSAL as u64, format!("at most {REFUSAL}")),
        };
        if !fits {
            return Err(WireError::Length { kind: header.kind, found: header.length, allowed });
        }
        let (round, exchanges) = (self.round_of(header.exchange), self.all_exchanges());
        let last = exchanges - u64::from(header.kind == FrameKind::Vector).min(exchanges);
        if header.exchange > last || round != Some(header.round) {
            let (exchange, round) = (header.exchange, header.round);
            return Err(WireError::Exchange { exchange, round, exchanges });
        }
        Ok(())
    }

    /// The header of a frame that this node sends to the neighbour.
    fn reply(&self, kind: FrameKind, exchange: u64, payload: &[u8]) -> Header {
        self.header(kind, Mark { exchange, hash: *blake3::hash(payload).as_bytes() }, payload.len())
    }

    /// The same for a payload whose hash is known.
    fn header(&self, kind: FrameKind, Mark { exchange, hash }: Mark, length: usize) -> Header {
        Header {
            kind,
            sender: self.me,
            receiver: self.peer,
            run: self.run,
            agreement: self.agreement,
            round: self.round_of(exchange).unwrap_or(0),
            exchange,
            length: length as u64,
            hash,
        }
    }
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let fields: [(usize, &[u8]); 11] = [
            (0, MAGIC),
            (4, &[VERSION, self.kind as u8]),
            (8, &self.sender.to_le_bytes()),
            (12, &self.receiver.to_le_bytes()),
            (16, &self.run),
            (48, &self.agreement),
            (80, &self.round.to_le_bytes()),
            (88, &self.exchange.to_le_bytes()),
            (96, &self.length.to_le_bytes()),
            (104, &self.hash),
            (136, &[]),
        ];
        for (at, field) in fields {
            bytes[at..at + field.len()].copy_from_slice(field);
        }
        bytes
    }

    /// A header's fields. That they are the expected ones is for [`Expected::check`].
    pub fn decode(bytes: &[u8; HEADER]) -> Result<Self, WireError> {
        let four = |at: usize| u32::from_le_bytes(array(bytes, at));
        let eight = |at: usize| u64::from_le_bytes(array(bytes, at));
        if &bytes[..4] != MAGIC || bytes[4] != VERSION {
            return Err(WireError::NotAFrame);
        }
        let kind = match bytes[5] {
            1 => FrameKind::Hello,
            2 => FrameKind::Vector,
            4 => FrameKind::Refusal,
            other => return Err(WireError::Kind(other)),
        };
        if bytes[6..8] != [0; 2] || bytes[84..88] != [0; 4] {
            return Err(WireError::Reserved);
        }
        Ok(Self {
            kind,
            sender: four(8),
            receiver: four(12),
            run: array(bytes, 16),
            agreement: array(bytes, 48),
            round: four(80),
            exchange: eight(88),
            length: eight(96),
            hash: array(bytes, 104),
        })
    }
}

impl Frame {
    /// The vectors of one exchange. There is no other way to make a vector's frame.
    pub fn vector(to: &Expected, exchange: u64, message: &Message<Noised>) -> Self {
        let payload: Arc<[u8]> = message.to_wire().into();
        Self { header: to.reply(FrameKind::Vector, exchange, &payload), payload }
    }

    /// A vector's frame from bytes that were kept, with their hash, when the message was made.
    pub(crate) fn stored(to: &Expected, mark: Mark, payload: Arc<[u8]>) -> Self {
        Self { header: to.header(FrameKind::Vector, mark, payload.len()), payload }
    }

    /// Where this node is.
    pub fn hello(to: &Expected, exchange: u64, hello: &Hello) -> Self {
        let payload: Arc<[u8]> = hello.encode().as_slice().into();
        Self { header: to.reply(FrameKind::Hello, exchange, &payload), payload }
    }

    /// Why this node refuses the neighbour; cut at [`REFUSAL`] bytes.
    pub fn refusal(to: &Expected, exchange: u64, why: &str) -> Self {
        let end = (0..=REFUSAL.min(why.len())).rev().find(|end| why.is_char_boundary(*end)).unwrap_or(0);
        let payload: Arc<[u8]> = why.as_bytes()[..end].into();
        Self { header: to.reply(FrameKind::Refusal, exchange, &payload), payload }
    }

    /// The frame of a checked header and the payload that followed it.
    pub fn join(header: Header, payload: Arc<[u8]>) -> Result<Self, WireError> {
        if payload.len() as u64 != header.length {
            return Err(WireError::Size { expected: header.length, found: payload.len() as u64 });
        }
        if blake3::hash(&payload).as_bytes() != &header.hash {
            return Err(WireError::Hash);
        }
        if header.kind == FrameKind::Hello {
            Hello::decode(&payload)?;
        }
        Ok(Self { header, payload })
    }

    pub fn encode(&self) -> Arc<[u8]> {
        // In place: a payload of megabytes is copied once.
        let mut whole: Arc<[u8]> = std::iter::repeat_n(0, HEADER + self.payload.len()).collect();
        if let Some((head, rest)) = Arc::get_mut(&mut whole).and_then(|all| all.split_at_mut_checked(HEADER))
        {
            head.copy_from_slice(&self.header.encode());
            rest.copy_from_slice(&self.payload);
        }
        whole
    }

    /// A whole frame from its bytes, checked.
    pub fn decode(bytes: &[u8], expected: &Expected) -> Result<Self, WireError> {
        let wrong = WireError::Size { expected: HEADER as u64, found: bytes.len() as u64 };
        let (head, payload) = bytes.split_first_chunk::<HEADER>().ok_or(wrong)?;
        let header = Header::decode(head)?;
        expected.check(&header)?;
        Self::join(header, payload.into())
    }
}

impl Hello {
    fn encode(&self) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[HELLO - 1] = u8::from(self.question);
        for (part, mark) in bytes.chunks_exact_mut(MARK).zip([self.sent, self.received]) {
            let Some(Mark { exchange, hash }) = mark else { continue };
            part[0] = 1;
            part[1..9].copy_from_slice(&exchange.to_le_bytes());
            part[9..].copy_from_slice(&hash);
        }
        bytes
    }

    /// A hello from its payload.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let size = WireError::Size { expected: HELLO as u64, found: bytes.len() as u64 };
        let bytes: &[u8; HELLO] = bytes.try_into().map_err(|_| size)?;
        let mark = |at: usize| match bytes[at] {
            0 if bytes[at..at + MARK].iter().all(|b| *b == 0) => Ok(None),
            1 => Ok(Some(Mark {
                exchange: u64::from_le_bytes(array(bytes, at + 1)),
                hash: array(bytes, at + 9),
            })),
            tag => Err(WireError::Hello(tag)),
        };
        let question = match bytes[HELLO - 1] {
            tag @ 0..=1 => tag == 1,
            tag => return Err(WireError::Hello(tag)),
        };
        Ok(Self { sent: mark(0)?, received: mark(MARK)?, question })
    }
}

pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The bytes of exactly 2·`N` lower-case hexadecimal digits. Nothing is allocated: private keys are read by it.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    HEXLOWER.decode_mut(text.as_bytes(), &mut bytes).ok()?;
    Some(bytes)
}

/// `N` bytes from `at`, which the callers know to be there.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
