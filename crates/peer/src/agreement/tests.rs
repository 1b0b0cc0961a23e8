use super::*;
use prdo_algorithm::Exchanges;
use prdo_algorithm::graph::{Arcs, Mixing};
use proptest::prelude::*;

fn identity(i: u8) -> Identity {
    Identity::from_secret(&[i + 1; 32])
}

/// A ring of `n` members.
fn terms(n: u8) -> Terms {
    let member = |i: u8| Member {
        name: format!("clinic-{i}"),
        key: identity(i).public(),
        addresses: vec![SocketAddr::from(([192, 0, 2, i + 1], 4433))],
        records: 1000 + u64::from(i),
    };
    let row = |i: u8| {
        let mut row =
            vec![(u32::from(i), 0.5), (u32::from((i + 1) % n), 0.25), (u32::from((i + n - 1) % n), 0.25)];
        row.sort_by_key(|(j, _)| *j);
        row
    };
    Terms {
        run: [7; 32],
        name: "three clinics".into(),
        continues: None,
        rounds: 40,
        exchanges: Exchanges::ONE,
        dimension: 650,
        relay: None,
        share_keys: false,
        facts: Facts { features: 64, classes: Some(10), ..Facts::default() },
        members: (0..n).map(member).collect(),
        weights: (0..n).map(row).collect(),
        later_weights: Vec::new(),
        settings: "rounds = 40\n\n[method]\nname = \"prdo\"\n".into(),
    }
}

/// Terms in which everything that may be given is.
fn full() -> Terms {
    let mut terms = terms(4);
    terms.continues = Some([9; 32]);
    terms.relay = Some("https://relay.example:8443/".into());
    terms.name = "a \"quoted\\name\" – Zürich".into();
    terms.members[0].addresses = vec![];
    terms.members[1].addresses = vec!["[2001:db8::1]:5".parse().unwrap(), "10.0.0.1:5".parse().unwrap()];
    terms.facts = Facts {
        features: 12,
        classes: Some(2),
        class_names: Some(vec!["ill".into(), "well".into()]),
        feature_names: Some((0..12).map(|k| format!("feature {k}")).collect()),
        image: Some([3, 2, 2]),
    };
    terms.settings = "\na = \"\"\"quotes\"\"\"\n\ttab \\ back\r\nend \u{1}\"\"\"\"".into();
    terms
}

fn signed(n: u8) -> Agreement {
    let mut agreement = Agreement::write(terms(n)).unwrap();
    for i in 0..n {
        assert_eq!(agreement.sign(&identity(i), None), Ok(usize::from(i)));
    }
    agreement
}

#[test]
fn terms_go_there_and_back() {
    for terms in [terms(3), terms(5), full()] {
        let agreement = Agreement::write(terms.clone()).unwrap();
        let again = Agreement::parse(&agreement.to_file()).unwrap();
        assert_eq!(again, agreement);
        assert_eq!(again.terms(), &terms);
        assert_eq!(again.hash(), blake3::hash(again.text().as_bytes()).as_bytes());
        assert!(agreement.to_file().starts_with(agreement.text()));
    }
    assert_ne!(Agreement::write(terms(3)).unwrap().hash(), Agreement::write(terms(4)).unwrap().hash());
}

#[test]
fn it_holds_when_everyone_has_signed_in_any_order() {
    let mut agreement = Agreement::write(terms(3)).unwrap();
    agreement.sign(&identity(2), None).unwrap();
    let missing = vec!["clinic-0".to_string(), "clinic-1".to_string()];
    assert_eq!(agreement.signed_by_all(), Err(AgreementError::NotSigned { missing }));
    let mut other = Agreement::write(terms(3)).unwrap();
    other.sign(&identity(0), None).unwrap();
    other.sign(&identity(2), None).unwrap();
    assert_eq!(agreement.merge(&other), Ok(vec![0]));
    agreement.sign(&identity(1), None).unwrap();
    let read = Agreement::parse(&agreement.to_file()).unwrap();
    assert_eq!(read.signed_by_all(), Ok(()));
    assert_eq!(read, signed(3));
    let error = agreement.merge(&Agreement::write(terms(4)).unwrap()).unwrap_err().to_string();
    for agreement in [&agreement, &signed(4)] {
        assert!(error.contains(&hex(agreement.hash())), "{error}");
    }
    assert!(matches!(agreement.sign(&identity(9), None), Err(AgreementError::NotAMember { .. })));
}

