"""Celery, and what runs on it or is configured as it is: Airflow, dramatiq."""
