//! What goes to stderr while work is done: a bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
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
        let template = format!("{{bar:28}} {{pos}}/{{len}} {unit}  {{rate}}  {{eta}} left  {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let _ = write!(text, "{:.0}/s", state.per_sec());
            };
            bar.set_style(style.with_key("rate", rate).progress_chars("━╸ "));
        }
        Self { bar, plain: !terminal, last_line: Instant::now(), total }
    }

    /// Where work stands, and what to show beside it.
    pub fn at(&mut self, position: u64, message: impl FnOnce() -> String) {
        if !self.plain {
            self.bar.set_position(position);
            self.bar.set_message(message());
        } else if self.last_line.elapsed() >= PLAIN_LINE_EVERY {
            self.last_line = Instant::now();
            tell(&format!("{position}/{} {}", self.total, message()));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
