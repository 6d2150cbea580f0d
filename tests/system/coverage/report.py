"""Lines and branches that tests reached, file by file: folder of sources, list of gaps to write, least percentage of lines,
and what `llvm-cov export` wrote for each test program. A line or a branch counts as reached if any copy of its function in
any program reached it; llvm-cov itself takes one copy only when it is given all programs at once."""

import json
import sys


def lines_of(segments):
    """Counts of lines: the largest of the regions that begin in a line, or of the one that goes on through it."""
    counts, wrapped, at = {}, None, 0
    by_line = {}
    for segment in segments:
        by_line.setdefault(segment[0], []).append(segment)
    for line in range(segments[0][0], segments[-1][0] + 1) if segments else ():
        here = by_line.get(line, [])
        begins = [s for s in here if s[3] and s[4] and not s[5]]
        values = [s[2] for s in begins] + ([wrapped[2]] if wrapped and wrapped[3] else [])
        skipped = here and not here[0][3] and here[0][4]
        if values and not skipped and (wrapped and wrapped[3] or begins):
            counts[line] = max(values)
        if here:
            wrapped = here[-1]
    return counts


def main(folder, gaps_path, least, paths):
    lines_in, ways_in = {}, {}
    for path in paths:
        with open(path) as exported:
            files = json.load(exported)["data"][0]["files"]
        for file in files:
            counts = lines_in.setdefault(file["filename"], {})
            for line, count in lines_of(file["segments"]).items():
                counts[line] = counts.get(line, 0) + count
            ways = ways_in.setdefault(file["filename"], {})
            for branch in file.get("branches", []):
                yes, no = ways.get(tuple(branch[:4]), (0, 0))
                ways[tuple(branch[:4])] = yes + branch[4], no + branch[5]
    rows, gaps = [], []
    for filename, counts in sorted(lines_in.items()):
        name = filename.removeprefix(folder + "/")
        ways = ways_in[filename]
        with open(filename) as source:
            text = source.read().split("\n")
        missed = sorted(line for line, count in counts.items() if count == 0)
        for line in missed:
            gaps.append((name, line, "never reached", text[line - 1].strip()))
        open_ways = 0
        for (line, column, last, end), (yes, no) in sorted(ways.items()):
            for count, word in ((yes, "never true"), (no, "never false")):
                if count == 0:
                    open_ways += 1
                    if yes or no:
                        what = text[line - 1][column - 1 : end - 1 if last == line else None]
                        gaps.append((name, line, word, what.strip()))
        rows.append((name, len(counts), len(missed), 2 * len(ways), open_ways))
    rows.append(("all", *(sum(row[i] for row in rows) for i in range(1, 5))))
    print(f"{'file':30} {'lines':>7} {'missed':>7} {'reached':>9}   {'branches':>8} {'missed':>7} {'reached':>9}")
    for name, lines, missed, ways, open_ways in rows:
        share = [f"{100 * (1 - b / a):.2f} %" if a else "" for a, b in ((lines, missed), (ways, open_ways))]
        print(f"{name:30} {lines:7} {missed:7} {share[0]:>9}   {ways:8} {open_ways:7} {share[1]:>9}")
    with open(gaps_path, "w") as out:
        for name, line, word, what in gaps:
            out.write(f"src/{name}:{line}: {word}: {what}\n")
    print(f"{len(gaps)} gaps are listed in {gaps_path}")
    _, lines, missed, _, _ = rows[-1]
    if 100 * (lines - missed) < least * lines:
        sys.exit(f"fewer than {least} % of the lines were reached")


main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:])
