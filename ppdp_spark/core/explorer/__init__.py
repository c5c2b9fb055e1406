"""The knowledge skyline: how much an adversary may know before a value is disclosed."""
