//! `prdo reproduce figure-1`, as typed.

use super::ExperimentArgs;
use clap::Args;
use prdo::algorithm::Method;

#[derive(Debug, Args)]
pub struct Figure1Args {
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Which methods, separated by commas, or all; default: the paper's five.
    #[arg(long, value_name = "NAME,…|all", value_delimiter = ',')]
    pub methods: Vec<MethodOrAll>,
}

#[derive(Clone, Copy, Debug)]
pub enum MethodOrAll {
    All,
    One(Method),
}

impl std::str::FromStr for MethodOrAll {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "all" { Ok(Self::All) } else { name.parse().map(Self::One) }
    }
}

impl MethodOrAll {
    /// The methods that were typed, each once; these if there are none.
    pub fn methods(typed: &[Self], default: &[Method]) -> Vec<Method> {
        if typed.is_empty() {
            return default.to_vec();
        }
        let wanted = |method: &Method| {
            typed.iter().any(|one| match one {
                Self::All => true,
                Self::One(own) => own == method,
            })
        };
        Method::ALL.iter().copied().filter(wanted).collect()
    }
}
