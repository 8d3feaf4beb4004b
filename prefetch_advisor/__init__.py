"""Which prefetch and how many consumers a RabbitMQ queue needs, why, and what is wrong today."""

__version__ = "0.1.0"
