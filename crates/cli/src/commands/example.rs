//! `prdo example`: commented run files to start from.

use super::Failure;
use crate::cli::ExampleArgs;
use crate::progress::say;
use prdo::runfile::{Key, Section};

/// Name, one line, text.
pub const EXAMPLES: &[(&str, &str, &str)] = &[
    (
        "private",
        "PRDO with (ε, δ)-privacy on generated data: the place to start",
        include_str!("../../examples/private.toml"),
    ),
    (
        "compare",
        "methods, seeds and budgets side by side, for `prdo compare`",
        include_str!("../../examples/compare.toml"),
    ),
    (
        "csv",
        "your own CSV file, split over organisations by a column or at random",
        include_str!("../../examples/csv.toml"),
    ),
    (
        "adult",
        "UCI Adult over employers by sector, ranges and categories, ε = 1: what joining is worth",
        include_str!("../../examples/adult.toml"),
    ),
    ("a9a", "LibSVM text (a9a, w8a) over ten organisations", include_str!("../../examples/a9a.toml")),
    (
        "digits",
        "handwritten digits, unevenly held by ten organisations (Dirichlet)",
        include_str!("../../examples/digits.toml"),
    ),
    (
        "figure-1",
        "the paper's non-private logistic regression, one method of it",
        include_str!("../../examples/figure-1.toml"),
    ),
    (
        "mlp",
        "a small neural network on handwritten digits, with (ε, δ)-privacy",
        include_str!("../../examples/mlp.toml"),
    ),
    (
        "cnn",
        "a convolutional network on MNIST images, with (ε, δ)-privacy",
        include_str!("../../examples/cnn.toml"),
    ),
    (
        "cifar10",
        "the paper's private CIFAR-10 setting, 500 rounds of it",
        include_str!("../../examples/cifar10.toml"),
    ),
    ("large", "ten thousand nodes on a ring", include_str!("../../examples/large.toml")),
];

pub fn run(args: &ExampleArgs) -> Result<(), Failure> {
    if args.keys {
        print_keys();
        return Ok(());
    }
    let Some(name) = &args.name else {
        EXAMPLES.iter().for_each(|(name, about, _)| say(&format!("{name:<10} {about}")));
        say("\n`prdo example NAME > my.toml` makes one yours; `prdo example --keys` lists every key.");
        return Ok(());
    };
    match EXAMPLES.iter().find(|(known, _, _)| known == name) {
        Some((_, _, text)) => say(text.trim_end()),
        None => {
            let names: Vec<_> = EXAMPLES.iter().map(|(name, _, _)| *name).collect();
            let names = names.join(", ");
            return Err(Failure::Input(format!("unknown example {name:?}; expected one of {names}")));
        }
    }
    Ok(())
}

fn print_keys() {
    let mut section = None;
    for key in Key::all().iter().filter(|key| key.section() != Some(Section::Resolved)) {
        if key.section() != section {
            section = key.section();
            say(&format!("\n[{}]", section.map_or("", Section::name)));
        }
        let default = key.default().map_or(String::new(), |d| format!(" (default {d})"));
        say(&format!("{:<18} {}; {}{default}", key.name(), key.doc(), key.value_type().allowed()));
    }
}
