"""``python -m prefetch_advisor``."""

from prefetch_advisor.cli import console

if __name__ == "__main__":
    console()
