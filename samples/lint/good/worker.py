"""A consumer with a prefetch from the start, that acks what it has done."""

import pika
from images import resize


def on_message(channel, method, properties, body):
    resize(body)
    channel.basic_ack(method.delivery_tag)


connection = pika.BlockingConnection(pika.ConnectionParameters("rabbit"))
channel = connection.channel()
channel.basic_qos(prefetch_count=10)
channel.basic_consume("mails", on_message)
channel.start_consuming()
