//! Three real processes train on features: the simulator's bits, and nobody trains with another map.

use crate::common::peers::{NAMES, Trio};
use crate::common::{Desk, refused};

const DIGITS: &str = "name = \"digits\"\nrounds = 25\n[graph]\nnodes = 3\n[data]\nsource = \"digits\"\ntest = 0\n\
    [features]\nmap = \"scattering\"\nscales = 2\nangles = 4\ngrid = 2\n\
    [partition]\nkind = \"dirichlet\"\nconcentration = 0.5\n\
    [method]\nname = \"prdo\"\nstep_size = 10.0\n[batch]\nsize = 60\n[clip]\ngradient = 0.5\ndifference = 0.1\n\
    [privacy]\nepsilon = 8.0\ndelta = 1e-4\n";

/// Members with a third of the digits each.
fn trio(run: &str) -> Trio {
    let desk = Desk::new();
    desk.write("run.toml", run);
    Trio::dealt(desk, 25, "digits --partition dirichlet --concentration 0.5")
}

/// The hash in an agreement's settings.
fn hash(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with("features = ") && line.len() > 64).unwrap();
    let hash: String = line.split_once(" = ").unwrap().1.chars().filter(char::is_ascii_hexdigit).collect();
    assert_eq!(hash.len(), 64, "{line}");
    hash
}

#[test]
fn three_processes_on_features_give_the_simulators_bits() {
    let trio = trio(DIGITS);
    trio.agree("all.agreement");
    let checked =
        trio.desk.prdo("node check all.agreement --key east.key --data shares/node-1.npz --offline").done();
    assert!(checked.stdout.contains("1010 parameters"), "{}", checked.stdout);
    let mut children: Vec<_> = NAMES.iter().map(|name| (trio.start(name), *name)).collect();
    for (child, name) in &mut children {
        trio.done(child, name);
    }
    trio.same_as_simulated();
    // One map for all, and the features of three shares and of the whole.
    let kept = std::fs::read_dir(trio.desk.kept_features()).unwrap().map(|file| file.unwrap().path());
    let (maps, features): (Vec<_>, Vec<_>) = kept.partition(|file| file.extension().unwrap() == "map");
    assert_eq!((maps.len(), features.len()), (1, 4));
    // A node's folder is enough to predict.
    let told = trio.desk.prdo("predict east shares/node-2.npz").done().stderr;
    assert!(told.contains("of these records' labels are predicted"), "{told}");
}

/// `all.csv`, a table as an organisation exports it, and each member's part of it, its columns in another order.
fn own_tables(desk: &Desk) -> [(String, usize); 3] {
    let mut all = String::from("id,age,pressure,ward,label,hospital\n");
    let mut shares = [(); 3].map(|()| String::from("ward,label,hospital,id,pressure,age\n"));
    for k in 0..240 {
        let (hospital, ill) = (k % 3, k * 7 % 11 > 5);
        let age = if k % 23 == 0 { String::new() } else { format!("{}.5", 30 + k * 13 % 50) };
        let pressure = 110 + k * 17 % 40 + if ill { 25 } else { 0 };
        let (ward, label) = (["a", "b", ""][k * 5 % 3], if ill { "yes" } else { "no" });
        all += &format!("P{k:04},{age},{pressure},{ward},{label},{hospital}\n");
        shares[hospital] += &format!("{ward},{label},{hospital},P{k:04},{pressure},{age}\n");
    }
    desk.write("all.csv", all);
    for (name, share) in NAMES.iter().zip(&shares) {
        desk.write(&format!("{name}.csv"), share);
    }
    [0, 1, 2].map(|i| (format!("{}.csv", NAMES[i]), 80))
}

