"""Every setting there is: name, type, kind, default, one line of documentation, other names.

This class body is the one place where settings are declared; keywords, variables, files, `strobe config` and the
table in docs/settings.md are made from it. Sources of values and their precedence are not known here.
"""

from __future__ import annotations

from pathlib import Path

from strobe.home import default_home
from strobe.settings.field import Field, setting
from strobe.settings.kind import (
    Choice,
    Directory,
    Flag,
    Integers,
    Moment,
    Number,
    Size,
    Text,
    Url,
    Words,
)

_MODES = Choice("online", "offline", "disabled", "shared", synonyms={"dryrun": "offline", "run": "online"})
_RESUME = {True: "auto", False: None, "true": "auto", "1": "auto", "false": None, "0": None}
_REINIT = {True: "finish_previous", False: "return_previous", "true": "finish_previous", "false": "return_previous"}
_CONSOLE = {"wrap_raw": "wrap", "wrap_emu": "wrap", True: "auto", False: "off", "false": "off", "0": "off"}


# A table is read by rows: one setting per row, not one argument per line.
# fmt: off
class Table:
    """The settings, in the order in which they are shown."""

    # --- where runs go
    mode: str | None = setting(
        _MODES, None, "Where the run goes; by default `online` when a server is configured, else `offline`.",
        wandb="mode", default_shown="auto")
    home: Path = setting(
        Directory(), None, "Directory that holds runs, artifacts and the agent's state.",
        wandb="root_dir", short="dir", env="dir", factory=default_home, default_shown="the platform's data directory")
    project: str | None = setting(Text(), None, "Project of the run.", wandb="project", default_shown="uncategorized")
    entity: str | None = setting(
        Text(), None, "User or team that the run belongs to.", wandb="entity", default_shown="local")
    base_url: str | None = setting(Url(), None, "Address of the Strobe server.", wandb="base_url")
    api_key: str | None = setting(
        Text(), None, "Key for the server; never shown, not allowed in a project file.", wandb="api_key", secret=True)
    login_entity: str | None = setting(
        Text(), None, "Entity of the key's owner, kept by `strobe login`: for links where `entity` is not set.",
        default_shown="local")

    # --- the run's identity
    run_id: str | None = setting(
        Text(), None, "Id of the run; `resume` says what happens if it exists.", wandb="run_id", short="id",
        default_shown="generated")
    run_name: str | None = setting(
        Text(), None, "Name for people.", wandb="run_name", short="name", env="name", default_shown="generated")
    run_group: str | None = setting(
        Text(), None, "Group of runs that belong together.", wandb="run_group", short="group")
    run_job_type: str | None = setting(
        Text(), None, "What the run does in its group: train, eval, …", wandb="run_job_type", short="job_type",
        env="job_type")
    run_tags: tuple[str, ...] = setting(Words(), (), "Tags.", wandb="run_tags", short="tags", env="tags")
    run_notes: str | None = setting(
        Text(), None, "Longer description of the run.", wandb="run_notes", short="notes", env="notes")
    sweep_id: str | None = setting(Text(), None, "Sweep that started the run; recorded with it.", wandb="sweep_id")
    username: str | None = setting(Text(), None, "Name of the person, recorded with the run.", wandb="username")
    email: str | None = setting(
        Text(), None, "E-mail address of the person, recorded with the run.", wandb="email", env="user_email")

    # --- resuming, several runs
    resume: str | None = setting(
        Choice("allow", "must", "never", "auto", synonyms=_RESUME), None,
        "What to do when the run id exists already.", wandb="resume")
    resume_from: str | None = setting(
        Moment(), None, "Rewind this run to a step and go on from there.", wandb="resume_from")
    fork_from: str | None = setting(
        Moment(), None, "Start a new run from a step of another one.", wandb="fork_from")
    reinit: str = setting(
        Choice("default", "return_previous", "finish_previous", "create_new", synonyms=_REINIT), "default",
        "What `init()` does while a run is active.", wandb="reinit")
    ranks: str = setting(
        Choice("zero", "all", "each"), "zero",
        "Which ranks of a distributed job record: only rank 0, all into one run, or each its own run.")
    label: str | None = setting(
        Text(), None, "Label of this process among several that write one run.", wandb="x_label")
    primary: bool = setting(
        Flag(), True, "Whether this process speaks for a shared run: names it, is described, shows its console.",
        wandb="x_primary")
    update_finish_state: bool = setting(
        Flag(), True, "Whether the end of this process, if it is primary, is an end of a shared run.",
        wandb="x_update_finish_state")

    # --- values
    allow_val_change: bool = setting(
        Flag(), False, "Let config keys change their value.", wandb="allow_val_change")
    strict_steps: bool = setting(Flag(), False, "Raise StepOrder when a step goes backwards, instead of storing it.")
    redact: bool = setting(Flag(), True, "Replace what looks like a credential before it is written.")

    # --- journal and disk
    segment_bytes: int = setting(
        Size(), 64 * 1024 * 1024, "A journal segment that has grown to this size is followed by a new one.",
        default_shown="64 MiB")
    fsync: str = setting(
        Choice("agent", "always", "never", "finish"), "agent",
        "Who forces rows to the disk: the agent about once a second and at finish, every call, nobody, or finish.")
    quota_bytes: int | None = setting(
        Size(), None, "How much disk the home should take; `strobe du` compares.", default_shown="no limit")

    # --- agent and system metrics
    agent: bool = setting(
        Flag(), True, "Start the companion process that samples the system, describes and watches runs.")
    stats: bool = setting(
        Flag(), True, "Record CPU, memory, disk, network and GPU figures.", wandb="!x_disable_stats")
    stats_interval_s: float = setting(
        Number(above=0), 15.0, "Seconds between two samples of the system.",
        wandb="x_stats_sampling_interval x_stats_sample_rate_seconds")
    stats_gpu_ids: tuple[int, ...] | None = setting(
        Integers(), None, "Indices of the GPUs to sample.", wandb="x_stats_gpu_device_ids", default_shown="all")
    stats_disk_paths: tuple[str, ...] = setting(
        Words(), ("/",), "Paths whose disk usage is sampled.", wandb="x_stats_disk_paths", default_shown="/")

    # --- uploading
    upload_bytes_per_s: int | None = setting(
        Size(), None, "How fast runs are uploaded at most: by default they give way to others, 0 is no limit at all.",
        default_shown="automatic")
    upload_timeout_s: float = setting(
        Number(above=0), 30.0, "Seconds without an answer after which the server counts as gone for now.")
    proxy: str | None = setting(
        Text(), None, "Proxy on the way to the server, or `off` for none.", wandb="https_proxy http_proxy",
        default_shown="HTTPS_PROXY, HTTP_PROXY, NO_PROXY")
    ca_bundle: Path | None = setting(
        Directory(), None, "File or directory with the certificates to trust.", default_shown="the system's")

    # --- what is recorded about the program
    console: str = setting(
        Choice("auto", "wrap", "redirect", "off", synonyms=_CONSOLE), "auto",
        "How stdout and stderr are recorded: around `sys.stdout`, at the file descriptor, or not at all.",
        wandb="console")
    describe: bool = setting(
        Flag(), True, "Record the environment: command, git, packages, host.", wandb="!x_disable_meta")
    machine_info: bool = setting(
        Flag(), True, "Record host facts (CPU, memory, GPU names) as part of the environment.",
        wandb="!x_disable_machine_info")
    save_requirements: bool = setting(
        Flag(), True, "Record the installed packages.", wandb="x_save_requirements")
    save_code: bool = setting(Flag(), False, "Copy the main program (or notebook) into the run.", wandb="save_code")
    code_dir: Path | None = setting(
        Directory(), None, "Directory whose code is saved with the run.", wandb="code_dir")
    disable_code: bool = setting(
        Flag(), False, "Never copy code, nor the git diff, whatever else is set.", wandb="disable_code")
    disable_git: bool = setting(Flag(), False, "Do not look at git.", wandb="disable_git")
    git_commit: str | None = setting(Text(), None, "Commit to record instead of the found one.", wandb="git_commit")
    git_remote: str = setting(Text(), "origin", "Git remote whose address is recorded.", wandb="git_remote")
    git_remote_url: str | None = setting(
        Text(), None, "Address of the repository to record instead of the found one.", wandb="git_remote_url")
    git_root: Path | None = setting(
        Directory(), None, "Directory of the git checkout.", wandb="git_root", default_shown="found upwards")
    host: str | None = setting(
        Text(), None, "Host name to record.", wandb="host", default_shown="the machine's name")
    program: str | None = setting(
        Text(), None, "Program to record.", wandb="program", default_shown="the script that runs")
    notebook_name: str | None = setting(
        Text(), None, "Notebook to record as the program.", wandb="notebook_name")
    ignore_globs: tuple[str, ...] = setting(
        Words(), (), "Patterns of file names that `save()` and code saving leave out.", wandb="ignore_globs")

    # --- talking and waiting
    silent: bool = setting(Flag(), False, "Print nothing at all.", wandb="silent")
    quiet: bool = setting(Flag(), False, "Print warnings and errors only.", wandb="quiet")
    show_info: bool = setting(Flag(), True, "Print messages that are neither warning nor error.", wandb="show_info")
    show_warnings: bool = setting(Flag(), True, "Print warnings.", wandb="show_warnings")
    show_errors: bool = setting(Flag(), True, "Print errors.", wandb="show_errors")
    show_emoji: bool = setting(Flag(), False, "Accepted for wandb's sake; Strobe prints no emoji.", wandb="show_emoji")
    show_colors: bool | None = setting(
        Flag(), None, "Print in colour.", wandb="show_colors", default_shown="on a terminal")
    baseline: str | None = setting(
        Text(), None,
        "Run of the home that the lines at the end of a run compare it with: an id, a name, or project/id.")
    init_timeout: float = setting(
        Number(least=0), 90.0, "Accepted for wandb's sake; `init()` waits for nothing.", wandb="init_timeout")
    finish_timeout: float = setting(
        Number(least=0), 30.0,
        "Seconds that `finish()` waits: for values still being computed, files being copied, and the upload.",
        wandb="finish_timeout")

# fmt: on


FIELDS: dict[str, Field] = {name: field for name, field in vars(Table).items() if isinstance(field, Field)}
