"""Python source as facts of its consumers: parsed and followed, never imported or run."""
