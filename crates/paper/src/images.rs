//! The sets of images that experiments train on, and where they are.

use super::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    Cifar10,
    FashionMnist,
    Mnist,
    /// The bundled digits of 8×8 pixels: the same machinery in seconds.
    Digits,
}

impl Data {
    pub const ALL: [Self; 4] = [Self::Cifar10, Self::FashionMnist, Self::Mnist, Self::Digits];
    /// Those of the frontier.
    pub const REAL: [Self; 3] = [Self::Cifar10, Self::FashionMnist, Self::Mnist];

    /// The name in results, on the command line and for `prdo data get`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cifar10 => "cifar10",
            Self::FashionMnist => "fashion-mnist",
            Self::Mnist => "mnist",
            Self::Digits => "digits",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Cifar10 => "CIFAR-10",
            Self::FashionMnist => "Fashion-MNIST",
            Self::Mnist => "MNIST",
            Self::Digits => "the bundled digits",
        }
    }

    /// Its folder as `prdo data get` names it, and a file in it; nothing for what is bundled.
    pub fn place(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Cifar10 => Some(("cifar-10-batches-bin", "data_batch_1.bin")),
            Self::FashionMnist => Some(("fashion-mnist", "train-images-idx3-ubyte")),
            Self::Mnist => Some(("mnist", "train-images-idx3-ubyte")),
            Self::Digits => None,
        }
    }

    /// The first of these folders that holds it, as an absolute path; an empty one for what is bundled. `option` is the
    /// one that names them.
    pub fn find(self, looked: Vec<PathBuf>, option: &'static str) -> Result<PathBuf, Error> {
        let Some((folder, file)) = self.place() else { return Ok(PathBuf::new()) };
        let Some(found) = looked.iter().find(|folder| folder.join(file).is_file()) else {
            return Err(Error::NoData {
                title: self.title(),
                name: self.name(),
                file,
                looked,
                option,
                folder,
            });
        };
        std::path::absolute(found).map_err(|error| Error::Path { option, path: found.clone(), error })
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
