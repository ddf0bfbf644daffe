//! The arguments of `locks`.

use crate::options::name;
use clap::Args;
use lockwright_sheets::DocumentArgs;

/// Arguments of `locks`.
#[derive(Clone, Debug, Args)]
pub struct LocksArgs {
    /// One lock only, with its card: what was posted, and the rules that its tests hold it to
    #[arg(value_name = "NAME", value_parser = name)]
    pub name: Option<String>,
    /// The list.
    #[command(flatten)]
    pub list: DocumentArgs,
}
