//! Three members of one agreement with processes of their own on this machine.

use super::Desk;
use prdo_peer::ledger::contents::Contents;
use safetensors::SafeTensors;
use std::fmt::Write;
use std::fs::File;
use std::net::UdpSocket;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

pub const NAMES: [&str; 3] = ["north", "east", "south"];
/// Records of each: different numbers, so that rates differ.
pub const RECORDS: [usize; 3] = [40, 44, 36];
const CLASSES: [&str; 3] = ["red", "green", "blue"];
/// The seed of the simulation that the processes are compared with.
pub const SEED: &str = "5";

/// Settings of a run on `all.csv`; `{…}` are filled in.
pub const SETTINGS: &str = r#"name = "trio"
rounds = {rounds}

[graph]
kind = "ring"

[data]
source = "file"
path = "all.csv"
test = 0

[model]
{model}

[method]
name = "{method}"
step_size = 0.4

[batch]
size = 9

[clip]
gradient = 1.0
difference = 0.1

[privacy]
epsilon = 6.0
delta = 1e-3
"#;

pub struct Trio {
    pub desk: Desk,
    pub ports: [u16; 3],
    pub rounds: u32,
    /// Each member's file, and how many records it has.
    shares: [(String, usize); 3],
}

impl Trio {
    /// Keys, data, run file and an agreement that all have signed.
    pub fn new(method: &str, rounds: u32) -> Self {
        Self::with(method, rounds, "kind = \"softmax\"")
    }

    /// The same with another model.
    pub fn with(method: &str, rounds: u32, model: &str) -> Self {
        Self::changed(method, rounds, |settings| settings.replace("{model}", model))
    }

    /// The same with other settings, which still have `{model}` in them.
    pub fn changed(method: &str, rounds: u32, change: impl FnOnce(String) -> String) -> Self {
        let desk = Desk::new();
        write_data(&desk);
        let settings = SETTINGS.replace("{method}", method).replace("{rounds}", &rounds.to_string());
        desk.write("run.toml", change(settings).replace("{model}", "kind = \"softmax\""));
        let shares = [0, 1, 2].map(|i| (format!("{}.csv", NAMES[i]), RECORDS[i]));
        let trio = Self::with_keys(desk, rounds, shares);
        trio.agree("all.agreement");
        trio
    }

    /// Members with keys and without an agreement, of the desk's `run.toml` of so many rounds, whose data is dealt out by
    /// `prdo data split`.
    pub fn dealt(desk: Desk, rounds: u32, split: &str) -> Self {
        let said = desk.prdo(&format!("data split {split} --nodes 3 --out shares --json")).json();
        let records = |i: usize| said["records"][i].as_u64().unwrap() as usize;
        let shares = [0, 1, 2].map(|i| (format!("shares/node-{i}.npz"), records(i)));
        Self::with_keys(desk, rounds, shares)
    }

    /// The same with files that are there.
    pub fn with_keys(desk: Desk, rounds: u32, shares: [(String, usize); 3]) -> Self {
        for name in NAMES {
            desk.prdo(&format!("node key {name}.key")).done();
        }
        let trio = Self { desk, ports: free_ports(), rounds, shares };
        trio.write_members();
        trio
    }

    /// The file of a member's records.
    pub fn data(&self, name: &str) -> &str {
        let number = NAMES.iter().position(|n| *n == name).unwrap();
        &self.shares[number].0
    }

    fn write_members(&self) {
        let mut text = String::new();
        for ((name, port), (_, records)) in NAMES.iter().zip(self.ports).zip(&self.shares) {
            let key = self.desk.prdo(&format!("node key {name}.key --show")).done().stdout;
            let _ = writeln!(
                text,
                "[[member]]\nname = \"{name}\"\nkey = \"{}\"\naddresses = [\"127.0.0.1:{port}\"]\nrecords = {records}\n",
                key.trim()
            );
        }
        self.desk.write("members.toml", text);
    }

    /// A new agreement of the same members, signed by all.
    pub fn agree(&self, file: &str) {
        self.agree_on(file, "");
    }

    /// The same with more options of `prdo node init`.
    pub fn agree_on(&self, file: &str, options: &str) {
        self.desk.prdo(&format!("node init run.toml --members members.toml --out {file} {options}")).done();
        for name in NAMES {
            self.desk.prdo(&format!("node sign {file} --key {name}.key")).done();
        }
    }

    /// What a member types.
    pub fn typed(&self, name: &str, agreement: &str, home: &str) -> String {
        format!(
            "node run {agreement} --key {name}.key --data {} --home {home} --linger 30 --give-up 60 --json",
            self.data(name)
        )
    }

