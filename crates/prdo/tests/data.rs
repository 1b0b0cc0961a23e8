//! `prdo data` as typed: fetching against a server of our own, looking, dealing out; and CIFAR-10 in run files.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Answer, Desk, refused};
use sha2::{Digest, Sha256};
use std::io::Write;

const BATCHES: [&str; 6] = [
    "data_batch_1.bin",
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
    "test_batch.bin",
];

/// A made-up CIFAR-10 file of `records` records: the classes in turn, each with a brightness of its own.
fn batch(file: usize, records: usize) -> Vec<u8> {
    let record = |r: usize| {
        let class = ((r + file) % 10) as u8;
        let pixel = move |p: usize| class * 20 + ((p * 7 + r * 13 + file) % 23) as u8;
        [class].into_iter().chain((0..3072).map(pixel))
    };
    (0..records).flat_map(record).collect()
}

fn files() -> Vec<(String, Vec<u8>)> {
    let name = |name: &str| format!("cifar-10-batches-bin/{name}");
    BATCHES.iter().enumerate().map(|(at, file)| (name(file), batch(at, 20))).collect()
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        // Written straight into the header: the crate itself refuses to write paths that lead outside.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn sums(files: &[(String, Vec<u8>)]) -> String {
    let hex = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    files.iter().map(|(name, bytes)| format!("{}  {name}\n", hex(bytes))).collect()
}

/// A desk with the stand-in's checksums and its archive.
fn desk() -> (Desk, Vec<u8>) {
    let desk = Desk::new();
    desk.write("SUMS", sums(&files()));
    let archive = gz(&tar(&files()));
    desk.write("cifar.tar.gz", &archive);
    (desk, archive)
}

#[track_caller]
fn is_whole(desk: &Desk) {
    for (name, bytes) in files() {
        assert_eq!(desk.bytes(&format!("data/{name}")), bytes, "{name}");
    }
    let beside: Vec<_> =
        std::fs::read_dir(desk.path("data")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside, ["cifar-10-batches-bin"], "something unfinished is left");
}

#[track_caller]
fn failed(answer: &Answer, words: &[&str]) {
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert!(!answer.stderr.contains("panicked"), "{}", answer.stderr);
    words
        .iter()
        .for_each(|word| assert!(answer.stderr.contains(word), "{word:?} is missing in {}", answer.stderr));
}

const LOCAL: &str = "data get cifar10 --checksums SUMS --from";

#[test]
fn local_archives_and_folders() {
    let (desk, archive) = desk();
    let answer = desk.prdo(&format!("{LOCAL} cifar.tar.gz")).done();
    assert!(
        answer.stdout.contains("6 files") && answer.stdout.contains("checksums match"),
        "{}",
        answer.stdout
    );
    is_whole(&desk);
    let before = desk.listing();
    let again = desk.prdo(&format!("{LOCAL} absent.tar.gz")).done();
    assert!(again.stdout.contains("there already"), "{}", again.stdout);
    assert_eq!(desk.listing(), before);
    // What is there is looked at, not believed.
    desk.write("data/cifar-10-batches-bin/data_batch_2.bin", "other");
    refused(&desk, &format!("{LOCAL} cifar.tar.gz"), &["there already", "data_batch_2.bin", "SHA-256"]);
    std::fs::remove_file(desk.path("data/cifar-10-batches-bin/data_batch_2.bin")).unwrap();
    refused(&desk, &format!("{LOCAL} cifar.tar.gz"), &["there already", "data_batch_2.bin is missing"]);

    std::fs::rename(desk.path("data"), desk.path("old")).unwrap();
    desk.write("plain.tar", tar(&files()));
    desk.prdo(&format!("{LOCAL} plain.tar")).done();
    is_whole(&desk);
    std::fs::remove_dir_all(desk.path("data")).unwrap();
    files().iter().for_each(|(name, bytes)| drop(desk.write(&format!("unpacked/{name}"), bytes)));
    desk.prdo(&format!("{LOCAL} unpacked")).done();
    is_whole(&desk);
    desk.prdo(&format!("{LOCAL} unpacked/cifar-10-batches-bin --out data/deep/er")).done();
    assert!(desk.path("data/deep/er/cifar-10-batches-bin/test_batch.bin").is_file());
    assert_eq!(gz(&tar(&files())), archive);
}

