//! One file over HTTP, resumed after an interruption.

use super::error::{GetError, disk};
use crate::progress::Progress;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{HeaderMap, Response};

/// The most bytes taken from a server; the largest archive of a data set here has 170 million.
const MOST: u64 = 1 << 30;
/// Attempts without a single new byte before giving up.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// Downloads `url` into the file `part`, from where an earlier download left off.
///
/// A broken connection is retried, as long as each attempt brings something. What is there stays in `part`
/// when this fails, so that the next call resumes.
pub fn download(url: &str, part: &Path) -> Result<(), GetError> {
    let open = File::options().create(true).truncate(false).read(true).write(true).open(part);
    let mut file = open.map_err(disk("cannot write", part))?;
    let agent = agent();
    let mut failed = 0;
    loop {
        let before = file.seek(SeekFrom::End(0)).map_err(disk("cannot write", part))?;
        let problem = match attempt(&agent, url, part, &mut file, before)? {
            Attempt::Done => return file.sync_all().map_err(disk("cannot write", part)),
            Attempt::Again => continue,
            Attempt::Cut(problem) => problem,
        };
        let have = file.seek(SeekFrom::End(0)).map_err(disk("cannot write", part))?;
        failed = if have > before { 0 } else { failed + 1 };
        if failed >= ATTEMPTS {
            return Err(GetError::Cut { url: url.to_owned(), problem, have });
        }
        std::thread::sleep(PAUSE);
    }
}

enum Attempt {
    Done,
    /// What was there is not a beginning of the server's file, and is gone: ask for all of it.
    Again,
    Cut(String),
}

fn agent() -> Agent {
    // A server that falls silent runs into the limit on a body's time, and is asked for the rest.
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_recv_body(Some(Duration::from_secs(900)))
        .user_agent(concat!("prdo/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

/// Asks once, for what follows the first `have` bytes.
fn attempt(agent: &Agent, url: &str, part: &Path, file: &mut File, have: u64) -> Result<Attempt, GetError> {
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = match request.call() {
        Ok(response) => response,
        Err(e) => return Ok(Attempt::Cut(e.to_string())),
    };
    let start = match response.status().as_u16() {
        200 => 0,
        206 if range_start(response.headers()) == Some(have) => have,
        // Nothing follows what is there: it is whole, or it is another file.
        416 if have > 0 && range_total(response.headers()) == Some(have) => return Ok(Attempt::Done),
        206 | 416 if have > 0 => {
            file.set_len(0).map_err(disk("cannot write", part))?;
            return Ok(Attempt::Again);
        }
        status => return Err(GetError::Status { url: url.to_owned(), status }),
    };
    // A server that does not know ranges sends everything: start again.
    file.set_len(start).map_err(disk("cannot write", part))?;
    file.seek(SeekFrom::Start(start)).map_err(disk("cannot write", part))?;
    receive(url, part, file, start, response)
}

/// Writes what the server sends to the end of the file.
fn receive(
    url: &str,
    part: &Path,
    file: &mut File,
    start: u64,
    response: Response<ureq::Body>,
) -> Result<Attempt, GetError> {
    let total = length(response.headers()).map(|rest| start.saturating_add(rest));
    if total.is_some_and(|total| total > MOST) {
        return Err(GetError::TooLarge { place: url.to_owned(), limit: MOST });
    }
    let mut progress = Progress::new(total.unwrap_or(0) / MEGABYTE, "MB");
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    let mut have = start;
    let end = loop {
        match body.read(&mut buffer) {
            Ok(0) => break None,
            Ok(count) => {
                file.write_all(&buffer[..count]).map_err(disk("cannot write", part))?;
                have += count as u64;
                progress.at(have / MEGABYTE, String::new);
            }
            Err(e) => break Some(e.to_string()),
        }
        if have > MOST {
            return Err(GetError::TooLarge { place: url.to_owned(), limit: MOST });
        }
    };
    progress.finish();
    Ok(match (end, total) {
        (Some(problem), _) => Attempt::Cut(problem),
        (None, Some(total)) if have < total => {
            Attempt::Cut(format!("the connection ended after {have} of {total} bytes"))
        }
        _ => Attempt::Done,
    })
}

const MEGABYTE: u64 = 1_000_000;

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn length(headers: &HeaderMap) -> Option<u64> {
    header(headers, "content-length")?.trim().parse().ok()
}

/// The start of `Content-Range: bytes 5-9/10`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    header(headers, "content-range")?.strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}

/// The end of `Content-Range: bytes */10`.
fn range_total(headers: &HeaderMap) -> Option<u64> {
    header(headers, "content-range")?.rsplit_once('/')?.1.trim().parse().ok()
}
