"""Writes the header as its oldest clients may know it: `oldest.py <rlcore.h of the base> <rlcore.h> > oldest.h`.

A program that was compiled with it works with every library of this ABI number, so LATER only gains lines: a structure that has
grown since the base, but is not in LATER, is refused.
"""

import re
import sys

from layout import structures

# Structures that have grown, and the first member that a client need not give.
LATER = {
    "rlcore_env_def": "render",
    "rlcore_vecenv_config": "autoreset",
    "rlcore_learner_stats": "learning_rate",
    "rlcore_rollout_buffer_config": "accumulate",
    "rlcore_logits": "mask",
}
WHOLE = ["rlcore_learner_config"]  # no shorter one is accepted yet


def cut(header):
    """The header without the later members."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for name, member in LATER.items():
        text = re.sub(rf"(struct {name} \{{[^}}]*?\n)[^\n]*\b{member};[^}}]*", r"\1", text)
    return text


if __name__ == "__main__":
    base, now = (open(path).read() for path in sys.argv[1:])
    sizes = {name: on64 for name, (on64, *_), _ in structures(base)}
    for name, (on64, *_), members in structures(cut(now)):
        if members[0][0] == "struct_size" and name not in WHOLE and on64 > sizes.get(name, on64):
            sys.exit(f"{name} has grown: LATER in tests/system/abi/oldest.py has to name its first new member")
    sys.stdout.write(cut(base))
