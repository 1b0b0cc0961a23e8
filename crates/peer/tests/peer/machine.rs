//! The round machine, event by event: what it refuses, whom it names, what it does again after a restart.

use prdo_algorithm::{Exchanges, Failure, Inbox, Message, Method, Node, Settings};
use prdo_peer::home::{Outgoing, Saved, StateRecord};
use prdo_peer::machine::{Action, Effect, Ended, Event, Machine, Note, Patience, PeerError, Place};
use prdo_peer::wire::{Expected, Frame, FrameKind, Hello, Mark, Ways};
use prdo_privacy::{Noised, Query, Released, Start};
use std::sync::{Arc, OnceLock};

const D: usize = 2;

fn expected(me: u32, peer: u32) -> Expected {
    Expected {
        run: [1; 32],
        agreement: [2; 32],
        peer,
        me,
        payload_bytes: 8 * D as u64,
        exchanges: Exchanges::ONE,
        rounds: 3,
        ways: Ways::both(),
    }
}

/// Member 1 of a path 0 – 1 – 2.
fn place() -> Place {
    Place {
        me: 1,
        rows: vec![vec![(0, 0.25), (1, 0.5), (2, 0.25)]],
        neighbours: vec![expected(1, 0), expected(1, 2)],
        names: ["north", "mid", "south"].map(String::from).to_vec(),
        dimension: D,
        rounds: 3,
        exchanges: Exchanges::ONE,
    }
}

fn released(values: [f64; D]) -> Released<Noised> {
    Released::start(&Start::declared_public(values.to_vec()).unwrap())
}

fn machine(saved: &Saved) -> Machine {
    let node = Method::Ed.start(&Start::zeros(D), &Settings::new(0.5)).unwrap();
    Machine::new(place(), node, saved, Patience::default()).unwrap()
}

fn vector(from: u32, exchange: u64, values: [f64; D]) -> Event {
    let frame = Frame::vector(&expected(from, 1), exchange, &Message::one(released(values)));
    Event::Frame(from as usize, frame)
}

fn hello(from: u32, exchange: u64, hello: Hello) -> Event {
    Event::Frame(from as usize, Frame::hello(&expected(from, 1), exchange, &hello))
}

fn mark(event: &Event) -> Mark {
    let Event::Frame(_, frame) = event else { panic!("not a frame") };
    Mark { exchange: frame.header.exchange, hash: frame.header.hash }
}

/// What was sent to `to`, decoded.
fn sent(effects: &[Effect], to: usize) -> Vec<Frame> {
    let frame = |effect: &Effect| match effect {
        Effect::Outside(Action::Send { to: t, frame }) if *t == to => {
            Some(Frame::decode(&frame.encode(), &expected(to as u32, 1)).unwrap())
        }
        _ => None,
    };
    effects.iter().filter_map(frame).collect()
}

fn refusals(effects: &[Effect]) -> Vec<(String, String)> {
    let refused = |effect: &Effect| match effect {
        Effect::Outside(Action::Note(Note::Refused { peer, why })) => Some((peer.clone(), why.clone())),
        _ => None,
    };
    effects.iter().filter_map(refused).collect()
}

fn ending(effects: &[Effect]) -> Option<&Result<Ended, PeerError>> {
    effects.iter().find_map(|effect| match effect {
        Effect::End(how) => Some(how),
        _ => None,
    })
}

/// Connected to both, its first message sent.
fn connected() -> (Machine, Vec<Effect>) {
    let mut m = machine(&Saved::default());
    let mut all = m.handle(0, Event::Start);
    for peer in [0, 2] {
        all.extend(m.handle(1, Event::Up(peer)));
        all.extend(m.handle(2, hello(peer as u32, 0, Hello::default())));
    }
    all.extend(m.handle(3, Event::Answered(released([1.0, -1.0]))));
    (m, all)
}

