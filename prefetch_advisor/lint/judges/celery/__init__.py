"""The rules for Celery's workers, and for what is configured as they are."""
