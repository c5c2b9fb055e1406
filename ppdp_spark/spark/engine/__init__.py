"""What all table steps share: column names, Arrow arrays, jobs side by side, progress, shutdown."""
