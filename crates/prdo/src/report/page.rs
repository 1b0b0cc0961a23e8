//! The frame of a report: one HTML file that needs nothing else.

use crate::plot::{Figure, Theme};
use std::fmt::Write;

/// A page being written.
pub struct Page {
    title: String,
    body: String,
}

const STYLE: &str = "
:root { color-scheme: light dark; --ground: #ffffff; --text: #1d232b; --soft: #5b6673; --line: #d9dee5; --card: #f5f7fa; --mark: #0b6e4f; --warn: #9a4a00; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --text: #e6eaef; --soft: #9aa7b5; --line: #2e3742; --card: #1c222a; --mark: #58c99b; --warn: #f0a35e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
p.lead { font-size: 1.1rem; margin: .2rem 0 1rem; }
.soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .7rem; margin: 1rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; }
.card b { display: block; font-size: 1.35rem; line-height: 1.3; }
.card span { color: var(--soft); font-size: .88rem; }
.note { border-left: 4px solid var(--mark); background: var(--card); padding: .6rem .9rem; margin: .8rem 0; border-radius: 0 .4rem .4rem 0; }
.warn { border-left-color: var(--warn); }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; display: block; margin: 0 auto; }
.plot-back { fill: var(--ground); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; min-width: 50%; }
table { font-size: .86rem; }
th, td { text-align: right; padding: .3rem .45rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { color: var(--soft); font-weight: 600; font-size: .88rem; }
tr.best td { font-weight: 650; color: var(--mark); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem; overflow-x: auto; font-size: .86rem; line-height: 1.45; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--soft); }
@media print { body { background: white; color: black; } details > * { display: block; } }
";

impl Page {
    /// A page with its headline.
    pub fn new(title: &str, lead: &str) -> Self {
        let mut page = Self { title: title.to_string(), body: String::new() };
        page.add(&format!(
            "<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
            escape(title),
            escape(lead).replace('\n', "<br>")
        ));
        page
    }

    /// HTML that is known to be well formed.
    pub fn add(&mut self, html: &str) {
        self.body.push_str(html);
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// A note; `warning` gives it the colour of warnings.
    pub fn note(&mut self, text: &str, warning: bool) {
        let class = if warning { "note warn" } else { "note" };
        let _ = writeln!(self.body, "<div class=\"{class}\">{}</div>", escape(text));
    }

    /// Figures at a glance: value and caption.
    pub fn cards(&mut self, cards: &[(String, &str)]) {
        self.body.push_str("<div class=\"cards\">");
        for (value, caption) in cards {
            let (value, caption) = (escape(value), escape(caption));
            let _ = write!(self.body, "<div class=\"card\"><b>{value}</b><span>{caption}</span></div>");
        }
        self.body.push_str("</div>\n");
    }

    /// A figure, drawn to follow the page's light or dark ground.
    pub fn figure(&mut self, figure: Figure) {
        let svg = figure.theme(Theme::Page).to_svg();
        let svg = svg.find("<svg").map_or(svg.as_str(), |start| &svg[start..]);
        let _ = writeln!(self.body, "<figure>{svg}</figure>");
    }

    /// Text as it stands, such as a run file or a command.
    pub fn code(&mut self, text: &str) {
        let _ = writeln!(self.body, "<pre>{}</pre>", escape(text.trim_end()));
    }

    /// The whole file.
    pub fn finish(self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{}\n\
             <p class=\"soft\">Made by prdo {}.</p>\n</main>\n</body>\n</html>\n",
            escape(&self.title),
            self.body,
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// Text made safe for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table; the rows numbered in `best` are marked.
pub fn table(head: &[&str], rows: &[Vec<String>], best: &[usize]) -> String {
    let cells = |tag: &str, row: &mut dyn Iterator<Item = String>| {
        row.map(|cell| format!("<{tag}>{}</{tag}>", escape(&cell))).collect::<String>()
    };
    let mut html = format!(
        "<div class=\"scroll\"><table>\n<tr>{}</tr>\n",
        cells("th", &mut head.iter().map(|h| h.to_string()))
    );
    for (number, row) in rows.iter().enumerate() {
        let class = if best.contains(&number) { " class=\"best\"" } else { "" };
        let _ = writeln!(html, "<tr{class}>{}</tr>", cells("td", &mut row.iter().cloned()));
    }
    html + "</table></div>\n"
}
