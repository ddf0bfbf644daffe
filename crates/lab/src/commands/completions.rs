//! `lockwright completions`: completion scripts for shells, as clap's crate makes them.

use crate::commands::lists::client_names;
use crate::machines;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use lockwright_measure::error::Error;
use lockwright_measure::subject::Subject;
use lockwright_measure::workload::Workload;
use lockwright_sheets::print;
use lockwright_studies::tables::TABLES;

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Prints a completion script, in which options that take names complete to them.
pub fn run(args: &CompletionsArgs, command: clap::Command) -> Result<(), Error> {
    let mut command = with_names(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "lockwright", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The command line, in which the names of locks, machines, workloads and tables are values.
fn with_names(mut command: clap::Command) -> clap::Command {
    let named: Vec<(&str, Vec<String>)> = vec![
        ("lock", Subject::all().map(|lock| lock.name().into()).collect()),
        ("on", machines::all().into_iter().map(|machine| machine.name).collect()),
        ("workload", Workload::ALL.iter().map(|workload| workload.name().into()).collect()),
        ("table", TABLES.iter().map(|table| table.name.into()).collect()),
        ("client", client_names().map(String::from).collect()),
    ];
    for subcommand in command.get_subcommands_mut() {
        for (option, names) in &named {
            if subcommand.get_arguments().any(|argument| argument.get_id() == option) {
                let parser = PossibleValuesParser::new(names.clone());
                let inner = std::mem::take(subcommand);
                *subcommand = inner.mut_arg(option, |argument| argument.value_parser(parser));
            }
        }
    }
    command
}
