//! Reading the functions of a crate from its syntax: where they are, whose they are, and how long.

use super::calls::{calls, names};
use super::functions::{Function, Key, Owner, Parameters, parent};
use crate::tidy::Source;
use crate::tidy::graph::{Place, Tree, is_test};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Attribute, Block, GenericParam, Generics, ImplItem, Item, ItemImpl, ItemTrait, Path, Signature,
    TraitItem, Type, TypeParamBound, Visibility, WherePredicate,
};

/// What is in the files of a crate, without tests.
#[derive(Default)]
pub struct Found<'a> {
    pub functions: Vec<Function<'a>>,
    /// Which type implements which trait. Without a type: every type that fits.
    pub implemented: Vec<(Option<Key>, Key)>,
    /// What `type` gives another name.
    pub aliases: BTreeMap<Key, Key>,
    /// The defaults of the type parameters of each type.
    pub defaults: BTreeMap<Key, BTreeMap<String, Key>>,
}

impl<'a> Found<'a> {
    pub fn of(tree: &Tree<'a>) -> Self {
        let mut found = Self::default();
        for (source, file, module) in &tree.files {
            Module { tree, found: &mut found, source, module: *module }.read(&file.items);
        }
        found
    }
}

/// The item that a path in `module` leads to, under its last name.
pub fn key(tree: &Tree, module: usize, path: &[String]) -> Option<Key> {
    let name = path.last()?.clone();
    match tree.resolve(module, path) {
        Place::Item(at) | Place::Inside(at) => Some((at, name)),
        Place::Module(_) | Place::Outside => None,
    }
}

/// A module that is being read.
struct Module<'f, 'a> {
    tree: &'f Tree<'a>,
    found: &'f mut Found<'a>,
    source: &'a Source,
    module: usize,
}

/// The text of a function.
struct Text<'s> {
    attributes: &'s [Attribute],
    signature: &'s Signature,
    block: &'s Block,
    /// Nothing if it is visible as its trait is.
    visibility: Option<&'s Visibility>,
}

impl Module<'_, '_> {
    fn read(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(it) => {
                    let visibility = Some(&it.vis);
                    let (attributes, signature, block) = (&it.attrs, &it.sig, &it.block);
                    let text = Text { attributes, signature, block, visibility };
                    self.add(&text, Owner::Module, Parameters::new());
                }
                Item::Impl(it) if !is_test(&it.attrs) => self.read_impl(it),
                Item::Trait(it) if !is_test(&it.attrs) => self.read_trait(it),
                Item::Struct(it) => {
                    let defaults = it.generics.type_params().filter_map(|parameter| {
                        let default = self.type_key(parameter.default.as_ref()?)?;
                        Some((parameter.ident.to_string(), default))
                    });
                    let defaults = defaults.collect();
                    self.found.defaults.insert((self.module, it.ident.to_string()), defaults);
                }
                Item::Type(it) => {
                    let alias = (self.module, it.ident.to_string());
                    if let Some(target) = self.type_key(&it.ty).filter(|it| *it != alias) {
                        self.found.aliases.insert(alias, target);
                    }
                }
                Item::Mod(it) if !is_test(&it.attrs) => {
                    let child = self.tree.child(self.module, &it.ident.to_string());
                    if let (Some((_, items)), Some(child)) = (&it.content, child) {
                        let outer = std::mem::replace(&mut self.module, child);
                        self.read(items);
                        self.module = outer;
                    }
                }
                _ => {}
            }
        }
    }
    fn read_impl(&mut self, it: &ItemImpl) {
        let parameters = parameters(&it.generics);
        let of = self.type_key(&it.self_ty).filter(|(_, name)| !parameters.contains_key(name));
        if let Some((_, path, _)) = &it.trait_
            && let Some(of_trait) = key(self.tree, self.module, &names(path))
        {
            self.found.implemented.push((of.clone(), of_trait));
        }
        let owner = of.map_or(Owner::Any, Owner::Type);
        let is_of_trait = it.trait_.is_some();
        for item in &it.items {
            if let ImplItem::Fn(it) = item {
                let visibility = Some(&it.vis).filter(|_| !is_of_trait);
                let (attributes, signature, block) = (&it.attrs, &it.sig, &it.block);
                let text = Text { attributes, signature, block, visibility };
                self.add(&text, owner.clone(), parameters.clone());
            }
        }
    }
    fn read_trait(&mut self, it: &ItemTrait) {
        let (parameters, key) = (parameters(&it.generics), (self.module, it.ident.to_string()));
        for item in &it.items {
            if let TraitItem::Fn(it) = item
                && let Some(block) = &it.default
            {
                let (attributes, signature) = (&it.attrs, &it.sig);
                let text = Text { attributes, signature, block, visibility: None };
                self.add(&text, Owner::Trait(key.clone()), parameters.clone());
            }
        }
    }
    fn add(&mut self, text: &Text, owner: Owner, mut outer: Parameters) {
        if is_test(text.attributes) {
            return;
        }
        let Text { signature, block, .. } = text;
        outer.append(&mut parameters(&signature.generics));
        let scope = match text.visibility {
            Some(Visibility::Inherited) => Some(self.module),
            Some(Visibility::Restricted(it)) if it.path.is_ident("super") => {
                Some(parent(self.tree, self.module))
            }
            _ => None,
        };
        self.found.functions.push(Function {
            source: self.source,
            module: self.module,
            owner,
            name: signature.ident.to_string(),
            arguments: signature.receiver().map(|_| signature.inputs.len() - 1),
            is_unsafe: signature.unsafety.is_some(),
            scope,
            line: signature.ident.span().start().line,
            lines: text.lines_of_code(self.source),
            parameters: outer,
            calls: calls(block),
        });
    }
    fn type_key(&self, of: &Type) -> Option<Key> {
        match of {
            Type::Path(it) if it.qself.is_none() => key(self.tree, self.module, &names(&it.path)),
            _ => None,
        }
    }
}

