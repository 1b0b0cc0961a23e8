use super::*;
use prdo_report::http::{AT_ONCE, DEADLINE};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn sheet() -> Sheet {
    Sheet {
        title: "A & <b>B</b>".to_owned(),
        rows: vec![
            ("round".to_owned(), "3 of 10".to_owned()),
            ("\"x\"\n".to_owned(), "'<script>'".to_owned()),
        ],
        status: "{\"round\":3}".to_owned(),
        samples: vec![
            Sample::gauge("prdo_link_up", "Whether a link\nis up \\ down.", 1.0)
                .with("neighbour", "a\"b\\c\nd"),
            Sample::counter("prdo_bytes_total", "Bytes sent.", 1e21),
            Sample::gauge("prdo_link_up", "ignored", 0.0).with("neighbour", "e"),
            Sample::gauge("0 bad-name", "", f64::INFINITY),
            Sample::gauge("nan", "", f64::NAN),
        ],
    }
}

fn page() -> Page {
    Page::open("127.0.0.1:0".parse().unwrap(), Arc::new(Mutex::new(sheet()))).unwrap()
}

/// Sends raw bytes, and all that comes back.
fn ask(page: &Page, request: &str) -> String {
    let mut stream = TcpStream::connect(page.address()).unwrap();
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(page: &Page, path: &str) -> String {
    ask(page, &format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", page.address().port()))
}

fn body(answer: &str) -> &str {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
    body
}

#[test]
fn three_pages_are_there_and_escaped() {
    let page = page();
    let answer = get(&page, "/");
    let shown = body(&answer);
    assert!(shown.contains("<h1>A &amp; &lt;b&gt;B&lt;/b&gt;</h1>"), "{shown}");
    assert!(shown.contains("<td>&#39;&lt;script&gt;&#39;</td>"), "{shown}");
    assert!(answer.contains("default-src 'none'"));
    let metrics = "# HELP prdo_link_up Whether a link\\nis up \\\\ down.\n# TYPE prdo_link_up gauge\n\
        prdo_link_up{neighbour=\"a\\\"b\\\\c\\nd\"} 1\nprdo_link_up{neighbour=\"e\"} 0\n\
        # HELP prdo_bytes_total Bytes sent.\n# TYPE prdo_bytes_total counter\n\
        prdo_bytes_total 1000000000000000000000\n# HELP _0_bad_name \n# TYPE _0_bad_name gauge\n_0_bad_name +Inf\n\
        # HELP nan \n# TYPE nan gauge\nnan NaN\n";
    assert_eq!(body(&get(&page, "/metrics?name=x")), metrics);
    assert_eq!(body(&get(&page, "/status.json")), "{\"round\":3}");
}

#[test]
fn what_is_shown_follows_the_sheet() {
    let sheet = Arc::new(Mutex::new(Sheet::default()));
    let page = Page::open("[::1]:0".parse().unwrap(), Arc::clone(&sheet)).unwrap();
    assert!(!get(&page, "/").contains("later"));
    sheet.lock().unwrap().title = "later".to_owned();
    assert!(get(&page, "/").contains("<h1>later</h1>"));
}

#[test]
fn everything_else_is_refused() {
    let page = page();
    for (request, status) in [
        ("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
        ("GET / HTTP/1.1\r\nhost:  127.0.0.1:80\r\n\r\n", "200"),
        ("GET / HTTP/1.0\r\nHOST: [::1]\r\n\r\n", "200"),
        ("GET / HTTP/1.1\r\nHost: LocalHost:1\r\n\r\n", "200"),
        ("GET / HTTP/1.1\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: attacker.example\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: localhost.attacker.example:80\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:80:90\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\n\r\n", "403"),
        ("GET / HTTP/2\r\nHost: localhost\r\n\r\n", "400"),
        ("GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        ("\r\n\r\n", "400"),
        ("\u{fffd}\0\r\n\r\n", "400"),
    ] {
        let answer = ask(&page, request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
    }
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "y".repeat(8200));
    assert!(!ask(&page, &long).contains("200 OK"));
}

#[test]
fn slow_and_many_callers_do_not_last() {
    let page = page();
    let start = Instant::now();
    // Silent callers occupy the page, one more is dropped, and after two seconds it is free again.
    let silent: Vec<_> = (0..AT_ONCE).map(|_| TcpStream::connect(page.address()).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(get(&page, "/"), "");
    let mut dripping = silent;
    while start.elapsed() < DEADLINE + Duration::from_millis(300) {
        for stream in &mut dripping {
            let _ = stream.write_all(b"G");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    body(&get(&page, "/"));
    let address = page.address();
    drop(page);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn addresses_that_others_reach_are_refused() {
    let sheet = || Arc::new(Mutex::new(Sheet::default()));
    for address in ["0.0.0.0:0", "[::]:0", "192.168.1.1:9464", "[::ffff:127.0.0.1]:0"] {
        let address = address.parse().unwrap();
        assert_eq!(Page::open(address, sheet()).err(), Some(PageError(ServerError::NotLoopback { address })));
    }
    let page = page();
    let address = page.address();
    assert_eq!(Page::open(address, sheet()).err(), Some(PageError(ServerError::PortTaken { address })));
}
