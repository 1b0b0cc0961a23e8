//! `prdo data get` as typed, from archives, folders and a server of our own.

use crate::common::stand_in::{Files, files, gz, sums, tar};
use crate::common::{Answer, Desk, refused};

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

/// The files of MNIST and of its successors.
const MNIST_FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

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
    assert!(again.stdout.contains("already exists"), "{}", again.stdout);
    assert_eq!(desk.listing(), before);
    // What is there is looked at, not believed.
    desk.write("data/cifar-10-batches-bin/data_batch_2.bin", "other");
    refused(&desk, &format!("{LOCAL} cifar.tar.gz"), &["already exists", "data_batch_2.bin", "SHA-256"]);
    std::fs::remove_file(desk.path("data/cifar-10-batches-bin/data_batch_2.bin")).unwrap();
    refused(&desk, &format!("{LOCAL} cifar.tar.gz"), &["already exists", "data_batch_2.bin is missing"]);

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
fn what_a_killed_process_left_is_in_nobodys_way() {
    let (desk, _) = desk();
    desk.write("data/.cifar-10-batches-bin.partial/unpacked/data_batch_1.bin", "half a fi");
    let lock = desk.write("data/.cifar-10-batches-bin.partial/lock", "");
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    failed(&desk.prdo(&format!("{LOCAL} cifar.tar.gz")), &["in use by another"]);
    assert!(!desk.path("data/cifar-10-batches-bin").exists());
    drop(held);
    desk.prdo(&format!("{LOCAL} cifar.tar.gz")).done();
    is_whole(&desk);
}

#[test]
fn mnist_from_a_folder_of_packed_files() {
    let desk = Desk::new();
    let files: Files = MNIST_FILES.iter().map(|n| (format!("mnist/{n}"), n.repeat(40).into())).collect();
    desk.write("SUMS", sums(&files));
    MNIST_FILES.iter().for_each(|n| drop(desk.write(&format!("in/{n}.gz"), gz(n.repeat(40).as_bytes()))));
    desk.prdo("data get mnist --checksums SUMS --from in").done();
    MNIST_FILES.iter().for_each(|n| assert_eq!(desk.read(&format!("data/mnist/{n}")), n.repeat(40)));
    desk.write("in/train-labels-idx1-ubyte.gz", &gz(b"x")[..12]);
    refused(
        &desk,
        "data get mnist --checksums SUMS --from in --out d",
        &["train-labels-idx1-ubyte", "cannot unpack"],
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

    let changed = |change: &dyn Fn(&mut Files)| {
        let mut files = files();
        change(&mut files);
        gz(&tar(&files))
    };
    let wrong = changed(&|files| files[3].1[100] ^= 1);
    get("wrong.tar.gz", &wrong, &["wrong.tar.gz", "data_batch_4.bin", "SHA-256", "expected"]);
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
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};

    /// What the server does.
    #[derive(Clone, Default)]
    pub struct Habits {
        /// The files it has, by path.
        pub files: super::Files,
        /// Whether it ignores `Range`.
        pub no_ranges: bool,
        /// After how many bytes of its body each answer is cut, as long as there are such numbers.
        pub cuts: Vec<usize>,
        /// Whether it says how long a body is.
        pub no_length: bool,
    }

    /// A server on this machine, and the ranges it was asked for.
    pub struct Server {
        pub url: String,
        seen: Arc<Mutex<Vec<Option<usize>>>>,
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
            self.seen.lock().unwrap().clone()
        }
    }

    fn answer(
        mut stream: TcpStream,
        habits: &mut Habits,
        log: &Mutex<Vec<Option<usize>>>,
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
        log.lock().unwrap().push(range);
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

    fn get(desk: &Desk, server: &Server) -> Answer {
        desk.prdo(&format!("{LOCAL} {}/c.tar.gz", server.url))
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
        failed(&get(&desk, &server), &["1200 bytes are kept", "rerun the command to resume"]);
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
        assert!(!desk.path("data").exists(), "nothing is kept to resume from");
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
        let gone = desk.prdo(&format!("{LOCAL} http://127.0.0.1:1/c.tar.gz"));
        failed(&gone, &["127.0.0.1:1", "--from"]);
        assert!(!desk.path("data").exists());
    }

    #[test]
    fn mnist_file_by_file() {
        let desk = Desk::new();
        let files: Files =
            MNIST_FILES.iter().map(|n| (format!("fashion-mnist/{n}"), n.repeat(40).into())).collect();
        desk.write("SUMS", sums(&files));
        let served =
            MNIST_FILES.iter().map(|n| (format!("/f/{n}.gz"), gz(n.repeat(40).as_bytes()))).collect();
        let server = Server::new(Habits { files: served, ..Habits::default() });
        let get = format!("data get fashion-mnist --checksums SUMS --from {}/f/", server.url);
        desk.prdo(&get).done();
        MNIST_FILES
            .iter()
            .for_each(|n| assert_eq!(desk.read(&format!("data/fashion-mnist/{n}")), n.repeat(40)));
    }
}
