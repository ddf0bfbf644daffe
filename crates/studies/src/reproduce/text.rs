//! Reproduced tables for people.

use super::cell::{CellRole, ReproducedRow, TableCell};
use super::document::TableDocument;
use super::score::{Score, Scores};
use crate::published::Standing;
use crate::tables;
use lockwright_sheets::{
    Column, Sheet, digits, name_in_documents, percent, provenance, signed, wrapped,
};

/// Keys that are numbers.
pub(super) const NUMBERS: [&str; 3] = ["threads", "vcpus", "cs_load_pause_instructions"];

/// What `inside` means.
const INSIDE: &str = "published values inside the simulated interval";

/// A table: how well it is met, its columns, and where the numbers come from.
pub fn of_table(table: &TableDocument) -> String {
    let mut text = wrapped(&format!(
        "{}, simulated on {}\n{}",
        table.table,
        table.machine,
        table.windows.told()
    ));
    text = text + "\n" + &of_scores(table) + "\n";
    let columns: Vec<String> =
        table.kinds().iter().map(|(name, kinds)| of_column(table, name, kinds)).collect();
    text += &columns.join("\n");
    text += &wrapped(&legend(table));
    text + "\n" + &wrapped(&provenance(table.machine, table.calibration.as_ref()))
}

/// What the columns of numbers are.
fn legend(table: &TableDocument) -> String {
    let cells = || table.rows.iter().flat_map(|row| row.columns.values());
    let mut text = String::from(
        "\nsimulated: the mean; from, to: the ends of the interval; published: as it was printed",
    );
    if cells().any(|cell| cell.published.is_none()) {
        text += ", - is held back (not in this repository)";
    }
    text += "; error %: simulated minus published, as a percentage of published.";
    let any = |standing| cells().any(|cell| cell.published_is == standing);
    if any(Standing::LowerBound) {
        text += " > marks a lower bound (\"more than\").";
    }
    if any(Standing::Doubtful) {
        text += " A number in parentheses cannot be right as printed.";
    }
    if any(Standing::LowerBound) || any(Standing::Doubtful) {
        text += " Neither counts in an error above; the fit used them all the same, so the error of the fit \
                 below counts them.";
    }
    text
}

/// What was simulated next to what was published, in one table; columns that follow from others are left out.
pub fn brief(table: &TableDocument) -> String {
    let kinds = table.kinds();
    let shown: Vec<_> =
        kinds.iter().filter(|(_, kinds)| !kinds.contains(&CellRole::Derived)).collect();
    let of_column = |(_, kinds): &&(&'static str, Vec<CellRole>)| {
        let is_fitted = !kinds.contains(&CellRole::Predicted);
        let kind = if is_fitted { "baseline" } else { "predicted" };
        [
            Column::number(format!("{kind}: simulated")).first(),
            Column::number("published"),
            Column::number("error %"),
        ]
    };
    let keys = table.of.keys.iter().map(|key| Column::number(key.replace('_', " ")));
    let columns: Vec<Column> = keys.chain(shown.iter().flat_map(of_column)).collect();
    let cells = |row: &ReproducedRow| {
        let of_column = |(name, _): &&(&'static str, Vec<CellRole>)| {
            let cell = row.columns.get(name);
            let number =
                |get: fn(&TableCell) -> Option<String>| cell.and_then(get).unwrap_or("-".into());
            [
                number(|cell| Some(digits(cell.simulated))),
                number(|cell| cell.published.map(digits)),
                number(|cell| cell.error_percent.map(signed)),
            ]
        };
        let keys = table.of.keys.iter().map(|key| row.part(key));
        keys.chain(shown.iter().flat_map(of_column)).collect()
    };
    let rows = table.rows.iter().map(cells).collect();
    Sheet { columns, keys: table.of.keys.len(), rows }.without_legend()
}

/// A part of a number, if there is one.
fn part_of(parts: Option<(usize, usize)>) -> String {
    let parts = parts.filter(|&(_, of)| of > 0);
    parts.map_or("-".into(), |(part, of)| format!("{part} of {of}"))
}

/// The error of a score, if there is one.
fn error_of(score: &Option<Score>) -> String {
    score.map_or("-".into(), |score| percent(score.rms_percent))
}

/// How many published values are inside the simulated interval.
fn inside(score: &Option<Score>) -> String {
    part_of(score.map(|score| (score.inside_interval, score.cells)))
}

