//! Partitions use every record once, balance as they say, and skew classes as asked.

use proptest::prelude::*;

use crate::{DataError, Dataset, Partition, Table, class_table};

fn table(labels: Vec<f64>) -> Table {
    Table::new(1, (0..labels.len()).map(|r| r as f64).collect(), labels).unwrap()
}

/// `records` records of `classes` classes, in turn.
fn classes(records: usize, classes: usize) -> Table {
    table((0..records).map(|r| (r % classes) as f64).collect())
}

/// Every record is held exactly once, ascending, and sizes differ by at most `apart`.
fn is_whole(partition: &Partition, records: usize, nodes: usize, apart: usize) {
    assert_eq!(partition.assignment.len(), nodes);
    assert!(partition.assignment.iter().all(|held| held.is_sorted()));
    let mut all = partition.assignment.concat();
    all.sort_unstable();
    assert_eq!(all, (0..records as u32).collect::<Vec<_>>());
    let sizes = || partition.assignment.iter().map(Vec::len);
    assert!(sizes().min() > Some(0));
    assert!(sizes().max().unwrap() - sizes().min().unwrap() <= apart);
}

/// The mean over nodes of the total variation distance from a node's class proportions to the overall ones.
fn skew(table: &Table, partition: &Partition) -> f64 {
    let counts = class_table(table.labels(), &partition.assignment);
    let overall: Vec<f64> = (0..counts[0].len())
        .map(|k| counts.iter().map(|node| node[k]).sum::<usize>() as f64 / table.len() as f64)
        .collect();
    let distance = |node: &Vec<usize>| {
        let size = node.iter().sum::<usize>() as f64;
        node.iter().zip(&overall).map(|(c, p)| (*c as f64 / size - p).abs()).sum::<f64>() / 2.0
    };
    counts.iter().map(distance).sum::<f64>() / counts.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_record_exactly_once(
        labels in proptest::collection::vec(-2i32..4, 1..150),
        nodes in 1usize..20,
        shards in 1usize..4,
        concentration in prop_oneof![1e-320f64..1e-300, 1e-3f64..1.0, 1.0f64..1e6, Just(f64::MAX)],
        seed: u64,
    ) {
        let records = labels.len();
        let table = table(labels.into_iter().map(f64::from).collect());
        prop_assume!(nodes <= records);
        is_whole(&Partition::iid(&table, nodes, seed).unwrap(), records, nodes, 1);
        let dirichlet = Partition::dirichlet(&table, nodes, concentration, seed).unwrap();
        is_whole(&dirichlet, records, nodes, 1);
        prop_assert_eq!(&dirichlet, &Partition::dirichlet(&table, nodes, concentration, seed).unwrap());
        match Partition::shards(&table, nodes, shards, seed) {
            Ok(partition) => is_whole(&partition, records, nodes, shards),
            Err(error) => prop_assert!(nodes * shards > records, "{}", error),
        }
        let tables = dirichlet.clone().into_tables(table.clone());
        for (held, node) in dirichlet.assignment.iter().zip(&tables) {
            prop_assert_eq!(node, &table.select(held));
        }
    }
}

#[test]
fn classes_skew_more_as_the_concentration_falls() {
    let table = classes(20_000, 10);
    let at = |c: f64| {
        let one = |seed| skew(&table, &Partition::dirichlet(&table, 20, c, seed).unwrap());
        (0..5).map(one).sum::<f64>() / 5.0
    };
    let skews: Vec<f64> = [1e9, 100.0, 10.0, 1.0, 0.3, 0.1].into_iter().map(at).collect();
    assert!(skews.is_sorted(), "{skews:?}");
    assert!(skews[0] < 0.05 && skews[5] > 0.6, "{skews:?}");
    // Below that, what is scarce is not skew but records: nodes that drew the same class must share it out.
    assert!(at(1e-12) > 0.6);
    assert!(skew(&table, &Partition::iid(&table, 20, 7).unwrap()) < 0.05);
}

#[test]
fn proportions_follow_the_dirichlet_law() {
    // E[p²] = (c + 1) / (K (K c + 1)) for one of K proportions.
    let (k, c) = (3usize, 0.5);
    let mut stream = prdo_privacy::Secret::from_seed(1).stream(prdo_privacy::Purpose::Partition, 0, 0);
    let mut second = 0.0;
    let draws = 20_000;
    for _ in 0..draws {
        let logs = crate::partition::log_proportions(k, c, &mut stream).unwrap();
        let total: f64 = logs.iter().map(|l| l.exp()).sum();
        second += (logs[0].exp() / total).powi(2) / f64::from(draws);
    }
    let law = (c + 1.0) / (k as f64 * (k as f64 * c + 1.0));
    assert!((second - law).abs() < 0.01, "{second} {law}");
}

