#!/bin/sh
# Every check of the project, in the order in which they fail fastest.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH
ruff check .
ruff format --check .
lint-imports --no-cache
mypy
python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder "$@"