#[test]
fn a_table_of_ones_own_goes_from_new_to_three_processes() {
    let desk = Desk::new();
    let shares = own_tables(&desk);
    desk.prdo("new all.csv --label label --node hospital --out run.toml").done();
    let run = desk.read("run.toml").replace("rounds = 60", "rounds = 12").replace("test = 0.2", "test = 0");
    assert!(run.contains("map = \"table\"") && run.contains("features = [\"age\", \"pressure\", \"ward\"]"));
    desk.write("run.toml", run);
    let trio = Trio::with_keys(desk, 12, shares);
    trio.agree("all.agreement");
    let mut children: Vec<_> = NAMES.iter().map(|name| (trio.start(name), *name)).collect();
    for (child, name) in &mut children {
        trio.done(child, name);
    }
    trio.same_as_simulated();

    // The ledger knows its records in another file, in another order, with their columns in another order, and under an
    // agreement that reads other columns.
    let desk = &trio.desk;
    let text = desk.read("east.csv");
    let turned = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n";
    let mut lines: Vec<String> = text.lines().map(turned).collect();
    lines[1..].reverse();
    desk.write("east-again.csv", lines.concat());
    let run = desk
        .read("run.toml")
        .replace("features = [\"age\", \"pressure\", \"ward\"]", "features = [\"pressure\"]");
    let run = run.replace("\"age: ", "# \"age: ").replace("categories = [\"ward\"]", "");
    let ranges = run.lines().find(|line| line.starts_with("ranges")).unwrap().to_string();
    desk.write("run.toml", run.replace(&ranges, "ranges = [\"pressure: 50 to 250\"]"));
    trio.agree("other.agreement");
    let again = "node check other.agreement --key east.key --data east-again.csv --offline";
    refused(desk, again, &["east.csv.ledger", "one"]);

    desk.write("east-na.csv", text.replace(",\n", ",NA\n"));
    refused(desk, &again.replace("east-again", "east-na"), &["east.csv.ledger", "one"]);
    std::os::unix::fs::symlink(desk.path("east.csv"), desk.path("link.csv")).unwrap();
    refused(desk, &again.replace("east-again", "link"), &["budget", "east.csv.ledger"]);

    // Without one of the columns it is another set of records: that is said.
    let without: String =
        text.lines().map(|line| line.split_once(',').unwrap().1.to_string() + "\n").collect();
    desk.write("east-less.csv", without);
    let told = desk.prdo(&again.replace("east-again", "east-less")).done().stderr;
    assert!(told.contains("starts a new ledger") && told.contains("east.csv.ledger"), "{told}");

    // Numbers in another unit are noticed before anything is spent on them.
    let thousands = text.lines().map(|line| {
        let mut cells: Vec<String> = line.split(',').map(str::to_string).collect();
        cells[4] = cells[4].parse::<u32>().map_or(cells[4].clone(), |mmhg| format!("{}", mmhg * 1000));
        cells.join(",") + "\n"
    });
    desk.write("east-units.csv", thousands.collect::<String>());
    let told = desk.prdo(&again.replace("east-again", "east-units")).done().stderr;
    assert!(told.contains("80 of 80 values lie outside the agreed range"), "{told}");

    // A column that was agreed on and is not there is named.
    desk.write("less.csv", text.replacen("pressure", "pulse", 1));
    let less = "node check other.agreement --key east.key --data less.csv --offline";
    refused(desk, less, &["less.csv", "the column \"pressure\" is missing", "pulse"]);
}

#[test]
fn nobody_trains_with_another_map_or_with_one_that_is_not_named() {
    let trio = trio(DIGITS);
    let desk = &trio.desk;
    desk.prdo("node init run.toml --members members.toml --out own.agreement").done();
    let own = desk.read("own.agreement");
    let ours = hash(&own);
    // As another version of prdo would have written it.
    let theirs = format!("{}{}", "0".repeat(8), &ours[8..]);
    desk.write("other.agreement", own.replace(&ours, &theirs));
    for name in NAMES {
        desk.prdo(&format!("node sign other.agreement --key {name}.key")).done();
    }
    let check = "node check other.agreement --key north.key --data shares/node-0.npz --offline";
    refused(desk, check, &["the feature maps differ", &ours, &theirs, "shares/node-0.npz"]);
    refused(
        desk,
        &trio.typed("north", "other.agreement", "north"),
        &["the feature maps differ", &ours, &theirs],
    );
    assert_eq!(trio.charged("north"), 0);

    // Without a hash, or with half of one, or with one and no features, it is not even signed.
    let without = |word: &str| -> String {
        own.lines().filter(|line| !line.contains(word)).map(|line| format!("{line}\n")).collect()
    };
    for (text, words) in [
        (without(&ours), "not the hash of their map (resolved.features)"),
        (own.replace(&ours, &ours[..32]), "64 hexadecimal digits"),
    ] {
        desk.write("bad.agreement", text);
        refused(desk, "node sign bad.agreement --key north.key", &[words]);
    }
    desk.write(
        "run.toml",
        DIGITS.replace("[features]\nmap = \"scattering\"\nscales = 2\nangles = 4\ngrid = 2\n", ""),
    );
    desk.prdo("node init run.toml --members members.toml --out plain.agreement").done();
    let plain = desk.read("plain.agreement");
    desk.write(
        "bad.agreement",
        plain.replacen("parameters = ", &format!("features = \\\"{ours}\\\"\nparameters = "), 1),
    );
    refused(desk, "node sign bad.agreement --key north.key", &["hash of a feature map but no features"]);

    // A run file that was written with another map does not become an agreement.
    desk.write("run.toml", format!("{DIGITS}[resolved]\nfeatures = \"{theirs}\"\n"));
    let init = "node init run.toml --members members.toml --out new.agreement";
    refused(desk, init, &["the feature maps differ", &ours, &theirs]);
    desk.write("run.toml", format!("{DIGITS}[resolved]\nfeatures = \"{ours}\"\n"));
    desk.prdo(init).done();
    assert_eq!(hash(&desk.read("new.agreement")), ours);
}

#[test]
fn a_member_with_other_images_is_refused() {
    let trio = trio(DIGITS);
    trio.agree("all.agreement");
    let check = |data: &str| format!("node check all.agreement --key north.key --data {data} --offline");
    let narrow: String = (0..20).map(|r| format!("{},{}\n", r % 7, r % 10)).collect();
    trio.desk.write("narrow.csv", format!("a,label\n{narrow}"));
    refused(&trio.desk, &check("narrow.csv"), &["narrow.csv", "number of features is 1 (a), agreed is 64"]);
    // As many pixels, of another shape.
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 16];
    bytes.extend([7; 128]);
    trio.desk.write("wide/train-images-idx3-ubyte", &bytes);
    trio.desk.write("wide/train-labels-idx1-ubyte", [0, 0, 8, 1, 0, 0, 0, 2, 3, 4]);
    refused(&trio.desk, &check("wide"), &["the images' shape is 1x4x16, agreed is 1x8x8"]);
}