fn share_key(i: u8) -> ShareKey {
    // Multiples of the base point are keys; these are what 32 equal bytes give.
    let point = curve25519_dalek::montgomery::MontgomeryPoint::mul_base_clamped([i + 1; 32]);
    ShareKey::from_bytes(point.to_bytes()).unwrap()
}

#[test]
fn every_share_key_is_signed_and_a_part_of_what_runs() {
    let terms = |share_keys| Terms { share_keys, ..terms(3) };
    let plain = Agreement::write(terms(false)).unwrap();
    assert_eq!(plain.run_hash(), *plain.hash());
    assert!(!plain.text().contains("share_keys"));
    let empty = Agreement::write(terms(true)).unwrap();
    assert!(empty.text().contains("\nshare_keys = true\n"));
    let with = |keys: [u8; 3]| {
        let mut agreement = empty.clone();
        for (i, key) in (0..).zip(keys) {
            agreement.sign(&identity(i), Some(share_key(key))).unwrap();
        }
        agreement
    };
    let signed = with([0, 1, 2]);
    let read = Agreement::parse(&signed.to_file()).unwrap();
    assert_eq!((&read, read.signed_by_all()), (&signed, Ok(())));
    assert_eq!(read.share_keys(), [Some(share_key(0)), Some(share_key(1)), Some(share_key(2))]);
    assert_eq!(signed.expected(0, 1).agreement, signed.run_hash());
    for other in [&empty, &with([0, 1, 3]), &with([1, 0, 2])] {
        assert_eq!(other.hash(), signed.hash());
        assert_ne!(other.run_hash(), signed.run_hash());
    }
    // A key in another's place, none, or the same twice.
    let swapped = signed.to_file().replace(&share_key(2).to_string(), &share_key(3).to_string());
    assert!(matches!(Agreement::parse(&swapped), Err(AgreementError::Forged { .. })));
    let bare = signed.to_file().replace(&format!("{} ", share_key(2)), "");
    assert!(matches!(Agreement::parse(&bare), Err(AgreementError::ShareKey { wanted: true, .. })));
    let mut copy = empty.clone();
    assert!(matches!(copy.sign(&identity(0), None), Err(AgreementError::ShareKey { wanted: true, .. })));
    copy.sign(&identity(0), Some(share_key(1))).unwrap();
    let twin = copy.sign(&identity(1), Some(share_key(1)));
    assert!(matches!(twin, Err(AgreementError::SameShareKey { .. })), "{twin:?}");
    assert!(matches!(copy.merge(&signed), Err(AgreementError::TwoShareKeys { .. })));
    let mut plain = plain;
    let unwanted = plain.sign(&identity(0), Some(share_key(1)));
    assert!(matches!(unwanted, Err(AgreementError::ShareKey { wanted: false, .. })));
}

#[test]
fn neighbours_and_what_they_send() {
    let agreement = signed(4);
    assert_eq!(
        (agreement.neighbours(0), agreement.neighbours(2), agreement.neighbours(9)),
        (vec![1, 3], vec![1, 3], vec![])
    );
    let expected = agreement.expected(2, 3);
    assert_eq!((expected.me, expected.peer, expected.payload_bytes), (2, 3, 5200));
    assert_eq!(
        (expected.run, &expected.agreement, expected.all_exchanges()),
        ([7; 32], agreement.hash(), 40)
    );
    assert_eq!(agreement.member_of(&identity(3).public()), Some(3));
    assert_eq!(agreement.terms().mixing().unwrap().at(0).weight(0, 3), 0.25);
}

/// Members 0 → 1 → 2 → 3 → 0, then 0 → 2, 1 → 3, 2 → 0, 3 → 1.
fn in_turns() -> Terms {
    let mut terms = terms(4);
    let mut hops = Arcs::one_peer_exponential(4).unwrap().into_iter().map(|arcs| {
        let mixing = Mixing::out_degree(&arcs).unwrap();
        let row = |i| mixing.row_entries(i).map(|(j, w)| (j as u32, w)).collect();
        (0..4).map(row).collect::<Vec<Row>>()
    });
    terms.weights = hops.next().unwrap();
    terms.later_weights = hops.collect();
    terms
}

