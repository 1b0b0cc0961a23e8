//! A table of counts as shaded cells: which node holds how much of which class.

use super::area::Area;
use super::canvas::{Canvas, number};
use super::color::Color;
use super::font::{Weight, width};
use super::frame::draw_no_data;
use super::paint::{Anchor, Ink, Paint, Type};
use super::text::{decimal, shorten};

const MAX_ROWS: usize = 40;
const MAX_COLUMNS: usize = 120;
const ROW: f64 = 18.0;
const MAX_CELL: f64 = 64.0;
/// The room above the cells for the names of columns, and below for notes.
const ABOVE: f64 = 38.0;
const BELOW: f64 = 34.0;
/// The widest a column's name gets.
const MAX_NAME: f64 = 90.0;
/// The slant of names that do not fit side by side, in degrees.
const SLANT: f64 = 38.0;
const SIZE: f64 = 10.5;
/// The colour of the largest count.
const SHADE: Color = Color::rgb(0x08, 0x51, 0x9C);

/// Counts by row and column, shaded by their size.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    pub title: String,
    /// The counts, row by row; a short row ends in zeros.
    pub counts: Vec<Vec<u64>>,
    /// The names of rows; without them they are numbered from 0.
    pub row_labels: Vec<String>,
    /// The names of columns; without them they are numbered from 0.
    pub column_labels: Vec<String>,
}

impl Heat {
    /// A table of nodes by classes.
    pub fn new(title: impl Into<String>, counts: Vec<Vec<u64>>) -> Self {
        Self { title: title.into(), counts, ..Self::default() }
    }

    setters! {
        row_labels(labels: Vec<String>) => row_labels = labels;
        column_labels(labels: Vec<String>) => column_labels = labels;
    }

    /// The height that suits the rows at a width.
    pub(super) fn height(&self, width: f64) -> f64 {
        self.grid(&Area::new(0.0, 0.0, width, 1.0)).area.y + ROW * self.row_count().max(1) as f64 + BELOW
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        if self.column_count() == 0 {
            return draw_no_data(canvas, &area.without(8.0, 8.0, 8.0, 8.0));
        }
        let grid = self.grid(area);
        let numbered = self.draw_cells(canvas, &grid);
        draw_lines(canvas, &grid);
        self.draw_row_names(canvas, &grid);
        self.draw_column_names(canvas, &grid);
        self.draw_notes(canvas, &grid, numbered);
    }

    fn row_count(&self) -> usize {
        self.counts.len().min(MAX_ROWS)
    }

