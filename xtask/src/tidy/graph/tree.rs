//! The modules of a crate, and what each name in them stands for.

use super::super::Source;
use crate::packages::{LIBRARIES, SOURCES};
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, Meta, UseTree, Visibility};

/// The modules below one root (`lib.rs`, `main.rs` or a file in `bin`), without tests.
pub struct Tree<'a> {
    /// Each file with its syntax and the module that it is.
    pub files: Vec<(&'a Source, Rc<syn::File>, usize)>,
    modules: Vec<Module>,
    /// The crates, by their names in code, and the module that each is.
    crates: BTreeMap<String, usize>,
    /// The files that define a macro of this name.
    macros: BTreeMap<String, Vec<usize>>,
}

struct Module {
    /// Its number in [`Tree::files`].
    file: usize,
    /// The module around it; of a crate, the crate itself.
    parent: usize,
    /// The crate that it is in.
    root: usize,
    /// Where the files of its children are.
    folder: String,
    names: BTreeMap<String, Vec<Name>>,
    /// The paths before `::*`.
    globs: Vec<Vec<String>>,
}

/// What a name in a module stands for.
enum Name {
    Item,
    Module(usize),
    Import(Vec<String>),
}

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Out of the crate.
    Outside,
    /// To an item that this module defines.
    Item(usize),
    /// To this module.
    Module(usize),
    /// To something in this module that cannot be seen: a macro has made it, or it is of another crate.
    Inside(usize),
}

/// The parts of an item that matter here.
pub struct Parts<'a> {
    pub attributes: &'a [Attribute],
    pub name: Option<&'a Ident>,
    pub visibility: Option<&'a Visibility>,
}

impl<'a> Parts<'a> {
    pub fn of(item: &'a Item) -> Self {
        macro_rules! parts {
            ($($Kind:ident)+; $($Nameless:ident)+) => {
                match item {
                    $(Item::$Kind(it) => (&it.attrs[..], Some(&it.ident), Some(&it.vis)),)+
                    $(Item::$Nameless(it) => (&it.attrs[..], None, None),)+
                    Item::Fn(it) => (&it.attrs[..], Some(&it.sig.ident), Some(&it.vis)),
                    Item::Macro(it) => (&it.attrs[..], it.ident.as_ref(), None),
                    Item::Use(it) => (&it.attrs[..], None, Some(&it.vis)),
                    _ => (&[][..], None, None),
                }
            };
        }
        let (attributes, name, visibility) = parts! {
            Const Enum Mod Static Struct Trait TraitAlias Type Union; ExternCrate ForeignMod Impl
        };
        Self { attributes, name, visibility }
    }
}

/// True if something with these attributes is compiled for tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string().replace(' ', "");
            let inside = text.strip_prefix("all(").map_or(&*text, |it| it.trim_end_matches(')'));
            inside.split(',').any(|part| ["test", "doctest"].contains(&part))
        }
        meta => meta.path().is_ident("test"),
    })
}

/// A name that `use` imports.
pub struct Import {
    pub path: Vec<String>,
    /// Its name here; `None` for `*`.
    pub name: Option<String>,
    pub line: usize,
}

/// What a `use` imports.
pub fn imports(tree: &UseTree) -> Vec<Import> {
    let import = |ident: &Ident, name: Option<&Ident>| {
        let name = name.map(ToString::to_string);
        vec![Import { path: vec![ident.to_string()], name, line: ident.span().start().line }]
    };
    match tree {
        UseTree::Name(it) => import(&it.ident, Some(&it.ident)),
        UseTree::Rename(it) => import(&it.ident, Some(&it.rename)),
        UseTree::Glob(it) => {
            let line = it.star_token.spans[0].start().line;
            vec![Import { path: Vec::new(), name: None, line }]
        }
        UseTree::Group(it) => it.items.iter().flat_map(imports).collect(),
        UseTree::Path(it) => {
            let mut imports = imports(&it.tree);
            for import in &mut imports {
                if import.path == ["self"] {
                    import.path.clear();
                    import.name = import.name.take().map(|name| match &*name {
                        "self" => it.ident.to_string(),
                        _ => name,
                    });
                }
                import.path.insert(0, it.ident.to_string());
            }
            imports
        }
    }
}