#[test]
fn mnist_from_a_folder_of_packed_files() {
    let desk = Desk::new();
    let names = [
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
    ];
    let files: Vec<(String, Vec<u8>)> =
        names.iter().map(|n| (format!("mnist/{n}"), n.repeat(40).into())).collect();
    desk.write("SUMS", sums(&files));
    names.iter().for_each(|n| drop(desk.write(&format!("in/{n}.gz"), gz(n.repeat(40).as_bytes()))));
    desk.prdo("data get mnist --checksums SUMS --from in").done();
    names.iter().for_each(|n| assert_eq!(desk.read(&format!("data/mnist/{n}")), n.repeat(40)));
    desk.write("in/train-labels-idx1-ubyte.gz", &gz(b"x")[..12]);
    refused(
        &desk,
        "data get mnist --checksums SUMS --from in --out d",
        &["train-labels-idx1-ubyte", "unpacked"],
    );
}

#[test]
fn bad_archives_are_refused_and_nothing_is_left() {
    let (desk, archive) = desk();
    let get = |name: &str, bytes: &[u8], words: &[&str]| {
        desk.write(name, bytes);
        refused(&desk, &format!("{LOCAL} {name}"), words);
    };
    get("cut.tar.gz", &archive[..archive.len() / 2], &["cut.tar.gz"]);
    get("tiny.tar.gz", &archive[..5], &["tiny.tar.gz"]);
    get("empty.tar.gz", b"", &["empty.tar.gz", "data_batch_1.bin is missing"]);
    get("text.tar.gz", &b"no archive at all ".repeat(100), &["text.tar.gz", "archive"]);
    let mut damaged = archive.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 50].iter_mut().for_each(|byte| *byte ^= 0x55);
    get("damaged.tar.gz", &damaged, &["damaged.tar.gz"]);

    let changed = |change: &dyn Fn(&mut Vec<(String, Vec<u8>)>)| {
        let mut files = files();
        change(&mut files);
        gz(&tar(&files))
    };
    let wrong = changed(&|files| files[3].1[100] ^= 1);
    get("wrong.tar.gz", &wrong, &["wrong.tar.gz", "data_batch_4.bin", "SHA-256", "wanted"]);
    let fewer = changed(&|files| drop(files.remove(5)));
    get("fewer.tar.gz", &fewer, &["test_batch.bin is missing"]);
    let twice = changed(&|files| files.push(files[0].clone()));
    get("twice.tar.gz", &twice, &["data_batch_1.bin twice"]);
    for path in ["../data_batch_1.bin", "/tmp/data_batch_1.bin", "a/../../b/data_batch_1.bin"] {
        let outside = changed(&|files| files[0].0 = path.to_owned());
        get("outside.tar.gz", &outside, &["outside.tar.gz", path, "leads outside"]);
    }
    let mut link = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    link.append_link(&mut header, "data_batch_1.bin", "/etc/hostname").unwrap();
    get("link.tar", &link.into_inner().unwrap(), &["link", "data_batch_1.bin"]);
}

#[test]
fn bad_arguments() {
    let (desk, _) = desk();
    refused(&desk, "data", &["Usage"]);
    refused(&desk, "data get", &["NAME"]);
    refused(&desk, "data get cifar100", &["cifar100", "cifar10"]);
    refused(&desk, "data get cifar10 --from absent.tar.gz", &["absent.tar.gz", "http://"]);
    // The official sums do not fit a stand-in.
    refused(&desk, "data get cifar10 --from cifar.tar.gz", &["data_batch_1.bin", "cee916563c9f80d8"]);
    refused(&desk, "data get cifar10 --checksums absent --from cifar.tar.gz", &["--checksums absent"]);
    desk.write("BAD", "12  data_batch_1.bin\n");
    refused(&desk, "data get cifar10 --checksums BAD --from cifar.tar.gz", &["BAD, line 1", "64 hex"]);
    desk.write("FEW", sums(&files()[..2]));
    refused(&desk, "data get cifar10 --checksums FEW --from cifar.tar.gz", &["FEW", "data_batch_3.bin"]);
}

