//! Pictures, as SVG.

use crate::number::digits;
use crate::page::quoted;
use lockwright_measure::error::Error;
use plotters::coord::Shift;
use plotters::coord::combinators::{LogCoord, WithKeyPoints};
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A picture of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows and where it was measured; says *simulated* if it was not.
    pub title: String,
    /// What the horizontal axis means.
    pub x_label: String,
    /// What the vertical axis means, with its unit.
    pub y_label: String,
    /// What is drawn.
    pub shape: ChartShape,
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum ChartShape {
    /// Lines over a logarithmic axis, with error bars. Heights that differ by orders of magnitude have
    /// a logarithmic axis, too.
    Lines(Vec<Series>),
    /// One bar each.
    Bars(Vec<Bar>),
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// True for a reference, such as what was published: drawn hollow and without a line, in the colours of the lines.
    /// References come after the lines they belong to, in the same order.
    pub is_reference: bool,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Horizontal.
    pub x: f64,
    /// Vertical.
    pub y: f64,
    /// Half the length of the error bar; 0 for none.
    pub spread: f64,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// How long it is.
    pub value: f64,
}

const SIZE: (u32, u32) = (900, 560);
/// The narrowest legend, the narrowest place for the names of bars, and what a letter of a longer name takes.
const LEGEND_WIDTH: u32 = 150;
const NAME_WIDTH: u32 = 100;
const LETTER_WIDTH: u32 = 7;
const FONT: &str = "sans-serif";