impl<'a> Tree<'a> {
    /// The modules below the file `root`.
    pub fn of(root: &str, sources: &'a [Source]) -> Self {
        Self::of_crates(&[("", root)], sources)
    }
    /// The modules of some crates that use each other: the name of each, and the file at its root.
    pub fn of_crates(crates: &[(&str, &str)], sources: &'a [Source]) -> Self {
        let (files, modules, macros) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut tree = Self { files, modules, macros, crates: BTreeMap::new() };
        for (name, root) in crates {
            let folder = root.rsplit_once('/').map_or("", |it| it.0);
            let next = tree.modules.len();
            if let Some(module) = tree.read(root, folder, next, sources) {
                tree.crates.insert(name.to_string(), module);
            }
        }
        tree
    }
    /// The packages with locks, as one tree.
    pub fn of_locks(sources: &'a [Source]) -> Self {
        let roots = SOURCES.map(|folder| format!("{folder}lib.rs"));
        let crates: Vec<_> = LIBRARIES.into_iter().zip(roots.iter().map(|it| &**it)).collect();
        Self::of_crates(&crates, sources)
    }
    /// Reads the file of a module; `None` if there is no such file or the compiler would not take it.
    fn read(
        &mut self,
        path: &str,
        folder: &str,
        parent: usize,
        all: &'a [Source],
    ) -> Option<usize> {
        let at = all.binary_search_by(|it| (*it.path).cmp(path)).ok()?;
        let syntax = syn::parse_file(&all[at].text).ok().filter(|it| !is_test(&it.attrs))?;
        let (syntax, module) = (Rc::new(syntax), self.modules.len());
        self.files.push((&all[at], Rc::clone(&syntax), module));
        let file = self.files.len() - 1;
        self.add_module(file, parent, folder);
        Names { tree: self, module, sources: all }.visit_file(&syntax);
        Some(module)
    }
    fn add_module(&mut self, file: usize, parent: usize, folder: &str) -> usize {
        let (names, globs, id) = (BTreeMap::new(), Vec::new(), self.modules.len());
        let root = if parent == id { id } else { self.modules[parent].root };
        self.modules.push(Module { file, parent, root, folder: folder.to_string(), names, globs });
        id
    }
    /// The file of a module.
    pub fn file(&self, module: usize) -> &'a Source {
        self.files[self.modules[module].file].0
    }
    /// The module `name` in `module`.
    pub fn child(&self, module: usize, name: &str) -> Option<usize> {
        let names = self.modules[module].names.get(name)?;
        names.iter().find_map(|it| if let Name::Module(id) = it { Some(*id) } else { None })
    }
    /// The module that a path in `module` leads to.
    pub fn resolve(&self, module: usize, path: &[String]) -> Place {
        self.follow(module, path, &mut Vec::new())
    }
    /// The file that defines the macro of this name, if there is only one.
    pub fn file_of_macro(&self, name: &str) -> Option<&'a Source> {
        match self.macros.get(name)?[..] {
            [file] => Some(self.files[file].0),
            _ => None,
        }
    }
    fn follow(&self, from: usize, path: &[String], seen: &mut Seen) -> Place {
        let mut at = None;
        for (index, name) in path.iter().enumerate() {
            let next = match (at, &**name) {
                (None, "crate") => Place::Module(self.modules[from].root),
                (_, "self") => Place::Module(at.unwrap_or(from)),
                (_, "super") => Place::Module(self.modules[at.unwrap_or(from)].parent),
                _ => match (
                    self.look_up(at.unwrap_or(from), name, index + 1 == path.len(), seen),
                    at,
                ) {
                    (Place::Outside, None) => {
                        self.crates.get(name).map_or(Place::Outside, |root| Place::Module(*root))
                    }
                    (place, _) => place,
                },
            };
            at = match (next, at) {
                (Place::Module(module), _) => Some(module),
                (Place::Outside, Some(module)) => return Place::Inside(module),
                (place, _) => return place,
            };
        }
        at.map_or(Place::Outside, Place::Module)
    }
    /// What `name` is in module `at`. `seen` is what the search is looking for already, so that it ends.
    fn look_up(&self, at: usize, name: &str, is_last: bool, seen: &mut Seen) -> Place {
        let search = (at, name.to_string(), is_last);
        if seen.contains(&search) {
            return Place::Outside;
        }
        seen.push(search);
        let mut places = Vec::new();
        for meaning in self.modules[at].names.get(name).into_iter().flatten() {
            places.push(match meaning {
                Name::Item => Place::Item(at),
                Name::Module(module) => Place::Module(*module),
                Name::Import(path) => self.follow(at, path, seen),
            });
        }
        // A name that is written out hides those of `*`.
        let is_found = places.iter().any(|it| *it != Place::Outside);
        let globs = self.modules[at].globs.iter().filter(|_| !is_found);
        for glob in globs {
            if let Place::Module(module) = self.follow(at, glob, seen) {
                places.push(self.look_up(module, name, is_last, seen));
            }
        }
        seen.pop();
        // A module and a function may have one name: `a` is the function in `a()`, and the module in `a::b`.
        let is_module = |place: &&Place| matches!(place, Place::Module(_));
        let wanted = places.iter().filter(|it| **it != Place::Outside);
        let best = wanted.clone().find(|it| is_module(it) != is_last);
        best.or(wanted.clone().next()).copied().unwrap_or(Place::Outside)
    }
}

