//! What a guest says of the laws of its platforms.

use super::report::Row;

/// What a line of them begins with.
const SAYS: &str = "lockwright: laws: ";
/// What is said of a law that does not hold.
const BROKEN: &str = "BROKEN: ";
/// The platforms of the module.
const PLATFORMS: [&str; 2] = ["Kernel", "Tasks"];

/// A row for each platform that has kept its laws.
pub fn rows(lines: &[&str]) -> Vec<Row> {
    let said = || lines.iter().filter_map(|line| line.strip_prefix(SAYS));
    let of = |platform: &&str| {
        let of_platform = || said().filter_map(|it| it.strip_prefix(platform)?.strip_prefix(' '));
        let times = of_platform().find_map(|it| it.strip_prefix("keeps them, "))?;
        let times = times.split(' ').next()?.parse().ok()?;
        // One line is that of the end.
        let laws = of_platform().count() as u64 - 1;
        let numbers = [("laws".to_string(), laws), ("times-each".to_string(), times)];
        Some(Row { test: format!("laws of {platform}"), numbers: numbers.into() })
    };
    PLATFORMS.iter().filter_map(of).collect()
}

/// What the rows of a boot lack in which each law has to be checked this many times.
pub fn missing(times: Option<u64>, rows: &[Row]) -> Vec<String> {
    let is_right = |row: &Row| {
        let number = |name: &str| row.numbers.get(name).copied();
        number("laws").is_some_and(|laws| laws > 0) && number("times-each") == times
    };
    let is_missing = |platform: &&&str| {
        let test = format!("laws of {platform}");
        !rows.iter().any(|row| row.test == test && is_right(row))
    };
    let missing = PLATFORMS.iter().filter(is_missing);
    missing.map(|platform| format!("the laws of {platform} were not checked")).collect()
}

/// Returns true if a law has failed.
pub fn is_broken(lines: &[&str]) -> bool {
    lines.iter().filter_map(|line| line.strip_prefix(SAYS)).any(|it| it.starts_with(BROKEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: [&str; 6] = [
        "lockwright: loaded",
        "lockwright: laws: Kernel C1 a",
        "lockwright: laws: Kernel C2 b",
        "lockwright: laws: Kernel keeps them, 5 times each",
        "lockwright: laws: Tasks C1 a",
        "lockwright: laws: Tasks keeps them, 5 times each",
    ];

    #[test]
    fn each_platform_has_a_row() {
        let rows = rows(&KEPT);
        let numbers = |row: &Row| (row.numbers["laws"], row.numbers["times-each"]);
        assert_eq!(rows.iter().map(numbers).collect::<Vec<_>>(), [(2, 5), (1, 5)]);
        assert_eq!(missing(Some(5), &rows), Vec::<String>::new());
        assert!(!is_broken(&KEPT));
    }

    #[test]
    fn laws_that_were_not_checked_are_missing() {
        let of_kernel = "the laws of Kernel were not checked";
        let of_tasks = "the laws of Tasks were not checked";
        let missing = |lines: &[&str]| missing(Some(5), &rows(lines));
        assert_eq!(missing(&KEPT[..4]), [of_tasks]);
        assert_eq!(missing(&KEPT[..5]), [of_tasks]);
        // None at all, and another number of times.
        assert_eq!(missing(&KEPT[3..]), [of_kernel]);
        let rarely = KEPT.map(|line| if line.contains("5 times") { "" } else { line });
        assert_eq!(missing(&rarely), [of_kernel, of_tasks]);
        let other = [KEPT[1], "lockwright: laws: Kernel keeps them, 0 times each"];
        assert_eq!(missing(&other), [of_kernel, of_tasks]);
    }

    #[test]
    fn a_law_that_fails_says_so() {
        assert!(is_broken(&["lockwright: laws: BROKEN: panicked at nodes.rs"]));
        assert!(!is_broken(&["Kernel panic - not syncing"]));
    }
}
