//! What is planned from public facts is what is built from records.

use super::*;
use crate::build::{build, public_facts, wiring};

/// Builds the run, and plans it from its facts alone.
fn both(text: &str) -> (crate::build::Built, Planned) {
    let document = Document::parse("a.toml", text).unwrap();
    let built = build(&document).unwrap();
    let run = document.run_file();
    let (facts, bytes) = public_facts(&run, run.model_kind().unwrap()).unwrap();
    let nodes = built.prepared.facts.nodes;
    let records = vec![built.prepared.facts.least_records; nodes];
    let public = Public { facts: &facts, bytes, records: &records };
    let planned = terms(&document, wiring(&run, Some(nodes)).unwrap(), &public).unwrap();
    (built, planned)
}

const REST: &str = "[batch]\nsize = 5\n[clip]\ngradient = 1\ndifference = 0.1\n[privacy]\nepsilon = 8\ndelta = 1e-3\naccountant = \"rdp\"\n";

#[test]
fn planned_as_built() {
    for (data, method) in [
        ("source = \"logistic\"\nrecords = 20", "name = \"prdo\"\nstep_size = 0.5"),
        (
            "source = \"blobs\"\nrecords = 20\nclasses = 5",
            "name = \"mt\"\nstep_size = 0.1\ncombine = \"first\"",
        ),
        ("source = \"quadratic\"\nrecords = 20", "name = \"edm\"\nstep_size = 0.1"),
        ("source = \"coefficients\"\nrecords = 20", "name = \"dsgd\"\nstep_size = 0.1"),
        ("source = \"digits\"", "name = \"ed\"\nstep_size = 0.1"),
        (
            "source = \"digits\"\n[model]\nkind = \"network\"\nlayers = [\"dense 4\", \"tanh\", \"dense 10\"]",
            "name = \"prdo\"\nstep_size = 0.1\ngamma = 1",
        ),
    ] {
        let (built, planned) =
            both(&format!("rounds = 9\n[graph]\nnodes = 5\n[data]\n{data}\n[method]\n{method}\n{REST}"));
        assert_eq!(Some(planned.guarantee), built.prepared.guarantee, "{data}");
        assert_eq!(planned.model.dimension, built.prepared.facts.parameters, "{data}");
        assert_eq!((planned.model.kind, planned.recipe.batch), (built.model, built.batch), "{data}");
        assert_eq!(
            (planned.recipe.method, planned.recipe.settings),
            (built.method, built.settings),
            "{data}"
        );
        assert_eq!(planned.recipe.clip, built.clip, "{data}");
        assert_eq!(planned.model.start.values(), built.prepared.training.models()[0], "{data}");
    }
}

#[test]
fn a_model_from_a_file_cannot_be_agreed_on() {
    let text = "rounds = 9\n[graph]\nnodes = 5\n[data]\nsource = \"digits\"\n[model]\nkind = \"lenet\"\nfile = \"m\"\n\
        [method]\nname = \"ed\"\nstep_size = 0.1\n";
    let document = Document::parse("a.toml", &format!("{text}{REST}")).unwrap();
    let facts = RecordFacts { features: 64, classes: Some(10), ..RecordFacts::default() };
    let public = Public { facts: &facts, bytes: false, records: &[20; 5] };
    let error =
        terms(&document, wiring(&document.run_file(), None).unwrap(), &public).unwrap_err().to_string();
    assert!(
        error.contains("model.file is not allowed in an agreement") && error.contains("a.toml:8"),
        "{error}"
    );
}

/// The two parts of the noise are the simulator's, and are the same when members read them from what they agreed on.
#[test]
fn noise_in_pairs_is_planned_as_built() {
    let text = format!(
        "rounds = 9\n[graph]\nnodes = 5\n[data]\nsource = \"digits\"\n[method]\nname = \"ed\"\nstep_size = 0.1\n{REST}noise = \
         \"pairs\"\ncolluders = 2\n"
    );
    let (built, planned) = both(&text);
    let facts = planned.pair_facts().unwrap().unwrap();
    assert_eq!(Some(&facts), built.prepared.pairs.as_ref());
    assert_eq!((facts.colluders, facts.complete), (2, true));
    let document = Document::parse("a.toml", &text).unwrap();
    let agreed = crate::build::resolved::to_agreed_toml(&document, &planned).unwrap();
    for line in ["noise = \"pairs\"", "colluders = 2", "ratio = 3.0", "secrets = \"complete\""] {
        assert!(agreed.lines().any(|found| found == line), "{line}: {agreed}");
    }
    let alone = text.replace("nodes = 5", "nodes = 3");
    let document = Document::parse("a.toml", &alone).unwrap();
    let run = document.run_file();
    let (facts, bytes) = public_facts(&run, run.model_kind().unwrap()).unwrap();
    let public = Public { facts: &facts, bytes, records: &[300; 3] };
    let refused = terms(&document, wiring(&run, Some(3)).unwrap(), &public).unwrap_err().to_string();
    assert!(refused.contains("privacy.colluders") || refused.contains("colluders"), "{refused}");
}
