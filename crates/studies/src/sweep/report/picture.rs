//! A map of the gain over two numbers, with the line where one lock overtakes the other, as SVG.

use super::{GainPoint, GainReport};
use lockwright_measure::error::Error;
use lockwright_sheets::digits;
use std::fmt::Write;

/// Cells along an axis, at most.
const CELLS: usize = 12;
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 60.0;

/// An axis: its column, and the middle of each cell.
struct Axis {
    column: String,
    middles: Vec<f64>,
}

impl Axis {
    fn new(column: &str, points: &[GainPoint]) -> Result<Self, Error> {
        let number = |point: &GainPoint| point.values.get(column)?.parse::<f64>().ok();
        let mut values: Vec<f64> = points.iter().filter_map(number).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
            return Err(Error::usage(format!("`{column}` is no column of numbers in the results")));
        };
        // Where numbers were drawn, most cells have a few points.
        let cells = (values.len() / 3).min(((points.len() as f64).sqrt() / 2.0) as usize);
        let cells = cells.clamp(3, CELLS);
        if values.len() > CELLS {
            // Cells of equal factors if the numbers span more than one order of magnitude.
            let is_log = least > 0.0 && most / least > 10.0;
            let middle = |at: usize| {
                let share = (at as f64 + 0.5) / cells as f64;
                match is_log {
                    true => least * (most / least).powf(share),
                    false => least + (most - least) * share,
                }
            };
            values = (0..cells).map(middle).collect();
        }
        Ok(Self { column: column.into(), middles: values })
    }

    /// The cell whose middle is nearest.
    fn cell(&self, point: &GainPoint) -> Option<usize> {
        let value: f64 = point.values.get(&self.column)?.parse().ok()?;
        let distance = |middle: &f64| (middle - value).abs() / middle.abs().max(1e-9);
        let nearest = self.middles.iter().enumerate();
        nearest.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b))).map(|(at, _)| at)
    }
}

/// The map of the gain over the columns `x` and `y`. Gains are geometric means over all points of a cell.
///
/// # Errors
/// If a column has no numbers.
pub fn map(report: &GainReport, x: &str, y: &str) -> Result<String, Error> {
    let [x, y] = [Axis::new(x, &report.points)?, Axis::new(y, &report.points)?];
    let (columns, rows) = (x.middles.len(), y.middles.len());
    let mut sums = vec![vec![(0.0, 0_u32); columns]; rows];
    for point in &report.points {
        if let (Some(column), Some(row)) = (x.cell(point), y.cell(point)) {
            sums[row][column].0 += point.gain.ln();
            sums[row][column].1 += 1;
        }
    }
    let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
    let gains: Vec<Vec<Option<f64>>> =
        sums.into_iter().map(|row| row.into_iter().map(mean).collect()).collect();
    let (wide, high) = (WIDTH / columns as f64, HEIGHT / rows as f64);
    let (total_width, total_height) = (LEFT + WIDTH + 20.0, TOP + HEIGHT + 70.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total_width}\" height=\"{total_height}\" \
         viewBox=\"0 0 {total_width} {total_height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">Simulated: throughput of {} over {}</text>\n\
         <text x=\"{LEFT}\" y=\"44\">blue: it gains; orange: it loses; black: where both are equal</text>\n",
        escaped(&report.of),
        escaped(&report.over),
    );
    let middle =
        |column: f64, row: f64| (LEFT + wide * (column + 0.5), TOP + HEIGHT - high * (row + 0.5));
    squares(&mut svg, &gains, [wide, high], &middle);
    crossing(&mut svg, &gains, &middle);
    for (column, value) in x.middles.iter().enumerate() {
        let (left, _) = middle(column as f64, 0.0);
        label(&mut svg, (left, TOP + HEIGHT + 18.0), "middle", &digits(*value));
    }
    for (row, value) in y.middles.iter().enumerate() {
        let (_, top) = middle(0.0, row as f64);
        label(&mut svg, (LEFT - 8.0, top + 4.0), "end", &digits(*value));
    }
    label(&mut svg, (LEFT + WIDTH / 2.0, TOP + HEIGHT + 48.0), "middle", &x.column);
    let _ = writeln!(
        svg,
        "<text transform=\"translate(24 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</svg>",
        TOP + HEIGHT / 2.0,
        escaped(&y.column),
    );
    Ok(svg)
}

/// Where the middle of a cell is drawn, and what lies between middles.
type Place<'a> = &'a dyn Fn(f64, f64) -> (f64, f64);

/// A square for each cell, with its gain.
fn squares(
    svg: &mut String,
    gains: &[Vec<Option<f64>>],
    [wide, high]: [f64; 2],
    middle: Place<'_>,
) {
    let all = || gains.iter().flatten().flatten();
    let greatest = all().fold(0.1_f64, |most, gain| most.max(gain.abs()));
    for (row, of_row) in gains.iter().enumerate() {
        for (column, gain) in of_row.iter().enumerate() {
            let Some(gain) = gain else { continue };
            let (x, y) = middle(column as f64, row as f64);
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" fill=\"{}\"/>",
                x - wide / 2.0,
                y - high / 2.0,
                colour(gain / greatest),
            );
            label(svg, (x, y + 4.0), "middle", &digits(gain.exp()));
        }
    }
}

fn label(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let text = escaped(text);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

/// The line where the gain is 1, in each square of four neighbouring middles (marching squares).
fn crossing(svg: &mut String, gains: &[Vec<Option<f64>>], place: Place<'_>) {
    for row in 1..gains.len() {
        for column in 1..gains[row].len() {
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(dx, dy)| {
                let (at, up) = (column - 1 + dx, row - 1 + dy);
                gains[up][at].map(|gain| (at as f64, up as f64, gain))
            });
            let [Some(a), Some(b), Some(c), Some(d)] = corners else { continue };
            let sides = [(a, b), (b, c), (c, d), (d, a)];
            let crossings = sides.iter().filter(|(from, to)| (from.2 > 0.0) != (to.2 > 0.0));
            let points = crossings.map(|(from, to)| {
                let share = from.2 / (from.2 - to.2);
                place(from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
            });
            for ends in points.collect::<Vec<_>>().chunks_exact(2) {
                let [(x1, y1), (x2, y2)] = [ends[0], ends[1]];
                let _ = writeln!(
                    svg,
                    "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"black\" \
                     stroke-width=\"2.5\" stroke-linecap=\"round\"/>"
                );
            }
        }
    }
}

/// From orange (-1) over white to blue (1).
fn colour(share: f64) -> String {
    const ORANGE: [f64; 3] = [230.0, 140.0, 20.0];
    const BLUE: [f64; 3] = [70.0, 150.0, 215.0];
    let end = if share < 0.0 { ORANGE } else { BLUE };
    let [red, green, blue] = end.map(|part| 255.0 + (part - 255.0) * share.abs().min(1.0));
    format!("rgb({red:.0},{green:.0},{blue:.0})")
}

/// Text that may stand in SVG and in HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