#[test]
fn links_may_go_one_way_and_take_turns() {
    let agreement = Agreement::write(in_turns()).unwrap();
    assert_eq!(Agreement::parse(&agreement.to_file()).unwrap(), agreement);
    assert_eq!(agreement.neighbours(0), [1, 2, 3]);
    assert_eq!(agreement.rows(1), [vec![(0, 0.5), (1, 0.5)], vec![(1, 0.5), (3, 0.5)]]);
    let (from_0, from_3) = (agreement.expected(1, 0), agreement.expected(1, 3));
    assert_eq!(
        (from_0.comes_in(0), from_0.comes_in(1), from_0.goes_in(0), from_0.goes_in(1)),
        (true, false, false, false)
    );
    assert_eq!(
        (from_3.comes_in(2), from_3.comes_in(3), from_3.goes_in(2), from_3.goes_in(3)),
        (false, true, false, true)
    );
    let without = |change: fn(&mut Terms)| {
        let mut terms = in_turns();
        change(&mut terms);
        Agreement::write(terms).unwrap_err().to_string()
    };
    assert!(without(|t| t.later_weights[0][2].clear()).contains("the member's own among them"));
    assert!(without(|t| t.later_weights[0].truncate(3)).contains("one row per member"));
    assert!(without(|t| t.later_weights[0][0] = vec![(0, 0.5)]).contains("column 2"));
    let alone = |t: &mut Terms| {
        t.later_weights.clear();
        t.weights = (0..4).map(|i| vec![(i, 1.0)]).collect();
        t.weights[1] = vec![(0, 0.5), (1, 1.0)];
        t.weights[0] = vec![(0, 0.5)];
    };
    assert!(without(alone).contains("no path leads from node 0 to node 2"), "{}", without(alone));
}

#[test]
fn a_changed_term_or_signature_is_noticed() {
    let file = signed(3).to_file();
    let other = format!("{}", identity(0).sign(&[1; 32], None));
    let first = format!("{}", signed(3).signatures()[0].unwrap());
    for (old, new) in
        [("rounds = 40\n", "rounds = 41\n"), ("records = 1001", "records = 2001"), (&first, &other)]
    {
        let error = Agreement::parse(&file.replacen(old, new, 1)).unwrap_err();
        assert!(matches!(&error, AgreementError::Forged { name, .. } if name == "clinic-0"), "{error}");
    }
}

#[test]
fn files_that_are_not_as_written_are_refused() {
    let file = signed(3).to_file();
    let (above, below) = text::split(&file).unwrap();
    let lines: Vec<&str> = below.lines().collect();
    let join = |lines: &[&str]| {
        format!("{above}{MARKER}\n{}", lines.iter().map(|l| format!("{l}\n")).collect::<String>())
    };
    assert_eq!(Agreement::parse(&join(&lines)).unwrap(), signed(3));
    let line = |text: String| matches!(Agreement::parse(&text), Err(AgreementError::SignatureLine { .. }));
    assert!(
        line(join(&[lines[1], lines[0]])) && line(join(&[lines[0], lines[0]])) && line(join(&["", lines[0]]))
    );
    assert!(
        line(file.trim_end().to_string())
            && line(format!("{file}#"))
            && line(file.replace("signature clinic-0", "signature clinic-1"))
    );
    let stranger = Identity::from_secret(&[99; 32]);
    assert!(line(format!(
        "{file}signature x {} {}\n",
        stranger.public(),
        stranger.sign(signed(3).hash(), None)
    )));
    let canonical = |old: &str, new: &str| {
        let changed = file.replacen(old, new, 1);
        assert_ne!(changed, file, "{old}");
        let error = Agreement::parse(&changed).unwrap_err();
        assert!(matches!(error, AgreementError::NotCanonical { .. }), "{new}: {error}");
    };
    canonical("rounds = 40", "rounds =  40");
    canonical("rounds = 40", "rounds = 0x28");
    canonical("rounds = 40\n", "rounds = 40 # more\n");
    canonical("[1, 0.25]", "[1, 0.250]");
    canonical("[1, 0.25]", "[1, 25e-2]");
    canonical("192.0.2.1:4433", "192.0.2.1:04433");
    canonical("# A prdo", "# a prdo");
    canonical("\n[facts]", "[facts]");
    canonical("\n", "\r\n");
    for (old, new, words) in [
        ("rounds = 40\n", "", "rounds is missing"),
        ("rounds = 40\n", "rounds = 40\nlaps = 3\n", "unknown key \"laps\""),
        ("records = 1000\n", "records = 1000\nage = 3\n", "unknown key \"member 0, age\""),
        ("rounds = 40\n", "rounds = 40\nrounds = 40\n", "not TOML"),
        ("format = 1", "format = 2", "another version of prdo"),
        ("rounds = 40", "rounds = -1", "rounds = -1 is not allowed"),
        ("rounds = 40", "rounds = 4.5", "rounds = 4.5 is not allowed"),
        ("rounds = 40", "rounds = 5000000000", "rounds = 5000000000 is not allowed"),
        ("run = \"07", "run = \"0X", "64 lower-case hexadecimal digits"),
        ("192.0.2.1:4433", "clinic.example:4433", "an IP address and a port"),
        ("[1, 0.25]", "[1, nan]", "weights"),
        ("[1, 0.25]", "[-1, 0.25]", "pairs such as [0, 0.5]"),
        ("[1, 0.25]", "[1, 0.25, 3]", "pairs such as [0, 0.5]"),
        (MARKER, "# nothing", "is missing"),
    ] {
        let error = Agreement::parse(&file.replacen(old, new, 1)).unwrap_err().to_string();
        assert!(error.contains(words), "{new}: {error}");
    }
    let long = "x".repeat(LONGEST + 1);
    assert!(matches!(Agreement::parse(&long), Err(AgreementError::TooLong { .. })));
}

