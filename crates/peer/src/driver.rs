//! The loop of a real peer: a session, a transport and the clock.

use crate::machine::{Action, Ended, Event, Millis, Note};
use crate::session::{Session, SessionError, Setup};
use crate::transport::{Incoming, Reason, Transport};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest that the loop sleeps, so that a wish to stop is heard.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// How long links are given to carry what is queued when a run ends.
const FAREWELL: Duration = Duration::from_secs(5);

pub trait Watch {
    fn note(&mut self, note: &Note);
    /// Somebody was turned away, before the machine heard of it.
    fn refused(&mut self, who: &str, why: &Reason);
    /// How things stand; called after every event and at least every tenth of a second.
    fn look(&mut self, session: &Session);
}

/// Trains until the end, until `stop` is set, or until something makes it impossible.
///
/// # Errors
/// As [`Session::new`] and [`Session::handle`]; everything up to there is kept.
pub fn run(
    setup: Setup,
    transport: &mut dyn Transport,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Ended, SessionError> {
    run_session(Session::new(setup)?, transport, watch, stop).0
}

/// The same with a session that is there already, and that is there afterwards.
pub fn run_session(
    mut session: Session,
    transport: &mut dyn Transport,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> (Result<Ended, SessionError>, Session) {
    let ended = run_until_end(&mut session, transport, watch, stop);
    watch.look(&session);
    transport.close(FAREWELL);
    (ended, session)
}

fn run_until_end(
    session: &mut Session,
    transport: &mut dyn Transport,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Ended, SessionError> {
    let started = Instant::now();
    let mut event = Event::Start;
    loop {
        let now = millis(started.elapsed());
        let mut outside = |action| perform(action, transport, watch);
        if let Some(ended) = session.handle(now, event, &mut outside)? {
            return Ok(ended);
        }
        watch.look(session);
        let left = session.machine().wake_at().saturating_sub(millis(started.elapsed()));
        event = match stop.load(Ordering::Relaxed) {
            true => Event::Stop,
            false => event_of(transport.next(LONGEST_WAIT.min(Duration::from_millis(left))), watch),
        };
    }
}

fn perform(action: Action, transport: &mut dyn Transport, watch: &mut dyn Watch) {
    match action {
        Action::Send { to, frame } => transport.send(to, frame),
        Action::Dial(peer) => transport.dial(peer),
        Action::HangUp(peer, why) => transport.hang_up(peer, &why),
        Action::Note(note) => watch.note(&note),
    }
}

fn event_of(incoming: Option<Incoming>, watch: &mut dyn Watch) -> Event {
    match incoming {
        None => Event::Tick,
        Some(Incoming::Up { peer }) => Event::Up(peer),
        Some(Incoming::Down { peer, why }) => Event::Down(peer, why),
        Some(Incoming::Frame { peer, frame }) => Event::Frame(peer, frame),
        Some(Incoming::Refused { who, why }) => {
            watch.refused(&who, &why);
            Event::Tick
        }
    }
}

fn millis(time: Duration) -> Millis {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