#[test]
fn tiny_concentrations_give_nodes_one_class_each() {
    // As many nodes as classes and balanced classes: most nodes keep to the class they drew.
    let table = classes(1000, 10);
    for c in [1e-3, 1e-30, 1e-300, 5e-324] {
        let partition = Partition::dirichlet(&table, 10, c, 1).unwrap();
        let counts = class_table(table.labels(), &partition.assignment);
        let held = |node: &Vec<usize>| node.iter().filter(|count| **count > 0).count();
        assert!(counts.iter().map(held).sum::<usize>() <= 40, "{counts:?}");
    }
}

#[test]
fn shards_hold_few_classes() {
    let table = classes(1000, 10);
    let partition = Partition::shards(&table, 20, 2, 3).unwrap();
    is_whole(&partition, 1000, 20, 0);
    for node in class_table(table.labels(), &partition.assignment) {
        assert!(node.iter().filter(|count| **count > 0).count() <= 2);
    }
    assert_ne!(partition, Partition::shards(&table, 20, 2, 4).unwrap());
}

#[test]
fn the_node_column_decides() {
    let mut data = Dataset::from(classes(5, 2));
    assert!(matches!(Partition::by_node(&data, None), Err(DataError::NoNodeColumn)));
    data.node = Some(vec![2, 0, 1, 0, 2]);
    let partition = Partition::by_node(&data, None).unwrap();
    assert_eq!(partition.assignment, [vec![1, 3], vec![2], vec![0, 4]]);
    assert_eq!(partition, Partition::by_node(&data, Some(3)).unwrap());
    let said = |nodes| Partition::by_node(&data, Some(nodes)).unwrap_err().to_string();
    assert_eq!(said(2), "record 0: node 2; allowed: 0..2");
    assert_eq!(said(4), "node 3 of 0..4 has no records");
    assert!(said(6).starts_with("6 nodes"));
    data.node = Some(vec![u32::MAX; 5]);
    assert!(Partition::by_node(&data, None).is_err());
}

#[test]
fn refusals_name_the_argument() {
    let table = classes(5, 2);
    let said = |result: Result<Partition, DataError>| result.unwrap_err().to_string();
    assert!(said(Partition::iid(&table, 0, 0)).starts_with("nodes = 0"));
    assert!(said(Partition::iid(&table, 6, 0)).starts_with("6 nodes"));
    assert!(said(Partition::shards(&table, 2, 0, 0)).starts_with("shards per node = 0"));
    assert!(said(Partition::shards(&table, 2, 3, 0)).contains("cannot share 5 records"));
    assert!(said(Partition::shards(&table, usize::MAX, 2, 0)).contains("cannot share 5 records"));
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(said(Partition::dirichlet(&table, 2, c, 0)).starts_with("concentration = "));
    }
    let continuous = self::table((0..20_000).map(f64::from).collect());
    assert!(said(Partition::dirichlet(&continuous, 10_000, 1.0, 0)).starts_with("different labels = 20000"));
}

#[test]
fn minus_zero_is_zero() {
    let table = table(vec![0.0, -0.0, 1.0, -0.0]);
    assert_eq!(class_table(table.labels(), &[vec![0, 1, 2, 3]]), [[3, 1]]);
}

/// CIFAR-10's training part over ten nodes, as in the paper: 4500 records each, whatever the labels' order.
#[test]
fn dirichlet_gives_each_of_ten_nodes_4500_of_45000() {
    let images =
        Table::new(1, vec![0u8; 45_000], (0..45_000).map(|r| f64::from(r / 4500)).collect()).unwrap();
    for seed in 0..3 {
        let partition = Partition::dirichlet(&images, 10, 0.1, seed).unwrap();
        is_whole(&partition, 45_000, 10, 0);
        let counts = class_table(images.labels(), &partition.assignment);
        assert!(counts.iter().all(|node| node.iter().sum::<usize>() == 4500));
        // Far from equal shares of 450: most nodes hold mostly a few classes.
        assert!(counts.iter().flatten().filter(|count| **count < 45).count() > 30, "{counts:?}");
    }
}
