//! Writes an OP for every exported function that calls.h does not define: `generate <root> <folder>` makes
//! `<folder>/calls_generated.h` of include/rlcore_bindings.h, which has the direction and the shape of each pointer, and of
//! calls.rules, which has the rest. Writes `<folder>/configs_generated.h` for configs.c, too: blocks of any configuration.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs, mem, ptr};

type Result<T = String> = std::result::Result<T, String>;
/// Words that are no values of an argument; a ! before one takes it back.
const FLAGS: [&str; 9] = ["any", "copied", "in_place", "optional", "pointers", "scratch", "nan", "inf", "count"];
/// Words of an argument that have a value behind a =.
const SETTINGS: [&str; 16] = [
    "by", "columns", "fields", "flags", "flaws", "from", "is", "len", "makes", "most", "needs", "on", "rows", "type",
    "value", "wrapped",
];

#[allow(dead_code)] // attack.rs has this file as a module
fn main() -> Result<()> {
    let paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let read = |name: &str| fs::read_to_string(paths[0].join(name)).expect(name);
    let (bindings, rules) = (read("include/rlcore_bindings.h"), read("tests/system/fuzz/calls.rules"));
    let write =
        |name: &str, made: String| fs::write(paths[1].join(name), made).map_err(|error| format!("{name}: {error}"));
    write("calls_generated.h", calls(&paths[0], &bindings, &rules)?)?;
    write("configs_generated.h", configs(&paths[0], &bindings, &rules)?)
}

const HEAD: &str = "/* Made of include/rlcore_bindings.h and calls.rules by generate.rs. */";

/// The text of calls_generated.h, or the name of a function without rules, or the rules that no function uses.
pub fn calls(root: &Path, bindings: &str, rules: &str) -> Result {
    let world = &World::new(root, bindings, rules);
    let by_hand = fs::read_to_string(world.folder.join("calls.h")).map_err(|error| format!("calls.h: {error}"))?;
    let by_hand: Vec<&str> = by_hand.lines().filter_map(|line| line.strip_prefix("OP(")?.split(')').next()).collect();
    let mut ops = Vec::new();
    for function in world.functions.iter().filter(|function| !by_hand.contains(&function.noun)) {
        ops.push(Op::new(world, function).text()?);
    }
    let unused = world.rules.iter().filter(|(.., used)| !used.get());
    let unused: Vec<String> = unused.map(|(pattern, words, _)| format!("{pattern}: {}", words.join(" "))).collect();
    if !unused.is_empty() {
        return Err(format!("tests/system/fuzz/calls.rules: these are of no function: {}", unused.join("; ")));
    }
    Ok([vec![HEAD.to_string()], world.tables.take(), ops].concat().join("\n") + "\n")
}

/// The text of configs_generated.h: a function for each configuration that makes a block alone, and CONFIGURED, which lists them.
fn configs(root: &Path, bindings: &str, rules: &str) -> Result {
    let world = World::new(root, bindings, rules);
    let (mut made, mut names) = (format!("{HEAD}\n"), Vec::new());
    for (function, config, _) in world.of_config_alone() {
        if let Some(noun) = function.strip_suffix("_size") {
            made += &world.configured(noun, config)?;
            names.push(format!("{noun}_of_any"));
        }
    }
    Ok(made + "#define CONFIGURED " + &names.join(", ") + "\n")
}

/// A function of the bindings; the name is without rlcore_.
struct Function<'a> {
    result: &'a str,
    noun: &'a str,
    parameters: Vec<Item<'a>>,
}

fn functions(bindings: &str) -> impl Iterator<Item = Function<'_>> {
    let lines = bindings.match_indices('\n').map(|(at, _)| &bindings[at + 1..]);
    let starts = lines.filter(|rest| rest.starts_with(in_word) && !rest.starts_with("typedef"));
    starts.filter_map(|rest| {
        let (head, rest) = rest.split_once('(').filter(|(head, _)| !head.contains('\n'))?;
        let (result, name) = head.split_at(head.rfind([' ', '*'])? + 1);
        let list = rest.split(");").next()?;
        let parameters = list.split(if list.contains('\n') { ",\n" } else { ", " }).filter(|one| *one != "void");
        Some(Function { result, noun: name.strip_prefix("rlcore_")?, parameters: parameters.map(Item::new).collect() })
    })
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn status(word: &str) -> String {
    match word {
        "REFUSED" => word.to_string(),
        "OK" => "RLCORE_OK".to_string(),
        _ => format!("RLCORE_E_{}", if word.is_empty() { "CONFIG" } else { word }),
    }
}

