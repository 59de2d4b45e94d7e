# Everything runs in .venv, which is made and filled on first use and reused afterwards.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One more than there are cores: many tests wait for processes, services and files.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: demo test lint types fast figures benchmark wheel-check clean

demo: $(STAMP)
	$(BIN)/mixsense demo

test: lint types
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

fast: $(STAMP)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks

types: $(STAMP)
	$(BIN)/mypy

figures: $(STAMP)
	$(BIN)/python benchmarks/figures.py

wheel-check: $(STAMP)
	$(BIN)/python benchmarks/wheel.py

benchmark: $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[benchmark]'
	$(BIN)/python benchmarks/mixture.py
	$(BIN)/python benchmarks/decode.py
	$(BIN)/python benchmarks/noiseless.py
	$(BIN)/python benchmarks/calibrate.py
	$(BIN)/python benchmarks/frugal.py
	$(BIN)/python benchmarks/box.py

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mixsense needs Python 3.11 or newer; this is %s: run make PYTHON=python3.11" % sys.version.split()[0])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
