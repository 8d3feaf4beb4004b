"""The type of a finding's catalogue entry, and the broker documentation they link to."""

from prefetch_advisor.model.advice import Finding, Severity
from prefetch_advisor.model.record import record

DOCS = "https://www.rabbitmq.com/docs/"
PREFETCH = DOCS + "consumer-prefetch"
CONFIRMS = DOCS + "confirms"
CONSUMERS = DOCS + "consumers"


@record
class Rule:
    """What a finding means; an instance adds its subject, its numbers and what to do."""

    code: str
    name: str
    severity: Severity
    #: one sentence: what is the matter
    what: str
    why: str
    fix: str
    bad: str
    good: str
    url: str
    #: the file that ``bad`` and ``good`` are the whole text of, for rules of lint; empty: prose
    file: str = ""

    def finding(
        self, subject: str, message: str, help_: str | None = None, severity: Severity | None = None
    ) -> Finding:
        """An instance of this rule."""
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity if severity is None else severity,
            subject=subject,
            message=message,
            help=self.fix if help_ is None else help_,
            url=self.url,
        )
