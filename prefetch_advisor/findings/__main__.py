"""``python -m prefetch_advisor.findings``: the catalogue as a page."""

import sys

from prefetch_advisor.findings import document

sys.stdout.write(document())
