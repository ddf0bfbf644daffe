//! The functions of a crate, and finding them by name.

use super::calls::Call;
use super::collect::{Found, key};
use crate::tidy::Source;
use crate::tidy::graph::{Place, Tree, arrows};
use std::collections::{BTreeMap, BTreeSet};

/// An item: the module that defines it, and its name.
pub type Key = (usize, String);

/// The paths of the traits that each type parameter has to implement.
pub type Parameters = BTreeMap<String, Vec<Vec<String>>>;

/// Whose a function is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Module,
    Type(Key),
    /// A trait has it for the types that do not write it themselves.
    Trait(Key),
    /// Of every type that the `impl` fits.
    Any,
}

/// A function that has a body.
pub struct Function<'a> {
    pub source: &'a Source,
    pub module: usize,
    pub owner: Owner,
    pub name: String,
    /// How many arguments it takes after `self`; nothing if it does not take `self`.
    pub arguments: Option<usize>,
    pub is_unsafe: bool,
    /// The module in which it can be called; nothing if that is all of the crate, or not declared with it.
    pub scope: Option<usize>,
    /// Counted from 1.
    pub line: usize,
    /// How many of its lines are code.
    pub lines: usize,
    pub parameters: Parameters,
    pub calls: Vec<Call>,
}

impl Function<'_> {
    /// Its name with that of the type or the trait.
    pub fn full_name(&self) -> String {
        match &self.owner {
            Owner::Type((_, of)) | Owner::Trait((_, of)) => format!("{of}::{}", self.name),
            Owner::Module | Owner::Any => self.name.clone(),
        }
    }
}

/// The functions of a crate, and what it takes to find them by name.
pub struct Functions<'a> {
    pub tree: Tree<'a>,
    pub all: Vec<Function<'a>>,
    /// The numbers of the functions that have a name.
    named: BTreeMap<String, Vec<usize>>,
    /// Which type implements which trait. Without a type: every type that fits.
    implemented: Vec<(Option<Key>, Key)>,
    /// What `type` gives another name.
    aliases: BTreeMap<Key, Key>,
    /// The defaults of the type parameters of each type.
    defaults: BTreeMap<Key, BTreeMap<String, Key>>,
    /// The files that a file uses.
    uses: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Functions<'a> {
    /// Those of the crate whose root is the file `root`.
    pub fn of(root: &str, sources: &'a [Source]) -> Self {
        let tree = Tree::of(root, sources);
        let mut uses: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for arrow in arrows(&tree) {
            uses.entry(arrow.from).or_default().insert(arrow.to);
        }
        let Found { functions: all, implemented, aliases, defaults } = Found::of(&tree);
        let mut named: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (at, function) in all.iter().enumerate() {
            named.entry(function.name.clone()).or_default().push(at);
        }
        Self { tree, all, named, implemented, aliases, defaults, uses }
    }
    /// The item that a path in `module` leads to, under its last name.
    pub fn key(&self, module: usize, path: &[String]) -> Option<Key> {
        key(&self.tree, module, path)
    }
    /// The functions of this name that `is_wanted`.
    pub fn named(&self, name: &str, is_wanted: impl Fn(&Function) -> bool) -> Vec<usize> {
        let numbers = self.named.get(name).into_iter().flatten().copied();
        numbers.filter(|&at| is_wanted(&self.all[at])).collect()
    }
    /// The functions of this name that belong to a type: those of its `impl` blocks, or what a trait has for it.
    pub fn of_type(&self, of: &Key, name: &str) -> Vec<usize> {
        let own = self.named(name, |it| it.owner == Owner::Type(of.clone()));
        if !own.is_empty() {
            return own;
        }
        if let Some(of) = self.aliases.get(of) {
            return self.of_type(of, name);
        }
        let is_of = |it: &Option<Key>| it.as_ref().is_none_or(|it| it == of);
        let has = |key: &Key| self.implemented.iter().any(|(it, of_it)| of_it == key && is_of(it));
        let is_default = |it: &Function| matches!(&it.owner, Owner::Trait(key) if has(key));
        self.named(name, |it| is_default(it) || it.owner == Owner::Any)
    }
    /// The types that implement a trait.
    pub fn implementors(&self, of: &Key) -> Vec<&Key> {
        let pairs = self.implemented.iter().filter(|(_, it)| it == of);
        pairs.filter_map(|(it, _)| it.as_ref()).collect()
    }
    /// True if this is a trait that has a function with a body, or that a type implements.
    pub fn is_trait(&self, key: &Key) -> bool {
        let is_owner = |it: &Function| it.owner == Owner::Trait(key.clone());
        self.implemented.iter().any(|(_, it)| it == key) || self.all.iter().any(is_owner)
    }
    /// The default of each type parameter of a type, where it is a type of the crate.
    pub fn defaults(&self, of: &Key) -> BTreeMap<String, Key> {
        self.defaults.get(of).cloned().unwrap_or_default()
    }
    /// True if code in `module` may call a function, as far as that is declared with it.
    pub fn may_call(&self, module: usize, function: &Function) -> bool {
        let Some(scope) = function.scope else { return true };
        let mut at = module;
        while at != scope && at != 0 {
            at = parent(&self.tree, at);
        }
        at == scope
    }
    /// The files that a file uses.
    pub fn used_by(&self, file: &str) -> impl Iterator<Item = &str> {
        self.uses.get(file).into_iter().flatten().map(String::as_str)
    }
}

/// The module that a module is in.
pub fn parent(tree: &Tree, module: usize) -> usize {
    match tree.resolve(module, &["super".to_string()]) {
        Place::Module(parent) => parent,
        _ => 0,
    }
}
