# No limit: the whole backlog moves into one worker.
broker_url = "amqp://rabbit//"
worker_prefetch_multiplier = 0