    /// Starts a process that draws what the simulator draws; what it prints goes to files.
    pub fn spawn(&self, arguments: &str, label: &str) -> Child {
        self.spawn_with(arguments, label, &[("PRDO_TEST_SEED", SEED)])
    }

    /// Starts a process with these settings of its environment: without a seed it draws from the operating system.
    pub fn spawn_with(&self, arguments: &str, label: &str, environment: &[(&str, &str)]) -> Child {
        let file = |end: &str| {
            let path = self.desk.path(&format!("{label}.{end}"));
            Stdio::from(File::options().create(true).append(true).open(path).unwrap())
        };
        let mut command = self.desk.checked(arguments);
        command.envs(environment.iter().copied());
        command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err")).spawn().unwrap()
    }

    pub fn start(&self, name: &str) -> Child {
        self.spawn(&self.typed(name, "all.agreement", name), name)
    }

    /// What a member's process has printed on stderr.
    pub fn told(&self, label: &str) -> String {
        self.desk.read(&format!("{label}.err"))
    }

    /// Waits for a process; its exit code.
    #[track_caller]
    pub fn wait(&self, child: &mut Child, label: &str) -> Option<i32> {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code();
            }
            if Instant::now() > end {
                child.kill().unwrap();
                panic!("{label} does not end: {}", self.told(label));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    pub fn done(&self, child: &mut Child, label: &str) {
        let code = self.wait(child, label);
        assert_eq!(code, Some(0), "{label}: {}", self.told(label));
    }

    pub fn ledger(&self, name: &str) -> Contents {
        let bytes = std::fs::read(self.desk.path(&format!("{}.ledger", self.data(name)))).unwrap_or_default();
        Contents::parse(&bytes).unwrap_or_else(|e| panic!("{name}: {e:?}"))
    }

    /// Rounds that were charged, in all runs.
    pub fn charged(&self, name: &str) -> usize {
        self.ledger(name).runs().iter().map(|run| run.charges.len()).sum()
    }

    /// Waits until a member has charged so many rounds.
    #[track_caller]
    pub fn reach(&self, name: &str, rounds: usize) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.charged(name) < rounds {
            assert!(Instant::now() < end, "{name} does not get to round {rounds}: {}", self.told(name));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs the simulator on the same records, and sees that every member's model is the simulator's to the bit, and
    /// that every ledger has each charge once.
    #[track_caller]
    pub fn same_as_simulated(&self) {
        self.desk.prdo(&format!("run run.toml --out simulated --seed {SEED}")).done();
        let (_, models) = prdo::store::read_models(&self.desk.bytes("simulated/model.safetensors")).unwrap();
        for (number, name) in NAMES.iter().enumerate() {
            let own = self.model(name);
            let bits = |model: &[f64]| model.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&own), bits(&models[number]), "{name}");
            assert!(own.iter().any(|v| *v != 0.0));
            let ledger = self.ledger(name);
            let [run] = ledger.runs() else { panic!("{name} has {} runs", ledger.runs().len()) };
            let rounds = self.rounds as usize;
            assert_eq!((run.charges.len(), run.sent.len(), run.ended), (rounds, rounds, true), "{name}");
        }
    }

    pub fn model(&self, home: &str) -> Vec<f64> {
        let bytes = self.desk.bytes(&format!("{home}/model.safetensors"));
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let data = file.tensor("model").unwrap().data().to_vec();
        data.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
    }
}

/// Ports that nobody has at this moment.
pub fn free_ports() -> [u16; 3] {
    let sockets = [(); 3].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
}

/// `all.csv` with a node column, and each member's share without one. The last member has no record of the class that
/// comes first by name, so that its own numbering would be another.
fn write_data(desk: &Desk) {
    let header = "height,width,depth,label";
    let mut all = format!("{header},node\n");
    let mut state = 99_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
    };
    for (number, (name, records)) in NAMES.iter().zip(RECORDS).enumerate() {
        let mut own = format!("{header}\n");
        for k in 0..records {
            let class = if number == 2 { k % 2 } else { (k + number) % 3 };
            let centre = [(0.5, 0.0), (-0.5, 0.3), (0.0, -0.6)][class];
            let features =
                format!("{:.4},{:.4},{:.4}", centre.0 + 0.4 * draw(), centre.1 + 0.4 * draw(), draw());
            let _ = writeln!(own, "{features},{}", CLASSES[class]);
            let _ = writeln!(all, "{features},{},{number}", CLASSES[class]);
        }
        desk.write(&format!("{name}.csv"), own);
    }
    desk.write("all.csv", all);
}
