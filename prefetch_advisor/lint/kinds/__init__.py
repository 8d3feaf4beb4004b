"""Every kind of file that lint reads; the first whose name and content fit takes a file."""

from prefetch_advisor.lint.kinds import settings
from prefetch_advisor.lint.kinds.celery import (
    airflow,
    command_files,
    dockerfile,
    env_files,
    packages,
    python_source,
    yaml_commands,
)
from prefetch_advisor.lint.kinds.kind import Kind

#: in the order in which they are asked; each module below this one adds its own here
KINDS: tuple[Kind, ...] = (
    *settings.SETTINGS,
    #
    python_source.KIND,
    packages.KIND,
    command_files.PROCFILE,
    command_files.UNIT,
    command_files.SUPERVISOR,
    command_files.SCRIPT,
    dockerfile.KIND,
    airflow.KIND,
    env_files.KIND,
    yaml_commands.KIND,
)