/// Colours that stay apart for most eyes (Okabe and Ito, 2002), then plotters' own.
fn color(index: usize) -> RGBColor {
    const COLORS: [(u8, u8, u8); 7] = [
        (0, 114, 178),
        (213, 94, 0),
        (0, 158, 115),
        (204, 121, 167),
        (86, 180, 233),
        (230, 159, 0),
        (90, 90, 90),
    ];
    let (red, green, blue) = match COLORS.get(index) {
        Some(&color) => color,
        None => Palette99::pick(index).rgb(),
    };
    RGBColor(red, green, blue)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Across = WithKeyPoints<LogCoord<f64>>;
type Axes<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Across, Y>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

impl Chart {
    /// The picture as SVG text.
    pub fn draw(&self) -> Result<String, Error> {
        let mut text = String::new();
        let drawn = {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            self.draw_on(&area)
        };
        match drawn {
            Ok(()) => {
                let typed = std::env::args_os().skip(1);
                let typed = typed.map(|argument| argument.to_string_lossy().into_owned());
                Ok(described(&text, &description(typed)))
            }
            Err(error) => Err(Error::usage(format!("cannot draw the plot: {error}"))),
        }
    }

    fn draw_on(&self, area: &Area<'_>) -> Drawn {
        area.fill(&WHITE)?;
        match &self.shape {
            ChartShape::Lines(series) => self.draw_lines(area, series)?,
            ChartShape::Bars(bars) => self.draw_bars(area, bars)?,
        }
        area.present()?;
        Ok(())
    }

    fn draw_lines(&self, area: &Area<'_>, series: &[Series]) -> Drawn {
        let points = || series.iter().flat_map(|series| &series.points);
        let right = points().map(|point| point.x).fold(1.0, f64::max);
        let top = points().map(|point| point.y + point.spread).fold(0.0, f64::max);
        let legend_width = width_of(series.iter().map(|series| &series.name), LEGEND_WIDTH);
        let (plot, legend) = area.split_horizontally(SIZE.0 - legend_width);
        let mut chart = self.begun(&plot, 64);
        let left = points().map(|point| point.x).fold(f64::INFINITY, f64::min);
        // From 1 on, unless nothing is near it.
        let left = if left.is_finite() && left > 8.0 { left / 1.5 } else { 0.9 };
        let (right, pixels) = (right * 1.15, SIZE.0 - legend_width - 100);
        let ticks = ticks(points().map(|point| point.x), left..right, pixels.into());
        let across = (left..right).log_scale().with_key_points(ticks);
        match lowest_of_orders(points().map(|point| point.y)) {
            None => {
                let chart = chart.build_cartesian_2d(across, 0.0..positive(top) * 1.08)?;
                self.draw_points(chart, series, 0.0)?;
            }
            Some(low) => {
                let bottom = low / 1.5;
                let up = (bottom..top * 1.5).log_scale();
                self.draw_points(chart.build_cartesian_2d(across, up)?, series, bottom)?;
            }
        }
        draw_legend(&legend, series)
    }

    /// What all charts have, with room on the left.
    fn begun<'a, 'b>(&self, area: &'a Area<'b>, left: u32) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
        let mut chart = ChartBuilder::on(area);
        chart.caption(&self.title, (FONT, 18)).margin(16).x_label_area_size(44);
        chart.y_label_area_size(left);
        chart
    }

    /// The lines, on axes of either kind; nothing is lower than `bottom`.
    fn draw_points<Y>(&self, mut chart: Axes<'_, '_, Y>, series: &[Series], bottom: f64) -> Drawn
    where
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let count = |x: &f64| x.round().to_string();
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&count)
            .light_line_style(BLACK.mix(0.04))
            .draw()?;
        for (series, color) in colored(series) {
            let line = series.points.iter().map(|point| (point.x, point.y.max(bottom)));
            if !series.is_reference {
                chart.draw_series(LineSeries::new(line.clone(), color.stroke_width(2)))?;
            }
            chart.draw_series(line.map(|at| Circle::new(at, 4, marker(series, color))))?;
            let spreads = series.points.iter().filter(|point| point.spread > 0.0);
            chart.draw_series(spreads.map(|point| {
                let (low, high) = ((point.y - point.spread).max(bottom), point.y + point.spread);
                ErrorBar::new_vertical(point.x, low, point.y, high, color.mix(0.5).filled(), 6)
            }))?;
        }
        Ok(())
    }

    fn draw_bars(&self, area: &Area<'_>, bars: &[Bar]) -> Drawn {
        let longest = positive(bars.iter().map(|bar| bar.value).fold(0.0, f64::max));
        let rows = bars.len().max(1) as i32;
        let mut chart = self
            .begun(area, width_of(bars.iter().map(|bar| &bar.name), NAME_WIDTH))
            .build_cartesian_2d(0.0..longest * 1.15, (0..rows - 1).into_segmented())?;
        let name = |at: &SegmentValue<i32>| match at {
            // From top to bottom in the order of the results.
            SegmentValue::CenterOf(row) => {
                bars.get((rows - 1 - row) as usize).map_or(String::new(), |bar| bar.name.clone())
            }
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .x_desc(&self.y_label)
            .y_desc(&self.x_label)
            .y_labels(bars.len())
            .y_label_formatter(&name)
            .disable_y_mesh()
            .draw()?;
        let row_of = |index: usize| rows - 1 - index as i32;
        chart.draw_series(bars.iter().enumerate().map(|(index, bar)| {
            let row = row_of(index);
            let corners =
                [(0.0, SegmentValue::Exact(row)), (bar.value, SegmentValue::Exact(row + 1))];
            let mut rectangle = Rectangle::new(corners, color(0).mix(0.8).filled());
            rectangle.set_margin(4, 4, 0, 0);
            rectangle
        }))?;
        chart.draw_series(bars.iter().enumerate().map(|(index, bar)| {
            let at = (bar.value + longest * 0.01, SegmentValue::CenterOf(row_of(index)));
            Text::new(digits(bar.value), at, words())
        }))?;
        Ok(())
    }
}

