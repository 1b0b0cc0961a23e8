//! What takes part: a method as it is, or in one of the forms that send less.

use prdo::algorithm::methods::steps::{BITS, LOCAL_STEPS, WIRE, Wire};
use prdo::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contestant {
    pub method: Method,
    pub form: Form,
}

/// How a contestant's messages differ from its method's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    Plain,
    /// Dithered integers of three bits.
    ThreeBits,
    /// Four local steps from one exchange to the next, each of the same size.
    FourSteps,
}

const FORMS: [(Form, &str, &str); 3] = [
    (Form::Plain, "", ""),
    (Form::ThreeBits, "+3-bits", ", 3 bits"),
    (Form::FourSteps, "+4-local-steps", ", 4 local steps"),
];

impl Contestant {
    pub fn plain(method: Method) -> Self {
        Self { method, form: Form::Plain }
    }

    /// The paper's five.
    pub fn paper() -> Vec<Self> {
        Method::PAPER.iter().copied().map(Self::plain).collect()
    }

    /// Every method that runs on an undirected ring, and PRDO in all its forms.
    pub fn all() -> Vec<Self> {
        let forms = [Form::ThreeBits, Form::FourSteps].map(|form| Self { method: Method::Prdo, form });
        Method::ALL.iter().copied().map(Self::plain).chain(forms).collect()
    }

    fn words(self) -> (&'static str, &'static str) {
        let known = FORMS.iter().find(|(form, ..)| *form == self.form);
        known.map_or(("", ""), |(_, name, title)| (name, title))
    }

    /// What it is called in files, and in commands.
    pub fn name(self) -> String {
        format!("{}{}", self.method, self.words().0)
    }

    pub fn title(self) -> String {
        format!("{}{}", self.method.card().title, self.words().1)
    }

    pub fn settings(self, settings: Settings) -> Settings {
        match self.form {
            Form::Plain => settings,
            Form::ThreeBits => settings.with(WIRE.is(Wire::Bits)).with(BITS.is(3.0)),
            Form::FourSteps => settings.with(LOCAL_STEPS.is(4.0)),
        }
    }
}

impl std::str::FromStr for Contestant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = Self::all();
        all.iter().copied().find(|one| one.name() == name).ok_or_else(|| {
            let names: Vec<String> = all.iter().map(|one| one.name()).collect();
            format!("unknown method {name:?}; expected one of {}", names.join(", "))
        })
    }
}

impl std::fmt::Display for Contestant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for one in Contestant::all() {
            assert_eq!(one.name().parse(), Ok(one));
        }
        assert_eq!("prdo+3-bits".parse::<Contestant>().unwrap().title(), "PRDO, 3 bits");
        assert!("ed+3-bits".parse::<Contestant>().unwrap_err().contains("expected one of prdo, ed"));
    }
}
