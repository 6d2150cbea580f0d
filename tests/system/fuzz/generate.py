"""Writes an OP for every exported function that calls.h does not define: `generate.py <folder>` makes <folder>/calls_generated.h
of include/rlcore_bindings.h, which has the direction and the shape of each pointer, and of calls.rules, which has the rest."""

import fnmatch
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
BINDINGS = (HERE / "../../../include/rlcore_bindings.h").read_text()
NUMBERS = {"size_t": "SIZE", "float": "F32", "double": "F64"}  # macros of draws.h by type
FLAGS = {"any", "copied", "in_place", "optional", "pointers", "scratch"}


def status(word):
    return word if word == "REFUSED" else "RLCORE_" + (word if word == "OK" else "E_" + (word or "CONFIG"))


class Item:
    """A parameter or a field: its type without stars, the number of stars, its direction and its shape."""

    def __init__(self, text):
        said, self.code = re.fullmatch(r"(?:/\* (.*?) \*/)?\s*(.*)", text.strip(), re.S).groups()
        self.name, self.is_list = re.search(r"(\w+)(\[\w+\])?$", self.code).groups()
        self.type = re.search(r"\w+", self.code.replace("const ", "")).group()
        self.short, self.stars = self.type.removeprefix("rlcore_"), self.code.count("*")
        self.direction, shape, optional = re.fullmatch(r"(\w*)(?: \[(.*)\])?( optional)?", said or "").groups()
        self.extents, self.optional = re.split(r",\s*(?![^()]*\))", shape) if shape else [], optional is not None


STRUCTS = {
    name: [Item(field) for field in body.split(";") if field.strip()]
    for name, body in re.findall(r"^typedef struct (\w+) \{(.*?)\n\}", BINDINGS, re.M | re.S)
}
FUNCTIONS = re.findall(r"^(?!typedef)[\w ]+?[ *]rlcore_(\w+)\(((?:[^()]|\([^()]*\))*)\);", BINDINGS, re.M)


class Rules:
    """The lines of calls.rules, each a pattern and its words."""

    def __init__(self, text):
        self.lines, self.used = [], set()
        for line in text.splitlines():
            patterns, _, words = line.partition(": ")
            if words and not line.startswith("#"):
                self.lines += [(pattern, shlex.split(words)) for pattern in patterns.split(", ")]

    def find(self, *keys):
        """Values, flags and settings: those of a later key go before those of an earlier one, those of later lines too."""
        values, flags, settings = [], {}, {}
        for key in keys:
            for i, (pattern, words) in enumerate(self.lines):
                if not fnmatch.fnmatchcase(key, pattern) or key.count(".") != pattern.count("."):
                    continue
                self.used.add(i)
                own = []
                for word in words:
                    setting, equals, value = word.partition("=")
                    if equals and re.fullmatch(r"[\w.()[\]]+", setting):
                        settings[setting] = value
                    elif word.strip("!") in FLAGS | {"nan", "inf", "count"}:
                        flags[word.strip("!")] = not word.startswith("!")
                    else:
                        own.append(word)
                if own:
                    values, flags["count"] = own, "count" in words
        return values, flags, settings


RULES = Rules((HERE / "calls.rules").read_text())
TABLES = {}  # of wrong fields, by name


def flaws(name, type):
    """The name of a table of wrong fields, if there is one: each has values, and behind a colon the status of one."""
    lines = []
    for field, values in RULES.find(f"!{name}")[2].items():
        for value, _, word in (one.partition(":") for one in values.split(",")):
            flaw = f"    REFUSED_AS({status(word)}, {type}, {field}, {value}),"
            lines.append(f'#include "{HERE / value}"' if field == "include" else flaw)
    if lines:
        few = f'_Static_assert(sizeof {name}_flaws / sizeof *{name}_flaws < 256, "a byte chooses one");'
        TABLES[name] = "\n".join([f"static const struct flaw {name}_flaws[] = {{", *lines, "};", few])
    return lines and f"{name}_flaws"


