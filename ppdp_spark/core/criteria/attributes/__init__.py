"""Criteria about one sensitive attribute of several: by itself, and for somebody who knows others."""
