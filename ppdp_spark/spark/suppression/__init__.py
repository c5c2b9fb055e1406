"""Deciding how many rows of each sensitive value go, and taking exactly these away."""