/// Flags of draws.h as an argument.
fn any_of(flags: &[(&str, bool)]) -> String {
    let set: Vec<&str> = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| *flag).collect();
    if set.is_empty() { "0".to_string() } else { set.join(" | ") }
}

/// A parameter or a field: its type without stars, the number of stars, its direction and its shape.
struct Item<'a> {
    code: &'a str,
    name: &'a str,
    kind: &'a str,
    short: &'a str,
    stars: usize,
    direction: &'a str,
    extents: Vec<&'a str>,
    optional: bool,
}

impl<'a> Item<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.trim();
        let (said, code) = text.strip_prefix("/* ").and_then(|text| text.split_once(" */ ")).unwrap_or(("", text));
        let (said, optional) = said.strip_suffix(" optional").map_or((said, false), |said| (said, true));
        let (direction, shape) = said.split_once(" [").unwrap_or((said, ""));
        let mut depth = 0;
        let extents = shape.trim_end_matches(']').split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        let extents = extents.map(str::trim).filter(|extent| !extent.is_empty()).collect();
        let named = code.split('[').next().unwrap_or_default();
        let name = named.rsplit(|c| !in_word(c)).next().unwrap_or_default();
        let kind = code.trim_start_matches("const ").split(|c| !in_word(c)).next().unwrap_or_default();
        let (short, stars) = (kind.trim_start_matches("rlcore_"), code.matches('*').count());
        Item { code, name, kind, short, stars, direction, extents, optional }
    }

    /// A variable as the argument of this type.
    fn passed(&self, variable: String) -> String {
        if self.stars == 2 { format!("(void *){variable}") } else { variable }
    }
}

/// A pattern of calls.rules, the words of its line, and whether a function has used them.
type Rule<'a> = (&'a str, Vec<String>, Cell<bool>);

fn lines_of(rules: &str) -> Vec<Rule<'_>> {
    let lines = rules.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let each = lines.flat_map(|(patterns, words)| patterns.split(", ").map(move |pattern| (pattern, words)));
    let each = each.map(|(pattern, words)| {
        let mut quoted = false;
        let words = words.split(|c| {
            quoted ^= c == '"';
            c == ' ' && !quoted
        });
        (pattern, words.map(|word| word.replace('"', "")).collect(), Cell::new(false))
    });
    each.collect()
}

/// * in the pattern stands for any text.
fn matches(pattern: &str, key: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == key };
    key.strip_prefix(head).is_some_and(|rest| (0..=rest.len()).any(|at| matches(tail, &rest[at..])))
}

/// The words of all rules for an argument: values, and flags and settings, of which the last counts.
#[derive(Default)]
struct Found<'a> {
    values: Vec<&'a str>,
    words: Vec<&'a str>,
}

impl<'a> Found<'a> {
    fn flag(&self, name: &str) -> Option<bool> {
        self.words.iter().rev().find(|word| word.trim_start_matches('!') == name).map(|word| !word.starts_with('!'))
    }

    fn has(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    fn settings(&self) -> impl DoubleEndedIterator<Item = (&'a str, &'a str)> {
        self.words.iter().filter_map(|word| word.split_once('='))
    }

    fn setting(&self, name: &str) -> Option<&'a str> {
        self.settings().rev().find(|(setting, _)| *setting == name).map(|(_, value)| value)
    }
}

/// All structures, functions and rules, and the tables of wrong fields that were made so far.
struct World<'a> {
    folder: PathBuf,
    structs: BTreeMap<&'a str, Vec<Item<'a>>>,
    functions: Vec<Function<'a>>,
    rules: Vec<Rule<'a>>,
    tables: RefCell<Vec<String>>,
}

