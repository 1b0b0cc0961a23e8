//! Keys, agreements and signatures as a person types them, and every bad input with its own message.

use crate::common::{Desk, SMALL, refused};
use prdo::algorithm::Exchanges;
use prdo::build::build;
use prdo::runfile::Document;
use prdo_member::agreed::agreed;
use prdo_peer::agreement::Agreement;
use std::fmt::Write;

const NAMES: [&str; 4] = ["north", "east", "south", "west"];

/// A desk with four keys and a list of the four members.
fn desk() -> Desk {
    let desk = Desk::new();
    for name in NAMES {
        desk.prdo(&format!("node key {name}.key")).done();
    }
    desk.write("members.toml", members(&desk, &NAMES));
    desk.write("run.toml", SMALL);
    desk
}

fn members(desk: &Desk, names: &[&str]) -> String {
    let mut text = String::new();
    for (k, name) in names.iter().enumerate() {
        let key = desk.prdo(&format!("node key {name}.key --show")).done().stdout;
        let number = NAMES.iter().position(|n| n == name).map_or(9, |i| i + 1);
        let _ = writeln!(
            text,
            "[[member]]\nname = \"{name}\"\nkey = \"{}\"\naddresses = [\"192.0.2.{number}:{}\"]\nrecords = {}\n",
            key.trim(),
            4433 + k,
            60 + number
        );
    }
    text
}

const INIT: &str = "node init run.toml --members members.toml --out all.agreement";

fn agreement(desk: &Desk, name: &str) -> Agreement {
    Agreement::parse(&desk.read(name)).unwrap()
}

