//! What can be reached from a function, as far as names tell.
//!
//! A path leads where the imports of its file say. What only a compiler with types knows is guessed, and the guess is
//! too large rather than too small:
//!
//! | call | leads to |
//! |---|---|
//! | `P::foo()` | the function of [`PLATFORM`], or what its trait has for all platforms |
//! | `S::foo()`, another type parameter | that of the parameter's default in the lock's type; without one, those of the types that implement its bounds |
//! | `Self::foo()`, `self.foo()` | that of the type; in a trait, those of the types that implement it |
//! | `Trait::foo()` | those of the types that implement it: the platform, the defaults, the lock, and all in a file that is reached or that such a file uses |
//! | `x.foo()` | each method `foo` that takes as many arguments and may be called there (private, `unsafe`), of a type or trait in a file that is reached or that such a file uses; nothing if it is one of [`SEAM`] |
//! | `foo` without brackets | the function of this name, if one is in scope |
//!
//! Where a function of a type is reached, its `drop` is reached, too.

use super::calls::{Call, MethodCall};
use super::functions::{Function, Functions, Key, Owner};
use crate::tidy::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The type parameter that is the platform in all locks, and the platform of programs.
const PLATFORM: (&str, &[&str]) = ("P", &["native", "Native"]);

/// The operations of cells. They are the seam between a lock and its machine: natively one instruction of the
/// processor, or a loop around one. A reader knows them by name, and the walk ends there.
pub const SEAM: &[&str] = &[
    "load",
    "store",
    "swap",
    "compare_exchange",
    "cond_load",
    "cond_load_bounded",
    "cond_load_stepping",
    "fetch_add",
    "fetch_sub",
    "fetch_or",
    "fetch_and",
    "store_byte0",
    "store_byte1",
    "store_half0",
    "swap_byte0",
    "swap_half1",
    "compare_exchange_byte0",
    "compare_exchange_half0",
];

/// A function that is reached.
#[derive(Clone, Copy)]
pub struct Step {
    /// Its number in [`Functions::all`].
    pub function: usize,
    /// The one that it is reached from first; nothing for a function where the walk begins.
    pub from: Option<usize>,
}

/// What can be reached from these functions of a type, in the order in which a reader meets it.
pub fn reach(functions: &Functions, lock: &Key, names: &[&str]) -> Vec<Step> {
    let mut walk = Walk::of(functions, lock);
    for name in names {
        functions.of_type(lock, name).into_iter().for_each(|it| walk.add(it, None));
    }
    // A method may be found only once another file is reached.
    let mut before = 0;
    while walk.steps.len() > before {
        before = walk.steps.len();
        let mut at = 0;
        while at < walk.steps.len() {
            walk.follow(walk.steps[at].function);
            at += 1;
        }
    }
    walk.steps
}

struct Walk<'f, 'a> {
    functions: &'f Functions<'a>,
    lock: &'f Key,
    platform: Option<Key>,
    /// What type parameters stand for, except for the platform.
    defaults: BTreeMap<String, Key>,
    steps: Vec<Step>,
    seen: BTreeSet<usize>,
    /// Files in which a method may be: reached ones, and what they use.
    files: BTreeSet<&'f str>,
}