#[test]
fn terms_that_are_not_allowed_are_refused() {
    type Change = fn(&mut Terms);
    let cases: &[(Change, &str)] = &[
        (|t| t.name = String::new(), "name = \"\" is not allowed"),
        (|t| t.name = "a\nb".into(), "characters in one line"),
        (|t| t.rounds = 0, "rounds = 0 is not allowed: it must be a whole number from 1 to 100000000"),
        (|t| t.exchanges.per_round = 201, "exchanges_per_round = 201"),
        (|t| t.exchanges.final_mixings = 101, "final_mixings = 101"),
        (|t| t.exchanges.shape.vectors = 0, "vectors = 0"),
        (|t| t.dimension = 0, "dimension = 0"),
        (|t| t.dimension = u64::MAX, "dimension = 18446744073709551615"),
        (|t| t.relay = Some("http://plain.example".into()), "begins with https://"),
        (|t| t.members.truncate(1), "member = 1 times is not allowed: it must be from 2 to 10000 members"),
        (|t| t.members = vec![t.members[0].clone(); 10_001], "10001 times"),
        (|t| t.members[1].name = "CLINIC-0".into(), "member 1, name = CLINIC-0 is not allowed"),
        (|t| t.members[1].name = "a b".into(), "letters, digits"),
        (|t| t.members[1].name = "é".into(), "letters, digits"),
        (|t| t.members[2].key = t.members[0].key, "a key that no other member has"),
        (|t| t.members[2].addresses = t.members[0].addresses.clone(), "an address that is given once"),
        (|t| t.members[2].addresses.clear(), "0 addresses is not allowed"),
        (|t| t.members[2].addresses[0].set_port(0), "that others can dial"),
        (|t| t.members[2].addresses[0].set_ip([0, 0, 0, 0].into()), "that others can dial"),
        (|t| t.members[2].records = 0, "member 2, records = 0"),
        (|t| t.facts.features = 0, "facts.features = 0"),
        (|t| t.facts.classes = Some(1), "facts.classes = 1"),
        (
            |t| t.facts.class_names = Some(vec!["a".into()]),
            "facts.class_names = 1 names is not allowed: it must be 10",
        ),
        (|t| t.facts.feature_names = Some(vec!["a".into(); 64]), "\"a\" twice"),
        (|t| t.facts.image = Some([3, 2, 2]), "the product 64"),
        (|t| t.facts.image = Some([u64::MAX, 2, 2]), "the product 64"),
        (|t| t.weights.truncate(2), "one row per member, 3"),
        (|t| t.weights[0].reverse(), "ascending order"),
        (|t| t.weights[0] = vec![(1, 0.5), (2, 0.5)], "the member's own among them"),
        (|t| t.weights[0][1].1 = 0.3, "weight"),
        (|t| (t.weights[0][0].1, t.weights[0][1].1) = (0.25, 0.5), "column 0"),
        (|t| t.weights[0][0].1 = f64::NAN, "weights"),
        (|t| t.weights[0][0].1 = -0.5, "above 0"),
        (|t| t.weights[0][0].1 = -0.0, "above 0"),
        (|t| t.weights[0][1].1 = 0.0, "leave out members that it does not talk to"),
        (|t| t.weights[2][2].0 = 7, "7"),
        (|t| t.weights = vec![vec![(0, 1.0)], vec![(1, 1.0)], vec![(2, 1.0)]], "3 parts"),
        (|t| t.settings = format!("a\n{MARKER}\nb"), "without the marker line"),
    ];
    for (k, (change, words)) in cases.iter().enumerate() {
        let mut terms = terms(3);
        change(&mut terms);
        let error = Agreement::write(terms).unwrap_err().to_string();
        assert!(error.contains(words), "case {k}: {error}");
    }
}