impl Text<'_> {
    /// How many of its lines have code: comments, empty lines and documentation have none, attributes do.
    fn lines_of_code(&self, source: &Source) -> usize {
        let attributes = self.attributes.iter().filter(|it| !it.path().is_ident("doc"));
        let attributes = attributes.map(|it| {
            let (begin, end) = (it.pound_token.spans[0], it.bracket_token.span.close());
            begin.start().line..=end.end().line
        });
        let (begin, end) = (self.signature.fn_token.span, self.block.brace_token.span.close());
        let body = begin.start().line..=end.end().line;
        let lines: BTreeSet<_> = attributes.chain([body]).flatten().collect();
        let is_code = |line: &&usize| {
            let is_in = |it: &[String]| it.get(**line - 1).is_some_and(|it| !it.trim().is_empty());
            is_in(&source.code().lines) || is_in(&source.code().literals)
        };
        lines.iter().filter(is_code).count()
    }
}

/// The type parameters that are declared here, with what they have to implement.
fn parameters(generics: &Generics) -> Parameters {
    let mut found = Parameters::new();
    for parameter in &generics.params {
        if let GenericParam::Type(it) = parameter {
            found.insert(it.ident.to_string(), traits(it.bounds.iter()));
        }
    }
    for predicate in generics.where_clause.iter().flat_map(|it| &it.predicates) {
        if let WherePredicate::Type(it) = predicate
            && let Type::Path(of) = &it.bounded_ty
            && let Some(bounds) = name(&of.path).and_then(|name| found.get_mut(&name))
        {
            bounds.append(&mut traits(it.bounds.iter()));
        }
    }
    found
}

/// A path of one name.
fn name(path: &Path) -> Option<String> {
    path.get_ident().map(ToString::to_string)
}

fn traits<'b>(bounds: impl Iterator<Item = &'b TypeParamBound>) -> Vec<Vec<String>> {
    let path = |it: &TypeParamBound| match it {
        TypeParamBound::Trait(it) => Some(names(&it.path)),
        _ => None,
    };
    bounds.filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code_are_those_that_are_not_empty_and_no_comment_or_documentation() {
        let text = "/// What it is.\n#[doc(alias = \"g\")]\n#[inline]\n// A comment.\npub fn f(a: u8)\n{\n\n    \
            // Why.\n    g(a, \"\n  of a text\n\"); // why\n}\n";
        let sources = [Source::new("lib.rs", text)];
        let tree = Tree::of("lib.rs", &sources);
        let [function] = &Found::of(&tree).functions[..] else { panic!("not one function") };
        assert_eq!((function.line, function.lines), (5, 7));
    }

    #[test]
    fn a_function_says_whose_it_is_and_tests_are_left_out() {
        let text = "fn f() {} struct A; impl A { fn g(&self, a: u8) {} } trait T { fn h() {} fn i(); }
            impl T for A { unsafe fn i() {} } impl<X: T> U for X { fn j() {} } mod m { pub fn k() {} }
            #[cfg(test)] mod tests { fn l() {} } #[test] fn m() {}";
        let sources = [Source::new("lib.rs", text)];
        let tree = Tree::of("lib.rs", &sources);
        let found = Found::of(&tree);
        let names: Vec<_> = found.functions.iter().map(Function::full_name).collect();
        assert_eq!(names, ["f", "A::g", "T::h", "A::i", "j", "k"]);
        assert_eq!(found.functions[1].arguments, Some(1));
        assert!(found.functions[3].is_unsafe);
        let scopes = found.functions.iter().map(|it| it.scope.is_some()).collect::<Vec<_>>();
        assert_eq!(scopes, [true, true, false, false, false, false]);
    }
}
