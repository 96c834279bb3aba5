# For a newcomer: `make page` needs nothing, `make demo` and `make test` set up what they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
# Modules are compiled when they are first imported: most of what is installed never is.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: page demo paper test check browser lint types layers doctests unit heavy coverage docs proofs mutate soak bench release clean

# Points to drag, in your browser: nothing has to be installed but Python.
page:
	PYTHONPATH=src $(PYTHON) -m hardmax page --model none -o page.html
	@echo "If no browser opens, open page.html in yours."
	@$(PYTHON) -m webbrowser "file://$(CURDIR)/page.html" >/dev/null 2>&1 || true

demo: .venv/basic
	$(BIN)/hardmax demo --output demo

# The paper's figures and table in paper/report.html. FULL=1 DATA=FOLDER trains the classifiers again first, from
# train.parquet and test.parquet of IMDb: nine hours or more on two cores, minutes with DEVICE=cuda.
DEVICE ?= cpu
paper: .venv/ready
	$(BIN)/python examples/paper/report.py paper $(if $(FULL),--data $(DATA) --device $(DEVICE))

# Every behaviour once: minutes. Installs no more than it uses.
test: .venv/basic tests/page/node_modules/ready
	$(MAKE) --no-print-directory --jobs 2 lint layers doctests unit

# Everything else: types, a browser, torch, Dask, notebooks, other Pythons, many more random examples. What is missing
# on a machine is skipped, and says so.
check: .venv/ready browser tests/page/node_modules/ready
	$(MAKE) --no-print-directory --jobs 2 types heavy

# The page's modules are checked by TypeScript and tried by fast-check in node, where npm can be had.
tests/page/node_modules/ready: tests/page/package.json
	@cd tests/page && npm install --no-package-lock --no-audit --no-fund --silent && touch node_modules/ready || \
	echo "npm is missing or cannot install: the page's modules are not checked"

# Pages are tried in Debian's Chromium; where it cannot be had, those tests are skipped, and say so.
INSTALL_BROWSER := DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends chromium
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	{ command -v apt-get >/dev/null && { $(INSTALL_BROWSER) || { apt-get update --quiet && $(INSTALL_BROWSER); }; }; } \
	    >/dev/null 2>&1 || echo "Chromium is not installed: tests of pages in a browser are skipped"

lint: .venv/basic
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/pyright

layers: .venv/basic
	$(BIN)/lint-imports

doctests: .venv/basic
	$(BIN)/pytest --doctest-modules --doctest-ignore-import-errors --quiet src

unit: .venv/basic
	$(BIN)/pytest --numprocesses auto --dist worksteal

heavy: .venv/ready
	HARDMAX_EXAMPLES=50 $(BIN)/pytest -m check --numprocesses auto --dist worksteal

# Which lines and branches no test enters; loops in numba and triton are not seen. Takes as long as the tests.
coverage: .venv/ready
	$(BIN)/pytest --numprocesses auto --cov=hardmax --cov-branch --cov-report=term-missing:skip-covered

# The site, with every page and example run: docs/_build/html/index.html. Needs no network once the packages are installed.
docs: .venv/ready .venv/docs
	$(BIN)/pytest -m docs
	rm -rf docs/api  # or names that are gone would stay
	$(BIN)/sphinx-build -W --keep-going --nitpicky --quiet -d docs/_build/doctrees docs docs/_build/html

# The rule by which certificates are accepted, proved in Rocq: compiles proofs/*.v in about a minute and prints what each
# main theorem depends on, which must be nothing. Debian 12 has the versions that are needed, Coq 8.16 and MathComp 1.15.
PROOFS := Powers Leads Negative Form Hardmax Accepted Radius Layers Certificate
INSTALL_ROCQ := DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends \
    coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics
proofs:
	@command -v coqc >/dev/null && test -e "$$(coqc -where)/user-contrib/mathcomp/algebra_tactics/ring.vo" || \
	{ $(INSTALL_ROCQ) || { apt-get update --quiet && $(INSTALL_ROCQ); }; } >/dev/null 2>&1 || \
	{ echo "Coq and MathComp's algebra tactics are missing and cannot be installed by apt-get"; exit 1; }
	@! grep -nwE 'Admitted|admit|Axioms?|Parameters?|Conjecture|bypass_check' proofs/*.v
	@cd proofs && for file in $(PROOFS); do echo "proofs/$$file.v" && coqc -w -all $$file.v >$$file.out || exit 1; done
	@sed -n 's/^Print Assumptions \(.*\)\.$$/\1:/p' proofs/Certificate.v | paste -d ' ' - proofs/Certificate.out
	@! grep -qv '^Closed under the global context$$' proofs/Certificate.out

# Mutants drawn at random, each against the tests of its room; an hour or more on a few cores. Resumes if interrupted.
N ?= 300
SEED ?= 0
mutate: .venv/ready
	$(BIN)/pip install --quiet --constraint constraints.txt --group mutate
	$(BIN)/python tools/mutate.py --count $(N) --seed $(SEED)

# Slow tests, property tests with many times as many examples as `make test` takes, then adversarial problems against
# integers, over an hour of them; `make soak SOAK="--seconds 600 --start 7000"` for some.
soak: .venv/ready
	HARDMAX_THOROUGH=1 $(BIN)/pytest --numprocesses auto -m ""
	PYTHONPATH=tests $(BIN)/python -m soak $(SOAK)
	PYTHONPATH=tests $(BIN)/python -m soak.certificates

bench: .venv/ready
	$(BIN)/python benchmarks/arithmetics.py

# Builds, installs the wheel in an empty environment, tries it there, and prints the changelog. Uploads nothing.
release: test
	$(BIN)/pip install --quiet --constraint constraints.txt --group release
	$(BIN)/python tools/release.py

# Only pip 25.1 and newer know groups of dependencies; that of a new environment is often older.
.venv/pip:
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { rm -rf .venv; \
	echo "$(PYTHON) cannot make a virtual environment: install its venv module (on Debian: apt install python3-venv)"; exit 1; }
	$(BIN)/pip install --quiet 'pip>=25.1'
	touch $@

# What `make demo` and `make test` need: the core, and the extras that most people have.
.venv/basic: .venv/pip pyproject.toml constraints.txt hatch_build.py
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable '.[figures,tables,sweep,sklearn]' --group test
	touch $@

.venv/ready: .venv/pip pyproject.toml constraints.txt hatch_build.py
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable '.[all]' --group dev
	touch $@ .venv/basic

.venv/docs: .venv/pip pyproject.toml constraints.txt hatch_build.py
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable '.[all]' --group docs
	touch $@

clean:
	rm -f proofs/*.vo* proofs/*.glob proofs/*.out proofs/.*.aux
	rm -rf .venv page.html tests/page/node_modules demo paper docs/_build docs/api docs/gallery .pytest_cache .ruff_cache .hypothesis .benchmarks
