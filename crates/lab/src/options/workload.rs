//! The workload and its parameters, as the tables of the workloads say.

use super::values::{nanoseconds, whole};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::Error as ClapError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::{Domain, Param, Value, Venue, Workload};
use std::convert::Infallible;
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
    let of = |owner: &Workload| Some((owner.name(), written(param, &owner.get(param.name)?)));
    let each: Vec<(&str, String)> = owners.iter().filter_map(of).collect();
    if let [(_, first), others @ ..] = &each[..]
        && others.iter().all(|(_, it)| it == first)
    {
        return first.clone();
    }
    each.iter().map(|(name, value)| format!("`{name}` {value}")).collect::<Vec<_>>().join(", ")
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
    let number = |it: u64| Value::Number(it as f64);
    let whole = move |typed: &str| whole::<u64>(typed).map(number);
    let arg = Arg::new(param.name)
        .long(param.name.replace('_', "-"))
        .help(format!("{} [default: {}]", param.help, defaults(param, owners)))
        .help_heading(heading)
        .hide_possible_values(true)
        .action(clap::ArgAction::Append);
    let many = |value_name| arg.clone().value_name(value_name).value_delimiter(',');
    let switch =
        |value_name| arg.clone().value_name(value_name).num_args(0..=1).default_missing_value("on");
    match param.limits {
        Domain::Whole(..) => many("N,...").value_parser(whole),
        Domain::Percent => many("PERCENT,...").value_parser(whole),
        Domain::Time(..) => {
            many("TIME,...").value_parser(move |typed: &str| nanoseconds(typed).map(number))
        }
        Domain::Truth => {
            let truth = |typed: String| Value::Truth(typed == "on");
            switch("on|off").value_parser(PossibleValuesParser::new(["on", "off"]).map(truth))
        }
        Domain::OnlyTime(only_ns) => {
            switch("TIME").value_parser(move |typed: &str| only_time(typed, only_ns))
        }
        Domain::Choice(words) => {
            arg.value_name("NAME").value_parser(PossibleValuesParser::new(words).map(Value::Text))
        }
        Domain::Word(_) => {
            let word = |typed: &str| Ok::<_, Infallible>(Value::Text(typed.trim().into()));
            arg.value_name("WORD").allow_hyphen_values(true).value_parser(word)
        }
    }
}

fn augmented(command: Command, workloads: &[Workload]) -> Command {
    command.args(params(workloads).iter().map(|(param, owners)| argument(param, owners)))
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
                augmented(command, $workloads)
            }
            fn augment_args_for_update(command: Command) -> Command {
                augmented(command, $workloads)
            }
        }
        impl FromArgMatches for $Args {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
                Ok($wrap(read(matches, $workloads)))
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}
reads!(WorkloadArgs, Workload::ALL, |args| args);
reads!(StarveArgs, &starve(), StarveArgs);

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
                    if workload.facts_mut().set(param.name, value) {
                        return Ok(workload);
                    }
                    let (flag, such) = (param.flag(), param.must_be());
                    Err(Error::usage(format!("{flag} cannot be `{value}`: write {such}")))
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
    let owners = params(Workload::ALL).into_iter().find(|(param, _)| param.name == typed.name);
    let owner = owners.and_then(|(_, owners)| Some(owners.first()?.name())).unwrap_or_default();
    Error::usage(format!(
        "{} is a parameter of the workload `{owner}`, not of `{}`: leave it out, or add --workload {owner}",
        typed.flag(),
        workload.name()
    ))
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
        for (param, owners) in params(Workload::ALL) {
            assert!(help.contains(&param.flag()), "{}", param.name);
            assert!(!defaults(param, &owners).is_empty(), "{}", param.name);
        }
    }
}
