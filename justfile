# Run what CI runs
ci:
    bash .ci/run

# Run the README's test command
test:
    cargo test --workspace

# Run the long versions of tests, which the test command leaves out
long:
    cargo test --workspace -- --ignored long

# Check formatting, lints and documentation; warnings are errors
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Accept the new snapshots of the tests (needs cargo-insta), and write the JSON schemas again
bless:
    UPDATE_SCHEMAS=1 cargo test -p cuba-cli --lib json
    cargo insta test --workspace --accept

# Write docs/table2.md, the page about the paper's Table 2
table2:
    cargo run --release --bin cuba -- bench models/table2 --format markdown -o docs/table2.md

# Open the documentation of the crates
doc:
    cargo doc --workspace --no-deps --open

# Open the documentation as a book (needs mdbook)
book:
    mdbook build docs --open

# Test the report in a browser (needs Chromium and crates/cuba-cli/tests/browser/requirements.txt)
browser:
    cargo build
    python3 -m pytest crates/cuba-cli/tests/browser

# Test the BenchExec module (needs contrib/benchexec/requirements.txt)
benchexec:
    cargo build
    python3 -m pytest contrib/benchexec

# Test mutants of a package (needs cargo-mutants): just mutants cuba -f crates/cuba/src/answer.rs
mutants PACKAGE *ARGS:
    CARGO_PROFILE_DEV_DEBUG=0 PROPTEST_CASES=32 cargo mutants --package {{PACKAGE}} --output target/mutants {{ARGS}}

# Fuzz a target for some seconds (needs nightly Rust and cargo-fuzz; targets: fuzz/README.md)
fuzz TARGET SECONDS:
    fuzz/run {{TARGET}} {{SECONDS}}

# Measure the time and memory that hostile inputs take
hostile:
    cargo test --release -p cuba-cli --test command_line -- --ignored hostile --nocapture

# Compare all engines and the oracle on N random systems and N/10 random programs
campaign N SEED *OPTIONS:
    cargo run --release -p cpds-campaign -- {{N}} {{SEED}} {{OPTIONS}}

# Run `cuba bench` on N generated models with known answers, and watch its memory and processes
soak N SEED:
    bash .ci/soak {{N}} {{SEED}}