impl<'a> World<'a> {
    fn new(root: &Path, bindings: &'a str, rules: &'a str) -> Self {
        let structs = bindings.split("\ntypedef struct ").skip(1).filter_map(|rest| {
            let (name, rest) = rest.split_once(" {")?;
            let fields = rest.split("\n}").next()?.split(';').filter(|field| !field.trim().is_empty());
            Some((name, fields.map(Item::new).collect()))
        });
        let (structs, functions) = (structs.collect(), functions(bindings).collect());
        let folder = root.join("tests/system/fuzz");
        World { folder, structs, functions, rules: lines_of(rules), tables: RefCell::default() }
    }

    /// Functions of a configuration alone, with a number as result: the name and the types of both.
    fn of_config_alone(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.functions.iter().filter_map(|function| match &function.parameters[..] {
            [config, number] if config.kind.ends_with("_config") && number.direction == "out" => {
                Some((function.noun, config.kind, number.kind))
            }
            _ => None,
        })
    }

    /// A function that draws the fields of a configuration, makes each call that needs nothing else, and uses the block.
    fn configured(&self, noun: &str, config: &str) -> Result {
        let mut lines = format!("static int {noun}_of_any(void) {{\n  {config} c = {noun}_config;\n");
        for field in &self.structs[config][1..] {
            let name = field.name;
            let draw = match (name, field.kind) {
                ("columns" | "reserved", _) => format!("any_{name}()"),
                (_, "float") => format!("any_real(c.{name})"),
                (_, "double") => format!("any_double(c.{name})"),
                _ => format!("any(c.{name})"),
            };
            lines += &format!("  c.{name} = {draw};\n");
        }
        let size = format!("{noun}_size");
        for (call, _, number) in self.of_config_alone().filter(|(call, of, _)| *of == config && *call != size) {
            lines += &format!("  KNOWN(rlcore_{call}(&c, &({number}){{0}}));\n");
        }
        let phase = self.find(&[format!("@{noun}")]).values.first().copied();
        let phase = phase.ok_or(format!("rlcore_{size}: tests/system/fuzz/calls.rules needs a line @{noun}"))?;
        Ok(format!("{lines}  MADE({noun}, samples[{phase}].kind, c);\n}}\n"))
    }

    /// Words for a later key go before those for an earlier one, those of later lines too.
    fn find(&self, keys: &[String]) -> Found<'_> {
        let mut found = Found::default();
        for key in keys {
            let dots = |text: &str| text.matches('.').count();
            let fits = |rule: &&Rule| dots(rule.0) == dots(key) && matches(rule.0, key);
            for (_, words, used) in self.rules.iter().filter(fits) {
                used.set(true);
                let is_value = |word: &&str| !word.contains('=') && !FLAGS.contains(&word.trim_start_matches('!'));
                let (values, others): (Vec<_>, Vec<_>) = words.iter().map(String::as_str).partition(is_value);
                if !values.is_empty() {
                    found.words.push("!count");
                    found.values = values;
                }
                found.words.extend(others);
            }
        }
        found
    }

    /// Makes a table of wrong fields, if rules have any: each has values, and behind a colon the status of one.
    fn flaws(&self, name: &str, kind: &str) -> Option<String> {
        let mut lines = String::new();
        for (field, values) in self.find(&[format!("!{name}")]).settings() {
            for value in values.split(',') {
                let (value, word) = value.split_once(':').unwrap_or((value, ""));
                lines += &match field {
                    "include" => format!("#include \"{}\"\n", self.folder.join(value).display()),
                    _ => format!("    REFUSED_AS({}, {kind}, {field}, {value}),\n", status(word)),
                };
            }
        }
        let few = format!(r#"_Static_assert(sizeof {name}_flaws / sizeof *{name}_flaws < 256, "a byte chooses one");"#);
        let table = format!("static const struct flaw {name}_flaws[] = {{\n{lines}}};\n{few}");
        let mut tables = self.tables.borrow_mut();
        if !lines.is_empty() && !tables.contains(&table) {
            tables.push(table);
        }
        (!lines.is_empty()).then(|| format!("{name}_flaws"))
    }
}

