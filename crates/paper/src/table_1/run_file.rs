//! The run file of a cell: the one place of this experiment that names keys of run files, besides [`Numbers::method`].

use super::setting::{DELTA, Group, Key, Noise, Setting, paper_multiplier};
use crate::grid::Key as _;
use crate::numbers::Numbers;
use prdo::runfile::Value;
use std::path::Path;

const PAPER: Numbers = Numbers {
    exchanges: 1,
    final_mixings: 0,
    step_size: 0.05,
    gamma: 0.05,
    beta: 0.95,
    batch: 100,
    clip_gradient: 1.0,
    clip_difference: 0.001,
    measured_records: 100,
};

const QUICK: Numbers = Numbers {
    exchanges: 1,
    final_mixings: 0,
    step_size: 0.5,
    gamma: 0.1,
    beta: 0.9,
    batch: 40,
    clip_gradient: 1.0,
    clip_difference: 0.05,
    measured_records: 50,
};

/// The run file of a cell, with CIFAR-10 in the folder `data`. Everything but method, budget and seed is the same for all
/// cells of a group: the same records at the same nodes, the same start, and with the same seed the same batches.
pub fn run_file(key: &Key, data: &Path) -> String {
    let Group { rounds, setting, start, noise } = key.group;
    let (problem, numbers) = match setting {
        // Ten nodes on the lazy ring, the network, and CIFAR-10 dealt out by Dirichlet(0.1).
        Setting::Paper => {
            let path = Value::Text(data.display().to_string());
            let problem = format!(
                "[graph]\nkind = \"ring\"\nnodes = 10\nweights = \"paper\"\n\n\
                 [data]\nsource = \"file\"\npath = {path}\nvalidation = 5000\n\n\
                 [partition]\nkind = \"dirichlet\"\nconcentration = 0.1\n\n[model]\nkind = \"vgg-small\"\nstart = {:?}\n",
                start.name()
            );
            (problem, &PAPER)
        }
        Setting::Quick => {
            let problem = "[graph]\nkind = \"ring\"\nnodes = 4\nweights = \"paper\"\n\n\
                 [data]\nsource = \"digits\"\nvalidation = 97\n\n\
                 [partition]\nkind = \"dirichlet\"\nconcentration = 0.5\n\n[model]\nkind = \"softmax\"\n";
            (problem.to_string(), &QUICK)
        }
    };
    let privacy = match (noise, paper_multiplier(key.epsilon)) {
        (Noise::Paper, Some(z)) => format!("noise_multiplier = {z:?}"),
        (Noise::Paper, None) | (Noise::Accountant, _) => format!("epsilon = {:?}", key.epsilon),
    };
    format!(
        "name = \"{}\"\nrounds = {rounds}\nseed = {}\n\n{problem}\n{}\n\
         [privacy]\n{privacy}\ndelta = {DELTA:e}\n\n[metrics]\nevery = {}\nrecords = {}\n",
        key.folder(),
        key.seed,
        numbers.method(key.method),
        key.group.every(),
        numbers.measured_records,
    )
}

#[cfg(test)]
mod tests {
    use super::super::setting::tests::group;
    use super::*;
    use prdo::algorithm::Method;
    use prdo::network::Law;
    use prdo::runfile::Document;

    #[test]
    fn a_cell_is_an_ordinary_run_file_with_the_papers_numbers() {
        let key = Key { group: group(9500), method: Method::Prdo, epsilon: 8.0, seed: 3 };
        assert_eq!(key.folder(), "prdo-eps8-T9500-seed3-glorot");
        let text = run_file(&key, Path::new("a \"b\"/cifar-10-batches-bin"));
        for line in [
            "rounds = 9500",
            "seed = 3",
            "nodes = 10",
            "weights = \"paper\"",
            "validation = 5000",
            "concentration = 0.1",
            "kind = \"vgg-small\"",
            "start = \"glorot\"",
            "step_size = 0.05",
            "gamma = 0.05",
            "size = 100",
            "first = 100",
            "gradient = 1.0",
            "difference = 0.001",
            "epsilon = 8.0",
            "delta = 1e-5",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is missing in\n{text}");
        }
        let paper = Key { group: Group { noise: Noise::Paper, ..key.group }, method: Method::Mt, ..key };
        let text = run_file(&paper, Path::new("x"));
        assert!(text.contains("noise_multiplier = 1.480246") && text.contains("beta = 0.95"));
        assert!(!text.contains("gamma") && !text.contains("difference") && !text.contains("first"));
        assert_eq!(paper.folder(), "mt-eps8-T9500-seed3-paper-noise-glorot");
        let smaller = Key { group: Group { start: Law::FanIn, ..key.group }, ..key };
        assert_eq!(smaller.folder(), "prdo-eps8-T9500-seed3");
        assert!(run_file(&smaller, Path::new("x")).lines().any(|line| line == "start = \"fan-in\""));
        assert!(smaller.group.is_the_papers() && smaller.group.title().ends_with(", fan-in start"));
        assert!(
            key.group.title().ends_with(", Glorot's start") && key.group.caption().contains("Glorot's start")
        );
        let quick = Group { setting: Setting::Quick, ..key.group };
        assert!(!quick.title().contains("start"), "a linear model starts at 0");
    }

    #[test]
    fn quick_cells_are_read_for_every_method() {
        for method in Method::PAPER {
            let group = Group { setting: Setting::Quick, ..group(60) };
            let key = Key { group, method: *method, epsilon: 0.5, seed: 1 };
            let document = Document::parse("cell", &run_file(&key, Path::new(""))).unwrap();
            assert_eq!(document.run_file().privacy.unwrap().epsilon, Some(0.5));
            assert_eq!(document.name(), format!("quick-{method}-eps0.5-T60-seed1"));
        }
    }
}
