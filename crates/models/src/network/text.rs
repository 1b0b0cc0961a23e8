//! Layers as run files write them: `conv 32 5x5 stride 2 padding 0`, `max-pool 2`, `dense 10`.

use super::Layer;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    #[error("unknown layer {word:?}; expected one of {}{}", Layer::WORDS.join(", "), instead(word))]
    Unknown { word: String },
    /// Normalisation over a batch.
    #[error(
        "batch normalisation is not possible here: a record's gradient would depend on the other records of its \
         batch, so clipping it would not bound one record's influence; use group-norm"
    )]
    BatchNorm,
    /// A known layer with something missing, too much, or not a number.
    #[error("{text:?} {problem}; it is written {usage:?}")]
    Malformed { text: String, problem: String, usage: &'static str },
}

/// What to do where another library has a layer for it.
fn instead(word: &str) -> &'static str {
    match word.to_ascii_lowercase().as_str() {
        "flatten" => " (dense takes an image as one vector: leave it out)",
        "softmax" | "log-softmax" | "logsoftmax" => {
            " (the loss is that of a softmax: end with dense CLASSES)"
        }
        _ => "",
    }
}

impl Layer {
    /// The words that layers begin with.
    pub const WORDS: &[&str] = &["conv", "max-pool", "average-pool", "group-norm", "dense", "tanh", "relu"];
}

impl fmt::Display for Layer {
    /// As run files write it, without what is the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Layer::Conv { out, kernel, stride, padding } => {
                write!(f, "conv {out}")?;
                option(f, kernel != DEFAULT_KERNEL, format_args!("{kernel}x{kernel}"))?;
                option(f, stride != 1, format_args!("stride {stride}"))?;
                option(f, padding != same_padding(kernel), format_args!("padding {padding}"))
            }
            Layer::MaxPool { size, stride } => {
                write!(f, "max-pool {size}")?;
                option(f, stride != size, format_args!("stride {stride}"))
            }
            Layer::AveragePool { size, stride } => {
                write!(f, "average-pool {size}")?;
                option(f, stride != size, format_args!("stride {stride}"))
            }
            Layer::Dense { out } => write!(f, "dense {out}"),
            Layer::Tanh => f.write_str("tanh"),
            Layer::Relu => f.write_str("relu"),
            Layer::GroupNorm { groups } => write!(f, "group-norm {groups}"),
        }
    }
}

fn option(f: &mut fmt::Formatter<'_>, given: bool, text: fmt::Arguments<'_>) -> fmt::Result {
    if given { write!(f, " {text}") } else { Ok(()) }
}

const DEFAULT_KERNEL: usize = 3;

/// The padding that keeps an image's size at stride 1.
fn same_padding(kernel: usize) -> usize {
    kernel.saturating_sub(1) / 2
}

impl FromStr for Layer {
    type Err = LayerError;

    fn from_str(text: &str) -> Result<Self, LayerError> {
        let letters = text.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphabetic(), "");
        if letters.starts_with("batchnorm") || letters == "bn" {
            return Err(LayerError::BatchNorm);
        }
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default();
        let usage = match word {
            "conv" => "conv CHANNELS [3x3] [stride 1] [padding 1]",
            "max-pool" => "max-pool SIZE [stride SIZE]",
            "average-pool" => "average-pool SIZE [stride SIZE]",
            "dense" => "dense VALUES",
            "group-norm" => "group-norm GROUPS",
            "tanh" => "tanh",
            "relu" => "relu",
            _ => return Err(LayerError::Unknown { word: word.to_string() }),
        };
        let layer = parse(word, &words.collect::<Vec<_>>());
        layer.map_err(|problem| LayerError::Malformed { text: text.to_string(), problem, usage })
    }
}

/// The layer that begins with `word`, which is known, and goes on with these words.
fn parse(word: &str, rest: &[&str]) -> Result<Layer, String> {
    if let "tanh" | "relu" = word {
        Options::read(rest, &[])?;
        return Ok(if word == "tanh" { Layer::Tanh } else { Layer::Relu });
    }
    let (first, rest) = rest.split_first().ok_or("needs a number")?;
    let number = whole(first)?;
    Ok(match word {
        "conv" => {
            let options = Options::read(rest, &["kernel", "stride", "padding"])?;
            let kernel = options.kernel.unwrap_or(DEFAULT_KERNEL);
            let padding = options.padding.unwrap_or(same_padding(kernel));
            Layer::Conv { out: number, kernel, stride: options.stride.unwrap_or(1), padding }
        }
        "max-pool" | "average-pool" => {
            let stride = Options::read(rest, &["stride"])?.stride.unwrap_or(number);
            match word {
                "max-pool" => Layer::MaxPool { size: number, stride },
                _ => Layer::AveragePool { size: number, stride },
            }
        }
        "dense" => Options::read(rest, &[]).map(|_| Layer::Dense { out: number })?,
        _ => Options::read(rest, &[]).map(|_| Layer::GroupNorm { groups: number })?,
    })
}

/// What may follow a layer's number.
#[derive(Default)]
struct Options {
    kernel: Option<usize>,
    stride: Option<usize>,
    padding: Option<usize>,
}

impl Options {
    /// Reads `5x5`, `stride 2` and `padding 0`, those of them that are allowed, in any order, each once at most.
    fn read(words: &[&str], allowed: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let sides = word.split_once('x').filter(|(a, b)| whole(a).is_ok() && whole(b).is_ok());
            let name = if sides.is_some() { "kernel" } else { word };
            if !allowed.contains(&name) {
                return Err(format!("has {word:?} in it, which it cannot have"));
            }
            let value = match sides {
                Some((height, width)) if height != width => {
                    return Err("has a kernel that is not square".into());
                }
                Some((height, _)) => whole(height)?,
                None => whole(words.next().ok_or(format!("needs a number after {word:?}"))?)?,
            };
            let slot = match name {
                "kernel" => &mut options.kernel,
                "stride" => &mut options.stride,
                _ => &mut options.padding,
            };
            if slot.replace(value).is_some() {
                return Err(format!("gives its {name} twice"));
            }
        }
        Ok(options)
    }
}

fn whole(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(number),
        _ => Err(format!("has {text:?} where a whole number is needed")),
    }
}
