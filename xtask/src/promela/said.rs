//! What a search said.

/// The report of a search.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// What is wrong, in spin's words.
    pub error: Option<String>,
    pub states: u64,
    pub depth: u64,
    /// Why it is not a search of everything, if it is not.
    pub gap: Option<String>,
    /// Statements of the threads that no run has reached.
    pub unreached: Option<u64>,
}

/// Lines that say that something was left out.
const GAPS: [&str; 6] = [
    "max search depth too small",
    "reached -DMEMLIM bound",
    "out of memory",
    "hash table full",
    "Search not completed",
    "Search incomplete",
];

impl Said {
    /// Reads what a search printed; `None` if it is no report.
    pub fn of(printed: &str) -> Option<Self> {
        let mut lines = printed.lines().map(str::trim);
        let line_with = |text: &str| printed.lines().map(str::trim).find(|it| it.contains(text));
        let errors = number_after(line_with("errors: ")?, "errors: ")?;
        let error = line_with("pan:1: ").and_then(|line| line.strip_prefix("pan:1: "));
        // The first error ends a search, which is no gap.
        let gap = GAPS.iter().find_map(|gap| line_with(gap)).filter(|_| errors == 0);
        let is_unreached = |line: &&str| *line == "unreached in proctype thread";
        let count = lines.find(is_unreached).and_then(|_| lines.find(|it| it.starts_with('(')));
        Some(Self {
            error: (errors > 0).then(|| error.unwrap_or("an error").to_string()),
            states: number_after(line_with(" states, stored")?, "")?,
            depth: number_after(line_with("depth reached ")?, "depth reached ")?,
            gap: gap.map(ToString::to_string),
            unreached: count.and_then(|count| number_after(count, "(")),
        })
    }
}

/// The number behind the first `start`.
fn number_after(line: &str, start: &str) -> Option<u64> {
    let behind = line.split_once(start)?.1;
    let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
    behind[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: &str = "
State-vector 68 byte, depth reached 1361583, errors: 0
 13706667 states, stored
 29924017 states, matched

unreached in proctype thread
\tmodel.pml:89, state 88, \"(x==3)\"
\t(12 of 191 states)
unreached in claim no_head_sleeps_for_ever
\t_spin_nvr.tmp:14, state 5, \"(1)\"
\t(3 of 13 states)
";

    #[test]
    fn a_search_is_read_and_what_it_left_out() {
        let (states, depth) = (13_706_667, 1_361_583);
        let expected = Said { error: None, states, depth, gap: None, unreached: Some(12) };
        assert_eq!(Said::of(COMPLETE), Some(expected));
        for gap in GAPS {
            let said = Said::of(&format!("error: {gap}\n{COMPLETE}")).expect("a report");
            assert_eq!(said.gap, Some(format!("error: {gap}")));
        }
        assert_eq!(Said::of("pan: no such claim\n"), None);
    }

    #[test]
    fn an_error_is_told_in_the_words_of_spin() {
        let printed = "pan:1: invalid end state (at depth 42)
pan: wrote model.pml.trail
Warning: Search not completed
State-vector 52 byte, depth reached 43, errors: 1
      587 states, stored (1629 visited)";
        let said = Said::of(printed).expect("a report");
        assert_eq!(said.error.as_deref(), Some("invalid end state (at depth 42)"));
        assert_eq!((said.states, said.gap, said.unreached), (587, None, None));
    }
}
