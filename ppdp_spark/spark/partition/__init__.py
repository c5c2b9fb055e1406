"""From coded rows to groups: Mondrian, coupled skylines, robustness, ART, Anatomy."""
