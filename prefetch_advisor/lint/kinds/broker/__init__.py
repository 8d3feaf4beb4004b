"""Files of the broker itself: rabbitmq.conf, advanced.config, definitions.json."""
