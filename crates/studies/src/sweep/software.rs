//! What the software of workloads takes on a machine, as a question sets it.

use crate::sweep::question::{Ranges, Settled, combined, swept};
use crate::sweep::reader::TomlSection;
use lockwright_measure::error::Error;
use lockwright_measure::workload::params::TIME_MAX_NS;

impl Ranges {
    /// The keys of each `[machine.software.WORKLOAD]`; `run` are the workloads of the question.
    pub(crate) fn software(
        &mut self,
        machine: &TomlSection<'_>,
        run: &[String],
    ) -> Result<Vec<Settled>, Error> {
        let Some(software) = machine.find("software") else { return Ok(vec![Vec::new()]) };
        let software = software
            .section("must be a section: write [machine.software.locktorture] above its keys")?;
        let mut axes = Vec::new();
        for entry in software.entries() {
            let with_parts = || swept().filter(|it| !it.software_parts().is_empty());
            let workload = with_parts().find(|it| it.name() == entry.key).ok_or_else(|| {
                let known = with_parts().map(|it| it.name()).collect::<Vec<_>>().join(", ");
                entry.refuse(&format!("has no software whose time can be set; these have: {known}"))
            })?;
            if !run.iter().any(|it| it == workload.name()) {
                return Err(entry.refuse("is not a workload of this question: leave it out"));
            }
            let how = format!("must be a section: write [machine.software.{}]", entry.key);
            let section = entry.section(&how)?;
            let parts = workload.software_parts();
            let is_time = |ns| (0.0..=TIME_MAX_NS as f64).contains(&ns);
            let check = |part: &str, ns: f64| match parts.contains(&part) {
                true if is_time(ns) => Ok(()),
                true => Err(format!("must be a time in nanoseconds, from 0 to {TIME_MAX_NS}")),
                false => {
                    let parts = parts.join(", ");
                    Err(format!("is not a part of the software; its parts are {parts}"))
                }
            };
            for part in section.entries() {
                let name = format!("{}.{}", workload.name(), part.key);
                let within = format!("software.{}.", workload.name());
                axes.push((name, self.numbers(part, &within, false, &check)?));
            }
        }
        Ok(combined(&axes))
    }
}
