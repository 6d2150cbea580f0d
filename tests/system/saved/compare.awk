# What went on from kept blocks against expected.txt. A refusal is a line with its status and the kind of block, and one with its words.
NR == FNR { expected[$3] = $0; kinds++; next }
words != "" {
  if ($0 !~ /expected image version [0-9]+, given [0-9]+$/) { print "image version " kept ", " words ": " $0; bad = 1 }
  words = ""; next
}
$0 == expected[$3] { same++; next }
$1 == "RLCORE_E_IMAGE" && kept != version { refused++; words = $3; next }
{ print "image version " kept ": wanted `" expected[$3] "`, got `" $0 "`"; bad = 1 }
END {
  if (same + refused != kinds) { print "image version " kept ": " same + refused " of " kinds " kinds of blocks"; bad = 1 }
  if (!bad) printf "image version %s: %d kinds of blocks go on, %d name their version\n", kept, same, refused
  exit bad
}
