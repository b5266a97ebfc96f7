"""Many peers of our DHT for benchmarks: in one process, in several, on paths that lose and delay."""
