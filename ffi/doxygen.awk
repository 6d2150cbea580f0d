# Doxygen's comments from those of include/rlcore.h, include/rlcore.hpp and the guides. Line by line; nothing is left out.
#
# Headers: a section becomes a group; "Errors:" and "Threads:" become paragraphs, "name: ..." a parameter, lines with
# formulas a block; rlcore_x, RLCORE_X and E_X become links, so that a name that is not there is found.
# In classes a comment speaks for all members up to the next comment or empty line.
# Guides: names become links, links to other files of the repository and to the pages of algorithms their text, a folded block an
# open one.

FNR == 1 {
  guide = FILENAME ~ /\.md$/
  classes = FILENAME ~ /\.hpp$/
  first = 1
}

function names(text,   done, word) {
  done = ""
  while (match(text, /(rlcore|RLCORE|E)_[A-Za-z0-9_]+/)) {
    word = substr(text, RSTART, RLENGTH)
    before = done substr(text, 1, RSTART - 1)
    text = substr(text, RSTART + RLENGTH)
    if (before ~ /[A-Za-z0-9_]$/ || text ~ /^\*/ || word ~ /_x$/) done = before word
    else done = before "#" (word ~ /^E_/ ? "RLCORE_" : "") word
  }
  return done text
}

# Prose of a comment: what Doxygen would take for its own signs is escaped.
function prose(text) {
  gsub(/</, "\\<", text)
  gsub(/ \*/, " \\*", text)
  return names(text)
}

# One line of a comment that stands above what it is about.
function line(text,   name, at, size) {
  if (!first && !formula && (text ~ /^     [^ ].*\);/ || (text ~ /^     [^ ].* = / && !parameter))) {
    formula = 1
    parameter = 0
    return "@verbatim\n" text
  }
  if (formula && text ~ /^     /) return text
  if (formula) {
    formula = 0
    return "@endverbatim\n" line(text)
  }
  if (first && match(text, /^   [A-Z][a-z]+: /)) {
    at = RLENGTH
    return "@par " substr(text, 4, at - 5) "\n" prose(substr(text, at + 1))
  }
  if (!after && match(text, /^   [a-z_]+(, [a-z_]+)*: /)) {
    at = RLENGTH
    name = substr(text, 4, at - 5)
    gsub(/ /, "", name)
    parameter = 1
    return "@param " name " " line("      " substr(text, at + 1))
  }
  if (match(text, /(Errors|Errors, here and below|Threads): /)) {
    at = RSTART
    size = RLENGTH
    name = substr(text, at, size - 2)
    if (name ~ /^Errors,/) name = "Errors of this and the following calls"
    parameter = 0
    after = 1
    return prose(substr(text, 1, at - 1)) "\n@par " name "\n" line("      " substr(text, at + size))
  }
  if (parameter && text ~ /^   [^ ]/) {
    parameter = 0
    return "\n" prose(text)
  }
  return prose(text)
}

# ---- guides

guide && /^```/ {
  code = !code
  sub(/,fragment$/, "")
  print
  next
}
guide && code { print; next }
# Doxygen does not fold a block of code.
guide && /^<details><summary>/ { sub(/^<details><summary>/, "**"); sub(/<\/summary>$/, ":**"); print; next }
guide && /^<\/details>$/ { print ""; next }
guide {
  text = $0
  out = ""
  while (match(text, /\[[^]]*\]\((\.\.|algorithms\/)[^)]*\)/)) {
    link = substr(text, RSTART + 1, RLENGTH - 1)
    out = out substr(text, 1, RSTART - 1) substr(link, 1, index(link, "](") - 1)
    text = substr(text, RSTART + RLENGTH)
  }
  text = out text
  out = ""
  while (match(text, /`(rlcore|RLCORE)_[A-Za-z0-9_]+`/)) {
    out = out substr(text, 1, RSTART - 1) "#" substr(text, RSTART + 1, RLENGTH - 2)
    text = substr(text, RSTART + RLENGTH)
  }
  print out text
  next
}

# ---- headers

/^\/\* ---- .* ---- \*\/$/ {
  title = substr($0, 9, length($0) - 16)
  if (group) print "/** @} */"
  group++
  if (classes) { group = 0; print ""; next }
  printf "/** @defgroup section%02d %s\n@{ */\n", group, title
  next
}
/^#ifdef __cplusplus/ && group {
  print "/** @} */"
  group = 0
}

# A comment behind what it is about.
/[,;A-Z0-9]  *\/\* .* \*\/$/ && !comment && !/^ *\/\*/ {
  at = index($0, "/* ")
  text = substr($0, at + 3)
  print substr($0, 1, at - 1) "/**< " prose(substr(text, 1, length(text) - 3)) " */"
  next
}

# A comment above.
/^ *\/\* / && !comment {
  comment = 1
  whole = ""
  parameter = formula = after = 0
  sub(/\/\* /, "   ")
  indent = match($0, /[^ ]/) - 4
  if (first) whole = "@file\n"
}
comment {
  ends = sub(/ \*\/$/, "")
  whole = whole line(classes && $0 ~ /^     static|^     void|^     std::/ ? "     " $0 : substr($0, indent + 1)) "\n"
  if (ends) {
    if (formula) whole = whole "@endverbatim\n"
    comment = first = formula = 0
    pending = whole
    said = whole
    if (classes) next
    print "/** " whole "*/"
  }
  next
}

/^namespace rlcore / { print "/** What rlcore.hpp adds for C++17. */" }
/^enum \{$/ { print "/** The values of #rlcore_status. */" }
classes && /^$/ { said = "" }
classes && /^ ?(public|private):/ { said = "" }
classes && said != "" && (/^  [A-Za-z~]/ || /^[a-z]/) && !inside {
  print "/** " said "*/"
  inside = /template <[^;{(]*$/
  print
  next
}
{ inside = 0; print }
