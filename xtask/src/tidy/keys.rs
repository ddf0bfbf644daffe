//! The rule about documents: docs/formats.md names every key that a type of a document has.

use super::{Finding, Source};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Attribute, Field, ItemEnum, ItemStruct};

const FORMATS: &str = "docs/formats.md";
/// The crates whose types are written as documents.
const CRATES: [&str; 4] =
    ["crates/lab/src/", "crates/measure/src/", "crates/sheets/src/", "crates/studies/src/"];

/// The keys of a file's types, and their lines.
#[derive(Default)]
struct Keys {
    found: Vec<(String, usize)>,
    /// True in a type that is written.
    is_written: bool,
}

/// The text of all attributes of this name.
fn texts(attributes: &[Attribute], name: &str) -> String {
    let own = attributes.iter().filter(|it| it.path().is_ident(name));
    let text = |it: &Attribute| match &it.meta {
        syn::Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    };
    own.map(text).collect::<Vec<_>>().join(", ")
}

/// True if it is written with keys. What is also read is a record, whose keys change with the code.
fn is_written(attributes: &[Attribute]) -> bool {
    let derived = texts(attributes, "derive");
    let has_keys = !texts(attributes, "serde").contains("transparent");
    derived.contains("Serialize") && !derived.contains("Deserialize") && has_keys
}

impl Visit<'_> for Keys {
    fn visit_item_struct(&mut self, item: &ItemStruct) {
        self.is_written = is_written(&item.attrs);
        visit::visit_item_struct(self, item);
    }
    fn visit_item_enum(&mut self, item: &ItemEnum) {
        self.is_written = is_written(&item.attrs);
        visit::visit_item_enum(self, item);
    }
    fn visit_field(&mut self, field: &Field) {
        let told = texts(&field.attrs, "serde");
        let is_left_out =
            told.split(',').any(|it| matches!(it.trim(), "skip" | "flatten" | "skip_serializing"));
        let renamed = told.split_once("rename = \"").and_then(|(_, rest)| rest.split('"').next());
        if let Some(name) = field.ident.as_ref().filter(|_| self.is_written && !is_left_out) {
            let key = renamed.map_or_else(|| name.to_string(), str::to_string);
            self.found.push((key, name.span().start().line));
        }
    }
}

/// Every key of a type that is written is named as code.
pub fn every_key_is_documented(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some(formats) = all.iter().find(|it| it.path == FORMATS) else { return Vec::new() };
    if !CRATES.iter().any(|place| source.path.starts_with(place)) || !source.is_rust() {
        return Vec::new();
    }
    let Ok(file) = syn::parse_file(&source.text) else { return Vec::new() };
    let mut keys = Keys::default();
    keys.visit_file(&file);
    let named: BTreeSet<&str> = formats.text.split('`').skip(1).step_by(2).collect();
    let lacking = keys.found.into_iter().filter(|(key, _)| !named.contains(&**key));
    lacking
        .map(|(key, at)| source.finding(at, format!("name the key `{key}` in {FORMATS}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the rule says about a type, next to a page that names `den` and `hen`.
    fn said(text: &str) -> Vec<String> {
        let page = Source::new(FORMATS, "| `den`, `hen` | animals |\n");
        let all = [Source::new("crates/lab/src/fox.rs", text), page];
        let found = all.iter().flat_map(|it| every_key_is_documented(it, &all));
        found.map(|it| format!("{}: {}", it.line, it.message)).collect()
    }

    #[test]
    fn a_key_that_the_page_does_not_name_is_found() {
        let fox = "1: name the key `fox` in docs/formats.md";
        for text in [
            "#[derive(Serialize)] struct A { den: u8, fox: u8 }",
            "#[derive(Clone, Serialize)] struct A { #[serde(rename = \"fox\")] den: u8 }",
            "#[derive(Serialize)] struct A { #[serde(skip_serializing_if = \"x\")] fox: Option<u8> }",
            "#[derive(Serialize)] enum A { One { hen: u8, fox: u8 }, Two }",
            "fn a() { #[derive(Serialize)] struct A { fox: u8 } }",
        ] {
            assert_eq!(said(text), [fox], "{text}");
        }
    }

    #[test]
    fn what_is_no_key_of_a_document_is_not_asked_for() {
        for text in [
            "#[derive(Serialize)] struct A { den: u8, #[serde(skip)] fox: u8 }",
            "#[derive(Serialize)] struct A { #[serde(flatten)] fox: B, hen: u8 }",
            "#[derive(Serialize)] struct A { #[serde(rename = \"hen\")] fox: u8 }",
            "#[derive(Serialize, Deserialize)] struct A { fox: u8 }",
            "#[derive(Serialize)] #[serde(transparent)] struct A { fox: u8 }",
            "#[derive(Clone)] struct A { fox: u8 }",
        ] {
            assert_eq!(said(text), [""; 0], "{text}");
        }
    }
}
