//! The methods. To add one: write its file, then add its line to `methods!` below. Nearly every one is a [`Cell`]: a
//! [direction](directions) that it makes of the gate's answers, and a [network step](steps).

mod cell;
mod combine;
mod definition;
pub mod directions;
mod final_mixings;
mod parameter;
mod settings;
pub mod steps;

pub use cell::Cell;
pub use combine::{COMBINE, Combine};
pub use definition::{Asks, Card, Definition, Exchanges, Method, Startable};
pub use directions::Direction;
pub use final_mixings::FINAL_MIXINGS;
pub use parameter::{Assigned, Choice, Number, Parameter, Tuning, key};
pub use settings::{Conflict, Neighbourhood, Settings, SettingsError};
pub use steps::NetworkStep;

macro_rules! methods {
    ($($name:ident = $module:ident;)*) => {
        $(pub mod $module;)*

        #[allow(non_upper_case_globals)]
        impl Method {
            $(#[doc = concat!("See [`", stringify!($module), "`].")]
            pub const $name: Method = Method::new(&$module::METHOD);)*

            /// The methods of this crate, in the order of reports.
            pub const ALL: &'static [Method] = &[$(Method::$name),*];
        }
    };
}

methods! {
    Prdo = prdo;
    Ed = ed;
    Edm = edm;
    Mt = mt;
    Dsgd = dsgd;
    GtHsgd = gt_hsgd;
    Deepstorm = deepstorm;
    Gt = gt;
    Muffliato = muffliato;
    Diff2 = diff2;
    Dp2 = dp2;
    Sgp = sgp;
    PushPrdo = push_prdo;
}

impl Method {
    /// Those of the paper's experiments.
    pub const PAPER: &'static [Method] = &[Method::Prdo, Method::Ed, Method::Edm, Method::Mt, Method::Dsgd];

    /// Its number among the methods of this crate; one from elsewhere comes after them all.
    pub fn place(self) -> usize {
        Method::ALL.iter().position(|method| *method == self).unwrap_or(Method::ALL.len())
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Method::ALL.iter().copied().find(|m| m.card().name == name).ok_or_else(|| {
            let names: Vec<_> = Method::ALL.iter().map(|m| m.card().name).collect();
            format!("unknown method {name:?}; expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Inbox;
    use crate::message::Shape;
    use prdo_privacy::{Clip, Exposed, Released, Start};

    #[test]
    fn rounds_have_the_exchanges_and_queries_that_are_announced() {
        let start = Start::declared_public(vec![1.0, 2.0]).unwrap();
        let clip = Clip::new(2.0, 0.5).unwrap();
        let push = [Method::Sgp, Method::PushPrdo];
        for method in Method::ALL.iter().copied() {
            for combine in [Combine::After, Combine::First] {
                let settings = Settings::new(0.1).combine(combine);
                let Exchanges { per_round: exchanges, every, shape, final_mixings } =
                    method.exchanges(&settings);
                assert_eq!(final_mixings, 0);
                let vectors = shape.vectors;
                let numbers = u32::from(push.contains(&method));
                assert_eq!((every, shape), (1, Shape { numbers, ..Shape::vectors(vectors) }), "{method}");
                let tracking = [Method::Mt, Method::Gt, Method::GtHsgd, Method::Deepstorm];
                let sent = match method {
                    _ if tracking.contains(&method) => 2,
                    _ if method == Method::Muffliato => 3,
                    // And a number, which is no vector of the model.
                    _ if push.contains(&method) => 1,
                    _ => 1,
                };
                assert_eq!(exchanges * vectors, sent, "{method}");
                let mut node = method.start::<Exposed>(&start, &settings).unwrap();
                for round in 0..3 {
                    let asks = method.asks(&settings, round);
                    let (query, gamma) = (node.query(), asks.gamma());
                    // All answers are the start: a node has moved by α times its norm, or a gossip's own share of it.
                    let difference = match (asks.kappa(), query.difference()) {
                        (Some(kappa), Some((previous, _))) => {
                            let moved = query.at().as_slice().iter().zip(previous.as_slice());
                            kappa * moved.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
                        }
                        _ => 0.5,
                    };
                    assert_eq!(
                        query.scale(&clip),
                        gamma * 2.0 + (1.0 - gamma) * difference,
                        "{method}, round {round}"
                    );
                    assert_eq!(query.evaluations() > 1, asks != Asks::Gradient && gamma < 1.0);
                    let mut message = node.adapt(Released::start(&start)).unwrap();
                    let mut count = 1;
                    loop {
                        assert_eq!(
                            message.vectors().len(),
                            (vectors + numbers) as usize,
                            "{method}, round {round}"
                        );
                        match node.mix(&Inbox::new(&[1.0], vec![&message])) {
                            Some(next) => message = next,
                            None => break,
                        }
                        count += 1;
                    }
                    assert_eq!(count, exchanges, "{method}, round {round}");
                }
            }
        }
    }

    #[test]
    fn a_parameter_of_one_name_is_one_parameter_and_its_default_is_allowed() {
        let said = |parameter: &Parameter| match parameter {
            Parameter::Number(n) => format!("{n:?}").replace(&format!("{:?}", n.is_allowed), ""),
            Parameter::Choice { .. } => format!("{parameter:?}"),
        };
        let all: Vec<&Parameter> = Method::ALL.iter().flat_map(|m| m.card().parameters).collect();
        for parameter in &all {
            let same = all.iter().filter(|other| other.name() == parameter.name());
            same.for_each(|other| assert_eq!(said(other), said(parameter)));
            if let Parameter::Number(number) = parameter {
                assert!((number.is_allowed)(number.default), "{}", number.name);
            }
        }
    }

    #[test]
    fn settings_are_held_against_the_card_of_the_method_that_reads_them() {
        let start = Start::zeros(1);
        let refused = |method: Method, settings: Settings| method.start::<Exposed>(&start, &settings).err();
        let beta = Settings::new(0.1).beta(1.0);
        let error = refused(Method::Edm, beta.clone()).unwrap();
        assert_eq!(error.field(), "beta");
        let said = "method.beta = 1 is not allowed: it must be a number of at least 0 and below 1";
        assert_eq!(error.to_string(), said);
        assert_eq!(refused(Method::Ed, beta), None);
        assert_eq!(refused(Method::Prdo, Settings::new(0.1).gamma(0.0).gamma(1.0)), None);
        assert_eq!(refused(Method::Ed, Settings::new(f64::NAN)).unwrap().field(), "step_size");
    }
}
