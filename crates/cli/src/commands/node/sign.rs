//! `prdo node sign`: adds signatures to an agreement.

use super::{read_agreement, sign, summary};
use crate::cli::node::SignArgs;
use crate::commands::Failure;
use crate::progress::tell;
use prdo::disk::write_atomically;
use prdo_member::agreed::agreed;
use prdo_peer::identity::Identity;

pub fn run(args: &SignArgs) -> Result<(), Failure> {
    let identity = Identity::read(&args.key)?;
    let mut agreement = read_agreement(&args.file)?;
    // Nobody should sign what no node would run.
    let (_, planned) = agreed(&agreement)?;
    for path in &args.with {
        let other = read_agreement(path)?;
        let (mine, shown) = (args.file.display(), path.display());
        let both = |e| Failure::Input(format!("{mine} and {shown} cannot be merged: {e}"));
        for member in agreement.merge(&other).map_err(both)? {
            let name = agreement.terms().members.get(member).map_or("", |m| &m.name);
            tell(&format!("{shown} has the signature of {name}"));
        }
    }
    let member = sign(&mut agreement, &args.file, &args.key, &identity)?;
    write_atomically(&args.file, agreement.to_file().as_bytes())?;
    let name = agreement.terms().members.get(member).map_or("", |m| &m.name);
    tell(&format!("signed as {name}, member {member}"));
    summary::show(&args.file, &agreement, &planned, args.json)
}