    fn column_count(&self) -> usize {
        self.counts.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Where the cells go; names of columns that do not fit side by side are slanted.
    fn grid(&self, area: &Area) -> Grid {
        let (rows, columns) = (self.row_count().max(1), self.column_count().clamp(1, MAX_COLUMNS));
        let room =
            (0..rows).map(|r| text_width(&name(&self.row_labels, r))).fold(0.0, f64::max).min(0.3 * area.w);
        let names = (0..columns).map(|c| text_width(&name(&self.column_labels, c))).fold(0.0, f64::max);
        let names = names.min(MAX_NAME);
        let left = room + 24.0;
        let mut cell = ((area.w - left - 4.0) / columns as f64).min(MAX_CELL);
        let slanted = !self.column_labels.is_empty() && names > cell - 4.0 && cell >= SIZE + 2.0;
        let (mut above, mut right) = (ABOVE, 4.0);
        if slanted {
            above += names * SLANT.to_radians().sin();
            right += (names * SLANT.to_radians().cos() - cell / 2.0).max(0.0);
            cell = ((area.w - left - right) / columns as f64).min(MAX_CELL);
        }
        let row = ((area.h - above - BELOW) / rows as f64).clamp(4.0, 26.0);
        let wide = cell * columns as f64;
        let spare = ((area.w - left - right - wide) / 2.0).max(0.0);
        let area = Area::new(area.x + left + spare, area.y + above, wide, row * rows as f64);
        Grid { area, cell, row, rows, columns, room, names, slanted }
    }

    /// The cells, with their counts if all of them fit; answers whether they do.
    fn draw_cells(&self, canvas: &mut Canvas, grid: &Grid) -> bool {
        let most = self.shown(grid).map(|(_, _, count)| count).max().unwrap_or(0);
        let size = [10.0, 9.0, 8.0, 7.0].into_iter().find(|&size| {
            let fits = width(&decimal(most as f64, 0), size, Weight::Regular) <= grid.cell - 3.0;
            fits && size + 3.0 <= grid.row
        });
        for (r, c, count) in self.shown(grid).filter(|&(_, _, count)| count > 0) {
            let share = count as f64 / most.max(1) as f64;
            let cell = grid.cell_area(r, c);
            canvas.rectangle(&cell, 0.0, Paint::fill(Ink::Of(SHADE), share));
            if let Some(size) = size {
                let ink = if share > 0.68 { Ink::Of(Color::rgb(255, 255, 255)) } else { Ink::Fore };
                let style = Type { ink, ..Type::new(size, Anchor::Middle) };
                let (x, y) = cell.center();
                canvas.text((x, y + 0.36 * size), &decimal(count as f64, 0), style);
            }
        }
        size.is_some()
    }

    /// Row, column and count of every cell that is drawn.
    fn shown(&self, grid: &Grid) -> impl Iterator<Item = (usize, usize, u64)> {
        let columns = grid.columns;
        self.counts
            .iter()
            .take(MAX_ROWS)
            .enumerate()
            .flat_map(move |(r, row)| (0..columns).map(move |c| (r, c, row.get(c).copied().unwrap_or(0))))
    }

    fn draw_row_names(&self, canvas: &mut Canvas, grid: &Grid) {
        for r in (0..grid.rows).step_by(stride(grid.rows, grid.row, SIZE + 2.0)) {
            let text = shorten(&name(&self.row_labels, r), SIZE, Weight::Regular, grid.room);
            let y = grid.area.y + grid.row * (r as f64 + 0.5) + 0.36 * SIZE;
            canvas.text((grid.area.x - 5.0, y), &text, Type::new(SIZE, Anchor::End));
        }
        let at = (grid.area.x - grid.room - 14.0, grid.area.center().1);
        canvas.text(at, "node", Type { turn: -90.0, ..Type::new(12.0, Anchor::Middle) });
    }

    fn draw_column_names(&self, canvas: &mut Canvas, grid: &Grid) {
        let every = if grid.slanted { 1 } else { stride(grid.columns, grid.cell, grid.names + 4.0) };
        let room = if grid.slanted { MAX_NAME } else { grid.cell * every as f64 - 3.0 };
        let style = match grid.slanted {
            true => Type { turn: -SLANT, ..Type::new(SIZE, Anchor::Start) },
            false => Type::new(SIZE, Anchor::Middle),
        };
        for c in (0..grid.columns).step_by(every) {
            let text = shorten(&name(&self.column_labels, c), SIZE, Weight::Regular, room);
            let x = grid.area.x + grid.cell * (c as f64 + 0.5);
            canvas.text((x, grid.area.y - 5.0), &text, style);
        }
        let over = if grid.slanted { grid.names * SLANT.to_radians().sin() } else { 0.0 };
        let at = (grid.area.center().0, grid.area.y - 22.0 - over);
        canvas.text(at, "class", Type::new(12.0, Anchor::Middle));
    }

    /// What was left out, and the scale of shades where there are no numbers.
    fn draw_notes(&self, canvas: &mut Canvas, grid: &Grid, numbered: bool) {
        let columns = self.column_count();
        let mut notes = Vec::new();
        if self.counts.len() > MAX_ROWS {
            notes.push(format!("… and {} more", self.counts.len() - MAX_ROWS));
        }
        if columns > MAX_COLUMNS {
            notes.push(format!("{} further columns not shown", columns - MAX_COLUMNS));
        }
        let y = grid.area.bottom();
        let style = Type { opacity: 0.75, ..Type::new(SIZE, Anchor::Start) };
        canvas.text((grid.area.x, y + 15.0), &notes.join("; "), style);
        if !numbered {
            let most = self.shown(grid).map(|(_, _, count)| count).max().unwrap_or(0);
            let bar = Area::new(grid.area.right() - 130.0, y + 20.0, 100.0, 9.0);
            for k in 0..20 {
                let part = Area::new(bar.x + 5.0 * f64::from(k), bar.y, 5.0, bar.h);
                canvas.rectangle(&part, 0.0, Paint::fill(Ink::Of(SHADE), (f64::from(k) + 0.5) / 20.0));
            }
            canvas.text((bar.x - 5.0, bar.bottom()), "0", Type::new(SIZE, Anchor::End));
            canvas.text(
                (bar.right() + 5.0, bar.bottom()),
                &decimal(most as f64, 0),
                Type::new(SIZE, Anchor::Start),
            );
        }
    }
}

struct Grid {
    area: Area,
    cell: f64,
    row: f64,
    rows: usize,
    columns: usize,
    /// The width of the names of rows.
    room: f64,
    /// The width of the widest name of a column.
    names: f64,
    slanted: bool,
}

impl Grid {
    fn cell_area(&self, row: usize, column: usize) -> Area {
        let (x, y) = (self.area.x + self.cell * column as f64, self.area.y + self.row * row as f64);
        Area::new(x, y, self.cell, self.row)
    }
}

fn draw_lines(canvas: &mut Canvas, grid: &Grid) {
    let area = &grid.area;
    let mut data = String::new();
    for c in 0..=grid.columns {
        let x = number(area.x + grid.cell * c as f64);
        data.push_str(&format!("M{x} {}V{}", number(area.y), number(area.bottom())));
    }
    for r in 0..=grid.rows {
        let y = number(area.y + grid.row * r as f64);
        data.push_str(&format!("M{} {y}H{}", number(area.x), number(area.right())));
    }
    canvas.path(&data, Paint::line(Ink::Fore, 0.5, 0.3).as_one());
}

fn name(labels: &[String], k: usize) -> String {
    labels.get(k).cloned().unwrap_or_else(|| k.to_string())
}

fn text_width(text: &str) -> f64 {
    width(text, SIZE, Weight::Regular)
}

/// Every how many of `count` cells of a size a name of another size fits.
fn stride(count: usize, cell: f64, needed: f64) -> usize {
    let exact = (needed / cell).ceil().clamp(1.0, count.max(1) as f64) as usize;
    [1, 2, 5, 10, 20, 50, 100].into_iter().find(|&nice| nice >= exact).unwrap_or(exact)
}
