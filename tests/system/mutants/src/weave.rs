//! Weaving: all mutants of a file in one text, where `mutant::is(n)` says at run time whether mutant `n` lives.
//!
//! A mutant is the text that cargo-mutants would write, to the letter: an operator's replacement binds as it would there,
//! so the alternatives to an expression of several operators are whole expressions.

use crate::Result;
use crate::list::{Genre, Mutant, Place};
use proc_macro2::{LineColumn, Span};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A file with its mutants inside.
pub struct Woven {
    pub text: String,
    /// Mutants and the text written for each, as bytes of `text`: an error of the compiler there is that mutant's own.
    pub marks: Vec<(usize, Range<usize>)>,
    /// Mutants that are no Rust expression at all.
    pub broken: Vec<usize>,
    /// Mutants that cannot be chosen at run time: constants, functions that return some type that is not named, arms without
    /// which a `match` may not be complete.
    pub fixed: Vec<usize>,
}

/// Weaves `mutants`, with their numbers, into the text of their file.
pub fn weave(text: &str, mutants: &[(usize, &Mutant)]) -> Result<Woven> {
    let mut finder = Finder::new(text, mutants);
    finder.visit_file(&syn::parse_file(text)?);
    let mut sites = finder.sites;
    // Outer sites first; a site without width is inside of nothing that begins where it stands.
    sites.sort_by_key(|s| (s.span.start, !s.span.is_empty(), Reverse(s.span.end)));
    let found: HashSet<usize> =
        sites.iter().flat_map(|s| &s.others).map(|o| o.0).chain(finder.broken.clone()).collect();
    let fixed = mutants.iter().map(|m| m.0).filter(|n| !found.contains(n)).collect();
    let mut writer = Writer { text, out: String::with_capacity(4 * text.len()), marks: Vec::new() };
    writer.write(0..text.len(), &sites);
    Ok(Woven { text: writer.out, marks: writer.marks, broken: finder.broken, fixed })
}

/// The text with one mutant in place of its span.
pub fn replace(text: &str, mutant: &Mutant) -> String {
    let lines = line_starts(text);
    let (start, end) = (byte(text, &lines, mutant.span.start), byte(text, &lines, mutant.span.end));
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    format!("{}{}{}", part(0..start), mutant.replacement, part(end..text.len()))
}

/// How a mutant is written beside the original text.
enum Form {
    /// `(if is(n) { other } else { original })`, after a few words.
    Value(String),
    /// `if is(n) { return other; }` where a body begins.
    Body,
    /// `if !is(n)` after a pattern, or before the guard that it has.
    Arm { guarded: bool },
}

/// Where one or more mutants change the text.
struct Site {
    span: Range<usize>,
    form: Form,
    /// Mutants, and the text of each in place of the span.
    others: Vec<(usize, String)>,
}

/// A mutant of this file, its number, and the bytes that it replaces.
#[derive(Clone)]
struct Here<'a> {
    number: usize,
    mutant: &'a Mutant,
    bytes: Range<usize>,
}

struct Finder<'a> {
    text: &'a str,
    lines: Vec<usize>,
    at: HashMap<Place, Vec<Here<'a>>>,
    sites: Vec<Site>,
    broken: Vec<usize>,
    /// How many constants we are inside of.
    fixed: usize,
}

