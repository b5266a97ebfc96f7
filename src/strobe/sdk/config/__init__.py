"""`run.config`: hyperparameters whose every change is recorded."""