#[test]
fn a_round_is_kept_before_it_is_sent_and_mixed_when_all_is_here() {
    let (mut m, effects) = connected();
    // The lower number dials: this node calls south and is called by north.
    let dialled: Vec<_> = effects.iter().filter(|e| matches!(e, Effect::Outside(Action::Dial(_)))).collect();
    assert!(matches!(dialled[..], [Effect::Outside(Action::Dial(2))]), "{dialled:?}");
    let kept = effects.iter().position(|e| matches!(e, Effect::KeepOutgoing(_))).unwrap();
    let vectors = |e: &Effect| matches!(e, Effect::Outside(Action::Send { frame, .. }) if frame.header.kind == FrameKind::Vector);
    let first = effects.iter().position(vectors).unwrap();
    assert!(kept < first);
    assert_eq!(sent(&effects, 0).last().unwrap().payload, sent(&effects, 2).last().unwrap().payload);

    let effects = m.handle(4, vector(0, 0, [4.0, 0.0]));
    assert!(effects.is_empty(), "{effects:?}");
    let effects = m.handle(5, vector(2, 0, [0.0, 8.0]));
    // x = ¼·4 + ½·(−0.5·1), ½·0.5 + ¼·8.
    assert_eq!(m.model(), &[0.75, 2.25]);
    assert!(
        matches!(&effects[..], [Effect::KeepState(s), Effect::Outside(Action::Note(_)), Effect::Ask { round: 1 }] if s.round == 1)
    );
}

#[test]
fn bad_vectors_are_refused_by_name_and_the_good_one_still_counts() {
    let (mut m, _) = connected();
    let nan = Frame::vector(&expected(0, 1), 0, &Message::one(released([1.0, 2.0])));
    let payload: Arc<[u8]> = [f64::NAN.to_le_bytes(), 1f64.to_le_bytes()].concat().into();
    let mut header = nan.header.clone();
    header.hash = *blake3::hash(&payload).as_bytes();
    let cases = [
        (Event::Frame(0, Frame { header, payload }), "not finite"),
        (vector(0, 2, [1.0, 1.0]), "while we are at 0"),
    ];
    for (event, why) in cases {
        m.handle(10, Event::Up(0));
        let effects = m.handle(11, event);
        let refused = refusals(&effects);
        assert!(refused.len() == 1 && refused[0].0 == "north" && refused[0].1.contains(why), "{refused:?}");
        assert!(effects.iter().any(|e| matches!(e, Effect::Outside(Action::HangUp(0, _)))));
        assert_eq!(sent(&effects, 0).last().unwrap().header.kind, FrameKind::Refusal);
    }
    m.handle(20, vector(0, 0, [4.0, 0.0]));
    // The same again is a duplicate, other bytes are a conflict; the first stays.
    assert!(refusals(&m.handle(21, vector(0, 0, [4.0, 0.0]))).is_empty());
    assert!(refusals(&m.handle(22, vector(0, 0, [5.0, 0.0])))[0].1.contains("other bytes"));
    m.handle(23, vector(2, 0, [0.0, 8.0]));
    assert_eq!(m.model(), &[0.75, 2.25]);
    // After it was mixed, too; and from nobody's number nothing is taken.
    assert!(refusals(&m.handle(24, vector(0, 0, [5.0, 0.0])))[0].1.contains("other bytes"));
    assert!(m.handle(25, Event::Frame(7, Frame::hello(&expected(7, 1), 0, &Hello::default()))).is_empty());
}

#[test]
fn a_lost_frame_is_asked_for_and_sent_again() {
    let (mut m, _) = connected();
    let question = Patience::default().question;
    let effects = m.handle(question + 10, Event::Tick);
    let asked: Vec<Hello> = sent(&effects, 0).iter().map(|f| Hello::decode(&f.payload).unwrap()).collect();
    assert!(asked.len() == 1 && asked[0].question && asked[0].sent.is_some() && asked[0].received.is_none());
    // And the other way round: a question is answered, with what is lacking.
    let effects = m.handle(question + 11, hello(0, 0, Hello { question: true, ..Hello::default() }));
    let kinds: Vec<FrameKind> = sent(&effects, 0).iter().map(|f| f.header.kind).collect();
    assert_eq!(kinds, [FrameKind::Hello, FrameKind::Vector]);
    // Without a question, what this link has carried is not sent twice.
    let effects = m.handle(question + 12, hello(0, 0, Hello::default()));
    assert!(sent(&effects, 0).is_empty());
}

#[test]
fn a_neighbour_that_lost_what_it_had_gets_it_again() {
    let (mut m, effects) = connected();
    let ours = sent(&effects, 0).last().unwrap().header.clone();
    let has = Hello { received: Some(Mark { exchange: 0, hash: ours.hash }), ..Hello::default() };
    m.handle(4, hello(0, 0, has));
    m.handle(5, Event::Down(0, "killed".into()));
    m.handle(6, Event::Up(0));
    let effects = m.handle(7, hello(0, 0, Hello::default()));
    assert_eq!(sent(&effects, 0).last().unwrap().header, ours);
}

