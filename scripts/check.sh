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
# Types are checked by the first of the tests, while the other processes work on the next ones. One process more than
# the two cores that there always are: tests wait for sandboxes, models and time limits for a third of their time.
python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder "$@"
