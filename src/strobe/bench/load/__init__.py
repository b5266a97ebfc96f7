"""Load profiles: what an experiment tracker costs the program that uses it, measured the same way for each.

    profiles/   one file per load (what is logged and what is timed)
    trackers/   one file per tracker (how it is installed, started, fed and read back)
    worker/     runs one profile on one tracker inside the tracker's own virtual environment
    catalog     finds the files          venvs     makes the environments
    variant     features on and off      job       one worker process, from start to result
    runner      who is measured when     report, results   tables and results.csv

Adding a profile or a tracker is adding one file; docs/benchmarks.md says what is in it.
"""
