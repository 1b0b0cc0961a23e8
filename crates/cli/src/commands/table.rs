//! Tables in plain text.

use crate::progress::say;

/// Numbers to the right.
pub fn print_table<T: AsRef<str>>(head: &[T], rows: &[Vec<String>]) {
    table_lines(head, rows).iter().for_each(|line| say(line));
}

pub fn table_lines<T: AsRef<str>>(head: &[T], rows: &[Vec<String>]) -> Vec<String> {
    let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|row| Some(row.get(k)?.chars().count()));
        cells.chain([head[k].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut text = String::new();
        for (k, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[k].saturating_sub(cell.chars().count()));
            if k == 0 { text += &format!("{cell}{pad}") } else { text += &format!("  {pad}{cell}") }
        }
        text.trim_end().to_string()
    };
    let cells = rows.iter().map(|row| row.iter().map(String::as_str).collect());
    std::iter::once(head.clone()).chain(cells).map(line).collect()
}
