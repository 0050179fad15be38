#!/bin/sh
# Every check of the project, in the order in which they fail fastest.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH
# The tests start hundreds of processes: with this set, as some containers have it, each would compile the program anew.
unset PYTHONDONTWRITEBYTECODE
ruff check .
ruff format --check .
lint-imports --no-cache
# Types are checked by the first of the tests, while the other process works on the next ones.
python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder "$@"
