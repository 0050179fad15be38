#!/bin/sh
# A private Docker engine for the tests: start, stop, status.
#
#   scripts/docker-engine.sh start    installs Debian's engine when it is missing, starts it, prints DOCKER_HOST=...
#   scripts/docker-engine.sh status   exit 0 and DOCKER_HOST=... when it answers
#   scripts/docker-engine.sh stop     ends the process that start began, and removes its data
#
# Everything lives in one folder: RTC_DOCKER_DIR, by default rtc-docker-<uid> in TMPDIR. Firewall, bridges, forwarding
# and any other engine are left alone: containers of this engine have no network.
set -eu

dir=${RTC_DOCKER_DIR:-${TMPDIR:-/tmp}/rtc-docker-$(id -u)}
socket=$dir/docker.sock
pidfile=$dir/docker.pid
log=$dir/dockerd.log
parent=rtc-docker-$(printf '%s' "$dir" | cksum | cut -d' ' -f1)

fail() {
    echo "docker-engine: $*" >&2
    exit 1
}

# Whether the pid file names a dockerd of ours: a number alone could be anybody's by now.
ours() {
    [ -s "$pidfile" ] || return 1
    tr '\0' ' ' < "/proc/$(cat "$pidfile")/cmdline" 2>/dev/null | grep -qF -- "--data-root=$dir/data"
}

# The engine's own answer, asked without a client: any client on the path may be of another version.
answers() {
    [ -S "$socket" ] && [ "$(curl -sf --max-time 5 --unix-socket "$socket" http://engine/_ping 2>/dev/null)" = OK ]
}

missing() {
    for tool in dockerd containerd runc curl; do
        command -v "$tool" > /dev/null 2>&1 || return 0
    done
    return 1
}

# Debian's packages start their services; a policy of our own says no while they are installed.
install_engine() {
    command -v apt-get > /dev/null 2>&1 || fail "no Docker engine here and no apt-get to install one"
    policy=/usr/sbin/policy-rc.d
    mine=no
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' > "$policy"
        chmod 755 "$policy"
        mine=yes
    fi
    export DEBIAN_FRONTEND=noninteractive
    lock="-o DPkg::Lock::Timeout=300"
    wanted=docker.io
    command -v curl > /dev/null 2>&1 || wanted="$wanted curl"
    done=no
    for update in no yes; do
        # shellcheck disable=SC2086
        [ "$update" = no ] || apt-get $lock -qq update >&2 || true
        # shellcheck disable=SC2086
        if apt-get $lock -qq -y --no-install-recommends install $wanted >&2; then
            done=yes
            break
        fi
    done
    [ "$mine" = no ] || rm -f "$policy"
    [ "$done" = yes ] || fail "apt-get could not install docker.io"
    missing && fail "docker.io is installed, but dockerd, containerd or runc is missing"
    return 0
}

launch() {
    mkdir -p -m 700 "$dir"
    # dockerd must not hold the caller's pipes open, nor die with its terminal.
    setsid dockerd --host="unix://$socket" --pidfile="$pidfile" --data-root="$dir/data" --exec-root="$dir/run" \
        --storage-driver="$1" --cgroup-parent="/$parent" --config-file="$dir/none.json" \
        --containerd-namespace="$parent" --containerd-plugins-namespace="$parent-plugins" \
        --iptables=false --ip6tables=false --bridge=none --ip-forward=false --ip-masq=false --userland-proxy=false \
        < /dev/null >> "$log" 2>&1 &
    child=$!
    tries=0
    until answers; do
        tries=$((tries + 1))
        if [ "$tries" -gt 150 ] || ! kill -0 "$child" 2>/dev/null; then
            kill "$child" 2>/dev/null || true
            wait "$child" 2>/dev/null || true
            return 1
        fi
        sleep 0.2
    done
}

start() {
    [ "$(id -u)" = 0 ] || fail "only root can start an engine"
    if ours && answers; then
        echo "DOCKER_HOST=unix://$socket"
        return
    fi
    # A socket's path holds at most 107 characters, and containerd puts its own below run/.
    [ "${#dir}" -le 60 ] || fail "the folder's name is too long for sockets: $dir"
    ! missing || install_engine
    mkdir -p -m 700 "$dir"
    echo '{}' > "$dir/none.json"
    launch overlay2 || launch vfs || {
        tail -n 20 "$log" >&2
        fail "dockerd did not answer; its last lines are above"
    }
    echo "DOCKER_HOST=unix://$socket"
}

# End a process of ours and wait until it is gone, harder after ten seconds.
end() {
    kill "$1" 2>/dev/null || return 0
    tries=0
    while kill -0 "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -ne 50 ] || kill -9 "$1" 2>/dev/null || true
        [ "$tries" -le 100 ] || return 1
        sleep 0.2
    done
}

# Control groups that only this engine makes: one for each container, all below one parent.
groups() {
    find /sys/fs/cgroup -maxdepth 2 -type d -name "$parent" 2>/dev/null || true
}

# Containers first: dockerd would wait ten seconds for each, and leave them running if it were killed meanwhile.
end_containers() {
    groups | while read -r group; do
        find "$group" -mindepth 2 -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done | sort -u | while read -r process; do
        kill -9 "$process" 2>/dev/null || true
    done
}

# Each container's shim outlives an engine that was killed; its command line names our namespace of containerd.
end_shims() {
    for folder in /proc/[0-9]*; do
        if tr '\0' ' ' < "$folder/cmdline" 2>/dev/null | grep -qF -- "-namespace $parent "; then
            kill -9 "${folder#/proc/}" 2>/dev/null || true
        fi
    done
}

stop() {
    [ -d "$dir" ] || return 0
    end_containers
    ! ours || end "$(cat "$pidfile")" || fail "dockerd does not end"
    containerd=$dir/run/containerd/containerd.pid
    if [ -s "$containerd" ] && grep -qsF -- "$dir/run" "/proc/$(cat "$containerd")/cmdline"; then
        end "$(cat "$containerd")" || fail "containerd does not end"
    fi
    end_shims
    # Deepest first; only mounts below our own folder.
    awk -v d="$dir/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r point; do
        umount "$point" || true
    done
    ! grep -qF " $dir/" /proc/self/mountinfo || fail "something is still mounted below $dir"
    rm -rf "$dir"
    groups | while read -r group; do
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

status() {
    if ours && answers; then
        echo "DOCKER_HOST=unix://$socket"
    else
        echo "no engine of ours is running" >&2
        return 1
    fi
}

case ${1:-} in
    start) start ;;
    stop) stop ;;
    status) status ;;
    *) fail "usage: $0 start|stop|status" ;;
esac
