"""Settings and variables that wandb knows and Strobe does not honour, each with the reason.

Loaded only when such a name is met. A name is listed here so that a script written for wandb runs on, with one
warning that says what is different; what Strobe does honour stands in the table.
"""

from __future__ import annotations

from typing import Any

_NO_QUEUE = "there is no queue to size: log() writes to the journal before it returns"
_NO_SERVICE = "Strobe has no service process on the way of a value"
_UPLOAD = "the agent uploads in its own way; docs/sync.md has its settings"
_LAUNCH = "Strobe has no launch queue and makes no jobs"
_LATER = "it comes in a later version"
_NO_MONITOR = "the agent has no such source of system metrics"
_HOME = "everything lies in the home; set STROBE_HOME"
_NO_LOGIN = "a local run needs no account"
_FILES = "wandb's settings files are not read; use strobe.toml"

#: reason → names of wandb settings (0.31 and the older ones that people still write)
_SETTINGS = {
    _NO_QUEUE: "x_internal_queue_size x_network_buffer x_flow_control_custom x_flow_control_disabled"
    " x_skip_transaction_log x_transaction_log_flush_interval x_flush_interval",
    _NO_SERVICE: "start_method x_service_transport x_service_wait x_internal_check_process x_executable"
    " x_require_core x_require_legacy_service x_start_time x_log_level x_sync x_sync_dir_suffix x_cli_only_mode"
    " x_async_upload_concurrency_limit x_live_policy_rate_limit x_live_policy_wait_time heartbeat_seconds"
    " stop_fn stop_on_fatal_error",
    _UPLOAD: "x_extra_http_headers x_proxies app_url_override"
    " x_file_stream_transmit_interval x_file_stream_max_bytes x_file_stream_max_line_bytes x_file_stream_no_gzip"
    " x_file_stream_retry_max x_file_stream_retry_wait_min_seconds x_file_stream_retry_wait_max_seconds"
    " x_file_stream_timeout_seconds x_file_transfer_retry_max x_file_transfer_retry_wait_min_seconds"
    " x_file_transfer_retry_wait_max_seconds x_file_transfer_timeout_seconds x_graphql_retry_max"
    " x_graphql_retry_wait_min_seconds x_graphql_retry_wait_max_seconds x_graphql_timeout_seconds"
    " x_history_value_encoding x_server_side_derived_summary finish_timeout_raises summary_timeout"
    " azure_account_url_to_access_key",
    _LAUNCH: "launch launch_config_path disable_job_creation job_name job_source x_runqueue_item_id docker"
    " sagemaker_disable",
    _LATER: "sync_tensorboard tensorboard monitor_gym sweep_param_path config_paths capture_loggers label_disable"
    " x_files_dir disable_git_fork_point console_multipart console_chunk_max_bytes console_chunk_max_seconds"
    " allow_media_symlink table_raise_on_max_row_limit_exceeded",
    _NO_MONITOR: "x_stats_pid x_stats_neuron_monitor_config_path x_stats_dcgm_exporter x_stats_open_metrics_endpoints"
    " x_stats_open_metrics_filters x_stats_open_metrics_http_headers x_stats_cpu_count x_stats_cpu_logical_count"
    " x_stats_gpu_count x_stats_gpu_type x_stats_buffer_size x_stats_coreweave_metadata_base_url"
    " x_stats_coreweave_metadata_endpoint x_stats_track_process_tree x_stats_no_cgroup x_stats_self_usage"
    " x_stats_samples_to_average",
    _NO_LOGIN: "anonymous login_timeout relogin x_disable_viewer organization credentials_file identity_token_file",
    _FILES: "settings_system settings_workspace use_dot_wandb",
    "Strobe makes no link to the latest run; `strobe run show latest` finds it": "symlink",
    "certificates are always checked; name the ones to trust with ca_bundle": "insecure_disable_ssl",
    "an offline run takes artifacts always": "allow_offline_artifacts",
    "the end block has a fixed size": "max_end_of_run_history_metrics max_end_of_run_summary_metrics summary_warnings",
    "Strobe finds it out by itself": "program_abspath program_relpath x_jupyter_name x_jupyter_path x_jupyter_root"
    " resumed",
    "write strict_steps=True to be told of steps that go backwards": "strict",
    "it has no meaning here": "force x_disable_service x_disable_update_check problem magic",
}

#: reason → suffixes of `WANDB_*` variables that are no setting's name
_VARIABLES = {
    _HOME: "CACHE_DIR DATA_DIR CONFIG_DIR ARTIFACT_DIR RUN_DIR",
    _UPLOAD: "HTTP_TIMEOUT FILE_PUSHER_TIMEOUT ARTIFACT_FETCH_FILE_URL_BATCH_SIZE APP_URL",
    _LAUNCH: "LAUNCH_QUEUE_ENTITY LAUNCH_QUEUE_NAME LAUNCH_TRACE_ID ARGS",
    _LATER: "AGENT_DISABLE_FLAPPING AGENT_KILL_DELAY AGENT_MAX_INITIAL_FAILURES AGENT_REPORT_INTERVAL",
    _NO_MONITOR: "ENABLE_DCGM_PROFILING",
    _NO_SERVICE: "CORE_DEBUG DEBUG CRASH_NOSYNC_TIME",
    "it has no meaning here": "DESCRIPTION SHOW_RUN JUPYTER",
}

#: Values that ask for what Strobe does anyway: no reason to say anything.
_FULFILLED: dict[str, tuple[Any, ...]] = {
    "symlink": (False,),
    "disable_job_creation": (True,),
    "allow_offline_artifacts": (True,),
    "sync_tensorboard": (False,),
    "tensorboard": (False,),
    "monitor_gym": (False,),
    "insecure_disable_ssl": (False,),
    "launch": (False,),
    "force": (False,),
    "relogin": (False,),
    "label_disable": (False,),
    "x_stats_track_process_tree": (True,),
    "anonymous": ("never",),
    "disable_git_fork_point": (True,),
}


def reason(name: str, value: Any = None) -> str | None:
    """Return why wandb's setting `name` has no effect; "" if this value needs none, None if wandb has no such."""
    if name.startswith("_"):
        name = "x" + name
    for why, names in _SETTINGS.items():
        if name in names.split():
            return "" if _is_fulfilled(name, value) else why
    return None


def variable_reason(variable: str, value: str) -> str | None:
    """Return the same for a variable `WANDB_…`."""
    suffix = variable.removeprefix("WANDB_")
    for why, names in _VARIABLES.items():
        if suffix in names.split():
            return why
    return reason(suffix.lower(), value)


def setting_names() -> list[str]:
    """Return every wandb setting that is known and not honoured."""
    return [name for names in _SETTINGS.values() for name in names.split()]


def _is_fulfilled(name: str, value: Any) -> bool:
    if isinstance(value, str) and value.lower() in {"true", "1", "false", "0"}:
        value = value.lower() in {"true", "1"}
    return value in _FULFILLED.get(name, ()) if isinstance(value, (bool, str)) else False
