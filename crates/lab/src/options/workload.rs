//! The workload and its parameters, as the tables of the workloads say.

use super::values::{nanoseconds, whole};
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::error::Error as ClapError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::{Domain, Param, Value, Venue, Workload};
use std::time::Duration;

/// Where the help lists parameters that several workloads have.
const SHARED: &str = "Several workloads";

/// Parameters of workloads: those that were typed, each with its values.
#[derive(Clone, Debug, Default)]
pub struct WorkloadArgs {
    given: Vec<(&'static Param, Vec<Value>)>,
}

/// The parameters of `starve`, for a command that has no other workload with parameters.
#[derive(Clone, Debug, Default)]
pub struct StarveArgs(pub WorkloadArgs);

/// Every workload.
fn all() -> Vec<Workload> {
    Workload::ALL.to_vec()
}

/// The one of [`StarveArgs`].
fn starve() -> Vec<Workload> {
    Workload::named(STARVE).into_iter().collect()
}

/// A thread waits next to others.
pub const STARVE: &str = "starve";

/// The parameters of these workloads, each name once, with those that have it.
fn params(workloads: &[Workload]) -> Vec<(&'static Param, Vec<Workload>)> {
    let mut all: Vec<(&'static Param, Vec<Workload>)> = Vec::new();
    for &workload in workloads {
        for param in workload.table() {
            match all.iter_mut().find(|(known, _)| known.name == param.name) {
                Some((_, owners)) => owners.push(workload),
                None => all.push((param, vec![workload])),
            }
        }
    }
    all
}

/// A value of a parameter, as people write it.
pub fn written(param: &Param, value: &Value) -> String {
    match (param.limits, value) {
        (Domain::Time(..), Value::Number(ns)) if *ns > 0.0 => {
            humantime::format_duration(Duration::from_nanos(*ns as u64)).to_string()
        }
        (_, value) => value.to_string(),
    }
}

/// The default of a parameter in each of its workloads, in words.
fn defaults(param: &Param, owners: &[Workload]) -> String {
    let of = |owner: &Workload| owner.get(param.name).map(|value| written(param, &value));
    let each = owners.iter().filter_map(|owner| Some((owner.name(), of(owner)?)));
    let each: Vec<(&str, String)> = each.collect();
    match &each[..] {
        [(_, one)] => one.clone(),
        [(_, first), others @ ..] if others.iter().all(|(_, it)| it == first) => first.clone(),
        several => {
            let told = several.iter().map(|(name, value)| format!("`{name}` {value}"));
            told.collect::<Vec<_>>().join(", ")
        }
    }
}

/// What reads a value.
fn parser(limits: Domain) -> (&'static str, ValueParser) {
    let number = |it: u64| Value::Number(it as f64);
    match limits {
        Domain::Whole(..) => {
            ("N", ValueParser::new(move |typed: &str| whole::<u64>(typed).map(number)))
        }
        Domain::Percent => {
            ("PERCENT", ValueParser::new(move |typed: &str| whole::<u64>(typed).map(number)))
        }
        Domain::Time(..) => {
            ("TIME", ValueParser::new(move |typed: &str| nanoseconds(typed).map(number)))
        }
        Domain::Truth => {
            let truth = |typed: String| Value::Truth(typed == "on");
            ("on|off", PossibleValuesParser::new(["on", "off"]).map(truth).into())
        }
        Domain::OnlyTime(only_ns) => {
            ("TIME", ValueParser::new(move |typed: &str| only_time(typed, only_ns)))
        }
        Domain::Choice(words) => ("NAME", PossibleValuesParser::new(words).map(Value::Text).into()),
        Domain::Word(_) => (
            "WORD",
            ValueParser::new(|typed: &str| Ok::<_, String>(Value::Text(typed.trim().into()))),
        ),
    }
}

/// A time of which only one makes sense, or none.
fn only_time(typed: &str, only_ns: u64) -> Result<Value, String> {
    let only = humantime::format_duration(Duration::from_nanos(only_ns));
    match typed.trim() {
        "on" => Ok(Value::Truth(true)),
        "off" | "0" => Ok(Value::Truth(false)),
        typed => match nanoseconds(typed) {
            Ok(ns) if ns == only_ns && typed.parse::<f64>().is_err() => Ok(Value::Truth(true)),
            _ => Err(format!(
                "in `bench` it is the kernel's: write {only} or off (`torture` takes other times)"
            )),
        },
    }
}

fn argument(param: &'static Param, owners: &[Workload]) -> Arg {
    let heading = match owners {
        [one] => format!("Workload `{}`", one.name()),
        _ => SHARED.into(),
    };
    let (value_name, parser) = parser(param.limits);
    let help = format!("{} [default: {}]", param.help, defaults(param, owners));
    let several = matches!(param.limits, Domain::Whole(..) | Domain::Percent | Domain::Time(..));
    let arg = Arg::new(param.name)
        .long(param.name.replace('_', "-"))
        .value_name(if several { format!("{value_name},...") } else { value_name.into() })
        .value_parser(parser)
        .help(help)
        .help_heading(heading)
        .hide_possible_values(true)
        .allow_hyphen_values(matches!(param.limits, Domain::Word(_)))
        .action(clap::ArgAction::Append);
    match param.limits {
        Domain::Truth | Domain::OnlyTime(_) => arg.num_args(0..=1).default_missing_value("on"),
        _ if several => arg.value_delimiter(','),
        _ => arg,
    }
}

fn augmented(command: Command, workloads: &[Workload]) -> Command {
    params(workloads)
        .iter()
        .fold(command, |command, (param, owners)| command.arg(argument(param, owners)))
}

fn read(matches: &ArgMatches, workloads: &[Workload]) -> WorkloadArgs {
    let given = |(param, _): (&'static Param, _)| {
        let values = matches.get_many::<Value>(param.name)?.cloned().collect();
        Some((param, values))
    };
    WorkloadArgs { given: params(workloads).into_iter().filter_map(given).collect() }
}

/// `clap` reads it with these workloads.
macro_rules! reads {
    ($Args:ty, $workloads:expr, $wrap:expr) => {
        impl Args for $Args {
            fn augment_args(command: Command) -> Command {
                augmented(command, &$workloads)
            }
            fn augment_args_for_update(command: Command) -> Command {
                augmented(command, &$workloads)
            }
        }
        impl FromArgMatches for $Args {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
                Ok($wrap(read(matches, &$workloads)))
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}
reads!(WorkloadArgs, all(), |args| args);
reads!(StarveArgs, starve(), StarveArgs);

impl WorkloadArgs {
    /// The options that were typed.
    pub fn flags(&self) -> impl Iterator<Item = String> {
        self.given.iter().map(|(param, _)| param.flag())
    }
    /// The workload of that name on `machine`, once for each combination of the values that were typed. A parameter of
    /// another workload is an error.
    pub fn workloads(
        &self,
        name: &str,
        machine: &dyn LabMachine,
        is_guest: bool,
    ) -> Result<Vec<Workload>, Error> {
        let usual = Workload::named(name).ok_or_else(|| {
            let names = Workload::ALL.iter().map(|workload| workload.name());
            Error::unknown("workload", name, names, "lockwright workloads")
        })?;
        let mut all = vec![usual];
        for (typed, values) in &self.given {
            let Some(param) = usual.table().iter().find(|param| param.name == typed.name) else {
                return Err(of_another(typed, usual));
            };
            for value in values {
                check(param, value)?;
            }
            let with = |workload: Workload| {
                values.iter().map(move |value| {
                    let mut workload = workload;
                    match workload.facts_mut().set(param.name, value) {
                        true => Ok(workload),
                        false => Err(Error::usage(no_word(param, value))),
                    }
                })
            };
            all = all.into_iter().flat_map(with).collect::<Result<_, _>>()?;
        }
        let given = |name: &str| self.given.iter().any(|(param, _)| param.name == name);
        let fitted_ns = |part: &str| machine.fitted_ns(name, part);
        let is_simulated = machine.is_simulated();
        let place = Venue { is_simulated, is_guest, fitted_ns: &fitted_ns };
        for workload in &mut all {
            workload.facts_mut().settle(&given, Some(place)).map_err(Error::usage)?;
        }
        Ok(all)
    }
}

/// A parameter that this workload does not have.
fn of_another(typed: &Param, workload: Workload) -> Error {
    let owners = params(&all()).into_iter().find(|(param, _)| param.name == typed.name);
    let owner = owners.and_then(|(_, owners)| Some(owners.first()?.name())).unwrap_or_default();
    Error::usage(format!(
        "{} is a parameter of the workload `{owner}`, not of `{}`: leave it out, or add --workload {owner}",
        typed.flag(),
        workload.name()
    ))
}

/// A word that the type of the parameter does not read.
fn no_word(param: &Param, value: &Value) -> String {
    format!("{} cannot be `{value}`: write {}", param.flag(), param.must_be())
}

fn check(param: &Param, value: &Value) -> Result<(), Error> {
    if param.allows(value) {
        return Ok(());
    }
    let (least, most) = match param.limits {
        Domain::Whole(least, most) | Domain::Time(least, most) => (least, most),
        _ => (0, 100),
    };
    let [least, most] = [least, most].map(|it| written(param, &Value::Number(it as f64)));
    Err(Error::usage(format!(
        "{} must be between {least} and {most}, not {}",
        param.flag(),
        written(param, value)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use crate::options;

    fn asked(name: &str, line: &str) -> Result<Vec<String>, String> {
        let args: WorkloadArgs = options::read(line);
        let all = args.workloads(name, &MockMachine::default(), false);
        let all = all.map_err(|error| error.to_string())?;
        Ok(all
            .iter()
            .map(|it| it.described_with(|param| it.get(param.name).into_iter().collect()))
            .collect())
    }

    #[test]
    fn each_combination_of_values_is_a_workload() {
        assert_eq!(
            asked("counter", "--cs-load 1,20 --think-load 3"),
            Ok(vec![
                "counter (--think-load 3)".into(),
                "counter (--cs-load 20 --think-load 3)".into()
            ])
        );
        assert_eq!(
            asked("kbuild", "--lock-count 2"),
            Ok(vec!["kbuild (--lock-count 2 --hot-locks 2)".into()])
        );
        assert_eq!(asked("handoff", ""), Ok(vec!["handoff".into()]));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_name() {
        for (name, line, said) in [
            ("handoff", "--section-ns 2s", "--section-ns must be between 0 and 1s, not 2s"),
            ("aim7", "--lock-count 0", "--lock-count must be between 1 and 64, not 0"),
            ("kbuild", "--lock-count 5000", "--lock-count must be between 1 and 4096, not 5000"),
            (
                "kbuild",
                "--lock-count 2 --hot-locks 3",
                "--hot-locks must be between 1 and 2, the number of locks, not 3",
            ),
            ("counter", "--read-percent 101", "--read-percent must be between 0 and 100, not 101"),
            (
                "counter",
                "--reader-order random",
                "--reader-order is for a mix of reads and writes: add --read-percent with 1 to 99",
            ),
            (
                "lock2",
                "--units 3",
                "--units is a parameter of the workload `kbuild`, not of `lock2`: leave it out, or add --workload kbuild",
            ),
            (
                "conter",
                "",
                "unknown workload `conter`; did you mean `counter`? (`lockwright workloads` lists all)",
            ),
        ] {
            assert_eq!(asked(name, line), Err(said.into()));
        }
    }

    #[test]
    fn the_help_has_each_default() {
        let command = WorkloadArgs::augment_args(Command::new("it"));
        let help = command.clone().render_long_help().to_string();
        for (param, owners) in params(&all()) {
            assert!(help.contains(&param.flag()), "{}", param.name);
            assert!(!defaults(param, &owners).is_empty(), "{}", param.name);
        }
    }
}