#[test]
fn key_init_and_signatures_of_everyone() {
    let desk = desk();
    let made = desk.prdo("node key other.key --json").json();
    let shown = desk.prdo("node key other.key --show --json").json();
    assert_eq!((&made["created"], &shown["created"]), (&true.into(), &false.into()));
    assert_eq!(made["public_key"], shown["public_key"]);
    assert!(
        !desk.prdo("node key other.key --show").done().stdout.contains(&desk.read("other.key")[100..164])
    );

    let shown = desk.prdo(&format!("{INIT} --key north.key")).done();
    let first = agreement(&desk, "all.agreement");
    let hash = prdo_peer::wire::hex(first.hash());
    for words in [
        &hash,
        "north",
        "192.0.2.3:4435",
        "z = ",
        "ε = 4.0000",
        "δ = 1e-3",
        "40 rounds",
        "east west",
        "node sign",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    assert!(first.signed_by_all().unwrap_err().to_string().contains("east, south, west"));

    // Everyone signs an own copy; the copies are brought together.
    for name in ["east", "south", "west"] {
        desk.write(&format!("{name}.agreement"), desk.read("all.agreement"));
        let told = desk.prdo(&format!("node sign {name}.agreement --key {name}.key")).done();
        assert!(told.stderr.contains(&format!("signed as {name}")), "{}", told.stderr);
    }
    let with = "--with east.agreement south.agreement --with west.agreement";
    let all = desk.prdo(&format!("node sign all.agreement --key north.key {with} --json")).json();
    assert_eq!(all["hash"], hash.as_str());
    assert_eq!(all["signed"], serde_json::json!(NAMES));
    assert_eq!(all["missing"], serde_json::json!([]));
    assert_eq!(all["members"][1]["neighbours"], serde_json::json!([0, 2]));
    let signed = agreement(&desk, "all.agreement");
    assert_eq!((signed.signed_by_all(), signed.hash()), (Ok(()), first.hash()));
    let before = desk.read("all.agreement");
    desk.prdo("node sign all.agreement --key north.key").done();
    assert_eq!(desk.read("all.agreement"), before);
}

#[test]
fn settings_hold_what_is_public_and_mean_what_the_run_file_means() {
    let desk = desk();
    // The run file's own data has 60 records a node: so that both calibrate the same.
    desk.write("members.toml", desk.read("members.toml").replace("records = 6", "records = 60 #"));
    desk.prdo(INIT).done();
    let agreement = agreement(&desk, "all.agreement");
    let terms = agreement.terms();
    let mut document = Document::read(&desk.path("run.toml")).unwrap();
    let built = build(&document).unwrap();
    let (_, planned) = agreed(&agreement).unwrap();
    let promised = built.prepared.guarantee.unwrap();
    assert_eq!(planned.guarantee, promised);
    assert_eq!((planned.recipe.method, planned.recipe.settings), (built.method, built.settings));
    assert_eq!((planned.recipe.clip, planned.recipe.batch), (built.clip, built.batch));
    assert_eq!(planned.wiring.mixing, built.wiring.mixing);
    assert_eq!((terms.dimension as usize, terms.facts.features), (built.prepared.facts.parameters, 3));
    assert_eq!((terms.exchanges, terms.rounds), (Exchanges::ONE, 40));
    for private in ["seed", "source", "partition", "path", "run.toml"] {
        let own = |line: &&str| line.starts_with(private) && !line.starts_with("start_seed");
        assert_eq!(terms.settings.lines().find(own), None);
    }
    for public in [
        "noise_multiplier",
        "delta = 0.001",
        "budget = 4.0",
        "gradient = 1.0",
        "size = 10",
        "intercept = false",
    ] {
        assert!(terms.settings.contains(public), "{public} is missing in {}", terms.settings);
    }
    // Two exchanges, or two vectors.
    for (combine, expected) in [("after", (2, 1)), ("first", (1, 2))] {
        let set = format!("--set method.name=mt --set method.combine={combine} --overwrite --json");
        let json = desk.prdo(&format!("{INIT} {set}")).json();
        assert_eq!(
            (json["exchanges_per_round"].as_u64(), json["vectors"].as_u64()),
            (Some(expected.0), Some(expected.1))
        );
    }
    document.set("privacy.epsilon=2").unwrap();
    assert_ne!(build(&document).unwrap().prepared.guarantee, Some(promised));
}

#[test]
fn facts_come_from_a_file_from_options_or_from_what_is_bundled() {
    let desk = desk();
    let file = SMALL.replace(
        "source = \"logistic\"\nrecords = 60\ndimension = 3\ntest = 50",
        "source = \"file\"\npath = \"x.csv\"",
    );
    let softmax = file.clone() + "\n[model]\nkind = \"softmax\"\n";
    desk.write("x.csv", "age,dose,label\n0.5,0.25,well\n0.75,0.5,ill\n0.5,0.125,dead\n");
    desk.write("run.toml", &softmax);
    let told = desk.prdo(INIT).done();
    assert!(
        told.stderr.contains("only the shape and the names of the records are taken from x.csv"),
        "{}",
        told.stderr
    );
    let facts = agreement(&desk, "all.agreement").terms().facts.clone();
    assert_eq!((facts.features, facts.classes), (2, Some(3)));
    assert_eq!(facts.feature_names.unwrap(), ["age", "dose"]);
    assert_eq!(facts.class_names.unwrap(), ["dead", "ill", "well"]);
    assert!(!desk.read("all.agreement").contains("x.csv"));

    std::fs::remove_file(desk.path("x.csv")).unwrap();
    refused(&desk, &format!("{INIT} --overwrite"), &["x.csv", "--features N --classes K"]);
    let given = desk.prdo(&format!("{INIT} --overwrite --features 5 --classes 3 --json")).json();
    assert_eq!(given["dimension"], 18);
    desk.write("run.toml", file.clone() + "\n[model]\nkind = \"logistic\"\n");
    let given = desk.prdo(&format!("{INIT} --overwrite --features 5 --json")).json();
    assert_eq!(given["dimension"], 6, "with its intercept");
    desk.write(
        "run.toml",
        file.clone() + "\n[model]\nkind = \"network\"\nlayers = [\"conv 2\", \"tanh\", \"dense 4\"]\n",
    );
    let images = desk.prdo(&format!("{INIT} --overwrite --image 3x8x8 --classes 4 --json")).json();
    assert_eq!(images["dimension"], 3 * 2 * 9 + 2 + 2 * 64 * 4 + 4);
    let text = agreement(&desk, "all.agreement").terms().settings.clone();
    assert!(text.contains("mean = [0.5, 0.5, 0.5]\ndeviation = [0.25, 0.25, 0.25]"), "{text}");
    refused(
        &desk,
        &format!("{INIT} --overwrite --image 3x8x8 --features 5 --classes 4"),
        &["--features 5", "192"],
    );
    refused(&desk, &format!("{INIT} --overwrite --image 3x8"), &["3x32x32"]);
    refused(&desk, &format!("{INIT} --overwrite --features 5"), &["--classes is missing"]);
    desk.write("run.toml", &softmax);
    refused(
        &desk,
        &format!("{INIT} --overwrite --features 100000000 --classes 100000"),
        &["at most 1073741824"],
    );
    refused(&desk, &format!("{INIT} --overwrite --classes 5"), &["--features is missing"]);

    desk.write(
        "run.toml",
        SMALL.replace("\"logistic\"", "\"digits\"").replace("records = 60\ndimension = 3\n", ""),
    );
    assert_eq!(desk.prdo(&format!("{INIT} --overwrite --json")).json()["dimension"], 650);
}

#[test]
fn bad_keys_have_messages_of_their_own() {
    let desk = desk();
    refused(&desk, "node key north.key", &["north.key already exists", "never overwritten"]);
    refused(&desk, "node key absent.key --show", &["no key file absent.key", "prdo node key absent.key"]);
    desk.prdo(INIT).done();
    refused(&desk, "node sign all.agreement --key absent.key", &["no key file absent.key"]);
    refused(&desk, "node sign absent.agreement --key north.key", &["absent.agreement", "cannot read it"]);
    refused(&desk, "node sign all.agreement --key members.toml", &["members.toml"]);
    desk.prdo("node key stranger.key").done();
    refused(
        &desk,
        "node sign all.agreement --key stranger.key",
        &["does not belong to a member", "north", "west"],
    );
    refused(&desk, &format!("{INIT} --overwrite --key stranger.key"), &["does not belong to a member"]);
    let damaged = desk.read("east.key").replace("private = \"", "private = \"0");
    desk.write("east.key", damaged);
    refused(&desk, "node key east.key --show", &["not a prdo key file", "64 lower-case"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(desk.path("north.key"), PermissionsExt::from_mode(0o640)).unwrap();
        refused(&desk, "node sign all.agreement --key north.key", &["0640", "chmod 600 north.key"]);
        refused(&desk, &format!("{INIT} --overwrite --key north.key"), &["chmod 600"]);
    }
}

#[test]
fn bad_members_and_run_files_have_messages_of_their_own() {
    let desk = desk();
    let good = desk.read("members.toml");
    let three = members(&desk, &NAMES[..3]);
    let key = desk.prdo("node key east.key --show").done().stdout.trim().to_string();
    for (text, words) in [
        (three.clone(), &["graph.nodes = 4 is not allowed", "it must be 3", "members.toml", "run.toml:"][..]),
        (
            good.replace("\"east\"", "\"NORTH\""),
            &["members.toml", "member 1, name = NORTH", "no other member has"],
        ),
        (good.replace("\"east\"", "\"the east\""), &["member 1, name", "letters, digits"]),
        (good.replace(&key, &key.to_uppercase()), &["member 1, key", "64 lower-case"]),
        (good.replace(&key, ""), &["member 1, key = \"\""]),
        (
            good.replace("192.0.2.2:4434", "east.example:4434"),
            &["member 1, addresses", "an IP address and a port"],
        ),
        (good.replace("192.0.2.2:4434", "192.0.2.1:4433"), &["member 1, addresses", "given once"]),
        (good.replace("records = 62", "records = 0"), &["member 1, records = 0"]),
        (good.replace("records = 62\n", ""), &["member 1, records is missing"]),
        (good.replace("records = 62", "records = 9"), &["batch.size = 10", "at most 9"]),
        (good.replace("[\"192.0.2.2:4434\"]", "[]"), &["member 1, addresses", "relay"]),
        (good.replace("records = 62", "record = 62"), &["records is missing"]),
        (good.replace("records = 62", "records = 62\nlikes = 3"), &["unknown key \"member 1, likes\""]),
        ("".into(), &["member is missing"]),
        ("[[member".into(), &["line 1", "not TOML"]),
    ] {
        desk.write("members.toml", text);
        refused(&desk, INIT, words);
    }
    desk.write("members.toml", &good);
    let without = |section: &str| {
        let (before, after) = SMALL.split_once(&format!("[{section}]\n")).unwrap();
        let rest = after.find("\n[").map_or("", |at| &after[at + 1..]);
        format!("{before}{rest}")
    };
    for (text, words) in [
        (without("privacy"), &["no [privacy] section", "nothing without noise"][..]),
        (without("clip"), &["clip.gradient is missing"]),
        (without("method"), &["method.name is missing"]),
        (SMALL.replace("rounds = 40", "rounds = [40, 50]"), &["rounds is a list of 2 values", "one run"]),
        (SMALL.replace("step_size = 0.5", "step_size = -1"), &["method.step_size = -1"]),
        (SMALL.replace("kind = \"ring\"", "kind = \"torus\""), &["torus"]),
        (SMALL.replace("kind = \"ring\"", "kind = \"erdos-renyi\""), &["probability"]),
        (SMALL.replace("kind = \"ring\"", "kind = \"file\"\nfile = \"parts.txt\""), &["2 parts", "graph"]),
        (
            SMALL.replace("kind = \"ring\"", "kind = \"file\"\nfile = \"five.txt\""),
            &["graph.nodes = 4", "five.txt"],
        ),
        (
            SMALL.replace("kind = \"ring\"\nnodes = 4", "kind = \"file\"\nfile = \"five.txt\""),
            &["graph.nodes = 5", "it must be 4"],
        ),
        (
            SMALL.replace("kind = \"ring\"", "kind = \"complete\"\nlazy = false\nweights = \"paper\""),
            &["graph.weights"],
        ),
        (SMALL.replace("epsilon = 4.0\ndelta = 1e-3", "epsilon = 1e-9\ndelta = 1e-12"), &["privacy", "1e-9"]),
        (SMALL.replace("epsilon = 4.0", "epsilon = 4.0\nnoise_multiplier = 1.0"), &["both given"]),
        (
            SMALL.replace("epsilon = 4.0", "epsilon = 4.0\nearlier = [\"1 2\"]"),
            &["privacy.earlier", "three numbers"],
        ),
        (SMALL.replace("name = \"small\"", "name = \"\""), &["name = \"\""]),
        ("rounds = ".into(), &["not TOML"]),
    ] {
        desk.write("parts.txt", "0 1\n2 3\n");
        desk.write("five.txt", "0 1\n1 2\n2 3\n3 4\n4 0\n");
        desk.write("run.toml", text);
        refused(&desk, INIT, words);
    }
    desk.write("run.toml", SMALL);
    refused(&desk, "node init run.toml --members absent.toml --out a", &["absent.toml", "cannot read it"]);
    refused(&desk, "node init absent.toml --members members.toml --out a", &["absent.toml"]);
    refused(&desk, &format!("{INIT} --relay http://plain.example"), &["relay", "https://"]);
    refused(&desk, &format!("{INIT} --rounds-done 3"), &["--continues"]);
    desk.prdo(INIT).done();
    refused(&desk, INIT, &["all.agreement already exists", "--overwrite"]);
    desk.prdo(&format!("{INIT} --overwrite --relay https://relay.example")).done();
}

#[test]
fn changed_agreements_are_not_signed() {
    let desk = desk();
    desk.prdo(&format!("{INIT} --key north.key")).done();
    let good = desk.read("all.agreement");
    desk.prdo("node init run.toml --members members.toml --out second.agreement").done();
    let hash = |name: &str| prdo_peer::wire::hex(agreement(&desk, name).hash());
    let (one, two) = (hash("all.agreement"), hash("second.agreement"));
    let sign = "node sign all.agreement --key east.key";
    refused(
        &desk,
        &format!("{sign} --with second.agreement"),
        &[&one, &two, "all.agreement", "second.agreement"],
    );
    let forged = good.replacen("rounds = 40", "rounds = 41", 1);
    let not_signed =
        forged.lines().filter(|l| !l.starts_with("signature")).map(|l| format!("{l}\n")).collect::<String>();
    let quiet =
        good.lines().filter(|l| !l.starts_with("signature")).map(|l| format!("{l}\n")).collect::<String>();
    for (text, words) in [
        (
            forged,
            &["all.agreement", "the signature of north is not of these terms", "changed after north signed"]
                [..],
        ),
        (not_signed, &["contradicts itself: rounds = 41", "40"]),
        (quiet.replacen("dimension = 3", "dimension = 30", 1), &["contradicts itself: dimension = 30"]),
        (quiet.replacen("noise_multiplier = ", "noise_multiplier = 0", 1), &["not TOML"]),
        (quiet.replacen("[batch]\n", "[batch]\nfirst = 60\n", 1), &["not TOML"]),
        (quiet.replacen("size = 10\n", "size = 60\n", 1), &["contradicts itself: it says ε = 3.999"]),
        (
            quiet.replacen("\n[model]\n", "\n[data]\npath = \\\"x\\\"\n\n[model]\n", 1),
            &["data.path is not allowed", "each member"],
        ),
        (quiet.replacen("rounds = 40", "rounds  = 40", 1), &["line 6 is not written as"]),
        (good.replacen("# Signatures", "# No signatures", 1), &["not a run agreement"]),
        ("nothing".into(), &["not a run agreement"]),
    ] {
        desk.write("all.agreement", &text);
        refused(&desk, sign, words);
    }
    desk.write("all.agreement", b"\xff\xfe");
    refused(&desk, sign, &["not UTF-8"]);
}

#[test]
fn the_members_that_are_left_go_on_within_the_same_budget() {
    let desk = desk();
    desk.write("run.toml", SMALL.replace("nodes = 4\n", ""));
    let z = |json: &serde_json::Value| json["noise_multiplier"].as_f64().unwrap();
    let first = desk.prdo(&format!("{INIT} --json")).json();
    desk.write("three.toml", members(&desk, &["north", "south", "west"]));
    let go_on = |more: &str| {
        format!("node init run.toml --members three.toml --out rest.agreement --continues {more}")
    };
    refused(&desk, &go_on("all.agreement --rounds-done 10"), &["not signed by north, east, south, west"]);
    for name in NAMES {
        desk.prdo(&format!("node sign all.agreement --key {name}.key")).done();
    }
    refused(&desk, &go_on("all.agreement --rounds-done 41"), &["--rounds-done 41", "40 rounds"]);
    refused(&desk, &go_on("all.agreement"), &["--rounds-done"]);
    let shown = desk.prdo(&go_on("all.agreement --rounds-done 10")).done();
    assert!(shown.stdout.contains("together with what the agreement"), "{}", shown.stdout);
    let rest = agreement(&desk, "rest.agreement");
    assert_eq!(rest.terms().continues.as_ref(), Some(agreement(&desk, "all.agreement").hash()));
    let (_, planned) = agreed(&rest).unwrap();
    // Ten old rounds (the first one and nine others) and forty new ones within the one budget: more noise than before.
    assert_eq!(planned.recipe.earlier.len(), 10);
    assert!(planned.guarantee.epsilon <= 4.0 && planned.guarantee.epsilon > 3.99, "{:?}", planned.guarantee);
    assert!(planned.guarantee.noise_multiplier > z(&first));
    assert_eq!(planned.recipe.earlier.entries()[0].0.noise_multiplier(), z(&first));

    // And on: everything that was ever released stays in the sum.
    for name in ["north", "south", "west"] {
        desk.prdo(&format!("node sign rest.agreement --key {name}.key")).done();
    }
    desk.prdo("node key new.key").done();
    desk.write("three.toml", members(&desk, &["north", "south", "new"]));
    let go_on_again = go_on("rest.agreement --rounds-done 5").replace("--out rest", "--out last");
    let told = desk.prdo(&go_on_again).done();
    assert!(told.stderr.contains("new was not in the agreement"), "{}", told.stderr);
    let (_, planned) = agreed(&agreement(&desk, "last.agreement")).unwrap();
    assert_eq!(planned.recipe.earlier.len(), 15);

    let go_on = format!("{} --overwrite", go_on("all.agreement --rounds-done 10"));
    refused(&desk, &format!("{go_on} --set data.dimension=4"), &["shape or names", "all.agreement"]);
    refused(
        &desk,
        &format!("{go_on} --set model.regularization=0.5"),
        &["model.regularization is 0.5 but was 0.001"],
    );
    refused(&desk, &format!("{go_on} --set privacy.epsilon=0.5"), &["privacy"]);
    desk.write(
        "three.toml",
        members(&desk, &["north", "south", "west"]).replace("records = 63", "records = 64"),
    );
    refused(&desk, &go_on, &["records = 64 of south", "it must be 63"]);
    for name in ["a", "b", "c"] {
        desk.prdo(&format!("node key {name}.key")).done();
    }
    desk.write("three.toml", members(&desk, &["a", "b", "c"]));
    refused(&desk, &go_on, &["none of the members is in all.agreement"]);
}
