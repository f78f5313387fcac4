# run, test, docs, test-one, test-torch, test-warp, test-frameworks, test-matrix, test-long, test-ray, test-versions, dev, release, bench, lint, format, clean: each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEV := .venv-dev
TORCH := .venv-torch
WARP := .venv-warp
FRAMEWORKS := .venv-frameworks
SCENE ?=
CLIP := recordings/clip.mp4

# What Debian must provide beside Python packages: OpenGL to draw; a virtual display, a browser, and ffprobe as a judge, to test.
DRAW_PACKAGES := libgl1 libegl1 libgl1-mesa-dri libosmesa6
TEST_PACKAGES := xvfb ffmpeg chromium chromium-driver
# MotrixSim's own viewer, one of the peers, draws with Vulkan.
BENCH_PACKAGES := libvulkan1 mesa-vulkan-drivers
ONLY ?=
SCENES ?= 5000
SOURCES := pyproject.toml $(shell find viewer shaders scenes docs/rules -type f -not -name '*.pyc')

.PHONY: run test docs test-one test-torch test-warp test-frameworks test-matrix test-long test-ray test-versions dev release bench lint format clean

run: $(VENV)/.run
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" != Linux ]; then \
	  $(BIN)/contact-viewer $(or $(SCENE),walker); \
	else \
	  echo "no display: filming 3 s of $(or $(SCENE),walker) into $(CLIP)"; \
	  mkdir -p $(dir $(CLIP)) && $(BIN)/contact-viewer record $(or $(SCENE),walker) --duration 3 -o $(CLIP); \
	fi

# SHUFFLE=7 runs them in another order.
test: $(VENV)/.test lint
	SHUFFLE=$(SHUFFLE) $(BIN)/python tests/run.py $(TESTS)

# Some tests, on a display of their own, without the checks of the source: T=tests/cli, or T="tests/cli -k word".
test-one: $(VENV)/.test
	$(BIN)/python tests/run.py $(or $(T),$(error T: which test? For example T=tests/window/panels/test_events.py))

# What takes too long for every change: bundled scenes for an hour of simulated time, thousands of random scenes.
test-long: $(VENV)/.test
	sh .ci/debian-packages firefox-esr
	$(BIN)/python -m pytest -m long tests
	SCENES=$(SCENES) $(BIN)/python -m pytest tests/engines/mujoco/test_random_scenes.py

# Sweeps on a Ray cluster of three nodes, all of them on this machine, with a node and a worker lost on the way.
test-ray: $(VENV)/.test
	$(BIN)/python -m pytest -m long tests/sweeps/test_ray.py tests/sweeps/test_ray_jobs.py

# The releases of MuJoCo in which contacts changed, found by bisection: installs a dozen of them into the user's cache.
test-versions: $(VENV)/.test
	RELEASES=all $(BIN)/python -m pytest -m long tests/compare/test_versions.py

# The tests of arrays on torch's tensors. torch is large: it has an environment of its own, beside that of the tests.
TORCH_TESTS := tests/sensors/test_tensors.py tests/sensors/test_torch.py tests/sensors/test_model_layouts.py \
  tests/test_metrics.py tests/touch/test_touch_tensors.py tests/passive/test_rows.py tests/test_examples.py \
  tests/audits/test_audit.py::test_terms_of_torch_are_called_with_tensors

test-torch: $(TORCH)/.torch
	ARRAY_LIBRARIES=torch $(TORCH)/bin/python -m pytest -q $(TORCH_TESTS)

# A batch on mujoco_warp, on the processor: its kernels take minutes to compile.
test-warp: $(WARP)/.warp
	ARRAY_LIBRARIES=warp WARP_CACHE_PATH="$(CURDIR)/$(WARP)/kernels" $(WARP)/bin/python tests/run.py -s tests/passive/test_warp.py