#[test]
fn a_restart_sends_the_kept_bytes_and_asks_nothing_of_the_gate() {
    let (_, effects) = connected();
    let kept =
        effects.iter().find_map(|e| if let Effect::KeepOutgoing(o) = e { Some(o.clone()) } else { None });
    let saved = Saved { outgoing: vec![kept.clone().unwrap()], ..Saved::default() };
    let mut again = machine(&saved);
    let effects = again.handle(0, Event::Start);
    assert!(!effects.iter().any(|e| matches!(e, Effect::Ask { .. })), "{effects:?}");
    again.handle(1, Event::Up(0));
    let effects = again.handle(2, hello(0, 0, Hello::default()));
    assert_eq!(sent(&effects, 0)[0].payload, kept.clone().unwrap().payload);

    // Kept bytes that the answer does not give are a conflict, found before anything is sent.
    let outgoing = Outgoing { payload: vec![0; 8 * D].into(), ..kept.unwrap() };
    let node = Method::Ed.start(&Start::zeros(D), &Settings::new(0.5)).unwrap();
    let bad = Machine::new(
        place(),
        node,
        &Saved { outgoing: vec![outgoing], ..Saved::default() },
        Patience::default(),
    );
    assert!(bad.err().unwrap().to_string().contains("already kept"));
}

#[test]
fn a_neighbour_that_knows_more_than_we_do_stops_us() {
    let known = Mark { exchange: 0, hash: [9; 32] };
    let mut m = machine(&Saved::default());
    m.handle(0, Event::Start);
    m.handle(1, Event::Up(0));
    let effects =
        m.handle(2, hello(0, 1, Hello { sent: Some(known), received: Some(known), question: false }));
    assert!(matches!(ending(&effects), Some(Err(PeerError::RolledBack { peer, .. })) if peer == "north"));

    // An exchange that the run does not have is a lie: only its link suffers.
    let known = Mark { exchange: u64::MAX, hash: [9; 32] };
    let mut m = machine(&Saved::default());
    m.handle(0, Event::Start);
    let effects = m.handle(1, hello(0, 1, Hello { sent: None, received: Some(known), question: false }));
    assert!(ending(&effects).is_none() && refusals(&effects)[0].1.contains("beyond the run's 3"));
    let known = Mark { exchange: 0, hash: [9; 32] };

    // Other bytes than ours: a fork.
    let (mut m, _) = connected();
    m.handle(9, Event::Down(2, "gone".into()));
    let mut m2 = {
        let (_, effects) = connected();
        let kept =
            effects.iter().find_map(|e| if let Effect::KeepOutgoing(o) = e { Some(o.clone()) } else { None });
        machine(&Saved { outgoing: vec![kept.unwrap()], ..Saved::default() })
    };
    m2.handle(0, Event::Start);
    m2.handle(1, Event::Up(0));
    let claim = Hello { sent: Some(known), received: Some(known), question: false };
    assert!(matches!(ending(&m2.handle(2, hello(0, 1, claim))), Some(Err(PeerError::Forked { .. }))));
    // From a neighbour that has already agreed with this process it is a lie, and only its own link suffers.
    let effects = m.handle(10, hello(0, 1, claim));
    assert!(ending(&effects).is_none() && refusals(&effects)[0].1.contains("never sent"));
}

/// Folder and ledger put back together: only neighbours can know, so all are heard before anything is drawn again.
#[test]
fn nothing_is_drawn_before_all_neighbours_agree_about_what_was_sent() {
    let mut vectors = Vec::new();
    (0..2).for_each(|_| released([0.0; D]).save(&mut vectors));
    let mixed = Mark { exchange: 0, hash: [5; 32] };
    let state = StateRecord { round: 1, vectors, received: vec![(0, mixed), (2, mixed)] };
    let payload: Arc<[u8]> = vec![0; 8 * D].into();
    let ours = Mark { exchange: 0, hash: *blake3::hash(&payload).as_bytes() };
    let outgoing = vec![Outgoing { exchange: 0, answer: None, payload }];
    let node = Method::Ed.start(&Start::zeros(D), &Settings::new(0.5)).unwrap();
    let patience = Patience { meet_first: true, ..Patience::default() };
    let saved = Saved { state: Some(state), outgoing, ..Saved::default() };
    let mut m = Machine::new(place(), node, &saved, patience).unwrap();
    let mut effects = m.handle(0, Event::Start);
    effects.extend(m.handle(1, Event::Up(2)));
    effects
        .extend(m.handle(2, hello(2, 1, Hello { sent: Some(mixed), received: Some(ours), question: false })));
    assert!(!effects.iter().any(|e| matches!(e, Effect::Ask { .. })), "{effects:?}");
    m.handle(3, Event::Up(0));
    let later = Mark { exchange: 1, hash: [8; 32] };
    let claim = Hello { sent: Some(mixed), received: Some(later), question: false };
    let effects = m.handle(4, hello(0, 1, claim));
    assert!(matches!(ending(&effects), Some(Err(PeerError::RolledBack { theirs: 1, .. }))), "{effects:?}");
}

