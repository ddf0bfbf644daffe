//! A machine with other numbers than its file has.

use super::costs::{Range, SCALARS, SCHEDULER, TRANSFER_REMOTE, Unit};
use super::error::{MachineError, Problem};
use super::load::{CORES_PER_SOCKET, SOCKETS, SOCKETS_PER_NODE, THREADS_PER_CORE};
use super::{Machine, Topology};

/// The number of CPUs, each a core of one socket.
const CPUS: &str = "cpus";

/// The names of what is not one number of a section of a machine file.
const SHAPE: [&str; 6] =
    [CPUS, SOCKETS, CORES_PER_SOCKET, THREADS_PER_CORE, SOCKETS_PER_NODE, TRANSFER_REMOTE];

/// A value that counts something.
fn count(value: f64) -> Result<u32, Problem> {
    let is_whole = value.fract() == 0.0 && (1.0..=f64::from(u16::MAX)).contains(&value);
    let allowed = "a whole number, 1 or more";
    if is_whole { Ok(value as u32) } else { Err(Problem::OutOfRange { value, allowed }) }
}

impl Machine {
    /// The names that [`changed`](Self::changed) takes: the counts of the topology, the costs and the numbers of the
    /// scheduler by their keys in a machine file, and `cpus`, which makes it one socket with that many cores of one
    /// thread. With `sockets` each socket is as far from each other one as the nearest are now. `transfer_remote` is
    /// the time to the nearest other socket, and what is farther keeps its ratio to that.
    pub fn number_names() -> impl Iterator<Item = &'static str> {
        let costs = SCALARS.iter().map(|cost| cost.key);
        SHAPE.into_iter().chain(costs).chain(SCHEDULER.iter().map(|number| number.key))
    }

    /// This machine with other numbers, checked. The name says which they are.
    pub fn changed(&self, numbers: &[(String, f64)]) -> Result<Self, MachineError> {
        let mut changed = self.clone();
        for (key, value) in numbers {
            changed.set(key, *value).map_err(|problem| MachineError {
                file: format!("machine {}", self.name),
                key: key.clone(),
                problem,
            })?;
        }
        if !numbers.is_empty() {
            let all: Vec<_> = numbers.iter().map(|(key, value)| format!("{key}={value}")).collect();
            changed.name = format!("{} with {}", self.name, all.join(" "));
            changed.description = format!("{}, with {}", self.description, all.join(" "));
        }
        changed.validate()?;
        Ok(changed)
    }

    fn set(&mut self, key: &str, value: f64) -> Result<(), Problem> {
        let topology = &mut self.topology;
        match key {
            CPUS => self.becomes_one_socket(count(value)?),
            SOCKETS => self.has_equal_sockets(count(value)?),
            CORES_PER_SOCKET => topology.cores_per_socket = count(value)?,
            THREADS_PER_CORE => topology.threads_per_core = count(value)?,
            SOCKETS_PER_NODE => topology.sockets_per_node = count(value)?,
            TRANSFER_REMOTE => self.has_remote(value)?,
            _ => return self.set_number(key, value),
        }
        Ok(())
    }

    fn becomes_one_socket(&mut self, cpus: u32) {
        self.topology =
            Topology { cores_per_socket: cpus, threads_per_core: 1, ..self.topology.clone() };
        self.has_equal_sockets(1);
    }

    /// A socket alone is a NUMA node. More than one keep the number of sockets for each node.
    fn has_equal_sockets(&mut self, sockets: u32) {
        let topology = &mut self.topology;
        let class = |a, b| u32::from(a != b);
        topology.distance =
            (0..sockets).map(|a| (0..sockets).map(|b| class(a, b)).collect()).collect();
        topology.sockets = sockets;
        if sockets == 1 {
            topology.sockets_per_node = 1;
        }
        self.costs.transfer_remote_ns.truncate(if sockets == 1 { 0 } else { 1 });
    }

    fn has_remote(&mut self, ns: f64) -> Result<(), Problem> {
        Range::Positive.check(ns)?;
        Unit::Ns.check(ns)?;
        let remote = &mut self.costs.transfer_remote_ns;
        match remote.first().copied() {
            Some(nearest) => remote.iter_mut().for_each(|of_class| *of_class *= ns / nearest),
            None if self.topology.sockets > 1 => remote.push(ns),
            None => {
                let why = "is the time to another socket, and the machine has one";
                return Err(Problem::Contradiction(why.into()));
            }
        }
        Ok(())
    }

    /// Sets a number of a section.
    fn set_number(&mut self, key: &str, value: f64) -> Result<(), Problem> {
        if let Some(cost) = SCALARS.iter().find(|cost| cost.key == key) {
            *(cost.slot)(&mut self.costs) = value;
            return Ok(());
        }
        let number = SCHEDULER.iter().find(|number| number.key == key);
        let number = number.ok_or(Problem::UnknownKey)?;
        let scheduler = self.scheduler.as_mut().ok_or(Problem::NoScheduler)?;
        *(number.slot)(scheduler) = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(numbers: &[(&str, f64)]) -> Result<Machine, MachineError> {
        let machine = Machine::builtin("x5-4").expect("it is built in");
        let numbers: Vec<_> = numbers.iter().map(|&(key, value)| (key.into(), value)).collect();
        machine.changed(&numbers)
    }

    #[test]
    fn a_number_replaces_that_of_the_file_and_is_part_of_the_name() {
        let machine = changed(&[("cpus", 8.0), ("pause", 45.0), ("slice", 1e6)]).expect("sound");
        assert_eq!(machine.name, "x5-4 with cpus=8 pause=45 slice=1000000");
        assert_eq!((machine.topology.cpus(), machine.topology.sockets), (8, 1));
        assert_eq!(machine.costs.pause_ns, 45.0);
        assert_eq!(machine.scheduler.map(|scheduler| scheduler.slice_ns), Some(1e6));
        let same = changed(&[]).expect("nothing was changed");
        assert_eq!(same, Machine::builtin("x5-4").expect("it is built in"));
    }

    #[test]
    fn a_number_that_makes_no_sense_is_refused_by_its_name() {
        for (key, value) in
            [("cpus", 0.0), ("cpus", 1.5), ("cpus", 1e3), ("smt", 0.5), ("sockets_per_node", 3.0)]
        {
            let error = changed(&[(key, value)]).expect_err("no sense").to_string();
            assert!(error.contains(if value == 1e3 { "cores" } else { key }), "{error}");
        }
        let two = changed(&[("sockets_per_node", 2.0)]).expect("two nodes of two sockets");
        assert_eq!((two.topology.nodes(), two.topology.node_of(40)), (2, 1));
        let error = changed(&[("pauses", 1.0)]).expect_err("no such key").to_string();
        assert!(error.contains("pauses"), "{error}");
        for name in Machine::number_names() {
            let problem = changed(&[(name, 1.0)]).err().map(|error| error.problem);
            assert_ne!(problem, Some(Problem::UnknownKey), "{name}");
        }
    }

    #[test]
    fn a_machine_gets_another_shape() {
        let eight = [("sockets", 8.0), ("cores_per_socket", 4.0), ("threads_per_core", 1.0)];
        let machine = changed(&[&eight[..], &[("transfer_remote", 90.0)]].concat()).expect("sound");
        assert_eq!((machine.topology.cpus(), machine.topology.nodes()), (32, 8));
        assert_eq!(machine.topology.distance[7], [1, 1, 1, 1, 1, 1, 1, 0]);
        assert_eq!(machine.costs.transfer_remote_ns, [90.0]);

        let dl980 = Machine::builtin("dl980").expect("it is built in");
        let remote = &dl980.costs.transfer_remote_ns;
        let numbers = [("transfer_remote".into(), remote[0] * 2.0)];
        let slower = dl980.changed(&numbers).expect("what is farther is slower, too");
        assert!(slower.costs.transfer_remote_ns.iter().zip(remote).all(|(a, b)| a / b == 2.0));

        let one = changed(&[("sockets", 1.0), ("transfer_remote", 90.0)]);
        let said = one.expect_err("there is no other socket").to_string();
        assert!(said.contains("transfer_remote") && said.contains("has one"), "{said}");
        let grown = [("cpus", 2.0), ("sockets", 2.0)];
        assert!(changed(&grown).is_err(), "what a transfer takes is not known");
        assert!(changed(&[&grown[..], &[("transfer_remote", 90.0)]].concat()).is_ok());
    }
}
