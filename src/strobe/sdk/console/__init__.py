"""Console capture: what the program prints, kept with the run."""