#[cfg(feature = "download")]
mod server {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};

    /// What the server does.
    #[derive(Clone, Default)]
    pub struct Habits {
        /// The files it has, by path.
        pub files: Vec<(String, Vec<u8>)>,
        /// Whether it ignores `Range`.
        pub no_ranges: bool,
        /// After how many bytes of its body each answer is cut, as long as there are such numbers.
        pub cuts: Vec<usize>,
        /// Whether it says how long a body is.
        pub no_length: bool,
    }

    /// A server on this machine, and the requests it saw: path and range.
    pub struct Server {
        pub url: String,
        seen: Arc<Mutex<Vec<(String, Option<usize>)>>>,
    }

    impl Server {
        pub fn new(mut habits: Habits) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let seen = Arc::new(Mutex::new(Vec::new()));
            let log = Arc::clone(&seen);
            // Ends with the test's process.
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let _ = answer(stream, &mut habits, &log);
                }
            });
            Self { url, seen }
        }

        pub fn ranges(&self) -> Vec<Option<usize>> {
            self.seen.lock().unwrap().iter().map(|(_, range)| *range).collect()
        }
    }

    fn answer(
        mut stream: TcpStream,
        habits: &mut Habits,
        log: &Mutex<Vec<(String, Option<usize>)>>,
    ) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
        let path = first.split(' ').nth(1).unwrap_or("").to_owned();
        let mut range = None;
        for line in lines {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(start) = line.strip_prefix("range: bytes=") {
                range = start.trim_end_matches('-').parse().ok();
            }
        }
        log.lock().unwrap().push((path.clone(), range));
        let Some((_, bytes)) = habits.files.iter().find(|(name, _)| *name == path) else {
            return stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        let start = if habits.no_ranges { 0 } else { range.unwrap_or(0) };
        if start >= bytes.len() {
            let head = format!("HTTP/1.1 416 No\r\nContent-Range: bytes */{}\r\n", bytes.len());
            return write!(stream, "{head}Content-Length: 0\r\nConnection: close\r\n\r\n");
        }
        let status = if range.is_some() && !habits.no_ranges { "206 Partial Content" } else { "200 OK" };
        let body = &bytes[start..];
        let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
        if !habits.no_length {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        if status.starts_with("206") {
            head += &format!("Content-Range: bytes {start}-{}/{}\r\n", bytes.len() - 1, bytes.len());
        }
        let length = if habits.cuts.is_empty() { body.len() } else { habits.cuts.remove(0).min(body.len()) };
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(&body[..length])
    }
}

#[cfg(feature = "download")]
mod downloads {
    use super::server::{Habits, Server};
    use super::*;

    fn serving(archive: &[u8]) -> Habits {
        Habits { files: vec![("/c.tar.gz".to_owned(), archive.to_vec())], ..Habits::default() }
    }

    /// Without proxies, which would be asked for 127.0.0.1 too.
    fn get(desk: &Desk, server: &Server) -> Answer {
        let mut command = desk.command(&format!("{LOCAL} {}/c.tar.gz", server.url));
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
            .iter()
            .for_each(|name| drop(command.env_remove(name)));
        Answer::of(command.output().unwrap())
    }

    #[test]
    fn a_whole_download() {
        let (desk, archive) = desk();
        let server = Server::new(serving(&archive));
        let answer = get(&desk, &server).done();
        assert!(answer.stderr.contains("fetching http://127.0.0.1"), "{}", answer.stderr);
        is_whole(&desk);
        assert_eq!(server.ranges(), [None]);
        get(&desk, &server).done();
        assert_eq!(server.ranges().len(), 1, "it was there already");
    }

    #[test]
    fn a_cut_connection_is_taken_up_again() {
        let (desk, archive) = desk();
        let server = Server::new(Habits { cuts: vec![1000, 500], ..serving(&archive) });
        get(&desk, &server).done();
        is_whole(&desk);
        assert_eq!(server.ranges(), [None, Some(1000), Some(1500)]);
    }

    #[test]
    fn a_later_command_goes_on_with_what_is_there() {
        let (desk, archive) = desk();
        let server = Server::new(Habits { cuts: vec![1200, 0, 0, 0], ..serving(&archive) });
        failed(&get(&desk, &server), &["1200 bytes are kept", "goes on from there"]);
        assert!(!desk.path("data/cifar-10-batches-bin").exists());
        get(&desk, &server).done();
        is_whole(&desk);
        assert_eq!(server.ranges(), [None, Some(1200), Some(1200), Some(1200), Some(1200)]);
    }

