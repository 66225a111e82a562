#!/bin/sh
# Builds the agent's native half: build.sh OUT.so. Needs a C compiler and a JDK's headers (17 or later).
set -eu
here=$(dirname "$0")
out=$1
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
mkdir -p "$(dirname "$out")"
new=$out.$$ # another build may be under way
${CC:-cc} -std=c11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
    -I"$home/include" -I"$home/include/linux" -I"$here/../include" -Wl,-soname,libloadline-agent.so \
    "$here"/*.c -o "$new" -pthread -ldl
mv "$new" "$out"
