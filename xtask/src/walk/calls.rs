//! The calls that the text of a function makes.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprIf, ExprMethodCall, ExprPath, ExprUnsafe, Item, Macro, Path, Token, Type,
};

/// A call, or a path that may be the name of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `foo(..)` or `a::foo(..)`. Also without the brackets, as in `map(a::foo)`.
    Path(Vec<String>),
    /// `x.foo(..)`.
    Method(MethodCall),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodCall {
    pub name: String,
    /// How many, without `x`.
    pub arguments: usize,
    /// `x` is `self`.
    pub is_on_self: bool,
    /// It stands in an `unsafe` block.
    pub is_in_unsafe: bool,
}

/// The calls in this block, in their order. What is inside of a function inside of it is in the list, too, and what
/// a macro is called with, if that is a list of expressions. What runs under Miri only is not.
pub fn calls(block: &Block) -> Vec<Call> {
    let mut found = Calls { all: Vec::new(), is_in_unsafe: false };
    found.visit_block(block);
    found.all
}

/// The names of a path, without what stands in angle brackets.
pub fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

struct Calls {
    all: Vec<Call>,
    is_in_unsafe: bool,
}

impl Calls {
    fn add(&mut self, path: Vec<String>) {
        self.all.push(Call::Path(path));
    }
}

impl Visit<'_> for Calls {
    fn visit_item(&mut self, item: &Item) {
        if !matches!(item, Item::Const(_) | Item::Static(_)) {
            visit::visit_item(self, item);
        }
    }
    fn visit_expr_if(&mut self, it: &ExprIf) {
        let is_for_miri = matches!(&*it.cond, Expr::Macro(of)
            if of.mac.path.is_ident("cfg") && of.mac.tokens.to_string() == "miri");
        if !is_for_miri {
            return visit::visit_expr_if(self, it);
        }
        if let Some((_, other)) = &it.else_branch {
            self.visit_expr(other);
        }
    }
    fn visit_expr_path(&mut self, it: &ExprPath) {
        let path = names(&it.path);
        match &it.qself {
            // `<T as Trait>::foo`: the one of the type, and the one of the trait.
            Some(qself) => {
                if let (Type::Path(of), Some(name)) = (&*qself.ty, path.last()) {
                    let mut of = names(&of.path);
                    of.push(name.clone());
                    self.add(of);
                }
                self.add(path);
            }
            // Names of other crates begin with `::`.
            None if it.path.leading_colon.is_some() => {}
            None => self.add(path),
        }
        visit::visit_expr_path(self, it);
    }
    fn visit_expr_method_call(&mut self, it: &ExprMethodCall) {
        // What it is called on comes first.
        visit::visit_expr_method_call(self, it);
        let is_on_self = matches!(&*it.receiver, Expr::Path(on) if on.path.is_ident("self"));
        let (name, arguments) = (it.method.to_string(), it.args.len());
        let is_in_unsafe = self.is_in_unsafe;
        let call = MethodCall { name, arguments, is_on_self, is_in_unsafe };
        self.all.push(Call::Method(call));
    }
    fn visit_expr_unsafe(&mut self, it: &ExprUnsafe) {
        let outer = std::mem::replace(&mut self.is_in_unsafe, true);
        visit::visit_expr_unsafe(self, it);
        self.is_in_unsafe = outer;
    }
    fn visit_macro(&mut self, it: &Macro) {
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = list.parse2(it.tokens.clone()) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(block: &str) -> Vec<String> {
        let text = |call: Call| match call {
            Call::Path(path) => path.join("::"),
            Call::Method(it) => {
                let on = if it.is_on_self { "self" } else { "_" };
                let before = if it.is_in_unsafe { "unsafe " } else { "" };
                format!("{before}{on}.{}/{}", it.name, it.arguments)
            }
        };
        let block = syn::parse_str(block).expect("a block");
        calls(&block).into_iter().map(text).collect()
    }

    #[test]
    fn calls_are_found_where_they_are_made_and_where_a_function_is_named() {
        assert_eq!(found("{ f(1); self.g(); }"), ["f", "self", "self.g/0"]);
        assert_eq!(found("{ A::<P>::of(|| x.g(Self::h)) }"), ["A::of", "x", "Self::h", "_.g/1"]);
        assert_eq!(found("{ <P as T>::f(); ::c::g() }"), ["P::f", "T::f"]);
        assert_eq!(found("{ assert!(f(1), \"no\"); }"), ["f"]);
        assert_eq!(found("{ unsafe { x.f() }; x.g() }"), ["x", "unsafe _.f/0", "x", "_.g/0"]);
        assert_eq!(
            found("{ if cfg!(miri) { f() } else { g() } if cfg!(unix) { h() } }"),
            ["g", "unix", "h"]
        );
        assert_eq!(found("{ fn g() { h() } static S: u8 = of_constant(); }"), ["h"]);
    }
}
