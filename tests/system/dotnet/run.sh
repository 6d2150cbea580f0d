#!/bin/bash
# The binding of C# in ffi/dotnet: every layout against the C compiler's, learners that end with the bits of a program in C,
# environments and exceptions of C#, refusals; and the code of examples-c/guides/unity.md, against a stand-in for Unity's
# classes. In Mono, and in Microsoft's runtime (CoreCLR), which a Python package brings; where there is a .NET SDK, it also builds
# the project file.
# Needs: cargo gcc libc6-dev python3 python3-pip mono-mcs mono-runtime
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$PWD/target/dotnet
mkdir -p "$work/mono" "$work/core" "$work/unity"
cargo build -q --release -p rlcore-ffi
export LD_LIBRARY_PATH=$PWD/target/release DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
here=tests/system/dotnet

fail() { echo "$here: $*"; exit 1; }

python3 tests/system/abi/layout.py include/rlcore.h > "$work/layout.c"
cc -std=c11 -fsyntax-only -Iinclude "$work/layout.c"
cc -std=c11 -O1 -ffp-contract=off -Wall -Wextra -Werror -Iinclude $here/same.c target/release/librlcore.a -o "$work/same"
"$work/same" > "$work/expected.txt"
calls=$(sed -n 's/.* extern [A-Za-z0-9*]* \(rlcore_[a-z0-9_]*\)(.*/\1/p' ffi/dotnet/Rlcore.cs | LC_ALL=C sort)
[ "$calls" = "$(LC_ALL=C sort ffi/golden/symbols.txt)" ] || fail 'Rlcore.cs has other calls than the library'

# Version 7.2 is the newest that mcs knows; Unity 2021 and later takes 9.
flags=(-langversion:7.2 -warnaserror)
programs=($here/Program.cs $here/Layouts.cs $here/Mass.cs)
mcs "${flags[@]}" -unsafe -target:library -out:"$work/mono/Rlcore.dll" ffi/dotnet/*.cs
mcs "${flags[@]}" -r:"$work/mono/Rlcore.dll" -out:"$work/mono/Program.exe" "${programs[@]}"  # without unsafe code
mono "$work/mono/Program.exe" "$work/layout.c" | diff "$work/expected.txt" - || fail 'Mono: other numbers'

# The example of the guide, with the branches for Unity.
mcs "${flags[@]}" -define:UNITY_5_3_OR_NEWER -unsafe -target:library -out:"$work/unity/Rlcore.dll" ffi/dotnet/*.cs $here/UnityEngine.cs
mcs "${flags[@]}" -r:"$work/unity/Rlcore.dll" -out:"$work/unity/Player.exe" examples-c/unity/*.cs $here/Player.cs
(cd "$work/unity" && mono Player.exe)

[ -x "$work/runtime/dotnetcore2/bin/dotnet" ] || {
  pip3 install -q --no-deps --target "$work/runtime" dotnetcore2==3.1.23
  chmod +x "$work/runtime/dotnetcore2/bin/dotnet"
}
dotnet=$work/runtime/dotnetcore2/bin
core=(-nostdlib -noconfig)
for part in Private.CoreLib Runtime Runtime.Extensions Console Collections Text.RegularExpressions IO.FileSystem Threading.Tasks.Parallel; do
  core+=(-r:"$(echo "$dotnet"/shared/Microsoft.NETCore.App/3.1.*)/System.$part.dll")
done
mcs "${flags[@]}" "${core[@]}" -unsafe -target:library -out:"$work/core/Rlcore.dll" ffi/dotnet/*.cs
mcs "${flags[@]}" "${core[@]}" -r:"$work/core/Rlcore.dll" -out:"$work/core/Program.dll" "${programs[@]}"
echo '{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}}}' > "$work/core/Program.runtimeconfig.json"
"$dotnet/dotnet" exec "$work/core/Program.dll" "$work/layout.c" | diff "$work/expected.txt" - || fail '.NET: other numbers'

if command -v dotnet > /dev/null; then
  rm -rf "$work/sdk" && mkdir -p "$work/sdk/ffi" && cp -r ffi/dotnet "$work/sdk/ffi"  # it writes beside the project
  dotnet build -v q --nologo "$work/sdk/ffi/dotnet/rlcore.csproj"
else
  echo 'dotnet: no .NET SDK here: ffi/dotnet/rlcore.csproj was not built'
fi
cat "$work/expected.txt"
