"""One module a command: what ``cli`` calls once its options are parsed."""
