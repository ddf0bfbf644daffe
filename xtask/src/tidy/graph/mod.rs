//! The graph of modules: which file of a crate uses what another one defines.
//!
//! Names are resolved through imports and re-exports, so an arrow leads to the file that defines the item. `mod x;` and
//! re-exports are no arrows, and tests are left out. Not seen: calls of methods, and a trait that only `*` imports.

mod circles;
mod crates;
mod names;
mod paths;
mod tree;

pub use circles::a_circle_has_at_most_two_files;
pub use names::a_type_has_a_name_of_its_own;
pub use paths::{Arrow, arrows};
pub use tree::{Place, Tree, imports};

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::circles::circles;
    use super::crates::Graph;
    use super::*;
    use std::collections::BTreeSet;

    /// Files as `tidy` reads them.
    pub fn tree(files: &[(&str, &str)]) -> Vec<Source> {
        let mut sources: Vec<_> =
            files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        sources
    }

    /// The graph of a crate with these files, which stand without `.rs`.
    fn graph(files: &[(&str, &str)]) -> Graph {
        let path = |name: &str| format!("a/src/{name}.rs");
        let mut sources: Vec<_> = files.iter().map(|it| Source::new(path(it.0), it.1)).collect();
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        Graph::of("a", &sources)
    }

    /// Its arrows, as `from:line to`.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let graph = graph(files);
        let text =
            |it: &Arrow| format!("{}:{} {}", graph.module(&it.from), it.line, graph.module(&it.to));
        let found: BTreeSet<_> = graph.arrows.iter().map(text).collect();
        found.into_iter().collect()
    }

    const ROOT: (&str, &str) = ("lib", "mod a; mod b; mod c;");

    #[test]
    fn a_circle_of_three_files_is_found_and_one_of_two_is_not() {
        let a = ("a", "use crate::b::B; pub struct A;");
        let b = ("b", "pub struct B; fn f() -> super::c::C { super::c::C }");
        let two = graph(&[ROOT, a, b, ("c", "pub struct C(crate::b::B);")]);
        assert!(two.arrows.len() > 2 && circles(&two).is_empty());
        let three = graph(&[ROOT, a, b, ("c", "use crate::a; pub struct C(a::A);")]);
        let [circle] = &circles(&three)[..] else { panic!("{} circles", circles(&three).len()) };
        assert_eq!(Vec::from_iter(circle), [&"a/src/a.rs", &"a/src/b.rs", &"a/src/c.rs"]);
    }

    #[test]
    fn a_circle_of_three_files_is_an_error_that_names_an_arrow_of_each() {
        let findings = |last: &str| {
            let [a, b, c] =
                ["b", "c", last].map(|it| format!("\nuse crate::{it}::A; pub struct A;"));
            let files = [("a/src/a.rs", &*a), ("a/src/b.rs", &*b), ("a/src/c.rs", &*c)];
            let sources =
                tree(&[&files[..], &[("a/Cargo.toml", ""), ("a/src/lib.rs", ROOT.1)]].concat());
            a_circle_has_at_most_two_files(&sources[0], &sources)
        };
        let [found] = &findings("a")[..] else { panic!("not one circle") };
        let message = "a circle of 3 files, at most 2: a uses b (line 2: `crate::b::A`), \
            b uses c (line 2: `crate::c::A`), c uses a (line 2: `crate::a::A`)";
        assert_eq!((&*found.path, &*found.message), ("a/src/a.rs", message));
        assert!(findings("b").is_empty());
    }

    #[test]
    fn a_name_is_resolved_to_the_file_that_defines_it_and_a_reexport_is_no_arrow() {
        let folder = ("a/mod", "mod x;\nmod y;\npub use x::X as Renamed;\npub use y::*;");
        let children = [("a/x", "use super::Y;\npub struct X;"), ("a/y", "pub enum Y { One }")];
        let user = ("b", "use crate::a::{self, Renamed};\nconst Y: a::Y = a::Y::One;");
        let files = [ROOT, folder, children[0], children[1], user, ("c", "")];
        assert_eq!(found(&files), ["a/x:1 a/y", "b:1 a/x", "b:2 a/y"]);
    }

    #[test]
    fn paths_in_macros_and_attributes_are_seen() {
        let root = ("lib", "#[macro_use] mod a; mod b; mod c;");
        let a = ("a", "macro_rules! twice { ($x:expr) => { $crate::c::C }; }\npub fn f() {}");
        let b =
            ("b", "use super::a;\nfn g() { assert!(a::f() == x.c); }\nconst Z: u8 = twice!(1);");
        let c = ("c", "pub struct C;\n#[arg(parser = crate::b::g)]\nstruct D;");
        assert_eq!(found(&[root, a, b, c]), ["a:1 c", "b:2 a", "b:3 a", "c:2 b"]);
        let nested = ("b", "twins! { mod v4 { use super::super::c::C; use super::a::{f, g}; } }");
        let nested = found(&[root, ("a", "pub fn f() {}"), nested, ("c", "pub struct C;")]);
        assert_eq!(nested, ["b:1 c"]);
    }

    #[test]
    fn tests_and_what_is_not_of_the_crate_are_left_out() {
        let a = "#[cfg(test)] mod tests { use crate::b::B; }\n#[cfg(test)] use crate::b::B;
            use std::fmt; use c::C; fn f(b: fmt::Result) { b.c(); ::c::f() }";
        let files = [("lib", "mod a; mod b; #[cfg(all(test, unix))] mod c;"), ("a", a)];
        let files = [files[0], files[1], ("b", "pub struct B;"), ("c", "use crate::b::B;")];
        assert!(found(&files).is_empty(), "{:?}", found(&files));
    }

    #[test]
    fn what_a_macro_makes_is_in_the_file_that_the_path_leads_to() {
        let made = ("a", "made! { Made }\npub use other::Thing;");
        let files = [ROOT, made, ("b", "use crate::a::Made;\nuse crate::a::Thing;"), ("c", "")];
        assert_eq!(found(&files), ["b:1 a", "b:2 a"]);
    }
}
