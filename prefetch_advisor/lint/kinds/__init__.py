"""Every kind of file that lint reads; a file may be of several."""

from prefetch_advisor.lint.kinds import dapr, logstash, oslo, python, settings, symfony, telegraf
from prefetch_advisor.lint.kinds.broker import advanced_config, definitions, rabbitmq_conf
from prefetch_advisor.lint.kinds.celery import (
    airflow,
    command_files,
    dockerfile,
    env_files,
    packages,
    python_source,
    yaml_commands,
)
from prefetch_advisor.lint.kinds.jvm import settings_files
from prefetch_advisor.lint.kinds.kind import Kind

#: in the order in which they are asked; each module below this one adds its own here
KINDS: tuple[Kind, ...] = (
    *settings.SETTINGS,
    settings_files.KIND,
    dapr.KIND,
    symfony.KIND,
    telegraf.KIND,
    logstash.KIND,
    oslo.KIND,
    rabbitmq_conf.KIND,
    advanced_config.KIND,
    definitions.KIND,
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
    python.KIND,
)