/// The C text of one function's caller. Numbers come before the arrays that have their length, else all in the order of the
/// declaration.
struct Op<'a> {
    world: &'a World<'a>,
    result: &'a str,
    noun: &'a str,
    parameters: &'a [Item<'a>],
    own: Found<'a>,
    lines: String,
    names: BTreeSet<String>,
    /// Numbers that have no variable yet, with the parameter whose field one is.
    pending: BTreeMap<&'a str, (&'a Item<'a>, Option<&'a Item<'a>>)>,
    /// The variable of each number or array, and its value as an extent.
    known: BTreeMap<&'a str, (String, String)>,
}

/// The variables of fields.
type Given<'a> = Vec<(&'a str, String)>;

impl<'a> Op<'a> {
    fn new(world: &'a World<'a>, function: &'a Function<'a>) -> Self {
        let Function { result, noun, parameters } = function;
        let pending = parameters.iter().filter(|item| item.stars == 0).map(|item| (item.name, (item, None))).collect();
        let own = world.find(&[noun.to_string()]);
        let (lines, names, known) = Default::default();
        Op { world, result, noun, parameters, own, lines, names, pending, known }
    }

    fn fail<T>(&self, why: &str) -> Result<T> {
        let needed = "tests/system/fuzz/calls.rules needs a line for it, or calls.h an OP";
        Err(format!("rlcore_{0}: {why}: {needed}({0})", self.noun))
    }

