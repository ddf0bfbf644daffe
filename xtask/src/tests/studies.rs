//! The tables of `docs/studies/numa-succession.md`: those of its CSV file.

use std::collections::BTreeMap;

/// A cell: operations per microsecond, times those of the first lock, and the fairness factor.
type StudyCell = [f64; 3];

/// What the CSV file has: by lock, number of threads and machine. Locks and machines in the order of the file.
struct StudyNumbers<'a> {
    locks: Vec<&'a str>,
    machines: Vec<String>,
    cells: BTreeMap<(&'a str, u64, String), StudyCell>,
}

/// A machine as the tables call it: an EPYC by the NUMA nodes of each package, which has twelve core complexes.
fn named(machine: &str, complexes_per_node: &str) -> String {
    match complexes_per_node.parse::<u32>() {
        Ok(complexes) => format!("{machine}-nps{}", 12 / complexes),
        Err(_) => machine.into(),
    }
}

impl<'a> StudyNumbers<'a> {
    fn of(csv: &'a str) -> Self {
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().expect("a line with names");
        let place = |name: &str| names.iter().position(|it| *it == name).expect("a column");
        let [machine, sockets] = ["machine", "set.sockets_per_node"].map(place);
        let [x, lock] = ["threads", "lock"].map(place);
        let numbers = ["ops_per_us", "gain", "fairness_factor"].map(place);
        let mut all = Self { locks: Vec::new(), machines: Vec::new(), cells: BTreeMap::new() };
        for line in lines {
            let (lock, machine) = (line[lock], named(line[machine], line[sockets]));
            let threads = line[x].parse().expect("a number of threads");
            let cell = numbers.map(|at| line[at].parse().expect("a number"));
            if !all.locks.contains(&lock) {
                all.locks.push(lock);
            }
            if !all.machines.contains(&machine) {
                all.machines.push(machine.clone());
            }
            all.cells.insert((lock, threads, machine), cell);
        }
        all
    }

    /// The table of a lock: what the first one does, and what the others gain.
    fn table(&self, lock: &str) -> String {
        let mut threads: Vec<u64> = self.cells.keys().map(|(_, threads, _)| *threads).collect();
        threads.sort_unstable();
        threads.dedup();
        let heads: String = self.machines.iter().map(|machine| format!(" `{machine}` |")).collect();
        let mut table =
            format!("| threads |{heads}\n|{}\n", "---:|".repeat(self.machines.len() + 1));
        for threads in threads {
            let cell = |machine: &String| match self.cells.get(&(lock, threads, machine.clone())) {
                Some([ops, _, _]) if lock == self.locks[0] => format!(" {ops:.2} |"),
                Some([_, gain, fairness]) => {
                    format!(" {} ({fairness:.2}) |", percent((gain - 1.0) * 100.0))
                }
                None => "  |".into(),
            };
            let cells: String = self.machines.iter().map(cell).collect();
            table += &format!("| {threads} |{cells}\n");
        }
        table
    }
}

/// A whole number with its sign, and 0 without one.
fn percent(gain: f64) -> String {
    let rounded = format!("{gain:+.0}");
    if rounded[1..] == *"0" { "0".into() } else { rounded }
}

#[test]
fn the_tables_of_numa_succession_are_those_of_its_csv_file() {
    let studies = crate::repository::root().join("docs/studies");
    let read = |name| std::fs::read_to_string(studies.join(name)).expect("a file of the study");
    let (text, csv) = (read("numa-succession.md"), read("numa-succession.csv"));
    let numbers = StudyNumbers::of(&csv);
    for lock in &numbers.locks {
        let table = numbers.table(lock);
        assert!(text.contains(&table), "the table of `{lock}` should be\n\n{table}");
    }
}

#[test]
fn a_picture_was_drawn_by_the_command_of_its_page() {
    let studies = crate::repository::root().join("docs/studies");
    let pictures = crate::disk::files_with("svg", &studies).expect("a folder");
    assert!(pictures.len() > 5, "{pictures:?}");
    for picture in pictures {
        let read = |path: &std::path::Path| crate::disk::read(path).expect("a text");
        let (drawn, page) = (read(&picture), read(&picture.with_extension("md")));
        // In the page the command has lines, and says where documents go.
        let command = page.split("    lockwright sweep report ").nth(1).expect("a command");
        let command = command.split("\n\n").next().unwrap_or_default();
        let words: Vec<_> = command.split_whitespace().collect();
        let by = drawn.split("sweep report ").nth(1).and_then(|it| it.split("</desc>").next());
        let others: Vec<_> = by.expect("a description").split(' ').collect();
        let strange = others.iter().find(|word| !words.contains(word));
        assert_eq!(strange, None, "{}: the page has `{command}`", picture.display());
    }
}