    #[test]
    fn a_download_that_is_all_there_is_not_asked_for_again() {
        let (desk, archive) = desk();
        // Whole but for its last step: killed before it was unpacked.
        let server = Server::new(Habits { cuts: vec![1200, 0, 0, 0], ..serving(&archive) });
        failed(&get(&desk, &server), &["are kept"]);
        let folder = desk.path("data/.cifar-10-batches-bin.partial");
        let part = std::fs::read_dir(folder)
            .unwrap()
            .flatten()
            .find(|e| e.path().extension().is_some_and(|x| x == "part"));
        std::fs::write(part.unwrap().path(), &archive).unwrap();
        get(&desk, &server).done();
        is_whole(&desk);
        assert_eq!(server.ranges().last(), Some(&Some(archive.len())));
    }

    #[test]
    fn a_server_without_ranges_is_asked_for_all_of_it() {
        let (desk, archive) = desk();
        let server = Server::new(Habits { cuts: vec![900], no_ranges: true, ..serving(&archive) });
        get(&desk, &server).done();
        is_whole(&desk);
        assert_eq!(server.ranges(), [None, Some(900)]);
    }

    #[test]
    fn a_server_that_tells_no_length() {
        let (desk, archive) = desk();
        let server = Server::new(Habits { no_length: true, ..serving(&archive) });
        get(&desk, &server).done();
        is_whole(&desk);
        // A cut cannot be seen then; the checksums see it, and the next command starts again.
        let (desk, archive) = super::desk();
        let server = Server::new(Habits { no_length: true, cuts: vec![2000], ..serving(&archive) });
        failed(&get(&desk, &server), &["c.tar.gz"]);
        assert!(!desk.path("data").exists(), "nothing to go on with is kept");
        get(&desk, &server).done();
        is_whole(&desk);
    }

    #[test]
    fn wrong_files_and_no_files() {
        let (desk, _) = desk();
        let mut wrong = files();
        wrong[1].1[5000] ^= 4;
        let server = Server::new(serving(&gz(&tar(&wrong))));
        failed(&get(&desk, &server), &["c.tar.gz", "data_batch_2.bin", "SHA-256"]);
        assert!(!desk.path("data").exists());
        let archive = gz(&tar(&files()));
        let server = Server::new(serving(&archive[..archive.len() - 2000]));
        failed(&get(&desk, &server), &["c.tar.gz"]);
        assert!(!desk.path("data").exists());
        let server = Server::new(Habits::default());
        failed(&get(&desk, &server), &["c.tar.gz", "404"]);
        assert!(!desk.path("data").exists());
        // Nobody there at all.
        let gone = format!("{LOCAL} http://127.0.0.1:1/c.tar.gz");
        let mut command = desk.command(&gone);
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
            .iter()
            .for_each(|name| drop(command.env_remove(name)));
        failed(&Answer::of(command.output().unwrap()), &["127.0.0.1:1", "--from"]);
        assert!(!desk.path("data").exists());
    }

    #[test]
    fn mnist_file_by_file() {
        let desk = Desk::new();
        let names = [
            "train-images-idx3-ubyte",
            "train-labels-idx1-ubyte",
            "t10k-images-idx3-ubyte",
            "t10k-labels-idx1-ubyte",
        ];
        let files: Vec<(String, Vec<u8>)> =
            names.iter().map(|n| (format!("fashion-mnist/{n}"), n.repeat(40).into())).collect();
        desk.write("SUMS", sums(&files));
        let served = names.iter().map(|n| (format!("/f/{n}.gz"), gz(n.repeat(40).as_bytes()))).collect();
        let server = Server::new(Habits { files: served, ..Habits::default() });
        let mut command =
            desk.command(&format!("data get fashion-mnist --checksums SUMS --from {}/f/", server.url));
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
            .iter()
            .for_each(|name| drop(command.env_remove(name)));
        Answer::of(command.output().unwrap()).done();
        names.iter().for_each(|n| assert_eq!(desk.read(&format!("data/fashion-mnist/{n}")), n.repeat(40)));
    }
}

/// A desk with an unpacked stand-in of CIFAR-10.
fn unpacked() -> Desk {
    let desk = Desk::new();
    files().iter().for_each(|(name, bytes)| drop(desk.write(name, bytes)));
    desk
}

