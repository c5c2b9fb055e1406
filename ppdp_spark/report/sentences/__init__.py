"""Plain sentences about guarantees, adversaries and limits, for terminal and page alike."""
