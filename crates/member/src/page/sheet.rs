//! What the page shows, in the three forms in which it is served.

/// What the page shows. Fill it in through the lock that it is shared by; texts need no escaping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    pub title: String,
    /// Names and values, in the order in which they are shown.
    pub rows: Vec<(String, String)>,
    /// The same as one JSON object, served as it is.
    pub status: String,
    /// The metrics. Samples of one name share the first one's help and kind.
    pub samples: Vec<Sample>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// May go up and down.
    Gauge,
    /// Only goes up while the process runs; its name ends in `_total`.
    Counter,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric's name, such as `prdo_round`: letters, digits and `_`. Anything else becomes `_`.
    pub name: String,
    /// What the metric is, in a line.
    pub help: String,
    pub kind: Measure,
    /// What tells this value from the metric's others, such as (`neighbour`, its name).
    pub labels: Vec<(String, String)>,
    pub value: f64,
}

impl Sample {
    /// A value that may go up and down, without labels.
    pub fn gauge(name: &str, help: &str, value: f64) -> Self {
        Self { name: name.to_owned(), help: help.to_owned(), kind: Measure::Gauge, labels: Vec::new(), value }
    }

    /// A value that only goes up, without labels.
    pub fn counter(name: &str, help: &str, value: f64) -> Self {
        Self { kind: Measure::Counter, ..Self::gauge(name, help, value) }
    }

    pub fn with(mut self, label: &str, value: &str) -> Self {
        self.labels.push((label.to_owned(), value.to_owned()));
        self
    }
}

impl Sheet {
    pub(super) fn html(&self) -> String {
        let title = html(&self.title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"5\">\
             <title>{title}</title><style>body{{font:16px sans-serif;margin:2em}}td,th{{padding:.2em 1.5em .2em 0;\
             text-align:left;font-weight:normal;vertical-align:top}}th{{color:#555}}</style></head>\n\
             <body><h1>{title}</h1>\n<table>\n"
        );
        for (name, value) in &self.rows {
            page += &format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html(name), html(value));
        }
        page + "</table>\n</body></html>\n"
    }

    /// The metrics in Prometheus' text format.
    pub(super) fn metrics(&self) -> String {
        let mut text = String::new();
        let mut done: Vec<String> = Vec::new();
        for first in &self.samples {
            let name = identifier(&first.name);
            if done.contains(&name) {
                continue;
            }
            let kind = if first.kind == Measure::Counter { "counter" } else { "gauge" };
            let help = first.help.replace('\\', "\\\\").replace('\n', "\\n");
            text += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
            for sample in self.samples.iter().filter(|sample| identifier(&sample.name) == name) {
                text += &format!("{name}{} {}\n", labels(&sample.labels), number(sample.value));
            }
            done.push(name);
        }
        text
    }
}

/// A name that Prometheus takes.
fn identifier(name: &str) -> String {
    let part = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = name.chars().map(part).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

fn labels(labels: &[(String, String)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<_> =
        labels.iter().map(|(name, value)| format!("{}=\"{}\"", identifier(name), escape(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        _ => value.to_string(),
    }
}

fn html(text: &str) -> String {
    prdo_report::escape(text).replace('\'', "&#39;")
}
