//! `prdo reproduce figure-1`, as typed.

use super::ExperimentArgs;
use clap::Args;
use prdo_paper::figure_1::Contestant;

#[derive(Debug, Args)]
pub struct Figure1Args {
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Which methods, separated by commas, or all; prdo+3-bits and prdo+4-local-steps send less; default: the paper's five.
    #[arg(long, value_name = "NAME,…|all", value_delimiter = ',')]
    pub methods: Vec<OneOrAll>,
}

#[derive(Clone, Copy, Debug)]
pub enum OneOrAll {
    All,
    One(Contestant),
}

impl std::str::FromStr for OneOrAll {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "all" { Ok(Self::All) } else { name.parse().map(Self::One) }
    }
}

impl OneOrAll {
    /// Those that were typed, each once; the paper's if there are none.
    pub fn contestants(typed: &[Self]) -> Vec<Contestant> {
        if typed.is_empty() {
            return Contestant::paper();
        }
        let wanted = |one: &Contestant| {
            typed.iter().any(|typed| match typed {
                Self::All => true,
                Self::One(named) => named == one,
            })
        };
        Contestant::all().into_iter().filter(wanted).collect()
    }
}