#[test]
fn info_of_images_and_of_tables() {
    let desk = unpacked();
    let info = desk.prdo("data info cifar-10-batches-bin --json").json();
    assert_eq!(
        (&info["format"], &info["records"], &info["test_records"]),
        (&"CIFAR-10".into(), &100.into(), &20.into())
    );
    assert_eq!(info["image"]["channels"], 3);
    assert_eq!((info["features"].as_u64(), info["bytes"].as_bool()), (Some(3072), Some(true)));
    assert_eq!((&info["classes"][9]["class"], &info["classes"][9]["records"]), (&"truck".into(), &10.into()));
    assert_eq!(info["nodes"], serde_json::Value::Null);
    let said = desk.prdo("data info cifar-10-batches-bin").done().stdout;
    for words in ["100 records, and 20 to test on", "3 x 32 x 32", "airplane 10", "no node column"] {
        assert!(said.contains(words), "{words:?} is missing in {said}");
    }
    desk.write("t.csv", "a,b,label,node\n1,2,x,0\n3,-4.5,y,1\n5,6,x,1\n");
    let info = desk.prdo("data info t.csv --json").json();
    assert_eq!((info["records"].as_u64(), info["features"].as_u64()), (Some(3), Some(2)));
    assert_eq!((info["feature_min"].as_f64(), info["feature_max"].as_f64()), (Some(-4.5), Some(6.0)));
    assert_eq!(info["node_records"], serde_json::json!([1, 2]));
    assert_eq!(info["classes"][0], serde_json::json!({"class": "x", "records": 2}));
    desk.write("r.csv", "a,y\n1,0.5\n2,1.5\n");
    let said = desk.prdo("data info r.csv").done().stdout;
    assert!(said.contains("labels from 0.5 to 1.5"), "{said}");
    refused(&desk, "data info absent.csv", &["absent.csv"]);
    refused(&desk, "data info .", &["folder without"]);
    refused(&desk, "data info t.csv --format idx", &["t.csv", "IDX"]);
    refused(&desk, "data info t.csv --label z", &["t.csv", "\"z\""]);
    desk.write("cifar-10-batches-bin/data_batch_3.bin", [11; 3073]);
    refused(&desk, "data info cifar-10-batches-bin", &["data_batch_3.bin", "record 0", "11", "0 to 9"]);
    desk.write("cifar-10-batches-bin/data_batch_3.bin", [1; 3000]);
    refused(&desk, "data info cifar-10-batches-bin", &["data_batch_3.bin", "3000 bytes", "3073"]);
    std::fs::remove_file(desk.path("cifar-10-batches-bin/data_batch_3.bin")).unwrap();
    refused(&desk, "data info cifar-10-batches-bin", &["data_batch_3.bin", "missing"]);
}

const SPLIT: &str = "data split cifar-10-batches-bin --partition dirichlet --concentration 0.1 --out shares";

