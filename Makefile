# run, test, lint, clean: each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCENE ?=
CLIP := recordings/clip.mp4

.PHONY: run test lint format clean

run: $(VENV)/.run
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" != Linux ]; then \
	  $(BIN)/contact-viewer $(SCENE); \
	else \
	  mkdir -p $(dir $(CLIP)); \
	  $(BIN)/contact-viewer record $(if $(SCENE),$(SCENE),slope) --duration 5 -o $(CLIP); \
	fi

test: lint
	$(BIN)/python tests/run.py $(TESTS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests
	$(BIN)/lint-imports

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

SOURCES := pyproject.toml $(shell find viewer shaders scenes -type f -not -name '*.pyc')

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# The wheel, not an editable install: what runs here is what users get.
$(VENV)/.run: $(VENV)/bin/python $(SOURCES)
	rm -rf build
	$(BIN)/python -m pip install --quiet .
	@touch $@

$(VENV)/.test: $(VENV)/.run tests/system-packages.sh
	$(BIN)/python -m pip install --quiet --group dev
	sh tests/system-packages.sh
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info recordings
