"""What tests share: examples, references computed another way, releases read back, processes, browsers."""
