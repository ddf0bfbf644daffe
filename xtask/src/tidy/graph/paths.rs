//! The paths in a file, and where they lead.

use super::super::Source;
use super::tree::{Parts, Place, Tree, imports, is_test};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, Macro, Meta, Path, Visibility};

/// A file uses what another one of its crate defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: String,
    pub to: String,
    /// Counted from 1.
    pub line: usize,
    /// The path as it is written.
    pub path: String,
}

/// The arrows of all files of a tree.
pub fn arrows(tree: &Tree) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (source, syntax, module) in &tree.files {
        let mut paths = Paths { tree, source, module: *module, arrows: Vec::new() };
        paths.visit_file(syntax);
        arrows.append(&mut paths.arrows);
    }
    arrows.sort();
    arrows.dedup();
    arrows
}

struct Paths<'t, 'a> {
    tree: &'t Tree<'a>,
    source: &'a Source,
    /// The module that is being read.
    module: usize,
    arrows: Vec<Arrow>,
}

impl Paths<'_, '_> {
    fn add(&mut self, path: &[String], line: usize) {
        let (Place::Item(to) | Place::Inside(to)) = self.tree.resolve(self.module, path) else {
            return;
        };
        self.add_arrow(&self.tree.file(to).path, path, line);
    }
    fn add_arrow(&mut self, to: &str, path: &[String], line: usize) {
        let (from, to) = (self.source.path.clone(), to.to_string());
        if from != to {
            self.arrows.push(Arrow { from, to, line, path: path.join("::") });
        }
    }
    /// The paths among tokens whose meaning only a macro knows. `depth`: in how many `mod` of the macro they are;
    /// `prefix`: what stands before `::{`.
    fn scan(&mut self, tokens: TokenStream, prefix: &[String], depth: usize) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let text = |at: usize| tokens.get(at).map(ToString::to_string).unwrap_or_default();
        let is_colons = |at: usize| text(at) == ":" && text(at + 1) == ":";
        let mut at = 0;
        while at < tokens.len() {
            let before = |back: usize| at.checked_sub(back).map(text).unwrap_or_default();
            let follows_dot = before(1) == "." && before(2) != ".";
            let follows_path = before(1) == ":" && before(2) == ":";
            match &tokens[at] {
                TokenTree::Group(group) => {
                    let inside = usize::from(before(2) == "mod");
                    self.scan(group.stream(), &[], depth + inside);
                }
                TokenTree::Ident(first) if !follows_dot && !follows_path => {
                    let line = first.span().start().line;
                    let is_parameter = before(1) == "$" && first != "crate";
                    let mut path = prefix.to_vec();
                    path.push(first.to_string());
                    while is_colons(at + 1)
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    if !is_parameter
                        && is_colons(at + 1)
                        && let Some(TokenTree::Group(group)) = tokens.get(at + 3)
                    {
                        at += 3;
                        self.scan(group.stream(), &path, depth);
                    } else if !is_parameter {
                        let own = path.iter().take(depth).take_while(|it| *it == "super").count();
                        self.add(&path[own..], line);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl Visit<'_> for Paths<'_, '_> {
    fn visit_item(&mut self, item: &Item) {
        let parts = Parts::of(item);
        if is_test(parts.attributes) {
            return;
        }
        match item {
            Item::Use(it) => {
                // A re-export is no use. Names of other crates begin with `::`.
                if matches!(parts.visibility, Some(Visibility::Inherited))
                    && it.leading_colon.is_none()
                {
                    imports(&it.tree).iter().for_each(|it| self.add(&it.path, it.line));
                }
            }
            Item::Mod(it) if it.content.is_none() => {}
            Item::Mod(it) => {
                let outer = self.module;
                self.module = self.tree.child(outer, &it.ident.to_string()).unwrap_or(outer);
                visit::visit_item(self, item);
                self.module = outer;
            }
            _ => visit::visit_item(self, item),
        }
    }
    fn visit_impl_item(&mut self, item: &ImplItem) {
        let attributes = match item {
            ImplItem::Const(it) => &it.attrs[..],
            ImplItem::Fn(it) => &it.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }
    fn visit_path(&mut self, path: &Path) {
        if let (None, Some(first)) = (&path.leading_colon, path.segments.first()) {
            let names: Vec<_> = path.segments.iter().map(|it| it.ident.to_string()).collect();
            self.add(&names, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }
    fn visit_macro(&mut self, call: &Macro) {
        match call.path.get_ident() {
            Some(name) => {
                if let Some(file) = self.tree.file_of_macro(&name.to_string()) {
                    let path = format!("{name}!");
                    self.add_arrow(&file.path, &[path], name.span().start().line);
                }
            }
            None => self.visit_path(&call.path),
        }
        self.scan(call.tokens.clone(), &[], 0);
    }
    fn visit_attribute(&mut self, attribute: &Attribute) {
        match &attribute.meta {
            Meta::List(list) => self.scan(list.tokens.clone(), &[], 0),
            meta => self.visit_meta(meta),
        }
    }
}