impl<'a> Finder<'a> {
    fn new(text: &'a str, mutants: &[(usize, &'a Mutant)]) -> Self {
        let lines = line_starts(text);
        let mut at: HashMap<Place, Vec<_>> = HashMap::new();
        for &(number, mutant) in mutants {
            let bytes = byte(text, &lines, mutant.span.start)..byte(text, &lines, mutant.span.end);
            at.entry(mutant.span.start).or_default().push(Here { number, mutant, bytes });
        }
        Finder { text, lines, at, sites: Vec::new(), broken: Vec::new(), fixed: 0 }
    }

    fn offset(&self, at: LineColumn) -> usize {
        byte(self.text, &self.lines, (at.line, at.column + 1))
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.offset(span.start())..self.offset(span.end())
    }

    fn words(&self, node: &impl Spanned) -> &'a str {
        self.text.get(self.range(node.span())).unwrap_or_default()
    }

    /// Mutants of one kind that begin where `span` does.
    fn mutants(&self, span: Span, genre: Genre) -> Vec<Here<'a>> {
        let start = span.start();
        let here = self.at.get(&(start.line, start.column + 1)).map_or(&[][..], Vec::as_slice);
        here.iter().filter(|h| h.mutant.genre == genre && self.fixed == 0).cloned().collect()
    }

    /// Mutants that put `other(mutant)` in place of the text at `span`.
    fn site(&mut self, span: Range<usize>, form: Form, mutants: &[Here], other: impl Fn(&Here) -> String) {
        let mut others = Vec::new();
        for here in mutants {
            let other = other(here);
            match syn::parse_str::<syn::Expr>(&other) {
                Ok(_) => others.push((here.number, other)),
                Err(_) => self.broken.push(here.number),
            }
        }
        if !others.is_empty() {
            self.sites.push(Site { span, form, others });
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block, inside: impl FnOnce(&mut Self)) {
        let constant = usize::from(signature.constness.is_some());
        self.fixed += constant;
        // A body that is returned early decides the type of an `impl Trait`.
        if let Some(first) = block.stmts.first().filter(|_| !unnamed(&signature.output)) {
            let mutants = self.mutants(first.span(), Genre::Body);
            let begin = self.offset(block.brace_token.span.open().end());
            self.site(begin..begin, Form::Body, &mutants, |h| h.mutant.replacement.clone());
        }
        inside(self);
        self.fixed -= constant;
    }

    fn constant(&mut self, inside: impl FnOnce(&mut Self)) {
        self.fixed += 1;
        inside(self);
        self.fixed -= 1;
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.function(&f.sig, &f.block, |s| visit::visit_item_fn(s, f));
    }
    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.function(&f.sig, &f.block, |s| visit::visit_impl_item_fn(s, f));
    }
    fn visit_trait_item_fn(&mut self, f: &'ast syn::TraitItemFn) {
        if let Some(block) = &f.default {
            self.function(&f.sig, block, |s| visit::visit_trait_item_fn(s, f));
        }
    }

    fn visit_item_const(&mut self, i: &'ast syn::ItemConst) {
        self.constant(|s| visit::visit_item_const(s, i));
    }
    fn visit_item_static(&mut self, i: &'ast syn::ItemStatic) {
        self.constant(|s| visit::visit_item_static(s, i));
    }
    fn visit_impl_item_const(&mut self, i: &'ast syn::ImplItemConst) {
        self.constant(|s| visit::visit_impl_item_const(s, i));
    }
    fn visit_trait_item_const(&mut self, i: &'ast syn::TraitItemConst) {
        self.constant(|s| visit::visit_trait_item_const(s, i));
    }
    fn visit_expr_const(&mut self, e: &'ast syn::ExprConst) {
        self.constant(|s| visit::visit_expr_const(s, e));
    }
    fn visit_type_array(&mut self, t: &'ast syn::TypeArray) {
        self.constant(|s| visit::visit_type_array(s, t));
    }
    fn visit_generic_argument(&mut self, a: &'ast syn::GenericArgument) {
        self.constant(|s| visit::visit_generic_argument(s, a));
    }
    fn visit_variant(&mut self, v: &'ast syn::Variant) {
        self.constant(|s| visit::visit_variant(s, v));
    }
    fn visit_pat(&mut self, p: &'ast syn::Pat) {
        self.constant(|s| visit::visit_pat(s, p));
    }
    fn visit_expr_repeat(&mut self, e: &'ast syn::ExprRepeat) {
        self.visit_expr(&e.expr);
        self.constant(|s| s.visit_expr(&e.len));
    }

    /// The outermost of operators that stand in one another without parentheses.
    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        if has_let(&e.left) || has_let(&e.right) {
            return visit::visit_expr_binary(self, e);
        }
        let (mut operators, mut operands) = (Vec::new(), Vec::new());
        flatten(e, &mut operators, &mut operands);
        let span = self.range(e.span());
        let mut mutants = Vec::new();
        for operator in operators {
            mutants.extend(self.mutants(operator.span(), Genre::Binary));
        }
        let text = self.text;
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        self.site(span.clone(), Form::Value(String::new()), &mutants, |h| {
            format!("{}{}{}", part(span.start..h.bytes.start), h.mutant.replacement, part(h.bytes.end..span.end))
        });
        for operand in operands {
            self.visit_expr(operand);
        }
    }

    fn visit_expr_unary(&mut self, e: &'ast syn::ExprUnary) {
        let mutants = self.mutants(e.op.span(), Genre::Unary);
        let (span, inner) = (self.range(e.span()), self.words(&e.expr));
        self.site(span, Form::Value(String::new()), &mutants, |_| inner.to_owned());
        visit::visit_expr_unary(self, e);
    }

    fn visit_expr_match(&mut self, e: &'ast syn::ExprMatch) {
        let rest = e.arms.iter().any(|a| a.guard.is_none() && matches!(a.pat, syn::Pat::Wild(_)));
        for arm in e.arms.iter().filter(|_| rest) {
            let mutants = self.mutants(arm.span(), Genre::Arm);
            let end = self.offset(arm.pat.span().end());
            let guard = arm.guard.as_ref().map(|(_, g)| self.range(g.span()));
            let form = Form::Arm { guarded: guard.is_some() };
            self.site(guard.unwrap_or(end..end), form, &mutants, |_| "false".into());
        }
        visit::visit_expr_match(self, e);
    }

    fn visit_arm(&mut self, a: &'ast syn::Arm) {
        if let Some((_, guard)) = &a.guard {
            let mutants = self.mutants(guard.span(), Genre::Guard);
            self.site(self.range(guard.span()), Form::Value(String::new()), &mutants, |h| h.mutant.replacement.clone());
        }
        visit::visit_arm(self, a);
    }

    fn visit_expr_struct(&mut self, e: &'ast syn::ExprStruct) {
        if let Some(base) = &e.rest {
            let (path, base) = (self.words(&e.path), self.words(base));
            for field in &e.fields {
                let mutants = self.mutants(field.span(), Genre::Field);
                let name = self.words(&field.member);
                // `S { field, ..base }` has to say its name twice.
                let said = if field.colon_token.is_some() { String::new() } else { format!("{name}: ") };
                let span = self.range(field.expr.span());
                self.site(span, Form::Value(said), &mutants, |_| format!("({path} {{ ..{base} }}).{name}"));
            }
        }
        visit::visit_expr_struct(self, e);
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect()
}