#[test]
fn a_neighbour_that_knows_less_than_it_sent_is_refused() {
    let (mut m, _) = connected();
    let first = vector(0, 0, [4.0, 0.0]);
    let _ = mark(&first);
    m.handle(4, first);
    m.handle(5, Event::Up(0));
    let effects = m.handle(6, hello(0, 0, Hello::default()));
    assert!(refusals(&effects)[0].1.contains("older copy"), "{effects:?}");
    let forged = Mark { exchange: 0, hash: [7; 32] };
    m.handle(7, Event::Up(0));
    let effects = m.handle(8, hello(0, 0, Hello { sent: Some(forged), ..Hello::default() }));
    assert!(refusals(&effects)[0].1.contains("used twice"), "{effects:?}");
}

#[test]
fn it_says_whom_it_waits_for_and_gives_up_with_everything_saved() {
    let (mut m, _) = connected();
    m.handle(4, vector(0, 0, [4.0, 0.0]));
    let effects = m.handle(6_000, Event::Tick);
    assert!(effects.iter().any(
        |e| matches!(e, Effect::Outside(Action::Note(Note::Waiting { peers, .. })) if peers == &["south"])
    ));
    let effects = m.handle(3_700_000, Event::Tick);
    let Some(Err(error @ PeerError::GaveUp { .. })) = ending(&effects) else { panic!("{effects:?}") };
    assert!(error.to_string().contains("south") && !error.to_string().contains("north"));
    assert!(m.is_over() && m.handle(3_700_001, Event::Start).is_empty());
}

#[test]
fn saved_states_that_do_not_belong_together_are_refused() {
    let refused = |saved: &Saved| {
        let node = Method::Ed.start(&Start::zeros(D), &Settings::new(0.5)).unwrap();
        Machine::new(place(), node, saved, Patience::default()).err().map(|e| e.to_string())
    };
    let mut vectors = Vec::new();
    (0..2).for_each(|_| released([0.0; D]).save(&mut vectors));
    let received = vec![(0, Mark { exchange: 0, hash: [0; 32] }), (2, Mark { exchange: 0, hash: [0; 32] })];
    let state = StateRecord { round: 1, vectors, received };
    let outgoing = Outgoing { exchange: 0, answer: None, payload: vec![0; 16].into() };
    let good = Saved { state: Some(state.clone()), outgoing: vec![outgoing.clone()], ..Saved::default() };
    assert_eq!(refused(&good), None);
    let with = |state: StateRecord, outgoing: Vec<Outgoing>| {
        refused(&Saved { state: Some(state), outgoing, ..Saved::default() })
    };
    let at = |exchange| Outgoing { exchange, ..outgoing.clone() };
    assert!(with(StateRecord { round: 4, ..state.clone() }, vec![at(3)]).unwrap().contains("the run has 3"));
    assert!(with(state.clone(), vec![]).unwrap().contains("does not belong"));
    assert!(with(state.clone(), vec![at(2)]).unwrap().contains("does not belong"));
    assert!(with(state.clone(), vec![at(u64::MAX)]).unwrap().contains("does not belong"));
    // An old payload that is damaged is not needed any more.
    let late = |exchange| vec![(0, Mark { exchange, hash: [0; 32] }), (2, Mark { exchange, hash: [0; 32] })];
    let late = StateRecord { round: 3, received: late(2), ..state.clone() };
    assert_eq!(with(late.clone(), vec![at(0), at(2)]), None);
    assert!(with(late, vec![at(0), at(1)]).unwrap().contains("does not belong"));
    assert!(with(state.clone(), vec![at(0), at(1)]).unwrap().contains("without its answer"));
    assert!(with(StateRecord { received: vec![], ..state.clone() }, vec![at(0)]).unwrap().contains("north"));
    let mut long = state.clone();
    long.vectors.push(0);
    assert!(with(long, vec![at(0)]).unwrap().contains("too many"));
    let short = StateRecord { vectors: state.vectors[1..].to_vec(), ..state };
    assert!(with(short, vec![at(0)]).is_some());
}

