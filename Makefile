# Everything runs in .venv, made here; PYTHON names another interpreter to make it from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What builds read: headers, C, handlers, tables, declarations of commands; not what they generate.
GENERATED := shim/generated/% pyimpl/cudla_sim/constants/% pyimpl/cudla_sim/capi/generated/% \
    pyimpl/cudla_sim/nvdla/dla_interface.py
PYTHON_SOURCES := $(filter-out $(GENERATED) %/version.py,$(shell find pyimpl/cudla_sim -name '*.py'))
SOURCES := $(sort build_ffi.py pyproject.toml pyimpl/cudla_sim/version.py $(PYTHON_SOURCES) \
    $(filter-out $(GENERATED),$(shell find codegen include shim pyimpl \
    -name '*.c' -o -name '*.h' -o -name '*.hpp' -o -name '*.cpp' -o -path 'codegen/*.py')))

# A folder per API; the digits come last, and onnx needs more than the package.
ALL_SAMPLES := $(notdir $(patsubst %/Makefile,%,$(wildcard c_examples/*/Makefile)))
SAMPLES := $(filter-out cudla onnx,$(ALL_SAMPLES)) cudla

# The tests start hundreds of processes with Python in them, each of which would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all test-browser test-networks test-arm64 wheels stress sanitize fuzz lint
.PHONY: docs bench clean
.DEFAULT_GOAL := run

# A file that is gone changes what is generated as well: the last build has left the list of its sources.
ifneq ($(SOURCES),$(shell cat $(VENV)/sources 2>/dev/null))
$(VENV)/installed: changed
.PHONY: changed
changed:
endif

# After changes of Python only, the package stays installed.
$(VENV)/installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(if $(filter-out changed $(PYTHON_SOURCES),$?), \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ., $(BIN)/python build_ffi.py)
	@printf '%s\n' $(SOURCES) >$(VENV)/sources
	touch $@

$(VENV)/installed-test: pyproject.toml | $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	touch $@

# Build the library and the samples, classify the shipped digits.
run: export PATH := $(CURDIR)/$(BIN):$(PATH)
run: $(VENV)/installed
	set -e; for api in $(SAMPLES); do $(MAKE) --no-print-directory -C c_examples/$$api run; done

# Both print their CPU seconds beside a budget. `-m` replaces the expression of pyproject.toml.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
OTHERS := not stress and not networks and not browser and not site

# The fast tier: every subsystem, without the tests that are marked slow.
test: $(VENV)/installed-test
	.ci/measure 500 $(PYTEST) -m "not slow and $(OTHERS)"

# The fast tier and the slow one.
test-all: test
	.ci/measure 600 $(PYTEST) -m "slow and $(OTHERS)"

# What takes minutes: many exits, many frames, many threads.
stress: $(VENV)/installed-test
	$(BIN)/python -m pytest -m stress -o faulthandler_timeout=1800

# Networks as users export them: compiled, checked, compared with onnxruntime. Needs torch.
test-networks: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[networks]'
	$(BIN)/python -m pytest -m networks -s tests/networks

# The page of `cudla-sim report` in a headless Chromium (apt-get install chromium).
test-browser: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'
	$(BIN)/python -m pytest -m browser tests/browser

# The C of shim/ under AddressSanitizer with UBSan, then under ThreadSanitizer.
sanitize: $(VENV)/installed-test
	$(BIN)/python -m tests.sanitize

# Looks for inputs that break something; what it finds is kept in build/fuzz.
SECONDS := 60
fuzz: $(VENV)/installed-test
	$(BIN)/python -m tests.fuzz.run $(SECONDS)

# Portable wheels for x86-64 and arm64, into build/wheels.
wheels:
	.ci/wheels

# The arm64 wheel and the samples under qemu; needs the packages that the script names.
test-arm64: $(VENV)/installed
	tests/arm64/run

lint: $(VENV)/installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python build_ffi.py --verify

# The site in build/site: links checked, then opened in Chromium where there is one.
docs: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs,browser]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --clean
	$(BIN)/python -m pytest -m site tests/docs

# Figures of speed, and what is worse than those that the project keeps of this machine.
bench: $(VENV)/installed-test
	mkdir -p build
	$(BIN)/python -m benchmarks --json build/benchmarks.json --compare --minutes 18

clean:
	test ! -x $(BIN)/python || $(BIN)/python build_ffi.py --clean
	rm -rf $(VENV) build *.egg-info pyimpl/*.egg-info
	set -e; for folder in c_examples/*/; do $(MAKE) -C $$folder clean; done
