"""``python -m prefetch_advisor.lint.declared``: the JSON schema of the settings."""

import json
import sys

from prefetch_advisor.lint.declared.schema import schema

sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