/// Nothing is asked of the gate before every neighbour was met once; neighbours that are never met cost nothing.
#[test]
fn it_meets_everybody_before_it_asks_for_anything() {
    let meeting = || {
        let node = Method::Ed.start(&Start::zeros(D), &Settings::new(0.5)).unwrap();
        let patience = Patience { meet_first: true, ..Patience::default() };
        let mut m = Machine::new(place(), node, &Saved::default(), patience).unwrap();
        let effects = m.handle(0, Event::Start);
        assert!(m.is_meeting() && !effects.iter().any(|e| matches!(e, Effect::Ask { .. })), "{effects:?}");
        m.handle(1, Event::Up(0));
        let effects = m.handle(2, hello(0, 0, Hello::default()));
        assert!(!effects.iter().any(|e| matches!(e, Effect::Ask { .. })), "{effects:?}");
        m
    };
    let mut m = meeting();
    // A neighbour that was met and is gone again, or is a step ahead, does not matter.
    m.handle(3, vector(0, 0, [1.0, 0.0]));
    m.handle(4, Event::Down(0, "cut".into()));
    m.handle(5, Event::Up(2));
    let effects = m.handle(6, hello(2, 0, Hello::default()));
    assert!(effects.iter().any(|e| matches!(e, Effect::Ask { round: 0 })) && !m.is_meeting(), "{effects:?}");

    let mut m = meeting();
    let effects = m.handle(6_000, Event::Tick);
    let waits = |e: &Effect| matches!(e, Effect::Outside(Action::Note(Note::Waiting { peers, .. })) if peers == &["south"]);
    assert!(effects.iter().any(waits), "{effects:?}");
    let effects = m.handle(3_700_000, Event::Tick);
    let Some(Err(error @ PeerError::NotMet { .. })) = ending(&effects) else { panic!("{effects:?}") };
    assert!(error.to_string().contains("south; nothing was released"), "{error}");
}

/// A node of a program's own method that fails: as it is asked, or as it is answered.
struct Failing {
    node: Box<dyn Node<Noised>>,
    asked: OnceLock<()>,
    answered: bool,
    at_query: bool,
}

impl Node<Noised> for Failing {
    fn query(&self) -> Query<'_, Noised> {
        let _ = self.asked.set(());
        self.node.query()
    }
    fn adapt(&mut self, answer: Released<Noised>) -> Option<Message<Noised>> {
        self.answered = true;
        self.node.adapt(answer)
    }
    fn mix(&mut self, inbox: &Inbox<'_, Noised>) -> Option<Message<Noised>> {
        self.node.mix(inbox)
    }
    fn model(&self) -> &Released<Noised> {
        self.node.model()
    }
    fn direction(&self) -> &Released<Noised> {
        self.node.direction()
    }
    fn vectors(&self) -> Vec<&Released<Noised>> {
        self.node.vectors()
    }
    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<Noised>> {
        self.node.restore(rounds)
    }
    fn failure(&self) -> Option<Failure> {
        let failed = if self.at_query { self.asked.get().is_some() } else { self.answered };
        failed.then(|| Failure::new("it failed"))
    }
}

#[test]
fn a_failing_method_asks_nothing_and_sends_nothing() {
    for at_query in [true, false] {
        let node = Method::Ed.start(&Start::zeros(D), &Settings::new(0.5)).unwrap();
        let failing = Box::new(Failing { node, asked: OnceLock::new(), answered: false, at_query });
        let mut m = Machine::new(place(), failing, &Saved::default(), Patience::default()).unwrap();
        let mut all = m.handle(0, Event::Start);
        for peer in [0, 2] {
            all.extend(m.handle(1, Event::Up(peer)));
            all.extend(m.handle(2, hello(peer as u32, 0, Hello::default())));
        }
        let asked = all.iter().any(|effect| matches!(effect, Effect::Ask { .. }));
        assert_eq!(asked, !at_query);
        if asked {
            all.extend(m.handle(3, Event::Answered(released([1.0, -1.0]))));
        }
        let Some(Err(PeerError::Method { round: 0, failure })) = ending(&all) else { panic!("{all:?}") };
        assert_eq!(failure.to_string(), "it failed");
        let vectors = |to| sent(&all, to).iter().filter(|f| f.header.kind == FrameKind::Vector).count();
        assert_eq!((vectors(0), vectors(2)), (0, 0));
        assert!(!all.iter().any(|effect| matches!(effect, Effect::KeepOutgoing(_))));
    }
}
