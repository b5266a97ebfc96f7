"""One load per file, found by listing this directory; docs/benchmarks.md says what a file holds."""
