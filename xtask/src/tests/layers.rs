//! The picture of the packages in ARCHITECTURE.md, made from their manifests: a package stands above those it needs.

use crate::tidy::Source;
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

/// Where the picture is.
const PICTURE: &str = "docs/figures/layers.svg";
/// The sizes of a box, and of the space around it, in pixels.
const WIDTH: usize = 120;
const HEIGHT: usize = 34;
const ACROSS: usize = 16;
const DOWN: usize = 34;

/// The packages that each package of the workspace needs, by the names of their folders.
type Needs = BTreeMap<String, BTreeSet<String>>;

fn needs(all: &[Source]) -> Needs {
    let folder_of =
        |path: &str| path.strip_suffix("/Cargo.toml")?.rsplit('/').next().map(String::from);
    let manifests =
        all.iter().filter(|it| it.path.starts_with("crates/") || it.path == "xtask/Cargo.toml");
    let manifests: Vec<(String, Table)> = manifests
        .filter_map(|it| Some((folder_of(&it.path)?, it.text.parse::<Table>().ok()?)))
        .filter(|(_, manifest)| !manifest.contains_key("workspace"))
        .collect();
    let name = |manifest: &Table| manifest["package"]["name"].as_str().map(String::from);
    let folders: BTreeMap<_, _> =
        manifests.iter().filter_map(|(folder, it)| Some((name(it)?, folder.clone()))).collect();
    let of = |manifest: &Table| {
        let needed = manifest.get("dependencies").and_then(|it| it.as_table());
        let needed = needed.into_iter().flat_map(|it| it.keys());
        needed.filter_map(|name| folders.get(name).cloned()).collect()
    };
    manifests.iter().map(|(folder, manifest)| (folder.clone(), of(manifest))).collect()
}

/// How many packages stand below one another under `name`, at most.
fn height(name: &str, needs: &Needs) -> usize {
    needs[name].iter().map(|below| 1 + height(below, needs)).max().unwrap_or(0)
}

/// The row of a package, counted from below: as near to those that need it as it can be, so that lines are short.
fn row(name: &str, needs: &Needs) -> usize {
    let users = needs.iter().filter(|(_, below)| below.contains(name)).map(|(user, _)| user);
    users.map(|user| row(user, needs) - 1).min().unwrap_or_else(|| height(name, needs))
}

/// Returns true if `name` needs `below` through another package, too: then no line is drawn.
fn is_implied(name: &str, below: &str, needs: &Needs) -> bool {
    fn reaches(from: &str, to: &str, needs: &Needs) -> bool {
        from == to || needs[from].iter().any(|it| reaches(it, to, needs))
    }
    needs[name].iter().any(|other| other != below && reaches(other, below, needs))
}

/// The picture.
fn drawn(needs: &Needs) -> String {
    let mut rows: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for name in needs.keys() {
        rows.entry(row(name, needs)).or_default().push(name);
    }
    let (count, widest) = (
        rows.keys().max().map_or(0, |top| top + 1),
        rows.values().map(Vec::len).max().unwrap_or(0),
    );
    let (width, whole) = (widest * (WIDTH + ACROSS) + ACROSS, count * (HEIGHT + DOWN) + DOWN);
    let place = |name: &str| {
        let of_row = &rows[&row(name, needs)];
        let at = of_row.iter().position(|it| *it == name).unwrap_or(0);
        let used = of_row.len() * (WIDTH + ACROSS) - ACROSS;
        let left = (width - used) / 2 + at * (WIDTH + ACROSS);
        (left, DOWN + (count - 1 - row(name, needs)) * (HEIGHT + DOWN))
    };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {whole}\" font-family=\"sans-serif\" \
         font-size=\"14\">\n<rect width=\"{width}\" height=\"{whole}\" fill=\"white\"/>\n"
    );
    for (name, below) in needs.iter().flat_map(|(name, all)| all.iter().map(move |it| (name, it))) {
        if is_implied(name, below, needs) {
            continue;
        }
        let ((x1, y1), (x2, y2)) = (place(name), place(below));
        let (x1, x2, y1) = (x1 + WIDTH / 2, x2 + WIDTH / 2, y1 + HEIGHT);
        // A line that passes another row may be behind a box.
        let dashes = if y2 - y1 > DOWN { " stroke-dasharray=\"3 4\"" } else { "" };
        text += &format!("<path d=\"M{x1} {y1} L{x2} {y2}\" stroke=\"#889\"{dashes}/>\n");
    }
    for name in needs.keys() {
        let (x, y) = place(name);
        let is_lock = ["core", "linux", "locks", "catalog"].contains(&&**name);
        let color = if is_lock { "#cfe3f7" } else { "#f2f2ee" };
        let (middle, base) = (x + WIDTH / 2, y + HEIGHT / 2 + 5);
        text += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"4\" fill=\"{color}\" \
             stroke=\"#556\"/>\n<text x=\"{middle}\" y=\"{base}\" text-anchor=\"middle\">{name}</text>\n"
        );
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `LOCKWRIGHT_DRAW` set it draws the picture anew.
    #[test]
    fn the_picture_of_the_packages_is_that_of_their_manifests() {
        let root = crate::root();
        let picture = drawn(&needs(&crate::tidy::sources(&root)));
        if std::env::var_os("LOCKWRIGHT_DRAW").is_some() {
            std::fs::write(root.join(PICTURE), &picture).expect("it can be written");
        }
        let committed = std::fs::read_to_string(root.join(PICTURE)).unwrap_or_default();
        let draw = "LOCKWRIGHT_DRAW=1 cargo test -p xtask picture";
        assert!(committed == picture, "{PICTURE} is old: {draw}");
    }

    #[test]
    fn a_package_stands_above_those_it_needs_and_a_line_that_others_imply_is_left_out() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let needs: Needs = [("a", set(&["b", "c"])), ("b", set(&["c"])), ("c", set(&[]))]
            .map(|(name, below)| (name.to_string(), below))
            .into();
        assert_eq!(["a", "b", "c"].map(|name| row(name, &needs)), [2, 1, 0]);
        assert!(is_implied("a", "c", &needs) && !is_implied("a", "b", &needs));
        assert_eq!(drawn(&needs).matches("<path ").count(), 2);
    }
}
