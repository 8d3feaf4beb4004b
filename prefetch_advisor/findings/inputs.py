"""PA0xx: what could not be judged, and why.

Reserved by the design and not raised yet: PA007 unreachable.
"""

from prefetch_advisor.findings.rule import CONFIRMS, DOCS, Rule
from prefetch_advisor.model.advice import Severity

NO_DATA = Rule(
    "PA001",
    "no-data",
    Severity.WARNING,
    "The input has no depth (ready, unacked) or no consumers for a queue: nothing can be judged.",
    "A queue just declared, a queue whose node is down and a query without the columns all look "
    "the same: silence is not health.",
    "Ask for messages_ready, messages_unacknowledged and consumers, and read the consumers too.",
    "rabbitmqctl list_queues name messages",
    "rabbitmqctl list_queues name type messages_ready messages_unacknowledged consumers state",
    DOCS + "management",
)
NO_RATES = Rule(
    "PA002",
    "no-rates",
    Severity.WARNING,
    "No ack rate is known, so a full window cannot be told from a stuck one.",
    "unacked = prefetch x consumers is what busy consumers, starved consumers and dead consumers "
    "all show; only acks per second tell them apart. messages_details.rate is the slope of the "
    "depth, never a rate of acks.",
    "Save /api/queues with lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5.",
    "rabbitmqctl list_queues alone, or rates_mode none",
    "GET /api/queues?lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5",
    DOCS + "management#statistics",
)
INCONSISTENT_INPUT = Rule(
    "PA003",
    "inconsistent-input",
    Severity.WARNING,
    "Two inputs disagree about one figure by more than they may.",
    "Snapshots taken at different times, a list cut to one node, or a count of consumers beside a "
    "list without them: a verdict from such a mixture is a guess.",
    "Take the inputs again at one time, from all nodes.",
    "list_queues says 3 consumers; list_consumers, taken on another node, lists none",
    "both from /api/queues and /api/consumers, within seconds",
    DOCS + "management",
)
TOO_FEW_SAMPLES = Rule(
    "PA004",
    "too-few-samples",
    Severity.WARNING,
    "The processing time rests on a handful of messages.",
    "With scattered times the mean of a few says little, and the tail, which decides how much "
    "prefetch is needed, is not in them at all.",
    "Record at least 1,000 messages (300 when times are steady).",
    "5 rows of timings",
    "1,000 rows of timings, over a typical hour",
    CONFIRMS + "#channel-qos-prefetch",
)
NOT_JUDGED = Rule(
    "PA005",
    "not-judged",
    Severity.WARNING,
    "The queue could not be judged from what was read.",
    "A gate must be able to tell 'not judged' from 'fine'.",
    "Give what the message names.",
    "timings only, or a queue whose node is down",
    "timings beside /api/queues, /api/consumers and /api/channels",
    DOCS + "monitoring",
)
UNPARSABLE_FILE = Rule(
    "PA006",
    "unparsable-file",
    Severity.ERROR,
    "A file that lint should read is not what its name and content promise.",
    "What cannot be read cannot be checked, and the program it is for will refuse it too.",
    "Mend the file at the line that is named.",
    "[[queues]\nname = 'tasks'\n",
    "[[queues]]\nname = 'tasks'\nprefetch = 10\n",
    DOCS + "configure",
    file="prefetch-advisor.toml",
)
STALE_SUPPRESSION = Rule(
    "PA008",
    "stale-suppression",
    Severity.INFO,
    "A comment silences a finding that is not there, or names none that exists (a warning).",
    "What it was for is gone; left behind, it will hide the next one, which nobody has seen.",
    "Remove the comment, or the code from its brackets; mend the code where it is misspelt.",
    '# prefetch-advisor: ignore[PA006] read by another program\n[[queues]]\nname = "tasks"\n'
    "prefetch = 10\n",
    '# read by another program too\n[[queues]]\nname = "tasks"\nprefetch = 10\n',
    CONFIRMS + "#channel-qos-prefetch",
    file="prefetch-advisor.toml",
)
INVALID_SETTING = Rule(
    "PA009",
    "invalid-setting",
    Severity.ERROR,
    "A settings file says something that has no meaning: an unknown key, a value out of its range.",
    "A key that is misspelt is a check that is not made, and nobody would notice.",
    "Mend the key or value that is named.",
    '[[queues]]\nname = "tasks"\nprefetch = 10\nprocessing-tme = "20ms"\n',
    '[[queues]]\nname = "tasks"\nprefetch = 10\nprocessing-time = "20ms"\n',
    CONFIRMS + "#channel-qos-prefetch",
    file="prefetch-advisor.toml",
)
