"""A consumer whose prefetch comes too late, and that acks before it works."""

import pika
from images import resize


def on_message(channel, method, properties, body):
    channel.basic_ack(method.delivery_tag)
    resize(body)


connection = pika.BlockingConnection(pika.ConnectionParameters("rabbit"))
channel = connection.channel()
channel.basic_consume("mails", on_message)
channel.basic_qos(prefetch_count=10)
channel.start_consuming()