class Op:
    """The C text of one function's caller. Numbers come before the arrays that have their length, else all in the order of the
    declaration."""

    def __init__(self, noun, parameters):
        self.noun, self.lines, self.names = noun, [], set()
        self.parameters = [Item(one) for one in parameters.split(",\n" if "\n" in parameters else ", ") if one != "void"]
        self.pending = {p.name: (p,) for p in self.parameters if p.stars == 0}
        self.known = {}  # the variable of each number or array, and its value as an extent
        self.settings = RULES.find(noun)[2]

    def fail(self, why):
        sys.exit(f"rlcore_{self.noun}: {why}: tests/system/fuzz/calls.rules needs a line for it, or calls.h an OP({self.noun})")

    def rules(self, item, owner=None):
        """Of a parameter, or of a field of the parameter `owner`."""
        keys = [f"{owner.short}.{item.name}"] if owner else []
        keys += [f"{self.noun}.{item.name}"] + ([f"{self.noun}.{owner.name}.{item.name}"] if owner else [])
        return RULES.find(item.name, *keys)

    def variable(self, item, owner=None):
        name = f"{owner.name}_{item.name}" if item.name in self.names and owner else item.name
        self.names.add(name)
        self.known[item.name] = name, name
        return name

    def emit(self, line):
        self.lines.append(f"  {line};")

    # ---- Numbers, and lengths that depend on them ----

    def number(self, item, owner=None):
        values, flags, _ = self.rules(item, owner)
        self.pending.pop(item.name)
        if len(values) != 3:  # none, or those of an array of this name
            self.fail(f"the range of {item.name}")
        kind = NUMBERS.get(item.type, "COUNT" if flags.get("count") else "U32")
        name = self.variable(item, owner)
        self.emit(f"{kind}({name}, {values[0]}, {values[1]}, {status(values[2])})")
        if kind == "SIZE" or kind == "U32" and values[2] != "OK":
            self.known[item.name] = name, f"({name} & MASK({values[1]}))"
        return name

    def extent(self, word):
        """The value of a name in a shape."""
        if word in self.settings:
            return self.product([self.settings[word]])
        names = [word, *RULES.find(f"${word}")[0]]
        for name in names:
            if name in self.pending:
                self.number(*self.pending[name])
            if name in self.known:
                return self.known[name][1]
        if re.fullmatch(r"[A-Z_]+|\d+", names[-1]) and len(names) > 1:
            return names[-1]
        return self.product(names[-1:]) if "*" in names[-1] else self.fail(f"the extent {word}")

    def product(self, extents):
        each = [re.sub(r"rlcore_\w+\(\)|sum\([\w.]+\)|[A-Za-z_][\w.]*", lambda m: self.extent(m[0]), one) for one in extents]
        return " * ".join(f"({one})" if re.search(r"[-+*/?]", one) and len(each) > 1 else one for one in each) or "1"

    # ---- Arrays ----

    def array(self, item, owner=None, word=""):
        """An array that `word` in a list of fields describes, or its own declaration."""
        values, flags, settings = self.rules(item, owner)
        direction = {"": item.direction, "<": "in", ">": "out", "<>": "inout"}[re.match("[<>]*", word).group()]
        flags = {"optional": word.endswith("?") if word else item.optional, **flags}
        on = {flag.upper() for flag in FLAGS if flags.get(flag)}
        on |= {"in": set(), "out": {"OUT", "ANY"}, "inout": {"OUT"}}[direction]
        fields = STRUCTS.get(item.type, [])
        if any(field.direction not in ("", "opaque") for field in fields):
            on.add("POINTERS")
        on = " | ".join(sorted(on)) or "0"
        if item.stars == 2 and item.extents:
            rows = self.product([settings["rows"]]) if "columns" in settings else self.fail(f"the columns {item.name}")
            name = self.variable(item, owner)
            self.emit(f"{settings['columns']}({name}, {rows}, {on})")
            return name
        length = self.product(settings["len"].split(",") if "len" in settings else item.extents)
        for name in set(re.findall(r"\w+", settings.get("value", ""))) & self.pending.keys():
            self.extent(name)
        name, type = self.variable(item, owner), item.type if item.type != "void" else settings.get("type", "void")
        first, step = ("01"[type in ("float", "double")], "1") if len(values) != 2 else values
        if direction == "out":
            first, step = "0", "0"
        if item.stars == 2:
            self.emit(f"HANDLE({item.code.rsplit('*', 1)[0]}, {name}, {on})")
        elif fields:
            self.emit(f"RECORDS({type}, {name}, {length}, {on}, {first}, {step}, {settings.get('value', '{0}')})")
        elif type != "void":
            self.emit(f"ARRAY({type}, {name}, {length}, {on}, {first}, {step})")
        else:
            self.fail(f"the type of {item.name}")
        if "most" in settings:
            self.emit(f"NO_MORE({name}, {settings['most']})")
        for flag, content in [("nan", "NOT_A_NUMBER"), ("inf", "INFINITE")]:
            if flags.get(flag):
                self.emit(f"NOT_READ({content})")
        return name

    # ---- Structures ----

    def structure(self, item):
        _, flags, settings = self.rules(item)
        fields, value = STRUCTS[item.type], f"{item.name}_value"
        sized = fields[0].name == "struct_size"
        on = ["OPTIONAL"] if flags.get("optional", item.optional) else []
        on += [] if sized else ["FIXED"]
        self.names.add(item.name)
        wrong = flaws(settings.get("flaws", item.short), item.type)
        if item.direction == "inout" and sized:
            on += ["OUT", *["POINTERS"] * any(field.stars for field in fields)]
            self.emit(f"const {item.type} {value} = {{.struct_size = sizeof {value}}}")
        elif wrong or "from" in settings:
            self.emit(f"{item.type} {value} = {settings.get('from', item.short)}")
            if any(field.type == "rlcore_column" for field in fields):
                self.emit(f"{value}.columns = columns_of({value}.columns)")
            if wrong:
                self.emit(f"SPOIL({value}, {wrong})")
        else:
            given = {"struct_size": f"sizeof {value}"} if sized else {}
            given |= self.fields(item, fields, settings.get("fields"))
            if sized and any(field.name == "reserved" for field in fields):
                given["reserved"] = f"{item.name}_reserved"
                self.emit(f"U32({item.name}_reserved, 0, 0, RLCORE_E_CONFIG)")
            self.emit(f"const {item.type} {value} = {{{', '.join(f'.{field} = {c}' for field, c in given.items())}}}")
        self.emit(f"STRUCT({item.type}, {item.name}, {value}, {' | '.join(on) or 0})")
        return item.name

    def fields(self, item, fields, listed):
        """The variables of all numbers, and of the arrays that are listed, or of all arrays."""
        given, outer = {}, self.pending
        listed = listed and {word.strip("<>?"): word for word in listed.split(",")}
        fields = [field for field in fields if field.name not in ("struct_size", "reserved") and not field.is_list]
        self.pending = outer | {field.name: (field, item) for field in fields if field.stars == 0}
        for field in fields:
            if field.stars > 0 and (listed is None or field.name in listed):
                name = self.array(field, item, listed[field.name] if listed else "")
                given[field.name] = f"(void *){name}" if field.stars == 2 else name
            elif field.stars == 0:
                own = self.pending.get(field.name, [None])[0] is field
                given[field.name] = self.number(field, item) if own else self.known[field.name][0]
        self.pending = {name: outer[name] for name in outer if self.pending.get(name) == outer[name] or name in given}
        return given

    # ---- The call ----

    def argument(self, item):
        """The expression that is passed for a parameter."""
        _, _, settings = self.rules(item)
        if settings.get("is") == "absent" or item.direction == "opaque":
            return "NULL"
        if item.type.endswith("_fn"):
            self.emit(f'const unsigned no_{item.name} = field("{item.name}", 1, RLCORE_E_NULL)')
            return f"no_{item.name} ? NULL : good_{item.name}"
        if item.stars == 0:
            return self.number(item) if item.name in self.pending else self.known[item.name][0]
        if item.name == "mem" or "by" in settings:
            return self.made_by(item, settings)
        if item.stars > 1 or item.extents or item.short == item.type:
            name = self.array(item)
            return f"(void *){name}" if item.stars == 2 and item.extents else name
        self.names.add(item.name)
        if item.short == "env":  # that of a block, or any
            kept = "KEPT" if any(p.name == "v" for p in self.parameters) or self.noun == "vecenv_attach" else "UNKEPT"
            self.emit(f"const rlcore_env *env = environment({settings.get('wrapped', 0)}, {kept})")
        elif item.type not in STRUCTS:
            kind, flags = ("", "OUT") if item.direction == "inout" else ("const ", settings.get("flags", 0))
            self.emit(f'{kind}{item.type} *{item.name} = object("{item.name}", {self.phase(item.short, settings)}, {flags})')
        elif item.short == "rng" and item.direction != "out":
            self.emit(f"RNG({item.name}, {'OUT' if item.direction == 'inout' else 0})")
        elif f"{item.name}_size" in self.pending:  # its defaults
            del self.pending[f"{item.name}_size"]
            self.known[f"{item.name}_size"] = (f"{item.name}_size",) * 2
            self.emit(f"DEFAULTS({item.type}, {item.name})")
        elif item.direction == "out":
            self.names.remove(item.name)
            return self.array(item)
        else:
            return self.structure(item)
        return item.name

    def made_by(self, item, settings):
        """A macro makes the argument, and at times a number too."""
        made = "mem_size" if item.name == "mem" else settings.get("makes")
        if self.pending.pop(made, None):
            self.known[made] = made, made
        for word in settings.get("needs", "").split():
            self.extent(word)
        name, flags = self.variable(item), settings.get("flags", "OPTIONAL" if item.optional else "0")
        if item.name == "mem":
            macro = "MEMORY_FOR" if re.search("_(init|export)$", self.noun) else "IMAGE_OF"
            self.emit(f"{settings.get('by', macro)}({self.phase(self.noun, settings)})")
        else:
            self.emit(f"{settings['by']}({name}, {flags})")
        return f"(void *){name}" if item.stars == 2 else name

    def phase(self, noun, settings):
        """That of blocks of the kind, or of the kind in the name of a function."""
        while noun and not RULES.find(f"@{noun}")[0] and "on" not in settings:
            noun = noun.rpartition("_")[0]
        return settings.get("on") or (RULES.find(f"@{noun}")[0] or self.fail("the phase of the block"))[0]

    def text(self):
        passed = ", ".join([self.argument(item) for item in self.parameters])
        call, writes = f"rlcore_{self.noun}({passed})", self.settings.get("writes")
        self.emit(f"return CALL_WRITING_ON({status(writes)}, {call})" if writes else f"return CALL({call})")
        return "\n".join([f"OP({self.noun}) {{", *self.lines, "}"])


own = set(re.findall(r"\bOP\((\w+)\)", (HERE / "calls.h").read_text()))
ops = [Op(noun, parameters).text() for noun, parameters in FUNCTIONS if noun not in own]
unused = [": ".join([pattern, *words]) for i, (pattern, words) in enumerate(RULES.lines) if i not in RULES.used]
if unused:
    sys.exit(f"tests/system/fuzz/calls.rules: these are of no function: {unused}")
made = ["/* Made of include/rlcore_bindings.h and calls.rules by generate.py. */", *TABLES.values(), *ops]
(pathlib.Path(sys.argv[1]) / "calls_generated.h").write_text("\n".join(made) + "\n")