#[test]
fn members_are_read_from_a_file_of_their_own() {
    let file = Agreement::write(terms(3)).unwrap().to_file();
    let from = file.find("# member 0").unwrap()..file.find("\n[settings]").unwrap();
    let list: String =
        file[from].lines().filter(|l| !l.starts_with("weights")).map(|l| format!("{l}\n")).collect();
    assert_eq!(parse_members(&list, false).unwrap(), terms(3).members);
    let by_hand = list.replace('"', "'").replace("records = 1000", "# ours\nrecords = 1_000");
    assert_eq!(parse_members(&by_hand, false).unwrap(), terms(3).members);
    let lonely = list.replacen("\"192.0.2.1:4433\"", "", 1);
    assert!(parse_members(&lonely, true).is_ok());
    let key = identity(0).public().to_string();
    for (text, words) in [
        (String::new(), "member is missing"),
        ("member = 3".into(), "member = 3 is not allowed: it must be a list"),
        ("member = [3]".into(), "a table [[member]]"),
        (list.replacen("name = \"clinic-0\"\n", "", 1), "member 0, name is missing"),
        (list.replacen("records", "record", 1), "member 0, records is missing"),
        (list.replacen("[[member]]", "[[member]]\nage = 3", 1), "unknown key \"member 0, age\""),
        (list.replacen(&key, &key.to_uppercase(), 1), "member 0, key"),
        (list.replacen("clinic-1", "clinic-0", 1), "a name that no other member has"),
        (list.replacen("192.0.2.2", "host.example", 1), "member 1, addresses"),
        (lonely, "0 addresses is not allowed"),
        (format!("relay = 1\n{list}"), "unknown key \"relay\""),
        (format!("{list}["), "not TOML"),
    ] {
        let error = parse_members(&text, false).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn ten_thousand_members_are_quick() {
    let mut big = terms(3);
    let n = MOST_MEMBERS as u32;
    let secret = |i: u32| {
        let mut secret = [3; 32];
        secret[..4].copy_from_slice(&i.to_le_bytes());
        secret
    };
    big.members = (0..n)
        .map(|i| Member {
            name: format!("m{i}"),
            key: Identity::from_secret(&secret(i)).public(),
            addresses: vec![SocketAddr::from(([10, 1, 1, 1], 1 + i as u16))],
            records: 5,
        })
        .collect();
    big.weights = (0..n)
        .map(|i| {
            let mut row = vec![(i, 0.5), ((i + 1) % n, 0.25), ((i + n - 1) % n, 0.25)];
            row.sort_by_key(|(j, _)| *j);
            row
        })
        .collect();
    let agreement = Agreement::write(big).unwrap();
    assert_eq!(Agreement::parse(&agreement.to_file()).unwrap(), agreement);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_panics(text in "(?s).{0,400}", toml in "([a-z_]{1,9} = ([0-9.\"\\[\\]{}]{0,9}|\\[\\[member\\]\\])\n){0,9}") {
        prop_assert!(Agreement::parse(&text).is_err());
        prop_assert!(parse_members(&text, false).is_err() && parse_members(&toml, true).is_err());
        let file = format!("{toml}{MARKER}\n");
        prop_assert!(Agreement::parse(&file).is_err());
    }

    #[test]
    fn a_changed_byte_is_never_the_same_agreement(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let good = signed(3);
        let mut bytes = good.to_file().into_bytes();
        let at = at.index(bytes.len());
        let changed = if cut { bytes.truncate(at); true } else { let old = bytes[at]; bytes[at] = byte; old != byte };
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        match Agreement::parse(&text) {
            // Only whole signatures may be missing from the end.
            Ok(read) => {
                prop_assert_eq!(read.hash(), good.hash());
                prop_assert!(!changed || cut && read.signed_by_all().is_err());
            }
            Err(_) => prop_assert!(changed),
        }
    }

    #[test]
    fn any_texts_travel(name in "[^\\p{Cc}]{1,50}", settings in "(?s).{0,200}", weight in 1e-12f64..0.5) {
        let mut terms = terms(2);
        terms.name = name;
        terms.settings = settings;
        terms.weights = vec![vec![(0, 1.0 - weight), (1, weight)], vec![(0, weight), (1, 1.0 - weight)]];
        let agreement = Agreement::write(terms).unwrap();
        prop_assert_eq!(Agreement::parse(&agreement.to_file()).unwrap(), agreement);
    }
}
