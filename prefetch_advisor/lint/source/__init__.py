"""What source code says of consumers, in whatever language; a reader for each yields it."""
