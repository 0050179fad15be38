# `make demo` shows RTC Inspector at work; `make test` runs every check. Both make the environment they need.
.PHONY: demo test environment format clean

# Options of `rtc-inspector demo`, e.g. make demo ARGS="--headless --regions 5"
ARGS ?=
# What llama.cpp is built for, e.g. make demo GPU=cuda; none named, what is built already stays. See docs/llama-cpp.md
GPU ?=
export GPU

demo:
	@scripts/bootstrap.sh demo
	@.venv/bin/rtc-inspector demo $(ARGS)

test:
	@scripts/bootstrap.sh dev
	@scripts/check.sh $(ARGS)

environment:
	@scripts/bootstrap.sh dev

format: environment
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache build dist *.egg-info