# Gymnasium, stable-baselines3 and dm_control themselves, with two releases of MuJoCo: dm_control starts with the older one.
test-frameworks: $(FRAMEWORKS)-3.11/.frameworks $(FRAMEWORKS)-4.0/.frameworks
	FRAMEWORKS=3.11 $(FRAMEWORKS)-3.11/bin/python tests/run.py tests/frameworks
	FRAMEWORKS=4.0 $(FRAMEWORKS)-4.0/bin/python tests/run.py tests/frameworks

# The wheel on several versions of Python and MuJoCo, a smoke of every command on each. Takes a quarter of an hour.
test-matrix: $(VENV)/.test
	$(BIN)/python tests/matrix.py

# To work on the source: an editable install and the tools. See CONTRIBUTING.md.
dev: $(DEV)/.dev

# The documentation site, in build/site; a warning is an error.
docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Wheel and source archive in dist, for a repository at an address: make release ADDRESS=https://host/owner/contact-viewer
release: $(VENV)/.test
	$(BIN)/python .ci/release.py $(or $(ADDRESS),$(error ADDRESS: where will the repository be?)) dist

bench: $(VENV)/.test $(TORCH)/.torch
	sh .ci/debian-packages $(TEST_PACKAGES) $(BENCH_PACKAGES)
	$(BIN)/python -m benchmarks.environments
	$(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY))

# With the tools of the development environment if there is one, else with those of the tests.
TOOLS := $(or $(wildcard $(DEV)/.dev),$(VENV)/.test)

lint: $(TOOLS)
	sh .ci/lint $(dir $(TOOLS))

format: $(TOOLS)
	$(dir $(TOOLS))bin/ruff check --fix .
	$(dir $(TOOLS))bin/ruff format .

clean:
	rm -rf $(VENV) $(DEV) $(TORCH) $(WARP) $(FRAMEWORKS)-* .venv-peers .venv-studio build dist *.egg-info recordings

$(BIN)/python:
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || sh .ci/debian-packages python3-venv
	@echo "making the environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip

# The wheel, not an editable install: what runs here is what users get.
$(VENV)/.run: $(BIN)/python $(SOURCES)
	@echo "looking for OpenGL: $(DRAW_PACKAGES)"
	@sh .ci/debian-packages $(DRAW_PACKAGES)
	@rm -rf build
	@echo "installing contact-viewer, MuJoCo and the window's libraries into $(VENV): a minute or two"
	@$(BIN)/python -m pip install --quiet .
	@touch $@

# What the tests import is compiled when they do: all of it would take half a minute.
$(VENV)/.test: $(VENV)/.run
	@echo "installing what the tests need: $(TEST_PACKAGES), and the packages of [dependency-groups]"
	@sh .ci/debian-packages $(TEST_PACKAGES)
	@$(BIN)/python -m pip install --quiet --no-compile --group dev
	@touch $@

$(DEV)/.dev: pyproject.toml
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || sh .ci/debian-packages python3-venv
	sh .ci/debian-packages $(DRAW_PACKAGES) $(TEST_PACKAGES)
	$(PYTHON) -m venv $(DEV)
	$(DEV)/bin/python -m pip install --quiet --upgrade pip
	$(DEV)/bin/python -m pip install --quiet -e . --group dev
	@touch $@

# torch alone: all else is found in the environment of the tests. torch.compile needs a C++ compiler.
$(TORCH)/.torch: $(VENV)/.test
	sh .ci/debian-packages g++
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > $$($(TORCH)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth
	@touch $@

$(WARP)/.warp: $(VENV)/.test
	$(PYTHON) -m venv $(WARP)
	$(WARP)/bin/python -m pip install --quiet mujoco-warp==4.0.0
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > $$($(WARP)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth
	@touch $@

$(FRAMEWORKS)-3.11/.frameworks: MUJOCO := mujoco==3.11.0 dm_control==1.0.44
$(FRAMEWORKS)-4.0/.frameworks: MUJOCO := mujoco==4.0.0 dm_control==1.0.50
$(FRAMEWORKS)-%/.frameworks: $(VENV)/.test
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(MUJOCO) gymnasium==1.4.0 stable-baselines3==2.9.2 torch==2.13.0
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > $$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth
	@touch $@
