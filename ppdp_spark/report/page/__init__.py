"""The page as a whole: one self-contained HTML file."""
