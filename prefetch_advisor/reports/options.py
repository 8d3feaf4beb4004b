"""What a report may know of the place it is read in."""

from __future__ import annotations

from prefetch_advisor.model.record import record


@record
class ReportOptions:
    """Set by the command line; no report looks at a terminal or at the environment."""

    #: cells in a line
    width: int = 80
    colour: bool = False
    #: the reasoning for every queue shown, not only where there is one queue
    details: bool = False
    #: every queue, however many
    all_queues: bool = False
    #: queues shown unless ``all_queues``
    at_most: int = 50
    #: the output's encoding can carry any character; otherwise everything is ASCII
    unicode: bool = True
    #: the client for whose code or settings lines are made
    client: str | None = None
    #: what leads from the root of the repository to where printed paths start: "" or "services/"
    prefix: str = ""
