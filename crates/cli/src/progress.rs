//! What goes to stderr while work is done: a live view on a terminal, plain lines elsewhere.

mod figures;

pub use figures::{Curve, Figures, Spent};

use console::{Term, measure_text_width, truncate_str};
use figures::{bar, paint};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::sync::{Mutex, PoisonError, mpsc};
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

pub fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| tell(&format!("warning: {warning}")));
}

/// Says what is being done if it takes long, until it is dropped: for work of unknown length.
pub struct Patience {
    done: Option<mpsc::Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl Patience {
    pub fn new(what: &'static str) -> Self {
        const LONG: Duration = Duration::from_secs(2);
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
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(teller) = self.teller.take() {
            let _ = teller.join();
        }
    }
}

/// A bar with rate, time left and the current figures.
pub struct Progress {
    /// Hidden without a terminal.
    bar: ProgressBar,
    color: bool,
    unit: String,
    shown: Instant,
}

/// Without a terminal, a line this often.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);
/// On one, a new view this often.
const VIEW_EVERY: Duration = Duration::from_millis(100);
/// Narrower or lower terminals get one line.
const SMALL: (usize, usize) = (8, 60);
/// Lines are no longer than this: a wide terminal need not be filled, and a narrowed one wraps less.
const WIDEST: usize = 100;
const BAR: usize = 28;

impl Progress {
    pub fn new(total: u64, unit: &str) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let target = if dumb { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { bar, color, unit: unit.to_string(), shown: Instant::now() }
    }

    /// The same for work of which so many steps were done before: they say nothing about the time left.
    pub fn from(self, position: u64) -> Self {
        self.bar.set_position(position);
        self.bar.reset_eta();
        self
    }

    /// Where work stands, and what to show beside it.
    pub fn at(&mut self, position: u64, message: impl FnOnce() -> String) {
        self.show(position, || Figures { text: message(), ..Figures::default() });
    }

    /// Where work stands, with curves and budget beneath where there is room. `figures` is asked only when it is time.
    pub fn show(&mut self, position: u64, figures: impl FnOnce() -> Figures) {
        let every = if self.bar.is_hidden() { PLAIN_LINE_EVERY } else { VIEW_EVERY };
        if self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        self.bar.set_position(position);
        let figures = figures();
        if self.bar.is_hidden() {
            return tell(&format!("{position}/{}  {}{}", self.total(), self.left(), figures.text));
        }
        let (rows, columns) = Term::stderr().size();
        let width = usize::from(columns).saturating_sub(1).clamp(1, WIDEST);
        let lines = match usize::from(rows) < SMALL.0 || usize::from(columns) < SMALL.1 {
            true => vec![self.line_of(position, &figures)],
            false => self.view(position, &figures, width),
        };
        let lines: Vec<_> = lines.iter().map(|line| truncate_str(line.trim_end(), width, "…")).collect();
        self.bar.set_message(lines.join("\n"));
    }

    fn line_of(&self, position: u64, figures: &Figures) -> String {
        let part = 100 * position.min(self.total()) / self.total().max(1);
        let what = figures.short().unwrap_or_else(|| format!("{position}/{} {}", self.total(), self.unit));
        format!("{part} %  {}{what}", self.left())
    }

    fn view(&self, position: u64, figures: &Figures, width: usize) -> Vec<String> {
        let done = position as f64 / self.total().max(1) as f64;
        let bar = paint(self.color, "32", &bar(done, BAR, "━", "╸", "─"));
        let rate = match self.bar.per_sec() {
            rate if rate < 10.0 => format!("{rate:.2}/s"),
            rate => format!("{rate:.0}/s"),
        };
        let mut first = format!("{bar} {position}/{} {}  {rate}  {}", self.total(), self.unit, self.left());
        let mut rest = figures.lines(width, self.color);
        if rest.is_empty() && measure_text_width(&first) + measure_text_width(&figures.text) <= width {
            first.push_str(&figures.text);
        } else if rest.is_empty() && !figures.text.is_empty() {
            rest.push(figures.text.clone());
        }
        std::iter::once(first).chain(rest).collect()
    }

    pub fn line(&mut self, text: &str) {
        if self.bar.is_hidden() { tell(text) } else { self.bar.println(text) }
    }

    fn total(&self) -> u64 {
        self.bar.length().unwrap_or(0)
    }

    /// How long the rest will take, in words; nothing before the first step.
    fn left(&self) -> String {
        match self.bar.eta() {
            Duration::ZERO => String::new(),
            eta => format!("{} left  ", HumanDuration(eta)),
        }
    }

    pub fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A bar that many threads move, a step at a time.
pub struct Counter(Mutex<(Progress, u64)>);

impl Counter {
    pub fn new(total: u64, unit: &str) -> Self {
        Self(Mutex::new((Progress::new(total, unit), 0)))
    }

    pub fn step(&self, what: &str) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, done) = &mut *guard;
        *done += 1;
        progress.at(*done, || what.to_string());
    }
}
