use super::cell::rms_percent;
use super::*;
use crate::records::Folder;
use crate::tables::{SimulatedTable, TableDepth};
use lockwright_parts::Part;
use lockwright_sim::StartState;

fn x5_4() -> (Machine, &'static FitPlan) {
    let plan = FitPlan::of("x5-4").expect("there is a plan");
    (Machine::builtin("x5-4").expect("it is built in"), plan)
}

fn shallow(table: &SimulatedTable) -> TableDepth {
    let fixed_work = if table.full.units > 0 { 40 } else { 0 };
    let window_us = if table.full.units > 0 { 1_000_000 } else { 40 };
    let starts: &[StartState] =
        if table.full.starts.is_empty() { &[] } else { &[StartState::Running] };
    TableDepth { seeds: 1, starts, warmup_us: 10, window_us, units: fixed_work }
}

/// Next to nothing, for tests of what surrounds the search.
fn hasty() -> FitEffort {
    FitEffort {
        places: 2,
        descents: 1,
        steps: 1,
        tolerance_percent: 1_000.0,
        search: shallow,
        judged: shallow,
    }
}

fn fit(folder: Option<&Folder>) -> Calibrated {
    let (machine, plan) = x5_4();
    match calibrate(&machine, plan, &hasty(), folder, &mut |_| ()) {
        Ok(calibrated) => calibrated,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_calibration_from_a_folder_of_records_is_the_same_and_simulates_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let open = || Folder::open(directory.path(), Part::default()).expect("a folder");
    let folder = open();
    let first = fit(Some(&folder)).calibration.to_toml();
    folder.finish().expect("written");
    let folder = open();
    let lines = || std::fs::read_to_string(folder.own_results()).expect("text").lines().count();
    let before = lines();
    assert!(before > 0 && fit(Some(&folder)).calibration.to_toml() == first);
    assert_eq!(lines(), before);
}

#[test]
fn a_calibration_fits_its_machine_and_says_how_well() {
    let (machine, plan) = x5_4();
    let Calibrated { calibration, rows, spread, .. } = fit(None);
    assert!(machine.with(&calibration).is_ok());
    let text = calibration.to_toml();
    assert_eq!(Calibration::parse("it", &text).map(|read| read.to_toml()), Ok(text));
    assert_eq!(calibration.fits.len(), plan.tables().len(), "one stock column each");
    for fit in &calibration.fits {
        let of_table: Vec<FittedCell> =
            rows.iter().filter(|row| row.table == fit.table).copied().collect();
        assert_eq!(of_table.len(), fit.threads.len());
        assert!((fit.residual_rms_percent - rms_percent(&of_table)).abs() < 0.001);
    }
    // One descent, a fit in each direction of each number of the hardware that has one, and their centre,
    // less the chosen one; none of them twice.
    let most = 1 + 2 * plan.hardware.len();
    let alternatives = &calibration.alternatives;
    assert!((1 + plan.hardware.len()..=most).contains(&alternatives.len()), "{alternatives:?}");
    for (at, one) in alternatives.iter().enumerate() {
        let others = alternatives[..at].iter().map(|other| &other.parameters);
        let mut others = others.chain([&calibration.parameters]);
        assert!(others.all(|other| *other != one.parameters), "{one:?}");
    }
    for ((_, variable), (name, low, high)) in plan.variables().iter().zip(&spread) {
        assert!(name.ends_with(variable.name), "{name}");
        assert!(variable.low <= *low && low <= high && *high <= variable.high, "{name}");
    }
}

#[test]
fn progress_is_told_to_the_end() {
    let (machine, plan) = x5_4();
    let mut told = Vec::new();
    calibrate(&machine, plan, &hasty(), None, &mut |step: FitStep| told.push(step.of))
        .expect("it runs");
    assert!(told.iter().enumerate().all(|(at, &(done, _))| done == at + 1), "{told:?}");
    // Numbers at the end of their range have one direction less.
    let total = told[0].1;
    assert!(told.iter().all(|&(_, of)| of == total), "{told:?}");
    assert!((total - 4 * plan.hardware.len()..=total).contains(&told.len()), "{told:?}");
}

#[test]
fn an_effort_of_nothing_is_refused() {
    let (machine, plan) = x5_4();
    let idle = FitEffort { places: 0, ..hasty() };
    let refusal = calibrate(&machine, plan, &idle, None, &mut |_| ());
    assert!(matches!(refusal, Err(Error::Usage(_))));
}

#[test]
fn nothing_here_can_name_the_type_that_holds_patched_columns() {
    let forbidden = concat!("Publi", "shed");
    let sources = [
        include_str!("mod.rs"),
        include_str!("plan.rs"),
        include_str!("judge.rs"),
        include_str!("search.rs"),
    ];
    for source in sources {
        let code = source.lines().take_while(|line| !line.contains("mod tests"));
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        assert_eq!(code.filter(|line| line.contains(forbidden)).count(), 0);
    }
}

#[test]
fn a_calibration_of_a_guest_is_recorded_column_by_column() {
    let plan = FitPlan::of("broadwell-2s-e5-2620v4").expect("there is a plan");
    let machine = Machine::builtin(plan.machine).expect("it is built in");
    let calibrated = calibrate(&machine, plan, &hasty(), None, &mut |_| ());
    let Calibrated { calibration, rows, .. } = calibrated.expect("it runs");
    assert!(machine.with(&calibration).is_ok());
    let columns: Vec<&str> =
        calibration.fits.iter().flat_map(|fit| &fit.columns).map(String::as_str).collect();
    assert_eq!(columns, ["pvqlock_build_time_s", "unfair_lock_build_time_s"]);
    assert_eq!(rows.len(), 2 * 4);
    for fit in &calibration.fits {
        assert_eq!((&fit.threads[..], &fit.placement[..]), (&[16, 36, 48, 64][..], "guest"));
        assert_eq!(fit.start_state.as_deref(), Some("everybody-running"));
    }
}

/// Holds the built-in calibration to its word with the engine as it is now.
#[test]
fn the_builtin_calibration_meets_its_columns_as_it_says() {
    let (machine, plan) = x5_4();
    let calibration = Calibration::builtin("x5-4").expect("it is built in");
    let judge = Judge::new(&machine, plan, None).expect("there is data");
    let rows = judge.rows(&calibration.parameters, |table| table.full).expect("it runs");
    for recorded in &calibration.fits {
        let of_fit = rows.iter().filter(|row| {
            row.table == recorded.table && recorded.columns.iter().any(|name| name == row.column)
        });
        let residual = rms_percent(&of_fit.copied().collect::<Vec<_>>());
        assert!(
            (residual - recorded.residual_rms_percent).abs() < 0.01,
            "{}: the residual is {residual:.3} % and no longer {} %: calibrate x5-4 again",
            recorded.table,
            recorded.residual_rms_percent
        );
        let most = if recorded.workload == "locktorture" { 10.0 } else { 15.0 };
        assert!(residual < most, "{} is not met: {residual:.1} %", recorded.table);
    }
}
