"""``python -m prefetch_advisor.findings [--lint]``: the catalogue as a page."""

import sys

from prefetch_advisor.findings import document

sys.stdout.write(document(lint=sys.argv[1:] == ["--lint"]))
