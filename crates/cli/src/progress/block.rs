//! A few lines at the end of a terminal that are drawn again and again in the same place.

use console::{Term, measure_text_width, truncate_str};

/// The lines, wherever the terminal has moved them.
pub struct Block {
    term: Term,
    /// Widths of the lines that stand there.
    drawn: Vec<usize>,
}

impl Block {
    /// Nothing yet, on stderr.
    pub fn new() -> Self {
        Self { term: Term::buffered_stderr(), drawn: Vec::new() }
    }

    /// Rows and columns of the terminal at this moment.
    pub fn size(&self) -> (usize, usize) {
        let (rows, columns) = self.term.size();
        (rows.into(), columns.into())
    }

    /// Puts these lines in the place of those that stand there. What does not fit is cut.
    pub fn draw(&mut self, lines: &[String]) {
        self.take_away();
        let width = self.size().1.saturating_sub(1).max(1);
        for line in lines {
            let line = truncate_str(line.trim_end(), width, "…");
            self.drawn.push(measure_text_width(&line));
            let _ = self.term.write_line(&line);
        }
        let _ = self.term.flush();
    }

    /// A line that stays, above the others.
    pub fn above(&mut self, text: &str) {
        self.take_away();
        let _ = self.term.write_line(text);
        let _ = self.term.flush();
    }

    /// Takes the lines away.
    pub fn clear(&mut self) {
        self.take_away();
        let _ = self.term.flush();
    }

    fn take_away(&mut self) {
        // A terminal that was narrowed since has wrapped the lines.
        let columns = self.size().1.max(1);
        let rows = self.drawn.drain(..).map(|width| width.div_ceil(columns).max(1)).sum();
        let _ = self.term.clear_last_lines(rows);
    }
}