type Seen = Vec<(usize, String, bool)>;

/// Collects the names of a module and of those inside.
struct Names<'t, 'a> {
    tree: &'t mut Tree<'a>,
    module: usize,
    sources: &'a [Source],
}

impl Names<'_, '_> {
    fn add(&mut self, name: String, meaning: Name) {
        self.tree.modules[self.module].names.entry(name).or_default().push(meaning);
    }
    fn add_child(&mut self, item: &syn::ItemMod) {
        let Module { file, folder, .. } = &self.tree.modules[self.module];
        let (name, file) = (item.ident.to_string(), *file);
        let folder = format!("{folder}/{name}");
        let child = if let Some((_, items)) = &item.content {
            let child = self.tree.add_module(file, self.module, &folder);
            let mut inside = Names { tree: self.tree, module: child, sources: self.sources };
            items.iter().for_each(|item| inside.visit_item(item));
            Some(child)
        } else {
            let files = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
            files.iter().find_map(|it| self.tree.read(it, &folder, self.module, self.sources))
        };
        if let Some(child) = child {
            self.add(name, Name::Module(child));
        }
    }
}

impl Visit<'_> for Names<'_, '_> {
    fn visit_item(&mut self, item: &Item) {
        let parts = Parts::of(item);
        if is_test(parts.attributes) {
            return;
        }
        match item {
            Item::Mod(it) => return self.add_child(it),
            Item::Use(it) if it.leading_colon.is_none() => {
                for import in imports(&it.tree) {
                    match import.name {
                        Some(name) => self.add(name, Name::Import(import.path)),
                        None => self.tree.modules[self.module].globs.push(import.path),
                    }
                }
            }
            Item::Macro(it) if let Some(name) = &it.ident => {
                let file = self.tree.modules[self.module].file;
                self.tree.macros.entry(name.to_string()).or_default().push(file);
            }
            _ => parts.name.into_iter().for_each(|it| self.add(it.to_string(), Name::Item)),
        }
        // A function may have imports of its own.
        visit::visit_item(self, item);
    }
}
