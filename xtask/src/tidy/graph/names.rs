//! A word means one thing: no two public types of the product have one name.

use super::super::{Finding, Source};
use super::crates::trees;
use super::tree::{Parts, is_test};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Item, Visibility};

/// The crates of the product.
const PRODUCT: &str = "crates/";
/// What defines a type.
const KINDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// Where types are defined: name, file and line.
type Types = BTreeMap<String, Vec<(String, usize)>>;

/// No two types that other files can see have one name. Re-exports are no types, and a macro defines its types once.
/// An alias may have the name of the type that it stands for.
pub fn a_type_has_a_name_of_its_own(source: &Source, all: &[Source]) -> Vec<Finding> {
    if source.path != "Cargo.toml" {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (name, places) in duplicates(all) {
        let (first, first_line) = &places[0];
        for (path, line) in &places[1..] {
            let message = format!("a second public type `{name}`; one is in {first}:{first_line}");
            findings.push(Finding { path: path.clone(), line: *line, message, is_warning: false });
        }
    }
    findings
}

/// The names that more than one public type has.
pub fn duplicates(sources: &[Source]) -> Types {
    let mut types = Types::new();
    let folders = sources.iter().filter_map(|it| it.path.strip_suffix("/Cargo.toml"));
    for folder in folders.filter(|folder| folder.starts_with(PRODUCT)) {
        for tree in trees(&format!("{folder}/src/"), sources) {
            for (source, syntax, _) in &tree.files {
                Collector { path: &source.path, types: &mut types }.visit_file(syntax);
            }
        }
    }
    types.retain(|_, places| places.len() > 1);
    types
}

/// Returns true if `rest`, up to the next semicolon, is what an alias of that name stands for, and has that name, too.
fn names_itself(name: &Ident, rest: &[TokenTree]) -> bool {
    let end = rest.iter().position(|it| it.to_string() == ";").unwrap_or(rest.len());
    rest.first().is_some_and(|it| it.to_string() == "=") && has_word(name, &rest[..end])
}
fn has_word(name: &Ident, tokens: &[TokenTree]) -> bool {
    tokens.iter().any(|it| *name == it.to_string())
}

struct Collector<'a> {
    path: &'a str,
    types: &'a mut Types,
}

impl Collector<'_> {
    fn add(&mut self, name: &Ident) {
        let place = (self.path.to_string(), name.span().start().line);
        self.types.entry(name.to_string()).or_default().push(place);
    }
    /// The types that a macro defines, or is asked to define.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        for at in 0..tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.scan(group.stream());
            }
            let is_crate = tokens.get(at + 1).is_some_and(|it| it.to_string() == "(crate)");
            let rest = &tokens[(at + 1 + usize::from(is_crate)).min(tokens.len())..];
            if let [TokenTree::Ident(kind), TokenTree::Ident(name), ..] = rest
                && tokens[at].to_string() == "pub"
                && KINDS.iter().any(|it| kind == it)
                && !names_itself(name, &rest[2..])
            {
                self.add(name);
            }
        }
    }
}

impl Visit<'_> for Collector<'_> {
    fn visit_item(&mut self, item: &Item) {
        let parts = Parts::of(item);
        if is_test(parts.attributes) {
            return;
        }
        let is_public = match parts.visibility {
            Some(Visibility::Public(_)) => true,
            Some(Visibility::Restricted(it)) => it.path.is_ident("crate"),
            _ => false,
        };
        let is_other = match item {
            Item::Type(it) => {
                let target: Vec<_> = it.ty.to_token_stream().into_iter().collect();
                !has_word(&it.ident, &target)
            }
            _ => true,
        };
        match (item, parts.name) {
            (Item::Macro(it), _) => self.scan(it.mac.tokens.clone()),
            (
                Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Trait(_) | Item::Type(_),
                Some(name),
            ) if is_public && is_other => self.add(name),
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    fn names(files: &[(&str, &str)]) -> Vec<String> {
        let mut files = files.to_vec();
        files.extend([("crates/a/Cargo.toml", ""), ("crates/b/Cargo.toml", "")]);
        duplicates(&tree(&files)).into_keys().collect()
    }

    #[test]
    fn a_second_public_type_of_one_name_is_an_error() {
        let a = ("crates/a/src/lib.rs", "mod x; pub struct Cell; struct Own;");
        let x = ("crates/a/src/x.rs", "pub(crate) enum Cell {} struct Own; pub trait Kind {}");
        let b = ("crates/b/src/lib.rs", "pub type Kind = u8; pub use a::Cell; fn Own() {}");
        assert_eq!(names(&[a, x, b]), ["Cell", "Kind"]);
        let files = [a, x, ("crates/a/Cargo.toml", ""), ("Cargo.toml", "")];
        let all = tree(&files);
        let found: Vec<_> =
            all.iter().flat_map(|it| a_type_has_a_name_of_its_own(it, &all)).collect();
        assert_eq!(found.len(), 1);
        assert_eq!((&*found[0].path, found[0].line), ("crates/a/src/x.rs", 1));
        assert!(found[0].message.contains("`Cell`; one is in crates/a/src/lib.rs:1"));
    }

    #[test]
    fn types_for_tests_and_twins_of_a_macro_are_left_out() {
        let a = "#[cfg(test)] mod tests { pub struct A; }
            mod v4 { pub use crate::x::A; twins!(4); } mod v5 { twins!(5); }
            macro_rules! twins { ($n:literal) => { pub type Twin = [u8; $n]; } }";
        let b = "pub struct A;";
        assert!(names(&[("crates/a/src/lib.rs", a), ("crates/b/src/lib.rs", b)]).is_empty());
        let alias = "macro_rules! m { () => { pub type A = b::A<u8>; pub type C = b::D; } }";
        let both = "pub struct A<T>(T); pub struct C;";
        assert_eq!(names(&[("crates/a/src/lib.rs", alias), ("crates/b/src/lib.rs", both)]), ["C"]);
        let twin = "pub(crate) struct Twin;";
        assert_eq!(names(&[("crates/a/src/lib.rs", a), ("crates/b/src/lib.rs", twin)]), ["Twin"]);
    }
}
