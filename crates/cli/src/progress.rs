//! What goes to stderr while work is done: a live view on a terminal, plain lines elsewhere.

mod block;
mod figures;

pub use figures::{Curve, Figures, Spent};

use block::Block;
use figures::{bar, paint, plain_width};
use indicatif::HumanDuration;
use std::io::{IsTerminal, Write};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// One line on stderr. A closed pipe is nobody's error.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// One line on stdout. A closed pipe is nobody's error.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Says what is being done if it takes long, and nothing if it does not: for work of unknown length.
pub struct Patience {
    done: Option<mpsc::Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

/// How long nobody wonders.
const LONG: Duration = Duration::from_secs(2);

impl Patience {
    /// Until it is dropped.
    pub fn new(what: &'static str) -> Self {
        let (done, waits) = mpsc::channel();
        let teller = std::thread::spawn(move || {
            if waits.recv_timeout(LONG) == Err(mpsc::RecvTimeoutError::Timeout) {
                tell(what);
            }
        });
        Self { done: Some(done), teller: Some(teller) }
    }
}

impl Drop for Patience {
    /// Nothing is said once the work is done.
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(teller) = self.teller.take() {
            let _ = teller.join();
        }
    }
}

/// A bar with rate, time left and the current figures.
pub struct Progress {
    /// Where it is drawn; nowhere without a terminal.
    block: Option<Block>,
    color: bool,
    unit: String,
    total: u64,
    /// Where and when the work began that this bar shows.
    began: (u64, Instant),
    shown: Instant,
}

/// Without a terminal, a line this often.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);
/// On one, a new view this often.
const VIEW_EVERY: Duration = Duration::from_millis(100);
/// Narrower terminals get one line.
const NARROW: usize = 60;
/// So do lower ones.
const LOW: usize = 8;
/// Lines are no longer than this: a wide terminal need not be filled, and a narrowed one wraps less.
const WIDEST: usize = 100;
/// Cells of the bar.
const BAR: usize = 28;

impl Progress {
    /// A bar of `total` steps.
    pub fn new(total: u64, unit: &str) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        let now = Instant::now();
        Self {
            block: terminal.then(Block::new),
            color: !set("NO_COLOR"),
            unit: unit.to_string(),
            total,
            began: (0, now),
            shown: now,
        }
    }

    /// The same for work of which so many steps were done before: they say nothing about the time left.
    pub fn from(mut self, position: u64) -> Self {
        self.began = (position, Instant::now());
        self
    }

    /// Where work stands, and what to show beside it.
    pub fn at(&mut self, position: u64, message: impl FnOnce() -> String) {
        self.show(position, || Figures { text: message(), ..Figures::default() });
    }

    /// Where work stands, with curves and budget beneath where there is room. `figures` is asked only when it is time.
    pub fn show(&mut self, position: u64, figures: impl FnOnce() -> Figures) {
        let every = if self.block.is_some() { VIEW_EVERY } else { PLAIN_LINE_EVERY };
        if self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let figures = figures();
        let Some((rows, columns)) = self.block.as_ref().map(Block::size) else {
            return tell(&format!("{position}/{}  {}{}", self.total, self.left(position), figures.text));
        };
        let lines = self.view(position, &figures, rows, columns);
        if let Some(block) = &mut self.block {
            block.draw(&lines);
        }
    }

    /// The lines of the view, each within the terminal's width.
    fn view(&self, position: u64, figures: &Figures, rows: usize, columns: usize) -> Vec<String> {
        let width = columns.saturating_sub(1).clamp(1, WIDEST);
        let place = format!("{position}/{} {}", self.total, self.unit);
        if columns < NARROW || rows < LOW {
            let part = 100 * position.min(self.total) / self.total.max(1);
            return vec![format!("{part} %  {}{}", self.left(position), figures.short().unwrap_or(place))];
        }
        let done = position as f64 / self.total.max(1) as f64;
        let bar = paint(self.color, "32", &bar(done, BAR, "━", "╸", "─"));
        let mut first = format!("{bar} {place}  {}  {}", self.rate(position), self.left(position));
        let mut rest = figures.lines(width, self.color);
        if rest.is_empty() && plain_width(&first) + plain_width(&figures.text) <= width {
            first.push_str(&figures.text);
        } else if rest.is_empty() && !figures.text.is_empty() {
            rest.push(figures.text.clone());
        }
        std::iter::once(first).chain(rest).collect()
    }

    /// A line above the view.
    pub fn line(&mut self, text: &str) {
        match &mut self.block {
            Some(block) => block.above(text),
            None => tell(text),
        }
    }

    /// Steps a second, of all the time since the start: pauses are part of how long it takes.
    fn rate(&self, position: u64) -> String {
        let done = position.saturating_sub(self.began.0) as f64;
        let rate = done / self.began.1.elapsed().as_secs_f64().max(1e-3);
        if rate < 10.0 { format!("{rate:.2}/s") } else { format!("{rate:.0}/s") }
    }

    /// How long it will take at the speed so far, in words.
    fn left(&self, position: u64) -> String {
        let done = position.saturating_sub(self.began.0);
        time_left(done, self.total.saturating_sub(position), self.began.1.elapsed())
    }

    /// Takes the view away.
    pub fn finish(&mut self) {
        if let Some(block) = &mut self.block {
            block.clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// How long the steps that are left take at the speed so far, in words; nothing before the first step.
fn time_left(done: u64, left: u64, elapsed: Duration) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() / done as f64 * left as f64;
    format!("{} left  ", HumanDuration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
}
