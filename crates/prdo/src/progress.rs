//! What goes to stderr while work is done: a bar on a terminal, plain lines elsewhere.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One line on stderr. A closed pipe is nobody's error.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// One line on stdout. A closed pipe is nobody's error.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A progress bar with rate, time left and the current figures.
pub struct Progress {
    bar: ProgressBar,
    plain: bool,
    last_line: Instant,
    total: u64,
    /// Where and when the work began that this bar shows.
    began: (u64, Instant),
    /// The first of the two, for the bar's own drawing.
    start: Arc<AtomicU64>,
}

/// Without a terminal, a line this often.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    /// A bar of `total` steps.
    pub fn new(total: u64, unit: &str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = format!("{{bar:28}} {{pos}}/{{len}} {unit}  {{rate}}  {{left}}{{msg}}");
        let start = Arc::new(AtomicU64::new(0));
        if let Ok(style) = ProgressStyle::with_template(&template) {
            // Of all the time since the start: pauses are part of how long it takes.
            let from = Arc::clone(&start);
            let rate = move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let done = state.pos().saturating_sub(from.load(Ordering::Relaxed)) as f64;
                let rate = done / state.elapsed().as_secs_f64().max(1e-3);
                let _ = if rate < 10.0 { write!(text, "{rate:.2}/s") } else { write!(text, "{rate:.0}/s") };
            };
            let from = Arc::clone(&start);
            let left = move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let done = state.pos().saturating_sub(from.load(Ordering::Relaxed));
                let _ =
                    write!(text, "{}", time_left(done, total.saturating_sub(state.pos()), state.elapsed()));
            };
            bar.set_style(style.with_key("rate", rate).with_key("left", left).progress_chars("━╸ "));
        }
        let began = (0, Instant::now());
        Self { bar, plain: !terminal, last_line: Instant::now(), total, began, start }
    }

    /// The same for work of which so many steps were done before: they say nothing about the time left.
    pub fn from(mut self, position: u64) -> Self {
        self.bar.set_position(position);
        self.start.store(position, Ordering::Relaxed);
        self.bar.reset_elapsed();
        self.began = (position, Instant::now());
        self
    }

    /// Where work stands, and what to show beside it.
    pub fn at(&mut self, position: u64, message: impl FnOnce() -> String) {
        if !self.plain {
            self.bar.set_position(position);
            self.bar.set_message(message());
        } else if self.last_line.elapsed() >= PLAIN_LINE_EVERY {
            self.last_line = Instant::now();
            tell(&format!("{position}/{}  {}{}", self.total, self.left(position), message()));
        }
    }

    /// A line above the bar.
    pub fn line(&self, text: &str) {
        if self.plain { tell(text) } else { self.bar.println(text) }
    }

    /// How long it will take at the speed so far, in words.
    fn left(&self, position: u64) -> String {
        let done = position.saturating_sub(self.began.0);
        time_left(done, self.total.saturating_sub(position), self.began.1.elapsed())
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
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
