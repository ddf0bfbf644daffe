//! The nearest name to a mistyped one.

/// The candidate nearest to `typed`, unless all of them are far away.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase();
    let scored = candidates.into_iter().map(|name| (distance(&typed, name), name));
    let (edits, name) = scored.min_by_key(|&(edits, _)| edits)?;
    let allowed = (typed.chars().count().max(name.chars().count())).div_ceil(3);
    (edits <= allowed).then_some(name)
}

/// The candidates that contain `typed`; none if these are many.
pub fn containing<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const MANY: usize = 6;
    let typed = typed.trim().to_ascii_lowercase();
    let contain = candidates.into_iter().filter(|name| name.to_ascii_lowercase().contains(&typed));
    let found: Vec<&str> = contain.collect();
    if typed.len() < 2 || found.len() > MANY { Vec::new() } else { found }
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_costs_one() {
        for (typed, meant) in [("benhc", "bench"), ("tickte", "ticket"), ("cn", "cna")] {
            assert_eq!(distance(typed, meant), 1, "{typed} {meant}");
        }
        assert_eq!(distance("", "cna"), 3);
        assert_eq!(distance("cna", "cna"), 0);
    }

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let names = ["qspinlock", "ticket", "mcs", "clh"];
        assert_eq!(nearest("qspinlok", names), Some("qspinlock"));
        assert_eq!(nearest("MCS", names), Some("mcs"));
        assert_eq!(nearest("refrigerator", names), None);
    }
}
