//! The document of the tour.

use crate::commands::bench::BenchDocument;
use lockwright_measure::trial::On;
use lockwright_sheets::{Grid, Report, to_json};
use lockwright_studies::reproduce::TableDocument;
use serde::Serialize;

/// `lockwright.tour/1`.
#[derive(Debug, Serialize)]
pub struct Tour {
    schema: &'static str,
    pub on: On,
    pub uncontended: Option<BenchDocument>,
    pub counter: Option<BenchDocument>,
    pub readers: Option<BenchDocument>,
    pub readers_90: Option<BenchDocument>,
    pub oversubscribed: Option<BenchDocument>,
    pub guest: Option<BenchDocument>,
    pub locktorture: Option<TableDocument>,
}

impl Tour {
    /// A tour that has seen nothing yet.
    pub fn new(on: On) -> Self {
        Self {
            schema: "lockwright.tour/1",
            on,
            uncontended: None,
            counter: None,
            readers: None,
            readers_90: None,
            oversubscribed: None,
            guest: None,
            locktorture: None,
        }
    }
}

impl Report for Tour {
    /// The tour tells people what it sees as it goes.
    fn text(&self) -> String {
        String::new()
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        self.locktorture.as_ref().map(TableDocument::grid).unwrap_or_default()
    }
}
