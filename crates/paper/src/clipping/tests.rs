use super::fixed_points::{FixedPoint, Placement};
use super::*;
use prdo::algorithm::methods::directions::Clipping;
use prdo::prelude::Method;

#[test]
fn every_method_stops_where_clipped_gradients_add_up_to_nothing() {
    let found = fixed_points::measure(&Contestant::ALL, &|_| ()).unwrap();
    assert_eq!(found.len(), 12);
    for one in &found {
        assert!(one.error() < 1e-9, "{one:?}");
        // A tenth of the records far away: pC/(1−p) and not the minimiser, 1.
        let (even, gossip) = (one.placement == Placement::Even, one.method.method == Method::Dsgd);
        let expected = if one.method.clipping == Clipping::Combined { 0.95 / 9.0 } else { 0.5 / 9.0 };
        assert_eq!((one.predicted - expected).abs() < 1e-12, even || !gossip, "{one:?}");
        // There what is left of the gradient is the bias of clipping.
        assert!((one.grad_norm - (1.0 - one.reached)).abs() < 1e-12, "{one:?}");
        assert_eq!((one.grad_norm - one.clip_bias).abs() < 1e-9, even || !gossip, "{one:?}");
    }
    let settled = |of: Contestant| {
        let one = |found: &&FixedPoint| found.method == of && found.placement == Placement::Even;
        found.iter().find(one).unwrap().settled_after
    };
    assert!(settled(Contestant::PRDO[0]) > settled(Contestant::plain(Method::Ed)));
}

#[test]
fn the_floor_is_flat_below_sigma_and_falls_as_one_over_c_above() {
    let floors = floor::measure(&floor::QUICK, &Contestant::ALL, &|_| ()).unwrap();
    for one in &floors {
        assert!(one.largest_error() < 1e-6, "{one:?}");
        assert!((-0.1..0.0).contains(&one.slope_small), "{one:?}");
        assert!((one.slope_large + 1.0).abs() < 0.01, "{one:?}");
        // σ²/(4C), C being S/γ of one clip; and S/C.
        let last = one.points.last().unwrap();
        let ratio = if one.method.clipping == Clipping::Combined { 1.9 } else { 1.0 };
        assert!((last.grad_norm * 4.0 * last.clip * ratio - 1.0).abs() < 0.01, "{one:?}");
        // What D-SGD has of its own when nodes differ is less than that.
        assert!((last.grad_norm - last.clip_bias).abs() < 2e-3 * last.grad_norm, "{one:?}");
    }
    let worth = |of: Contestant| {
        let last = *floors.iter().find(|one| one.method == of).unwrap().points.last().unwrap();
        last.grad_norm * last.sensitivity
    };
    let [two, movement, one] = Contestant::PRDO.map(worth);
    assert!((two / 0.0475 - 1.0).abs() < 0.01 && (movement / 0.025 - 1.0).abs() < 0.01);
    assert!((one / 0.025 - 1.0).abs() < 0.01, "{one}");
}

#[test]
fn clipped_differences_bias_minibatches_and_nothing_else_does() {
    let found = differences::measure(&differences::QUICK, &Contestant::PRDO, &|_| ()).unwrap();
    let clipped = |clip: f64| {
        let two = |one: &&differences::Point| (one.method, one.clip) == (Contestant::PRDO[0], Some(clip));
        found.iter().find(two).unwrap()
    };
    let worst = clipped(2e-2);
    assert!(worst.bias > 5.0 * worst.bias_error && worst.bias > 2e-3, "{worst:?}");
    assert!(worst.clipped_differences > 0.1 && clipped(0.1).clipped_differences < 0.01);
    assert!(found.iter().all(|one| one.bound.is_none_or(|bound| one.bias.abs() < bound)), "{found:?}");
    for one in found.iter().filter(|one| one.method != Contestant::PRDO[0]) {
        assert!(one.bias.abs() < 1e-4 && one.clipped_differences == 0.0, "{one:?}");
    }
    // Differences clipped to nothing leave a running average of gradients: the noise of a small batch comes back.
    assert!(clipped(1e-4).floor > 1.5 * clipped(0.1).floor, "{found:?}");
}

#[test]
fn names_go_there_and_back() {
    for one in Contestant::ALL {
        assert_eq!(one.name().parse(), Ok(one));
    }
    assert_eq!("prdo+combined".parse(), Ok(Contestant::PRDO[2]));
    assert!(
        "mt".parse::<Contestant>()
            .unwrap_err()
            .contains("expected one of dsgd, ed, edm, prdo, prdo+movement")
    );
}

#[test]
fn the_published_results_are_read_and_written_back_unchanged() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/clipping/results.json");
    let text = std::fs::read_to_string(file).unwrap();
    let results: Results = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string_pretty(&results).unwrap() + "\n", text);
    assert!(!results.quick && results.largest_error() < 1e-9);
}
