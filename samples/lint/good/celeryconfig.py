# 8 processes, one message each, acked after the work.
broker_url = "amqp://rabbit//"
task_acks_late = True
task_time_limit = 10 * 60
worker_prefetch_multiplier = 1
