# What CI runs
ci:
    bash .ci/run

# The README's test command
test:
    cargo test --workspace

# Formatting, lints and documentation, with warnings denied
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Accept what the tests print as the new snapshots (needs cargo-insta), and write the JSON schemas anew
bless:
    UPDATE_SCHEMAS=1 cargo test -p cuba-cli --lib json
    cargo insta test --workspace --accept

# The page on the paper's Table 2 anew
table2:
    cargo run --release --bin cuba -- bench models/table2 --format markdown -o docs/table2.md

# The library's documentation
doc:
    cargo doc --workspace --no-deps --open

# The documentation as a book (needs mdbook)
book:
    mdbook build docs --open

# The report in a real browser (needs Chromium, and what crates/cuba-cli/tests/browser/requirements.txt lists)
browser:
    cargo build
    python3 -m pytest crates/cuba-cli/tests/browser

# The BenchExec module (needs what contrib/benchexec/requirements.txt lists)
benchexec:
    cargo build
    python3 -m pytest contrib/benchexec

# Mutation testing of a package (needs cargo-mutants), of some files with ARGS: just mutants cuba -f crates/cuba/src/engine/race.rs
mutants PACKAGE *ARGS:
    CARGO_PROFILE_DEV_DEBUG=0 PROPTEST_CASES=32 cargo mutants --package {{PACKAGE}} --output target/mutants {{ARGS}}

# Fuzz a target for some seconds (needs a nightly compiler and cargo-fuzz; fuzz/README.md lists the targets)
fuzz TARGET SECONDS:
    fuzz/run {{TARGET}} {{SECONDS}}

# How long inputs that are built to exhaust take, and how much memory
hostile:
    cargo test --release -p cuba-cli --test command_line -- --ignored hostile --nocapture

# N random systems and a tenth as many programs through every engine, against the oracle; what disagrees is kept in crates/campaign/regressions
campaign N SEED *OPTIONS:
    cargo run --release -p cpds-campaign -- {{N}} {{SEED}} {{OPTIONS}}

# `cuba bench` over N generated models with known answers: nothing wrong, nothing left running, memory flat
soak N SEED:
    bash .ci/soak {{N}} {{SEED}}