/// How well the columns of each kind are met.
fn of_scores(table: &TableDocument) -> String {
    let Scores { baseline, is_fitted, predicted, derived } = *table.scores();
    let has = |wanted: CellRole| table.kinds().iter().any(|(_, kinds)| kinds.contains(&wanted));
    let baseline_name = if is_fitted { "baseline (fitted)" } else { "baseline (not fitted)" };
    let kinds = [
        (baseline_name, baseline, has(CellRole::Fitted) || has(CellRole::Baseline)),
        ("predicted (never fitted)", predicted, has(CellRole::Predicted)),
        ("derived (ratios)", derived, derived.is_some()),
    ];
    let cells = Column::number("published cells").means("those of which an error can be taken");
    let error = Column::number("error").means("root mean square of the relative errors");
    let order = Column::number("in order").means(
        "pairs of cells of one quantity whose published numbers differ by more than two combined standard \
         deviations (3 % where none was published), and how many of these pairs have the same order in the \
         simulation",
    );
    Sheet::of(
        kinds.into_iter().filter(|&(.., is_there)| is_there),
        1,
        &[
            (Column::name("columns"), &|it| it.0.into()),
            (cells, &|it| it.1.map_or(0, |score| score.cells).to_string()),
            (error, &|it| error_of(&it.1)),
            (Column::number("inside").means(INSIDE), &|it| inside(&it.1)),
            (order, &|it| part_of(it.1.map(|score| (score.pairs_right, score.pairs)))),
        ],
    )
    .text()
}

/// The rows of a column. A part of the key that is the same in all rows is in the heading.
fn of_column(table: &TableDocument, name: &str, kinds: &[CellRole]) -> String {
    let rows: Vec<&ReproducedRow> =
        table.rows.iter().filter(|row| row.columns.contains_key(name)).collect();
    let is_same = |key: &&&str| {
        let mut parts = rows.iter().map(|row| row.part(key));
        let first = parts.next();
        rows.len() > 1 && parts.all(|part| Some(part) == first)
    };
    let (same, keys): (Vec<&str>, Vec<&str>) = table.of.keys.iter().partition(is_same);
    let same = same.iter().filter_map(|key| Some(format!(", {key} {}", rows.first()?.part(key))));
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    let heading = format!("{name}{} ({})", same.collect::<String>(), kinds.join("; "));

    let column = |key: &&str| match NUMBERS.contains(key) {
        true => Column::number(key.replace('_', " ")),
        false => Column::words(*key),
    };
    let numbers = ["simulated", "from", "to", "published", "error %"].map(Column::number);
    let role = (kinds.len() > 1).then(|| Column::words("role"));
    let columns = keys.iter().map(column).chain(numbers).chain(role).collect();
    let cells = |row: &&ReproducedRow| {
        let TableCell { simulated, interval, published, published_is, error_percent, role } =
            *row.columns.get(name)?;
        let [low, mean, high] = lockwright_sheets::interval([interval[0], simulated, interval[1]]);
        let numbers = [
            mean,
            low,
            high,
            published.map_or("-".into(), |published| published_is.told(published)),
            error_percent.map_or("-".into(), signed),
        ];
        // Below a heading that has all roles of the column.
        let role = (kinds.len() > 1).then(|| match role {
            CellRole::Baseline => "not fitted".into(),
            role => name_in_documents(&role),
        });
        Some(keys.iter().map(|key| row.part(key)).chain(numbers).chain(role).collect())
    };
    let rows = rows.iter().filter_map(cells).collect();
    let meaning = tables::meaning(name);
    wrapped(&heading) + &wrapped(&meaning) + &Sheet { columns, keys: keys.len(), rows }.text()
}

/// A line for each table.
pub fn summary(tables: &[TableDocument]) -> String {
    let baseline = Column::number("baseline error").means(
        "root mean square of the relative errors of the baseline columns (unpatched code), to most of \
         which the machine was fitted",
    );
    let predicted = Column::number("predicted error").means(
        "the same of the predicted columns (patched code), which were never fitted; - if none was published",
    );
    Sheet::of(
        tables,
        1,
        &[
            (Column::words("table"), &|it| it.table.into()),
            (baseline, &|it| error_of(&it.scores().baseline)),
            (Column::number("inside").means(INSIDE), &|it| inside(&it.scores().baseline)),
            (predicted, &|it| error_of(&it.scores().predicted)),
            (Column::number("inside"), &|it| inside(&it.scores().predicted)),
        ],
    )
    .text()
}
