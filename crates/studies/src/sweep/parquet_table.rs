//! Merged results as a Parquet file, which databases and data frames read.

use crate::sweep::table::{ColumnKind, TableColumns, cannot, text};
use lockwright_measure::error::Error;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use std::io::{BufRead, Write};
use std::sync::Arc;

/// Rows that are in memory at a time.
const ROWS: usize = 20_000;

type Row = Vec<Option<Value>>;

/// Writes merged results as Parquet, with the columns of the CSV file. A column is of truth values, of whole numbers,
/// of numbers or of text; a line that lacks it has a null there. `open` opens the results, twice: the first time for
/// the columns.
///
/// # Errors
/// If something cannot be read or written.
pub fn to_parquet<R: BufRead, W: Write + Send>(
    open: impl Fn() -> Result<R, Error>,
    out: W,
) -> Result<(), Error> {
    let columns = TableColumns::of(open()?)?;
    let schema = Arc::new(schema(&columns).map_err(of_table)?);
    let properties = WriterProperties::builder().set_compression(Compression::LZ4_RAW).build();
    let table = SerializedFileWriter::new(out, schema, Arc::new(properties));
    let mut table = table.map_err(of_table)?;
    let mut rows: Vec<Row> = Vec::new();
    for line in open()?.lines() {
        rows.push(columns.row(&line.map_err(cannot)?));
        if rows.len() == ROWS {
            add(&mut table, &columns, &rows).map_err(of_table)?;
            rows.clear();
        }
    }
    if !rows.is_empty() {
        add(&mut table, &columns, &rows).map_err(of_table)?;
    }
    table.close().map(|_| ()).map_err(of_table)
}

fn of_table(error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => cannot(std::io::Error::other(source)),
        other => Error::Measurement(other.to_string()),
    }
}

fn schema(columns: &TableColumns) -> Result<Type, ParquetError> {
    let column = |(name, kind): (&str, ColumnKind)| {
        let (physical, meaning) = match kind {
            ColumnKind::Truth => (Physical::BOOLEAN, ConvertedType::NONE),
            ColumnKind::Whole => (Physical::INT64, ConvertedType::NONE),
            ColumnKind::Number => (Physical::DOUBLE, ConvertedType::NONE),
            ColumnKind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let column = Type::primitive_type_builder(name, physical).with_converted_type(meaning);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("trials").with_fields(fields).build()
}

/// Adds rows.
fn add<W: Write + Send>(
    table: &mut SerializedFileWriter<W>,
    columns: &TableColumns,
    rows: &[Row],
) -> Result<(), ParquetError> {
    let mut group = table.next_row_group()?;
    for (at, (_, kind)) in columns.iter().enumerate() {
        let Some(column) = group.next_column()? else { break };
        let values = rows.iter().map(|row| row[at].as_ref());
        match kind {
            ColumnKind::Truth => fill::<BoolType>(column, values, Value::as_bool)?,
            ColumnKind::Whole => fill::<Int64Type>(column, values, Value::as_i64)?,
            ColumnKind::Number => fill::<DoubleType>(column, values, Value::as_f64)?,
            ColumnKind::Text => fill::<ByteArrayType>(column, values, |value| {
                Some(ByteArray::from(text(value).into_bytes()))
            })?,
        }
    }
    group.close().map(|_| ())
}

/// Fills a column. What is not there is a null.
fn fill<'a, T: DataType>(
    mut column: SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<&'a Value>> + Clone,
    read: impl Fn(&Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let are_there: Vec<i16> = values.clone().map(|value| value.is_some().into()).collect();
    let values: Vec<T::T> = values.flatten().filter_map(read).collect();
    column.typed::<T>().write_batch(&values, Some(&are_there), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn what_is_written_is_read_again_with_its_kinds_and_gaps() {
        let mut lines = String::new();
        for at in 0..ROWS + 1 {
            lines += &match at % 3 {
                0 => format!("{{\"key\":\"{at}\",\"code\":\"c\",\"ops\":{at},\"sum\":\"x\"}}\n"),
                1 => format!("{{\"key\":\"{at}\",\"code\":\"c\",\"set\":{{\"pause\":0.5}}}}\n"),
                _ => format!("{{\"key\":\"{at}\",\"code\":\"c\",\"failed\":true}}\n"),
            };
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        let out = file.reopen().expect("the file");
        to_parquet(|| Ok(lines.as_bytes()), out).expect("written");
        let reader = SerializedFileReader::new(file.reopen().expect("the file")).expect("Parquet");
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let mut rows = reader.get_row_iter(None).expect("rows");
        let mut row = || rows.next().expect("a row").expect("it is whole").to_string();
        let expected = [
            "{key: \"0\", code: \"c\", failed: null, ops: 0, set.pause: null}",
            "{key: \"1\", code: \"c\", failed: null, ops: null, set.pause: 0.5}",
            "{key: \"2\", code: \"c\", failed: true, ops: null, set.pause: null}",
        ];
        assert_eq!([row(), row(), row()], expected);
        assert_eq!(rows.count(), ROWS - 2);
    }
}
