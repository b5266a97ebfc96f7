"""Facts about where a program runs: git, packages, machine; and redaction of what must not be written down."""