#[test]
fn split_deals_images_out() {
    let desk = unpacked();
    let said = desk.prdo(&format!("{SPLIT} --nodes 8 --validation 20 --json")).json();
    assert_eq!(said["records"], serde_json::json!(vec![10; 8]));
    let mut names: Vec<_> = std::fs::read_dir(desk.path("shares"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let nodes = (0..8).map(|node| format!("node-{node}.npz"));
    let expected: Vec<String> = ["classes.csv", "classes.svg"]
        .map(str::to_owned)
        .into_iter()
        .chain(nodes)
        .chain(["validation.npz".into()])
        .collect();
    assert_eq!(names, expected);
    let mut records = 0;
    let table = desk.read("shares/classes.csv");
    assert!(table.starts_with("node,airplane,automobile,"), "{table}");
    for (node, line) in table.lines().skip(1).enumerate() {
        let counts: Vec<u64> = line.split(',').skip(1).map(|c| c.parse().unwrap()).collect();
        let info = desk.prdo(&format!("data info shares/node-{node}.npz --json")).json();
        assert_eq!(
            (info["records"].as_u64(), info["bytes"].as_bool()),
            (Some(counts.iter().sum()), Some(true))
        );
        assert_eq!(info["image"], serde_json::json!({"channels": 3, "height": 32, "width": 32}));
        records += counts.iter().sum::<u64>();
    }
    assert_eq!(records, 80);
    // The same seed deals the same bytes.
    let first = desk.bytes("shares/node-3.npz");
    std::fs::remove_dir_all(desk.path("shares")).unwrap();
    desk.prdo(&format!("{SPLIT} --nodes 8 --validation 20")).done();
    assert_eq!(desk.bytes("shares/node-3.npz"), first);
    refused(&desk, &format!("{SPLIT} --nodes 8"), &["shares", "not an empty folder"]);
}

#[test]
fn split_refuses_what_cannot_be_dealt_out() {
    let desk = unpacked();
    refused(&desk, &format!("{SPLIT} --nodes 101"), &["101 nodes", "100 records"]);
    refused(&desk, &format!("{SPLIT} --nodes 0"), &["nodes = 0", "1 or more"]);
    refused(&desk, &format!("{SPLIT} --nodes 4 --validation 100"), &["training part", "100 records"]);
    refused(&desk, &format!("{SPLIT} --nodes 90 --validation 20"), &["90 nodes", "80 records"]);
    let split = "data split cifar-10-batches-bin --nodes 4 --out shares";
    refused(
        &desk,
        &format!("{split} --partition dirichlet --concentration 0"),
        &["concentration = 0", "positive"],
    );
    refused(&desk, &format!("{split} --partition dirichlet --concentration nan"), &["concentration = NaN"]);
    refused(&desk, &format!("{split} --partition shards --shards 26"), &["26", "100 records"]);
    refused(&desk, &format!("{split} --partition circles"), &["circles", "dirichlet"]);
    refused(&desk, &format!("{split} --concentration 0.1"), &["--concentration", "--partition dirichlet"]);
    refused(&desk, &format!("{split} --partition iid --shards 2"), &["--shards", "--partition shards"]);
    desk.write("cut.bin", [0; 3072]);
    refused(&desk, "data split cut.bin --nodes 2 --out shares", &["cut.bin", "3072"]);
    desk.write("taken", "");
    refused(
        &desk,
        "data split cifar-10-batches-bin --nodes 4 --out taken",
        &["taken", "not an empty folder"],
    );
}

const RUN: &str = "rounds = 5\n[graph]\nnodes = 4\n[data]\nsource = \"file\"\npath = \"cifar-10-batches-bin\"\n\
    validation = 20\n[partition]\nkind = \"dirichlet\"\nconcentration = 0.1\n[method]\nname = \"ed\"\n\
    step_size = 0.001\n[metrics]\nevery = 5\n";

#[test]
fn a_linear_model_learns_from_cifar10() {
    let desk = unpacked();
    desk.write("run.toml", RUN);
    let summary = desk.prdo("run run.toml --out out --json").json();
    assert_eq!((summary["records"].as_u64(), summary["parameters"].as_u64()), (Some(80), Some(30_730)));
    assert_eq!(
        (&summary["class_names"][0], summary["class_names"].as_array().unwrap().len()),
        (&"airplane".into(), 10)
    );
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.0);
    assert!(summary["validation_accuracy"].as_f64().unwrap() >= 0.0);
    // The same records as numbers that were divided by 255 elsewhere give the same bits.
    desk.write("named.toml", RUN.replace("[data]", "[data]\nformat = \"cifar10\""));
    assert_eq!(desk.prdo("run named.toml --out named --json").json()["loss"], summary["loss"]);
    desk.write("split.toml", RUN.replace("cifar-10-batches-bin", "cifar-10-batches-bin/data_batch_1.bin"));
    refused(&desk, "run split.toml --out other", &["data.test", "20"]);
}

#[test]
fn bad_images_in_run_files() {
    let desk = unpacked();
    let bad = |from: &str, to: &str, words: &[&str]| {
        desk.write("run.toml", RUN.replace(from, to));
        refused(&desk, "run run.toml --out out", words);
    };
    bad("nodes = 4", "nodes = 90", &["90 nodes", "80 records"]);
    bad("validation = 20", "validation = 100", &["data.validation", "100"]);
    bad("[data]", "[data]\nclasses = 5", &["label 5", "0 to 4"]);
    bad("[data]", "[data]\nformat = \"cifar\"", &["data.format", "cifar10"]);
    bad("[data]", "[data]\nwidth = 784", &["width", "784", "3072"]);
    bad("[data]", "[data]\nlabel = \"y\"", &["label", "CIFAR-10"]);
    bad("concentration = 0.1", "concentration = 0.0", &["partition.concentration = 0.0"]);
    bad("[method]", "[model]\nkind = \"logistic\"\n[method]", &["airplane", "needs two", "softmax"]);
    desk.write("t.csv", "a,label\n1,0\n2,1\n");
    bad("[data]", "[data]\ntest_path = \"t.csv\"", &["data.test_path", "1 features", "3072"]);
    desk.write("cifar-10-batches-bin/data_batch_5.bin", [9; 5000]);
    bad("", "", &["data_batch_5.bin", "record 1"]);
}
