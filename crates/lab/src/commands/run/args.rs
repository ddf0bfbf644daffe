//! The arguments of `run`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// How waiters of mutexes get them: default, fair (an unlock gives the mutex
    /// to a thread that sleeps), cna (those of one NUMA node after another)
    /// [default: $LOCKWRIGHT_POLICY, else default]
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// When the program ends, say on standard error which locks it used
    #[arg(long)]
    pub verbose: bool,
    /// Do not run it: say if it can profit
    #[arg(long)]
    pub check: bool,
    /// liblockwright-pthread.so, as `cargo xtask install` makes it [default:
    /// $LOCKWRIGHT_LIBRARY, else ../lib next to this program]
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}
