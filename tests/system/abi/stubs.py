"""Makes a library in C of the header: `stubs.py <rlcore.h> > stubs.c`. Every declared function gets a body that only traps, so that
a C compiler's debug information says what the interface is, whatever Rust's compiler of the day writes."""

import re
import sys

header = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
print(re.sub(r"^((?!typedef)\w[\w *]*\brlcore_\w+\([^;{}]*\));", r"\1 { __builtin_trap(); }", header, flags=re.M))