impl<'f, 'a> Walk<'f, 'a> {
    fn of(functions: &'f Functions<'a>, lock: &'f Key) -> Self {
        let path: Vec<_> = PLATFORM.1.iter().map(ToString::to_string).collect();
        let (platform, defaults) = (functions.key(0, &path), functions.defaults(lock));
        let (steps, seen, files) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Self { functions, lock, platform, defaults, steps, seen, files }
    }
    fn add(&mut self, function: usize, from: Option<usize>) {
        if !self.seen.insert(function) {
            return;
        }
        self.steps.push(Step { function, from });
        let it = &self.functions.all[function];
        self.files.insert(&it.source.path);
        self.files.extend(self.functions.used_by(&it.source.path));
        if let Owner::Type(_) = it.owner {
            let is_drop = |drop: &Function| drop.owner == it.owner && drop.arguments == Some(0);
            let drops = self.functions.named("drop", is_drop);
            drops.into_iter().for_each(|drop| self.add(drop, Some(function)));
        }
    }
    /// Reaches what a function calls.
    fn follow(&mut self, function: usize) {
        let it = &self.functions.all[function];
        for call in &it.calls {
            let targets = match call {
                Call::Path(path) => self.of_path(it, path),
                Call::Method(call) => self.of_method(it, call),
            };
            targets.into_iter().for_each(|target| self.add(target, Some(function)));
        }
    }
    fn of_path(&self, from: &Function, path: &[String]) -> Vec<usize> {
        let Some((name, of)) = path.split_last() else { return Vec::new() };
        let is_type_here = |it: &String| it == "Self" || from.parameters.contains_key(it);
        match of {
            [of] if of == "Self" => self.of_self(from, name),
            [of] if from.parameters.contains_key(of) => self.of_parameter(from, of, name),
            // A type of a type, such as `P::Word`.
            [first, ..] if is_type_here(first) => self.methods(name, |_| true),
            _ => self.of_item(from.module, path, of, name),
        }
    }
    /// `of::name`, where `of` is a type, a trait, a module, or nothing.
    fn of_item(&self, module: usize, path: &[String], of: &[String], name: &str) -> Vec<usize> {
        let found = match self.functions.key(module, of) {
            Some(key) if self.functions.is_trait(&key) => self.of_trait(&key, name),
            Some(key) => self.functions.of_type(&key, name),
            None => Vec::new(),
        };
        match self.functions.key(module, path) {
            Some((at, name)) if found.is_empty() => {
                self.functions.named(&name, |it| it.owner == Owner::Module && it.module == at)
            }
            _ => found,
        }
    }
    fn of_method(&self, from: &Function, call: &MethodCall) -> Vec<usize> {
        let name = &*call.name;
        let own = if call.is_on_self { self.of_self(from, name) } else { Vec::new() };
        if !own.is_empty() || SEAM.contains(&name) {
            return own;
        }
        // What the compiler would refuse is not meant.
        self.methods(name, |it| {
            it.arguments == Some(call.arguments)
                && (call.is_in_unsafe || !it.is_unsafe)
                && self.functions.may_call(from.module, it)
        })
    }
    /// The functions of this name of all types and traits that may be meant, as far as the files tell.
    fn methods(&self, name: &str, is_wanted: impl Fn(&Function) -> bool) -> Vec<usize> {
        let is_near = |it: &Function| match &it.owner {
            Owner::Module => false,
            Owner::Any => self.is_near(it.source),
            Owner::Type((at, _)) | Owner::Trait((at, _)) => {
                self.is_near(it.source) || self.is_near(self.functions.tree.file(*at))
            }
        };
        self.functions.named(name, |it| is_wanted(it) && is_near(it))
    }
    fn is_near(&self, file: &Source) -> bool {
        self.files.contains(&*file.path)
    }
    fn of_self(&self, from: &Function, name: &str) -> Vec<usize> {
        match &from.owner {
            Owner::Type(of) => self.functions.of_type(of, name),
            Owner::Trait(of) => self.of_trait(of, name),
            Owner::Any => self.methods(name, |_| true),
            Owner::Module => Vec::new(),
        }
    }
    fn of_parameter(&self, from: &Function, parameter: &str, name: &str) -> Vec<usize> {
        if parameter == PLATFORM.0
            && let Some(platform) = &self.platform
        {
            return self.functions.of_type(platform, name);
        }
        let bounds = from.parameters[parameter].iter();
        let bounds: Vec<_> = bounds.filter_map(|it| self.functions.key(from.module, it)).collect();
        if let Some(default) = self.defaults.get(parameter)
            && bounds.iter().any(|it| self.functions.implementors(it).contains(&default))
        {
            return self.functions.of_type(default, name);
        }
        bounds.iter().flat_map(|it| self.of_trait(it, name)).collect()
    }
    /// The functions of this name of the types that implement a trait, as far as these are known or near.
    fn of_trait(&self, of: &Key, name: &str) -> Vec<usize> {
        let is_meant = |it: &&Key| {
            let mut known = self.platform.iter().chain(self.defaults.values()).chain([self.lock]);
            known.any(|key| key == *it) || self.is_near(self.functions.tree.file(it.0))
        };
        let types = self.functions.implementors(of).into_iter().filter(is_meant);
        let found: Vec<_> = types.flat_map(|it| self.functions.of_type(it, name)).collect();
        if !found.is_empty() {
            return found;
        }
        let is_own = |it: &Function| [Owner::Trait(of.clone()), Owner::Any].contains(&it.owner);
        self.functions.named(name, is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sources;

    const LOCK: &str =
        "use crate::order::{Fifo, Order}; use crate::platform::Clock; use crate::word::Word;
        pub struct Lock<P, S = Fifo>(P, S);
        impl<P: Clock, S: Order> Lock<P, S> {
            fn try_lock(&self) {}
            pub fn lock(&self, it: Word) { BODY }
        }";
    const FILES: &[(&str, &str)] = &[
        ("lib", "mod lock; mod native; mod order; mod other; mod platform; mod word;"),
        ("native", "pub struct Native; fn call() { ::libc::time(); }
            impl crate::platform::Clock for Native { fn now() { call() } }"),
        ("order", "pub trait Order { fn next(); } fn first() {}
            pub struct Fifo; impl Order for Fifo { fn next() { first() } }
            pub struct Lifo; impl Order for Lifo { fn next() {} }"),
        ("other", "pub struct Far; impl Far { pub fn bits(&self) {} }"),
        ("platform", "pub trait Clock { fn now(); fn twice() { Self::now(); Self::now() } }"),
        ("word", "pub struct Word; fn gone() {} impl Drop for Word { fn drop(&mut self) { gone() } }
            impl Word { pub fn of() -> Self { Word } pub fn bits(&self) {} pub unsafe fn peek(&self) {}
                fn own(&self) {} }
            pub struct Half; impl Half { pub fn bits(&self) {} }"),
    ];

    /// What a `lock` with this body reaches.
    fn reached(body: &str) -> BTreeSet<String> {
        let lock = LOCK.replace("BODY", body);
        let files = FILES.iter().copied().chain([("lock", &*lock)]);
        let source = |(name, text)| Source::new(format!("src/{name}.rs"), text);
        let mut sources: Vec<_> = files.map(source).collect();
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        let functions = Functions::of("src/lib.rs", &sources);
        let lock = functions.key(0, &["lock", "Lock"].map(String::from)).expect("there is a lock");
        let steps = reach(&functions, &lock, &["lock"]);
        let name = |it: &Step| functions.all[it.function].full_name();
        steps.iter().skip(1).map(name).collect()
    }
    fn assert_reached(body: &str, names: &[&str]) {
        assert_eq!(reached(body), names.iter().map(ToString::to_string).collect(), "{body}");
    }

    #[test]
    fn each_kind_of_call_leads_to_its_function() {
        assert_reached("self.try_lock()", &["Lock::try_lock"]);
        assert_reached("Self::try_lock(self)", &["Lock::try_lock"]);
        assert_reached("P::twice()", &["Clock::twice", "Native::now", "call"]);
        assert_reached("each(P::now)", &["Native::now", "call"]);
        assert_reached("S::next()", &["Fifo::next", "first"]);
        assert_reached("crate::order::Lifo::next()", &["Lifo::next"]);
        assert_reached("Word::of()", &["Word::of", "Word::drop", "gone"]);
    }

    #[test]
    fn a_method_of_an_unknown_type_leads_to_all_that_may_be_meant() {
        // Not to the one in the file that nothing uses.
        assert_reached("it.bits()", &["Half::bits", "Word::bits", "Word::drop", "gone"]);
        assert_reached("unsafe { it.peek() }", &["Word::peek", "Word::drop", "gone"]);
        for refused in ["it.peek()", "it.bits(1)", "it.own()"] {
            assert_reached(refused, &[]);
        }
    }

    #[test]
    fn the_walk_ends_at_the_operations_of_cells_which_are_all_on_the_list() {
        assert_reached("it.load(Relaxed); it.cond_load_bounded(a, b, c, d)", &[]);
        let files = sources(&crate::root().join("crates/locks/src/platform"));
        let file = files.iter().find(|it| it.path == "atomic.rs").expect("a file of cells");
        let syntax = syn::parse_file(&file.text).expect("Rust");
        let traits = ["Atomic", "AtomicInt", "LockWordOps"];
        let items = syntax.items.iter().filter_map(|it| match it {
            syn::Item::Trait(it) if traits.iter().any(|name| it.ident == name) => Some(&it.items),
            _ => None,
        });
        let operations = items.flatten().filter_map(|it| match it {
            syn::TraitItem::Fn(it) => Some(it.sig.ident.to_string()),
            _ => None,
        });
        let operations: BTreeSet<_> = operations.collect();
        assert_eq!(operations, SEAM.iter().map(ToString::to_string).collect());
    }
}