/// The places where something was measured, without those whose labels would overlap. The first and the last
/// one stay.
fn ticks(places: impl Iterator<Item = f64>, axis: std::ops::Range<f64>, pixels: f64) -> Vec<f64> {
    let mut places: Vec<f64> = places.collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let Some(&last) = places.last() else { return places };
    let at = |x: f64| (x / axis.start).ln() / (axis.end / axis.start).ln() * pixels;
    let room = |x: f64| f64::from(LETTER_WIDTH) * (x.round().to_string().len() as f64 + 1.0);
    let are_apart = |a: f64, b: f64| at(b) - at(a) >= (room(a) + room(b)) / 2.0;
    let mut kept: Vec<f64> = Vec::new();
    for place in places {
        let follows = kept.last().is_none_or(|&before| are_apart(before, place));
        if place == last || (follows && are_apart(place, last)) {
            kept.push(place);
        }
    }
    kept
}

/// What made a picture: version and command, without the files that the command writes. No date, so that
/// one seed gives one picture.
fn description(arguments: impl Iterator<Item = String>) -> String {
    const WRITES: [&str; 5] = ["--json", "--csv", "--plot", "--plots", "--plot-dir"];
    let mut said = format!("lockwright {}: lockwright", env!("CARGO_PKG_VERSION"));
    let mut is_file = false;
    for argument in arguments {
        let flag = argument.split('=').next().unwrap_or_default();
        let (is_value, writes) = (std::mem::take(&mut is_file), WRITES.contains(&flag));
        is_file = writes && flag == argument;
        if !is_value && !writes {
            said += &format!(" {}", quoted(&argument));
        }
    }
    said
}

/// The picture with a description in its head.
fn described(svg: &str, description: &str) -> String {
    let escaped = description.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (head, body) = svg.split_once('>').unwrap_or((svg, ""));
    format!("{head}>\n<desc>{escaped}</desc>{body}")
}

/// How wide the longest name is, but at least `least`.
fn width_of<'a>(names: impl Iterator<Item = &'a String>, least: u32) -> u32 {
    let longest = names.map(|name| name.len() as u32).max().unwrap_or(0);
    least.max(30 + longest * LETTER_WIDTH)
}

/// How words look that stand to the right of what they name.
fn words() -> TextStyle<'static> {
    (FONT, 13).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center))
}

/// Each series with its colour; a reference has the colour of the line it belongs to.
fn colored(series: &[Series]) -> impl Iterator<Item = (&Series, RGBColor)> {
    let lines = series.iter().filter(|series| !series.is_reference).count().max(1);
    series.iter().enumerate().map(move |(index, series)| {
        (series, color(if series.is_reference { index % lines } else { index }))
    })
}

/// How the points of a series look: those of a reference are hollow.
fn marker(series: &Series, color: RGBColor) -> ShapeStyle {
    if series.is_reference { color.stroke_width(1) } else { color.filled() }
}

fn draw_legend(area: &Area<'_>, series: &[Series]) -> Drawn {
    const ROW_HEIGHT: i32 = 20;
    for ((series, color), row) in colored(series).zip(0..) {
        let y = 64 + row * ROW_HEIGHT;
        area.draw(&Circle::new((6, y), 4, marker(series, color)))?;
        area.draw(&Text::new(series.name.clone(), (18, y), words()))?;
    }
    Ok(())
}

/// The lowest height above zero, if the heights are so different that it would lie on a linear axis.
fn lowest_of_orders(heights: impl Iterator<Item = f64>) -> Option<f64> {
    const ORDERS: f64 = 20.0;
    let (low, high) = heights
        .filter(|&height| height > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), y| (low.min(y), high.max(y)));
    (high > low * ORDERS).then_some(low)
}

