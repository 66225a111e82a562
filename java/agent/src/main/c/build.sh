#!/bin/sh
# Builds the agent's native half: build.sh OUT.so. Needs a C compiler and a JDK's headers (17 or later).
set -eu
here=$(dirname "$0")
out=$1
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
mkdir -p "$(dirname "$out")"
cc=${CC:-cc}

# Of glibc's parts the C library alone is linked, and not the loader, which the linker would add for thread-local
# variables: what they need of it is there in any process. So this loads into JVMs on musl as well, which takes
# libc.so.6 for its own name, and has all that is called here.
libc=$($cc -print-file-name=libc.so.6)
[ -e "$libc" ] && libraries="-nodefaultlibs -ldl $libc -lgcc" || libraries=-ldl

new=$out.$$ # another build may be under way
$cc -std=c11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
    -I"$home/include" -I"$home/include/linux" -I"$here/../include" -Wl,-soname,libloadline-agent.so \
    "$here"/*.c -o "$new" -pthread $libraries
mv "$new" "$out"
