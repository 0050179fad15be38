#!/bin/sh
# Every check of the project, in the order in which they fail fastest.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH
# The tests start hundreds of processes: with this set, as some containers have it, each would compile the program anew.
unset PYTHONDONTWRITEBYTECODE
ruff check .
ruff format --check .
# One process compiles the tests first: started together, each of four would compile all of them for itself.
python -m pytest --collect-only -qq >/dev/null &
lint-imports --no-cache
wait
# Types are checked by one of the first tests. Four processes, which tests/conftest.py keeps on two processors: each waits
# about half of its time, for sandboxes, models and time limits.
python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder "$@"