    /// The words for a parameter, or for a field of the parameter `owner`.
    fn words(&self, item: &Item, owner: Option<&Item>) -> Result<Found<'a>> {
        let (noun, name) = (self.noun, item.name);
        let mut keys = vec![name.to_string()];
        keys.extend(owner.map(|owner| format!("{}.{name}", owner.short)));
        keys.push(format!("{noun}.{name}"));
        keys.extend(owner.map(|owner| format!("{noun}.{}.{name}", owner.name)));
        let found = self.world.find(&keys);
        let settings: Vec<&str> = found.settings().map(|(setting, _)| setting).collect();
        if [0, 2, 3].contains(&found.values.len()) && settings.iter().all(|setting| SETTINGS.contains(setting)) {
            return Ok(found);
        }
        self.fail(&format!("the words {} of {name}", [&found.values[..], &settings].concat().join(" ")))
    }

    fn variable(&mut self, item: &Item<'a>, owner: Option<&Item>) -> String {
        let owner = owner.filter(|_| self.names.contains(item.name));
        let name = owner.map_or(item.name.to_string(), |owner| format!("{}_{}", owner.name, item.name));
        self.names.insert(name.clone());
        self.known.insert(item.name, (name.clone(), name.clone()));
        name
    }

    fn emit(&mut self, line: String) {
        self.lines += &format!("  {line};\n");
    }

    // ---- Numbers, and lengths that depend on them ----

    fn number(&mut self, item: &'a Item<'a>, owner: Option<&Item>) -> Result {
        let found = self.words(item, owner)?;
        self.pending.remove(item.name);
        let [good, most, word] = found.values[..] else {
            return self.fail(&format!("the range of {}", item.name)); // none, or the values of an array of this name
        };
        let kind = match item.kind {
            "size_t" => "SIZE",
            "float" => "F32",
            "double" => "F64",
            _ if found.has("count") => "COUNT",
            _ => "U32",
        };
        let name = self.variable(item, owner);
        self.emit(format!("{kind}({name}, {good}, {most}, {})", status(word)));
        if kind == "SIZE" || kind == "U32" && word != "OK" {
            self.known.insert(item.name, (name.clone(), format!("({name} & MASK({most}))")));
        }
        Ok(name)
    }

    /// The value of a name in a shape.
    fn extent(&mut self, word: &str) -> Result {
        if let Some(value) = self.own.setting(word) {
            return self.product(&[value]);
        }
        let usual = self.world.find(&[format!("${word}")]).values;
        for name in [&[word], &usual[..]].concat() {
            if let Some((item, owner)) = self.pending.get(name).copied() {
                self.number(item, owner)?;
            }
            if let Some((_, value)) = self.known.get(name) {
                return Ok(value.clone());
            }
        }
        let is_constant = |name: &str| {
            name.chars().all(|c| c.is_ascii_uppercase() || c == '_') || name.chars().all(|c| c.is_ascii_digit())
        };
        match usual.last() {
            Some(name) if is_constant(name) => Ok(name.to_string()),
            Some(name) if name.contains('*') => self.product(&[name]),
            _ => self.fail(&format!("the extent {word}")),
        }
    }

    fn product(&mut self, extents: &[&str]) -> Result {
        let mut each = Vec::new();
        for extent in extents {
            let (mut value, mut rest) = (String::new(), *extent);
            while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
                value += &rest[..at];
                rest = &rest[at..];
                let word = rest.find(|c| !in_word(c) && c != '.').unwrap_or(rest.len());
                let calls = rest[word..].starts_with("()") || rest.starts_with("sum(");
                let end = rest.find(')').filter(|_| calls).map_or(word, |at| at + 1);
                value += &self.extent(&rest[..end])?;
                rest = &rest[end..];
            }
            value += rest;
            let is_sum = value.contains(['-', '+', '*', '/', '?']) && extents.len() > 1;
            each.push(if is_sum { format!("({value})") } else { value });
        }
        Ok(if each.is_empty() { "1".to_string() } else { each.join(" * ") })
    }

    // ---- Arrays ----

    /// An array that `word` in a list of fields describes, or its own declaration.
    fn array(&mut self, item: &'a Item<'a>, owner: Option<&Item>, word: &str) -> Result {
        let found = self.words(item, owner)?;
        let direction = match word.trim_end_matches(|c| c != '<' && c != '>') {
            "" => item.direction,
            "<" => "in",
            ">" => "out",
            _ => "inout",
        };
        let optional = if word.is_empty() { item.optional } else { word.ends_with('?') };
        let fields = self.world.structs.get(item.kind).map_or(&[][..], |fields| fields);
        let points = fields.iter().any(|field| !["", "opaque"].contains(&field.direction));
        let on = any_of(&[
            ("ANY", found.has("any") || direction == "out"),
            ("COPIED", found.has("copied")),
            ("IN_PLACE", found.has("in_place")),
            ("OPTIONAL", found.flag("optional").unwrap_or(optional)),
            ("OUT", direction != "in"),
            ("POINTERS", found.has("pointers") || points),
            ("SCRATCH", found.has("scratch")),
        ]);
        if item.stars == 2 && !item.extents.is_empty() {
            let (Some(columns), Some(rows)) = (found.setting("columns"), found.setting("rows")) else {
                return self.fail(&format!("the columns {}", item.name));
            };
            let rows = self.product(&[rows])?;
            let name = self.variable(item, owner);
            self.emit(format!("{columns}({name}, {rows}, {on})"));
            return Ok(name);
        }
        let length = match found.setting("len") {
            Some(len) => self.product(&len.split(',').collect::<Vec<_>>())?,
            None => self.product(&item.extents)?,
        };
        let value = found.setting("value");
        for word in value.unwrap_or_default().split(|c| !in_word(c)) {
            if self.pending.contains_key(word) {
                self.extent(word)?;
            }
        }
        let name = self.variable(item, owner);
        let kind = if item.kind == "void" { found.setting("type").unwrap_or("void") } else { item.kind };
        let (first, step) = match found.values[..] {
            _ if direction == "out" => ("0", "0"),
            [first, step] => (first, step),
            _ => (if ["float", "double"].contains(&kind) { "1" } else { "0" }, "1"),
        };
        if item.stars == 2 {
            let to = item.code.rsplit_once('*').map_or(item.code, |(to, _)| to);
            self.emit(format!("HANDLE({to}, {name}, {on})"));
        } else if !fields.is_empty() {
            let value = value.unwrap_or("{0}");
            self.emit(format!("RECORDS({kind}, {name}, {length}, {on}, {first}, {step}, {value})"));
        } else if kind != "void" {
            self.emit(format!("ARRAY({kind}, {name}, {length}, {on}, {first}, {step})"));
        } else {
            return self.fail(&format!("the type of {}", item.name));
        }
        if let Some(most) = found.setting("most") {
            self.emit(format!("NO_MORE({name}, {most})"));
        }
        for (flag, content) in [("nan", "NOT_A_NUMBER"), ("inf", "INFINITE")] {
            if found.has(flag) {
                self.emit(format!("NOT_READ({content})"));
            }
        }
        Ok(name)
    }

    // ---- Structures ----

    fn structure(&mut self, item: &'a Item<'a>) -> Result {
        let found = self.words(item, None)?;
        let (name, kind, fields) = (item.name, item.kind, &self.world.structs[item.kind]);
        let (value, sized) = (format!("{name}_value"), fields[0].name == "struct_size");
        let filled = item.direction == "inout" && sized;
        let on = any_of(&[
            ("OPTIONAL", found.flag("optional").unwrap_or(item.optional)),
            ("FIXED", !sized),
            ("OUT", filled),
            ("POINTERS", filled && fields.iter().any(|field| field.stars > 0)),
        ]);
        self.names.insert(name.to_string());
        let wrong = self.world.flaws(found.setting("flaws").unwrap_or(item.short), kind);
        let from = found.setting("from");
        if filled {
            self.emit(format!("const {kind} {value} = {{.struct_size = sizeof {value}}}"));
        } else if wrong.is_some() || from.is_some() {
            self.emit(format!("{kind} {value} = {}", from.unwrap_or(item.short)));
            if fields.iter().any(|field| field.kind == "rlcore_column") {
                self.emit(format!("{value}.columns = columns_of({value}.columns)"));
            }
            if let Some(wrong) = wrong {
                self.emit(format!("SPOIL({value}, {wrong})"));
            }
        } else {
            let mut given = Vec::new();
            given.extend(sized.then(|| ("struct_size", format!("sizeof {value}"))));
            given.extend(self.fields(item, fields, found.setting("fields"))?);
            if sized && fields.iter().any(|field| field.name == "reserved") {
                given.push(("reserved", format!("{name}_reserved")));
                self.emit(format!("U32({name}_reserved, 0, 0, RLCORE_E_CONFIG)"));
            }
            let given: Vec<_> = given.iter().map(|(field, value)| format!(".{field} = {value}")).collect();
            self.emit(format!("const {kind} {value} = {{{}}}", given.join(", ")));
        }
        self.emit(format!("STRUCT({kind}, {name}, {value}, {on})"));
        Ok(name.to_string())
    }

    /// Numbers all, and the arrays that are listed, or all arrays.
    fn fields(&mut self, item: &'a Item<'a>, fields: &'a [Item<'a>], list: Option<&str>) -> Result<Given<'a>> {
        let kept = |field: &&Item| !["struct_size", "reserved"].contains(&field.name) && !field.code.ends_with(']');
        let fields: Vec<&Item> = fields.iter().filter(kept).collect();
        let numbers = fields.iter().filter(|field| field.stars == 0).map(|field| (field.name, (*field, Some(item))));
        let outer = self.pending.clone();
        self.pending.extend(numbers);
        let mut given = Vec::new();
        for field in fields {
            let word = match list {
                None => Some(""),
                Some(words) => words.split(',').find(|word| word.trim_matches(['<', '>', '?']) == field.name),
            };
            if field.stars == 0 {
                let own = self.pending.get(field.name).is_some_and(|(pending, _)| ptr::eq(*pending, field));
                given.push((field.name, if own { self.number(field, Some(item))? } else { self.made(field) }));
            } else if let Some(word) = word {
                given.push((field.name, field.passed(self.array(field, Some(item), word)?)));
            }
        }
        // A parameter with the name of a field still has no variable.
        let left = mem::replace(&mut self.pending, outer);
        self.pending.retain(|name, _| left.contains_key(name) || given.iter().any(|(field, _)| field == name));
        Ok(given)
    }

    // ---- The call ----

    /// The variable of a number that a shape needed before.
    fn made(&self, item: &Item) -> String {
        self.known[item.name].0.clone()
    }

    /// The expression that is passed for a parameter.
    fn argument(&mut self, item: &'a Item<'a>) -> Result {
        let (found, name, kind) = (self.words(item, None)?, item.name, item.kind);
        if found.setting("is") == Some("absent") || item.direction == "opaque" {
            return Ok("NULL".to_string());
        } else if kind.ends_with("_fn") {
            self.emit(format!("const unsigned no_{name} = field(\"{name}\", 1, RLCORE_E_NULL)"));
            return Ok(format!("no_{name} ? NULL : good_{name}"));
        } else if item.stars == 0 {
            return if self.pending.contains_key(name) { self.number(item, None) } else { Ok(self.made(item)) };
        } else if name == "mem" || found.setting("by").is_some() {
            return self.made_by(item, &found);
        } else if item.stars > 1 || !item.extents.is_empty() || item.short == kind {
            let variable = self.array(item, None, "")?;
            return Ok(if item.extents.is_empty() { variable } else { item.passed(variable) });
        }
        let flags = if item.direction == "inout" { "OUT" } else { found.setting("flags").unwrap_or("0") };
        if item.short == "env" {
            let of_block =
                self.parameters.iter().any(|parameter| parameter.name == "v") || self.noun == "vecenv_attach";
            let kept = if of_block { "KEPT" } else { "UNKEPT" }; // that of a block, or any
            let wrapped = found.setting("wrapped").unwrap_or("0");
            self.emit(format!("const rlcore_env *env = environment({wrapped}, {kept})"));
        } else if !self.world.structs.contains_key(kind) {
            let const_ = if item.direction == "inout" { "" } else { "const " };
            let phase = self.phase(item.short, &found)?;
            self.emit(format!("{const_}{kind} *{name} = object(\"{name}\", {phase}, {flags})"));
        } else if item.short == "rng" && item.direction != "out" {
            self.emit(format!("RNG({name}, {flags})"));
        } else if self.made_along(&format!("{name}_size")) {
            self.emit(format!("DEFAULTS({kind}, {name})"));
        } else if item.direction == "out" {
            return self.array(item, None, "");
        } else {
            return self.structure(item);
        }
        self.names.insert(name.to_string());
        Ok(name.to_string())
    }

    /// A macro that makes an argument makes this number too, if there is one of this name.
    fn made_along(&mut self, name: &str) -> bool {
        let number = self.pending.remove_entry(name);
        self.known.extend(number.map(|(name, _)| (name, (name.to_string(), name.to_string()))));
        number.is_some()
    }

    /// A macro makes the argument, and at times a number too.
    fn made_by(&mut self, item: &'a Item<'a>, found: &Found) -> Result {
        let made = if item.name == "mem" { Some("mem_size") } else { found.setting("makes") };
        self.made_along(made.unwrap_or_default());
        for word in found.setting("needs").unwrap_or_default().split_whitespace() {
            self.extent(word)?;
        }
        let name = self.variable(item, None);
        let flags = found.setting("flags").unwrap_or(if item.optional { "OPTIONAL" } else { "0" });
        let writes = self.noun.ends_with("_init") || self.noun.ends_with("_export");
        let by = found.setting("by").unwrap_or(if writes { "MEMORY_FOR" } else { "IMAGE_OF" });
        let of = if item.name == "mem" { self.phase(self.noun, found)? } else { format!("{name}, {flags}") };
        self.emit(format!("{by}({of})"));
        Ok(item.passed(name))
    }

    /// That of blocks of the kind, or of the kind in the name of a function.
    fn phase(&self, noun: &str, found: &Found) -> Result {
        let usual = self.world.find(&[format!("@{noun}")]).values;
        match (found.setting("on").or(usual.first().copied()), noun.rsplit_once('_')) {
            (Some(phase), _) => Ok(phase.to_string()),
            (None, Some((kind, _))) => self.phase(kind, found),
            (None, None) => self.fail("the phase of the block"),
        }
    }

    fn text(mut self) -> Result {
        if self.result != "rlcore_status " {
            return self.fail("it returns no status");
        }
        let passed: Result<Vec<String>> = self.parameters.iter().map(|item| self.argument(item)).collect();
        let call = format!("rlcore_{}({})", self.noun, passed?.join(", "));
        self.emit(match self.own.setting("writes").filter(|word| !word.is_empty()) {
            Some(word) => format!("return CALL_WRITING_ON({}, {call})", status(word)),
            None => format!("return CALL({call})"),
        });
        Ok(format!("OP({}) {{\n{}}}", self.noun, self.lines))
    }
}
