"""Writes the layouts of every public structure and every number that has a name: `layout.py <rlcore.h> > layout.c`.

Offsets follow from the members' types by the rules that all C compilers share; layout.c makes compilers agree.
`layout.py --relied` writes what programs that were compiled with the header rely on: structures that begin with struct_size may
be longer, all functions that there were take and return the same.
"""

import re
import sys

# Bytes and boundary of each type: on 64-bit machines, on 32-bit machines, on 32-bit x86 as Linux has it.
PLAIN = {"uint8_t": 1, "char": 1, "uint32_t": 4, "int32_t": 4, "float": 4}
TYPES = {name: [(size, size)] * 3 for name, size in PLAIN.items()}
TYPES["uint64_t"] = TYPES["double"] = [(8, 8), (8, 8), (8, 4)]
POINTER = TYPES["size_t"] = [(8, 8), (4, 4), (4, 4)]

HEAD = """\
/* Bytes of every public structure and where its members lie, on 64-bit machines, on 32-bit machines, and on 32-bit x86 as Linux
   has it, where numbers of eight bytes lie on boundaries of four; and the number behind every name.
   tests/system/abi/run.sh makes it of a header and compiles it for each kind of machine. */
#include <rlcore.h>
#include <stddef.h>

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

struct boundary {
  char one;
  uint64_t eight;
};
#define HERE(on64, on32, on_x86) (sizeof(void *) == 8 ? (on64) : offsetof(struct boundary, eight) == 8 ? (on32) : (on_x86))
#define SIZE(type, on64, on32, on_x86) _Static_assert(sizeof(type) == HERE(on64, on32, on_x86), "sizeof " #type)
#define FIELD(type, member, on64, on32, on_x86) \\
  _Static_assert(offsetof(type, member) == HERE(on64, on32, on_x86), "offset of " #type "." #member)
#define NUMBER(name, value) _Static_assert((name) == (value), #name)
"""


def place(members, machine):
    """Where members lie one after another, and the bytes and the boundary of all."""
    at, boundary, offsets = 0, 1, []
    for _, layouts, count in members:
        size, align = layouts[machine]
        at += -at % align
        offsets.append(at)
        at, boundary = at + size * count, max(boundary, align)
    return offsets, (at + -at % boundary, boundary)


def structures(header):
    """The name of each of the header's structures, its bytes on each machine, and its members with where they lie."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    types = dict(TYPES)
    types.update({name: POINTER for name in re.findall(r"typedef \w+ \(\*(\w+)\)\(", text)})
    found = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S)
    assert len(found) == len(re.findall(r"\b(?:struct|union)\b[^;{]*\{", text)), "a structure of another form"
    for name, body in found:
        members = []
        for line in filter(None, (line.strip() for line in body.split(";"))):
            form = r"(?:const )?(\w+) ((?:\*(?:const )?)*)(\w+)(?:\[(\d+)\])?"
            kind, stars, member, count = re.fullmatch(form, line).groups()
            members.append((member, POINTER if stars else types[kind], int(count or 1)))
        places = [place(members, machine) for machine in range(3)]
        types[name] = [layout for _, layout in places]
        offsets = zip(*(offsets for offsets, _ in places))
        yield name, [size for size, _ in types[name]], [(member, at) for (member, *_), at in zip(members, offsets)]


def numbers(header):
    """Names of the header with their numbers, but for those of its own version."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for names in re.findall(r"enum \w*\s*\{(.*?)\}", text, re.S):
        for name in filter(None, (name.strip() for name in names.split(","))):
            yield re.fullmatch(r"(\w+) = (-?\w+)", name).groups()
    yield from ((n, v) for n, v in re.findall(r"^#define (\w+) +(\w+) *$", text, re.M) if "VERSION" not in n)


def functions(header):
    """Types of callbacks and declarations of functions: a compiler refuses another one of the same name."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    return re.findall(r"^(?:typedef \w+ \(\*\w+\)|(?!typedef)\w[\w *]*\brlcore_\w+)\([^;{}]*\);", text, re.M)


def layout(header, relied):
    text = HEAD + "\n" + "".join("NUMBER({}, {});\n".format(*number) for number in numbers(header))
    for name, sizes, members in structures(header):
        may_grow = relied and members[0][0] == "struct_size"
        text += "\n" + ("" if may_grow else "SIZE({}, {}, {}, {});\n".format(name, *sizes))
        text += "".join("FIELD({}, {}, {}, {}, {});\n".format(name, member, *at) for member, at in members)
    return text + ("\n" + "\n".join(functions(header)) + "\n" if relied else "")


if __name__ == "__main__":
    *option, path = sys.argv[1:]
    sys.stdout.write(layout(open(path).read(), option == ["--relied"]))