fn byte(text: &str, lines: &[usize], (line, column): Place) -> usize {
    let start = lines.get(line.wrapping_sub(1)).copied().unwrap_or(text.len());
    let rest = text.get(start..).unwrap_or_default();
    rest.char_indices().nth(column.wrapping_sub(1)).map_or(text.len(), |(i, _)| start + i)
}

fn flatten<'e>(e: &'e syn::ExprBinary, operators: &mut Vec<&'e syn::BinOp>, operands: &mut Vec<&'e syn::Expr>) {
    operators.push(&e.op);
    for side in [&*e.left, &*e.right] {
        match side {
            syn::Expr::Binary(inner) => flatten(inner, operators, operands),
            other => operands.push(other),
        }
    }
}

/// A condition that binds names is no value of its own.
fn has_let(e: &syn::Expr) -> bool {
    match e {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        _ => false,
    }
}

fn unnamed(output: &syn::ReturnType) -> bool {
    struct Seen(bool);
    impl Visit<'_> for Seen {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut seen = Seen(false);
    seen.visit_return_type(output);
    seen.0
}

struct Writer<'a> {
    text: &'a str,
    out: String,
    marks: Vec<(usize, Range<usize>)>,
}

impl Writer<'_> {
    /// Writes `span` of the text with the sites inside it.
    fn write(&mut self, span: Range<usize>, mut sites: &[Site]) {
        let mut at = span.start;
        while let Some((site, rest)) = sites.split_first() {
            let inside = rest.iter().take_while(|s| s.span.end <= site.span.end).count();
            let (inside, after) = rest.split_at(inside);
            self.copy(at..site.span.start);
            self.site(site, inside);
            at = site.span.end;
            sites = after;
        }
        self.copy(at..span.end);
    }

    fn site(&mut self, site: &Site, inside: &[Site]) {
        match &site.form {
            Form::Value(said) => {
                self.out += said;
                self.out += "(";
                for (n, other) in &site.others {
                    self.out += &format!("if crate::mutant::is({n}) {{ ");
                    self.mark(*n, other);
                    self.out += " } else ";
                }
                self.out += "{ ";
                self.write(site.span.clone(), inside);
                self.out += " })";
            }
            Form::Body => {
                for (n, other) in &site.others {
                    self.out += &format!(" if crate::mutant::is({n}) {{ ");
                    self.mark(*n, &format!("return {other};"));
                    self.out += " }";
                }
            }
            Form::Arm { guarded } => {
                self.out += if *guarded { "" } else { " if " };
                for (n, _) in &site.others {
                    self.mark(*n, &format!("!crate::mutant::is({n})"));
                }
                if *guarded {
                    self.out += " && (";
                    self.write(site.span.clone(), inside);
                    self.out += ")";
                }
            }
        }
    }

    fn mark(&mut self, n: usize, words: &str) {
        let start = self.out.len();
        self.out += words;
        self.marks.push((n, start..self.out.len()));
    }

    fn copy(&mut self, span: Range<usize>) {
        self.out += self.text.get(span).unwrap_or_default();
    }
}
