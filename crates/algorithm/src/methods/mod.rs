//! The methods. To add one: write its file, then add its line to `methods!` below.

use crate::node::Node;
use prdo_privacy::{Protection, Start};

mod exact_diffusion;
mod settings;

pub use settings::{Combine, Parameter, Settings, SettingsError};

/// What a method is, for lists, reports and the checks of a run file.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name in run files.
    pub name: &'static str,
    /// The name in figures.
    pub title: &'static str,
    /// One line on the idea.
    pub idea: &'static str,
    /// Model-sized vectors sent to each neighbour in a round.
    pub vectors_sent: usize,
    /// Which settings it reads, besides the step size.
    pub parameters: &'static [Parameter],
    /// Whether its first round uses the special batch b₀.
    pub first_batch: bool,
    /// Whether it needs a clip for same-record differences.
    pub differences: bool,
}

macro_rules! methods {
    ($($variant:ident = $module:ident;)*) => {
        $(pub mod $module;)*

        /// A method by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Method {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant,)*
        }

        impl Method {
            /// Every method, in the order of reports.
            pub const ALL: &'static [Method] = &[$(Method::$variant),*];

            /// What it is.
            pub fn card(self) -> &'static Card {
                match self { $(Method::$variant => &$module::CARD,)* }
            }

            /// A node of this method at the public starting point.
            ///
            /// # Errors
            /// A setting outside its range, or one that the method needs and that is missing.
            pub fn start<P: Protection>(self, x0: &Start, settings: &Settings)
                -> Result<Box<dyn Node<P>>, SettingsError>
            {
                settings.check(self)?;
                Ok(match self { $(Method::$variant => Box::new($module::start::<P>(x0, settings)),)* })
            }
        }
    };
}

methods! {
    Prdo = prdo;
    Ed = ed;
    Edm = edm;
    Mt = mt;
    Dsgd = dsgd;
}

impl Method {
    /// How many exchanges of messages a round has, and how many model-sized vectors a message: peers agree on both
    /// before they begin.
    pub fn exchanges(self, settings: &Settings) -> (u32, u32) {
        match (self, settings.combine) {
            (Method::Mt, Combine::After) => (2, 1),
            (Method::Mt, Combine::First) => (1, 2),
            _ => (1, 1),
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.card().name)
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    /// The method of this name, or a message that lists them all.
    fn from_str(name: &str) -> Result<Self, String> {
        Method::ALL.iter().copied().find(|m| m.card().name == name).ok_or_else(|| {
            let names: Vec<_> = Method::ALL.iter().map(|m| m.card().name).collect();
            format!("there is no method {name:?}; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Inbox;
    use prdo_privacy::{Exposed, Released};

    #[test]
    fn rounds_have_the_exchanges_that_are_announced() {
        let start = Start::declared_public(vec![1.0, 2.0]).unwrap();
        for method in Method::ALL.iter().copied() {
            for combine in [Combine::After, Combine::First] {
                let settings = Settings::new(0.1).combine(combine);
                let (exchanges, vectors) = method.exchanges(&settings);
                assert_eq!((exchanges * vectors) as usize, method.card().vectors_sent, "{method}");
                let mut node = method.start::<Exposed>(&start, &settings).unwrap();
                for round in 0..3 {
                    let mut message = node.adapt(Released::start(&start));
                    let mut count = 1;
                    loop {
                        assert_eq!(message.vectors().len(), vectors as usize, "{method}, round {round}");
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
}
