//! `prdo node`: real peers.

mod against;
mod capture;
mod check;
mod continues;
mod init;
mod key;
#[cfg(feature = "peers")]
mod links;
mod run;
mod sign;
mod status;
mod summary;
mod watch;

use super::Failure;
use crate::cli::node::{Node, OwnArgs};
use prdo_member::Membership;
use prdo_peer::agreement::{Agreement, AgreementError, LONGEST};
use prdo_peer::identity::{Identity, IdentityError};
use prdo_peer::share_key::{ShareKeyError, ShareSecret};
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;

pub fn run(what: &Node) -> Result<(), Failure> {
    match what {
        Node::Key(args) => key::run(args),
        Node::Init(args) => init::run(args),
        Node::Sign(args) => sign::run(args),
        Node::Check(args) => check::run(args),
        Node::Run(args) => run::run(args),
        Node::Status(args) => status::run(args),
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        Failure::new(!matches!(error, IdentityError::System { .. }), error.to_string())
    }
}

fn in_file(path: &Path) -> impl Fn(AgreementError) -> Failure {
    move |error| match error {
        AgreementError::Random { .. } => Failure::Work(error.to_string()),
        _ => Failure::Input(format!("{}: {error}", path.display())),
    }
}

/// The text of a file that should not be larger than an agreement.
fn read_text(path: &Path) -> Result<String, Failure> {
    let refuse = |what: String| Failure::Input(format!("{}: {what}", path.display()));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| refuse(format!("cannot read it: {e}")))?;
    let read = file.take(LONGEST as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|e| refuse(format!("cannot read it: {e}")))?;
    String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".into()))
}

fn read_agreement(path: &Path) -> Result<Agreement, Failure> {
    Agreement::parse(&read_text(path)?).map_err(in_file(path))
}

/// This member's key, and its seat in the agreement.
fn seat(own: &OwnArgs) -> Result<(Identity, Membership), Failure> {
    let identity = Identity::read(&own.key)?;
    let seat = Membership::of(read_agreement(&own.agreement)?, &own.agreement, &identity)?;
    Ok((identity, seat))
}

/// Signs, where noise is in pairs with the share key that this member made for the agreement, or makes now. A signature that is
/// there is left as it is; its member's number.
fn sign(agreement: &mut Agreement, file: &Path, key: &Path, identity: &Identity) -> Result<usize, Failure> {
    let (member, _) = agreement.member_with(&identity.public()).map_err(in_file(file))?;
    if agreement.signatures().get(member).is_some_and(Option::is_some) {
        return Ok(member);
    }
    let terms = *agreement.hash();
    let share_key = match agreement.terms().share_keys {
        true => Some(ShareSecret::of_agreement(key, &terms).map_err(share_key_failure)?.public()),
        false => None,
    };
    agreement.sign(identity, share_key).map_err(in_file(file))
}

fn share_key_failure(error: ShareKeyError) -> Failure {
    match error {
        ShareKeyError::File(error) => error.into(),
        error => Failure::Input(error.to_string()),
    }
}

fn listen(own: &OwnArgs, seat: &Membership) -> Result<SocketAddr, Failure> {
    let named = own.listen.or(seat.member.addresses.first().copied());
    named.ok_or_else(|| {
        Failure::Input("the agreement has no address of this member: --listen is needed".into())
    })
}
