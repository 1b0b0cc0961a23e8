//! A small agreement, and the key files and members' list that go with it.

use prdo_algorithm::Exchanges;
use prdo_peer::agreement::{Agreement, Facts, Member, Terms};
use prdo_peer::identity::Identity;
use prdo_peer::wire::hex;
use std::fmt::Write;

/// The key pair of member `i`.
pub fn identity(i: u8) -> Identity {
    Identity::from_secret(&[i + 1; 32])
}

fn member(i: u8) -> Member {
    Member {
        name: format!("m{i}"),
        key: identity(i).public(),
        addresses: vec![([192, 0, 2, i + 1], 4433).into()],
        records: 100,
    }
}

/// Two members with only what must be given; three with everything that may be.
pub fn terms(everything: bool) -> Terms {
    let plain = Terms {
        run: [7; 32],
        name: "a run".into(),
        continues: None,
        rounds: 40,
        exchanges: Exchanges::ONE,
        dimension: 5,
        relay: None,
        facts: Facts { features: 4, ..Facts::default() },
        members: (0..2).map(member).collect(),
        weights: vec![vec![(0, 0.5), (1, 0.5)]; 2],
        later_weights: Vec::new(),
        settings: "rounds = 40\n".into(),
    };
    if !everything {
        return plain;
    }
    Terms {
        name: "a \"quoted\\name\" ü".into(),
        continues: Some([9; 32]),
        relay: Some("https://relay.example/".into()),
        facts: Facts {
            features: 12,
            classes: Some(2),
            class_names: Some(vec!["ill".into(), "well".into()]),
            feature_names: Some((0..12).map(|k| format!("f{k}")).collect()),
            image: Some([3, 2, 2]),
        },
        members: (0..3).map(member).map(|m| Member { addresses: vec![], ..m }).collect(),
        weights: vec![
            vec![(0, 0.75), (1, 0.25)],
            vec![(0, 0.25), (1, 0.5), (2, 0.25)],
            vec![(1, 0.25), (2, 0.75)],
        ],
        settings: "\na = \"\"\"\n\ttab \\ \r\u{1}\"\"\"\"".into(),
        ..plain
    }
}

/// Agreements: nobody has signed, one has, all have.
pub fn agreements() -> Vec<Agreement> {
    let written = |everything, signers: u8| {
        let mut agreement = Agreement::write(terms(everything)).expect("allowed terms");
        (0..signers).for_each(|i| assert!(agreement.sign(&identity(i)).is_ok()));
        agreement
    };
    vec![written(false, 0), written(false, 2), written(true, 1), written(true, 3)]
}

/// A list of members as a file has it.
pub fn members_text(members: &[Member]) -> String {
    let mut text = String::new();
    for Member { name, key, addresses, records } in members {
        let addresses: Vec<_> = addresses.iter().map(|a| format!("\"{a}\"")).collect();
        let addresses = addresses.join(", ");
        let _ = write!(text, "[[member]]\nname = \"{name}\"\nkey = \"{key}\"\n");
        let _ = write!(text, "addresses = [{addresses}]\nrecords = {records}\n\n");
    }
    text
}

/// The one key file of a key pair, written here a second time so that the two ways are compared.
pub fn key_text(identity: &Identity) -> String {
    let remark =
        "# A prdo node's private key. Whoever has it can speak in its name: keep it, show it to nobody.";
    let (private, public) = (hex(identity.secret_bytes()), identity.public());
    format!("{remark}\nprivate = \"{private}\"\npublic = \"{public}\"\n")
}
