//! Several exchanges per round, and those after the last one: what nodes do is what is announced, and what does not fit is
//! refused in words.

use prdo_algorithm::graph::{Arcs, Mixings, Needs};
use prdo_algorithm::methods::FINAL_MIXINGS;
use prdo_algorithm::methods::steps::{EXCHANGES, LOCAL_STEPS, WIRE, Wire};
use prdo_algorithm::{Combine, Exchanges, Inbox, Method, Settings};
use prdo_privacy::{Exposed, Released, Start};

#[test]
fn nodes_send_as_often_as_is_announced_and_the_last_round_has_the_final_exchanges() {
    let start = Start::declared_public(vec![1.0, 2.0]).unwrap();
    let both = [Combine::After, Combine::First];
    for (method, combine) in Method::ALL.iter().flat_map(|m| both.map(|combine| (*m, combine))) {
        let settings = Settings::new(0.1).combine(combine);
        let once = method.exchanges(&settings);
        let settings = settings.with(EXCHANGES.is(4.0)).with(FINAL_MIXINGS.is(2.0)).over(3);
        let all = method.exchanges(&settings);
        let pushes = [Method::Sgp, Method::PushPrdo].contains(&method);
        let single = if method == Method::Muffliato { 1 } else { once.per_round };
        let expected = match pushes {
            true => once,
            false => Exchanges { per_round: 4 * single, final_mixings: 2, ..once },
        };
        assert_eq!(all, expected, "{method}");
        let mut node = method.start::<Exposed>(&start, &settings).unwrap();
        for round in 0..3 {
            let mut message = node.adapt(Released::start(&start)).unwrap();
            let mut vectors = vec![message.vectors().len()];
            while let Some(next) = node.mix(&Inbox::new(&[1.0], vec![&message])) {
                vectors.push(next.vectors().len());
                message = next;
            }
            let mut expected = vec![(all.shape.vectors + all.shape.numbers) as usize; all.per_round as usize];
            expected.extend(vec![1; if round == 2 { all.final_mixings as usize } else { 0 }]);
            assert_eq!(vectors, expected, "{method}, {combine:?}, round {round}");
        }
    }
}

#[test]
fn exchanges_are_counted_through_the_rounds() {
    let exchanges = Exchanges { final_mixings: 5, ..Exchanges::each_round(3, 2) };
    assert_eq!([0, 1, 3, 4].map(|round| exchanges.before(round, 4)), [0, 3, 9, 17]);
    let rounds = [0, 2, 3, 8, 9, 11, 12, 16, 17, 18].map(|e| exchanges.round_of(e, 4).unwrap());
    assert_eq!(rounds, [0, 0, 1, 2, 3, 3, 3, 3, 4, 4]);
    assert_eq!([11, 12].map(|e| exchanges.shape_of(e, 4).vectors), [2, 1]);
    assert_eq!(exchanges.bytes(10, 4), 4 * 3 * 160 + 5 * 80);
    assert_eq!((exchanges.bytes(10, 0), exchanges.final_bytes(10)), (0, 400));
}

#[test]
fn what_does_not_go_together_is_refused_with_what_it_must_be() {
    let start = Start::zeros(1);
    let said = |method: Method, settings: Settings| {
        let refused = method.start::<Exposed>(&start, &settings).err();
        refused.map(|error| (error.field(), error.to_string()))
    };
    let three = || Settings::new(0.1).with(EXCHANGES.is(3.0)).over(8);
    let last = || Settings::new(0.1).with(FINAL_MIXINGS.is(8.0)).over(8);
    let unknown = || Settings::new(0.1).with(FINAL_MIXINGS.is(8.0));
    let directed = Mixings::out_degree(&[Arcs::ring(4).unwrap()]).unwrap();
    let directed = directed.check(Needs::DoublyStochastic, false).unwrap();
    let on = |settings: Settings, method| settings.for_network(method, &directed);
    let one_way = "on a network with links that go one way or take turns";
    for (method, settings, field, why) in [
        (Method::Ed, three().with(WIRE.is(Wire::Bits)), "exchanges", "with wire.kind other than \"plain\""),
        (Method::Prdo, three().with(LOCAL_STEPS.is(2.0)), "exchanges", "with method.local_steps above 1"),
        (Method::Gt, on(three(), Method::Gt), "exchanges", one_way),
        (Method::Dsgd, on(three(), Method::Dsgd), "exchanges", one_way),
        (Method::Dsgd, on(last(), Method::Dsgd), "final_mixings", one_way),
        (
            Method::Ed,
            last().with(LOCAL_STEPS.is(3.0)),
            "final_mixings",
            "where rounds is not a multiple of method.local_steps",
        ),
        (Method::Ed, unknown(), "final_mixings", "before the length of the run is known (`Settings::over`)"),
    ] {
        let (value, allowed) = if field == "exchanges" { (3, 1) } else { (8, 0) };
        let words = format!("method.{field} = {value} is not allowed {why}: it must be {allowed}");
        assert_eq!(said(method, settings), Some((field, words)));
    }
    for (value, number, least) in [
        (0.0, &EXCHANGES, 1),
        (2.5, &EXCHANGES, 1),
        (101.0, &EXCHANGES, 1),
        (-1.0, &FINAL_MIXINGS, 0),
        (0.5, &FINAL_MIXINGS, 0),
        (101.0, &FINAL_MIXINGS, 0),
    ] {
        let allowed = format!("it must be a number that is whole, from {least} to 100");
        let words = format!("method.{} = {value} is not allowed: {allowed}", number.name);
        assert_eq!(said(Method::Ed, last().with(number.is(value))), Some((number.name, words)));
    }
    assert_eq!(said(Method::Ed, last().with(WIRE.is(Wire::Bits)).with(LOCAL_STEPS.is(4.0))), None);
    // Neither is read by what pushes.
    assert_eq!(said(Method::Sgp, on(last().with(EXCHANGES.is(3.0)), Method::Sgp)), None);
}