/// A length an axis can have.
fn positive(length: f64) -> f64 {
    if length > 0.0 { length } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(shape: ChartShape) -> Chart {
        Chart {
            title: "a title".into(),
            x_label: "threads".into(),
            y_label: "million operations per second".into(),
            shape,
        }
    }

    #[test]
    fn a_long_name_has_room_in_the_legend() {
        let width = |names: [&str; 2]| {
            let names = names.map(String::from);
            width_of(names.iter(), LEGEND_WIDTH)
        };
        assert_eq!(width(["mcs", "clh"]), LEGEND_WIDTH);
        assert!(width(["hybrid pvqlock min, simulated", "mcs"]) > 200);
    }

    #[test]
    fn lines_and_bars_are_svg_with_their_names_in_it() {
        let points =
            vec![Point { x: 1.0, y: 3.0, spread: 0.0 }, Point { x: 142.0, y: 9.0, spread: 0.5 }];
        let series = Series { name: "cna".into(), points, is_reference: false };
        let lines = chart(ChartShape::Lines(vec![series])).draw().expect("drawable");
        let bar = |name: &str, value| Bar { name: name.into(), value };
        let bars = chart(ChartShape::Bars(vec![bar("floor", 9.4), bar("cna", 10.0)]))
            .draw()
            .expect("drawable");
        for (text, name) in [(&lines, "cna"), (&bars, "floor")] {
            assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
            assert!(text.contains(name) && text.contains("a title"));
        }
    }

    #[test]
    fn heights_of_several_orders_of_magnitude_have_a_logarithmic_axis() {
        let series = |heights: &[f64]| {
            let point = |(x, &y): (usize, &f64)| Point { x: x as f64 + 1.0, y, spread: y };
            let points = heights.iter().enumerate().map(point).collect();
            vec![Series { name: "collapse".into(), points, is_reference: false }]
        };
        let draw = |heights| chart(ChartShape::Lines(series(heights))).draw().expect("drawable");
        // The ticks of a logarithmic axis are powers of ten.
        let has_tick = |heights, tick: &str| draw(heights).contains(&format!("\n{tick}\n"));
        assert!(has_tick(&[100.0, 1.0, 0.01], "0.1") && has_tick(&[100.0, 0.0, 0.01], "0.1"));
        assert!(!has_tick(&[100.0, 50.0], "10.0") || !has_tick(&[100.0, 50.0], "0.1"));
        assert_eq!(lowest_of_orders([3.0, 0.0, 1.0].into_iter()), None);
        assert_eq!(lowest_of_orders([300.0, 0.0, 1.0].into_iter()), Some(1.0));
    }

    #[test]
    fn the_ticks_are_the_measured_points_as_far_as_there_is_room() {
        let at = |places: &[f64], pixels| ticks(places.iter().copied(), 0.9..163.3, pixels);
        let threads = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(at(&[16.0, 1.0, 2.0, 4.0, 8.0, 8.0], 600.0), threads);
        let many = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 36.0, 72.0, 108.0, 142.0];
        assert_eq!(at(&many, 600.0), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 72.0, 108.0, 142.0]);
        assert_eq!(at(&many, 15.0), [142.0], "the last one stays");
        assert!(at(&[], 600.0).is_empty());
        let points = threads.map(|x| Point { x, y: x, spread: 0.0 }).to_vec();
        let series = Series { name: "cna".into(), points, is_reference: false };
        let text = chart(ChartShape::Lines(vec![series])).draw().expect("drawable");
        // The labels of the vertical axis are decimal fractions.
        for (label, is_there) in
            [("\n16\n", true), ("\n8\n", true), ("\n9\n", false), ("\n10\n", false)]
        {
            assert_eq!(text.contains(label), is_there, "{label}");
        }
    }

    #[test]
    fn a_picture_says_what_made_it_and_not_where_it_went() {
        let line = "bench --lock cna --plot=a.svg --json out.json --on <x> --plot b.svg -q";
        let told = description(line.split(' ').map(String::from));
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            told,
            format!("lockwright {version}: lockwright bench --lock cna --on '<x>' -q")
        );
        let svg = described("<svg a=\"b\">\n<text/></svg>", &told);
        assert!(
            svg.starts_with("<svg a=\"b\">\n<desc>lockwright ")
                && svg.contains("'&lt;x&gt;' -q</desc>\n<text/>")
        );
    }

    #[test]
    fn nothing_at_all_can_be_drawn() {
        chart(ChartShape::Lines(vec![])).draw().expect("drawable");
        chart(ChartShape::Bars(vec![])).draw().expect("drawable");
        let alone = Bar { name: "alone".into(), value: 0.0 };
        chart(ChartShape::Bars(vec![alone])).draw().expect("drawable");
    }
}
