//! `prdo node key`: a node's identity.

use crate::cli::node::KeyArgs;
use crate::commands::Failure;
use crate::progress::{say, tell};
use prdo_peer::identity::Identity;
use serde_json::json;

pub fn run(args: &KeyArgs) -> Result<(), Failure> {
    let shown = args.file.display();
    let identity = if args.show { Identity::read(&args.file)? } else { Identity::create(&args.file)? };
    let public = identity.public().to_string();
    if args.json {
        let object = json!({ "public_key": public, "file": shown.to_string(), "created": !args.show });
        say(&object.to_string());
        return Ok(());
    }
    if !args.show {
        tell(&format!("the private key is in {shown}: keep it secret; the public key is"));
    }
    say(&public);
    Ok(())
}
