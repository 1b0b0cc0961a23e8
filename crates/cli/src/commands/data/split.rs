//! `prdo data split`: one file per node, so that organisations can rehearse with files of their own.

mod by_column;

use super::{format, load, publish, wrong};
use crate::cli::data::{PartitionKind, ReadArgs, SplitArgs};
use crate::commands::{Failure, work};
use crate::progress::say;
use prdo::data::{Dataset, Feature, Loaded, Partition, class_table, csv, digits, npz, split_records};
use prdo::disk::write_atomically;
use prdo::plot::{Figure, Heat};
use prdo::store::names;
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn run(args: &SplitArgs) -> Result<(), Failure> {
    check(args)?;
    let nodes = match (args.nodes, &args.read.node) {
        (Some(nodes), _) => nodes,
        (None, Some(column)) => return by_column::split(args, column),
        (None, None) => return Err(Failure::Input("--nodes is missing: it says how many files".into())),
    };
    let bundled = args.read.path.as_os_str() == "digits" && !args.read.path.exists();
    let loaded = if bundled { Loaded::Numbers(digits()) } else { loaded(&args.read)? };
    match loaded {
        Loaded::Numbers(data) => split(args, nodes, data),
        Loaded::Images(data) => split(args, nodes, data),
    }
}

fn loaded(read: &ReadArgs) -> Result<Loaded, Failure> {
    load(read, format(read)?, Vec::new()).map_err(wrong)
}

/// Refuses what can be refused before a file is read.
fn check(args: &SplitArgs) -> Result<(), Failure> {
    let refuse = |flag: &str, kind: &str| {
        Err(Failure::Input(format!("{flag} is only for --partition {kind}: omit it")))
    };
    if args.concentration.is_some() && args.partition != PartitionKind::Dirichlet {
        return refuse("--concentration", "dirichlet");
    }
    if args.shards.is_some() && args.partition != PartitionKind::Shards {
        return refuse("--shards", "shards");
    }
    let taken = |mut entries: std::fs::ReadDir| entries.next().is_some();
    if args.out.exists() && std::fs::read_dir(&args.out).map_or(true, taken) {
        let shown = args.out.display();
        return Err(Failure::Input(format!("--out {shown} is not an empty folder: choose another")));
    }
    Ok(())
}

fn split<F: Feature>(args: &SplitArgs, nodes: usize, data: Dataset<F>) -> Result<(), Failure> {
    let [train, validation, _] =
        split_records(data.table.len(), args.validation, 0, args.seed).map_err(wrong)?;
    let set_aside = (!validation.is_empty()).then(|| data.select(&validation));
    let data = data.into_selected(&train);
    let partition = match args.partition {
        PartitionKind::Iid => Partition::iid(&data.table, nodes, args.seed),
        PartitionKind::Dirichlet => {
            Partition::dirichlet(&data.table, nodes, args.concentration.unwrap_or(0.5), args.seed)
        }
        PartitionKind::Shards => Partition::shards(&data.table, nodes, args.shards.unwrap_or(2), args.seed),
    };
    let partition = partition.map_err(wrong)?;
    let classes = Classes::of(&data, &partition);

    let digits = nodes.saturating_sub(1).to_string().len();
    whole(&args.out, |folder| {
        for (node, records) in partition.assignment.iter().enumerate() {
            write(&folder.join(format!("node-{node:0digits$}.npz")), &data.select(records))?;
        }
        if let Some(records) = &set_aside {
            write(&folder.join("validation.npz"), records)?;
        }
        classes.write(folder)
    })?;
    tell(args, &partition, set_aside.map_or(0, |records| records.table.len()));
    Ok(())
}

/// Makes the folder `out`, with what `write` puts into it: all of it or nothing.
fn whole(out: &Path, write: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(work("cannot make the folder for --out"))?;
    let temporary = tempfile::Builder::new().prefix(".prdo-").tempdir_in(parent);
    let temporary = temporary.map_err(work("cannot write beside --out"))?;
    write(temporary.path())?;
    let finished: PathBuf = temporary.keep();
    if let Err(error) = publish(&finished, out) {
        let _ = std::fs::remove_dir_all(&finished);
        return Err(work("cannot put --out in place")(error));
    }
    Ok(())
}

fn write<F: Feature>(path: &Path, data: &Dataset<F>) -> Result<(), Failure> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    npz::write(&mut bytes, data).map_err(work("cannot pack the records"))?;
    Ok(write_atomically(path, bytes.get_ref())?)
}

fn tell(args: &SplitArgs, partition: &Partition, validation: usize) {
    let sizes: Vec<usize> = partition.assignment.iter().map(Vec::len).collect();
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let out = args.out.display();
    if args.json {
        let object = json!({
            "out": args.out, "nodes": sizes.len(), "records": sizes, "validation": validation, "seed": args.seed,
        });
        return say(&object.to_string());
    }
    let aside = if validation > 0 { format!("; {validation} in validation.npz") } else { String::new() };
    let each = if least == most { most.to_string() } else { format!("{least} to {most}") };
    say(&format!("{out}: {} nodes with {each} records each{aside}", sizes.len()));
    say(&format!("who holds what: {out}/classes.csv and {out}/classes.svg"));
}

struct Classes {
    names: Vec<String>,
    counts: Vec<Vec<u64>>,
}

impl Classes {
    fn of<F: Feature>(data: &Dataset<F>, partition: &Partition) -> Self {
        let labels = data.table.labels();
        let mut distinct = labels.to_vec();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let named =
            |label: f64| data.class_names.as_ref().and_then(|names| names.get(label as usize).cloned());
        let names = distinct.iter().map(|label| named(*label).unwrap_or_else(|| label.to_string())).collect();
        let counts = class_table(labels, &partition.assignment);
        let counts = counts.into_iter().map(|node| node.into_iter().map(|c| c as u64).collect()).collect();
        Self { names, counts }
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let head = std::iter::once("node".to_string()).chain(self.names.iter().cloned()).collect();
        let row = |(node, counts): (usize, &Vec<u64>)| -> Vec<String> {
            std::iter::once(node.to_string()).chain(counts.iter().map(u64::to_string)).collect()
        };
        let lines = std::iter::once(head).chain(self.counts.iter().enumerate().map(row));
        write_atomically(&folder.join(names::CLASSES), csv::text_of(lines).as_bytes())?;
        let heat = Heat::new("Records of each class at each node", self.counts.clone());
        let figure = Figure::of(heat.column_labels(self.names.clone()));
        Ok(write_atomically(&folder.join(names::CLASSES_FIGURE), figure.to_svg().as_bytes())?)
    }
}
