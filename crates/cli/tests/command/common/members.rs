//! Any number of members of one agreement, each with a process of its own.

use super::Desk;
use prdo_peer::ledger::contents::Contents;
use safetensors::SafeTensors;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The seed of the simulation that the processes are compared with.
const SEED: &str = "11";

/// Members m0, m1, … in a ring, with keys, records and an agreement signed by all.
pub struct Members {
    pub desk: Desk,
    pub rounds: usize,
}

impl Members {
    /// `addresses` are where they are reached, in the agreement's words.
    pub fn new(addresses: &[String], rounds: usize) -> Self {
        let all = Self { desk: Desk::new(), rounds };
        let desk = &all.desk;
        let mut members = String::new();
        let mut table = String::from("a,b,label,node\n");
        for (i, address) in addresses.iter().enumerate() {
            let mut own = String::from("a,b,label\n");
            for k in 0..20 {
                let class = (k + i) % 2;
                let (a, b) = ((k * 7 % 13) as f64 / 13.0 - class as f64, (k * 5 % 11) as f64 / 11.0 - 0.5);
                // Nobody's records are another's: those would share a budget.
                let b = b + i as f64 / 1000.0;
                let _ = writeln!(own, "{a:.4},{b:.4},{class}");
                let _ = writeln!(table, "{a:.4},{b:.4},{class},{i}");
            }
            desk.write(&format!("m{i}.csv"), own);
            let made = desk.prdo(&format!("node key m{i}.key --json")).json();
            let key = made["public_key"].as_str().unwrap().to_string();
            let _ = writeln!(
                members,
                "[[member]]\nname = \"m{i}\"\nkey = \"{key}\"\naddresses = [\"{address}\"]\nrecords = 20\n"
            );
        }
        desk.write("all.csv", table);
        desk.write("members.toml", members);
        desk.write(
            "run.toml",
            format!(
                "name = \"many\"\nrounds = {rounds}\n[graph]\nkind = \"ring\"\n[data]\nsource = \"file\"\npath = \"all.csv\"\n\
                 test = 0\n[model]\nkind = \"logistic\"\n[method]\nname = \"prdo\"\nstep_size = 0.2\n[batch]\nsize = 5\n[clip]\n\
                 gradient = 1.0\ndifference = 0.1\n[privacy]\nnoise_multiplier = 4.0\ndelta = 1e-3\naccountant = \"rdp\"\n"
            ),
        );
        desk.prdo("node init run.toml --members members.toml --out all.agreement").done();
        for i in 0..addresses.len() {
            desk.prdo(&format!("node sign all.agreement --key m{i}.key")).done();
        }
        all
    }

    /// Starts member `i`, listening at `listen`; `within` is what the process is started by, if not directly.
    pub fn start(&self, i: usize, listen: &str, within: &[&str]) -> Child {
        let typed = format!(
            "node run all.agreement --key m{i}.key --data m{i}.csv --home m{i} --listen {listen} --linger 60 --json"
        );
        let prdo = self.desk.command(&typed);
        let file = |end: &str| {
            let path = self.desk.path(&format!("m{i}.{end}"));
            Stdio::from(File::options().create(true).append(true).open(path).unwrap())
        };
        let mut command = match within.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(prdo.get_program());
                command
            }
            None => Command::new(prdo.get_program()),
        };
        command.args(prdo.get_args()).current_dir(prdo.get_current_dir().unwrap());
        command.env("PRDO_TEST_SEED", SEED).env("PRDO_TEST_CAPTURE", self.desk.path(&format!("m{i}.sent")));
        command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err")).spawn().unwrap()
    }

    pub fn done(&self, children: &mut [Child], limit: Duration) {
        let end = Instant::now() + limit;
        for (i, child) in children.iter_mut().enumerate() {
            let code = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status.code();
                }
                if Instant::now() > end {
                    child.kill().unwrap();
                    panic!("m{i} does not end: {}", self.desk.read(&format!("m{i}.err")));
                }
                std::thread::sleep(Duration::from_millis(20));
            };
            assert_eq!(code, Some(0), "m{i}: {}", self.desk.read(&format!("m{i}.err")));
        }
    }

    /// The simulator's bits at every member, each charge once, one payload for every exchange.
    pub fn check(&self) {
        self.desk.prdo(&format!("run run.toml --out simulated --seed {SEED}")).done();
        let (_, models) = prdo::store::read_models(&self.desk.bytes("simulated/model.safetensors")).unwrap();
        for (i, reference) in models.iter().enumerate() {
            let bytes = self.desk.bytes(&format!("m{i}/model.safetensors"));
            let file = SafeTensors::deserialize(&bytes).unwrap();
            let own = file.tensor("model").unwrap().data().to_vec();
            assert_eq!(own, reference.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(), "m{i}");
            let ledger = Contents::parse(&self.desk.bytes(&format!("m{i}.csv.ledger"))).unwrap();
            assert_eq!((ledger.runs()[0].charges.len(), ledger.runs()[0].ended), (self.rounds, true), "m{i}");
            let mut sent: BTreeMap<u64, String> = BTreeMap::new();
            for line in self.desk.read(&format!("m{i}.sent")).lines() {
                let [_, exchange, hash] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
                let first = sent.entry(exchange.parse().unwrap()).or_insert_with(|| hash.to_string());
                assert_eq!(first, hash, "m{i} sent exchange {exchange} with two contents");
            }
            assert_eq!(sent.len(), self.rounds, "m{i}");
        }
    }
}
