"""Every kind of file that lint reads; the first whose name and content fit takes a file."""

from prefetch_advisor.lint.kinds import settings
from prefetch_advisor.lint.kinds.kind import Kind

#: in the order in which they are asked; each module below this one adds its own here
KINDS: tuple[Kind, ...] = (
    *settings.SETTINGS,
    #
)
